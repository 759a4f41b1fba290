/* A gate that passes, and the same with exactly one thing changed: refused by the rule meant for it, and by no other.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/gate/gate_case.h"
#include "tests/gate/repository.h"

typedef struct twin {
    const char *name;
    cs_gate_rule rule;
    cs_code code;
    void (*change)(gate_case *c);
} twin;

/* Both runs of the revision. */
#define BOTH(c, member, value)                                                                                         \
    do {                                                                                                               \
        (c)->runs[0].member = (value);                                                                                 \
        (c)->runs[1].member = (value);                                                                                 \
    } while (0)
/* All runs, that of the base too. */
#define ALL(c, member, value)                                                                                          \
    do {                                                                                                               \
        BOTH(c, member, value);                                                                                        \
        (c)->runs[2].member = (value);                                                                                 \
    } while (0)

static cs_view v(const char *text) {
    return (cs_view){.ptr = (const uint8_t *)text, .len = strlen(text)};
}

static void try_twins(const twin *twins, size_t count) {
    for (size_t i = 0; i < count; i++) {
        gate_case c;
        gate_begin(&c);
        twins[i].change(&c);
        cs_result result = gate_judge(&c);
        cr_expect_eq(result, c.verdict.result, "%s", twins[i].name);
        gate_expect_only(&c, twins[i].name, twins[i].rule, twins[i].code);
        gate_end(&c);
    }
}

#define TRY(twins) try_twins((twins), sizeof(twins) / sizeof(twins)[0])

Test(gate_judge, a_good_case_passes_every_rule) {
    gate_case c;
    gate_begin(&c);
    gate_expect_passes(&c, "good");
    cr_assert_eq(c.verdict.count, 2);
    cr_expect_eq(c.verdict.records, 3);
    cr_expect_eq(c.verdict.sections[0].selected, 3);
    cr_expect_eq(c.verdict.sections[0].counted, 2);
    cr_expect_eq(c.verdict.sections[0].requirement, &c.requirement);
    cr_expect_null(c.verdict.sections[1].requirement);
    for (unsigned rule = 0; rule < CS_GATE_PROTECT; rule++) {
        const cs_gate_finding *finding = &c.verdict.sections[0].findings[rule];
        cr_expect_eq(finding->state, CS_GATE_PASSED, "%s: %s", cs_gate_rule_word((cs_gate_rule)rule),
                     finding->observed);
        cr_expect_eq(finding->rule, rule);
        cr_expect_str_neq(finding->observed, "");
        cr_expect_str_neq(finding->wanted, "");
    }
    cr_expect_eq(gate_finding(&c, CS_GATE_PROTECT)->state, CS_GATE_PASSED);
    cr_expect_str_eq(gate_finding(&c, CS_GATE_BIND)->source, c.paths[0]);
    cr_expect_eq(gate_finding(&c, CS_GATE_BIND)->entry, 1);
    gate_end(&c);
}

Test(gate_judge, every_rule_has_its_word) {
    static const char *const words[CS_GATE_RULES] = {
        "selected", "provider",   "floor",       "software",    "sandbox-policy", "grants", "age",
        "work",     "time-out",   "truncation",  "bind",        "complete",       "tests",  "tests-of-base",
        "count",    "reproduced", "same-result", "cross-check", "protect"};
    for (unsigned rule = 0; rule < CS_GATE_RULES; rule++)
        cr_expect_str_eq(cs_gate_rule_word((cs_gate_rule)rule), words[rule]);
}

/* ---- where, with what, when ------------------------------------------------------------------------------ */

