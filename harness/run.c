#include "harness/run.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "records/check.h"
#include "records/request.h"
#include "records/text.h"

/* Room for encoding a request that turns out too large, so that its true size can be told. */
#define ENCODE_MAX ((size_t)8 * CS_MAX_REQUEST_BYTES)
#define DETAIL_BYTES 1400u

static const cs_describe_response *described(const cs_outcome *outcome) {
    return (const cs_describe_response *)outcome->message;
}

static int64_t now_unix_ms(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The path of the side file as a message may hold it. */
typedef struct shown_path {
    char text[200];
} shown_path;

static shown_path show_side_file(const cs_run_report *report) {
    shown_path shown = {.text = ""};
    cs_escape_short(cs_view_of(report->side_file), shown.text, sizeof shown.text);
    return shown;
}

/* ---- what is kept --------------------------------------------------------------------------- */

/* The columns that a run and a finding have in common. */
static cs_ledger_row common_row(const cs_run_options *options, const cs_run_report *report) {
    return (cs_ledger_row){
        .added_unix_ms = now_unix_ms(),
        .daemon = cs_view_of(cs_client_url(options->client)),
        .request = cs_buf_view(&report->request_bytes),
        .describe_before = cs_buf_view(&report->before.bytes),
        .describe_after = cs_buf_view(&report->after.bytes),
    };
}

/* The text of a finding: all that the error says, in one line. */
static void finding_detail(const cs_error *err, char *out, size_t size) {
    size_t len = (size_t)snprintf(out, size, "%s", err->message);
    if (err->where[0] != '\0') len += (size_t)snprintf(out + len, size - len, "; where: %s", err->where);
    if (err->expected[0] != '\0') len += (size_t)snprintf(out + len, size - len, "; expected: %s", err->expected);
    if (err->found[0] != '\0') snprintf(out + len, size - len, "; found: %s", err->found);
}

/* Keep the report's error as a finding. The verdict stays what it is, also when the ledger can't take
 * the finding: then it goes into a side file, and the message says so. */
static void keep_finding(const cs_run_options *options, cs_run_report *report, const cs_buf *response) {
    if (options->ledger == NULL) return;
    char detail[DETAIL_BYTES];
    finding_detail(&report->err, detail, sizeof detail);
    cs_ledger_row row = common_row(options, report);
    row.kind = cs_view_of(CS_KIND_FINDING);
    row.code = cs_view_of(cs_code_name(report->err.code));
    row.detail = cs_view_of(detail);
    if (response->len > 0) row.response = cs_buf_view(response);

    cs_error trouble = CS_ERROR_INIT;
    if (cs_ledger_append(options->ledger, &row, &report->entry, &trouble) == CS_OK) return;
    report->entry = 0;
    cs_error lost = CS_ERROR_INIT;
    if (cs_side_file_write(options->ledger_path, &row, report->side_file, sizeof report->side_file, &lost) == CS_OK)
        cs_error_also(&report->err, "; the ledger did not take this finding (%s), it is kept in %s",
                      cs_code_name(trouble.code), show_side_file(report).text);
    else
        cs_error_also(&report->err,
                      "; this finding could not be kept: neither the ledger (%s) nor a side file (%s) took it",
                      cs_code_name(trouble.code), cs_code_name(lost.code));
}

/* A signed run that the ledger did not take. It ran and was signed, so its bytes must not be lost. */
static cs_result keep_aside(const cs_run_options *options, const cs_ledger_row *row, cs_run_report *report,
                            const cs_error *trouble) {
    cs_error lost = CS_ERROR_INIT;
    if (cs_side_file_write(options->ledger_path, row, report->side_file, sizeof report->side_file, &lost) == CS_OK) {
        report->err = *trouble;
        cs_error_also(&report->err,
                      "; the run itself passed and is signed: it is kept in %s, which `countersign verify` reads. "
                      "Do not run it again for this; keep that file with the ledger",
                      show_side_file(report).text);
        return CS_UNCHECKED; /* also when the ledger itself turned out to be damaged: the run is good */
    }
    return cs_fail(&report->err, CS_CODE_IO,
                   "the run passed and was signed, but neither the ledger (%s) nor a side file (%s) took it: "
                   "the record is lost unless this program's output is kept",
                   cs_code_name(trouble->code), cs_code_name(lost.code));
}

static cs_result keep_run(const cs_run_options *options, cs_run_report *report) {
    cs_ledger_row row = common_row(options, report);
    row.kind = cs_view_of(CS_KIND_RUN);
    row.response = cs_buf_view(&report->outcome.bytes);
    row.envelope = cs_buf_view(&report->envelope);
    row.record_sha256 = cs_digest_view(&report->checked.record_sha256);

    cs_error trouble = CS_ERROR_INIT;
    if (cs_ledger_append(options->ledger, &row, &report->entry, &trouble) == CS_OK) return CS_OK;
    report->entry = 0;
    return keep_aside(options, &row, report, &trouble);
}

/* ---- the steps ------------------------------------------------------------------------------ */

/* Describe comes first: when it fails, nothing was run, whatever became of that call itself. */
static cs_result describe_before(const cs_run_options *options, cs_run_report *report) {
    if (cs_client_describe(options->client, &report->before) != CS_OK) {
        report->err = report->before.err;
        cs_error_also(&report->err, " (Describe: %s; nothing ran)", cs_code_name(report->before.err.code));
        return cs_error_recode(&report->err, CS_CODE_DESCRIBE_FAILED);
    }
    uint32_t protocol = described(&report->before)->protocol;
    if (protocol < 1 || protocol > CS_PROTOCOL)
        return cs_fail(&report->err, CS_CODE_DESCRIBE_FAILED,
                       "the daemon describes protocol %u and this program speaks 1 to %u (nothing ran)", protocol,
                       CS_PROTOCOL);
    if (report->request->protocol == 0) report->request->protocol = protocol;
    return CS_OK;
}

static cs_result encode(cs_run_report *report) {
    cs_result result = cs_message_encode(&report->request->base, &report->request_bytes, &report->err);
    if (result != CS_OK) return result;
    if (report->request_bytes.len > CS_MAX_REQUEST_BYTES)
        return cs_fail(
            &report->err, CS_CODE_REQUEST_INVALID,
            "the encoded request has %zu bytes and a daemon takes at most %u; send less at once (nothing ran)",
            report->request_bytes.len, CS_MAX_REQUEST_BYTES);
    return CS_OK;
}

/* The call itself. What may have run without a believable answer is kept as a finding; what
 * provably did not run leaves nothing. */
static cs_result call(const cs_run_options *options, cs_run_report *report) {
    cs_result result =
        cs_client_run(options->client, report->request, cs_buf_view(&report->request_bytes), &report->outcome);
    report->ran = report->outcome.state != CS_CALL_UNSENT;
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
        .response = (const cs_run_response *)report->outcome.message,
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

/* The Run call was never made, because of the request itself or of the daemon's Describe. */
static cs_result never_called(cs_run_report *report, cs_result result, cs_reason reason) {
    report->outcome.reason = reason;
    report->outcome.elsewhere = cs_reason_elsewhere(reason);
    return result;
}

/* A daemon that refuses to describe itself says why; otherwise it is this daemon or the way to it, and
 * another one could do. */
static cs_reason reason_of_describe(const cs_outcome *before) {
    if (before->state == CS_CALL_REFUSED) return before->reason;
    return PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_ENVIRONMENT;
}

static cs_result run_steps(const cs_run_options *options, cs_run_report *report) {
    if ((options->key != NULL) != (options->ledger != NULL))
        return cs_fail(&report->err, CS_CODE_USAGE, "a key and a ledger go together: give both or neither");
    cs_result result = cs_request_validate(report->request, false, &report->err);
    if (result != CS_OK)
        return never_called(report, result, PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_REQUEST);
    result = describe_before(options, report);
    if (result != CS_OK) return never_called(report, result, reason_of_describe(&report->before));
    result = encode(report);
    if (result != CS_OK)
        return never_called(report, result, PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_REQUEST);
    result = call(options, report);
    if (result == CS_OK) result = settle(options, report);
    return result;
}

cs_result cs_run_once(const cs_run_options *options, cs_run_request *request, cs_run_report *report) {
    *report = (cs_run_report){
        .result = CS_UNCHECKED,
        .err = CS_ERROR_INIT,
        .request = request,
        .request_bytes = CS_BUF_INIT(ENCODE_MAX),
        .envelope = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES),
    };
    report->result = run_steps(options, report);
    if (report->result == CS_OK) report->err = (cs_error){.code = CS_CODE_OK};
    return report->result;
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
