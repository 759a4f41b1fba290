/* Memory runs out while a trust file or expected digests are read: they could not be read, and nothing of them is
 * used. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "tests/alloc/failing.h"
#include "tests/support/forge.h"
#include "verify/expect.h"
#include "verify/seen.h"
#include "verify/trust.h"

/* The public key of RFC 8032, section 7.1, test 1. */
#define PEM                                                                                                            \
    "-----BEGIN PUBLIC KEY-----\\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\\n"                     \
    "-----END PUBLIC KEY-----\\n"
#define TRUST_FILE                                                                                                     \
    "{\"version\":1,\"keys\":[{\"key\":\"" PEM "\",\"label\":\"ci\",\"not_before\":\"2026-01-01T00:00:00Z\"}]}"

static cs_result load_trust(void *user, cs_error *err) {
    cs_trust trust = {.count = 0};
    failing_begin();
    cs_result result = cs_trust_load(user, &trust, err);
    failing_end();
    if (result == CS_OK) cr_assert_str_eq(trust.keys[0].label, "ci");
    return result;
}

Test(alloc_trust, a_trust_file) {
    char path[64];
    forge_write(TRUST_FILE, strlen(TRUST_FILE), path);
    failing_walk(load_trust, path, FAILING_UNCHECKED);
    (void)unlink(path);
}

static cs_result load_expected(void *user, cs_error *err) {
    cs_expect *expect = NULL;
    failing_begin();
    cs_result result = cs_expect_load(user, &expect, err);
    failing_end();
    if (result == CS_OK)
        cr_assert_eq(cs_expect_total(expect), 2);
    else
        cr_assert_eq(err->code, CS_CODE_NO_MEMORY);
    cr_assert_eq(expect != NULL, result == CS_OK);
    cs_expect_free(expect);
    return result;
}

Test(alloc_trust, expected_digests) {
    char path[64];
    char *text = forge_text("%s\n%s\n", forge_sha256("1", 1), forge_sha256("2", 1));
    forge_write(text, strlen(text), path);
    failing_walk(load_expected, path, FAILING_UNCHECKED);
    (void)unlink(path);
}

static cs_result see(void *user, cs_error *err) {
    cs_seen *seen = NULL;
    bool before = true;
    failing_begin();
    cs_result result = cs_seen_open(&seen, err);
    if (result == CS_OK) result = cs_seen_add(seen, user, &before, err);
    cs_seen_close(seen);
    failing_end();
    cr_assert_not(result == CS_OK && before);
    return result;
}

Test(alloc_trust, records_over_several_inputs) {
    cs_digest digest;
    memcpy(digest.hex, forge_sha256("1", 1), sizeof digest.hex);
    failing_walk(see, &digest, FAILING_UNCHECKED);
}
