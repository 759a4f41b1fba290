/* The rules as pure functions: an honest daemon's observations, and the same with one thing changed. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/tiers_case.h"

static cs_probe_facts *script(cs_tier_observations *seen) {
    return &seen->inside[CS_PROBE_SCRIPT].facts;
}

static cs_probe_facts *program(cs_tier_observations *seen) {
    return &seen->inside[CS_PROBE_PROGRAM].facts;
}

static void set(char *text, const char *value) {
    (void)snprintf(text, CS_PROBE_TEXT + 1, "%s", value);
}

Test(tiers, an_honest_daemon_is_consistent_with_every_rule) {
    for (cs_tier tier = CS_TIER_PROCESS; tier <= CS_TIER_VM; tier++) {
        cs_tier_observations seen;
        cs_tier_judgement judgements[CS_TIER_MAX_RULES];
        tiers_honest(tier, &seen);
        cr_assert_eq(cs_tier_judge(&seen, tier, CS_DEPTH_HOST, judgements), 0);
        size_t asked = 0;
        for (size_t i = 0; i < cs_tier_rule_count; i++) {
            bool can = (cs_tier_rules[i].refutes & CS_TIER_BIT(tier)) != 0;
            cr_expect_eq(judgements[i].asked, can, "%s", cs_tier_rules[i].name);
            if (!can) continue;
            asked++;
            cr_expect_eq(judgements[i].verdict, CS_TIER_CONSISTENT, "%s, %s: %s", cs_tier_word(tier),
                         cs_tier_rules[i].name, judgements[i].observed);
            cr_expect_neq(judgements[i].observed[0], '\0', "%s", cs_tier_rules[i].name);
        }
        cr_expect_gt(asked, 12);
    }
}

/* ---- twins -------------------------------------------------------------------------------------------- */

typedef void (*change)(cs_tier_observations *seen);

