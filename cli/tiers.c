#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/connect.h"
#include "cli/tiers_baseline.h"
#include "cli/tiers_guards.h"
#include "cli/tiers_report.h"
#include "records/check.h"

/* The command line. */
typedef struct tiers_command {
    cs_connect_options connect;
    cs_keeping keeping;
    cs_tiers_baseline baseline;
    cs_tiers_guards guards;
    int depth; /* cs_tier_depth; -1: not given */
    bool host_view;
    bool self_test;
    const char *localdaemon;
} tiers_command;

/* ---- the check ------------------------------------------------------------------------------------------ */

/* The contradiction, or the run that did not pass. */
static void tell_entry(cs_output *out, const cs_tiers_report *report) {
    int64_t entry = report->finding;
    for (size_t form = 0; form < CS_PROBE_FORMS && entry == 0; form++)
        if (report->ran[form] && report->runs[form].result != CS_OK) entry = report->runs[form].entry;
    out->has_entry = entry != 0;
    out->entry = (uint64_t)entry;
}

/* The same process before the check and after it: it is the one whose runs were watched. */
static void hand_on(const cs_tiers_report *report, const cs_host_daemon *before, const char *url,
                    cs_tiers_guards *guards) {
    cs_host_daemon after;
    if (!cs_host_find_daemon(url, &after) || before->pid != after.pid || before->started != after.started) return;
    guards->daemon = after;
    guards->place = cs_tiers_place(report);
}

static cs_result check(cs_output *out, tiers_command *command, cs_client *client) {
    cs_tiers_options options = {
        .run = cs_keeping_runs(&command->keeping, &command->connect, client),
        .depth = (cs_tier_depth)command->depth,
    };
    cs_tiers_report report;
    cs_host_daemon before;
    cs_connect_catch_signals();
    (void)!cs_host_find_daemon(cs_client_url(client), &before); /* all 0 when there is none */
    cs_result result = cs_tiers_check(&options, &report);
    out->err = report.err;
    tell_entry(out, &report);
    if (result == CS_OK)
        snprintf(out->err.message, sizeof out->err.message, "no rule contradicts the claim; that is no proof of it");
    cs_member_text(out, "daemon", cs_client_url(client));
    cs_say(out, "daemon:      %s\n", cs_client_url(client));
    cs_say_tiers(out, &report, options.depth);
    if (out->json) cs_members(out, cs_json_of_tiers(&report, options.depth));
    hand_on(&report, &before, cs_client_url(client), &command->guards);
    result = cs_tiers_guards_try(&command->guards, out, result, options.depth, &options.run);
    cs_say_tiers_end(out, &report, options.depth, cs_tiers_guards_report(&command->guards));
    result = cs_tiers_baseline_end(&command->baseline, out, result, cs_client_url(client), options.depth, &report,
                                   cs_tiers_guards_report(&command->guards));
    cs_tiers_guards_free(&command->guards);
    cs_tiers_free(&report);
    return result;
}

static cs_result open_and_check(cs_output *out, tiers_command *command) {
    cs_client *client = NULL;
    cs_result result = CS_OK;
    if (command->keeping.ledger_path != NULL) result = cs_keeping_open(&command->keeping, &out->err);
    if (result == CS_OK) result = cs_tiers_baseline_open(&command->baseline, &out->err);
    if (result == CS_OK) result = cs_connect(&command->connect, command->connect.url, 1, &client, &out->err);
    cs_connect_forget_tokens();
    if (result == CS_OK) result = check(out, command, client);
    cs_client_free(client);
    cs_tiers_baseline_close(&command->baseline);
    cs_keeping_close(&command->keeping);
    return result;
}

/* ---- the self-test --------------------------------------------------------------------------------------- */

/* The daemon beside this program, or where `make install` puts it, unless another one is named. */
static cs_result self_test(cs_output *out, const tiers_command *command) {
    static const char installed[] = "../libexec/countersign/localdaemon";
    if (command->localdaemon != NULL) return cs_tiers_self_test(out, command->localdaemon);
    char path[PATH_MAX + sizeof installed];
    ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
    path[len > 0 ? len : 0] = '\0';
    char *slash = strrchr(path, '/');
    if (slash == NULL)
        return cs_fail(&out->err, CS_CODE_IO,
                       "where this program lies can't be found out; name the daemon to test with --localdaemon PATH");
    memcpy(slash + 1, "localdaemon", sizeof "localdaemon");
    if (access(path, X_OK) != 0) memcpy(slash + 1, installed, sizeof installed);
    return cs_tiers_self_test(out, path);
}

/* ---- the command line --------------------------------------------------------------------------------------- */

