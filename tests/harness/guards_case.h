/* Facts of a daemon whose guards are all in force, for tests that change one thing. */
#ifndef CS_TESTS_HARNESS_GUARDS_CASE_H
#define CS_TESTS_HARNESS_GUARDS_CASE_H

#include "harness/guards_internal.h"

/* It claims the tier process and promises 256 processes, 512 MiB of memory, 64 MiB on disk and 1.5 processors. */
void guards_honest(cs_guard_facts *out);

#endif
