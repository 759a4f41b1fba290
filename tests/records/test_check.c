/* Every check of one run has a twin: a call that passes, and the same with one thing changed. Digests that
 * depend on what changed are sealed again, so that only the check that is meant can fail. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/canon.h"
#include "tests/support/changes.h"

/* ---- the passing case ----------------------------------------------------------------------------- */

Test(check, a_good_run_passes) {
    sample s;
    sample_init(&s);
    cs_call call = sample_call(&s);
    cs_checked_run checked;
    cs_error err = CS_ERROR_INIT;
    char expected[65];
    cr_assert_eq(changes_run(&call, &checked, &err), CS_OK, "%s: %s", cs_code_name(err.code), err.message);
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

static const twin twins[] = {
    {"floor word", CS_CODE_FLOOR_UNKNOWN, REQUEST_AND_DOWN, change_floor_word},
    {"floor case", CS_CODE_FLOOR_UNKNOWN, REQUEST_AND_DOWN, change_floor_case},
    {"rule mode", CS_CODE_RULE_MALFORMED, REQUEST_AND_DOWN, change_rule_mode},
    {"rule without mode", CS_CODE_RULE_MALFORMED, REQUEST_AND_DOWN, change_rule_without_mode},
    {"no record", CS_CODE_RECORD_MISSING, SEAL_BYTES, change_no_record},
    {"version 1", CS_CODE_RECORD_VERSION, RECORD_AND_BYTES, change_version_1},
    {"version 3", CS_CODE_RECORD_VERSION, RECORD_AND_BYTES, change_version_3},
    {"version 4", CS_CODE_RECORD_VERSION, RECORD_AND_BYTES, change_version_4},
    {"version 2 under protocol 1", CS_CODE_RECORD_VERSION, REQUEST_AND_DOWN, change_protocol_1},
    {"version 2 under protocol 4", CS_CODE_RECORD_VERSION, REQUEST_AND_DOWN, change_protocol_4},
    {"unanswered", CS_CODE_RECORD_UNANSWERED, RECORD_AND_BYTES, change_unanswered},
    {"other code", CS_CODE_REQUEST_DIGEST, 0, change_other_code},
    {"other timeout", CS_CODE_REQUEST_DIGEST, 0, change_other_timeout},
    {"other output", CS_CODE_RESULT_DIGEST, SEAL_BYTES, change_other_output},
    {"other exit code", CS_CODE_RESULT_DIGEST, SEAL_BYTES, change_other_exit_code},
    {"digest in capitals", CS_CODE_RESULT_DIGEST, RECORD_AND_BYTES, change_upper_digest},
    {"provider", CS_CODE_PROVIDER_MISMATCH, RECORD_AND_BYTES, change_record_provider},
    {"isolation", CS_CODE_ISOLATION_MISMATCH, RECORD_AND_BYTES, change_record_isolation},
    {"environment", CS_CODE_ENVIRONMENT_MISMATCH, RECORD_AND_BYTES, change_record_environment},
    {"instance of the record", CS_CODE_INSTANCE_MISMATCH, RECORD_AND_BYTES, change_record_instance},
    {"instance of the response", CS_CODE_INSTANCE_MISMATCH, SEAL_BYTES, change_response_instance},
    {"instance in version 2", CS_CODE_INSTANCE_MISMATCH, RECORD_AND_BYTES, change_both_instances},
    {"software of the record", CS_CODE_SOFTWARE_MISMATCH, RECORD_AND_BYTES, change_record_software},
    {"software of the response", CS_CODE_SOFTWARE_MISMATCH, SEAL_BYTES, change_response_software},
    {"rule id", CS_CODE_RULE_MISMATCH, RECORD_AND_BYTES, change_record_rule},
    {"rule id without a rule", CS_CODE_RULE_MISMATCH, REQUEST_AND_DOWN, change_no_rule},
    {"other software", CS_CODE_SOFTWARE_NOT_ALLOWED, RECORD_AND_BYTES, change_other_software},
    {"no software", CS_CODE_SOFTWARE_NOT_ALLOWED, RECORD_AND_BYTES, change_no_software},
    {"record time", CS_CODE_RECORD_DIGEST, SEAL_BYTES, change_record_time},
    {"record policy", CS_CODE_RECORD_DIGEST, SEAL_BYTES, change_record_policy},
    {"tier word", CS_CODE_TIER_UNKNOWN, RECORD_AND_BYTES, change_tier_word},
    {"no tier", CS_CODE_TIER_UNKNOWN, REQUEST_AND_DOWN, change_tier_none},
    {"low tier", CS_CODE_TIER_BELOW_FLOOR, RECORD_AND_BYTES, change_tier_low},
    {"session", CS_CODE_SESSION_FIELDS, RECORD_AND_BYTES, change_session},
    {"sequence", CS_CODE_SESSION_FIELDS, RECORD_AND_BYTES, change_sequence},
    {"previous", CS_CODE_SESSION_FIELDS, RECORD_AND_BYTES, change_previous},
    {"no result", CS_CODE_RESULT_MISSING, RESULT_AND_DOWN, change_no_result},
    {"result of another kind", CS_CODE_RESULT_KIND, RESULT_AND_DOWN, change_cell_result},
    {"provider before", CS_CODE_PROVIDER_DRIFT, 0, change_before_provider},
    {"provider after", CS_CODE_PROVIDER_DRIFT, 0, change_after_provider},
    {"tier before", CS_CODE_TIER_DRIFT, 0, change_before_tier},
    {"tier after", CS_CODE_TIER_DRIFT, 0, change_after_tier},
    {"policy before", CS_CODE_POLICY_DRIFT, 0, change_before_policy},
    {"policy after", CS_CODE_POLICY_DRIFT, 0, change_after_policy},
    {"protocol before", CS_CODE_PROTOCOL_DRIFT, 0, change_before_protocol},
    {"protocol after", CS_CODE_PROTOCOL_DRIFT, 0, change_after_protocol},
};

Test(check, every_check_has_a_twin) {
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        sample s;
        sample_init(&s);
        cs_call call = sample_call(&s);
        cs_checked_run checked;
        cr_assert_eq(changes_run(&call, &checked, NULL), CS_OK);
        twins[i].change(&s);
        sample_seal(&s, twins[i].seal);
        call = sample_call(&s);
        changes_expect(twins[i].name, &call, twins[i].code);
        sample_free(&s);
    }
}

