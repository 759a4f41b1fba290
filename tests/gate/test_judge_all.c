/* All records together, and the sources that they come from. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "gate/judge_internal.h"
#include "tests/gate/gate_case.h"
#include "tests/support/expect.h"

static cs_view v(const char *text) {
    return (cs_view){.ptr = (const uint8_t *)text, .len = strlen(text)};
}

/* ---- counting -------------------------------------------------------------------------------------------- */

Test(gate_judge_all, too_few_records) {
    gate_case c;
    gate_begin(&c);
    c.requirement.min_records = 3;
    (void)gate_judge(&c);
    gate_expect_only(&c, "two of three", CS_GATE_COUNT, CS_CODE_GATE_COUNT);
    /* The nearest of the others, which is of the base, is named with what it lacks. */
    cr_expect_not_null(strstr(gate_finding(&c, CS_GATE_COUNT)->observed, "bind"), "%s",
                       gate_finding(&c, CS_GATE_COUNT)->observed);
    c.runs[3] = c.runs[0];
    c.runs[3].ended_ms++;
    c.run_count = 4;
    gate_expect_passes(&c, "three of three");
    gate_end(&c);
}

/* The same record twice, in one source and in two. */
Test(gate_judge_all, a_record_counts_once) {
    gate_case c;
    gate_begin(&c);
    c.runs[3] = c.runs[0];
    c.runs[1] = c.runs[0];
    c.run_count = 4;
    (void)gate_judge(&c);
    gate_expect_only(&c, "in one source", CS_GATE_COUNT, CS_CODE_GATE_COUNT);
    cr_expect_not_null(strstr(gate_finding(&c, CS_GATE_COUNT)->observed, "counts once"));
    cr_expect_eq(c.verdict.records, 2);
    cr_expect_eq(c.verdict.sections[0].counted, 1);

    c.runs[1] = c.runs[2];
    c.run_count = 2;
    c.sources = 2;
    forge_add(&c.bundles[1], gate_sign(&c.key, &c.runs[0]).line);
    (void)gate_judge(&c);
    gate_expect_only(&c, "in two sources", CS_GATE_COUNT, CS_CODE_GATE_COUNT);
    cr_expect_not_null(strstr(gate_finding(&c, CS_GATE_COUNT)->observed, "counts once"));
    cr_expect_eq(c.verdict.records, 2);
    gate_end(&c);
}

Test(gate_judge_all, records_of_two_sources_count_together) {
    gate_case c;
    gate_begin(&c);
    forge_add(&c.bundles[1], gate_sign(&c.key, &c.runs[1]).line);
    c.runs[1] = c.runs[2];
    c.run_count = 2;
    c.sources = 2;
    gate_expect_passes(&c, "two sources");
    cr_expect_eq(c.verdict.records, 3);
    gate_end(&c);
}

Test(gate_judge_all, nothing_is_selected) {
    gate_case c;
    gate_begin(&c);
    c.requirement.step = v("npm run other");
    cr_expect_eq(gate_judge(&c), CS_NOTHING);
    gate_expect_only(&c, "another step", CS_GATE_SELECTED, CS_CODE_GATE_NOTHING);
    cr_expect_eq(gate_finding(&c, CS_GATE_BIND)->state, CS_GATE_UNDECIDED);
    cr_expect_eq(gate_finding(&c, CS_GATE_COUNT)->state, CS_GATE_UNDECIDED);

    c.requirement.step = v("npm test");
    c.requirement.kind = CS_POLICY_JAVASCRIPT;
    cr_expect_eq(gate_judge(&c), CS_NOTHING);
    c.requirement.kind = CS_POLICY_ANY;
    gate_expect_passes(&c, "any kind");
    cs_view providers[1] = {v("gamma")};
    c.requirement.providers = (cs_policy_list){.items = providers, .count = 1};
    cr_expect_eq(gate_judge(&c), CS_NOTHING);
    gate_end(&c);
}

/* Beside another refusal, nothing selected is a failure. */
Test(gate_judge_all, a_refusal_outranks_nothing) {
    gate_case c;
    gate_begin(&c);
    c.requirement.step = v("npm run other");
    c.protect[0] = v(".github/**");
    cr_expect_eq(gate_judge(&c), CS_FAILED);
    cr_expect_eq(c.verdict.err.code, CS_CODE_GATE_PATTERN);
    cr_expect_eq(c.verdict.refusals, 2);
    gate_end(&c);
}

