#include "records/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first allocation; small enough for a digest, large enough that short texts never grow twice. */
#define FIRST_CAPACITY 128u

cs_view cs_view_of(const char *text) {
    return (cs_view){.ptr = (const uint8_t *)text, .len = text == NULL ? 0 : strlen(text)};
}

cs_view cs_view_bytes(const void *ptr, size_t len) {
    return (cs_view){.ptr = ptr, .len = len};
}

cs_view cs_buf_view(const cs_buf *buf) {
    return (cs_view){.ptr = buf->ptr, .len = buf->len};
}

bool cs_view_equal(cs_view a, cs_view b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

bool cs_view_is(cs_view a, const char *text) {
    return cs_view_equal(a, cs_view_of(text));
}

bool cs_buf_reserve(cs_buf *buf, size_t more) {
    if (buf->len > buf->max || more > buf->max - buf->len) return false;
    size_t need = buf->len + more;
    if (need <= buf->cap) return true;

    size_t cap = buf->cap < FIRST_CAPACITY / 2 ? FIRST_CAPACITY : buf->cap;
    while (cap < need && cap <= SIZE_MAX / 2)
        cap *= 2;
    if (cap < need || cap > buf->max) cap = buf->max;
    if (cap == SIZE_MAX) return false;

    /* One byte more than the capacity, so that cs_buf_printf has room for the NUL it can't avoid. */
    uint8_t *ptr = realloc(buf->ptr, cap + 1);
    if (ptr == NULL) return false;
    buf->ptr = ptr;
    buf->cap = cap;
    return true;
}

bool cs_buf_append(cs_buf *buf, const void *ptr, size_t len) {
    if (!cs_buf_reserve(buf, len)) return false;
    if (len > 0) memcpy(buf->ptr + buf->len, ptr, len);
    buf->len += len;
    return true;
}

bool cs_buf_text(cs_buf *buf, const char *text) {
    return cs_buf_append(buf, text, strlen(text));
}

bool cs_buf_byte(cs_buf *buf, uint8_t byte) {
    return cs_buf_append(buf, &byte, 1);
}

bool cs_buf_printf(cs_buf *buf, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len < 0 || !cs_buf_reserve(buf, (size_t)len)) return false;
    if (len == 0) return true;

    va_start(args, fmt);
    int written = vsnprintf((char *)buf->ptr + buf->len, (size_t)len + 1, fmt, args);
    va_end(args);
    if (written != len) return false;
    buf->len += (size_t)len;
    return true;
}

void cs_buf_clear(cs_buf *buf) {
    buf->len = 0;
}

void cs_buf_free(cs_buf *buf) {
    free(buf->ptr);
    buf->ptr = NULL;
    buf->len = 0;
    buf->cap = 0;
}
