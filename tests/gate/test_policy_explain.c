/* A policy in words: every rule, also those that nobody wrote, and nothing that could steer a terminal. */
#include <jansson.h>
#include <stdlib.h>

#include "gate/policy.h"
#include "tests/support/expect.h"
#include "tests/support/forge.h"
#include "tests/support/policy_case.h"

#define MAX_WORDS ((size_t)16 * 1024 * 1024)

static cs_policy policy;
static cs_error err;
static cs_buf words;

static void explain(const char *text) {
    err = CS_ERROR_INIT;
    words = CS_BUF_INIT(MAX_WORDS);
    EXPECT_OK(cs_policy_parse(cs_view_of(text), &policy, &err), err);
    EXPECT_OK(cs_policy_explain(&policy, &words, &err), err);
    cr_assert(cs_buf_byte(&words, '\0'));
}

static void done(void) {
    cs_buf_free(&words);
    cs_policy_free(&policy);
}

static void explain_change(const char *name) {
    for (size_t i = 0; i < policy_change_count; i++) {
        if (strcmp(policy_changes[i].name, name) != 0) continue;
        char *text = policy_case_text(&policy_changes[i]);
        explain(text);
        free(text);
        return;
    }
    cr_assert_fail("%s", name);
}

/* Is this a whole line of the words? */
static bool has_line(const char *line) {
    const char *all = (const char *)words.ptr;
    size_t len = strlen(line);
    for (const char *at = strstr(all, line); at != NULL; at = strstr(at + 1, line))
        if ((at == all || at[-1] == '\n') && at[len] == '\n') return true;
    return false;
}

#define EXPECT_LINE(line) cr_expect(has_line(line), "no line '%s' in:\n%s", (line), (char *)words.ptr)

static size_t count(const char *part) {
    size_t found = 0;
    for (const char *at = strstr((char *)words.ptr, part); at != NULL; at = strstr(at + 1, part))
        found++;
    return found;
}

/* ---- everything ------------------------------------------------------------------------------------- */

Test(policy_explain, the_policy_as_a_whole) {
    char *text = policy_case_text(NULL);
    explain(text);
    EXPECT_LINE(forge_text("policy: file: SHA-256 %s", forge_sha256(text, strlen(text))));
    EXPECT_LINE("policy: keys: 2 keys are trusted, and no other; a key inside an input is never trusted");
    EXPECT_LINE("policy: key: 06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9 \"ci\" may sign from "
                "2026-01-01T00:00:00.000Z until 2026-12-31T23:59:59.999Z");
    EXPECT_LINE("policy: sources: every ledger and bundle that is named must verify as a whole");
    EXPECT_LINE("policy: needs: a revision, and a base to compare it with");
    EXPECT_LINE(
        "policy: protect: the same in the base and the revision, neither changed, added nor removed: every path "
        "that matches \"policy.json\", \".github/**\"; and every submodule, and symbolic link to no file of its "
        "commit, "
        "in which such a path could be");
    free(text);
    done();
}

#define T "requirement tests: "
#define REPORTS_DIFFER                                                                                                 \
    "; output and artifacts are part of the result: a test report that holds times differs each time (ask for "        \
    "reproduction in a requirement of its own, of a step without such an artifact)"
#define UNBOUND                                                                                                        \
    "bind: a file of the run that matches no pattern is bound to nothing: it need not be the revision's, and may be "  \
    "any"

