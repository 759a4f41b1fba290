/* What the daemon states: the record, and the response around it.
 *
 * `a` changes one thing and leaves the record's own digest, `b` makes that digest again, so that only the
 * check of the changed thing itself is left. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/hostile/hostile.h"
#include "tests/support/canon.h"
#include "tests/support/changes.h"

#define SOME_DIGEST "5947d7c33d783f94b3b4c1a96ebc8991ed28f1b069b71e03376cba8caa98a720"

#define BOTH(what, function, code_a, code_b)                                                                           \
    {what ", a", CHANGE(function, SEAL_BYTES), code_a}, {                                                              \
        what ", b", CHANGE(function, RECORD_AND_BYTES), code_b                                                         \
    }

/* ---- every field of the record -------------------------------------------------------------------- */

static void version_0(sample *s) {
    s->record->version = 0;
}

static void version_wraps(sample *s) {
    s->record->version = UINT32_MAX;
}

static void other_request_digest(sample *s) {
    canon_set(&s->record->request_sha256, SOME_DIGEST);
}

static void no_request_digest(sample *s) {
    canon_set(&s->record->request_sha256, "");
}

static void upper_request_digest(sample *s) {
    for (size_t i = 0; i < s->record->request_sha256.len; i++)
        if (s->record->request_sha256.data[i] >= 'a') s->record->request_sha256.data[i] -= 'a' - 'A';
}

static void other_result_digest(sample *s) {
    canon_set(&s->record->result_sha256, SOME_DIGEST);
}

static void no_result_digest(sample *s) {
    canon_set(&s->record->result_sha256, "");
}

static void provider_spaced(sample *s) {
    canon_set(&s->record->provider, "gvisor ");
}

static void provider_with_escape(sample *s) {
    canon_set(&s->record->provider, "\x1b[2J\xe2\x80\xae");
}

static void no_provider(sample *s) {
    canon_set(&s->record->provider, "");
}

static void no_environment(sample *s) {
    canon_set(&s->record->environment, "");
}

static void no_policy(sample *s) {
    canon_set(&s->record->policy, "");
}

static void change_ended(sample *s) {
    s->record->ended_unix_ms++;
}

static void no_rule_id(sample *s) {
    canon_set(&s->record->software_rule_id, "");
}

static void approved_rule_id(sample *s) {
    canon_set(&s->record->software_rule_id, "approved:sha256:" SOME_DIGEST);
}

static void session_not_hex(sample *s) {
    canon_set(&s->record->session, "x");
}

static void sequence_huge(sample *s) {
    s->record->sequence = UINT64_MAX;
}

