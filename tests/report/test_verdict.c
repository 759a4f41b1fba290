/* A gate's verdict in the page: read exactly, and shown as what it is. Each twin changes one thing. */
#include "tests/report/page_case.h"

#define RULE(state, code)                                                                                              \
    "{\"rule\":\"bind\",\"state\":\"" state "\",\"code\":" code                                                        \
    ",\"found\":\"src/<b>main.js\",\"wanted\":\"all files\",\"source\":\"ledger.db\",\"entry\":3,\"path\":null}"
#define SECTION(rules) "{\"requirement\":\"tests\",\"selected\":2,\"counted\":1,\"refusals\":0,\"rules\":[" rules "]}"
#define DOCUMENT(verdict, exit, code, sections)                                                                        \
    "{\"command\":\"gate\",\"verdict\":\"" verdict "\",\"exit\":" exit ",\"code\":\"" code                             \
    "\",\"message\":\"it <is> so\",\"sections\":[" sections "],\"records\":2}"
#define PASSED DOCUMENT("passed", "0", "ok", SECTION(RULE("passed", "null")))

static cs_result take(page_case *c, const char *json, cs_error *err) {
    page_case_begin(c, true);
    return cs_page_gate(c->page, cs_view_of(json), err);
}

Test(report_verdict, a_pass_and_a_refusal_are_shown_with_each_rule) {
    page_case c;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(take(&c, PASSED, &err), CS_OK, "%s", err.message);
    page_case_expect_good(&c);
    EXPECT_HAS(c.html, "Gate: <bdi dir=\"ltr\" class=\"d\">passed</bdi>");
    EXPECT_HAS(c.html, "src/&lt;b&gt;main.js");
    EXPECT_HAS(c.html, ", entry 3");
    EXPECT_HAS(c.html, "Nobody signed it");
    EXPECT_HAS(c.html, "1 of 2 records count");
    page_case_end(&c);
    cr_assert_eq(take(&c, DOCUMENT("failed", "1", "gate-bind", SECTION(RULE("refused", "\"gate-bind\""))), &err),
                 CS_OK);
    page_case_expect_good(&c);
    EXPECT_HAS(c.html, "Gate: <bdi dir=\"ltr\" class=\"d\">failed</bdi>");
    EXPECT_HAS(c.html, "gate-bind");
    page_case_end(&c);
    cr_assert_eq(
        take(&c, "{\"command\":\"gate\",\"verdict\":\"unchecked\",\"exit\":5,\"code\":\"io\",\"message\":\"m\"}", &err),
        CS_OK);
    page_case_expect_good(&c);
    EXPECT_HAS(c.html, "the gate ended before it judged");
    page_case_end(&c);
}

Test(report_verdict, what_is_none_or_contradicts_itself_is_refused) {
    static const char *const refused[] = {
        "",
        "{",
        "[]",
        "null",
        "{\"command\":\"gate\",\"command\":\"gate\"}",
        "{\"command\":\"gate\"}",
        DOCUMENT("passed", "0", "ok", ""),                                        /* no rule */
        DOCUMENT("passed", "0", "ok", SECTION("")),                               /* likewise */
        DOCUMENT("passed", "1", "ok", SECTION(RULE("passed", "null"))),           /* another exit */
        DOCUMENT("failed", "0", "ok", SECTION(RULE("passed", "null"))),           /* another verdict */
        DOCUMENT("passed", "0", "gate-bind", SECTION(RULE("passed", "null"))),    /* another code */
        DOCUMENT("passed", "0", "ok", SECTION(RULE("refused", "\"gate-bind\""))), /* a rule that did not pass */
        DOCUMENT("passed", "0", "ok", SECTION(RULE("undecided", "null"))),        /* likewise */
        DOCUMENT("passed", "0", "ok", SECTION(RULE("passed", "7"))),              /* a code that is no text */
        DOCUMENT("passed", "0", "ok", SECTION("7")),                              /* a rule that is none */
        DOCUMENT("passed", "0", "ok", "7"),                                       /* a section that is none */
        "{\"command\":\"verify\",\"verdict\":\"failed\",\"exit\":1,\"code\":\"io\",\"message\":\"m\"}",
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        page_case c;
        cs_error err = CS_ERROR_INIT;
        cr_expect_eq(take(&c, refused[i], &err), CS_UNCHECKED, "%s", refused[i]);
        cr_expect_eq(err.code, CS_CODE_INPUT_UNKNOWN, "%s", refused[i]);
        page_case_write(&c);
        EXPECT_HAS_NOT(c.html, "id=\"gate\"");
        page_case_end(&c);
    }
}
