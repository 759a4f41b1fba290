#include "harness/ledger.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/ledger_internal.h"
#include "verify/ledger_row.h"

struct cs_ledger {
    char *path;
    cs_ledger_made made; /* not here any more once something is stored in it */
    cs_ledger_file file;
    sqlite3_stmt *last;   /* the id and the row_sha256 of the last row */
    sqlite3_stmt *insert; /* one row, all columns */
    cs_sha256 *hash;
    bool begun;  /* between cs_ledger_begin and the commit or the undoing */
    bool spoilt; /* begun, and something failed: only the undoing is left */
};

/* ---- opening ------------------------------------------------------------------------------------- */

static cs_result prepare(cs_ledger *ledger, cs_error *err) {
    static const char last[] = "SELECT id, row_sha256 FROM entry ORDER BY id DESC LIMIT 1";
    static const char insert[] = "INSERT INTO entry (id, added_unix_ms, kind, daemon, code, detail, request, response, "
                                 "envelope, link, describe_before,"
                                 " describe_after, record_sha256, previous_sha256, row_sha256)"
                                 " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
    int rc = sqlite3_prepare_v3(ledger->file.db, last, -1, SQLITE_PREPARE_PERSISTENT, &ledger->last, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_prepare_v3(ledger->file.db, insert, -1, SQLITE_PREPARE_PERSISTENT, &ledger->insert, NULL);
    }
    return rc == SQLITE_OK ? CS_OK : cs_ledger_file_fail(&ledger->file, rc, "prepare to write the ledger", err);
}

static cs_result open_file(cs_ledger *ledger, const char *path, int lock_wait_ms, cs_error *err) {
    cs_result result = cs_ledger_make_file(path, &ledger->made, err);
    if (result == CS_OK) result = cs_ledger_file_open(path, CS_LEDGER_WRITE, lock_wait_ms, &ledger->file, err);
    if (result != CS_OK) return result;
    /* SQLite falls back to reading by itself where the file may not be written. */
    if (sqlite3_db_readonly(ledger->file.db, "main") != 0) {
        return cs_fail(err, CS_CODE_LEDGER_WRITE, "the ledger may only be read by you; nothing can be added to it");
    }
    int64_t version = 0;
    result = cs_ledger_migrate(&ledger->file, err);
    if (result == CS_OK) result = cs_ledger_file_identify(&ledger->file, &version, err);
    if (result == CS_OK) result = cs_ledger_make_durable(&ledger->file, err);
    return result == CS_OK ? prepare(ledger, err) : result;
}

static cs_result open_at(cs_ledger *ledger, const char *path, int lock_wait_ms, cs_error *err) {
    ledger->path = strdup(path);
    ledger->hash = cs_sha256_new();
    if (ledger->path == NULL || ledger->hash == NULL) {
        return cs_fail(err, CS_CODE_NO_MEMORY, "not enough memory to open the ledger");
    }
    int folder = cs_ledger_hold_folder(path);
    cs_result result = open_file(ledger, path, lock_wait_ms, err);
    if (folder >= 0) (void)close(folder);
    return result;
}

cs_result cs_ledger_open(const char *path, int lock_wait_ms, cs_ledger **out, cs_error *err) {
    *out = NULL;
    cs_ledger *ledger = calloc(1, sizeof *ledger);
    if (ledger == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "not enough memory to open the ledger");
    cs_result result = open_at(ledger, path, lock_wait_ms, err);
    if (result != CS_OK) {
        cs_error_where(err, "%s", path);
        cs_ledger_close_or_remove(ledger);
        return result;
    }
    *out = ledger;
    return CS_OK;
}

void cs_ledger_close(cs_ledger *ledger) {
    if (ledger == NULL) return;
    cs_ledger_undo(ledger);
    (void)sqlite3_finalize(ledger->last);
    (void)sqlite3_finalize(ledger->insert);
    cs_ledger_file_close(&ledger->file);
    cs_sha256_free(ledger->hash);
    free(ledger->path);
    free(ledger);
}

void cs_ledger_close_or_remove(cs_ledger *ledger) {
    if (ledger == NULL) return;
    char *path = ledger->path;
    const cs_ledger_made made = ledger->made;
    ledger->path = NULL;
    cs_ledger_close(ledger);
    if (path != NULL) cs_ledger_remove_unused(path, &made);
    free(path);
}

/* ---- appending ----------------------------------------------------------------------------------- */

