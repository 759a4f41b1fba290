#include "harness/session.h"

#include <sodium.h>
#include <string.h>

#include "harness/keep.h"

#define REASON(name) PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_##name
#define MAX_ID_BYTES 256u /* of an id that is not of the form, with which a session is closed again */

static const cs_describe_response *described(const cs_outcome *outcome) {
    return (const cs_describe_response *)outcome->message;
}

static void stop(cs_session *session, const char *why) {
    if (session->stopped) return;
    session->stopped = true;
    (void)cs_fail(&session->why_stopped, CS_CODE_SESSION_STOPPED, "not sent: %s", why);
}

/* The daemon said with an answer or an error that the session has ended. */
static void note_end(cs_session *session, const cs_outcome *outcome) {
    if (!outcome->ended || session->stopped) return;
    stop(session, "the daemon ended the session");
    cs_error_also(&session->why_stopped, " (%s)%s%.200s", cs_session_end_word(outcome->end),
                 outcome->end_detail[0] != '\0' ? ": " : "", outcome->end_detail);
}

/* ---- the id -------------------------------------------------------------------------------------- */

/* Take the id out of the answer into locked memory. */
static cs_result take_id(cs_session *session, cs_error *err) {
    cs_outcome *outcome = &session->opening.outcome;
    cs_view id = cs_bytes_view(&((const cs_open_session_response *)outcome->message)->session_id);
    if (id.len > 0 && id.len <= MAX_ID_BYTES) session->id = sodium_malloc(id.len + 1);
    bool taken = session->id != NULL;
    if (taken) {
        memcpy(session->id, id.ptr, id.len);
        session->id[id.len] = '\0';
    }
    cs_outcome_forget_session(outcome);
    if (taken) return CS_OK;
    return cs_fail(err, CS_CODE_NO_MEMORY, "no locked memory for the session's id; the session expires by itself");
}

/* A daemon may put the id anywhere into its answers, and a check quotes what it finds there. */
static void hide_id(const cs_session *session, cs_run_report *report) {
    if (session->id != NULL) cs_error_blot(&report->err, cs_view_of(session->id));
}

static void forget_id(cs_session *session) {
    sodium_free(session->id); /* wipes; NULL is fine */
    session->id = NULL;
}

static cs_result send_close(const cs_session *session, cs_outcome *outcome) {
    cs_close_session_request request = PLIMSOLL__V1__CLOSE_SESSION_REQUEST__INIT;
    request.protocol = session->terms->protocol;
    request.session_id = (ProtobufCBinaryData){.len = strlen(session->id), .data = (uint8_t *)session->id};
    return cs_client_close_session(session->options.client, &request, outcome);
}

/* ---- opening ------------------------------------------------------------------------------------- */

static void keep_finding_of(const cs_session *session, cs_run_report *report) {
    hide_id(session, report);
    cs_ledger_row row = cs_keep_row(&session->options);
    row.describe_before = cs_buf_view(&session->opening.before.bytes);
    row.describe_after = cs_buf_view(&report->after.bytes);
    cs_keep_finding(&session->options, row, report);
}

static cs_result unopened(cs_session *session) {
    cs_run_report *report = &session->opening;
    report->err = report->outcome.err;
    cs_result result = cs_code_class(report->err.code);
    if (report->outcome.state != CS_CALL_UNANSWERED) return result;
    cs_error_also(&report->err, " (OpenSession: %s; no call was sent, so nothing of yours ran)",
                 cs_code_name(report->err.code));
    result = cs_error_recode(&report->err, CS_CODE_SESSION_OPEN_FAILED);
    keep_finding_of(session, report);
    return result;
}

/* A session that may not be used is closed again, whatever comes of that. */
static cs_result reject(cs_session *session, cs_result result) {
    cs_run_report *report = &session->opening;
    if (session->id != NULL) {
        cs_outcome outcome;
        bool closed = send_close(session, &outcome) == CS_OK;
        cs_error_also(&report->err, "; the session was %s", closed ? "closed again" : "left to expire");
        cs_outcome_free(&outcome);
    }
    keep_finding_of(session, report);
    forget_id(session);
    return result;
}

/* A daemon may hand out an id twice. Calls signed after the close that the ledger holds would spoil it for good. */
static cs_result check_new(const cs_session *session, cs_error *err) {
    if (session->options.ledger == NULL) return CS_OK;
    int64_t closed = 0;
    cs_result result =
        cs_ledger_find_close(session->options.ledger, cs_digest_view(&session->chain.session), &closed, err);
    if (result != CS_OK || closed == 0) return result;
    return cs_fail(err, CS_CODE_CHAIN_REOPENED,
                   "the daemon gave out a session whose close the ledger holds already, as entry %lld; nothing was run",
                   (long long)closed);
}

