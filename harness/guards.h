/* The guards of a sandbox: configured, or in force? (docs/FORMAT.md, "Guards")
 *
 * A tier is one word; what a run may do is held by single guards: network, files, processes, memory and so on. A daemon
 * states some of them (Describe's resources) and may be wrong about each. So each is tried: small attempts to get past
 * it are sent through the daemon as ordinary runs (harness/probe/walls.c), and what comes of them is compared with what
 * was promised.
 *
 * An attempt that could not have succeeded anywhere shows nothing. So each has a control: the same attempt made where
 * the guard is down, by a plain child of this program on this machine (or, for what remains between runs, by a second
 * look within the same run). A control that does not leak makes the guard unknown, not good.
 */
#ifndef CS_HARNESS_GUARDS_H
#define CS_HARNESS_GUARDS_H

#include "harness/run.h"
#include "harness/tiers.h"

typedef enum cs_guard_id {
    CS_GUARD_FILES,        /* a file outside the work folder that anyone may read */
    CS_GUARD_NETWORK,      /* a TCP port of the host's loopback */
    CS_GUARD_ABSTRACT,     /* an abstract UNIX socket of the host */
    CS_GUARD_PIDS,         /* a process of the host, by its id */
    CS_GUARD_SYSCALLS,     /* keyctl, bpf, unshare */
    CS_GUARD_CORE_PATTERN, /* /proc/sys/kernel/core_pattern opens for writing */
    CS_GUARD_PROCESSES,    /* how many there can be at once */
    CS_GUARD_MEMORY,       /* how much a whole run can have (tried only where promised) */
    CS_GUARD_PROCESS_MEMORY, /* how much one process can map */
    CS_GUARD_FILE_SIZE,    /* how large one file can get */
    CS_GUARD_DISK,         /* how much can be written (tried only where promised) */
    CS_GUARD_CPUS,         /* processors that can be busy at once (tried only where promised) */
    CS_GUARD_TIME,         /* a run's own time limit */
    CS_GUARD_LEFTOVERS,    /* what one run leaves for the next: files, shared memory, processes, sockets */
    CS_GUARDS
} cs_guard_id;

const char *cs_guard_word(cs_guard_id guard);                  /* "files", "network", ... "file-size", "core-pattern" */
CS_MUST_CHECK bool cs_guard_find(cs_view word, cs_guard_id *out); /* false: no guard of this name */

typedef enum cs_guard_verdict {
    CS_GUARD_UNKNOWN,     /* not tried, or its control did not leak */
    CS_GUARD_IN_FORCE,    /* the attempt failed here, and its control leaked */
    CS_GUARD_NOT_IN_FORCE /* the attempt succeeded */
} cs_guard_verdict;

const char *cs_guard_verdict_word(cs_guard_verdict verdict); /* "unknown", "in force", "not in force" */

#define CS_GUARD_TEXT 200u /* bytes of a text with its NUL */

/* What was found out about one guard. Texts are safe to print. */
typedef struct cs_guard_finding {
    cs_guard_verdict verdict;
    bool promised;                     /* Describe's resources state it (or, for time, the request does), or the name of
                                          the claimed tier implies it */
    bool required;                     /* by the caller */
    int64_t measured;                  /* the bound that was met (processes, MiB, thousandths of a processor, ms);
                                          CS_PROBE_UNKNOWN: none, or nothing to measure */
    char configured[CS_GUARD_TEXT];    /* "256 processes", "nothing stated" */
    char observed[CS_GUARD_TEXT];
    char control[CS_GUARD_TEXT];
} cs_guard_finding;

/* Promised and not in force, or required and not shown to be. */
bool cs_guard_is_broken(const cs_guard_finding *finding);

#define CS_GUARD_BIT(guard) (1u << (unsigned)(guard))

typedef struct cs_guards_options {
    cs_run_options run; /* the attempts are ordinary runs: checked, and signed and kept where a key and a ledger are */
    unsigned required;  /* CS_GUARD_BIT of those that must be shown to be in force, whatever is promised */
    /* What is known already of the daemon, and of which process it is known; CS_HOST_ELSEWHERE: nothing. It counts only
     * as long as that very process listens. */
    cs_host_place place;
    cs_host_daemon daemon;
    void (*on_progress)(void *user, size_t done, size_t total); /* may be NULL */
    void *user;
} cs_guards_options;

/* The runs that are made, in their order. */
typedef enum cs_guard_run {
    CS_GUARD_RUN_TRY,   /* attempts, limits, and laying out of leftovers */
    CS_GUARD_RUN_LOOK,  /* a second run, which looks for leftovers */
    CS_GUARD_RUN_SLEEP, /* one that sleeps beyond its limit */
    CS_GUARD_RUNS
} cs_guard_run;

typedef struct cs_guards_report {
    cs_result result;
    cs_error err;
    cs_guard_finding findings[CS_GUARDS];
    size_t broken; /* promised or required, and not in force (or, when required, unknown) */
    bool ran[CS_GUARD_RUNS];
    cs_run_report runs[CS_GUARD_RUNS]; /* when ran */
    cs_host_place place;               /* of the daemon, as far as was seen or known */
    int64_t finding;                   /* ledger id of the broken promise; 0: none */
    char side_file[512];               /* path when the ledger could not take it; empty otherwise */
} cs_guards_report;

/* Try all guards of the daemon. *report is always filled; returns report->result: CS_OK when none is broken, with a
 * finding in the ledger CS_CODE_TIER_CONTRADICTED (failed) when one is that the claimed tier implies,
 * CS_CODE_TIER_GUARD (failed) when it is another one, CS_CODE_TIER_NONCE (failed) when an answer is none of this check's
 * runs; the result of a run that did not pass its checks; CS_CODE_TIER_PROBE (unchecked) when the attempts could not be made at all (a daemon that runs no projects, a
 * processor without the program) and a guard is required. */
CS_MUST_CHECK cs_result cs_guards_check(const cs_guards_options *options, cs_guards_report *report);
void cs_guards_free(cs_guards_report *report);

#endif
