#include "harness/sign.h"

#include <string.h>

#include "records/statement.h"

/* The record of a checked run states the digest that the check recomputed. Looking again costs nothing
 * and keeps a caller's mistake from being signed. */
static bool is_checked(const cs_checked_run *run) {
    return run->record != NULL &&
           cs_view_equal(cs_bytes_view(&run->record->record_sha256), cs_digest_view(&run->record_sha256));
}

/* The same for a close, which states what its chain is. */
static bool is_checked_close(const cs_checked_close *close) {
    const cs_session_chain *chain = close->chain;
    return chain != NULL && cs_is_hex(cs_digest_view(&chain->session), CS_SHA256_HEX) &&
           close->close.calls == chain->calls && strcmp(close->close.session, chain->session.hex) == 0 &&
           strcmp(close->close.last_record_sha256, chain->last.hex) == 0;
}

/* The same for a link: a line's place, and either the entry that stands there or what the checkpoint counts. */
static bool is_link(const cs_bundle_link *link) {
    bool first = link->index == 1;
    bool placed = link->index >= 1 && (first ? link->previous_sha256[0] == '\0'
                                             : cs_is_hex(cs_view_of(link->previous_sha256), CS_SHA256_HEX));
    if (!placed) return false;
    if (link->checkpoint) return !first && link->entry_sha256[0] == '\0' && link->lines == link->index - 1;
    return link->lines == 0 && cs_is_hex(cs_view_of(link->entry_sha256), CS_SHA256_HEX);
}

/* With all the memory it may use set aside first, building the payload can only fail for its length. */
static cs_result make_room(cs_buf *payload, cs_error *err) {
    if (cs_buf_reserve(payload, CS_MAX_STATEMENT_BYTES)) return CS_OK;
    return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a statement");
}

static cs_result too_long(cs_error *err) {
    return cs_fail(err, CS_CODE_STATEMENT_MALFORMED,
                   "this statement would be longer than %u bytes, so it was not signed",
                   CS_MAX_STATEMENT_BYTES);
}

static cs_result sign_payload(const cs_key *key, cs_view payload, cs_buf *envelope, cs_error *err) {
    CS_AUTO_BUF pae = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES);
    if (!cs_dsse_pae(CS_PAYLOAD_TYPE, payload, &pae))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the bytes to sign");

    uint8_t signature[CS_SIGNATURE_BYTES];
    cs_result result = cs_key_sign(key, cs_buf_view(&pae), signature, err);
    if (result != CS_OK) return result;

    size_t before = envelope->len;
    if (!cs_envelope_encode(payload, cs_key_public(key)->id, signature, envelope)) {
        envelope->len = before;
        return cs_fail(err, CS_CODE_NO_MEMORY, "no room for an envelope of at most %u bytes", CS_MAX_ENVELOPE_BYTES);
    }
    return CS_OK;
}

cs_result cs_sign_run(const cs_key *key, const cs_checked_run *run, cs_buf *envelope, cs_error *err) {
    if (!is_checked(run)) return cs_fail(err, CS_CODE_INTERNAL, "only a run that passed every check can be signed");
    CS_AUTO_BUF payload = CS_BUF_INIT(CS_MAX_STATEMENT_BYTES);
    cs_result result = make_room(&payload, err);
    if (result != CS_OK) return result;
    if (!cs_statement_record(run->record, &payload)) return too_long(err);
    return sign_payload(key, cs_buf_view(&payload), envelope, err);
}

cs_result cs_sign_close(const cs_key *key, const cs_checked_close *close, cs_buf *envelope, cs_error *err) {
    if (!is_checked_close(close))
        return cs_fail(err, CS_CODE_INTERNAL, "only a close that agrees with its session can be signed");
    CS_AUTO_BUF payload = CS_BUF_INIT(CS_MAX_STATEMENT_BYTES);
    cs_result result = make_room(&payload, err);
    if (result != CS_OK) return result;
    if (!cs_statement_close(&close->close, &payload)) return too_long(err);
    return sign_payload(key, cs_buf_view(&payload), envelope, err);
}

cs_result cs_sign_link(const cs_key *key, const cs_bundle_link *link, cs_buf *envelope, cs_error *err) {
    if (!is_link(link)) return cs_fail(err, CS_CODE_INTERNAL, "only the link of a line in its place can be signed");
    CS_AUTO_BUF payload = CS_BUF_INIT(CS_MAX_STATEMENT_BYTES);
    cs_result result = make_room(&payload, err);
    if (result != CS_OK) return result;
    if (!cs_statement_link(link, &payload)) return too_long(err);
    return sign_payload(key, cs_buf_view(&payload), envelope, err);
}

cs_result cs_sign_verdict(const cs_key *key, cs_verdict_kind kind, const cs_stated_verdict *verdict, cs_buf *envelope,
                          cs_error *err) {
    cs_result result = cs_verdict_check(verdict, err);
    if (result != CS_OK) return result;
    CS_AUTO_BUF payload = CS_BUF_INIT(CS_MAX_STATEMENT_BYTES);
    result = make_room(&payload, err);
    if (result != CS_OK) return result;
    if (!cs_statement_verdict(kind, verdict, &payload)) return too_long(err);
    return sign_payload(key, cs_buf_view(&payload), envelope, err);
}
