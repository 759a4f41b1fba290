/* A live session, from its opening to its close: each call is checked, signed and kept as it is answered, and the
 * close only when it agrees with them (docs/FORMAT.md, "Session checks").
 *
 * Describe is asked before the opening and after the close, not around each call: provider, tier and policy of
 * every record must be those of the opening, and the close is not signed when the daemon then describes itself
 * otherwise. A session without a signed close does not verify.
 *
 * The session id is a secret. It stands in locked memory until the close, and in no report, error or entry.
 */
#ifndef CS_HARNESS_SESSION_H
#define CS_HARNESS_SESSION_H

#include "harness/run.h"
#include "records/session.h"

/* One session. Its members are for reading, but for `id`, which nobody else reads. */
typedef struct cs_session {
    cs_run_options options;         /* as given; everything in it is borrowed */
    cs_open_session_request *terms; /* as sent; owned */
    cs_run_report opening;          /* what came of the opening; its message has no id any more */
    cs_session_chain chain;
    bool opened;  /* the opening passed its checks */
    bool stopped; /* no further call is sent; why_stopped says why */
    cs_error why_stopped;
    bool lost;    /* a call got neither an answer nor a record: the daemon may have counted it */
    bool unkept;  /* a good call could not be signed or kept: no close may then be signed */
    char *id;     /* until the close; NULL otherwise */
} cs_session;

/* Open a session with these terms (taken; protocol 0 is replaced by the number the daemon describes). *session is
 * always filled; returns session->opening.result. A session whose opening fails a check is closed again at once,
 * nothing is signed, and a finding without its bytes (they hold the id) is kept. So is one whose fingerprint the ledger
 * holds a close of: CS_CODE_CHAIN_REOPENED. When no believable answer
 * comes: CS_CODE_SESSION_OPEN_FAILED, class CS_NOT_RUN. */
CS_MUST_CHECK cs_result cs_session_open(const cs_run_options *options, cs_open_session_request *terms,
                                        cs_session *session);

/* Make one call (request taken). *report is always filled; returns report->result.
 * Answered: checked, signed, kept; the chain goes on. A failed check is kept as a finding, and the session is
 * stopped. Unanswered with a record that passes: that is signed and kept, the chain goes on, and the result is
 * still CS_MAYBE_RAN. Unanswered without one: a finding, and the session is stopped. Refused: nothing ran, and the
 * session goes on unless the daemon says that it ended. In a stopped session: CS_CODE_SESSION_STOPPED, and nothing
 * is sent. */
CS_MUST_CHECK cs_result cs_session_call(cs_session *session, cs_run_request *request, cs_run_report *report);

/* Close the session, also after the client's `stop`; *report is always filled. The close is signed and kept when it
 * states what the chain is and Describe says what it said before; otherwise a finding is kept. No believable
 * answer: CS_CODE_SESSION_UNCLOSED. The same code with the class CS_MAYBE_RAN: it counts the call that was lost. Call it once for every session that was opened. */
CS_MUST_CHECK cs_result cs_session_finish(cs_session *session, cs_run_report *report);

void cs_session_free(cs_session *session);

#endif
