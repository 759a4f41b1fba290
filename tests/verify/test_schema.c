/* verify/schema.h: the texts of the versions, what they refuse, and the digest of a row. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/rows.h"
#include "tests/verify/raw_ledger.h"

/* From an independent implementation of docs/FORMAT.md, "Ledger". */
#define DIGEST_RUN "6f38fb526355914682cbcb5db6d442873ea5e56c25101677a15d655338e782ab"
#define DIGEST_FINDING "2e0b5884d2c97aff9b7dda655599732737abc645659bd014ce7bb607b1e11c1f"
#define DIGEST_LINKED_RUN "b8715adef27f85fee12101309de4c099b7da6d5514a4d88a63c6927e24ebf407"
#define DIGEST_CHECKPOINT "cb187081ede00a29aebd8fec4cd2d8fdb0c67280b4318d4977a1a774ae44800e"
#define DIGEST_VERDICT "c7d2668a437538f3b8e5d1de58f128811d5e4b83b9fd5739a27bb6a8758e18cc"
#define SCHEMA_4 "4ac3b8ea33ce2f6869ebfd7c1cf0e5c0d8a9ede54a4c3fbc2a1a85d7108d27bc"
#define SCHEMA_3 "09bbfd9c8e9b8dec0a864ff61d2059d866833bf945103649c3f04eede40fbd8f"
#define SCHEMA_2 "7834a907b59d0c7ae724441a70547d9779a048f7a3fedb62e5633a2b434d1bb8"
#define SCHEMA_1 "8579b7e9c17395ac4d7854928899a6b00fa4bc053205c193e39a024115f3c16d"

static cs_view bytes(const char *text) {
    return (cs_view){(const uint8_t *)text, strlen(text)};
}

static cs_ledger_row first_run(void) {
    cs_ledger_row row = rows_run();
    row.id = 1;
    row.previous_sha256 = bytes("");
    return row;
}

static cs_ledger_row second_finding(void) {
    cs_ledger_row row = rows_finding();
    row.id = 2;
    row.previous_sha256 = bytes(DIGEST_RUN);
    return row;
}

static cs_ledger_row linked_run(void) {
    cs_ledger_row row = first_run();
    row.link = bytes("{\"payloadType\":\"y\"}");
    return row;
}

static cs_ledger_row a_checkpoint(void) {
    cs_ledger_row row = rows_checkpoint();
    row.id = 3;
    row.previous_sha256 = bytes(DIGEST_FINDING);
    return row;
}

static cs_digest digest_of(const cs_ledger_row *row) {
    cs_digest digest;
    cs_sha256 *hash = cs_sha256_new();
    cr_assert(cs_ledger_row_digest(hash, row, &digest));
    cs_sha256_free(hash);
    return digest;
}

/* ---- the texts ----------------------------------------------------------------------------------- */

/* The versions are what files hold: a change of a single byte makes existing ledgers unreadable. */
static void expect_texts(const char *const *schema, const char *want) {
    cs_sha256 *hash = cs_sha256_new();
    cs_digest digest;
    size_t count = 0;
    for (; schema[count] != NULL; count++)
        cs_sha256_update(hash, schema[count], strlen(schema[count]) + 1);
    cr_assert(cs_sha256_final_hex(hash, &digest));
    cs_sha256_free(hash);
    cr_assert_eq(count, 4);
    cr_expect_str_eq(digest.hex, want);
}

Test(schema, texts_of_all_versions) {
    expect_texts(cs_ledger_schema_of(1), SCHEMA_1);
    expect_texts(cs_ledger_schema_of(2), SCHEMA_2);
    expect_texts(cs_ledger_schema_of(3), SCHEMA_3);
    expect_texts(cs_ledger_schema_of(4), SCHEMA_4);
    cr_expect_eq(cs_ledger_schema_of(4), cs_ledger_schema);
    cr_expect_null(cs_ledger_schema_of(0));
    cr_expect_null(cs_ledger_schema_of(5));
    cr_expect_null(cs_ledger_schema_of(-1));
}

