/* The canonical binary form of messages: cs_message_encode and cs_message_coverage of message.h.
 *
 * protobuf-c's packer is not used, because it writes -0 as if it were 0, builds a copy of every
 * sub-message at every depth, and goes on with missing bytes when memory for that runs out.
 */
#include <endian.h>
#include <string.h>

#include "records/message.h"

#define VARINT_BYTES 10u
#define DOUBLES_AT_ONCE 64u

/* Where encoded bytes go: appended to `buf`, or compared with `expected`. */
typedef struct sink {
    cs_buf *buf;      /* NULL: compare */
    cs_view expected; /* what is left of it */
    size_t offset;    /* bytes that were equal */
} sink;

static bool put(sink *to, const void *ptr, size_t len) {
    if (to->buf != NULL) return cs_buf_append(to->buf, ptr, len);
    const uint8_t *bytes = ptr;
    size_t common = len < to->expected.len ? len : to->expected.len;
    size_t same = 0;
    /* A field that borrows from the very place it is compared with needs no look at its bytes. */
    if (common > 0 && (bytes == to->expected.ptr || memcmp(bytes, to->expected.ptr, common) == 0)) same = common;
    while (same < common && bytes[same] == to->expected.ptr[same])
        same++;
    if (same > 0) to->expected = cs_view_bytes(to->expected.ptr + same, to->expected.len - same);
    to->offset += same;
    return same == len;
}

/* ---- varints and tags ----------------------------------------------------------------------------- */

static size_t varint_size(uint64_t value) {
    size_t n = 1;
    while (value > 0x7F) {
        value >>= 7;
        n++;
    }
    return n;
}

static bool put_varint(sink *to, uint64_t value) {
    uint8_t bytes[VARINT_BYTES];
    size_t n = 0;
    while (value > 0x7F) {
        bytes[n++] = (uint8_t)(value | 0x80u);
        value >>= 7;
    }
    bytes[n++] = (uint8_t)value;
    return put(to, bytes, n);
}

static uint64_t tag_of(const ProtobufCFieldDescriptor *field, ProtobufCWireType type) {
    return (uint64_t)field->id << 3 | (unsigned)type;
}

/* A number as the varint that stands for it: negative ones are extended to 64 bits. */
static uint64_t varint_value(ProtobufCType type, const void *member) {
    int32_t narrow = 0;
    uint64_t wide = 0;
    switch (type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        memcpy(&wide, member, sizeof wide);
        return wide;
    case PROTOBUF_C_TYPE_BOOL:
        memcpy(&narrow, member, sizeof narrow);
        return narrow != 0;
    case PROTOBUF_C_TYPE_UINT32:
        memcpy(&narrow, member, sizeof narrow);
        return (uint32_t)narrow;
    default:
        memcpy(&narrow, member, sizeof narrow);
        return (uint64_t)(int64_t)narrow;
    }
}

/* ---- sizes ---------------------------------------------------------------------------------------- */

static size_t message_size(const ProtobufCMessage *message);

static size_t length_delimited_size(const ProtobufCFieldDescriptor *field, size_t len) {
    return varint_size(tag_of(field, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)) + varint_size(len) + len;
}

static size_t element_bytes(const ProtobufCFieldDescriptor *field, const void *element) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return length_delimited_size(field, message_size(element));
    case PROTOBUF_C_TYPE_BYTES:
        return length_delimited_size(field, ((const ProtobufCBinaryData *)element)->len);
    case PROTOBUF_C_TYPE_DOUBLE:
        return varint_size(tag_of(field, PROTOBUF_C_WIRE_TYPE_64BIT)) + sizeof(double);
    default:
        return varint_size(tag_of(field, PROTOBUF_C_WIRE_TYPE_VARINT)) +
               varint_size(varint_value(field->type, element));
    }
}

static bool is_packed(const ProtobufCFieldDescriptor *field) {
    return field->label == PROTOBUF_C_LABEL_REPEATED && field->type == PROTOBUF_C_TYPE_DOUBLE;
}

