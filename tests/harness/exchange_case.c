#include "tests/harness/exchange_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/key_internal.h"
#include "tests/support/rows.h"

void exchange_trust(cs_trust *trust, const forge_key *key) {
    cs_trusted_key *to = &trust->keys[trust->count++];
    *to = (cs_trusted_key){.not_before_ms = INT64_MIN, .not_after_ms = INT64_MAX};
    memcpy(to->key.bytes, key->public_key, sizeof to->key.bytes);
    memcpy(to->key.id, key->id, sizeof to->key.id);
}

void exchange_begin(exchange *x) {
    memset(x, 0, sizeof *x);
    folder_make(x->folder);
    (void)snprintf(x->ledger, sizeof x->ledger, "%s/ledger.db", x->folder);
    (void)snprintf(x->bundle, sizeof x->bundle, "%s/in.jsonl", x->folder);
    (void)snprintf(x->out, sizeof x->out, "%s/out.jsonl", x->folder);
    x->theirs = forge_key_from(1);
    x->ours = forge_key_from(2);
    uint8_t seed[CS_KEY_SEED_BYTES];
    memset(seed, 2, sizeof seed);
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_key_from_seed(seed, &x->key, &err), CS_OK, "%s", err.message);
    cr_assert_str_eq(cs_key_public(x->key)->id, x->ours.id);
    exchange_trust(&x->trust, &x->theirs);
    exchange_trust(&x->trust, &x->ours);
}

void exchange_end(exchange *x) {
    cs_key_free(x->key);
    folder_remove(x->folder);
}

/* ---- bundles --------------------------------------------------------------------------------------- */

void exchange_grow(forge_bundle *bundle, const forge_key *key, const char *code, bool linked) {
    size_t from = bundle->count;
    forge_run run = forge_single();
    run.code = code;
    forge_seal(&run);
    forge_add(bundle, forge_run_line(key, &run));
    if (linked) forge_link_lines(bundle, key, from);
}

forge_bundle exchange_bundle(const forge_key *key, bool linked) {
    forge_bundle bundle = {.count = 0};
    forge_session(&bundle, key, FORGE_SESSION, 2, NULL);
    exchange_grow(&bundle, key, "the single run", false);
    if (linked) forge_link_lines(&bundle, key, 0);
    return bundle;
}

forge_bundle exchange_lines(forge_bytes file) {
    forge_bundle bundle = {.count = 0};
    size_t at = 0;
    while (at < file.len) {
        const char *newline = memchr(file.ptr + at, '\n', file.len - at);
        cr_assert_not_null(newline, "the last line has no newline");
        size_t len = (size_t)(newline - (file.ptr + at));
        forge_add(&bundle, forge_text("%.*s", (int)len, file.ptr + at));
        at += len + 1;
    }
    return bundle;
}

char *exchange_unlinked(const char *line) {
    const char *link = strstr(line, ",\"link\":");
    cr_assert_not_null(link);
    return forge_text("%.*s}", (int)(link - line), line);
}

/* ---- into a ledger --------------------------------------------------------------------------------- */

static void note_finding(void *user, const cs_finding *finding) {
    exchange *x = user;
    size_t len = strlen(x->findings);
    (void)snprintf(x->findings + len, sizeof x->findings - len, "%s%llu %s%s", len > 0 ? "; " : "",
                   (unsigned long long)finding->entry, finding->warning ? "~" : "", cs_code_name(finding->err->code));
}

static cs_ledger *open_ledger(const exchange *x) {
    cs_ledger *ledger = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_ledger_open(x->ledger, 10000, &ledger, &err), CS_OK, "%s: %s", err.where, err.message);
    return ledger;
}

cs_result exchange_import(exchange *x, forge_bytes bytes) {
    file_write(x->bundle, bytes.ptr, bytes.len);
    cs_ledger *ledger = open_ledger(x);
    cs_import_options options = {
        .bundle = x->bundle, .trust = &x->trust, .ledger = ledger, .on_finding = note_finding, .user = x};
    x->err = CS_ERROR_INIT;
    x->findings[0] = '\0';
    cs_result result = cs_import(&options, &x->in, &x->err);
    cs_ledger_close(ledger);
    return result;
}

void exchange_import_good(exchange *x, const forge_bundle *bundle, uint64_t added, uint64_t present) {
    cr_assert_eq(exchange_import(x, forge_file(bundle)), CS_OK, "%s: %s (%s)", cs_code_name(x->err.code),
                 x->err.message, x->err.where);
    cr_assert_eq(x->in.added, added, "%llu", (unsigned long long)x->in.added);
    cr_assert_eq(x->in.present, present, "%llu", (unsigned long long)x->in.present);
}

