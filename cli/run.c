#include <stdio.h>

#include "cli/command.h"
#include "cli/cross_check.h"
#include "cli/report.h"
#include "cli/request.h"
#include "records/check.h"
#include "records/success.h"

/* The command line. */
typedef struct run_command {
    cs_connect_options connect;
    cs_keeping keeping;
    bool require_success;
    int cross_check;
    const char *request_path;
} run_command;

/* ---- the command ---------------------------------------------------------------------------- */

/* Say what became of the run: in full, and in the verdict. */
static void tell(cs_output *out, const run_command *command, const cs_run_report *report, const char *daemon) {
    out->err = report->err;
    out->has_entry = report->entry != 0;
    out->entry = (uint64_t)report->entry;
    if (report->result == CS_OK)
        snprintf(out->err.message, sizeof out->err.message,
                 "the run passed every check, is signed and is in the ledger");
    if (report->result == CS_OK && report->repeats != 0)
        cs_error_also(&out->err, "; its record is that of entry %lld already, so it is no second run (%s)",
                      (long long)report->repeats, cs_code_name(CS_CODE_RECORD_DUPLICATE));
    cs_member_text(out, "daemon", daemon);
    if (out->json) {
        cs_members(out, cs_json_of_report(&command->keeping, report));
        return;
    }
    cs_say(out, "daemon:      %s\n", daemon);
    cs_say_report(out, &command->keeping, report);
}

/* What is asked for beyond a run that passed its checks. A contradiction is told before code that failed, and that
 * before a cross-check that could not be made. */
static cs_result look_further(cs_output *out, const run_command *command, const cs_run_options *options,
                              const cs_run_report *report) {
    cs_result result = cs_cross_check_run(out, command->cross_check, options, report);
    if (!command->require_success || result == CS_FAILED) return result;
    cs_error failed = CS_ERROR_INIT;
    cs_result work = cs_work_succeeded(report->request, (const cs_run_response *)report->outcome.message, &failed);
    if (work == CS_OK) return result;
    if (result != CS_OK)
        cs_error_also(&failed, "; besides, the cross-check could not be made [%s]", cs_code_name(out->err.code));
    out->err = failed;
    return work;
}

static cs_result run_request(cs_output *out, run_command *command, cs_client *client) {
    cs_run_request *request = NULL;
    cs_result result = cs_request_read(command->request_path, &request, &out->err);
    if (result != CS_OK) return result;
    cs_run_options options = cs_keeping_runs(&command->keeping, &command->connect, client);
    cs_run_report report;
    cs_connect_catch_signals();
    result = cs_run_once(&options, request, &report);
    tell(out, command, &report, cs_client_url(client));
    if (result == CS_OK) result = look_further(out, command, &options, &report);
    cs_run_report_free(&report);
    return result;
}

static cs_result run_opened(cs_output *out, run_command *command) {
    cs_client *client = NULL;
    cs_result result = cs_keeping_open(&command->keeping, &out->err);
    if (result == CS_OK) result = cs_connect(&command->connect, command->connect.url, 1, &client, &out->err);
    cs_connect_forget_tokens();
    if (result == CS_OK) result = run_request(out, command, client);
    cs_client_free(client);
    cs_keeping_close(&command->keeping);
    return result;
}

static cs_result run_parse(cs_output *out, int argc, char **argv, run_command *command, cs_parse *parse) {
    cs_option options[CS_ONE_DAEMON_OPTIONS + CS_CONNECT_OPTIONS + 2];
    size_t count = cs_one_daemon_options_add(options, 0, &command->connect, &command->keeping);
    options[count++] = (cs_option){"require-success",
                                   0,
                                   CS_OPTION_FLAG,
                                   &command->require_success,
                                   NULL,
                                   "exit 1 also when the code itself failed, timed out, or gave not every artifact",
                                   0,
                                   0,
                                   NULL};
    options[count++] = cs_cross_check_option(&command->cross_check);
    count = cs_connect_options_add(options, count, &command->connect, &command->keeping);
    const cs_usage usage = {
        .command = "run",
        .arguments = "-d URL [-k KEY] -l LEDGER [OPTIONS] REQUEST.json",
        .about = "Send one run to a daemon, recompute every digest of the answer, check it, sign it and keep it.\n"
                 "REQUEST.json is a RunRequest as proto3 JSON; - reads standard input. The bearer token is taken\n"
                 "from PLIMSOLL_CALLER_TOKEN. Nothing is sent twice. Exit 0 says that the record is true, not that\n"
                 "the code succeeded: a failing test is a good run. Use --require-success to ask for both.",
        .options = options,
        .option_count = count,
        .min_arguments = 1,
        .max_arguments = 1,
        .exits = "  0  it ran, every check passed, it is signed and durable in the ledger (whatever the code did)\n"
                 "  1  it ran, and a check failed: kept as an unsigned finding; or it is signed and kept, and the\n"
                 "     tier that it states is contradicted (tier-contradicted), which is kept as a finding; or,\n"
                 "     with --require-success, the code did not succeed (work-failed)\n"
                 "  2  the command line is wrong\n"
                 "  3  nothing ran: refused, never sent, or a request that no daemon takes\n"
                 "  4  it may have run, without a believable answer: kept as a finding, never retried\n"
                 "  5  could not check or keep it: key, ledger, or file trouble; or it is signed and kept, and the\n"
                 "     cross-check could not be made (tier-probe)\n",
        .example = "  countersign run -d http://127.0.0.1:8746 -k harness.key -l ledger.db hello.json\n",
    };
    int first = 0;
    cs_result result = CS_UNCHECKED;
    *parse = cs_options_parse(&usage, argc, argv, out, &first, &result);
    if (*parse == CS_PARSE_STOP) return result;
    command->request_path = argv[first];
    return cs_one_daemon_check(&command->connect, &command->keeping, &out->err);
}

int cs_cmd_run(int argc, char **argv) {
    cs_key_harden_process();
    cs_output out;
    cs_output_begin(&out, "run", argc, argv);
    run_command command = {
        .connect = CS_CONNECT_OPTIONS_INIT, .keeping = CS_KEEPING_INIT, .cross_check = CS_CROSS_CHECK_DEFAULT};
    cs_parse parse = CS_PARSE_STOP;
    cs_result result = run_parse(&out, argc, argv, &command, &parse);
    if (parse == CS_PARSE_GO && result == CS_OK) result = run_opened(&out, &command);
    return cs_output_end(&out, result);
}
