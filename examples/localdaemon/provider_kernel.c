/* Tier kernel: gVisor (runsc). A program's system calls end in a kernel that is an ordinary program of the host; what a
 * run would have to break is that program, then the namespaces and the filter that it has put itself behind.
 *
 * As root, gVisor is started as root of a user namespace with two users: all of its processes belong to the slot's
 * second user, so that ending those of this user ends it, and the files of a run to the slot's first, who is who the
 * run is inside. Otherwise it makes a user namespace of its own with this user alone, and the run is uid 0 inside,
 * without any capability. */
#include "examples/localdaemon/kernel_bundle.h"
#include "examples/localdaemon/software.h"
#include "examples/localdaemon/tree.h"
#include "records/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#define RUN_MEMORY (2048ull << 20) /* gVisor takes memory from the host by whole GiB */
#define MONITOR_FILES 65536u
#define ID_BYTES 8u

static cs_result find(ld_sandbox *sandbox, cs_error *err) {
    cs_digest tool;
    cs_digest node;
    CS_AUTO_BUF text = CS_BUF_INIT(4096);
    /* RLIMIT_DATA is not kept by gVisor. */
    sandbox->limits.data_bytes = 0;
    sandbox->limits.memory_bytes = RUN_MEMORY;
    cs_result result = ld_find_program("runsc", "runsc", sandbox->tool, err);
    if (result == CS_OK) result = ld_software_version(sandbox->tool, sandbox->version, sizeof(sandbox->version), err);
    if (result == CS_OK) result = ld_software_digest(sandbox->tool, &tool, err);
    if (result == CS_OK) result = ld_software_digest(sandbox->node, &node, err);
    if (result != CS_OK) return result;
    if (!cs_buf_printf(&text, "localdaemon environment 1\n%s\nrunsc sha256 %s\nnode sha256 %s\n", sandbox->version,
                       tool.hex, node.hex))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the environment");
    return ld_sandbox_environment(sandbox, cs_buf_view(&text), err);
}

static bool policy(const ld_sandbox *sandbox, cs_buf *out) {
    return cs_buf_printf(out, "%s\nplatform ptrace\n", sandbox->version) && ld_policy_limits(sandbox, out);
}

/* The name that gVisor gives this run. The socket that it talks to itself over is called after it, so nobody else may
 * know it before. */
static cs_result add_id(ld_prepared *out, cs_error *err) {
    uint8_t random[ID_BYTES];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return cs_fail(err, CS_CODE_IO, "no random numbers: %s", strerror(errno));
    char *text = out->texts[out->text_count++];
    cs_hex(random, sizeof(random), text);
    ld_prepared_argument(out, text);
    return CS_OK;
}

static void add_option(ld_prepared *out, const char *name, const char *value) {
    char *text = out->options[out->option_count++];
    snprintf(text, sizeof(out->options[0]), "%s=%s", name, value);
    ld_prepared_argument(out, text);
}

/* A log that is a file in memory, and nobody else's. */
static cs_result add_log(ld_prepared *out, const char *name, size_t place, int *fd, cs_error *err) {
    char path[32];
    *fd = memfd_create("log", MFD_CLOEXEC);
    if (*fd < 0) return cs_fail(err, CS_CODE_IO, "memfd_create: %s", strerror(errno));
    out->plan.passed[place] = *fd;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
    add_option(out, name, path);
    return CS_OK;
}

static cs_result add_arguments(const ld_place *place, ld_prepared *out, cs_error *err) {
    char path[sizeof(out->folder) + 8];
    snprintf(path, sizeof(path), "%s/state", out->folder);
    ld_prepared_argument(out, place->sandbox->tool);
    add_option(out, "--root", path);
    /* What the first of its processes logs, and no other. */
    add_option(out, "--debug-command", "run");
    cs_result result = add_log(out, "--debug-log", 0, &out->status_fd, err);
    if (result == CS_OK) result = add_log(out, "--panic-log", 1, &out->panic_fd, err);
    if (result != CS_OK) return result;
    add_option(out, "--platform", "ptrace");
    add_option(out, "--network", (place->guards & LD_GUARD_NETWORK) != 0 ? "none" : "host");
    ld_prepared_argument(out, "--rootless");
    ld_prepared_argument(out, "--ignore-cgroups");
    ld_prepared_argument(out, "run");
    add_option(out, "--bundle", out->folder);
    return add_id(out, err);
}

