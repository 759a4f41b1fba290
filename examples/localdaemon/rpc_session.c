/* OpenSession, SessionRun, CloseSession. */
#include "examples/localdaemon/details.h"
#include "examples/localdaemon/interpreter.h"
#include "examples/localdaemon/log.h"
#include "examples/localdaemon/rpc_parts.h"
#include "examples/localdaemon/stamp.h"
#include "records/protojson.h"
#include "records/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_OWNER_BYTES 256u

/* The messages' fields are not const, but nothing writes to them. */
static ProtobufCBinaryData borrow(cs_view view) {
    ProtobufCBinaryData data = {.len = view.len};
    memcpy(&data.data, &view.ptr, sizeof(data.data));
    return data;
}

static void encode(ld_answer *out, const ld_call *call, const char *what, const ProtobufCMessage *message) {
    cs_error err = CS_ERROR_INIT;
    cs_result result =
        call->json ? cs_protojson_write(message, &out->body, &err) : cs_message_encode(message, &out->body, &err);
    if (result == CS_OK)
        ld_rpc_encoded(out, call->json);
    else
        ld_rpc_failed(out, what, &err);
}

/* ---- errors with details --------------------------------------------------------------------------- */

static void answer_details(ld_answer *out, cs_connect_code code, const char *message,
                           const Plimsoll__V1__NotDispatched *mark, const Plimsoll__V1__SessionEnded *ended,
                           const Plimsoll__V1__UnansweredCall *unanswered) {
    cs_buf_clear(&out->body);
    out->status = cs_connect_http_status(code);
    out->type = CS_TYPE_JSON;
    out->header_mark = REASON(UNSPECIFIED);
    snprintf(out->outcome, sizeof(out->outcome), "%s/%s", cs_connect_word(code),
             mark != NULL ? cs_reason_word(mark->reason) : "unanswered");
    /* Without memory the status alone says enough, and no mark is claimed. */
    if (!ld_details_write(code, message, mark, ended, unanswered, &out->body)) cs_buf_clear(&out->body);
}

static void refuse_ended(ld_answer *out, cs_connect_code code, ld_ending why, const char *message) {
    Plimsoll__V1__NotDispatched mark = PLIMSOLL__V1__NOT_DISPATCHED__INIT;
    Plimsoll__V1__SessionEnded ended = PLIMSOLL__V1__SESSION_ENDED__INIT;
    mark.reason = REASON(REQUEST);
    ended.reason = why.end;
    ended.detail = borrow(cs_view_of(why.detail));
    answer_details(out, code, message, &mark, &ended, NULL);
}

/* The same words for an unknown session and for another client's. */
static void refuse_unknown(ld_answer *out) {
    static const ld_ending unknown = {.end = LD_END(NOT_FOUND), .detail = ""};
    refuse_ended(out, CS_CONNECT_NOT_FOUND, unknown, "there is no such session here");
}

/* ---- OpenSession ----------------------------------------------------------------------------------- */

bool ld_rpc_has_sessions(const ld_daemon *daemon) {
    return daemon->sessions.max > 0 && daemon->protocol >= 2;
}

static bool sessions_on(const ld_call *call, ld_answer *out) {
    if (ld_rpc_has_sessions(call->daemon)) return true;
    ld_rpc_refuse(out, CS_CONNECT_FAILED_PRECONDITION, REASON(UNSUPPORTED), "sessions are switched off here");
    return false;
}

static bool owner_valid(cs_view owner) {
    if (owner.len > MAX_OWNER_BYTES) return false;
    for (size_t i = 0; i < owner.len; i++)
        if (owner.ptr[i] <= ' ' || owner.ptr[i] > '~') return false;
    return true;
}

static bool open_valid(const cs_open_session_request *request, ld_answer *out) {
    cs_error err = CS_ERROR_INIT;
    const char *wrong = NULL;
    if (cs_tier_parse(cs_bytes_view(&request->minimum_isolation)) == CS_TIER_UNKNOWN)
        wrong = "minimum_isolation: the floor is none of \"\", process, container, kernel and vm";
    else if (cs_software_rule_validate(request->software_rule, &err) != CS_OK)
        wrong = err.message;
    else if (!owner_valid(cs_bytes_view(&request->owner)))
        wrong = "owner: it is not at most 256 visible ASCII characters";
    if (wrong == NULL) return true;
    ld_rpc_refuse(out, CS_CONNECT_INVALID_ARGUMENT, REASON(REQUEST), wrong);
    return false;
}

static bool language_known(const ld_call *call, cs_view language, ld_answer *out) {
    if (ld_language_find(&call->daemon->sandbox, language) != LD_NO_LANGUAGE) return true;
    ld_rpc_refuse(out, CS_CONNECT_UNIMPLEMENTED, REASON(UNSUPPORTED),
                  "this daemon runs no cells of that language; Describe lists those it runs");
    return false;
}

static bool languages_known(const ld_call *call, const cs_open_session_request *request, ld_answer *out) {
    for (size_t i = 0; i < request->n_languages; i++)
        if (!language_known(call, cs_bytes_view(&request->languages[i]), out)) return false;
    return true;
}

