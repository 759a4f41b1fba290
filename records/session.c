#include "records/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "records/digest.h"
#include "records/request.h"

/* ---- what is sent --------------------------------------------------------------------------------- */

bool cs_session_floor(cs_view a, cs_view b, cs_view *out) {
    cs_tier tier_a = cs_tier_parse(a);
    cs_tier tier_b = cs_tier_parse(b);
    *out = tier_a > tier_b ? a : b;
    return tier_a != CS_TIER_UNKNOWN && tier_b != CS_TIER_UNKNOWN;
}

static bool allows(const cs_software_rule *rule, cs_view identity) {
    for (size_t i = 0; i < rule->n_identities; i++)
        if (cs_view_equal(identity, cs_bytes_view(&rule->identities[i]))) return true;
    return false;
}

static bool is_rule(const cs_software_rule *rule) {
    return rule != NULL && rule->mode.len > 0;
}

/* Take out of `rule` what `session` does not allow, in place and in order. */
static void keep_common(const cs_software_rule *session, cs_software_rule *rule) {
    size_t kept = 0;
    for (size_t i = 0; i < rule->n_identities; i++) {
        if (allows(session, cs_bytes_view(&rule->identities[i])))
            rule->identities[kept++] = rule->identities[i];
        else
            free(rule->identities[i].data);
    }
    rule->n_identities = kept;
}

static cs_result copy_rule(const cs_software_rule *session, cs_run_request *request, cs_error *err) {
    ProtobufCMessage *copy = NULL;
    cs_result result = cs_message_copy(&session->base, &copy, err);
    if (result != CS_OK) return result;
    cs_message_free(request->software_rule);
    request->software_rule = (cs_software_rule *)copy;
    return CS_OK;
}

cs_result cs_session_narrow(const cs_software_rule *session, cs_run_request *request, cs_error *err) {
    if (!is_rule(session)) return CS_OK;
    if (!is_rule(request->software_rule)) return copy_rule(session, request, err);

    cs_software_rule *rule = request->software_rule;
    keep_common(session, rule);
    if (rule->n_identities == 0) {
        cs_result result = cs_fail(err, CS_CODE_REQUEST_INVALID,
                                   "the call's software rule allows nothing that its session's rule allows too, so no "
                                   "software could run it; nothing was sent");
        cs_error_where(err, "software_rule");
        return result;
    }
    if (!cs_view_is(cs_bytes_view(&session->mode), "exact")) return CS_OK;
    if (!cs_bytes_set(&rule->mode, cs_view_of("exact"))) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a rule");
    return CS_OK;
}

/* What an opening shares with a request has the same limits; the code it runs comes later. */
cs_result cs_session_validate(const cs_open_session_request *terms, cs_error *err) {
    static uint8_t code[] = "0";
    Plimsoll__V1__JavaScriptRun javascript = PLIMSOLL__V1__JAVA_SCRIPT_RUN__INIT;
    javascript.code = (ProtobufCBinaryData){.len = 1, .data = code};
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    request.minimum_isolation = terms->minimum_isolation;
    request.trace_id = terms->trace_id;
    request.software_rule = terms->software_rule;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
    request.javascript = &javascript;
    return cs_request_validate(&request, false, err);
}

cs_result cs_session_speak(cs_open_session_request *terms, const cs_run_request *request, cs_error *err) {
    if (request->payload_case != PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL) return CS_OK;
    cs_view language = cs_bytes_view(&request->cell->language);
    for (size_t i = 0; i < terms->n_languages; i++)
        if (cs_view_equal(language, cs_bytes_view(&terms->languages[i]))) return CS_OK;
    ProtobufCBinaryData *more = realloc(terms->languages, (terms->n_languages + 1) * sizeof *more);
    if (more == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the languages of a session");
    terms->languages = more;
    more[terms->n_languages] = (ProtobufCBinaryData){.len = 0, .data = NULL};
    if (!cs_bytes_set(&more[terms->n_languages], language))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the languages of a session");
    terms->n_languages++;
    return CS_OK;
}

static cs_result bind_floor(const cs_open_session_request *terms, cs_run_request *request, cs_error *err) {
    cs_view stronger;
    if (!cs_session_floor(cs_bytes_view(&terms->minimum_isolation), cs_bytes_view(&request->minimum_isolation),
                          &stronger))
        return cs_fail(err, CS_CODE_REQUEST_INVALID, "the session's floor is no tier that is known here");
    if (cs_view_equal(stronger, cs_bytes_view(&request->minimum_isolation))) return CS_OK;
    if (!cs_bytes_set(&request->minimum_isolation, stronger))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a floor");
    return CS_OK;
}

static cs_result bind_protocol(const cs_open_session_request *terms, cs_run_request *request, cs_error *err) {
    if (request->protocol == 0) request->protocol = terms->protocol;
    if (request->protocol == terms->protocol) return CS_OK;
    cs_result result = cs_fail(err, CS_CODE_REQUEST_INVALID,
                               "the call states protocol %" PRIu32 " and its session has %" PRIu32
                               "; leave the number out (nothing was sent)",
                               request->protocol, terms->protocol);
    cs_error_where(err, "protocol");
    return result;
}

cs_result cs_session_bind(const cs_open_session_request *terms, cs_run_request *request, cs_error *err) {
    cs_result result = cs_request_validate(request, true, err);
    if (result != CS_OK) return result;
    if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE) {
        result = cs_fail(err, CS_CODE_REQUEST_INVALID,
                         "a session takes javascript, project and cell payloads, and "
                         "this is a module; send it as a run of its own");
        cs_error_where(err, "module");
        return result;
    }
    result = bind_protocol(terms, request, err);
    if (result == CS_OK) result = bind_floor(terms, request, err);
    if (result == CS_OK) result = cs_session_narrow(terms->software_rule, request, err);
    return result;
}

