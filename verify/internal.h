/* The verifier's parts, as they see one another. Not for other folders.
 *
 * verify.c           walks the source, reports, counts
 * verify_exchange.c  what one entry says about itself: envelope, statement, request, response
 * verify_link.c      where a line of a bundle stands among the others
 * verify_chain.c     where a session call stands in its session
 * verify_memory.c    what must be remembered of all entries, in a temporary database
 *
 * Every check answers CS_OK, CS_FAILED (reported, and the walk goes on) or something else, which ends
 * the walk. One fault is reported once: a check is silent about what an earlier reported fault
 * already explains, and only about that, so it can be silent only when the verdict is failed already.
 */
#ifndef CS_VERIFY_INTERNAL_H
#define CS_VERIFY_INTERNAL_H

#include "records/statement.h"
#include "verify/verify.h"

/* ---- what is remembered ----------------------------------------------------------------------- */

typedef struct cs_memory cs_memory;

/* One session, up to its newest call. */
typedef struct cs_chain {
    uint8_t session[CS_SHA256_BYTES]; /* fingerprint */
    uint8_t last[CS_SHA256_BYTES];    /* record digest of the newest call; meaningless without calls */
    uint64_t calls;                   /* sequence of the newest call; 0 before the first */
    uint64_t entry;                   /* the newest entry of this session */
    uint64_t holes;                   /* cs_holes.seen when that entry was read */
    uint32_t family;                  /* record version family of the first call: 1 or 2; 0 before it */
    bool odd;                         /* the newest call is of another family */
    bool closed;
    bool bad; /* something was wrong with it */
} cs_chain;

/* Gives an empty memory. All fail only with CS_UNCHECKED. */
CS_MUST_CHECK cs_result cs_memory_open(cs_memory **out, cs_error *err);
void cs_memory_close(cs_memory *memory);

/* Remember a record digest; *seen tells whether it was there before. */
CS_MUST_CHECK cs_result cs_memory_see(cs_memory *memory, const uint8_t digest[CS_SHA256_BYTES], bool *seen,
                                      cs_error *err);
/* What is known of a session; an unknown one is all zero but for its name. */
CS_MUST_CHECK cs_result cs_memory_load(cs_memory *memory, const uint8_t session[CS_SHA256_BYTES], cs_chain *out,
                                       cs_error *err);
CS_MUST_CHECK cs_result cs_memory_store(cs_memory *memory, const cs_chain *chain, cs_error *err);
/* Walk the sessions without a close, in the order of their newest entries. Only after the last store. */
CS_MUST_CHECK cs_result cs_memory_unclosed(cs_memory *memory, cs_chain *out, bool *more, cs_error *err);

/* ---- one entry -------------------------------------------------------------------------------- */

/* What one entry holds. Start with all zero; end with cs_exchange_clear. */
typedef struct cs_exchange {
    cs_envelope envelope;
    bool enveloped; /* `envelope` is filled */
    cs_statement statement;
    bool read; /* `statement` is filled */
    /* These lie in the workspace and in the entry's bytes, so they are gone with the next entry. */
    const cs_run_request *request;
    const cs_run_response *response;
    const cs_run_record *record; /* of a run that passed; borrows from the response or the statement */
    cs_checked_run checked;
    bool closes; /* it is a session's close */
    bool in_session;
    bool unanswered;
} cs_exchange;

/* Buffers that serve every entry. */
typedef struct cs_workspace {
    cs_sha256 *hash;
    cs_arena *arena; /* the messages of one entry */
    cs_buf signed_bytes;
    cs_buf statement;
} cs_workspace;

/* Everything an entry with an envelope says about itself. */
CS_MUST_CHECK cs_result cs_exchange_check(const cs_entry *entry, const cs_trust *trust, cs_workspace *work,
                                          cs_exchange *out, cs_error *err);
void cs_exchange_clear(cs_exchange *exchange);

/* Count what no digest of a run that passed covers. */
void cs_exchange_uncovered(const cs_exchange *exchange, cs_uncovered *counts);

/* ---- the lines of a bundle -------------------------------------------------------------------- */

typedef struct cs_lines {
    bool begun;       /* a line was read, and with it whether the bundle is linked */
    bool linked;      /* as the first line that could be read */
    bool odd;         /* the line before was not as the first one */
    bool before_bad;  /* the line before was bad: its digest may differ from the one that was signed */
    bool may_end;     /* the line before is a checkpoint, or may have been one and was reported */
    bool any_bad;     /* some line was bad */
    int64_t shift;    /* index minus line number, of the line before */
    uint64_t number;  /* of the line before */
    cs_digest before; /* digest of the line before; empty on the first line */
} cs_lines;

/* `content_bad`: this line's own content has failed and was reported. */
CS_MUST_CHECK cs_result cs_lines_check(cs_lines *lines, const cs_entry *entry, bool content_bad, const cs_trust *trust,
                                       cs_workspace *work, cs_error *err);
/* A line that could not even be read; `line` has ptr NULL when its bytes are not known. */
CS_MUST_CHECK cs_result cs_lines_skip(cs_lines *lines, uint64_t number, cs_view line, cs_workspace *work,
                                      cs_error *err);
/* At the end: is a linked bundle ended by a checkpoint? */
CS_MUST_CHECK cs_result cs_lines_end(const cs_lines *lines, cs_error *err);

/* ---- the sessions ----------------------------------------------------------------------------- */

/* Entries that failed and may have been a session's, each of which explains one missing call. */
typedef struct cs_holes {
    uint64_t seen;
    uint64_t spent;
} cs_holes;

/* A call that passed by itself; a close that is signed well. CS_CODE_CHAIN_*. */
CS_MUST_CHECK cs_result cs_chain_call(cs_memory *memory, cs_holes *holes, uint64_t entry, const cs_run_record *record,
                                      cs_error *err);
CS_MUST_CHECK cs_result cs_chain_close(cs_memory *memory, cs_holes *holes, uint64_t entry,
                                       const cs_session_close *close, bool *good, cs_error *err);
/* After the walk: may this session lack its close because of a failed entry? */
bool cs_chain_excused(const cs_chain *chain, cs_holes *holes);

#endif
