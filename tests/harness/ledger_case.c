#include "tests/harness/ledger_case.h"

#include <stdio.h>

#include "tests/support/folder.h"
#include "verify/source.h"

char ledger_folder[128];
char ledger_path[256];

void ledger_set_up(void) {
    folder_make(ledger_folder);
    (void)snprintf(ledger_path, sizeof ledger_path, "%s/ledger.db", ledger_folder);
}

void ledger_tear_down(void) {
    folder_remove(ledger_folder);
}

cs_ledger *ledger_open_for(int lock_wait_ms) {
    cs_ledger *ledger = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_ledger_open(ledger_path, lock_wait_ms, &ledger, &err), CS_OK, "%s: %s", err.where, err.message);
    return ledger;
}

cs_ledger *ledger_open_good(void) {
    return ledger_open_for(5000);
}

int64_t ledger_append_good(cs_ledger *ledger, const cs_ledger_row *row) {
    int64_t id = 0;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_ledger_append(ledger, row, &id, &err), CS_OK, "%s: %s", err.where, err.message);
    return id;
}

uint64_t ledger_count(void) {
    cs_source *source = NULL;
    cs_entry entry;
    bool more = true;
    uint64_t count = 0;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_source_open(ledger_path, &source, &err), CS_OK, "%s: %s", err.where, err.message);
    while (more) {
        cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK, "%s: %s", err.where, err.message);
        if (more) count++;
    }
    cs_source_close(source);
    return count;
}

sqlite3 *ledger_raw(void) {
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(ledger_path, &db), SQLITE_OK);
    return db;
}

void ledger_sql(const char *sql) {
    sqlite3 *db = ledger_raw();
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_close(db), SQLITE_OK);
}
