/* The base64 functions of records/text.h. */
#include <string.h>

#include "records/text.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

#define NO 0xFF               /* not a digit; the only entry with the high bit set */
#define MANY_GROUPS 1024u     /* from here on it is worth while to make larger tables first */
#define URL_SAFE_DIGITS 1024u /* translated at a time: whole groups */

/* Value of a digit of the standard alphabet. */
static const uint8_t value_of[256] = {
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* 00 */
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, /* 10 */
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 62, NO, NO, NO, 63, /* 20: + / */
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, NO, NO, NO, NO, NO, NO, /* 30: 0 to 9 */
    NO, 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, /* 40: A to O */
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, NO, NO, NO, NO, NO, /* 50: P to Z */
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

/* Decode whole groups of four digits, three bytes each. False when one was no digit; every one is looked at
 * before that is told, so that the loops have no branch on the data. */
static bool decode_groups(const uint8_t *in, size_t groups, uint8_t *to) {
    uint8_t seen = 0;
    for (; groups > 0; groups--, in += 4, to += 3) {
        uint8_t a = value_of[in[0]];
        uint8_t b = value_of[in[1]];
        uint8_t c = value_of[in[2]];
        uint8_t d = value_of[in[3]];
        seen |= (uint8_t)(a | b | c | d);
        to[0] = (uint8_t)(a << 2 | b >> 4);
        to[1] = (uint8_t)(b << 4 | c >> 2);
        to[2] = (uint8_t)(c << 6 | d);
    }
    return (seen & 0x80u) == 0;
}

/* Four bytes as they lie in memory. */
static uint32_t in_memory(unsigned first, unsigned second, unsigned third, unsigned fourth) {
    const uint8_t bytes[4] = {(uint8_t)first, (uint8_t)second, (uint8_t)third, (uint8_t)fourth};
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* The same for long texts, about half as fast again: one table for each place of a digit in its group. An entry
 * is what the digit gives to the three bytes, to be ORed, and a mark in a fourth byte for what is no digit. */
static bool decode_many_groups(const uint8_t *in, size_t groups, uint8_t *to) {
    uint32_t table[4][256];
    for (unsigned c = 0; c < 256; c++) {
        const unsigned v = value_of[c];
        const unsigned no = v & 0x80u;
        table[0][c] = in_memory(v << 2, 0, 0, no);
        table[1][c] = in_memory(v >> 4, v << 4, 0, no);
        table[2][c] = in_memory(0, v >> 2, v << 6, no);
        table[3][c] = in_memory(0, 0, v, no);
    }
    uint32_t seen = 0;
    /* Four bytes are written for each group, so the last group is left to the other loop. */
    for (; groups > 1; groups--, in += 4, to += 3) {
        const uint32_t bytes = table[0][in[0]] | table[1][in[1]] | table[2][in[2]] | table[3][in[3]];
        seen |= bytes;
        memcpy(to, &bytes, sizeof bytes);
    }
    return decode_groups(in, groups, to) && (seen & in_memory(0, 0, 0, 0x80)) == 0;
}

/* The last two or three digits of a text without padding. */
static bool decode_tail(const uint8_t *in, size_t digits, uint8_t *to) {
    uint8_t a = value_of[in[0]];
    uint8_t b = value_of[in[1]];
    uint8_t c = digits == 3 ? value_of[in[2]] : 0;
    uint8_t unused = digits == 3 ? c & 0x03u : b & 0x0Fu;
    if (((a | b | c) & 0x80u) != 0 || unused != 0) return false;
    to[0] = (uint8_t)(a << 2 | b >> 4);
    if (digits == 3) to[1] = (uint8_t)(b << 4 | c >> 2);
    return true;
}

/* Decode the digits of a text without its padding. */
static bool decode_digits(cs_view digits, cs_buf *out) {
    size_t groups = digits.len / 4;
    size_t tail = digits.len % 4;
    size_t bytes = groups * 3 + (tail > 1 ? tail - 1 : 0);
    if (tail == 1) return false;
    if (bytes == 0) return true;
    if (!cs_buf_reserve(out, bytes)) return false;

    uint8_t *to = out->ptr + out->len;
    bool good =
        groups < MANY_GROUPS ? decode_groups(digits.ptr, groups, to) : decode_many_groups(digits.ptr, groups, to);
    if (good && tail > 0) good = decode_tail(digits.ptr + groups * 4, tail, to + groups * 3);
    if (good) out->len += bytes;
    return good;
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
    if (text.len % 4 != 0) return false;
    cs_view digits = {.ptr = text.ptr, .len = text.len - padding_of(text)};
    return decode_digits(digits, out);
}

/* Digits of the URL-safe alphabet, so many whole groups at a time that no copy of them all is needed. */
static bool decode_url_safe(cs_view digits, cs_buf *out) {
    const size_t before = out->len;
    uint8_t standard[URL_SAFE_DIGITS];
    for (size_t at = 0; at < digits.len;) {
        size_t count = digits.len - at < sizeof standard ? digits.len - at : sizeof standard;
        for (size_t i = 0; i < count; i++) {
            const uint8_t digit = digits.ptr[at + i];
            standard[i] = digit == '-' ? '+' : digit == '_' ? '/' : digit;
        }
        if (!decode_digits(cs_view_bytes(standard, count), out)) {
            out->len = before;
            return false;
        }
        at += count;
    }
    return true;
}

bool cs_base64_decode_lax(cs_view text, cs_buf *out) {
    size_t padding = padding_of(text);
    if (padding > 0 && text.len % 4 != 0) return false;
    bool standard = has_byte(text, '+') || has_byte(text, '/');
    bool url_safe = has_byte(text, '-') || has_byte(text, '_');
    if (standard && url_safe) return false;
    cs_view digits = {.ptr = text.ptr, .len = text.len - padding};
    return url_safe ? decode_url_safe(digits, out) : decode_digits(digits, out);
}
