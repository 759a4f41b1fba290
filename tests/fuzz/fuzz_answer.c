/* What a client makes of an answer. How often each header stands there (2 bits each), codec and status;
 * then the values of the four headers, each up to a newline, then the body. */
#include <stdio.h>
#include <string.h>

#include "harness/client_internal.h"
#include "tests/fuzz/fuzz.h"

#define REQUEST_ID "0123456789abcdef0123456789abcdef"

static const int statuses[] = {200, 200, 400, 401, 403, 404, 429, 500, 502, 503, 204, 302};
static const cs_code transports[] = {CS_CODE_OK,
                                     CS_CODE_OK,
                                     CS_CODE_UNSENT_TLS,
                                     CS_CODE_UNSENT_OTHER,
                                     CS_CODE_UNSENT_LOOKUP,
                                     CS_CODE_UNANSWERED_TIMEOUT,
                                     CS_CODE_UNANSWERED_CONNECTION,
                                     CS_CODE_UNANSWERED_TOO_LARGE};

#define PICK(table, number) ((table)[(number) % (sizeof(table) / sizeof *(table))])

static void take_header(cs_view *rest, unsigned count, cs_header *out) {
    const uint8_t *end = rest->len > 0 ? memchr(rest->ptr, '\n', rest->len) : NULL;
    size_t len = end != NULL ? (size_t)(end - rest->ptr) : rest->len;
    *out = (cs_header){.count = count % 4};
    if (out->count == 1 && len < sizeof out->value && len > 0) memcpy(out->value, rest->ptr, len);
    size_t used = end != NULL ? len + 1 : len;
    *rest = cs_view_bytes(rest->ptr + used, rest->len - used);
}

static void check(const cs_client *client, const cs_exchange *exchange, cs_result result, const cs_outcome *outcome) {
    const bool whole = !client->https || exchange->delimited;
    MUST(whole || outcome->state == CS_CALL_UNANSWERED || outcome->state == CS_CALL_UNSENT);
    MUST((outcome->message != NULL) == (outcome->state == CS_CALL_ANSWERED));
    MUST(outcome->bound == (exchange->transport == CS_CODE_OK && exchange->request_id.count == 1 &&
                            strcmp(exchange->request_id.value, REQUEST_ID) == 0));
    switch (outcome->state) {
    case CS_CALL_ANSWERED:
        MUST(result == CS_OK && outcome->err.code == CS_CODE_OK);
        MUST(exchange->transport == CS_CODE_OK && exchange->status == 200 && outcome->bound);
        return;
    case CS_CALL_REFUSED:
        MUST(result == CS_NOT_RUN && exchange->transport == CS_CODE_OK && exchange->status != 200 && outcome->bound);
        break;
    case CS_CALL_UNSENT:
        MUST(result == CS_NOT_RUN && cs_code_class(exchange->transport) == CS_NOT_RUN);
        break;
    case CS_CALL_UNANSWERED:
        MUST(result == CS_MAYBE_RAN);
        break;
    }
    fuzz_refusal(result, &outcome->err);
}

static void check_message(const cs_outcome *outcome) {
    cs_error err = CS_ERROR_INIT;
    ProtobufCMessage *again = NULL;
    MUST(cs_message_decode(outcome->message->descriptor, cs_buf_view(&outcome->bytes), &again, &err) == CS_OK);
    cs_buf a = fuzz_encode(again);
    cs_buf b = fuzz_encode(outcome->message);
    MUST(cs_view_equal(cs_buf_view(&a), cs_buf_view(&b)));
    cs_buf_free(&a);
    cs_buf_free(&b);
    cs_message_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    cs_client client = {.codec = (data[1] & 1) ? CS_CODEC_JSON : CS_CODEC_BINARY,
                        .https = (data[1] & 0x10) != 0,
                        .timeout_ms = 1000,
                        .max_answer = size};
    cs_exchange exchange = {.transport = PICK(transports, data[1] >> 1),
                            .http = true,
                            .status = PICK(statuses, data[2]),
                            .delimited = (data[1] & 0x20) != 0};
    cs_view rest = cs_view_bytes(data + 3, size - 3);
    take_header(&rest, data[0], &exchange.request_id);
    take_header(&rest, data[0] >> 2, &exchange.not_dispatched);
    take_header(&rest, data[0] >> 4, &exchange.content_type);
    take_header(&rest, data[0] >> 6, &exchange.content_encoding);
    (void)snprintf(exchange.why, sizeof exchange.why, "%.*s", (int)rest.len,
                   rest.len > 0 ? (const char *)rest.ptr : "");

    cs_outcome outcome = {.err = CS_ERROR_INIT, .request_id = REQUEST_ID};
    outcome.raw = CS_BUF_INIT(size);
    outcome.bytes = CS_BUF_INIT(16 * size);
    MUST(cs_buf_append(&outcome.raw, rest.ptr, rest.len));
    const ProtobufCMessageDescriptor *type =
        (data[1] & 0x80) ? &plimsoll__v1__describe_response__descriptor : &plimsoll__v1__run_response__descriptor;
    cs_result result = cs_client_judge(&client, &exchange, type, &outcome);
    check(&client, &exchange, result, &outcome);
    if (outcome.message != NULL) check_message(&outcome);
    cs_outcome_free(&outcome);
    return 0;
}
