#include <criterion/criterion.h>
#include <string.h>

#include "records/base.h"

Test(records_base, a_buffer_grows_to_its_maximum_and_no_further) {
    cs_buf buf = CS_BUF_INIT(300);
    char chunk[299];
    memset(chunk, 'x', sizeof chunk);
    cr_assert(cs_buf_append(&buf, chunk, sizeof chunk));
    cr_assert(cs_buf_byte(&buf, 'y'));
    cr_assert_eq(buf.len, 300);
    cr_assert_not(cs_buf_byte(&buf, 'z'));
    cr_assert_not(cs_buf_text(&buf, "z"));
    cr_assert_not(cs_buf_printf(&buf, "%d", 1));
    cr_assert_eq(buf.len, 300);
    cr_assert_eq(buf.ptr[0], 'x');
    cr_assert_eq(buf.ptr[299], 'y');
    cr_assert(cs_buf_append(&buf, NULL, 0));
    cs_buf_free(&buf);
}

Test(records_base, printf_fills_the_last_byte) {
    cs_buf buf = CS_BUF_INIT(5);
    cr_assert(cs_buf_printf(&buf, "%s-%d", "ab", 12));
    cr_assert(cs_view_is(cs_buf_view(&buf), "ab-12"));
    cs_buf_free(&buf);

    cs_buf small = CS_BUF_INIT(4);
    cr_assert_not(cs_buf_printf(&small, "%s-%d", "ab", 12));
    cr_assert_eq(small.len, 0);
    cr_assert(cs_buf_printf(&small, "%s", ""));
    cs_buf_free(&small);
}

Test(records_base, a_length_that_overflows_is_refused) {
    cs_buf buf = CS_BUF_INIT(SIZE_MAX);
    cr_assert(cs_buf_text(&buf, "abc"));
    cr_assert_not(cs_buf_reserve(&buf, SIZE_MAX));
    cr_assert_not(cs_buf_reserve(&buf, SIZE_MAX - 3));
    cr_assert_not(cs_buf_reserve(&buf, SIZE_MAX / 2 + 1));
    cr_assert(cs_view_is(cs_buf_view(&buf), "abc"));
    cs_buf_free(&buf);
}

Test(records_base, clear_keeps_the_memory_and_free_may_come_twice) {
    cs_buf buf = CS_BUF_INIT(100);
    cr_assert(cs_buf_text(&buf, "abc"));
    cs_buf_clear(&buf);
    cr_assert_eq(buf.len, 0);
    cr_assert_neq(buf.cap, 0);
    cs_buf_free(&buf);
    cs_buf_free(&buf);
    cr_assert_null(buf.ptr);
    cr_assert(cs_buf_text(&buf, "again"));
    cs_buf_free(&buf);
}

Test(records_base, views_compare_by_length_and_bytes) {
    cr_assert(cs_view_is(cs_view_of("abc"), "abc"));
    cr_assert_not(cs_view_is(cs_view_of("abc"), "abd"));
    cr_assert_not(cs_view_is(cs_view_of("abc"), "ab"));
    cr_assert_not(cs_view_is(cs_view_bytes("ab\0", 3), "ab"));
    cr_assert(cs_view_is(cs_view_bytes(NULL, 0), ""));
    cr_assert(cs_view_equal(cs_view_of(NULL), cs_view_of("")));
    cr_assert(cs_view_equal(cs_view_bytes("a\0b", 3), cs_view_bytes("a\0b", 3)));
    cr_assert_not(cs_view_equal(cs_view_bytes("a\0b", 3), cs_view_bytes("a\0c", 3)));
}
