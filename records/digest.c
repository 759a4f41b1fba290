#include "records/digest.h"

#include <stdlib.h>
#include <string.h>

#include "records/canonical.h"
#include "records/request.h"

#define REQUEST_DOMAIN_1 "plimsoll.run-request.v1"
#define REQUEST_DOMAIN_2 "plimsoll.run-request.v2"
#define RESULT_DOMAIN "plimsoll.run-result.v1"
#define RECORD_DOMAIN "plimsoll.run-record.v"

static void feed_bytes(cs_sha256 *hash, const char *name, const ProtobufCBinaryData *value) {
    cs_canonical_bytes(hash, name, cs_bytes_view(value));
}

/* ---- requests ------------------------------------------------------------------------------------- */

static void feed_software_rule(cs_sha256 *hash, const cs_software_rule *rule) {
    static const cs_software_rule no_rule = PLIMSOLL__V1__SOFTWARE_RULE__INIT;
    if (rule == NULL) rule = &no_rule;
    feed_bytes(hash, "software_mode", &rule->mode);
    cs_canonical_u64(hash, "software_identities", rule->n_identities);
    for (size_t i = 0; i < rule->n_identities; i++)
        feed_bytes(hash, "software_identity", &rule->identities[i]);
}

static void feed_files(cs_sha256 *hash, cs_project_file *const *files, size_t count) {
    cs_canonical_u64(hash, "files", count);
    for (size_t i = 0; i < count; i++) {
        feed_bytes(hash, "file_path", &files[i]->path);
        feed_bytes(hash, "file_content", &files[i]->content);
    }
}

static void feed_project(cs_sha256 *hash, const Plimsoll__V1__ProjectRun *run) {
    feed_bytes(hash, "grant_profile", &run->grant_profile);
    feed_files(hash, run->files, run->n_files);
    cs_canonical_u64(hash, "steps", run->n_steps);
    for (size_t i = 0; i < run->n_steps; i++)
        feed_bytes(hash, "step_command", &run->steps[i]);
    cs_canonical_u64(hash, "artifacts", run->n_artifacts);
    for (size_t i = 0; i < run->n_artifacts; i++)
        feed_bytes(hash, "artifact_path", &run->artifacts[i]);
}

static void feed_module(cs_sha256 *hash, const Plimsoll__V1__ModuleRun *run) {
    feed_bytes(hash, "model", &run->model);
    cs_canonical_doubles(hash, "end_time", &run->end_time, 1);
    cs_canonical_doubles(hash, "step", &run->step, 1);
    cs_canonical_u64(hash, "rows", run->n_rows);
    for (size_t i = 0; i < run->n_rows; i++)
        cs_canonical_doubles(hash, "row_values", run->rows[i]->values, run->rows[i]->n_values);
}

static void feed_payload(cs_sha256 *hash, const cs_run_request *request) {
    cs_canonical_text(hash, "kind", cs_request_kind(request));
    switch (request->payload_case) {
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT:
        feed_bytes(hash, "code", &request->javascript->code);
        feed_bytes(hash, "grant_profile", &request->javascript->grant_profile);
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT:
        feed_project(hash, request->project);
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE:
        feed_module(hash, request->module);
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL:
        feed_bytes(hash, "language", &request->cell->language);
        feed_bytes(hash, "code", &request->cell->code);
        feed_files(hash, request->cell->files, request->cell->n_files);
        break;
    default:
        break; /* no payload has an empty kind and nothing behind it */
    }
}

static void feed_request(cs_sha256 *hash, const cs_run_request *request) {
    bool second = request->protocol >= 2;
    cs_canonical_domain(hash, second ? REQUEST_DOMAIN_2 : REQUEST_DOMAIN_1);
    cs_canonical_u64(hash, "protocol", request->protocol);
    feed_bytes(hash, "minimum_isolation", &request->minimum_isolation);
    cs_canonical_i64(hash, "timeout_ms", request->timeout_ms);
    if (second) feed_software_rule(hash, request->software_rule);
    feed_payload(hash, request);
}

/* ---- results -------------------------------------------------------------------------------------- */

/* What a script, a cell and a step of a project have in common, in the order of their digests. */
typedef struct output {
    int32_t exit_code;
    bool timed_out;
    const ProtobufCBinaryData *out;
    const ProtobufCBinaryData *err;
    bool out_truncated;
    bool err_truncated;
} output;

typedef struct output_names {
    const char *exit_code, *timed_out, *out, *err, *out_truncated, *err_truncated;
} output_names;

static const output_names plain_names = {"exit_code", "timed_out",        "stdout",
                                         "stderr",    "stdout_truncated", "stderr_truncated"};
static const output_names step_names = {"step_exit_code", "step_timed_out",        "step_stdout",
                                        "step_stderr",    "step_stdout_truncated", "step_stderr_truncated"};

