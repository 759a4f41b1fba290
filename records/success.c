#include "records/success.h"

#include <inttypes.h>

#include "records/text.h"

#define COMPLETED PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED
#define TIMED_OUT PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_TIMED_OUT

/* How much of a command or a path a message shows. */
#define SHOWN_BYTES 90u

/* ---- time limits ----------------------------------------------------------------------------------- */

static bool project_timed_out(const Plimsoll__V1__ProjectResult *project) {
    for (size_t i = 0; i < project->n_steps; i++)
        if (project->steps[i]->timed_out) return true;
    return project->outcome == TIMED_OUT;
}

bool cs_work_timed_out(const cs_run_response *response) {
    switch (response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        return response->javascript->timed_out;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        return response->cell->timed_out;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        return project_timed_out(response->project);
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        return response->module->outcome == TIMED_OUT;
    default:
        return false;
    }
}

/* ---- each kind ------------------------------------------------------------------------------------- */

static cs_result check_exit(const char *what, int32_t exit_code, bool timed_out, const cs_work_aside *aside,
                            cs_error *err) {
    if (timed_out && aside->time_out) return CS_OK;
    if (timed_out) return cs_fail(err, CS_CODE_WORK_FAILED, "the %s did not end in time", what);
    if (exit_code == 0) return CS_OK;
    return cs_fail(err, CS_CODE_WORK_FAILED, "the %s ended with exit code %" PRId32, what, exit_code);
}

static cs_result check_outcome(Plimsoll__V1__ProjectOutcome outcome, const char *what, const cs_work_aside *aside,
                               cs_error *err) {
    if (outcome == COMPLETED || (outcome == TIMED_OUT && aside->time_out)) return CS_OK;
    return cs_fail(err, CS_CODE_WORK_FAILED, "the %s was not completed (outcome %d)", what, (int)outcome);
}

/* Each step that has a result: the request's, in time, and passed. */
static cs_result check_step(const Plimsoll__V1__ProjectRun *asked, size_t at, const Plimsoll__V1__StepResult *step,
                            const cs_work_aside *aside, cs_error *err) {
    cs_view command = cs_bytes_view(&step->command);
    if (at >= asked->n_steps || !cs_view_equal(cs_bytes_view(&asked->steps[at]), command))
        return cs_fail(err, CS_CODE_WORK_FAILED, "result %zu is not of step %zu of the request", at + 1, at + 1);
    if (step->exit_code == 0 && !step->timed_out) return CS_OK;
    if (step->timed_out && aside->time_out) return CS_OK;
    cs_view shown = cs_utf8_cut(command, SHOWN_BYTES);
    const char *dots = shown.len < command.len ? "..." : "";
    if (step->timed_out)
        return cs_fail(err, CS_CODE_WORK_FAILED, "step %zu (%.*s%s) did not end in time", at + 1, (int)shown.len,
                       (const char *)shown.ptr, dots);
    return cs_fail(err, CS_CODE_WORK_FAILED, "step %zu (%.*s%s) ended with exit code %" PRId32, at + 1, (int)shown.len,
                   (const char *)shown.ptr, dots, step->exit_code);
}

static bool came_back(const Plimsoll__V1__ProjectResult *given, cs_view path) {
    for (size_t i = 0; i < given->n_artifacts; i++)
        if (cs_view_equal(cs_bytes_view(&given->artifacts[i]->path), path)) return true;
    return false;
}

static cs_result check_artifacts(const Plimsoll__V1__ProjectRun *asked, const Plimsoll__V1__ProjectResult *given,
                                 const cs_work_aside *aside, cs_error *err) {
    if (given->artifacts_truncated && aside->cut_artifacts) return CS_OK;
    for (size_t i = 0; i < asked->n_artifacts; i++) {
        cs_view path = cs_bytes_view(&asked->artifacts[i]);
        if (aside->artifact.ptr != NULL && cs_view_equal(path, aside->artifact)) continue;
        if (came_back(given, path)) continue;
        cs_view shown = cs_utf8_cut(path, SHOWN_BYTES);
        cs_result result = cs_fail(err, CS_CODE_WORK_FAILED, "the artifact %.*s%s did not come back", (int)shown.len,
                                   (const char *)shown.ptr, shown.len < path.len ? "..." : "");
        cs_error_where(err, "artifacts[%zu]", i);
        return result;
    }
    return CS_OK;
}

static cs_result check_project(const Plimsoll__V1__ProjectRun *asked, const Plimsoll__V1__ProjectResult *given,
                               const cs_work_aside *aside, cs_error *err) {
    for (size_t i = 0; i < given->n_steps; i++) {
        cs_result result = check_step(asked, i, given->steps[i], aside, err);
        if (result == CS_OK) continue;
        cs_error_where(err, "steps[%zu]", i);
        return result;
    }
    cs_result result = check_outcome(given->outcome, "project", aside, err);
    if (result != CS_OK || (aside->time_out && project_timed_out(given))) return result;
    if (given->n_steps != asked->n_steps)
        return cs_fail(err, CS_CODE_WORK_FAILED, "%zu of %zu steps ran", given->n_steps, asked->n_steps);
    return check_artifacts(asked, given, aside, err);
}

/* A row without a result did not run, whatever the module run says of itself. */
static cs_result check_module(const Plimsoll__V1__ModuleRun *asked, const Plimsoll__V1__ModuleResult *given,
                              const cs_work_aside *aside, cs_error *err) {
    for (size_t i = 0; i < given->n_runs; i++) {
        if (given->runs[i]->status == 0) continue;
        cs_result result =
            cs_fail(err, CS_CODE_WORK_FAILED, "row %zu ended with status %" PRId32, i + 1, given->runs[i]->status);
        cs_error_where(err, "runs[%zu]", i);
        return result;
    }
    cs_result result = check_outcome(given->outcome, "module run", aside, err);
    if (result != CS_OK || given->outcome == TIMED_OUT || given->n_runs == asked->n_rows) return result;
    return cs_fail(err, CS_CODE_WORK_FAILED, "%zu of %zu rows ran", given->n_runs, asked->n_rows);
}

/* ---- all of them ----------------------------------------------------------------------------------- */

cs_result cs_work_succeeded_beside(const cs_run_request *request, const cs_run_response *response,
                                   const cs_work_aside *aside, cs_error *err) {
    switch (response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        return check_exit("script", response->javascript->exit_code, response->javascript->timed_out, aside, err);
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        return check_exit("cell", response->cell->exit_code, response->cell->timed_out, aside, err);
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        if (request->payload_case != PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT) break;
        return check_project(request->project, response->project, aside, err);
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        if (request->payload_case != PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE) break;
        return check_module(request->module, response->module, aside, err);
    default:
        break;
    }
    return cs_fail(err, CS_CODE_WORK_FAILED, "there is no result of the request's kind");
}

cs_result cs_work_succeeded(const cs_run_request *request, const cs_run_response *response, cs_error *err) {
    static const cs_work_aside nothing = {.time_out = false};
    return cs_work_succeeded_beside(request, response, &nothing, err);
}
