/* A live session: the chain of its records, and its close. Every guard has its twin. */
#include "records/session.h"

#include <criterion/criterion.h>

#include "tests/support/canon.h"
#include "tests/support/expect.h"
#include "tests/support/sample.h"

/* printf 0123456789abcdef0123456789abcdef | sha256sum */
#define FINGERPRINT "3eb1bd439947eb762998e566ccc2e099c791118b2f40579cc4f7da2b5061b7f9"

#define D1 "1111111111111111111111111111111111111111111111111111111111111111"
#define D2 "2222222222222222222222222222222222222222222222222222222222222222"

typedef struct place {
    cs_session_chain chain;
    cs_run_record record;
} place;

/* A chain of one call, and the record of the second. */
static void place_init(place *p) {
    p->chain = (cs_session_chain){.calls = 1,
                                  .provider = cs_view_of("gvisor"),
                                  .isolation = cs_view_of("kernel"),
                                  .policy = cs_view_of("policy:1"),
                                  .software = cs_view_of("image:1")};
    memcpy(p->chain.session.hex, FINGERPRINT, 65);
    memcpy(p->chain.last.hex, D1, 65);
    plimsoll__v1__run_record__init(&p->record);
    p->record.session = borrow(FINGERPRINT);
    p->record.sequence = 2;
    p->record.previous_sha256 = borrow(D1);
    p->record.provider = borrow("gvisor");
    p->record.isolation = borrow("kernel");
    p->record.policy = borrow("policy:1");
    p->record.software_identity = borrow("image:1");
}

static void next_other_session(place *p) {
    p->record.session = borrow(D2);
}
static void next_no_session(place *p) {
    p->record.session = borrow("");
}
static void next_zero(place *p) {
    p->record.sequence = 0;
}
static void next_again(place *p) {
    p->record.sequence = 1;
}
static void next_gap(place *p) {
    p->record.sequence = 3;
}
static void next_other_previous(place *p) {
    p->record.previous_sha256 = borrow(D2);
}
static void next_no_previous(place *p) {
    p->record.previous_sha256 = borrow("");
}
static void next_other_provider(place *p) {
    p->record.provider = borrow("runc");
}
static void next_other_tier(place *p) {
    p->record.isolation = borrow("vm");
}
static void next_other_policy(place *p) {
    p->record.policy = borrow("policy:2");
}

static const struct {
    void (*change)(place *p);
    cs_code code;
} next_twins[] = {
    {next_other_session, CS_CODE_SESSION_FINGERPRINT},
    {next_no_session, CS_CODE_SESSION_FINGERPRINT},
    {next_zero, CS_CODE_CHAIN_SEQUENCE},
    {next_again, CS_CODE_CHAIN_SEQUENCE},
    {next_gap, CS_CODE_CHAIN_SEQUENCE},
    {next_other_previous, CS_CODE_CHAIN_PREVIOUS},
    {next_no_previous, CS_CODE_CHAIN_PREVIOUS},
    {next_other_provider, CS_CODE_PROVIDER_DRIFT},
    {next_other_tier, CS_CODE_TIER_DRIFT},
    {next_other_policy, CS_CODE_POLICY_DRIFT},
};

Test(session_chain, a_next_record_and_its_twins) {
    for (size_t i = 0; i < sizeof next_twins / sizeof *next_twins; i++) {
        place p;
        place_init(&p);
        cs_error err = CS_ERROR_INIT;
        EXPECT_OK(cs_session_check_next(&p.chain, &p.record, &err), err);
        next_twins[i].change(&p);
        EXPECT_CODE(cs_session_check_next(&p.chain, &p.record, &err), err, CS_FAILED, next_twins[i].code);
    }
}

/* What answered says itself which software that was. */
Test(session_chain, the_software_of_an_unanswered_call_is_that_of_the_opening) {
    place p;
    place_init(&p);
    cs_error err = CS_ERROR_INIT;
    p.record.unanswered = borrow("internal");
    EXPECT_OK(cs_session_check_next(&p.chain, &p.record, &err), err);
    p.record.software_identity = borrow("image:2");
    EXPECT_CODE(cs_session_check_next(&p.chain, &p.record, &err), err, CS_FAILED, CS_CODE_SOFTWARE_MISMATCH);
    p.record.unanswered = borrow("");
    EXPECT_OK(cs_session_check_next(&p.chain, &p.record, &err), err);
}

