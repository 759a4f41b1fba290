/* The decoder beside protobuf-c's, on generated messages with changed bytes: the same answer and, decoded, the
 * same content. Where protobuf-c does not do what the wire says, no comparison is made; those cases have
 * expectations of their own in test_message.c:
 *  - a single sub-message that comes twice: protobuf-c fails when neither has a member of a oneof, lets an
 *    explicit default of the later one lose, and forgets unknown fields of the earlier one;
 *  - a member of a oneof that comes twice is replaced instead of merged;
 *  - a bool is taken from whatever stands there, also from text;
 *  - a tag of several bytes can state the field number 0, or lose the bits above the 32nd;
 *  - and where the last of several texts or members of a oneof counts, what is not UTF-8 in the earlier ones
 *    goes unseen. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "records/message.h"
#include "tests/support/expect.h"

#define ROUNDS 12000u

static const ProtobufCMessageDescriptor *const types[] = {
    &plimsoll__v1__run_request__descriptor,          &plimsoll__v1__run_response__descriptor,
    &plimsoll__v1__describe_response__descriptor,    &plimsoll__v1__session_run_request__descriptor,
    &plimsoll__v1__session_run_response__descriptor, &plimsoll__v1__module_result__descriptor,
};

/* xorshift: the same numbers in every run. */
static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

static size_t below(size_t limit) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state >> 11) % limit;
}

/* ---- generated messages --------------------------------------------------------------------------- */

static void put_varint(cs_buf *out, uint64_t value) {
    for (; value > 0x7f; value >>= 7)
        cr_assert(cs_buf_byte(out, (uint8_t)(value | 0x80)));
    cr_assert(cs_buf_byte(out, (uint8_t)value));
}

static void put_tag(cs_buf *out, uint32_t id, ProtobufCWireType wire) {
    put_varint(out, (uint64_t)id << 3 | (unsigned)wire);
}

static void put_content(cs_buf *out, uint32_t id, cs_view content) {
    put_tag(out, id, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED);
    put_varint(out, content.len);
    cr_assert(cs_buf_append(out, content.ptr, content.len));
}

static void put_random_number(cs_buf *out, uint32_t id) {
    static const uint64_t numbers[] = {0, 1, 2, 127, 128, 0x7fffffff, 0xffffffff, UINT64_C(1) << 32, UINT64_MAX};
    put_tag(out, id, PROTOBUF_C_WIRE_TYPE_VARINT);
    put_varint(out, numbers[below(sizeof numbers / sizeof numbers[0])]);
}

static void put_random_bytes(cs_buf *out, uint32_t id) {
    static const char *const texts[] = {"", "a", "process", "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                                        "0123456789abcdef"};
    put_content(out, id, cs_view_of(texts[below(sizeof texts / sizeof texts[0])]));
}

static void put_random_doubles(cs_buf *out, const ProtobufCFieldDescriptor *field) {
    uint8_t bytes[3 * sizeof(double)];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)below(256);
    if (field->label == PROTOBUF_C_LABEL_REPEATED && below(3) > 0) {
        put_content(out, field->id, cs_view_bytes(bytes, below(4) * sizeof(double)));
        return;
    }
    put_tag(out, field->id, PROTOBUF_C_WIRE_TYPE_64BIT);
    cr_assert(cs_buf_append(out, bytes, sizeof(double)));
}

static void put_random_message(cs_buf *out, const ProtobufCMessageDescriptor *type);

static void put_random_field(cs_buf *out, const ProtobufCFieldDescriptor *field) {
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        CS_AUTO_BUF inner = CS_BUF_INIT(1u << 20);
        put_random_message(&inner, field->descriptor);
        put_content(out, field->id, cs_buf_view(&inner));
    } else if (field->type == PROTOBUF_C_TYPE_BYTES) {
        put_random_bytes(out, field->id);
    } else if (field->type == PROTOBUF_C_TYPE_DOUBLE) {
        put_random_doubles(out, field);
    } else {
        put_random_number(out, field->id);
    }
}

static void put_unknown_field(cs_buf *out) {
    switch (below(4)) {
    case 0:
        put_random_number(out, 99);
        break;
    case 1:
        put_random_bytes(out, 2000);
        break;
    case 2:
        put_tag(out, 98, PROTOBUF_C_WIRE_TYPE_32BIT);
        cr_assert(cs_buf_append(out, "1234", 4));
        break;
    default:
        put_tag(out, 97, PROTOBUF_C_WIRE_TYPE_64BIT);
        cr_assert(cs_buf_append(out, "12345678", 8));
        break;
    }
}

