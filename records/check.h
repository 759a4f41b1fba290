/* The checks of one run, in the order of docs/FORMAT.md "Record checks". Each has its own code.
 *
 * What passed is a cs_checked_run; only these functions make one, and only a cs_checked_run can be
 * signed (harness/sign.h) or counted as a run.
 */
#ifndef CS_RECORDS_CHECK_H
#define CS_RECORDS_CHECK_H

#include "records/message.h"
#include "records/sha256.h"
#include "records/tier.h"

/* One call as the checker sees it. Everything is borrowed. */
typedef struct cs_call {
    const cs_run_request *request;   /* our own copy of what was sent */
    const cs_run_response *response; /* decoded from response_bytes */
    cs_view response_bytes;          /* for the coverage check */
    /* Live only: the daemon's own statement before and after the run. Both NULL: not checked. */
    const cs_describe_response *before;
    const cs_describe_response *after;
    /* Live only: our clock around the call, milliseconds since 1970; 0 and 0: not checked. */
    int64_t sent_unix_ms;
    int64_t received_unix_ms;
    int64_t skew_ms; /* allowance */
    bool in_session; /* the session fields are a chain's matter and are not checked here */
} cs_call;

#define CS_DEFAULT_SKEW_MS 5000

#define CS_MAX_WARNINGS 4u

/* What passed. Plain values; nothing to free. */
typedef struct cs_checked_run {
    const cs_run_record *record; /* borrows from the call's response */
    cs_digest request_sha256;    /* recomputed, not read */
    cs_digest result_sha256;
    cs_digest record_sha256;
    cs_tier tier;
    size_t warning_count;
    cs_code warnings[CS_MAX_WARNINGS]; /* times-reversed, clock-skew; a ledger adds record-duplicate */
} cs_checked_run;

/* Run every check of a single run; the first failure ends with its code, and *out is zeroed. */
CS_MUST_CHECK cs_result cs_check_run(const cs_call *call, cs_sha256 *hash, cs_checked_run *out, cs_error *err);

/* A stored session call that got no answer: version 3 or, in protocol 4, 4; empty result, `unanswered` one of
 * the 16 Connect codes, request digest, instance, rule id, own digest, tier and floor. */
CS_MUST_CHECK cs_result cs_check_unanswered(const cs_run_request *request, const cs_run_record *record,
                                            cs_sha256 *hash, cs_checked_run *out, cs_error *err);

/* Does the signed record equal the response's own in every field? CS_CODE_RECORD_DIFFERS with the
 * field in where. */
CS_MUST_CHECK cs_result cs_check_same_record(const cs_run_record *in_response, const cs_run_record *in_statement, cs_error *err);

#endif
