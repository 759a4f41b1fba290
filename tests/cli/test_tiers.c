/* `countersign tiers` with real daemons: those that tell the truth, and those that lie. A check takes some seconds,
 * since the probes wait to be seen, so each is asked several questions; its document is valid, and is not when changed.
 * CI's pass with sanitizers has some of them only, by their names (bootstrap.sh, UNSANITIZED). */
#include "tests/cli/tiers_scene.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A daemon that is `provider` and claims `claim` (NULL: what it is). */
static void begin(scene *s, const char *provider, const char *claim) {
    const char *const lie[] = {"--claim", claim, "--i-am-lying-for-a-test", NULL};
    scene_begin(s, NULL, provider, claim != NULL ? lie : NULL);
}

/* ---- honest ----------------------------------------------------------------------------------------------- */

static const documents_twin host_twins[] = {
    {"host", "view-missing", "", "host_view", "null", "$.host_view [type]"},
    {"host", "daemon-somewhere", "host_view", "daemon", "\"there\"", "$.host_view [anyOf]"},
    {"host", "program-not-run-but-read", "probes.1", "ran", "false", "$.probes[1].ran [const]"},
    {"host", "contradicted-and-passed", "", "contradictions", "1", "$.contradictions [const]"},
    {"host", "observation-of-nothing", "rules.0", "observation", "\"\"", "$.rules[0].observation [minLength]"},
    {"host", "verdict-that-proves", "rules.0", "verdict", "\"proved\"", "$.rules[0].verdict [enum]"},
    {"host", "tier-unknown", "", "claim", "\"jail\"", "$.claim [enum]"},
    {"host", "claim-missing", "", "claim", NULL, "$ [required]"},
};

Test(tiers_command, an_honest_container_stands) {
    scene s;
    scene_need_root();
    begin(&s, "container", NULL);
    scene_check(&s, "host", 0, "ok");
    EXPECT_TEXT(&s.c, "claim", "container");
    EXPECT_TEXT(&s.c, "host_view.daemon", "here");
    cr_expect_eq(cli_number(&s.c, "contradictions"), 0);
    cr_expect(json_is_true(cli_member(&s.c, "probes.0.read")));
    cr_expect(json_is_true(cli_member(&s.c, "probes.1.read")));
    EXPECT_VERDICT(&s, "probe-nonce", "consistent");
    EXPECT_VERDICT(&s, "token-not-on-host", "consistent");
    EXPECT_VERDICT(&s, "host-file", "consistent");
    EXPECT_VERDICT(&s, "host-loopback", "consistent");
    documents_expect_refused(&s.d, host_twins, sizeof host_twins / sizeof host_twins[0], 0);
    scene_end(&s);
}

/* ---- false ------------------------------------------------------------------------------------------------ */

Test(tiers_command, a_container_that_claims_vm_is_refuted_from_the_host) {
    scene s;
    scene_need_root();
    begin(&s, "container", "vm");
    scene_check(&s, "host", 1, "tier-contradicted");
    EXPECT_VERDICT(&s, "token-on-host", "contradicted");
    EXPECT_VERDICT(&s, "program-on-host", "contradicted");
    EXPECT_VERDICT(&s, "boot-id", "contradicted");
    EXPECT_VERDICT(&s, "clock-offset", "contradicted");
    EXPECT_VERDICT(&s, "kernel-identity", "silent");
    scene_end(&s);
}

Test(tiers_command, less_than_is_there_is_refuted_too) {
    scene s;
    scene_need_root();
    begin(&s, "container", "process");
    scene_check(&s, "host", 1, "tier-contradicted");
    EXPECT_VERDICT(&s, "host-apart", "contradicted");
    scene_end(&s);
}

/* ---- the ledger ---------------------------------------------------------------------------------------------- */

