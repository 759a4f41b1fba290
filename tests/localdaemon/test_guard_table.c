/* Guards that only behaviour shows, a row for each: an attempt that the guard stops, with the errno that it stops it
 * with, and as the control the same attempt with exactly this guard down, which must leak. A row that can't fail shows
 * nothing, so the table itself is checked, and its checker with rows that must not pass. */
#include "examples/localdaemon/smoke.h"
#include "tests/support/exec.h"
#include "tests/support/expect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct row {
    const char *name; /* as in `names` */
    ld_kind provider;
    ld_attempt attempt;
    int up; /* errno of the attempt with the guard up */
} row;

/* Those that no table may be without, by hand: what a table says of itself is no list to hold it to. */
static const char *const names[] = {"landlock files", "landlock abstract sockets",
                                    "network",        "seccomp keyctl",
                                    "seccomp bpf",    "seccomp unshare",
                                    "limit NPROC",    "limit DATA",
                                    "limit FSIZE",    "pid namespace",
                                    "mount namespace"};
#define NAMES (sizeof names / sizeof names[0])

/* The filter refuses every socket, so it is down where a socket is the means. bpf is for root where the machine says so
 * (kernel.unprivileged_bpf_disabled), so its attempt is root's. A copy of the daemon's program that is built with
 * sanitizers maps more than RLIMIT_DATA allows. Address space can't be bounded (sandbox.h): DATA stands for AS. */
static const row rows[] = {
    {"landlock files", LD_PROCESS, {LD_GUARD_FILES, "read", LD_REACH_CANARY, 0}, EACCES},
    {"landlock abstract sockets",
     LD_PROCESS,
     {LD_GUARD_ABSTRACT, "abstract", LD_REACH_ABSTRACT, LD_GUARD_SOCKETS},
     EPERM},
    {"network",
     LD_CONTAINER,
     {LD_GUARD_NETWORK, "tcp", LD_REACH_PORT, LD_GUARD_SOCKETS | LD_GUARD_MEMORY},
     ECONNREFUSED},
    {"seccomp keyctl", LD_PROCESS, {LD_GUARD_SYSCALLS, "keyctl", LD_REACH_NOTHING, 0}, EPERM},
    {"seccomp bpf", LD_PROCESS, {LD_GUARD_SYSCALLS, "bpf", LD_REACH_NOTHING, LD_GUARD_USER}, EPERM},
    {"seccomp unshare", LD_PROCESS, {LD_GUARD_SYSCALLS, "unshare", LD_REACH_NOTHING, 0}, EPERM},
    {"limit NPROC", LD_PROCESS, {LD_GUARD_PROCESSES, "fork", LD_REACH_CHILDREN, 0}, EAGAIN},
    {"limit DATA", LD_PROCESS, {LD_GUARD_MEMORY, "memory", LD_REACH_DATA, 0}, ENOMEM},
    {"limit FSIZE", LD_PROCESS, {LD_GUARD_FILE_SIZE, "write", LD_REACH_FILE_END, 0}, EFBIG},
    {"pid namespace", LD_CONTAINER, {LD_GUARD_PIDS, "signal", LD_REACH_VICTIM, LD_GUARD_MEMORY}, ESRCH},
    {"mount namespace", LD_CONTAINER, {LD_GUARD_MOUNTS, "read", LD_REACH_CANARY, LD_GUARD_MEMORY}, ENOENT},
};

/* ---- the checker ----------------------------------------------------------------------------------- */

static char verdict[800]; /* what is wrong; "": nothing */

static ld_sandbox sandboxes[LD_KINDS];
static ld_slots slots;
static char program[1024];

/* Without an attempt, or without a guard that the provider has, there is nothing to take down. */
static bool has_control(const row *it) {
    const ld_sandbox *sandbox = &sandboxes[it->provider];
    return it->attempt.probe != NULL && it->attempt.guard != 0 && (sandbox->guards & it->attempt.guard) != 0;
}

/* Make the attempt twice, and hold it to what the row says. */
static bool check_row(const row *it, const ld_sandbox *sandbox) {
    ld_trial trial = {.up = -1, .down = -1};
    cs_error err = CS_ERROR_INIT;
    verdict[0] = '\0';
    if (!has_control(it)) {
        snprintf(verdict, sizeof verdict, "%s: it has no control: there is no guard to take down", it->name);
    } else if (ld_smoke_try(sandbox, &slots, &it->attempt, &trial, &err) != CS_OK) {
        snprintf(verdict, sizeof verdict, "%s: the attempt can't be made: %s", it->name, err.message);
    } else if (trial.down != 0) {
        snprintf(verdict, sizeof verdict, "%s: its control does not leak: without the guard the attempt ends with %d",
                 it->name, trial.down);
    } else if (trial.up != it->up) {
        snprintf(verdict, sizeof verdict, "%s: with the guard the attempt ends with %d, not with %d", it->name,
                 trial.up, it->up);
    }
    return verdict[0] == '\0';
}

