/* The daemon's state that every request shares. Set up before it serves; only `running` and what the
 * sessions guard themselves change after. */
#ifndef LD_DAEMON_H
#define LD_DAEMON_H

#include "examples/localdaemon/clients.h"
#include "examples/localdaemon/session.h"
#include "records/sha256.h"
#include <stdatomic.h>

#define LD_POLICY_PREFIX "localdaemon-policy:sha256:"

typedef struct ld_daemon {
    ld_sandbox sandbox;
    ld_slots slots;
    ld_clients clients;
    ld_sessions sessions;
    bool open; /* no clients file: every caller may do everything */
    uint32_t protocol;
    unsigned max_concurrent;
    atomic_uint running;
    int stop_fd; /* an eventfd: readable from the stop on */
    char policy[sizeof(LD_POLICY_PREFIX) + CS_SHA256_HEX];
} ld_daemon;

#endif