static const documents_twin ledger_twins[] = {
    {"contradicted", "finding-that-is-no-entry", "", "entry", NULL, "$ [dependentRequired]"},
    {"contradicted", "finding-kept-twice", "", "side_file", "\"x\"", "$.finding [false]"},
    {"contradicted", "finding-of-another-code", "", "code", "\"tier-nonce\"", "$.finding [false]"},
    {"contradicted", "contradicted-by-nothing", "", "contradictions", "0", "$.contradictions [minimum]"},
    {"contradicted", "probes-out-of-order", "probes.0", "form", "\"program\"", "$.probes[0].form [const]"},
    {"contradicted", "read-but-not", "probes.0", "why", "\"x\"", "$.probes[0].why [false]"},
    {"contradicted", "view-of-a-probe", "", "host_view", "{\"daemon\":\"here\",\"complete\":true}",
     "$.host_view [type]"},
    {"contradicted", "host-rule-of-a-probe", "rules.0", "layer", "\"host\"", "$.rules[0].layer [enum]"},
    {"statements", "passed-with-an-entry", "", "entry", "1", "$.entry [false]"},
    {"statements", "passed-with-a-contradiction", "rules.0", "verdict", "\"contradicted\"",
     "$.rules[0].verdict [enum]"},
    {"statements", "passed-without-a-claim", "", "claim", "\"\"", "$.claim [minLength]"},
    {"statements", "read-of-no-probe", "probes.0", "read", "true", "$.probes[0].read [const]"},
    {"statements", "probe-rule-of-statements", "rules.0", "layer", "\"probe\"", "$.rules[0].layer [const]"},
    {"statements", "not-run-and-kept", "probes.1", "entry", "1", "$.probes[1].entry [false]"},
};

/* Without a look at the host, what the probe sees is enough. A daemon that always tells the same lie is consistent with
 * itself: that is why statements are not. */
Test(tiers_command, a_process_that_claims_container_is_refuted_from_inside_and_kept) {
    scene s;
    begin(&s, "process", "container");
    cli_keys(&s.c);
    documents_take(&s.d, &s.c, "contradicted", 1, "tier-contradicted",
                   ARGS("tiers", "-d", s.daemon.url, "-k", "k.key", "-l", "ledger.db", "--no-guards"));
    EXPECT_TEXT(&s.c, "claim", "container");
    EXPECT_TEXT(&s.c, "cross_check", "probe");
    EXPECT_VERDICT(&s, "first-namespaces", "contradicted");
    EXPECT_VERDICT(&s, "host-namespaces", "");
    cr_expect(json_is_null(cli_member(&s.c, "host_view")));
    cr_expect_eq(cli_number(&s.c, "probes.0.entry"), 1);
    cr_expect_eq(cli_number(&s.c, "probes.1.entry"), 2);
    cr_expect_eq(cli_number(&s.c, "finding"), 3);
    cr_expect_eq(cli_number(&s.c, "entry"), 3);
    EXPECT_VERDICT(&s, "ledger-statements", "silent"); /* there was nothing before */
    documents_take(&s.d, &s.c, "again", 1, "tier-contradicted",
                   ARGS("tiers", "-d", s.daemon.url, "-k", "k.key", "-l", "ledger.db", "--cross-check", "statements"));
    EXPECT_VERDICT(&s, "tier-statements", "consistent");
    EXPECT_VERDICT(&s, "ledger-statements", "contradicted"); /* it was refuted before, and claims the same again */
    EXPECT_HAS(s.c.end.out, "entry 3 of this ledger is a finding that refutes the same claim");
    cr_expect_eq(cli_number(&s.c, "finding"), 3); /* and is not kept twice */
    const char *const *other =
        ARGS("tiers", "-d", s.daemon.url, "-k", "k.key", "-l", "other.db", "--cross-check", "statements");
    EXPECT_EXIT(&s.c, cli_json(&s.c, other), 0);
    documents_take(&s.d, &s.c, "statements", 0, "ok", other);
    EXPECT_VERDICT(&s, "tier-statements", "consistent");
    EXPECT_VERDICT(&s, "ledger-statements", "consistent"); /* a ledger that holds no refutation */
    EXPECT_VERDICT(&s, "probe-nonce", "");
    cr_expect(json_is_false(cli_member(&s.c, "probes.1.ran")));
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "-p", "k.pub", "ledger.db")), 0);
    cr_expect_eq(cli_number(&s.c, "inputs.0.runs"), 3);
    cr_expect_eq(cli_number(&s.c, "inputs.0.unsigned_findings"), 1);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("show", "ledger.db", "3")), 0);
    EXPECT_HAS(s.c.end.out, "tier-contradicted");
    EXPECT_HAS(s.c.end.out, "first-namespaces");
    documents_expect_valid(&s.d, NULL);
    documents_expect_refused(&s.d, ledger_twins, sizeof ledger_twins / sizeof ledger_twins[0], 0);
    scene_end(&s);
}

