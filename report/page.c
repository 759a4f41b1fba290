#include "report/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "records/success.h"
#include "records/text.h"
#include "report/page_parts.h"
#include "report/verdict.h"

#define INPUT_NAME 300u

static const char contradicted[] = "tier-contradicted";

cs_page *cs_page_new(const cs_trust *trust) {
    cs_page *page = calloc(1, sizeof *page);
    if (page == NULL) return NULL;
    page->trust = trust;
    cs_markup_begin(&page->inputs, CS_PAGE_MAX_PART);
    cs_markup_begin(&page->entries, CS_PAGE_MAX_ENTRIES + CS_PAGE_MAX_WARNINGS);
    cs_markup_begin(&page->findings, CS_PAGE_MAX_PART);
    cs_markup_begin(&page->faults, CS_PAGE_MAX_PART);
    cs_markup_begin(&page->gate, CS_PAGE_MAX_PART);
    cs_markup_begin(&page->stated, CS_PAGE_MAX_PART);
    cs_markup_begin(&page->one, CS_PAGE_ENTRY_MARKUP);
    return page;
}

void cs_page_free(cs_page *page) {
    if (page == NULL) return;
    cs_markup_free(&page->inputs);
    cs_markup_free(&page->entries);
    cs_markup_free(&page->findings);
    cs_markup_free(&page->faults);
    cs_markup_free(&page->gate);
    cs_markup_free(&page->stated);
    cs_markup_free(&page->one);
    cs_matrix_free(&page->matrix);
    cs_cartpole_free(&page->cartpole);
    free(page);
}

const cs_page_counts *cs_page_told(const cs_page *page) {
    return &page->counts;
}

/* ---- entries -------------------------------------------------------------------------------------------- */

bool cs_page_place(cs_page *page, cs_markup *to) {
    size_t max = to == &page->entries ? CS_PAGE_MAX_ENTRIES : to->buf.max;
    bool fits = !page->one.full && !to->full && to->buf.len + page->one.buf.len <= max;
    if (fits) cs_markup_add(to, &page->one);
    cs_buf_clear(&page->one.buf);
    page->one.full = false;
    return fits && !to->full;
}

static void put_input_name(cs_markup *out, size_t input, cs_view name) {
    cs_markup_printf(out, "<h3>Input %zu: ", input);
    cs_markup_short(out, name, INPUT_NAME);
    cs_markup_raw(out, "</h3>\n");
}

/* Of the entries behind this anchor none has a place any more, so that no link may lead to one. */
static void end_entries(cs_page *page, uint64_t last) {
    if (page->entries_full) return;
    page->entries_full = true;
    page->matrix.cut = page->cartpole.cut = true;
    page->matrix.places = page->cartpole.places = last;
}

void cs_page_input_begin(cs_page *page, cs_view name) {
    page->input++;
    page->name = name;
    page->shown_before = page->counts.shown;
    page->named_finding = false;
    page->named_stated = false;
    page->named_fault = false;
    put_input_name(&page->one, page->input, name);
    page->named_entries = cs_page_place(page, &page->entries);
    if (!page->named_entries) end_entries(page, page->anchor);
    page->entries_at = page->entries.buf.len;
}

static void add_finding(cs_page *page, const cs_page_entry *entry) {
    page->counts.findings++;
    if (entry->entry->row != NULL && cs_view_is(entry->entry->row->code, contradicted)) page->counts.contradictions++;
    if (page->findings_full) return;
    if (!page->named_finding) put_input_name(&page->one, page->input, page->name);
    cs_entry_markup(&page->one, entry, ++page->anchor);
    page->findings_full = !cs_page_place(page, &page->findings);
    if (page->findings_full) return;
    page->named_finding = true;
    page->counts.findings_shown++;
}

/* One that is too large alone leaves a place for the others; when all of them are, nothing more is shown. */
static void add_signed(cs_page *page, const cs_page_entry *entry) {
    page->counts.entries++;
    page->anchor++;
    if (page->entries_full) return;
    cs_entry_markup(&page->one, entry, page->anchor);
    bool alone = page->one.full;
    if (cs_page_place(page, &page->entries)) {
        page->counts.shown++;
        return;
    }
    cs_markup_printf(&page->one,
                     "<p class=\"cut\" id=\"entry-%" PRIu64 "\">Entry %" PRIu64 " does not fit into this page.</p>",
                     page->anchor, entry->entry->number);
    if (!alone || !cs_page_place(page, &page->entries)) end_entries(page, page->anchor - 1);
    cs_buf_clear(&page->one.buf);
}

