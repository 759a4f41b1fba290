/* A verdict as members of the command's document, and what all forms of JSON share. */
#include <stdlib.h>
#include <string.h>

#include "gate/out_internal.h"
#include "records/text.h"

json_t *cs_gate_out_json_text(const char *text) {
    json_t *value = json_string(text);
    if (value != NULL) return value;
    CS_AUTO_BUF escaped = CS_BUF_INIT(CS_GATE_OUT_MAX_BYTES);
    if (!cs_escape_append(&escaped, cs_view_of(text), false)) return NULL;
    return json_stringn((const char *)escaped.ptr, escaped.len);
}

bool cs_gate_out_dump(json_t *document, cs_buf *out) {
    char *text = document != NULL ? json_dumps(document, JSON_INDENT(2)) : NULL;
    json_decref(document);
    bool good = text != NULL && cs_buf_text(out, text) && cs_buf_byte(out, '\n');
    free(text);
    return good;
}

static json_t *optional_text(const char *text) {
    return text[0] == '\0' ? json_null() : cs_gate_out_json_text(text);
}

static json_t *rule_json(const cs_gate_finding *finding) {
    bool refused = finding->state == CS_GATE_REFUSED;
    bool placed = finding->source[0] != '\0';
    return json_pack(
        "{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "rule", cs_gate_rule_word(finding->rule), "state",
        cs_gate_state_word(finding->state), "code", refused ? json_string(cs_code_name(finding->code)) : json_null(),
        "found", cs_gate_out_json_text(finding->observed), "wanted", optional_text(finding->wanted), "source",
        optional_text(finding->source), "entry", placed ? json_integer((json_int_t)finding->entry) : json_null(),
        "path", optional_text(finding->path));
}

static const char *name_of(const cs_gate_section *section) {
    return section->requirement != NULL ? section->requirement->name : NULL;
}

static json_t *section_json(const cs_gate_section *section) {
    json_t *rules = json_array();
    for (unsigned rule = 0; rules != NULL && rule < CS_GATE_RULES; rule++) {
        if (section->findings[rule].state == CS_GATE_NOT_ASKED) continue;
        if (json_array_append_new(rules, rule_json(&section->findings[rule])) == 0) continue;
        json_decref(rules);
        return NULL;
    }
    return json_pack("{s:s?, s:I, s:I, s:I, s:o}", "requirement", name_of(section), "selected",
                     (json_int_t)section->selected, "counted", (json_int_t)section->counted, "refusals",
                     (json_int_t)section->refusals, "rules", rules);
}

static json_t *sections_json(const cs_gate_verdict *verdict) {
    json_t *sections = json_array();
    for (size_t i = 0; sections != NULL && i < verdict->count; i++) {
        if (json_array_append_new(sections, section_json(&verdict->sections[i])) == 0) continue;
        json_decref(sections);
        return NULL;
    }
    return sections;
}

static json_t *proof_json(const cs_gate_report *report, const cs_gate_proof *proof) {
    bool of_sources = proof->section == CS_GATE_OF_SOURCES;
    if (!of_sources && proof->section >= report->verdict->count) return NULL;
    return json_pack("{s:s?, s:s, s:s, s:o, s:o}", "requirement",
                     of_sources ? NULL : name_of(&report->verdict->sections[proof->section]), "rule",
                     cs_gate_proof_word(proof), "code", cs_code_name(proof->code), "change",
                     cs_gate_out_json_text(proof->change), "refuses",
                     report->proved && !proof->unmade ? json_boolean(proof->refuses) : json_null());
}

static json_t *proofs_json(const cs_gate_report *report) {
    json_t *proofs = json_array();
    for (size_t i = 0; proofs != NULL && i < report->proof_count; i++) {
        if (json_array_append_new(proofs, proof_json(report, &report->proofs[i])) == 0) continue;
        json_decref(proofs);
        return NULL;
    }
    return proofs;
}

json_t *cs_gate_out_json(const cs_gate_report *report) {
    const cs_gate_verdict *verdict = report->verdict;
    return json_pack("{s:o, s:b, s:I, s:I, s:I, s:o}", "sections", sections_json(verdict), "sources_verified",
                     (int)(verdict->sources == CS_OK), "records", (json_int_t)verdict->records, "refusals",
                     (json_int_t)verdict->refusals, "verdicts_passed_over", (json_int_t)verdict->verdicts, "proofs",
                     proofs_json(report));
}