static const play fields[] = {
    BOTH("version 0", version_0, FAILS(RECORD_VERSION), FAILS(RECORD_VERSION)),
    BOTH("version 1", change_version_1, FAILS(RECORD_VERSION), FAILS(RECORD_VERSION)),
    BOTH("version 3", change_version_3, FAILS(RECORD_VERSION), FAILS(RECORD_VERSION)),
    BOTH("version 4", change_version_4, FAILS(RECORD_VERSION), FAILS(RECORD_VERSION)),
    BOTH("the last version", version_wraps, FAILS(RECORD_VERSION), FAILS(RECORD_VERSION)),
    BOTH("request digest", other_request_digest, FAILS(REQUEST_DIGEST), FAILS(REQUEST_DIGEST)),
    BOTH("no request digest", no_request_digest, FAILS(REQUEST_DIGEST), FAILS(REQUEST_DIGEST)),
    BOTH("request digest in capitals", upper_request_digest, FAILS(REQUEST_DIGEST), FAILS(REQUEST_DIGEST)),
    BOTH("result digest", other_result_digest, FAILS(RESULT_DIGEST), FAILS(RESULT_DIGEST)),
    BOTH("no result digest", no_result_digest, FAILS(RESULT_DIGEST), FAILS(RESULT_DIGEST)),
    BOTH("result digest in capitals", change_upper_digest, FAILS(RESULT_DIGEST), FAILS(RESULT_DIGEST)),
    BOTH("provider", change_record_provider, FAILS(PROVIDER_MISMATCH), FAILS(PROVIDER_MISMATCH)),
    BOTH("provider with a blank", provider_spaced, FAILS(PROVIDER_MISMATCH), FAILS(PROVIDER_MISMATCH)),
    BOTH("provider that steers a terminal", provider_with_escape, FAILS(PROVIDER_MISMATCH), FAILS(PROVIDER_MISMATCH)),
    BOTH("no provider", no_provider, FAILS(PROVIDER_MISMATCH), FAILS(PROVIDER_MISMATCH)),
    BOTH("isolation", change_record_isolation, FAILS(ISOLATION_MISMATCH), FAILS(ISOLATION_MISMATCH)),
    BOTH("environment", change_record_environment, FAILS(ENVIRONMENT_MISMATCH), FAILS(ENVIRONMENT_MISMATCH)),
    BOTH("no environment", no_environment, FAILS(ENVIRONMENT_MISMATCH), FAILS(ENVIRONMENT_MISMATCH)),
    BOTH("policy", change_record_policy, FAILS(RECORD_DIGEST), FAILS(POLICY_DRIFT)),
    BOTH("no policy", no_policy, FAILS(RECORD_DIGEST), FAILS(POLICY_DRIFT)),
    BOTH("started", change_record_time, FAILS(RECORD_DIGEST), PASSES),
    BOTH("ended", change_ended, FAILS(RECORD_DIGEST), PASSES),
    BOTH("session", change_session, FAILS(RECORD_DIGEST), FAILS(SESSION_FIELDS)),
    BOTH("session that is none", session_not_hex, FAILS(RECORD_DIGEST), FAILS(SESSION_FIELDS)),
    BOTH("sequence", change_sequence, FAILS(RECORD_DIGEST), FAILS(SESSION_FIELDS)),
    BOTH("the last sequence", sequence_huge, FAILS(RECORD_DIGEST), FAILS(SESSION_FIELDS)),
    BOTH("previous", change_previous, FAILS(RECORD_DIGEST), FAILS(SESSION_FIELDS)),
    BOTH("software", change_record_software, FAILS(SOFTWARE_MISMATCH), FAILS(SOFTWARE_MISMATCH)),
    BOTH("rule", change_record_rule, FAILS(RULE_MISMATCH), FAILS(RULE_MISMATCH)),
    BOTH("no rule", no_rule_id, FAILS(RULE_MISMATCH), FAILS(RULE_MISMATCH)),
    BOTH("a rule of the other mode", approved_rule_id, FAILS(RULE_MISMATCH), FAILS(RULE_MISMATCH)),
    BOTH("unanswered", change_unanswered, FAILS(RECORD_UNANSWERED), FAILS(RECORD_UNANSWERED)),
    BOTH("instance", change_record_instance, FAILS(INSTANCE_MISMATCH), FAILS(INSTANCE_MISMATCH)),
    BOTH("an instance that no digest covers", change_both_instances, FAILS(INSTANCE_MISMATCH),
         FAILS(INSTANCE_MISMATCH)),
};

Test(hostile_records, every_field) {
    hostile(&(group){.at = AT_RUN, PLAYS(fields)});
}

static void no_own_digest(sample *s) {
    canon_set(&s->record->record_sha256, "");
}

static void other_own_digest(sample *s) {
    canon_set(&s->record->record_sha256, SOME_DIGEST);
}

static void upper_own_digest(sample *s) {
    for (size_t i = 0; i < s->record->record_sha256.len; i++)
        if (s->record->record_sha256.data[i] >= 'a') s->record->record_sha256.data[i] -= 'a' - 'A';
}

/* The digest as another version would make it. */
static void own_digest_of_version_1(sample *s) {
    s->record->version = 1;
    sample_seal(s, SEAL_RECORD);
    s->record->version = 2;
}

static const play own_digests[] = {
    {"no record", CHANGE(change_no_record, SEAL_BYTES), FAILS(RECORD_MISSING)},
    {"no own digest", CHANGE(no_own_digest, SEAL_BYTES), FAILS(RECORD_DIGEST)},
    {"another own digest", CHANGE(other_own_digest, SEAL_BYTES), FAILS(RECORD_DIGEST)},
    {"own digest in capitals", CHANGE(upper_own_digest, SEAL_BYTES), FAILS(RECORD_DIGEST)},
    {"own digest of another version", CHANGE(own_digest_of_version_1, SEAL_BYTES), FAILS(RECORD_DIGEST)},
};

Test(hostile_records, its_own_digest) {
    hostile(&(group){.at = AT_RUN, PLAYS(own_digests)});
}

/* ---- the record of another request ----------------------------------------------------------------- */

