/* Seeds of what is stored and handed on: bundles, envelopes, statements, verdicts; ledgers. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/genuine.h"
#include "tests/fuzz/seeds.h"
#include "tests/support/folder.h"
#include "tests/support/imported.h"
#include "tests/support/verdicts.h"
#include "tests/verify/raw_ledger.h"

static cs_view forged(forge_bytes bytes) {
    return cs_view_bytes(bytes.ptr, bytes.len);
}

static void put_bundles(void) {
    forge_run run = forge_single();
    for (unsigned b = 0; b < GENUINE_BUNDLES; b++)
        put_seed("verify", cs_view_of(""), forged(forge_file(genuine_bundle(b))));
    for (size_t i = 0; i < genuine_line_count(); i++) {
        uint8_t steps[] = {0, (uint8_t)i, 0, 0, 1, (uint8_t)i, 1, 0, 0, (uint8_t)(i + 1), 0, 0};
        put_seed("verify", cs_view_of(""), cs_view_bytes(steps, sizeof steps));
        put_text_seed("line", genuine_line(i));
    }
    const char *statements[] = {
        forge_statement(&run),
        forge_close(FORGE_SESSION, 3, run.record_sha256),
        forge_close(FORGE_SESSION, 0, ""),
        forge_link(1, "", run.record_sha256, 0),
        forge_link(2, run.record_sha256, NULL, 1),
    };
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        put_text_seed("statement", statements[i]);
        put_text_seed("envelope", forge_envelope(genuine_key(), statements[i]));
    }
    run.policy = "\\u0008\\u000c\\b\\f\\\\u0008\\u003c\\u2028";
    run.version = 3;
    run.unanswered = "internal";
    put_text_seed("statement", forge_statement(&run));
    run.version = 4;
    run.instance = "k8s-pod-uid:1";
    put_text_seed("statement", forge_statement(&run));
}

static void put_verdicts(void) {
    verdict_text texts[] = {verdict_test_result(), verdict_summary()};
    for (size_t i = 0; i < 2; i++) {
        put_text_seed("verdict", verdict_payload(&texts[i]));
        put_text_seed("envelope", forge_envelope(genuine_key(), verdict_payload(&texts[i])));
    }
}

/* ---- ledgers -------------------------------------------------------------------------------------- */

static cs_ledger_row row_of(const forge_run *run, cs_buf *request, cs_buf *response) {
    forge_bytes bytes = forge_request(run);
    forge_bytes answer = forge_response(run);
    if (!cs_buf_append(request, bytes.ptr, bytes.len) || !cs_buf_append(response, answer.ptr, answer.len)) abort();
    return (cs_ledger_row){
        .added_unix_ms = 1700000000123,
        .kind = cs_view_of("run"),
        .daemon = cs_view_of("http://127.0.0.1:8746"),
        .code = cs_view_of(""),
        .detail = cs_view_of(""),
        .request = cs_buf_view(request),
        .response = cs_buf_view(response),
        .envelope = cs_view_of(forge_envelope(genuine_key(), forge_statement(run))),
        .record_sha256 = cs_view_of(run->record_sha256),
    };
}

static void fill_ledger(sqlite3 *db) {
    for (unsigned i = 1; i <= 3; i++) {
        CS_AUTO_BUF request = CS_BUF_INIT(4096);
        CS_AUTO_BUF response = CS_BUF_INIT(4096);
        forge_run run = forge_single();
        run.code = forge_text("%u", i); /* those of the genuine bundle of several runs */
        forge_seal(&run);
        cs_ledger_row row = row_of(&run, &request, &response);
        raw_append(db, row);
        row.kind = cs_view_of("finding");
        row.code = cs_view_of("result-digest");
        row.detail = cs_view_of("the result is another one");
        row.envelope = cs_view_bytes(NULL, 0);
        row.record_sha256 = cs_view_of("");
        raw_append(db, row);
    }
}

/* Two bundles with links, in pieces between one another, and runs without. */
static void fill_imported(sqlite3 *db) {
    const forge_bundle *one = genuine_bundle(3);
    const forge_bundle *other = genuine_bundle(4);
    for (size_t i = 0; i < one->count || i < other->count; i++) {
        if (i < one->count) raw_append(db, imported_row(one->lines[i]));
        if (i < other->count) raw_append(db, imported_row(other->lines[i]));
    }
    fill_ledger(db);
}

static void put_ledger(const char *page_size, void (*fill)(sqlite3 *db)) {
    char folder[128];
    char path[160];
    size_t len = 0;
    folder_make(folder);
    (void)snprintf(path, sizeof path, "%s/ledger.db", folder);
    sqlite3 *db = raw_create(path);
    if (fill != NULL) fill(db);
    raw_sql(db, "PRAGMA journal_mode = DELETE");
    raw_sql(db, forge_text("PRAGMA page_size = %s", page_size));
    raw_sql(db, "VACUUM");
    raw_sql(db, "PRAGMA journal_mode = WAL");
    raw_close(db);
    char *bytes = file_read(path, &len);
    if (bytes == NULL) abort();
    put_seed("ledger", cs_view_of(""), cs_view_bytes(bytes, len));
    free(bytes);
    folder_remove(folder);
}

/* Each bundle whole, as fuzz_imported takes it. */
static void put_imported(void) {
    size_t first = 0;
    for (unsigned b = 0; b < GENUINE_BUNDLES; b++) {
        CS_AUTO_BUF steps = CS_BUF_INIT(4096);
        for (size_t i = 0; i < genuine_bundle(b)->count; i++) {
            uint8_t step[] = {0, (uint8_t)(first + i), 0};
            if (!cs_buf_append(&steps, step, sizeof step)) abort();
        }
        put_seed("imported", cs_view_of(""), cs_buf_view(&steps));
        first += genuine_bundle(b)->count;
    }
}

void seeds_of_stored(void) {
    put_bundles();
    put_verdicts();
    put_ledger("512", fill_ledger);
    put_ledger("1024", fill_ledger);
    put_ledger("1024", fill_imported);
    put_ledger("512", NULL);
    put_imported();
}
