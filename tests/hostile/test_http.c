/* HTTP itself: lengths, framing, types, sizes. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hostile/hostile.h"

#define INTERIM "HTTP/1.1 103 Early Hints\r\n"

/* ---- headers that change nothing, and headers that do --------------------------------------------- */

static const play types[] = {
    {"in another case", HEAD(H_BINARY, "content-TYPE: Application/PROTO\r\n"), PASSES},
    {"none", HEAD(H_BINARY, ""), UNANSWERED(MALFORMED)},
    {"HTML", HEAD(H_BINARY, "Content-Type: text/html\r\n"), UNANSWERED(MALFORMED)},
    {"JSON", HEAD(H_BINARY, H_JSON), UNANSWERED(MALFORMED)},
    {"a longer one", HEAD("application/proto", "application/protobuf"), UNANSWERED(MALFORMED)},
    {"streaming", HEAD("application/proto", "application/connect+proto"), UNANSWERED(MALFORMED)},
    {"a parameter", HEAD("application/proto", "application/proto; charset=utf-8"), UNANSWERED(MALFORMED)},
    {"twice", HEAD(H_BINARY, H_BINARY H_BINARY), UNANSWERED(MALFORMED)},
    {"two of them", HEAD(H_BINARY, H_BINARY H_JSON), UNANSWERED(MALFORMED)},
    {"bytes that are not ASCII", HEAD("application/proto", "application/\xff\x1b[2J"), UNANSWERED(MALFORMED)},
};

Test(hostile_http, content_types) {
    hostile(&(group){.at = AT_ALL, PLAYS(types)});
}

static const play harmless[] = {
    {"HTTP/1.0", HEAD("HTTP/1.1", "HTTP/1.0"), PASSES},
    {"no reason phrase", HEAD("200 OK", "200"), PASSES},
    {"another reason phrase", HEAD("200 OK", "200 Internal Server Error"), PASSES},
    {"kept alive", HEAD(H_ID, H_ID "Connection: keep-alive\r\nKeep-Alive: timeout=60\r\n"), PASSES},
    {"identity", HEAD(H_ID, H_ID "Content-Encoding: identity\r\n"), PASSES},
    {"cookies", HEAD(H_ID, H_ID "Set-Cookie: a=b; Path=/\r\n"), PASSES},
    {"another service", HEAD(H_ID, H_ID "Alt-Svc: h2=\":443\"; ma=99\r\n"), PASSES},
    {"upgrade offered", HEAD(H_ID, H_ID "Upgrade: h2c\r\nConnection: Upgrade\r\n"), PASSES},
    {"refresh", HEAD(H_ID, H_ID "Refresh: 0; url={elsewhere}\r\n"), PASSES},
    {"a location", HEAD(H_ID, H_ID "Location: {elsewhere}\r\n"), PASSES},
    {"interim answers", HEAD(H_STATUS, "HTTP/1.1 100 Continue\r\n\r\n" INTERIM "\r\n" INTERIM "\r\n" H_STATUS), PASSES},
};

Test(hostile_http, headers_that_change_nothing) {
    hostile(&(group){.at = AT_ALL, PLAYS(harmless)});
}

/* ---- encodings ------------------------------------------------------------------------------------ */

/* 100,000 zeros in 132 bytes of gzip. The answer may have 5000 bytes, so undoing it would break that. */
#define ZEROS_8 "\0\0\0\0\0\0\0\0"
#define ZEROS_96 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8 ZEROS_8
#define GZIP_BOMB                                                                                                      \
    "\x1f\x8b\x08\0\0\0\0\0\x02\xff\xed\xc1\x31\x01\0\0\0\xc2\xa0\xf5\x4f\x6d\x0d\x0f\xa0" ZEROS_96                    \
    "\x80\x57\x03\x7d\x95\x11\xd4\xa0\x86\x01\0"

static void be_a_bomb(stage *st) {
    cs_buf *body = &st->bodies[st->attacked];
    cs_buf_clear(body);
    cr_assert(cs_buf_append(body, GZIP_BOMB, sizeof GZIP_BOMB - 1));
}

