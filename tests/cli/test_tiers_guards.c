/* The guards of `countersign tiers`: what is printed, kept, required and left out. */
#include "tests/cli/tiers_scene.h"

#include "harness/guards.h"
#include "tests/support/forward.h"

/* A guard's member in the report. */
static const char *guard_member(const scene *s, cs_guard_id guard, const char *member) {
    json_t *each = json_array_get(cli_member(&s->c, "guards.table"), (size_t)guard);
    const char *word = json_string_value(json_object_get(each, "guard"));
    const char *text = json_string_value(json_object_get(each, member));
    cr_expect_str_eq(word != NULL ? word : "", cs_guard_word(guard));
    return text != NULL ? text : "";
}

static const documents_twin kept_twins[] = {
    {"kept", "broken-by-nothing", "guards", "broken", "0", "$.guards.broken [minimum]"},
    {"kept", "guards-missing", "", "guards", NULL, "$ [required]"},
    {"kept", "guard-missing", "guards", "table", "[]", "$.guards.table [minItems]"},
    {"kept", "guard-of-another-name", "guards.table.0", "guard", "\"walls\"", "$.guards.table[0].guard [enum]"},
    {"kept", "guard-that-is-proved", "guards.table.0", "verdict", "\"proved\"", "$.guards.table[0].verdict [enum]"},
    {"kept", "guard-without-a-control", "guards.table.0", "control", "\"\"", "$.guards.table[0].control [minLength]"},
    {"kept", "kept-twice", "guards", "side_file", "\"x\"", "$.guards.finding [false]"},
    {"kept", "contradicted-too", "", "contradictions", "1", "$.contradictions [const]"},
    {"honest", "passed-and-broken", "guards", "broken", "1", "$.guards.broken [const]"},
    {"honest", "promise-found-open", "guards.table.0", "verdict", "\"not in force\"",
     "$.guards.table[0].verdict [enum]"},
    {"honest", "guards-of-statements", "", "cross_check", "\"statements\"", "$.guards [type]"},
};

static void expect_kept(scene *s) {
    EXPECT_EXIT(&s->c, cli_json(&s->c, ARGS("verify", "-p", "k.pub", "ledger.db")), 0);
    cr_expect_eq(cli_number(&s->c, "inputs.0.runs"), 5); /* two probes, three for the guards */
    cr_expect_eq(cli_number(&s->c, "inputs.0.unsigned_findings"), 1);
    EXPECT_EXIT(&s->c, cli_run(&s->c, ARGS("show", "ledger.db", "6")), 0);
    EXPECT_HAS(s->c.end.out, "tier-guard");
    EXPECT_HAS(s->c.end.out, "file-size");
}

/* Nothing promises a bound of a file's size: whether it is open matters to who requires it. */
Test(tiers_guards, a_guard_that_is_open_fails_where_it_is_required) {
    static const char *const without[] = {"--without", "file-size", "--i-am-lying-for-a-test", NULL};
    scene s;
    scene_begin(&s, NULL, "process", without);
    cli_keys(&s.c);
    documents_take(&s.d, &s.c, "kept", 1, "tier-guard",
                   ARGS("tiers", "-d", s.daemon.url, "-k", "k.key", "-l", "ledger.db", "--require", "files,file-size"));
    cr_expect_eq(cli_number(&s.c, "guards.broken"), 1);
    cr_expect_eq(cli_number(&s.c, "guards.finding"), 6);
    cr_expect_eq(cli_number(&s.c, "entry"), 6);
    cr_expect_eq(cli_number(&s.c, "contradictions"), 0);
    cr_expect_str_eq(guard_member(&s, CS_GUARD_FILE_SIZE, "verdict"), "not in force");
    cr_expect_str_eq(guard_member(&s, CS_GUARD_FILES, "verdict"), "in force");
    cr_expect_str_eq(guard_member(&s, CS_GUARD_DISK, "verdict"), "unknown");
    expect_kept(&s);
    documents_take(&s.d, &s.c, "honest", 0, "ok", ARGS("tiers", "-d", s.daemon.url));
    cr_expect_eq(cli_number(&s.c, "guards.broken"), 0);
    documents_take(&s.d, &s.c, "left-out", 0, "ok", ARGS("tiers", "-d", s.daemon.url, "--no-guards"));
    cr_expect(json_is_null(cli_member(&s.c, "guards")));
    documents_expect_valid(&s.d, NULL);
    documents_expect_refused(&s.d, kept_twins, sizeof kept_twins / sizeof kept_twins[0], 0);
    scene_end(&s);
}

static void require_memory(scene *s, int exit, const char *code, const char *verdict) {
    documents_take(&s->d, &s->c, code, exit, code, ARGS("tiers", "-d", s->daemon.url, "--require", "memory"));
    cr_expect_str_eq(guard_member(s, CS_GUARD_MEMORY, "configured"), "2048 MiB (Describe)");
    cr_expect_str_eq(guard_member(s, CS_GUARD_MEMORY, "verdict"), verdict, "%s", s->c.end.out);
    scene_end(s);
}

/* The whole run's memory is promised to be bounded; here it is in force, and here it was left out. */
Test(tiers_guards, a_promise_of_memory_is_kept_or_broken) {
    static const char *const without[] = {"--without", "memory", "--i-am-lying-for-a-test", NULL};
    scene s;
    scene_begin(&s, NULL, "kernel", NULL);
    require_memory(&s, 0, "ok", "in force");
    scene_begin(&s, NULL, "kernel", without);
    require_memory(&s, 1, "tier-guard", "not in force");
}

