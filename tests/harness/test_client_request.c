/* What is sent, what is refused before sending, and which configurations are accepted. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/harness/client_case.h"

static const peer_step good = {.head = CASE_HEAD, .body = CASE_BYTES(CASE_BODY)};
static const peer_step good_json = {
    .head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nPlimsoll-Request-Id: {id}\r\n"
            "Content-Length: {length}\r\n\r\n",
    .body = CASE_BYTES(CASE_JSON),
};

static void expect_header(const peer_request *request, const char *name, const char *want) {
    char value[256] = "";
    size_t count = peer_header(request, name, value, sizeof value);
    cr_expect_eq(count, want == NULL ? 0 : 1, "%s: %zu times", name, count);
    cr_expect_str_eq(value, want == NULL ? "" : want, "%s", name);
}

static void expect_line(const peer_request *request, const char *line) {
    cr_expect_eq(strncmp(request->head, line, strlen(line)), 0, "%s", request->head);
}

Test(client_request, binary) {
    client_case c = {.steps = &good, .count = 1, .config.token = "abc.DEF~1"};
    client_case_run(&c);
    cr_assert_eq(c.result, CS_OK, "%s", c.outcome.err.message);
    const peer_request *request = peer_seen(c.peer, 0);
    cr_assert(request->whole);
    expect_line(request, "POST /plimsoll.v1.SandboxService/Run HTTP/1.1\r\n");
    expect_header(request, "Content-Type", "application/proto");
    expect_header(request, "Connect-Protocol-Version", "1");
    expect_header(request, "Plimsoll-Request-Id", c.outcome.request_id);
    expect_header(request, "Authorization", "Bearer abc.DEF~1");
    expect_header(request, "Content-Length", "2");
    expect_header(request, "Host", peer_url(c.peer) + strlen("http://"));
    expect_header(request, "Expect", NULL);
    expect_header(request, "Accept-Encoding", NULL);
    expect_header(request, "Transfer-Encoding", NULL);
    expect_header(request, "Cookie", NULL);
    expect_header(request, "Upgrade", NULL);
    cr_expect(cs_view_is(cs_buf_view(&request->body), CASE_REQUEST));
    cr_expect_eq(strlen(c.outcome.request_id), 32);
    cr_expect_eq(strspn(c.outcome.request_id, "0123456789abcdef"), 32);
    client_case_end(&c);
}

Test(client_request, json_without_a_token) {
    client_case c = {.steps = &good_json, .count = 1, .config.codec = CS_CODEC_JSON};
    client_case_run(&c);
    cr_assert_eq(c.result, CS_OK, "%s", c.outcome.err.message);
    const peer_request *request = peer_seen(c.peer, 0);
    expect_header(request, "Content-Type", "application/json");
    expect_header(request, "Authorization", NULL);
    cr_expect(cs_view_is(cs_buf_view(&request->body), "{\"protocol\":3}"));
    client_case_end(&c);
}

/* An unset secret often arrives as an empty variable. */
Test(client_request, an_empty_token_is_none) {
    client_case c = {.steps = &good, .count = 1, .config.token = ""};
    client_case_run(&c);
    expect_header(peer_seen(c.peer, 0), "Authorization", NULL);
    client_case_end(&c);
}

Test(client_request, path_prefix) {
    client_case c = {.steps = &good, .count = 1, .url_suffix = "/base/x//"};
    client_case_run(&c);
    cr_assert_eq(c.result, CS_OK, "%s", c.outcome.err.message);
    expect_line(peer_seen(c.peer, 0), "POST /base/x/plimsoll.v1.SandboxService/Run HTTP/1.1\r\n");
    client_case_end(&c);
}

