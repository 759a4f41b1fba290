#include "tests/verify/ledger_walk.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/support/folder.h"
#include "tests/support/rows.h"
#include "tests/verify/raw_ledger.h"

char walk_folder[128];
char walk_path[256];

void walk_set_up(void) {
    folder_make(walk_folder);
    (void)snprintf(walk_path, sizeof walk_path, "%s/ledger.db", walk_folder);
}

void walk_tear_down(void) {
    folder_remove(walk_folder);
}

sqlite3 *walk_three_rows(void) {
    sqlite3 *db = raw_create(walk_path);
    raw_append(db, rows_run());
    raw_append(db, rows_finding());
    raw_append(db, rows_run());
    return db;
}

cs_source *walk_open(const char *name) {
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_source_open(name, &source, &err), CS_OK, "%s: %s", err.where, err.message);
    return source;
}

void walk_expect(const char *name, const cs_code *codes, size_t count) {
    cs_source *source = walk_open(name);
    cs_entry entry;
    bool more = true;
    for (size_t i = 0; i < count; i++) {
        cs_error err = {.code = CS_CODE_OK};
        cs_result result = cs_source_next(source, &entry, &more, &err);
        cr_assert(more, "step %zu", i);
        cr_expect_eq(err.code, codes[i], "step %zu: %s %s", i, cs_code_name(err.code), err.message);
        cr_expect_eq(result, codes[i] == CS_CODE_OK ? CS_OK : CS_FAILED);
        cr_expect_eq(entry.row != NULL, result == CS_OK);
    }
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_OK, "%s", err.message);
    cr_expect_not(more);
    cs_source_close(source);
}
