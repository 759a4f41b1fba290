/* PEM public keys: a key that is taken is written in one form, and that form reads as the same key. */
#include <string.h>

#include "harness/key_internal.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cs_public_key key;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_public_key_parse(cs_view_bytes(data, size), &key, &err);
    if (result != CS_OK) {
        fuzz_refusal(result, &err);
        MUST(err.code == CS_CODE_KEY_MALFORMED || err.code == CS_CODE_KEY_WEAK);
        return 0;
    }
    cs_buf pem = CS_BUF_INIT(CS_MAX_KEY_FILE);
    cs_public_key again;
    MUST(cs_key_public_pem(&key, &pem));
    MUST(cs_public_key_parse(cs_buf_view(&pem), &again, &err) == CS_OK);
    MUST(memcmp(key.bytes, again.bytes, sizeof key.bytes) == 0 && strcmp(key.id, again.id) == 0);
    cs_buf_free(&pem);
    return 0;
}
