#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/log_filter.h"
#include "cli/log_list.h"
#include "cli/log_print.h"
#include "cli/trust.h"
#include "records/text.h"

/* The command while it walks through its inputs. */
typedef struct logging {
    cs_output *out;
    const cs_trust *trust; /* NULL: decode only */
    cs_log_filter filter;
    cs_log_list list;
    size_t input;
    char *const *inputs;
    uint64_t entries; /* read, of all inputs */
    uint64_t matched;
    uint64_t bad;
    int64_t last_ms; /* time of the entry before in this input */
    bool timeless;   /* of some line the window of its key could not be judged */
} logging;

/* The worst decides the verdict, of equals the first. */
static cs_result judge(const logging *log, cs_result now, const cs_error *err, uint64_t number, cs_result worst) {
    cs_result result = cs_worse(now, worst);
    if (result == worst) return worst;
    cs_output *out = log->out;
    out->err = *err;
    if (number > 0) cs_error_where(&out->err, "entry %" PRIu64, number);
    cs_error_in_file(&out->err, log->inputs[log->input]);
    out->has_entry = number > 0;
    out->entry = number;
    return result;
}

static bool keep(logging *log, cs_log_line *line) {
    line->input = log->input;
    line->order = log->entries;
    /* What can't be believed has no say in the order. */
    line->sort_ms = line->has_time && !cs_log_line_is_bad(line) ? line->time_ms : log->last_ms;
    log->matched++;
    log->bad += cs_log_line_is_bad(line);
    return cs_log_list_add(&log->list, line);
}

static cs_result no_memory(logging *log) {
    return cs_fail(&log->out->err, CS_CODE_NO_MEMORY, "there is no memory for the list");
}

static cs_result take_entry(logging *log, const cs_entry *entry, cs_result worst) {
    cs_shown shown;
    cs_log_line line;
    cs_show_decode(entry, log->trust, &shown);
    bool kept = cs_log_line_make(&shown, &line);
    if (line.err != NULL) worst = judge(log, cs_code_class(line.err->code), line.err, entry->number, worst);
    if (kept && cs_log_filter_matches(&log->filter, &shown, &line)) {
        log->timeless = log->timeless || shown.timeless;
        kept = keep(log, &line);
    }
    if (line.has_time && !cs_log_line_is_bad(&line)) log->last_ms = line.time_ms;
    cs_shown_free(&shown);
    return kept ? worst : no_memory(log);
}

/* An entry that the source itself could not read. */
static cs_result take_unreadable(logging *log, uint64_t number, cs_result result, const cs_error *err,
                                 cs_result worst) {
    cs_log_line line;
    worst = judge(log, result, err, number, worst);
    if (number == 0) return worst; /* the source as a whole */
    bool kept = cs_log_line_unreadable(number, log->trust != NULL, err, &line) && keep(log, &line);
    return kept ? worst : no_memory(log);
}

static cs_result walk(logging *log, cs_source *source, cs_result worst) {
    log->last_ms = INT64_MIN;
    for (;;) {
        cs_entry entry = {.number = 0};
        bool more = false;
        cs_error err = CS_ERROR_INIT;
        cs_result result = cs_source_next(source, &entry, &more, &err);
        if (result == CS_OK && !more) return worst;
        log->entries += entry.number > 0; /* 0: trouble with the source as a whole */
        worst =
            result == CS_OK ? take_entry(log, &entry, worst) : take_unreadable(log, entry.number, result, &err, worst);
        bool goes_on = result == CS_OK || (more && result == CS_FAILED);
        if (!goes_on || log->out->err.code == CS_CODE_NO_MEMORY) return worst;
    }
}

static cs_result walk_inputs(logging *log, size_t count) {
    cs_result worst = CS_OK;
    for (log->input = 0; log->input < count; log->input++) {
        cs_source *source = NULL;
        cs_error err = CS_ERROR_INIT;
        cs_result result = cs_source_open(log->inputs[log->input], &source, &err);
        worst = result == CS_OK ? walk(log, source, worst) : judge(log, result, &err, 0, worst);
        cs_source_close(source);
    }
    return worst;
}

static void print(logging *log, size_t count) {
    cs_output *out = log->out;
    cs_log_list_sort(&log->list);
    if (log->trust == NULL) cs_member_text(out, "note", "signature not checked here");
    cs_say(out, "%s\n",
           log->trust == NULL ? "nothing here is verified: name the public key that you trust with -p"
                              : "each entry is verified by itself; order and completeness are the matter of `verify`");
    cs_log_say(out, &log->list, log->inputs, count);
    cs_say(out, "%" PRIu64 " of %" PRIu64 " %s", log->matched, log->entries,
           cs_plural(log->entries, "entry", "entries"));
    if (log->bad > 0)
        cs_say(out, "; %" PRIu64 " of them can't be believed, and %s listed whatever was asked for", log->bad,
               cs_plural(log->bad, "is", "are"));
    cs_say(out, "\n");
    cs_member(out, "lines", out->json ? cs_json_of_log(&log->list, log->inputs) : NULL);
    cs_member_number(out, "lines_left_out", log->list.left_out);
    cs_member_number(out, "entries", log->entries);
    cs_member_number(out, "matched", log->matched);
    cs_member_number(out, "bad", log->bad);
}

