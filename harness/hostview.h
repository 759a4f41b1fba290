/* What this machine's own kernel says of a run, when the daemon runs on this machine (docs/FORMAT.md, "Tier
 * cross-check"). Reads /proc only; needs no help from the daemon, and most of it needs root.
 *
 * A watch goes on in a thread while a probe (probe.h) runs: it looks for the probe's token among the arguments of all
 * processes, for its executable among their programs, and for the processes that appear below the daemon. Meanwhile
 * it lets the number of this machine's threads go up and down, lays out a file that anyone on this machine can read,
 * and listens on a port of the loopback interface: a probe that follows the number, reads the file or reaches the port
 * shares what it should not share.
 */
#ifndef CS_HARNESS_HOSTVIEW_H
#define CS_HARNESS_HOSTVIEW_H

#include "harness/probe.h"

/* How sure this program is that the daemon is a process of this machine. */
typedef enum cs_host_place {
    CS_HOST_ELSEWHERE, /* its address is not a loopback one, or nothing listens there */
    CS_HOST_LISTENER,  /* a process of this machine listens at its address; it may pass calls on to another machine */
    /* And during the run a process appeared below it that runs another program than the listener itself: a forwarder
     * may fork for each connection, and a fork alone is no run. */
    CS_HOST_HERE
} cs_host_place;

/* What does not change from run to run. */
typedef struct cs_host_facts {
    bool readable;   /* there is a /proc to read */
    bool all;        /* as root of this machine: processes of all users are readable in full */
    char why[160];   /* what can't be seen, and why; empty when all can */
    char release[CS_PROBE_TEXT + 1];
    char version[CS_PROBE_TEXT + 1];
    char boot_id[CS_PROBE_TEXT + 1];
    int64_t clock_us; /* realtime minus monotonic */
} cs_host_facts;

void cs_host_look(cs_host_facts *out);

/* The process of this machine that listens at the daemon's loopback address: with its start and the boot, none other
 * ever is the same. */
typedef struct cs_host_daemon {
    int64_t pid;
    uint64_t started; /* clock ticks after the boot */
    char boot_id[CS_PROBE_TEXT + 1];
} cs_host_daemon;

/* False when none can be seen: the daemon is elsewhere, or its process belongs to another user. */
CS_MUST_CHECK bool cs_host_find_daemon(const char *url, cs_host_daemon *out);

/* One process as the host's kernel shows it. Numbers are CS_PROBE_UNKNOWN where they could not be read. */
typedef struct cs_host_process {
    int64_t pid;
    int64_t ns_depth; /* fields of NSpid */
    int64_t uid;      /* effective */
    int64_t seccomp, seccomp_filters, no_new_privs;
    int64_t capable;  /* CapEff is not 0 */
    /* 1: the namespace is the one that this program is in; 0: another. */
    int64_t same_pid_ns, same_mnt_ns, same_net_ns, same_ipc_ns;
    char exe[CS_PROBE_TEXT + 1]; /* path as the kernel tells it */
} cs_host_process;

/* What was seen during one run. */
typedef struct cs_host_sighting {
    bool watched;
    cs_host_place place;
    bool token_seen;
    cs_host_process workload; /* whose argument the token is, when seen */
    int64_t apart; /* 1: it is below the daemon, and its pid, mnt, net and ipc namespaces are all others than the
                      daemon's; 0: some are the same; CS_PROBE_UNKNOWN: it is not below, or they can't be read */
    bool program_seen;        /* a process whose executable has the bytes of the probe's program, and whose arguments
                                 have the nonce or the token of this run: others check here, too */
    int64_t program_pid;
    bool monitor_below;       /* a virtual machine's monitor below the daemon */
    bool monitor_anywhere;    /* or elsewhere on this machine */
    char monitor[CS_PROBE_TEXT + 1]; /* its program */
    uint32_t pulses;          /* how often the number of threads went up and down again */
    uint32_t pulse_height;    /* by how much */
    bool canary_laid;
    cs_digest canary;         /* of the file's content */
    bool port_open;
    bool port_reached;        /* someone connected and said the token */
} cs_host_sighting;

typedef struct cs_host_watch cs_host_watch;

/* Begin to watch, for one order, a daemon at `url`: lays out what the probe is to reach for, and names it in the order
 * (its canary borrows from the watch). Gives *out. CS_CODE_IO when a thread can't be started. */
CS_MUST_CHECK cs_result cs_host_watch_begin(const char *url, cs_probe_order *order, cs_host_watch **out,
                                            cs_error *err);
/* End it and take away everything that was laid out. */
void cs_host_watch_end(cs_host_watch *watch, cs_host_sighting *out);

#endif