/* A step before it could change the files, a step after it the artifact. */
Test(gate_judge_all, the_step_must_stand_alone) {
    gate_case c;
    gate_begin(&c);
    for (size_t i = 0; i < 3; i++) {
        c.runs[i].steps[1] = "cp good.xml junit.xml";
        c.runs[i].step_count = c.runs[i].results = 2;
    }
    (void)gate_judge(&c);
    gate_expect_only(&c, "a step after it", CS_GATE_SELECTED, CS_CODE_GATE_NOTHING);
    gate_end(&c);
}

/* A call before it could do the same. */
Test(gate_judge_all, no_call_of_the_session_comes_before_the_step) {
    gate_case c;
    gate_begin(&c);
    Plimsoll__V1__RunRequest request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    Plimsoll__V1__ProjectRun project = PLIMSOLL__V1__PROJECT_RUN__INIT;
    Plimsoll__V1__RunRecord record = PLIMSOLL__V1__RUN_RECORD__INIT;
    uint8_t text[] = "test";
    ProtobufCBinaryData step = {.len = 4, .data = text};
    project.n_steps = 1;
    project.steps = &step;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT;
    request.project = &project;
    cs_gate_facts facts = {.request = &request, .record = &record};
    c.requirement =
        (cs_policy_requirement){.name = "step", .step = v("test"), .floor = CS_TIER_UNKNOWN, .min_records = 1};
    cr_expect(cs_gate_selects(&c.requirement, &facts));
    record.sequence = 1;
    cr_expect(cs_gate_selects(&c.requirement, &facts));
    record.sequence = 2;
    cr_expect_not(cs_gate_selects(&c.requirement, &facts));
    c.requirement.step = (cs_view){.ptr = NULL};
    cr_expect(cs_gate_selects(&c.requirement, &facts));
    gate_end(&c);
}

/* A row without a result did not run, whatever the module run says of itself. */
Test(gate_judge_all, every_row_of_a_module_ran) {
    gate_case c;
    gate_begin(&c);
    Plimsoll__V1__RunRequest request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    Plimsoll__V1__RunResponse response = PLIMSOLL__V1__RUN_RESPONSE__INIT;
    Plimsoll__V1__ModuleRun module = PLIMSOLL__V1__MODULE_RUN__INIT;
    Plimsoll__V1__ModuleResult result = PLIMSOLL__V1__MODULE_RESULT__INIT;
    Plimsoll__V1__ModuleRowResult row = PLIMSOLL__V1__MODULE_ROW_RESULT__INIT;
    Plimsoll__V1__ModuleRowResult *rows[] = {&row, &row};
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE;
    request.module = &module;
    response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE;
    response.module = &result;
    module.n_rows = 2; /* only how many is looked at */
    result.runs = rows;
    result.n_runs = 2;
    result.outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED;
    cs_gate_facts facts = {.request = &request, .response = &response};
    cs_gate_question question = {.facts = &facts, .requirement = &c.requirement};
    cs_gate_finding finding = {.rule = CS_GATE_WORK};
    EXPECT_OK(cs_gate_hold_work(&question, &finding, &c.err), c.err);
    cr_expect_eq(finding.state, CS_GATE_PASSED);
    result.n_runs = 1;
    EXPECT_OK(cs_gate_hold_work(&question, &finding, &c.err), c.err);
    cr_expect_eq(finding.state, CS_GATE_REFUSED);
    cr_expect_eq(finding.code, CS_CODE_GATE_WORK_FAILED);
    cr_expect_str_eq(finding.observed, "1 of 2 rows ran");
    gate_end(&c);
}

/* The nearest: the fewest unfulfilled conditions. Only what that one lacks is refused. */
Test(gate_judge_all, the_nearest_record_says_what_is_missing) {
    gate_case c;
    gate_begin(&c);
    c.runs[0].isolation = "process";
    c.runs[1].isolation = "process";
    c.runs[1].grant = "network";
    (void)gate_judge(&c);
    gate_expect_only(&c, "nearest", CS_GATE_FLOOR, CS_CODE_GATE_FLOOR);
    cr_expect_eq(gate_finding(&c, CS_GATE_FLOOR)->entry, 1);
    /* Of two that lack as much, the newer. */
    c.runs[0].grant = "network";
    c.runs[0].isolation = "container";
    c.runs[1].grant = "";
    c.run_count = 2;
    (void)gate_judge(&c);
    gate_expect_only(&c, "newest", CS_GATE_FLOOR, CS_CODE_GATE_FLOOR);
    cr_expect_eq(gate_finding(&c, CS_GATE_FLOOR)->entry, 2);
    gate_end(&c);
}

/* ---- results ------------------------------------------------------------------------------------------------ */

