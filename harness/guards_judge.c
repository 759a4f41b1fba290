/* What the facts say of each guard. Nothing here looks anywhere else. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "harness/guards_internal.h"

#define UNKNOWN CS_PROBE_UNKNOWN
#define PERCENT_CPU 120       /* of what is promised: measuring is not exact */
#define MOST_MILLI 1000000000 /* of processors: from here on they are not counted */
#define LONGEST_GAP_MS (CS_LEFT_MS - 5000)

/* ---- what is there to begin with ----------------------------------------------------------------------- */

static void unknown_trial(cs_guard_trial *trial) {
    memset(trial, 0, sizeof *trial);
    trial->file = trial->tcp = trial->abstract = trial->pid_seen = trial->pid_signal = UNKNOWN;
    trial->keyctl = trial->bpf = trial->unshare = trial->core_pattern = UNKNOWN;
    trial->mapped_mb = trial->file_mb = trial->disk_mb = trial->cpu_milli = trial->processes = UNKNOWN;
    for (size_t i = 0; i < CS_LEFT_KINDS; i++)
        trial->left[i] = UNKNOWN;
}

void cs_guard_facts_begin(cs_guard_facts *facts) {
    memset(facts, 0, sizeof *facts);
    facts->promises.claim = CS_TIER_UNKNOWN;
    unknown_trial(&facts->trial);
    unknown_trial(&facts->control);
    facts->fill.filled_mb = facts->control_fill.filled_mb = UNKNOWN;
    facts->sleep.wall_ms = facts->look.gap_ms = UNKNOWN;
    for (size_t i = 0; i < CS_LEFT_KINDS; i++)
        facts->look.left[i] = UNKNOWN;
}

void cs_guard_promises_take(const cs_describe_response *self, cs_guard_promises *out) {
    *out = (cs_guard_promises){.claim = cs_tier_parse(cs_view_bytes(self->isolation.data, self->isolation.len))};
    const Plimsoll__V1__RunResources *resources = self->resources;
    if (resources == NULL) return;
    out->processes = resources->pids;
    out->memory_mb = resources->memory_mb;
    out->disk_mb = resources->disk_mb;
    /* Also false for what is no number. What is stated is stated, however little. */
    if (resources->cpus > 0) out->cpu_milli = resources->cpus < 1e6 ? (int64_t)(resources->cpus * 1000) : MOST_MILLI;
    if (resources->cpus > 0 && out->cpu_milli == 0) out->cpu_milli = 1;
}

int64_t cs_guard_want_processes(const cs_guard_promises *promises) {
    if (promises->processes == 0) return CS_GUARD_OPEN_PROCESSES;
    return promises->processes <= CS_GUARD_MOST_PROCESSES ? promises->processes + CS_GUARD_MORE_PROCESSES : 0;
}

static int64_t want(int64_t promised, int64_t more) {
    return promised > 0 && promised <= CS_GUARD_MOST_PROMISED ? promised + more : 0;
}

int64_t cs_guard_want_memory(const cs_guard_promises *promises) {
    return want(promises->memory_mb, CS_GUARD_MORE_MEMORY);
}

int64_t cs_guard_want_disk(const cs_guard_promises *promises) {
    return want(promises->disk_mb, CS_GUARD_MORE_DISK);
}

int64_t cs_guard_want_spinning(const cs_guard_promises *promises) {
    if (promises->cpu_milli == 0 || promises->cpu_milli > CS_GUARD_MOST_CPUS) return 0;
    /* More than are promised, and enough for a share of a machine that others work on. */
    return (promises->cpu_milli + 999) / 1000 + 7;
}

static bool is_same(const cs_host_daemon *a, const cs_host_daemon *b) {
    return a->pid == b->pid && a->started == b->started && strcmp(a->boot_id, b->boot_id) == 0;
}

cs_host_place cs_guard_place(const cs_guards_options *options, cs_host_place seen, const cs_host_daemon *before,
                             const cs_host_daemon *after) {
    bool known = is_same(before, &options->daemon) && is_same(after, &options->daemon);
    return known && options->place > seen ? options->place : seen;
}

/* ---- reaching out ---------------------------------------------------------------------------------------- */

/* Why there is nothing to judge, when nothing was read. */
static void say_nothing(char *out, bool read, const char *why, const char *otherwise) {
    cs_guard_say(out, "%s", !read && why[0] != '\0' ? why : otherwise);
}

static void say_errno(char *out, int64_t number, const char *success) {
    char name[32];
    cs_guard_say(out, "%s", number == 0 ? success : cs_guard_errno(number, name));
}

