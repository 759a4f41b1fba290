/* What GitHub shows of a step: its summary, and annotations. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gate/out_internal.h"
#include "records/text.h"

#define SENTENCE 1024u

/* ---- the summary --------------------------------------------------------------------------------------------- */

/* Everything stands in a code span, in which nothing is a link, a mention, HTML or an emphasis. What could end the span
 * or the cell of the table becomes what looks like it; no backslash escapes it in both. */
static bool add_code(cs_buf *out, const char *text) {
    if (text[0] == '\0') return true;
    if (!cs_buf_byte(out, '`')) return false;
    for (cs_view rest = cs_view_of(text); rest.len > 0;) {
        uint32_t number = 0;
        size_t len = cs_gate_out_character(rest, &number);
        bool good = false;
        if (number == '`')
            good = cs_buf_byte(out, '\'');
        else if (number == '|')
            good = cs_buf_text(out, "\xc2\xa6");
        else if (number < 0x20 || number == 0x7f)
            good = cs_buf_byte(out, ' ');
        else if (number == 0xfffd)
            good = cs_buf_text(out, "\xef\xbf\xbd");
        else
            good = cs_buf_append(out, rest.ptr, len);
        if (!good) return false;
        rest = cs_view_bytes(rest.ptr + len, rest.len - len);
    }
    return cs_buf_byte(out, '`');
}

static bool add_cell(cs_buf *out, const char *text) {
    return cs_buf_byte(out, ' ') && add_code(out, text) && cs_buf_text(out, " |");
}

static bool add_row(cs_buf *out, const cs_gate_item *item) {
    static const char *const marks[] = {[CS_GATE_NOT_ASKED] = "",
                                        [CS_GATE_PASSED] = "passed",
                                        [CS_GATE_REFUSED] = "**refused**",
                                        [CS_GATE_UNDECIDED] = "**undecided**"};
    return cs_buf_byte(out, '|') && add_cell(out, item->rule) && cs_buf_printf(out, " %s |", marks[item->state]) &&
           add_cell(out, item->found) && add_cell(out, item->wanted) && add_cell(out, item->where) &&
           cs_buf_byte(out, '\n');
}

static bool add_table(cs_buf *out, const cs_gate_item *item) {
    return cs_buf_text(out, "\n### ") && add_code(out, item->requirement) &&
           cs_buf_text(out, "\n\n| rule | state | found | wanted | where |\n| --- | --- | --- | --- | --- |\n");
}

static bool add_about(const cs_gate_report *report, cs_buf *out) {
    CS_AUTO_BUF text = CS_BUF_INIT(CS_GATE_OUT_MAX_BYTES);
    for (size_t row = 0; row < CS_GATE_ABOUT_ROWS; row++)
        if (!cs_buf_printf(out, "- %s: ", cs_gate_about_labels[row]) || !cs_gate_about_row(report, row, &text) ||
            !add_code(out, (const char *)text.ptr) || !cs_buf_byte(out, '\n'))
            return false;
    return cs_buf_byte(out, '\n');
}

bool cs_gate_out_markdown(const cs_gate_report *report, cs_buf *out) {
    cs_gate_counts counts = cs_gate_out_count(report);
    if (!cs_buf_printf(out, "## countersign gate: %s\n\n", cs_gate_verdict_word(report->verdict)) ||
        !add_about(report, out) ||
        !cs_buf_printf(out, "%zu %s, %zu refused, %zu undecided; %" PRIu64 " %s\n", counts.rules,
                       cs_plural(counts.rules, "rule", "rules"), counts.refused, counts.undecided,
                       report->verdict->records, cs_plural(report->verdict->records, "record", "records")))
        return false;
    cs_gate_item item;
    size_t section = 0;
    bool first = true;
    for (size_t at = 0; cs_gate_item_next(report, &at, &item); first = false) {
        if ((first || item.section != section) && !add_table(out, &item)) return false;
        section = item.section;
        if (!add_row(out, &item)) return false;
    }
    return cs_buf_byte(out, '\n');
}

/* ---- annotations --------------------------------------------------------------------------------------------- */

/* `property`: also what ends one. */
static bool add_escaped(cs_buf *out, const char *text, bool property) {
    for (cs_view rest = cs_view_of(text); rest.len > 0;) {
        uint32_t number = 0;
        size_t len = cs_gate_out_character(rest, &number);
        bool special =
            number == '%' || number == '\r' || number == '\n' || (property && (number == ':' || number == ','));
        bool good = false;
        if (special)
            good = cs_buf_printf(out, "%%%02X", (unsigned)number);
        else if (number == 0xfffd || number < 0x20 || number == 0x7f)
            good = cs_buf_text(out, "\xef\xbf\xbd");
        else
            good = cs_buf_append(out, rest.ptr, len);
        if (!good) return false;
        rest = cs_view_bytes(rest.ptr + len, rest.len - len);
    }
    return true;
}

static bool add_annotation(cs_buf *out, const cs_gate_item *item) {
    char sentence[SENTENCE];
    char title[160];
    cs_gate_item_sentence(item, sentence, sizeof sentence);
    (void)snprintf(title, sizeof title, "countersign gate: %s: %s", item->requirement, item->rule);
    cs_gate_out_defuse(sentence, strlen(sentence));
    if (!cs_buf_text(out, "::error ")) return false;
    if (item->path[0] != '\0' &&
        (!cs_buf_text(out, "file=") || !add_escaped(out, item->path, true) || !cs_buf_byte(out, ',')))
        return false;
    return cs_buf_text(out, "title=") && add_escaped(out, title, true) && cs_buf_text(out, "::") &&
           add_escaped(out, sentence, false) && cs_buf_byte(out, '\n');
}

static size_t count_told(const cs_gate_report *report) {
    size_t count = 0;
    cs_gate_item item;
    for (size_t at = 0; cs_gate_item_next(report, &at, &item);)
        if (cs_gate_item_is_told(report, &item)) count++;
    return count;
}

/* When there are more than are shown, the last one says so. */
bool cs_gate_out_annotations(const cs_gate_report *report, cs_buf *out) {
    size_t count = count_told(report);
    size_t room = count <= CS_GATE_OUT_MAX_ANNOTATIONS ? count : CS_GATE_OUT_MAX_ANNOTATIONS - 1;
    size_t shown = 0;
    cs_gate_item item;
    for (size_t at = 0; shown < room && cs_gate_item_next(report, &at, &item);) {
        if (!cs_gate_item_is_told(report, &item)) continue;
        if (!add_annotation(out, &item)) return false;
        shown++;
    }
    return shown == count || cs_buf_printf(out, "::error title=countersign gate::and %zu more %s\n", count - shown,
                                           cs_plural(count - shown, "rule refuses", "rules refuse"));
}
