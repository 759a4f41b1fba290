/* Did the work succeed? One passing case a kind, and twins in which one thing differs. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "records/success.h"
#include "tests/support/expect.h"

#define OUTCOME(name) PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_##name

/* A project of one step and one artifact that went well, on the stack. */
typedef struct scene {
    cs_run_request request;
    cs_run_response response;
    Plimsoll__V1__ProjectRun asked;
    Plimsoll__V1__ProjectResult given;
    Plimsoll__V1__StepResult step;
    Plimsoll__V1__StepResult *steps[1];
    Plimsoll__V1__Artifact artifact;
    Plimsoll__V1__Artifact *artifacts[1];
    ProtobufCBinaryData texts[2];
    Plimsoll__V1__JavaScriptResult javascript;
    Plimsoll__V1__CellResult cell;
    Plimsoll__V1__ModuleRun asked_module;
    Plimsoll__V1__ModuleResult module;
    Plimsoll__V1__ModuleRowResult row;
    Plimsoll__V1__ModuleRowResult *rows[1];
} scene;

static void project(scene *s) {
    *s = (scene){.request = PLIMSOLL__V1__RUN_REQUEST__INIT,
                 .response = PLIMSOLL__V1__RUN_RESPONSE__INIT,
                 .asked = PLIMSOLL__V1__PROJECT_RUN__INIT,
                 .given = PLIMSOLL__V1__PROJECT_RESULT__INIT,
                 .step = PLIMSOLL__V1__STEP_RESULT__INIT,
                 .artifact = PLIMSOLL__V1__ARTIFACT__INIT};
    s->steps[0] = &s->step;
    s->artifacts[0] = &s->artifact;
    s->asked.steps = &s->texts[0];
    s->asked.artifacts = &s->texts[1];
    s->asked.n_steps = s->asked.n_artifacts = s->given.n_steps = s->given.n_artifacts = 1;
    s->given.steps = s->steps;
    s->given.artifacts = s->artifacts;
    s->given.outcome = OUTCOME(COMPLETED);
    s->request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT;
    s->request.project = &s->asked;
    s->response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT;
    s->response.project = &s->given;
}

static void javascript(scene *s) {
    *s = (scene){.request = PLIMSOLL__V1__RUN_REQUEST__INIT,
                 .response = PLIMSOLL__V1__RUN_RESPONSE__INIT,
                 .javascript = PLIMSOLL__V1__JAVA_SCRIPT_RESULT__INIT};
    s->request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    s->response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT;
    s->response.javascript = &s->javascript;
}

static void cell(scene *s) {
    *s = (scene){.request = PLIMSOLL__V1__RUN_REQUEST__INIT,
                 .response = PLIMSOLL__V1__RUN_RESPONSE__INIT,
                 .cell = PLIMSOLL__V1__CELL_RESULT__INIT};
    s->request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL;
    s->response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL;
    s->response.cell = &s->cell;
}

static void module(scene *s) {
    *s = (scene){.request = PLIMSOLL__V1__RUN_REQUEST__INIT,
                 .response = PLIMSOLL__V1__RUN_RESPONSE__INIT,
                 .asked_module = PLIMSOLL__V1__MODULE_RUN__INIT,
                 .module = PLIMSOLL__V1__MODULE_RESULT__INIT,
                 .row = PLIMSOLL__V1__MODULE_ROW_RESULT__INIT};
    s->rows[0] = &s->row;
    s->module.runs = s->rows;
    s->module.n_runs = 1;
    s->module.outcome = OUTCOME(COMPLETED);
    s->request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE;
    s->request.module = &s->asked_module;
    s->asked_module.n_rows = 1; /* only how many is looked at */
    s->response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE;
    s->response.module = &s->module;
}

static ProtobufCBinaryData bytes(const char *text) {
    return (ProtobufCBinaryData){.data = (uint8_t *)(uintptr_t)text, .len = strlen(text)};
}

static void expect_failed(const scene *s, const char *where) {
    cs_error err = CS_ERROR_INIT;
    EXPECT_CODE(cs_work_succeeded(&s->request, &s->response, &err), err, CS_FAILED, CS_CODE_WORK_FAILED);
    cr_expect_str_eq(err.where, where);
}

static void expect_succeeded(const scene *s) {
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_work_succeeded(&s->request, &s->response, &err), err);
}

Test(records_success, project) {
    scene s;
    project(&s);
    expect_succeeded(&s);
    s.step.exit_code = 1;
    expect_failed(&s, "steps[0]");
    project(&s);
    s.step.timed_out = 1;
    expect_failed(&s, "steps[0]");
    project(&s);
    s.given.outcome = OUTCOME(SETUP_FAILED);
    expect_failed(&s, "");
    project(&s);
    s.asked.n_steps = 2; /* the second was never run */
    expect_failed(&s, "");
    project(&s);
    s.given.n_artifacts = 0;
    expect_failed(&s, "artifacts[0]");
    project(&s);
    s.artifact.path = bytes("another");
    expect_failed(&s, "artifacts[0]");
    project(&s);
    s.step.command = bytes("another");
    expect_failed(&s, "steps[0]");
    project(&s);
    s.request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    expect_failed(&s, "");
}

Test(records_success, javascript) {
    scene s;
    javascript(&s);
    expect_succeeded(&s);
    s.javascript.exit_code = 3;
    expect_failed(&s, "");
    javascript(&s);
    s.javascript.timed_out = 1;
    expect_failed(&s, "");
    javascript(&s);
    s.response.result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT__NOT_SET;
    expect_failed(&s, "");
}

