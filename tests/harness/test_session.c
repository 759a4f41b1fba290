/* Openings and closes of a session, against a scripted daemon. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/session_case.h"
#include "tests/support/canon.h"

/* ---- what goes well ------------------------------------------------------------------------------- */

Test(session_live, calls_and_close_are_signed_and_kept) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    session_case_add(&c);
    session_case_add(&c);
    session_case_end(&c, 2, session_case_last(&c));
    session_case_run(&c);
    EXPECT_END(c.session.opening, CS_OK, CS_CODE_OK);
    EXPECT_END(c.reports[0], CS_OK, CS_CODE_OK);
    EXPECT_END(c.reports[1], CS_OK, CS_CODE_OK);
    EXPECT_END(c.close, CS_OK, CS_CODE_OK);
    cr_expect_eq(peer_connections(c.daemon), 6);
    cr_expect_eq(c.reports[0].entry, 1);
    cr_expect_eq(c.close.entry, 3);
    cr_expect_eq(c.session.chain.calls, 2);
    session_case_entries(&c, "run run close");
    session_case_verified(&c, CS_OK, CS_CODE_OK, 2, 1);
    session_case_free(&c);
}

Test(session_live, a_session_without_calls) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    session_case_end(&c, 0, "");
    session_case_run(&c);
    EXPECT_END(c.close, CS_OK, CS_CODE_OK);
    session_case_entries(&c, "close");
    session_case_free(&c);
}

Test(session_live, the_stronger_floor_goes_out) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    sample *s = session_case_next(&c);
    canon_set(&s->request->minimum_isolation, "kernel");
    sample_seal(s, SEAL_ALL);
    live_call_answer(&c.script, s, 0);
    session_case_end(&c, 1, session_case_last(&c));
    canon_set(&s->request->minimum_isolation, "process"); /* what the call asks for; the session asks for more */
    session_case_open(&c, "kernel");
    session_case_call(&c, 0);
    cr_assert_eq(cs_session_finish(&c.session, &c.close), CS_OK, "%s", c.close.err.message);
    peer_stop(c.daemon);
    EXPECT_END(c.reports[0], CS_OK, CS_CODE_OK);
    const cs_buf *sent = &peer_seen(c.daemon, 2)->body;
    cr_expect_not_null(memmem(sent->ptr, sent->len, "\x12\x06kernel", 8));
    cr_expect_not_null(memmem(sent->ptr, sent->len, "\x2a\x20" LIVE_ID, 34));
    session_case_verified(&c, CS_OK, CS_CODE_OK, 1, 1);
    session_case_free(&c);
}

Test(session_live, without_key_and_ledger_it_only_checks) {
    session_case c;
    session_case_init(&c);
    cs_key *key = c.key;
    cs_ledger *ledger = c.ledger;
    session_case_begin(&c);
    session_case_add(&c);
    session_case_end(&c, 1, session_case_last(&c));
    c.key = NULL;
    c.ledger = NULL;
    session_case_run(&c);
    c.key = key;
    c.ledger = ledger;
    EXPECT_END(c.reports[0], CS_OK, CS_CODE_OK);
    EXPECT_END(c.close, CS_OK, CS_CODE_OK);
    session_case_entries(&c, "");
    session_case_free(&c);
}

/* ---- openings that fail --------------------------------------------------------------------------- */

typedef struct open_twin {
    void (*change)(cs_open_session_response *response);
    cs_code code;
    size_t connections; /* Describe, Open, and the close of what was opened */
} open_twin;

static ProtobufCBinaryData text(const char *bytes) {
    return (ProtobufCBinaryData){.len = strlen(bytes), .data = (uint8_t *)(uintptr_t)bytes};
}

static void open_same(cs_open_session_response *r) {
    (void)r;
}
static void open_id(cs_open_session_response *r) {
    r->session_id = text("0123456789ABCDEF0123456789abcdef");
}
static void open_no_id(cs_open_session_response *r) {
    r->session_id = text("");
}
static void open_fingerprint(cs_open_session_response *r) {
    r->session = text("3eb1bd439947eb762998e566ccc2e099c791118b2f40579cc4f7da2b5061b7f8");
}
static void open_provider(cs_open_session_response *r) {
    r->sandbox = text("other");
}
static void open_tier(cs_open_session_response *r) {
    r->isolation = text("vm");
}