/* An attempt that reaches for this machine. What fails says nothing when the run may be on another one. */
static void judge_reach(const cs_guard_facts *facts, int64_t seen, int64_t control, const char *success,
                        cs_guard_finding *out) {
    if (control == UNKNOWN)
        say_nothing(out->control, facts->control.read, facts->control.why, "not tried");
    else
        say_errno(out->control, control, success);
    if (seen == UNKNOWN) {
        say_nothing(out->observed, facts->trial.read, facts->trial.why, "not tried");
        if (facts->trial.read && facts->place == CS_HOST_ELSEWHERE)
            cs_guard_say(out->observed, "not tried: the daemon can't be seen on this machine");
        return;
    }
    say_errno(out->observed, seen, success);
    if (seen == 0) {
        out->verdict = CS_GUARD_NOT_IN_FORCE;
    } else if (control == 0 && facts->place == CS_HOST_HERE) {
        out->verdict = CS_GUARD_IN_FORCE;
    } else if (facts->place != CS_HOST_HERE) {
        cs_guard_say_also(out->observed, "; nothing shows that the run is on this machine");
    }
}

static void judge_files(const cs_guard_facts *facts, cs_guard_finding *out) {
    judge_reach(facts, facts->trial.file, facts->control.file, "a file of this machine was read", out);
}

static void judge_network(const cs_guard_facts *facts, cs_guard_finding *out) {
    judge_reach(facts, facts->trial.tcp, facts->control.tcp, "connected to a port of this machine's loopback", out);
}

static void judge_abstract(const cs_guard_facts *facts, cs_guard_finding *out) {
    judge_reach(facts, facts->trial.abstract, facts->control.abstract,
                "connected to an abstract socket of this machine", out);
}

/* As an errno: 0 when the process of the harness can be told to be there. A signal may reach another process that has
 * the same number inside; that one shows its own arguments. */
static int64_t pid_reached(const cs_guard_trial *trial) {
    if (trial->pid_seen == UNKNOWN || trial->pid_signal == UNKNOWN) return UNKNOWN;
    if (trial->pid_seen == 1) return 0;
    if (trial->pid_seen == 2) return ESRCH;
    return trial->pid_signal == 0 || trial->pid_signal == EPERM ? 0 : trial->pid_signal;
}

static void judge_pids(const cs_guard_facts *facts, cs_guard_finding *out) {
    judge_reach(facts, pid_reached(&facts->trial), pid_reached(&facts->control), "a process of this machine is known",
                out);
    if (facts->trial.pid_seen == 2) cs_guard_say_also(out->observed, " (its number is another process's inside)");
}

/* ---- system calls ---------------------------------------------------------------------------------------- */

static bool is_closed(int64_t number) {
    return number == EPERM || number == ENOSYS || number == EACCES;
}

static void add_call(char *out, const char *name, int64_t number) {
    char text[32];
    const char *between = out[0] != '\0' ? ", " : "";
    if (number == UNKNOWN)
        cs_guard_say_also(out, "%s%s unknown", between, name);
    else
        cs_guard_say_also(out, "%s%s %s", between, name, number == 0 ? "succeeds" : cs_guard_errno(number, text));
}

static void judge_syscalls(const cs_guard_facts *facts, cs_guard_finding *out) {
    static const char *const names[] = {"keyctl", "bpf", "unshare"};
    const int64_t seen[] = {facts->trial.keyctl, facts->trial.bpf, facts->trial.unshare};
    const int64_t control[] = {facts->control.keyctl, facts->control.bpf, facts->control.unshare};
    bool leaks = false;
    bool whole = true;
    bool shown = false;
    for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) {
        add_call(out->observed, names[i], seen[i]);
        add_call(out->control, names[i], control[i]);
        if (seen[i] == UNKNOWN) whole = false;
        if (seen[i] != UNKNOWN && !is_closed(seen[i])) leaks = true;
        if (control[i] != UNKNOWN && !is_closed(control[i])) shown = true;
    }
    if (!facts->trial.read) say_nothing(out->observed, false, facts->trial.why, "not tried");
    if (!facts->control.read) say_nothing(out->control, false, facts->control.why, "not tried");
    if (leaks)
        out->verdict = CS_GUARD_NOT_IN_FORCE;
    else if (whole && shown)
        out->verdict = CS_GUARD_IN_FORCE;
}

