/* `countersign run --cross-check`: scripted daemons for what they state, and real ones for what the probes see. Its
 * documents are valid, and are not when changed. */
#include "tests/cli/documents.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/canon.h"
#include "tests/support/changes.h"
#include "tests/support/daemon.h"
#include "tests/support/live.h"

/* The sample's request as proto3 JSON. */
#define REQUEST                                                                                                        \
    "{\"minimumIsolation\":\"container\",\"traceId\":\"trace-1\",\"timeoutMs\":5000,\"softwareRule\":{\"mode\":"       \
    "\"exact\",\"identities\":[\"" SAMPLE_IDENTITY "\"]},\"javascript\":{\"code\":\"console.log(1 + 1)\"}}"

typedef struct scene {
    cli_case c;
    documents d;
    live script;
    peer *peer;         /* a scripted daemon, */
    test_daemon daemon; /* or a real one */
    char url[128];
} scene;

static const char *const environment[] = {"PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN, "COUNTERSIGN_KEY", NULL};

static void begin(scene *s) {
    memset(s, 0, sizeof *s);
    documents_begin(&s->d);
    cli_begin(&s->c);
    cli_keys(&s->c);
    cli_write_text(&s->c, "request.json", REQUEST);
}

static void serve(scene *s) {
    s->peer = peer_start(s->script.steps, s->script.count, NULL);
    cr_assert_not_null(s->peer);
    (void)snprintf(s->url, sizeof s->url, "%s", peer_url(s->peer));
}

/* A real daemon that is `provider` and claims `claim` (NULL: what it is). */
static void begin_real(scene *s, const char *provider, const char *claim) {
    const char *const lie[] = {"--claim", claim, "--i-am-lying-for-a-test", NULL};
    test_daemon daemon;
    documents_need();
    daemon_start(&daemon, provider, claim != NULL ? lie : NULL);
    begin(s);
    s->daemon = daemon;
    (void)snprintf(s->url, sizeof s->url, "%s", daemon.url);
    s->c.how.env = environment;
    cli_write_text(&s->c, "request.json", "{\"javascript\":{\"code\":\"console.log(6 * 7)\"}}");
}

static void finish(scene *s) {
    if (s->peer != NULL) peer_free(s->peer);
    if (s->daemon.pid > 0) cr_expect_eq(daemon_stop(&s->daemon), 0);
    live_free(&s->script);
    cli_end(&s->c);
    documents_end(&s->d);
}

/* The host view needs root. */
static void need_root(void) {
    if (geteuid() == 0) return;
    if (getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL")) cr_assert_fail("the host view needs root");
    cr_skip_test("SKIPPED: the host view needs root");
}

static void run(scene *s, const char *name, const char *depth, int exit, const char *code) {
    documents_take(&s->d, &s->c, name, exit, code,
                   ARGS("run", "-d", s->url, "-k", "k.key", "-l", "ledger.db", "--cross-check", depth, "request.json"));
}

static void expect_ledger(scene *s, json_int_t runs, json_int_t findings) {
    EXPECT_EXIT(&s->c, cli_json(&s->c, ARGS("verify", "-p", "k.pub", "ledger.db")), 0);
    cr_expect_eq(cli_number(&s->c, "inputs.0.runs"), runs, "%s", s->c.end.out);
    cr_expect_eq(cli_number(&s->c, "inputs.0.unsigned_findings"), findings, "%s", s->c.end.out);
}

/* ---- statements ------------------------------------------------------------------------------------------- */

/* Runs in which the daemon states a tier and a policy of these, all in themselves in order. */
static void script_run(scene *s, const char *tier, const char *policy, void (*change)(sample *)) {
    static unsigned scripted;
    sample run;
    sample_init(&run);
    canon_set(&run.before->isolation, tier);
    canon_set(&run.response->isolation, tier);
    canon_set(&run.record->isolation, tier);
    canon_set(&run.after->isolation, tier);
    if (policy != NULL) {
        canon_set(&run.before->policy, policy);
        canon_set(&run.record->policy, policy);
        canon_set(&run.after->policy, policy);
    }
    if (change != NULL) change(&run);
    run.record->started_unix_ms -= ++scripted;
    sample_seal(&run, SEAL_ALL);
    live_run(&s->script, &run);
    sample_free(&run);
}

static const documents_twin statement_twins[] = {
    {"same", "passed-with-an-unmade-check", "cross_check", "verdict", "\"unchecked\"", "$.cross_check.verdict [const]"},
    {"same", "passed-without-a-claim", "cross_check", "claim", "\"\"", "$.cross_check.claim [minLength]"},
    {"same", "passed-with-an-error", "cross_check", "error", "{\"code\":\"io\",\"message\":\"x\"}",
     "$.cross_check.error [false]"},
    {"same", "passed-with-a-contradiction", "cross_check.rules.0", "verdict", "\"contradicted\"",
     "$.cross_check.rules[0].verdict [enum]"},
    {"same", "probe-of-statements", "cross_check.probes.0", "ran", "true", "$.cross_check.probes[0].ran [const]"},
    {"same", "rule-of-a-probe", "cross_check.rules.0", "layer", "\"probe\"", "$.cross_check.rules[0].layer [const]"},
    {"same", "view-of-statements", "cross_check", "host_view", "{\"daemon\":\"here\",\"complete\":true}",
     "$.cross_check.host_view [type]"},
    {"same", "rules-of-no-depth", "cross_check", "cross_check", NULL, "$.cross_check [required]"},
    {"same", "unknown-member-of-it", "cross_check", "surprise", "1", "$.cross_check [unevaluatedProperties]"},
    {"other-tier", "contradicted-by-nothing", "cross_check", "contradictions", "0",
     "$.cross_check.contradictions [minimum]"},
    {"other-tier", "contradicted-without-an-error", "cross_check", "error", NULL, "$.cross_check [required]"},
    {"other-tier", "contradicted-and-passed", "cross_check", "verdict", "\"passed\"", "$.cross_check.verdict [const]"},
    {"other-tier", "kept-twice", "cross_check", "side_file", "\"x\"", "$.cross_check.finding [false]"},
    {"other-tier", "contradicted-by-another-code", "", "code", "\"request-digest\"",
     "$.cross_check.contradictions [const]"},
    {"other-tier", "contradicted-unsigned", "", "signed", "false", "$.signed [const]"},
};

Test(run_cross_check, a_record_that_states_another_tier_than_the_ledger_s_is_contradicted) {
    scene s;
    begin(&s);
    script_run(&s, "kernel", NULL, NULL);
    script_run(&s, "kernel", NULL, NULL);
    script_run(&s, "container", "policy:other", NULL);
    script_run(&s, "container", NULL, NULL);
    script_run(&s, "container", NULL, NULL);
    serve(&s);
    documents_take(&s.d, &s.c, "first", 0, "ok",
                   ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "request.json"));
    EXPECT_TEXT(&s.c, "cross_check.cross_check", "statements"); /* unless told otherwise */
    run(&s, "same", "statements", 0, "ok");
    EXPECT_TEXT(&s.c, "cross_check.verdict", "passed");
    EXPECT_TEXT(&s.c, "cross_check.rules.4.rule", "ledger-statements");
    EXPECT_TEXT(&s.c, "cross_check.rules.4.verdict", "consistent");
    run(&s, "other-policy", "statements", 0, "ok");
    EXPECT_TEXT(&s.c, "cross_check.rules.4.verdict", "silent");
    run(&s, "other-tier", "statements", 1, "tier-contradicted");
    cr_expect(json_is_true(cli_member(&s.c, "signed")));
    cr_expect_eq(cli_number(&s.c, "entry"), 4);
    cr_expect_eq(cli_number(&s.c, "cross_check.finding"), 5);
    EXPECT_TEXT(&s.c, "cross_check.claim", "container");
    EXPECT_TEXT(&s.c, "cross_check.rules.4.verdict", "contradicted");
    EXPECT_HAS(cli_text(&s.c, "message"), "is signed, as entry 4; entry 5 says against it");
    run(&s, "off", "off", 0, "ok");
    cr_expect_null(cli_member(&s.c, "cross_check"));
    expect_ledger(&s, 5, 1);
    documents_expect_valid(&s.d, NULL);
    documents_expect_refused(&s.d, statement_twins, sizeof statement_twins / sizeof statement_twins[0], 0);
    peer_stop(s.peer);
    cr_expect_eq(peer_connections(s.peer), 15, "statements call for nothing more than the run");
    finish(&s);
}

Test(run_cross_check, text_is_one_line_or_the_rules_that_contradict) {
    scene s;
    begin(&s);
    script_run(&s, "kernel", NULL, NULL);
    script_run(&s, "vm", NULL, NULL);
    serve(&s);
    const char *const *line = ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "request.json");
    EXPECT_EXIT(&s.c, cli_run(&s.c, line), 0);
    EXPECT_HAS(s.c.end.out, "cross-check: statements: 5 rules asked, none contradicts, 1 silent\n"
                            "  Not looked at from this machine (--host-view): from inside, a container");
    EXPECT_HAS_NOT(s.c.end.out, "tier-statements");
    EXPECT_EXIT(&s.c, cli_run(&s.c, line), 1);
    EXPECT_HAS(s.c.end.out, "cross-check: statements: 5 rules asked, 1 contradicts the claim 'vm', 0 silent\n");
    EXPECT_HAS(s.c.end.out, "ledger-statements      contradicted");
    EXPECT_HAS(s.c.end.out, "what could fool this rule:");
    EXPECT_HAS(s.c.end.out, "finding:     entry 3, unsigned");
    EXPECT_HAS_NOT(s.c.end.out, "tier-statements");
    EXPECT_HAS(s.c.end.err, "[tier-contradicted]");
    finish(&s);
}