static void tier_after(cs_tier_observations *s) {
    s->said[CS_PROBE_PROGRAM].tier[CS_SAID_AFTER] = cs_view_of("process");
}
static void tier_record_empty(cs_tier_observations *s) {
    s->said[CS_PROBE_SCRIPT].tier[CS_SAID_RESPONSE] = cs_view_of("");
}
static void provider_response(cs_tier_observations *s) {
    s->said[CS_PROBE_SCRIPT].provider[CS_SAID_RESPONSE] = cs_view_of("other");
}
static void policy_record(cs_tier_observations *s) {
    s->said[CS_PROBE_SCRIPT].policy[CS_SAID_RECORD] = cs_view_of("policy:2");
}
static void floor_higher(cs_tier_observations *s) {
    s->said[CS_PROBE_SCRIPT].floor = cs_view_of("vm");
}
static void ledger_other(cs_tier_observations *s) {
    s->ledger.other = 1;
    s->ledger.other_entry = 17;
    s->ledger.other_tier = CS_TIER_PROCESS;
}
static void ledger_none(cs_tier_observations *s) {
    s->ledger = (cs_ledger_said){0};
}
static void ledger_empty(cs_tier_observations *s) {
    s->ledger.same = 0;
}
static void nonce_wrong(cs_tier_observations *s) {
    s->inside[CS_PROBE_SCRIPT].wrong = true;
}
static void unread_program(cs_tier_observations *s) {
    s->inside[CS_PROBE_PROGRAM] = (cs_inside){0};
}
static void unread(cs_tier_observations *s) {
    s->inside[CS_PROBE_SCRIPT] = s->inside[CS_PROBE_PROGRAM] = (cs_inside){0};
}
static void mseal_answers(cs_tier_observations *s) {
    program(s)->mseal = 22;
}
static void mseal_succeeds(cs_tier_observations *s) {
    program(s)->mseal = 0;
}
static void getattr_answers(cs_tier_observations *s) {
    program(s)->file_getattr = 9;
}
static void landlock_too_new(cs_tier_observations *s) {
    program(s)->landlock_abi = 3; /* of 6.2; the guest is 6.1 */
}
static void vendor_release(cs_tier_observations *s) {
    mseal_answers(s);
    set(program(s)->release, "5.14.0-503.el9.x86_64");
}
static void odd_release(cs_tier_observations *s) {
    mseal_answers(s);
    set(program(s)->release, "x6.1");
}
static void no_control(cs_tier_observations *s) {
    program(s)->no_call = 1;
}
static void control_and_landlock(cs_tier_observations *s) {
    program(s)->landlock_abi = 1;
    no_control(s);
}
static void control_and_mseal(cs_tier_observations *s) {
    mseal_answers(s);
    no_control(s);
}
static void landlock_one(cs_tier_observations *s) {
    program(s)->landlock_abi = 1;
}
static void landlock_unsupported(cs_tier_observations *s) {
    program(s)->landlock_abi = -95;
}
static void landlock_unknown(cs_tier_observations *s) {
    program(s)->landlock_abi = CS_PROBE_UNKNOWN;
}
static void log_gvisor(cs_tier_observations *s) {
    script(s)->kernel_log_gvisor = CS_SIGN_PRESENT;
}
static void log_unknown(cs_tier_observations *s) {
    script(s)->kernel_log_gvisor = program(s)->kernel_log_gvisor = CS_SIGN_UNKNOWN;
}
static void calls_missing(cs_tier_observations *s) {
    program(s)->vmsplice = program(s)->remap_file_pages = 38;
}
static void call_missing(cs_tier_observations *s) {
    program(s)->vmsplice = 38;
}
static void calls_missing_no_control(cs_tier_observations *s) {
    calls_missing(s);
    no_control(s);
}
static void first_pid(cs_tier_observations *s) {
    script(s)->pid_ns = 4026531836;
}
static void first_ipc(cs_tier_observations *s) {
    program(s)->ipc_ns = 4026531839;
}
static void ns_unknown(cs_tier_observations *s) {
    script(s)->pid_ns = program(s)->pid_ns = CS_PROBE_UNKNOWN;
}
static void inside_no_filter(cs_tier_observations *s) {
    script(s)->seccomp = 0;
}
static void inside_privileges(cs_tier_observations *s) {
    script(s)->no_new_privs = 0;
}
static void inside_capable(cs_tier_observations *s) {
    program(s)->capable = 1;
}
static void inside_unknown(cs_tier_observations *s) {
    script(s)->seccomp = program(s)->seccomp = CS_PROBE_UNKNOWN;
}
static void token_shows(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].token_seen = true;
    s->outside[CS_PROBE_SCRIPT].workload = (cs_host_process){.pid = 5};
}
static void token_hidden(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].token_seen = s->outside[CS_PROBE_PROGRAM].token_seen = false;
}
static void elsewhere(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].place = s->outside[CS_PROBE_PROGRAM].place = CS_HOST_ELSEWHERE;
}
static void only_listener(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].place = s->outside[CS_PROBE_PROGRAM].place = CS_HOST_LISTENER;
}
static void hidden_and_listener(cs_tier_observations *s) {
    token_hidden(s);
    only_listener(s);
}
static void hidden_and_unread(cs_tier_observations *s) {
    token_hidden(s);
    unread(s);
}
static void not_root(cs_tier_observations *s) {
    s->host.all = false;
    (void)snprintf(s->host.why, sizeof s->host.why, "not root");
}
static void hidden_not_root(cs_tier_observations *s) {
    token_hidden(s);
    not_root(s);
}
static void unwatched(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT] = s->outside[CS_PROBE_PROGRAM] = (cs_host_sighting){0};
}
static void program_shows(cs_tier_observations *s) {
    s->outside[CS_PROBE_PROGRAM].program_seen = true;
}
static void follows(cs_tier_observations *s) {
    for (size_t i = 0; i < 64; i++)
        program(s)->processes[i] = 30 + (i >= 8 && i / 8 % 2 == 1 ? 125 : 0);
}
static void follows_once(cs_tier_observations *s) {
    for (size_t i = 8; i < 16; i++)
        program(s)->processes[i] += 128;
}
static void follows_small(cs_tier_observations *s) {
    for (size_t i = 0; i < 64; i++)
        program(s)->processes[i] = 30 + (i / 8 % 2 == 1 ? 90 : 0);
}
static void follows_unpulsed(cs_tier_observations *s) {
    follows(s);
    s->outside[CS_PROBE_PROGRAM].pulses = 1;
}
static void few_samples(cs_tier_observations *s) {
    program(s)->process_samples = 15;
}
static void same_boot(cs_tier_observations *s) {
    set(script(s)->boot_id, s->host.boot_id);
}
static void no_boot(cs_tier_observations *s) {
    script(s)->boot_id[0] = program(s)->boot_id[0] = '\0';
}
static void no_boot_anywhere(cs_tier_observations *s) {
    no_boot(s);
    s->host.boot_id[0] = '\0';
}
static void clock_near(cs_tier_observations *s) {
    script(s)->clock_us = s->host.clock_us - 50000;
}
static void clock_not_near(cs_tier_observations *s) {
    script(s)->clock_us = s->host.clock_us - 50001;
}
static void clock_unknown(cs_tier_observations *s) {
    script(s)->clock_us = program(s)->clock_us = CS_PROBE_UNKNOWN;
}
static void same_kernel(cs_tier_observations *s) {
    set(script(s)->release, s->host.release);
    set(script(s)->version, s->host.version);
}
static void same_release(cs_tier_observations *s) {
    set(script(s)->release, s->host.release);
}
static void no_monitor(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].monitor_below = s->outside[CS_PROBE_PROGRAM].monitor_below = false;
}
static void monitor_elsewhere(cs_tier_observations *s) {
    no_monitor(s);
    s->outside[CS_PROBE_PROGRAM].monitor_anywhere = true;
}
static void no_monitor_listener(cs_tier_observations *s) {
    no_monitor(s);
    only_listener(s);
}
static void no_monitor_not_root(cs_tier_observations *s) {
    no_monitor(s);
    not_root(s);
}
static void monitor_shows(cs_tier_observations *s) {
    s->outside[CS_PROBE_PROGRAM].monitor_below = true;
}
static void monitor_and_hidden(cs_tier_observations *s) {
    monitor_shows(s);
    token_hidden(s);
}
static void shares_pid(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].workload.same_pid_ns = 1;
}
static void shares_mnt(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].workload.same_mnt_ns = 1;
}
static void shares_net(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].workload.same_net_ns = 1;
}
static void shares_ipc(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].workload.same_ipc_ns = 1;
}
static void one_pid(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].workload.ns_depth = 1;
}
static void outside_ns_unknown(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].workload.same_net_ns = CS_PROBE_UNKNOWN;
}
static void apart(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].apart = 1;
}
static void apart_unknown(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].apart = CS_PROBE_UNKNOWN;
}
static void root_with_capabilities(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].workload.uid = 0;
    s->outside[CS_PROBE_SCRIPT].workload.capable = 1;
}
static void capable(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].workload.capable = 1;
}
static void root(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].workload.uid = 0;
}
static void rights_unknown(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].workload.uid = CS_PROBE_UNKNOWN;
}
static void no_filter(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].workload.seccomp = 0;
}
static void no_filters(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].workload.seccomp_filters = 0;
}
static void new_privileges(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].workload.no_new_privs = 0;
}
static void filters_unknown(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].workload.seccomp_filters = CS_PROBE_UNKNOWN;
}
static void reads_file(cs_tier_observations *s) {
    set(script(s)->canary, TIERS_CANARY);
}
static void reads_other_file(cs_tier_observations *s) {
    set(script(s)->canary, "a2a1b5180d4245f1ca42b7cae859b217e8e8dfee00d763cc4418902227f87ecf");
}
static void no_file(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].canary_laid = s->outside[CS_PROBE_PROGRAM].canary_laid = false;
}
static void reaches_port(cs_tier_observations *s) {
    s->outside[CS_PROBE_PROGRAM].port_reached = true;
}
/* Says that it connected, and nobody did. */
static void says_it_connected(cs_tier_observations *s) {
    script(s)->loopback = 0;
}
static void no_port(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].port_open = s->outside[CS_PROBE_PROGRAM].port_open = false;
}

