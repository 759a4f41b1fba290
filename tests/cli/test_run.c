/* `countersign run` and `replay` against scripted daemons: every exit, and what is left behind. */
#include "tests/cli/cli_case.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "tests/support/canon.h"
#include "tests/support/changes.h"
#include "tests/support/live.h"

/* The sample's request as proto3 JSON. */
#define REQUEST                                                                                                        \
    "{\"minimumIsolation\":\"container\",\"traceId\":\"trace-1\",\"timeoutMs\":5000,\"softwareRule\":{\"mode\":"       \
    "\"exact\","                                                                                                       \
    "\"identities\":[\"" SAMPLE_IDENTITY "\"]},\"javascript\":{\"code\":\"console.log(1 + 1)\"}}"

typedef struct scene {
    cli_case c;
    live script;
    peer *daemon;
    char url[128];
    bool again; /* each scripted run is one of its own, and not the sample's */
} scene;

static void begin(scene *s) {
    memset(s, 0, sizeof *s);
    cli_begin(&s->c);
    cli_keys(&s->c);
    cli_write_text(&s->c, "request.json", REQUEST);
}

static void serve(scene *s) {
    s->daemon = peer_start(s->script.steps, s->script.count, NULL);
    cr_assert_not_null(s->daemon);
    (void)snprintf(s->url, sizeof s->url, "%s", peer_url(s->daemon));
}

static void finish(scene *s) {
    if (s->daemon != NULL) peer_free(s->daemon);
    live_free(&s->script);
    cli_end(&s->c);
}

/* A daemon that tells the truth, changed by `change`. */
static void serve_runs(scene *s, size_t runs, void (*change)(sample *)) {
    sample good;
    sample_init(&good);
    if (change != NULL) change(&good);
    for (size_t i = 0; i < runs; i++) {
        if (s->again) sample_again(&good);
        live_run(&s->script, &good);
    }
    sample_free(&good);
    serve(s);
}

static int run_json(scene *s) {
    return cli_json(&s->c, ARGS("run", "-d", s->url, "-k", "k.key", "-l", "ledger.db", "request.json"));
}

static void expect_ledger(scene *s, int exit, json_int_t runs, json_int_t findings) {
    EXPECT_EXIT(&s->c, cli_json(&s->c, ARGS("verify", "-p", "k.pub", "ledger.db")), exit);
    cr_expect_eq(cli_number(&s->c, "inputs.0.runs"), runs, "%s", s->c.end.out);
    cr_expect_eq(cli_number(&s->c, "inputs.0.unsigned_findings"), findings, "%s", s->c.end.out);
}

/* ---- exit 0 --------------------------------------------------------------------------------- */

Test(run_command, a_good_run_is_signed_kept_and_told) {
    scene s;
    begin(&s);
    serve_runs(&s, 3, NULL);
    EXPECT_EXIT(&s.c, run_json(&s), 0);
    cr_expect_eq(cli_number(&s.c, "entry"), 1);
    EXPECT_HAS_NOT(cli_text(&s.c, "message"), "record-duplicate");
    EXPECT_TEXT(&s.c, "state", "answered");
    EXPECT_TEXT(&s.c, "daemon", s.url);
    cr_expect(json_is_true(cli_member(&s.c, "signed")));
    EXPECT_TEXT(&s.c, "record.provider", "gvisor");
    EXPECT_TEXT(&s.c, "outputs.0.text", "2\n");
    EXPECT_TEXT(&s.c, "warnings.0", "clock-skew");
    EXPECT_TEXT(&s.c, "envelope.payloadType", "application/vnd.in-toto+json");
    cr_expect_eq(strlen(cli_text(&s.c, "result_sha256")), 64);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "request.json")), 0);
    EXPECT_HAS(s.c.end.out, "provider:    gvisor");
    EXPECT_HAS(s.c.end.out, "entry 2");
    EXPECT_HAS(s.c.end.out, "[clock-skew]");
    EXPECT_HAS(s.c.end.out, "[record-duplicate]");
    EXPECT_HAS(s.c.end.out, "repeats:     entry 1 holds the same record already");
    EXPECT_HAS(s.c.end.out, "| 2\n");
    EXPECT_EXIT(&s.c, run_json(&s), 0);
    EXPECT_TEXT(&s.c, "warnings.1", "record-duplicate");
    EXPECT_HAS(cli_text(&s.c, "message"), "its record is that of entry 1 already");
    expect_ledger(&s, 0, 1, 0); /* the same record several times counts once */
    cr_expect_eq(cli_number(&s.c, "inputs.0.duplicates"), 2);
    finish(&s);
}