/* Only these two say where: the daemon described itself twice. */
Test(check, drift_says_which_description) {
    sample s;
    sample_init(&s);
    change_after_tier(&s);
    cs_call call = sample_call(&s);
    cs_checked_run checked;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(changes_run(&call, &checked, &err), CS_FAILED);
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
    changes_expect("only before", &call, CS_CODE_INTERNAL);
    call.before = NULL;
    cs_checked_run checked;
    cr_expect_eq(changes_run(&call, &checked, NULL), CS_OK);
    call.after = s.after;
    changes_expect("only after", &call, CS_CODE_INTERNAL);
    sample_free(&s);
}

/* ---- other versions ------------------------------------------------------------------------------- */

/* What `make` makes passes, and none of the cases does. */
static void expect_twins(void (*make)(sample *s), const twin *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        sample s;
        sample_init(&s);
        make(&s);
        cs_call call = sample_call(&s);
        cs_checked_run checked;
        cs_error err = CS_ERROR_INIT;
        cr_assert_eq(changes_run(&call, &checked, &err), CS_OK, "%s: %s", cs_code_name(err.code), err.message);
        cases[i].change(&s);
        sample_seal(&s, cases[i].seal);
        call = sample_call(&s);
        changes_expect(cases[i].name, &call, cases[i].code);
        sample_free(&s);
    }
}

Test(check, version_1_and_its_twins) {
    static const twin cases[] = {
        {"identity", CS_CODE_RECORD_SOFTWARE_FIELDS, RECORD_AND_BYTES, change_identity_in_version_1},
        {"rule id", CS_CODE_RECORD_SOFTWARE_FIELDS, RECORD_AND_BYTES, change_rule_id_in_version_1},
        {"rule", CS_CODE_RULE_MISMATCH, REQUEST_AND_DOWN, change_rule_in_protocol_1},
        {"version 2", CS_CODE_RECORD_VERSION, RECORD_AND_BYTES, change_version_2},
        {"version 4", CS_CODE_RECORD_VERSION, RECORD_AND_BYTES, change_version_4},
        {"instance", CS_CODE_INSTANCE_MISMATCH, RECORD_AND_BYTES, change_both_instances},
    };
    expect_twins(change_make_version_1, cases, sizeof cases / sizeof *cases);
}

