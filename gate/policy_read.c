#include "gate/policy_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "records/text.h"

/* ---- what is wrong ------------------------------------------------------------------------------ */

/* What kind of value stands there, with an article. */
static const char *kind_of(const json_t *value) {
    static const char *const kinds[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list", [JSON_STRING] = "a text", [JSON_INTEGER] = "a number",
        [JSON_REAL] = "a number",    [JSON_TRUE] = "true",    [JSON_FALSE] = "false",   [JSON_NULL] = "null",
    };
    return kinds[json_typeof(value)];
}

/* The value, as far as one line shows it. */
static cs_view shown(const json_t *value, char *room, size_t size) {
    if (value == NULL) return cs_view_of("nothing");
    switch (json_typeof(value)) {
    case JSON_STRING:
        return cs_view_bytes(json_string_value(value), json_string_length(value));
    case JSON_INTEGER:
        (void)snprintf(room, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return cs_view_of(room);
    case JSON_REAL:
        (void)snprintf(room, size, "%.17g, written with a point or an exponent", json_real_value(value));
        return cs_view_of(room);
    case JSON_ARRAY:
        (void)snprintf(room, size, "a list of %zu", json_array_size(value));
        return cs_view_of(room);
    default:
        return cs_view_of(kind_of(value));
    }
}

/* The same where another kind of value is wanted: with its kind, since "1" and 1 would look alike. */
static cs_view shown_with_kind(const json_t *value, char *room, size_t size) {
    cs_view text = shown(value, room, size);
    char plain[96];
    if (!json_is_string(value) && !json_is_number(value)) return text;
    cs_view some = cs_utf8_cut(text, sizeof plain - 1);
    memcpy(plain, some.ptr, some.len);
    plain[some.len] = '\0';
    const char *mark = json_is_string(value) ? "\"" : "";
    (void)snprintf(room, size, "%s %s%s%s%s", json_is_string(value) ? "the text" : "the number", mark, plain, mark,
                   some.len < text.len ? "..." : "");
    return cs_view_of(room);
}

static void at_place(const cs_policy_reader *reader) {
    if (reader->place[0] != '\0') cs_error_where(reader->err, "%s", reader->place);
}

cs_result cs_policy_bad(const cs_policy_reader *reader, const char *what, const char *expected, const json_t *found) {
    char room[128];
    cs_view text = shown(found, room, sizeof room);
    cs_result result = cs_fail_differs(reader->err, CS_CODE_POLICY_MALFORMED, "", cs_view_of(expected), text);
    /* A text of our own, which names characters as they are to be written. */
    cs_error_also(reader->err, "%s", what);
    at_place(reader);
    return result;
}

cs_result cs_policy_bad_kind(const cs_policy_reader *reader, const char *wanted, const char *expected,
                             const json_t *found) {
    char room[128];
    cs_view text = shown_with_kind(found, room, sizeof room);
    cs_result result = cs_fail_differs(reader->err, CS_CODE_POLICY_MALFORMED, "", cs_view_of(expected), text);
    cs_error_also(reader->err, "%s is wanted here, and this is %s", wanted, kind_of(found));
    at_place(reader);
    return result;
}

cs_result cs_policy_no_memory(const cs_policy_reader *reader) {
    return cs_fail(reader->err, CS_CODE_NO_MEMORY, "no memory to read a policy");
}

/* ---- places ------------------------------------------------------------------------------------- */

/* Names here are our own and short, so that nothing is ever cut. */
size_t cs_policy_enter(cs_policy_reader *reader, const char *member) {
    size_t length = strlen(reader->place);
    (void)snprintf(reader->place + length, sizeof reader->place - length, "%s%s", length > 0 ? "." : "", member);
    return length;
}

size_t cs_policy_enter_at(cs_policy_reader *reader, size_t index) {
    size_t length = strlen(reader->place);
    (void)snprintf(reader->place + length, sizeof reader->place - length, "[%zu]", index);
    return length;
}

void cs_policy_leave(cs_policy_reader *reader, size_t length) {
    reader->place[length] = '\0';
}

/* ---- objects ------------------------------------------------------------------------------------ */

static const cs_policy_member *find_member(const cs_policy_member *members, const char *name) {
    for (; members->name != NULL; members++)
        if (strcmp(members->name, name) == 0) return members;
    return NULL;
}

/* The name is the document's: it goes where it is escaped and cut, and never into a place of ours. */
static cs_result unknown_member(const cs_policy_reader *reader, const cs_policy_member *members, const char *name) {
    char known[160] = "";
    for (size_t used = 0; members->name != NULL && used < sizeof known; members++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used > 0 ? ", " : "", members->name);
    cs_result result = cs_fail_differs(reader->err, CS_CODE_POLICY_MALFORMED,
                                       "there is a member that is not known here; is its name misspelt?",
                                       cs_view_of(known), cs_view_of(name));
    cs_error_where(reader->err, "%s%s%s", reader->place, reader->place[0] != '\0' ? "." : "", name);
    return result;
}

static cs_result find_required(cs_policy_reader *reader, const json_t *object, const cs_policy_member *members) {
    for (; members->name != NULL; members++) {
        if (!members->required || json_object_get(object, members->name) != NULL) continue;
        (void)cs_policy_enter(reader, members->name);
        return cs_policy_bad(reader, "a member that must be there is missing", members->name, NULL);
    }
    return CS_OK;
}

cs_result cs_policy_object(cs_policy_reader *reader, json_t *value, const cs_policy_member *members, void *out) {
    const char *name = NULL;
    json_t *each = NULL;
    if (!json_is_object(value)) return cs_policy_bad_kind(reader, "an object", "an object", value);
    json_object_foreach(value, name, each) {
        const cs_policy_member *member = find_member(members, name);
        if (member == NULL) return unknown_member(reader, members, name);
        size_t length = cs_policy_enter(reader, member->name);
        cs_result result = member->read(reader, each, out);
        if (result != CS_OK) return result;
        cs_policy_leave(reader, length);
    }
    return find_required(reader, value, members);
}

/* ---- arrays ------------------------------------------------------------------------------------- */

cs_result cs_policy_array(cs_policy_reader *reader, json_t *value, size_t min, size_t max, size_t size,
                          cs_result (*read)(cs_policy_reader *reader, json_t *value, void *out), void **items,
                          size_t *count) {
    size_t found = json_array_size(value);
    char expected[64];
    (void)snprintf(expected, sizeof expected, "a list of %zu to %zu", min, max);
    if (!json_is_array(value)) return cs_policy_bad_kind(reader, "a list", expected, value);
    if (found < min)
        return cs_policy_bad(reader, "the list is empty; what is not asked for is left out", expected, value);
    if (found > max) return cs_policy_bad(reader, "the list is too long", expected, value);
    uint8_t *place = cs_arena_take(reader->arena, found * size);
    if (place == NULL) return cs_policy_no_memory(reader);
    for (size_t i = 0; i < found; i++) {
        size_t length = cs_policy_enter_at(reader, i);
        cs_result result = read(reader, json_array_get(value, i), place + i * size);
        if (result != CS_OK) return result;
        cs_policy_leave(reader, length);
    }
    *items = place;
    *count = found;
    return CS_OK;
}

/* ---- values ------------------------------------------------------------------------------------- */

cs_result cs_policy_bool(cs_policy_reader *reader, const json_t *value, bool *out) {
    if (!json_is_boolean(value)) return cs_policy_bad_kind(reader, "true or false", "true or false", value);
    *out = json_is_true(value);
    return CS_OK;
}

cs_result cs_policy_number(cs_policy_reader *reader, const json_t *value, uint64_t min, uint64_t max, uint64_t *out) {
    json_int_t number = json_integer_value(value); /* 0 for what is no integer */
    char expected[64];
    if (min == max)
        (void)snprintf(expected, sizeof expected, "%" PRIu64, min);
    else
        (void)snprintf(expected, sizeof expected, "a whole number from %" PRIu64 " to %" PRIu64, min, max);
    if (!json_is_number(value)) return cs_policy_bad_kind(reader, "a number", expected, value);
    if (!json_is_integer(value) || number < 0 || (uint64_t)number < min || (uint64_t)number > max)
        return cs_policy_bad(reader, "it is no whole number in its range", expected, value);
    *out = (uint64_t)number;
    return CS_OK;
}

cs_result cs_policy_text(cs_policy_reader *reader, const json_t *value, const char *(*fault)(cs_view),
                         const char *expected, cs_view *out) {
    if (!json_is_string(value)) return cs_policy_bad_kind(reader, "a text", expected, value);
    cs_view text = cs_view_bytes(json_string_value(value), json_string_length(value));
    const char *what = fault(text);
    if (what != NULL) return cs_policy_bad(reader, what, expected, value);
    uint8_t *copy = cs_arena_take(reader->arena, text.len + 1);
    if (copy == NULL) return cs_policy_no_memory(reader);
    memcpy(copy, text.ptr, text.len);
    *out = cs_view_bytes(copy, text.len);
    return CS_OK;
}