static const play encodings[] = {
    {"gzip", HEAD(H_ID, H_ID "Content-Encoding: gzip\r\n"), UNANSWERED(MALFORMED)},
    {"deflate", HEAD(H_ID, H_ID "Content-Encoding: deflate\r\n"), UNANSWERED(MALFORMED)},
    {"brotli", HEAD(H_ID, H_ID "Content-Encoding: br\r\n"), UNANSWERED(MALFORMED)},
    {"two", HEAD(H_ID, H_ID "Content-Encoding: identity, gzip\r\n"), UNANSWERED(MALFORMED)},
    {"twice", HEAD(H_ID, H_ID "Content-Encoding: identity\r\nContent-Encoding: gzip\r\n"), UNANSWERED(MALFORMED)},
    {"unknown", HEAD(H_ID, H_ID "Content-Encoding: x-rot13\r\n"), UNANSWERED(MALFORMED)},
};

Test(hostile_http, encodings) {
    hostile(&(group){.at = AT_ALL, .config.max_answer = 5000, PLAYS(encodings)});
}

/* It is kept as it came, in 132 bytes. */
static const play bombs[] = {
    {"a bomb", .alter = be_a_bomb, UNANSWERED(MALFORMED)},
};

Test(hostile_http, a_bomb_is_not_set_off) {
    hostile(&(group){.at = AT_ALL,
                     .config.max_answer = 5000,
                     .head = H_STATUS H_BINARY "Content-Encoding: gzip\r\n" H_ID H_LENGTH H_END,
                     UNANSWERED(MALFORMED),
                     PLAYS(bombs)});
}

/* ---- lengths -------------------------------------------------------------------------------------- */

static void send_as(stage *st, const cs_buf *part) {
    cr_assert(cs_buf_append(&st->framed, part->ptr, part->len));
}

static void promise_one_more(stage *st) {
    stage_promise(st, st->bodies[st->attacked].len + 1);
}

/* What is sent stays whole, and what is kept is what was promised. */
static void promise_one_less(stage *st) {
    send_as(st, &st->bodies[st->attacked]);
    stage_promise(st, --st->bodies[st->attacked].len);
}

static void drop_a_byte(stage *st) {
    st->bodies[st->attacked].len--;
}

/* More behind the answer: a second one, which nobody asked for. */
static void answer_twice(stage *st) {
    stage_promise(st, st->bodies[st->attacked].len);
    send_as(st, &st->bodies[st->attacked]);
    send_as(st, &st->heads[st->attacked]);
    send_as(st, &st->bodies[st->attacked]);
}

static const play lengths[] = {
    {"a byte too many is promised", .alter = promise_one_more, UNANSWERED(CONNECTION)},
    {"a byte too few is promised", .alter = promise_one_less, UNANSWERED(MALFORMED)},
    {"far too many are promised", HEAD("{length}", "30000000"), UNANSWERED(CONNECTION)},
    {"a byte is missing", .alter = drop_a_byte, UNANSWERED(MALFORMED)},
    {"the connection tells the length", HEAD(H_LENGTH, ""), PASSES},
    {"a second answer behind it", .alter = answer_twice, PASSES},
    {"no number", HEAD("{length}", "many"), UNANSWERED(MALFORMED), .kept = KEPT_NOTHING},
    {"negative", HEAD("{length}", "-1"), UNANSWERED(MALFORMED), .kept = KEPT_NOTHING},
    {"beyond 64 bits", HEAD("{length}", "99999999999999999999"), UNANSWERED(TOO_LARGE), .kept = KEPT_NOTHING},
    {"beyond what is accepted", HEAD("{length}", "33554433"), UNANSWERED(TOO_LARGE), .kept = KEPT_NOTHING},
};

Test(hostile_http, lengths) {
    hostile(&(group){.at = AT_ALL, PLAYS(lengths)});
}

/* ---- chunks --------------------------------------------------------------------------------------- */

#define CHUNKED_HEAD H_STATUS H_BINARY H_ID "Transfer-Encoding: chunked\r\n\r\n"

/* The whole body as one chunk, with this line for its length (NULL: the right one) and this end. */
static void chunk(stage *st, const char *length, const char *end) {
    const cs_buf *body = &st->bodies[st->attacked];
    cs_buf_clear(&st->framed);
    cr_assert(length != NULL ? cs_buf_text(&st->framed, length) : cs_buf_printf(&st->framed, "%zx", body->len));
    cr_assert(cs_buf_text(&st->framed, "\r\n"));
    send_as(st, body);
    cr_assert(cs_buf_text(&st->framed, end));
}

static void chunk_well(stage *st) {
    chunk(st, NULL, "\r\n0\r\n\r\n");
}

static void chunk_garbage(stage *st) {
    chunk(st, "zz", "\r\n0\r\n\r\n");
}

static void chunk_negative(stage *st) {
    chunk(st, "-1", "\r\n0\r\n\r\n");
}

