/* A verdict in every form: what each shows, that none is silent about a verdict that is no pass, and that nothing
 * hostile gets through. */
#include <criterion/criterion.h>
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/junit.h"
#include "gate/out_internal.h"
#include "records/text.h"
#include "tests/gate/out_case.h"

typedef bool (*form)(const cs_gate_report *report, cs_buf *out);

static size_t count(const char *text, const char *part) {
    size_t found = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + strlen(part), part))
        found++;
    return found;
}

#define HAS(text, part) cr_expect_not_null(strstr((text), (part)), "no '%s' in: %s", (part), (text))
#define HAS_NOT(text, part) cr_expect_null(strstr((text), (part)), "'%s' in: %s", (part), (text))

static json_t *parse(const char *text) {
    json_error_t why;
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, &why);
    cr_assert_not_null(document, "%s: %s", why.text, text);
    return document;
}

/* ---- a verdict that passed -------------------------------------------------------------------------------------- */

static cs_junit read_junit(const char *xml) {
    cs_junit junit;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_junit_read(cs_view_of(xml), &junit, &err), CS_OK, "%s: %s", err.message, xml);
    cr_expect_not(junit.lies, "%s", junit.lie);
    return junit;
}

Test(gate_out, a_pass_is_a_pass_in_every_form) {
    out_case c;
    out_begin(&c);
    const char *text = out_text(&c, cs_gate_out_text);
    HAS(text, "requirement tests: 2 of 3 records count\n");
    HAS(text, "  bind            passed       3 of 3 files\n");
    HAS(text, "where: l.db: entry 7\n");
    HAS(text, "gate: passed: 1 requirement, 3 distinct records; of 4 rules 0 refused and 0 undecided\n");
    const cs_junit junit = read_junit(out_text(&c, cs_gate_out_junit));
    cr_expect_eq(junit.cases, 4);
    cr_expect_eq(junit.failed, 0);
    cr_expect_eq(junit.skipped, 0);
    json_t *sarif = parse(out_text(&c, cs_gate_out_sarif));
    const json_t *run = json_array_get(json_object_get(sarif, "runs"), 0);
    cr_expect_eq(json_array_size(json_object_get(run, "results")), 0);
    json_decref(sarif);
    cr_expect_str_eq(out_text(&c, cs_gate_out_code_quality), "[]\n");
    cr_expect_str_eq(out_text(&c, cs_gate_out_annotations), "");
    text = out_text(&c, cs_gate_out_markdown);
    HAS(text, "## countersign gate: passed\n");
    HAS(text, "| `bind` | passed | `3 of 3 files` | `what is wanted of bind` | `l.db: entry 7` |\n");
    out_end(&c);
}

/* ---- a verdict that did not ----------------------------------------------------------------------------------------
 */

