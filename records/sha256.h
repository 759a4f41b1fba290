/* Streaming SHA-256 (FIPS 180-4) through OpenSSL EVP, which uses the processor's SHA instructions. */
#ifndef CS_RECORDS_SHA256_H
#define CS_RECORDS_SHA256_H

#include "records/base.h"
#include "records/error.h"
#include "records/text.h"

/* A digest as lowercase hexadecimal text, NUL-terminated, the form in which records state it. */
typedef struct cs_digest {
    char hex[CS_SHA256_HEX + 1];
} cs_digest;

cs_view cs_digest_view(const cs_digest *digest); /* the 64 characters; borrows */

typedef struct cs_sha256 cs_sha256; /* one running hash */

/* Gives a running hash, or NULL without memory. One hash may be used again after cs_sha256_final. */
cs_sha256 *cs_sha256_new(void);
void cs_sha256_free(cs_sha256 *hash); /* NULL is fine */

/* Feed bytes; nothing is copied. Failures are remembered and come out of cs_sha256_final. */
void cs_sha256_update(cs_sha256 *hash, const void *ptr, size_t len);
/* End, write the digest, and begin a new empty hash. False on a failure of the library. */
CS_MUST_CHECK bool cs_sha256_final(cs_sha256 *hash, uint8_t out[CS_SHA256_BYTES]);
CS_MUST_CHECK bool cs_sha256_final_hex(cs_sha256 *hash, cs_digest *out);

/* One piece of memory at once. */
CS_MUST_CHECK bool cs_sha256_once(cs_view bytes, cs_digest *out);

#endif
