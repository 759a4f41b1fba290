#include "report/verdict.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "records/text.h"

#define SHA1_HEX 40u
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

/* A commit has an id of SHA-1 or SHA-256. */
static bool is_commit_or_null(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    if (value == NULL || json_is_null(value)) return true;
    return json_is_string(value) && (cs_is_hex(text_of(value), SHA1_HEX) || cs_is_hex(text_of(value), CS_SHA256_HEX));
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
    good = good && (is_word(rule, "state", "passed") || is_word(rule, "state", "refused") ||
                    is_word(rule, "state", "undecided"));
    if (!good) return refuse(err, "a rule is not of its form");
    if (passed && !is_word(rule, "state", "passed"))
        return refuse(err, "it says that the gate passed, and has a rule that did not");
    return CS_OK;
}

/* Of those that a requirement is about some count. */
static bool are_counts(const json_t *section) {
    return is_count(section, "selected") && is_count(section, "counted") &&
           json_integer_value(json_object_get(section, "counted")) <=
               json_integer_value(json_object_get(section, "selected"));
}

static cs_result check_section(const json_t *section, bool passed, cs_error *err) {
    const json_t *rules = json_object_get(section, "rules");
    if (!json_is_array(rules) || !is_text_or_null(section, "requirement") || !are_counts(section))
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

/* What it is about. A gate that ended before it judged says nothing of it, nor has every gate said all of it. */
static cs_result check_about(const json_t *document, cs_error *err) {
    const json_t *policy = json_object_get(document, "policy");
    const json_t *repository = json_object_get(document, "repository");
    if (!is_commit_or_null(document, "rev") || !is_commit_or_null(document, "base"))
        return refuse(err, "a commit has no id of its form");
    if (policy != NULL &&
        (!json_is_string(json_object_get(policy, "file")) || !json_is_string(json_object_get(policy, "sha256")) ||
         !cs_is_hex(text_of(json_object_get(policy, "sha256")), CS_SHA256_HEX) || !is_commit_or_null(policy, "commit")))
        return refuse(err, "its policy is not of its form");
    if (repository != NULL && !json_is_null(repository) &&
        (!json_is_object(repository) || !is_text_or_null(repository, "work_tree") ||
         !is_text_or_null(repository, "git_directory")))
        return refuse(err, "its repository is not of its form");
    return CS_OK;
}

static bool contradicts_pass(const json_t *document) {
    const json_t *refusals = json_object_get(document, "refusals");
    const json_t *verified = json_object_get(document, "sources_verified");
    return (refusals != NULL && (!json_is_integer(refusals) || json_integer_value(refusals) != 0)) ||
           (verified != NULL && !json_is_true(verified));
}

static cs_result check_document(const json_t *document, cs_error *err) {
    if (!is_word(document, "command", "gate")) return refuse(err, "its member command is not \"gate\"");
    const json_t *exit = json_object_get(document, "exit");
    if (!json_is_string(json_object_get(document, "verdict")) ||
        !json_is_string(json_object_get(document, "message")) || !json_is_string(json_object_get(document, "code")) ||
        !json_is_integer(exit))
        return refuse(err, "it has no verdict, code, message and exit");
    json_int_t number = json_integer_value(exit);
    bool passed = number == 0;
    if (number < 0 || number > CS_NOTHING || !is_word(document, "verdict", cs_result_word((cs_result)number)) ||
        passed != is_word(document, "code", "ok"))
        return refuse(err, "its verdict, code and exit contradict each other");
    if (passed && contradicts_pass(document))
        return refuse(err, "it says that the gate passed, and that something was refused or not verified");
    cs_result about = check_about(document, err);
    if (about != CS_OK) return about;
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
    json_int_t counted = json_integer_value(json_object_get(section, "counted"));
    json_int_t selected = json_integer_value(json_object_get(section, "selected"));
    size_t shown = 0;
    cs_markup_raw(out, "<h3>");
    if (json_is_string(json_object_get(section, "requirement"))) {
        cs_markup_raw(out, "Requirement ");
        put_member(out, section, "requirement");
        cs_markup_printf(out, ": %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " %s", counted, selected,
                         selected == 1 ? "record counts" : "records count");
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

/* ---- what it is about ----------------------------------------------------------------------------------- */

/* A text; null when there was none, and not there when the file says nothing of it. */
static void put_fact(cs_markup *out, const char *label, const json_t *object, const char *name, const char *none) {
    const json_t *value = json_object_get(object, name);
    if (json_is_string(value))
        cs_markup_fact(out, label, text_of(value), TEXT_BYTES);
    else
        cs_markup_printf(out, "<div><dt>%s</dt><dd><span class=\"none\">%s</span></dd></div>", label,
                         value != NULL ? none : "the file does not say");
}

static void put_about(cs_markup *out, const json_t *document) {
    const json_t *policy = json_object_get(document, "policy");
    const json_t *repository = json_object_get(document, "repository");
    cs_markup_raw(out, "<dl>");
    put_fact(out, "Commit", document, "rev", "none was named");
    put_fact(out, "Compared with the base", document, "base", "none was named");
    put_fact(out, "Policy", policy, "file", "");
    put_fact(out, "Policy SHA-256", policy, "sha256", "");
    put_fact(out, "Policy, read from the commit", policy, "commit", "none: it was read as a file");
    if (json_is_object(repository)) {
        put_fact(out, "Work tree", repository, "work_tree", "none: the repository is bare");
        put_fact(out, "Git directory", repository, "git_directory", "none");
    }
    cs_markup_raw(out, "</dl>");
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
    put_about(out, document);
    for (size_t i = 0;
         i < json_array_size(sections) && shown < CS_VERDICT_RULES && out->buf.len + ROW_BYTES < out->buf.max; i++)
        shown += put_section(out, json_array_get(sections, i), CS_VERDICT_RULES - shown);
    size_t all = count_rules(sections);
    if (all == 0) cs_markup_raw(out, "<p class=\"none\">It has no rule: the gate ended before it judged.</p>");
    if (shown < all)
        cs_markup_printf(out, "<p class=\"cut\">%zu more %s not shown.</p>", all - shown,
                         cs_plural(all - shown, "rule is", "rules are"));
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
