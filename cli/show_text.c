#include "cli/show_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/payload.h"
#include "cli/result.h"
#include "records/text.h"
#include "records/time.h"

/* A short escaped text for a column. */
static void short_text(const ProtobufCBinaryData *bytes, char *out, size_t size) {
    cs_escape_short(cs_bytes_view(bytes), out, size);
}

void cs_show_head(const cs_output *out) {
    cs_say(out, "%-6s %-15s %-24s %-16s %-10s %-10s %-12s %s\n", "entry", "kind", "ended or added", "provider", "tier",
           "payload", "result", "verification");
}

void cs_show_line(const cs_output *out, const cs_shown *shown) {
    const cs_run_record *record = cs_shown_record(shown);
    char provider[17] = "-";
    char tier[11] = "-";
    char digest[13] = "-";
    char time[40] = "-";
    if (shown->entry->row != NULL) cs_time_format(shown->entry->row->added_unix_ms, time, sizeof time);
    if (record != NULL) {
        short_text(&record->provider, provider, sizeof provider);
        short_text(&record->isolation, tier, sizeof tier);
        cs_time_format(record->ended_unix_ms, time, sizeof time);
        ProtobufCBinaryData start = record->result_sha256;
        if (start.len > sizeof digest - 1) start.len = sizeof digest - 1;
        short_text(&start, digest, sizeof digest);
    }
    cs_say(out, "%-6" PRIu64 " %-15s %-24s %-16s %-10s %-10s %-12s %s", shown->entry->number, cs_shown_kind(shown),
           time, provider, tier, shown->request != NULL ? cs_request_kind(shown->request) : "-", digest,
           cs_shown_verification(shown));
    if (shown->entry->finding && shown->entry->row != NULL) {
        char code[40];
        cs_escape_short(shown->entry->row->code, code, sizeof code);
        cs_say(out, " (%s)", code);
    }
    if (shown->judged)
        cs_say(out, " (%s: %s of commit %s)", cs_shown_statement(&shown->verdict),
               shown->verdict.verdict.passed ? "PASSED" : "FAILED", shown->verdict.verdict.commit);
    if (shown->result != CS_OK) cs_say(out, " [%s]", cs_code_name(shown->err.code));
    cs_say(out, "\n");
}

/* ---- one entry in full ---------------------------------------------------------------------- */

static void say_number(const cs_output *out, const char *label, uint64_t value) {
    cs_say(out, "  %-18s %" PRIu64 "\n", label, value);
}

static void say_time(const cs_output *out, const char *label, int64_t unix_ms) {
    char text[40];
    cs_time_format(unix_ms, text, sizeof text);
    cs_say(out, "  %-18s %s\n", label, text);
}

static void say_record(const cs_output *out, const cs_run_record *record, bool is_signed) {
    cs_say(out, "%s\n", is_signed ? "record, as signed:" : "record, as the response claims it (unsigned):");
    say_number(out, "version", record->version);
    cs_say_field(out, "provider", &record->provider);
    cs_say_field(out, "tier", &record->isolation);
    cs_say_field(out, "environment", &record->environment);
    cs_say_field(out, "instance", &record->instance);
    cs_say_field(out, "policy", &record->policy);
    cs_say_field(out, "software", &record->software_identity);
    cs_say_field(out, "software rule", &record->software_rule_id);
    say_time(out, "started", record->started_unix_ms);
    say_time(out, "ended", record->ended_unix_ms);
    cs_say_field(out, "unanswered", &record->unanswered);
    cs_say_field(out, "session", &record->session);
    if (record->session.len > 0) say_number(out, "sequence", record->sequence);
    cs_say_field(out, "previous record", &record->previous_sha256);
    cs_say_field(out, "request sha256", &record->request_sha256);
    cs_say_field(out, "result sha256", &record->result_sha256);
    cs_say_field(out, "record sha256", &record->record_sha256);
}

static void say_row(const cs_output *out, const cs_ledger_row *row) {
    if (row == NULL) return;
    char text[300];
    say_time(out, "added", row->added_unix_ms);
    cs_escape_short(row->daemon, text, sizeof text);
    if (row->daemon.len > 0) cs_say(out, "  %-18s %s\n", "daemon", text);
    if (row->code.len == 0) return;
    cs_escape_short(row->code, text, sizeof text);
    cs_say(out, "  %-18s %s\n", "code", text);
    cs_say_bytes(out, "  detail:            ", row->detail, 0, 0);
}

