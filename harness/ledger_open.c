/* How a file becomes a ledger: created, given its schema, checked, and set to durable writing. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/ledger_internal.h"

#define WAL_RETRY_MS 10
#define SMALLEST_DATABASE 512

/* ---- the file ------------------------------------------------------------------------------------ */

bool cs_ledger_folder(const char *path, char *out, size_t size) {
    const char *slash = strrchr(path, '/');
    size_t len = slash == NULL || slash == path ? 1 : (size_t)(slash - path);
    if (len >= size) return false;
    memcpy(out, slash == NULL ? "." : path, len);
    out[len] = '\0';
    return true;
}

void cs_ledger_sync_folder(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    (void)close(fd);
}

static cs_result fail_create(int number, const char *folder, cs_error *err) {
    struct stat info;
    /* A folder that is there may give the same error, when it takes no new file: /proc does. */
    if ((number == ENOENT || number == ENOTDIR) && (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode)))
        return cs_fail(err, CS_CODE_LEDGER_MISSING,
                       "there is no folder %s to make the ledger in; make it first: mkdir -p %s", folder, folder);
    if (number == ENOSPC || number == EDQUOT)
        return cs_fail(err, CS_CODE_LEDGER_FULL, "there is no room to make a ledger in %s", folder);
    return cs_fail(err, CS_CODE_LEDGER_WRITE,
                   "can't make a ledger in %s: %s; give the path of a file in a folder that you may write", folder,
                   strerror(number));
}

static cs_result create_file(const char *path, cs_ledger_made *made, cs_error *err) {
    char folder[PATH_MAX];
    if (!cs_ledger_folder(path, folder, sizeof folder)) return fail_create(ENAMETOOLONG, "a folder", err);
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    /* EEXIST: another process made it just now, and both go on with the same file. */
    if (fd < 0) return errno == EEXIST ? CS_OK : fail_create(errno, folder, err);
    struct stat info;
    if (fstat(fd, &info) == 0) *made = (cs_ledger_made){.here = true, .device = info.st_dev, .inode = info.st_ino};
    /* Closing it costs no lock: nobody can have opened a file that this process has only just made. */
    (void)close(fd);
    cs_ledger_sync_folder(folder);
    return CS_OK;
}

cs_result cs_ledger_make_file(const char *path, cs_ledger_made *made, cs_error *err) {
    struct stat info;
    *made = (cs_ledger_made){.here = false};
    if (path[0] == '\0') return cs_fail(err, CS_CODE_LEDGER_MISSING, "the path of the ledger is empty");
    if (lstat(path, &info) != 0) return create_file(path, made, err);
    /* SQLite takes a file that is shorter than its smallest page for an empty database, and would write over it. */
    if (S_ISREG(info.st_mode) && info.st_size > 0 && info.st_size < SMALLEST_DATABASE) {
        return cs_fail(
            err, CS_CODE_LEDGER_FOREIGN,
            "this is a file of %lld bytes, which is no SQLite database; give the path of a ledger, or of a new file",
            (long long)info.st_size);
    }
    if (S_ISREG(info.st_mode)) return CS_OK;
    if (S_ISLNK(info.st_mode)) {
        return cs_fail(
            err, CS_CODE_LEDGER_FOREIGN,
            "this is a symbolic link, which could lead the ledger elsewhere; give the path of the file itself");
    }
    if (S_ISDIR(info.st_mode)) {
        return cs_fail(err, CS_CODE_LEDGER_FOREIGN, "this is a folder; give the path of a file in it");
    }
    return cs_fail(err, CS_CODE_LEDGER_FOREIGN, "this is no regular file; give the path of a ledger, or of a new file");
}

/* ---- the schema ---------------------------------------------------------------------------------- */

static cs_result make_schema(const cs_ledger_file *file, cs_error *err) {
    cs_result result = CS_OK;
    for (const char *const *sql = cs_ledger_schema; result == CS_OK && *sql != NULL; sql++) {
        result = cs_ledger_file_exec(file, *sql, "make the tables of the ledger", err);
    }
    return result;
}

static cs_result make_new(const cs_ledger_file *file, cs_error *err) {
    cs_result result = make_schema(file, err);
    char pragma[64];
    (void)sqlite3_snprintf(sizeof pragma, pragma, "PRAGMA application_id = %d", CS_LEDGER_APPLICATION_ID);
    return result == CS_OK ? cs_ledger_file_exec(file, pragma, "make the tables of the ledger", err) : result;
}

/* Later versions allow more, and SQLite can't change a table's checks: a new table takes the rows as they are, before
 * its triggers stand. The triggers of the old table go first, so that the copy is not refused and no name is
 * taken. What the old table has no column for stays absent. */
