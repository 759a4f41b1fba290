/* JUnit XML: what is counted, which lies are told, and what is refused. */
#include "gate/junit.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/expect.h"

static cs_junit junit;
static cs_error err;

#define EXPECT_READ(xml) EXPECT_OK(cs_junit_read(cs_view_of(xml), &junit, &err), err)
#define EXPECT_MALFORMED_BYTES(bytes)                                                                                  \
    do {                                                                                                               \
        EXPECT_CODE(cs_junit_read((bytes), &junit, &err), err, CS_FAILED, CS_CODE_JUNIT_MALFORMED);                    \
        cr_expect_eq(junit.cases, 0);                                                                                  \
    } while (0)
#define EXPECT_MALFORMED(xml, word)                                                                                    \
    do {                                                                                                               \
        EXPECT_MALFORMED_BYTES(cs_view_of(xml));                                                                       \
        cr_expect(strstr(err.message, (word)) != NULL, "%s", err.message);                                             \
    } while (0)

#define EXPECT_COUNTS(want_cases, want_skipped, want_failed, want_repeated)                                            \
    do {                                                                                                               \
        cr_expect_eq(junit.cases, (want_cases), "%llu cases", (unsigned long long)junit.cases);                        \
        cr_expect_eq(junit.skipped, (want_skipped), "%llu skipped", (unsigned long long)junit.skipped);                \
        cr_expect_eq(junit.failed, (want_failed), "%llu failed", (unsigned long long)junit.failed);                    \
        cr_expect_eq(junit.executed, (want_cases) - (want_skipped), "%llu executed",                                   \
                     (unsigned long long)junit.executed);                                                              \
        cr_expect_eq(junit.repeated, (want_repeated), "%llu repeated", (unsigned long long)junit.repeated);            \
    } while (0)

#define EXPECT_HONEST() cr_expect(!junit.lies && junit.lie[0] == '\0', "%s", junit.lie)
#define EXPECT_LIE(want)                                                                                               \
    do {                                                                                                               \
        cr_expect(junit.lies);                                                                                         \
        cr_expect_str_eq(junit.lie, (want));                                                                           \
    } while (0)

/* ---- as test runners write them ----------------------------------------------------------------------- */

#define PYTEST_HEAD                                                                                                    \
    "<?xml version=\"1.0\" encoding=\"utf-8\"?><testsuites name=\"pytest tests\"><testsuite name=\"pytest\" "          \
    "errors=\"1\" failures=\"1\" skipped=\"2\" tests=\"6\" time=\"0.041\" "                                            \
    "timestamp=\"2026-03-01T10:00:00.000000+00:00\" hostname=\"box\">"
static const char pytest_file[] = PYTEST_HEAD
    "<testcase classname=\"tests.test_a\" name=\"test_passes\" time=\"0.001\" />"
    "<testcase classname=\"tests.test_a\" name=\"test_each[1-a&lt;b]\" time=\"0.001\"><system-out>--- Captured Out\n"
    "&lt;failure/&gt;\n</system-out></testcase>"
    "<testcase classname=\"tests.test_a\" name=\"test_fails\" time=\"0.002\"><failure message=\"assert 1 == 2\">def "
    "test_fails():\n&gt;       assert 1 == 2\nE       assert 1 == 2\n\ntests/test_a.py:9: AssertionError</failure>"
    "</testcase><testcase classname=\"tests.test_a\" name=\"test_later\" time=\"0.000\"><skipped type=\"pytest.skip\" "
    "message=\"later\">/tests/test_a.py:12: later</skipped></testcase>"
    "<testcase classname=\"tests.test_a\" name=\"test_known\" time=\"0.001\"><skipped type=\"pytest.xfail\" "
    "message=\"\" /></testcase>"
    "<testcase classname=\"tests.test_a\" name=\"test_fixture\" time=\"0.001\"><error message=\"failed on setup "
    "with &quot;ValueError&quot;\">E       ValueError</error></testcase></testsuite></testsuites>";

