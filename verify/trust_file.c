#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "records/text.h"
#include "records/time.h"
#include "verify/file.h"
#include "verify/trust.h"
#include "verify/trust_keys.h"

#define TIME_FORM "a moment in UTC as \"2026-11-29T00:00:00Z\", with at most three decimals of a second"

static cs_result malformed(cs_error *err, const char *what, const char *expected) {
    return cs_fail_differs(err, CS_CODE_TRUST_MALFORMED, what, cs_view_of(expected), cs_view_of(""));
}

static cs_result malformed_value(cs_error *err, const char *what, const char *expected, cs_view found) {
    return cs_fail_differs(err, CS_CODE_TRUST_MALFORMED, what, cs_view_of(expected), found);
}

/* A string's bytes; ptr NULL when the value is absent or something else. */
static cs_view text_of(const json_t *value) {
    if (!json_is_string(value)) return (cs_view){.ptr = NULL};
    return cs_view_bytes(json_string_value(value), json_string_length(value));
}

/* Does the object have members of these names only? `names` ends with NULL. */
static cs_result check_members(json_t *object, const char *const names[], const char *expected, cs_error *err) {
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(object, name, value) {
        bool known = false;
        for (size_t i = 0; names[i] != NULL; i++)
            known = known || strcmp(name, names[i]) == 0;
        if (!known) return malformed_value(err, "there is a member that is not known here", expected, cs_view_of(name));
    }
    return CS_OK;
}

/* ---- one key ------------------------------------------------------------------------------------ */

/* C0, DEL and C1: a label is shown beside findings. */
static bool has_control(cs_view text) {
    for (size_t i = 0; i < text.len; i++) {
        uint8_t byte = text.ptr[i];
        if (byte < 0x20 || byte == 0x7f) return true;
        if (byte == 0xc2 && i + 1 < text.len && text.ptr[i + 1] < 0xa0) return true;
    }
    return false;
}

static cs_result read_label(const json_t *value, char out[CS_MAX_KEY_LABEL + 1], cs_error *err) {
    if (value == NULL) return CS_OK;
    cs_view text = text_of(value);
    if (text.len == 0 || text.len > CS_MAX_KEY_LABEL || !cs_utf8_valid(text) || has_control(text))
        return malformed_value(err, "\"label\" is not of its form",
                               "a string of 1 to 64 bytes without control characters", text);
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
    return CS_OK;
}

static cs_result read_time(const json_t *value, const char *what, int64_t *out, cs_error *err) {
    if (value == NULL) return CS_OK;
    cs_view text = text_of(value);
    if (text.ptr == NULL || !cs_time_parse(text, out)) return malformed_value(err, what, TIME_FORM, text);
    return CS_OK;
}

static cs_result read_pem(const json_t *value, cs_public_key *out, cs_error *err) {
    cs_view text = text_of(value);
    if (text.ptr == NULL) return malformed(err, "there is no \"key\"", "a public key as a string, in PEM");
    return cs_public_key_parse(text, out, err);
}

static cs_result read_key(json_t *object, cs_trusted_key *out, cs_error *err) {
    static const char *const names[] = {"key", "label", "not_before", "not_after", NULL};
    *out = (cs_trusted_key){.not_before_ms = INT64_MIN, .not_after_ms = INT64_MAX};
    if (!json_is_object(object)) return malformed(err, "a key is no object", "{\"key\": PEM, ...}");
    cs_result result = check_members(object, names, "key, label, not_before, not_after", err);
    if (result == CS_OK) result = read_label(json_object_get(object, "label"), out->label, err);
    if (result == CS_OK) result = read_pem(json_object_get(object, "key"), &out->key, err);
    if (result == CS_OK)
        result =
            read_time(json_object_get(object, "not_before"), "\"not_before\" is no moment", &out->not_before_ms, err);
    if (result == CS_OK)
        result = read_time(json_object_get(object, "not_after"), "\"not_after\" is no moment", &out->not_after_ms, err);
    if (result != CS_OK || out->not_after_ms >= out->not_before_ms) return result;
    return malformed(err, "\"not_after\" is before \"not_before\", so the key could never sign anything",
                     "not_before, then not_after");
}

