/* verify/source.h on ledgers: identity, the chain of rows, and damage. */
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
#include "verify/source.h"

TestSuite(source_ledger, .init = walk_set_up, .fini = walk_tear_down);

/* Three good rows, then changed by statements that only work once the triggers are gone; they are put back. */
static void three_rows_changed(const char *sql) {
    sqlite3 *db = walk_three_rows();
    raw_sql(db, "PRAGMA ignore_check_constraints = ON");
    raw_sql(db, "DROP TRIGGER entry_update; DROP TRIGGER entry_delete; DROP TRIGGER entry_insert");
    if (sql != NULL) raw_sql(db, sql);
    for (int i = 1; i < 4; i++)
        raw_sql(db, cs_ledger_schema[i]);
    raw_close(db);
}

static void expect_open_error(cs_result result, cs_code code) {
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_source_open(walk_path, &source, &err), result);
    cr_expect_eq(err.code, code, "%s: %s", cs_code_name(err.code), err.message);
    cr_expect(strstr(err.where, "ledger.db") != NULL, "%s", err.where);
    cr_expect_null(source);
}

static bool is(cs_view view, const char *text) {
    return view.ptr != NULL && view.len == strlen(text) && memcmp(view.ptr, text, view.len) == 0;
}

/* ---- what is good -------------------------------------------------------------------------------- */

Test(source_ledger, columns_as_they_were_stored) {
    sqlite3 *db = walk_three_rows();
    cs_ledger_row row = rows_finding();
    row.response = (cs_view){(const uint8_t *)"", 0};
    row.describe_before = (cs_view){0};
    raw_append(db, row);
    raw_close(db);
    cs_source *source = walk_open(walk_path);
    cs_entry entry;
    bool more = false;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_source_what(source), CS_SOURCE_LEDGER);
    cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_expect(entry.number == 1 && !entry.finding && entry.row->id == 1);
    cr_expect(is(entry.request, "the request") && is(entry.response, "the response"));
    cr_expect(is(entry.envelope, "{\"payloadType\":\"x\"}") && entry.link.ptr == NULL && entry.line.ptr == NULL);
    cr_expect(is(entry.row->daemon, "http://127.0.0.1:8746") && is(entry.row->record_sha256, ROWS_RECORD));
    cr_expect(is(entry.row->describe_before, "before") && is(entry.row->describe_after, "after"));
    cr_expect(is(entry.row->code, "") && is(entry.row->detail, "") && entry.row->added_unix_ms == 1700000000123);
    cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_expect(entry.number == 2 && entry.finding && entry.envelope.ptr == NULL);
    cr_expect(is(entry.row->code, "result-digest") && is(entry.row->detail, "the result is another one"));
    cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_expect(is(entry.response, "") && entry.row->describe_before.ptr == NULL, "empty is not absent");
    cr_expect(is(entry.row->request, "the request") && entry.row->describe_after.ptr == NULL);
    cs_source_close(source);
}

Test(source_ledger, one_without_entries) {
    raw_close(raw_create(walk_path));
    cs_source *source = walk_open(walk_path);
    cs_entry entry;
    bool more = true;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_expect_not(more);
    cs_source_close(source);
}

Test(source_ledger, progress_ends_at_the_size_of_the_file) {
    raw_close(walk_three_rows());
    struct stat info;
    cr_assert_eq(stat(walk_path, &info), 0);
    cs_source *source = walk_open(walk_path);
    cs_entry entry;
    uint64_t done = 1;
    uint64_t total = 0;
    bool more = true;
    cs_error err = CS_ERROR_INIT;
    cs_source_progress(source, &done, &total);
    cr_expect(done == 0 && total == (uint64_t)info.st_size);
    while (more)
        cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cs_source_progress(source, &done, &total);
    cr_expect_eq(done, total);
    cs_source_close(source);
}

