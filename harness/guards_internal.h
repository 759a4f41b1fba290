/* What the files of the guards share. Nothing outside harness/guards*.c, and its tests, includes this.
 *
 * guards.c          the check: what is laid out, run and kept
 * guards_judge.c    what the facts say of each guard; pure
 * guards_text.c     the words for it
 * guards_run.c      what is sent, and what is taken from an answer
 * guards_read.c     the lines that the attempts' program prints
 * guards_bait.c     what it is to reach for on this machine
 * guards_control.c  the same program as a plain child here
 */
#ifndef CS_HARNESS_GUARDS_INTERNAL_H
#define CS_HARNESS_GUARDS_INTERNAL_H

#include <sys/types.h>

#include "harness/guards.h"

/* ---- facts --------------------------------------------------------------------------------------- */

/* What a run may leave, in the order of the program's members. */
typedef enum cs_left_kind {
    CS_LEFT_WORK,
    CS_LEFT_TMP,
    CS_LEFT_VAR_TMP,
    CS_LEFT_DEV_SHM,
    CS_LEFT_TMPDIR,
    CS_LEFT_SEGMENT,
    CS_LEFT_SOCKET,  /* this one and the next live for CS_LEFT_MS only */
    CS_LEFT_PROCESS,
    CS_LEFT_KINDS
} cs_left_kind;

#define CS_LEFT_MS 30000

/* Of each of the following: was it read, and why not. Numbers are CS_PROBE_UNKNOWN where nothing was tried, or found
 * out. Errnos are 0 for success. */
typedef struct cs_guard_trial {
    bool read;
    char why[CS_GUARD_TEXT];
    int64_t file, tcp, abstract; /* errno */
    int64_t pid_seen;            /* in /proc: 0 no process of this number, 1 the harness's, 2 another one */
    int64_t pid_signal;          /* errno of kill with signal 0 */
    int64_t keyctl, bpf, unshare, core_pattern; /* errno */
    int64_t mapped_mb;           /* the largest private mapping of one process */
    int64_t file_mb;             /* the largest file */
    int64_t disk_mb;             /* written at once */
    int64_t cpu_milli;           /* thousandths of a processor */
    int64_t processes;           /* children at once */
    int64_t left[CS_LEFT_KINDS]; /* 1: found again within the same run; 0: not */
} cs_guard_trial;

typedef struct cs_guard_look {
    bool read;
    char why[CS_GUARD_TEXT];
    int64_t left[CS_LEFT_KINDS];
    int64_t gap_ms; /* from the end of the first run to the end of this one */
} cs_guard_look;

typedef struct cs_guard_fill {
    bool begun; /* it said that it begins */
    bool read;  /* and in the end how far it came */
    char why[CS_GUARD_TEXT];
    int64_t filled_mb;
} cs_guard_fill;

typedef struct cs_guard_sleep {
    bool ran;
    bool marked; /* as timed out */
    bool slept;  /* it came to its end */
    char why[CS_GUARD_TEXT];
    int64_t wall_ms;
} cs_guard_sleep;

/* What the daemon states. 0: nothing. */
typedef struct cs_guard_promises {
    cs_tier claim;
    int64_t processes, memory_mb, disk_mb, cpu_milli;
} cs_guard_promises;

typedef struct cs_guard_facts {
    cs_guard_promises promises;
    cs_host_place place;
    cs_guard_trial trial, control;
    cs_guard_fill fill, control_fill;
    cs_guard_look look;
    cs_guard_sleep sleep;
    bool try_timed_out; /* the first run, which has a long limit */
} cs_guard_facts;

/* All of them unknown. */
void cs_guard_facts_begin(cs_guard_facts *facts);
/* What Describe states. */
void cs_guard_promises_take(const cs_describe_response *self, cs_guard_promises *out);

/* ---- judging ------------------------------------------------------------------------------------- */

#define CS_GUARD_SLEEP_MS 20000
#define CS_GUARD_TIME_MS 1500
#define CS_GUARD_MOST_MAPPED 65536   /* MiB */
#define CS_GUARD_MOST_FILE 1048576   /* MiB */
#define CS_GUARD_MOST_PROMISED 4096  /* MiB of memory or disk that is tried */
#define CS_GUARD_MOST_PROCESSES 4000 /* promised, and tried */
#define CS_GUARD_MOST_CPUS 200000    /* thousandths, promised and tried */
#define CS_GUARD_MORE_MEMORY 64
#define CS_GUARD_MORE_DISK 16
#define CS_GUARD_MORE_PROCESSES 16
#define CS_GUARD_OPEN_PROCESSES 400 /* tried where nothing is promised */

