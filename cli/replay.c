#include "replay/replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/connect.h"
#include "cli/cross_check.h"
#include "cli/progress.h"
#include "cli/trust.h"
#include "records/check.h"
#include "records/text.h"

/* The command line. */
typedef struct replay_command {
    cs_trust_options trusted;
    cs_text_list daemons;
    int64_t entry;
    int64_t runs;
    int cross_check;
    cs_connect_options connect;
    cs_keeping keeping;
    const char *input;
    cs_client *clients[CS_MAX_DAEMONS];
    cs_progress progress;
} replay_command;

/* ---- for people ----------------------------------------------------------------------------- */

static void say_difference(const cs_output *out, const cs_difference *difference, bool unstable) {
    if (!difference->differs) return;
    cs_say(out, "    first difference: %s", difference->field);
    if (difference->has_offset)
        cs_say(out, ", at byte %" PRIu64 " (of %" PRIu64 " and %" PRIu64 ")", difference->offset, difference->length_a,
               difference->length_b);
    cs_say(out, "\n      %s %s\n      %s %s\n", unstable ? "one run:  " : "stored:   ", difference->excerpt_a,
           unstable ? "a later:  " : "this run: ", difference->excerpt_b);
}

static void say_cell(const cs_output *out, const cs_replay_row *row, const cs_replay_cell *cell) {
    const cs_replay_item *item = row->item;
    cs_say(out, "%-6" PRIu64 " %-22.22s %-30.30s %-16.16s %-10.10s %u/%u  %-17s %6.2f s\n", item->entry, item->provider,
           cell->url, cell->provider, cell->tier, cell->matched, cell->runs, cs_replay_verdict_word(cell->verdict),
           cell->seconds);
    if (cell->protocol_changed)
        cs_say(
            out,
            "    sent with protocol %u, since this daemon serves no other (stored: %u); the request digest differs by "
            "design\n",
            cell->protocol_sent, item->request->protocol);
    if (cell->verdict == CS_REPLAY_NO_RESULT) {
        cs_say(out, "    %s: %s [%s]\n", cs_result_word(cell->failure), cell->err.message,
               cs_code_name(cell->err.code));
        if (cell->err.expected[0] != '\0') cs_say(out, "      expected: %s\n", cell->err.expected);
        if (cell->err.found[0] != '\0') cs_say(out, "      found: %s\n", cell->err.found);
    }
    say_difference(out, &cell->difference, cell->verdict == CS_REPLAY_NONDETERMINISTIC);
}

static void say_check(const cs_output *out, const cs_replay_check *check) {
    char label[sizeof check->url + sizeof "cross-check: : "];
    snprintf(label, sizeof label, "cross-check: %s: ", check->url);
    if (check->made) cs_say_cross_check(out, label, &check->tiers, check->depth);
    if (check->result == CS_OK || (check->made && check->tiers.contradictions > 0)) return;
    cs_say(out, "%s%s: %s [%s]\n", check->made ? "  " : label, cs_result_word(check->result), check->err.message,
           cs_code_name(check->err.code));
}

static void say_replay(const cs_output *out, const cs_replay_plan *plan, const cs_replay_report *report) {
    cs_say(out, "%-6s %-22s %-30s %-16s %-10s %s  %-17s %s\n", "entry", "stored provider", "daemon", "provider", "tier",
           "same", "verdict", "time");
    for (size_t i = 0; i < report->row_count; i++)
        for (size_t j = 0; j < report->cell_count; j++)
            say_cell(out, &report->rows[i], &report->rows[i].cells[j]);
    for (size_t j = 0; report->checks != NULL && j < report->cell_count; j++)
        say_check(out, &report->checks[j]);
    if (plan->sessions > 0)
        cs_say(out, "sessions: %" PRIu64 ", each replayed whole in fresh sessions\n", plan->sessions);
    if (plan->skipped_duplicates > 0)
        cs_say(out, "left out: %" PRIu64 " %s\n", plan->skipped_duplicates,
               cs_plural(plan->skipped_duplicates, "duplicate", "duplicates"));
}

