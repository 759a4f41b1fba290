/* What the facts say of each guard: every guard in force, and twins in which one number is another. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/guards_case.h"
#include "tests/support/expect.h"

#define UNKNOWN CS_PROBE_UNKNOWN

typedef struct twin {
    cs_guard_id guard;
    cs_guard_verdict verdict;
    size_t offset; /* of the one number that is changed */
    int64_t value;
} twin;

#define AT(member) offsetof(cs_guard_facts, member)
#define LEFT(where, kind) (offsetof(cs_guard_facts, where) + (kind) * sizeof(int64_t))

static const twin twins[] = {
    {CS_GUARD_FILES, CS_GUARD_NOT_IN_FORCE, AT(trial.file), 0},
    {CS_GUARD_FILES, CS_GUARD_UNKNOWN, AT(trial.file), UNKNOWN},
    {CS_GUARD_FILES, CS_GUARD_UNKNOWN, AT(control.file), EACCES},
    {CS_GUARD_FILES, CS_GUARD_UNKNOWN, AT(control.file), UNKNOWN},
    {CS_GUARD_NETWORK, CS_GUARD_NOT_IN_FORCE, AT(trial.tcp), 0},
    {CS_GUARD_NETWORK, CS_GUARD_UNKNOWN, AT(trial.tcp), UNKNOWN},
    {CS_GUARD_NETWORK, CS_GUARD_UNKNOWN, AT(control.tcp), ECONNREFUSED},
    {CS_GUARD_ABSTRACT, CS_GUARD_NOT_IN_FORCE, AT(trial.abstract), 0},
    {CS_GUARD_ABSTRACT, CS_GUARD_UNKNOWN, AT(control.abstract), EPERM},
    {CS_GUARD_PIDS, CS_GUARD_NOT_IN_FORCE, AT(trial.pid_seen), 1},
    {CS_GUARD_PIDS, CS_GUARD_IN_FORCE, AT(trial.pid_seen), 2},
    {CS_GUARD_PIDS, CS_GUARD_NOT_IN_FORCE, AT(trial.pid_signal), 0},
    {CS_GUARD_PIDS, CS_GUARD_NOT_IN_FORCE, AT(trial.pid_signal), EPERM},
    {CS_GUARD_PIDS, CS_GUARD_UNKNOWN, AT(trial.pid_signal), UNKNOWN},
    {CS_GUARD_PIDS, CS_GUARD_UNKNOWN, AT(control.pid_seen), 2},
    {CS_GUARD_SYSCALLS, CS_GUARD_NOT_IN_FORCE, AT(trial.keyctl), ENOKEY},
    {CS_GUARD_SYSCALLS, CS_GUARD_NOT_IN_FORCE, AT(trial.bpf), EINVAL},
    {CS_GUARD_SYSCALLS, CS_GUARD_NOT_IN_FORCE, AT(trial.unshare), 0},
    {CS_GUARD_SYSCALLS, CS_GUARD_IN_FORCE, AT(trial.unshare), ENOSYS},
    {CS_GUARD_SYSCALLS, CS_GUARD_UNKNOWN, AT(trial.unshare), UNKNOWN},
    {CS_GUARD_SYSCALLS, CS_GUARD_IN_FORCE, AT(control.unshare), EPERM},
    {CS_GUARD_CORE_PATTERN, CS_GUARD_NOT_IN_FORCE, AT(trial.core_pattern), 0},
    {CS_GUARD_CORE_PATTERN, CS_GUARD_UNKNOWN, AT(trial.core_pattern), UNKNOWN},
    {CS_GUARD_CORE_PATTERN, CS_GUARD_UNKNOWN, AT(control.core_pattern), EACCES},
    {CS_GUARD_PROCESSES, CS_GUARD_IN_FORCE, AT(trial.processes), 256},
    {CS_GUARD_PROCESSES, CS_GUARD_NOT_IN_FORCE, AT(trial.processes), 257},
    {CS_GUARD_PROCESSES, CS_GUARD_UNKNOWN, AT(trial.processes), UNKNOWN},
    {CS_GUARD_PROCESSES, CS_GUARD_IN_FORCE, AT(control.processes), 257},
    {CS_GUARD_PROCESSES, CS_GUARD_UNKNOWN, AT(control.processes), 256},
    {CS_GUARD_PROCESSES, CS_GUARD_NOT_IN_FORCE, AT(promises.processes), 253},
    {CS_GUARD_PROCESSES, CS_GUARD_UNKNOWN, AT(promises.processes), 4001},
    {CS_GUARD_MEMORY, CS_GUARD_IN_FORCE, AT(fill.filled_mb), 575},
    {CS_GUARD_MEMORY, CS_GUARD_NOT_IN_FORCE, AT(fill.filled_mb), 576},
    {CS_GUARD_MEMORY, CS_GUARD_UNKNOWN, AT(fill.filled_mb), UNKNOWN},
    {CS_GUARD_MEMORY, CS_GUARD_UNKNOWN, AT(control_fill.filled_mb), 575},
    {CS_GUARD_MEMORY, CS_GUARD_UNKNOWN, AT(control_fill.filled_mb), UNKNOWN},
    {CS_GUARD_MEMORY, CS_GUARD_UNKNOWN, AT(promises.memory_mb), 4097},
    {CS_GUARD_MEMORY, CS_GUARD_UNKNOWN, AT(promises.memory_mb), 0},
    {CS_GUARD_PROCESS_MEMORY, CS_GUARD_IN_FORCE, AT(trial.mapped_mb), 65535},
    {CS_GUARD_PROCESS_MEMORY, CS_GUARD_NOT_IN_FORCE, AT(trial.mapped_mb), 65536},
    {CS_GUARD_PROCESS_MEMORY, CS_GUARD_UNKNOWN, AT(trial.mapped_mb), UNKNOWN},
    {CS_GUARD_PROCESS_MEMORY, CS_GUARD_UNKNOWN, AT(control.mapped_mb), 65535},
    {CS_GUARD_FILE_SIZE, CS_GUARD_IN_FORCE, AT(trial.file_mb), 1048575},
    {CS_GUARD_FILE_SIZE, CS_GUARD_NOT_IN_FORCE, AT(trial.file_mb), 1048576},
    {CS_GUARD_FILE_SIZE, CS_GUARD_UNKNOWN, AT(trial.file_mb), UNKNOWN},
    {CS_GUARD_FILE_SIZE, CS_GUARD_UNKNOWN, AT(control.file_mb), 1048575},
    {CS_GUARD_DISK, CS_GUARD_IN_FORCE, AT(trial.disk_mb), 79},
    {CS_GUARD_DISK, CS_GUARD_NOT_IN_FORCE, AT(trial.disk_mb), 80},
    {CS_GUARD_DISK, CS_GUARD_UNKNOWN, AT(control.disk_mb), 79},
    {CS_GUARD_DISK, CS_GUARD_UNKNOWN, AT(promises.disk_mb), 0},
    {CS_GUARD_DISK, CS_GUARD_UNKNOWN, AT(promises.disk_mb), 4097},
    {CS_GUARD_CPUS, CS_GUARD_IN_FORCE, AT(trial.cpu_milli), 1800},
    {CS_GUARD_CPUS, CS_GUARD_NOT_IN_FORCE, AT(trial.cpu_milli), 1801},
    {CS_GUARD_CPUS, CS_GUARD_UNKNOWN, AT(control.cpu_milli), 1800},
    {CS_GUARD_CPUS, CS_GUARD_UNKNOWN, AT(promises.cpu_milli), 0},
    {CS_GUARD_CPUS, CS_GUARD_UNKNOWN, AT(promises.cpu_milli), 200001},
    {CS_GUARD_TIME, CS_GUARD_IN_FORCE, AT(sleep.wall_ms), 19999},
    {CS_GUARD_TIME, CS_GUARD_NOT_IN_FORCE, AT(sleep.wall_ms), 20000},
    {CS_GUARD_LEFTOVERS, CS_GUARD_NOT_IN_FORCE, LEFT(look.left, CS_LEFT_WORK), 1},
    {CS_GUARD_LEFTOVERS, CS_GUARD_NOT_IN_FORCE, LEFT(look.left, CS_LEFT_TMPDIR), 1},
    {CS_GUARD_LEFTOVERS, CS_GUARD_NOT_IN_FORCE, LEFT(look.left, CS_LEFT_SEGMENT), 1},
    {CS_GUARD_LEFTOVERS, CS_GUARD_NOT_IN_FORCE, LEFT(look.left, CS_LEFT_SOCKET), 1},
    {CS_GUARD_LEFTOVERS, CS_GUARD_NOT_IN_FORCE, LEFT(look.left, CS_LEFT_PROCESS), 1},
    {CS_GUARD_LEFTOVERS, CS_GUARD_IN_FORCE, LEFT(trial.left, CS_LEFT_WORK), 0},
};

