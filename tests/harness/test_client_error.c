/* Answers with another status than 200: which of them say that nothing ran. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/client_case.h"

#define TYPE "Content-Type: application/json\r\n"
#define ID "Plimsoll-Request-Id: {id}\r\n"
#define LENGTH "Content-Length: {length}\r\n"
#define MARK(word) "Plimsoll-Not-Dispatched: " word "\r\n"
#define END "\r\n"
#define S429 "HTTP/1.1 429 Too Many Requests\r\n"

#define PLAIN "{\"code\":\"resource_exhausted\",\"message\":\"full house\"}"
#define DETAIL(value)                                                                                                  \
    "{\"code\":\"resource_exhausted\",\"message\":\"full "                                                             \
    "house\",\"details\":[{\"type\":\"plimsoll.v1.NotDispatched\","                                                    \
    "\"value\":\"" value "\"}]}"
/* NotDispatched{reason: 6}, capacity, is the bytes 08 06; without a reason it has no bytes. */
#define CAPACITY "CAY="

typedef struct error_case {
    const char *what;
    const char *head;
    cs_view body;
    cs_code code;
    cs_connect_code connect;
    bool bound;
} error_case;

static void check(const error_case *want) {
    const peer_step step = {.head = want->head, .body = want->body};
    client_case c;
    client_case_step(&c, &step);
    const bool refused = cs_code_class(want->code) == CS_NOT_RUN;
    cr_expect_eq(c.outcome.err.code, want->code, "%s: %s (%s)", want->what, cs_code_name(c.outcome.err.code),
                 c.outcome.err.message);
    cr_expect_eq(c.outcome.state, refused ? CS_CALL_REFUSED : CS_CALL_UNANSWERED, "%s", want->what);
    cr_expect_eq(c.result, refused ? CS_NOT_RUN : CS_MAYBE_RAN, "%s", want->what);
    cr_expect_eq(c.outcome.connect, want->connect, "%s: %s", want->what, cs_connect_word(c.outcome.connect));
    cr_expect_eq(c.outcome.bound, want->bound, "%s", want->what);
    cr_expect(c.outcome.http && c.outcome.message == NULL && c.outcome.bytes.len == 0, "%s", want->what);
    cr_expect(refused || (c.outcome.reason == 0 && !c.outcome.elsewhere), "%s", want->what);
    cr_expect_eq(peer_connections(c.peer), 1, "%s", want->what);
    client_case_end(&c);
}

