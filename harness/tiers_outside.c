/* What the kernel of this machine says of the same runs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/tiers_rules.h"
#include "records/text.h"

#define CLOCK_CLOSE_US 50000
#define PULSES_NEEDED 2u

static const char *run_of(size_t form) {
    return cs_probe_form_word((cs_probe_form)form);
}

static bool any_watched(const cs_tier_observations *seen) {
    return seen->outside[CS_PROBE_SCRIPT].watched || seen->outside[CS_PROBE_PROGRAM].watched;
}

static cs_tier_verdict not_watched(char *observed) {
    return cs_rule_say(observed, CS_TIER_SILENT, "this machine was not watched");
}

/* The surest place of all runs. */
static cs_host_place place_of(const cs_tier_observations *seen) {
    cs_host_place place = CS_HOST_ELSEWHERE;
    for (size_t form = 0; form < CS_PROBE_FORMS; form++)
        if (seen->outside[form].watched && seen->outside[form].place > place) place = seen->outside[form].place;
    return place;
}

static const char *place_text(cs_host_place place) {
    switch (place) {
    case CS_HOST_HERE:
        return "the daemon is on this machine";
    case CS_HOST_LISTENER:
        return "something on this machine listens at the daemon's address, and started no other program during the run";
    case CS_HOST_ELSEWHERE:
        break;
    }
    return "no process of this machine can be seen to listen at the daemon's address";
}

/* The first run whose token was seen; CS_PROBE_FORMS: none. */
static size_t token_run(const cs_tier_observations *seen) {
    size_t form = 0;
    while (form < CS_PROBE_FORMS && !(seen->outside[form].watched && seen->outside[form].token_seen))
        form++;
    return form;
}

static void show_exe(const cs_host_process *process, char *out, size_t size) {
    cs_escape_short(cs_view_of(process->exe), out, size);
}

/* ---- is the workload a process of this machine? ------------------------------------------------------ */

cs_tier_verdict cs_rule_token_on_host(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    if (!any_watched(seen)) return not_watched(observed);
    size_t form = token_run(seen);
    if (form < CS_PROBE_FORMS) {
        char exe[80];
        show_exe(&seen->outside[form].workload, exe, sizeof exe);
        return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                           "the %s's token stands among the arguments of process %" PRId64 " of this machine (%s)",
                           run_of(form), seen->outside[form].workload.pid, exe);
    }
    if (place_of(seen) == CS_HOST_HERE && seen->host.all)
        return cs_rule_say(observed, CS_TIER_CONSISTENT,
                           "the daemon is on this machine, and no process of it shows the token");
    return cs_rule_say(observed, CS_TIER_SILENT, "the token is not seen, but %s%s%s", place_text(place_of(seen)),
                       seen->host.why[0] != '\0' ? "; " : "", seen->host.why);
}

cs_tier_verdict cs_rule_token_not_on_host(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    if (!any_watched(seen)) return not_watched(observed);
    size_t form = token_run(seen);
    if (form < CS_PROBE_FORMS)
        return cs_rule_say(observed, CS_TIER_CONSISTENT, "process %" PRId64 " of this machine shows the %s's token",
                           seen->outside[form].workload.pid, run_of(form));
    if (place_of(seen) != CS_HOST_HERE || !seen->host.all)
        return cs_rule_say(observed, CS_TIER_SILENT, "the token is not seen, but %s%s%s", place_text(place_of(seen)),
                           seen->host.why[0] != '\0' ? "; " : "", seen->host.why);
    if (!seen->inside[CS_PROBE_SCRIPT].read && !seen->inside[CS_PROBE_PROGRAM].read)
        return cs_rule_say(observed, CS_TIER_SILENT, "the token is not seen, and no probe could be read");
    return cs_rule_say(
        observed, CS_TIER_CONTRADICTED,
        "the daemon is on this machine and the probe ran, yet no process of this machine shows its token: "
        "another kernel runs it, which is more than is claimed");
}

cs_tier_verdict cs_rule_program_on_host(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    const cs_host_sighting *run = &seen->outside[CS_PROBE_PROGRAM];
    if (!any_watched(seen)) return not_watched(observed);
    if (run->program_seen)
        return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                           "process %" PRId64 " of this machine runs the probe's own executable", run->program_pid);
    if (!seen->inside[CS_PROBE_PROGRAM].read) return cs_rule_program_unread(seen, observed);
    if (run->place == CS_HOST_HERE && seen->host.all)
        return cs_rule_say(observed, CS_TIER_CONSISTENT,
                           "the daemon is on this machine, and no process of it runs the probe's executable");
    return cs_rule_say(observed, CS_TIER_SILENT, "not seen, but %s%s%s", place_text(run->place),
                       seen->host.why[0] != '\0' ? "; " : "", seen->host.why);
}

