#include "tests/support/live.h"

#include <stdlib.h>
#include <string.h>

#define BOUND "Plimsoll-Request-Id: {id}\r\nContent-Length: {length}\r\n\r\n"
#define SUCCESS "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\n" BOUND
#define REFUSAL                                                                                                        \
    "HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\nPlimsoll-Not-Dispatched: capacity\r\n" BOUND
#define REFUSAL_BODY "{\"code\":\"resource_exhausted\",\"message\":\"full house\"}"

void live_step(live *script, peer_step step) {
    if (script->count == LIVE_MAX) abort();
    script->steps[script->count++] = step;
}

static void answer_with(live *script, void *bytes, size_t len) {
    script->owned[script->owned_count++] = bytes;
    live_step(script, (peer_step){.head = SUCCESS, .body = {.ptr = bytes, .len = len}});
}

void live_describe(live *script, const cs_describe_response *described) {
    size_t len = protobuf_c_message_get_packed_size(&described->base);
    uint8_t *bytes = malloc(len + 1);
    if (bytes == NULL) abort();
    protobuf_c_message_pack(&described->base, bytes);
    answer_with(script, bytes, len);
}

void live_answer(live *script, const sample *s) {
    uint8_t *bytes = malloc(s->len + 1);
    if (bytes == NULL) abort();
    memcpy(bytes, s->bytes, s->len);
    answer_with(script, bytes, s->len);
}

void live_run(live *script, const sample *s) {
    live_describe(script, s->before);
    live_answer(script, s);
    live_describe(script, s->after);
}

void live_free(live *script) {
    for (size_t i = 0; i < script->owned_count; i++)
        free(script->owned[i]);
    *script = (live){.count = 0};
}

peer_step live_refusal(void) {
    return (peer_step){.head = REFUSAL, .body = {.ptr = (const uint8_t *)REFUSAL_BODY, .len = sizeof REFUSAL_BODY - 1}};
}

cs_run_request *live_request(const sample *s) {
    size_t len = protobuf_c_message_get_packed_size(&s->request->base);
    uint8_t *bytes = malloc(len + 1);
    if (bytes == NULL) abort();
    protobuf_c_message_pack(&s->request->base, bytes);
    ProtobufCMessage *copy = NULL;
    if (cs_message_decode(&plimsoll__v1__run_request__descriptor, cs_view_bytes(bytes, len), &copy, NULL) != CS_OK)
        abort();
    free(bytes);
    return (cs_run_request *)copy;
}
