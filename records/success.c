#include "records/success.h"

static cs_result check_exit(const char *what, int32_t exit_code, bool timed_out, cs_error *err) {
    if (timed_out) return cs_fail(err, CS_CODE_WORK_FAILED, "%s did not end in time", what);
    if (exit_code != 0) return cs_fail(err, CS_CODE_WORK_FAILED, "%s ended with exit code %d", what, exit_code);
    return CS_OK;
}

static cs_result check_outcome(Plimsoll__V1__ProjectOutcome outcome, const char *what, cs_error *err) {
    if (outcome == PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED) return CS_OK;
    return cs_fail(err, CS_CODE_WORK_FAILED, "the %s was not completed (outcome %d)", what, (int)outcome);
}

static cs_result check_project(const Plimsoll__V1__ProjectRun *asked, const Plimsoll__V1__ProjectResult *given,
                               cs_error *err) {
    cs_result result = check_outcome(given->outcome, "project", err);
    for (size_t i = 0; result == CS_OK && i < given->n_steps; i++) {
        result = check_exit("the step", given->steps[i]->exit_code, given->steps[i]->timed_out != 0, err);
        if (result != CS_OK) cs_error_where(err, "steps[%zu]", i);
    }
    if (result != CS_OK) return result;
    if (given->n_steps != asked->n_steps)
        return cs_fail(err, CS_CODE_WORK_FAILED, "%zu of %zu steps were run", given->n_steps, asked->n_steps);
    if (given->n_artifacts != asked->n_artifacts)
        return cs_fail(err, CS_CODE_WORK_FAILED, "%zu of %zu artifacts came back", given->n_artifacts,
                       asked->n_artifacts);
    return CS_OK;
}

static cs_result check_module(const Plimsoll__V1__ModuleResult *given, cs_error *err) {
    cs_result result = check_outcome(given->outcome, "module run", err);
    for (size_t i = 0; result == CS_OK && i < given->n_runs; i++) {
        if (given->runs[i]->status == 0) continue;
        result = cs_fail(err, CS_CODE_WORK_FAILED, "the row ended with status %d", given->runs[i]->status);
        cs_error_where(err, "runs[%zu]", i);
    }
    return result;
}

cs_result cs_work_succeeded(const cs_run_request *request, const cs_run_response *response, cs_error *err) {
    switch (response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        return check_exit("the script", response->javascript->exit_code, response->javascript->timed_out != 0, err);
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        return check_exit("the cell", response->cell->exit_code, response->cell->timed_out != 0, err);
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        if (request->payload_case != PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT) break;
        return check_project(request->project, response->project, err);
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        return check_module(response->module, err);
    default:
        break;
    }
    return cs_fail(err, CS_CODE_WORK_FAILED, "there is no result of the request's kind");
}
