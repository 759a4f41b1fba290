/* Trust files: what is taken is within its bounds, and written again in one form it reads as the same. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "harness/key_internal.h"
#include "records/text.h"
#include "records/time.h"
#include "tests/fuzz/fuzz.h"
#include "verify/trust.h"

static void put_time(json_t *object, const char *name, int64_t ms, int64_t none) {
    char text[40];
    if (ms == none) return;
    cs_time_format(ms, text, sizeof text);
    MUST(json_object_set_new(object, name, json_string(text)) == 0);
}

static json_t *key_json(const cs_trusted_key *key) {
    cs_buf pem = CS_BUF_INIT(CS_MAX_KEY_FILE);
    json_t *object = json_object();
    MUST(cs_key_public_pem(&key->key, &pem));
    MUST(json_object_set_new(object, "key", json_stringn((const char *)pem.ptr, pem.len)) == 0);
    if (key->label[0] != '\0') MUST(json_object_set_new(object, "label", json_string(key->label)) == 0);
    put_time(object, "not_before", key->not_before_ms, INT64_MIN);
    put_time(object, "not_after", key->not_after_ms, INT64_MAX);
    cs_buf_free(&pem);
    return object;
}

static void check_key(const cs_trusted_key *key) {
    size_t len = strlen(key->label);
    MUST(len <= CS_MAX_KEY_LABEL && cs_utf8_valid(cs_view_of(key->label)));
    for (size_t i = 0; i < len; i++)
        MUST((uint8_t)key->label[i] >= 0x20 && key->label[i] != 0x7f);
    MUST(key->not_before_ms <= key->not_after_ms);
    MUST(key->not_before_ms == INT64_MIN || key->not_before_ms >= 0);
    MUST(key->not_after_ms == INT64_MAX || key->not_after_ms >= 0);
}

static void check_taken(const cs_trust *trust) {
    static cs_trust again;
    cs_error err = CS_ERROR_INIT;
    json_t *keys = json_array();
    MUST(trust->count > 0 && trust->count <= CS_MAX_TRUSTED_KEYS);
    for (size_t i = 0; i < trust->count; i++) {
        check_key(&trust->keys[i]);
        MUST(json_array_append_new(keys, key_json(&trust->keys[i])) == 0);
    }
    json_t *file = json_pack("{s:i, s:o}", "version", 1, "keys", keys);
    char *text = json_dumps(file, 0);
    MUST(text != NULL);
    again = (cs_trust){.count = 0};
    MUST(cs_trust_parse(cs_view_of(text), &again, &err) == CS_OK && again.count == trust->count);
    for (size_t i = 0; i < trust->count; i++) {
        const cs_trusted_key *a = &trust->keys[i];
        const cs_trusted_key *b = &again.keys[i];
        MUST(strcmp(a->key.id, b->key.id) == 0 && strcmp(a->label, b->label) == 0);
        MUST(a->not_before_ms == b->not_before_ms && a->not_after_ms == b->not_after_ms);
    }
    free(text);
    json_decref(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static cs_trust trust;
    trust = (cs_trust){.count = 0};
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_trust_parse(cs_view_bytes(data, size), &trust, &err);
    if (result == CS_OK) {
        check_taken(&trust);
        return 0;
    }
    fuzz_refusal(result, &err);
    MUST(err.code == CS_CODE_TRUST_MALFORMED || err.code == CS_CODE_TRUST_CONTRADICTS ||
         err.code == CS_CODE_KEY_MALFORMED || err.code == CS_CODE_KEY_WEAK);
    return 0;
}
