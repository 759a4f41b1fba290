#include "examples/localdaemon/http.h"

#include "examples/localdaemon/headers.h"
#include "examples/localdaemon/launch.h"
#include "examples/localdaemon/log.h"
#include "examples/localdaemon/rpc.h"

#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS 64u
#define RECEIVE_SECONDS 30u
/* A body without a stated length that goes on past this is cut off instead of being read to its end. */
#define DROP_AFTER 33554432u

#define REASON(name) PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_##name

/* After the stop, answers that are under way get this long to leave; a run's end takes less (launch.c). */
#define LEAVE_SECONDS 20

/* After an answer that did not wait for the body, this much of the body is read and dropped. */
#define LINGER_MS 2000
#define LINGER_BYTES 16777216u

struct ld_http {
    struct MHD_Daemon *mhd;
    ld_daemon *daemon;
    pthread_mutex_t mutex;
    pthread_cond_t left;
    unsigned answering; /* requests that were received whole and whose answer has not left */
};

/* One request on its way in. */
typedef struct exchange {
    ld_headers headers;
    const ld_client *client;
    cs_buf body;
    size_t seen; /* bytes of the body, also those that were dropped */
    bool no_room;
    bool answering;
    bool linger; /* answered while the body is still on its way */
    int64_t begun_ms;
} exchange;

/* Hand the answer over; takes its body. */
static enum MHD_Result send_answer(struct MHD_Connection *connection, const exchange *in, const char *url,
                                   ld_answer *answer) {
    char shown[80];
    cs_escape_short(cs_view_of(url), shown, sizeof(shown));
    ld_log("%s %s %s: %d %s, %lld ms", in->client != NULL ? in->client->id : "-", in->headers.method, shown,
           answer->status, answer->outcome, (long long)(ld_monotonic_ms() - in->begun_ms));
    struct MHD_Response *response =
        MHD_create_response_from_buffer(answer->body.len, answer->body.ptr, MHD_RESPMEM_MUST_COPY);
    cs_buf_free(&answer->body);
    if (response == NULL) return MHD_NO;
    bool good = MHD_add_response_header(response, "Content-Type", answer->type) == MHD_YES;
    if (in->headers.request_id != NULL)
        good = good && MHD_add_response_header(response, CS_HEADER_REQUEST_ID, in->headers.request_id) == MHD_YES;
    if (answer->header_mark != REASON(UNSPECIFIED))
        good = good && MHD_add_response_header(response, CS_HEADER_NOT_DISPATCHED,
                                               cs_reason_word(answer->header_mark)) == MHD_YES;
    if (answer->status == MHD_HTTP_METHOD_NOT_ALLOWED)
        good = good && MHD_add_response_header(response, "Allow", "POST") == MHD_YES;
    enum MHD_Result queued = good ? MHD_queue_response(connection, (unsigned)answer->status, response) : MHD_NO;
    MHD_destroy_response(response);
    return queued;
}

typedef void (*call_of)(const ld_call *call, ld_answer *out);

/* The call of a path, or NULL. */
static call_of find_call(const char *url) {
    static const struct {
        const char *path;
        call_of call;
    } calls[] = {{CS_PATH_DESCRIBE, ld_rpc_describe},
                 {CS_PATH_RUN, ld_rpc_run},
                 {CS_PATH_OPEN_SESSION, ld_rpc_open_session},
                 {CS_PATH_SESSION_RUN, ld_rpc_session_run},
                 {CS_PATH_CLOSE_SESSION, ld_rpc_close_session}};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (strcmp(url, calls[i].path) == 0) return calls[i].call;
    return NULL;
}

/* Everything that can be told from the headers, in order: who calls, what, in which form, how much. False
 * when *out holds the refusal. */
static bool check_headers(ld_daemon *daemon, exchange *in, const char *url, ld_answer *out) {
    const ld_headers *headers = &in->headers;
    if (!daemon->open) {
        if (headers->token.len > 0) in->client = ld_clients_find(&daemon->clients, headers->token);
        if (in->client == NULL) {
            ld_answer_error(out, CS_CONNECT_UNAUTHENTICATED, REASON(PERMISSION), true, 0, "no valid bearer token");
            return false;
        }
    } else if (!headers->local_host) {
        /* A page in a browser can reach loopback under a name of its own; it can't choose this header. */
        ld_answer_error(out, CS_CONNECT_PERMISSION_DENIED, REASON(PERMISSION), true, 0,
                        "the Host is not this machine's loopback");
        return false;
    }
    if (find_call(url) == NULL) {
        ld_answer_error(out, CS_CONNECT_UNIMPLEMENTED, REASON(UNSUPPORTED), true, MHD_HTTP_NOT_FOUND, "no such call");
        return false;
    }
    int status = 0;
    const char *wrong = ld_headers_wrong(headers, &status);
    if (wrong != NULL) {
        ld_answer_error(out, CS_CONNECT_INVALID_ARGUMENT, REASON(REQUEST), true, status, wrong);
        return false;
    }
    return true;
}

