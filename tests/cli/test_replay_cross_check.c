/* `countersign replay --cross-check` with real daemons and scripted ones; its documents are valid, and are not when
 * changed. */
#include "tests/cli/documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/canon.h"
#include "tests/support/daemon.h"
#include "tests/support/live.h"

/* The sample's request as proto3 JSON. */
#define REQUEST                                                                                                        \
    "{\"minimumIsolation\":\"container\",\"traceId\":\"trace-1\",\"timeoutMs\":5000,\"softwareRule\":{\"mode\":"       \
    "\"exact\",\"identities\":[\"" SAMPLE_IDENTITY "\"]},\"javascript\":{\"code\":\"console.log(1 + 1)\"}}"

static const char *const environment[] = {"PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN, "COUNTERSIGN_KEY", NULL};

/* ---- real daemons ----------------------------------------------------------------------------------------- */

/* One that tells the truth, and one of the same provider that does not. */
typedef struct scene {
    cli_case c;
    documents d;
    test_daemon honest, liar;
} scene;

/* A run of the honest one is in the ledger. */
static void begin(scene *s, const char *provider, const char *claim) {
    const char *const lie[] = {"--claim", claim, "--i-am-lying-for-a-test", NULL};
    memset(s, 0, sizeof *s);
    documents_need();
    daemon_start(&s->honest, provider, NULL);
    daemon_start(&s->liar, provider, lie);
    documents_begin(&s->d);
    cli_begin(&s->c);
    cli_keys(&s->c);
    s->c.how.env = environment;
    cli_write_text(&s->c, "request.json", "{\"javascript\":{\"code\":\"console.log(6 * 7)\"}}");
    EXPECT_EXIT(&s->c,
                cli_json(&s->c, ARGS("run", "-d", s->honest.url, "-k", "k.key", "-l", "ledger.db", "request.json")), 0);
}

static void finish(scene *s) {
    cr_expect_eq(daemon_stop(&s->honest), 0);
    cr_expect_eq(daemon_stop(&s->liar), 0);
    cli_end(&s->c);
    documents_end(&s->d);
}

static void replay(scene *s, const char *depth, int exit, const char *code) {
    documents_take(
        &s->d, &s->c, depth, exit, code,
        ARGS("replay", "-p", "k.pub", "-d", s->honest.url, "-d", s->liar.url, "--cross-check", depth, "ledger.db"));
    EXPECT_TEXT(&s->c, "rows.0.verdict", "reproduced");
}

static void expect_refuted(const scene *s) {
    EXPECT_TEXT(&s->c, "cross_checks.0.daemon", s->honest.url);
    EXPECT_TEXT(&s->c, "cross_checks.0.verdict", "passed");
    EXPECT_TEXT(&s->c, "cross_checks.1.daemon", s->liar.url);
    EXPECT_TEXT(&s->c, "cross_checks.1.verdict", "failed");
    EXPECT_TEXT(&s->c, "cross_checks.1.error.code", "tier-contradicted");
    EXPECT_HAS(cli_text(&s->c, "message"), s->liar.url);
    EXPECT_HAS(cli_text(&s->c, "message"), "every run gave the stored result");
    cr_expect_null(cli_member(&s->c, "entry"));
}

static const documents_twin probe_twins[] = {
    {"probe", "passed-for-all", "cross_checks.1", "verdict", "\"passed\"", "$.cross_checks[1].verdict [const]"},
    {"probe", "contradicted-by-nobody", "", "cross_checks", NULL, "$ [anyOf]"},
    {"probe", "check-of-nobody", "cross_checks.0", "daemon", NULL, "$.cross_checks[0] [required]"},
    {"probe", "passed-with-an-error", "cross_checks.0", "error", "{\"code\":\"io\",\"message\":\"x\"}",
     "$.cross_checks[0].error [false]"},
    {"probe", "unknown-member", "cross_checks.0", "surprise", "1", "$.cross_checks[0] [unevaluatedProperties]"},
    {"statements", "passed-without-a-claim", "cross_checks.0", "claim", NULL, "$.cross_checks[0] [required]"},
    {"statements", "passed-with-an-unchecked-one", "cross_checks.0", "verdict", "\"unchecked\"",
     "$.cross_checks[0].verdict [const]"},
};

/* Both give the stored result, and one of them is no container. */
Test(replay_cross_check_live, a_lie_is_refuted_from_inside_though_all_is_reproduced) {
    scene s;
    begin(&s, "process", "container");
    replay(&s, "off", 0, "ok");
    cr_expect_null(cli_member(&s.c, "cross_checks"));
    replay(&s, "statements", 0, "ok");
    EXPECT_TEXT(&s.c, "cross_checks.1.claim", "container");
    replay(&s, "probe", 1, "tier-contradicted");
    expect_refuted(&s);
    cr_expect_null(cli_member(&s.c, "cross_checks.1.finding")); /* without a ledger */
    documents_expect_valid(&s.d, NULL);
    documents_expect_refused(&s.d, probe_twins, sizeof probe_twins / sizeof probe_twins[0], 0);
    EXPECT_EXIT(&s.c,
                cli_run(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.liar.url, "-k", "k.key", "-l", "new.db",
                                   "--cross-check", "probe", "ledger.db")),
                1);
    EXPECT_HAS(s.c.end.out, "reproduced");
    EXPECT_HAS(s.c.end.out, forge_text("cross-check: %s: probe: ", s.liar.url));
    EXPECT_HAS(s.c.end.out, "first-namespaces       contradicted");
    EXPECT_HAS(s.c.end.out, "finding:     entry 3, unsigned"); /* behind the two runs, and no probe between */
    EXPECT_HAS(s.c.end.err, "[tier-contradicted]");
    finish(&s);
}