Test(schema, sqlite_stores_the_texts_as_they_are) {
    sqlite3 *db = raw_create(":memory:");
    sqlite3_stmt *rows = NULL;
    cr_assert_eq(sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema ORDER BY rowid", -1, &rows, NULL), SQLITE_OK);
    for (size_t i = 0; cs_ledger_schema[i] != NULL; i++) {
        cr_assert_eq(sqlite3_step(rows), SQLITE_ROW);
        cr_assert_str_eq((const char *)sqlite3_column_text(rows, 0), cs_ledger_schema[i]);
    }
    cr_assert_eq(sqlite3_step(rows), SQLITE_DONE);
    sqlite3_finalize(rows);
    raw_close(db);
}

/* ---- what SQLite refuses by itself --------------------------------------------------------------- */

typedef struct refusal {
    const char *sql;
    const char *message;
} refusal;

static const refusal refusals[] = {
    {"UPDATE entry SET daemon = 'x' WHERE id = 1", "a ledger entry is never changed"},
    {"UPDATE entry SET id = 7 WHERE id = 2", "a ledger entry is never changed"},
    {"UPDATE OR IGNORE entry SET daemon = 'x'", "a ledger entry is never changed"},
    {"DELETE FROM entry", "a ledger entry is never deleted"},
    {"DELETE FROM entry WHERE id = 2", "a ledger entry is never deleted"},
    {"INSERT OR REPLACE INTO entry SELECT * FROM entry WHERE id = 2", "a ledger entry only follows the last one"},
    {"REPLACE INTO entry SELECT * FROM entry WHERE id = 1", "a ledger entry only follows the last one"},
    {"INSERT OR IGNORE INTO entry SELECT * FROM entry WHERE id = 2", "a ledger entry only follows the last one"},
    {"INSERT INTO entry SELECT * FROM entry WHERE id = 2 ON CONFLICT (id) DO UPDATE SET daemon = 'x'",
     "a ledger entry only follows the last one"},
};

Test(schema, nothing_is_changed_or_deleted) {
    sqlite3 *db = raw_create(":memory:");
    raw_append(db, rows_run());
    raw_append(db, rows_finding());
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        cr_expect_eq(raw_try(db, refusals[i].sql), SQLITE_CONSTRAINT, "%s", refusals[i].sql);
        cr_expect_str_eq(sqlite3_errmsg(db), refusals[i].message, "%s", refusals[i].sql);
    }
    raw_append(db, rows_run()); /* the twin: an ordinary insert passes */
    cr_expect_eq(sqlite3_total_changes(db), 3, "three inserts and nothing else");
    raw_close(db);
}

/* Change one thing in a good third row and try to insert it. */
static int insert_changed(void (*change)(cs_ledger_row *row)) {
    sqlite3 *db = raw_create(":memory:");
    raw_append(db, rows_run());
    cs_ledger_row row = second_finding();
    row.row_sha256 = bytes(DIGEST_FINDING);
    if (change != NULL) change(&row);
    int rc = raw_insert(db, &row);
    raw_close(db);
    return rc;
}

static void set_id_gap(cs_ledger_row *row) {
    row->id = 3;
}
static void set_id_taken(cs_ledger_row *row) {
    row->id = 1;
}
static void set_previous(cs_ledger_row *row) {
    row->previous_sha256 = bytes(ROWS_RECORD);
}
static void set_kind(cs_ledger_row *row) {
    row->kind = bytes("note");
}
static void set_envelope(cs_ledger_row *row) {
    row->envelope = bytes("{}");
}
static void set_record(cs_ledger_row *row) {
    row->record_sha256 = bytes(ROWS_RECORD);
}
static void set_no_code(cs_ledger_row *row) {
    row->code = bytes("");
}
static void set_own_digest(cs_ledger_row *row) {
    row->row_sha256 = bytes("short");
}

Test(schema, only_a_next_row_of_the_form_is_taken) {
    cr_expect_eq(insert_changed(NULL), SQLITE_OK);
    cr_expect_eq(insert_changed(set_id_gap), SQLITE_CONSTRAINT);
    cr_expect_eq(insert_changed(set_id_taken), SQLITE_CONSTRAINT);
    cr_expect_eq(insert_changed(set_previous), SQLITE_CONSTRAINT);
    cr_expect_eq(insert_changed(set_kind), SQLITE_CONSTRAINT);
    cr_expect_eq(insert_changed(set_envelope), SQLITE_CONSTRAINT);
    cr_expect_eq(insert_changed(set_record), SQLITE_CONSTRAINT);
    cr_expect_eq(insert_changed(set_no_code), SQLITE_CONSTRAINT);
    cr_expect_eq(insert_changed(set_own_digest), SQLITE_CONSTRAINT);
}

/* ---- the digest of a row ------------------------------------------------------------------------- */

