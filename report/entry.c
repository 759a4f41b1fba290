#include "report/entry.h"

#include <inttypes.h>

#include "records/success.h"
#include "report/payload.h"

#define COLUMN_BYTES 80u   /* of a text in the line of an entry */
#define DETAIL_BYTES 2000u /* of what a finding says */

const cs_run_record *cs_page_entry_record(const cs_page_entry *entry) {
    if (entry->statement != NULL && entry->statement->kind == CS_STATEMENT_RECORD) return entry->statement->record;
    return entry->response != NULL ? entry->response->record : NULL;
}

static const char *kind_of(const cs_page_entry *entry) {
    if (entry->entry->finding) return "finding";
    if (entry->statement == NULL) return "unreadable entry";
    if (entry->statement->kind == CS_STATEMENT_CLOSE) return "close of a session";
    if (entry->statement->kind == CS_STATEMENT_LINK) return entry->statement->link.checkpoint ? "checkpoint" : "link";
    if (entry->statement->record->unanswered.len > 0) return "call without an answer";
    return entry->statement->record->session.len > 0 ? "call in a session" : "run";
}

/* ---- the line that unfolds ------------------------------------------------------------------------------ */

static void put_standing(cs_markup *out, cs_standing standing) {
    static const struct {
        const char *class, *word;
    } all[] = {
        [CS_STANDING_VERIFIED] = {"good", "verified"},
        [CS_STANDING_UNCHECKED] = {"open", "not checked"},
        [CS_STANDING_UNSIGNED] = {"open", "unsigned"},
        [CS_STANDING_UNREADABLE] = {"bad", "unreadable"},
    };
    cs_markup_printf(out, "<span class=\"tag %s\">%s</span> ", all[standing].class, all[standing].word);
}

/* Whether the code that ran succeeded is another question than whether the record is true. */
static void put_work(cs_markup *out, const cs_page_entry *entry) {
    if (entry->entry->finding || entry->request == NULL || entry->response == NULL) return;
    cs_error err = CS_ERROR_INIT;
    bool good = cs_work_succeeded(entry->request, entry->response, &err) == CS_OK;
    cs_markup_printf(out, "<span class=\"tag %s\">work %s</span> ", good ? "good" : "bad", good ? "done" : "failed");
}

static void put_column(cs_markup *out, const char *label, const ProtobufCBinaryData *text) {
    cs_markup_printf(out, " <span class=\"dot\">&#183; %s</span>", label);
    cs_markup_short(out, cs_bytes_view(text), COLUMN_BYTES);
}

static void put_line(cs_markup *out, const cs_page_entry *entry) {
    const cs_run_record *record = cs_page_entry_record(entry);
    cs_markup_printf(out, "<summary><b>%" PRIu64 "</b> ", entry->entry->number);
    put_standing(out, entry->standing);
    put_work(out, entry);
    cs_markup_raw(out, kind_of(entry));
    if (entry->request != NULL) cs_markup_printf(out, ", %s", cs_request_kind(entry->request));
    if (entry->entry->finding && entry->entry->row != NULL) {
        cs_markup_raw(out, " ");
        cs_markup_short(out, entry->entry->row->code, COLUMN_BYTES);
    }
    if (record != NULL) {
        put_column(out, "", &record->provider);
        put_column(out, "tier ", &record->isolation);
        cs_markup_raw(out, " <span class=\"dot\">&#183;</span> ");
        cs_markup_time(out, record->ended_unix_ms);
    } else if (entry->entry->row != NULL) {
        cs_markup_raw(out, " <span class=\"dot\">&#183;</span> ");
        cs_markup_time(out, entry->entry->row->added_unix_ms);
    }
    if (entry->entry->finding && entry->entry->row != NULL && entry->entry->row->detail.len > 0) {
        cs_markup_raw(out, "<br/>");
        cs_markup_short(out, entry->entry->row->detail, DETAIL_BYTES);
    }
    cs_markup_raw(out, "</summary>");
}

/* ---- facts ---------------------------------------------------------------------------------------------- */

static void begin_fact(cs_markup *out, const char *label) {
    cs_markup_printf(out, "<div><dt>%s</dt><dd>", label);
}

static void end_fact(cs_markup *out) {
    cs_markup_raw(out, "</dd></div>");
}

static void put_view(cs_markup *out, const char *label, cs_view text) {
    if (text.len > 0) cs_markup_fact(out, label, text, CS_PAGE_NAME);
}

static void put_bytes(cs_markup *out, const char *label, const ProtobufCBinaryData *text) {
    put_view(out, label, cs_bytes_view(text));
}

static void put_number(cs_markup *out, const char *label, uint64_t value) {
    begin_fact(out, label);
    cs_markup_printf(out, "%" PRIu64, value);
    end_fact(out);
}

static void put_time(cs_markup *out, const char *label, int64_t unix_ms) {
    begin_fact(out, label);
    cs_markup_time(out, unix_ms);
    end_fact(out);
}