/* ---- is its kernel this machine's? --------------------------------------------------------------------- */

/* How often the samples rise by about `height` and fall again. The sizes may be off by a quarter: other processes of a
 * machine come and go. */
static unsigned count_pulses(const cs_probe_facts *facts, uint32_t height) {
    unsigned pulses = 0;
    uint64_t low = UINT32_MAX, high = 0;
    bool up = false;
    for (size_t i = 0; i < facts->process_samples; i++) {
        uint64_t value = facts->processes[i];
        if (value < low) low = value;
        if (value > high) high = value;
        if (!up && value >= low + height - height / 4 && value <= low + height + height / 2) {
            up = true;
            high = value;
        } else if (up && value + height - height / 4 <= high) {
            up = false;
            pulses++;
            low = value;
        }
    }
    return pulses;
}

cs_tier_verdict cs_rule_process_count(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    const cs_host_sighting *run = &seen->outside[CS_PROBE_PROGRAM];
    if (!any_watched(seen)) return not_watched(observed);
    if (!seen->inside[CS_PROBE_PROGRAM].read) return cs_rule_program_unread(seen, observed);
    const cs_probe_facts *facts = &seen->inside[CS_PROBE_PROGRAM].facts;
    if (run->pulses < PULSES_NEEDED)
        return cs_rule_say(observed, CS_TIER_SILENT,
                           "the control failed: this machine did not give %u threads at a time, twice",
                           run->pulse_height);
    if (facts->process_samples < 16) return cs_rule_say(observed, CS_TIER_SILENT, "the number can't be read inside");
    unsigned followed = count_pulses(facts, run->pulse_height);
    if (followed >= PULSES_NEEDED)
        return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                           "the number of processes inside went up by about %u and down again %u times, as this "
                           "machine's did",
                           run->pulse_height, followed);
    if (run->place != CS_HOST_HERE)
        return cs_rule_say(observed, CS_TIER_SILENT, "the number inside does not follow, but %s",
                           place_text(run->place));
    return cs_rule_say(observed, CS_TIER_CONSISTENT,
                       "the number of processes inside did not follow this machine's %u ups and downs by %u",
                       run->pulses, run->pulse_height);
}

cs_tier_verdict cs_rule_boot_id(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    if (!any_watched(seen)) return not_watched(observed);
    if (seen->host.boot_id[0] == '\0') return cs_rule_say(observed, CS_TIER_SILENT, "this machine tells no boot_id");
    bool other = false;
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        if (!seen->inside[form].read || seen->inside[form].facts.boot_id[0] == '\0') continue;
        if (strcmp(seen->inside[form].facts.boot_id, seen->host.boot_id) == 0)
            return cs_rule_say(observed, CS_TIER_CONTRADICTED, "the boot_id that the %s reads is this machine's",
                               run_of(form));
        other = true;
    }
    if (other) return cs_rule_say(observed, CS_TIER_CONSISTENT, "the boot_id inside is not this machine's");
    return cs_rule_say(observed, CS_TIER_SILENT, "there is no boot_id inside");
}

cs_tier_verdict cs_rule_clock_offset(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    if (!any_watched(seen)) return not_watched(observed);
    bool known = false;
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        if (!seen->inside[form].read || seen->inside[form].facts.clock_us == CS_PROBE_UNKNOWN) continue;
        int64_t apart = seen->inside[form].facts.clock_us - seen->host.clock_us;
        known = true;
        if (apart <= CLOCK_CLOSE_US && apart >= -CLOCK_CLOSE_US)
            return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                               "the clocks that the %s reads began %" PRId64
                               " ms apart from this machine's: it is the same boot",
                               run_of(form), (apart < 0 ? -apart : apart) / 1000);
    }
    if (!known) return cs_rule_say(observed, CS_TIER_SILENT, "the clocks can't be read inside");
    return cs_rule_say(observed, CS_TIER_CONSISTENT, "the clocks inside began at another moment than this machine's");
}

