/* The calls, from decoded HTTP to an answer: the checks in their order, then the run. */
#ifndef LD_RPC_H
#define LD_RPC_H

#include "examples/localdaemon/daemon.h"
#include "records/wire.h"

/* An answer. Refusals before a call was reached carry their mark in the header, the call's own in the
 * body. Free the body. */
typedef struct ld_answer {
    int status;       /* HTTP */
    const char *type; /* content type */
    cs_buf body;
    cs_reason header_mark; /* 0: none */
    char outcome[160];     /* for the log; safe to print */
} ld_answer;

#define LD_ANSWER_INIT ((ld_answer){.body = CS_BUF_INIT(CS_MAX_ANSWER_BYTES)})

/* What a call gets. `client` is NULL when the daemon is open to every caller. */
typedef struct ld_call {
    ld_daemon *daemon;
    const ld_client *client;
    cs_view body;
    bool json;
} ld_call;

void ld_rpc_describe(const ld_call *call, ld_answer *out);
void ld_rpc_run(const ld_call *call, ld_answer *out);
/* rpc_session.c */
void ld_rpc_open_session(const ld_call *call, ld_answer *out);
void ld_rpc_session_run(const ld_call *call, ld_answer *out);
void ld_rpc_close_session(const ld_call *call, ld_answer *out);

/* Fill in an error answer. `status` 0: as the Connect protocol maps the code. With `before_call` the mark
 * stands in the header, otherwise in the body; reason 0 marks nothing: it may have run. */
void ld_answer_error(ld_answer *out, cs_connect_code code, cs_reason reason, bool before_call, int status,
                     const char *message);

#endif
