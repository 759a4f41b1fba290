/* The whole page: what hostile entries make of it, its bounds, and what it says of itself. */
#include "tests/report/page_case.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/canon.h"

#define HOSTILE                                                                                                        \
    "</code></pre></details></main></body></html><script>document.title='owned'</script>"                              \
    "<img src=x onerror=\"document.title='owned'\"/>'\"><style>*{display:none}</style><!-- ]]> &#60;b&#62; &lt;b&gt; " \
    "javascript:alert(1) \xe2\x80\xae \xe2\x81\xa6 \xe2\x80\x8b \x1b[31m \x07 \r\n\t \xef\xbf\xbe \\u{202e} \xff\xfe " \
    "\xc0\xbc end"

/* ---- a hostile text in every field ------------------------------------------------------------------------ */

static void *new_message(const ProtobufCMessageDescriptor *type) {
    void *message = malloc(type->sizeof_message);
    cr_assert_not_null(message);
    protobuf_c_message_init(type, message);
    return message;
}

static ProtobufCMessage *filled(const ProtobufCMessageDescriptor *type, const char *kind);

static void fill_value(const ProtobufCFieldDescriptor *field, void *place, const char *kind) {
    int32_t number = 3;
    double real = -0.5;
    switch (field->type) {
    case PROTOBUF_C_TYPE_BYTES:
        canon_set(place, HOSTILE);
        break;
    case PROTOBUF_C_TYPE_MESSAGE: {
        ProtobufCMessage *made = filled(field->descriptor, kind);
        memcpy(place, &made, sizeof made);
        break;
    }
    case PROTOBUF_C_TYPE_DOUBLE:
        memcpy(place, &real, sizeof real);
        break;
    default:
        memcpy(place, &number, sizeof number); /* the low half of a wider one; its other half is zero */
    }
}

static size_t size_of(const ProtobufCFieldDescriptor *field) {
    return field->type == PROTOBUF_C_TYPE_BYTES    ? sizeof(ProtobufCBinaryData)
           : field->type == PROTOBUF_C_TYPE_DOUBLE ? sizeof(double)
                                                   : sizeof(void *);
}

static void fill_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, const char *kind) {
    char *base = (char *)message;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t two = 2;
        char *list = calloc(2, size_of(field));
        cr_assert_not_null(list);
        fill_value(field, list, kind);
        fill_value(field, list + size_of(field), kind);
        memcpy(base + field->offset, &list, sizeof list);
        memcpy(base + field->quantifier_offset, &two, sizeof two);
        return;
    }
    bool one_of = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
    if (one_of && strcmp(field->name, kind) != 0) return;
    if (one_of) memcpy(base + field->quantifier_offset, &field->id, sizeof(uint32_t));
    fill_value(field, base + field->offset, kind);
}

static ProtobufCMessage *filled(const ProtobufCMessageDescriptor *type, const char *kind) {
    ProtobufCMessage *message = new_message(type);
    for (unsigned i = 0; i < type->n_fields; i++)
        fill_field(message, &type->fields[i], kind);
    return message;
}

/* A digest of the record has its form, as a verified one; all other texts are hostile. */
static void expect_hostile(const char *kind, bool finding) {
    page_case c;
    cs_run_request *request = (cs_run_request *)filled(&plimsoll__v1__run_request__descriptor, kind);
    cs_run_response *response = (cs_run_response *)filled(&plimsoll__v1__run_response__descriptor, kind);
    request->software_rule->mode.len = 0; /* a rule of an unknown mode has no digest */
    page_case_begin(&c, true);
    if (finding) {
        page_case_add_finding(&c, HOSTILE, request, response);
    } else {
        page_case_add(&c, request, response);
        canon_set(&response->record->session, "");
        page_case_add(&c, request, response);
    }
    page_case_expect_good(&c);
    EXPECT_HAS(c.html, "&lt;script&gt;document.title=&#39;owned&#39;&lt;/script&gt;");
    EXPECT_HAS(c.html, "<span class=\"e\">\\u{202e}</span>");
    EXPECT_HAS_NOT(c.html, "<script");
    EXPECT_HAS_NOT(c.html, "<img");
    EXPECT_HAS_NOT(c.html, "\x1b");
    cs_message_free(request);
    cs_message_free(response);
    page_case_end(&c);
}

