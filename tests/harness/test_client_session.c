/* The three calls of a session: what goes out, what comes back, and that the id shows nowhere. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/client_case.h"
#include "tests/support/expect.h"

#define ID "0123456789abcdef0123456789abcdef"
#define STARS "********************************"

#define OK_HEAD CASE_HEAD
#define ERROR_HEAD(status)                                                                                             \
    "HTTP/1.1 " status "\r\nContent-Type: application/json\r\nPlimsoll-Request-Id: {id}\r\n"                           \
    "Content-Length: {length}\r\n\r\n"
#define UNBOUND_HEAD "HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"

/* OpenSessionResponse{session_id: ID}. */
#define OPENED "\x0a\x20" ID
/* SessionRunResponse{run: {sandbox: "s"}, ended: 2, end_detail: "late"}. */
#define RAN "\x0a\x03\x0a\x01s\x10\x02\x1a\x04late"
/* CloseSessionResponse{calls: 2, ended: 1}. */
#define CLOSED "\x10\x02\x20\x01"

/* SessionEnded{reason: 2, detail: "idle"}; UnansweredCall{record: {version: 3}}; NotDispatched{reason: 1}. */
#define ENDED "{\"type\":\"plimsoll.v1.SessionEnded\",\"value\":\"CAISBGlkbGU\"}"
#define UNANSWERED "{\"type\":\"plimsoll.v1.UnansweredCall\",\"value\":\"CgIIAw\"}"
#define MARK "{\"type\":\"plimsoll.v1.NotDispatched\",\"value\":\"CAE\"}"
#define BODY(details) "{\"code\":\"internal\",\"message\":\"no\",\"details\":[" details "]}"

typedef enum which { OPEN, RUN, CLOSE } which;

static cs_result call(cs_client *client, which what, cs_outcome *outcome) {
    if (what == OPEN) {
        cs_open_session_request open = PLIMSOLL__V1__OPEN_SESSION_REQUEST__INIT;
        open.protocol = 3;
        return cs_client_open_session(client, &open, outcome);
    }
    if (what == RUN) {
        cs_session_run_request run = PLIMSOLL__V1__SESSION_RUN_REQUEST__INIT;
        run.protocol = 3;
        run.session_id = borrow(ID);
        return cs_client_session_run(client, &run, outcome);
    }
    cs_close_session_request end = PLIMSOLL__V1__CLOSE_SESSION_REQUEST__INIT;
    end.protocol = 3;
    end.session_id = borrow(ID);
    return cs_client_close_session(client, &end, outcome);
}

static void run_case(client_case *c, which what, const peer_step *step) {
    c->peer = peer_start(step, 1, NULL);
    cr_assert_not_null(c->peer);
    c->config.base_url = peer_url(c->peer);
    c->config.timeout_ms = 20000;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_client_new(&c->config, &c->client, &err), err);
    c->result = call(c->client, what, &c->outcome);
    peer_stop(c->peer);
}

static void expect_sent(const client_case *c, const char *line, cs_view body) {
    const peer_request *seen = peer_seen(c->peer, 0);
    cr_assert_not_null(seen);
    cr_expect_eq(strncmp(seen->head, line, strlen(line)), 0, "%s", seen->head);
    cr_expect(cs_view_equal(cs_buf_view(&seen->body), body), "%zu bytes", seen->body.len);
}

Test(client_session, open_is_sent_and_answered) {
    const peer_step step = {.head = OK_HEAD, .body = CASE_BYTES(OPENED)};
    client_case c = {0};
    run_case(&c, OPEN, &step);
    cr_expect_eq(c.result, CS_OK, "%s", c.outcome.err.message);
    expect_sent(&c, "POST /plimsoll.v1.SandboxService/OpenSession HTTP/1.1\r\n", (cs_view)CASE_BYTES("\x08\x03"));
    const cs_open_session_response *answer = (const cs_open_session_response *)c.outcome.message;
    cr_expect(cs_view_is(cs_bytes_view(&answer->session_id), ID));
    cr_expect_not(c.outcome.ended);
    client_case_end(&c);
}

