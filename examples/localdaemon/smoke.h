/* The smoke test: before the daemon serves, each guard is tried with a small attempt to break out that must
 * fail, and the same attempt is made with that guard down, where it must succeed. An attempt that would fail
 * anyway shows nothing of the guard, and a guard without an attempt of its own is not claimed: the policy names none
 * that was not tried. A kernel of its own is down where the attempt is made by a plain child of the daemon. */
#ifndef LD_SMOKE_H
#define LD_SMOKE_H

#include "examples/localdaemon/provider.h"
#include "examples/localdaemon/slot.h"
#include <stdio.h>

/* Try everything that is stated, with what is put up. A guard that is left out does not hold; where the sandbox says
 * `anyway`, that is told (ld_log) and is no failure. `details` (may be NULL) gets a line for each attempt. CS_FAILED when a guard does not hold
 * or was not shown to hold, with its name; CS_UNCHECKED when a program can't be run at all. Call before any
 * thread is started. */
CS_MUST_CHECK cs_result ld_smoke(const ld_sandbox *sandbox, ld_slots *slots, FILE *details, cs_error *err);

/* How the two runs of one attempt ended: 0: it succeeded; an errno, or what probe.h says. */
typedef struct ld_trial {
    int up;   /* with all guards that are put up, but for the attempt's `also_down` */
    int down; /* the same without the attempt's guard */
} ld_trial;

/* Make one attempt alone, of the provider's list or of a caller's own. A failure says that it could not be made. */
CS_MUST_CHECK cs_result ld_smoke_try(const ld_sandbox *sandbox, ld_slots *slots, const ld_attempt *what, ld_trial *out,
                                     cs_error *err);

/* Tell (ld_log) which guards are not on offer here, and why. */
void ld_smoke_missing(const ld_sandbox *sandbox);

#endif