Test(report_page, a_hostile_text_in_every_field_is_text) {
    static const char *const kinds[] = {"javascript", "project", "module", "cell"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        expect_hostile(kinds[i], false);
        expect_hostile(kinds[i], true);
    }
}

/* The same text, put in as markup: the parser of these tests can fail. */
Test(report_page, what_the_parser_refuses) {
    static const struct {
        const char *what, *said;
    } twins[] = {
        {"", NULL},
        {"<script>1</script>", "there is an element script"},
        {"<img src=\"x\"/>", "there is an element img"},
        {"<p onclick=\"x\">1</p>", "p has an attribute onclick"},
        {"<p style=\"x\">1</p>", "p has an attribute style"},
        {"<a href=\"javascript:alert(1)\">1</a>", "a link goes to javascript"},
        {"<a href=\"http://probe.invalid/\">1</a>", "a link goes to http"},
        {"<p>", "it is not well-formed"},
        {"<p>\xe2\x80\xae</p>", "a text has a character that steers or hides"},
        {"<p id=\"inputs\">1</p>", "the id inputs stands there twice"},
        {"<style>p{}</style>", "there are 2 style sheets"},
        {"<meta http-equiv=\"Content-Security-Policy\" content=\"x\"/>", "the policy is"},
        {"<!-- x -->", "there is a comment"},
    };
    page_case c;
    page_case_begin(&c, true);
    page_case_write(&c);
    const char *at = strstr(c.html, "<main>");
    cr_assert_not_null(at);
    size_t before = (size_t)(at - c.html) + 6;
    for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++) {
        CS_AUTO_BUF planted = CS_BUF_INIT(1 << 20);
        cr_assert(cs_buf_append(&planted, c.html, before) && cs_buf_text(&planted, twins[i].what) &&
                  cs_buf_append(&planted, c.html + before, c.len - before));
        int exit = page_case_parse(planted.ptr, planted.len, c.said, sizeof c.said);
        cr_expect_eq(exit, twins[i].said != NULL ? 1 : 0, "%s: %s", twins[i].what, c.said);
        if (twins[i].said != NULL) EXPECT_HAS(c.said, twins[i].said);
    }
    page_case_end(&c);
}

/* ---- bounds ------------------------------------------------------------------------------------------------ */

Test(report_page, a_line_of_ten_mebibytes_is_cut_and_says_so) {
    const size_t len = (size_t)10 << 20;
    page_case c;
    sample s;
    sample_init(&s);
    char *line = malloc(len);
    cr_assert_not_null(line);
    memset(line, '<', len);
    cr_assert(cs_bytes_set(&s.response->javascript->stdout, cs_view_bytes(line, len)));
    sample_seal(&s, SEAL_ALL);
    page_case_begin(&c, true);
    page_case_add(&c, s.request, s.response);
    page_case_expect_good(&c);
    EXPECT_HAS(c.html, "Cut here: the page shows 16384 of 10485760 bytes.");
    cr_expect_lt(c.len, 200000);
    free(line);
    sample_free(&s);
    page_case_end(&c);
}

Test(report_page, an_output_that_is_no_text_is_shown_as_digits) {
    page_case c;
    sample s;
    sample_init(&s);
    cr_assert(cs_bytes_set(&s.response->javascript->stdout, cs_view_bytes("\xff\x00<b>", 5)));
    sample_seal(&s, SEAL_ALL);
    page_case_begin(&c, true);
    page_case_add(&c, s.request, s.response);
    page_case_expect_good(&c);
    EXPECT_HAS(c.html, "ff003c623e");
    sample_free(&s);
    page_case_end(&c);
}

