/* The table of sessions: who holds one, how long it lives, why it ended.
 *
 * A session is a slot that is kept from call to call. At most one call holds it at a time, and one more waits. A thread
 * of its own ends sessions whose time is over and gives their slots back; nobody else does. What is known of an ended
 * session (not its files) stays for a while, so that its caller can be told and can close it.
 */
#ifndef LD_SESSION_H
#define LD_SESSION_H

#include "examples/localdaemon/clients.h"
#include "examples/localdaemon/slot.h"
#include "records/wire.h"
#include <pthread.h>

#define LD_SESSION_LIFETIME_MS 3600000u /* at most, and when nothing is asked for */
#define LD_SESSION_IDLE_MS 600000u      /* the same */
#define LD_SESSION_ID_DIGITS 32u
#define LD_SESSIONS_KEPT 256u /* ended sessions that are remembered; the oldest is forgotten first */

#define LD_END(name) PLIMSOLL__V1__SESSION_END__SESSION_END_##name

/* Where a session's chain of records stands. */
typedef struct ld_chain {
    cs_digest session;  /* fingerprint: SHA-256 of the id */
    uint64_t calls;     /* sequence of the newest record; 0: none yet */
    cs_digest previous; /* digest of the newest record; "" before the first */
} ld_chain;

/* Why a session ended; unspecified while it lives. */
typedef struct ld_ending {
    cs_session_end end;
    const char *detail; /* static */
} ld_ending;

/* What is known of a session, also after its end. */
typedef struct ld_facts {
    char id[LD_SESSION_ID_DIGITS + 1]; /* whoever knows it may use the session: never logged */
    const ld_client *client;           /* who opened it; NULL when the daemon is open to every caller */
    int64_t expires_unix_ms;
    uint32_t idle_timeout_ms;
    ld_ending ending;
    ld_chain chain; /* changed only by the call that holds the session */
} ld_facts;

struct ld_interpreters;
struct ld_machine;
struct ld_provider;

typedef struct ld_session {
    ld_facts facts;
    ld_slot slot;
    struct ld_interpreters *interpreters; /* interpreter.h */
    struct ld_machine *machine;           /* provider.h */
    int stop_fd;                          /* an eventfd: readable when a running call must end */
    int64_t expires_ms;                   /* of the monotonic clock */
    int64_t idle_since_ms;                /* the same */
    bool held;                            /* by a call, by its opening, or by its removal */
    bool awaited;                         /* by a second call */
    bool unclean;                         /* a process may be left: the slot is not used again */
} ld_session;

/* Everything is guarded by the mutex, but a session's slot, chain and interpreters by holding it. */
typedef struct ld_sessions {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    pthread_t keeper;
    bool started;
    bool stopping;
    const struct ld_provider *provider;
    ld_slots *slots;
    unsigned max;
    ld_session *live[LD_MAX_SESSIONS];
    ld_facts *ended; /* a ring of LD_SESSIONS_KEPT */
    uint64_t ended_count;
} ld_sessions;

/* Begin. End with ld_sessions_stop, also after a failure. */
CS_MUST_CHECK cs_result ld_sessions_start(ld_sessions *sessions, ld_slots *slots, const struct ld_provider *provider,
                                          unsigned max, cs_error *err);
/* Let no call begin any more, and end those that run. */
void ld_sessions_shut(ld_sessions *sessions);
/* The same, then end every session and wait until nothing of them is left. No call may be under way. */
void ld_sessions_stop(ld_sessions *sessions);

typedef enum ld_hold {
    LD_HOLD_DONE,
    LD_HOLD_UNKNOWN, /* no such session, or another client's */
    LD_HOLD_ENDED,
    LD_HOLD_CROWDED, /* one call runs and one waits; or as many sessions are open as are allowed */
    LD_HOLD_FAILED   /* the machine's fault; told in err */
} ld_hold;

/* Open a session: fills *out with its facts. The times are those asked for (0: the most), cut to what is allowed. */
CS_MUST_CHECK ld_hold ld_sessions_open(ld_sessions *sessions, const ld_client *client, uint32_t lifetime_ms,
                                       uint32_t idle_timeout_ms, ld_facts *out, cs_error *err);

/* Get hold of a session for one call, after the one that runs. On LD_HOLD_DONE *out is the session until it is
 * released; on LD_HOLD_ENDED *why says why it ended. */
CS_MUST_CHECK ld_hold ld_sessions_hold(ld_sessions *sessions, cs_view id, const ld_client *client, ld_session **out,
                                       ld_ending *why);

/* What has ended this session by now: somebody else, its lifetime, or a process that can't be ended. */
ld_ending ld_sessions_ending(ld_sessions *sessions, ld_session *session);

/* Let go of it. It is gone right after this when it has ended. */
void ld_sessions_release(ld_sessions *sessions, ld_session *session);

/* Close a session: a running call is ended, nothing of it is left afterwards. One that has ended already is told as it
 * ended. LD_HOLD_DONE with its *facts, or LD_HOLD_UNKNOWN. */
CS_MUST_CHECK ld_hold ld_sessions_close(ld_sessions *sessions, cs_view id, const ld_client *client, ld_facts *facts);

#endif
