/* Each way around the gate, tried for real: refused by the rule that is meant for it, and by no other. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/cli/gate_scene.h"
#include "tests/gate/repository.h"

#define JUNIT_3                                                                                                        \
    "echo '<testsuite><testcase name=\"a\"/><testcase name=\"b\"/><testcase name=\"c\"/></testsuite>' > junit.xml\n"

/* ---- the files ----------------------------------------------------------------------------------------------------
 */

/* The base on one daemon, and this request on both. */
static void run_on_both(gate_scene *s, json_t *request, const char *ledger) {
    gate_scene_run(s, gate_scene_request(s, s->base), &s->process, "k.key", ledger);
    gate_scene_run(s, json_incref(request), &s->process, "k.key", ledger);
    gate_scene_run(s, request, &s->container, "k.key", ledger);
}

Test(gate_refusals, files_that_are_not_the_commits) {
    gate_scene s;
    gate_scene_begin(&s);
    json_t *request = gate_scene_request(&s, s.rev);
    gate_scene_edit(request, "src/answer.sh", "answer=42 \n");
    run_on_both(&s, request, "byte.db");
    gate_scene_expect(&s, "a byte", "policy.json", s.rev, "byte.db", "bind", "gate-bind");
    EXPECT_TEXT(&s.c, "sections.0.rules.8.path", "src/answer.sh");
    request = gate_scene_request(&s, s.rev);
    gate_scene_edit(request, "test/case-more.sh", NULL);
    run_on_both(&s, request, "left-out.db");
    gate_scene_expect(&s, "left out", "policy.json", s.rev, "left-out.db", "complete", "gate-incomplete");
    request = gate_scene_request(&s, s.rev);
    gate_scene_edit(request, "junit.xml", "<testsuite><testcase name=\"planted\"/></testsuite>");
    run_on_both(&s, request, "planted.db");
    gate_scene_expect(&s, "planted", "policy.json", s.rev, "planted.db", "tests", "gate-tests-missing");
    gate_scene_end(&s);
}

/* ---- the tests -----------------------------------------------------------------------------------------------------
 */

/* A commit on top of the patch, honestly run. */
static void expect_commit(gate_scene *s, const char *name, const char *path, const char *content, const char *rule,
                          const char *code) {
    char rev[41];
    const char *ledger = forge_text("%s.db", name);
    GATE_COMMIT(s, s->rev, rev, {path, content});
    gate_scene_runs(s, rev, ledger);
    gate_scene_expect(s, name, "policy.json", rev, ledger, rule, code);
}

Test(gate_refusals, tests_that_are_no_longer_what_they_were) {
    gate_scene s;
    char rev[41];
    gate_scene_begin(&s);
    GATE_COMMIT(&s, s.rev, rev, {"test/case-sum.sh", NULL}, {"test/case-more.sh", NULL});
    gate_scene_runs(&s, rev, "deleted.db");
    gate_scene_expect(&s, "deleted", "policy.json", rev, "deleted.db", "tests-of-base", "gate-tests-fewer");
    expect_commit(&s, "skipped", "test/case-sum.sh", "exit 77\n", "tests", "gate-tests-skipped");
    expect_commit(&s, "none", "test/run.sh", "echo '<testsuites tests=\"3\"/>' > junit.xml\n", "tests",
                  "gate-tests-few");
    gate_scene_end(&s);
}

/* ---- the work ------------------------------------------------------------------------------------------------------
 */

Test(gate_refusals, work_that_failed) {
    gate_scene s;
    char rev[41];
    gate_scene_begin(&s);
    expect_commit(&s, "failed", "test/run.sh", JUNIT_3 "exit 3\n", "work", "gate-work-failed");
    expect_commit(&s, "differs", "test/run.sh", JUNIT_3 "head -c 16 /dev/urandom | od -An -tx1\n", "same-result",
                  "gate-result-differs");
    GATE_COMMIT(&s, s.rev, rev, {"test/run.sh", JUNIT_3 "sleep 60\n"});
    json_t *request = gate_scene_request(&s, rev);
    json_object_set_new(request, "timeoutMs", json_integer(1500));
    run_on_both(&s, request, "late.db");
    gate_scene_expect(&s, "late", "policy.json", rev, "late.db", "time-out", "gate-timed-out");
    gate_scene_end(&s);
}

/* ---- where, when, how often
 * ------------------------------------------------------------------------------------------ */

static void put_policy(gate_scene *s, const char *name, const char *member, json_t *value) {
    json_t *policy = gate_scene_policy(s);
    if (value != NULL)
        json_object_set_new(gate_scene_requirement(policy), member, value);
    else
        json_object_del(gate_scene_requirement(policy), member);
    gate_scene_put(s, name, policy);
}

