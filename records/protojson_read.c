#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/jsonlex.h"
#include "records/protojson.h"
#include "records/protojson_field.h"
#include "records/text.h"

/* Where the reader is: members and array indices, from the innermost outward. */
typedef struct place {
    const struct place *up;
    const char *name; /* NULL: an array element */
    size_t index;
} place;

typedef struct reader {
    cs_lex lex;
    cs_buf scratch;
    cs_error *err;
    unsigned depth;
} reader;

#define MAX_PATH 256u

/* ---- errors --------------------------------------------------------------------------------------- */

static size_t render(const place *at, char path[MAX_PATH]) {
    if (!at) return 0;
    size_t len = render(at->up, path);
    char *end = path + len;
    size_t room = MAX_PATH - len;
    int wrote =
        at->name ? snprintf(end, room, "%s%s", len ? "." : "", at->name) : snprintf(end, room, "[%zu]", at->index);
    return wrote > 0 && (size_t)wrote < room ? len + (size_t)wrote : MAX_PATH - 1;
}

static void set_where(const reader *r, const place *at) {
    char path[MAX_PATH] = "";
    if (render(at, path) > 0) cs_error_where(r->err, "%s", path);
}

static cs_result fail(const reader *r, const place *at, cs_code code, const char *what) {
    cs_result result = cs_fail(r->err, code, "%s", what);
    set_where(r, at);
    return result;
}

/* What stands next, or NULL when no value begins like this. */
static const char *found_kind(reader *r) {
    cs_lex ahead = r->lex;
    uint8_t next = cs_lex_peek(&ahead);
    if (next == '{') return "an object";
    if (next == '[') return "an array";
    if (next == '"') return "a string";
    if (next == '-' || (next >= '0' && next <= '9')) return "a number";
    if (cs_lex_word(&ahead, "true") || cs_lex_word(&ahead, "false")) return "a boolean";
    return cs_lex_word(&ahead, "null") ? "null" : NULL;
}

static cs_result fail_type(reader *r, const place *at, const char *expected) {
    const char *found = found_kind(r);
    if (!found) {
        r->lex.problem = "a value was expected";
        return cs_lex_fail(&r->lex, r->err);
    }
    cs_result result = cs_fail(r->err, CS_CODE_JSON_TYPE, "%s was expected, and %s found", expected, found);
    set_where(r, at);
    return result;
}

static cs_result fail_lex(const reader *r) {
    return cs_lex_fail(&r->lex, r->err);
}

static cs_result fail_memory(const reader *r) {
    return cs_fail(r->err, CS_CODE_NO_MEMORY, "there is no memory for the message");
}

/* ---- scalars -------------------------------------------------------------------------------------- */

/* The number itself, or the text of a string that is exactly a number. */
static cs_result read_number(reader *r, const place *at, cs_view *number) {
    uint8_t next = cs_lex_peek(&r->lex);
    if (next == '"') {
        cs_view text = {0};
        if (!cs_lex_string(&r->lex, &r->scratch, &text)) return fail_lex(r);
        cs_lex inner = cs_lex_of(text);
        bool spaced = text.len == 0 || text.ptr[0] <= ' ';
        if (spaced || !cs_lex_number(&inner, number) || inner.pos != inner.end)
            return fail(r, at, CS_CODE_JSON_TYPE, "a number was expected, and a string found that holds none");
        return CS_OK;
    }
    if (next != '-' && (next < '0' || next > '9')) return fail_type(r, at, "a number");
    return cs_lex_number(&r->lex, number) ? CS_OK : fail_lex(r);
}

