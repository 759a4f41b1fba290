/* Tier container: bubblewrap, started as the run's own user, with namespaces for everything, a read-only
 * system, and the same filter and limits as the provider process. */
#include "examples/localdaemon/provider.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define INSIDE_USER "1000"
#define TMPFS_BYTES 67108864u

static cs_result find(ld_sandbox *sandbox, cs_error *err) {
    return ld_find_program("bwrap", "bubblewrap", sandbox->tool, err);
}

static bool policy(const ld_sandbox *sandbox, cs_buf *out) {
    return ld_policy_limits(sandbox, out) && ld_filter_describe(out);
}

static void add(ld_prepared *out, const char *const *words) {
    for (; *words != NULL; words++)
        ld_prepared_argument(out, *words);
}

static void add_namespaces(ld_prepared *out, uint32_t guards) {
    static const char *const always[] = {
        "--unshare-user",    "--unshare-uts", "--unshare-cgroup-try", "--hostname", "localhost",
        "--die-with-parent", "--new-session", "--cap-drop",           "ALL",        NULL};
    add(out, always);
    if ((guards & LD_GUARD_PIDS) != 0) ld_prepared_argument(out, "--unshare-pid");
    if ((guards & LD_GUARD_NETWORK) != 0) ld_prepared_argument(out, "--unshare-net");
    if ((guards & LD_GUARD_IPC) != 0) ld_prepared_argument(out, "--unshare-ipc");
}

static void add_system(ld_prepared *out, const ld_sandbox *sandbox) {
    static const char *const system[] = {"--ro-bind",
                                         "/usr",
                                         "/usr",
                                         "--symlink",
                                         "usr/bin",
                                         "/bin",
                                         "--symlink",
                                         "usr/sbin",
                                         "/sbin",
                                         "--symlink",
                                         "usr/lib",
                                         "/lib",
                                         "--symlink",
                                         "usr/lib64",
                                         "/lib64",
                                         "--ro-bind-try",
                                         "/etc/ld.so.cache",
                                         "/etc/ld.so.cache",
                                         "--ro-bind-try",
                                         "/etc/alternatives",
                                         "/etc/alternatives",
                                         "--ro-bind-try",
                                         "/etc/ssl/openssl.cnf",
                                         "/etc/ssl/openssl.cnf",
                                         "--ro-bind-try",
                                         "/etc/localtime",
                                         "/etc/localtime",
                                         NULL};
    static const char *const kernel[] = {"--proc", "/proc", "--dev", "/dev", NULL};
    add(out, system);
    if (strncmp(sandbox->node, "/usr/", 5) != 0) {
        ld_prepared_argument(out, "--ro-bind");
        ld_prepared_argument(out, sandbox->node);
        ld_prepared_argument(out, sandbox->node);
    }
    add(out, kernel);
}

/* Smoke test: the machine's own files in place of a system of its own. */
static void add_whole_host(ld_prepared *out, const ld_place *place) {
    const char *const words[] = {"--ro-bind",
                                 "/",
                                 "/",
                                 "--dev",
                                 "/dev",
                                 "--proc",
                                 "/proc",
                                 "--bind",
                                 place->slot->work,
                                 place->slot->work,
                                 "--chdir",
                                 place->slot->work,
                                 NULL};
    add(out, words);
}

/* The run's folders at their fixed paths on a small /tmp; everything else is read-only. */
static void add_folders(ld_prepared *out, const ld_place *place) {
    static const char *const tmpfs[] = {"--tmpfs", "/tmp", NULL};
    static const char *const read_only[] = {"--remount-ro", "/dev", "--remount-ro", "/", NULL};
    ld_prepared_argument(out, "--size");
    ld_prepared_argument(out, ld_prepared_number(out, TMPFS_BYTES));
    add(out, tmpfs);
    const char *const binds[] = {
        "--bind", place->slot->work, ld_inside_work(place), "--bind", place->slot->tmp, ld_inside_tmp(place), NULL};
    add(out, binds);
    add(out, read_only);
    const char *const enter[] = {"--chdir", ld_inside_work(place), NULL};
    add(out, enter);
}

static void add_environment(ld_prepared *out, const ld_place *place) {
    const char *const words[] = {"--clearenv",
                                 "--setenv",
                                 "PATH",
                                 place->sandbox->path_variable,
                                 "--setenv",
                                 "HOME",
                                 ld_inside_work(place),
                                 "--setenv",
                                 "TMPDIR",
                                 ld_inside_tmp(place),
                                 "--setenv",
                                 "LANG",
                                 "C.UTF-8",
                                 NULL};
    add(out, words);
}

