/* verify/source.h on ledgers as files: reading without a trace, and beside writers. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/folder.h"
#include "tests/support/rows.h"
#include "tests/verify/ledger_walk.h"
#include "tests/verify/raw_ledger.h"

TestSuite(source_ledger_files, .init = walk_set_up, .fini = walk_tear_down);

Test(source_ledger_files, nothing_is_left_beside_a_ledger_at_rest) {
    raw_close(walk_three_rows());
    size_t before_len = 0;
    size_t after_len = 0;
    char *before = file_read(walk_path, &before_len);
    WALK(walk_path, GOOD, GOOD, GOOD);
    char *after = file_read(walk_path, &after_len);
    cr_expect_eq(folder_count(walk_folder), 1);
    cr_expect(before_len == after_len && memcmp(before, after, before_len) == 0);
    free(before);
    free(after);
}

/* Run a walk over three good rows without root's rights. */
static int walk_as_nobody(const char *name) {
    pid_t child = fork();
    if (child == 0) {
        become_nobody();
        cs_source *source = NULL;
        cs_entry entry;
        bool more = true;
        int good = 0;
        cs_error err = CS_ERROR_INIT;
        cs_result result = cs_source_open(name, &source, &err);
        while (result == CS_OK && more) {
            result = cs_source_next(source, &entry, &more, &err);
            good += result == CS_OK && more;
        }
        cs_source_close(source);
        _exit(result == CS_OK ? good : 100 + (int)result);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

Test(source_ledger_files, a_copy_in_a_folder_that_may_not_be_written) {
    raw_close(walk_three_rows());
    cr_assert_eq(chmod(walk_path, 0444), 0);
    cr_assert_eq(chmod(walk_folder, 0555), 0);
    cr_expect_eq(walk_as_nobody(walk_path), 3);
    cr_expect_eq(folder_count(walk_folder), 1);
    cr_assert_eq(chmod(walk_folder, 0755), 0);
}

Test(source_ledger_files, a_link_to_a_ledger) {
    char name[256];
    (void)snprintf(name, sizeof name, "%s/link", walk_folder);
    sqlite3 *db = walk_three_rows(); /* still open: its rows are in the -wal file beside the file, not the link */
    cr_assert_eq(symlink(walk_path, name), 0);
    WALK(name, GOOD, GOOD, GOOD);
    raw_close(db);
}

Test(source_ledger_files, rows_that_only_the_log_holds) {
    sqlite3 *db = walk_three_rows();
    WALK(walk_path, GOOD, GOOD, GOOD);
    raw_append(db, rows_run());
    WALK(walk_path, GOOD, GOOD, GOOD, GOOD);
    raw_close(db);
    WALK(walk_path, GOOD, GOOD, GOOD, GOOD);
}

/* One moment: a row that comes while the walk holds its transaction is not of it. */
Test(source_ledger_files, with_the_log_a_walk_is_of_one_moment) {
    sqlite3 *db = walk_three_rows();
    cs_source *source = walk_open(walk_path);
    raw_append(db, rows_run());
    cs_entry entry;
    bool more = true;
    cs_error err = CS_ERROR_INIT;
    uint64_t last = 0;
    while (more) {
        cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK, "%s", err.message);
        if (more) last = entry.number;
    }
    cr_expect_eq(last, 3);
    cs_source_close(source);
    raw_close(db);
}

/* The walk began without locks; then another process opens the ledger, writes, checkpoints and closes. */
static void write_meanwhile(int rows) {
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db = raw_open(walk_path);
        for (int i = 0; i < rows; i++)
            raw_append(db, rows_run());
        raw_close(db);
        _exit(0);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
}

static void twenty_large_rows(void) {
    static uint8_t filler[200000];
    sqlite3 *db = raw_create(walk_path);
    cs_ledger_row row = rows_run();
    row.response = (cs_view){filler, sizeof filler};
    for (int i = 0; i < 20; i++)
        raw_append(db, row);
    raw_close(db);
}

Test(source_ledger_files, a_ledger_that_is_written_meanwhile) {
    for (uint64_t when = 0; when <= 20; when += 5) {
        twenty_large_rows();
        cs_source *source = walk_open(walk_path);
        cs_entry entry;
        bool more = true;
        cs_error err = CS_ERROR_INIT;
        uint64_t count = 0;
        while (more) {
            if (count == when) write_meanwhile(3);
            cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK, "%s: %s", err.where, err.message);
            if (more) cr_assert_eq(entry.number, ++count);
        }
        cr_expect_eq(count, 23, "written after %d: %d", (int)when, (int)count);
        cs_source_close(source);
        folder_remove(walk_folder);
        walk_set_up();
    }
}
