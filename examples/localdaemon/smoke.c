#include "examples/localdaemon/smoke.h"

#include "examples/localdaemon/bait.h"
#include "examples/localdaemon/launch.h"
#include "examples/localdaemon/log.h"
#include "examples/localdaemon/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTEMPT_MS 20000

/* Small limits, so that running into them is quick. */
#define FEW_PROCESSES 16
#define SMALL_DATA (256ull << 20)
#define SMALL_FILE (1ull << 20)

typedef enum reach { CANARY, SECRET, PORT, ABSTRACT, SEGMENT, VICTIM, NOTHING, CHILDREN, DATA, FILE_END } reach;

/* One attempt on one guard. Guards that would also stop it are down in both of its runs, so that the attempt
 * tells of this one alone. */
typedef struct attempt {
    ld_guard guard;
    const char *probe;
    reach reach;
    uint32_t also_down;
} attempt;

static const attempt on_process[] = {
    {LD_GUARD_USER, "read", SECRET, LD_GUARD_FILES}, {LD_GUARD_FILES, "read", CANARY, 0},
    {LD_GUARD_TCP, "tcp", PORT, LD_GUARD_SOCKETS},   {LD_GUARD_ABSTRACT, "abstract", ABSTRACT, LD_GUARD_SOCKETS},
    {LD_GUARD_SIGNALS, "signal", VICTIM, 0},         {LD_GUARD_SYSCALLS, "keyctl", NOTHING, 0},
    {LD_GUARD_SYSCALLS, "unshare", NOTHING, 0},      {LD_GUARD_SOCKETS, "socket", NOTHING, 0},
    {LD_GUARD_PROCESSES, "fork", CHILDREN, 0},       {LD_GUARD_MEMORY, "memory", DATA, 0},
    {LD_GUARD_FILE_SIZE, "write", FILE_END, 0},
};

/* RLIMIT_DATA is down wherever a copy of this program is run: a sanitizer's build maps more than it allows. */
static const attempt on_container[] = {
    {LD_GUARD_USER, "read", SECRET, LD_GUARD_MOUNTS | LD_GUARD_MEMORY},
    {LD_GUARD_MOUNTS, "read", CANARY, LD_GUARD_MEMORY},
    {LD_GUARD_PIDS, "signal", VICTIM, LD_GUARD_MEMORY},
    {LD_GUARD_NETWORK, "tcp", PORT, LD_GUARD_SOCKETS | LD_GUARD_MEMORY},
    {LD_GUARD_IPC, "shm", SEGMENT, LD_GUARD_SYSCALLS | LD_GUARD_MEMORY},
    {LD_GUARD_SYSCALLS, "keyctl", NOTHING, LD_GUARD_MEMORY},
    {LD_GUARD_SYSCALLS, "unshare", NOTHING, LD_GUARD_MEMORY},
    {LD_GUARD_SOCKETS, "socket", NOTHING, LD_GUARD_MEMORY},
    {LD_GUARD_PROCESSES, "fork", CHILDREN, LD_GUARD_MEMORY},
    {LD_GUARD_MEMORY, "memory", DATA, 0},
    {LD_GUARD_FILE_SIZE, "write", FILE_END, LD_GUARD_MEMORY},
};

typedef struct test {
    const ld_sandbox *sandbox;
    ld_slots *slots;
    ld_bait bait;
    FILE *details;
} test;

static const char *argument_of(const test *to, reach what) {
    switch (what) {
    case CANARY:
        return to->bait.canary;
    case SECRET:
        return to->bait.secret;
    case PORT:
        return to->bait.port;
    case ABSTRACT:
        return to->bait.abstract;
    case SEGMENT:
        return to->bait.segment;
    case VICTIM:
        return to->bait.victim;
    case CHILDREN:
        return "32";
    case DATA:
        return "402653184"; /* 384 MiB */
    case FILE_END:
        return "1048576"; /* SMALL_FILE */
    case NOTHING:
        break;
    }
    return "-";
}

static ld_limits limits_of(const test *to, reach what) {
    ld_limits limits = to->sandbox->limits;
    if (what == CHILDREN) limits.processes = FEW_PROCESSES;
    if (what == DATA) limits.data_bytes = SMALL_DATA;
    if (what == FILE_END) limits.file_bytes = SMALL_FILE;
    return limits;
}

