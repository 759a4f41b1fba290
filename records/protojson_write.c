#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "records/compactjson.h"
#include "records/jsonlex.h"
#include "records/protojson.h"
#include "records/protojson_field.h"
#include "records/text.h"

/* The buffer answers false at its maximum and without memory alike. */
static cs_result fail_full(cs_error *err) {
    return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the JSON form of the message");
}

static cs_result wrote(bool ok, cs_error *err) {
    return ok ? CS_OK : fail_full(err);
}

static bool write_double(cs_buf *out, double value) {
    if (isnan(value)) return cs_buf_text(out, "\"NaN\"");
    if (isinf(value)) return cs_buf_text(out, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    return cs_number_append(out, value);
}

static bool write_enum(cs_buf *out, const ProtobufCEnumDescriptor *type, int32_t value) {
    const ProtobufCEnumValue *known = protobuf_c_enum_descriptor_get_value(type, value);
    if (!known) return cs_buf_printf(out, "%" PRId32, value);
    return cs_buf_byte(out, '"') && cs_buf_text(out, known->name) && cs_buf_byte(out, '"');
}

static cs_result write_bytes(cs_buf *out, bool is_text, const ProtobufCBinaryData *value, cs_error *err) {
    cs_view bytes = cs_bytes_view(value);
    if (!is_text) return wrote(cs_buf_byte(out, '"') && cs_base64_append(out, bytes) && cs_buf_byte(out, '"'), err);
    if (!cs_utf8_valid(bytes)) return cs_fail(err, CS_CODE_MESSAGE_TEXT, "a text field is not UTF-8");
    return wrote(cs_json_string(out, bytes), err);
}

static cs_result write_message(const ProtobufCMessage *message, unsigned depth, cs_buf *out, cs_error *err);

static cs_result write_value(cs_protojson_field which, const void *value, unsigned depth, cs_buf *out, cs_error *err) {
    switch (which.field->type) {
    case PROTOBUF_C_TYPE_INT32:
        return wrote(cs_buf_printf(out, "%" PRId32, *(const int32_t *)value), err);
    case PROTOBUF_C_TYPE_UINT32:
        return wrote(cs_buf_printf(out, "%" PRIu32, *(const uint32_t *)value), err);
    case PROTOBUF_C_TYPE_INT64:
        return wrote(cs_buf_printf(out, "\"%" PRId64 "\"", *(const int64_t *)value), err);
    case PROTOBUF_C_TYPE_UINT64:
        return wrote(cs_buf_printf(out, "\"%" PRIu64 "\"", *(const uint64_t *)value), err);
    case PROTOBUF_C_TYPE_DOUBLE:
        return wrote(write_double(out, *(const double *)value), err);
    case PROTOBUF_C_TYPE_BOOL:
        return wrote(cs_buf_text(out, *(const protobuf_c_boolean *)value ? "true" : "false"), err);
    case PROTOBUF_C_TYPE_ENUM:
        return wrote(write_enum(out, which.field->descriptor, *(const int32_t *)value), err);
    case PROTOBUF_C_TYPE_BYTES:
        return write_bytes(out, cs_field_is_text(which.message, which.field), value, err);
    case PROTOBUF_C_TYPE_MESSAGE:
        return write_message(*(ProtobufCMessage *const *)value, depth + 1, out, err);
    default:
        return cs_fail(err, CS_CODE_INTERNAL, "a field of this type has no JSON form here");
    }
}

static cs_result write_repeated(cs_protojson_field which, const ProtobufCMessage *message, unsigned depth, cs_buf *out,
                                cs_error *err) {
    size_t count = *(const size_t *)((const char *)message + which.field->quantifier_offset);
    const char *items = *(char *const *)((const char *)message + which.field->offset);
    size_t size = cs_protojson_size(which.field);
    if (!cs_buf_byte(out, '[')) return fail_full(err);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && !cs_buf_byte(out, ',')) return fail_full(err);
        cs_result result = write_value(which, items + i * size, depth, out, err);
        if (result != CS_OK) return result;
    }
    return wrote(cs_buf_byte(out, ']'), err);
}

/* Is there something to write? A default is not, by proto3's rule, but -0 is not the default 0, and the
 * set member of a oneof counts even with a default inside. */
static bool is_set(const ProtobufCFieldDescriptor *field, const ProtobufCMessage *message) {
    const char *base = (const char *)message;
    const void *value = base + field->offset;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) return *(const size_t *)(base + field->quantifier_offset) > 0;
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF && *(const uint32_t *)(base + field->quantifier_offset) != field->id)
        return false;
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) return *(ProtobufCMessage *const *)value != NULL;
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) return true;
    if (field->type == PROTOBUF_C_TYPE_BYTES) return ((const ProtobufCBinaryData *)value)->len > 0;
    static const char zero[sizeof(uint64_t)];
    return memcmp(value, zero, cs_protojson_size(field)) != 0;
}

static cs_result write_field(cs_protojson_field which, const ProtobufCMessage *message, unsigned depth, cs_buf *out,
                             cs_error *err) {
    char name[CS_PROTOJSON_NAME];
    if (!cs_protojson_camel(which.field->name, name))
        return cs_fail(err, CS_CODE_INTERNAL, "a field's name is too long");
    if (!cs_json_name(out, name)) return fail_full(err);
    if (which.field->label == PROTOBUF_C_LABEL_REPEATED) return write_repeated(which, message, depth, out, err);
    return write_value(which, (const char *)message + which.field->offset, depth, out, err);
}

static cs_result write_message(const ProtobufCMessage *message, unsigned depth, cs_buf *out, cs_error *err) {
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (depth >= CS_PROTOJSON_DEPTH) return cs_fail(err, CS_CODE_INTERNAL, "the message is nested too deeply");
    if (!cs_buf_byte(out, '{')) return fail_full(err);
    for (unsigned i = 0; i < type->n_fields; i++) {
        cs_protojson_field which = {type, &type->fields[i]};
        if (!is_set(which.field, message)) continue;
        cs_result result = write_field(which, message, depth, out, err);
        if (result != CS_OK) return result;
    }
    return wrote(cs_buf_byte(out, '}'), err);
}

cs_result cs_protojson_write(const ProtobufCMessage *message, cs_buf *out, cs_error *err) {
    size_t before = out->len;
    cs_result result = write_message(message, 0, out, err);
    if (result != CS_OK) out->len = before;
    return result;
}
