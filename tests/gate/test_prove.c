/* Every rule that passed would have refused: shown by the smallest change, and a rule that does not is caught. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "gate/prove_internal.h"
#include "tests/gate/gate_case.h"
#include "tests/support/expect.h"

static cs_gate_proof *proofs;
static size_t count;

static void drop_proofs(void) {
    free(proofs);
    proofs = NULL;
}

TestSuite(gate_prove, .fini = drop_proofs);

static size_t proofs_of(size_t section, cs_gate_rule rule) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (proofs[i].section == section && proofs[i].rule == rule) found++;
    return found;
}

static const cs_gate_proof *proof_by(cs_gate_rule rule, cs_code code) {
    for (size_t i = 0; i < count; i++)
        if (proofs[i].rule == rule && proofs[i].code == code) return &proofs[i];
    return NULL;
}

static void expect_all(const gate_case *c, bool refuse) {
    for (size_t i = 0; i < count; i++) {
        cr_expect_eq(proofs[i].refuses, refuse, "%s: %s", cs_gate_rule_word(proofs[i].rule), proofs[i].change);
        cr_expect_str_neq(proofs[i].change, "");
        cr_expect_neq(proofs[i].code, CS_CODE_OK);
    }
    for (size_t s = 0; s < c->verdict.count; s++)
        for (unsigned rule = 0; rule < CS_GATE_RULES; rule++)
            cr_expect_eq(proofs_of(s, (cs_gate_rule)rule) > 0,
                         c->verdict.sections[s].findings[rule].state == CS_GATE_PASSED, "%s",
                         cs_gate_rule_word((cs_gate_rule)rule));
}

/* The good case asks for every rule that there is. */
Test(gate_prove, every_rule_is_shown_to_refuse) {
    static const struct {
        cs_gate_rule rule;
        cs_code code;
    } wanted[] = {
        {CS_GATE_SELECTED, CS_CODE_GATE_NOTHING},
        {CS_GATE_PROVIDER, CS_CODE_GATE_PROVIDER},
        {CS_GATE_FLOOR, CS_CODE_GATE_FLOOR},
        {CS_GATE_SOFTWARE, CS_CODE_GATE_SOFTWARE},
        {CS_GATE_SANDBOX_POLICY, CS_CODE_GATE_SANDBOX_POLICY},
        {CS_GATE_GRANTS, CS_CODE_GATE_GRANT},
        {CS_GATE_AGE, CS_CODE_GATE_AGE},
        {CS_GATE_WORK, CS_CODE_GATE_WORK_FAILED},
        {CS_GATE_TIME_OUT, CS_CODE_GATE_TIMED_OUT},
        {CS_GATE_TRUNCATION, CS_CODE_GATE_TRUNCATED},
        {CS_GATE_BIND, CS_CODE_GATE_BIND},
        {CS_GATE_COMPLETE, CS_CODE_GATE_INCOMPLETE},
        {CS_GATE_TESTS, CS_CODE_GATE_TESTS_MISSING},
        {CS_GATE_TESTS, CS_CODE_GATE_TESTS_FEW},
        {CS_GATE_TESTS, CS_CODE_GATE_TESTS_SKIPPED},
        {CS_GATE_TESTS, CS_CODE_GATE_TESTS_FAILED},
        {CS_GATE_TESTS_OF_BASE, CS_CODE_GATE_TESTS_FEWER},
        {CS_GATE_COUNT, CS_CODE_GATE_COUNT},
        {CS_GATE_REPRODUCED, CS_CODE_GATE_NOT_REPRODUCED},
        {CS_GATE_SAME_RESULT, CS_CODE_GATE_RESULT_DIFFERS},
        {CS_GATE_CROSS_CHECK, CS_CODE_GATE_CONTRADICTED},
        {CS_GATE_CROSS_CHECK, CS_CODE_GATE_CROSS_CHECK},
        {CS_GATE_PROTECT, CS_CODE_GATE_PROTECTED},
    };
    gate_case c;
    gate_begin(&c);
    gate_expect_passes(&c, "good");
    EXPECT_OK(cs_gate_prove(&c.options, &c.verdict, true, &proofs, &count, &c.err), c.err);
    expect_all(&c, true);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        cr_expect_not_null(proof_by(wanted[i].rule, wanted[i].code), "%s: %s", cs_gate_rule_word(wanted[i].rule),
                           cs_code_name(wanted[i].code));
    const cs_gate_proof *bind = proof_by(CS_GATE_BIND, CS_CODE_GATE_BIND);
    cr_expect_str_eq(bind->change, "one byte of src/lib.js in the run is another");
    cr_expect_str_eq(bind[1].change, "the run is the second call of a session");
    cr_expect_eq(bind[1].code, CS_CODE_GATE_BIND);
    cr_expect_eq(bind[2].code, CS_CODE_GATE_BIND);
    cr_expect_str_eq(bind[2].change, "the run brings a file more, src/lib.jsx, which is not in the commit");
    const cs_gate_proof *check = proof_by(CS_GATE_CROSS_CHECK, CS_CODE_GATE_CONTRADICTED);
    cr_expect_str_eq(check->change, "a finding contradicts the tier of a daemon that is relied on");
    cr_expect_str_eq(check[1].change, "a finding contradicts the tier of such a daemon at another address");
    cr_expect_str_eq(check[2].change, "a record that is relied on comes from a bundle, which holds no findings");
    const cs_gate_proof *protect = proof_by(CS_GATE_PROTECT, CS_CODE_GATE_PROTECTED);
    cr_expect_eq(proofs_of(1, CS_GATE_PROTECT), 3);
    cr_expect_eq(protect->section, 1);
    cr_expect_str_eq(protect->change, "the content of .gate/policy.json in the revision is another");
    cr_expect_str_eq(protect[1].change, ".gate/policy.json is not in the base, so that the revision adds it");
    cr_expect_str_eq(protect[2].change, ".gate/policy.json is not in the revision, so that this removes it");
    gate_end(&c);
}

