#include "records/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/text.h"

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

static size_t element_size(const ProtobufCFieldDescriptor *field) {
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
        member = array + index * element_size(field);
    }
    return field->type == PROTOBUF_C_TYPE_MESSAGE ? *(const ProtobufCMessage *const *)member : member;
}

bool cs_field_is_text(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field) {
    if (field->type != PROTOBUF_C_TYPE_BYTES) return false;
    if (type == &plimsoll__v1__artifact__descriptor) return strcmp(field->name, "content") != 0;
    return strcmp(field->name, "stdout") != 0 && strcmp(field->name, "stderr") != 0;
}

/* ---- what every field of every depth must be ------------------------------------------------------ */

/* Where a walk stands: the way up, kept on the stack, written out only when something is wrong. */
typedef struct place {
    const struct place *up; /* NULL at the top */
    const ProtobufCFieldDescriptor *field;
    size_t index;
} place;

static void place_write(const place *at, cs_buf *out) {
    if (at == NULL) return;
    place_write(at->up, out);
    /* A path that does not fit is cut; it still begins where the message does. */
    bool fits = (out->len == 0 || cs_buf_byte(out, '.')) && cs_buf_text(out, at->field->name);
    if (fits && at->field->label == PROTOBUF_C_LABEL_REPEATED) (void)!cs_buf_printf(out, "[%zu]", at->index);
}

static cs_result fail_at(const place *at, cs_error *err, cs_code code, const char *text) {
    cs_result result = cs_fail(err, code, "%s", text);
    CS_AUTO_BUF path = CS_BUF_INIT(sizeof err->where - 1);
    place_write(at, &path);
    if (path.len > 0) cs_error_where(err, "%.*s", (int)path.len, (const char *)path.ptr);
    return result;
}

/* One rule for messages and one for their byte fields; each may be NULL. */
typedef struct walk_rules {
    cs_result (*message)(const ProtobufCMessage *message, const place *at, cs_error *err);
    cs_result (*bytes)(const ProtobufCMessageDescriptor *type, const ProtobufCBinaryData *value, const place *at,
                       cs_error *err);
} walk_rules;

static cs_result walk(const ProtobufCMessage *message, const walk_rules *rules, const place *up, cs_error *err) {
    cs_result result = rules->message == NULL ? CS_OK : rules->message(message, up, err);
    const ProtobufCMessageDescriptor *type = message->descriptor;
    for (unsigned f = 0; f < type->n_fields && result == CS_OK; f++) {
        place at = {.up = up, .field = &type->fields[f], .index = 0};
        bool nested = at.field->type == PROTOBUF_C_TYPE_MESSAGE;
        if (!nested && (at.field->type != PROTOBUF_C_TYPE_BYTES || rules->bytes == NULL)) continue;
        size_t count = cs_field_count(message, at.field);
        for (; at.index < count && result == CS_OK; at.index++) {
            const void *element = cs_field_at(message, at.field, at.index);
            result = nested ? walk(element, rules, &at, err) : rules->bytes(type, element, &at, err);
        }
    }
    return result;
}

static cs_result text_is_utf8(const ProtobufCMessageDescriptor *type, const ProtobufCBinaryData *value, const place *at,
                              cs_error *err) {
    if (!cs_field_is_text(type, at->field) || cs_utf8_valid(cs_bytes_view(value))) return CS_OK;
    return fail_at(at, err, CS_CODE_MESSAGE_TEXT, "a text field is not UTF-8");
}

static cs_result no_unknown_field(const ProtobufCMessage *message, const place *at, cs_error *err) {
    if (message->n_unknown_fields == 0) return CS_OK;
    char text[96];
    (void)snprintf(text, sizeof text, "field %" PRIu32 " is not known in %s; no digest covers it",
                   message->unknown_fields[0].tag, message->descriptor->short_name);
    return fail_at(at, err, CS_CODE_MESSAGE_UNKNOWN_FIELD, text);
}

/* ---- decoding ------------------------------------------------------------------------------------- */

/* What protobuf-c may still ask for. It frees through free(), so that a message is the same to
 * cs_message_free whether it was decoded or built. */
typedef struct memory_budget {
    size_t left;
    bool exceeded;
    bool no_memory;
} memory_budget;

static void *budget_alloc(void *data, size_t size) {
    memory_budget *budget = data;
    if (size > budget->left) {
        budget->exceeded = true;
        return NULL;
    }
    budget->left -= size;
    void *ptr = malloc(size > 0 ? size : 1);
    if (ptr == NULL) budget->no_memory = true;
    return ptr;
}

static void budget_free(void *data, void *ptr) {
    (void)data;
    free(ptr);
}

static size_t decode_bound(size_t len) {
    return len > (SIZE_MAX - CS_DECODE_BASE) / CS_DECODE_FACTOR ? SIZE_MAX : len * CS_DECODE_FACTOR + CS_DECODE_BASE;
}

cs_result cs_message_decode(const ProtobufCMessageDescriptor *type, cs_view bytes, ProtobufCMessage **out,
                            cs_error *err) {
    *out = NULL;
    const size_t bound = decode_bound(bytes.len);
    memory_budget budget = {.left = bound};
    ProtobufCAllocator allocator = {.alloc = budget_alloc, .free = budget_free, .allocator_data = &budget};
    const uint8_t *ptr = bytes.len > 0 ? bytes.ptr : (const uint8_t *)"";
    ProtobufCMessage *message = protobuf_c_message_unpack(type, &allocator, bytes.len, ptr);
    if (message == NULL && budget.no_memory)
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to decode a %s of %zu bytes", type->short_name, bytes.len);
    if (message == NULL && budget.exceeded)
        return cs_fail(err, CS_CODE_MESSAGE_MALFORMED,
                       "a %s of %zu bytes has so many parts that it would need more than %zu bytes of memory",
                       type->short_name, bytes.len, bound);
    if (message == NULL)
        return cs_fail(err, CS_CODE_MESSAGE_MALFORMED, "%zu bytes are not a %s", bytes.len, type->short_name);

    cs_result result = walk(message, &(walk_rules){.bytes = text_is_utf8}, NULL, err);
    if (result != CS_OK) {
        cs_message_free(message);
        return result;
    }
    *out = message;
    return CS_OK;
}

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

cs_result cs_message_known(const ProtobufCMessage *message, cs_error *err) {
    return walk(message, &(walk_rules){.message = no_unknown_field}, NULL, err);
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
