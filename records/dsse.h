/* The signed envelope: DSSE 1.0 (secure-systems-lab/dsse), as compact JSON, decoded exactly.
 *
 * {"payloadType":"...","payload":"<b64>","signatures":[{"keyid":"<hex>","sig":"<b64>"}]}
 * One signature; the members in this order; no white space; nothing behind it.
 */
#ifndef CS_RECORDS_DSSE_H
#define CS_RECORDS_DSSE_H

#include "records/error.h"

#define CS_PAYLOAD_TYPE "application/vnd.in-toto+json"
#define CS_SIGNATURE_BYTES 64u /* Ed25519, RFC 8032 */
#define CS_MAX_STATEMENT_BYTES 65536u /* 64 KiB */
#define CS_MAX_ENVELOPE_BYTES 98304u  /* 96 KiB */

/* A decoded envelope. payload is owned; end with cs_envelope_free. */
typedef struct cs_envelope {
    cs_buf payload; /* the statement's bytes, exactly those that were signed */
    char keyid[65]; /* 64 lowercase hexadecimal digits */
    uint8_t signature[CS_SIGNATURE_BYTES];
} cs_envelope;

/* Append PAE(payloadType, payload): "DSSEv1 SP len SP type SP len SP payload". */
CS_MUST_CHECK bool cs_dsse_pae(const char *type, cs_view payload, cs_buf *out);

/* Append the JSON form. */
CS_MUST_CHECK bool cs_envelope_encode(cs_view payload, const char keyid[65],
                                      const uint8_t signature[CS_SIGNATURE_BYTES], cs_buf *out);

/* Decode all of `json`. CS_CODE_ENVELOPE_MALFORMED with the byte offset in where, or
 * CS_CODE_ENVELOPE_TYPE for another payload type. On failure nothing is left to free. */
CS_MUST_CHECK cs_result cs_envelope_decode(cs_view json, cs_envelope *out, cs_error *err);
void cs_envelope_free(cs_envelope *envelope);

#endif
