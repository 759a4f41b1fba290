/* What a virtual machine's guest says, whatever it is asked. A byte of ways (does it close its end, is the run told to
 * end, does the console speak too), a byte for each of three questions, then what the guest says, all of it beforehand:
 * it may speak whenever it likes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "examples/localdaemon/vm_channel.h"
#include "tests/fuzz/fuzz.h"

#define QUESTIONS 3u
#define CLOSES 1u
#define STOPPED 2u
#define SPEAKS 4u
#define ENDED 8u
#define PATIENCE_MS 3 /* for a guest that is silent; one that speaks has said it all by then */

/* In place of launch.c, which would bring the whole daemon. */
int64_t ld_monotonic_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t ld_unix_ms(void) {
    return 1800000000000;
}

typedef struct scene {
    ld_channel channel;
    ld_lines lines;
    int guest;
    int console; /* the guest's end of the console; -1: closed */
    int report;
    int stop;
} scene;

static ld_until soon(const scene *s) {
    return (ld_until){.ms = ld_monotonic_ms() + PATIENCE_MS, .stop_fd = s->stop};
}

static void give(int fd, cs_view bytes) {
    ssize_t written = write(fd, bytes.ptr, bytes.len);
    /* What does not fit in, a guest could not have said yet either. */
    MUST(written >= 0 || errno == EAGAIN);
}

static void begin(scene *s, uint8_t ways, cs_view said) {
    int pair[2], console[2], report[2];
    *s = (scene){.lines = LD_LINES_INIT, .stop = -1};
    MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    MUST(pipe2(console, O_CLOEXEC | O_NONBLOCK) == 0 && pipe2(report, O_CLOEXEC | O_NONBLOCK) == 0);
    s->guest = pair[1];
    MUST(fcntl(s->guest, F_SETFL, O_NONBLOCK) == 0);
    s->lines.output = console[0];
    s->lines.report = report[0];
    s->console = console[1];
    s->report = report[1];
    MUST(ld_channel_open(&s->channel, pair[0], &s->lines));
    s->channel.grace_ms = PATIENCE_MS;
    give(s->guest, said);
    if ((ways & SPEAKS) != 0) {
        give(s->console, said);
        ld_close_fd(&s->console);
    }
    if ((ways & CLOSES) != 0) MUST(shutdown(s->guest, SHUT_WR) == 0);
    if ((ways & ENDED) != 0) ld_close_fd(&s->report);
    if ((ways & STOPPED) != 0) s->stop = eventfd(1, EFD_CLOEXEC);
}

static void end(scene *s) {
    ld_channel_close(&s->channel);
    ld_lines_close(&s->lines);
    ld_close_fd(&s->guest);
    ld_close_fd(&s->console);
    ld_close_fd(&s->report);
    ld_close_fd(&s->stop);
}

static void check_bounds(const scene *s) {
    MUST(s->channel.head_len <= LD_VM_HEAD && s->channel.payload_len <= LD_VM_MAX_ANSWER);
    MUST(s->channel.console.len <= LD_VM_CONSOLE_CAP);
    MUST(!s->channel.stopped || s->channel.lost != NULL);
}

static bool is_errno(int value) {
    return value > 0 && value < 4096;
}

static bool greet(scene *s) {
    return ld_channel_greet(&s->channel, soon(s));
}

static bool write_file(scene *s, bool replace) {
    errno = 0;
    ld_work work = ld_channel_write(&s->channel, soon(s), cs_view_of("a/b"), cs_view_of("content"), replace);
    MUST(work == LD_WORK_DONE || work == LD_WORK_UNFIT || work == LD_WORK_FAILED);
    MUST(work == LD_WORK_DONE || is_errno(errno));
    return work == LD_WORK_DONE;
}

static bool read_file(scene *s, size_t room) {
    CS_AUTO_BUF out = CS_BUF_INIT(LD_ARTIFACTS_CAP);
    MUST(cs_buf_text(&out, "before"));
    ld_work work = ld_channel_read(&s->channel, soon(s), cs_view_of("a/b"), room, &out);
    MUST(out.len >= 6 && memcmp(out.ptr, "before", 6) == 0);
    MUST(out.len - 6 <= (work == LD_WORK_DONE ? room : 0));
    return work == LD_WORK_DONE;
}

static bool run(scene *s) {
    static const char *const argv[] = {"/bin/sh", "-c", "true", NULL};
    static const char *const envp[] = {"A=b", NULL};
    const ld_vm_command command = {.argv = argv, .envp = envp};
    ld_output out = {.out = CS_BUF_INIT(LD_STREAM_CAP), .err = CS_BUF_INIT(LD_STREAM_CAP)};
    errno = 0;
    ld_ran ran = ld_channel_run(&s->channel, soon(s), &command, &out);
    MUST(out.out.len <= LD_STREAM_CAP && out.err.len <= LD_STREAM_CAP);
    MUST(ran != LD_RAN_DONE || (out.exit_code >= 0 && out.exit_code <= 255));
    MUST(ran != LD_RAN_DONE || !out.timed_out || out.exit_code == 137);
    MUST(ran != LD_RAN_UNSTARTED || is_errno(errno));
    MUST((ran == LD_RAN_LOST) == (s->channel.lost != NULL));
    cs_buf_free(&out.out);
    cs_buf_free(&out.err);
    return ran == LD_RAN_DONE;
}

/* What it is about, and with which size. */
static bool ask(scene *s, uint8_t question) {
    static const size_t rooms[] = {0, 1, 3, 32768, 32769, 65536, 1u << 20, LD_ARTIFACTS_CAP};
    switch (question & 3u) {
    case 0:
        return greet(s);
    case 1:
        return write_file(s, (question & 4u) != 0);
    case 2:
        return read_file(s, rooms[question >> 2 & 7u]);
    default:
        return run(s);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static scene s;
    if (size < 1 + QUESTIONS) return 0;
    begin(&s, data[0], cs_view_bytes(data + 1 + QUESTIONS, size - 1 - QUESTIONS));
    for (size_t i = 0; i < QUESTIONS; i++) {
        const char *lost = s.channel.lost;
        const bool good = ask(&s, data[1 + i]);
        /* Once lost it stays so, for the first reason, and no question succeeds. */
        MUST(lost == NULL || (s.channel.lost == lost && !good));
        check_bounds(&s);
    }
    end(&s);
    return 0;
}