/* The rules see nothing of it: /proc is not to be read inside. */
Test(tiers_guards, system_calls_that_are_open_contradict_the_tier) {
    static const char *const without[] = {"--without", "syscalls", "--i-am-lying-for-a-test", NULL};
    scene s;
    scene_begin(&s, NULL, "process", without);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url)), 1);
    EXPECT_HAS(s.c.end.out, "No rule contradicts the claim; what fails is said of the guards above: syscalls.\n");
    EXPECT_HAS_NOT(s.c.end.out, "That is no proof of it.");
    EXPECT_HAS(s.c.end.out, "! syscalls       not in force");
    EXPECT_HAS(s.c.end.out, "  files          in force");
    EXPECT_HAS(s.c.end.err, "syscalls not in force (implied by the tier): keyctl");
    EXPECT_HAS(s.c.end.err, "[tier-contradicted]");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url, "--no-guards")), 0);
    EXPECT_HAS(s.c.end.out, "No rule contradicts the claim. That is no proof of it.\n");
    scene_end(&s);
}

/* Nothing promises a bound of the disk, so it is not tried; who requires it is not told that it is there. */
Test(tiers_guards, a_required_guard_that_was_not_tried_fails_and_is_named) {
    scene s;
    scene_begin(&s, NULL, "process", NULL);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url, "--require", "files,disk,cpus")), 1);
    EXPECT_HAS(s.c.end.out, "! disk           unknown");
    EXPECT_HAS(s.c.end.out, "No rule contradicts the claim; what fails is said of the guards above: disk, cpus.\n");
    EXPECT_HAS(s.c.end.err, "[tier-guard]");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url, "--require", "files")), 0);
    EXPECT_HAS(s.c.end.out, "No rule contradicts the claim. That is no proof of it.\n");
    scene_end(&s);
}

/* The guards' runs are lost: of the rules the same is true, and of the guards nothing is known. */
Test(tiers_guards, guards_that_were_not_tried_to_the_end_are_told_of) {
    scene s;
    forward way;
    scene_begin(&s, NULL, "process", NULL);
    forward_begin(&way, s.daemon.url, 8);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", way.url)), 5);
    EXPECT_HAS(s.c.end.out, "No rule contradicts the claim; the guards above could not be tried to the end.\n");
    forward_end(&way);
    scene_end(&s);
}

static void expect_lost(scene *s, unsigned connections, int exit, const char *code) {
    forward way;
    char name[32];
    (void)snprintf(name, sizeof name, "lost-after-%u", connections);
    forward_begin(&way, s->daemon.url, connections);
    documents_take(&s->d, &s->c, name, exit, code, ARGS("tiers", "-d", way.url));
    forward_end(&way);
}

/* One call to ask, three for each run: before the first probe's run nothing ran, and behind it something did, whether
 * the daemon is lost before the second probe, before the guards or between their runs. */
Test(tiers_guards, a_daemon_that_is_lost_behind_a_probe_is_unchecked) {
    scene s;
    scene_begin(&s, NULL, "process", NULL);
    expect_lost(&s, 1, 3, "describe-failed");
    expect_lost(&s, 4, 5, "tier-probe");
    EXPECT_HAS(cli_text(&s.c, "message"), "[describe-failed]; a probe ran before");
    cr_expect(json_is_null(cli_member(&s.c, "guards")));
    expect_lost(&s, 7, 5, "tier-probe");
    EXPECT_HAS(cli_text(&s.c, "message"), "[describe-failed]; the rules' probes ran before");
    expect_lost(&s, 8, 5, "tier-probe");
    expect_lost(&s, 11, 5, "tier-probe");
    documents_expect_valid(&s.d, NULL);
    scene_end(&s);
}

Test(tiers_guards, wrong_lines_are_refused) {
    cli_case c;
    cli_begin(&c);
    const char *const *const wrong[] = {
        ARGS("tiers", "-d", "http://127.0.0.1:1", "--require", "walls"),
        ARGS("tiers", "-d", "http://127.0.0.1:1", "--require", ""),
        ARGS("tiers", "-d", "http://127.0.0.1:1", "--require", "files,"),
        ARGS("tiers", "-d", "http://127.0.0.1:1", "--require", "files, network"),
        ARGS("tiers", "-d", "http://127.0.0.1:1", "--require", "files", "--no-guards"),
        ARGS("tiers", "-d", "http://127.0.0.1:1", "--require", "files", "--cross-check", "statements"),
        ARGS("tiers", "--self-test", "--require", "files"),
        ARGS("tiers", "--self-test", "--no-guards"),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        EXPECT_EXIT(&c, cli_json(&c, wrong[i]), 2);
        EXPECT_TEXT(&c, "code", "usage");
    }
    EXPECT_EXIT(&c, cli_run(&c, wrong[0]), 2);
    EXPECT_HAS(c.end.err, "files, network, abstract, pids, syscalls, core-pattern, processes, memory, "
                          "process-memory, file-size, disk, cpus, time, leftovers");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("tiers", "-d", "http://127.0.0.1:1", "--require", "files,network")), 3);
    cli_end(&c);
}
