/* Every check of one run has a twin: a call that passes, and the same with one thing changed. Digests that
 * depend on what changed are sealed again, so that only the check that is meant can fail. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "records/text.h"
#include "tests/support/canon.h"
#include "tests/support/fixtures.h"
#include "tests/support/sample.h"

static cs_result run(const cs_call *call, cs_checked_run *out, cs_error *err) {
    cs_sha256 *hash = cs_sha256_new();
    cr_assert(hash);
    cs_result result = cs_check_run(call, hash, out, err);
    cs_sha256_free(hash);
    return result;
}

/* ---- the passing case ----------------------------------------------------------------------------- */

Test(check, a_good_run_passes) {
    sample s;
    sample_init(&s);
    cs_call call = sample_call(&s);
    cs_checked_run checked;
    cs_error err = CS_ERROR_INIT;
    char expected[65];
    cr_assert_eq(run(&call, &checked, &err), CS_OK, "%s: %s", cs_code_name(err.code), err.message);
    cr_expect_eq(checked.record, s.record);
    cr_expect_eq(checked.tier, CS_TIER_KERNEL);
    cr_expect_eq(checked.warning_count, 0);
    canon_request(s.request, expected);
    cr_expect_str_eq(checked.request_sha256.hex, expected);
    canon_result(s.response, expected);
    cr_expect_str_eq(checked.result_sha256.hex, expected);
    canon_record(s.record, expected);
    cr_expect_str_eq(checked.record_sha256.hex, expected);
    sample_free(&s);
}

/* ---- twins ---------------------------------------------------------------------------------------- */

typedef struct twin {
    const char *name;
    cs_code code;
    unsigned seal; /* what is computed again behind the change */
    void (*change)(sample *s);
} twin;

#define RECORD_AND_BYTES (SEAL_RECORD | SEAL_BYTES)
#define REQUEST_AND_DOWN (SEAL_REQUEST | SEAL_RECORD | SEAL_BYTES)
#define RESULT_AND_DOWN (SEAL_RESULT | SEAL_RECORD | SEAL_BYTES)

static void floor_word(sample *s) {
    canon_set(&s->request->minimum_isolation, "strong");
}

static void floor_case(sample *s) {
    canon_set(&s->request->minimum_isolation, "Kernel");
}

static void rule_mode(sample *s) {
    canon_set(&s->request->software_rule->mode, "any");
}

static void rule_without_mode(sample *s) {
    canon_set(&s->request->software_rule->mode, "");
}

static void no_record(sample *s) {
    s->response->record = NULL;
}

static void version_1(sample *s) {
    s->record->version = 1;
}

static void version_3(sample *s) {
    s->record->version = 3;
}

static void version_4(sample *s) {
    s->record->version = 4;
}

static void protocol_1(sample *s) {
    s->request->protocol = 1;
}

static void unanswered(sample *s) {
    canon_set(&s->record->unanswered, "internal");
}

static void other_code(sample *s) {
    canon_set(&s->request->javascript->code, "console.log(1 + 2)");
}

static void other_timeout(sample *s) {
    s->request->timeout_ms++;
}

static void other_output(sample *s) {
    canon_set(&s->response->javascript->stdout, "3\n");
}

static void other_exit_code(sample *s) {
    s->response->javascript->exit_code = 1;
}

static void upper_digest(sample *s) {
    for (size_t i = 0; i < s->record->result_sha256.len; i++)
        if (s->record->result_sha256.data[i] >= 'a') s->record->result_sha256.data[i] -= 'a' - 'A';
}

static void record_provider(sample *s) {
    canon_set(&s->record->provider, "docker");
}

static void record_isolation(sample *s) {
    canon_set(&s->record->isolation, "vm");
}

static void record_environment(sample *s) {
    canon_set(&s->record->environment, "node-23");
}

static void record_software(sample *s) {
    canon_set(&s->record->software_identity, SAMPLE_IDENTITY "x");
}

static void response_software(sample *s) {
    canon_set(&s->response->software_identity, "");
}

