#include "replay/fields.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/text.h"

typedef ProtobufCMessage message;
typedef ProtobufCFieldDescriptor descriptor;

#define SHOWN_NAME 128u /* of a file's path behind a field */

typedef struct walker {
    void (*on_pair)(void *user, const cs_field_pair *pair);
    void *user;
    cs_error *err;
    bool with_record;
    bool covered;
    char path[CS_FIELD_PATH];
    char name[SHOWN_NAME + 4]; /* " (src/main.js)" */
} walker;

/* The path so far; what is put behind it is taken away again with path_back. */
CS_PRINTF(2, 3) static size_t path_on(walker *w, const char *fmt, ...) {
    size_t before = strlen(w->path);
    va_list args;
    va_start(args, fmt);
    vsnprintf(w->path + before, sizeof w->path - before, fmt, args);
    va_end(args);
    return before;
}

static void path_back(walker *w, size_t before) {
    w->path[before] = '\0';
}

static void tell(const walker *w, cs_field_pair *pair) {
    char path[CS_FIELD_PATH + sizeof w->name];
    snprintf(path, sizeof path, "%s%s", w->path, w->name);
    pair->path = path;
    pair->covered = w->covered;
    w->on_pair(w->user, pair);
}

/* ---- values --------------------------------------------------------------------------------- */

static void format_double(double value, char out[CS_FIELD_VALUE]) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    snprintf(out, CS_FIELD_VALUE, "%.17g (bits %016" PRIx64 ")", value, bits);
}

static void format_enum(const descriptor *field, int value, char out[CS_FIELD_VALUE]) {
    const ProtobufCEnumValue *known = protobuf_c_enum_descriptor_get_value(field->descriptor, value);
    if (known != NULL)
        snprintf(out, CS_FIELD_VALUE, "%s", known->name);
    else
        snprintf(out, CS_FIELD_VALUE, "%d", value);
}

/* A number as text, or its default where it is not set. False for a type that no message of ours has. */
static bool format_number(const descriptor *field, const void *at, char out[CS_FIELD_VALUE]) {
    static const uint64_t zero;
    if (at == NULL) at = &zero;
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
        snprintf(out, CS_FIELD_VALUE, "%" PRId32, *(const int32_t *)at);
        return true;
    case PROTOBUF_C_TYPE_UINT32:
        snprintf(out, CS_FIELD_VALUE, "%" PRIu32, *(const uint32_t *)at);
        return true;
    case PROTOBUF_C_TYPE_INT64:
        snprintf(out, CS_FIELD_VALUE, "%" PRId64, *(const int64_t *)at);
        return true;
    case PROTOBUF_C_TYPE_UINT64:
        snprintf(out, CS_FIELD_VALUE, "%" PRIu64, *(const uint64_t *)at);
        return true;
    case PROTOBUF_C_TYPE_BOOL:
        snprintf(out, CS_FIELD_VALUE, "%s", *(const protobuf_c_boolean *)at != 0 ? "true" : "false");
        return true;
    case PROTOBUF_C_TYPE_ENUM:
        format_enum(field, *(const int *)at, out);
        return true;
    case PROTOBUF_C_TYPE_DOUBLE:
        format_double(*(const double *)at, out);
        return true;
    default:
        return false;
    }
}

static size_t size_of(const descriptor *field) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_UINT32:
        return sizeof(uint32_t);
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_ENUM:
        return sizeof(int);
    default:
        return sizeof(uint64_t);
    }
}

/* Two values that are there and are no messages. By bits, so that 0 and -0 differ, as in the digests. */
static bool are_same(const descriptor *field, const void *a, const void *b) {
    if (field->type == PROTOBUF_C_TYPE_BYTES) return cs_view_equal(cs_bytes_view(a), cs_bytes_view(b));
    return memcmp(a, b, size_of(field)) == 0;
}

static cs_result compare_numbers(walker *w, const descriptor *field, const void *a, const void *b,
                                 cs_field_pair *pair) {
    if (!format_number(field, a, pair->value_a) || !format_number(field, b, pair->value_b))
        return cs_fail(w->err, CS_CODE_INTERNAL, "a field of a type that is not known here");
    if (pair->has_a && pair->has_b && strcmp(pair->value_a, pair->value_b) == 0) return CS_OK;
    tell(w, pair);
    return CS_OK;
}