/* A whole number between -lowest and highest. */
static cs_result read_whole(reader *r, const place *at, uint64_t lowest, uint64_t highest, uint64_t *out) {
    cs_view number = {0};
    bool negative;
    uint64_t magnitude;
    cs_result result = read_number(r, at, &number);
    if (result != CS_OK) return result;
    if (!cs_number_whole(number, &negative, &magnitude))
        return fail(r, at, CS_CODE_JSON_RANGE, "the number is not whole, or too large");
    if (magnitude > (negative ? lowest : highest))
        return fail(r, at, CS_CODE_JSON_RANGE, "the number is out of the field's range");
    *out = negative ? 0 - magnitude : magnitude;
    return CS_OK;
}

static cs_result read_double(reader *r, const place *at, double *out) {
    /* The bits are written out because NAN may have any; this is the one form that is hashed. */
    static const uint64_t quiet_nan = 0x7ff8000000000000u;
    cs_view number = {0};
    if (cs_lex_word(&r->lex, "\"NaN\"")) {
        memcpy(out, &quiet_nan, sizeof *out);
        return CS_OK;
    }
    if (cs_lex_word(&r->lex, "\"Infinity\"")) {
        *out = HUGE_VAL;
        return CS_OK;
    }
    if (cs_lex_word(&r->lex, "\"-Infinity\"")) {
        *out = -HUGE_VAL;
        return CS_OK;
    }
    cs_result result = read_number(r, at, &number);
    if (result != CS_OK) return result;
    if (!cs_number_double(number, out)) return fail(r, at, CS_CODE_JSON_RANGE, "the number is too large for a double");
    return CS_OK;
}

static cs_result read_enum(reader *r, const place *at, const ProtobufCEnumDescriptor *type, int32_t *out) {
    if (cs_lex_peek(&r->lex) == '"') {
        cs_view text = {0};
        if (!cs_lex_string(&r->lex, &r->scratch, &text)) return fail_lex(r);
        for (unsigned i = 0; i < type->n_values; i++) {
            if (!cs_view_is(text, type->values[i].name)) continue;
            *out = type->values[i].value;
            return CS_OK;
        }
        return fail(r, at, CS_CODE_JSON_RANGE, "there is no enum value of this name");
    }
    uint64_t number = 0;
    cs_result result = read_whole(r, at, (uint64_t)INT32_MAX + 1, INT32_MAX, &number);
    *out = (int32_t)number;
    return result;
}

static cs_result read_bytes(reader *r, const place *at, bool is_text, ProtobufCBinaryData *out) {
    cs_view text = {0};
    if (cs_lex_peek(&r->lex) != '"') return fail_type(r, at, "a string");
    if (!cs_lex_string(&r->lex, &r->scratch, &text)) return fail_lex(r);
    if (is_text) return cs_bytes_set(out, text) ? CS_OK : fail_memory(r);

    CS_AUTO_BUF decoded = CS_BUF_INIT(text.len);
    if (!cs_buf_reserve(&decoded, text.len)) return fail_memory(r);
    if (!cs_base64_decode_lax(text, &decoded))
        return fail(r, at, CS_CODE_JSON_TYPE, "base64 was expected, and a string found that is not");
    return cs_bytes_set(out, cs_buf_view(&decoded)) ? CS_OK : fail_memory(r);
}

static cs_result read_bool(reader *r, const place *at, protobuf_c_boolean *out) {
    *out = cs_lex_word(&r->lex, "true");
    return *out || cs_lex_word(&r->lex, "false") ? CS_OK : fail_type(r, at, "true or false");
}

/* ---- fields --------------------------------------------------------------------------------------- */

static cs_result read_message(reader *r, const ProtobufCMessageDescriptor *type, const place *at,
                              ProtobufCMessage **out);

