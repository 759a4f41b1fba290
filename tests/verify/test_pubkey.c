#include <criterion/criterion.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/forge.h"
#include "verify/trust.h"

#define BEGIN "-----BEGIN PUBLIC KEY-----\n"
#define END "-----END PUBLIC KEY-----\n"
#define BODY "MCowBQYDK2VwAyEAk81UqfxHycnofXBARJpj9f6LDzmzMah+kWQl5oAtANk="
#define GOOD BEGIN BODY "\n" END

/* A published key and its id; the bytes are the base64 above without the 12 bytes in front. */
static const char good_hex[] = "93cd54a9fc47c9c9e87d7040449a63f5fe8b0f39b331a87e916425e6802d00d9";
static const char good_id[] = "84338813b9ce78aa6c11cf59c1b5ef11f73971080b04c256a226fdded0afac50";

static cs_code code_of(const char *pem, size_t len) {
    cs_public_key key;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_public_key_parse(cs_view_bytes(pem, len), &key, &err);
    if (result == CS_OK) return CS_CODE_OK;
    cr_expect_eq(result, CS_UNCHECKED);
    cr_expect_eq(key.id[0], '\0', "a refused key leaves something behind");
    return err.code;
}

#define CODE_OF(text) code_of(text, sizeof(text) - 1)

static char *pem_of(const uint8_t *der, size_t len) {
    return forge_text(BEGIN "%s\n" END, forge_base64(der, len));
}

static cs_code code_of_point(const char *hex) {
    uint8_t der[44] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
    cr_assert_eq(sodium_hex2bin(der + 12, 32, hex, 64, NULL, NULL, NULL), 0);
    char *pem = pem_of(der, sizeof der);
    return code_of(pem, strlen(pem));
}

Test(pubkey, a_published_key_is_read) {
    cs_public_key key;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_public_key_parse(cs_view_of(GOOD), &key, &err), CS_OK);
    char hex[65];
    sodium_bin2hex(hex, sizeof hex, key.bytes, sizeof key.bytes);
    cr_assert_str_eq(hex, good_hex);
    cr_assert_str_eq(key.id, good_id);
}

Test(pubkey, white_space_around_is_fine) {
    cr_assert_eq(CODE_OF("\n \t\r\n" GOOD "\n\r\n "), CS_CODE_OK);
    cr_assert_eq(CODE_OF(BEGIN BODY "\n-----END PUBLIC KEY-----"), CS_CODE_OK);
    cr_assert_eq(CODE_OF("-----BEGIN PUBLIC KEY-----\r\n" BODY "\r\n-----END PUBLIC KEY-----\r\n"), CS_CODE_OK);
}

Test(pubkey, anything_else_around_is_refused) {
    cr_assert_eq(CODE_OF(GOOD), CS_CODE_OK);
    cr_assert_eq(CODE_OF("x" GOOD), CS_CODE_KEY_MALFORMED);
    cr_assert_eq(CODE_OF("# my key\n" GOOD), CS_CODE_KEY_MALFORMED);
    cr_assert_eq(CODE_OF(GOOD "x"), CS_CODE_KEY_MALFORMED);
    cr_assert_eq(CODE_OF(GOOD GOOD), CS_CODE_KEY_MALFORMED);
    cr_assert_eq(CODE_OF(GOOD "\0"), CS_CODE_KEY_MALFORMED);
    cr_assert_eq(CODE_OF(BEGIN "Proc-Type: 4,CLEAR\n\n" BODY "\n" END), CS_CODE_KEY_MALFORMED);
    cr_assert_eq(CODE_OF(BEGIN BODY "\n"), CS_CODE_KEY_MALFORMED);
    cr_assert_eq(CODE_OF(BEGIN END), CS_CODE_KEY_MALFORMED);
    cr_assert_eq(CODE_OF(BODY), CS_CODE_KEY_MALFORMED);
    cr_assert_eq(CODE_OF(""), CS_CODE_KEY_MALFORMED);
    cr_assert_eq(CODE_OF(" \n"), CS_CODE_KEY_MALFORMED);
}

