/* The walls from inside, with ordinary programs: what the daemon's own smoke test (smoke.h) shows with its
 * attempts. Each attempt is first made outside, where it must succeed: otherwise it would show nothing. */
#include "tests/localdaemon/wall.h"
#include "tests/localdaemon/wire_call.h"

#include "tests/support/exec.h"
#include "tests/support/folder.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static test_daemon host;

static int listen_on_loopback(unsigned *port) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(fd >= 0 && bind(fd, (const struct sockaddr *)&at, size) == 0 && listen(fd, 8) == 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

static void check_files(void) {
    char folder[128], path[160], command[512];
    folder_make(folder);
    snprintf(path, sizeof path, "%s/canary", folder);
    file_write(path, "canary\n", 7);
    cr_assert_eq(chmod(path, 0644), 0);
    cr_assert_eq(chmod(folder, 0755), 0);
    snprintf(command, sizeof command, "cat %s", path);
    expect_wall(&host, "reading a file outside", command);
    snprintf(command, sizeof command, "ls %s", folder);
    expect_wall(&host, "listing a folder outside", command);
    expect_wall(&host, "reading the list of users", "cat /etc/passwd");
    expect_wall(&host, "making a file in /usr",
                geteuid() == 0 ? "touch /usr/.localdaemon-test && rm /usr/.localdaemon-test" : "cat /etc/hostname");
    folder_remove(folder);
}

static void check_network(void) {
    unsigned port = 0;
    int fd = listen_on_loopback(&port);
    char command[512];
    snprintf(
        command, sizeof command,
        "node -e "
        "'require(`net`).connect(%u,`127.0.0.1`).on(`connect`,()=>process.exit(0)).on(`error`,()=>process.exit(1))'",
        port);
    expect_wall(&host, "connecting to a loopback port", command);
    expect_wall(
        &host, "making a UDP socket",
        "node -e 'require(`dgram`).createSocket(`udp4`).bind(0,()=>process.exit(0)).on(`error`,()=>process.exit(1))'");
    close(fd);
}

static void check_processes(void) {
    char command[128];
    snprintf(command, sizeof command, "kill -0 %d", (int)getpid());
    expect_wall(&host, "signalling a process outside", command);
    snprintf(command, sizeof command, "cat /proc/%d/cmdline | grep -q .", (int)getpid());
    expect_wall(&host, "reading another process's arguments", command);
    expect_wall(&host, "making a user namespace", "unshare --user true");
}

/* System calls by their numbers on x86-64, with arguments that make them fail by themselves where they are
 * allowed. Each line: a name and an errno. */
#if defined(__x86_64__)
static const char calls[] =
    "sub t { my ($name, @a) = @_; $! = 0; my $r = syscall($a[0], map { $_ + 0 } @a[1 .. $#a]);"
    " print $name, ' ', $r < 0 ? $! + 0 : 0, qq(\n) }"
    " $| = 1; t('unshare', 272, 1); t('clone', 56, 0x10010000, 0, 0, 0, 0); t('clone3', 435, 0, 0);"
    " t('unix', 41, 1, 1, 0); t('keyctl', 250, 9999); t('getpid', 39);"
    " exec 'true' if @ARGV; t('x32', 0x40000000 + 39);";

/* The script's output inside, in a static copy. */
static const char *calls_inside(void) {
    static char kept[512];
    json_t *request = json_pack("{s:i, s:{s:[{s:s, s:s}], s:[s]}}", "protocol", 3, "project", "files", "path",
                                "calls.pl", "content", calls, "steps", "perl calls.pl; echo end $?");
    char *body = json_dumps(request, JSON_COMPACT);
    json_t *answer = wire_run(&host, "%s", body);
    snprintf(kept, sizeof kept, "%s", json_bytes_at(answer, "project/steps/0/stdout"));
    json_decref(answer);
    json_decref(request);
    free(body);
    return kept;
}

static void check_system_calls(void) {
    /* Control: outside, not one of them is answered as inside. */
    const char *const argv[] = {"perl", "-e", calls, "short", NULL};
    exec_end end;
    exec_run(NULL, argv, &end);
    static const char *const refused[] = {"unshare 1\n", "clone 1\n", "clone3 38\n", "unix 1\n", "keyctl 1\n"};
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        cr_assert_null(strstr(end.out, refused[i]), "control: outside, %s", end.out);
    cr_assert_not_null(strstr(end.out, "getpid 0\n"), "%s", end.err);
    exec_free(&end);
    /* The x32 call ends the process: 128 + SIGSYS. */
    cr_assert_str_eq(calls_inside(), "unshare 1\nclone 1\nclone3 38\nunix 1\nkeyctl 1\ngetpid 0\nend 159\n");
}
#else
static void check_system_calls(void) {
    cr_skip_test("SKIPPED: the numbers of the system calls are written down for x86-64 only");
}
#endif

/* A run that forks without end, and one that kills whatever it may: both end in time, and the next run finds
 * its place clean. */
static void check_hostile(void) {
    static const char *const steps[] = {"while :; do kill -9 -1; done", "b() { b | b & }; b; sleep 1000"};
    /* Without a user of its own such a run would be as dangerous as its name where a guard is missing. */
    for (int i = geteuid() == 0 ? 1 : -1; i >= 0; i--) {
        json_t *answer =
            wire_run(&host,
                     "{\"protocol\":3,\"timeoutMs\":700,\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"\"}],"
                     "\"steps\":[\"%s\"]}}",
                     steps[i]);
        /* The second may also end early, when its own shell finds no room for a child. */
        if (i == 0)
            cr_assert_str_eq(json_at(answer, "project/steps/0/timedOut"), "true", "exit code %s: %s",
                             json_at(answer, "project/steps/0/exitCode"),
                             json_bytes_at(answer, "project/steps/0/stderr"));
        json_decref(answer);
    }
    cr_assert_eq(wall_inside(&host, "test $(ls | wc -l) = 1"), 0);
}

/* Nothing of one run is there in the next. */
static void check_lifecycle(void) {
    cr_assert_eq(
        wall_inside(
            &host, "echo marker > marker && echo marker > $TMPDIR/marker && mkdir -p here/and/there && test -e marker"),
        0);
    cr_assert_eq(wall_inside(&host, "test ! -e marker && test ! -e $TMPDIR/marker && test ! -e here && test -e f"), 0);
}

/* Limits, by the programs' own words. The number of processes is limited for root's daemon only. */
static void check_limits(void) {
    cr_assert_eq(wall_inside(&host, "test $(ulimit -d) = 1048576 && test $(ulimit -c) = 0 && test $(ulimit -n) = 1024"),
                 0);
    cr_assert_neq(wall_inside(&host, "head -c 268435457 /dev/zero > large"), 0, "a file of 256 MiB and one byte");
    cr_assert_eq(wall_inside(&host, "node -e 'Buffer.alloc(1<<26)'"), 0);
    cr_assert_neq(
        wall_inside(&host, "node -e 'const b=[];for(let i=0;i<40;i++)b.push(new Uint8Array(1<<26))' 2>/dev/null"), 0,
        "2.5 GiB");
    if (geteuid() != 0) return;
    cr_assert_eq(wall_inside(&host, "i=0; while [ $i -lt 100 ]; do sleep 600 & i=$((i+1)); done"), 0);
    cr_assert_neq(wall_inside(&host, "i=0; while [ $i -lt 300 ]; do sleep 600 & i=$((i+1)); done"), 0);
}

static void check_all(const char *provider) {
    daemon_start(&host, provider, NULL);
    check_files();
    check_network();
    check_processes();
    check_system_calls();
    check_hostile();
    check_lifecycle();
    check_limits();
    cr_assert_eq(daemon_stop(&host), 0);
}

Test(localdaemon_walls, process, .timeout = 100) {
    check_all("process");
}

Test(localdaemon_walls, container, .timeout = 100) {
    check_all("container");
}
