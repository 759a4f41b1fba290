/* `countersign session` against scripted daemons: every exit, and what is left behind. */
#include "tests/cli/cli_case.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/canon.h"
#include "tests/support/expect.h"
#include "tests/support/live_session.h"

/* The sample's request with other code, as proto3 JSON in one line. */
#define CALL(code)                                                                                                     \
    "{\"minimumIsolation\":\"container\",\"traceId\":\"trace-1\",\"timeoutMs\":5000,\"softwareRule\":{\"mode\":"       \
    "\"exact\",\"identities\":[\"" SAMPLE_IDENTITY "\"]},\"javascript\":{\"code\":\"" code "\"}}\n"
#define TWO_CALLS CALL("one()") "\n" CALL("two()")

typedef struct scene {
    cli_case c;
    sample first, second;
    live script;
    peer *daemon;
    char url[128];
} scene;

/* A daemon that opened a session, and two good calls that are not yet in its script. */
static void begin(scene *s) {
    memset(s, 0, sizeof *s);
    cli_begin(&s->c);
    cli_keys(&s->c);
    cli_write_text(&s->c, "calls.jsonl", TWO_CALLS);
    sample_init(&s->first);
    sample_init(&s->second);
    live_call(&s->first, 1, "", "one()");
    live_call(&s->second, 2, live_hex(&s->first.record->record_sha256), "two()");
    live_describe(&s->script, s->first.before);
    cs_open_session_response opened = live_opened();
    live_open(&s->script, &opened);
}

static void serve(scene *s) {
    s->daemon = peer_start(s->script.steps, s->script.count, NULL);
    cr_assert_not_null(s->daemon);
    (void)snprintf(s->url, sizeof s->url, "%s", peer_url(s->daemon));
}

static void close_after(scene *s, uint64_t calls, const sample *last) {
    live_close(&s->script, LIVE_FINGERPRINT, calls, live_hex(&last->record->record_sha256));
    live_describe(&s->script, s->first.after);
    serve(s);
}

static void serve_good(scene *s) {
    live_call_answer(&s->script, &s->first, 0);
    live_call_answer(&s->script, &s->second, 0);
    close_after(s, 2, &s->second);
}

static int session_json(scene *s) {
    return cli_json(&s->c, ARGS("session", "-d", s->url, "-k", "k.key", "-l", "ledger.db", "calls.jsonl"));
}

static void expect_ledger(scene *s, int exit, json_int_t runs, json_int_t sessions) {
    EXPECT_EXIT(&s->c, cli_json(&s->c, ARGS("verify", "-p", "k.pub", "ledger.db")), exit);
    cr_expect_eq(cli_number(&s->c, "inputs.0.runs"), runs, "%s", s->c.end.out);
    cr_expect_eq(cli_number(&s->c, "inputs.0.sessions"), sessions, "%s", s->c.end.out);
}

static void finish(scene *s) {
    EXPECT_HAS_NOT(s->c.end.out, LIVE_ID);
    EXPECT_HAS_NOT(s->c.end.err, LIVE_ID);
    peer_free(s->daemon);
    live_free(&s->script);
    sample_free(&s->first);
    sample_free(&s->second);
    cli_end(&s->c);
}

Test(session_command, a_good_session_is_signed_kept_and_told) {
    scene s;
    begin(&s);
    serve_good(&s);
    EXPECT_EXIT(&s.c, session_json(&s), 0);
    EXPECT_HAS_NOT(s.c.end.out, LIVE_ID);
    EXPECT_TEXT(&s.c, "session", LIVE_FINGERPRINT);
    EXPECT_TEXT(&s.c, "provider", "gvisor");
    EXPECT_TEXT(&s.c, "calls.0.verdict", "passed");
    EXPECT_TEXT(&s.c, "calls.1.outputs.0.text", "2\n");
    EXPECT_TEXT(&s.c, "calls.1.record.sequence", "2");
    cr_expect_eq(cli_number(&s.c, "calls.1.entry"), 2);
    EXPECT_TEXT(&s.c, "close.verdict", "passed");
    cr_expect(json_is_true(cli_member(&s.c, "close.signed")));
    cr_expect_eq(cli_number(&s.c, "entry"), 3);
    expect_ledger(&s, 0, 2, 1);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("show", "ledger.db")), 0);
    EXPECT_HAS(s.c.end.out, "session-call");
    EXPECT_HAS(s.c.end.out, "close");
    finish(&s);
}