/* Exit 0 is about the record; whether the code succeeded is asked for by name. */
Test(run_command, work_that_fails_is_a_good_run_unless_success_is_required) {
    scene s;
    begin(&s);
    sample failing, good;
    sample_init(&failing);
    change_other_exit_code(&failing);
    sample_seal(&failing, SEAL_ALL);
    live_run(&s.script, &failing);
    live_run(&s.script, &failing);
    sample_init(&good);
    live_run(&s.script, &good);
    sample_free(&failing);
    sample_free(&good);
    serve(&s);
    EXPECT_EXIT(&s.c, run_json(&s), 0);
    const char *const *required =
        ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "--require-success", "request.json");
    EXPECT_EXIT(&s.c, cli_json(&s.c, required), 1);
    EXPECT_TEXT(&s.c, "code", "work-failed");
    cr_expect(json_is_true(cli_member(&s.c, "signed")));
    cr_expect_eq(cli_number(&s.c, "entry"), 2);
    EXPECT_EXIT(&s.c, cli_json(&s.c, required), 0);
    expect_ledger(&s, 0, 2, 0);
    finish(&s);
}

Test(run_command, the_request_may_come_from_standard_input) {
    scene s;
    begin(&s);
    serve_runs(&s, 1, NULL);
    s.c.how.input = REQUEST;
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "-")), 0);
    finish(&s);
}

/* Key and token come from the environment; the token reaches the daemon, and nothing else of ours does. */
Test(run_command, secrets_come_from_the_environment) {
    scene s;
    begin(&s);
    serve_runs(&s, 1, NULL);
    char path[256];
    size_t len = 0;
    (void)snprintf(path, sizeof path, "%s/k.key", s.c.folder);
    char *pem = file_read(path, &len);
    cr_assert_not_null(pem);
    const char *const env[] = {forge_text("COUNTERSIGN_KEY=%s", pem), "PLIMSOLL_CALLER_TOKEN=tok-123", NULL};
    free(pem);
    s.c.how.env = env;
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("run", "-d", s.url, "-l", "ledger.db", "request.json")), 0);
    EXPECT_HAS_NOT(s.c.end.out, "tok-123");
    EXPECT_HAS_NOT(s.c.end.out, "PRIVATE KEY");
    peer_stop(s.daemon);
    cr_assert_eq(peer_connections(s.daemon), 3);
    for (size_t i = 0; i < 3; i++) {
        char value[64];
        cr_expect_eq(peer_header(peer_seen(s.daemon, i), "Authorization", value, sizeof value), 1);
        cr_expect_str_eq(value, "Bearer tok-123");
    }
    finish(&s);
}

Test(run_command, json_is_spoken_when_asked_for) {
    scene s;
    begin(&s);
    serve_runs(&s, 1, NULL); /* answers in binary, which is no JSON */
    EXPECT_EXIT(
        &s.c, cli_json(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "l.db", "--codec", "json", "request.json")),
        3);
    EXPECT_TEXT(&s.c, "code", "describe-failed");
    peer_stop(s.daemon);
    char value[64];
    cr_expect_eq(peer_header(peer_seen(s.daemon, 0), "Content-Type", value, sizeof value), 1);
    cr_expect_str_eq(value, "application/json");
    finish(&s);
}

/* ---- exit 1 --------------------------------------------------------------------------------- */

static void drift(sample *s) {
    canon_set(&s->after->sandbox, "\x1b[31mbwrap");
}