Test(client_session, a_call_carries_the_id_and_tells_of_the_end) {
    const peer_step step = {.head = OK_HEAD, .body = CASE_BYTES(RAN)};
    client_case c = {0};
    run_case(&c, RUN, &step);
    cr_expect_eq(c.result, CS_OK, "%s", c.outcome.err.message);
    expect_sent(&c, "POST /plimsoll.v1.SandboxService/SessionRun HTTP/1.1\r\n",
                (cs_view)CASE_BYTES("\x08\x03\x2a\x20" ID));
    cr_expect(c.outcome.ended);
    cr_expect_eq((int)c.outcome.end, 2);
    cr_expect_str_eq(c.outcome.end_detail, "late");
    client_case_end(&c);
}

Test(client_session, a_call_in_json) {
    const peer_step step = {.head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nPlimsoll-Request-Id: {id}\r\n"
                                    "Content-Length: {length}\r\n\r\n",
                            .body = CASE_BYTES("{\"run\":{\"sandbox\":\"s\"}}")};
    client_case c = {.config = {.codec = CS_CODEC_JSON}};
    run_case(&c, RUN, &step);
    cr_expect_eq(c.result, CS_OK, "%s", c.outcome.err.message);
    expect_sent(&c, "POST /plimsoll.v1.SandboxService/SessionRun HTTP/1.1\r\n",
                (cs_view)CASE_BYTES("{\"protocol\":3,\"sessionId\":\"" ID "\"}"));
    cr_expect(cs_view_equal(cs_buf_view(&c.outcome.bytes), (cs_view)CASE_BYTES("\x0a\x03\x0a\x01s")));
    cr_expect_not(c.outcome.ended);
    client_case_end(&c);
}

Test(client_session, a_close_is_sent_after_a_stop_and_a_call_is_not) {
    static const volatile sig_atomic_t stop = 1;
    const peer_step step = {.head = OK_HEAD, .body = CASE_BYTES(CLOSED)};
    client_case c = {.config = {.stop = &stop}};
    run_case(&c, CLOSE, &step);
    cr_expect_eq(c.result, CS_OK, "%s", c.outcome.err.message);
    expect_sent(&c, "POST /plimsoll.v1.SandboxService/CloseSession HTTP/1.1\r\n",
                (cs_view)CASE_BYTES("\x08\x03\x12\x20" ID));
    cr_expect(c.outcome.ended);
    cr_expect_eq((int)c.outcome.end, 1);
    client_case_end(&c);

    c = (client_case){.config = {.stop = &stop}};
    run_case(&c, RUN, &step);
    cr_expect_eq(c.result, CS_NOT_RUN);
    cr_expect_eq(c.outcome.err.code, CS_CODE_UNSENT_INTERRUPTED);
    client_case_end(&c);
}

/* Its id may be good, though the answer is not believed. */
Test(client_session, an_opening_that_is_not_believed_leaves_nothing) {
    const peer_step step = {
        .head = "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nContent-Length: {length}\r\n\r\n",
        .body = CASE_BYTES(OPENED)};
    client_case c = {0};
    run_case(&c, OPEN, &step);
    cr_expect_eq(c.outcome.err.code, CS_CODE_UNANSWERED_UNBOUND);
    cr_expect_eq(c.outcome.raw.len, 0);
    cr_expect_null(c.outcome.message);
    client_case_end(&c);
}

/* ---- errors --------------------------------------------------------------------------------------- */

typedef struct error_case {
    const char *head;
    cs_view body;
    cs_call_state state;
    bool ended;
    bool record;
} error_case;