static const cs_guard_finding *judge(const cs_guard_facts *facts, unsigned required, cs_guard_id guard) {
    static cs_guard_finding findings[CS_GUARDS];
    (void)cs_guards_judge(facts, required, findings);
    return &findings[guard];
}

static void expect_verdict(const cs_guard_facts *facts, cs_guard_id guard, cs_guard_verdict verdict, const char *what) {
    const cs_guard_finding *finding = judge(facts, 0, guard);
    cr_expect_eq(finding->verdict, verdict, "%s: %s: %s; %s", what, cs_guard_word(guard), finding->observed,
                 finding->control);
    cr_expect_neq(finding->observed[0], '\0');
    cr_expect_neq(finding->control[0], '\0');
    cr_expect_neq(finding->configured[0], '\0');
}

Test(guards_rules, honest_facts_leave_every_guard_in_force) {
    cs_guard_facts facts;
    cs_guard_finding findings[CS_GUARDS];
    guards_honest(&facts);
    cr_expect_eq(cs_guards_judge(&facts, CS_GUARD_BIT(CS_GUARDS) - 1, findings), 0);
    for (size_t i = 0; i < CS_GUARDS; i++)
        expect_verdict(&facts, (cs_guard_id)i, CS_GUARD_IN_FORCE, "honest");
}