Test(client_error, a_mark_counts_when_bound) {
    static const error_case cases[] = {
        {"detail", S429 TYPE ID LENGTH END, CASE_BYTES(DETAIL(CAPACITY)), CS_CODE_REFUSED_CAPACITY,
         CS_CONNECT_RESOURCE_EXHAUSTED, true},
        {"detail, no id", S429 TYPE LENGTH END, CASE_BYTES(DETAIL(CAPACITY)), CS_CODE_UNANSWERED_ERROR,
         CS_CONNECT_RESOURCE_EXHAUSTED, false},
        {"detail, another id", S429 TYPE "Plimsoll-Request-Id: 00112233445566778899aabbccddeeff\r\n" LENGTH END,
         CASE_BYTES(DETAIL(CAPACITY)), CS_CODE_UNANSWERED_ERROR, CS_CONNECT_RESOURCE_EXHAUSTED, false},
        {"detail, id twice", S429 TYPE ID ID LENGTH END, CASE_BYTES(DETAIL(CAPACITY)), CS_CODE_UNANSWERED_ERROR,
         CS_CONNECT_RESOURCE_EXHAUSTED, false},
        {"header", S429 TYPE ID MARK("capacity") LENGTH END, CASE_BYTES(PLAIN), CS_CODE_REFUSED_CAPACITY,
         CS_CONNECT_RESOURCE_EXHAUSTED, true},
        {"header, no id", S429 TYPE MARK("capacity") LENGTH END, CASE_BYTES(PLAIN), CS_CODE_UNANSWERED_ERROR,
         CS_CONNECT_RESOURCE_EXHAUSTED, false},
        {"no mark", S429 TYPE ID LENGTH END, CASE_BYTES(PLAIN), CS_CODE_UNANSWERED_ERROR, CS_CONNECT_RESOURCE_EXHAUSTED,
         true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
}

Test(client_error, what_is_a_mark) {
    static const error_case cases[] = {
        {"detail outranks header", S429 TYPE ID MARK("permission") LENGTH END, CASE_BYTES(DETAIL(CAPACITY)),
         CS_CODE_REFUSED_CAPACITY, CS_CONNECT_RESOURCE_EXHAUSTED, true},
        {"detail that does not decode, header", S429 TYPE ID MARK("permission") LENGTH END, CASE_BYTES(DETAIL("!!")),
         CS_CODE_REFUSED_PERMISSION, CS_CONNECT_RESOURCE_EXHAUSTED, true},
        {"detail that does not decode", S429 TYPE ID LENGTH END, CASE_BYTES(DETAIL("!!")), CS_CODE_UNANSWERED_ERROR,
         CS_CONNECT_RESOURCE_EXHAUSTED, true},
        {"detail without a reason", S429 TYPE ID LENGTH END, CASE_BYTES(DETAIL("")), CS_CODE_REFUSED_UNSPECIFIED,
         CS_CONNECT_RESOURCE_EXHAUSTED, true},
        {"detail with an unknown reason", S429 TYPE ID LENGTH END, CASE_BYTES(DETAIL("CGM=")),
         CS_CODE_REFUSED_UNSPECIFIED, CS_CONNECT_RESOURCE_EXHAUSTED, true},
        {"unknown word", S429 TYPE ID MARK("weather") LENGTH END, CASE_BYTES(PLAIN), CS_CODE_UNANSWERED_ERROR,
         CS_CONNECT_RESOURCE_EXHAUSTED, true},
        {"word in capitals", S429 TYPE ID MARK("Capacity") LENGTH END, CASE_BYTES(PLAIN), CS_CODE_UNANSWERED_ERROR,
         CS_CONNECT_RESOURCE_EXHAUSTED, true},
        {"header twice", S429 TYPE ID MARK("capacity") MARK("capacity") LENGTH END, CASE_BYTES(PLAIN),
         CS_CODE_UNANSWERED_ERROR, CS_CONNECT_RESOURCE_EXHAUSTED, true},
        {"header of an interim answer", "HTTP/1.1 103 Early Hints\r\n" MARK("capacity") "\r\n" S429 TYPE ID LENGTH END,
         CASE_BYTES(PLAIN), CS_CODE_UNANSWERED_ERROR, CS_CONNECT_RESOURCE_EXHAUSTED, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
}

Test(client_error, every_reason) {
    static const struct {
        const char *word;
        const char *value; /* base64 of 08 NN */
        cs_code code;
        bool elsewhere;
    } reasons[] = {
        {"request", "CAE=", CS_CODE_REFUSED_REQUEST, false},
        {"permission", "CAI=", CS_CODE_REFUSED_PERMISSION, false},
        {"protocol", "CAM=", CS_CODE_REFUSED_PROTOCOL, false},
        {"unsupported", "CAQ=", CS_CODE_REFUSED_UNSUPPORTED, true},
        {"isolation", "CAU=", CS_CODE_REFUSED_ISOLATION, true},
        {"capacity", "CAY=", CS_CODE_REFUSED_CAPACITY, true},
        {"environment", "CAc=", CS_CODE_REFUSED_ENVIRONMENT, true},
    };
    for (size_t i = 0; i < 2 * sizeof reasons / sizeof *reasons; i++) {
        const size_t n = i / 2;
        char head[256];
        char body[256];
        (void)snprintf(head, sizeof head, S429 TYPE ID "%s%s%s" LENGTH END, i % 2 ? "Plimsoll-Not-Dispatched: " : "",
                       i % 2 ? reasons[n].word : "", i % 2 ? "\r\n" : "");
        (void)snprintf(body, sizeof body, DETAIL("%s"), reasons[n].value);
        const peer_step step = {.head = head, .body = cs_view_of(i % 2 ? PLAIN : body)};
        client_case c;
        client_case_step(&c, &step);
        cr_expect_eq(c.result, CS_NOT_RUN, "%s", reasons[n].word);
        cr_expect_eq(c.outcome.err.code, reasons[n].code, "%s", reasons[n].word);
        cr_expect_eq((size_t)c.outcome.reason, n + 1, "%s", reasons[n].word);
        cr_expect_eq(c.outcome.elsewhere, reasons[n].elsewhere, "%s", reasons[n].word);
        cr_expect_not_null(strstr(c.outcome.err.message, reasons[n].word));
        client_case_end(&c);
    }
}

/* What stands between us and the daemon answers too, and knows nothing of what ran. */
Test(client_error, bodies_that_are_no_connect_error) {
#define HTML "<html>no</html>"
    static const error_case cases[] = {
        {"redirect", "HTTP/1.1 301 Moved\r\nLocation: /elsewhere\r\n" LENGTH END, CASE_BYTES(""),
         CS_CODE_UNANSWERED_ERROR, CS_CONNECT_UNKNOWN, false},
        {"redirect that keeps the method", "HTTP/1.1 308 Moved\r\n" ID "Location: /elsewhere\r\n" LENGTH END,
         CASE_BYTES(""), CS_CODE_UNANSWERED_ERROR, CS_CONNECT_UNKNOWN, true},
        {"no content", "HTTP/1.1 204 No Content\r\n" ID END, {0}, CS_CODE_UNANSWERED_ERROR, CS_CONNECT_UNKNOWN, true},
        {"bad request", "HTTP/1.1 400 Bad Request\r\n" ID LENGTH END, CASE_BYTES(HTML), CS_CODE_UNANSWERED_ERROR,
         CS_CONNECT_INTERNAL, true},
        {"unauthorized", "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=x\r\n" ID LENGTH END, CASE_BYTES(HTML),
         CS_CODE_UNANSWERED_ERROR, CS_CONNECT_UNAUTHENTICATED, true},
        {"forbidden", "HTTP/1.1 403 No\r\n" ID LENGTH END, CASE_BYTES(HTML), CS_CODE_UNANSWERED_ERROR,
         CS_CONNECT_PERMISSION_DENIED, true},
        {"not found", "HTTP/1.1 404 No\r\n" ID LENGTH END, CASE_BYTES(HTML), CS_CODE_UNANSWERED_ERROR,
         CS_CONNECT_UNIMPLEMENTED, true},
        {"proxy", "HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=x\r\n" ID LENGTH END, CASE_BYTES(HTML),
         CS_CODE_UNANSWERED_ERROR, CS_CONNECT_UNKNOWN, true},
        {"gateway", "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\n" LENGTH END, CASE_BYTES(HTML),
         CS_CODE_UNANSWERED_ERROR, CS_CONNECT_UNAVAILABLE, false},
        {"code that is none", "HTTP/1.1 503 No\r\n" TYPE ID LENGTH END, CASE_BYTES("{\"code\":\"tired\"}"),
         CS_CODE_UNANSWERED_ERROR, CS_CONNECT_UNAVAILABLE, true},
        {"marked by header before any handler", "HTTP/1.1 401 No\r\n" ID MARK("permission") LENGTH END,
         CASE_BYTES(HTML), CS_CODE_REFUSED_PERMISSION, CS_CONNECT_UNAUTHENTICATED, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
}

Test(client_error, the_peers_words_are_quoted_safely) {
    const peer_step step = {
        .head = "HTTP/1.1 500 No\r\n" TYPE ID LENGTH END,
        .body = CASE_BYTES("{\"code\":\"internal\",\"message\":\"\\u001b[2Jgone\"}"),
    };
    client_case c;
    client_case_step(&c, &step);
    cr_expect_eq(c.outcome.err.code, CS_CODE_UNANSWERED_ERROR);
    cr_expect_null(strchr(c.outcome.err.message, 0x1b));
    cr_expect_not_null(strstr(c.outcome.err.message, "[2Jgone"), "%s", c.outcome.err.message);
    cr_expect_not_null(strstr(c.outcome.err.message, "HTTP 500, internal"));
    cr_expect_eq(c.outcome.http_status, 500);
    client_case_end(&c);
}

/* An answer may come before the daemon has read the request. */
Test(client_error, refused_before_the_request_was_read) {
    const peer_step step = {
        .unread = true,
        .head = "HTTP/1.1 503 No\r\n" TYPE MARK("capacity") LENGTH END,
        .body = CASE_BYTES(PLAIN),
    };
    client_case c;
    client_case_step(&c, &step);
    /* The peer can't know the id of a request that it has not read, so the mark does not count. */
    cr_expect_eq(c.outcome.err.code, CS_CODE_UNANSWERED_ERROR, "%s", c.outcome.err.message);
    cr_expect_eq(c.outcome.http_status, 503);
    client_case_end(&c);
}