static void append(exchange *x, const cs_ledger_row *row) {
    cs_ledger *ledger = open_ledger(x);
    int64_t id = 0;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_ledger_append(ledger, row, &id, &err), CS_OK, "%s: %s", err.where, err.message);
    cs_ledger_close(ledger);
}

void exchange_append_run(exchange *x, const forge_run *run) {
    forge_bytes request = forge_request(run);
    forge_bytes response = forge_response(run);
    cs_ledger_row row = rows_run();
    row.request = cs_view_bytes(request.ptr, request.len);
    row.response = cs_view_bytes(response.ptr, response.len);
    row.envelope = cs_view_of(forge_envelope(&x->ours, forge_statement(run)));
    row.record_sha256 = cs_view_of(run->record_sha256);
    append(x, &row);
}

void exchange_own_run(exchange *x, const char *code) {
    forge_run run = forge_single();
    run.code = code;
    forge_seal(&run);
    exchange_append_run(x, &run);
}

void exchange_finding(exchange *x) {
    cs_ledger_row row = rows_finding();
    append(x, &row);
}

void exchange_verdict(exchange *x) {
    cs_ledger_row row = rows_verdict();
    append(x, &row);
}

void exchange_close(exchange *x) {
    cs_ledger_row row = rows_run();
    row.kind = cs_view_of(CS_KIND_CLOSE);
    row.request = (cs_view){0};
    row.response = (cs_view){0};
    row.envelope = cs_view_of(forge_envelope(&x->ours, forge_close(FORGE_SESSION, 0, "")));
    row.record_sha256 = cs_view_of("");
    append(x, &row);
}

/* As a bundle of a close alone would stand here, had it been imported. */
void exchange_imported_close(exchange *x) {
    char *envelope = forge_envelope(&x->theirs, forge_close(FORGE_SESSION, 0, ""));
    char *bare = forge_line(NULL, NULL, envelope);
    char *link = forge_envelope(&x->theirs, forge_link(1, "", forge_sha256(bare, strlen(bare)), 0));
    char *line = forge_with_link(bare, link);
    char *end = forge_envelope(&x->theirs, forge_link(2, forge_sha256(line, strlen(line)), NULL, 1));
    const cs_ledger_row close = {
        .kind = cs_view_of(CS_KIND_CLOSE), .envelope = cs_view_of(envelope), .link = cs_view_of(link)};
    const cs_ledger_row checkpoint = {.kind = cs_view_of(CS_KIND_CHECKPOINT), .link = cs_view_of(end)};
    append(x, &close);
    append(x, &checkpoint);
}

char *exchange_kinds(const exchange *x) {
    char kinds[1024] = "";
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    if (access(x->ledger, F_OK) != 0) return forge_text("%s", "");
    cr_assert_eq(cs_source_open(x->ledger, &source, &err), CS_OK, "%s: %s", err.where, err.message);
    for (bool more = true; more;) {
        cs_entry entry;
        cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK, "%s: %s", err.where, err.message);
        size_t len = strlen(kinds);
        if (more)
            (void)snprintf(kinds + len, sizeof kinds - len, "%s%.*s", len > 0 ? " " : "", (int)entry.row->kind.len,
                           (const char *)entry.row->kind.ptr);
    }
    cs_source_close(source);
    return forge_text("%s", kinds);
}

/* ---- out of a ledger ------------------------------------------------------------------------------- */

cs_result exchange_export(exchange *x, unsigned with) {
    cs_export_options options = {.ledger = x->ledger,
                                 .out = x->out,
                                 .trust = (with & WITH_TRUST) != 0 ? &x->trust : NULL,
                                 .key = (with & WITH_KEY) != 0 ? x->key : NULL,
                                 .on_finding = note_finding,
                                 .user = x};
    x->err = CS_ERROR_INIT;
    x->findings[0] = '\0';
    cs_result result = cs_export(&options, &x->ex, &x->err);
    return result;
}

forge_bytes exchange_read(const char *path) {
    forge_bytes bytes = {.ptr = NULL};
    char *content = file_read(path, &bytes.len);
    cr_assert_not_null(content, "%s", path);
    bytes.ptr = forge_text("%.*s", (int)bytes.len, content);
    cr_assert_eq(strlen(bytes.ptr), bytes.len, "%s holds a NUL", path);
    free(content);
    return bytes;
}

bool exchange_same(forge_bytes a, forge_bytes b) {
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

cs_verify_summary exchange_verify(const char *path, const cs_trust *trust) {
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_verify_summary summary = {.entries = 0};
    cr_assert_eq(cs_source_open(path, &source, &err), CS_OK, "%s: %s", err.where, err.message);
    cs_verify_options options = {.trust = trust};
    cr_assert_eq(cs_verify_source(source, &options, &summary, &err), CS_OK, "%s: %s", err.where, err.message);
    cs_source_close(source);
    return summary;
}
