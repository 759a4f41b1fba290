/* The canonical encoding under a running SHA-256 (docs/FORMAT.md, "Canonical encoding").
 *
 * Every piece, the domain first, then each field's name and value, is preceded by its length as an
 * unsigned 64-bit big-endian integer. The bytes are fed to the hash from where they stand: a large
 * artifact is never copied.
 */
#ifndef CS_RECORDS_CANONICAL_H
#define CS_RECORDS_CANONICAL_H

#include "records/sha256.h"

void cs_canonical_domain(cs_sha256 *hash, const char *domain);
void cs_canonical_bytes(cs_sha256 *hash, const char *name, cs_view value);
void cs_canonical_text(cs_sha256 *hash, const char *name, const char *value);
void cs_canonical_i64(cs_sha256 *hash, const char *name, int64_t value);  /* decimal ASCII */
void cs_canonical_u64(cs_sha256 *hash, const char *name, uint64_t value); /* also counts */
void cs_canonical_bool(cs_sha256 *hash, const char *name, bool value);    /* "true", "false" */
/* IEEE 754 binary64, 8 bytes big-endian each, in one field; the bits as they are, also NaN's. */
void cs_canonical_doubles(cs_sha256 *hash, const char *name, const double *values, size_t count);

#endif