static cs_result conclude(logging *log, cs_result result) {
    cs_output *out = log->out;
    if (result == CS_OK && log->matched == 0)
        return cs_fail(&out->err, CS_CODE_NOTHING_TO_CHECK, "none of %" PRIu64 " %s matches", log->entries,
                       cs_plural(log->entries, "entry", "entries"));
    if (result != CS_OK) return result;
    const char *done = "what is listed is verified, each entry by itself";
    if (log->trust == NULL)
        done = "what is listed is decoded; signature not checked here";
    else if (log->timeless)
        done =
            "what is listed is verified, each entry by itself, but for the window of a key where an entry has no time "
            "of its own: that is the matter of `verify`";
    snprintf(out->err.message, sizeof out->err.message, "%s", done);
    return CS_OK;
}

static cs_result log_inputs(cs_output *out, const cs_trust_options *trusted, const cs_log_wanted *wanted, int64_t limit,
                            char *const *inputs, size_t count) {
    cs_trust trust = {.count = 0};
    logging log = {.out = out, .inputs = inputs, .list = {.limit = (size_t)limit}};
    cs_result result = cs_log_filter_make(wanted, &log.filter, &out->err);
    if (result == CS_OK && cs_trust_named(trusted)) {
        result = cs_trust_collect(trusted, &trust, &out->err);
        log.trust = &trust;
    }
    if (result == CS_OK) {
        result = walk_inputs(&log, count);
        if (log.entries > 0) print(&log, count);
        result = conclude(&log, result);
    }
    cs_log_list_free(&log.list);
    cs_log_filter_free(&log.filter);
    return result;
}

static const char about[] = "List the entries of ledgers and bundles, a line each, newest last. Without a trusted key "
                            "nothing is verified, and\n"
                            "the output says so. An entry that fails its verification, or can't be read, is listed "
                            "whatever is asked for, since\n"
                            "what it says of itself can't be believed.\n"
                            "Verdicts: signed, failed-work (signed, but the code did not succeed), unanswered, "
                            "finding, close, checkpoint, link,\n"
                            "gate-passed, gate-refused (a gate's verdict, which is two entries: test-result and "
                            "summary), invalid (failed\n"
                            "verification), unreadable, unchecked (could not be verified).\n"
                            "A run names no commit. Whether its files are those of one is seen only with --commit, in "
                            "the repository of --repo;\n"
                            "a gate's verdict names its commit.";

int cs_cmd_log(int argc, char **argv) {
    cs_trust_options trusted = {.keys = {.count = 0}};
    cs_log_wanted wanted = {.tier = -1, .min_tier = -1};
    int64_t limit = CS_LOG_MAX_LINES;
    const char *verdicts[CS_LOG_VERDICTS + 1] = {NULL};
    for (size_t i = 0; i < CS_LOG_VERDICTS; i++)
        verdicts[i] = cs_log_verdict_word((cs_log_verdict)i);
    const cs_option options[] = {
        cs_trust_key_option(&trusted),
        cs_trust_file_option(&trusted),
        {"provider", 0, CS_OPTION_LIST, &wanted.providers, "NAME", "only of this provider; may be given again", 0, 0,
         NULL},
        {"tier", 0, CS_OPTION_CHOICE, &wanted.tier, "process|container|kernel|vm", "only of this tier", 0, 0,
         cs_tier_choices},
        {"min-tier", 0, CS_OPTION_CHOICE, &wanted.min_tier, "process|container|kernel|vm",
         "only of this tier or a stronger one", 0, 0, cs_tier_choices},
        {"since", 0, CS_OPTION_TEXT, &wanted.since, "TIME", "only from then on: 2026-11-29T00:00:00Z, or 2026-11-29", 0,
         0, NULL},
        {"until", 0, CS_OPTION_TEXT, &wanted.until, "TIME", "only up to then; of a day, up to its first moment", 0, 0,
         NULL},
        {"verdict", 0, CS_OPTION_LIST, &wanted.verdicts, "WORD", "only with this verdict; may be given again", 0, 0,
         verdicts},
        {"commit", 0, CS_OPTION_TEXT, &wanted.commit, "REV",
         "only runs whose files, at least one, are all those of this commit, and verdicts on it", 0, 0, NULL},
        {"repo", 0, CS_OPTION_TEXT, &wanted.repo, "DIR", "the git repository of --commit (default: the current folder)",
         0, 0, NULL},
        {"limit", 0, CS_OPTION_NUMBER, &limit, "N", "only the newest N (default 10000, which is the most)", 1,
         CS_LOG_MAX_LINES, NULL},
    };
    const cs_usage usage = {
        .command = "log",
        .arguments = "[-p PUB...] [--trust FILE...] [OPTIONS] INPUT...",
        .about = about,
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .min_arguments = 1,
        .max_arguments = CS_MAX_LIST,
        .exits = "  0  listed (and verified, with a trusted key)\n"
                 "  1  an entry can't be decoded, or failed verification, whether or not it matches\n"
                 "  2  the command line is wrong\n"
                 "  5  an input, a key or the commit could not be read\n"
                 "  6  no entry matches, or an input is empty\n",
        .example = "  countersign log -p harness.pub --since 2026-11-29T00:00:00Z ledger.db\n"
                   "  countersign log -p harness.pub --commit HEAD --min-tier container ledger.db\n",
    };
    cs_output out;
    cs_output_begin(&out, usage.command, argc, argv);
    int first = 0;
    cs_result result = CS_UNCHECKED;
    if (cs_options_parse(&usage, argc, argv, &out, &first, &result) == CS_PARSE_GO)
        result = log_inputs(&out, &trusted, &wanted, limit, argv + first, (size_t)(argc - first));
    return cs_output_end(&out, result);
}