static void feed_output(cs_sha256 *hash, const output_names *names, const output *from) {
    cs_canonical_i64(hash, names->exit_code, from->exit_code);
    cs_canonical_bool(hash, names->timed_out, from->timed_out);
    feed_bytes(hash, names->out, from->out);
    feed_bytes(hash, names->err, from->err);
    cs_canonical_bool(hash, names->out_truncated, from->out_truncated);
    cs_canonical_bool(hash, names->err_truncated, from->err_truncated);
}

static void feed_javascript_result(cs_sha256 *hash, const Plimsoll__V1__JavaScriptResult *result) {
    feed_output(hash, &plain_names,
                &(output){result->exit_code, result->timed_out != 0, &result->stdout, &result->stderr,
                          result->stdout_truncated != 0, result->stderr_truncated != 0});
}

static void feed_cell_result(cs_sha256 *hash, const Plimsoll__V1__CellResult *result) {
    feed_output(hash, &plain_names,
                &(output){result->exit_code, result->timed_out != 0, &result->stdout, &result->stderr,
                          result->stdout_truncated != 0, result->stderr_truncated != 0});
    cs_canonical_bool(hash, "interpreter_started", result->interpreter_started != 0);
    cs_canonical_bool(hash, "interpreter_ended", result->interpreter_ended != 0);
}

static void feed_step_result(cs_sha256 *hash, const Plimsoll__V1__StepResult *step) {
    feed_bytes(hash, "step_command", &step->command);
    feed_output(hash, &step_names,
                &(output){step->exit_code, step->timed_out != 0, &step->stdout, &step->stderr,
                          step->stdout_truncated != 0, step->stderr_truncated != 0});
}

static void feed_project_result(cs_sha256 *hash, const Plimsoll__V1__ProjectResult *result) {
    cs_canonical_i64(hash, "outcome", (int32_t)result->outcome);
    feed_bytes(hash, "outcome_detail", &result->outcome_detail);
    cs_canonical_bool(hash, "artifacts_truncated", result->artifacts_truncated != 0);
    cs_canonical_u64(hash, "steps", result->n_steps);
    for (size_t i = 0; i < result->n_steps; i++)
        feed_step_result(hash, result->steps[i]);
    cs_canonical_u64(hash, "artifacts", result->n_artifacts);
    for (size_t i = 0; i < result->n_artifacts; i++) {
        feed_bytes(hash, "artifact_path", &result->artifacts[i]->path);
        feed_bytes(hash, "artifact_content", &result->artifacts[i]->content);
    }
}

static void feed_module_result(cs_sha256 *hash, const Plimsoll__V1__ModuleResult *result) {
    cs_canonical_i64(hash, "outcome", (int32_t)result->outcome);
    feed_bytes(hash, "outcome_detail", &result->outcome_detail);
    cs_canonical_i64(hash, "width", result->width);
    feed_bytes(hash, "stdout", &result->stdout);
    feed_bytes(hash, "stderr", &result->stderr);
    cs_canonical_u64(hash, "runs", result->n_runs);
    for (size_t i = 0; i < result->n_runs; i++) {
        cs_canonical_i64(hash, "run_status", result->runs[i]->status);
        cs_canonical_doubles(hash, "run_outputs", result->runs[i]->outputs, result->runs[i]->n_outputs);
    }
}

static void feed_result(cs_sha256 *hash, const cs_run_response *response) {
    cs_canonical_domain(hash, RESULT_DOMAIN);
    cs_canonical_text(hash, "kind", cs_response_kind(response));
    switch (response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        feed_javascript_result(hash, response->javascript);
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        feed_project_result(hash, response->project);
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        feed_module_result(hash, response->module);
        break;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        feed_cell_result(hash, response->cell);
        break;
    default:
        break;
    }
}

/* ---- records -------------------------------------------------------------------------------------- */

/* The version is one that has a domain. */
static void feed_record(cs_sha256 *hash, const cs_run_record *record) {
    static const char *const domains[] = {
        [1] = RECORD_DOMAIN "1", [2] = RECORD_DOMAIN "2", [3] = RECORD_DOMAIN "3", [4] = RECORD_DOMAIN "4"};
    cs_canonical_domain(hash, domains[record->version]);
    feed_bytes(hash, "request_sha256", &record->request_sha256);
    feed_bytes(hash, "result_sha256", &record->result_sha256);
    if (record->version >= 3) feed_bytes(hash, "unanswered", &record->unanswered);
    feed_bytes(hash, "provider", &record->provider);
    feed_bytes(hash, "isolation", &record->isolation);
    feed_bytes(hash, "environment", &record->environment);
    feed_bytes(hash, "policy", &record->policy);
    if (record->version >= 2) {
        feed_bytes(hash, "software_identity", &record->software_identity);
        feed_bytes(hash, "software_rule_id", &record->software_rule_id);
    }
    if (record->version >= 4) feed_bytes(hash, "instance", &record->instance);
    cs_canonical_i64(hash, "started_unix_ms", record->started_unix_ms);
    cs_canonical_i64(hash, "ended_unix_ms", record->ended_unix_ms);
    feed_bytes(hash, "session", &record->session);
    cs_canonical_u64(hash, "sequence", record->sequence);
    feed_bytes(hash, "previous_sha256", &record->previous_sha256);
}

