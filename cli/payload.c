#include "cli/payload.h"

#include <stdio.h>

#include "records/text.h"

void cs_say_field(const cs_output *out, const char *label, const ProtobufCBinaryData *text) {
    if (text->len == 0) return;
    char shown[300];
    cs_escape_short(cs_bytes_view(text), shown, sizeof shown);
    cs_say(out, "  %-18s %s\n", label, shown);
}

static void say_source(const cs_output *out, const char *label, const ProtobufCBinaryData *text) {
    cs_say(out, "  %s, %zu %s\n", label, text->len, cs_plural(text->len, "byte", "bytes"));
    cs_say_bytes(out, "      | ", cs_bytes_view(text), 0, 0);
}

static void say_files(const cs_output *out, cs_project_file **files, size_t count) {
    for (size_t i = 0; i < count; i++) {
        cs_say_field(out, "file", &files[i]->path);
        say_source(out, "its content", &files[i]->content);
    }
}

static void say_project(const cs_output *out, const Plimsoll__V1__ProjectRun *project) {
    cs_say_field(out, "grant profile", &project->grant_profile);
    say_files(out, project->files, project->n_files);
    for (size_t i = 0; i < project->n_steps; i++)
        cs_say_field(out, "step", &project->steps[i]);
    for (size_t i = 0; i < project->n_artifacts; i++)
        cs_say_field(out, "artifact wanted", &project->artifacts[i]);
}

static void say_module(const cs_output *out, const Plimsoll__V1__ModuleRun *module) {
    cs_say_field(out, "model", &module->model);
    cs_say(out, "  %zu %s, end time %.17g s, step %.17g s\n", module->n_rows, cs_plural(module->n_rows, "row", "rows"),
           module->end_time, module->step);
    for (size_t i = 0; i < module->n_rows; i++) {
        cs_say(out, "    row %zu:", i + 1);
        for (size_t j = 0; j < module->rows[i]->n_values; j++)
            cs_say(out, " %.17g", module->rows[i]->values[j]);
        cs_say(out, "\n");
    }
}

static void say_rule(const cs_output *out, const cs_software_rule *rule) {
    if (rule == NULL) return;
    cs_say_field(out, "software rule", &rule->mode);
    for (size_t i = 0; i < rule->n_identities; i++)
        cs_say_field(out, "software", &rule->identities[i]);
}

void cs_say_request(const cs_output *out, const cs_run_request *request) {
    if (out->json) return;
    cs_say(out, "request: %s, protocol %u\n", cs_request_kind(request), request->protocol);
    cs_say_field(out, "floor", &request->minimum_isolation);
    cs_say_field(out, "trace id", &request->trace_id);
    if (request->timeout_ms != 0) cs_say(out, "  %-18s %d ms\n", "time-out", request->timeout_ms);
    say_rule(out, request->software_rule);
    switch (request->payload_case) {
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT:
        cs_say_field(out, "grant profile", &request->javascript->grant_profile);
        say_source(out, "code", &request->javascript->code);
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT:
        say_project(out, request->project);
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE:
        say_module(out, request->module);
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL:
        cs_say_field(out, "language", &request->cell->language);
        say_source(out, "code", &request->cell->code);
        say_files(out, request->cell->files, request->cell->n_files);
        break;
    default:
        cs_say(out, "  no payload\n");
    }
}