static void other_provider(gate_case *c) {
    c->runs[0].provider = "gamma";
    c->runs[1].provider = "delta";
}
static void tier_below(gate_case *c) {
    BOTH(c, isolation, "process");
}
static void other_software(gate_case *c) {
    BOTH(c, software, "node:23");
}
static void no_software(gate_case *c) {
    BOTH(c, software, "");
}
static void other_policy(gate_case *c) {
    BOTH(c, policy, "policy:2");
}
static void grant_used(gate_case *c) {
    BOTH(c, grant, "network");
}
static void too_old(gate_case *c) {
    BOTH(c, ended_ms, GATE_NOW - 3600001);
    c->runs[1].ended_ms--;
}
static void in_the_future(gate_case *c) {
    BOTH(c, ended_ms, GATE_NOW + 5001);
    c->runs[1].ended_ms++;
}

Test(gate_judge, where_it_ran_and_when) {
    static const twin twins[] = {
        {"provider", CS_GATE_PROVIDER, CS_CODE_GATE_PROVIDER, other_provider},
        {"tier", CS_GATE_FLOOR, CS_CODE_GATE_FLOOR, tier_below},
        {"software", CS_GATE_SOFTWARE, CS_CODE_GATE_SOFTWARE, other_software},
        {"no software", CS_GATE_SOFTWARE, CS_CODE_GATE_SOFTWARE, no_software},
        {"sandbox policy", CS_GATE_SANDBOX_POLICY, CS_CODE_GATE_SANDBOX_POLICY, other_policy},
        {"grant", CS_GATE_GRANTS, CS_CODE_GATE_GRANT, grant_used},
        {"old", CS_GATE_AGE, CS_CODE_GATE_AGE, too_old},
        {"future", CS_GATE_AGE, CS_CODE_GATE_AGE, in_the_future},
    };
    TRY(twins);
}

Test(gate_judge, the_last_moment_and_a_stronger_tier_pass) {
    gate_case c;
    gate_begin(&c);
    c.runs[0].ended_ms = GATE_NOW - 3600000;
    c.runs[1].ended_ms = GATE_NOW + 5000;
    BOTH(&c, isolation, "vm");
    gate_expect_passes(&c, "last moment");
    gate_end(&c);
}

Test(gate_judge, a_grant_that_is_named_passes) {
    gate_case c;
    gate_begin(&c);
    cs_view grants[1] = {v("network")};
    c.requirement.grant_profiles = (cs_policy_list){.items = grants, .count = 1};
    BOTH(&c, grant, "network");
    gate_expect_passes(&c, "named grant");
    BOTH(&c, grant, "networks");
    (void)gate_judge(&c);
    gate_expect_only(&c, "another grant", CS_GATE_GRANTS, CS_CODE_GATE_GRANT);
    gate_end(&c);
}

/* ---- the work ---------------------------------------------------------------------------------------------- */

static void step_failed(gate_case *c) {
    BOTH(c, exit_codes[0], 1);
}
static void step_failed_without_artifact(gate_case *c) {
    BOTH(c, exit_codes[0], 1);
    BOTH(c, junit, NULL);
}
static void step_missing(gate_case *c) {
    BOTH(c, results, 0);
}
static void step_of_another(gate_case *c) {
    BOTH(c, commands[0], "true");
}
static void set_up_failed(gate_case *c) {
    BOTH(c, outcome, PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_SETUP_FAILED);
}
static void timed_out(gate_case *c) {
    BOTH(c, timed_out[0], true);
}
/* What a time-out really looks like: a code, no artifact, an outcome of its own. */
static void timed_out_with_all_that_follows(gate_case *c) {
    BOTH(c, timed_out[0], true);
    BOTH(c, exit_codes[0], 137);
    BOTH(c, outcome, PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_TIMED_OUT);
    BOTH(c, junit, NULL);
}
static void outcome_timed_out(gate_case *c) {
    BOTH(c, results, 0);
    BOTH(c, outcome, PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_TIMED_OUT);
    BOTH(c, junit, NULL);
}
static void output_cut(gate_case *c) {
    BOTH(c, cut_stdout, true);
}
static void artifacts_cut(gate_case *c) {
    BOTH(c, cut_artifacts, true);
}
static void artifacts_cut_off(gate_case *c) {
    BOTH(c, cut_artifacts, true);
    BOTH(c, junit, NULL);
}

