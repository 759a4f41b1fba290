/* `countersign run` against scripted daemons: every exit, and what is left behind. */
#include "tests/cli/run_scene.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/canon.h"
#include "tests/support/changes.h"

/* None is left behind that was made for nothing; one that was there before stays, empty as it was. */
static void expect_no_ledger(run_scene *s) {
    static const char *const files[] = {"ledger.db", "ledger.db-wal", "ledger.db-shm", "ledger.db-journal"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        cr_expect_neq(access(forge_text("%s/%s", s->c.folder, files[i]), F_OK), 0, "%s", files[i]);
}

/* ---- exit 0 --------------------------------------------------------------------------------- */

Test(run_command, a_good_run_is_signed_kept_and_told) {
    run_scene s;
    run_scene_begin(&s);
    run_scene_serve_runs(&s, 3, NULL);
    EXPECT_EXIT(&s.c, run_scene_run(&s), 0);
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
    EXPECT_EXIT(&s.c, run_scene_run(&s), 0);
    EXPECT_TEXT(&s.c, "warnings.1", "record-duplicate");
    EXPECT_HAS(cli_text(&s.c, "message"), "its record is that of entry 1 already");
    run_scene_expect(&s, 0, 1, 0); /* the same record several times counts once */
    cr_expect_eq(cli_number(&s.c, "inputs.0.duplicates"), 2);
    run_scene_end(&s);
}

/* Exit 0 is about the record; whether the code succeeded is asked for by name. */
Test(run_command, work_that_fails_is_a_good_run_unless_success_is_required) {
    run_scene s;
    run_scene_begin(&s);
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
    run_scene_serve(&s);
    EXPECT_EXIT(&s.c, run_scene_run(&s), 0);
    const char *const *required =
        ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "--require-success", "request.json");
    EXPECT_EXIT(&s.c, cli_json(&s.c, required), 1);
    EXPECT_TEXT(&s.c, "code", "work-failed");
    cr_expect(json_is_true(cli_member(&s.c, "signed")));
    cr_expect_eq(cli_number(&s.c, "entry"), 2);
    EXPECT_EXIT(&s.c, cli_json(&s.c, required), 0);
    run_scene_expect(&s, 0, 2, 0);
    run_scene_end(&s);
}

Test(run_command, the_request_may_come_from_standard_input) {
    run_scene s;
    run_scene_begin(&s);
    run_scene_serve_runs(&s, 1, NULL);
    s.c.how.input = RUN_SCENE_REQUEST;
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "-")), 0);
    run_scene_end(&s);
}

/* Key and token come from the environment; the token reaches the daemon, and nothing else of ours does. */
Test(run_command, secrets_come_from_the_environment) {
    run_scene s;
    run_scene_begin(&s);
    run_scene_serve_runs(&s, 1, NULL);
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
    run_scene_end(&s);
}

Test(run_command, json_is_spoken_when_asked_for) {
    run_scene s;
    run_scene_begin(&s);
    run_scene_serve_runs(&s, 1, NULL); /* answers in binary, which is no JSON */
    EXPECT_EXIT(
        &s.c, cli_json(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "l.db", "--codec", "json", "request.json")),
        3);
    EXPECT_TEXT(&s.c, "code", "describe-failed");
    peer_stop(s.daemon);
    char value[64];
    cr_expect_eq(peer_header(peer_seen(s.daemon, 0), "Content-Type", value, sizeof value), 1);
    cr_expect_str_eq(value, "application/json");
    run_scene_end(&s);
}

/* ---- exit 1 --------------------------------------------------------------------------------- */

static void drift(sample *s) {
    canon_set(&s->after->sandbox, "\x1b[31mbwrap");
}

