/* Ledgers made with SQLite directly, without the writer, so that a test can put anything in. */
#ifndef TESTS_VERIFY_RAW_LEDGER_H
#define TESTS_VERIFY_RAW_LEDGER_H

#include <sqlite3.h>

#include "verify/schema.h"

/* A new, empty, good ledger in WAL mode. Close it with raw_close. Everything aborts on a failure. */
sqlite3 *raw_create(const char *path);
sqlite3 *raw_create_version(const char *path, int version); /* of version 1 to 4 */
sqlite3 *raw_open(const char *path);
void raw_close(sqlite3 *db);
/* Run statements; raw_try gives SQLite's result instead of aborting. */
void raw_sql(sqlite3 *db, const char *sql);
int raw_try(sqlite3 *db, const char *sql);

/* The row's digest, computed apart from the code under test. */
void raw_digest(const cs_ledger_row *row, char hex[65]);
/* Append a row with the id, the link and the digest that it must have; raw_insert takes them as they are. */
void raw_append(sqlite3 *db, cs_ledger_row row);
int raw_insert(sqlite3 *db, const cs_ledger_row *row);

#endif
