#include "records/check.h"

#include <string.h>

#include "records/digest.h"
#include "records/request.h"
#include "records/wire.h"

/* What the checks of one run look at and leave behind. */
typedef struct checker {
    const cs_run_request *request;
    const cs_run_record *record;
    const cs_run_response *response; /* NULL: a call without an answer */
    cs_sha256 *hash;
    cs_checked_run *out;
    cs_error *err;
} checker;

typedef cs_result check_fn(const checker *c);

/* Run checks in their order; the first failure ends. */
static cs_result run_checks(const checker *c, check_fn *const *checks, size_t count) {
    for (size_t i = 0; i < count; i++) {
        cs_result result = checks[i](c);
        if (result != CS_OK) return result;
    }
    return CS_OK;
}

/* Two stated texts that must be the same. */
static cs_result check_equal(const checker *c, cs_code code, const char *what, cs_view expected, cs_view found) {
    return cs_view_equal(expected, found) ? CS_OK : cs_fail_differs(c->err, code, what, expected, found);
}

/* ---- 1: the request can be checked at all --------------------------------------------------------- */

static cs_result check_floor_known(const checker *c) {
    cs_view floor = cs_bytes_view(&c->request->minimum_isolation);
    if (cs_tier_parse(floor) != CS_TIER_UNKNOWN) return CS_OK;
    return cs_fail_differs(c->err, CS_CODE_FLOOR_UNKNOWN, "the request's floor is no tier that is known here",
                           cs_view_of("process, container, kernel, vm or empty"), floor);
}

static cs_result check_rule_form(const checker *c) {
    return cs_software_rule_validate(c->request->software_rule, c->err);
}

/* ---- 2: the record's form ------------------------------------------------------------------------- */

static cs_result check_record_present(const checker *c) {
    if (c->record) return CS_OK;
    return cs_fail(c->err, CS_CODE_RECORD_MISSING, "there is no record, so nothing states what ran");
}

/* The one version that a record of this protocol may have; 0: none. A protocol that is not known here may state
 * anything in its records, so none of them is believed. */
static uint32_t version_of(uint32_t protocol, bool answered) {
    if (protocol < 2) return answered ? 1 : 0;
    if (protocol < 4) return answered ? 2 : 3;
    return protocol == 4 ? 4 : 0;
}

static cs_result check_version(const checker *c) {
    uint32_t protocol = c->request->protocol;
    bool answered = c->response != NULL;
    uint32_t expected = version_of(protocol, answered);
    if (expected != 0 && c->record->version == expected) return CS_OK;
    if (protocol > CS_PROTOCOL)
        return cs_fail(c->err, CS_CODE_RECORD_VERSION,
                       "the record has version %u, and which version protocol %u requires is not known here, where "
                       "%u is the highest protocol",
                       c->record->version, protocol, CS_PROTOCOL);
    if (expected == 0)
        return cs_fail(c->err, CS_CODE_RECORD_VERSION,
                       "the record has version %u, and protocol %u has no record of an unanswered call",
                       c->record->version, protocol);
    return cs_fail(c->err, CS_CODE_RECORD_VERSION,
                   "the record has version %u, and an %s call of protocol %u has version %u", c->record->version,
                   answered ? "answered" : "unanswered", protocol, expected);
}

/* The digest of version 1 covers neither field, so what stood there could be anything. */
static cs_result check_software_fields(const checker *c) {
    if (c->record->version >= 2) return CS_OK;
    if (c->record->software_identity.len == 0 && c->record->software_rule_id.len == 0) return CS_OK;
    return cs_fail(c->err, CS_CODE_RECORD_SOFTWARE_FIELDS,
                   "a version 1 record has software fields, which its digest does not cover");
}

static cs_result check_not_unanswered(const checker *c) {
    return check_equal(c, CS_CODE_RECORD_UNANSWERED, "the record of an answered call says that it got no answer",
                       cs_view_of(""), cs_bytes_view(&c->record->unanswered));
}

/* ---- 3, 4: what was sent and received ------------------------------------------------------------- */

static cs_result check_request_digest(const checker *c) {
    cs_result result = cs_digest_request_with(c->hash, c->request, &c->out->request_sha256, c->err);
    if (result != CS_OK) return result;
    return check_equal(c, CS_CODE_REQUEST_DIGEST, "the record is not of the request that was sent",
                       cs_digest_view(&c->out->request_sha256), cs_bytes_view(&c->record->request_sha256));
}

static cs_result check_result_digest(const checker *c) {
    cs_result result = cs_digest_result_with(c->hash, c->response, &c->out->result_sha256, c->err);
    if (result != CS_OK) return result;
    return check_equal(c, CS_CODE_RESULT_DIGEST, "the record is not of the result that was received",
                       cs_digest_view(&c->out->result_sha256), cs_bytes_view(&c->record->result_sha256));
}