Test(schema, row_digest_vectors) {
    cs_ledger_row run = first_run();
    cs_ledger_row finding = second_finding();
    cr_expect_str_eq(digest_of(&run).hex, DIGEST_RUN);
    cr_expect_str_eq(digest_of(&finding).hex, DIGEST_FINDING);
}

/* A row with a link has a domain of its own, so that it is the digest of no row without one. */
Test(schema, row_digest_vectors_of_links) {
    cs_ledger_row run = linked_run();
    cs_ledger_row checkpoint = a_checkpoint();
    cr_expect_str_eq(digest_of(&run).hex, DIGEST_LINKED_RUN);
    cr_expect_str_eq(digest_of(&checkpoint).hex, DIGEST_CHECKPOINT);
    run.link = bytes("");
    cr_expect_str_neq(digest_of(&run).hex, DIGEST_RUN);
}

static void add_id(cs_ledger_row *row) {
    row->id++;
}
static void add_time(cs_ledger_row *row) {
    row->added_unix_ms++;
}
static void other_daemon(cs_ledger_row *row) {
    row->daemon = bytes("http://127.0.0.1:8747");
}
static void other_code(cs_ledger_row *row) {
    row->code = bytes("x");
}
static void other_detail(cs_ledger_row *row) {
    row->detail = bytes("x");
}
static void longer_request(cs_ledger_row *row) {
    row->request = bytes("the request!");
}
static void no_response(cs_ledger_row *row) {
    row->response = (cs_view){0};
}
static void empty_response(cs_ledger_row *row) {
    row->response = bytes("");
}
static void other_envelope(cs_ledger_row *row) {
    row->envelope = bytes("{\"payloadType\":\"y\"}");
}
static void no_before(cs_ledger_row *row) {
    row->describe_before = (cs_view){0};
}
static void empty_before(cs_ledger_row *row) {
    row->describe_before = bytes("");
}
static void other_after(cs_ledger_row *row) {
    row->describe_after = bytes("After");
}
static void other_record(cs_ledger_row *row) {
    row->record_sha256 = bytes(DIGEST_RUN);
}
static void other_previous(cs_ledger_row *row) {
    row->previous_sha256 = bytes(DIGEST_FINDING);
}
static void a_link(cs_ledger_row *row) {
    row->link = bytes("{}");
}
static void empty_link(cs_ledger_row *row) {
    row->link = bytes("");
}

Test(schema, row_digest_covers_every_column) {
    void (*const changes[])(cs_ledger_row *) = {
        add_id,         add_time,  other_daemon, other_code,  other_detail, longer_request, no_response, empty_response,
        other_envelope, no_before, empty_before, other_after, other_record, other_previous, a_link,      empty_link};
    enum { COUNT = sizeof changes / sizeof *changes };
    cs_digest seen[COUNT + 1];
    cs_ledger_row plain = first_run();
    seen[COUNT] = digest_of(&plain);
    for (size_t i = 0; i < COUNT; i++) {
        cs_ledger_row row = first_run();
        changes[i](&row);
        seen[i] = digest_of(&row);
    }
    for (size_t i = 0; i <= COUNT; i++) {
        for (size_t j = 0; j < i; j++)
            cr_expect_str_neq(seen[i].hex, seen[j].hex, "changes %zu and %zu", i, j);
    }
}

Test(schema, messages_of_a_run_count_by_length_those_of_a_finding_whole) {
    cs_ledger_row run = first_run();
    run.request = bytes("The request");
    cr_expect_str_eq(digest_of(&run).hex, DIGEST_RUN);
    cs_ledger_row finding = second_finding();
    finding.request = bytes("The request");
    cr_expect_str_neq(digest_of(&finding).hex, DIGEST_FINDING);
}

/* ---- which columns stand together ---------------------------------------------------------------- */

static void expect_columns(const cs_ledger_row *row, const char *what) {
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_ledger_row_check(row, &err), CS_FAILED, "%s", what);
    cr_expect_eq(err.code, CS_CODE_LEDGER_COLUMNS, "%s", what);
    cr_expect(strstr(err.message, what) != NULL, "'%s' is not in '%s'", what, err.message);
}

Test(schema, rows_that_pass) {
    cs_error err = CS_ERROR_INIT;
    cs_ledger_row run = first_run();
    cs_ledger_row finding = second_finding();
    cr_expect_eq(cs_ledger_row_check(&run, &err), CS_OK);
    cr_expect_eq(cs_ledger_row_check(&finding, &err), CS_OK);
    run.response = bytes("");
    finding.request = (cs_view){0};
    cr_expect_eq(cs_ledger_row_check(&run, &err), CS_OK);
    cr_expect_eq(cs_ledger_row_check(&finding, &err), CS_OK);
}

