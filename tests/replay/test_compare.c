/* The first difference between two results. Expected fields, offsets and excerpts are literals; that a
 * difference is found exactly when the digests differ is held against the tests' own digest (canon.h). */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "replay/compare.h"
#include "tests/support/canon.h"
#include "tests/support/expect.h"

/* One result of each kind, on the stack. */
typedef struct results {
    cs_run_response response;
    Plimsoll__V1__JavaScriptResult javascript;
    Plimsoll__V1__CellResult cell;
    Plimsoll__V1__ProjectResult project;
    Plimsoll__V1__StepResult steps[2];
    Plimsoll__V1__StepResult *step_list[2];
    Plimsoll__V1__Artifact artifact;
    Plimsoll__V1__Artifact *artifact_list[1];
    Plimsoll__V1__ModuleResult module;
    Plimsoll__V1__ModuleRowResult rows[2];
    Plimsoll__V1__ModuleRowResult *row_list[2];
    double outputs[3];
} results;

static void fill_project(results *r) {
    r->project = (Plimsoll__V1__ProjectResult)PLIMSOLL__V1__PROJECT_RESULT__INIT;
    for (int i = 0; i < 2; i++) {
        r->steps[i] = (Plimsoll__V1__StepResult)PLIMSOLL__V1__STEP_RESULT__INIT;
        r->steps[i].command = borrow("make test");
        r->steps[i].stdout = borrow("all good\n");
        r->step_list[i] = &r->steps[i];
    }
    r->artifact = (Plimsoll__V1__Artifact)PLIMSOLL__V1__ARTIFACT__INIT;
    r->artifact.path = borrow("out.bin");
    r->artifact.content = borrow("abcdef");
    r->artifact_list[0] = &r->artifact;
    r->project.n_steps = 2;
    r->project.steps = r->step_list;
    r->project.n_artifacts = 1;
    r->project.artifacts = r->artifact_list;
    r->project.outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED;
}

static void fill_module(results *r) {
    r->module = (Plimsoll__V1__ModuleResult)PLIMSOLL__V1__MODULE_RESULT__INIT;
    for (int i = 0; i < 2; i++) {
        r->rows[i] = (Plimsoll__V1__ModuleRowResult)PLIMSOLL__V1__MODULE_ROW_RESULT__INIT;
        r->rows[i].n_outputs = 3;
        r->rows[i].outputs = r->outputs;
        r->row_list[i] = &r->rows[i];
    }
    r->outputs[0] = 0.1;
    r->outputs[1] = 0.0;
    r->outputs[2] = 3;
    r->module.n_runs = 2;
    r->module.runs = r->row_list;
    r->module.width = 3;
}

static void fill(results *r) {
    memset(r, 0, sizeof *r);
    r->response = (cs_run_response)PLIMSOLL__V1__RUN_RESPONSE__INIT;
    r->javascript = (Plimsoll__V1__JavaScriptResult)PLIMSOLL__V1__JAVA_SCRIPT_RESULT__INIT;
    r->javascript.stdout = borrow("hello, world\n");
    r->cell = (Plimsoll__V1__CellResult)PLIMSOLL__V1__CELL_RESULT__INIT;
    r->cell.stdout = borrow("hello, world\n");
    fill_project(r);
    fill_module(r);
}

static void choose(results *r, Plimsoll__V1__RunResponse__ResultCase kind) {
    r->response.result_case = kind;
    if (kind == PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT) r->response.javascript = &r->javascript;
    if (kind == PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT) r->response.project = &r->project;
    if (kind == PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE) r->response.module = &r->module;
    if (kind == PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL) r->response.cell = &r->cell;
}

static bool digests_differ(const results *a, const results *b) {
    char left[65];
    char right[65];
    canon_result(&a->response, left);
    canon_result(&b->response, right);
    return strcmp(left, right) != 0;
}

/* Compare the base with one changed copy, of this kind. `field` NULL: no difference expected. */
static void expect_difference(void (*change)(results *), Plimsoll__V1__RunResponse__ResultCase kind, const char *field,
                              const char *a_text, const char *b_text) {
    results a;
    results b;
    fill(&a);
    fill(&b);
    change(&b);
    choose(&a, kind);
    choose(&b, kind);
    cs_difference difference;
    cs_compare_results(&a.response, &b.response, &difference);
    cr_expect_eq(difference.differs, digests_differ(&a, &b), "%s: the digests say otherwise", difference.field);
    cr_expect_eq(difference.differs, field != NULL, "%s", difference.field);
    cr_expect_str_eq(difference.field, field != NULL ? field : "");
    cr_expect_str_eq(difference.excerpt_a, a_text, "%s: '%s'", difference.field, difference.excerpt_a);
    cr_expect_str_eq(difference.excerpt_b, b_text, "%s: '%s'", difference.field, difference.excerpt_b);
}

