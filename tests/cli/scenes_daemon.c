#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/cli/scenes.h"
#include "tests/support/canon.h"
#include "tests/support/changes.h"
#include "tests/support/forge.h"
#include "tests/support/live_session.h"

/* The sample's request as proto3 JSON, with other code. */
#define REQUEST(code)                                                                                                  \
    "{\"minimumIsolation\":\"container\",\"traceId\":\"trace-1\",\"timeoutMs\":5000,\"softwareRule\":{\"mode\":"       \
    "\"exact\",\"identities\":[\"" SAMPLE_IDENTITY "\"]},\"javascript\":{\"code\":\"" code "\"}}\n"

/* A scripted daemon, and two good samples that are not yet in its script. */
typedef struct stage {
    cli_case c;
    sample first, second;
    live script;
    peer *daemon;
    char url[128];
} stage;

static void set_stage(stage *s) {
    memset(s, 0, sizeof *s);
    cli_begin(&s->c);
    cli_keys(&s->c);
    cli_write_text(&s->c, "request.json", REQUEST("console.log(1 + 1)"));
    cli_write_text(&s->c, "calls.jsonl", REQUEST("one()") REQUEST("two()"));
    sample_init(&s->first);
    sample_init(&s->second);
}

static void serve(stage *s) {
    s->daemon = peer_start(s->script.steps, s->script.count, NULL);
    cr_assert_not_null(s->daemon);
    (void)snprintf(s->url, sizeof s->url, "%s", peer_url(s->daemon));
}

/* The daemon is gone, and its port closed. */
static void leave(stage *s) {
    if (s->daemon != NULL) peer_free(s->daemon);
    s->daemon = NULL;
    live_free(&s->script);
}

static void clear_stage(stage *s) {
    leave(s);
    sample_free(&s->first);
    sample_free(&s->second);
    cli_end(&s->c);
}

/* ---- run -------------------------------------------------------------------------------------- */

static void run(documents *d, stage *s, const char *name, int exit, const char *code) {
    documents_take(d, &s->c, name, exit, code,
                   ARGS("run", "-d", s->url, "-k", "k.key", "-l", "ledger.db", "request.json"));
}

/* Runs that are answered, and what the ledger then has. */
static void run_answered(documents *d, stage *s) {
    live_run(&s->script, &s->first);
    canon_set(&s->second.response->javascript->stdout, "\xff\x1b[2J\xe2\x80");
    sample_seal(&s->second, SEAL_ALL);
    live_run(&s->script, &s->second);
    change_other_exit_code(&s->second);
    sample_seal(&s->second, SEAL_ALL);
    live_run(&s->script, &s->second);
    canon_set(&s->second.after->sandbox, "\x1b[31mbwrap");
    live_run(&s->script, &s->second);
    serve(s);
    run(d, s, "run-good", 0, "ok");
    documents_take(d, &s->c, "run-odd-ledger", 0, "ok",
                   ARGS("run", "-d", s->url, "-k", "k.key", "-l", "\xff.db", "request.json"));
    documents_take(d, &s->c, "run-work-failed", 1, "work-failed",
                   ARGS("run", "-d", s->url, "-k", "k.key", "-l", "ledger.db", "--require-success", "request.json"));
    run(d, s, "run-failed", 1, "provider-drift");
    documents_take(d, &s->c, "show-ledger", 0, "ok", ARGS("show", "-p", "k.pub", "ledger.db"));
    documents_take(d, &s->c, "show-finding", 0, "ok", ARGS("show", "-p", "k.pub", "ledger.db", "3"));
    EXPECT_TEXT(&s->c, "shown.kind", "finding");
    documents_take(d, &s->c, "verify-ledger", 0, "ok", ARGS("verify", "-p", "k.pub", "ledger.db"));
    cr_expect_eq(cli_number(&s->c, "inputs.0.unsigned_findings"), 1);
}

