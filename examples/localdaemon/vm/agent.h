/* The parts of the agent, process 1 of the guest: it alone is root there, and everything else is the run's. */
#ifndef LD_VM_AGENT_H
#define LD_VM_AGENT_H

#include "examples/localdaemon/vm/protocol.h"
#include "records/base.h"
#include <sys/types.h>

#define AGENT_USER 1000u
#define AGENT_SYSTEM "/system" /* the root of what a run sees */

/* ---- agent_setup.c: the machine ---- */

/* Print what went wrong on the console and end the machine. */
_Noreturn void agent_die(const char *what);

/* Load modules, mount, make the run's folders, bring up the network; open and give the port. */
int agent_boot(void);
/* Set the clock. */
void agent_set_clock(uint64_t unix_ms);

/* ---- agent_port.c: frames ---- */

typedef struct agent_frame {
    uint8_t type;
    uint8_t *payload; /* malloc */
    size_t len;
} agent_frame;

/* The next frame, or the machine's end when there is no more. */
void agent_receive(int port, agent_frame *out);
void agent_send(int port, uint8_t type, const void *payload, size_t len);

uint64_t agent_number(const uint8_t *at, size_t bytes);
void agent_put_number(uint8_t *at, size_t bytes, uint64_t number);

/* ---- agent_run.c: commands ---- */

/* Run the command of an LD_VM_RUN and tell of it. */
void agent_run(int port, const agent_frame *request);

#endif
