/* Memory runs out while a page is made: there is none, or one that counts what it does not show. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report/page.h"
#include "tests/alloc/failing.h"
#include "tests/support/canon.h"
#include "tests/support/sample.h"

#define GATE                                                                                                           \
    "{\"command\":\"gate\",\"verdict\":\"passed\",\"exit\":0,\"code\":\"ok\",\"message\":\"m\",\"sections\":["         \
    "{\"requirement\":\"r\",\"selected\":1,\"counted\":1,\"rules\":[{\"rule\":\"bind\",\"state\":\"passed\","          \
    "\"found\":\"all\"}]}]}"

static cs_result add(cs_page *page, const sample *s, cs_error *err) {
    cs_entry entry = {.number = 1};
    cs_ledger_row row = {.code = cs_view_of("tier-contradicted")};
    cs_entry odd = {.number = 2, .finding = true, .row = &row};
    cs_statement statement = {.kind = CS_STATEMENT_RECORD, .record = s->record};
    cs_page_entry made = {.entry = &entry, .statement = &statement, .request = s->request, .response = s->response};
    static const char *const rules[] = {"sources"};
    cs_read_verdict read = {.kind = CS_VERDICT_TEST_RESULT,
                            .verdict = {.commit = "0123456789abcdef0123456789abcdef01234567",
                                        .repository = "",
                                        .policy_sha256 = "",
                                        .passed = true,
                                        .passed_rules = {.items = rules, .count = 1}}};
    cs_page_entry finding = {.entry = &odd, .standing = CS_STANDING_UNSIGNED, .response = s->response};
    cs_result result = cs_page_gate(page, cs_view_of(GATE), err);
    if (result == CS_OK) result = cs_page_entry_add(page, &made, err);
    if (result == CS_OK) result = cs_page_entry_add(page, &finding, err);
    cs_page_stated_add(page, &(cs_page_stated){.entry = &entry, .read = &read, .checked = true});
    return result;
}

static cs_result fill(cs_page *page, const sample *s, cs_buf *html, cs_error *err) {
    cs_verify_summary summary = {.kind = CS_SOURCE_LEDGER};
    cs_error fine = {.code = CS_CODE_OK};
    if (page == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "there is no page");
    cs_page_input_begin(page, cs_view_of("l.db"));
    cs_result result = add(page, s, err);
    cs_page_input_end(page, &(cs_page_outcome){.summary = &summary, .opened = true, .entries = 3, .verdicts = 1});
    if (result == CS_OK) result = cs_page_write(page, CS_OK, &fine, 0, "1.2.3", html, err);
    return result;
}

static bool has(const cs_buf *html, const char *text) {
    return memmem(html->ptr, html->len, text, strlen(text)) != NULL;
}

static cs_result make(void *user, cs_error *err) {
    cs_trust keys = {.count = 0};
    cs_buf html = CS_BUF_INIT(CS_PAGE_MAX);
    failing_begin();
    cs_page *page = cs_page_new(&keys);
    cs_result result = fill(page, user, &html, err);
    failing_end();
    if (result == CS_OK) {
        const cs_page_counts *told = cs_page_told(page);
        cr_assert(told->entries == 1 && told->findings == 1 && told->contradictions == 1);
        cr_assert(told->shown == 1 || has(&html, "1 of 1 entry is not shown"));
        cr_assert(told->findings_shown == 1 || has(&html, "1 more is not shown"));
        cr_assert(told->verdicts_shown == 1 || has(&html, "1 more is not shown, for want of room"));
        cr_assert(told->matrix.works == 1 || has(&html, "The table does not fit"));
        cr_assert_not(has(&html, "more than the page compares"));
        cr_assert(has(&html, "</body></html>\n") && has(&html, "claimed tier is contradicted"));
    } else {
        cr_assert_eq(html.len, 0);
    }
    cs_page_free(page);
    cs_buf_free(&html);
    return result;
}

Test(alloc_page, a_page) {
    sample s;
    sample_init(&s);
    failing_walk(make, &s, FAILING_UNCHECKED);
    sample_free(&s);
}

/* Of a provider with a long name a digest is kept: that there is none for it is no provider too many. */
Test(alloc_page, a_page_with_a_long_name) {
    sample s;
    sample_init(&s);
    canon_set(&s.record->provider,
              "a provider whose name is longer than the sixty-four bytes that the table keeps of it");
    failing_walk(make, &s, FAILING_UNCHECKED);
    sample_free(&s);
}
