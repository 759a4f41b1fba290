/* Capacity, and the ends of the daemon: in both, nothing of a run may stay. */
#include "tests/localdaemon/wire_call.h"

#include "tests/support/exec.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static test_daemon host;

#define STEP "{\"protocol\":3,\"project\":{\"files\":[{\"path\":\"f\",\"content\":\"\"}],\"steps\":[\"%s\"]}}"
#define LONG_RUN "setsid sleep 87654.5 & sleep 87654.5"

/* How many processes sleep for so long? */
static int sleepers(void) {
    int count = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *entry = readdir(proc); entry != NULL; entry = readdir(proc)) {
        char path[300], line[64] = "";
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) continue;
        ssize_t got = read(fd, line, sizeof line - 1);
        close(fd);
        count += got == 14 && memcmp(line,
                                     "sleep\0"
                                     "87654.5",
                                     14) == 0;
    }
    closedir(proc);
    return count;
}

/* A long run in a thread of its own, with the answer that it gets. */
static void *long_run(void *to) {
    char body[256];
    snprintf(body, sizeof body, STEP, LONG_RUN);
    wire_json(&host, RUN, body, to);
    return NULL;
}

static void begin(pthread_t *thread, wire_end *end) {
    cr_assert_eq(pthread_create(thread, NULL, long_run, end), 0);
    for (int i = 0; i < 5000 && sleepers() < 2; i++)
        usleep(2000);
    cr_assert_eq(sleepers(), 2);
}

static void await_no_sleepers(void) {
    for (int i = 0; i < 5000 && sleepers() > 0; i++)
        usleep(2000);
    cr_assert_eq(sleepers(), 0);
}

static void check_terminated(const char *provider) {
    const char *const more[] = {"--max-concurrent", "1", NULL};
    daemon_start(&host, provider, more);
    pthread_t thread;
    wire_end end, other;
    begin(&thread, &end);

    /* The only place is taken: refused with a mark; what needs no place is answered. */
    char body[256];
    snprintf(body, sizeof body, STEP, "true");
    wire_json(&host, RUN, body, &other);
    expect_error(&other, 429, "resource_exhausted", MARK_CAPACITY, NULL);
    wire_free(&other);
    wire_json(&host, DESCRIBE, "{}", &other);
    cr_assert_eq(other.status, 200);
    wire_free(&other);

    /* SIGTERM: the run is ended; its caller is told, without a mark, for it has run. */
    cr_assert_eq(daemon_stop(&host), 0);
    cr_assert_eq(sleepers(), 0);
    pthread_join(thread, NULL);
    expect_error(&end, 503, "unavailable", NULL, NULL);
    wire_free(&end);
}

Test(localdaemon_stop, process_terminated, .timeout = 60) {
    check_terminated("process");
}

Test(localdaemon_stop, container_terminated, .timeout = 60) {
    check_terminated("container");
}

/* SIGKILL leaves the daemon no time. Its keeper sees that it is gone and ends the run; the next daemon
 * removes the files. */
static void check_killed(const char *provider) {
    daemon_start(&host, provider, NULL);
    pthread_t thread;
    wire_end end;
    begin(&thread, &end);
    daemon_signal(&host, SIGKILL);
    pthread_join(thread, NULL);
    cr_assert_eq(end.status, 0);
    wire_free(&end);
    await_no_sleepers();
    cr_assert_eq(daemon_stop(&host), 128 + SIGKILL);
    daemon_start(&host, provider, NULL);
    char body[256];
    snprintf(body, sizeof body, STEP, "test $(ls | wc -l) = 1");
    json_t *answer = wire_run(&host, "%s", body);
    cr_assert_str_eq(json_at(answer, "project/steps/0/exitCode"), "");
    json_decref(answer);
    cr_assert_eq(daemon_stop(&host), 0);
}

Test(localdaemon_stop, process_killed, .timeout = 60) {
    check_killed("process");
}

Test(localdaemon_stop, container_killed, .timeout = 60) {
    check_killed("container");
}

/* Several at once: each in a place of its own, and each with its own answer. */
static void *echo_run(void *to) {
    char **text = to;
    json_t *answer = wire_run(&host, STEP, *text);
    *text = strdup(json_bytes_at(answer, "project/steps/0/stdout"));
    json_decref(answer);
    return NULL;
}

Test(localdaemon_stop, concurrent_runs_do_not_mix, .timeout = 60) {
    daemon_start(&host, "process", NULL);
    char words[4][64];
    char *texts[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        snprintf(words[i], sizeof words[i], "echo %d > own; sleep 0.3; cat own; ls | wc -l", i);
        texts[i] = words[i];
        cr_assert_eq(pthread_create(&threads[i], NULL, echo_run, &texts[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "%d\n2\n", i);
        pthread_join(threads[i], NULL);
        cr_assert_str_eq(texts[i], expected);
        free(texts[i]);
    }
    cr_assert_eq(daemon_stop(&host), 0);
}