/* One value into `slot`, which holds the default and keeps something that can be freed on failure. */
static cs_result read_value(reader *r, cs_protojson_field which, const place *at, void *slot) {
    const ProtobufCFieldDescriptor *field = which.field;
    uint64_t number = 0;
    cs_result result;
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
        result = read_whole(r, at, (uint64_t)INT32_MAX + 1, INT32_MAX, &number);
        *(int32_t *)slot = (int32_t)number;
        return result;
    case PROTOBUF_C_TYPE_UINT32:
        result = read_whole(r, at, 0, UINT32_MAX, &number);
        *(uint32_t *)slot = (uint32_t)number;
        return result;
    case PROTOBUF_C_TYPE_INT64:
        result = read_whole(r, at, (uint64_t)INT64_MAX + 1, INT64_MAX, &number);
        *(int64_t *)slot = (int64_t)number;
        return result;
    case PROTOBUF_C_TYPE_UINT64:
        return read_whole(r, at, 0, UINT64_MAX, slot);
    case PROTOBUF_C_TYPE_DOUBLE:
        return read_double(r, at, slot);
    case PROTOBUF_C_TYPE_BOOL:
        return read_bool(r, at, slot);
    case PROTOBUF_C_TYPE_ENUM:
        return read_enum(r, at, field->descriptor, slot);
    case PROTOBUF_C_TYPE_BYTES:
        return read_bytes(r, at, cs_field_is_text(which.message, field), slot);
    case PROTOBUF_C_TYPE_MESSAGE:
        return read_message(r, field->descriptor, at, slot);
    default:
        return fail(r, at, CS_CODE_INTERNAL, "a field of this type has no JSON form here");
    }
}

/* The array of a repeated field while it grows. */
typedef struct array {
    void **items; /* the message's own pointer and count, true after every element */
    size_t *count;
    size_t cap;
    size_t size; /* of one element */
} array;

/* A cleared place behind the last element. */
static void *next_slot(array *list) {
    if (*list->count == list->cap) {
        size_t cap = list->cap ? list->cap * 2 : 4;
        void *grown = reallocarray(*list->items, cap, list->size);
        if (!grown) return NULL;
        *list->items = grown;
        list->cap = cap;
    }
    return memset((char *)*list->items + *list->count * list->size, 0, list->size);
}

static cs_result read_element(reader *r, cs_protojson_field which, const place *at, array *list) {
    place here = {.up = at, .index = *list->count};
    void *slot = next_slot(list);
    if (!slot) return fail_memory(r);
    cs_result result = read_value(r, which, &here, slot);
    if (result == CS_OK) ++*list->count;
    return result;
}

static cs_result read_repeated(reader *r, cs_protojson_field which, const place *at, ProtobufCMessage *message) {
    array list = {
        .items = (void **)((char *)message + which.field->offset),
        .count = (size_t *)((char *)message + which.field->quantifier_offset),
        .size = cs_protojson_size(which.field),
    };
    if (list.size == 0) return fail(r, at, CS_CODE_INTERNAL, "a field of this type has no JSON form here");
    if (!cs_lex_try(&r->lex, '[')) return fail_type(r, at, "an array");
    if (cs_lex_try(&r->lex, ']')) return CS_OK;
    do {
        cs_result result = read_element(r, which, at, &list);
        if (result != CS_OK) return result;
    } while (cs_lex_try(&r->lex, ','));
    if (!cs_lex_mark(&r->lex, ']')) return fail_lex(r);
    /* Give back what doubling left over; keeping it would be no error. */
    void *fitted = reallocarray(*list.items, *list.count, list.size);
    if (fitted) *list.items = fitted;
    return CS_OK;
}

static cs_result read_oneof(reader *r, cs_protojson_field which, const place *at, ProtobufCMessage *message) {
    uint32_t *chosen = (uint32_t *)((char *)message + which.field->quantifier_offset);
    if (*chosen != 0)
        return fail(r, at, CS_CODE_JSON_REPEATED_MEMBER, "only one of several members may be set, and another one is");
    void *slot = (char *)message + which.field->offset;
    memset(slot, 0, cs_protojson_size(which.field));
    cs_result result = read_value(r, which, at, slot);
    if (result == CS_OK) *chosen = which.field->id;
    return result;
}