static cs_ledger_row an_unanswered(void) {
    cs_ledger_row row = first_run();
    row.kind = bytes("unanswered");
    row.response = (cs_view){0};
    return row;
}

static cs_ledger_row a_close(void) {
    cs_ledger_row row = first_run();
    row.kind = bytes("close");
    row.request = (cs_view){0};
    row.response = (cs_view){0};
    row.record_sha256 = bytes("");
    return row;
}

Test(schema, rows_of_a_session_that_pass) {
    cs_error err = CS_ERROR_INIT;
    cs_ledger_row unanswered = an_unanswered();
    cs_ledger_row close = a_close();
    cr_expect_eq(cs_ledger_row_check(&unanswered, &err), CS_OK);
    cr_expect_eq(cs_ledger_row_check(&close, &err), CS_OK);
    sqlite3 *db = raw_create(":memory:");
    raw_append(db, unanswered);
    raw_append(db, close);
    raw_close(db);
}

#define REFUSE(base, member, value, what)                                                                              \
    do {                                                                                                               \
        cs_ledger_row row = base();                                                                                    \
        row.member = (value);                                                                                          \
        expect_columns(&row, what);                                                                                    \
    } while (0)

Test(schema, rows_that_do_not_pass) {
    const cs_view absent = {0};
    REFUSE(first_run, kind, bytes("note"), "the kind is");
    REFUSE(first_run, kind, absent, "the kind is");
    REFUSE(first_run, request, absent, "a run has a request");
    REFUSE(first_run, response, absent, "a run has a request");
    REFUSE(first_run, envelope, absent, "a run has a request");
    REFUSE(first_run, record_sha256, bytes("0123"), "record_sha256");
    REFUSE(first_run, code, bytes("x"), "no code");
    REFUSE(first_run, detail, bytes("x"), "no detail");
    REFUSE(first_run, daemon, bytes("\xff"), "UTF-8");
    REFUSE(second_finding, code, bytes(""), "a finding has a code");
    REFUSE(second_finding, envelope, bytes("{}"), "no envelope");
    REFUSE(second_finding, record_sha256, bytes(ROWS_RECORD), "no record_sha256");
    REFUSE(second_finding, detail, bytes("\xc0\x80"), "UTF-8");
}

/* What the check refuses, the table refuses too. */
#define REFUSE_BOTH(base, member, value, what)                                                                         \
    do {                                                                                                               \
        REFUSE(base, member, value, what);                                                                             \
        sqlite3 *db = raw_create(":memory:");                                                                          \
        cs_ledger_row row = base();                                                                                    \
        row.member = (value);                                                                                          \
        row.row_sha256 = bytes(DIGEST_RUN);                                                                            \
        cr_expect_eq(raw_insert(db, &row), SQLITE_CONSTRAINT, #member " of " #base);                                   \
        raw_close(db);                                                                                                 \
    } while (0)

Test(schema, rows_of_a_session_that_do_not_pass) {
    const cs_view absent = {0};
    REFUSE_BOTH(an_unanswered, request, absent, "an unanswered call a request");
    REFUSE_BOTH(an_unanswered, response, bytes(""), "an unanswered call a request");
    REFUSE_BOTH(an_unanswered, envelope, absent, "an unanswered call a request");
    REFUSE_BOTH(an_unanswered, record_sha256, bytes("0123"), "record_sha256");
    REFUSE_BOTH(an_unanswered, code, bytes("x"), "no code");
    REFUSE_BOTH(an_unanswered, detail, bytes("x"), "no detail");
    REFUSE_BOTH(a_close, request, bytes(""), "a close");
    REFUSE_BOTH(a_close, response, bytes(""), "a close");
    REFUSE_BOTH(a_close, envelope, absent, "a close");
    REFUSE_BOTH(a_close, record_sha256, bytes(ROWS_RECORD), "no record_sha256");
    REFUSE_BOTH(a_close, code, bytes("x"), "no code");
    REFUSE_BOTH(a_close, detail, bytes("x"), "no detail");
}

Test(schema, rows_with_a_link) {
    cs_error err = CS_ERROR_INIT;
    cs_ledger_row rows[] = {linked_run(), an_unanswered(), a_close(), rows_checkpoint()};
    sqlite3 *db = raw_create(":memory:");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rows[i].link = bytes("{}");
        cr_expect_eq(cs_ledger_row_check(&rows[i], &err), CS_OK, "%zu: %s", i, err.message);
        raw_append(db, rows[i]);
    }
    raw_close(db);
}