Test(run_command, a_failed_check_is_exit_1_and_a_finding) {
    scene s;
    begin(&s);
    serve_runs(&s, 2, drift);
    EXPECT_EXIT(&s.c, run_json(&s), 1);
    EXPECT_TEXT(&s.c, "code", "provider-drift");
    cr_expect_eq(cli_number(&s.c, "entry"), 1);
    cr_expect(json_is_false(cli_member(&s.c, "signed")));
    cr_expect(json_is_false(cli_member(&s.c, "verified")));
    cr_expect_null(cli_member(&s.c, "envelope"));
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "request.json")), 1);
    EXPECT_HAS(s.c.end.out, "answer (NOT verified):");
    EXPECT_HAS(s.c.end.out, "an unsigned finding, not a run");
    EXPECT_HAS(s.c.end.err, "[provider-drift]");
    EXPECT_HAS_NOT(s.c.end.err, "\x1b");
    expect_ledger(&s, 6, 0, 2);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("show", "-p", "k.pub", "ledger.db", "1")), 0);
    EXPECT_TEXT(&s.c, "shown.kind", "finding");
    EXPECT_TEXT(&s.c, "shown.verification", "unsigned");
    EXPECT_TEXT(&s.c, "shown.finding_code", "provider-drift");
    finish(&s);
}

/* ---- exit 3 --------------------------------------------------------------------------------- */

Test(run_command, a_refusal_is_exit_3_and_leaves_nothing) {
    scene s;
    begin(&s);
    sample good;
    sample_init(&good);
    live_describe(&s.script, good.before);
    live_step(&s.script, live_refusal());
    sample_free(&good);
    serve(&s);
    EXPECT_EXIT(&s.c, run_json(&s), 3);
    EXPECT_TEXT(&s.c, "code", "refused-capacity");
    EXPECT_TEXT(&s.c, "state", "refused");
    EXPECT_TEXT(&s.c, "reason", "capacity");
    cr_expect(json_is_true(cli_member(&s.c, "elsewhere")));
    expect_ledger(&s, 6, 0, 0);
    finish(&s);
}

Test(run_command, nobody_there_is_exit_3) {
    scene s;
    begin(&s);
    serve(&s);
    peer_free(s.daemon); /* now the port is closed */
    s.daemon = NULL;
    EXPECT_EXIT(&s.c, run_json(&s), 3);
    EXPECT_TEXT(&s.c, "code", "describe-failed");
    EXPECT_TEXT(&s.c, "state", "unsent");
    cr_expect(json_is_false(cli_member(&s.c, "sent")));
    finish(&s);
}

/* Described, and then gone before the run was sent. */
Test(run_command, a_daemon_that_dies_before_the_run_is_exit_3) {
    scene s;
    begin(&s);
    sample good;
    sample_init(&good);
    live_describe(&s.script, good.before);
    s.script.steps[0].end = PEER_DIE;
    sample_free(&good);
    serve(&s);
    EXPECT_EXIT(&s.c, run_json(&s), 3);
    EXPECT_TEXT(&s.c, "code", "unsent-connect");
    EXPECT_TEXT(&s.c, "state", "unsent");
    cr_expect(json_is_false(cli_member(&s.c, "sent")));
    expect_ledger(&s, 6, 0, 0);
    finish(&s);
}

Test(run_command, a_url_that_is_refused_is_exit_3) {
    scene s;
    begin(&s);
    EXPECT_EXIT(
        &s.c, cli_json(&s.c, ARGS("run", "-d", "http://user@127.0.0.1:1", "-k", "k.key", "-l", "l.db", "request.json")),
        3);
    EXPECT_TEXT(&s.c, "code", "unsent-url");
    EXPECT_EXIT(
        &s.c, cli_json(&s.c, ARGS("run", "-d", "http://192.0.2.1:1", "-k", "k.key", "-l", "l.db", "request.json")), 3);
    EXPECT_TEXT(&s.c, "code", "unsent-url");
    finish(&s);
}

