#include "records/verdict.h"
#include "verify/internal.h"

/* A test result has no time of its own, nor stands with any record that has one: what the row says of when it was added
 * is not signed, and only bounds it from above. The summary beside it was signed at the same moment, and states that.
 */
static cs_result check_window(const cs_entry *entry, const cs_trust *trust, const char keyid[65],
                              const cs_read_verdict *read, cs_error *err) {
    if (read->kind == CS_VERDICT_SUMMARY) {
        int64_t when = read->verdict.made_unix_ms;
        return cs_trust_check_time(trust, keyid, when, when, err);
    }
    return cs_trust_check_time(trust, keyid, INT64_MIN, entry->row->added_unix_ms, err);
}

static cs_result check_envelope(const cs_entry *entry, const cs_envelope *envelope, const cs_trust *trust,
                                cs_buf *scratch, cs_error *err) {
    cs_read_verdict read;
    cs_result result = cs_envelope_verify(envelope, trust, scratch, err);
    if (result != CS_OK && err != NULL && err->code == CS_CODE_ENVELOPE_KEY_UNKNOWN)
        cs_error_also(err,
                      ": it signed a gate's verdict that is kept here; if you trust that gate, give its public key "
                      "too (-p)");
    if (result == CS_OK) result = cs_verdict_read(cs_buf_view(&envelope->payload), &read, err);
    if (result != CS_OK) return result;
    result = check_window(entry, trust, envelope->keyid, &read, err);
    cs_read_verdict_free(&read);
    return result;
}

cs_result cs_stated_verdict_check(const cs_entry *entry, const cs_trust *trust, cs_buf *scratch, cs_error *err) {
    cs_envelope envelope;
    cs_result result = cs_envelope_decode(entry->envelope, &envelope, err);
    if (result == CS_OK) {
        result = check_envelope(entry, &envelope, trust, scratch, err);
        cs_envelope_free(&envelope);
    }
    if (result != CS_OK) cs_error_where(err, "envelope");
    return result;
}
