/* What the files of the private key share. Nothing outside harness/key*.c includes this.
 *
 * Every byte of a secret, the PEM text and the DER included, stands in locked memory that is wiped
 * when it is freed.
 */
#ifndef CS_HARNESS_KEY_INTERNAL_H
#define CS_HARNESS_KEY_INTERNAL_H

#include "harness/key.h"

#define CS_KEY_SEED_BYTES 32u /* RFC 8032: the private key proper */

/* A buffer in locked memory, which never grows: an append past `size` fails. False without memory.
 * End with cs_key_secret_free, never with cs_buf_free. */
CS_MUST_CHECK bool cs_key_secret_new(size_t size, cs_buf *out);
void cs_key_secret_free(cs_buf *secret); /* wipes; safe on a zeroed buffer */

/* For a variable that starts as `{0}`. */
#define CS_AUTO_SECRET __attribute__((cleanup(cs_key_secret_free))) cs_buf

/* Make a key of fresh random bytes, or of a seed. Both give *out. */
CS_MUST_CHECK cs_result cs_key_random(cs_key **out, cs_error *err);
CS_MUST_CHECK cs_result cs_key_from_seed(const uint8_t seed[CS_KEY_SEED_BYTES], cs_key **out, cs_error *err);

/* The 32 bytes from which the key was made; borrows. */
const uint8_t *cs_key_seed(const cs_key *key);

/* Read PEM text: exactly one Ed25519 PRIVATE KEY and white space. CS_CODE_KEY_MALFORMED. Gives *out. */
CS_MUST_CHECK cs_result cs_key_parse(cs_view pem, cs_key **out, cs_error *err);

/* Append the PEM text of either half. `out` of the private half is a secret buffer. */
CS_MUST_CHECK bool cs_key_private_pem(const cs_key *key, cs_buf *out);
CS_MUST_CHECK bool cs_key_public_pem(const cs_public_key *key, cs_buf *out);

#endif
