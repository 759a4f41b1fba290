/* A verdict for a terminal. */
#include <inttypes.h>

#include "gate/out_internal.h"
#include "records/text.h"

#define INDENT "                               "

/* Every text of a verdict is escaped, once more: a line can't be broken or a terminal steered by what is in it. */
static bool add_line(cs_buf *out, const char *before, const char *text) {
    return cs_buf_text(out, before) && cs_escape_append(out, cs_view_of(text), false) && cs_buf_byte(out, '\n');
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
                    : cs_buf_printf(out, "requirement %s: %" PRIu64 " of %" PRIu64 " records count\n",
                                    section->requirement->name, section->counted, section->selected);
    return good && cs_buf_text(out, "  RULE            STATE        FOUND\n");
}

static bool add_proofs(const cs_gate_report *report, size_t section, cs_buf *out) {
    bool heading = false;
    for (size_t i = 0; i < report->proof_count; i++) {
        const cs_gate_proof *proof = &report->proofs[i];
        if (proof->section != section) continue;
        if (!heading && !cs_buf_text(out, "  What would be refused:\n")) return false;
        heading = true;
        const char *outcome = !report->proved ? "" : proof->refuses ? ": refused" : ": NOT refused";
        if (!cs_buf_printf(out, "  %-15s %s%s: ", cs_gate_rule_word(proof->rule), cs_code_name(proof->code), outcome) ||
            !add_line(out, "", proof->change))
            return false;
    }
    return true;
}

static bool add_verdict(const cs_gate_report *report, cs_buf *out) {
    const cs_gate_verdict *verdict = report->verdict;
    cs_gate_counts counts = cs_gate_out_count(report);
    size_t requirements = verdict->count > 0 ? verdict->count - 1 : 0;
    if (verdict->verdicts > 0 &&
        !cs_buf_printf(out, "passed over: %" PRIu64 " statements of earlier verdicts: not evidence, not checked\n",
                       verdict->verdicts))
        return false;
    return cs_buf_printf(
        out, "gate: %s: %zu requirements, %" PRIu64 " distinct records; of %zu rules %zu refused and %zu undecided\n",
        cs_gate_verdict_word(verdict), requirements, verdict->records, counts.rules, counts.refused, counts.undecided);
}

bool cs_gate_out_text(const cs_gate_report *report, cs_buf *out) {
    cs_gate_item item;
    size_t section = SIZE_MAX;
    bool first = true;
    for (size_t at = 0; cs_gate_item_next(report, &at, &item);) {
        if (first || item.section != section) {
            if (!first && !add_proofs(report, section, out)) return false;
            if (!add_heading(report, &item, out)) return false;
        }
        first = false;
        section = item.section;
        if (!add_item(out, &item)) return false;
    }
    return (first || add_proofs(report, section, out)) && add_verdict(report, out);
}
