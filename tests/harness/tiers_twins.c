/* One thing changed in what was observed of an honest daemon, and what a rule then says. */
#include "tests/harness/tiers_twins.h"

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
static void ledger_refuted(cs_tier_observations *s) {
    s->ledger.refuted = 1;
    s->ledger.refuted_entry = 17;
}
static void ledger_unread(cs_tier_observations *s) {
    s->ledger.unread = 1;
    s->ledger.unread_entry = 17;
}
static void ledger_refuted_and_unread(cs_tier_observations *s) {
    ledger_refuted(s);
    ledger_unread(s);
}
static void ledger_other_and_unread(cs_tier_observations *s) {
    ledger_other(s);
    ledger_unread(s);
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
void tiers_mseal_answers(cs_tier_observations *s) {
    tiers_program(s)->mseal = 22;
}
static void mseal_succeeds(cs_tier_observations *s) {
    tiers_program(s)->mseal = 0;
}
static void getattr_answers(cs_tier_observations *s) {
    tiers_program(s)->file_getattr = 9;
}
static void landlock_too_new(cs_tier_observations *s) {
    tiers_program(s)->landlock_abi = 3; /* of 6.2; the guest is 6.1 */
}
static void vendor_release(cs_tier_observations *s) {
    tiers_mseal_answers(s);
    tiers_set(tiers_program(s)->release, "5.14.0-503.el9.x86_64");
}
static void odd_release(cs_tier_observations *s) {
    tiers_mseal_answers(s);
    tiers_set(tiers_program(s)->release, "x6.1");
}
static void no_control(cs_tier_observations *s) {
    tiers_program(s)->no_call = 1;
}
static void control_and_landlock(cs_tier_observations *s) {
    tiers_program(s)->landlock_abi = 1;
    no_control(s);
}
static void control_and_mseal(cs_tier_observations *s) {
    tiers_mseal_answers(s);
    no_control(s);
}
static void landlock_one(cs_tier_observations *s) {
    tiers_program(s)->landlock_abi = 1;
}
static void landlock_unsupported(cs_tier_observations *s) {
    tiers_program(s)->landlock_abi = -95;
}
static void landlock_unknown(cs_tier_observations *s) {
    tiers_program(s)->landlock_abi = CS_PROBE_UNKNOWN;
}
static void log_gvisor(cs_tier_observations *s) {
    tiers_script(s)->kernel_log_gvisor = CS_SIGN_PRESENT;
}
static void log_unknown(cs_tier_observations *s) {
    tiers_script(s)->kernel_log_gvisor = tiers_program(s)->kernel_log_gvisor = CS_SIGN_UNKNOWN;
}
static void calls_missing(cs_tier_observations *s) {
    tiers_program(s)->vmsplice = tiers_program(s)->remap_file_pages = 38;
}
static void call_missing(cs_tier_observations *s) {
    tiers_program(s)->vmsplice = 38;
}
static void calls_missing_no_control(cs_tier_observations *s) {
    calls_missing(s);
    no_control(s);
}
static void first_pid(cs_tier_observations *s) {
    tiers_script(s)->pid_ns = 4026531836;
}
static void first_ipc(cs_tier_observations *s) {
    tiers_program(s)->ipc_ns = 4026531839;
}
static void ns_unknown(cs_tier_observations *s) {
    tiers_script(s)->pid_ns = tiers_program(s)->pid_ns = CS_PROBE_UNKNOWN;
}
static void inside_no_filter(cs_tier_observations *s) {
    tiers_script(s)->seccomp = 0;
}
static void inside_privileges(cs_tier_observations *s) {
    tiers_script(s)->no_new_privs = 0;
}
static void inside_capable(cs_tier_observations *s) {
    tiers_program(s)->capable = 1;
}
static void inside_unknown(cs_tier_observations *s) {
    tiers_script(s)->seccomp = tiers_program(s)->seccomp = CS_PROBE_UNKNOWN;
}
void tiers_token_shows(cs_tier_observations *s) {
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
void tiers_unwatched(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT] = s->outside[CS_PROBE_PROGRAM] = (cs_host_sighting){0};
}
static void program_shows(cs_tier_observations *s) {
    s->outside[CS_PROBE_PROGRAM].program_seen = true;
}
static void follows(cs_tier_observations *s) {
    for (size_t i = 0; i < 64; i++)
        tiers_program(s)->processes[i] = 30 + (i >= 8 && i / 8 % 2 == 1 ? 125 : 0);
}
static void follows_once(cs_tier_observations *s) {
    for (size_t i = 8; i < 16; i++)
        tiers_program(s)->processes[i] += 128;
}
static void follows_small(cs_tier_observations *s) {
    for (size_t i = 0; i < 64; i++)
        tiers_program(s)->processes[i] = 30 + (i / 8 % 2 == 1 ? 90 : 0);
}
static void follows_unpulsed(cs_tier_observations *s) {
    follows(s);
    s->outside[CS_PROBE_PROGRAM].pulses = 1;
}
static void few_samples(cs_tier_observations *s) {
    tiers_program(s)->process_samples = 15;
}
static void same_boot(cs_tier_observations *s) {
    tiers_set(tiers_script(s)->boot_id, s->host.boot_id);
}
static void no_boot(cs_tier_observations *s) {
    tiers_script(s)->boot_id[0] = tiers_program(s)->boot_id[0] = '\0';
}
static void no_boot_anywhere(cs_tier_observations *s) {
    no_boot(s);
    s->host.boot_id[0] = '\0';
}
static void clock_near(cs_tier_observations *s) {
    tiers_script(s)->clock_us = s->host.clock_us - 50000;
}
static void clock_not_near(cs_tier_observations *s) {
    tiers_script(s)->clock_us = s->host.clock_us - 50001;
}
static void clock_unknown(cs_tier_observations *s) {
    tiers_script(s)->clock_us = tiers_program(s)->clock_us = CS_PROBE_UNKNOWN;
}
static void same_kernel(cs_tier_observations *s) {
    tiers_set(tiers_script(s)->release, s->host.release);
    tiers_set(tiers_script(s)->version, s->host.version);
}
static void same_release(cs_tier_observations *s) {
    tiers_set(tiers_script(s)->release, s->host.release);
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
    tiers_set(tiers_script(s)->canary, TIERS_CANARY);
}
static void reads_other_file(cs_tier_observations *s) {
    tiers_set(tiers_script(s)->canary, "a2a1b5180d4245f1ca42b7cae859b217e8e8dfee00d763cc4418902227f87ecf");
}
static void no_file(cs_tier_observations *s) {
    s->outside[CS_PROBE_SCRIPT].canary_laid = s->outside[CS_PROBE_PROGRAM].canary_laid = false;
}
static void reaches_port(cs_tier_observations *s) {
    s->outside[CS_PROBE_PROGRAM].port_reached = true;
}
/* Says that it connected, and nobody did. */
static void says_it_connected(cs_tier_observations *s) {
    tiers_script(s)->loopback = 0;
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

#define P CS_TIER_PROCESS
#define C CS_TIER_CONTAINER
#define K CS_TIER_KERNEL
#define V CS_TIER_VM
#define AGAINST CS_TIER_CONTRADICTED
#define STILL CS_TIER_CONSISTENT
#define SILENT CS_TIER_SILENT

const tiers_twin tiers_twins[] = {
    {"tier-statements", V, tier_after, AGAINST},
    {"tier-statements", P, tier_record_empty, AGAINST},
    {"provider-statements", C, provider_response, AGAINST},
    {"policy-statements", K, policy_record, AGAINST},
    {"floor-statements", K, floor_higher, AGAINST},
    {"ledger-statements", C, ledger_other, AGAINST},
    {"ledger-statements", C, ledger_refuted, AGAINST},
    {"ledger-statements", C, ledger_refuted_and_unread, AGAINST},
    {"ledger-statements", C, ledger_other_and_unread, AGAINST},
    {"ledger-statements", C, ledger_unread, SILENT},
    {"ledger-statements", C, ledger_none, SILENT},
    {"ledger-statements", C, ledger_empty, SILENT},
    {"probe-nonce", P, nonce_wrong, AGAINST},
    {"probe-nonce", P, unread, SILENT},
    {"newer-system-calls", V, tiers_mseal_answers, AGAINST},
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
    {"token-on-host", V, tiers_token_shows, AGAINST},
    {"token-on-host", K, tiers_token_shows, AGAINST},
    {"token-on-host", V, elsewhere, SILENT},
    {"token-on-host", V, only_listener, SILENT},
    {"token-on-host", V, not_root, SILENT},
    {"token-on-host", V, tiers_unwatched, SILENT},
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
const size_t tiers_twin_count = sizeof tiers_twins / sizeof tiers_twins[0];