Test(source_ledger, names_that_mean_something_to_sqlite) {
    static const char *const names[] = {":memory:", "file:x?mode=memory", "a?b#c%41 d", "mode=ro", "'; --"};
    raw_close(walk_three_rows());
    size_t len = 0;
    char *bytes = file_read(walk_path, &len);
    cr_assert_eq(chdir(walk_folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char whole[256];
        file_write(names[i], bytes, len);
        (void)snprintf(whole, sizeof whole, "/%s/%s", walk_folder, names[i]); /* begins with two slashes */
        WALK(names[i], GOOD, GOOD, GOOD);
        WALK(whole, GOOD, GOOD, GOOD);
    }
    free(bytes);
}

/* ---- identity ------------------------------------------------------------------------------------ */

static void change_and_expect(const char *sql, cs_result result, cs_code code) {
    sqlite3 *db = walk_three_rows();
    raw_sql(db, "PRAGMA writable_schema = ON");
    raw_sql(db, sql);
    raw_close(db);
    expect_open_error(result, code);
    unlink(walk_path);
}

Test(source_ledger, whose_file_it_is) {
    change_and_expect("PRAGMA application_id = 0", CS_UNCHECKED, CS_CODE_LEDGER_FOREIGN);
    change_and_expect("PRAGMA application_id = 1129532486", CS_UNCHECKED, CS_CODE_LEDGER_FOREIGN);
    change_and_expect("PRAGMA user_version = 5", CS_UNCHECKED, CS_CODE_LEDGER_VERSION);
    change_and_expect("PRAGMA user_version = 3", CS_FAILED, CS_CODE_LEDGER_SCHEMA); /* the text is that of 4 */
    change_and_expect("PRAGMA user_version = 2", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect("PRAGMA user_version = 1", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect("PRAGMA user_version = 0", CS_UNCHECKED, CS_CODE_LEDGER_VERSION);
    raw_close(walk_three_rows());
    WALK(walk_path, GOOD, GOOD, GOOD);
}

Test(source_ledger, a_newer_version_names_both) {
    sqlite3 *db = walk_three_rows();
    raw_sql(db, "PRAGMA user_version = 5");
    raw_close(db);
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_source_open(walk_path, &source, &err), CS_UNCHECKED);
    cr_expect(strstr(err.message, "version 5") != NULL && strstr(err.message, "up to 4") != NULL, "%s", err.message);
}

Test(source_ledger, exactly_the_schema) {
    three_rows_changed(NULL); /* the twin: triggers dropped and put back as they were */
    WALK(walk_path, GOOD, GOOD, GOOD);
    unlink(walk_path);
    change_and_expect("CREATE TABLE note (text TEXT)", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect("CREATE VIEW v AS SELECT * FROM entry", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect("CREATE INDEX i ON entry (kind)", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect("CREATE TRIGGER t AFTER INSERT ON entry BEGIN SELECT 1; END", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect("DROP TRIGGER entry_insert", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect(
        "DROP TRIGGER entry_update; CREATE TRIGGER entry_update BEFORE UPDATE ON entry BEGIN SELECT 1; END", CS_FAILED,
        CS_CODE_LEDGER_SCHEMA);
    change_and_expect("ALTER TABLE entry ADD COLUMN note TEXT", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect("UPDATE sqlite_schema SET tbl_name = 'other' WHERE name = 'entry_update'", CS_FAILED,
                      CS_CODE_LEDGER_CORRUPT);
    change_and_expect("UPDATE sqlite_schema SET name = 'entry_other' WHERE name = 'entry_update'", CS_FAILED,
                      CS_CODE_LEDGER_CORRUPT);
    change_and_expect("ANALYZE", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
}

/* What is called "entry" shows other rows than those that are stored. */
Test(source_ledger, a_view_named_entry) {
    sqlite3 *db = walk_three_rows();
    raw_sql(db, "DROP TRIGGER entry_update; DROP TRIGGER entry_delete; DROP TRIGGER entry_insert;"
                "ALTER TABLE entry RENAME TO hidden; CREATE VIEW entry AS SELECT * FROM hidden WHERE id < 3");
    raw_close(db);
    expect_open_error(CS_FAILED, CS_CODE_LEDGER_SCHEMA);
}

Test(source_ledger, another_text_encoding) {
    sqlite3 *db = raw_open(walk_path);
    raw_sql(db, "PRAGMA encoding = 'UTF-16le'");
    for (const char *const *sql = cs_ledger_schema; *sql != NULL; sql++)
        raw_sql(db, *sql);
    raw_sql(db, "PRAGMA application_id = 1129532487; PRAGMA user_version = 4");
    raw_close(db);
    expect_open_error(CS_FAILED, CS_CODE_LEDGER_SCHEMA);
}

/* Files of versions 1 to 3 are read as they are; only the writer brings them to the newest. */
Test(source_ledger, a_ledger_of_version_1) {
    sqlite3 *db = raw_create_version(walk_path, 1);
    raw_append(db, rows_run());
    raw_append(db, rows_finding());
    cr_expect_eq(raw_try(db, "INSERT INTO entry SELECT 3, added_unix_ms, 'close', '', row_sha256, row_sha256, '', "
                             "daemon, '', envelope, NULL, NULL, NULL, NULL FROM entry WHERE id = 2"),
                 SQLITE_CONSTRAINT);
    raw_close(db);
    WALK(walk_path, GOOD, GOOD);
    unlink(walk_path);
    db = raw_create_version(walk_path, 1);
    raw_sql(db, "PRAGMA user_version = 2");
    raw_close(db);
    expect_open_error(CS_FAILED, CS_CODE_LEDGER_SCHEMA);
}

Test(source_ledger, a_ledger_of_version_2) {
    sqlite3 *db = raw_create_version(walk_path, 2);
    raw_append(db, rows_run());
    raw_append(db, rows_finding());
    cr_expect_eq(raw_try(db, "INSERT INTO entry SELECT 3, added_unix_ms, 'checkpoint', '', row_sha256, row_sha256, '', "
                             "daemon, '', NULL, NULL, NULL, NULL, NULL FROM entry WHERE id = 2"),
                 SQLITE_CONSTRAINT);
    cr_expect_eq(raw_try(db, "SELECT link FROM entry"), SQLITE_ERROR);
    raw_close(db);
    WALK(walk_path, GOOD, GOOD);
    unlink(walk_path);
    db = raw_create_version(walk_path, 2);
    raw_sql(db, "PRAGMA user_version = 3");
    raw_close(db);
    expect_open_error(CS_FAILED, CS_CODE_LEDGER_SCHEMA);
}

Test(source_ledger, a_ledger_of_version_3) {
    sqlite3 *db = raw_create_version(walk_path, 3);
    cs_ledger_row verdict = rows_verdict();
    cs_ledger_row linked = rows_run();
    linked.link = cs_view_of("{}");
    raw_append(db, linked);
    verdict.id = 2;
    verdict.previous_sha256 = cs_view_of(ROWS_RECORD);
    verdict.row_sha256 = cs_view_of(ROWS_RECORD);
    cr_expect_eq(raw_insert(db, &verdict), SQLITE_CONSTRAINT);
    raw_append(db, rows_checkpoint());
    raw_close(db);
    WALK(walk_path, GOOD, GOOD);
    unlink(walk_path);
    db = raw_create_version(walk_path, 3);
    raw_sql(db, "PRAGMA user_version = 4");
    raw_close(db);
    expect_open_error(CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    unlink(walk_path);
    db = raw_create(walk_path); /* the twin: version 4 takes both */
    raw_append(db, linked);
    raw_append(db, verdict);
    raw_close(db);
    WALK(walk_path, GOOD, GOOD);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static void linked_rows(const char *sql) {
    sqlite3 *db = raw_create(walk_path);
    cs_ledger_row row = rows_run();
    row.link = cs_view_of("{\"payloadType\":\"z\"}");
    raw_append(db, row);
    raw_append(db, rows_checkpoint());
    raw_append(db, rows_finding());
    raw_sql(db, "PRAGMA ignore_check_constraints = ON");
    raw_sql(db, "DROP TRIGGER entry_update; DROP TRIGGER entry_delete; DROP TRIGGER entry_insert");
    if (sql != NULL) raw_sql(db, sql);
    for (int i = 1; i < 4; i++)
        raw_sql(db, cs_ledger_schema[i]);
    raw_close(db);
}

Test(source_ledger, rows_with_a_link) {
    linked_rows(NULL);
    cs_source *source = walk_open(walk_path);
    cs_entry entry;
    bool more = false;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_expect(is(entry.link, "{\"payloadType\":\"z\"}") && is(entry.envelope, "{\"payloadType\":\"x\"}"));
    cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_expect(is(entry.link, "{\"payloadType\":\"y\"}") && entry.envelope.ptr == NULL && !entry.finding);
    cr_expect(entry.request.ptr == NULL && entry.response.ptr == NULL && is(entry.row->kind, "checkpoint"));
    cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_expect(entry.link.ptr == NULL && entry.finding);
    cs_source_close(source);
}

static void linked_change(const char *sql, cs_code first, cs_code second, cs_code third) {
    linked_rows(sql);
    WALK(walk_path, first, second, third);
    unlink(walk_path);
}

Test(source_ledger, a_link_that_was_changed) {
    linked_change(NULL, GOOD, GOOD, GOOD);
    linked_change("UPDATE entry SET link = x'7b7d' WHERE id = 1", CS_CODE_LEDGER_ROW, GOOD, GOOD);
    linked_change("UPDATE entry SET link = NULL WHERE id = 1", CS_CODE_LEDGER_ROW, GOOD, GOOD);
    linked_change("UPDATE entry SET link = x'' WHERE id = 2", GOOD, CS_CODE_LEDGER_ROW, GOOD);
    linked_change("UPDATE entry SET link = NULL WHERE id = 2", GOOD, CS_CODE_LEDGER_COLUMNS, GOOD);
    linked_change("UPDATE entry SET link = x'7b7d' WHERE id = 3", GOOD, GOOD, CS_CODE_LEDGER_COLUMNS);
}

static void row_change(const char *sql, cs_code first, cs_code second, cs_code third) {
    three_rows_changed(sql);
    WALK(walk_path, first, second, third);
    unlink(walk_path);
}

Test(source_ledger, a_changed_row_is_found_and_stepped_over) {
    row_change(NULL, GOOD, GOOD, GOOD);
    row_change("UPDATE entry SET daemon = 'http://x' WHERE id = 2", GOOD, CS_CODE_LEDGER_ROW, GOOD);
    row_change("UPDATE entry SET response = x'00' WHERE id = 2", GOOD, CS_CODE_LEDGER_ROW, GOOD);
    row_change("UPDATE entry SET response = NULL WHERE id = 2", GOOD, CS_CODE_LEDGER_ROW, GOOD);
    row_change("UPDATE entry SET describe_after = x'' WHERE id = 2", GOOD, CS_CODE_LEDGER_ROW, GOOD);
    row_change("UPDATE entry SET envelope = x'7b7d' WHERE id = 1", CS_CODE_LEDGER_ROW, GOOD, GOOD);
    row_change("UPDATE entry SET added_unix_ms = added_unix_ms + 1 WHERE id = 3", GOOD, GOOD, CS_CODE_LEDGER_ROW);
    row_change("UPDATE entry SET row_sha256 = record_sha256 WHERE id = 1", CS_CODE_LEDGER_ROW, CS_CODE_LEDGER_CHAIN,
               GOOD);
    row_change("UPDATE entry SET previous_sha256 = row_sha256 WHERE id = 3", GOOD, GOOD, CS_CODE_LEDGER_CHAIN);
    row_change("UPDATE entry SET previous_sha256 = row_sha256 WHERE id = 1", CS_CODE_LEDGER_CHAIN, GOOD, GOOD);
    row_change("UPDATE entry SET id = 4 WHERE id = 3", GOOD, GOOD, CS_CODE_LEDGER_CHAIN);
    row_change("UPDATE entry SET id = -1 WHERE id = 1", CS_CODE_LEDGER_CHAIN, CS_CODE_LEDGER_CHAIN, GOOD);
    row_change("UPDATE entry SET id = 9223372036854775807 WHERE id = 3", GOOD, GOOD, CS_CODE_LEDGER_CHAIN);
    row_change("UPDATE entry SET id = -9223372036854775807 - 1 WHERE id = 1", CS_CODE_LEDGER_CHAIN,
               CS_CODE_LEDGER_CHAIN, GOOD);
}

Test(source_ledger, columns_that_no_writer_stores) {
    row_change("UPDATE entry SET kind = 'note' WHERE id = 2", GOOD, CS_CODE_LEDGER_COLUMNS, GOOD);
    row_change("UPDATE entry SET kind = 'finding' WHERE id = 1", CS_CODE_LEDGER_COLUMNS, GOOD, GOOD);
    row_change("UPDATE entry SET envelope = NULL WHERE id = 1", CS_CODE_LEDGER_COLUMNS, GOOD, GOOD);
    row_change("UPDATE entry SET record_sha256 = upper(record_sha256) WHERE id = 3", GOOD, GOOD,
               CS_CODE_LEDGER_COLUMNS);
    row_change("UPDATE entry SET detail = CAST(x'ff' AS TEXT) WHERE id = 2", GOOD, CS_CODE_LEDGER_COLUMNS, GOOD);
}

Test(source_ledger, a_row_that_is_missing) {
    three_rows_changed("DELETE FROM entry WHERE id = 2");
    WALK(walk_path, GOOD, CS_CODE_LEDGER_CHAIN);
    unlink(walk_path);
    three_rows_changed("DELETE FROM entry WHERE id = 1");
    WALK(walk_path, CS_CODE_LEDGER_CHAIN, GOOD);
}

Test(source_ledger, a_bad_row_is_named) {
    three_rows_changed("UPDATE entry SET daemon = 'http://x' WHERE id = 2");
    cs_source *source = walk_open(walk_path);
    cs_entry entry;
    bool more = false;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_FAILED);
    cr_expect_eq(entry.number, 2);
    cr_expect_str_eq(err.where, "entry 2");
    cr_expect_null(entry.request.ptr);
    cs_source_close(source);
}

/* Types that a STRICT table refuses: stored in a table without STRICT, whose text is then exchanged. */
static void forge_type(const char *sql) {
    sqlite3 *db = raw_open(walk_path);
    char text[4096];
    (void)snprintf(text, sizeof text, "%s", cs_ledger_schema[0]);
    *strstr(text, " STRICT") = '\0';
    raw_sql(db, text);
    raw_sql(db, "PRAGMA application_id = 1129532487; PRAGMA user_version = 4; PRAGMA ignore_check_constraints = ON");
    raw_append(db, rows_run());
    raw_append(db, rows_run());
    raw_sql(db, sql);
    for (int i = 1; i < 4; i++)
        raw_sql(db, cs_ledger_schema[i]);
    raw_sql(db, "PRAGMA writable_schema = ON;"
                "UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE type = 'table'");
    raw_close(db);
}

Test(source_ledger, values_of_another_type) {
    forge_type("SELECT 1");
    WALK(walk_path, GOOD, GOOD);
    static const char *const changes[] = {
        "UPDATE entry SET request = 'the request' WHERE id = 1",  "UPDATE entry SET request = 5 WHERE id = 1",
        "UPDATE entry SET daemon = x'00' WHERE id = 1",           "UPDATE entry SET added_unix_ms = 'x' WHERE id = 1",
        "UPDATE entry SET record_sha256 = x'00' WHERE id = 1",    "UPDATE entry SET kind = x'72756e' WHERE id = 1",
        "UPDATE entry SET describe_after = 'after' WHERE id = 1", "UPDATE entry SET link = 'a link' WHERE id = 1",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        unlink(walk_path);
        forge_type(changes[i]);
        WALK(walk_path, CS_CODE_LEDGER_COLUMNS, GOOD);
    }
}

/* ---- damage -------------------------------------------------------------------------------------- */

/* Forty rows on many pages; the page of the third leaf is filled with `byte`. */
static int64_t damage_third_leaf(uint8_t byte) {
    static uint8_t filler[1500];
    sqlite3 *db = raw_create(walk_path);
    cs_ledger_row row = rows_run();
    row.response = (cs_view){filler, sizeof filler};
    for (int i = 0; i < 40; i++)
        raw_append(db, row);
    raw_sql(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite3_stmt *page = NULL;
    sqlite3_prepare_v2(db,
                       "SELECT pgoffset, pgsize, (SELECT sum(ncell) FROM (SELECT ncell FROM dbstat WHERE name = 'entry'"
                       " AND pagetype = 'leaf' ORDER BY path LIMIT 2)) FROM dbstat WHERE name = 'entry'"
                       " AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 2",
                       -1, &page, NULL);
    cr_assert_eq(sqlite3_step(page), SQLITE_ROW);
    long offset = (long)sqlite3_column_int64(page, 0);
    size_t size = (size_t)sqlite3_column_int64(page, 1);
    int64_t before = sqlite3_column_int64(page, 2);
    sqlite3_finalize(page);
    raw_close(db);
    FILE *file = fopen(walk_path, "r+b");
    cr_assert_not_null(file);
    fseek(file, offset, SEEK_SET);
    while (size-- > 0)
        fputc(byte, file);
    fclose(file);
    return before;
}

Test(source_ledger, a_damaged_page_ends_the_walk_after_the_last_good_entry) {
    static const uint8_t damages[] = {0x00, 0xff, 0x0d};
    for (size_t i = 0; i < sizeof damages; i++) {
        int64_t good = damage_third_leaf(damages[i]);
        char expected[64];
        (void)snprintf(expected, sizeof expected, "after entry %lld", (long long)good);
        cs_source *source = walk_open(walk_path);
        cs_entry entry;
        bool more = false;
        cs_error err = CS_ERROR_INIT;
        for (int64_t j = 0; j < good; j++)
            cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
        cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_FAILED);
        cr_expect_not(more);
        cr_expect_eq(err.code, CS_CODE_LEDGER_CORRUPT);
        cr_expect(strstr(err.message, expected) != NULL, "'%s' is not in '%s'", expected, err.message);
        cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_OK, "and it stays at the end");
        cr_expect_not(more);
        cs_source_close(source);
        unlink(walk_path);
    }
}

Test(source_ledger, a_header_of_which_only_the_magic_is_left) {
    raw_close(walk_three_rows());
    FILE *file = fopen(walk_path, "r+b");
    cr_assert_not_null(file);
    fseek(file, 16, SEEK_SET);
    for (int i = 0; i < 84; i++)
        fputc(0xff, file);
    fclose(file);
    expect_open_error(CS_FAILED, CS_CODE_LEDGER_CORRUPT);
}
