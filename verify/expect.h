/* What someone knows from elsewhere about an input: which requests it must hold records of, or how many. A bundle or
 * ledger alone can't show that nothing is missing.
 */
#ifndef CS_VERIFY_EXPECT_H
#define CS_VERIFY_EXPECT_H

#include "records/error.h"
#include "records/sha256.h"

#define CS_MAX_EXPECTED_FILE ((size_t)64 * 1024 * 1024)

typedef struct cs_expect cs_expect;

/* From text: one request digest a line, 64 lowercase hexadecimal digits; a digest that stands n times is expected n
 * times. Empty lines and lines that begin with # are passed over; anything else is CS_CODE_EXPECT_MALFORMED with the
 * line in where, also a last line without its newline, and no digest at all. Gives *out. */
CS_MUST_CHECK cs_result cs_expect_parse(cs_view text, cs_expect **out, cs_error *err);
/* From a file; "-" is standard input. CS_CODE_IO. */
CS_MUST_CHECK cs_result cs_expect_load(const char *path, cs_expect **out, cs_error *err);
void cs_expect_free(cs_expect *expect);

/* A distinct record that passed, of this request. False: it was not expected, or not so often; it is counted then. */
CS_MUST_CHECK bool cs_expect_see(cs_expect *expect, cs_view request_sha256);

/* How many were expected in all, how many of these were not seen, and how many were seen beyond that. */
uint64_t cs_expect_total(const cs_expect *expect);
uint64_t cs_expect_missing(const cs_expect *expect);
uint64_t cs_expect_surplus(const cs_expect *expect);
/* Walk the missing ones: the digest of number i (0 and up, each as often as it is missing), or NULL at the end. Borrowed. */
const char *cs_expect_missing_at(const cs_expect *expect, uint64_t i);

#endif
