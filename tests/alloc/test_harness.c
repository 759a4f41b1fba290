/* Memory runs out in harness/: keys, signing, the ledger's writer, the client and a whole run. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/key_internal.h"
#include "harness/run.h"
#include "records/statement.h"
#include "tests/alloc/failing.h"
#include "tests/support/folder.h"
#include "tests/support/live.h"
#include "tests/support/rows.h"
#include "tests/verify/raw_ledger.h"
#include "verify/verify.h"

typedef struct scene {
    char folder[128];
    char path[192]; /* of what the scenario makes or reads */
    cs_key *key;
    sample s;
    cs_sha256 *hash;
    cs_checked_run checked;
    cs_client *client;
} scene;

static void scene_init(scene *c) {
    cs_error err = CS_ERROR_INIT;
    uint8_t seed[CS_KEY_SEED_BYTES] = {7};
    *c = (scene){.hash = cs_sha256_new()};
    failing_folder(c->folder);
    sample_init(&c->s);
    cs_call call = sample_call(&c->s);
    cr_assert_eq(cs_check_run(&call, c->hash, &c->checked, &err), CS_OK, "%s", err.message);
    cr_assert_eq(cs_key_from_seed(seed, &c->key, &err), CS_OK, "%s", err.message);
}

static void scene_end(scene *c) {
    cs_client_free(c->client);
    cs_key_free(c->key);
    cs_sha256_free(c->hash);
    sample_free(&c->s);
    folder_remove(c->folder);
}

/* ---- keys and signing ----------------------------------------------------------------------------- */

static cs_result do_load(void *user, cs_error *err) {
    const scene *c = user;
    cs_key *key = NULL;
    failing_begin();
    cs_result result = cs_key_load(c->path, &key, err);
    failing_end();
    cr_assert_eq(key != NULL, result == CS_OK);
    if (key != NULL) cr_assert_str_eq(cs_key_public(key)->id, cs_key_public(c->key)->id);
    cs_key_free(key);
    return result;
}

Test(alloc_harness, private_key) {
    scene c;
    scene_init(&c);
    cs_buf text = {0};
    cr_assert(cs_key_secret_new(CS_MAX_KEY_FILE, &text) && cs_key_private_pem(c.key, &text));
    (void)snprintf(c.path, sizeof c.path, "%s/k.key", c.folder);
    file_write(c.path, text.ptr, text.len);
    cr_assert_eq(chmod(c.path, 0600), 0);
    cs_key_secret_free(&text);
    failing_walk(do_load, &c, FAILING_UNCHECKED);
    scene_end(&c);
}

/* A key pair is made whole, or not at all. */
static cs_result do_generate(void *user, cs_error *err) {
    const scene *c = user;
    cs_public_key key;
    char path[224];
    failing_begin();
    cs_result result = cs_key_generate(c->path, &key, err);
    failing_end();
    cr_assert_eq(folder_count(c->folder), result == CS_OK ? 2 : 0, "%s", err->message);
    (void)snprintf(path, sizeof path, "%s.key", c->path);
    (void)unlink(path);
    (void)snprintf(path, sizeof path, "%s.pub", c->path);
    (void)unlink(path);
    return result;
}

Test(alloc_harness, key_pair) {
    scene c;
    scene_init(&c);
    (void)snprintf(c.path, sizeof c.path, "%s/k", c.folder);
    failing_walk(do_generate, &c, FAILING_UNCHECKED);
    scene_end(&c);
}

static cs_result do_sign(void *user, cs_error *err) {
    const scene *c = user;
    cs_buf envelope = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES);
    cs_buf scratch = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES);
    failing_begin();
    cs_result result = cs_sign_run(c->key, &c->checked, &envelope, err);
    failing_end();
    cr_assert_eq(envelope.len > 0, result == CS_OK);
    if (result == CS_OK) {
        cs_trust trust = {.count = 0};
        cs_envelope decoded;
        cr_assert_eq(cs_trust_add(&trust, cs_key_public(c->key), NULL), CS_OK);
        cr_assert_eq(cs_envelope_decode(cs_buf_view(&envelope), &decoded, NULL), CS_OK);
        cr_assert_eq(cs_envelope_verify(&decoded, &trust, &scratch, NULL), CS_OK);
        cs_envelope_free(&decoded);
    }
    cs_buf_free(&envelope);
    cs_buf_free(&scratch);
    return result;
}

Test(alloc_harness, sign) {
    scene c;
    scene_init(&c);
    failing_walk(do_sign, &c, FAILING_UNCHECKED);
    scene_end(&c);
}

/* ---- the ledger ----------------------------------------------------------------------------------- */

/* A number that a ledger has, by SQLite itself: our own reader would wait for the clock's next tick. */
static uint64_t number_of(const char *path, const char *sql) {
    sqlite3 *db = raw_open(path);
    sqlite3_stmt *ask = NULL;
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &ask, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(ask), SQLITE_ROW);
    uint64_t number = (uint64_t)sqlite3_column_int64(ask, 0);
    sqlite3_finalize(ask);
    raw_close(db);
    return number;
}

