/* The provider vm with real machines. Each boots for seconds where the processor is emulated, so one test does much,
 * and CI's pass with sanitizers leaves runs_and_sessions out by its name (bootstrap.sh, UNSANITIZED). */
#include "tests/localdaemon/session_call.h"
#include "tests/support/exec.h"
#include "tests/support/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An argument of every monitor that the daemon starts. */
#define MONITOR "virtserialport,chardev=agent,name=agent"
#define FINGERPRINT                                                                                                    \
    "{\"fingerprint\":\"63cfd676924a3896127d60c97333677f3b3c804dd764dba001121f6c234a937f\",\"ticks\":2000,"

static test_daemon host;

/* Another daemon's machines may run meanwhile: those of this one descend from it. */
static bool descends(pid_t pid, pid_t from) {
    while (pid > 1 && pid != from) {
        char path[64], line[512] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || read(fd, line, sizeof line - 1) <= 0) pid = 0;
        if (fd >= 0) close(fd);
        const char *state = strrchr(line, ')');
        pid = pid > 1 && state != NULL ? (pid_t)strtol(state + 4, NULL, 10) : 0;
    }
    return pid == from;
}

/* The monitor of the only machine that the daemon has; 0: it has none. */
static pid_t monitor_of(pid_t daemon) {
    pid_t found = 0;
    DIR *proc = opendir("/proc");
    cr_assert_not_null(proc);
    for (const struct dirent *entry = readdir(proc); entry != NULL; entry = readdir(proc)) {
        char path[300], line[8192];
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) continue;
        ssize_t got = read(fd, line, sizeof line);
        close(fd);
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (got > 0 && memmem(line, (size_t)got, MONITOR, sizeof MONITOR) != NULL && descends(pid, daemon)) found = pid;
    }
    closedir(proc);
    return found;
}

static long status_field(pid_t pid, const char *name, int base) {
    char path[64], line[256];
    long value = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    cr_assert_not_null(file);
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0) value = strtol(line + strlen(name), NULL, base);
    fclose(file);
    return value;
}

/* ---- runs ------------------------------------------------------------------------------------------ */

/* What the whole machine has, and so a whole run. */
static void check_description(void) {
    wire_end said;
    wire_json(&host, DESCRIBE, "{}", &said);
    cr_assert_str_eq(json_at(said.json, "resources/memoryMb"), "1024");
    cr_assert_str_eq(json_at(said.json, "resources/cpus"), "1");
    cr_assert_str_eq(json_at(said.json, "resources/pids"), "256");
    wire_free(&said);
    json_t *answer = wire_run(&host, "{\"protocol\":4,\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"\"}],"
                                     "\"steps\":[\"grep -c ^processor /proc/cpuinfo\"]}}");
    cr_assert_str_eq(json_bytes_at(answer, "project/steps/0/stdout"), "1\n");
    json_decref(answer);
}

/* The example's workload, on a floor that no other provider meets. */
static void check_run(void) {
    char path[1024];
    const char *build = getenv("COUNTERSIGN_BUILD");
    snprintf(path, sizeof path, "%s/cartpole/accepted.json", build != NULL ? build : "build");
    json_t *request = json_load_file(path, 0, NULL);
    cr_assert_not_null(request, "%s is missing; make cartpole", path);
    json_object_set_new(request, "protocol", json_integer(4));
    json_object_set_new(request, "minimumIsolation", json_string("vm"));
    json_object_set_new(request, "timeoutMs", json_integer(300000));
    char *body = json_dumps(request, JSON_COMPACT);
    json_t *answer = wire_run(&host, "%s", body);
    cr_assert_eq(strncmp(json_bytes_at(answer, "project/steps/0/stdout"), FINGERPRINT, sizeof FINGERPRINT - 1), 0, "%s",
                 json_bytes_at(answer, "project/steps/0/stderr"));
    cr_assert_str_eq(json_at(answer, "isolation"), "vm");
    const char *environment = json_at(answer, "record/environment");
    cr_assert(strncmp(environment, "localdaemon-vm-tcg:sha256:", 26) == 0 ||
                  strncmp(environment, "localdaemon-vm-kvm:sha256:", 26) == 0,
              "%s", environment);
    cr_assert_eq(strlen(environment), 26 + 64);
    cr_assert_str_eq(json_at(answer, "environment"), environment);
    cr_assert_str_eq(json_at(answer, "record/version"), "4");
    cr_assert_eq(strncmp(json_at(answer, "instance"), "localdaemon-sandbox:", 20), 0, "%s",
                 json_at(answer, "instance"));
    cr_assert_str_eq(json_at(answer, "record/instance"), json_at(answer, "instance"));
    cr_assert_eq(monitor_of(host.pid), 0, "the machine is gone when its answer comes");
    json_decref(answer);
    json_decref(request);
    free(body);
}

/* ---- sessions -------------------------------------------------------------------------------------- */

/* The output of one shell step in the session; borrows a static buffer. */
static const char *shell_out(test_session *session, const char *payload) {
    json_t *answer = session_call(session, payload);
    const char *out = json_bytes_at(answer, "run/project/steps/0/stdout");
    json_decref(answer);
    return out;
}