Test(gate_out, a_refusal_is_one_in_every_form) {
    out_case c;
    out_begin(&c);
    out_refuse(&c, CS_GATE_BIND, CS_CODE_GATE_BIND, "src/main.js has other bytes");
    (void)snprintf(c.sections[0].findings[CS_GATE_BIND].path, 32, "src/a b\xc3\xa9.js");
    out_leave(&c, CS_GATE_COUNT);
    HAS(out_text(&c, cs_gate_out_text), "  bind            refused      src/main.js has other bytes\n");
    HAS(out_text(&c, cs_gate_out_text), "code: gate-bind\n");
    const char *xml = out_text(&c, cs_gate_out_junit);
    HAS(xml, "<testsuite name=\"tests\" tests=\"4\" failures=\"1\" errors=\"1\" skipped=\"0\" time=\"0\">\n");
    HAS(xml, "<failure message=\"src/main.js has other bytes\" type=\"gate-bind\">");
    HAS(xml, "<error message=\"nothing to judge it by\" type=\"undecided\">");
    cr_expect_eq(read_junit(xml).failed, 2);
    json_t *sarif = parse(out_text(&c, cs_gate_out_sarif));
    const json_t *results = json_object_get(json_array_get(json_object_get(sarif, "runs"), 0), "results");
    cr_expect_eq(json_array_size(results), 1);
    char *result = json_dumps(json_array_get(results, 0), JSON_COMPACT);
    HAS(result, "\"ruleId\":\"bind\",\"level\":\"error\"");
    HAS(result, "{\"uri\":\"src/a%20b%C3%A9.js\"}");
    free(result);
    json_decref(sarif);
    json_t *issues = parse(out_text(&c, cs_gate_out_code_quality));
    cr_expect_eq(json_array_size(issues), 1);
    char *issue = json_dumps(json_array_get(issues, 0), JSON_COMPACT | JSON_ENSURE_ASCII);
    HAS(issue, "\"location\":{\"path\":\"src/a b\\u00E9.js\",\"lines\":{\"begin\":1}}");
    HAS(issue, "\"severity\":\"blocker\"");
    free(issue);
    json_decref(issues);
    HAS(out_text(&c, cs_gate_out_annotations),
        "::error file=src/a b\xc3\xa9.js,title=countersign gate%3A tests%3A bind::tests: bind: src/main.js has");
    HAS(out_text(&c, cs_gate_out_markdown), "| `bind` | **refused** |");
    HAS(out_text(&c, cs_gate_out_markdown), "| `count` | **undecided** |");
    out_end(&c);
}

static void expect_told(out_case *c, const char *what) {
    const char *xml = out_text(c, cs_gate_out_junit);
    cr_expect_gt(read_junit(xml).failed, 0, "%s: %s", what, xml);
    json_t *sarif = parse(out_text(c, cs_gate_out_sarif));
    cr_expect_gt(json_array_size(json_object_get(json_array_get(json_object_get(sarif, "runs"), 0), "results")), 0,
                 "%s", what);
    json_decref(sarif);
    json_t *issues = parse(out_text(c, cs_gate_out_code_quality));
    cr_expect_gt(json_array_size(issues), 0, "%s", what);
    json_decref(issues);
    cr_expect_gt(count(out_text(c, cs_gate_out_annotations), "::error "), 0, "%s", what);
    HAS_NOT(out_text(c, cs_gate_out_markdown), "countersign gate: passed");
    HAS_NOT(out_text(c, cs_gate_out_text), "gate: passed");
}

/* Whatever a verdict holds that is no pass, each form says so. */
Test(gate_out, no_form_is_silent) {
    out_case c;
    out_begin(&c);
    out_refuse(&c, CS_GATE_SELECTED, CS_CODE_GATE_NOTHING, "no record is one of those");
    expect_told(&c, "nothing");
    out_end(&c);
    out_begin(&c);
    out_leave(&c, CS_GATE_BIND);
    c.verdict.result = CS_UNCHECKED;
    expect_told(&c, "undecided alone");
    out_end(&c);
    out_begin(&c);
    c.verdict.result = c.verdict.sources =
        cs_fail(&c.verdict.err, CS_CODE_ENVELOPE_KEY_UNKNOWN, "an envelope of a key that is not trusted");
    expect_told(&c, "a source");
    HAS(out_text(&c, cs_gate_out_junit), "<testcase classname=\"(gate)\" name=\"sources\" time=\"0\">");
    HAS(out_text(&c, cs_gate_out_junit), "type=\"envelope-key-unknown\"");
    out_end(&c);
    out_begin(&c);
    c.verdict.count = 0;
    c.verdict.result = cs_fail(&c.verdict.err, CS_CODE_POLICY_MALFORMED, "the policy is none");
    expect_told(&c, "no verdict");
    c.verdict.result = CS_OK;
    expect_told(&c, "a pass about nothing");
    c.verdict.err = (cs_error){.code = CS_CODE_OK};
    expect_told(&c, "a pass about nothing, without a word");
    out_end(&c);
}

