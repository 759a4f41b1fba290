#include "examples/localdaemon/launch.h"

#include "examples/localdaemon/lines.h"
#include "examples/localdaemon/provider.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/* Until the keeper has reported and both streams have ended, or the time to end is over too. */
static void attend(ld_lines *ends, const ld_place *place, ld_output *out) {
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
        if (ready > 0 && watched[0].revents != 0) ld_drain(&ends->output, &out->out, &out->out_truncated);
        if (ready > 0 && watched[1].revents != 0) ld_drain(&ends->errors, &out->err, &out->err_truncated);
        if (ready > 0 && watched[2].revents != 0) ld_lines_receive(ends);
        if (ready > 0 && watched[3].revents != 0) {
            out->stopped = true;
        } else if (left <= 0) {
            if (ends->control < 0) break; /* the word was given, and the keeper did not follow it */
            out->timed_out = true;
        } else {
            continue;
        }
        ld_close_fd(&ends->control);
        stop = -1;
        limit = ld_monotonic_ms() + LD_ENDING_MS;
    }
}

static cs_result judge(const ld_lines *ends, ld_output *out, cs_error *err) {
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
    ld_lines ends = LD_LINES_INIT;
    cs_result result = CS_UNCHECKED;
    if (!ld_lines_make(&ends, plan)) {
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
    ld_plan_close(plan);
    attend(&ends, place, out);
    if (ends.received_len != sizeof(ends.received)) kill(keeper, SIGKILL);
    while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR)
        continue;
    out->duration_ms = ld_monotonic_ms() - begun;
    result = judge(&ends, out, err);
out:
    ld_plan_close(plan);
    ld_lines_close(&ends);
    return result;
}

cs_result ld_launch(const ld_place *place, const ld_command *command, ld_output *out, cs_error *err) {
    *out = (ld_output){.out = CS_BUF_INIT(LD_STREAM_CAP), .err = CS_BUF_INIT(LD_STREAM_CAP), .clean = true};
    const ld_machine_hooks *machine = place->sandbox->provider->machine;
    if (machine != NULL) return machine->launch(place, command, out, err);
    ld_prepared prepared;
    cs_result result = ld_provider_prepare(place, command, &prepared, err);
    if (result == CS_OK) {
        prepared.plan.lock = place->slots->lock_fd;
        prepared.plan.user = place->slot->user_fd;
        prepared.plan.spared = place->spared;
        result = run_keeper(place, &prepared.plan, out, err);
    }
    if (result == CS_OK) result = ld_provider_conclude(&prepared, out, err);
    if (ld_provider_release(&prepared)) return result;
    out->clean = false;
    return result == CS_OK ? cs_fail(err, CS_CODE_INTERNAL, "what walled the run in can't be removed") : result;
}