/* ---- ends ----------------------------------------------------------------------------------------- */

static cs_result finish(cs_sha256 *hash, cs_digest *out, cs_error *err) {
    if (!cs_sha256_final_hex(hash, out)) return cs_fail(err, CS_CODE_INTERNAL, "the SHA-256 library failed");
    return CS_OK;
}

cs_result cs_digest_request_with(cs_sha256 *hash, const cs_run_request *request, cs_digest *out, cs_error *err) {
    feed_request(hash, request);
    return finish(hash, out, err);
}

cs_result cs_digest_result_with(cs_sha256 *hash, const cs_run_response *response, cs_digest *out, cs_error *err) {
    feed_result(hash, response);
    return finish(hash, out, err);
}

cs_result cs_digest_record_with(cs_sha256 *hash, const cs_run_record *record, cs_digest *out, cs_error *err) {
    *out = (cs_digest){.hex = ""};
    if (record->version < 1 || record->version > CS_RECORD_VERSION)
        return cs_fail(err, CS_CODE_RECORD_VERSION, "the record has version %u; versions 1 to %u are known",
                       (unsigned)record->version, CS_RECORD_VERSION);
    feed_record(hash, record);
    return finish(hash, out, err);
}

static void free_hash(cs_sha256 **hash) {
    cs_sha256_free(*hash);
}

#define AUTO_HASH __attribute__((cleanup(free_hash))) cs_sha256 *

static cs_result no_hash(cs_digest *out, cs_error *err) {
    *out = (cs_digest){.hex = ""};
    return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a SHA-256");
}

cs_result cs_digest_request(const cs_run_request *request, cs_digest *out, cs_error *err) {
    AUTO_HASH hash = cs_sha256_new();
    return hash == NULL ? no_hash(out, err) : cs_digest_request_with(hash, request, out, err);
}

cs_result cs_digest_result(const cs_run_response *response, cs_digest *out, cs_error *err) {
    AUTO_HASH hash = cs_sha256_new();
    return hash == NULL ? no_hash(out, err) : cs_digest_result_with(hash, response, out, err);
}

cs_result cs_digest_record(const cs_run_record *record, cs_digest *out, cs_error *err) {
    AUTO_HASH hash = cs_sha256_new();
    return hash == NULL ? no_hash(out, err) : cs_digest_record_with(hash, record, out, err);
}

cs_result cs_session_fingerprint(cs_view session_id, cs_digest *out, cs_error *err) {
    if (!cs_sha256_once(session_id, out)) return cs_fail(err, CS_CODE_INTERNAL, "the SHA-256 library failed");
    return CS_OK;
}

/* ---- the rule's id -------------------------------------------------------------------------------- */

static int compare_identities(const void *left, const void *right) {
    const cs_view *a = left;
    const cs_view *b = right;
    int order = memcmp(a->ptr, b->ptr, a->len < b->len ? a->len : b->len);
    if (order != 0) return order;
    return (a->len > b->len) - (a->len < b->len);
}

/* The identities in the order of their bytes, with one NUL between them: the order in which a caller
 * lists them does not change what is allowed. */
static bool join_sorted(const cs_software_rule *rule, cs_buf *out) {
    cs_view sorted[CS_MAX_IDENTITIES] = {{.ptr = NULL, .len = 0}};
    size_t count = rule->n_identities;
    for (size_t i = 0; i < count; i++)
        sorted[i] = cs_bytes_view(&rule->identities[i]);
    qsort(sorted, count, sizeof sorted[0], compare_identities);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && !cs_buf_byte(out, 0)) return false;
        if (!cs_buf_append(out, sorted[i].ptr, sorted[i].len)) return false;
    }
    return true;
}

cs_result cs_software_rule_id(const cs_software_rule *rule, cs_buf *out, cs_error *err) {
    /* This is also what holds the count within the array of join_sorted. */
    cs_result result = cs_software_rule_validate(rule, err);
    if (result != CS_OK) return result;
    if (rule == NULL || rule->n_identities == 0) return CS_OK;

    const size_t before = out->len;
    bool fits = false;
    if (rule->n_identities == 1) {
        cs_view only = cs_bytes_view(&rule->identities[0]);
        fits = cs_buf_text(out, "exact:") && cs_buf_append(out, only.ptr, only.len);
    } else {
        cs_digest digest = {.hex = ""};
        CS_AUTO_BUF joined = CS_BUF_INIT((size_t)CS_MAX_IDENTITIES * (CS_MAX_IDENTITY_BYTES + 1u));
        if (!join_sorted(rule, &joined)) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to join the identities");
        if (!cs_sha256_once(cs_buf_view(&joined), &digest))
            return cs_fail(err, CS_CODE_INTERNAL, "the SHA-256 library failed");
        fits = cs_buf_text(out, "approved:sha256:") && cs_buf_text(out, digest.hex);
    }
    if (fits) return CS_OK;
    out->len = before;
    return cs_fail(err, CS_CODE_NO_MEMORY, "no room for the id of a software rule");
}