/* A verdict that is a failure by itself, as when a proof did not refuse: every rule passed, and it is told. */
Test(gate_out, a_weak_proof_is_told) {
    out_case c;
    out_begin(&c);
    (void)cs_fail(&c.verdict.err, CS_CODE_INTERNAL, "one byte is another, and this was not refused");
    c.verdict.result = CS_FAILED;
    const cs_gate_proof proof = {
        .section = 0, .rule = CS_GATE_BIND, .code = CS_CODE_GATE_BIND, .change = "one byte is another"};
    c.report.proofs = &proof;
    c.report.proof_count = 1;
    expect_told(&c, "weak");
    HAS(out_text(&c, cs_gate_out_text), "  bind            gate-bind: one byte is another\n");
    c.report.proved = true;
    HAS(out_text(&c, cs_gate_out_text), "  bind            gate-bind: NOT refused: one byte is another\n");
    json_t *members = cs_gate_out_json(&c.report);
    const json_t *told = json_array_get(json_object_get(members, "proofs"), 0);
    cr_expect(json_is_false(json_object_get(told, "refuses")));
    cr_expect_str_eq(json_string_value(json_object_get(told, "change")), "one byte is another");
    json_decref(members);
    out_end(&c);
}

/* What can't be shown is told, neither as refused nor as let through. */
Test(gate_out, a_proof_that_could_not_be_made) {
    out_case c;
    out_begin(&c);
    cs_gate_proof proof = {.section = CS_GATE_OF_SOURCES,
                           .code = CS_CODE_ENVELOPE_KEY_UNKNOWN,
                           .change = "- was read once",
                           .refuses = true};
    c.report.proofs = &proof;
    c.report.proof_count = 1;
    c.report.proved = true;
    for (unsigned unmade = 0; unmade < 2; unmade++) {
        proof.unmade = unmade != 0;
        HAS(out_text(&c, cs_gate_out_text), unmade != 0
                                                ? "  sources         envelope-key-unknown: not shown: - was read once\n"
                                                : "  sources         envelope-key-unknown: refused: - was read once\n");
        json_t *members = cs_gate_out_json(&c.report);
        const json_t *told = json_array_get(json_object_get(members, "proofs"), 0);
        cr_expect_eq(json_is_null(json_object_get(told, "refuses")), unmade != 0);
        json_decref(members);
    }
    out_end(&c);
}

/* ---- hostile texts
 * --------------------------------------------------------------------------------------------------- */

static void begin_hostile(out_case *c) {
    out_begin(c);
    out_refuse(c, CS_GATE_BIND, CS_CODE_GATE_BIND, OUT_HOSTILE);
    cs_gate_finding *finding = &c->sections[0].findings[CS_GATE_BIND];
    (void)snprintf(finding->wanted, sizeof finding->wanted, "%s", OUT_HOSTILE);
    (void)snprintf(finding->source, sizeof finding->source, "%s", OUT_HOSTILE);
    (void)snprintf(finding->path, sizeof finding->path, "%s", OUT_HOSTILE);
}

/* XML 1.0, section 2.2; expat takes some of what it forbids. */
static void expect_characters(const char *text) {
    for (cs_view rest = cs_view_of(text); rest.len > 0;) {
        uint32_t number = 0;
        size_t len = cs_gate_out_character(rest, &number);
        cr_expect(cs_utf8_valid(cs_view_bytes(rest.ptr, len)), "a byte %02x", rest.ptr[0]);
        cr_expect(number >= 0x20 || number == '\n', "a control %x", (unsigned)number);
        cr_expect(number != 0xfffe && number != 0xffff);
        rest = cs_view_bytes(rest.ptr + len, rest.len - len);
    }
}

