/* Changes of one record that counts. Each is the smallest that its rule must refuse. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "gate/prove_internal.h"

#define TIMED_OUT PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_TIMED_OUT
#define SETUP_FAILED PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_SETUP_FAILED

/* ---- where it ran ---------------------------------------------------------------------------------------- */

/* A text that is none of the list: longer by one byte than the longest, so that none can be equal to it. */
static cs_gate_changed set_other(ProtobufCBinaryData *field, const cs_policy_list *list) {
    size_t longest = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].len > longest) longest = list->items[i].len;
    uint8_t *bytes = malloc(longest + 1);
    if (bytes == NULL) return CS_GATE_NO_MEMORY;
    memset(bytes, 'x', longest + 1);
    free(field->data);
    *field = (ProtobufCBinaryData){.len = longest + 1, .data = bytes};
    return CS_GATE_CHANGED;
}

static cs_gate_changed change_provider(cs_gate_trial *t) {
    cs_gate_changed changed = set_other(&t->response->record->provider, &t->requirement->allowed_providers);
    return changed == CS_GATE_CHANGED ? cs_gate_change_says(t, "the record names another provider") : changed;
}

static cs_gate_changed change_software(cs_gate_trial *t) {
    cs_gate_changed changed = set_other(&t->response->record->software_identity, &t->requirement->software);
    return changed == CS_GATE_CHANGED ? cs_gate_change_says(t, "the record names other software") : changed;
}

static cs_gate_changed change_sandbox_policy(cs_gate_trial *t) {
    cs_gate_changed changed = set_other(&t->response->record->policy, &t->requirement->sandbox_policies);
    return changed == CS_GATE_CHANGED ? cs_gate_change_says(t, "the record names another sandbox policy") : changed;
}

static cs_gate_changed change_floor(cs_gate_trial *t) {
    const char *below = cs_tier_word((cs_tier)(t->requirement->floor - 1));
    if (!cs_bytes_set(&t->response->record->isolation, cs_view_of(below))) return CS_GATE_NO_MEMORY;
    return cs_gate_change_says(t, "the record's tier is '%s', one below the floor", below);
}

/* ---- with what, and when ----------------------------------------------------------------------------------- */

/* Only scripts and projects have a grant, so a module or a cell becomes a script. */
static ProtobufCBinaryData *grant_of(cs_run_request *request) {
    if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT) return &request->project->grant_profile;
    if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT)
        return &request->javascript->grant_profile;
    Plimsoll__V1__JavaScriptRun *script = calloc(1, sizeof *script);
    if (script == NULL) return NULL;
    plimsoll__v1__java_script_run__init(script);
    if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE) cs_message_free(request->module);
    if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL) cs_message_free(request->cell);
    request->payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    request->javascript = script;
    return &script->grant_profile;
}

static cs_gate_changed change_grant(cs_gate_trial *t) {
    ProtobufCBinaryData *grant = grant_of(t->request);
    if (grant == NULL) return CS_GATE_NO_MEMORY;
    cs_gate_changed changed = set_other(grant, &t->requirement->grant_profiles);
    return changed == CS_GATE_CHANGED ? cs_gate_change_says(t, "the run used a grant profile that is not allowed")
                                      : changed;
}

static cs_gate_changed change_age(cs_gate_trial *t) {
    int64_t ended_ms = 0;
    int64_t span_ms = 0;
    if (t->requirement->max_age_s > INT64_MAX / 1000 ||
        __builtin_add_overflow((int64_t)t->requirement->max_age_s * 1000, 1, &span_ms) ||
        __builtin_sub_overflow(t->setting->now_ms, span_ms, &ended_ms))
        return CS_GATE_NO_CHANGE;
    t->response->record->ended_unix_ms = ended_ms;
    return cs_gate_change_says(t, "the run ended a millisecond longer ago than is allowed");
}

static cs_gate_changed change_age_future(cs_gate_trial *t) {
    int64_t skew_ms = t->setting->skew_ms > 0 ? t->setting->skew_ms : 0;
    int64_t ended_ms = 0;
    if (__builtin_add_overflow(t->setting->now_ms, skew_ms, &ended_ms) || ended_ms == INT64_MAX)
        return CS_GATE_NO_CHANGE;
    t->response->record->ended_unix_ms = ended_ms + 1;
    return cs_gate_change_says(t, "the run ended a millisecond further in the future than is allowed");
}

