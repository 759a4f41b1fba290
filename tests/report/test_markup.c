/* Bytes of somebody else's as markup: nothing in them becomes markup, and nothing stays that steers or hides. */
#include "report/markup.h"

#include <criterion/criterion.h>
#include <string.h>

#define BOX(text) "<span class=\"e\">" text "</span>"

typedef struct row {
    const char *bytes;
    size_t len; /* 0: of the text */
    bool lines;
    const char *want;
} row;

static const row rows[] = {
    {"plain text", 0, false, "plain text"},
    {"</script><script>alert(1)</script>", 0, false, "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;"},
    {"<img src=x onerror=\"a('b')\">", 0, false, "&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt;"},
    {"&lt; &amp;&#60;", 0, false, "&amp;lt; &amp;amp;&amp;#60;"},
    {"]]>--><!--", 0, false, "]]&gt;--&gt;&lt;!--"},
    {"\\x1b is written out", 0, false, "\\x1b is written out"},
    {"\x1b[31m", 0, false, BOX("\\x1b") "[31m"},
    {"a\nb\tc\r", 0, false, "a" BOX("\\x0a") "b" BOX("\\x09") "c" BOX("\\x0d")},
    {"a\nb\tc\r", 0, true, "a\nb\tc" BOX("\\x0d")},
    {"a\0b", 3, true, "a" BOX("\\x00") "b"},
    {"\x01\x02\x7f", 0, false, BOX("\\x01\\x02\\x7f")},
    {"\xe2\x80\xae"
     "abc",
     0, false, BOX("\\u{202e}") "abc"},
    {"\xe2\x81\xa6\xe2\x80\x8b", 0, false, BOX("\\u{2066}\\u{200b}")},
    {"\xef\xbb\xbf", 0, false, BOX("\\u{feff}")},
    {"\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd", 0, false, BOX("\\u{fffe}\\u{ffff}") "\xef\xbf\xbd"},
    {"\xff\xfe", 0, false, BOX("\\xff\\xfe")},
    {"\xc0\xbc", 0, false, BOX("\\xc0\\xbc")},                   /* an overlong '<' */
    {"\xed\xa0\x80", 0, false, BOX("\\xed\\xa0\\x80")},          /* a surrogate */
    {"\xf4\x90\x80\x80", 0, false, BOX("\\xf4\\x90\\x80\\x80")}, /* above U+10FFFF */
    {"\xe2\x82", 0, false, BOX("\\xe2\\x82")},                   /* cut off */
    {"\xe2<", 0, false, BOX("\\xe2") "&lt;"},                    /* an end that would be swallowed */
    {"gr\xc3\xbc\xc3\x9f \xf0\x9f\x90\x8d", 0, false, "gr\xc3\xbc\xc3\x9f \xf0\x9f\x90\x8d"},
    {"\xd7\x90", 0, false, "\xd7\x90"}, /* right to left by itself: a letter, kept apart by its element */
    {"", 0, false, ""},
};

Test(report_markup, each_text_is_shown_and_none_is_obeyed) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cs_markup out;
        cs_markup_begin(&out, 4096);
        cs_markup_data(&out, cs_view_bytes(rows[i].bytes, rows[i].len > 0 ? rows[i].len : strlen(rows[i].bytes)),
                       rows[i].lines);
        cr_expect_not(out.full);
        cr_expect(cs_view_is(cs_buf_view(&out.buf), rows[i].want), "%zu: %.*s", i, (int)out.buf.len,
                  (const char *)out.buf.ptr);
        cs_markup_free(&out);
    }
}

Test(report_markup, what_is_long_is_cut_on_a_character_and_says_so) {
    cs_markup out;
    cs_markup_begin(&out, 4096);
    cs_markup_short(&out, cs_view_of("abc\xc3\xbc"), 4);
    cr_expect(cs_view_is(cs_buf_view(&out.buf),
                         "<bdi dir=\"ltr\" class=\"d\">abc</bdi> <span class=\"cut\">(cut: 3 of 5 "
                         "bytes)</span>"));
    cs_markup_free(&out);
    cs_markup_begin(&out, 4096);
    cs_markup_short(&out, cs_view_of("abc\xc3\xbc"), 5);
    cr_expect(cs_view_is(cs_buf_view(&out.buf), "<bdi dir=\"ltr\" class=\"d\">abc\xc3\xbc</bdi>"));
    cs_markup_free(&out);
    cs_markup_begin(&out, 4096);
    cs_markup_short(&out, cs_view_of(""), 5);
    cr_expect(cs_view_is(cs_buf_view(&out.buf), "<span class=\"none\">(empty)</span>"));
    cs_markup_free(&out);
}

Test(report_markup, what_does_not_fit_is_said_and_nothing_follows) {
    cs_markup out;
    cs_markup_begin(&out, 8);
    cs_markup_raw(&out, "12345678");
    cr_expect_not(out.full);
    cs_markup_raw(&out, "9");
    cr_expect(out.full);
    cs_markup_raw(&out, "");
    cr_expect(cs_view_is(cs_buf_view(&out.buf), "12345678"));
    cs_markup_free(&out);
}

Test(report_markup, one_is_put_before_what_is_there) {
    cs_markup out;
    cs_markup more;
    cs_markup_begin(&out, 64);
    cs_markup_begin(&more, 64);
    cs_markup_raw(&out, "<b></b><i></i>");
    cs_markup_raw(&more, "<u/>");
    cs_markup_insert(&out, 7, &more);
    cr_expect(cs_view_is(cs_buf_view(&out.buf), "<b></b><u/><i></i>"));
    cs_markup_free(&more);
    cs_markup_free(&out);
}
