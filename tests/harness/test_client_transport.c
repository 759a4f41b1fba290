/* Connections that fail: before the request left nothing ran, after it anything may have. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness/client_case.h"
#include "tests/support/tls.h"

#define SHORT_MS 1000 /* for what never comes; nothing is measured, and what does come has to be there by then */

static void expect_unsent(client_case *c, cs_code code) {
    cr_expect_eq(c->outcome.err.code, code, "%s (%s)", cs_code_name(c->outcome.err.code), c->outcome.err.message);
    cr_expect_eq(c->result, CS_NOT_RUN);
    cr_expect_eq(c->outcome.state, CS_CALL_UNSENT);
    cr_expect(!c->outcome.http && c->outcome.http_status == 0);
    cr_expect_eq(c->outcome.reason, cs_reason_parse(cs_view_of("environment")));
    cr_expect(c->outcome.elsewhere && c->outcome.message == NULL);
    cr_expect_null(strstr(c->outcome.err.message, "HTTP "), "%s", c->outcome.err.message);
}

static void expect_unanswered(client_case *c, cs_code code, bool http) {
    cr_expect_eq(c->outcome.err.code, code, "%s (%s)", cs_code_name(c->outcome.err.code), c->outcome.err.message);
    cr_expect_eq(c->result, CS_MAYBE_RAN);
    cr_expect_eq(c->outcome.state, CS_CALL_UNANSWERED);
    cr_expect_eq(c->outcome.http, http, "%s", c->outcome.err.message);
    cr_expect_eq(c->outcome.http_status, http ? 200 : 0);
    cr_expect(c->outcome.message == NULL && c->outcome.bytes.len == 0);
}

static void expect_answered(client_case *c) {
    cr_expect_eq(c->result, CS_OK, "%s (%s)", cs_code_name(c->outcome.err.code), c->outcome.err.message);
    cr_expect_eq(c->outcome.state, CS_CALL_ANSWERED);
}

static const peer_step good = {.head = CASE_HEAD, .body = CASE_BYTES(CASE_BODY)};

/* ---- after the request left ----------------------------------------------------------------------- */

/* The script would answer a second attempt; there must be none. */
static void lose_connection(peer_step first) {
    const peer_step steps[] = {first, good};
    client_case c = {.steps = steps, .count = 2};
    client_case_run(&c);
    expect_unanswered(&c, CS_CODE_UNANSWERED_CONNECTION, false);
    cr_expect_eq(peer_connections(c.peer), 1);
    client_case_end(&c);
}

Test(client_transport, closed_after_the_request) {
    lose_connection((peer_step){.end = PEER_CLOSE});
}

Test(client_transport, closed_without_reading) {
    lose_connection((peer_step){.unread = true, .end = PEER_CLOSE});
}

Test(client_transport, reset_after_the_request) {
    lose_connection((peer_step){.end = PEER_RESET});
}

/* An answer that breaks off is none, and no mark in it counts. */
static void expect_cut(peer_step step) {
    client_case c;
    client_case_step(&c, &step);
    cr_expect_eq(c.outcome.err.code, CS_CODE_UNANSWERED_CONNECTION, "%s", c.outcome.err.message);
    cr_expect_eq(c.result, CS_MAYBE_RAN);
    client_case_end(&c);
}

Test(client_transport, cut_inside_the_headers) {
    const peer_step step = {.head = "HTTP/1.1 200 OK\r\nPlimsoll-Request-Id: {id}\r\nContent-Ty"};
    client_case c;
    client_case_step(&c, &step);
    expect_unanswered(&c, CS_CODE_UNANSWERED_CONNECTION, true);
    client_case_end(&c);
}

/* Were the headers that came taken for all there are, this would count as a mark. */
Test(client_transport, cut_inside_marked_headers) {
    expect_cut((peer_step){.head = "HTTP/1.1 503 No\r\nPlimsoll-Request-Id: {id}\r\n"
                                   "Plimsoll-Not-Dispatched: capacity\r\nContent-Ty"});
}

