/* SHA-256 against FIPS 180-4's examples, and the canonical encoding against digests that were computed
 * apart from this code from the rules of docs/FORMAT.md. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "records/canonical.h"
#include "records/tier.h"

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define MILLION_A "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"

Test(records_sha256, known_digests) {
    cs_digest digest;
    cr_assert(cs_sha256_once(cs_view_of("abc"), &digest));
    cr_assert_str_eq(digest.hex, ABC);
    cr_assert(cs_view_is(cs_digest_view(&digest), ABC));
    cr_assert(cs_sha256_once(cs_view_bytes(NULL, 0), &digest));
    cr_assert_str_eq(digest.hex, EMPTY);
}

Test(records_sha256, one_hash_serves_many_digests) {
    cs_sha256 *hash = cs_sha256_new();
    cs_digest digest;
    cr_assert_not_null(hash);
    cr_assert(cs_sha256_final_hex(hash, &digest));
    cr_assert_str_eq(digest.hex, EMPTY);
    cs_sha256_update(hash, "a", 1);
    cs_sha256_update(hash, NULL, 0);
    cs_sha256_update(hash, "bc", 2);
    cr_assert(cs_sha256_final_hex(hash, &digest));
    cr_assert_str_eq(digest.hex, ABC);
    char chunk[1000];
    memset(chunk, 'a', sizeof chunk);
    for (int i = 0; i < 1000; i++)
        cs_sha256_update(hash, chunk, sizeof chunk);
    cr_assert(cs_sha256_final_hex(hash, &digest));
    cr_assert_str_eq(digest.hex, MILLION_A);
    uint8_t bytes[CS_SHA256_BYTES];
    cs_sha256_update(hash, "abc", 3);
    cr_assert(cs_sha256_final(hash, bytes));
    cr_assert_eq(bytes[0], 0xba);
    cr_assert_eq(bytes[31], 0xad);
    cs_sha256_free(hash);
    cs_sha256_free(NULL);
}

static void expect(cs_sha256 *hash, const char *hex) {
    cs_digest digest;
    cr_assert(cs_sha256_final_hex(hash, &digest));
    cr_assert_str_eq(digest.hex, hex);
}

Test(records_canonical, every_kind_of_value) {
    cs_sha256 *hash = cs_sha256_new();
    const double values[] = {1.5, -0.0, INFINITY};
    cs_canonical_domain(hash, "test.domain");
    cs_canonical_bytes(hash, "text", cs_view_bytes("a\0b", 3));
    cs_canonical_i64(hash, "neg", INT64_MIN);
    cs_canonical_u64(hash, "big", UINT64_MAX);
    cs_canonical_bool(hash, "yes", true);
    cs_canonical_bool(hash, "no", false);
    cs_canonical_doubles(hash, "doubles", values, 3);
    cs_canonical_text(hash, "empty", "");
    expect(hash, "17c5263929ce9f19509803f760794c45a2a93630a71cde315b4580f5ae787b22");
    cs_sha256_free(hash);
}

Test(records_canonical, more_doubles_than_are_fed_at_once) {
    cs_sha256 *hash = cs_sha256_new();
    double values[200];
    for (int i = 0; i < 200; i++)
        values[i] = i * 0.5 - 7;
    cs_canonical_domain(hash, "test.many");
    cs_canonical_doubles(hash, "v", values, 200);
    expect(hash, "8938541337d6c839ff7cdb82e5d1872d29e8b245ae748a075d2dd7582fbae584");
    cs_sha256_free(hash);
}

Test(records_canonical, the_bits_of_nan_are_kept) {
    const uint64_t bits[] = {0x7ff8000000000001u, 0xfff8000000000000u, 0x7ff0000000000001u};
    double values[3];
    memcpy(values, bits, sizeof values);
    cs_sha256 *hash = cs_sha256_new();
    cs_canonical_domain(hash, "test.nan");
    cs_canonical_doubles(hash, "v", values, 3);
    expect(hash, "93ccf912b1c431d4243403cd3512fe6388f0b6007e2baa0772f8ac8029956ee1");
    cs_sha256_free(hash);
}

Test(records_canonical, a_name_longer_than_any_is_fed_all_the_same) {
    char name[101];
    memset(name, 'n', 100);
    name[100] = '\0';
    cs_sha256 *hash = cs_sha256_new();
    cs_canonical_domain(hash, "test.long");
    cs_canonical_text(hash, name, "x");
    expect(hash, "300bccbb289d4e8893072fdcea57fa4c3a22f0210c83587a26e883d1c2877aeb");
    cs_sha256_free(hash);
}

Test(records_tier, words_and_their_order) {
    const char *const words[] = {"", "process", "container", "kernel", "vm"};
    for (int i = 0; i < 5; i++) {
        cr_assert_eq((int)cs_tier_parse(cs_view_of(words[i])), i);
        cr_assert_str_eq(cs_tier_word((cs_tier)i), words[i]);
    }
    const char *const others[] = {"VM", "vm ", " vm", "Kernel", "none", "unknown", "v"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_assert_eq(cs_tier_parse(cs_view_of(others[i])), CS_TIER_UNKNOWN, "%s", others[i]);
    cr_assert_eq(cs_tier_parse(cs_view_bytes("vm\0", 3)), CS_TIER_UNKNOWN);
    cr_assert_str_eq(cs_tier_word(CS_TIER_UNKNOWN), "unknown");
    cr_assert_str_eq(cs_tier_word((cs_tier)5), "unknown");
}