Test(policy_explain, every_rule_that_was_written) {
    char *text = policy_case_text(NULL);
    explain(text);
    EXPECT_LINE(T "selected: the runs of kind project with one step, which is exactly \"node --test\" and no call of "
                  "the same session before it, of these providers "
                  "alone: \"container\", \"kernel\", \"vm\"; there must be one");
    EXPECT_LINE(T "provider: one of \"vm\", \"kernel\", \"container\", \"process\"");
    EXPECT_LINE(T "floor: the tier container or a stronger one");
    EXPECT_LINE(T "software: only \"oci:node@sha256:1\"");
    EXPECT_LINE(T "sandbox-policy: one of \"p1\", \"p2\"");
    EXPECT_LINE(T "grants: no grant profile but \"net\"");
    EXPECT_LINE(T "age: ended at most 86400 seconds ago, and not in the future");
    EXPECT_LINE(T
                "work: all of it was done and passed: every step ran and ended with exit code 0, and every artifact is "
                "there; a selected run of the revision that failed is not hidden by another that passed");
    EXPECT_LINE(T "time-out: nothing met its time limit");
    EXPECT_LINE(T "truncation: no output and no artifact was cut");
    EXPECT_LINE(T "bind: every file of the run is the revision's, byte for byte, whose path matches \"src/**\", "
                  "\"test/**\"; each pattern matches one");
    EXPECT_LINE(T "bind: every file of the run is the revision's, byte for byte, whose path matches \"package.json\"; "
                  "each pattern matches one");
    EXPECT_LINE(T UNBOUND);
    EXPECT_LINE(T "complete: every file of the revision was in the run whose path matches \"src/**\", \"test/**\"");
    EXPECT_LINE(T "tests: the run's artifact \"out/junit.xml\" is JUnit XML with at least 10 tests executed, at most 1 "
                  "skipped, at most 2 failed");
    EXPECT_LINE(T "tests-of-base: not fewer tests executed than in the run of the base, which must be there");
    EXPECT_LINE(T "count: at least 2 distinct records fulfil all of the above");
    EXPECT_LINE(T "reproduced: the same work gave the same result in at least 4 runs, on at least 3 "
                  "providers" REPORTS_DIFFER);
    EXPECT_LINE(T "same-result: no two of these records of the same work have different results");
    EXPECT_LINE(
        T "cross-check: no finding that the inputs hold contradicts the tier of a record that counts, and each of "
          "these was run into a ledger, since a bundle holds no findings; how deep anyone looked (statements, "
          "probe, host) is not known from that");
    cr_expect_eq(count("\n" T), 20, "each rule once, and bind three times");
    done();
    free(text);
}

#define L "requirement lately: "

Test(policy_explain, every_rule_that_nobody_wrote) {
    char *text = policy_case_text(NULL);
    explain(text);
    EXPECT_LINE(L "selected: the runs of any kind, of all providers; there must be one");
    EXPECT_LINE(L "provider: not asked: any that is selected");
    EXPECT_LINE(L "floor: not asked: any tier");
    EXPECT_LINE(L "software: not asked: any software identity");
    EXPECT_LINE(L "sandbox-policy: not asked: any sandbox policy");
    EXPECT_LINE(L "grants: none may be used");
    EXPECT_LINE(L "age: ended at most 60 seconds ago, and not in the future");
    EXPECT_LINE(L
                "work: all of it was done and passed: every step ran and ended with exit code 0, and every artifact is "
                "there");
    EXPECT_LINE(L "time-out: nothing met its time limit");
    EXPECT_LINE(L "truncation: no output and no artifact was cut");
    EXPECT_LINE(
        L "bind: not asked: the runs need not be of the revision: their files may be any, and a commit that nobody "
          "ran passes; a verdict by such a policy is not attested");
    EXPECT_LINE(L "complete: not asked: files of the revision may be missing in the run");
    EXPECT_LINE(L "tests: not asked: no test results are read");
    EXPECT_LINE(L "tests-of-base: not asked: there may be fewer tests than in the base");
    EXPECT_LINE(L "count: at least 1 distinct record fulfils all of the above");
    EXPECT_LINE(L "reproduced: not asked: one run of the same work is enough");
    EXPECT_LINE(L "same-result: not asked: the same work may have different results");
    EXPECT_LINE(L "cross-check: not asked: findings about the tier are passed over");
    cr_expect_eq(count("\n" L), 18);
    EXPECT_LINE("requirement cells: age: not asked: however old");
    EXPECT_LINE("requirement cells: selected: the runs of kind cell, of all providers; there must be one");
    EXPECT_LINE("requirement models: selected: the runs of kind module, of all providers; there must be one");
    EXPECT_LINE("requirement scripts: selected: the runs of kind javascript, of all providers; there must be one");
    done();
    free(text);
}

/* ---- one change ------------------------------------------------------------------------------------- */

static void expect_line_of(const char *name, const char *line) {
    explain_change(name);
    EXPECT_LINE(line);
    done();
}

