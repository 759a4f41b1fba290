/* harness/ledger.h: what an append leaves in the file, and every refusal with its code. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/ledger_internal.h"
#include "tests/harness/ledger_case.h"
#include "tests/support/folder.h"
#include "tests/support/rows.h"
#include "verify/source.h"

TestSuite(ledger, .init = ledger_set_up, .fini = ledger_tear_down);

static void expect_refused(const char *name, cs_code code, const char *says) {
    cs_ledger *ledger = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_ledger_open(name, 0, &ledger, &err), cs_code_class(code), "%s", name);
    cr_expect_eq(err.code, code, "%s: %s %s", name, cs_code_name(err.code), err.message);
    cr_expect(strstr(err.message, says) != NULL, "'%s' is not in '%s'", says, err.message);
    cr_expect(name[0] == '\0' || strstr(err.where, name) != NULL, "%s", err.where);
    cr_expect_null(ledger);
}

/* A good ledger of two entries, closed. */
static void two_entries(void) {
    cs_ledger *ledger = ledger_open_good();
    cs_ledger_row run = rows_run();
    cs_ledger_row finding = rows_finding();
    ledger_append_good(ledger, &run);
    ledger_append_good(ledger, &finding);
    cs_ledger_close(ledger);
}

static bool is(cs_view view, const char *text) {
    return view.ptr != NULL && view.len == strlen(text) && memcmp(view.ptr, text, view.len) == 0;
}

/* ---- what is good -------------------------------------------------------------------------------- */

Test(ledger, entries_are_stored_and_linked) {
    cs_ledger *ledger = ledger_open_good();
    cs_ledger_row run = rows_run();
    cs_ledger_row finding = rows_finding();
    run.id = 99; /* set here, whatever the caller left in them */
    run.previous_sha256 = run.kind;
    run.row_sha256 = run.kind;
    cr_expect_eq(ledger_append_good(ledger, &run), 1);
    cr_expect_eq(ledger_append_good(ledger, &finding), 2);
    cs_ledger_close(ledger);
    ledger = ledger_open_good();
    cr_expect_eq(ledger_append_good(ledger, &run), 3);
    cs_ledger_close(ledger);
    cr_expect_eq(folder_count(ledger_folder), 1, "the log is gone with the last writer");

    cs_source *source = NULL;
    cs_entry entry;
    bool more = false;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_source_open(ledger_path, &source, &err), CS_OK);
    cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_expect(entry.number == 1 && !entry.finding && is(entry.request, "the request"));
    cr_expect(is(entry.row->previous_sha256, ""));
    /* Both from an independent implementation of docs/FORMAT.md, "Ledger". */
    cr_expect(is(entry.row->row_sha256, "6f38fb526355914682cbcb5db6d442873ea5e56c25101677a15d655338e782ab"));
    cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_expect(entry.number == 2 && entry.finding && is(entry.row->code, "result-digest"));
    cr_expect(is(entry.row->row_sha256, "2e0b5884d2c97aff9b7dda655599732737abc645659bd014ce7bb607b1e11c1f"));
    cs_source_close(source);
    cr_expect_eq(ledger_count(), 3);
}

Test(ledger, the_file_is_for_its_owner) {
    struct stat info;
    two_entries();
    cr_assert_eq(stat(ledger_path, &info), 0);
    cr_expect_eq(info.st_mode & 07777, 0600);
}

static int64_t number_of(const cs_ledger_file *file, const char *sql) {
    int64_t number = -1;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_ledger_file_number(file, sql, &number, &err), CS_OK, "%s: %s", sql, err.message);
    return number;
}

