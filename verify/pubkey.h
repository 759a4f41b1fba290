/* Public keys a verifier trusts: Ed25519, PEM SubjectPublicKeyInfo (RFC 8410), read with OpenSSL. */
#ifndef CS_VERIFY_PUBKEY_H
#define CS_VERIFY_PUBKEY_H

#include "records/error.h"

#define CS_PUBLIC_KEY_BYTES 32u
#define CS_MAX_KEY_FILE 4096u

typedef struct cs_public_key {
    uint8_t bytes[CS_PUBLIC_KEY_BYTES];
    char id[65]; /* lowercase hex SHA-256 of the SubjectPublicKeyInfo DER */
} cs_public_key;

/* Fill id from bytes. */
CS_MUST_CHECK bool cs_public_key_identify(cs_public_key *key);

/* From PEM text. CS_CODE_KEY_MALFORMED (not one Ed25519 PUBLIC KEY and nothing else),
 * CS_CODE_KEY_WEAK (small order or non-canonical point). */
CS_MUST_CHECK cs_result cs_public_key_parse(cs_view pem, cs_public_key *out, cs_error *err);
/* From a file. CS_CODE_KEY_UNREADABLE. */
CS_MUST_CHECK cs_result cs_public_key_load(const char *path, cs_public_key *out, cs_error *err);

#endif
