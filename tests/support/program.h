/* Programs of the system that tests compare with. */
#ifndef CS_TESTS_SUPPORT_PROGRAM_H
#define CS_TESTS_SUPPORT_PROGRAM_H

#include <stddef.h>

/* Run a program with its standard output in `out` (may be NULL; cut at size - 1, NUL-terminated) and its
 * standard error nowhere. Its exit status, or -1 when a signal ended it. A program that is not installed
 * skips the test, loudly; in CI, or with COUNTERSIGN_REQUIRE_ALL set, it fails. */
int program_run(const char *const argv[], char *out, size_t size);

#endif
