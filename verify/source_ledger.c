/* A ledger, read row by row in one read transaction.
 *
 * A database in WAL mode that is opened for reading only leaves a -wal and a -shm file behind, and can't
 * be opened at all in a folder that can't be written. So while no -wal file stands beside it, which
 * means that no process has it open, it is read as immutable: without locks, touching nothing. Since
 * another process may begin to write it meanwhile, the file's time stamps and size are compared after
 * every row, before the row is given out; when they moved, the rest is read with locks.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "verify/ledger_file.h"
#include "verify/source_impl.h"

#define READ_LOCK_WAIT_MS 10000
#define STAMP_TICK_MS 50 /* longer than the grain of any file system's time stamps that matters here */
#define STAMP_TRIES 4

struct cs_ledger_reader {
    char *path;
    cs_ledger_file file;
    sqlite3_stmt *rows;
    bool immutable;
    bool ended;
    struct stat stamp; /* when immutable: the file as it was before the first page was read */
    cs_sha256 *hash;
    cs_ledger_row row;
    bool begun;            /* a row was read; before that the next two say nothing */
    int64_t last_id;       /* of the row before */
    cs_digest last_digest; /* the row_sha256 that it states */
    uint64_t done;
    uint64_t total;
};

/* ---- opening ------------------------------------------------------------------------------------- */

static bool stands_beside(const char *path, const char *suffix) {
    CS_AUTO_BUF name = CS_BUF_INIT((size_t)64 * 1024);
    struct stat info;
    if (!cs_buf_text(&name, path) || !cs_buf_text(&name, suffix) || !cs_buf_byte(&name, 0)) return true;
    return lstat((const char *)name.ptr, &info) == 0;
}

static int64_t age_ms(const struct stat *info) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
    return ((int64_t)now.tv_sec - (int64_t)info->st_mtim.tv_sec) * 1000 +
           (now.tv_nsec - info->st_mtim.tv_nsec) / 1000000;
}

/* Note the state of a file that nobody is writing just now. False when somebody is, or may be: then it
 * must be read with locks. A second change within the same tick would not show in the time stamps, so
 * a file changed this very moment is waited for. */
static bool take_stamp(cs_ledger_reader *reader) {
    for (int i = 0; i < STAMP_TRIES; i++) {
        if (stat(reader->path, &reader->stamp) != 0) return false;
        int64_t age = age_ms(&reader->stamp);
        if (age < 0 || age > STAMP_TICK_MS) {
            return !stands_beside(reader->path, "-wal") && !stands_beside(reader->path, "-journal");
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = STAMP_TICK_MS * 1000000L}, NULL);
    }
    return false;
}

