/* base64: the exact decoder takes one form of each value; the other one takes that form too. */
#include "records/text.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cs_view input = cs_view_bytes(data, size);
    cs_buf text = CS_BUF_INIT(SIZE_MAX / 2);
    cs_buf exact = CS_BUF_INIT(SIZE_MAX / 2);
    cs_buf lax = CS_BUF_INIT(SIZE_MAX / 2);
    MUST(cs_base64_append(&text, input));
    MUST(cs_base64_decode(cs_buf_view(&text), &exact) && cs_view_equal(cs_buf_view(&exact), input));

    cs_buf_clear(&text);
    cs_buf_clear(&exact);
    bool is_exact = cs_base64_decode(input, &exact);
    bool is_lax = cs_base64_decode_lax(input, &lax);
    MUST(is_exact || exact.len == 0);
    MUST(is_lax || lax.len == 0);
    if (is_exact) {
        MUST(is_lax && cs_view_equal(cs_buf_view(&exact), cs_buf_view(&lax)));
        MUST(cs_base64_append(&text, cs_buf_view(&exact)) && cs_view_equal(cs_buf_view(&text), input));
    }
    cs_buf_free(&text);
    cs_buf_free(&exact);
    cs_buf_free(&lax);
    return 0;
}