cs_tier_verdict cs_rule_kernel_identity(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    if (!any_watched(seen)) return not_watched(observed);
    bool known = false;
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        const cs_probe_facts *facts = &seen->inside[form].facts;
        if (!seen->inside[form].read || facts->release[0] == '\0' || facts->version[0] == '\0') continue;
        known = true;
        /* The probe cuts the version. */
        if (strcmp(facts->release, seen->host.release) != 0 ||
            strncmp(facts->version, seen->host.version, strlen(facts->version)) != 0)
            continue;
        if (claim == CS_TIER_VM)
            return cs_rule_say(
                observed, CS_TIER_SILENT,
                "release and version are this machine's, but a virtual machine may boot the same kernel");
        return cs_rule_say(observed, CS_TIER_CONTRADICTED, "the kernel's release and version are this machine's");
    }
    if (!known) return cs_rule_say(observed, CS_TIER_SILENT, "the kernel's name can't be read inside");
    return cs_rule_say(observed, CS_TIER_CONSISTENT, "the kernel's release or version is not this machine's");
}

/* ---- virtual machines ------------------------------------------------------------------------------------ */

cs_tier_verdict cs_rule_no_monitor(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    if (!any_watched(seen)) return not_watched(observed);
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        char exe[80];
        cs_escape_short(cs_view_of(seen->outside[form].monitor), exe, sizeof exe);
        if (seen->outside[form].monitor_below)
            return cs_rule_say(observed, CS_TIER_CONSISTENT, "a virtual machine's monitor runs below the daemon (%s)",
                               exe);
        if (seen->outside[form].monitor_anywhere)
            return cs_rule_say(observed, CS_TIER_SILENT,
                               "a virtual machine's monitor runs on this machine, not below the daemon (%s)", exe);
    }
    if (!seen->host.all) return cs_rule_say(observed, CS_TIER_SILENT, "%s", seen->host.why);
    if (place_of(seen) != CS_HOST_HERE)
        return cs_rule_say(observed, CS_TIER_SILENT, "no monitor is seen, but %s", place_text(place_of(seen)));
    return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                       "the daemon is on this machine and started processes for the run, and none on this machine is a "
                       "virtual machine's monitor");
}

cs_tier_verdict cs_rule_monitor_below(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    if (!any_watched(seen)) return not_watched(observed);
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        char exe[80];
        cs_escape_short(cs_view_of(seen->outside[form].monitor), exe, sizeof exe);
        if (seen->outside[form].monitor_below && token_run(seen) == CS_PROBE_FORMS)
            return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                               "a virtual machine's monitor runs below the daemon (%s), and the workload is no process "
                               "of this machine: that is another wall than is claimed",
                               exe);
    }
    if (place_of(seen) != CS_HOST_HERE || !seen->host.all)
        return cs_rule_say(observed, CS_TIER_SILENT, "no monitor is seen, but %s", place_text(place_of(seen)));
    return cs_rule_say(observed, CS_TIER_CONSISTENT, "no virtual machine runs this daemon's work");
}

/* ---- the workload's process -------------------------------------------------------------------------------- */

static cs_tier_verdict not_found(const cs_tier_observations *seen, char *observed) {
    if (!any_watched(seen)) return not_watched(observed);
    return cs_rule_say(observed, CS_TIER_SILENT, "the workload is not found among this machine's processes%s%s",
                       seen->host.why[0] != '\0' ? "; " : "", seen->host.why);
}

cs_tier_verdict cs_rule_host_namespaces(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    size_t form = token_run(seen);
    if (form == CS_PROBE_FORMS) return not_found(seen, observed);
    const cs_host_process *process = &seen->outside[form].workload;
    const char *shared = process->same_pid_ns == 1   ? "pid"
                         : process->same_mnt_ns == 1 ? "mount"
                         : process->same_net_ns == 1 ? "network"
                         : process->same_ipc_ns == 1 ? "ipc"
                                                     : NULL;
    if (shared != NULL)
        return cs_rule_say(observed, CS_TIER_CONTRADICTED, "process %" PRId64 " is in this machine's own %s namespace",
                           process->pid, shared);
    if (process->ns_depth == 1)
        return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                           "process %" PRId64 " has one process id only: it is in no pid namespace of its own",
                           process->pid);
    if (process->same_pid_ns != 0 || process->same_mnt_ns != 0 || process->same_net_ns != 0 ||
        process->same_ipc_ns != 0 || process->ns_depth < 2)
        return cs_rule_say(observed, CS_TIER_SILENT, "the namespaces of process %" PRId64 " can't be read%s%s",
                           process->pid, seen->host.why[0] != '\0' ? ": " : "", seen->host.why);
    return cs_rule_say(observed, CS_TIER_CONSISTENT,
                       "process %" PRId64 " has pid, mount, network and ipc namespaces that are not this machine's",
                       process->pid);
}

