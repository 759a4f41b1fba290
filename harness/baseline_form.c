/* The text of a file of baselines. Hostile until it was checked: bounded, of the exact form, and at last compared with
 * what would be written for it, so that nothing in it goes unread. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "harness/baseline_internal.h"
#include "records/compactjson.h"

#define FORMAT "countersign.tier-baseline.v1"

/* ---- write ---------------------------------------------------------------------------------------------- */

/* A member on a line of its own, so that a change of one key is a change of one line. */
static bool put_member(cs_buf *out, bool first, const char *name, const char *value) {
    return cs_buf_text(out, first ? "\n" : ",\n") && cs_json_string(out, cs_view_of(name)) && cs_buf_byte(out, ':') &&
           cs_json_string(out, cs_view_of(value));
}

static bool put_baseline(cs_buf *out, const cs_baseline *baseline) {
    bool good = cs_buf_text(out, "{\"state\":{");
    for (size_t i = 0; good && i < CS_STATE_MEMBERS; i++)
        good = put_member(out, i == 0, cs_baseline_state_word((cs_baseline_state)i), baseline->state[i]);
    good = good && cs_buf_text(out, "},\n\"keys\":{");
    for (size_t i = 0; good && i < baseline->count; i++)
        good = put_member(out, i == 0, baseline->entries[i].key, baseline->entries[i].value);
    return good && cs_buf_text(out, "}}");
}

bool cs_baseline_write(const cs_baseline_list *list, cs_buf *out) {
    bool good = cs_buf_text(out, "{\"format\":\"" FORMAT "\",\"baselines\":[");
    for (size_t i = 0; good && i < list->count; i++)
        good = cs_buf_text(out, i == 0 ? "\n" : ",\n") && put_baseline(out, &list->items[i]);
    return good && cs_buf_text(out, "]}\n");
}

/* ---- read ----------------------------------------------------------------------------------------------- */

static cs_result malformed(cs_error *err, const char *what) {
    return cs_fail(err, CS_CODE_BASELINE_FORM, "this is no file of baselines: %s", what);
}

/* A text that has room. jansson lets neither bad UTF-8 nor a NUL through. */
static bool take_value(const json_t *value, char out[CS_BASELINE_VALUE]) {
    if (!json_is_string(value) || json_string_length(value) >= CS_BASELINE_VALUE) return false;
    memcpy(out, json_string_value(value), json_string_length(value) + 1);
    return true;
}

static cs_result read_state(const json_t *state, cs_baseline *out, cs_error *err) {
    if (!json_is_object(state) || json_object_size(state) != CS_STATE_MEMBERS)
        return malformed(err, "a state has more or fewer members than one has");
    for (size_t i = 0; i < CS_STATE_MEMBERS; i++) {
        const char *word = cs_baseline_state_word((cs_baseline_state)i);
        if (take_value(json_object_get(state, word), out->state[i])) continue;
        cs_result result = malformed(err, "a member of a state is missing, or no text that has room");
        cs_error_where(err, "state.%s", word);
        return result;
    }
    return CS_OK;
}

static cs_result read_key(const char *key, const json_t *value, cs_baseline *out, cs_error *err) {
    cs_baseline_entry *entry = &out->entries[out->count];
    cs_result result = CS_OK;
    if (!cs_baseline_key_good(key))
        result = malformed(err, "a key is empty, too long, or of other characters than a-z, 0-9, '.', '_' and '-'");
    else if (!take_value(value, entry->value))
        result = malformed(err, "the value of a key is no text that has room");
    else if (out->count > 0 && strcmp(out->entries[out->count - 1].key, key) >= 0)
        result = malformed(err, "the keys are not in their order");
    if (result != CS_OK) {
        cs_error_where(err, "keys.%s", key);
        return result;
    }
    memcpy(entry->key, key, strlen(key) + 1);
    out->count++;
    return CS_OK;
}

