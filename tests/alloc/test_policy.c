/* Memory runs out while the policy of a gate is read or put into words: nothing of it is used. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gate/policy.h"
#include "tests/alloc/failing.h"
#include "tests/support/forge.h"
#include "tests/support/policy_case.h"

static cs_result load(void *user, cs_error *err) {
    cs_policy policy;
    failing_begin();
    cs_result result = cs_policy_load(user, &policy, err);
    failing_end();
    if (result == CS_OK)
        cr_assert_eq(policy.requirement_count, 6);
    else
        cr_assert(policy.memory == NULL && policy.requirement_count == 0 && policy.trust.count == 0);
    cs_policy_free(&policy);
    return result;
}

Test(alloc_policy, a_policy) {
    char path[64];
    char *text = policy_case_text(NULL);
    forge_write(text, strlen(text), path);
    failing_walk(load, path, FAILING_UNCHECKED);
    (void)unlink(path);
    free(text);
}

static cs_result explain(void *user, cs_error *err) {
    CS_AUTO_BUF words = CS_BUF_INIT((size_t)1024 * 1024);
    failing_begin();
    cs_result result = cs_policy_explain(user, &words, err);
    failing_end();
    if (result == CS_OK)
        cr_assert(words.len > 0 && words.ptr[words.len - 1] == '\n');
    else
        cr_assert_eq(err->code, CS_CODE_NO_MEMORY);
    return result;
}

Test(alloc_policy, its_words) {
    cs_policy policy;
    cs_error err = CS_ERROR_INIT;
    char *text = policy_case_text(NULL);
    cr_assert_eq(cs_policy_parse(cs_view_of(text), &policy, &err), CS_OK, "%s", err.message);
    failing_walk(explain, &policy, FAILING_UNCHECKED);
    cs_policy_free(&policy);
    free(text);
}
