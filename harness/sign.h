/* The one narrow door to the key: it takes what was checked, and gives an envelope.
 *
 * There is no function that signs arbitrary bytes. A later step moves the key behind this door into
 * a process of its own.
 */
#ifndef CS_HARNESS_SIGN_H
#define CS_HARNESS_SIGN_H

#include "harness/key.h"
#include "records/session.h"
#include "records/statement.h"
#include "records/verdict.h"

/* Append the envelope over the run-record statement of a run that passed every check, or of a session call
 * without an answer whose record did. */
CS_MUST_CHECK cs_result cs_sign_run(const cs_key *key, const cs_checked_run *run, cs_buf *envelope, cs_error *err);

/* Append the envelope over the session-close statement of a close that agrees with its chain. */
CS_MUST_CHECK cs_result cs_sign_close(const cs_key *key, const cs_checked_close *close, cs_buf *envelope,
                                      cs_error *err);

/* Append the envelope over the bundle-link statement of a line that was verified. */
CS_MUST_CHECK cs_result cs_sign_link(const cs_key *key, const cs_bundle_link *link, cs_buf *envelope, cs_error *err);

/* Append the envelope over one of the two statements of a verdict that is of its form (cs_verdict_check). */
CS_MUST_CHECK cs_result cs_sign_verdict(const cs_key *key, cs_verdict_kind kind, const cs_stated_verdict *verdict,
                                        cs_buf *envelope, cs_error *err);

#endif
