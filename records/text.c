#include "records/text.h"

#include <stdio.h>
#include <string.h>

/* ---- UTF-8 ---------------------------------------------------------------------------------------- */

static bool is_continuation(uint8_t byte) {
    return (byte & 0xC0u) == 0x80u;
}

/* Length of the character at the front of text[0..len), which is not empty, and its code point; 0 when
 * the bytes there are no character. The second byte's range is what rules out overlong forms,
 * surrogates and everything above U+10FFFF (RFC 3629, section 4). */
static size_t character_at(const uint8_t *text, size_t len, uint32_t *point) {
    uint8_t lead = text[0];
    if (lead < 0x80) {
        *point = lead;
        return 1;
    }
    if (lead < 0xC2 || lead > 0xF4) return 0;

    size_t need = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (len < need) return 0;
    uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
    uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
    if (text[1] < low || text[1] > high) return 0;

    uint32_t value = lead & (0xFFu >> (need + 1));
    for (size_t i = 1; i < need; i++) {
        if (!is_continuation(text[i])) return 0;
        value = value << 6 | (text[i] & 0x3Fu);
    }
    *point = value;
    return need;
}

/* How many bytes from `at` on are ASCII, in steps of eight; the rest is left to the caller. */
static size_t skip_ascii_words(cs_view text, size_t at) {
    uint64_t word;
    while (text.len - at >= sizeof word) {
        memcpy(&word, text.ptr + at, sizeof word);
        if ((word & 0x8080808080808080u) != 0) break;
        at += sizeof word;
    }
    return at;
}

bool cs_utf8_valid(cs_view text) {
    size_t at = 0;
    while (at < text.len) {
        at = skip_ascii_words(text, at);
        if (at == text.len) break;
        uint32_t point;
        size_t step = character_at(text.ptr + at, text.len - at, &point);
        if (step == 0) return false;
        at += step;
    }
    return true;
}

cs_view cs_utf8_cut(cs_view text, size_t max) {
    if (text.len <= max) return text;
    size_t len = max;
    while (len > 0 && (text.ptr[len] & 0xC0u) == 0x80u)
        len--;
    return cs_view_bytes(text.ptr, len);
}

/* ---- hexadecimal ---------------------------------------------------------------------------------- */

void cs_hex(const uint8_t *bytes, size_t len, char *out) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 0x0Fu];
    }
    out[2 * len] = '\0';
}

bool cs_is_hex(cs_view text, size_t digits) {
    if (text.len != digits) return false;
    for (size_t i = 0; i < digits; i++) {
        uint8_t c = text.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
    }
    return true;
}

/* ---- decimal -------------------------------------------------------------------------------------- */

static cs_decimal decimal(bool negative, uint64_t magnitude) {
    cs_decimal out = {.begin = sizeof out.text};
    do {
        out.text[--out.begin] = (char)('0' + magnitude % 10);
        magnitude /= 10;
    } while (magnitude > 0);
    if (negative) out.text[--out.begin] = '-';
    return out;
}

cs_decimal cs_decimal_u64(uint64_t value) {
    return decimal(false, value);
}

