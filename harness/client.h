/* Calls to a daemon: Connect unary over HTTP/1.1 with libcurl (docs/FORMAT.md, "The wire").
 *
 * A call ends in exactly one of four states; only `answered` gives a message. Nothing is retried.
 * No redirects, no proxy, no netrc, a fresh connection each; time and size are bounded.
 */
#ifndef CS_HARNESS_CLIENT_H
#define CS_HARNESS_CLIENT_H

#include "records/wire.h"

#include <signal.h>

#define CS_TOKEN_VARIABLE "PLIMSOLL_CALLER_TOKEN"

typedef enum cs_codec { CS_CODEC_BINARY, CS_CODEC_JSON } cs_codec;

typedef struct cs_client_config {
    const char *base_url;  /* http or https, host, optional port and path prefix */
    const char *token;     /* bearer token; NULL or empty: none. Visible ASCII, at most 4096 bytes */
    cs_codec codec;
    bool allow_cleartext;  /* http to a host that is not loopback */
    const char *ca_file;   /* PEM bundle instead of the system's; NULL: the system's */
    int64_t timeout_ms;    /* 0: CS_CLIENT_TIMEOUT_MS */
    int64_t connect_timeout_ms; /* 0: 10 s */
    size_t max_answer;     /* 0: CS_MAX_ANSWER_BYTES */
    const volatile sig_atomic_t *stop; /* ends a call once it is not 0, set by a signal handler; NULL: nothing does */
} cs_client_config;

typedef struct cs_client cs_client;

typedef enum cs_call_state { CS_CALL_UNSENT, CS_CALL_REFUSED, CS_CALL_UNANSWERED, CS_CALL_ANSWERED } cs_call_state;

/* What became of one call. End with cs_outcome_free. */
typedef struct cs_outcome {
    cs_call_state state;
    cs_error err;              /* code and text, unless answered */
    bool http;                 /* an HTTP status line was received */
    int http_status;           /* only when http */
    bool bound;                /* the answer carried exactly our request id */
    cs_connect_code connect;   /* of an error answer */
    cs_reason reason;          /* when refused, or unsent (environment; request for our validation) */
    bool elsewhere;            /* another daemon could take the request */
    char request_id[CS_REQUEST_ID_DIGITS + 1];
    int64_t sent_unix_ms;      /* our clock when the call began */
    int64_t received_unix_ms;  /* and when it ended */
    cs_buf bytes;              /* answered: the binary message (as received, or encoded from its JSON) */
    cs_buf raw;                /* the body as received, whatever it was; may be cut at max_answer */
    ProtobufCMessage *message; /* answered: decoded from bytes */
    /* Session calls: what a bound answer or error says of the session. */
    bool ended;
    cs_session_end end;        /* when ended: why */
    char end_detail[256];      /* when ended: text of the daemon, escaped and shortened */
    cs_run_record *unanswered; /* of a bound error without a mark: the record it carries; owned, may be NULL */
} cs_outcome;

/* Check the configuration. Gives *out. CS_CODE_UNSENT_URL (class CS_NOT_RUN) for a URL with user
 * info, query, fragment or another scheme, and for cleartext to a host that is not loopback;
 * CS_CODE_REQUEST_INVALID (the same class) for a token that cannot stand in a header. Copies all
 * strings; the token is wiped when freed. A client never changes: several threads may use one. */
CS_MUST_CHECK cs_result cs_client_new(const cs_client_config *config, cs_client **out, cs_error *err);
void cs_client_free(cs_client *client);
const char *cs_client_url(const cs_client *client); /* normalised base URL; borrows */

/* The two calls of a single run. The result is the class of the state: CS_OK answered, CS_NOT_RUN refused or
 * unsent, CS_MAYBE_RAN unanswered, CS_UNCHECKED when something of ours failed before sending.
 * *outcome is always filled. cs_client_run sends `request_bytes`, the canonical encoding of
 * `request`, (or its JSON form with CS_CODEC_JSON); more than CS_MAX_REQUEST_BYTES is
 * CS_CODE_REQUEST_INVALID. */
CS_MUST_CHECK cs_result cs_client_describe(cs_client *client, cs_outcome *outcome);
CS_MUST_CHECK cs_result cs_client_run(cs_client *client, const cs_run_request *request,
                                      cs_view request_bytes, cs_outcome *outcome);

/* The calls of a session, with the same states and results; all are encoded here. Open and session run are
 * sent with request_id, bounds and codec as a run is; close is sent even after `stop`, and waits no longer than
 * CS_CLIENT_CLOSE_MS, so that an interrupted program still closes what it opened.
 * A session id is a secret. Texts, raw bodies and end_detail of the outcome have it blotted out wherever a daemon
 * repeats it; the encoded requests are wiped. Only the message and bytes of an answered open hold it:
 * cs_outcome_free wipes them. */
#define CS_CLIENT_CLOSE_MS 30000
CS_MUST_CHECK cs_result cs_client_open_session(cs_client *client, const cs_open_session_request *request,
                                               cs_outcome *outcome);
CS_MUST_CHECK cs_result cs_client_session_run(cs_client *client, const cs_session_run_request *request,
                                              cs_outcome *outcome);
CS_MUST_CHECK cs_result cs_client_close_session(cs_client *client, const cs_close_session_request *request,
                                                cs_outcome *outcome);
/* Describe after a session: as a close, also after `stop`. */
CS_MUST_CHECK cs_result cs_client_describe_last(cs_client *client, cs_outcome *outcome);

/* Blot a session id out of an error's texts: a check that fails quotes what the daemon said, which may be the id. */
void cs_error_blot(cs_error *err, cs_view session_id);
/* Wipe the session id out of the answer to an opening, once its holder has taken it. */
void cs_outcome_forget_session(cs_outcome *outcome);
void cs_outcome_free(cs_outcome *outcome);

#endif
