/* One HTTP exchange with libcurl, bounded in time and size and made at most once. */
#include "harness/client_internal.h"

#include <curl/curl.h>
#include <pthread.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- what the callbacks share --------------------------------------------------------------------- */

typedef struct transfer {
    cs_buf *body;
    size_t header_bytes;
    bool leaving;  /* the connection stands, and the request was about to be sent */
    bool http;     /* a status line came */
    bool headed;   /* the last answer's headers came to their end */
    bool too_much; /* headers or body over their limit, or over memory */
    const volatile sig_atomic_t *stop;
} transfer;

static int on_leaving(void *data, char *peer_ip, char *local_ip, int peer_port, int local_port) {
    (void)peer_ip, (void)local_ip, (void)peer_port, (void)local_port;
    ((transfer *)data)->leaving = true;
    return CURL_PREREQFUNC_OK;
}

/* libcurl asks about once a second, and at once when a signal wakes it. Not 0 ends the exchange. */
static int on_progress(void *data, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent) {
    (void)to_get, (void)got, (void)to_send, (void)sent;
    const transfer *t = data;
    return t->stop != NULL && *t->stop != 0;
}

/* Counts, and sees whether the headers end: libcurl takes a connection that closes among them for a
 * whole answer. The values are asked for when the exchange is over, when libcurl has told the final
 * answer's headers from those of interim answers and from trailers. */
static size_t on_header(char *line, size_t size, size_t count, void *data) {
    transfer *t = data;
    size_t len = size * count;
    t->http = true;
    t->header_bytes += len;
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) t->headed = false;
    if (len > 0 && (line[0] == '\r' || line[0] == '\n')) t->headed = true;
    t->too_much = t->header_bytes > CS_MAX_HEADER_BYTES;
    return t->too_much ? 0 : len;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *data) {
    transfer *t = data;
    size_t len = size * count;
    size_t room = t->body->max - t->body->len;
    size_t take = len < room ? len : room;
    if (!cs_buf_append(t->body, bytes, take) || take < len) {
        t->too_much = true;
        return 0;
    }
    return len;
}

/* ---- setting up ----------------------------------------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode once_result = CURLE_FAILED_INIT;

static void set_up(void) {
    once_result = curl_global_init(CURL_GLOBAL_DEFAULT);
}

bool cs_client_http_ready(void) {
    return pthread_once(&once, set_up) == 0 && once_result == CURLE_OK;
}

static bool add_line(struct curl_slist **list, const char *fmt, ...) CS_PRINTF(2, 3);

static bool add_line(struct curl_slist **list, const char *fmt, ...) {
    char line[CS_MAX_TOKEN_BYTES + 64];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    struct curl_slist *longer = len > 0 && (size_t)len < sizeof line ? curl_slist_append(*list, line) : NULL;
    sodium_memzero(line, sizeof line);
    if (longer == NULL) return false;
    *list = longer;
    return true;
}

static bool add_headers(const cs_client *client, const cs_exchange_request *request, struct curl_slist **list) {
    /* "Expect:" without a value keeps libcurl from sending it for a large body and waiting. */
    return add_line(list, "Content-Type: %s", request->content_type) && add_line(list, "Connect-Protocol-Version: 1") &&
           add_line(list, CS_HEADER_REQUEST_ID ": %s", request->request_id) && add_line(list, "Expect:") &&
           (client->token == NULL || add_line(list, "Authorization: Bearer %s", client->token));
}

/* One of the lines holds the token. */
static void free_headers(struct curl_slist *list) {
    for (struct curl_slist *line = list; line != NULL; line = line->next)
        sodium_memzero(line->data, strlen(line->data));
    curl_slist_free_all(list);
}

/* What may never happen to a request that runs code: a second attempt, a detour, an upgrade. */
static bool forbid_detours(CURL *curl, bool https) {
    return curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HTTP09_ALLOWED, 0L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, https ? "https" : "http") == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_PROXY, "") == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOPROXY, "*") == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, NULL) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HTTP_CONTENT_DECODING, 0L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
}

static bool secure(CURL *curl, const cs_client *client) {
    if (curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L) != CURLE_OK ||
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L) != CURLE_OK ||
        curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) != CURLE_OK)
        return false;
    if (client->ca_file == NULL) return true;
    /* Instead of the system's certificates, not beside them: the folder of those is another option. */
    return curl_easy_setopt(curl, CURLOPT_CAINFO, client->ca_file) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_CAPATH, NULL) == CURLE_OK;
}

static bool bound_and_watch(CURL *curl, const cs_client *client, transfer *t) {
    return curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, client->timeout_ms) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, client->connect_timeout_ms) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)client->max_answer) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, on_leaving) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_PREREQDATA, t) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_XFERINFODATA, t) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HEADERDATA, t) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEDATA, t) == CURLE_OK;
}

static bool address(CURL *curl, const cs_client *client, const cs_exchange_request *request, struct curl_slist *headers,
                    struct curl_slist *resolve) {
    char url[CS_MAX_URL_BYTES * 4]; /* normalising can write a byte as three */
    int len = snprintf(url, sizeof url, "%s%s", client->url, request->path);
    /* libcurl takes NULL for "read the body from somewhere else". */
    const void *body = request->body.len > 0 ? (const void *)request->body.ptr : "";
    return len > 0 && (size_t)len < sizeof url && curl_easy_setopt(curl, CURLOPT_URL, url) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_RESOLVE, resolve) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_POST, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body) == CURLE_OK;
}

/* ---- what the transport says ---------------------------------------------------------------------- */