/* The daemon answers with a good record, and with a good result, of a request that differs in one thing. */
#define OF_ANOTHER(name, field_change)                                                                                 \
    static void name(sample *s) {                                                                                      \
        cs_run_request *ours = s->request;                                                                             \
        cs_run_request theirs = *ours;                                                                                 \
        Plimsoll__V1__JavaScriptRun payload = *ours->javascript;                                                       \
        cs_software_rule rule = *ours->software_rule;                                                                  \
        theirs.javascript = &payload;                                                                                  \
        theirs.software_rule = &rule;                                                                                  \
        field_change;                                                                                                  \
        s->request = &theirs;                                                                                          \
        sample_seal(s, SEAL_ALL);                                                                                      \
        s->request = ours;                                                                                             \
    }
#define TEXT(text)                                                                                                     \
    (ProtobufCBinaryData) {                                                                                            \
        .len = sizeof(text) - 1, .data = (uint8_t *)(uintptr_t)(text)                                                  \
    }

OF_ANOTHER(of_other_code, payload.code = TEXT("console.log(1 + 2)"))
OF_ANOTHER(of_other_grant, payload.grant_profile = TEXT("net"))
OF_ANOTHER(of_other_floor, theirs.minimum_isolation = TEXT("process"))
OF_ANOTHER(of_other_timeout, theirs.timeout_ms = 5001)
OF_ANOTHER(of_other_protocol, theirs.protocol = 2)
OF_ANOTHER(of_other_mode, rule.mode = TEXT("approved"))
OF_ANOTHER(of_no_rule, theirs.software_rule = NULL)
OF_ANOTHER(of_other_trace, theirs.trace_id = TEXT("trace-2"))

static const play others[] = {
    {"other code", CHANGE(of_other_code, 0), FAILS(REQUEST_DIGEST)},
    {"another grant", CHANGE(of_other_grant, 0), FAILS(REQUEST_DIGEST)},
    {"a lower floor", CHANGE(of_other_floor, 0), FAILS(REQUEST_DIGEST)},
    {"another time-out", CHANGE(of_other_timeout, 0), FAILS(REQUEST_DIGEST)},
    {"another protocol", CHANGE(of_other_protocol, 0), FAILS(REQUEST_DIGEST)},
    {"another mode of the rule", CHANGE(of_other_mode, 0), FAILS(REQUEST_DIGEST)},
    {"no rule", CHANGE(of_no_rule, 0), FAILS(REQUEST_DIGEST)},
    {"another trace id, which is in no digest", CHANGE(of_other_trace, 0), PASSES},
};

Test(hostile_records, of_another_request) {
    hostile(&(group){.at = AT_RUN, PLAYS(others)});
}

/* ---- the response around it ------------------------------------------------------------------------ */

static void response_provider(sample *s) {
    canon_set(&s->response->sandbox, "docker");
}

static void response_no_provider(sample *s) {
    canon_set(&s->response->sandbox, "");
}

static void response_isolation(sample *s) {
    canon_set(&s->response->isolation, "vm");
}

static void response_environment(sample *s) {
    canon_set(&s->response->environment, "node-23");
}

static void response_duration(sample *s) {
    s->response->duration_ms = INT64_MIN;
}

static void add_advice(sample *s) {
    Plimsoll__V1__JavaScriptResult *result = s->response->javascript;
    static Plimsoll__V1__AdviceFinding finding;
    plimsoll__v1__advice_finding__init(&finding);
    ProtobufCMessage *copy = NULL;
    canon_set(&finding.pattern, "n-plus-one");
    cr_assert_eq(cs_message_copy(&finding.base, &copy, NULL), CS_OK);
    free(finding.pattern.data);
    result->advice = malloc(sizeof(Plimsoll__V1__AdviceFinding *));
    cr_assert_not_null(result->advice);
    result->advice[0] = (Plimsoll__V1__AdviceFinding *)copy;
    result->n_advice = 1;
}

static void exit_code_1(sample *s) {
    s->response->javascript->exit_code = 1;
}

static void timed_out(sample *s) {
    s->response->javascript->timed_out = true;
}

static void more_errors(sample *s) {
    canon_set(&s->response->javascript->stderr, "warning\n");
}

static void truncated(sample *s) {
    s->response->javascript->stdout_truncated = true;
}

static void errors_truncated(sample *s) {
    s->response->javascript->stderr_truncated = true;
}

#define RESULT(what, function)                                                                                         \
    {what, CHANGE(function, SEAL_BYTES), FAILS(RESULT_DIGEST)}, {                                                      \
        what ", sealed", CHANGE(function, RESULT_AND_DOWN), PASSES                                                     \
    }