static cs_result read_field(reader *r, cs_protojson_field which, const place *at, ProtobufCMessage *message) {
    if (cs_lex_word(&r->lex, "null")) return CS_OK;
    if (which.field->label == PROTOBUF_C_LABEL_REPEATED) return read_repeated(r, which, at, message);
    if (which.field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) return read_oneof(r, which, at, message);
    return read_value(r, which, at, (char *)message + which.field->offset);
}

/* ---- messages ------------------------------------------------------------------------------------- */

static cs_result fail_unknown(const reader *r, const place *at, cs_view name) {
    char found[65];
    size_t len = name.len < sizeof found ? name.len : sizeof found - 1;
    if (len > 0) memcpy(found, name.ptr, len);
    found[len] = '\0';
    place here = {.up = at, .name = found};
    return fail(r, &here, CS_CODE_JSON_UNKNOWN_MEMBER, "there is no such member here");
}

/* One `"name": value`. `seen` has a bit for every field whose name occurred. */
static cs_result read_member(reader *r, ProtobufCMessage *message, const place *at, uint64_t *seen) {
    cs_view name;
    if (cs_lex_peek(&r->lex) != '"') {
        r->lex.problem = "a member's name was expected";
        return fail_lex(r);
    }
    if (!cs_lex_string(&r->lex, &r->scratch, &name)) return fail_lex(r);
    unsigned index = cs_protojson_find(message->descriptor, name);
    if (index >= message->descriptor->n_fields) return fail_unknown(r, at, name);
    cs_protojson_field which = {message->descriptor, &message->descriptor->fields[index]};
    place here = {.up = at, .name = which.field->name};
    uint64_t bit = UINT64_C(1) << index;
    if (*seen & bit) return fail(r, &here, CS_CODE_JSON_REPEATED_MEMBER, "the member occurs twice");
    *seen |= bit;
    if (!cs_lex_mark(&r->lex, ':')) return fail_lex(r);
    return read_field(r, which, &here, message);
}

static cs_result read_members(reader *r, ProtobufCMessage *message, const place *at) {
    uint64_t seen = 0;
    if (cs_lex_try(&r->lex, '}')) return CS_OK;
    do {
        cs_result result = read_member(r, message, at, &seen);
        if (result != CS_OK) return result;
    } while (cs_lex_try(&r->lex, ','));
    return cs_lex_mark(&r->lex, '}') ? CS_OK : fail_lex(r);
}

static cs_result read_message(reader *r, const ProtobufCMessageDescriptor *type, const place *at,
                              ProtobufCMessage **out) {
    *out = NULL;
    if (r->depth >= CS_PROTOJSON_DEPTH) return fail(r, at, CS_CODE_JSON_MALFORMED, "the text is nested too deeply");
    if (type->n_fields > 64) return fail(r, at, CS_CODE_INTERNAL, "a message with over 64 fields can't be read");
    if (!cs_lex_try(&r->lex, '{')) return fail_type(r, at, "an object");
    ProtobufCMessage *message = malloc(type->sizeof_message);
    if (!message) return fail_memory(r);
    protobuf_c_message_init(type, message);
    r->depth++;
    cs_result result = read_members(r, message, at);
    r->depth--;
    if (result == CS_OK)
        *out = message;
    else
        cs_message_free(message);
    return result;
}

cs_result cs_protojson_read(const ProtobufCMessageDescriptor *type, cs_view json, ProtobufCMessage **out,
                            cs_error *err) {
    *out = NULL;
    reader r = {.lex = cs_lex_of(json), .scratch = CS_BUF_INIT(json.len), .err = err};
    ProtobufCMessage *message;
    cs_result result = read_message(&r, type, NULL, &message);
    if (result == CS_OK && !cs_lex_end(&r.lex)) {
        result = fail_lex(&r);
        cs_message_free(message);
        message = NULL;
    }
    cs_buf_free(&r.scratch);
    *out = message;
    return result;
}