Test(pubkey, other_pem_blocks_are_refused) {
    cr_assert_eq(CODE_OF("-----BEGIN CERTIFICATE-----\n" BODY "\n-----END CERTIFICATE-----\n"), CS_CODE_KEY_MALFORMED);
    cr_assert_eq(CODE_OF("-----BEGIN PUBLIC KEY-----\n" BODY "\n-----END CERTIFICATE-----\n"), CS_CODE_KEY_MALFORMED);
    /* The private key of RFC 8410, section 10.3. */
    static const char private_key[] = "-----BEGIN PRIVATE KEY-----\n"
                                      "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n"
                                      "-----END PRIVATE KEY-----\n";
    cs_public_key key;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_public_key_parse(cs_view_of(private_key), &key, &err), CS_UNCHECKED);
    cr_assert_eq(err.code, CS_CODE_KEY_MALFORMED);
    cr_assert_not_null(strstr(err.message, "this is a private key"));
}

Test(pubkey, the_der_form_is_exact) {
    uint8_t der[45] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
    sodium_hex2bin(der + 12, 32, good_hex, 64, NULL, NULL, NULL);
    cr_assert_eq(code_of(pem_of(der, 44), strlen(pem_of(der, 44))), CS_CODE_OK);
    cr_assert_eq(code_of(pem_of(der, 43), strlen(pem_of(der, 43))), CS_CODE_KEY_MALFORMED);
    cr_assert_eq(code_of(pem_of(der, 45), strlen(pem_of(der, 45))), CS_CODE_KEY_MALFORMED);
    for (size_t i = 0; i < 12; i++) {
        der[i] ^= 1; /* der[8] makes it an X448 or Ed448 key, for one */
        cr_expect_eq(code_of(pem_of(der, 44), strlen(pem_of(der, 44))), CS_CODE_KEY_MALFORMED, "byte %zu", i);
        der[i] ^= 1;
    }
}

/* The points of small order: 1, 2, 4, 4, 8, 8, 8, 8, each in its one canonical form. */
static const char *const small_points[] = {
    "0100000000000000000000000000000000000000000000000000000000000000",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    NULL,
};

/* The same points in other forms: x = 0 with a sign, y = p for 0, y = p + 1 for 1. */
static const char *const small_points_otherwise[] = {
    "0100000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    NULL,
};

/* The good key plus each point of small order but the first. */
static const char *const mixed_keys[] = {
    "b8bc548a6eaf9a7a908ee89ffbe2609363cbf5e26a1667983d7e9aaa454bd59a",
    "83ed4df99ec89694c532d04f8c323a5077f8e42cb6ebe75b7f82c0b681076a55",
    "c0fe7fefdd8104e4daafab0bc7a2342521230d62a6f99fae871c33b475a201ec",
    "5a32ab5603b8363617828fbfbb659c0a0174f0c64cce57816e9bda197fd2ff26",
    "3543ab75915065856f711760041d9f6c9c340a1d95e99867c2816555bab42a65",
    "6a12b2066137696b3acd2fb073cdc5af88071bd3491418a4807d3f497ef895aa",
    "2d018010227efb1b255054f4385dcbdadedcf29d5906605178e3cc4b8a5dfe13",
    NULL,
};

static void expect_weak(const char *const points[]) {
    for (size_t i = 0; points[i] != NULL; i++)
        cr_expect_eq(code_of_point(points[i]), CS_CODE_KEY_WEAK, "%s", points[i]);
}

Test(pubkey, points_under_which_anyone_can_sign_are_weak) {
    cr_assert_eq(code_of_point(good_hex), CS_CODE_OK);
    expect_weak(small_points);
    expect_weak(small_points_otherwise);
}