/* Whatever the library was built with: the log, a sync at each commit, and the guards. */
Test(ledger, settings_of_a_connection) {
    cs_ledger_file file;
    cs_error err = CS_ERROR_INIT;
    two_entries();
    cr_assert_eq(cs_ledger_file_open(ledger_path, CS_LEDGER_WRITE, 1234, &file, &err), CS_OK);
    cr_assert_eq(cs_ledger_file_exec(&file, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF", "test", &err),
                 CS_OK);
    cr_assert_eq(cs_ledger_make_durable(&file, &err), CS_OK, "%s", err.message);
    cr_expect_eq(number_of(&file, "PRAGMA synchronous"), 2);
    cr_expect_eq(number_of(&file, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
    cr_expect_eq(number_of(&file, "PRAGMA busy_timeout"), 1234);
    cr_expect_eq(number_of(&file, "PRAGMA cell_size_check"), 1);
    cr_expect_eq(number_of(&file, "PRAGMA mmap_size"), 0);
    cr_expect_eq(number_of(&file, "PRAGMA trusted_schema"), 0);
    int on = 0;
    cr_expect_eq(sqlite3_db_config(file.db, SQLITE_DBCONFIG_DEFENSIVE, -1, &on), SQLITE_OK);
    cr_expect_eq(on, 1);
    cs_ledger_file_close(&file);
}

static int64_t page_size(void) {
    cs_ledger_file file;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_ledger_file_open(ledger_path, CS_LEDGER_READ, 0, &file, &err), CS_OK);
    int64_t size = number_of(&file, "PRAGMA page_size");
    cs_ledger_file_close(&file);
    return size;
}

Test(ledger, a_new_one_has_larger_pages_and_any_size_is_good) {
    two_entries();
    cr_expect_eq(page_size(), 16384);
    ledger_sql("PRAGMA journal_mode = DELETE; PRAGMA page_size = 4096; VACUUM");
    cr_assert_eq(page_size(), 4096);
    cs_ledger *ledger = ledger_open_good();
    cs_ledger_row row = rows_run();
    ledger_append_good(ledger, &row);
    cs_ledger_close(ledger);
    cr_expect_eq(page_size(), 4096);
    cr_expect_eq(ledger_count(), 3);
}

Test(ledger, an_empty_file_becomes_a_ledger) {
    file_write(ledger_path, "", 0); /* as a process leaves it that was killed while it made one */
    two_entries();
    cr_expect_eq(ledger_count(), 2);
}

Test(ledger, a_relative_path_with_characters_of_meaning) {
    static const char *const names[] = {":memory:", "file:x?mode=memory", "a?b#c%41 d"};
    cr_assert_eq(chdir(ledger_folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)snprintf(ledger_path, sizeof ledger_path, "%s", names[i]);
        two_entries();
        cr_expect_eq(ledger_count(), 2);
        cr_expect_eq(access(ledger_path, F_OK), 0);
    }
}

Test(ledger, large_messages) {
    enum { SIZE = 32 << 20 };
    uint8_t *bytes = calloc(1, SIZE);
    cs_ledger_row run = rows_run();
    run.response = (cs_view){bytes, SIZE};
    cs_ledger *ledger = ledger_open_good();
    ledger_append_good(ledger, &run);
    run.response.len = 0; /* empty is not absent */
    ledger_append_good(ledger, &run);
    cs_ledger_close(ledger);
    free(bytes);
    cr_expect_eq(ledger_count(), 2);
}

/* ---- entries that are not taken ------------------------------------------------------------------ */

Test(ledger, an_entry_that_is_refused_leaves_nothing) {
    cs_ledger *ledger = ledger_open_good();
    cs_ledger_row row = rows_run();
    int64_t id = 5;
    cs_error err = CS_ERROR_INIT;
    row.envelope = (cs_view){0};
    cr_expect_eq(cs_ledger_append(ledger, &row, &id, &err), CS_FAILED);
    cr_expect_eq(err.code, CS_CODE_LEDGER_COLUMNS);
    cr_expect_eq(id, 0);
    row = rows_run();
    cr_expect_eq(ledger_append_good(ledger, &row), 1);
    cs_ledger_close(ledger);
    cr_expect_eq(ledger_count(), 1);
}

static const char *const changes[] = {
    "UPDATE entry SET daemon = 'x'",
    "DELETE FROM entry WHERE id = 2",
    "DELETE FROM entry",
    "INSERT OR REPLACE INTO entry SELECT * FROM entry WHERE id = 2",
    "REPLACE INTO entry SELECT * FROM entry WHERE id = 1",
};

Test(ledger, other_programs_can_not_change_or_delete_an_entry) {
    two_entries();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        sqlite3 *db = ledger_raw();
        cr_expect_eq(sqlite3_exec(db, changes[i], NULL, NULL, NULL), SQLITE_CONSTRAINT, "%s", changes[i]);
        cr_expect(strncmp(sqlite3_errmsg(db), "a ledger entry ", 15) == 0, "%s", sqlite3_errmsg(db));
        sqlite3_close(db);
    }
    cr_expect_eq(ledger_count(), 2);
}

Test(ledger, a_damaged_last_entry_is_not_followed) {
    two_entries();
    sqlite3 *db = ledger_raw();
    sqlite3_stmt *text = NULL;
    cr_assert_eq(sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema WHERE name = 'entry_update'", -1, &text, NULL),
                 SQLITE_OK);
    cr_assert_eq(sqlite3_step(text), SQLITE_ROW);
    char *trigger = strdup((const char *)sqlite3_column_text(text, 0));
    sqlite3_finalize(text);
    sqlite3_close(db);
    ledger_sql("PRAGMA ignore_check_constraints = ON; DROP TRIGGER entry_update;"
               "UPDATE entry SET row_sha256 = upper(row_sha256) WHERE id = 2");
    /* Put back where it was in the order of the schema. */
    ledger_sql("DROP TRIGGER entry_delete; DROP TRIGGER entry_insert");
    ledger_sql(trigger);
    ledger_sql(cs_ledger_schema[2]);
    ledger_sql(cs_ledger_schema[3]);
    free(trigger);
    cs_ledger *ledger = ledger_open_good();
    cs_ledger_row row = rows_run();
    int64_t id = 5;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_ledger_append(ledger, &row, &id, &err), CS_FAILED);
    cr_expect_eq(err.code, CS_CODE_LEDGER_ROW);
    cr_expect_eq(id, 0);
    ledger_sql("BEGIN IMMEDIATE; ROLLBACK"); /* nobody is kept out by the failure */
    cr_expect_eq(cs_ledger_append(ledger, &row, &id, &err), CS_FAILED);
    cr_expect_eq(err.code, CS_CODE_LEDGER_ROW);
    cs_ledger_close(ledger);
}

