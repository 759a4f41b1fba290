/* Sessions on both providers: files stay, processes don't, and every call's record is the next of one chain. */
#include "plimsoll/v1/sandbox.pb-c.h"
#include "tests/localdaemon/session_call.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static test_daemon host;

/* The output of one shell step in the session; borrows a static buffer. */
static const char *shell_out(test_session *session, const char *payload) {
    json_t *answer = session_call(session, payload);
    const char *out = json_bytes_at(answer, "run/project/steps/0/stdout");
    json_decref(answer);
    return out;
}

static void check_chain(void) {
    test_session session;
    session_open(&host, "", &session);
    session_mark(&session);
    cr_assert_str_eq(shell_out(&session, SHELL("echo one > kept; echo two > $TMPDIR/kept; mkdir d")), "");
    json_t *answer = session_call(
        &session, "\"javascript\":{\"code\":\"const fs=require('fs');console.log(fs.readFileSync('kept','utf8'))\"}");
    cr_assert_str_eq(json_bytes_at(answer, "run/javascript/stdout"), "one\n\n");
    cr_assert_str_eq(json_at(answer, "ended"), "");
    json_decref(answer);
    cr_assert_str_eq(shell_out(&session, SHELL("cat kept $TMPDIR/kept; ls -d d")), "one\ntwo\nd\n");
    /* A step that fails, and a call that runs out of time, are results as any other. */
    answer = session_call(&session, SHELL("exit 3"));
    cr_assert_str_eq(json_at(answer, "run/project/steps/0/exitCode"), "3");
    json_decref(answer);
    answer = session_call(&session, "\"timeoutMs\":300,\"traceId\":\"no trace id\"," SHELL("sleep 100"));
    cr_assert_str_eq(json_at(answer, "run/project/outcome"), "PROJECT_OUTCOME_TIMED_OUT");
    json_decref(answer);
    session_close(&session, "SESSION_END_CLOSED");
    cr_assert_str_eq(session_folder(&session), "");
    /* After it: told that it has ended; closing again tells the same. */
    wire_end end;
    session_send(&session, SHELL("true"), &end);
    expect_session_ended(&end, 400, "failed_precondition", "SESSION_END_CLOSED");
    wire_free(&end);
    session_close(&session, "SESSION_END_CLOSED");
}

/* Files of the next call take the place of what earlier ones left under the same names, and nothing is written
 * through a link. */
static void check_files(void) {
    test_session session;
    session_open(&host, "", &session);
    cr_assert_str_eq(shell_out(&session, SHELL("echo own > target; ln -s target link; ln target hard; mkfifo fifo; "
                                               "mkdir dir main.cjs; ln -s dir into")),
                     "");
    cr_assert_str_eq(
        shell_out(&session,
                  "\"project\":{\"files\":[{\"path\":\"link\",\"content\":\"a\"},{\"path\":\"hard\","
                  "\"content\":\"b\"},{\"path\":\"fifo\",\"content\":\"c\"},{\"path\":\"new/n\","
                  "\"content\":\"d\"}],\"steps\":[\"cat link hard fifo new/n target; ls -l link | head -c 1\"]}"),
        "abcdown\n-");
    json_t *answer =
        session_call(&session, "\"project\":{\"files\":[{\"path\":\"into/f\",\"content\":\"\"}],\"steps\":[\"true\"]}");
    cr_assert_str_eq(json_at(answer, "run/project/outcome"), "PROJECT_OUTCOME_SETUP_FAILED");
    json_decref(answer);
    answer = session_call(&session, "\"javascript\":{\"code\":\"1\"}");
    cr_assert_str_eq(json_at(answer, "run/javascript/exitCode"), "1");
    cr_assert_str_eq(json_bytes_at(answer, "run/javascript/stderr"), "file can't be made: main.cjs: Is a directory\n");
    json_decref(answer);
    /* A call that takes its own rights away does not lock out the next one. */
    cr_assert_str_eq(shell_out(&session, SHELL("chmod 0 $TMPDIR .")), "");
    cr_assert_str_eq(shell_out(&session, SHELL("cat target; touch $TMPDIR/t && echo open")), "own\nopen\n");
    session_close(&session, "SESSION_END_CLOSED");
}

/* What a call leaves running is dead when its answer comes. */
static void check_leftovers(void) {
    test_session session;
    session_open(&host, "", &session);
    cr_assert_str_eq(shell_out(&session, SHELL("setsid sleep 76543.25 & (trap '' TERM HUP; setsid sleep 76543.25 &) & "
                                               "echo $! > pid; echo left")),
                     "left\n");
    cr_assert_eq(count_processes("76543.25"), 0);
    json_t *answer = session_call(
        &session, "\"javascript\":{\"code\":\"const c=require('child_process').spawn('sleep',['76543.25'],{detached:"
                  "true,stdio:'ignore'});c.unref();console.log(c.pid>1)\"}");
    cr_assert_str_eq(json_bytes_at(answer, "run/javascript/stdout"), "true\n");
    json_decref(answer);
    cr_assert_eq(count_processes("76543.25"), 0);
    cr_assert_str_eq(shell_out(&session, SHELL("test -s pid && echo stays")), "stays\n");
    session_close(&session, "SESSION_END_CLOSED");
}

