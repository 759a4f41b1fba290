/* harness/ledger.h: a ledger that was made for nothing goes again, and no other ever does. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/ledger.h"
#include "tests/harness/ledger_case.h"
#include "tests/support/folder.h"
#include "tests/support/rows.h"

TestSuite(ledger_unused, .init = ledger_set_up, .fini = ledger_tear_down);

static void append_good(cs_ledger *ledger) {
    cs_ledger_row row = rows_run();
    (void)ledger_append_good(ledger, &row);
}

/* How many entries there are; -1 without a file. */
static int walk(void) {
    return access(ledger_path, F_OK) != 0 ? -1 : (int)ledger_count();
}

/* ---- one process ----------------------------------------------------------------------------------- */

Test(ledger_unused, made_for_nothing) {
    cs_ledger_close_or_remove(ledger_open_good());
    cr_expect_eq(folder_count(ledger_folder), 0);
    cs_ledger_close_or_remove(NULL);
    /* The twins: it was closed as one that is to stay, or something is in it. */
    cs_ledger_close(ledger_open_good());
    cr_expect_eq(walk(), 0);
    cr_assert_eq(unlink(ledger_path), 0);
    cs_ledger *ledger = ledger_open_good();
    append_good(ledger);
    cs_ledger_close_or_remove(ledger);
    cr_expect_eq(walk(), 1);
}

Test(ledger_unused, what_was_undone_is_nothing) {
    cs_ledger *ledger = ledger_open_good();
    cr_assert_eq(cs_ledger_begin(ledger, NULL), CS_OK);
    append_good(ledger);
    cs_ledger_close_or_remove(ledger);
    cr_expect_eq(folder_count(ledger_folder), 0);
    ledger = ledger_open_good();
    cr_assert_eq(cs_ledger_begin(ledger, NULL), CS_OK);
    append_good(ledger);
    cr_assert_eq(cs_ledger_commit(ledger, NULL), CS_OK);
    cs_ledger_close_or_remove(ledger);
    cr_expect_eq(walk(), 1);
}

Test(ledger_unused, what_was_there_before_stays) {
    cs_ledger_close(ledger_open_good());
    cs_ledger_close_or_remove(ledger_open_good());
    cr_expect_eq(walk(), 0);
    cr_assert_eq(unlink(ledger_path), 0);
    file_write(ledger_path, "", 0);
    cs_ledger_close_or_remove(ledger_open_good());
    cr_expect_eq(walk(), 0);
}

Test(ledger_unused, another_file_in_its_place_stays) {
    cs_ledger *ledger = ledger_open_good();
    char aside[256];
    (void)snprintf(aside, sizeof aside, "%s/aside", ledger_folder);
    cr_assert_eq(rename(ledger_path, aside), 0);
    file_write(ledger_path, "", 0);
    cs_ledger_close_or_remove(ledger);
    cr_expect_eq(access(ledger_path, F_OK), 0);
    cr_expect_eq(access(aside, F_OK), 0);
}

Test(ledger_unused, a_relative_path) {
    cr_assert_eq(chdir(ledger_folder), 0);
    (void)snprintf(ledger_path, sizeof ledger_path, "ledger?x=1#%%41.db");
    cs_ledger_close_or_remove(ledger_open_good());
    cr_expect_eq(folder_count(ledger_folder), 0);
    cr_assert_eq(chdir("/"), 0);
}

/* ---- no room ----------------------------------------------------------------------------------------- */

static cs_result open_with_room(rlim_t bytes) {
    struct rlimit before;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = bytes, .rlim_max = before.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    cs_ledger *ledger = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_ledger_open(ledger_path, 1000, &ledger, &err);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    if (result == CS_OK)
        cs_ledger_close_or_remove(ledger);
    else
        cr_expect_eq(err.code, CS_CODE_LEDGER_WRITE, "%s: %s", cs_code_name(err.code), err.message);
    return result;
}

/* Wherever the room ends while a ledger is made. */
Test(ledger_unused, no_room_to_make_it) {
    int failed = 0;
    for (rlim_t bytes = 0; bytes <= 80000; bytes += 4000) {
        if (open_with_room(bytes) != CS_OK) failed++;
        cr_expect_eq(folder_count(ledger_folder), 0, "%lu", (unsigned long)bytes);
    }
    cr_expect_gt(failed, 3);
    cr_expect_eq(open_with_room(RLIM_INFINITY), CS_OK);
    file_write(ledger_path, "", 0);
    cr_expect_eq(open_with_room(4000), CS_UNCHECKED);
    cr_expect_eq(access(ledger_path, F_OK), 0, "the twin: it was there before");
}

/* ---- several processes ------------------------------------------------------------------------------- */