/* The verdict, and what it was made of, is as it was. */
Test(gate_prove, nothing_is_changed_for_good) {
    gate_case c;
    gate_begin(&c);
    gate_expect_passes(&c, "good");
    EXPECT_OK(cs_gate_prove(&c.options, &c.verdict, true, &proofs, &count, &c.err), c.err);
    size_t first = count;
    drop_proofs();
    EXPECT_OK(cs_gate_prove(&c.options, &c.verdict, true, &proofs, &count, &c.err), c.err);
    cr_expect_eq(count, first);
    expect_all(&c, true);
    cr_expect_eq(c.verdict.result, CS_OK);
    cr_expect_eq(c.verdict.sections[0].counted, 2);
    gate_end(&c);
}

Test(gate_prove, explains_without_judging) {
    gate_case c;
    gate_begin(&c);
    gate_expect_passes(&c, "good");
    EXPECT_OK(cs_gate_prove(&c.options, &c.verdict, false, &proofs, &count, &c.err), c.err);
    cr_expect_gt(count, 20);
    expect_all(&c, false);
    gate_end(&c);
}

/* What the policy does not ask for is not shown, and a script has no steps and no files. */
Test(gate_prove, a_script_with_few_rules) {
    gate_case c;
    gate_begin(&c);
    c.requirement = (cs_policy_requirement){
        .name = "script", .kind = CS_POLICY_JAVASCRIPT, .floor = CS_TIER_PROCESS, .min_records = 1};
    c.policy.protect.count = 0;
    c.run_count = 0;
    forge_run run = forge_single();
    forge_add(&c.bundles[0], forge_run_line(&c.key, &run));
    gate_expect_passes(&c, "script");
    EXPECT_OK(cs_gate_prove(&c.options, &c.verdict, true, &proofs, &count, &c.err), c.err);
    expect_all(&c, true);
    cr_expect_eq(proofs_of(0, CS_GATE_TRUNCATION), 1);
    cr_expect_eq(proofs_of(0, CS_GATE_BIND), 0);
    cr_expect_eq(proofs_of(0, CS_GATE_AGE), 0);
    gate_end(&c);
}

/* A requirement that is refused for want of a record that counts has none to show anything on. */
Test(gate_prove, leaves_out_what_no_record_fulfils) {
    gate_case c;
    gate_begin(&c);
    c.requirement.floor = CS_TIER_VM;
    cr_expect_eq(gate_judge(&c), CS_FAILED);
    EXPECT_OK(cs_gate_prove(&c.options, &c.verdict, true, &proofs, &count, &c.err), c.err);
    cr_expect_eq(count, 3);
    cr_expect_eq(proofs_of(1, CS_GATE_PROTECT), count);
    gate_end(&c);
}

Test(gate_prove, a_verdict_without_evidence) {
    gate_case c;
    gate_begin(&c);
    c.options.rev = NULL;
    cr_expect_eq(gate_judge(&c), CS_USAGE);
    c.options.rev = &c.rev;
    EXPECT_CODE(cs_gate_prove(&c.options, &c.verdict, true, &proofs, &count, &c.err), c.err,
                cs_code_class(CS_CODE_INTERNAL), CS_CODE_INTERNAL);
    cr_expect_null(proofs);
    gate_end(&c);
}

/* ---- weak rules --------------------------------------------------------------------------------------------- */

static cs_result always_passes(const cs_gate_question *question, cs_gate_finding *out, cs_error *err) {
    (void)question;
    (void)err;
    cs_gate_pass(out, "weak");
    return CS_OK;
}

static cs_result wrong_code(const cs_gate_question *question, cs_gate_finding *out, cs_error *err) {
    (void)question;
    (void)err;
    cs_gate_refuse(out, CS_CODE_INTERNAL, "refused, by another code");
    return CS_OK;
}

