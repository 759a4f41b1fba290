/* The conditions of one record: what it is, where it ran, when. */
#include <inttypes.h>
#include <string.h>

#include "gate/glob.h"
#include "gate/judge_internal.h"

bool cs_gate_list_has(const cs_policy_list *list, cs_view text) {
    for (size_t i = 0; i < list->count; i++)
        if (cs_view_equal(list->items[i], text)) return true;
    return false;
}

bool cs_gate_list_matches(const cs_policy_list *patterns, cs_view path) {
    for (size_t i = 0; i < patterns->count; i++)
        if (cs_glob_matches(patterns->items[i], path)) return true;
    return false;
}

/* ---- selection ------------------------------------------------------------------------------------------- */

static bool is_of_kind(cs_policy_kind kind, const cs_run_request *request) {
    switch (kind) {
    case CS_POLICY_ANY:
        return true;
    case CS_POLICY_JAVASCRIPT:
        return request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    case CS_POLICY_PROJECT:
        return request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT;
    case CS_POLICY_MODULE:
        return request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE;
    case CS_POLICY_CELL:
        return request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL;
    }
    return false;
}

bool cs_gate_follows_a_call(const cs_run_record *record) {
    return record->sequence > 1;
}

/* The step must be the only one: one before it could change the files that are bound, one after it the artifacts. A
 * call of the same session before it is no better than a step. */
static bool has_step(cs_view step, const cs_gate_facts *facts) {
    const cs_run_request *request = facts->request;
    if (step.ptr == NULL) return true;
    if (cs_gate_follows_a_call(facts->record)) return false;
    if (request->payload_case != PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT) return false;
    const Plimsoll__V1__ProjectRun *project = request->project;
    return project->n_steps == 1 && cs_view_equal(cs_bytes_view(&project->steps[0]), step);
}

bool cs_gate_selects(const cs_policy_requirement *requirement, const cs_gate_facts *facts) {
    return is_of_kind(requirement->kind, facts->request) && has_step(requirement->step, facts) &&
           (requirement->providers.count == 0 ||
            cs_gate_list_has(&requirement->providers, cs_bytes_view(&facts->record->provider)));
}

/* ---- where it ran ---------------------------------------------------------------------------------------- */

static cs_result hold_member(const cs_policy_list *list, const ProtobufCBinaryData *field, cs_code code,
                             const char *word, cs_gate_finding *out) {
    if (list->count == 0) return CS_OK;
    cs_view text = cs_bytes_view(field);
    cs_gate_shown shown = cs_gate_show(text);
    if (cs_gate_list_has(list, text))
        cs_gate_pass(out, "%s %s", word, shown.text);
    else
        cs_gate_refuse(out, code, "%s %s is none of those", word, text.len == 0 ? "(empty)" : shown.text);
    return CS_OK;
}

static cs_result hold_provider(const cs_gate_question *q, cs_gate_finding *out, cs_error *err) {
    (void)err;
    return hold_member(&q->requirement->allowed_providers, &q->facts->record->provider, CS_CODE_GATE_PROVIDER,
                       "provider", out);
}

static cs_result hold_software(const cs_gate_question *q, cs_gate_finding *out, cs_error *err) {
    (void)err;
    return hold_member(&q->requirement->software, &q->facts->record->software_identity, CS_CODE_GATE_SOFTWARE,
                       "software", out);
}

static cs_result hold_sandbox_policy(const cs_gate_question *q, cs_gate_finding *out, cs_error *err) {
    (void)err;
    return hold_member(&q->requirement->sandbox_policies, &q->facts->record->policy, CS_CODE_GATE_SANDBOX_POLICY,
                       "sandbox policy", out);
}

static cs_result hold_floor(const cs_gate_question *q, cs_gate_finding *out, cs_error *err) {
    (void)err;
    cs_tier floor = q->requirement->floor;
    if (floor <= CS_TIER_NONE) return CS_OK;
    cs_view word = cs_bytes_view(&q->facts->record->isolation);
    cs_gate_shown shown = cs_gate_show(word);
    if (cs_tier_parse(word) >= floor)
        cs_gate_pass(out, "tier %s", shown.text);
    else
        cs_gate_refuse(out, CS_CODE_GATE_FLOOR, "tier %s is below %s", word.len == 0 ? "(none)" : shown.text,
                       cs_tier_word(floor));
    return CS_OK;
}

/* ---- with what, and when ----------------------------------------------------------------------------------- */

static cs_view grant_of(const cs_run_request *request) {
    switch (request->payload_case) {
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT:
        return cs_bytes_view(&request->javascript->grant_profile);
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT:
        return cs_bytes_view(&request->project->grant_profile);
    default:
        return (cs_view){.len = 0};
    }
}