static enum MHD_Result begin(ld_daemon *daemon, struct MHD_Connection *connection, const char *url, const char *method,
                             void **state) {
    exchange *in = calloc(1, sizeof(*in));
    if (in == NULL) return MHD_NO;
    *state = in;
    in->body = CS_BUF_INIT((size_t)CS_MAX_REQUEST_BYTES);
    in->begun_ms = ld_monotonic_ms();
    ld_headers_read(connection, method, &in->headers);
    ld_answer answer = LD_ANSWER_INIT;
    if (strcmp(in->headers.method, "GET") == 0 && (strcmp(url, "/healthz") == 0 || strcmp(url, "/readyz") == 0)) {
        answer.status = MHD_HTTP_OK;
        answer.type = "text/plain";
        memcpy(answer.outcome, "ok", sizeof("ok"));
        if (!cs_buf_text(&answer.body, "ok\n")) return MHD_NO;
        return send_answer(connection, in, url, &answer);
    }
    if (check_headers(daemon, in, url, &answer)) return MHD_YES;
    in->linger = in->headers.has_body;
    return send_answer(connection, in, url, &answer);
}

static enum MHD_Result receive(exchange *in, const char *data, size_t *size) {
    in->seen += *size;
    if (in->seen > DROP_AFTER) return MHD_NO;
    if (in->seen > (size_t)CS_MAX_REQUEST_BYTES)
        cs_buf_free(&in->body);
    else if (!in->no_room)
        in->no_room = !cs_buf_append(&in->body, data, *size);
    *size = 0;
    return MHD_YES;
}

static void count_answer(ld_http *http, exchange *in, bool begins) {
    if (in->answering == begins) return;
    in->answering = begins;
    pthread_mutex_lock(&http->mutex);
    http->answering = begins ? http->answering + 1 : http->answering - 1;
    if (http->answering == 0) pthread_cond_broadcast(&http->left);
    pthread_mutex_unlock(&http->mutex);
}

static enum MHD_Result finish(ld_http *http, struct MHD_Connection *connection, exchange *in, const char *url) {
    ld_daemon *daemon = http->daemon;
    count_answer(http, in, true);
    ld_answer answer = LD_ANSWER_INIT;
    ld_call call = {.daemon = daemon, .client = in->client, .body = cs_buf_view(&in->body), .json = in->headers.json};
    /* The time-out is for receiving; a run may take longer, and nothing is received meanwhile. */
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
    if (in->seen > (size_t)CS_MAX_REQUEST_BYTES)
        ld_answer_error(&answer, CS_CONNECT_INVALID_ARGUMENT, REASON(REQUEST), true, 0, LD_TOO_LARGE);
    else if (in->no_room)
        ld_answer_error(&answer, CS_CONNECT_RESOURCE_EXHAUSTED, REASON(CAPACITY), true, 0, "no memory for the request");
    else
        find_call(url)(&call, &answer);
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, RECEIVE_SECONDS);
    return send_answer(connection, in, url, &answer);
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *data, size_t *size, void **state) {
    ld_http *http = cls;
    (void)version;
    if (*state == NULL) return begin(http->daemon, connection, url, method, state);
    exchange *in = *state;
    if (*size > 0) return receive(in, data, size);
    return finish(http, connection, in, url);
}

/* Closing a socket with unread bytes resets the connection, and the reset may overtake the answer: so let the
 * client finish, or give up, first. The answer and the end of our side are on their way already. */
static void linger(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == NULL) return;
    uint8_t dropped[16384];
    size_t seen = 0;
    int64_t until = ld_monotonic_ms() + LINGER_MS;
    while (seen < LINGER_BYTES) {
        struct pollfd watched = {.fd = info->connect_fd, .events = POLLIN};
        int64_t left = until - ld_monotonic_ms();
        if (left <= 0 || poll(&watched, 1, (int)left) <= 0) return;
        ssize_t got = recv(info->connect_fd, dropped, sizeof(dropped), MSG_DONTWAIT);
        if (got <= 0) return;
        seen += (size_t)got;
    }
}

static void completed(void *cls, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode code) {
    exchange *in = *state;
    if (in == NULL) return;
    if (in->linger && code == MHD_REQUEST_TERMINATED_COMPLETED_OK) linger(connection);
    count_answer(cls, in, false);
    cs_buf_free(&in->body);
    free(in);
    *state = NULL;
}

cs_result ld_http_start(ld_daemon *daemon, int listening, ld_http **out, cs_error *err) {
    *out = NULL;
    ld_http *http = calloc(1, sizeof(*http));
    if (http != NULL) {
        http->daemon = daemon;
        pthread_mutex_init(&http->mutex, NULL);
        pthread_cond_init(&http->left, NULL);
        http->mhd = MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC, 0,
                                     NULL, NULL, handle, http, MHD_OPTION_LISTEN_SOCKET, listening,
                                     MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
                                     RECEIVE_SECONDS, MHD_OPTION_NOTIFY_COMPLETED, completed, http, MHD_OPTION_END);
    }
    if (http == NULL || http->mhd == NULL) {
        free(http);
        close(listening);
        return cs_fail(err, CS_CODE_IO, "the HTTP server can't be started");
    }
    *out = http;
    return CS_OK;
}

void ld_http_stop(ld_http *http) {
    if (http == NULL) return;
    int listening = MHD_quiesce_daemon(http->mhd);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LEAVE_SECONDS;
    pthread_mutex_lock(&http->mutex);
    while (http->answering > 0)
        if (pthread_cond_timedwait(&http->left, &http->mutex, &until) != 0) break;
    pthread_mutex_unlock(&http->mutex);
    MHD_stop_daemon(http->mhd);
    if (listening != MHD_INVALID_SOCKET) close(listening);
    pthread_cond_destroy(&http->left);
    pthread_mutex_destroy(&http->mutex);
    free(http);
}