Test(records_success, cell) {
    scene s;
    cell(&s);
    expect_succeeded(&s);
    s.cell.exit_code = 1;
    expect_failed(&s, "");
    cell(&s);
    s.cell.timed_out = 1;
    expect_failed(&s, "");
    /* What the interpreter did, and that the output was cut, say nothing of the cell's own end. */
    cell(&s);
    s.cell.interpreter_started = 1;
    s.cell.interpreter_ended = 1;
    s.cell.stdout_truncated = 1;
    expect_succeeded(&s);
}

Test(records_success, module) {
    scene s;
    module(&s);
    expect_succeeded(&s);
    s.row.status = 2;
    expect_failed(&s, "runs[0]");
    module(&s);
    s.module.outcome = OUTCOME(TIMED_OUT);
    expect_failed(&s, "");
    module(&s);
    s.asked_module.n_rows = 2; /* the second has no result, whatever the module run says of itself */
    expect_failed(&s, "");
    module(&s);
    s.module.n_runs = 0;
    expect_failed(&s, "");
    module(&s);
    s.request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    expect_failed(&s, "");
}

Test(records_success, what_a_message_shows_is_bounded_and_whole) {
    scene s;
    cs_error err = CS_ERROR_INIT;
    char command[200];
    memset(command, 'a', sizeof command);
    command[sizeof command - 1] = '\0';
    memcpy(command + 89, "\xC3\xA9", 2); /* across the edge */
    project(&s);
    s.step.exit_code = 7;
    s.step.command = s.texts[0] = bytes(command);
    EXPECT_CODE(cs_work_succeeded(&s.request, &s.response, &err), err, CS_FAILED, CS_CODE_WORK_FAILED);
    char expected[200];
    snprintf(expected, sizeof expected, "step 1 (%.89s...) ended with exit code 7", command);
    cr_expect_str_eq(err.message, expected);
    s.step.command = s.texts[0] = bytes("\x1b[2J");
    EXPECT_CODE(cs_work_succeeded(&s.request, &s.response, &err), err, CS_FAILED, CS_CODE_WORK_FAILED);
    cr_expect_str_eq(err.message, "step 1 (\\x1b[2J) ended with exit code 7");
}

/* ---- with something left aside ------------------------------------------------------------------------ */

static cs_result beside(const scene *s, cs_work_aside aside) {
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_work_succeeded_beside(&s->request, &s->response, &aside, &err);
    cr_expect_eq(err.code, result == CS_OK ? CS_CODE_INTERNAL : CS_CODE_WORK_FAILED);
    return result;
}

static const cs_work_aside nothing = {.time_out = false};
static const cs_work_aside time_out = {.time_out = true};
static const cs_work_aside cut_artifacts = {.cut_artifacts = true};

static void time_out_matters(const scene *s) {
    cr_expect(cs_work_timed_out(&s->response));
    cr_expect_eq(beside(s, nothing), CS_FAILED);
    cr_expect_eq(beside(s, cut_artifacts), CS_FAILED);
    cr_expect_eq(beside(s, time_out), CS_OK);
}

Test(records_success, a_time_out_left_aside) {
    scene s;
    javascript(&s);
    cr_expect_not(cs_work_timed_out(&s.response));
    s.javascript.timed_out = 1;
    s.javascript.exit_code = 137;
    time_out_matters(&s);
    s.javascript.timed_out = 0;
    cr_expect_eq(beside(&s, time_out), CS_FAILED);
    cell(&s);
    cr_expect_not(cs_work_timed_out(&s.response));
    s.cell.timed_out = 1;
    time_out_matters(&s);
    module(&s);
    cr_expect_not(cs_work_timed_out(&s.response));
    s.module.outcome = OUTCOME(TIMED_OUT);
    s.module.n_runs = 0;
    time_out_matters(&s);
    s.module.n_runs = 1;
    s.row.status = 1; /* it failed by itself */
    cr_expect_eq(beside(&s, time_out), CS_FAILED);
    project(&s);
    cr_expect_not(cs_work_timed_out(&s.response));
    s.step.timed_out = 1;
    s.step.exit_code = 137;
    s.asked.n_steps = 2;
    s.given.n_artifacts = 0;
    time_out_matters(&s);
    s.step.timed_out = 0;
    s.given.outcome = OUTCOME(TIMED_OUT);
    cr_expect_eq(beside(&s, time_out), CS_FAILED); /* the step failed by itself */
    s.step.exit_code = 0;
    time_out_matters(&s);
}

Test(records_success, artifacts_left_aside) {
    scene s;
    project(&s);
    s.texts[1] = bytes("report.xml");
    s.artifact.path = bytes("report.xml");
    cr_expect_eq(beside(&s, nothing), CS_OK);
    s.given.n_artifacts = 0;
    cr_expect_eq(beside(&s, cut_artifacts), CS_FAILED); /* none was cut */
    cr_expect_eq(beside(&s, (cs_work_aside){.artifact = cs_view_of("report.xml")}), CS_OK);
    cr_expect_eq(beside(&s, (cs_work_aside){.artifact = cs_view_of("report.xm")}), CS_FAILED);
    s.given.artifacts_truncated = 1;
    cr_expect_eq(beside(&s, nothing), CS_FAILED);
    cr_expect_eq(beside(&s, time_out), CS_FAILED);
    cr_expect_eq(beside(&s, cut_artifacts), CS_OK);
}