cs_result cs_page_entry_add(cs_page *page, const cs_page_entry *entry, cs_error *err) {
    if (entry->entry->finding) {
        add_finding(page, entry);
        return CS_OK;
    }
    add_signed(page, entry);
    if (entry->request != NULL && entry->response != NULL) {
        page->counts.answered++;
        if (cs_work_succeeded(entry->request, entry->response, NULL) != CS_OK) page->counts.failed++;
    }
    cs_result result = cs_matrix_see(&page->matrix, entry, page->input, page->anchor, err);
    if (result == CS_OK) result = cs_cartpole_see(&page->cartpole, entry, page->input, page->anchor, err);
    return result;
}

void cs_page_stated_add(cs_page *page, const cs_page_stated *stated) {
    if (page->stated_full) return;
    if (!page->named_stated) put_input_name(&page->one, page->input, page->name);
    cs_stated_markup(&page->one, stated);
    page->stated_full = !cs_page_place(page, &page->stated);
    if (page->stated_full) return;
    page->named_stated = true;
    page->counts.verdicts_shown++;
}

/* ---- faults --------------------------------------------------------------------------------------------- */

static void put_difference(cs_markup *out, const cs_error *err) {
    if (err->expected[0] == '\0' && err->found[0] == '\0') return;
    cs_markup_raw(out, "<br/><span class=\"k\">expected</span> ");
    cs_markup_short(out, cs_view_of(err->expected), sizeof err->expected);
    cs_markup_raw(out, " <span class=\"k\">found</span> ");
    cs_markup_short(out, cs_view_of(err->found), sizeof err->found);
}

void cs_page_fault(cs_page *page, const cs_finding *fault) {
    page->counts.faults++;
    if (page->counts.faults > CS_PAGE_FAULTS) return;
    cs_markup *out = &page->one;
    if (!page->named_fault) put_input_name(out, page->input, page->name);
    cs_markup_printf(out, "<p><span class=\"tag %s\">%s</span> <b>%s</b> ", fault->warning ? "open" : "bad",
                     fault->warning ? "warning" : "failure", cs_code_name(fault->err->code));
    if (fault->err->where[0] != '\0') {
        cs_markup_short(out, cs_view_of(fault->err->where), sizeof fault->err->where);
        cs_markup_raw(out, ": ");
    }
    cs_markup_text(out, fault->err->message);
    put_difference(out, fault->err);
    cs_markup_raw(out, "</p>\n");
    if (!cs_page_place(page, &page->faults)) return;
    page->named_fault = true;
    page->counts.faults_shown++;
}

/* ---- the end of an input -------------------------------------------------------------------------------- */

static void put_verdict(cs_markup *out, const cs_page *page, const cs_page_outcome *outcome) {
    if (page->trust == NULL && outcome->result == CS_OK)
        cs_markup_raw(out, "<span class=\"tag open\">not checked</span>");
    else
        cs_markup_printf(out, "<span class=\"tag %s\">%s</span>", outcome->result == CS_OK ? "good" : "bad",
                         cs_result_word(outcome->result));
    if (outcome->result == CS_OK || outcome->err == NULL) return;
    cs_markup_printf(out, " <b>%s</b> ", cs_code_name(outcome->err->code));
    if (outcome->err->where[0] != '\0') {
        cs_markup_short(out, cs_view_of(outcome->err->where), sizeof outcome->err->where);
        cs_markup_raw(out, ": ");
    }
    cs_markup_text(out, outcome->err->message);
}

static void put_complete(cs_markup *out, const cs_page_outcome *outcome) {
    const cs_verify_summary *summary = outcome->summary;
    if (summary == NULL || outcome->result != CS_OK)
        cs_markup_raw(out, "not determined");
    else if (summary->linked)
        cs_markup_raw(out, "its lines are linked, and nothing is missing before its checkpoint");
    else if (outcome->kind == CS_SOURCE_LEDGER)
        cs_markup_raw(out, "nothing shows that this is all: rows cut off at the end leave no trace");
    else
        cs_markup_raw(out, "nothing shows that this is all: its lines are not linked");
}

