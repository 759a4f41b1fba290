/* Several appends as one transaction, and the walk within it. */
#include <criterion/criterion.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/ledger.h"
#include "tests/harness/ledger_case.h"
#include "tests/support/rows.h"

TestSuite(ledger_several, .init = ledger_set_up, .fini = ledger_tear_down);

static void begin(cs_ledger *ledger) {
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_ledger_begin(ledger, &err), CS_OK, "%s: %s", err.where, err.message);
}

static void commit(cs_ledger *ledger) {
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_ledger_commit(ledger, &err), CS_OK, "%s: %s", err.where, err.message);
}

static int64_t append(cs_ledger *ledger, cs_ledger_row row) {
    return ledger_append_good(ledger, &row);
}

/* Exactly this code, at the ledger's path. */
#define expect_code(call, want)                                                                                        \
    do {                                                                                                               \
        cs_error err = CS_ERROR_INIT;                                                                                  \
        cr_expect_eq((call), cs_code_class(want));                                                                     \
        cr_expect_eq(err.code, (want), "%s: %s", cs_code_name(err.code), err.message);                                 \
        cr_expect_eq(strncmp(err.where, ledger_path, strlen(ledger_path)), 0, "%s", err.where);                        \
    } while (0)

/* How many rows someone else sees, by SQLite itself. */
static int64_t seen(void) {
    sqlite3 *db = ledger_raw();
    sqlite3_stmt *count = NULL;
    cr_assert_eq(sqlite3_prepare_v2(db, "SELECT count(*) FROM entry", -1, &count, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(count), SQLITE_ROW);
    int64_t rows = sqlite3_column_int64(count, 0);
    sqlite3_finalize(count);
    sqlite3_close(db);
    return rows;
}

/* ---- all or nothing -------------------------------------------------------------------------------- */

Test(ledger_several, nobody_sees_anything_before_the_commit) {
    cs_ledger *ledger = ledger_open_good();
    begin(ledger);
    cr_expect_eq(append(ledger, rows_run()), 1);
    cr_expect_eq(append(ledger, rows_checkpoint()), 2);
    cr_expect_eq(append(ledger, rows_finding()), 3);
    cr_expect_eq(seen(), 0);
    commit(ledger);
    cr_expect_eq(seen(), 3);
    cr_expect_eq(append(ledger, rows_run()), 4); /* and then each by itself again */
    cr_expect_eq(seen(), 4);
    cs_ledger_close(ledger);
}

Test(ledger_several, what_is_undone_was_never_there) {
    cs_ledger *ledger = ledger_open_good();
    append(ledger, rows_run());
    begin(ledger);
    cr_expect_eq(append(ledger, rows_run()), 2);
    cs_ledger_undo(ledger);
    cr_expect_eq(seen(), 1);
    begin(ledger);
    cr_expect_eq(append(ledger, rows_finding()), 2);
    commit(ledger);
    cs_ledger_undo(ledger); /* nothing is left to undo */
    cr_expect_eq(seen(), 2);
    begin(ledger);
    append(ledger, rows_run());
    cs_ledger_close(ledger);
    cr_expect_eq(seen(), 2);
}

Test(ledger_several, a_writer_that_is_killed) {
    cs_ledger_close(ledger_open_good());
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        cs_ledger *ledger = NULL;
        cs_error err;
        int64_t id = 0;
        cs_ledger_row row = rows_run();
        bool good = cs_ledger_open(ledger_path, 5000, &ledger, &err) == CS_OK &&
                    cs_ledger_begin(ledger, &err) == CS_OK && cs_ledger_append(ledger, &row, &id, &err) == CS_OK;
        if (good) raise(SIGKILL);
        _exit(1);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%d", status);
    cr_expect_eq(seen(), 0);
    cs_ledger *ledger = ledger_open_good();
    cr_expect_eq(append(ledger, rows_run()), 1);
    cs_ledger_close(ledger);
}

/* ---- others ------------------------------------------------------------------------------------------ */

Test(ledger_several, nobody_else_can_add_meanwhile) {
    cs_ledger *ledger = ledger_open_good();
    cs_ledger *other = ledger_open_for(0);
    cs_ledger_row row = rows_run();
    int64_t id = 5;
    begin(ledger);
    append(ledger, rows_run());
    expect_code(cs_ledger_append(other, &row, &id, &err), CS_CODE_LEDGER_LOCKED);
    cr_expect_eq(id, 0);
    expect_code(cs_ledger_begin(other, &err), CS_CODE_LEDGER_LOCKED);
    cs_ledger_undo(other); /* nothing was begun there */
    append(ledger, rows_run());
    commit(ledger);
    begin(other);
    cr_expect_eq(append(other, rows_run()), 3);
    commit(other);
    cs_ledger_close(other);
    cs_ledger_close(ledger);
}

/* Another process waits for its turn, and then stands behind all of it. */
Test(ledger_several, another_process_does_not_come_in_between) {
    int go[2];
    cr_assert_eq(pipe(go), 0);
    cs_ledger_close(ledger_open_good());
    pid_t child = fork(); /* before this process has a connection of its own, which is not to be carried over */
    cr_assert_geq(child, 0);
    if (child == 0) {
        char byte = 0;
        cs_ledger *ledger = NULL;
        cs_error err;
        int64_t id = 0;
        cs_ledger_row row = rows_finding();
        close(go[1]);
        if (read(go[0], &byte, 1) != 1 || cs_ledger_open(ledger_path, 20000, &ledger, &err) != CS_OK) _exit(100);
        if (cs_ledger_append(ledger, &row, &id, &err) != CS_OK) _exit(101);
        cs_ledger_close(ledger);
        _exit((int)id);
    }
    cs_ledger *ledger = ledger_open_good();
    begin(ledger);
    cr_expect_eq(append(ledger, rows_run()), 1);
    cr_assert_eq(write(go[1], "x", 1), 1);
    cr_expect_eq(append(ledger, rows_run()), 2);
    cr_expect_eq(append(ledger, rows_run()), 3);
    commit(ledger);
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 4, "%d", status);
    cs_ledger_close(ledger);
    close(go[0]);
    close(go[1]);
    cr_expect_eq(seen(), 4);
}

