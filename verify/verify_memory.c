#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "verify/internal.h"

/* A private database without a name: SQLite keeps it in its page cache and moves what exceeds that
 * to an unlinked temporary file. Nothing of it outlives the walk, so it needs neither a journal nor
 * a sync. A negative cache_size is in KiB. */
static const char setup[] = "PRAGMA journal_mode=OFF;"
                            "PRAGMA synchronous=OFF;"
                            "PRAGMA cache_size=-8192;"
                            "CREATE TABLE seen(digest BLOB PRIMARY KEY) WITHOUT ROWID;"
                            "CREATE TABLE chain(session BLOB PRIMARY KEY, last BLOB NOT NULL, calls INTEGER NOT NULL,"
                            " entry INTEGER NOT NULL, holes INTEGER NOT NULL, family INTEGER NOT NULL,"
                            " odd INTEGER NOT NULL, closed INTEGER NOT NULL, bad INTEGER NOT NULL,"
                            " newest_ms INTEGER NOT NULL) WITHOUT ROWID;"
                            "CREATE TABLE line(digest BLOB PRIMARY KEY, number INTEGER NOT NULL,"
                            " entry INTEGER NOT NULL, holes INTEGER NOT NULL, newest_ms INTEGER NOT NULL,"
                            " checkpoint INTEGER NOT NULL, followed INTEGER NOT NULL) WITHOUT ROWID;"
                            "BEGIN;";

#define COLUMNS "session, last, calls, entry, holes, family, odd, closed, bad, newest_ms"
#define LINE_COLUMNS "digest, number, entry, holes, newest_ms, checkpoint, followed"

enum { SEE, LOAD, STORE, UNCLOSED, ADD_LINE, FIND_LINE, FOLLOW_LINE, UNENDED, STATEMENTS };

static const char *const texts[STATEMENTS] = {
    [SEE] = "INSERT OR IGNORE INTO seen VALUES(?1)",
    [LOAD] = "SELECT " COLUMNS " FROM chain WHERE session = ?1",
    [STORE] = "INSERT OR REPLACE INTO chain(" COLUMNS ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [UNCLOSED] = "SELECT " COLUMNS " FROM chain WHERE closed = 0 ORDER BY entry",
    [ADD_LINE] = "INSERT OR IGNORE INTO line(" LINE_COLUMNS ") VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [FIND_LINE] = "SELECT " LINE_COLUMNS " FROM line WHERE digest = ?1",
    [FOLLOW_LINE] = "UPDATE line SET followed = 1 WHERE digest = ?1",
    [UNENDED] = "SELECT " LINE_COLUMNS " FROM line WHERE followed = 0 AND checkpoint = 0 ORDER BY entry",
};

struct cs_memory {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
};

static cs_result failed(cs_memory *memory, cs_error *err) {
    return cs_fail(err, CS_CODE_IO,
                   "what was read could not be remembered: %s; is there room for a temporary file (TMPDIR)?",
                   memory->db != NULL ? sqlite3_errmsg(memory->db) : "out of memory");
}

cs_result cs_memory_open(cs_memory **out, cs_error *err) {
    *out = NULL;
    cs_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to verify");

    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    bool good = sqlite3_open_v2("", &memory->db, flags, NULL) == SQLITE_OK &&
                sqlite3_exec(memory->db, setup, NULL, NULL, NULL) == SQLITE_OK;
    for (int i = 0; good && i < STATEMENTS; i++) {
        good = sqlite3_prepare_v3(memory->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &memory->statements[i], NULL) ==
               SQLITE_OK;
    }
    if (!good) {
        cs_result result = failed(memory, err);
        cs_memory_close(memory);
        return result;
    }
    *out = memory;
    return CS_OK;
}

void cs_memory_close(cs_memory *memory) {
    if (memory == NULL) return;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(memory->statements[i]);
    sqlite3_close(memory->db);
    free(memory);
}

/* The caller's bytes outlive the step in which they are used. */
static bool bind_digest(sqlite3_stmt *statement, int index, const uint8_t digest[CS_SHA256_BYTES]) {
    return sqlite3_bind_blob(statement, index, digest, CS_SHA256_BYTES, SQLITE_STATIC) == SQLITE_OK;
}

/* Counts and line numbers above 2^63 keep their bits. */
static bool bind_number(sqlite3_stmt *statement, int index, uint64_t value) {
    return sqlite3_bind_int64(statement, index, (sqlite3_int64)value) == SQLITE_OK;
}

static bool bind_time(sqlite3_stmt *statement, int index, int64_t value) {
    return sqlite3_bind_int64(statement, index, value) == SQLITE_OK;
}

static bool column_digest(sqlite3_stmt *statement, int index, uint8_t out[CS_SHA256_BYTES]) {
    const void *bytes = sqlite3_column_blob(statement, index);
    if (bytes == NULL || sqlite3_column_bytes(statement, index) != (int)CS_SHA256_BYTES) return false;
    memcpy(out, bytes, CS_SHA256_BYTES);
    return true;
}

static uint64_t column_number(sqlite3_stmt *statement, int index) {
    return (uint64_t)sqlite3_column_int64(statement, index);
}

static bool read_chain(sqlite3_stmt *row, cs_chain *out) {
    *out = (cs_chain){.calls = column_number(row, 2),
                      .entry = column_number(row, 3),
                      .holes = column_number(row, 4),
                      .family = (uint32_t)sqlite3_column_int(row, 5),
                      .odd = sqlite3_column_int(row, 6) != 0,
                      .closed = sqlite3_column_int(row, 7) != 0,
                      .bad = sqlite3_column_int(row, 8) != 0,
                      .newest_ms = sqlite3_column_int64(row, 9)};
    return column_digest(row, 0, out->session) && column_digest(row, 1, out->last);
}

