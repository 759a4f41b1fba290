#include "cli/log_line.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/success.h"
#include "records/text.h"

#define EXCERPT 64u /* of a code or a step, with its NUL */

const char *cs_log_verdict_word(cs_log_verdict verdict) {
    static const char *const words[CS_LOG_VERDICTS] = {
        [CS_LOG_SIGNED] = "signed",
        [CS_LOG_FAILED_WORK] = "failed-work",
        [CS_LOG_UNANSWERED] = "unanswered",
        [CS_LOG_FINDING] = "finding",
        [CS_LOG_CLOSE] = "close",
        [CS_LOG_CHECKPOINT] = "checkpoint",
        [CS_LOG_LINK] = "link",
        [CS_LOG_GATE_PASSED] = "gate-passed",
        [CS_LOG_GATE_REFUSED] = "gate-refused",
        [CS_LOG_INVALID] = "invalid",
        [CS_LOG_UNREADABLE] = "unreadable",
        [CS_LOG_UNCHECKED] = "unchecked",
    };
    return words[verdict < CS_LOG_VERDICTS ? verdict : CS_LOG_UNREADABLE];
}

bool cs_log_line_is_bad(const cs_log_line *line) {
    return line->verdict == CS_LOG_INVALID || line->verdict == CS_LOG_UNREADABLE || line->verdict == CS_LOG_UNCHECKED;
}

/* ---- what was asked for ----------------------------------------------------------------------- */

static void summarize_project(const Plimsoll__V1__ProjectRun *project, char *out) {
    char step[EXCERPT] = "no step";
    if (project->n_steps > 0) cs_escape_short(cs_bytes_view(&project->steps[0]), step, sizeof step);
    int written = snprintf(out, CS_LOG_TEXT, "project, %zu %s: %s", project->n_files,
                           cs_plural(project->n_files, "file", "files"), step);
    if (project->n_steps > 1 && written > 0 && (size_t)written < CS_LOG_TEXT)
        snprintf(out + written, CS_LOG_TEXT - (size_t)written, " (and %zu more)", project->n_steps - 1);
}

static void summarize_request(const cs_run_request *request, char *out) {
    char text[EXCERPT];
    char language[16];
    switch (request->payload_case) {
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_JAVASCRIPT:
        cs_escape_short(cs_bytes_view(&request->javascript->code), text, sizeof text);
        snprintf(out, CS_LOG_TEXT, "javascript, %zu %s: %s", request->javascript->code.len,
                 cs_plural(request->javascript->code.len, "byte", "bytes"), text);
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_PROJECT:
        summarize_project(request->project, out);
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE:
        cs_escape_short(cs_bytes_view(&request->module->model), text, sizeof text);
        snprintf(out, CS_LOG_TEXT, "module %s, %zu %s", text, request->module->n_rows,
                 cs_plural(request->module->n_rows, "row", "rows"));
        break;
    case PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_CELL:
        cs_escape_short(cs_bytes_view(&request->cell->language), language, sizeof language);
        cs_escape_short(cs_bytes_view(&request->cell->code), text, sizeof text);
        snprintf(out, CS_LOG_TEXT, "cell %s, %zu %s: %s", language, request->cell->code.len,
                 cs_plural(request->cell->code.len, "byte", "bytes"), text);
        break;
    default:
        snprintf(out, CS_LOG_TEXT, "no payload");
    }
}

static void summarize_verdict(const cs_read_verdict *read, char *out) {
    const cs_stated_verdict *verdict = &read->verdict;
    const char *word = cs_shown_statement(read);
    if (read->kind == CS_VERDICT_SUMMARY)
        snprintf(out, CS_LOG_TEXT, "%s of commit %s: rests on %zu %s", word, verdict->commit, verdict->input_count,
                 cs_plural(verdict->input_count, "envelope", "envelopes"));
    else
        snprintf(out, CS_LOG_TEXT, "%s of commit %s: rules: %zu passed, %zu failed, %zu not judged", word,
                 verdict->commit, verdict->passed_rules.count, verdict->failed_rules.count,
                 verdict->warned_rules.count);
}

static void summarize(const cs_shown *shown, char *out) {
    const cs_statement *statement = &shown->statement;
    if (shown->request != NULL)
        summarize_request(shown->request, out);
    else if (shown->judged)
        summarize_verdict(&shown->verdict, out);
    else if (shown->stated && statement->kind == CS_STATEMENT_CLOSE)
        snprintf(out, CS_LOG_TEXT, "session %.12s, %" PRIu64 " %s", statement->close.session, statement->close.calls,
                 cs_plural(statement->close.calls, "call", "calls"));
    else if (shown->stated && statement->kind == CS_STATEMENT_LINK && statement->link.checkpoint)
        snprintf(out, CS_LOG_TEXT, "%" PRIu64 " %s before it", statement->link.lines,
                 cs_plural(statement->link.lines, "line", "lines"));
}