static bool same_time(struct timespec a, struct timespec b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool file_changed(const cs_ledger_reader *reader) {
    const struct stat *then = &reader->stamp;
    struct stat now;
    if (stat(reader->path, &now) != 0) return true;
    return now.st_ino != then->st_ino || now.st_dev != then->st_dev || now.st_size != then->st_size ||
           !same_time(now.st_mtim, then->st_mtim) || !same_time(now.st_ctim, then->st_ctim);
}

static void disconnect(cs_ledger_reader *reader) {
    (void)sqlite3_finalize(reader->rows);
    reader->rows = NULL;
    cs_ledger_file_close(&reader->file);
}

/* Check the identity and stand before the first row that was not yet read. */
static cs_result begin_reading(cs_ledger_reader *reader, cs_error *err) {
    static const char select[] = "SELECT id, added_unix_ms, kind, daemon, code, detail, request, response, envelope,"
                                 " describe_before, describe_after, record_sha256, previous_sha256, row_sha256"
                                 " FROM entry WHERE id >= ?1 ORDER BY id";
    cs_result result = cs_ledger_file_exec(&reader->file, "BEGIN", "begin to read the ledger", err);
    if (result == CS_OK) result = cs_ledger_file_identify(&reader->file, err);
    if (result != CS_OK) return result;
    int rc = sqlite3_prepare_v2(reader->file.db, select, -1, &reader->rows, NULL);
    int64_t first = reader->begun ? reader->last_id + 1 : INT64_MIN;
    if (rc == SQLITE_OK) rc = sqlite3_bind_int64(reader->rows, 1, first);
    return rc == SQLITE_OK ? CS_OK : cs_ledger_file_fail(&reader->file, rc, "read the entries", err);
}

static cs_result connect_with_locks(cs_ledger_reader *reader, cs_error *err) {
    reader->immutable = false;
    struct stat info;
    if (stat(reader->path, &info) == 0) reader->total = (uint64_t)info.st_size;
    cs_result result = cs_ledger_file_open(reader->path, CS_LEDGER_READ, READ_LOCK_WAIT_MS, &reader->file, err);
    return result == CS_OK ? begin_reading(reader, err) : result;
}

/* Go on with locks after the last row that was given out. */
static cs_result reconnect(cs_ledger_reader *reader, cs_error *err) {
    disconnect(reader);
    return connect_with_locks(reader, err);
}

/* Decide how to read, and begin. */
static cs_result connect_first(cs_ledger_reader *reader, cs_error *err) {
    reader->immutable = take_stamp(reader);
    if (!reader->immutable) return reconnect(reader, err);
    reader->total = (uint64_t)reader->stamp.st_size;
    cs_result result = begin_reading(reader, err);
    return result != CS_OK && file_changed(reader) ? reconnect(reader, err) : result;
}

/* Open the file and look at its first bytes. A file that SQLite can't open is left to the reader of
 * bundles, which says why it can't be read. */
static cs_result open_any(cs_ledger_reader *reader, bool *sqlite, cs_error *err) {
    cs_error ignored;
    *sqlite = false;
    if (cs_ledger_file_open(reader->path, CS_LEDGER_IMMUTABLE, READ_LOCK_WAIT_MS, &reader->file, &ignored) != CS_OK) {
        return CS_OK;
    }
    return cs_ledger_file_is_sqlite(&reader->file, sqlite, err);
}

cs_result cs_ledger_reader_open(const char *path, cs_ledger_reader **out, cs_error *err) {
    *out = NULL;
    cs_ledger_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "not enough memory to read a ledger");
    /* The -wal file stands beside the file itself, not beside a link to it. A path that leads to no name
     * (an anonymous file) can't be a ledger. */
    reader->path = realpath(path, NULL);
    reader->hash = cs_sha256_new();
    bool sqlite = false;
    cs_result result = CS_OK;
    if (reader->hash == NULL) result = cs_fail(err, CS_CODE_NO_MEMORY, "not enough memory to read a ledger");
    if (result == CS_OK && reader->path != NULL) result = open_any(reader, &sqlite, err);
    if (result == CS_OK && sqlite) result = connect_first(reader, err);
    if (result == CS_OK && sqlite) {
        *out = reader;
    } else {
        cs_ledger_reader_close(reader);
    }
    return result;
}

