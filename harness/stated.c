#include "harness/stated.h"

#include "records/message.h"

/* *out is NULL when there is no such message. */
static cs_result decode(const ProtobufCMessageDescriptor *what, cs_view bytes, cs_arena *arena,
                        const ProtobufCMessage **out, cs_error *err) {
    *out = NULL;
    if (bytes.ptr == NULL) return CS_OK;
    cs_error trouble = CS_ERROR_INIT;
    if (cs_message_view(what, bytes, arena, out, &trouble) == CS_OK) return CS_OK;
    *out = NULL;
    return trouble.code == CS_CODE_NO_MEMORY ? cs_fail(err, trouble.code, "%s", trouble.message) : CS_OK;
}

static cs_view identity_of(const Plimsoll__V1__PayloadEnvironment *environment) {
    return environment != NULL ? cs_bytes_view(&environment->identity) : (cs_view){.len = 0};
}

static void take_description(const cs_describe_response *self, cs_stated *out) {
    out->any = true;
    out->tier = cs_bytes_view(&self->isolation);
    out->provider = cs_bytes_view(&self->sandbox);
    out->policy = cs_bytes_view(&self->policy);
    out->environments[1] = identity_of(self->javascript_environment);
    out->environments[2] = identity_of(self->project_environment);
    out->environments[3] = identity_of(self->module_environment);
    out->environments[4] = identity_of(self->session_environment);
}

static void take_record(const cs_run_record *record, cs_stated *out) {
    out->any = true;
    out->tier = cs_bytes_view(&record->isolation);
    out->provider = cs_bytes_view(&record->provider);
    out->policy = cs_bytes_view(&record->policy);
    out->environments[0] = cs_bytes_view(&record->environment);
}

cs_result cs_stated_read(const cs_ledger_row *row, cs_arena *arena, cs_stated *out, cs_error *err) {
    *out = (cs_stated){.any = false};
    cs_stated stated = {.any = false};
    const ProtobufCMessage *self = NULL;
    const ProtobufCMessage *response = NULL;
    cs_result result = decode(&plimsoll__v1__describe_response__descriptor, row->describe_before, arena, &self, err);
    if (result == CS_OK) result = decode(&plimsoll__v1__run_response__descriptor, row->response, arena, &response, err);
    if (result != CS_OK) return result;
    if (self != NULL) take_description((const cs_describe_response *)self, &stated);
    const cs_run_record *record = response != NULL ? ((const cs_run_response *)response)->record : NULL;
    if (record != NULL) take_record(record, &stated);
    *out = stated;
    return CS_OK;
}