/* Files stay from call to call, processes don't, and what runs out of time ends. */
static void check_calls(test_session *session) {
    cr_assert_str_eq(shell_out(session, SHELL("pwd; id -u; hostname 2>/dev/null || cat /proc/sys/kernel/hostname; "
                                              "echo one > kept; echo two > $TMPDIR/kept; ln -s kept link")),
                     "/tmp/localdaemon/0/work\n1000\nlocalhost\n");
    json_t *answer = session_call(
        session, "\"timeoutMs\":3000," SHELL("(trap '' TERM HUP; setsid sleep 76543 &) ; echo begun; sleep 76543"));
    cr_assert_str_eq(json_at(answer, "run/project/outcome"), "PROJECT_OUTCOME_TIMED_OUT");
    cr_assert_str_eq(json_at(answer, "run/project/steps/0/exitCode"), "137");
    cr_assert_str_eq(json_bytes_at(answer, "run/project/steps/0/stdout"), "begun\n");
    json_decref(answer);
    cr_assert_str_eq(shell_out(session, SHELL("cat kept $TMPDIR/kept; cat /proc/[0-9]*/cmdline | tr '\\\\0' ' ' | "
                                              "grep -c 'sleep 76543' || true; chmod 0 . $TMPDIR")),
                     "one\ntwo\n1\n", "only the looking itself is there");
    answer = session_call(session, "\"project\":{\"files\":[{\"path\":\"kept\",\"content\":\"new\"},{\"path\":\"a/b\","
                                   "\"content\":\"c\"}],\"steps\":[\"cat kept a/b; kill -9 $$\"],"
                                   "\"artifacts\":[\"kept\",\"link\",\"a\",\"none\"]}");
    cr_assert_str_eq(json_bytes_at(answer, "run/project/steps/0/stdout"), "newc");
    cr_assert_str_eq(json_at(answer, "run/project/steps/0/exitCode"), "137");
    cr_assert_str_eq(json_bytes_at(answer, "run/project/artifacts/0/content"), "new");
    cr_assert_str_eq(json_at(answer, "run/project/outcomeDetail"),
                     "artifact not collected: link: no such regular file; artifact not collected: a: no such regular "
                     "file; artifact not collected: none: no such regular file");
    json_decref(answer);
    answer = session_call(session, SHELL("head -c 262145 /dev/zero; head -c 3000000 /dev/zero >&2"));
    cr_assert_str_eq(json_at(answer, "run/project/steps/0/stdoutTruncated"), "true");
    cr_assert_eq(strlen(json_at(answer, "run/project/steps/0/stdout")), 349528, "262144 bytes in base64");
    cr_assert_eq(strlen(json_at(answer, "run/project/steps/0/stderr")), 349528);
    json_decref(answer);
}

/* What a run that has broken out of the guest would find itself in. */
static void check_monitor(void) {
    pid_t monitor = monitor_of(host.pid);
    cr_assert_gt(monitor, 0, "the session keeps its machine");
    cr_assert_eq(status_field(monitor, "NoNewPrivs:", 10), 1);
    cr_assert_eq(status_field(monitor, "Seccomp:", 10), 2);
    cr_assert_eq(status_field(monitor, "CapEff:", 16), 0);
    if (geteuid() == 0) cr_assert_gt(status_field(monitor, "Uid:", 10), 0);
}

/* A machine that is gone ends its session, and nothing else. */
static void check_lost_machine(test_session *session) {
    wire_end end;
    cr_assert_eq(kill(monitor_of(host.pid), SIGKILL), 0);
    session_send(session, SHELL("echo never"), &end);
    session_check_unanswered(session, SHELL("echo never"), &end, 500, "internal");
    json_t *ended = error_detail(&end, "plimsoll.v1.SessionEnded");
    cr_assert_not_null(ended, "%s", end.body);
    cr_assert_str_eq(json_at(ended, "reason"), "SESSION_END_BOUNDARY_FAILED");
    json_decref(ended);
    wire_free(&end);
    session_close(session, "SESSION_END_BOUNDARY_FAILED");
}

Test(localdaemon_vm, runs_and_sessions, .timeout = 400) {
    static const char *const more[] = {"--protocol", "4", NULL};
    test_session session, other;
    daemon_start(&host, "vm", more);
    check_description();
    check_run();
    session_open_in(&host, 4, "", &session);
    check_calls(&session);
    check_monitor();
    check_lost_machine(&session);
    /* The daemon's death is the machine's. */
    session_open_in(&host, 4, "", &other);
    cr_assert_str_eq(shell_out(&other, SHELL("cat kept 2>/dev/null || echo fresh")), "fresh\n");
    cr_assert_str_neq(other.instance, session.instance);
    pid_t monitor = monitor_of(host.pid);
    cr_assert_gt(monitor, 0);
    daemon_signal(&host, SIGKILL);
    for (int i = 0; i < 1000 && process_state(monitor) != 'X'; i++)
        usleep(10000);
    cr_assert_eq(process_state(monitor), 'X');
    cr_assert_eq(daemon_stop(&host), 128 + SIGKILL);
}

/* Without what it needs, the provider says what brings it. */
Test(localdaemon_vm, missing_image, .timeout = 60) {
    char folder[128], log[200], program[1024];
    folder_make(folder);
    cr_assert_eq(setenv("LOCALDAEMON_CACHE", folder, 1), 0);
    exec_built("localdaemon", program);
    const char *argv[] = {program, "--provider", "vm", "--check", NULL};
    exec_end end;
    exec_run(NULL, argv, &end);
    snprintf(log, sizeof log, "no image of virtual machines at %s/vm/current", folder);
    if (strstr(end.err, "qemu-system-x86") == NULL) cr_assert_not_null(strstr(end.err, log), "%s", end.err);
    cr_assert_eq(end.status, 5);
    exec_free(&end);
    folder_remove(folder);
}
