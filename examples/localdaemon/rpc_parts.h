/* What the calls have in common: reading a request, the checks in their order, writing an answer. */
#ifndef LD_RPC_PARTS_H
#define LD_RPC_PARTS_H

#include "examples/localdaemon/rpc.h"

#define REASON(name) PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_##name

/* The decoded body, to be freed with cs_message_free; NULL when *out holds the refusal. */
void *ld_rpc_decode(const ld_call *call, const ProtobufCMessageDescriptor *type, ld_answer *out);

/* The body of *out is a whole message: it is the answer. */
void ld_rpc_encoded(ld_answer *out, bool json);
/* An error without a mark. `err` goes to the log, a general sentence to the caller. */
void ld_rpc_failed(ld_answer *out, const char *what, const cs_error *err);
/* An error with a mark in the body: nothing ran. */
void ld_rpc_refuse(ld_answer *out, cs_connect_code code, cs_reason reason, const char *message);

/* Checks. False when *out holds the refusal. */
bool ld_rpc_protocol(const ld_call *call, uint32_t protocol, ld_answer *out);
bool ld_rpc_scope(const ld_call *call, ld_answer *out);
/* Floor and software rule; both are well formed. */
bool ld_rpc_meets(const ld_call *call, cs_view floor, const cs_software_rule *rule, ld_answer *out);
/* A request's protocol, form and permission. */
bool ld_rpc_admit(const ld_call *call, const cs_run_request *request, ld_answer *out);

/* Take one of the places of runs; to be left again. */
bool ld_rpc_enter(ld_daemon *daemon, ld_answer *out);
void ld_rpc_leave(ld_daemon *daemon);

/* Sessions are on, and the protocol has records for them. */
bool ld_rpc_has_sessions(const ld_daemon *daemon);

#endif
