/* Random messages of every type through JSON and back, and damaged JSON. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "records/protojson.h"

/* ---- there and back ------------------------------------------------------------------------------- */

static uint64_t random_bits(void) {
    uint64_t bits = 0;
    for (int i = 0; i < 5; i++)
        bits = bits << 15 ^ (uint64_t)rand();
    return bits;
}

/* Mostly ordinary numbers, and the edges. */
static uint64_t random_number(void) {
    static const uint64_t edges[] = {0, 1, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, (uint64_t)INT64_MAX + 1, 1000};
    return rand() % 2 ? edges[rand() % 8] : random_bits();
}

static double random_double(void) {
    static const double edges[] = {0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, INFINITY, -INFINITY};
    double value;
    uint64_t bits = random_bits();
    if (rand() % 2) return edges[rand() % 8];
    memcpy(&value, &bits, sizeof value);
    return isnan(value) ? 1.25 : value;
}

static ProtobufCBinaryData random_bytes(bool is_text) {
    static const char *const pieces[] = {
        "a", "\"", "\\", "\n", "<", "\xc3\xa4", "\xe2\x80\xa8", "\xf0\x9f\x98\x80", "\x01", "plain", "\x7f", "/"};
    uint8_t raw[64];
    size_t len = 0;
    for (int count = rand() % 6; count > 0; count--) {
        const char *piece = pieces[rand() % 12];
        size_t piece_len = rand() % 10 ? strlen(piece) : 1;
        if (is_text && piece[0] & 0x80) piece_len = strlen(piece);
        memcpy(raw + len, rand() % 10 ? piece : "\0aaaaaaa", piece_len);
        len += piece_len;
        if (!is_text) raw[len++] = (uint8_t)rand();
    }
    ProtobufCBinaryData out = {0};
    cr_assert(cs_bytes_set(&out, cs_view_bytes(raw, len)));
    return out;
}

static ProtobufCMessage *random_message(const ProtobufCMessageDescriptor *type);

static void random_value(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field, void *slot) {
    uint64_t number = random_number();
    double real = random_double();
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_ENUM:
        memcpy(slot, &number, 4);
        break;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        memcpy(slot, &number, 8);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        memcpy(slot, &real, 8);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)slot = rand() % 2;
        break;
    case PROTOBUF_C_TYPE_BYTES:
        *(ProtobufCBinaryData *)slot = random_bytes(cs_field_is_text(type, field));
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)slot = random_message(field->descriptor);
        break;
    default:
        cr_assert_fail("type %d", (int)field->type);
    }
}

static size_t size_of(ProtobufCType type) {
    switch (type) {
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    default:
        return 8;
    }
}

static void random_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    char *base = (char *)message;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t count = (size_t)rand() % 7;
        size_t size = size_of(field->type);
        char *items = count ? calloc(count, size) : NULL;
        for (size_t i = 0; i < count; i++)
            random_value(message->descriptor, field, items + i * size);
        *(char **)(base + field->offset) = items;
        *(size_t *)(base + field->quantifier_offset) = count;
        return;
    }
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        uint32_t *chosen = (uint32_t *)(base + field->quantifier_offset);
        if (*chosen != 0) return;
        *chosen = field->id;
    }
    random_value(message->descriptor, field, base + field->offset);
}

static ProtobufCMessage *random_message(const ProtobufCMessageDescriptor *type) {
    ProtobufCMessage *message = malloc(type->sizeof_message);
    cr_assert(message);
    protobuf_c_message_init(type, message);
    for (unsigned i = 0; i < type->n_fields; i++)
        if (rand() % 3) random_field(message, &type->fields[i]);
    return message;
}

static void there_and_back(const ProtobufCMessageDescriptor *type) {
    ProtobufCMessage *message = random_message(type);
    ProtobufCMessage *again = NULL;
    cs_buf json = CS_BUF_INIT(1u << 24);
    cs_buf before = CS_BUF_INIT(1u << 24);
    cs_buf after = CS_BUF_INIT(1u << 24);
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_protojson_write(message, &json, &err), CS_OK, "%s: %s", type->name, err.message);
    cr_assert_eq(cs_protojson_read(type, cs_buf_view(&json), &again, &err), CS_OK, "%s: %s (%s)\n%.*s", type->name,
                 err.message, err.where, (int)json.len, (const char *)json.ptr);
    cr_assert_eq(cs_message_encode(message, &before, &err), CS_OK);
    cr_assert_eq(cs_message_encode(again, &after, &err), CS_OK);
    cr_assert(cs_view_equal(cs_buf_view(&before), cs_buf_view(&after)), "%s: %.*s", type->name, (int)json.len,
              (const char *)json.ptr);
    cs_message_free(message);
    cs_message_free(again);
    cs_buf_free(&json);
    cs_buf_free(&before);
    cs_buf_free(&after);
}

static const ProtobufCMessageDescriptor *const all_types[] = {
    &plimsoll__v1__describe_request__descriptor,      &plimsoll__v1__describe_response__descriptor,
    &plimsoll__v1__run_request__descriptor,           &plimsoll__v1__run_response__descriptor,
    &plimsoll__v1__open_session_request__descriptor,  &plimsoll__v1__open_session_response__descriptor,
    &plimsoll__v1__session_run_request__descriptor,   &plimsoll__v1__session_run_response__descriptor,
    &plimsoll__v1__close_session_request__descriptor, &plimsoll__v1__close_session_response__descriptor,
    &plimsoll__v1__not_dispatched__descriptor,        &plimsoll__v1__session_ended__descriptor,
    &plimsoll__v1__unanswered_call__descriptor,
};

Test(protojson, every_message_comes_back) {
    srand(4);
    for (size_t i = 0; i < sizeof all_types / sizeof *all_types; i++)
        for (int round = 0; round < 200; round++)
            there_and_back(all_types[i]);
}

/* Damaged JSON is read or refused; under the sanitizers nothing else may happen. */
Test(protojson, damaged_text) {
    srand(5);
    size_t refused = 0;
    for (int round = 0; round < 20000; round++) {
        const ProtobufCMessageDescriptor *type = all_types[2 + rand() % 2];
        ProtobufCMessage *message = random_message(type);
        cs_buf json = CS_BUF_INIT(1u << 24);
        cr_assert_eq(cs_protojson_write(message, &json, NULL), CS_OK);
        cs_message_free(message);
        for (int changes = 1 + rand() % 3; changes > 0; changes--)
            json.ptr[(size_t)rand() % json.len] ^= 1 << rand() % 8;
        cs_error err = CS_ERROR_INIT;
        cs_result result = cs_protojson_read(type, cs_buf_view(&json), &message, &err);
        cr_assert(result == CS_OK || result == CS_FAILED);
        cr_assert_eq(message != NULL, result == CS_OK);
        refused += result == CS_FAILED;
        cs_message_free(message);
        cs_buf_free(&json);
    }
    cr_assert_gt(refused, 1000);
}
