/* verify/source.h on ledgers: identity, the chain of rows, and reading without a trace. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/folder.h"
#include "tests/support/rows.h"
#include "tests/verify/raw_ledger.h"
#include "verify/source.h"

static char folder[128];
static char path[256];

static void set_up(void) {
    folder_make(folder);
    (void)snprintf(path, sizeof path, "%s/ledger.db", folder);
}

static void tear_down(void) {
    folder_remove(folder);
}

TestSuite(source_ledger, .init = set_up, .fini = tear_down);

/* Three good rows: run, finding, run. */
static sqlite3 *three_rows(void) {
    sqlite3 *db = raw_create(path);
    raw_append(db, rows_run());
    raw_append(db, rows_finding());
    raw_append(db, rows_run());
    return db;
}

/* The same, then changed by statements that only work once the triggers are gone; they are put back. */
static void three_rows_changed(const char *sql) {
    sqlite3 *db = three_rows();
    raw_sql(db, "PRAGMA ignore_check_constraints = ON");
    raw_sql(db, "DROP TRIGGER entry_update; DROP TRIGGER entry_delete; DROP TRIGGER entry_insert");
    if (sql != NULL) raw_sql(db, sql);
    for (int i = 1; i < 4; i++) raw_sql(db, cs_ledger_schema[i]);
    raw_close(db);
}

static cs_source *open_good(const char *name) {
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_source_open(name, &source, &err), CS_OK, "%s: %s", err.where, err.message);
    return source;
}

static void expect_open_error(cs_result result, cs_code code) {
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_source_open(path, &source, &err), result);
    cr_expect_eq(err.code, code, "%s: %s", cs_code_name(err.code), err.message);
    cr_expect(strstr(err.where, "ledger.db") != NULL, "%s", err.where);
    cr_expect_null(source);
}

