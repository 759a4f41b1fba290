/* Decoding: cs_message_decode and cs_message_view of message.h, driven by protobuf-c's descriptors.
 *
 * protobuf-c's unpacker is not used, because it copies every byte field, keeps a list of all fields of a
 * message beside it, and does not do with repeated sub-messages what the wire says: it fails when neither
 * has a member of a oneof, lets an explicit default of the later one lose, forgets the earlier one's unknown
 * fields, and does not merge a oneof's member that comes twice.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "records/message_impl.h"
#include "records/text.h"

#define TAG_BYTES 5u /* of tags and lengths; a longer form of them is as good as no message */
#define VARINT_BYTES 10u
#define MAX_FIELD_NUMBER 0x1FFFFFFFu

typedef struct decoder {
    const ProtobufCMessageDescriptor *type; /* of the whole message */
    cs_view bytes;                          /* the whole message */
    cs_arena *arena;                        /* NULL: each piece of memory is one that cs_message_free frees */
    size_t memory_left;                     /* that may still be taken */
    cs_result result;                       /* when one of the functions below has said false: why */
    cs_error *err;
} decoder;

static bool fail_malformed(decoder *d, const char *problem, const uint8_t *at) {
    d->result = cs_fail(d->err, CS_CODE_MESSAGE_MALFORMED, "%zu bytes are not a %s: %s, at byte %zu", d->bytes.len,
                        d->type->short_name, problem, (size_t)(at - d->bytes.ptr));
    return false;
}

/* ---- memory --------------------------------------------------------------------------------------- */

static size_t memory_bound(size_t len) {
    return len > (SIZE_MAX - CS_DECODE_BASE) / CS_DECODE_FACTOR ? SIZE_MAX : len * CS_DECODE_FACTOR + CS_DECODE_BASE;
}

/* Zeros, or NULL. What is given back on the way still counts, so that the bound is one for both uses. */
static void *take(decoder *d, size_t size) {
    if (size > d->memory_left) {
        d->result = cs_fail(d->err, CS_CODE_MESSAGE_MALFORMED,
                            "a %s of %zu bytes has so many parts that it would need more than %zu bytes of memory",
                            d->type->short_name, d->bytes.len, memory_bound(d->bytes.len));
        return NULL;
    }
    d->memory_left -= size;
    void *ptr = d->arena != NULL ? cs_arena_take(d->arena, size) : calloc(1, size > 0 ? size : 1);
    if (ptr == NULL)
        d->result = cs_fail(d->err, CS_CODE_NO_MEMORY, "no memory to decode a %s of %zu bytes", d->type->short_name,
                            d->bytes.len);
    return ptr;
}

/* An array of `count` elements has room for the next power of two, so nobody needs to note its room. */
static size_t room_of(size_t count) {
    size_t room = count > 0 ? 1 : 0;
    while (room < count)
        room *= 2;
    return room;
}

static bool grow(decoder *d, void **array, size_t count, size_t more, size_t element_size) {
    size_t room = room_of(count + more);
    if (room == room_of(count)) return true;
    void *larger = take(d, room * element_size);
    if (larger == NULL) return false;
    if (count > 0) memcpy(larger, *array, count * element_size);
    if (d->arena == NULL) free(*array);
    *array = larger;
    return true;
}

/* Bytes of the input as a message keeps them: a copy, or the place itself. */
static bool keep_bytes(decoder *d, cs_view bytes, uint8_t **out) {
    *out = NULL;
    if (bytes.len == 0) return true;
    if (d->arena != NULL) {
        /* A message that borrows is given out as const, so nobody writes through this. */
        *out = (uint8_t *)(uintptr_t)bytes.ptr;
        return true;
    }
    void *copy = take(d, bytes.len);
    if (copy == NULL) return false;
    *out = memcpy(copy, bytes.ptr, bytes.len);
    return true;
}

/* ---- the wire ------------------------------------------------------------------------------------- */

typedef struct cursor {
    const uint8_t *at;
    const uint8_t *end;
} cursor;

/* One field as it stands in the bytes. */
typedef struct piece {
    uint32_t id;
    ProtobufCWireType wire;
    uint64_t number; /* of the fixed widths and varints */
    cs_view content; /* of what has a length: without it */
    cs_view value;   /* everything behind the tag */
} piece;

/* Bits above the 64th are dropped, as every decoder does. */
static bool read_varint(cursor *in, size_t max_bytes, uint64_t *value) {
    size_t left = (size_t)(in->end - in->at);
    *value = 0;
    for (size_t i = 0; i < max_bytes && i < left; i++) {
        *value |= (uint64_t)(in->at[i] & 0x7Fu) << (7 * i);
        if (in->at[i] < 0x80) {
            in->at += i + 1;
            return true;
        }
    }
    return false;
}

/* The eight bytes of a double or another fixed number, or the four of a shorter one. */
static bool read_fixed(cursor *in, size_t len, uint64_t *value) {
    uint64_t little_endian = 0;
    if ((size_t)(in->end - in->at) < len) return false;
    memcpy(&little_endian, in->at, len);
    *value = le64toh(little_endian);
    in->at += len;
    return true;
}