static void judge_core_pattern(const cs_guard_facts *facts, cs_guard_finding *out) {
    static const char success[] = "opens for writing";
    int64_t seen = facts->trial.core_pattern;
    int64_t control = facts->control.core_pattern;
    if (seen == UNKNOWN)
        say_nothing(out->observed, facts->trial.read, facts->trial.why, "not tried");
    else
        say_errno(out->observed, seen, success);
    if (control == UNKNOWN)
        say_nothing(out->control, facts->control.read, facts->control.why, "not tried");
    else
        say_errno(out->control, control, success);
    if (seen == 0)
        out->verdict = CS_GUARD_NOT_IN_FORCE;
    else if (seen != UNKNOWN && control == 0)
        out->verdict = CS_GUARD_IN_FORCE;
}

/* ---- amounts ------------------------------------------------------------------------------------------------ */

/* An amount that was asked for, and how much of it was had. */
typedef struct amount {
    int64_t seen, control;
    int64_t open; /* from here on the guard is not in force, and the control must have come so far */
    const char *unit;
    bool milli; /* it is counted in thousandths */
} amount;

static void say_amount(char *out, int64_t number, const amount *of) {
    if (of->milli)
        cs_guard_say(out, "%" PRId64 ".%03" PRId64 " %s", number / 1000, number % 1000, of->unit);
    else
        cs_guard_say(out, "%" PRId64 " %s", number, of->unit);
}

static void judge_amount(const cs_guard_facts *facts, const amount *of, cs_guard_finding *out) {
    if (of->control == UNKNOWN)
        say_nothing(out->control, facts->control.read, facts->control.why, "not tried");
    else
        say_amount(out->control, of->control, of);
    out->measured = of->seen;
    if (of->seen == UNKNOWN) {
        say_nothing(out->observed, facts->trial.read, facts->trial.why, "not tried");
        return;
    }
    say_amount(out->observed, of->seen, of);
    if (of->seen >= of->open)
        out->verdict = CS_GUARD_NOT_IN_FORCE;
    else if (of->control != UNKNOWN && of->control >= of->open)
        out->verdict = CS_GUARD_IN_FORCE;
}

/* What is stated and too much to be tried. */
static bool is_too_much(int64_t promised, int64_t wanted, cs_guard_finding *out) {
    if (promised == 0 || wanted != 0) return false;
    cs_guard_say(out->observed, "not tried: too much is promised to be tried");
    cs_guard_say(out->control, "not tried");
    return true;
}

static void judge_processes(const cs_guard_facts *facts, cs_guard_finding *out) {
    int64_t promised = facts->promises.processes;
    int64_t wanted = cs_guard_want_processes(&facts->promises);
    if (is_too_much(promised, wanted, out)) return;
    const amount of = {.seen = facts->trial.processes,
                       .control = facts->control.processes,
                       .open = promised > 0 ? promised + 1 : wanted,
                       .unit = "children at once"};
    judge_amount(facts, &of, out);
}

/* Being ended for it is a bound, too. */
static void judge_filling(const cs_guard_facts *facts, cs_guard_finding *out) {
    int64_t wanted = cs_guard_want_memory(&facts->promises);
    const cs_guard_fill *fill = &facts->fill;
    const cs_guard_fill *control = &facts->control_fill;
    bool shown = control->read && control->filled_mb != UNKNOWN && control->filled_mb >= wanted;
    if (control->read && control->filled_mb != UNKNOWN)
        cs_guard_say(out->control, "had %" PRId64 " MiB", control->filled_mb);
    else
        say_nothing(out->control, false, control->why, "not tried");
    if (fill->read && fill->filled_mb != UNKNOWN) {
        out->measured = fill->filled_mb;
        cs_guard_say(out->observed, "had %" PRId64 " MiB", fill->filled_mb);
        out->verdict = fill->filled_mb >= wanted ? CS_GUARD_NOT_IN_FORCE : shown ? CS_GUARD_IN_FORCE : CS_GUARD_UNKNOWN;
    } else if (fill->begun && !fill->read && fill->why[0] == '\0') {
        cs_guard_say(out->observed, "its program was ended on the way to %" PRId64 " MiB", wanted);
        if (shown) out->verdict = CS_GUARD_IN_FORCE;
    } else {
        say_nothing(out->observed, false, fill->why, fill->read ? "too slow to be told" : "not tried");
    }
}

/* Of what is tried only where it is promised. */
static bool is_unstated(int64_t promised, cs_guard_finding *out) {
    if (promised != 0) return false;
    cs_guard_say(out->observed, "not tried: nothing is promised");
    cs_guard_say(out->control, "not tried");
    return true;
}