cs_result cs_memory_see(cs_memory *memory, const uint8_t digest[CS_SHA256_BYTES], bool *seen, cs_error *err) {
    sqlite3_stmt *see = memory->statements[SEE];
    *seen = false;
    bool good = bind_digest(see, 1, digest) && sqlite3_step(see) == SQLITE_DONE;
    *seen = good && sqlite3_changes(memory->db) == 0;
    cs_result result = good ? CS_OK : failed(memory, err);
    sqlite3_reset(see);
    return result;
}

cs_result cs_memory_load(cs_memory *memory, const uint8_t session[CS_SHA256_BYTES], cs_chain *out, cs_error *err) {
    sqlite3_stmt *load = memory->statements[LOAD];
    *out = (cs_chain){.newest_ms = INT64_MIN};
    memcpy(out->session, session, CS_SHA256_BYTES);
    int step = bind_digest(load, 1, session) ? sqlite3_step(load) : SQLITE_ERROR;
    bool good = step == SQLITE_DONE || (step == SQLITE_ROW && read_chain(load, out));
    cs_result result = good ? CS_OK : failed(memory, err);
    sqlite3_reset(load);
    return result;
}

cs_result cs_memory_store(cs_memory *memory, const cs_chain *chain, cs_error *err) {
    sqlite3_stmt *store = memory->statements[STORE];
    bool good = bind_digest(store, 1, chain->session) && bind_digest(store, 2, chain->last) &&
                bind_number(store, 3, chain->calls) && bind_number(store, 4, chain->entry) &&
                bind_number(store, 5, chain->holes) && bind_number(store, 6, chain->family) &&
                bind_number(store, 7, chain->odd) && bind_number(store, 8, chain->closed) &&
                bind_number(store, 9, chain->bad) && bind_time(store, 10, chain->newest_ms) &&
                sqlite3_step(store) == SQLITE_DONE;
    cs_result result = good ? CS_OK : failed(memory, err);
    sqlite3_reset(store);
    return result;
}

cs_result cs_memory_unclosed(cs_memory *memory, cs_chain *out, bool *more, cs_error *err) {
    sqlite3_stmt *unclosed = memory->statements[UNCLOSED];
    *out = (cs_chain){.calls = 0};
    *more = false;
    int step = sqlite3_step(unclosed);
    if (step == SQLITE_DONE) return CS_OK;
    if (step != SQLITE_ROW || !read_chain(unclosed, out)) return failed(memory, err);
    *more = true;
    return CS_OK;
}

/* ---- the lines of imported bundles ------------------------------------------------------------- */

static bool read_line(sqlite3_stmt *row, cs_imported_line *out) {
    *out = (cs_imported_line){.index = column_number(row, 1),
                              .entry = column_number(row, 2),
                              .holes = column_number(row, 3),
                              .newest_ms = sqlite3_column_int64(row, 4),
                              .checkpoint = sqlite3_column_int(row, 5) != 0,
                              .followed = sqlite3_column_int(row, 6) != 0};
    return column_digest(row, 0, out->digest);
}

cs_result cs_memory_add_line(cs_memory *memory, const cs_imported_line *line, bool *added, cs_error *err) {
    sqlite3_stmt *add = memory->statements[ADD_LINE];
    bool good = bind_digest(add, 1, line->digest) && bind_number(add, 2, line->index) &&
                bind_number(add, 3, line->entry) && bind_number(add, 4, line->holes) &&
                bind_time(add, 5, line->newest_ms) && bind_number(add, 6, line->checkpoint) &&
                bind_number(add, 7, line->followed) && sqlite3_step(add) == SQLITE_DONE;
    *added = good && sqlite3_changes(memory->db) == 1;
    cs_result result = good ? CS_OK : failed(memory, err);
    sqlite3_reset(add);
    return result;
}

cs_result cs_memory_find_line(cs_memory *memory, const uint8_t digest[CS_SHA256_BYTES], cs_imported_line *out,
                              bool *found, cs_error *err) {
    sqlite3_stmt *find = memory->statements[FIND_LINE];
    *out = (cs_imported_line){.newest_ms = INT64_MIN};
    int step = bind_digest(find, 1, digest) ? sqlite3_step(find) : SQLITE_ERROR;
    *found = step == SQLITE_ROW && read_line(find, out);
    cs_result result = step == SQLITE_DONE || *found ? CS_OK : failed(memory, err);
    sqlite3_reset(find);
    return result;
}

cs_result cs_memory_follow_line(cs_memory *memory, const uint8_t digest[CS_SHA256_BYTES], cs_error *err) {
    sqlite3_stmt *follow = memory->statements[FOLLOW_LINE];
    bool good = bind_digest(follow, 1, digest) && sqlite3_step(follow) == SQLITE_DONE;
    cs_result result = good ? CS_OK : failed(memory, err);
    sqlite3_reset(follow);
    return result;
}

cs_result cs_memory_unended(cs_memory *memory, cs_imported_line *out, bool *more, cs_error *err) {
    sqlite3_stmt *unended = memory->statements[UNENDED];
    *out = (cs_imported_line){.newest_ms = INT64_MIN};
    *more = false;
    int step = sqlite3_step(unended);
    if (step == SQLITE_DONE) return CS_OK;
    if (step != SQLITE_ROW || !read_line(unended, out)) return failed(memory, err);
    *more = true;
    return CS_OK;
}
