#include "examples/localdaemon/smoke.h"

#include "examples/localdaemon/bait.h"
#include "examples/localdaemon/log.h"
#include "examples/localdaemon/probe.h"
#include "examples/localdaemon/provider.h"

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
#define SMALL_MEMORY (1ull << 30)
#define SMALL_FILE (1ull << 20)

typedef struct test {
    const ld_sandbox *sandbox;
    ld_sandbox plain; /* the same without its provider: a child with a user of its own and no wall */
    ld_slots *slots;
    ld_bait bait;
    FILE *details;
    ld_machine *machine; /* kept from attempt to attempt, since it may take seconds to open; with its slot */
    ld_slot machine_slot;
    uint32_t machine_guards; /* of those that are fixed */
} test;

static const char *argument_of(const test *to, ld_reach what) {
    switch (what) {
    case LD_REACH_CANARY:
        return to->bait.canary;
    case LD_REACH_SECRET:
        return to->bait.secret;
    case LD_REACH_PORT:
        return to->bait.port;
    case LD_REACH_ABSTRACT:
        return to->bait.abstract;
    case LD_REACH_SEGMENT:
        return to->bait.segment;
    case LD_REACH_VICTIM:
        return to->bait.victim;
    case LD_REACH_CHILDREN:
        return "32";
    case LD_REACH_DATA:
        return "402653184"; /* 384 MiB */
    case LD_REACH_MEMORY:
        return "1610612736"; /* SMALL_MEMORY and half of it */
    case LD_REACH_FILE_END:
        return "1048576"; /* SMALL_FILE */
    case LD_REACH_NOTHING:
        break;
    }
    return "-";
}

