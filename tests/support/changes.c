#include "tests/support/changes.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/canon.h"

cs_result changes_run(const cs_call *call, cs_checked_run *out, cs_error *err) {
    cs_sha256 *hash = cs_sha256_new();
    cr_assert(hash);
    cs_result result = cs_check_run(call, hash, out, err);
    cs_sha256_free(hash);
    return result;
}

void changes_expect(const char *name, const cs_call *call, cs_code code) {
    cs_checked_run checked;
    cs_error err = CS_ERROR_INIT;
    memset(&checked, 0x5a, sizeof checked);
    cs_result result = changes_run(call, &checked, &err);
    cr_expect_eq(err.code, code, "%s: expected %s, found %s", name, cs_code_name(code), cs_code_name(err.code));
    cr_expect_eq(result, cs_code_class(code), "%s", name);
    cr_expect_neq(err.message[0], '\0', "%s", name);
    bool left = checked.record || checked.request_sha256.hex[0] || checked.result_sha256.hex[0] ||
                checked.record_sha256.hex[0] || checked.tier != CS_TIER_NONE || checked.warning_count > 0;
    cr_expect_not(left, "%s: something is left in the output", name);
}

void change_floor_word(sample *s) {
    canon_set(&s->request->minimum_isolation, "strong");
}

void change_floor_case(sample *s) {
    canon_set(&s->request->minimum_isolation, "Kernel");
}

void change_rule_mode(sample *s) {
    canon_set(&s->request->software_rule->mode, "any");
}

void change_rule_without_mode(sample *s) {
    canon_set(&s->request->software_rule->mode, "");
}

void change_no_record(sample *s) {
    s->response->record = NULL;
}

void change_version_1(sample *s) {
    s->record->version = 1;
}

void change_version_3(sample *s) {
    s->record->version = 3;
}

void change_version_4(sample *s) {
    s->record->version = 4;
}

void change_protocol_1(sample *s) {
    s->request->protocol = 1;
}

void change_unanswered(sample *s) {
    canon_set(&s->record->unanswered, "internal");
}

void change_other_code(sample *s) {
    canon_set(&s->request->javascript->code, "console.log(1 + 2)");
}

void change_other_timeout(sample *s) {
    s->request->timeout_ms++;
}

void change_other_output(sample *s) {
    canon_set(&s->response->javascript->stdout, "3\n");
}

void change_other_exit_code(sample *s) {
    s->response->javascript->exit_code = 1;
}

void change_upper_digest(sample *s) {
    for (size_t i = 0; i < s->record->result_sha256.len; i++)
        if (s->record->result_sha256.data[i] >= 'a') s->record->result_sha256.data[i] -= 'a' - 'A';
}

void change_record_provider(sample *s) {
    canon_set(&s->record->provider, "docker");
}

void change_record_isolation(sample *s) {
    canon_set(&s->record->isolation, "vm");
}

void change_record_environment(sample *s) {
    canon_set(&s->record->environment, "node-23");
}

void change_record_software(sample *s) {
    canon_set(&s->record->software_identity, SAMPLE_IDENTITY "x");
}

void change_response_software(sample *s) {
    canon_set(&s->response->software_identity, "");
}

void change_record_rule(sample *s) {
    canon_set(&s->record->software_rule_id, "exact:" SAMPLE_IDENTITY "x");
}

void change_no_rule(sample *s) {
    canon_set(&s->request->software_rule->mode, "");
    free(s->request->software_rule->identities[0].data);
    free(s->request->software_rule->identities);
    s->request->software_rule->identities = NULL;
    s->request->software_rule->n_identities = 0;
}

void change_other_software(sample *s) {
    canon_set(&s->record->software_identity, "oci-manifest:linux/amd64@sha256:two");
    canon_set(&s->response->software_identity, "oci-manifest:linux/amd64@sha256:two");
}

void change_no_software(sample *s) {
    canon_set(&s->record->software_identity, "");
    canon_set(&s->response->software_identity, "");
}

void change_record_time(sample *s) {
    s->record->started_unix_ms++;
}

void change_record_policy(sample *s) {
    canon_set(&s->record->policy, "policy:sha256:2");
}

void change_tier_word(sample *s) {
    canon_set(&s->record->isolation, "strong");
    canon_set(&s->response->isolation, "strong");
}

void change_tier_none(sample *s) {
    canon_set(&s->record->isolation, "");
    canon_set(&s->response->isolation, "");
    canon_set(&s->request->minimum_isolation, "");
}

void change_tier_low(sample *s) {
    canon_set(&s->record->isolation, "process");
    canon_set(&s->response->isolation, "process");
}

void change_session(sample *s) {
    canon_set(&s->record->session, "5947d7c33d783f94b3b4c1a96ebc8991ed28f1b069b71e03376cba8caa98a720");
}

void change_sequence(sample *s) {
    s->record->sequence = 1;
}

