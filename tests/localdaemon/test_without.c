/* Guards that are stated and not put up: the start finds each of them, by its name, and serves only with the word that
 * it lies; what it states is then the same, and the runs are really without them. The twin of each is the same daemon
 * without the option. */
#include "examples/localdaemon/smoke.h"
#include "tests/localdaemon/session_call.h"
#include "tests/support/exec.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORD "--i-am-lying-for-a-test"

static void need_root(void) {
    if (geteuid() == 0) return;
    if (getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL")) cr_assert_fail("all guards are on offer to root only");
    cr_skip_test("SKIPPED: all guards are on offer to root only");
}

/* Run the daemon to its end: it says nothing on standard output, and this last on standard error. */
static void expect_end(const char *const more[], int status, const char *last) {
    char program[1024];
    const char *argv[16] = {program, "--listen", "127.0.0.1:0"};
    size_t count = 3;
    exec_end end;
    exec_built("localdaemon", program);
    for (size_t i = 0; more[i] != NULL; i++)
        argv[count++] = more[i];
    exec_run(NULL, argv, &end);
    size_t len = strlen(last);
    cr_expect_eq(end.status, status, "%d: %s", end.status, end.err);
    cr_expect_eq(end.out_len, 0, "%s", end.out);
    cr_expect(end.err_len >= len && strcmp(end.err + end.err_len - len, last) == 0, "%s", end.err);
    exec_free(&end);
}

static void refuse(const char *provider, const char *guards, const char *why) {
    char last[200];
    const char *const more[] = {"--open", "--provider", provider, "--without", guards, NULL};
    snprintf(last, sizeof last, "localdaemon: can't serve: %s\n", why);
    expect_end(more, 5, last);
}

static void expect_serves(const char *provider) {
    test_daemon daemon;
    daemon_start(&daemon, provider, NULL);
    cr_assert_eq(daemon_stop(&daemon), 0);
}

/* ---- refused --------------------------------------------------------------------------------------- */

Test(localdaemon_without, process_does_not_serve, .timeout = 100) {
    need_root();
    expect_serves("process");
    refuse("process", "files", "the guard files does not hold: the attempt \"read\" succeeds");
    refuse("process", "syscalls,sockets", "the guard syscalls does not hold: the attempt \"keyctl\" succeeds");
    refuse("process", "sockets", "the guard sockets does not hold: the attempt \"socket\" succeeds");
    refuse("process", "memory", "the guard memory does not hold: the attempt \"memory\" succeeds");
    refuse("process", "user", "the guard user does not hold: the attempt \"read\" succeeds");
    refuse("process", "processes", "the guard processes does not hold: the attempt \"fork\" succeeds");
    refuse("process", "file-size", "the guard file-size does not hold: the attempt \"write\" succeeds");
}

Test(localdaemon_without, container_does_not_serve, .timeout = 100) {
    need_root();
    expect_serves("container");
    refuse("container", "network", "the guard network does not hold: the attempt \"tcp\" succeeds");
    refuse("container", "network,sockets", "the guard network does not hold: the attempt \"tcp\" succeeds");
    refuse("container", "memory", "the guard memory does not hold: the attempt \"memory\" succeeds");
    refuse("container", "mounts", "the guard mounts does not hold: the attempt \"read\" succeeds");
    refuse("container", "pids", "the guard pids does not hold: the attempt \"signal\" succeeds");
}

/* Seconds for each. CI's pass with sanitizers leaves it out, by its name (bootstrap.sh, UNSANITIZED). */
Test(localdaemon_without_slow, kernel_does_not_serve, .timeout = 200) {
    need_root();
    expect_serves("kernel");
    refuse("kernel", "memory", "the guard memory does not hold: the attempt \"touch\" succeeds");
    refuse("kernel", "network", "the guard network does not hold: the attempt \"tcp\" succeeds");
}

/* With the word it tells the same when it is only to tell. */
Test(localdaemon_without, a_check_finds_it_with_the_word_too, .timeout = 60) {
    need_root();
    char program[1024];
    const char *const honest[] = {program, "--check", "--provider", "process", NULL};
    const char *const lying[] = {program, "--check", "--provider", "process", "--without", "files", WORD, NULL};
    exec_end end;
    exec_built("localdaemon", program);
    exec_run(NULL, honest, &end);
    cr_expect_eq(end.status, 0, "%s", end.err);
    cr_expect_not_null(strstr(end.out, "guard files: read is denied; without the guard: succeeds\n"), "%s", end.out);
    cr_expect_not_null(strstr(end.out, "provider process: works here\n"), "%s", end.out);
    exec_free(&end);
    exec_run(NULL, lying, &end);
    cr_expect_eq(end.status, 5, "%s", end.err);
    cr_expect_not_null(strstr(end.out, "guard files: read SUCCEEDS; without the guard: succeeds\n"), "%s", end.out);
    cr_expect_null(strstr(end.out, "works here"), "%s", end.out);
    exec_free(&end);
}

/* ---- served, with the word ------------------------------------------------------------------------- */

/* The last word of what a shell command prints inside, in a run or in a call of a session. */
static const char *told(const test_daemon *daemon, test_session *session, const char *command) {
    static char kept[256];
    char body[1024];
    snprintf(body, sizeof body, "%s\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"\"}],\"steps\":[\"%s\"]}",
             session != NULL ? "" : "{\"protocol\":3,", command);
    json_t *answer = NULL;
    if (session != NULL)
        answer = session_call(session, body);
    else
        answer = wire_run(daemon, "%s}", body);
    snprintf(kept, sizeof kept, "%s",
             json_bytes_at(answer, session != NULL ? "run/project/steps/0/stdout" : "project/steps/0/stdout"));
    json_decref(answer);
    kept[strcspn(kept, "\n")] = '\0';
    return kept;
}

/* The same in both. */
static void expect_told(const test_daemon *daemon, const char *command, const char *want) {
    test_session session;
    cr_expect_str_eq(told(daemon, NULL, command), want, "%s", command);
    session_open(daemon, "", &session);
    cr_expect_str_eq(told(daemon, &session, command), want, "%s (session)", command);
    session_close(&session, "SESSION_END_CLOSED");
}

static bool log_says(const test_daemon *daemon, const char *guard) {
    char words[100];
    size_t len = 0;
    snprintf(words, sizeof words, "LYING FOR A TEST: the guard %s does not hold: ", guard);
    char *log = file_read(daemon->log, &len);
    bool says = log != NULL && strstr(log, words) != NULL;
    free(log);
    return says;
}

/* Two daemons, one of them without the guards. Both state the same. */
static void begin_pair(const char *provider, const char *guards, test_daemon *honest, test_daemon *lying) {
    const char *const without[] = {"--without", guards, WORD, NULL};
    wire_end a, b;
    daemon_start(honest, provider, NULL);
    daemon_start(lying, provider, without);
    wire_json(honest, DESCRIBE, "{}", &a);
    wire_json(lying, DESCRIBE, "{}", &b);
    cr_expect_str_eq(json_at(a.json, "policy"), json_at(b.json, "policy"));
    json_t *resources = json_object_get(a.json, "resources");
    cr_expect(json_equal(resources, json_object_get(b.json, "resources")), "%s\n%s", a.body, b.body);
    wire_free(&a);
    wire_free(&b);
}

static void end_pair(test_daemon *honest, test_daemon *lying) {
    cr_expect_eq(daemon_stop(honest), 0);
    cr_expect_eq(daemon_stop(lying), 0);
}

Test(localdaemon_without, files_are_open_with_the_word, .timeout = 60) {
    char folder[128], path[160], command[256];
    test_daemon honest, lying;
    begin_pair("process", "files", &honest, &lying);
    cr_expect(log_says(&lying, "files") && !log_says(&lying, "sockets") && !log_says(&honest, "files"));
    folder_make(folder);
    snprintf(path, sizeof path, "%s/canary", folder);
    file_write(path, "canary\n", 7);
    cr_assert_eq(chmod(path, 0644), 0);
    snprintf(command, sizeof command, "cat %s 2>/dev/null || echo none", path);
    expect_told(&lying, command, "canary");
    expect_told(&honest, command, "none");
    folder_remove(folder);
    end_pair(&honest, &lying);
}

/* Without `files`, since what /proc says could not be read otherwise. */
static void expect_seccomp(const char *guards, const char *want) {
    test_daemon daemon;
    const char *const without[] = {"--without", guards, WORD, NULL};
    daemon_start(&daemon, "process", without);
    expect_told(&daemon, "sed -n 's/^Seccomp:.//p' /proc/self/status", want);
    expect_told(&daemon, "sed -n 's/^NoNewPrivs:.//p' /proc/self/status", "1");
    cr_expect_eq(daemon_stop(&daemon), 0);
}

Test(localdaemon_without, both_filters_down_is_no_filter, .timeout = 100) {
    expect_seccomp("files", "2");
    expect_seccomp("files,sockets", "2");
    expect_seccomp("files,syscalls", "2");
    expect_seccomp("files,sockets,syscalls", "0");
}

Test(localdaemon_without, network_is_the_hosts_with_the_word, .timeout = 60) {
    char own[64] = {0};
    test_daemon honest, lying;
    begin_pair("container", "network,sockets", &honest, &lying);
    cr_expect(log_says(&lying, "network") && log_says(&lying, "sockets") && !log_says(&lying, "pids"));
    cr_assert_gt(readlink("/proc/self/ns/net", own, sizeof own - 1), 0);
    expect_told(&lying, "readlink /proc/self/ns/net", own);
    cr_expect_str_neq(told(&honest, NULL, "readlink /proc/self/ns/net"), own);
    end_pair(&honest, &lying);
}

Test(localdaemon_without, limits_are_gone_with_the_word, .timeout = 60) {
    test_daemon honest, lying;
    need_root();
    begin_pair("container", "memory,file-size,processes", &honest, &lying);
    expect_told(&lying, "echo $(ulimit -d) $(ulimit -f)", "unlimited unlimited");
    expect_told(&honest, "echo $(ulimit -d) $(ulimit -f)", "1048576 524288"); /* KiB; blocks of 512 */
    end_pair(&honest, &lying);
}

/* Whose limits bind nobody: a guard that stands on another falls with it, and that is no known fault. */
Test(localdaemon_without, a_run_of_root_is_no_surprise_and_what_falls_with_it_is, .timeout = 60) {
    test_daemon lying;
    need_root();
    const char *const more[] = {"--open", "--provider", "process", "--without", "user", WORD, NULL};
    const char *const without[] = {"--without", "user,processes", WORD, NULL};
    expect_end(more, 5, "localdaemon: can't serve: the guard processes does not hold: the attempt \"fork\" succeeds\n");
    daemon_start(&lying, "process", without);
    expect_told(&lying, "id -u", "0");
    cr_expect_eq(daemon_stop(&lying), 0);
    daemon_start(&lying, "container", without);
    expect_told(&lying, "echo made >g && cat g", "made");
    cr_expect_eq(daemon_stop(&lying), 0);
}

/* A machine for each run and session, and both are without. CI's pass with sanitizers leaves it out, by its name. */
Test(localdaemon_without_slow, vm_is_without_them_in_runs_and_sessions, .timeout = 400) {
    test_daemon lying;
    const char *const without[] = {"--without", "network,file-size", WORD, NULL};
    daemon_start(&lying, "vm", without);
    cr_expect(log_says(&lying, "network") && log_says(&lying, "file-size") && !log_says(&lying, "memory"));
    expect_told(&lying, "echo $(ulimit -f) $(grep -c eth0 /proc/net/dev)", "unlimited 1");
    cr_expect_eq(daemon_stop(&lying), 0);
    daemon_start(&lying, "vm", NULL);
    expect_told(&lying, "echo $(ulimit -f) $(grep -c eth0 /proc/net/dev)", "524288 0");
    cr_expect_eq(daemon_stop(&lying), 0);
    refuse("vm", "network", "the guard network does not hold: the attempt \"gateway\" succeeds");
}

/* ---- what can't be left out ------------------------------------------------------------------------ */

static void expect_wrong(const char *provider, const char *guards, const char *word, const char *last) {
    const char *const more[] = {"--open", "--provider", provider, "--without", guards, word, NULL};
    expect_end(more, 2, last);
}

#define OF_PROCESS                                                                                                     \
    "is no guard of the provider process that can be left out: user, files, tcp, abstract, signals, syscalls, "        \
    "sockets, processes, memory, file-size\n"

Test(localdaemon_without, wrong_lines_are_refused) {
    expect_wrong("process", "nonsense", NULL, "localdaemon: --without: \"nonsense\" " OF_PROCESS);
    expect_wrong("process", "network", NULL, "localdaemon: --without: \"network\" " OF_PROCESS);
    expect_wrong("process", "files,network", WORD, "localdaemon: --without: \"network\" " OF_PROCESS);
    expect_wrong("process", "files,", NULL, "localdaemon: --without: \"\" " OF_PROCESS);
    expect_wrong("process", "", NULL, "localdaemon: --without: \"\" " OF_PROCESS);
    expect_wrong("kernel", "kernel", NULL,
                 "localdaemon: --without: \"kernel\" is no guard of the provider kernel that can be left out: user, "
                 "processes, memory, file-size, mounts, network\n");
    const char *const twice[] = {"--open", "--provider", "process", "--without", "files", "--without", "tcp", NULL};
    expect_end(twice, 2, "localdaemon: --without is given once, with a list; see localdaemon --help\n");
    const char *const alone[] = {"--open", "--provider", "process", WORD, NULL};
    expect_end(alone, 2, "localdaemon: " WORD " takes --claim or --without\n");
    const char *const claim[] = {"--open", "--provider", "process", "--claim", "vm", "--without", "files", NULL};
    expect_end(claim, 2,
               "localdaemon: --claim makes the daemon state a tier that it does not have; it takes " WORD "\n");
}

/* A guard that is not on offer is not stated: leaving it out would change nothing. */
Test(localdaemon_without, what_is_not_on_offer_can_not_be_left_out) {
    cs_error err;
    ld_sandbox sandbox = {.guards = LD_GUARD_FILES};
    EXPECT_CODE(ld_sandbox_leave_out(&sandbox, LD_GUARD_FILES | LD_GUARD_TCP, true, &err), err, CS_UNCHECKED,
                CS_CODE_IO);
    cr_assert_str_eq(err.message, "the guard tcp is not on offer here, so it can't be left out");
    cr_assert_eq(ld_sandbox_in_force(&sandbox), LD_GUARD_FILES);
    EXPECT_OK(ld_sandbox_leave_out(&sandbox, LD_GUARD_FILES, true, &err), err);
    cr_assert_eq(ld_sandbox_in_force(&sandbox), 0);
    cr_assert_eq(sandbox.guards, LD_GUARD_FILES);
}

/* Something else does the work of a guard that is left out: then there is no fault that a test could build on. */
Test(localdaemon_without, a_guard_that_is_not_missed_is_no_lie, .timeout = 60) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_keyctl, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    test_daemon lying;
    const char *const without[] = {"--without", "syscalls", WORD, NULL};
    const char *const more[] = {"--open", "--provider", "process", "--without", "syscalls", WORD, NULL};
    daemon_start(&lying, "process", without);
    cr_expect_eq(daemon_stop(&lying), 0);
    cr_assert_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    cr_assert_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    expect_end(more, 5,
               "localdaemon: can't serve: the guard syscalls was not shown to hold: the attempt \"keyctl\" fails "
               "without it too (1)\n");
}
