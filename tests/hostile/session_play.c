#include "tests/hostile/session_play.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void session_play_init(session_case *c) {
    if (access("/dev/shm", W_OK) == 0) (void)setenv("TMPDIR", "/dev/shm", 1);
    session_case_init(c);
}

void session_play_run(session_case *c) {
    /* A reader waits for a file that changed this very moment to get older, and there are many ledgers. */
    const struct timespec past[2] = {{.tv_sec = SAMPLE_ENDED / 1000}, {.tv_sec = SAMPLE_ENDED / 1000}};
    session_case_run(c);
    cs_ledger_close(c->ledger);
    c->ledger = NULL;
    cr_assert_eq(utimensat(AT_FDCWD, c->ledger_path, past, 0), 0);
}
