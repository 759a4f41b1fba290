/* verify/line.h: a line from its parts, and back. */
#include "verify/line.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/forge.h"
#include "verify/source_impl.h"

/* A line of each form, linked and not. */
static forge_bundle all_forms(void) {
    forge_key key = forge_key_from(1);
    forge_bundle plain = {.count = 0};
    forge_run run = forge_single();
    run.version = 3;
    run.unanswered = "unavailable";
    for (size_t i = 0; i < 3; i++) { /* every rest of a division by three */
        run.code = i == 0 ? "a" : i == 1 ? "ab" : "abc";
        forge_seal(&run);
        forge_add(&plain, forge_run_line(&key, &run));
    }
    forge_session(&plain, &key, FORGE_SESSION, 1, NULL);
    forge_bundle all = plain;
    forge_link_lines(&plain, &key, 0);
    for (size_t i = 0; i < plain.count; i++)
        forge_add(&all, plain.lines[i]);
    return all;
}

Test(line, what_was_split_is_put_together_again) {
    forge_bundle all = all_forms();
    cr_assert_eq(all.count, 11);
    CS_AUTO_BUF request = CS_BUF_INIT(4096);
    CS_AUTO_BUF response = CS_BUF_INIT(4096);
    CS_AUTO_BUF line = CS_BUF_INIT(65536);
    for (size_t i = 0; i < all.count; i++) {
        cs_entry entry = {.number = 1};
        size_t offset = 99;
        cs_view text = cs_view_of(all.lines[i]);
        cr_assert_eq(cs_bundle_line_split(text, &request, &response, &entry, NULL), CS_OK);
        cs_buf_clear(&line);
        cr_assert(cs_bundle_line_write(&entry, &line, &offset));
        cr_expect(cs_view_equal(cs_buf_view(&line), text), "line %zu", i);
        cr_expect_eq(cs_bundle_line_size(&entry), text.len, "line %zu", i);
        if (entry.link.ptr != NULL) cr_expect_eq(offset, entry.link_offset);
    }
}

Test(line, no_room_leaves_the_buffer_as_it_was) {
    cs_entry entry = {.envelope = cs_view_of("{}")};
    CS_AUTO_BUF line = CS_BUF_INIT(20);
    cr_assert(cs_buf_text(&line, "before"));
    cr_expect_eq(cs_bundle_line_size(&entry), strlen("{\"envelope\":{}}"));
    cr_expect_not(cs_bundle_line_write(&entry, &line, NULL));
    cr_expect(cs_view_is(cs_buf_view(&line), "before"));
    line.max = 21;
    cr_expect(cs_bundle_line_write(&entry, &line, NULL));
    cr_expect(cs_view_is(cs_buf_view(&line), "before{\"envelope\":{}}"));
}