/* ---- what comes first ------------------------------------------------------------------------------------- */

Test(run_cross_check, a_contradiction_comes_before_code_that_failed) {
    scene s;
    begin(&s);
    script_run(&s, "kernel", NULL, NULL);
    script_run(&s, "vm", NULL, change_other_exit_code);
    script_run(&s, "vm", NULL, change_other_exit_code);
    script_run(&s, "kernel", NULL, change_other_exit_code);
    serve(&s);
    const char *const *required =
        ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "--require-success", "request.json");
    EXPECT_EXIT(&s.c, cli_json(&s.c, required), 0);
    documents_take(&s.d, &s.c, "contradicted-first", 1, "tier-contradicted", required);
    documents_take(&s.d, &s.c, "work-failed-off", 1, "work-failed",
                   ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "--require-success", "--cross-check",
                        "off", "request.json"));
    documents_take(&s.d, &s.c, "work-failed", 1, "work-failed",
                   ARGS("run", "-d", s.url, "-k", "k.key", "-l", "other.db", "--require-success", "request.json"));
    EXPECT_TEXT(&s.c, "cross_check.verdict", "passed");
    documents_expect_valid(&s.d, NULL);
    finish(&s);
}

/* Its exit says neither that nothing ran nor that all is well. */
Test(run_cross_check, a_probe_that_is_refused_leaves_the_run_unchecked) {
    scene s;
    begin(&s);
    sample good;
    sample_init(&good);
    for (size_t i = 0; i < 3; i++) {
        script_run(&s, "kernel", NULL, i == 2 ? change_other_exit_code : NULL);
        live_describe(&s.script, good.before);
        live_describe(&s.script, good.before);
        live_step(&s.script, i != 1 ? live_refusal() : (peer_step){.head = NULL, .end = PEER_RESET});
    }
    sample_free(&good);
    serve(&s);
    run(&s, "refused", "probe", 5, "tier-probe");
    cr_expect(json_is_true(cli_member(&s.c, "signed")));
    cr_expect_eq(cli_number(&s.c, "entry"), 1);
    EXPECT_TEXT(&s.c, "cross_check.verdict", "unchecked");
    EXPECT_TEXT(&s.c, "cross_check.error.code", "tier-probe");
    EXPECT_HAS(cli_text(&s.c, "message"), "[refused-capacity]");
    run(&s, "lost", "host", 5, "tier-probe");
    EXPECT_HAS(cli_text(&s.c, "message"), "[unanswered-connection]");
    cr_expect_eq(cli_number(&s.c, "cross_check.probes.0.entry"), 3); /* what went wrong is kept */
    documents_take(&s.d, &s.c, "refused-and-failed", 1, "work-failed",
                   ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "--require-success", "--cross-check",
                        "probe", "request.json"));
    EXPECT_HAS(cli_text(&s.c, "message"), "the cross-check could not be made [tier-probe]");
    expect_ledger(&s, 3, 1);
    documents_expect_valid(&s.d, NULL);
    finish(&s);
}

