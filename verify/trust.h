/* Whom a verifier trusts: public keys that someone named, each with an optional window of time and label.
 *
 * A key inside an input is never trusted, and a key id is only a hint which trusted key to try. The window is
 * compared with what a record itself states as its times, so it bounds what an honest daemon's records may be signed
 * with; someone who has stolen an expired key and runs a daemon of his own can still date records back.
 * docs/FORMAT.md, "Trust file".
 */
#ifndef CS_VERIFY_TRUST_H
#define CS_VERIFY_TRUST_H

#include "records/dsse.h"
#include "verify/pubkey.h"

#define CS_MAX_TRUSTED_KEYS 64u
#define CS_MAX_TRUST_FILE ((size_t)1024 * 1024)
#define CS_MAX_KEY_LABEL 64u /* bytes of UTF-8, no control characters */

typedef struct cs_trusted_key {
    cs_public_key key;
    char label[CS_MAX_KEY_LABEL + 1]; /* empty: none */
    int64_t not_before_ms;            /* milliseconds since 1970; INT64_MIN: no bound */
    int64_t not_after_ms;             /* the last millisecond that is in the window; INT64_MAX: no bound */
} cs_trusted_key;

typedef struct cs_trust {
    cs_trusted_key keys[CS_MAX_TRUSTED_KEYS];
    size_t count;
} cs_trust;

/* Add a key without a window or label. The same key twice counts once; when it is there already with a window,
 * CS_CODE_TRUST_CONTRADICTS. */
CS_MUST_CHECK cs_result cs_trust_add(cs_trust *trust, const cs_public_key *key, cs_error *err);

/* Add a key with its window and label, which must be well formed. The same key with the same window counts once (the
 * first label stays); with another window, CS_CODE_TRUST_CONTRADICTS. */
CS_MUST_CHECK cs_result cs_trust_add_within(cs_trust *trust, const cs_trusted_key *key, cs_error *err);

/* Add every key of a trust file: a JSON object with `version` 1 and `keys`, each an object with `key` (PEM of one
 * PUBLIC KEY), and optionally `label`, `not_before`, `not_after` (RFC 3339 in UTC: "2026-11-29T00:00:00Z", with up to three
 * decimals of a second; both ends are in the window). Unknown, repeated or misspelt members, no key at all, an end
 * before its beginning: CS_CODE_TRUST_MALFORMED. The same key with another window, here or before:
 * CS_CODE_TRUST_CONTRADICTS; the same key with the same window counts once. CS_CODE_KEY_UNREADABLE, and the codes of
 * cs_public_key_parse. On failure `trust` may hold some of the keys, and must not be used. */
CS_MUST_CHECK cs_result cs_trust_parse(cs_view json, cs_trust *trust, cs_error *err);
CS_MUST_CHECK cs_result cs_trust_load(const char *path, cs_trust *trust, cs_error *err);

/* Check the envelope's signature over its PAE. The key is chosen by the key id among the trusted ones:
 * CS_CODE_ENVELOPE_KEY_UNKNOWN when there is none of that id, CS_CODE_ENVELOPE_SIGNATURE when the signature is
 * not that key's (non-canonical scalars and small-order points never are). `scratch` is cleared and used for the PAE. */
CS_MUST_CHECK cs_result cs_envelope_verify(const cs_envelope *envelope, const cs_trust *trust, cs_buf *scratch,
                                           cs_error *err);

/* Whether the key of that id, which is trusted, could sign something of that time: CS_CODE_ENVELOPE_KEY_WINDOW. What is
 * known is only the earliest and the latest time it may have been signed; INT64_MIN, INT64_MAX where a bound is not
 * known. It fails when no moment between them is in the window. */
CS_MUST_CHECK cs_result cs_trust_check_time(const cs_trust *trust, const char keyid[65], int64_t earliest_ms,
                                            int64_t latest_ms, cs_error *err);
/* The same for a run, which was signed at its own time: the key must be trusted from its start to its end. */
CS_MUST_CHECK cs_result cs_trust_check_run(const cs_trust *trust, const char keyid[65], int64_t started_ms,
                                           int64_t ended_ms, cs_error *err);
/* Whether the key of that id is trusted for a part of all time only. Not so when it is not trusted at all. */
bool cs_trust_is_bounded(const cs_trust *trust, const char keyid[65]);

#endif
