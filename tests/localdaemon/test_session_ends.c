/* Who may open and use a session, how many there are, and every way in which one ends. */
#include "tests/localdaemon/session_call.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static test_daemon host;

#define EXPIRED "SESSION_END_EXPIRED"
#define CLOSED "SESSION_END_CLOSED"

/* ---- opening --------------------------------------------------------------------------------------- */

static void open_refused(const char *body, long status, const char *code, const char *mark) {
    wire_end end;
    wire_json(&host, OPEN, body, &end);
    expect_error(&end, status, code, mark, NULL);
    wire_free(&end);
}

static void open_accepted(const char *members) {
    test_session session;
    session_open(&host, members, &session);
    session_close(&session, CLOSED);
}

static void check_description(void) {
    wire_end end;
    wire_json(&host, DESCRIBE, "{}", &end);
    cr_assert_str_eq(json_at(end.json, "supportsSessions"), "true");
    cr_assert_str_eq(json_at(end.json, "sessionLifetimeMs"), "3600000");
    cr_assert_str_eq(json_at(end.json, "sessionIdleTimeoutMs"), "600000");
    cr_assert_str_eq(json_at(end.json, "sessionEnvironment/maxTimeoutMs"), "300000");
    cr_assert_str_eq(json_at(end.json, "maxSessionsPerCaller"), "2");
    cr_assert_str_eq(json_at(end.json, "maxSessionsPerOwner"), "2");
    /* Cells need a user of their own. */
    cr_assert_str_eq(json_at(end.json, "sessionEnvironment/languages/0"), geteuid() == 0 ? "javascript" : "");
    wire_free(&end);
}

static void check_opening(void) {
    open_refused("{}", 400, "invalid_argument", MARK_PROTOCOL);
    open_refused("{\"protocol\":2}", 501, "unimplemented", MARK_PROTOCOL);
    open_accepted(",\"minimumIsolation\":\"process\"");
    open_refused("{\"protocol\":3,\"minimumIsolation\":\"container\"}", 400, "failed_precondition", MARK_ISOLATION);
    open_refused("{\"protocol\":3,\"minimumIsolation\":\"cardboard\"}", 400, "invalid_argument", MARK_REQUEST);
    open_accepted(",\"softwareRule\":{}");
    open_refused("{\"protocol\":3,\"softwareRule\":{\"mode\":\"exact\",\"identities\":[\"a\"]}}", 400,
                 "failed_precondition", MARK_ENVIRONMENT);
    open_refused("{\"protocol\":3,\"softwareRule\":{\"mode\":\"exact\"}}", 400, "invalid_argument", MARK_REQUEST);
    open_accepted(",\"owner\":\"someone@example\"");
    open_refused("{\"protocol\":3,\"owner\":\"some one\"}", 400, "invalid_argument", MARK_REQUEST);
    open_refused("{\"protocol\":3,\"languages\":[\"cobol\"]}", 501, "unimplemented", MARK_UNSUPPORTED);
    wire_end end;
    const wire_how reader = {.headers = {"Authorization: Bearer " DAEMON_TOKEN_DESCRIBE, "Content-Type: " JSON}};
    wire_call(&host, OPEN, &reader, "{\"protocol\":3}", 14, &end);
    expect_error(&end, 403, "permission_denied", MARK_PERMISSION, NULL);
    wire_free(&end);
}

/* ---- calls that are refused ------------------------------------------------------------------------ */

static void call_refused(const test_session *session, const char *payload, long status, const char *code,
                         const char *mark) {
    wire_end end;
    session_send(session, payload, &end);
    expect_error(&end, status, code, mark, NULL);
    wire_free(&end);
}