Test(pubkey, points_outside_of_the_group_are_weak) {
    cr_assert_eq(code_of_point(good_hex), CS_CODE_OK);
    expect_weak(mixed_keys);
    /* y = 2 is on no point of the curve. */
    cr_assert_eq(code_of_point("0200000000000000000000000000000000000000000000000000000000000000"), CS_CODE_KEY_WEAK);
}

/* y from p to p + 18, the largest that 255 bits hold, with either sign: y - p would be the same point. */
Test(pubkey, points_that_are_not_reduced_are_weak) {
    cr_assert_eq(code_of_point(good_hex), CS_CODE_OK);
    for (unsigned y = 0xed; y <= 0xff; y++) {
        const char *ends[] = {"7f", "ff"};
        for (size_t i = 0; i < 2; i++) {
            char *hex = forge_text("%02xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff%s", y, ends[i]);
            cr_expect_eq(code_of_point(hex), CS_CODE_KEY_WEAK, "%s", hex);
        }
    }
}

static cs_code load(const char *path, cs_public_key *key) {
    cs_error err = CS_ERROR_INIT;
    if (cs_public_key_load(path, key, &err) == CS_OK) return CS_CODE_OK;
    cr_expect(strstr(err.where, path) != NULL, "the file is not named");
    return err.code;
}

Test(pubkey, files) {
    char path[64];
    cs_public_key key;
    forge_write(GOOD, strlen(GOOD), path);
    cr_assert_eq(load(path, &key), CS_CODE_OK);
    cr_assert_str_eq(key.id, good_id);
    unlink(path);
    cr_assert_eq(load("/nonexistent/key.pub", &key), CS_CODE_KEY_UNREADABLE);
    cr_assert_eq(load("/proc", &key), CS_CODE_KEY_UNREADABLE);

    /* White space up to the limit is read, and one more byte is not. */
    char big[CS_MAX_KEY_FILE + 1];
    memset(big, '\n', sizeof big);
    memcpy(big, GOOD, strlen(GOOD));
    forge_write(big, CS_MAX_KEY_FILE, path);
    cr_assert_eq(load(path, &key), CS_CODE_OK);
    unlink(path);
    forge_write(big, CS_MAX_KEY_FILE + 1, path);
    cr_assert_eq(load(path, &key), CS_CODE_KEY_MALFORMED);
    unlink(path);
}

static cs_public_key public_of(const forge_key *key) {
    cs_public_key out;
    memcpy(out.bytes, key->public_key, sizeof out.bytes);
    memcpy(out.id, key->id, sizeof out.id);
    return out;
}

Test(pubkey, the_same_key_counts_once_and_many_are_refused) {
    cs_trust trust = {.count = 0};
    cs_error err = CS_ERROR_INIT;
    for (size_t i = 0; i < CS_MAX_TRUSTED_KEYS; i++) {
        forge_key made = forge_key_from((uint8_t)i);
        cs_public_key key = public_of(&made);
        cr_assert_eq(cs_trust_add(&trust, &key, &err), CS_OK);
        cr_assert_eq(cs_trust_add(&trust, &key, &err), CS_OK);
        cr_assert_eq(trust.count, i + 1);
    }
    forge_key made = forge_key_from(200);
    cs_public_key key = public_of(&made);
    cr_assert_eq(cs_trust_add(&trust, &key, &err), CS_USAGE);
    cr_assert_eq(trust.count, CS_MAX_TRUSTED_KEYS);
}

/* ---- signatures ----------------------------------------------------------------------------------- */

#define STATEMENT "{\"a\":1}"
#define PAE "DSSEv1 28 application/vnd.in-toto+json 7 " STATEMENT

typedef struct signed_case {
    forge_key key;
    cs_trust trust;
    cs_envelope envelope;
} signed_case;

static signed_case sign_case(void) {
    signed_case out = {.key = forge_key_from(1)};
    out.trust.keys[0].key = public_of(&out.key);
    out.trust.count = 1;
    out.envelope.payload = CS_BUF_INIT(64);
    cr_assert(cs_buf_text(&out.envelope.payload, STATEMENT));
    memcpy(out.envelope.keyid, out.key.id, sizeof out.envelope.keyid);
    crypto_sign_detached(out.envelope.signature, NULL, (const uint8_t *)PAE, strlen(PAE), out.key.secret_key);
    return out;
}

