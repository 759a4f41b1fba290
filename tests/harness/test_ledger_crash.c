/* harness/ledger.h when things go wrong beside it: killed writers, many at once, a full disk. */
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/ledger.h"
#include "tests/harness/ledger_case.h"
#include "tests/support/folder.h"
#include "tests/support/rows.h"
#include "verify/source.h"

TestSuite(ledger_crash, .init = ledger_set_up, .fini = ledger_tear_down);

/* Walk over good entries only. `seen[token]` counts the entries whose request is "token N". */
static uint64_t walk(unsigned *seen, size_t tokens) {
    cs_source *source = NULL;
    cs_entry entry;
    bool more = true;
    uint64_t count = 0;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_source_open(ledger_path, &source, &err), CS_OK, "%s: %s", err.where, err.message);
    while (more) {
        cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK, "%s: %s", err.where, err.message);
        if (!more) break;
        count++;
        char text[32] = "";
        memcpy(text, entry.request.ptr, entry.request.len < 31 ? entry.request.len : 31);
        unsigned long token = strncmp(text, "token ", 6) == 0 ? strtoul(text + 6, NULL, 10) : tokens;
        if (token < tokens) seen[token]++;
    }
    cs_source_close(source);
    return count;
}

static int64_t append_token(cs_ledger *ledger, unsigned token, cs_error *err) {
    static uint8_t filler[20000]; /* several pages, so that a commit is more than one write */
    char text[32];
    int64_t id = 0;
    cs_ledger_row row = rows_run();
    row.request = (cs_view){(const uint8_t *)text, (size_t)snprintf(text, sizeof text, "token %u", token)};
    row.response = (cs_view){filler, sizeof filler - token * 40u};
    return cs_ledger_append(ledger, &row, &id, err) == CS_OK ? id : 0;
}

/* ---- killed writers ------------------------------------------------------------------------------ */

#define WRITERS 4
#define TOKENS 200

/* A writer that takes tokens and acknowledges each append that it was told is durable, until it is killed. */
static pid_t start_writer(int tokens, int acknowledgements) {
    pid_t child = fork();
    if (child != 0) return child;
    cs_ledger *ledger = NULL;
    cs_error err = CS_ERROR_INIT;
    if (cs_ledger_open(ledger_path, 20000, &ledger, &err) != CS_OK) _exit(1);
    uint8_t token = 0;
    while (read(tokens, &token, 1) == 1) {
        if (append_token(ledger, token, &err) == 0) _exit(2);
        if (write(acknowledgements, &token, 1) != 1) _exit(3);
    }
    cs_ledger_close(ledger);
    _exit(0);
}

/* The end of one writer, killed or not, must not be a failure of its own. */
static void reap(pid_t child) {
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    cr_assert(killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0), "a writer failed: %d", status);
}

/* Four processes append; again and again one of them is killed at a random moment and another takes its
 * place. What was acknowledged is there, once; what was not may be there once; nothing is damaged. */
