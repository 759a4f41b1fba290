/* `countersign tiers` with real daemons: those that tell the truth, and those that lie. */
#include "tests/cli/cli_case.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/support/daemon.h"

typedef struct scene {
    cli_case c;
    test_daemon daemon;
} scene;

static const char *const environment[] = {"PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN, "COUNTERSIGN_KEY", NULL};

/* A daemon that is `provider` and claims `claim` (NULL: what it is). */
static void begin(scene *s, const char *provider, const char *claim) {
    memset(s, 0, sizeof *s);
    const char *const lie[] = {"--claim", claim, "--i-am-lying-for-a-test", NULL};
    daemon_start(&s->daemon, provider, claim != NULL ? lie : NULL);
    cli_begin(&s->c);
    s->c.how.env = environment;
}

static void finish(scene *s) {
    cr_expect_eq(daemon_stop(&s->daemon), 0);
    cli_end(&s->c);
}

static int check(scene *s, const char *depth) {
    return cli_json(&s->c, ARGS("tiers", "-d", s->daemon.url, "--cross-check", depth));
}

/* The host view needs root. */
static void need_root(void) {
    if (geteuid() == 0) return;
    if (getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL")) cr_assert_fail("the host view needs root");
    cr_skip_test("SKIPPED: the host view needs root");
}

/* A rule's verdict in the report; "" when it was not asked. */
static const char *verdict_of(const scene *s, const char *rule) {
    size_t at = 0;
    json_t *each = NULL;
    json_array_foreach(cli_member(&s->c, "rules"), at,
                       each) if (strcmp(json_string_value(json_object_get(each, "rule")), rule) ==
                                 0) return json_string_value(json_object_get(each, "verdict"));
    return "";
}

#define EXPECT_VERDICT(s, rule, want)                                                                                  \
    cr_expect_str_eq(verdict_of((s), (rule)), (want), "%s: %s in %s", (rule), verdict_of((s), (rule)), (s)->c.end.out)

/* ---- honest ----------------------------------------------------------------------------------------------- */

static void expect_honest(const char *provider) {
    scene s;
    need_root();
    begin(&s, provider, NULL);
    EXPECT_EXIT(&s.c, check(&s, "host"), 0);
    EXPECT_TEXT(&s.c, "claim", provider);
    EXPECT_TEXT(&s.c, "host_view.daemon", "here");
    cr_expect_eq(cli_number(&s.c, "contradictions"), 0);
    cr_expect(json_is_true(cli_member(&s.c, "probes.0.read")));
    cr_expect(json_is_true(cli_member(&s.c, "probes.1.read")));
    EXPECT_VERDICT(&s, "probe-nonce", "consistent");
    EXPECT_VERDICT(&s, "token-not-on-host", "consistent");
    EXPECT_VERDICT(&s, "host-file", "consistent");
    EXPECT_VERDICT(&s, "host-loopback", "consistent");
    finish(&s);
}

Test(tiers_command, an_honest_process_stands) {
    expect_honest("process");
}

Test(tiers_command, an_honest_container_stands) {
    expect_honest("container");
}

/* ---- false ------------------------------------------------------------------------------------------------ */

/* Without a look at the host: what the probe sees is enough. */
Test(tiers_command, a_process_that_claims_container_is_refuted_from_inside) {
    scene s;
    begin(&s, "process", "container");
    EXPECT_EXIT(&s.c, check(&s, "probe"), 1);
    EXPECT_TEXT(&s.c, "code", "tier-contradicted");
    EXPECT_TEXT(&s.c, "claim", "container");
    EXPECT_VERDICT(&s, "first-namespaces", "contradicted");
    EXPECT_VERDICT(&s, "host-namespaces", "");
    cr_expect(json_is_null(cli_member(&s.c, "host_view")));
    finish(&s);
}

Test(tiers_command, a_container_that_claims_kernel_is_refuted_from_inside) {
    scene s;
    begin(&s, "container", "kernel");
    EXPECT_EXIT(&s.c, check(&s, "probe"), 1);
    EXPECT_TEXT(&s.c, "code", "tier-contradicted");
    EXPECT_VERDICT(&s, "landlock-answers", "contradicted");
    finish(&s);
}

Test(tiers_command, a_process_that_claims_container_is_refuted_from_the_host) {
    scene s;
    need_root();
    begin(&s, "process", "container");
    EXPECT_EXIT(&s.c, check(&s, "host"), 1);
    EXPECT_VERDICT(&s, "host-namespaces", "contradicted");
    finish(&s);
}

Test(tiers_command, a_container_that_claims_vm_is_refuted_from_the_host) {
    scene s;
    need_root();
    begin(&s, "container", "vm");
    EXPECT_EXIT(&s.c, check(&s, "host"), 1);
    EXPECT_TEXT(&s.c, "code", "tier-contradicted");
    EXPECT_VERDICT(&s, "token-on-host", "contradicted");
    EXPECT_VERDICT(&s, "program-on-host", "contradicted");
    EXPECT_VERDICT(&s, "boot-id", "contradicted");
    EXPECT_VERDICT(&s, "clock-offset", "contradicted");
    EXPECT_VERDICT(&s, "kernel-identity", "silent");
    finish(&s);
}

Test(tiers_command, less_than_is_there_is_refuted_too) {
    scene s;
    need_root();
    begin(&s, "container", "process");
    EXPECT_EXIT(&s.c, check(&s, "host"), 1);
    EXPECT_VERDICT(&s, "host-apart", "contradicted");
    finish(&s);
}

/* A daemon that always tells the same lie is consistent with itself: that is why statements are not enough. */
Test(tiers_command, statements_alone_do_not_refute_a_steady_lie) {
    scene s;
    begin(&s, "process", "vm");
    EXPECT_EXIT(&s.c, check(&s, "statements"), 0);
    EXPECT_VERDICT(&s, "tier-statements", "consistent");
    EXPECT_VERDICT(&s, "probe-nonce", "");
    cr_expect_not(json_is_true(cli_member(&s.c, "probes.1.ran")));
    finish(&s);
}

/* ---- the ledger ---------------------------------------------------------------------------------------------- */

Test(tiers_command, runs_are_signed_and_a_contradiction_is_kept_as_a_finding) {
    scene s;
    begin(&s, "process", "container");
    cli_keys(&s.c);
    const char *const *line =
        ARGS("tiers", "-d", s.daemon.url, "-k", "k.key", "-l", "ledger.db", "--cross-check", "probe");
    EXPECT_EXIT(&s.c, cli_json(&s.c, line), 1);
    cr_expect_eq(cli_number(&s.c, "probes.0.entry"), 1);
    cr_expect_eq(cli_number(&s.c, "probes.1.entry"), 2);
    cr_expect_eq(cli_number(&s.c, "finding"), 3);
    cr_expect_eq(cli_number(&s.c, "entry"), 3);
    EXPECT_VERDICT(&s, "ledger-statements", "silent"); /* there was nothing before */
    EXPECT_EXIT(&s.c, cli_json(&s.c, line), 1);
    EXPECT_VERDICT(&s, "ledger-statements", "consistent");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "-p", "k.pub", "ledger.db")), 0);
    cr_expect_eq(cli_number(&s.c, "inputs.0.runs"), 4);
    cr_expect_eq(cli_number(&s.c, "inputs.0.unsigned_findings"), 2);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("show", "ledger.db", "3")), 0);
    EXPECT_HAS(s.c.end.out, "tier-contradicted");
    EXPECT_HAS(s.c.end.out, "first-namespaces");
    finish(&s);
}