static cs_result open_steps(cs_session *session) {
    cs_run_report *report = &session->opening;
    cs_result result = cs_keep_check(&session->options, &report->err);
    if (result != CS_OK) return result;
    result = cs_session_validate(session->terms, &report->err);
    if (result != CS_OK) return cs_keep_never_called(report, result, REASON(REQUEST));
    result = cs_keep_describe(&session->options, report, &session->terms->protocol);
    if (result != CS_OK) return cs_keep_never_called(report, result, cs_keep_describe_reason(report));
    if (cs_client_open_session(session->options.client, session->terms, &report->outcome) != CS_OK)
        return unopened(session);

    result = cs_session_check_open(session->terms, (const cs_open_session_response *)report->outcome.message,
                                   described(&report->before), &session->chain, &report->err);
    cs_error trouble = CS_ERROR_INIT;
    cs_result taken = take_id(session, &trouble);
    if (result != CS_OK) return reject(session, result);
    if (taken != CS_OK) {
        report->err = trouble;
        return taken;
    }
    result = check_new(session, &report->err);
    return result == CS_OK ? CS_OK : reject(session, result);
}

cs_result cs_session_open(const cs_run_options *options, cs_open_session_request *terms, cs_session *session) {
    *session = (cs_session){.options = *options, .terms = terms, .why_stopped = CS_ERROR_INIT};
    cs_keep_begin(&session->opening, NULL);
    cs_result result = cs_keep_end(&session->opening, open_steps(session));
    session->opened = result == CS_OK;
    if (!session->opened) stop(session, "there is no session");
    return result;
}

void cs_session_free(cs_session *session) {
    forget_id(session);
    cs_run_report_free(&session->opening);
    cs_message_free(session->terms);
    *session = (cs_session){.why_stopped = CS_ERROR_INIT};
}

/* ---- a call -------------------------------------------------------------------------------------- */

static cs_ledger_row row_of(const cs_session *session, const cs_run_report *report) {
    cs_ledger_row row = cs_keep_row(&session->options);
    row.request = cs_buf_view(&report->request_bytes);
    row.describe_before = cs_buf_view(&session->opening.before.bytes);
    return row;
}

static void keep_finding(cs_session *session, cs_run_report *report, cs_view response) {
    hide_id(session, report);
    cs_ledger_row row = row_of(session, report);
    if (response.len > 0) row.response = response;
    cs_keep_finding(&session->options, row, report);
}

/* A record that passed: the chain goes on to it, and it is signed and kept. When that fails, what is kept has a
 * hole, which no close may cover. */
static cs_result keep_record(cs_session *session, cs_run_report *report, const char *kind, cs_view response) {
    cs_session_advance(&session->chain, &report->checked);
    if (session->options.key == NULL) return CS_OK;
    cs_ledger_row row = row_of(session, report);
    row.kind = cs_view_of(kind);
    row.response = response;
    row.record_sha256 = cs_digest_view(&report->checked.record_sha256);
    cs_result result = cs_sign_run(session->options.key, &report->checked, &report->envelope, &report->err);
    if (result == CS_OK)
        result = cs_keep_signed(&session->options, row, report);
    else
        keep_finding(session, report, response);
    if (result == CS_OK) return CS_OK;
    session->unkept = true;
    stop(session, "an earlier call of the session could not be signed and kept");
    return result;
}

static cs_result check_record(const cs_session *session, cs_run_report *report, cs_view response_bytes) {
    cs_sha256 *hash = cs_sha256_new();
    if (hash == NULL) return cs_fail(&report->err, CS_CODE_NO_MEMORY, "there is no memory for a running hash");
    cs_checked_run checked;
    cs_result result = CS_UNCHECKED;
    if (report->response == NULL) {
        result = cs_check_unanswered(report->request, report->outcome.unanswered, hash, &checked, &report->err);
    } else {
        cs_call observed = {
            .request = report->request,
            .response = report->response,
            .response_bytes = response_bytes,
            .sent_unix_ms = report->outcome.sent_unix_ms,
            .received_unix_ms = report->outcome.received_unix_ms,
            .skew_ms = session->options.skew_ms,
            .in_session = true,
        };
        result = cs_check_run(&observed, hash, &checked, &report->err);
    }
    cs_sha256_free(hash);
    if (result == CS_OK) result = cs_session_check_next(&session->chain, checked.record, &report->err);
    if (result == CS_OK) report->checked = checked;
    return result;
}

