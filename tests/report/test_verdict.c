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

#define SHA1 "0123456789abcdef0123456789abcdef01234567"
#define SHA256 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ABOUT(members)                                                                                                 \
    "{\"command\":\"gate\",\"verdict\":\"passed\",\"exit\":0,\"code\":\"ok\",\"message\":\"m\"," members               \
    ",\"sections\":[" SECTION(RULE("passed", "null")) "]}"
#define MORE_THAN_ARE_THERE                                                                                            \
    "{\"requirement\":\"tests\",\"selected\":2,\"counted\":3,\"rules\":[" RULE("passed", "null") "]}"
#define POLICY(file, sha256, commit) "\"policy\":{\"file\":" file ",\"sha256\":" sha256 ",\"commit\":" commit "}"

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
        DOCUMENT("passed", "0", "ok", SECTION(RULE("Passed", "null"))),           /* a state that is none */
        DOCUMENT("failed", "1", "gate-bind", SECTION(RULE("open", "null"))),      /* likewise */
        DOCUMENT("failed", "7", "gate-bind", SECTION(RULE("refused", "null"))),   /* an exit that is none */
        DOCUMENT("failed", "-1", "gate-bind", SECTION(RULE("refused", "null"))),  /* likewise */
        DOCUMENT("unchecked", "1", "io", SECTION(RULE("refused", "null"))),       /* that of another exit */
        DOCUMENT("passed", "0", "ok", MORE_THAN_ARE_THERE),                       /* 3 of 2 count */
        ABOUT("\"refusals\":1"),
        ABOUT("\"refusals\":false"),
        ABOUT("\"sources_verified\":false"),
        DOCUMENT("passed", "0", "ok", SECTION("7")), /* a rule that is none */
        DOCUMENT("passed", "0", "ok", "7"),          /* a section that is none */
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

static void expect_about(const char *json, const char *const has[], size_t count) {
    page_case c;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(take(&c, json, &err), CS_OK, "%s: %s", err.message, json);
    page_case_expect_good(&c);
    for (size_t i = 0; i < count; i++)
        EXPECT_HAS(c.html, has[i]);
    EXPECT_HAS_NOT(c.html, "<i>");
    page_case_end(&c);
}

#define FACT(label, text) "<dt>" label "</dt><dd><bdi dir=\"ltr\" class=\"d\">" text "</bdi></dd>"
#define NONE(label, text) "<dt>" label "</dt><dd><span class=\"none\">" text "</span></dd>"

Test(report_verdict, what_it_is_about_is_named_in_full) {
    expect_about(ABOUT("\"rev\":\"" SHA1 "\",\"base\":\"" SHA256 "\"," POLICY(
                     "\".gate/<i>p\\u202e.json\"", "\"" SHA256 "\"", "\"" SHA1 "\"") ",\"repository\":{\"work_"
                                                                                     "tree\":\"/x/<i>\",\"git_"
                                                                                     "directory\":\"/x/.git\"}"),
                 (const char *const[]){FACT("Commit", SHA1), FACT("Compared with the base", SHA256),
                                       FACT("Policy", ".gate/&lt;i&gt;p<span class=\"e\">\\u{202e}</span>.json"),
                                       FACT("Policy SHA-256", SHA256), FACT("Policy, read from the commit", SHA1),
                                       FACT("Work tree", "/x/&lt;i&gt;"), FACT("Git directory", "/x/.git")},
                 7);
    expect_about(
        ABOUT("\"rev\":null,\"base\":null,\"repository\":null," POLICY("\"p.json\"", "\"" SHA256 "\"", "null")),
        (const char *const[]){NONE("Commit", "none was named"), NONE("Compared with the base", "none was named"),
                              FACT("Policy", "p.json"),
                              NONE("Policy, read from the commit", "none: it was read as a file")},
        4);
    expect_about(ABOUT("\"refusals\":0,\"sources_verified\":true"),
                 (const char *const[]){NONE("Commit", "the file does not say")}, 1);
    expect_about(PASSED,
                 (const char *const[]){NONE("Commit", "the file does not say"), NONE("Policy", "the file does not say"),
                                       NONE("Policy SHA-256", "the file does not say")},
                 3);
}

Test(report_verdict, what_it_is_about_is_read_exactly) {
    static const char *const refused[] = {
        ABOUT("\"rev\":\"0123456789abcdef0123456789abcdef0123456\""),   /* a digit less */
        ABOUT("\"rev\":\"0123456789abcdef0123456789abcdef012345678\""), /* one more */
        ABOUT("\"rev\":\"0123456789ABCDEF0123456789abcdef01234567\""),  /* upper case */
        ABOUT("\"base\":\"main\""),
        ABOUT("\"base\":7"),
        ABOUT("\"policy\":null"),
        ABOUT("\"policy\":\"p.json\""),
        ABOUT(POLICY("null", "\"" SHA256 "\"", "null")),
        ABOUT(POLICY("\"p.json\"", "\"" SHA1 "\"", "null")),
        ABOUT(POLICY("\"p.json\"", "null", "null")),
        ABOUT(POLICY("\"p.json\"", "\"" SHA256 "\"", "\"main\"")),
        ABOUT("\"repository\":\"/x\""),
        ABOUT("\"repository\":{\"work_tree\":7}"),
        ABOUT("\"repository\":{\"git_directory\":[]}"),
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        page_case c;
        cs_error err = CS_ERROR_INIT;
        cr_expect_eq(take(&c, refused[i], &err), CS_UNCHECKED, "%s", refused[i]);
        cr_expect_eq(err.code, CS_CODE_INPUT_UNKNOWN, "%s", refused[i]);
        page_case_end(&c);
    }
}
