#include "replay/compare.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "records/text.h"

/* Bytes shown on each side of a difference. Four characters at most for each of them fill an excerpt. */
#define WINDOW_BEFORE 10u
#define WINDOW_BYTES 22u

typedef Plimsoll__V1__JavaScriptResult javascript_result;
typedef Plimsoll__V1__ProjectResult project_result;
typedef Plimsoll__V1__StepResult step_result;
typedef Plimsoll__V1__Artifact artifact;
typedef Plimsoll__V1__ModuleResult module_result;
typedef Plimsoll__V1__ModuleRowResult module_row;
typedef Plimsoll__V1__CellResult cell_result;

/* Each function below returns true when it found (and wrote down) the first difference, so that a
 * comparison is one expression in the order of the canonical encoding. */

CS_PRINTF(2, 3)
static bool found(cs_difference *out, const char *field, ...) {
    va_list args;
    va_start(args, field);
    vsnprintf(out->field, sizeof out->field, field, args);
    va_end(args);
    out->differs = true;
    return true;
}

static bool is_continuation(uint8_t byte) {
    return (byte & 0xc0u) == 0x80u;
}

/* The bytes around `offset`, begun and ended on a character's edge where the text is UTF-8. */
static void excerpt(cs_view value, size_t offset, char *out) {
    size_t begin = offset > WINDOW_BEFORE ? offset - WINDOW_BEFORE : 0;
    for (int i = 0; i < 3 && begin > 0 && begin < value.len && is_continuation(value.ptr[begin]); i++)
        begin--;
    size_t left = value.len > begin ? value.len - begin : 0;
    size_t len = left < WINDOW_BYTES ? left : WINDOW_BYTES;
    while (len > 0 && len < left && is_continuation(value.ptr[begin + len]))
        len--;
    cs_escape_short(cs_view_bytes(len > 0 ? value.ptr + begin : NULL, len), out, CS_EXCERPT);
}

void cs_compare_bytes(cs_view a, cs_view b, cs_difference *out) {
    *out = (cs_difference){.differs = !cs_view_equal(a, b)};
    if (!out->differs) return;
    size_t shorter = a.len < b.len ? a.len : b.len;
    size_t offset = 0;
    while (offset < shorter && a.ptr[offset] == b.ptr[offset])
        offset++;
    out->has_offset = true;
    out->offset = offset;
    out->length_a = a.len;
    out->length_b = b.len;
    excerpt(a, offset, out->excerpt_a);
    excerpt(b, offset, out->excerpt_b);
}

static bool bytes_differ(cs_difference *out, const char *field, const ProtobufCBinaryData *a,
                         const ProtobufCBinaryData *b) {
    cs_compare_bytes(cs_bytes_view(a), cs_bytes_view(b), out);
    return out->differs && found(out, "%s", field);
}

static bool number_differs(cs_difference *out, const char *field, int64_t a, int64_t b) {
    if (a == b) return false;
    snprintf(out->excerpt_a, sizeof out->excerpt_a, "%" PRId64, a);
    snprintf(out->excerpt_b, sizeof out->excerpt_b, "%" PRId64, b);
    return found(out, "%s", field);
}

static bool count_differs(cs_difference *out, const char *field, size_t a, size_t b) {
    if (a == b) return false;
    snprintf(out->excerpt_a, sizeof out->excerpt_a, "%zu", a);
    snprintf(out->excerpt_b, sizeof out->excerpt_b, "%zu", b);
    return found(out, "count of %s", field);
}

static bool flag_differs(cs_difference *out, const char *field, bool a, bool b) {
    if (a == b) return false;
    snprintf(out->excerpt_a, sizeof out->excerpt_a, "%s", a ? "true" : "false");
    snprintf(out->excerpt_b, sizeof out->excerpt_b, "%s", b ? "true" : "false");
    return found(out, "%s", field);
}

/* By bits, as the digest sees them: 0 and -0 differ, and so do two NaNs with other payloads. */
static bool double_differs(cs_difference *out, size_t row, size_t column, double a, double b) {
    uint64_t bits_a;
    uint64_t bits_b;
    memcpy(&bits_a, &a, sizeof bits_a);
    memcpy(&bits_b, &b, sizeof bits_b);
    if (bits_a == bits_b) return false;
    snprintf(out->excerpt_a, sizeof out->excerpt_a, "%.17g (bits %016" PRIx64 ")", a, bits_a);
    snprintf(out->excerpt_b, sizeof out->excerpt_b, "%.17g (bits %016" PRIx64 ")", b, bits_b);
    return found(out, "runs[%zu].outputs[%zu]", row, column);
}

static bool javascript_differs(cs_difference *out, const javascript_result *a, const javascript_result *b) {
    return number_differs(out, "exit_code", a->exit_code, b->exit_code) ||
           flag_differs(out, "timed_out", a->timed_out, b->timed_out) ||
           bytes_differ(out, "stdout", &a->stdout, &b->stdout) || bytes_differ(out, "stderr", &a->stderr, &b->stderr) ||
           flag_differs(out, "stdout_truncated", a->stdout_truncated, b->stdout_truncated) ||
           flag_differs(out, "stderr_truncated", a->stderr_truncated, b->stderr_truncated);
}

