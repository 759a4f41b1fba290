#include "tests/verify/raw_ledger.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(bool good, const char *what) {
    if (good) return;
    (void)fprintf(stderr, "raw ledger: %s\n", what);
    abort();
}

sqlite3 *raw_open(const char *path) {
    sqlite3 *db = NULL;
    must(sqlite3_open(path, &db) == SQLITE_OK, path);
    sqlite3_busy_timeout(db, 10000);
    raw_sql(db, "PRAGMA synchronous = OFF"); /* what these tests make need not survive a power failure */
    return db;
}

sqlite3 *raw_create_version(const char *path, int version) {
    sqlite3 *db = raw_open(path);
    for (const char *const *sql = cs_ledger_schema_of(version); *sql != NULL; sql++)
        raw_sql(db, *sql);
    raw_sql(db, "PRAGMA application_id = 1129532487; PRAGMA journal_mode = WAL");
    static const char *const pragmas[] = {"PRAGMA user_version = 1", "PRAGMA user_version = 2",
                                          "PRAGMA user_version = 3", "PRAGMA user_version = 4"};
    raw_sql(db, pragmas[version - 1]);
    return db;
}

sqlite3 *raw_create(const char *path) {
    return raw_create_version(path, 4);
}

void raw_close(sqlite3 *db) {
    must(sqlite3_close(db) == SQLITE_OK, "close");
}

int raw_try(sqlite3 *db, const char *sql) {
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

void raw_sql(sqlite3 *db, const char *sql) {
    must(raw_try(db, sql) == SQLITE_OK, sql);
}

static void piece(EVP_MD_CTX *hash, const void *bytes, size_t len) {
    uint8_t size[8];
    for (int i = 0; i < 8; i++)
        size[i] = (uint8_t)((uint64_t)len >> (56 - 8 * i));
    EVP_DigestUpdate(hash, size, 8);
    EVP_DigestUpdate(hash, bytes, len);
}

static void field(EVP_MD_CTX *hash, const char *name, cs_view value) {
    piece(hash, name, strlen(name));
    piece(hash, value.ptr, value.len);
}

static void number(EVP_MD_CTX *hash, const char *name, long long value) {
    char text[32];
    int len = snprintf(text, sizeof text, "%lld", value);
    field(hash, name, (cs_view){(const uint8_t *)text, (size_t)len});
}

static void maybe(EVP_MD_CTX *hash, const char *name, cs_view value, bool length_only) {
    number(hash, name, value.ptr == NULL ? 0 : 1);
    if (value.ptr == NULL) return;
    if (length_only) {
        number(hash, name, (long long)value.len);
    } else {
        field(hash, name, value);
    }
}

void raw_digest(const cs_ledger_row *row, char hex[65]) {
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    bool run = row->kind.len == 3 && memcmp(row->kind.ptr, "run", 3) == 0;
    EVP_DigestInit_ex(hash, EVP_sha256(), NULL);
    piece(hash, row->link.ptr == NULL ? "countersign.ledger-row.v1" : "countersign.ledger-row.v2", 25);
    number(hash, "id", row->id);
    number(hash, "added_unix_ms", row->added_unix_ms);
    field(hash, "kind", row->kind);
    field(hash, "daemon", row->daemon);
    field(hash, "code", row->code);
    field(hash, "detail", row->detail);
    maybe(hash, "request", row->request, run);
    maybe(hash, "response", row->response, run);
    maybe(hash, "envelope", row->envelope, false);
    maybe(hash, "describe_before", row->describe_before, false);
    maybe(hash, "describe_after", row->describe_after, false);
    field(hash, "record_sha256", row->record_sha256);
    field(hash, "previous_sha256", row->previous_sha256);
    if (row->link.ptr != NULL) field(hash, "link", row->link);
    uint8_t digest[32];
    EVP_DigestFinal_ex(hash, digest, NULL);
    EVP_MD_CTX_free(hash);
    for (int i = 0; i < 32; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* A ledger of version 1 or 2 has no column for a link, so it is named only where there is one. */
#define INSERT(name, place)                                                                                            \
    "INSERT INTO entry (id, added_unix_ms, kind, daemon, code, detail, request, response, envelope, describe_before,"  \
    " describe_after, record_sha256, previous_sha256, row_sha256" name ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?" place   \
    ")"

int raw_insert(sqlite3 *db, const cs_ledger_row *row) {
    const cs_view texts[] = {row->kind, row->daemon, row->code, row->detail};
    const cs_view blobs[] = {row->request, row->response, row->envelope, row->describe_before, row->describe_after};
    const cs_view digests[] = {row->record_sha256, row->previous_sha256, row->row_sha256};
    bool linked = row->link.ptr != NULL;
    sqlite3_stmt *insert = NULL;
    int rc = sqlite3_prepare_v2(db, linked ? INSERT(", link", ",?") : INSERT("", ""), -1, &insert, NULL);
    must(rc == SQLITE_OK, sqlite3_errmsg(db));
    sqlite3_bind_int64(insert, 1, row->id);
    sqlite3_bind_int64(insert, 2, row->added_unix_ms);
    for (int i = 0; i < 4; i++) {
        sqlite3_bind_text64(insert, 3 + i, (const char *)texts[i].ptr, texts[i].len, SQLITE_STATIC, SQLITE_UTF8);
    }
    for (int i = 0; i < 5; i++)
        sqlite3_bind_blob64(insert, 7 + i, blobs[i].ptr, blobs[i].len, SQLITE_STATIC);
    for (int i = 0; i < 3; i++) {
        sqlite3_bind_text64(insert, 12 + i, (const char *)digests[i].ptr, digests[i].len, SQLITE_STATIC, SQLITE_UTF8);
    }
    if (linked) sqlite3_bind_blob64(insert, 15, row->link.ptr, row->link.len, SQLITE_STATIC);
    rc = sqlite3_step(insert);
    sqlite3_finalize(insert);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

void raw_append(sqlite3 *db, cs_ledger_row row) {
    sqlite3_stmt *last = NULL;
    char previous[65] = "";
    char own[65];
    must(sqlite3_prepare_v2(db, "SELECT id, row_sha256 FROM entry ORDER BY id DESC LIMIT 1", -1, &last, NULL) ==
             SQLITE_OK,
         sqlite3_errmsg(db));
    row.id = 1;
    if (sqlite3_step(last) == SQLITE_ROW) {
        row.id = sqlite3_column_int64(last, 0) + 1;
        (void)snprintf(previous, sizeof previous, "%s", (const char *)sqlite3_column_text(last, 1));
    }
    sqlite3_finalize(last);
    row.previous_sha256 = (cs_view){(const uint8_t *)previous, strlen(previous)};
    raw_digest(&row, own);
    row.row_sha256 = (cs_view){(const uint8_t *)own, 64};
    must(raw_insert(db, &row) == SQLITE_OK, sqlite3_errmsg(db));
}