/* One more run of the same files, before the two that pass. */
static gate_run *add_hidden(gate_case *c) {
    c->runs[3] = c->runs[0];
    c->runs[3].ended_ms -= 60000;
    c->run_count = 4;
    return &c->runs[3];
}
static void failure_hidden(gate_case *c) {
    add_hidden(c)->exit_codes[0] = 1;
}
static void time_out_hidden(gate_case *c) {
    gate_run *run = add_hidden(c);
    run->timed_out[0] = true;
    run->exit_codes[0] = 137;
    run->outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_TIMED_OUT;
    run->junit = NULL;
}

Test(gate_judge, the_work) {
    static const twin twins[] = {
        {"failed", CS_GATE_WORK, CS_CODE_GATE_WORK_FAILED, step_failed},
        {"failed, no artifact", CS_GATE_WORK, CS_CODE_GATE_WORK_FAILED, step_failed_without_artifact},
        {"missing", CS_GATE_WORK, CS_CODE_GATE_WORK_FAILED, step_missing},
        {"of another", CS_GATE_WORK, CS_CODE_GATE_WORK_FAILED, step_of_another},
        {"set-up", CS_GATE_WORK, CS_CODE_GATE_WORK_FAILED, set_up_failed},
        {"hidden", CS_GATE_WORK, CS_CODE_GATE_WORK_FAILED, failure_hidden},
        {"timed out", CS_GATE_TIME_OUT, CS_CODE_GATE_TIMED_OUT, timed_out},
        {"timed out, hidden", CS_GATE_TIME_OUT, CS_CODE_GATE_TIMED_OUT, time_out_hidden},
        {"timed out, 137", CS_GATE_TIME_OUT, CS_CODE_GATE_TIMED_OUT, timed_out_with_all_that_follows},
        {"timed out before a step", CS_GATE_TIME_OUT, CS_CODE_GATE_TIMED_OUT, outcome_timed_out},
        {"output cut", CS_GATE_TRUNCATION, CS_CODE_GATE_TRUNCATED, output_cut},
        {"artifacts cut", CS_GATE_TRUNCATION, CS_CODE_GATE_TRUNCATED, artifacts_cut},
        {"artifact cut off", CS_GATE_TRUNCATION, CS_CODE_GATE_TRUNCATED, artifacts_cut_off},
    };
    TRY(twins);
}

/* A step that failed before another one met its limit failed by itself: two things are wrong. */
Test(gate_judge, a_failure_beside_a_time_out_is_refused_too) {
    gate_case c;
    gate_begin(&c);
    c.requirement.step = (cs_view){.ptr = NULL};
    for (size_t i = 0; i < 3; i++) {
        c.runs[i].steps[1] = "npm run more";
        c.runs[i].step_count = c.runs[i].results = 2;
    }
    gate_expect_passes(&c, "two steps");
    BOTH(&c, exit_codes[0], 1);
    BOTH(&c, exit_codes[1], 137);
    BOTH(&c, timed_out[1], true);
    cr_expect_eq(gate_judge(&c), CS_FAILED);
    cr_expect_eq(gate_finding(&c, CS_GATE_WORK)->code, CS_CODE_GATE_WORK_FAILED);
    cr_expect_eq(gate_finding(&c, CS_GATE_TIME_OUT)->code, CS_CODE_GATE_TIMED_OUT);
    cr_expect_eq(c.verdict.refusals, 2);
    /* The same, and the first step passed. */
    BOTH(&c, exit_codes[0], 0);
    (void)gate_judge(&c);
    gate_expect_only(&c, "second step", CS_GATE_TIME_OUT, CS_CODE_GATE_TIMED_OUT);
    cr_expect_eq(gate_finding(&c, CS_GATE_WORK)->state, CS_GATE_UNDECIDED);
    gate_end(&c);
}

