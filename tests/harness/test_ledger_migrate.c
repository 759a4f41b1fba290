/* A ledger of version 1, 2 or 3 becomes one of the newest: every row as it was, or nothing at all. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/ledger.h"
#include "tests/harness/ledger_case.h"
#include "tests/support/rows.h"
#include "verify/source.h"

TestSuite(ledger_migrate, .init = ledger_set_up, .fini = ledger_tear_down);

/* The two rows and their digests are those of an independent implementation of docs/FORMAT.md, "Ledger"
 * (tests/verify/test_schema.c has the vectors). */
#define DIGEST_1 "6f38fb526355914682cbcb5db6d442873ea5e56c25101677a15d655338e782ab"
#define DIGEST_2 "2e0b5884d2c97aff9b7dda655599732737abc645659bd014ce7bb607b1e11c1f"
#define COLUMNS                                                                                                        \
    "id, added_unix_ms, kind, daemon, code, detail, request, response, envelope, describe_before, describe_after, "    \
    "record_sha256, previous_sha256, row_sha256"
#define ROW_1                                                                                                          \
    "(1, 1700000000123, 'run', 'http://127.0.0.1:8746', '', '', CAST('the request' AS BLOB), "                         \
    "CAST('the response' AS BLOB), CAST('{\"payloadType\":\"x\"}' AS BLOB), CAST('before' AS BLOB), "                  \
    "CAST('after' AS BLOB), '" ROWS_RECORD "', '', '" DIGEST_1 "')"
#define ROW_2                                                                                                          \
    "(2, 1700000000456, 'finding', 'http://127.0.0.1:8746', 'result-digest', 'the result is another one', "            \
    "CAST('the request' AS BLOB), CAST('the response' AS BLOB), NULL, CAST('before' AS BLOB), NULL, '', '" DIGEST_1    \
    "', '" DIGEST_2 "')"

/* Version 2 also knows these. */
#define DIGEST_3 "a1634997af12f1bf7b43c4d19e7a045838452acccafe85f0fb30a99ab9c02954"
#define DIGEST_4 "2bf5f4b881f3ab859b72f118f4cd055b03114876c8339e16868a4ba65b40276e"
#define ROW_3                                                                                                          \
    "(3, 1700000000123, 'unanswered', 'http://127.0.0.1:8746', '', '', CAST('the request' AS BLOB), NULL, "            \
    "CAST('{\"payloadType\":\"x\"}' AS BLOB), CAST('before' AS BLOB), CAST('after' AS BLOB), '" ROWS_RECORD            \
    "', '" DIGEST_2 "', '" DIGEST_3 "')"
#define ROW_4                                                                                                          \
    "(4, 1700000000123, 'close', 'http://127.0.0.1:8746', '', '', NULL, NULL, CAST('{\"payloadType\":\"x\"}' AS "      \
    "BLOB), CAST('before' AS BLOB), CAST('after' AS BLOB), '', '" DIGEST_3 "', '" DIGEST_4 "')"

static void version_1(void) {
    for (const char *const *sql = cs_ledger_schema_of(1); *sql != NULL; sql++)
        ledger_sql(*sql);
    ledger_sql("PRAGMA application_id = 1129532487; PRAGMA user_version = 1; PRAGMA journal_mode = WAL");
    ledger_sql("INSERT INTO entry (" COLUMNS ") VALUES " ROW_1);
    ledger_sql("INSERT INTO entry (" COLUMNS ") VALUES " ROW_2);
}

static void version_2(void) {
    for (const char *const *sql = cs_ledger_schema_of(2); *sql != NULL; sql++)
        ledger_sql(*sql);
    ledger_sql("PRAGMA application_id = 1129532487; PRAGMA user_version = 2; PRAGMA journal_mode = WAL");
    ledger_sql("INSERT INTO entry (" COLUMNS ") VALUES " ROW_1);
    ledger_sql("INSERT INTO entry (" COLUMNS ") VALUES " ROW_2);
    ledger_sql("INSERT INTO entry (" COLUMNS ") VALUES " ROW_3);
    ledger_sql("INSERT INTO entry (" COLUMNS ") VALUES " ROW_4);
}

