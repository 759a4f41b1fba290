#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/findings.h"
#include "cli/options.h"
#include "cli/trust.h"
#include "harness/import.h"
#include "records/text.h"

/* The command line. */
typedef struct import_command {
    cs_trust_options trusted;
    const char *ledger;
    int64_t lock_wait_s;
    char **paths;
    size_t count;
} import_command;

/* ---- what it says --------------------------------------------------------------------------- */

static void say_input(const cs_findings *findings, cs_result result, const cs_import_summary *summary) {
    const cs_output *out = findings->out;
    const cs_verify_summary *verified = &summary->verified;
    if (result != CS_OK) {
        cs_say(out, "%s: %s: nothing of it was added\n", findings->name, cs_result_word(result));
        return;
    }
    cs_say(out, "%s: %s: %" PRIu64 " %s added, %" PRIu64 " %s there already; %" PRIu64 " %s", findings->name,
           cs_result_word(result), summary->added, cs_plural(summary->added, "line", "lines"), summary->present,
           cs_plural(summary->present, "was", "were"), verified->runs, cs_plural(verified->runs, "run", "runs"));
    if (verified->sessions > 0)
        cs_say(out, ", %" PRIu64 " %s closed", verified->sessions,
               cs_plural(verified->sessions, "session", "sessions"));
    if (verified->duplicates > 0)
        cs_say(out, ", %" PRIu64 " %s", verified->duplicates,
               cs_plural(verified->duplicates, "duplicate", "duplicates"));
    cs_say(out, "%s\n", verified->linked ? ", links kept" : "");
}

static json_t *input_json(const cs_findings *findings, const char *path, cs_result result, const cs_error *err,
                          const cs_import_summary *summary) {
    const cs_verify_summary *s = &summary->verified;
    return json_pack("{s:o, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:s?, s:O, s:I}", "input",
                     cs_json_of_text(cs_view_of(path)), "verdict", cs_result_word(result), "code",
                     cs_code_name(err->code), "message", err->message, "added", (json_int_t)summary->added, "present",
                     (json_int_t)summary->present, "entries", (json_int_t)s->entries, "runs", (json_int_t)s->runs,
                     "sessions", (json_int_t)s->sessions, "unanswered", (json_int_t)s->unanswered, "duplicates",
                     (json_int_t)s->duplicates, "failures", (json_int_t)s->failures, "warnings",
                     (json_int_t)s->warnings, "linked", (int)s->linked, "head",
                     result == CS_OK && s->head.hex[0] != '\0' ? s->head.hex : NULL, "findings", findings->list,
                     "findings_left_out", (json_int_t)findings->left_out);
}

/* ---- the command ---------------------------------------------------------------------------- */

static cs_result import_one(cs_output *out, const char *path, const cs_trust *trust, cs_ledger *ledger,
                            json_t *inputs) {
    cs_findings findings;
    cs_findings_begin(&findings, out, "import", path);
    cs_import_options options = {.bundle = path,
                                 .trust = trust,
                                 .ledger = ledger,
                                 .on_finding = cs_findings_on_finding,
                                 .on_progress = cs_findings_on_progress,
                                 .user = &findings};
    cs_import_summary summary;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_import(&options, &summary, &err);
    cs_progress_clear(&findings.progress);
    if (result == CS_OK) err = (cs_error){.code = CS_CODE_OK, .message = "the whole bundle is in the ledger"};
    say_input(&findings, result, &summary);
    if (out->json) {
        json_t *object = input_json(&findings, path, result, &err, &summary);
        if (object == NULL || json_array_append_new(inputs, object) != 0) out->lost = true;
    }
    out->err = err;
    out->has_entry = result == CS_FAILED && summary.verified.failed_entry != 0;
    out->entry = summary.verified.failed_entry;
    if (result != CS_OK) cs_error_in_file(&out->err, path);
    cs_findings_end(&findings);
    return result;
}

/* One after the other, until one fails. */
static cs_result import_all(cs_output *out, const import_command *command, const cs_trust *trust, cs_ledger *ledger) {
    json_t *inputs = json_array();
    cs_result result = CS_OK;
    size_t tried = 0;
    while (result == CS_OK && tried < command->count)
        result = import_one(out, command->paths[tried++], trust, ledger, inputs);
    for (size_t i = tried; i < command->count; i++) {
        char name[256];
        cs_escape_short(cs_view_of(command->paths[i]), name, sizeof name);
        cs_say(out, "%s: not tried, since the one before failed\n", name);
    }
    cs_member(out, "inputs", inputs);
    cs_member_number(out, "not_tried", command->count - tried);
    return result;
}

static cs_result import_command_run(cs_output *out, const import_command *command) {
    if (command->ledger == NULL) return cs_fail(&out->err, CS_CODE_USAGE, "name the ledger with -l FILE");
    cs_trust trust = {.count = 0};
    cs_ledger *ledger = NULL;
    cs_result result = cs_trust_collect(&command->trusted, &trust, &out->err);
    if (result == CS_OK) cs_member_text(out, "ledger", command->ledger);
    if (result == CS_OK) result = cs_ledger_open(command->ledger, (int)command->lock_wait_s * 1000, &ledger, &out->err);
    if (result == CS_OK) result = import_all(out, command, &trust, ledger);
    cs_ledger_close_or_remove(ledger);
    return result;
}

int cs_cmd_import(int argc, char **argv) {
    import_command command = {.lock_wait_s = CS_LOCK_WAIT_MS / 1000};
    const cs_option options[] = {
        cs_trust_key_option(&command.trusted),
        cs_trust_file_option(&command.trusted),
        {"ledger", 'l', CS_OPTION_TEXT, &command.ledger, "LEDGER", "the ledger; made when there is none", 0, 0, NULL},
        {"lock-wait", 0, CS_OPTION_NUMBER, &command.lock_wait_s, "SECONDS", "wait this long for the ledger (10)", 0,
         3600, NULL},
    };
    const cs_usage usage = {
        .command = "import",
        .arguments = "-p PUB... [--trust FILE...] -l LEDGER FILE...",
        .about =
            "Verify bundles and take their entries into a ledger, byte for byte and with their links. Each bundle\n"
            "goes in whole or not at all; lines that are there already are passed over. - reads standard input.\n"
            "Stops at the first bundle that fails.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .min_arguments = 1,
        .max_arguments = 100000,
        .exits = "  0  every bundle passed, and is in the ledger\n"
                 "  1  a check failed, or a record is in the ledger already as another entry; nothing of that bundle\n"
                 "     was added\n"
                 "  2  the command line is wrong\n"
                 "  5  a bundle, a key or the ledger could not be read or written; nothing of that bundle was added\n"
                 "  6  a bundle holds nothing\n",
        .example = "  countersign import -p theirs.pub -l received.db theirs.jsonl\n",
    };
    cs_output out;
    cs_output_begin(&out, usage.command, argc, argv);
    int first = 0;
    cs_result result = CS_UNCHECKED;
    if (cs_options_parse(&usage, argc, argv, &out, &first, &result) == CS_PARSE_GO) {
        command.paths = argv + first;
        command.count = (size_t)(argc - first);
        result = import_command_run(&out, &command);
    }
    return cs_output_end(&out, result);
}
