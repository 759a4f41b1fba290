#include "report/verdict.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#define TEXT_BYTES 600u
#define ROW_BYTES ((size_t)64 * 1024) /* more than the markup of a row can have */

static cs_result refuse(cs_error *err, const char *what) {
    return cs_fail(err, CS_CODE_INPUT_UNKNOWN, "this is no document that `countersign gate --json` printed: %s", what);
}

static cs_view text_of(const json_t *value) {
    return cs_view_bytes(json_string_value(value), json_string_length(value));
}

static bool is_word(const json_t *object, const char *name, const char *word) {
    const json_t *value = json_object_get(object, name);
    return json_is_string(value) && cs_view_is(text_of(value), word);
}

static bool is_text_or_null(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return value == NULL || json_is_null(value) || json_is_string(value);
}

static bool is_count(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return json_is_integer(value) && json_integer_value(value) >= 0;
}

/* ---- reading it exactly --------------------------------------------------------------------------------- */

static cs_result check_rule(const json_t *rule, bool passed, cs_error *err) {
    bool good = json_is_string(json_object_get(rule, "rule")) && json_is_string(json_object_get(rule, "found")) &&
                json_is_string(json_object_get(rule, "state"));
    static const char *const optional[] = {"wanted", "source", "path", "code"};
    for (size_t i = 0; i < sizeof optional / sizeof optional[0]; i++)
        good = good && is_text_or_null(rule, optional[i]);
    const json_t *entry = json_object_get(rule, "entry");
    good = good && (entry == NULL || json_is_null(entry) || is_count(rule, "entry"));
    if (!good) return refuse(err, "a rule is not of its form");
    if (passed && !is_word(rule, "state", "passed"))
        return refuse(err, "it says that the gate passed, and has a rule that did not");
    return CS_OK;
}

static cs_result check_section(const json_t *section, bool passed, cs_error *err) {
    const json_t *rules = json_object_get(section, "rules");
    if (!json_is_array(rules) || !is_text_or_null(section, "requirement") || !is_count(section, "selected") ||
        !is_count(section, "counted"))
        return refuse(err, "a section is not of its form");
    for (size_t i = 0; i < json_array_size(rules); i++) {
        cs_result result = check_rule(json_array_get(rules, i), passed, err);
        if (result != CS_OK) return result;
    }
    return CS_OK;
}

static size_t count_rules(const json_t *sections) {
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(sections); i++)
        count += json_array_size(json_object_get(json_array_get(sections, i), "rules"));
    return count;
}

static cs_result check_document(const json_t *document, cs_error *err) {
    if (!is_word(document, "command", "gate")) return refuse(err, "its member command is not \"gate\"");
    const json_t *exit = json_object_get(document, "exit");
    if (!json_is_string(json_object_get(document, "verdict")) ||
        !json_is_string(json_object_get(document, "message")) || !json_is_string(json_object_get(document, "code")) ||
        !json_is_integer(exit))
        return refuse(err, "it has no verdict, code, message and exit");
    bool passed = json_integer_value(exit) == 0;
    if (passed != is_word(document, "verdict", "passed") || passed != is_word(document, "code", "ok"))
        return refuse(err, "its verdict, code and exit contradict each other");
    const json_t *sections = json_object_get(document, "sections");
    if (sections != NULL && !json_is_array(sections)) return refuse(err, "its member sections is no list");
    for (size_t i = 0; i < json_array_size(sections); i++) {
        cs_result result = check_section(json_array_get(sections, i), passed, err);
        if (result != CS_OK) return result;
    }
    if (passed && count_rules(sections) == 0) return refuse(err, "it says that the gate passed, and has no rule");
    return CS_OK;
}

/* ---- the table ------------------------------------------------------------------------------------------ */

static void put_member(cs_markup *out, const json_t *object, const char *name) {
    cs_markup_short(out, text_of(json_object_get(object, name)), TEXT_BYTES);
}

static void put_optional(cs_markup *out, const json_t *rule, const char *name, const char *label) {
    if (!json_is_string(json_object_get(rule, name))) return;
    cs_markup_printf(out, "<p><span class=\"k\">%s</span> ", label);
    put_member(out, rule, name);
    const json_t *entry = json_object_get(rule, "entry");
    if (strcmp(name, "source") == 0 && json_is_integer(entry))
        cs_markup_printf(out, ", entry %" JSON_INTEGER_FORMAT, json_integer_value(entry));
    cs_markup_raw(out, "</p>");
}