static void record_rule(sample *s) {
    canon_set(&s->record->software_rule_id, "exact:" SAMPLE_IDENTITY "x");
}

static void no_rule(sample *s) {
    canon_set(&s->request->software_rule->mode, "");
    free(s->request->software_rule->identities[0].data);
    free(s->request->software_rule->identities);
    s->request->software_rule->identities = NULL;
    s->request->software_rule->n_identities = 0;
}

static void other_software(sample *s) {
    canon_set(&s->record->software_identity, "oci-manifest:linux/amd64@sha256:two");
    canon_set(&s->response->software_identity, "oci-manifest:linux/amd64@sha256:two");
}

static void no_software(sample *s) {
    canon_set(&s->record->software_identity, "");
    canon_set(&s->response->software_identity, "");
}

static void record_time(sample *s) {
    s->record->started_unix_ms++;
}

static void record_policy(sample *s) {
    canon_set(&s->record->policy, "policy:sha256:2");
}

static void tier_word(sample *s) {
    canon_set(&s->record->isolation, "strong");
    canon_set(&s->response->isolation, "strong");
}

static void tier_none(sample *s) {
    canon_set(&s->record->isolation, "");
    canon_set(&s->response->isolation, "");
    canon_set(&s->request->minimum_isolation, "");
}

static void tier_low(sample *s) {
    canon_set(&s->record->isolation, "process");
    canon_set(&s->response->isolation, "process");
}

static void session(sample *s) {
    canon_set(&s->record->session, "5947d7c33d783f94b3b4c1a96ebc8991ed28f1b069b71e03376cba8caa98a720");
}

static void sequence(sample *s) {
    s->record->sequence = 1;
}

static void previous(sample *s) {
    canon_set(&s->record->previous_sha256, "5947d7c33d783f94b3b4c1a96ebc8991ed28f1b069b71e03376cba8caa98a720");
}

static void no_result(sample *s) {
    protobuf_c_message_free_unpacked(&s->response->javascript->base, NULL);
    s->response->javascript = NULL;
    s->response->result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT__NOT_SET;
}

static void cell_result(sample *s) {
    no_result(s);
    s->response->cell = malloc(sizeof *s->response->cell);
    cr_assert(s->response->cell);
    plimsoll__v1__cell_result__init(s->response->cell);
    s->response->result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL;
}

static void before_provider(sample *s) {
    canon_set(&s->before->sandbox, "docker");
}

static void after_provider(sample *s) {
    canon_set(&s->after->sandbox, "docker");
}

static void before_tier(sample *s) {
    canon_set(&s->before->isolation, "vm");
}

static void after_tier(sample *s) {
    canon_set(&s->after->isolation, "container");
}

static void before_policy(sample *s) {
    canon_set(&s->before->policy, "");
}

static void after_policy(sample *s) {
    canon_set(&s->after->policy, "policy:sha256:2");
}

static void before_protocol(sample *s) {
    s->before->protocol = 2;
}

static void after_protocol(sample *s) {
    s->after->protocol = 4;
}