Test(run_cross_check, an_answer_to_the_probe_that_is_none_of_it_is_wrong) {
    scene s;
    begin(&s);
    sample good;
    sample_init(&good);
    script_run(&s, "kernel", NULL, NULL);
    live_describe(&s.script, good.before);
    live_run(&s.script, &good);
    sample_free(&good);
    serve(&s);
    run(&s, "probe-wrong", "probe", 1, "request-digest");
    cr_expect_eq(cli_number(&s.c, "entry"), 1);
    EXPECT_TEXT(&s.c, "cross_check.verdict", "failed");
    cr_expect_eq(cli_number(&s.c, "cross_check.probes.0.entry"), 2);
    expect_ledger(&s, 1, 1);
    documents_expect_valid(&s.d, NULL);
    finish(&s);
}

Test(run_cross_check, a_run_that_did_not_pass_is_not_cross_checked) {
    scene s;
    begin(&s);
    sample good;
    sample_init(&good);
    canon_set(&good.after->sandbox, "other");
    live_run(&s.script, &good);
    sample_free(&good);
    serve(&s);
    run(&s, "failed", "host", 1, "provider-drift");
    cr_expect_null(cli_member(&s.c, "cross_check"));
    peer_stop(s.peer);
    cr_expect_eq(peer_connections(s.peer), 3);
    documents_expect_valid(&s.d, NULL);
    finish(&s);
}

