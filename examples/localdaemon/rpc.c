#include "examples/localdaemon/rpc.h"

#include "examples/localdaemon/job.h"
#include "examples/localdaemon/log.h"
#include "examples/localdaemon/stamp.h"
#include "records/protojson.h"
#include "records/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REASON(name) PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_##name

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

static void refuse(ld_answer *out, cs_connect_code code, cs_reason reason, const char *message) {
    ld_answer_error(out, code, reason, false, 0, message);
}

/* The text of an error with its place; borrows `text`. */
static const char *with_place(const cs_error *err, char *text, size_t size) {
    snprintf(text, size, "%s%s%s", err->where, err->where[0] != '\0' ? ": " : "", err->message);
    return text;
}

static void *decode(const ld_call *call, const ProtobufCMessageDescriptor *type, ld_answer *out) {
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

static void encoded(ld_answer *out, bool json) {
    out->status = 200;
    out->type = json ? CS_TYPE_JSON : CS_TYPE_BINARY;
    snprintf(out->outcome, sizeof(out->outcome), "ok");
}

static void failed(ld_answer *out, const char *what, const cs_error *err) {
    ld_log_error(what, err);
    /* Not marked: the run may have begun. The text of the machine's failure is the log's, not the
     * caller's. */
    if (err->code == CS_CODE_INTERRUPTED)
        refuse(out, CS_CONNECT_UNAVAILABLE, REASON(UNSPECIFIED), "the daemon is stopping");
    else
        refuse(out, CS_CONNECT_INTERNAL, REASON(UNSPECIFIED),
               "the run failed for a reason of the daemon's; its log says more");
}

/* ---- Describe -------------------------------------------------------------------------------------- */

static bool fill_description(const ld_daemon *daemon, cs_describe_response *to,
                             Plimsoll__V1__PayloadEnvironment *javascript, Plimsoll__V1__PayloadEnvironment *project,
                             Plimsoll__V1__RunResources *resources) {
    to->supports_project = true;
    to->protocol = daemon->protocol;
    javascript->max_timeout_ms = CS_MAX_RUN_MS;
    project->max_timeout_ms = CS_MAX_RUN_MS;
    to->javascript_environment = javascript;
    to->project_environment = project;
    /* Only what holds for a whole run is stated here: memory and disk are limited for each process and
     * each file, which the policy names, and a run may have many of them. */
    if ((daemon->sandbox.guards & LD_GUARD_PROCESSES) != 0)
        resources->pids = (uint32_t)daemon->sandbox.limits.processes;
    to->resources = resources;
    return cs_bytes_set(&to->sandbox, cs_view_of(daemon->sandbox.name)) &&
           cs_bytes_set(&to->isolation, cs_view_of(cs_tier_word(daemon->sandbox.tier))) &&
           cs_bytes_set(&to->policy, cs_view_of(daemon->policy));
}

void ld_rpc_describe(const ld_call *call, ld_answer *out) {
    void *request = decode(call, &plimsoll__v1__describe_request__descriptor, out);
    if (request == NULL) return;
    cs_message_free(request);
    cs_describe_response to = PLIMSOLL__V1__DESCRIBE_RESPONSE__INIT;
    Plimsoll__V1__PayloadEnvironment javascript = PLIMSOLL__V1__PAYLOAD_ENVIRONMENT__INIT;
    Plimsoll__V1__PayloadEnvironment project = PLIMSOLL__V1__PAYLOAD_ENVIRONMENT__INIT;
    Plimsoll__V1__RunResources resources = PLIMSOLL__V1__RUN_RESOURCES__INIT;
    cs_error err = CS_ERROR_INIT;
    cs_result result = CS_UNCHECKED;
    if (!fill_description(call->daemon, &to, &javascript, &project, &resources))
        result = cs_fail(&err, CS_CODE_NO_MEMORY, "no memory for the description");
    else
        result =
            call->json ? cs_protojson_write(&to.base, &out->body, &err) : cs_message_encode(&to.base, &out->body, &err);
    free(to.sandbox.data);
    free(to.isolation.data);
    free(to.policy.data);
    if (result == CS_OK)
        encoded(out, call->json);
    else
        failed(out, "Describe", &err);
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

/* Protocol, form, permission. True when the request may go on. */
static bool admit(const ld_call *call, const cs_run_request *request, ld_answer *out) {
    char text[1024];
    cs_error err = CS_ERROR_INIT;
    if (request->protocol != call->daemon->protocol) {
        snprintf(text, sizeof(text), "protocol %u; this daemon serves %u", request->protocol, call->daemon->protocol);
        refuse(out, request->protocol == 0 ? CS_CONNECT_INVALID_ARGUMENT : CS_CONNECT_UNIMPLEMENTED, REASON(PROTOCOL),
               text);
        return false;
    }
    /* A cell is well formed where sessions are; that there are none here is told below. */
    bool cell = request->payload_case == PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL;
    if (cs_request_validate(request, cell, &err) != CS_OK) {
        refuse(out, CS_CONNECT_INVALID_ARGUMENT, REASON(REQUEST), with_place(&err, text, sizeof(text)));
        return false;
    }
    if (call->client != NULL && !call->client->may_run) {
        refuse(out, CS_CONNECT_PERMISSION_DENIED, REASON(PERMISSION), "the client lacks the scope " LD_SCOPE_RUN);
        return false;
    }
    if (grant_of(request).len > 0) {
        refuse(out, CS_CONNECT_PERMISSION_DENIED, REASON(PERMISSION),
               "this daemon gives no grants; leave grant_profile empty");
        return false;
    }
    return true;
}

/* Can this daemon do what is asked? */
static bool can_serve(const ld_call *call, const cs_run_request *request, ld_answer *out) {
    char text[160];
    if (request->payload_case != PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT &&
        request->payload_case != PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT) {
        snprintf(text, sizeof(text), "this daemon runs javascript and project, not %s", cs_request_kind(request));
        refuse(out, CS_CONNECT_UNIMPLEMENTED, REASON(UNSUPPORTED), text);
        return false;
    }
    if (cs_tier_parse(cs_bytes_view(&request->minimum_isolation)) > call->daemon->sandbox.tier) {
        snprintf(text, sizeof(text), "the floor is above the tier of this daemon, %s",
                 cs_tier_word(call->daemon->sandbox.tier));
        refuse(out, CS_CONNECT_FAILED_PRECONDITION, REASON(ISOLATION), text);
        return false;
    }
    if (request->software_rule != NULL && request->software_rule->mode.len > 0) {
        refuse(out, CS_CONNECT_FAILED_PRECONDITION, REASON(ENVIRONMENT),
               "a software rule can't be met: this daemon runs the machine's own software, which has no identity");
        return false;
    }
    return true;
}

static bool enter(ld_daemon *daemon) {
    if (atomic_fetch_add(&daemon->running, 1) < daemon->max_concurrent) return true;
    atomic_fetch_sub(&daemon->running, 1);
    return false;
}

static void run(const ld_call *call, const cs_run_request *request, ld_answer *out) {
    cs_error err = CS_ERROR_INIT;
    ld_job *job = calloc(1, sizeof(*job));
    if (job == NULL) {
        refuse(out, CS_CONNECT_RESOURCE_EXHAUSTED, REASON(CAPACITY), "no memory for the run");
        return;
    }
    cs_result result = ld_job_run(call->daemon, request, job, &err);
    if (result == CS_OK) result = ld_stamp(call->daemon, request, job, call->json, &out->body, &err);
    ld_job_free(job);
    free(job);
    if (result == CS_OK)
        encoded(out, call->json);
    else
        failed(out, "Run", &err);
}

void ld_rpc_run(const ld_call *call, ld_answer *out) {
    cs_run_request *request = decode(call, &plimsoll__v1__run_request__descriptor, out);
    if (request == NULL) return;
    drop_bad_trace(request);
    if (admit(call, request, out) && can_serve(call, request, out)) {
        if (enter(call->daemon)) {
            run(call, request, out);
            atomic_fetch_sub(&call->daemon->running, 1);
        } else {
            char text[96];
            snprintf(text, sizeof(text), "%u runs are under way, as many as this daemon allows",
                     call->daemon->max_concurrent);
            refuse(out, CS_CONNECT_RESOURCE_EXHAUSTED, REASON(CAPACITY), text);
        }
    }
    cs_message_free(request);
}
