/* The ledger's SQLite schema, shared by its writer (harness/ledger.h) and its reader (verify/).
 * docs/FORMAT.md, "Ledger". */
#ifndef CS_VERIFY_SCHEMA_H
#define CS_VERIFY_SCHEMA_H

#include "records/error.h"
#include "records/sha256.h"

#define CS_LEDGER_APPLICATION_ID 0x43534c47 /* "CSLG" */
#define CS_LEDGER_VERSION 4                 /* user_version of the newest schema */
#define CS_MAX_LEDGER_MESSAGE ((size_t)48 * 1024 * 1024) /* bytes of one stored column */
#define CS_MAX_LEDGER_ROW ((size_t)128 * 1024 * 1024)    /* bytes of a whole row; all that a client takes in fits */

/* The statements that create the newest version, in order, NULL at the end. sqlite_schema holds exactly these
 * texts; a reader refuses a file whose schema differs (CS_CODE_LEDGER_SCHEMA), since a view or a
 * trigger of a stranger could show it something else than what is stored. */
extern const char *const cs_ledger_schema[];
/* Those of a version; NULL when it is not known. Version 1 has no kinds `unanswered` and `close`; versions 1 and 2
 * have no kind `checkpoint` and no column `link`; versions 1 to 3 have no kind `verdict`. Rows of all versions and their
 * digests are the same. */
const char *const *cs_ledger_schema_of(int64_t version);

/* The kinds of entries. */
#define CS_KIND_RUN "run"               /* a signed run or session call: request, response, envelope */
#define CS_KIND_UNANSWERED "unanswered" /* a signed session call without an answer: request, envelope */
#define CS_KIND_CLOSE "close"           /* a session's signed close: envelope */
#define CS_KIND_CHECKPOINT "checkpoint" /* of an imported bundle: link alone */
#define CS_KIND_VERDICT "verdict"       /* a signed statement of a gate's verdict: envelope alone */
#define CS_KIND_FINDING "finding"       /* a failed check or a call without an answer: code, bytes, no envelope */

/* One row as it is stored. All views are borrowed; absent ones have ptr NULL. */
typedef struct cs_ledger_row {
    int64_t id; /* 1, 2, 3, ... without a gap */
    int64_t added_unix_ms;
    cs_view kind;
    cs_view daemon;          /* base URL the call went to, or empty */
    cs_view code;            /* of a finding; else empty */
    cs_view detail;          /* text of a finding; else empty */
    cs_view request;         /* binary RunRequest as sent; of a session call without the session id */
    cs_view response;        /* binary RunResponse as received; absent when there was none */
    cs_view envelope;        /* compact JSON; absent for a finding and a checkpoint */
    cs_view link;            /* of a line of an imported linked bundle: its link, compact JSON; else absent */
    cs_view describe_before; /* binary DescribeResponse; may be absent */
    cs_view describe_after;
    cs_view record_sha256;   /* hex text of a run or unanswered call; else empty */
    cs_view previous_sha256; /* row_sha256 of the row before; empty on the first */
    cs_view row_sha256;      /* see cs_ledger_row_digest */
} cs_ledger_row;

/* Whether the columns may stand together in one row, before its digest is looked at: the kinds and what
 * each has, sizes, UTF-8 (CS_CODE_LEDGER_COLUMNS). The writer refuses such a row, the reader reports it. */
CS_MUST_CHECK cs_result cs_ledger_row_check(const cs_ledger_row *row, cs_error *err);

/* The digest that ties a row to the one before it: canonical encoding, domain
 * "countersign.ledger-row.v1", over every column but row_sha256, in the order above. A column that may be
 * absent is a group: a field with the count 0 or 1, then the value under the same name. The request and
 * response of a `run` go in only by length (decimal), since the signed digests and the coverage check
 * answer for their bytes; those of other kinds go in whole. A row with a link has the domain
 * "countersign.ledger-row.v2", and `link` behind previous_sha256. It has no key: it finds damage and lost rows,
 * not a forger who recomputes it; what is signed are the envelopes. False only when the hash fails. */
CS_MUST_CHECK bool cs_ledger_row_digest(cs_sha256 *hash, const cs_ledger_row *row, cs_digest *out);

#endif