static void put_floor(cs_markup *out, const cs_run_request *request) {
    if (request == NULL) return;
    begin_fact(out, "Floor asked for");
    if (request->minimum_isolation.len == 0)
        cs_markup_raw(out, "<span class=\"none\">none</span>");
    else
        cs_markup_short(out, cs_bytes_view(&request->minimum_isolation), CS_PAGE_NAME);
    end_fact(out);
}

static void put_wall(cs_markup *out, const cs_page_entry *entry, const cs_run_record *record) {
    cs_markup_printf(out, "<h4>Behind which wall%s</h4><dl>",
                     entry->entry->finding ? " (what the answer claims; nobody signed it)" : "");
    put_bytes(out, "Provider", &record->provider);
    put_bytes(out, "Tier, as stated", &record->isolation);
    put_floor(out, entry->request);
    put_bytes(out, "Policy", &record->policy);
    put_bytes(out, "Environment", &record->environment);
    put_bytes(out, "Instance", &record->instance);
    put_bytes(out, "Software", &record->software_identity);
    put_bytes(out, "Software rule", &record->software_rule_id);
    cs_markup_raw(out, "</dl>");
}

static void put_identity(cs_markup *out, const cs_run_record *record) {
    put_time(out, "Started", record->started_unix_ms);
    put_time(out, "Ended", record->ended_unix_ms);
    put_bytes(out, "Unanswered, because", &record->unanswered);
    put_bytes(out, "Session", &record->session);
    if (record->session.len > 0) put_number(out, "Call of the session", record->sequence);
    put_bytes(out, "Record before", &record->previous_sha256);
    put_bytes(out, "Request SHA-256", &record->request_sha256);
    put_bytes(out, "Result SHA-256", &record->result_sha256);
    put_bytes(out, "Record SHA-256", &record->record_sha256);
    put_number(out, "Record version", record->version);
}

static void put_statement(cs_markup *out, const cs_statement *statement) {
    if (statement->kind == CS_STATEMENT_CLOSE) {
        put_view(out, "Session", cs_view_of(statement->close.session));
        put_number(out, "Calls", statement->close.calls);
        put_view(out, "Last record", cs_view_of(statement->close.last_record_sha256));
    } else if (statement->kind == CS_STATEMENT_LINK) {
        put_number(out, "Line", statement->link.index);
        put_view(out, "Line before", cs_view_of(statement->link.previous_sha256));
        put_view(out, "Entry", cs_view_of(statement->link.entry_sha256));
        if (statement->link.checkpoint) put_number(out, "Lines before it", statement->link.lines);
    }
}

static void put_origin(cs_markup *out, const cs_page_entry *entry) {
    const cs_ledger_row *row = entry->entry->row;
    if (row != NULL) {
        put_time(out, "Added to the ledger", row->added_unix_ms);
        put_view(out, "Daemon", row->daemon);
    }
    if (entry->keyid != NULL) put_view(out, "Signed by key", cs_view_of(entry->keyid));
    if (entry->key_label != NULL && entry->key_label[0] != '\0')
        put_view(out, "Key, as you call it", cs_view_of(entry->key_label));
    if (entry->err != NULL) put_view(out, "Trouble", cs_view_of(entry->err->message));
}

/* ---- all of it ------------------------------------------------------------------------------------------ */

static void put_call(cs_markup *out, const cs_page_entry *entry) {
    cs_allowance allowance = {.left = CS_PAGE_ENTRY_TEXT};
    if (entry->request != NULL) {
        cs_markup_printf(out, "<h4>What was sent</h4><p>%s, protocol %" PRIu32, cs_request_kind(entry->request),
                         entry->request->protocol);
        if (entry->request->timeout_ms != 0)
            cs_markup_printf(out, ", time-out %" PRId32 " ms", entry->request->timeout_ms);
        cs_markup_raw(out, "</p>");
        cs_payload_request(out, entry->request, &allowance);
    } else if (entry->entry->request.len > 0) {
        cs_payload_bytes(out, "Sent, but no message of the wire", entry->entry->request, &allowance);
    }
    if (entry->response != NULL) {
        cs_markup_raw(out, "<h4>What came back</h4>");
        cs_payload_response(out, entry->response, &allowance);
    } else if (entry->entry->response.len > 0) {
        cs_payload_bytes(out, "Came back, but no answer of the wire", entry->entry->response, &allowance);
    }
}

void cs_entry_markup(cs_markup *out, const cs_page_entry *entry, uint64_t anchor) {
    const cs_run_record *record = cs_page_entry_record(entry);
    cs_markup_printf(out, "<details class=\"entry\" id=\"entry-%" PRIu64 "\">", anchor);
    put_line(out, entry);
    cs_markup_raw(out, "<div class=\"inside\">");
    if (record != NULL) put_wall(out, entry, record);
    cs_markup_raw(out, "<h4>Which record</h4><dl>");
    if (record != NULL) put_identity(out, record);
    if (entry->statement != NULL) put_statement(out, entry->statement);
    put_origin(out, entry);
    cs_markup_raw(out, "</dl>");
    put_call(out, entry);
    cs_markup_raw(out, "</div></details>\n");
}