static ld_limits limits_of(const test *to, ld_reach what) {
    ld_limits limits = to->sandbox->limits;
    if (what == LD_REACH_CHILDREN) limits.processes = FEW_PROCESSES;
    if (what == LD_REACH_DATA) limits.data_bytes = SMALL_DATA;
    if (what == LD_REACH_MEMORY) limits.memory_bytes = SMALL_MEMORY;
    if (what == LD_REACH_FILE_END) limits.file_bytes = SMALL_FILE;
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
static cs_result run_in_slot(const test *to, const ld_sandbox *sandbox, const ld_slot *slot, const ld_command *command,
                             uint32_t guards, ld_limits limits, ld_output *output, cs_error *err) {
    ld_place place = {.sandbox = sandbox,
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

/* ---- a provider with a machine --------------------------------------------------------------------- */

static cs_result close_machine(test *to, cs_error *err) {
    if (to->machine == NULL) return CS_OK;
    bool clean = ld_provider_leave(to->sandbox->provider, &to->machine);
    if (clean) return ld_slot_return(to->slots, &to->machine_slot, err);
    ld_slot_abandon(&to->machine_slot);
    return cs_fail(err, CS_CODE_IO, "the machine of the smoke test can't be ended");
}

/* Open one for these guards, unless the one that is open will do. */
static cs_result open_machine(test *to, const ld_place *place, cs_error *err) {
    uint32_t guards = place->guards & to->sandbox->provider->machine->fixed;
    if (to->machine != NULL && to->machine_guards == guards) return CS_OK;
    cs_result result = close_machine(to, err);
    if (result == CS_OK) result = ld_slot_take(to->slots, true, &to->machine_slot, err);
    if (result != CS_OK) return result;
    to->machine_guards = guards;
    result = ld_provider_enter(place, err);
    if (result == CS_OK) return CS_OK;
    cs_error second = CS_ERROR_INIT;
    if (ld_slot_return(to->slots, &to->machine_slot, &second) != CS_OK)
        ld_log_error("a slot is not used again", &second);
    return result;
}

static cs_result run_in_machine(test *to, const ld_command *command, uint32_t guards, ld_limits limits,
                                ld_output *output, cs_error *err) {
    ld_place place = {.sandbox = to->sandbox,
                      .slots = to->slots,
                      .slot = &to->machine_slot,
                      .guards = guards,
                      .limits = limits,
                      .deadline_ms = ld_monotonic_ms() + ATTEMPT_MS,
                      .stop_fd = -1,
                      .machine = &to->machine};
    *output = (ld_output){.clean = true};
    cs_result result = open_machine(to, &place, err);
    if (result == CS_OK) result = ld_launch(&place, command, output, err);
    if (result == CS_OK && output->timed_out)
        result = cs_fail(err, CS_CODE_IO, "a command of the smoke test did not end within %d ms", ATTEMPT_MS);
    return result;
}

static bool is_around(const test *to, const ld_attempt *what) {
    const ld_machine_hooks *hooks = to->sandbox->provider->machine;
    return hooks != NULL && (hooks->around & what->guard) != 0;
}

/* Is this attempt one that is made in the machine, with these guards up? */
static bool is_inside(const test *to, const ld_attempt *what, uint32_t guards) {
    bool plain = (what->guard & ~guards & LD_GUARD_KERNEL) != 0;
    return to->sandbox->provider->machine != NULL && !plain && !is_around(to, what);
}

static cs_result try_inside(test *to, const ld_attempt *what, uint32_t guards, int *exit_code, cs_error *err) {
    const char *const argv[] = {to->sandbox->provider->machine->probe, "--probe", what->probe,
                                argument_of(to, what->reach), NULL};
    ld_command command = {.argv = argv};
    ld_output output;
    cs_result result = CS_OK;
    if (what->reach == LD_REACH_VICTIM) result = ld_bait_victim(&to->bait, false, geteuid(), err);
    if (result != CS_OK) return result;
    result = run_in_machine(to, &command, guards, limits_of(to, what->reach), &output, err);
    *exit_code = output.exit_code;
    ld_output_free(&output);
    return result;
}

/* ---- one attempt ----------------------------------------------------------------------------------- */

static cs_result run_attempt(test *to, const ld_attempt *what, ld_slot *slot, uint32_t guards, int *exit_code,
                             cs_error *err) {
    const char *argument = argument_of(to, what->reach);
    /* The memory attempt in the container: dd takes a buffer of that size and reads nothing. */
    const char *const memory[] = {"/bin/sh", "-c", "exec dd if=/dev/null of=/dev/null bs=384M count=1 2>/dev/null",
                                  NULL};
    const char *const copy[] = {"./probe", "--probe", what->probe, argument, NULL};
    /* Without a kernel of its own a program runs on the host's: there is no other way to be without this guard. */
    bool plain = (what->guard & ~guards & LD_GUARD_KERNEL) != 0;
    const ld_sandbox *sandbox = plain || is_around(to, what) ? &to->plain : to->sandbox;
    bool by_copy = sandbox->provider->probes_by_copy;
    ld_command command = {.argv = what->reach == LD_REACH_DATA ? memory : copy};
    if (!by_copy) command = (ld_command){.inside = ld_probe, .probe = what->probe, .argument = argument};
    if (plain) guards &= LD_GUARD_USER;
    cs_result result = by_copy ? copy_program(sandbox->self, slot, err) : CS_OK;
    if (result == CS_OK && what->reach == LD_REACH_VICTIM)
        result = ld_bait_victim(&to->bait, (guards & LD_GUARD_USER) != 0, slot->uid, err);
    if (result != CS_OK) return result;
    ld_output output;
    result = run_in_slot(to, sandbox, slot, &command, guards, limits_of(to, what->reach), &output, err);
    *exit_code = output.exit_code;
    ld_output_free(&output);
    return result;
}

/* *exit_code: 0 when the attempt succeeded. */
static cs_result try_once(test *to, const ld_attempt *what, uint32_t guards, int *exit_code, cs_error *err) {
    if (is_inside(to, what, guards)) return try_inside(to, what, guards, exit_code, err);
    ld_slot slot;
    cs_result result = ld_slot_take(to->slots, to->sandbox->provider->fixed_paths, &slot, err);
    if (result != CS_OK) return result;
    result = run_attempt(to, what, &slot, guards, exit_code, err);
    cs_error second = CS_ERROR_INIT;
    cs_result returned = ld_slot_return(to->slots, &slot, &second);
    if (result == CS_OK && returned != CS_OK) result = cs_fail(err, second.code, "%s", second.message);
    return result;
}

/* Both runs of an attempt: with all guards that are put up, and without this one. */
static cs_result try_both(test *to, const ld_attempt *what, ld_trial *out, cs_error *err) {
    uint32_t guards = ld_sandbox_in_force(to->sandbox) & ~what->also_down;
    *out = (ld_trial){.up = 255, .down = 255};
    cs_result result = try_once(to, what, guards, &out->up, err);
    if (result == CS_OK) result = try_once(to, what, guards & ~(uint32_t)what->guard, &out->down, err);
    if (result != CS_OK)
        cs_error_where(err, "smoke test of the guard %s (%s)", ld_guard_word(what->guard), what->probe);
    return result;
}

static cs_result judge(const ld_attempt *what, const ld_trial *trial, cs_error *err) {
    const char *guard = ld_guard_word(what->guard);
    if (trial->up == 0)
        return cs_fail(err, CS_CODE_IO, "the guard %s does not hold: the attempt \"%s\" succeeds", guard, what->probe);
    if (trial->up >= 126 && what->guard != LD_GUARD_FILE_SIZE)
        return cs_fail(err, CS_CODE_IO, "the guard %s was not tried: the attempt \"%s\" ended with %d", guard,
                       what->probe, trial->up);
    if (trial->down != 0)
        return cs_fail(err, CS_CODE_IO,
                       "the guard %s was not shown to hold: the attempt \"%s\" fails without it too (%d)", guard,
                       what->probe, trial->down);
    return CS_OK;
}

static cs_result try_guard(test *to, const ld_attempt *what, cs_error *err) {
    ld_trial trial;
    cs_result result = try_both(to, what, &trial, err);
    if (result != CS_OK) return result;
    if (to->details != NULL)
        fprintf(to->details, "guard %s: %s %s; without the guard: %s\n", ld_guard_word(what->guard), what->probe,
                trial.up == 0 ? "SUCCEEDS" : "is denied", trial.down == 0 ? "succeeds" : "IS DENIED TOO");
    result = judge(what, &trial, err);
    /* The one fault that may be known. That it is there has been seen, so a test that builds on it shows something. */
    if (trial.up != 0 || !to->sandbox->anyway || (to->sandbox->left_out & what->guard) == 0) return result;
    ld_log("LYING FOR A TEST: %s; believe no record of this daemon", err->message);
    return CS_OK;
}

static cs_result run_program(test *to, const ld_command *command, ld_output *output, cs_error *err) {
    const ld_sandbox *sandbox = to->sandbox;
    uint32_t guards = ld_sandbox_in_force(sandbox);
    if (sandbox->provider->machine != NULL) return run_in_machine(to, command, guards, sandbox->limits, output, err);
    ld_slot slot;
    *output = (ld_output){.clean = true};
    cs_result result = ld_slot_take(to->slots, sandbox->provider->fixed_paths, &slot, err);
    if (result != CS_OK) return result;
    result = run_in_slot(to, sandbox, &slot, command, guards, sandbox->limits, output, err);
    cs_error second = CS_ERROR_INIT;
    if (ld_slot_return(to->slots, &slot, &second) != CS_OK && result == CS_OK)
        result = cs_fail(err, second.code, "%s", second.message);
    return result;
}

static cs_result try_program(test *to, const char *const *argv, cs_error *err) {
    ld_output output;
    ld_command command = {.argv = argv};
    cs_result result = run_program(to, &command, &output, err);
    if (result == CS_OK && (output.exit_code != 0 || !cs_view_is(cs_buf_view(&output.out), "2\n")))
        result = cs_fail(err, CS_CODE_IO, "%s does not run inside (exit code %d): %.*s", argv[0], output.exit_code,
                         (int)(output.err.len < 200 ? output.err.len : 200),
                         output.err.len > 0 ? (const char *)output.err.ptr : "");
    ld_output_free(&output);
    if (result == CS_OK && to->details != NULL) fprintf(to->details, "program %s: runs\n", argv[0]);
    return result;
}

static void begin(test *to, const ld_sandbox *sandbox, ld_slots *slots, FILE *details) {
    *to = (test){.sandbox = sandbox, .plain = *sandbox, .slots = slots, .details = details};
    to->plain.provider = &ld_provider_process;
}

/* What is left of it is gone after this; its failure counts unless there was one before. */
static cs_result finish(test *to, cs_result result, cs_error *err) {
    cs_error second = CS_ERROR_INIT;
    cs_result closed = close_machine(to, &second);
    ld_bait_remove(&to->bait);
    return result == CS_OK && closed != CS_OK ? cs_fail(err, second.code, "%s", second.message) : result;
}

cs_result ld_smoke_try(const ld_sandbox *sandbox, ld_slots *slots, const ld_attempt *what, ld_trial *out,
                       cs_error *err) {
    test to;
    begin(&to, sandbox, slots, NULL);
    cs_result result = ld_bait_lay(&to.bait, slots, err);
    if (result == CS_OK) result = try_both(&to, what, out, err);
    return finish(&to, result, err);
}

cs_result ld_smoke(const ld_sandbox *sandbox, ld_slots *slots, FILE *details, cs_error *err) {
    test to;
    begin(&to, sandbox, slots, details);
    const char *const shell[] = {"/bin/sh", "-c", "echo $((1+1))", NULL};
    const char *const node[] = {sandbox->node, "-p", "1+1", NULL};
    const ld_attempt *list = sandbox->provider->attempts;
    size_t count = sandbox->provider->attempt_count;
    cs_result result = ld_bait_lay(&to.bait, slots, err);
    if (result == CS_OK) result = try_program(&to, shell, err);
    if (result == CS_OK) result = try_program(&to, node, err);
    for (size_t i = 0; i < count && result == CS_OK; i++)
        if ((sandbox->guards & list[i].guard) != 0) result = try_guard(&to, &list[i], err);
    return finish(&to, result, err);
}

void ld_smoke_missing(const ld_sandbox *sandbox) {
    if (!sandbox->root && (sandbox->provider->guards & LD_GUARD_USER) != 0)
        ld_log("not root: runs share this user (no guard user)%s",
               (sandbox->guards & LD_GUARD_PROCESSES) != 0
                   ? ""
                   : ", and the number of their processes is not limited (no guard processes)");
    if ((sandbox->provider->guards & LD_GUARDS_LANDLOCK) == 0) return;
    if (sandbox->landlock_abi < 4)
        ld_log("no guard tcp: this kernel's Landlock ABI is %d, 4 is needed; sockets stay refused",
               sandbox->landlock_abi);
    if (sandbox->landlock_abi < 6)
        ld_log("no guards abstract and signals: this kernel's Landlock ABI is %d, 6 is needed", sandbox->landlock_abi);
}
