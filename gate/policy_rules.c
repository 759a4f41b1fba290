#include <stdio.h>

#include "gate/policy_read.h"

/* ---- contradictions ----------------------------------------------------------------------------- */

/* Two rules, by their places within one requirement, and why they can't both be fulfilled. */
static cs_result contradict(size_t index, const char *one, const char *other, const char *why, cs_error *err) {
    cs_result result = cs_fail(err, CS_CODE_POLICY_CONTRADICTS, "%s; change one of the two", why);
    cs_error_where(err, "requirements[%zu].%s, requirements[%zu].%s", index, one, index, other);
    return result;
}

static bool has(const cs_policy_list *list, cs_view text) {
    for (size_t i = 0; i < list->count; i++)
        if (cs_view_equal(list->items[i], text)) return true;
    return false;
}

/* How many providers may have records that count; SIZE_MAX when there is no bound. */
static size_t possible_providers(const cs_policy_requirement *requirement) {
    const cs_policy_list *selected = &requirement->providers;
    const cs_policy_list *allowed = &requirement->allowed_providers;
    size_t common = 0;
    if (selected->count == 0 && allowed->count == 0) return SIZE_MAX;
    if (selected->count == 0 || allowed->count == 0) return selected->count + allowed->count;
    for (size_t i = 0; i < selected->count; i++)
        common += has(allowed, selected->items[i]);
    return common;
}

static cs_result check_providers(const cs_policy_requirement *requirement, size_t index, cs_error *err) {
    size_t possible = possible_providers(requirement);
    if (possible == 0)
        return contradict(index, "records.providers", "allowed_providers",
                          "no provider is both looked at and allowed, so no record can count", err);
    if (requirement->reproduced_providers > possible)
        return contradict(index, "reproduced.providers",
                          requirement->providers.count > 0 ? "records.providers" : "allowed_providers",
                          "the result is to come from more providers than can have a record that counts", err);
    if (requirement->reproduced_runs < requirement->reproduced_providers)
        return contradict(index, "reproduced.runs", "reproduced.providers",
                          "fewer runs than providers are asked for, and each provider is at least one run", err);
    return CS_OK;
}

/* What the kind of run that is asked for does not have. */
static cs_result check_kind(const cs_policy_requirement *requirement, size_t index, cs_error *err) {
    if (requirement->kind == CS_POLICY_ANY || requirement->kind == CS_POLICY_PROJECT) return CS_OK;
    if (requirement->step.ptr != NULL)
        return contradict(index, "records.step", "records.kind", "only projects have steps", err);
    if (requirement->tests.present)
        return contradict(index, "tests.artifact", "records.kind", "only projects have artifacts", err);
    if (requirement->bind_count > 0 && requirement->kind != CS_POLICY_CELL)
        return contradict(index, "bind", "records.kind", "only projects and cells have files to bind", err);
    return CS_OK;
}

/* Which run is the base's is known by the files that bind it. Without, any run would do. */
static cs_result check_base(const cs_policy_requirement *requirement, size_t index, cs_error *err) {
    if (!requirement->tests.not_fewer_than_base || requirement->bind_count > 0) return CS_OK;
    return contradict(index, "tests.not_fewer_than_base", "bind",
                      "a run of the base is to be compared with, and there is no bind to know it by", err);
}

/* ---- nothing ------------------------------------------------------------------------------------ */

/* Would any signed run whose work passed fulfil it? What is always asked of every run is no rule of the policy. */
static bool asks_nothing(const cs_policy_requirement *r) {
    bool selects = r->kind != CS_POLICY_ANY || r->step.ptr != NULL || r->providers.count > 0;
    bool where = r->floor != CS_TIER_UNKNOWN || r->allowed_providers.count > 0 || r->software.count > 0 ||
                 r->sandbox_policies.count > 0 || r->max_age_s > 0;
    bool what = r->bind_count > 0 || r->tests.present || r->reproduced_runs > 0 || r->cross_check;
    return !selects && !where && !what && r->min_records == 1;
}

static cs_result check_one(const cs_policy_requirement *requirement, size_t index, cs_error *err) {
    cs_result result = check_kind(requirement, index, err);
    if (result == CS_OK) result = check_providers(requirement, index, err);
    if (result == CS_OK) result = check_base(requirement, index, err);
    if (result != CS_OK || !asks_nothing(requirement)) return result;
    result = cs_fail(err, CS_CODE_POLICY_EMPTY,
                     "the requirement %s states no condition: any signed run that passed would fulfil it; say which "
                     "records count, and what they must fulfil",
                     requirement->name);
    cs_error_where(err, "requirements[%zu]", index);
    return result;
}

cs_result cs_policy_consistent(const cs_policy *policy, cs_error *err) {
    if (policy->requirement_count == 0) {
        cs_result result =
            cs_fail(err, CS_CODE_POLICY_EMPTY, "the policy has no requirement, so that nothing could fail it; add one");
        cs_error_where(err, "requirements");
        return result;
    }
    for (size_t i = 0; i < policy->requirement_count; i++) {
        cs_result result = check_one(&policy->requirements[i], i, err);
        if (result != CS_OK) return result;
    }
    return CS_OK;
}