Test(gate_refusals, records_of_the_wrong_kind) {
    gate_scene s;
    gate_scene_begin(&s);
    gate_scene_runs(&s, s.rev, "l.db");
    EXPECT_EXIT(&s.c, gate_scene_judge(&s, "policy.json", s.rev, "l.db"), 0);
    put_policy(&s, "floor.json", "floor", json_string("kernel"));
    gate_scene_expect(&s, "floor", "floor.json", s.rev, "l.db", "floor", "gate-floor");
    put_policy(&s, "count.json", "min_records", json_integer(3));
    gate_scene_expect(&s, "count", "count.json", s.rev, "l.db", "count", "gate-count");
    /* The same records once more, in a bundle: they count once. */
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("export", "-k", "k.key", "-o", "again.jsonl", "l.db")), 0);
    EXPECT_EXIT(&s.c,
                cli_json(&s.c, ARGS("gate", "--policy", "count.json", "--repo", s.repo, "--rev", s.rev, "--base",
                                    s.base, "l.db", "again.jsonl", "l.db")),
                1);
    EXPECT_TEXT(&s.c, "code", "gate-count");
    cr_expect_eq(cli_number(&s.c, "records"), 3);
    cr_expect_eq(cli_number(&s.c, "refusals"), 1);
    put_policy(&s, "age.json", "max_age_seconds", json_integer(1));
    sleep(3);
    gate_scene_expect(&s, "age", "age.json", s.rev, "l.db", "age", "gate-age");
    gate_scene_run(&s, gate_scene_request(&s, s.base), &s.process, "k.key", "one.db");
    gate_scene_run(&s, gate_scene_request(&s, s.rev), &s.process, "k.key", "one.db");
    gate_scene_run(&s, gate_scene_request(&s, s.rev), &s.process, "k.key", "one.db");
    gate_scene_expect(&s, "one provider", "policy.json", s.rev, "one.db", "reproduced", "gate-not-reproduced");
    gate_scene_end(&s);
}

/* ---- the keys
 * -------------------------------------------------------------------------------------------------------- */

static void expect_unverified(gate_scene *s, const char *policy, const char *ledger, const char *code) {
    EXPECT_EXIT(&s->c, gate_scene_judge(s, policy, s->rev, ledger), 1);
    EXPECT_TEXT(&s->c, "code", code);
    cr_expect(json_is_false(cli_member(&s->c, "sources_verified")));
    cr_expect_eq(cli_number(&s->c, "records"), 0, "nothing of a source that does not verify counts");
    EXPECT_TEXT(&s->c, "findings.0.code", code);
}

Test(gate_refusals, signatures_that_do_not_count) {
    gate_scene s;
    gate_scene_begin(&s);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("keygen", "-o", "other")), 0);
    gate_scene_run(&s, gate_scene_request(&s, s.rev), &s.process, "other.key", "unknown.db");
    expect_unverified(&s, "policy.json", "unknown.db", "envelope-key-unknown");
    gate_scene_runs(&s, s.rev, "l.db");
    EXPECT_EXIT(&s.c, gate_scene_judge(&s, "policy.json", s.rev, "l.db"), 0);
    json_t *policy = gate_scene_policy(&s);
    json_object_set_new(json_array_get(json_object_get(policy, "keys"), 0), "not_after",
                        json_string("2020-01-01T00:00:00Z"));
    gate_scene_put(&s, "expired.json", policy);
    expect_unverified(&s, "expired.json", "l.db", "envelope-key-window");
    gate_scene_end(&s);
}

/* ---- the policy itself
 * ------------------------------------------------------------------------------------------------ */

static int judge_from(gate_scene *s, const char *from, const char *policy, const char *rev) {
    if (from == NULL) return gate_scene_judge(s, policy, rev, "weak.db");
    return cli_json(&s->c, ARGS("gate", "--policy", policy, "--policy-from", from, "--repo", s->repo, "--rev", rev,
                                "--base", s->base, "weak.db"));
}

/* The patch also weakens the policy, so that a skipped test would be let through. */
Test(gate_refusals, a_policy_that_the_patch_weakens) {
    gate_scene s;
    char rev[41];
    gate_scene_begin(&s);
    json_t *weak = gate_scene_policy(&s);
    json_object_set_new(json_object_get(gate_scene_requirement(weak), "tests"), "max_skipped", json_integer(9));
    json_object_del(weak, "protect");
    char *text = json_dumps(weak, 0);
    json_decref(weak);
    GATE_COMMIT(&s, s.rev, rev, {".gate/policy.json", text}, {"test/case-sum.sh", "exit 77\n"});
    gate_scene_runs(&s, rev, "weak.db");
    /* The work tree has the weak policy: it passes, and that is said to be worth nothing. */
    EXPECT_EXIT(&s.c, judge_from(&s, NULL, forge_text("%s/.gate/policy.json", s.repo), rev), 0);
    cr_expect_eq(json_array_size(cli_member(&s.c, "warnings")), 1);
    EXPECT_HAS(cli_text(&s.c, "warnings.0"), "--policy-from");
    EXPECT_EXIT(&s.c, judge_from(&s, rev, ".gate/policy.json", rev), 0);
    cr_expect_eq(json_array_size(cli_member(&s.c, "warnings")), 1);
    /* The base has the strong one: both are refused. */
    EXPECT_EXIT(&s.c, judge_from(&s, "main", ".gate/policy.json", rev), 1);
    cr_expect_eq(json_array_size(cli_member(&s.c, "warnings")), 0);
    EXPECT_TEXT(&s.c, "policy.commit", s.base);
    cr_expect_str_eq(gate_scene_state(&s, "protect"), "refused");
    cr_expect_str_eq(gate_scene_state(&s, "tests"), "refused");
    cr_expect_eq(cli_number(&s.c, "refusals"), 2);
    free(text);
    /* Weakened, and nothing else done: the one rule that is about it. */
    GATE_COMMIT(&s, s.rev, rev, {".gate/policy.json", "{\"version\":1}\n"});
    unlink(forge_text("%s/weak.db", s.c.folder));
    gate_scene_runs(&s, rev, "weak.db");
    EXPECT_EXIT(&s.c, judge_from(&s, "main", ".gate/policy.json", rev), 1);
    EXPECT_TEXT(&s.c, "code", "gate-protected");
    cr_expect_eq(cli_number(&s.c, "refusals"), 1);
    EXPECT_TEXT(&s.c, "sections.1.rules.0.path", ".gate/policy.json");
    gate_scene_end(&s);
}