Test(replay_cross_check_live, a_lie_is_refuted_from_the_host) {
    if (geteuid() != 0) {
        if (getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL")) cr_assert_fail("the host view needs root");
        cr_skip_test("SKIPPED: the host view needs root");
    }
    scene s;
    begin(&s, "container", "vm");
    replay(&s, "host", 1, "tier-contradicted");
    expect_refuted(&s);
    EXPECT_TEXT(&s.c, "cross_checks.0.host_view.daemon", "here");
    documents_expect_valid(&s.d, NULL);
    finish(&s);
}

/* ---- scripted daemons ------------------------------------------------------------------------------------- */

typedef struct scripted {
    cli_case c;
    documents d;
    sample run;
    live script;
    peer *daemon;
    char url[128];
} scripted;

static void serve(scripted *s) {
    s->daemon = peer_start(s->script.steps, s->script.count, NULL);
    cr_assert_not_null(s->daemon);
    (void)snprintf(s->url, sizeof s->url, "%s", peer_url(s->daemon));
}

static void leave(scripted *s) {
    peer_free(s->daemon);
    live_free(&s->script);
}

static void begin_scripted(scripted *s) {
    memset(s, 0, sizeof *s);
    documents_begin(&s->d);
    cli_begin(&s->c);
    cli_keys(&s->c);
    cli_write_text(&s->c, "request.json", REQUEST);
    sample_init(&s->run);
    live_run(&s->script, &s->run);
    serve(s);
    EXPECT_EXIT(&s->c, cli_json(&s->c, ARGS("run", "-d", s->url, "-k", "k.key", "-l", "ledger.db", "request.json")), 0);
    leave(s);
}

static void script_two(scripted *s) {
    for (size_t i = 0; i < 2; i++) {
        sample_again(&s->run);
        live_run(&s->script, &s->run);
    }
}

static void script_refusal(scripted *s) {
    live_describe(&s->script, s->run.before);
    live_step(&s->script, live_refusal());
}

static void replay_scripted(scripted *s, const char *name, const char *depth, int exit, const char *code) {
    serve(s);
    documents_take(&s->d, &s->c, name, exit, code,
                   ARGS("replay", "-p", "k.pub", "-d", s->url, "--cross-check", depth, "ledger.db"));
    leave(s);
}

static const documents_twin scripted_twins[] = {
    {"no-run", "unasked-and-passed", "cross_checks.0", "verdict", "\"passed\"", "$.cross_checks[0].verdict [const]"},
    {"no-run", "unasked-without-a-reason", "cross_checks.0", "error", NULL, "$.cross_checks[0] [required]"},
};

Test(replay_cross_check_command, what_can_not_be_probed_is_unchecked) {
    scripted s;
    begin_scripted(&s);
    script_two(&s);
    live_describe(&s.script, s.run.before);
    script_refusal(&s);
    replay_scripted(&s, "refused", "probe", 5, "tier-probe");
    EXPECT_TEXT(&s.c, "rows.0.verdict", "reproduced");
    EXPECT_TEXT(&s.c, "cross_checks.0.verdict", "unchecked");
    EXPECT_TEXT(&s.c, "cross_checks.0.claim", "kernel");
    script_two(&s);
    replay_scripted(&s, "gone", "host", 5, "tier-probe"); /* its script is over: nobody describes anything */
    EXPECT_TEXT(&s.c, "cross_checks.0.claim", "");
    script_refusal(&s);
    replay_scripted(&s, "no-run", "probe", 3, "replay-incomplete");
    EXPECT_TEXT(&s.c, "cross_checks.0.verdict", "unchecked");
    cr_expect_null(cli_member(&s.c, "cross_checks.0.claim"));
    documents_expect_valid(&s.d, NULL);
    documents_expect_refused(&s.d, scripted_twins, sizeof scripted_twins / sizeof scripted_twins[0], 0);
    sample_free(&s.run);
    cli_end(&s.c);
    documents_end(&s.d);
}

Test(replay_cross_check_command, a_difference_comes_first_and_the_contradiction_is_told_too) {
    scripted s;
    begin_scripted(&s);
    canon_set(&s.run.response->javascript->stdout, "3\n");
    sample_seal(&s.run, SEAL_ALL);
    sample_again(&s.run);
    live_run(&s.script, &s.run);
    canon_set(&s.run.before->isolation, "vm");
    canon_set(&s.run.response->isolation, "vm");
    canon_set(&s.run.record->isolation, "vm");
    canon_set(&s.run.after->isolation, "vm");
    sample_seal(&s.run, SEAL_ALL);
    live_run(&s.script, &s.run);
    replay_scripted(&s, "both", "statements", 1, "replay-differs");
    EXPECT_HAS(cli_text(&s.c, "message"), "the cross-check of http://127.0.0.1:");
    EXPECT_HAS(cli_text(&s.c, "message"), "failed [tier-contradicted]");
    EXPECT_TEXT(&s.c, "cross_checks.0.verdict", "failed");
    cr_expect_eq(cli_number(&s.c, "entry"), 1);
    documents_expect_valid(&s.d, NULL);
    sample_free(&s.run);
    cli_end(&s.c);
    documents_end(&s.d);
}