/* Two calls: two connections, two ids. The description is an empty message in either codec. */
Test(client_request, describe) {
    static const struct {
        cs_codec codec;
        const char *body;
    } codecs[] = {{CS_CODEC_BINARY, ""}, {CS_CODEC_JSON, "{}"}};
    for (size_t i = 0; i < 2; i++) {
        const peer_step step = codecs[i].codec == CS_CODEC_JSON ? good_json : good;
        const peer_step steps[] = {step, step};
        peer *p = peer_start(steps, 2, NULL);
        cr_assert_not_null(p);
        const cs_client_config config = {.base_url = peer_url(p), .codec = codecs[i].codec};
        cs_client *client = NULL;
        cr_assert_eq(cs_client_new(&config, &client, NULL), CS_OK);
        cs_outcome first;
        cs_outcome second;
        cr_expect_eq(cs_client_describe(client, &first), CS_OK, "%s", first.err.message);
        cr_expect_eq(cs_client_describe(client, &second), CS_OK, "%s", second.err.message);
        peer_stop(p);
        cr_assert_eq(peer_connections(p), 2);
        expect_line(peer_seen(p, 0), "POST /plimsoll.v1.SandboxService/Describe HTTP/1.1\r\n");
        cr_expect(cs_view_is(cs_buf_view(&peer_seen(p, 0)->body), codecs[i].body));
        cr_expect_str_neq(first.request_id, second.request_id);
        cr_assert_not_null(first.message);
        cr_expect_eq(first.message->descriptor, &plimsoll__v1__describe_response__descriptor);
        cs_outcome_free(&first);
        cs_outcome_free(&second);
        cs_client_free(client);
        peer_free(p);
    }
}

/* ---- sizes ---------------------------------------------------------------------------------------- */

/* A body of this size is sent at once, without asking first; one byte more is not sent at all. */
static void send_size(size_t size, cs_result want, cs_code code, size_t connections) {
    peer *p = peer_start(&good, 1, NULL);
    cr_assert_not_null(p);
    const cs_client_config config = {.base_url = peer_url(p), .timeout_ms = 20000};
    cs_client *client = NULL;
    cr_assert_eq(cs_client_new(&config, &client, NULL), CS_OK);
    uint8_t *bytes = calloc(1, size);
    cr_assert_not_null(bytes);
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    cs_outcome outcome;
    cr_expect_eq(cs_client_run(client, &request, cs_view_bytes(bytes, size), &outcome), want);
    cr_expect_eq(outcome.err.code, code, "%s", outcome.err.message);
    cr_expect_eq(outcome.state, want == CS_OK ? CS_CALL_ANSWERED : CS_CALL_UNSENT);
    cr_expect_eq(outcome.reason, want == CS_OK ? 0 : cs_reason_parse(cs_view_of("request")));
    peer_stop(p);
    cr_expect_eq(peer_connections(p), connections);
    for (size_t i = 0; i < peer_connections(p); i++) {
        cr_expect_eq(peer_seen(p, i)->body.len, size);
        expect_header(peer_seen(p, i), "Expect", NULL);
    }
    free(bytes);
    cs_outcome_free(&outcome);
    cs_client_free(client);
    peer_free(p);
}

Test(client_request, largest_request) {
    send_size(8388608, CS_OK, CS_CODE_OK, 1);
}

Test(client_request, too_large_a_request) {
    send_size(8388609, CS_NOT_RUN, CS_CODE_REQUEST_INVALID, 0);
}

/* In JSON it is the text that counts: 1.5 MB of control characters take six times that. */
Test(client_request, too_large_a_request_in_json) {
    peer *p = peer_start(&good_json, 1, NULL);
    cr_assert_not_null(p);
    const cs_client_config config = {.base_url = peer_url(p), .codec = CS_CODEC_JSON};
    cs_client *client = NULL;
    cr_assert_eq(cs_client_new(&config, &client, NULL), CS_OK);
    const size_t size = 1500000;
    uint8_t *text = malloc(size);
    cr_assert_not_null(text);
    memset(text, 1, size);
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    request.trace_id = (ProtobufCBinaryData){.data = text, .len = size};
    cs_outcome outcome;
    cr_expect_eq(cs_client_run(client, &request, cs_view_of("unused"), &outcome), CS_NOT_RUN);
    cr_expect_eq(outcome.err.code, CS_CODE_REQUEST_INVALID, "%s", outcome.err.message);
    cr_expect_eq(outcome.state, CS_CALL_UNSENT);
    peer_stop(p);
    cr_expect_eq(peer_connections(p), 0);
    free(text);
    cs_outcome_free(&outcome);
    cs_client_free(client);
    peer_free(p);
}

/* ---- configuration -------------------------------------------------------------------------------- */

static cs_code code_of(const char *url, const char *token, bool cleartext, char *normal, size_t size) {
    const cs_client_config config = {.base_url = url, .token = token, .allow_cleartext = cleartext};
    cs_client *client = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_client_new(&config, &client, &err);
    cr_expect_eq(result == CS_OK, client != NULL, "%s", url);
    normal[0] = '\0';
    if (client != NULL) (void)snprintf(normal, size, "%s", cs_client_url(client));
    if (result != CS_OK) cr_expect_eq(result, CS_NOT_RUN, "%s", url);
    cs_client_free(client);
    return result == CS_OK ? CS_CODE_OK : err.code;
}