/* Each condition in turn is one that refuses nothing, or by another code than its own. */
Test(gate_prove, a_weak_rule_is_caught) {
    static const cs_gate_condition planted[] = {always_passes, wrong_code};
    gate_case c;
    gate_begin(&c);
    gate_expect_passes(&c, "good");
    for (size_t i = 0; i < 2 * CS_GATE_CONDITIONS; i++) {
        cs_gate_condition conditions[CS_GATE_CONDITIONS];
        memcpy(conditions, cs_gate_conditions, sizeof conditions);
        conditions[i / 2] = planted[i % 2];
        cs_gate_setting setting;
        EXPECT_OK(cs_gate_setting_make(&c.options, &setting, &c.err), c.err);
        setting.conditions = conditions;
        c.err = CS_ERROR_INIT;
        cr_expect_eq(cs_gate_prove_with(&c.options, &setting, &c.verdict, true, &proofs, &count, &c.err), CS_FAILED);
        cr_expect_eq(c.err.code, CS_CODE_INTERNAL);
        for (size_t p = 0; p < count; p++) {
            bool weak = proofs[p].rule == CS_GATE_PROVIDER + i / 2 &&
                        strstr(proofs[p].change, "another run of the same files") == NULL;
            if (weak) cr_expect_not(proofs[p].refuses, "%s: %s", cs_gate_rule_word(proofs[p].rule), proofs[p].change);
        }
        drop_proofs();
        cs_gate_setting_free(&setting);
    }
    gate_end(&c);
}

/* ---- every kind of run ----------------------------------------------------------------------------------------- */

/* A copy that a change may alter. */
static void *copy_of(const ProtobufCMessage *message) {
    cs_error err = CS_ERROR_INIT;
    ProtobufCMessage *copy = NULL;
    EXPECT_OK(cs_message_copy(message, &copy, &err), err);
    return copy;
}

/* What has no mark for a rule takes the shape of something that has: every condition that is always asked is shown on
 * modules and cells, too. */
static void show_on(cs_gate_setting *setting, const cs_run_request *request, const cs_run_response *response) {
    static const cs_gate_rule always[] = {CS_GATE_GRANTS, CS_GATE_WORK, CS_GATE_TIME_OUT, CS_GATE_TRUNCATION};
    for (size_t r = 0; r < sizeof always / sizeof always[0]; r++) {
        size_t shown = 0;
        for (size_t i = 0; i < cs_gate_record_change_count; i++) {
            const cs_gate_change *change = &cs_gate_record_changes[i];
            if (change->rule != always[r]) continue;
            char text[CS_GATE_TEXT] = "";
            cs_gate_trial trial = {.setting = setting,
                                   .requirement = &setting->policy->requirements[0],
                                   .request = copy_of(&request->base),
                                   .response = copy_of(&response->base),
                                   .text = text};
            if (change->make(&trial) == CS_GATE_CHANGED) {
                cs_gate_finding findings[CS_GATE_RULES] = {{.rule = CS_GATE_SELECTED}};
                cs_gate_measured measured;
                uint32_t unfulfilled = 0;
                cs_error err = CS_ERROR_INIT;
                cs_gate_facts facts = {
                    .request = trial.request, .response = trial.response, .record = trial.response->record};
                EXPECT_OK(cs_gate_hold(setting, 0, &setting->rev, &facts, findings, &unfulfilled, &measured, &err),
                          err);
                cr_expect_eq(findings[change->rule].code, change->code, "%s", text);
                shown++;
            }
            cs_message_free(trial.request);
            cs_message_free(trial.response);
        }
        cr_expect_gt(shown, 0, "%s of %s", cs_gate_rule_word(always[r]), cs_request_kind(request));
    }
}

Test(gate_prove, modules_and_cells) {
    gate_case c;
    gate_begin(&c);
    c.requirement = (cs_policy_requirement){.name = "any", .floor = CS_TIER_UNKNOWN, .min_records = 1};
    cs_gate_setting setting;
    EXPECT_OK(cs_gate_setting_make(&c.options, &setting, &c.err), c.err);
    Plimsoll__V1__RunRequest request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    Plimsoll__V1__RunResponse response = PLIMSOLL__V1__RUN_RESPONSE__INIT;
    Plimsoll__V1__RunRecord record = PLIMSOLL__V1__RUN_RECORD__INIT;
    Plimsoll__V1__CellRun cell = PLIMSOLL__V1__CELL_RUN__INIT;
    Plimsoll__V1__CellResult cell_result = PLIMSOLL__V1__CELL_RESULT__INIT;
    Plimsoll__V1__ModuleRun module = PLIMSOLL__V1__MODULE_RUN__INIT;
    Plimsoll__V1__ModuleResult module_result = PLIMSOLL__V1__MODULE_RESULT__INIT;
    response.record = &record;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL;
    request.cell = &cell;
    response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL;
    response.cell = &cell_result;
    show_on(&setting, &request, &response);
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE;
    request.module = &module;
    response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE;
    response.module = &module_result;
    module_result.outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED;
    show_on(&setting, &request, &response);
    cs_gate_setting_free(&setting);
    gate_end(&c);
}
