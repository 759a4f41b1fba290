#include <string.h>

#include "gate/glob.h"
#include "gate/policy_read.h"
#include "records/request.h"

#define TEXT_FORM "a text of 1 to 1024 bytes"
#define STEP_FORM "a text of 1 to 16384 bytes, exactly as the request has it"
#define GRANT_FORM "1 to 256 visible ASCII characters"
#define PATH_FORM "a relative path of at most 1024 bytes, without an empty, '.' or '..' segment"
#define NAME_FORM "1 to 64 of the characters A-Z a-z 0-9 . _ -"
#define PATTERN_FORM "a pattern for paths as src/**/*.js"
#define KIND_FORM "javascript, project, module or cell"
#define FLOOR_FORM "process, container, kernel or vm"

/* ---- texts ------------------------------------------------------------------------------------------ */

/* The JSON reader has refused what is not UTF-8, and NUL. */
static const char *bounded_fault(cs_view text, size_t max) {
    if (text.len == 0) return "it is empty";
    return text.len > max ? "it is too long" : NULL;
}

static const char *text_fault(cs_view text) {
    return bounded_fault(text, CS_POLICY_MAX_TEXT);
}

static const char *step_fault(cs_view text) {
    return bounded_fault(text, CS_MAX_STEP_BYTES);
}

/* As requests may name one; the empty name stands for none. */
static const char *grant_fault(cs_view text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~') return "no request can name such a grant profile";
    return bounded_fault(text, CS_MAX_GRANT_BYTES);
}

static const char *path_fault(cs_view text) {
    return cs_path_valid(text) ? NULL : "no artifact can have this path";
}

