/* QEMU alone (bare.h). */
#include "bench/bare.h"

#include "bench/bench.h"
#include "examples/localdaemon/vm.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ARGUMENTS 128u
#define STREAM "socket,id=agent,fd="

static cs_view read_proc(pid_t pid, const char *name, cs_buf *out) {
    char path[96];
    char block[4096];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = 0;
    while (fd >= 0 && (got = read(fd, block, sizeof block)) > 0) {
        if (!cs_buf_append(out, block, (size_t)got)) {
            bench_fail("memory", NULL);
        }
    }
    if (fd < 0 || got < 0 || !cs_buf_byte(out, '\0')) {
        bench_fail(path, NULL);
    }
    close(fd);
    return cs_view_bytes(out->ptr, out->len - 1);
}

/* The keeper's one child is the monitor. */
static pid_t monitor_of(pid_t keeper) {
    char name[64];
    snprintf(name, sizeof name, "task/%d/children", (int)keeper);
    CS_AUTO_BUF text = CS_BUF_INIT(4096);
    const cs_view list = read_proc(keeper, name, &text);
    return (pid_t)strtol((const char *)list.ptr, NULL, 10);
}

bool bare_vm_record(cs_bare *bare) {
    cs_error err = CS_ERROR_INIT;
    struct ld_machine *machine = NULL;
    if (ld_vm_boot(&bare->place, LD_VM_BOOT_MS, &machine, &err) != CS_OK) {
        fprintf(stderr, "bench: bare vm: %s\n", err.message);
        return false;
    }
    const pid_t monitor = monitor_of(machine->keeper);
    CS_AUTO_BUF text = CS_BUF_INIT(65536);
    const cs_view arguments = read_proc(monitor, "cmdline", &text);
    bare->arguments = malloc(arguments.len);
    if (monitor <= 0 || arguments.len == 0 || bare->arguments == NULL) {
        bench_fail("arguments of QEMU", NULL);
    }
    memcpy(bare->arguments, arguments.ptr, arguments.len);
    bare->arguments_len = arguments.len;
    if (!ld_vm_end(machine)) {
        bench_fail("virtual machine", NULL);
    }
    return true;
}

/* The arguments as a list, and the descriptor that one of them names as the agent's stream. */
static int list_arguments(const cs_bare *bare, char *argv[MAX_ARGUMENTS + 1]) {
    size_t count = 0;
    long stream = -1;
    for (size_t at = 0; at < bare->arguments_len; at += strlen(bare->arguments + at) + 1) {
        char *argument = bare->arguments + at;
        if (count == MAX_ARGUMENTS) {
            bench_fail("arguments of QEMU", NULL);
        }
        if (strncmp(argument, STREAM, sizeof STREAM - 1) == 0) {
            stream = strtol(argument + sizeof STREAM - 1, NULL, 10);
        }
        argv[count++] = argument;
    }
    argv[count] = NULL;
    if (stream <= 2) {
        bench_fail("the agent's stream among the arguments of QEMU", NULL);
    }
    return (int)stream;
}

static pid_t start_monitor(const cs_bare *bare, int end) {
    static char path[] = "PATH=/usr/bin:/bin";
    static char language[] = "LANG=C.UTF-8";
    char *const environment[] = {path, language, NULL};
    char *argv[MAX_ARGUMENTS + 1];
    const int stream = list_arguments(bare, argv);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0); // the console
    posix_spawn_file_actions_adddup2(&actions, end, stream);
    pid_t pid = -1;
    if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environment) != 0) {
        bench_fail("bare QEMU", NULL);
    }
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

static bool run_inside(ld_channel *channel) {
    static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};
    const ld_vm_command command = {.argv = bare_command, .envp = environment};
    const ld_until until = {.ms = ld_monotonic_ms() + LD_VM_BOOT_MS, .stop_fd = -1};
    ld_output output = {.out = CS_BUF_INIT(LD_STREAM_CAP), .err = CS_BUF_INIT(LD_STREAM_CAP)};
    const bool good = ld_channel_greet(channel, until) &&
                      ld_channel_run(channel, until, &command, &output) == LD_RAN_DONE && output.exit_code == 0;
    ld_output_free(&output);
    return good;
}

double bare_vm_run(const cs_bare *bare) {
    int pair[2];
    ld_channel channel;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0 || !ld_channel_open(&channel, pair[0], NULL)) {
        bench_fail("bare QEMU", NULL);
    }
    const double begin = bench_seconds();
    const pid_t monitor = start_monitor(bare, pair[1]);
    close(pair[1]);
    const bool good = run_inside(&channel);
    kill(monitor, SIGKILL);
    bare_reap(monitor);
    const double seconds = bench_seconds() - begin;
    if (!good) {
        bench_fail("bare QEMU", NULL);
    }
    ld_channel_close(&channel);
    return seconds;
}