Test(client_transport, nothing_after_an_interim_answer) {
    expect_cut((peer_step){.head = "HTTP/1.1 103 Early Hints\r\nPlimsoll-Request-Id: {id}\r\n"
                                   "Plimsoll-Not-Dispatched: capacity\r\n\r\n"});
}

/* Nobody asked for another protocol, so this is an interim answer with nothing behind it. */
Test(client_transport, a_protocol_nobody_asked_for) {
    expect_cut((peer_step){.head = "HTTP/1.1 101 Switching Protocols\r\nPlimsoll-Request-Id: {id}\r\n"
                                   "Plimsoll-Not-Dispatched: capacity\r\n\r\n"});
}

Test(client_transport, cut_inside_the_body) {
    const peer_step step = {
        .head = "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nPlimsoll-Request-Id: {id}\r\n"
                "Content-Length: 4\r\n\r\n",
        .body = CASE_BYTES(CASE_BODY),
    };
    client_case c;
    client_case_step(&c, &step);
    expect_unanswered(&c, CS_CODE_UNANSWERED_CONNECTION, true);
    cr_expect(cs_view_is(cs_buf_view(&c.outcome.raw), CASE_BODY));
    client_case_end(&c);
}

/* A cut error answer is no whole answer either, whatever its headers say. */
Test(client_transport, cut_inside_a_marked_error) {
    const peer_step step = {
        .head = "HTTP/1.1 503 No\r\nPlimsoll-Request-Id: {id}\r\nPlimsoll-Not-Dispatched: capacity\r\n"
                "Content-Length: 100\r\n\r\n",
        .body = CASE_BYTES("{"),
    };
    expect_cut(step);
}

Test(client_transport, no_answer_in_time) {
    const peer_step step = {.end = PEER_STALL};
    client_case c = {.steps = &step, .count = 1, .config.timeout_ms = SHORT_MS};
    client_case_run(&c);
    expect_unanswered(&c, CS_CODE_UNANSWERED_TIMEOUT, false);
    cr_expect_eq(peer_connections(c.peer), 1);
    client_case_end(&c);
}

/* ---- a signal ------------------------------------------------------------------------------------- */

static volatile sig_atomic_t stop;

static void on_alarm(int number) {
    (void)number;
    stop = 1;
}

/* The alarm goes off while the peer keeps the request and answers nothing. */
Test(client_transport, a_signal_while_waiting_means_it_may_have_run) {
    const struct sigaction action = {.sa_handler = on_alarm};
    cr_assert_eq(sigaction(SIGALRM, &action, NULL), 0);
    const peer_step step = {.end = PEER_STALL};
    client_case c = {.steps = &step, .count = 1, .config.stop = &stop};
    alarm(1);
    client_case_run(&c);
    expect_unanswered(&c, CS_CODE_UNANSWERED_INTERRUPTED, false);
    cr_expect_eq(peer_connections(c.peer), 1);
    client_case_end(&c);
}

Test(client_transport, a_signal_before_the_call_means_that_nothing_was_sent) {
    stop = 1;
    client_case c = {.steps = &good, .count = 1, .config.stop = &stop};
    client_case_run(&c);
    expect_unsent(&c, CS_CODE_UNSENT_INTERRUPTED);
    client_case_end(&c);
}

Test(client_transport, without_a_signal_the_same_call_is_answered) {
    stop = 0;
    client_case c = {.steps = &good, .count = 1, .config.stop = &stop};
    client_case_run(&c);
    expect_answered(&c);
    client_case_end(&c);
}

