#include <string.h>

#include "records/request.h"
#include "verify/internal.h"

void cs_exchange_clear(cs_exchange *exchange) {
    if (exchange->enveloped) cs_envelope_free(&exchange->envelope);
    if (exchange->read) cs_statement_free(&exchange->statement);
    *exchange = (cs_exchange){.enveloped = false};
}

static cs_result check_envelope(const cs_entry *entry, const cs_trust *trust, cs_workspace *work, cs_exchange *out,
                                cs_error *err) {
    cs_result result = cs_envelope_decode(entry->envelope, &out->envelope, err);
    if (result == CS_OK) {
        out->enveloped = true;
        result = cs_envelope_verify(&out->envelope, trust, &work->signed_bytes, err);
    }
    if (result != CS_OK) cs_error_where(err, "envelope");
    return result;
}

/* Read the statement that was signed, and require its kind. */
static cs_result read_statement(cs_exchange *out, cs_statement_kind kind, const char *what, cs_error *err) {
    cs_result result = cs_statement_read(cs_buf_view(&out->envelope.payload), &out->statement, err);
    if (result == CS_OK) {
        out->read = true;
        if (out->statement.kind != kind) {
            result = cs_fail(err, CS_CODE_STATEMENT_TYPE, "the signed statement is not one of %s", what);
        }
    }
    if (result != CS_OK) cs_error_where(err, "envelope");
    return result;
}

static cs_result check_request(cs_view bytes, cs_workspace *work, cs_exchange *out, cs_error *err) {
    const ProtobufCMessage *message = NULL;
    cs_result result = cs_message_view(&plimsoll__v1__run_request__descriptor, bytes, work->arena, &message, err);
    out->request = (const cs_run_request *)message;
    if (result == CS_OK) result = cs_message_coverage(message, bytes, err);
    if (result == CS_OK) result = cs_request_validate(out->request, true, err);
    /* What "was not sent" means to a client, a stored request has as a plain failure. */
    if (result == CS_NOT_RUN) result = cs_error_recode(err, CS_CODE_EXCHANGE_REQUEST);
    if (result != CS_OK) cs_error_where(err, "request");
    return result;
}

static cs_result check_response(cs_view bytes, cs_workspace *work, cs_exchange *out, cs_error *err) {
    const ProtobufCMessage *message = NULL;
    cs_result result = cs_message_view(&plimsoll__v1__run_response__descriptor, bytes, work->arena, &message, err);
    out->response = (const cs_run_response *)message;
    if (result == CS_OK) {
        const cs_run_record *record = out->response->record;
        out->in_session = record != NULL && record->session.len > 0;
        cs_call call = {
            .request = out->request, .response = out->response, .response_bytes = bytes, .in_session = out->in_session};
        result = cs_check_run(&call, work->hash, &out->checked, err);
        out->record = record;
    }
    if (result != CS_OK) cs_error_where(err, "response");
    return result;
}

/* The statement that the response's record gives is compared with the signed bytes; it is read only
 * when they differ, to tell why. */
static cs_result check_signed_record(cs_workspace *work, cs_exchange *out, cs_error *err) {
    cs_buf_clear(&work->statement);
    if (!cs_statement_record(out->record, &work->statement)) {
        return cs_fail(err, CS_CODE_STATEMENT_MALFORMED, "the record is larger than a statement may be");
    }
    if (cs_view_equal(cs_buf_view(&work->statement), cs_buf_view(&out->envelope.payload))) return CS_OK;
    cs_result result = read_statement(out, CS_STATEMENT_RECORD, "a run's record", err);
    if (result != CS_OK) return result;
    return cs_check_same_record(out->record, out->statement.record, err);
}

