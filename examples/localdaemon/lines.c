#include "examples/localdaemon/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void ld_close_fd(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

void ld_lines_close(ld_lines *ends) {
    ld_close_fd(&ends->output);
    ld_close_fd(&ends->errors);
    ld_close_fd(&ends->report);
    ld_close_fd(&ends->control);
}

void ld_plan_close(ld_plan *plan) {
    ld_close_fd(&plan->output);
    ld_close_fd(&plan->errors);
    ld_close_fd(&plan->report);
    ld_close_fd(&plan->control);
}

static bool make_pipe(int *read_end, int *write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    *read_end = ends[0];
    *write_end = ends[1];
    return true;
}

bool ld_lines_make(ld_lines *ends, ld_plan *plan) {
    return make_pipe(&ends->output, &plan->output) && make_pipe(&ends->errors, &plan->errors) &&
           make_pipe(&ends->report, &plan->report) && make_pipe(&plan->control, &ends->control) &&
           fcntl(ends->output, F_SETFL, O_NONBLOCK) == 0 && fcntl(ends->errors, F_SETFL, O_NONBLOCK) == 0;
}

void ld_drain(int *fd, cs_buf *into, bool *truncated) {
    uint8_t block[16384];
    for (int i = 0; i < 16; i++) {
        ssize_t got = read(*fd, block, sizeof(block));
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
        if (got <= 0) {
            ld_close_fd(fd);
            return;
        }
        size_t room = into->max - into->len;
        size_t take = (size_t)got < room ? (size_t)got : room;
        if (!cs_buf_append(into, block, take) || take < (size_t)got) *truncated = true;
    }
}

void ld_lines_receive(ld_lines *ends) {
    uint8_t *to = (uint8_t *)&ends->received + ends->received_len;
    ssize_t got = read(ends->report, to, sizeof(ends->received) - ends->received_len);
    if (got > 0) ends->received_len += (size_t)got;
    if (got == 0 || ends->received_len == sizeof(ends->received)) ld_close_fd(&ends->report);
}