/* None of these is a call: the chain does not count them. */
static void check_refused_calls(void) {
    test_session session;
    session_open(&host, "", &session);
    json_decref(session_call(&session, SHELL("true")));
    call_refused(&session, "\"timeoutMs\":300001," SHELL("true"), 400, "invalid_argument", MARK_REQUEST);
    call_refused(&session, "\"traceId\":\"\"", 400, "invalid_argument", MARK_REQUEST);
    json_decref(session_call(&session, "\"minimumIsolation\":\"process\"," SHELL("true")));
    call_refused(&session, "\"minimumIsolation\":\"vm\"," SHELL("true"), 400, "failed_precondition", MARK_ISOLATION);
    call_refused(&session, "\"softwareRule\":{\"mode\":\"exact\",\"identities\":[\"a\"]}," SHELL("true"), 400,
                 "failed_precondition", MARK_ENVIRONMENT);
    call_refused(&session, "\"project\":{\"steps\":[\"true\"],\"grantProfile\":\"net\"}", 403, "permission_denied",
                 MARK_PERMISSION);
    wire_end end;
    session_send_as(&session, DAEMON_TOKEN_DESCRIBE, SHELL("true"), &end);
    expect_error(&end, 403, "permission_denied", MARK_PERMISSION, NULL);
    wire_free(&end);
    json_decref(session_call(&session, SHELL("true")));
    cr_assert_eq(session.calls, 3);
    session_close(&session, CLOSED);
}

/* An unknown session and another client's are the same to a caller, to the byte. */
static void check_ownership(void) {
    test_session session, none;
    session_open(&host, "", &session);
    none = session;
    memset(none.id, '0', 32);
    wire_end unknown, other;
    session_send(&none, SHELL("true"), &unknown);
    expect_session_ended(&unknown, 404, "not_found", "SESSION_END_NOT_FOUND");
    session_send_as(&session, DAEMON_TOKEN_OTHER, SHELL("true"), &other);
    cr_assert_str_eq(other.body, unknown.body);
    wire_free(&other);
    /* An id of another length. */
    none.id[31] = '\0';
    session_send(&none, SHELL("true"), &other);
    cr_assert_str_eq(other.body, unknown.body);
    wire_free(&other);
    session_close_as(&session, DAEMON_TOKEN_OTHER, &other);
    cr_assert_str_eq(other.body, unknown.body);
    wire_free(&other);
    wire_free(&unknown);
    json_decref(session_call(&session, SHELL("true")));
    session_close(&session, CLOSED);
}

static void check_number(void) {
    test_session one, two;
    session_open(&host, "", &one);
    session_open(&host, "", &two);
    open_refused("{\"protocol\":3}", 429, "resource_exhausted", MARK_CAPACITY);
    session_close(&one, CLOSED);
    session_open(&host, "", &one);
    session_close(&one, CLOSED);
    session_close(&two, CLOSED);
}

/* ---- time ------------------------------------------------------------------------------------------ */

/* It ends by itself, is told so, and can be closed as what it is; its place is free again. */
static void check_time_over(const char *members) {
    test_session session;
    session_open(&host, members, &session);
    session_mark(&session);
    await_no_folder(&session);
    wire_end end;
    session_send(&session, SHELL("true"), &end);
    expect_session_ended(&end, 400, "failed_precondition", EXPIRED);
    wire_free(&end);
    session_close(&session, EXPIRED);
}

/* A call that the end of the session's life cuts short has its result, and says that it was the last. */
static void check_cut_short(void) {
    test_session session;
    session_open(&host, ",\"lifetimeMs\":900", &session);
    json_t *answer = session_call(&session, SHELL("sleep 65432.5"));
    cr_assert_str_eq(json_at(answer, "run/project/outcome"), "PROJECT_OUTCOME_TIMED_OUT");
    cr_assert_str_eq(json_at(answer, "ended"), EXPIRED);
    cr_assert_str_eq(json_at(answer, "endDetail"), "its lifetime is over");
    json_decref(answer);
    cr_assert_eq(count_processes("65432.5"), 0);
    session_close(&session, EXPIRED);
}

