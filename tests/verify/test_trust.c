/* Trust files, and the windows of keys. */
#include "verify/trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/support/expect.h"
#include "tests/support/forge.h"

/* Two published keys, as they stand in a JSON string, and their ids. */
#define PEM(body) "-----BEGIN PUBLIC KEY-----\\n" body "\\n-----END PUBLIC KEY-----\\n"
#define KEY_A PEM("MCowBQYDK2VwAyEAk81UqfxHycnofXBARJpj9f6LDzmzMah+kWQl5oAtANk=")
#define ID_A "84338813b9ce78aa6c11cf59c1b5ef11f73971080b04c256a226fdded0afac50"
/* RFC 8032, section 7.1, tests 1 and 2. */
#define KEY_B PEM("MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
#define KEY_C PEM("MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=")
/* The point of order 1. */
#define KEY_WEAK PEM("MCowBQYDK2VwAyEAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")

#define FILE_OF(keys) "{\"version\":1,\"keys\":[" keys "]}"
#define ONE(more) FILE_OF("{\"key\":\"" KEY_A "\"" more "}")

static cs_trust trust;
static cs_error err;

static cs_code parse(const char *text) {
    trust = (cs_trust){.count = 0};
    err = CS_ERROR_INIT;
    cs_result result = cs_trust_parse(cs_view_of(text), &trust, &err);
    if (result == CS_OK) return CS_CODE_OK;
    cr_expect_eq(result, CS_UNCHECKED, "%s: class %d", text, (int)result);
    return err.code;
}

#define EXPECT_READ(text) cr_expect_eq(parse(text), CS_CODE_OK, "%s: %s (%s)", (text), err.message, err.where)
#define EXPECT_MALFORMED(text) cr_expect_eq(parse(text), CS_CODE_TRUST_MALFORMED, "%s", (text))

Test(trust, a_file_with_everything) {
    EXPECT_READ(FILE_OF("{\"key\":\"" KEY_A "\",\"label\":\"ci 2026\",\"not_before\":\"2026-01-01T00:00:00Z\","
                        "\"not_after\":\"2026-12-31T23:59:59.999Z\"},{\"key\":\"" KEY_B "\"}"));
    cr_assert_eq(trust.count, 2);
    cr_expect_str_eq(trust.keys[0].key.id, ID_A);
    cr_expect_str_eq(trust.keys[0].label, "ci 2026");
    cr_expect_eq(trust.keys[0].not_before_ms, INT64_C(1767225600000));
    cr_expect_eq(trust.keys[0].not_after_ms, INT64_C(1798761599999));
    cr_expect_str_eq(trust.keys[1].label, "");
    cr_expect_eq(trust.keys[1].not_before_ms, INT64_MIN);
    cr_expect_eq(trust.keys[1].not_after_ms, INT64_MAX);
}

Test(trust, white_space_and_order_do_not_matter) {
    EXPECT_READ(" {\n \"keys\" : [ { \"label\" : \"a\", \"key\" : \"" KEY_A "\" } ],\n \"version\" : 1 }\n");
    cr_expect_eq(trust.count, 1);
}

Test(trust, the_file_has_its_members_and_no_others) {
    EXPECT_READ(ONE(""));
    EXPECT_MALFORMED("{\"keys\":[{\"key\":\"" KEY_A "\"}]}");
    EXPECT_MALFORMED("{\"version\":2,\"keys\":[{\"key\":\"" KEY_A "\"}]}");
    EXPECT_MALFORMED("{\"version\":\"1\",\"keys\":[{\"key\":\"" KEY_A "\"}]}");
    EXPECT_MALFORMED("{\"version\":1.0,\"keys\":[{\"key\":\"" KEY_A "\"}]}");
    EXPECT_MALFORMED("{\"version\":1}");
    EXPECT_MALFORMED("{\"version\":1,\"keys\":[]}");
    EXPECT_MALFORMED("{\"version\":1,\"keys\":{\"key\":\"" KEY_A "\"}}");
    EXPECT_MALFORMED("{\"version\":1,\"keys\":[{\"key\":\"" KEY_A "\"}],\"more\":1}");
    EXPECT_MALFORMED("{\"version\":1,\"version\":1,\"keys\":[{\"key\":\"" KEY_A "\"}]}");
    EXPECT_MALFORMED("[{\"key\":\"" KEY_A "\"}]");
    EXPECT_MALFORMED("\"" KEY_A "\"");
    EXPECT_MALFORMED(ONE("") "x");
    EXPECT_MALFORMED(ONE("") ONE(""));
    EXPECT_MALFORMED("");
    EXPECT_MALFORMED("-----BEGIN PUBLIC KEY-----\n");
}