/* Two sessions have neither files nor a user in common, and neither can signal the other's processes. */
static void check_apart(const char *provider) {
    test_session one, two;
    session_open(&host, "", &one);
    session_open(&host, "", &two);
    cr_assert_str_neq(one.id, two.id);
    cr_assert_str_eq(shell_out(&one, SHELL("echo secret > mine; echo secret > $TMPDIR/mine; chmod -R 777 . $TMPDIR")),
                     "");
    cr_assert_str_eq(shell_out(&two, SHELL("ls -A . $TMPDIR | grep mine; echo seen")), "seen\n");
    if (strcmp(provider, "process") == 0) {
        char payload[512], where[256];
        snprintf(where, sizeof where, "%s", shell_out(&one, SHELL("pwd")));
        where[strcspn(where, "\n")] = '\0';
        /* Control: the same command reads it at home. */
        snprintf(payload, sizeof payload, SHELL("cat %s/mine || echo denied"), where);
        cr_assert_str_eq(shell_out(&one, payload), "secret\n");
        cr_assert_str_eq(shell_out(&two, payload), "denied\n");
        if (geteuid() == 0) {
            char uid[32];
            snprintf(uid, sizeof uid, "%s", shell_out(&one, SHELL("id -u")));
            cr_assert_str_neq(uid, "0\n");
            cr_assert_str_neq(shell_out(&two, SHELL("id -u")), uid);
        }
    }
    session_close(&one, "SESSION_END_CLOSED");
    cr_assert_str_eq(shell_out(&two, SHELL("echo alive")), "alive\n");
    session_close(&two, "SESSION_END_CLOSED");
}

/* A call that the daemon can't carry out has its record, too: here the work folder is away for one call. */
static void check_unanswered(unsigned protocol) {
    test_session session;
    session_open_in(&host, protocol, "", &session);
    session_mark(&session);
    char folder[256], away[300];
    snprintf(folder, sizeof folder, "%s", session_folder(&session));
    snprintf(away, sizeof away, "%s-away", folder);
    cr_assert_eq(rename(folder, away), 0);
    wire_end end;
    session_send(&session, SHELL("echo never"), &end);
    cr_assert_eq(rename(away, folder), 0);
    session_check_unanswered(&session, SHELL("echo never"), &end, 500, "internal");
    cr_assert_null(error_detail(&end, "plimsoll.v1.SessionEnded"));
    wire_free(&end);
    cr_assert_str_eq(shell_out(&session, SHELL("echo third")), "third\n");
    cr_assert_eq(session.calls, 3);
    session_close(&session, "SESSION_END_CLOSED");
}

static void check_all(const char *provider) {
    daemon_start(&host, provider, NULL);
    check_chain();
    check_files();
    check_leftovers();
    check_apart(provider);
    check_unanswered(3);
    cr_assert_eq(daemon_stop(&host), 0);
}

Test(localdaemon_sessions, process, .timeout = 100) {
    check_all("process");
}

Test(localdaemon_sessions, container, .timeout = 100) {
    check_all("container");
}

/* Records of version 4, answered and not, and one instance for all calls of a session but not for two sessions. */
static void check_protocol_4(const char *provider) {
    const char *const more[] = {"--protocol", "4", NULL};
    daemon_start(&host, provider, more);
    test_session one, two;
    session_open_in(&host, 4, "", &one);
    session_open_in(&host, 4, "", &two);
    cr_assert_str_eq(shell_out(&one, SHELL("echo one")), "one\n");
    cr_assert_str_eq(shell_out(&one, SHELL("echo two")), "two\n");
    cr_assert_str_eq(shell_out(&two, SHELL("echo one")), "one\n");
    cr_assert_str_neq(one.instance, two.instance);
    session_close(&one, "SESSION_END_CLOSED");
    session_close(&two, "SESSION_END_CLOSED");
    check_unanswered(4);
    cr_assert_eq(daemon_stop(&host), 0);
}

Test(localdaemon_sessions, protocol_4_process, .timeout = 100) {
    check_protocol_4("process");
}

Test(localdaemon_sessions, protocol_4_container, .timeout = 100) {
    check_protocol_4("container");
}

/* The same in the binary form. */
Test(localdaemon_sessions, binary_form, .timeout = 60) {
    daemon_start(&host, "process", NULL);
    static const char request[] = {0x08, 0x03, 0x20, 0x64};
    wire_end end;
    const wire_how how = {.headers = {"Authorization: Bearer " DAEMON_TOKEN, "Content-Type: " BINARY}};
    wire_call(&host, OPEN, &how, request, sizeof request, &end);
    cr_assert_eq(end.status, 200);
    cr_assert_str_eq(wire_header(&end, "Content-Type"), BINARY);
    Plimsoll__V1__OpenSessionResponse *opened =
        plimsoll__v1__open_session_response__unpack(NULL, end.len, (const uint8_t *)end.body);
    cr_assert_not_null(opened);
    cr_assert_eq(opened->session_id.len, 32);
    cr_assert_eq(opened->session.len, 64);
    cr_assert_gt(opened->expires_unix_ms, 0);
    cr_assert_eq(opened->idle_timeout_ms, 600000);
    plimsoll__v1__open_session_response__free_unpacked(opened, NULL);
    wire_free(&end);
    cr_assert_eq(daemon_stop(&host), 0);
}
