/* One error system: a stable code, and text for a person. They are separate.
 *
 * The code is what scripts, the JSON and the man page know (records/codes.h); it decides the result
 * class. The text says what was found, what was expected and what to do next. All text in a cs_error
 * is already safe to print: what comes from a daemon or a file is escaped when it is put in.
 */
#ifndef CS_RECORDS_ERROR_H
#define CS_RECORDS_ERROR_H

#include "records/base.h"
#include "records/codes.h"

typedef struct cs_error {
    cs_code code;
    char message[512];  /* one sentence, no final newline */
    char where[256];    /* path of the field, file, or entry; empty when it does not apply */
    char expected[160]; /* empty when it does not apply */
    char found[160];    /* escaped, shortened with "..." */
} cs_error;

#define CS_ERROR_INIT ((cs_error){.code = CS_CODE_INTERNAL})

/* Set the code and message (printf form; the outcome is escaped as a whole), clear where, expected
 * and found, and return the code's class: `return cs_fail(err, CS_CODE_X, "...")`. err may be NULL. */
cs_result cs_fail(cs_error *err, cs_code code, const char *fmt, ...) CS_PRINTF(3, 4);

/* The same for a comparison that failed: found and expected are raw bytes, escaped and shortened. */
cs_result cs_fail_differs(cs_error *err, cs_code code, const char *what, cs_view expected, cs_view found);

/* Say where. A second call puts its text before the first ("entry 3", then "ledger.db: entry 3"). */
void cs_error_where(cs_error *err, const char *fmt, ...) CS_PRINTF(2, 3);

/* Add to the message what it does not say yet. What the arguments hold must be safe to print: texts of a
 * cs_error, names of codes, what cs_escape_short gave. Shortened with "..." when it does not fit. */
void cs_error_also(cs_error *err, const char *fmt, ...) CS_PRINTF(2, 3);

/* Keep everything but the code, which becomes `code`: for a caller that knows what a lower failure
 * means at its level (a message that does not decode is "answer-malformed" to the client). Leaves the
 * codes of class CS_UNCHECKED (no memory, I/O) alone. Returns the class now in force. */
cs_result cs_error_recode(cs_error *err, cs_code code);

#endif