static cs_result check_line(tiers_command *command, cs_error *err) {
    if (command->self_test) {
        if (command->connect.url != NULL || command->keeping.ledger_path != NULL || command->depth >= 0)
            return cs_fail(err, CS_CODE_USAGE,
                           "--self-test starts daemons of its own: give it no -d, -l or --cross-check");
        if (cs_tiers_baseline_asked(&command->baseline))
            return cs_fail(err, CS_CODE_USAGE, "a baseline is of one daemon, and goes with no --self-test");
        if (cs_tiers_guards_asked(&command->guards))
            return cs_fail(err, CS_CODE_USAGE, "--self-test tries the rules and no guards");
        return CS_OK;
    }
    if (command->localdaemon != NULL) return cs_fail(err, CS_CODE_USAGE, "--localdaemon goes with --self-test");
    if (command->connect.url == NULL) return cs_fail(err, CS_CODE_USAGE, "name the daemon with -d URL");
    if (command->keeping.key_file != NULL && command->keeping.ledger_path == NULL)
        return cs_fail(err, CS_CODE_USAGE, "a key signs what a ledger keeps: name the ledger with -l FILE");
    if (command->host_view && command->depth >= 0 && command->depth != CS_DEPTH_HOST)
        return cs_fail(err, CS_CODE_USAGE, "--host-view is --cross-check host; another depth contradicts it");
    if (command->depth < 0) command->depth = command->host_view ? CS_DEPTH_HOST : CS_DEPTH_PROBE;
    cs_result result = cs_tiers_guards_line(&command->guards, (cs_tier_depth)command->depth, err);
    return result == CS_OK ? cs_tiers_baseline_line(&command->baseline, err) : result;
}

static cs_result tiers_parse(cs_output *out, int argc, char **argv, tiers_command *command, cs_parse *parse) {
    enum { OWN = 4 };
    cs_option options[OWN + CS_TIERS_GUARDS_OPTIONS + CS_TIERS_BASELINE_OPTIONS + CS_ONE_DAEMON_OPTIONS +
                      CS_CONNECT_OPTIONS] = {
        {"cross-check", 0, CS_OPTION_CHOICE, &command->depth, "statements|probe|host", "how far to look (probe)", 0, 0,
         cs_depth_words},
        {"host-view", 0, CS_OPTION_FLAG, &command->host_view, NULL, "the same as --cross-check host", 0, 0, NULL},
        {"self-test", 0, CS_OPTION_FLAG, &command->self_test, NULL,
         "try every rule on daemons that tell the truth and on daemons that lie", 0, 0, NULL},
        {"localdaemon", 0, CS_OPTION_TEXT, &command->localdaemon, "PATH",
         "with --self-test: the daemon's program (beside this one)", 0, 0, NULL},
    };
    size_t count = cs_tiers_guards_options_add(options, OWN, &command->guards);
    count = cs_tiers_baseline_options_add(options, count, &command->baseline);
    count = cs_one_daemon_options_add(options, count, &command->connect, &command->keeping);
    count = cs_connect_options_add(options, count, &command->connect, &command->keeping);
    const cs_usage usage = {
        .command = "tiers",
        .arguments = "-d URL [-k KEY -l LEDGER] [--cross-check DEPTH] [--save FILE | --against FILE] | --self-test",
        .about = "Try to refute the isolation tier that a daemon claims. statements: compares what it says of itself.\n"
                 "probe: also sends a small program through it and looks at what that sees. host: also looks at what\n"
                 "this machine's own kernel says of the same runs, when the daemon is on this machine; as root it\n"
                 "sees most. Evidence is consistent with a claim, contradicts it, or is silent; it never proves one.",
        .options = options,
        .option_count = count,
        .exits =
            "  0  no rule contradicts the claim\n"
            "  1  a rule contradicts it (tier-contradicted), kept as an unsigned finding where there is a ledger;\n"
            "     or a probe's run failed a check; or a promised guard is not in force, or a required one is not\n"
            "     shown to be, also when it alone could not be tried (tier-guard); or something is not as in the\n"
            "     baseline (baseline-differs)\n"
            "  2  the command line is wrong\n"
            "  3  nothing ran: refused or never sent\n"
            "  4  a probe may have run, without a believable answer\n"
            "  5  could not check: no probe could be read, or a guard is required of a daemon where none can be\n"
            "     tried (tier-probe); key, ledger, or file trouble; no baseline of this state, what it tells of\n"
            "     could not be found out, or there is nothing but statements to save (baseline-unknown)\n"
            "  6  --self-test: no provider works here\n",
        .example = "  countersign tiers -d http://127.0.0.1:8746 --host-view\n",
    };
    int first = 0;
    cs_result result = CS_UNCHECKED;
    *parse = cs_options_parse(&usage, argc, argv, out, &first, &result);
    if (*parse == CS_PARSE_STOP) return result;
    return check_line(command, &out->err);
}

int cs_cmd_tiers(int argc, char **argv) {
    cs_key_harden_process();
    cs_output out;
    cs_output_begin(&out, "tiers", argc, argv);
    tiers_command command = {.connect = CS_CONNECT_OPTIONS_INIT, .keeping = CS_KEEPING_INIT, .depth = -1};
    cs_parse parse = CS_PARSE_STOP;
    cs_result result = tiers_parse(&out, argc, argv, &command, &parse);
    if (parse == CS_PARSE_GO && result == CS_OK)
        result = command.self_test ? self_test(&out, &command) : open_and_check(&out, &command);
    return cs_output_end(&out, result);
}
