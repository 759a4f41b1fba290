/* Answers with status 200: one that is believed, and each with one thing changed. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/harness/client_case.h"

#define STATUS "HTTP/1.1 200 OK\r\n"
#define TYPE "Content-Type: application/proto\r\n"
#define ID "Plimsoll-Request-Id: {id}\r\n"
#define LENGTH "Content-Length: {length}\r\n"
#define END "\r\n"

typedef struct success_case {
    const char *what;
    const char *head;
    cs_view body;
    cs_code code; /* CS_CODE_OK: answered */
} success_case;

static void check(const success_case *cases, size_t count, cs_codec codec) {
    for (size_t i = 0; i < count; i++) {
        const success_case *want = &cases[i];
        const peer_step step = {.head = want->head, .body = want->body};
        client_case c = {.steps = &step, .count = 1, .config.codec = codec};
        client_case_run(&c);
        const bool answered = want->code == CS_CODE_OK;
        cr_expect_eq(c.outcome.err.code, want->code, "%s: %s (%s)", want->what, cs_code_name(c.outcome.err.code),
                     c.outcome.err.message);
        cr_expect_eq(c.outcome.state, answered ? CS_CALL_ANSWERED : CS_CALL_UNANSWERED, "%s", want->what);
        cr_expect_eq(c.result, answered ? CS_OK : CS_MAYBE_RAN, "%s", want->what);
        cr_expect_eq(c.outcome.bound, want->code != CS_CODE_UNANSWERED_UNBOUND, "%s", want->what);
        cr_expect(c.outcome.http && c.outcome.http_status == 200, "%s", want->what);
        cr_expect_eq(c.outcome.message != NULL, answered, "%s", want->what);
        cr_expect(cs_view_is(cs_buf_view(&c.outcome.bytes), answered ? CASE_BODY : ""), "%s", want->what);
        cr_expect_eq(peer_connections(c.peer), 1, "%s", want->what);
        client_case_end(&c);
    }
}

Test(client_success, bound_answer_is_decoded) {
    const peer_step step = {.head = CASE_HEAD, .body = CASE_BYTES(CASE_BODY)};
    client_case c;
    client_case_step(&c, &step);
    cr_assert_eq(c.result, CS_OK, "%s", c.outcome.err.message);
    cr_expect_eq(c.outcome.err.code, CS_CODE_OK);
    cr_expect(cs_view_is(cs_buf_view(&c.outcome.raw), CASE_BODY));
    cr_assert_not_null(c.outcome.message);
    cr_expect_eq(c.outcome.message->descriptor, &plimsoll__v1__run_response__descriptor);
    cr_expect(cs_view_is(cs_bytes_view(&((cs_run_response *)c.outcome.message)->sandbox), "s"));
    cr_expect(c.outcome.sent_unix_ms > 1600000000000 && c.outcome.received_unix_ms >= c.outcome.sent_unix_ms);
    client_case_end(&c);
}

Test(client_success, the_request_id_binds) {
    static const success_case cases[] = {
        {"as sent", STATUS TYPE ID LENGTH END, CASE_BYTES(CASE_BODY), CS_CODE_OK},
        {"name in other case", STATUS TYPE "pLIMSOLL-request-ID: {id}\r\n" LENGTH END, CASE_BYTES(CASE_BODY),
         CS_CODE_OK},
        {"no id", STATUS TYPE LENGTH END, CASE_BYTES(CASE_BODY), CS_CODE_UNANSWERED_UNBOUND},
        {"empty", STATUS TYPE "Plimsoll-Request-Id:\r\n" LENGTH END, CASE_BYTES(CASE_BODY), CS_CODE_UNANSWERED_UNBOUND},
        {"another", STATUS TYPE "Plimsoll-Request-Id: 00112233445566778899aabbccddeeff\r\n" LENGTH END,
         CASE_BYTES(CASE_BODY), CS_CODE_UNANSWERED_UNBOUND},
        {"one digit more", STATUS TYPE "Plimsoll-Request-Id: {id}0\r\n" LENGTH END, CASE_BYTES(CASE_BODY),
         CS_CODE_UNANSWERED_UNBOUND},
        {"in capitals", STATUS TYPE "Plimsoll-Request-Id: {ID}\r\n" LENGTH END, CASE_BYTES(CASE_BODY),
         CS_CODE_UNANSWERED_UNBOUND},
        {"twice", STATUS TYPE ID ID LENGTH END, CASE_BYTES(CASE_BODY), CS_CODE_UNANSWERED_UNBOUND},
        {"twice, one wrong", STATUS TYPE ID "Plimsoll-Request-Id: x\r\n" LENGTH END, CASE_BYTES(CASE_BODY),
         CS_CODE_UNANSWERED_UNBOUND},
        {"a list", STATUS TYPE "Plimsoll-Request-Id: {id}, {id}\r\n" LENGTH END, CASE_BYTES(CASE_BODY),
         CS_CODE_UNANSWERED_UNBOUND},
    };
    check(cases, sizeof cases / sizeof *cases, CS_CODEC_BINARY);
}

