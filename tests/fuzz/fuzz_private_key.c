/* PEM private keys: a key that is taken is written in one form, and that form reads as the same key. */
#include <string.h>

#include "harness/key_internal.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cs_key *key = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_key_parse(cs_view_bytes(data, size), &key, &err);
    MUST((result == CS_OK) == (key != NULL));
    if (key == NULL) {
        fuzz_refusal(result, &err);
        MUST(err.code == CS_CODE_KEY_MALFORMED);
        return 0;
    }
    cs_buf pem = {0};
    cs_key *again = NULL;
    MUST(cs_key_secret_new(CS_MAX_KEY_FILE, &pem) && cs_key_private_pem(key, &pem));
    MUST(cs_key_parse(cs_buf_view(&pem), &again, &err) == CS_OK);
    MUST(memcmp(cs_key_seed(key), cs_key_seed(again), CS_KEY_SEED_BYTES) == 0);
    MUST(strcmp(cs_key_public(key)->id, cs_key_public(again)->id) == 0);
    cs_key_secret_free(&pem);
    cs_key_free(again);
    cs_key_free(key);
    return 0;
}