static cs_result read_keys(json_t *keys, cs_baseline *out, cs_error *err) {
    if (!json_is_object(keys)) return malformed(err, "there are no keys");
    if (json_object_size(keys) > CS_BASELINE_MAX_KEYS) return malformed(err, "a baseline has too many keys");
    out->entries = calloc(json_object_size(keys) + 1, sizeof *out->entries);
    if (out->entries == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a baseline");
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(keys, key, value) {
        cs_result result = read_key(key, value, out, err);
        if (result != CS_OK) return result;
    }
    return CS_OK;
}

static cs_result read_baseline(const json_t *object, cs_baseline *out, cs_error *err) {
    if (!json_is_object(object) || json_object_size(object) != 2)
        return malformed(err, "a baseline has other members than \"state\" and \"keys\"");
    cs_result result = read_state(json_object_get(object, "state"), out, err);
    if (result == CS_OK) result = read_keys(json_object_get(object, "keys"), out, err);
    return result;
}

static cs_result read_baselines(const json_t *array, cs_baseline_list *out, cs_error *err) {
    if (!json_is_array(array) || json_array_size(array) == 0) return malformed(err, "it holds no baselines");
    if (json_array_size(array) > CS_BASELINE_MAX_STATES) return malformed(err, "it holds too many baselines");
    out->items = calloc(json_array_size(array), sizeof *out->items);
    if (out->items == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for baselines");
    for (size_t i = 0; i < json_array_size(array); i++) {
        cs_baseline *baseline = &out->items[out->count++];
        cs_result result = read_baseline(json_array_get(array, i), baseline, err);
        if (result == CS_OK && i > 0 && cs_baseline_state_order(baseline - 1, baseline) >= 0)
            result = malformed(err, "two baselines have the same state, or are not in their order");
        if (result == CS_OK) continue;
        cs_error_where(err, "baselines[%zu]", i);
        return result;
    }
    return CS_OK;
}

static cs_result read_file(const json_t *file, cs_baseline_list *out, cs_error *err) {
    if (!json_is_object(file) || json_object_size(file) != 2)
        return malformed(err, "it has other members than \"format\" and \"baselines\"");
    const json_t *format = json_object_get(file, "format");
    if (!json_is_string(format) || strcmp(json_string_value(format), FORMAT) != 0)
        return malformed(err, "its \"format\" is not " FORMAT);
    return read_baselines(json_object_get(file, "baselines"), out, err);
}

/* What would be written is what is there: then nothing was passed over, and what is not replaced stays as it is. */
static cs_result check_text(cs_view text, const cs_baseline_list *list, cs_error *err) {
    CS_AUTO_BUF again = CS_BUF_INIT(CS_BASELINE_MAX_BYTES);
    if (!cs_baseline_write(list, &again)) return malformed(err, "written in its form it would be too long");
    if (cs_view_equal(cs_buf_view(&again), text)) return CS_OK;
    size_t line = 1;
    for (size_t i = 0; i < text.len && i < again.len && text.ptr[i] == again.ptr[i]; i++)
        line += text.ptr[i] == '\n';
    return cs_fail(err, CS_CODE_BASELINE_FORM,
                   "the file of baselines is not written in the exact form: line %zu has other white space, another "
                   "order or another escape",
                   line);
}

cs_result cs_baseline_parse(cs_view text, cs_baseline_list *out, cs_error *err) {
    *out = (cs_baseline_list){0};
    if (text.len > CS_BASELINE_MAX_BYTES || text.len == 0)
        return malformed(err, text.len == 0 ? "it is empty" : "it is too long");
    json_error_t why;
    json_t *file = json_loadb((const char *)text.ptr, text.len, JSON_REJECT_DUPLICATES, &why);
    if (file == NULL && json_error_code(&why) == json_error_out_of_memory)
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to read a file of baselines");
    if (file == NULL)
        return cs_fail(err, CS_CODE_BASELINE_FORM,
                       "this is no file of baselines: no JSON, or a member is there twice (line %d: %s)", why.line,
                       why.text);
    cs_baseline_list list = {0};
    cs_result result = read_file(file, &list, err);
    json_decref(file);
    if (result == CS_OK) result = check_text(text, &list, err);
    if (result == CS_OK)
        *out = list;
    else
        cs_baseline_list_free(&list);
    return result;
}
