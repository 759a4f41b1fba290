/* proto3 JSON. The first byte picks the type. */
#include <string.h>

#include "records/protojson.h"
#include "tests/fuzz/fuzz.h"

static cs_buf write_json(const ProtobufCMessage *message) {
    cs_buf json = CS_BUF_INIT(SIZE_MAX / 2);
    cs_error err = CS_ERROR_INIT;
    MUST(cs_protojson_write(message, &json, &err) == CS_OK);
    return json;
}

/* Another copy of the message says the same in JSON, in binary and in its digest. */
static void compare(const ProtobufCMessage *message, const ProtobufCMessage *other, const cs_buf *json,
                    const cs_buf *binary) {
    cs_buf other_json = write_json(other);
    cs_buf other_binary = fuzz_encode(other);
    MUST(cs_view_equal(cs_buf_view(json), cs_buf_view(&other_json)));
    MUST(cs_view_equal(cs_buf_view(binary), cs_buf_view(&other_binary)));
    char a[65], b[65];
    fuzz_digest(message, a);
    fuzz_digest(other, b);
    MUST(strcmp(a, b) == 0);
    cs_buf_free(&other_json);
    cs_buf_free(&other_binary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    const ProtobufCMessageDescriptor *type = fuzz_type(data[0]);
    ProtobufCMessage *message = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_protojson_read(type, cs_view_bytes(data + 1, size - 1), &message, &err);
    MUST((result == CS_OK) == (message != NULL));
    if (message == NULL) {
        fuzz_refusal(result, &err);
        return 0;
    }
    cs_buf json = write_json(message);
    cs_buf binary = fuzz_encode(message);
    ProtobufCMessage *from_json = NULL;
    ProtobufCMessage *from_binary = NULL;
    MUST(cs_protojson_read(type, cs_buf_view(&json), &from_json, &err) == CS_OK);
    MUST(cs_message_decode(type, cs_buf_view(&binary), &from_binary, &err) == CS_OK);
    MUST(cs_message_coverage(from_binary, cs_buf_view(&binary), &err) == CS_OK);
    compare(message, from_json, &json, &binary);
    compare(message, from_binary, &json, &binary);
    cs_message_free(from_json);
    cs_message_free(from_binary);
    cs_message_free(message);
    cs_buf_free(&json);
    cs_buf_free(&binary);
    return 0;
}