Test(check, version_4_and_its_twins) {
    static const twin cases[] = {
        {"version 1", CS_CODE_RECORD_VERSION, RECORD_AND_BYTES, change_version_1},
        {"version 2", CS_CODE_RECORD_VERSION, RECORD_AND_BYTES, change_version_2},
        {"version 3", CS_CODE_RECORD_VERSION, RECORD_AND_BYTES, change_version_3},
        {"protocol 3", CS_CODE_RECORD_VERSION, REQUEST_AND_DOWN, change_protocol_3},
        {"protocol 5", CS_CODE_RECORD_VERSION, REQUEST_AND_DOWN, change_protocol_5},
        {"unanswered", CS_CODE_RECORD_UNANSWERED, RECORD_AND_BYTES, change_unanswered},
        {"instance of the record", CS_CODE_INSTANCE_MISMATCH, RECORD_AND_BYTES, change_record_instance},
        {"instance of the response", CS_CODE_INSTANCE_MISMATCH, SEAL_BYTES, change_response_instance},
        {"no instance in the record", CS_CODE_INSTANCE_MISMATCH, RECORD_AND_BYTES, change_no_instance},
        {"form of the instance", CS_CODE_INSTANCE_MISMATCH, RECORD_AND_BYTES, change_instance_form},
        {"the instance is in the digest", CS_CODE_RECORD_DIGEST, SEAL_BYTES, change_both_instances},
    };
    expect_twins(change_make_version_4, cases, sizeof cases / sizeof *cases);
}

/* No later protocol is taken for one that is known: its records have no right version here. */
Test(check, an_unknown_protocol_says_so) {
    sample s;
    sample_init(&s);
    change_make_version_4(&s);
    s.request->protocol = 5;
    s.before->protocol = 5;
    s.after->protocol = 5;
    sample_seal(&s, SEAL_ALL);
    cs_call call = sample_call(&s);
    cs_checked_run checked;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(changes_run(&call, &checked, &err), CS_FAILED);
    cr_expect_eq(err.code, CS_CODE_RECORD_VERSION);
    cr_expect_not_null(strstr(err.message, "protocol 5"), "%s", err.message);
    cr_expect_not_null(strstr(err.message, "not known here"), "%s", err.message);
    sample_free(&s);
}

static cs_code instance_code(const char *instance) {
    sample s;
    sample_init(&s);
    change_make_version_4(&s);
    canon_set(&s.record->instance, instance);
    canon_set(&s.response->instance, instance);
    sample_seal(&s, SEAL_ALL);
    cs_call call = sample_call(&s);
    cs_checked_run checked;
    cs_error err = CS_ERROR_INIT;
    cs_result result = changes_run(&call, &checked, &err);
    sample_free(&s);
    return result == CS_OK ? CS_CODE_OK : err.code;
}

#define TEN "0123456789"
#define SIXTY TEN TEN TEN TEN TEN TEN

Test(check, forms_of_an_instance) {
    static const char *const good[] = {"",
                                       "a:b",
                                       "localdaemon-sandbox:0",
                                       "k8s-pod-uid:A.z_0:-",
                                       "a::",
                                       "a" TEN TEN TEN "1:x",       /* a kind of 32 */
                                       "a:" SIXTY SIXTY "1234567"}; /* a name of 127 */
    static const char *const bad[] = {"a",
                                      "a:",
                                      ":b",
                                      "A:b",
                                      "0:b",
                                      "-a:b",
                                      "a_b:c",
                                      "a.b:c",
                                      "a b:c",
                                      "a:b c",
                                      "a:b/c",
                                      "a:b\n",
                                      "a:\xc3\xa9",
                                      "a" TEN TEN TEN "12:x",
                                      "a:" SIXTY SIXTY "12345678"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        cr_expect_eq(instance_code(good[i]), CS_CODE_OK, "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_expect_eq(instance_code(bad[i]), CS_CODE_INSTANCE_MISMATCH, "%s", bad[i]);
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
    cr_expect_eq(changes_run(&call, &checked, NULL), CS_OK);
    change_version_1(&s);
    sample_seal(&s, RECORD_AND_BYTES);
    call = sample_call(&s);
    changes_expect("version 1 under protocol 2", &call, CS_CODE_RECORD_VERSION);
    sample_free(&s);
}
