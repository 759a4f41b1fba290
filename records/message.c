#include "records/message_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- fields, by their descriptors ----------------------------------------------------------------- */

static const void *member_of(const ProtobufCMessage *message, unsigned offset) {
    return (const uint8_t *)message + offset;
}

static uint32_t load_u32(const void *from) {
    uint32_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

static uint64_t load_u64(const void *from) {
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return value;
}

/* Does a single field outside a oneof hold anything but its default? A double is compared as bits,
 * because -0 is a value that the digests tell from 0. */
static bool is_set(const ProtobufCFieldDescriptor *field, const void *member) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return *(const ProtobufCMessage *const *)member != NULL;
    case PROTOBUF_C_TYPE_BYTES:
        return ((const ProtobufCBinaryData *)member)->len > 0;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return load_u64(member) != 0;
    default:
        return load_u32(member) != 0;
    }
}

size_t cs_field_count(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    const void *member = member_of(message, field->offset);
    const void *quantifier = member_of(message, field->quantifier_offset);
    if (field->label == PROTOBUF_C_LABEL_REPEATED) return *(const size_t *)quantifier;
    if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
        /* A chosen member is there also when it holds a default; only a message must be there as well. */
        if (load_u32(quantifier) != field->id) return 0;
        if (field->type != PROTOBUF_C_TYPE_MESSAGE) return 1;
    }
    return is_set(field, member) ? 1 : 0;
}

size_t cs_field_element_size(const ProtobufCFieldDescriptor *field) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(ProtobufCMessage *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return sizeof(uint64_t);
    default:
        return sizeof(uint32_t);
    }
}

const void *cs_field_at(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, size_t index) {
    const void *member = member_of(message, field->offset);
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        const uint8_t *array = *(const uint8_t *const *)member;
        member = array + index * cs_field_element_size(field);
    }
    return field->type == PROTOBUF_C_TYPE_MESSAGE ? *(const ProtobufCMessage *const *)member : member;
}

bool cs_field_is_text(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field) {
    if (field->type != PROTOBUF_C_TYPE_BYTES) return false;
    if (type == &plimsoll__v1__artifact__descriptor) return strcmp(field->name, "content") != 0;
    return strcmp(field->name, "stdout") != 0 && strcmp(field->name, "stderr") != 0;
}

/* ---- places --------------------------------------------------------------------------------------- */

static void place_write(const cs_place *at, cs_buf *out) {
    if (at == NULL) return;
    place_write(at->up, out);
    /* A path that does not fit is cut; it still begins where the message does. */
    bool fits = (out->len == 0 || cs_buf_byte(out, '.')) && cs_buf_text(out, at->field->name);
    if (fits && at->field->label == PROTOBUF_C_LABEL_REPEATED) (void)!cs_buf_printf(out, "[%zu]", at->index);
}

cs_result cs_place_fail(const cs_place *at, cs_error *err, cs_code code, const char *text) {
    cs_result result = cs_fail(err, code, "%s", text);
    CS_AUTO_BUF path = CS_BUF_INIT(sizeof err->where - 1);
    place_write(at, &path);
    if (path.len > 0) cs_error_where(err, "%.*s", (int)path.len, (const char *)path.ptr);
    return result;
}

/* ---- unknown fields ------------------------------------------------------------------------------- */

static cs_result check_known(const ProtobufCMessage *message, const cs_place *up, cs_error *err) {
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (message->n_unknown_fields > 0) {
        char text[96];
        (void)snprintf(text, sizeof text, "field %" PRIu32 " is not known in %s; no digest covers it",
                       message->unknown_fields[0].tag, type->short_name);
        return cs_place_fail(up, err, CS_CODE_MESSAGE_UNKNOWN_FIELD, text);
    }
    for (unsigned f = 0; f < type->n_fields; f++) {
        cs_place at = {.up = up, .field = &type->fields[f], .index = 0};
        if (at.field->type != PROTOBUF_C_TYPE_MESSAGE) continue;
        size_t count = cs_field_count(message, at.field);
        for (; at.index < count; at.index++) {
            cs_result result = check_known(cs_field_at(message, at.field, at.index), &at, err);
            if (result != CS_OK) return result;
        }
    }
    return CS_OK;
}

cs_result cs_message_known(const ProtobufCMessage *message, cs_error *err) {
    return check_known(message, NULL, err);
}

/* ---- whole messages ------------------------------------------------------------------------------- */

void cs_message_free(void *message) {
    protobuf_c_message_free_unpacked(message, NULL);
}

cs_result cs_message_copy(const ProtobufCMessage *message, ProtobufCMessage **out, cs_error *err) {
    *out = NULL;
    CS_AUTO_BUF bytes = CS_BUF_INIT(SIZE_MAX);
    cs_result result = cs_message_encode(message, &bytes, err);
    if (result != CS_OK) return result;
    return cs_message_decode(message->descriptor, cs_buf_view(&bytes), out, err);
}

/* ---- single fields -------------------------------------------------------------------------------- */

bool cs_bytes_set(ProtobufCBinaryData *field, cs_view value) {
    uint8_t *copy = NULL;
    if (value.len > 0) {
        copy = malloc(value.len);
        if (copy == NULL) return false;
        memcpy(copy, value.ptr, value.len);
    }
    free(field->data);
    field->data = copy;
    field->len = value.len;
    return true;
}

cs_view cs_bytes_view(const ProtobufCBinaryData *field) {
    return cs_view_bytes(field->data, field->len);
}

const char *cs_request_kind(const cs_run_request *request) {
    switch (request->payload_case) {
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT:
        return "javascript";
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT:
        return "project";
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE:
        return "module";
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL:
        return "cell";
    default:
        return "";
    }
}

const char *cs_response_kind(const cs_run_response *response) {
    switch (response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        return "javascript";
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        return "project";
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_MODULE:
        return "module";
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL:
        return "cell";
    default:
        return "";
    }
}