cs_session_run_request cs_session_call_of(const cs_run_request *request, cs_view session_id) {
    cs_session_run_request call = PLIMSOLL__V1__SESSION_RUN_REQUEST__INIT;
    call.protocol = request->protocol;
    call.minimum_isolation = request->minimum_isolation;
    call.trace_id = request->trace_id;
    call.timeout_ms = request->timeout_ms;
    /* Nobody writes through it: the message is encoded, and never freed. */
    call.session_id = (ProtobufCBinaryData){.len = session_id.len, .data = (uint8_t *)(uintptr_t)session_id.ptr};
    call.software_rule = request->software_rule;
    switch (request->payload_case) {
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT:
        call.payload_case = PLIMSOLL__V1__SESSION_RUN_REQUEST__PAYLOAD_JAVASCRIPT;
        call.javascript = request->javascript;
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT:
        call.payload_case = PLIMSOLL__V1__SESSION_RUN_REQUEST__PAYLOAD_PROJECT;
        call.project = request->project;
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL:
        call.payload_case = PLIMSOLL__V1__SESSION_RUN_REQUEST__PAYLOAD_CELL;
        call.cell = request->cell;
        break;
    default: /* cs_session_bind lets none of these through */
        break;
    }
    return call;
}

/* ---- the chain ------------------------------------------------------------------------------------ */

static cs_result check_equal(cs_code code, const char *what, cs_view expected, cs_view found, cs_error *err) {
    return cs_view_equal(expected, found) ? CS_OK : cs_fail_differs(err, code, what, expected, found);
}

static cs_result check_tier(const cs_open_session_request *terms, cs_view isolation, cs_error *err) {
    cs_view floor = cs_bytes_view(&terms->minimum_isolation);
    cs_tier tier = cs_tier_parse(isolation);
    if (tier == CS_TIER_UNKNOWN || tier == CS_TIER_NONE)
        return cs_fail_differs(err, CS_CODE_TIER_UNKNOWN, "the session's tier is none that is known here",
                               cs_view_of("process, container, kernel or vm"), isolation);
    if (tier < cs_tier_parse(floor))
        return cs_fail_differs(err, CS_CODE_TIER_BELOW_FLOOR,
                               "the session's tier is below the floor it was opened with", floor, isolation);
    return CS_OK;
}

static cs_result check_software(const cs_open_session_request *terms, cs_view identity, cs_error *err) {
    const cs_software_rule *rule = terms->software_rule;
    if (!is_rule(rule) || allows(rule, identity)) return CS_OK;
    cs_view first = rule->n_identities > 0 ? cs_bytes_view(&rule->identities[0]) : cs_view_of("");
    return cs_fail_differs(err, CS_CODE_SOFTWARE_NOT_ALLOWED, "the session's rule does not allow its software", first,
                           identity);
}

static cs_result check_opened(const cs_open_session_request *terms, const cs_session_chain *chain,
                              const cs_open_session_response *response, const cs_describe_response *described,
                              cs_error *err) {
    cs_result result =
        check_equal(CS_CODE_SESSION_FINGERPRINT, "the session's fingerprint is not the SHA-256 of its id",
                    cs_digest_view(&chain->session), cs_bytes_view(&response->session), err);
    if (result == CS_OK)
        result =
            check_equal(CS_CODE_PROVIDER_DRIFT, "the daemon described itself as another provider than the session's",
                        cs_bytes_view(&described->sandbox), chain->provider, err);
    if (result == CS_OK)
        result = check_equal(CS_CODE_TIER_DRIFT, "the daemon described another tier than the session's",
                             cs_bytes_view(&described->isolation), chain->isolation, err);
    if (result == CS_OK) result = check_tier(terms, chain->isolation, err);
    if (result == CS_OK) result = check_software(terms, cs_bytes_view(&response->software_identity), err);
    return result;
}