Test(run_command, a_request_that_no_daemon_takes_is_exit_3) {
    scene s;
    begin(&s);
    serve_runs(&s, 1, NULL);
    cli_write_text(&s.c, "request.json", "{\"javascript\":{\"code\":\"\"}}");
    EXPECT_EXIT(&s.c, run_json(&s), 3);
    EXPECT_TEXT(&s.c, "code", "request-invalid");
    EXPECT_TEXT(&s.c, "reason", "request");
    cr_expect(json_is_false(cli_member(&s.c, "elsewhere")));
    cli_write_text(&s.c, "request.json", "{\"javascript\":{\"kode\":\"1\"}}");
    EXPECT_EXIT(&s.c, run_json(&s), 3);
    EXPECT_TEXT(&s.c, "code", "request-json");
    EXPECT_HAS(cli_text(&s.c, "where"), "request.json");
    EXPECT_HAS(cli_text(&s.c, "where"), "javascript");
    cli_write_text(&s.c, "request.json", "not json");
    EXPECT_EXIT(&s.c, run_json(&s), 3);
    EXPECT_TEXT(&s.c, "code", "request-json");
    peer_stop(s.daemon);
    cr_expect_eq(peer_connections(s.daemon), 0);
    finish(&s);
}

/* ---- exit 4 --------------------------------------------------------------------------------- */

Test(run_command, no_believable_answer_is_exit_4_and_a_finding) {
    scene s;
    begin(&s);
    sample good;
    sample_init(&good);
    live_describe(&s.script, good.before);
    live_step(&s.script, (peer_step){.head = NULL, .end = PEER_RESET});
    sample_free(&good);
    serve(&s);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "request.json")), 4);
    EXPECT_HAS(s.c.end.err, "[unanswered-connection]");
    EXPECT_HAS(s.c.end.err, "before you send it again");
    peer_stop(s.daemon);
    cr_expect_eq(peer_connections(s.daemon), 2);
    expect_ledger(&s, 6, 0, 1);
    finish(&s);
}

/* ---- exit 5 --------------------------------------------------------------------------------- */

/* Each of these must be found before the daemon is asked for anything. */
Test(run_command, trouble_of_our_own_is_exit_5_before_anything_is_sent) {
    scene s;
    begin(&s);
    serve_runs(&s, 1, NULL);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("run", "-d", s.url, "-l", "l.db", "request.json")), 5);
    EXPECT_TEXT(&s.c, "code", "key-unreadable");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("run", "-d", s.url, "-k", "missing", "-l", "l.db", "request.json")), 5);
    EXPECT_TEXT(&s.c, "code", "key-unreadable");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "no/l.db", "request.json")), 5);
    EXPECT_TEXT(&s.c, "code", "ledger-missing");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "request.json", "request.json")), 5);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "l.db", "missing.json")), 5);
    EXPECT_TEXT(&s.c, "code", "io");
    char path[256];
    (void)snprintf(path, sizeof path, "%s/k.key", s.c.folder);
    cr_assert_eq(chmod(path, 0644), 0);
    EXPECT_EXIT(&s.c, run_json(&s), 5);
    EXPECT_TEXT(&s.c, "code", "key-permissions");
    peer_stop(s.daemon);
    cr_expect_eq(peer_connections(s.daemon), 0);
    finish(&s);
}

/* The ledger is locked when the answer is there. */
Test(run_command, a_signed_run_that_can_not_be_kept_is_exit_5_and_a_side_file) {
    scene s;
    begin(&s);
    serve_runs(&s, 2, NULL);
    EXPECT_EXIT(&s.c, run_json(&s), 0);
    char path[256];
    (void)snprintf(path, sizeof path, "%s/ledger.db", s.c.folder);
    sqlite3 *other = NULL;
    cr_assert_eq(sqlite3_open(path, &other), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    EXPECT_EXIT(
        &s.c,
        cli_json(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "--lock-wait", "0", "request.json")),
        5);
    sqlite3_close(other);
    EXPECT_TEXT(&s.c, "code", "ledger-locked");
    cr_expect(json_is_true(cli_member(&s.c, "signed")));
    char side_file[512];
    (void)snprintf(side_file, sizeof side_file, "%s", cli_text(&s.c, "side_file"));
    EXPECT_HAS(cli_text(&s.c, "message"), side_file);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "-p", "k.pub", side_file)), 0);
    cr_expect_eq(cli_number(&s.c, "inputs.0.runs"), 1);
    expect_ledger(&s, 0, 1, 0);
    finish(&s);
}

/* ---- replay --------------------------------------------------------------------------------- */

static void another_output(sample *s) {
    canon_set(&s->response->javascript->stdout, "3\n");
    sample_seal(s, SEAL_ALL);
}

