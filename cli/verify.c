#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/trust.h"
#include "records/text.h"
#include "verify/verify.h"

/* A hostile input can hold millions of bad lines. Text is printed as it comes; the document is held in
 * memory until the end, so it has a bound and says how many it left out. */
#define MAX_FINDINGS_IN_DOCUMENT 10000u

/* One input while it is verified. */
typedef struct checking {
    cs_output *out;
    cs_progress progress;
    char name[256]; /* the input's path, escaped */
    json_t *findings;
    uint64_t left_out;
    bool failed;
    cs_error first; /* first failure */
    uint64_t first_entry;
} checking;

static void print_finding(const checking *input, const cs_finding *finding) {
    const cs_error *err = finding->err;
    cs_say(input->out, "%s: %s%s%s%s: %s", input->name, err->where, err->where[0] != '\0' ? ": " : "",
           finding->warning ? "warning: " : "", cs_code_name(err->code), err->message);
    if (err->expected[0] != '\0') cs_say(input->out, "; expected: %s", err->expected);
    if (err->found[0] != '\0') cs_say(input->out, "; found: %s", err->found);
    cs_say(input->out, "\n");
}

static json_t *finding_json(const cs_finding *finding) {
    json_t *object = cs_json_of_error(finding->err);
    if (object == NULL) return NULL;
    bool good = json_object_set_new(object, "entry", json_integer((json_int_t)finding->entry)) == 0 &&
                json_object_set_new(object, "warning", json_boolean(finding->warning)) == 0;
    if (good) return object;
    json_decref(object);
    return NULL;
}

static void on_finding(void *user, const cs_finding *finding) {
    checking *input = user;
    if (!finding->warning && !input->failed) {
        input->failed = true;
        input->first = *finding->err;
        input->first_entry = finding->entry;
    }
    if (!input->out->json) {
        cs_progress_clear(&input->progress);
        print_finding(input, finding);
    } else if (json_array_size(input->findings) >= MAX_FINDINGS_IN_DOCUMENT ||
               json_array_append_new(input->findings, finding_json(finding)) != 0) {
        input->left_out++;
    }
}

static void on_progress(void *user, uint64_t done, uint64_t total) {
    checking *input = user;
    cs_progress_show(&input->progress, done, total);
}

/* What can be said about lines or rows that may be missing. */
static const char *completeness(cs_result result, const cs_verify_summary *summary) {
    if (result != CS_OK) return "not determined, since the verification did not pass";
    if (summary->kind == CS_SOURCE_LEDGER)
        return "nothing shows that this is all: a ledger's rows are chained, but rows cut off at its end leave no "
               "trace";
    if (summary->linked) return "its lines are linked, and nothing is missing before its checkpoint";
    return "nothing shows that this is all: its lines are not linked";
}

static void print_summary(const checking *input, cs_result result, const cs_verify_summary *summary) {
    const cs_output *out = input->out;
    cs_say(out, "%s: %s: %s of %" PRIu64 " entries, %" PRIu64 " runs verified", input->name, cs_result_word(result),
           summary->kind == CS_SOURCE_LEDGER ? "ledger" : "bundle", summary->entries, summary->runs);
    if (summary->unanswered > 0) cs_say(out, " (%" PRIu64 " of them unanswered session calls)", summary->unanswered);
    if (summary->sessions > 0) cs_say(out, ", %" PRIu64 " sessions closed", summary->sessions);
    if (summary->duplicates > 0) cs_say(out, ", %" PRIu64 " duplicates", summary->duplicates);
    if (summary->findings > 0) cs_say(out, ", %" PRIu64 " unsigned findings", summary->findings);
    cs_say(out, ", %" PRIu64 " failures, %" PRIu64 " warnings\n", summary->failures, summary->warnings);
    cs_say(out, "  complete? %s\n", completeness(result, summary));
    const cs_uncovered *bare = &summary->uncovered;
    if (bare->trace_ids + bare->durations + bare->advice > 0)
        cs_say(out,
               "  covered by no digest: %" PRIu64 " trace ids, %" PRIu64 " durations, %" PRIu64 " advice findings\n",
               bare->trace_ids, bare->durations, bare->advice);
}