/* The id and the digest of the last row; 0 and an empty text in an empty ledger. */
static cs_result read_last(const cs_ledger *ledger, int64_t *id, cs_digest *digest, cs_error *err) {
    *id = 0;
    *digest = (cs_digest){0};
    int rc = sqlite3_step(ledger->last);
    cs_result result = CS_OK;
    if (rc == SQLITE_ROW) {
        *id = sqlite3_column_int64(ledger->last, 0);
        const void *text = sqlite3_column_blob(ledger->last, 1);
        cs_view hex = cs_view_bytes(text, (size_t)sqlite3_column_bytes(ledger->last, 1));
        if (text != NULL && cs_is_hex(hex, CS_SHA256_HEX) && *id >= 1 && *id < INT64_MAX) {
            memcpy(digest->hex, hex.ptr, CS_SHA256_HEX);
        } else {
            result =
                cs_fail(err, CS_CODE_LEDGER_ROW,
                        "the last entry of the ledger is damaged, so nothing can follow it; verify the ledger, keep "
                        "it as evidence and go on in a new one");
        }
    } else if (rc != SQLITE_DONE) {
        result = cs_ledger_file_fail(&ledger->file, rc, "read the last entry", err);
    }
    (void)sqlite3_reset(ledger->last);
    return result;
}

static int bind_text(sqlite3_stmt *insert, int index, cs_view text) {
    return sqlite3_bind_text64(insert, index, text.ptr != NULL ? (const char *)text.ptr : "", text.len, SQLITE_STATIC,
                               SQLITE_UTF8);
}

static int bind_blob(sqlite3_stmt *insert, int index, cs_view bytes) {
    return sqlite3_bind_blob64(insert, index, bytes.ptr, bytes.len, SQLITE_STATIC);
}

static int bind_row(sqlite3_stmt *insert, const cs_ledger_row *row) {
    const cs_view texts[] = {row->kind, row->daemon, row->code, row->detail};
    const cs_view blobs[] = {row->request, row->response,        row->envelope,
                             row->link,    row->describe_before, row->describe_after};
    const cs_view digests[] = {row->record_sha256, row->previous_sha256, row->row_sha256};
    int rc = sqlite3_bind_int64(insert, 1, row->id);
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(insert, 2, row->added_unix_ms);
    for (int i = 0; rc == SQLITE_OK && i < 4; i++)
        rc = bind_text(insert, 3 + i, texts[i]);
    for (int i = 0; rc == SQLITE_OK && i < 6; i++)
        rc = bind_blob(insert, 7 + i, blobs[i]);
    for (int i = 0; rc == SQLITE_OK && i < 3; i++)
        rc = bind_text(insert, 13 + i, digests[i]);
    return rc;
}

static cs_result insert_row(const cs_ledger *ledger, const cs_ledger_row *row, cs_error *err) {
    int rc = bind_row(ledger->insert, row);
    if (rc == SQLITE_OK) rc = sqlite3_step(ledger->insert);
    cs_result result = rc == SQLITE_DONE ? CS_OK : cs_ledger_file_fail(&ledger->file, rc, "add the entry", err);
    (void)sqlite3_reset(ledger->insert);
    (void)sqlite3_clear_bindings(ledger->insert);
    return result;
}

/* Inside the transaction: nobody else can add a row between the last one and this one. */
static cs_result append_next(const cs_ledger *ledger, cs_ledger_row *row, cs_error *err) {
    cs_digest previous;
    cs_digest own;
    cs_result result = read_last(ledger, &row->id, &previous, err);
    if (result != CS_OK) return result;
    row->previous_sha256 = row->id == 0 ? cs_view_of("") : cs_digest_view(&previous);
    row->id++;
    if (!cs_ledger_row_digest(ledger->hash, row, &own)) {
        return cs_fail(err, CS_CODE_INTERNAL, "the digest of the new entry can't be computed");
    }
    row->row_sha256 = cs_digest_view(&own);
    return insert_row(ledger, row, err);
}

static cs_result begin(const cs_ledger *ledger, cs_error *err) {
    return cs_ledger_file_exec(&ledger->file, "BEGIN IMMEDIATE", "add an entry", err);
}

static cs_result commit(const cs_ledger *ledger, cs_error *err) {
    return cs_ledger_file_exec(&ledger->file, "COMMIT", "store the entry", err);
}

/* SQLite has ended the transaction by itself after some failures. */
static void roll_back(const cs_ledger *ledger) {
    if (sqlite3_get_autocommit(ledger->file.db) == 0) (void)sqlite3_exec(ledger->file.db, "ROLLBACK", NULL, NULL, NULL);
}

/* One append by itself: a transaction of its own. */
static cs_result append_alone(const cs_ledger *ledger, cs_ledger_row *row, cs_error *err) {
    cs_result result = begin(ledger, err);
    if (result == CS_OK) result = append_next(ledger, row, err);
    if (result == CS_OK) result = commit(ledger, err);
    if (result != CS_OK) roll_back(ledger);
    return result;
}