/* Version 3 also knows links: with the rows of version 2, and this one, whose digest is of the same implementation. */
#define DIGEST_5 "15df11054b809f085d09398203d2f84b52b91fbefc251bbbf254ecde2a57eed5"
#define ROW_5                                                                                                          \
    "(5, 1700000000789, 'checkpoint', 'http://127.0.0.1:8746', '', '', NULL, NULL, NULL, NULL, NULL, '', '" DIGEST_4   \
    "', '" DIGEST_5 "', CAST('{\"payloadType\":\"y\"}' AS BLOB))"

static void version_3(void) {
    for (const char *const *sql = cs_ledger_schema_of(3); *sql != NULL; sql++)
        ledger_sql(*sql);
    ledger_sql("PRAGMA application_id = 1129532487; PRAGMA user_version = 3; PRAGMA journal_mode = WAL");
    ledger_sql("INSERT INTO entry (" COLUMNS ") VALUES " ROW_1);
    ledger_sql("INSERT INTO entry (" COLUMNS ") VALUES " ROW_2);
    ledger_sql("INSERT INTO entry (" COLUMNS ") VALUES " ROW_3);
    ledger_sql("INSERT INTO entry (" COLUMNS ") VALUES " ROW_4);
    ledger_sql("INSERT INTO entry (" COLUMNS ", link) VALUES " ROW_5);
}

static int add_text(void *out, int count, char **values, char **names) {
    (void)names;
    for (int i = 0; i < count; i++)
        if (!cs_buf_text(out, values[i] != NULL ? values[i] : "NULL") || !cs_buf_byte(out, '|')) return 1;
    return 0;
}

/* The answer to a query as text; with a NUL. */
static cs_buf ask(const char *sql) {
    cs_buf out = CS_BUF_INIT(1u << 20);
    sqlite3 *db = ledger_raw();
    cr_assert_eq(sqlite3_exec(db, sql, add_text, &out, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert_eq(sqlite3_close(db), SQLITE_OK);
    cr_assert(cs_buf_byte(&out, 0));
    return out;
}

#define ROWS                                                                                                           \
    "SELECT id, added_unix_ms, kind, daemon, code, detail, quote(request), quote(response), quote(envelope), "         \
    "quote(describe_before), quote(describe_after), record_sha256, previous_sha256, row_sha256 FROM entry ORDER BY id"

static void expect_same(const cs_buf *rows) {
    cs_buf now = ask(ROWS);
    cr_expect_str_eq((const char *)now.ptr, (const char *)rows->ptr);
    cs_buf_free(&now);
}

static void expect_answer(const char *sql, const char *want) {
    cs_buf found = ask(sql);
    cr_expect_str_eq((const char *)found.ptr, want, "%s", sql);
    cs_buf_free(&found);
}

Test(ledger_migrate, every_row_stays_as_it_was) {
    version_1();
    cs_buf rows = ask(ROWS);
    cr_expect_eq(ledger_count(), 2);
    expect_answer("PRAGMA user_version", "1|"); /* a reader changes nothing */

    cs_ledger *ledger = ledger_open_good();
    expect_answer("PRAGMA user_version", "4|");
    expect_answer("PRAGMA application_id", "1129532487|");
    expect_answer("SELECT count(*) FROM sqlite_schema", "4|");
    expect_same(&rows);
    cr_expect_eq(ledger_count(), 2);

    /* And the new kinds follow the old rows. */
    cs_ledger_row row = rows_run();
    row.kind = cs_view_of(CS_KIND_UNANSWERED);
    row.response = (cs_view){0};
    int64_t id = 0;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_ledger_append(ledger, &row, &id, &err), CS_OK, "%s", err.message);
    row.kind = cs_view_of(CS_KIND_CLOSE);
    row.request = (cs_view){0};
    row.record_sha256 = cs_view_of("");
    cr_assert_eq(cs_ledger_append(ledger, &row, &id, &err), CS_OK, "%s", err.message);
    cr_expect_eq(id, 4);
    cs_ledger_close(ledger);
    cs_ledger_close(ledger_open_good()); /* a second time there is nothing to do */
    cr_expect_eq(ledger_count(), 4);
    expect_answer("SELECT previous_sha256 = '" DIGEST_2 "' FROM entry WHERE id = 3", "1|");
    cs_buf_free(&rows);
}

Test(ledger_migrate, every_row_of_version_2_stays_as_it_was) {
    version_2();
    cs_buf rows = ask(ROWS);
    cr_expect_eq(ledger_count(), 4);
    expect_answer("PRAGMA user_version", "2|");

    cs_ledger *ledger = ledger_open_good();
    expect_answer("PRAGMA user_version", "4|");
    expect_answer("SELECT count(*) FROM sqlite_schema", "4|");
    expect_answer("SELECT count(*) FROM entry WHERE link IS NULL", "4|");
    expect_same(&rows);
    cr_expect_eq(ledger_count(), 4);

    cs_ledger_row row = rows_checkpoint(); /* and the new kind follows */
    int64_t id = 0;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_ledger_append(ledger, &row, &id, &err), CS_OK, "%s", err.message);
    cr_expect_eq(id, 5);
    cs_ledger_close(ledger);
    cr_expect_eq(ledger_count(), 5);
    expect_answer("SELECT previous_sha256 = '" DIGEST_4 "' FROM entry WHERE id = 5", "1|");
    cs_buf_free(&rows);
}

