#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/findings.h"
#include "cli/options.h"
#include "cli/trust.h"
#include "harness/export.h"
#include "harness/ledger.h"
#include "records/text.h"

/* The command line. */
typedef struct export_command {
    const char *bundle;
    const char *key_file;
    cs_trust_options trusted;
    int64_t lock_wait_s;
    const char *ledger;
} export_command;

/* ---- signals -------------------------------------------------------------------------------- */

static volatile sig_atomic_t stopped;

static void on_signal(int number) {
    (void)number;
    stopped = 1;
}

/* A signal ends the export instead of the program, so that the file in the making is removed. Whoever had them
 * ignored (nohup) keeps that. A file that grows too large is an error of its write. */
static void catch_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN) continue;
        (void)sigaction(numbers[i], &action, NULL);
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGXFSZ, &ignore, NULL);
}

/* ---- what it says --------------------------------------------------------------------------- */

static void say_summary(const cs_output *out, const export_command *command, const cs_export_summary *summary,
                        bool verified) {
    char bundle[256];
    cs_escape_short(cs_view_of(command->bundle), bundle, sizeof bundle);
    bool same = !summary->resumed && summary->added == 0;
    cs_say(out, "%s: %" PRIu64 " %s: %" PRIu64 " %s added, %" PRIu64 " %s there already%s\n", bundle, summary->lines,
           cs_plural(summary->lines, "line", "lines"), summary->added, cs_plural(summary->added, "entry", "entries"),
           summary->present, cs_plural(summary->present, "was", "were"),
           same ? "; nothing is new, and the file is as it was" : "");
    cs_say(out, "  links: %s\n",
           summary->original ? "those of the imported bundle, byte for byte" : "signed with our own key");
    cs_say(out, "  signatures: %s\n", verified ? "verified" : "not checked: name the signer's key with -p");
    if (summary->beyond > 0)
        cs_say(out, "  warning: %" PRIu64 " %s from another ledger, or this one has lost %s\n", summary->beyond,
               cs_plural(summary->beyond, "entry of the bundle is not in this ledger: it came",
                         "entries of the bundle are not in this ledger: they came"),
               cs_plural(summary->beyond, "it", "them"));
    if (summary->left_out.findings > 0)
        cs_say(out, "  left out: %" PRIu64 " unsigned %s, which no bundle holds\n", summary->left_out.findings,
               cs_plural(summary->left_out.findings, "finding", "findings"));
    if (summary->left_out.verdicts > 0)
        cs_say(out, "  left out: %" PRIu64 " %s, which no bundle holds; not checked here\n", summary->left_out.verdicts,
               cs_plural(summary->left_out.verdicts, "statement of a verdict", "statements of verdicts"));
    cs_say(out, "  head: %s (note it elsewhere; `countersign verify --expect-head` then shows what was cut off)\n",
           summary->head.hex);
}

static void add_summary(cs_output *out, const cs_export_summary *summary, bool verified) {
    cs_member_text(out, "links", summary->original ? "original" : "own");
    cs_member(out, "resumed", json_boolean(summary->resumed));
    cs_member_number(out, "lines", summary->lines);
    cs_member_number(out, "added", summary->added);
    cs_member_number(out, "present", summary->present);
    cs_member_number(out, "beyond", summary->beyond);
    cs_member_number(out, "unsigned_findings", summary->left_out.findings);
    cs_member_number(out, "verdicts", summary->left_out.verdicts);
    cs_member_text(out, "signatures", verified ? "verified" : "not-checked");
    cs_member_text(out, "head", summary->head.hex);
}

/* ---- the command ---------------------------------------------------------------------------- */

/* The key is needed only for links of our own. */
static cs_result load_key(const char *file, cs_key **out, cs_error *err) {
    char *text = getenv(CS_KEY_VARIABLE);
    if (file == NULL) return text == NULL ? CS_OK : cs_key_from_environment(out, err);
    if (text != NULL) {
        explicit_bzero(text, strlen(text)); /* not used */
        (void)unsetenv(CS_KEY_VARIABLE);
    }
    return cs_key_load(file, out, err);
}

