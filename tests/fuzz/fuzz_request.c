/* Validation of requests. The first byte says whether the request comes in JSON (bit 0) and whether it is
 * a stored one (bit 1). */
#include <string.h>

#include "records/digest.h"
#include "records/protojson.h"
#include "records/request.h"
#include "records/wire.h"
#include "tests/fuzz/fuzz.h"

static void must_validate(const ProtobufCMessage *message, bool stored) {
    cs_error err = CS_ERROR_INIT;
    MUST(cs_request_validate((const cs_run_request *)message, stored, &err) == CS_OK);
}

/* What passes keeps passing, with the same digest, in either form. */
static void through_both(const ProtobufCMessage *request, bool stored, size_t size) {
    cs_error err = CS_ERROR_INIT;
    ProtobufCMessage *again = NULL;
    char digest[65], other[65];
    fuzz_digest(request, digest);

    cs_buf json = CS_BUF_INIT(SIZE_MAX / 2);
    MUST(cs_protojson_write(request, &json, &err) == CS_OK);
    MUST(cs_protojson_read(request->descriptor, cs_buf_view(&json), &again, &err) == CS_OK);
    must_validate(again, stored);
    fuzz_digest(again, other);
    MUST(strcmp(digest, other) == 0);
    cs_message_free(again);
    cs_buf_free(&json);

    cs_buf binary = fuzz_encode(request);
    /* No form of the input is less than half as long as the binary one. */
    MUST(binary.len <= 2 * size && binary.len <= CS_MAX_REQUEST_BYTES);
    MUST(cs_message_decode(request->descriptor, cs_buf_view(&binary), &again, &err) == CS_OK);
    must_validate(again, stored);
    must_validate(again, true);
    cs_message_free(again);
    cs_buf_free(&binary);
}

static void rule_id(const cs_software_rule *rule) {
    cs_error err = CS_ERROR_INIT;
    cs_buf id = CS_BUF_INIT(1024);
    MUST(cs_software_rule_validate(rule, &err) == CS_OK);
    MUST(cs_software_rule_id(rule, &id, &err) == CS_OK);
    MUST((id.len == 0) == (rule == NULL || rule->mode.len == 0));
    cs_buf_free(&id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    bool stored = (data[0] & 2) != 0;
    cs_view bytes = cs_view_bytes(data + 1, size - 1);
    ProtobufCMessage *request = NULL;
    cs_error err = CS_ERROR_INIT;
    const ProtobufCMessageDescriptor *type = &plimsoll__v1__run_request__descriptor;
    cs_result result = (data[0] & 1) != 0 ? cs_protojson_read(type, bytes, &request, &err)
                                          : cs_message_decode(type, bytes, &request, &err);
    if (result != CS_OK) return 0;
    result = cs_request_validate((const cs_run_request *)request, stored, &err);
    if (result == CS_OK) {
        through_both(request, stored, size);
        rule_id(((const cs_run_request *)request)->software_rule);
    } else {
        fuzz_refusal(result, &err);
        MUST(err.where[0] != '\0');
    }
    cs_message_free(request);
    return 0;
}