Test(run_cross_check, a_wrong_depth_is_usage) {
    cli_case c;
    cli_begin(&c);
    EXPECT_EXIT(
        &c, cli_json(&c, ARGS("run", "-d", "http://127.0.0.1:1", "-l", "l.db", "--cross-check", "all", "r.json")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("replay", "-d", "http://127.0.0.1:1", "--cross-check", "all", "l.db")), 2);
    cli_end(&c);
}

/* ---- real daemons ----------------------------------------------------------------------------------------- */

static const documents_twin probe_twins[] = {
    {"probe", "passed-and-nothing-read", "cross_check", "probes",
     "[{\"form\":\"script\",\"ran\":true,\"read\":false},{\"form\":\"program\",\"ran\":true,\"read\":false}]",
     "$.cross_check.probes [contains]"},
    {"host", "view-missing", "cross_check", "host_view", "null", "$.cross_check.host_view [type]"},
};

Test(run_cross_check_live, an_honest_claim_stands_at_every_depth) {
    scene s;
    need_root();
    begin_real(&s, "container", NULL);
    run(&s, "off", "off", 0, "ok");
    run(&s, "statements", "statements", 0, "ok");
    run(&s, "probe", "probe", 0, "ok");
    cr_expect(json_is_true(cli_member(&s.c, "cross_check.probes.0.read")));
    cr_expect(json_is_true(cli_member(&s.c, "cross_check.probes.1.read")));
    cr_expect_null(cli_member(&s.c, "cross_check.probes.0.entry"));
    run(&s, "host", "host", 0, "ok");
    EXPECT_TEXT(&s.c, "cross_check.host_view.daemon", "here");
    EXPECT_TEXT(&s.c, "cross_check.claim", "container");
    cr_expect_eq(cli_number(&s.c, "entry"), 4); /* the probes are not among the entries */
    expect_ledger(&s, 4, 0);
    documents_expect_valid(&s.d, NULL);
    documents_expect_refused(&s.d, probe_twins, sizeof probe_twins / sizeof probe_twins[0], 0);
    finish(&s);
}

Test(run_cross_check_live, a_lie_is_refuted_from_the_host_and_kept_beside_the_signed_run) {
    scene s;
    need_root();
    begin_real(&s, "container", "vm");
    run(&s, "off", "off", 0, "ok");
    run(&s, "statements", "statements", 0, "ok"); /* always the same lie */
    run(&s, "host", "host", 1, "tier-contradicted");
    cr_expect(json_is_true(cli_member(&s.c, "signed")));
    cr_expect_eq(cli_number(&s.c, "entry"), 3);
    cr_expect_eq(cli_number(&s.c, "cross_check.finding"), 4);
    EXPECT_TEXT(&s.c, "cross_check.claim", "vm");
    EXPECT_HAS(s.c.end.out, "token-on-host");
    documents_expect_valid(&s.d, NULL);
    expect_ledger(&s, 3, 1);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("show", "-p", "k.pub", "ledger.db", "4")), 0);
    EXPECT_TEXT(&s.c, "shown.kind", "finding");
    EXPECT_TEXT(&s.c, "shown.verification", "unsigned");
    EXPECT_TEXT(&s.c, "shown.finding_code", "tier-contradicted");
    EXPECT_TEXT(&s.c, "shown.outputs.0.text", "42\n"); /* of the run, not of a probe */
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("show", "-p", "k.pub", "ledger.db", "3")), 0);
    EXPECT_TEXT(&s.c, "shown.verification", "passed");
    finish(&s);
}

/* What the probe sees needs no root. */
Test(run_cross_check_live, a_lie_is_refuted_from_inside) {
    scene s;
    begin_real(&s, "process", "container");
    EXPECT_EXIT(&s.c,
                cli_run(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "--cross-check", "probe",
                                   "request.json")),
                1);
    EXPECT_HAS(s.c.end.out, "first-namespaces       contradicted");
    EXPECT_HAS(s.c.end.out, "finding:     entry 2, unsigned");
    EXPECT_HAS(s.c.end.err, "[tier-contradicted]");
    /* That ledger holds against the same claim from then on; one that has no such finding does not. */
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "request.json")), 1);
    EXPECT_HAS(s.c.end.out, "ledger-statements      contradicted");
    EXPECT_HAS(s.c.end.out, "entry 2 of this ledger is a finding that refutes the same claim");
    EXPECT_HAS(s.c.end.err, "[tier-contradicted]");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "other.db", "request.json")), 0);
    finish(&s);
}
