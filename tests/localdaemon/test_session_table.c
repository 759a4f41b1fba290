/* The table of sessions by itself: what is remembered of ended ones is bounded, and a session is one client's. */
#include "examples/localdaemon/provider.h"
#include "examples/localdaemon/session.h"

#include <criterion/criterion.h>

static ld_slots slots;
static ld_sessions sessions;

static void open_table(unsigned max) {
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(ld_slots_open(&slots, &err), CS_OK, "%s", err.message);
    cr_assert_eq(ld_sessions_start(&sessions, &slots, &ld_provider_process, max, &err), CS_OK, "%s", err.message);
}

static void close_table(void) {
    ld_sessions_stop(&sessions);
    ld_slots_close(&slots);
}

static ld_hold open_one(const ld_client *client, ld_facts *facts) {
    cs_error err = CS_ERROR_INIT;
    return ld_sessions_open(&sessions, client, 0, 0, facts, &err);
}

static void open_and_close(ld_facts *facts) {
    cr_assert_eq(open_one(NULL, facts), LD_HOLD_DONE);
    ld_facts closed;
    cr_assert_eq(ld_sessions_close(&sessions, cs_view_of(facts->id), NULL, &closed), LD_HOLD_DONE);
    cr_assert_eq(closed.ending.end, LD_END(CLOSED));
}

static ld_hold hold(const ld_facts *facts, const ld_client *client) {
    ld_session *session = NULL;
    ld_ending why;
    return ld_sessions_hold(&sessions, cs_view_of(facts->id), client, &session, &why);
}

Test(localdaemon_session_table, ended_ones_are_forgotten_in_turn, .timeout = 60) {
    open_table(1);
    ld_facts first, second, more;
    open_and_close(&first);
    open_and_close(&second);
    for (unsigned i = 2; i < LD_SESSIONS_KEPT; i++)
        open_and_close(&more);
    cr_assert_eq(hold(&first, NULL), LD_HOLD_ENDED);
    open_and_close(&more);
    cr_assert_eq(hold(&first, NULL), LD_HOLD_UNKNOWN);
    cr_assert_eq(hold(&second, NULL), LD_HOLD_ENDED);
    close_table();
}

Test(localdaemon_session_table, one_client_each, .timeout = 60) {
    static const ld_client ours = {.id = "ours"}, theirs = {.id = "theirs"};
    open_table(2);
    ld_facts facts, other;
    cr_assert_eq(open_one(&ours, &facts), LD_HOLD_DONE);
    cr_assert_eq(hold(&facts, &theirs), LD_HOLD_UNKNOWN);
    cr_assert_eq(hold(&facts, NULL), LD_HOLD_UNKNOWN);
    cr_assert_eq(ld_sessions_close(&sessions, cs_view_of(facts.id), &theirs, &other), LD_HOLD_UNKNOWN);
    ld_session *session = NULL;
    ld_ending why;
    cr_assert_eq(ld_sessions_hold(&sessions, cs_view_of(facts.id), &ours, &session, &why), LD_HOLD_DONE);
    ld_sessions_release(&sessions, session);
    close_table();
}

/* None begins after the word to stop, and those that are there end. */
Test(localdaemon_session_table, shut, .timeout = 60) {
    open_table(2);
    ld_facts facts, other;
    cr_assert_eq(open_one(NULL, &facts), LD_HOLD_DONE);
    ld_sessions_shut(&sessions);
    cr_assert_eq(open_one(NULL, &other), LD_HOLD_CROWDED);
    cr_assert_eq(hold(&facts, NULL), LD_HOLD_ENDED);
    close_table();
}
