/* A statement of a verdict that a ledger keeps, in the page: what it states, in full, and how far it may be believed.
 */
#include <stdio.h>

#include "tests/report/page_case.h"

#define COMMIT "0123456789abcdef0123456789abcdef01234567"
#define POLICY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define KEY "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define FACT(label, text) "<dt>" label "</dt><dd><bdi dir=\"ltr\" class=\"d\">" text "</bdi></dd>"

static const char *const passed[] = {"sources", "tests/bind"};
static const char *const failed[] = {"tests/<b>"};

static cs_read_verdict a_test_result(void) {
    return (cs_read_verdict){.kind = CS_VERDICT_TEST_RESULT,
                             .verdict = {.commit = COMMIT,
                                         .repository = "https://x.example.org/<i>",
                                         .policy_sha256 = POLICY,
                                         .passed = true,
                                         .passed_rules = {.items = passed, .count = 2}}};
}

/* A page with this one statement alone. */
static void take(page_case *c, const cs_page_stated *of, const cs_read_verdict *read) {
    cs_ledger_row row = {.added_unix_ms = 1700000000000};
    cs_entry entry = {.number = 3, .verdict = true, .row = &row};
    cs_page_stated stated = *of;
    stated.entry = &entry;
    stated.read = read;
    page_case_begin(c, true);
    cs_page_stated_add(c->page, &stated);
    c->verdicts = 1;
    page_case_expect_good(c);
    cr_expect_eq(cs_page_told(c->page)->verdicts_shown, 1);
}

Test(report_stated, both_statements_are_shown_in_full) {
    page_case c;
    cs_read_verdict read = a_test_result();
    take(&c, &(cs_page_stated){.keyid = KEY, .key_label = "the <gate>", .checked = true}, &read);
    EXPECT_HAS(c.html, "<b>3</b> <span class=\"tag good\">verified</span> test-result: the gate <b>passed</b> commit ");
    EXPECT_HAS(c.html, FACT("Commit", COMMIT));
    EXPECT_HAS(c.html, FACT("Policy SHA-256", POLICY));
    EXPECT_HAS(c.html, FACT("Repository", "https://x.example.org/&lt;i&gt;"));
    EXPECT_HAS(c.html, FACT("Signed by key", KEY));
    EXPECT_HAS(c.html, FACT("Key, as you call it", "the &lt;gate&gt;"));
    EXPECT_HAS(c.html, "<h4>Rules that passed</h4><ul><li><bdi dir=\"ltr\" class=\"d\">sources</bdi></li>");
    EXPECT_HAS_NOT(c.html, "Rules that failed");
    EXPECT_HAS_NOT(c.html, "<dt>Judged</dt>");
    EXPECT_HAS(c.html, "1 statement of a verdict, no evidence of a run");
    page_case_end(&c);
    read.kind = CS_VERDICT_SUMMARY;
    read.verdict = (cs_stated_verdict){.commit = COMMIT,
                                       .repository = "",
                                       .policy_sha256 = POLICY,
                                       .made_unix_ms = 1700000000123,
                                       .inputs = (const char *const[]){KEY},
                                       .input_count = 1};
    take(&c, &(cs_page_stated){.checked = true}, &read);
    EXPECT_HAS(c.html, "summary: the gate <b>refused</b> commit ");
    EXPECT_HAS(c.html, "<dt>Judged</dt><dd><span class=\"t\">2023-11-14T22:13:20.123Z</span>");
    EXPECT_HAS(c.html, "<span class=\"none\">not named</span>");
    EXPECT_HAS(c.html, "<h4>Rests on the envelopes</h4><ul><li><bdi dir=\"ltr\" class=\"d\">" KEY "</bdi></li></ul>");
    page_case_end(&c);
}

/* Green is only what was checked and passed. */
Test(report_stated, how_far_it_may_be_believed) {
    cs_error unknown = {.code = CS_CODE_ENVELOPE_KEY_UNKNOWN, .message = "not known"};
    cs_error wrong = {.code = CS_CODE_ENVELOPE_SIGNATURE, .message = "not <signed>"};
    cs_error none = {.code = CS_CODE_NO_MEMORY, .message = "no memory"};
    cs_read_verdict read = a_test_result();
    const struct {
        cs_page_stated stated;
        const cs_read_verdict *read;
        const char *has;
    } rows[] = {
        {{.checked = true}, &read, "<span class=\"tag good\">verified</span>"},
        {{.checked = false}, &read, "<span class=\"tag open\">not checked</span>"},
        {{.checked = true, .timeless = true},
         &read,
         "<span class=\"tag open\">signature verified, time not known</span>"},
        {{.checked = true, .err = &unknown},
         &read,
         "<span class=\"tag open\">not checked: its key is not trusted here"},
        {{.checked = true, .err = &wrong}, &read, "<span class=\"tag bad\">failed</span>"},
        {{.checked = true, .err = &none}, &read, "<span class=\"tag bad\">could not be checked</span>"},
        {{.checked = true, .err = &wrong}, NULL, "<span class=\"tag bad\">unreadable</span> statement of a verdict"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        page_case c;
        take(&c, &rows[i].stated, rows[i].read);
        EXPECT_HAS(c.html, rows[i].has);
        cr_expect_eq(strstr(c.html, "<span class=\"tag good\">verified</span>") != NULL, i == 0, "%zu", i);
        if (rows[i].stated.err == &wrong) EXPECT_HAS(c.html, FACT("Trouble", "not &lt;signed&gt;"));
        page_case_end(&c);
    }
}

Test(report_stated, a_refusal_names_what_failed) {
    page_case c;
    cs_read_verdict read = a_test_result();
    read.verdict.passed = false;
    read.verdict.failed_rules = (cs_verdict_names){.items = failed, .count = 1};
    take(&c, &(cs_page_stated){.checked = true}, &read);
    EXPECT_HAS(c.html, "test-result: the gate <b>refused</b> commit ");
    EXPECT_HAS(c.html,
               "<h4>Rules that failed</h4><ul><li><bdi dir=\"ltr\" class=\"d\">tests/&lt;b&gt;</bdi></li></ul>");
    page_case_end(&c);
}

/* They are many, or large: what has no room is counted. */
Test(report_stated, what_has_no_room_is_counted) {
    page_case c;
    cs_read_verdict read = a_test_result();
    cs_entry entry = {.number = 1, .verdict = true};
    const cs_page_stated stated = {.entry = &entry, .read = &read, .checked = true};
    page_case_begin(&c, true);
    for (c.verdicts = 0; c.verdicts < 20000; c.verdicts++)
        cs_page_stated_add(c.page, &stated);
    page_case_expect_good(&c);
    uint64_t shown = cs_page_told(c.page)->verdicts_shown;
    cr_expect(shown > 100 && shown < 20000);
    char text[64];
    (void)snprintf(text, sizeof text, "%d more are not shown, for want of room", (int)(20000 - shown));
    EXPECT_HAS(c.html, text);
    page_case_end(&c);
}
