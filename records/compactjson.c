#include "records/compactjson.h"

#include <string.h>

#include "records/text.h"

/* Most bytes of most text: they stand for themselves, and no longer sequence that is escaped begins
 * with them. */
static bool is_plain(uint8_t byte) {
    return byte >= 0x20 && byte != '"' && byte != '\\' && byte != '<' && byte != '>' && byte != '&' && byte != 0xe2;
}

/* The escape of an ASCII byte, or NULL when it stands for itself. `scratch` holds \u00xx. */
static const char *ascii_escape(uint8_t byte, char scratch[7]) {
    static const char digits[] = "0123456789abcdef";
    switch (byte) {
    case '"':
        return "\\\"";
    case '\\':
        return "\\\\";
    case '\b':
        return "\\b";
    case '\f':
        return "\\f";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\t':
        return "\\t";
    default:
        break;
    }
    if (byte >= 0x20 && byte != '<' && byte != '>' && byte != '&') return NULL;
    memcpy(scratch, "\\u00", 4);
    scratch[4] = digits[byte >> 4];
    scratch[5] = digits[byte & 0x0f];
    scratch[6] = '\0';
    return scratch;
}

/* The escape for what begins at `text`, and how many bytes it stands for; NULL when the byte stays. */
static const char *escape_at(const uint8_t *text, size_t left, char scratch[7], size_t *length) {
    *length = 1;
    if (text[0] < 0x80) return ascii_escape(text[0], scratch);
    /* U+2028 and U+2029 end a line in older JavaScript; encoders meant for the web escape them. */
    if (text[0] == 0xe2 && left >= 3 && text[1] == 0x80 && (text[2] & 0xfe) == 0xa8) {
        *length = 3;
        return text[2] == 0xa8 ? "\\u2028" : "\\u2029";
    }
    return NULL;
}

/* Copies runs of plain bytes at once: most text needs no escape at all. */
static bool append_escaped(cs_buf *out, cs_view text) {
    char scratch[7];
    size_t run = 0;
    size_t i = 0;
    while (i < text.len) {
        if (is_plain(text.ptr[i])) {
            i++;
            continue;
        }
        size_t length;
        const char *escape = escape_at(text.ptr + i, text.len - i, scratch, &length);
        if (escape) {
            if (!cs_buf_append(out, text.ptr + run, i - run) || !cs_buf_text(out, escape)) return false;
            run = i + length;
        }
        i += length;
    }
    return run == text.len || cs_buf_append(out, text.ptr + run, text.len - run);
}

bool cs_json_string(cs_buf *out, cs_view text) {
    size_t before = out->len;
    if (cs_buf_byte(out, '"') && append_escaped(out, text) && cs_buf_byte(out, '"')) return true;
    out->len = before;
    return false;
}

bool cs_json_name(cs_buf *out, const char *name) {
    size_t before = out->len;
    bool first = before > 0 && out->ptr[before - 1] == '{';
    if (cs_buf_text(out, first ? "\"" : ",\"") && cs_buf_text(out, name) && cs_buf_text(out, "\":")) return true;
    out->len = before;
    return false;
}

bool cs_json_text(cs_buf *out, const char *name, cs_view text) {
    return cs_json_name(out, name) && cs_json_string(out, text);
}

static bool append_decimal(cs_buf *out, cs_decimal number) {
    cs_view digits = cs_decimal_view(&number);
    return cs_buf_append(out, digits.ptr, digits.len);
}

bool cs_json_u64(cs_buf *out, const char *name, uint64_t value) {
    return cs_json_name(out, name) && append_decimal(out, cs_decimal_u64(value));
}

bool cs_json_i64(cs_buf *out, const char *name, int64_t value) {
    return cs_json_name(out, name) && append_decimal(out, cs_decimal_i64(value));
}
