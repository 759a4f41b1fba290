/* Statements of verdicts: what reads is exactly what is built again from it. */
#include "records/verdict.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cs_view payload = cs_view_bytes(data, size);
    cs_read_verdict read;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_verdict_read(payload, &read, &err);
    if (result != CS_OK) {
        fuzz_refusal(result, &err);
        MUST(read.texts == NULL && read.items == NULL);
        return 0;
    }
    cs_buf built = CS_BUF_INIT(SIZE_MAX / 2);
    cs_verdict_kind kind;
    MUST(cs_verdict_fault(read.kind, &read.verdict) == NULL);
    MUST(cs_statement_verdict(read.kind, &read.verdict, &built));
    MUST(cs_view_equal(cs_buf_view(&built), payload));
    MUST(cs_verdict_is_stated(payload, &kind) && kind == read.kind);
    cs_buf_free(&built);
    cs_read_verdict_free(&read);
    return 0;
}
