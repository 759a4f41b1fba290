#include "examples/localdaemon/session.h"

#include "examples/localdaemon/interpreter.h"
#include "examples/localdaemon/log.h"
#include "examples/localdaemon/provider.h"
#include "records/digest.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#define STOPPING "the daemon is stopping"

/* ---- the table; the mutex is held in all of these -------------------------------------------------- */

static bool is_it(const ld_facts *facts, cs_view id, const ld_client *client) {
    return facts->client == client && id.len == LD_SESSION_ID_DIGITS &&
           CRYPTO_memcmp(facts->id, id.ptr, LD_SESSION_ID_DIGITS) == 0;
}

static ld_session *find_live(const ld_sessions *sessions, cs_view id, const ld_client *client) {
    for (unsigned i = 0; i < sessions->max; i++)
        if (sessions->live[i] != NULL && is_it(&sessions->live[i]->facts, id, client)) return sessions->live[i];
    return NULL;
}

static const ld_facts *find_ended(const ld_sessions *sessions, cs_view id, const ld_client *client) {
    uint64_t kept = sessions->ended_count < LD_SESSIONS_KEPT ? sessions->ended_count : LD_SESSIONS_KEPT;
    for (uint64_t i = 0; i < kept; i++)
        if (is_it(&sessions->ended[i], id, client)) return &sessions->ended[i];
    return NULL;
}

static bool has_ended(const ld_session *session) {
    return session->facts.ending.end != LD_END(UNSPECIFIED);
}

/* The first reason stays. Whoever runs in it is told to end. */
static void end_session(ld_sessions *sessions, ld_session *session, cs_session_end end, const char *detail) {
    if (has_ended(session)) return;
    session->facts.ending = (ld_ending){.end = end, .detail = detail};
    if (eventfd_write(session->stop_fd, 1) != 0) ld_log("a session's call can't be told to end: %s", strerror(errno));
    pthread_cond_broadcast(&sessions->changed);
}

/* When its time is over. A session that is held does not idle. */
static int64_t due_ms(const ld_session *session) {
    int64_t idle = session->idle_since_ms + session->facts.idle_timeout_ms;
    return idle < session->expires_ms && !session->held && !session->awaited ? idle : session->expires_ms;
}

static void expire(ld_sessions *sessions, ld_session *session, int64_t now) {
    if (now < due_ms(session)) return;
    end_session(sessions, session, LD_END(EXPIRED),
                now >= session->expires_ms ? "its lifetime is over" : "it was idle for longer than its time-out");
}

static void remember(ld_sessions *sessions, const ld_facts *facts) {
    sessions->ended[sessions->ended_count++ % LD_SESSIONS_KEPT] = *facts;
}

/* ---- removal --------------------------------------------------------------------------------------- */

static void give_slot_back(const ld_sessions *sessions, ld_session *session) {
    cs_error err = CS_ERROR_INIT;
    if (session->unclean) {
        ld_log("slot %u is not used again: processes of a session are left", session->slot.number);
        ld_slot_abandon(&session->slot);
    } else if (ld_slot_return(sessions->slots, &session->slot, &err) != CS_OK) {
        ld_log_error("a slot is not used again", &err);
    }
}

/* Remove the session at `index`, which has ended and is held by nobody. The mutex is let go meanwhile. */
static void remove_session(ld_sessions *sessions, unsigned index) {
    ld_session *session = sessions->live[index];
    session->held = true;
    pthread_mutex_unlock(&sessions->mutex);
    if (!ld_interpreters_end(session->interpreters)) session->unclean = true;
    if (!ld_provider_leave(sessions->provider, &session->machine)) session->unclean = true;
    give_slot_back(sessions, session);
    close(session->stop_fd);
    free(session->interpreters);
    pthread_mutex_lock(&sessions->mutex);
    remember(sessions, &session->facts);
    sessions->live[index] = NULL;
    free(session);
    pthread_cond_broadcast(&sessions->changed);
}

/* Remove one session that can be removed. Gives the time when the next is due, 0 for at once (after a removal, during
 * which anything may have changed), or -1 when there is none to wait for. */
static int64_t sweep(ld_sessions *sessions) {
    int64_t next = -1;
    for (unsigned i = 0; i < sessions->max; i++) {
        ld_session *session = sessions->live[i];
        if (session == NULL || session->held || session->awaited) continue;
        if (sessions->stopping) end_session(sessions, session, LD_END(SHUTDOWN), STOPPING);
        expire(sessions, session, ld_monotonic_ms());
        if (has_ended(session)) {
            remove_session(sessions, i);
            return 0;
        }
        if (next < 0 || due_ms(session) < next) next = due_ms(session);
    }
    return next;
}

