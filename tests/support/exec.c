#include "tests/support/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 60

static void must(bool good, const char *what) {
    if (good) return;
    perror(what);
    abort();
}

/* ---- the child ------------------------------------------------------------------------------ */

static void put_env(const char *const *env) {
    for (; env != NULL && *env != NULL; env++) {
        char *copy = strdup(*env);
        must(copy != NULL, "strdup");
        char *equals = strchr(copy, '=');
        if (equals != NULL) {
            *equals = '\0';
            must(setenv(copy, equals + 1, 1) == 0, "setenv");
        } else {
            must(unsetenv(copy) == 0, "unsetenv");
        }
        free(copy);
    }
}

static void become(const exec_how *how, const char *const argv[], int in, int out, int err) {
    if (how->output_path != NULL) out = open(how->output_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    must(dup2(in, STDIN_FILENO) == STDIN_FILENO, "stdin");
    must(dup2(out, STDOUT_FILENO) == STDOUT_FILENO, "stdout");
    must(dup2(err, STDERR_FILENO) == STDERR_FILENO, "stderr");
    if (how->folder != NULL) must(chdir(how->folder) == 0, how->folder);
    put_env(how->env);
    (void)signal(SIGPIPE, SIG_DFL);
    if (how->before != NULL && !how->before()) _exit(126);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    perror(argv[0]);
    _exit(127);
}

/* ---- the parent ----------------------------------------------------------------------------- */

static time_t now_s(void) {
    struct timespec now;
    must(clock_gettime(CLOCK_MONOTONIC, &now) == 0, "clock_gettime");
    return now.tv_sec;
}

/* Read what there is; false at the end of the stream. */
static bool take(int fd, char **text, size_t *len) {
    char part[8192];
    ssize_t got = read(fd, part, sizeof part);
    if (got < 0 && errno == EINTR) return true;
    if (got <= 0) return false;
    *text = realloc(*text, *len + (size_t)got + 1);
    must(*text != NULL, "realloc");
    memcpy(*text + *len, part, (size_t)got);
    *len += (size_t)got;
    (*text)[*len] = '\0';
    return true;
}

/* Read both streams until both end. False when it takes too long. */
static bool listen_to(int out, int err, exec_end *end) {
    struct pollfd fds[2] = {{.fd = out, .events = POLLIN}, {.fd = err, .events = POLLIN}};
    time_t begun = now_s();
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        if (now_s() - begun > PATIENCE_S) return false;
        if (poll(fds, 2, 1000) <= 0) continue;
        if (fds[0].revents != 0 && !take(out, &end->out, &end->out_len)) fds[0].fd = -1;
        if (fds[1].revents != 0 && !take(err, &end->err, &end->err_len)) fds[1].fd = -1;
    }
    return true;
}

/* A file that holds the input: no pipe that could fill up. */
static int input_file(const char *input) {
    FILE *file = tmpfile();
    must(file != NULL, "tmpfile");
    must(fputs(input != NULL ? input : "", file) >= 0 && fflush(file) == 0, "tmpfile");
    int fd = dup(fileno(file));
    must(fd >= 0 && lseek(fd, 0, SEEK_SET) == 0 && fclose(file) == 0, "tmpfile");
    return fd;
}

void exec_begin(const exec_how *how, const char *const argv[], exec_beside *beside) {
    const exec_how nothing = {.input = NULL};
    int out[2];
    int err[2];
    must(pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0, "pipe");
    int in = input_file(how != NULL ? how->input : NULL);
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) become(how != NULL ? how : &nothing, argv, in, out[1], err[1]);
    close(in);
    close(out[1]);
    close(err[1]);
    *beside = (exec_beside){.pid = child, .out = out[0], .err = err[0]};
}

void exec_wait(exec_beside *beside, exec_end *end) {
    *end = (exec_end){.status = EXEC_SIGNALLED, .out = calloc(1, 1), .err = calloc(1, 1)};
    must(end->out != NULL && end->err != NULL, "calloc");
    bool in_time = listen_to(beside->out, beside->err, end);
    if (!in_time) (void)kill(beside->pid, SIGKILL);
    int status = 0;
    must(waitpid(beside->pid, &status, 0) == beside->pid, "waitpid");
    close(beside->out);
    close(beside->err);
    if (!in_time)
        end->status = EXEC_TIME_OUT;
    else if (WIFEXITED(status))
        end->status = WEXITSTATUS(status);
}

void exec_run(const exec_how *how, const char *const argv[], exec_end *end) {
    exec_beside beside;
    exec_begin(how, argv, &beside);
    exec_wait(&beside, end);
}

void exec_free(exec_end *end) {
    free(end->out);
    free(end->err);
    *end = (exec_end){.status = EXEC_SIGNALLED};
}

void exec_built(const char *name, char path[1024]) {
    const char *build = getenv("COUNTERSIGN_BUILD");
    must(build != NULL, "COUNTERSIGN_BUILD");
    int len = snprintf(path, 1024, "%s/%s", build, name);
    must(len > 0 && len < 1024, "COUNTERSIGN_BUILD");
}