/* ---- files that are not taken -------------------------------------------------------------------- */

Test(ledger, what_is_no_ledger) {
    char name[256];
    two_entries();
    cs_ledger_close(ledger_open_good()); /* the twin */
    (void)snprintf(name, sizeof name, "%s/none/of/it.db", ledger_folder);
    expect_refused(name, CS_CODE_LEDGER_MISSING, "mkdir -p ");
    (void)snprintf(name, sizeof name, "%s/ledger.db/it.db", ledger_folder);
    expect_refused(name, CS_CODE_LEDGER_MISSING, "no folder");
    expect_refused("", CS_CODE_LEDGER_MISSING, "empty");
    expect_refused(ledger_folder, CS_CODE_LEDGER_FOREIGN, "a folder");
    (void)snprintf(name, sizeof name, "%s/link.db", ledger_folder);
    cr_assert_eq(symlink(ledger_path, name), 0);
    expect_refused(name, CS_CODE_LEDGER_FOREIGN, "symbolic link");
    unlink(name);
    cr_assert_eq(symlink("nowhere", name), 0);
    expect_refused(name, CS_CODE_LEDGER_FOREIGN, "symbolic link");
    (void)snprintf(name, sizeof name, "%s/fifo.db", ledger_folder);
    cr_assert_eq(mkfifo(name, 0600), 0);
    expect_refused(name, CS_CODE_LEDGER_FOREIGN, "regular file");
    (void)snprintf(name, sizeof name, "%s/text.db", ledger_folder);
    file_write(name, "some text that is not ours\n", 27);
    expect_refused(name, CS_CODE_LEDGER_FOREIGN, "no SQLite database");
    size_t len = 0;
    char *text = file_read(name, &len);
    cr_expect_str_eq(text, "some text that is not ours\n", "and it stays as it was");
    free(text);
    file_write(name, "x", 1); /* so short that SQLite would take it for empty */
    expect_refused(name, CS_CODE_LEDGER_FOREIGN, "a file of 1 bytes");
    char longer[1024];
    memset(longer, 'x', sizeof longer);
    file_write(name, longer, sizeof longer);
    expect_refused(name, CS_CODE_LEDGER_FOREIGN, "the file is no SQLite database");
    expect_refused("/proc/ledger.db", CS_CODE_LEDGER_WRITE, "can't make a ledger in /proc");
}