Test(client_session, what_an_error_says_of_the_session) {
    static const error_case cases[] = {
        {ERROR_HEAD("500 Oops"), CASE_BYTES(BODY("")), CS_CALL_UNANSWERED, false, false},
        {ERROR_HEAD("500 Oops"), CASE_BYTES(BODY(UNANSWERED)), CS_CALL_UNANSWERED, false, true},
        {ERROR_HEAD("500 Oops"), CASE_BYTES(BODY(UNANSWERED "," ENDED)), CS_CALL_UNANSWERED, true, true},
        {ERROR_HEAD("400 Bad"), CASE_BYTES(BODY(MARK "," ENDED)), CS_CALL_REFUSED, true, false},
        /* Nothing ran, so there is no call that could have a record. */
        {ERROR_HEAD("400 Bad"), CASE_BYTES(BODY(MARK "," UNANSWERED)), CS_CALL_REFUSED, false, false},
        /* An error that is not this request's says nothing of this session. */
        {UNBOUND_HEAD, CASE_BYTES(BODY(UNANSWERED "," ENDED)), CS_CALL_UNANSWERED, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const peer_step step = {.head = cases[i].head, .body = cases[i].body};
        client_case c = {0};
        run_case(&c, RUN, &step);
        cr_expect_eq(c.outcome.state, cases[i].state, "%zu", i);
        cr_expect_eq(c.outcome.ended, cases[i].ended, "%zu", i);
        cr_expect_eq(c.outcome.unanswered != NULL, cases[i].record, "%zu", i);
        if (cases[i].ended) {
            cr_expect_eq((int)c.outcome.end, 2);
            cr_expect_str_eq(c.outcome.end_detail, "idle");
        }
        client_case_end(&c);
    }
}

/* ---- the secret ----------------------------------------------------------------------------------- */

static bool has(const void *bytes, size_t len, const char *text) {
    return len > 0 && memmem(bytes, len, text, strlen(text)) != NULL;
}

Test(client_session, an_id_that_a_daemon_repeats_is_blotted_out) {
    const peer_step step = {.head = ERROR_HEAD("500 Oops"),
                            .body = CASE_BYTES("{\"code\":\"internal\",\"message\":\"session " ID " is lost\"}")};
    const which calls[] = {RUN, CLOSE};
    for (size_t i = 0; i < 2; i++) {
        client_case c = {0};
        run_case(&c, calls[i], &step);
        cr_expect_eq(c.outcome.err.code, CS_CODE_UNANSWERED_ERROR);
        cr_expect(has(c.outcome.err.message, strlen(c.outcome.err.message), "session " STARS " is lost"), "%s",
                  c.outcome.err.message);
        cr_expect(has(c.outcome.raw.ptr, c.outcome.raw.len, "session " STARS " is lost"));
        cr_expect_not(has(c.outcome.raw.ptr, c.outcome.raw.len, ID));
        client_case_end(&c);
    }
}

/* The message is quoted up to its 200th byte, which cuts this id after 20 digits. */
Test(client_session, the_beginning_of_an_id_is_blotted_out_where_a_text_was_cut) {
    char body[512];
    (void)snprintf(body, sizeof body, "{\"code\":\"internal\",\"message\":\"%0180d%s\"}", 0, ID);
    const peer_step step = {.head = ERROR_HEAD("500 Oops"), .body = cs_view_of(body)};
    client_case c = {0};
    run_case(&c, RUN, &step);
    cr_expect(has(c.outcome.err.message, strlen(c.outcome.err.message), "0000********************"), "%s",
              c.outcome.err.message);
    cr_expect_not(has(c.outcome.err.message, strlen(c.outcome.err.message), "23456789"));
    client_case_end(&c);
}

Test(client_session, a_request_that_is_too_large_is_never_sent) {
    uint8_t *large = malloc(CS_MAX_REQUEST_BYTES);
    cr_assert_not_null(large);
    memset(large, 'x', CS_MAX_REQUEST_BYTES);
    Plimsoll__V1__JavaScriptRun javascript = PLIMSOLL__V1__JAVA_SCRIPT_RUN__INIT;
    javascript.code = (ProtobufCBinaryData){.len = CS_MAX_REQUEST_BYTES, .data = large};
    cs_session_run_request run = PLIMSOLL__V1__SESSION_RUN_REQUEST__INIT;
    run.session_id = borrow(ID);
    run.payload_case = PLIMSOLL__V1__SESSION_RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    run.javascript = &javascript;
    cs_client_config config = {.base_url = "http://127.0.0.1:1"};
    cs_client *client = NULL;
    cs_error err = CS_ERROR_INIT;
    EXPECT_OK(cs_client_new(&config, &client, &err), err);
    cs_outcome outcome;
    cr_expect_eq(cs_client_session_run(client, &run, &outcome), CS_NOT_RUN);
    cr_expect_eq(outcome.state, CS_CALL_UNSENT);
    cr_expect_eq(outcome.err.code, CS_CODE_REQUEST_INVALID);
    cs_outcome_free(&outcome);
    cs_client_free(client);
    free(large);
}
