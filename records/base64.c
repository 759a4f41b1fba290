/* The base64 functions of records/text.h. */
#include <string.h>

#include "records/text.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#define NO 0xFF /* not a digit; the only entry with the high bit set */

/* Value of a digit in either alphabet. Which alphabet a text may use is checked beside it. */
static const uint8_t value_of[256] = {
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* 00 */
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* 10 */
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 62, NO, 62, NO, 63, /* 20: + - / */
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, NO, NO, NO, NO, NO, NO, /* 30: 0 to 9 */
    NO, 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, /* 40: A to O */
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, NO, NO, NO, NO, 63, /* 50: P to Z, _ */
    NO, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, /* 60: a to o */
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, NO, NO, NO, NO, NO, /* 70: p to z */
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* 80 */
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* 90 */
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* a0 */
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* b0 */
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* c0 */
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* d0 */
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* e0 */
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* f0 */
};

bool cs_base64_append(cs_buf *out, cs_view bytes) {
    if (bytes.len == 0) return true;
    if (bytes.len > SIZE_MAX / 4 * 3 - 2 || !cs_buf_reserve(out, (bytes.len + 2) / 3 * 4)) return false;
    const uint8_t *in = bytes.ptr;
    uint8_t *to = out->ptr + out->len;
    size_t left = bytes.len;
    for (; left >= 3; left -= 3, in += 3, to += 4) {
        uint32_t bits = (uint32_t)in[0] << 16 | (uint32_t)in[1] << 8 | in[2];
        to[0] = (uint8_t)alphabet[bits >> 18];
        to[1] = (uint8_t)alphabet[bits >> 12 & 63];
        to[2] = (uint8_t)alphabet[bits >> 6 & 63];
        to[3] = (uint8_t)alphabet[bits & 63];
    }
    if (left > 0) {
        uint32_t bits = (uint32_t)in[0] << 16 | (left == 2 ? (uint32_t)in[1] << 8 : 0);
        to[0] = (uint8_t)alphabet[bits >> 18];
        to[1] = (uint8_t)alphabet[bits >> 12 & 63];
        to[2] = (uint8_t)(left == 2 ? alphabet[bits >> 6 & 63] : '=');
        to[3] = '=';
    }
    out->len += (bytes.len + 2) / 3 * 4;
    return true;
}

/* Decode the digits of a text without its padding. Every digit is looked at before the answer is given,
 * so that the loop has no branch on the data; out->len moves only when all were good. */
static bool decode_digits(cs_view digits, cs_buf *out) {
    size_t tail = digits.len % 4;
    size_t bytes = digits.len / 4 * 3 + (tail > 1 ? tail - 1 : 0);
    if (tail == 1) return false;
    if (bytes == 0) return true;
    if (!cs_buf_reserve(out, bytes)) return false;

    const uint8_t *in = digits.ptr;
    uint8_t *to = out->ptr + out->len;
    uint8_t seen = 0;
    for (size_t n = digits.len / 4; n > 0; n--, in += 4, to += 3) {
        uint8_t a = value_of[in[0]];
        uint8_t b = value_of[in[1]];
        uint8_t c = value_of[in[2]];
        uint8_t d = value_of[in[3]];
        seen |= (uint8_t)(a | b | c | d);
        to[0] = (uint8_t)(a << 2 | b >> 4);
        to[1] = (uint8_t)(b << 4 | c >> 2);
        to[2] = (uint8_t)(c << 6 | d);
    }
    if (tail > 0) {
        uint8_t a = value_of[in[0]];
        uint8_t b = value_of[in[1]];
        uint8_t c = tail == 3 ? value_of[in[2]] : 0;
        seen |= (uint8_t)(a | b | c);
        uint8_t unused = tail == 3 ? c & 0x03u : b & 0x0Fu;
        if (unused != 0) return false;
        to[0] = (uint8_t)(a << 2 | b >> 4);
        if (tail == 3) to[1] = (uint8_t)(b << 4 | c >> 2);
    }
    if ((seen & 0x80u) != 0) return false;
    out->len += bytes;
    return true;
}

static bool has_byte(cs_view text, char byte) {
    return text.len > 0 && memchr(text.ptr, byte, text.len) != NULL;
}

/* How many '=' stand at the end, at most two. */
static size_t padding_of(cs_view text) {
    size_t n = 0;
    while (n < 2 && n < text.len && text.ptr[text.len - 1 - n] == '=')
        n++;
    return n;
}

bool cs_base64_decode(cs_view text, cs_buf *out) {
    if (text.len % 4 != 0 || has_byte(text, '-') || has_byte(text, '_')) return false;
    cs_view digits = {.ptr = text.ptr, .len = text.len - padding_of(text)};
    return decode_digits(digits, out);
}

bool cs_base64_decode_lax(cs_view text, cs_buf *out) {
    size_t padding = padding_of(text);
    if (padding > 0 && text.len % 4 != 0) return false;
    bool standard = has_byte(text, '+') || has_byte(text, '/');
    bool url_safe = has_byte(text, '-') || has_byte(text, '_');
    if (standard && url_safe) return false;
    cs_view digits = {.ptr = text.ptr, .len = text.len - padding};
    return decode_digits(digits, out);
}
