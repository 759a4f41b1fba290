/* What a tier costs without us: the program that puts up the boundary, alone.
 *
 * Bare is, for the same command `/bin/sh -c true`:
 *
 *   process    posix_spawn of that command; no wall at all
 *   container  bubblewrap with the very arguments that the daemon gives it (its own functions write them), as the same
 *              user and under the same limits
 *   kernel     the same with runsc: platform, network, user namespace and bundle are the daemon's
 *   vm         QEMU with the arguments that a machine of the daemon's was seen running with, as this user and without
 *              walls around it. The image is the same, and so is the agent in it, which is told to run the command over
 *              the same stream; then QEMU is killed, which is the fastest way to be rid of it
 *
 * Measured from before the fork until the last process is reaped. Left out: daemon, HTTP and client; a request's digests
 * and record; the run's folders and the bundle, made before the clock starts; the keeper, and its search for processes
 * that are left; the walls of the daemon's own around QEMU. So these times are a bound from below.
 */
#ifndef CS_BENCH_BARE_H
#define CS_BENCH_BARE_H

#include "examples/localdaemon/provider.h"

typedef struct cs_bare {
    ld_sandbox sandbox;
    ld_slots slots;
    ld_slot slot;
    ld_place place;
    char *arguments; /* vm: of QEMU, each with a NUL at its end */
    size_t arguments_len;
} cs_bare;

/* Gives *out (bare_close, also after a failure). False with a message on stderr when the provider can't work here. */
bool bare_open(const char *provider, cs_bare *out);
void bare_close(cs_bare *bare);

/* Run it once. In seconds; ends the program when it does not do its work. */
double bare_run(const cs_bare *bare);

/* bare_vm.c: have the daemon's functions boot a machine, and note the arguments. */
bool bare_vm_record(cs_bare *bare);
double bare_vm_run(const cs_bare *bare);

/* Until the end of the stream. */
void bare_drain(int fd);
/* Reap it. True when it ended with 0. */
bool bare_reap(pid_t pid);

extern const char *const bare_command[]; /* NULL-terminated */

#endif
