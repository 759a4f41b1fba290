/* Calls of a session, against a scripted daemon: what stops it, and what does not. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/session_case.h"
#include "tests/support/canon.h"

#define ONES "1111111111111111111111111111111111111111111111111111111111111111"

/* ---- calls that fail ------------------------------------------------------------------------------ */

static void call_same(sample *s) {
    (void)s;
}
static void call_session(sample *s) {
    canon_set(&s->record->session, "3eb1bd439947eb762998e566ccc2e099c791118b2f40579cc4f7da2b5061b7f8");
}
static void call_sequence(sample *s) {
    s->record->sequence++;
}
static void call_previous(sample *s) {
    canon_set(&s->record->previous_sha256, "");
}
static void call_policy(sample *s) {
    canon_set(&s->record->policy, "policy:other");
}
static void call_provider(sample *s) {
    canon_set(&s->record->provider, "runc");
    canon_set(&s->response->sandbox, "runc");
}
static void call_tier(sample *s) {
    canon_set(&s->record->isolation, "vm");
    canon_set(&s->response->isolation, "vm");
}
static void call_output(sample *s) {
    canon_set(&s->response->javascript->stdout, "3\n");
}

typedef struct call_twin {
    void (*change)(sample *s);
    unsigned seal;
    cs_code code;
} call_twin;

static const call_twin call_twins[] = {
    {call_same, 0, CS_CODE_OK},
    {call_session, SEAL_RECORD | SEAL_BYTES, CS_CODE_SESSION_FINGERPRINT},
    {call_sequence, SEAL_RECORD | SEAL_BYTES, CS_CODE_CHAIN_SEQUENCE},
    {call_previous, SEAL_RECORD | SEAL_BYTES, CS_CODE_CHAIN_PREVIOUS},
    {call_policy, SEAL_RECORD | SEAL_BYTES, CS_CODE_POLICY_DRIFT},
    {call_provider, SEAL_RECORD | SEAL_BYTES, CS_CODE_PROVIDER_DRIFT},
    {call_tier, SEAL_RECORD | SEAL_BYTES, CS_CODE_TIER_DRIFT},
    {call_output, SEAL_BYTES, CS_CODE_RESULT_DIGEST},
};

/* The second of three calls is changed. The daemon's close counts what it ran, which is not what was followed. */
Test(session_live, a_call_that_fails_a_check_stops_the_session) {
    for (size_t i = 0; i < sizeof call_twins / sizeof *call_twins; i++) {
        bool good = call_twins[i].code == CS_CODE_OK;
        session_case c;
        session_case_init(&c);
        session_case_begin(&c);
        session_case_add(&c);
        sample *s = session_case_next(&c);
        call_twins[i].change(s);
        sample_seal(s, call_twins[i].seal);
        live_call_answer(&c.script, s, 0);
        if (good) session_case_add(&c);
        session_case_end(&c, c.count, session_case_last(&c));
        if (!good) session_case_next(&c);
        session_case_run(&c);
        EXPECT_END(c.reports[0], CS_OK, CS_CODE_OK);
        EXPECT_END(c.reports[1], good ? CS_OK : CS_FAILED, call_twins[i].code);
        EXPECT_END(c.reports[2], good ? CS_OK : CS_NOT_RUN, good ? CS_CODE_OK : CS_CODE_SESSION_STOPPED);
        EXPECT_END(c.close, good ? CS_OK : CS_FAILED, good ? CS_CODE_OK : CS_CODE_CHAIN_CLOSE);
        cr_expect_eq(peer_connections(c.daemon), good ? 7 : 6);
        char want[128];
        (void)snprintf(want, sizeof want, "run finding:%s finding:chain-close", cs_code_name(call_twins[i].code));
        session_case_entries(&c, good ? "run run run close" : want);
        if (!good) session_case_verified(&c, CS_FAILED, CS_CODE_CHAIN_UNCLOSED, 1, 0);
        session_case_free(&c);
    }
}

Test(session_live, a_field_that_no_digest_covers) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    session_case_add(&c);
    /* An unknown field 99 behind the run. */
    peer_step *step = &c.script.steps[2];
    uint8_t *longer = malloc(step->body.len + 3);
    cr_assert_not_null(longer);
    memcpy(longer, step->body.ptr, step->body.len);
    memcpy(longer + step->body.len, "\x98\x06\x01", 3);
    c.script.owned[c.script.owned_count++] = longer;
    step->body = (cs_view){.ptr = longer, .len = step->body.len + 3};
    session_case_end(&c, 1, session_case_last(&c));
    session_case_run(&c);
    EXPECT_END(c.reports[0], CS_FAILED, CS_CODE_MESSAGE_UNKNOWN_FIELD);
    cr_expect_null(c.reports[0].checked.record);
    session_case_entries(&c, "finding:message-unknown-field finding:chain-close");
    session_case_free(&c);
}

