#include "harness/session.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/report.h"
#include "cli/request.h"
#include "records/text.h"

/* The command line, and what comes of it. */
typedef struct session_command {
    const char *floor;
    cs_connect_options connect;
    cs_keeping keeping;
    const char *calls_path;
    cs_calls calls;
    cs_session session;
    json_t *documents; /* of the calls, with --json; owned */
    uint64_t passed;
} session_command;

/* ---- the report ----------------------------------------------------------------------------- */

/* The worst of all that happened is the command's verdict; of several that are as bad, the first is told. */
static cs_result add_verdict(cs_output *out, cs_result so_far, const cs_run_report *report) {
    cs_result worst = cs_worse(so_far, report->result);
    if (worst == so_far) return so_far;
    out->err = report->err;
    out->has_entry = report->entry != 0;
    out->entry = (uint64_t)report->entry;
    return worst;
}

static void say_outcome(const cs_output *out, const cs_run_report *report) {
    cs_say(out, " %-12s", cs_result_word(report->result));
    if (report->entry != 0) cs_say(out, " entry %" PRId64, report->entry);
    if (report->checked.record != NULL) cs_say(out, "  record %s", report->checked.record_sha256.hex);
    cs_say(out, "\n");
    if (report->result != CS_OK) cs_say(out, "       %s [%s]\n", report->err.message, cs_code_name(report->err.code));
    if (report->side_file[0] != '\0')
        cs_say(out, "       kept in %s (the ledger did not take it)\n", report->side_file);
}

static void tell_opening(cs_output *out, const session_command *command, const char *daemon) {
    const cs_session *session = &command->session;
    cs_member_text(out, "daemon", daemon);
    cs_member_text(out, "ledger", command->keeping.ledger_path);
    cs_member(out, "opened", json_boolean(session->opened));
    cs_say(out, "daemon:  %s\n", daemon);
    if (!session->opened) {
        if (out->json) cs_members(out, cs_json_of_state(&session->opening));
        return;
    }
    const cs_open_session_response *opened = (const cs_open_session_response *)session->opening.outcome.message;
    cs_member_text(out, "session", session->chain.session.hex);
    cs_member(out, "provider", cs_json_of_text(session->chain.provider));
    cs_member(out, "tier", cs_json_of_text(session->chain.isolation));
    cs_say(out, "session: %s\n", session->chain.session.hex);
    cs_say_text(out, "provider: ", &opened->sandbox);
    cs_say_text(out, ", tier ", &opened->isolation);
    cs_say_text(out, " (floor: ", &session->terms->minimum_isolation);
    cs_say(out, ")\n");
}

/* The members of a call or a close, with its verdict. */
static json_t *document_of(const session_command *command, const cs_run_report *report) {
    json_t *object = cs_json_of_report(&command->keeping, report);
    bool good = json_object_set_new(object, "verdict", json_string(cs_result_word(report->result))) == 0;
    if (good && report->entry != 0)
        good = json_object_set_new(object, "entry", json_integer((json_int_t)report->entry)) == 0;
    if (good && report->result != CS_OK)
        good = json_object_set_new(object, "error", cs_json_of_error(&report->err)) == 0;
    if (good) return object;
    json_decref(object);
    return NULL;
}

static void tell_call(cs_output *out, session_command *command, size_t number, const cs_run_report *report) {
    cs_say(out, "%5zu  %-10s", number, cs_request_kind(report->request));
    say_outcome(out, report);
    if (out->json && json_array_append_new(command->documents, document_of(command, report)) != 0) out->lost = true;
}

static void tell_close(cs_output *out, const session_command *command, const cs_run_report *report) {
    cs_say(out, "close            ");
    say_outcome(out, report);
    if (out->json) cs_member(out, "close", document_of(command, report));
}

/* ---- the session ---------------------------------------------------------------------------- */

static cs_result make_calls(cs_output *out, session_command *command, cs_result result) {
    for (size_t i = 0; i < command->calls.count; i++) {
        cs_run_request *request = command->calls.items[i];
        command->calls.items[i] = NULL;
        cs_run_report report;
        if (cs_session_call(&command->session, request, &report) == CS_OK) command->passed++;
        tell_call(out, command, i + 1, &report);
        result = add_verdict(out, result, &report);
        cs_run_report_free(&report);
    }
    return result;
}

static cs_result close_session(cs_output *out, session_command *command, cs_result result) {
    cs_run_report report;
    if (cs_session_finish(&command->session, &report) == CS_OK && result == CS_OK) {
        out->has_entry = report.entry != 0;
        out->entry = (uint64_t)report.entry;
        (void)snprintf(out->err.message, sizeof out->err.message,
                       "%" PRIu64 " %s passed every check; %s session are signed and in the ledger", command->passed,
                       cs_plural(command->passed, "call", "calls"),
                       cs_plural(command->passed, "it and the close of its", "they and the close of their"));
        out->err.code = CS_CODE_OK;
    }
    tell_close(out, command, &report);
    result = add_verdict(out, result, &report);
    cs_run_report_free(&report);
    return result;
}

