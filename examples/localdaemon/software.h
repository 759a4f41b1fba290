/* What a provider's programs are: the digest of a file, and what a program says of its version. */
#ifndef LD_SOFTWARE_H
#define LD_SOFTWARE_H

#include "records/error.h"
#include "records/sha256.h"

/* The SHA-256 of a whole file. */
CS_MUST_CHECK cs_result ld_software_digest(const char *path, cs_digest *out, cs_error *err);

/* The first line that `program --version` prints, cut to `size`; printable ASCII only. Call before any thread is
 * started. */
CS_MUST_CHECK cs_result ld_software_version(const char *program, char *out, size_t size, cs_error *err);

#endif
