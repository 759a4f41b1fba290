/* Replays of whole sessions against a scripted daemon, compared call by call. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "replay/replay.h"
#include "tests/support/canon.h"
#include "tests/support/live_client.h"
#include "tests/support/live_session.h"

/* A stored session of two calls, and a daemon. */
typedef struct scene {
    sample stored[2];
    cs_replay_item items[2];
    cs_replay_plan plan;
    live script;
    peer *daemon;
    cs_client *client;
    cs_replay_report report;
    cs_result result;
    cs_error err;
    size_t done;
    unsigned scripted;
} scene;

static void begin(scene *c) {
    *c = (scene){.err = CS_ERROR_INIT};
    for (size_t i = 0; i < 2; i++) {
        sample_init(&c->stored[i]);
        live_call(&c->stored[i], i + 1, i == 0 ? "" : live_hex(&c->stored[0].record->record_sha256),
                  i == 0 ? "one()" : "two()");
        c->items[i] = (cs_replay_item){
            .entry = 7 + i, .group = 7, .request = c->stored[i].request, .response = c->stored[i].response};
        memset(c->items[i].session.hex, '5', 64); /* the stored session's own fingerprint, not the new one's */
        canon_request(c->stored[i].request, c->items[i].request_sha256.hex);
        canon_result(c->stored[i].response, c->items[i].result_sha256.hex);
    }
    c->plan = (cs_replay_plan){.items = c->items, .count = 2, .sessions = 1};
}

static void script_open(scene *c) {
    live_describe(&c->script, c->stored[0].before);
    cs_open_session_response opened = live_opened();
    live_open(&c->script, &opened);
}

/* One whole session in which the calls print these. `count` is what the close says. */
static void script_session(scene *c, const char *first, const char *second, uint64_t count) {
    const char *const outputs[] = {first, second};
    const char *last = "";
    c->scripted++; /* none is the stored one, or another's */
    script_open(c);
    for (size_t i = 0; i < 2; i++) {
        sample s;
        sample_init(&s);
        s.record->started_unix_ms -= c->scripted;
        canon_set(&s.response->javascript->stdout, outputs[i]);
        live_call(&s, i + 1, last, i == 0 ? "one()" : "two()");
        live_call_answer(&c->script, &s, 0);
        last = live_hex(&s.record->record_sha256);
        sample_free(&s);
    }
    live_close(&c->script, LIVE_FINGERPRINT, count, last);
    live_describe(&c->script, c->stored[0].after);
}

static void on_progress(void *user, size_t done, size_t total) {
    scene *c = user;
    c->done = done;
    cr_expect_eq(total, 2);
}

static void replay(scene *c) {
    c->client = live_client(&c->script, &c->daemon);
    cs_replay_options options = {.clients = &c->client,
                                 .client_count = 1,
                                 .runs = 2,
                                 .skew_ms = CS_DEFAULT_SKEW_MS,
                                 .on_progress = on_progress,
                                 .user = c};
    c->result = cs_replay_run(&c->plan, &options, &c->report, &c->err);
    peer_stop(c->daemon);
    cr_assert_eq(c->report.row_count, 2);
    cr_expect_eq(c->done, 2);
}

static const cs_replay_cell *cell(const scene *c, size_t row) {
    return &c->report.rows[row].cells[0];
}

static void end(scene *c) {
    cs_replay_report_free(&c->report);
    cs_client_free(c->client);
    peer_free(c->daemon);
    live_free(&c->script);
    for (size_t i = 0; i < 2; i++)
        sample_free(&c->stored[i]);
}

#define EXPECT_VERDICTS(c, want_result, first, second)                                                                 \
    do {                                                                                                               \
        cr_expect_eq((c)->result, (want_result), "%s", (c)->err.message);                                              \
        cr_expect_eq((c)->report.rows[0].verdict, (first), "%s: %s",                                                   \
                     cs_replay_verdict_word((c)->report.rows[0].verdict), cell((c), 0)->err.message);                  \
        cr_expect_eq((c)->report.rows[1].verdict, (second), "%s: %s",                                                  \
                     cs_replay_verdict_word((c)->report.rows[1].verdict), cell((c), 1)->err.message);                  \
    } while (0)

Test(replay_session, reproduced_in_fresh_sessions) {
    scene c;
    begin(&c);
    script_session(&c, "2\n", "2\n", 2);
    script_session(&c, "2\n", "2\n", 2);
    replay(&c);
    EXPECT_VERDICTS(&c, CS_OK, CS_REPLAY_REPRODUCED, CS_REPLAY_REPRODUCED);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_eq(cell(&c, i)->runs, 2);
        cr_expect_eq(cell(&c, i)->matched, 2);
        cr_expect_str_eq(cell(&c, i)->provider, "gvisor");
        cr_expect_eq(cell(&c, i)->protocol_sent, 3);
    }
    cr_expect_eq(peer_connections(c.daemon), 12);
    end(&c);
}