/* ---- the work ---------------------------------------------------------------------------------------------- */

static cs_gate_changed change_project_work(cs_gate_trial *t, Plimsoll__V1__ProjectResult *project) {
    if (project->n_steps > 0) {
        project->steps[0]->exit_code = 1;
        return cs_gate_change_says(t, "the first step ended with exit code 1");
    }
    project->outcome = SETUP_FAILED;
    return cs_gate_change_says(t, "the project's set-up failed");
}

static cs_gate_changed change_work(cs_gate_trial *t) {
    switch (t->response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        t->response->javascript->exit_code = 1;
        return cs_gate_change_says(t, "the script ended with exit code 1");
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        t->response->cell->exit_code = 1;
        return cs_gate_change_says(t, "the cell ended with exit code 1");
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        return change_project_work(t, t->response->project);
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        t->response->module->outcome = SETUP_FAILED;
        return cs_gate_change_says(t, "the module's set-up failed");
    default:
        return CS_GATE_NO_CHANGE;
    }
}

/* Leave the last step's result out. */
static cs_gate_changed change_steps(cs_gate_trial *t) {
    if (t->response->result_case != PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT) return CS_GATE_NO_CHANGE;
    Plimsoll__V1__ProjectResult *project = t->response->project;
    if (project->n_steps == 0) return CS_GATE_NO_CHANGE;
    cs_message_free(project->steps[--project->n_steps]);
    return cs_gate_change_says(t, "the last step did not run");
}

static cs_gate_changed change_time_out(cs_gate_trial *t) {
    switch (t->response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        t->response->javascript->timed_out = 1;
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        t->response->cell->timed_out = 1;
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        if (t->response->project->n_steps > 0)
            t->response->project->steps[0]->timed_out = 1;
        else
            t->response->project->outcome = TIMED_OUT;
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        t->response->module->outcome = TIMED_OUT;
        break;
    default:
        return CS_GATE_NO_CHANGE;
    }
    return cs_gate_change_says(t, "the run met its time limit");
}

/* A module's result has no mark for it, so a script's takes its place. */
static cs_gate_changed cut_module(cs_gate_trial *t) {
    Plimsoll__V1__JavaScriptResult *script = calloc(1, sizeof *script);
    if (script == NULL) return CS_GATE_NO_MEMORY;
    plimsoll__v1__java_script_result__init(script);
    script->stdout_truncated = 1;
    cs_message_free(t->response->module);
    t->response->result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT;
    t->response->javascript = script;
    return cs_gate_change_says(t, "the result is a script's whose standard output was cut");
}

static cs_gate_changed change_truncation(cs_gate_trial *t) {
    switch (t->response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        t->response->javascript->stdout_truncated = 1;
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        t->response->cell->stdout_truncated = 1;
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        if (t->response->project->n_steps == 0) return CS_GATE_NO_CHANGE;
        t->response->project->steps[0]->stdout_truncated = 1;
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        return cut_module(t);
    default:
        return CS_GATE_NO_CHANGE;
    }
    return cs_gate_change_says(t, "the standard output was cut");
}

static cs_gate_changed change_artifacts(cs_gate_trial *t) {
    if (t->response->result_case != PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT) return CS_GATE_NO_CHANGE;
    t->response->project->artifacts_truncated = 1;
    return cs_gate_change_says(t, "artifacts were cut");
}

/* ---- the files ----------------------------------------------------------------------------------------------- */

/* The first file of the run that a pattern of the binds matches, of the complete ones alone or of all. */
static bool find_bound(const cs_gate_trial *t, bool complete, size_t *out) {
    cs_gate_files files = cs_gate_files_of(t->request);
    for (size_t i = 0; i < files.count; i++) {
        for (size_t b = 0; b < t->requirement->bind_count; b++) {
            const cs_policy_bind *bind = &t->requirement->binds[b];
            if ((complete && !bind->complete) ||
                !cs_gate_list_matches(&bind->paths, cs_bytes_view(&files.items[i]->path)))
                continue;
            *out = i;
            return true;
        }
    }
    return false;
}

