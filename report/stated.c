#include "report/stated.h"

#include <inttypes.h>

#include "records/text.h"

#define NAME_BYTES 600u /* of an address */
#define RULES 100u      /* shown of each list, and of what a verdict rests on */

static const char *word_of(const cs_read_verdict *read) {
    return read->kind == CS_VERDICT_SUMMARY ? "summary" : "test-result";
}

/* As a rule the gate's key is not that of the runs, so that it need not be among the trusted ones. */
static void put_standing(cs_markup *out, const cs_page_stated *stated) {
    if (stated->read == NULL)
        cs_markup_raw(out, "<span class=\"tag bad\">unreadable</span> ");
    else if (!stated->checked)
        cs_markup_raw(out, "<span class=\"tag open\">not checked</span> ");
    else if (stated->err != NULL && stated->err->code == CS_CODE_ENVELOPE_KEY_UNKNOWN)
        cs_markup_raw(out, "<span class=\"tag open\">not checked: its key is not trusted here</span> ");
    else if (stated->err != NULL)
        cs_markup_printf(out, "<span class=\"tag bad\">%s</span> ",
                         cs_code_class(stated->err->code) == CS_FAILED ? "failed" : "could not be checked");
    else if (stated->timeless)
        cs_markup_raw(out, "<span class=\"tag open\">signature verified, time not known</span> ");
    else
        cs_markup_raw(out, "<span class=\"tag good\">verified</span> ");
}

static void put_line(cs_markup *out, const cs_page_stated *stated) {
    cs_markup_printf(out, "<summary><b>%" PRIu64 "</b> ", stated->entry->number);
    put_standing(out, stated);
    if (stated->read != NULL) {
        cs_markup_printf(out, "%s: the gate <b>%s</b> commit ", word_of(stated->read),
                         stated->read->verdict.passed ? "passed" : "refused");
        cs_markup_short(out, cs_view_of(stated->read->verdict.commit), NAME_BYTES);
    } else {
        cs_markup_raw(out, "statement of a verdict");
    }
    cs_markup_raw(out, "</summary>");
}

static void put_fact(cs_markup *out, const char *label, const char *text) {
    cs_markup_fact(out, label, cs_view_of(text), NAME_BYTES);
}

static void put_time(cs_markup *out, const char *label, int64_t unix_ms) {
    cs_markup_printf(out, "<div><dt>%s</dt><dd>", label);
    cs_markup_time(out, unix_ms);
    cs_markup_raw(out, "</dd></div>");
}

static void put_list(cs_markup *out, const char *label, const char *const *items, size_t count) {
    if (count == 0) return;
    cs_markup_printf(out, "<h4>%s</h4><ul>", label);
    for (size_t i = 0; i < count && i < RULES; i++) {
        cs_markup_raw(out, "<li>");
        cs_markup_short(out, cs_view_of(items[i]), NAME_BYTES);
        cs_markup_raw(out, "</li>");
    }
    cs_markup_raw(out, "</ul>");
    if (count > RULES)
        cs_markup_printf(out, "<p class=\"cut\">%zu more %s not shown.</p>", count - RULES,
                         cs_plural(count - RULES, "is", "are"));
}

static void put_facts(cs_markup *out, const cs_read_verdict *read) {
    const cs_stated_verdict *verdict = &read->verdict;
    put_fact(out, "Commit", verdict->commit);
    put_fact(out, "Policy SHA-256", verdict->policy_sha256);
    if (verdict->repository[0] != '\0')
        put_fact(out, "Repository", verdict->repository);
    else
        cs_markup_raw(out, "<div><dt>Repository</dt><dd><span class=\"none\">not named</span></dd></div>");
    if (read->kind == CS_VERDICT_SUMMARY) put_time(out, "Judged", verdict->made_unix_ms);
}

static void put_origin(cs_markup *out, const cs_page_stated *stated) {
    if (stated->entry->row != NULL) put_time(out, "Added to the ledger", stated->entry->row->added_unix_ms);
    if (stated->keyid != NULL) put_fact(out, "Signed by key", stated->keyid);
    if (stated->key_label != NULL && stated->key_label[0] != '\0')
        put_fact(out, "Key, as you call it", stated->key_label);
    if (stated->err != NULL) put_fact(out, "Trouble", stated->err->message);
}

void cs_stated_markup(cs_markup *out, const cs_page_stated *stated) {
    cs_markup_raw(out, "<details class=\"entry\">");
    put_line(out, stated);
    cs_markup_raw(out, "<div class=\"inside\"><dl>");
    if (stated->read != NULL) put_facts(out, stated->read);
    put_origin(out, stated);
    cs_markup_raw(out, "</dl>");
    if (stated->read != NULL) {
        const cs_stated_verdict *verdict = &stated->read->verdict;
        put_list(out, "Rules that failed", verdict->failed_rules.items, verdict->failed_rules.count);
        put_list(out, "Rules that were not judged", verdict->warned_rules.items, verdict->warned_rules.count);
        put_list(out, "Rules that passed", verdict->passed_rules.items, verdict->passed_rules.count);
        put_list(out, "Rests on the envelopes", verdict->inputs, verdict->input_count);
    }
    cs_markup_raw(out, "</div></details>\n");
}