static void reads_file_listener(cs_tier_observations *s) {
    reads_file(s);
    only_listener(s);
}
static void reaches_port_listener(cs_tier_observations *s) {
    reaches_port(s);
    only_listener(s);
}

typedef struct twin {
    const char *rule;
    cs_tier claim;
    change change;
    cs_tier_verdict verdict;
} twin;

#define P CS_TIER_PROCESS
#define C CS_TIER_CONTAINER
#define K CS_TIER_KERNEL
#define V CS_TIER_VM
#define AGAINST CS_TIER_CONTRADICTED
#define STILL CS_TIER_CONSISTENT
#define SILENT CS_TIER_SILENT

static const twin twins[] = {
    {"tier-statements", V, tier_after, AGAINST},
    {"tier-statements", P, tier_record_empty, AGAINST},
    {"provider-statements", C, provider_response, AGAINST},
    {"policy-statements", K, policy_record, AGAINST},
    {"floor-statements", K, floor_higher, AGAINST},
    {"ledger-statements", C, ledger_other, AGAINST},
    {"ledger-statements", C, ledger_none, SILENT},
    {"ledger-statements", C, ledger_empty, SILENT},
    {"probe-nonce", P, nonce_wrong, AGAINST},
    {"probe-nonce", P, unread, SILENT},
    {"newer-system-calls", V, mseal_answers, AGAINST},
    {"newer-system-calls", K, mseal_succeeds, AGAINST},
    {"newer-system-calls", K, getattr_answers, AGAINST},
    {"newer-system-calls", V, landlock_too_new, AGAINST},
    {"newer-system-calls", V, vendor_release, SILENT},
    {"newer-system-calls", V, odd_release, SILENT},
    {"newer-system-calls", V, control_and_mseal, SILENT},
    {"newer-system-calls", V, unread_program, SILENT},
    {"landlock-answers", K, landlock_one, AGAINST},
    {"landlock-answers", K, landlock_unsupported, STILL},
    {"landlock-answers", K, landlock_unknown, SILENT},
    {"landlock-answers", K, control_and_landlock, SILENT},
    {"gvisor-log", V, log_gvisor, AGAINST},
    {"gvisor-log", C, log_gvisor, AGAINST},
    {"gvisor-log", V, log_unknown, SILENT},
    {"gvisor-missing-calls", V, calls_missing, AGAINST},
    {"gvisor-missing-calls", P, calls_missing, AGAINST},
    {"gvisor-missing-calls", V, call_missing, STILL},
    {"gvisor-missing-calls", V, calls_missing_no_control, SILENT},
    {"first-namespaces", C, first_pid, AGAINST},
    {"first-namespaces", C, first_ipc, AGAINST},
    {"first-namespaces", C, ns_unknown, SILENT},
    {"unconfined-inside", P, inside_no_filter, AGAINST},
    {"unconfined-inside", P, inside_privileges, AGAINST},
    {"unconfined-inside", P, inside_capable, AGAINST},
    {"unconfined-inside", P, inside_unknown, SILENT},
    {"token-on-host", V, token_shows, AGAINST},
    {"token-on-host", K, token_shows, AGAINST},
    {"token-on-host", V, elsewhere, SILENT},
    {"token-on-host", V, only_listener, SILENT},
    {"token-on-host", V, not_root, SILENT},
    {"token-on-host", V, unwatched, SILENT},
    {"program-on-host", V, program_shows, AGAINST},
    {"program-on-host", K, only_listener, SILENT},
    {"program-on-host", K, unread_program, SILENT},
    {"process-count", V, follows, AGAINST},
    {"process-count", K, follows, AGAINST},
    {"process-count", V, follows_once, STILL},
    {"process-count", V, follows_small, STILL},
    {"process-count", V, follows_unpulsed, SILENT},
    {"process-count", V, few_samples, SILENT},
    {"process-count", V, elsewhere, SILENT},
    {"boot-id", V, same_boot, AGAINST},
    {"boot-id", V, no_boot, SILENT},
    {"boot-id", V, no_boot_anywhere, SILENT},
    {"clock-offset", K, clock_near, AGAINST},
    {"clock-offset", K, clock_not_near, STILL},
    {"clock-offset", K, clock_unknown, SILENT},
    {"kernel-identity", K, same_kernel, AGAINST},
    {"kernel-identity", V, same_kernel, SILENT},
    {"kernel-identity", K, same_release, STILL},
    {"no-monitor", V, no_monitor, AGAINST},
    {"no-monitor", V, monitor_elsewhere, SILENT},
    {"no-monitor", V, no_monitor_listener, SILENT},
    {"no-monitor", V, no_monitor_not_root, SILENT},
    {"token-not-on-host", C, token_hidden, AGAINST},
    {"token-not-on-host", P, hidden_and_listener, SILENT},
    {"token-not-on-host", P, hidden_not_root, SILENT},
    {"token-not-on-host", P, hidden_and_unread, SILENT},
    {"monitor-below", K, monitor_shows, AGAINST},
    {"monitor-below", C, monitor_and_hidden, AGAINST},
    {"monitor-below", C, monitor_shows, STILL}, /* the work is a process of this machine all the same */
    {"monitor-below", K, only_listener, SILENT},
    {"host-namespaces", C, shares_pid, AGAINST},
    {"host-namespaces", C, shares_mnt, AGAINST},
    {"host-namespaces", C, shares_net, AGAINST},
    {"host-namespaces", C, shares_ipc, AGAINST},
    {"host-namespaces", C, one_pid, AGAINST},
    {"host-namespaces", C, outside_ns_unknown, SILENT},
    {"host-namespaces", C, token_hidden, SILENT},
    {"host-apart", P, apart, AGAINST},
    {"host-apart", P, apart_unknown, SILENT},
    {"host-root", C, root_with_capabilities, AGAINST},
    {"host-root", C, capable, STILL},
    {"host-root", C, root, STILL},
    {"host-root", C, rights_unknown, SILENT},
    {"host-unconfined", P, no_filter, AGAINST},
    {"host-unconfined", P, no_filters, AGAINST},
    {"host-unconfined", P, new_privileges, AGAINST},
    {"host-unconfined", P, capable, AGAINST},
    {"host-unconfined", P, root, AGAINST},
    {"host-unconfined", P, rights_unknown, SILENT},
    {"host-unconfined", P, filters_unknown, STILL}, /* older kernels do not tell */
    {"host-file", C, reads_file, AGAINST},
    {"host-file", P, reads_file, AGAINST},
    {"host-file", C, reads_other_file, STILL},
    {"host-file", C, no_file, SILENT},
    {"host-file", C, only_listener, SILENT},
    {"host-file", P, elsewhere, SILENT},
    {"host-file", C, reads_file_listener, AGAINST},
    {"host-loopback", C, reaches_port, AGAINST},
    {"host-loopback", P, reaches_port, AGAINST},
    {"host-loopback", C, says_it_connected, STILL},
    {"host-loopback", C, no_port, SILENT},
    {"host-loopback", C, only_listener, SILENT},
    {"host-loopback", P, elsewhere, SILENT},
    {"host-loopback", C, reaches_port_listener, AGAINST},
};
#define TWIN_COUNT (sizeof twins / sizeof twins[0])

