/* What the probe sees. Its answers are a stranger's: a daemon that wants to be believed can make every one of them
 * speak for it, so they only ever count against a claim. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/tiers_rules.h"
#include "records/text.h"

/* Inode numbers of the namespaces that a Linux kernel starts with: constants of its source. */
#define FIRST_PID_NS 4026531836
#define FIRST_IPC_NS 4026531839

cs_tier_verdict cs_rule_probe_nonce(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    bool read = false;
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        if (seen->inside[form].wrong)
            return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                               "the %s answered with a digest that is not of its nonce: the answer is not of this run",
                               cs_probe_form_word((cs_probe_form)form));
        read = read || seen->inside[form].read;
    }
    if (!read) return cs_rule_say(observed, CS_TIER_SILENT, "no probe could be read");
    return cs_rule_say(observed, CS_TIER_CONSISTENT, "the answers were made from this run's nonces");
}

cs_tier_verdict cs_rule_program_unread(const cs_tier_observations *seen, char *observed) {
    const cs_inside *program = &seen->inside[CS_PROBE_PROGRAM];
    return cs_rule_say(observed, CS_TIER_SILENT, "the probe's program %s%s%s",
                       program->ran ? "gave no answer that can be read" : "was not run",
                       program->why[0] != '\0' ? ": " : "", program->why);
}

static const cs_probe_facts *program_of(const cs_tier_observations *seen, char *observed) {
    if (seen->inside[CS_PROBE_PROGRAM].read) return &seen->inside[CS_PROBE_PROGRAM].facts;
    (void)cs_rule_program_unread(seen, observed);
    return NULL;
}

/* Did the call that no kernel has answer as it must? Otherwise errors of the others say nothing. */
static bool control_holds(const cs_probe_facts *facts, char *observed) {
    if (facts->no_call == ENOSYS) return true;
    if (facts->no_call == CS_PROBE_UNKNOWN) {
        cs_rule_say(observed, CS_TIER_SILENT, "the control was not tried: a call that no kernel has");
        return false;
    }
    cs_rule_say(observed, CS_TIER_SILENT,
                "the control failed: a call that no kernel has answered with error %" PRId64 ", not ENOSYS",
                facts->no_call);
    return false;
}

/* ---- system calls ------------------------------------------------------------------------------------ */

/* "6.18.44-x" as 6018; 0 when it does not begin so. */
static unsigned release_number(const char *release) {
    char *end = NULL;
    unsigned long major = strtoul(release, &end, 10);
    if (end == release || *end != '.' || major > 99) return 0;
    char *last = NULL;
    unsigned long minor = strtoul(end + 1, &last, 10);
    if (last == end + 1 || minor > 999) return 0;
    return (unsigned)(major * 1000 + minor);
}

/* The release that brought an ABI version of Landlock. */
static unsigned landlock_release(int64_t abi) {
    static const unsigned releases[] = {0, 5013, 5019, 6002, 6007, 6010, 6012, 6015};
    size_t last = sizeof releases / sizeof releases[0] - 1;
    return abi <= 0 ? 0 : releases[(size_t)abi < last ? (size_t)abi : last];
}

static void newest(unsigned release, const char *name, unsigned *out, const char **what) {
    if (release <= *out) return;
    *out = release;
    *what = name;
}

cs_tier_verdict cs_rule_newer_system_calls(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    const cs_probe_facts *facts = program_of(seen, observed);
    if (facts == NULL || !control_holds(facts, observed)) return CS_TIER_SILENT;
    char release[80];
    cs_escape_short(cs_view_of(facts->release), release, sizeof release);
    unsigned stated = release_number(facts->release);
    if (stated == 0) return cs_rule_say(observed, CS_TIER_SILENT, "'%s' names no kernel release", release);
    /* A vendor that carries new calls back into old releases. */
    if (strstr(facts->release, ".el") != NULL)
        return cs_rule_say(observed, CS_TIER_SILENT, "'%s' is a vendor's kernel with calls of newer ones", release);
    unsigned needed = 0;
    const char *what = "none of the newer calls";
    newest(landlock_release(facts->landlock_abi), "Landlock's version", &needed, &what);
    if (facts->mseal != ENOSYS && facts->mseal != CS_PROBE_UNKNOWN) newest(6010, "mseal", &needed, &what);
    if (facts->file_getattr != ENOSYS && facts->file_getattr != CS_PROBE_UNKNOWN)
        newest(6017, "file_getattr", &needed, &what);
    if (needed > stated)
        return cs_rule_say(
            observed, CS_TIER_CONTRADICTED,
            "the kernel calls itself '%s', and %s answers, which came with %u.%u: its name is not its own", release,
            what, needed / 1000, needed % 1000);
    return cs_rule_say(observed, CS_TIER_CONSISTENT, "the kernel calls itself '%s'; %s answers", release, what);
}