Test(gate_out, hostile_texts_in_xml) {
    out_case c;
    begin_hostile(&c);
    const char *xml = out_text(&c, cs_gate_out_junit);
    XML_Parser parser = XML_ParserCreate("UTF-8");
    cr_expect_eq(XML_Parse(parser, xml, (int)strlen(xml), 1), XML_STATUS_OK, "%s", xml);
    XML_ParserFree(parser);
    cr_expect_eq(read_junit(xml).cases, 4);
    cr_expect_eq(read_junit(xml).failed, 1);
    expect_characters(xml);
    HAS(xml, "a|b`c &lt;img src=x&gt; ]]&gt; &amp; &quot;q&quot; &apos;r&apos;");
    HAS(xml, "%0A&#13;&#10;::error::x");
    HAS(xml, "\xef\xbf\xbd\xef\xbf\xbd[2J \xef\xbf\xbd \xef\xbf\xbd \xc3\xa9 \\");
    out_end(&c);
}

Test(gate_out, hostile_texts_in_json) {
    out_case c;
    begin_hostile(&c);
    json_decref(parse(out_text(&c, cs_gate_out_sarif)));
    json_t *issues = parse(out_text(&c, cs_gate_out_code_quality));
    cr_expect_eq(json_array_size(issues), 1);
    json_decref(issues);
    json_t *members = cs_gate_out_json(&c.report);
    cr_assert_not_null(members);
    char *text = json_dumps(members, 0);
    cr_expect(cs_utf8_valid(cs_view_of(text)));
    free(text);
    json_decref(members);
    out_end(&c);
}

/* Each line of a table has its six bars and no other, and outside of code spans stands nothing of a text. */
Test(gate_out, hostile_texts_in_markdown) {
    out_case c;
    begin_hostile(&c);
    char *text = strdup(out_text(&c, cs_gate_out_markdown));
    char *rest = NULL;
    size_t rows = 0;
    for (char *line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] != '|') continue;
        cr_expect_eq(count(line, "|"), 6, "%s", line);
        cr_expect_eq(count(line, "`") % 2, 0, "%s", line);
        bool code = false;
        for (const char *at = line; *at != '\0'; at++) {
            if (*at == '`') code = !code;
            cr_expect(code || strchr("<>&[]()@\\", *at) == NULL, "%c outside of code: %s", *at, line);
            cr_expect(*at < 0 || *at >= 0x20, "a control in: %s", line);
        }
        rows++;
    }
    cr_expect_eq(rows, 4 + 2 * 2);
    cr_expect(cs_utf8_valid(cs_buf_view(&c.out)));
    free(text);
    out_end(&c);
}

Test(gate_out, hostile_texts_in_annotations) {
    out_case c;
    begin_hostile(&c);
    const char *text = out_text(&c, cs_gate_out_annotations);
    cr_expect_eq(count(text, "\n"), 1, "%s", text);
    cr_expect_eq(strncmp(text, "::error file=a|b`c ", 19), 0, "%s", text);
    HAS(text, "(http%3A//x.example) @someone %250A%0D%0A%3A%3Aerror%3A%3Ax ##[add-mask]y");
    HAS(text, ",title=countersign gate%3A tests%3A bind::tests: bind: a|b`c");
    HAS_NOT(text, "\x1b");
    HAS_NOT(text, "\xff");
    out_end(&c);
}

Test(gate_out, hostile_texts_on_a_terminal) {
    out_case c;
    begin_hostile(&c);
    const char *text = out_text(&c, cs_gate_out_text);
    HAS(text, "%0A\\x0d\\x0a::error::x");
    HAS_NOT(text, "\x1b");
    HAS_NOT(text, "\r");
    HAS_NOT(text, "\n::");
    cr_expect(cs_utf8_valid(cs_buf_view(&c.out)));
    char command[] = "a ##[add-mask]b ##[c] ##";
    cs_gate_out_defuse(command, strlen(command));
    cr_expect_str_eq(command, "a ##(add-mask]b ##(c] ##");
    out_end(&c);
}

/* ---- fingerprints
 * ---------------------------------------------------------------------------------------------------- */

