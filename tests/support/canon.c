#include "tests/support/canon.h"

#include <inttypes.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All pieces behind one another in memory; nothing here needs to be fast. */
typedef struct pieces {
    uint8_t *bytes;
    size_t len;
} pieces;

static void put_raw(pieces *p, const void *bytes, size_t len) {
    p->bytes = realloc(p->bytes, p->len + len + 1);
    if (!p->bytes) abort();
    if (len > 0) memcpy(p->bytes + p->len, bytes, len);
    p->len += len;
}

static void put_piece(pieces *p, const void *bytes, size_t len) {
    uint8_t prefix[8];
    for (int i = 0; i < 8; i++)
        prefix[i] = (uint8_t)((uint64_t)len >> (56 - 8 * i));
    put_raw(p, prefix, sizeof prefix);
    put_raw(p, bytes, len);
}

static void put_text(pieces *p, const char *text) {
    put_piece(p, text, strlen(text));
}

static void put_bytes(pieces *p, const char *name, ProtobufCBinaryData value) {
    put_text(p, name);
    put_piece(p, value.data, value.len);
}

static void put_word(pieces *p, const char *name, const char *value) {
    put_text(p, name);
    put_text(p, value);
}

static void put_signed(pieces *p, const char *name, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    put_word(p, name, text);
}

static void put_count(pieces *p, const char *name, uint64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    put_word(p, name, text);
}

static void put_bool(pieces *p, const char *name, int value) {
    put_word(p, name, value ? "true" : "false");
}

static void put_doubles(pieces *p, const char *name, const double *values, size_t count) {
    pieces inner = {0};
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        uint8_t big[8];
        memcpy(&bits, &values[i], sizeof bits);
        for (int k = 0; k < 8; k++)
            big[k] = (uint8_t)(bits >> (56 - 8 * k));
        put_raw(&inner, big, sizeof big);
    }
    put_text(p, name);
    put_piece(p, inner.bytes, inner.len);
    free(inner.bytes);
}

static void finish(pieces *p, char hex[65]) {
    canon_sha256(p->bytes, p->len, hex);
    free(p->bytes);
}