Test(localdaemon_session_ends, who_how_many_how_long, .timeout = 100) {
    const char *const more[] = {"--max-sessions", "2", NULL};
    daemon_start(&host, "process", more);
    check_description();
    check_opening();
    check_refused_calls();
    check_ownership();
    check_number();
    check_time_over(",\"lifetimeMs\":700");
    check_time_over(",\"idleTimeoutMs\":500");
    check_cut_short();
    check_number();
    cr_assert_eq(daemon_stop(&host), 0);
}

Test(localdaemon_session_ends, switched_off, .timeout = 60) {
    const char *const more[] = {"--max-sessions", "0", NULL};
    daemon_start(&host, "process", more);
    open_refused("{\"protocol\":3}", 400, "failed_precondition", MARK_UNSUPPORTED);
    wire_end end;
    wire_json(&host, DESCRIBE, "{}", &end);
    cr_assert_str_eq(json_at(end.json, "supportsSessions"), "");
    wire_free(&end);
    cr_assert_eq(daemon_stop(&host), 0);
}

/* ---- several calls at once ------------------------------------------------------------------------- */

/* Runs until a file "go" is there, or its time is over. */
#define LONG SHELL("sleep 54321.5 & while ! test -e go; do sleep 0.02; done; echo gone")

typedef struct sent {
    const test_session *session;
    const char *payload;
    wire_end end;
    pthread_t thread;
    volatile int done;
} sent;

