#include "tests/support/live_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/canon.h"
#include "tests/support/expect.h"
#include "tests/support/forge.h"

#define HEAD(status, type)                                                                                             \
    "HTTP/1.1 " status "\r\nContent-Type: application/" type "\r\nPlimsoll-Request-Id: {id}\r\n"                       \
    "Content-Length: {length}\r\n\r\n"

static void answer(live *script, const ProtobufCMessage *message) {
    size_t len = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(len + 1);
    if (bytes == NULL) abort();
    protobuf_c_message_pack(message, bytes);
    script->owned[script->owned_count++] = bytes;
    live_step(script, (peer_step){.head = HEAD("200 OK", "proto"), .body = {.ptr = bytes, .len = len}});
}

cs_open_session_response live_opened(void) {
    cs_open_session_response response = PLIMSOLL__V1__OPEN_SESSION_RESPONSE__INIT;
    response.session_id = borrow(LIVE_ID);
    response.session = borrow(LIVE_FINGERPRINT);
    response.sandbox = borrow("gvisor");
    response.isolation = borrow("kernel");
    response.software_identity = borrow(SAMPLE_IDENTITY);
    return response;
}

void live_open(live *script, const cs_open_session_response *response) {
    answer(script, &response->base);
}

void live_call(sample *s, uint64_t sequence, const char *previous, const char *code) {
    canon_set(&s->request->javascript->code, code);
    canon_set(&s->record->session, LIVE_FINGERPRINT);
    s->record->sequence = sequence;
    canon_set(&s->record->previous_sha256, previous);
    sample_seal(s, SEAL_ALL);
}

void live_call_answer(live *script, const sample *s, int ended) {
    cs_session_run_response response = PLIMSOLL__V1__SESSION_RUN_RESPONSE__INIT;
    response.run = s->response;
    response.ended = (cs_session_end)ended;
    answer(script, &response.base);
}

static char *detail(const char *type, const ProtobufCMessage *message) {
    size_t len = protobuf_c_message_get_packed_size(message);
    uint8_t *bytes = malloc(len + 1);
    if (bytes == NULL) abort();
    protobuf_c_message_pack(message, bytes);
    char *text = forge_text("{\"type\":\"plimsoll.v1.%s\",\"value\":\"%s\"}", type, forge_base64(bytes, len));
    free(bytes);
    return text;
}

void live_unanswered_make(sample *s) {
    s->record->version = s->request->protocol >= 4 ? 4 : 3;
    canon_set(&s->record->unanswered, "internal");
    canon_set(&s->record->result_sha256, "");
    sample_seal(s, SEAL_REQUEST | SEAL_RECORD);
}

void live_unanswered(live *script, sample *s, int ended) {
    if (s != NULL) live_unanswered_make(s);
    live_unanswered_step(script, s, ended);
}

void live_unanswered_step(live *script, const sample *s, int ended) {
    const char *details = "";
    if (s != NULL) {
        Plimsoll__V1__UnansweredCall call = PLIMSOLL__V1__UNANSWERED_CALL__INIT;
        call.record = s->record;
        details = detail("UnansweredCall", &call.base);
    }
    if (ended != 0) {
        Plimsoll__V1__SessionEnded end = PLIMSOLL__V1__SESSION_ENDED__INIT;
        end.reason = (cs_session_end)ended;
        details = forge_text("%s%s%s", details, details[0] != '\0' ? "," : "", detail("SessionEnded", &end.base));
    }
    char *body = forge_text("{\"code\":\"internal\",\"message\":\"it broke\",\"details\":[%s]}", details);
    live_step(script, (peer_step){.head = HEAD("500 Oops", "json"),
                                  .body = {.ptr = (const uint8_t *)body, .len = strlen(body)}});
}

void live_close(live *script, const char *session, uint64_t calls, const char *last) {
    cs_close_session_response response = PLIMSOLL__V1__CLOSE_SESSION_RESPONSE__INIT;
    response.session = borrow(session);
    response.calls = calls;
    response.last_record_sha256 = borrow(last);
    response.ended = PLIMSOLL__V1__SESSION_END__SESSION_END_CLOSED;
    answer(script, &response.base);
}

const char *live_hex(const ProtobufCBinaryData *field) {
    return forge_text("%.*s", (int)field->len, (const char *)field->data);
}
