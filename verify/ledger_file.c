#include "verify/ledger_file.h"

#include <errno.h>
#include <string.h>

#include "verify/schema.h"

static const char magic[16] = "SQLite format 3";
#define HEADER_BYTES 100

/* ---- failures ------------------------------------------------------------------------------------ */

/* What the operating system said, for failures that have such a cause. */
static const char *system_text(const cs_ledger_file *file, int rc) {
    bool system = (rc & 0xff) == SQLITE_IOERR || (rc & 0xff) == SQLITE_CANTOPEN;
    int number = system && file->db != NULL ? sqlite3_system_errno(file->db) : 0;
    return number != 0 ? strerror(number) : sqlite3_errstr(rc);
}

static cs_result fail_full(const char *doing, cs_error *err) {
    return cs_fail(err, CS_CODE_LEDGER_FULL,
                   "there is no room to %s: nothing of it was stored; make room on the disk and try again", doing);
}

/* SQLite says by itself that a disk is full only of some of its files. It tells no cause when the file that its
 * readers share can't grow, which has no other. */
static bool is_full(const cs_ledger_file *file, int rc) {
    if (!file->writing || (rc & 0xff) != SQLITE_IOERR) return false;
    if (rc == SQLITE_IOERR_SHMSIZE) return true;
    int number = file->db != NULL ? sqlite3_system_errno(file->db) : 0;
    return number == ENOSPC || number == EDQUOT;
}

static cs_result fail_write(const cs_ledger_file *file, int rc, const char *doing, cs_error *err) {
    return cs_fail(err, CS_CODE_LEDGER_WRITE,
                   "can't %s: %s; nothing of it was stored. Check that you may write the file and its folder", doing,
                   system_text(file, rc));
}

static cs_result fail_read(const cs_ledger_file *file, int rc, const char *doing, cs_error *err) {
    bool log = (rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY;
    return cs_fail(err, CS_CODE_IO, "can't %s: %s%s", doing, system_text(file, rc),
                   log ? "; a ledger with a -wal file beside it is read in a folder that you may write" : "");
}

cs_result cs_ledger_file_fail(const cs_ledger_file *file, int rc, const char *doing, cs_error *err) {
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return cs_fail(err, CS_CODE_LEDGER_LOCKED,
                       "can't %s: another process holds the ledger, waited %d.%03d s for it; try again, or wait longer "
                       "(--lock-wait)",
                       doing, file->lock_wait_ms / 1000, file->lock_wait_ms % 1000);
    case SQLITE_FULL:
        return fail_full(doing, err);
    case SQLITE_NOMEM:
        return cs_fail(err, CS_CODE_NO_MEMORY, "not enough memory to %s", doing);
    case SQLITE_CORRUPT:
        return cs_fail(err, CS_CODE_LEDGER_CORRUPT,
                       "can't %s: the database file is damaged; restore it from a copy and keep this one as evidence",
                       doing);
    case SQLITE_NOTADB:
        return file->writing ? cs_fail(err, CS_CODE_LEDGER_FOREIGN,
                                       "the file is no SQLite database; give the path of a ledger, or of a new file")
                             : cs_fail(err, CS_CODE_LEDGER_CORRUPT,
                                       "can't %s: the first bytes of the database file are damaged", doing);
    case SQLITE_TOOBIG:
        return cs_fail(err, CS_CODE_LEDGER_COLUMNS, "can't %s: a column is larger than any writer stores", doing);
    default:
        if (is_full(file, rc)) return fail_full(doing, err);
        return file->writing ? fail_write(file, rc, doing, err) : fail_read(file, rc, doing, err);
    }
}

/* ---- opening ------------------------------------------------------------------------------------- */

/* The path as an SQLite URI. Every path goes this way: SQLite may have been built to take "file:" and
 * ":memory:" at the beginning of a plain name for something else than a name. */
static bool make_uri(const char *path, bool immutable, cs_buf *out) {
    if (!cs_buf_text(out, path[0] == '/' ? "file://" : "file:./")) return false;
    for (const char *c = path; *c != '\0'; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') ||
                     strchr("/._-", *c) != NULL;
        if (!(plain ? cs_buf_byte(out, (uint8_t)*c) : cs_buf_printf(out, "%%%02X", (unsigned char)*c))) return false;
    }
    return cs_buf_text(out, immutable ? "?immutable=1" : "") && cs_buf_byte(out, 0);
}

