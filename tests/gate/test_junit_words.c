/* JUnit XML: the words by which a case says how it ended, and suites that say more of failures than their cases. */
#include "gate/junit_words.h"

#include <stdio.h>

#include "gate/junit.h"
#include "tests/support/expect.h"

static cs_junit junit;
static cs_error err;

static void read_text(const char *xml) {
    err = CS_ERROR_INIT;
    EXPECT_OK(cs_junit_read(cs_view_of(xml), &junit, &err), err);
}

typedef enum ending { PASSED, SKIPPED, FAILED, BOTH } ending;

/* One case, as it is told in a file. */
static void expect_case(const char *attributes, const char *children, ending want) {
    char xml[512];
    (void)snprintf(xml, sizeof xml, "<testsuite><testcase name=\"a\" %s>%s</testcase></testsuite>", attributes,
                   children);
    read_text(xml);
    cr_expect_eq(junit.cases, 1, "%s", xml);
    cr_expect_eq(junit.skipped, want == SKIPPED || want == BOTH, "%s", xml);
    cr_expect_eq(junit.executed, want == PASSED || want == FAILED, "%s", xml);
    cr_expect_eq(junit.failed, want == FAILED || want == BOTH, "%s", xml);
    cr_expect_str_eq(junit.first_failed, want == FAILED || want == BOTH ? "a" : "", "%s", xml);
    cr_expect_not(junit.hides, "%s", xml);
}

/* ---- attributes --------------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    ending want;
} words[] = {
    /* passed */
    {"run", PASSED},
    {"passed", PASSED},
    {"pass", PASSED},
    {"ok", PASSED},
    {"success", PASSED},
    {"successful", PASSED},
    {"succeeded", PASSED},
    {"completed", PASSED},
    {"complete", PASSED},
    {"executed", PASSED},
    {"PASSED", PASSED},
    {"Pass", PASSED},
    {"rUN", PASSED},
    /* not run */
    {"notrun", SKIPPED},
    {"skipped", SKIPPED},
    {"skip", SKIPPED},
    {"ignored", SKIPPED},
    {"disabled", SKIPPED},
    {"suppressed", SKIPPED},
    {"pending", SKIPPED},
    {"todo", SKIPPED},
    {"excluded", SKIPPED},
    {"untested", SKIPPED},
    {"NotRun", SKIPPED},
    {"SKIPPED", SKIPPED},
    {"Ignored", SKIPPED},
    /* failed, and whatever is not known */
    {"fail", FAILED},
    {"failed", FAILED},
    {"failure", FAILED},
    {"error", FAILED},
    {"FAILED", FAILED},
    {"Error", FAILED},
    {"timeout", FAILED},
    {"aborted", FAILED},
    {"panicked", FAILED},
    {"interrupted", FAILED},
    {"xpass", FAILED},
    {"flaky", FAILED},
    {"unknown", FAILED},
    {"", FAILED},
    {"0", FAILED},
    {"passe", FAILED},
    {"passedd", FAILED},
    {" passed", FAILED},
    {"passed ", FAILED},
    {"not passed", FAILED},
    {"passed,failed", FAILED},
    {"\xEF\xBD\x90\xEF\xBD\x81\xEF\xBD\x93\xEF\xBD\x93", FAILED}, /* fullwidth letters */
    {"\xC5\xBFuccess", FAILED},                                   /* a long s, whose capital is S */
};

Test(junit_words, each_word_of_each_attribute) {
    static const char *const names[] = {"status", "result", "outcome", "STATUS", "Result"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
            char attribute[64];
            (void)snprintf(attribute, sizeof attribute, "%s=\"%s\"", names[i], words[k].word);
            expect_case(attribute, "", words[k].want);
        }
    /* An attribute of another name says nothing. */
    expect_case("states=\"failed\"", "", PASSED);
    expect_case("classname=\"failed\" time=\"error\" file=\"skipped\"", "", PASSED);
}

Test(junit_words, success_is_told_by_yes_alone) {
    static const char *const yes[] = {"true", "True", "TRUE", "1", "yes", "YES"};
    static const char *const no[] = {"false", "False", "0", "no", "", "truee", "2", "passed"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        char attribute[64];
        (void)snprintf(attribute, sizeof attribute, "success=\"%s\"", yes[i]);
        expect_case(attribute, "", PASSED);
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        char attribute[64];
        (void)snprintf(attribute, sizeof attribute, "Success=\"%s\"", no[i]);
        expect_case(attribute, "", FAILED);
    }
}