/* What is attempted, which is more than what is promised; 0: nothing. */
int64_t cs_guard_want_processes(const cs_guard_promises *promises);
int64_t cs_guard_want_memory(const cs_guard_promises *promises);
int64_t cs_guard_want_disk(const cs_guard_promises *promises);
int64_t cs_guard_want_spinning(const cs_guard_promises *promises);

/* Where the daemon is: as the watch of the run saw it, or as it is known (options) of the process that listened before
 * the run and after it. */
cs_host_place cs_guard_place(const cs_guards_options *options, cs_host_place seen, const cs_host_daemon *before,
                             const cs_host_daemon *after);
/* Fill in all findings; returns how many are broken. */
size_t cs_guards_judge(const cs_guard_facts *facts, unsigned required, cs_guard_finding out[CS_GUARDS]);
/* Does this tier promise this guard by its name alone? */
bool cs_guard_is_implied(cs_guard_id guard, cs_tier claim);

/* Bounded, cut on a character's edge. */
void cs_guard_say(char out[CS_GUARD_TEXT], const char *fmt, ...) CS_PRINTF(2, 3);
void cs_guard_say_also(char out[CS_GUARD_TEXT], const char *fmt, ...) CS_PRINTF(2, 3);
/* "EACCES", or "errno 4000". `out` holds 32 bytes; returns it. */
const char *cs_guard_errno(int64_t number, char *out);
const char *cs_left_word(cs_left_kind kind);

/* ---- reading ------------------------------------------------------------------------------------- */

/* What the program printed in each of its modes. CS_CODE_TIER_PROBE or CS_CODE_TIER_NONCE, as cs_probe_read. */
CS_MUST_CHECK cs_result cs_guard_read_try(const char *nonce, cs_view output, cs_guard_trial *out, cs_error *err);
CS_MUST_CHECK cs_result cs_guard_read_look(const char *nonce, cs_view output, cs_guard_look *out, cs_error *err);
CS_MUST_CHECK cs_result cs_guard_read_fill(const char *nonce, cs_view output, cs_guard_fill *out, cs_error *err);

/* ---- sending ------------------------------------------------------------------------------------- */

/* What the attempts are given. */
typedef struct cs_guard_order {
    char nonce[CS_PROBE_NONCE_DIGITS + 1];
    const char *canary; /* borrowed; NULL: none */
    uint16_t port;      /* 0: none */
    bool abstract;      /* is there a socket to connect to? */
    pid_t pid;          /* 0: none */
    bool leave;
    cs_guard_promises promises;
} cs_guard_order;

/* The arguments of `walls try`, separated by blanks. */
CS_MUST_CHECK bool cs_guard_arguments(const cs_guard_order *order, cs_buf *out);

CS_MUST_CHECK cs_result cs_guard_request_try(const cs_guard_order *order, cs_view floor, cs_run_request **out,
                                             cs_error *err);
/* Looks for what `first` left; then, where memory is promised, has more. */
CS_MUST_CHECK cs_result cs_guard_request_look(const char *nonce, const cs_guard_order *first, cs_view floor,
                                              cs_run_request **out, cs_error *err);
CS_MUST_CHECK cs_result cs_guard_request_sleep(const char *nonce, cs_view floor, cs_run_request **out, cs_error *err);

/* The facts in an answer. A response that says nothing is a fact, too (its `why`); an error is only the wrong digest. */
CS_MUST_CHECK cs_result cs_guard_take_try(const cs_guard_order *order, const cs_run_response *response,
                                          cs_guard_facts *facts, cs_error *err);
CS_MUST_CHECK cs_result cs_guard_take_look(const char *nonce, const cs_run_response *response, cs_guard_facts *facts,
                                           cs_error *err);
void cs_guard_take_sleep(const cs_run_response *response, cs_guard_sleep *out);

/* ---- this machine -------------------------------------------------------------------------------- */

/* What the attempts are to reach for: an abstract socket that listens, and a process. */
typedef struct cs_guard_bait {
    int program;  /* the attempts' program as a file; -1: none */
    int abstract; /* -1: none */
    pid_t pid;    /* 0: none */
} cs_guard_bait;

void cs_guard_bait_lay(const char *nonce, bool reachable, cs_guard_bait *out);
void cs_guard_bait_take(cs_guard_bait *bait);

/* Run the program here, without any guard, in a folder of its own. `arguments` separated by blanks. *output receives
 * what it printed. CS_CODE_TIER_PROBE when that does not work. */
CS_MUST_CHECK cs_result cs_guard_control(int program, const char *arguments, int limit_ms, cs_buf *output,
                                         cs_error *err);
/* Has this machine room for an attempt to have so much? */
bool cs_guard_has_memory(int64_t mb);
bool cs_guard_has_disk(int64_t mb);

#endif
