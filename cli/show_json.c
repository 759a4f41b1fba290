#include "cli/show_print.h"

#include "cli/result.h"

/* Add a member; a value that could not be made (NULL) is a failure. */
static bool put(json_t *object, const char *name, json_t *value) {
    return json_object_set_new(object, name, value) == 0;
}

static bool put_view(json_t *object, const char *name, cs_view text) {
    return put(object, name, cs_json_of_text(text));
}

static bool put_row(json_t *object, const cs_ledger_row *row) {
    return put(object, "added_unix_ms", json_integer((json_int_t)row->added_unix_ms)) &&
           put_view(object, "daemon", row->daemon) &&
           (row->code.len == 0 ||
            (put_view(object, "finding_code", row->code) && put_view(object, "finding_detail", row->detail)));
}

static bool put_link(json_t *object, const cs_bundle_link *link) {
    json_t *made =
        json_pack("{s:I, s:s, s:s, s:b}", "index", (json_int_t)link->index, "previous_sha256", link->previous_sha256,
                  "entry_sha256", link->entry_sha256, "checkpoint", (int)link->checkpoint);
    return put(object, "link", made) &&
           (!link->checkpoint || put(made, "lines", json_integer((json_int_t)link->lines)));
}

static bool put_statement(json_t *object, const cs_statement *statement) {
    if (statement->kind == CS_STATEMENT_CLOSE)
        return put(object, "close",
                   json_pack("{s:s, s:I, s:s}", "session", statement->close.session, "calls",
                             (json_int_t)statement->close.calls, "last_record_sha256",
                             statement->close.last_record_sha256));
    if (statement->kind == CS_STATEMENT_LINK) return put_link(object, &statement->link);
    return put(object, "record_signed", json_true());
}

static json_t *json_of_names(const char *const *names, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < count; i++) {
        if (json_array_append_new(list, cs_json_of_text(cs_view_of(names[i]))) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static bool put_rules(json_t *object, const cs_stated_verdict *verdict) {
    return put(object, "passed", json_of_names(verdict->passed_rules.items, verdict->passed_rules.count)) &&
           put(object, "warned", json_of_names(verdict->warned_rules.items, verdict->warned_rules.count)) &&
           put(object, "failed", json_of_names(verdict->failed_rules.items, verdict->failed_rules.count));
}

static bool put_verdict(json_t *object, const cs_read_verdict *read) {
    const cs_stated_verdict *verdict = &read->verdict;
    bool summary = read->kind == CS_VERDICT_SUMMARY;
    json_t *made = json_pack("{s:s, s:s, s:s, s:s, s:s}", "statement", cs_shown_statement(read), "result",
                             verdict->passed ? "PASSED" : "FAILED", "commit", verdict->commit, "repository",
                             verdict->repository, "policy_sha256", verdict->policy_sha256);
    if (!put(object, "gate_verdict", made)) return false;
    if (!summary) return put_rules(made, verdict);
    return put(made, "made_unix_ms", json_integer((json_int_t)verdict->made_unix_ms)) &&
           put(made, "inputs", json_of_names(verdict->inputs, verdict->input_count));
}

static bool put_message(json_t *object, const char *name, const char *base64_name, const ProtobufCMessage *message,
                        cs_view bytes) {
    if (bytes.ptr == NULL) return true;
    return (message == NULL || put(object, name, cs_json_of_message(message))) &&
           put(object, base64_name, cs_json_of_base64(bytes));
}

/* What decodes has the exact form, so nothing is lost when it is shown as JSON; anything else is text. */
static bool put_envelope(json_t *object, const cs_shown *shown) {
    cs_view json = shown->entry->envelope;
    if (!shown->enveloped) return put_view(object, "envelope_text", json);
    return put(object, "envelope", json_loadb((const char *)json.ptr, json.len, 0, NULL));
}

static bool put_full(json_t *object, const cs_shown *shown) {
    const cs_entry *entry = shown->entry;
    return put_message(object, "request", "request_base64", shown->request != NULL ? &shown->request->base : NULL,
                       entry->request) &&
           put_message(object, "response", "response_base64", shown->response != NULL ? &shown->response->base : NULL,
                       entry->response) &&
           (shown->response == NULL || put(object, "outputs", cs_json_of_outputs(shown->response))) &&
           (entry->envelope.ptr == NULL || put_envelope(object, shown));
}

static bool fill(json_t *object, const cs_shown *shown, bool full) {
    const cs_run_record *record = cs_shown_record(shown);
    return put(object, "number", json_integer((json_int_t)shown->entry->number)) &&
           put(object, "kind", json_string(cs_shown_kind(shown))) &&
           put(object, "verification", json_string(cs_shown_verification(shown))) &&
           (!shown->enveloped || put(object, "keyid", json_string(shown->envelope.keyid))) &&
           (shown->result == CS_OK || put(object, "error", cs_json_of_error(&shown->err))) &&
           (shown->entry->row == NULL || put_row(object, shown->entry->row)) &&
           (!shown->stated || put_statement(object, &shown->statement)) &&
           (!shown->judged || put_verdict(object, &shown->verdict)) &&
           (record == NULL || put(object, "record", cs_json_of_message(&record->base))) &&
           (shown->request == NULL || put(object, "payload", json_string(cs_request_kind(shown->request)))) &&
           (!full || put_full(object, shown));
}

json_t *cs_json_of_shown(const cs_shown *shown, bool full) {
    json_t *object = json_object();
    if (object != NULL && fill(object, shown, full)) return object;
    json_decref(object);
    return NULL;
}
