#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/dsse.h"

#define KEYID "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
/* 64 bytes of 0, and the payload {"a":1}. */
#define SIG "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="
#define PAYLOAD "eyJhIjoxfQ=="
#define ENVELOPE(type, payload, keyid, sig)                                                                            \
    "{\"payloadType\":\"" type "\",\"payload\":\"" payload "\",\"signatures\":[{\"keyid\":\"" keyid                    \
    "\",\"sig\":\"" sig "\"}]}"
#define GOOD ENVELOPE(CS_PAYLOAD_TYPE, PAYLOAD, KEYID, SIG)

static const uint8_t zeros[CS_SIGNATURE_BYTES];

static void expect_refused(const char *json, size_t len, cs_code code) {
    cs_envelope envelope;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_envelope_decode(cs_view_bytes(json, len), &envelope, &err), CS_FAILED, "%.*s", (int)len, json);
    cr_expect_eq(err.code, code, "%.*s: %s", (int)len, json, cs_code_name(err.code));
    cr_expect_eq(envelope.payload.len, 0);
    cr_expect_null(envelope.payload.ptr);
}

static void expect_accepted(const char *json, size_t len) {
    cs_envelope envelope;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_envelope_decode(cs_view_bytes(json, len), &envelope, &err), CS_OK, "%s (%s)", err.message,
                 err.where);
    cr_expect(cs_view_is(cs_buf_view(&envelope.payload), "{\"a\":1}"));
    cr_expect_str_eq(envelope.keyid, KEYID);
    cr_expect_eq(memcmp(envelope.signature, zeros, sizeof zeros), 0);
    cs_envelope_free(&envelope);
}

/* The example of the DSSE protocol document. */
Test(dsse, pae) {
    cs_buf out = CS_BUF_INIT(256);
    cr_assert(cs_dsse_pae("http://example.com/HelloWorld", cs_view_of("hello world"), &out));
    cr_expect(cs_view_is(cs_buf_view(&out), "DSSEv1 29 http://example.com/HelloWorld 11 hello world"));
    cs_buf_free(&out);
}

Test(dsse, pae_keeps_every_byte_of_the_payload) {
    cs_buf out = CS_BUF_INIT(256);
    cr_assert(cs_dsse_pae("t", cs_view_bytes("\0 2", 3), &out));
    cr_expect(cs_view_equal(cs_buf_view(&out), cs_view_bytes("DSSEv1 1 t 3 \0 2", 16)));
    cs_buf_clear(&out);
    cr_assert(cs_dsse_pae("t", cs_view_of(""), &out));
    cr_expect(cs_view_is(cs_buf_view(&out), "DSSEv1 1 t 0 "));
    cs_buf_free(&out);
}

Test(dsse, encoded_as_expected) {
    cs_buf out = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES);
    cr_assert(cs_envelope_encode(cs_view_of("{\"a\":1}"), KEYID, zeros, &out));
    cr_expect(cs_view_is(cs_buf_view(&out), GOOD));
    expect_accepted(GOOD, strlen(GOOD));
    cs_buf_free(&out);
}

Test(dsse, what_could_not_be_decoded_is_not_encoded) {
    static uint8_t large[CS_MAX_STATEMENT_BYTES + 1];
    static const char no_keyid[65] = "ABC";
    cs_buf out = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES);
    cr_expect(cs_envelope_encode(cs_view_bytes(large, CS_MAX_STATEMENT_BYTES), KEYID, zeros, &out));
    cs_envelope envelope;
    cr_assert_eq(cs_envelope_decode(cs_buf_view(&out), &envelope, NULL), CS_OK);
    cr_expect_eq(envelope.payload.len, CS_MAX_STATEMENT_BYTES);
    cs_envelope_free(&envelope);
    cs_buf_clear(&out);
    cr_expect_not(cs_envelope_encode(cs_view_bytes(large, sizeof large), KEYID, zeros, &out));
    cr_expect_not(cs_envelope_encode(cs_view_of("{}"), no_keyid, zeros, &out));
    cr_expect_eq(out.len, 0);
    cs_buf_free(&out);
}

