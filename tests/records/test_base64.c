#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "records/text.h"

typedef struct pair {
    const char *bytes;
    size_t len;
    const char *text;
} pair;

#define PAIR(literal, text)                                                                                            \
    { literal, sizeof(literal) - 1, text }

/* RFC 4648, section 10, and bytes that need every kind of digit. */
static const pair pairs[] = {
    PAIR("", ""),
    PAIR("f", "Zg=="),
    PAIR("fo", "Zm8="),
    PAIR("foo", "Zm9v"),
    PAIR("foob", "Zm9vYg=="),
    PAIR("fooba", "Zm9vYmE="),
    PAIR("foobar", "Zm9vYmFy"),
    PAIR("\0\0\0", "AAAA"),
    PAIR("\xff\xff\xff", "////"),
    PAIR("\xfb\xef\xbe", "++++"),
    PAIR("\xff", "/w=="),
};

Test(records_base64, known_pairs_both_ways) {
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        cs_buf text = CS_BUF_INIT(100);
        cs_buf bytes = CS_BUF_INIT(100);
        cr_assert(cs_base64_append(&text, cs_view_bytes(pairs[i].bytes, pairs[i].len)));
        cr_assert(cs_view_is(cs_buf_view(&text), pairs[i].text), "%s", pairs[i].text);
        cr_assert(cs_base64_decode(cs_view_of(pairs[i].text), &bytes), "%s", pairs[i].text);
        cr_assert(cs_view_equal(cs_buf_view(&bytes), cs_view_bytes(pairs[i].bytes, pairs[i].len)), "%s", pairs[i].text);
        cs_buf_free(&text);
        cs_buf_free(&bytes);
    }
}

typedef struct refusal {
    const char *text;
    bool lax; /* accepted by cs_base64_decode_lax */
} refusal;

/* None is canonical; each differs from an accepted text in one thing. */
static const refusal refusals[] = {
    {"Zg", true},                                              /* no padding */
    {"Zg=", false},                                            /* too little of it */
    {"Zg===", false},                                          /* too much */
    {"Zm8", true},                                             /* no padding */
    {"Zm9v=", false},                                          /* where none belongs */
    {"Zm9v==", false},   {"Zm9v====", false}, {"Zh==", false}, /* unused bits are not zero */
    {"Zm9=", false},     {"Zh", false},       {"Z", false},    /* six bits are no byte */
    {"Z===", false},     {"=", false},        {"==", false},     {"====", false},
    {"Zg==Zg==", false},                                                          /* padding inside */
    {"Z=g=", false},     {"=Zg=", false},     {"Zm9v\n", false},                  /* white space */
    {"Zm9 ", false},     {"Zm 9v", false},    {"____", true},                     /* URL-safe alphabet */
    {"----", true},      {"_w==", true},      {"_w", true},      {"+_++", false}, /* both alphabets */
    {"Zm9!", false},                                                              /* no digit at all */
    {"Zm9\x80", false},  {"Zm9\xff", false},  {"!m9v", false},   {"Z!9v", false},
    {"Zm!v", false},
};

Test(records_base64, only_the_canonical_form_decodes) {
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        cs_buf out = CS_BUF_INIT(100);
        cr_assert(cs_buf_text(&out, "kept"));
        cr_assert_not(cs_base64_decode(cs_view_of(refusals[i].text), &out), "%s", refusals[i].text);
        cr_assert(cs_view_is(cs_buf_view(&out), "kept"), "%s", refusals[i].text);
        cr_assert_eq(cs_base64_decode_lax(cs_view_of(refusals[i].text), &out), refusals[i].lax, "%s", refusals[i].text);
        if (!refusals[i].lax) cr_assert(cs_view_is(cs_buf_view(&out), "kept"), "%s", refusals[i].text);
        cs_buf_free(&out);
    }
}

Test(records_base64, lax_gives_the_same_bytes) {
    const char *const forms[] = {"/w==", "_w==", "/w", "_w"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        cs_buf out = CS_BUF_INIT(10);
        cr_assert(cs_base64_decode_lax(cs_view_of(forms[i]), &out));
        cr_assert(cs_view_equal(cs_buf_view(&out), cs_view_bytes("\xff", 1)));
        cs_buf_free(&out);
    }
}

/* The URL-safe alphabet is translated piece by piece; the lengths stand on both sides of where one ends. */
Test(records_base64, long_url_safe_texts_come_back_and_one_wrong_digit_refuses_them) {
    const size_t lengths[] = {1022, 1023, 1024, 1026, 1027, 1028, 2048, 2050, 3000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const size_t bytes = lengths[i] / 4 * 3 + (lengths[i] % 4 > 0 ? lengths[i] % 4 - 1 : 0);
        uint8_t text[3000];
        /* "-_-_" is the bytes fb ff bf; of the last digits the bits that are not used are zero. */
        for (size_t at = 0; at < lengths[i]; at++)
            text[at] = (uint8_t) "-_-_"[at % 4];
        if (lengths[i] % 4 == 2) text[lengths[i] - 1] = 'w';
        if (lengths[i] % 4 == 3) text[lengths[i] - 1] = '8';
        CS_AUTO_BUF out = CS_BUF_INIT(bytes + 4);
        cr_assert(cs_buf_text(&out, "kept"));
        cr_assert(cs_base64_decode_lax(cs_view_bytes(text, lengths[i]), &out), "%zu", lengths[i]);
        cr_assert_eq(out.len, bytes + 4);
        for (size_t at = 4; at < out.len; at++)
            cr_assert_eq(out.ptr[at], (uint8_t) "\xfb\xff\xbf"[(at - 4) % 3], "byte %zu of %zu", at, lengths[i]);

        static const uint8_t wrong[] = {'+', '/', '=', '\n', 0, 0x80, '.'};
        for (size_t at = 0; at + 2 < lengths[i]; at++) {
            const uint8_t right = text[at];
            text[at] = wrong[at % sizeof wrong];
            out.len = 4;
            cr_assert_not(cs_base64_decode_lax(cs_view_bytes(text, lengths[i]), &out), "digit %zu", at);
            cr_assert(cs_view_is(cs_buf_view(&out), "kept"));
            text[at] = right;
        }
        CS_AUTO_BUF short_by_one = CS_BUF_INIT(bytes - 1);
        cr_assert_not(cs_base64_decode_lax(cs_view_bytes(text, lengths[i]), &short_by_one));
        cr_assert_eq(short_by_one.len, 0);
    }
}

