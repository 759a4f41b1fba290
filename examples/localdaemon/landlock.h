/* Landlock (Documentation/userspace-api/landlock.rst of the kernel): files, TCP, abstract sockets and
 * signals of the provider "process". */
#ifndef LD_LANDLOCK_H
#define LD_LANDLOCK_H

#include "examples/localdaemon/sandbox.h"

/* The ABI of the running kernel, 0 without Landlock. */
int ld_landlock_abi(void);

/* Make the rules of one run: programs and libraries to read and execute, `work` and `tmp` to do anything
 * in, nothing else, for the guards among `guards`. Gives *out, a descriptor to close, or -1 when
 * none of the Landlock guards is asked for. */
CS_MUST_CHECK cs_result ld_landlock_ruleset(const ld_sandbox *sandbox, uint32_t guards, const char *work,
                                            const char *tmp, int *out, cs_error *err);

/* Put the calling process behind the rules. A system call only. 0, or -1 and errno. */
CS_MUST_CHECK int ld_landlock_enter(int ruleset);

#endif
