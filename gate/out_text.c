/* A verdict for a terminal. */
#include <inttypes.h>

#include "gate/out_internal.h"
#include "records/text.h"

#define INDENT "                               "

/* Every text of a verdict is escaped, once more: a line can't be broken or a terminal steered by what is in it. */
static bool add_line(cs_buf *out, const char *before, const char *text) {
    return cs_buf_text(out, before) && cs_escape_append(out, cs_view_of(text), false) && cs_buf_byte(out, '\n');
}

/* Before all else, and whatever came of it. */
static bool add_about(const cs_gate_report *report, cs_buf *out) {
    CS_AUTO_BUF text = CS_BUF_INIT(CS_GATE_OUT_MAX_BYTES);
    for (size_t row = 0; row < CS_GATE_ABOUT_ROWS; row++)
        if (!cs_buf_printf(out, "%s: ", cs_gate_about_labels[row]) || !cs_gate_about_row(report, row, &text) ||
            !add_line(out, "", (const char *)text.ptr))
            return false;
    return true;
}

static bool add_item(cs_buf *out, const cs_gate_item *item) {
    if (!cs_buf_printf(out, "  %-15s %-9s    ", item->rule, cs_gate_state_word(item->state))) return false;
    if (!add_line(out, "", item->found)) return false;
    if (item->wanted[0] != '\0' && !add_line(out, INDENT "wanted: ", item->wanted)) return false;
    if (item->where[0] != '\0' && !add_line(out, INDENT "where: ", item->where)) return false;
    if (item->state != CS_GATE_REFUSED) return true;
    return add_line(out, INDENT "code: ", cs_code_name(item->code));
}

static bool add_heading(const cs_gate_report *report, const cs_gate_item *item, cs_buf *out) {
    if (item->section == SIZE_MAX) return cs_buf_text(out, "before any requirement\n");
    const cs_gate_section *section = &report->verdict->sections[item->section];
    bool good = section->requirement == NULL
                    ? cs_buf_text(out, "the policy as a whole\n")
                    : cs_buf_printf(out, "requirement %s: %" PRIu64 " of %" PRIu64 " %s\n", section->requirement->name,
                                    section->counted, section->selected,
                                    cs_plural(section->selected, "record counts", "records count"));
    return good && cs_buf_text(out, "  RULE            STATE        FOUND\n");
}

static bool add_proofs(const cs_gate_report *report, size_t section, cs_buf *out) {
    bool heading = false;
    for (size_t i = 0; i < report->proof_count; i++) {
        const cs_gate_proof *proof = &report->proofs[i];
        if (proof->section != section) continue;
        if (!heading && !cs_buf_text(out, "  What would be refused:\n")) return false;
        heading = true;
        const char *outcome = proof->unmade     ? ": not shown"
                              : !report->proved ? ""
                              : proof->refuses  ? ": refused"
                                                : ": NOT refused";
        if (!cs_buf_printf(out, "  %-15s %s%s: ", cs_gate_proof_word(proof), cs_code_name(proof->code), outcome) ||
            !add_line(out, "", proof->change))
            return false;
    }
    return true;
}

static bool add_proofs_of_sources(const cs_gate_report *report, cs_buf *out) {
    bool any = false;
    for (size_t i = 0; i < report->proof_count; i++)
        any = any || report->proofs[i].section == CS_GATE_OF_SOURCES;
    return !any || (cs_buf_text(out, "the inputs\n") && add_proofs(report, CS_GATE_OF_SOURCES, out));
}

static bool add_verdict(const cs_gate_report *report, cs_buf *out) {
    const cs_gate_verdict *verdict = report->verdict;
    cs_gate_counts counts = cs_gate_out_count(report);
    size_t requirements = verdict->count > 0 ? verdict->count - 1 : 0;
    if (verdict->verdicts > 0 &&
        !cs_buf_printf(
            out, "passed over: %" PRIu64 " %s: not evidence, not checked\n", verdict->verdicts,
            cs_plural(verdict->verdicts, "statement of an earlier verdict", "statements of earlier verdicts")))
        return false;
    return cs_buf_printf(out, "gate: %s: %zu %s, %" PRIu64 " distinct %s; of %zu %s %zu refused and %zu undecided\n",
                         cs_gate_verdict_word(verdict), requirements,
                         cs_plural(requirements, "requirement", "requirements"), verdict->records,
                         cs_plural(verdict->records, "record", "records"), counts.rules,
                         cs_plural(counts.rules, "rule", "rules"), counts.refused, counts.undecided);
}

bool cs_gate_out_text(const cs_gate_report *report, cs_buf *out) {
    cs_gate_item item;
    size_t section = SIZE_MAX;
    bool first = true;
    if (!add_about(report, out)) return false;
    for (size_t at = 0; cs_gate_item_next(report, &at, &item);) {
        if (first || item.section != section) {
            if (!first && section != SIZE_MAX && !add_proofs(report, section, out)) return false;
            if (!add_heading(report, &item, out)) return false;
        }
        first = false;
        section = item.section;
        if (!add_item(out, &item)) return false;
    }
    if (!first && section != SIZE_MAX && !add_proofs(report, section, out)) return false;
    return add_proofs_of_sources(report, out) && add_verdict(report, out);
}