static cs_result compare_bytes(const walker *w, const void *a, const void *b, cs_field_pair *pair) {
    pair->bytes = true;
    pair->a = a != NULL ? cs_bytes_view(a) : cs_view_bytes(NULL, 0);
    pair->b = b != NULL ? cs_bytes_view(b) : cs_view_bytes(NULL, 0);
    if (pair->has_a && pair->has_b && cs_view_equal(pair->a, pair->b)) return CS_OK;
    tell(w, pair);
    return CS_OK;
}

/* ---- messages ------------------------------------------------------------------------------- */

static cs_result walk(walker *w, const message *a, const message *b);

static bool is_empty(const message *m) {
    for (unsigned i = 0; i < m->descriptor->n_fields; i++)
        if (cs_field_count(m, &m->descriptor->fields[i]) > 0) return false;
    return true;
}

/* A message on one side or both. One that is there with nothing set is told by itself, since none of its fields is. */
static cs_result compare_messages(walker *w, const message *a, const message *b) {
    if (a != NULL && b != NULL) return walk(w, a, b);
    const message *there = a != NULL ? a : b;
    if (there == NULL) return CS_OK;
    if (!is_empty(there)) return walk(w, a, b);
    cs_field_pair pair = {.has_a = a != NULL, .has_b = b != NULL};
    snprintf(a != NULL ? pair.value_a : pair.value_b, CS_FIELD_VALUE, "(empty)");
    tell(w, &pair);
    return CS_OK;
}

/* `at` as cs_field_at gives them; NULL: the element is not there, or the field holds its default. */
static cs_result compare_values(walker *w, const descriptor *field, const void *at_a, const void *at_b, bool has_a,
                                bool has_b) {
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) return compare_messages(w, at_a, at_b);
    cs_field_pair pair = {.has_a = has_a, .has_b = has_b};
    if (field->type == PROTOBUF_C_TYPE_BYTES) return compare_bytes(w, at_a, at_b, &pair);
    return compare_numbers(w, field, at_a, at_b, &pair);
}

static size_t count_of(const message *m, const descriptor *field) {
    return m != NULL ? cs_field_count(m, field) : 0;
}

static const void *element(const message *m, const descriptor *field, size_t index) {
    return index < count_of(m, field) ? cs_field_at(m, field, index) : NULL;
}

static cs_result compare_single(walker *w, const descriptor *field, const message *a, const message *b) {
    const void *at_a = element(a, field, 0);
    const void *at_b = element(b, field, 0);
    if (at_a == NULL && at_b == NULL) return CS_OK;
    return compare_values(w, field, at_a, at_b, a != NULL, b != NULL);
}

static cs_result compare_in_order(walker *w, const descriptor *field, const message *a, const message *b) {
    size_t count_a = count_of(a, field);
    size_t count_b = count_of(b, field);
    cs_result result = CS_OK;
    for (size_t i = 0; result == CS_OK && i < (count_a > count_b ? count_a : count_b); i++) {
        const void *at_a = element(a, field, i);
        const void *at_b = element(b, field, i);
        bool both = at_a != NULL && at_b != NULL && field->type != PROTOBUF_C_TYPE_MESSAGE;
        if (both && are_same(field, at_a, at_b)) continue;
        size_t before = path_on(w, "[%zu]", i);
        result = compare_values(w, field, at_a, at_b, i < count_a, i < count_b);
        path_back(w, before);
    }
    return result;
}

/* ---- lists whose elements have a path ------------------------------------------------------- */

typedef struct named {
    cs_view path;
    const message *item;
    size_t index;
    bool matched;
} named;

static const descriptor *path_field(const descriptor *field) {
    if (field->type != PROTOBUF_C_TYPE_MESSAGE || field->label != PROTOBUF_C_LABEL_REPEATED) return NULL;
    return protobuf_c_message_descriptor_get_field_by_name(field->descriptor, "path");
}

static cs_view path_of(const message *item, const descriptor *path) {
    return cs_field_count(item, path) > 0 ? cs_bytes_view(cs_field_at(item, path, 0)) : cs_view_bytes(NULL, 0);
}

