#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "records/text.h"

typedef struct utf8_case {
    const char *bytes;
    size_t len;
    bool valid;
} utf8_case;

#define CASE(literal, valid)                                                                                           \
    { literal, sizeof(literal) - 1, valid }

/* Each refused form stands beside the nearest one that is accepted. */
static const utf8_case utf8_cases[] = {
    CASE("", true),
    CASE("plain", true),
    CASE("a\0b", true),
    CASE("\x7f", true),
    CASE("\x80", false),
    CASE("\xbf", false),
    CASE("\xc2\x80", true),
    CASE("\xc1\xbf", false), /* overlong DEL */
    CASE("\xc0\x80", false), /* overlong NUL */
    CASE("\xdf\xbf", true),
    CASE("\xdf", false),
    CASE("\xdf\x7f", false),
    CASE("\xdf\xc0", false),
    CASE("\xe0\xa0\x80", true),
    CASE("\xe0\x9f\xbf", false), /* overlong U+07FF */
    CASE("\xe0\xa0", false),
    CASE("\xe0\xa0\x41", false),
    CASE("\xed\x9f\xbf", true),  /* U+D7FF */
    CASE("\xed\xa0\x80", false), /* U+D800 */
    CASE("\xed\xbf\xbf", false), /* U+DFFF */
    CASE("\xee\x80\x80", true),  /* U+E000 */
    CASE("\xef\xbf\xbf", true),
    CASE("\xf0\x90\x80\x80", true),
    CASE("\xf0\x8f\xbf\xbf", false), /* overlong U+FFFF */
    CASE("\xf0\x90\x80", false),
    CASE("\xf0\x90\x80\x80\x80", false),
    CASE("\xf4\x8f\xbf\xbf", true),  /* U+10FFFF */
    CASE("\xf4\x90\x80\x80", false), /* U+110000 */
    CASE("\xf5\x80\x80\x80", false),
    CASE("\xf8\x88\x80\x80\x80", false),
    CASE("\xfe", false),
    CASE("\xff", false),
    CASE("12345678\xc3\xa4", true), /* behind a whole word of ASCII */
    CASE("12345678\xc3", false),
    CASE("1234567\xc3\xa4", true), /* across the word's edge */
    CASE("1234567\xc3", false),
    CASE("\xc3\xa4"
         "12345678\xff",
         false),
};

Test(records_text, utf8_table) {
    for (size_t i = 0; i < sizeof utf8_cases / sizeof utf8_cases[0]; i++) {
        cs_view text = cs_view_bytes(utf8_cases[i].bytes, utf8_cases[i].len);
        cr_assert_eq(cs_utf8_valid(text), utf8_cases[i].valid, "case %zu", i);
    }
    cr_assert(cs_utf8_valid(cs_view_bytes(NULL, 0)));
}

Test(records_text, decimal) {
    const struct {
        uint64_t value;
        const char *text;
    } numbers[] = {{0, "0"},
                   {9, "9"},
                   {10, "10"},
                   {99, "99"},
                   {100, "100"},
                   {4294967296, "4294967296"},
                   {UINT64_MAX, "18446744073709551615"},
                   {10000000000000000000u, "10000000000000000000"}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        cs_decimal decimal = cs_decimal_u64(numbers[i].value);
        cr_assert(cs_view_is(cs_decimal_view(&decimal), numbers[i].text), "%s", numbers[i].text);
    }
    const struct {
        int64_t value;
        const char *text;
    } signed_numbers[] = {{0, "0"},
                          {7, "7"},
                          {-1, "-1"},
                          {-10, "-10"},
                          {INT64_MAX, "9223372036854775807"},
                          {INT64_MIN, "-9223372036854775808"}};
    for (size_t i = 0; i < sizeof signed_numbers / sizeof signed_numbers[0]; i++) {
        cs_decimal decimal = cs_decimal_i64(signed_numbers[i].value);
        cr_assert(cs_view_is(cs_decimal_view(&decimal), signed_numbers[i].text), "%s", signed_numbers[i].text);
    }
}