/* Is each name there once, and no other? */
static bool check_names(const row *table, size_t count) {
    verdict[0] = '\0';
    for (size_t i = 0; i < NAMES && verdict[0] == '\0'; i++) {
        size_t found = 0;
        for (size_t k = 0; k < count; k++)
            if (strcmp(table[k].name, names[i]) == 0) found++;
        if (found != 1) snprintf(verdict, sizeof verdict, "%s: %zu rows, not 1", names[i], found);
    }
    if (verdict[0] == '\0' && count != NAMES) snprintf(verdict, sizeof verdict, "rows of no name");
    return verdict[0] == '\0';
}

/* ---- set up ---------------------------------------------------------------------------------------- */

static void give_up(const char *why) {
    if (getenv("CI") || getenv("COUNTERSIGN_REQUIRE_ALL")) cr_assert_fail("the guards can't be tried: %s", why);
    cr_skip_test("SKIPPED: the guards can't be tried here: %s", why);
}

static void set_up(void) {
    static const ld_kind kinds[] = {LD_PROCESS, LD_CONTAINER};
    cs_error err = CS_ERROR_INIT;
    if (geteuid() != 0) give_up("some are on offer to root only");
    exec_built("localdaemon", program);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (ld_sandbox_init(&sandboxes[kinds[i]], kinds[i], NULL, &err) != CS_OK) give_up(err.message);
        /* This program is not the daemon and knows no probes. */
        sandboxes[kinds[i]].self = program;
    }
    if (sandboxes[LD_PROCESS].landlock_abi < 6) give_up("Landlock's ABI is below 6");
    EXPECT_OK(ld_slots_open(&slots, &err), err);
}

static void tear_down(void) {
    ld_slots_close(&slots);
    ld_sandbox_free(&sandboxes[LD_PROCESS]);
    ld_sandbox_free(&sandboxes[LD_CONTAINER]);
}

/* ---- tests ----------------------------------------------------------------------------------------- */

Test(localdaemon_guard_table, each_guard_stops_its_attempt_and_is_missed, .timeout = 100) {
    set_up();
    cr_expect(check_names(rows, sizeof rows / sizeof rows[0]), "%s", verdict);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        cr_expect(check_row(&rows[i], &sandboxes[rows[i].provider]), "%s", verdict);
    tear_down();
}

static void expect_wrong(const row *it, const ld_sandbox *sandbox, const char *what) {
    cr_expect_not(check_row(it, sandbox));
    cr_expect_str_eq(verdict, what, "%s", verdict);
}

/* Each is a good row with one change. */
Test(localdaemon_guard_table, a_row_that_shows_nothing_does_not_pass, .timeout = 100) {
    const row good = {"landlock abstract sockets",
                      LD_PROCESS,
                      {LD_GUARD_ABSTRACT, "abstract", LD_REACH_ABSTRACT, LD_GUARD_SOCKETS},
                      EPERM};
    row changed = good;
    set_up();
    cr_expect(check_row(&good, &sandboxes[LD_PROCESS]), "%s", verdict);
    /* The filter stays up and refuses the socket, whatever Landlock does. */
    changed.attempt.also_down = 0;
    expect_wrong(&changed, &sandboxes[LD_PROCESS],
                 "landlock abstract sockets: its control does not leak: without the guard the attempt ends with 1");
    changed = good;
    changed.attempt.guard = LD_GUARD_NETWORK;
    expect_wrong(&changed, &sandboxes[LD_PROCESS],
                 "landlock abstract sockets: it has no control: there is no guard to take down");
    changed.attempt.guard = 0;
    expect_wrong(&changed, &sandboxes[LD_PROCESS],
                 "landlock abstract sockets: it has no control: there is no guard to take down");
    changed = good;
    changed.attempt.probe = NULL;
    expect_wrong(&changed, &sandboxes[LD_PROCESS],
                 "landlock abstract sockets: it has no control: there is no guard to take down");
    changed = good;
    changed.attempt.probe = "abstrakt";
    expect_wrong(&changed, &sandboxes[LD_PROCESS],
                 "landlock abstract sockets: its control does not leak: without the guard the attempt ends with 255");
    changed = good;
    changed.up = EACCES;
    expect_wrong(&changed, &sandboxes[LD_PROCESS],
                 "landlock abstract sockets: with the guard the attempt ends with 1, not with 13");
    /* The guard is stated, and not put up. */
    sandboxes[LD_PROCESS].left_out = LD_GUARD_ABSTRACT;
    expect_wrong(&good, &sandboxes[LD_PROCESS],
                 "landlock abstract sockets: with the guard the attempt ends with 0, not with 1");
    tear_down();
}

Test(localdaemon_guard_table, a_guard_without_a_row_is_missed) {
    row changed[NAMES + 1];
    cr_assert_eq(sizeof rows / sizeof rows[0], NAMES);
    memcpy(changed, rows, sizeof rows);
    cr_expect(check_names(changed, NAMES), "%s", verdict);
    cr_expect_not(check_names(changed, NAMES - 1));
    cr_expect_str_eq(verdict, "mount namespace: 0 rows, not 1");
    changed[4] = changed[3];
    cr_expect_not(check_names(changed, NAMES));
    cr_expect_str_eq(verdict, "seccomp keyctl: 2 rows, not 1");
    changed[4] = rows[4];
    changed[NAMES] = (row){.name = "a wish"};
    cr_expect_not(check_names(changed, NAMES + 1));
    cr_expect_str_eq(verdict, "rows of no name");
}