Test(report_page, more_than_it_has_room_for_is_counted) {
    page_case c;
    sample s;
    char text[16001];
    memset(text, '\'', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    sample_init(&s);
    canon_set(&s.response->javascript->stdout, text);
    sample_seal(&s, SEAL_ALL);
    page_case_begin(&c, true);
    for (size_t i = 0; i < 400; i++)
        page_case_add(&c, s.request, s.response);
    for (size_t i = 0; i < 100; i++)
        page_case_add_finding(&c, "result-digest", s.request, s.response);
    page_case_expect_good(&c);
    const cs_page_counts *told = cs_page_told(c.page);
    cr_expect_eq(told->entries, 400);
    cr_expect(told->shown > 150 && told->shown < 300);
    cr_expect_eq(told->findings, 100);
    cr_expect(told->findings_shown > 20 && told->findings_shown < 60);
    char want[128];
    (void)snprintf(want, sizeof want, "%d of 400 entries are not shown", 400 - (int)told->shown);
    EXPECT_HAS(c.html, want);
    (void)snprintf(want, sizeof want, "%d more are not shown, for want of room", 100 - (int)told->findings_shown);
    EXPECT_HAS(c.html, want);
    cr_expect_leq(c.len, CS_PAGE_MAX);
    sample_free(&s);
    page_case_end(&c);
}

/* Entries without a place are compared all the same, and no link leads to where they are not: the parser looks. */
Test(report_page, no_link_leads_to_an_entry_without_a_place) {
    page_case c;
    sample s;
    char text[16001];
    memset(text, '\'', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    sample_init(&s);
    canon_set(&s.response->javascript->stdout, text);
    page_case_begin(&c, true);
    for (size_t i = 0; i < 400; i++) {
        char code[32];
        (void)snprintf(code, sizeof code, "%zu", i);
        canon_set(&s.request->javascript->code, code);
        sample_seal(&s, SEAL_ALL);
        page_case_add(&c, s.request, s.response);
    }
    page_case_expect_good(&c);
    cr_expect_lt(cs_page_told(c.page)->shown, 300);
    cr_expect_eq(cs_page_told(c.page)->matrix.works, 400);
    EXPECT_HAS(c.html, "<a href=\"#entry-1\">1</a>");
    EXPECT_HAS(c.html, "entry 400</p>");
    sample_free(&s);
    page_case_end(&c);
}

Test(report_page, faults_are_named_up_to_a_thousand) {
    page_case c;
    cs_error err = CS_ERROR_INIT;
    (void)cs_fail(&err, CS_CODE_RESULT_DIGEST, "the result is another one: <b>");
    page_case_begin(&c, true);
    for (uint64_t i = 0; i < 1003; i++)
        cs_page_fault(c.page, &(cs_finding){.entry = i + 1, .err = &err});
    page_case_expect_good(&c);
    EXPECT_HAS(c.html, "<b>result-digest</b>");
    EXPECT_HAS(c.html, "&lt;b&gt;");
    EXPECT_HAS(c.html, "3 more are not shown.");
    page_case_end(&c);
}

/* ---- what it says ------------------------------------------------------------------------------------------ */

/* A good page without an entry has this and not that. */
static void expect_without_entries(bool verified, const char *has, const char *has_not) {
    page_case c;
    page_case_begin(&c, verified);
    page_case_expect_good(&c);
    EXPECT_HAS(c.html, has);
    EXPECT_HAS_NOT(c.html, has_not);
    page_case_end(&c);
}

static void begin_with_run(page_case *c, sample *s) {
    sample_init(s);
    page_case_begin(c, true);
    page_case_add(c, s->request, s->response);
}

Test(report_page, it_says_whether_anything_was_verified) {
    page_case c;
    page_case_begin(&c, true);
    page_case_write(&c);
    EXPECT_HAS(c.html, "<strong>Verified</strong>");
    EXPECT_HAS_NOT(c.html, "Nothing was verified");
    page_case_end(&c);
    expect_without_entries(false, "<strong>Nothing was verified</strong>", "<strong>Verified</strong>");
}

Test(report_page, unsigned_findings_stand_apart) {
    page_case c;
    sample s;
    begin_with_run(&c, &s);
    page_case_add_finding(&c, "tier-contradicted", s.request, s.response);
    page_case_expect_good(&c);
    cr_expect_eq(cs_page_told(c.page)->contradictions, 1);
    cr_expect_eq(cs_page_told(c.page)->entries, 1);
    EXPECT_HAS(c.html, "1 unsigned finding says that a daemon's claimed tier was refuted");
    const char *apart = strstr(c.html, "class=\"apart\"");
    const char *entries = strstr(c.html, "<section id=\"entries\">");
    cr_assert(apart != NULL && entries != NULL);
    const char *finding = strstr(apart, "the detail of the finding");
    cr_expect(finding != NULL && finding < entries);
    cr_expect_null(strstr(entries, "the detail of the finding"));
    EXPECT_HAS(c.html, "what the answer claims; nobody signed it");
    sample_free(&s);
    page_case_end(&c);
    expect_without_entries(true, "There is none.", "claimed tier was refuted");
}

Test(report_page, an_input_that_failed_is_warned_of_before_its_entries) {
    page_case c;
    sample s;
    begin_with_run(&c, &s);
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_fail(&err, CS_CODE_CHAIN_SEQUENCE, "a call is missing");
    cs_verify_summary summary = {.kind = CS_SOURCE_LEDGER};
    cs_page_input_end(c.page, &(cs_page_outcome){.result = result, .err = &err, .summary = &summary, .opened = true});
    cs_buf html = CS_BUF_INIT(CS_PAGE_MAX);
    cr_assert_eq(cs_page_write(c.page, result, &err, 0, "1.2.3", &html, &err), CS_OK);
    cr_assert(cs_buf_byte(&html, '\0'));
    c.html = (char *)html.ptr;
    EXPECT_HAS(c.html, "<strong>Failed</strong>");
    EXPECT_HAS_NOT(c.html, "<strong>Verified</strong>");
    const char *entries = strstr(c.html, "<section id=\"entries\">");
    cr_assert_not_null(entries);
    const char *warning = strstr(entries, "This input did not pass.");
    cr_expect(warning != NULL && warning < strstr(entries, "<details class=\"entry\""));
    sample_free(&s);
    page_case_end(&c);
}

/* An input without room for its heading has no line of its own there: it would be read as one of the input before. */
Test(report_page, no_line_stands_below_the_heading_of_another_input) {
    static const char none[] = "<p class=\"none\">No entry is shown.</p>";
    page_case c;
    sample s;
    sample_init(&s);
    char name[301];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    cs_page_outcome outcome = {.result = CS_OK, .opened = true};
    page_case_begin(&c, true);
    for (size_t i = 0; i < 20000 && cs_page_told(c.page)->shown == cs_page_told(c.page)->entries; i++)
        page_case_add(&c, s.request, s.response);
    for (size_t i = 1; i < CS_PAGE_INPUTS - 1; i++) {
        cs_page_input_end(c.page, &outcome);
        cs_page_input_begin(c.page, cs_view_of(name));
    }
    page_case_write(&c);
    cr_expect_lt(cs_page_told(c.page)->shown, cs_page_told(c.page)->entries);
    for (const char *at = strstr(c.html, none); at != NULL; at = strstr(at + 1, none))
        cr_expect(strncmp(at - strlen("</h3>\n"), "</h3>\n", strlen("</h3>\n")) == 0);
    sample_free(&s);
    page_case_end(&c);
}