/* Before the request began to leave, nothing can have run. */
static cs_code unsent_code(CURLcode code) {
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
        return CS_CODE_UNSENT_LOOKUP;
    case CURLE_COULDNT_CONNECT:
        return CS_CODE_UNSENT_CONNECT;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_INVALIDCERTSTATUS:
        return CS_CODE_UNSENT_TLS;
    case CURLE_OPERATION_TIMEDOUT:
        return CS_CODE_UNSENT_TIMEOUT;
    case CURLE_ABORTED_BY_CALLBACK:
        return CS_CODE_UNSENT_INTERRUPTED;
    default:
        return CS_CODE_UNSENT_OTHER;
    }
}

/* Once it began to leave, everything that is no whole answer means that it may have run. */
static cs_code unanswered_code(CURLcode code, const transfer *t) {
    if (t->too_much) return CS_CODE_UNANSWERED_TOO_LARGE;
    switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
        return CS_CODE_UNANSWERED_TIMEOUT;
    case CURLE_ABORTED_BY_CALLBACK:
        return CS_CODE_UNANSWERED_INTERRUPTED;
    case CURLE_FILESIZE_EXCEEDED:
        return CS_CODE_UNANSWERED_TOO_LARGE;
    case CURLE_OUT_OF_MEMORY: /* what libcurl says of a header line of over 100 KiB, before anyone sees it */
#if LIBCURL_VERSION_NUM >= 0x080600
    case CURLE_TOO_LARGE: /* and what later versions say */
#endif
        return t->headed ? CS_CODE_UNANSWERED_CONNECTION : CS_CODE_UNANSWERED_TOO_LARGE;
    case CURLE_UNSUPPORTED_PROTOCOL: /* not HTTP/1 */
    case CURLE_WEIRD_SERVER_REPLY:   /* headers that are none, also a NUL among them */
        return CS_CODE_UNANSWERED_MALFORMED;
    default:
        return CS_CODE_UNANSWERED_CONNECTION;
    }
}

/* The last answer's own headers: not those of a 1xx answer before it, and no trailers. */
static void take_header(CURL *curl, const char *name, cs_header *out) {
    struct curl_header *found = NULL;
    *out = (cs_header){0};
    if (curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK) return;
    out->count = found->amount;
    size_t len = strlen(found->value);
    if (found->amount == 1 && len < sizeof out->value) memcpy(out->value, found->value, len + 1);
}

/* A body without a length ends where the stream does, and libcurl takes a TCP stream that anyone on the way ended
 * for that also when the TLS in it did not end. */
static bool is_delimited(CURL *curl, int status) {
    curl_off_t length = -1;
    cs_header encoding;
    take_header(curl, "Transfer-Encoding", &encoding);
    (void)curl_easy_getinfo(curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    const bool chunked = encoding.count == 1 && strcasecmp(encoding.value, "chunked") == 0;
    return length >= 0 || chunked || status == 204 || status == 304;
}

static void take_answer(CURL *curl, const transfer *t, CURLcode code, cs_exchange *exchange) {
    long status = 0;
    (void)curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    exchange->transport = CS_CODE_OK;
    if (code != CURLE_OK)
        exchange->transport = t->leaving ? unanswered_code(code, t) : unsent_code(code);
    else if (!t->headed || status < 200)
        exchange->transport = CS_CODE_UNANSWERED_CONNECTION;
    exchange->http = t->http && status > 0;
    exchange->status = exchange->http ? (int)status : 0;
    exchange->delimited = is_delimited(curl, exchange->status);
    take_header(curl, CS_HEADER_REQUEST_ID, &exchange->request_id);
    take_header(curl, CS_HEADER_NOT_DISPATCHED, &exchange->not_dispatched);
    take_header(curl, "Content-Type", &exchange->content_type);
    take_header(curl, "Content-Encoding", &exchange->content_encoding);
}

/* ---- the exchange --------------------------------------------------------------------------------- */

cs_result cs_client_exchange(const cs_client *client, const cs_exchange_request *request, cs_exchange *exchange,
                             cs_buf *body, cs_error *err) {
    *exchange = (cs_exchange){.transport = CS_CODE_INTERNAL};
    transfer t = {.body = body, .stop = client->stop};
    char why[CURL_ERROR_SIZE] = "";
    struct curl_slist *headers = NULL;
    struct curl_slist *resolve = client->resolve == NULL ? NULL : curl_slist_append(NULL, client->resolve);
    cs_result result = CS_UNCHECKED;

    CURL *curl = curl_easy_init();
    bool ready = curl != NULL && (client->resolve == NULL || resolve != NULL) &&
                 add_headers(client, request, &headers) && forbid_detours(curl, client->https) &&
                 secure(curl, client) && bound_and_watch(curl, client, &t) &&
                 address(curl, client, request, headers, resolve) &&
                 curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why) == CURLE_OK;
    if (!ready) {
        result = cs_fail(err, CS_CODE_INTERNAL, "libcurl could not be made ready for a call; nothing was sent");
    } else {
        CURLcode code = curl_easy_perform(curl);
        take_answer(curl, &t, code, exchange);
        const char *text = why[0] != '\0' ? why : curl_easy_strerror(code);
        if (code == CURLE_OK) text = "the answer ended before its headers did";
        (void)snprintf(exchange->why, sizeof exchange->why, "%s", text);
        result = CS_OK;
    }
    curl_easy_cleanup(curl);
    curl_slist_free_all(resolve);
    free_headers(headers);
    return result;
}