Test(ledger_crash, what_was_acknowledged_survives_sigkill) {
    int tokens[2];
    int acknowledgements[2];
    cr_assert_eq(pipe(tokens), 0);
    cr_assert_eq(pipe(acknowledgements), 0);
    for (unsigned i = 0; i < TOKENS; i++)
        cr_assert_eq(write(tokens[1], &(uint8_t){(uint8_t)i}, 1), 1);
    close(tokens[1]); /* writers see the end of the tokens */

    pid_t writers[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        writers[i] = start_writer(tokens[0], acknowledgements[1]);
    struct pollfd left = {.fd = tokens[0], .events = POLLIN};
    unsigned kills = 0;
    srandom((unsigned)getpid());
    while (poll(&left, 1, 0) == 1 && (left.revents & POLLIN) != 0) {
        usleep((useconds_t)(random() % 15000));
        int which = (int)(random() % WRITERS);
        kill(writers[which], SIGKILL);
        reap(writers[which]);
        kills++;
        writers[which] = start_writer(tokens[0], acknowledgements[1]);
    }
    for (int i = 0; i < WRITERS; i++)
        reap(writers[i]);
    close(acknowledgements[1]);

    unsigned seen[TOKENS] = {0};
    uint64_t entries = walk(seen, TOKENS);
    unsigned acknowledged = 0;
    uint8_t token = 0;
    while (read(acknowledgements[0], &token, 1) == 1) {
        acknowledged++;
        cr_expect_eq(seen[token], 1, "token %d was acknowledged", token);
    }
    for (unsigned i = 0; i < TOKENS; i++)
        cr_expect_leq(seen[i], 1, "token %u", i);
    cr_expect(entries >= acknowledged && entries <= TOKENS);
    cr_expect_geq(acknowledged + kills, TOKENS, "a killed writer loses at most the token that it had");
    cr_expect_gt(kills, 0);
    close(acknowledgements[0]);
    close(tokens[0]);
}

/* Nothing of an entry is there whose writer died before its commit. */
Test(ledger_crash, an_append_that_was_not_committed_is_not_there) {
    cs_error err = CS_ERROR_INIT;
    cs_ledger *ledger = NULL;
    cr_assert_eq(cs_ledger_open(ledger_path, 5000, &ledger, &err), CS_OK);
    cr_assert_eq(append_token(ledger, 1, &err), 1);
    pid_t child = fork();
    if (child == 0) {
        sqlite3 *db = NULL;
        bool good =
            sqlite3_open(ledger_path, &db) == SQLITE_OK &&
            sqlite3_exec(db,
                         "PRAGMA cache_size = 1; BEGIN IMMEDIATE; INSERT INTO entry SELECT 2, added_unix_ms, kind,"
                         " record_sha256, row_sha256, row_sha256, code, daemon, detail, envelope, link,"
                         " describe_before, describe_after, zeroblob(9000000), response FROM entry",
                         NULL, NULL, NULL) == SQLITE_OK;
        if (good) raise(SIGKILL);
        _exit(1);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    cr_expect_eq(append_token(ledger, 2, &err), 2);
    cs_ledger_close(ledger);
    unsigned seen[3] = {0};
    cr_expect_eq(walk(seen, 3), 2);
    cr_expect(seen[1] == 1 && seen[2] == 1);
}

/* ---- many at once -------------------------------------------------------------------------------- */

/* All processes find no file, or an empty one, at the same moment. Each must end with a ledger that takes
 * its entry. */
static void create_at_once(int round) {
    enum { PROCESSES = 6 };
    pid_t children[PROCESSES];
    int start[2];
    (void)snprintf(ledger_path, sizeof ledger_path, "%s/ledger-%d.db", ledger_folder, round);
    cr_assert_eq(pipe(start), 0);
    for (unsigned i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] != 0) continue;
        char byte = 0;
        cs_ledger *ledger = NULL;
        cs_error err = CS_ERROR_INIT;
        close(start[1]);
        if (read(start[0], &byte, 1) != 0) _exit(1);
        if (cs_ledger_open(ledger_path, 20000, &ledger, &err) != CS_OK) _exit(2);
        if (append_token(ledger, i, &err) == 0) _exit(3);
        cs_ledger_close(ledger);
        _exit(0);
    }
    close(start[0]);
    close(start[1]); /* and off they go */
    for (unsigned i = 0; i < PROCESSES; i++) {
        int status = -1;
        cr_assert_eq(waitpid(children[i], &status, 0), children[i]);
        cr_expect_eq(status, 0, "round %d, process %u: %d", round, i, status);
    }
    unsigned seen[PROCESSES] = {0};
    cr_expect_eq(walk(seen, PROCESSES), PROCESSES);
    for (unsigned i = 0; i < PROCESSES; i++)
        cr_expect_eq(seen[i], 1);
}

Test(ledger_crash, several_processes_create_it_at_once) {
    for (int round = 0; round < 10; round++)
        create_at_once(round);
}

/* A reader that walks again and again while others append sees good entries only. */
Test(ledger_crash, a_reader_beside_writers) {
    int tokens[2];
    int acknowledgements[2];
    cs_ledger *ledger = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_ledger_open(ledger_path, 5000, &ledger, &err), CS_OK);
    cs_ledger_close(ledger);
    cr_assert_eq(pipe(tokens), 0);
    cr_assert_eq(pipe(acknowledgements), 0);
    for (unsigned i = 0; i < 100; i++)
        cr_assert_eq(write(tokens[1], &(uint8_t){(uint8_t)i}, 1), 1);
    close(tokens[1]);
    pid_t first = start_writer(tokens[0], acknowledgements[1]);
    pid_t second = start_writer(tokens[0], acknowledgements[1]);
    struct pollfd left = {.fd = tokens[0], .events = POLLIN};
    uint64_t last = 0;
    while (poll(&left, 1, 0) == 1 && (left.revents & POLLIN) != 0) {
        unsigned seen[100] = {0};
        uint64_t count = walk(seen, 100);
        cr_expect_geq(count, last);
        last = count;
    }
    reap(first);
    reap(second);
    unsigned seen[100] = {0};
    cr_expect_eq(walk(seen, 100), 100);
    close(tokens[0]);
    close(acknowledgements[0]);
    close(acknowledgements[1]);
}