cs_result cs_session_check_open(const cs_open_session_request *terms, const cs_open_session_response *response,
                                const cs_describe_response *described, cs_session_chain *chain, cs_error *err) {
    *chain = (cs_session_chain){.calls = 0};
    cs_view id = cs_bytes_view(&response->session_id);
    if (!cs_is_hex(id, CS_SESSION_ID_DIGITS))
        return cs_fail(err, CS_CODE_SESSION_ID,
                       "the session's id (%zu bytes, not shown since it is a secret) is not %u lowercase hexadecimal "
                       "digits",
                       id.len, CS_SESSION_ID_DIGITS);
    cs_session_chain opened = {.provider = cs_bytes_view(&response->sandbox),
                               .isolation = cs_bytes_view(&response->isolation),
                               .policy = cs_bytes_view(&described->policy),
                               .software = cs_bytes_view(&response->software_identity)};
    cs_result result = cs_session_fingerprint(id, &opened.session, err);
    if (result == CS_OK) result = check_opened(terms, &opened, response, described, err);
    if (result == CS_OK) *chain = opened;
    return result;
}

static cs_result check_place(const cs_session_chain *chain, const cs_run_record *record, cs_error *err) {
    cs_result result = check_equal(CS_CODE_SESSION_FINGERPRINT, "the record belongs to another session",
                                   cs_digest_view(&chain->session), cs_bytes_view(&record->session), err);
    if (result != CS_OK) return result;
    if (record->sequence == 0 || record->sequence - 1 != chain->calls)
        return cs_fail(err, CS_CODE_CHAIN_SEQUENCE,
                       "the record is call %" PRIu64 " of its session, and this session had %" PRIu64 " before it",
                       record->sequence, chain->calls);
    cs_view last = chain->calls == 0 ? cs_view_of("") : cs_digest_view(&chain->last);
    return check_equal(CS_CODE_CHAIN_PREVIOUS, "the record does not name the record of the call before it", last,
                       cs_bytes_view(&record->previous_sha256), err);
}

cs_result cs_session_check_next(const cs_session_chain *chain, const cs_run_record *record, cs_error *err) {
    cs_result result = check_place(chain, record, err);
    if (result == CS_OK)
        result =
            check_equal(CS_CODE_PROVIDER_DRIFT, "the record names another provider than the session had when opened",
                        chain->provider, cs_bytes_view(&record->provider), err);
    if (result == CS_OK)
        result = check_equal(CS_CODE_TIER_DRIFT, "the record states another tier than the session had when opened",
                             chain->isolation, cs_bytes_view(&record->isolation), err);
    if (result == CS_OK)
        result = check_equal(CS_CODE_POLICY_DRIFT, "the record states another policy than the daemon described",
                             chain->policy, cs_bytes_view(&record->policy), err);
    if (result == CS_OK && record->unanswered.len > 0)
        result = check_equal(CS_CODE_SOFTWARE_MISMATCH,
                             "the record of an unanswered call names other software than the session had when opened",
                             chain->software, cs_bytes_view(&record->software_identity), err);
    return result;
}

void cs_session_advance(cs_session_chain *chain, const cs_checked_run *run) {
    chain->calls = run->record->sequence;
    chain->last = run->record_sha256;
}

cs_result cs_session_check_close(const cs_session_chain *chain, const cs_close_session_response *response,
                                 cs_checked_close *out, cs_error *err) {
    *out = (cs_checked_close){.chain = NULL};
    cs_result result = check_equal(CS_CODE_SESSION_FINGERPRINT, "the close is of another session",
                                   cs_digest_view(&chain->session), cs_bytes_view(&response->session), err);
    if (result != CS_OK) return result;
    if (response->calls != chain->calls)
        return cs_fail(err, CS_CODE_CHAIN_CLOSE, "the close counts %" PRIu64 " calls, and the session had %" PRIu64,
                       response->calls, chain->calls);
    cs_view last = chain->calls == 0 ? cs_view_of("") : cs_digest_view(&chain->last);
    result = check_equal(CS_CODE_CHAIN_CLOSE, "the close does not name the last record of the session", last,
                         cs_bytes_view(&response->last_record_sha256), err);
    if (result != CS_OK) return result;
    cs_checked_close checked = {.chain = chain, .close = {.calls = chain->calls}};
    memcpy(checked.close.session, chain->session.hex, sizeof checked.close.session);
    memcpy(checked.close.last_record_sha256, chain->last.hex, sizeof checked.close.last_record_sha256);
    *out = checked;
    return CS_OK;
}

bool cs_session_close_counts_one_more(const cs_session_chain *chain, const cs_close_session_response *response) {
    cs_view last = cs_bytes_view(&response->last_record_sha256);
    return cs_view_equal(cs_bytes_view(&response->session), cs_digest_view(&chain->session)) && response->calls != 0 &&
           response->calls - 1 == chain->calls && cs_is_hex(last, CS_SHA256_HEX) &&
           !cs_view_equal(last, cs_digest_view(&chain->last));
}
