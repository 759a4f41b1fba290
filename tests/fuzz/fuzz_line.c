/* The lines of a bundle: what is split is put together again to the same line. */
#include "records/text.h"
#include "tests/fuzz/fuzz.h"
#include "verify/source_impl.h"

static void put_member(cs_buf *out, const char *name, cs_view bytes) {
    if (bytes.ptr == NULL) return;
    MUST(cs_buf_text(out, name) && cs_base64_append(out, bytes) && cs_buf_text(out, "\","));
}

static void put_line(const cs_entry *entry, cs_buf *out) {
    MUST(cs_buf_byte(out, '{'));
    put_member(out, "\"request\":\"", entry->request);
    put_member(out, "\"response\":\"", entry->response);
    if (entry->envelope.ptr != NULL)
        MUST(cs_buf_text(out, "\"envelope\":") && cs_buf_append(out, entry->envelope.ptr, entry->envelope.len));
    if (entry->link.ptr != NULL) {
        MUST(entry->link_offset == (entry->envelope.ptr == NULL ? 0 : out->len));
        MUST(cs_buf_text(out, entry->envelope.ptr == NULL ? "\"link\":" : ",\"link\":"));
        MUST(cs_buf_append(out, entry->link.ptr, entry->link.len));
    }
    MUST(cs_buf_byte(out, '}'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cs_view line = cs_view_bytes(data, size);
    cs_buf request = CS_BUF_INIT(CS_MAX_LINE_BYTES);
    cs_buf response = CS_BUF_INIT(CS_MAX_LINE_BYTES);
    cs_buf again = CS_BUF_INIT(SIZE_MAX / 2);
    cs_entry entry = {.number = 7};
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_bundle_line_split(line, &request, &response, &entry, &err);
    MUST(entry.number == 7 && cs_view_equal(entry.line, line));
    if (result != CS_OK) {
        fuzz_refusal(result, &err);
        MUST(err.code == CS_CODE_LINE_FRAMING);
        MUST(entry.request.ptr == NULL && entry.response.ptr == NULL && entry.envelope.ptr == NULL);
        MUST(entry.link.ptr == NULL && entry.link_offset == 0);
    } else {
        MUST(entry.envelope.ptr != NULL || (entry.link.ptr != NULL && entry.request.ptr == NULL));
        put_line(&entry, &again);
        MUST(cs_view_equal(cs_buf_view(&again), line));
    }
    cs_buf_free(&request);
    cs_buf_free(&response);
    cs_buf_free(&again);
    return 0;
}