/* Only the final answer's own header counts, neither an interim answer's nor a trailer. */
Test(client_success, only_the_final_header_binds) {
#define CHUNKED "Transfer-Encoding: chunked\r\n" END "3\r\n" CASE_BODY "\r\n0\r\n"
    static const success_case cases[] = {
        {"interim answer first", "HTTP/1.1 103 Early Hints\r\n\r\n" STATUS TYPE ID LENGTH END, CASE_BYTES(CASE_BODY),
         CS_CODE_OK},
        {"interim answer has an id too", "HTTP/1.1 103 Early Hints\r\n" ID "\r\n" STATUS TYPE ID LENGTH END,
         CASE_BYTES(CASE_BODY), CS_CODE_OK},
        {"only the interim answer has it", "HTTP/1.1 103 Early Hints\r\n" ID "\r\n" STATUS TYPE LENGTH END,
         CASE_BYTES(CASE_BODY), CS_CODE_UNANSWERED_UNBOUND},
        {"chunked", STATUS TYPE ID CHUNKED "\r\n", {0}, CS_CODE_OK},
        {"only a trailer has it", STATUS TYPE CHUNKED ID "\r\n", {0}, CS_CODE_UNANSWERED_UNBOUND},
    };
    check(cases, sizeof cases / sizeof *cases, CS_CODEC_BINARY);
}

Test(client_success, type_and_encoding) {
    static const success_case cases[] = {
        {"type in other case", STATUS "Content-Type: Application/PROTO\r\n" ID LENGTH END, CASE_BYTES(CASE_BODY),
         CS_CODE_OK},
        {"no type", STATUS ID LENGTH END, CASE_BYTES(CASE_BODY), CS_CODE_UNANSWERED_MALFORMED},
        {"HTML", STATUS "Content-Type: text/html\r\n" ID LENGTH END, CASE_BYTES(CASE_BODY),
         CS_CODE_UNANSWERED_MALFORMED},
        {"the other codec", STATUS "Content-Type: application/json\r\n" ID LENGTH END, CASE_BYTES(CASE_BODY),
         CS_CODE_UNANSWERED_MALFORMED},
        {"longer type", STATUS "Content-Type: application/proto-x\r\n" ID LENGTH END, CASE_BYTES(CASE_BODY),
         CS_CODE_UNANSWERED_MALFORMED},
        {"parameter", STATUS "Content-Type: application/proto; charset=utf-8\r\n" ID LENGTH END, CASE_BYTES(CASE_BODY),
         CS_CODE_UNANSWERED_MALFORMED},
        {"type twice", STATUS TYPE TYPE ID LENGTH END, CASE_BYTES(CASE_BODY), CS_CODE_UNANSWERED_MALFORMED},
        {"identity", STATUS TYPE "Content-Encoding: identity\r\n" ID LENGTH END, CASE_BYTES(CASE_BODY), CS_CODE_OK},
        {"gzip", STATUS TYPE "Content-Encoding: gzip\r\n" ID LENGTH END, CASE_BYTES(CASE_BODY),
         CS_CODE_UNANSWERED_MALFORMED},
    };
    check(cases, sizeof cases / sizeof *cases, CS_CODEC_BINARY);
}

Test(client_success, json) {
#define JSON_TYPE "Content-Type: application/json\r\n"
    static const success_case cases[] = {
        {"plain", STATUS JSON_TYPE ID LENGTH END, CASE_BYTES(CASE_JSON), CS_CODE_OK},
        {"charset", STATUS "Content-Type: application/json; charset=UTF-8\r\n" ID LENGTH END, CASE_BYTES(CASE_JSON),
         CS_CODE_OK},
        {"quoted charset", STATUS "Content-Type: application/json;charset=\"utf-8\"\r\n" ID LENGTH END,
         CASE_BYTES(CASE_JSON), CS_CODE_OK},
        {"other charset", STATUS "Content-Type: application/json; charset=utf-16\r\n" ID LENGTH END,
         CASE_BYTES(CASE_JSON), CS_CODE_UNANSWERED_MALFORMED},
        {"unclosed charset", STATUS "Content-Type: application/json;charset=\"utf-8\r\n" ID LENGTH END,
         CASE_BYTES(CASE_JSON), CS_CODE_UNANSWERED_MALFORMED},
        {"the other codec", STATUS TYPE ID LENGTH END, CASE_BYTES(CASE_JSON), CS_CODE_UNANSWERED_MALFORMED},
        {"unknown member", STATUS JSON_TYPE ID LENGTH END, CASE_BYTES("{\"sandbox\":\"s\",\"sandboy\":1}"),
         CS_CODE_UNANSWERED_MALFORMED},
        {"cut short", STATUS JSON_TYPE ID LENGTH END, CASE_BYTES("{\"sandbox\":\"s\""), CS_CODE_UNANSWERED_MALFORMED},
        {"no id", STATUS JSON_TYPE LENGTH END, CASE_BYTES(CASE_JSON), CS_CODE_UNANSWERED_UNBOUND},
    };
    check(cases, sizeof cases / sizeof *cases, CS_CODEC_JSON);
}

Test(client_success, a_body_that_is_no_message_is_kept) {
    const peer_step step = {.head = CASE_HEAD, .body = CASE_BYTES("\x0a\x02s")};
    client_case c;
    client_case_step(&c, &step);
    cr_expect_eq(c.result, CS_MAYBE_RAN);
    cr_expect_eq(c.outcome.err.code, CS_CODE_UNANSWERED_MALFORMED);
    cr_expect_null(c.outcome.message);
    cr_expect(cs_view_is(cs_buf_view(&c.outcome.raw), "\x0a\x02s"));
    client_case_end(&c);
}