static const twin twins[] = {
    {"floor word", CS_CODE_FLOOR_UNKNOWN, REQUEST_AND_DOWN, floor_word},
    {"floor case", CS_CODE_FLOOR_UNKNOWN, REQUEST_AND_DOWN, floor_case},
    {"rule mode", CS_CODE_RULE_MALFORMED, REQUEST_AND_DOWN, rule_mode},
    {"rule without mode", CS_CODE_RULE_MALFORMED, REQUEST_AND_DOWN, rule_without_mode},
    {"no record", CS_CODE_RECORD_MISSING, SEAL_BYTES, no_record},
    {"version 1", CS_CODE_RECORD_VERSION, RECORD_AND_BYTES, version_1},
    {"version 3", CS_CODE_RECORD_VERSION, RECORD_AND_BYTES, version_3},
    {"version 4", CS_CODE_RECORD_VERSION, RECORD_AND_BYTES, version_4},
    {"version 2 under protocol 1", CS_CODE_RECORD_VERSION, REQUEST_AND_DOWN, protocol_1},
    {"unanswered", CS_CODE_RECORD_UNANSWERED, RECORD_AND_BYTES, unanswered},
    {"other code", CS_CODE_REQUEST_DIGEST, 0, other_code},
    {"other timeout", CS_CODE_REQUEST_DIGEST, 0, other_timeout},
    {"other output", CS_CODE_RESULT_DIGEST, SEAL_BYTES, other_output},
    {"other exit code", CS_CODE_RESULT_DIGEST, SEAL_BYTES, other_exit_code},
    {"digest in capitals", CS_CODE_RESULT_DIGEST, RECORD_AND_BYTES, upper_digest},
    {"provider", CS_CODE_PROVIDER_MISMATCH, RECORD_AND_BYTES, record_provider},
    {"isolation", CS_CODE_ISOLATION_MISMATCH, RECORD_AND_BYTES, record_isolation},
    {"environment", CS_CODE_ENVIRONMENT_MISMATCH, RECORD_AND_BYTES, record_environment},
    {"software of the record", CS_CODE_SOFTWARE_MISMATCH, RECORD_AND_BYTES, record_software},
    {"software of the response", CS_CODE_SOFTWARE_MISMATCH, SEAL_BYTES, response_software},
    {"rule id", CS_CODE_RULE_MISMATCH, RECORD_AND_BYTES, record_rule},
    {"rule id without a rule", CS_CODE_RULE_MISMATCH, REQUEST_AND_DOWN, no_rule},
    {"other software", CS_CODE_SOFTWARE_NOT_ALLOWED, RECORD_AND_BYTES, other_software},
    {"no software", CS_CODE_SOFTWARE_NOT_ALLOWED, RECORD_AND_BYTES, no_software},
    {"record time", CS_CODE_RECORD_DIGEST, SEAL_BYTES, record_time},
    {"record policy", CS_CODE_RECORD_DIGEST, SEAL_BYTES, record_policy},
    {"tier word", CS_CODE_TIER_UNKNOWN, RECORD_AND_BYTES, tier_word},
    {"no tier", CS_CODE_TIER_UNKNOWN, REQUEST_AND_DOWN, tier_none},
    {"low tier", CS_CODE_TIER_BELOW_FLOOR, RECORD_AND_BYTES, tier_low},
    {"session", CS_CODE_SESSION_FIELDS, RECORD_AND_BYTES, session},
    {"sequence", CS_CODE_SESSION_FIELDS, RECORD_AND_BYTES, sequence},
    {"previous", CS_CODE_SESSION_FIELDS, RECORD_AND_BYTES, previous},
    {"no result", CS_CODE_RESULT_MISSING, RESULT_AND_DOWN, no_result},
    {"result of another kind", CS_CODE_RESULT_KIND, RESULT_AND_DOWN, cell_result},
    {"provider before", CS_CODE_PROVIDER_DRIFT, 0, before_provider},
    {"provider after", CS_CODE_PROVIDER_DRIFT, 0, after_provider},
    {"tier before", CS_CODE_TIER_DRIFT, 0, before_tier},
    {"tier after", CS_CODE_TIER_DRIFT, 0, after_tier},
    {"policy before", CS_CODE_POLICY_DRIFT, 0, before_policy},
    {"policy after", CS_CODE_POLICY_DRIFT, 0, after_policy},
    {"protocol before", CS_CODE_PROTOCOL_DRIFT, 0, before_protocol},
    {"protocol after", CS_CODE_PROTOCOL_DRIFT, 0, after_protocol},
};

static void expect_code(const char *name, const cs_call *call, cs_code code) {
    cs_checked_run checked;
    cs_error err = CS_ERROR_INIT;
    memset(&checked, 0x5a, sizeof checked);
    cs_result result = run(call, &checked, &err);
    cr_expect_eq(err.code, code, "%s: expected %s, found %s", name, cs_code_name(code), cs_code_name(err.code));
    cr_expect_eq(result, cs_code_class(code), "%s", name);
    cr_expect_neq(err.message[0], '\0', "%s", name);
    bool left = checked.record || checked.request_sha256.hex[0] || checked.result_sha256.hex[0] ||
                checked.record_sha256.hex[0] || checked.tier != CS_TIER_NONE || checked.warning_count > 0;
    cr_expect_not(left, "%s: something is left in the output", name);
}