Test(trust, a_key_has_its_members_and_no_others) {
    EXPECT_READ(ONE(",\"label\":\"a\""));
    EXPECT_MALFORMED(ONE(",\"Label\":\"a\""));
    EXPECT_WHERE(err, "keys[0]");
    cr_expect_str_eq(err.found, "Label");
    cr_expect_str_eq(err.expected, "key, label, not_before, not_after");
    EXPECT_MALFORMED(ONE(",\"label\":\"a\",\"label\":\"a\""));
    EXPECT_MALFORMED(ONE(",\"label\":null"));
    EXPECT_MALFORMED(ONE(",\"not_before\":null"));
    EXPECT_MALFORMED(ONE(",\"not_before\":1767225600"));
    EXPECT_MALFORMED(FILE_OF("{\"label\":\"a\"}"));
    EXPECT_MALFORMED(FILE_OF("{\"key\":1}"));
    EXPECT_MALFORMED(FILE_OF("\"" KEY_A "\""));
    EXPECT_MALFORMED(FILE_OF("null"));
}

Test(trust, a_failure_names_the_key_by_its_place_and_label) {
    EXPECT_MALFORMED(FILE_OF("{\"key\":\"" KEY_B "\"},{\"key\":\"" KEY_A
                             "\",\"label\":\"ci 2026\",\"not_after\":\"2026-02-30T00:00:00Z\"}"));
    EXPECT_WHERE(err, "keys[1] (ci 2026)");
    cr_expect_str_eq(err.found, "2026-02-30T00:00:00Z");
    EXPECT_MALFORMED(FILE_OF("{\"key\":\"" KEY_A "\",\"label\":\"\\u001b[31m\"}"));
    EXPECT_WHERE(err, "keys[0] (\\x1b[31m)");
}

Test(trust, labels) {
    static const char *const refused[] = {"", "a\\nb", "\\u007f", "\\u0080", "a\\u009fb", "\\u0001", "a\\u0000b"};
    EXPECT_READ(ONE(",\"label\":\"caf\\u00e9 \\u00a0 \\ud83d\\ude00 \\\"x\\\"\""));
    cr_expect_str_eq(trust.keys[0].label, "caf\xC3\xA9 \xC2\xA0 \xF0\x9F\x98\x80 \"x\"");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        EXPECT_MALFORMED(forge_text(ONE(",\"label\":\"%s\""), refused[i]));
    EXPECT_MALFORMED(ONE(",\"label\":\"\xFF\""));
    EXPECT_READ(forge_text(ONE(",\"label\":\"%064d\""), 0));
    cr_expect_eq(strlen(trust.keys[0].label), 64);
    EXPECT_MALFORMED(forge_text(ONE(",\"label\":\"%065d\""), 0));
}

#define BEFORE(text) ONE(",\"not_before\":\"" text "\"")

Test(trust, moments_are_exact) {
    EXPECT_READ(BEFORE("2026-02-28T00:00:00Z"));
    EXPECT_MALFORMED(BEFORE("2026-02-29T00:00:00Z"));
    EXPECT_MALFORMED(BEFORE("2026-02-28T00:00:60Z"));
    EXPECT_MALFORMED(BEFORE("2026-02-28T00:00:00+00:00"));
    EXPECT_MALFORMED(BEFORE("2026-02-28"));
    EXPECT_MALFORMED(BEFORE(""));
}

Test(trust, a_window_ends_after_it_begins) {
    EXPECT_READ(ONE(",\"not_before\":\"2026-01-01T00:00:00Z\",\"not_after\":\"2026-01-01T00:00:00Z\""));
    EXPECT_MALFORMED(ONE(",\"not_before\":\"2026-01-01T00:00:00Z\",\"not_after\":\"2025-12-31T23:59:59.999Z\""));
}

Test(trust, the_key_itself_must_be_good) {
    EXPECT_READ(FILE_OF("{\"key\":\"" KEY_B "\"}"));
    cr_expect_eq(parse(FILE_OF("{\"key\":\"" KEY_WEAK "\"}")), CS_CODE_KEY_WEAK);
    EXPECT_WHERE(err, "keys[0]");
    cr_expect_eq(parse(FILE_OF("{\"key\":\"" KEY_B KEY_A "\"}")), CS_CODE_KEY_MALFORMED);
    cr_expect_eq(parse(FILE_OF("{\"key\":\"\"}")), CS_CODE_KEY_MALFORMED);
    /* A weak key is not passed over for the good one beside it. */
    cr_expect_eq(parse(FILE_OF("{\"key\":\"" KEY_A "\"},{\"key\":\"" KEY_WEAK "\"}")), CS_CODE_KEY_WEAK);
    EXPECT_WHERE(err, "keys[1]");
}