static cs_gate_changed change_file(cs_gate_trial *t) {
    size_t at = 0;
    if (!find_bound(t, false, &at)) return CS_GATE_NO_CHANGE;
    Plimsoll__V1__ProjectFile *file = cs_gate_files_of(t->request).items[at];
    if (file->content.len > 0)
        file->content.data[0] ^= 1;
    else if (!cs_bytes_set(&file->content, cs_view_of("\n")))
        return CS_GATE_NO_MEMORY;
    cs_gate_shown path = cs_gate_show(cs_bytes_view(&file->path));
    return cs_gate_change_says(t, "one byte of %s in the run is another", path.text);
}

static cs_gate_changed change_call(cs_gate_trial *t) {
    t->response->record->sequence = 2;
    return cs_gate_change_says(t, "the run is the second call of a session");
}

static cs_gate_changed change_files(cs_gate_trial *t) {
    size_t at = 0;
    if (!find_bound(t, true, &at)) return CS_GATE_NO_CHANGE;
    bool project = t->request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT;
    Plimsoll__V1__ProjectFile **items = project ? t->request->project->files : t->request->cell->files;
    size_t *count = project ? &t->request->project->n_files : &t->request->cell->n_files;
    cs_gate_shown path = cs_gate_show(cs_bytes_view(&items[at]->path));
    cs_message_free(items[at]);
    (*count)--;
    memmove(items + at, items + at + 1, (*count - at) * sizeof(Plimsoll__V1__ProjectFile *));
    return cs_gate_change_says(t, "the file %s is not in the run", path.text);
}

const cs_gate_change cs_gate_record_changes[] = {
    {CS_GATE_PROVIDER, CS_CODE_GATE_PROVIDER, change_provider},
    {CS_GATE_FLOOR, CS_CODE_GATE_FLOOR, change_floor},
    {CS_GATE_SOFTWARE, CS_CODE_GATE_SOFTWARE, change_software},
    {CS_GATE_SANDBOX_POLICY, CS_CODE_GATE_SANDBOX_POLICY, change_sandbox_policy},
    {CS_GATE_GRANTS, CS_CODE_GATE_GRANT, change_grant},
    {CS_GATE_AGE, CS_CODE_GATE_AGE, change_age},
    {CS_GATE_AGE, CS_CODE_GATE_AGE, change_age_future},
    {CS_GATE_WORK, CS_CODE_GATE_WORK_FAILED, change_work},
    {CS_GATE_WORK, CS_CODE_GATE_WORK_FAILED, change_steps},
    {CS_GATE_TIME_OUT, CS_CODE_GATE_TIMED_OUT, change_time_out},
    {CS_GATE_TRUNCATION, CS_CODE_GATE_TRUNCATED, change_truncation},
    {CS_GATE_TRUNCATION, CS_CODE_GATE_TRUNCATED, change_artifacts},
    {CS_GATE_BIND, CS_CODE_GATE_BIND, change_file},
    {CS_GATE_BIND, CS_CODE_GATE_BIND, change_call},
    {CS_GATE_BIND, CS_CODE_GATE_BIND, cs_gate_change_file_added},
    {CS_GATE_COMPLETE, CS_CODE_GATE_INCOMPLETE, change_files},
    {CS_GATE_TESTS, CS_CODE_GATE_TESTS_MISSING, cs_gate_change_tests_missing},
    {CS_GATE_TESTS, CS_CODE_GATE_TESTS_MISSING, cs_gate_change_tests_brought},
    {CS_GATE_TESTS, CS_CODE_GATE_TESTS_FEW, cs_gate_change_tests_few},
    {CS_GATE_TESTS, CS_CODE_GATE_TESTS_SKIPPED, cs_gate_change_tests_skipped},
    {CS_GATE_TESTS, CS_CODE_GATE_TESTS_FAILED, cs_gate_change_tests_failed},
};
const size_t cs_gate_record_change_count = sizeof cs_gate_record_changes / sizeof cs_gate_record_changes[0];
