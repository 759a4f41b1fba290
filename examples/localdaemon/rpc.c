#include "examples/localdaemon/rpc_parts.h"

#include "examples/localdaemon/driver.h"
#include "examples/localdaemon/job.h"
#include "examples/localdaemon/log.h"
#include "examples/localdaemon/stamp.h"
#include "records/protojson.h"
#include "records/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ld_answer_error(ld_answer *out, cs_connect_code code, cs_reason reason, bool before_call, int status,
                     const char *message) {
    cs_buf_clear(&out->body);
    out->status = status != 0 ? status : cs_connect_http_status(code);
    out->type = CS_TYPE_JSON;
    out->header_mark = before_call ? reason : REASON(UNSPECIFIED);
    snprintf(out->outcome, sizeof(out->outcome), "%s/%s", cs_connect_word(code), cs_reason_word(reason));
    if (!cs_connect_error_write(code, message, before_call ? REASON(UNSPECIFIED) : reason, &out->body)) {
        /* Without memory the status alone says enough, and no mark is claimed. */
        cs_buf_clear(&out->body);
        out->header_mark = REASON(UNSPECIFIED);
    }
}

void ld_rpc_refuse(ld_answer *out, cs_connect_code code, cs_reason reason, const char *message) {
    ld_answer_error(out, code, reason, false, 0, message);
}

/* The text of an error with its place; borrows `text`. */
static const char *with_place(const cs_error *err, char *text, size_t size) {
    snprintf(text, size, "%s%s%s", err->where, err->where[0] != '\0' ? ": " : "", err->message);
    return text;
}

void *ld_rpc_decode(const ld_call *call, const ProtobufCMessageDescriptor *type, ld_answer *out) {
    ProtobufCMessage *message = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_result result = call->json ? cs_protojson_read(type, call->body, &message, &err)
                                  : cs_message_decode(type, call->body, &message, &err);
    if (result == CS_OK) return message;
    char text[sizeof(err.message) + sizeof(err.where) + 4];
    with_place(&err, text, sizeof(text));
    if (err.code == CS_CODE_NO_MEMORY)
        ld_answer_error(out, CS_CONNECT_RESOURCE_EXHAUSTED, REASON(CAPACITY), true, 0, text);
    else
        ld_answer_error(out, CS_CONNECT_INVALID_ARGUMENT, REASON(REQUEST), true, 0, text);
    return NULL;
}

void ld_rpc_encoded(ld_answer *out, bool json) {
    out->status = 200;
    out->type = json ? CS_TYPE_JSON : CS_TYPE_BINARY;
    snprintf(out->outcome, sizeof(out->outcome), "ok");
}

void ld_rpc_failed(ld_answer *out, const char *what, const cs_error *err) {
    ld_log_error(what, err);
    /* Not marked: the run may have begun. The text of the machine's failure is the log's, not the
     * caller's. */
    if (err->code == CS_CODE_INTERRUPTED)
        ld_rpc_refuse(out, CS_CONNECT_UNAVAILABLE, REASON(UNSPECIFIED), "the daemon is stopping");
    else
        ld_rpc_refuse(out, CS_CONNECT_INTERNAL, REASON(UNSPECIFIED),
                      "the run failed for a reason of the daemon's; its log says more");
}

/* ---- Describe -------------------------------------------------------------------------------------- */

/* An answer with the parts that it points to. */
typedef struct description {
    cs_describe_response response;
    Plimsoll__V1__PayloadEnvironment javascript;
    Plimsoll__V1__PayloadEnvironment project;
    Plimsoll__V1__PayloadEnvironment session;
    Plimsoll__V1__RunResources resources;
    ProtobufCBinaryData languages[LD_LANGUAGES];
} description;

static bool fill_sessions(const ld_daemon *daemon, description *to) {
    if (!ld_rpc_has_sessions(daemon)) return true;
    to->response.supports_sessions = true;
    to->response.session_lifetime_ms = LD_SESSION_LIFETIME_MS;
    to->response.session_idle_timeout_ms = LD_SESSION_IDLE_MS;
    to->response.session_environment = &to->session;
    /* One bound for all of them together, so each caller and each owner has at most as many. */
    to->response.max_sessions_per_caller = daemon->sessions.max;
    to->response.max_sessions_per_owner = daemon->sessions.max;
    to->session.languages = to->languages;
    for (int i = 0; i < LD_LANGUAGES; i++)
        if (ld_language_served(&daemon->sandbox, (ld_language)i) &&
            !cs_bytes_set(&to->languages[to->session.n_languages++], cs_view_of(ld_language_word((ld_language)i))))
            return false;
    return true;
}