Test(session_live, a_refused_call_leaves_the_session_as_it_is) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    session_case_add(&c);
    live_step(&c.script, live_refusal());
    sample refused;
    sample_init(&refused);
    sample *second = session_case_next(&c);
    live_call_answer(&c.script, second, 0);
    session_case_end(&c, 2, session_case_last(&c));
    session_case_open(&c, "process");
    session_case_call(&c, 0);
    cr_expect_eq(cs_session_call(&c.session, live_request(&refused), &c.reports[2]), CS_NOT_RUN);
    session_case_call(&c, 1);
    cr_expect_eq(cs_session_finish(&c.session, &c.close), CS_OK, "%s", c.close.err.message);
    peer_stop(c.daemon);
    EXPECT_END(c.reports[2], CS_NOT_RUN, CS_CODE_REFUSED_CAPACITY);
    EXPECT_END(c.reports[1], CS_OK, CS_CODE_OK);
    session_case_entries(&c, "run run close");
    sample_free(&refused);
    session_case_free(&c);
}

Test(session_live, an_invalid_call_is_never_sent) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    sample *s = session_case_next(&c);
    canon_set(&s->request->javascript->code, "");
    c.count = 1;
    session_case_end(&c, 0, "");
    session_case_run(&c);
    EXPECT_END(c.reports[0], CS_NOT_RUN, CS_CODE_REQUEST_INVALID);
    cr_expect_not(c.reports[0].ran);
    EXPECT_END(c.close, CS_OK, CS_CODE_OK);
    cr_expect_eq(peer_connections(c.daemon), 4);
    session_case_entries(&c, "close");
    session_case_free(&c);
}

/* ---- calls without an answer ---------------------------------------------------------------------- */

Test(session_live, a_good_record_of_a_call_without_an_answer_is_signed) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    session_case_add(&c);
    live_unanswered(&c.script, session_case_next(&c), 0);
    session_case_add(&c);
    session_case_end(&c, 3, session_case_last(&c));
    session_case_run(&c);
    EXPECT_END(c.reports[1], CS_MAYBE_RAN, CS_CODE_UNANSWERED_ERROR);
    cr_expect_not_null(c.reports[1].checked.record);
    EXPECT_END(c.reports[2], CS_OK, CS_CODE_OK);
    EXPECT_END(c.close, CS_OK, CS_CODE_OK);
    session_case_entries(&c, "run unanswered run close");
    session_case_verified(&c, CS_OK, CS_CODE_OK, 3, 1);
    session_case_free(&c);
}

Test(session_live, without_a_record_nothing_more_is_sent) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    session_case_add(&c);
    live_unanswered(&c.script, NULL, 0);
    session_case_end(&c, 2, ONES);
    session_case_next(&c);
    session_case_next(&c);
    session_case_run(&c);
    EXPECT_END(c.reports[1], CS_MAYBE_RAN, CS_CODE_UNANSWERED_ERROR);
    EXPECT_END(c.reports[2], CS_NOT_RUN, CS_CODE_SESSION_STOPPED);
    EXPECT_END(c.close, CS_MAYBE_RAN, CS_CODE_SESSION_UNCLOSED);
    cr_expect_not_null(strstr(c.close.err.message, "may have run"));
    cr_expect_eq(c.close.envelope.len, 0);
    cr_expect_eq(peer_connections(c.daemon), 6);
    session_case_entries(&c, "run finding:unanswered-error finding:session-unclosed");
    session_case_verified(&c, CS_FAILED, CS_CODE_CHAIN_UNCLOSED, 1, 0);
    session_case_free(&c);
}

static void after_same(cs_describe_response *d) {
    (void)d;
}
static void after_provider(cs_describe_response *d) {
    canon_set(&d->sandbox, "other");
}

/* After a lost call a daemon may have counted that one call, and nothing else is excused. */
Test(session_live, closes_after_a_lost_call) {
    static const struct {
        bool lost;
        uint64_t calls;
        const char *last; /* NULL: the record of the first call */
        void (*after)(cs_describe_response *d);
        cs_result result;
        cs_code code;
    } twins[] = {
        {true, 2, ONES, after_same, CS_MAYBE_RAN, CS_CODE_SESSION_UNCLOSED},
        {false, 2, ONES, after_same, CS_FAILED, CS_CODE_CHAIN_CLOSE},
        {true, 3, ONES, after_same, CS_FAILED, CS_CODE_CHAIN_CLOSE},
        {true, 1, ONES, after_same, CS_FAILED, CS_CODE_CHAIN_CLOSE},
        {true, 0, "", after_same, CS_FAILED, CS_CODE_CHAIN_CLOSE},
        {true, 2, NULL, after_same, CS_FAILED, CS_CODE_CHAIN_CLOSE},
        {true, 2, "", after_same, CS_FAILED, CS_CODE_CHAIN_CLOSE},
        {true, 2, ONES, after_provider, CS_FAILED, CS_CODE_PROVIDER_DRIFT},
    };
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        session_case c;
        session_case_init(&c);
        session_case_begin(&c);
        session_case_add(&c);
        const char *last = twins[i].last != NULL ? twins[i].last : session_case_last(&c);
        if (twins[i].lost) {
            live_step(&c.script, (peer_step){.end = PEER_CLOSE});
            session_case_next(&c);
        }
        twins[i].after(c.calls[0].after);
        session_case_end(&c, twins[i].calls, last);
        session_case_run(&c);
        if (twins[i].lost) EXPECT_END(c.reports[1], CS_MAYBE_RAN, CS_CODE_UNANSWERED_CONNECTION);
        EXPECT_END(c.close, twins[i].result, twins[i].code);
        cr_expect_eq(c.close.envelope.len, 0, "%zu", i);
        session_case_free(&c);
    }
}