/* One number decides about its guard, and about no other. */
Test(guards_rules, one_number_decides) {
    for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++) {
        const twin *t = &twins[i];
        cs_guard_facts facts;
        char what[32];
        guards_honest(&facts);
        (void)snprintf(what, sizeof what, "twin %zu", i);
        memcpy((char *)&facts + t->offset, &t->value, sizeof t->value);
        expect_verdict(&facts, t->guard, t->verdict, what);
        for (size_t other = 0; other < CS_GUARDS; other++)
            if (other != t->guard) expect_verdict(&facts, (cs_guard_id)other, CS_GUARD_IN_FORCE, what);
    }
}

Test(guards_rules, no_control_leaks_no_verdict_of_syscalls) {
    cs_guard_facts facts;
    guards_honest(&facts);
    facts.control.keyctl = facts.control.bpf = EPERM;
    expect_verdict(&facts, CS_GUARD_SYSCALLS, CS_GUARD_IN_FORCE, "unshare leaks");
    facts.control.unshare = EPERM;
    expect_verdict(&facts, CS_GUARD_SYSCALLS, CS_GUARD_UNKNOWN, "nothing leaks");
}

/* What fails on another machine is no wall; what succeeds is a hole wherever it is. */
Test(guards_rules, reaching_needs_the_daemon_to_be_here) {
    static const cs_guard_id reach[] = {CS_GUARD_FILES, CS_GUARD_NETWORK, CS_GUARD_ABSTRACT, CS_GUARD_PIDS};
    for (size_t i = 0; i < sizeof reach / sizeof reach[0]; i++) {
        cs_guard_facts facts;
        guards_honest(&facts);
        facts.place = CS_HOST_LISTENER;
        expect_verdict(&facts, reach[i], CS_GUARD_UNKNOWN, "listener");
        facts.trial.file = facts.trial.tcp = facts.trial.abstract = 0;
        facts.trial.pid_seen = 1;
        expect_verdict(&facts, reach[i], CS_GUARD_NOT_IN_FORCE, "listener");
    }
}

/* What the rules' check saw holds for the guards while the same process listens, and not for another one. */
Test(guards_rules, what_is_known_of_a_process_is_known_of_that_one) {
    const cs_host_daemon same = {.pid = 4711, .started = 815, .boot_id = "b"};
    const cs_host_daemon others[] = {{.pid = 4712, .started = 815, .boot_id = "b"},
                                     {.pid = 4711, .started = 816, .boot_id = "b"},
                                     {.pid = 4711, .started = 815, .boot_id = "c"}};
    cs_guards_options options = {.place = CS_HOST_HERE, .daemon = same};
    cr_expect_eq(cs_guard_place(&options, CS_HOST_LISTENER, &same, &same), CS_HOST_HERE);
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(cs_guard_place(&options, CS_HOST_LISTENER, &others[i], &same), CS_HOST_LISTENER, "%zu", i);
        cr_expect_eq(cs_guard_place(&options, CS_HOST_LISTENER, &same, &others[i]), CS_HOST_LISTENER, "%zu", i);
        cr_expect_eq(cs_guard_place(&options, CS_HOST_HERE, &others[i], &others[i]), CS_HOST_HERE, "%zu", i);
    }
    options.place = CS_HOST_ELSEWHERE;
    cr_expect_eq(cs_guard_place(&options, CS_HOST_LISTENER, &same, &same), CS_HOST_LISTENER);
}