/* With their links. */
Test(ledger_migrate, every_row_of_version_3_stays_as_it_was) {
    static const char links[] = "SELECT id, quote(link) FROM entry ORDER BY id";
    version_3();
    cs_buf rows = ask(ROWS);
    cs_buf linked = ask(links);
    cr_expect_eq(ledger_count(), 5);
    expect_answer("PRAGMA user_version", "3|");

    cs_ledger *ledger = ledger_open_good();
    expect_answer("PRAGMA user_version", "4|");
    expect_answer("SELECT count(*) FROM sqlite_schema", "4|");
    expect_answer("SELECT count(*) FROM entry WHERE link IS NOT NULL", "1|");
    expect_same(&rows);
    expect_answer(links, (const char *)linked.ptr);
    cr_expect_eq(ledger_count(), 5);

    cs_ledger_row row = rows_verdict(); /* and the new kind follows */
    int64_t id = 0;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_ledger_append(ledger, &row, &id, &err), CS_OK, "%s", err.message);
    cr_expect_eq(id, 6);
    cs_ledger_close(ledger);
    cr_expect_eq(ledger_count(), 6);
    expect_answer("SELECT previous_sha256 = '" DIGEST_5 "' FROM entry WHERE id = 6", "1|");
    cs_buf_free(&rows);
    cs_buf_free(&linked);
}

static void expect_empty(int version) {
    for (const char *const *sql = cs_ledger_schema_of(version); *sql != NULL; sql++)
        ledger_sql(*sql);
    static const char *const pragmas[] = {"PRAGMA user_version = 1", "PRAGMA user_version = 2",
                                          "PRAGMA user_version = 3"};
    ledger_sql("PRAGMA application_id = 1129532487");
    ledger_sql(pragmas[version - 1]);
    cs_ledger_close(ledger_open_good());
    expect_answer("PRAGMA user_version", "4|");
    cr_expect_eq(ledger_count(), 0);
    cr_assert_eq(unlink(ledger_path), 0);
}

Test(ledger_migrate, empty_ledgers) {
    expect_empty(1);
    expect_empty(2);
    expect_empty(3);
}

/* A reader that began without locks goes on where it was. */
Test(ledger_migrate, while_it_is_read) {
    version_2();
    cs_source *source = NULL;
    cs_entry entry;
    bool more = true;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_source_open(ledger_path, &source, &err), CS_OK, "%s", err.message);
    cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK, "%s", err.message);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        cs_ledger *ledger = NULL;
        cs_result result = cs_ledger_open(ledger_path, 5000, &ledger, &err);
        cs_ledger_close(ledger);
        _exit((int)result);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    expect_answer("PRAGMA user_version", "4|");
    for (uint64_t id = 2; id <= 4; id++) {
        cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK, "%s: %s", err.where, err.message);
        cr_expect_eq(entry.number, id);
    }
    cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_expect_not(more);
    cs_source_close(source);
}