/* Say which key it is, also by its label when it has one; the error escapes what it is told. */
static void name_key(size_t index, const json_t *object, cs_error *err) {
    const char *label = json_string_value(json_object_get(object, "label"));
    if (label != NULL)
        cs_error_where(err, "keys[%zu] (%s)", index, label);
    else
        cs_error_where(err, "keys[%zu]", index);
}

/* ---- the file ----------------------------------------------------------------------------------- */

cs_result cs_trust_read_keys(json_t *keys, cs_trust *trust, cs_error *err) {
    if (!json_is_array(keys) || json_array_size(keys) == 0)
        return malformed(err, "there are no \"keys\"", "an array with at least one key");
    if (json_array_size(keys) > CS_MAX_TRUSTED_KEYS)
        return cs_fail(err, CS_CODE_TRUST_MALFORMED, "the file names %zu keys; expected at most %u",
                       json_array_size(keys), CS_MAX_TRUSTED_KEYS);
    for (size_t i = 0; i < json_array_size(keys); i++) {
        cs_trusted_key key;
        cs_result result = read_key(json_array_get(keys, i), &key, err);
        if (result == CS_OK) result = cs_trust_add_within(trust, &key, err);
        if (result == CS_OK) continue;
        name_key(i, json_array_get(keys, i), err);
        return result;
    }
    return CS_OK;
}

static cs_result read_file(json_t *file, cs_trust *trust, cs_error *err) {
    static const char *const names[] = {"version", "keys", NULL};
    if (!json_is_object(file)) return malformed(err, "a trust file is an object", "{\"version\": 1, \"keys\": [...]}");
    cs_result result = check_members(file, names, "version, keys", err);
    if (result != CS_OK) return result;
    const json_t *version = json_object_get(file, "version");
    if (!json_is_integer(version) || json_integer_value(version) != 1)
        return malformed(err, "the \"version\" of the trust file is none that is known here", "1");
    return cs_trust_read_keys(json_object_get(file, "keys"), trust, err);
}

cs_result cs_trust_parse(cs_view json, cs_trust *trust, cs_error *err) {
    if (json.len > CS_MAX_TRUST_FILE)
        return cs_fail(err, CS_CODE_TRUST_MALFORMED, "the trust file is longer than %zu bytes", CS_MAX_TRUST_FILE);
    if (json.len == 0)
        return cs_fail(err, CS_CODE_TRUST_MALFORMED, "the trust file is empty; it should name at least one key");
    json_error_t why;
    json_t *file = json_loadb((const char *)json.ptr, json.len, JSON_REJECT_DUPLICATES, &why);
    if (file == NULL && json_error_code(&why) == json_error_out_of_memory)
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to read a trust file");
    if (file == NULL)
        return cs_fail(err, CS_CODE_TRUST_MALFORMED, "the trust file is no JSON, or has a member twice (line %d: %s)",
                       why.line, why.text);
    cs_result result = read_file(file, trust, err);
    json_decref(file);
    return result;
}

cs_result cs_trust_load(const char *path, cs_trust *trust, cs_error *err) {
    CS_AUTO_BUF text = CS_BUF_INIT(CS_MAX_TRUST_FILE);
    cs_result result = CS_UNCHECKED;
    switch (cs_file_read(path, &text)) {
    case CS_FILE_READ:
        result = cs_trust_parse(cs_buf_view(&text), trust, err);
        break;
    case CS_FILE_FAILED:
        result = cs_fail(err, CS_CODE_KEY_UNREADABLE, "the trust file can't be read: %s", strerror(errno));
        break;
    case CS_FILE_TOO_LONG:
        result = cs_fail(err, CS_CODE_TRUST_MALFORMED, "the trust file is longer than %zu bytes", CS_MAX_TRUST_FILE);
        break;
    case CS_FILE_NO_MEMORY:
        result = cs_fail(err, CS_CODE_NO_MEMORY, "no memory to read a trust file");
        break;
    }
    if (result != CS_OK) cs_error_where(err, "%s", path);
    return result;
}
