/* A ledger of one test, which is not there yet: in a folder of its own, and opened, filled and read as most tests do. */
#ifndef CS_TESTS_HARNESS_LEDGER_CASE_H
#define CS_TESTS_HARNESS_LEDGER_CASE_H

#include <criterion/criterion.h>
#include <sqlite3.h>

#include "harness/ledger.h"

/* Each test is a process of its own, and may name another file. */
extern char ledger_folder[128];
extern char ledger_path[256];

/* TestSuite's .init and .fini. */
void ledger_set_up(void);
void ledger_tear_down(void);

/* All of these must succeed. */
cs_ledger *ledger_open_good(void);
cs_ledger *ledger_open_for(int lock_wait_ms);
int64_t ledger_append_good(cs_ledger *ledger, const cs_ledger_row *row);
/* How many entries a reader finds, all of them good. */
uint64_t ledger_count(void);
/* The file by SQLite itself. */
sqlite3 *ledger_raw(void);
void ledger_sql(const char *sql);

#endif