static void put_random_message(cs_buf *out, const ProtobufCMessageDescriptor *type) {
    const unsigned start = type->n_fields > 0 && below(4) == 0 ? (unsigned)below(type->n_fields) : 0;
    bool chosen = false;
    for (unsigned f = 0; f < type->n_fields; f++) {
        const ProtobufCFieldDescriptor *field = &type->fields[(start + f) % type->n_fields];
        const bool in_oneof = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
        if (in_oneof && chosen && below(16) > 0) continue;
        size_t count = field->label == PROTOBUF_C_LABEL_REPEATED ? below(4) : below(2);
        if (in_oneof && count > 0) chosen = true;
        while (count-- > 0)
            put_random_field(out, field);
    }
    if (below(8) == 0) put_unknown_field(out);
}

static void change(cs_buf *bytes) {
    if (bytes->len == 0) return;
    size_t at = below(bytes->len);
    switch (below(5)) {
    case 0:
        bytes->ptr[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        bytes->ptr[at] = (uint8_t)below(256);
        break;
    case 2:
        bytes->len = at;
        break;
    case 3:
        memmove(bytes->ptr + at, bytes->ptr + at + 1, bytes->len - at - 1);
        bytes->len--;
        break;
    default:
        cr_assert(cs_buf_byte(bytes, 0));
        memmove(bytes->ptr + at + 1, bytes->ptr + at, bytes->len - at - 1);
        break;
    }
}

/* ---- where protobuf-c is no oracle ---------------------------------------------------------------- */

static bool scan_varint(cs_view *in, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < in->len && i < 10; i++) {
        *value |= (uint64_t)(in->ptr[i] & 0x7f) << (7 * i);
        if (in->ptr[i] < 0x80) {
            *in = cs_view_bytes(in->ptr + i + 1, in->len - i - 1);
            return true;
        }
    }
    return false;
}

/* Is this one of the cases above? Whatever can't be read any further is left to the decoders. */
static bool no_oracle(const ProtobufCMessageDescriptor *type, cs_view in) {
    size_t seen[64] = {0};
    while (in.len > 0) {
        uint64_t tag = 0;
        uint64_t number = 0;
        if (!scan_varint(&in, &tag)) return false;
        if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return true;
        size_t size = (tag & 7) == 1 ? 8 : (tag & 7) == 5 ? 4 : 0;
        if (((tag & 7) == 0 || (tag & 7) == 2) && !scan_varint(&in, &number)) return false;
        if ((tag & 7) == 2) size = number > in.len ? in.len + 1 : (size_t)number;
        if (size > in.len) return false;
        cs_view content = cs_view_bytes(in.ptr, size);
        in = cs_view_bytes(in.ptr + size, in.len - size);

        const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(type, (unsigned)(tag >> 3));
        if (field != NULL && field->type == PROTOBUF_C_TYPE_BOOL && (tag & 7) != 0) return true;
        if (field == NULL || (tag & 7) != 2) continue;
        /* The members of a oneof count as one field; no message has two of them. */
        const bool in_oneof = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
        if (field->label != PROTOBUF_C_LABEL_REPEATED && seen[in_oneof ? 63 : field - type->fields]++ > 0) return true;
        if (field->type == PROTOBUF_C_TYPE_MESSAGE && no_oracle(field->descriptor, content)) return true;
    }
    return false;
}

/* ---- the comparison ------------------------------------------------------------------------------- */

/* Is all text UTF-8, as jansson sees it? */
static bool text_is_good(const ProtobufCMessage *message) {
    for (unsigned f = 0; f < message->descriptor->n_fields; f++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[f];
        for (size_t i = 0; i < cs_field_count(message, field); i++) {
            const void *element = cs_field_at(message, field, i);
            if (field->type == PROTOBUF_C_TYPE_MESSAGE && !text_is_good(element)) return false;
            if (!cs_field_is_text(message->descriptor, field)) continue;
            cs_view text = cs_bytes_view(element);
            json_t *string = json_stringn(text.len > 0 ? (const char *)text.ptr : "", text.len);
            if (string == NULL) return false;
            json_decref(string);
        }
    }
    return true;
}

static size_t unknown_fields(const ProtobufCMessage *message) {
    size_t count = message->n_unknown_fields;
    for (unsigned f = 0; f < message->descriptor->n_fields; f++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[f];
        if (field->type != PROTOBUF_C_TYPE_MESSAGE) continue;
        for (size_t i = 0; i < cs_field_count(message, field); i++)
            count += unknown_fields(cs_field_at(message, field, i));
    }
    return count;
}

