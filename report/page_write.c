#include <inttypes.h>
#include <string.h>

#include "records/text.h"
#include "report/page_parts.h"
#include "report/style.h"

/* ---- head ----------------------------------------------------------------------------------------------- */

static bool put_head(cs_markup *out) {
    CS_AUTO_BUF source = CS_BUF_INIT(128);
    if (!cs_page_style_source(&source) || !cs_buf_byte(&source, '\0')) return false;
    cs_markup_raw(out, "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\"><head>"
                       "<meta charset=\"utf-8\"/>\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                       "'none'; script-src 'none'; img-src 'none'; base-uri 'none'; form-action 'none'; style-src '");
    cs_markup_raw(out, (const char *)source.ptr);
    cs_markup_raw(out, "'\"/>\n<meta name=\"referrer\" content=\"no-referrer\"/>"
                       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
                       "<meta name=\"color-scheme\" content=\"light dark\"/>"
                       "<title>countersign: report</title>\n<style>");
    for (size_t i = 0; cs_page_style[i] != NULL; i++)
        cs_markup_raw(out, cs_page_style[i]);
    cs_markup_raw(out, "</style></head>\n<body>\n<a class=\"skip\" href=\"#entries\">Skip to the entries</a>\n");
    return true;
}

static void put_navigation(cs_markup *out, const cs_page *page) {
    cs_markup_raw(out, "<nav aria-label=\"Parts of the page\"><ul>");
    if (page->gate.buf.len > 0) cs_markup_raw(out, "<li><a href=\"#gate\">Gate</a></li>");
    cs_markup_raw(out, "<li><a href=\"#inputs\">Inputs</a></li><li><a href=\"#findings\">Findings</a></li>"
                       "<li><a href=\"#unsigned\">Unsigned findings</a></li>"
                       "<li><a href=\"#providers\">Same work, other providers</a></li>");
    if (page->counts.verdicts > 0) cs_markup_raw(out, "<li><a href=\"#verdicts\">Kept verdicts</a></li>");
    if (page->cartpole.count > 0) cs_markup_raw(out, "<li><a href=\"#cartpole\">Cart-pole</a></li>");
    cs_markup_raw(out,
                  "<li><a href=\"#entries\">Entries</a></li><li><a href=\"#limits\">What this does not show</a></li>"
                  "</ul></nav>\n");
}

/* ---- verdict -------------------------------------------------------------------------------------------- */

static void put_reason(cs_markup *out, const cs_error *err) {
    cs_markup_printf(out, "<p><b>%s</b>: ", cs_code_name(err->code));
    if (err->where[0] != '\0') {
        cs_markup_short(out, cs_view_of(err->where), sizeof err->where);
        cs_markup_raw(out, ": ");
    }
    cs_markup_text(out, err->message);
    cs_markup_raw(out, "</p>");
}

static void put_contradictions(cs_markup *out, const cs_page_counts *counts) {
    if (counts->contradictions == 0) return;
    cs_markup_printf(out,
                     "<p><span class=\"tag bad\">tier-contradicted</span> %" PRIu64
                     " unsigned finding%s that a daemon's "
                     "claimed tier was refuted: <a href=\"#unsigned\">look there</a>.</p>",
                     counts->contradictions, cs_plural(counts->contradictions, " says", "s say"));
}

static void put_totals(cs_markup *out, const cs_page_counts *counts) {
    const cs_matrix_found *found = &counts->matrix;
    cs_markup_printf(out, "<p>%" PRIu64 " %s; of %" PRIu64 " with a result, the work of %" PRIu64 " failed. ",
                     counts->entries, cs_plural(counts->entries, "entry", "entries"), counts->answered, counts->failed);
    cs_markup_printf(out, "Of %" PRIu64 " %s that ran more than once, %" PRIu64 " gave different results. ",
                     found->compared, cs_plural(found->compared, "work", "works"), found->different);
    cs_markup_printf(out, "%" PRIu64 " unsigned %s.</p>", counts->findings,
                     cs_plural(counts->findings, "finding", "findings"));
}

static void put_keys(cs_markup *out, const cs_trust *trust) {
    cs_markup_raw(out, "<p class=\"size\">Trusted by whoever made this page:");
    for (size_t i = 0; i < trust->count; i++) {
        cs_markup_printf(out, "%s <span class=\"d\">%s</span>", i > 0 ? "," : "", trust->keys[i].key.id);
        if (trust->keys[i].label[0] == '\0') continue;
        cs_markup_raw(out, " (");
        cs_markup_short(out, cs_view_of(trust->keys[i].label), CS_MAX_KEY_LABEL);
        cs_markup_raw(out, ")");
    }
    cs_markup_raw(out, "</p>");
}

/* A contradiction is no failed check, since nobody signed it, and still no reader should see plain green. */
static void put_verified(cs_markup *out, const cs_page_counts *counts) {
    if (counts->contradictions == 0)
        cs_markup_raw(out, "<div class=\"verdict good\"><strong>Verified</strong>");
    else
        cs_markup_raw(out, "<div class=\"verdict open\"><strong>Verified, but a claimed tier is contradicted</strong>");
    cs_markup_raw(out,
                  "<p>Every signature, record and digest passed, with the keys that were named. That says what ran and "
                  "what was stated of it; it does not say that the work succeeded.</p>");
    if (counts->verdicts > 0)
        cs_markup_raw(out, "<p>The verdicts of gates that the ledgers keep are not part of that: <a href=\"#verdicts\">"
                           "each says for itself</a> whether it was checked.</p>");
}

static void put_verdict(cs_markup *out, const cs_page *page, cs_result result, const cs_error *verdict) {
    if (result == CS_OK && page->trust != NULL)
        put_verified(out, &page->counts);
    else if (result == CS_OK)
        cs_markup_raw(out,
                      "<div class=\"verdict open\"><strong>Nothing was verified</strong><p>No trusted key was named, "
                      "so everything below is what the files say of themselves. Name the public key that you trust "
                      "with <code>-p</code>.</p>");
    else if (result == CS_FAILED)
        cs_markup_raw(out, "<div class=\"verdict bad\"><strong>Failed</strong>");
    else
        cs_markup_printf(out, "<div class=\"verdict bad\"><strong>No verdict: %s</strong>", cs_result_word(result));
    if (result != CS_OK) put_reason(out, verdict);
    put_contradictions(out, &page->counts);
    put_totals(out, &page->counts);
    if (page->trust != NULL) put_keys(out, page->trust);
    cs_markup_raw(out, "</div>\n");
}

/* ---- the parts ------------------------------------------------------------------------------------------ */

static void put_inputs(cs_markup *out, const cs_page *page) {
    cs_markup_raw(out,
                  "<section id=\"inputs\"><h2>Inputs</h2><table class=\"wide\"><thead><tr><th scope=\"col\">Input</th>"
                  "<th scope=\"col\">Verdict</th><th scope=\"col\">What is in it</th><th scope=\"col\">Complete?</th>"
                  "<th scope=\"col\">Head</th></tr></thead><tbody>\n");
    cs_markup_add(out, &page->inputs);
    cs_markup_raw(out, "</tbody></table>");
    if (page->inputs_left_out > 0)
        cs_markup_printf(out, "<p class=\"cut\">%" PRIu64 " %s not named here, for want of room.</p>",
                         page->inputs_left_out, cs_plural(page->inputs_left_out, "input is", "inputs are"));
    cs_markup_raw(
        out, "<p class=\"note\">A head noted elsewhere, and given as <code>verify --expect-head</code> later, shows "
             "that nothing up to it was cut off or replaced.</p></section>\n");
}

static void put_faults(cs_markup *out, const cs_page *page) {
    cs_markup_raw(out, "<section id=\"findings\"><h2>Findings of the verification</h2>");
    if (page->trust == NULL)
        cs_markup_raw(out,
                      "<p class=\"none\">Nothing was verified, so nothing could be found. What could not be read is "
                      "told.</p>");
    else if (page->counts.faults == 0)
        cs_markup_raw(out, "<p>No failure and no warning.</p>");
    cs_markup_add(out, &page->faults);
    if (page->counts.faults > page->counts.faults_shown)
        cs_markup_printf(out, "<p class=\"cut\">%" PRIu64 " more %s not shown.</p>",
                         page->counts.faults - page->counts.faults_shown,
                         cs_plural(page->counts.faults - page->counts.faults_shown, "is", "are"));
    cs_markup_raw(out, "</section>\n");
}

static void put_findings(cs_markup *out, const cs_page *page) {
    cs_markup_raw(out, "<section id=\"unsigned\"><h2>Unsigned findings</h2>");
    if (page->counts.findings == 0) {
        cs_markup_raw(out, "<p>There is none.</p></section>\n");
        return;
    }
    cs_markup_raw(
        out, "<div class=\"apart\"><p class=\"note\">Kept apart, since nobody signed them: what failed a check, or got "
             "no believable answer, as whoever wrote the ledger kept it. None of them counts as a run.</p>");
    cs_markup_add(out, &page->findings);
    if (page->counts.findings > page->counts.findings_shown)
        cs_markup_printf(out, "<p class=\"cut\">%" PRIu64 " more %s not shown, for want of room.</p>",
                         page->counts.findings - page->counts.findings_shown,
                         cs_plural(page->counts.findings - page->counts.findings_shown, "is", "are"));
    cs_markup_raw(out, "</div></section>\n");
}

/* Whatever became of them, they have no say in the verdict on the inputs. */
static void put_stated(cs_markup *out, const cs_page *page) {
    if (page->counts.verdicts == 0) return;
    cs_markup_raw(
        out,
        "<section id=\"verdicts\"><h2>Verdicts of gates that the ledgers keep</h2><p class=\"note\">What was "
        "concluded of a commit, and no evidence that anything ran: these have no say in the verdict above, and each "
        "says for itself whether it was checked. A verdict is two statements, its test-result and its summary; both "
        "name the commit and the policy file's digest, and neither the commit that it was compared with nor the "
        "name of that file.</p>");
    cs_markup_add(out, &page->stated);
    if (page->counts.verdicts > page->counts.verdicts_shown)
        cs_markup_printf(out, "<p class=\"cut\">%" PRIu64 " more %s not shown, for want of room.</p>",
                         page->counts.verdicts - page->counts.verdicts_shown,
                         cs_plural(page->counts.verdicts - page->counts.verdicts_shown, "is", "are"));
    cs_markup_raw(out, "</section>\n");
}

/* What the comparison says in short, or that it had too little room. */
static void put_matrix(cs_markup *out, const cs_page *page, const cs_markup *table) {
    const cs_matrix_found *found = &page->counts.matrix;
    cs_markup_raw(out, "<section id=\"providers\"><h2>Same work, other providers</h2>");
    cs_markup_printf(out,
                     "<p>%" PRIu64 " different %s, of which %" PRIu64 " ran more than once: %" PRIu64
                     " with one result, <b>%" PRIu64 " with different ones</b>.</p>",
                     found->works, cs_plural(found->works, "work", "works"), found->compared, found->same,
                     found->different);
    cs_markup_raw(
        out, "<p class=\"note\">Work is the same when its request digest is, without protocol number and floor. A "
             "different result may be chance in the work, or its provider showing: <code>countersign replay</code> "
             "tells them apart, <code>countersign diff</code> where they part.</p>");
    if (table->full)
        cs_markup_raw(out, "<p class=\"cut\">The table does not fit into this page.</p>");
    else
        cs_markup_add(out, table);
    cs_markup_raw(out, "</section>\n");
}

static void put_entries(cs_markup *out, const cs_page *page) {
    cs_markup_raw(
        out,
        "<section id=\"entries\"><h2>Entries</h2>"
        "<p class=\"note\">Unfold an entry to see what ran, behind which wall, and what came back. Characters that "
        "can't be seen, or could mislead, stand in a box like <span class=\"e\">\\u{202e}</span>.</p>");
    cs_markup_add(out, &page->entries);
    if (page->counts.entries > page->counts.shown)
        cs_markup_printf(out,
                         "<p class=\"cut\">%" PRIu64 " of %" PRIu64
                         " %s not shown, for want of room, but counted, compared and verified all the same. "
                         "<code>countersign show</code> shows all.</p>",
                         page->counts.entries - page->counts.shown, page->counts.entries,
                         cs_plural(page->counts.entries, "entry is", "entries are"));
    cs_markup_raw(out, "</section>\n");
}

static void put_limits(cs_markup *out) {
    cs_markup_raw(
        out,
        "<section id=\"limits\"><h2>What this does not show</h2><ul>"
        "<li>A tier is what the daemon states. The cross-check can refute it and never proves it: a daemon that "
        "computes what "
        "the probes would print is only caught from its host, and one that is elsewhere is watched by nobody.</li>"
        "<li>A verified entry says that the record is true: digests, wall as stated, signature. It does not say that "
        "the work "
        "succeeded, or that it was the right work.</li>"
        "<li>An unlinked bundle or a ledger can be cut short at its end without notice. <code>verify --expect</code>, "
        "<code>--expect-count</code> and <code>--expect-head</code> find it, when you know from elsewhere what must be "
        "there.</li>"
        "<li>Unsigned findings are as good as whoever could write the ledger.</li>"
        "<li>A key's window of time is compared with the times that the records themselves state.</li>"
        "<li>This page is a rendering, and carries no signature: whoever can change this file can make it say "
        "anything. What "
        "counts are the inputs, verified with <code>countersign verify</code> and a key that you have from "
        "elsewhere.</li>"
        "</ul></section>\n");
}

static void put_end(cs_markup *out, int64_t now_ms, const char *version) {
    cs_markup_raw(out, "<footer><p class=\"note\">Made ");
    cs_markup_time(out, now_ms);
    cs_markup_raw(out, " by countersign ");
    cs_markup_text(out, version);
    cs_markup_raw(out,
                  ". This page asks for nothing from elsewhere and runs no script.</p></footer>\n</body></html>\n");
}

static void put_body(cs_markup *out, const cs_page *page, const cs_markup *table, cs_result result,
                     const cs_error *verdict) {
    cs_markup_raw(out, "<header><h1>What ran, and what the evidence says</h1></header>\n");
    put_navigation(out, page);
    cs_markup_raw(out, "<main>\n");
    put_verdict(out, page, result, verdict);
    cs_markup_add(out, &page->gate);
    put_inputs(out, page);
    put_faults(out, page);
    put_findings(out, page);
    put_stated(out, page);
    put_matrix(out, page, table);
    cs_cartpole_markup(out, &page->cartpole, page->input > 1);
    put_entries(out, page);
    put_limits(out);
    cs_markup_raw(out, "</main>\n");
}

cs_result cs_page_write(cs_page *page, cs_result result, const cs_error *verdict, int64_t now_ms, const char *version,
                        cs_buf *out, cs_error *err) {
    cs_markup whole;
    cs_markup table;
    cs_markup_begin(&whole, CS_PAGE_MAX);
    cs_markup_begin(&table, CS_PAGE_MAX_PART);
    cs_matrix_markup(&table, &page->matrix, page->input > 1, &page->counts.matrix);
    page->counts.trajectories = page->cartpole.count;
    bool good = put_head(&whole);
    put_body(&whole, page, &table, result, verdict);
    put_end(&whole, now_ms, version);
    good = good && !whole.full && cs_buf_append(out, whole.buf.ptr, whole.buf.len);
    cs_markup_free(&table);
    cs_markup_free(&whole);
    if (!good) return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the page");
    return CS_OK;
}