Test(client_transport, half_an_answer_in_time) {
    const peer_step step = {
        .head = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", .body = CASE_BYTES(CASE_BODY), .end = PEER_STALL};
    client_case c = {.steps = &step, .count = 1, .config.timeout_ms = SHORT_MS};
    client_case_run(&c);
    expect_unanswered(&c, CS_CODE_UNANSWERED_TIMEOUT, true);
    client_case_end(&c);
}

Test(client_transport, not_http) {
    const peer_step step = {.head = "SSH-2.0-x\r\n"};
    client_case c;
    client_case_step(&c, &step);
    expect_unanswered(&c, CS_CODE_UNANSWERED_MALFORMED, false);
    client_case_end(&c);
}

/* Two parsers may differ about what stands behind a NUL. The twin has an x in its place. */
Test(client_transport, a_nul_in_a_header) {
#define AFTER_NUL(c) "X: a" c "b\r\nContent-Length: 3\r\n\r\n" CASE_BODY
    static const cs_view tails[] = {CASE_BYTES(AFTER_NUL("x")), CASE_BYTES(AFTER_NUL("\0"))};
    for (size_t i = 0; i < 2; i++) {
        const peer_step step = {
            .head = "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nPlimsoll-Request-Id: {id}\r\n",
            .body = tails[i],
        };
        client_case c;
        client_case_step(&c, &step);
        if (i == 0)
            expect_answered(&c);
        else
            expect_unanswered(&c, CS_CODE_UNANSWERED_MALFORMED, true);
        client_case_end(&c);
    }
}

/* ---- sizes ---------------------------------------------------------------------------------------- */

Test(client_transport, a_body_of_exactly_the_maximum) {
    client_case c = {.steps = &good, .count = 1, .config.max_answer = sizeof CASE_BODY - 1};
    client_case_run(&c);
    expect_answered(&c);
    client_case_end(&c);
}

Test(client_transport, a_stated_length_over_the_maximum) {
    client_case c = {.steps = &good, .count = 1, .config.max_answer = sizeof CASE_BODY - 2};
    client_case_run(&c);
    expect_unanswered(&c, CS_CODE_UNANSWERED_TOO_LARGE, true);
    client_case_end(&c);
}

Test(client_transport, an_endless_body) {
    static const char zeros[1000] = {0};
    const peer_step step = {
        .head = "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nPlimsoll-Request-Id: {id}\r\n\r\n",
        .body = CASE_BYTES(zeros),
        .end = PEER_FLOOD,
    };
    client_case c = {.steps = &step, .count = 1, .config.max_answer = 5000};
    client_case_run(&c);
    expect_unanswered(&c, CS_CODE_UNANSWERED_TOO_LARGE, true);
    cr_expect_eq(c.outcome.raw.len, 5000);
    client_case_end(&c);
}

/* Filler headers of `lines` kilobytes in a good answer. */
static void long_headers(size_t lines, client_case *c) {
    char line[1024 + 1];
    memset(line, 'x', sizeof line - 1);
    memcpy(line, "X: ", 3);
    memcpy(line + sizeof line - 3, "\r\n", 3);
    cs_buf head = CS_BUF_INIT(1u << 20);
    bool fine = cs_buf_text(&head, "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\n");
    for (size_t i = 0; i < lines; i++)
        fine = fine && cs_buf_text(&head, line);
    fine = fine && cs_buf_text(&head, "Plimsoll-Request-Id: {id}\r\nContent-Length: {length}\r\n\r\n") &&
           cs_buf_byte(&head, 0);
    cr_assert(fine);
    const peer_step step = {.head = (const char *)head.ptr, .body = CASE_BYTES(CASE_BODY)};
    client_case_step(c, &step);
    cs_buf_free(&head);
}

Test(client_transport, headers_below_the_limit) {
    client_case c;
    long_headers(60, &c);
    expect_answered(&c);
    client_case_end(&c);
}

Test(client_transport, headers_over_the_limit) {
    client_case c;
    long_headers(64, &c);
    expect_unanswered(&c, CS_CODE_UNANSWERED_TOO_LARGE, true);
    client_case_end(&c);
}

/* ---- before the request left ---------------------------------------------------------------------- */

Test(client_transport, nobody_listens) {
    /* Bound, so that nobody else gets the port, but not listening. */
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, size), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    char url[64];
    (void)snprintf(url, sizeof url, "http://127.0.0.1:%u", (unsigned)ntohs(address.sin_port));
    client_case c = {.url = url};
    client_case_run(&c);
    expect_unsent(&c, CS_CODE_UNSENT_CONNECT);
    client_case_end(&c);
    close(fd);
}

