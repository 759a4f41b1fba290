/* What the files of the host view share. Nothing outside harness/hostview*.c, and its tests, includes this.
 *
 * hostview.c        the watch and its thread
 * hostview_proc.c   /proc: one process, all processes, who listens on a port
 * hostview_bait.c   what a probe may reach for: a file, a port, the number of threads
 */
#ifndef CS_HARNESS_HOSTVIEW_INTERNAL_H
#define CS_HARNESS_HOSTVIEW_INTERNAL_H

#include "harness/hostview.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- /proc --------------------------------------------------------------------------------------- */

#define CS_PROC_MAX 16384u /* processes that are looked at; a machine with more is not seen whole */

typedef struct cs_proc_entry {
    int pid;
    int parent;
    uint64_t started; /* clock ticks after the boot */
    bool below;       /* below the daemon */
} cs_proc_entry;

typedef struct cs_proc_list {
    cs_proc_entry entries[CS_PROC_MAX];
    size_t count;
} cs_proc_list;

/* The numbers of all processes; the other members are 0. False when /proc can't be read. */
CS_MUST_CHECK bool cs_proc_pids(cs_proc_list *out);
/* Fill in parents and starting times, and mark what is below `daemon`. */
void cs_proc_tree(cs_proc_list *list, int daemon);

/* A small file of a process, as far as it fits; its length, 0 when it can't be read. */
size_t cs_proc_read(int pid, const char *name, char *out, size_t size);
/* Parent and starting time out of the text of /proc/PID/stat, whose second field may hold anything. */
CS_MUST_CHECK bool cs_proc_parse_stat(cs_view text, cs_proc_entry *out);
/* The numbers of /proc/PID/status. Those that are not there stay CS_PROBE_UNKNOWN. */
void cs_proc_parse_status(cs_view text, cs_host_process *out);
/* The inode of the socket that listens on a port, out of the text of /proc/net/tcp or tcp6; 0: none. */
uint64_t cs_proc_parse_listener(cs_view text, uint16_t port);
/* Everything about one process. */
void cs_proc_describe(int pid, cs_host_process *out);
/* Is `pid` below `daemon`, with pid, mnt, net and ipc namespaces that are all others than the daemon's? 1, 0, or
 * CS_PROBE_UNKNOWN. */
int64_t cs_proc_apart(int pid, int daemon);
/* Which process listens on a TCP port of this machine; 0: none that can be seen. Of several, the oldest. */
int cs_proc_listener(uint16_t port);
/* Resident memory in KiB, out of the text of /proc/PID/status; CS_PROBE_UNKNOWN: it is not there. */
int64_t cs_proc_parse_resident(cs_view text);
/* Does a uid_map, as /proc/PID/uid_map shows it, map every user to itself? Else root is root of a part only. */
bool cs_proc_maps_all(cs_view text);
/* Do both run, and another program each? False also when that can't be read. */
bool cs_proc_programs_differ(int pid, int other);

#define CS_MONITOR_KIB 32768 /* resident: less holds no virtual machine without KVM */
/* Is it the monitor of a virtual machine: it has one of KVM's open (looked at when `descriptors`, or when its program
 * has the name of a monitor), or has such a name and the memory that a machine takes. */
bool cs_proc_is_monitor(int pid, bool descriptors, char *exe, size_t size);
/* Does the process run exactly this executable? */
bool cs_proc_runs(int pid, cs_view program);

/* ---- bait ---------------------------------------------------------------------------------------- */

/* A file that everyone on this machine can read. */
typedef struct cs_bait_file {
    char path[64]; /* empty: none could be laid out */
    cs_digest content;
} cs_bait_file;

void cs_bait_file_lay(cs_bait_file *out);
void cs_bait_file_take(cs_bait_file *file);

/* A port of 127.0.0.1 on which this program listens; -1 when none could be opened. */
int cs_bait_port_open(uint16_t *port);
/* Take one waiting connection, if there is one: did it say the token? */
bool cs_bait_port_reached(int listener, const char *token);

/* A thread that lets the number of this machine's threads go up and down until it is stopped. */
#define CS_PULSE_HEIGHT 128u
typedef struct cs_pulse {
    pthread_t thread;
    bool going;
    atomic_bool stop;
    uint32_t done; /* up and down again; to be read after the end */
} cs_pulse;

void cs_pulse_begin(cs_pulse *pulse);
void cs_pulse_end(cs_pulse *pulse);

/* The port of a loopback URL as the client writes it; 0: another host. */
uint16_t cs_host_loopback_port(const char *url);

void cs_host_nap_ms(unsigned ms);

#endif
