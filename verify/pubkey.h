/* Public keys a verifier trusts: Ed25519, PEM SubjectPublicKeyInfo (RFC 8410), read with OpenSSL. */
#ifndef CS_VERIFY_PUBKEY_H
#define CS_VERIFY_PUBKEY_H

#include "records/dsse.h"
#include "records/error.h"

#define CS_PUBLIC_KEY_BYTES 32u
#define CS_MAX_KEY_FILE 4096u
#define CS_MAX_TRUSTED_KEYS 64u

typedef struct cs_public_key {
    uint8_t bytes[CS_PUBLIC_KEY_BYTES];
    char id[65]; /* lowercase hex SHA-256 of the SubjectPublicKeyInfo DER */
} cs_public_key;

/* The keys someone named on the command line. A key inside a file is never trusted. */
typedef struct cs_trust {
    cs_public_key keys[CS_MAX_TRUSTED_KEYS];
    size_t count;
} cs_trust;

/* Fill id from bytes. */
CS_MUST_CHECK bool cs_public_key_identify(cs_public_key *key);

/* From PEM text. CS_CODE_KEY_MALFORMED (not one Ed25519 PUBLIC KEY and nothing else),
 * CS_CODE_KEY_WEAK (small order or non-canonical point). */
CS_MUST_CHECK cs_result cs_public_key_parse(cs_view pem, cs_public_key *out, cs_error *err);
/* From a file. CS_CODE_KEY_UNREADABLE. */
CS_MUST_CHECK cs_result cs_public_key_load(const char *path, cs_public_key *out, cs_error *err);

/* Add a key; the same key twice counts once. */
CS_MUST_CHECK cs_result cs_trust_add(cs_trust *trust, const cs_public_key *key, cs_error *err);

/* Check the envelope's signature over its PAE. The key is chosen by the key id among the trusted
 * ones: CS_CODE_ENVELOPE_KEY_UNKNOWN when there is none of that id, CS_CODE_ENVELOPE_SIGNATURE when
 * the signature is not that key's (non-canonical scalars and small-order points never are).
 * `scratch` is cleared and used for the PAE. */
CS_MUST_CHECK cs_result cs_envelope_verify(const cs_envelope *envelope, const cs_trust *trust,
                                           cs_buf *scratch, cs_error *err);

#endif
