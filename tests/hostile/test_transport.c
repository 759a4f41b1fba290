/* Connections that break, and answers that do not come. Nothing is ever asked twice. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/hostile/hostile.h"
#include "tests/support/canon.h"

#define SHORT_MS 1000 /* for what never comes; nothing is measured, and what does come has to be there by then */

#define LOST(how) .silent = true, .end = (how), UNANSWERED(CONNECTION), .kept = KEPT_NOTHING

/* ---- no answer ------------------------------------------------------------------------------------ */

/* A reset waits for the first byte of the request: before that, nothing has left. */
static const play losses[] = {
    {"closed without reading", .unread = true, LOST(PEER_CLOSE)},
    {"reset at the first byte", .enough = 1, LOST(PEER_RESET)},
    {"closed while reading", .enough = 50, LOST(PEER_CLOSE)},
    {"reset while reading", .enough = 50, LOST(PEER_RESET)},
    {"closed after reading", LOST(PEER_CLOSE)},
    {"reset after reading", LOST(PEER_RESET)},
};

Test(hostile_transport, lost_without_an_answer) {
    hostile(&(group){.at = AT_ALL, PLAYS(losses)});
}

/* The largest code that a request may have. */
static void large_request(sample *s) {
    static char code[262144 + 1];
    memset(code, 'x', sizeof code - 1);
    canon_set(&s->request->javascript->code, code);
}

Test(hostile_transport, lost_while_a_large_request_leaves) {
    hostile(&(group){.at = AT_RUN, .prepare = large_request, PLAYS(losses)});
}

/* ---- parts of an answer --------------------------------------------------------------------------- */

/* The head ends behind `text`, and no body follows. */
static void end_head_behind(stage *st, const char *text) {
    cs_buf *head = &st->heads[st->attacked];
    const uint8_t *at = memmem(head->ptr, head->len, text, strlen(text));
    cr_assert_not_null(at);
    head->len = (size_t)(at - head->ptr) + strlen(text);
    st->body_in_head = true;
}

static void end_in_version(stage *st) {
    end_head_behind(st, "HTTP/1.");
}

static void end_in_status(stage *st) {
    end_head_behind(st, "HTTP/1.1 20");
}

static void end_behind_status(stage *st) {
    end_head_behind(st, H_STATUS);
}

static void end_in_header(stage *st) {
    end_head_behind(st, "Content-Len");
}

static void end_behind_header(stage *st) {
    end_head_behind(st, H_BINARY H_ID);
}

static void end_before_empty_line(stage *st) {
    end_head_behind(st, H_LENGTH);
}

static void reset_in_header(stage *st) {
    end_in_header(st);
    st->steps[st->attacked].end = PEER_RESET;
}