/* ---- failures ------------------------------------------------------------------------------------------ */

Test(ledger_several, after_a_failure_only_the_undoing_is_left) {
    cs_ledger *ledger = ledger_open_good();
    cs_ledger_row bad = rows_checkpoint();
    cs_ledger_row good = rows_checkpoint();
    int64_t id = 5;
    bad.envelope = cs_view_of("{}");
    begin(ledger);
    append(ledger, good);
    expect_code(cs_ledger_append(ledger, &bad, &id, &err), CS_CODE_LEDGER_COLUMNS);
    cr_expect_eq(id, 0);
    cr_expect_eq(seen(), 0);
    expect_code(cs_ledger_append(ledger, &good, &id, &err), CS_CODE_INTERNAL);
    expect_code(cs_ledger_commit(ledger, &err), CS_CODE_INTERNAL);
    cs_ledger_undo(ledger);
    cr_expect_eq(seen(), 0);
    begin(ledger);
    cr_expect_eq(append(ledger, good), 1);
    commit(ledger);
    expect_code(cs_ledger_append(ledger, &bad, &id, &err), CS_CODE_LEDGER_COLUMNS); /* by itself it spoils nothing */
    cr_expect_eq(append(ledger, good), 2);
    cs_ledger_close(ledger);
}

/* SQLite ends the transaction by itself then; what follows must not be stored alone. */
Test(ledger_several, no_room_in_the_middle) {
    const size_t size = 16u << 20;
    uint8_t *large = calloc(1, size);
    cr_assert_not_null(large);
    struct rlimit limit;
    struct rlimit small;
    cs_ledger *ledger = ledger_open_good();
    cs_ledger_row row = rows_run();
    int64_t id = 5;
    begin(ledger);
    append(ledger, row);
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    small = limit;
    small.rlim_cur = 1u << 20;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    row.response = (cs_view){large, size};
    cs_error full = CS_ERROR_INIT; /* its code is SQLite's choice */
    cr_expect_eq(cs_ledger_append(ledger, &row, &id, &full), CS_UNCHECKED, "%s", full.message);
    cr_expect_eq(id, 0);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    row = rows_run();
    expect_code(cs_ledger_append(ledger, &row, &id, &err), CS_CODE_INTERNAL);
    expect_code(cs_ledger_commit(ledger, &err), CS_CODE_INTERNAL);
    cs_ledger_undo(ledger);
    cr_expect_eq(seen(), 0);
    cr_expect_eq(append(ledger, rows_run()), 1); /* the twin, by itself */
    cs_ledger_close(ledger);
    free(large);
}

static cs_result count_rows(void *user, const cs_ledger_row *row, cs_error *err) {
    (void)err;
    int64_t *count = user;
    cr_assert_eq(row->id, ++*count);
    return CS_OK;
}

Test(ledger_several, what_was_not_begun) {
    cs_ledger *ledger = ledger_open_good();
    int64_t count = 0;
    expect_code(cs_ledger_commit(ledger, &err), CS_CODE_INTERNAL);
    expect_code(cs_ledger_walk(ledger, count_rows, &count, &err), CS_CODE_INTERNAL);
    cs_ledger_undo(ledger);
    begin(ledger);
    expect_code(cs_ledger_begin(ledger, &err), CS_CODE_INTERNAL);
    append(ledger, rows_run()); /* which leaves the transaction as it is */
    commit(ledger);
    expect_code(cs_ledger_commit(ledger, &err), CS_CODE_INTERNAL);
    cs_ledger_close(ledger);
    cr_expect_eq(seen(), 1);
}