Test(replay_session, one_call_that_differs) {
    scene c;
    begin(&c);
    script_session(&c, "2\n", "3\n", 2);
    script_session(&c, "2\n", "3\n", 2);
    replay(&c);
    EXPECT_VERDICTS(&c, CS_FAILED, CS_REPLAY_REPRODUCED, CS_REPLAY_DIFFERENT);
    cr_expect_eq(c.err.code, CS_CODE_REPLAY_DIFFERS);
    cr_expect_str_eq(cell(&c, 1)->difference.field, "stdout");
    end(&c);
}

Test(replay_session, one_call_that_is_not_deterministic) {
    scene c;
    begin(&c);
    script_session(&c, "2\n", "2\n", 2);
    script_session(&c, "3\n", "2\n", 2);
    replay(&c);
    EXPECT_VERDICTS(&c, CS_FAILED, CS_REPLAY_NONDETERMINISTIC, CS_REPLAY_REPRODUCED);
    cr_expect_eq(c.err.code, CS_CODE_REPLAY_UNSTABLE);
    end(&c);
}

/* The daemon plays the same session a second time, record by record. */
Test(replay_session, records_seen_before_are_no_new_session) {
    scene c;
    begin(&c);
    script_session(&c, "2\n", "2\n", 2);
    c.scripted--;
    script_session(&c, "2\n", "2\n", 2);
    replay(&c);
    EXPECT_VERDICTS(&c, CS_UNCHECKED, CS_REPLAY_NO_RESULT, CS_REPLAY_NO_RESULT);
    cr_expect_eq(c.err.code, CS_CODE_REPLAY_INCOMPLETE);
    cr_expect_eq(cell(&c, 0)->err.code, CS_CODE_RECORD_DUPLICATE);
    cr_expect_eq(cell(&c, 1)->err.code, CS_CODE_RECORD_DUPLICATE);
    end(&c);
}

Test(replay_session, a_close_that_does_not_agree_leaves_no_result) {
    scene c;
    begin(&c);
    script_session(&c, "2\n", "2\n", 3);
    replay(&c);
    EXPECT_VERDICTS(&c, CS_FAILED, CS_REPLAY_NO_RESULT, CS_REPLAY_NO_RESULT);
    cr_expect_eq(c.err.code, CS_CODE_REPLAY_INCOMPLETE);
    cr_expect_eq(cell(&c, 0)->err.code, CS_CODE_CHAIN_CLOSE);
    cr_expect_eq(peer_connections(c.daemon), 6, "no second session");
    end(&c);
}

Test(replay_session, a_session_that_is_refused) {
    scene c;
    begin(&c);
    live_describe(&c.script, c.stored[0].before);
    live_step(&c.script, live_refusal());
    replay(&c);
    EXPECT_VERDICTS(&c, CS_NOT_RUN, CS_REPLAY_NO_RESULT, CS_REPLAY_NO_RESULT);
    cr_expect_eq(cell(&c, 1)->err.code, CS_CODE_REFUSED_CAPACITY);
    cr_expect_eq(peer_connections(c.daemon), 2);
    end(&c);
}

Test(replay_session, a_call_that_gets_no_answer) {
    scene c;
    begin(&c);
    script_open(&c);
    live_step(&c.script, (peer_step){.end = PEER_CLOSE});
    live_close(&c.script, LIVE_FINGERPRINT, 0, "");
    live_describe(&c.script, c.stored[0].after);
    replay(&c);
    EXPECT_VERDICTS(&c, CS_MAYBE_RAN, CS_REPLAY_NO_RESULT, CS_REPLAY_NO_RESULT);
    cr_expect_eq(cell(&c, 0)->err.code, CS_CODE_UNANSWERED_CONNECTION);
    cr_expect_eq(cell(&c, 1)->err.code, CS_CODE_SESSION_STOPPED);
    cr_expect_eq(peer_connections(c.daemon), 5);
    end(&c);
}

/* It is sent, for what it did may matter to the calls after it; but there is nothing to compare with. */
Test(replay_session, a_stored_call_without_an_answer_is_never_reproduced) {
    scene c;
    begin(&c);
    c.items[0].response = NULL;
    c.items[0].result_sha256 = (cs_digest){0};
    script_session(&c, "2\n", "2\n", 2);
    script_session(&c, "2\n", "2\n", 2);
    replay(&c);
    EXPECT_VERDICTS(&c, CS_UNCHECKED, CS_REPLAY_NO_RESULT, CS_REPLAY_REPRODUCED);
    cr_expect_eq(cell(&c, 0)->err.code, CS_CODE_REPLAY_UNANSWERED);
    cr_expect_eq(cell(&c, 0)->runs, 0);
    end(&c);
}
