/* What /proc says of processes. System calls only: used in forks of a program with threads. */
#ifndef LD_PROC_H
#define LD_PROC_H

#include "records/base.h"
#include <sys/types.h>

typedef struct ld_process {
    pid_t parent;
    char state;       /* 'R', 'S', 'T', 'Z', ... */
    uint64_t threads; /* of the whole process */
    uint64_t started; /* ticks since the machine's start: with the id, this names a process for good */
} ld_process;

/* One process by its entry below `proc` (an open /proc). False when it is gone. */
CS_MUST_CHECK bool ld_process_read(int proc, const char *name, ld_process *out);

/* Has it ended, and waits to be reaped? */
bool ld_process_gone(const ld_process *process);

/* Visit every process. `name` is its entry. False when the list can't be read to its end. */
bool ld_process_each(int proc, void (*visit)(pid_t pid, const char *name, void *of), void *of);

/* Processes that must survive what ends the others of their user. */
#define LD_MAX_SPARED 8u

typedef struct ld_spared {
    struct {
        pid_t pid;
        uint64_t started;
    } list[LD_MAX_SPARED];
    size_t count;
} ld_spared;

#endif