/* A bound of each process is none of a run that has many. */
Test(guards_rules, a_bound_of_each_process_is_none_of_the_whole_run) {
    cs_guard_facts facts;
    cs_guard_finding findings[CS_GUARDS];
    const unsigned both = CS_GUARD_BIT(CS_GUARD_MEMORY) | CS_GUARD_BIT(CS_GUARD_PROCESS_MEMORY);
    guards_honest(&facts);
    cr_expect_eq(cs_guards_judge(&facts, both, findings), 0);
    cr_expect_eq(findings[CS_GUARD_MEMORY].measured, 500);
    cr_expect_eq(findings[CS_GUARD_PROCESS_MEMORY].measured, 1022);
    cr_expect(findings[CS_GUARD_MEMORY].promised);
    cr_expect_not(findings[CS_GUARD_PROCESS_MEMORY].promised);
    facts.promises.memory_mb = 0;
    cr_expect_eq(cs_guards_judge(&facts, both, findings), 1);
    cr_expect_eq(findings[CS_GUARD_MEMORY].verdict, CS_GUARD_UNKNOWN);
    cr_expect_str_eq(findings[CS_GUARD_MEMORY].observed, "not tried: nothing is promised");
    cr_expect_eq(findings[CS_GUARD_PROCESS_MEMORY].verdict, CS_GUARD_IN_FORCE);
}

Test(guards_rules, to_be_ended_while_filling_is_a_bound) {
    cs_guard_facts facts;
    guards_honest(&facts);
    facts.fill = (cs_guard_fill){.begun = true, .filled_mb = UNKNOWN};
    expect_verdict(&facts, CS_GUARD_MEMORY, CS_GUARD_IN_FORCE, "ended");
    facts.fill.begun = false;
    expect_verdict(&facts, CS_GUARD_MEMORY, CS_GUARD_UNKNOWN, "never begun");
    facts.fill.begun = true;
    facts.control_fill.read = false;
    expect_verdict(&facts, CS_GUARD_MEMORY, CS_GUARD_UNKNOWN, "no control");
    facts.control_fill.read = true;
    cs_guard_say(facts.fill.why, "timed out");
    expect_verdict(&facts, CS_GUARD_MEMORY, CS_GUARD_UNKNOWN, "for another reason");
}

Test(guards_rules, processes_that_are_not_promised_are_tried_up_to_a_number) {
    cs_guard_facts facts;
    guards_honest(&facts);
    facts.promises.processes = 0;
    cr_expect_eq(cs_guard_want_processes(&facts.promises), 400);
    facts.control.processes = 400;
    facts.trial.processes = 399;
    expect_verdict(&facts, CS_GUARD_PROCESSES, CS_GUARD_IN_FORCE, "below");
    facts.trial.processes = 400;
    expect_verdict(&facts, CS_GUARD_PROCESSES, CS_GUARD_NOT_IN_FORCE, "all");
    cr_expect_eq(judge(&facts, 0, CS_GUARD_PROCESSES)->measured, 400);
}

Test(guards_rules, time_is_marked_or_not) {
    cs_guard_facts facts;
    guards_honest(&facts);
    facts.sleep.marked = false;
    expect_verdict(&facts, CS_GUARD_TIME, CS_GUARD_UNKNOWN, "it ended somehow");
    facts.sleep.slept = true;
    expect_verdict(&facts, CS_GUARD_TIME, CS_GUARD_NOT_IN_FORCE, "it slept to its end");
    guards_honest(&facts);
    facts.try_timed_out = true;
    expect_verdict(&facts, CS_GUARD_TIME, CS_GUARD_UNKNOWN, "every run is marked");
    guards_honest(&facts);
    facts.sleep.ran = false;
    expect_verdict(&facts, CS_GUARD_TIME, CS_GUARD_UNKNOWN, "it did not run");
}