/* ---- text and command line -------------------------------------------------------------------------------------- */

Test(tiers_command, the_table_names_rules_and_what_could_fool_them) {
    scene s;
    begin(&s, "container", "kernel");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url)), 1);
    EXPECT_HAS(s.c.end.out, "claim:       kernel");
    EXPECT_HAS(s.c.end.out, "landlock-answers       contradicted");
    EXPECT_HAS(s.c.end.out, "what could fool this rule: a later gVisor that has Landlock");
    EXPECT_HAS_NOT(s.c.end.out, "No rule contradicts");
    EXPECT_HAS(s.c.end.err, "[tier-contradicted]");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url, "--cross-check", "statements")), 0);
    EXPECT_HAS(s.c.end.out, "No rule contradicts the claim. That is no proof of it.");
    scene_end(&s);
}

#define NOT_LOOKED "Not looked at from this machine (--host-view): from inside, a container on the same kind of kernel"

/* A claim of a kernel of one's own is one that only this machine can speak against; and it was not asked. */
Test(tiers_command, the_look_that_was_not_made_is_said_where_it_matters) {
    static const struct {
        const char *claim;
        bool said;
        int exit; /* of a look from inside */
    } cases[] = {{"vm", true, 0}, {"kernel", true, 1}, {"container", false, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        scene s;
        begin(&s, "process", cases[i].claim);
        EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url, "--cross-check", "statements")), 0);
        cr_expect_eq(strstr(s.c.end.out, NOT_LOOKED) != NULL, cases[i].said, "%s: %s", cases[i].claim, s.c.end.out);
        EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url, "--no-guards")), cases[i].exit);
        cr_expect_eq(strstr(s.c.end.out, NOT_LOOKED) != NULL, cases[i].said, "%s: %s", cases[i].claim, s.c.end.out);
        EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url, "--host-view", "--no-guards")), 1);
        EXPECT_HAS_NOT(s.c.end.out, NOT_LOOKED);
        EXPECT_HAS(s.c.end.out, "host view:   the daemon is a process of this machine");
        scene_end(&s);
    }
}

/* It listens, but nobody looked. */
Test(tiers_command, the_host_is_not_looked_at_when_no_probe_ran) {
    static const char *const nobody[] = {"PLIMSOLL_CALLER_TOKEN=wrong", "COUNTERSIGN_KEY", NULL};
    scene s;
    begin(&s, "process", NULL);
    s.c.how.env = nobody;
    scene_check(&s, "host", 3, "describe-failed");
    EXPECT_TEXT(&s.c, "host_view.daemon", "unseen");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url, "--host-view")), 3);
    EXPECT_HAS(s.c.end.out, "host view:   not looked at: no probe ran\n");
    scene_end(&s);
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

/* The twin, a program that is there and serves nothing, is nothing to check: below. */
Test(tiers_command, a_self_test_without_its_program_can_t_be_made) {
    cli_case c;
    cli_begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("tiers", "--self-test", "--localdaemon", "/nonexistent")), 5);
    EXPECT_TEXT(&c, "code", "io");
    EXPECT_TEXT(&c, "where", "/nonexistent");
    cli_end(&c);
}

/* ---- the self-test ------------------------------------------------------------------------------------------- */

/* A program in the daemon's place. */
static const char *plant(const cli_case *c, const char *script) {
    const char *path = forge_text("%s/daemon", c->folder);
    file_write(path, script, strlen(script));
    cr_assert_eq(chmod(path, 0755), 0);
    return path;
}

