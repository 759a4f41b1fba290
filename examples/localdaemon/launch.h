/* Run one command in a slot, behind the provider's walls, and collect what it says. */
#ifndef LD_LAUNCH_H
#define LD_LAUNCH_H

#include "examples/localdaemon/keeper.h"

/* One command. `argv` names programs as they are called inside. */
typedef struct ld_command {
    const char *const *argv; /* NULL-terminated; argv[0] is an absolute path */
    /* Smoke test only, provider process: a function instead of a program. */
    int (*inside)(const char *name, const char *argument);
    const char *probe;
    const char *argument;
} ld_command;

/* What is the same for all commands of a run. Borrowed. */
typedef struct ld_place {
    const ld_sandbox *sandbox;
    const ld_slots *slots;
    const ld_slot *slot;
    uint32_t guards; /* the sandbox's, but for the smoke test */
    ld_limits limits;
    int64_t deadline_ms;     /* of the monotonic clock (ld_monotonic_ms) */
    int stop_fd;             /* readable when the run must end (the daemon stops, the session is closed); -1: never */
    const ld_spared *spared; /* processes that outlive the run; NULL: none */
    bool kept;               /* the work folder may hold what earlier calls of a session left */
    struct ld_machine **machine; /* where the run or session keeps the provider's machine (provider.h) */
} ld_place;

typedef struct ld_output {
    cs_buf out;
    cs_buf err;
    bool out_truncated;
    bool err_truncated;
    int exit_code; /* 128 + signal for a killed one */
    bool timed_out;
    bool stopped; /* ended because stop_fd said so */
    bool clean;   /* no process is left; when false the slot must be abandoned */
    int64_t duration_ms;
} ld_output;

/* Give *out (ld_output_free, also after a failure). A failure is the daemon's own: the command did not
 * run, or its end is not known. Once this returns with `clean`, no process of the command is left. */
CS_MUST_CHECK cs_result ld_launch(const ld_place *place, const ld_command *command, ld_output *out, cs_error *err);
void ld_output_free(ld_output *output);

int64_t ld_monotonic_ms(void);
int64_t ld_unix_ms(void);

#endif
