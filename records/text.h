/* Text forms: UTF-8, hexadecimal, decimal, base64, and bytes made safe to show. Pure functions. */
#ifndef CS_RECORDS_TEXT_H
#define CS_RECORDS_TEXT_H

#include "records/base.h"

#define CS_SHA256_BYTES 32u
#define CS_SHA256_HEX 64u /* characters, without a NUL */

/* UTF-8 as RFC 3629 says: no surrogates, nothing above U+10FFFF, no overlong form. NUL is allowed. */
bool cs_utf8_valid(cs_view text);

/* The longest beginning of `text` that has at most `max` bytes and does not end within a character. Borrows. */
cs_view cs_utf8_cut(cs_view text, size_t max);

/* Lowercase hexadecimal. `out` holds 2*len characters and a NUL. */
void cs_hex(const uint8_t *bytes, size_t len, char *out);
/* True when the text is exactly `digits` lowercase hexadecimal digits. */
bool cs_is_hex(cs_view text, size_t digits);

/* A whole number in decimal digits, without printf: digests and statements have many. */
typedef struct cs_decimal {
    char text[20]; /* 2^64-1 has 20 digits, and -2^63 takes as many places with its sign */
    uint8_t begin; /* the digits stand at the end of the array */
} cs_decimal;

cs_decimal cs_decimal_u64(uint64_t value);
cs_decimal cs_decimal_i64(int64_t value);
cs_view cs_decimal_view(const cs_decimal *decimal); /* borrows */

/* The number that a text states: decimal digits alone, at least one, without a sign or a blank, and at most `max`. False
 * otherwise; *out is then unchanged. */
CS_MUST_CHECK bool cs_decimal_read(cs_view text, uint64_t max, uint64_t *out);

/* The word behind a count: `one` behind 1, else `several`. */
const char *cs_plural(uint64_t count, const char *one, const char *several);

/* Standard padded base64 (RFC 4648 section 4), appended. False when the buffer is full. */
CS_MUST_CHECK bool cs_base64_append(cs_buf *out, cs_view bytes);
/* Canonical only: right length, padding, zero trailing bits. False otherwise or when out is full;
 * `out` is then unchanged. */
CS_MUST_CHECK bool cs_base64_decode(cs_view text, cs_buf *out);
/* As other programs write it: standard or URL-safe alphabet, padded or not. Both take no memory when `out` has
 * room for three quarters of the text, so that a false is then about the text. */
CS_MUST_CHECK bool cs_base64_decode_lax(cs_view text, cs_buf *out);

/* Append `bytes` so that no terminal or log line can be steered by it: printable UTF-8 stays,
 * except for controls (C0, C1, DEL), line and paragraph separators, and bidirectional or invisible
 * format characters; those and bytes that are not UTF-8 become \xNN or \u{NNNN}; a backslash is
 * doubled. `keep_newlines` leaves \n and \t as they are. */
CS_MUST_CHECK bool cs_escape_append(cs_buf *out, cs_view bytes, bool keep_newlines);

/* The same into a fixed array (size bytes with the NUL), shortened with "..." on a character edge. */
void cs_escape_short(cs_view bytes, char *out, size_t size);

#endif