/* Settings of the connection that touch no file. */
static cs_result harden(const cs_ledger_file *file, cs_error *err) {
    int rc = sqlite3_db_config(file->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_db_config(file->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_db_config(file->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_busy_timeout(file->db, file->lock_wait_ms);
    if (rc != SQLITE_OK) return cs_ledger_file_fail(file, rc, "set up the database connection", err);
    (void)sqlite3_limit(file->db, SQLITE_LIMIT_LENGTH, (int)CS_MAX_LEDGER_ROW + 1024 * 1024);
    (void)sqlite3_limit(file->db, SQLITE_LIMIT_SQL_LENGTH, 64 * 1024);
    (void)sqlite3_limit(file->db, SQLITE_LIMIT_ATTACHED, 0);
    return cs_ledger_file_exec(file, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY",
                               "set up the database connection", err);
}

cs_result cs_ledger_file_open(const char *path, cs_ledger_access access, int lock_wait_ms, cs_ledger_file *out,
                              cs_error *err) {
    *out = (cs_ledger_file){.writing = access == CS_LEDGER_WRITE, .lock_wait_ms = lock_wait_ms > 0 ? lock_wait_ms : 0};
    CS_AUTO_BUF uri = CS_BUF_INIT((size_t)64 * 1024);
    if (!make_uri(path, access == CS_LEDGER_IMMUTABLE, &uri)) {
        return cs_fail(err, CS_CODE_IO, "the path of the ledger is too long");
    }
    int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_PRIVATECACHE |
                (out->writing ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
    int rc = sqlite3_open_v2((const char *)uri.ptr, &out->db, flags, NULL);
    cs_result result = rc == SQLITE_OK ? harden(out, err) : cs_ledger_file_fail(out, rc, "open the file", err);
    if (result != CS_OK) cs_ledger_file_close(out);
    return result;
}

void cs_ledger_file_close(cs_ledger_file *file) {
    /* With all statements finalised, which is the rule here, this can't fail. */
    (void)sqlite3_close_v2(file->db);
    file->db = NULL;
}

static int handle_of(const cs_ledger_file *file, sqlite3_file **handle) {
    *handle = NULL;
    int rc = sqlite3_file_control(file->db, "main", SQLITE_FCNTL_FILE_POINTER, (void *)handle);
    return rc == SQLITE_OK && (*handle == NULL || (*handle)->pMethods == NULL) ? SQLITE_CANTOPEN : rc;
}

cs_result cs_ledger_file_is_sqlite(const cs_ledger_file *file, bool *yes, cs_error *err) {
    *yes = false;
    sqlite3_file *handle = NULL;
    int rc = handle_of(file, &handle);
    if (rc != SQLITE_OK) return cs_ledger_file_fail(file, rc, "read the file", err);
    char head[sizeof magic];
    rc = handle->pMethods->xRead(handle, head, (int)sizeof head, 0);
    if (rc != SQLITE_OK && rc != SQLITE_IOERR_SHORT_READ) return cs_ledger_file_fail(file, rc, "read the file", err);
    *yes = rc == SQLITE_OK && memcmp(head, magic, sizeof magic) == 0;
    return CS_OK;
}

static int64_t big_endian(const uint8_t *bytes, size_t len) {
    int64_t value = 0;
    for (size_t i = 0; i < len; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* How long the file has to be: the number of pages that its header states, where that is up to date ("Database File
 * Format", 1.3.7), or else its whole pages. */
static int64_t whole_size(const uint8_t header[HEADER_BYTES], int64_t size) {
    int64_t page = big_endian(header + 16, 2);
    if (page == 1) page = 65536;
    if (page < 512) return size; /* no database: SQLite itself says so */
    int64_t pages = memcmp(header + 24, header + 92, 4) == 0 ? big_endian(header + 28, 4) : 0;
    int64_t stated = pages * page;
    int64_t rounded = (size + page - 1) / page * page;
    return stated > rounded ? stated : rounded;
}

cs_result cs_ledger_file_is_whole(const cs_ledger_file *file, cs_error *err) {
    sqlite3_file *handle = NULL;
    sqlite3_int64 size = 0;
    uint8_t header[HEADER_BYTES];
    int rc = handle_of(file, &handle);
    if (rc == SQLITE_OK) rc = handle->pMethods->xFileSize(handle, &size);
    if (rc == SQLITE_OK) rc = handle->pMethods->xRead(handle, header, (int)sizeof header, 0);
    if (rc == SQLITE_IOERR_SHORT_READ) return CS_OK; /* no header: SQLite itself says so */
    if (rc != SQLITE_OK) return cs_ledger_file_fail(file, rc, "read the header of the file", err);
    int64_t whole = whole_size(header, size);
    if (whole <= size) return CS_OK;
    return cs_fail(
        err, CS_CODE_LEDGER_CORRUPT,
        "the database file is cut short: it has %lld bytes and had at least %lld; restore it from a copy and "
        "keep this one as evidence",
        (long long)size, (long long)whole);
}

/* ---- statements ---------------------------------------------------------------------------------- */

cs_result cs_ledger_file_exec(const cs_ledger_file *file, const char *sql, const char *doing, cs_error *err) {
    int rc = sqlite3_exec(file->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? CS_OK : cs_ledger_file_fail(file, rc, doing, err);
}

cs_result cs_ledger_file_number(const cs_ledger_file *file, const char *sql, int64_t *out, cs_error *err) {
    sqlite3_stmt *statement = NULL;
    *out = 0;
    int rc = sqlite3_prepare_v2(file->db, sql, -1, &statement, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) *out = sqlite3_column_int64(statement, 0);
    cs_result result = rc == SQLITE_ROW ? CS_OK : cs_ledger_file_fail(file, rc, "read the header of the file", err);
    (void)sqlite3_finalize(statement);
    return result;
}

/* ---- identity ------------------------------------------------------------------------------------ */

static cs_view column(sqlite3_stmt *statement, int index) {
    const void *text = sqlite3_column_text(statement, index);
    return cs_view_bytes(text, text != NULL ? (size_t)sqlite3_column_bytes(statement, index) : 0);
}

static cs_result fail_schema(int64_t version, const char *what, cs_error *err) {
    return cs_fail(
        err, CS_CODE_LEDGER_SCHEMA,
        "the tables and triggers of the ledger are not exactly those of version %lld: %s; nothing in it can be "
        "relied on. Keep it as evidence and restore a copy",
        (long long)version, what);
}

/* Only the statements are compared: SQLite itself refuses a file whose sqlite_schema states another type,
 * name or table than the statement beside it. */
static cs_result check_schema(const cs_ledger_file *file, int64_t version, cs_error *err) {
    sqlite3_stmt *statement = NULL;
    cs_result result = CS_OK;
    int rc = sqlite3_prepare_v2(file->db, "SELECT sql FROM sqlite_schema ORDER BY rowid", -1, &statement, NULL);
    const char *const *expected = cs_ledger_schema_of(version);
    while (rc == SQLITE_OK && result == CS_OK) {
        int step = sqlite3_step(statement);
        if (step == SQLITE_DONE) break;
        if (step != SQLITE_ROW) {
            rc = step;
        } else if (*expected == NULL) {
            result = fail_schema(version, "there is one more", err);
        } else if (!cs_view_is(column(statement, 0), *expected)) {
            result = fail_schema(version, "one differs", err);
        } else {
            expected++;
        }
    }
    if (rc != SQLITE_OK) {
        result = cs_ledger_file_fail(file, rc, "read the tables of the ledger", err);
    } else if (result == CS_OK && *expected != NULL) {
        result = fail_schema(version, "one is missing", err);
    }
    (void)sqlite3_finalize(statement);
    return result;
}

cs_result cs_ledger_file_identify(const cs_ledger_file *file, int64_t *version, cs_error *err) {
    int64_t id = 0;
    int64_t utf8 = 0;
    *version = 0;
    cs_result result = cs_ledger_file_number(file, "PRAGMA application_id", &id, err);
    if (result != CS_OK) return result;
    if (id != CS_LEDGER_APPLICATION_ID) {
        return cs_fail(
            err, CS_CODE_LEDGER_FOREIGN,
            "the file is an SQLite database but no ledger of countersign (application_id %lld, expected %d); "
            "give the path of a ledger, or of a new file",
            (long long)id, CS_LEDGER_APPLICATION_ID);
    }
    result = cs_ledger_file_number(file, "PRAGMA user_version", version, err);
    if (result != CS_OK) return result;
    if (cs_ledger_schema_of(*version) == NULL) {
        return cs_fail(err, CS_CODE_LEDGER_VERSION,
                       "the ledger has version %lld and this program knows versions up to %d; use a newer countersign",
                       (long long)*version, CS_LEDGER_VERSION);
    }
    /* Another encoding would have SQLite convert the text that the digests are about. */
    result = cs_ledger_file_number(file, "SELECT encoding = 'UTF-8' FROM pragma_encoding", &utf8, err);
    if (result != CS_OK) return result;
    if (utf8 != 1) return fail_schema(*version, "its text is not stored as UTF-8", err);
    return check_schema(file, *version, err);
}