/* No attribute makes good what another says, in whatever order they stand. */
Test(junit_words, of_two_attributes_each_counts) {
    expect_case("status=\"run\" result=\"completed\"", "", PASSED);
    expect_case("status=\"run\" result=\"failed\"", "", FAILED);
    expect_case("result=\"failed\" status=\"run\"", "", FAILED);
    expect_case("status=\"run\" result=\"suppressed\"", "", SKIPPED);
    expect_case("status=\"notrun\" result=\"suppressed\"", "", SKIPPED);
    expect_case("status=\"notrun\" result=\"completed\"", "", SKIPPED);
    expect_case("status=\"passed\" Status=\"failed\"", "", FAILED);
    expect_case("status=\"passed\" success=\"false\"", "", FAILED);
    expect_case("status=\"skipped\" result=\"error\"", "", BOTH);
    expect_case("status=\"passed\"", "<failure/>", FAILED);
    expect_case("status=\"passed\"", "<skipped/>", SKIPPED);
}

/* ---- elements ----------------------------------------------------------------------------------------- */

Test(junit_words, each_element_in_a_case) {
    static const struct {
        const char *name;
        ending want;
    } elements[] = {
        {"system-out", PASSED}, {"system-err", PASSED},   {"properties", PASSED},  {"flakyFailure", PASSED},
        {"flakyError", PASSED}, {"rerunFailure", PASSED}, {"rerunError", PASSED},  {"System-Out", PASSED},
        {"PROPERTIES", PASSED}, {"flakyfailure", PASSED}, {"skipped", SKIPPED},    {"Skipped", SKIPPED},
        {"ignored", SKIPPED},   {"disabled", SKIPPED},    {"notrun", SKIPPED},     {"notRun", SKIPPED},
        {"failure", FAILED},    {"error", FAILED},        {"Failure", FAILED},     {"ERROR", FAILED},
        {"failed", FAILED},     {"errors", FAILED},       {"failures", FAILED},    {"timeout", FAILED},
        {"passed", FAILED},     {"property", FAILED},     {"system-outs", FAILED}, {"system_out", FAILED},
        {"flaky", FAILED},      {"reruns", FAILED},       {"f\xC3\xA9", FAILED},
    };
    for (size_t i = 0; i < sizeof elements / sizeof elements[0]; i++) {
        char children[64];
        (void)snprintf(children, sizeof children, "<%s/>", elements[i].name);
        expect_case("", children, elements[i].want);
        (void)snprintf(children, sizeof children, "<%s>text<x/></%s>", elements[i].name, elements[i].name);
        expect_case("", children, elements[i].want);
    }
    expect_case("", "<ignored/><Failure/>", BOTH);
    /* Deeper elements are the matter of what they are in. */
    expect_case("", "<system-out><failed/></system-out>", PASSED);
    expect_case("", "<properties><property name=\"status\" value=\"failed\"/></properties>", PASSED);
}

/* What looks like a case or a suite is not passed over, and what marks a case has no other place. */
Test(junit_words, names_in_another_case_have_no_place) {
    static const char *const texts[] = {
        "<testsuite><TestCase name=\"a\"/></testsuite>",
        "<testsuite><testcase name=\"b\"/><TESTCASE name=\"a\" status=\"failed\"/></testsuite>",
        "<testsuites><TestSuite/></testsuites>",
        "<testsuite><Failure/></testsuite>",
        "<testsuite><Error/><testcase name=\"a\"/></testsuite>",
        "<testsuite><ignored/><testcase name=\"a\"/></testsuite>",
        "<testsuite><testcase name=\"a\"><system-out><Skipped/></system-out></testcase></testsuite>",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        err = CS_ERROR_INIT;
        EXPECT_CODE(cs_junit_read(cs_view_of(texts[i]), &junit, &err), err, CS_FAILED, CS_CODE_JUNIT_MALFORMED);
        cr_expect_not_null(strstr(err.message, "no place here"), "%s: %s", texts[i], err.message);
    }
}

/* ---- the reason --------------------------------------------------------------------------------------- */

static void expect_reason(const char *attributes, const char *children, const char *want) {
    expect_case(attributes, children, FAILED);
    cr_expect_str_eq(junit.first_reason, want, "%s", junit.first_reason);
}

Test(junit_words, why_the_first_case_failed) {
    expect_reason("", "<failure/>", "");
    expect_reason("status=\"FAILED\"", "", "status=\"FAILED\"");
    expect_reason("status=\"timeout\"", "", "status=\"timeout\", which is no known word");
    expect_reason("Success=\"false\"", "<failure/>", "Success=\"false\"");
    expect_reason("", "<failed/>", "it holds an element failed, which is not known");
    expect_reason("result=\"a&#10;\xE2\x80\xAE\"", "", "result=\"a\\x0a\\u{202e}\", which is no known word");
    /* Of the first one only. */
    read_text("<testsuite><testcase name=\"a\"><failure/></testcase><testcase name=\"b\" status=\"x\"/></testsuite>");
    cr_expect_eq(junit.failed, 2);
    cr_expect_str_eq(junit.first_failed, "a");
    cr_expect_str_eq(junit.first_reason, "");
}