/* Walk to the end. `codes` holds what each entry must answer; CS_CODE_OK for a good one. */
static void expect_walk(const char *name, const cs_code *codes, size_t count) {
    cs_source *source = open_good(name);
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

#define WALK(name, ...)                                                                                                \
    expect_walk(name, (const cs_code[]){__VA_ARGS__}, sizeof((const cs_code[]){__VA_ARGS__}) / sizeof(cs_code))
#define GOOD CS_CODE_OK

static bool is(cs_view view, const char *text) {
    return view.ptr != NULL && view.len == strlen(text) && memcmp(view.ptr, text, view.len) == 0;
}

/* ---- what is good -------------------------------------------------------------------------------- */

Test(source_ledger, columns_as_they_were_stored) {
    sqlite3 *db = three_rows();
    cs_ledger_row row = rows_finding();
    row.response = (cs_view){(const uint8_t *)"", 0};
    row.describe_before = (cs_view){0};
    raw_append(db, row);
    raw_close(db);
    cs_source *source = open_good(path);
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
    raw_close(raw_create(path));
    cs_source *source = open_good(path);
    cs_entry entry;
    bool more = true;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_expect_not(more);
    cs_source_close(source);
}

Test(source_ledger, progress_ends_at_the_size_of_the_file) {
    raw_close(three_rows());
    struct stat info;
    cr_assert_eq(stat(path, &info), 0);
    cs_source *source = open_good(path);
    cs_entry entry;
    uint64_t done = 1;
    uint64_t total = 0;
    bool more = true;
    cs_error err = CS_ERROR_INIT;
    cs_source_progress(source, &done, &total);
    cr_expect(done == 0 && total == (uint64_t)info.st_size);
    while (more) cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cs_source_progress(source, &done, &total);
    cr_expect_eq(done, total);
    cs_source_close(source);
}

Test(source_ledger, names_that_mean_something_to_sqlite) {
    static const char *const names[] = {":memory:", "file:x?mode=memory", "a?b#c%41 d", "mode=ro", "'; --"};
    raw_close(three_rows());
    size_t len = 0;
    char *bytes = file_read(path, &len);
    cr_assert_eq(chdir(folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char whole[256];
        file_write(names[i], bytes, len);
        (void)snprintf(whole, sizeof whole, "/%s/%s", folder, names[i]); /* begins with two slashes */
        WALK(names[i], GOOD, GOOD, GOOD);
        WALK(whole, GOOD, GOOD, GOOD);
    }
    free(bytes);
}

/* ---- identity ------------------------------------------------------------------------------------ */

static void change_and_expect(const char *sql, cs_result result, cs_code code) {
    sqlite3 *db = three_rows();
    raw_sql(db, "PRAGMA writable_schema = ON");
    raw_sql(db, sql);
    raw_close(db);
    expect_open_error(result, code);
    unlink(path);
}

Test(source_ledger, whose_file_it_is) {
    change_and_expect("PRAGMA application_id = 0", CS_UNCHECKED, CS_CODE_LEDGER_FOREIGN);
    change_and_expect("PRAGMA application_id = 1129532486", CS_UNCHECKED, CS_CODE_LEDGER_FOREIGN);
    change_and_expect("PRAGMA user_version = 2", CS_UNCHECKED, CS_CODE_LEDGER_VERSION);
    change_and_expect("PRAGMA user_version = 0", CS_UNCHECKED, CS_CODE_LEDGER_VERSION);
    raw_close(three_rows());
    WALK(path, GOOD, GOOD, GOOD);
}

Test(source_ledger, a_newer_version_names_both) {
    sqlite3 *db = three_rows();
    raw_sql(db, "PRAGMA user_version = 2");
    raw_close(db);
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_source_open(path, &source, &err), CS_UNCHECKED);
    cr_expect(strstr(err.message, "version 2") != NULL && strstr(err.message, "up to 1") != NULL, "%s", err.message);
}

Test(source_ledger, exactly_the_schema) {
    three_rows_changed(NULL); /* the twin: triggers dropped and put back as they were */
    WALK(path, GOOD, GOOD, GOOD);
    unlink(path);
    change_and_expect("CREATE TABLE note (text TEXT)", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect("CREATE VIEW v AS SELECT * FROM entry", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect("CREATE INDEX i ON entry (kind)", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect("CREATE TRIGGER t AFTER INSERT ON entry BEGIN SELECT 1; END", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect("DROP TRIGGER entry_insert", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect("DROP TRIGGER entry_update; CREATE TRIGGER entry_update BEFORE UPDATE ON entry BEGIN SELECT 1; END",
                      CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect("ALTER TABLE entry ADD COLUMN note TEXT", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
    change_and_expect("UPDATE sqlite_schema SET tbl_name = 'other' WHERE name = 'entry_update'", CS_FAILED,
                      CS_CODE_LEDGER_CORRUPT);
    change_and_expect("UPDATE sqlite_schema SET name = 'entry_other' WHERE name = 'entry_update'", CS_FAILED,
                      CS_CODE_LEDGER_CORRUPT);
    change_and_expect("ANALYZE", CS_FAILED, CS_CODE_LEDGER_SCHEMA);
}

/* What is called "entry" shows other rows than those that are stored. */
Test(source_ledger, a_view_named_entry) {
    sqlite3 *db = three_rows();
    raw_sql(db, "DROP TRIGGER entry_update; DROP TRIGGER entry_delete; DROP TRIGGER entry_insert;"
                "ALTER TABLE entry RENAME TO hidden; CREATE VIEW entry AS SELECT * FROM hidden WHERE id < 3");
    raw_close(db);
    expect_open_error(CS_FAILED, CS_CODE_LEDGER_SCHEMA);
}

Test(source_ledger, another_text_encoding) {
    sqlite3 *db = raw_open(path);
    raw_sql(db, "PRAGMA encoding = 'UTF-16le'");
    for (const char *const *sql = cs_ledger_schema; *sql != NULL; sql++) raw_sql(db, *sql);
    raw_sql(db, "PRAGMA application_id = 1129532487; PRAGMA user_version = 1");
    raw_close(db);
    expect_open_error(CS_FAILED, CS_CODE_LEDGER_SCHEMA);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static void row_change(const char *sql, cs_code first, cs_code second, cs_code third) {
    three_rows_changed(sql);
    WALK(path, first, second, third);
    unlink(path);
}

Test(source_ledger, a_changed_row_is_found_and_stepped_over) {
    row_change(NULL, GOOD, GOOD, GOOD);
    row_change("UPDATE entry SET daemon = 'http://x' WHERE id = 2", GOOD, CS_CODE_LEDGER_ROW, GOOD);
    row_change("UPDATE entry SET response = x'00' WHERE id = 2", GOOD, CS_CODE_LEDGER_ROW, GOOD);
    row_change("UPDATE entry SET response = NULL WHERE id = 2", GOOD, CS_CODE_LEDGER_ROW, GOOD);
    row_change("UPDATE entry SET describe_after = x'' WHERE id = 2", GOOD, CS_CODE_LEDGER_ROW, GOOD);
    row_change("UPDATE entry SET envelope = x'7b7d' WHERE id = 1", CS_CODE_LEDGER_ROW, GOOD, GOOD);
    row_change("UPDATE entry SET added_unix_ms = added_unix_ms + 1 WHERE id = 3", GOOD, GOOD, CS_CODE_LEDGER_ROW);
    row_change("UPDATE entry SET row_sha256 = record_sha256 WHERE id = 1", CS_CODE_LEDGER_ROW, CS_CODE_LEDGER_CHAIN, GOOD);
    row_change("UPDATE entry SET previous_sha256 = row_sha256 WHERE id = 3", GOOD, GOOD, CS_CODE_LEDGER_CHAIN);
    row_change("UPDATE entry SET previous_sha256 = row_sha256 WHERE id = 1", CS_CODE_LEDGER_CHAIN, GOOD, GOOD);
    row_change("UPDATE entry SET id = 4 WHERE id = 3", GOOD, GOOD, CS_CODE_LEDGER_CHAIN);
    row_change("UPDATE entry SET id = -1 WHERE id = 1", CS_CODE_LEDGER_CHAIN, CS_CODE_LEDGER_CHAIN, GOOD);
    row_change("UPDATE entry SET id = 9223372036854775807 WHERE id = 3", GOOD, GOOD, CS_CODE_LEDGER_CHAIN);
    row_change("UPDATE entry SET id = -9223372036854775807 - 1 WHERE id = 1", CS_CODE_LEDGER_CHAIN, CS_CODE_LEDGER_CHAIN,
               GOOD);
}

Test(source_ledger, columns_that_no_writer_stores) {
    row_change("UPDATE entry SET kind = 'note' WHERE id = 2", GOOD, CS_CODE_LEDGER_COLUMNS, GOOD);
    row_change("UPDATE entry SET kind = 'finding' WHERE id = 1", CS_CODE_LEDGER_COLUMNS, GOOD, GOOD);
    row_change("UPDATE entry SET envelope = NULL WHERE id = 1", CS_CODE_LEDGER_COLUMNS, GOOD, GOOD);
    row_change("UPDATE entry SET record_sha256 = upper(record_sha256) WHERE id = 3", GOOD, GOOD, CS_CODE_LEDGER_COLUMNS);
    row_change("UPDATE entry SET detail = CAST(x'ff' AS TEXT) WHERE id = 2", GOOD, CS_CODE_LEDGER_COLUMNS, GOOD);
}

Test(source_ledger, a_row_that_is_missing) {
    three_rows_changed("DELETE FROM entry WHERE id = 2");
    WALK(path, GOOD, CS_CODE_LEDGER_CHAIN);
    unlink(path);
    three_rows_changed("DELETE FROM entry WHERE id = 1");
    WALK(path, CS_CODE_LEDGER_CHAIN, GOOD);
}

Test(source_ledger, a_bad_row_is_named) {
    three_rows_changed("UPDATE entry SET daemon = 'http://x' WHERE id = 2");
    cs_source *source = open_good(path);
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
    sqlite3 *db = raw_open(path);
    char text[4096];
    (void)snprintf(text, sizeof text, "%s", cs_ledger_schema[0]);
    *strstr(text, " STRICT") = '\0';
    raw_sql(db, text);
    raw_sql(db, "PRAGMA application_id = 1129532487; PRAGMA user_version = 1; PRAGMA ignore_check_constraints = ON");
    raw_append(db, rows_run());
    raw_append(db, rows_run());
    raw_sql(db, sql);
    for (int i = 1; i < 4; i++) raw_sql(db, cs_ledger_schema[i]);
    raw_sql(db, "PRAGMA writable_schema = ON;"
                "UPDATE sqlite_schema SET sql = sql || ' STRICT' WHERE type = 'table'");
    raw_close(db);
}

Test(source_ledger, values_of_another_type) {
    forge_type("SELECT 1");
    WALK(path, GOOD, GOOD);
    static const char *const changes[] = {
        "UPDATE entry SET request = 'the request' WHERE id = 1",         "UPDATE entry SET request = 5 WHERE id = 1",
        "UPDATE entry SET daemon = x'00' WHERE id = 1",                  "UPDATE entry SET added_unix_ms = 'x' WHERE id = 1",
        "UPDATE entry SET record_sha256 = x'00' WHERE id = 1",           "UPDATE entry SET kind = x'72756e' WHERE id = 1",
        "UPDATE entry SET describe_after = 'after' WHERE id = 1",
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        unlink(path);
        forge_type(changes[i]);
        WALK(path, CS_CODE_LEDGER_COLUMNS, GOOD);
    }
}

/* ---- damage -------------------------------------------------------------------------------------- */

/* Forty rows on many pages; the page of the third leaf is filled with `byte`. */
static int64_t damage_third_leaf(uint8_t byte) {
    static uint8_t filler[1500];
    sqlite3 *db = raw_create(path);
    cs_ledger_row row = rows_run();
    row.response = (cs_view){filler, sizeof filler};
    for (int i = 0; i < 40; i++) raw_append(db, row);
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
    FILE *file = fopen(path, "r+b");
    cr_assert_not_null(file);
    fseek(file, offset, SEEK_SET);
    while (size-- > 0) fputc(byte, file);
    fclose(file);
    return before;
}

Test(source_ledger, a_damaged_page_ends_the_walk_after_the_last_good_entry) {
    static const uint8_t damages[] = {0x00, 0xff, 0x0d};
    for (size_t i = 0; i < sizeof damages; i++) {
        int64_t good = damage_third_leaf(damages[i]);
        char expected[64];
        (void)snprintf(expected, sizeof expected, "after entry %lld", (long long)good);
        cs_source *source = open_good(path);
        cs_entry entry;
        bool more = false;
        cs_error err = CS_ERROR_INIT;
        for (int64_t j = 0; j < good; j++) cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
        cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_FAILED);
        cr_expect_not(more);
        cr_expect_eq(err.code, CS_CODE_LEDGER_CORRUPT);
        cr_expect(strstr(err.message, expected) != NULL, "'%s' is not in '%s'", expected, err.message);
        cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_OK, "and it stays at the end");
        cr_expect_not(more);
        cs_source_close(source);
        unlink(path);
    }
}

static uint32_t be32(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The root page's third child is made its first one again, so that the same rows come twice. */
Test(source_ledger, a_tree_that_leads_back) {
    static uint8_t filler[1500];
    sqlite3 *db = raw_create(path);
    cs_ledger_row row = rows_run();
    row.response = (cs_view){filler, sizeof filler};
    for (int i = 0; i < 40; i++) raw_append(db, row);
    raw_close(db);
    size_t len = 0;
    char *bytes = file_read(path, &len);
    uint8_t *root = (uint8_t *)bytes + 4096; /* page 2, an interior page: 12 bytes, then its cells' places */
    cr_assert(len > 8192 && root[0] == 0x05);
    uint8_t *first = root + (be32(root + 12) >> 16);
    uint8_t *third = root + (be32(root + 16) >> 16);
    memcpy(third, first, 4);
    file_write(path, bytes, len);
    free(bytes);

    cs_source *source = open_good(path);
    cs_entry entry;
    bool more = true;
    cs_error err = CS_ERROR_INIT;
    cs_result result = CS_OK;
    uint64_t good = 0;
    while (result == CS_OK && more) {
        result = cs_source_next(source, &entry, &more, &err);
        good += result == CS_OK && more;
    }
    cr_expect(good > 0 && good < 40);
    cr_expect(result == CS_FAILED && !more && err.code == CS_CODE_LEDGER_CORRUPT, "%s", cs_code_name(err.code));
    cs_source_close(source);
}

Test(source_ledger, a_file_that_was_cut_off) {
    raw_close(three_rows());
    cr_assert_eq(truncate(path, 4096), 0);
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_entry entry;
    bool more = false;
    cs_result result = cs_source_open(path, &source, &err);
    if (result == CS_OK) result = cs_source_next(source, &entry, &more, &err);
    cr_expect_eq(result, CS_FAILED);
    cr_expect_eq(err.code, CS_CODE_LEDGER_CORRUPT);
    cs_source_close(source);
}

Test(source_ledger, a_header_of_which_only_the_magic_is_left) {
    raw_close(three_rows());
    FILE *file = fopen(path, "r+b");
    cr_assert_not_null(file);
    fseek(file, 16, SEEK_SET);
    for (int i = 0; i < 84; i++) fputc(0xff, file);
    fclose(file);
    expect_open_error(CS_FAILED, CS_CODE_LEDGER_CORRUPT);
}

/* ---- without a trace, beside writers ------------------------------------------------------------- */

Test(source_ledger, nothing_is_left_beside_a_ledger_at_rest) {
    raw_close(three_rows());
    size_t before_len = 0;
    size_t after_len = 0;
    char *before = file_read(path, &before_len);
    WALK(path, GOOD, GOOD, GOOD);
    char *after = file_read(path, &after_len);
    cr_expect_eq(folder_count(folder), 1);
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

Test(source_ledger, a_copy_in_a_folder_that_may_not_be_written) {
    raw_close(three_rows());
    cr_assert_eq(chmod(path, 0444), 0);
    cr_assert_eq(chmod(folder, 0555), 0);
    cr_expect_eq(walk_as_nobody(path), 3);
    cr_expect_eq(folder_count(folder), 1);
    cr_assert_eq(chmod(folder, 0755), 0);
}

Test(source_ledger, a_link_to_a_ledger) {
    char name[256];
    (void)snprintf(name, sizeof name, "%s/link", folder);
    sqlite3 *db = three_rows(); /* still open: its rows are in the -wal file beside the file, not the link */
    cr_assert_eq(symlink(path, name), 0);
    WALK(name, GOOD, GOOD, GOOD);
    raw_close(db);
}

Test(source_ledger, rows_that_only_the_log_holds) {
    sqlite3 *db = three_rows();
    WALK(path, GOOD, GOOD, GOOD);
    raw_append(db, rows_run());
    WALK(path, GOOD, GOOD, GOOD, GOOD);
    raw_close(db);
    WALK(path, GOOD, GOOD, GOOD, GOOD);
}

/* One moment: a row that comes while the walk holds its transaction is not of it. */
Test(source_ledger, with_the_log_a_walk_is_of_one_moment) {
    sqlite3 *db = three_rows();
    cs_source *source = open_good(path);
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
        sqlite3 *db = raw_open(path);
        for (int i = 0; i < rows; i++) raw_append(db, rows_run());
        raw_close(db);
        _exit(0);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0);
}

static void twenty_large_rows(void) {
    static uint8_t filler[200000];
    sqlite3 *db = raw_create(path);
    cs_ledger_row row = rows_run();
    row.response = (cs_view){filler, sizeof filler};
    for (int i = 0; i < 20; i++) raw_append(db, row);
    raw_close(db);
}

Test(source_ledger, a_ledger_that_is_written_meanwhile) {
    for (uint64_t when = 0; when <= 20; when += 5) {
        twenty_large_rows();
        cs_source *source = open_good(path);
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
        folder_remove(folder);
        set_up();
    }
}