#define WINDOW ",\"not_before\":\"2026-01-01T00:00:00Z\",\"not_after\":\"2026-12-31T00:00:00Z\""
#define KEY_IN(key, more) "{\"key\":\"" key "\"" more "}"

Test(trust, the_same_key_with_the_same_window_counts_once) {
    EXPECT_READ(
        FILE_OF(KEY_IN(KEY_A, WINDOW ",\"label\":\"first\"") "," KEY_IN(KEY_A, WINDOW ",\"label\":\"second\"")));
    cr_assert_eq(trust.count, 1);
    cr_expect_str_eq(trust.keys[0].label, "first");
    /* The same moment, written otherwise. */
    EXPECT_READ(FILE_OF(KEY_IN(KEY_A, ",\"not_before\":\"2026-01-01T00:00:00Z\"") "," KEY_IN(
        KEY_A, ",\"not_before\":\"2026-01-01T00:00:00.0Z\"")));
    cr_expect_eq(trust.count, 1);
}

Test(trust, the_same_key_with_another_window_contradicts) {
    EXPECT_READ(FILE_OF(KEY_IN(KEY_A, WINDOW) "," KEY_IN(KEY_A, WINDOW)));
    cr_expect_eq(parse(FILE_OF(KEY_IN(KEY_A, WINDOW) "," KEY_IN(KEY_A, ""))), CS_CODE_TRUST_CONTRADICTS);
    EXPECT_WHERE(err, "keys[1]");
    cr_expect_str_eq(err.expected, "from 2026-01-01T00:00:00.000Z to 2026-12-31T00:00:00.000Z");
    cr_expect_str_eq(err.found, "from any time to any time");
    cr_expect_eq(parse(FILE_OF(KEY_IN(KEY_A, "") "," KEY_IN(KEY_A, WINDOW))), CS_CODE_TRUST_CONTRADICTS);
    cr_expect_eq(parse(FILE_OF(KEY_IN(KEY_A, WINDOW) "," KEY_IN(KEY_A, ",\"not_before\":\"2026-01-01T00:00:00Z\""))),
                 CS_CODE_TRUST_CONTRADICTS);
    EXPECT_READ(FILE_OF(KEY_IN(KEY_A, WINDOW) "," KEY_IN(KEY_B, "")));
}

Test(trust, a_key_named_by_itself_contradicts_a_window) {
    cs_public_key key;
    cs_public_key other;
    EXPECT_READ(FILE_OF(KEY_IN(KEY_B, "")));
    other = trust.keys[0].key;
    EXPECT_READ(FILE_OF(KEY_IN(KEY_A, "")));
    key = trust.keys[0].key;
    EXPECT_OK(cs_trust_add(&trust, &key, &err), err);
    cr_expect_eq(trust.count, 1);
    EXPECT_READ(FILE_OF(KEY_IN(KEY_A, WINDOW)));
    EXPECT_CODE(cs_trust_add(&trust, &key, &err), err, CS_UNCHECKED, CS_CODE_TRUST_CONTRADICTS);
    EXPECT_OK(cs_trust_add(&trust, &other, &err), err);
    cr_expect_eq(trust.count, 2);
    /* And the other way round. */
    trust = (cs_trust){.count = 0};
    EXPECT_OK(cs_trust_add(&trust, &key, &err), err);
    EXPECT_CODE(cs_trust_parse(cs_view_of(FILE_OF(KEY_IN(KEY_A, WINDOW))), &trust, &err), err, CS_UNCHECKED,
                CS_CODE_TRUST_CONTRADICTS);
}

Test(trust, files_add_up) {
    EXPECT_READ(FILE_OF(KEY_IN(KEY_A, WINDOW)));
    EXPECT_OK(cs_trust_parse(cs_view_of(FILE_OF(KEY_IN(KEY_B, ""))), &trust, &err), err);
    EXPECT_OK(cs_trust_parse(cs_view_of(FILE_OF(KEY_IN(KEY_A, WINDOW) "," KEY_IN(KEY_C, ""))), &trust, &err), err);
    cr_expect_eq(trust.count, 3);
}

/* `count` times this key. */
static char *many(size_t count) {
    char *keys = forge_text("%s", KEY_IN(KEY_A, ""));
    for (size_t i = 1; i < count; i++)
        keys = forge_text("%s,%s", keys, KEY_IN(KEY_A, ""));
    return forge_text("{\"version\":1,\"keys\":[%s]}", keys);
}

