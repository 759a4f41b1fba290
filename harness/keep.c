#include "harness/keep.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "records/text.h"

/* Room for encoding a request that turns out too large, so that its true size can be told. */
#define ENCODE_MAX ((size_t)8 * CS_MAX_REQUEST_BYTES)
#define DETAIL_BYTES 1400u

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

/* ---- before a call ------------------------------------------------------------------------------ */

void cs_keep_begin(cs_run_report *report, cs_run_request *request) {
    *report = (cs_run_report){
        .result = CS_UNCHECKED,
        .err = CS_ERROR_INIT,
        .request = request,
        .request_bytes = CS_BUF_INIT(ENCODE_MAX),
        .envelope = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES),
    };
}

cs_result cs_keep_end(cs_run_report *report, cs_result result) {
    report->result = result;
    if (result == CS_OK) report->err = (cs_error){.code = CS_CODE_OK};
    return result;
}

cs_result cs_keep_check(const cs_run_options *options, cs_error *err) {
    if ((options->key != NULL) == (options->ledger != NULL)) return CS_OK;
    return cs_fail(err, CS_CODE_USAGE, "a key and a ledger go together: give both or neither");
}

cs_result cs_keep_describe(const cs_run_options *options, cs_run_report *report, uint32_t *protocol) {
    if (cs_client_describe(options->client, &report->before) != CS_OK) {
        report->err = report->before.err;
        cs_error_also(&report->err, " (Describe: %s; no run was sent)", cs_code_name(report->before.err.code));
        return cs_error_recode(&report->err, CS_CODE_DESCRIBE_FAILED);
    }
    uint32_t served = ((const cs_describe_response *)report->before.message)->protocol;
    if (served < 1 || served > CS_PROTOCOL)
        return cs_fail(&report->err, CS_CODE_DESCRIBE_FAILED,
                       "the daemon describes protocol %u and this program speaks 1 to %u (nothing ran)", served,
                       CS_PROTOCOL);
    if (*protocol == 0) *protocol = served;
    return CS_OK;
}

cs_reason cs_keep_describe_reason(const cs_run_report *report) {
    if (report->before.state == CS_CALL_REFUSED) return report->before.reason;
    /* It is this daemon or the way to it; another one could do. */
    return PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_ENVIRONMENT;
}

cs_result cs_keep_never_called(cs_run_report *report, cs_result result, cs_reason reason) {
    report->outcome.reason = reason;
    report->outcome.elsewhere = cs_reason_elsewhere(reason);
    return result;
}

cs_result cs_keep_encode(cs_run_report *report) {
    cs_result result = cs_message_encode(&report->request->base, &report->request_bytes, &report->err);
    if (result != CS_OK) return result;
    if (report->request_bytes.len > CS_MAX_REQUEST_BYTES)
        return cs_fail(
            &report->err, CS_CODE_REQUEST_INVALID,
            "the encoded request has %zu bytes and a daemon takes at most %u; send less at once (nothing ran)",
            report->request_bytes.len, CS_MAX_REQUEST_BYTES);
    return CS_OK;
}

/* ---- after it ------------------------------------------------------------------------------------ */

cs_ledger_row cs_keep_row(const cs_run_options *options) {
    return (cs_ledger_row){.added_unix_ms = now_unix_ms(), .daemon = cs_view_of(cs_client_url(options->client))};
}

/* The text of a finding: all that the error says, in one line. */
static void finding_detail(const cs_error *err, char *out, size_t size) {
    size_t len = (size_t)snprintf(out, size, "%s", err->message);
    if (err->where[0] != '\0') len += (size_t)snprintf(out + len, size - len, "; where: %s", err->where);
    if (err->expected[0] != '\0') len += (size_t)snprintf(out + len, size - len, "; expected: %s", err->expected);
    if (err->found[0] != '\0') snprintf(out + len, size - len, "; found: %s", err->found);
}

void cs_keep_finding(const cs_run_options *options, cs_ledger_row row, cs_run_report *report) {
    if (options->ledger == NULL) return;
    char detail[DETAIL_BYTES];
    finding_detail(&report->err, detail, sizeof detail);
    row.kind = cs_view_of(CS_KIND_FINDING);
    row.code = cs_view_of(cs_code_name(report->err.code));
    row.detail = cs_view_of(detail);

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

/* What the ledger did not take. It happened and was signed, so its bytes must not be lost. */
static cs_result keep_aside(const cs_run_options *options, const cs_ledger_row *row, cs_run_report *report,
                            const cs_error *trouble) {
    const char *what = cs_view_is(row->kind, CS_KIND_CLOSE) ? "close" : "run";
    cs_error lost = CS_ERROR_INIT;
    if (cs_side_file_write(options->ledger_path, row, report->side_file, sizeof report->side_file, &lost) == CS_OK) {
        report->err = *trouble;
        cs_error_also(&report->err,
                      "; the %s itself passed and is signed: it is kept in %s. Do not run it again for this: "
                      "`countersign import -p PUB -l LEDGER FILE` takes that file in later",
                      what, show_side_file(report).text);
        return CS_UNCHECKED; /* also when the ledger itself turned out to be damaged: the run is good */
    }
    return cs_fail(&report->err, CS_CODE_IO,
                   "the %s passed and was signed, but neither the ledger (%s) nor a side file (%s) took it: "
                   "the record is lost unless this program's output is kept",
                   what, cs_code_name(trouble->code), cs_code_name(lost.code));
}

cs_result cs_keep_signed(const cs_run_options *options, cs_ledger_row row, cs_run_report *report) {
    row.envelope = cs_buf_view(&report->envelope);
    cs_error trouble = CS_ERROR_INIT;
    if (cs_ledger_append(options->ledger, &row, &report->entry, &trouble) == CS_OK) return CS_OK;
    report->entry = 0;
    return keep_aside(options, &row, report, &trouble);
}

cs_result cs_keep_ask(const cs_run_options *options, cs_describe_response **out, cs_error *err) {
    cs_outcome outcome;
    ProtobufCMessage *copy = NULL;
    cs_result result = cs_client_describe(options->client, &outcome);
    if (result == CS_OK) {
        result = cs_message_copy(outcome.message, &copy, err);
    } else {
        *err = outcome.err;
        cs_error_also(err, " (Describe: %s; no run was sent)", cs_code_name(outcome.err.code));
        result = cs_error_recode(err, CS_CODE_DESCRIBE_FAILED);
    }
    cs_outcome_free(&outcome);
    if (result == CS_OK && copy == NULL) result = cs_fail(err, CS_CODE_INTERNAL, "a description got lost");
    *out = (cs_describe_response *)copy;
    return result;
}

/* Is this what came of Run, and not of a session's call, whose answer holds more than a finding may? */
static bool is_single(const cs_run_report *run) {
    const ProtobufCMessage *message = run->outcome.message;
    return message == NULL || message->descriptor == &plimsoll__v1__run_response__descriptor;
}

void cs_keep_beside(const cs_run_options *options, const cs_run_report *run, const cs_outcome *described,
                    cs_run_report *keeper) {
    cs_ledger_row row = cs_keep_row(options);
    row.request = cs_buf_view(&run->request_bytes);
    row.describe_before = cs_buf_view(&(described != NULL ? described : &run->before)->bytes);
    row.describe_after = cs_buf_view(&run->after.bytes);
    if (run->outcome.bytes.len > 0 && is_single(run)) row.response = cs_buf_view(&run->outcome.bytes);
    cs_keep_finding(options, row, keeper);
}