/* The whole run. What bounds each of its processes bounds no run that may have many. */
static void judge_memory(const cs_guard_facts *facts, cs_guard_finding *out) {
    int64_t promised = facts->promises.memory_mb;
    if (is_unstated(promised, out) || is_too_much(promised, cs_guard_want_memory(&facts->promises), out)) return;
    judge_filling(facts, out);
}

static void judge_process_memory(const cs_guard_facts *facts, cs_guard_finding *out) {
    const amount of = {.seen = facts->trial.mapped_mb,
                       .control = facts->control.mapped_mb,
                       .open = CS_GUARD_MOST_MAPPED,
                       .unit = "MiB mapped by one process"};
    judge_amount(facts, &of, out);
}

static void judge_file_size(const cs_guard_facts *facts, cs_guard_finding *out) {
    const amount of = {.seen = facts->trial.file_mb,
                       .control = facts->control.file_mb,
                       .open = CS_GUARD_MOST_FILE,
                       .unit = "MiB in one file"};
    judge_amount(facts, &of, out);
}

static void judge_disk(const cs_guard_facts *facts, cs_guard_finding *out) {
    int64_t wanted = cs_guard_want_disk(&facts->promises);
    if (is_unstated(facts->promises.disk_mb, out) || is_too_much(facts->promises.disk_mb, wanted, out)) return;
    const amount of = {
        .seen = facts->trial.disk_mb, .control = facts->control.disk_mb, .open = wanted, .unit = "MiB written"};
    judge_amount(facts, &of, out);
}

static void judge_cpus(const cs_guard_facts *facts, cs_guard_finding *out) {
    int64_t promised = facts->promises.cpu_milli;
    if (is_unstated(promised, out) || is_too_much(promised, cs_guard_want_spinning(&facts->promises), out)) return;
    const amount of = {.seen = facts->trial.cpu_milli,
                       .control = facts->control.cpu_milli,
                       .open = promised * PERCENT_CPU / 100 + 1,
                       .unit = "processors",
                       .milli = true};
    judge_amount(facts, &of, out);
}

/* ---- over time ------------------------------------------------------------------------------------------------ */

static void judge_time(const cs_guard_facts *facts, cs_guard_finding *out) {
    const cs_guard_sleep *sleep = &facts->sleep;
    bool shown = facts->trial.read && !facts->try_timed_out;
    cs_guard_say(out->control, "%s",
                 shown                  ? "a run with a long limit came to its end"
                 : facts->try_timed_out ? "a run with a long limit was timed out, too"
                                        : "not tried");
    if (!sleep->ran) {
        say_nothing(out->observed, false, sleep->why, "not tried");
        return;
    }
    out->measured = sleep->wall_ms;
    cs_guard_say(out->observed, "%s after %" PRId64 " ms",
                 sleep->marked  ? "timed out"
                 : sleep->slept ? "came to its end"
                                : "ended for another reason",
                 sleep->wall_ms);
    if (sleep->why[0] != '\0') cs_guard_say_also(out->observed, ": %s", sleep->why);
    if (sleep->marked ? sleep->wall_ms >= CS_GUARD_SLEEP_MS : sleep->slept)
        out->verdict = CS_GUARD_NOT_IN_FORCE;
    else if (sleep->marked && shown)
        out->verdict = CS_GUARD_IN_FORCE;
}

static void add_kind(char *out, cs_left_kind kind) {
    cs_guard_say_also(out, "%s%s", out[0] != '\0' ? ", " : "", cs_left_word(kind));
}