#define JAVASCRIPT PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT
#define PROJECT PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT
#define MODULE PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE
#define CELL PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL

static void nothing(results *r) {
    (void)r;
}

Test(compare, equal_results_do_not_differ) {
    expect_difference(nothing, JAVASCRIPT, NULL, "", "");
    expect_difference(nothing, PROJECT, NULL, "", "");
    expect_difference(nothing, MODULE, NULL, "", "");
    expect_difference(nothing, CELL, NULL, "", "");
    expect_difference(nothing, PLIMSOLL__V1__RUN_RESPONSE__RESULT__NOT_SET, NULL, "", "");
}

/* ---- javascript and cell -------------------------------------------------------------------- */

static void exit_code(results *r) {
    r->javascript.exit_code = -1;
    r->cell.exit_code = -1;
}
static void timed_out(results *r) {
    r->javascript.timed_out = true;
    r->cell.timed_out = true;
}
static void other_stdout(results *r) {
    r->javascript.stdout = borrow("hello, World\n");
    r->cell.stdout = borrow("hello, World\n");
}
static void other_stderr(results *r) {
    r->javascript.stderr = borrow("oops");
    r->cell.stderr = borrow("oops");
}
static void stdout_cut(results *r) {
    r->javascript.stdout_truncated = true;
    r->cell.stdout_truncated = true;
}
static void stderr_cut(results *r) {
    r->javascript.stderr_truncated = true;
    r->cell.stderr_truncated = true;
}
static void started(results *r) {
    r->cell.interpreter_started = true;
}
static void ended(results *r) {
    r->cell.interpreter_ended = true;
}

Test(compare, every_field_of_javascript) {
    expect_difference(exit_code, JAVASCRIPT, "exit_code", "0", "-1");
    expect_difference(timed_out, JAVASCRIPT, "timed_out", "false", "true");
    expect_difference(other_stdout, JAVASCRIPT, "stdout", "hello, world\\x0a", "hello, World\\x0a");
    expect_difference(other_stderr, JAVASCRIPT, "stderr", "", "oops");
    expect_difference(stdout_cut, JAVASCRIPT, "stdout_truncated", "false", "true");
    expect_difference(stderr_cut, JAVASCRIPT, "stderr_truncated", "false", "true");
    expect_difference(ended, JAVASCRIPT, NULL, "", "");
}

Test(compare, every_field_of_a_cell) {
    expect_difference(exit_code, CELL, "exit_code", "0", "-1");
    expect_difference(timed_out, CELL, "timed_out", "false", "true");
    expect_difference(other_stdout, CELL, "stdout", "hello, world\\x0a", "hello, World\\x0a");
    expect_difference(other_stderr, CELL, "stderr", "", "oops");
    expect_difference(stdout_cut, CELL, "stdout_truncated", "false", "true");
    expect_difference(stderr_cut, CELL, "stderr_truncated", "false", "true");
    expect_difference(started, CELL, "interpreter_started", "false", "true");
    expect_difference(ended, CELL, "interpreter_ended", "false", "true");
}

static void code_and_output(results *r) {
    exit_code(r);
    other_stdout(r);
}

Test(compare, the_first_of_two_in_the_order_of_the_encoding) {
    expect_difference(code_and_output, JAVASCRIPT, "exit_code", "0", "-1");
}

/* ---- project -------------------------------------------------------------------------------- */

