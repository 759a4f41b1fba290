#include "cli/show_entry.h"

#include "records/check.h"

/* Remember the first thing that went wrong; decoding goes on with the other parts. */
static void note(cs_shown *shown, cs_result result, const cs_error *err) {
    if (result == CS_OK || shown->result != CS_OK) return;
    shown->result = result;
    shown->err = *err;
}

static void decode_envelope(cs_shown *shown, cs_view json) {
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_envelope_decode(json, &shown->envelope, &err);
    shown->enveloped = result == CS_OK;
    if (result == CS_OK && shown->entry->verdict) {
        result = cs_verdict_read(cs_buf_view(&shown->envelope.payload), &shown->verdict, &err);
        shown->judged = result == CS_OK;
    } else if (result == CS_OK) {
        result = cs_statement_read(cs_buf_view(&shown->envelope.payload), &shown->statement, &err);
        shown->stated = result == CS_OK;
    }
    note(shown, result, &err);
}

static void *decode_message(cs_shown *shown, const ProtobufCMessageDescriptor *type, cs_view bytes) {
    if (bytes.ptr == NULL) return NULL;
    cs_error err = CS_ERROR_INIT;
    ProtobufCMessage *message = NULL;
    cs_result result = cs_message_decode(type, bytes, &message, &err);
    /* A finding may hold whatever a daemon sent instead of an answer: that is what it is kept for. */
    if (!shown->entry->finding) note(shown, result, &err);
    return message;
}

/* ---- the check ------------------------------------------------------------------------------ */

static cs_result check_run(const cs_shown *shown, cs_sha256 *hash, cs_error *err) {
    const cs_run_record *record = shown->statement.record;
    cs_checked_run checked;
    if (shown->request == NULL)
        return cs_fail(err, CS_CODE_MESSAGE_MALFORMED, "a signed record stands without its request");
    if (shown->response == NULL) return cs_check_unanswered(shown->request, record, hash, &checked, err);
    cs_call call = {
        .request = shown->request,
        .response = shown->response,
        .response_bytes = shown->entry->response,
        .in_session = record->session.len > 0,
    };
    cs_result result = cs_message_coverage(&shown->request->base, shown->entry->request, err);
    if (result == CS_OK) result = cs_check_run(&call, hash, &checked, err);
    if (result == CS_OK) result = cs_check_same_record(shown->response->record, record, err);
    return result;
}

static cs_result check_times(const cs_shown *shown, const cs_trust *trust, cs_error *err) {
    const char *keyid = shown->envelope.keyid;
    if (shown->judged) {
        int64_t made_ms = shown->verdict.verdict.made_unix_ms;
        return cs_trust_check_time(trust, keyid, made_ms, made_ms, err);
    }
    const cs_run_record *record = shown->statement.record;
    return cs_trust_check_run(trust, keyid, record->started_unix_ms, record->ended_unix_ms, err);
}

/* Own times, of a record or the summary of a verdict, tell whether the key was trusted then; nothing else has any. */
static cs_result check_window(const cs_shown *shown, const cs_trust *trust, cs_error *err) {
    cs_result result = check_times(shown, trust, err);
    if (result != CS_OK) cs_error_where(err, "envelope");
    return result;
}

static void check(cs_shown *shown, const cs_trust *trust) {
    shown->checked = true;
    if (shown->result != CS_OK) return;
    cs_error err = CS_ERROR_INIT;
    CS_AUTO_BUF scratch = CS_BUF_INIT((size_t)CS_MAX_ENVELOPE_BYTES);
    cs_sha256 *hash = cs_sha256_new();
    cs_result result = hash != NULL ? CS_OK : cs_fail(&err, CS_CODE_NO_MEMORY, "there is no memory for a running hash");
    if (result == CS_OK) result = cs_envelope_verify(&shown->envelope, trust, &scratch, &err);
    bool run = shown->stated && shown->statement.kind == CS_STATEMENT_RECORD;
    bool timed = run || (shown->judged && shown->verdict.kind == CS_VERDICT_SUMMARY);
    if (result == CS_OK && run) result = check_run(shown, hash, &err);
    if (result == CS_OK && timed) result = check_window(shown, trust, &err);
    shown->timeless = !timed && cs_trust_is_bounded(trust, shown->envelope.keyid);
    cs_sha256_free(hash);
    note(shown, result, &err);
}

void cs_show_decode(const cs_entry *entry, const cs_trust *trust, cs_shown *out) {
    *out = (cs_shown){.entry = entry, .result = CS_OK, .err = CS_ERROR_INIT};
    cs_view json = entry->envelope.ptr != NULL ? entry->envelope : entry->link;
    if (json.ptr != NULL) decode_envelope(out, json);
    out->request = decode_message(out, &plimsoll__v1__run_request__descriptor, entry->request);
    out->response = decode_message(out, &plimsoll__v1__run_response__descriptor, entry->response);
    if (trust != NULL && json.ptr != NULL) check(out, trust);
}

void cs_shown_free(cs_shown *shown) {
    if (shown->enveloped) cs_envelope_free(&shown->envelope);
    if (shown->stated) cs_statement_free(&shown->statement);
    if (shown->judged) cs_read_verdict_free(&shown->verdict);
    cs_message_free(shown->request);
    cs_message_free(shown->response);
    *shown = (cs_shown){.result = CS_UNCHECKED, .err = CS_ERROR_INIT};
}

/* ---- words ---------------------------------------------------------------------------------- */

const char *cs_shown_kind(const cs_shown *shown) {
    if (shown->entry->finding) return "finding";
    if (shown->judged) return "verdict";
    if (!shown->stated) return "unreadable";
    if (shown->statement.kind == CS_STATEMENT_CLOSE) return "close";
    if (shown->statement.kind == CS_STATEMENT_LINK) return shown->statement.link.checkpoint ? "checkpoint" : "link";
    if (shown->statement.record->unanswered.len > 0) return "unanswered-call";
    return shown->statement.record->session.len > 0 ? "session-call" : "run";
}

const char *cs_shown_statement(const cs_read_verdict *read) {
    return read->kind == CS_VERDICT_SUMMARY ? "summary" : "test-result";
}

const char *cs_shown_verification(const cs_shown *shown) {
    if (shown->entry->envelope.ptr == NULL && shown->entry->link.ptr == NULL) return "unsigned";
    if (!shown->checked) return "not-checked";
    if (shown->result == CS_OK) return shown->timeless ? "signature-only" : "passed";
    return shown->result == CS_FAILED ? "failed" : "could-not-check";
}

const cs_run_record *cs_shown_record(const cs_shown *shown) {
    if (shown->stated && shown->statement.kind == CS_STATEMENT_RECORD) return shown->statement.record;
    return shown->response != NULL ? shown->response->record : NULL;
}