/* A label of more than 63 characters can't be looked up, with or without a network. */
Test(client_transport, a_name_that_does_not_resolve) {
    client_case c = {
        .url = "http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid:8746",
        .config.allow_cleartext = true,
    };
    client_case_run(&c);
    expect_unsent(&c, CS_CODE_UNSENT_LOOKUP);
    client_case_end(&c);
}

Test(client_transport, localhost_needs_no_lookup) {
    peer *p = peer_start(&good, 1, NULL);
    cr_assert_not_null(p);
    char url[64];
    (void)snprintf(url, sizeof url, "http://LocalHost%s", strrchr(peer_url(p), ':'));
    client_case c = {.url = url};
    client_case_run(&c);
    expect_answered(&c);
    peer_stop(p);
    cr_expect_eq(peer_connections(p), 1);
    client_case_end(&c);
    peer_free(p);
}

static void with_tls(client_case *c, const char *trusted_instead) {
    char folder[] = "/tmp/cs-tls-XXXXXX";
    cr_assert_not_null(mkdtemp(folder));
    char own[64];
    char other[64];
    (void)snprintf(own, sizeof own, "%s/own.pem", folder);
    (void)snprintf(other, sizeof other, "%s/other.pem", folder);
    SSL_CTX *tls = tls_self_signed(own);
    SSL_CTX *stranger = tls_self_signed(other);
    cr_assert(tls != NULL && stranger != NULL);
    c->tls = tls;
    if (strcmp(trusted_instead, "own") == 0) c->config.ca_file = own;
    if (strcmp(trusted_instead, "other") == 0) c->config.ca_file = other;
    if (strcmp(trusted_instead, "missing") == 0) c->config.ca_file = "/nonexistent/ca.pem";
    client_case_run(c);
    unlink(own);
    unlink(other);
    rmdir(folder);
    SSL_CTX_free(tls);
    SSL_CTX_free(stranger);
}

Test(client_transport, a_certificate_that_is_trusted) {
    client_case c = {.steps = &good, .count = 1};
    with_tls(&c, "own");
    expect_answered(&c);
    client_case_end(&c);
}

Test(client_transport, certificates_that_are_not_trusted) {
    static const char *const trusted[] = {"system", "other", "missing"};
    for (size_t i = 0; i < sizeof trusted / sizeof *trusted; i++) {
        client_case c = {.steps = &good, .count = 1};
        with_tls(&c, trusted[i]);
        expect_unsent(&c, CS_CODE_UNSENT_TLS);
        const peer_request *seen = peer_seen(c.peer, 0);
        cr_expect(seen == NULL || seen->head[0] == '\0', "%s", trusted[i]);
        client_case_end(&c);
    }
}

static void https_to_plain(const peer_step *step, client_case *c) {
    peer *p = peer_start(step, 1, NULL);
    cr_assert_not_null(p);
    char url[64];
    (void)snprintf(url, sizeof url, "https%s", strchr(peer_url(p), ':'));
    c->url = url;
    client_case_run(c);
    peer_free(p);
}

Test(client_transport, https_to_a_plain_server) {
    const peer_step step = {.unread = true, .head = "HTTP/1.1 400 Bad Request\r\n\r\n"};
    client_case c = {0};
    https_to_plain(&step, &c);
    expect_unsent(&c, CS_CODE_UNSENT_TLS);
    client_case_end(&c);
}

Test(client_transport, a_handshake_that_stalls) {
    const peer_step step = {.unread = true, .end = PEER_STALL};
    client_case c = {.config.connect_timeout_ms = SHORT_MS};
    https_to_plain(&step, &c);
    expect_unsent(&c, CS_CODE_UNSENT_TIMEOUT);
    client_case_end(&c);
}

/* ---- the environment ------------------------------------------------------------------------------ */

Test(client_transport, proxies_of_the_environment_are_not_used) {
    static const char *const names[] = {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        cr_assert_eq(setenv(names[i], "http://127.0.0.1:1", 1), 0);
    client_case c;
    client_case_step(&c, &good);
    expect_answered(&c);
    client_case_end(&c);
}
