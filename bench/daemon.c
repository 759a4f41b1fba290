/* localdaemon: from sending to the checked result of the step `true`, for each provider. */
#include "bench/bench.h"

#include "harness/client.h"

#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 50

/* Start the daemon; its URL is the first line it prints. False when the provider can't work here. */
static bool start(const cs_bench *bench, const char *provider, pid_t *pid, char *url, size_t size) {
    int pipe_fds[2];
    if (pipe(pipe_fds) != 0) {
        bench_fail("pipe", NULL);
    }
    char program[320];
    snprintf(program, sizeof program, "%s/localdaemon", bench->build);
    *pid = fork();
    if (*pid == 0) {
        dup2(pipe_fds[1], STDOUT_FILENO);
        close(pipe_fds[0]);
        close(pipe_fds[1]);
        execl(program, program, "--provider", provider, "--listen", "127.0.0.1:0", "--open", (char *)NULL);
        _exit(127);
    }
    close(pipe_fds[1]);
    FILE *in = fdopen(pipe_fds[0], "r");
    const bool ready = in != NULL && fgets(url, (int)size, in) != NULL;
    if (in != NULL) {
        fclose(in);
    }
    url[strcspn(url, "\n")] = '\0';
    return ready;
}

static double one_run(cs_client *client, const cs_run_request *request, cs_view bytes) {
    cs_outcome outcome;
    const double begin = bench_seconds();
    if (cs_client_run(client, request, bytes, &outcome) != CS_OK) {
        bench_fail("run", &outcome.err);
    }
    const double seconds = bench_seconds() - begin;
    cs_outcome_free(&outcome);
    return seconds;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const char *provider, const char *url) {
    cs_error err = CS_ERROR_INIT;
    cs_client *client = NULL;
    const cs_client_config config = {.base_url = url};
    if (cs_client_new(&config, &client, &err) != CS_OK) {
        bench_fail("client", &err);
    }
    ProtobufCBinaryData step = {.len = 4, .data = (uint8_t *)(char[]){'t', 'r', 'u', 'e'}};
    Plimsoll__V1__ProjectRun project = PLIMSOLL__V1__PROJECT_RUN__INIT;
    project.steps = &step;
    project.n_steps = 1;
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    request.protocol = CS_PROTOCOL;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT;
    request.project = &project;
    cs_buf bytes = CS_BUF_INIT(CS_MAX_REQUEST_BYTES);
    if (cs_message_encode(&request.base, &bytes, &err) != CS_OK) {
        bench_fail("encode", &err);
    }
    double seconds[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        seconds[i] = one_run(client, &request, cs_buf_view(&bytes));
    }
    qsort(seconds, ROUNDS, sizeof seconds[0], by_value);
    printf("localdaemon %-10s `true`:     %8.1f ms median   %8.1f ms fastest\n", provider,
           seconds[ROUNDS / 2] * 1e3, seconds[0] * 1e3);
    cs_buf_free(&bytes);
    cs_client_free(client);
}

void bench_daemon(cs_bench *bench) {
    static const char *const providers[] = {"process", "container"};
    for (size_t i = 0; i < sizeof providers / sizeof providers[0]; i++) {
        char url[128] = "";
        pid_t pid = -1;
        if (start(bench, providers[i], &pid, url, sizeof url)) {
            measure(providers[i], url);
        } else {
            printf("localdaemon %-10s can't serve on this machine; see its own message above\n", providers[i]);
        }
        kill(pid, SIGTERM);
        waitpid(pid, NULL, 0);
    }
}