cs_tier_verdict cs_rule_host_apart(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    size_t form = token_run(seen);
    if (form == CS_PROBE_FORMS) return not_found(seen, observed);
    const cs_host_sighting *run = &seen->outside[form];
    if (run->apart == CS_PROBE_UNKNOWN)
        return cs_rule_say(observed, CS_TIER_SILENT,
                           "process %" PRId64 " is not below the daemon, or the namespaces can't be read",
                           run->workload.pid);
    if (run->apart == 1)
        return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                           "process %" PRId64
                           " has pid, mount, network and ipc namespaces that are none of the daemon's: "
                           "that is a container, more than is claimed",
                           run->workload.pid);
    return cs_rule_say(observed, CS_TIER_CONSISTENT, "process %" PRId64 " shares namespaces with the daemon",
                       run->workload.pid);
}

cs_tier_verdict cs_rule_host_root(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    size_t form = token_run(seen);
    if (form == CS_PROBE_FORMS) return not_found(seen, observed);
    const cs_host_process *process = &seen->outside[form].workload;
    if (process->uid == CS_PROBE_UNKNOWN || process->capable == CS_PROBE_UNKNOWN)
        return cs_rule_say(observed, CS_TIER_SILENT, "the rights of process %" PRId64 " can't be read", process->pid);
    if (process->uid == 0 && process->capable == 1)
        return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                           "process %" PRId64 " is this machine's root with capabilities", process->pid);
    return cs_rule_say(observed, CS_TIER_CONSISTENT, "process %" PRId64 " is user %" PRId64 " of this machine%s",
                       process->pid, process->uid, process->capable == 0 ? ", without capabilities" : "");
}

cs_tier_verdict cs_rule_host_unconfined(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    size_t form = token_run(seen);
    if (form == CS_PROBE_FORMS) return not_found(seen, observed);
    const cs_host_process *process = &seen->outside[form].workload;
    const char *fault = NULL;
    if (process->seccomp != CS_PROBE_UNKNOWN && process->seccomp != 2) fault = "no seccomp filter is on it";
    if (process->seccomp_filters == 0) fault = "it has no seccomp filter";
    if (process->no_new_privs == 0) fault = "it may gain new privileges";
    if (process->capable == 1) fault = "it has capabilities";
    if (process->uid == 0) fault = "it is root";
    if (fault != NULL)
        return cs_rule_say(observed, CS_TIER_CONTRADICTED, "process %" PRId64 ": %s", process->pid, fault);
    if (process->seccomp != 2 || process->no_new_privs != 1 || process->capable != 0 ||
        process->uid == CS_PROBE_UNKNOWN)
        return cs_rule_say(observed, CS_TIER_SILENT, "how process %" PRId64 " is confined can't be read in full",
                           process->pid);
    return cs_rule_say(observed, CS_TIER_CONSISTENT,
                       "process %" PRId64 ": user %" PRId64 ", a seccomp filter, no new privileges, no capabilities",
                       process->pid, process->uid);
}

/* ---- what it reaches ------------------------------------------------------------------------------------------ */

cs_tier_verdict cs_rule_host_file(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    bool tried = false;
    if (!any_watched(seen)) return not_watched(observed);
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        if (!seen->inside[form].read || !seen->outside[form].watched || !seen->outside[form].canary_laid) continue;
        if (strcmp(seen->inside[form].facts.canary, seen->outside[form].canary.hex) == 0)
            return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                               "the %s read a file that was laid out on this machine during the run", run_of(form));
        tried = true;
    }
    if (!tried) return cs_rule_say(observed, CS_TIER_SILENT, "no file could be laid out, or no probe looked for it");
    if (place_of(seen) != CS_HOST_HERE)
        return cs_rule_say(observed, CS_TIER_SILENT, "the file was not read, but %s", place_text(place_of(seen)));
    return cs_rule_say(observed, CS_TIER_CONSISTENT,
                       "a file that all of this machine can read was not readable inside");
}

cs_tier_verdict cs_rule_host_loopback(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    bool tried = false;
    if (!any_watched(seen)) return not_watched(observed);
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        const cs_host_sighting *run = &seen->outside[form];
        if (!run->watched || !run->port_open) continue;
        if (run->port_reached)
            return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                               "the %s connected to a port of this machine's loopback interface", run_of(form));
        tried = tried || (seen->inside[form].read && seen->inside[form].facts.loopback != CS_PROBE_UNKNOWN);
    }
    if (!tried) return cs_rule_say(observed, CS_TIER_SILENT, "no port could be opened, or no probe tried it");
    if (place_of(seen) != CS_HOST_HERE)
        return cs_rule_say(observed, CS_TIER_SILENT, "the port was not reached, but %s", place_text(place_of(seen)));
    return cs_rule_say(observed, CS_TIER_CONSISTENT,
                       "a port of this machine's loopback interface was not reachable inside");
}
