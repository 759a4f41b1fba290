#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/jsonlex.h"

#define MAX_NUMBER_CHARS 1024u
/* Far beyond every exponent that matters, and far from overflow when digits are counted on top. */
#define MAX_EXPONENT 1000000000000LL

/* The digits of a number without sign, point and exponent, seen as one run; value = digits * 10^exponent. */
typedef struct decimal {
    cs_view before; /* the point */
    cs_view after;
    int64_t exponent;
} decimal;

static bool is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

static cs_view take_digits(cs_view *text) {
    size_t len = 0;
    while (len < text->len && is_digit(text->ptr[len]))
        len++;
    cs_view digits = cs_view_bytes(text->ptr, len);
    *text = cs_view_bytes(text->ptr + len, text->len - len);
    return digits;
}

static bool take_byte(cs_view *text, const char *any) {
    if (text->len == 0 || !strchr(any, text->ptr[0])) return false;
    *text = cs_view_bytes(text->ptr + 1, text->len - 1);
    return true;
}

static decimal split(cs_view number) {
    decimal out = {0};
    out.before = take_digits(&number);
    out.after = cs_view_bytes(number.ptr, 0);
    if (take_byte(&number, ".")) out.after = take_digits(&number);
    if (take_byte(&number, "eE")) {
        bool minus = number.len > 0 && number.ptr[0] == '-';
        (void)take_byte(&number, "+-");
        cs_view digits = take_digits(&number);
        for (size_t i = 0; i < digits.len && out.exponent < MAX_EXPONENT; i++)
            out.exponent = out.exponent * 10 + (digits.ptr[i] - '0');
        if (minus) out.exponent = -out.exponent;
    }
    out.exponent -= (int64_t)out.after.len;
    return out;
}

static uint8_t digit_at(const decimal *number, size_t i) {
    return i < number->before.len ? number->before.ptr[i] : number->after.ptr[i - number->before.len];
}

bool cs_number_whole(cs_view number, bool *negative, uint64_t *magnitude) {
    *magnitude = 0;
    *negative = take_byte(&number, "-");
    decimal parts = split(number);
    size_t first = 0;
    size_t last = parts.before.len + parts.after.len;
    while (last > first && digit_at(&parts, last - 1) == '0') {
        last--;
        parts.exponent++;
    }
    while (first < last && digit_at(&parts, first) == '0')
        first++;
    if (first == last) {
        *negative = false;
        return true;
    }
    /* 2^64-1 has 20 digits. */
    if (parts.exponent < 0 || parts.exponent > 20 || last - first > 20) return false;
    for (; first < last; first++) {
        if (__builtin_mul_overflow(*magnitude, 10u, magnitude)) return false;
        if (__builtin_add_overflow(*magnitude, (uint64_t)(digit_at(&parts, first) - '0'), magnitude)) return false;
    }
    for (; parts.exponent > 0; parts.exponent--)
        if (__builtin_mul_overflow(*magnitude, 10u, magnitude)) return false;
    return true;
}

bool cs_number_double(cs_view number, double *out) {
    char text[MAX_NUMBER_CHARS + 1];
    *out = 0;
    if (number.len > MAX_NUMBER_CHARS) return false;
    memcpy(text, number.ptr, number.len);
    text[number.len] = '\0';
    *out = strtod(text, NULL);
    return isfinite(*out);
}

bool cs_number_append(cs_buf *out, double value) {
    char text[40];
    /* Up to 15 digits every normal decimal comes back from its double, so fewer need no trial; numbers
     * next to zero have less precision and often a shorter form. */
    int digits = value != 0 && fabs(value) < DBL_MIN ? 1 : DBL_DIG;
    do {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
    } while (strtod(text, NULL) != value && ++digits <= DBL_DECIMAL_DIG);
    return cs_buf_text(out, text);
}