Test(gate_judge_all, one_provider_is_not_two) {
    gate_case c;
    gate_begin(&c);
    c.runs[1].provider = "alpha";
    (void)gate_judge(&c);
    gate_expect_only(&c, "one provider", CS_GATE_REPRODUCED, CS_CODE_GATE_NOT_REPRODUCED);
    c.requirement.reproduced_providers = 1;
    gate_expect_passes(&c, "one is enough");
    c.requirement.reproduced_runs = 3;
    (void)gate_judge(&c);
    gate_expect_only(&c, "two of three runs", CS_GATE_REPRODUCED, CS_CODE_GATE_NOT_REPRODUCED);
    gate_end(&c);
}

Test(gate_judge_all, another_result_of_the_same_work) {
    gate_case c;
    gate_begin(&c);
    c.runs[1].output = "3 passed in 7 ms\n";
    (void)gate_judge(&c);
    gate_expect_only(&c, "differs", CS_GATE_SAME_RESULT, CS_CODE_GATE_RESULT_DIFFERS);
    cr_expect_not_null(strstr(gate_finding(&c, CS_GATE_SAME_RESULT)->observed,
                              "; `countersign diff` shows where; an artifact that holds times differs each time"));
    cr_expect_eq(gate_finding(&c, CS_GATE_REPRODUCED)->state, CS_GATE_UNDECIDED);
    /* Also when enough others agree. */
    c.runs[1].output = c.runs[0].output;
    c.runs[3] = c.runs[1];
    c.runs[3].ended_ms += 5;
    c.runs[3].output = "4 passed\n";
    c.run_count = 4;
    (void)gate_judge(&c);
    gate_expect_only(&c, "third differs", CS_GATE_SAME_RESULT, CS_CODE_GATE_RESULT_DIFFERS);
    cr_expect_eq(gate_finding(&c, CS_GATE_REPRODUCED)->state, CS_GATE_PASSED);
    /* Nobody asks. */
    c.requirement.reproduced_runs = c.requirement.reproduced_providers = 0;
    gate_expect_passes(&c, "not asked");
    cr_expect_eq(gate_finding(&c, CS_GATE_SAME_RESULT)->state, CS_GATE_NOT_ASKED);
    gate_end(&c);
}

/* The floor and the protocol's number say where a request may run; another step is other work. */
Test(gate_judge_all, what_the_same_work_is) {
    gate_case c;
    gate_begin(&c);
    c.runs[1].floor = "container";
    c.runs[1].protocol = 2;
    gate_expect_passes(&c, "another floor");
    c.requirement.step = (cs_view){.ptr = NULL};
    c.runs[1].steps[0] = "npm  test";
    (void)gate_judge(&c);
    gate_expect_only(&c, "another step", CS_GATE_REPRODUCED, CS_CODE_GATE_NOT_REPRODUCED);
    gate_end(&c);
}

/* ---- sources ------------------------------------------------------------------------------------------------- */

Test(gate_judge_all, an_unknown_key) {
    gate_case c;
    gate_begin(&c);
    forge_key other = forge_key_from(8);
    c.signer = &other;
    cr_expect_eq(gate_judge(&c), CS_FAILED);
    cr_expect_eq(c.verdict.err.code, CS_CODE_ENVELOPE_KEY_UNKNOWN);
    cr_expect_eq(c.verdict.records, 0);
    gate_end(&c);
}

Test(gate_judge_all, a_key_whose_window_is_over) {
    gate_case c;
    gate_begin(&c);
    c.policy.trust.keys[0].not_after_ms = GATE_ENDED + 999;
    cr_expect_eq(gate_judge(&c), CS_FAILED);
    cr_expect_eq(c.verdict.err.code, CS_CODE_ENVELOPE_KEY_WINDOW);
    c.policy.trust.keys[0].not_after_ms = GATE_ENDED + 1000;
    gate_expect_passes(&c, "the last millisecond");
    gate_end(&c);
}

static size_t told;

static void on_finding(void *user, const char *source, const cs_finding *finding) {
    const gate_case *c = user;
    cr_expect_str_eq(source, c->paths[1]);
    cr_expect_eq(finding->err->code, CS_CODE_ENVELOPE_KEY_UNKNOWN);
    told++;
}

/* Nothing of a source counts that does not verify as a whole, and a good source beside it does not make it good. */
Test(gate_judge_all, nothing_of_a_bad_source_counts) {
    gate_case c;
    gate_begin(&c);
    forge_key other = forge_key_from(8);
    gate_run more = c.runs[0];
    more.ended_ms += 50;
    c.sources = 2;
    forge_add(&c.bundles[1], gate_sign(&c.key, &more).line);
    gate_expect_passes(&c, "one more");
    cr_expect_eq(c.verdict.records, 4);
    cr_expect_eq(c.verdict.sections[0].counted, 3);
    more.ended_ms += 50;
    forge_add(&c.bundles[1], gate_sign(&other, &more).line);
    c.options.on_finding = on_finding;
    c.options.user = &c;
    cr_expect_eq(gate_judge(&c), CS_FAILED);
    cr_expect_eq(c.verdict.err.code, CS_CODE_ENVELOPE_KEY_UNKNOWN);
    cr_expect_eq(c.verdict.records, 3);
    cr_expect_eq(c.verdict.sections[0].counted, 2);
    cr_expect_eq(c.verdict.refusals, 0);
    cr_expect_eq(told, 1);
    gate_end(&c);
}

