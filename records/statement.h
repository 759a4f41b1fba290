/* in-toto Statement v1 payloads: built exactly, and read exactly (docs/FORMAT.md, "Statements").
 *
 * A verifier builds the statement it expects and compares bytes; reading is for telling what a
 * statement claims and, when the bytes differ, why.
 */
#ifndef CS_RECORDS_STATEMENT_H
#define CS_RECORDS_STATEMENT_H

#include "records/message.h"
#include "records/sha256.h"

#define CS_STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define CS_PREDICATE_BASE "https://plimsollmark.github.io/plimsoll/"
#define CS_PREDICATE_RECORD CS_PREDICATE_BASE "run-record/v1"
#define CS_PREDICATE_CLOSE CS_PREDICATE_BASE "session-close/v1"
#define CS_PREDICATE_LINK CS_PREDICATE_BASE "bundle-link/v1"

typedef struct cs_session_close {
    char session[65]; /* fingerprint */
    uint64_t calls;
    char last_record_sha256[65]; /* empty without calls */
} cs_session_close;

typedef struct cs_bundle_link {
    uint64_t index;           /* 1-based line number */
    char previous_sha256[65]; /* empty on the first line */
    char entry_sha256[65];    /* empty on a checkpoint */
    bool checkpoint;
    uint64_t lines; /* of a checkpoint: index - 1 */
} cs_bundle_link;

typedef enum cs_statement_kind { CS_STATEMENT_RECORD, CS_STATEMENT_CLOSE, CS_STATEMENT_LINK } cs_statement_kind;

/* What a payload says. `record` is owned (cs_message_free) and set only for its kind. */
typedef struct cs_statement {
    cs_statement_kind kind;
    cs_run_record *record;
    cs_session_close close;
    cs_bundle_link link;
} cs_statement;

/* Append the payload. The record's record_sha256 is the subject; `close.session` and the link's
 * entry digest (a checkpoint's previous digest; empty on line 1) likewise. Text must be UTF-8. */
CS_MUST_CHECK bool cs_statement_record(const cs_run_record *record, cs_buf *out);
CS_MUST_CHECK bool cs_statement_close(const cs_session_close *close, cs_buf *out);
CS_MUST_CHECK bool cs_statement_link(const cs_bundle_link *link, cs_buf *out);

/* Read a payload: exact types (CS_CODE_STATEMENT_TYPE), one subject that equals the predicate's own
 * (CS_CODE_STATEMENT_SUBJECT), known members only and of the right form
 * (CS_CODE_STATEMENT_MALFORMED), and rebuilt from its own fields byte for byte, where \b and \f may
 * also stand as their \u escapes (CS_CODE_STATEMENT_NOT_REBUILT). End with cs_statement_free. */
CS_MUST_CHECK cs_result cs_statement_read(cs_view payload, cs_statement *out, cs_error *err);
void cs_statement_free(cs_statement *statement);

#endif