static cs_code check(const signed_case *signing) {
    CS_AUTO_BUF scratch = CS_BUF_INIT(1024);
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_envelope_verify(&signing->envelope, &signing->trust, &scratch, &err);
    if (result == CS_OK) return CS_CODE_OK;
    cr_expect_eq(result, CS_FAILED);
    return err.code;
}

static void end_case(signed_case *signing) {
    cs_buf_free(&signing->envelope.payload);
}

Test(envelope_verify, a_good_signature_and_every_bit_of_it) {
    signed_case good = sign_case();
    cr_assert_eq(check(&good), CS_CODE_OK);
    for (size_t i = 0; i < CS_SIGNATURE_BYTES * 8; i++) {
        good.envelope.signature[i / 8] ^= (uint8_t)(1u << i % 8);
        cr_expect_eq(check(&good), CS_CODE_ENVELOPE_SIGNATURE, "bit %zu", i);
        good.envelope.signature[i / 8] ^= (uint8_t)(1u << i % 8);
    }
    good.envelope.payload.ptr[5] ^= 1;
    cr_assert_eq(check(&good), CS_CODE_ENVELOPE_SIGNATURE);
    end_case(&good);
}

Test(envelope_verify, the_key_id_chooses_among_the_trusted) {
    signed_case good = sign_case();
    forge_key other = forge_key_from(2);
    good.trust.keys[1] = good.trust.keys[0];
    good.trust.keys[0].key = public_of(&other);
    good.trust.count = 2;
    cr_assert_eq(check(&good), CS_CODE_OK);
    good.trust.count = 1;
    cr_assert_eq(check(&good), CS_CODE_ENVELOPE_KEY_UNKNOWN);
    good.trust.count = 2;
    memcpy(good.envelope.keyid, other.id, sizeof other.id);
    cr_assert_eq(check(&good), CS_CODE_ENVELOPE_SIGNATURE);
    good.trust.count = 0;
    cr_assert_eq(check(&good), CS_CODE_ENVELOPE_KEY_UNKNOWN);
    end_case(&good);
}

/* The order of the base point, little-endian. */
static const uint8_t group_order[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7,
                                        0xa2, 0xde, 0xf9, 0xde, 0x14, 0,    0,    0,    0,    0,    0,
                                        0,    0,    0,    0,    0,    0,    0,    0,    0,    0x10};

/* Add the order to the scalar; false when that does not fit. */
static bool add_order(uint8_t scalar[32]) {
    unsigned carry = 0;
    for (size_t i = 0; i < 32; i++) {
        carry += (unsigned)scalar[i] + group_order[i];
        scalar[i] = (uint8_t)carry;
        carry >>= 8;
    }
    return carry == 0;
}

/* S + L, S + 2L, ... satisfy the same equation, and would be further signatures for the same bytes. */
Test(envelope_verify, a_scalar_that_is_not_reduced_is_refused) {
    signed_case good = sign_case();
    cr_assert_eq(check(&good), CS_CODE_OK);
    unsigned times = 0;
    while (add_order(good.envelope.signature + 32)) {
        cr_expect_eq(check(&good), CS_CODE_ENVELOPE_SIGNATURE, "S + %uL", times + 1);
        times++;
    }
    cr_assert_geq(times, 14);
    end_case(&good);
}

