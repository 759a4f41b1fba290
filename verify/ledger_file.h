/* An SQLite file as a ledger: opening it hardened, telling whether it is one, and the stable codes of
 * SQLite's failures. Shared by the reader (verify/source_ledger.c) and the writer (harness/ledger.c).
 */
#ifndef CS_VERIFY_LEDGER_FILE_H
#define CS_VERIFY_LEDGER_FILE_H

#include <sqlite3.h>

#include "records/error.h"

/* One connection. Start with {0}; end with cs_ledger_file_close. */
typedef struct cs_ledger_file {
    sqlite3 *db;
    bool writing;     /* opened for writing: failures are said in a writer's words */
    int lock_wait_ms; /* how long a call waits for other processes */
} cs_ledger_file;

typedef enum cs_ledger_access {
    CS_LEDGER_WRITE,    /* read and write; the file must exist */
    CS_LEDGER_READ,     /* read only, with SQLite's locks; may leave a -wal and a -shm file */
    CS_LEDGER_IMMUTABLE /* read only, no locks, touches nothing beside the file; the caller must find
                           out by itself whether the file changed meanwhile */
} cs_ledger_access;

/* Open with every setting that guards against a hostile file. Reads nothing yet, so a file that is no
 * database opens too. The path is taken literally, whatever SQLite would make of its characters. */
CS_MUST_CHECK cs_result cs_ledger_file_open(const char *path, cs_ledger_access access, int lock_wait_ms,
                                            cs_ledger_file *out, cs_error *err);
void cs_ledger_file_close(cs_ledger_file *file);

/* Whether the file begins with SQLite's 16 bytes. Read through SQLite's own handle: to open and close
 * the file beside SQLite would drop the locks that this process holds on it (POSIX). */
CS_MUST_CHECK cs_result cs_ledger_file_is_sqlite(const cs_ledger_file *file, bool *yes, cs_error *err);

/* CS_CODE_LEDGER_CORRUPT when the file is shorter than its header says, or ends within a page. Only for a file that nobody
 * is writing, without a -wal or -journal file beside it. */
CS_MUST_CHECK cs_result cs_ledger_file_is_whole(const cs_ledger_file *file, cs_error *err);

/* Whether it is a ledger of this program: application id (CS_CODE_LEDGER_FOREIGN), version
 * (CS_CODE_LEDGER_VERSION), and exactly the schema of the version (CS_CODE_LEDGER_SCHEMA). *version is what the file
 * states, 0 when that was not read. */
CS_MUST_CHECK cs_result cs_ledger_file_identify(const cs_ledger_file *file, int64_t *version, cs_error *err);

/* Run statements that answer nothing, or one that answers one number. `doing` says for what in the text
 * of a failure ("begin a transaction"). */
CS_MUST_CHECK cs_result cs_ledger_file_exec(const cs_ledger_file *file, const char *sql, const char *doing,
                                            cs_error *err);
CS_MUST_CHECK cs_result cs_ledger_file_number(const cs_ledger_file *file, const char *sql, int64_t *out,
                                              cs_error *err);

/* The code and the text of an SQLite result that is not a success. */
cs_result cs_ledger_file_fail(const cs_ledger_file *file, int rc, const char *doing, cs_error *err);

#endif
