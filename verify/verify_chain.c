#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#include "verify/internal.h"

/* Hexadecimal text of exactly one digest. */
static bool read_digest(cs_view text, uint8_t out[CS_SHA256_BYTES]) {
    if (!cs_is_hex(text, CS_SHA256_HEX)) return false;
    return sodium_hex2bin(out, CS_SHA256_BYTES, (const char *)text.ptr, text.len, NULL, NULL, NULL) == 0;
}

/* The text that the next record of a chain must state as its previous digest: empty for the first. */
static cs_view previous_of(const cs_chain *chain, cs_digest *hex) {
    if (chain->calls == 0) return cs_view_of("");
    cs_hex(chain->last, CS_SHA256_BYTES, hex->hex);
    return cs_digest_view(hex);
}

bool cs_holes_excuse(cs_holes *holes, uint64_t before, uint64_t missing) {
    uint64_t since = holes->seen - before;
    uint64_t unspent = holes->seen - holes->spent;
    if (missing > since || missing > unspent) return false;
    holes->spent += missing;
    return true;
}

/* Do failed entries since the session's newest one explain `missing` calls? Each explains one only. */
static bool excuse(const cs_chain *chain, cs_holes *holes, uint64_t missing) {
    return cs_holes_excuse(holes, chain->holes, missing);
}

bool cs_chain_excused(const cs_chain *chain, cs_holes *holes) {
    return excuse(chain, holes, 1);
}

/* Versions 2 and 3 belong together; 1 and 4 stand alone. */
static uint32_t family_of(const cs_run_record *record) {
    return record->version == 3 ? 2 : record->version;
}

/* Said once where the family changes, not again for every call that follows. */
static cs_result check_version(cs_chain *chain, const cs_run_record *record, cs_error *err) {
    uint32_t family = family_of(record);
    if (chain->family == 0) chain->family = family;
    bool said = chain->odd;
    chain->odd = family != chain->family;
    if (!chain->odd || said) return CS_OK;
    return cs_fail(err, CS_CODE_CHAIN_VERSION,
                   "record version %" PRIu32 " in a session that began with version %s; one session has version 1 "
                   "alone, 2 with 3, or 4 alone",
                   record->version, chain->family == 1 ? "1" : chain->family == 4 ? "4" : "2 or 3");
}

/* The place of a call among the others; `chain` is moved on to it unless it stands behind. */
static cs_result check_place(cs_chain *chain, cs_holes *holes, const cs_run_record *record,
                             const uint8_t digest[CS_SHA256_BYTES], cs_error *err) {
    if (record->sequence == 0) {
        return cs_fail(err, CS_CODE_CHAIN_SEQUENCE, "a call of number 0; the calls of a session are numbered from 1");
    }
    if (record->sequence <= chain->calls) {
        return cs_fail(err, CS_CODE_CHAIN_ORDER,
                       "call %" PRIu64 " of its session stands behind call %" PRIu64 "; it is a copy or out of order",
                       record->sequence, chain->calls);
    }
    cs_result result = CS_OK;
    uint64_t missing = record->sequence - chain->calls - 1;
    cs_digest hex;
    cs_view expected = previous_of(chain, &hex);
    cs_view stated = cs_bytes_view(&record->previous_sha256);
    if (missing > 0 && !excuse(chain, holes, missing)) {
        result = cs_fail(err, CS_CODE_CHAIN_SEQUENCE,
                         "call %" PRIu64 " of its session follows call %" PRIu64 "; %" PRIu64 " in between missing",
                         record->sequence, chain->calls, missing);
    } else if (missing == 0 && !cs_view_equal(expected, stated)) {
        result = cs_fail_differs(err, CS_CODE_CHAIN_PREVIOUS,
                                 "the record does not name the record of the call before it", expected, stated);
    }
    if (missing > 0) chain->bad = true; /* also when an earlier fault explains it */
    chain->calls = record->sequence;
    memcpy(chain->last, digest, CS_SHA256_BYTES);
    return result;
}