Test(guards_rules, what_could_not_be_found_again_says_nothing) {
    cs_guard_facts facts;
    guards_honest(&facts);
    for (size_t i = 0; i < CS_LEFT_PROCESS; i++)
        facts.trial.left[i] = 0;
    expect_verdict(&facts, CS_GUARD_LEFTOVERS, CS_GUARD_IN_FORCE, "a process");
    facts.look.gap_ms = 25001;
    expect_verdict(&facts, CS_GUARD_LEFTOVERS, CS_GUARD_UNKNOWN, "a process that has ended by itself");
    facts.look.gap_ms = 25000;
    facts.look.read = false;
    expect_verdict(&facts, CS_GUARD_LEFTOVERS, CS_GUARD_UNKNOWN, "nobody looked");
}

/* ---- promises ---------------------------------------------------------------------------------------------- */

Test(guards_rules, a_tier_implies_guards) {
    static const cs_guard_id of_process[] = {CS_GUARD_FILES, CS_GUARD_NETWORK, CS_GUARD_ABSTRACT, CS_GUARD_SYSCALLS,
                                             CS_GUARD_CORE_PATTERN};
    static const cs_guard_id of_container[] = {CS_GUARD_FILES, CS_GUARD_NETWORK, CS_GUARD_ABSTRACT, CS_GUARD_PIDS,
                                               CS_GUARD_CORE_PATTERN};
    static const cs_guard_id of_strong[] = {CS_GUARD_FILES, CS_GUARD_NETWORK, CS_GUARD_ABSTRACT, CS_GUARD_PIDS};
    unsigned process = 0, container = 0, strong = 0;
    for (size_t i = 0; i < 5; i++) {
        process |= CS_GUARD_BIT(of_process[i]);
        container |= CS_GUARD_BIT(of_container[i]);
        if (i < 4) strong |= CS_GUARD_BIT(of_strong[i]);
    }
    for (size_t i = 0; i < CS_GUARDS; i++) {
        cr_expect_eq(cs_guard_is_implied((cs_guard_id)i, CS_TIER_PROCESS), (process & CS_GUARD_BIT(i)) != 0);
        cr_expect_eq(cs_guard_is_implied((cs_guard_id)i, CS_TIER_CONTAINER), (container & CS_GUARD_BIT(i)) != 0);
        cr_expect_eq(cs_guard_is_implied((cs_guard_id)i, CS_TIER_KERNEL), (strong & CS_GUARD_BIT(i)) != 0);
        cr_expect_eq(cs_guard_is_implied((cs_guard_id)i, CS_TIER_VM), (strong & CS_GUARD_BIT(i)) != 0);
        cr_expect_not(cs_guard_is_implied((cs_guard_id)i, CS_TIER_NONE));
        cr_expect_not(cs_guard_is_implied((cs_guard_id)i, CS_TIER_UNKNOWN));
    }
}

Test(guards_rules, what_is_promised_or_required_can_be_broken) {
    cs_guard_facts facts;
    cs_guard_finding findings[CS_GUARDS];
    guards_honest(&facts);
    facts.trial.file = 0;
    facts.trial.processes = 272;
    facts.trial.file_mb = 1048576; /* nothing promises it */
    cr_expect_eq(cs_guards_judge(&facts, 0, findings), 2);
    cr_expect(cs_guard_is_broken(&findings[CS_GUARD_FILES]));
    cr_expect(cs_guard_is_broken(&findings[CS_GUARD_PROCESSES]));
    cr_expect_not(cs_guard_is_broken(&findings[CS_GUARD_FILE_SIZE]));
    cr_expect_eq(cs_guards_judge(&facts, CS_GUARD_BIT(CS_GUARD_FILE_SIZE), findings), 3);
    cr_expect(cs_guard_is_broken(&findings[CS_GUARD_FILE_SIZE]));
}

/* Unknown breaks no promise, and no requirement is met by it. */
Test(guards_rules, a_required_guard_may_not_be_unknown) {
    cs_guard_facts facts;
    cs_guard_finding findings[CS_GUARDS];
    guards_honest(&facts);
    facts.control.file = EACCES;
    cr_expect_eq(cs_guards_judge(&facts, 0, findings), 0);
    cr_expect_eq(cs_guards_judge(&facts, CS_GUARD_BIT(CS_GUARD_FILES), findings), 1);
    cr_expect(findings[CS_GUARD_FILES].required);
    cr_expect_not(findings[CS_GUARD_NETWORK].required);
}