/* ---- as JSON -------------------------------------------------------------------------------- */

static json_t *difference_json(const cs_difference *d) {
    if (!d->differs) return json_null();
    json_t *object = json_pack("{s:s, s:s, s:s}", "field", d->field, "a", d->excerpt_a, "b", d->excerpt_b);
    if (object == NULL || !d->has_offset) return object;
    bool good = json_object_set_new(object, "offset", json_integer((json_int_t)d->offset)) == 0 &&
                json_object_set_new(object, "length_a", json_integer((json_int_t)d->length_a)) == 0 &&
                json_object_set_new(object, "length_b", json_integer((json_int_t)d->length_b)) == 0;
    if (good) return object;
    json_decref(object);
    return NULL;
}

static json_t *cell_json(const cs_replay_cell *cell) {
    json_t *object =
        json_pack("{s:s, s:s, s:s, s:s, s:i, s:i, s:s, s:i, s:b, s:f, s:o}", "daemon", cell->url, "provider",
                  cell->provider, "tier", cell->tier, "verdict", cs_replay_verdict_word(cell->verdict), "runs",
                  (int)cell->runs, "matched", (int)cell->matched, "result_sha256", cell->result_sha256.hex,
                  "protocol_sent", (int)cell->protocol_sent, "protocol_changed", (int)cell->protocol_changed, "seconds",
                  cell->seconds, "difference", difference_json(&cell->difference));
    if (cell->verdict != CS_REPLAY_NO_RESULT) return object;
    if (json_object_set_new(object, "failure", cs_json_of_error(&cell->err)) == 0) return object;
    json_decref(object);
    return NULL;
}

