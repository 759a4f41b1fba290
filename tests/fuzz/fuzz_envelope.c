/* The DSSE envelope: there is one form of it, so what decodes is what encoding gives. */
#include "records/dsse.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cs_view json = cs_view_bytes(data, size);
    cs_envelope envelope;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_envelope_decode(json, &envelope, &err);
    if (result != CS_OK) {
        fuzz_refusal(result, &err);
        return 0;
    }
    cs_buf again = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES);
    MUST(cs_envelope_encode(cs_buf_view(&envelope.payload), envelope.keyid, envelope.signature, &again));
    MUST(cs_view_equal(cs_buf_view(&again), json));
    cs_buf_free(&again);
    cs_envelope_free(&envelope);
    return 0;
}