Test(trust, the_number_of_keys_is_bounded) {
    EXPECT_READ(many(CS_MAX_TRUSTED_KEYS));
    EXPECT_MALFORMED(many(CS_MAX_TRUSTED_KEYS + 1));
    cr_expect_not_null(strstr(err.message, "names 65 keys"));
    /* All files together, too. */
    EXPECT_READ(FILE_OF(KEY_IN(KEY_A, "")));
    for (size_t i = 1; i < CS_MAX_TRUSTED_KEYS; i++) {
        forge_key made = forge_key_from((uint8_t)i);
        cs_public_key key = {.id = ""};
        memcpy(key.bytes, made.public_key, sizeof key.bytes);
        memcpy(key.id, made.id, sizeof key.id);
        EXPECT_OK(cs_trust_add(&trust, &key, &err), err);
    }
    EXPECT_OK(cs_trust_parse(cs_view_of(FILE_OF(KEY_IN(KEY_A, ""))), &trust, &err), err);
    EXPECT_CODE(cs_trust_parse(cs_view_of(FILE_OF(KEY_IN(KEY_B, ""))), &trust, &err), err, CS_USAGE, CS_CODE_USAGE);
}

Test(trust, files_are_read_up_to_their_limit) {
    char path[64];
    char *text = malloc(CS_MAX_TRUST_FILE + 1);
    cr_assert_not_null(text);
    memset(text, ' ', CS_MAX_TRUST_FILE + 1);
    memcpy(text, ONE(""), strlen(ONE("")));
    forge_write(text, CS_MAX_TRUST_FILE, path);
    trust = (cs_trust){.count = 0};
    EXPECT_OK(cs_trust_load(path, &trust, &err), err);
    cr_expect_eq(trust.count, 1);
    unlink(path);
    forge_write(text, CS_MAX_TRUST_FILE + 1, path);
    EXPECT_CODE(cs_trust_load(path, &trust, &err), err, CS_UNCHECKED, CS_CODE_TRUST_MALFORMED);
    EXPECT_WHERE(err, path);
    EXPECT_CODE(cs_trust_parse(cs_view_bytes(text, CS_MAX_TRUST_FILE + 1), &trust, &err), err, CS_UNCHECKED,
                CS_CODE_TRUST_MALFORMED);
    unlink(path);
    free(text);
    EXPECT_CODE(cs_trust_load("/nonexistent/trust.json", &trust, &err), err, CS_UNCHECKED, CS_CODE_KEY_UNREADABLE);
    EXPECT_WHERE(err, "/nonexistent/trust.json");
    EXPECT_CODE(cs_trust_load("/proc", &trust, &err), err, CS_UNCHECKED, CS_CODE_KEY_UNREADABLE);
}

/* ---- windows ---------------------------------------------------------------------------------------- */

static cs_code check(int64_t not_before, int64_t not_after, int64_t earliest, int64_t latest) {
    cs_trust one = {.count = 1, .keys[0] = {.label = "ci", .not_before_ms = not_before, .not_after_ms = not_after}};
    memset(one.keys[0].key.id, 'a', 64);
    const char *id = one.keys[0].key.id;
    err = CS_ERROR_INIT;
    cs_result result = cs_trust_check_time(&one, id, earliest, latest, &err);
    if (result == CS_OK) return CS_CODE_OK;
    cr_expect_eq(result, CS_FAILED);
    return err.code;
}

#define OUTSIDE CS_CODE_ENVELOPE_KEY_WINDOW

Test(trust_window, both_ends_are_in_it) {
    cr_expect_eq(check(1000, 2000, 1000, 1000), CS_CODE_OK);
    cr_expect_eq(check(1000, 2000, 999, 999), OUTSIDE);
    cr_expect_eq(check(1000, 2000, 2000, 2000), CS_CODE_OK);
    cr_expect_eq(check(1000, 2000, 2001, 2001), OUTSIDE);
}

Test(trust_window, one_moment_in_it_is_enough) {
    cr_expect_eq(check(1000, 2000, 500, 1000), CS_CODE_OK);
    cr_expect_eq(check(1000, 2000, 500, 999), OUTSIDE);
    cr_expect_eq(check(1000, 2000, 2000, 3000), CS_CODE_OK);
    cr_expect_eq(check(1000, 2000, 2001, 3000), OUTSIDE);
    cr_expect_eq(check(1000, 2000, 0, 9000), CS_CODE_OK);
}

