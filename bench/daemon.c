/* localdaemon: from sending to the checked result of the step `true`, for each provider, beside the same without us
 * (bare.h). The two take turns, so that what else the machine does meets both. */
#include "bench/bare.h"
#include "bench/bench.h"

#include "harness/client.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ROUNDS 50u

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
        prctl(PR_SET_PDEATHSIG, SIGTERM); // nothing is left when a measurement fails
        char protocol[16];
        snprintf(protocol, sizeof protocol, "%d", (int)CS_PROTOCOL);
        execl(program, program, "--provider", provider, "--protocol", protocol, "--listen", "127.0.0.1:0", "--open",
              (char *)NULL);
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
    const cs_run_response *response = (const cs_run_response *)(const void *)outcome.message;
    if (response->result_case != PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT || response->project->n_steps != 1 ||
        response->project->steps[0]->exit_code != 0 || response->project->steps[0]->timed_out) {
        bench_fail("the step", NULL);
    }
    cs_outcome_free(&outcome);
    return seconds;
}

/* The request whose one step is `true`, encoded. */
static void write_request(cs_run_request *request, cs_buf *bytes) {
    static uint8_t text[] = {'t', 'r', 'u', 'e'};
    static ProtobufCBinaryData step = {.len = sizeof text, .data = text};
    static Plimsoll__V1__ProjectRun project;
    cs_error err = CS_ERROR_INIT;
    plimsoll__v1__project_run__init(&project);
    project.steps = &step;
    project.n_steps = 1;
    plimsoll__v1__run_request__init(request);
    request->protocol = CS_PROTOCOL;
    request->payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT;
    request->project = &project;
    if (cs_message_encode(&request->base, bytes, &err) != CS_OK) {
        bench_fail("encode", &err);
    }
}

typedef struct tier {
    const char *provider;
    unsigned rounds;
    const char *bare; /* what stands beside it */
    const char *goal;
} tier;

static const tier tiers[] = {
    {"process", 50, "bare fork and exec", "under 5 ms"},
    {"container", 50, "bare bubblewrap", "under 20 ms"},
    {"kernel", 15, "bare runsc", "overhead under 10 %"},
    {"vm", 7, "bare QEMU", "overhead under 10 %"},
};

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double values[MAX_ROUNDS], unsigned count) {
    qsort(values, count, sizeof values[0], by_value);
    return values[count / 2];
}

/* The overhead is that of the middle one among the rounds: what disturbs one round longer than that disturbs both of
 * its halves. */
static void report(const tier *of, bool emulated, double ours[MAX_ROUNDS], double bare[MAX_ROUNDS]) {
    double ratios[MAX_ROUNDS];
    double overheads[MAX_ROUNDS];
    for (unsigned i = 0; i < of->rounds; i++) {
        ratios[i] = ours[i] / bare[i];
        overheads[i] = ours[i] - bare[i];
    }
    const double middle = median(ours, of->rounds);
    const double limit = median(bare, of->rounds);
    const double ratio = median(ratios, of->rounds);
    printf("`true` on %-9s %8.1f ms, fastest %8.1f   %-18s %8.1f ms, fastest %8.1f   overhead %5.1f ms, %3.0f %%, "
           "ratio %.2f   (goal: %s%s)\n",
           of->provider, middle * 1e3, ours[0] * 1e3, of->bare, limit * 1e3, bare[0] * 1e3,
           median(overheads, of->rounds) * 1e3, (ratio - 1) * 1e2, ratio, of->goal,
           emulated ? "; emulated by software" : "");
    fflush(stdout);
}

static void measure(const tier *of, const char *url, const cs_bare *without) {
    cs_error err = CS_ERROR_INIT;
    cs_client *client = NULL;
    const cs_client_config config = {.base_url = url};
    if (cs_client_new(&config, &client, &err) != CS_OK) {
        bench_fail("client", &err);
    }
    cs_run_request request;
    cs_buf bytes = CS_BUF_INIT(CS_MAX_REQUEST_BYTES);
    write_request(&request, &bytes);
    double ours[MAX_ROUNDS];
    double bare[MAX_ROUNDS];
    /* One of each before, for what is read from a disk only once. */
    one_run(client, &request, cs_buf_view(&bytes));
    bare_run(without);
    for (unsigned i = 0; i < of->rounds; i++) {
        if (i % 2 == 0) bare[i] = bare_run(without);
        ours[i] = one_run(client, &request, cs_buf_view(&bytes));
        if (i % 2 != 0) bare[i] = bare_run(without);
    }
    report(of, without->sandbox.kind == LD_VM && !without->sandbox.vm.hardware, ours, bare);
    cs_buf_free(&bytes);
    cs_client_free(client);
}

void bench_daemon(cs_bench *bench) {
    for (size_t i = 0; i < sizeof tiers / sizeof tiers[0]; i++) {
        if (bench->provider != NULL && strcmp(bench->provider, tiers[i].provider) != 0) continue;
        char url[128] = "";
        pid_t pid = -1;
        cs_bare bare;
        bool ready = bare_open(tiers[i].provider, &bare) && start(bench, tiers[i].provider, &pid, url, sizeof url);
        if (ready) {
            measure(&tiers[i], url, &bare);
        } else {
            printf("`true` on %-9s can't be measured on this machine; see the message above\n", tiers[i].provider);
        }
        bare_close(&bare);
        if (pid > 0) {
            kill(pid, SIGTERM);
            waitpid(pid, NULL, 0);
        }
    }
}
