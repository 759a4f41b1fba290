/* The private key: Ed25519, PEM PKCS#8 (RFC 8410). Made and read with OpenSSL, signing with
 * libsodium, the secret only in sodium_malloc'ed memory, wiped when freed.
 *
 * Errors never quote a byte of the key or of its file.
 */
#ifndef CS_HARNESS_KEY_H
#define CS_HARNESS_KEY_H

#include "records/dsse.h"
#include "verify/pubkey.h"

#define CS_KEY_VARIABLE "COUNTERSIGN_KEY" /* holds the PEM text itself, not a path */

typedef struct cs_key cs_key;

/* Make a key pair and write PREFIX.key (0600) and PREFIX.pub (0644), both exclusively: neither may
 * exist (CS_CODE_KEY_EXISTS). Nothing is left behind on failure. *out is the public half. */
CS_MUST_CHECK cs_result cs_key_generate(const char *prefix, cs_public_key *out, cs_error *err);

/* Read a key file: a regular file, ours, not readable or writable by others
 * (CS_CODE_KEY_PERMISSIONS), CS_CODE_KEY_UNREADABLE, CS_CODE_KEY_MALFORMED. Gives *out. */
CS_MUST_CHECK cs_result cs_key_load(const char *path, cs_key **out, cs_error *err);
/* Read the PEM from the environment variable and take it out of the environment. Gives *out. */
CS_MUST_CHECK cs_result cs_key_from_environment(cs_key **out, cs_error *err);
void cs_key_free(cs_key *key);

const cs_public_key *cs_key_public(const cs_key *key); /* borrows */

/* Raw Ed25519 over `message`. Only harness/sign.c calls this. */
CS_MUST_CHECK cs_result cs_key_sign(const cs_key *key, cs_view message, uint8_t out[CS_SIGNATURE_BYTES], cs_error *err);

/* No core file, no ptrace by others: called once at start by a program that will hold a key. */
void cs_key_harden_process(void);

#endif