static char *fingerprint_of(out_case *c) {
    json_t *issues = parse(out_text(c, cs_gate_out_code_quality));
    char *fingerprint = strdup(json_string_value(json_object_get(json_array_get(issues, 0), "fingerprint")));
    json_decref(issues);
    HAS(out_text(c, cs_gate_out_sarif), fingerprint);
    return fingerprint;
}

/* SHA-256 of "tests\nbind\ngate-bind\n" and of "tests\nbind\ngate-pattern\n". */
#define OF_BIND "649027b2ddc02911c9f6a4836eb9cc0ed2fa395ba3b6c569ab5ddb753092a7ca"
#define OF_PATTERN "9c0df38932ea60e4049d6a9e813d3297fc2fe64ee5af69a6130a20723c494a0b"

Test(gate_out, a_fingerprint_is_of_requirement_rule_and_code) {
    out_case c;
    out_begin(&c);
    out_refuse(&c, CS_GATE_BIND, CS_CODE_GATE_BIND, "src/main.js has other bytes");
    char *one = fingerprint_of(&c);
    cr_expect_str_eq(one, OF_BIND);
    free(one);
    out_refuse(&c, CS_GATE_BIND, CS_CODE_GATE_BIND, "src/other.js has other bytes");
    c.sections[0].findings[CS_GATE_BIND].entry = 99;
    (void)snprintf(c.sections[0].findings[CS_GATE_BIND].path, 32, "src/other.js");
    one = fingerprint_of(&c);
    cr_expect_str_eq(one, OF_BIND);
    free(one);
    c.sections[0].findings[CS_GATE_BIND].code = CS_CODE_GATE_PATTERN;
    one = fingerprint_of(&c);
    cr_expect_str_eq(one, OF_PATTERN);
    free(one);
    out_end(&c);
}

/* ---- many
 * ------------------------------------------------------------------------------------------------------------ */

Test(gate_out, ten_annotations_at_most) {
    out_case c;
    for (unsigned refused = 9; refused <= 12; refused++) {
        out_begin(&c);
        for (unsigned rule = 0; rule < refused; rule++)
            out_refuse(&c, (cs_gate_rule)rule, CS_CODE_GATE_COUNT, "refused");
        const char *text = out_text(&c, cs_gate_out_annotations);
        cr_expect_eq(count(text, "::error "), refused < 10 ? refused : 10, "%u", refused);
        cr_expect_eq(strstr(text, "more rules refuse") != NULL, refused > 10, "%u", refused);
        out_end(&c);
    }
    out_begin(&c);
    for (unsigned rule = 0; rule < 12; rule++)
        out_refuse(&c, (cs_gate_rule)rule, CS_CODE_GATE_COUNT, "refused");
    HAS(out_text(&c, cs_gate_out_annotations), "::error title=countersign gate::and 3 more rules refuse\n");
    out_end(&c);
}

/* A buffer that is too small is no shorter report. */
Test(gate_out, what_does_not_fit_is_no_report) {
    static const form forms[] = {cs_gate_out_text,         cs_gate_out_junit,    cs_gate_out_sarif,
                                 cs_gate_out_code_quality, cs_gate_out_markdown, cs_gate_out_annotations};
    out_case c;
    out_begin(&c);
    out_refuse(&c, CS_GATE_BIND, CS_CODE_GATE_BIND, "src/main.js has other bytes");
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        size_t whole = strlen(out_text(&c, forms[i]));
        for (size_t max = 0; max < whole; max++) {
            cs_buf small = CS_BUF_INIT(max);
            cr_expect_not(forms[i](&c.report, &small), "form %zu, %zu of %zu bytes", i, max, whole);
            cs_buf_free(&small);
        }
        cs_buf fits = CS_BUF_INIT(whole);
        cr_expect(forms[i](&c.report, &fits));
        cs_buf_free(&fits);
    }
    out_end(&c);
}