/* The only copy of an unanswered call's record is the signed one. */
static cs_result check_unanswered(cs_workspace *work, cs_exchange *out, cs_error *err) {
    out->unanswered = true;
    cs_result result = read_statement(out, CS_STATEMENT_RECORD, "a run's record", err);
    if (result != CS_OK) return result;
    out->record = out->statement.record;
    out->in_session = out->record->session.len > 0;
    result = cs_check_unanswered(out->request, out->record, work->hash, &out->checked, err);
    if (result == CS_OK && !out->in_session) {
        result = cs_fail(err, CS_CODE_SESSION_FIELDS, "the record of an unanswered call belongs to no session");
    }
    return result;
}

/* The column by which the ledger finds a run says what the run's record says. */
static cs_result check_columns(const cs_entry *entry, const cs_exchange *out, cs_error *err) {
    if (entry->row == NULL || out->record == NULL) return CS_OK;
    cs_view stated = cs_bytes_view(&out->record->record_sha256);
    if (cs_view_equal(stated, entry->row->record_sha256)) return CS_OK;
    return cs_fail_differs(err, CS_CODE_LEDGER_COLUMNS, "the column record_sha256 is not the signed record's", stated,
                           entry->row->record_sha256);
}

/* A record was signed at its own time, and by a key that was trusted then. */
static cs_result check_window(const cs_exchange *out, const cs_trust *trust, cs_error *err) {
    if (out->closes) return CS_OK;
    const cs_run_record *record = out->record;
    cs_result result =
        cs_trust_check_run(trust, out->envelope.keyid, record->started_unix_ms, record->ended_unix_ms, err);
    if (result != CS_OK) cs_error_where(err, "envelope");
    return result;
}

static cs_result check_parts(const cs_entry *entry, cs_workspace *work, cs_exchange *out, cs_error *err) {
    if (entry->request.ptr == NULL) {
        out->closes = true;
        return read_statement(out, CS_STATEMENT_CLOSE, "a session's close, and the entry holds no request", err);
    }
    cs_result result = check_request(entry->request, work, out, err);
    if (result != CS_OK) return result;
    if (entry->response.ptr == NULL) return check_unanswered(work, out, err);
    result = check_response(entry->response, work, out, err);
    if (result != CS_OK) return result;
    return check_signed_record(work, out, err);
}

cs_result cs_exchange_check(const cs_entry *entry, const cs_trust *trust, cs_workspace *work, cs_exchange *out,
                            cs_error *err) {
    cs_arena_reset(work->arena);
    if (entry->envelope.ptr == NULL || (entry->request.ptr == NULL && entry->response.ptr != NULL)) {
        return cs_fail(err, entry->row != NULL ? CS_CODE_LEDGER_COLUMNS : CS_CODE_LINE_FRAMING,
                       "the entry lacks a part: a run has a request, a response and an envelope");
    }
    cs_result result = check_envelope(entry, trust, work, out, err);
    if (result == CS_OK) result = check_parts(entry, work, out, err);
    if (result == CS_OK) result = check_columns(entry, out, err);
    if (result == CS_OK) result = check_window(out, trust, err);
    return result;
}

static uint64_t advice_of(const cs_run_response *response) {
    switch (response->result_case) {
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_JAVASCRIPT:
        return response->javascript->n_advice;
    case PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT:
        return response->project->n_advice;
    default:
        return 0;
    }
}

static uint64_t durations_of(const cs_run_response *response) {
    uint64_t count = response->duration_ms != 0 ? 1 : 0;
    if (response->result_case != PLIMSOLL__V1__RUN_RESPONSE__RESULT_PROJECT) return count;
    for (size_t i = 0; i < response->project->n_steps; i++) {
        if (response->project->steps[i]->duration_ms != 0) count++;
    }
    return count;
}

void cs_exchange_uncovered(const cs_exchange *exchange, cs_uncovered *counts) {
    if (exchange->request != NULL && exchange->request->trace_id.len > 0) counts->trace_ids++;
    if (exchange->response == NULL) return;
    counts->durations += durations_of(exchange->response);
    counts->advice += advice_of(exchange->response);
}