Test(session_command, the_same_for_people) {
    scene s;
    begin(&s);
    serve_good(&s);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("session", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "calls.jsonl")), 0);
    EXPECT_HAS(s.c.end.out, "session: " LIVE_FINGERPRINT);
    EXPECT_HAS(s.c.end.out, "provider: gvisor, tier kernel (floor: (none))");
    EXPECT_HAS(s.c.end.out, "entry 2");
    EXPECT_HAS(s.c.end.out, "entry 3");
    finish(&s);
}

/* A signal ends the wait, and the session is still closed and described. */
Test(session_command, a_signal_still_closes_the_session) {
    scene s;
    begin(&s);
    live_call_answer(&s.script, &s.first, 0);
    live_step(&s.script, (peer_step){.head = NULL, .end = PEER_STALL});
    close_after(&s, 1, &s.first);
    const char *const *command =
        ARGS("session", "--json", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "calls.jsonl");
    EXPECT_EXIT(&s.c, cli_interrupt(&s.c, SIGTERM, s.daemon, 4, command), 4);
    EXPECT_HAS(s.c.end.out, "\"unanswered-interrupted\"");
    peer_stop(s.daemon);
    cr_expect_eq(peer_connections(s.daemon), 6);
    expect_ledger(&s, 0, 1, 1); /* the call that was stopped never counted, and the close says so */
    finish(&s);
}

Test(session_command, a_higher_floor_from_standard_input) {
    scene s;
    begin(&s);
    serve_good(&s);
    s.c.how.input = TWO_CALLS;
    EXPECT_EXIT(&s.c,
                cli_run(&s.c, ARGS("session", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "--floor", "kernel", "-")),
                1); /* the records are of requests whose floor is lower than what was sent */
    EXPECT_HAS(s.c.end.out, "tier kernel (floor: kernel)");
    EXPECT_HAS(s.c.end.out, "[request-digest]");
    EXPECT_HAS(s.c.end.out, "[session-stopped]");
    EXPECT_HAS(s.c.end.out, "[session-unclosed]"); /* the script still answers as to a call */
    finish(&s);
}

Test(session_command, a_call_without_an_answer_is_4) {
    scene s;
    begin(&s);
    live_unanswered(&s.script, &s.first, 0);
    live_call(&s.second, 2, live_hex(&s.first.record->record_sha256), "two()");
    live_call_answer(&s.script, &s.second, 0);
    close_after(&s, 2, &s.second);
    EXPECT_EXIT(&s.c, session_json(&s), 4);
    EXPECT_TEXT(&s.c, "code", "unanswered-error");
    EXPECT_TEXT(&s.c, "calls.0.verdict", "may-have-run");
    EXPECT_TEXT(&s.c, "calls.0.record.unanswered", "internal");
    EXPECT_TEXT(&s.c, "calls.1.verdict", "passed");
    EXPECT_TEXT(&s.c, "close.verdict", "passed");
    expect_ledger(&s, 0, 2, 1);
    cr_expect_eq(cli_number(&s.c, "inputs.0.unanswered"), 1, "%s", s.c.end.out);
    finish(&s);
}

Test(session_command, after_an_answer_that_never_came_nothing_more_is_sent) {
    scene s;
    begin(&s);
    live_step(&s.script, (peer_step){.end = PEER_CLOSE});
    live_close(&s.script, LIVE_FINGERPRINT, 0, "");
    live_describe(&s.script, s.first.after);
    serve(&s);
    EXPECT_EXIT(&s.c, session_json(&s), 4);
    EXPECT_TEXT(&s.c, "code", "unanswered-connection");
    EXPECT_TEXT(&s.c, "calls.1.error.code", "session-stopped");
    EXPECT_TEXT(&s.c, "close.verdict", "passed"); /* and says that the lost call did not run */
    peer_stop(s.daemon);
    cr_expect_eq(peer_connections(s.daemon), 5);
    finish(&s);
}

