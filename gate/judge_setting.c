/* What records are held against: made once, before any is read. */
#include <stdlib.h>
#include <string.h>

#include "gate/judge_internal.h"

static bool must_be_there(const cs_policy_requirement *requirement, cs_view path) {
    for (size_t i = 0; i < requirement->bind_count; i++)
        if (requirement->binds[i].complete && cs_gate_list_matches(&requirement->binds[i].paths, path)) return true;
    return false;
}

/* Shrinking fails without harm. */
static void shrink(cs_gate_scope *scope) {
    size_t *less = realloc(scope->files, (scope->count + 1) * sizeof *less);
    if (less != NULL) scope->files = less;
}

static cs_result make_scope(const cs_policy_requirement *requirement, const cs_tree *tree, cs_gate_scope *out,
                            cs_error *err) {
    if (!cs_gate_bind_is_complete(requirement)) return CS_OK;
    out->files = calloc(tree->count + 1, sizeof *out->files);
    if (out->files == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the files of a commit");
    for (size_t i = 0; i < tree->count; i++)
        if (must_be_there(requirement, cs_view_of(tree->files[i].path))) out->files[out->count++] = i;
    shrink(out);
    return CS_OK;
}

static cs_result make_commit(const cs_policy *policy, const cs_tree *tree, cs_gate_commit *out, cs_error *err) {
    if (tree == NULL) return CS_OK;
    out->tree = tree;
    out->scopes = calloc(policy->requirement_count + 1, sizeof *out->scopes);
    out->marks = calloc(tree->count + 1, sizeof *out->marks);
    if (out->scopes == NULL || out->marks == NULL)
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the files of a commit");
    cs_result result = CS_OK;
    for (size_t i = 0; result == CS_OK && i < policy->requirement_count; i++)
        result = make_scope(&policy->requirements[i], tree, &out->scopes[i], err);
    return result;
}

/* Of the policy's own word and of what its rules say: a policy that was not read from a file is held to the same. */
static void needs_of(const cs_policy *policy, bool *rev, bool *base) {
    *rev = policy->needs_rev || policy->protect.count > 0;
    *base = policy->needs_base || policy->protect.count > 0;
    for (size_t i = 0; i < policy->requirement_count; i++) {
        const cs_policy_requirement *requirement = &policy->requirements[i];
        if (requirement->bind_count > 0) *rev = true;
        if (requirement->tests.present && requirement->tests.not_fewer_than_base && requirement->bind_count > 0)
            *base = true;
    }
}

cs_result cs_gate_setting_make(const cs_gate_options *options, cs_gate_setting *out, cs_error *err) {
    *out = (cs_gate_setting){.policy = options->policy,
                             .conditions = cs_gate_conditions,
                             .now_ms = options->now_ms,
                             .skew_ms = options->skew_ms};
    bool rev = false;
    bool base = false;
    needs_of(options->policy, &rev, &base);
    if (rev && options->rev == NULL)
        return cs_fail(err, CS_CODE_USAGE, "the policy binds runs to a commit, and no revision is named");
    if (base && options->base == NULL)
        return cs_fail(err, CS_CODE_USAGE, "the policy compares with a base, and no base is named");
    cs_result result = make_commit(options->policy, options->rev, &out->rev, err);
    if (result == CS_OK) result = make_commit(options->policy, options->base, &out->base, err);
    return result == CS_OK ? cs_gate_find_changed(options->base, &out->rev, err) : result;
}

static void free_commit(cs_gate_commit *commit, size_t requirements) {
    for (size_t i = 0; commit->scopes != NULL && i < requirements; i++)
        free(commit->scopes[i].files);
    free(commit->scopes);
    free(commit->marks);
    free(commit->changed);
    *commit = (cs_gate_commit){.tree = NULL};
}

void cs_gate_setting_free(cs_gate_setting *setting) {
    size_t requirements = setting->policy != NULL ? setting->policy->requirement_count : 0;
    free_commit(&setting->rev, requirements);
    free_commit(&setting->base, requirements);
}
