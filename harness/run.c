#include "harness/run.h"

#include <string.h>

#include "harness/keep.h"
#include "records/check.h"
#include "records/request.h"

static const cs_describe_response *described(const cs_outcome *outcome) {
    return (const cs_describe_response *)outcome->message;
}

/* The columns that a run and a finding have in common. */
static cs_ledger_row row_of(const cs_run_options *options, const cs_run_report *report) {
    cs_ledger_row row = cs_keep_row(options);
    row.request = cs_buf_view(&report->request_bytes);
    row.describe_before = cs_buf_view(&report->before.bytes);
    row.describe_after = cs_buf_view(&report->after.bytes);
    return row;
}

static void keep_finding(const cs_run_options *options, cs_run_report *report, const cs_buf *response) {
    cs_ledger_row row = row_of(options, report);
    if (response->len > 0) row.response = cs_buf_view(response);
    cs_keep_finding(options, row, report);
}

/* A daemon may answer with a record that it gave before. It counts once, and is true, so it is only warned about;
 * when the ledger can't be read the append tells it. */
static void note_repeated(const cs_run_options *options, cs_run_report *report) {
    cs_checked_run *checked = &report->checked;
    cs_error unread = CS_ERROR_INIT;
    if (cs_ledger_find_record(options->ledger, cs_digest_view(&checked->record_sha256), &report->repeats, &unread) !=
        CS_OK)
        return;
    if (report->repeats != 0 && checked->warning_count < CS_MAX_WARNINGS)
        checked->warnings[checked->warning_count++] = CS_CODE_RECORD_DUPLICATE;
}

static cs_result keep_run(const cs_run_options *options, cs_run_report *report) {
    cs_ledger_row row = row_of(options, report);
    row.kind = cs_view_of(CS_KIND_RUN);
    row.response = cs_buf_view(&report->outcome.bytes);
    row.record_sha256 = cs_digest_view(&report->checked.record_sha256);
    note_repeated(options, report);
    return cs_keep_signed(options, row, report);
}

/* The call itself. What may have run without a believable answer is kept as a finding; what
 * provably did not run leaves nothing. */
static cs_result call(const cs_run_options *options, cs_run_report *report) {
    cs_result result =
        cs_client_run(options->client, report->request, cs_buf_view(&report->request_bytes), &report->outcome);
    report->ran = report->outcome.state != CS_CALL_UNSENT;
    report->response = (const cs_run_response *)report->outcome.message;
    if (result == CS_OK) return CS_OK;
    report->err = report->outcome.err;
    if (report->outcome.state == CS_CALL_UNANSWERED) keep_finding(options, report, &report->outcome.raw);
    return result;
}

/* Check what was answered. When the second Describe failed, everything else is still checked first:
 * an answer that is wrong by itself is wrong, not unchecked. */
static cs_result check(const cs_run_options *options, cs_run_report *report) {
    bool have_after = cs_client_describe(options->client, &report->after) == CS_OK;
    cs_sha256 *hash = cs_sha256_new();
    if (hash == NULL) return cs_fail(&report->err, CS_CODE_NO_MEMORY, "there is no memory for a running hash");
    cs_call observed = {
        .request = report->request,
        .response = report->response,
        .response_bytes = cs_buf_view(&report->outcome.bytes),
        .before = have_after ? described(&report->before) : NULL,
        .after = have_after ? described(&report->after) : NULL,
        .sent_unix_ms = report->outcome.sent_unix_ms,
        .received_unix_ms = report->outcome.received_unix_ms,
        .skew_ms = options->skew_ms,
    };
    cs_result result = cs_check_run(&observed, hash, &report->checked, &report->err);
    cs_sha256_free(hash);
    if (result != CS_OK || have_after) return result;

    memset(&report->checked, 0, sizeof report->checked);
    report->err = report->after.err;
    cs_error_also(&report->err,
                 " (Describe after the run: %s). The answer is kept unsigned: whether provider and tier stayed the "
                 "same could not be checked",
                 cs_code_name(report->after.err.code));
    return cs_error_recode(&report->err, CS_CODE_DESCRIBE_AFTER_FAILED);
}

/* Check, sign, keep. From here on there is an answer, so every way out leaves something behind. */
static cs_result settle(const cs_run_options *options, cs_run_report *report) {
    cs_result result = check(options, report);
    if (result == CS_OK && options->key != NULL) {
        result = cs_sign_run(options->key, &report->checked, &report->envelope, &report->err);
        if (result == CS_OK) return keep_run(options, report);
    }
    if (result != CS_OK) keep_finding(options, report, &report->outcome.bytes);
    return result;
}

static cs_result run_steps(const cs_run_options *options, cs_run_report *report) {
    cs_result result = cs_keep_check(options, &report->err);
    if (result != CS_OK) return result;
    result = cs_request_validate(report->request, false, &report->err);
    if (result != CS_OK)
        return cs_keep_never_called(report, result, PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_REQUEST);
    result = cs_keep_describe(options, report, &report->request->protocol);
    if (result != CS_OK) return cs_keep_never_called(report, result, cs_keep_describe_reason(report));
    result = cs_keep_encode(report);
    if (result != CS_OK)
        return cs_keep_never_called(report, result, PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_REQUEST);
    result = call(options, report);
    if (result == CS_OK) result = settle(options, report);
    return result;
}

cs_result cs_run_once(const cs_run_options *options, cs_run_request *request, cs_run_report *report) {
    cs_keep_begin(report, request);
    return cs_keep_end(report, run_steps(options, report));
}

void cs_run_report_free(cs_run_report *report) {
    cs_outcome_free(&report->outcome);
    cs_outcome_free(&report->before);
    cs_outcome_free(&report->after);
    cs_message_free(report->request);
    cs_buf_free(&report->request_bytes);
    cs_buf_free(&report->envelope);
    *report = (cs_run_report){.result = CS_UNCHECKED, .err = CS_ERROR_INIT};
}
