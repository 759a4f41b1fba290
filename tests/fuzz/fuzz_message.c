/* Binary messages. The first byte picks the type. */
#include <string.h>

#include "records/protojson.h"
#include "tests/fuzz/fuzz.h"

static bool same_bytes(const void *message, const cs_buf *expected) {
    cs_buf bytes = fuzz_encode(message);
    bool same = cs_view_equal(cs_buf_view(&bytes), cs_buf_view(expected));
    cs_buf_free(&bytes);
    return same;
}

/* The view must be the same message as the copy, or the same refusal. */
static void compare_view(const ProtobufCMessageDescriptor *type, cs_view bytes, const ProtobufCMessage *copy,
                         const cs_error *refusal, const cs_buf *canonical) {
    static cs_arena *arena;
    if (arena == NULL) arena = cs_arena_new();
    cs_arena_reset(arena);
    const ProtobufCMessage *view = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_message_view(type, bytes, arena, &view, &err);
    MUST((result == CS_OK) == (copy != NULL) && (view != NULL) == (copy != NULL));
    if (copy == NULL) {
        MUST(err.code == refusal->code && strcmp(err.message, refusal->message) == 0);
        MUST(strcmp(err.where, refusal->where) == 0);
        return;
    }
    char a[65], b[65];
    fuzz_digest(copy, a);
    fuzz_digest(view, b);
    MUST(strcmp(a, b) == 0);
    MUST(same_bytes(view, canonical));
    MUST(cs_message_coverage(view, bytes, &err) == cs_message_coverage(copy, bytes, &err));
}

/* The canonical form is what coverage takes it for, decodes to itself, and has the same digest. */
static void check_canonical(const ProtobufCMessage *message, cs_view bytes, const cs_buf *canonical) {
    cs_error err = CS_ERROR_INIT;
    bool known = cs_message_known(message, &err) == CS_OK;
    bool covered = cs_message_coverage(message, bytes, &err) == CS_OK;
    MUST(covered == (known && cs_view_equal(bytes, cs_buf_view(canonical))));
    if (!covered) fuzz_refusal(cs_code_class(err.code), &err);

    ProtobufCMessage *again = NULL;
    MUST(cs_message_decode(message->descriptor, cs_buf_view(canonical), &again, &err) == CS_OK);
    MUST(cs_message_coverage(again, cs_buf_view(canonical), &err) == CS_OK);
    MUST(same_bytes(again, canonical));
    char a[65], b[65];
    fuzz_digest(message, a);
    fuzz_digest(again, b);
    MUST(strcmp(a, b) == 0);
    fuzz_digest_apart(message, b);
    MUST(strcmp(a, b) == 0);
    cs_message_free(again);
}

/* protobuf-c takes every canonical encoding, and reads the same from it. */
static void compare_unpack(const ProtobufCMessageDescriptor *type, const cs_buf *canonical) {
    ProtobufCMessage *other = protobuf_c_message_unpack(type, NULL, canonical->len, canonical->ptr);
    MUST(other != NULL);
    MUST(same_bytes(other, canonical));
    protobuf_c_message_free_unpacked(other, NULL);
}

/* Through JSON and back. Only the payload of a NaN has no JSON form. */
static void through_json(const ProtobufCMessage *message, const cs_buf *canonical) {
    cs_buf json = CS_BUF_INIT(SIZE_MAX / 2);
    cs_error err = CS_ERROR_INIT;
    ProtobufCMessage *again = NULL;
    MUST(cs_protojson_write(message, &json, &err) == CS_OK);
    MUST(cs_protojson_read(message->descriptor, cs_buf_view(&json), &again, &err) == CS_OK);
    if (json.len == 0 || memmem(json.ptr, json.len, "\"NaN\"", 5) == NULL) {
        MUST(same_bytes(again, canonical));
        char a[65], b[65];
        fuzz_digest(message, a);
        fuzz_digest(again, b);
        MUST(strcmp(a, b) == 0);
    }
    cs_message_free(again);
    cs_buf_free(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    const ProtobufCMessageDescriptor *type = fuzz_type(data[0]);
    cs_view bytes = cs_view_bytes(data + 1, size - 1);
    ProtobufCMessage *message = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_buf canonical = CS_BUF_INIT(0);
    cs_result result = cs_message_decode(type, bytes, &message, &err);
    MUST((result == CS_OK) == (message != NULL));
    if (message == NULL) {
        fuzz_refusal(result, &err);
        MUST(err.code == CS_CODE_MESSAGE_MALFORMED || err.code == CS_CODE_MESSAGE_TEXT);
    } else {
        canonical = fuzz_encode(message);
        check_canonical(message, bytes, &canonical);
        compare_unpack(type, &canonical);
        through_json(message, &canonical);
    }
    compare_view(type, bytes, message, &err, &canonical);
    cs_buf_free(&canonical);
    cs_message_free(message);
    return 0;
}