static void outcome(results *r) {
    r->project.outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_TIMED_OUT;
    r->module.outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_TIMED_OUT;
}
static void detail(results *r) {
    r->project.outcome_detail = borrow("why");
    r->module.outcome_detail = borrow("why");
}
static void artifacts_cut(results *r) {
    r->project.artifacts_truncated = true;
}
static void one_step(results *r) {
    r->project.n_steps = 1;
}
static void step_command(results *r) {
    r->steps[1].command = borrow("make tests");
}
static void step_code(results *r) {
    r->steps[1].exit_code = 2;
}
static void step_timed_out(results *r) {
    r->steps[0].timed_out = true;
}
static void step_stdout(results *r) {
    r->steps[1].stdout = borrow("all gone\n");
}
static void step_stderr(results *r) {
    r->steps[0].stderr = borrow("w");
}
static void step_stdout_cut(results *r) {
    r->steps[1].stdout_truncated = true;
}
static void step_stderr_cut(results *r) {
    r->steps[1].stderr_truncated = true;
}
static void no_artifact(results *r) {
    r->project.n_artifacts = 0;
}
static void artifact_path(results *r) {
    r->artifact.path = borrow("out.txt");
}
static void artifact_content(results *r) {
    r->artifact.content = borrow("abcdeF");
}
static void durations(results *r) {
    r->response.duration_ms = 7;
    r->steps[0].duration_ms = 9;
}

Test(compare, every_field_of_a_project) {
    expect_difference(outcome, PROJECT, "outcome", "1", "3");
    expect_difference(detail, PROJECT, "outcome_detail", "", "why");
    expect_difference(artifacts_cut, PROJECT, "artifacts_truncated", "false", "true");
    expect_difference(one_step, PROJECT, "count of steps", "2", "1");
    expect_difference(step_command, PROJECT, "steps[1].command", "make test", "make tests");
    expect_difference(step_code, PROJECT, "steps[1].exit_code", "0", "2");
    expect_difference(step_timed_out, PROJECT, "steps[0].timed_out", "false", "true");
    expect_difference(step_stdout, PROJECT, "steps[1].stdout", "all good\\x0a", "all gone\\x0a");
    expect_difference(step_stderr, PROJECT, "steps[0].stderr", "", "w");
    expect_difference(step_stdout_cut, PROJECT, "steps[1].stdout_truncated", "false", "true");
    expect_difference(step_stderr_cut, PROJECT, "steps[1].stderr_truncated", "false", "true");
    expect_difference(no_artifact, PROJECT, "count of artifacts", "1", "0");
    expect_difference(artifact_path, PROJECT, "artifacts[0].path", "out.bin", "out.txt");
    expect_difference(artifact_content, PROJECT, "artifacts[0].content (out.bin)", "abcdef", "abcdeF");
}

Test(compare, durations_are_not_compared) {
    expect_difference(durations, PROJECT, NULL, "", "");
}

/* ---- module --------------------------------------------------------------------------------- */

static void width(results *r) {
    r->module.width = 2;
}
static void module_stdout(results *r) {
    r->module.stdout = borrow("s");
}
static void module_stderr(results *r) {
    r->module.stderr = borrow("e");
}
static void one_row(results *r) {
    r->module.n_runs = 1;
}
static void status(results *r) {
    r->rows[1].status = 5;
}
static void fewer_outputs(results *r) {
    r->rows[1].n_outputs = 2;
}
static void next_double(results *r) {
    r->outputs[0] = nextafter(0.1, 1);
}
static void minus_zero(results *r) {
    r->outputs[1] = -0.0;
}

Test(compare, every_field_of_a_module) {
    expect_difference(outcome, MODULE, "outcome", "0", "3");
    expect_difference(detail, MODULE, "outcome_detail", "", "why");
    expect_difference(width, MODULE, "width", "3", "2");
    expect_difference(module_stdout, MODULE, "stdout", "", "s");
    expect_difference(module_stderr, MODULE, "stderr", "", "e");
    expect_difference(one_row, MODULE, "count of runs", "2", "1");
    expect_difference(status, MODULE, "runs[1].status", "0", "5");
    expect_difference(fewer_outputs, MODULE, "count of runs[1].outputs", "3", "2");
    expect_difference(next_double, MODULE, "runs[0].outputs[0]", "0.10000000000000001 (bits 3fb999999999999a)",
                      "0.10000000000000002 (bits 3fb999999999999b)");
    expect_difference(minus_zero, MODULE, "runs[0].outputs[1]", "0 (bits 0000000000000000)",
                      "-0 (bits 8000000000000000)");
}

static void set_bits(double *value, uint64_t bits) {
    memcpy(value, &bits, sizeof bits);
}