Test(trust_window, what_is_not_known_does_not_count_against_it) {
    cr_expect_eq(check(1000, 2000, INT64_MIN, INT64_MAX), CS_CODE_OK);
    cr_expect_eq(check(1000, 2000, INT64_MIN, 1000), CS_CODE_OK);
    cr_expect_eq(check(1000, 2000, INT64_MIN, 999), OUTSIDE);
    cr_expect_eq(check(1000, 2000, 2000, INT64_MAX), CS_CODE_OK);
    cr_expect_eq(check(1000, 2000, 2001, INT64_MAX), OUTSIDE);
    cr_expect_str_eq(err.found, "from 1970-01-01T00:00:02.001Z to an unknown time");
}

Test(trust_window, a_window_may_be_open) {
    cr_expect_eq(check(INT64_MIN, INT64_MAX, 5, 5), CS_CODE_OK);
    cr_expect_eq(check(INT64_MIN, INT64_MAX, INT64_MAX, INT64_MAX), CS_CODE_OK);
    cr_expect_eq(check(INT64_MIN, INT64_MAX, 7, 5), CS_CODE_OK, "times that are reversed are a warning of their own");
    cr_expect_eq(check(INT64_MIN, 2000, -5, -5), CS_CODE_OK);
    cr_expect_eq(check(INT64_MIN, 2000, 2001, 2001), OUTSIDE);
    cr_expect_eq(check(1000, INT64_MAX, 1000, 1000), CS_CODE_OK);
    cr_expect_eq(check(1000, INT64_MAX, 999, 999), OUTSIDE);
}

Test(trust_window, the_failure_says_which_key_and_when) {
    cr_assert_eq(check(INT64_C(1767225600000), INT64_MAX, INT64_C(1767225599000), INT64_C(1767225599999)), OUTSIDE);
    cr_expect_not_null(strstr(err.message, "aaaaaaaa"));
    cr_expect_not_null(strstr(err.message, "(ci)"));
    cr_expect_str_eq(err.expected, "from 2026-01-01T00:00:00.000Z to any time");
    cr_expect_str_eq(err.found, "from 2025-12-31T23:59:59.000Z to 2025-12-31T23:59:59.999Z");
}

Test(trust_window, a_key_that_is_not_trusted_has_none) {
    cs_trust none = {.count = 0};
    EXPECT_CODE(cs_trust_check_time(&none, ID_A, 0, 0, &err), err, CS_FAILED, CS_CODE_ENVELOPE_KEY_UNKNOWN);
}

static cs_code check_run(int64_t started, int64_t ended) {
    cs_trust one = {.count = 1, .keys[0] = {.not_before_ms = 1000, .not_after_ms = 2000}};
    memset(one.keys[0].key.id, 'a', 64);
    const char *id = one.keys[0].key.id;
    err = CS_ERROR_INIT;
    return cs_trust_check_run(&one, id, started, ended, &err) == CS_OK ? CS_CODE_OK : err.code;
}

Test(trust_window, a_run_is_in_it_from_its_start_to_its_end) {
    cr_expect_eq(check_run(1000, 2000), CS_CODE_OK);
    cr_expect_eq(check_run(999, 2000), OUTSIDE);
    cr_expect_eq(check_run(1000, 2001), OUTSIDE);
    /* No time that a record states stands for one that is not known. */
    cr_expect_eq(check_run(INT64_MIN, 2000), OUTSIDE);
    cr_expect_eq(check_run(1000, INT64_MAX), OUTSIDE);
}

Test(trust, an_empty_file_is_said_to_be_empty) {
    cr_expect_eq(parse(""), CS_CODE_TRUST_MALFORMED);
    cr_expect_not_null(strstr(err.message, "is empty"), "%s", err.message);
    cr_expect_eq(parse(" "), CS_CODE_TRUST_MALFORMED);
    cr_expect_null(strstr(err.message, "is empty"), "%s", err.message);
}

Test(trust, a_key_is_bounded_by_either_end_of_its_window) {
    EXPECT_READ(ONE(""));
    cr_expect_not(cs_trust_is_bounded(&trust, ID_A));
    EXPECT_READ(ONE(",\"not_before\":\"2026-01-01T00:00:00Z\""));
    cr_expect(cs_trust_is_bounded(&trust, ID_A));
    EXPECT_READ(ONE(",\"not_after\":\"2026-01-01T00:00:00Z\""));
    cr_expect(cs_trust_is_bounded(&trust, ID_A));
    cr_expect_not(cs_trust_is_bounded(&trust, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"));
}