static bool cell_differs(cs_difference *out, const cell_result *a, const cell_result *b) {
    return number_differs(out, "exit_code", a->exit_code, b->exit_code) ||
           flag_differs(out, "timed_out", a->timed_out, b->timed_out) ||
           bytes_differ(out, "stdout", &a->stdout, &b->stdout) || bytes_differ(out, "stderr", &a->stderr, &b->stderr) ||
           flag_differs(out, "stdout_truncated", a->stdout_truncated, b->stdout_truncated) ||
           flag_differs(out, "stderr_truncated", a->stderr_truncated, b->stderr_truncated) ||
           flag_differs(out, "interpreter_started", a->interpreter_started, b->interpreter_started) ||
           flag_differs(out, "interpreter_ended", a->interpreter_ended, b->interpreter_ended);
}

/* Put "steps[3]." before the field that was found inside. */
static bool within(cs_difference *out, const char *group, size_t index) {
    char inner[64];
    snprintf(inner, sizeof inner, "%.63s", out->field);
    return found(out, "%s[%zu].%s", group, index, inner);
}

static bool step_differs(cs_difference *out, size_t index, const step_result *a, const step_result *b) {
    bool differs = bytes_differ(out, "command", &a->command, &b->command) ||
                   number_differs(out, "exit_code", a->exit_code, b->exit_code) ||
                   flag_differs(out, "timed_out", a->timed_out, b->timed_out) ||
                   bytes_differ(out, "stdout", &a->stdout, &b->stdout) ||
                   bytes_differ(out, "stderr", &a->stderr, &b->stderr) ||
                   flag_differs(out, "stdout_truncated", a->stdout_truncated, b->stdout_truncated) ||
                   flag_differs(out, "stderr_truncated", a->stderr_truncated, b->stderr_truncated);
    return differs && within(out, "steps", index);
}

static bool artifact_differs(cs_difference *out, size_t index, const artifact *a, const artifact *b) {
    if (bytes_differ(out, "path", &a->path, &b->path)) return within(out, "artifacts", index);
    if (!bytes_differ(out, "content", &a->content, &b->content)) return false;
    char path[128];
    cs_escape_short(cs_bytes_view(&a->path), path, sizeof path);
    return found(out, "artifacts[%zu].content (%s)", index, path);
}

static bool project_differs(cs_difference *out, const project_result *a, const project_result *b) {
    if (number_differs(out, "outcome", a->outcome, b->outcome) ||
        bytes_differ(out, "outcome_detail", &a->outcome_detail, &b->outcome_detail) ||
        flag_differs(out, "artifacts_truncated", a->artifacts_truncated, b->artifacts_truncated) ||
        count_differs(out, "steps", a->n_steps, b->n_steps))
        return true;
    for (size_t i = 0; i < a->n_steps; i++)
        if (step_differs(out, i, a->steps[i], b->steps[i])) return true;
    if (count_differs(out, "artifacts", a->n_artifacts, b->n_artifacts)) return true;
    for (size_t i = 0; i < a->n_artifacts; i++)
        if (artifact_differs(out, i, a->artifacts[i], b->artifacts[i])) return true;
    return false;
}

static bool module_row_differs(cs_difference *out, size_t index, const module_row *a, const module_row *b) {
    if (number_differs(out, "status", a->status, b->status)) return within(out, "runs", index);
    if (a->n_outputs != b->n_outputs) {
        char field[64];
        snprintf(field, sizeof field, "runs[%zu].outputs", index);
        return count_differs(out, field, a->n_outputs, b->n_outputs);
    }
    for (size_t i = 0; i < a->n_outputs; i++)
        if (double_differs(out, index, i, a->outputs[i], b->outputs[i])) return true;
    return false;
}

static bool module_differs(cs_difference *out, const module_result *a, const module_result *b) {
    if (number_differs(out, "outcome", a->outcome, b->outcome) ||
        bytes_differ(out, "outcome_detail", &a->outcome_detail, &b->outcome_detail) ||
        number_differs(out, "width", a->width, b->width) || bytes_differ(out, "stdout", &a->stdout, &b->stdout) ||
        bytes_differ(out, "stderr", &a->stderr, &b->stderr) || count_differs(out, "runs", a->n_runs, b->n_runs))
        return true;
    for (size_t i = 0; i < a->n_runs; i++)
        if (module_row_differs(out, i, a->runs[i], b->runs[i])) return true;
    return false;
}

static bool kind_differs(cs_difference *out, const char *a, const char *b) {
    if (strcmp(a, b) == 0) return false;
    snprintf(out->excerpt_a, sizeof out->excerpt_a, "%s", *a != '\0' ? a : "(no result)");
    snprintf(out->excerpt_b, sizeof out->excerpt_b, "%s", *b != '\0' ? b : "(no result)");
    return found(out, "kind");
}

void cs_compare_results(const cs_run_response *a, const cs_run_response *b, cs_difference *out) {
    *out = (cs_difference){.differs = false};
    if (kind_differs(out, cs_response_kind(a), cs_response_kind(b))) return;
    switch (a->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        (void)javascript_differs(out, a->javascript, b->javascript);
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        (void)project_differs(out, a->project, b->project);
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        (void)module_differs(out, a->module, b->module);
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        (void)cell_differs(out, a->cell, b->cell);
        break;
    default:
        break; /* neither has a result: nothing that could differ */
    }
}