/* ---- one row ------------------------------------------------------------------------------------- */

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
static cs_result take_row(cs_ledger_reader *reader, cs_error *err) {
    sqlite3_stmt *rows = reader->rows;
    cs_ledger_row *row = &reader->row;
    *row = (cs_ledger_row){.id = sqlite3_column_int64(rows, 0), .added_unix_ms = sqlite3_column_int64(rows, 1)};
    bool good = sqlite3_column_type(rows, 1) == SQLITE_INTEGER;
    cs_view *const texts[] = {&row->kind, &row->daemon, &row->code, &row->detail};
    for (int i = 0; i < 4; i++)
        good = take_column(rows, 2 + i, SQLITE_TEXT, false, texts[i]) && good;
    cs_view *const blobs[] = {&row->request, &row->response, &row->envelope, &row->describe_before,
                              &row->describe_after};
    for (int i = 0; i < 5; i++)
        good = take_column(rows, 6 + i, SQLITE_BLOB, true, blobs[i]) && good;
    cs_view *const digests[] = {&row->record_sha256, &row->previous_sha256, &row->row_sha256};
    for (int i = 0; i < 3; i++)
        good = take_column(rows, 11 + i, SQLITE_TEXT, false, digests[i]) && good;
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

static cs_result check_digest(const cs_ledger_reader *reader, cs_error *err) {
    cs_digest digest;
    if (!cs_ledger_row_digest(reader->hash, &reader->row, &digest)) {
        return cs_fail(err, CS_CODE_INTERNAL, "the digest of the row can't be computed");
    }
    if (cs_view_equal(cs_digest_view(&digest), reader->row.row_sha256)) return CS_OK;
    return cs_fail_differs(err, CS_CODE_LEDGER_ROW, "the entry is not what was written: its row_sha256 does not fit",
                           reader->row.row_sha256, cs_digest_view(&digest));
}

/* Remember the row as the one before the next, and say what is wrong with it. */
static cs_result check_row(cs_ledger_reader *reader, cs_error *err) {
    cs_result result = take_row(reader, err);
    const cs_ledger_row *row = &reader->row;
    int64_t last_id = reader->begun ? reader->last_id : 0;
    cs_digest last_digest = reader->last_digest;
    cs_view before = cs_view_bytes(last_digest.hex, reader->begun ? CS_SHA256_HEX : 0);

    reader->begun = true;
    reader->last_id = row->id;
    reader->last_digest = (cs_digest){0};
    size_t len = row->row_sha256.len < CS_SHA256_HEX ? row->row_sha256.len : CS_SHA256_HEX;
    if (len > 0) memcpy(reader->last_digest.hex, row->row_sha256.ptr, len);

    if (result == CS_OK) result = check_place(row, last_id, before, err);
    return result == CS_OK ? check_digest(reader, err) : result;
}

/* ---- walking ------------------------------------------------------------------------------------- */

static cs_result fail_walk(cs_ledger_reader *reader, int rc, cs_error *err) {
    reader->ended = true;
    char doing[64];
    (void)snprintf(doing, sizeof doing, "read on after entry %lld", reader->begun ? (long long)reader->last_id : 0LL);
    return cs_ledger_file_fail(&reader->file, rc, doing, err);
}

/* One step. What it read counts only when the file is still the same. */
static cs_result step(cs_ledger_reader *reader, int *rc, cs_error *err) {
    *rc = sqlite3_step(reader->rows);
    if (!reader->immutable || !file_changed(reader)) return CS_OK;
    cs_result result = reconnect(reader, err);
    if (result == CS_OK) *rc = sqlite3_step(reader->rows);
    return result;
}

static uint64_t row_bytes(const cs_ledger_row *row) {
    return (uint64_t)row->request.len + row->response.len + row->envelope.len + row->describe_before.len +
           row->describe_after.len + row->detail.len + 256;
}

cs_result cs_ledger_reader_next(cs_ledger_reader *reader, cs_entry *out, bool *more, cs_error *err) {
    *out = (cs_entry){0};
    *more = false;
    if (reader->ended || (reader->begun && reader->last_id == INT64_MAX)) return CS_OK;
    int rc = SQLITE_ERROR;
    cs_result result = step(reader, &rc, err);
    if (result != CS_OK) reader->ended = true;
    if (result != CS_OK) return result;
    if (rc == SQLITE_DONE) {
        reader->ended = true;
        reader->done = reader->total;
        return CS_OK;
    }
    if (rc != SQLITE_ROW) return fail_walk(reader, rc, err);

    int64_t id = sqlite3_column_int64(reader->rows, 0);
    /* A damaged tree can lead in a circle; ids that do not rise would never end. */
    if (reader->begun && id <= reader->last_id) return fail_walk(reader, SQLITE_CORRUPT, err);
    out->number = id > 0 ? (uint64_t)id : 0;
    *more = true;
    result = check_row(reader, err);
    reader->done += row_bytes(&reader->row);
    if (result != CS_OK) return result;
    *out = (cs_entry){.number = (uint64_t)id,
                      .finding = cs_view_is(reader->row.kind, CS_KIND_FINDING),
                      .request = reader->row.request,
                      .response = reader->row.response,
                      .envelope = reader->row.envelope,
                      .row = &reader->row};
    return CS_OK;
}

void cs_ledger_reader_progress(const cs_ledger_reader *reader, uint64_t *done, uint64_t *total) {
    *total = reader->total;
    *done = reader->done < reader->total ? reader->done : reader->total;
}

void cs_ledger_reader_close(cs_ledger_reader *reader) {
    if (reader == NULL) return;
    disconnect(reader);
    cs_sha256_free(reader->hash);
    free(reader->path);
    free(reader);
}
