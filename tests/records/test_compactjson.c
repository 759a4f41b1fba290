#include <criterion/criterion.h>
#include <string.h>

#include "records/compactjson.h"

/* One character, or a text, and what stands for it between the quotes. */
typedef struct escape_case {
    const char *text;
    size_t len;
    const char *escaped;
} escape_case;

static void expect_string(const char *text, size_t len, const char *escaped) {
    cs_buf out = CS_BUF_INIT(4096);
    cr_assert(cs_json_string(&out, cs_view_bytes(text, len)));
    cr_assert(out.len >= 2 && out.ptr[0] == '"' && out.ptr[out.len - 1] == '"');
    cs_view inner = cs_view_bytes(out.ptr + 1, out.len - 2);
    cr_expect(cs_view_is(inner, escaped), "expected %s, found %.*s", escaped, (int)inner.len, (const char *)inner.ptr);
    cs_buf_free(&out);
}

Test(compactjson, escapes) {
    static const escape_case cases[] = {
        {"", 0, ""},
        {"plain", 5, "plain"},
        {"\"", 1, "\\\""},
        {"\\", 1, "\\\\"},
        {"/", 1, "/"},
        {"<a>&b", 5, "\\u003ca\\u003e\\u0026b"},
        {"\b\f\n\r\t", 5, "\\b\\f\\n\\r\\t"},
        {"\0", 1, "\\u0000"},
        {"\x01\x0b\x1f", 3, "\\u0001\\u000b\\u001f"},
        {" ", 1, " "},
        {"\x7f", 1, "\x7f"},
        {"\xe2\x80\xa7", 3, "\xe2\x80\xa7"}, /* U+2027, one before */
        {"\xe2\x80\xa8", 3, "\\u2028"},
        {"\xe2\x80\xa9", 3, "\\u2029"},
        {"\xe2\x80\xaa", 3, "\xe2\x80\xaa"}, /* U+202A, one behind */
        {"\xe2\x81\xa8", 3, "\xe2\x81\xa8"}, /* U+2068, the same last byte */
        {"\xc3\xa4\xf0\x9f\x98\x80", 6, "\xc3\xa4\xf0\x9f\x98\x80"},
        {"x\xe2\x80\xa8y", 5, "x\\u2028y"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_string(cases[i].text, cases[i].len, cases[i].escaped);
}

Test(compactjson, members_are_separated) {
    cs_buf out = CS_BUF_INIT(4096);
    cr_assert(cs_buf_byte(&out, '{'));
    cr_assert(cs_json_text(&out, "a", cs_view_of("x\ny")));
    cr_assert(cs_json_u64(&out, "b", UINT64_MAX));
    cr_assert(cs_json_i64(&out, "c", INT64_MIN));
    cr_assert(cs_json_name(&out, "d"));
    cr_assert(cs_buf_byte(&out, '{'));
    cr_assert(cs_json_u64(&out, "e", 0));
    cr_assert(cs_buf_text(&out, "}}"));
    cr_assert(cs_view_is(cs_buf_view(&out),
                         "{\"a\":\"x\\ny\",\"b\":18446744073709551615,\"c\":-9223372036854775808,\"d\":{\"e\":0}}"));
    cs_buf_free(&out);
}

/* `"abc"` has five bytes: it fits into five and not into four, and then leaves nothing. */
Test(compactjson, a_full_buffer_is_left_as_it_was) {
    cs_buf fits = CS_BUF_INIT(5);
    cs_buf full = CS_BUF_INIT(4);
    cr_assert(cs_json_string(&fits, cs_view_of("abc")));
    cr_assert_not(cs_json_string(&full, cs_view_of("abc")));
    cr_assert_eq(full.len, 0);
    cs_buf_free(&fits);
    cs_buf_free(&full);
}