Test(tiers, one_change_and_the_rule_speaks) {
    for (size_t i = 0; i < TWIN_COUNT; i++) {
        const twin *t = &twins[i];
        cs_tier_observations seen;
        cs_tier_judgement judgements[CS_TIER_MAX_RULES];
        tiers_honest(t->claim, &seen);
        t->change(&seen);
        (void)cs_tier_judge(&seen, t->claim, CS_DEPTH_HOST, judgements);
        const cs_tier_judgement *judgement = &judgements[tiers_rule(t->rule)];
        cr_expect(judgement->asked, "twin %zu, %s", i, t->rule);
        cr_expect_eq(judgement->verdict, t->verdict, "twin %zu, %s: %s: %s", i, t->rule,
                     cs_tier_verdict_word(judgement->verdict), judgement->observed);
    }
}

Test(tiers, every_rule_has_a_twin_that_contradicts) {
    for (size_t rule = 0; rule < cs_tier_rule_count; rule++) {
        bool found = false;
        for (size_t i = 0; i < TWIN_COUNT; i++)
            found = found || (twins[i].verdict == AGAINST && strcmp(twins[i].rule, cs_tier_rules[rule].name) == 0);
        cr_expect(found, "%s", cs_tier_rules[rule].name);
    }
}

static const char *observed_of(const cs_tier_observations *seen, cs_tier claim, const char *rule) {
    static cs_tier_judgement judgements[CS_TIER_MAX_RULES];
    (void)cs_tier_judge(seen, claim, CS_DEPTH_HOST, judgements);
    return judgements[tiers_rule(rule)].observed;
}

