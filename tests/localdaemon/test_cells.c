/* Cells: an interpreter that keeps its state from call to call, and nothing else that stays. */
#include "tests/localdaemon/session_call.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static test_daemon host;

#define CELL(language, code) "\"cell\":{\"language\":\"" language "\",\"code\":\"" code "\"}"
#define JS(code) CELL("javascript", code)
#define PY(code) CELL("python", code)
#define STARTED 1
#define ENDED 2

/* The interpreters need a user of their own, and so does every test of them. */
static bool have(const char *language) {
    wire_end end;
    wire_json(&host, DESCRIBE, "{}", &end);
    bool found = false;
    const json_t *list = json_object_get(json_object_get(end.json, "sessionEnvironment"), "languages");
    for (size_t i = 0; i < json_array_size(list); i++)
        found = found || strcmp(json_string_value(json_array_get(list, i)), language) == 0;
    wire_free(&end);
    return found;
}

static bool start_with_cells(const char *provider) {
    daemon_start(&host, provider, NULL);
    if (have("javascript")) return true;
    /* Then they are refused. */
    cr_assert_neq(geteuid(), 0, "root's daemon runs cells");
    test_session session;
    wire_end end;
    session_open(&host, "", &session);
    session_send(&session, JS("1"), &end);
    expect_error(&end, 501, "unimplemented", MARK_UNSUPPORTED, NULL);
    wire_free(&end);
    session_close(&session, "SESSION_END_CLOSED");
    daemon_stop(&host);
    if (getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL")) cr_assert_fail("no cells: the daemon is not root's");
    cr_skip_test("SKIPPED: cells need a user of their own, and the daemon is not root's");
    return false;
}

/* Run a cell and pin everything of its result but standard error, which is given (free it). */
static char *cell(test_session *session, const char *payload, const char *out, int exit_code, int flags) {
    json_t *answer = session_call(session, payload);
    char code[16];
    snprintf(code, sizeof code, "%d", exit_code);
    char *err = strdup(json_bytes_at(answer, "run/cell/stderr"));
    cr_assert_str_eq(json_at(answer, "run/cell/exitCode"), exit_code != 0 ? code : "", "%s: %s", payload, err);
    cr_assert_str_eq(json_bytes_at(answer, "run/cell/stdout"), out, "%s", payload);
    cr_assert_str_eq(json_at(answer, "run/cell/timedOut"), exit_code == 124 ? "true" : "", "%s", payload);
    cr_assert_str_eq(json_at(answer, "run/cell/interpreterStarted"), (flags & STARTED) != 0 ? "true" : "", "%s",
                     payload);
    cr_assert_str_eq(json_at(answer, "run/cell/interpreterEnded"), (flags & ENDED) != 0 ? "true" : "", "%s", payload);
    json_decref(answer);
    return err;
}

static void quiet_cell(test_session *session, const char *payload, const char *out, int flags) {
    char *err = cell(session, payload, out, 0, flags);
    cr_assert_str_eq(err, "", "%s", payload);
    free(err);
}

static void raising_cell(test_session *session, const char *payload, const char *out, const char *says) {
    char *err = cell(session, payload, out, 1, 0);
    cr_assert_not_null(strstr(err, says), "%s: %s", payload, err);
    free(err);
}

/* ---- state and values ------------------------------------------------------------------------------ */

static void check_javascript(void) {
    test_session session;
    session_open(&host, ",\"languages\":[\"javascript\"]", &session);
    quiet_cell(&session, JS("const a = 20; let b = 1; function f() { return a + b; } f()"), "21\n", STARTED);
    quiet_cell(&session, JS("b += 5; console.log('said'); f()"), "said\n26\n", 0);
    quiet_cell(&session, JS("b = 7;"), "7\n", 0);
    quiet_cell(&session, JS("undefined"), "", 0);
    quiet_cell(&session, JS("({ text: 'x', list: [1, 2] })"), "{ text: 'x', list: [ 1, 2 ] }\n", 0);
    quiet_cell(&session, JS("new Promise((done) => setTimeout(() => done(b), 5))"), "7\n", 0);
    raising_cell(&session, JS("console.log(1); throw new Error('on purpose')"), "1\n", "Error: on purpose");
    raising_cell(&session, JS("Promise.reject(new Error('later'))"), "", "Error: later");
    raising_cell(&session, JS("({"), "", "SyntaxError");
    quiet_cell(&session, JS("f()"), "27\n", 0);
    quiet_cell(&session, JS("require('fs').writeFileSync('made', 'by a cell')"), "", 0);
    json_t *answer = session_call(&session, SHELL("cat made; echo also > made-too"));
    cr_assert_str_eq(json_bytes_at(answer, "run/project/steps/0/stdout"), "by a cell");
    json_decref(answer);
    quiet_cell(&session, JS("require('fs').readFileSync('made-too', 'utf8')"), "'also\\n'\n", 0);
    session_close(&session, "SESSION_END_CLOSED");
}

static void check_python(void) {
    test_session session;
    session_open(&host, ",\"languages\":[\"python\",\"javascript\"]", &session);
    quiet_cell(&session, PY("a = 20\\ndef f():\\n    return a + 1\\nf()"), "21\n", STARTED);
    quiet_cell(&session, PY("a += 5; print('said'); f()"), "said\n26\n", 0);
    quiet_cell(&session, PY("a = 7"), "", 0);
    quiet_cell(&session, PY("None"), "", 0);
    quiet_cell(&session, PY("'text', [1, 2]"), "('text', [1, 2])\n", 0);
    raising_cell(
        &session, PY("print(1)\\nraise ValueError('on purpose')"), "1\n",
        "  File \"cell-6\", line 2, in <module>\n    raise ValueError('on purpose')\nValueError: on purpose\n");
    raising_cell(&session, PY("1 +"), "", "SyntaxError");
    quiet_cell(&session, PY("f()"), "8\n", 0);
    /* The other language has a state of its own. */
    quiet_cell(&session, JS("typeof a"), "'undefined'\n", STARTED);
    quiet_cell(&session, PY("f()"), "8\n", 0);
    session_close(&session, "SESSION_END_CLOSED");
}

static void check_files(void) {
    test_session session;
    session_open(&host, "", &session);
    quiet_cell(&session,
               "\"cell\":{\"language\":\"javascript\",\"code\":\"require('./lib/m.js')\",\"files\":[{\"path\":\"lib/"
               "m.js\",\"content\":\"module.exports = 42\"}]}",
               "42\n", STARTED);
    quiet_cell(&session,
               "\"cell\":{\"language\":\"javascript\",\"code\":\"require('fs').readFileSync('lib/m.js', 'utf8')\","
               "\"files\":[{\"path\":\"lib/m.js\",\"content\":\"new\"}]}",
               "'new'\n", 0);
    raising_cell(&session,
                 "\"cell\":{\"language\":\"javascript\",\"code\":\"console.log('never')\",\"files\":[{\"path\":\"lib\","
                 "\"content\":\"\"}]}",
                 "", "file can't be made: lib: Is a directory\n");
    session_close(&session, "SESSION_END_CLOSED");
}

static void check_truncation(void) {
    test_session session;
    session_open(&host, "", &session);
    json_t *answer =
        session_call(&session, JS("console.log('x'.repeat(300000)); console.error('y'.repeat(262143)); 1"));
    cr_assert_str_eq(json_at(answer, "run/cell/stdoutTruncated"), "true");
    cr_assert_eq(strlen(json_at(answer, "run/cell/stdout")), 349528, "262144 bytes in base64");
    cr_assert_str_eq(json_at(answer, "run/cell/stderrTruncated"), "");
    cr_assert_eq(strlen(json_at(answer, "run/cell/stderr")), 349528);
    json_decref(answer);
    quiet_cell(&session, JS("'next'"), "'next'\n", 0);
    session_close(&session, "SESSION_END_CLOSED");
}

static void check_refused(void) {
    test_session session;
    wire_end end;
    session_open(&host, "", &session);
    session_send(&session, CELL("cobol", "1"), &end);
    expect_error(&end, 501, "unimplemented", MARK_UNSUPPORTED, NULL);
    wire_free(&end);
    session_send(&session, JS(""), &end);
    expect_error(&end, 400, "invalid_argument", MARK_REQUEST, NULL);
    wire_free(&end);
    quiet_cell(&session, JS("1"), "1\n", STARTED);
    cr_assert_eq(session.calls, 1);
    session_close(&session, "SESSION_END_CLOSED");
}

/* ---- the interpreter's end ------------------------------------------------------------------------- */

static void check_ends(void) {
    test_session session;
    session_open(&host, "", &session);
    bool python = have("python");
    if (python) quiet_cell(&session, PY("a = 1"), "", STARTED);
    quiet_cell(&session, JS("var a = 2; require('fs').writeFileSync('file', 'stays')"), "", STARTED);
    /* Out of time: this interpreter ends, the other one and the files stay. */
    char *err = cell(&session, "\"timeoutMs\":1500," JS("console.log('begun'); for (;;);"), "begun\n", 124, ENDED);
    free(err);
    if (python) quiet_cell(&session, PY("a"), "1\n", 0);
    quiet_cell(&session, JS("[typeof a, require('fs').readFileSync('file', 'utf8')]"), "[ 'undefined', 'stays' ]\n",
               STARTED);
    /* By itself: its exit code, or its signal. */
    err = cell(&session, JS("console.log('last'); process.exit(7)"), "last\n", 7, ENDED);
    cr_assert_str_eq(err, "");
    free(err);
    err = cell(&session, JS("process.kill(process.pid, 'SIGKILL'); for (;;);"), "", 137, STARTED | ENDED);
    free(err);
    quiet_cell(&session, JS("1"), "1\n", STARTED);
    if (python) quiet_cell(&session, PY("a"), "1\n", 0);
    session_close(&session, "SESSION_END_CLOSED");
}

/* An interpreter that can be found: it takes the session's id as the title of its process. */
static pid_t titled(test_session *session, int flags) {
    char payload[200];
    snprintf(payload, sizeof payload, JS("process.title = '%s'; var kept = 1; undefined"), session->id);
    quiet_cell(session, payload, "", flags);
    pid_t pid = find_process(session->id);
    cr_assert_gt(pid, 0);
    /* Between calls it stands still. */
    cr_assert_eq(process_state(pid), 'T');
    return pid;
}

/* Killed from outside between two cells: the next one has a new interpreter, and says so. */
static void check_killed_between(void) {
    test_session session;
    session_open(&host, "", &session);
    pid_t pid = titled(&session, STARTED);
    quiet_cell(&session, JS("typeof kept"), "'number'\n", 0);
    cr_assert_eq(kill(pid, SIGKILL), 0);
    for (int i = 0; i < 5000 && strchr("ZX", process_state(pid)) == NULL; i++)
        usleep(2000);
    quiet_cell(&session, JS("typeof kept"), "'undefined'\n", STARTED);
    session_close(&session, "SESSION_END_CLOSED");
}

/* ---- what stays and what does not ------------------------------------------------------------------ */

#define SPAWN(number)                                                                                                  \
    "for (let i = 0; i < 3; i++) require('child_process').spawn('setsid', ['sleep', '" number                          \
    "'], { detached: true, stdio: 'ignore' }).unref()"

/* Whatever a cell or another call leaves running is ended with it; the interpreter, and it alone, is spared. */
static void check_leftovers(void) {
    test_session session;
    session_open(&host, "", &session);
    pid_t pid = titled(&session, STARTED);
    quiet_cell(&session, JS(SPAWN("43210.5")), "", 0);
    cr_assert_eq(count_processes("43210.5"), 0);
    json_decref(session_call(&session, SHELL("setsid sleep 43210.25 & (trap '' TERM; sleep 43210.25) &")));
    cr_assert_eq(count_processes("43210.25"), 0);
    json_decref(session_call(&session, "\"timeoutMs\":400," SHELL("setsid sleep 43210.125 & sleep 43210.125")));
    cr_assert_eq(count_processes("43210.125"), 0);
    /* A cell that forks without end. */
    quiet_cell(&session,
               JS("require('child_process').spawn('/bin/sh', ['-c', 'b() { b | b & }; b; while :; do b; done'], { "
                  "detached: true, stdio: 'ignore' }).unref()"),
               "", 0);
    cr_assert_eq(find_process(session.id), pid, "the same process");
    cr_assert_eq(process_state(pid), 'T');
    quiet_cell(&session, JS("typeof kept"), "'number'\n", 0);
    session_close(&session, "SESSION_END_CLOSED");
    cr_assert_eq(count_processes(session.id), 0);
}

/* Two sessions have neither state nor files in common. */
static void check_apart(void) {
    test_session one, two;
    session_open(&host, "", &one);
    session_open(&host, "", &two);
    quiet_cell(&one, JS("globalThis.secret = 1; require('fs').writeFileSync('secret', ''); secret"), "1\n", STARTED);
    quiet_cell(&two, JS("[typeof secret, require('fs').existsSync('secret')]"), "[ 'undefined', false ]\n", STARTED);
    quiet_cell(&one, JS("[typeof secret, require('fs').existsSync('secret')]"), "[ 'number', true ]\n", 0);
    session_close(&one, "SESSION_END_CLOSED");
    quiet_cell(&two, JS("2"), "2\n", 0);
    session_close(&two, "SESSION_END_CLOSED");
}

static void check_expired(void) {
    test_session session;
    session_open(&host, ",\"idleTimeoutMs\":700", &session);
    titled(&session, STARTED);
    for (int i = 0; i < 5000 && count_processes(session.id) > 0; i++)
        usleep(2000);
    cr_assert_eq(count_processes(session.id), 0);
    session_close(&session, "SESSION_END_EXPIRED");
}

static void check_all(const char *provider) {
    if (!start_with_cells(provider)) return;
    check_javascript();
    if (have("python")) check_python();
    check_files();
    check_truncation();
    check_refused();
    check_ends();
    check_killed_between();
    check_leftovers();
    check_apart();
    check_expired();
    cr_assert_eq(daemon_stop(&host), 0);
}

Test(localdaemon_cells, process, .timeout = 100) {
    check_all("process");
}

Test(localdaemon_cells, container, .timeout = 100) {
    check_all("container");
}

/* Not a check of the daemon: says loudly what was not tried. */
Test(localdaemon_cells, python_is_there, .timeout = 60) {
    daemon_start(&host, "process", NULL);
    bool there = have("python") || !have("javascript");
    cr_assert_eq(daemon_stop(&host), 0);
    if (there) return;
    if (getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL"))
        cr_assert_fail("no python3 below /usr: its cells are untried");
    cr_skip_test("SKIPPED: no python3 below /usr: its cells are untried");
}

/* ---- the daemon's end, and the session's, with interpreters alive ---------------------------------- */

typedef struct sent {
    const test_session *session;
    wire_end end;
} sent;

#define ENDLESS JS("require('child_process').spawn('sleep', ['32101.5']); for (;;);")

static void *send_endless(void *of) {
    sent *to = of;
    session_send(to->session, ENDLESS, &to->end);
    return NULL;
}

static void begin_endless(pthread_t *thread, sent *to, const test_session *session) {
    *to = (sent){.session = session};
    cr_assert_eq(pthread_create(thread, NULL, send_endless, to), 0);
    for (int i = 0; i < 5000 && count_processes("32101.5") == 0; i++)
        usleep(2000);
    cr_assert_eq(count_processes("32101.5"), 1);
}

static void await_nothing(const test_session *one, const test_session *two) {
    for (int i = 0; i < 5000; i++) {
        if (count_processes(one->id) + count_processes(two->id) + count_processes("32101.5") == 0) return;
        usleep(2000);
    }
    cr_assert_fail("processes are left");
}

static void check_stopped(const char *provider, int how) {
    if (!start_with_cells(provider)) return;
    test_session busy, idle;
    pthread_t thread;
    sent endless;
    session_open(&host, "", &busy);
    session_open(&host, "", &idle);
    titled(&busy, STARTED);
    titled(&idle, STARTED);
    begin_endless(&thread, &endless, &busy);
    if (how == SIGTERM) {
        cr_assert_eq(daemon_stop(&host), 0);
        cr_assert_eq(count_processes(busy.id) + count_processes(idle.id) + count_processes("32101.5"), 0);
        pthread_join(thread, NULL);
        session_check_unanswered(&busy, ENDLESS, &endless.end, 503, "unavailable");
    } else {
        daemon_signal(&host, how);
        pthread_join(thread, NULL);
        cr_assert_eq(endless.end.status, 0);
        await_nothing(&busy, &idle);
        cr_assert_eq(daemon_stop(&host), 128 + how);
    }
    wire_free(&endless.end);
}

Test(localdaemon_cells, process_terminated, .timeout = 60) {
    check_stopped("process", SIGTERM);
}

Test(localdaemon_cells, container_terminated, .timeout = 60) {
    check_stopped("container", SIGTERM);
}

Test(localdaemon_cells, process_killed, .timeout = 60) {
    check_stopped("process", SIGKILL);
}

Test(localdaemon_cells, container_killed, .timeout = 60) {
    check_stopped("container", SIGKILL);
}

Test(localdaemon_cells, closed_in_a_cell, .timeout = 60) {
    if (!start_with_cells("process")) return;
    test_session session;
    pthread_t thread;
    sent endless;
    wire_end end;
    session_open(&host, "", &session);
    titled(&session, STARTED);
    begin_endless(&thread, &endless, &session);
    session_close_as(&session, DAEMON_TOKEN, &end);
    cr_assert_str_eq(json_at(end.json, "calls"), "2");
    wire_free(&end);
    cr_assert_eq(count_processes(session.id) + count_processes("32101.5"), 0);
    pthread_join(thread, NULL);
    session_check_unanswered(&session, ENDLESS, &endless.end, 409, "aborted");
    wire_free(&endless.end);
    session_close(&session, "SESSION_END_CLOSED");
    cr_assert_eq(daemon_stop(&host), 0);
}