Test(check, every_check_has_a_twin) {
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        sample s;
        sample_init(&s);
        cs_call call = sample_call(&s);
        cs_checked_run checked;
        cr_assert_eq(run(&call, &checked, NULL), CS_OK);
        twins[i].change(&s);
        sample_seal(&s, twins[i].seal);
        call = sample_call(&s);
        expect_code(twins[i].name, &call, twins[i].code);
        sample_free(&s);
    }
}

/* Only these two say where: the daemon described itself twice. */
Test(check, drift_says_which_description) {
    sample s;
    sample_init(&s);
    after_tier(&s);
    cs_call call = sample_call(&s);
    cs_checked_run checked;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(run(&call, &checked, &err), CS_FAILED);
    cr_expect_str_eq(err.where, "Describe after the run");
    cr_expect_str_eq(err.expected, "kernel");
    cr_expect_str_eq(err.found, "container");
    sample_free(&s);
}

Test(check, one_description_alone_is_a_bug) {
    sample s;
    sample_init(&s);
    cs_call call = sample_call(&s);
    call.after = NULL;
    expect_code("only before", &call, CS_CODE_INTERNAL);
    call.before = NULL;
    cs_checked_run checked;
    cr_expect_eq(run(&call, &checked, NULL), CS_OK);
    call.after = s.after;
    expect_code("only after", &call, CS_CODE_INTERNAL);
    sample_free(&s);
}

/* ---- version 1 ------------------------------------------------------------------------------------ */

/* Protocol 1: no rule, a record of version 1, no software in it. */
static void make_version_1(sample *s) {
    no_rule(s);
    s->request->protocol = 1;
    s->before->protocol = 1;
    s->after->protocol = 1;
    s->record->version = 1;
    canon_set(&s->record->software_identity, "");
    canon_set(&s->record->software_rule_id, "");
    canon_set(&s->response->software_identity, "");
    sample_seal(s, SEAL_ALL);
}

static void identity_in_version_1(sample *s) {
    canon_set(&s->record->software_identity, SAMPLE_IDENTITY);
    canon_set(&s->response->software_identity, SAMPLE_IDENTITY);
}

static void rule_id_in_version_1(sample *s) {
    canon_set(&s->record->software_rule_id, "exact:" SAMPLE_IDENTITY);
}

/* The request digest of protocol 1 does not cover a rule, so no record can answer one. */
static void rule_in_protocol_1(sample *s) {
    cs_software_rule *rule = s->request->software_rule;
    canon_set(&rule->mode, "exact");
    rule->identities = calloc(1, sizeof *rule->identities);
    cr_assert(rule->identities);
    rule->n_identities = 1;
    canon_set(&rule->identities[0], SAMPLE_IDENTITY);
}

static void version_2(sample *s) {
    s->record->version = 2;
}