/* ---- 5: the response's own words ------------------------------------------------------------------ */

static cs_result check_provider(const checker *c) {
    return check_equal(c, CS_CODE_PROVIDER_MISMATCH, "the record names another provider than the response",
                       cs_bytes_view(&c->response->sandbox), cs_bytes_view(&c->record->provider));
}

static cs_result check_isolation(const checker *c) {
    return check_equal(c, CS_CODE_ISOLATION_MISMATCH, "the record states another tier than the response",
                       cs_bytes_view(&c->response->isolation), cs_bytes_view(&c->record->isolation));
}

static cs_result check_environment(const checker *c) {
    return check_equal(c, CS_CODE_ENVIRONMENT_MISMATCH, "the record names another environment than the response",
                       cs_bytes_view(&c->response->environment), cs_bytes_view(&c->record->environment));
}

static bool all_of(cs_view text, bool (*allowed)(uint8_t c)) {
    for (size_t i = 0; i < text.len; i++)
        if (!allowed(text.ptr[i])) return false;
    return true;
}

static bool in_kind(uint8_t c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
}

static bool in_name(uint8_t c) {
    return in_kind(c) || (c >= 'A' && c <= 'Z') || c == '.' || c == '_' || c == ':';
}

/* A kind, a colon and a name: [a-z][a-z0-9-]{0,31}:[A-Za-z0-9._:-]{1,127}. */
static bool is_instance(cs_view text) {
    const uint8_t *colon = text.len > 0 ? memchr(text.ptr, ':', text.len) : NULL;
    if (colon == NULL) return false;
    cs_view kind = cs_view_bytes(text.ptr, (size_t)(colon - text.ptr));
    cs_view name = cs_view_bytes(colon + 1, text.len - kind.len - 1);
    if (kind.len < 1 || kind.len > 32 || name.len < 1 || name.len > 127) return false;
    return kind.ptr[0] >= 'a' && kind.ptr[0] <= 'z' && all_of(kind, in_kind) && all_of(name, in_name);
}

/* The digests of the versions before 4 do not cover it, so what stood there could be anything. An unanswered call has
 * no response that could repeat it. */
static cs_result check_instance(const checker *c) {
    cs_view instance = cs_bytes_view(&c->record->instance);
    if (c->record->version < 4 && instance.len > 0)
        return cs_fail(c->err, CS_CODE_INSTANCE_MISMATCH,
                       "a version %u record has an instance, which its digest does not cover", c->record->version);
    if (instance.len > 0 && !is_instance(instance))
        return cs_fail_differs(c->err, CS_CODE_INSTANCE_MISMATCH, "the record's instance is no reference to a sandbox",
                               cs_view_of("a kind, a colon and a name, as in k8s-pod-uid:1b2c"), instance);
    if (c->response == NULL) return CS_OK;
    return check_equal(c, CS_CODE_INSTANCE_MISMATCH, "the record names another instance than the response",
                       cs_bytes_view(&c->response->instance), instance);
}

static cs_result check_software(const checker *c) {
    return check_equal(c, CS_CODE_SOFTWARE_MISMATCH, "the record names other software than the response",
                       cs_bytes_view(&c->response->software_identity), cs_bytes_view(&c->record->software_identity));
}

/* ---- 6: the software rule ------------------------------------------------------------------------- */

static cs_result check_rule_id(const checker *c) {
    CS_AUTO_BUF rule_id = CS_BUF_INIT(CS_MAX_IDENTITY_BYTES + CS_SHA256_HEX);
    cs_result result = cs_software_rule_id(c->request->software_rule, &rule_id, c->err);
    if (result != CS_OK) return result;
    return check_equal(c, CS_CODE_RULE_MISMATCH, "the record's software rule is not the request's",
                       cs_buf_view(&rule_id), cs_bytes_view(&c->record->software_rule_id));
}

/* The rule is well formed: `exact` has one identity, so both modes ask for the same. */
static cs_result check_software_allowed(const checker *c) {
    const cs_software_rule *rule = c->request->software_rule;
    if (!rule || rule->mode.len == 0) return CS_OK;
    cs_view identity = cs_bytes_view(&c->record->software_identity);
    for (size_t i = 0; i < rule->n_identities; i++)
        if (cs_view_equal(identity, cs_bytes_view(&rule->identities[i]))) return CS_OK;
    cs_view first = rule->n_identities > 0 ? cs_bytes_view(&rule->identities[0]) : cs_view_of("");
    return cs_fail_differs(c->err, CS_CODE_SOFTWARE_NOT_ALLOWED,
                           "the request's rule does not allow the software that ran", first, identity);
}

/* ---- 7 to 9: the record's own digest, tier and place ---------------------------------------------- */

