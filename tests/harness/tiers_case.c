#include "tests/harness/tiers_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fill_said(cs_tier tier, cs_said *out) {
    for (size_t i = 0; i < CS_SAID_PLACES; i++) {
        out->tier[i] = cs_view_of(cs_tier_word(tier));
        out->provider[i] = cs_view_of("some-provider");
        if (i != CS_SAID_RESPONSE) out->policy[i] = cs_view_of("policy:1");
    }
    out->floor = cs_view_of(cs_tier_word(tier));
}

static void set(char *text, const char *value) {
    (void)snprintf(text, CS_PROBE_TEXT + 1, "%s", value);
}

/* What a guest with a Linux kernel of its own shows. */
static cs_probe_facts guest(void) {
    cs_probe_facts facts = {.clock_us = 5000000, .pid_ns = 4026532001, .ipc_ns = 4026532002, .seccomp = 2};
    set(facts.release, "6.1.0-18-cloud-amd64");
    set(facts.version, "#1 SMP Debian");
    set(facts.boot_id, "22222222-2222-2222-2222-222222222222");
    set(facts.hypervisor, "KVMKVMKVM");
    facts.no_new_privs = 1;
    facts.kernel_log_gvisor = CS_SIGN_ABSENT;
    facts.loopback = 111;
    facts.no_call = facts.mseal = facts.file_getattr = 38;
    facts.vmsplice = 9;
    facts.remap_file_pages = 22;
    facts.landlock_abi = 2;
    facts.process_samples = 64;
    for (size_t i = 0; i < facts.process_samples; i++)
        facts.processes[i] = 30 + (uint32_t)(i % 3);
    return facts;
}

static cs_probe_facts gvisor(void) {
    cs_probe_facts facts = guest();
    set(facts.release, "4.4.0");
    set(facts.version, "#1 SMP Sun Jan 10 15:06:54 PST 2016");
    facts.kernel_log_gvisor = CS_SIGN_PRESENT;
    facts.vmsplice = facts.remap_file_pages = 38;
    facts.landlock_abi = -38;
    return facts;
}

/* A process of this machine: its kernel, and its number of processes. */
static cs_probe_facts native(const cs_host_facts *host) {
    cs_probe_facts facts = guest();
    set(facts.release, host->release);
    set(facts.version, host->version);
    set(facts.boot_id, host->boot_id);
    facts.clock_us = host->clock_us;
    facts.mseal = facts.file_getattr = 22;
    facts.landlock_abi = 7;
    for (size_t i = 0; i < facts.process_samples; i++)
        facts.processes[i] = 200 + (i / 8 % 2 == 1 ? 128 : 0) + (uint32_t)(i % 3);
    return facts;
}

static void fill_host(cs_host_facts *out) {
    *out = (cs_host_facts){.readable = true, .all = true, .clock_us = 1700000000000000};
    set(out->release, "6.18.4-host");
    set(out->version, "#7 SMP host");
    set(out->boot_id, "11111111-1111-1111-1111-111111111111");
}

static cs_host_sighting sighting(cs_tier tier, cs_probe_form form) {
    bool here = tier == CS_TIER_PROCESS || tier == CS_TIER_CONTAINER;
    bool apart = tier == CS_TIER_CONTAINER;
    cs_host_sighting run = {.watched = true,
                            .place = CS_HOST_HERE,
                            .token_seen = here,
                            .apart = here ? apart : CS_PROBE_UNKNOWN,
                            .program_seen = here && form == CS_PROBE_PROGRAM,
                            .monitor_below = tier == CS_TIER_VM,
                            .pulses = form == CS_PROBE_PROGRAM ? 4 : 0,
                            .pulse_height = form == CS_PROBE_PROGRAM ? 128 : 0,
                            .canary_laid = true,
                            .port_open = true};
    (void)snprintf(run.canary.hex, sizeof run.canary.hex, "%s", TIERS_CANARY);
    if (run.monitor_below) set(run.monitor, "/usr/bin/qemu-system-x86_64");
    run.workload = (cs_host_process){.pid = 4711,
                                     .ns_depth = apart ? 2 : 1,
                                     .uid = 65000,
                                     .seccomp = 2,
                                     .seccomp_filters = 1,
                                     .no_new_privs = 1,
                                     .same_pid_ns = !apart,
                                     .same_mnt_ns = !apart,
                                     .same_net_ns = !apart,
                                     .same_ipc_ns = !apart};
    if (!here) run.workload = (cs_host_process){0};
    return run;
}

void tiers_honest(cs_tier tier, cs_tier_observations *out) {
    memset(out, 0, sizeof *out);
    fill_host(&out->host);
    out->ledger = (cs_ledger_said){.read = true, .same = 3};
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        fill_said(tier, &out->said[form]);
        out->inside[form].read = true;
        out->inside[form].facts = tier == CS_TIER_VM ? guest() : tier == CS_TIER_KERNEL ? gvisor() : native(&out->host);
        out->outside[form] = sighting(tier, (cs_probe_form)form);
    }
}

size_t tiers_rule(const char *name) {
    for (size_t i = 0; i < cs_tier_rule_count; i++)
        if (strcmp(cs_tier_rules[i].name, name) == 0) return i;
    abort();
}