Test(ledger, databases_of_others_and_of_later_versions) {
    ledger_sql("CREATE TABLE theirs (a)");
    expect_refused(ledger_path, CS_CODE_LEDGER_FOREIGN, "no ledger of countersign");
    ledger_sql("INSERT INTO theirs VALUES (1)"); /* and it stays as it was */
    unlink(ledger_path);
    ledger_sql("PRAGMA user_version = 1"); /* without any table, but not of nobody */
    expect_refused(ledger_path, CS_CODE_LEDGER_FOREIGN, "no ledger of countersign");
    unlink(ledger_path);
    two_entries();
    ledger_sql("PRAGMA user_version = 5");
    expect_refused(ledger_path, CS_CODE_LEDGER_VERSION, "version 5 and this program knows versions up to 4");
    ledger_sql("PRAGMA user_version = 4; CREATE TABLE note (text TEXT)");
    expect_refused(ledger_path, CS_CODE_LEDGER_SCHEMA, "one more");
    ledger_sql("DROP TABLE note");
    cs_ledger_close(ledger_open_good());
    ledger_sql("DROP TRIGGER entry_delete");
    expect_refused(ledger_path, CS_CODE_LEDGER_SCHEMA, "differs");
}

Test(ledger, a_damaged_database) {
    two_entries();
    cr_assert_eq(truncate(ledger_path, 4096), 0); /* its header says that there are more pages */
    expect_refused(ledger_path, CS_CODE_LEDGER_CORRUPT, "damaged");
}

/* Open, and append, without root's rights. */
static cs_code code_as_nobody(bool append) {
    pid_t child = fork();
    if (child == 0) {
        become_nobody();
        cs_ledger *ledger = NULL;
        cs_error err = {.code = CS_CODE_OK};
        cs_ledger_row row = rows_run();
        int64_t id = 0;
        cs_result result = cs_ledger_open(ledger_path, 0, &ledger, &err);
        if (result == CS_OK && append) result = cs_ledger_append(ledger, &row, &id, &err);
        cs_ledger_close(ledger);
        _exit(result == cs_code_class(err.code) ? (int)err.code : 255);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status));
    return (cs_code)WEXITSTATUS(status);
}

Test(ledger, where_nothing_may_be_written) {
    cr_assert_eq(chmod(ledger_folder, 0777), 0);
    cr_expect_eq(code_as_nobody(true), CS_CODE_OK, "the twin: a folder that may be written");
    cr_assert_eq(chmod(ledger_folder, 0555), 0);
    cr_expect_eq(code_as_nobody(true), CS_CODE_LEDGER_WRITE, "no room for a log in the folder");
    cr_assert_eq(chmod(ledger_folder, 0777), 0);
    cr_assert_eq(unlink(ledger_path), 0);
    cr_assert_eq(chmod(ledger_folder, 0555), 0);
    cr_expect_eq(code_as_nobody(false), CS_CODE_LEDGER_WRITE, "no new file in the folder");
    cr_assert_eq(chmod(ledger_folder, 0777), 0);
    two_entries();
    cr_assert_eq(chmod(ledger_path, 0444), 0);
    cr_expect_eq(code_as_nobody(false), CS_CODE_LEDGER_WRITE, "a file that may only be read");
    cr_assert_eq(chmod(ledger_path, 0000), 0);
    cr_expect_eq(code_as_nobody(false), CS_CODE_LEDGER_WRITE, "a file that may not even be read");
}

/* ---- locks --------------------------------------------------------------------------------------- */