static void chunk_overflow(stage *st) {
    chunk(st, "10000000000000000000000000000000f", "\r\n0\r\n\r\n");
}

static void chunk_without_end(stage *st) {
    chunk(st, NULL, "\r\n");
}

static void chunk_cut_at_end(stage *st) {
    chunk(st, NULL, "\r\n0\r\n");
}

static void chunk_too_long(stage *st) {
    chunk(st, "ffffff", "\r\n0\r\n\r\n");
    cr_assert(cs_buf_text(&st->bodies[st->attacked], "\r\n0\r\n\r\n")); /* is part of the chunk */
}

static void chunk_with_junk(stage *st) {
    chunk(st, NULL, "junk\r\n0\r\n\r\n");
}

static void chunk_then_garbage(stage *st) {
    chunk(st, NULL, "\r\nzz\r\n\r\n");
}

static void chunk_with_trailers(stage *st) {
    chunk(st, NULL, "\r\n0\r\nX: y\r\n\r\n");
}

/* Trailers bind nothing, and unbind nothing. */
static void chunk_with_other_id(stage *st) {
    chunk(st, NULL, "\r\n0\r\nPlimsoll-Request-Id: 00112233445566778899aabbccddeeff\r\n\r\n");
}

static void chunk_with_mark(stage *st) {
    chunk(st, NULL, "\r\n0\r\nPlimsoll-Not-Dispatched: capacity\r\n\r\n");
}

