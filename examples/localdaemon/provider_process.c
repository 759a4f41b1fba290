/* Tier process: a child of its own behind Landlock, a seccomp filter, limits and (root) its own user. */
#include "examples/localdaemon/landlock.h"
#include "examples/localdaemon/provider.h"

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

const ld_provider ld_provider_process = {.prepare = prepare, .conclude = conclude};
