/* The guards of real daemons: honest ones stand, and what is left out is found. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/guards_internal.h"
#include "tests/support/daemon.h"
#include "tests/support/expect.h"

typedef struct scene {
    test_daemon daemon;
    cs_client *client;
    cs_guards_report report;
} scene;

static cs_result check(scene *s, const char *provider, const char *without, unsigned required) {
    const char *const more[] = {"--open", without != NULL ? "--without" : NULL, without, "--i-am-lying-for-a-test",
                                NULL};
    cs_error err = CS_ERROR_INIT;
    daemon_start(&s->daemon, provider, more);
    cs_client_config config = {.base_url = s->daemon.url};
    EXPECT_OK(cs_client_new(&config, &s->client, &err), err);
    const cs_guards_options options = {.run = {.client = s->client, .skew_ms = CS_DEFAULT_SKEW_MS},
                                       .required = required};
    return cs_guards_check(&options, &s->report);
}

static void finish(scene *s) {
    cs_guards_free(&s->report);
    cs_client_free(s->client);
    cr_expect_eq(daemon_stop(&s->daemon), 0);
}

static void expect_guard(const scene *s, cs_guard_id guard, cs_guard_verdict verdict) {
    const cs_guard_finding *finding = &s->report.findings[guard];
    cr_expect_eq(finding->verdict, verdict, "%s: %s; %s", cs_guard_word(guard), finding->observed, finding->control);
}

/* Root alone can show that core_pattern would open, and has a user for each run whose processes are counted. */
static bool shows_all(void) {
    return geteuid() == 0;
}

static void expect_nothing_is_broken(const scene *s, const cs_guard_id *in_force, size_t count) {
    cr_expect_eq(s->report.result, CS_OK, "%s", s->report.err.message);
    cr_expect_eq(s->report.broken, 0);
    for (size_t i = 0; i < count; i++)
        expect_guard(s, in_force[i], CS_GUARD_IN_FORCE);
    for (size_t i = 0; i < CS_GUARD_RUNS; i++)
        cr_expect(s->report.ran[i] && s->report.runs[i].result == CS_OK);
    if (!shows_all()) return;
    expect_guard(s, CS_GUARD_CORE_PATTERN, CS_GUARD_IN_FORCE);
    expect_guard(s, CS_GUARD_PROCESSES, CS_GUARD_IN_FORCE);
    cr_expect_leq(s->report.findings[CS_GUARD_PROCESSES].measured, 256);
}

Test(guards_live, an_honest_process_stands) {
    static const cs_guard_id in_force[] = {CS_GUARD_FILES,    CS_GUARD_NETWORK,        CS_GUARD_ABSTRACT,
                                           CS_GUARD_SYSCALLS, CS_GUARD_PROCESS_MEMORY, CS_GUARD_FILE_SIZE,
                                           CS_GUARD_TIME,     CS_GUARD_LEFTOVERS};
    scene s = {.client = NULL};
    (void)!check(&s, "process", NULL, CS_GUARD_BIT(CS_GUARD_FILES));
    expect_nothing_is_broken(&s, in_force, sizeof in_force / sizeof in_force[0]);
    cr_expect_eq(s.report.place, CS_HOST_HERE);
    const Plimsoll__V1__ProjectResult *project = s.report.runs[CS_GUARD_RUN_TRY].response->project;
    cr_expect_geq(project->steps[0]->duration_ms, 1000, "it can't be seen"); /* it sleeps so long */
    expect_guard(&s, CS_GUARD_PIDS, CS_GUARD_NOT_IN_FORCE); /* which a process does not promise */
    cr_expect_not(s.report.findings[CS_GUARD_PIDS].promised);
    cr_expect_eq(s.report.findings[CS_GUARD_FILE_SIZE].measured, 256);
    finish(&s);
}

Test(guards_live, an_honest_container_stands) {
    static const cs_guard_id in_force[] = {CS_GUARD_FILES,    CS_GUARD_NETWORK,        CS_GUARD_ABSTRACT,
                                           CS_GUARD_PIDS,     CS_GUARD_PROCESS_MEMORY, CS_GUARD_FILE_SIZE,
                                           CS_GUARD_SYSCALLS, CS_GUARD_TIME,           CS_GUARD_LEFTOVERS};
    scene s = {.client = NULL};
    (void)!check(&s, "container", NULL, 0);
    expect_nothing_is_broken(&s, in_force, sizeof in_force / sizeof in_force[0]);
    finish(&s);
}

/* One guard less, and nothing else: that one is found open. */
static void expect_broken(const char *without, cs_guard_id guard, cs_code code) {
    scene s = {.client = NULL};
    cr_expect_eq(check(&s, "process", without, 0), CS_FAILED);
    cr_expect_eq(s.report.err.code, code, "%s: %s", without, s.report.err.message);
    cr_expect_eq(s.report.broken, 1, "%s: %s", without, s.report.err.message);
    expect_guard(&s, guard, CS_GUARD_NOT_IN_FORCE);
    cr_expect_not_null(strstr(s.report.err.message, cs_guard_word(guard)));
    finish(&s);
}

Test(guards_live, system_calls_that_are_open_contradict_the_tier) {
    expect_broken("syscalls", CS_GUARD_SYSCALLS, CS_CODE_TIER_CONTRADICTED);
}

Test(guards_live, more_processes_than_promised_break_a_promise) {
    if (!shows_all()) cr_skip_test("only a daemon of root promises a number of processes");
    expect_broken("processes", CS_GUARD_PROCESSES, CS_CODE_TIER_GUARD);
}

