/* A live session: what is sent in it, and the chain of its records. Every guard has its twin. */
#include "records/session.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/support/canon.h"
#include "tests/support/expect.h"
#include "tests/support/sample.h"

#define ID "0123456789abcdef0123456789abcdef"
/* printf 0123456789abcdef0123456789abcdef | sha256sum */
#define FINGERPRINT "3eb1bd439947eb762998e566ccc2e099c791118b2f40579cc4f7da2b5061b7f9"

/* ---- floors and rules ----------------------------------------------------------------------------- */

Test(session, the_stronger_floor_counts) {
    static const char *const words[] = {"", "process", "container", "kernel", "vm"};
    for (size_t a = 0; a < 5; a++) {
        for (size_t b = 0; b < 5; b++) {
            cs_view out;
            cr_assert(cs_session_floor(cs_view_of(words[a]), cs_view_of(words[b]), &out));
            cr_expect(cs_view_is(out, words[a > b ? a : b]), "%s, %s", words[a], words[b]);
        }
    }
    cs_view out;
    cr_expect_not(cs_session_floor(cs_view_of("VM"), cs_view_of("vm"), &out));
    cr_expect_not(cs_session_floor(cs_view_of("vm"), cs_view_of("VM"), &out));
}

/* "approved a b" as a rule; "" is none. */
static cs_software_rule *rule_of(const char *text) {
    if (text[0] == '\0') return NULL;
    cs_software_rule *rule = malloc(sizeof *rule);
    char *copy = strdup(text);
    cr_assert(rule && copy);
    plimsoll__v1__software_rule__init(rule);
    char *rest = NULL;
    canon_set(&rule->mode, strtok_r(copy, " ", &rest));
    rule->identities = calloc(8, sizeof *rule->identities);
    for (char *word = strtok_r(NULL, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        canon_set(&rule->identities[rule->n_identities++], word);
    free(copy);
    return rule;
}

static void expect_rule(const char *session, const char *call, const char *want) {
    cs_software_rule *terms = rule_of(session);
    cs_run_request *request = malloc(sizeof *request);
    cr_assert(request);
    plimsoll__v1__run_request__init(request);
    request->software_rule = rule_of(call);
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_session_narrow(terms, request, &err);
    if (want == NULL) {
        cr_expect_eq(result, CS_NOT_RUN, "%s | %s", session, call);
        cr_expect_eq(err.code, CS_CODE_REQUEST_INVALID);
        cr_expect_str_eq(err.where, "software_rule");
    } else {
        cr_expect_eq(result, CS_OK, "%s | %s: %s", session, call, err.message);
        cs_software_rule *expected = rule_of(want);
        const cs_software_rule *found = request->software_rule;
        cr_assert_eq(found == NULL, expected == NULL, "%s | %s", session, call);
        size_t count = expected == NULL ? 0 : expected->n_identities;
        if (found != NULL) {
            cr_expect(cs_view_equal(cs_bytes_view(&found->mode), cs_bytes_view(&expected->mode)), "%s | %s", session,
                      call);
            cr_assert_eq(found->n_identities, count, "%s | %s", session, call);
        }
        for (size_t i = 0; i < count; i++)
            cr_expect(cs_view_equal(cs_bytes_view(&found->identities[i]), cs_bytes_view(&expected->identities[i])),
                      "%s | %s: %zu", session, call, i);
        cs_message_free(expected);
    }
    cs_message_free(terms);
    cs_message_free(request);
}

Test(session, rules_allow_what_both_allow) {
    expect_rule("", "", "");
    expect_rule("", "exact a", "exact a");
    expect_rule("exact a", "", "exact a");
    expect_rule("approved a b", "", "approved a b");
    expect_rule("exact a", "exact a", "exact a");
    expect_rule("exact a", "exact b", NULL);
    expect_rule("exact b", "approved a b c", "exact b");
    expect_rule("exact d", "approved a b c", NULL);
    expect_rule("approved a b c", "exact b", "exact b");
    expect_rule("approved a b c", "exact d", NULL);
    expect_rule("approved a b c", "approved c x a", "approved c a");
    expect_rule("approved a b", "approved b x", "approved b");
    expect_rule("approved a b", "approved x y", NULL);
}

/* ---- a call of a session -------------------------------------------------------------------------- */

typedef struct bound {
    sample s;
    cs_open_session_request terms;
} bound;

static void bound_init(bound *b) {
    sample_init(&b->s);
    plimsoll__v1__open_session_request__init(&b->terms);
    b->terms.protocol = 3;
    b->terms.minimum_isolation = borrow("process");
}

Test(session, a_request_is_bound_to_the_terms) {
    bound b;
    bound_init(&b);
    cs_error err = CS_ERROR_INIT;
    b.s.request->protocol = 0;
    b.terms.minimum_isolation = borrow("kernel");
    EXPECT_OK(cs_session_bind(&b.terms, b.s.request, &err), err);
    cr_expect_eq(b.s.request->protocol, 3);
    cr_expect(cs_view_is(cs_bytes_view(&b.s.request->minimum_isolation), "kernel"));

    cs_session_run_request call = cs_session_call_of(b.s.request, cs_view_of(ID));
    cr_expect_eq(call.protocol, 3);
    cr_expect_eq(call.timeout_ms, 5000);
    cr_expect(cs_view_is(cs_bytes_view(&call.session_id), ID));
    cr_expect(cs_view_is(cs_bytes_view(&call.minimum_isolation), "kernel"));
    cr_expect(cs_view_is(cs_bytes_view(&call.trace_id), "trace-1"));
    cr_expect_eq(call.software_rule, b.s.request->software_rule);
    cr_expect_eq(call.payload_case, PLIMSOLL__V1__SESSION_RUN_REQUEST__PAYLOAD_JAVASCRIPT);
    cr_expect_eq(call.javascript, b.s.request->javascript);
    sample_free(&b.s);
}

static void expect_unbound(bound *b, const char *where) {
    cs_error err = CS_ERROR_INIT;
    EXPECT_CODE(cs_session_bind(&b->terms, b->s.request, &err), err, CS_NOT_RUN, CS_CODE_REQUEST_INVALID);
    EXPECT_WHERE(err, where);
    sample_free(&b->s);
}

Test(session, another_protocol_is_refused) {
    bound b;
    bound_init(&b);
    b.s.request->protocol = 2;
    expect_unbound(&b, "protocol");
}

Test(session, an_invalid_request_is_refused) {
    bound b;
    bound_init(&b);
    canon_set(&b.s.request->javascript->code, "");
    expect_unbound(&b, "javascript.code");
}

Test(session, a_rule_that_nothing_meets_is_refused) {
    bound b;
    bound_init(&b);
    b.terms.software_rule = rule_of("exact other");
    cs_software_rule *rule = b.terms.software_rule;
    expect_unbound(&b, "software_rule");
    cs_message_free(rule);
}

Test(session, a_module_is_refused) {
    static double value[] = {1.0};
    Plimsoll__V1__ModuleRow row = PLIMSOLL__V1__MODULE_ROW__INIT;
    row.n_values = 1;
    row.values = value;
    Plimsoll__V1__ModuleRow *rows[] = {&row};
    Plimsoll__V1__ModuleRun module = PLIMSOLL__V1__MODULE_RUN__INIT;
    module.model = borrow("m");
    module.rows = rows;
    module.n_rows = 1;
    module.end_time = 1;
    module.step = 1;
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE;
    request.module = &module;
    cs_error err = CS_ERROR_INIT;
    bound b;
    bound_init(&b);
    EXPECT_CODE(cs_session_bind(&b.terms, &request, &err), err, CS_NOT_RUN, CS_CODE_REQUEST_INVALID);
    EXPECT_WHERE(err, "module");
    sample_free(&b.s);
}

Test(session, terms_have_the_limits_of_a_request) {
    bound b;
    bound_init(&b);
    cs_error err = CS_ERROR_INIT;
    b.terms.trace_id = borrow("t");
    EXPECT_OK(cs_session_validate(&b.terms, &err), err);
    b.terms.trace_id = borrow("no spaces");
    EXPECT_CODE(cs_session_validate(&b.terms, &err), err, CS_NOT_RUN, CS_CODE_REQUEST_INVALID);
    b.terms.trace_id = borrow("t");
    b.terms.minimum_isolation = borrow("castle");
    EXPECT_CODE(cs_session_validate(&b.terms, &err), err, CS_NOT_RUN, CS_CODE_REQUEST_INVALID);
    b.terms.minimum_isolation = borrow("");
    b.terms.software_rule = rule_of("sometimes a");
    EXPECT_CODE(cs_session_validate(&b.terms, &err), err, CS_NOT_RUN, CS_CODE_REQUEST_INVALID);
    cs_message_free(b.terms.software_rule);
    sample_free(&b.s);
}

Test(session, the_languages_of_cells_are_named_once) {
    Plimsoll__V1__CellRun cell = PLIMSOLL__V1__CELL_RUN__INIT;
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL;
    request.cell = &cell;
    cs_open_session_request *terms = malloc(sizeof *terms);
    cr_assert_not_null(terms);
    plimsoll__v1__open_session_request__init(terms);
    cs_error err = CS_ERROR_INIT;
    static const char *const spoken[] = {"python", "sh", "python"};
    for (size_t i = 0; i < 3; i++) {
        cell.language = borrow(spoken[i]);
        EXPECT_OK(cs_session_speak(terms, &request, &err), err);
    }
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD__NOT_SET;
    EXPECT_OK(cs_session_speak(terms, &request, &err), err);
    cr_assert_eq(terms->n_languages, 2);
    cr_expect(cs_view_is(cs_bytes_view(&terms->languages[0]), "python"));
    cr_expect(cs_view_is(cs_bytes_view(&terms->languages[1]), "sh"));
    cs_message_free(terms);
}

/* ---- opening -------------------------------------------------------------------------------------- */

typedef struct opening {
    cs_open_session_request terms;
    cs_open_session_response response;
    cs_describe_response described;
    cs_session_chain chain;
} opening;

static void opening_init(opening *o) {
    plimsoll__v1__open_session_request__init(&o->terms);
    plimsoll__v1__open_session_response__init(&o->response);
    plimsoll__v1__describe_response__init(&o->described);
    o->terms.minimum_isolation = borrow("container");
    o->response.session_id = borrow(ID);
    o->response.session = borrow(FINGERPRINT);
    o->response.sandbox = borrow("gvisor");
    o->response.isolation = borrow("kernel");
    o->response.software_identity = borrow("a");
    o->described.sandbox = borrow("gvisor");
    o->described.isolation = borrow("kernel");
    o->described.policy = borrow("policy:1");
}

static void open_other_provider(opening *o) {
    o->described.sandbox = borrow("other");
}
static void open_other_tier(opening *o) {
    o->described.isolation = borrow("vm");
}
static void open_low_tier(opening *o) {
    o->described.isolation = borrow("process");
    o->response.isolation = borrow("process");
}
static void open_no_tier(opening *o) {
    o->described.isolation = borrow("castle");
    o->response.isolation = borrow("castle");
}
static void open_upper_id(opening *o) {
    o->response.session_id = borrow("0123456789ABCDEF0123456789ABCDEF");
}
static void open_short_id(opening *o) {
    o->response.session_id = borrow("0123456789abcdef0123456789abcde");
}
static void open_no_id(opening *o) {
    o->response.session_id = borrow("");
}
static void open_other_id(opening *o) {
    o->response.session_id = borrow("1123456789abcdef0123456789abcdef");
}
static void open_no_fingerprint(opening *o) {
    o->response.session = borrow("");
}

static const struct {
    void (*change)(opening *o);
    cs_code code;
} opening_twins[] = {
    {open_other_provider, CS_CODE_PROVIDER_DRIFT},
    {open_other_tier, CS_CODE_TIER_DRIFT},
    {open_low_tier, CS_CODE_TIER_BELOW_FLOOR},
    {open_no_tier, CS_CODE_TIER_UNKNOWN},
    {open_upper_id, CS_CODE_SESSION_ID},
    {open_short_id, CS_CODE_SESSION_ID},
    {open_no_id, CS_CODE_SESSION_ID},
    {open_other_id, CS_CODE_SESSION_FINGERPRINT},
    {open_no_fingerprint, CS_CODE_SESSION_FINGERPRINT},
};

Test(session, an_opening_and_its_twins) {
    for (size_t i = 0; i < sizeof opening_twins / sizeof *opening_twins; i++) {
        opening o;
        opening_init(&o);
        cs_error err = CS_ERROR_INIT;
        EXPECT_OK(cs_session_check_open(&o.terms, &o.response, &o.described, &o.chain, &err), err);
        cr_expect_str_eq(o.chain.session.hex, FINGERPRINT);
        cr_expect_eq(o.chain.calls, 0);
        opening_twins[i].change(&o);
        EXPECT_CODE(cs_session_check_open(&o.terms, &o.response, &o.described, &o.chain, &err), err, CS_FAILED,
                    opening_twins[i].code);
        cr_expect_str_eq(o.chain.session.hex, "");
        /* The id is a secret, whatever is wrong with it. */
        cr_expect_null(strstr(err.message, "23456789"));
        cr_expect_null(strstr(err.found, "23456789"));
        cr_expect_null(strstr(err.expected, "23456789"));
    }
}

Test(session, the_software_of_an_opening_must_be_allowed) {
    opening o;
    opening_init(&o);
    cs_error err = CS_ERROR_INIT;
    o.terms.software_rule = rule_of("approved b a");
    EXPECT_OK(cs_session_check_open(&o.terms, &o.response, &o.described, &o.chain, &err), err);
    o.response.software_identity = borrow("c");
    EXPECT_CODE(cs_session_check_open(&o.terms, &o.response, &o.described, &o.chain, &err), err, CS_FAILED,
                CS_CODE_SOFTWARE_NOT_ALLOWED);
    cs_message_free(o.terms.software_rule);
}

/* ---- records and the close ------------------------------------------------------------------------ */

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

Test(session, a_next_record_and_its_twins) {
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
Test(session, the_software_of_an_unanswered_call_is_that_of_the_opening) {
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

Test(session, the_first_record_names_none_before_it) {
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

Test(session, a_chain_goes_on_to_the_record) {
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

Test(session, a_close_and_its_twins) {
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

Test(session, a_close_that_counts_one_call_more_and_its_twins) {
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

Test(session, a_session_without_calls_is_closed_too) {
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
