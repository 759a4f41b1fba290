/* What the files of the client share. Nothing outside harness/client*.c includes this.
 *
 * client.c       configuration, and the two calls of a single run
 * client_session.c  the three calls of a session
 * client_url.c   which base URLs are acceptable
 * client_http.c  one HTTP exchange; the only file that performs one
 * client_outcome.c  what an exchange means; pure, no curl
 */
#ifndef CS_HARNESS_CLIENT_INTERNAL_H
#define CS_HARNESS_CLIENT_INTERNAL_H

#include "harness/client.h"

#define CS_CLIENT_CONNECT_MS 10000
#define CS_MAX_URL_BYTES 2048u
#define CS_MAX_TOKEN_BYTES 4096u
#define CS_MAX_HEADER_BYTES 65536u /* all headers of one exchange, interim answers included */
#define CS_MAX_TYPE_BYTES 128u

/* Never changed after cs_client_new, so several threads may call through one client. */
struct cs_client {
    char *url;     /* normalised, without a final slash */
    char *resolve; /* for `localhost`: fixed addresses instead of a lookup; else NULL */
    char *token;   /* NULL: none */
    char *ca_file; /* NULL: the system's */
    bool https;
    cs_codec codec;
    long timeout_ms;
    long connect_timeout_ms;
    size_t max_answer;
    const volatile sig_atomic_t *stop; /* NULL: nothing ends a call early */
};

/* What is to be sent. Everything is borrowed. */
typedef struct cs_exchange_request {
    const char *path;
    const char *content_type;
    const char *request_id;
    cs_view body;
} cs_exchange_request;

/* How often a header stood in the final answer, and its value when it stood there once. A value that
 * does not fit counts as often as it stands there and is left empty. */
typedef struct cs_header {
    size_t count;
    char value[CS_MAX_TYPE_BYTES];
} cs_header;

/* What came back, before anyone believes anything of it. */
typedef struct cs_exchange {
    cs_code transport; /* CS_CODE_OK: a whole HTTP answer; else why not, as the transport knows it */
    char why[256];     /* the transport's text for a person; never decides anything */
    bool http;         /* a status line came */
    int status;        /* of the last answer that began, only when http */
    bool delimited;    /* the answer says where its body ends: nothing can be cut off unnoticed */
    cs_header request_id, not_dispatched, content_type, content_encoding;
} cs_exchange;

/* An outcome that is never left as it starts: a call that may have run, for a reason of ours. */
void cs_client_begin(const cs_client *client, cs_outcome *outcome);
/* Something of ours failed, or refused, before anything was sent; outcome->err says what. */
CS_MUST_CHECK cs_result cs_client_unsent(cs_outcome *outcome, cs_reason reason);
/* Send a body of at most CS_MAX_REQUEST_BYTES, and judge what comes back. */
CS_MUST_CHECK cs_result cs_client_call(const cs_client *client, const char *path, cs_view body,
                                       const ProtobufCMessageDescriptor *answer_type, cs_outcome *outcome);

/* Check a base URL and make it normal. CS_CODE_UNSENT_URL. Fills url, https and resolve. */
CS_MUST_CHECK cs_result cs_client_url_check(const cs_client_config *config, cs_client *client, cs_error *err);

/* Set libcurl up, once in a process. False when it cannot be. */
CS_MUST_CHECK bool cs_client_http_ready(void);

/* Perform one exchange. `body` receives the answer's body up to its maximum. CS_OK when the exchange was
 * tried (look at exchange->transport); CS_UNCHECKED when something of ours failed before. */
CS_MUST_CHECK cs_result cs_client_exchange(const cs_client *client, const cs_exchange_request *request,
                                           cs_exchange *exchange, cs_buf *body, cs_error *err);

/* Decide what the exchange means. outcome->request_id and outcome->raw are filled already; everything
 * that the answer decides is set here. Returns the class of the state. */
CS_MUST_CHECK cs_result cs_client_judge(const cs_client *client, const cs_exchange *exchange,
                                        const ProtobufCMessageDescriptor *type, cs_outcome *outcome);

#endif