static cs_result export_ledger(cs_output *out, const export_command *command, const cs_key *key,
                               const cs_trust *trust) {
    cs_findings findings;
    cs_findings_begin(&findings, out, "export", NULL);
    cs_export_options options = {.ledger = command->ledger,
                                 .out = command->bundle,
                                 .trust = trust,
                                 .key = key,
                                 .lock_wait_ms = (int)command->lock_wait_s * 1000,
                                 .stop = &stopped,
                                 .on_finding = cs_findings_on_finding,
                                 .on_progress = cs_findings_on_progress,
                                 .user = &findings};
    cs_export_summary summary;
    catch_signals();
    cs_result result = cs_export(&options, &summary, &out->err);
    cs_progress_clear(&findings.progress);
    bool verified = key != NULL || trust->count > 0;
    cs_member_text(out, "ledger", command->ledger);
    cs_member_text(out, "bundle", command->bundle);
    if (result == CS_OK) {
        say_summary(out, command, &summary, verified);
        add_summary(out, &summary, verified);
        snprintf(out->err.message, sizeof out->err.message, "the bundle holds every signed entry of the ledger");
    }
    out->has_entry = result == CS_FAILED && summary.failed_entry != 0;
    out->entry = summary.failed_entry;
    cs_member(out, "findings", json_incref(findings.list));
    cs_member_number(out, "findings_left_out", findings.left_out);
    cs_findings_end(&findings);
    return result;
}

static cs_result export_command_run(cs_output *out, const export_command *command) {
    if (command->bundle == NULL) return cs_fail(&out->err, CS_CODE_USAGE, "name the bundle to write with -o FILE");
    if (strcmp(command->bundle, "-") == 0)
        return cs_fail(&out->err, CS_CODE_USAGE, "the bundle is a file, never standard output; name it with -o FILE");
    cs_trust trust = {.count = 0};
    cs_key *key = NULL;
    cs_result result = CS_OK;
    if (cs_trust_named(&command->trusted)) result = cs_trust_collect(&command->trusted, &trust, &out->err);
    if (result == CS_OK) result = load_key(command->key_file, &key, &out->err);
    if (result == CS_OK) result = export_ledger(out, command, key, &trust);
    cs_key_free(key);
    return result;
}

int cs_cmd_export(int argc, char **argv) {
    cs_key_harden_process();
    export_command command = {.lock_wait_s = CS_LOCK_WAIT_MS / 1000};
    const cs_option options[] = {
        {"output", 'o', CS_OPTION_TEXT, &command.bundle, "FILE", "the bundle; one that is there is extended", 0, 0,
         NULL},
        {"key", 'k', CS_OPTION_TEXT, &command.key_file, "KEY",
         "private key (PEM) for the links; without it, the text in COUNTERSIGN_KEY, if any", 0, 0, NULL},
        cs_trust_key_option(&command.trusted),
        cs_trust_file_option(&command.trusted),
        {"lock-wait", 0, CS_OPTION_NUMBER, &command.lock_wait_s, "SECONDS",
         "wait this long for another process that writes the bundle (10)", 0, 3600, NULL},
    };
    const cs_usage usage = {
        .command = "export",
        .arguments = "-o FILE [-k KEY] [-p PUB...] [--trust FILE...] LEDGER",
        .about = "Verify a ledger and write its signed entries as a linked bundle. A ledger that is one imported\n"
                 "bundle is written as it came, byte for byte, and needs no key. Everything else gets links of our\n"
                 "own; a bundle that is there is then extended by what it lacks.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .min_arguments = 1,
        .max_arguments = 1,
        .exits = "  0  the bundle is written and durable, or was complete already\n"
                 "  1  a check failed in the ledger or in the bundle that is there; nothing was written\n"
                 "  2  the command line is wrong\n"
                 "  5  could not read or write, or a key is needed; nothing was written\n"
                 "  6  the ledger holds nothing signed; nothing was written\n",
        .example = "  countersign export -o runs.jsonl -k harness.key ledger.db\n",
    };
    cs_output out;
    cs_output_begin(&out, usage.command, argc, argv);
    int first = 0;
    cs_result result = CS_UNCHECKED;
    if (cs_options_parse(&usage, argc, argv, &out, &first, &result) == CS_PARSE_GO) {
        command.ledger = argv[first];
        result = export_command_run(&out, &command);
    }
    return cs_output_end(&out, result);
}