static cs_result hold_grants(const cs_gate_question *q, cs_gate_finding *out, cs_error *err) {
    (void)err;
    cs_view grant = grant_of(q->facts->request);
    cs_gate_shown shown = cs_gate_show(grant);
    if (grant.len == 0)
        cs_gate_pass(out, "no grant profile was used");
    else if (cs_gate_list_has(&q->requirement->grant_profiles, grant))
        cs_gate_pass(out, "grant profile %s", shown.text);
    else
        cs_gate_refuse(out, CS_CODE_GATE_GRANT, "the run used the grant profile %s", shown.text);
    return CS_OK;
}

/* The difference of two times, at the ends of what a number holds when it does not fit. */
static int64_t apart_ms(int64_t later, int64_t earlier) {
    int64_t apart = 0;
    if (!__builtin_sub_overflow(later, earlier, &apart)) return apart;
    return later > earlier ? INT64_MAX : INT64_MIN;
}

static cs_result hold_age(const cs_gate_question *q, cs_gate_finding *out, cs_error *err) {
    (void)err;
    uint64_t max_s = q->requirement->max_age_s;
    if (max_s == 0) return CS_OK;
    int64_t age_ms = apart_ms(q->setting->now_ms, q->facts->record->ended_unix_ms);
    int64_t max_ms = max_s > INT64_MAX / 1000 ? INT64_MAX : (int64_t)max_s * 1000;
    int64_t skew_ms = q->setting->skew_ms > 0 ? q->setting->skew_ms : 0;
    if (age_ms < -skew_ms)
        cs_gate_refuse(out, CS_CODE_GATE_AGE,
                       "the run ended in the future, by %" PRId64 " ms, of which %" PRId64 " are allowed for clocks",
                       age_ms == INT64_MIN ? INT64_MAX : -age_ms, skew_ms);
    else if (age_ms > max_ms)
        cs_gate_refuse(out, CS_CODE_GATE_AGE, "the run ended %" PRId64 " %s ago", age_ms / 1000,
                       age_ms / 1000 == 1 ? "second" : "seconds");
    else
        cs_gate_pass(out, "the run ended %" PRId64 " %s ago", age_ms < 0 ? 0 : age_ms / 1000,
                     age_ms / 1000 == 1 ? "second" : "seconds");
    return CS_OK;
}

/* ---- all of them ----------------------------------------------------------------------------------------- */

#define PLACE(rule) [(rule)-CS_GATE_PROVIDER]

/* Work comes before time-out and truncation in the report, and looks at them itself. */
const cs_gate_condition cs_gate_conditions[CS_GATE_CONDITIONS] = {
    PLACE(CS_GATE_PROVIDER) = hold_provider,
    PLACE(CS_GATE_FLOOR) = hold_floor,
    PLACE(CS_GATE_SOFTWARE) = hold_software,
    PLACE(CS_GATE_SANDBOX_POLICY) = hold_sandbox_policy,
    PLACE(CS_GATE_GRANTS) = hold_grants,
    PLACE(CS_GATE_AGE) = hold_age,
    PLACE(CS_GATE_WORK) = cs_gate_hold_work,
    PLACE(CS_GATE_TIME_OUT) = cs_gate_hold_time_out,
    PLACE(CS_GATE_TRUNCATION) = cs_gate_hold_truncation,
    PLACE(CS_GATE_BIND) = cs_gate_hold_bind,
    PLACE(CS_GATE_COMPLETE) = cs_gate_hold_complete,
    PLACE(CS_GATE_TESTS) = cs_gate_hold_tests,
};

cs_result cs_gate_hold(const cs_gate_setting *setting, size_t index, const cs_gate_commit *commit,
                       const cs_gate_facts *facts, cs_gate_finding findings[CS_GATE_RULES], uint32_t *unfulfilled,
                       cs_gate_measured *measured, cs_error *err) {
    *measured = (cs_gate_measured){.tests = false};
    *unfulfilled = UINT32_MAX;
    cs_gate_question question = {.setting = setting,
                                 .requirement = &setting->policy->requirements[index],
                                 .scope = commit->scopes != NULL ? &commit->scopes[index] : NULL,
                                 .commit = commit,
                                 .facts = facts,
                                 .findings = findings,
                                 .measured = measured};
    uint32_t bits = 0;
    for (size_t i = 0; i < CS_GATE_CONDITIONS; i++) {
        cs_gate_finding *out = &findings[CS_GATE_PROVIDER + i];
        out->rule = (cs_gate_rule)(CS_GATE_PROVIDER + i);
        out->state = CS_GATE_NOT_ASKED;
        out->code = CS_CODE_OK;
        out->observed[0] = '\0';
        out->path[0] = '\0';
        cs_result result = setting->conditions[i](&question, out, err);
        if (result != CS_OK) return result;
        if (out->state == CS_GATE_REFUSED || out->state == CS_GATE_UNDECIDED) bits |= CS_GATE_BIT(out->rule);
    }
    *unfulfilled = bits;
    return CS_OK;
}
