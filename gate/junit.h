/* JUnit XML, as test runners write it: how many tests were executed, skipped, failed (docs/FORMAT.md, "Gate policy").
 *
 * The file was written by the very code that is judged. So the test cases themselves are counted, never the
 * attributes tests=, failures= and so on that summarise them: where these disagree, that is reported, and so is a suite
 * that states failures of which none of its cases shows one. How a case ended is told by words; one that is not known
 * is no pass. A document with a document type, an entity of its own, more than one root, or any other root than
 * testsuites or testsuite is refused.
 */
#ifndef CS_GATE_JUNIT_H
#define CS_GATE_JUNIT_H

#include "records/base.h"
#include "records/error.h"

#define CS_JUNIT_MAX_BYTES (8u << 20)
#define CS_JUNIT_MAX_CASES 200000u
#define CS_JUNIT_MAX_DEPTH 64u

typedef struct cs_junit {
    uint64_t cases;    /* testcase elements */
    uint64_t skipped;  /* with a skipped element, or an attribute that says that they did not run */
    uint64_t failed;   /* with a failure or error element, or a word that is not known (junit_words.h); one that is
                        * skipped too counts here and there */
    uint64_t executed; /* cases without skipped */
    uint64_t repeated; /* cases whose suites, classname and name were seen before; also counted above */
    bool lies;         /* a summarising attribute (tests, failures, errors, skipped) of a suite disagrees with its cases */
    char lie[160];     /* which, when it does; safe to print */
    bool hides;        /* a suite states failures or errors, and none of its cases failed or was tried again */
    char hidden[192];  /* which suite and what, when it does; safe to print */
    char first_failed[160]; /* name of the first failed case, escaped; empty: none */
    char first_reason[160]; /* what makes it failed when that is no failure or error element; safe to print; or empty */
} cs_junit;

/* CS_CODE_JUNIT_MALFORMED (failed) with the line; bytes that are not well-formed XML or not of this form. *out is then
 * all zeros. */
CS_MUST_CHECK cs_result cs_junit_read(cs_view xml, cs_junit *out, cs_error *err);

#endif