/* ---- what suites hide --------------------------------------------------------------------------------- */

#define PASSING "<testcase name=\"a\"/>"
#define FAILING "<testcase name=\"a\"><failure/></testcase>"

static void expect_hidden(const char *xml, const char *want) {
    read_text(xml);
    cr_expect_eq(junit.hides, want[0] != '\0', "%s: %s", xml, junit.hidden);
    cr_expect_str_eq(junit.hidden, want, "%s: %s", xml, junit.hidden);
}

#define ONE(attributes, content) "<testsuite name=\"s\" " attributes ">" content "</testsuite>"

Test(junit_words, a_suite_that_says_of_failures_shows_one) {
    expect_hidden(ONE("tests=\"1\" failures=\"0\" errors=\"0\"", PASSING), "");
    expect_hidden(ONE("tests=\"2\" failures=\"1\" errors=\"1\"", PASSING),
                  "line 1: suite \"s\" says failures=1, and no case in it failed");
    expect_hidden(ONE("tests=\"2\" failures=\"1\" errors=\"1\"", FAILING), "");
    expect_hidden(ONE("failures=\"0\" errors=\"3\"", PASSING),
                  "line 1: suite \"s\" says errors=3, and no case in it failed");
    expect_hidden(ONE("failures=\"1\"", ""), "line 1: suite \"s\" says failures=1, and no case in it failed");
    expect_hidden(ONE("failures=\"1\"", "<testcase name=\"a\" status=\"failed\"/>"), "");
    expect_hidden(ONE("failures=\"1\"", "<testcase name=\"a\"><skipped/></testcase>"),
                  "line 1: suite \"s\" says failures=1, and no case in it failed");
    expect_hidden(ONE("failures=\"1\"", "<testcase name=\"a\"><flakyFailure/></testcase>"), "");
    expect_hidden(ONE("errors=\"1\"", "<testcase name=\"a\"><rerunError/></testcase>"), "");
    /* More tests than there are, or more skipped, is told alone. */
    expect_hidden(ONE("tests=\"9\" skipped=\"3\"", PASSING), "");
    cr_expect(junit.lies);
}

Test(junit_words, what_is_no_number_is_not_zero) {
    static const char *const zero[] = {"0", "00", "000000000000000000"};
    static const char *const none[] = {"", "none", "-1", "+0", "0.0", " 0", "18446744073709551616", "0x0"};
    char xml[256];
    char want[128];
    for (size_t i = 0; i < sizeof zero / sizeof zero[0]; i++) {
        (void)snprintf(xml, sizeof xml, ONE("errors=\"%s\"", PASSING), zero[i]);
        expect_hidden(xml, "");
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        (void)snprintf(xml, sizeof xml, ONE("errors=\"%s\"", PASSING), none[i]);
        (void)snprintf(want, sizeof want, "line 1: suite \"s\" says errors=(no number), and no case in it failed");
        expect_hidden(xml, want);
    }
    expect_hidden(ONE("Failures=\"1\"", PASSING), "line 1: suite \"s\" says failures=1, and no case in it failed");
    expect_hidden(ONE("failures=\"0\" FAILURES=\"0\"", PASSING), "");
    expect_hidden(ONE("failures=\"0\" FAILURES=\"1\"", PASSING),
                  "line 1: suite \"s\" says failures=(no number), and no case in it failed");
}

/* A case that failed is one of every suite around it, and of no other. */
Test(junit_words, of_suites_in_one_another_each_is_held) {
    expect_hidden("<testsuites failures=\"1\">" ONE("", FAILING) "</testsuites>", "");
    expect_hidden("<testsuites name=\"all\" failures=\"1\">" ONE("", PASSING) "</testsuites>",
                  "line 1: suite \"all\" says failures=1, and no case in it failed");
    expect_hidden("<testsuites failures=\"1\">" ONE("failures=\"1\"", PASSING) ONE("", FAILING) "</testsuites>",
                  "line 1: suite \"s\" says failures=1, and no case in it failed");
    expect_hidden("<testsuites failures=\"1\">\n" ONE("", FAILING) "\n" ONE("errors=\"1\"", PASSING) "</testsuites>",
                  "line 3: suite \"s\" says errors=1, and no case in it failed");
}