static void put_counts(cs_markup *out, const cs_page_outcome *outcome) {
    const cs_verify_summary *summary = outcome->summary;
    cs_markup_printf(out, "%" PRIu64 " %s", outcome->entries, cs_plural(outcome->entries, "entry", "entries"));
    if (outcome->verdicts > 0)
        cs_markup_printf(out, ", of them %" PRIu64 " %s, no evidence of a run", outcome->verdicts,
                         cs_plural(outcome->verdicts, "statement of a verdict", "statements of verdicts"));
    if (summary == NULL) return;
    cs_markup_printf(out, ", %" PRIu64 " %s verified", summary->runs, cs_plural(summary->runs, "run", "runs"));
    if (summary->unanswered > 0)
        cs_markup_printf(out, " (%" PRIu64 " of them %s without an answer)", summary->unanswered,
                         cs_plural(summary->unanswered, "a call", "calls"));
    if (summary->sessions > 0)
        cs_markup_printf(out, ", %" PRIu64 " %s closed", summary->sessions,
                         cs_plural(summary->sessions, "session", "sessions"));
    if (summary->duplicates > 0)
        cs_markup_printf(out, ", %" PRIu64 " %s", summary->duplicates,
                         cs_plural(summary->duplicates, "duplicate", "duplicates"));
    if (summary->findings > 0)
        cs_markup_printf(out, ", %" PRIu64 " unsigned %s", summary->findings,
                         cs_plural(summary->findings, "finding", "findings"));
    cs_markup_printf(out, ", %" PRIu64 " %s, %" PRIu64 " %s", summary->failures,
                     cs_plural(summary->failures, "failure", "failures"), summary->warnings,
                     cs_plural(summary->warnings, "warning", "warnings"));
}

static void put_input(cs_page *page, const cs_page_outcome *outcome) {
    cs_markup *out = &page->one;
    const cs_verify_summary *summary = outcome->summary;
    cs_markup_printf(out, "<tr><th scope=\"row\">%zu. ", page->input);
    cs_markup_short(out, page->name, INPUT_NAME);
    cs_markup_printf(out, "<br/><span class=\"size\">%s</span></th><td data-label=\"Verdict\">",
                     !outcome->opened                    ? "not read"
                     : outcome->kind == CS_SOURCE_LEDGER ? "ledger"
                                                         : "bundle");
    put_verdict(out, page, outcome);
    cs_markup_raw(out, "</td><td data-label=\"What is in it\">");
    put_counts(out, outcome);
    cs_markup_raw(out, "</td><td data-label=\"Complete?\">");
    put_complete(out, outcome);
    cs_markup_raw(out, "</td><td data-label=\"Head\">");
    if (summary != NULL && outcome->result == CS_OK && summary->head.hex[0] != '\0')
        cs_markup_printf(out, "<span class=\"d\">%s</span>", summary->head.hex);
    else
        cs_markup_raw(out, "<span class=\"none\">none</span>");
    cs_markup_raw(out, "</td></tr>\n");
}

/* Above its entries, where it is read first. Without its heading it would be read as one of the input before. */
static void put_warning(cs_page *page, const cs_page_outcome *outcome) {
    if (!page->named_entries) return;
    if (page->counts.shown == page->shown_before) {
        cs_markup_raw(&page->one, "<p class=\"none\">No entry is shown.</p>");
    } else if (page->trust != NULL && outcome->result != CS_OK) {
        cs_markup_raw(&page->one,
                      "<p class=\"verdict bad\">This input did not pass. Each entry here passed by itself; those "
                      "that failed are named under Findings and not shown, since nothing in them can be "
                      "believed.</p>");
    }
    if (page->entries.buf.len + page->one.buf.len <= page->entries.buf.max)
        cs_markup_insert(&page->entries, page->entries_at, &page->one);
    cs_buf_clear(&page->one.buf);
}

void cs_page_input_end(cs_page *page, const cs_page_outcome *outcome) {
    page->counts.verdicts += outcome->verdicts;
    put_input(page, outcome);
    if (!cs_page_place(page, &page->inputs)) page->inputs_left_out++;
    put_warning(page, outcome);
}

cs_result cs_page_gate(cs_page *page, cs_view json, cs_error *err) {
    cs_result result = cs_verdict_markup(&page->gate, json, err);
    page->counts.gate = result == CS_OK;
    return result;
}