static bool read_content(cursor *in, cs_view *content) {
    uint64_t len = 0;
    if (!read_varint(in, TAG_BYTES, &len) || len > (size_t)(in->end - in->at)) return false;
    *content = cs_view_bytes(in->at, (size_t)len);
    in->at += len;
    return true;
}

/* Reads one field. What is wrong with it, or NULL. */
static const char *read_piece(cursor *in, piece *out) {
    uint64_t tag = 0;
    if (!read_varint(in, TAG_BYTES, &tag)) return "the tag of a field has no end";
    if (tag >> 3 == 0 || tag >> 3 > MAX_FIELD_NUMBER) return "a field number is out of range";
    *out = (piece){.id = (uint32_t)(tag >> 3), .wire = (ProtobufCWireType)(tag & 7)};

    const uint8_t *begin = in->at;
    bool good = false;
    switch (out->wire) {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
        good = read_varint(in, VARINT_BYTES, &out->number);
        break;
    case PROTOBUF_C_WIRE_TYPE_64BIT:
        good = read_fixed(in, 8, &out->number);
        break;
    case PROTOBUF_C_WIRE_TYPE_32BIT:
        good = read_fixed(in, 4, &out->number);
        break;
    case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
        good = read_content(in, &out->content);
        break;
    default:
        return "a field is a group, or of a wire type that does not exist";
    }
    out->value = cs_view_bytes(begin, (size_t)(in->at - begin));
    return good ? NULL : "the value of a field has no end";
}

/* ---- fields --------------------------------------------------------------------------------------- */

static bool decode_fields(decoder *d, ProtobufCMessage *message, cs_view bytes, const cs_place *up);

static void *member_of(ProtobufCMessage *message, unsigned offset) {
    return (uint8_t *)message + offset;
}

static ProtobufCWireType wire_of(ProtobufCType type) {
    switch (type) {
    case PROTOBUF_C_TYPE_MESSAGE:
    case PROTOBUF_C_TYPE_BYTES:
        return PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
    case PROTOBUF_C_TYPE_DOUBLE:
        return PROTOBUF_C_WIRE_TYPE_64BIT;
    default:
        return PROTOBUF_C_WIRE_TYPE_VARINT;
    }
}

static void store_number(ProtobufCType type, uint64_t number, void *to) {
    const int truth = number != 0;
    const uint32_t low = (uint32_t)number;
    switch (type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_DOUBLE:
        memcpy(to, &number, sizeof number);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        memcpy(to, &truth, sizeof truth);
        break;
    default:
        memcpy(to, &low, sizeof low);
        break;
    }
}

static bool store_bytes(decoder *d, cs_view content, bool text, const cs_place *at, ProtobufCBinaryData *to) {
    if (text && !cs_utf8_valid(content)) {
        d->result = cs_place_fail(at, d->err, CS_CODE_MESSAGE_TEXT, "a text field is not UTF-8");
        return false;
    }
    uint8_t *kept = NULL;
    if (!keep_bytes(d, content, &kept)) return false;
    if (d->arena == NULL) free(to->data);
    *to = (ProtobufCBinaryData){.len = content.len, .data = kept};
    return true;
}

/* A message that is there already goes on being filled: that is how repeated ones merge. */
static bool store_message(decoder *d, const ProtobufCMessageDescriptor *type, cs_view content, const cs_place *at,
                          void **to) {
    if (*to == NULL) {
        *to = take(d, type->sizeof_message);
        if (*to == NULL) return false;
        protobuf_c_message_init(type, *to);
    }
    return decode_fields(d, *to, content, at);
}

/* The array of a repeated field gets one more element, of zeros. */
static bool append_element(decoder *d, ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, void **out) {
    void **array = member_of(message, field->offset);
    size_t *count = member_of(message, field->quantifier_offset);
    const size_t size = cs_field_element_size(field);
    if (!grow(d, array, *count, 1, size)) return false;
    *out = (uint8_t *)*array + *count * size;
    (*count)++;
    return true;
}

/* Make `field` the chosen member of its oneof; another one's value goes. */
static void choose_member(decoder *d, ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    uint32_t *chosen = member_of(message, field->quantifier_offset);
    void *value = member_of(message, field->offset);
    if (*chosen == field->id) return;
    if (*chosen != 0 && d->arena == NULL) {
        const ProtobufCFieldDescriptor *old = protobuf_c_message_descriptor_get_field(message->descriptor, *chosen);
        if (old->type == PROTOBUF_C_TYPE_MESSAGE) cs_message_free(*(void **)value);
        if (old->type == PROTOBUF_C_TYPE_BYTES) free(((ProtobufCBinaryData *)value)->data);
    }
    memset(value, 0, cs_field_element_size(field));
    *chosen = field->id;
}