static void same_message(const ProtobufCMessage *a, const ProtobufCMessage *b) {
    CS_AUTO_BUF left = CS_BUF_INIT(1u << 24);
    CS_AUTO_BUF right = CS_BUF_INIT(1u << 24);
    cr_assert_eq(cs_message_encode(a, &left, NULL), CS_OK);
    cr_assert_eq(cs_message_encode(b, &right, NULL), CS_OK);
    cr_assert(cs_view_equal(cs_buf_view(&left), cs_buf_view(&right)));
    cr_assert_eq(unknown_fields(a), unknown_fields(b));
    cr_assert_eq(a->n_unknown_fields, b->n_unknown_fields);
    for (unsigned i = 0; i < a->n_unknown_fields; i++) {
        const ProtobufCMessageUnknownField *x = &a->unknown_fields[i];
        const ProtobufCMessageUnknownField *y = &b->unknown_fields[i];
        cr_assert_eq(x->tag, y->tag);
        cr_assert_eq(x->wire_type, y->wire_type);
        cr_assert(cs_view_equal(cs_view_bytes(x->data, x->len), cs_view_bytes(y->data, y->len)));
    }
}

typedef struct tally {
    size_t accepted;
    size_t malformed;
    size_t bad_text;
    size_t no_oracle;
} tally;

static void compare_with_oracle(const ProtobufCMessageDescriptor *type, cs_view bytes, const ProtobufCMessage *ours,
                                cs_code code, tally *count) {
    ProtobufCMessage *theirs = protobuf_c_message_unpack(type, NULL, bytes.len, bytes.ptr);
    if (theirs == NULL) {
        cr_assert_null(ours, "protobuf-c refuses what was decoded as a %s", type->short_name);
        count->malformed++;
    } else if (!text_is_good(theirs)) {
        cr_assert_eq(code, CS_CODE_MESSAGE_TEXT);
        count->bad_text++;
    } else {
        cr_assert_not_null(ours, "protobuf-c decodes a %s that was refused", type->short_name);
        same_message(ours, theirs);
        count->accepted++;
    }
    protobuf_c_message_free_unpacked(theirs, NULL);
}

static void compare(const ProtobufCMessageDescriptor *type, const cs_buf *from, cs_arena *arena, tally *count) {
    /* Memory of exactly this size, so that a sanitizer sees a step behind it. */
    uint8_t *exact = malloc(from->len > 0 ? from->len : 1);
    cr_assert_not_null(exact);
    if (from->len > 0) memcpy(exact, from->ptr, from->len);
    const cs_view bytes = cs_view_bytes(exact, from->len);

    cs_error err = CS_ERROR_INIT;
    cs_error view_err = CS_ERROR_INIT;
    ProtobufCMessage *ours = NULL;
    const ProtobufCMessage *view = NULL;
    cs_result result = cs_message_decode(type, bytes, &ours, &err);
    cs_arena_reset(arena);
    cr_assert_eq(cs_message_view(type, bytes, arena, &view, &view_err), result);
    cr_assert_eq(ours == NULL, result != CS_OK);
    cr_assert_eq(view == NULL, result != CS_OK);
    if (result == CS_OK) {
        same_message(ours, view);
    } else {
        cr_assert(err.code == CS_CODE_MESSAGE_MALFORMED || err.code == CS_CODE_MESSAGE_TEXT);
        cr_assert_eq(err.code, view_err.code);
        cr_assert_str_eq(err.message, view_err.message);
        cr_assert_str_eq(err.where, view_err.where);
    }
    if (no_oracle(type, bytes)) {
        count->no_oracle++;
    } else {
        compare_with_oracle(type, bytes, ours, result == CS_OK ? CS_CODE_OK : err.code, count);
    }
    cs_message_free(ours);
    free(exact);
}

Test(records_decode_oracle, both_decoders_say_the_same) {
    cs_arena *arena = cs_arena_new();
    tally count = {0};
    CS_AUTO_BUF bytes = CS_BUF_INIT(1u << 20);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const ProtobufCMessageDescriptor *type = types[below(sizeof types / sizeof types[0])];
        cs_buf_clear(&bytes);
        put_random_message(&bytes, type);
        for (size_t changes = below(4); changes > 0; changes--)
            change(&bytes);
        compare(type, &bytes, arena, &count);
    }
    cs_arena_free(arena);
    /* None of the answers is there by chance. */
    cr_assert_gt(count.accepted, ROUNDS / 5);
    cr_assert_gt(count.malformed, ROUNDS / 10);
    cr_assert_gt(count.bad_text, ROUNDS / 200);
    cr_assert_lt(count.no_oracle, ROUNDS / 3);
}
