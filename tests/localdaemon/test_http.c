/* HTTP: who calls, in which form, how much, and what is copied onto the answer. */
#include "plimsoll/v1/sandbox.pb-c.h"
#include "tests/localdaemon/wire_call.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TOKEN_LINE "Authorization: Bearer " DAEMON_TOKEN
#define JSON_LINE "Content-Type: " JSON
#define ID_LINE "Plimsoll-Request-Id: " REQUEST_ID

static test_daemon host;

static void call(const char *path, const wire_how *how, const char *body, wire_end *end) {
    wire_call(&host, path, how, body, strlen(body), end);
}

/* Describe with these headers: the status, and what the header mark is. */
static long describe(const wire_how *how, const char **mark) {
    static char kept[64];
    wire_end end;
    call(DESCRIBE, how, "{}", &end);
    long status = end.status;
    const char *header = wire_header(&end, "Plimsoll-Not-Dispatched");
    snprintf(kept, sizeof kept, "%s", header != NULL ? header : "");
    *mark = kept;
    wire_free(&end);
    return status;
}

static void expect_describe(const wire_how *how, long status, const char *mark) {
    const char *got = NULL;
    cr_assert_eq(describe(how, &got), status);
    cr_assert_str_eq(got, mark);
}

static void check_tokens(void) {
    expect_describe(&(wire_how){.headers = {TOKEN_LINE, JSON_LINE}}, 200, "");
    expect_describe(&(wire_how){.headers = {"Authorization: bearer " DAEMON_TOKEN, JSON_LINE}}, 200, "");
    expect_describe(&(wire_how){.headers = {"Authorization: Bearer " DAEMON_TOKEN_DESCRIBE, JSON_LINE}}, 200, "");
    expect_describe(&(wire_how){.headers = {JSON_LINE}}, 401, "permission");
    expect_describe(&(wire_how){.headers = {"Authorization: Bearer " DAEMON_TOKEN "x", JSON_LINE}}, 401, "permission");
    expect_describe(&(wire_how){.headers = {"Authorization: Basic " DAEMON_TOKEN, JSON_LINE}}, 401, "permission");
    expect_describe(&(wire_how){.headers = {"Authorization: Bearer ", JSON_LINE}}, 401, "permission");
    expect_describe(&(wire_how){.headers = {TOKEN_LINE, TOKEN_LINE, JSON_LINE}}, 401, "permission");
    wire_end end;
    call(DESCRIBE, &(wire_how){.headers = {JSON_LINE}}, "{}", &end);
    expect_error(&end, 401, "unauthenticated", NULL, "permission");
    wire_free(&end);
}

/* The token is looked at before the body: nothing of the body is sent here, and the answer comes. */
static void check_token_before_body(void) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    to.sin_port = htons((uint16_t)atoi(strrchr(host.url, ':') + 1));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    static const char head[] = "POST " RUN " HTTP/1.1\r\nHost: localhost\r\nContent-Type: " JSON "\r\n"
                               "Content-Length: 100000\r\n\r\n";
    cr_assert_eq(write(fd, head, sizeof head - 1), (ssize_t)(sizeof head - 1));
    /* The answer is there; the client that goes on sending all the same is not cut off before it reads it. */
    static char body[100000];
    struct pollfd answered = {.fd = fd, .events = POLLIN};
    cr_assert_eq(poll(&answered, 1, 30000), 1);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(send(fd, body + i * 50000, 50000, MSG_NOSIGNAL), 50000);
        usleep(10000);
    }
    char answer[64];
    cr_assert_gt(read(fd, answer, sizeof answer), 12);
    cr_assert_eq(memcmp(answer, "HTTP/1.1 401", 12), 0);
    close(fd);
    /* And the answer survives a body that is on its way. */
    char *large = calloc(1, 2u * 1024u * 1024u);
    for (int i = 0; i < 20; i++) {
        wire_end end;
        wire_call(&host, RUN, &(wire_how){.headers = {JSON_LINE}}, large, i % 2 == 0 ? 2000 : 200000, &end);
        cr_assert_eq(end.status, 401, "round %d: %ld", i, end.status);
        wire_free(&end);
    }
    free(large);
}

