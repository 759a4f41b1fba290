/* What a probe prints: its line with the digest that goes with it, and the bytes as they are. */
#include <stdlib.h>
#include <string.h>

#include "harness/probe.h"
#include "records/text.h"
#include "tests/fuzz/fuzz.h"

static const cs_probe_order order = {.form = CS_PROBE_PROGRAM,
                                     .nonce = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"};

static void check_text(const char *text) {
    MUST(memchr(text, '\0', CS_PROBE_TEXT + 1) != NULL);
    MUST(cs_utf8_valid(cs_view_of(text)));
}

static void read_output(cs_view output) {
    cs_probe_facts facts;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_probe_read(&order, output, &facts, &err);
    if (result != CS_OK) {
        fuzz_refusal(result, &err);
        MUST(facts.process_samples == 0 && facts.release[0] == '\0');
        return;
    }
    check_text(facts.release);
    check_text(facts.version);
    check_text(facts.boot_id);
    check_text(facts.canary);
    check_text(facts.hypervisor);
    MUST(facts.process_samples <= CS_PROBE_SAMPLES);
    MUST(output.len <= CS_PROBE_MAX_ANSWER);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    read_output(cs_view_bytes(data, size));
    if (size > (size_t)2 * CS_PROBE_MAX_ANSWER) return 0;
    CS_AUTO_BUF text = CS_BUF_INIT((size_t)4 * CS_PROBE_MAX_ANSWER);
    cs_digest digest;
    MUST(cs_buf_printf(&text, "countersign.tier-probe.v1\n%s\n", order.nonce) && cs_buf_append(&text, data, size));
    MUST(cs_sha256_once(cs_buf_view(&text), &digest));
    cs_buf_clear(&text);
    MUST(cs_buf_append(&text, data, size) && cs_buf_printf(&text, "\n%s\n", digest.hex));
    read_output(cs_buf_view(&text));
    return 0;
}
