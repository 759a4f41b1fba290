#include "harness/tiers.h"

#include <stdarg.h>
#include <stdio.h>

#include "harness/tiers_rules.h"
#include "records/text.h"

const char *cs_tier_verdict_word(cs_tier_verdict verdict) {
    switch (verdict) {
    case CS_TIER_CONSISTENT:
        return "consistent";
    case CS_TIER_CONTRADICTED:
        return "contradicted";
    case CS_TIER_SILENT:
        break;
    }
    return "silent";
}

#define CONTAINER CS_TIER_BIT(CS_TIER_CONTAINER)
#define KERNEL CS_TIER_BIT(CS_TIER_KERNEL)
#define VM CS_TIER_BIT(CS_TIER_VM)

/* In the order of the report. "Fooled" says how a rule may contradict an honest daemon, or miss a false one. */
const cs_tier_rule cs_tier_rules[] = {
    {"tier-statements", CS_DEPTH_STATEMENTS, CS_TIER_ANY, "a daemon that always tells the same lie stays consistent",
     cs_rule_tier_statements},
    {"provider-statements", CS_DEPTH_STATEMENTS, CS_TIER_ANY,
     "a daemon that always tells the same lie stays consistent", cs_rule_provider_statements},
    {"policy-statements", CS_DEPTH_STATEMENTS, CS_TIER_ANY, "a daemon that always tells the same lie stays consistent",
     cs_rule_policy_statements},
    {"floor-statements", CS_DEPTH_STATEMENTS, CS_TIER_ANY, "a daemon that always tells the same lie stays consistent",
     cs_rule_floor_statements},
    {"ledger-statements", CS_DEPTH_STATEMENTS, CS_TIER_ANY,
     "another daemon that once had the same address, provider, policy and environment", cs_rule_ledger_statements},
    {"probe-nonce", CS_DEPTH_PROBE, CS_TIER_ANY,
     "a daemon that computes the probe's digest itself over made-up answers", cs_rule_probe_nonce},
    {"newer-system-calls", CS_DEPTH_PROBE, CS_TIER_STRONG,
     "a kernel with system calls of newer releases patched in; a filter that answers ENOSYS for them",
     cs_rule_newer_system_calls},
    {"landlock-answers", CS_DEPTH_PROBE, KERNEL,
     "a later gVisor that has Landlock; a host kernel without it, or a filter that answers for it",
     cs_rule_landlock_answers},
    {"gvisor-log", CS_DEPTH_PROBE, CS_TIER_WEAK | VM,
     "someone who wrote the word into a real kernel's log; a log that can't be read", cs_rule_gvisor_log},
    {"gvisor-missing-calls", CS_DEPTH_PROBE, CS_TIER_WEAK | VM,
     "a filter that answers ENOSYS for these calls; a later gVisor that has them", cs_rule_gvisor_missing_calls},
    {"first-namespaces", CS_DEPTH_PROBE, CONTAINER,
     "a forged /proc; a daemon that is itself in a container and gives runs nothing of their own",
     cs_rule_first_namespaces},
    {"unconfined-inside", CS_DEPTH_PROBE, CS_TIER_BIT(CS_TIER_PROCESS), "a forged /proc", cs_rule_unconfined_inside},
    {"token-on-host", CS_DEPTH_HOST, CS_TIER_STRONG,
     "a daemon that computes the token and shows it; one that hides the arguments of its processes; a forwarder that "
     "starts a program of its own for each connection",
     cs_rule_token_on_host},
    {"program-on-host", CS_DEPTH_HOST, CS_TIER_STRONG,
     "a daemon that runs the probe a second time outside; one that runs it as a part of another program; a forwarder "
     "that starts a program of its own for each connection",
     cs_rule_program_on_host},
    {"process-count", CS_DEPTH_HOST, CS_TIER_STRONG,
     "a guest that is told of this machine's processes; work of its own that comes and goes in the same measure; a "
     "forwarder that starts a program of its own for each connection",
     cs_rule_process_count},
    {"boot-id", CS_DEPTH_HOST, CS_TIER_STRONG,
     "a forged /proc, in both directions; a guest that was given this machine's", cs_rule_boot_id},
    {"clock-offset", CS_DEPTH_HOST, CS_TIER_STRONG,
     "a time namespace; a guest whose monotonic clock was set to this machine's", cs_rule_clock_offset},
    {"kernel-identity", CS_DEPTH_HOST, CS_TIER_STRONG, "a forged or changed uname", cs_rule_kernel_identity},
    {"no-monitor", CS_DEPTH_HOST, VM,
     "a monitor with a name that is not known here and without KVM; a program of such a name and size that is none; a "
     "daemon that has it started elsewhere; a forwarder that starts a program of its own for each connection",
     cs_rule_no_monitor},
    {"token-not-on-host", CS_DEPTH_HOST, CS_TIER_WEAK,
     "a daemon that hands its work on to another machine, or hides the arguments of its processes; a forwarder that "
     "starts a program of its own for each connection",
     cs_rule_token_not_on_host},
    {"monitor-below", CS_DEPTH_HOST, CS_TIER_WEAK | KERNEL,
     "a monitor that serves another caller's run; a program of a monitor's name and size that is none",
     cs_rule_monitor_below},
    {"host-namespaces", CS_DEPTH_HOST, CONTAINER, "this program being in a container itself, together with the daemon",
     cs_rule_host_namespaces},
    {"host-apart", CS_DEPTH_HOST, CS_TIER_BIT(CS_TIER_PROCESS), "nothing that is known", cs_rule_host_apart},
    {"host-root", CS_DEPTH_HOST, CONTAINER, "this program being in a user namespace itself", cs_rule_host_root},
    {"host-unconfined", CS_DEPTH_HOST, CS_TIER_BIT(CS_TIER_PROCESS),
     "walls that the kernel does not show, as Landlock's", cs_rule_host_unconfined},
    {"host-file", CS_DEPTH_HOST, CS_TIER_WEAK,
     "a daemon that shares /var/tmp or /tmp with its runs on purpose; a forwarder that starts a program of its own for "
     "each connection",
     cs_rule_host_file},
    {"host-loopback", CS_DEPTH_HOST, CS_TIER_WEAK,
     "a daemon that passes connections on to this machine on purpose; a forwarder that starts a program of its own for "
     "each connection",
     cs_rule_host_loopback},
};
const size_t cs_tier_rule_count = sizeof cs_tier_rules / sizeof cs_tier_rules[0];
_Static_assert(sizeof cs_tier_rules / sizeof cs_tier_rules[0] <= CS_TIER_MAX_RULES,
               "a report has no room for all rules");

cs_tier_verdict cs_rule_say(char *observed, cs_tier_verdict verdict, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(observed, CS_TIER_OBSERVED, fmt, args) < 0) observed[0] = '\0';
    va_end(args);
    observed[cs_utf8_cut(cs_view_of(observed), CS_TIER_OBSERVED - 2).len] = '\0';
    return verdict;
}

size_t cs_tier_judge(const cs_tier_observations *seen, cs_tier claim, cs_tier_depth depth, cs_tier_judgement *out) {
    size_t contradictions = 0;
    for (size_t i = 0; i < cs_tier_rule_count; i++) {
        const cs_tier_rule *rule = &cs_tier_rules[i];
        out[i] = (cs_tier_judgement){.rule = rule, .verdict = CS_TIER_SILENT};
        if (claim <= CS_TIER_NONE || (rule->refutes & CS_TIER_BIT(claim)) == 0 || rule->depth > depth) continue;
        out[i].asked = true;
        out[i].verdict = rule->judge(seen, claim, out[i].observed);
        if (out[i].verdict == CS_TIER_CONTRADICTED) contradictions++;
    }
    return contradictions;
}
