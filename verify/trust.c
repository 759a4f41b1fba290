#include "verify/trust.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "records/text.h"
#include "records/time.h"

#define TIME_TEXT 40u /* characters of a moment, with the NUL */
#define SPAN_TEXT 96u

static const cs_trusted_key *find_key(const cs_trust *trust, const char *id) {
    for (size_t i = 0; i < trust->count; i++) {
        if (strcmp(trust->keys[i].key.id, id) == 0) return &trust->keys[i];
    }
    return NULL;
}

/* A moment, or what the lack of one means. */
static void name_time(int64_t ms, const char *unknown, char *out, size_t size) {
    if (ms == INT64_MIN || ms == INT64_MAX)
        (void)snprintf(out, size, "%s", unknown);
    else
        cs_time_format(ms, out, size);
}

static void name_span(int64_t from_ms, int64_t to_ms, const char *unknown, char out[SPAN_TEXT]) {
    char from[TIME_TEXT];
    char to[TIME_TEXT];
    name_time(from_ms, unknown, from, sizeof from);
    name_time(to_ms, unknown, to, sizeof to);
    (void)snprintf(out, SPAN_TEXT, "from %s to %s", from, to);
}

static cs_result contradicts(const cs_trusted_key *first, const cs_trusted_key *second, cs_error *err) {
    char expected[SPAN_TEXT];
    char found[SPAN_TEXT];
    char what[160];
    name_span(first->not_before_ms, first->not_after_ms, "any time", expected);
    name_span(second->not_before_ms, second->not_after_ms, "any time", found);
    (void)snprintf(what, sizeof what, "key %s is named as trusted before, with another window of time", first->key.id);
    return cs_fail_differs(err, CS_CODE_TRUST_CONTRADICTS, what, cs_view_of(expected), cs_view_of(found));
}

cs_result cs_trust_add_within(cs_trust *trust, const cs_trusted_key *key, cs_error *err) {
    const cs_trusted_key *first = find_key(trust, key->key.id);
    if (first != NULL && first->not_before_ms == key->not_before_ms && first->not_after_ms == key->not_after_ms)
        return CS_OK;
    if (first != NULL) return contradicts(first, key, err);
    if (trust->count >= CS_MAX_TRUSTED_KEYS)
        return cs_fail(err, CS_CODE_USAGE, "more than %u keys are named as trusted", CS_MAX_TRUSTED_KEYS);
    trust->keys[trust->count++] = *key;
    return CS_OK;
}

cs_result cs_trust_add(cs_trust *trust, const cs_public_key *key, cs_error *err) {
    cs_trusted_key always = {.key = *key, .not_before_ms = INT64_MIN, .not_after_ms = INT64_MAX};
    return cs_trust_add_within(trust, &always, err);
}

cs_result cs_envelope_verify(const cs_envelope *envelope, const cs_trust *trust, cs_buf *scratch, cs_error *err) {
    if (sodium_init() < 0) return cs_fail(err, CS_CODE_INTERNAL, "libsodium can't be initialised");
    const cs_trusted_key *trusted = find_key(trust, envelope->keyid);
    if (trusted == NULL) {
        return cs_fail(err, CS_CODE_ENVELOPE_KEY_UNKNOWN,
                       "signed under key %s, which is not among the %zu trusted %s; name the signer's public key if "
                       "you know it from elsewhere",
                       envelope->keyid, trust->count, cs_plural(trust->count, "key", "keys"));
    }
    cs_buf_clear(scratch);
    if (!cs_dsse_pae(CS_PAYLOAD_TYPE, cs_buf_view(&envelope->payload), scratch)) {
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the signed bytes");
    }
    /* libsodium refuses scalars that are not reduced and an R of small order by itself. */
    if (crypto_sign_verify_detached(envelope->signature, scratch->ptr, scratch->len, trusted->key.bytes) != 0) {
        return cs_fail(err, CS_CODE_ENVELOPE_SIGNATURE,
                       "the signature is not that of key %s over these bytes; they were changed after signing, or "
                       "never signed",
                       trusted->key.id);
    }
    return CS_OK;
}

cs_result cs_trust_check_time(const cs_trust *trust, const char keyid[65], int64_t earliest_ms, int64_t latest_ms,
                              cs_error *err) {
    const cs_trusted_key *trusted = find_key(trust, keyid);
    if (trusted == NULL) return cs_fail(err, CS_CODE_ENVELOPE_KEY_UNKNOWN, "key %s is not among the trusted", keyid);
    if (latest_ms >= trusted->not_before_ms && earliest_ms <= trusted->not_after_ms) return CS_OK;

    bool labelled = trusted->label[0] != '\0';
    char expected[SPAN_TEXT];
    char found[SPAN_TEXT];
    char what[256];
    name_span(trusted->not_before_ms, trusted->not_after_ms, "any time", expected);
    name_span(earliest_ms, latest_ms, "an unknown time", found);
    (void)snprintf(what, sizeof what, "key %s%s%s%s is trusted for another time than that of what it signed", keyid,
                   labelled ? " (" : "", trusted->label, labelled ? ")" : "");
    return cs_fail_differs(err, CS_CODE_ENVELOPE_KEY_WINDOW, what, cs_view_of(expected), cs_view_of(found));
}

cs_result cs_trust_check_run(const cs_trust *trust, const char keyid[65], int64_t started_ms, int64_t ended_ms,
                             cs_error *err) {
    cs_result result = cs_trust_check_time(trust, keyid, started_ms, started_ms, err);
    if (result == CS_OK) result = cs_trust_check_time(trust, keyid, ended_ms, ended_ms, err);
    return result;
}

bool cs_trust_is_bounded(const cs_trust *trust, const char keyid[65]) {
    const cs_trusted_key *trusted = find_key(trust, keyid);
    return trusted != NULL && (trusted->not_before_ms != INT64_MIN || trusted->not_after_ms != INT64_MAX);
}