static void tell_opened(const ld_call *call, const ld_facts *facts, ld_answer *out) {
    cs_open_session_response to = PLIMSOLL__V1__OPEN_SESSION_RESPONSE__INIT;
    to.session_id = borrow(cs_view_of(facts->id));
    to.session = borrow(cs_digest_view(&facts->chain.session));
    to.sandbox = borrow(cs_view_of(call->daemon->sandbox.name));
    to.isolation = borrow(cs_view_of(cs_tier_word(call->daemon->sandbox.tier)));
    to.expires_unix_ms = facts->expires_unix_ms;
    to.idle_timeout_ms = facts->idle_timeout_ms;
    encode(out, call, "OpenSession", &to.base);
}

static void open_session(const ld_call *call, const cs_open_session_request *request, ld_answer *out) {
    cs_error err = CS_ERROR_INIT;
    ld_facts facts;
    char text[96];
    switch (ld_sessions_open(&call->daemon->sessions, call->client, request->lifetime_ms, request->idle_timeout_ms,
                             &facts, &err)) {
    case LD_HOLD_DONE:
        tell_opened(call, &facts, out);
        break;
    case LD_HOLD_CROWDED:
        snprintf(text, sizeof(text), "%u sessions are open, as many as this daemon allows", call->daemon->sessions.max);
        ld_rpc_refuse(out, CS_CONNECT_RESOURCE_EXHAUSTED, REASON(CAPACITY), text);
        break;
    default:
        ld_log_error("OpenSession", &err);
        ld_rpc_refuse(out, CS_CONNECT_INTERNAL, REASON(UNSPECIFIED), "the session can't be opened; the log says more");
        break;
    }
}

void ld_rpc_open_session(const ld_call *call, ld_answer *out) {
    cs_open_session_request *request = ld_rpc_decode(call, &plimsoll__v1__open_session_request__descriptor, out);
    if (request == NULL) return;
    if (ld_rpc_protocol(call, request->protocol, out) && open_valid(request, out) && ld_rpc_scope(call, out) &&
        sessions_on(call, out) && languages_known(call, request, out) &&
        ld_rpc_meets(call, cs_bytes_view(&request->minimum_isolation), request->software_rule, out))
        open_session(call, request, out);
    cs_message_free(request);
}

/* ---- SessionRun ------------------------------------------------------------------------------------ */

/* The call as it is stored and hashed: without its trace id and session id. It borrows everything. */
static cs_run_request run_form(const cs_session_run_request *from) {
    cs_run_request to = PLIMSOLL__V1__RUN_REQUEST__INIT;
    to.protocol = from->protocol;
    to.minimum_isolation = from->minimum_isolation;
    to.timeout_ms = from->timeout_ms;
    to.software_rule = from->software_rule;
    switch (from->payload_case) {
    case PLIMSOLL__V1__SESSION_RUN_REQUEST__PAYLOAD_JAVASCRIPT:
        to.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT;
        to.javascript = from->javascript;
        break;
    case PLIMSOLL__V1__SESSION_RUN_REQUEST__PAYLOAD_PROJECT:
        to.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT;
        to.project = from->project;
        break;
    case PLIMSOLL__V1__SESSION_RUN_REQUEST__PAYLOAD_CELL:
        to.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL;
        to.cell = from->cell;
        break;
    default:
        break;
    }
    return to;
}

static bool can_call(const ld_call *call, const cs_run_request *request, ld_answer *out) {
    if (request->payload_case != PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL) return true;
    return language_known(call, cs_bytes_view(&request->cell->language), out);
}

static ld_session *hold(const ld_call *call, const ProtobufCBinaryData *id, ld_answer *out) {
    ld_session *session = NULL;
    ld_ending why;
    char text[128];
    switch (ld_sessions_hold(&call->daemon->sessions, cs_bytes_view(id), call->client, &session, &why)) {
    case LD_HOLD_DONE:
        return session;
    case LD_HOLD_ENDED:
        snprintf(text, sizeof(text), "the session has ended: %s", why.detail);
        refuse_ended(out, CS_CONNECT_FAILED_PRECONDITION, why, text);
        return NULL;
    case LD_HOLD_CROWDED:
        ld_rpc_refuse(out, CS_CONNECT_RESOURCE_EXHAUSTED, REASON(CAPACITY),
                      "a call of this session runs and another one waits");
        return NULL;
    default:
        refuse_unknown(out);
        return NULL;
    }
}