/* Nothing promises it, so it breaks nothing until somebody requires it. */
Test(guards_live, what_is_required_must_be_in_force) {
    scene s = {.client = NULL};
    cr_expect_eq(check(&s, "process", "file-size", CS_GUARD_BIT(CS_GUARD_FILE_SIZE)), CS_FAILED);
    cr_expect_eq(s.report.err.code, CS_CODE_TIER_GUARD, "%s", s.report.err.message);
    cr_expect_eq(s.report.broken, 1, "%s", s.report.err.message);
    expect_guard(&s, CS_GUARD_FILE_SIZE, CS_GUARD_NOT_IN_FORCE);
    finish(&s);
}

Test(guards_live, what_is_required_may_not_be_unknown) {
    scene s = {.client = NULL};
    cr_expect_eq(check(&s, "process", NULL, CS_GUARD_BIT(CS_GUARD_DISK)), CS_FAILED);
    cr_expect_eq(s.report.err.code, CS_CODE_TIER_GUARD, "%s", s.report.err.message);
    expect_guard(&s, CS_GUARD_DISK, CS_GUARD_UNKNOWN);
    finish(&s);
}

/* What bounds each process is in force; the whole run's memory is promised by nobody here. */
Test(guards_live, a_bound_of_each_process_is_no_bound_of_the_run) {
    const unsigned each = CS_GUARD_BIT(CS_GUARD_PROCESS_MEMORY);
    scene s = {.client = NULL};
    cr_expect_eq(check(&s, "process", NULL, each), CS_OK, "%s", s.report.err.message);
    finish(&s);
    s = (scene){.client = NULL};
    cr_expect_eq(check(&s, "process", NULL, each | CS_GUARD_BIT(CS_GUARD_MEMORY)), CS_FAILED);
    cr_expect_eq(s.report.err.code, CS_CODE_TIER_GUARD, "%s", s.report.err.message);
    cr_expect_eq(s.report.broken, 1, "%s", s.report.err.message);
    expect_guard(&s, CS_GUARD_MEMORY, CS_GUARD_UNKNOWN);
    finish(&s);
}

/* ---- the control ------------------------------------------------------------------------------------------- */

#define NONCE "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

/* Folders of a control that are still there. */
static size_t folders_left(void) {
    size_t count = 0;
    static const char *const places[] = {"/var/tmp", "/tmp"};
    for (size_t i = 0; i < 2; i++) {
        DIR *folder = opendir(places[i]);
        if (folder == NULL) continue;
        for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
            if (strncmp(entry->d_name, "countersign-guards-", 19) == 0) count++;
        closedir(folder);
    }
    return count;
}

Test(guards_live, a_control_prints_and_leaves_nothing) {
    cs_guard_bait bait;
    cs_guard_trial trial;
    cs_error err = CS_ERROR_INIT;
    CS_AUTO_BUF output = CS_BUF_INIT(CS_PROBE_MAX_ANSWER);
    size_t before = folders_left();
    cs_guard_bait_lay(NONCE, true, &bait);
    char arguments[256];
    (void)snprintf(arguments, sizeof arguments, "try " NONCE " /etc/passwd 0 1 %d 3 0 0 0", (int)bait.pid);
    EXPECT_OK(cs_guard_control(bait.program, arguments, 60000, &output, &err), err);
    EXPECT_OK(cs_guard_read_try(NONCE, cs_buf_view(&output), &trial, &err), err);
    cr_expect_eq(trial.file, 0);
    cr_expect_eq(trial.tcp, CS_PROBE_UNKNOWN);
    cr_expect_eq(trial.abstract, 0);
    cr_expect_eq(trial.pid_seen, 1);
    cr_expect_eq(trial.pid_signal, 0);
    cr_expect_eq(trial.processes, 3);
    cr_expect_eq(trial.left[CS_LEFT_WORK], CS_PROBE_UNKNOWN);
    cr_expect_leq(folders_left(), before);
    pid_t pid = bait.pid;
    cs_guard_bait_take(&bait);
    cr_expect_eq(kill(pid, 0), -1);
    cr_expect_eq(errno, ESRCH);
}

Test(guards_live, a_control_that_does_not_end_is_ended) {
    cs_guard_bait bait;
    cs_error err = CS_ERROR_INIT;
    CS_AUTO_BUF output = CS_BUF_INIT(CS_PROBE_MAX_ANSWER);
    cs_guard_bait_lay(NONCE, false, &bait);
    cr_expect_eq(bait.pid, 0);
    cr_expect_lt(bait.abstract, 0);
    EXPECT_CODE(cs_guard_control(bait.program, "wait " NONCE " 600000", 100, &output, &err), err, CS_UNCHECKED,
                CS_CODE_TIER_PROBE);
    EXPECT_CODE(cs_guard_control(bait.program, "nothing", 10000, &output, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    EXPECT_CODE(cs_guard_control(-1, "wait " NONCE " 1", 10000, &output, &err), err, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    EXPECT_OK(cs_guard_control(bait.program, "wait " NONCE " 1", 10000, &output, &err), err);
    cr_expect_eq(output.len, 0);
    cs_guard_bait_take(&bait);
}

Test(guards_live, having_memory_is_told_and_given_back) {
    cs_guard_bait bait;
    cs_guard_fill fill = {0};
    cs_error err = CS_ERROR_INIT;
    CS_AUTO_BUF output = CS_BUF_INIT(CS_PROBE_MAX_ANSWER);
    cs_guard_bait_lay(NONCE, false, &bait);
    EXPECT_OK(cs_guard_control(bait.program, "fill " NONCE " 300", 60000, &output, &err), err);
    EXPECT_OK(cs_guard_read_fill(NONCE, cs_buf_view(&output), &fill, &err), err);
    cr_expect_eq(fill.filled_mb, 300); /* more than one process has at most */
    cs_guard_bait_take(&bait);
}
