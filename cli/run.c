#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/connect.h"
#include "cli/result.h"
#include "records/check.h"
#include "records/protojson.h"
#include "records/success.h"
#include "records/text.h"

/* A request of 8 MiB with every byte escaped as \u00xx stays below this. */
#define MAX_REQUEST_JSON ((size_t)64 * 1024 * 1024)
#define SHOWN_LINES 4u
#define SHOWN_WIDTH 100u

/* The command line. */
typedef struct run_command {
    const char *url;
    cs_connect_options connect;
    cs_keeping keeping;
    int64_t skew_s;
    bool require_success;
    const char *request_path;
} run_command;

/* ---- the request ---------------------------------------------------------------------------- */

static cs_result read_all(int fd, cs_buf *bytes, cs_error *err) {
    for (;;) {
        uint8_t part[16384];
        ssize_t got = read(fd, part, sizeof part);
        if (got == 0) return CS_OK;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cs_fail(err, CS_CODE_IO, "the request can't be read: %s", strerror(errno));
        if (!cs_buf_append(bytes, part, (size_t)got))
            return cs_fail(err, CS_CODE_REQUEST_JSON, "the request's JSON is longer than %zu bytes", bytes->max);
    }
}

static cs_result read_request(const char *path, cs_run_request **out, cs_error *err) {
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        cs_result failed = cs_fail(err, CS_CODE_IO, "the request can't be opened: %s", strerror(errno));
        cs_error_where(err, "%s", path);
        return failed;
    }
    CS_AUTO_BUF bytes = CS_BUF_INIT(MAX_REQUEST_JSON);
    cs_result result = read_all(fd, &bytes, err);
    if (!standard) (void)close(fd);
    ProtobufCMessage *message = NULL;
    if (result == CS_OK) {
        result = cs_protojson_read(&plimsoll__v1__run_request__descriptor, cs_buf_view(&bytes), &message, err);
        if (result != CS_OK) result = cs_error_recode(err, CS_CODE_REQUEST_JSON);
    }
    if (result != CS_OK) cs_error_where(err, "%s", standard ? "standard input" : path);
    *out = (cs_run_request *)message;
    return result;
}

/* ---- the report ----------------------------------------------------------------------------- */