/* What holds for gVisor's own processes. Its memory for the run is a file, and so is bounded as one. */
static void set_plan(const ld_place *place, ld_plan *plan) {
    plan->namespaced = (place->guards & LD_GUARD_USER) != 0;
    plan->uid = place->slot->killer;
    plan->killer = place->slot->uid;
    plan->file_user = place->slot->uid;
    plan->guards = place->guards & LD_GUARD_USER;
    plan->limits.open_files = MONITOR_FILES;
    plan->limits.cpu_seconds = UINT64_MAX;
    if ((place->guards & LD_GUARD_MEMORY) == 0) return;
    plan->guards |= LD_GUARD_FILE_SIZE;
    plan->limits.file_bytes = place->limits.memory_bytes;
}

static cs_result prepare(const ld_place *place, const ld_command *command, ld_prepared *out, cs_error *err) {
    set_plan(place, &out->plan);
    cs_result result = ld_kernel_bundle(place, command, out, err);
    if (result == CS_OK) result = add_arguments(place, out, err);
    /* The variables stand in the bundle by now; gVisor itself must see none of them: it would follow TMPDIR. */
    out->variable_count = 0;
    out->envp[0] = NULL;
    out->plan.program = place->sandbox->tool;
    out->plan.folder = "/";
    return result;
}

static const char *read_log(int fd, char *text, size_t size) {
    ssize_t got = pread(fd, text, size - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    return text;
}

/* gVisor ends with 128 when it can't begin, as a program might; its log tells. Its first process asks the kernel for
 * the program's end, and where that is gone by then, for the kernel's own: which is the same, unless the kernel has
 * been killed or has failed. */
static cs_result conclude(const ld_prepared *prepared, const ld_output *output, cs_error *err) {
    static const char ended[] = "Exiting with status: ";
    char log[16384];
    char panic[256];
    if (output->timed_out || output->stopped) return CS_OK;
    const char *status = strstr(read_log(prepared->status_fd, log, sizeof(log)), ended);
    if (status == NULL)
        return cs_fail(err, CS_CODE_INTERNAL, "gVisor could not start the program: %.*s",
                       (int)(output->err.len < 200 ? output->err.len : 200),
                       output->err.len > 0 ? (const char *)output->err.ptr : "it says nothing");
    bool of_kernel = strstr(log, "Will try waiting on the sandbox process instead") != NULL;
    bool killed = WIFSIGNALED((int)strtol(status + sizeof(ended) - 1, NULL, 10));
    read_log(prepared->panic_fd, panic, sizeof(panic));
    if (panic[0] == '\0' && !(of_kernel && killed)) return CS_OK;
    return cs_fail(err, CS_CODE_INTERNAL, "gVisor itself has ended before the program: %s",
                   panic[0] != '\0' ? panic : "it was killed");
}

static bool release(ld_prepared *prepared) {
    cs_error err = CS_ERROR_INIT;
    return prepared->folder[0] == '\0' || ld_tree_remove(prepared->folder, &err) == CS_OK;
}

/* A sanitizer's build of this program takes more memory than the small limit of that attempt leaves: there alone the
 * guard memory is up. */
static const ld_attempt attempts[] = {
    {LD_GUARD_KERNEL, "signal", LD_REACH_VICTIM, 0},
    {LD_GUARD_KERNEL, "abstract", LD_REACH_ABSTRACT, 0},
    {LD_GUARD_KERNEL, "shm", LD_REACH_SEGMENT, 0},
    {LD_GUARD_KERNEL, "keyctl", LD_REACH_NOTHING, 0},
    {LD_GUARD_USER, "read", LD_REACH_SECRET, LD_GUARD_MOUNTS},
    {LD_GUARD_MOUNTS, "read", LD_REACH_CANARY, 0},
    {LD_GUARD_NETWORK, "tcp", LD_REACH_PORT, 0},
    {LD_GUARD_PROCESSES, "fork", LD_REACH_CHILDREN, 0},
    {LD_GUARD_MEMORY, "touch", LD_REACH_MEMORY, 0},
    {LD_GUARD_FILE_SIZE, "write", LD_REACH_FILE_END, 0},
};

const ld_provider ld_provider_kernel = {.name = "kernel",
                                        .tier = CS_TIER_KERNEL,
                                        .guards = LD_GUARDS_KERNEL,
                                        .root_guards = LD_GUARD_USER,
                                        .fixed_paths = true,
                                        .probes_by_copy = true,
                                        .find = find,
                                        .policy = policy,
                                        .prepare = prepare,
                                        .conclude = conclude,
                                        .release = release,
                                        .attempts = attempts,
                                        .attempt_count = sizeof(attempts) / sizeof(attempts[0])};
