/* A session while it lives: what is sent in it, and the chain of its records (docs/FORMAT.md,
 * "Session checks"). Pure; who talks to a daemon and who signs is elsewhere.
 *
 * The session id is a capability and therefore a secret: no error text of these functions quotes it.
 */
#ifndef CS_RECORDS_SESSION_H
#define CS_RECORDS_SESSION_H

#include "records/check.h"
#include "records/statement.h"

#define CS_SESSION_ID_DIGITS 32u /* hexadecimal, lowercase */

/* ---- what is sent --------------------------------------------------------------------------------- */

/* The limits of an opening: a known floor, a well-formed rule, a trace id as a run's.
 * CS_CODE_REQUEST_INVALID with the field in where. */
CS_MUST_CHECK cs_result cs_session_validate(const cs_open_session_request *terms, cs_error *err);

/* Name the language of a request's cell, if it has one, among those that the session is opened for. Repeated ones
 * stand once. */
CS_MUST_CHECK cs_result cs_session_speak(cs_open_session_request *terms, const cs_run_request *request, cs_error *err);

/* Make `request` what is sent as a call of a session with these terms, which is also what is stored of it:
 * the protocol of the session, the stronger of the two floors, and software that both rules allow.
 * CS_CODE_REQUEST_INVALID when it exceeds a limit of a request, has a payload that no session takes, states
 * another protocol, or asks for software that the session's rule excludes. */
CS_MUST_CHECK cs_result cs_session_bind(const cs_open_session_request *terms, cs_run_request *request, cs_error *err);

/* The message that goes out for a bound request. It borrows every part and is never freed. */
cs_session_run_request cs_session_call_of(const cs_run_request *request, cs_view session_id);

/* The stronger of two floors, of which either may be empty; borrows one of them. False when a word is
 * unknown. */
CS_MUST_CHECK bool cs_session_floor(cs_view a, cs_view b, cs_view *out);

/* Narrow the request's rule to what the session's rule (NULL: any) allows too. `exact` when either is.
 * CS_CODE_REQUEST_INVALID when nothing is left; the request's rule is then undefined. */
CS_MUST_CHECK cs_result cs_session_narrow(const cs_software_rule *session, cs_run_request *request, cs_error *err);

/* ---- the chain ------------------------------------------------------------------------------------ */

/* Where a session stands. Start it with cs_session_check_open. */
typedef struct cs_session_chain {
    cs_digest session;  /* fingerprint: SHA-256 of the id */
    uint64_t calls;     /* sequence of the newest call; 0 before the first */
    cs_digest last;     /* record digest of the newest call; empty before the first */
    cs_view provider;   /* as at the opening; these four borrow from its answer and from Describe */
    cs_view isolation;
    cs_view policy;
    cs_view software;
} cs_session_chain;

/* A close that agrees with its chain. Only cs_session_check_close makes one, and only such a one is signed. */
typedef struct cs_checked_close {
    const cs_session_chain *chain; /* borrowed */
    cs_session_close close;
} cs_checked_close;

/* Check the answer to an opening: the id has its form (session-id), the fingerprint is its digest
 * (session-fingerprint), provider and tier are those that the daemon described (provider-drift, tier-drift),
 * the tier is known and meets the floor, the software is allowed. *chain is then the chain without calls;
 * zeroed on failure. */
CS_MUST_CHECK cs_result cs_session_check_open(const cs_open_session_request *terms,
                                              const cs_open_session_response *response,
                                              const cs_describe_response *described, cs_session_chain *chain,
                                              cs_error *err);

/* Is this record, which passed by itself, the next of the chain? Its fingerprint (session-fingerprint),
 * sequence = calls + 1 (chain-sequence), previous = last (chain-previous), and provider, tier and policy as at
 * the opening; of an unanswered call, which has no response that could repeat it, also the software
 * (software-mismatch). */
CS_MUST_CHECK cs_result cs_session_check_next(const cs_session_chain *chain, const cs_run_record *record,
                                              cs_error *err);
/* The chain goes on to that record. */
void cs_session_advance(cs_session_chain *chain, const cs_checked_run *run);

/* Does the answer to a close state what the chain is? session-fingerprint, chain-close. */
CS_MUST_CHECK cs_result cs_session_check_close(const cs_session_chain *chain,
                                               const cs_close_session_response *response, cs_checked_close *out,
                                               cs_error *err);

/* Does it state the chain with exactly one call more, whose record is not known here? After a call that got neither an
 * answer nor a record, that is what an honest daemon states when the call reached it. */
CS_MUST_CHECK bool cs_session_close_counts_one_more(const cs_session_chain *chain,
                                                    const cs_close_session_response *response);

#endif