Test(junit, as_pytest_writes_it) {
    EXPECT_READ(pytest_file);
    EXPECT_COUNTS(6, 2, 2, 0);
    EXPECT_HONEST();
    cr_expect_str_eq(junit.first_failed, "test_fails");
}

/* Tests at the top stand in testsuites itself; a suite sums up what is directly in it, a suite as one. */
static const char node_file[] =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<testsuites>\n"
    "\t<testcase name=\"adds\" time=\"0.000811\" classname=\"test\"/>\n"
    "\t<testsuite name=\"math\" time=\"0.004\" disabled=\"0\" errors=\"0\" tests=\"3\" failures=\"0\" skipped=\"1\" "
    "hostname=\"box\">\n"
    "\t\t<testcase name=\"adds\" time=\"0.000101\" classname=\"test\"/>\n"
    "\t\t<testcase name=\"divides\" time=\"0.000083\" classname=\"test\">\n"
    "\t\t\t<skipped type=\"skipped\" message=\"true\"/>\n\t\t</testcase>\n"
    "\t\t<testsuite name=\"deep\" time=\"0.0003\" disabled=\"0\" errors=\"0\" tests=\"2\" failures=\"0\" skipped=\"0\" "
    "hostname=\"box\">\n"
    "\t\t\t<testcase name=\"one\" time=\"0.00005\" classname=\"test\"/>\n"
    "\t\t\t<testcase name=\"two\" time=\"0.00005\" classname=\"test\"/>\n\t\t</testsuite>\n\t</testsuite>\n"
    "\t<!-- tests 5 -->\n\t<!-- suites 2 -->\n\t<!-- duration_ms 51.2 -->\n</testsuites>\n";

Test(junit, as_node_writes_it) {
    EXPECT_READ(node_file);
    EXPECT_COUNTS(5, 1, 0, 0);
    EXPECT_HONEST();
    cr_expect_str_eq(junit.first_failed, "");
}