/* A call that was dispatched and has no result: its record goes with the error, and the chain goes on. */
static void answer_failed(const ld_call *call, const cs_run_request *request, const ld_job *job, ld_session *session,
                          ld_ending ending, const cs_error *why, ld_answer *out) {
    cs_connect_code code = CS_CONNECT_INTERNAL;
    const char *message = "the call failed for a reason of the daemon's; its log says more";
    if (why->code == CS_CODE_INTERRUPTED) {
        code = ending.end == LD_END(CLOSED) ? CS_CONNECT_ABORTED : CS_CONNECT_UNAVAILABLE;
        message = ending.end == LD_END(CLOSED) ? "the session was closed meanwhile" : "the daemon is stopping";
    }
    ld_log_error("SessionRun", why);
    cs_error err = CS_ERROR_INIT;
    ld_unanswered record;
    if (ld_stamp_unanswered(call->daemon, request, job, code, &session->facts.chain, &record, &err) != CS_OK) {
        ld_rpc_failed(out, "SessionRun", &err);
        return;
    }
    Plimsoll__V1__UnansweredCall unanswered = PLIMSOLL__V1__UNANSWERED_CALL__INIT;
    Plimsoll__V1__SessionEnded ended = PLIMSOLL__V1__SESSION_ENDED__INIT;
    unanswered.record = &record.record;
    ended.reason = ending.end;
    ended.detail = borrow(cs_view_of(ending.detail));
    answer_details(out, code, message, NULL, ending.end != LD_END(UNSPECIFIED) ? &ended : NULL, &unanswered);
}

static cs_result run_in(ld_daemon *daemon, ld_session *session, const cs_run_request *request, ld_job *job,
                        cs_error *err) {
    int64_t deadline = ld_job_deadline(request);
    ld_place place = {.sandbox = &daemon->sandbox,
                      .slots = &daemon->slots,
                      .slot = &session->slot,
                      .guards = ld_sandbox_in_force(&daemon->sandbox),
                      .limits = daemon->sandbox.limits,
                      .deadline_ms = deadline < session->expires_ms ? deadline : session->expires_ms,
                      .stop_fd = session->stop_fd,
                      .spared = &session->interpreters->spared,
                      .kept = true,
                      .machine = &session->machine};
    ld_job_begin(job, &session->slot);
    cs_result result = ld_slot_unlock(&session->slot, err);
    ld_job_end(job);
    if (result != CS_OK) return result;
    result = request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL
                 ? ld_cell_run(&place, session->interpreters, request->cell, job, err)
                 : ld_job_run_in(&place, request, job, err);
    if (!ld_job_clean(job)) session->unclean = true;
    return result;
}

static void run_call(const ld_call *call, const cs_run_request *request, ld_session *session, ld_answer *out) {
    cs_error err = CS_ERROR_INIT;
    ld_job *job = calloc(1, sizeof(*job));
    if (job == NULL) {
        ld_rpc_refuse(out, CS_CONNECT_RESOURCE_EXHAUSTED, REASON(CAPACITY), "no memory for the run");
        return;
    }
    cs_result result = run_in(call->daemon, session, request, job, &err);
    ld_ending ending = ld_sessions_ending(&call->daemon->sessions, session);
    if (result == CS_OK)
        result = ld_stamp_call(call->daemon, request, job, ending, call->json, &session->facts.chain, &out->body, &err);
    if (result == CS_OK)
        ld_rpc_encoded(out, call->json);
    else
        answer_failed(call, request, job, session, ending, &err, out);
    ld_job_free(job);
    free(job);
}

void ld_rpc_session_run(const ld_call *call, ld_answer *out) {
    cs_session_run_request *request = ld_rpc_decode(call, &plimsoll__v1__session_run_request__descriptor, out);
    if (request == NULL) return;
    cs_run_request form = run_form(request);
    if (ld_rpc_admit(call, &form, out) && sessions_on(call, out) && can_call(call, &form, out) &&
        ld_rpc_meets(call, cs_bytes_view(&form.minimum_isolation), form.software_rule, out)) {
        ld_session *session = hold(call, &request->session_id, out);
        if (session != NULL) {
            if (ld_rpc_enter(call->daemon, out)) {
                run_call(call, &form, session, out);
                ld_rpc_leave(call->daemon);
            }
            ld_sessions_release(&call->daemon->sessions, session);
        }
    }
    cs_message_free(request);
}

/* ---- CloseSession ---------------------------------------------------------------------------------- */

static void tell_closed(const ld_call *call, const ld_facts *facts, ld_answer *out) {
    cs_close_session_response to = PLIMSOLL__V1__CLOSE_SESSION_RESPONSE__INIT;
    to.session = borrow(cs_digest_view(&facts->chain.session));
    to.calls = facts->chain.calls;
    to.last_record_sha256 = borrow(cs_view_of(facts->chain.previous.hex));
    to.ended = facts->ending.end;
    encode(out, call, "CloseSession", &to.base);
}

void ld_rpc_close_session(const ld_call *call, ld_answer *out) {
    cs_close_session_request *request = ld_rpc_decode(call, &plimsoll__v1__close_session_request__descriptor, out);
    if (request == NULL) return;
    ld_facts facts;
    if (ld_rpc_protocol(call, request->protocol, out) && ld_rpc_scope(call, out) && sessions_on(call, out)) {
        if (ld_sessions_close(&call->daemon->sessions, cs_bytes_view(&request->session_id), call->client, &facts) ==
            LD_HOLD_DONE)
            tell_closed(call, &facts, out);
        else
            refuse_unknown(out);
    }
    cs_message_free(request);
}
