/* The walls from inside, with ordinary programs: what the daemon's own smoke test (smoke.h) shows with its
 * attempts. Each attempt is first made outside, where it must succeed: otherwise it would show nothing. */
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

/* Run a shell command outside, as this user. */
static int outside(const char *command) {
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    exec_end end;
    exec_run(NULL, argv, &end);
    int status = end.status;
    exec_free(&end);
    return status;
}

/* The same inside; the command holds nothing that JSON would have to escape. */
static int inside(const char *command) {
    json_t *answer = wire_run(
        &host, "{\"protocol\":3,\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"\"}],\"steps\":[\"%s\"]}}",
        command);
    int status = atoi(json_at(answer, "project/steps/0/exitCode"));
    json_decref(answer);
    return status;
}

static void expect_wall(const char *what, const char *command) {
    cr_assert_eq(outside(command), 0, "control: %s must work outside: %s", what, command);
    cr_assert_neq(inside(command), 0, "%s works inside: %s", what, command);
}

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
    expect_wall("reading a file outside", command);
    snprintf(command, sizeof command, "ls %s", folder);
    expect_wall("listing a folder outside", command);
    expect_wall("reading the list of users", "cat /etc/passwd");
    expect_wall("making a file in /usr",
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
    expect_wall("connecting to a loopback port", command);
    expect_wall(
        "making a UDP socket",
        "node -e 'require(`dgram`).createSocket(`udp4`).bind(0,()=>process.exit(0)).on(`error`,()=>process.exit(1))'");
    close(fd);
}

static void check_processes(void) {
    char command[128];
    snprintf(command, sizeof command, "kill -0 %d", (int)getpid());
    expect_wall("signalling a process outside", command);
    snprintf(command, sizeof command, "cat /proc/%d/cmdline | grep -q .", (int)getpid());
    expect_wall("reading another process's arguments", command);
    expect_wall("making a user namespace", "unshare --user true");
}

/* Nothing of one run is there in the next. */
static void check_lifecycle(void) {
    cr_assert_eq(
        inside("echo marker > marker && echo marker > $TMPDIR/marker && mkdir -p here/and/there && test -e marker"), 0);
    cr_assert_eq(inside("test ! -e marker && test ! -e $TMPDIR/marker && test ! -e here && test -e f"), 0);
}

/* Limits, by the programs' own words. The number of processes is limited for root's daemon only. */
static void check_limits(void) {
    cr_assert_eq(inside("test $(ulimit -d) = 1048576 && test $(ulimit -c) = 0 && test $(ulimit -n) = 1024"), 0);
    cr_assert_neq(inside("head -c 268435457 /dev/zero > large"), 0, "a file of 256 MiB and one byte");
    cr_assert_eq(inside("node -e 'Buffer.alloc(1<<26)'"), 0);
    cr_assert_neq(inside("node -e 'const b=[];for(let i=0;i<40;i++)b.push(new Uint8Array(1<<26))' 2>/dev/null"), 0,
                  "2.5 GiB");
    if (geteuid() != 0) return;
    cr_assert_eq(inside("i=0; while [ $i -lt 100 ]; do sleep 600 & i=$((i+1)); done"), 0);
    cr_assert_neq(inside("i=0; while [ $i -lt 300 ]; do sleep 600 & i=$((i+1)); done"), 0);
}

static void check_all(const char *provider) {
    daemon_start(&host, provider, NULL);
    check_files();
    check_network();
    check_processes();
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