Test(ledger, a_ledger_that_another_process_holds) {
    two_entries();
    cs_ledger *ledger = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_ledger_row row = rows_run();
    int64_t id = 5;
    cr_assert_eq(cs_ledger_open(ledger_path, 50, &ledger, &err), CS_OK);
    sqlite3 *db = ledger_raw();
    cr_assert_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    cr_expect_eq(cs_ledger_append(ledger, &row, &id, &err), CS_UNCHECKED);
    cr_expect_eq(err.code, CS_CODE_LEDGER_LOCKED);
    cr_expect_eq(id, 0);
    cr_expect(strstr(err.message, "waited 0.050 s") != NULL && strstr(err.message, "--lock-wait") != NULL, "%s",
              err.message);
    cr_assert_eq(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    cr_expect_eq(ledger_append_good(ledger, &row), 3, "the twin: released");
    sqlite3_close(db);
    cs_ledger_close(ledger);
    cr_expect_eq(ledger_count(), 3);
}

Test(ledger, a_ledger_that_is_held_while_it_is_opened) {
    sqlite3 *db = ledger_raw();
    cr_assert_eq(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    expect_refused(ledger_path, CS_CODE_LEDGER_LOCKED, "another process holds");
    cr_assert_eq(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    cs_ledger_close(ledger_open_good());
    sqlite3_close(db);
}

/* A reader holds the file in the old mode for a moment, so that the log can't be set up at once. */
Test(ledger, opening_waits_for_its_turn) {
    int ready[2];
    cr_assert_eq(pipe(ready), 0);
    two_entries();
    ledger_sql("PRAGMA journal_mode = DELETE");
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db = NULL;
        bool good = sqlite3_open(ledger_path, &db) == SQLITE_OK &&
                    sqlite3_exec(db, "BEGIN; SELECT count(*) FROM entry", NULL, NULL, NULL) == SQLITE_OK &&
                    write(ready[1], "x", 1) == 1;
        usleep(200000);
        good = good && sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL) == SQLITE_OK && sqlite3_close(db) == SQLITE_OK;
        _exit(good ? 0 : 1);
    }
    char byte = 0;
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    expect_refused(ledger_path, CS_CODE_LEDGER_LOCKED, "another process holds");
    cs_ledger_close(ledger_open_good());
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    close(ready[0]);
    close(ready[1]);
}

Test(ledger, an_append_waits_for_its_turn) {
    cs_ledger *ledger = ledger_open_good();
    int ready[2];
    cr_assert_eq(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db = NULL;
        bool good = sqlite3_open(ledger_path, &db) == SQLITE_OK &&
                    sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK && write(ready[1], "x", 1) == 1;
        usleep(100000);
        good = good && sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL) == SQLITE_OK && sqlite3_close(db) == SQLITE_OK;
        _exit(good ? 0 : 1);
    }
    char byte = 0;
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    cs_ledger_row row = rows_run();
    cr_expect_eq(ledger_append_good(ledger, &row), 1);
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cs_ledger_close(ledger);
    close(ready[0]);
    close(ready[1]);
}

/* Reading in the process that writes: to open and close the file would drop the writer's lock (POSIX), and
 * the next process to come and go, believing itself the last, would take the writer's log away. */
Test(ledger, a_reader_beside_the_writer_in_one_process) {
    char log[300];
    (void)snprintf(log, sizeof log, "%s-wal", ledger_path);
    int go[2];
    char byte = 0;
    cr_assert_eq(pipe(go), 0);
    /* Before anything is open: SQLite's idea of its locks is not to be inherited. */
    pid_t child = fork();
    if (child == 0) {
        close(go[1]);
        if (read(go[0], &byte, 1) == 0) ledger_sql("SELECT count(*) FROM entry");
        _exit(0);
    }
    cs_ledger *ledger = ledger_open_good();
    cs_ledger_row row = rows_run();
    ledger_append_good(ledger, &row);
    cr_expect_eq(ledger_count(), 1);
    close(go[0]);
    close(go[1]);
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cr_expect_eq(access(log, F_OK), 0, "the log of a living writer");
    ledger_append_good(ledger, &row);
    cr_expect_eq(ledger_count(), 2);
    cs_ledger_close(ledger);
    cr_expect_neq(access(log, F_OK), 0, "the twin: the last one takes it away");
    cr_expect_eq(ledger_count(), 2);
}