Test(session_live, an_opening_that_fails_a_check_is_closed_again) {
    static const open_twin twins[] = {
        {open_same, CS_CODE_OK, 4},
        {open_id, CS_CODE_SESSION_ID, 3},
        {open_no_id, CS_CODE_SESSION_ID, 2},
        {open_fingerprint, CS_CODE_SESSION_FINGERPRINT, 3},
        {open_provider, CS_CODE_PROVIDER_DRIFT, 3},
        {open_tier, CS_CODE_TIER_DRIFT, 3},
    };
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        session_case c;
        session_case_init(&c);
        live_describe(&c.script, c.calls[0].before);
        cs_open_session_response opened = live_opened();
        twins[i].change(&opened);
        live_open(&c.script, &opened);
        session_case_end(&c, 0, "");
        session_case_run(&c);
        bool good = twins[i].code == CS_CODE_OK;
        EXPECT_END(c.session.opening, good ? CS_OK : CS_FAILED, twins[i].code);
        EXPECT_END(c.close, good ? CS_OK : CS_NOT_RUN, good ? CS_CODE_OK : CS_CODE_SESSION_STOPPED);
        cr_expect_eq(peer_connections(c.daemon), twins[i].connections, "%zu", i);
        char want[64];
        (void)snprintf(want, sizeof want, "finding:%s", cs_code_name(twins[i].code));
        session_case_entries(&c, good ? "close" : want);
        session_case_free(&c);
    }
}

/* printf 0123456789abcdef0123456789abcde1 | sha256sum */
#define SECOND_ID "0123456789abcdef0123456789abcde1"
#define SECOND_FINGERPRINT "183409d312aff7e63928bad2e6f672e0a1d374e00791b201164066c351a793d4"

/* A session with one call and its close, and then another opening. */
Test(session_live, an_id_that_was_given_out_before) {
    for (int again = 0; again < 2; again++) {
        session_case c;
        session_case_init(&c);
        session_case_begin(&c);
        session_case_add(&c);
        session_case_end(&c, 1, session_case_last(&c));
        cs_open_session_response opened = live_opened();
        if (!again) opened.session_id = text(SECOND_ID);
        if (!again) opened.session = text(SECOND_FINGERPRINT);
        live_describe(&c.script, c.calls[0].before);
        live_open(&c.script, &opened);
        live_close(&c.script, again ? LIVE_FINGERPRINT : SECOND_FINGERPRINT, 0, "");
        live_describe(&c.script, c.calls[0].after);
        session_case_open(&c, "process");
        session_case_call(&c, 0);
        cr_assert_eq(cs_session_finish(&c.session, &c.close), CS_OK, "%s", c.close.err.message);

        const cs_run_options options = c.session.options;
        cs_open_session_request *terms = malloc(sizeof *terms);
        cr_assert_not_null(terms);
        plimsoll__v1__open_session_request__init(terms);
        cs_session second;
        cr_expect_eq(cs_session_open(&options, terms, &second), again ? CS_FAILED : CS_OK);
        EXPECT_END(second.opening, again ? CS_FAILED : CS_OK, again ? CS_CODE_CHAIN_REOPENED : CS_CODE_OK);
        cs_run_report end;
        cs_result closed = cs_session_finish(&second, &end);
        cr_expect_eq(closed, again ? CS_NOT_RUN : CS_OK, "%s", end.err.message);
        peer_stop(c.daemon);
        if (again) cr_expect_not_null(strstr(second.opening.err.message, "entry 2;"), "%s", second.opening.err.message);
        cr_expect_eq(peer_connections(c.daemon), again ? 8 : 9, "closed again at once");
        cs_run_report_free(&end);
        cs_session_free(&second);
        session_case_entries(&c, again ? "run close finding:chain-reopened" : "run close close");
        session_case_verified(&c, CS_OK, CS_CODE_OK, 1, again ? 1 : 2);
        session_case_free(&c);
    }
}

Test(session_live, a_tier_below_the_floor) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    session_case_end(&c, 0, "");
    session_case_open(&c, "vm");
    peer_stop(c.daemon);
    EXPECT_END(c.session.opening, CS_FAILED, CS_CODE_TIER_BELOW_FLOOR);
    cr_expect_eq(peer_connections(c.daemon), 3);
    session_case_free(&c);
}

Test(session_live, an_opening_that_is_refused_leaves_nothing) {
    session_case c;
    session_case_init(&c);
    live_describe(&c.script, c.calls[0].before);
    live_step(&c.script, live_refusal());
    session_case_next(&c);
    session_case_run(&c);
    EXPECT_END(c.session.opening, CS_NOT_RUN, CS_CODE_REFUSED_CAPACITY);
    cr_expect(c.session.opening.outcome.elsewhere);
    EXPECT_END(c.reports[0], CS_NOT_RUN, CS_CODE_SESSION_STOPPED);
    cr_expect_eq(peer_connections(c.daemon), 2);
    session_case_entries(&c, "");
    session_case_free(&c);
}

