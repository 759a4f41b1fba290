/* A live session: what is sent in it, and how it is opened. Every guard has its twin. */
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