/* Is the begun transaction there and whole? After some failures SQLite has ended it, and what followed would be
 * stored by itself. */
static cs_result need_begun(const cs_ledger *ledger, cs_error *err) {
    if (ledger->begun && !ledger->spoilt && sqlite3_get_autocommit(ledger->file.db) == 0) return CS_OK;
    return cs_fail(err, CS_CODE_INTERNAL,
                   ledger->begun ? "something failed in this transaction of the ledger; it can only be undone"
                                 : "no transaction of the ledger was begun");
}

cs_result cs_ledger_append(cs_ledger *ledger, const cs_ledger_row *row, int64_t *id, cs_error *err) {
    *id = 0;
    cs_ledger_row next = *row;
    cs_result result = ledger->begun ? need_begun(ledger, err) : CS_OK;
    if (result == CS_OK) result = cs_ledger_row_check(&next, err);
    if (result == CS_OK) result = ledger->begun ? append_next(ledger, &next, err) : append_alone(ledger, &next, err);
    if (result == CS_OK) {
        if (!ledger->begun) ledger->made.here = false;
        *id = next.id;
        return CS_OK;
    }
    ledger->spoilt = ledger->begun;
    cs_error_where(err, "%s", ledger->path);
    return result;
}

/* ---- looking ------------------------------------------------------------------------------------- */

cs_result cs_ledger_find_close(cs_ledger *ledger, cs_view session, int64_t *id, cs_error *err) {
    cs_result result = cs_ledger_file_find_close(&ledger->file, session, id, err);
    if (result != CS_OK) cs_error_where(err, "%s", ledger->path);
    return result;
}

cs_result cs_ledger_find_record(cs_ledger *ledger, cs_view record_sha256, int64_t *id, cs_error *err) {
    cs_result result = cs_ledger_file_find_record(&ledger->file, record_sha256, id, err);
    if (result != CS_OK) cs_error_where(err, "%s", ledger->path);
    return result;
}

/* ---- several as one ------------------------------------------------------------------------------ */

cs_result cs_ledger_begin(cs_ledger *ledger, cs_error *err) {
    cs_result result = ledger->begun ? cs_fail(err, CS_CODE_INTERNAL, "a transaction of the ledger was begun already")
                                     : begin(ledger, err);
    if (result != CS_OK) {
        cs_error_where(err, "%s", ledger->path);
        return result;
    }
    ledger->begun = true;
    ledger->spoilt = false;
    return CS_OK;
}

cs_result cs_ledger_commit(cs_ledger *ledger, cs_error *err) {
    cs_result result = need_begun(ledger, err);
    if (result == CS_OK) result = commit(ledger, err);
    if (result != CS_OK) {
        ledger->spoilt = ledger->begun;
        cs_error_where(err, "%s", ledger->path);
        return result;
    }
    ledger->begun = false;
    ledger->made.here = false;
    return CS_OK;
}

void cs_ledger_undo(cs_ledger *ledger) {
    if (!ledger->begun) return;
    roll_back(ledger);
    ledger->begun = false;
    ledger->spoilt = false;
}

typedef cs_result (*row_user)(void *user, const cs_ledger_row *row, cs_error *err);

/* *named: the failure is one of the callback, which says by itself where it is. */
static cs_result walk_rows(const cs_ledger *ledger, sqlite3_stmt *rows, row_user on_row, void *user, bool *named,
                           cs_error *err) {
    cs_ledger_place place = {.begun = false};
    for (;;) {
        int rc = sqlite3_step(rows);
        if (rc == SQLITE_DONE) return CS_OK;
        if (rc != SQLITE_ROW) return cs_ledger_file_fail(&ledger->file, rc, "read the entries", err);
        cs_ledger_row row;
        cs_result result = cs_ledger_row_take(rows, ledger->hash, &place, &row, err);
        if (result != CS_OK) {
            cs_error_where(err, "entry %lld", (long long)row.id);
            return result;
        }
        result = on_row(user, &row, err);
        *named = result != CS_OK;
        if (result != CS_OK) return result;
    }
}

cs_result cs_ledger_walk(cs_ledger *ledger, row_user on_row, void *user, cs_error *err) {
    sqlite3_stmt *rows = NULL;
    bool named = false;
    cs_result result = need_begun(ledger, err);
    if (result == CS_OK) result = cs_ledger_rows_prepare(&ledger->file, CS_LEDGER_VERSION, INT64_MIN, &rows, err);
    if (result == CS_OK) result = walk_rows(ledger, rows, on_row, user, &named, err);
    (void)sqlite3_finalize(rows);
    if (result != CS_OK && !named) cs_error_where(err, "%s", ledger->path);
    return result;
}