Test(run_command, a_failed_check_is_exit_1_and_a_finding) {
    run_scene s;
    run_scene_begin(&s);
    run_scene_serve_runs(&s, 2, drift);
    EXPECT_EXIT(&s.c, run_scene_run(&s), 1);
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
    run_scene_expect(&s, 6, 0, 2);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("show", "-p", "k.pub", "ledger.db", "1")), 0);
    EXPECT_TEXT(&s.c, "shown.kind", "finding");
    EXPECT_TEXT(&s.c, "shown.verification", "unsigned");
    EXPECT_TEXT(&s.c, "shown.finding_code", "provider-drift");
    run_scene_end(&s);
}

/* ---- exit 3 --------------------------------------------------------------------------------- */

Test(run_command, a_refusal_is_exit_3_and_leaves_nothing) {
    run_scene s;
    run_scene_begin(&s);
    sample good;
    sample_init(&good);
    live_describe(&s.script, good.before);
    live_step(&s.script, live_refusal());
    sample_free(&good);
    run_scene_serve(&s);
    EXPECT_EXIT(&s.c, run_scene_run(&s), 3);
    EXPECT_TEXT(&s.c, "code", "refused-capacity");
    EXPECT_TEXT(&s.c, "state", "refused");
    EXPECT_TEXT(&s.c, "reason", "capacity");
    cr_expect(json_is_true(cli_member(&s.c, "elsewhere")));
    expect_no_ledger(&s);
    run_scene_end(&s);
}

Test(run_command, nobody_there_is_exit_3) {
    run_scene s;
    run_scene_begin(&s);
    run_scene_serve(&s);
    peer_free(s.daemon); /* now the port is closed */
    s.daemon = NULL;
    EXPECT_EXIT(&s.c, run_scene_run(&s), 3);
    EXPECT_TEXT(&s.c, "code", "describe-failed");
    EXPECT_TEXT(&s.c, "state", "unsent");
    cr_expect(json_is_false(cli_member(&s.c, "sent")));
    expect_no_ledger(&s);
    run_scene_end(&s);
}

/* Every command that makes a ledger, and fails before anything is in it; the twin has one that was there before. */
Test(run_command, a_ledger_that_was_made_for_nothing_goes_again) {
    run_scene s;
    run_scene_begin(&s);
    run_scene_serve(&s);
    peer_free(s.daemon);
    s.daemon = NULL;
    cli_write_text(&s.c, "calls.jsonl", "{\"javascript\":{\"code\":\"1\"}}\n");
    cli_write_text(&s.c, "damaged.jsonl", "{}\n");
    const struct {
        int exit;
        const char *argv[12];
    } commands[] = {
        {3, {"run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "request.json"}},
        {3, {"session", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "calls.jsonl"}},
        {3, {"tiers", "-d", s.url, "-k", "k.key", "-l", "ledger.db"}},
        {1, {"import", "-p", "k.pub", "-l", "ledger.db", "damaged.jsonl"}},
        {5, {"import", "-p", "k.pub", "-l", "ledger.db", "missing.jsonl"}},
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        EXPECT_EXIT(&s.c, cli_json(&s.c, commands[i].argv), commands[i].exit);
        expect_no_ledger(&s);
    }
    cli_write_text(&s.c, "ledger.db", "");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        EXPECT_EXIT(&s.c, cli_json(&s.c, commands[i].argv), commands[i].exit);
        EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "-p", "k.pub", "ledger.db")), 6);
    }
    run_scene_end(&s);
}

/* Described, and then gone before the run was sent. */
Test(run_command, a_daemon_that_dies_before_the_run_is_exit_3) {
    run_scene s;
    run_scene_begin(&s);
    sample good;
    sample_init(&good);
    live_describe(&s.script, good.before);
    s.script.steps[0].end = PEER_DIE;
    sample_free(&good);
    run_scene_serve(&s);
    EXPECT_EXIT(&s.c, run_scene_run(&s), 3);
    EXPECT_TEXT(&s.c, "code", "unsent-connect");
    EXPECT_TEXT(&s.c, "state", "unsent");
    cr_expect(json_is_false(cli_member(&s.c, "sent")));
    expect_no_ledger(&s);
    run_scene_end(&s);
}

