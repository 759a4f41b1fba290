/* --expect, --expect-count and --expect-head: what someone knows from elsewhere about the inputs of `verify`. The first
 * two are about all inputs together, and about distinct records: one that stands in two inputs counts once.
 */
#ifndef CS_CLI_EXPECTATION_H
#define CS_CLI_EXPECTATION_H

#include "cli/output.h"
#include "verify/expect.h"
#include "verify/seen.h"
#include "verify/verify.h"

typedef struct cs_expectation {
    /* the command line */
    const char *path; /* of the expected request digests; NULL: none */
    int64_t count;    /* of records; 0: none */
    const char *head; /* NULL: none */
    /* what comes of it */
    cs_expect *requests;
    cs_seen *seen; /* with several inputs */
    uint64_t records;
} cs_expectation;

/* Is something expected of all inputs together? */
bool cs_expectation_of_all(const cs_expectation *expectation);

/* Check the command line and read the file. Always end with cs_expectation_close. */
CS_MUST_CHECK cs_result cs_expectation_open(cs_expectation *expectation, char **inputs, size_t count, cs_error *err);
void cs_expectation_close(cs_expectation *expectation);

/* A run that passed. CS_FAILED with CS_CODE_EXPECT_SURPLUS: its request was not expected, or not so often. */
CS_MUST_CHECK cs_result cs_expectation_see(cs_expectation *expectation, const cs_verified_run *run, cs_error *err);

/* At the end, when every input passed or had nothing to verify (`verified`), otherwise nothing can be said: is all that
 * was expected there? Prints, and adds to the document. CS_CODE_EXPECT_MISSING, CS_CODE_EXPECT_COUNT; CS_OK also when
 * nothing can be said, since then the inputs have failed. */
CS_MUST_CHECK cs_result cs_expectation_settle(const cs_expectation *expectation, bool verified, cs_output *out,
                                              cs_error *err);

#endif
