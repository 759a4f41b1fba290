#include "examples/localdaemon/interpreter.h"

#include "examples/localdaemon/ending.h"
#include "examples/localdaemon/provider.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LATE_EXIT_CODE 124
#define FAMILY 4u /* bubblewrap, twice, and the interpreter itself are three */

/* How waiting for an interpreter came to its end. */
typedef enum outcome { ANSWERED, ENDED, LATE, STOPPED, LOST } outcome;

/* ---- its keeper ------------------------------------------------------------------------------------ */

static void forget(ld_interpreter *it) {
    ld_lines_close(&it->ends);
    ld_close_fd(&it->stream);
    *it = (ld_interpreter){.ends = LD_LINES_INIT, .stream = -1};
}

ld_interpreters *ld_interpreters_new(void) {
    ld_interpreters *interpreters = calloc(1, sizeof(*interpreters));
    for (size_t i = 0; i < LD_LANGUAGES && interpreters != NULL; i++)
        interpreters->of[i] = (ld_interpreter){.ends = LD_LINES_INIT, .stream = -1};
    return interpreters;
}

/* The keeper's next report; false at the end of the line, or when none comes in time. */
static bool next_report(const ld_interpreter *it, ld_report *out) {
    struct pollfd watched = {.fd = it->ends.report, .events = POLLIN};
    if (poll(&watched, 1, LD_ENDING_MS) <= 0) return false;
    return read(it->ends.report, out, sizeof(*out)) == (ssize_t)sizeof(*out);
}

static void reap_keeper(const ld_interpreter *it, bool by_force) {
    if (by_force) kill(it->keeper, SIGKILL);
    while (waitpid(it->keeper, NULL, 0) < 0 && errno == EINTR)
        continue;
}

/* Let the keeper of an interpreter go whose processes have all ended. *out is how the interpreter ended. */
static bool retire(ld_interpreter *it, ld_report *out) {
    bool known = next_report(it, out);
    bool told = write(it->ends.control, "q", 1) == 1;
    reap_keeper(it, !known || !told);
    forget(it);
    return known;
}

static bool end_one(ld_interpreter *it) {
    ld_report report = {0};
    ld_close_fd(&it->ends.control);
    /* It may have told of the interpreter's own end before; the last report counts. */
    while (next_report(it, &report))
        continue;
    reap_keeper(it, true);
    forget(it);
    return report.clean;
}

bool ld_interpreters_end(ld_interpreters *interpreters) {
    bool clean = true;
    for (size_t i = 0; i < LD_LANGUAGES; i++)
        if (interpreters->of[i].keeper > 0 && !end_one(&interpreters->of[i])) clean = false;
    interpreters->spared.count = 0;
    return clean;
}

/* ---- its processes --------------------------------------------------------------------------------- */

typedef struct search {
    int proc;
    pid_t keeper;
    ld_spared *found;
} search;

static bool read_process(int proc, pid_t pid, ld_process *out) {
    char name[16];
    snprintf(name, sizeof(name), "%d", (int)pid);
    return ld_process_read(proc, name, out);
}

static void add_descendant(pid_t pid, const char *name, void *of) {
    const search *to = of;
    ld_process process;
    ld_process above = {0};
    if (to->found->count >= LD_MAX_SPARED || !ld_process_read(to->proc, name, &process)) return;
    pid_t parent = process.parent;
    for (unsigned depth = 1; depth < FAMILY && parent > 1 && parent != to->keeper; depth++)
        parent = read_process(to->proc, parent, &above) ? above.parent : 0;
    if (parent != to->keeper) return;
    to->found->list[to->found->count].pid = pid;
    to->found->list[to->found->count++].started = process.started;
}

/* The processes of an interpreter that has run nothing yet but its driver: all that descend from its keeper. */
static bool find_family(ld_interpreter *it) {
    search to = {.keeper = it->keeper, .found = &it->family};
    to.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (to.proc < 0) return false;
    bool whole = ld_process_each(to.proc, add_descendant, &to);
    close(to.proc);
    return whole && it->family.count >= 1 && it->family.count <= FAMILY;
}