/* A copy of this program in the work folder: its own path may not be open to the run's user. */
static cs_result copy_program(const char *program, const ld_slot *slot, cs_error *err) {
    int from = open(program, O_RDONLY | O_CLOEXEC);
    int to = openat(slot->work_fd, "probe", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
    struct stat st;
    bool good = from >= 0 && to >= 0 && fstat(from, &st) == 0 && fchmod(to, 0755) == 0;
    off_t done = 0;
    while (good && done < st.st_size)
        good = sendfile(to, from, &done, (size_t)(st.st_size - done)) > 0;
    int error = errno;
    if (from >= 0) close(from);
    if (to >= 0 && close(to) != 0) good = false;
    if (good) return CS_OK;
    return cs_fail(err, CS_CODE_IO, "this program can't be copied for the smoke test: %s", strerror(error));
}

/* Run one command in a slot of its own. */
static cs_result run_in_slot(const test *to, const ld_slot *slot, const ld_command *command, uint32_t guards,
                             ld_limits limits, ld_output *output, cs_error *err) {
    ld_place place = {.sandbox = to->sandbox,
                      .slots = to->slots,
                      .slot = slot,
                      .guards = guards,
                      .limits = limits,
                      .deadline_ms = ld_monotonic_ms() + ATTEMPT_MS,
                      .stop_fd = -1};
    cs_result result = ld_launch(&place, command, output, err);
    if (result == CS_OK && output->timed_out)
        result = cs_fail(err, CS_CODE_IO, "a command of the smoke test did not end within %d ms", ATTEMPT_MS);
    return result;
}

static cs_result run_attempt(test *to, const attempt *what, ld_slot *slot, uint32_t guards, int *exit_code,
                             cs_error *err) {
    const char *argument = argument_of(to, what->reach);
    /* The memory attempt in the container: dd takes a buffer of that size and reads nothing. */
    const char *const memory[] = {"/bin/sh", "-c", "exec dd if=/dev/null of=/dev/null bs=384M count=1 2>/dev/null",
                                  NULL};
    const char *const copy[] = {"./probe", "--probe", what->probe, argument, NULL};
    bool container = to->sandbox->kind == LD_CONTAINER;
    ld_command command = {.argv = what->reach == DATA ? memory : copy};
    if (!container) command = (ld_command){.inside = ld_probe, .probe = what->probe, .argument = argument};
    cs_result result = container ? copy_program(to->sandbox->self, slot, err) : CS_OK;
    /* Without a user of its own, and without capabilities, the container can't enter another user's folder. */
    if ((guards & LD_GUARD_USER) == 0 && fchown(slot->work_fd, geteuid(), (gid_t)-1) != 0)
        result = cs_fail(err, CS_CODE_IO, "the work folder can't be given back: %s", strerror(errno));
    if (result == CS_OK && what->reach == VICTIM)
        result = ld_bait_victim(&to->bait, (guards & LD_GUARD_USER) != 0, slot->uid, err);
    if (result != CS_OK) return result;
    ld_output output;
    result = run_in_slot(to, slot, &command, guards, limits_of(to, what->reach), &output, err);
    *exit_code = output.exit_code;
    ld_output_free(&output);
    return result;
}

/* *exit_code: 0 when the attempt succeeded. */
static cs_result try_once(test *to, const attempt *what, uint32_t guards, int *exit_code, cs_error *err) {
    ld_slot slot;
    cs_result result = ld_slot_take(to->slots, to->sandbox->kind == LD_CONTAINER, &slot, err);
    if (result != CS_OK) return result;
    result = run_attempt(to, what, &slot, guards, exit_code, err);
    cs_error second = CS_ERROR_INIT;
    cs_result returned = ld_slot_return(to->slots, &slot, &second);
    if (result == CS_OK && returned != CS_OK) result = cs_fail(err, second.code, "%s", second.message);
    return result;
}

static cs_result try_guard(test *to, const attempt *what, cs_error *err) {
    int up = 255;
    int down = 255;
    uint32_t guards = to->sandbox->guards & ~what->also_down;
    const char *guard = ld_guard_word(what->guard);
    cs_result result = try_once(to, what, guards, &up, err);
    if (result == CS_OK) result = try_once(to, what, guards & ~(uint32_t)what->guard, &down, err);
    if (result != CS_OK) {
        cs_error_where(err, "smoke test of the guard %s (%s)", guard, what->probe);
        return result;
    }
    if (to->details != NULL)
        fprintf(to->details, "guard %s: %s %s; without the guard: %s\n", guard, what->probe,
                up == 0 ? "SUCCEEDS" : "is denied", down == 0 ? "succeeds" : "IS DENIED TOO");
    if (up == 0)
        return cs_fail(err, CS_CODE_IO, "the guard %s does not hold: the attempt \"%s\" succeeds", guard, what->probe);
    if (up >= 126 && what->guard != LD_GUARD_FILE_SIZE)
        return cs_fail(err, CS_CODE_IO, "the guard %s was not tried: the attempt \"%s\" ended with %d", guard,
                       what->probe, up);
    if (down != 0)
        return cs_fail(err, CS_CODE_IO,
                       "the guard %s was not shown to hold: the attempt \"%s\" fails without it too (%d)", guard,
                       what->probe, down);
    return CS_OK;
}

static cs_result try_program(test *to, const char *const *argv, cs_error *err) {
    ld_slot slot;
    cs_result result = ld_slot_take(to->slots, to->sandbox->kind == LD_CONTAINER, &slot, err);
    if (result != CS_OK) return result;
    ld_output output;
    ld_command command = {.argv = argv};
    result = run_in_slot(to, &slot, &command, to->sandbox->guards, to->sandbox->limits, &output, err);
    if (result == CS_OK && (output.exit_code != 0 || !cs_view_is(cs_buf_view(&output.out), "2\n")))
        result = cs_fail(err, CS_CODE_IO, "%s does not run inside (exit code %d): %.*s", argv[0], output.exit_code,
                         (int)(output.err.len < 200 ? output.err.len : 200),
                         output.err.len > 0 ? (const char *)output.err.ptr : "");
    ld_output_free(&output);
    cs_error second = CS_ERROR_INIT;
    if (ld_slot_return(to->slots, &slot, &second) != CS_OK && result == CS_OK)
        result = cs_fail(err, second.code, "%s", second.message);
    if (result == CS_OK && to->details != NULL) fprintf(to->details, "program %s: runs\n", argv[0]);
    return result;
}

cs_result ld_smoke(const ld_sandbox *sandbox, ld_slots *slots, FILE *details, cs_error *err) {
    test to = {.sandbox = sandbox, .slots = slots, .details = details};
    const char *const shell[] = {"/bin/sh", "-c", "echo $((1+1))", NULL};
    const char *const node[] = {sandbox->node, "-p", "1+1", NULL};
    bool process = sandbox->kind == LD_PROCESS;
    const attempt *list = process ? on_process : on_container;
    size_t count =
        process ? sizeof(on_process) / sizeof(on_process[0]) : sizeof(on_container) / sizeof(on_container[0]);
    cs_result result = ld_bait_lay(&to.bait, slots, err);
    if (result == CS_OK) result = try_program(&to, shell, err);
    if (result == CS_OK) result = try_program(&to, node, err);
    for (size_t i = 0; i < count && result == CS_OK; i++)
        if ((sandbox->guards & list[i].guard) != 0) result = try_guard(&to, &list[i], err);
    ld_bait_remove(&to.bait);
    return result;
}

void ld_smoke_missing(const ld_sandbox *sandbox) {
    if (!sandbox->root)
        ld_log("not root: runs share this user (no guard user), and the number of their processes is not limited (no "
               "guard processes)");
    if (sandbox->kind != LD_PROCESS) return;
    if (sandbox->landlock_abi < 4)
        ld_log("no guard tcp: this kernel's Landlock ABI is %d, 4 is needed; sockets stay refused",
               sandbox->landlock_abi);
    if (sandbox->landlock_abi < 6)
        ld_log("no guards abstract and signals: this kernel's Landlock ABI is %d, 6 is needed", sandbox->landlock_abi);
}
