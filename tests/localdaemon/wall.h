/* A wall around runs, shown with its control: the same shell command works outside and does not work inside. */
#ifndef CS_TESTS_LOCALDAEMON_WALL_H
#define CS_TESTS_LOCALDAEMON_WALL_H

#include "tests/support/daemon.h"

/* Exit codes of a shell command: run by this process, and through the daemon, where it holds nothing that JSON would
 * have to escape. */
int wall_outside(const char *command);
int wall_inside(const test_daemon *daemon, const char *command);

void expect_wall(const test_daemon *daemon, const char *what, const char *command);

#endif