Test(check, version_1_and_its_twins) {
    static const twin cases[] = {
        {"identity", CS_CODE_RECORD_SOFTWARE_FIELDS, RECORD_AND_BYTES, identity_in_version_1},
        {"rule id", CS_CODE_RECORD_SOFTWARE_FIELDS, RECORD_AND_BYTES, rule_id_in_version_1},
        {"rule", CS_CODE_RULE_MISMATCH, REQUEST_AND_DOWN, rule_in_protocol_1},
        {"version 2", CS_CODE_RECORD_VERSION, RECORD_AND_BYTES, version_2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sample s;
        sample_init(&s);
        make_version_1(&s);
        cs_call call = sample_call(&s);
        cs_checked_run checked;
        cs_error err = CS_ERROR_INIT;
        cr_assert_eq(run(&call, &checked, &err), CS_OK, "%s: %s", cs_code_name(err.code), err.message);
        cases[i].change(&s);
        sample_seal(&s, cases[i].seal);
        call = sample_call(&s);
        expect_code(cases[i].name, &call, cases[i].code);
        sample_free(&s);
    }
}

Test(check, protocol_2_has_version_2) {
    sample s;
    sample_init(&s);
    s.request->protocol = 2;
    s.before->protocol = 2;
    s.after->protocol = 2;
    sample_seal(&s, SEAL_ALL);
    cs_call call = sample_call(&s);
    cs_checked_run checked;
    cr_expect_eq(run(&call, &checked, NULL), CS_OK);
    version_1(&s);
    sample_seal(&s, RECORD_AND_BYTES);
    call = sample_call(&s);
    expect_code("version 1 under protocol 2", &call, CS_CODE_RECORD_VERSION);
    sample_free(&s);
}

/* ---- rules that allow ----------------------------------------------------------------------------- */

Test(check, one_of_several_approved_is_enough) {
    sample s;
    sample_init(&s);
    cs_software_rule *rule = s.request->software_rule;
    canon_set(&rule->mode, "approved");
    rule->identities = realloc(rule->identities, 2 * sizeof *rule->identities);
    cr_assert(rule->identities);
    rule->n_identities = 2;
    rule->identities[1] = rule->identities[0];
    rule->identities[0] = (ProtobufCBinaryData){0};
    canon_set(&rule->identities[0], "b");
    /* SHA-256 of "b\0oci-manifest:linux/amd64@sha256:one". */
    char hex[65];
    char joined[] = "b\0" SAMPLE_IDENTITY;
    char rule_id[96] = "approved:sha256:";
    canon_sha256(joined, sizeof joined - 1, hex);
    strcat(rule_id, hex);
    canon_set(&s.record->software_rule_id, rule_id);
    sample_seal(&s, SEAL_ALL);
    cs_call call = sample_call(&s);
    cs_checked_run checked;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(run(&call, &checked, &err), CS_OK, "%s: %s %s", cs_code_name(err.code), err.expected, err.found);
    other_software(&s);
    sample_seal(&s, RECORD_AND_BYTES);
    call = sample_call(&s);
    expect_code("none of them", &call, CS_CODE_SOFTWARE_NOT_ALLOWED);
    sample_free(&s);
}

Test(check, without_a_rule_any_software_may_run) {
    sample s;
    sample_init(&s);
    no_rule(&s);
    canon_set(&s.record->software_rule_id, "");
    other_software(&s);
    sample_seal(&s, SEAL_ALL);
    cs_call call = sample_call(&s);
    cs_checked_run checked;
    cr_assert_eq(run(&call, &checked, NULL), CS_OK);
    sample_free(&s);
}

/* ---- tiers and floors ----------------------------------------------------------------------------- */

Test(check, a_tier_meets_floors_up_to_its_own) {
    static const char *const words[] = {"", "process", "container", "kernel", "vm"};
    for (size_t tier = 1; tier < 5; tier++) {
        for (size_t floor = 0; floor < 5; floor++) {
            sample s;
            sample_init(&s);
            canon_set(&s.request->minimum_isolation, words[floor]);
            canon_set(&s.record->isolation, words[tier]);
            canon_set(&s.response->isolation, words[tier]);
            canon_set(&s.before->isolation, words[tier]);
            canon_set(&s.after->isolation, words[tier]);
            sample_seal(&s, SEAL_ALL);
            cs_call call = sample_call(&s);
            cs_checked_run checked;
            if (floor > tier)
                expect_code(words[floor], &call, CS_CODE_TIER_BELOW_FLOOR);
            else
                cr_expect_eq(run(&call, &checked, NULL), CS_OK, "tier %s, floor %s", words[tier], words[floor]);
            sample_free(&s);
        }
    }
}

/* ---- sessions ------------------------------------------------------------------------------------- */

Test(check, session_fields_are_a_chains_matter_in_a_session) {
    sample s;
    sample_init(&s);
    session(&s);
    sequence(&s);
    sample_seal(&s, RECORD_AND_BYTES);
    cs_call call = sample_call(&s);
    cs_checked_run checked;
    call.in_session = true;
    cr_expect_eq(run(&call, &checked, NULL), CS_OK);
    call.in_session = false;
    expect_code("single", &call, CS_CODE_SESSION_FIELDS);
    sample_free(&s);
}

/* ---- coverage ------------------------------------------------------------------------------------- */

/* The sample's bytes with something before or behind them. */
static void frame_bytes(sample *s, const char *before, size_t before_len, const char *after, size_t after_len) {
    uint8_t *bytes = malloc(before_len + s->len + after_len);
    cr_assert(bytes);
    memcpy(bytes, before, before_len);
    memcpy(bytes + before_len, s->bytes, s->len);
    memcpy(bytes + before_len + s->len, after, after_len);
    free(s->bytes);
    s->bytes = bytes;
    s->len += before_len + after_len;
}

static void expect_covered_not(const char *name, const char *before, size_t before_len, const char *after,
                               size_t after_len, cs_code code) {
    sample s;
    ProtobufCMessage *decoded;
    sample_init(&s);
    frame_bytes(&s, before, before_len, after, after_len);
    cr_assert_eq(
        cs_message_decode(&plimsoll__v1__run_response__descriptor, cs_view_bytes(s.bytes, s.len), &decoded, NULL),
        CS_OK, "%s", name);
    cs_call call = sample_call(&s);
    call.response = (void *)decoded;
    expect_code(name, &call, code);
    cs_message_free(decoded);
    sample_free(&s);
}

Test(check, bytes_that_no_digest_covers) {
    /* Field 99, varint 1: nobody knows it. */
    expect_covered_not("unknown field", "", 0, "\x98\x06\x01", 3, CS_CODE_MESSAGE_UNKNOWN_FIELD);
    /* Field 13, a cell result of no bytes: the javascript result behind it wins. */
    expect_covered_not("a second result", "\x6a\x00", 2, "", 0, CS_CODE_MESSAGE_NONCANONICAL);
    /* Field 1 before itself: the last provider wins. */
    expect_covered_not("a second provider", "\x0a\x01x", 3, "", 0, CS_CODE_MESSAGE_NONCANONICAL);
}

/* ---- times ---------------------------------------------------------------------------------------- */

typedef struct time_case {
    int64_t started, ended, sent, received, skew;
    size_t count;
    cs_code first, second;
} time_case;

Test(check, times_only_warn) {
    static const time_case cases[] = {
        {1000, 2000, 1000, 2000, 0, 0, CS_CODE_OK, CS_CODE_OK},
        {1000, 1000, 1000, 2000, 0, 0, CS_CODE_OK, CS_CODE_OK},
        {1001, 1000, 1000, 2000, 0, 1, CS_CODE_TIMES_REVERSED, CS_CODE_OK},
        {999, 2000, 1000, 2000, 0, 1, CS_CODE_CLOCK_SKEW, CS_CODE_OK},
        {999, 2000, 1000, 2000, 1, 0, CS_CODE_OK, CS_CODE_OK},
        {1000, 2001, 1000, 2000, 0, 1, CS_CODE_CLOCK_SKEW, CS_CODE_OK},
        {1000, 2001, 1000, 2000, 1, 0, CS_CODE_OK, CS_CODE_OK},
        {3000, 500, 1000, 2000, 10, 2, CS_CODE_TIMES_REVERSED, CS_CODE_CLOCK_SKEW},
        {1, 2, 0, 0, 0, 0, CS_CODE_OK, CS_CODE_OK},
        {2, 1, 0, 0, 0, 1, CS_CODE_TIMES_REVERSED, CS_CODE_OK},
        {INT64_MIN, INT64_MAX, 1000, 2000, INT64_MAX, 1, CS_CODE_CLOCK_SKEW, CS_CODE_OK},
        {INT64_MAX, INT64_MIN, 1000, 2000, 0, 2, CS_CODE_TIMES_REVERSED, CS_CODE_CLOCK_SKEW},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const time_case *c = &cases[i];
        sample s;
        sample_init(&s);
        s.record->started_unix_ms = c->started;
        s.record->ended_unix_ms = c->ended;
        sample_seal(&s, RECORD_AND_BYTES);
        cs_call call = sample_call(&s);
        call.sent_unix_ms = c->sent;
        call.received_unix_ms = c->received;
        call.skew_ms = c->skew;
        cs_checked_run checked;
        cr_expect_eq(run(&call, &checked, NULL), CS_OK, "case %zu", i);
        cr_expect_eq(checked.warning_count, c->count, "case %zu: %zu", i, checked.warning_count);
        cr_expect_eq(checked.warnings[0], c->first, "case %zu", i);
        cr_expect_eq(checked.warnings[1], c->second, "case %zu", i);
        sample_free(&s);
    }
}

/* ---- unanswered calls ----------------------------------------------------------------------------- */

static void make_unanswered(sample *s) {
    s->record->version = 3;
    canon_set(&s->record->unanswered, "unavailable");
    canon_set(&s->record->result_sha256, "");
    session(s);
    sequence(s);
    sample_seal(s, SEAL_RECORD);
}

static void not_a_code(sample *s) {
    canon_set(&s->record->unanswered, "Unavailable");
}

static void no_code(sample *s) {
    canon_set(&s->record->unanswered, "");
}

static void a_result(sample *s) {
    sample_seal(s, SEAL_RESULT);
}

static void only_software(sample *s) {
    canon_set(&s->record->software_identity, "other");
}

static const twin unanswered_twins[] = {
    {"floor", CS_CODE_FLOOR_UNKNOWN, SEAL_REQUEST | SEAL_RECORD, floor_word},
    {"rule", CS_CODE_RULE_MALFORMED, SEAL_REQUEST | SEAL_RECORD, rule_mode},
    {"version 2", CS_CODE_RECORD_VERSION, SEAL_RECORD, version_2},
    {"version 4", CS_CODE_RECORD_VERSION, SEAL_RECORD, version_4},
    {"protocol 1", CS_CODE_RECORD_VERSION, SEAL_REQUEST | SEAL_RECORD, protocol_1},
    {"not a code", CS_CODE_RECORD_UNANSWERED, SEAL_RECORD, not_a_code},
    {"no code", CS_CODE_RECORD_UNANSWERED, SEAL_RECORD, no_code},
    {"other code", CS_CODE_REQUEST_DIGEST, 0, other_code},
    {"a result", CS_CODE_RESULT_DIGEST, SEAL_RECORD, a_result},
    {"rule id", CS_CODE_RULE_MISMATCH, SEAL_RECORD, record_rule},
    {"software", CS_CODE_SOFTWARE_NOT_ALLOWED, SEAL_RECORD, only_software},
    {"time", CS_CODE_RECORD_DIGEST, 0, record_time},
    {"tier word", CS_CODE_TIER_UNKNOWN, SEAL_RECORD, tier_word},
    {"tier", CS_CODE_TIER_BELOW_FLOOR, SEAL_RECORD, tier_low},
};

static cs_result run_unanswered(const sample *s, cs_checked_run *out, cs_error *err) {
    cs_sha256 *hash = cs_sha256_new();
    cr_assert(hash);
    cs_result result = cs_check_unanswered(s->request, s->record, hash, out, err);
    cs_sha256_free(hash);
    return result;
}

Test(check, unanswered_and_its_twins) {
    for (size_t i = 0; i < sizeof unanswered_twins / sizeof *unanswered_twins; i++) {
        const twin *t = &unanswered_twins[i];
        sample s;
        sample_init(&s);
        make_unanswered(&s);
        cs_checked_run checked;
        cs_error err = CS_ERROR_INIT;
        cr_assert_eq(run_unanswered(&s, &checked, &err), CS_OK, "%s: %s", cs_code_name(err.code), err.message);
        cr_expect_eq(checked.tier, CS_TIER_KERNEL);
        cr_expect_str_eq(checked.result_sha256.hex, "");
        t->change(&s);
        sample_seal(&s, t->seal);
        cs_result result = run_unanswered(&s, &checked, &err);
        cr_expect_eq(err.code, t->code, "%s: found %s", t->name, cs_code_name(err.code));
        cr_expect_eq(result, CS_FAILED, "%s", t->name);
        cr_expect_null(checked.record, "%s", t->name);
        sample_free(&s);
    }
}

Test(check, unanswered_without_a_record) {
    sample s;
    sample_init(&s);
    cs_sha256 *hash = cs_sha256_new();
    cs_checked_run checked;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_check_unanswered(s.request, NULL, hash, &checked, &err), CS_FAILED);
    cr_expect_eq(err.code, CS_CODE_RECORD_MISSING);
    cs_sha256_free(hash);
    sample_free(&s);
}

