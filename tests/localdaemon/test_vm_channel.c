/* What a guest may say to the daemon: each frame that is believed, and the same with one thing wrong. The guest's side
 * is written beforehand into its end of the stream, since it may speak whenever it likes. */
#include "examples/localdaemon/vm_channel.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static ld_channel channel;
static int guest;

/* A frame's head and payload as one literal. */
#define SAYS(literal) literal, sizeof(literal) - 1

static ld_until within(int ms) {
    return (ld_until){.ms = ld_monotonic_ms() + ms, .stop_fd = -1};
}

static void open_channel(const void *said, size_t len) {
    int pair[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    guest = pair[1];
    cr_assert(ld_channel_open(&channel, pair[0], NULL));
    channel.grace_ms = 50;
    cr_assert_eq(write(guest, said, len), (ssize_t)len);
}

static void close_channel(void) {
    ld_channel_close(&channel);
    if (guest >= 0) close(guest);
    guest = -1;
}

static void expect_lost(const char *why) {
    cr_assert_not_null(channel.lost, "the channel is usable; expected: %s", why);
    cr_assert_str_eq(channel.lost, why);
    /* For good: nothing more is asked, and nothing waited for. */
    errno = 0;
    cr_assert_eq(ld_channel_write(&channel, within(100000), cs_view_of("f"), cs_view_of(""), false), LD_WORK_FAILED);
    cr_assert_eq(errno, EPROTO);
    close_channel();
}

/* ---- greeting -------------------------------------------------------------------------------------- */

#define READY "r\0\0\0\4\0\0\0\1"
#define DONE "d\0\0\0\5\0\0\0\0\0"

static void refuse_greeting(const void *said, size_t len, const char *why) {
    open_channel(said, len);
    cr_assert_not(ld_channel_greet(&channel, within(100)));
    expect_lost(why);
}

Test(localdaemon_vm_channel, greeting) {
    open_channel(SAYS(READY DONE));
    cr_assert(ld_channel_greet(&channel, within(10000)));
    uint8_t sent[32];
    cr_assert_eq(read(guest, sent, sizeof sent), 13);
    cr_assert_eq(memcmp(sent, "S\0\0\0\x8\0\0", 7), 0);
    close_channel();
    refuse_greeting(SAYS("r\0\0\0\4\0\0\0\2" DONE), "the image's agent is of another version");
    refuse_greeting(SAYS("r\0\0\0\3\0\0\0"), "the guest's frame is of the wrong length");
    refuse_greeting(SAYS("r\0\0\0\5\0\0\0\1\0"), "the guest's frame is of the wrong length");
    refuse_greeting(SAYS("x\0\0\0\4\0\0\0\1" DONE), "the guest's frame is of the wrong type");
    refuse_greeting(SAYS(READY "r\0\0\0\5\0\0\0\0\0"), "the guest's frame is of the wrong type");
    refuse_greeting(SAYS(READY "d\0\0\0\5\3\0\0\0\1"), "the guest can't be set up");
    refuse_greeting(SAYS("r\0\0\0\4\0\0\0"), "the guest does not answer");
    refuse_greeting(SAYS(READY), "the guest does not answer");
}

Test(localdaemon_vm_channel, frames_are_bounded) {
    static uint8_t said[LD_VM_HEAD + LD_VM_MAX_ANSWER + 1 + 11] = {'o', 0, 0, 0x80, 0};
    static const char ended[] = "x\0\0\0\6\0\0\0\0\0\1";
    static const char *const argv[] = {"/x", NULL};
    static const char *const envp[] = {NULL};
    const ld_vm_command command = {.argv = argv, .envp = envp};
    ld_output out = {.out = CS_BUF_INIT(LD_STREAM_CAP), .err = CS_BUF_INIT(LD_STREAM_CAP)};
    memcpy(said + LD_VM_HEAD + LD_VM_MAX_ANSWER, ended, 11);
    open_channel(said, LD_VM_HEAD + LD_VM_MAX_ANSWER + 11);
    cr_assert_eq(ld_channel_run(&channel, within(10000), &command, &out), LD_RAN_DONE, "%s", channel.lost);
    cr_assert_eq(out.out.len, 32768);
    ld_output_free(&out);
    close_channel();
    said[4] = 1;
    open_channel(said, sizeof said);
    cr_assert_eq(ld_channel_run(&channel, within(10000), &command, &out), LD_RAN_LOST);
    expect_lost("the guest's frame is too long");
    open_channel(SAYS("o\xff\xff\xff\xff"));
    cr_assert_eq(ld_channel_run(&channel, within(10000), &command, &out), LD_RAN_LOST);
    expect_lost("the guest's frame is too long");
    ld_output_free(&out);
}

/* ---- commands -------------------------------------------------------------------------------------- */

static ld_output output;

static ld_ran run(int ms) {
    static const char *const argv[] = {"/bin/sh", "-c", "", NULL};
    static const char *const envp[] = {"A=b", NULL};
    const ld_vm_command command = {
        .argv = argv, .envp = envp, .limits = {.data_bytes = 1, .processes = 2, .file_bytes = 3, .open_files = 4}};
    output = (ld_output){.out = CS_BUF_INIT(LD_STREAM_CAP), .err = CS_BUF_INIT(LD_STREAM_CAP)};
    return ld_channel_run(&channel, within(ms), &command, &output);
}

static void refuse_run(const void *said, size_t len, const char *why) {
    open_channel(said, len);
    cr_assert_eq(run(100), LD_RAN_LOST);
    expect_lost(why);
    ld_output_free(&output);
}

static void accept_run(const void *said, size_t len, int exit_code) {
    open_channel(said, len);
    cr_assert_eq(run(10000), LD_RAN_DONE, "%s", channel.lost);
    cr_assert_eq(output.exit_code, exit_code);
    cr_assert(!output.timed_out && !output.stopped);
    ld_output_free(&output);
    close_channel();
}

Test(localdaemon_vm_channel, command_and_its_streams) {
    open_channel(SAYS("o\0\0\0\2hi"
                      "e\0\0\0\0"
                      "e\0\0\0\1!"
                      "o\0\0\0\1\n"
                      "x\0\0\0\6\0\0\0\0\3\1"));
    cr_assert_eq(run(10000), LD_RAN_DONE, "%s", channel.lost);
    cr_assert(cs_view_is(cs_buf_view(&output.out), "hi\n") && cs_view_is(cs_buf_view(&output.err), "!"));
    cr_assert(output.exit_code == 3 && !output.out_truncated && !output.err_truncated);
    static const char expected[] = "X\0\0\0\x3a\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\4"
                                   "\0\0\0\0\0\0\0\0\0\3/bin/sh\0-c\0\0A=b";
    char sent[128];
    cr_assert_eq(read(guest, sent, sizeof sent), (ssize_t)sizeof expected);
    cr_assert_eq(memcmp(sent, expected, sizeof expected), 0);
    ld_output_free(&output);
    close_channel();
}

Test(localdaemon_vm_channel, ends_of_a_command) {
    accept_run(SAYS("x\0\0\0\6\0\0\0\0\0\1"), 0);
    accept_run(SAYS("x\0\0\0\6\0\0\0\0\xff\1"), 255);
    refuse_run(SAYS("x\0\0\0\6\0\0\0\1\0\1"), "the guest's frame says what is impossible");
    accept_run(SAYS("x\0\0\0\6\1\0\0\0\1\1"), 129);
    accept_run(SAYS("x\0\0\0\6\1\0\0\0\x40\1"), 192);
    refuse_run(SAYS("x\0\0\0\6\1\0\0\0\0\1"), "the guest's frame says what is impossible");
    refuse_run(SAYS("x\0\0\0\6\1\0\0\0\x41\1"), "the guest's frame says what is impossible");
    refuse_run(SAYS("x\0\0\0\6\4\0\0\0\0\1"), "the guest's frame says what is impossible");
    /* Killed, but nobody has asked for it. */
    refuse_run(SAYS("x\0\0\0\6\2\0\0\0\0\1"), "the guest's frame says what is impossible");
    refuse_run(SAYS("x\0\0\0\6\0\0\0\0\0\0"), "processes of the command can't be ended in the guest");
    refuse_run(SAYS("x\0\0\0\6\0\0\0\0\0\2"), "processes of the command can't be ended in the guest");
    refuse_run(SAYS("x\0\0\0\5\0\0\0\0\0"), "the guest's frame is of the wrong length");
    refuse_run(SAYS("x\0\0\0\7\0\0\0\0\0\1\1"), "the guest's frame is of the wrong length");
    refuse_run(SAYS("o\0\0\0\1a"
                    "d\0\0\0\5\0\0\0\0\0"),
               "the guest's frame is of the wrong type");
    refuse_run(SAYS("\0\0\0\0\0"), "the guest's frame is of the wrong type");
}

Test(localdaemon_vm_channel, command_that_can_not_start) {
    open_channel(SAYS("x\0\0\0\6\3\0\0\0\2\1"));
    cr_assert_eq(run(10000), LD_RAN_UNSTARTED);
    cr_assert(errno == ENOENT && channel.lost == NULL);
    close_channel();
    open_channel(SAYS("x\0\0\0\6\3\x7f\0\0\0\1"));
    cr_assert_eq(run(10000), LD_RAN_UNSTARTED);
    cr_assert_eq(errno, EPROTO, "no errno of anybody's");
    close_channel();
}

/* A guest that answers the word to end with `said`; without any, it never does. */
static pid_t start_guest(const void *said, size_t len) {
    pid_t pid = fork();
    if (pid != 0) return pid;
    char head[LD_VM_HEAD], rest[256];
    for (;;) {
        if (read(guest, head, sizeof head) != (ssize_t)sizeof head) _exit(1);
        if (head[0] == LD_VM_KILL) break;
        if (read(guest, rest, (size_t)head[4]) != head[4]) _exit(1);
    }
    _exit(write(guest, said, len) == (ssize_t)len ? 0 : 1);
}

static void end_guest(pid_t pid) {
    int status = 0;
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    cr_assert_eq(status, 0);
}

static void run_past_the_end(const void *said, size_t len, ld_ran expected) {
    open_channel("", 0);
    channel.grace_ms = len > 0 ? 20000 : 50;
    pid_t pid = start_guest(said, len);
    cr_assert_eq(run(20), expected, "%s", channel.lost);
    end_guest(pid);
    ld_output_free(&output);
}

Test(localdaemon_vm_channel, time_out) {
    run_past_the_end(SAYS("o\0\0\0\1a"
                          "x\0\0\0\6\2\0\0\0\0\1"),
                     LD_RAN_DONE);
    cr_assert(output.timed_out && output.exit_code == 137);
    close_channel();
    /* It came to its end while the word was on its way. */
    run_past_the_end(SAYS("x\0\0\0\6\0\0\0\0\5\1"), LD_RAN_DONE);
    cr_assert(!output.timed_out && output.exit_code == 5);
    close_channel();
    run_past_the_end(SAYS("x\0\0\0\6\2\0\0\0\1\1"), LD_RAN_LOST);
    expect_lost("the guest's frame says what is impossible");
    run_past_the_end(SAYS(""), LD_RAN_LOST);
    expect_lost("the guest does not end the command");
}

/* Output that never stops is an output like any other: the time is over at its end. */
Test(localdaemon_vm_channel, flood, .timeout = 60) {
    static const char flood[] = "o\0\0\0\4abcd"
                                "e\0\0\0\0";
    open_channel("", 0);
    pid_t pid = fork();
    if (pid == 0) {
        close(channel.fd);
        signal(SIGPIPE, SIG_IGN);
        while (write(guest, flood, sizeof flood - 1) > 0)
            continue;
        _exit(0);
    }
    close(guest);
    guest = -1;
    cr_assert_eq(run(1000), LD_RAN_LOST);
    cr_assert(output.timed_out && output.out.len <= LD_STREAM_CAP);
    ld_output_free(&output);
    expect_lost("the guest does not end the command");
    cr_assert_eq(waitpid(pid, NULL, 0), pid);
}

Test(localdaemon_vm_channel, closed_and_stopped) {
    open_channel(SAYS("o\0\0\0\2h"));
    close(guest);
    guest = -1;
    cr_assert_eq(run(10000), LD_RAN_LOST);
    cr_assert(!output.stopped);
    ld_output_free(&output);
    close_channel();
    int stop = eventfd(1, EFD_CLOEXEC);
    static const char *const argv[] = {"/x", NULL};
    static const char *const envp[] = {NULL};
    const ld_vm_command command = {.argv = argv, .envp = envp};
    open_channel(SAYS("x\0\0\0\6\0\0\0\0\0\1"));
    const ld_until until = {.ms = ld_monotonic_ms() + 10000, .stop_fd = stop};
    output = (ld_output){.out = CS_BUF_INIT(LD_STREAM_CAP), .err = CS_BUF_INIT(LD_STREAM_CAP)};
    cr_assert_eq(ld_channel_run(&channel, until, &command, &output), LD_RAN_LOST);
    cr_assert(channel.stopped);
    expect_lost("the run was told to end");
    close(stop);
}

/* ---- files ----------------------------------------------------------------------------------------- */

static ld_work write_with(const void *said, size_t len) {
    open_channel(said, len);
    errno = 0;
    return ld_channel_write(&channel, within(100), cs_view_of("a/b"), cs_view_of("xyz"), true);
}

Test(localdaemon_vm_channel, writing) {
    cr_assert_eq(write_with(SAYS(DONE)), LD_WORK_DONE);
    char sent[64];
    cr_assert_eq(read(guest, sent, sizeof sent), 14);
    cr_assert_eq(memcmp(sent, "F\0\0\0\x9\1\0\3a/bxyz", 14), 0);
    close_channel();
    cr_assert_eq(write_with(SAYS("d\0\0\0\5\1\0\0\0\x14")), LD_WORK_UNFIT);
    cr_assert_eq(errno, ENOTDIR);
    cr_assert_null(channel.lost);
    close_channel();
    cr_assert_eq(write_with(SAYS("d\0\0\0\5\3\0\0\0\x1c")), LD_WORK_FAILED);
    cr_assert_eq(errno, ENOSPC);
    cr_assert_null(channel.lost);
    close_channel();
    cr_assert_eq(write_with(SAYS("d\0\0\0\5\2\0\0\0\0")), LD_WORK_FAILED, "too large is no answer to this");
    expect_lost("the guest's frame says what is impossible");
    cr_assert_eq(write_with(SAYS("d\0\0\0\5\4\0\0\0\0")), LD_WORK_FAILED);
    expect_lost("the guest's frame says what is impossible");
    cr_assert_eq(write_with(SAYS("d\0\0\0\4\0\0\0\0")), LD_WORK_FAILED);
    expect_lost("the guest's frame is of the wrong length");
    cr_assert_eq(write_with(SAYS("s\0\0\0\5\0\0\0\0\0")), LD_WORK_FAILED);
    expect_lost("the guest's frame is of the wrong type");
    cr_assert_eq(write_with("", 0), LD_WORK_FAILED);
    expect_lost("the guest does not answer");
}

static cs_buf content = {.max = LD_ARTIFACTS_CAP};

static ld_work read_with(const void *said, size_t len, size_t room) {
    cs_buf_clear(&content);
    cr_assert(cs_buf_text(&content, "before"));
    open_channel(said, len);
    return ld_channel_read(&channel, within(100), cs_view_of("a"), room, &content);
}

static void refuse_read(const void *said, size_t len, const char *why) {
    cr_assert_eq(read_with(said, len, 3), LD_WORK_FAILED);
    cr_assert(cs_view_is(cs_buf_view(&content), "before"));
    expect_lost(why);
}

Test(localdaemon_vm_channel, reading) {
    cr_assert_eq(read_with(SAYS("s\0\0\0\5\0\0\0\0\3"
                                "p\0\0\0\3abc"),
                           3),
                 LD_WORK_DONE);
    cr_assert(cs_view_is(cs_buf_view(&content), "beforeabc"));
    char sent[64];
    cr_assert_eq(read(guest, sent, sizeof sent), 10);
    cr_assert_eq(memcmp(sent,
                        "G\0\0\0\5\0\0\0\3"
                        "a",
                        10),
                 0);
    close_channel();
    cr_assert_eq(read_with(SAYS("s\0\0\0\5\0\0\0\0\0"), 3), LD_WORK_DONE);
    cr_assert(cs_view_is(cs_buf_view(&content), "before"));
    close_channel();
    refuse_read(SAYS("s\0\0\0\5\0\0\0\0\4"
                     "p\0\0\0\4abcd"),
                "the guest's frame says what is impossible");
    refuse_read(SAYS("s\0\0\0\5\0\0\0\0\3"
                     "p\0\0\0\2ab"
                     "p\0\0\0\1c"),
                "the guest's frame is of the wrong length");
    refuse_read(SAYS("s\0\0\0\5\0\0\0\0\3"
                     "p\0\0\0\4abcd"),
                "the guest's frame is of the wrong length");
    refuse_read(SAYS("s\0\0\0\5\0\0\0\0\3"
                     "o\0\0\0\3abc"),
                "the guest's frame is of the wrong type");
    refuse_read(SAYS("s\0\0\0\5\0\0\0\0\3"
                     "p\0\0\0\3ab"),
                "the guest does not answer");
    cr_assert_eq(read_with(SAYS("s\0\0\0\5\1\0\0\0\0"), 3), LD_WORK_UNFIT);
    close_channel();
    refuse_read(SAYS("s\0\0\0\5\1\0\0\0\1"), "the guest's frame says what is impossible");
    cr_assert_eq(read_with(SAYS("s\0\0\0\5\2\0\0\0\0"), 3), LD_WORK_LARGE);
    close_channel();
    refuse_read(SAYS("s\0\0\0\5\2\0\0\0\1"), "the guest's frame says what is impossible");
    refuse_read(SAYS("s\0\0\0\5\4\0\0\0\0"), "the guest's frame says what is impossible");
    cs_buf_free(&content);
}
