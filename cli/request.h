/* Requests from files: one, or one a line. */
#ifndef CS_CLI_REQUEST_H
#define CS_CLI_REQUEST_H

#include "records/message.h"

#define CS_MAX_CALLS 10000u

/* One RunRequest as proto3 JSON; "-" is standard input. Gives *out. CS_CODE_IO, CS_CODE_REQUEST_JSON. */
CS_MUST_CHECK cs_result cs_request_read(const char *path, cs_run_request **out, cs_error *err);

/* The calls of a session. */
typedef struct cs_calls {
    cs_run_request **items; /* owned; whoever takes one leaves NULL */
    size_t count;
} cs_calls;

/* JSON Lines: one RunRequest a line; empty lines are passed over. All lines are read before any is used, so that a
 * wrong one is found before anything is sent (the line stands in where). No line at all:
 * CS_CODE_NOTHING_TO_CHECK. *out is always to be freed. */
CS_MUST_CHECK cs_result cs_calls_read(const char *path, cs_calls *out, cs_error *err);
void cs_calls_free(cs_calls *calls);

#endif
