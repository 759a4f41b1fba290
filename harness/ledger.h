/* The ledger writer: append-only SQLite (docs/FORMAT.md, "Ledger").
 *
 * WAL, synchronous FULL, STRICT tables. An append is one transaction and durable when the function
 * returns CS_OK. Several processes may append at once; each waits up to `lock_wait_ms` for the
 * others. UPDATE and DELETE are refused by triggers.
 */
#ifndef CS_HARNESS_LEDGER_H
#define CS_HARNESS_LEDGER_H

#include "records/error.h"
#include "verify/schema.h"

#define CS_LOCK_WAIT_MS 10000

typedef struct cs_ledger cs_ledger;

/* Open, or create with mode 0600 where there is none (and remove that again on failure); a ledger of an older version is
 * brought to the newest in one transaction, with every row and digest as it was. Gives *out. CS_CODE_LEDGER_MISSING (no
 * such folder), _FOREIGN, _VERSION (newer than this program), _SCHEMA, _CORRUPT, _LOCKED, _FULL, _WRITE; each message
 * says what to do. */
CS_MUST_CHECK cs_result cs_ledger_open(const char *path, int lock_wait_ms, cs_ledger **out, cs_error *err);
void cs_ledger_close(cs_ledger *ledger);
/* Close, and remove the file again when this very ledger was created by its opening and nobody has stored anything in
 * it: a command that fails leaves no empty ledger behind. */
void cs_ledger_close_or_remove(cs_ledger *ledger);

/* Append one row. Of `row`, the caller sets kind, added_unix_ms, daemon, code, detail, request,
 * response, envelope, link, describe_before, describe_after and record_sha256; id, previous_sha256 and
 * row_sha256 are set here. *id is the new row's, 0 on failure; a failed append leaves nothing behind.
 * CS_CODE_LEDGER_COLUMNS for a row that may not stand in a ledger, CS_CODE_LEDGER_ROW when the last row is
 * damaged; _LOCKED, _FULL, _WRITE, _CORRUPT. */
CS_MUST_CHECK cs_result cs_ledger_append(cs_ledger *ledger, const cs_ledger_row *row, int64_t *id, cs_error *err);

/* The entry that holds a signed close of the session with this fingerprint; *id is 0 when there is none. Only closes
 * are read. CS_CODE_LEDGER_ROW, with the entry in where, for one that can't be read; _LOCKED, _CORRUPT. */
CS_MUST_CHECK cs_result cs_ledger_find_close(cs_ledger *ledger, cs_view session, int64_t *id, cs_error *err);

/* The oldest of the newest 1,000 entries that holds the record with this digest; *id is 0 when none does. _LOCKED,
 * _CORRUPT. No index helps here, so older ones, whose times would be out of place by far, are left to `verify`. */
CS_MUST_CHECK cs_result cs_ledger_find_record(cs_ledger *ledger, cs_view record_sha256, int64_t *id, cs_error *err);

/* Several appends as one: between begin and commit every append is part of one transaction, nobody else can add, and
 * nothing is durable before the commit. After a failed append or commit only the undoing is left. Whatever else is
 * called then, a second begin, and a commit or walk without a begin are CS_CODE_INTERNAL, and store nothing.
 * cs_ledger_undo does nothing outside of a begun transaction. */
CS_MUST_CHECK cs_result cs_ledger_begin(cs_ledger *ledger, cs_error *err);
CS_MUST_CHECK cs_result cs_ledger_commit(cs_ledger *ledger, cs_error *err);
void cs_ledger_undo(cs_ledger *ledger);

/* Walk the rows that are there, in order, within a begun transaction (only so is what was read still true when
 * something is appended). Each row is checked as the reader of a ledger checks it, and borrowed for the callback; a
 * result other than CS_OK ends the walk and is returned. */
CS_MUST_CHECK cs_result cs_ledger_walk(cs_ledger *ledger,
                                       cs_result (*on_row)(void *user, const cs_ledger_row *row, cs_error *err),
                                       void *user, cs_error *err);

/* When an append fails after a call was answered: keep what was to be appended in a new file
 * (0600, exclusive) beside the ledger, or else in the current folder, or else in TMPDIR. One bundle line for
 * what is signed, so that `countersign verify` reads it; for a finding a JSON object with code, detail,
 * request and response in base64. `path_out` receives its path. CS_CODE_IO when no place takes it. */
CS_MUST_CHECK cs_result cs_side_file_write(const char *ledger_path, const cs_ledger_row *row,
                                           char *path_out, size_t path_size, cs_error *err);

#endif
