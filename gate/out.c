/* What is told of a verdict, whatever the form. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/out_internal.h"
#include "records/sha256.h"
#include "records/text.h"

/* ---- items --------------------------------------------------------------------------------------------- */

/* A source that did not verify, and what ended before there was a verdict on the rules, is no rule's matter. A verdict
 * that is no pass has a line that says so in any case. */
static bool is_by_itself(const cs_gate_verdict *verdict) {
    if (verdict->result == CS_OK && verdict->count > 0) return false;
    return verdict->count == 0 || verdict->sources != CS_OK || verdict->refusals == 0;
}

static void item_of_verdict(const cs_gate_verdict *verdict, cs_gate_item *out) {
    bool checked = verdict->result == CS_FAILED || verdict->result == CS_NOTHING;
    bool said = verdict->err.message[0] != '\0';
    *out = (cs_gate_item){.requirement = "(gate)",
                          .rule = verdict->count > 0 && verdict->sources != CS_OK ? "sources" : "verdict",
                          .state = checked ? CS_GATE_REFUSED : CS_GATE_UNDECIDED,
                          .code = verdict->err.code,
                          .found = said ? verdict->err.message : "the gate came to no verdict",
                          .wanted = "a verdict on sources that verify",
                          .path = "",
                          .section = SIZE_MAX};
    (void)snprintf(out->where, sizeof out->where, "%s", verdict->err.where);
}

static void item_of_rule(const cs_gate_section *section, const cs_gate_finding *finding, cs_gate_item *out) {
    *out = (cs_gate_item){.requirement = section->requirement != NULL ? section->requirement->name : "(policy)",
                          .rule = cs_gate_rule_word(finding->rule),
                          .state = finding->state,
                          .code = finding->code,
                          .found = finding->observed,
                          .wanted = finding->wanted,
                          .path = finding->path};
    if (finding->source[0] != '\0')
        (void)snprintf(out->where, sizeof out->where, "%s: entry %" PRIu64, finding->source, finding->entry);
}

bool cs_gate_item_next(const cs_gate_report *report, size_t *at, cs_gate_item *out) {
    const cs_gate_verdict *verdict = report->verdict;
    size_t place = *at;
    if (place == 0 && is_by_itself(verdict)) {
        item_of_verdict(verdict, out);
        *at = 1;
        return true;
    }
    for (place = place > 0 ? place : 1; (place - 1) / CS_GATE_RULES < verdict->count; place++) {
        const cs_gate_section *section = &verdict->sections[(place - 1) / CS_GATE_RULES];
        const cs_gate_finding *finding = &section->findings[(place - 1) % CS_GATE_RULES];
        if (finding->state == CS_GATE_NOT_ASKED) continue;
        item_of_rule(section, finding, out);
        out->section = (place - 1) / CS_GATE_RULES;
        *at = place + 1;
        return true;
    }
    *at = place;
    return false;
}

bool cs_gate_item_is_told(const cs_gate_report *report, const cs_gate_item *item) {
    if (item->state == CS_GATE_REFUSED || item->section == SIZE_MAX) return true;
    return item->state == CS_GATE_UNDECIDED && report->verdict->refusals == 0 && !is_by_itself(report->verdict);
}

cs_gate_counts cs_gate_out_count(const cs_gate_report *report) {
    cs_gate_counts counts = {.rules = 0};
    cs_gate_item item;
    for (size_t at = 0; cs_gate_item_next(report, &at, &item);) {
        counts.rules++;
        if (item.state == CS_GATE_REFUSED) counts.refused++;
        if (item.state == CS_GATE_UNDECIDED) counts.undecided++;
    }
    return counts;
}

/* ---- words ----------------------------------------------------------------------------------------------- */

const char *cs_gate_state_word(cs_gate_state state) {
    switch (state) {
    case CS_GATE_NOT_ASKED:
        return "not-asked";
    case CS_GATE_PASSED:
        return "passed";
    case CS_GATE_REFUSED:
        return "refused";
    case CS_GATE_UNDECIDED:
        break;
    }
    return "undecided";
}

const char *cs_gate_verdict_word(const cs_gate_verdict *verdict) {
    if (verdict->result == CS_OK && verdict->count > 0) return "passed";
    return verdict->result == CS_FAILED || verdict->result == CS_NOTHING ? "refused" : "undecided";
}

void cs_gate_item_sentence(const cs_gate_item *item, char *out, size_t size) {
    bool placed = item->where[0] != '\0';
    bool refused = item->state == CS_GATE_REFUSED;
    (void)snprintf(out, size, "%s: %s%s: %s; wanted: %s%s%s%s [%s]", item->requirement, item->rule,
                   refused ? "" : " (undecided)", item->found, item->wanted, placed ? " (" : "", item->where,
                   placed ? ")" : "", refused ? cs_code_name(item->code) : "undecided");
    out[cs_utf8_cut(cs_view_of(out), size - 1).len] = '\0';
}

bool cs_gate_item_fingerprint(const cs_gate_item *item, cs_digest *out) {
    CS_AUTO_BUF text = CS_BUF_INIT(1024);
    bool refused = item->state == CS_GATE_REFUSED;
    return cs_buf_printf(&text, "%s\n%s\n%s\n", item->requirement, item->rule,
                         refused ? cs_code_name(item->code) : "undecided") &&
           cs_sha256_once(cs_buf_view(&text), out);
}

/* ---- characters -------------------------------------------------------------------------------------------- */

size_t cs_gate_out_character(cs_view text, uint32_t *number) {
    static const uint8_t masks[] = {0x7f, 0x1f, 0x0f, 0x07};
    for (size_t len = 1; len <= 4 && len <= text.len; len++) {
        if (!cs_utf8_valid(cs_view_bytes(text.ptr, len))) continue;
        *number = text.ptr[0] & masks[len - 1];
        for (size_t i = 1; i < len; i++)
            *number = *number << 6 | (text.ptr[i] & 0x3f);
        return len;
    }
    *number = 0xfffd;
    return 1;
}

void cs_gate_out_defuse(char *text, size_t len) {
    for (size_t i = 0; i + 3 <= len; i++)
        if (memcmp(text + i, "##[", 3) == 0) text[i + 2] = '(';
}