/* The same for every kind of payload. */
static bool fill_identity(const ld_daemon *daemon, description *to) {
    cs_view identity = cs_view_of(daemon->sandbox.environment);
    return cs_bytes_set(&to->javascript.identity, identity) && cs_bytes_set(&to->project.identity, identity) &&
           cs_bytes_set(&to->session.identity, identity);
}

static bool fill_description(const ld_daemon *daemon, description *to) {
    cs_describe_response *response = &to->response;
    response->supports_project = true;
    response->protocol = daemon->protocol;
    to->javascript.max_timeout_ms = CS_MAX_RUN_MS;
    to->project.max_timeout_ms = CS_MAX_RUN_MS;
    to->session.max_timeout_ms = CS_MAX_RUN_MS;
    response->javascript_environment = &to->javascript;
    response->project_environment = &to->project;
    /* Only what holds for a whole run is stated here: memory and disk are limited for each process and
     * each file, which the policy names, and a run may have many of them. */
    if ((daemon->sandbox.guards & LD_GUARD_PROCESSES) != 0)
        to->resources.pids = (uint32_t)daemon->sandbox.limits.processes;
    to->resources.memory_mb = (uint32_t)(daemon->sandbox.limits.memory_bytes >> 20);
    to->resources.cpus = daemon->sandbox.limits.processors;
    response->resources = &to->resources;
    return cs_bytes_set(&response->sandbox, cs_view_of(daemon->sandbox.name)) &&
           cs_bytes_set(&response->isolation, cs_view_of(cs_tier_word(daemon->sandbox.tier))) &&
           cs_bytes_set(&response->policy, cs_view_of(daemon->policy)) && fill_identity(daemon, to) &&
           fill_sessions(daemon, to);
}

static void free_description(description *to) {
    free(to->response.sandbox.data);
    free(to->response.isolation.data);
    free(to->response.policy.data);
    free(to->javascript.identity.data);
    free(to->project.identity.data);
    free(to->session.identity.data);
    for (size_t i = 0; i < LD_LANGUAGES; i++)
        free(to->languages[i].data);
}

void ld_rpc_describe(const ld_call *call, ld_answer *out) {
    void *request = ld_rpc_decode(call, &plimsoll__v1__describe_request__descriptor, out);
    if (request == NULL) return;
    cs_message_free(request);
    description to = {.response = PLIMSOLL__V1__DESCRIBE_RESPONSE__INIT,
                      .javascript = PLIMSOLL__V1__PAYLOAD_ENVIRONMENT__INIT,
                      .project = PLIMSOLL__V1__PAYLOAD_ENVIRONMENT__INIT,
                      .session = PLIMSOLL__V1__PAYLOAD_ENVIRONMENT__INIT,
                      .resources = PLIMSOLL__V1__RUN_RESOURCES__INIT};
    cs_error err = CS_ERROR_INIT;
    cs_result result = CS_UNCHECKED;
    if (!fill_description(call->daemon, &to))
        result = cs_fail(&err, CS_CODE_NO_MEMORY, "no memory for the description");
    else
        result = call->json ? cs_protojson_write(&to.response.base, &out->body, &err)
                            : cs_message_encode(&to.response.base, &out->body, &err);
    free_description(&to);
    if (result == CS_OK)
        ld_rpc_encoded(out, call->json);
    else
        ld_rpc_failed(out, "Describe", &err);
}

/* ---- Run ------------------------------------------------------------------------------------------- */

/* The trace id is for logs; one that isn't well formed is dropped without a word. */
static void drop_bad_trace(cs_run_request *request) {
    cs_view trace = cs_bytes_view(&request->trace_id);
    bool good = trace.len <= 64;
    for (size_t i = 0; i < trace.len && good; i++)
        good = trace.ptr[i] != 0 &&
               strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-", trace.ptr[i]) != NULL;
    if (!good) request->trace_id.len = 0;
}

static cs_view grant_of(const cs_run_request *request) {
    if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT)
        return cs_bytes_view(&request->javascript->grant_profile);
    if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT)
        return cs_bytes_view(&request->project->grant_profile);
    return cs_view_of("");
}

bool ld_rpc_protocol(const ld_call *call, uint32_t protocol, ld_answer *out) {
    if (protocol == call->daemon->protocol) return true;
    char text[96];
    snprintf(text, sizeof(text), "protocol %u; this daemon serves %u", protocol, call->daemon->protocol);
    ld_rpc_refuse(out, protocol == 0 ? CS_CONNECT_INVALID_ARGUMENT : CS_CONNECT_UNIMPLEMENTED, REASON(PROTOCOL), text);
    return false;
}