static const char *state_word(cs_call_state state) {
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

/* A text of the daemon, escaped and short. */
static void say_text(const cs_output *out, const char *label, const ProtobufCBinaryData *bytes) {
    char text[200];
    cs_escape_short(cs_bytes_view(bytes), text, sizeof text);
    cs_say(out, "%s%s", label, text[0] != '\0' ? text : "(none)");
}

static void say_record(const cs_output *out, const cs_run_report *report) {
    const cs_run_record *record = report->checked.record;
    char started[40];
    char ended[40];
    cs_format_time(record->started_unix_ms, started, sizeof started);
    cs_format_time(record->ended_unix_ms, ended, sizeof ended);
    say_text(out, "provider:    ", &record->provider);
    say_text(out, "\ntier:        ", &record->isolation);
    say_text(out, " (floor: ", &report->request->minimum_isolation);
    say_text(out, ")\nenvironment: ", &record->environment);
    say_text(out, "\npolicy:      ", &record->policy);
    cs_say(out, "\ntime:        %s to %s by the daemon's clock\n", started, ended);
    cs_say(out, "request:     sha256 %s\n", report->checked.request_sha256.hex);
    cs_say(out, "result:      sha256 %s\n", report->checked.result_sha256.hex);
    cs_say(out, "record:      sha256 %s\n", report->checked.record_sha256.hex);
    for (size_t i = 0; i < report->checked.warning_count; i++)
        cs_say(out, "warning:     %s [%s]\n", cs_code_meaning(report->checked.warnings[i]),
               cs_code_name(report->checked.warnings[i]));
}

static void say_report(const cs_output *out, const run_command *command, const cs_run_report *report,
                       const char *daemon) {
    const cs_outcome *call = &report->outcome;
    cs_say(out, "daemon:      %s\n", daemon);
    cs_say(out, "payload:     %s", cs_request_kind(report->request));
    if (report->request->protocol != 0) cs_say(out, ", protocol %u", report->request->protocol);
    cs_say(out, "\n");
    cs_say(out, "call:        %s%s%s\n", state_word(call->state), call->request_id[0] != '\0' ? ", request id " : "",
           call->request_id);
    if (report->result == CS_NOT_RUN)
        cs_say(out, "reason:      %s; another daemon %s take it\n", cs_reason_word(call->reason),
               call->elsewhere ? "could" : "would not");
    if (report->checked.record != NULL) say_record(out, report);
    if (report->entry != 0)
        cs_say(out, "kept:        %s, entry %" PRId64 "%s\n", command->keeping.ledger_path, report->entry,
               report->result == CS_OK ? "" : " (an unsigned finding, not a run)");
    if (report->side_file[0] != '\0') cs_say(out, "kept:        %s (the ledger did not take it)\n", report->side_file);
    if (report->envelope.len > 0) cs_say(out, "signed:      by key %s\n", cs_key_public(command->keeping.key)->id);
    if (call->message != NULL) {
        cs_say(out, report->checked.record != NULL ? "answer:\n" : "answer (NOT verified):\n");
        cs_say_result(out, (const cs_run_response *)call->message, SHOWN_LINES, SHOWN_WIDTH);
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

static void report_document(cs_output *out, const run_command *command, const cs_run_report *report,
                            const char *daemon) {
    const cs_outcome *call = &report->outcome;
    cs_member_text(out, "daemon", daemon);
    cs_member_text(out, "state", state_word(call->state));
    cs_member(out, "ran", json_boolean(report->ran));
    cs_member(out, "verified", json_boolean(report->checked.record != NULL));
    cs_member(out, "signed", json_boolean(report->envelope.len > 0));
    cs_member_text(out, "ledger", command->keeping.ledger_path);
    if (call->request_id[0] != '\0') cs_member_text(out, "request_id", call->request_id);
    if (call->http) cs_member_number(out, "http_status", (uint64_t)call->http_status);
    if (report->result == CS_NOT_RUN) {
        cs_member_text(out, "reason", cs_reason_word(call->reason));
        cs_member(out, "elsewhere", json_boolean(call->elsewhere));
    }
    if (report->side_file[0] != '\0') cs_member(out, "side_file", cs_json_of_text(cs_view_of(report->side_file)));
    if (report->checked.record != NULL) {
        cs_member_text(out, "request_sha256", report->checked.request_sha256.hex);
        cs_member_text(out, "result_sha256", report->checked.result_sha256.hex);
        cs_member_text(out, "record_sha256", report->checked.record_sha256.hex);
        cs_member(out, "record", cs_json_of_message(&report->checked.record->base));
        cs_member(out, "warnings", warnings_json(&report->checked));
    }
    if (report->envelope.len > 0) {
        cs_member_text(out, "keyid", cs_key_public(command->keeping.key)->id);
        cs_member(out, "envelope", json_loadb((const char *)report->envelope.ptr, report->envelope.len, 0, NULL));
    }
    if (call->message != NULL) {
        cs_member(out, "response", cs_json_of_message(call->message));
        cs_member(out, "outputs", cs_json_of_outputs((const cs_run_response *)call->message));
    }
}

/* ---- the command ---------------------------------------------------------------------------- */

/* Say what became of the run: in full, and in the verdict. */
static void tell(cs_output *out, const run_command *command, const cs_run_report *report, const char *daemon) {
    out->err = report->err;
    out->has_entry = report->entry != 0;
    out->entry = (uint64_t)report->entry;
    if (report->result == CS_OK)
        snprintf(out->err.message, sizeof out->err.message,
                 "the run passed every check, is signed and is in the ledger");
    if (out->json)
        report_document(out, command, report, daemon);
    else
        say_report(out, command, report, daemon);
}

static cs_result run_request(cs_output *out, run_command *command, cs_client *client) {
    cs_run_request *request = NULL;
    cs_result result = read_request(command->request_path, &request, &out->err);
    if (result != CS_OK) return result;
    cs_run_options options = {
        .client = client,
        .key = command->keeping.key,
        .ledger = command->keeping.ledger,
        .ledger_path = command->keeping.ledger_path,
        .skew_ms = command->skew_s * 1000,
    };
    cs_run_report report;
    cs_connect_catch_signals();
    result = cs_run_once(&options, request, &report);
    tell(out, command, &report, cs_client_url(client));
    if (result == CS_OK && command->require_success)
        result = cs_work_succeeded(report.request, (const cs_run_response *)report.outcome.message, &out->err);
    cs_run_report_free(&report);
    return result;
}

static cs_result run_opened(cs_output *out, run_command *command) {
    cs_client *client = NULL;
    cs_result result = cs_keeping_open(&command->keeping, &out->err);
    if (result == CS_OK) result = cs_connect(&command->connect, command->url, 1, &client, &out->err);
    cs_connect_forget_tokens();
    if (result == CS_OK) result = run_request(out, command, client);
    cs_client_free(client);
    cs_keeping_close(&command->keeping);
    return result;
}

static cs_result run_parse(cs_output *out, int argc, char **argv, run_command *command, cs_parse *parse) {
    const cs_option options[] = {
        {"daemon", 'd', CS_OPTION_TEXT, &command->url, "URL", "the daemon's base URL", 0, 0, NULL},
        {"key", 'k', CS_OPTION_TEXT, &command->keeping.key_file, "FILE",
         "private key (PEM); without it, the text in COUNTERSIGN_KEY", 0, 0, NULL},
        {"ledger", 'l', CS_OPTION_TEXT, &command->keeping.ledger_path, "FILE", "the ledger; made when there is none", 0,
         0, NULL},
        {"codec", 0, CS_OPTION_CHOICE, &command->connect.codec, "binary|json", "how to speak to the daemon (binary)", 0,
         0, cs_codec_words},
        {"allow-cleartext", 0, CS_OPTION_FLAG, &command->connect.allow_cleartext, NULL,
         "allow http to a host that is not this one", 0, 0, NULL},
        {"cacert", 0, CS_OPTION_TEXT, &command->connect.ca_file, "FILE",
         "certificates to trust instead of the system's", 0, 0, NULL},
        {"timeout", 0, CS_OPTION_NUMBER, &command->connect.timeout_s, "SECONDS", "wait this long for an answer (360)",
         1, 86400, NULL},
        {"lock-wait", 0, CS_OPTION_NUMBER, &command->keeping.lock_wait_s, "SECONDS",
         "wait this long for the ledger (10)", 0, 3600, NULL},
        {"require-success", 0, CS_OPTION_FLAG, &command->require_success, NULL,
         "exit 1 also when the code itself failed, timed out, or gave not every artifact", 0, 0, NULL},
        {"skew", 0, CS_OPTION_NUMBER, &command->skew_s, "SECONDS", "how far the daemon's clock may be off (5)", 0,
         86400, NULL},
    };
    const cs_usage usage = {
        .command = "run",
        .arguments = "-d URL [-k KEY] -l LEDGER [OPTIONS] REQUEST.json",
        .about = "Send one run to a daemon, recompute every digest of the answer, check it, sign it and keep it.\n"
                 "REQUEST.json is a RunRequest as proto3 JSON; - reads standard input. The bearer token is taken\n"
                 "from PLIMSOLL_CALLER_TOKEN. Nothing is sent twice. Exit 0 says that the record is true, not that\n"
                 "the code succeeded: a failing test is a good run. Use --require-success to ask for both.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .min_arguments = 1,
        .max_arguments = 1,
        .exits = "  0  it ran, every check passed, it is signed and durable in the ledger (whatever the code did)\n"
                 "  1  it ran, and a check failed: kept as an unsigned finding; or, with --require-success, it is\n"
                 "     signed and kept, and the code did not succeed (work-failed)\n"
                 "  2  the command line is wrong\n"
                 "  3  nothing ran: refused, never sent, or a request that no daemon takes\n"
                 "  4  it may have run, without a believable answer: kept as a finding, never retried\n"
                 "  5  could not check or keep it: key, ledger, or file trouble\n",
        .example = "  countersign run -d http://127.0.0.1:8746 -k harness.key -l ledger.db hello.json\n",
    };
    int first = 0;
    cs_result result = CS_UNCHECKED;
    *parse = cs_options_parse(&usage, argc, argv, out, &first, &result);
    if (*parse == CS_PARSE_STOP) return result;
    command->request_path = argv[first];
    if (command->url == NULL) return cs_fail(&out->err, CS_CODE_USAGE, "name the daemon with -d URL");
    if (command->keeping.ledger_path == NULL) return cs_fail(&out->err, CS_CODE_USAGE, "name the ledger with -l FILE");
    return CS_OK;
}

int cs_cmd_run(int argc, char **argv) {
    cs_key_harden_process();
    cs_output out;
    cs_output_begin(&out, "run", argc, argv);
    run_command command = {
        .keeping = {.lock_wait_s = CS_LOCK_WAIT_MS / 1000},
        .skew_s = CS_DEFAULT_SKEW_MS / 1000,
    };
    cs_parse parse = CS_PARSE_STOP;
    cs_result result = run_parse(&out, argc, argv, &command, &parse);
    if (parse == CS_PARSE_GO && result == CS_OK) result = run_opened(&out, &command);
    return cs_output_end(&out, result);
}