/* ---- no room ------------------------------------------------------------------------------------- */

/* Append until it fails; how many entries were acknowledged. */
static int64_t append_until_full(cs_ledger *ledger, cs_error *err) {
    int64_t last = 0;
    for (int64_t id = append_token(ledger, 1, err); id != 0; id = append_token(ledger, 1, err))
        last = id;
    return last;
}

Test(ledger_crash, a_write_that_fails) {
    cs_ledger *ledger = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_ledger_open(ledger_path, 1000, &ledger, &err), CS_OK);
    struct rlimit before;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {.rlim_cur = 500000, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    int64_t last = append_until_full(ledger, &err);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    cr_expect_eq(err.code, CS_CODE_LEDGER_WRITE, "%s: %s", cs_code_name(err.code), err.message);
    cr_expect_gt(last, 5);
    cr_expect_eq(append_token(ledger, 2, &err), last + 1, "the twin: it can be written again");
    cs_ledger_close(ledger);
    unsigned seen[3] = {0};
    cr_expect_eq(walk(seen, 3), (uint64_t)last + 1);
}

static bool write_text(const char *name, const char *text) {
    FILE *file = fopen(name, "w");
    bool good = file != NULL && fputs(text, file) >= 0;
    return file != NULL && fclose(file) == 0 && good;
}

/* A disk of one megabyte on the test's folder, seen by this process only, so that it goes away with it. */
static bool mount_small_disk(void) {
    bool root = geteuid() == 0;
    char map[64];
    (void)snprintf(map, sizeof map, "0 %u 1", (unsigned)geteuid());
    if (unshare(root ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    if (!root && !write_text("/proc/self/uid_map", map)) return false;
    return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", ledger_folder, "tmpfs", 0, "size=1m") == 0;
}

Test(ledger_crash, no_room_on_the_disk) {
    if (!mount_small_disk()) {
        if (getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL")) cr_assert_fail("a small file system can't be mounted");
        cr_skip_test("SKIPPED: a small file system can't be mounted here: %s", strerror(errno));
    }
    cs_ledger *ledger = NULL;
    cs_ledger *second = NULL;
    cs_error err = CS_ERROR_INIT;
    char filler[256];
    static uint8_t zeros[300000];
    (void)snprintf(filler, sizeof filler, "%s/filler", ledger_folder);
    file_write(filler, zeros, sizeof zeros);
    cr_assert_eq(cs_ledger_open(ledger_path, 1000, &ledger, &err), CS_OK);
    int64_t last = append_until_full(ledger, &err);
    cr_expect_eq(err.code, CS_CODE_LEDGER_FULL, "%s: %s", cs_code_name(err.code), err.message);
    cr_expect_gt(last, 5);
    cs_ledger_close(ledger);
    unsigned seen[2] = {0};
    cr_expect_eq(walk(seen, 2), (uint64_t)last);

    /* Not even a new ledger fits, and nothing is left of the attempt; once there is room, it is made. */
    (void)snprintf(ledger_path, sizeof ledger_path, "%s/second.db", ledger_folder);
    cr_expect_eq(cs_ledger_open(ledger_path, 1000, &second, &err), CS_UNCHECKED);
    cr_expect_eq(err.code, CS_CODE_LEDGER_FULL, "%s: %s", cs_code_name(err.code), err.message);
    cr_expect_neq(access(ledger_path, F_OK), 0);
    unlink(filler);
    cr_expect_eq(cs_ledger_open(ledger_path, 1000, &second, &err), CS_OK, "%s: %s", cs_code_name(err.code),
                 err.message);
    if (second != NULL) cr_expect_eq(append_token(second, 1, &err), 1);
    cs_ledger_close(second);
    cr_expect_eq(umount(ledger_folder), 0);
}