static cs_result check_call(cs_chain *chain, cs_holes *holes, const cs_run_record *record,
                            const uint8_t digest[CS_SHA256_BYTES], cs_error *err) {
    if (chain->closed) {
        return cs_fail(err, CS_CODE_CHAIN_REOPENED,
                       "call %" PRIu64 " of a session that was closed before; nothing may follow a close",
                       record->sequence);
    }
    cs_error place = CS_ERROR_INIT;
    cs_result version = check_version(chain, record, err);
    cs_result placed = check_place(chain, holes, record, digest, &place);
    if (version == CS_OK && placed != CS_OK) *err = place;
    return version != CS_OK ? version : placed;
}

/* Keep what an entry made of its session. */
static cs_result remember(cs_memory *memory, const cs_holes *holes, uint64_t entry, cs_chain *chain, cs_result result,
                          cs_error *err) {
    chain->entry = entry;
    chain->holes = holes->seen;
    if (result != CS_OK) chain->bad = true;
    cs_result stored = cs_memory_store(memory, chain, err);
    return stored != CS_OK ? stored : result;
}

cs_result cs_chain_call(cs_memory *memory, cs_holes *holes, uint64_t entry, const cs_run_record *record,
                        cs_error *err) {
    uint8_t session[CS_SHA256_BYTES];
    uint8_t digest[CS_SHA256_BYTES];
    if (!read_digest(cs_bytes_view(&record->session), session) ||
        !read_digest(cs_bytes_view(&record->record_sha256), digest)) {
        return cs_fail(err, CS_CODE_SESSION_FIELDS, "the record's session is no fingerprint of 64 hexadecimal digits");
    }
    cs_chain chain;
    cs_result result = cs_memory_load(memory, session, &chain, err);
    if (result != CS_OK) return result;
    result = check_call(&chain, holes, record, digest, err);
    if (record->ended_unix_ms > chain.newest_ms) chain.newest_ms = record->ended_unix_ms;
    return remember(memory, holes, entry, &chain, result, err);
}

static cs_result check_close(const cs_chain *chain, cs_holes *holes, const cs_session_close *close, cs_error *err) {
    if (chain->closed) {
        return cs_fail(err, CS_CODE_CHAIN_REOPENED, "a second close of the same session; only one may be");
    }
    if (close->calls > chain->calls && excuse(chain, holes, close->calls - chain->calls)) return CS_OK;
    if (close->calls != chain->calls) {
        return cs_fail(err, CS_CODE_CHAIN_CLOSE,
                       "the close counts %" PRIu64 " calls of its session, and the last one here is call %" PRIu64,
                       close->calls, chain->calls);
    }
    cs_digest hex;
    cs_view expected = previous_of(chain, &hex);
    if (!cs_view_is(expected, close->last_record_sha256)) {
        return cs_fail_differs(err, CS_CODE_CHAIN_CLOSE, "the close does not name the last record of its session",
                               expected, cs_view_of(close->last_record_sha256));
    }
    return CS_OK;
}

cs_result cs_chain_close(cs_memory *memory, cs_holes *holes, uint64_t entry, const cs_session_close *close, bool *good,
                         int64_t *newest_ms, cs_error *err) {
    *good = false;
    *newest_ms = INT64_MIN;
    uint8_t session[CS_SHA256_BYTES];
    if (!read_digest(cs_view_of(close->session), session)) {
        return cs_fail(err, CS_CODE_CHAIN_CLOSE, "the close's session is no fingerprint of 64 hexadecimal digits");
    }
    cs_chain chain;
    cs_result result = cs_memory_load(memory, session, &chain, err);
    if (result != CS_OK) return result;
    bool excused = close->calls != chain.calls;
    result = check_close(&chain, holes, close, err);
    chain.closed = true;
    *newest_ms = chain.newest_ms;
    *good = result == CS_OK && !chain.bad && !excused;
    return remember(memory, holes, entry, &chain, result, err);
}