/* The answer is one message around the run's. When the whole is canonical, so is the part, and the part encoded
 * again is what was received. */
static cs_result settle(cs_session *session, cs_run_report *report) {
    CS_AUTO_BUF part = CS_BUF_INIT(report->outcome.bytes.max);
    cs_view whole = cs_buf_view(&report->outcome.bytes);
    cs_result result = CS_UNCHECKED;
    if (report->response == NULL)
        result = cs_fail(&report->err, CS_CODE_RECORD_MISSING, "the answer holds no run, so nothing states what ran");
    else
        result = cs_message_encode(&report->response->base, &part, &report->err);
    if (result == CS_OK) result = check_record(session, report, cs_buf_view(&part));
    if (result == CS_OK) {
        result = cs_message_coverage(report->outcome.message, whole, &report->err);
        if (result != CS_OK) memset(&report->checked, 0, sizeof report->checked);
    }
    if (result == CS_OK) return keep_record(session, report, CS_KIND_RUN, cs_buf_view(&part));

    bool canonical = part.len > 0 && cs_message_coverage(report->outcome.message, whole, NULL) == CS_OK;
    keep_finding(session, report, canonical ? cs_buf_view(&part) : whole);
    stop(session, "the answer to an earlier call failed its checks, so the session can't be followed");
    return result;
}

/* The call may have run. With a good record the daemon has stated so, and the session can be followed. */
static cs_result settle_unanswered(cs_session *session, cs_run_report *report) {
    const cs_error unanswered = report->outcome.err;
    if (report->outcome.unanswered == NULL) {
        report->err = unanswered;
        keep_finding(session, report, cs_buf_view(&report->outcome.raw));
        session->lost = true;
        stop(session, "an earlier call got no answer and no record, so the session can't be followed");
        return CS_MAYBE_RAN;
    }
    cs_result result = check_record(session, report, (cs_view){0});
    if (result != CS_OK) {
        cs_error_also(&report->err, "; the call got no answer, and may have run");
        keep_finding(session, report, cs_buf_view(&report->outcome.raw));
        stop(session, "the record of an earlier call without an answer failed its checks");
        return result;
    }
    /* That it may have run counts for more than trouble with keeping its record, which the text tells. */
    if (keep_record(session, report, CS_KIND_UNANSWERED, (cs_view){0}) != CS_OK) {
        const cs_error trouble = report->err;
        report->err = unanswered;
        cs_error_also(&report->err, "; its record is good, and is not in the ledger (%s)", cs_code_name(trouble.code));
        return CS_MAYBE_RAN;
    }
    report->err = unanswered;
    if (report->entry != 0) cs_error_also(&report->err, "; the daemon's record of it is good and signed");
    return CS_MAYBE_RAN;
}

static cs_result send_call(cs_session *session, cs_run_report *report) {
    cs_session_run_request request = cs_session_call_of(report->request, cs_view_of(session->id));
    cs_result result = cs_client_session_run(session->options.client, &request, &report->outcome);
    report->ran = report->outcome.state != CS_CALL_UNSENT;
    if (result == CS_OK) {
        report->response = ((const cs_session_run_response *)report->outcome.message)->run;
        result = settle(session, report);
    } else if (report->outcome.state == CS_CALL_UNANSWERED) {
        result = settle_unanswered(session, report);
    } else {
        report->err = report->outcome.err;
    }
    note_end(session, &report->outcome);
    return result;
}

static cs_result call_steps(cs_session *session, cs_run_report *report) {
    if (session->stopped || session->id == NULL) {
        stop(session, "the session is closed");
        report->err = session->why_stopped;
        return cs_code_class(report->err.code);
    }
    cs_result result = cs_session_bind(session->terms, report->request, &report->err);
    if (result == CS_OK) result = cs_keep_encode(report);
    if (result != CS_OK) return cs_keep_never_called(report, result, REASON(REQUEST));
    return send_call(session, report);
}

cs_result cs_session_call(cs_session *session, cs_run_request *request, cs_run_report *report) {
    cs_keep_begin(report, request);
    return cs_keep_end(report, call_steps(session, report));
}

/* ---- the close ----------------------------------------------------------------------------------- */

static cs_result drifted(cs_code code, const char *what, const ProtobufCBinaryData *before,
                         const ProtobufCBinaryData *after, cs_error *err) {
    if (cs_view_equal(cs_bytes_view(before), cs_bytes_view(after))) return CS_OK;
    return cs_fail_differs(err, code, what, cs_bytes_view(before), cs_bytes_view(after));
}

