/* Policies of a gate: what is taken is within its bounds, fulfils what the rules ask of each other, and can be said in
 * lines that steer no terminal. */
#include <string.h>

#include "gate/glob.h"
#include "gate/policy.h"
#include "records/request.h"
#include "records/text.h"
#include "tests/fuzz/fuzz.h"

#define MAX_WORDS ((size_t)16 * 1024 * 1024)

static void check_list(const cs_policy_list *list, size_t max, bool patterns) {
    MUST(list->count <= CS_POLICY_MAX_LIST);
    for (size_t i = 0; i < list->count; i++) {
        cs_view item = list->items[i];
        MUST(item.len >= 1 && item.len <= max && cs_utf8_valid(item) && memchr(item.ptr, 0, item.len) == NULL);
        MUST(!patterns || cs_glob_fault(item) == NULL);
        for (size_t k = 0; k < i; k++)
            MUST(!cs_view_equal(item, list->items[k]));
    }
}

static void check_conditions(const cs_policy_requirement *r) {
    MUST(r->floor == CS_TIER_UNKNOWN || (r->floor >= CS_TIER_PROCESS && r->floor <= CS_TIER_VM));
    MUST(r->step.ptr == NULL || (r->step.len >= 1 && r->step.len <= CS_MAX_STEP_BYTES));
    check_list(&r->providers, CS_POLICY_MAX_TEXT, false);
    check_list(&r->allowed_providers, CS_POLICY_MAX_TEXT, false);
    check_list(&r->software, CS_POLICY_MAX_TEXT, false);
    check_list(&r->sandbox_policies, CS_POLICY_MAX_TEXT, false);
    check_list(&r->grant_profiles, CS_MAX_GRANT_BYTES, false);
    MUST(r->max_age_s <= CS_POLICY_MAX_AGE);
    MUST(r->min_records >= 1 && r->min_records <= CS_POLICY_MAX_NUMBER);
    MUST(r->reproduced_runs >= r->reproduced_providers && r->reproduced_runs <= CS_POLICY_MAX_NUMBER);
    MUST((r->reproduced_runs == 0) == (r->reproduced_providers == 0) && r->reproduced_runs != 1);
}

static void check_files(const cs_policy_requirement *r) {
    const cs_policy_tests *tests = &r->tests;
    MUST(r->bind_count <= CS_POLICY_MAX_LIST);
    for (size_t i = 0; i < r->bind_count; i++) {
        MUST(r->binds[i].paths.count >= 1);
        check_list(&r->binds[i].paths, CS_GLOB_MAX_BYTES, true);
    }
    MUST(!tests->not_fewer_than_base || (tests->present && r->bind_count > 0));
    if (!tests->present) return;
    MUST(cs_path_valid(tests->artifact));
    MUST(tests->min_executed >= 1 && tests->min_executed <= CS_POLICY_MAX_NUMBER);
    MUST(tests->max_skipped <= CS_POLICY_MAX_NUMBER && tests->max_failed <= CS_POLICY_MAX_NUMBER);
    MUST(r->kind == CS_POLICY_ANY || r->kind == CS_POLICY_PROJECT);
}

static void check_taken(const cs_policy *policy) {
    bool base = policy->protect.count > 0;
    bool rev = base;
    MUST(policy->trust.count >= 1 && policy->trust.count <= CS_MAX_TRUSTED_KEYS);
    MUST(policy->requirement_count >= 1 && policy->requirement_count <= CS_POLICY_MAX_REQUIREMENTS);
    check_list(&policy->protect, CS_GLOB_MAX_BYTES, true);
    for (size_t i = 0; i < policy->requirement_count; i++) {
        const cs_policy_requirement *r = &policy->requirements[i];
        size_t len = strlen(r->name);
        MUST(len >= 1 && len <= CS_POLICY_MAX_NAME &&
             strspn(r->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop"
                             "qrstuvwxyz0123456789._-") == len);
        for (size_t k = 0; k < i; k++)
            MUST(strcmp(r->name, policy->requirements[k].name) != 0);
        check_conditions(r);
        check_files(r);
        base = base || r->tests.not_fewer_than_base;
        rev = rev || r->bind_count > 0;
    }
    MUST(policy->needs_base == base && policy->needs_rev == rev);
}

/* A line for each rule of each requirement, at least, and nothing else. */
static void check_words(const cs_policy *policy) {
    size_t lines = 0;
    cs_error err = CS_ERROR_INIT;
    CS_AUTO_BUF words = CS_BUF_INIT(MAX_WORDS);
    MUST(cs_policy_explain(policy, &words, &err) == CS_OK);
    MUST(words.len > 0 && words.ptr[words.len - 1] == '\n' && fuzz_printable(cs_buf_view(&words), true));
    for (cs_view rest = cs_buf_view(&words); rest.len > 0; lines++) {
        const uint8_t *newline = memchr(rest.ptr, '\n', rest.len);
        size_t len = (size_t)(newline - rest.ptr);
        MUST(cs_view_equal(cs_view_bytes(rest.ptr, len < 8 ? len : 8), cs_view_of("policy: ")) ||
             cs_view_equal(cs_view_bytes(rest.ptr, len < 12 ? len : 12), cs_view_of("requirement ")));
        rest = cs_view_bytes(newline + 1, rest.len - len - 1);
    }
    MUST(lines >= policy->requirement_count * 18 + policy->trust.count + 5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static cs_policy policy;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_policy_parse(cs_view_bytes(data, size), &policy, &err);
    if (result == CS_OK) {
        check_taken(&policy);
        check_words(&policy);
        cs_policy_free(&policy);
        return 0;
    }
    MUST(policy.memory == NULL && policy.requirement_count == 0 && policy.trust.count == 0);
    fuzz_refusal(result, &err);
    MUST(err.code == CS_CODE_POLICY_MALFORMED || err.code == CS_CODE_POLICY_CONTRADICTS ||
         err.code == CS_CODE_POLICY_EMPTY || err.code == CS_CODE_TRUST_MALFORMED ||
         err.code == CS_CODE_TRUST_CONTRADICTS || err.code == CS_CODE_KEY_MALFORMED || err.code == CS_CODE_KEY_WEAK);
    return 0;
}