static void put_rule(cs_markup *out, const json_t *rule) {
    bool passed = is_word(rule, "state", "passed");
    cs_markup_raw(out, "<tr><th scope=\"row\">");
    put_member(out, rule, "rule");
    cs_markup_printf(out, "</th><td data-label=\"State\"><span class=\"tag %s\">",
                     passed                              ? "good"
                     : is_word(rule, "state", "refused") ? "bad"
                                                         : "open");
    put_member(out, rule, "state");
    cs_markup_raw(out, "</span></td><td data-label=\"Found\">");
    put_member(out, rule, "found");
    put_optional(out, rule, "code", "code");
    put_optional(out, rule, "source", "where");
    put_optional(out, rule, "path", "file");
    cs_markup_raw(out, "</td><td data-label=\"Wanted\">");
    if (json_is_string(json_object_get(rule, "wanted")))
        put_member(out, rule, "wanted");
    else
        cs_markup_raw(out, "<span class=\"none\">-</span>");
    cs_markup_raw(out, "</td></tr>\n");
}

static size_t put_section(cs_markup *out, const json_t *section, size_t left) {
    const json_t *rules = json_object_get(section, "rules");
    size_t shown = 0;
    cs_markup_raw(out, "<h3>");
    if (json_is_string(json_object_get(section, "requirement"))) {
        cs_markup_raw(out, "Requirement ");
        put_member(out, section, "requirement");
        cs_markup_printf(out, ": %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " records count",
                         json_integer_value(json_object_get(section, "counted")),
                         json_integer_value(json_object_get(section, "selected")));
    } else {
        cs_markup_raw(out, "The policy as a whole");
    }
    cs_markup_raw(out, "</h3>");
    if (json_array_size(rules) == 0) {
        cs_markup_raw(out, "<p class=\"none\">No rule.</p>");
        return 0;
    }
    cs_markup_raw(out, "<table class=\"wide\"><thead><tr><th scope=\"col\">Rule</th><th scope=\"col\">State</th>"
                       "<th scope=\"col\">Found</th><th scope=\"col\">Wanted</th></tr></thead><tbody>");
    for (; shown < json_array_size(rules) && shown < left && out->buf.len + ROW_BYTES < out->buf.max; shown++)
        put_rule(out, json_array_get(rules, shown));
    cs_markup_raw(out, "</tbody></table>\n");
    return shown;
}

static void put_document(cs_markup *out, const json_t *document) {
    const json_t *sections = json_object_get(document, "sections");
    bool passed = is_word(document, "verdict", "passed");
    size_t shown = 0;
    cs_markup_printf(
        out, "<section id=\"gate\"><h2>Gate</h2><div class=\"verdict %s\"><strong>Gate: ", passed ? "good" : "bad");
    put_member(out, document, "verdict");
    cs_markup_raw(out, "</strong><p><b>");
    put_member(out, document, "code");
    cs_markup_raw(out, "</b>: ");
    put_member(out, document, "message");
    cs_markup_raw(
        out, "</p></div><p class=\"note\">As the file says that was given as the gate's verdict. Nobody signed it, and "
             "this page did not judge again.</p>");
    for (size_t i = 0;
         i < json_array_size(sections) && shown < CS_VERDICT_RULES && out->buf.len + ROW_BYTES < out->buf.max; i++)
        shown += put_section(out, json_array_get(sections, i), CS_VERDICT_RULES - shown);
    size_t all = count_rules(sections);
    if (all == 0) cs_markup_raw(out, "<p class=\"none\">It has no rule: the gate ended before it judged.</p>");
    if (shown < all) cs_markup_printf(out, "<p class=\"cut\">%zu more rules are not shown.</p>", all - shown);
    cs_markup_raw(out, "</section>\n");
}

cs_result cs_verdict_markup(cs_markup *out, cs_view json, cs_error *err) {
    if (json.len == 0 || json.len > CS_VERDICT_MAX_BYTES) return refuse(err, "it is empty or too large");
    json_t *document = json_loadb((const char *)json.ptr, json.len, JSON_REJECT_DUPLICATES, NULL);
    if (document == NULL) return refuse(err, "it is not JSON");
    cs_result result = check_document(document, err);
    if (result == CS_OK) put_document(out, document);
    json_decref(document);
    if (result == CS_OK && out->full)
        return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the gate's verdict");
    return result;
}