static const char *echo_of(const wire_how *how, const char *path, long status) {
    wire_end end;
    call(path, how, "{}", &end);
    cr_assert_eq(end.status, status, "%s", end.body);
    const char *id = wire_header(&end, "Plimsoll-Request-Id");
    wire_free(&end);
    return id;
}

static void check_request_id(void) {
    cr_assert_str_eq(echo_of(&(wire_how){.headers = {TOKEN_LINE, JSON_LINE, ID_LINE}}, DESCRIBE, 200), REQUEST_ID);
    cr_assert_str_eq(echo_of(&(wire_how){.headers = {JSON_LINE, ID_LINE}}, DESCRIBE, 401), REQUEST_ID);
    cr_assert_str_eq(echo_of(&(wire_how){.headers = {TOKEN_LINE, JSON_LINE, ID_LINE}}, RUN, 400), REQUEST_ID);
    cr_assert_str_eq(echo_of(&(wire_how){.headers = {TOKEN_LINE, JSON_LINE, ID_LINE}}, "/nothing", 404), REQUEST_ID);
    cr_assert_null(echo_of(&(wire_how){.headers = {TOKEN_LINE, JSON_LINE}}, DESCRIBE, 200));
    cr_assert_null(echo_of(&(wire_how){.headers = {TOKEN_LINE, JSON_LINE, ID_LINE, ID_LINE}}, DESCRIBE, 200));
    cr_assert_null(echo_of(&(wire_how){.headers = {TOKEN_LINE, JSON_LINE, ID_LINE "0"}}, DESCRIBE, 200));
    cr_assert_null(echo_of(
        &(wire_how){.headers = {TOKEN_LINE, JSON_LINE, "Plimsoll-Request-Id: 0123456789ABCDEF0123456789abcdef"}},
        DESCRIBE, 200));
}

static void check_form(void) {
    expect_describe(&(wire_how){.headers = {TOKEN_LINE, "Content-Type: application/json; charset=utf-8"}}, 200, "");
    expect_describe(&(wire_how){.headers = {TOKEN_LINE, "Content-Type: text/plain"}}, 415, "request");
    expect_describe(&(wire_how){.headers = {TOKEN_LINE, "Content-Type: application/jsonp"}}, 415, "request");
    expect_describe(&(wire_how){.headers = {TOKEN_LINE, "Content-Type;"}}, 415, "request");
    expect_describe(&(wire_how){.headers = {TOKEN_LINE, JSON_LINE, JSON_LINE}}, 415, "request");
    expect_describe(&(wire_how){.headers = {TOKEN_LINE, JSON_LINE, "Connect-Protocol-Version: 1"}}, 200, "");
    expect_describe(&(wire_how){.headers = {TOKEN_LINE, JSON_LINE, "Connect-Protocol-Version: 2"}}, 400, "request");
    expect_describe(&(wire_how){.headers = {TOKEN_LINE, JSON_LINE, "Content-Encoding: identity"}}, 200, "");
    expect_describe(&(wire_how){.headers = {TOKEN_LINE, JSON_LINE, "Content-Encoding: gzip"}}, 400, "request");
    expect_describe(&(wire_how){.method = "GET", .headers = {TOKEN_LINE, JSON_LINE}}, 405, "request");
    /* An empty body is a message in binary, and nothing in JSON. */
    wire_end end;
    call(DESCRIBE, &(wire_how){.headers = {TOKEN_LINE, JSON_LINE}}, "", &end);
    expect_error(&end, 400, "invalid_argument", NULL, "request");
    wire_free(&end);
}