static uint64_t rows_of(const char *path) {
    return number_of(path, "SELECT count(*) FROM entry");
}

/* All that was appended verifies. */
static void expect_sound(const char *path) {
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_verify_summary summary;
    cs_trust trust = {.count = 0};
    cs_verify_options options = {.trust = &trust};
    cr_assert_eq(cs_source_open(path, &source, &err), CS_OK, "%s", err.message);
    (void)!cs_verify_source(source, &options, &summary, &err);
    cr_assert_eq(summary.failures, 0, "%s", err.message);
    cr_assert_eq(summary.findings, rows_of(path));
    cs_source_close(source);
}

/* Whatever fails, the ledger has the row or has it not, and says so. */
static cs_result do_append(void *user, cs_error *err) {
    const scene *c = user;
    cs_ledger *ledger = NULL;
    cs_ledger_row row = rows_finding();
    int64_t id = 0;
    uint64_t before = rows_of(c->path);
    failing_begin();
    cs_result result = cs_ledger_open(c->path, 20, &ledger, err);
    if (result == CS_OK) result = cs_ledger_append(ledger, &row, &id, err);
    cs_ledger_close(ledger);
    failing_end();
    cr_assert_eq(id, result == CS_OK ? (int64_t)before + 1 : 0);
    cr_assert_eq(rows_of(c->path), before + (result == CS_OK ? 1 : 0), "%s: %s", cs_code_name(err->code), err->message);
    return result;
}

static void make_ledger(scene *c) {
    cs_ledger *ledger = NULL;
    cs_error err = CS_ERROR_INIT;
    (void)snprintf(c->path, sizeof c->path, "%s/ledger.db", c->folder);
    cr_assert_eq(cs_ledger_open(c->path, 20, &ledger, &err), CS_OK, "%s", err.message);
    cs_ledger_close(ledger);
}

Test(alloc_harness, append) {
    scene c;
    scene_init(&c);
    make_ledger(&c);
    failing_walk(do_append, &c, FAILING_UNCHECKED);
    expect_sound(c.path);
    scene_end(&c);
}

/* A ledger of that version with one row, as a file that each run begins with. */
static char *first_file;
static size_t first_len;

static void make_first(scene *c, int version) {
    (void)snprintf(c->path, sizeof c->path, "%s/ledger.db", c->folder);
    sqlite3 *db = raw_create_version(c->path, version);
    raw_append(db, rows_finding());
    raw_close(db);
    first_file = file_read(c->path, &first_len);
    cr_assert_not_null(first_file);
}

static cs_result count_rows(void *user, const cs_ledger_row *row, cs_error *err) {
    (void)err;
    cr_assert_eq(row->id, ++*(int64_t *)user);
    return CS_OK;
}

static cs_result several(cs_ledger *ledger, int64_t *walked, cs_error *err) {
    cs_ledger_row rows[] = {rows_finding(), rows_finding()};
    int64_t id = 0;
    cs_result result = cs_ledger_begin(ledger, err);
    if (result == CS_OK) result = cs_ledger_walk(ledger, count_rows, walked, err);
    for (size_t i = 0; result == CS_OK && i < sizeof rows / sizeof *rows; i++)
        result = cs_ledger_append(ledger, &rows[i], &id, err);
    return result == CS_OK ? cs_ledger_commit(ledger, err) : result;
}

/* Two rows, or none; in a ledger that is made anew each time, since what is walked would else grow. */
static cs_result do_several(void *user, cs_error *err) {
    const scene *c = user;
    cs_ledger *ledger = NULL;
    int64_t walked = 0;
    file_write(c->path, first_file, first_len);
    failing_begin();
    cs_result result = cs_ledger_open(c->path, 20, &ledger, err);
    if (result == CS_OK) result = several(ledger, &walked, err);
    if (ledger != NULL) cs_ledger_undo(ledger);
    cs_ledger_close(ledger);
    failing_end();
    if (result == CS_OK) cr_assert_eq(walked, 1);
    cr_assert_eq(rows_of(c->path), result == CS_OK ? 3 : 1, "%s: %s", cs_code_name(err->code), err->message);
    return result;
}

Test(alloc_harness, several_appends) {
    scene c;
    scene_init(&c);
    make_first(&c, CS_LEDGER_VERSION);
    failing_walk(do_several, &c, FAILING_UNCHECKED);
    free(first_file);
    scene_end(&c);
}

/* A ledger of an older version is of the newest version afterwards, which alone knows of verdicts, or as it was. */
static cs_result do_upgrade(void *user, cs_error *err) {
    const scene *c = user;
    cs_ledger *ledger = NULL;
    file_write(c->path, first_file, first_len);
    failing_begin();
    cs_result result = cs_ledger_open(c->path, 20, &ledger, err);
    cs_ledger_close(ledger);
    failing_end();
    bool newest = number_of(c->path, "PRAGMA user_version") == 4;
    cr_assert_eq(number_of(c->path, "SELECT count(*) FROM sqlite_master WHERE sql LIKE '%verdict%'") > 0, newest);
    cr_assert(newest || result != CS_OK);
    cr_assert_eq(rows_of(c->path), 1);
    return result;
}