Test(session_chain, the_first_record_names_none_before_it) {
    place p;
    place_init(&p);
    cs_error err = CS_ERROR_INIT;
    p.chain.calls = 0;
    p.chain.last = (cs_digest){0};
    p.record.sequence = 1;
    p.record.previous_sha256 = borrow("");
    EXPECT_OK(cs_session_check_next(&p.chain, &p.record, &err), err);
    p.record.previous_sha256 = borrow(D1);
    EXPECT_CODE(cs_session_check_next(&p.chain, &p.record, &err), err, CS_FAILED, CS_CODE_CHAIN_PREVIOUS);
}

Test(session_chain, a_chain_goes_on_to_the_record) {
    place p;
    place_init(&p);
    cs_checked_run run = {.record = &p.record};
    memcpy(run.record_sha256.hex, D2, 65);
    cs_session_advance(&p.chain, &run);
    cr_expect_eq(p.chain.calls, 2);
    cr_expect_str_eq(p.chain.last.hex, D2);
    cr_expect_str_eq(p.chain.session.hex, FINGERPRINT);
}

static cs_result close_with(const cs_session_chain *chain, const char *session, uint64_t calls, const char *last,
                            cs_checked_close *out, cs_error *err) {
    cs_close_session_response response = PLIMSOLL__V1__CLOSE_SESSION_RESPONSE__INIT;
    response.session = borrow(session);
    response.calls = calls;
    response.last_record_sha256 = borrow(last);
    *err = CS_ERROR_INIT;
    return cs_session_check_close(chain, &response, out, err);
}

Test(session_chain, a_close_and_its_twins) {
    place p;
    place_init(&p);
    cs_checked_close out;
    cs_error err;
    EXPECT_OK(close_with(&p.chain, FINGERPRINT, 1, D1, &out, &err), err);
    cr_expect_eq(out.chain, &p.chain);
    cr_expect_str_eq(out.close.session, FINGERPRINT);
    cr_expect_eq(out.close.calls, 1);
    cr_expect_str_eq(out.close.last_record_sha256, D1);
    EXPECT_CODE(close_with(&p.chain, D2, 1, D1, &out, &err), err, CS_FAILED, CS_CODE_SESSION_FINGERPRINT);
    cr_expect_null(out.chain);
    EXPECT_CODE(close_with(&p.chain, FINGERPRINT, 2, D1, &out, &err), err, CS_FAILED, CS_CODE_CHAIN_CLOSE);
    EXPECT_CODE(close_with(&p.chain, FINGERPRINT, 0, D1, &out, &err), err, CS_FAILED, CS_CODE_CHAIN_CLOSE);
    EXPECT_CODE(close_with(&p.chain, FINGERPRINT, 1, D2, &out, &err), err, CS_FAILED, CS_CODE_CHAIN_CLOSE);
    EXPECT_CODE(close_with(&p.chain, FINGERPRINT, 1, "", &out, &err), err, CS_FAILED, CS_CODE_CHAIN_CLOSE);
}

static bool one_more(const cs_session_chain *chain, const char *session, uint64_t calls, const char *last) {
    cs_close_session_response response = PLIMSOLL__V1__CLOSE_SESSION_RESPONSE__INIT;
    response.session = borrow(session);
    response.calls = calls;
    response.last_record_sha256 = borrow(last);
    return cs_session_close_counts_one_more(chain, &response);
}

Test(session_chain, a_close_that_counts_one_call_more_and_its_twins) {
    place p;
    place_init(&p);
    cr_expect(one_more(&p.chain, FINGERPRINT, 2, D2));
    cr_expect_not(one_more(&p.chain, D2, 2, D2));
    cr_expect_not(one_more(&p.chain, FINGERPRINT, 3, D2));
    cr_expect_not(one_more(&p.chain, FINGERPRINT, 1, D2));
    cr_expect_not(one_more(&p.chain, FINGERPRINT, 0, D2));
    cr_expect_not(one_more(&p.chain, FINGERPRINT, 2, D1), "the record before it");
    cr_expect_not(one_more(&p.chain, FINGERPRINT, 2, ""));
    p.chain.calls = UINT64_MAX;
    cr_expect_not(one_more(&p.chain, FINGERPRINT, 0, D2));
}

Test(session_chain, a_session_without_calls_is_closed_too) {
    place p;
    place_init(&p);
    p.chain.calls = 0;
    p.chain.last = (cs_digest){0};
    cs_checked_close out;
    cs_error err;
    EXPECT_OK(close_with(&p.chain, FINGERPRINT, 0, "", &out, &err), err);
    cr_expect_str_eq(out.close.last_record_sha256, "");
    EXPECT_CODE(close_with(&p.chain, FINGERPRINT, 0, D1, &out, &err), err, CS_FAILED, CS_CODE_CHAIN_CLOSE);
}