Test(session_command, a_refused_call_is_3_and_the_others_go_on) {
    scene s;
    begin(&s);
    live_call_answer(&s.script, &s.first, 0);
    live_step(&s.script, live_refusal());
    close_after(&s, 1, &s.first);
    EXPECT_EXIT(&s.c, session_json(&s), 3);
    EXPECT_TEXT(&s.c, "code", "refused-capacity");
    EXPECT_TEXT(&s.c, "calls.0.verdict", "passed");
    cr_expect_null(cli_member(&s.c, "calls.0.error"));
    EXPECT_TEXT(&s.c, "calls.1.verdict", "not-run");
    EXPECT_TEXT(&s.c, "calls.1.error.code", "refused-capacity");
    EXPECT_TEXT(&s.c, "calls.1.reason", "capacity");
    cr_expect_null(cli_member(&s.c, "calls.1.entry"), "it is kept nowhere");
    expect_ledger(&s, 0, 1, 1);
    finish(&s);
}

Test(session_command, a_close_without_an_answer_is_5) {
    scene s;
    begin(&s);
    live_call_answer(&s.script, &s.first, 0);
    live_call_answer(&s.script, &s.second, 0);
    live_step(&s.script, (peer_step){.end = PEER_CLOSE});
    serve(&s);
    EXPECT_EXIT(&s.c, session_json(&s), 5);
    EXPECT_TEXT(&s.c, "code", "session-unclosed");
    expect_ledger(&s, 1, 2, 0);
    finish(&s);
}

Test(session_command, a_session_that_is_not_opened_is_3) {
    scene s;
    begin(&s);
    s.script.count--;
    live_step(&s.script, live_refusal());
    serve(&s);
    EXPECT_EXIT(&s.c, session_json(&s), 3);
    EXPECT_TEXT(&s.c, "code", "refused-capacity");
    cr_expect(json_is_false(cli_member(&s.c, "opened")));
    EXPECT_TEXT(&s.c, "state", "refused");
    EXPECT_TEXT(&s.c, "reason", "capacity");
    cr_expect(json_is_true(cli_member(&s.c, "elsewhere")));
    finish(&s);
}

Test(session_command, a_session_that_was_closed_before_is_1) {
    scene s;
    begin(&s);
    live_call_answer(&s.script, &s.first, 0);
    live_call_answer(&s.script, &s.second, 0);
    live_close(&s.script, LIVE_FINGERPRINT, 2, live_hex(&s.second.record->record_sha256));
    live_describe(&s.script, s.first.after);
    live_describe(&s.script, s.first.before);
    cs_open_session_response opened = live_opened();
    live_open(&s.script, &opened);
    close_after(&s, 0, &s.second);
    EXPECT_EXIT(&s.c, session_json(&s), 0);
    EXPECT_EXIT(&s.c, session_json(&s), 1);
    EXPECT_TEXT(&s.c, "code", "chain-reopened");
    cr_expect(json_is_false(cli_member(&s.c, "opened")));
    expect_ledger(&s, 0, 2, 1);
    finish(&s);
}

Test(session_command, a_lost_call_that_the_close_counts_is_4) {
    scene s;
    begin(&s);
    live_call_answer(&s.script, &s.first, 0);
    live_step(&s.script, (peer_step){.end = PEER_CLOSE});
    close_after(&s, 2, &s.second);
    EXPECT_EXIT(&s.c, session_json(&s), 4);
    EXPECT_TEXT(&s.c, "code", "unanswered-connection");
    EXPECT_TEXT(&s.c, "close.verdict", "may-have-run");
    EXPECT_TEXT(&s.c, "close.error.code", "session-unclosed");
    finish(&s);
}

/* ---- replayed --------------------------------------------------------------------------------------- */