/* A ledger with one signed run, and then another daemon. */
static void begin_replay(scene *s, void (*change)(sample *)) {
    begin(s);
    serve_runs(s, 1, NULL);
    EXPECT_EXIT(&s->c, run_json(s), 0);
    peer_free(s->daemon);
    live_free(&s->script);
    s->again = true;
    serve_runs(s, 2, change);
}

Test(replay_command, reproduced_is_exit_0) {
    scene s;
    begin_replay(&s, NULL);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "ledger.db")), 0);
    EXPECT_TEXT(&s.c, "rows.0.verdict", "reproduced");
    cr_expect_null(cli_member(&s.c, "entry"));
    cr_expect_null(cli_member(&s.c, "where"));
    cr_expect_null(cli_member(&s.c, "rows.0.daemons.0.failure"));
    EXPECT_TEXT(&s.c, "rows.0.daemons.0.daemon", s.url);
    cr_expect_eq(cli_number(&s.c, "rows.0.daemons.0.matched"), 2);
    cr_expect(json_is_null(cli_member(&s.c, "rows.0.daemons.0.difference")));
    expect_ledger(&s, 0, 1, 0);
    finish(&s);
}

Test(replay_command, different_is_exit_1_with_the_first_difference) {
    scene s;
    begin_replay(&s, another_output);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "ledger.db")), 1);
    EXPECT_HAS(s.c.end.out, "different");
    EXPECT_HAS(s.c.end.out, "first difference: stdout, at byte 0 (of 2 and 2)");
    EXPECT_HAS(s.c.end.err, "[replay-differs]");
    finish(&s);
    begin_replay(&s, another_output);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "ledger.db")), 1);
    EXPECT_TEXT(&s.c, "code", "replay-differs");
    EXPECT_TEXT(&s.c, "where", "ledger.db: entry 1");
    cr_expect_eq(cli_number(&s.c, "entry"), 1);
    EXPECT_TEXT(&s.c, "rows.0.daemons.0.difference.field", "stdout");
    cr_expect_eq(cli_number(&s.c, "rows.0.daemons.0.difference.offset"), 0);
    finish(&s);
}

Test(replay_command, kept_when_asked_for) {
    scene s;
    begin_replay(&s, another_output);
    EXPECT_EXIT(
        &s.c, cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "ledger.db")),
        1);
    expect_ledger(&s, 0, 3, 0); /* the stored one and two new ones */
    finish(&s);
}

Test(replay_command, nothing_is_replayed_from_what_does_not_verify) {
    scene s;
    begin_replay(&s, NULL);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("keygen", "-o", "other")), 0);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "-p", "other.pub", "-d", s.url, "ledger.db")), 1);
    EXPECT_TEXT(&s.c, "code", "envelope-key-unknown");
    EXPECT_HAS(cli_text(&s.c, "where"), "ledger.db");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "--entry", "9", "ledger.db")), 6);
    EXPECT_TEXT(&s.c, "code", "entry-unknown");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "missing")), 5);
    peer_stop(s.daemon);
    cr_expect_eq(peer_connections(s.daemon), 0);
    finish(&s);
}

Test(replay_command, a_daemon_that_is_not_there_is_exit_3) {
    scene s;
    begin_replay(&s, NULL);
    peer_free(s.daemon);
    s.daemon = NULL;
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "ledger.db")), 3);
    EXPECT_TEXT(&s.c, "code", "replay-incomplete");
    EXPECT_TEXT(&s.c, "rows.0.verdict", "no-result");
    EXPECT_TEXT(&s.c, "rows.0.daemons.0.failure.code", "describe-failed");
    finish(&s);
}

/* Each daemon may have a token of its own, so that none is shown to another. */
Test(replay_command, tokens_by_number) {
    scene s;
    begin_replay(&s, NULL);
    const char *const env[] = {"PLIMSOLL_CALLER_TOKEN=for-all", "PLIMSOLL_CALLER_TOKEN_1=for-one", NULL};
    s.c.how.env = env;
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "ledger.db")), 0);
    peer_stop(s.daemon);
    char value[64];
    cr_expect_eq(peer_header(peer_seen(s.daemon, 0), "Authorization", value, sizeof value), 1);
    cr_expect_str_eq(value, "Bearer for-one");
    finish(&s);
}