bool ld_rpc_scope(const ld_call *call, ld_answer *out) {
    if (call->client == NULL || call->client->may_run) return true;
    ld_rpc_refuse(out, CS_CONNECT_PERMISSION_DENIED, REASON(PERMISSION), "the client lacks the scope " LD_SCOPE_RUN);
    return false;
}

bool ld_rpc_meets(const ld_call *call, cs_view floor, const cs_software_rule *rule, ld_answer *out) {
    char text[160];
    if (cs_tier_parse(floor) > call->daemon->sandbox.tier) {
        snprintf(text, sizeof(text), "the floor is above the tier of this daemon, %s",
                 cs_tier_word(call->daemon->sandbox.tier));
        ld_rpc_refuse(out, CS_CONNECT_FAILED_PRECONDITION, REASON(ISOLATION), text);
        return false;
    }
    if (rule != NULL && rule->mode.len > 0) {
        ld_rpc_refuse(out, CS_CONNECT_FAILED_PRECONDITION, REASON(ENVIRONMENT),
                      "a software rule can't be met: this daemon runs the machine's own software, which has no "
                      "identity");
        return false;
    }
    return true;
}

bool ld_rpc_admit(const ld_call *call, const cs_run_request *request, ld_answer *out) {
    char text[1024];
    cs_error err = CS_ERROR_INIT;
    if (!ld_rpc_protocol(call, request->protocol, out)) return false;
    /* A cell is well formed where sessions are; that a single run takes none is told below. */
    bool cell = request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL;
    if (cs_request_validate(request, cell, &err) != CS_OK) {
        ld_rpc_refuse(out, CS_CONNECT_INVALID_ARGUMENT, REASON(REQUEST), with_place(&err, text, sizeof(text)));
        return false;
    }
    if (!ld_rpc_scope(call, out)) return false;
    if (grant_of(request).len > 0) {
        ld_rpc_refuse(out, CS_CONNECT_PERMISSION_DENIED, REASON(PERMISSION),
                      "this daemon gives no grants; leave grant_profile empty");
        return false;
    }
    return true;
}

static bool can_run(const cs_run_request *request, ld_answer *out) {
    if (request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT ||
        request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT)
        return true;
    char text[96];
    snprintf(text, sizeof(text), "this daemon runs javascript and project, not %s", cs_request_kind(request));
    ld_rpc_refuse(out, CS_CONNECT_UNIMPLEMENTED, REASON(UNSUPPORTED), text);
    return false;
}

bool ld_rpc_enter(ld_daemon *daemon, ld_answer *out) {
    if (atomic_fetch_add(&daemon->running, 1) < daemon->max_concurrent) return true;
    atomic_fetch_sub(&daemon->running, 1);
    char text[96];
    snprintf(text, sizeof(text), "%u runs are under way, as many as this daemon allows", daemon->max_concurrent);
    ld_rpc_refuse(out, CS_CONNECT_RESOURCE_EXHAUSTED, REASON(CAPACITY), text);
    return false;
}

void ld_rpc_leave(ld_daemon *daemon) {
    atomic_fetch_sub(&daemon->running, 1);
}

static void run(const ld_call *call, const cs_run_request *request, ld_answer *out) {
    cs_error err = CS_ERROR_INIT;
    ld_job *job = calloc(1, sizeof(*job));
    if (job == NULL) {
        ld_rpc_refuse(out, CS_CONNECT_RESOURCE_EXHAUSTED, REASON(CAPACITY), "no memory for the run");
        return;
    }
    cs_result result = ld_job_run(call->daemon, request, job, &err);
    if (result == CS_OK) result = ld_stamp(call->daemon, request, job, call->json, &out->body, &err);
    ld_job_free(job);
    free(job);
    if (result == CS_OK)
        ld_rpc_encoded(out, call->json);
    else
        ld_rpc_failed(out, "Run", &err);
}

void ld_rpc_run(const ld_call *call, ld_answer *out) {
    cs_run_request *request = ld_rpc_decode(call, &plimsoll__v1__run_request__descriptor, out);
    if (request == NULL) return;
    drop_bad_trace(request);
    if (ld_rpc_admit(call, request, out) && can_run(request, out) &&
        ld_rpc_meets(call, cs_bytes_view(&request->minimum_isolation), request->software_rule, out) &&
        ld_rpc_enter(call->daemon, out)) {
        run(call, request, out);
        ld_rpc_leave(call->daemon);
    }
    cs_message_free(request);
}