/* Are all of its processes there, and stopped as they were left? */
static bool is_whole(const ld_interpreter *it) {
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool whole = proc >= 0;
    for (size_t i = 0; i < it->family.count && whole; i++) {
        ld_process process;
        whole = read_process(proc, it->family.list[i].pid, &process) && process.started == it->family.list[i].started &&
                process.state == 'T';
    }
    if (proc >= 0) close(proc);
    return whole;
}

/* Should one have ended since it was looked at, and its id be another process's by now: that one is not stopped, and
 * takes no notice. */
static void wake(const ld_interpreter *it) {
    for (size_t i = 0; i < it->family.count; i++)
        kill(it->family.list[i].pid, SIGCONT);
}

static void collect_spared(ld_interpreters *interpreters) {
    ld_spared *spared = &interpreters->spared;
    spared->count = 0;
    for (size_t i = 0; i < LD_LANGUAGES; i++)
        for (size_t j = 0; j < interpreters->of[i].family.count && spared->count < LD_MAX_SPARED; j++)
            spared->list[spared->count++] = interpreters->of[i].family.list[j];
}

/* ---- talking to it --------------------------------------------------------------------------------- */

static void send_some(int stream, cs_view *rest) {
    ssize_t sent = send(stream, rest->ptr, rest->len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent <= 0) return;
    rest->ptr += sent;
    rest->len -= (size_t)sent;
}