static const char *name_fault(cs_view text) {
    static const char marks[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    for (size_t i = 0; i < text.len; i++)
        if (memchr(marks, text.ptr[i], sizeof marks - 1) == NULL) return "it is no name";
    return bounded_fault(text, CS_POLICY_MAX_NAME);
}

static const char *any_fault(cs_view text) {
    (void)text;
    return NULL;
}

/* ---- lists of texts --------------------------------------------------------------------------------- */

typedef cs_result (*read_item)(cs_policy_reader *reader, json_t *value, void *out);

static cs_result read_text_item(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_text(reader, value, text_fault, TEXT_FORM, out);
}

static cs_result read_grant_item(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_text(reader, value, grant_fault, GRANT_FORM, out);
}

static cs_result read_pattern_item(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_text(reader, value, cs_glob_fault, PATTERN_FORM, out);
}

static cs_result read_list(cs_policy_reader *reader, json_t *value, size_t min, read_item read, cs_policy_list *out) {
    void *items = NULL;
    cs_result result =
        cs_policy_array(reader, value, min, CS_POLICY_MAX_LIST, sizeof *out->items, read, &items, &out->count);
    if (result != CS_OK) return result;
    out->items = items;
    /* The second of a pair may be a slip for something that is now missing. */
    for (size_t i = 0; i < out->count; i++)
        for (size_t k = 0; k < i; k++) {
            if (!cs_view_equal(out->items[i], out->items[k])) continue;
            (void)cs_policy_enter_at(reader, i);
            return cs_policy_bad(reader, "it stands in this list before", "each text once", json_array_get(value, i));
        }
    return CS_OK;
}

cs_result cs_policy_patterns(cs_policy_reader *reader, json_t *value, void *list) {
    return read_list(reader, value, 1, read_pattern_item, list);
}

/* ---- which records ---------------------------------------------------------------------------------- */

static cs_result read_kind(cs_policy_reader *reader, json_t *value, void *out) {
    static const char *const words[] = {[CS_POLICY_JAVASCRIPT] = "javascript",
                                        [CS_POLICY_PROJECT] = "project",
                                        [CS_POLICY_MODULE] = "module",
                                        [CS_POLICY_CELL] = "cell"};
    cs_policy_requirement *requirement = out;
    const char *word = json_string_value(value);
    if (word == NULL) return cs_policy_bad_kind(reader, "a text", KIND_FORM, value);
    for (int kind = CS_POLICY_JAVASCRIPT; kind <= CS_POLICY_CELL; kind++) {
        if (strcmp(word, words[kind]) != 0) continue;
        requirement->kind = (cs_policy_kind)kind;
        return CS_OK;
    }
    return cs_policy_bad(reader, "it is no kind of run", KIND_FORM, value);
}

static cs_result read_step(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_text(reader, value, step_fault, STEP_FORM, &((cs_policy_requirement *)out)->step);
}

static cs_result read_providers(cs_policy_reader *reader, json_t *value, void *out) {
    return read_list(reader, value, 1, read_text_item, &((cs_policy_requirement *)out)->providers);
}

static cs_result read_records(cs_policy_reader *reader, json_t *value, void *out) {
    static const cs_policy_member members[] = {{"kind", read_kind, false},
                                               {"step", read_step, false},
                                               {"providers", read_providers, false},
                                               {NULL, NULL, false}};
    return cs_policy_object(reader, value, members, out);
}

/* ---- conditions ------------------------------------------------------------------------------------- */

static cs_result read_name(cs_policy_reader *reader, json_t *value, void *out) {
    cs_view name = {.ptr = NULL};
    cs_policy_requirement *requirement = out;
    cs_result result = cs_policy_text(reader, value, name_fault, NAME_FORM, &name);
    if (result == CS_OK) memcpy(requirement->name, name.ptr, name.len);
    return result;
}

/* The empty word, which a request may have as its floor, asks for nothing. */
static cs_result read_floor(cs_policy_reader *reader, json_t *value, void *out) {
    cs_view word = {.ptr = NULL};
    cs_policy_requirement *requirement = out;
    cs_result result = cs_policy_text(reader, value, any_fault, FLOOR_FORM, &word);
    if (result != CS_OK) return result;
    requirement->floor = cs_tier_parse(word);
    return requirement->floor > CS_TIER_NONE ? CS_OK : cs_policy_bad(reader, "it is no tier", FLOOR_FORM, value);
}

static cs_result read_allowed(cs_policy_reader *reader, json_t *value, void *out) {
    return read_list(reader, value, 1, read_text_item, &((cs_policy_requirement *)out)->allowed_providers);
}

static cs_result read_software(cs_policy_reader *reader, json_t *value, void *out) {
    return read_list(reader, value, 1, read_text_item, &((cs_policy_requirement *)out)->software);
}

static cs_result read_sandbox_policies(cs_policy_reader *reader, json_t *value, void *out) {
    return read_list(reader, value, 1, read_text_item, &((cs_policy_requirement *)out)->sandbox_policies);
}

/* Of these lists only this one may be empty, since it says then what holds without it, too. */
static cs_result read_grants(cs_policy_reader *reader, json_t *value, void *out) {
    return read_list(reader, value, 0, read_grant_item, &((cs_policy_requirement *)out)->grant_profiles);
}

static cs_result read_age(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_number(reader, value, 1, CS_POLICY_MAX_AGE, &((cs_policy_requirement *)out)->max_age_s);
}

static cs_result read_min_records(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_number(reader, value, 1, CS_POLICY_MAX_NUMBER, &((cs_policy_requirement *)out)->min_records);
}

static cs_result read_cross_check(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_bool(reader, value, &((cs_policy_requirement *)out)->cross_check);
}

/* ---- bind ------------------------------------------------------------------------------------------- */

static cs_result read_bind_paths(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_patterns(reader, value, &((cs_policy_bind *)out)->paths);
}

static cs_result read_complete(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_bool(reader, value, &((cs_policy_bind *)out)->complete);
}

static cs_result read_bind(cs_policy_reader *reader, json_t *value, void *out) {
    static const cs_policy_member members[] = {
        {"paths", read_bind_paths, true}, {"complete", read_complete, false}, {NULL, NULL, false}};
    return cs_policy_object(reader, value, members, out);
}

static cs_result read_binds(cs_policy_reader *reader, json_t *value, void *out) {
    cs_policy_requirement *requirement = out;
    void *binds = NULL;
    cs_result result = cs_policy_array(reader, value, 1, CS_POLICY_MAX_LIST, sizeof *requirement->binds, read_bind,
                                       &binds, &requirement->bind_count);
    if (result == CS_OK) requirement->binds = binds;
    return result;
}

/* ---- tests ------------------------------------------------------------------------------------------ */

static cs_result read_artifact(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_text(reader, value, path_fault, PATH_FORM, &((cs_policy_tests *)out)->artifact);
}

static cs_result read_min_executed(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_number(reader, value, 1, CS_POLICY_MAX_NUMBER, &((cs_policy_tests *)out)->min_executed);
}

static cs_result read_max_skipped(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_number(reader, value, 0, CS_POLICY_MAX_NUMBER, &((cs_policy_tests *)out)->max_skipped);
}

static cs_result read_max_failed(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_number(reader, value, 0, CS_POLICY_MAX_NUMBER, &((cs_policy_tests *)out)->max_failed);
}

static cs_result read_not_fewer(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_bool(reader, value, &((cs_policy_tests *)out)->not_fewer_than_base);
}

static cs_result read_tests(cs_policy_reader *reader, json_t *value, void *out) {
    static const cs_policy_member members[] = {{"artifact", read_artifact, true},
                                               {"min_executed", read_min_executed, false},
                                               {"max_skipped", read_max_skipped, false},
                                               {"max_failed", read_max_failed, false},
                                               {"not_fewer_than_base", read_not_fewer, false},
                                               {NULL, NULL, false}};
    cs_policy_tests *tests = &((cs_policy_requirement *)out)->tests;
    *tests = (cs_policy_tests){.present = true, .min_executed = 1};
    return cs_policy_object(reader, value, members, tests);
}

/* ---- reproduced ------------------------------------------------------------------------------------- */

static cs_result read_run_providers(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_number(reader, value, 1, CS_POLICY_MAX_LIST,
                            &((cs_policy_requirement *)out)->reproduced_providers);
}

/* One run reproduces nothing. */
static cs_result read_runs(cs_policy_reader *reader, json_t *value, void *out) {
    return cs_policy_number(reader, value, 2, CS_POLICY_MAX_NUMBER, &((cs_policy_requirement *)out)->reproduced_runs);
}

static cs_result read_reproduced(cs_policy_reader *reader, json_t *value, void *out) {
    static const cs_policy_member members[] = {
        {"providers", read_run_providers, true}, {"runs", read_runs, true}, {NULL, NULL, false}};
    return cs_policy_object(reader, value, members, out);
}

/* ---- all of it -------------------------------------------------------------------------------------- */

cs_result cs_policy_requirement_read(cs_policy_reader *reader, json_t *value, void *out) {
    static const cs_policy_member members[] = {{"name", read_name, true},
                                               {"records", read_records, false},
                                               {"floor", read_floor, false},
                                               {"allowed_providers", read_allowed, false},
                                               {"software", read_software, false},
                                               {"sandbox_policies", read_sandbox_policies, false},
                                               {"grant_profiles", read_grants, false},
                                               {"max_age_seconds", read_age, false},
                                               {"min_records", read_min_records, false},
                                               {"bind", read_binds, false},
                                               {"tests", read_tests, false},
                                               {"reproduced", read_reproduced, false},
                                               {"cross_check", read_cross_check, false},
                                               {NULL, NULL, false}};
    cs_policy_requirement *requirement = out;
    requirement->floor = CS_TIER_UNKNOWN;
    requirement->min_records = 1;
    return cs_policy_object(reader, value, members, requirement);
}