static cs_result check_record_digest(const checker *c) {
    cs_result result = cs_digest_record_with(c->hash, c->record, &c->out->record_sha256, c->err);
    if (result != CS_OK) return result;
    return check_equal(c, CS_CODE_RECORD_DIGEST, "the record's own digest is not that of its fields",
                       cs_digest_view(&c->out->record_sha256), cs_bytes_view(&c->record->record_sha256));
}

static cs_result check_tier(const checker *c) {
    cs_view word = cs_bytes_view(&c->record->isolation);
    cs_view floor = cs_bytes_view(&c->request->minimum_isolation);
    cs_tier tier = cs_tier_parse(word);
    if (tier == CS_TIER_UNKNOWN || tier == CS_TIER_NONE)
        return cs_fail_differs(c->err, CS_CODE_TIER_UNKNOWN, "the record's tier is none that is known here",
                               cs_view_of("process, container, kernel or vm"), word);
    if (tier < cs_tier_parse(floor))
        return cs_fail_differs(c->err, CS_CODE_TIER_BELOW_FLOOR, "the record's tier is below the request's floor",
                               floor, word);
    c->out->tier = tier;
    return CS_OK;
}

static cs_result check_session_fields(const checker *c) {
    const cs_run_record *record = c->record;
    if (record->session.len == 0 && record->sequence == 0 && record->previous_sha256.len == 0) return CS_OK;
    return cs_fail(c->err, CS_CODE_SESSION_FIELDS, "the record of a single run has session fields");
}

/* ---- 10: one result of the right kind, and nothing that no digest covers -------------------------- */

static cs_result check_result_kind(const checker *c) {
    cs_view expected = cs_view_of(cs_request_kind(c->request));
    cs_view found = cs_view_of(cs_response_kind(c->response));
    if (found.len == 0) return cs_fail(c->err, CS_CODE_RESULT_MISSING, "the response carries no result");
    return check_equal(c, CS_CODE_RESULT_KIND, "the result is of another kind than the payload", expected, found);
}

/* Decoding keeps the last of several results; the bytes of the others would show here. */
static cs_result check_coverage(const cs_call *call, cs_error *err) {
    return cs_message_coverage(&call->response->base, call->response_bytes, err);
}

/* ---- 11: times, which only warn ------------------------------------------------------------------- */

static void warn(cs_checked_run *out, cs_code code) {
    if (out->warning_count < CS_MAX_WARNINGS) out->warnings[out->warning_count++] = code;
}

/* Is a before b by more than the allowance? Times come from a daemon: a difference may not overflow. */
static bool earlier_by_more(int64_t a, int64_t b, int64_t allowance) {
    uint64_t allowed = allowance > 0 ? (uint64_t)allowance : 0;
    return a < b && (uint64_t)b - (uint64_t)a > allowed;
}

static bool outside(const cs_call *call, int64_t time) {
    return earlier_by_more(time, call->sent_unix_ms, call->skew_ms) ||
           earlier_by_more(call->received_unix_ms, time, call->skew_ms);
}

static void check_times(const cs_call *call, const cs_run_record *record, cs_checked_run *out) {
    if (record->ended_unix_ms < record->started_unix_ms) warn(out, CS_CODE_TIMES_REVERSED);
    if (call->sent_unix_ms == 0 && call->received_unix_ms == 0) return;
    if (outside(call, record->started_unix_ms) || outside(call, record->ended_unix_ms)) warn(out, CS_CODE_CLOCK_SKEW);
}

/* ---- 12: the daemon's own statement --------------------------------------------------------------- */

static cs_result check_drift_of(const checker *c, const cs_describe_response *described, const char *when) {
    cs_result result = check_equal(c, CS_CODE_PROVIDER_DRIFT, "the daemon described itself as another provider",
                                   cs_bytes_view(&c->record->provider), cs_bytes_view(&described->sandbox));
    if (result == CS_OK)
        result = check_equal(c, CS_CODE_TIER_DRIFT, "the daemon described another tier than the record states",
                             cs_bytes_view(&c->record->isolation), cs_bytes_view(&described->isolation));
    if (result == CS_OK)
        result = check_equal(c, CS_CODE_POLICY_DRIFT, "the daemon described another policy than the record states",
                             cs_bytes_view(&c->record->policy), cs_bytes_view(&described->policy));
    if (result == CS_OK && described->protocol != c->request->protocol)
        result = cs_fail(c->err, CS_CODE_PROTOCOL_DRIFT, "the daemon described protocol %u, and the request was of %u",
                         described->protocol, c->request->protocol);
    if (result != CS_OK) cs_error_where(c->err, "Describe %s the run", when);
    return result;
}

