/* Records over several inputs. */
#include "verify/seen.h"

#include "tests/support/expect.h"
#include "tests/support/forge.h"

static cs_digest digest_of(unsigned number) {
    cs_digest digest;
    memcpy(digest.hex, forge_sha256(&number, sizeof number), sizeof digest.hex);
    return digest;
}

Test(seen, each_record_is_new_once) {
    enum { MANY = 1000 };
    cs_error err = CS_ERROR_INIT;
    cs_seen *seen = NULL;
    EXPECT_OK(cs_seen_open(&seen, &err), err);
    for (unsigned i = 0; i < 2 * MANY; i++) {
        cs_digest digest = digest_of(i % MANY);
        bool before = i < MANY;
        EXPECT_OK(cs_seen_add(seen, &digest, &before, &err), err);
        cr_assert_eq(before, i >= MANY, "%u", i);
    }
    cs_seen_close(seen);
    cs_seen_close(NULL);
}

Test(seen, a_record_is_named_by_its_digest) {
    cs_error err = CS_ERROR_INIT;
    cs_seen *seen = NULL;
    EXPECT_OK(cs_seen_open(&seen, &err), err);
    cs_digest digest = digest_of(1);
    bool before = true;
    EXPECT_OK(cs_seen_add(seen, &digest, &before, &err), err);
    digest.hex[5] = 'x';
    EXPECT_CODE(cs_seen_add(seen, &digest, &before, &err), err, CS_UNCHECKED, CS_CODE_INTERNAL);
    cs_seen_close(seen);
}