static void *send_one(void *of) {
    sent *to = of;
    session_send(to->session, to->payload, &to->end);
    __atomic_store_n(&to->done, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void begin(sent *to, const test_session *session, const char *payload) {
    *to = (sent){.session = session, .payload = payload};
    cr_assert_eq(pthread_create(&to->thread, NULL, send_one, to), 0);
}

static bool is_done(sent *to) {
    return __atomic_load_n(&to->done, __ATOMIC_SEQ_CST) != 0;
}

static void begin_long(sent *to, const test_session *session) {
    begin(to, session, LONG);
    for (int i = 0; i < 5000 && count_processes("54321.5") == 0; i++)
        usleep(2000);
    cr_assert_eq(count_processes("54321.5"), 1);
}

static void make_go(const test_session *session) {
    char path[300];
    snprintf(path, sizeof path, "%s/go", session_folder(session));
    FILE *file = fopen(path, "w");
    cr_assert_not_null(file);
    fclose(file);
}

/* One call runs and one waits; of two more, whichever comes second is refused. */
Test(localdaemon_session_ends, one_runs_and_one_waits, .timeout = 60) {
    daemon_start(&host, "process", NULL);
    test_session session;
    session_open(&host, "", &session);
    session_mark(&session);
    sent first, two[2];
    begin_long(&first, &session);
    begin(&two[0], &session, SHELL("echo waited"));
    begin(&two[1], &session, SHELL("echo waited"));
    for (int i = 0; i < 5000 && !is_done(&two[0]) && !is_done(&two[1]); i++)
        usleep(2000);
    cr_assert_neq(is_done(&two[0]), is_done(&two[1]));
    cr_assert(!is_done(&first));
    sent *refused = is_done(&two[0]) ? &two[0] : &two[1];
    sent *waited = is_done(&two[0]) ? &two[1] : &two[0];
    expect_error(&refused->end, 429, "resource_exhausted", MARK_CAPACITY, NULL);
    /* Another session is not held up. */
    test_session other;
    session_open(&host, "", &other);
    json_decref(session_call(&other, SHELL("true")));
    session_close(&other, CLOSED);
    make_go(&session);
    pthread_join(first.thread, NULL);
    pthread_join(two[0].thread, NULL);
    pthread_join(two[1].thread, NULL);
    session_check_answer(&session, LONG, &first.end);
    session_check_answer(&session, waited->payload, &waited->end);
    cr_assert_str_eq(json_bytes_at(waited->end.json, "run/project/steps/0/stdout"), "waited\n");
    session_close(&session, CLOSED);
    wire_free(&first.end);
    wire_free(&two[0].end);
    wire_free(&two[1].end);
    cr_assert_eq(daemon_stop(&host), 0);
}

/* A session call takes one of the daemon's places for runs. */
Test(localdaemon_session_ends, capacity_of_the_daemon, .timeout = 60) {
    const char *const more[] = {"--max-concurrent", "1", NULL};
    daemon_start(&host, "process", more);
    test_session one, two;
    session_open(&host, "", &one);
    session_open(&host, "", &two);
    session_mark(&one);
    sent first;
    begin_long(&first, &one);
    call_refused(&two, SHELL("true"), 429, "resource_exhausted", MARK_CAPACITY);
    make_go(&one);
    pthread_join(first.thread, NULL);
    session_check_answer(&one, LONG, &first.end);
    wire_free(&first.end);
    json_decref(session_call(&two, SHELL("true")));
    session_close(&one, CLOSED);
    session_close(&two, CLOSED);
    cr_assert_eq(daemon_stop(&host), 0);
}

/* ---- ends in mid-call ------------------------------------------------------------------------------ */

static void expect_unanswered(test_session *session, const char *payload, sent *to, long status, const char *code,
                              const char *reason) {
    pthread_join(to->thread, NULL);
    session_check_unanswered(session, payload, &to->end, status, code);
    json_t *ended = error_detail(&to->end, "plimsoll.v1.SessionEnded");
    cr_assert_not_null(ended);
    cr_assert_str_eq(json_at(ended, "reason"), reason);
    json_decref(ended);
    wire_free(&to->end);
}

/* The call that runs is ended and has a record; the one that waits never ran. */
static void check_closed_in_call(const char *provider) {
    daemon_start(&host, provider, NULL);
    test_session session;
    session_open(&host, "", &session);
    session_mark(&session);
    sent first, second;
    begin_long(&first, &session);
    begin(&second, &session, SHELL("true"));
    wire_end end;
    session_close_as(&session, DAEMON_TOKEN, &end);
    cr_assert_eq(end.status, 200, "%s", end.body);
    cr_assert_str_eq(json_at(end.json, "calls"), "2");
    wire_free(&end);
    cr_assert_eq(count_processes("54321.5"), 0);
    cr_assert_str_eq(session_folder(&session), "");
    expect_unanswered(&session, LONG, &first, 409, "aborted", CLOSED);
    pthread_join(second.thread, NULL);
    expect_session_ended(&second.end, 400, "failed_precondition", CLOSED);
    wire_free(&second.end);
    session_close(&session, CLOSED);
    cr_assert_eq(daemon_stop(&host), 0);
}

Test(localdaemon_session_ends, process_closed_in_call, .timeout = 60) {
    check_closed_in_call("process");
}

Test(localdaemon_session_ends, container_closed_in_call, .timeout = 60) {
    check_closed_in_call("container");
}

/* SIGTERM: a call that runs is told, and nothing of any session is left. */
static void check_terminated(const char *provider) {
    daemon_start(&host, provider, NULL);
    test_session busy, idle;
    session_open(&host, "", &busy);
    session_open(&host, "", &idle);
    session_mark(&busy);
    session_mark(&idle);
    sent first;
    begin_long(&first, &busy);
    cr_assert_eq(daemon_stop(&host), 0);
    cr_assert_eq(count_processes("54321.5"), 0);
    cr_assert_str_eq(session_folder(&busy), "");
    cr_assert_str_eq(session_folder(&idle), "");
    expect_unanswered(&busy, LONG, &first, 503, "unavailable", "SESSION_END_SHUTDOWN");
}

Test(localdaemon_session_ends, process_terminated, .timeout = 60) {
    check_terminated("process");
}

Test(localdaemon_session_ends, container_terminated, .timeout = 60) {
    check_terminated("container");
}