void change_previous(sample *s) {
    canon_set(&s->record->previous_sha256, "5947d7c33d783f94b3b4c1a96ebc8991ed28f1b069b71e03376cba8caa98a720");
}

void change_no_result(sample *s) {
    protobuf_c_message_free_unpacked(&s->response->javascript->base, NULL);
    s->response->javascript = NULL;
    s->response->result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT__NOT_SET;
}

void change_cell_result(sample *s) {
    change_no_result(s);
    s->response->cell = malloc(sizeof *s->response->cell);
    cr_assert(s->response->cell);
    plimsoll__v1__cell_result__init(s->response->cell);
    s->response->result_case = PLIMSOLL__V1__RUN_RESPONSE__RESULT_CELL;
}

void change_before_provider(sample *s) {
    canon_set(&s->before->sandbox, "docker");
}

void change_after_provider(sample *s) {
    canon_set(&s->after->sandbox, "docker");
}

void change_before_tier(sample *s) {
    canon_set(&s->before->isolation, "vm");
}

void change_after_tier(sample *s) {
    canon_set(&s->after->isolation, "container");
}

void change_before_policy(sample *s) {
    canon_set(&s->before->policy, "");
}

void change_after_policy(sample *s) {
    canon_set(&s->after->policy, "policy:sha256:2");
}

void change_before_protocol(sample *s) {
    s->before->protocol = 2;
}

void change_after_protocol(sample *s) {
    s->after->protocol = 4;
}

/* Protocol 1: no rule, a record of version 1, no software in it. */
void change_make_version_1(sample *s) {
    change_no_rule(s);
    s->request->protocol = 1;
    s->before->protocol = 1;
    s->after->protocol = 1;
    s->record->version = 1;
    canon_set(&s->record->software_identity, "");
    canon_set(&s->record->software_rule_id, "");
    canon_set(&s->response->software_identity, "");
    sample_seal(s, SEAL_ALL);
}

void change_identity_in_version_1(sample *s) {
    canon_set(&s->record->software_identity, SAMPLE_IDENTITY);
    canon_set(&s->response->software_identity, SAMPLE_IDENTITY);
}

void change_rule_id_in_version_1(sample *s) {
    canon_set(&s->record->software_rule_id, "exact:" SAMPLE_IDENTITY);
}

/* The request digest of protocol 1 does not cover a rule, so no record can answer one. */
void change_rule_in_protocol_1(sample *s) {
    cs_software_rule *rule = s->request->software_rule;
    canon_set(&rule->mode, "exact");
    rule->identities = calloc(1, sizeof *rule->identities);
    cr_assert(rule->identities);
    rule->n_identities = 1;
    canon_set(&rule->identities[0], SAMPLE_IDENTITY);
}

void change_version_2(sample *s) {
    s->record->version = 2;
}

void change_make_unanswered(sample *s) {
    s->record->version = 3;
    canon_set(&s->record->unanswered, "unavailable");
    canon_set(&s->record->result_sha256, "");
    change_session(s);
    change_sequence(s);
    sample_seal(s, SEAL_RECORD);
}

void change_not_a_code(sample *s) {
    canon_set(&s->record->unanswered, "Unavailable");
}

void change_no_code(sample *s) {
    canon_set(&s->record->unanswered, "");
}

void change_a_result(sample *s) {
    sample_seal(s, SEAL_RESULT);
}

void change_only_software(sample *s) {
    canon_set(&s->record->software_identity, "other");
}

#define INSTANCE "k8s-pod-uid:9f3c1b6e-2d44-4c7e-8a51-0c1d2e3f4a5b"

/* Protocol 4: a record of version 4, with an instance. */
void change_make_version_4(sample *s) {
    s->request->protocol = 4;
    s->before->protocol = 4;
    s->after->protocol = 4;
    s->record->version = 4;
    canon_set(&s->record->instance, INSTANCE);
    canon_set(&s->response->instance, INSTANCE);
    sample_seal(s, SEAL_ALL);
}

void change_make_unanswered_4(sample *s) {
    change_make_version_4(s);
    change_make_unanswered(s);
    s->record->version = 4;
    sample_seal(s, SEAL_RECORD);
}

void change_record_instance(sample *s) {
    canon_set(&s->record->instance, "k8s-pod-uid:another");
}

void change_response_instance(sample *s) {
    canon_set(&s->response->instance, "k8s-pod-uid:another");
}

void change_both_instances(sample *s) {
    change_record_instance(s);
    change_response_instance(s);
}

void change_no_instance(sample *s) {
    canon_set(&s->record->instance, "");
}

void change_instance_form(sample *s) {
    canon_set(&s->record->instance, "k8s pod:1");
    canon_set(&s->response->instance, "k8s pod:1");
}

void change_protocol_3(sample *s) {
    s->request->protocol = 3;
}

void change_protocol_4(sample *s) {
    s->request->protocol = 4;
}

void change_protocol_5(sample *s) {
    s->request->protocol = 5;
}
