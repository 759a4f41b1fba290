/* A ledger, read row by row in one read transaction.
 *
 * A database in WAL mode that is opened for reading only leaves a -wal and a -shm file behind, and can't
 * be opened at all in a folder that can't be written. So while no -wal file stands beside it, which
 * means that no process has it open, it is read as immutable: without locks, touching nothing. Since
 * another process may begin to write it meanwhile, the file's time stamps and size are compared after
 * every row, before the row is given out; when they moved, the rest is read with locks.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "verify/ledger_row.h"
#include "verify/source_impl.h"

#define READ_LOCK_WAIT_MS 10000
#define STAMP_TICK_MS 50 /* longer than the grain of any file system's time stamps that matters here */
#define STAMP_TRIES 4

struct cs_ledger_reader {
    char *path;
    char *wal; /* the names of what SQLite may have put beside it */
    char *journal;
    cs_ledger_file file;
    sqlite3_stmt *rows;
    bool immutable;
    bool ended;
    struct stat stamp; /* when immutable: the file as it was before the first page was read */
    cs_sha256 *hash;
    cs_ledger_row row;
    cs_ledger_place place;
    uint64_t done;
    uint64_t total;
};

/* ---- opening ------------------------------------------------------------------------------------- */

static bool stands(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0;
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
            return !stands(reader->wal) && !stands(reader->journal);
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
    int64_t version = 0;
    int64_t first = reader->place.begun ? reader->place.last_id + 1 : INT64_MIN;
    cs_result result = cs_ledger_file_exec(&reader->file, "BEGIN", "begin to read the ledger", err);
    if (result == CS_OK) result = cs_ledger_file_identify(&reader->file, &version, err);
    return result == CS_OK ? cs_ledger_rows_prepare(&reader->file, version, first, &reader->rows, err) : result;
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

/* Decide how to read, and begin. The connection that looked at the first bytes is older than the stamp, and what it
 * knows of the file (its size, its first page) may be too: the last of several writers puts everything into the file
 * when it closes it. */
static cs_result connect_first(cs_ledger_reader *reader, cs_error *err) {
    disconnect(reader);
    reader->immutable = take_stamp(reader);
    if (!reader->immutable) return connect_with_locks(reader, err);
    reader->total = (uint64_t)reader->stamp.st_size;
    cs_result result = cs_ledger_file_open(reader->path, CS_LEDGER_IMMUTABLE, READ_LOCK_WAIT_MS, &reader->file, err);
    if (result == CS_OK) result = cs_ledger_file_is_whole(&reader->file, err);
    if (result == CS_OK) result = begin_reading(reader, err);
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

/* The -wal file stands beside the file itself, not beside a link to it. A path that leads to no name (an
 * anonymous file) can't be a ledger: reader->path is then NULL. */
static cs_result name_files(cs_ledger_reader *reader, const char *path, cs_error *err) {
    reader->path = realpath(path, NULL);
    if (reader->path == NULL && errno != ENOMEM) return CS_OK;
    if (reader->path != NULL && asprintf(&reader->wal, "%s-wal", reader->path) < 0) reader->wal = NULL;
    if (reader->path != NULL && asprintf(&reader->journal, "%s-journal", reader->path) < 0) reader->journal = NULL;
    if (reader->wal != NULL && reader->journal != NULL) return CS_OK;
    return cs_fail(err, CS_CODE_NO_MEMORY, "not enough memory to read a ledger");
}

cs_result cs_ledger_reader_open(const char *path, cs_ledger_reader **out, cs_error *err) {
    *out = NULL;
    cs_ledger_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "not enough memory to read a ledger");
    bool sqlite = false;
    cs_result result = name_files(reader, path, err);
    reader->hash = cs_sha256_new();
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

/* ---- walking ------------------------------------------------------------------------------------- */

static cs_result fail_walk(cs_ledger_reader *reader, int rc, cs_error *err) {
    reader->ended = true;
    char doing[64];
    (void)snprintf(doing, sizeof doing, "read on after entry %lld",
                   reader->place.begun ? (long long)reader->place.last_id : 0LL);
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
    return (uint64_t)row->request.len + row->response.len + row->envelope.len + row->link.len +
           row->describe_before.len + row->describe_after.len + row->detail.len + 256;
}

cs_result cs_ledger_reader_next(cs_ledger_reader *reader, cs_entry *out, bool *more, cs_error *err) {
    *out = (cs_entry){0};
    *more = false;
    if (reader->ended || (reader->place.begun && reader->place.last_id == INT64_MAX)) return CS_OK;
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
    if (reader->place.begun && id <= reader->place.last_id) return fail_walk(reader, SQLITE_CORRUPT, err);
    out->number = id > 0 ? (uint64_t)id : 0;
    *more = true;
    result = cs_ledger_row_take(reader->rows, reader->hash, &reader->place, &reader->row, err);
    reader->done += row_bytes(&reader->row);
    if (result != CS_OK) return result;
    *out = (cs_entry){.number = (uint64_t)id,
                      .finding = cs_view_is(reader->row.kind, CS_KIND_FINDING),
                      .verdict = cs_view_is(reader->row.kind, CS_KIND_VERDICT),
                      .request = reader->row.request,
                      .response = reader->row.response,
                      .envelope = reader->row.envelope,
                      .link = reader->row.link,
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
    free(reader->wal);
    free(reader->journal);
    free(reader);
}