static size_t message_size(const ProtobufCMessage *message) {
    size_t size = 0;
    for (unsigned f = 0; f < message->descriptor->n_fields; f++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[f];
        size_t count = cs_field_count(message, field);
        if (is_packed(field)) {
            if (count > 0) size += length_delimited_size(field, count * sizeof(double));
            continue;
        }
        for (size_t i = 0; i < count; i++)
            size += element_bytes(field, cs_field_at(message, field, i));
    }
    return size;
}

/* ---- writing -------------------------------------------------------------------------------------- */

static bool put_message(sink *to, const ProtobufCMessage *message);

static bool put_doubles(sink *to, const double *values, size_t count) {
    uint8_t bytes[DOUBLES_AT_ONCE * sizeof(double)];
    size_t filled = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits = htole64(bits);
        memcpy(bytes + filled, &bits, sizeof bits);
        filled += sizeof bits;
        if (filled < sizeof bytes && i + 1 < count) continue;
        if (!put(to, bytes, filled)) return false;
        filled = 0;
    }
    return true;
}

static bool put_length(sink *to, const ProtobufCFieldDescriptor *field, size_t len) {
    return put_varint(to, tag_of(field, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)) && put_varint(to, len);
}

static bool put_element(sink *to, const ProtobufCFieldDescriptor *field, const void *element) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return put_length(to, field, message_size(element)) && put_message(to, element);
    case PROTOBUF_C_TYPE_BYTES: {
        const ProtobufCBinaryData *bytes = element;
        return put_length(to, field, bytes->len) && put(to, bytes->data, bytes->len);
    }
    case PROTOBUF_C_TYPE_DOUBLE:
        return put_varint(to, tag_of(field, PROTOBUF_C_WIRE_TYPE_64BIT)) && put_doubles(to, element, 1);
    default:
        return put_varint(to, tag_of(field, PROTOBUF_C_WIRE_TYPE_VARINT)) &&
               put_varint(to, varint_value(field->type, element));
    }
}

static bool put_field(sink *to, const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    size_t count = cs_field_count(message, field);
    if (count > 0 && is_packed(field)) {
        return put_length(to, field, count * sizeof(double)) && put_doubles(to, cs_field_at(message, field, 0), count);
    }
    for (size_t i = 0; i < count; i++) {
        if (!put_element(to, field, cs_field_at(message, field, i))) return false;
    }
    return true;
}

static bool put_message(sink *to, const ProtobufCMessage *message) {
    for (unsigned f = 0; f < message->descriptor->n_fields; f++) {
        if (!put_field(to, message, &message->descriptor->fields[f])) return false;
    }
    return true;
}

/* ---- the two uses --------------------------------------------------------------------------------- */

cs_result cs_message_encode(const ProtobufCMessage *message, cs_buf *out, cs_error *err) {
    const char *type = message->descriptor->short_name;
    const size_t size = message_size(message);
    const size_t before = out->len;
    if (before > out->max || size > out->max - before)
        return cs_fail(err, CS_CODE_MESSAGE_MALFORMED, "the %s takes %zu bytes; at most %zu are allowed here", type,
                       size, before > out->max ? 0 : out->max - before);
    if (!cs_buf_reserve(out, size)) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to encode a %s", type);

    sink to = {.buf = out};
    if (!put_message(&to, message) || out->len - before != size) {
        out->len = before;
        return cs_fail(err, CS_CODE_INTERNAL, "the %s was not encoded to the size that was counted", type);
    }
    return CS_OK;
}

cs_result cs_message_coverage(const ProtobufCMessage *message, cs_view bytes, cs_error *err) {
    cs_result result = cs_message_known(message, err);
    if (result != CS_OK) return result;
    sink to = {.expected = bytes};
    if (put_message(&to, message) && to.expected.len == 0) return CS_OK;

    result = cs_fail(err, CS_CODE_MESSAGE_NONCANONICAL,
                     "the %s is not encoded as a canonical encoder writes it; what differs is covered by no digest",
                     message->descriptor->short_name);
    cs_error_where(err, "byte %zu", to.offset);
    return result;
}
