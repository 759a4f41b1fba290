#include "bench/bare.h"

#include "bench/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const bare_command[] = {"/bin/sh", "-c", "true", NULL};

void bare_drain(int fd) {
    char block[4096];
    ssize_t got;
    do {
        got = read(fd, block, sizeof block);
    } while (got > 0 || (got < 0 && errno == EINTR));
}

bool bare_reap(pid_t pid) {
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        continue;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void make_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) != 0) {
        bench_fail("pipe", NULL);
    }
}

/* ---- process -------------------------------------------------------------------------------------- */

static double spawn(void) {
    int ends[2];
    make_pipe(ends);
    char *const environment[] = {NULL};
    char *argv[sizeof bare_command / sizeof bare_command[0]];
    memcpy(argv, bare_command, sizeof argv); // posix_spawn does not change them; its type is older than const
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    pid_t pid = -1;
    const double begin = bench_seconds();
    const int failed = posix_spawn(&pid, argv[0], &actions, NULL, argv, environment);
    close(ends[1]);
    bare_drain(ends[0]);
    const bool good = failed == 0 && bare_reap(pid);
    const double seconds = bench_seconds() - begin;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (!good) {
        bench_fail("bare process", NULL);
    }
    return seconds;
}

/* ---- container and kernel ------------------------------------------------------------------------- */

/* The daemon's child without its keeper: streams, limits, user, then the program. */
static double confined(ld_plan *plan) {
    int streams[2];
    int failed[2];
    make_pipe(streams);
    make_pipe(failed);
    plan->output = streams[1];
    plan->errors = streams[1];
    const double begin = bench_seconds();
    const pid_t pid = fork();
    if (pid == 0) {
        ld_confined(plan, failed[1]);
    }
    close(streams[1]);
    close(failed[1]);
    bare_drain(failed[0]); // its end is the program's start; should that fail, the exit code says so
    bare_drain(streams[0]);
    const bool good = pid > 0 && bare_reap(pid);
    const double seconds = bench_seconds() - begin;
    close(streams[0]);
    close(failed[0]);
    if (!good) {
        bench_fail("bare run", NULL);
    }
    return seconds;
}

static double prepare_and_run(const cs_bare *bare) {
    const ld_command command = {.argv = bare_command};
    const ld_output nothing = {.clean = true};
    ld_prepared prepared;
    cs_error err = CS_ERROR_INIT;
    if (ld_provider_prepare(&bare->place, &command, &prepared, &err) != CS_OK) {
        bench_fail("bare run", &err);
    }
    const double seconds = confined(&prepared.plan);
    if (ld_provider_conclude(&prepared, &nothing, &err) != CS_OK || !ld_provider_release(&prepared)) {
        bench_fail("bare run", &err);
    }
    return seconds;
}

double bare_run(const cs_bare *bare) {
    switch (bare->sandbox.kind) {
    case LD_PROCESS:
        return spawn();
    case LD_VM:
        return bare_vm_run(bare);
    default:
        return prepare_and_run(bare);
    }
}

/* ---- begin and end -------------------------------------------------------------------------------- */

bool bare_open(const char *provider, cs_bare *out) {
    memset(out, 0, sizeof *out);
    out->slots.lock_fd = -1;
    out->slot = (ld_slot){.folder_fd = -1, .work_fd = -1, .user_fd = -1};
    cs_error err = CS_ERROR_INIT;
    cs_result result = ld_sandbox_init(&out->sandbox, ld_provider_find(provider), NULL, &err);
    if (result == CS_OK) {
        result = ld_slots_open(&out->slots, &err);
    }
    if (result == CS_OK) {
        result = ld_slot_take(&out->slots, true, &out->slot, &err);
    }
    if (result != CS_OK) {
        fprintf(stderr, "bench: bare %s: %s\n", provider, err.message);
        return false;
    }
    out->place = (ld_place){.sandbox = &out->sandbox,
                            .slots = &out->slots,
                            .slot = &out->slot,
                            .guards = out->sandbox.guards,
                            .limits = out->sandbox.limits,
                            .stop_fd = -1};
    return out->sandbox.kind != LD_VM || bare_vm_record(out);
}

void bare_close(cs_bare *bare) {
    cs_error err = CS_ERROR_INIT;
    if (bare->slot.work_fd >= 0 && ld_slot_return(&bare->slots, &bare->slot, &err) != CS_OK) {
        bench_fail("slot", &err);
    }
    ld_slots_close(&bare->slots);
    ld_sandbox_free(&bare->sandbox);
    free(bare->arguments);
}
