#include "tests/cli/stored.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/verify/raw_ledger.h"

static cs_view keep(const void *bytes, size_t len) {
    /* forge_text keeps what it returns; the bytes are copied behind its NUL-terminated beginning. */
    char *copy = forge_text("%*s", (int)len + 1, "");
    if (len > 0) memcpy(copy, bytes, len);
    return cs_view_bytes(copy, len);
}

static cs_view column(sqlite3_stmt *row, int index) {
    if (sqlite3_column_type(row, index) == SQLITE_NULL) return cs_view_bytes(NULL, 0);
    const void *bytes = sqlite3_column_blob(row, index);
    return keep(bytes, (size_t)sqlite3_column_bytes(row, index));
}

static cs_ledger_row read_row(sqlite3_stmt *row) {
    return (cs_ledger_row){
        .added_unix_ms = sqlite3_column_int64(row, 0),
        .kind = column(row, 1),
        .daemon = column(row, 2),
        .code = column(row, 3),
        .detail = column(row, 4),
        .request = column(row, 5),
        .response = column(row, 6),
        .envelope = column(row, 7),
        .describe_before = column(row, 8),
        .describe_after = column(row, 9),
        .record_sha256 = column(row, 10),
    };
}

static void path_of(const cli_case *c, const char *name, char path[256]) {
    (void)snprintf(path, 256, "%s/%s", c->folder, name);
}

void stored_read(const cli_case *c, const char *ledger, stored *out) {
    char path[256];
    path_of(c, ledger, path);
    sqlite3 *db = raw_open(path);
    sqlite3_stmt *rows = NULL;
    cr_assert_eq(sqlite3_prepare_v2(db,
                                    "SELECT added_unix_ms, kind, daemon, code, detail, request, response, envelope,"
                                    " describe_before, describe_after, record_sha256 FROM entry ORDER BY id",
                                    -1, &rows, NULL),
                 SQLITE_OK, "%s", sqlite3_errmsg(db));
    out->count = 0;
    while (sqlite3_step(rows) == SQLITE_ROW) {
        cr_assert_lt(out->count, STORED_MAX);
        out->rows[out->count++] = read_row(rows);
    }
    sqlite3_finalize(rows);
    raw_close(db);
}

/* ---- changes ---------------------------------------------------------------------------------------- */

void stored_remove(stored *s, size_t at) {
    cr_assert_lt(at, s->count);
    s->count--;
    memmove(&s->rows[at], &s->rows[at + 1], (s->count - at) * sizeof *s->rows);
}

void stored_insert(stored *s, size_t at, const cs_ledger_row *row) {
    const cs_ledger_row copy = *row;
    cr_assert(at <= s->count && s->count < STORED_MAX);
    memmove(&s->rows[at + 1], &s->rows[at], (s->count - at) * sizeof *s->rows);
    s->rows[at] = copy;
    s->count++;
}

void stored_swap(stored *s, size_t a, size_t b) {
    cr_assert(a < s->count && b < s->count);
    const cs_ledger_row row = s->rows[a];
    s->rows[a] = s->rows[b];
    s->rows[b] = row;
}

void stored_alter_response(stored *s, size_t at, const char *from, const char *to) {
    cs_ledger_row *row = &s->rows[at];
    const size_t len = strlen(from);
    cr_assert(at < s->count && strlen(to) == len);
    const uint8_t *found = memmem(row->response.ptr, row->response.len, from, len);
    cr_assert_not_null(found, "no '%s' in the response", from);
    const size_t where = (size_t)(found - row->response.ptr);
    const size_t behind = where + len;
    cr_assert_null(memmem(found + len, row->response.len - behind, from, len), "'%s' stands there twice", from);
    cs_buf changed = CS_BUF_INIT(row->response.len);
    cr_assert(cs_buf_append(&changed, row->response.ptr, row->response.len));
    memcpy(changed.ptr + where, to, len);
    row->response = keep(changed.ptr, changed.len);
    cs_buf_free(&changed);
}

/* ---- written again ---------------------------------------------------------------------------------- */

static void unlink_ledger(const cli_case *c, const char *name) {
    static const char *const ends[] = {"", "-wal", "-shm"};
    char path[256];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        path_of(c, forge_text("%s%s", name, ends[i]), path);
        (void)unlink(path);
    }
}

void stored_write_ledger(const cli_case *c, const stored *s, const char *name) {
    char path[256];
    unlink_ledger(c, name);
    path_of(c, name, path);
    sqlite3 *db = raw_create(path);
    for (size_t i = 0; i < s->count; i++)
        raw_append(db, s->rows[i]);
    raw_close(db);
    /* A reader waits for a file that changed this very moment to get older, and there are many of these. */
    const struct timespec past[2] = {{.tv_sec = 1700000000}, {.tv_sec = 1700000000}};
    cr_assert_eq(utimensat(AT_FDCWD, path, past, 0), 0);
}

static forge_bytes as_bytes(cs_view view) {
    return (forge_bytes){.ptr = (char *)(uintptr_t)view.ptr, .len = view.len};
}

void stored_write_bundle(cli_case *c, const stored *s, const char *name) {
    forge_bundle bundle = {.count = 0};
    for (size_t i = 0; i < s->count; i++) {
        const cs_ledger_row *row = &s->rows[i];
        const forge_bytes request = as_bytes(row->request);
        const forge_bytes response = as_bytes(row->response);
        const char *envelope = forge_text("%.*s", (int)row->envelope.len, (const char *)row->envelope.ptr);
        forge_add(&bundle, forge_line(row->request.ptr != NULL ? &request : NULL,
                                      row->response.ptr != NULL ? &response : NULL, envelope));
    }
    cli_write_bundle(c, name, &bundle);
}

/* ---- in place --------------------------------------------------------------------------------------- */

void stored_copy(const cli_case *c, const char *from, const char *to) {
    char path[256];
    size_t len = 0;
    path_of(c, from, path);
    char *bytes = file_read(path, &len);
    cr_assert_not_null(bytes, "%s", path);
    unlink_ledger(c, to);
    path_of(c, to, path);
    file_write(path, bytes, len);
    free(bytes);
}

#define MAX_TRIGGERS 8

void stored_sql(const cli_case *c, const char *ledger, const char *sql) {
    char path[256];
    char *names[MAX_TRIGGERS];
    char *texts[MAX_TRIGGERS];
    size_t count = 0;
    path_of(c, ledger, path);
    sqlite3 *db = raw_open(path);
    sqlite3_stmt *triggers = NULL;
    cr_assert_eq(sqlite3_prepare_v2(db, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid", -1,
                                    &triggers, NULL),
                 SQLITE_OK, "%s", sqlite3_errmsg(db));
    for (; sqlite3_step(triggers) == SQLITE_ROW; count++) {
        cr_assert_lt(count, MAX_TRIGGERS);
        names[count] = forge_text("DROP TRIGGER %s", (const char *)sqlite3_column_text(triggers, 0));
        texts[count] = forge_text("%s", (const char *)sqlite3_column_text(triggers, 1));
    }
    sqlite3_finalize(triggers);
    cr_assert_gt(count, 0);
    for (size_t i = 0; i < count; i++)
        raw_sql(db, names[i]);
    raw_sql(db, sql);
    for (size_t i = 0; i < count; i++)
        raw_sql(db, texts[i]);
    raw_close(db);
}
