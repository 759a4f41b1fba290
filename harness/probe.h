/* The probe: a small program that is sent through a daemon like any other work, and tells what it sees there
 * (docs/FORMAT.md, "Tier cross-check").
 *
 * Two forms. The script is JavaScript and runs wherever a daemon takes code. The program is a static executable
 * without a library, for the system calls that JavaScript has no words for; it goes as base64 in a project. Their
 * sources are harness/probe/probe.js and harness/probe/probe.c, which the build turns into bytes of this program.
 *
 * Each run has a nonce of its own. What the probe prints ends in a digest over the nonce and every byte before it, so
 * it can't be a recording of another run; and while it runs, a process whose argument is a token made of the nonce
 * waits. The token stands in no request: on a host's list of processes it shows only where the probe itself runs.
 * All of this keeps a daemon from answering without running the probe. It does not keep one from computing lies.
 */
#ifndef CS_HARNESS_PROBE_H
#define CS_HARNESS_PROBE_H

#include "records/message.h"
#include "records/sha256.h"

typedef enum cs_probe_form { CS_PROBE_SCRIPT, CS_PROBE_PROGRAM, CS_PROBE_FORMS } cs_probe_form;

const char *cs_probe_form_word(cs_probe_form form); /* "script", "program" */

#define CS_PROBE_NONCE_DIGITS 64u
#define CS_PROBE_TOKEN_DIGITS 32u
#define CS_PROBE_SAMPLES 128u
#define CS_PROBE_MAX_ANSWER 16384u /* bytes of standard output */
#define CS_PROBE_TIMEOUT_MS 90000

/* What one probe is given. */
typedef struct cs_probe_order {
    cs_probe_form form;
    char nonce[CS_PROBE_NONCE_DIGITS + 1]; /* 32 random bytes as lowercase hexadecimal digits */
    uint32_t hold_ms;                      /* how long the token shows */
    const char *canary;                    /* path of a file that is there on the host only; NULL: none. Borrowed;
                                              letters, digits, "/", "-", "_" and "." */
    uint16_t port;                         /* of 127.0.0.1 on the host; 0: none */
} cs_probe_order;

/* A fresh order. CS_CODE_IO when the system gives no random bytes. */
CS_MUST_CHECK cs_result cs_probe_order_new(cs_probe_form form, uint32_t hold_ms, cs_probe_order *out, cs_error *err);

/* The token that a process of this probe shows. False only when the hash fails. */
CS_MUST_CHECK bool cs_probe_token(const cs_probe_order *order, char out[CS_PROBE_TOKEN_DIGITS + 1]);

/* The request that runs it, with `floor` as its minimum isolation (empty: none). Gives *out. CS_CODE_USAGE when this
 * build has no program for CS_PROBE_PROGRAM (it is made for x86-64 and 64-bit ARM). */
CS_MUST_CHECK cs_result cs_probe_request(const cs_probe_order *order, cs_view floor, cs_run_request **out,
                                         cs_error *err);

/* The executable's bytes, to know it again on the host; empty when this build has none. Static memory. */
cs_view cs_probe_program(void);

/* The program of the attempts on a sandbox's guards (harness/probe/walls.c; guards.h); the same. */
cs_view cs_probe_walls(void);

#define CS_PROBE_TEXT 128u
#define CS_PROBE_UNKNOWN INT64_MIN /* of a number that the probe could not find out */

typedef enum cs_probe_sign { CS_SIGN_UNKNOWN, CS_SIGN_ABSENT, CS_SIGN_PRESENT } cs_probe_sign;

/* What the probe says it sees. Claims of a stranger, in bounds but otherwise unbelieved. Texts are UTF-8 and are to be
 * escaped before they are shown; an empty text says that it could not be found out. */
typedef struct cs_probe_facts {
    char release[CS_PROBE_TEXT + 1]; /* uname */
    char version[CS_PROBE_TEXT + 1];
    char boot_id[CS_PROBE_TEXT + 1];
    int64_t clock_us;     /* realtime minus monotonic */
    int64_t pid_ns;       /* inode numbers of /proc/self/ns */
    int64_t ipc_ns;
    int64_t seccomp;      /* /proc/self/status: Seccomp, NoNewPrivs, and 1 when CapEff is not 0 */
    int64_t no_new_privs;
    int64_t capable;
    cs_probe_sign kernel_log_gvisor; /* does the kernel's log speak of gVisor? */
    int64_t loopback;                /* errno of connecting to the host's port; 0: connected */
    char canary[CS_PROBE_TEXT + 1];  /* SHA-256 of the canary's content, hexadecimal; empty: not readable */
    /* The program only. Errno of calls with arguments that no kernel accepts; 0: it succeeded. */
    int64_t no_call; /* the control: a number that no kernel has */
    int64_t mseal;
    int64_t file_getattr;
    int64_t vmsplice;
    int64_t remap_file_pages;
    int64_t landlock_abi; /* of landlock_create_ruleset; 0 or less: an errno, negated */
    char hypervisor[CS_PROBE_TEXT + 1]; /* CPUID leaf 0x40000000: the signature, printable; empty: none */
    uint32_t processes[CS_PROBE_SAMPLES]; /* sysinfo(2).procs, sampled while the probe waits */
    size_t process_samples;
} cs_probe_facts;

/* Read what a probe printed: exactly one line of JSON and one with the digest. CS_CODE_TIER_PROBE (unchecked) when it
 * is not of this form; CS_CODE_TIER_NONCE (failed) when it is, and the digest is not that of this order's nonce. *out
 * holds facts on CS_OK only. */
CS_MUST_CHECK cs_result cs_probe_read(const cs_probe_order *order, cs_view output, cs_probe_facts *out, cs_error *err);

/* The output of a probe's run: standard output of a good end (script: exit code 0; program: completed, one step, exit
 * code 0), whole. CS_CODE_TIER_PROBE otherwise, with what was found instead. *output borrows from the response. */
CS_MUST_CHECK cs_result cs_probe_output(cs_probe_form form, const cs_run_response *response, cs_view *output,
                                        cs_error *err);

#endif