cs_decimal cs_decimal_i64(int64_t value) {
    return decimal(value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

cs_view cs_decimal_view(const cs_decimal *decimal) {
    return cs_view_bytes(decimal->text + decimal->begin, sizeof decimal->text - decimal->begin);
}

bool cs_decimal_read(cs_view text, uint64_t max, uint64_t *out) {
    uint64_t value = 0;
    if (text.len == 0) return false;
    for (size_t i = 0; i < text.len; i++) {
        uint64_t digit = (uint64_t)text.ptr[i] - '0';
        if (text.ptr[i] < '0' || digit > 9 || digit > max || value > (max - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

const char *cs_plural(uint64_t count, const char *one, const char *several) {
    return count == 1 ? one : several;
}

/* ---- bytes made safe to show ---------------------------------------------------------------------- */

typedef struct range {
    uint32_t first;
    uint32_t last;
} range;

/* Code points that steer a terminal, reorder what a person reads, or can't be seen: controls, separators, and all that
 * have the property Default_Ignorable_Code_Point (DerivedCoreProperties.txt of Unicode 14.0; tests/records/test_text.c
 * has that list by itself). The variation selector that makes an emoji of a character is among them: what is shown here
 * need not be pretty. Sorted. */
static const range hidden[] = {
    {0x0000, 0x001F},   /* C0 controls */
    {0x007F, 0x009F},   /* DEL and C1 controls */
    {0x00AD, 0x00AD},   /* soft hyphen */
    {0x034F, 0x034F},   /* combining grapheme joiner */
    {0x061C, 0x061C},   /* Arabic letter mark */
    {0x115F, 0x1160},   /* Hangul fillers */
    {0x17B4, 0x17B5},   /* Khmer inherent vowels */
    {0x180B, 0x180F},   /* Mongolian variation selectors and vowel separator */
    {0x200B, 0x200F},   /* zero width, and directional marks */
    {0x2028, 0x202E},   /* line and paragraph separators, embeddings and overrides */
    {0x2060, 0x206F},   /* word joiner, invisible operators, isolates, deprecated format characters */
    {0x3164, 0x3164},   /* Hangul filler */
    {0xFE00, 0xFE0F},   /* variation selectors */
    {0xFEFF, 0xFEFF},   /* byte order mark */
    {0xFFA0, 0xFFA0},   /* halfwidth Hangul filler */
    {0xFFF0, 0xFFFB},   /* reserved for such characters, and interlinear annotations */
    {0x1BCA0, 0x1BCA3}, /* shorthand format controls */
    {0x1D173, 0x1D17A}, /* beams, ties, slurs and phrases of musical notation */
    {0xE0000, 0xE0FFF}, /* tags, variation selectors supplement, and the rest of their plane */
};

static bool is_hidden(uint32_t point) {
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        if (point < hidden[i].first) return false;
        if (point <= hidden[i].last) return true;
    }
    return false;
}

/* What one character, or one byte that belongs to none, is shown as. */
typedef struct shown {
    char text[16];
    size_t len;      /* of text */
    size_t consumed; /* bytes of the input */
} shown;

static shown show_one(const uint8_t *bytes, size_t len, bool keep_newlines) {
    shown out = {.len = 0, .consumed = 1};
    uint32_t point = 0;
    size_t step = character_at(bytes, len, &point);
    if (step > 1) out.consumed = step;

    bool kept = keep_newlines && (point == '\n' || point == '\t');
    int written = 0;
    if (step == 0 || (step == 1 && is_hidden(point) && !kept)) {
        written = snprintf(out.text, sizeof out.text, "\\x%02x", bytes[0]);
    } else if (point == '\\') {
        written = snprintf(out.text, sizeof out.text, "\\\\");
    } else if (step > 1 && is_hidden(point)) {
        written = snprintf(out.text, sizeof out.text, "\\u{%04x}", (unsigned)point);
    } else {
        memcpy(out.text, bytes, step);
        written = (int)step;
    }
    out.len = written > 0 ? (size_t)written : 0;
    return out;
}

/* How many bytes at the front are ASCII that is shown as it is. */
static size_t plain_run(const uint8_t *bytes, size_t len) {
    size_t n = 0;
    while (n < len && bytes[n] >= 0x20 && bytes[n] < 0x7F && bytes[n] != '\\')
        n++;
    return n;
}

bool cs_escape_append(cs_buf *out, cs_view bytes, bool keep_newlines) {
    size_t before = out->len;
    size_t at = 0;
    while (at < bytes.len) {
        size_t run = plain_run(bytes.ptr + at, bytes.len - at);
        bool fits = cs_buf_append(out, bytes.ptr + at, run);
        at += run;
        if (fits && at < bytes.len) {
            shown one = show_one(bytes.ptr + at, bytes.len - at, keep_newlines);
            fits = cs_buf_append(out, one.text, one.len);
            at += one.consumed;
        }
        if (!fits) {
            out->len = before;
            return false;
        }
    }
    return true;
}

void cs_escape_short(cs_view bytes, char *out, size_t size) {
    if (size == 0) return;
    const size_t room = size - 1;
    const size_t dots = room < 3 ? room : 3;
    size_t len = 0;
    size_t cut = 0; /* the last edge behind which the dots still fit */
    size_t at = 0;
    while (at < bytes.len) {
        shown one = show_one(bytes.ptr + at, bytes.len - at, false);
        if (one.len > room - len) break;
        memcpy(out + len, one.text, one.len);
        len += one.len;
        at += one.consumed;
        if (len <= room - dots) cut = len;
    }
    if (at < bytes.len) {
        memcpy(out + cut, "...", dots);
        len = cut + dots;
    }
    out[len] = '\0';
}