Test(guards_rules, facts_that_are_not_there_leave_all_unknown) {
    cs_guard_facts facts;
    cs_guard_finding findings[CS_GUARDS];
    cs_guard_facts_begin(&facts);
    cr_expect_eq(cs_guards_judge(&facts, 0, findings), 0);
    for (size_t i = 0; i < CS_GUARDS; i++) {
        cr_expect_eq(findings[i].verdict, CS_GUARD_UNKNOWN, "%s", cs_guard_word((cs_guard_id)i));
        cr_expect_eq(findings[i].measured, UNKNOWN);
    }
}

Test(guards_rules, describe_states_resources) {
    Plimsoll__V1__RunResources resources = PLIMSOLL__V1__RUN_RESOURCES__INIT;
    cs_describe_response self = PLIMSOLL__V1__DESCRIBE_RESPONSE__INIT;
    cs_guard_promises promises;
    uint8_t vm[] = {'v', 'm'};
    self.isolation = (ProtobufCBinaryData){.data = vm, .len = sizeof vm};
    cs_guard_promises_take(&self, &promises);
    cr_expect_eq(promises.claim, CS_TIER_VM);
    cr_expect_eq(promises.processes, 0);
    self.resources = &resources;
    resources.pids = 7;
    resources.memory_mb = 8;
    resources.disk_mb = 9;
    resources.cpus = 0.5;
    cs_guard_promises_take(&self, &promises);
    cr_expect_eq(promises.processes, 7);
    cr_expect_eq(promises.memory_mb, 8);
    cr_expect_eq(promises.disk_mb, 9);
    cr_expect_eq(promises.cpu_milli, 500);
    static const struct {
        double cpus;
        int64_t milli;
    } odd[] = {{-1, 0}, {0, 0}, {1e-9, 1}, {1e300, 1000000000}, {__builtin_nan(""), 0}, {__builtin_inf(), 1000000000}};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        resources.cpus = odd[i].cpus;
        cs_guard_promises_take(&self, &promises);
        cr_expect_eq(promises.cpu_milli, odd[i].milli, "%zu", i);
    }
}

Test(guards_rules, processors_that_are_too_many_to_count) {
    cs_guard_facts facts;
    guards_honest(&facts);
    facts.promises.cpu_milli = 999999999;
    cr_expect_str_eq(judge(&facts, 0, CS_GUARD_CPUS)->configured, "999999.999 processors (Describe)");
    facts.promises.cpu_milli = 1000000000;
    cr_expect_str_eq(judge(&facts, 0, CS_GUARD_CPUS)->configured, "1000000.000 processors or more (Describe)");
}

Test(guards_rules, more_is_tried_than_is_promised) {
    cs_guard_promises promises = {.processes = 4000, .memory_mb = 4096, .disk_mb = 4096, .cpu_milli = 1001};
    cr_expect_eq(cs_guard_want_processes(&promises), 4016);
    cr_expect_eq(cs_guard_want_memory(&promises), 4160);
    cr_expect_eq(cs_guard_want_disk(&promises), 4112);
    cr_expect_eq(cs_guard_want_spinning(&promises), 9);
    promises = (cs_guard_promises){.processes = 4001, .memory_mb = 4097, .disk_mb = 4097, .cpu_milli = 200001};
    cr_expect_eq(cs_guard_want_processes(&promises), 0);
    cr_expect_eq(cs_guard_want_memory(&promises), 0);
    cr_expect_eq(cs_guard_want_disk(&promises), 0);
    cr_expect_eq(cs_guard_want_spinning(&promises), 0);
}

/* ---- words --------------------------------------------------------------------------------------------------- */

Test(guards_rules, every_guard_has_a_word) {
    static const char *const words[CS_GUARDS] = {"files",        "network",   "abstract", "pids",           "syscalls",
                                                 "core-pattern", "processes", "memory",   "process-memory", "file-size",
                                                 "disk",         "cpus",      "time",     "leftovers"};
    cs_guard_id found = CS_GUARDS;
    for (size_t i = 0; i < CS_GUARDS; i++) {
        cr_expect_str_eq(cs_guard_word((cs_guard_id)i), words[i]);
        cr_expect(cs_guard_find(cs_view_of(words[i]), &found));
        cr_expect_eq(found, i);
    }
    cr_expect_not(cs_guard_find(cs_view_of("file"), &found));
    cr_expect_not(cs_guard_find(cs_view_of(""), &found));
    cr_expect_not(cs_guard_find(cs_view_of("files "), &found));
}