Test(records_base64, nul_is_no_digit) {
    cs_buf out = CS_BUF_INIT(100);
    cr_assert_not(cs_base64_decode(cs_view_bytes("Zm9\0", 4), &out));
    cr_assert_not(cs_base64_decode_lax(cs_view_bytes("Zm9v\0", 5), &out));
    cs_buf_free(&out);
}

Test(records_base64, a_buffer_that_is_too_small_is_left_as_it_was) {
    cs_buf out = CS_BUF_INIT(7);
    cr_assert_not(cs_base64_append(&out, cs_view_of("fooba")));
    cr_assert_eq(out.len, 0);
    cr_assert(cs_base64_append(&out, cs_view_of("foo")));
    cr_assert(cs_view_is(cs_buf_view(&out), "Zm9v"));
    cr_assert_not(cs_base64_decode(cs_view_of("Zm9vYg=="), &out));
    cr_assert(cs_view_is(cs_buf_view(&out), "Zm9v"));
    cr_assert(cs_base64_decode(cs_view_of("YmFy"), &out));
    cr_assert(cs_view_is(cs_buf_view(&out), "Zm9vbar"));
    cs_buf_free(&out);
}

/* Every length around the groups of three, with bytes that differ; decoding needs no table of its own,
 * because encoding is pinned above. */
Test(records_base64, lengths_up_to_many_groups_come_back) {
    uint8_t bytes[257];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 167 + 13);
    for (size_t len = 0; len <= sizeof bytes; len++) {
        cs_buf text = CS_BUF_INIT(400);
        cs_buf back = CS_BUF_INIT(300);
        cr_assert(cs_base64_append(&text, cs_view_bytes(bytes, len)));
        cr_assert_eq(text.len, (len + 2) / 3 * 4);
        cr_assert(cs_base64_decode(cs_buf_view(&text), &back));
        cr_assert(cs_view_equal(cs_buf_view(&back), cs_view_bytes(bytes, len)));
        cs_buf_free(&text);
        cs_buf_free(&back);
    }
}

/* Long texts are decoded in another loop. Their lengths here stand on both sides of where it begins. */
Test(records_base64, long_texts_come_back_and_one_wrong_digit_anywhere_refuses_them) {
    const size_t lengths[] = {3069, 3071, 3072, 3073, 3074, 3075, 6000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        uint8_t bytes[6000];
        for (size_t b = 0; b < lengths[i]; b++)
            bytes[b] = (uint8_t)(b * 167 + (b >> 8) * 31);
        CS_AUTO_BUF text = CS_BUF_INIT(8000);
        CS_AUTO_BUF back = CS_BUF_INIT(lengths[i]);
        cr_assert(cs_base64_append(&text, cs_view_bytes(bytes, lengths[i])));
        cr_assert(cs_base64_decode(cs_buf_view(&text), &back), "%zu", lengths[i]);
        cr_assert(cs_view_equal(cs_buf_view(&back), cs_view_bytes(bytes, lengths[i])), "%zu", lengths[i]);
        CS_AUTO_BUF short_by_one = CS_BUF_INIT(lengths[i] - 1);
        cr_assert_not(cs_base64_decode(cs_buf_view(&text), &short_by_one));

        static const uint8_t wrong[] = {'-', '_', '=', '\n', 0, 0x80, 0xff, '.', '@', '[', '`', '{'};
        for (size_t at = 0; at < text.len; at++) {
            const uint8_t right = text.ptr[at];
            text.ptr[at] = wrong[at % sizeof wrong];
            back.len = 0;
            /* At the very end '=' is no wrong digit but padding. */
            if (text.ptr[at] != '=' || at + 2 < text.len) {
                cr_assert_not(cs_base64_decode(cs_buf_view(&text), &back), "digit %zu of %zu", at, text.len);
                cr_assert_eq(back.len, 0);
            }
            text.ptr[at] = right;
        }
    }
}

Test(records_base64, every_byte_in_every_place_of_a_group_is_a_digit_or_refused) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t text[8192];
    memset(text, 'A', sizeof text);
    for (unsigned byte = 0; byte < 256; byte++) {
        const char *found = byte > 0 ? strchr(digits, (int)byte) : NULL;
        for (unsigned place = 0; place < 4; place++) {
            text[4000 + place] = (uint8_t)byte;
            CS_AUTO_BUF back = CS_BUF_INIT(sizeof text);
            cr_assert_eq(cs_base64_decode(cs_view_bytes(text, sizeof text), &back), found != NULL, "%u", byte);
            if (found != NULL) {
                const uint32_t bits = (uint32_t)(found - digits) << (18 - 6 * place);
                cr_assert_eq((uint32_t)back.ptr[3000] << 16 | (uint32_t)back.ptr[3001] << 8 | back.ptr[3002], bits);
                cr_assert_eq(back.ptr[2999] | back.ptr[3003], 0);
            }
            text[4000 + place] = 'A';
        }
    }
}