Test(dsse, every_twin_is_refused) {
    static const char *const malformed[] = {
        "",
        "{}",
        " " GOOD,
        GOOD "\n",
        GOOD GOOD,
        /* white space, order, a second signature, another member */
        "{\"payloadType\": \"" CS_PAYLOAD_TYPE "\",\"payload\":\"" PAYLOAD "\",\"signatures\":[{\"keyid\":\"" KEYID
        "\",\"sig\":\"" SIG "\"}]}",
        "{\"payload\":\"" PAYLOAD "\",\"payloadType\":\"" CS_PAYLOAD_TYPE "\",\"signatures\":[{\"keyid\":\"" KEYID
        "\",\"sig\":\"" SIG "\"}]}",
        "{\"payloadType\":\"" CS_PAYLOAD_TYPE "\",\"payload\":\"" PAYLOAD "\",\"signatures\":[{\"sig\":\"" SIG
        "\",\"keyid\":\"" KEYID "\"}]}",
        "{\"payloadType\":\"" CS_PAYLOAD_TYPE "\",\"payload\":\"" PAYLOAD "\",\"signatures\":[{\"keyid\":\"" KEYID
        "\",\"sig\":\"" SIG "\"},{\"keyid\":\"" KEYID "\",\"sig\":\"" SIG "\"}]}",
        "{\"payloadType\":\"" CS_PAYLOAD_TYPE "\",\"payload\":\"" PAYLOAD "\",\"signatures\":[]}",
        "{\"payloadType\":\"" CS_PAYLOAD_TYPE "\",\"payload\":\"" PAYLOAD "\",\"signatures\":[{\"keyid\":\"" KEYID
        "\",\"sig\":\"" SIG "\"}],\"x\":1}",
        "{\"payloadtype\":\"" CS_PAYLOAD_TYPE "\",\"payload\":\"" PAYLOAD "\",\"signatures\":[{\"keyid\":\"" KEYID
        "\",\"sig\":\"" SIG "\"}]}",
        /* base64: no padding, URL-safe, trailing bits, an escape, a newline */
        ENVELOPE(CS_PAYLOAD_TYPE, "eyJhIjoxfQ", KEYID, SIG),
        ENVELOPE(CS_PAYLOAD_TYPE, "__8=", KEYID, SIG),
        ENVELOPE(CS_PAYLOAD_TYPE, "eyJhIjoxfR==", KEYID, SIG),
        ENVELOPE(CS_PAYLOAD_TYPE, "eyJhIjoxf\\u0051==", KEYID, SIG),
        ENVELOPE(CS_PAYLOAD_TYPE, "eyJh\nIjoxfQ==", KEYID, SIG),
        /* key id: capitals, one digit less, one more, none */
        ENVELOPE(CS_PAYLOAD_TYPE, PAYLOAD, "00112233445566778899AABBCCDDEEFF00112233445566778899aabbccddeeff", SIG),
        ENVELOPE(CS_PAYLOAD_TYPE, PAYLOAD, "0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", SIG),
        ENVELOPE(CS_PAYLOAD_TYPE, PAYLOAD, "000112233445566778899aabbccddeeff00112233445566778899aabbccddeeff", SIG),
        ENVELOPE(CS_PAYLOAD_TYPE, PAYLOAD, "", SIG),
        /* signature: 63 bytes, 65 bytes, none */
        ENVELOPE(CS_PAYLOAD_TYPE, PAYLOAD, KEYID,
                 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        ENVELOPE(CS_PAYLOAD_TYPE, PAYLOAD, KEYID,
                 "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
        ENVELOPE(CS_PAYLOAD_TYPE, PAYLOAD, KEYID, ""),
    };
    expect_accepted(GOOD, strlen(GOOD));
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++)
        expect_refused(malformed[i], strlen(malformed[i]), CS_CODE_ENVELOPE_MALFORMED);
}

Test(dsse, another_payload_type) {
    static const char *const types[] = {
        ENVELOPE("application/vnd.in-toto+jso", PAYLOAD, KEYID, SIG),
        ENVELOPE("application/vnd.in-toto+json2", PAYLOAD, KEYID, SIG),
        ENVELOPE("application/vnd.in-toto\\u002bjson", PAYLOAD, KEYID, SIG),
        ENVELOPE("", PAYLOAD, KEYID, SIG),
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        expect_refused(types[i], strlen(types[i]), CS_CODE_ENVELOPE_TYPE);
}

Test(dsse, says_where) {
    cs_envelope envelope;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_envelope_decode(cs_view_of(GOOD "x"), &envelope, &err), CS_FAILED);
    char where[32];
    snprintf(where, sizeof where, "byte %zu", strlen(GOOD));
    cr_expect_str_eq(err.where, where);
}

/* Every cut and every changed byte is refused, or decodes to something else than before. */
Test(dsse, cuts_and_changes) {
    char text[] = GOOD;
    size_t len = strlen(text);
    for (size_t i = 0; i < len; i++)
        expect_refused(text, i, CS_CODE_ENVELOPE_MALFORMED);
    for (size_t i = 0; i < len; i++) {
        text[i] ^= 1;
        cs_envelope envelope;
        if (cs_envelope_decode(cs_view_bytes(text, len), &envelope, NULL) == CS_OK) {
            bool same = cs_view_is(cs_buf_view(&envelope.payload), "{\"a\":1}") && strcmp(envelope.keyid, KEYID) == 0 &&
                        memcmp(envelope.signature, zeros, sizeof zeros) == 0;
            cr_expect_not(same, "byte %zu", i);
            cs_envelope_free(&envelope);
        }
        text[i] ^= 1;
    }
}

Test(dsse, too_long) {
    size_t len = CS_MAX_ENVELOPE_BYTES + 1;
    char *text = malloc(len);
    cr_assert(text);
    memset(text, 'A', len);
    memcpy(text, GOOD, strlen(GOOD));
    expect_refused(text, len, CS_CODE_ENVELOPE_MALFORMED);
    free(text);
}