Test(run_command, a_url_that_is_refused_is_exit_3) {
    run_scene s;
    run_scene_begin(&s);
    EXPECT_EXIT(
        &s.c, cli_json(&s.c, ARGS("run", "-d", "http://user@127.0.0.1:1", "-k", "k.key", "-l", "l.db", "request.json")),
        3);
    EXPECT_TEXT(&s.c, "code", "unsent-url");
    EXPECT_EXIT(
        &s.c, cli_json(&s.c, ARGS("run", "-d", "http://192.0.2.1:1", "-k", "k.key", "-l", "l.db", "request.json")), 3);
    EXPECT_TEXT(&s.c, "code", "unsent-url");
    run_scene_end(&s);
}

Test(run_command, a_request_that_no_daemon_takes_is_exit_3) {
    run_scene s;
    run_scene_begin(&s);
    run_scene_serve_runs(&s, 1, NULL);
    cli_write_text(&s.c, "request.json", "{\"javascript\":{\"code\":\"\"}}");
    EXPECT_EXIT(&s.c, run_scene_run(&s), 3);
    EXPECT_TEXT(&s.c, "code", "request-invalid");
    EXPECT_TEXT(&s.c, "reason", "request");
    cr_expect(json_is_false(cli_member(&s.c, "elsewhere")));
    cli_write_text(&s.c, "request.json", "{\"javascript\":{\"kode\":\"1\"}}");
    EXPECT_EXIT(&s.c, run_scene_run(&s), 3);
    EXPECT_TEXT(&s.c, "code", "request-json");
    EXPECT_HAS(cli_text(&s.c, "where"), "request.json");
    EXPECT_HAS(cli_text(&s.c, "where"), "javascript");
    cli_write_text(&s.c, "request.json", "not json");
    EXPECT_EXIT(&s.c, run_scene_run(&s), 3);
    EXPECT_TEXT(&s.c, "code", "request-json");
    peer_stop(s.daemon);
    cr_expect_eq(peer_connections(s.daemon), 0);
    run_scene_end(&s);
}

/* ---- exit 4 --------------------------------------------------------------------------------- */

Test(run_command, no_believable_answer_is_exit_4_and_a_finding) {
    run_scene s;
    run_scene_begin(&s);
    sample good;
    sample_init(&good);
    live_describe(&s.script, good.before);
    live_step(&s.script, (peer_step){.head = NULL, .end = PEER_RESET});
    sample_free(&good);
    run_scene_serve(&s);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("run", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "request.json")), 4);
    EXPECT_HAS(s.c.end.err, "[unanswered-connection]");
    EXPECT_HAS(s.c.end.err, "before you send it again");
    peer_stop(s.daemon);
    cr_expect_eq(peer_connections(s.daemon), 2);
    run_scene_expect(&s, 6, 0, 1);
    run_scene_end(&s);
}

/* ---- exit 5 --------------------------------------------------------------------------------- */

/* Each of these must be found before the daemon is asked for anything. */
Test(run_command, trouble_of_our_own_is_exit_5_before_anything_is_sent) {
    run_scene s;
    run_scene_begin(&s);
    run_scene_serve_runs(&s, 1, NULL);
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
    EXPECT_EXIT(&s.c, run_scene_run(&s), 5);
    EXPECT_TEXT(&s.c, "code", "key-permissions");
    peer_stop(s.daemon);
    cr_expect_eq(peer_connections(s.daemon), 0);
    run_scene_end(&s);
}

/* The ledger is locked when the answer is there. */
Test(run_command, a_signed_run_that_can_not_be_kept_is_exit_5_and_a_side_file) {
    run_scene s;
    run_scene_begin(&s);
    run_scene_serve_runs(&s, 2, NULL);
    EXPECT_EXIT(&s.c, run_scene_run(&s), 0);
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
    run_scene_expect(&s, 0, 1, 0);
    run_scene_end(&s);
}