Test(ledger_migrate, several_processes_at_once) {
    version_1();
    cs_buf rows = ask(ROWS);
    pid_t children[4];
    for (int i = 0; i < 4; i++) {
        children[i] = fork();
        cr_assert_geq(children[i], 0);
        if (children[i] != 0) continue;
        cs_ledger *ledger = NULL;
        cs_error err = CS_ERROR_INIT;
        cs_result result = cs_ledger_open(ledger_path, 20000, &ledger, &err);
        cs_ledger_close(ledger);
        _exit((int)result);
    }
    for (int i = 0; i < 4; i++) {
        int status = -1;
        cr_assert_eq(waitpid(children[i], &status, 0), children[i]);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == CS_OK, "status %d", status);
    }
    expect_same(&rows);
    expect_answer("PRAGMA user_version", "4|");
    cr_expect_eq(ledger_count(), 2);
    cs_buf_free(&rows);
}

/* ---- nothing at all ------------------------------------------------------------------------------ */

static void expect_untouched(cs_result result, cs_code code) {
    cs_buf rows = ask(ROWS);
    cs_buf schema = ask("SELECT sql FROM sqlite_schema ORDER BY rowid");
    cs_buf version = ask("PRAGMA user_version");
    cs_ledger *ledger = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_ledger_open(ledger_path, 200, &ledger, &err), result, "%s", err.message);
    cr_expect_eq(err.code, code, "%s: %s", cs_code_name(err.code), err.message);
    cr_expect_null(ledger);
    expect_answer("PRAGMA user_version", (const char *)version.ptr);
    expect_same(&rows);
    expect_answer("SELECT sql FROM sqlite_schema ORDER BY rowid", (const char *)schema.ptr);
    cs_buf_free(&rows);
    cs_buf_free(&schema);
    cs_buf_free(&version);
}

Test(ledger_migrate, a_strangers_trigger_is_not_taken_along) {
    version_1();
    ledger_sql("CREATE TRIGGER more AFTER INSERT ON entry BEGIN SELECT 1; END");
    expect_untouched(CS_FAILED, CS_CODE_LEDGER_SCHEMA);
}

Test(ledger_migrate, a_ledger_of_version_2_with_more_or_less) {
    version_2();
    ledger_sql("CREATE TABLE note (text TEXT)");
    expect_untouched(CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    ledger_sql("DROP TABLE note; DROP TRIGGER entry_insert");
    expect_untouched(CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    ledger_sql(cs_ledger_schema_of(2)[3]);
    cs_ledger_close(ledger_open_good()); /* the twin */
    expect_answer("PRAGMA user_version", "4|");
}

/* A stranger's column is nowhere to go to, and the text is not that of the version. */
Test(ledger_migrate, a_ledger_of_version_2_with_a_link_already) {
    version_2();
    ledger_sql("ALTER TABLE entry ADD COLUMN link BLOB");
    expect_untouched(CS_FAILED, CS_CODE_LEDGER_SCHEMA);
}

Test(ledger_migrate, a_row_that_no_version_takes) {
    version_1();
    ledger_sql("PRAGMA ignore_check_constraints = ON; INSERT INTO entry (" COLUMNS
               ") SELECT 3, added_unix_ms, 'note', daemon, code, detail, request, response, envelope, describe_before, "
               "describe_after, record_sha256, row_sha256, row_sha256 FROM entry WHERE id = 2");
    expect_untouched(CS_UNCHECKED, CS_CODE_LEDGER_WRITE);
}

Test(ledger_migrate, a_ledger_that_another_process_holds) {
    version_1();
    sqlite3 *db = ledger_raw();
    cr_assert_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    expect_untouched(CS_UNCHECKED, CS_CODE_LEDGER_LOCKED);
    cr_assert_eq(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_close(db), SQLITE_OK);
    cs_ledger_close(ledger_open_good()); /* the twin */
}
