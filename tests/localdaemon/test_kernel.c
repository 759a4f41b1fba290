/* The provider kernel: what it states, what its walls keep in (each attempt is first made outside, where it must
 * succeed), and that nothing of gVisor is left when a call has ended, whichever way. What it has in common with the
 * other providers is in test_runs.c. Its daemon takes seconds to try its walls, so few tests ask much of one each.
 * Of them CI's pass with sanitizers leaves the longest out, by its name (bootstrap.sh, UNSANITIZED). */
#include "tests/localdaemon/session_call.h"
#include "tests/localdaemon/wall.h"

#include "examples/localdaemon/sandbox.h"
#include "tests/support/exec.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"

#include <arpa/inet.h>
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static test_daemon host;

/* ---- statements ------------------------------------------------------------------------------------ */

#define TRUE_STEP "\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"\"}],\"steps\":[\"true\"]}"

/* Fixed by the machine's programs alone, so the same in every answer. */
static void check_environment(void) {
    char identity[128];
    wire_end said;
    wire_json(&host, DESCRIBE, "{}", &said);
    snprintf(identity, sizeof identity, "%s", json_at(said.json, "projectEnvironment/identity"));
    cr_assert_eq(strncmp(identity, "localdaemon-environment:sha256:", 31), 0, "%s", said.body);
    cr_assert_eq(strlen(identity), 31 + 64);
    cr_assert_str_eq(json_at(said.json, "javascriptEnvironment/identity"), identity);
    cr_assert_str_eq(json_at(said.json, "sessionEnvironment/identity"), identity);
    wire_free(&said);
    json_t *answer = wire_run(&host, "{\"protocol\":3," TRUE_STEP "}");
    cr_assert_str_eq(json_at(answer, "environment"), identity);
    cr_assert_str_eq(json_at(answer, "record/environment"), identity);
    json_decref(answer);
}

/* Limits that hold for a whole run, and no cells: nothing lives on from call to call. */
static void check_description(void) {
    wire_end said;
    wire_json(&host, DESCRIBE, "{}", &said);
    cr_assert_str_eq(json_at(said.json, "sandbox"), "kernel");
    cr_assert_str_eq(json_at(said.json, "isolation"), "kernel");
    cr_assert_str_eq(json_at(said.json, "resources/pids"), "256");
    cr_assert_str_eq(json_at(said.json, "resources/memoryMb"), "2048");
    cr_assert_str_eq(json_at(said.json, "resources/cpus"), "", "nothing bounds them");
    cr_assert_str_eq(json_at(said.json, "supportsSessions"), "true");
    cr_assert_str_eq(json_at(said.json, "sessionEnvironment/languages/0"), "");
    wire_free(&said);
}

static void check_floors(void) {
    json_decref(wire_run(&host, "{\"protocol\":3,\"minimumIsolation\":\"kernel\"," TRUE_STEP "}"));
    wire_end end;
    wire_json(&host, RUN, "{\"protocol\":3,\"minimumIsolation\":\"vm\"," TRUE_STEP "}", &end);
    expect_error(&end, 400, "failed_precondition", MARK_ISOLATION, NULL);
    wire_free(&end);
}

/* A missing gVisor names the package that brings it. */
Test(localdaemon_kernel, missing_program) {
    char path[PATH_MAX];
    cs_error err;
    EXPECT_CODE(ld_find_program("runsc-that-is-not-there", "runsc", path, &err), err, CS_UNCHECKED, CS_CODE_IO);
    cr_assert_not_null(strstr(err.message, "(Debian: runsc)"), "%s", err.message);
    EXPECT_OK(ld_find_program("sh", "dash", path, &err), err);
}

/* ---- walls ----------------------------------------------------------------------------------------- */