Test(compare, two_nans_differ_by_their_bits_only) {
    results a;
    results b;
    fill(&a);
    fill(&b);
    choose(&a, MODULE);
    choose(&b, MODULE);
    set_bits(&a.outputs[2], 0x7ff8000000000000u);
    set_bits(&b.outputs[2], 0x7ff8000000000000u);
    cs_difference difference;
    cs_compare_results(&a.response, &b.response, &difference);
    cr_expect_not(difference.differs);
    set_bits(&b.outputs[2], 0x7ff8000000000001u);
    cs_compare_results(&a.response, &b.response, &difference);
    cr_expect(difference.differs);
    cr_expect(digests_differ(&a, &b));
    cr_expect_str_eq(difference.field, "runs[0].outputs[2]");
    cr_expect_str_eq(difference.excerpt_b, "nan (bits 7ff8000000000001)");
}

/* ---- kinds, offsets, excerpts ---------------------------------------------------------------- */

Test(compare, another_kind) {
    results a;
    results b;
    fill(&a);
    fill(&b);
    choose(&a, JAVASCRIPT);
    choose(&b, CELL);
    cs_difference difference;
    cs_compare_results(&a.response, &b.response, &difference);
    cr_expect(difference.differs);
    cr_expect_not(difference.has_offset);
    cr_expect_str_eq(difference.field, "kind");
    cr_expect_str_eq(difference.excerpt_a, "javascript");
    cr_expect_str_eq(difference.excerpt_b, "cell");
    choose(&b, PLIMSOLL__V1__RUN_RESPONSE__RESULT__NOT_SET);
    cs_compare_results(&a.response, &b.response, &difference);
    cr_expect_str_eq(difference.field, "kind");
    cr_expect_str_eq(difference.excerpt_b, "(no result)");
}

static cs_difference of_stdout(ProtobufCBinaryData a_bytes, ProtobufCBinaryData b_bytes) {
    results a;
    results b;
    fill(&a);
    fill(&b);
    a.javascript.stdout = a_bytes;
    b.javascript.stdout = b_bytes;
    choose(&a, JAVASCRIPT);
    choose(&b, JAVASCRIPT);
    cs_difference difference;
    cs_compare_results(&a.response, &b.response, &difference);
    cr_assert(difference.differs && difference.has_offset);
    cr_expect_str_eq(difference.field, "stdout");
    return difference;
}

Test(compare, offset_and_lengths) {
    cs_difference d = of_stdout(borrow("0123456789abcdefghijklmnopqrstuvwxyz"), borrow("0123456789abcdefghijKlmnopqr"));
    cr_expect_eq(d.offset, 20);
    cr_expect_eq(d.length_a, 36);
    cr_expect_eq(d.length_b, 28);
    cr_expect_str_eq(d.excerpt_a, "abcdefghijklmnopqrstuv");
    cr_expect_str_eq(d.excerpt_b, "abcdefghijKlmnopqr");
}

Test(compare, one_is_the_beginning_of_the_other) {
    cs_difference d = of_stdout(borrow("abc"), borrow("abcd"));
    cr_expect_eq(d.offset, 3);
    cr_expect_eq(d.length_a, 3);
    cr_expect_eq(d.length_b, 4);
    cr_expect_str_eq(d.excerpt_a, "abc");
    cr_expect_str_eq(d.excerpt_b, "abcd");
}

Test(compare, a_nul_byte_ends_nothing) {
    cs_difference d = of_stdout(borrow_bytes("a\0b", 3), borrow_bytes("a\0c", 3));
    cr_expect_eq(d.offset, 2);
    cr_expect_str_eq(d.excerpt_a, "a\\x00b");
}

/* The window begins and ends between characters; what steers a terminal is escaped. */
Test(compare, excerpts_are_whole_characters_and_safe) {
    cs_difference d = of_stdout(borrow("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4x"),
                                borrow("\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\x1b[2J"));
    cr_expect_eq(d.offset, 12);
    cr_expect_str_eq(d.excerpt_a, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4x");
    cr_expect_str_eq(d.excerpt_b, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\\x1b[2J");
}

Test(compare, the_largest_excerpt_is_not_cut) {
    char bytes[64];
    char other[64];
    memset(bytes, 0xff, sizeof bytes);
    memset(other, 0xff, sizeof other);
    other[40] = 0x01;
    cs_difference d = of_stdout(borrow_bytes(bytes, sizeof bytes), borrow_bytes(other, sizeof other));
    cr_expect_eq(d.offset, 40);
    cr_expect_eq(strlen(d.excerpt_a), 88);
    cr_expect_null(strstr(d.excerpt_a, "..."));
    cr_expect_not_null(strstr(d.excerpt_b, "\\x01"));
}
