/* The conditions of one record: did the work succeed, whole and in time?
 *
 * One cause is refused by one rule. A run that met its time limit has a step without exit code 0, steps that never ran
 * and artifacts that are missing; a run whose artifacts were cut has artifacts that are missing. So time-out comes
 * before truncation, and truncation before work: what either of them explains is no failure of the work. A step that
 * failed by itself is one all the same. The artifact with the tests is the matter of the rule about tests.
 */
#include <inttypes.h>
#include <string.h>

#include "gate/judge_internal.h"

#define COMPLETED PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED
#define TIMED_OUT PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_TIMED_OUT

static bool project_timed_out(const Plimsoll__V1__ProjectResult *project) {
    for (size_t i = 0; i < project->n_steps; i++)
        if (project->steps[i]->timed_out) return true;
    return project->outcome == TIMED_OUT;
}

bool cs_gate_timed_out(const cs_run_response *response) {
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

bool cs_gate_lost_artifacts(const cs_run_response *response) {
    return response->result_case == PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT &&
           response->project->artifacts_truncated;
}

/* ---- time-out and truncation ------------------------------------------------------------------------------- */

cs_result cs_gate_hold_time_out(const cs_gate_question *q, cs_gate_finding *out, cs_error *err) {
    (void)err;
    if (cs_gate_timed_out(q->facts->response))
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

static bool came_back(const Plimsoll__V1__ProjectResult *given, cs_view path) {
    for (size_t i = 0; i < given->n_artifacts; i++)
        if (cs_view_equal(cs_bytes_view(&given->artifacts[i]->path), path)) return true;
    return false;
}

static bool artifacts_are_there(const cs_gate_question *q, cs_gate_finding *out) {
    const Plimsoll__V1__ProjectRun *asked = q->facts->request->project;
    for (size_t i = 0; i < asked->n_artifacts; i++) {
        cs_view path = cs_bytes_view(&asked->artifacts[i]);
        if (q->requirement->tests.present && cs_view_equal(path, q->requirement->tests.artifact)) continue;
        if (came_back(q->facts->response->project, path)) continue;
        cs_gate_shown shown = cs_gate_show(path);
        cs_gate_refuse(out, CS_CODE_GATE_WORK_FAILED, "the artifact %s did not come back", shown.text);
        return false;
    }
    return true;
}

/* Each step that has a result: the request's, and passed unless it was stopped by the time limit. */
static bool steps_passed(const Plimsoll__V1__ProjectRun *asked, const Plimsoll__V1__ProjectResult *given,
                         cs_gate_finding *out) {
    for (size_t i = 0; i < given->n_steps; i++) {
        const Plimsoll__V1__StepResult *step = given->steps[i];
        if (i >= asked->n_steps || !cs_view_equal(cs_bytes_view(&asked->steps[i]), cs_bytes_view(&step->command))) {
            cs_gate_refuse(out, CS_CODE_GATE_WORK_FAILED, "result %zu is not of step %zu of the request", i + 1, i + 1);
            return false;
        }
        if (step->exit_code == 0 || step->timed_out) continue;
        cs_gate_shown shown = cs_gate_show(cs_bytes_view(&step->command));
        cs_gate_refuse(out, CS_CODE_GATE_WORK_FAILED, "step %zu (%s) ended with exit code %" PRId32, i + 1, shown.text,
                       step->exit_code);
        return false;
    }
    return true;
}

static void hold_project(const cs_gate_question *q, bool timed_out, cs_gate_finding *out) {
    const Plimsoll__V1__ProjectRun *asked = q->facts->request->project;
    const Plimsoll__V1__ProjectResult *given = q->facts->response->project;
    if (!steps_passed(asked, given, out)) return;
    if (given->outcome != COMPLETED && given->outcome != TIMED_OUT) {
        cs_gate_refuse(out, CS_CODE_GATE_WORK_FAILED, "the project was not completed (outcome %d)",
                       (int)given->outcome);
        return;
    }
    if (timed_out) return;
    if (given->n_steps != asked->n_steps) {
        cs_gate_refuse(out, CS_CODE_GATE_WORK_FAILED, "%zu of %zu steps ran", given->n_steps, asked->n_steps);
        return;
    }
    if (!given->artifacts_truncated && !artifacts_are_there(q, out)) return;
    cs_gate_pass(out, "%zu of %zu steps ran, each with exit code 0", given->n_steps, asked->n_steps);
}

static void hold_module(const cs_gate_question *q, bool timed_out, cs_gate_finding *out) {
    size_t rows = q->facts->request->module->n_rows;
    const Plimsoll__V1__ModuleResult *module = q->facts->response->module;
    for (size_t i = 0; i < module->n_runs; i++) {
        if (module->runs[i]->status == 0) continue;
        cs_gate_refuse(out, CS_CODE_GATE_WORK_FAILED, "row %zu ended with status %" PRId32, i + 1,
                       module->runs[i]->status);
        return;
    }
    if (timed_out) return;
    if (module->outcome != COMPLETED)
        cs_gate_refuse(out, CS_CODE_GATE_WORK_FAILED, "the module run was not completed (outcome %d)",
                       (int)module->outcome);
    else if (module->n_runs != rows)
        cs_gate_refuse(out, CS_CODE_GATE_WORK_FAILED, "%zu of %zu rows ran", module->n_runs, rows);
    else
        cs_gate_pass(out, "%zu rows, each with status 0", module->n_runs);
}

static void hold_exit(const char *what, int32_t exit_code, bool timed_out, cs_gate_finding *out) {
    if (timed_out) return;
    if (exit_code == 0)
        cs_gate_pass(out, "the %s ended with exit code 0", what);
    else
        cs_gate_refuse(out, CS_CODE_GATE_WORK_FAILED, "the %s ended with exit code %" PRId32, what, exit_code);
}

cs_result cs_gate_hold_work(const cs_gate_question *q, cs_gate_finding *out, cs_error *err) {
    (void)err;
    const cs_run_response *response = q->facts->response;
    bool timed_out = cs_gate_timed_out(response);
    cs_gate_leave(out, "the run met its time limit");
    switch (response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        hold_exit("script", response->javascript->exit_code, timed_out, out);
        return CS_OK;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        hold_exit("cell", response->cell->exit_code, timed_out, out);
        return CS_OK;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        if (q->facts->request->payload_case != PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT) break;
        hold_project(q, timed_out, out);
        return CS_OK;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        if (q->facts->request->payload_case != PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE) break;
        hold_module(q, timed_out, out);
        return CS_OK;
    default:
        break;
    }
    cs_gate_refuse(out, CS_CODE_GATE_WORK_FAILED, "there is no result of the request's kind");
    return CS_OK;
}
