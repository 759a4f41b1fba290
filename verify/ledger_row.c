#include "verify/ledger_row.h"

#include <string.h>

#define SELECT(link)                                                                                                   \
    "SELECT id, added_unix_ms, kind, daemon, code, detail, request, response, envelope, " link                         \
    ", describe_before, describe_after, record_sha256, previous_sha256, row_sha256"                                    \
    " FROM entry WHERE id >= ?1 ORDER BY id"

cs_result cs_ledger_rows_prepare(const cs_ledger_file *file, int64_t version, int64_t first, sqlite3_stmt **out,
                                 cs_error *err) {
    /* Versions 1 and 2 have no column `link`. */
    int rc = sqlite3_prepare_v2(file->db, version < 3 ? SELECT("NULL") : SELECT("link"), -1, out, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(*out, 1, first);
    return rc == SQLITE_OK ? CS_OK : cs_ledger_file_fail(file, rc, "read the entries", err);
}

/* One column of the expected type. An absent value is fine where `may_be_absent`; an empty one has a
 * pointer that is not NULL. */
static bool take_column(sqlite3_stmt *rows, int index, int type, bool may_be_absent, cs_view *out) {
    static const uint8_t nothing[1];
    int actual = sqlite3_column_type(rows, index);
    *out = (cs_view){0};
    if (actual == SQLITE_NULL) return may_be_absent;
    if (actual != type) return false;
    const void *bytes = sqlite3_column_blob(rows, index);
    size_t len = (size_t)sqlite3_column_bytes(rows, index);
    *out = len == 0 ? cs_view_bytes(nothing, 0) : cs_view_bytes(bytes, len);
    return len == 0 || bytes != NULL;
}

/* A forged file can hold any type in any column, whatever its table says. */
static cs_result take_columns(sqlite3_stmt *rows, cs_ledger_row *row, cs_error *err) {
    *row = (cs_ledger_row){.id = sqlite3_column_int64(rows, 0), .added_unix_ms = sqlite3_column_int64(rows, 1)};
    bool good = sqlite3_column_type(rows, 1) == SQLITE_INTEGER;
    cs_view *const texts[] = {&row->kind, &row->daemon, &row->code, &row->detail};
    for (int i = 0; i < 4; i++)
        good = take_column(rows, 2 + i, SQLITE_TEXT, false, texts[i]) && good;
    cs_view *const blobs[] = {&row->request, &row->response,        &row->envelope,
                              &row->link,    &row->describe_before, &row->describe_after};
    for (int i = 0; i < 6; i++)
        good = take_column(rows, 6 + i, SQLITE_BLOB, true, blobs[i]) && good;
    cs_view *const digests[] = {&row->record_sha256, &row->previous_sha256, &row->row_sha256};
    for (int i = 0; i < 3; i++)
        good = take_column(rows, 12 + i, SQLITE_TEXT, false, digests[i]) && good;
    if (!good) {
        return cs_fail(err, CS_CODE_LEDGER_COLUMNS, "a column of the entry holds a value of another type than its own");
    }
    return cs_ledger_row_check(row, err);
}

/* The place in the chain, from what the row before states of itself: a row whose content was changed is
 * reported once, not again with its successor. */
static cs_result check_place(const cs_ledger_row *row, int64_t last_id, cs_view last_digest, cs_error *err) {
    if (row->id < 1 || row->id - 1 != last_id) {
        return cs_fail(err, CS_CODE_LEDGER_CHAIN,
                       "entry %lld does not follow entry %lld: what was between them is missing", (long long)row->id,
                       (long long)last_id);
    }
    if (cs_view_equal(row->previous_sha256, last_digest)) return CS_OK;
    return cs_fail_differs(err, CS_CODE_LEDGER_CHAIN, "previous_sha256 is not the row_sha256 of the entry before",
                           last_digest, row->previous_sha256);
}

static cs_result check_digest(cs_sha256 *hash, const cs_ledger_row *row, cs_error *err) {
    cs_digest digest;
    if (!cs_ledger_row_digest(hash, row, &digest)) {
        return cs_fail(err, CS_CODE_INTERNAL, "the digest of the row can't be computed");
    }
    if (cs_view_equal(cs_digest_view(&digest), row->row_sha256)) return CS_OK;
    return cs_fail_differs(err, CS_CODE_LEDGER_ROW, "the entry is not what was written: its row_sha256 does not fit",
                           row->row_sha256, cs_digest_view(&digest));
}

/* Remember the row as the one before the next, and say what is wrong with it. */
cs_result cs_ledger_row_take(sqlite3_stmt *rows, cs_sha256 *hash, cs_ledger_place *place, cs_ledger_row *out,
                             cs_error *err) {
    cs_result result = take_columns(rows, out, err);
    int64_t last_id = place->begun ? place->last_id : 0;
    cs_digest last_digest = place->last_digest;
    cs_view before = cs_view_bytes(last_digest.hex, place->begun ? CS_SHA256_HEX : 0);

    *place = (cs_ledger_place){.begun = true, .last_id = out->id};
    size_t len = out->row_sha256.len < CS_SHA256_HEX ? out->row_sha256.len : CS_SHA256_HEX;
    if (len > 0) memcpy(place->last_digest.hex, out->row_sha256.ptr, len);

    if (result == CS_OK) result = check_place(out, last_id, before, err);
    return result == CS_OK ? check_digest(hash, out, err) : result;
}
