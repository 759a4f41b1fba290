/* Tier process: a child of its own behind Landlock, a seccomp filter, limits and (root) its own user. */
#include "examples/localdaemon/landlock.h"
#include "examples/localdaemon/provider.h"

static cs_result find(ld_sandbox *sandbox, cs_error *err) {
    if (sandbox->landlock_abi >= 1) return CS_OK;
    return cs_fail(err, CS_CODE_IO,
                   "this kernel offers no Landlock, so the provider process has no wall around files; use "
                   "--provider container, or a kernel of 5.13 or later with Landlock enabled");
}

static bool policy(const ld_sandbox *sandbox, cs_buf *out) {
    return cs_buf_printf(out, "landlock-abi %d\n", sandbox->landlock_abi) && ld_policy_limits(sandbox, out) &&
           ld_filter_describe(out);
}

static cs_result prepare(const ld_place *place, const ld_command *command, ld_prepared *out, cs_error *err) {
    for (size_t i = 0; command->argv != NULL && command->argv[i] != NULL; i++)
        ld_prepared_argument(out, command->argv[i]);
    out->plan.program = out->argv[0];
    out->plan.folder = place->slot->work;
    out->plan.filter = out->filter;
    return ld_landlock_ruleset(place->sandbox, place->guards, place->slot->work, place->slot->tmp, &out->plan.ruleset,
                               err);
}

/* The keeper has reported the command's own end. */
static cs_result conclude(const ld_prepared *prepared, const ld_output *output, cs_error *err) {
    (void)prepared;
    (void)output;
    (void)err;
    return CS_OK;
}

static const ld_attempt attempts[] = {
    {LD_GUARD_USER, "read", LD_REACH_SECRET, LD_GUARD_FILES},
    {LD_GUARD_FILES, "read", LD_REACH_CANARY, 0},
    {LD_GUARD_TCP, "tcp", LD_REACH_PORT, LD_GUARD_SOCKETS},
    {LD_GUARD_ABSTRACT, "abstract", LD_REACH_ABSTRACT, LD_GUARD_SOCKETS},
    {LD_GUARD_SIGNALS, "signal", LD_REACH_VICTIM, 0},
    {LD_GUARD_SYSCALLS, "keyctl", LD_REACH_NOTHING, 0},
    {LD_GUARD_SYSCALLS, "unshare", LD_REACH_NOTHING, 0},
    {LD_GUARD_SOCKETS, "socket", LD_REACH_NOTHING, 0},
    {LD_GUARD_PROCESSES, "fork", LD_REACH_CHILDREN, 0},
    {LD_GUARD_MEMORY, "memory", LD_REACH_DATA, 0},
    {LD_GUARD_FILE_SIZE, "write", LD_REACH_FILE_END, 0},
};

const ld_provider ld_provider_process = {.name = "process",
                                         .tier = CS_TIER_PROCESS,
                                         .guards = LD_GUARDS_PROCESS,
                                         .root_guards = LD_GUARD_USER | LD_GUARD_PROCESSES,
                                         .keeps_processes = true,
                                         .find = find,
                                         .policy = policy,
                                         .prepare = prepare,
                                         .conclude = conclude,
                                         .attempts = attempts,
                                         .attempt_count = sizeof(attempts) / sizeof(attempts[0])};
