#include "tests/support/mounts.h"

#include <criterion/criterion.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

bool mounts_show(const char *folder, const char *in_place_of) {
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount(folder, in_place_of, NULL, MS_BIND, NULL) == 0;
}

void mounts_need(void) {
    int status = -1;
    (void)fflush(NULL);
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0) _exit(mounts_show("/", "/tmp") ? 0 : 1);
    cr_assert_eq(waitpid(pid, &status, 0), pid);
    if (status == 0) return;
    if (getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL")) cr_assert_fail("no mounts of its own for a process here");
    cr_skip_test("SKIPPED: no mounts of its own for a process here");
}