static cs_open_session_request *make_terms(const char *floor, cs_error *err) {
    cs_open_session_request *terms = malloc(sizeof *terms);
    if (terms != NULL) plimsoll__v1__open_session_request__init(terms);
    if (terms != NULL && cs_bytes_set(&terms->minimum_isolation, cs_view_of(floor))) return terms;
    free(terms);
    (void)cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for a session");
    return NULL;
}

static cs_result run_session(cs_output *out, session_command *command, cs_client *client) {
    cs_run_options options = cs_keeping_runs(&command->keeping, &command->connect, client);
    cs_open_session_request *terms = make_terms(command->floor, &out->err);
    if (terms == NULL) return CS_UNCHECKED;
    cs_result result = CS_OK;
    for (size_t i = 0; result == CS_OK && i < command->calls.count; i++)
        result = cs_session_speak(terms, command->calls.items[i], &out->err);
    if (result != CS_OK) {
        cs_message_free(terms);
        return result;
    }
    cs_connect_catch_signals();
    result = cs_session_open(&options, terms, &command->session);
    tell_opening(out, command, cs_client_url(client));
    if (result == CS_OK) {
        command->documents = out->json ? json_array() : NULL;
        result = make_calls(out, command, result);
        if (out->json) cs_member(out, "calls", command->documents);
        result = close_session(out, command, result);
    } else {
        (void)add_verdict(out, CS_OK, &command->session.opening);
    }
    cs_session_free(&command->session);
    return result;
}

static cs_result session_opened(cs_output *out, session_command *command) {
    cs_client *client = NULL;
    cs_result result = cs_calls_read(command->calls_path, &command->calls, &out->err);
    if (result == CS_OK) result = cs_keeping_open(&command->keeping, &out->err);
    if (result == CS_OK) result = cs_connect(&command->connect, command->connect.url, 1, &client, &out->err);
    cs_connect_forget_tokens();
    if (result == CS_OK) result = run_session(out, command, client);
    cs_client_free(client);
    cs_keeping_close(&command->keeping);
    cs_calls_free(&command->calls);
    return result;
}

/* ---- the command line ----------------------------------------------------------------------- */

static cs_result session_parse(cs_output *out, int argc, char **argv, session_command *command, cs_parse *parse) {
    cs_option options[CS_ONE_DAEMON_OPTIONS + CS_CONNECT_OPTIONS + 1];
    size_t count = cs_one_daemon_options_add(options, 0, &command->connect, &command->keeping);
    options[count++] = (cs_option){"floor",
                                   0,
                                   CS_OPTION_TEXT,
                                   &command->floor,
                                   "TIER",
                                   "lowest tier for the session: process, container, kernel, vm",
                                   0,
                                   0,
                                   cs_tier_choices};
    count = cs_connect_options_add(options, count, &command->connect, &command->keeping);
    const cs_usage usage = {
        .command = "session",
        .arguments = "-d URL [-k KEY] -l LEDGER [OPTIONS] CALLS.jsonl",
        .about =
            "Open a session on a daemon, send it the calls in order, close it; check, sign and keep each answer\n"
            "and the close. CALLS.jsonl holds one RunRequest a line, as proto3 JSON; - reads standard input. After\n"
            "a call without an answer or a believable record of it, nothing more is sent. An interrupt ends the\n"
            "call under way and still closes the session.",
        .options = options,
        .option_count = count,
        .min_arguments = 1,
        .max_arguments = 1,
        .exits = "  0  every call passed every check; all and the close are signed and durable in the ledger\n"
                 "  1  a call or the close failed a check: kept as an unsigned finding\n"
                 "  2  the command line is wrong\n"
                 "  3  the session was not opened, or a call was refused or not sent\n"
                 "  4  a call may have run, without an answer\n"
                 "  5  could not check or keep something, or the close got no answer\n"
                 "  6  there is no call in the input\n",
        .example = "  countersign session -d http://127.0.0.1:8746 -k harness.key -l ledger.db calls.jsonl\n",
    };
    int first = 0;
    cs_result result = CS_UNCHECKED;
    *parse = cs_options_parse(&usage, argc, argv, out, &first, &result);
    if (*parse == CS_PARSE_STOP) return result;
    command->calls_path = argv[first];
    return cs_one_daemon_check(&command->connect, &command->keeping, &out->err);
}

int cs_cmd_session(int argc, char **argv) {
    cs_key_harden_process();
    cs_output out;
    cs_output_begin(&out, "session", argc, argv);
    session_command command = {.floor = "", .connect = CS_CONNECT_OPTIONS_INIT, .keeping = CS_KEEPING_INIT};
    cs_parse parse = CS_PARSE_STOP;
    cs_result result = session_parse(&out, argc, argv, &command, &parse);
    if (parse == CS_PARSE_GO && result == CS_OK) result = session_opened(&out, &command);
    return cs_output_end(&out, result);
}