/* The ledger is locked when the answer is there. */
static void run_unkept(documents *d, stage *s) {
    live_run(&s->script, &s->first);
    serve(s);
    sqlite3 *other = NULL;
    cr_assert_eq(sqlite3_open(forge_text("%s/ledger.db", s->c.folder), &other), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    documents_take(d, &s->c, "run-unkept", 5, "ledger-locked",
                   ARGS("run", "-d", s->url, "-k", "k.key", "-l", "ledger.db", "--lock-wait", "0", "request.json"));
    sqlite3_close(other);
}

static void run_without_answer(documents *d, stage *s) {
    live_describe(&s->script, s->first.before);
    live_step(&s->script, live_refusal());
    live_describe(&s->script, s->first.before);
    live_step(&s->script, (peer_step){.head = NULL, .end = PEER_RESET});
    live_describe(&s->script, s->first.before);
    live_step(&s->script, (peer_step){.head = "HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"});
    serve(s);
    run(d, s, "run-refused", 3, "refused-capacity");
    run(d, s, "run-reset", 4, "unanswered-connection");
    run(d, s, "run-unbound", 4, "unanswered-error");
    documents_take(d, &s->c, "verify-findings-only", 0, "ok", ARGS("verify", "-p", "k.pub", "ledger.db"));
}

static void run_before_anything(documents *d, stage *s) {
    run(d, s, "run-nobody", 3, "describe-failed");
    documents_take(d, &s->c, "run-url", 3, "unsent-url",
                   ARGS("run", "-d", "http://user@127.0.0.1:1", "-k", "k.key", "-l", "l.db", "request.json"));
    documents_take(d, &s->c, "run-no-key", 5, "key-unreadable",
                   ARGS("run", "-d", s->url, "-l", "l.db", "request.json"));
    documents_take(d, &s->c, "run-no-ledger", 5, "ledger-missing",
                   ARGS("run", "-d", s->url, "-k", "k.key", "-l", "no/l.db", "request.json"));
    documents_take(d, &s->c, "run-no-request", 5, "io",
                   ARGS("run", "-d", s->url, "-k", "k.key", "-l", "l.db", "missing.json"));
    cli_write_text(&s->c, "request.json", "{\"javascript\":{\"code\":\"\"}}");
    run(d, s, "run-invalid", 3, "request-invalid");
    cli_write_text(&s->c, "request.json", "{\"javascript\":{\"kode\xff\":\"1\"}}");
    run(d, s, "run-request-json", 3, "request-json");
}

void scene_run(documents *d) {
    stage s;
    set_stage(&s);
    run_answered(d, &s);
    leave(&s);
    run_unkept(d, &s);
    leave(&s);
    run_without_answer(d, &s);
    leave(&s);
    run_before_anything(d, &s);
    clear_stage(&s);
}

/* ---- session ---------------------------------------------------------------------------------- */

static void open_session(stage *s) {
    live_call(&s->first, 1, "", "one()");
    live_call(&s->second, 2, live_hex(&s->first.record->record_sha256), "two()");
    live_describe(&s->script, s->first.before);
    cs_open_session_response opened = live_opened();
    live_open(&s->script, &opened);
}

static void close_session(stage *s, uint64_t calls, const sample *last) {
    live_close(&s->script, LIVE_FINGERPRINT, calls, last != NULL ? live_hex(&last->record->record_sha256) : "");
    live_describe(&s->script, s->first.after);
}

static void good_session(stage *s) {
    open_session(s);
    live_call_answer(&s->script, &s->first, 0);
    live_call_answer(&s->script, &s->second, 0);
    close_session(s, 2, &s->second);
}

static void session(documents *d, stage *s, const char *name, int exit, const char *code) {
    serve(s);
    /* Each into a ledger of its own, for the script has one and the same session every time. */
    documents_take(d, &s->c, name, exit, code,
                   ARGS("session", "-d", s->url, "-k", "k.key", "-l", forge_text("%s.db", name), "calls.jsonl"));
    leave(s);
}

static void session_answered(documents *d, stage *s) {
    good_session(s);
    session(d, s, "session-good", 0, "ok");
    open_session(s);
    live_call_answer(&s->script, &s->first, 0);
    live_step(&s->script, live_refusal());
    close_session(s, 1, &s->first);
    session(d, s, "session-call-refused", 3, "refused-capacity");
    open_session(s);
    canon_set(&s->first.record->provider, "other");
    sample_seal(&s->first, SEAL_RECORD | SEAL_BYTES);
    live_call_answer(&s->script, &s->first, 0);
    close_session(s, 1, &s->first);
    session(d, s, "session-call-failed", 1, "provider-mismatch");
    canon_set(&s->first.record->provider, "gvisor");
}

static void session_unanswered(documents *d, stage *s) {
    open_session(s);
    live_call_answer(&s->script, &s->first, 0);
    live_call_answer(&s->script, &s->second, 0);
    live_step(&s->script, (peer_step){.end = PEER_CLOSE});
    session(d, s, "session-unclosed", 5, "session-unclosed");
    open_session(s);
    live_step(&s->script, (peer_step){.end = PEER_CLOSE});
    close_session(s, 0, NULL);
    session(d, s, "session-call-lost", 4, "unanswered-connection");
    open_session(s);
    live_step(&s->script, (peer_step){.end = PEER_CLOSE});
    close_session(s, 1, &s->first);
    session(d, s, "session-call-lost-counted", 4, "unanswered-connection");
    open_session(s);
    live_unanswered(&s->script, &s->first, 0);
    live_call(&s->second, 2, live_hex(&s->first.record->record_sha256), "two()");
    live_call_answer(&s->script, &s->second, 0);
    close_session(s, 2, &s->second);
    session(d, s, "session-call-unanswered", 4, "unanswered-error");
}

static void session_unopened(documents *d, stage *s) {
    live_describe(&s->script, s->first.before);
    live_step(&s->script, live_refusal());
    session(d, s, "session-refused", 3, "refused-capacity");
    live_describe(&s->script, s->first.before);
    live_step(&s->script, (peer_step){.end = PEER_CLOSE});
    session(d, s, "session-open-lost", 3, "session-open-failed");
    live_describe(&s->script, s->first.before);
    live_unanswered(&s->script, NULL, 0);
    session(d, s, "session-open-error", 3, "session-open-failed");
    live_describe(&s->script, s->first.before);
    cs_open_session_response opened = live_opened();
    opened.session_id.len--;
    live_open(&s->script, &opened);
    session(d, s, "session-odd-id", 1, "session-id");
    session(d, s, "session-nobody", 3, "describe-failed");
    cli_write_text(&s->c, "calls.jsonl", "{\"javascript\":");
    session(d, s, "session-request-json", 3, "request-json");
    cli_write_text(&s->c, "calls.jsonl", "\n");
    session(d, s, "session-nothing", 6, "nothing-to-check");
}

/* A signal ends the wait for a call; the session is still closed. */
static void session_interrupted(documents *d, stage *s) {
    open_session(s);
    live_step(&s->script, (peer_step){.head = NULL, .end = PEER_STALL});
    close_session(s, 0, NULL);
    serve(s);
    const char *const *command = ARGS("session", "--json", "-d", s->url, "-k", "k.key", "-l", "new.db", "calls.jsonl");
    EXPECT_EXIT(&s->c, cli_interrupt(&s->c, SIGTERM, s->daemon, 3, command), 4);
    documents_put(d, "session-interrupted", s->c.end.out, s->c.end.out_len);
    leave(s);
}

void scene_session(documents *d) {
    stage s;
    set_stage(&s);
    session_answered(d, &s);
    session_interrupted(d, &s);
    session_unanswered(d, &s);
    session_unopened(d, &s);
    clear_stage(&s);
}

/* ---- replay ----------------------------------------------------------------------------------- */

static void replay(documents *d, stage *s, const char *name, int exit, const char *code) {
    if (s->daemon == NULL) serve(s);
    documents_take(d, &s->c, name, exit, code, ARGS("replay", "-p", "k.pub", "-d", s->url, "ledger.db"));
    leave(s);
}

/* A run of its own. */
static void again(stage *s, sample *run) {
    sample_again(run);
    live_run(&s->script, run);
}

static void replay_run(documents *d, stage *s) {
    live_run(&s->script, &s->first);
    serve(s);
    EXPECT_EXIT(&s->c, cli_json(&s->c, ARGS("run", "-d", s->url, "-k", "k.key", "-l", "ledger.db", "request.json")), 0);
    leave(s);
    again(s, &s->first);
    again(s, &s->first);
    replay(d, s, "replay-reproduced", 0, "ok");
    canon_set(&s->second.response->javascript->stdout, "2\n\xff\x1b[2J\xe2\x80\xae\xe2\x82");
    sample_seal(&s->second, SEAL_ALL);
    again(s, &s->second);
    again(s, &s->second);
    replay(d, s, "replay-different", 1, "replay-differs");
    again(s, &s->first);
    again(s, &s->second);
    replay(d, s, "replay-unstable", 1, "replay-unstable");
    live_run(&s->script, &s->first);
    live_run(&s->script, &s->first);
    replay(d, s, "replay-repeated", 5, "replay-incomplete");
    again(s, &s->first);
    live_describe(&s->script, s->first.before);
    live_step(&s->script, (peer_step){.head = NULL, .end = PEER_RESET});
    replay(d, s, "replay-lost", 4, "replay-incomplete");
    serve(s);
    peer_free(s->daemon); /* its URL is still known, and the port closed */
    s->daemon = NULL;
    documents_take(d, &s->c, "replay-nobody", 3, "replay-incomplete",
                   ARGS("replay", "-p", "k.pub", "-d", s->url, "ledger.db"));
}

static void replay_nothing(documents *d, stage *s) {
    EXPECT_EXIT(&s->c, cli_run(&s->c, ARGS("keygen", "-o", "other")), 0);
    documents_take(d, &s->c, "replay-other-key", 1, "envelope-key-unknown",
                   ARGS("replay", "-p", "other.pub", "-d", s->url, "ledger.db"));
    documents_take(d, &s->c, "replay-no-entry", 6, "entry-unknown",
                   ARGS("replay", "-p", "k.pub", "-d", s->url, "--entry", "9", "ledger.db"));
    documents_take(d, &s->c, "replay-missing", 5, "io", ARGS("replay", "-p", "k.pub", "-d", s->url, "missing"));
    documents_take(d, &s->c, "replay-usage", 2, "usage", ARGS("replay", "-p", "k.pub", "ledger.db"));
}

static void replay_session(documents *d, stage *s) {
    good_session(s);
    serve(s);
    EXPECT_EXIT(&s->c, cli_json(&s->c, ARGS("session", "-d", s->url, "-k", "k.key", "-l", "session.db", "calls.jsonl")),
                0);
    leave(s);
    for (int i = 0; i < 2; i++) {
        s->first.record->started_unix_ms--;
        good_session(s);
    }
    serve(s);
    documents_take(d, &s->c, "replay-session", 0, "ok", ARGS("replay", "-p", "k.pub", "-d", s->url, "session.db"));
}

void scene_replay(documents *d) {
    stage s;
    set_stage(&s);
    replay_run(d, &s);
    replay_nothing(d, &s);
    replay_session(d, &s);
    clear_stage(&s);
}

/* ---- tiers ------------------------------------------------------------------------------------ */

/* No scripted daemon can answer a probe, whose nonce is fresh: what one says can only fail the checks. */
static void tiers_answered(documents *d, stage *s) {
    live_describe(&s->script, s->first.before);
    live_run(&s->script, &s->first);
    canon_set(&s->second.record->isolation, "container");
    sample_seal(&s->second, SEAL_RECORD | SEAL_BYTES);
    live_describe(&s->script, s->second.before);
    live_run(&s->script, &s->second);
    live_describe(&s->script, s->first.before);
    live_describe(&s->script, s->first.before);
    live_step(&s->script, live_refusal());
    live_describe(&s->script, s->first.before);
    live_describe(&s->script, s->first.before);
    live_step(&s->script, (peer_step){.head = NULL, .end = PEER_RESET});
    serve(s);
    documents_take(d, &s->c, "tiers-run-failed", 1, "request-digest", ARGS("tiers", "-d", s->url));
    documents_take(d, &s->c, "tiers-run-kept", 1, "request-digest",
                   ARGS("tiers", "-d", s->url, "-k", "k.key", "-l", "ledger.db", "--host-view"));
    cr_expect_eq(cli_number(&s->c, "entry"), 1);
    EXPECT_TEXT(&s->c, "rules.0.verdict", "contradicted");
    documents_take(d, &s->c, "tiers-refused", 3, "refused-capacity",
                   ARGS("tiers", "-d", s->url, "--cross-check", "statements"));
    documents_take(d, &s->c, "tiers-lost", 4, "unanswered-connection",
                   ARGS("tiers", "-d", s->url, "-k", "k.key", "-l", "ledger.db"));
    cr_expect_eq(cli_number(&s->c, "entry"), 2);
}

void scene_tiers(documents *d) {
    stage s;
    set_stage(&s);
    tiers_answered(d, &s);
    leave(&s);
    documents_take(d, &s.c, "tiers-nobody", 3, "describe-failed", ARGS("tiers", "-d", s.url, "--host-view"));
    documents_take(d, &s.c, "tiers-url", 3, "unsent-url", ARGS("tiers", "-d", "http://user@127.0.0.1:1"));
    documents_take(d, &s.c, "tiers-no-daemon", 2, "usage", ARGS("tiers"));
    documents_take(d, &s.c, "tiers-no-key", 5, "key-unreadable", ARGS("tiers", "-d", s.url, "-l", "ledger.db"));
    documents_take(d, &s.c, "tiers-no-ledger", 5, "ledger-missing",
                   ARGS("tiers", "-d", s.url, "-k", "k.key", "-l", "no/l.db"));
    clear_stage(&s);
}