Test(alloc_harness, upgrade) {
    scene c;
    scene_init(&c);
    make_first(&c, 2);
    cr_assert_eq(number_of(c.path, "PRAGMA user_version"), 2);
    failing_walk(do_upgrade, &c, FAILING_UNCHECKED);
    free(first_file);
    scene_end(&c);
}

/* Where no ledger is, one is made; a failure leaves nothing that the next one can't make a ledger of. */
static cs_result do_create(void *user, cs_error *err) {
    const scene *c = user;
    cs_ledger *ledger = NULL;
    cs_error later = CS_ERROR_INIT;
    failing_begin();
    cs_result result = cs_ledger_open(c->path, 20, &ledger, err);
    cs_ledger_close(ledger);
    failing_end();
    cr_assert_eq(cs_ledger_open(c->path, 20, &ledger, &later), CS_OK, "%s: %s", cs_code_name(later.code),
                 later.message);
    cs_ledger_close(ledger);
    cr_assert_eq(rows_of(c->path), 0);
    (void)unlink(c->path);
    return result;
}

Test(alloc_harness, new_ledger) {
    scene c;
    scene_init(&c);
    (void)snprintf(c.path, sizeof c.path, "%s/ledger.db", c.folder);
    failing_walk(do_create, &c, FAILING_UNCHECKED);
    scene_end(&c);
}

static cs_result do_side_file(void *user, cs_error *err) {
    const scene *c = user;
    cs_ledger_row row = rows_run();
    char path[512];
    failing_begin();
    cs_result result = cs_side_file_write(c->path, &row, path, sizeof path, err);
    failing_end();
    cr_assert_eq(path[0] != '\0', result == CS_OK);
    cr_assert_eq(folder_count(c->folder), result == CS_OK ? 1 : 0);
    if (result == CS_OK) (void)unlink(path);
    return result;
}

Test(alloc_harness, side_file) {
    scene c;
    scene_init(&c);
    (void)snprintf(c.path, sizeof c.path, "%s/ledger.db", c.folder);
    failing_walk(do_side_file, &c, FAILING_UNCHECKED);
    scene_end(&c);
}

/* ---- the client and a whole run ------------------------------------------------------------------- */

static cs_result do_client(void *user, cs_error *err) {
    (void)user;
    cs_client *client = NULL;
    cs_client_config config = {.base_url = "http://localhost:8746/a/", .token = "t", .ca_file = "/x"};
    failing_begin();
    cs_result result = cs_client_new(&config, &client, err);
    failing_end();
    cr_assert_eq(client != NULL, result == CS_OK);
    if (client != NULL) cr_assert_str_eq(cs_client_url(client), "http://localhost:8746/a");
    cs_client_free(client);
    return result;
}

Test(alloc_harness, client) {
    failing_walk(do_client, NULL, FAILING_UNCHECKED);
}

/* Did the Run call reach the daemon? */
static bool was_run(const peer *daemon) {
    for (size_t i = 0; i < peer_connections(daemon); i++) {
        const peer_request *seen = peer_seen(daemon, i);
        if (seen != NULL && strstr(seen->head, "/Run ") != NULL) return true;
    }
    return false;
}

/* What reached the daemon may have run, so it is never said that it did not; and it is never said that what
 * could not be checked is wrong. */
static cs_result do_run(void *user, cs_error *err) {
    scene *c = user;
    live script = {.count = 0};
    cs_run_report report;
    cs_ledger *ledger = NULL;
    cs_client *client = NULL;
    live_run(&script, &c->s);
    peer *daemon = peer_start(script.steps, script.count, NULL);
    cr_assert_not_null(daemon);
    cs_client_config config = {.base_url = peer_url(daemon), .timeout_ms = 20000};
    cr_assert_eq(cs_client_new(&config, &client, err), CS_OK);
    cr_assert_eq(cs_ledger_open(c->path, 20, &ledger, err), CS_OK);
    cs_run_options options = {
        .client = client, .key = c->key, .ledger = ledger, .ledger_path = c->path, .skew_ms = CS_DEFAULT_SKEW_MS};
    cs_run_request *request = live_request(&c->s);

    failing_begin();
    cs_result result = cs_run_once(&options, request, &report);
    failing_end();
    peer_stop(daemon);
    *err = report.err;
    cr_assert_eq(result, report.result);
    cr_assert(!was_run(daemon) || report.ran);
    cr_assert(!was_run(daemon) || result != CS_NOT_RUN, "%s: %s", cs_code_name(err->code), err->message);
    if (result == CS_OK) cr_assert(report.entry > 0 && report.envelope.len > 0);
    if (report.envelope.len > 0) cr_assert(report.entry > 0 || report.side_file[0] != '\0' || failing_happened());

    cs_run_report_free(&report);
    cs_ledger_close(ledger);
    cs_client_free(client);
    peer_free(daemon);
    live_free(&script);
    return result;
}

Test(alloc_harness, run) {
    scene c;
    scene_init(&c);
    make_ledger(&c);
    failing_walk(do_run, &c, FAILING_UNCHECKED | 1u << CS_MAYBE_RAN | 1u << CS_NOT_RUN);
    scene_end(&c);
}
