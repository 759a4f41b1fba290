/* The verifier's parts, as they see one another. Not for other folders.
 *
 * verify.c           walks the source, reports, counts
 * verify_exchange.c  what one entry says about itself: envelope, statement, request, response
 * verify_verdict.c   what an entry with the statement of a verdict says
 * verify_link.c      what a link says of its line, and where a line of a bundle stands among the others
 * verify_imported.c  where a line of an imported bundle stands among the others in a ledger
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
    int64_t newest_ms;                /* when the newest of its records ended; INT64_MIN before the first */
    uint32_t family;                  /* record version family of the first call: 1, 2 or 4; 0 before it */
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
/* What is known of a session; an unknown one is all zero but for its name and newest_ms. */
CS_MUST_CHECK cs_result cs_memory_load(cs_memory *memory, const uint8_t session[CS_SHA256_BYTES], cs_chain *out,
                                       cs_error *err);
CS_MUST_CHECK cs_result cs_memory_store(cs_memory *memory, const cs_chain *chain, cs_error *err);
/* Walk the sessions without a close, in the order of their newest entries. Only after the last store. */
CS_MUST_CHECK cs_result cs_memory_unclosed(cs_memory *memory, cs_chain *out, bool *more, cs_error *err);

/* One line of an imported bundle, in a ledger. */
typedef struct cs_imported_line {
    uint8_t digest[CS_SHA256_BYTES]; /* of the line as it stood in the bundle */
    uint64_t index;
    uint64_t entry;
    uint64_t holes;    /* cs_holes.seen when that entry was read */
    int64_t newest_ms; /* when the newest record up to this line ended; INT64_MIN without any */
    bool checkpoint;
    bool followed; /* another line names it as the one before */
} cs_imported_line;

/* Remember a line; *added is false when a line of this digest was there before. */
CS_MUST_CHECK cs_result cs_memory_add_line(cs_memory *memory, const cs_imported_line *line, bool *added,
                                           cs_error *err);
CS_MUST_CHECK cs_result cs_memory_find_line(cs_memory *memory, const uint8_t digest[CS_SHA256_BYTES],
                                            cs_imported_line *out, bool *found, cs_error *err);
CS_MUST_CHECK cs_result cs_memory_follow_line(cs_memory *memory, const uint8_t digest[CS_SHA256_BYTES], cs_error *err);
/* Walk the lines that are no checkpoint and that nothing follows, in the order of their entries. Only after the last
 * addition. */
CS_MUST_CHECK cs_result cs_memory_unended(cs_memory *memory, cs_imported_line *out, bool *more, cs_error *err);

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
    cs_buf line; /* a line of an imported bundle, as it stood there; with more room than a line may take */
} cs_workspace;

/* Everything an entry with an envelope says about itself. */
CS_MUST_CHECK cs_result cs_exchange_check(const cs_entry *entry, const cs_trust *trust, cs_workspace *work,
                                          cs_exchange *out, cs_error *err);
void cs_exchange_clear(cs_exchange *exchange);

/* Count what no digest of a run that passed covers. */
void cs_exchange_uncovered(const cs_exchange *exchange, cs_uncovered *counts);

/* Everything an entry of the kind `verdict` says about itself. It is no part of a session or an imported bundle, so
 * that one which fails explains nothing that is missing there. */
CS_MUST_CHECK cs_result cs_stated_verdict_check(const cs_entry *entry, const cs_trust *trust, cs_buf *scratch,
                                                cs_error *err);

/* ---- what is missing -------------------------------------------------------------------------- */

/* Entries that failed, each of which explains one thing that is missing among the others. */
typedef struct cs_holes {
    uint64_t seen;
    uint64_t spent;
} cs_holes;

/* Do holes that were seen after the first `before` ones explain that `missing` are missing? They are spent then. */
CS_MUST_CHECK bool cs_holes_excuse(cs_holes *holes, uint64_t before, uint64_t missing);

/* ---- links ------------------------------------------------------------------------------------ */

/* A link that is to be checked, and what is known of the entry it stands on. */
typedef struct cs_linked {
    const cs_entry *entry;
    bool content_bad;    /* the entry's own content has failed, which was reported */
    int64_t ended_ms;    /* when the record in it ended; INT64_MIN without one that passed */
    cs_bundle_link link; /* what it states, when the check answers CS_OK; index 0 without a link */
} cs_linked;

/* The envelope of the link, signed under a trusted key. Free it when it is CS_OK. */
CS_MUST_CHECK cs_result cs_link_open(const cs_entry *entry, const cs_trust *trust, cs_workspace *work,
                                     cs_envelope *out, cs_error *err);
/* The statement in it, which is one of a link. */
CS_MUST_CHECK cs_result cs_link_read(cs_view payload, cs_bundle_link *out, cs_error *err);
/* Whether it says of its own line what that is. A wrong digest is silent when the content is bad. */
CS_MUST_CHECK cs_result cs_link_check_entry(const cs_bundle_link *found, const cs_bundle_link *expected,
                                            bool content_bad, cs_error *err);

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
    cs_digest before; /* digest of the line before; empty on the first line, and where it is not known */
    int64_t newest_ms; /* when the newest record up to the line before ended; INT64_MIN without any */
} cs_lines;

/* The line that comes next, with or without a link. */
CS_MUST_CHECK cs_result cs_lines_check(cs_lines *lines, cs_linked *linked, const cs_trust *trust, cs_workspace *work,
                                       cs_error *err);
/* A line that could not even be read; `line` has ptr NULL when its bytes are not known. */
CS_MUST_CHECK cs_result cs_lines_skip(cs_lines *lines, uint64_t number, cs_view line, cs_workspace *work,
                                      cs_error *err);
/* At the end: is a linked bundle ended by a checkpoint? */
CS_MUST_CHECK cs_result cs_lines_end(const cs_lines *lines, cs_error *err);

/* ---- the lines of imported bundles in a ledger ------------------------------------------------ */

/* Several bundles may stand in one ledger, each continued later. What is known of their lines is in the memory; here
 * is only what explains that something is missing. An entry that failed may have been a line before another one, and
 * a line behind another one. */
typedef struct cs_imported {
    cs_holes before;
    cs_holes after;
} cs_imported;

/* An entry with a link. */
CS_MUST_CHECK cs_result cs_imported_check(cs_imported *imported, cs_memory *memory, cs_linked *linked,
                                          const cs_trust *trust, cs_workspace *work, cs_error *err);
/* An entry that could not be read. */
void cs_imported_skip(cs_imported *imported);
/* After the walk, of each line of cs_memory_unended: is the end of its bundle missing? */
CS_MUST_CHECK cs_result cs_imported_end(cs_imported *imported, const cs_imported_line *line, cs_error *err);

/* ---- the sessions ----------------------------------------------------------------------------- */

/* A call that passed by itself; a close that is signed well. CS_CODE_CHAIN_*. The holes are entries that failed and may
 * have been a session's. *newest_ms becomes when the newest record of the session ended, INT64_MIN without any. */
CS_MUST_CHECK cs_result cs_chain_call(cs_memory *memory, cs_holes *holes, uint64_t entry, const cs_run_record *record,
                                      cs_error *err);
CS_MUST_CHECK cs_result cs_chain_close(cs_memory *memory, cs_holes *holes, uint64_t entry,
                                       const cs_session_close *close, bool *good, int64_t *newest_ms,
                                       cs_error *err);
/* After the walk: may this session lack its close because of a failed entry? */
bool cs_chain_excused(const cs_chain *chain, cs_holes *holes);

#endif
