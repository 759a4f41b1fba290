/* What a ledger holds already of something that is about to be signed. */
#include <string.h>

#include "harness/ledger_internal.h"
#include "records/dsse.h"
#include "records/statement.h"

/* The fingerprint that a stored close is of. */
static cs_result read_close(cs_view bytes, char session[65], cs_error *err) {
    cs_envelope envelope;
    cs_result result = cs_envelope_decode(bytes, &envelope, err);
    if (result != CS_OK) return result;
    cs_statement statement;
    result = cs_statement_read(cs_buf_view(&envelope.payload), &statement, err);
    cs_envelope_free(&envelope);
    if (result != CS_OK) return result;
    memcpy(session, statement.close.session, sizeof statement.close.session);
    if (statement.kind != CS_STATEMENT_CLOSE)
        result = cs_fail(err, CS_CODE_STATEMENT_TYPE, "the statement of a close is not one of a close");
    cs_statement_free(&statement);
    return result;
}

static cs_result find_close(const cs_ledger_file *file, sqlite3_stmt *closes, cs_view session, int64_t *id,
                            cs_error *err) {
    for (;;) {
        int rc = sqlite3_step(closes);
        if (rc == SQLITE_DONE) return CS_OK;
        if (rc != SQLITE_ROW) return cs_ledger_file_fail(file, rc, "read the closes of sessions", err);
        const void *bytes = sqlite3_column_blob(closes, 1);
        cs_view envelope = cs_view_bytes(bytes, (size_t)sqlite3_column_bytes(closes, 1));
        char found[65] = "";
        if (read_close(envelope, found, err) != CS_OK) {
            cs_result result = cs_error_recode(err, CS_CODE_LEDGER_ROW);
            cs_error_where(err, "entry %lld", (long long)sqlite3_column_int64(closes, 0));
            return result;
        }
        if (!cs_view_is(session, found)) continue;
        *id = sqlite3_column_int64(closes, 0);
        return CS_OK;
    }
}

cs_result cs_ledger_file_find_close(const cs_ledger_file *file, cs_view session, int64_t *id, cs_error *err) {
    static const char sql[] = "SELECT id, envelope FROM entry WHERE kind = 'close'";
    sqlite3_stmt *closes = NULL;
    *id = 0;
    int rc = sqlite3_prepare_v2(file->db, sql, -1, &closes, NULL);
    cs_result result = rc == SQLITE_OK ? find_close(file, closes, session, id, err)
                                       : cs_ledger_file_fail(file, rc, "read the closes of sessions", err);
    (void)sqlite3_finalize(closes);
    return result;
}

cs_result cs_ledger_file_find_record(const cs_ledger_file *file, cs_view record_sha256, int64_t *id, cs_error *err) {
    static const char sql[] = "SELECT id FROM entry WHERE id > (SELECT max(id) FROM entry) - 1000"
                              " AND record_sha256 = ?1 ORDER BY id LIMIT 1";
    sqlite3_stmt *rows = NULL;
    *id = 0;
    int rc = sqlite3_prepare_v2(file->db, sql, -1, &rows, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text64(rows, 1, (const char *)record_sha256.ptr, record_sha256.len, SQLITE_STATIC,
                                 SQLITE_UTF8);
    if (rc == SQLITE_OK) rc = sqlite3_step(rows);
    if (rc == SQLITE_ROW) *id = sqlite3_column_int64(rows, 0);
    cs_result result = rc == SQLITE_ROW || rc == SQLITE_DONE
                           ? CS_OK
                           : cs_ledger_file_fail(file, rc, "look for the record among the entries", err);
    (void)sqlite3_finalize(rows);
    return result;
}
