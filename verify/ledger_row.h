/* The rows of a ledger, taken from the file one by one in the order of their ids, each checked by itself and against
 * the row before. Shared by the reader (verify/source_ledger.c) and the writer's walk (harness/ledger.c).
 */
#ifndef CS_VERIFY_LEDGER_ROW_H
#define CS_VERIFY_LEDGER_ROW_H

#include "verify/ledger_file.h"
#include "verify/schema.h"

/* What is known of the row before. Start with {0}. */
typedef struct cs_ledger_place {
    bool begun; /* a row was taken; before that the others say nothing */
    int64_t last_id;
    cs_digest last_digest; /* the row_sha256 that it states */
} cs_ledger_place;

/* Prepare to read all rows of a ledger of that version from id `first` on. The caller finalises *out, also when this
 * fails. */
CS_MUST_CHECK cs_result cs_ledger_rows_prepare(const cs_ledger_file *file, int64_t version, int64_t first,
                                               sqlite3_stmt **out, cs_error *err);

/* The row on which `rows` stands after a step; its views are borrowed until the next step. `place` is moved on to it,
 * also when it fails: CS_CODE_LEDGER_COLUMNS (a value of another type than its column's, or cs_ledger_row_check),
 * CS_CODE_LEDGER_CHAIN (it does not follow the row before), CS_CODE_LEDGER_ROW (its row_sha256 does not fit). The
 * id is that of the row in any case. */
CS_MUST_CHECK cs_result cs_ledger_row_take(sqlite3_stmt *rows, cs_sha256 *hash, cs_ledger_place *place,
                                           cs_ledger_row *out, cs_error *err);

#endif