static void check_files(void) {
    char folder[128], path[160], command[512];
    folder_make(folder);
    snprintf(path, sizeof path, "%s/canary", folder);
    file_write(path, "canary\n", 7);
    cr_assert_eq(chmod(path, 0644), 0);
    snprintf(command, sizeof command, "cat %s", path);
    expect_wall(&host, "reading a file outside", command);
    expect_wall(&host, "reading the list of users", "cat /etc/passwd");
    folder_remove(folder);
    /* What is written there must not arrive outside; a copy of its own would be no leak. */
    if (geteuid() == 0)
        expect_wall(&host, "making a file in /usr", "touch /usr/.localdaemon-test && rm /usr/.localdaemon-test");
    cr_assert_neq(wall_inside(&host, "touch /usr/.localdaemon-test"), 0);
    wall_inside(&host, "touch /etc/.localdaemon-test /.localdaemon-test /dev/.localdaemon-test /tmp/.localdaemon-test");
    cr_assert_neq(access("/etc/.localdaemon-test", F_OK), 0);
    cr_assert_neq(access("/.localdaemon-test", F_OK), 0);
    cr_assert_neq(access("/dev/.localdaemon-test", F_OK), 0);
    cr_assert_neq(access("/tmp/.localdaemon-test", F_OK), 0);
}

static void check_network(void) {
    char command[512];
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(fd >= 0 && bind(fd, (const struct sockaddr *)&at, size) == 0 && listen(fd, 8) == 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    snprintf(
        command, sizeof command,
        "node -e "
        "'require(`net`).connect(%u,`127.0.0.1`).on(`connect`,()=>process.exit(0)).on(`error`,()=>process.exit(1))'",
        ntohs(at.sin_port));
    expect_wall(&host, "connecting to a loopback port", command);
    close(fd);
}

static void check_processes(void) {
    char command[160];
    snprintf(command, sizeof command, "kill -0 %d", (int)getpid());
    expect_wall(&host, "signalling a process outside", command);
    snprintf(command, sizeof command, "cat /proc/%d/cmdline | grep -q .", (int)getpid());
    expect_wall(&host, "reading another process's arguments", command);
    /* No right of root, who or whatever the program is inside. */
    cr_assert_eq(wall_outside("test $(grep CapEff /proc/self/status | cut -f2) = 0000000000000000") == 0,
                 geteuid() != 0);
    cr_assert_eq(wall_inside(&host, "test $(grep CapEff /proc/self/status | cut -f2) = 0000000000000000"), 0);
    /* On a folder of the host's; in its own memory gVisor may play with devices as it likes. */
    snprintf(command, sizeof command, "cd ${TMPDIR:-/tmp} && mknod null-%d c 1 3 && rm null-%d", (int)getpid(),
             (int)getpid());
    if (geteuid() == 0) expect_wall(&host, "making a device", command);
}

static void check_limits(void) {
    cr_assert_eq(wall_inside(&host, "test $(ulimit -c) = 0 && test $(ulimit -n) = 1024 && test $(ulimit -t) = 600"), 0);
    cr_assert_neq(wall_inside(&host, "head -c 268435457 /dev/zero > large"), 0, "a file of 256 MiB and one byte");
    cr_assert_eq(wall_inside(&host, "i=0; while [ $i -lt 100 ]; do sleep 600 & i=$((i+1)); done"), 0);
    cr_assert_neq(wall_inside(&host, "i=0; while [ $i -lt 300 ]; do sleep 600 & i=$((i+1)); done"), 0);
    cr_assert_eq(wall_inside(&host, "node -e 'Buffer.alloc(1<<26)'"), 0);
    cr_assert_neq(
        wall_inside(&host,
                    "node -e 'const b=[];for(let i=0;i<40;i++)b.push(new Uint8Array(1<<26).fill(1))' 2>/dev/null"),
        0, "2.5 GiB");
}

/* A run that kills whatever it may, and one that forks without end; the next one finds its place clean. */
static void check_hostile(void) {
    static const char *const steps[] = {"while :; do kill -9 -1; done", "b() { b | b & }; b; sleep 1000"};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
        json_decref(wire_run(&host,
                             "{\"protocol\":3,\"timeoutMs\":4000,\"project\":{\"files\":[{\"path\":\"f\",\"content\":"
                             "\"\"}],\"steps\":[\"%s\"]}}",
                             steps[i]));
    cr_assert_eq(wall_inside(&host, "echo * && test \\\"$(echo *)\\\" = f"), 0);
}

/* Nothing of one run is there in the next. */
static void check_lifecycle(void) {
    cr_assert_eq(
        wall_inside(&host, "echo marker > marker && echo marker > $TMPDIR/marker && echo marker > /tmp/marker"), 0);
    cr_assert_eq(
        wall_inside(&host, "test ! -e marker && test ! -e $TMPDIR/marker && test ! -e /tmp/marker && test -e f"), 0);
}

/* A program may be gone before gVisor asks for its end. */
static void check_short_programs(void) {
    for (int i = 0; i < 24; i++) {
        cr_assert_eq(wall_inside(&host, "exit 2"), 2);
        cr_assert_eq(wall_inside(&host, "true"), 0);
    }
}

/* Files stay from call to call; no interpreter does. */
static void check_sessions(void) {
    test_session session;
    wire_end end;
    wire_json(&host, OPEN, "{\"protocol\":3,\"languages\":[\"javascript\"]}", &end);
    expect_error(&end, 501, "unimplemented", MARK_UNSUPPORTED, NULL);
    wire_free(&end);
    session_open(&host, ",\"minimumIsolation\":\"kernel\"", &session);
    session_send(&session, "\"cell\":{\"language\":\"javascript\",\"code\":\"1\"}", &end);
    expect_error(&end, 501, "unimplemented", MARK_UNSUPPORTED, NULL);
    wire_free(&end);
    json_decref(session_call(&session, SHELL("echo kept > file")));
    json_t *answer = session_call(&session, "\"javascript\":{\"code\":\"process.stdout.write(require('fs')."
                                            "readFileSync('file'))\"}");
    cr_assert_str_eq(json_bytes_at(answer, "run/javascript/stdout"), "kept\n");
    json_decref(answer);
    session_close(&session, "SESSION_END_CLOSED");
}

Test(localdaemon_kernel, statements_walls_and_sessions, .timeout = 400) {
    daemon_start(&host, "kernel", NULL);
    check_environment();
    check_description();
    check_floors();
    check_files();
    check_network();
    check_processes();
    check_limits();
    check_hostile();
    check_lifecycle();
    check_short_programs();
    check_sessions();
    cr_assert_eq(daemon_stop(&host), 0);
}

/* ---- what is left of a call ------------------------------------------------------------------------ */

/* A call that runs while the test looks on. */
typedef struct running {
    const test_session *session;
    const char *payload;
    wire_end end;
    pthread_t thread;
    char slot[256]; /* the folder of its slot */
} running;

static void *send_call(void *of) {
    running *call = of;
    session_send(call->session, call->payload, &call->end);
    return NULL;
}

/* The arguments of a process, each with its NUL; false when it is gone. */
static bool read_arguments(const char *path, char line[4096], size_t *len) {
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    *len = fread(line, 1, 4096, file);
    fclose(file);
    return *len > 0 && line[*len - 1] == '\0';
}

/* gVisor's processes of a slot, by what they were told; *sandbox is the one that is the kernel. */
static int count_monitors(const char *slot, pid_t *sandbox) {
    glob_t found;
    int count = 0;
    if (glob("/proc/[0-9]*/cmdline", 0, NULL, &found) != 0) return -1;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        size_t len = 0;
        char root[300], line[4096];
        snprintf(root, sizeof root, "--root=%s/kernel/state", slot);
        if (!read_arguments(found.gl_pathv[i], line, &len) || memmem(line, len, root, strlen(root)) == NULL) continue;
        count++;
        if (strcmp(line, "runsc-sandbox") == 0) *sandbox = (pid_t)atoi(found.gl_pathv[i] + 6);
    }
    globfree(&found);
    return count;
}