/* The filter in a file of its own that bubblewrap reads to its end; a second one for what it reports. */
static cs_result make_descriptors(ld_prepared *out, cs_error *err) {
    out->status_fd = memfd_create("status", MFD_CLOEXEC);
    if (out->status_fd < 0) return cs_fail(err, CS_CODE_IO, "memfd_create: %s", strerror(errno));
    out->plan.passed[0] = out->status_fd;
    ld_prepared_argument(out, "--json-status-fd");
    ld_prepared_argument(out, ld_prepared_number(out, (uint64_t)out->status_fd));
    if (out->filter == NULL) return CS_OK;
    out->filter_fd = memfd_create("filter", MFD_CLOEXEC);
    if (out->filter_fd < 0) return cs_fail(err, CS_CODE_IO, "memfd_create: %s", strerror(errno));
    size_t size = out->filter->count * sizeof(struct sock_filter);
    if (pwrite(out->filter_fd, out->filter->code, size, 0) != (ssize_t)size)
        return cs_fail(err, CS_CODE_IO, "the filter can't be handed to bubblewrap: %s", strerror(errno));
    out->plan.passed[1] = out->filter_fd;
    ld_prepared_argument(out, "--seccomp");
    ld_prepared_argument(out, ld_prepared_number(out, (uint64_t)out->filter_fd));
    return CS_OK;
}

static cs_result prepare(const ld_place *place, const ld_command *command, ld_prepared *out, cs_error *err) {
    ld_prepared_argument(out, place->sandbox->tool);
    add_namespaces(out, place->guards);
    /* The same user inside for every slot. */
    static const char *const user[] = {"--uid", INSIDE_USER, "--gid", INSIDE_USER, NULL};
    add(out, user);
    if ((place->guards & LD_GUARD_MOUNTS) != 0) {
        add_system(out, place->sandbox);
        add_folders(out, place);
    } else {
        add_whole_host(out, place);
    }
    add_environment(out, place);
    cs_result result = make_descriptors(out, err);
    if (result != CS_OK) return result;
    ld_prepared_argument(out, "--");
    for (size_t i = 0; command->argv != NULL && command->argv[i] != NULL; i++)
        ld_prepared_argument(out, command->argv[i]);
    out->plan.program = place->sandbox->tool;
    out->plan.folder = "/";
    return CS_OK;
}

/* bubblewrap ends with 1 when it can't build the container, as a program might. Only when it reported the
 * program's end itself is the exit code the program's. */
static cs_result conclude(const ld_prepared *prepared, const ld_output *output, cs_error *err) {
    if (output->timed_out || output->stopped) return CS_OK;
    char report[1024];
    ssize_t got = pread(prepared->status_fd, report, sizeof(report) - 1, 0);
    report[got > 0 ? got : 0] = '\0';
    if (strstr(report, "\"exit-code\"") != NULL) return CS_OK;
    return cs_fail(err, CS_CODE_INTERNAL, "bubblewrap could not build the container: %.*s",
                   (int)(output->err.len < 200 ? output->err.len : 200),
                   output->err.len > 0 ? (const char *)output->err.ptr : "it says nothing");
}

/* RLIMIT_DATA is down wherever a copy of this program is run: a sanitizer's build maps more than it allows. */
static const ld_attempt attempts[] = {
    {LD_GUARD_USER, "read", LD_REACH_SECRET, LD_GUARD_MOUNTS | LD_GUARD_MEMORY},
    {LD_GUARD_MOUNTS, "read", LD_REACH_CANARY, LD_GUARD_MEMORY},
    {LD_GUARD_PIDS, "signal", LD_REACH_VICTIM, LD_GUARD_MEMORY},
    {LD_GUARD_NETWORK, "tcp", LD_REACH_PORT, LD_GUARD_SOCKETS | LD_GUARD_MEMORY},
    {LD_GUARD_IPC, "shm", LD_REACH_SEGMENT, LD_GUARD_SYSCALLS | LD_GUARD_MEMORY},
    {LD_GUARD_SYSCALLS, "keyctl", LD_REACH_NOTHING, LD_GUARD_MEMORY},
    {LD_GUARD_SYSCALLS, "unshare", LD_REACH_NOTHING, LD_GUARD_MEMORY},
    {LD_GUARD_SOCKETS, "socket", LD_REACH_NOTHING, LD_GUARD_MEMORY},
    {LD_GUARD_PROCESSES, "fork", LD_REACH_CHILDREN, LD_GUARD_MEMORY},
    {LD_GUARD_MEMORY, "memory", LD_REACH_DATA, 0},
    {LD_GUARD_FILE_SIZE, "write", LD_REACH_FILE_END, LD_GUARD_MEMORY},
};

const ld_provider ld_provider_container = {.name = "container",
                                           .tier = CS_TIER_CONTAINER,
                                           .guards = LD_GUARDS_CONTAINER,
                                           .root_guards = LD_GUARD_USER | LD_GUARD_PROCESSES,
                                           .fixed_paths = true,
                                           .keeps_processes = true,
                                           .probes_by_copy = true,
                                           .find = find,
                                           .policy = policy,
                                           .prepare = prepare,
                                           .conclude = conclude,
                                           .attempts = attempts,
                                           .attempt_count = sizeof(attempts) / sizeof(attempts[0])};