/* Send it `rest` and collect its output until it answers with one byte. */
static outcome attend(const ld_place *place, ld_interpreter *it, cs_view rest, ld_output *out, char *answer) {
    int stream = it->stream;
    for (;;) {
        short wanted = (short)(POLLIN | (rest.len > 0 ? POLLOUT : 0));
        struct pollfd watched[5] = {{.fd = it->ends.output, .events = POLLIN},
                                    {.fd = it->ends.errors, .events = POLLIN},
                                    {.fd = it->ends.report, .events = POLLIN},
                                    {.fd = stream, .events = wanted},
                                    {.fd = place->stop_fd, .events = POLLIN}};
        int64_t left = place->deadline_ms - ld_monotonic_ms();
        if (left <= 0) return LATE;
        int ready = poll(watched, 5, (int)left);
        if (ready < 0 && errno != EINTR) return LOST;
        if (ready <= 0) continue;
        if (watched[0].revents != 0) ld_drain(&it->ends.output, &out->out, &out->out_truncated);
        if (watched[1].revents != 0) ld_drain(&it->ends.errors, &out->err, &out->err_truncated);
        if (watched[4].revents != 0) return STOPPED;
        if ((watched[3].revents & POLLOUT) != 0) send_some(stream, &rest);
        if ((watched[3].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
            ssize_t got = recv(stream, answer, 1, MSG_DONTWAIT);
            if (got == 1) return ANSWERED;
            /* A cell may have closed it: then only the interpreter's end, or the deadline, is left. */
            if (got == 0 || (errno != EAGAIN && errno != EINTR)) stream = -1;
        }
        if (watched[2].revents != 0) return ENDED;
    }
}

/* What is still in the pipes, after everyone who could write has been stopped. */
static void drain_rest(int *fd, cs_buf *into, bool *truncated) {
    for (struct pollfd watched = {.fd = *fd, .events = POLLIN}; *fd >= 0 && poll(&watched, 1, 0) > 0;)
        ld_drain(fd, into, truncated);
}

static void drain_stream(int stream) {
    char rest[256];
    while (recv(stream, rest, sizeof(rest), MSG_DONTWAIT) > 0)
        continue;
}

/* ---- starting -------------------------------------------------------------------------------------- */

static cs_result fork_keeper(ld_interpreter *it, ld_plan *plan, cs_error *err) {
    cs_result result = CS_UNCHECKED;
    if (!ld_lines_make(&it->ends, plan)) {
        result = cs_fail(err, CS_CODE_IO, "no pipes for the interpreter: %s", strerror(errno));
    } else {
        pid_t keeper = _Fork();
        if (keeper == 0) ld_resident_keeper(plan);
        it->keeper = keeper > 0 ? keeper : 0;
        result = keeper > 0 ? CS_OK : cs_fail(err, CS_CODE_IO, "no process for the interpreter: %s", strerror(errno));
    }
    ld_plan_close(plan);
    return result;
}

/* Start one that will talk over `stream`, without waiting for it. On failure there is none. */
static cs_result start(const ld_place *place, ld_language language, ld_interpreter *it, int stream,
                       ld_prepared *prepared, cs_error *err) {
    char number[16];
    snprintf(number, sizeof(number), "%d", stream);
    const char *const argv[] = {ld_driver_program(place->sandbox, language), ld_driver_option(language),
                                ld_driver_text(language), number, NULL};
    ld_command command = {.argv = argv};
    cs_result result = ld_provider_prepare(place, &command, prepared, err);
    if (result == CS_OK) {
        prepared->plan.lock = place->slots->lock_fd;
        prepared->plan.user = place->slot->user_fd;
        prepared->plan.passed[LD_PASSED - 1] = stream;
        result = fork_keeper(it, &prepared->plan, err);
    }
    if (result != CS_OK) forget(it);
    return result;
}

/* Start one and wait for its driver. On CS_OK *end is ANSWERED, or why there was no answer. */
static cs_result bring_up(const ld_place *place, ld_language language, ld_interpreter *it, ld_output *output,
                          outcome *end, cs_error *err) {
    ld_prepared prepared;
    char answer = 0;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return cs_fail(err, CS_CODE_IO, "no stream to the interpreter: %s", strerror(errno));
    it->stream = pair[0];
    cs_result result = start(place, language, it, pair[1], &prepared, err);
    close(pair[1]);
    if (result == CS_OK) {
        *end = attend(place, it, cs_view_bytes(NULL, 0), output, &answer);
        if (*end == ENDED)
            result = cs_fail(err, CS_CODE_INTERNAL, "the interpreter of %s can't be started: %.*s",
                             ld_language_word(language), (int)(output->err.len < 200 ? output->err.len : 200),
                             output->err.len > 0 ? (const char *)output->err.ptr : "it says nothing");
        else if (*end == ANSWERED && (answer != 'r' || !find_family(it)))
            result = cs_fail(err, CS_CODE_INTERNAL, "the interpreter's processes can't be told");
    }
    if (!ld_provider_release(&prepared) && result == CS_OK)
        result = cs_fail(err, CS_CODE_INTERNAL, "what walls the interpreter in can't be removed");
    return result;
}

/* ---- a cell ---------------------------------------------------------------------------------------- */

static cs_result send_cell(const ld_place *place, ld_interpreter *it, cs_view code, ld_output *output, outcome *end,
                           char *answer, cs_error *err) {
    CS_AUTO_BUF frame = CS_BUF_INIT(CS_MAX_CODE_BYTES + 4u);
    const uint8_t length[4] = {(uint8_t)(code.len >> 24), (uint8_t)(code.len >> 16), (uint8_t)(code.len >> 8),
                               (uint8_t)code.len};
    if (!cs_buf_append(&frame, length, sizeof(length)) || !cs_buf_append(&frame, code.ptr, code.len))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the cell");
    *end = attend(place, it, cs_buf_view(&frame), output, answer);
    return CS_OK;
}

/* End what the cell has left running, and the interpreter too unless it is to be kept. */
static bool settle(const ld_place *place, ld_interpreters *interpreters, ld_interpreter *it, bool keep,
                   ld_output *output) {
    if (!keep) it->family.count = 0;
    collect_spared(interpreters);
    output->clean = ld_end_others(place->slot->uid, place->slot->killer, &interpreters->spared);
    drain_rest(&it->ends.output, &output->out, &output->out_truncated);
    drain_rest(&it->ends.errors, &output->err, &output->err_truncated);
    if (keep) drain_stream(it->stream);
    return output->clean;
}

static int exit_code_of(const ld_report *report) {
    return WIFSIGNALED(report->status) ? 128 + WTERMSIG(report->status) : WEXITSTATUS(report->status);
}

/* The result of a cell after which its interpreter is no more. */
static cs_result conclude_ended(ld_interpreter *it, outcome end, ld_output *output, ld_job *job, cs_error *err) {
    ld_report report = {0};
    bool known = retire(it, &report);
    job->interpreter_ended = true;
    if (end == STOPPED) return cs_fail(err, CS_CODE_INTERRUPTED, "the cell was told to end");
    if (!known || end == LOST) return cs_fail(err, CS_CODE_INTERNAL, "the interpreter was lost sight of");
    output->timed_out = end == LATE;
    output->exit_code = end == LATE ? LATE_EXIT_CODE : exit_code_of(&report);
    return CS_OK;
}

/* Let go of one that has ended since the last cell: killed by another call, or for its use of time. */
static cs_result drop_dead(const ld_place *place, ld_interpreters *interpreters, ld_interpreter *it, ld_output *output,
                           cs_error *err) {
    if (it->keeper == 0 || is_whole(it)) return CS_OK;
    ld_report report;
    bool clean = settle(place, interpreters, it, false, output);
    (void)retire(it, &report);
    return clean ? CS_OK : cs_fail(err, CS_CODE_INTERNAL, "processes of an interpreter can't be ended");
}

static cs_result run_cell(const ld_place *place, ld_interpreters *interpreters, ld_language language, cs_view code,
                          ld_job *job, cs_error *err) {
    ld_interpreter *it = &interpreters->of[language];
    ld_output *output = &job->outputs[job->output_count++];
    *output = (ld_output){.out = CS_BUF_INIT(LD_STREAM_CAP), .err = CS_BUF_INIT(LD_STREAM_CAP), .clean = true};
    outcome end = ANSWERED;
    char answer = 0;
    cs_result result = drop_dead(place, interpreters, it, output, err);
    if (result != CS_OK) return result;
    job->interpreter_started = it->keeper == 0;
    if (job->interpreter_started)
        result = bring_up(place, language, it, output, &end, err);
    else
        wake(it);
    if (it->keeper == 0) return result;
    if (result == CS_OK && end == ANSWERED) result = send_cell(place, it, code, output, &end, &answer, err);
    bool keep = result == CS_OK && end == ANSWERED;
    bool clean = settle(place, interpreters, it, keep, output);
    if (!keep) {
        /* The first failure is the one that is told. */
        cs_error second = CS_ERROR_INIT;
        cs_result concluded = conclude_ended(it, end, output, job, result == CS_OK ? err : &second);
        if (result == CS_OK) result = concluded;
    }
    output->exit_code = keep && answer != '0' ? 1 : output->exit_code;
    if (clean || result != CS_OK) return result;
    return cs_fail(err, CS_CODE_INTERNAL, "processes of the cell can't be ended");
}

cs_result ld_cell_run(const ld_place *place, ld_interpreters *interpreters, const Plimsoll__V1__CellRun *cell,
                      ld_job *out, cs_error *err) {
    ld_job_begin(out, place->slot);
    const cs_project_file *unfit = NULL;
    ld_language language = ld_language_find(place->sandbox, cs_bytes_view(&cell->language));
    cs_result result = language != LD_NO_LANGUAGE ? ld_job_files(place, cell->files, cell->n_files, &unfit, err)
                                                  : cs_fail(err, CS_CODE_INTERNAL, "the cell's language is not served");
    if (result == CS_OK && unfit != NULL)
        result = ld_job_tell_unfit(out, cs_bytes_view(&unfit->path), errno, err);
    else if (result == CS_OK)
        result = run_cell(place, interpreters, language, cs_bytes_view(&cell->code), out, err);
    ld_job_end(out);
    return result;
}