/* ---- text and command line -------------------------------------------------------------------------------------- */

Test(tiers_command, the_table_names_rules_and_what_could_fool_them) {
    scene s;
    begin(&s, "process", "container");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url)), 1);
    EXPECT_HAS(s.c.end.out, "claim:       container");
    EXPECT_HAS(s.c.end.out, "first-namespaces       contradicted");
    EXPECT_HAS(s.c.end.out, "what could fool this rule: a forged /proc");
    EXPECT_HAS_NOT(s.c.end.out, "No rule contradicts");
    EXPECT_HAS(s.c.end.err, "[tier-contradicted]");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url, "--cross-check", "statements")), 0);
    EXPECT_HAS(s.c.end.out, "No rule contradicts the claim. That is no proof of it.");
    finish(&s);
}

Test(tiers_command, wrong_lines_are_refused) {
    cli_case c;
    cli_begin(&c);
    const char *const *const wrong[] = {
        ARGS("tiers"),
        ARGS("tiers", "-d", "http://127.0.0.1:1", "x"),
        ARGS("tiers", "-d", "http://127.0.0.1:1", "-k", "k.key"),
        ARGS("tiers", "-d", "http://127.0.0.1:1", "--cross-check", "all"),
        ARGS("tiers", "-d", "http://127.0.0.1:1", "--host-view", "--cross-check", "probe"),
        ARGS("tiers", "-d", "http://127.0.0.1:1", "--localdaemon", "/bin/false"),
        ARGS("tiers", "--self-test", "-d", "http://127.0.0.1:1"),
        ARGS("tiers", "--self-test", "-l", "ledger.db"),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        EXPECT_EXIT(&c, cli_json(&c, wrong[i]), 2);
        EXPECT_TEXT(&c, "code", "usage");
    }
    cli_end(&c);
}

Test(tiers_command, a_daemon_that_is_not_there_runs_nothing) {
    cli_case c;
    cli_begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("tiers", "-d", "http://127.0.0.1:1", "--host-view")), 3);
    EXPECT_TEXT(&c, "code", "describe-failed");
    EXPECT_TEXT(&c, "claim", "");
    cli_end(&c);
}

/* A program that is no daemon: nothing could be tried. */
Test(tiers_command, a_self_test_without_a_daemon_has_nothing_to_check) {
    cli_case c;
    cli_begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("tiers", "--self-test", "--localdaemon", "/bin/false")), 6);
    EXPECT_TEXT(&c, "code", "nothing-to-check");
    cr_expect(json_is_false(cli_member(&c, "cases.0.tried")));
    EXPECT_TEXT(&c, "rules_not_shown.0", "tier-statements");
    cli_end(&c);
}
