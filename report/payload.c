#include "report/payload.h"

#include <inttypes.h>

#include "records/sha256.h"
#include "records/text.h"

#define OPEN_BYTES 2048u /* a text of up to so many bytes is not folded away */
#define BINARY_BYTES 48u /* shown of one that is no text */
#define MODULE_VALUES 16u

/* ---- texts ---------------------------------------------------------------------------------------------- */

static bool is_text(cs_view bytes) {
    if (!cs_utf8_valid(bytes)) return false;
    size_t zeros = 0;
    for (size_t i = 0; i < bytes.len; i++)
        if (bytes.ptr[i] == 0) zeros++;
    return zeros == 0;
}

static void put_hex(cs_markup *out, cs_view bytes) {
    size_t shown = bytes.len < BINARY_BYTES ? bytes.len : BINARY_BYTES;
    char hex[2 * BINARY_BYTES + 1];
    cs_hex(bytes.ptr, shown, hex);
    cs_markup_printf(out,
                     "<p class=\"hex\">not UTF-8 text; in hexadecimal: <bdi dir=\"ltr\" class=\"d\">%s</bdi>%s</p>",
                     hex, shown < bytes.len ? " ..." : "");
}

static void put_lines(cs_markup *out, cs_view bytes, cs_allowance *allowance) {
    size_t max = CS_PAGE_TEXT < allowance->left ? CS_PAGE_TEXT : allowance->left;
    cs_view shown = cs_utf8_cut(bytes, max);
    allowance->left -= shown.len;
    if (shown.len > 0) {
        cs_markup_raw(out, "<pre><code dir=\"ltr\">");
        cs_markup_data(out, shown, true);
        cs_markup_raw(out, "</code></pre>");
    }
    if (shown.len < bytes.len)
        cs_markup_printf(out, "<p class=\"cut\">Cut here: the page shows %zu of %zu %s.</p>", shown.len, bytes.len,
                         cs_plural(bytes.len, "byte", "bytes"));
}

/* A text under a label of ours, and, of a file, its path. Small outputs are open, everything else is folded. */
static void put_text(cs_markup *out, const char *label, cs_view name, cs_view bytes, bool open,
                     cs_allowance *allowance) {
    cs_digest digest;
    bool opened = open && bytes.len > 0 && bytes.len <= OPEN_BYTES;
    cs_markup_printf(out, "<details class=\"text\"%s><summary>%s", opened ? " open=\"open\"" : "", label);
    if (name.len > 0) {
        cs_markup_raw(out, " ");
        cs_markup_short(out, name, CS_PAGE_NAME);
    }
    cs_markup_printf(out, " <span class=\"size\">%zu %s</span></summary>", bytes.len,
                     cs_plural(bytes.len, "byte", "bytes"));
    if (bytes.len > 0 && cs_sha256_once(bytes, &digest))
        cs_markup_printf(out, "<p class=\"size\">SHA-256 <bdi class=\"d\">%s</bdi></p>", digest.hex);
    if (bytes.len == 0)
        cs_markup_raw(out, "<p class=\"none\">(empty)</p>");
    else if (is_text(bytes))
        put_lines(out, bytes, allowance);
    else
        put_hex(out, bytes);
    cs_markup_raw(out, "</details>");
}

static const cs_view nameless = {.ptr = NULL, .len = 0};

static size_t bounded(size_t count) {
    return count < CS_PAGE_LIST ? count : CS_PAGE_LIST;
}

static void say_more(cs_markup *out, size_t count, const char *one, const char *several) {
    if (count > CS_PAGE_LIST)
        cs_markup_printf(out, "<p class=\"cut\">%zu more %s not shown.</p>", count - CS_PAGE_LIST,
                         cs_plural(count - CS_PAGE_LIST, one, several));
}

static void put_field(cs_markup *out, const char *label, const ProtobufCBinaryData *text) {
    if (text->len == 0) return;
    cs_markup_printf(out, "<p><span class=\"k\">%s</span> ", label);
    cs_markup_short(out, cs_bytes_view(text), CS_PAGE_NAME);
    cs_markup_raw(out, "</p>");
}

/* ---- what was sent -------------------------------------------------------------------------------------- */

