#include <criterion/criterion.h>
#include <string.h>

#include "records/error.h"
#include "records/text.h"

Test(records_error, a_failure_carries_code_class_and_text) {
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(err.code, CS_CODE_INTERNAL);
    cs_error_where(&err, "old");
    cr_assert_eq(cs_fail(&err, CS_CODE_RECORD_DIGEST, "found %d, expected %s", 3, "four"), CS_FAILED);
    cr_assert_eq(err.code, CS_CODE_RECORD_DIGEST);
    cr_assert_str_eq(err.message, "found 3, expected four");
    cr_assert_str_eq(err.where, "");
    cr_assert_eq(cs_fail(NULL, CS_CODE_IO, "no one listens"), CS_UNCHECKED);
}

Test(records_error, text_can_steer_no_terminal) {
    cs_error err = CS_ERROR_INIT;
    (void)cs_fail(&err, CS_CODE_IO, "name %s", "\x1b[31m\xe2\x80\xae\xff\\");
    cr_assert_str_eq(err.message, "name \\x1b[31m\\u{202e}\\xff\\\\");
    (void)cs_fail_differs(&err, CS_CODE_IO, "differs", cs_view_of("a\nb"), cs_view_bytes("a\0b", 3));
    cr_assert_str_eq(err.message, "differs");
    cr_assert_str_eq(err.expected, "a\\x0ab");
    cr_assert_str_eq(err.found, "a\\x00b");
}

Test(records_error, long_text_is_shortened_visibly) {
    char text[4000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    cs_error err = CS_ERROR_INIT;
    (void)cs_fail(&err, CS_CODE_IO, "%s", text);
    cr_assert_eq(strlen(err.message), sizeof err.message - 1);
    cr_assert_str_eq(err.message + sizeof err.message - 5, "a...");
    (void)cs_fail_differs(&err, CS_CODE_IO, "x", cs_view_of(text), cs_view_of("b"));
    cr_assert_eq(strlen(err.expected), sizeof err.expected - 1);
    cr_assert_str_eq(err.expected + sizeof err.expected - 5, "a...");
    cr_assert_str_eq(err.found, "b");
}

Test(records_error, where_grows_outward) {
    cs_error err = CS_ERROR_INIT;
    (void)cs_fail(&err, CS_CODE_IO, "x");
    cs_error_where(&err, "entry %d", 3);
    cr_assert_str_eq(err.where, "entry 3");
    cs_error_where(&err, "%s", "led\x07ger.db");
    cr_assert_str_eq(err.where, "led\\x07ger.db: entry 3");
    cs_error_where(NULL, "nothing");

    char text[400];
    memset(text, 'p', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    cs_error_where(&err, "%s", text);
    cr_assert_eq(strlen(err.where), sizeof err.where - 1);
    cr_assert_str_eq(err.where + sizeof err.where - 4, "...");
}

/* Both halves fit by themselves, and the cut falls into the middle of a character of the second. */
Test(records_error, where_is_cut_between_characters) {
    for (size_t shift = 0; shift < 4; shift++) {
        cs_error err = CS_ERROR_INIT;
        char outer[220];
        memset(outer, 'p', sizeof outer);
        outer[200 + shift] = '\0';
        (void)cs_fail(&err, CS_CODE_IO, "x");
        for (int i = 0; i < 15; i++)
            memcpy(err.where + 4 * i, "\xF0\x9F\x98\x80", 5);
        cs_error_where(&err, "%s", outer);
        size_t len = strlen(err.where);
        cr_assert(cs_utf8_valid(cs_view_of(err.where)), "%s", err.where);
        cr_assert_str_eq(err.where + len - 3, "...");
        cr_assert_geq(len, sizeof err.where - 4);
    }
}

Test(records_error, more_is_said_at_the_end_of_the_message) {
    cs_error err = CS_ERROR_INIT;
    (void)cs_fail(&err, CS_CODE_IO, "first");
    cs_error_also(&err, "; then %d", 2);
    cr_assert_str_eq(err.message, "first; then 2");
    cs_error_also(NULL, "nothing");

    /* What is exactly as long as may be stays; one byte more is cut. */
    char text[sizeof err.message];
    memset(text, 'p', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    (void)cs_fail(&err, CS_CODE_IO, "x");
    cs_error_also(&err, "%.*s", (int)sizeof text - 2, text);
    cr_assert_eq(strlen(err.message), sizeof err.message - 1);
    cr_assert_str_eq(err.message + sizeof err.message - 4, "ppp");
    (void)cs_fail(&err, CS_CODE_IO, "x");
    cs_error_also(&err, "%s", text);
    cr_assert_eq(strlen(err.message), sizeof err.message - 1);
    cr_assert_str_eq(err.message + sizeof err.message - 5, "p...");
    cr_assert_eq(err.code, CS_CODE_IO);
}

Test(records_error, an_argument_may_point_into_the_error_itself) {
    cs_error err = CS_ERROR_INIT;
    (void)cs_fail(&err, CS_CODE_IO, "inner");
    (void)cs_fail(&err, CS_CODE_LEDGER_WRITE, "outer: %s", err.message);
    cr_assert_str_eq(err.message, "outer: inner");
}

Test(records_error, recode_changes_the_code_but_not_what_could_not_be_checked) {
    cs_error err = CS_ERROR_INIT;
    (void)cs_fail(&err, CS_CODE_MESSAGE_MALFORMED, "not a RunResponse");
    cs_error_where(&err, "answer");
    cr_assert_eq(cs_error_recode(&err, CS_CODE_UNANSWERED_MALFORMED), CS_MAYBE_RAN);
    cr_assert_eq(err.code, CS_CODE_UNANSWERED_MALFORMED);
    cr_assert_str_eq(err.message, "not a RunResponse");
    cr_assert_str_eq(err.where, "answer");

    (void)cs_fail(&err, CS_CODE_NO_MEMORY, "no memory");
    cr_assert_eq(cs_error_recode(&err, CS_CODE_UNANSWERED_MALFORMED), CS_UNCHECKED);
    cr_assert_eq(err.code, CS_CODE_NO_MEMORY);
    cr_assert_eq(cs_error_recode(NULL, CS_CODE_UNANSWERED_MALFORMED), CS_MAYBE_RAN);
}