static void say_verification(const cs_output *out, const cs_shown *shown) {
    const char *word = cs_shown_verification(shown);
    if (strcmp(word, "not-checked") == 0)
        cs_say(out, "  signature not checked here: name the public key that you trust with -p\n");
    else if (strcmp(word, "passed") == 0)
        cs_say(out,
               "  signature and record of this entry verified with key %s; order and completeness are the matter of "
               "`verify`\n",
               shown->envelope.keyid);
    else if (strcmp(word, "signature-only") == 0)
        cs_say(
            out,
            "  signature of this entry verified with key %s, but it has no time of its own: whether it was signed in "
            "the window of the key is, with order and completeness, the matter of `verify`\n",
            shown->envelope.keyid);
    else
        cs_say(out, "  verification: %s\n", word);
    if (shown->result != CS_OK) cs_say(out, "  trouble: %s [%s]\n", shown->err.message, cs_code_name(shown->err.code));
}

static void say_statement(const cs_output *out, const cs_statement *statement) {
    if (statement->kind == CS_STATEMENT_CLOSE) {
        cs_say(out, "close of session %s\n  after %" PRIu64 " %s, the last record %s\n", statement->close.session,
               statement->close.calls, cs_plural(statement->close.calls, "call", "calls"),
               statement->close.last_record_sha256);
    } else if (statement->kind == CS_STATEMENT_LINK && statement->link.checkpoint) {
        cs_say(out, "checkpoint on line %" PRIu64 " of a bundle, after %" PRIu64 " %s\n  previous line      %s\n",
               statement->link.index, statement->link.lines, cs_plural(statement->link.lines, "line", "lines"),
               statement->link.previous_sha256);
    } else if (statement->kind == CS_STATEMENT_LINK) {
        cs_say(out, "link of line %" PRIu64 "\n  previous line      %s\n  entry              %s\n",
               statement->link.index, statement->link.previous_sha256, statement->link.entry_sha256);
    }
}

static void say_text(const cs_output *out, const char *label, const char *text) {
    char shown[CS_VERDICT_MAX_REPOSITORY + 64];
    cs_escape_short(cs_view_of(text), shown, sizeof shown);
    cs_say(out, "  %-18s %s\n", label, shown);
}

static void say_names(const cs_output *out, const char *label, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        say_text(out, label, names[i]);
}

static void say_verdict(const cs_output *out, const cs_read_verdict *read) {
    const cs_stated_verdict *verdict = &read->verdict;
    bool summary = read->kind == CS_VERDICT_SUMMARY;
    cs_say(out, "%s of a gate's verdict, which is no evidence of a run: %s\n", cs_shown_statement(read),
           verdict->passed ? "PASSED" : "FAILED");
    cs_say(out, "  it states that the gate %s commit %s,\n  judged by the policy whose file has the SHA-256 %s\n",
           verdict->passed ? "passed" : "refused", verdict->commit, verdict->policy_sha256);
    cs_say(out, "  %s\n",
           summary ? "one verdict is two entries: this is the summary, and the test-result names the rules"
                   : "one verdict is two entries: this is the test-result, and the summary says when it was judged");
    say_text(out, "commit", verdict->commit);
    say_text(out, "repository", verdict->repository[0] != '\0' ? verdict->repository : "(not named)");
    say_text(out, "policy sha256", verdict->policy_sha256);
    if (summary) say_time(out, "judged", verdict->made_unix_ms);
    say_names(out, "rule passed", verdict->passed_rules.items, verdict->passed_rules.count);
    say_names(out, "rule failed", verdict->failed_rules.items, verdict->failed_rules.count);
    say_names(out, "rule not judged", verdict->warned_rules.items, verdict->warned_rules.count);
    say_names(out, "rests on envelope", verdict->inputs, verdict->input_count);
}

void cs_show_full(const cs_output *out, const cs_shown *shown) {
    const cs_run_record *record = cs_shown_record(shown);
    cs_say(out, "entry %" PRIu64 ": %s\n", shown->entry->number, cs_shown_kind(shown));
    say_verification(out, shown);
    say_row(out, shown->entry->row);
    if (shown->stated) say_statement(out, &shown->statement);
    if (shown->judged) say_verdict(out, &shown->verdict);
    if (record != NULL) say_record(out, record, shown->stated);
    if (shown->request != NULL) cs_say_request(out, shown->request);
    if (shown->response != NULL) {
        cs_say(out, "response: %s, sandbox took %" PRId64 " ms\n", cs_response_kind(shown->response),
               shown->response->duration_ms);
        cs_say_result(out, shown->response, 0, 0);
    } else if (shown->entry->response.ptr != NULL) {
        cs_say(out, "response: %zu %s no answer of the wire\n", shown->entry->response.len,
               cs_plural(shown->entry->response.len, "byte that is", "bytes that are"));
        cs_say_bytes(out, "      | ", shown->entry->response, 0, 0);
    }
}
