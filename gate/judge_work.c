/* The conditions of one record: did the work succeed, whole and in time?
 *
 * One cause is refused by one rule. A run that met its time limit has a step without exit code 0, steps that never ran
 * and artifacts that are missing; a run whose artifacts were cut has artifacts that are missing. So time-out comes
 * before truncation, and truncation before work: what either of them explains is no failure of the work. A step that
 * failed by itself is one all the same. The artifact with the tests is the matter of the rule about tests.
 */
#include "gate/judge_internal.h"
#include "records/success.h"
#include "records/text.h"

bool cs_gate_lost_artifacts(const cs_run_response *response) {
    return response->result_case == PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT &&
           response->project->artifacts_truncated;
}

/* ---- time-out and truncation ------------------------------------------------------------------------------- */

cs_result cs_gate_hold_time_out(const cs_gate_question *q, cs_gate_finding *out, cs_error *err) {
    (void)err;
    if (cs_work_timed_out(q->facts->response))
        cs_gate_refuse(out, CS_CODE_GATE_TIMED_OUT, "the run met its time limit");
    else
        cs_gate_pass(out, "the run ended in time");
    return CS_OK;
}

/* What was cut; NULL: nothing. *step is the step of which it was, SIZE_MAX of none. */
static const char *cut_of_project(const Plimsoll__V1__ProjectResult *project, size_t *step) {
    for (size_t i = 0; i < project->n_steps; i++) {
        *step = i;
        if (project->steps[i]->stdout_truncated) return "the standard output";
        if (project->steps[i]->stderr_truncated) return "the standard error output";
    }
    *step = SIZE_MAX;
    return project->artifacts_truncated ? "an artifact" : NULL;
}

static const char *cut_of(const cs_run_response *response, size_t *step) {
    *step = SIZE_MAX;
    switch (response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        if (response->javascript->stdout_truncated) return "the standard output";
        return response->javascript->stderr_truncated ? "the standard error output" : NULL;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        if (response->cell->stdout_truncated) return "the standard output";
        return response->cell->stderr_truncated ? "the standard error output" : NULL;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        return cut_of_project(response->project, step);
    default:
        return NULL; /* the outputs of a module have no such mark */
    }
}

cs_result cs_gate_hold_truncation(const cs_gate_question *q, cs_gate_finding *out, cs_error *err) {
    (void)err;
    size_t step = SIZE_MAX;
    const char *what = cut_of(q->facts->response, &step);
    if (what == NULL)
        cs_gate_pass(out, "nothing was cut");
    else if (step == SIZE_MAX)
        cs_gate_refuse(out, CS_CODE_GATE_TRUNCATED, "%s was cut", what);
    else
        cs_gate_refuse(out, CS_CODE_GATE_TRUNCATED, "%s of step %zu was cut", what, step + 1);
    return CS_OK;
}

/* ---- work ---------------------------------------------------------------------------------------------------- */

/* What it says of work of which nothing failed. */
static void pass(const cs_run_response *response, cs_gate_finding *out) {
    size_t steps;
    switch (response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        steps = response->project->n_steps;
        cs_gate_pass(out, "%zu of %zu %s ran, each with exit code 0", steps, steps, cs_plural(steps, "step", "steps"));
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        cs_gate_pass(out, "%zu %s, each with status 0", response->module->n_runs,
                     cs_plural(response->module->n_runs, "row", "rows"));
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        cs_gate_pass(out, "the cell ended with exit code 0");
        break;
    default:
        cs_gate_pass(out, "the script ended with exit code 0");
        break;
    }
}

cs_result cs_gate_hold_work(const cs_gate_question *q, cs_gate_finding *out, cs_error *err) {
    (void)err;
    const cs_run_response *response = q->facts->response;
    const cs_policy_tests *tests = &q->requirement->tests;
    const cs_work_aside aside = {
        .time_out = true, .cut_artifacts = true, .artifact = tests->present ? tests->artifact : (cs_view){.ptr = NULL}};
    cs_error failed = CS_ERROR_INIT;
    if (cs_work_succeeded_beside(q->facts->request, response, &aside, &failed) != CS_OK)
        cs_gate_refuse(out, CS_CODE_GATE_WORK_FAILED, "%s", failed.message);
    else if (cs_work_timed_out(response))
        cs_gate_leave(out, "the run met its time limit");
    else
        pass(response, out);
    return CS_OK;
}
