/* Files of expected digests: as many are expected as lines hold one, and each can be seen as often as it stands there,
 * and no more. */
#include <string.h>

#include "records/text.h"
#include "tests/fuzz/fuzz.h"
#include "verify/expect.h"

/* Lines of 64 digits, counted apart. */
static uint64_t count_digests(cs_view text) {
    uint64_t count = 0;
    size_t begin = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '\n') continue;
        count += i > begin && text.ptr[begin] != '#';
        begin = i + 1;
    }
    MUST(begin == text.len);
    return count;
}

static void see_all(cs_expect *expect) {
    char before[CS_SHA256_HEX + 1] = "";
    for (uint64_t left = cs_expect_total(expect); left > 0; left--) {
        MUST(cs_expect_missing(expect) == left);
        MUST(cs_expect_missing_at(expect, left) == NULL && cs_expect_missing_at(expect, left - 1) != NULL);
        char digest[CS_SHA256_HEX + 1];
        const char *first = cs_expect_missing_at(expect, 0);
        MUST(first != NULL && strlen(first) == CS_SHA256_HEX && strcmp(before, first) <= 0);
        memcpy(digest, first, sizeof digest);
        MUST(cs_expect_see(expect, cs_view_of(digest)));
        memcpy(before, digest, sizeof before);
    }
    MUST(cs_expect_missing(expect) == 0 && cs_expect_missing_at(expect, 0) == NULL && cs_expect_surplus(expect) == 0);
    MUST(!cs_expect_see(expect, cs_view_of(before)) && cs_expect_surplus(expect) == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cs_expect *expect = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_view text = cs_view_bytes(data, size);
    cs_result result = cs_expect_parse(text, &expect, &err);
    if (result != CS_OK) {
        fuzz_refusal(result, &err);
        MUST(err.code == CS_CODE_EXPECT_MALFORMED && expect == NULL);
        return 0;
    }
    MUST(cs_expect_total(expect) > 0 && cs_expect_total(expect) == count_digests(text));
    see_all(expect);
    cs_expect_free(expect);
    return 0;
}