Test(policy_explain, what_a_change_makes_of_a_rule) {
    expect_line_of("floor-vm", T "floor: the tier vm");
    expect_line_of("floor-none", T "floor: not asked: any tier");
    expect_line_of("grants-none", T "grants: none may be used");
    expect_line_of("grants-left-out", T "grants: none may be used");
    expect_line_of("age-one", T "age: ended at most 1 second ago, and not in the future");
    expect_line_of("min-records-left-out", T "count: at least 1 distinct record fulfils all of the above");
    expect_line_of("cross-check-false", T "cross-check: not asked: findings about the tier are passed over");
    expect_line_of("bind-complete-left-out", T "complete: not asked: files of the revision may be missing in the run");
    expect_line_of("protect-left-out", "policy: protect: not asked: no path is protected from change");
    expect_line_of("tests-of-any",
                   L "tests: the run's artifact \"a\" is JUnit XML with at least 1 test executed, at most "
                     "0 skipped, at most 0 failed");
    expect_line_of("reproduced-providers-one",
                   T "reproduced: the same work gave the same result in at least 4 runs, on "
                     "at least 1 provider" REPORTS_DIFFER);
    /* A step makes it a project, whether that is stated or not. */
    expect_line_of("kind-any", T "selected: the runs of kind project with one step, which is exactly \"node --test\" "
                                 "and no call of the same session before it, of "
                                 "these providers alone: \"container\", \"kernel\", \"vm\"; there must be one");
    expect_line_of("requirements-32", "policy: needs: a revision, and a base to compare it with");
    expect_line_of("grants-none",
                   "policy: key: deb2ded39dc26fce0e6085b6fc34bf6b5941913bbfe2ea614113cff9e004c170 may sign "
                   "at any time");
}

/* Files outside of the patterns are bound to nothing, unless there are none. */
Test(policy_explain, what_no_pattern_binds) {
    static const struct {
        const char *binds;
        bool all;
    } cases[] = {
        {"{\"paths\":[\"src/**\"]}", false},
        {"{\"paths\":[\"**\"]}", true},
        {"{\"paths\":[\"**/*\"]}", true},
        {"{\"paths\":[\"*\"]}", false},
        {"{\"paths\":[\"*/**\"]}", false},
        {"{\"paths\":[\"src/**\",\"**\"]}", true},
        {"{\"paths\":[\"src/**\"]},{\"paths\":[\"**\"],\"complete\":true}", true},
    };
    char *whole = policy_case_text(NULL);
    json_t *document = json_loads(whole, 0, NULL);
    cr_assert_not_null(document);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        json_t *binds = json_loads(forge_text("[%s]", cases[i].binds), 0, NULL);
        cr_assert_not_null(binds);
        json_object_set_new(json_array_get(json_object_get(document, "requirements"), 0), "bind", binds);
        char *text = json_dumps(document, 0);
        explain(text);
        cr_expect_eq(has_line(T UNBOUND), !cases[i].all, "%s", cases[i].binds);
        done();
        free(text);
    }
    json_decref(document);
    free(whole);
}

/* ---- hostile texts ---------------------------------------------------------------------------------- */

Test(policy_explain, texts_are_escaped_and_can_not_end_their_quotes) {
    explain_change("step-odd");
    EXPECT_LINE(T "selected: the runs of kind project with one step, which is exactly \"\\x1b\\x0a\\\"\\u{202e}\" and "
                  "no call of the same session before it, of these "
                  "providers alone: \"container\", \"kernel\", \"vm\"; there must be one");
    for (size_t i = 0; i + 1 < words.len; i++)
        cr_assert(words.ptr[i] == '\n' || (words.ptr[i] >= 0x20 && words.ptr[i] != 0x7f));
    done();
}

Test(policy_explain, many_texts_are_all_told) {
    explain_change("software-256");
    cr_expect_not_null(strstr((char *)words.ptr, T "software: one of \"t0\", \"t1\", "));
    cr_expect_not_null(strstr((char *)words.ptr, ", \"t254\", \"t255\"\n"));
    done();
}

Test(policy_explain, without_room_it_says_so) {
    char *text = policy_case_text(NULL);
    explain(text);
    size_t whole = words.len - 1;
    for (size_t max = 0; max < whole; max += 97) {
        CS_AUTO_BUF small = CS_BUF_INIT(max);
        EXPECT_CODE(cs_policy_explain(&policy, &small, &err), err, CS_UNCHECKED, CS_CODE_NO_MEMORY);
    }
    CS_AUTO_BUF enough = CS_BUF_INIT(whole);
    EXPECT_OK(cs_policy_explain(&policy, &enough, &err), err);
    done();
    free(text);
}