/* ---- the walk ------------------------------------------------------------------------------------------ */

typedef struct walked {
    int64_t count;
    int64_t stop_at;
    char kinds[64];
    char last_link[64];
} walked;

static cs_result take_row(void *user, const cs_ledger_row *row, cs_error *err) {
    walked *out = user;
    cr_assert_eq(row->id, ++out->count);
    (void)strncat(out->kinds, (const char *)row->kind.ptr, 1);
    (void)snprintf(out->last_link, sizeof out->last_link, "%.*s", (int)row->link.len, (const char *)row->link.ptr);
    if (row->id == out->stop_at) return cs_fail(err, CS_CODE_IMPORT_DUPLICATE, "enough");
    return CS_OK;
}

Test(ledger_several, the_walk_gives_every_row_in_its_order) {
    cs_ledger *ledger = ledger_open_good();
    cs_error err = CS_ERROR_INIT;
    walked out = {.count = 0};
    begin(ledger);
    cr_expect_eq(cs_ledger_walk(ledger, take_row, &out, &err), CS_OK, "%s", err.message);
    cr_expect_eq(out.count, 0);
    append(ledger, rows_run());
    append(ledger, rows_finding());
    append(ledger, rows_checkpoint()); /* those of the transaction itself too */
    cr_expect_eq(cs_ledger_walk(ledger, take_row, &out, &err), CS_OK, "%s", err.message);
    cr_expect_str_eq(out.kinds, "rfc");
    cr_expect_str_eq(out.last_link, "{\"payloadType\":\"y\"}");
    cr_expect_eq(append(ledger, rows_run()), 4); /* and the transaction goes on */
    commit(ledger);
    cs_ledger_close(ledger);
    cr_expect_eq(seen(), 4);
}

Test(ledger_several, the_walk_ends_with_what_the_callback_answers) {
    cs_ledger *ledger = ledger_open_good();
    cs_error err = CS_ERROR_INIT;
    walked out = {.stop_at = 2};
    begin(ledger);
    for (int i = 0; i < 3; i++)
        append(ledger, rows_run());
    cr_expect_eq(cs_ledger_walk(ledger, take_row, &out, &err), CS_FAILED);
    cr_expect_eq(err.code, CS_CODE_IMPORT_DUPLICATE);
    cr_expect_str_eq(err.message, "enough");
    cr_expect_str_eq(err.where, "");
    cr_expect_eq(out.count, 2);
    commit(ledger);
    cs_ledger_close(ledger);
}

/* Three rows, one of them changed behind the triggers' back; they are put back as they were. */
static void expect_damage(const char *sql, cs_code want, int64_t good) {
    cs_ledger *ledger = ledger_open_good();
    for (int i = 0; i < 3; i++)
        append(ledger, rows_run());
    cs_ledger_close(ledger);
    ledger_sql("DROP TRIGGER entry_update; DROP TRIGGER entry_delete; DROP TRIGGER entry_insert");
    ledger_sql(sql);
    for (int i = 1; i < 4; i++)
        ledger_sql(cs_ledger_schema[i]);
    ledger = ledger_open_good();
    walked out = {.count = 0};
    begin(ledger);
    if (want == CS_CODE_OK) {
        cr_expect_eq(cs_ledger_walk(ledger, take_row, &out, NULL), CS_OK);
    } else {
        expect_code(cs_ledger_walk(ledger, take_row, &out, &err), want);
        cs_error err = CS_ERROR_INIT;
        out = (walked){.count = 0};
        (void)!cs_ledger_walk(ledger, take_row, &out, &err);
        cr_expect_not_null(strstr(err.where, "entry 2"), "%s", err.where);
    }
    cr_expect_eq(out.count, good);
    cs_ledger_close(ledger);
    cr_assert_eq(unlink(ledger_path), 0);
}

Test(ledger_several, the_walk_finds_a_damaged_row) {
    expect_damage("SELECT 1", CS_CODE_OK, 3);
    expect_damage("UPDATE entry SET daemon = 'other' WHERE id = 2", CS_CODE_LEDGER_ROW, 1);
    expect_damage("UPDATE entry SET link = x'7b7d' WHERE id = 2", CS_CODE_LEDGER_ROW, 1);
    expect_damage("UPDATE entry SET previous_sha256 = record_sha256 WHERE id = 2", CS_CODE_LEDGER_CHAIN, 1);
    expect_damage("PRAGMA ignore_check_constraints = ON; UPDATE entry SET response = NULL WHERE id = 2",
                  CS_CODE_LEDGER_COLUMNS, 1);
}