/* A failure of other files is no failure of this commit. */
Test(gate_judge, a_failure_of_other_files_is_passed_over) {
    gate_case c;
    gate_begin(&c);
    failure_hidden(&c);
    c.runs[3].contents[1] = "export const answer = 0;\n";
    gate_expect_passes(&c, "a failed draft");
    time_out_hidden(&c);
    c.runs[3].contents[1] = "export const answer = 0;\n";
    gate_expect_passes(&c, "a draft that met its limit");
    gate_end(&c);
}

/* Output that was cut, tests that are missing, skipped or too few are no failures of the files: the run is no good, and
 * another may be. */
Test(gate_judge, what_is_no_failure_is_made_good_by_another) {
    gate_case c;
    gate_begin(&c);
    add_hidden(&c)->cut_stdout = true;
    gate_expect_passes(&c, "cut");
    add_hidden(&c)->junit = NULL;
    gate_expect_passes(&c, "missing");
    add_hidden(&c)->junit = "<testsuite><testcase name=\"a\"><skipped/></testcase></testsuite>";
    gate_expect_passes(&c, "skipped");
    add_hidden(&c)->junit = "<testsuite><testcase name=\"a\"/></testsuite>";
    gate_expect_passes(&c, "few");
    gate_end(&c);
}

/* ---- the files ----------------------------------------------------------------------------------------------- */

static void byte_differs(gate_case *c) {
    BOTH(c, contents[1], "export const answer = 43;\n");
}
static void file_unknown(gate_case *c) {
    gate_add_file(c, "src/extra.js", "1\n");
}
static void file_left_out(gate_case *c) {
    BOTH(c, files, 2);
}
static void pattern_without_file(gate_case *c) {
    c->patterns[2] = v("docs/**");
    c->bind.paths.count = 3;
}
static void symlink_in_commit(gate_case *c) {
    repository_git(c->folder, "rm", "-q", "src/main.js");
    char path[256];
    cr_assert_lt(snprintf(path, sizeof path, "%s/src/main.js", c->folder), (int)sizeof path);
    cr_assert_eq(symlink("lib.js", path), 0);
    c->bind.complete = false;
    gate_commit_again(c);
}
static void symlink_beside(gate_case *c) {
    char path[256];
    cr_assert_lt(snprintf(path, sizeof path, "%s/src/link.js", c->folder), (int)sizeof path);
    cr_assert_eq(symlink("lib.js", path), 0);
    gate_commit_again(c);
}
static void binary_beside(gate_case *c) {
    repository_write(c->folder, "src/logo.bin", "\xff\xfe\x00", 3);
    gate_commit_again(c);
}
static void protected_changed(gate_case *c) {
    repository_write(c->folder, ".gate/policy.json", "{ }\n", 4);
    gate_commit_again(c);
}
static void protected_added(gate_case *c) {
    repository_write(c->folder, ".gate/more.json", "{}\n", 3);
    gate_commit_again(c);
}
static void protected_removed(gate_case *c) {
    repository_git(c->folder, "rm", "-q", ".gate/policy.json");
    gate_commit_again(c);
}
static void protects_nothing(gate_case *c) {
    c->protect[1] = v(".github/**");
    c->policy.protect.count = 2;
}

Test(gate_judge, the_files) {
    static const twin twins[] = {
        {"byte", CS_GATE_BIND, CS_CODE_GATE_BIND, byte_differs},
        {"not in the commit", CS_GATE_BIND, CS_CODE_GATE_BIND, file_unknown},
        {"symbolic link", CS_GATE_BIND, CS_CODE_GATE_BIND, symlink_in_commit},
        {"left out", CS_GATE_COMPLETE, CS_CODE_GATE_INCOMPLETE, file_left_out},
        {"link left out", CS_GATE_COMPLETE, CS_CODE_GATE_INCOMPLETE, symlink_beside},
        {"binary", CS_GATE_COMPLETE, CS_CODE_GATE_INCOMPLETE, binary_beside},
        {"pattern", CS_GATE_BIND, CS_CODE_GATE_PATTERN, pattern_without_file},
        {"protected", CS_GATE_PROTECT, CS_CODE_GATE_PROTECTED, protected_changed},
        {"protected added", CS_GATE_PROTECT, CS_CODE_GATE_PROTECTED, protected_added},
        {"protected removed", CS_GATE_PROTECT, CS_CODE_GATE_PROTECTED, protected_removed},
        {"protects nothing", CS_GATE_PROTECT, CS_CODE_GATE_PATTERN, protects_nothing},
    };
    TRY(twins);
}