static json_t *summary_json(checking *input, const char *path, cs_result result, const cs_verify_summary *s) {
    return json_pack("{s:o, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:s, s:{s:I, s:I, s:I},"
                     " s:O, s:I}",
                     "input", cs_json_of_text(cs_view_of(path)), "verdict", cs_result_word(result), "code",
                     cs_code_name(input->first.code), "message", input->first.message, "kind",
                     s->kind == CS_SOURCE_LEDGER ? "ledger" : "bundle", "entries", (json_int_t)s->entries, "runs",
                     (json_int_t)s->runs, "sessions", (json_int_t)s->sessions, "unanswered", (json_int_t)s->unanswered,
                     "duplicates", (json_int_t)s->duplicates, "unsigned_findings", (json_int_t)s->findings, "failures",
                     (json_int_t)s->failures, "warnings", (json_int_t)s->warnings, "linked", (int)s->linked,
                     "completeness", completeness(result, s), "uncovered", "trace_ids",
                     (json_int_t)s->uncovered.trace_ids, "durations", (json_int_t)s->uncovered.durations, "advice",
                     (json_int_t)s->uncovered.advice, "findings", input->findings, "findings_left_out",
                     (json_int_t)input->left_out);
}

static cs_result verify_opened(cs_source *source, const cs_trust *trust, checking *input, const char *path,
                               json_t *inputs) {
    cs_verify_options options = {.trust = trust, .on_finding = on_finding, .on_progress = on_progress, .user = input};
    cs_verify_summary summary = {.kind = cs_source_what(source)};
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_verify_source(source, &options, &summary, &err);
    cs_progress_clear(&input->progress);
    if (result == CS_OK) err = (cs_error){.code = CS_CODE_OK};
    if (!input->failed || result != CS_FAILED) input->first = err;
    print_summary(input, result, &summary);
    if (input->out->json) {
        json_t *object = summary_json(input, path, result, &summary);
        if (object == NULL || json_array_append_new(inputs, object) != 0) input->out->lost = true;
    }
    return result;
}

static cs_result verify_input(const char *path, const cs_trust *trust, checking *input, json_t *inputs) {
    cs_source *source = NULL;
    cs_result result = cs_source_open(path, &source, &input->first);
    if (result == CS_OK) {
        result = verify_opened(source, trust, input, path, inputs);
        cs_source_close(source);
        return result;
    }
    cs_say(input->out, "%s: %s: %s: %s\n", input->name, cs_result_word(result), cs_code_name(input->first.code),
           input->first.message);
    if (input->out->json) {
        json_t *object =
            json_pack("{s:o, s:s, s:s, s:s}", "input", cs_json_of_text(cs_view_of(path)), "verdict",
                      cs_result_word(result), "code", cs_code_name(input->first.code), "message", input->first.message);
        if (object == NULL || json_array_append_new(inputs, object) != 0) input->out->lost = true;
    }
    return result;
}

/* All inputs; the worst verdict wins, and its first error becomes the command's. */
static cs_result verify_all(cs_output *out, const cs_trust *trust, char **paths, size_t count) {
    json_t *inputs = json_array();
    cs_result worst = CS_OK;
    for (size_t i = 0; i < count; i++) {
        checking input = {.out = out, .findings = json_array(), .first = CS_ERROR_INIT};
        cs_escape_short(cs_view_of(paths[i]), input.name, sizeof input.name);
        cs_progress_begin(&input.progress, "verify");
        cs_result result = verify_input(paths[i], trust, &input, inputs);
        if (cs_worse(result, worst) != worst) {
            worst = result;
            out->err = input.first;
            out->has_entry = input.first_entry != 0;
            out->entry = input.first_entry;
            cs_error_in_file(&out->err, paths[i]);
        }
        json_decref(input.findings);
    }
    cs_member(out, "inputs", inputs);
    return worst;
}

int cs_cmd_verify(int argc, char **argv) {
    cs_text_list keys = {.count = 0};
    const cs_option options[] = {
        {"public-key", 'p', CS_OPTION_LIST, &keys, "PUB", "a public key that you trust (PEM); may be given again", 0, 0,
         NULL},
    };
    const cs_usage usage = {
        .command = "verify",
        .arguments = "-p PUB... [--json] INPUT...",
        .about =
            "Verify ledgers and bundles: signatures, records, digests, session chains, coverage and order. Goes on\n"
            "after a bad entry and reports each; of several inputs the worst verdict counts.",
        .options = options,
        .option_count = 1,
        .min_arguments = 1,
        .max_arguments = 100000,
        .exits = "  0  everything passed, and there was something to check\n"
                 "  1  a check failed: it was checked and it is wrong\n"
                 "  2  the command line is wrong\n"
                 "  5  an input or a key could not be read\n"
                 "  6  there was nothing to check\n",
        .example = "  countersign verify -p harness.pub ledger.db\n",
    };
    cs_output out;
    cs_output_begin(&out, usage.command, argc, argv);
    int first = 0;
    cs_result result = CS_UNCHECKED;
    if (cs_options_parse(&usage, argc, argv, &out, &first, &result) == CS_PARSE_GO) {
        cs_trust trust = {.count = 0};
        result = cs_trust_load(&keys, &trust, &out.err);
        if (result == CS_OK) result = verify_all(&out, &trust, argv + first, (size_t)(argc - first));
    }
    return cs_output_end(&out, result);
}