/* Sign by hand: S = r + SHA-512(R || A || M) * a. */
static void sign_with(signed_case *signing, const uint8_t r[32], const uint8_t point[32]) {
    uint8_t secret[32];
    uint8_t hash[64];
    uint8_t challenge[32];
    crypto_sign_ed25519_sk_to_curve25519(secret, signing->key.secret_key);
    uint8_t wide[64] = {0};
    memcpy(wide, secret, sizeof secret);
    crypto_core_ed25519_scalar_reduce(secret, wide);
    crypto_hash_sha512_state state;
    crypto_hash_sha512_init(&state);
    crypto_hash_sha512_update(&state, point, 32);
    crypto_hash_sha512_update(&state, signing->key.public_key, 32);
    crypto_hash_sha512_update(&state, (const uint8_t *)PAE, strlen(PAE));
    crypto_hash_sha512_final(&state, hash);
    crypto_core_ed25519_scalar_reduce(challenge, hash);
    memcpy(signing->envelope.signature, point, 32);
    uint8_t product[32];
    crypto_core_ed25519_scalar_mul(product, challenge, secret);
    crypto_core_ed25519_scalar_add(signing->envelope.signature + 32, product, r);
}

static void read_point(const char *hex, uint8_t point[32]) {
    cr_assert_eq(sodium_hex2bin(point, 32, hex, 64, NULL, NULL, NULL), 0);
}

/* With r and this for its point, is the hand-made signature good? */
static cs_code check_with(uint8_t r, const char *hex) {
    signed_case made = sign_case();
    const uint8_t scalar[32] = {r};
    uint8_t point[32];
    read_point(hex, point);
    sign_with(&made, scalar, point);
    cs_code code = check(&made);
    end_case(&made);
    return code;
}

#define SEVEN "b862409fb5c4c4123df2abf7462b88f041ad36dd6864ce872fd5472be363c5b1" /* 7 times the base point */

/* With r = 0 the equation holds for the first point, in whatever form it is written, and times 8 for all. */
Test(envelope_verify, a_point_of_small_order_in_the_signature_is_refused) {
    cr_assert_eq(check_with(7, SEVEN), CS_CODE_OK);
    for (size_t i = 0; small_points[i] != NULL; i++)
        cr_expect_eq(check_with(0, small_points[i]), CS_CODE_ENVELOPE_SIGNATURE, "%s", small_points[i]);
    for (size_t i = 0; small_points_otherwise[i] != NULL; i++)
        cr_expect_eq(check_with(0, small_points_otherwise[i]), CS_CODE_ENVELOPE_SIGNATURE, "%s",
                     small_points_otherwise[i]);
}

/* 7B and a point of small order: the equation holds times 8, so verifiers that multiply by it take it. */
Test(envelope_verify, a_point_outside_of_the_group_in_the_signature_is_refused) {
    static const char *const points[] = {
        "16b981d0b88cdf3ab9fa87190822fe4905b475efda3aec7c34abfa92c19320f4",
        "16030e0ff1d6226b8ad6ff918b288668c1c3e5e45269487f85479bb4a9fb11af",
        "e9b2fe981587efae6478f48ba1fa60cec6126d0e26dde72a0a24f640dcd783e5",
        "359dbf604a3b3bedc20d5408b9d4770fbe52c922979b3178d02ab8d41c9c3a4e",
        "d7467e2f477320c5460578e6f7dd01b6fa4b8a1025c51383cb54056d3e6cdf0b",
        "d7fcf1f00e29dd947529006e74d779973e3c1a1bad96b7807ab8644b5604ee50",
        "044d0167ea7810519b870b745e059f3139ed92f1d92218d5f5db09bf23287c1a",
    };
    cr_assert_eq(check_with(7, SEVEN), CS_CODE_OK);
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        cr_expect_eq(check_with(7, points[i]), CS_CODE_ENVELOPE_SIGNATURE, "%s", points[i]);
}

/* y = p + 3 with either sign: on the curve, but not the form of that point. */
Test(envelope_verify, a_point_that_is_not_reduced_in_the_signature_is_refused) {
    cr_assert_eq(check_with(7, SEVEN), CS_CODE_OK);
    cr_expect_eq(check_with(7, "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"),
                 CS_CODE_ENVELOPE_SIGNATURE);
    cr_expect_eq(check_with(7, "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"),
                 CS_CODE_ENVELOPE_SIGNATURE);
}
