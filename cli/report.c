#include "cli/report.h"

#include <inttypes.h>

#include "cli/result.h"
#include "records/check.h"
#include "records/text.h"
#include "records/time.h"

#define SHOWN_LINES 4u
#define SHOWN_WIDTH 100u

const char *cs_state_word(cs_call_state state) {
    switch (state) {
    case CS_CALL_REFUSED:
        return "refused";
    case CS_CALL_UNANSWERED:
        return "unanswered";
    case CS_CALL_ANSWERED:
        return "answered";
    case CS_CALL_UNSENT:
        break;
    }
    return "unsent";
}

void cs_say_text(const cs_output *out, const char *label, const ProtobufCBinaryData *bytes) {
    char text[200];
    cs_escape_short(cs_bytes_view(bytes), text, sizeof text);
    cs_say(out, "%s%s", label, text[0] != '\0' ? text : "(none)");
}

static void say_record(const cs_output *out, const cs_run_report *report) {
    const cs_run_record *record = report->checked.record;
    char started[40];
    char ended[40];
    cs_time_format(record->started_unix_ms, started, sizeof started);
    cs_time_format(record->ended_unix_ms, ended, sizeof ended);
    cs_say_text(out, "provider:    ", &record->provider);
    cs_say_text(out, "\ntier:        ", &record->isolation);
    cs_say_text(out, " (floor: ", &report->request->minimum_isolation);
    cs_say_text(out, ")\nenvironment: ", &record->environment);
    cs_say_text(out, "\npolicy:      ", &record->policy);
    cs_say(out, "\ntime:        %s to %s by the daemon's clock\n", started, ended);
    cs_say(out, "request:     sha256 %s\n", report->checked.request_sha256.hex);
    cs_say(out, "result:      sha256 %s\n", report->checked.result_sha256.hex);
    cs_say(out, "record:      sha256 %s\n", report->checked.record_sha256.hex);
    for (size_t i = 0; i < report->checked.warning_count; i++)
        cs_say(out, "warning:     %s [%s]\n", cs_code_meaning(report->checked.warnings[i]),
               cs_code_name(report->checked.warnings[i]));
}

void cs_say_report(const cs_output *out, const cs_keeping *keeping, const cs_run_report *report) {
    const cs_outcome *call = &report->outcome;
    cs_say(out, "payload:     %s", cs_request_kind(report->request));
    if (report->request->protocol != 0) cs_say(out, ", protocol %u", report->request->protocol);
    cs_say(out, "\n");
    cs_say(out, "call:        %s%s%s\n", cs_state_word(call->state), call->request_id[0] != '\0' ? ", request id " : "",
           call->request_id);
    if (report->result == CS_NOT_RUN)
        cs_say(out, "reason:      %s; another daemon %s take it\n", cs_reason_word(call->reason),
               call->elsewhere ? "could" : "would not");
    if (report->checked.record != NULL) say_record(out, report);
    if (report->entry != 0)
        cs_say(out, "kept:        %s, entry %" PRId64 "%s\n", keeping->ledger_path, report->entry,
               report->result == CS_OK ? "" : " (an unsigned finding, not a run)");
    if (report->repeats != 0)
        cs_say(out, "repeats:     entry %" PRId64 " holds the same record already, so this is no second run\n",
               report->repeats);
    if (report->side_file[0] != '\0') cs_say(out, "kept:        %s (the ledger did not take it)\n", report->side_file);
    if (report->envelope.len > 0) cs_say(out, "signed:      by key %s\n", cs_key_public(keeping->key)->id);
    if (report->response != NULL) {
        cs_say(out, report->checked.record != NULL ? "answer:\n" : "answer (NOT verified):\n");
        cs_say_result(out, report->response, SHOWN_LINES, SHOWN_WIDTH);
    }
}

static json_t *warnings_json(const cs_checked_run *checked) {
    json_t *warnings = json_array();
    for (size_t i = 0; i < checked->warning_count; i++) {
        if (json_array_append_new(warnings, json_string(cs_code_name(checked->warnings[i]))) == 0) continue;
        json_decref(warnings);
        return NULL;
    }
    return warnings;
}

/* `value` is taken. */
static bool set(json_t *object, const char *name, json_t *value) {
    return json_object_set_new(object, name, value) == 0;
}

static bool set_text(json_t *object, const char *name, const char *value) {
    return set(object, name, json_string(value));
}

/* The state, and why nothing ran. */
static bool set_state(json_t *object, const cs_run_report *report) {
    const cs_outcome *call = &report->outcome;
    if (!set_text(object, "state", cs_state_word(call->state))) return false;
    return report->result != CS_NOT_RUN || (set_text(object, "reason", cs_reason_word(call->reason)) &&
                                            set(object, "elsewhere", json_boolean(call->elsewhere)));
}

static bool set_call(json_t *object, const cs_keeping *keeping, const cs_run_report *report) {
    const cs_outcome *call = &report->outcome;
    /* The close of a session has no record; it is signed only when it passed. */
    bool verified = report->checked.record != NULL || report->envelope.len > 0;
    bool good = set_state(object, report) && set(object, "sent", json_boolean(report->ran)) &&
                set(object, "verified", json_boolean(verified)) &&
                set(object, "signed", json_boolean(report->envelope.len > 0)) &&
                set(object, "ledger", cs_json_of_text(cs_view_of(keeping->ledger_path)));
    if (good && call->request_id[0] != '\0') good = set_text(object, "request_id", call->request_id);
    if (good && call->http) good = set(object, "http_status", json_integer(call->http_status));
    if (good && report->side_file[0] != '\0')
        good = set(object, "side_file", cs_json_of_text(cs_view_of(report->side_file)));
    return good;
}

static bool set_record(json_t *object, const cs_run_report *report) {
    if (report->checked.record == NULL) return true;
    return set_text(object, "request_sha256", report->checked.request_sha256.hex) &&
           set_text(object, "result_sha256", report->checked.result_sha256.hex) &&
           set_text(object, "record_sha256", report->checked.record_sha256.hex) &&
           set(object, "record", cs_json_of_message(&report->checked.record->base)) &&
           set(object, "warnings", warnings_json(&report->checked));
}

json_t *cs_json_of_state(const cs_run_report *report) {
    json_t *object = json_object();
    if (set_state(object, report)) return object;
    json_decref(object);
    return NULL;
}

json_t *cs_json_of_report(const cs_keeping *keeping, const cs_run_report *report) {
    json_t *object = json_object();
    bool good = set_call(object, keeping, report) && set_record(object, report);
    if (good && report->envelope.len > 0)
        good = set_text(object, "keyid", cs_key_public(keeping->key)->id) &&
               set(object, "envelope", json_loadb((const char *)report->envelope.ptr, report->envelope.len, 0, NULL));
    if (good && report->response != NULL)
        good = set(object, "response", cs_json_of_message(&report->response->base)) &&
               set(object, "outputs", cs_json_of_outputs(report->response));
    if (good) return object;
    json_decref(object);
    return NULL;
}