/* The daemon never saw the call: its close says what was followed, which shows that the call did not run. */
Test(session_live, a_close_that_agrees_is_signed_also_after_a_lost_call) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    session_case_add(&c);
    live_step(&c.script, (peer_step){.end = PEER_CLOSE});
    session_case_end(&c, 1, session_case_last(&c));
    session_case_next(&c);
    session_case_run(&c);
    EXPECT_END(c.reports[1], CS_MAYBE_RAN, CS_CODE_UNANSWERED_CONNECTION);
    EXPECT_END(c.close, CS_OK, CS_CODE_OK);
    session_case_entries(&c, "run finding:unanswered-connection close");
    session_case_verified(&c, CS_OK, CS_CODE_OK, 1, 1);
    session_case_free(&c);
}

Test(session_live, a_bad_record_of_a_call_without_an_answer) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    sample *s = session_case_next(&c);
    s->record->sequence = 2;
    live_unanswered(&c.script, s, 0);
    session_case_end(&c, 1, session_case_last(&c));
    session_case_run(&c);
    EXPECT_END(c.reports[0], CS_FAILED, CS_CODE_CHAIN_SEQUENCE);
    cr_expect_not_null(strstr(c.reports[0].err.message, "may have run"));
    EXPECT_END(c.close, CS_FAILED, CS_CODE_CHAIN_CLOSE);
    session_case_entries(&c, "finding:chain-sequence finding:chain-close");
    session_case_free(&c);
}

Test(session_live, an_ended_session_gets_no_further_call) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    live_call_answer(&c.script, session_case_next(&c), 2);
    session_case_end(&c, 1, session_case_last(&c));
    session_case_next(&c);
    session_case_run(&c);
    EXPECT_END(c.reports[0], CS_OK, CS_CODE_OK);
    EXPECT_END(c.reports[1], CS_NOT_RUN, CS_CODE_SESSION_STOPPED);
    cr_expect_not_null(strstr(c.reports[1].err.message, "expired"));
    EXPECT_END(c.close, CS_OK, CS_CODE_OK);
    session_case_entries(&c, "run close");
    session_case_free(&c);
}

/* What is not in the ledger can't be covered by a signed close of that ledger. */
Test(session_live, a_call_that_the_ledger_did_not_take) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    session_case_add(&c);
    session_case_end(&c, 1, session_case_last(&c));
    session_case_next(&c);
    session_case_open(&c, "process");
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(c.ledger_path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    session_case_call(&c, 0);
    cr_assert_eq(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_close(db), SQLITE_OK);
    session_case_call(&c, 1);
    cr_expect_eq(cs_session_finish(&c.session, &c.close), CS_UNCHECKED);
    peer_stop(c.daemon);
    EXPECT_END(c.reports[0], CS_UNCHECKED, CS_CODE_LEDGER_LOCKED);
    cr_expect_str_neq(c.reports[0].side_file, "");
    EXPECT_END(c.reports[1], CS_NOT_RUN, CS_CODE_SESSION_STOPPED);
    EXPECT_END(c.close, CS_UNCHECKED, CS_CODE_SESSION_UNCLOSED);
    session_case_entries(&c, "finding:session-unclosed");
    session_case_free(&c);
}

/* That it may have run counts for more than the ledger's trouble; the record is kept beside it. */
Test(session_live, an_unanswered_call_that_the_ledger_did_not_take) {
    session_case c;
    session_case_init(&c);
    session_case_begin(&c);
    live_unanswered(&c.script, session_case_next(&c), 0);
    session_case_end(&c, 1, session_case_last(&c));
    session_case_open(&c, "process");
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(c.ledger_path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    session_case_call(&c, 0);
    cr_assert_eq(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_close(db), SQLITE_OK);
    cr_expect_eq(cs_session_finish(&c.session, &c.close), CS_UNCHECKED);
    peer_stop(c.daemon);
    EXPECT_END(c.reports[0], CS_MAYBE_RAN, CS_CODE_UNANSWERED_ERROR);
    cr_expect_not_null(strstr(c.reports[0].err.message, "ledger-locked"));
    cr_expect_str_neq(c.reports[0].side_file, "");
    EXPECT_END(c.close, CS_UNCHECKED, CS_CODE_SESSION_UNCLOSED);
    session_case_free(&c);
}
