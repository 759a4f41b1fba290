/* Unanswered calls, the comparison of two records, and calls that another implementation recorded. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "records/text.h"
#include "tests/support/canon.h"
#include "tests/support/changes.h"
#include "tests/support/fixtures.h"

/* ---- unanswered calls ----------------------------------------------------------------------------- */

static const twin unanswered_twins[] = {
    {"floor", CS_CODE_FLOOR_UNKNOWN, SEAL_REQUEST | SEAL_RECORD, change_floor_word},
    {"rule", CS_CODE_RULE_MALFORMED, SEAL_REQUEST | SEAL_RECORD, change_rule_mode},
    {"version 2", CS_CODE_RECORD_VERSION, SEAL_RECORD, change_version_2},
    {"version 4", CS_CODE_RECORD_VERSION, SEAL_RECORD, change_version_4},
    {"protocol 1", CS_CODE_RECORD_VERSION, SEAL_REQUEST | SEAL_RECORD, change_protocol_1},
    {"protocol 4", CS_CODE_RECORD_VERSION, SEAL_REQUEST | SEAL_RECORD, change_protocol_4},
    {"instance", CS_CODE_INSTANCE_MISMATCH, SEAL_RECORD, change_record_instance},
    {"not a code", CS_CODE_RECORD_UNANSWERED, SEAL_RECORD, change_not_a_code},
    {"no code", CS_CODE_RECORD_UNANSWERED, SEAL_RECORD, change_no_code},
    {"other code", CS_CODE_REQUEST_DIGEST, 0, change_other_code},
    {"a result", CS_CODE_RESULT_DIGEST, SEAL_RECORD, change_a_result},
    {"rule id", CS_CODE_RULE_MISMATCH, SEAL_RECORD, change_record_rule},
    {"software", CS_CODE_SOFTWARE_NOT_ALLOWED, SEAL_RECORD, change_only_software},
    {"time", CS_CODE_RECORD_DIGEST, 0, change_record_time},
    {"tier word", CS_CODE_TIER_UNKNOWN, SEAL_RECORD, change_tier_word},
    {"tier", CS_CODE_TIER_BELOW_FLOOR, SEAL_RECORD, change_tier_low},
};

static cs_result run_unanswered(const sample *s, cs_checked_run *out, cs_error *err) {
    cs_sha256 *hash = cs_sha256_new();
    cr_assert(hash);
    cs_result result = cs_check_unanswered(s->request, s->record, hash, out, err);
    cs_sha256_free(hash);
    return result;
}

static const twin unanswered_4_twins[] = {
    {"version 2", CS_CODE_RECORD_VERSION, SEAL_RECORD, change_version_2},
    {"version 3", CS_CODE_RECORD_VERSION, SEAL_RECORD, change_version_3},
    {"protocol 3", CS_CODE_RECORD_VERSION, SEAL_REQUEST | SEAL_RECORD, change_protocol_3},
    {"protocol 5", CS_CODE_RECORD_VERSION, SEAL_REQUEST | SEAL_RECORD, change_protocol_5},
    {"no code", CS_CODE_RECORD_UNANSWERED, SEAL_RECORD, change_no_code},
    {"a result", CS_CODE_RESULT_DIGEST, SEAL_RECORD, change_a_result},
    {"form of the instance", CS_CODE_INSTANCE_MISMATCH, SEAL_RECORD, change_instance_form},
    {"the instance is in the digest", CS_CODE_RECORD_DIGEST, 0, change_record_instance},
};

static void expect_twins(void (*make)(sample *s), const twin *twins, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const twin *t = &twins[i];
        sample s;
        sample_init(&s);
        make(&s);
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

Test(check, unanswered_and_its_twins) {
    expect_twins(change_make_unanswered, unanswered_twins, sizeof unanswered_twins / sizeof *unanswered_twins);
}

Test(check, unanswered_in_protocol_4_and_its_twins) {
    expect_twins(change_make_unanswered_4, unanswered_4_twins, sizeof unanswered_4_twins / sizeof *unanswered_4_twins);
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
    cr_assert_eq(type->n_fields, 17);
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

static size_t check_published(const json_t *line) {
    if (json_object_get(line, "response") == NULL) return 0;
    cs_buf request = CS_BUF_INIT(1u << 20);
    cs_buf response = CS_BUF_INIT(1u << 20);
    cs_call call = {.in_session = true};
    call.request = (void *)decode_member(line, "request", &plimsoll__v1__run_request__descriptor, &request);
    call.response = (void *)decode_member(line, "response", &plimsoll__v1__run_response__descriptor, &response);
    call.response_bytes = cs_buf_view(&response);
    cs_checked_run checked;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(changes_run(&call, &checked, &err), CS_OK, "%s: %s", cs_code_name(err.code), err.message);
    call.in_session = false;
    cr_expect_eq(changes_run(&call, &checked, &err), CS_FAILED);
    cr_expect_eq(err.code, CS_CODE_SESSION_FIELDS);
    cs_message_free((void *)(uintptr_t)call.request);
    cs_message_free((void *)(uintptr_t)call.response);
    cs_buf_free(&request);
    cs_buf_free(&response);
    return 1;
}

Test(check, published_calls_pass) {
    cr_expect_eq(fixture_lines("published-session/unlinked.jsonl", check_published), 5);
    cr_expect_eq(fixture_lines("published-session/linked.jsonl", check_published), 5);
}