static void check_paths(void) {
    wire_end end;
    call("/plimsoll.v1.SandboxService/Other", NULL, "{}", &end);
    expect_error(&end, 404, "unimplemented", NULL, "unsupported");
    wire_free(&end);
    static const char *const health[] = {"/healthz", "/readyz"};
    for (size_t i = 0; i < 2; i++) {
        call(health[i], &(wire_how){.method = "GET"}, "", &end);
        cr_assert_eq(end.status, 200);
        cr_assert_str_eq(end.body, "ok\n");
        wire_free(&end);
    }
}

/* A JSON request of exactly `len` bytes that is refused only when it is read: its protocol is 2. */
static char *padded(size_t len) {
    char *body = malloc(len + 1);
    cr_assert_not_null(body);
    memset(body, ' ', len);
    memcpy(body, "{\"protocol\":2", 13);
    body[len - 1] = '}';
    body[len] = '\0';
    return body;
}

static void check_size(void) {
    const size_t limit = 8388608;
    char *fits = padded(limit);
    char *large = padded(limit + 1);
    const wire_how plain = {.headers = {TOKEN_LINE, JSON_LINE}};
    const wire_how chunked = {.headers = {TOKEN_LINE, JSON_LINE}, .chunked = true};
    wire_end end;
    for (int i = 0; i < 2; i++) {
        const wire_how *how = i == 0 ? &plain : &chunked;
        wire_call(&host, RUN, how, fits, limit, &end);
        expect_error(&end, 501, "unimplemented", MARK_PROTOCOL, NULL);
        wire_free(&end);
        wire_call(&host, RUN, how, large, limit + 1, &end);
        expect_error(&end, 400, "invalid_argument", NULL, "request");
        wire_free(&end);
    }
    free(fits);
    free(large);
}

static void check_description(void) {
    wire_end end;
    wire_call(&host, DESCRIBE, &(wire_how){.headers = {TOKEN_LINE, "Content-Type: " BINARY, ID_LINE}}, "", 0, &end);
    cr_assert_eq(end.status, 200);
    cr_assert_str_eq(wire_header(&end, "Content-Type"), BINARY);
    Plimsoll__V1__DescribeResponse *said =
        plimsoll__v1__describe_response__unpack(NULL, end.len, (const uint8_t *)end.body);
    cr_assert_not_null(said);
    cr_assert_eq(said->protocol, 3);
    cr_assert_eq(said->sandbox.len, 7);
    cr_assert_eq(memcmp(said->sandbox.data, "process", 7), 0);
    cr_assert_eq(said->isolation.len, 7);
    cr_assert_eq(memcmp(said->isolation.data, "process", 7), 0);
    cr_assert(said->supports_project && !said->supports_module && said->supports_sessions);
    cr_assert(!said->supports_javascript_grants && !said->supports_project_grants);
    cr_assert_eq(said->javascript_environment->max_timeout_ms, 300000);
    cr_assert_eq(said->project_environment->identity.len, 0);
    cr_assert_eq(said->resources->memory_mb, 0);
    cr_assert_eq(said->resources->pids, geteuid() == 0 ? 256 : 0);
    cr_assert_eq(said->policy.len, 26 + 64);
    cr_assert_eq(memcmp(said->policy.data, "localdaemon-policy:sha256:", 26), 0);
    wire_end again;
    wire_json(&host, DESCRIBE, "{}", &again);
    cr_assert_str_eq(wire_header(&again, "Content-Type"), JSON);
    cr_assert_eq(strlen(json_at(again.json, "policy")), said->policy.len);
    cr_assert_eq(memcmp(json_at(again.json, "policy"), said->policy.data, said->policy.len), 0,
                 "both codecs say the same");
    plimsoll__v1__describe_response__free_unpacked(said, NULL);
    wire_free(&again);
    wire_free(&end);
}

Test(localdaemon_http, headers_limits_and_paths, .timeout = 60) {
    daemon_start(&host, "process", NULL);
    check_description();
    check_tokens();
    check_token_before_body();
    check_request_id();
    check_form();
    check_paths();
    check_size();
    cr_assert_eq(daemon_stop(&host), 0);
}