Test(gate_judge_all, a_source_that_is_not_there) {
    gate_case c;
    gate_begin(&c);
    c.more[0] = "/nonexistent/ledger.db";
    c.more_count = 1;
    cr_expect_eq(gate_judge(&c), CS_UNCHECKED);
    cr_expect_eq(c.verdict.err.code, CS_CODE_IO);
    c.more_count = c.sources = 0;
    cr_expect_eq(gate_judge(&c), CS_NOTHING);
    cr_expect_eq(c.verdict.err.code, CS_CODE_NOTHING_TO_CHECK);
    gate_end(&c);
}

Test(gate_judge_all, a_commit_that_is_not_named) {
    gate_case c;
    gate_begin(&c);
    c.options.rev = NULL;
    cr_expect_eq(gate_judge(&c), CS_USAGE);
    cr_expect_eq(c.verdict.err.code, CS_CODE_USAGE);
    c.options.rev = &c.rev;
    c.options.base = NULL;
    cr_expect_eq(gate_judge(&c), CS_USAGE);
    cr_expect_eq(c.verdict.err.code, CS_CODE_USAGE);
    gate_end(&c);
}

/* Calls of a session count like single runs. An unanswered one has no result, and never does. */
Test(gate_judge_all, calls_of_a_session) {
    gate_case c;
    gate_begin(&c);
    c.requirement = (cs_policy_requirement){.name = "calls", .kind = CS_POLICY_JAVASCRIPT, .min_records = 2};
    c.policy.protect.count = 0;
    c.policy.needs_rev = c.policy.needs_base = false;
    c.options.rev = c.options.base = NULL;
    c.run_count = 0;
    forge_session(&c.bundles[0], &c.key, FORGE_SESSION, 2, NULL);
    gate_expect_passes(&c, "session");
    cr_expect_eq(c.verdict.sections[0].counted, 2);
    /* Both calls are the same script, but the second comes after the first: that is other work. */
    c.requirement.reproduced_providers = 1;
    c.requirement.reproduced_runs = 2;
    (void)gate_judge(&c);
    gate_expect_only(&c, "calls", CS_GATE_REPRODUCED, CS_CODE_GATE_NOT_REPRODUCED);
    c.requirement.reproduced_providers = c.requirement.reproduced_runs = 0;

    forge_run calls[2] = {forge_single(), forge_single()};
    for (size_t i = 0; i < 2; i++) {
        calls[i].session = FORGE_SESSION;
        calls[i].sequence = i + 1;
    }
    calls[1].version = 3;
    calls[1].unanswered = "unavailable";
    forge_seal(&calls[0]);
    calls[1].previous = calls[0].record_sha256;
    forge_seal(&calls[1]);
    c.bundles[0] = (forge_bundle){.count = 0};
    forge_add(&c.bundles[0], forge_run_line(&c.key, &calls[0]));
    forge_add(&c.bundles[0], forge_run_line(&c.key, &calls[1]));
    forge_add(&c.bundles[0],
              forge_line(NULL, NULL, forge_envelope(&c.key, forge_close(FORGE_SESSION, 2, calls[1].record_sha256))));
    (void)gate_judge(&c);
    gate_expect_only(&c, "unanswered", CS_GATE_COUNT, CS_CODE_GATE_COUNT);
    cr_expect_eq(c.verdict.records, 2);
    cr_expect_eq(c.verdict.sections[0].selected, 1);
    gate_end(&c);
}

/* A requirement that another one's records fulfil is none the less a failure by itself. */
Test(gate_judge_all, each_requirement_is_judged_by_itself) {
    gate_case c;
    gate_begin(&c);
    cs_policy_requirement two[2] = {c.requirement, c.requirement};
    two[1].floor = CS_TIER_VM;
    c.policy.requirements = two;
    c.policy.requirement_count = 2;
    cr_expect_eq(gate_judge(&c), CS_FAILED);
    cr_expect_eq(c.verdict.count, 3);
    cr_expect_eq(c.verdict.sections[0].refusals, 0);
    cr_expect_eq(c.verdict.sections[1].refusals, 1);
    cr_expect_eq(c.verdict.err.code, CS_CODE_GATE_FLOOR);
    gate_end(&c);
}
