/* The few types that everything else is made of: byte views, owned buffers, results.
 *
 * Ownership is said in three words. A function that *borrows* keeps no pointer after it returns (or
 * says until when it does); one that *gives* hands an owned object to the caller, who frees it; one
 * that *takes* becomes the owner of what it was passed, also when it fails.
 */
#ifndef CS_RECORDS_BASE_H
#define CS_RECORDS_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CS_MUST_CHECK __attribute__((warn_unused_result))
#define CS_PRINTF(fmt_index, first_index) __attribute__((format(printf, fmt_index, first_index)))

/* What became of something. The numbers are the exit codes of every command (docs/FORMAT.md,
 * "Exit codes"); "it is wrong" and "it could not be checked" stay apart from here to the shell. */
typedef enum cs_result {
    CS_OK = 0,        /* every check passed, and there was something to check */
    CS_FAILED = 1,    /* a check failed: it was checked and it is wrong */
    CS_USAGE = 2,     /* the command line is wrong */
    CS_NOT_RUN = 3,   /* nothing ran: refused before dispatch, or never sent; safe to send again */
    CS_MAYBE_RAN = 4, /* it may have run: no believable answer; never retried by itself */
    CS_UNCHECKED = 5, /* could not check: unreadable input, missing key, I/O or database error */
    CS_NOTHING = 6    /* nothing to check */
} cs_result;

/* Borrowed bytes. ptr may be NULL when len is 0. */
typedef struct cs_view {
    const uint8_t *ptr;
    size_t len;
} cs_view;

/* Owned bytes that grow up to a hard maximum. Start with CS_BUF_INIT(max); end with cs_buf_free. */
typedef struct cs_buf {
    uint8_t *ptr;
    size_t len;
    size_t cap;
    size_t max; /* bytes; growing past it fails and leaves the content as it was */
} cs_buf;

#define CS_BUF_INIT(max_bytes) ((cs_buf){.ptr = NULL, .len = 0, .cap = 0, .max = (max_bytes)})

/* Views of a C string (without its NUL), of a buffer, of any bytes. All borrow. */
cs_view cs_view_of(const char *text);
cs_view cs_view_bytes(const void *ptr, size_t len);
cs_view cs_buf_view(const cs_buf *buf);

bool cs_view_equal(cs_view a, cs_view b);
bool cs_view_is(cs_view a, const char *text);

/* Append bytes, C text, or one byte. False when the maximum or memory is exceeded; the buffer is
 * then unchanged. */
CS_MUST_CHECK bool cs_buf_append(cs_buf *buf, const void *ptr, size_t len);
CS_MUST_CHECK bool cs_buf_text(cs_buf *buf, const char *text);
CS_MUST_CHECK bool cs_buf_byte(cs_buf *buf, uint8_t byte);
CS_MUST_CHECK bool cs_buf_printf(cs_buf *buf, const char *fmt, ...) CS_PRINTF(2, 3);

/* Make room for `more` further bytes without changing the content. */
CS_MUST_CHECK bool cs_buf_reserve(cs_buf *buf, size_t more);

void cs_buf_clear(cs_buf *buf); /* len = 0, the memory stays */
void cs_buf_free(cs_buf *buf);  /* frees; safe on an empty or already freed buffer */

/* For `__attribute__((cleanup(...)))` beside a declaration. */
#define CS_AUTO_BUF __attribute__((cleanup(cs_buf_free))) cs_buf

#endif