static const documents_twin self_test_twins[] = {
    {"one", "good-for-a-reason", "cases.0", "why", "\"x\"", "$.cases[0].why [false]"},
    {"one", "bad-for-none", "cases.1", "why", NULL, "$.cases[1] [required]"},
    {"one", "passed-with-a-bad-one", "cases.0", "good", "false", "$.cases[0].good [const]"},
    {"one", "good-and-not-tried", "cases.1", "good", "true", "$.cases[1].good [const]"},
    {"one", "liar-that-nothing-refuted", "cases.4", "contradictions", "0", "$.cases[4].contradictions [minimum]"},
    {"one", "rule-of-an-odd-name", "cases.0.rules", "Host_File", "\"silent\"", "$.cases[0].rules [pattern]"},
    {"one", "self-test-of-a-daemon", "", "daemon", "\"http://127.0.0.1:1\"", "$.daemon [false]"},
    {"one", "list-missing", "", "rules_not_shown", NULL, "$ [required]"},
    {"wrong", "wrong-of-another-code", "", "code", "\"tier-contradicted\"", "$.code [const]"},
    {"none", "nothing-but-one", "cases.0", "tried", "true", "$.cases[0].tried [const]"},
};

/* With one provider that works, two of the cases can be tried: an honest process, and one that claims container. */
static void self_test_of_one(cli_case *c, documents *d) {
    char program[1024];
    exec_built("localdaemon", program);
    const char *daemon = plant(c, forge_text("#!/bin/sh\n[ \"$2\" = process ] && exec %s \"$@\"\n"
                                             "echo not here >&2\nexit 5\n",
                                             program));
    documents_take(d, c, "one", 0, "ok", ARGS("tiers", "--self-test", "--localdaemon", daemon));
    EXPECT_TEXT(c, "cases.0.provider", "process");
    cr_expect(json_is_true(cli_member(c, "cases.0.good")));
    EXPECT_TEXT(c, "cases.0.rules.probe-nonce", "consistent");
    EXPECT_TEXT(c, "cases.0.rules.host-file", "consistent");
    EXPECT_TEXT(c, "cases.1.why", "the provider container does not work here: not here");
    EXPECT_TEXT(c, "cases.4.provider", "process");
    EXPECT_TEXT(c, "cases.4.claim", "container");
    cr_expect(json_is_true(cli_member(c, "cases.4.good")));
    EXPECT_TEXT(c, "cases.4.rules.first-namespaces", "contradicted");
    EXPECT_TEXT(c, "cases.4.rules.host-namespaces", "contradicted");
}

Test(tiers_command, the_self_test_passes_fails_or_has_nothing_to_check) {
    cli_case c;
    documents d;
    scene_need_root();
    documents_begin(&d);
    cli_begin(&c);
    self_test_of_one(&c, &d);
    /* It says where it serves, and serves nobody: an honest claim that does not stand. */
    const char *daemon = plant(&c, "#!/bin/sh\necho http://127.0.0.1:1\nexec sleep 1000\n");
    documents_take(&d, &c, "wrong", 1, "tier-self-test", ARGS("tiers", "--self-test", "--localdaemon", daemon));
    cr_expect(json_is_true(cli_member(&c, "cases.0.tried")));
    cr_expect(json_is_false(cli_member(&c, "cases.0.good")));
    EXPECT_HAS(cli_text(&c, "cases.0.why"), "no run was sent");
    documents_take(&d, &c, "none", 6, "nothing-to-check", ARGS("tiers", "--self-test", "--localdaemon", "/bin/false"));
    cr_expect(json_is_false(cli_member(&c, "cases.0.tried")));
    EXPECT_TEXT(&c, "rules_not_shown.0", "tier-statements");
    documents_expect_valid(&d, NULL);
    documents_expect_refused(&d, self_test_twins, sizeof self_test_twins / sizeof self_test_twins[0], 0);
    cli_end(&c);
    documents_end(&d);
}