/* ---- the same record ------------------------------------------------------------------------------ */

/* Every field in turn, by the descriptor: the last byte of a number, the first of a text. */
Test(check, same_record_compares_every_field) {
    const ProtobufCMessageDescriptor *type = &plimsoll__v1__run_record__descriptor;
    cr_assert_eq(type->n_fields, 16);
    for (unsigned i = 0; i < type->n_fields; i++) {
        sample a, b;
        sample_init(&a);
        sample_init(&b);
        cs_error err = CS_ERROR_INIT;
        cr_assert_eq(cs_check_same_record(a.record, b.record, &err), CS_OK);
        void *field = (char *)b.record + type->fields[i].offset;
        if (type->fields[i].type == PROTOBUF_C_TYPE_BYTES)
            canon_set(field, "changed");
        else
            *(uint32_t *)field ^= 1;
        cr_expect_eq(cs_check_same_record(a.record, b.record, &err), CS_FAILED, "%s", type->fields[i].name);
        cr_expect_eq(err.code, CS_CODE_RECORD_DIFFERS);
        cr_expect_str_eq(err.where, type->fields[i].name);
        sample_free(&a);
        sample_free(&b);
    }
}

Test(check, same_record_needs_both) {
    sample s;
    sample_init(&s);
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_check_same_record(NULL, s.record, &err), CS_FAILED);
    cr_expect_eq(err.code, CS_CODE_RECORD_MISSING);
    sample_free(&s);
}