static const play responses[] = {
    {"provider", CHANGE(response_provider, SEAL_BYTES), FAILS(PROVIDER_MISMATCH)},
    {"no provider", CHANGE(response_no_provider, SEAL_BYTES), FAILS(PROVIDER_MISMATCH)},
    {"isolation", CHANGE(response_isolation, SEAL_BYTES), FAILS(ISOLATION_MISMATCH)},
    {"environment", CHANGE(response_environment, SEAL_BYTES), FAILS(ENVIRONMENT_MISMATCH)},
    {"software", CHANGE(change_response_software, SEAL_BYTES), FAILS(SOFTWARE_MISMATCH)},
    {"instance", CHANGE(change_response_instance, SEAL_BYTES), FAILS(INSTANCE_MISMATCH)},
    {"duration, which is in no digest", CHANGE(response_duration, SEAL_BYTES), PASSES},
    {"advice, which is in no digest", CHANGE(add_advice, SEAL_BYTES), PASSES},
    RESULT("output", change_other_output),
    RESULT("errors", more_errors),
    RESULT("exit code", exit_code_1),
    RESULT("timed out", timed_out),
    RESULT("output truncated", truncated),
    RESULT("errors truncated", errors_truncated),
    {"no result", CHANGE(change_no_result, SEAL_BYTES), FAILS(RESULT_DIGEST)},
    {"no result, sealed", CHANGE(change_no_result, RESULT_AND_DOWN), FAILS(RESULT_MISSING)},
    {"a result of another kind", CHANGE(change_cell_result, SEAL_BYTES), FAILS(RESULT_DIGEST)},
    {"a result of another kind, sealed", CHANGE(change_cell_result, RESULT_AND_DOWN), FAILS(RESULT_KIND)},
};

Test(hostile_records, the_response_around_the_record) {
    hostile(&(group){.at = AT_RUN, PLAYS(responses)});
}

/* ---- protocol 4 ------------------------------------------------------------------------------------ */

/* A daemon that serves protocol 4 well, but for one thing. */
#define WITH_4(name, more)                                                                                             \
    static void name(sample *s) {                                                                                      \
        change_make_version_4(s);                                                                                      \
        more;                                                                                                          \
    }

WITH_4(version_0_in_4, version_0(s))
WITH_4(version_1_in_4, change_version_1(s))
WITH_4(version_2_in_4, change_version_2(s))
WITH_4(version_3_in_4, change_version_3(s))
WITH_4(unanswered_in_4, change_unanswered(s))
WITH_4(record_instance_in_4, change_record_instance(s))
WITH_4(response_instance_in_4, change_response_instance(s))
WITH_4(both_instances_in_4, change_both_instances(s))
WITH_4(no_instance_in_4, change_no_instance(s))
WITH_4(form_in_4, change_instance_form(s))

static const play protocol_4[] = {
    {"as it should be", CHANGE(change_make_version_4, 0), PASSES},
    BOTH("version 0", version_0_in_4, FAILS(RECORD_VERSION), FAILS(RECORD_VERSION)),
    BOTH("version 1", version_1_in_4, FAILS(RECORD_VERSION), FAILS(RECORD_VERSION)),
    BOTH("version 2", version_2_in_4, FAILS(RECORD_VERSION), FAILS(RECORD_VERSION)),
    BOTH("version 3", version_3_in_4, FAILS(RECORD_VERSION), FAILS(RECORD_VERSION)),
    BOTH("unanswered", unanswered_in_4, FAILS(RECORD_UNANSWERED), FAILS(RECORD_UNANSWERED)),
    BOTH("instance of the record", record_instance_in_4, FAILS(INSTANCE_MISMATCH), FAILS(INSTANCE_MISMATCH)),
    BOTH("instance of the response", response_instance_in_4, FAILS(INSTANCE_MISMATCH), FAILS(INSTANCE_MISMATCH)),
    BOTH("both instances", both_instances_in_4, FAILS(RECORD_DIGEST), PASSES),
    BOTH("no instance in the record", no_instance_in_4, FAILS(INSTANCE_MISMATCH), FAILS(INSTANCE_MISMATCH)),
    BOTH("form of the instance", form_in_4, FAILS(INSTANCE_MISMATCH), FAILS(INSTANCE_MISMATCH)),
};

Test(hostile_records, in_protocol_4) {
    hostile(&(group){.at = AT_RUN, PLAYS(protocol_4)});
}
