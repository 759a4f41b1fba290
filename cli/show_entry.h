/* One entry, decoded for showing, and (with trusted keys) checked by itself. */
#ifndef CS_CLI_SHOW_ENTRY_H
#define CS_CLI_SHOW_ENTRY_H

#include "records/dsse.h"
#include "records/statement.h"
#include "records/verdict.h"
#include "verify/trust.h"
#include "verify/source.h"

/* What was found in an entry. Start with all zero; end with cs_shown_free. */
typedef struct cs_shown {
    const cs_entry *entry; /* borrowed */
    cs_envelope envelope;
    bool enveloped; /* `envelope` is filled */
    cs_statement statement;
    bool stated; /* `statement` is filled */
    cs_read_verdict verdict;
    bool judged; /* `verdict` is filled: an entry of the kind */
    cs_run_request *request;
    cs_run_response *response;
    bool checked;     /* with trusted keys; otherwise `result` is about decoding only */
    bool timeless;    /* has no time of its own, and its key is trusted for a window of time only */
    cs_result result; /* CS_OK, or that of the first thing that went wrong */
    cs_error err;
} cs_shown;

/* Decode as much as can be decoded; with `trust` (may be NULL) also check the signature, the record
 * and the digests of this one entry. Order, chains and completeness are the matter of `verify`. */
void cs_show_decode(const cs_entry *entry, const cs_trust *trust, cs_shown *out);
void cs_shown_free(cs_shown *shown);

/* "run", "session-call", "unanswered-call", "close", "checkpoint", "link" (one of an entry that is not there),
 * "verdict", "finding" or "unreadable". */
const char *cs_shown_kind(const cs_shown *shown);

/* Which of the two statements of a verdict it is: "test-result" or "summary". */
const char *cs_shown_statement(const cs_read_verdict *read);

/* "not-checked", "passed", "signature-only" (good, but whether it was signed in the window of its key is not for this
 * entry alone to tell), "failed", "unsigned" (an entry without an envelope), "could-not-check". */
const char *cs_shown_verification(const cs_shown *shown);

/* The signed record, or what the response of a finding claims; NULL when there is none. Borrows. */
const cs_run_record *cs_shown_record(const cs_shown *shown);

#endif
