/* Signed runs to measure with: what a daemon would have stamped, then checked and signed. */
#include "bench/bench.h"

#include "records/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set(ProtobufCBinaryData *field, cs_view value) {
    if (!cs_bytes_set(field, value)) {
        bench_fail("memory", NULL);
    }
}

static void set_text(ProtobufCBinaryData *field, const char *text) {
    set(field, cs_view_of(text));
}

static void *zeroed(size_t size) {
    void *ptr = calloc(1, size);
    if (ptr == NULL) {
        bench_fail("memory", NULL);
    }
    return ptr;
}

static cs_run_request *make_request(unsigned serial) {
    cs_run_request *request = zeroed(sizeof *request);
    plimsoll__v1__run_request__init(request);
    request->protocol = 3;
    request->payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT;
    Plimsoll__V1__ProjectRun *project = zeroed(sizeof *project);
    plimsoll__v1__project_run__init(project);
    request->project = project;
    project->steps = zeroed(sizeof *project->steps);
    project->n_steps = 1;
    char step[64];
    snprintf(step, sizeof step, "node work.js %u > out.bin", serial);
    set_text(&project->steps[0], step);
    project->artifacts = zeroed(sizeof *project->artifacts);
    project->n_artifacts = 1;
    set_text(&project->artifacts[0], "out.bin");
    return request;
}

static Plimsoll__V1__ProjectResult *make_result(const cs_run_request *request, size_t artifact) {
    Plimsoll__V1__ProjectResult *result = zeroed(sizeof *result);
    plimsoll__v1__project_result__init(result);
    result->outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED;
    result->steps = zeroed(sizeof *result->steps); // NOLINT(bugprone-sizeof-expression): a list of pointers
    result->n_steps = 1;
    result->steps[0] = zeroed(sizeof **result->steps);
    plimsoll__v1__step_result__init(result->steps[0]);
    set(&result->steps[0]->command, cs_bytes_view(&request->project->steps[0]));
    result->artifacts = zeroed(sizeof *result->artifacts); // NOLINT(bugprone-sizeof-expression): as above
    result->n_artifacts = 1;
    result->artifacts[0] = zeroed(sizeof **result->artifacts);
    plimsoll__v1__artifact__init(result->artifacts[0]);
    set_text(&result->artifacts[0]->path, "out.bin");
    uint8_t *content = zeroed(artifact == 0 ? 1 : artifact);
    for (size_t i = 0; i < artifact; i++) {
        content[i] = (uint8_t)(i * 31 + (i >> 8));
    }
    result->artifacts[0]->content = (ProtobufCBinaryData){.len = artifact, .data = content};
    return result;
}

/* What a daemon does: digests over what it was sent and what it sends, then the record's own. */
static void stamp(cs_bench *bench, const cs_run_request *request, cs_run_response *response, unsigned serial) {
    cs_run_record *record = zeroed(sizeof *record);
    plimsoll__v1__run_record__init(record);
    response->record = record;
    cs_digest digest;
    cs_error err = CS_ERROR_INIT;
    record->version = 2;
    if (cs_digest_request_with(bench->hash, request, &digest, &err) != CS_OK) {
        bench_fail("request digest", &err);
    }
    set(&record->request_sha256, cs_digest_view(&digest));
    if (cs_digest_result_with(bench->hash, response, &digest, &err) != CS_OK) {
        bench_fail("result digest", &err);
    }
    set(&record->result_sha256, cs_digest_view(&digest));
    set(&record->provider, cs_bytes_view(&response->sandbox));
    set(&record->isolation, cs_bytes_view(&response->isolation));
    set_text(&record->policy, "bench-policy");
    record->started_unix_ms = 1790000000000 + serial;
    record->ended_unix_ms = record->started_unix_ms + 5;
    if (cs_digest_record_with(bench->hash, record, &digest, &err) != CS_OK) {
        bench_fail("record digest", &err);
    }
    set(&record->record_sha256, cs_digest_view(&digest));
}

static void encode(const void *message, cs_buf *out) {
    cs_error err = CS_ERROR_INIT;
    if (cs_message_encode(message, out, &err) != CS_OK) {
        bench_fail("encode", &err);
    }
}

void bench_make_run(cs_bench *bench, unsigned serial, size_t artifact, cs_bench_run *out) {
    *out = (cs_bench_run){.request = CS_BUF_INIT(CS_MAX_LEDGER_MESSAGE),
                          .response = CS_BUF_INIT(CS_MAX_LEDGER_MESSAGE),
                          .envelope = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES)};
    cs_run_request *request = make_request(serial);
    cs_run_response *response = zeroed(sizeof *response);
    plimsoll__v1__run_response__init(response);
    set_text(&response->sandbox, "bench");
    set_text(&response->isolation, "container");
    response->result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT;
    response->project = make_result(request, artifact);
    stamp(bench, request, response, serial);
    encode(request, &out->request);
    encode(response, &out->response);

    cs_error err = CS_ERROR_INIT;
    cs_checked_run checked;
    const cs_call call = {.request = request, .response = response, .response_bytes = cs_buf_view(&out->response)};
    if (cs_check_run(&call, bench->hash, &checked, &err) != CS_OK ||
        cs_sign_run(bench->key, &checked, &out->envelope, &err) != CS_OK) {
        bench_fail("sign", &err);
    }
    out->record_sha256 = checked.record_sha256;
    cs_message_free(request);
    cs_message_free(response);
}

void bench_run_free(cs_bench_run *run) {
    cs_buf_free(&run->request);
    cs_buf_free(&run->response);
    cs_buf_free(&run->envelope);
}

cs_ledger_row bench_row(const cs_bench_run *run) {
    return (cs_ledger_row){.added_unix_ms = 1790000000000,
                           .kind = cs_view_of(CS_KIND_RUN),
                           .daemon = cs_view_of("http://127.0.0.1:8746"),
                           .request = cs_buf_view(&run->request),
                           .response = cs_buf_view(&run->response),
                           .envelope = cs_buf_view(&run->envelope),
                           .record_sha256 = cs_digest_view(&run->record_sha256)};
}
