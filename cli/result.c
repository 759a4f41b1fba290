#include "cli/result.h"

#include <stdio.h>

#include "records/text.h"

typedef Plimsoll__V1__StepResult step_result;
typedef Plimsoll__V1__ModuleResult module_result;
typedef Plimsoll__V1__ProjectResult project_result;

/* How much of the outputs is shown. */
typedef struct window {
    size_t lines;
    size_t width;
} window;

/* ---- every output, once --------------------------------------------------------------------- */

typedef bool (*visit)(void *user, const char *field, const ProtobufCBinaryData *bytes);

static bool visit_project(const project_result *project, visit each, void *user) {
    char field[64];
    for (size_t i = 0; i < project->n_steps; i++) {
        snprintf(field, sizeof field, "steps[%zu].stdout", i);
        if (!each(user, field, &project->steps[i]->stdout)) return false;
        snprintf(field, sizeof field, "steps[%zu].stderr", i);
        if (!each(user, field, &project->steps[i]->stderr)) return false;
    }
    for (size_t i = 0; i < project->n_artifacts; i++) {
        snprintf(field, sizeof field, "artifacts[%zu].content", i);
        if (!each(user, field, &project->artifacts[i]->content)) return false;
    }
    return true;
}

static bool visit_outputs(const cs_run_response *response, visit each, void *user) {
    switch (response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        return each(user, "stdout", &response->javascript->stdout) &&
               each(user, "stderr", &response->javascript->stderr);
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        return visit_project(response->project, each, user);
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        return each(user, "stdout", &response->module->stdout) && each(user, "stderr", &response->module->stderr);
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        return each(user, "stdout", &response->cell->stdout) && each(user, "stderr", &response->cell->stderr);
    default:
        return true;
    }
}

static bool add_output(void *user, const char *field, const ProtobufCBinaryData *bytes) {
    cs_view view = cs_bytes_view(bytes);
    json_t *object = json_object();
    bool good = object != NULL && json_object_set_new(object, "field", json_string(field)) == 0 &&
                json_object_set_new(object, "bytes", json_integer((json_int_t)view.len)) == 0 &&
                json_object_set_new(object, "base64", cs_json_of_base64(view)) == 0 &&
                (!cs_utf8_valid(view) || json_object_set_new(object, "text", cs_json_of_text(view)) == 0);
    if (good) return json_array_append_new(user, object) == 0;
    json_decref(object);
    return false;
}

json_t *cs_json_of_outputs(const cs_run_response *response) {
    json_t *outputs = json_array();
    if (outputs != NULL && visit_outputs(response, add_output, outputs)) return outputs;
    json_decref(outputs);
    return NULL;
}

/* ---- for people ----------------------------------------------------------------------------- */

static void say_output(const cs_output *out, const char *name, const ProtobufCBinaryData *bytes, bool truncated,
                       window shown) {
    if (bytes->len == 0 && !truncated) return;
    cs_say(out, "    %s, %zu %s%s\n", name, bytes->len, cs_plural(bytes->len, "byte", "bytes"),
           truncated ? ", cut by the daemon" : "");
    cs_say_bytes(out, "      | ", cs_bytes_view(bytes), shown.lines, shown.width);
}

static const char *outcome_word(int outcome) {
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value(&plimsoll__v1__project_outcome__descriptor, outcome);
    return value != NULL ? value->name : "an outcome that is unknown here";
}

static void say_outcome(const cs_output *out, int outcome, const ProtobufCBinaryData *detail) {
    char text[160];
    cs_escape_short(cs_bytes_view(detail), text, sizeof text);
    cs_say(out, "  outcome: %s%s%s\n", outcome_word(outcome), text[0] != '\0' ? ": " : "", text);
}

static void say_project(const cs_output *out, const project_result *project, window shown) {
    say_outcome(out, (int)project->outcome, &project->outcome_detail);
    for (size_t i = 0; i < project->n_steps; i++) {
        const step_result *step = project->steps[i];
        char command[100];
        cs_escape_short(cs_bytes_view(&step->command), command, sizeof command);
        cs_say(out, "  step %zu: exit code %d%s: %s\n", i + 1, step->exit_code, step->timed_out ? ", timed out" : "",
               command);
        say_output(out, "stdout", &step->stdout, step->stdout_truncated, shown);
        say_output(out, "stderr", &step->stderr, step->stderr_truncated, shown);
    }
    for (size_t i = 0; i < project->n_artifacts; i++) {
        char path[160];
        cs_escape_short(cs_bytes_view(&project->artifacts[i]->path), path, sizeof path);
        cs_say(out, "  artifact %zu: %s, %zu %s\n", i + 1, path, project->artifacts[i]->content.len,
               cs_plural(project->artifacts[i]->content.len, "byte", "bytes"));
    }
    if (project->artifacts_truncated) cs_say(out, "  the daemon left artifacts out\n");
}

static void say_module(const cs_output *out, const module_result *module, window shown) {
    say_outcome(out, (int)module->outcome, &module->outcome_detail);
    cs_say(out, "  %zu %s of %d %s\n", module->n_runs, cs_plural(module->n_runs, "row", "rows"), module->width,
           module->width == 1 ? "output" : "outputs");
    size_t rows = shown.lines != 0 && shown.lines < module->n_runs ? shown.lines : module->n_runs;
    for (size_t i = 0; i < rows; i++) {
        cs_say(out, "    row %zu: status %d:", i + 1, module->runs[i]->status);
        for (size_t j = 0; j < module->runs[i]->n_outputs; j++)
            cs_say(out, " %.17g", module->runs[i]->outputs[j]);
        cs_say(out, "\n");
    }
    say_output(out, "stdout", &module->stdout, false, shown);
    say_output(out, "stderr", &module->stderr, false, shown);
}

void cs_say_result(const cs_output *out, const cs_run_response *response, size_t max_lines, size_t max_width) {
    window shown = {.lines = max_lines, .width = max_width};
    if (out->json) return;
    switch (response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT: {
        const Plimsoll__V1__JavaScriptResult *result = response->javascript;
        cs_say(out, "  exit code %d%s\n", result->exit_code, result->timed_out ? ", timed out" : "");
        say_output(out, "stdout", &result->stdout, result->stdout_truncated, shown);
        say_output(out, "stderr", &result->stderr, result->stderr_truncated, shown);
        break;
    }
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL: {
        const Plimsoll__V1__CellResult *result = response->cell;
        cs_say(out, "  exit code %d%s\n", result->exit_code, result->timed_out ? ", timed out" : "");
        say_output(out, "stdout", &result->stdout, result->stdout_truncated, shown);
        say_output(out, "stderr", &result->stderr, result->stderr_truncated, shown);
        break;
    }
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        say_project(out, response->project, shown);
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        say_module(out, response->module, shown);
        break;
    default:
        cs_say(out, "  no result\n");
    }
}