static cs_ledger_row first_checkpoint(void) {
    cs_ledger_row row = rows_checkpoint();
    row.id = 1;
    row.previous_sha256 = bytes("");
    return row;
}

static cs_ledger_row first_finding(void) {
    cs_ledger_row row = rows_finding();
    row.id = 1;
    row.previous_sha256 = bytes("");
    return row;
}

Test(schema, rows_with_a_link_that_do_not_pass) {
    const cs_view absent = {0};
    REFUSE_BOTH(first_checkpoint, link, absent, "a link alone");
    REFUSE_BOTH(first_checkpoint, request, bytes(""), "a link alone");
    REFUSE_BOTH(first_checkpoint, response, bytes(""), "a link alone");
    REFUSE_BOTH(first_checkpoint, envelope, bytes("{}"), "a link alone");
    REFUSE_BOTH(first_checkpoint, describe_before, bytes(""), "a link alone");
    REFUSE_BOTH(first_checkpoint, describe_after, bytes(""), "a link alone");
    REFUSE_BOTH(first_checkpoint, record_sha256, bytes(ROWS_RECORD), "no record_sha256");
    REFUSE_BOTH(first_checkpoint, code, bytes("x"), "no code");
    REFUSE_BOTH(first_checkpoint, detail, bytes("x"), "no detail");
    REFUSE_BOTH(first_finding, link, bytes("{}"), "no link");
    REFUSE_BOTH(linked_run, kind, bytes("link"), "the kind is");
}

static cs_ledger_row first_verdict(void) {
    cs_ledger_row row = rows_verdict();
    row.id = 1;
    row.previous_sha256 = bytes("");
    return row;
}

Test(schema, rows_of_a_verdict) {
    cs_error err = CS_ERROR_INIT;
    cs_ledger_row verdict = first_verdict();
    cr_expect_eq(cs_ledger_row_check(&verdict, &err), CS_OK, "%s", err.message);
    sqlite3 *db = raw_create(":memory:");
    raw_append(db, verdict);
    raw_close(db);
    cr_expect_str_eq(digest_of(&verdict).hex, DIGEST_VERDICT);
}

Test(schema, rows_of_a_verdict_that_do_not_pass) {
    const cs_view absent = {0};
    REFUSE_BOTH(first_verdict, envelope, absent, "an envelope alone");
    REFUSE_BOTH(first_verdict, link, bytes("{}"), "an envelope alone");
    REFUSE_BOTH(first_verdict, request, bytes(""), "an envelope alone");
    REFUSE_BOTH(first_verdict, response, bytes(""), "an envelope alone");
    REFUSE_BOTH(first_verdict, describe_before, bytes(""), "an envelope alone");
    REFUSE_BOTH(first_verdict, describe_after, bytes(""), "an envelope alone");
    REFUSE_BOTH(first_verdict, daemon, bytes("http://127.0.0.1:8746"), "no daemon");
    REFUSE_BOTH(first_verdict, code, bytes("x"), "no code");
    REFUSE_BOTH(first_verdict, detail, bytes("x"), "no detail");
    REFUSE_BOTH(first_verdict, record_sha256, bytes(ROWS_RECORD), "no record_sha256");
}

Test(schema, sizes_of_a_row) {
    uint8_t *large = calloc(1, CS_MAX_LEDGER_MESSAGE + 1);
    cr_assert_not_null(large);
    cs_error err = CS_ERROR_INIT;
    cs_ledger_row row = first_run();
    row.response = (cs_view){large, CS_MAX_LEDGER_MESSAGE};
    cr_expect_eq(cs_ledger_row_check(&row, &err), CS_OK);
    row.response.len++;
    expect_columns(&row, "a column holds");
    row.response.len--;
    row.request = row.response;
    row.describe_before = (cs_view){large, 30u << 20};
    cr_expect_eq(cs_ledger_row_check(&row, &err), CS_OK);
    row.describe_after = (cs_view){large, 3u << 20};
    expect_columns(&row, "a row holds");
    row.describe_after = (cs_view){0};
    row.link = (cs_view){large, 3u << 20};
    expect_columns(&row, "a row holds");
    free(large);
}