Test(gate_judge, says_why_a_file_can_not_be_in_a_run) {
    gate_case c;
    gate_begin(&c);
    binary_beside(&c);
    (void)gate_judge(&c);
    cr_expect_not_null(strstr(gate_finding(&c, CS_GATE_COMPLETE)->observed, "not UTF-8"));
    gate_end(&c);
    gate_begin(&c);
    symlink_beside(&c);
    (void)gate_judge(&c);
    cr_expect_not_null(strstr(gate_finding(&c, CS_GATE_COMPLETE)->observed, "symbolic link"));
    gate_end(&c);
}

/* Without completeness the same run passes, and a pattern that only the commit has files for is refused as such. */
Test(gate_judge, completeness_is_asked_for_by_itself) {
    gate_case c;
    gate_begin(&c);
    c.bind.complete = false;
    c.runs[0].files = c.runs[1].files = 2;
    (void)gate_judge(&c);
    gate_expect_only(&c, "no test in the run", CS_GATE_BIND, CS_CODE_GATE_PATTERN);
    c.bind.paths.count = 1;
    gate_expect_passes(&c, "not complete");
    gate_end(&c);
}

/* Files that no pattern matches are nobody's matter. */
Test(gate_judge, unbound_files_may_be_any) {
    gate_case c;
    gate_begin(&c);
    gate_add_file(&c, "fixtures/large.json", "{}\n");
    gate_expect_passes(&c, "unbound");
    gate_end(&c);
}

/* ---- the tests ------------------------------------------------------------------------------------------------- */

#define CASES_2 "<testsuite><testcase name=\"a\"/><testcase name=\"b\"/></testsuite>"

static void test_deleted(gate_case *c) {
    ALL(c, junit, CASES_2);
}
static void test_skipped(gate_case *c) {
    BOTH(c, junit,
         "<testsuite><testcase name=\"a\"/><testcase name=\"b\"/><testcase name=\"c\"><skipped/></testcase>"
         "</testsuite>");
}
static void test_failed(gate_case *c) {
    BOTH(c, junit,
         "<testsuite><testcase name=\"a\"/><testcase name=\"b\"/><testcase name=\"c\"><failure/></testcase>"
         "</testsuite>");
}
static void failed_test_hidden(gate_case *c) {
    add_hidden(c)->junit = "<testsuite><testcase name=\"a\"/><testcase name=\"b\"/><testcase name=\"c\"><failure/>"
                           "</testcase></testsuite>";
}
static void brought(gate_case *c) {
    gate_add_file(c, "junit.xml", GATE_JUNIT_3);
}
static void no_cases(gate_case *c) {
    BOTH(c, junit, "<testsuite tests=\"3\"></testsuite>");
}
static void not_junit(gate_case *c) {
    BOTH(c, junit, "3 passed\n");
}
static void no_artifact(gate_case *c) {
    BOTH(c, junit, NULL);
}
static void two_artifacts(gate_case *c) {
    BOTH(c, junit_twice, true);
}
static void fewer_than_base(gate_case *c) {
    c->requirement.tests.min_executed = 2;
    BOTH(c, junit, CASES_2);
}
static void no_base_run(gate_case *c) {
    c->run_count = 2;
}
static void base_run_failed(gate_case *c) {
    c->runs[2].exit_codes[0] = 1;
}
static void base_run_of_other_files(gate_case *c) {
    c->runs[2].contents[1] = "export const answer = 40;\n";
}

