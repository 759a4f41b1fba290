/* What is expected of an input: reading it, and comparing. */
#include "verify/expect.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/support/expect.h"
#include "tests/support/forge.h"

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define C "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static cs_error err;

static cs_expect *read_bytes(const char *text, size_t len) {
    cs_expect *expect = NULL;
    EXPECT_OK(cs_expect_parse(cs_view_bytes(text, len), &expect, &err), err);
    cr_assert_not_null(expect);
    return expect;
}

#define READ(text) read_bytes(text, sizeof(text) - 1)

static void refuse(const char *text, size_t len, const char *where) {
    cs_expect *expect = (cs_expect *)&err; /* anything that is not NULL */
    EXPECT_CODE(cs_expect_parse(cs_view_bytes(text, len), &expect, &err), err, CS_UNCHECKED, CS_CODE_EXPECT_MALFORMED);
    cr_expect_null(expect);
    EXPECT_WHERE(err, where);
}

#define REFUSE(text, where) refuse(text, sizeof(text) - 1, where)

static bool see(cs_expect *expect, const char *digest) {
    return cs_expect_see(expect, cs_view_of(digest));
}

Test(expect, comments_and_empty_lines_are_passed_over) {
    cs_expect *expect = READ("# one\n\n" A "\n#" B "\n#\n" B "\n\n");
    cr_expect_eq(cs_expect_total(expect), 2);
    cr_expect_str_eq(cs_expect_missing_at(expect, 0), A);
    cr_expect_str_eq(cs_expect_missing_at(expect, 1), B);
    cr_expect_null(cs_expect_missing_at(expect, 2));
    cs_expect_free(expect);
    cs_expect_free(NULL);
}

Test(expect, anything_else_is_malformed_and_its_line_is_told) {
    cs_expect_free(READ(A "\n" B "\n"));
    REFUSE(A "\n" B, "line 2");
    REFUSE(A, "line 1");
    REFUSE(A "\n" B "\r\n", "line 2");
    REFUSE(A "\n " B "\n", "line 2");
    REFUSE(A "\n" B " \n", "line 2");
    REFUSE(A "\n" B "b\n", "line 2");
    REFUSE("#\n\n" A "\naaa\n", "line 4");
    REFUSE(A "\nBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB\n", "line 2");
    REFUSE(A "\n" B "  hello.json\n", "line 2");
    REFUSE(A "\n\0\n", "line 2");
    REFUSE(A "\n #\n", "line 2");
    REFUSE(A "\n# no newline", "line 2");
    REFUSE("\xEF\xBB\xBF" A "\n", "line 1");
}

Test(expect, nothing_expected_is_malformed) {
    cs_expect_free(READ("#\n" A "\n"));
    REFUSE("#\n", "");
    REFUSE("", "");
    REFUSE("\n\n", "");
}

Test(expect, what_was_seen_is_not_missing) {
    cs_expect *expect = READ(B "\n" A "\n" C "\n");
    cr_expect_eq(cs_expect_missing(expect), 3);
    cr_expect(see(expect, A));
    cr_expect_eq(cs_expect_missing(expect), 2);
    cr_expect_str_eq(cs_expect_missing_at(expect, 0), C);
    cr_expect_str_eq(cs_expect_missing_at(expect, 1), B);
    cr_expect_null(cs_expect_missing_at(expect, 2));
    cr_expect(see(expect, B));
    cr_expect(see(expect, C));
    cr_expect_eq(cs_expect_missing(expect), 0);
    cr_expect_eq(cs_expect_surplus(expect), 0);
    cr_expect_eq(cs_expect_total(expect), 3);
    cr_expect_null(cs_expect_missing_at(expect, 0));
    cs_expect_free(expect);
}