static void put_files(cs_markup *out, cs_project_file **files, size_t count, cs_allowance *allowance) {
    for (size_t i = 0; i < bounded(count); i++)
        put_text(out, "File", cs_bytes_view(&files[i]->path), cs_bytes_view(&files[i]->content), false, allowance);
    say_more(out, count, "file is", "files are");
}

static void put_names(cs_markup *out, const char *label, const char *one, const char *several,
                      const ProtobufCBinaryData *names, size_t count) {
    if (count == 0) return;
    cs_markup_printf(out, "<p class=\"k\">%s</p><ol>", label);
    for (size_t i = 0; i < bounded(count); i++) {
        cs_markup_raw(out, "<li>");
        cs_markup_short(out, cs_bytes_view(&names[i]), CS_PAGE_NAME);
        cs_markup_raw(out, "</li>");
    }
    cs_markup_raw(out, "</ol>");
    say_more(out, count, one, several);
}

static void put_numbers(cs_markup *out, const double *values, size_t count) {
    for (size_t i = 0; i < count && i < MODULE_VALUES; i++)
        cs_markup_printf(out, " %.17g", values[i]);
    if (count > MODULE_VALUES) cs_markup_printf(out, " <span class=\"cut\">and %zu more</span>", count - MODULE_VALUES);
}

static void put_module(cs_markup *out, const Plimsoll__V1__ModuleRun *module) {
    put_field(out, "Model", &module->model);
    cs_markup_printf(out, "<p>%zu %s, end time %.17g s, step %.17g s</p><ol class=\"d\">", module->n_rows,
                     cs_plural(module->n_rows, "row", "rows"), module->end_time, module->step);
    for (size_t i = 0; i < bounded(module->n_rows); i++) {
        cs_markup_raw(out, "<li>");
        put_numbers(out, module->rows[i]->values, module->rows[i]->n_values);
        cs_markup_raw(out, "</li>");
    }
    cs_markup_raw(out, "</ol>");
    say_more(out, module->n_rows, "row is", "rows are");
}

void cs_payload_request(cs_markup *out, const cs_run_request *request, cs_allowance *allowance) {
    switch (request->payload_case) {
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT:
        put_field(out, "Grant profile", &request->javascript->grant_profile);
        put_text(out, "JavaScript", nameless, cs_bytes_view(&request->javascript->code), true, allowance);
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT:
        put_field(out, "Grant profile", &request->project->grant_profile);
        put_names(out, "Steps", "step is", "steps are", request->project->steps, request->project->n_steps);
        put_names(out, "Artifacts asked for", "artifact is", "artifacts are", request->project->artifacts,
                  request->project->n_artifacts);
        put_files(out, request->project->files, request->project->n_files, allowance);
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE:
        put_module(out, request->module);
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL:
        put_field(out, "Language", &request->cell->language);
        put_text(out, "Code", nameless, cs_bytes_view(&request->cell->code), true, allowance);
        put_files(out, request->cell->files, request->cell->n_files, allowance);
        break;
    default:
        cs_markup_raw(out, "<p class=\"none\">no payload</p>");
    }
}

/* ---- what came back ------------------------------------------------------------------------------------- */

static void put_output(cs_markup *out, const char *label, const ProtobufCBinaryData *bytes, bool truncated,
                       cs_allowance *allowance) {
    if (bytes->len > 0 || truncated) put_text(out, label, nameless, cs_bytes_view(bytes), true, allowance);
    if (truncated) cs_markup_raw(out, "<p class=\"cut\">The sandbox cut this output at its own limit.</p>");
}

static void put_exit(cs_markup *out, int32_t code, bool timed_out) {
    cs_markup_printf(out, "<span class=\"tag %s\">exit %" PRId32 "%s</span>", code == 0 && !timed_out ? "good" : "bad",
                     code, timed_out ? ", out of time" : "");
}

static void put_javascript(cs_markup *out, const Plimsoll__V1__JavaScriptResult *result, cs_allowance *allowance) {
    cs_markup_raw(out, "<p>");
    put_exit(out, result->exit_code, result->timed_out);
    cs_markup_raw(out, "</p>");
    put_output(out, "Standard output", &result->stdout, result->stdout_truncated, allowance);
    put_output(out, "Standard error", &result->stderr, result->stderr_truncated, allowance);
}