static bool any_live(const ld_sessions *sessions) {
    for (unsigned i = 0; i < sessions->max; i++)
        if (sessions->live[i] != NULL) return true;
    return false;
}

static void *keep(void *of) {
    ld_sessions *sessions = of;
    pthread_mutex_lock(&sessions->mutex);
    while (!sessions->stopping || any_live(sessions)) {
        int64_t next = sweep(sessions);
        if (next == 0) continue;
        struct timespec until = {.tv_sec = next / 1000, .tv_nsec = next % 1000 * 1000000L};
        if (next > 0)
            pthread_cond_timedwait(&sessions->changed, &sessions->mutex, &until);
        else
            pthread_cond_wait(&sessions->changed, &sessions->mutex);
    }
    pthread_mutex_unlock(&sessions->mutex);
    return NULL;
}

/* ---- beginning and end of the table ---------------------------------------------------------------- */

cs_result ld_sessions_start(ld_sessions *sessions, ld_slots *slots, const ld_provider *provider, unsigned max,
                            cs_error *err) {
    *sessions = (ld_sessions){.slots = slots, .provider = provider, .max = max};
    sessions->ended = calloc(LD_SESSIONS_KEPT, sizeof(*sessions->ended));
    if (sessions->ended == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the sessions");
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&sessions->mutex, NULL);
    pthread_cond_init(&sessions->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sessions->started = pthread_create(&sessions->keeper, NULL, keep, sessions) == 0;
    return sessions->started ? CS_OK : cs_fail(err, CS_CODE_IO, "no thread for the sessions");
}

void ld_sessions_shut(ld_sessions *sessions) {
    if (!sessions->started) return;
    pthread_mutex_lock(&sessions->mutex);
    sessions->stopping = true;
    for (unsigned i = 0; i < sessions->max; i++)
        if (sessions->live[i] != NULL) end_session(sessions, sessions->live[i], LD_END(SHUTDOWN), STOPPING);
    pthread_cond_broadcast(&sessions->changed);
    pthread_mutex_unlock(&sessions->mutex);
}

void ld_sessions_stop(ld_sessions *sessions) {
    if (sessions->started) {
        ld_sessions_shut(sessions);
        pthread_join(sessions->keeper, NULL);
        pthread_cond_destroy(&sessions->changed);
        pthread_mutex_destroy(&sessions->mutex);
        sessions->started = false;
    }
    free(sessions->ended);
    sessions->ended = NULL;
}

/* ---- opening --------------------------------------------------------------------------------------- */

static uint32_t at_most(uint32_t wanted, uint32_t most) {
    return wanted > 0 && wanted < most ? wanted : most;
}

/* An id from the kernel's generator, and its fingerprint. */
static cs_result make_id(ld_facts *facts, cs_error *err) {
    uint8_t random[LD_SESSION_ID_DIGITS / 2];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return cs_fail(err, CS_CODE_IO, "no random numbers: %s", strerror(errno));
    cs_hex(random, sizeof(random), facts->id);
    return cs_session_fingerprint(cs_view_of(facts->id), &facts->chain.session, err);
}

/* Take a place in the table; sessions that are on their way out still have theirs. */
static bool take_place(ld_sessions *sessions, ld_session *session) {
    bool taken = false;
    pthread_mutex_lock(&sessions->mutex);
    for (unsigned i = 0; i < sessions->max && !taken && !sessions->stopping; i++) {
        if (sessions->live[i] != NULL) continue;
        sessions->live[i] = session;
        taken = true;
    }
    pthread_mutex_unlock(&sessions->mutex);
    return taken;
}

static void leave_place(ld_sessions *sessions, const ld_session *session) {
    pthread_mutex_lock(&sessions->mutex);
    for (unsigned i = 0; i < sessions->max; i++)
        if (sessions->live[i] == session) sessions->live[i] = NULL;
    pthread_cond_broadcast(&sessions->changed);
    pthread_mutex_unlock(&sessions->mutex);
}

static void begin_times(ld_session *session, uint32_t lifetime_ms) {
    session->idle_since_ms = ld_monotonic_ms();
    session->expires_ms = session->idle_since_ms + lifetime_ms;
    session->facts.expires_unix_ms = ld_unix_ms() + lifetime_ms;
}

ld_hold ld_sessions_open(ld_sessions *sessions, const ld_client *client, uint32_t lifetime_ms, uint32_t idle_timeout_ms,
                         ld_facts *out, cs_error *err) {
    ld_hold hold = LD_HOLD_FAILED;
    ld_session *session = calloc(1, sizeof(*session));
    ld_interpreters *interpreters = ld_interpreters_new();
    if (session == NULL || interpreters == NULL) {
        free(session);
        free(interpreters);
        (void)cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the session");
        return hold;
    }
    session->interpreters = interpreters;
    session->held = true;
    session->facts.client = client;
    session->facts.ending.detail = "";
    session->facts.idle_timeout_ms = at_most(idle_timeout_ms, LD_SESSION_IDLE_MS);
    begin_times(session, at_most(lifetime_ms, LD_SESSION_LIFETIME_MS));
    session->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (session->stop_fd < 0) {
        (void)cs_fail(err, CS_CODE_IO, "eventfd: %s", strerror(errno));
        goto out;
    }
    if (make_id(&session->facts, err) != CS_OK) goto out;
    hold = LD_HOLD_CROWDED;
    if (!take_place(sessions, session)) goto out;
    hold = LD_HOLD_FAILED;
    if (ld_slot_take(sessions->slots, sessions->provider->fixed_paths, &session->slot, err) != CS_OK) {
        leave_place(sessions, session);
        goto out;
    }
    *out = session->facts;
    ld_sessions_release(sessions, session);
    return LD_HOLD_DONE;
out:
    if (session->stop_fd >= 0) close(session->stop_fd);
    free(session->interpreters);
    free(session);
    return hold;
}

/* ---- calls ----------------------------------------------------------------------------------------- */

/* Wait until nobody holds the session, as the only one who waits; or until it has ended. The mutex is held. */
static ld_hold take_turn(ld_sessions *sessions, ld_session *session) {
    if (session->held) {
        if (session->awaited) return LD_HOLD_CROWDED;
        session->awaited = true;
        while (session->held && !has_ended(session))
            pthread_cond_wait(&sessions->changed, &sessions->mutex);
        session->awaited = false;
        pthread_cond_broadcast(&sessions->changed);
    }
    expire(sessions, session, ld_monotonic_ms());
    if (has_ended(session)) return LD_HOLD_ENDED;
    session->held = true;
    return LD_HOLD_DONE;
}

ld_hold ld_sessions_hold(ld_sessions *sessions, cs_view id, const ld_client *client, ld_session **out, ld_ending *why) {
    ld_hold hold = LD_HOLD_UNKNOWN;
    *out = NULL;
    pthread_mutex_lock(&sessions->mutex);
    ld_session *session = find_live(sessions, id, client);
    const ld_facts *ended = session == NULL ? find_ended(sessions, id, client) : NULL;
    if (session != NULL) {
        hold = take_turn(sessions, session);
        *why = session->facts.ending;
        if (hold == LD_HOLD_DONE) *out = session;
    } else if (ended != NULL) {
        hold = LD_HOLD_ENDED;
        *why = ended->ending;
    }
    pthread_mutex_unlock(&sessions->mutex);
    return hold;
}

ld_ending ld_sessions_ending(ld_sessions *sessions, ld_session *session) {
    pthread_mutex_lock(&sessions->mutex);
    if (session->unclean) end_session(sessions, session, LD_END(BOUNDARY_FAILED), "a process of it could not be ended");
    if (session->machine != NULL && sessions->provider->machine->lost(session->machine))
        end_session(sessions, session, LD_END(BOUNDARY_FAILED), "its machine is lost");
    expire(sessions, session, ld_monotonic_ms());
    ld_ending ending = session->facts.ending;
    pthread_mutex_unlock(&sessions->mutex);
    return ending;
}

void ld_sessions_release(ld_sessions *sessions, ld_session *session) {
    pthread_mutex_lock(&sessions->mutex);
    session->held = false;
    session->idle_since_ms = ld_monotonic_ms();
    pthread_cond_broadcast(&sessions->changed);
    pthread_mutex_unlock(&sessions->mutex);
}

ld_hold ld_sessions_close(ld_sessions *sessions, cs_view id, const ld_client *client, ld_facts *facts) {
    pthread_mutex_lock(&sessions->mutex);
    ld_session *session = find_live(sessions, id, client);
    if (session != NULL) {
        if (!session->held) expire(sessions, session, ld_monotonic_ms());
        end_session(sessions, session, LD_END(CLOSED), "it was closed");
    }
    while (find_live(sessions, id, client) != NULL)
        pthread_cond_wait(&sessions->changed, &sessions->mutex);
    const ld_facts *ended = find_ended(sessions, id, client);
    if (ended != NULL) *facts = *ended;
    pthread_mutex_unlock(&sessions->mutex);
    return ended != NULL ? LD_HOLD_DONE : LD_HOLD_UNKNOWN;
}
