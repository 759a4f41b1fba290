#include "tests/gate/out_case.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static void set(out_case *c, size_t section, cs_gate_rule rule, const char *observed) {
    cs_gate_finding *finding = &c->sections[section].findings[rule];
    finding->state = CS_GATE_PASSED;
    (void)snprintf(finding->observed, sizeof finding->observed, "%s", observed);
    (void)snprintf(finding->wanted, sizeof finding->wanted, "what is wanted of %s", cs_gate_rule_word(rule));
}

void out_begin(out_case *c) {
    memset(c, 0, sizeof *c);
    c->out = CS_BUF_INIT(CS_GATE_OUT_MAX_BYTES);
    c->requirement = (cs_policy_requirement){.name = "tests"};
    c->sections[0].requirement = &c->requirement;
    c->sections[0].selected = 3;
    c->sections[0].counted = 2;
    for (unsigned rule = 0; rule < CS_GATE_RULES; rule++)
        c->sections[0].findings[rule].rule = c->sections[1].findings[rule].rule = (cs_gate_rule)rule;
    set(c, 0, CS_GATE_SELECTED, "3 distinct records");
    set(c, 0, CS_GATE_AGE, "the run ended 9 seconds ago");
    set(c, 0, CS_GATE_BIND, "3 of 3 files");
    (void)snprintf(c->sections[0].findings[CS_GATE_BIND].source, 16, "l.db");
    c->sections[0].findings[CS_GATE_BIND].entry = 7;
    set(c, 1, CS_GATE_PROTECT, "1 protected files are unchanged");
    c->verdict = (cs_gate_verdict){
        .result = CS_OK, .err = {.code = CS_CODE_OK}, .sections = c->sections, .count = 2, .records = 3};
    c->report = (cs_gate_report){.verdict = &c->verdict, .version = "0.1.0", .policy_path = ".gate/policy.json"};
}

void out_end(out_case *c) {
    cs_buf_free(&c->out);
}

void out_refuse(out_case *c, cs_gate_rule rule, cs_code code, const char *observed) {
    set(c, 0, rule, observed);
    c->sections[0].findings[rule].state = CS_GATE_REFUSED;
    c->sections[0].findings[rule].code = code;
    c->sections[0].refusals++;
    c->verdict.refusals++;
    c->verdict.result = cs_fail(&c->verdict.err, code, "%s", observed);
}

void out_leave(out_case *c, cs_gate_rule rule) {
    set(c, 0, rule, "nothing to judge it by");
    c->sections[0].findings[rule].state = CS_GATE_UNDECIDED;
}

const char *out_text(out_case *c, bool (*form)(const cs_gate_report *report, cs_buf *out)) {
    cs_buf_clear(&c->out);
    cr_assert(form(&c->report, &c->out));
    cr_assert(cs_buf_byte(&c->out, '\0'));
    c->out.len--;
    return (const char *)c->out.ptr;
}