/* The program is left out where the daemon runs no projects: the machine was watched all the same. */
Test(tiers, what_was_not_done_is_said) {
    static const struct {
        const char *rule;
        cs_tier claim;
    } rules[] = {{"program-on-host", V}, {"process-count", V}, {"host-file", C}, {"host-loopback", C}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        cs_tier_observations seen;
        tiers_honest(rules[i].claim, &seen);
        unwatched(&seen);
        cr_expect_str_eq(observed_of(&seen, rules[i].claim, rules[i].rule), "this machine was not watched", "%s",
                         rules[i].rule);
        if (rules[i].claim == C) continue;
        tiers_honest(rules[i].claim, &seen);
        seen.outside[CS_PROBE_PROGRAM] = (cs_host_sighting){0};
        seen.inside[CS_PROBE_PROGRAM] = (cs_inside){0};
        cr_expect_str_eq(observed_of(&seen, V, rules[i].rule), "the probe's program was not run");
        (void)snprintf(seen.inside[CS_PROBE_PROGRAM].why, sizeof seen.inside[0].why, "no projects");
        cr_expect_str_eq(observed_of(&seen, V, rules[i].rule), "the probe's program was not run: no projects");
        seen.outside[CS_PROBE_PROGRAM].watched = true;
        cr_expect_str_eq(observed_of(&seen, V, rules[i].rule),
                         "the probe's program gave no answer that can be read: no projects");
    }
}