static int order_of(const void *left, const void *right) {
    const cs_view *a = &((const named *)left)->path;
    const cs_view *b = &((const named *)right)->path;
    size_t shorter = a->len < b->len ? a->len : b->len;
    int order = shorter > 0 ? memcmp(a->ptr, b->ptr, shorter) : 0;
    return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

/* The elements sorted by path; NULL without memory. */
static named *sort_named(const message *m, const descriptor *field, const descriptor *path) {
    size_t count = count_of(m, field);
    named *items = calloc(count + 1, sizeof *items);
    if (items == NULL) return NULL;
    for (size_t i = 0; i < count; i++) {
        const message *item = cs_field_at(m, field, i);
        items[i] = (named){.path = path_of(item, path), .item = item, .index = i};
    }
    qsort(items, count, sizeof *items, order_of);
    return items;
}

static bool has_twice(const named *items, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (cs_view_equal(items[i - 1].path, items[i].path)) return true;
    return false;
}

static cs_result compare_named(walker *w, const named *a, const named *b) {
    const named *there = a != NULL ? a : b;
    size_t before = path_on(w, "[%zu]", there->index);
    char shown[SHOWN_NAME];
    cs_escape_short(there->path, shown, sizeof shown);
    snprintf(w->name, sizeof w->name, " (%s)", shown);
    cs_result result = compare_messages(w, a != NULL ? a->item : NULL, b != NULL ? b->item : NULL);
    w->name[0] = '\0';
    path_back(w, before);
    return result;
}

static void tell_order(const walker *w) {
    cs_field_pair pair = {.has_a = true, .has_b = true, .value_a = "one order", .value_b = "another"};
    tell(w, &pair);
}

/* Whether what both have stands in the same order: places[i] is where b has element i of a, or SIZE_MAX. */
static bool is_in_order(const size_t *places, size_t count) {
    size_t last = 0;
    for (size_t i = 0; i < count; i++) {
        if (places[i] == SIZE_MAX) continue;
        if (places[i] < last) return false;
        last = places[i];
    }
    return true;
}

/* Both sorted by path, each path once: first what a has, then what b has alone. What both have in another order is told
 * once, for the list as a whole. */
static cs_result merge(walker *w, const named *a, size_t count_a, named *b, size_t count_b, size_t *places) {
    cs_result result = CS_OK;
    for (size_t i = 0; result == CS_OK && i < count_a; i++) {
        named *found = count_b > 0 ? bsearch(&a[i], b, count_b, sizeof *b, order_of) : NULL;
        result = compare_named(w, &a[i], found);
        places[a[i].index] = found != NULL ? found->index : SIZE_MAX;
        if (found != NULL) found->matched = true;
    }
    for (size_t i = 0; result == CS_OK && i < count_b; i++)
        if (!b[i].matched) result = compare_named(w, NULL, &b[i]);
    if (result == CS_OK && !is_in_order(places, count_a)) tell_order(w);
    return result;
}

static bool same_paths(const descriptor *field, const descriptor *path, const message *a, const message *b) {
    size_t count = count_of(a, field);
    if (count != count_of(b, field)) return false;
    for (size_t i = 0; i < count; i++)
        if (!cs_view_equal(path_of(cs_field_at(a, field, i), path), path_of(cs_field_at(b, field, i), path)))
            return false;
    return true;
}

static cs_result compare_by_path(walker *w, const descriptor *field, const descriptor *path, const message *a,
                                 const message *b) {
    size_t count_a = count_of(a, field);
    size_t count_b = count_of(b, field);
    named *items_a = sort_named(a, field, path);
    named *items_b = sort_named(b, field, path);
    size_t *places = calloc(count_a + 1, sizeof *places);
    cs_result result = CS_OK;
    if (items_a == NULL || items_b == NULL || places == NULL)
        result = cs_fail(w->err, CS_CODE_NO_MEMORY, "there is no memory to compare lists of files");
    else if (has_twice(items_a, count_a) || has_twice(items_b, count_b))
        result = compare_in_order(w, field, a, b);
    else
        result = merge(w, items_a, count_a, items_b, count_b, places);
    free(items_a);
    free(items_b);
    free(places);
    return result;
}

/* With the same paths in the same places the order is that of the list, and the name is told as well. */
static cs_result compare_same_paths(walker *w, const descriptor *field, const descriptor *path, const message *a,
                                    const message *b) {
    cs_result result = CS_OK;
    for (size_t i = 0; result == CS_OK && i < count_of(a, field); i++) {
        named left = {.item = cs_field_at(a, field, i), .index = i};
        named right = {.item = cs_field_at(b, field, i), .index = i};
        left.path = right.path = path_of(left.item, path);
        result = compare_named(w, &left, &right);
    }
    return result;
}

/* ---- one field after another ---------------------------------------------------------------- */

static cs_result compare_field(walker *w, const descriptor *field, const message *a, const message *b) {
    if (field->label != PROTOBUF_C_LABEL_REPEATED) return compare_single(w, field, a, b);
    const descriptor *path = path_field(field);
    if (path == NULL) return compare_in_order(w, field, a, b);
    if (same_paths(field, path, a, b)) return compare_same_paths(w, field, path, a, b);
    return compare_by_path(w, field, path, a, b);
}

static bool is_of_oneof(const descriptor *field) {
    return (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
}

/* The member of the message's oneof that is set; NULL: none is, or it has no oneof. */
static const descriptor *set_member(const message *m) {
    for (unsigned i = 0; m != NULL && i < m->descriptor->n_fields; i++) {
        const descriptor *field = &m->descriptor->fields[i];
        if (is_of_oneof(field) && cs_field_count(m, field) > 0) return field;
    }
    return NULL;
}

static const char *member_name(const descriptor *field) {
    return field != NULL ? field->name : "(none)";
}

/* What a request asks for or a result is: of two kinds nothing else is compared. */
static cs_result compare_oneof(walker *w, bool response, const message *a, const message *b) {
    const descriptor *kind_a = set_member(a);
    const descriptor *kind_b = set_member(b);
    cs_result result = CS_OK;
    w->covered = response;
    if (kind_a != kind_b && a != NULL && b != NULL) {
        size_t before = path_on(w, "kind");
        cs_field_pair pair = {.has_a = true, .has_b = true};
        snprintf(pair.value_a, sizeof pair.value_a, "%s", member_name(kind_a));
        snprintf(pair.value_b, sizeof pair.value_b, "%s", member_name(kind_b));
        tell(w, &pair);
        path_back(w, before);
    } else if (kind_a != NULL || kind_b != NULL) {
        const descriptor *kind = kind_a != NULL ? kind_a : kind_b;
        size_t before = response ? strlen(w->path) : path_on(w, "%s", kind->name);
        result = compare_single(w, kind, a, b);
        path_back(w, before);
    }
    w->covered = false;
    return result;
}

static bool is_uncovered(const descriptor *field) {
    return strcmp(field->name, "advice") == 0 || strcmp(field->name, "duration_ms") == 0;
}

static cs_result walk(walker *w, const message *a, const message *b) {
    const ProtobufCMessageDescriptor *type = a != NULL ? a->descriptor : b->descriptor;
    bool response = type == &plimsoll__v1__run_response__descriptor;
    bool oneof = false;
    cs_result result = CS_OK;
    for (unsigned i = 0; result == CS_OK && i < type->n_fields; i++) {
        const descriptor *field = &type->fields[i];
        if (response && !w->with_record && strcmp(field->name, "record") == 0) continue;
        if (is_of_oneof(field)) {
            if (!oneof) result = compare_oneof(w, response, a, b);
            oneof = true;
            continue;
        }
        bool covered = w->covered;
        w->covered = covered && !is_uncovered(field);
        size_t before = path_on(w, "%s%s", w->path[0] != '\0' ? "." : "", field->name);
        result = compare_field(w, field, a, b);
        path_back(w, before);
        w->covered = covered;
    }
    return result;
}

cs_result cs_compare_fields(const ProtobufCMessage *a, const ProtobufCMessage *b, bool with_record,
                            void (*on_pair)(void *user, const cs_field_pair *pair), void *user, cs_error *err) {
    walker w = {.on_pair = on_pair, .user = user, .err = err, .with_record = with_record};
    return a != NULL || b != NULL ? walk(&w, a, b) : CS_OK;
}