static cs_result check_drift(const cs_session *session, const cs_run_report *report, cs_error *err) {
    const cs_describe_response *before = described(&session->opening.before);
    const cs_describe_response *after = described(&report->after);
    cs_result result = drifted(CS_CODE_PROVIDER_DRIFT, "after the session the daemon described another provider",
                               &before->sandbox, &after->sandbox, err);
    if (result == CS_OK)
        result = drifted(CS_CODE_TIER_DRIFT, "after the session the daemon described another tier", &before->isolation,
                         &after->isolation, err);
    if (result == CS_OK)
        result = drifted(CS_CODE_POLICY_DRIFT, "after the session the daemon described another policy", &before->policy,
                         &after->policy, err);
    if (result == CS_OK && before->protocol != after->protocol)
        result =
            cs_fail(err, CS_CODE_PROTOCOL_DRIFT, "the daemon described protocol %u before the session and %u after it",
                    before->protocol, after->protocol);
    return result;
}

/* The close counts the call that was lost, which is no lie: that call may have run, and its record is missing here. */
static cs_result counted_lost(const cs_session *session, const cs_run_report *report, bool told, cs_error *err) {
    cs_result drift = told ? check_drift(session, report, err) : CS_OK;
    if (drift != CS_OK) return drift;
    (void)cs_fail(err, CS_CODE_SESSION_UNCLOSED,
                  "the session is closed, and its close counts one call more than have a record here: the call that "
                  "got no answer reached the daemon and may have run. The close is not signed");
    return CS_MAYBE_RAN;
}

/* Everything that must hold before a close is signed. */
static cs_result check_close(const cs_session *session, cs_run_report *report, bool told, cs_checked_close *checked) {
    cs_error *err = &report->err;
    const cs_close_session_response *response = (const cs_close_session_response *)report->outcome.message;
    cs_result result = cs_session_check_close(&session->chain, response, checked, err);
    if (result != CS_OK && session->lost && cs_session_close_counts_one_more(&session->chain, response))
        return counted_lost(session, report, told, err);
    if (result != CS_OK) return result;
    if (!told) {
        *err = report->after.err;
        cs_error_also(err, " (Describe after the session: %s; so its close is not signed)",
                     cs_code_name(report->after.err.code));
        return cs_error_recode(err, CS_CODE_DESCRIBE_AFTER_FAILED);
    }
    result = check_drift(session, report, err);
    if (result == CS_OK && session->unkept)
        result = cs_fail(err, CS_CODE_SESSION_UNCLOSED,
                         "the session is closed, and its close is not signed, since one of its calls is not in the "
                         "ledger");
    return result;
}

static cs_result sign_close(const cs_session *session, const cs_checked_close *checked, cs_run_report *report) {
    cs_result result = cs_sign_close(session->options.key, checked, &report->envelope, &report->err);
    if (result != CS_OK) {
        keep_finding_of(session, report);
        return result;
    }
    cs_ledger_row row = cs_keep_row(&session->options);
    row.kind = cs_view_of(CS_KIND_CLOSE);
    row.describe_before = cs_buf_view(&session->opening.before.bytes);
    row.describe_after = cs_buf_view(&report->after.bytes);
    return cs_keep_signed(&session->options, row, report);
}

static cs_result close_steps(cs_session *session, cs_run_report *report) {
    if (session->id == NULL) return cs_fail(&report->err, CS_CODE_SESSION_STOPPED, "there is no session to close");
    cs_result result = send_close(session, &report->outcome);
    report->ran = report->outcome.state != CS_CALL_UNSENT;
    if (result != CS_OK) {
        report->err = report->outcome.err;
        cs_error_also(&report->err, " (CloseSession: %s)", cs_code_name(report->err.code));
        result = cs_error_recode(&report->err, CS_CODE_SESSION_UNCLOSED);
        keep_finding_of(session, report);
        return result;
    }
    bool told = cs_client_describe_last(session->options.client, &report->after) == CS_OK;
    cs_checked_close checked;
    result = check_close(session, report, told, &checked);
    if (result != CS_OK) keep_finding_of(session, report);
    return result == CS_OK && session->options.key != NULL ? sign_close(session, &checked, report) : result;
}

cs_result cs_session_finish(cs_session *session, cs_run_report *report) {
    cs_keep_begin(report, NULL);
    cs_result result = cs_keep_end(report, close_steps(session, report));
    forget_id(session);
    return result;
}
