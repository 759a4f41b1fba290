/* The gate's rule about tests, by what the file of a run says: a file that passes, and the same with one thing changed.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/gate/gate_case.h"

/* All runs of the good case have this file. */
static void set_junit(gate_case *c, const char *xml) {
    for (size_t i = 0; i < c->run_count; i++)
        c->runs[i].junit = xml;
}

#define TWO "<testcase name=\"a\"/><testcase name=\"b\"/>"
#define FILE_OF(attributes, last) "<testsuite " attributes ">" TWO last "</testsuite>"

static void expect_refused(const char *xml, cs_code code, const char *said) {
    gate_case c;
    gate_begin(&c);
    set_junit(&c, xml);
    (void)gate_judge(&c);
    gate_expect_only(&c, xml, CS_GATE_TESTS, code);
    cr_expect_not_null(strstr(gate_finding(&c, CS_GATE_TESTS)->observed, said), "%s: %s", xml,
                       gate_finding(&c, CS_GATE_TESTS)->observed);
    gate_end(&c);
}

static void expect_passes(const char *xml) {
    gate_case c;
    gate_begin(&c);
    set_junit(&c, xml);
    gate_expect_passes(&c, xml);
    gate_end(&c);
}

Test(gate_judge_junit, a_word_that_is_no_pass_refuses) {
    static const char *const failing[] = {
        FILE_OF("", "<testcase name=\"c\" status=\"FAILED\"/>"),
        FILE_OF("", "<testcase name=\"c\" status=\"timeout\"/>"),
        FILE_OF("", "<testcase name=\"c\" result=\"failed\"/>"),
        FILE_OF("", "<testcase name=\"c\" success=\"false\"/>"),
        FILE_OF("", "<testcase name=\"c\"><Failure/></testcase>"),
        FILE_OF("", "<testcase name=\"c\"><failed/></testcase>"),
    };
    static const char *const skipping[] = {
        FILE_OF("", "<testcase name=\"c\" status=\"run\" result=\"suppressed\"/>"),
        FILE_OF("", "<testcase name=\"c\"><ignored/></testcase>"),
        FILE_OF("", "<testcase name=\"c\"><disabled/></testcase>"),
    };
    expect_passes(FILE_OF("", "<testcase name=\"c\" status=\"run\" result=\"completed\" success=\"true\"/>"));
    expect_passes(FILE_OF("", "<testcase name=\"c\" status=\"Passed\"><system-out>failed</system-out></testcase>"));
    for (size_t i = 0; i < sizeof failing / sizeof failing[0]; i++)
        expect_refused(failing[i], CS_CODE_GATE_TESTS_FAILED, "1 of 3 tests failed, the first: c");
    for (size_t i = 0; i < sizeof skipping / sizeof skipping[0]; i++)
        expect_refused(skipping[i], CS_CODE_GATE_TESTS_SKIPPED, "1 of 3 tests were skipped");
    expect_refused(failing[1], CS_CODE_GATE_TESTS_FAILED, "c (status=\"timeout\", which is no known word)");
    expect_refused(failing[5], CS_CODE_GATE_TESTS_FAILED, "c (it holds an element failed, which is not known)");
}

Test(gate_judge_junit, failures_that_no_case_shows_refuse) {
    expect_passes(FILE_OF("tests=\"3\" failures=\"0\" errors=\"0\"", "<testcase name=\"c\"/>"));
    expect_refused(FILE_OF("name=\"s\" tests=\"3\" failures=\"1\" errors=\"0\"", "<testcase name=\"c\"/>"),
                   CS_CODE_GATE_TESTS_FAILED,
                   "the file says of failures that it does not show: line 1: suite \"s\" says failures=1, and no case "
                   "in it failed");
    expect_refused(FILE_OF("name=\"s\" tests=\"3\" failures=\"0\" errors=\"1\"", "<testcase name=\"c\"/>"),
                   CS_CODE_GATE_TESTS_FAILED, "errors=1");
    expect_refused(FILE_OF("name=\"s\" errors=\"none\"", "<testcase name=\"c\"/>"), CS_CODE_GATE_TESTS_FAILED,
                   "errors=(no number)");
    expect_passes(FILE_OF("tests=\"3\" failures=\"1\"", "<testcase name=\"c\"><flakyFailure/></testcase>"));
    /* More skipped than there are is a remark. */
    expect_passes(FILE_OF("tests=\"4\" skipped=\"1\"", "<testcase name=\"c\"/>"));
}

/* However many may fail: what is not among the cases was not counted. One that is shown may be allowed. */
Test(gate_judge_junit, failures_that_no_case_shows_are_not_allowed_for) {
    static const char shown[] =
        FILE_OF("failures=\"1\"", "<testcase name=\"c\"/><testcase name=\"d\"><failure/></testcase>");
    static const char hidden[] = FILE_OF("failures=\"1\"", "<testcase name=\"c\"/><testcase name=\"d\"/>");
    gate_case c;
    gate_begin(&c);
    c.requirement.tests.max_failed = 5;
    set_junit(&c, shown);
    gate_expect_passes(&c, "shown");
    set_junit(&c, hidden);
    (void)gate_judge(&c);
    gate_expect_only(&c, "hidden", CS_GATE_TESTS, CS_CODE_GATE_TESTS_FAILED);
    gate_end(&c);
}