static const char surefire_file[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
    "xsi:noNamespaceSchemaLocation=\"https://example.org/surefire-test-report.xsd\" version=\"3.0\" "
    "name=\"org.example.AppTest\" time=\"0.05\" tests=\"4\" errors=\"1\" skipped=\"1\" failures=\"1\">\n"
    "  <properties>\n    <property name=\"java.version\" value=\"17\"/>\n    <property name=\"line.separator\" "
    "value=\"&#10;\"/>\n  </properties>\n"
    "  <testcase name=\"works\" classname=\"org.example.AppTest\" time=\"0.01\"/>\n"
    "  <testcase name=\"fails\" classname=\"org.example.AppTest\" time=\"0.01\">\n"
    "    <failure message=\"expected: &lt;1&gt;\" type=\"AssertionError\"><![CDATA[AssertionError </testcase><error/>\n"
    "\tat org.example.AppTest]]></failure>\n    <system-out><![CDATA[<testcase name=\"x\"/>]]></system-out>\n"
    "  </testcase>\n"
    "  <testcase name=\"breaks\" classname=\"org.example.AppTest\" time=\"0\">\n    <error type=\"NullPointer\"/>\n"
    "    <rerunError type=\"NullPointer\"><stackTrace>at</stackTrace></rerunError>\n  </testcase>\n"
    "  <testcase name=\"later\" classname=\"org.example.AppTest\" time=\"0\">\n    <skipped message=\"later\"/>\n"
    "  </testcase>\n</testsuite>\n";

Test(junit, as_surefire_writes_it) {
    EXPECT_READ(surefire_file);
    EXPECT_COUNTS(4, 1, 2, 0);
    EXPECT_HONEST();
    cr_expect_str_eq(junit.first_failed, "fails");
}

/* GoogleTest leaves a disabled test without a child, and says so in an attribute. */
#define GTEST(status, result)                                                                                          \
    "<testsuites tests=\"2\" failures=\"0\" disabled=\"1\" errors=\"0\" name=\"AllTests\">"                            \
    "<testsuite name=\"Math\" tests=\"2\" failures=\"0\" disabled=\"1\" skipped=\"0\" errors=\"0\">"                   \
    "<testcase name=\"Adds\" status=\"run\" result=\"completed\" classname=\"Math\"/>"                                 \
    "<testcase name=\"DISABLED_Divides\" status=\"" status "\" result=\"" result "\" classname=\"Math\"/>"             \
    "</testsuite></testsuites>"

Test(junit, a_case_that_says_it_did_not_run_is_skipped) {
    EXPECT_READ(GTEST("notrun", "suppressed"));
    EXPECT_COUNTS(2, 1, 0, 0);
    EXPECT_HONEST();
    EXPECT_READ(GTEST("disabled", "suppressed"));
    EXPECT_COUNTS(2, 1, 0, 0);
    EXPECT_READ(GTEST("skipped", "suppressed"));
    EXPECT_COUNTS(2, 1, 0, 0);
    EXPECT_READ(GTEST("run", "suppressed"));
    EXPECT_COUNTS(2, 1, 0, 0);
    EXPECT_HONEST();
    EXPECT_READ(GTEST("run", "completed"));
    EXPECT_COUNTS(2, 0, 0, 0);
    EXPECT_LIE("line 1: suite \"Math\" says skipped+disabled=1, but 0 were counted");
}

Test(junit, a_case_that_says_it_failed_is_failed) {
    static const char *const words[] = {"fail", "failed", "failure", "error"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char xml[128];
        (void)snprintf(xml, sizeof xml, "<testsuite><testcase name=\"a\" status=\"%s\"/></testsuite>", words[i]);
        EXPECT_READ(xml);
        EXPECT_COUNTS(1, 0, 1, 0);
        cr_expect_str_eq(junit.first_failed, "a");
    }
    EXPECT_READ("<testsuite><testcase name=\"a\" status=\"passed\"/></testsuite>");
    EXPECT_COUNTS(1, 0, 0, 0);
}

/* ---- counting ----------------------------------------------------------------------------------------- */

#define CASE(name) "<testcase name=\"" name "\"/>"
#define CASE_OF(name, children) "<testcase name=\"" name "\">" children "</testcase>"
#define SUITE(attributes, content) "<testsuite " attributes ">" content "</testsuite>"

Test(junit, a_case_counts_once_however_often_it_says_so) {
    EXPECT_READ(SUITE("", CASE_OF("a", "<failure/><failure/><error/><error/>")));
    EXPECT_COUNTS(1, 0, 1, 0);
    EXPECT_READ(SUITE("", CASE_OF("a", "<skipped/><skipped/>")));
    EXPECT_COUNTS(1, 1, 0, 0);
    EXPECT_READ(SUITE("", CASE_OF("a", "<skipped/><failure/>")));
    EXPECT_COUNTS(1, 1, 1, 0);
    EXPECT_READ(SUITE("", CASE_OF("a", "<flakyFailure/><rerunFailure/>")));
    EXPECT_COUNTS(1, 0, 0, 0);
}

Test(junit, no_cases_are_counted_as_none) {
    EXPECT_READ("<testsuites/>");
    EXPECT_COUNTS(0, 0, 0, 0);
    EXPECT_HONEST();
    EXPECT_READ(SUITE("tests=\"0\"", ""));
    EXPECT_COUNTS(0, 0, 0, 0);
    EXPECT_HONEST();
    EXPECT_READ(SUITE("tests=\"1\"", ""));
    EXPECT_COUNTS(0, 0, 0, 0);
    EXPECT_LIE("line 1: suite \"(no name)\" says tests=1, but 0 were counted");
}

Test(junit, names_that_come_again_are_counted) {
    EXPECT_READ(SUITE("", CASE("a") CASE("b")));
    EXPECT_COUNTS(2, 0, 0, 0);
    EXPECT_READ(SUITE("", CASE("a") CASE("a") CASE("a") CASE("b")));
    EXPECT_COUNTS(4, 0, 0, 2);
    EXPECT_READ(SUITE("", "<testcase classname=\"x\" name=\"a\"/><testcase classname=\"y\" name=\"a\"/>" CASE("a")));
    EXPECT_COUNTS(3, 0, 0, 0);
    EXPECT_READ(SUITE("", "<testcase classname=\"x\" name=\"a\"/><testcase name=\"a\" classname=\"x\"/>"));
    EXPECT_COUNTS(2, 0, 0, 1);
    /* The names of all suites around it are part of its own. */
    EXPECT_READ(SUITE("name=\"s\"", CASE("a") SUITE("name=\"s\"", CASE("a")) SUITE("name=\"t\"", CASE("a"))));
    EXPECT_COUNTS(3, 0, 0, 0);
    EXPECT_READ(SUITE("name=\"s\"", SUITE("name=\"t\"", CASE("a")) SUITE("name=\"t\"", CASE("a"))));
    EXPECT_COUNTS(2, 0, 0, 1);
    /* A boundary between two texts is not part of either. */
    EXPECT_READ(SUITE("", "<testcase classname=\"xa\" name=\"b\"/><testcase classname=\"x\" name=\"ab\"/>"));
    EXPECT_COUNTS(2, 0, 0, 0);
}

Test(junit, the_first_failure_is_named_safely) {
    EXPECT_READ(SUITE("", CASE("a") CASE_OF("\xE2\x80\xAE&#9;b", "<error/>") CASE_OF("c", "<failure/>")));
    cr_expect_str_eq(junit.first_failed, "\\u{202e}\\x09b");
    EXPECT_READ(SUITE("", CASE_OF("", "<failure/>")));
    cr_expect_str_eq(junit.first_failed, "(no name)");
}

/* ---- lies --------------------------------------------------------------------------------------------- */

#define THREE CASE("a") CASE_OF("b", "<failure/>") CASE_OF("c", "<skipped/>")

Test(junit, a_summary_that_disagrees_with_the_cases_is_a_lie) {
    EXPECT_READ(SUITE("name=\"s\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\"", THREE));
    EXPECT_COUNTS(3, 1, 1, 0);
    EXPECT_HONEST();
    EXPECT_READ(SUITE("name=\"s\" tests=\"4\" failures=\"1\" errors=\"0\" skipped=\"1\"", THREE));
    EXPECT_COUNTS(3, 1, 1, 0);
    EXPECT_LIE("line 1: suite \"s\" says tests=4, but 3 were counted");
    EXPECT_READ(SUITE("name=\"s\" tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"1\"", THREE));
    EXPECT_COUNTS(3, 1, 1, 0);
    EXPECT_LIE("line 1: suite \"s\" says failures=0, but 1 were counted");
    EXPECT_READ(SUITE("name=\"s\" tests=\"3\" failures=\"1\" errors=\"1\" skipped=\"1\"", THREE));
    EXPECT_LIE("line 1: suite \"s\" says errors=1, but 0 were counted");
    EXPECT_READ(SUITE("name=\"s\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"0\"", THREE));
    EXPECT_LIE("line 1: suite \"s\" says skipped=0, but 1 were counted");
    EXPECT_READ(SUITE("name=\"s\" tests=\"3\" disabled=\"1\"", THREE));
    EXPECT_HONEST();
    EXPECT_READ(SUITE("name=\"s\" tests=\"3\" disabled=\"1\" skipped=\"1\"", THREE));
    EXPECT_LIE("line 1: suite \"s\" says skipped+disabled=2, but 1 were counted");
    EXPECT_READ("<testsuites tests=\"9\" name=\"s\">" SUITE("tests=\"3\"", THREE) "</testsuites>");
    EXPECT_LIE("line 1: suite \"s\" says tests=9, but 3 were counted");
}

Test(junit, a_summary_that_is_no_number_is_a_lie) {
    EXPECT_READ(SUITE("name=\"s\" tests=\"03\"", THREE));
    EXPECT_HONEST();
    EXPECT_READ(SUITE("name=\"s\" tests=\"many\"", THREE));
    EXPECT_LIE("line 1: suite \"s\" says tests=(no number), but 3 were counted");
    EXPECT_READ(SUITE("name=\"s\" tests=\"\"", THREE));
    cr_expect(junit.lies);
    EXPECT_READ(SUITE("name=\"s\" tests=\"+3\"", THREE));
    cr_expect(junit.lies);
    EXPECT_READ(SUITE("name=\"s\" tests=\"3.0\"", THREE));
    cr_expect(junit.lies);
    EXPECT_READ(SUITE("name=\"s\" tests=\"18446744073709551619\"", THREE)); /* 3 modulo 2^64 */
    cr_expect(junit.lies);
    EXPECT_READ(SUITE("name=\"s\" skipped=\"-1\" disabled=\"2\"", THREE));
    EXPECT_LIE("line 1: suite \"s\" says skipped+disabled=(no number), but 1 were counted");
}

/* 6 cases are below it, of which 3 failed; directly in it are 3 cases and a suite, of which 2 failed. */
#define NESTED(tests, failures)                                                                                        \
    SUITE("name=\"out\" tests=\"" tests "\" failures=\"" failures "\"",                                                \
          THREE SUITE("name=\"in\" tests=\"3\" failures=\"2\"",                                                        \
                      CASE("d") CASE_OF("e", "<failure/>") CASE_OF("f", "<failure/>")))

Test(junit, a_suite_in_a_suite_may_be_summed_up_in_two_ways) {
    EXPECT_READ(NESTED("6", "3"));
    EXPECT_COUNTS(6, 1, 3, 0);
    EXPECT_HONEST();
    EXPECT_READ(NESTED("4", "2"));
    EXPECT_HONEST();
    EXPECT_READ(NESTED("3", "3"));
    EXPECT_LIE("line 1: suite \"out\" says tests=3, but 6 were counted");
    EXPECT_READ(NESTED("6", "1"));
    cr_expect(junit.lies);
    EXPECT_READ(NESTED("6", "0"));
    EXPECT_LIE("line 1: suite \"out\" says failures=0, but 3 were counted");
    /* A suite without a skipped case is none itself. */
    EXPECT_READ(SUITE("name=\"out\" skipped=\"1\"", THREE SUITE("", CASE("d"))));
    EXPECT_HONEST();
    EXPECT_READ(SUITE("name=\"out\" skipped=\"2\"", THREE SUITE("", CASE("d"))));
    EXPECT_LIE("line 1: suite \"out\" says skipped=2, but 1 were counted");
}

Test(junit, a_lie_of_an_inner_suite_is_seen_and_the_first_one_told) {
    EXPECT_READ("<testsuites tests=\"2\">\n" SUITE("name=\"a\" tests=\"1\"", CASE("x"))
                    SUITE("name=\"b\" tests=\"1\"", CASE("x")) "</testsuites>");
    EXPECT_HONEST();
    EXPECT_READ("<testsuites tests=\"2\">\n" SUITE("name=\"a\" tests=\"1\"", CASE("x"))
                    SUITE("name=\"b\" tests=\"2\"", CASE("x")) "</testsuites>");
    EXPECT_LIE("line 2: suite \"b\" says tests=2, but 1 were counted");
    EXPECT_READ("<testsuites tests=\"7\">\n" SUITE("name=\"a\" tests=\"0\"", CASE("x"))
                    SUITE("name=\"b\" tests=\"2\"", CASE("x")) "</testsuites>");
    EXPECT_LIE("line 2: suite \"a\" says tests=0, but 1 were counted");
}

Test(junit, the_name_of_a_lying_suite_is_shown_safely) {
    EXPECT_READ("<testsuites tests=\"7\">\n" SUITE("name=\"a&#10;b\" tests=\"2\"", CASE("x")) "</testsuites>");
    EXPECT_LIE("line 2: suite \"a\\x0ab\" says tests=2, but 1 were counted");
}

/* ---- refusals ----------------------------------------------------------------------------------------- */

#define ONE SUITE("name=\"s\"", CASE("a"))

Test(junit, a_document_type_is_refused_whatever_is_in_it) {
    EXPECT_READ("<?xml version=\"1.0\"?>\n<!-- <!DOCTYPE testsuite> -->" ONE);
    EXPECT_COUNTS(1, 0, 0, 0);
    EXPECT_MALFORMED("<?xml version=\"1.0\"?>\n<!DOCTYPE testsuite>" ONE, "document type");
    EXPECT_WHERE(err, "line 2");
    EXPECT_MALFORMED("<!DOCTYPE testsuite SYSTEM \"file:///etc/passwd\">" ONE, "document type");
    EXPECT_MALFORMED("<!DOCTYPE testsuite PUBLIC \"-//X\" \"http://127.0.0.1/x.dtd\">" ONE, "document type");
    EXPECT_MALFORMED("<!DOCTYPE testsuite [<!ENTITY a \"b\">]>" SUITE("name=\"&a;\"", CASE("a")), "document type");
    EXPECT_MALFORMED("<!DOCTYPE testsuite [<!ENTITY a SYSTEM \"/etc/passwd\">]>" SUITE("", "&a;" CASE("a")),
                     "document type");
    EXPECT_MALFORMED("<!DOCTYPE testsuite [<!ENTITY % a SYSTEM \"/dev/zero\"> %a;]>" ONE, "document type");
    EXPECT_MALFORMED("<!DOCTYPE testsuite [<!ATTLIST testcase name CDATA \"x\">]>" ONE, "document type");
}

Test(junit, a_billion_laughs_are_not_laughed) {
    cs_buf xml = CS_BUF_INIT(65536);
    cr_assert(cs_buf_text(&xml, "<!DOCTYPE testsuite [<!ENTITY l0 \"lol\">"));
    for (int i = 1; i < 10; i++) {
        cr_assert(cs_buf_printf(&xml, "<!ENTITY l%d \"", i));
        for (int j = 0; j < 10; j++)
            cr_assert(cs_buf_printf(&xml, "&l%d;", i - 1));
        cr_assert(cs_buf_text(&xml, "\">"));
    }
    cr_assert(cs_buf_text(&xml, "]>" SUITE("name=\"&l9;\"", CASE("a"))));
    EXPECT_MALFORMED_BYTES(cs_buf_view(&xml));
    cr_expect(strstr(err.message, "document type") != NULL, "%s", err.message);
    cs_buf_free(&xml);
}

Test(junit, an_entity_of_its_own_is_refused) {
    EXPECT_READ(SUITE("name=\"&amp;&lt;&#65;\"", CASE("a")));
    EXPECT_MALFORMED(SUITE("name=\"&lol;\"", CASE("a")), "undefined entity");
    EXPECT_MALFORMED(SUITE("name=\"&#0;\"", CASE("a")), "well-formed");
}

Test(junit, bytes_that_are_no_utf8_are_refused_whatever_the_encoding_is_called) {
    EXPECT_READ(SUITE("name=\"\xC3\xA9\"", CASE("a")));
    EXPECT_READ("\xEF\xBB\xBF" ONE);
    EXPECT_MALFORMED(SUITE("name=\"\xE9\"", CASE("a")), "UTF-8");
    EXPECT_MALFORMED("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>" SUITE("name=\"\xE9\"", CASE("a")), "UTF-8");
    EXPECT_MALFORMED(SUITE("name=\"\xC0\xBC\"", CASE("a")), "UTF-8");     /* overlong < */
    EXPECT_MALFORMED(SUITE("name=\"\xED\xA0\x80\"", CASE("a")), "UTF-8"); /* a surrogate */
    static const char utf16[] = "\xFF\xFE<\0t\0e\0s\0t\0s\0u\0i\0t\0e\0/\0>";
    EXPECT_MALFORMED_BYTES(cs_view_bytes(utf16, sizeof utf16));
}

Test(junit, a_nul_is_refused_wherever_it_stands) {
    static const char xml[] = SUITE("name=\"s\"", CASE_OF("a", "text"));
    char bytes[sizeof xml];
    memcpy(bytes, xml, sizeof xml);
    EXPECT_READ(xml);
    EXPECT_MALFORMED_BYTES(cs_view_bytes(xml, sizeof xml)); /* one behind the end */
    for (size_t i = 0; i < sizeof xml - 1; i++) {
        memcpy(bytes, xml, sizeof xml);
        bytes[i] = '\0';
        EXPECT_MALFORMED_BYTES(cs_view_bytes(bytes, sizeof xml - 1));
    }
}

Test(junit, every_file_that_was_cut_off_is_refused) {
    const char *const files[] = {pytest_file, surefire_file, ONE};
    for (size_t i = 0; i < 3; i++) {
        const char *end = strrchr(files[i], '>');
        size_t whole = (size_t)(end - files[i]) + 1;
        EXPECT_OK(cs_junit_read(cs_view_bytes(files[i], whole), &junit, &err), err);
        for (size_t len = 0; len < whole; len++)
            EXPECT_MALFORMED_BYTES(cs_view_bytes(files[i], len));
    }
}

Test(junit, one_root_of_the_right_name) {
    EXPECT_READ("<testsuites>" ONE ONE "</testsuites>");
    EXPECT_COUNTS(2, 0, 0, 1);
    EXPECT_MALFORMED(ONE ONE, "junk after document element");
    EXPECT_MALFORMED("<testsuites>" ONE "</testsuites>x", "not well-formed");
    EXPECT_MALFORMED("<html>" ONE "</html>", "the root is neither testsuites nor testsuite: html");
    EXPECT_MALFORMED("<TestSuites>" ONE "</TestSuites>", "root");
    EXPECT_MALFORMED(CASE("a"), "root");
    EXPECT_MALFORMED("<x:testsuites xmlns:x=\"u\">" ONE "</x:testsuites>", "prefix");
    EXPECT_MALFORMED("plain text", "well-formed");
}

Test(junit, elements_stand_where_they_belong) {
    EXPECT_READ(SUITE("", SUITE("", CASE("a")) CASE_OF("b", "<properties/>") "<properties/><system-err/>"));
    EXPECT_COUNTS(2, 0, 0, 0);
    EXPECT_MALFORMED(SUITE("", CASE_OF("a", CASE("b"))), "no place here: testcase");
    EXPECT_MALFORMED(SUITE("", CASE_OF("a", ONE)), "no place here: testsuite");
    EXPECT_MALFORMED(SUITE("", "<properties>" CASE("a") "</properties>"), "no place here: testcase");
    EXPECT_MALFORMED(SUITE("", "<testsuites/>" CASE("a")), "no place here: testsuites");
    EXPECT_MALFORMED("<testsuites><testsuites/></testsuites>", "no place here: testsuites");
    EXPECT_MALFORMED(SUITE("", "<failure/>" CASE("a")), "no place here: failure");
    EXPECT_MALFORMED(SUITE("", "<error/>" CASE("a")), "no place here: error");
    EXPECT_MALFORMED(SUITE("", "<skipped/>" CASE("a")), "no place here: skipped");
    EXPECT_MALFORMED(SUITE("", CASE_OF("a", "<system-out><failure/></system-out>")), "no place here: failure");
    EXPECT_MALFORMED(SUITE("", CASE_OF("a", "<x:failure/>")), "prefix: x:failure");
    EXPECT_MALFORMED(SUITE("", "<testcase classname=\"a\"/>"), "no name");
}

/* So many suites in one another, with a case in the last one. */
static cs_buf deep(unsigned suites) {
    cs_buf xml = CS_BUF_INIT(65536);
    for (unsigned i = 0; i < suites; i++)
        cr_assert(cs_buf_text(&xml, "<testsuite tests=\"1\">"));
    cr_assert(cs_buf_text(&xml, CASE("a")));
    for (unsigned i = 0; i < suites; i++)
        cr_assert(cs_buf_text(&xml, "</testsuite>"));
    return xml;
}

Test(junit, elements_are_at_most_64_deep) {
    cs_buf xml = deep(63);
    EXPECT_OK(cs_junit_read(cs_buf_view(&xml), &junit, &err), err);
    EXPECT_COUNTS(1, 0, 0, 0);
    EXPECT_HONEST();
    cs_buf_free(&xml);
    xml = deep(64);
    EXPECT_MALFORMED_BYTES(cs_buf_view(&xml));
    cr_expect_str_eq(err.message, "more than 64 elements are in one another");
    cs_buf_free(&xml);
}

/* A file of just so many bytes, whose suite has a very long name. */
static cs_buf long_name(size_t size) {
    static const char begin[] = "<testsuite tests=\"1\" name=\"";
    static const char end[] = "\">" CASE("a") "</testsuite>";
    cs_buf xml = CS_BUF_INIT(CS_JUNIT_MAX_BYTES + 1);
    cr_assert(cs_buf_text(&xml, begin) && cs_buf_reserve(&xml, size - xml.len));
    while (xml.len < size - (sizeof end - 1))
        cr_assert(cs_buf_byte(&xml, 'n'));
    cr_assert(cs_buf_text(&xml, end));
    cr_assert_eq(xml.len, size);
    return xml;
}

Test(junit, a_huge_attribute_is_read_and_a_larger_file_is_not) {
    cs_buf xml = long_name(CS_JUNIT_MAX_BYTES);
    EXPECT_OK(cs_junit_read(cs_buf_view(&xml), &junit, &err), err);
    EXPECT_COUNTS(1, 0, 0, 0);
    EXPECT_HONEST();
    xml.ptr[18] = '2'; /* tests="2" */
    EXPECT_OK(cs_junit_read(cs_buf_view(&xml), &junit, &err), err);
    cr_expect(junit.lies);
    cr_expect(strstr(junit.lie, "...\" says tests=2, but 1 were counted") != NULL, "%s", junit.lie);
    cs_buf_free(&xml);
    xml = long_name(CS_JUNIT_MAX_BYTES + 1);
    EXPECT_MALFORMED_BYTES(cs_buf_view(&xml));
    cs_buf_free(&xml);
}

static cs_buf many(unsigned cases) {
    cs_buf xml = CS_BUF_INIT(CS_JUNIT_MAX_BYTES);
    cr_assert(cs_buf_text(&xml, "<testsuite>"));
    for (unsigned i = 0; i < cases; i++)
        cr_assert(cs_buf_text(&xml, CASE("")));
    cr_assert(cs_buf_text(&xml, "</testsuite>"));
    return xml;
}

Test(junit, a_file_has_at_most_200000_cases) {
    cs_buf xml = many(200000);
    EXPECT_OK(cs_junit_read(cs_buf_view(&xml), &junit, &err), err);
    EXPECT_COUNTS(200000, 0, 0, 199999);
    cs_buf_free(&xml);
    xml = many(200001);
    EXPECT_MALFORMED_BYTES(cs_buf_view(&xml));
    cr_expect_str_eq(err.message, "it has more than 200000 testcases");
    cs_buf_free(&xml);
}

Test(junit, nothing_is_no_file) {
    EXPECT_MALFORMED("", "empty");
    EXPECT_MALFORMED(" \n", "no element found");
}