Test(gate_judge, the_tests) {
    static const twin twins[] = {
        {"deleted", CS_GATE_TESTS, CS_CODE_GATE_TESTS_FEW, test_deleted},
        {"none", CS_GATE_TESTS, CS_CODE_GATE_TESTS_FEW, no_cases},
        {"skipped", CS_GATE_TESTS, CS_CODE_GATE_TESTS_SKIPPED, test_skipped},
        {"failed", CS_GATE_TESTS, CS_CODE_GATE_TESTS_FAILED, test_failed},
        {"failed, hidden", CS_GATE_TESTS, CS_CODE_GATE_TESTS_FAILED, failed_test_hidden},
        {"brought", CS_GATE_TESTS, CS_CODE_GATE_TESTS_MISSING, brought},
        {"malformed", CS_GATE_TESTS, CS_CODE_JUNIT_MALFORMED, not_junit},
        {"missing", CS_GATE_TESTS, CS_CODE_GATE_TESTS_MISSING, no_artifact},
        {"twice", CS_GATE_TESTS, CS_CODE_GATE_TESTS_MISSING, two_artifacts},
        {"fewer", CS_GATE_TESTS_OF_BASE, CS_CODE_GATE_TESTS_FEWER, fewer_than_base},
        {"no run of the base", CS_GATE_TESTS_OF_BASE, CS_CODE_GATE_TESTS_FEWER, no_base_run},
        {"base failed", CS_GATE_TESTS_OF_BASE, CS_CODE_GATE_TESTS_FEWER, base_run_failed},
        {"not the base", CS_GATE_TESTS_OF_BASE, CS_CODE_GATE_TESTS_FEWER, base_run_of_other_files},
    };
    TRY(twins);
}

/* The run of the base may be old, and may have had fewer tests than are asked for now. */
Test(gate_judge, an_old_run_of_the_base_is_good_enough) {
    gate_case c;
    gate_begin(&c);
    c.runs[2].ended_ms = GATE_NOW - 100 * 3600000ll;
    c.runs[2].junit = CASES_2;
    gate_expect_passes(&c, "old base");
    gate_end(&c);
}

/* Only that very path: a file beside it is no answer. */
Test(gate_judge, a_file_beside_the_artifact_is_nobodys_matter) {
    gate_case c;
    gate_begin(&c);
    gate_add_file(&c, "test-data/junit.xml", GATE_JUNIT_3);
    c.bind.paths.count = 1;
    gate_expect_passes(&c, "beside");
    gate_end(&c);
}

/* An attribute that lies does not refuse what the cases fulfil, and is named. */
Test(gate_judge, a_lying_summary_is_named) {
    gate_case c;
    gate_begin(&c);
    ALL(&c, junit,
        "<testsuite tests=\"9\"><testcase name=\"a\"/><testcase name=\"b\"/><testcase name=\"c\"/></testsuite>");
    gate_expect_passes(&c, "lie");
    cr_expect_not_null(strstr(gate_finding(&c, CS_GATE_TESTS)->observed, "the file says otherwise"), "%s",
                       gate_finding(&c, CS_GATE_TESTS)->observed);
    gate_end(&c);
}

Test(gate_judge, tests_of_a_base_without_bind_are_never_a_pass) {
    gate_case c;
    gate_begin(&c);
    c.requirement.bind_count = 0;
    cr_expect_eq(gate_judge(&c), CS_UNCHECKED);
    cr_expect_eq(c.verdict.err.code, CS_CODE_POLICY_MALFORMED);
    cr_expect_eq(gate_finding(&c, CS_GATE_TESTS_OF_BASE)->state, CS_GATE_UNDECIDED);
    c.requirement.tests.not_fewer_than_base = false;
    gate_expect_passes(&c, "not asked");
    gate_end(&c);
}
