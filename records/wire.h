/* Facts of the wire that the daemon and the harness share (docs/FORMAT.md, "The wire"). */
#ifndef CS_RECORDS_WIRE_H
#define CS_RECORDS_WIRE_H

#include "records/message.h"

#define CS_PROTOCOL 4u /* the highest protocol number that this build speaks; it speaks those below, too */
#define CS_DEFAULT_PORT 8746

#define CS_PATH_DESCRIBE "/plimsoll.v1.SandboxService/Describe"
#define CS_PATH_RUN "/plimsoll.v1.SandboxService/Run"
#define CS_PATH_OPEN_SESSION "/plimsoll.v1.SandboxService/OpenSession"
#define CS_PATH_SESSION_RUN "/plimsoll.v1.SandboxService/SessionRun"
#define CS_PATH_CLOSE_SESSION "/plimsoll.v1.SandboxService/CloseSession"

#define CS_HEADER_REQUEST_ID "Plimsoll-Request-Id"         /* 32 lowercase hexadecimal digits */
#define CS_HEADER_NOT_DISPATCHED "Plimsoll-Not-Dispatched" /* a reason word */
#define CS_REQUEST_ID_DIGITS 32u
#define CS_TYPE_BINARY "application/proto"
#define CS_TYPE_JSON "application/json"

#define CS_MAX_REQUEST_BYTES 8388608u /* 8 MiB */
#define CS_MAX_ANSWER_BYTES 33554432u /* 32 MiB */
#define CS_MAX_RUN_MS 300000
#define CS_CLIENT_TIMEOUT_MS 360000

/* The 16 error codes of the Connect protocol. */
typedef enum cs_connect_code {
    CS_CONNECT_NONE = 0, /* not one of the 16 */
    CS_CONNECT_CANCELED = 1,
    CS_CONNECT_UNKNOWN,
    CS_CONNECT_INVALID_ARGUMENT,
    CS_CONNECT_DEADLINE_EXCEEDED,
    CS_CONNECT_NOT_FOUND,
    CS_CONNECT_ALREADY_EXISTS,
    CS_CONNECT_PERMISSION_DENIED,
    CS_CONNECT_RESOURCE_EXHAUSTED,
    CS_CONNECT_FAILED_PRECONDITION,
    CS_CONNECT_ABORTED,
    CS_CONNECT_OUT_OF_RANGE,
    CS_CONNECT_UNIMPLEMENTED,
    CS_CONNECT_INTERNAL,
    CS_CONNECT_UNAVAILABLE,
    CS_CONNECT_DATA_LOSS,
    CS_CONNECT_UNAUTHENTICATED
} cs_connect_code;

const char *cs_connect_word(cs_connect_code code); /* "" for none */
cs_connect_code cs_connect_parse(cs_view word);
int cs_connect_http_status(cs_connect_code code);             /* as the Connect protocol maps it */
cs_connect_code cs_connect_from_http(int status);             /* for a body that is no Connect error */

typedef Plimsoll__V1__NotDispatchedReason cs_reason; /* 0: no mark, or an unspecified one */

/* "request", "permission", "protocol", "unsupported", "isolation", "capacity", "environment". */
const char *cs_reason_word(cs_reason reason); /* "unspecified" for 0 and numbers outside the list */
cs_reason cs_reason_parse(cs_view word);      /* 0 for any other word */
bool cs_reason_elsewhere(cs_reason reason);   /* could another daemon take the same request? */

typedef Plimsoll__V1__SessionEnd cs_session_end; /* 0: not ended, or for an unspecified reason */

/* "closed", "expired", ... as in the enum; "unspecified" for 0 and numbers outside the list. */
const char *cs_session_end_word(cs_session_end end);

/* A Connect error as it stands in a body. */
typedef struct cs_connect_error {
    cs_connect_code code;
    cs_buf message;     /* raw text of the peer, at most CS_MAX_ERROR_MESSAGE bytes; escape to show */
    bool marked;        /* carries a NotDispatched detail that decodes */
    cs_reason reason;   /* of that detail */
    bool ended;         /* carries a SessionEnded detail that decodes */
    cs_session_end end; /* of that detail */
    cs_buf end_detail;  /* of that detail: raw text, as the message */
    cs_run_record *unanswered; /* of an UnansweredCall detail; owned; NULL: none that decodes */
} cs_connect_error;

#define CS_MAX_ERROR_MESSAGE 4096u
#define CS_MAX_ERROR_BODY 1048576u /* 1 MiB: a longer body is read as no Connect error */

/* Append the JSON body; reason 0 writes no detail. A message that is not UTF-8 is escaped. `out` is
 * unchanged on false. */
CS_MUST_CHECK bool cs_connect_error_write(cs_connect_code code, const char *message, cs_reason reason, cs_buf *out);

/* Read a body. CS_CODE_JSON_MALFORMED when it is no Connect error (the caller then maps the HTTP status): no JSON
 * object, a member that counts stands there twice, no known code, or a value that is passed over is nested more than
 * 256 deep. CS_CODE_NO_MEMORY when a part of it could not be read for want of memory. A detail's type may be bare or stand
 * after the last '/'; a detail that does not decode is ignored, and of several of one type the first one counts.
 * CS_OK: *out is filled; free with cs_connect_error_free. Else nothing is left to free. */
CS_MUST_CHECK cs_result cs_connect_error_read(cs_view body, cs_connect_error *out, cs_error *err);
void cs_connect_error_free(cs_connect_error *error);

#endif
