#include "tests/support/sample.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/canon.h"

static void *new_message(const ProtobufCMessageDescriptor *type) {
    void *message = malloc(type->sizeof_message);
    if (!message) abort();
    protobuf_c_message_init(type, message);
    return message;
}

static void init_request(sample *s) {
    cs_run_request *request = new_message(&plimsoll__v1__run_request__descriptor);
    request->protocol = 3;
    canon_set(&request->minimum_isolation, "container");
    canon_set(&request->trace_id, "trace-1");
    request->timeout_ms = 5000;
    request->software_rule = new_message(&plimsoll__v1__software_rule__descriptor);
    canon_set(&request->software_rule->mode, "exact");
    request->software_rule->identities = calloc(1, sizeof(ProtobufCBinaryData));
    if (!request->software_rule->identities) abort();
    request->software_rule->n_identities = 1;
    canon_set(&request->software_rule->identities[0], SAMPLE_IDENTITY);
    request->payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    request->javascript = new_message(&plimsoll__v1__java_script_run__descriptor);
    canon_set(&request->javascript->code, "console.log(1 + 1)");
    s->request = request;
}

static void init_record(sample *s) {
    cs_run_record *record = new_message(&plimsoll__v1__run_record__descriptor);
    record->version = 2;
    canon_set(&record->provider, "gvisor");
    canon_set(&record->isolation, "kernel");
    canon_set(&record->environment, "node-22");
    canon_set(&record->policy, "policy:sha256:1");
    canon_set(&record->software_identity, SAMPLE_IDENTITY);
    canon_set(&record->software_rule_id, "exact:" SAMPLE_IDENTITY);
    record->started_unix_ms = SAMPLE_STARTED;
    record->ended_unix_ms = SAMPLE_ENDED;
    s->record = record;
}

static void init_response(sample *s) {
    cs_run_response *response = new_message(&plimsoll__v1__run_response__descriptor);
    canon_set(&response->sandbox, "gvisor");
    canon_set(&response->isolation, "kernel");
    canon_set(&response->environment, "node-22");
    canon_set(&response->software_identity, SAMPLE_IDENTITY);
    response->duration_ms = 99;
    response->record = s->record;
    response->result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT;
    response->javascript = new_message(&plimsoll__v1__java_script_result__descriptor);
    canon_set(&response->javascript->stdout, "2\n");
    s->response = response;
}

static cs_describe_response *new_description(void) {
    cs_describe_response *described = new_message(&plimsoll__v1__describe_response__descriptor);
    canon_set(&described->sandbox, "gvisor");
    canon_set(&described->isolation, "kernel");
    canon_set(&described->policy, "policy:sha256:1");
    described->protocol = 3;
    return described;
}

void sample_init(sample *s) {
    *s = (sample){0};
    init_request(s);
    init_record(s);
    init_response(s);
    s->before = new_description();
    s->after = new_description();
    sample_seal(s, SEAL_ALL);
}

void sample_seal(sample *s, unsigned what) {
    char hex[65];
    if (what & SEAL_REQUEST) {
        canon_request(s->request, hex);
        canon_set(&s->record->request_sha256, hex);
    }
    if (what & SEAL_RESULT) {
        canon_result(s->response, hex);
        canon_set(&s->record->result_sha256, hex);
    }
    if (what & SEAL_RECORD) {
        canon_record(s->record, hex);
        canon_set(&s->record->record_sha256, hex);
    }
    if (what & SEAL_BYTES) {
        free(s->bytes);
        s->len = protobuf_c_message_get_packed_size(&s->response->base);
        s->bytes = malloc(s->len + 1);
        if (!s->bytes) abort();
        protobuf_c_message_pack(&s->response->base, s->bytes);
    }
}

static void free_message(void *message) {
    if (message) protobuf_c_message_free_unpacked(message, NULL);
}

void sample_free(sample *s) {
    /* A test may have taken the record out of the response. */
    if (s->response->record != s->record) free_message(s->record);
    free_message(s->request);
    free_message(s->response);
    free_message(s->before);
    free_message(s->after);
    free(s->bytes);
    *s = (sample){0};
}

cs_call sample_call(const sample *s) {
    return (cs_call){
        .request = s->request,
        .response = s->response,
        .response_bytes = {.ptr = s->bytes, .len = s->len},
        .before = s->before,
        .after = s->after,
        .sent_unix_ms = SAMPLE_STARTED - 50,
        .received_unix_ms = SAMPLE_ENDED + 50,
        .skew_ms = CS_DEFAULT_SKEW_MS,
    };
}

void sample_again(sample *s) {
    s->record->started_unix_ms--;
    sample_seal(s, SEAL_ALL);
}