Test(client_request, acceptable_urls) {
    static const struct {
        const char *url;
        const char *normal;
    } cases[] = {
        {"http://127.0.0.1:8746", "http://127.0.0.1:8746"},
        {"http://127.0.0.1:8746/", "http://127.0.0.1:8746"},
        {"http://127.9.8.7", "http://127.9.8.7"},
        {"http://127.1:80", "http://127.0.0.1"},
        {"HTTP://localhost:1", "http://localhost:1"},
        {"http://[::1]:8746/a/b/", "http://[::1]:8746/a/b"},
        {"https://sandbox.example", "https://sandbox.example"},
        {"https://sandbox.example:443/a//", "https://sandbox.example/a"},
        {"https://192.0.2.1:8746", "https://192.0.2.1:8746"},
        {"https://sandbox.example/a%20b", "https://sandbox.example/a%20b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char normal[256];
        cr_expect_eq(code_of(cases[i].url, NULL, false, normal, sizeof normal), CS_CODE_OK, "%s", cases[i].url);
        cr_expect_str_eq(normal, cases[i].normal);
    }
}

Test(client_request, unacceptable_urls) {
    static const char *const cases[] = {
        "",
        "127.0.0.1:8746",
        "http:127.0.0.1",
        "http://",
        "http:///x",
        "http://:8746",
        "ftp://127.0.0.1",
        "file:///etc/passwd",
        "unix://127.0.0.1",
        "http://user@127.0.0.1",
        "http://user:word@127.0.0.1",
        "http://@127.0.0.1",
        "http://127.0.0.1?x=1",
        "http://127.0.0.1/?",
        "http://127.0.0.1/#x",
        "http://127.0.0.1/#",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:x",
        "http://127.0.0.1/a b",
        "http://127.0.0.1/\n",
        "http://127.0.0.1\\@sandbox.example",
        "http://127.0.0.1/\xc3\xa9",
        "http://sandbox%ddexample", /* libcurl would decode it */
        "http://sandbox%01.example",
        "http://%31", /* would lead to 0.0.0.1 */
        "https://%31%32%37.0.0.1",
        "http://127.0.0.%31:8746",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char normal[256];
        cr_expect_eq(code_of(cases[i], NULL, true, normal, sizeof normal), CS_CODE_UNSENT_URL, "%s", cases[i]);
    }
}

/* Cleartext leaves this machine only when it was asked for. */
Test(client_request, cleartext) {
    static const char *const cases[] = {
        "http://sandbox.example",    "http://192.0.2.1:8746",    "http://128.0.0.1",         "http://0.0.0.0",
        "http://[2001:db8::1]:8746", "http://localhost.example", "http://127.0.0.1.example", "http://[::]",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char normal[256];
        cr_expect_eq(code_of(cases[i], NULL, true, normal, sizeof normal), CS_CODE_OK, "%s", cases[i]);
        cr_expect_str_eq(normal, cases[i]);
        cr_expect_eq(code_of(cases[i], NULL, false, normal, sizeof normal), CS_CODE_UNSENT_URL, "%s", cases[i]);
    }
}

Test(client_request, tokens) {
    static char longest[4096 + 2];
    memset(longest, 'a', 4096);
    char normal[256];
    cr_expect_eq(code_of("http://127.0.0.1", "abc", false, normal, sizeof normal), CS_CODE_OK);
    cr_expect_eq(code_of("http://127.0.0.1", longest, false, normal, sizeof normal), CS_CODE_OK);
    longest[4096] = 'a';
    const char *const cases[] = {"abc\n", "abc\r\nX: y", "a c", "\tabc", "abc\x7f", "ab\xc3\xa9", longest};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(code_of("http://127.0.0.1", cases[i], false, normal, sizeof normal), CS_CODE_REQUEST_INVALID);
}

Test(client_request, an_error_never_shows_the_token) {
    const cs_client_config config = {.base_url = "http://127.0.0.1", .token = "s3cr3t\n"};
    cs_client *client = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_client_new(&config, &client, &err), CS_NOT_RUN);
    cr_expect_null(strstr(err.message, "s3cr3t"));
    cr_expect_str_empty(err.found);
}