/* ---- the table --------------------------------------------------------------------------------------------- */

Test(tiers, depth_and_claim_decide_who_is_asked) {
    cs_tier_observations seen;
    cs_tier_judgement judgements[CS_TIER_MAX_RULES];
    tiers_honest(CS_TIER_VM, &seen);
    mseal_answers(&seen);
    token_shows(&seen);
    cr_expect_eq(cs_tier_judge(&seen, CS_TIER_VM, CS_DEPTH_STATEMENTS, judgements), 0);
    cr_expect_not(judgements[tiers_rule("newer-system-calls")].asked);
    cr_expect_eq(cs_tier_judge(&seen, CS_TIER_VM, CS_DEPTH_PROBE, judgements), 1);
    cr_expect(judgements[tiers_rule("newer-system-calls")].asked);
    cr_expect_not(judgements[tiers_rule("token-on-host")].asked);
    cr_expect_eq(cs_tier_judge(&seen, CS_TIER_VM, CS_DEPTH_HOST, judgements), 2);
    cr_expect_eq(cs_tier_judge(&seen, CS_TIER_UNKNOWN, CS_DEPTH_HOST, judgements), 0);
    cr_expect_eq(cs_tier_judge(&seen, CS_TIER_NONE, CS_DEPTH_HOST, judgements), 0);
    for (size_t i = 0; i < cs_tier_rule_count; i++)
        cr_expect_not(judgements[i].asked);
}

/* What a daemon says stands in observations escaped, and in their bounds. */
Test(tiers, what_a_daemon_says_is_escaped) {
    cs_tier_observations seen;
    cs_tier_judgement judgements[CS_TIER_MAX_RULES];
    tiers_honest(CS_TIER_VM, &seen);
    char longest[CS_PROBE_TEXT + 1];
    memset(longest, '\x1b', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    seen.said[0].tier[CS_SAID_AFTER] = cs_view_of(longest);
    set(program(&seen)->release, longest);
    memcpy(program(&seen)->release, "6.1", 3);
    mseal_answers(&seen);
    (void)cs_tier_judge(&seen, CS_TIER_VM, CS_DEPTH_HOST, judgements);
    cr_expect_eq(judgements[tiers_rule("tier-statements")].verdict, CS_TIER_CONTRADICTED);
    cr_expect_eq(judgements[tiers_rule("newer-system-calls")].verdict, CS_TIER_CONTRADICTED);
    for (size_t i = 0; i < cs_tier_rule_count; i++)
        cr_expect_null(strchr(judgements[i].observed, '\x1b'), "%s", cs_tier_rules[i].name);
    cr_expect_not_null(strstr(judgements[tiers_rule("newer-system-calls")].observed, "\\x1b"), "%s",
                       judgements[tiers_rule("newer-system-calls")].observed);
}

/* Samples of a stranger, at the ends of their range. */
Test(tiers, wild_samples_are_counted_in_bounds) {
    cs_tier_observations seen;
    cs_tier_judgement judgements[CS_TIER_MAX_RULES];
    tiers_honest(CS_TIER_VM, &seen);
    for (size_t i = 0; i < CS_PROBE_SAMPLES; i++)
        program(&seen)->processes[i] = i % 2 == 0 ? UINT32_MAX : 0;
    program(&seen)->process_samples = CS_PROBE_SAMPLES;
    (void)cs_tier_judge(&seen, CS_TIER_VM, CS_DEPTH_HOST, judgements);
    cr_expect_eq(judgements[tiers_rule("process-count")].verdict, CS_TIER_CONSISTENT);
}

Test(tiers, rules_have_names_and_say_what_could_fool_them) {
    for (size_t i = 0; i < cs_tier_rule_count; i++) {
        const cs_tier_rule *rule = &cs_tier_rules[i];
        cr_expect_eq(strspn(rule->name, "abcdefghijklmnopqrstuvwxyz-"), strlen(rule->name), "%s", rule->name);
        cr_expect_gt(strlen(rule->fooled), 10, "%s", rule->name);
        cr_expect_neq(rule->refutes & CS_TIER_ANY, 0, "%s", rule->name);
        for (size_t k = 0; k < i; k++)
            cr_expect_str_neq(rule->name, cs_tier_rules[k].name);
    }
}