cs_tier_verdict cs_rule_landlock_answers(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    const cs_probe_facts *facts = program_of(seen, observed);
    if (facts == NULL || !control_holds(facts, observed)) return CS_TIER_SILENT;
    if (facts->landlock_abi == CS_PROBE_UNKNOWN) return cs_rule_say(observed, CS_TIER_SILENT, "Landlock was not asked");
    if (facts->landlock_abi >= 1)
        return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                           "the kernel offers Landlock (version %" PRId64 "), which gVisor does not have",
                           facts->landlock_abi);
    return cs_rule_say(observed, CS_TIER_CONSISTENT, "the kernel offers no Landlock (error %" PRId64 ")",
                       -facts->landlock_abi);
}

/* ---- signs of gVisor ----------------------------------------------------------------------------------- */

cs_tier_verdict cs_rule_gvisor_log(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    bool absent = false;
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        if (!seen->inside[form].read) continue;
        cs_probe_sign sign = seen->inside[form].facts.kernel_log_gvisor;
        if (sign == CS_SIGN_PRESENT)
            return cs_rule_say(observed, CS_TIER_CONTRADICTED, "the kernel's log, as the %s reads it, is gVisor's",
                               cs_probe_form_word((cs_probe_form)form));
        absent = absent || sign == CS_SIGN_ABSENT;
    }
    if (!absent) return cs_rule_say(observed, CS_TIER_SILENT, "the kernel's log can't be read inside");
    return cs_rule_say(observed, CS_TIER_CONSISTENT, "the kernel's log does not speak of gVisor");
}

cs_tier_verdict cs_rule_gvisor_missing_calls(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    const cs_probe_facts *facts = program_of(seen, observed);
    if (facts == NULL || !control_holds(facts, observed)) return CS_TIER_SILENT;
    if (facts->vmsplice == CS_PROBE_UNKNOWN || facts->remap_file_pages == CS_PROBE_UNKNOWN)
        return cs_rule_say(observed, CS_TIER_SILENT, "the calls were not tried");
    if (facts->vmsplice == ENOSYS && facts->remap_file_pages == ENOSYS)
        return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                           "vmsplice and remap_file_pages are missing: every Linux kernel has them, gVisor has not");
    return cs_rule_say(observed, CS_TIER_CONSISTENT, "vmsplice and remap_file_pages are there");
}

/* ---- what the process is ------------------------------------------------------------------------------- */

cs_tier_verdict cs_rule_first_namespaces(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    bool known = false;
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        if (!seen->inside[form].read) continue;
        const cs_probe_facts *facts = &seen->inside[form].facts;
        if (facts->pid_ns == FIRST_PID_NS || facts->ipc_ns == FIRST_IPC_NS)
            return cs_rule_say(
                observed, CS_TIER_CONTRADICTED,
                "its %s namespace is the one that the kernel started with: it is in no container of that "
                "kernel",
                facts->pid_ns == FIRST_PID_NS ? "pid" : "ipc");
        known = known || (facts->pid_ns != CS_PROBE_UNKNOWN && facts->ipc_ns != CS_PROBE_UNKNOWN);
    }
    if (!known) return cs_rule_say(observed, CS_TIER_SILENT, "its namespaces can't be read inside");
    return cs_rule_say(observed, CS_TIER_CONSISTENT,
                       "its pid and ipc namespaces are not those the kernel started with");
}

cs_tier_verdict cs_rule_unconfined_inside(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    bool known = false;
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        if (!seen->inside[form].read) continue;
        const cs_probe_facts *facts = &seen->inside[form].facts;
        const char *fault = NULL;
        if (facts->seccomp != CS_PROBE_UNKNOWN && facts->seccomp != 2) fault = "no seccomp filter is on it";
        if (facts->no_new_privs == 0) fault = "it may gain new privileges";
        if (facts->capable == 1) fault = "it has capabilities";
        if (fault != NULL) return cs_rule_say(observed, CS_TIER_CONTRADICTED, "its own /proc says: %s", fault);
        known = known || (facts->seccomp == 2 && facts->no_new_privs == 1 && facts->capable == 0);
    }
    if (!known) return cs_rule_say(observed, CS_TIER_SILENT, "its own /proc does not say how it is confined");
    return cs_rule_say(observed, CS_TIER_CONSISTENT,
                       "its own /proc says: a seccomp filter, no new privileges, no capabilities");
}
