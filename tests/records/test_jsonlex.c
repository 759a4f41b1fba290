#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "records/jsonlex.h"

static bool whole(const char *text, bool *negative, uint64_t *magnitude) {
    cs_lex lex = cs_lex_of(cs_view_of(text));
    cs_view number;
    cr_assert(cs_lex_number(&lex, &number), "%s", text);
    cr_assert(cs_lex_end(&lex), "%s", text);
    return cs_number_whole(number, negative, magnitude);
}

Test(jsonlex, whole_numbers) {
    static const struct {
        const char *text;
        bool negative;
        uint64_t magnitude;
    } cases[] = {
        {"0", false, 0},
        {"-0", false, 0},
        {"-0.000e999999999999999999", false, 0},
        {"7", false, 7},
        {"-7", true, 7},
        {"1.0", false, 1},
        {"1e3", false, 1000},
        {"1.50e1", false, 15},
        {"1200E-2", false, 12},
        {"0.0000000000000000000000000000000000000001e40", false, 1},
        {"18446744073709551615", false, UINT64_MAX},
        {"1844674407370955161.5e1", false, UINT64_MAX},
        {"9007199254740993", false, 9007199254740993u},
        {"-9223372036854775808", true, 9223372036854775808u},
        {"10000000000000000000", false, 10000000000000000000u},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool negative;
        uint64_t magnitude;
        cr_expect(whole(cases[i].text, &negative, &magnitude), "%s", cases[i].text);
        cr_expect_eq(negative, cases[i].negative, "%s", cases[i].text);
        cr_expect_eq(magnitude, cases[i].magnitude, "%s", cases[i].text);
    }
}

Test(jsonlex, not_whole_or_too_large) {
    static const char *const cases[] = {
        "0.5",
        "1.5",
        "1e-1",
        "-0.1",
        "18446744073709551616",
        "20000000000000000000",
        "100000000000000000000",
        "1e20",
        "1e999999999999999999",
        "1e-999999999999999999",
        "9007199254740993.00000000000000000000000000000000000001",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool negative;
        uint64_t magnitude;
        cr_expect_not(whole(cases[i], &negative, &magnitude), "%s", cases[i]);
    }
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

Test(jsonlex, doubles) {
    static const struct {
        const char *text;
        uint64_t bits;
    } cases[] = {
        {"0", 0},
        {"-0", 0x8000000000000000u},
        {"-0.0e5", 0x8000000000000000u},
        {"1", 0x3ff0000000000000u},
        {"0.1", 0x3fb999999999999au},
        {"-1.5", 0xbff8000000000000u},
        {"9007199254740993", 0x4340000000000000u},
        {"1.7976931348623157e308", 0x7fefffffffffffffu},
        {"5e-324", 1},
        {"1e-400", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value;
        cr_expect(cs_number_double(cs_view_of(cases[i].text), &value), "%s", cases[i].text);
        cr_expect_eq(bits_of(value), cases[i].bits, "%s", cases[i].text);
    }
    double value;
    cr_expect_not(cs_number_double(cs_view_of("1e400"), &value));
    cr_expect_not(cs_number_double(cs_view_of("-1e400"), &value));
    char digits[1026];
    memset(digits, '1', sizeof digits);
    memcpy(digits, "0.", 2);
    cr_expect(cs_number_double(cs_view_bytes(digits, 1024), &value));
    cr_expect_not(cs_number_double(cs_view_bytes(digits, 1025), &value));
}

static void expect_written(double value, const char *expected) {
    cs_buf out = CS_BUF_INIT(64);
    cr_assert(cs_number_append(&out, value));
    cr_expect(cs_view_is(cs_buf_view(&out), expected), "expected %s, found %.*s", expected, (int)out.len,
              (const char *)out.ptr);
    cs_buf_free(&out);
}

Test(jsonlex, shortest_decimals) {
    expect_written(0.0, "0");
    expect_written(-0.0, "-0");
    expect_written(1.0, "1");
    expect_written(100000, "100000");
    expect_written(0.1, "0.1");
    expect_written(0.1 + 0.2, "0.30000000000000004");
    expect_written(1.0 / 3, "0.3333333333333333");
    expect_written(1e22, "1e+22");
    expect_written(9007199254740993.0, "9007199254740992");
    expect_written(5e-324, "5e-324");
    expect_written(2.2250738585072014e-308, "2.2250738585072014e-308");
    expect_written(1.7976931348623157e308, "1.7976931348623157e+308");
}

Test(jsonlex, decimals_come_back) {
    srand(1);
    for (int i = 0; i < 100000; i++) {
        double value, again;
        uint64_t bits = 0;
        for (int k = 0; k < 5; k++)
            bits = bits << 15 ^ (uint64_t)rand();
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        cs_buf out = CS_BUF_INIT(64);
        cr_assert(cs_number_append(&out, value));
        cr_assert(cs_number_double(cs_buf_view(&out), &again));
        cr_assert_eq(bits_of(again), bits);
        cs_buf_free(&out);
    }
}

/* ---- against a JSON library ----------------------------------------------------------------------- */

static uint8_t random_of(const char *alphabet, size_t count) {
    return (uint8_t)alphabet[(size_t)rand() % count];
}

/* Strings from a hostile alphabet: both accept the same ones, and read the same. */
Test(jsonlex, strings_as_jansson_reads_them) {
    static const char alphabet[] =
        "\"\\\\\\uuubfnrt/0089dDcC8fFaAeE\x01\x1f\x20\x7f\xc3\xa4\xe2\x80\xa8\xed\xa0\xf0\x9f\x98\x80\xff";
    size_t accepted = 0;
    srand(2);
    for (int i = 0; i < 200000; i++) {
        uint8_t text[16] = "\"";
        size_t len = 1 + (size_t)rand() % 13;
        for (size_t k = 1; k < len; k++)
            text[k] = random_of(alphabet, sizeof alphabet - 1);
        text[len++] = '"';
        cs_lex lex = cs_lex_of(cs_view_bytes(text, len));
        cs_buf scratch = CS_BUF_INIT(64);
        cs_view found;
        bool ok = cs_lex_string(&lex, &scratch, &found) && cs_lex_end(&lex);
        json_t *expected = json_loadb((const char *)text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        cr_assert_eq(ok, expected != NULL, "%.*s", (int)len, (const char *)text);
        if (ok) {
            cr_assert(cs_view_equal(found, cs_view_bytes(json_string_value(expected), json_string_length(expected))));
            accepted++;
        }
        json_decref(expected);
        cs_buf_free(&scratch);
    }
    cr_assert_gt(accepted, 1000);
}

Test(jsonlex, numbers_as_jansson_reads_them) {
    static const char alphabet[] = "00123..eE+--5 ";
    size_t accepted = 0;
    srand(3);
    for (int i = 0; i < 200000; i++) {
        char text[10];
        size_t len = 1 + (size_t)rand() % 8;
        for (size_t k = 0; k < len; k++)
            text[k] = (char)random_of(alphabet, sizeof alphabet - 1);
        cs_lex lex = cs_lex_of(cs_view_bytes(text, len));
        cs_view number;
        double value;
        bool ok = cs_lex_number(&lex, &number) && cs_lex_end(&lex) && cs_number_double(number, &value);
        json_t *expected = json_loadb(text, len, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
        cr_assert_eq(ok, expected != NULL, "%.*s", (int)len, text);
        if (ok) {
            cr_assert_eq(bits_of(value), bits_of(json_real_value(expected)), "%.*s", (int)len, text);
            accepted++;
        }
        json_decref(expected);
    }
    cr_assert_gt(accepted, 1000);
}
