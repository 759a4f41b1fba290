#include "tests/support/daemon.h"

#include "tests/support/exec.h"
#include "tests/support/folder.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ARGUMENTS 32

/* The hashes are those that sha256sum prints for the tokens of the header. */
static const char clients[] =
    "{\"clients\":[{\"id\":\"test\",\"token_sha256\":"
    "\"3b2d37f2ac2c6645a4d8235c7edf9a2f41f258f78f97eb47c950c9408403a9f7\",\"scopes\":[\"code:run\"]},"
    "{\"id\":\"reader\",\"token_sha256\":"
    "\"50cc7b09d2c5242de248a47b590965e63fbaac8798092c3ffd20d0f45e3caf6d\",\"scopes\":[]},"
    "{\"id\":\"other\",\"token_sha256\":"
    "\"3c7fbdfc55fbbe1a0348a5a969ea9e46413146ca5e1d0a295e83eddf53293da5\",\"scopes\":[\"code:run\"]}]}";

static void write_clients(const test_daemon *daemon, char *path, size_t size) {
    snprintf(path, size, "%s/clients.json", daemon->folder);
    file_write(path, clients, sizeof clients - 1);
}

static _Noreturn void become(const char *program, const char *const *argv, int out, const char *log,
                             bool (*before)(void)) {
    int err = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (err < 0 || dup2(out, 1) != 1 || dup2(err, 2) != 2) _exit(126);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (before != NULL && !before()) _exit(5);
    execv(program, (char *const *)(uintptr_t)argv);
    _exit(127);
}

/* The line with the URL; false when the daemon ended without one. */
static bool read_url(int fd, char *url, size_t size) {
    size_t len = 0;
    while (len + 1 < size) {
        ssize_t got = read(fd, url + len, 1);
        if (got <= 0) return false;
        if (url[len] == '\n') break;
        len++;
    }
    url[len] = '\0';
    return strncmp(url, "http://127.0.0.1:", 17) == 0;
}

static int reap(test_daemon *daemon) {
    int status = 0;
    waitpid(daemon->pid, &status, 0);
    daemon->pid = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* It did not come up: exit code 5 says that the provider does not work here. */
static void give_up(test_daemon *daemon, const char *provider) {
    size_t len = 0;
    char *log = file_read(daemon->log, &len);
    char why[600];
    snprintf(why, sizeof why, "%s", log != NULL ? log : "");
    free(log);
    int status = reap(daemon);
    folder_remove(daemon->folder);
    if (status != 5 || getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL"))
        cr_assert_fail("localdaemon --provider %s ended with %d: %s", provider, status, why);
    cr_skip_test("SKIPPED: the provider %s does not work here: %s", provider, why);
}

void daemon_start(test_daemon *daemon, const char *provider, const char *const more[]) {
    daemon_start_behind(daemon, NULL, provider, more);
}

void daemon_start_behind(test_daemon *daemon, bool (*before)(void), const char *provider, const char *const more[]) {
    memset(daemon, 0, sizeof *daemon);
    char program[1024];
    exec_built("localdaemon", program);
    folder_make(daemon->folder);
    snprintf(daemon->log, sizeof daemon->log, "%s/log", daemon->folder);
    char path[192];
    write_clients(daemon, path, sizeof path);
    const char *argv[MAX_ARGUMENTS] = {program, "--provider", provider, "--listen", "127.0.0.1:0"};
    size_t count = 5;
    if (more == NULL || more[0] == NULL || strcmp(more[0], "--open") != 0) {
        argv[count++] = "--clients";
        argv[count++] = path;
    }
    for (size_t i = 0; more != NULL && more[i] != NULL; i++) {
        cr_assert_lt(count, MAX_ARGUMENTS - 1);
        argv[count++] = more[i];
    }
    int out[2];
    cr_assert_eq(pipe2(out, O_CLOEXEC), 0);
    fflush(NULL);
    daemon->pid = fork();
    cr_assert_geq(daemon->pid, 0);
    if (daemon->pid == 0) become(program, argv, out[1], daemon->log, before);
    close(out[1]);
    bool up = read_url(out[0], daemon->url, sizeof daemon->url);
    close(out[0]);
    if (!up) give_up(daemon, provider);
}

void daemon_signal(const test_daemon *daemon, int number) {
    cr_assert_gt(daemon->pid, 0);
    cr_assert_eq(kill(daemon->pid, number), 0);
}

int daemon_stop(test_daemon *daemon) {
    if (daemon->pid <= 0) return -1;
    kill(daemon->pid, SIGTERM);
    int status = reap(daemon);
    folder_remove(daemon->folder);
    return status;
}
