/* Seeds of the small files that somebody writes or keeps, and of the texts in them: keys, trust, expectations, baselines. */
#include <stdlib.h>

#include "harness/key_internal.h"
#include "tests/fuzz/seeds.h"
#include "tests/support/forge.h"

static void put_keys(void) {
    uint8_t seed[CS_KEY_SEED_BYTES] = {1, 2, 3};
    cs_key *key = NULL;
    cs_buf secret = {0};
    CS_AUTO_BUF pem = CS_BUF_INIT(CS_MAX_KEY_FILE);
    if (cs_key_from_seed(seed, &key, NULL) != CS_OK || !cs_key_secret_new(CS_MAX_KEY_FILE, &secret) ||
        !cs_key_private_pem(key, &secret) || !cs_key_public_pem(cs_key_public(key), &pem))
        abort();
    const char *targets[] = {"private_key", "public_key"};
    for (int i = 0; i < 2; i++) {
        put_seed(targets[i], cs_view_of(""), cs_buf_view(&secret));
        put_seed(targets[i], cs_view_of(""), cs_buf_view(&pem));
        put_seed(targets[i], cs_view_of("\r\n "), cs_buf_view(i == 0 ? &secret : &pem));
    }
    cs_key_secret_free(&secret);
    cs_key_free(key);
}

#define PEM "-----BEGIN PUBLIC KEY-----\\n%s\\n-----END PUBLIC KEY-----\\n"
/* Of RFC 8032, section 7.1. */
#define KEY_1 "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
#define KEY_2 "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="

static void put_trust(void) {
    static const char *const members[] = {
        "", ",\"label\":\"ci \\u00e9\"", ",\"not_before\":\"2026-02-28T23:59:59.9Z\"",
        ",\"label\":\"a\",\"not_before\":\"1970-01-01T00:00:00Z\",\"not_after\":\"9999-12-31T23:59:59.999Z\""};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        put_text_seed("trust", forge_text("{\"version\":1,\"keys\":[{\"key\":\"" PEM "\"%s}]}", KEY_1, members[i]));
        put_text_seed("trust", forge_text("{\"version\":1,\"keys\":[{\"key\":\"" PEM "\"},{\"key\":\"" PEM "\"%s}]}",
                                     KEY_1, KEY_2, members[i]));
    }
}

static void put_expected(void) {
    const char *one = forge_sha256("1", 1);
    const char *two = forge_sha256("2", 1);
    put_text_seed("expect", forge_text("%s\n", one));
    put_text_seed("expect", forge_text("# a\n%s\n\n# b\n%s\n%s\n", two, one, two));
}

static void put_small(void) {
    static const char *const urls[] = {
        "\x01http://127.0.0.1:8746", "\x01http://LOCALHOST/a/b/", "\x02https://h.example:443/p",
        "\x01http://[::1]:80/",      "\x01http://0x7f.1/",        "\x01http://user@h/",
    };
    static const char *const texts[] = {"(plain", ")a\\b\n\x1b[31m\xE2\x80\xAE\xFF",
                                        "\x07\xC3\xA9\xF0\x9F\x98\x80\xED\xA0\x80"};
    static const char *const numbers[] = {"0", "-0", "1.5e-7", "18446744073709551615", "1e400", "0.1", "12345678"};
    static const char *const codes[] = {"", "Zg==", "Zm8=", "Zm9v", "_-8", "Zm9vYg"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++)
        put_text_seed("url", urls[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_text_seed("escape", texts[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put_text_seed("number", numbers[i]);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        put_text_seed("base64", codes[i]);
}

static const char *baseline_of(const char *policy, const char *keys) {
    return forge_text("{\"state\":{\n\"daemon\":\"http://127.0.0.1:1\",\n\"provider\":\"process\",\n\"policy\":\"%s\",\n"
                      "\"environment\":\"\",\n\"daemon-start\":\"unknown\",\n\"host-boot\":\"unknown\",\n"
                      "\"depth\":\"host\"},\n\"keys\":{%s}}",
                      policy, keys);
}

static void put_baseline(void) {
    static const char head[] = "{\"format\":\"countersign.tier-baseline.v1\",\"baselines\":[\n";
    const char *one = baseline_of("p", "\n\"a\":\"\",\n\"b_1.c-d\":\"\\b\\u001f\xC3\xA9\"");
    put_text_seed("baseline", forge_text("%s%s]}\n", head, one));
    put_text_seed("baseline", forge_text("%s%s,\n%s]}\n", head, one, baseline_of("q\\u003c\\\"\\\\", "")));
    put_text_seed("baseline", forge_text("%s%s]}\n", head, baseline_of("p", "\n\"b\":\"1\",\n\"a\":\"2\"")));
}

void seeds_of_files(void) {
    put_keys();
    put_trust();
    put_expected();
    put_small();
    put_baseline();
}