/* ---- what another implementation recorded --------------------------------------------------------- */

static ProtobufCMessage *decode_member(const json_t *line, const char *name, const ProtobufCMessageDescriptor *type,
                                       cs_buf *bytes) {
    ProtobufCMessage *message;
    cr_assert(cs_base64_decode(cs_view_of(json_string_value(json_object_get(line, name))), bytes));
    cr_assert_eq(cs_message_decode(type, cs_buf_view(bytes), &message, NULL), CS_OK);
    return message;
}

static void check_published(const json_t *line) {
    cs_buf request = CS_BUF_INIT(1u << 20);
    cs_buf response = CS_BUF_INIT(1u << 20);
    cs_call call = {.in_session = true};
    call.request = (void *)decode_member(line, "request", &plimsoll__v1__run_request__descriptor, &request);
    call.response = (void *)decode_member(line, "response", &plimsoll__v1__run_response__descriptor, &response);
    call.response_bytes = cs_buf_view(&response);
    cs_checked_run checked;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(run(&call, &checked, &err), CS_OK, "%s: %s", cs_code_name(err.code), err.message);
    call.in_session = false;
    cr_expect_eq(run(&call, &checked, &err), CS_FAILED);
    cr_expect_eq(err.code, CS_CODE_SESSION_FIELDS);
    cs_message_free((void *)(uintptr_t)call.request);
    cs_message_free((void *)(uintptr_t)call.response);
    cs_buf_free(&request);
    cs_buf_free(&response);
}

static size_t check_bundle(const char *name) {
    size_t len;
    size_t count = 0;
    char *text = fixture_read(name, &len);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        json_t *entry = json_loads(line, 0, NULL);
        cr_assert(entry);
        if (json_object_get(entry, "response")) {
            check_published(entry);
            count++;
        }
        json_decref(entry);
    }
    free(text);
    return count;
}

Test(check, published_calls_pass) {
    cr_expect_eq(check_bundle("published-session/unlinked.jsonl"), 5);
    cr_expect_eq(check_bundle("published-session/linked.jsonl"), 5);
}