Test(records_text, a_decimal_is_read_exactly) {
    static const struct {
        const char *text;
        uint64_t max, value;
        bool good;
    } rows[] = {{"0", 0, 0, true},
                {"1", 0, 7, false},
                {"10", 10, 10, true},
                {"11", 10, 7, false},
                {"9", 9, 9, true},
                {"10", 9, 7, false},
                {"007", 9, 7, true},
                {"9223372036854775807", INT64_MAX, INT64_MAX, true},
                {"9223372036854775808", INT64_MAX, 7, false},
                {"18446744073709551615", UINT64_MAX, UINT64_MAX, true},
                {"18446744073709551616", UINT64_MAX, 7, false},
                {"18446744073709551625", UINT64_MAX, 7, false},
                {"99999999999999999999999", UINT64_MAX, 7, false},
                {"", UINT64_MAX, 7, false},
                {" 1", UINT64_MAX, 7, false},
                {"1 ", UINT64_MAX, 7, false},
                {"+1", UINT64_MAX, 7, false},
                {"-1", UINT64_MAX, 7, false},
                {"1\n", UINT64_MAX, 7, false},
                {"0x1", UINT64_MAX, 7, false},
                {"1/", UINT64_MAX, 7, false},
                {"1:", UINT64_MAX, 7, false},
                {"\xd9\xa1", UINT64_MAX, 7, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t value = 7;
        cr_expect_eq(cs_decimal_read(cs_view_of(rows[i].text), rows[i].max, &value), rows[i].good, "'%s'",
                     rows[i].text);
        cr_expect_eq(value, rows[i].value, "'%s'", rows[i].text);
    }
    uint64_t value = 7;
    cr_expect_not(cs_decimal_read(cs_view_bytes("1\0", 2), UINT64_MAX, &value));
    cr_expect(cs_decimal_read(cs_view_bytes("12", 1), UINT64_MAX, &value));
    cr_expect_eq(value, 1);
}

Test(records_text, the_word_behind_a_count) {
    cr_expect_str_eq(cs_plural(1, "entry", "entries"), "entry");
    cr_expect_str_eq(cs_plural(0, "entry", "entries"), "entries");
    cr_expect_str_eq(cs_plural(2, "entry", "entries"), "entries");
    cr_expect_str_eq(cs_plural(UINT64_C(4294967297), "entry", "entries"), "entries");
}

Test(records_text, hexadecimal) {
    const uint8_t bytes[] = {0x00, 0x7f, 0x80, 0xff, 0xa5};
    char out[11];
    cs_hex(bytes, sizeof bytes, out);
    cr_assert_str_eq(out, "007f80ffa5");
    cr_assert(cs_is_hex(cs_view_of("007f80ffa5"), 10));
    cr_assert_not(cs_is_hex(cs_view_of("007f80ffa5"), 9));
    cr_assert_not(cs_is_hex(cs_view_of("007f80ffa5"), 11));
    cr_assert_not(cs_is_hex(cs_view_of("007F80ffa5"), 10));
    cr_assert_not(cs_is_hex(cs_view_of("007g80ffa5"), 10));
    cr_assert_not(cs_is_hex(cs_view_of("007/80ffa5"), 10));
    cr_assert_not(cs_is_hex(cs_view_of("007:80ffa5"), 10));
    cr_assert_not(cs_is_hex(cs_view_of("007`80ffa5"), 10));
    cr_assert_not(cs_is_hex(cs_view_bytes("00\0", 3), 3));
    cr_assert(cs_is_hex(cs_view_of(""), 0));
}

typedef struct escape_case {
    const char *bytes;
    size_t len;
    const char *shown;
} escape_case;

#define ESCAPE(literal, shown)                                                                                         \
    { literal, sizeof(literal) - 1, shown }

static const escape_case escape_cases[] = {
    ESCAPE("", ""),
    ESCAPE("plain ~ text", "plain ~ text"),
    ESCAPE("back\\slash", "back\\\\slash"),
    ESCAPE("\x1b[2J", "\\x1b[2J"),
    ESCAPE("a\0b", "a\\x00b"),
    ESCAPE("tab\tline\nreturn\r", "tab\\x09line\\x0areturn\\x0d"),
    ESCAPE("\x7f", "\\x7f"),
    ESCAPE("\xc2\x9b"
           "31m",
           "\\u{009b}31m"),                                      /* C1: the eight-bit escape sequence */
    ESCAPE("\xc2\xa0", "\xc2\xa0"),                              /* no-break space is no control */
    ESCAPE("\xc2\xad", "\\u{00ad}"),                             /* soft hyphen */
    ESCAPE("\xd8\x9c", "\\u{061c}"),                             /* Arabic letter mark */
    ESCAPE("\xe2\x80\x8a", "\xe2\x80\x8a"),                      /* hair space stays */
    ESCAPE("\xe2\x80\x8b", "\\u{200b}"),                         /* zero width space */
    ESCAPE("\xe2\x80\x8d", "\\u{200d}"),                         /* zero width joiner */
    ESCAPE("\xe2\x80\x8e", "\\u{200e}"),                         /* left-to-right mark */
    ESCAPE("\xe2\x80\x8f", "\\u{200f}"),                         /* right-to-left mark */
    ESCAPE("\xe2\x80\x90", "\xe2\x80\x90"),                      /* hyphen stays */
    ESCAPE("\xe2\x80\xa7", "\xe2\x80\xa7"),                      /* hyphenation point stays */
    ESCAPE("\xe2\x80\xa8", "\\u{2028}"),                         /* line separator */
    ESCAPE("\xe2\x80\xa9", "\\u{2029}"),                         /* paragraph separator */
    ESCAPE("\xe2\x80\xaa", "\\u{202a}"),                         /* embedding */
    ESCAPE("\xe2\x80\xae", "\\u{202e}"),                         /* override */
    ESCAPE("\xe2\x80\xaf", "\xe2\x80\xaf"),                      /* narrow no-break space stays */
    ESCAPE("\xe2\x81\xa0", "\\u{2060}"),                         /* word joiner */
    ESCAPE("\xe2\x81\xa6", "\\u{2066}"),                         /* isolate */
    ESCAPE("\xe2\x81\xa9", "\\u{2069}"),                         /* pop isolate */
    ESCAPE("\xef\xbb\xbf", "\\u{feff}"),                         /* byte order mark */
    ESCAPE("\xef\xbf\xb9", "\\u{fff9}"),                         /* interlinear annotation anchor */
    ESCAPE("\xef\xbf\xbb", "\\u{fffb}"),                         /* interlinear annotation terminator */
    ESCAPE("\xe1\x9e\xb4", "\\u{17b4}"),                         /* Khmer inherent vowel */
    ESCAPE("\xe1\xa0\x8b", "\\u{180b}"),                         /* Mongolian variation selector */
    ESCAPE("\xe2\x9c\x94\xef\xb8\x8f", "\xe2\x9c\x94\\u{fe0f}"), /* a check mark made an emoji */
    ESCAPE("\xf0\x9d\x85\xb3", "\\u{1d173}"),                    /* musical beam */
    ESCAPE("\xef\xbf\xbd", "\xef\xbf\xbd"),                      /* replacement character stays */
    ESCAPE("\xf3\xa0\x80\x80", "\\u{e0000}"),                    /* tags */
    ESCAPE("\xf3\xa0\x81\xbf", "\\u{e007f}"),
    ESCAPE("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
    ESCAPE("\xff\xfe", "\\xff\\xfe"),          /* no UTF-8 at all */
    ESCAPE("\xe2\x80", "\\xe2\\x80"),          /* cut short */
    ESCAPE("\xc0\x9b", "\\xc0\\x9b"),          /* overlong */
    ESCAPE("\xed\xa0\x80", "\\xed\\xa0\\x80"), /* surrogate */
};

Test(records_text, escape_table) {
    for (size_t i = 0; i < sizeof escape_cases / sizeof escape_cases[0]; i++) {
        cs_buf out = CS_BUF_INIT(200);
        char small[200];
        cs_view bytes = cs_view_bytes(escape_cases[i].bytes, escape_cases[i].len);
        cr_assert(cs_escape_append(&out, bytes, false));
        cr_assert(cs_view_is(cs_buf_view(&out), escape_cases[i].shown), "case %zu: %.*s", i, (int)out.len,
                  (const char *)out.ptr);
        cs_escape_short(bytes, small, sizeof small);
        cr_assert_str_eq(small, escape_cases[i].shown, "case %zu", i);
        cs_buf_free(&out);
    }
}

/* Default_Ignorable_Code_Point in DerivedCoreProperties.txt of Unicode 14.0, and with them what steers a terminal. */
static const struct {
    uint32_t first;
    uint32_t last;
} hidden[] = {
    {0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},       {0x034F, 0x034F}, {0x061C, 0x061C}, {0x115F, 0x1160},
    {0x17B4, 0x17B5},   {0x180B, 0x180F},   {0x200B, 0x200F},   {0x2028, 0x2029}, {0x202A, 0x202E}, {0x2060, 0x206F},
    {0x3164, 0x3164},   {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFF8}, {0xFFF9, 0xFFFB},
    {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

static size_t utf8_of(uint32_t point, uint8_t out[4]) {
    size_t len = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; point >>= 6)
        out[i] = (uint8_t)(0x80u | (point & 0x3Fu));
    static const uint8_t leads[] = {0, 0x00, 0xC0, 0xE0, 0xF0};
    out[0] = (uint8_t)(leads[len] | point);
    return len;
}

/* Every character that there is: what is hidden is written out, and everything else but the backslash stays. */
Test(records_text, what_can_not_be_seen_is_written_out) {
    for (uint32_t point = 0; point <= 0x10FFFF; point++) {
        if (point == '\\' || (point >= 0xD800 && point <= 0xDFFF)) continue;
        uint8_t bytes[4];
        cs_view character = cs_view_bytes(bytes, utf8_of(point, bytes));
        char expected[16] = "";
        memcpy(expected, bytes, character.len);
        for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
            if (point >= hidden[i].first && point <= hidden[i].last)
                snprintf(expected, sizeof expected, point < 0x80 ? "\\x%02x" : "\\u{%04x}", (unsigned)point);
        char shown[16];
        cs_escape_short(character, shown, sizeof shown);
        cr_assert_str_eq(shown, expected, "U+%04X: %s", (unsigned)point, shown);
    }
}

Test(records_text, newlines_and_tabs_stay_when_asked) {
    cs_buf out = CS_BUF_INIT(100);
    cr_assert(cs_escape_append(&out, cs_view_of("a\tb\nc\rd\x1b"), true));
    cr_assert(cs_view_is(cs_buf_view(&out), "a\tb\nc\\x0dd\\x1b"));
    cs_buf_free(&out);
}

Test(records_text, a_full_buffer_is_left_as_it_was) {
    cs_buf out = CS_BUF_INIT(6);
    cr_assert(cs_buf_text(&out, "x"));
    cr_assert_not(cs_escape_append(&out, cs_view_of("ab\x1b"), false));
    cr_assert(cs_view_is(cs_buf_view(&out), "x"));
    cr_assert(cs_escape_append(&out, cs_view_of("b\x1b"), false));
    cr_assert(cs_view_is(cs_buf_view(&out), "xb\\x1b"));
    cs_buf_free(&out);
}

Test(records_text, shortening_cuts_between_characters) {
    char out[8];
    cs_escape_short(cs_view_of("1234567"), out, sizeof out);
    cr_assert_str_eq(out, "1234567");
    cs_escape_short(cs_view_of("12345678"), out, sizeof out);
    cr_assert_str_eq(out, "1234...");
    /* The euro sign would reach from byte 3 to 5; it is left out whole. */
    cs_escape_short(cs_view_of("123\xe2\x82\xac"
                               "4567"),
                    out, sizeof out);
    cr_assert_str_eq(out, "123...");
    /* So is an escape. */
    cs_escape_short(cs_view_of("1\x1b"
                               "23456"),
                    out, sizeof out);
    cr_assert_str_eq(out, "1...");
    cs_escape_short(cs_view_of("123\x1b"), out, sizeof out);
    cr_assert_str_eq(out, "123\\x1b");
}

Test(records_text, the_smallest_arrays_hold_what_fits) {
    char out[4] = "zzz";
    cs_escape_short(cs_view_of("abc"), out, 0);
    cr_assert_str_eq(out, "zzz");
    cs_escape_short(cs_view_of("abc"), out, 1);
    cr_assert_str_eq(out, "");
    cs_escape_short(cs_view_of("abc"), out, 2);
    cr_assert_str_eq(out, ".");
    cs_escape_short(cs_view_of("abcd"), out, 4);
    cr_assert_str_eq(out, "...");
    cs_escape_short(cs_view_of("abc"), out, 4);
    cr_assert_str_eq(out, "abc");
}

Test(records_text, a_text_is_cut_between_characters) {
    const cs_view text = cs_view_of("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z");
    static const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (size_t max = 0; max < sizeof want / sizeof *want; max++) {
        cs_view cut = cs_utf8_cut(text, max);
        cr_expect_eq(cut.len, want[max], "%zu: %zu", max, cut.len);
        cr_expect_eq(cut.ptr, text.ptr);
    }
    /* What is no text is cut as well, to nothing at the worst. */
    cr_expect_eq(cs_utf8_cut(cs_view_of("\x80\x80\x80\x80"), 2).len, 0);
}