static const play chunks[] = {
    {"no number", .alter = chunk_garbage, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
    {"a negative length", .alter = chunk_negative, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
    {"a length beyond 64 bits", .alter = chunk_overflow, UNANSWERED(CONNECTION), .kept = KEPT_NOTHING},
    {"no last chunk", .alter = chunk_without_end, UNANSWERED(CONNECTION)},
    {"cut at the very end", .alter = chunk_cut_at_end, UNANSWERED(CONNECTION)},
    {"a chunk that is not there", .alter = chunk_too_long, UNANSWERED(CONNECTION)},
    {"junk behind a chunk", .alter = chunk_with_junk, UNANSWERED(CONNECTION)},
    {"no number later on", .alter = chunk_then_garbage, UNANSWERED(CONNECTION)},
    {"trailers", .alter = chunk_with_trailers, PASSES},
    {"a trailer with another id", .alter = chunk_with_other_id, PASSES},
    {"a trailer with a mark", .alter = chunk_with_mark, PASSES},
};

Test(hostile_http, chunks) {
    hostile(&(group){.at = AT_ALL, .head = CHUNKED_HEAD, .dress = chunk_well, PLAYS(chunks)});
}

/* Sent as part of the head, in which the id is put. No byte of the sample's messages is 0. */
static void chunk_with_id(stage *st) {
    cs_buf *head = &st->heads[st->attacked];
    chunk(st, NULL, "\r\n0\r\n" H_ID "\r\n");
    cr_assert_null(memchr(st->framed.ptr, 0, st->framed.len));
    cr_assert(cs_buf_append(head, st->framed.ptr, st->framed.len));
    st->body_in_head = true;
}

static const play unbound_chunks[] = {
    {"an id in a trailer only", .alter = chunk_with_id, UNANSWERED(UNBOUND)},
};

Test(hostile_http, trailers_do_not_bind) {
    hostile(&(group){.at = AT_ALL,
                     .head = H_STATUS H_BINARY "Transfer-Encoding: chunked\r\n\r\n",
                     .dress = chunk_well,
                     UNANSWERED(UNBOUND),
                     PLAYS(unbound_chunks)});
}

/* ---- sizes ---------------------------------------------------------------------------------------- */

static const play endless[] = {
    {"an endless body", .end = PEER_FLOOD, UNANSWERED(TOO_LARGE), .kept = 5000},
};

Test(hostile_http, an_endless_body) {
    hostile(&(group){.at = AT_ALL, .config.max_answer = 5000, .head = H_STATUS H_BINARY H_ID H_END, PLAYS(endless)});
}

/* So that the packed answer has exactly 32 MiB, the most that is accepted by default. */
static void fill_32_mib(sample *s) {
    ProtobufCBinaryData *out = &s->response->javascript->stdout;
    size_t len = (size_t)32 * 1024 * 1024;
    for (int i = 0; i < 3; i++) { /* lengths of lengths change, too */
        out->data = realloc(out->data, len);
        cr_assert_not_null(out->data);
        memset(out->data, 'x', len);
        out->len = len;
        size_t packed = protobuf_c_message_get_packed_size(&s->response->base);
        if (packed == (size_t)32 * 1024 * 1024) return;
        len -= packed - (size_t)32 * 1024 * 1024;
    }
    cr_assert_fail("the answer does not get 32 MiB");
}

static void one_byte_more(sample *s) {
    ProtobufCBinaryData *out = &s->response->javascript->stdout;
    out->data = realloc(out->data, out->len + 1);
    cr_assert_not_null(out->data);
    out->data[out->len++] = 'x';
}

static const play large[] = {
    {"a byte more", CHANGE(one_byte_more, SEAL_ALL), UNANSWERED(TOO_LARGE), .kept = KEPT_NOTHING},
};

static const play large_unannounced[] = {
    {"a byte more", CHANGE(one_byte_more, SEAL_ALL), UNANSWERED(TOO_LARGE), .kept = 33554432},
};

Test(hostile_http, an_answer_of_32_mib) {
    hostile(&(group){.at = AT_RUN, .prepare = fill_32_mib, PLAYS(large)});
    hostile(
        &(group){.at = AT_RUN, .prepare = fill_32_mib, .head = H_STATUS H_BINARY H_ID H_END, PLAYS(large_unannounced)});
}

/* ---- floods of headers ---------------------------------------------------------------------------- */

/* `times` copies of `text` before the line with the id. */
static void put_before_id(stage *st, const char *text, size_t times) {
    cs_buf *head = &st->heads[st->attacked];
    cs_buf flooded = CS_BUF_INIT((size_t)16 * 1024 * 1024);
    cr_assert(cs_buf_append(&flooded, H_STATUS, sizeof H_STATUS - 1));
    for (size_t i = 0; i < times; i++)
        cr_assert(cs_buf_text(&flooded, text));
    cr_assert(cs_buf_append(&flooded, head->ptr + sizeof H_STATUS - 1, head->len - (sizeof H_STATUS - 1)));
    cs_buf_free(head);
    *head = flooded;
}

static void some_headers(stage *st) {
    put_before_id(st, "X-Filler: 0123456789012345678901234567890123456789012345678901\r\n", 1000);
}

static void many_headers(stage *st) {
    some_headers(st);
    put_before_id(st, "X-Filler: 0123456789012345678901234567890123456789012345678901\r\n", 1000);
}

static void very_many_headers(stage *st) {
    put_before_id(st, "A:\r\n", 1000000);
}

/* One line of so many bytes. */
static void put_line(stage *st, size_t len) {
    char *line = malloc(len + 1);
    cr_assert_not_null(line);
    memset(line, 'x', len);
    line[1] = ':';
    (void)snprintf(line + len - 2, 3, "\r\n");
    put_before_id(st, line, 1);
    free(line);
}

static void long_line(stage *st) {
    put_line(st, 60000);
}

static void too_long_line(stage *st) {
    put_line(st, 70000);
}

static void far_too_long_line(stage *st) {
    put_line(st, 3000000);
}

/* Whole interim answers before the real one. */
static void put_interim(stage *st, size_t times) {
    cs_buf *head = &st->heads[st->attacked];
    cs_buf flooded = CS_BUF_INIT((size_t)16 * 1024 * 1024);
    for (size_t i = 0; i < times; i++)
        cr_assert(cs_buf_text(&flooded, INTERIM "\r\n"));
    cr_assert(cs_buf_append(&flooded, head->ptr, head->len));
    cs_buf_free(head);
    *head = flooded;
}

static void some_interim(stage *st) {
    put_interim(st, 100);
}

static void many_interim(stage *st) {
    put_interim(st, 100000);
}

static const play floods[] = {
    {"many headers that fit", .alter = some_headers, PASSES},
    {"twice as many headers", .alter = many_headers, UNANSWERED(TOO_LARGE), .kept = KEPT_NOTHING},
    {"a million headers", .alter = very_many_headers, UNANSWERED(TOO_LARGE), .kept = KEPT_NOTHING},
    {"a long line that fits", .alter = long_line, PASSES},
    {"a line that is too long", .alter = too_long_line, UNANSWERED(TOO_LARGE), .kept = KEPT_NOTHING},
    {"a line that is far too long", .alter = far_too_long_line, UNANSWERED(TOO_LARGE), .kept = KEPT_NOTHING},
    {"some interim answers", .alter = some_interim, PASSES},
    {"a flood of interim answers", .alter = many_interim, UNANSWERED(TOO_LARGE), .kept = KEPT_NOTHING},
};

Test(hostile_http, floods_of_headers) {
    hostile(&(group){.at = AT_ALL, PLAYS(floods)});
}