/* All processes of the slot's two users; of programs inside, gVisor shows the host no names. Root's daemon only. */
static int count_users(const char *slot) {
    char work[300];
    struct stat st, process;
    glob_t found;
    int count = 0;
    snprintf(work, sizeof work, "%s/work", slot);
    cr_assert_eq(stat(work, &st), 0);
    if (geteuid() != 0 || glob("/proc/[0-9]*", 0, NULL, &found) != 0) return 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (stat(found.gl_pathv[i], &process) == 0 && (process.st_uid == st.st_uid || process.st_uid == st.st_uid + 1))
            count++;
    globfree(&found);
    return count;
}

/* Begin it and wait for its file "begun". */
static pid_t begin_call(running *call, test_session *session, const char *payload) {
    char begun[300];
    pid_t sandbox = 0;
    *call = (running){.session = session, .payload = payload};
    snprintf(call->slot, sizeof call->slot, "%s", session_folder(session));
    *strrchr(call->slot, '/') = '\0';
    snprintf(begun, sizeof begun, "%s/work/begun", call->slot);
    cr_assert_eq(pthread_create(&call->thread, NULL, send_call, call), 0);
    for (int i = 0; i < 10000 && access(begun, F_OK) != 0; i++)
        usleep(2000);
    cr_assert_eq(access(begun, F_OK), 0);
    cr_assert_geq(count_monitors(call->slot, &sandbox), 2, "control: they are found while they are there");
    cr_assert_gt(sandbox, 0);
    if (geteuid() == 0) cr_assert_geq(count_users(call->slot), 3, "control: the same");
    return sandbox;
}