/* Opens the ledger, waits for a byte, appends where `appends`, and closes it. */
static pid_t start(int ready, int go, bool appends) {
    pid_t child = fork();
    if (child != 0) return child;
    uint8_t byte = 0;
    cs_ledger *ledger = NULL;
    if (cs_ledger_open(ledger_path, 20000, &ledger, NULL) != CS_OK) _exit(1);
    if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 1) _exit(2);
    int64_t id = 0;
    cs_ledger_row row = rows_run();
    if (appends && cs_ledger_append(ledger, &row, &id, NULL) != CS_OK) _exit(3);
    cs_ledger_close_or_remove(ledger);
    _exit(0);
}

static void expect_end(pid_t child) {
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%d", status);
}

Test(ledger_unused, another_process_has_it_open) {
    int ready[2];
    int go[2];
    uint8_t byte = 0;
    cr_assert_eq(pipe(ready), 0);
    cr_assert_eq(pipe(go), 0);
    cs_ledger_close(ledger_open_good());
    cr_assert_eq(unlink(ledger_path), 0);
    for (int appends = 0; appends < 2; appends++) {
        /* This process makes it, and the other one, which did not, comes to it. */
        pid_t maker = start(ready[1], go[0], false);
        cr_assert_eq(read(ready[0], &byte, 1), 1);
        cs_ledger *ledger = ledger_open_good();
        cr_assert_eq(write(go[1], &byte, 1), 1);
        expect_end(maker);
        cr_expect_eq(walk(), 0);
        if (appends) append_good(ledger);
        cs_ledger_close_or_remove(ledger);
        cr_expect_eq(walk(), appends);
        cr_assert_eq(unlink(ledger_path), 0);
    }
}

Test(ledger_unused, another_process_has_stored_something) {
    int ready[2];
    int go[2];
    uint8_t byte = 0;
    cr_assert_eq(pipe(ready), 0);
    cr_assert_eq(pipe(go), 0);
    pid_t maker = start(ready[1], go[0], false);
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    cs_ledger *ledger = ledger_open_good();
    append_good(ledger);
    cs_ledger_close(ledger);
    cr_assert_eq(write(go[1], &byte, 1), 1);
    expect_end(maker);
    cr_expect_eq(walk(), 1);
}

#define PROCESSES 6
#define ROUNDS 60

/* Opens again and again, appends every third time, and tells of each entry that is durable. */
static void come_and_go(unsigned number, int acknowledgements) {
    for (unsigned round = 0; round < ROUNDS; round++) {
        cs_ledger *ledger = NULL;
        if (cs_ledger_open(ledger_path, 60000, &ledger, NULL) != CS_OK) _exit(1);
        int64_t id = 0;
        cs_ledger_row row = rows_run();
        bool appends = (round + number) % 3 == 0 && round > ROUNDS / 2;
        if (appends && cs_ledger_append(ledger, &row, &id, NULL) != CS_OK) _exit(2);
        if (appends && write(acknowledgements, "", 1) != 1) _exit(3);
        cs_ledger_close_or_remove(ledger);
    }
    _exit(0);
}

/* Some make it for nothing and remove it while others come: no entry that was acknowledged is lost with it. */
Test(ledger_unused, no_entry_goes_with_it) {
    int acknowledgements[2];
    pid_t children[PROCESSES];
    cr_assert_eq(pipe(acknowledgements), 0);
    for (unsigned i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) come_and_go(i, acknowledgements[1]);
    }
    close(acknowledgements[1]);
    for (unsigned i = 0; i < PROCESSES; i++)
        expect_end(children[i]);
    uint8_t bytes[PROCESSES * ROUNDS];
    ssize_t told = read(acknowledgements[0], bytes, sizeof bytes);
    cr_expect_gt(told, PROCESSES * ROUNDS / 12);
    cr_expect_eq(walk(), (int)told);
    close(acknowledgements[0]);
}

/* ---- the folder --------------------------------------------------------------------------------------- */

/* Whoever holds the folder is about to open the file. A stranger who never lets go of it keeps nobody from working. */
Test(ledger_unused, somebody_holds_the_folder) {
    int ready[2];
    int go[2];
    uint8_t byte = 0;
    cr_assert_eq(pipe(ready), 0);
    cr_assert_eq(pipe(go), 0);
    int how[] = {LOCK_SH, LOCK_EX};
    for (size_t i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) {
            int fd = open(ledger_folder, O_RDONLY | O_DIRECTORY);
            if (fd < 0 || flock(fd, how[i]) != 0 || write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1)
                _exit(1);
            _exit(0);
        }
        cr_assert_eq(read(ready[0], &byte, 1), 1);
        cs_ledger_close_or_remove(ledger_open_good());
        cr_expect_eq(walk(), 0, "%zu", i);
        cr_assert_eq(write(go[1], &byte, 1), 1);
        expect_end(child);
        cr_assert_eq(unlink(ledger_path), 0);
    }
    cs_ledger_close_or_remove(ledger_open_good());
    cr_expect_eq(folder_count(ledger_folder), 0);
}