static bool store_packed(decoder *d, ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                         cs_view content) {
    if (content.len % sizeof(double) != 0)
        return fail_malformed(d, "packed numbers are cut off", content.ptr + content.len);
    void **array = member_of(message, field->offset);
    size_t *count = member_of(message, field->quantifier_offset);
    const size_t more = content.len / sizeof(double);
    if (!grow(d, array, *count, more, sizeof(double))) return false;
    for (size_t i = 0; i < more; i++) {
        uint64_t bits;
        memcpy(&bits, content.ptr + i * sizeof bits, sizeof bits);
        bits = le64toh(bits);
        memcpy((uint8_t *)*array + (*count + i) * sizeof bits, &bits, sizeof bits);
    }
    *count += more;
    return true;
}

/* ---- messages ------------------------------------------------------------------------------------- */

static bool store_piece(decoder *d, ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, const piece *p,
                        const cs_place *up) {
    const bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
    if (repeated && field->type == PROTOBUF_C_TYPE_DOUBLE && p->wire == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)
        return store_packed(d, message, field, p->content);
    if (p->wire != wire_of(field->type)) return fail_malformed(d, "a field is of another type", p->value.ptr);

    cs_place at = {.up = up, .field = field, .index = 0};
    void *to = member_of(message, field->offset);
    if (repeated) {
        at.index = *(const size_t *)member_of(message, field->quantifier_offset);
        if (!append_element(d, message, field, &to)) return false;
    } else if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
        choose_member(d, message, field);
    }

    if (field->type == PROTOBUF_C_TYPE_MESSAGE) return store_message(d, field->descriptor, p->content, &at, to);
    if (field->type == PROTOBUF_C_TYPE_BYTES)
        return store_bytes(d, p->content, cs_field_is_text(message->descriptor, field), &at, to);
    store_number(field->type, p->number, to);
    return true;
}

static bool store_unknown(decoder *d, ProtobufCMessage *message, const piece *p) {
    void *array = message->unknown_fields;
    uint8_t *kept = NULL;
    const bool good = grow(d, &array, message->n_unknown_fields, 1, sizeof *message->unknown_fields);
    message->unknown_fields = array;
    if (!good || !keep_bytes(d, p->value, &kept)) return false;
    message->unknown_fields[message->n_unknown_fields++] =
        (ProtobufCMessageUnknownField){.tag = p->id, .wire_type = p->wire, .len = p->value.len, .data = kept};
    return true;
}

/* The field with this number, or NULL. Descriptors and canonical bytes have fields by number, so the search
 * begins where the last one ended. */
static const ProtobufCFieldDescriptor *find_field(const ProtobufCMessageDescriptor *type, uint32_t id, unsigned *from) {
    if (*from == type->n_fields || type->fields[*from].id > id) *from = 0;
    while (*from < type->n_fields && type->fields[*from].id < id)
        (*from)++;
    return *from < type->n_fields && type->fields[*from].id == id ? &type->fields[*from] : NULL;
}

/* How deep this can nest is set by the schema: no message holds one of its own type. */
static bool decode_fields(decoder *d, ProtobufCMessage *message, cs_view bytes, const cs_place *up) {
    cursor in = {.at = bytes.ptr, .end = bytes.ptr + bytes.len};
    unsigned from = 0;
    while (in.at < in.end) {
        piece p;
        const char *problem = read_piece(&in, &p);
        if (problem != NULL) return fail_malformed(d, problem, in.at);
        const ProtobufCFieldDescriptor *field = find_field(message->descriptor, p.id, &from);
        if (!(field != NULL ? store_piece(d, message, field, &p, up) : store_unknown(d, message, &p))) return false;
    }
    return true;
}

/* ---- the two uses --------------------------------------------------------------------------------- */

static cs_result decode(const ProtobufCMessageDescriptor *type, cs_view bytes, cs_arena *arena, void **out,
                        cs_error *err) {
    if (bytes.len == 0) bytes = cs_view_of(""); /* a pointer that can be counted from */
    decoder d = {.type = type,
                 .bytes = bytes,
                 .arena = arena,
                 .memory_left = memory_bound(bytes.len),
                 .result = CS_UNCHECKED,
                 .err = err};
    *out = NULL;
    return store_message(&d, type, bytes, NULL, out) ? CS_OK : d.result;
}

cs_result cs_message_decode(const ProtobufCMessageDescriptor *type, cs_view bytes, ProtobufCMessage **out,
                            cs_error *err) {
    void *message = NULL;
    cs_result result = decode(type, bytes, NULL, &message, err);
    *out = message;
    if (result == CS_OK) return CS_OK;
    cs_message_free(message);
    *out = NULL;
    return result;
}

cs_result cs_message_view(const ProtobufCMessageDescriptor *type, cs_view bytes, cs_arena *arena,
                          const ProtobufCMessage **out, cs_error *err) {
    void *message = NULL;
    cs_result result = decode(type, bytes, arena, &message, err);
    *out = result == CS_OK ? message : NULL;
    return result;
}
