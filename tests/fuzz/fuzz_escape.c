/* Bytes made safe to show: nothing that steers a terminal comes out, and what went in can be told from it.
 * The first byte says whether newlines stay (bit 0) and how long the short form may be. */
#include <stdlib.h>
#include <string.h>

#include "records/error.h"
#include "records/text.h"
#include "tests/fuzz/fuzz.h"

static void put_point(cs_buf *out, uint32_t point) {
    size_t len = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    uint8_t bytes[4];
    for (size_t i = len; i-- > 1; point >>= 6)
        bytes[i] = (uint8_t)(0x80u | (point & 0x3Fu));
    bytes[0] = (uint8_t)(len == 1 ? point : (0xF00u >> len & 0xFFu) | point);
    MUST(cs_buf_append(out, bytes, len));
}

/* Undo the escapes. The text is UTF-8 and NUL-terminated. */
static void unescape(const char *text, cs_buf *out) {
    while (*text != '\0') {
        char *end = NULL;
        if (*text != '\\') {
            MUST(cs_buf_byte(out, (uint8_t)*text++));
        } else if (text[1] == '\\') {
            MUST(cs_buf_byte(out, '\\'));
            text += 2;
        } else if (text[1] == 'x') {
            char digits[3] = {text[2], text[3], '\0'};
            MUST(cs_buf_byte(out, (uint8_t)strtoul(digits, &end, 16)) && end == digits + 2);
            text += 4;
        } else {
            MUST(strncmp(text, "\\u{", 3) == 0);
            put_point(out, (uint32_t)strtoul(text + 3, &end, 16));
            MUST(*end == '}');
            text = end + 1;
        }
    }
}

static void check_short(cs_view bytes, size_t size, const char *whole) {
    char *text = malloc(size + 1); /* of exactly its size, so that a write past it is seen */
    if (text == NULL) abort();
    cs_escape_short(bytes, text, size);
    if (size > 0) {
        size_t len = strlen(text);
        MUST(len < size && fuzz_printable(cs_view_of(text), false));
        if (strlen(whole) < size)
            MUST(strcmp(text, whole) == 0);
        else
            MUST(len < 3 || (strcmp(text + len - 3, "...") == 0 && strncmp(text, whole, len - 3) == 0));
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    cs_view bytes = cs_view_bytes(data + 1, size - 1);
    bool newlines = (data[0] & 1) != 0;
    cs_buf shown = CS_BUF_INIT(SIZE_MAX / 2);
    cs_buf again = CS_BUF_INIT(SIZE_MAX / 2);
    MUST(cs_escape_append(&shown, bytes, newlines));
    MUST(fuzz_printable(cs_buf_view(&shown), newlines));
    MUST(cs_buf_byte(&shown, 0));
    unescape((const char *)shown.ptr, &again);
    MUST(cs_view_equal(cs_buf_view(&again), bytes));

    cs_buf_clear(&shown);
    MUST(cs_escape_append(&shown, bytes, false) && cs_buf_byte(&shown, 0));
    check_short(bytes, data[0] >> 1, (const char *)shown.ptr);

    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_fail_differs(&err, CS_CODE_LINE_FRAMING, "what was found differs", bytes, bytes);
    cs_error_where(&err, "%.*s", (int)bytes.len, (const char *)bytes.ptr);
    cs_error_where(&err, "outside");
    fuzz_refusal(result, &err);
    cs_buf_free(&shown);
    cs_buf_free(&again);
    return 0;
}
