/* Sessions of protocol 4: records of version 4 for answered and unanswered calls alike. */
#include <criterion/criterion.h>

#include "tests/harness/session_case.h"
#include "tests/support/changes.h"

static void begin(session_case *c) {
    session_case_init(c);
    for (size_t i = 0; i < SESSION_CASE_CALLS; i++)
        change_make_version_4(&c->calls[i]);
    session_case_begin(c);
}

Test(protocol_4, a_session_with_an_unanswered_call_is_signed_and_verifies) {
    session_case c;
    begin(&c);
    session_case_add(&c);
    live_unanswered(&c.script, session_case_next(&c), 0);
    session_case_add(&c);
    session_case_end(&c, 3, session_case_last(&c));
    session_case_run(&c);
    EXPECT_END(c.session.opening, CS_OK, CS_CODE_OK);
    EXPECT_END(c.reports[0], CS_OK, CS_CODE_OK);
    EXPECT_END(c.reports[1], CS_MAYBE_RAN, CS_CODE_UNANSWERED_ERROR);
    EXPECT_END(c.reports[2], CS_OK, CS_CODE_OK);
    EXPECT_END(c.close, CS_OK, CS_CODE_OK);
    session_case_entries(&c, "run unanswered run close");
    session_case_verified(&c, CS_OK, CS_CODE_OK, 3, 1);
    session_case_free(&c);
}

/* The twins: one thing of the second call is as protocol 3 has it, or is not what the response says. */
static void expect_stopped(void (*change)(sample *s), cs_code code, const char *entries) {
    session_case c;
    begin(&c);
    session_case_add(&c);
    sample *s = session_case_next(&c);
    change(s);
    sample_seal(s, SEAL_RECORD | SEAL_BYTES);
    live_call_answer(&c.script, s, 0);
    session_case_end(&c, 2, session_case_last(&c));
    session_case_run(&c);
    EXPECT_END(c.reports[0], CS_OK, CS_CODE_OK);
    EXPECT_END(c.reports[1], CS_FAILED, code);
    session_case_entries(&c, entries);
    session_case_free(&c);
}

Test(protocol_4, an_answered_call_of_another_version_is_a_finding) {
    expect_stopped(change_version_2, CS_CODE_RECORD_VERSION, "run finding:record-version finding:chain-close");
}

Test(protocol_4, an_instance_that_the_response_denies_is_a_finding) {
    expect_stopped(change_record_instance, CS_CODE_INSTANCE_MISMATCH,
                   "run finding:instance-mismatch finding:chain-close");
}

/* The record of an unanswered call has version 3 in protocol 3 only. */
Test(protocol_4, an_unanswered_call_of_version_3_is_a_finding) {
    session_case c;
    begin(&c);
    sample *s = session_case_next(&c);
    s->request->protocol = 3;
    live_unanswered(&c.script, s, 0);
    s->request->protocol = 4;
    session_case_end(&c, 1, session_case_last(&c));
    session_case_run(&c);
    EXPECT_END(c.reports[0], CS_FAILED, CS_CODE_RECORD_VERSION);
    session_case_entries(&c, "finding:record-version finding:chain-close");
    session_case_free(&c);
}
