/* A whole verification of a bundle. Nothing but what the key signed may ever pass.
 *
 * Input that begins with '{' is the file. Any other is a recipe, four bytes a step, that puts a file
 * together from genuine lines, some of them changed: what passes a signature is not found by mutation.
 */
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/genuine.h"
#include "tests/fuzz/walk.h"

static void must_be_genuine(const cs_verified_run *run) {
    MUST(genuine_record(cs_digest_view(&run->checked->record_sha256)));
    MUST(cs_view_equal(cs_bytes_view(&run->record->record_sha256), cs_digest_view(&run->checked->record_sha256)));
    MUST(strcmp(run->keyid, genuine_key()->id) == 0);
}

static void must_not_be(const cs_verified_run *run) {
    (void)run;
    fuzz_abort(__FILE__, __LINE__, "no run passes under a key that signed nothing");
}

static void cook(const uint8_t *step, cs_buf *out) {
    const char *line = genuine_line(step[1] % genuine_line_count());
    size_t len = strlen(line);
    size_t from = out->len;
    size_t at = ((size_t)step[2] << 8 | step[3]) % len;
    MUST(cs_buf_text(out, line) && cs_buf_byte(out, '\n'));
    uint8_t *put = out->ptr + from;
    switch (step[0] % 4) {
    case 1: /* one byte is another one */
        put[at] ^= (uint8_t)(1u << (step[0] >> 2) % 7);
        break;
    case 2: /* a byte is missing */
        memmove(put + at, put + at + 1, len - at);
        out->len--;
        break;
    case 3: /* the line's end is that of another */
        line = genuine_line((step[0] >> 2) % genuine_line_count());
        out->len = from + at;
        MUST(cs_buf_text(out, line + at % strlen(line)) && cs_buf_byte(out, '\n'));
        break;
    default:
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cs_buf file = CS_BUF_INIT(SIZE_MAX / 2);
    cs_verify_summary summary;
    if (size > 0 && data[0] == '{')
        MUST(cs_buf_append(&file, data, size));
    else
        for (size_t i = 0; i + 4 <= size && i < 48; i += 4)
            cook(data + i, &file);
    const char *path = fuzz_file(file.ptr, file.len);
    (void)!walk_file(path, genuine_trust(), must_be_genuine, &summary);
    if (summary.runs > 0) {
        MUST(walk_file(path, genuine_stranger(), must_not_be, &summary) != CS_OK);
        MUST(summary.runs == 0 && summary.sessions == 0);
    }
    cs_buf_free(&file);
    return 0;
}
