#include "examples/localdaemon/launch.h"

#include "examples/localdaemon/provider.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* After the word to end, the keeper needs this long at most (ending.h), and then some. */
#define ENDING_MS 15000

static int64_t clock_ms(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t ld_monotonic_ms(void) {
    return clock_ms(CLOCK_MONOTONIC);
}

int64_t ld_unix_ms(void) {
    return clock_ms(CLOCK_REALTIME);
}

void ld_output_free(ld_output *output) {
    cs_buf_free(&output->out);
    cs_buf_free(&output->err);
}

/* The daemon's ends of the pipes to one keeper. -1: closed. */
typedef struct lines {
    int output;
    int errors;
    int report;
    int control;
    ld_report received;
    size_t received_len;
} lines;

static void close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

static void close_lines(lines *ends) {
    close_fd(&ends->output);
    close_fd(&ends->errors);
    close_fd(&ends->report);
    close_fd(&ends->control);
}

static void close_plan(ld_plan *plan) {
    close_fd(&plan->output);
    close_fd(&plan->errors);
    close_fd(&plan->report);
    close_fd(&plan->control);
}

static bool make_pipe(int *read_end, int *write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    *read_end = ends[0];
    *write_end = ends[1];
    return true;
}

static bool make_lines(lines *ends, ld_plan *plan) {
    return make_pipe(&ends->output, &plan->output) && make_pipe(&ends->errors, &plan->errors) &&
           make_pipe(&ends->report, &plan->report) && make_pipe(&plan->control, &ends->control) &&
           fcntl(ends->output, F_SETFL, O_NONBLOCK) == 0 && fcntl(ends->errors, F_SETFL, O_NONBLOCK) == 0;
}

/* Read what is there. Past the cap the rest is read and dropped, so that the program never waits for us.
 * Closes *fd at the end of the stream. */
static void drain(int *fd, cs_buf *into, bool *truncated) {
    uint8_t block[16384];
    for (int i = 0; i < 16; i++) {
        ssize_t got = read(*fd, block, sizeof(block));
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got <= 0) {
            close_fd(fd);
            return;
        }
        size_t room = into->max - into->len;
        size_t take = (size_t)got < room ? (size_t)got : room;
        if (!cs_buf_append(into, block, take) || take < (size_t)got) *truncated = true;
    }
}

static void receive_report(lines *ends) {
    uint8_t *to = (uint8_t *)&ends->received + ends->received_len;
    ssize_t got = read(ends->report, to, sizeof(ends->received) - ends->received_len);
    if (got > 0) ends->received_len += (size_t)got;
    if (got == 0 || ends->received_len == sizeof(ends->received)) close_fd(&ends->report);
}

/* Until the keeper has reported and both streams have ended, or the time to end is over too. */
static void attend(lines *ends, const ld_place *place, ld_output *out) {
    int64_t limit = place->deadline_ms;
    int stop = place->stop_fd;
    while (ends->report >= 0 || ends->output >= 0 || ends->errors >= 0) {
        struct pollfd watched[4] = {{.fd = ends->output, .events = POLLIN},
                                    {.fd = ends->errors, .events = POLLIN},
                                    {.fd = ends->report, .events = POLLIN},
                                    {.fd = stop, .events = POLLIN}};
        int64_t left = limit - ld_monotonic_ms();
        int ready = left > 0 ? poll(watched, 4, (int)left) : 0;
        if (ready < 0 && errno != EINTR) break;
        if (ready > 0 && watched[0].revents != 0) drain(&ends->output, &out->out, &out->out_truncated);
        if (ready > 0 && watched[1].revents != 0) drain(&ends->errors, &out->err, &out->err_truncated);
        if (ready > 0 && watched[2].revents != 0) receive_report(ends);
        if (ready > 0 && watched[3].revents != 0) {
            out->stopped = true;
        } else if (left <= 0) {
            if (ends->control < 0) break; /* the word was given, and the keeper did not follow it */
            out->timed_out = true;
        } else {
            continue;
        }
        close_fd(&ends->control);
        stop = -1;
        limit = ld_monotonic_ms() + ENDING_MS;
    }
}

static cs_result judge(const lines *ends, ld_output *out, cs_error *err) {
    const ld_report *report = &ends->received;
    if (ends->received_len != sizeof(*report))
        return cs_fail(err, CS_CODE_INTERNAL, "the run's keeper has not reported");
    out->clean = report->clean;
    if (report->stage != LD_STAGE_STARTED)
        return cs_fail(err, CS_CODE_INTERNAL, "the sandbox can't be set up: %s: %s", ld_stage_word(report->stage),
                       strerror(report->error));
    if (!report->clean) return cs_fail(err, CS_CODE_INTERNAL, "processes of the run can't be ended");
    if (report->ended) {
        /* It came to its end while the word was on its way. */
        out->timed_out = false;
        out->stopped = false;
        out->exit_code = WIFSIGNALED(report->status) ? 128 + WTERMSIG(report->status) : WEXITSTATUS(report->status);
        return CS_OK;
    }
    out->exit_code = 128 + SIGKILL;
    if (out->timed_out || out->stopped) return CS_OK;
    return cs_fail(err, CS_CODE_INTERNAL, "the run's keeper lost sight of the command");
}

/* Fork the keeper, attend to it, reap it. */
static cs_result run_keeper(const ld_place *place, ld_plan *plan, ld_output *out, cs_error *err) {
    lines ends = {.output = -1, .errors = -1, .report = -1, .control = -1};
    cs_result result = CS_UNCHECKED;
    if (!make_lines(&ends, plan)) {
        result = cs_fail(err, CS_CODE_IO, "no pipes for the run: %s", strerror(errno));
        goto out;
    }
    int64_t begun = ld_monotonic_ms();
    pid_t keeper = _Fork();
    if (keeper < 0) {
        result = cs_fail(err, CS_CODE_IO, "no process for the run: %s", strerror(errno));
        goto out;
    }
    if (keeper == 0) ld_keeper(plan);
    out->clean = false;
    close_plan(plan);
    attend(&ends, place, out);
    if (ends.received_len != sizeof(ends.received)) kill(keeper, SIGKILL);
    while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR)
        continue;
    out->duration_ms = ld_monotonic_ms() - begun;
    result = judge(&ends, out, err);
out:
    close_plan(plan);
    close_lines(&ends);
    return result;
}

cs_result ld_launch(const ld_place *place, const ld_command *command, ld_output *out, cs_error *err) {
    *out = (ld_output){.out = CS_BUF_INIT(LD_STREAM_CAP), .err = CS_BUF_INIT(LD_STREAM_CAP), .clean = true};
    ld_prepared prepared;
    cs_result result = ld_provider_prepare(place, command, &prepared, err);
    if (result == CS_OK) {
        prepared.plan.lock = place->slots->lock_fd;
        prepared.plan.user = place->slot->user_fd;
        result = run_keeper(place, &prepared.plan, out, err);
    }
    if (result == CS_OK) result = ld_provider_conclude(&prepared, out, err);
    ld_provider_release(&prepared);
    return result;
}
