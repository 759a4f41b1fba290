/* Mounts that only one process of a test sees, and what it starts. */
#ifndef CS_TESTS_SUPPORT_MOUNTS_H
#define CS_TESTS_SUPPORT_MOUNTS_H

#include <stdbool.h>

/* Where none can be made (it takes root), the test is skipped, loudly; in CI, or with COUNTERSIGN_REQUIRE_ALL set, it
 * fails. */
void mounts_need(void);

/* In a process of its own: show a folder in the place of another one. */
bool mounts_show(const char *folder, const char *in_place_of);

#endif
