#include "gate/policy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gate/policy_read.h"
#include "verify/file.h"
#include "verify/trust_keys.h"

/* ---- the document ------------------------------------------------------------------------------- */

static cs_result read_version(cs_policy_reader *reader, json_t *value, void *out) {
    uint64_t version = 0;
    (void)out;
    return cs_policy_number(reader, value, 1, 1, &version);
}

/* The form and the codes are those of a trust file. */
static cs_result read_keys(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_trust_read_keys(value, &((cs_policy *)out)->trust, reader->err);
}

static cs_result check_names(cs_policy_reader *reader, json_t *value, const cs_policy *policy) {
    for (size_t i = 0; i < policy->requirement_count; i++)
        for (size_t k = 0; k < i; k++) {
            if (strcmp(policy->requirements[i].name, policy->requirements[k].name) != 0) continue;
            (void)cs_policy_enter_at(reader, i);
            (void)cs_policy_enter(reader, "name");
            return cs_policy_bad(reader, "an earlier requirement has the same name", "each name once",
                                 json_object_get(json_array_get(value, i), "name"));
        }
    return CS_OK;
}

static cs_result read_requirements(cs_policy_reader *reader, json_t *value, void *out) {
    cs_policy *policy = out;
    void *items = NULL;
    /* That there are none is policy-empty, and no matter of form. */
    if (json_is_array(value) && json_array_size(value) == 0) return CS_OK;
    cs_result result = cs_policy_array(reader, value, 1, CS_POLICY_MAX_REQUIREMENTS, sizeof *policy->requirements,
                                       cs_policy_requirement_read, &items, &policy->requirement_count);
    if (result != CS_OK) return result;
    policy->requirements = items;
    return check_names(reader, value, policy);
}

static cs_result read_protect(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_patterns(reader, value, &((cs_policy *)out)->protect);
}

static cs_result read_document(cs_policy_reader *reader, json_t *document, cs_policy *policy) {
    static const cs_policy_member members[] = {{"version", read_version, true},
                                               {"keys", read_keys, true},
                                               {"requirements", read_requirements, false},
                                               {"protect", read_protect, false},
                                               {NULL, NULL, false}};
    return cs_policy_object(reader, document, members, policy);
}

/* ---- what it needs ------------------------------------------------------------------------------ */

static void find_needs(cs_policy *policy) {
    policy->needs_base = policy->protect.count > 0;
    for (size_t i = 0; i < policy->requirement_count; i++) {
        const cs_policy_requirement *requirement = &policy->requirements[i];
        policy->needs_rev = policy->needs_rev || requirement->bind_count > 0;
        policy->needs_base = policy->needs_base || requirement->tests.not_fewer_than_base;
    }
    /* The base is there to be compared with. */
    policy->needs_rev = policy->needs_rev || policy->needs_base;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* What is wrong with the JSON, before what the parser says of it. */
static const char *json_fault(enum json_error_code code) {
    switch (code) {
    case json_error_duplicate_key:
        return "an object of the policy has a member twice";
    case json_error_invalid_utf8:
        return "the policy is not text in UTF-8";
    case json_error_null_character:
    case json_error_null_byte_in_key:
        return "a text of the policy holds NUL";
    case json_error_numeric_overflow:
        return "a number of the policy is too large";
    case json_error_premature_end_of_input:
        return "the policy ends before it is complete";
    case json_error_end_of_input_expected:
        return "something stands behind the end of the policy";
    default:
        return "the policy is no JSON";
    }
}

static cs_result read_json(cs_view json, json_t **out, cs_error *err) {
    json_error_t why;
    cs_result result = CS_UNCHECKED;
    /* Nobody sees it in an editor, and the parser tells of a byte alone. */
    if (json.len >= 3 && memcmp(json.ptr, "\xEF\xBB\xBF", 3) == 0) {
        result = cs_fail(err, CS_CODE_POLICY_MALFORMED,
                         "the policy begins with a byte order mark (BOM), which JSON has not; save it as UTF-8 "
                         "without one");
        cs_error_where(err, "line 1, column 1");
        return result;
    }
    *out = json_loadb((const char *)json.ptr, json.len, JSON_REJECT_DUPLICATES, &why);
    if (*out != NULL) return CS_OK;
    if (json_error_code(&why) == json_error_out_of_memory)
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to read a policy");
    result = cs_fail(err, CS_CODE_POLICY_MALFORMED, "%s (%s)", json_fault(json_error_code(&why)), why.text);
    cs_error_where(err, "line %d, column %d", why.line, why.column);
    return result;
}

static cs_result parse(cs_view json, cs_policy *policy, cs_error *err) {
    cs_policy_reader reader = {.arena = cs_arena_new(), .err = err};
    policy->memory = reader.arena;
    if (reader.arena == NULL) return cs_policy_no_memory(&reader);
    if (!cs_sha256_once(json, &policy->digest)) return cs_fail(err, CS_CODE_INTERNAL, "the policy has no digest");
    json_t *document = NULL;
    cs_result result = read_json(json, &document, err);
    if (result == CS_OK) result = read_document(&reader, document, policy);
    if (result == CS_OK) result = cs_policy_consistent(policy, err);
    if (result == CS_OK) find_needs(policy);
    json_decref(document);
    return result;
}

cs_result cs_policy_parse(cs_view json, cs_policy *out, cs_error *err) {
    *out = (cs_policy){.memory = NULL};
    if (json.len == 0) return cs_fail(err, CS_CODE_POLICY_MALFORMED, "the policy is empty; it should be a JSON object");
    if (json.len > CS_POLICY_MAX_BYTES)
        return cs_fail(err, CS_CODE_POLICY_MALFORMED, "the policy is longer than %zu bytes", CS_POLICY_MAX_BYTES);
    cs_result result = parse(json, out, err);
    /* What a refused policy has of rules must not be used. */
    if (result != CS_OK) cs_policy_free(out);
    return result;
}

cs_result cs_policy_load(const char *path, cs_policy *out, cs_error *err) {
    CS_AUTO_BUF text = CS_BUF_INIT(CS_POLICY_MAX_BYTES);
    cs_result result = CS_UNCHECKED;
    *out = (cs_policy){.memory = NULL};
    switch (cs_file_read(path, &text)) {
    case CS_FILE_READ:
        result = cs_policy_parse(cs_buf_view(&text), out, err);
        break;
    case CS_FILE_FAILED:
        result = cs_fail(err, CS_CODE_IO, "the policy can't be read: %s", strerror(errno));
        break;
    case CS_FILE_TOO_LONG:
        result = cs_fail(err, CS_CODE_POLICY_MALFORMED, "the policy is longer than %zu bytes", CS_POLICY_MAX_BYTES);
        break;
    case CS_FILE_NO_MEMORY:
        result = cs_fail(err, CS_CODE_NO_MEMORY, "no memory to read a policy");
        break;
    }
    if (result != CS_OK) cs_error_where(err, "%s", path);
    return result;
}

void cs_policy_free(cs_policy *policy) {
    cs_arena_free(policy->memory);
    *policy = (cs_policy){.memory = NULL};
}