/* The session once for the ledger, and `again` twice more for the replay. */
static void replay_after(const char *output, int exit, const char *first, const char *second) {
    static const char *const ids[] = {"0123456789abcdef0123456789abcde1", "0123456789abcdef0123456789abcde2"};
    /* printf ID | sha256sum */
    static const char *const fingerprints[] = {"183409d312aff7e63928bad2e6f672e0a1d374e00791b201164066c351a793d4",
                                               "fb78486a673f41816ccc94a7a7c607bd9d96f2ee83fcc93ee471556318b58949"};
    scene s;
    begin(&s);
    live_call_answer(&s.script, &s.first, 0);
    live_call_answer(&s.script, &s.second, 0);
    live_close(&s.script, LIVE_FINGERPRINT, 2, live_hex(&s.second.record->record_sha256));
    live_describe(&s.script, s.first.after);
    canon_set(&s.second.response->javascript->stdout, output);
    for (int i = 0; i < 2; i++) {
        live_describe(&s.script, s.first.before);
        cs_open_session_response opened = live_opened();
        opened.session_id = borrow(ids[i]);
        opened.session = borrow(fingerprints[i]);
        live_open(&s.script, &opened);
        canon_set(&s.first.record->session, fingerprints[i]);
        sample_seal(&s.first, SEAL_ALL);
        canon_set(&s.second.record->session, fingerprints[i]);
        canon_set(&s.second.record->previous_sha256, live_hex(&s.first.record->record_sha256));
        sample_seal(&s.second, SEAL_ALL);
        live_call_answer(&s.script, &s.first, 0);
        live_call_answer(&s.script, &s.second, 0);
        live_close(&s.script, fingerprints[i], 2, live_hex(&s.second.record->record_sha256));
        live_describe(&s.script, s.first.after);
    }
    serve(&s);
    EXPECT_EXIT(&s.c, session_json(&s), 0);
    EXPECT_EXIT(&s.c,
                cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "-k", "k.key", "-l", "new.db", "ledger.db")),
                exit);
    cr_expect_eq(cli_number(&s.c, "sessions"), 1);
    EXPECT_TEXT(&s.c, "rows.0.verdict", first);
    EXPECT_TEXT(&s.c, "rows.1.verdict", second);
    if (exit == 1) {
        cr_expect_eq(cli_number(&s.c, "entry"), 2);
        EXPECT_TEXT(&s.c, "where", "ledger.db: entry 2");
    }
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "-p", "k.pub", "new.db")), 0);
    cr_expect_eq(cli_number(&s.c, "inputs.0.sessions"), 2);
    finish(&s);
}

Test(session_command, a_session_is_replayed_whole) {
    replay_after("2\n", 0, "reproduced", "reproduced");
}

Test(session_command, a_replayed_session_that_differs_in_one_call) {
    replay_after("3\n", 1, "reproduced", "different");
}

/* ---- before anything is sent ---------------------------------------------------------------------- */

static void expect_unsent(const char *calls, int exit, const char *code, const char *where) {
    scene s;
    begin(&s);
    serve_good(&s);
    cli_write_text(&s.c, "calls.jsonl", calls);
    EXPECT_EXIT(&s.c, session_json(&s), exit);
    EXPECT_TEXT(&s.c, "code", code);
    if (where != NULL) EXPECT_TEXT(&s.c, "where", where);
    peer_stop(s.daemon);
    cr_expect_eq(peer_connections(s.daemon), 0);
    finish(&s);
}

Test(session_command, a_wrong_line_is_found_before_anything_is_sent) {
    expect_unsent(CALL("one()") "\n{\"javascript\":{\"code\":7}}\n", 3, "request-json",
                  "calls.jsonl: line 3: javascript.code");
    expect_unsent(CALL("one()") "{\"javascript\":", 3, "request-json", NULL);
}

Test(session_command, no_call_is_nothing) {
    expect_unsent("", 6, "nothing-to-check", "calls.jsonl");
    expect_unsent("\n \n", 6, "nothing-to-check", "calls.jsonl");
}

Test(session_command, the_line_must_name_daemon_and_ledger) {
    scene s;
    begin(&s);
    serve_good(&s);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("session", "-k", "k.key", "-l", "ledger.db", "calls.jsonl")), 2);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("session", "-d", s.url, "-k", "k.key", "calls.jsonl")), 2);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("session", "-d", s.url, "-k", "k.key", "-l", "ledger.db")), 2);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("session", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "none")), 5);
    finish(&s);
}