static cs_result check_drift(const checker *c, const cs_call *call) {
    if (!call->before) return CS_OK;
    cs_result result = check_drift_of(c, call->before, "before");
    return result == CS_OK ? check_drift_of(c, call->after, "after") : result;
}

/* ---- the sequences -------------------------------------------------------------------------------- */

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

static check_fn *const run_table[] = {
    check_floor_known,    check_rule_form,      check_record_present, check_version,  check_software_fields,
    check_not_unanswered, check_request_digest, check_result_digest,  check_provider, check_isolation,
    check_environment,    check_instance,       check_software,       check_rule_id,  check_software_allowed,
    check_record_digest,  check_tier,
};

static cs_result check_answered(const checker *c, const cs_call *call) {
    cs_result result = run_checks(c, run_table, COUNT(run_table));
    if (result == CS_OK && !call->in_session) result = check_session_fields(c);
    if (result == CS_OK) result = check_result_kind(c);
    if (result == CS_OK) result = check_coverage(call, c->err);
    if (result != CS_OK) return result;
    check_times(call, c->record, c->out);
    return check_drift(c, call);
}

cs_result cs_check_run(const cs_call *call, cs_sha256 *hash, cs_checked_run *out, cs_error *err) {
    *out = (cs_checked_run){0};
    if (!call->before != !call->after)
        return cs_fail(err, CS_CODE_INTERNAL, "a run is checked against both of the daemon's statements or none");
    const cs_run_record *record = call->response->record;
    cs_checked_run checked = {.record = record};
    checker c = {call->request, record, call->response, hash, &checked, err};
    cs_result result = check_answered(&c, call);
    if (result == CS_OK) *out = checked;
    return result;
}

/* ---- a call without an answer --------------------------------------------------------------------- */

static cs_result check_unanswered_code(const checker *c) {
    cs_view code = cs_bytes_view(&c->record->unanswered);
    if (cs_connect_parse(code) != CS_CONNECT_NONE) return CS_OK;
    return cs_fail_differs(c->err, CS_CODE_RECORD_UNANSWERED, "the record does not say which error the call got",
                           cs_view_of("one of the 16 Connect codes"), code);
}

static cs_result check_no_result(const checker *c) {
    return check_equal(c, CS_CODE_RESULT_DIGEST, "the record of an unanswered call states a result", cs_view_of(""),
                       cs_bytes_view(&c->record->result_sha256));
}

static check_fn *const unanswered_table[] = {
    check_floor_known,     check_rule_form,        check_record_present, check_version,
    check_unanswered_code, check_request_digest,   check_no_result,      check_instance,
    check_rule_id,         check_software_allowed, check_record_digest,  check_tier,
};

cs_result cs_check_unanswered(const cs_run_request *request, const cs_run_record *record, cs_sha256 *hash,
                              cs_checked_run *out, cs_error *err) {
    *out = (cs_checked_run){0};
    cs_checked_run checked = {.record = record};
    checker c = {request, record, NULL, hash, &checked, err};
    cs_result result = run_checks(&c, unanswered_table, COUNT(unanswered_table));
    if (result == CS_OK) *out = checked;
    return result;
}

/* ---- the signed record and the response's --------------------------------------------------------- */

static cs_view raw_field(const cs_run_record *record, const ProtobufCFieldDescriptor *field) {
    const void *value = (const char *)record + field->offset;
    switch (field->type) {
    case PROTOBUF_C_TYPE_BYTES:
        return cs_bytes_view(value);
    case PROTOBUF_C_TYPE_UINT32:
        return cs_view_bytes(value, sizeof(uint32_t));
    default:
        return cs_view_bytes(value, sizeof(uint64_t));
    }
}

/* Driven by the descriptor, so that no field can be forgotten. */
cs_result cs_check_same_record(const cs_run_record *in_response, const cs_run_record *in_statement, cs_error *err) {
    if (!in_response || !in_statement)
        return cs_fail(err, CS_CODE_RECORD_MISSING, "there is no record to compare the signed one with");
    const ProtobufCMessageDescriptor *type = &plimsoll__v1__run_record__descriptor;
    for (unsigned i = 0; i < type->n_fields; i++) {
        cs_view signed_value = raw_field(in_statement, &type->fields[i]);
        cs_view stored_value = raw_field(in_response, &type->fields[i]);
        if (cs_view_equal(signed_value, stored_value)) continue;
        cs_result result = CS_FAILED;
        if (type->fields[i].type == PROTOBUF_C_TYPE_BYTES)
            result = cs_fail_differs(err, CS_CODE_RECORD_DIFFERS, "the signed record is not the response's own",
                                     signed_value, stored_value);
        else
            result = cs_fail(err, CS_CODE_RECORD_DIFFERS, "the signed record is not the response's own");
        cs_error_where(err, "%s", type->fields[i].name);
        return result;
    }
    return CS_OK;
}