static void judge_leftovers(const cs_guard_facts *facts, cs_guard_finding *out) {
    char found[CS_GUARD_TEXT] = "";
    char gone[CS_GUARD_TEXT] = "";
    for (size_t i = 0; i < CS_LEFT_KINDS; i++) {
        bool short_lived = i == CS_LEFT_SOCKET || i == CS_LEFT_PROCESS;
        bool shown = facts->trial.left[i] == 1;
        if (shown) add_kind(out->control, (cs_left_kind)i);
        if (facts->look.left[i] == 1)
            add_kind(found, (cs_left_kind)i);
        else if (facts->look.left[i] == 0 && shown && (!short_lived || facts->look.gap_ms <= LONGEST_GAP_MS))
            add_kind(gone, (cs_left_kind)i);
    }
    if (out->control[0] == '\0')
        say_nothing(out->control, facts->trial.read, facts->trial.why, "nothing was found again");
    if (!facts->look.read)
        say_nothing(out->observed, false, facts->look.why, "not tried");
    else if (found[0] != '\0')
        cs_guard_say(out->observed, "remains: %s", found);
    else if (gone[0] != '\0')
        cs_guard_say(out->observed, "gone: %s", gone);
    else
        cs_guard_say(out->observed, "nothing was there to remain");
    if (facts->look.read && found[0] != '\0')
        out->verdict = CS_GUARD_NOT_IN_FORCE;
    else if (facts->look.read && gone[0] != '\0')
        out->verdict = CS_GUARD_IN_FORCE;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

#define PROCESS CS_TIER_BIT(CS_TIER_PROCESS)
#define CONTAINER CS_TIER_BIT(CS_TIER_CONTAINER)

typedef struct guard_rule {
    unsigned implied; /* CS_TIER_BIT of the claims */
    void (*judge)(const cs_guard_facts *facts, cs_guard_finding *out);
} guard_rule;

static const guard_rule guards[CS_GUARDS] = {
    [CS_GUARD_FILES] = {CS_TIER_ANY, judge_files},
    [CS_GUARD_NETWORK] = {CS_TIER_ANY, judge_network},
    [CS_GUARD_ABSTRACT] = {CS_TIER_ANY, judge_abstract},
    [CS_GUARD_PIDS] = {CONTAINER | CS_TIER_STRONG, judge_pids},
    [CS_GUARD_SYSCALLS] = {PROCESS, judge_syscalls},
    [CS_GUARD_CORE_PATTERN] = {PROCESS | CONTAINER, judge_core_pattern},
    [CS_GUARD_PROCESSES] = {0, judge_processes},
    [CS_GUARD_MEMORY] = {0, judge_memory},
    [CS_GUARD_PROCESS_MEMORY] = {0, judge_process_memory},
    [CS_GUARD_FILE_SIZE] = {0, judge_file_size},
    [CS_GUARD_DISK] = {0, judge_disk},
    [CS_GUARD_CPUS] = {0, judge_cpus},
    [CS_GUARD_TIME] = {0, judge_time},
    [CS_GUARD_LEFTOVERS] = {0, judge_leftovers},
};

bool cs_guard_is_implied(cs_guard_id guard, cs_tier claim) {
    return claim > CS_TIER_NONE && (guards[guard].implied & CS_TIER_BIT(claim)) != 0;
}

static amount stated(const cs_guard_promises *promises, cs_guard_id guard) {
    bool counted = promises->cpu_milli < MOST_MILLI;
    switch (guard) {
    case CS_GUARD_PROCESSES:
        return (amount){.seen = promises->processes, .unit = "processes (Describe)"};
    case CS_GUARD_MEMORY:
        return (amount){.seen = promises->memory_mb, .unit = "MiB (Describe)"};
    case CS_GUARD_DISK:
        return (amount){.seen = promises->disk_mb, .unit = "MiB (Describe)"};
    case CS_GUARD_CPUS:
        return (amount){.seen = promises->cpu_milli,
                        .unit = counted ? "processors (Describe)" : "processors or more (Describe)",
                        .milli = true};
    case CS_GUARD_TIME:
        return (amount){.seen = CS_GUARD_TIME_MS, .unit = "ms (the request)"};
    default:
        return (amount){.seen = 0, .unit = ""};
    }
}

static void configure(const cs_guard_facts *facts, cs_guard_id guard, cs_guard_finding *out) {
    const amount of = stated(&facts->promises, guard);
    bool implied = cs_guard_is_implied(guard, facts->promises.claim);
    out->promised = of.seen > 0 || implied;
    if (of.seen > 0)
        say_amount(out->configured, of.seen, &of);
    else
        cs_guard_say(out->configured, "%s", implied ? "implied by the tier" : "nothing stated");
}

bool cs_guard_is_broken(const cs_guard_finding *finding) {
    return (finding->promised && finding->verdict == CS_GUARD_NOT_IN_FORCE) ||
           (finding->required && finding->verdict != CS_GUARD_IN_FORCE);
}

size_t cs_guards_judge(const cs_guard_facts *facts, unsigned required, cs_guard_finding out[CS_GUARDS]) {
    size_t broken = 0;
    for (size_t i = 0; i < CS_GUARDS; i++) {
        out[i] = (cs_guard_finding){.measured = UNKNOWN, .required = (required & CS_GUARD_BIT(i)) != 0};
        configure(facts, (cs_guard_id)i, &out[i]);
        guards[i].judge(facts, &out[i]);
        if (cs_guard_is_broken(&out[i])) broken++;
    }
    return broken;
}