/* ---- the line --------------------------------------------------------------------------------- */

static cs_log_verdict verdict_of_record(const cs_shown *shown) {
    if (shown->statement.record->unanswered.len > 0) return CS_LOG_UNANSWERED;
    if (shown->request == NULL || shown->response == NULL) return CS_LOG_UNREADABLE;
    bool succeeded = cs_work_succeeded(shown->request, shown->response, NULL) == CS_OK;
    return succeeded ? CS_LOG_SIGNED : CS_LOG_FAILED_WORK;
}

static cs_log_verdict verdict_of(const cs_shown *shown) {
    if (shown->result == CS_UNCHECKED) return CS_LOG_UNCHECKED;
    if (shown->entry->finding) return shown->result == CS_OK ? CS_LOG_FINDING : CS_LOG_UNREADABLE;
    if (!shown->stated && !shown->judged) return CS_LOG_UNREADABLE;
    if (shown->result != CS_OK) return shown->checked ? CS_LOG_INVALID : CS_LOG_UNREADABLE;
    if (shown->judged) return shown->verdict.verdict.passed ? CS_LOG_GATE_PASSED : CS_LOG_GATE_REFUSED;
    switch (shown->statement.kind) {
    case CS_STATEMENT_RECORD:
        return verdict_of_record(shown);
    case CS_STATEMENT_CLOSE:
        return CS_LOG_CLOSE;
    case CS_STATEMENT_LINK:
        break;
    }
    return shown->statement.link.checkpoint ? CS_LOG_CHECKPOINT : CS_LOG_LINK;
}

/* Only a signed record's time is when something ran; what a finding claims could put it anywhere. */
static void take_time(const cs_shown *shown, cs_log_line *out) {
    bool recorded = shown->stated && shown->statement.kind == CS_STATEMENT_RECORD;
    out->has_time = recorded || shown->entry->row != NULL;
    out->ended = recorded;
    if (recorded)
        out->time_ms = shown->statement.record->ended_unix_ms;
    else if (shown->entry->row != NULL)
        out->time_ms = shown->entry->row->added_unix_ms;
}

static void take_digest(const ProtobufCBinaryData *digest, char out[65]) {
    cs_view hex = cs_bytes_view(digest);
    if (cs_is_hex(hex, CS_SHA256_HEX)) memcpy(out, hex.ptr, CS_SHA256_HEX);
}

static void take_record(const cs_shown *shown, cs_log_line *out) {
    const cs_run_record *record = cs_shown_record(shown);
    if (record == NULL) return;
    cs_escape_short(cs_bytes_view(&record->provider), out->provider, sizeof out->provider);
    cs_escape_short(cs_bytes_view(&record->isolation), out->tier, sizeof out->tier);
    if (!shown->stated || shown->statement.kind != CS_STATEMENT_RECORD) return;
    take_digest(&record->request_sha256, out->request_sha256);
    take_digest(&record->result_sha256, out->result_sha256);
    take_digest(&record->record_sha256, out->record_sha256);
}

static cs_error *keep_error(const cs_error *err) {
    cs_error *kept = malloc(sizeof *kept);
    if (kept != NULL) *kept = *err;
    return kept;
}

bool cs_log_line_make(const cs_shown *shown, cs_log_line *out) {
    *out = (cs_log_line){.number = shown->entry->number,
                         .kind = cs_shown_kind(shown),
                         .verification = cs_shown_verification(shown),
                         .statement = shown->judged ? cs_shown_statement(&shown->verdict) : NULL,
                         .verdict = verdict_of(shown)};
    take_time(shown, out);
    take_record(shown, out);
    summarize(shown, out->summary);
    if (shown->entry->finding && shown->entry->row != NULL)
        cs_escape_short(shown->entry->row->code, out->finding_code, sizeof out->finding_code);
    if (shown->result != CS_OK) {
        out->err = keep_error(&shown->err);
    } else if (cs_log_line_is_bad(out)) {
        cs_error err = CS_ERROR_INIT;
        (void)cs_fail(&err, CS_CODE_MESSAGE_MALFORMED, "a signed record stands without its request or its response");
        out->err = keep_error(&err);
    }
    return out->err != NULL || !cs_log_line_is_bad(out);
}

bool cs_log_line_unreadable(uint64_t number, bool trusted, const cs_error *err, cs_log_line *out) {
    *out = (cs_log_line){.number = number,
                         .kind = "unreadable",
                         .verification = trusted ? "failed" : "not-checked",
                         .verdict = CS_LOG_UNREADABLE,
                         .err = keep_error(err)};
    return out->err != NULL;
}
