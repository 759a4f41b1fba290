/* Memory runs out in an import or an export: all of it, or nothing. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/export.h"
#include "harness/import.h"
#include "harness/key_internal.h"
#include "tests/alloc/failing.h"
#include "tests/support/folder.h"
#include "tests/support/forge.h"
#include "tests/verify/raw_ledger.h"

typedef struct scene {
    char folder[128];
    char ledger[160];
    char bundle[160]; /* what is imported: a run and a checkpoint */
    char out[160];
    forge_bytes file; /* the bundle's bytes */
    forge_bytes old;  /* what stands at `out` before each export; ptr NULL: nothing */
    cs_key *key;
    cs_trust trust;
    unsigned names; /* in the folder before each export */
} scene;

static void trust(scene *c, const forge_key *key) {
    cs_trusted_key *to = &c->trust.keys[c->trust.count++];
    *to = (cs_trusted_key){.not_before_ms = INT64_MIN, .not_after_ms = INT64_MAX};
    memcpy(to->key.bytes, key->public_key, sizeof to->key.bytes);
    memcpy(to->key.id, key->id, sizeof to->key.id);
}

static void scene_init(scene *c) {
    *c = (scene){.names = 2};
    failing_folder(c->folder);
    (void)snprintf(c->ledger, sizeof c->ledger, "%s/ledger.db", c->folder);
    (void)snprintf(c->bundle, sizeof c->bundle, "%s/in.jsonl", c->folder);
    (void)snprintf(c->out, sizeof c->out, "%s/out.jsonl", c->folder);
    forge_key theirs = forge_key_from(1);
    uint8_t seed[CS_KEY_SEED_BYTES];
    memset(seed, 2, sizeof seed);
    cr_assert_eq(cs_key_from_seed(seed, &c->key, NULL), CS_OK);
    trust(c, &theirs);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    forge_add(&bundle, forge_run_line(&theirs, &run));
    forge_link_lines(&bundle, &theirs, 0);
    c->file = forge_file(&bundle);
    file_write(c->bundle, c->file.ptr, c->file.len);
    cs_ledger *ledger = NULL;
    cr_assert_eq(cs_ledger_open(c->ledger, 20, &ledger, NULL), CS_OK);
    cs_ledger_close(ledger);
}

static void scene_end(scene *c) {
    cs_key_free(c->key);
    folder_remove(c->folder);
}

static int64_t rows_of(const char *path) {
    sqlite3 *db = raw_open(path);
    sqlite3_stmt *count = NULL;
    cr_assert_eq(sqlite3_prepare_v2(db, "SELECT count(*) FROM entry", -1, &count, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(count), SQLITE_ROW);
    int64_t rows = sqlite3_column_int64(count, 0);
    sqlite3_finalize(count);
    raw_close(db);
    return rows;
}

static cs_result do_import(void *user, cs_error *err) {
    const scene *c = user;
    cs_ledger *ledger = NULL;
    cs_import_summary summary;
    cr_assert_eq(cs_ledger_open(c->ledger, 20, &ledger, NULL), CS_OK);
    cs_import_options options = {.bundle = c->bundle, .trust = &c->trust, .ledger = ledger};
    int64_t before = rows_of(c->ledger);
    failing_begin();
    cs_result result = cs_import(&options, &summary, err);
    failing_end();
    cs_ledger_close(ledger);
    int64_t added = before == 0 && result == CS_OK ? 2 : 0;
    cr_assert_eq(summary.added, (uint64_t)added);
    cr_assert_eq(rows_of(c->ledger), before + added, "%s: %s", cs_code_name(err->code), err->message);
    return result;
}

Test(alloc_exchange, import) {
    scene c;
    scene_init(&c);
    failing_walk(do_import, &c, FAILING_UNCHECKED);
    cr_expect_eq(rows_of(c.ledger), 2);
    failing_walk(do_import, &c, FAILING_UNCHECKED); /* now every line is there already */
    scene_end(&c);
}

static bool holds(const char *path, forge_bytes bytes) {
    size_t len = 0;
    char *content = file_read(path, &len);
    bool same = content != NULL && len == bytes.len && memcmp(content, bytes.ptr, len) == 0;
    free(content);
    return same;
}

/* Into a new file, or behind what stands there; either all, or the folder as it was. */
static cs_result do_export(const scene *c, const cs_key *key, cs_error *err) {
    cs_export_options options = {.ledger = c->ledger, .out = c->out, .trust = &c->trust, .key = key};
    cs_export_summary summary;
    if (c->old.ptr != NULL) {
        file_write(c->out, c->old.ptr, c->old.len);
    } else {
        (void)unlink(c->out);
    }
    failing_begin();
    cs_result result = cs_export(&options, &summary, err);
    failing_end();
    bool is_new = result == CS_OK && c->old.ptr == NULL;
    cr_assert_eq(folder_count(c->folder), c->names + (is_new ? 1 : 0), "%s", err->message);
    if (result != CS_OK && c->old.ptr != NULL) cr_assert(holds(c->out, c->old));
    if (result == CS_OK) cr_assert_eq(summary.added, 1);
    return result;
}

static cs_result do_original(void *user, cs_error *err) {
    const scene *c = user;
    cs_result result = do_export(c, NULL, err);
    if (result == CS_OK) cr_assert(holds(c->out, c->file));
    return result;
}

static cs_result do_own(void *user, cs_error *err) {
    const scene *c = user;
    return do_export(c, c->key, err);
}

Test(alloc_exchange, export_of_original_lines) {
    scene c;
    cs_error err = CS_ERROR_INIT;
    scene_init(&c);
    cr_assert_eq(do_import(&c, &err), CS_OK);
    failing_walk(do_original, &c, FAILING_UNCHECKED);
    c.trust.count = 0; /* without any key */
    failing_walk(do_original, &c, FAILING_UNCHECKED);
    scene_end(&c);
}

/* The file holds another run of ours, and the ledger's is added to it. */
Test(alloc_exchange, export_behind_what_is_there) {
    scene c;
    cs_error err = CS_ERROR_INIT;
    scene_init(&c);
    cr_assert_eq(do_import(&c, &err), CS_OK);
    forge_key ours = forge_key_from(2);
    forge_bundle held = {.count = 0};
    forge_run run = forge_single();
    run.code = "another";
    forge_seal(&run);
    forge_add(&held, forge_run_line(&ours, &run));
    forge_link_lines(&held, &ours, 0);
    c.old = forge_file(&held);
    (void)umask(077);
    c.names = 3;
    failing_walk(do_own, &c, FAILING_UNCHECKED);
    scene_end(&c);
}