Test(session_live, an_opening_that_is_not_answered) {
    session_case c;
    session_case_init(&c);
    live_describe(&c.script, c.calls[0].before);
    live_step(&c.script, (peer_step){.end = PEER_CLOSE});
    session_case_run(&c);
    EXPECT_END(c.session.opening, CS_NOT_RUN, CS_CODE_SESSION_OPEN_FAILED);
    session_case_entries(&c, "finding:session-open-failed");
    session_case_free(&c);
}

Test(session_live, invalid_terms_are_never_sent) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    session_case_open(&c, "castle");
    peer_stop(c.daemon);
    EXPECT_END(c.session.opening, CS_NOT_RUN, CS_CODE_REQUEST_INVALID);
    cr_expect_eq(peer_connections(c.daemon), 0);
    session_case_free(&c);
}

/* ---- closes that fail ----------------------------------------------------------------------------- */

Test(session_live, a_close_that_does_not_agree) {
    static const struct {
        const char *session;
        uint64_t calls;
        bool last;
        cs_code code;
    } twins[] = {
        {LIVE_FINGERPRINT, 1, true, CS_CODE_OK},
        {LIVE_FINGERPRINT, 2, true, CS_CODE_CHAIN_CLOSE},
        {LIVE_FINGERPRINT, 1, false, CS_CODE_CHAIN_CLOSE},
        {"3eb1bd439947eb762998e566ccc2e099c791118b2f40579cc4f7da2b5061b7f8", 1, true, CS_CODE_SESSION_FINGERPRINT},
    };
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        session_case c;
        session_case_init(&c);
        session_case_begin(&c);
        session_case_add(&c);
        live_close(&c.script, twins[i].session, twins[i].calls, twins[i].last ? session_case_last(&c) : "");
        live_describe(&c.script, c.calls[0].after);
        session_case_run(&c);
        bool good = twins[i].code == CS_CODE_OK;
        EXPECT_END(c.close, good ? CS_OK : CS_FAILED, twins[i].code);
        cr_expect_eq(c.close.envelope.len > 0, good);
        session_case_verified(&c, good ? CS_OK : CS_FAILED, good ? CS_CODE_OK : CS_CODE_CHAIN_UNCLOSED, 1, good);
        session_case_free(&c);
    }
}

Test(session_live, a_close_that_is_not_answered) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    session_case_add(&c);
    live_step(&c.script, (peer_step){.end = PEER_CLOSE});
    session_case_run(&c);
    EXPECT_END(c.close, CS_UNCHECKED, CS_CODE_SESSION_UNCLOSED);
    session_case_entries(&c, "run finding:session-unclosed");
    session_case_free(&c);
}

static void after_provider(cs_describe_response *d) {
    canon_set(&d->sandbox, "other");
}
static void after_tier(cs_describe_response *d) {
    canon_set(&d->isolation, "vm");
}
static void after_policy(cs_describe_response *d) {
    canon_set(&d->policy, "other");
}
static void after_protocol(cs_describe_response *d) {
    d->protocol = 2;
}

Test(session_live, a_daemon_that_describes_itself_otherwise_afterwards) {
    static const struct {
        void (*change)(cs_describe_response *d);
        cs_code code;
    } twins[] = {
        {after_provider, CS_CODE_PROVIDER_DRIFT},
        {after_tier, CS_CODE_TIER_DRIFT},
        {after_policy, CS_CODE_POLICY_DRIFT},
        {after_protocol, CS_CODE_PROTOCOL_DRIFT},
    };
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        session_case c;
        session_case_init(&c);
        session_case_begin(&c);
        session_case_add(&c);
        twins[i].change(c.calls[0].after);
        session_case_end(&c, 1, session_case_last(&c));
        session_case_run(&c);
        EXPECT_END(c.close, CS_FAILED, twins[i].code);
        session_case_verified(&c, CS_FAILED, CS_CODE_CHAIN_UNCLOSED, 1, 0);
        session_case_free(&c);
    }
}

Test(session_live, a_daemon_that_does_not_describe_itself_afterwards) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    session_case_add(&c);
    live_close(&c.script, LIVE_FINGERPRINT, 1, session_case_last(&c));
    live_step(&c.script, live_refusal());
    session_case_run(&c);
    EXPECT_END(c.close, CS_UNCHECKED, CS_CODE_DESCRIBE_AFTER_FAILED);
    session_case_entries(&c, "run finding:describe-after-failed");
    session_case_free(&c);
}