static const play heads[] = {
    {"in the version", .alter = end_in_version, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
    {"in the status", .alter = end_in_status, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
    {"behind the status line", .alter = end_behind_status, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
    {"in a header", .alter = end_in_header, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
    {"reset in a header", .alter = reset_in_header, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
    {"between headers", .alter = end_behind_header, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
    {"before the empty line", .alter = end_before_empty_line, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
};

Test(hostile_transport, heads_that_end_early) {
    hostile(&(group){.at = AT_ALL, PLAYS(heads)});
}

/* The same for a refusal: the mark has come, but not the whole of the answer. */
Test(hostile_transport, marked_heads_that_end_early) {
    static const play marked[] = {
        {"in a header", .alter = end_in_header, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
        {"before the empty line", .alter = end_before_empty_line, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
    };
    hostile(&(group){.at = AT_ALL,
                     .head = "HTTP/1.1 503 Busy\r\n" H_ID "Plimsoll-Not-Dispatched: capacity\r\n" H_LENGTH H_END,
                     .body = "busy",
                     REFUSED(CAPACITY),
                     PLAYS(marked)});
}

/* The length is promised, and this much of it comes. */
static void send_none(stage *st) {
    stage_promise(st, st->bodies[st->attacked].len);
    st->bodies[st->attacked].len = 0;
}

static void send_half(stage *st) {
    stage_promise(st, st->bodies[st->attacked].len);
    st->bodies[st->attacked].len /= 2;
}

static void send_all_but_one(stage *st) {
    stage_promise(st, st->bodies[st->attacked].len);
    st->bodies[st->attacked].len--;
}

static const play bodies[] = {
    {"closed behind the head", .alter = send_none, UNANSWERED(CONNECTION)},
    {"reset behind the head", .alter = send_none, .end = PEER_RESET, UNANSWERED(CONNECTION)},
    {"closed half-way", .alter = send_half, UNANSWERED(CONNECTION)},
    {"closed before the last byte", .alter = send_all_but_one, UNANSWERED(CONNECTION)},
    {"reset half-way", .alter = send_half, .end = PEER_RESET, UNANSWERED(CONNECTION), .kept = KEPT_SOME},
};

Test(hostile_transport, bodies_that_end_early) {
    hostile(&(group){.at = AT_ALL, PLAYS(bodies)});
}

/* A connection that is reset once everything has come takes nothing back. */
Test(hostile_transport, marked_bodies_that_end_early) {
    static const play marked[] = {
        {"closed half-way", .alter = send_half, UNANSWERED(CONNECTION)},
        {"closed before the last byte", .alter = send_all_but_one, UNANSWERED(CONNECTION)},
    };
    hostile(&(group){.at = AT_ALL,
                     .head = "HTTP/1.1 503 Busy\r\n" H_ID "Plimsoll-Not-Dispatched: capacity\r\n" H_LENGTH H_END,
                     .body = "busy",
                     REFUSED(CAPACITY),
                     PLAYS(marked)});
}

/* ---- what is no HTTP ------------------------------------------------------------------------------ */

#define WHOLE_HEAD H_STATUS H_BINARY H_ID H_LENGTH H_END

static void be_interim(stage *st) {
    cs_buf *head = &st->heads[st->attacked];
    cs_buf_clear(head);
    cr_assert(cs_buf_text(head, "HTTP/1.1 103 Early Hints\r\n" H_ID "\r\n"));
    st->body_in_head = true;
}

static const play others[] = {
    {"SSH", HEAD(WHOLE_HEAD, "SSH-2.0-OpenSSH_9.2\r\n"), UNANSWERED(MALFORMED), .kept = KEPT_NOTHING},
    {"HTTP/0.9", HEAD(WHOLE_HEAD, ""), UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
    {"HTTP/3", HEAD("HTTP/1.1 200 OK", "HTTP/3 200"), UNANSWERED(MALFORMED), .kept = KEPT_NOTHING},
    {"no status", HEAD("HTTP/1.1 200 OK", "HTTP/1.1"), UNANSWERED(MALFORMED), .kept = KEPT_NOTHING},
    {"another protocol", HEAD("HTTP/1.1 200 OK", "ICY 200 OK"), UNANSWERED(MALFORMED), .kept = KEPT_NOTHING},
    {"switching protocols", HEAD(H_STATUS, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n"),
     UNANSWERED(CONNECTION)},
    {"a body behind an interim answer", HEAD("200 OK", "103 Early Hints"), UNANSWERED(MALFORMED), .kept = KEPT_NOTHING},
    {"only an interim answer", .alter = be_interim, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
};

Test(hostile_transport, what_is_no_http) {
    hostile(&(group){.at = AT_ALL, PLAYS(others)});
}

/* ---- time ----------------------------------------------------------------------------------------- */

static const play late[] = {
    {"no answer", .silent = true, .end = PEER_STALL, UNANSWERED(TIMEOUT), .kept = KEPT_NOTHING},
    {"no reading", .silent = true, .unread = true, .end = PEER_STALL, UNANSWERED(TIMEOUT), .kept = KEPT_NOTHING},
    {"a head without an end", .alter = end_in_header, .end = PEER_STALL, UNANSWERED(TIMEOUT), .kept = KEPT_NOTHING},
    {"a body without an end", .alter = send_half, .end = PEER_STALL, UNANSWERED(TIMEOUT)},
    {"a byte now and then", .end = PEER_DRIP, UNANSWERED(TIMEOUT), .kept = KEPT_SOME},
};

Test(hostile_transport, answers_that_do_not_come_in_time) {
    hostile(&(group){.at = AT_ALL, .config.timeout_ms = SHORT_MS, PLAYS(late)});
}

/* A marked answer is no answer until it is all there. */
Test(hostile_transport, a_refusal_that_does_not_come_in_time) {
    static const play marked[] = {
        {"a body without an end", .alter = send_half, .end = PEER_STALL, UNANSWERED(TIMEOUT)},
    };
    hostile(&(group){.at = AT_ALL,
                     .config.timeout_ms = SHORT_MS,
                     .head = "HTTP/1.1 503 Busy\r\n" H_ID "Plimsoll-Not-Dispatched: capacity\r\n" H_LENGTH H_END,
                     .body = "busy",
                     REFUSED(CAPACITY),
                     PLAYS(marked)});
}

/* ---- nobody there --------------------------------------------------------------------------------- */

static void die_before(stage *st) {
    st->steps[st->attacked - 1].end = PEER_DIE;
}

static const play deaths[] = {
    {"died after the call before", .alter = die_before, UNSENT(CONNECT), .lost = 1},
};

Test(hostile_transport, a_daemon_that_dies) {
    hostile(&(group){.at = AT_RUN | AT_AFTER, PLAYS(deaths)});
}

/* Bound, so that nobody else gets the port, but not listening. */
static void be_refused(stage *st) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    const int fd = *(const int *)st->held;
    cr_assert_eq(bind(fd, (struct sockaddr *)&address, size) == 0 || errno == EINVAL, true);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    (void)snprintf(st->url, sizeof st->url, "http://127.0.0.1:%u", (unsigned)ntohs(address.sin_port));
}

/* A label of more than 63 characters can't be looked up, with or without a network. */
#define LABEL_70 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
static void be_unknown(stage *st) {
    st->config.allow_cleartext = true;
    (void)snprintf(st->url, sizeof st->url, "http://" LABEL_70 ".invalid:8746");
}

static const play nobody[] = {
    {"nobody listens", .alter = be_refused, UNSENT(CONNECT), .lost = 1},
    {"no such name", .alter = be_unknown, UNSENT(LOOKUP), .lost = 1},
};

Test(hostile_transport, nobody_there) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_geq(fd, 0);
    hostile(&(group){.at = AT_BEFORE, .held = &fd, PLAYS(nobody)});
    close(fd);
}