static cs_result upgrade(const cs_ledger_file *file, cs_error *err) {
    static const char doing[] = "bring the ledger to the newest version";
/* Those of all versions; version 3 has `link` too. */
#define COLUMNS                                                                                                        \
    "id, added_unix_ms, kind, record_sha256, previous_sha256, row_sha256, code, daemon, detail, envelope, "            \
    "describe_before, describe_after, request, response"
    int64_t version = 0;
    int64_t lost = 0;
    /* Only what is exactly a ledger of its version becomes one of the newest. */
    cs_result result = cs_ledger_file_identify(file, &version, err);
    if (result == CS_OK)
        result = cs_ledger_file_exec(file,
                                     "DROP TRIGGER entry_update; DROP TRIGGER entry_delete; DROP TRIGGER entry_insert;"
                                     "ALTER TABLE entry RENAME TO entry_old",
                                     doing, err);
    if (result == CS_OK) result = cs_ledger_file_exec(file, cs_ledger_schema[0], doing, err);
    if (result == CS_OK)
        result = cs_ledger_file_exec(
            file,
            version < 3 ? "INSERT INTO entry (" COLUMNS ") SELECT " COLUMNS " FROM entry_old ORDER BY id"
                        : "INSERT INTO entry (" COLUMNS ", link) SELECT " COLUMNS ", link FROM entry_old ORDER BY id",
            doing, err);
    if (result == CS_OK)
        result = cs_ledger_file_number(file, "SELECT (SELECT count(*) FROM entry_old) - (SELECT count(*) FROM entry)",
                                       &lost, err);
    if (result == CS_OK && lost != 0)
        result = cs_fail(err, CS_CODE_LEDGER_CORRUPT, "can't %s: entries would be lost; it stays as it is", doing);
    if (result == CS_OK) result = cs_ledger_file_exec(file, "DROP TABLE entry_old", doing, err);
    for (const char *const *sql = cs_ledger_schema + 1; result == CS_OK && *sql != NULL; sql++)
        result = cs_ledger_file_exec(file, *sql, doing, err);
    return result;
#undef COLUMNS
}

/* The version of the file; *ours is false for a database of another program. `empty` is the question
 * whose answer is 0 for a file that nobody has put anything into. */
static cs_result read_version(const cs_ledger_file *file, const char *empty, int64_t *version, bool *ours,
                              cs_error *err) {
    int64_t content = 0;
    int64_t id = 0;
    *ours = false;
    cs_result result = cs_ledger_file_number(file, empty, &content, err);
    if (result == CS_OK) result = cs_ledger_file_number(file, "PRAGMA application_id", &id, err);
    if (result == CS_OK) result = cs_ledger_file_number(file, "PRAGMA user_version", version, err);
    if (result != CS_OK) return result;
    *ours = *version > 0 ? id == CS_LEDGER_APPLICATION_ID : content == 0 && id == 0 && *version == 0;
    return CS_OK;
}

/* Version 0 is an empty file. */
static cs_result migrate_from(const cs_ledger_file *file, int64_t version, cs_error *err) {
    cs_result result = version == 0 ? make_new(file, err) : upgrade(file, err);
    if (result != CS_OK) return result;
    char pragma[64];
    (void)sqlite3_snprintf(sizeof pragma, pragma, "PRAGMA user_version = %d", CS_LEDGER_VERSION);
    result = cs_ledger_file_exec(file, pragma, "set the version of the ledger", err);
    return result == CS_OK ? cs_ledger_file_exec(file, "COMMIT", "store the tables of the ledger", err) : result;
}

cs_result cs_ledger_migrate(const cs_ledger_file *file, cs_error *err) {
    int64_t version = 0;
    bool ours = false;
    cs_result result = read_version(file, "PRAGMA page_count", &version, &ours, err);
    if (result != CS_OK || !ours || version >= CS_LEDGER_VERSION) return result;

    /* Larger pages than SQLite's own choice: messages are read in fewer and larger pieces. This counts only
     * for a file without a first page. */
    result = cs_ledger_file_exec(file, "PRAGMA page_size = 16384", "make the tables of the ledger", err);
    if (result == CS_OK) result = cs_ledger_file_exec(file, "BEGIN EXCLUSIVE", "make the tables of the ledger", err);
    if (result != CS_OK) return result;
    /* Look again: another process may have done it while this one waited for the lock. Having the lock
     * gives an empty file its first page, so now it is the tables that are counted. */
    result = read_version(file, "SELECT count(*) FROM sqlite_schema", &version, &ours, err);
    if (result == CS_OK && ours && version < CS_LEDGER_VERSION) result = migrate_from(file, version, err);
    if (sqlite3_get_autocommit(file->db) == 0) (void)sqlite3_exec(file->db, "ROLLBACK", NULL, NULL, NULL);
    return result;
}

/* ---- durable writing ----------------------------------------------------------------------------- */

static int64_t monotonic_ms(void) {
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Ask for the write-ahead log once. *on: it is in use. */
static int ask_for_wal(sqlite3 *db, bool *on) {
    sqlite3_stmt *statement = NULL;
    *on = false;
    int rc = sqlite3_prepare_v2(db, "PRAGMA journal_mode = WAL", -1, &statement, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW) *on = sqlite3_stricmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
    (void)sqlite3_finalize(statement);
    return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

cs_result cs_ledger_make_durable(const cs_ledger_file *file, cs_error *err) {
    int64_t deadline = monotonic_ms() + file->lock_wait_ms;
    bool on = false;
    int rc = ask_for_wal(file->db, &on);
    /* Changing the mode needs the file for itself alone, and SQLite gives up at once, without waiting, where
     * two processes that change it would wait for each other. */
    while ((rc & 0xff) == SQLITE_BUSY && monotonic_ms() < deadline) {
        (void)nanosleep(&(struct timespec){.tv_nsec = WAL_RETRY_MS * 1000000L}, NULL);
        rc = ask_for_wal(file->db, &on);
    }
    if (rc != SQLITE_OK) return cs_ledger_file_fail(file, rc, "set up the write-ahead log", err);
    if (!on) {
        return cs_fail(err, CS_CODE_LEDGER_WRITE,
                       "the write-ahead log can't be used here; keep the ledger on a local file system");
    }
    return cs_ledger_file_exec(file, "PRAGMA synchronous = FULL", "set up durable writing", err);
}