static void put_cell(cs_markup *out, const Plimsoll__V1__CellResult *result, cs_allowance *allowance) {
    cs_markup_raw(out, "<p>");
    put_exit(out, result->exit_code, result->timed_out);
    cs_markup_raw(out, "</p>");
    put_output(out, "Standard output", &result->stdout, result->stdout_truncated, allowance);
    put_output(out, "Standard error", &result->stderr, result->stderr_truncated, allowance);
}

static const char *outcome_word(Plimsoll__V1__ProjectOutcome outcome) {
    switch (outcome) {
    case PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED:
        return "completed";
    case PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_SETUP_FAILED:
        return "set-up failed";
    case PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_TIMED_OUT:
        return "out of time";
    case PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_PROTOCOL_ERROR:
        return "protocol error";
    case PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_RUNNER_FAILED:
        return "runner failed";
    default:
        return "no known outcome";
    }
}

static void put_outcome(cs_markup *out, Plimsoll__V1__ProjectOutcome outcome, const ProtobufCBinaryData *detail) {
    cs_markup_printf(out, "<p>Outcome: <b>%s</b>", outcome_word(outcome));
    if (detail->len > 0) {
        cs_markup_raw(out, ": ");
        cs_markup_short(out, cs_bytes_view(detail), CS_PAGE_NAME);
    }
    cs_markup_raw(out, "</p>");
}

static void put_step(cs_markup *out, size_t index, const Plimsoll__V1__StepResult *step, cs_allowance *allowance) {
    cs_markup_printf(out, "<div class=\"step\"><p>Step %zu ", index + 1);
    put_exit(out, step->exit_code, step->timed_out);
    cs_markup_raw(out, " ");
    cs_markup_short(out, cs_bytes_view(&step->command), CS_PAGE_NAME);
    cs_markup_raw(out, "</p>");
    put_output(out, "Standard output", &step->stdout, step->stdout_truncated, allowance);
    put_output(out, "Standard error", &step->stderr, step->stderr_truncated, allowance);
    cs_markup_raw(out, "</div>");
}

static void put_project(cs_markup *out, const Plimsoll__V1__ProjectResult *result, cs_allowance *allowance) {
    put_outcome(out, result->outcome, &result->outcome_detail);
    for (size_t i = 0; i < bounded(result->n_steps); i++)
        put_step(out, i, result->steps[i], allowance);
    say_more(out, result->n_steps, "step is", "steps are");
    for (size_t i = 0; i < bounded(result->n_artifacts); i++)
        put_text(out, "Artifact", cs_bytes_view(&result->artifacts[i]->path),
                 cs_bytes_view(&result->artifacts[i]->content), false, allowance);
    say_more(out, result->n_artifacts, "artifact is", "artifacts are");
    if (result->artifacts_truncated)
        cs_markup_raw(out, "<p class=\"cut\">The sandbox left artifacts out, at its own limit.</p>");
}

static void put_module_result(cs_markup *out, const Plimsoll__V1__ModuleResult *result, cs_allowance *allowance) {
    put_outcome(out, result->outcome, &result->outcome_detail);
    cs_markup_printf(out, "<p>%zu %s of %" PRId32 " %s</p><ol class=\"d\">", result->n_runs,
                     cs_plural(result->n_runs, "row", "rows"), result->width, result->width == 1 ? "value" : "values");
    for (size_t i = 0; i < bounded(result->n_runs); i++) {
        cs_markup_printf(out, "<li>status %" PRId32 ":", result->runs[i]->status);
        put_numbers(out, result->runs[i]->outputs, result->runs[i]->n_outputs);
        cs_markup_raw(out, "</li>");
    }
    cs_markup_raw(out, "</ol>");
    say_more(out, result->n_runs, "row is", "rows are");
    put_output(out, "Standard output", &result->stdout, false, allowance);
    put_output(out, "Standard error", &result->stderr, false, allowance);
}

void cs_payload_response(cs_markup *out, const cs_run_response *response, cs_allowance *allowance) {
    switch (response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        put_javascript(out, response->javascript, allowance);
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        put_project(out, response->project, allowance);
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        put_module_result(out, response->module, allowance);
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        put_cell(out, response->cell, allowance);
        break;
    default:
        cs_markup_raw(out, "<p class=\"none\">no result</p>");
    }
}

void cs_payload_bytes(cs_markup *out, const char *label, cs_view bytes, cs_allowance *allowance) {
    put_text(out, label, nameless, bytes, false, allowance);
}
