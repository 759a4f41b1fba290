#include "records/canonical.h"

#include <endian.h>
#include <string.h>

#define LENGTH_BYTES 8u
#define MAX_NAME 48u /* longer names are fed piece by piece; none is */
#define DOUBLES_AT_ONCE 64u

static void put_u64(uint8_t *out, uint64_t value) {
    uint64_t big_endian = htobe64(value);
    memcpy(out, &big_endian, sizeof big_endian);
}

static void feed_length(cs_sha256 *hash, size_t len) {
    uint8_t bytes[LENGTH_BYTES];
    put_u64(bytes, len);
    cs_sha256_update(hash, bytes, sizeof bytes);
}

static void feed_piece(cs_sha256 *hash, const void *ptr, size_t len) {
    feed_length(hash, len);
    cs_sha256_update(hash, ptr, len);
}

/* The name as a piece, and the length of the value that the caller feeds next. One call of the hash
 * instead of three: a module run has a hundred thousand rows, each with its name. */
static void feed_head(cs_sha256 *hash, const char *name, size_t value_len) {
    uint8_t head[LENGTH_BYTES + MAX_NAME + LENGTH_BYTES];
    cs_view text = cs_view_of(name);
    if (text.len > MAX_NAME) {
        feed_piece(hash, text.ptr, text.len);
        feed_length(hash, value_len);
        return;
    }
    put_u64(head, text.len);
    memcpy(head + LENGTH_BYTES, text.ptr, text.len);
    put_u64(head + LENGTH_BYTES + text.len, value_len);
    cs_sha256_update(hash, head, LENGTH_BYTES + text.len + LENGTH_BYTES);
}

void cs_canonical_domain(cs_sha256 *hash, const char *domain) {
    feed_piece(hash, domain, strlen(domain));
}

void cs_canonical_bytes(cs_sha256 *hash, const char *name, cs_view value) {
    feed_head(hash, name, value.len);
    cs_sha256_update(hash, value.ptr, value.len);
}

void cs_canonical_text(cs_sha256 *hash, const char *name, const char *value) {
    cs_canonical_bytes(hash, name, cs_view_of(value));
}

void cs_canonical_i64(cs_sha256 *hash, const char *name, int64_t value) {
    cs_decimal number = cs_decimal_i64(value);
    cs_canonical_bytes(hash, name, cs_decimal_view(&number));
}

void cs_canonical_u64(cs_sha256 *hash, const char *name, uint64_t value) {
    cs_decimal number = cs_decimal_u64(value);
    cs_canonical_bytes(hash, name, cs_decimal_view(&number));
}

void cs_canonical_bool(cs_sha256 *hash, const char *name, bool value) {
    cs_canonical_text(hash, name, value ? "true" : "false");
}

void cs_canonical_doubles(cs_sha256 *hash, const char *name, const double *values, size_t count) {
    uint8_t bytes[DOUBLES_AT_ONCE * sizeof(double)];
    feed_head(hash, name, count * sizeof(double));
    size_t filled = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        put_u64(bytes + filled, bits);
        filled += sizeof bits;
        if (filled == sizeof bytes || i + 1 == count) {
            cs_sha256_update(hash, bytes, filled);
            filled = 0;
        }
    }
}