void canon_sha256(const void *bytes, size_t len, char hex[65]) {
    uint8_t digest[SHA256_DIGEST_LENGTH];
    SHA256(bytes, len, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

void canon_set(ProtobufCBinaryData *field, const char *text) {
    free(field->data);
    field->len = strlen(text);
    field->data = field->len ? malloc(field->len) : NULL;
    if (field->data) memcpy(field->data, text, field->len);
}

/* ---- requests ------------------------------------------------------------------------------------- */

static void put_files(pieces *p, size_t count, cs_project_file *const *files) {
    put_count(p, "files", count);
    for (size_t i = 0; i < count; i++) {
        put_bytes(p, "file_path", files[i]->path);
        put_bytes(p, "file_content", files[i]->content);
    }
}

static void put_list(pieces *p, const char *group, const char *name, size_t count, const ProtobufCBinaryData *items) {
    put_count(p, group, count);
    for (size_t i = 0; i < count; i++)
        put_bytes(p, name, items[i]);
}

static void put_project(pieces *p, const Plimsoll__V1__ProjectRun *run) {
    put_word(p, "kind", "project");
    put_bytes(p, "grant_profile", run->grant_profile);
    put_files(p, run->n_files, run->files);
    put_list(p, "steps", "step_command", run->n_steps, run->steps);
    put_list(p, "artifacts", "artifact_path", run->n_artifacts, run->artifacts);
}

static void put_module(pieces *p, const Plimsoll__V1__ModuleRun *run) {
    put_word(p, "kind", "module");
    put_bytes(p, "model", run->model);
    put_doubles(p, "end_time", &run->end_time, 1);
    put_doubles(p, "step", &run->step, 1);
    put_count(p, "rows", run->n_rows);
    for (size_t i = 0; i < run->n_rows; i++)
        put_doubles(p, "row_values", run->rows[i]->values, run->rows[i]->n_values);
}

static void put_payload(pieces *p, const cs_run_request *request) {
    switch (request->payload_case) {
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT:
        put_word(p, "kind", "javascript");
        put_bytes(p, "code", request->javascript->code);
        put_bytes(p, "grant_profile", request->javascript->grant_profile);
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT:
        put_project(p, request->project);
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE:
        put_module(p, request->module);
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL:
        put_word(p, "kind", "cell");
        put_bytes(p, "language", request->cell->language);
        put_bytes(p, "code", request->cell->code);
        put_files(p, request->cell->n_files, request->cell->files);
        break;
    default:
        put_word(p, "kind", "");
        break;
    }
}

void canon_request(const cs_run_request *request, char hex[65]) {
    pieces p = {0};
    put_text(&p, request->protocol >= 2 ? "plimsoll.run-request.v2" : "plimsoll.run-request.v1");
    put_count(&p, "protocol", request->protocol);
    put_bytes(&p, "minimum_isolation", request->minimum_isolation);
    put_signed(&p, "timeout_ms", request->timeout_ms);
    if (request->protocol >= 2) {
        const cs_software_rule *rule = request->software_rule;
        put_bytes(&p, "software_mode", rule ? rule->mode : (ProtobufCBinaryData){0});
        put_list(&p, "software_identities", "software_identity", rule ? rule->n_identities : 0,
                 rule ? rule->identities : NULL);
    }
    put_payload(&p, request);
    finish(&p, hex);
}

/* ---- results -------------------------------------------------------------------------------------- */

static void put_outputs(pieces *p, int32_t exit_code, int timed_out, ProtobufCBinaryData out, ProtobufCBinaryData err) {
    put_signed(p, "exit_code", exit_code);
    put_bool(p, "timed_out", timed_out);
    put_bytes(p, "stdout", out);
    put_bytes(p, "stderr", err);
}

static void put_step(pieces *p, const Plimsoll__V1__StepResult *step) {
    put_bytes(p, "step_command", step->command);
    put_signed(p, "step_exit_code", step->exit_code);
    put_bool(p, "step_timed_out", step->timed_out);
    put_bytes(p, "step_stdout", step->stdout);
    put_bytes(p, "step_stderr", step->stderr);
    put_bool(p, "step_stdout_truncated", step->stdout_truncated);
    put_bool(p, "step_stderr_truncated", step->stderr_truncated);
}

static void put_project_result(pieces *p, const Plimsoll__V1__ProjectResult *result) {
    put_word(p, "kind", "project");
    put_signed(p, "outcome", (int32_t)result->outcome); /* C has no enum of negative numbers; the wire has */
    put_bytes(p, "outcome_detail", result->outcome_detail);
    put_bool(p, "artifacts_truncated", result->artifacts_truncated);
    put_count(p, "steps", result->n_steps);
    for (size_t i = 0; i < result->n_steps; i++)
        put_step(p, result->steps[i]);
    put_count(p, "artifacts", result->n_artifacts);
    for (size_t i = 0; i < result->n_artifacts; i++) {
        put_bytes(p, "artifact_path", result->artifacts[i]->path);
        put_bytes(p, "artifact_content", result->artifacts[i]->content);
    }
}

static void put_module_result(pieces *p, const Plimsoll__V1__ModuleResult *result) {
    put_word(p, "kind", "module");
    put_signed(p, "outcome", (int32_t)result->outcome); /* C has no enum of negative numbers; the wire has */
    put_bytes(p, "outcome_detail", result->outcome_detail);
    put_signed(p, "width", result->width);
    put_bytes(p, "stdout", result->stdout);
    put_bytes(p, "stderr", result->stderr);
    put_count(p, "runs", result->n_runs);
    for (size_t i = 0; i < result->n_runs; i++) {
        put_signed(p, "run_status", result->runs[i]->status);
        put_doubles(p, "run_outputs", result->runs[i]->outputs, result->runs[i]->n_outputs);
    }
}

static void put_javascript_result(pieces *p, const Plimsoll__V1__JavaScriptResult *result) {
    put_word(p, "kind", "javascript");
    put_outputs(p, result->exit_code, result->timed_out, result->stdout, result->stderr);
    put_bool(p, "stdout_truncated", result->stdout_truncated);
    put_bool(p, "stderr_truncated", result->stderr_truncated);
}

static void put_cell_result(pieces *p, const Plimsoll__V1__CellResult *result) {
    put_word(p, "kind", "cell");
    put_outputs(p, result->exit_code, result->timed_out, result->stdout, result->stderr);
    put_bool(p, "stdout_truncated", result->stdout_truncated);
    put_bool(p, "stderr_truncated", result->stderr_truncated);
    put_bool(p, "interpreter_started", result->interpreter_started);
    put_bool(p, "interpreter_ended", result->interpreter_ended);
}

void canon_result(const cs_run_response *response, char hex[65]) {
    pieces p = {0};
    put_text(&p, "plimsoll.run-result.v1");
    switch (response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        put_javascript_result(&p, response->javascript);
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        put_project_result(&p, response->project);
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        put_module_result(&p, response->module);
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        put_cell_result(&p, response->cell);
        break;
    default:
        put_word(&p, "kind", "");
        break;
    }
    finish(&p, hex);
}

/* ---- records -------------------------------------------------------------------------------------- */

void canon_record(const cs_run_record *record, char hex[65]) {
    pieces p = {0};
    char domain[64];
    snprintf(domain, sizeof domain, "plimsoll.run-record.v%" PRIu32, record->version);
    put_text(&p, domain);
    put_bytes(&p, "request_sha256", record->request_sha256);
    put_bytes(&p, "result_sha256", record->result_sha256);
    if (record->version >= 3) put_bytes(&p, "unanswered", record->unanswered);
    put_bytes(&p, "provider", record->provider);
    put_bytes(&p, "isolation", record->isolation);
    put_bytes(&p, "environment", record->environment);
    put_bytes(&p, "policy", record->policy);
    if (record->version >= 2) {
        put_bytes(&p, "software_identity", record->software_identity);
        put_bytes(&p, "software_rule_id", record->software_rule_id);
    }
    if (record->version >= 4) put_bytes(&p, "instance", record->instance);
    put_signed(&p, "started_unix_ms", record->started_unix_ms);
    put_signed(&p, "ended_unix_ms", record->ended_unix_ms);
    put_bytes(&p, "session", record->session);
    put_count(&p, "sequence", record->sequence);
    put_bytes(&p, "previous_sha256", record->previous_sha256);
    finish(&p, hex);
}