Test(expect, what_was_not_expected_is_surplus) {
    cs_expect *expect = READ(A "\n");
    cr_expect_not(see(expect, B));
    cr_expect_eq(cs_expect_surplus(expect), 1);
    cr_expect_eq(cs_expect_missing(expect), 1);
    cr_expect(see(expect, A));
    cr_expect_not(see(expect, A));
    cr_expect_eq(cs_expect_surplus(expect), 2);
    cr_expect_eq(cs_expect_missing(expect), 0);
    cr_expect_not(see(expect, ""));
    cr_expect_not(see(expect, A "a"));
    cr_expect_not(cs_expect_see(expect, (cs_view){.ptr = NULL}));
    cr_expect_eq(cs_expect_surplus(expect), 5);
    cs_expect_free(expect);
}

/* Two of A, and one of B between them. */
Test(expect, a_digest_is_expected_as_often_as_it_stands) {
    cs_expect *expect = READ(A "\n" B "\n" A "\n");
    cr_expect_eq(cs_expect_total(expect), 3);
    cr_expect_str_eq(cs_expect_missing_at(expect, 0), A);
    cr_expect_str_eq(cs_expect_missing_at(expect, 1), A);
    cr_expect_str_eq(cs_expect_missing_at(expect, 2), B);
    cr_expect(see(expect, A));
    cr_expect_str_eq(cs_expect_missing_at(expect, 0), A);
    cr_expect_str_eq(cs_expect_missing_at(expect, 1), B);
    cr_expect(see(expect, A));
    cr_expect_not(see(expect, A));
    cr_expect_eq(cs_expect_missing(expect), 1);
    cr_expect_eq(cs_expect_surplus(expect), 1);
    cs_expect_free(expect);
}

/* Against a simple count, in an order that is not that of the file. */
Test(expect, many) {
    enum { MANY = 5000 };
    char *digests[MANY];
    CS_AUTO_BUF text = CS_BUF_INIT(CS_MAX_EXPECTED_FILE);
    for (unsigned i = 0; i < MANY; i++) {
        digests[i] = forge_sha256(&i, sizeof i);
        cr_assert(cs_buf_printf(&text, "%s\n", digests[i]));
    }
    cs_expect *expect = read_bytes((const char *)text.ptr, text.len);
    for (unsigned i = 0; i < MANY; i++)
        if (i != 77) cr_assert(see(expect, digests[MANY - 1 - i]));
    cr_expect_eq(cs_expect_missing(expect), 1);
    cr_expect_str_eq(cs_expect_missing_at(expect, 0), digests[MANY - 1 - 77]);
    cs_expect_free(expect);
}

Test(expect, files) {
    char path[64];
    cs_expect *expect = NULL;
    forge_write(A "\n", 65, path);
    EXPECT_OK(cs_expect_load(path, &expect, &err), err);
    cr_expect_eq(cs_expect_total(expect), 1);
    cs_expect_free(expect);
    unlink(path);
    forge_write(A "\n", 64, path);
    EXPECT_CODE(cs_expect_load(path, &expect, &err), err, CS_UNCHECKED, CS_CODE_EXPECT_MALFORMED);
    cr_expect_null(expect);
    EXPECT_WHERE(err, forge_text("%s: line 1", path));
    unlink(path);
    EXPECT_CODE(cs_expect_load("/nonexistent/expected", &expect, &err), err, CS_UNCHECKED, CS_CODE_IO);
    EXPECT_WHERE(err, "/nonexistent/expected");
    EXPECT_CODE(cs_expect_load("/proc", &expect, &err), err, CS_UNCHECKED, CS_CODE_IO);
}

Test(expect, a_file_has_at_most_64_mib) {
    char *text = malloc(CS_MAX_EXPECTED_FILE + 1);
    cr_assert_not_null(text);
    memset(text, '\n', CS_MAX_EXPECTED_FILE + 1);
    memcpy(text, A, 64);
    cs_expect_free(read_bytes(text, CS_MAX_EXPECTED_FILE));
    refuse(text, CS_MAX_EXPECTED_FILE + 1, "");
    free(text);
}