static void expect_nothing_left(const running *call) {
    char kernel[300];
    pid_t sandbox = 0;
    snprintf(kernel, sizeof kernel, "%s/kernel", call->slot);
    cr_assert_eq(count_monitors(call->slot, &sandbox), 0);
    cr_assert_eq(count_users(call->slot), 0);
    cr_assert_neq(access(kernel, F_OK), 0);
    char command[400];
    snprintf(command, sizeof command, "! grep -q %s /proc/self/mountinfo && grep -q / /proc/self/mountinfo",
             call->slot);
    cr_assert_eq(wall_outside(command), 0);
}

#define SLEEPS SHELL("touch begun; setsid sleep 98761.5 & sleep 98761.5")
#define LIMITED "\"timeoutMs\":5000," SLEEPS

static void check_time_out(void) {
    test_session session;
    running call;
    session_open(&host, "", &session);
    session_mark(&session);
    begin_call(&call, &session, LIMITED);
    /* The host knows no such process: the program is one of gVisor's, not one of its own. */
    cr_assert_eq(count_processes("98761.5"), 0);
    pthread_join(call.thread, NULL);
    cr_assert_str_eq(json_at(call.end.json, "run/project/outcome"), "PROJECT_OUTCOME_TIMED_OUT", "%s", call.end.body);
    session_check_answer(&session, LIMITED, &call.end);
    wire_free(&call.end);
    expect_nothing_left(&call);
    /* Files stay, processes don't. */
    json_t *answer = session_call(
        &session, SHELL("test -e begun && for p in /proc/[0-9]*; do grep -l sleep $p/comm; done; echo looked"));
    cr_assert_str_eq(json_bytes_at(answer, "run/project/steps/0/stdout"), "looked\n");
    json_decref(answer);
    session_close(&session, "SESSION_END_CLOSED");
}

/* Nor does the daemon's end leave anything. */
static void check_stop(void) {
    test_session session;
    running call;
    session_open(&host, "", &session);
    session_mark(&session);
    begin_call(&call, &session, SLEEPS);
    cr_assert_eq(daemon_stop(&host), 0);
    pthread_join(call.thread, NULL);
    session_check_unanswered(&session, SLEEPS, &call.end, 503, "unavailable");
    wire_free(&call.end);
    pid_t sandbox = 0;
    cr_assert_eq(count_monitors(call.slot, &sandbox), 0);
    cr_assert_neq(access(call.slot, F_OK), 0);
}

Test(localdaemon_kernel, a_time_out_and_a_stop_leave_nothing, .timeout = 200) {
    daemon_start(&host, "kernel", NULL);
    check_time_out();
    check_stop();
}

/* gVisor passes its own death on as if it were the program's. That is no result. Its record, of version 4 here, names
 * the session's sandbox as those of the answers do. */
Test(localdaemon_kernel, its_own_death_is_no_result, .timeout = 120) {
    static const char *const more[] = {"--protocol", "4", NULL};
    test_session session;
    running call;
    daemon_start(&host, "kernel", more);
    session_open_in(&host, 4, "", &session);
    session_mark(&session);
    pid_t sandbox = begin_call(&call, &session, SLEEPS);
    cr_assert_eq(kill(sandbox, SIGKILL), 0);
    pthread_join(call.thread, NULL);
    session_check_unanswered(&session, SLEEPS, &call.end, 500, "internal");
    wire_free(&call.end);
    expect_nothing_left(&call);
    /* The twin: a program that ends in the same way. */
    json_t *answer = session_call(&session, SHELL("kill -9 $$"));
    cr_assert_str_eq(json_at(answer, "run/project/steps/0/exitCode"), "137");
    json_decref(answer);
    session_close(&session, "SESSION_END_CLOSED");
    cr_assert_eq(daemon_stop(&host), 0);
}
