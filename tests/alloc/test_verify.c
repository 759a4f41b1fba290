/* Memory runs out while a bundle or a ledger is verified: it could not be checked, and is never called wrong. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/alloc/failing.h"
#include "tests/support/folder.h"
#include "tests/support/forge.h"
#include "tests/support/imported.h"
#include "tests/verify/raw_ledger.h"
#include "verify/verify.h"

typedef struct file {
    const char *path;
    cs_trust trust;
    uint64_t runs, sessions, failures;
} file;

static uint64_t told_failures;

static void on_finding(void *user, const cs_finding *finding) {
    (void)user;
    if (cs_code_class(finding->err->code) == CS_FAILED) told_failures++;
}

static cs_result do_verify(void *user, cs_error *err) {
    const file *f = user;
    cs_source *source = NULL;
    cs_verify_summary summary = {.entries = 0};
    cs_verify_options options = {.trust = &f->trust, .on_finding = on_finding};
    told_failures = 0;
    failing_begin();
    cs_result result = cs_source_open(f->path, &source, err);
    if (result == CS_OK) result = cs_verify_source(source, &options, &summary, err);
    cs_source_close(source);
    failing_end();
    cr_assert_eq(told_failures, 0, "%s: %s", cs_code_name(err->code), err->message);
    cr_assert_eq(summary.failures, 0);
    if (result == CS_OK) {
        cr_assert_eq(summary.runs, f->runs);
        cr_assert_eq(summary.sessions, f->sessions);
    }
    return result;
}

static cs_trust trust_in(const forge_key *forged) {
    cs_trust trust = {.count = 0};
    cs_public_key key = {.id = ""};
    memcpy(key.bytes, forged->public_key, sizeof key.bytes);
    memcpy(key.id, forged->id, sizeof key.id);
    cr_assert_eq(cs_trust_add(&trust, &key, NULL), CS_OK);
    return trust;
}

static void walk_bundle(const forge_key *key, const forge_bundle *bundle, uint64_t runs, uint64_t sessions) {
    char path[64];
    forge_bytes bytes = forge_file(bundle);
    forge_write(bytes.ptr, bytes.len, path);
    file f = {.path = path, .trust = trust_in(key), .runs = runs, .sessions = sessions};
    failing_walk(do_verify, &f, FAILING_UNCHECKED);
    (void)unlink(path);
}

Test(alloc_verify, bundle_of_one_run) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    forge_add(&bundle, forge_run_line(&key, &run));
    walk_bundle(&key, &bundle, 1, 0);
}

/* A record that needs escapes is larger than the first room for its statement. */
Test(alloc_verify, linked_session) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_session(&bundle, &key, FORGE_SESSION, 2, NULL);
    forge_link_lines(&bundle, &key, 0);
    walk_bundle(&key, &bundle, 2, 1);
}

Test(alloc_verify, unanswered_call) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    run.version = 3;
    run.unanswered = "unavailable";
    run.session = FORGE_SESSION;
    run.sequence = 1;
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    forge_add(&bundle, forge_line(NULL, NULL, forge_envelope(&key, forge_close(FORGE_SESSION, 1, run.record_sha256))));
    walk_bundle(&key, &bundle, 1, 1);
}

Test(alloc_verify, ledger) {
    forge_key key = forge_key_from(1);
    char folder[128];
    char path[160];
    failing_folder(folder);
    (void)snprintf(path, sizeof path, "%s/ledger.db", folder);
    sqlite3 *db = raw_create(path);
    forge_run run = forge_single();
    forge_bytes request = forge_request(&run);
    forge_bytes response = forge_response(&run);
    cs_ledger_row row = {.added_unix_ms = 1,
                         .kind = cs_view_of("run"),
                         .daemon = cs_view_of(""),
                         .code = cs_view_of(""),
                         .detail = cs_view_of(""),
                         .request = cs_view_bytes(request.ptr, request.len),
                         .response = cs_view_bytes(response.ptr, response.len),
                         .envelope = cs_view_of(forge_envelope(&key, forge_statement(&run))),
                         .record_sha256 = cs_view_of(run.record_sha256)};
    raw_append(db, row);
    raw_close(db);
    usleep(60000); /* a file changed this very moment is waited for, each time it is opened */
    file f = {.path = path, .trust = trust_in(&key), .runs = 1};
    failing_walk(do_verify, &f, FAILING_UNCHECKED);
    folder_remove(folder);
}

/* The lines of an imported bundle are rebuilt, and remembered. */
Test(alloc_verify, imported_lines) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    char folder[128];
    char path[160];
    failing_folder(folder);
    (void)snprintf(path, sizeof path, "%s/ledger.db", folder);
    sqlite3 *db = raw_create(path);
    forge_session(&bundle, &key, FORGE_SESSION, 2, NULL);
    forge_link_lines(&bundle, &key, 0);
    for (size_t i = 0; i < bundle.count; i++)
        raw_append(db, imported_row(bundle.lines[i]));
    raw_close(db);
    usleep(60000);
    file f = {.path = path, .trust = trust_in(&key), .runs = 2, .sessions = 1};
    failing_walk(do_verify, &f, FAILING_UNCHECKED);
    folder_remove(folder);
}

/* ---- keys ----------------------------------------------------------------------------------------- */

static const char pem[] = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
                          "-----END PUBLIC KEY-----\n";

static cs_result do_public_key(void *user, cs_error *err) {
    (void)user;
    cs_public_key key;
    failing_begin();
    cs_result result = cs_public_key_parse(cs_view_of(pem), &key, err);
    failing_end();
    cr_assert_eq(strlen(key.id), result == CS_OK ? 64 : 0);
    if (result == CS_OK) cr_assert_eq(key.bytes[0], 0xd7);
    return result;
}

Test(alloc_verify, public_key) {
    failing_walk(do_public_key, NULL, FAILING_UNCHECKED);
}