static json_t *row_json(const cs_replay_row *row, size_t cells) {
    const cs_replay_item *item = row->item;
    json_t *list = json_array();
    for (size_t i = 0; i < cells; i++) {
        if (json_array_append_new(list, cell_json(&row->cells[i])) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return json_pack("{s:I, s:s, s:s, s:s, s:s, s:s, s:o}", "entry", (json_int_t)item->entry, "provider",
                     item->provider, "tier", item->tier, "request_sha256", item->request_sha256.hex, "result_sha256",
                     item->result_sha256.hex, "verdict", cs_replay_verdict_word(row->verdict), "daemons", list);
}

static json_t *check_json(const cs_replay_check *check) {
    json_t *object =
        cs_json_of_cross_check(check->result, &check->err, check->made ? &check->tiers : NULL, check->depth);
    if (object != NULL && json_object_set_new(object, "daemon", json_string(check->url)) == 0) return object;
    json_decref(object);
    return NULL;
}

/* No member when nothing was cross-checked. */
static void checks_document(cs_output *out, const cs_replay_report *report) {
    if (report->checks == NULL) return;
    json_t *checks = json_array();
    for (size_t j = 0; j < report->cell_count; j++)
        if (json_array_append_new(checks, check_json(&report->checks[j])) != 0) out->lost = true;
    cs_member(out, "cross_checks", checks);
}

static void replay_document(cs_output *out, const cs_replay_plan *plan, const cs_replay_report *report) {
    json_t *rows = json_array();
    for (size_t i = 0; i < report->row_count; i++)
        if (json_array_append_new(rows, row_json(&report->rows[i], report->cell_count)) != 0) out->lost = true;
    cs_member(out, "rows", rows);
    checks_document(out, report);
    cs_member_number(out, "sessions", plan->sessions);
    cs_member_number(out, "skipped_duplicates", plan->skipped_duplicates);
}

/* ---- the command ---------------------------------------------------------------------------- */

/* The first result that differs is what the verdict is about. */
static void name_first_difference(cs_output *out, const char *input, const cs_replay_report *report) {
    cs_replay_verdict sought =
        out->err.code == CS_CODE_REPLAY_DIFFERS ? CS_REPLAY_DIFFERENT : CS_REPLAY_NONDETERMINISTIC;
    size_t i = 0;
    while (i < report->row_count && report->rows[i].verdict != sought)
        i++;
    if (i == report->row_count) return;
    out->has_entry = true;
    out->entry = report->rows[i].item->entry;
    cs_error_where(&out->err, "entry %" PRIu64, out->entry);
    cs_error_in_file(&out->err, input);
}

static void on_progress(void *user, size_t done, size_t total) {
    cs_progress_show(user, done, total);
}

static cs_result replay_plan(cs_output *out, replay_command *command, const cs_replay_plan *plan) {
    cs_replay_options options = {
        .clients = command->clients,
        .client_count = command->daemons.count,
        .runs = (unsigned)command->runs,
        .key = command->keeping.key,
        .ledger = command->keeping.ledger,
        .ledger_path = command->keeping.ledger_path,
        .skew_ms = command->connect.skew_s * 1000,
        .on_progress = on_progress,
        .user = &command->progress,
    };
    options.cross_check = cs_cross_check_depth(command->cross_check, &options.depth);
    cs_replay_report report;
    cs_progress_begin(&command->progress, "replay");
    cs_connect_catch_signals();
    cs_result result = cs_replay_run(plan, &options, &report, &out->err);
    cs_progress_clear(&command->progress);
    if (result == CS_OK)
        snprintf(out->err.message, sizeof out->err.message, "every run gave the stored result on every daemon");
    if (out->err.code == CS_CODE_REPLAY_DIFFERS || out->err.code == CS_CODE_REPLAY_UNSTABLE)
        name_first_difference(out, command->input, &report);
    if (out->json)
        replay_document(out, plan, &report);
    else
        say_replay(out, plan, &report);
    cs_replay_report_free(&report);
    return result;
}

/* Everything that can be wrong here is found before the first daemon is asked. */
static cs_result prepare(cs_output *out, replay_command *command, cs_trust *trust) {
    cs_result result = cs_trust_collect(&command->trusted, trust, &out->err);
    if (result == CS_OK && command->keeping.ledger_path != NULL) result = cs_keeping_open(&command->keeping, &out->err);
    for (size_t i = 0; result == CS_OK && i < command->daemons.count; i++)
        result =
            cs_connect(&command->connect, command->daemons.items[i], (unsigned)i + 1, &command->clients[i], &out->err);
    cs_connect_forget_tokens();
    return result;
}

static cs_result replay_input(cs_output *out, replay_command *command) {
    cs_trust trust = {.count = 0};
    cs_replay_plan plan = {.items = NULL};
    cs_result result = prepare(out, command, &trust);
    if (result == CS_OK) {
        result = cs_replay_plan_make(command->input, &trust, (uint64_t)command->entry, &plan, &out->err);
        if (result != CS_OK) cs_error_in_file(&out->err, command->input);
    }
    if (result == CS_OK) result = replay_plan(out, command, &plan);
    cs_replay_plan_free(&plan);
    for (size_t i = 0; i < CS_MAX_DAEMONS; i++)
        cs_client_free(command->clients[i]);
    cs_keeping_close(&command->keeping);
    return result;
}

static cs_result check_line(const replay_command *command, cs_error *err) {
    if (!cs_trust_named(&command->trusted))
        return cs_fail(err, CS_CODE_USAGE,
                       "name the public key that you trust with -p, or a trust file with --trust; only verified work "
                       "is replayed");
    if (command->daemons.count == 0) return cs_fail(err, CS_CODE_USAGE, "name at least one daemon with -d URL");
    if (command->daemons.count > CS_MAX_DAEMONS)
        return cs_fail(err, CS_CODE_USAGE, "at most %u daemons can be named", CS_MAX_DAEMONS);
    if (command->keeping.key_file != NULL && command->keeping.ledger_path == NULL)
        return cs_fail(err, CS_CODE_USAGE, "-k signs the new runs, so name the ledger that keeps them with -l");
    return CS_OK;
}

static cs_result replay_parse(cs_output *out, int argc, char **argv, replay_command *command, cs_parse *parse) {
    const cs_option own[] = {
        cs_trust_key_option(&command->trusted),
        cs_trust_file_option(&command->trusted),
        {"daemon", 'd', CS_OPTION_LIST, &command->daemons, "URL", "a daemon to run on; may be given again", 0, 0, NULL},
        {"entry", 0, CS_OPTION_NUMBER, &command->entry, "N", "this single run only (all runs and sessions)", 1,
         INT64_MAX, NULL},
        {"runs", 0, CS_OPTION_NUMBER, &command->runs, "N", "runs of each on each daemon (2)", CS_MIN_RUNS, CS_MAX_RUNS,
         NULL},
        cs_cross_check_option(&command->cross_check),
        {"key", 'k', CS_OPTION_TEXT, &command->keeping.key_file, "FILE",
         "sign the new runs with this private key (or COUNTERSIGN_KEY)", 0, 0, NULL},
        {"ledger", 'l', CS_OPTION_TEXT, &command->keeping.ledger_path, "FILE", "keep the new runs in this ledger", 0, 0,
         NULL},
    };
    cs_option options[sizeof own / sizeof *own + CS_CONNECT_OPTIONS];
    memcpy(options, own, sizeof own);
    size_t count = cs_connect_options_add(options, sizeof own / sizeof *own, &command->connect, &command->keeping);
    const cs_usage usage = {
        .command = "replay",
        .arguments = "-p PUB -d URL... [-k KEY -l LEDGER] [OPTIONS] INPUT",
        .about =
            "Verify a ledger or bundle, run its runs again on the daemons named, and its sessions in fresh ones, and\n"
            "compare what came back with what is stored. Two different results of one daemon show that the work is not "
            "deterministic;\n"
            "results that are stable but different point at the environment.",
        .options = options,
        .option_count = count,
        .min_arguments = 1,
        .max_arguments = 1,
        .exits = "  0  every run gave the stored result on every daemon, and no rule contradicts a daemon's claim\n"
                 "  1  a result differs, the work is not deterministic, the tier that a daemon claims is contradicted\n"
                 "     (tier-contradicted), or the input failed verification\n"
                 "  2  the command line is wrong\n"
                 "  3  a daemon refused a run or could not be reached\n"
                 "  4  a run may have happened, without a believable answer\n"
                 "  5  something could not be read, checked or kept\n"
                 "  6  there is nothing to replay\n",
        .example = "  countersign replay -p harness.pub -d http://127.0.0.1:8746 -d http://127.0.0.1:8747 ledger.db\n",
    };
    int first = 0;
    cs_result result = CS_UNCHECKED;
    *parse = cs_options_parse(&usage, argc, argv, out, &first, &result);
    if (*parse == CS_PARSE_STOP) return result;
    command->input = argv[first];
    return check_line(command, &out->err);
}

int cs_cmd_replay(int argc, char **argv) {
    cs_key_harden_process();
    cs_output out;
    cs_output_begin(&out, "replay", argc, argv);
    replay_command command = {
        .runs = CS_MIN_RUNS,
        .cross_check = CS_CROSS_CHECK_DEFAULT,
        .connect = CS_CONNECT_OPTIONS_INIT,
        .keeping = CS_KEEPING_INIT,
    };
    cs_parse parse = CS_PARSE_STOP;
    cs_result result = replay_parse(&out, argc, argv, &command, &parse);
    if (parse == CS_PARSE_GO && result == CS_OK) result = replay_input(&out, &command);
    return cs_output_end(&out, result);
}
