#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/expectation.h"
#include "cli/findings.h"
#include "cli/options.h"
#include "cli/trust.h"
#include "records/text.h"
#include "verify/verify.h"

/* One input while it is verified. */
typedef struct checking {
    cs_output *out;
    cs_expectation *expectation;
    cs_findings findings;
    cs_source_kind kind;
    bool verified;  /* it was read to its end, and passed or has nothing to verify */
    cs_error first; /* what the verdict is about */
    uint64_t first_entry;
    uint64_t surplus; /* records of requests that were not expected */
    cs_error first_surplus;
    uint64_t first_surplus_entry;
} checking;

static void on_finding(void *user, const cs_finding *finding) {
    cs_findings_on_finding(&((checking *)user)->findings, finding);
}

/* A record that was not expected is reported where it stands, and the walk goes on. */
static cs_result on_run(void *user, const cs_verified_run *run, cs_error *err) {
    checking *input = user;
    cs_error why = CS_ERROR_INIT;
    cs_result result = cs_expectation_see(input->expectation, run, &why);
    if (result != CS_FAILED) {
        *err = why;
        return result;
    }
    cs_error_where(&why, "%s %" PRIu64, input->kind == CS_SOURCE_LEDGER ? "entry" : "line", run->entry);
    if (input->surplus++ == 0) {
        input->first_surplus = why;
        input->first_surplus_entry = run->entry;
    }
    cs_findings_on_finding(&input->findings, &(cs_finding){.entry = run->entry, .err = &why});
    return CS_OK;
}

static void on_progress(void *user, uint64_t done, uint64_t total) {
    cs_findings_on_progress(&((checking *)user)->findings, done, total);
}

/* What can be said about lines or rows that may be missing, from this input alone and what is expected of it alone. */
static const char *completeness(const checking *input, cs_result result, const cs_verify_summary *summary) {
    const cs_expectation *expectation = input->expectation;
    if (result != CS_OK) return "not determined, since the verification did not pass";
    if (cs_expectation_of_all(expectation)) return "see below what was expected";
    if (summary->linked && expectation->head != NULL)
        return "its lines are linked, nothing is missing before its checkpoint, and the expected head is among them";
    if (summary->kind == CS_SOURCE_LEDGER && expectation->head != NULL)
        return "nothing up to the expected head was cut off or replaced; nothing shows what may have come after it";
    if (summary->kind == CS_SOURCE_LEDGER)
        return "nothing shows that this is all: a ledger's rows are chained, but the chain has no key: rows cut off at "
               "its end leave no trace, and whoever can write the ledger can take out rows and chain the rest anew";
    if (summary->linked) return "its lines are linked, and nothing is missing before its checkpoint";
    return "nothing shows that this is all: its lines are not linked";
}

/* A head is only worth noting when everything up to it passed. */
static bool has_head(cs_result result, const cs_verify_summary *summary) {
    return result == CS_OK && summary->head.hex[0] != '\0';
}

static void print_summary(const checking *input, cs_result result, const cs_verify_summary *summary) {
    const cs_output *out = input->out;
    cs_say(out, "%s: %s: %s of %" PRIu64 " %s, %" PRIu64 " %s verified", input->findings.name, cs_result_word(result),
           summary->kind == CS_SOURCE_LEDGER ? "ledger" : "bundle", summary->entries,
           cs_plural(summary->entries, "entry", "entries"), summary->runs, cs_plural(summary->runs, "run", "runs"));
    if (summary->unanswered > 0)
        cs_say(out, " (%" PRIu64 " of them %s)", summary->unanswered,
               cs_plural(summary->unanswered, "an unanswered session call", "unanswered session calls"));
    if (summary->sessions > 0)
        cs_say(out, ", %" PRIu64 " %s closed", summary->sessions, cs_plural(summary->sessions, "session", "sessions"));
    if (summary->duplicates > 0)
        cs_say(out, ", %" PRIu64 " %s", summary->duplicates, cs_plural(summary->duplicates, "duplicate", "duplicates"));
    if (summary->findings > 0)
        cs_say(out, ", %" PRIu64 " unsigned %s", summary->findings,
               cs_plural(summary->findings, "finding", "findings"));
    if (summary->verdicts > 0)
        cs_say(out, ", %" PRIu64 " %s as no run", summary->verdicts,
               cs_plural(summary->verdicts, "statement of a verdict, which counts",
                         "statements of verdicts, which count"));
    cs_say(out, ", %" PRIu64 " %s, %" PRIu64 " %s\n", summary->failures,
           cs_plural(summary->failures, "failure", "failures"), summary->warnings,
           cs_plural(summary->warnings, "warning", "warnings"));
    cs_say(out, "  complete? %s\n", completeness(input, result, summary));
    if (has_head(result, summary))
        cs_say(out,
               "  head: %s (noted elsewhere, and given as --expect-head later, it shows that nothing was cut off)\n",
               summary->head.hex);
    const cs_uncovered *bare = &summary->uncovered;
    if (bare->trace_ids + bare->durations + bare->advice > 0)
        cs_say(out, "  covered by no digest: %" PRIu64 " trace %s, %" PRIu64 " %s, %" PRIu64 " advice %s\n",
               bare->trace_ids, cs_plural(bare->trace_ids, "id", "ids"), bare->durations,
               cs_plural(bare->durations, "duration", "durations"), bare->advice,
               cs_plural(bare->advice, "finding", "findings"));
}

static json_t *summary_json(checking *input, const char *path, cs_result result, const cs_verify_summary *s) {
    return json_pack(
        "{s:o, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:s, s:s?, s:{s:I, s:I, s:I},"
        " s:O, s:I}",
        "input", cs_json_of_text(cs_view_of(path)), "verdict", cs_result_word(result), "code",
        cs_code_name(input->first.code), "message", input->first.message, "kind",
        s->kind == CS_SOURCE_LEDGER ? "ledger" : "bundle", "entries", (json_int_t)s->entries, "runs",
        (json_int_t)s->runs, "sessions", (json_int_t)s->sessions, "unanswered", (json_int_t)s->unanswered, "duplicates",
        (json_int_t)s->duplicates, "unsigned_findings", (json_int_t)s->findings, "verdicts", (json_int_t)s->verdicts,
        "failures", (json_int_t)s->failures, "warnings", (json_int_t)s->warnings, "linked", (int)s->linked,
        "completeness", completeness(input, result, s), "head", has_head(result, s) ? s->head.hex : NULL, "uncovered",
        "trace_ids", (json_int_t)s->uncovered.trace_ids, "durations", (json_int_t)s->uncovered.durations, "advice",
        (json_int_t)s->uncovered.advice, "findings", input->findings.list, "findings_left_out",
        (json_int_t)input->findings.left_out);
}

static void add_input(checking *input, json_t *inputs, json_t *object) {
    if (object == NULL || json_array_append_new(inputs, object) != 0) input->out->lost = true;
}

static cs_result verify_opened(cs_source *source, const cs_trust *trust, checking *input, cs_verify_summary *summary) {
    input->kind = cs_source_what(source);
    cs_verify_options options = {.trust = trust,
                                 .on_finding = on_finding,
                                 .on_run = on_run,
                                 .expect_head = input->expectation->head,
                                 .on_progress = on_progress,
                                 .user = input};
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_verify_source(source, &options, summary, &err);
    cs_progress_clear(&input->findings.progress);
    if (result == CS_OK) err = (cs_error){.code = CS_CODE_OK, .message = "every check passed"};
    input->first = err;
    input->first_entry = result == CS_FAILED ? summary->failed_entry : 0;
    input->verified = result == CS_OK || result == CS_NOTHING;
    /* A failed verification is the first reason, whatever was not expected. */
    summary->failures += input->surplus;
    if (input->surplus == 0 || result == CS_FAILED) return result;
    input->first = input->first_surplus;
    input->first_entry = input->first_surplus_entry;
    return CS_FAILED;
}

static json_t *unopened_json(const checking *input, const char *path, cs_result result) {
    json_t *object = cs_json_of_error(&input->first);
    if (object == NULL) return NULL;
    if (json_object_set_new(object, "input", cs_json_of_text(cs_view_of(path))) == 0 &&
        json_object_set_new(object, "verdict", json_string(cs_result_word(result))) == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* An input that can't be opened; an empty one is known to lack the expected head. */
static cs_result verify_unopened(checking *input, const char *path, cs_result result, json_t *inputs) {
    input->verified = result == CS_NOTHING;
    if (result == CS_NOTHING && input->expectation->head != NULL)
        result = cs_fail(&input->first, CS_CODE_HEAD_MISSING,
                         "the input holds no record, so its head is not the expected one");
    cs_say(input->out, "%s: %s: %s: %s\n", input->findings.name, cs_result_word(result),
           cs_code_name(input->first.code), input->first.message);
    if (input->out->json) add_input(input, inputs, unopened_json(input, path, result));
    return result;
}

static cs_result verify_input(const char *path, const cs_trust *trust, checking *input, json_t *inputs) {
    cs_source *source = NULL;
    cs_result result = cs_source_open(path, &source, &input->first);
    if (result != CS_OK) return verify_unopened(input, path, result, inputs);
    cs_verify_summary summary;
    result = verify_opened(source, trust, input, &summary);
    cs_source_close(source);
    print_summary(input, result, &summary);
    if (input->out->json) add_input(input, inputs, summary_json(input, path, result, &summary));
    return result;
}

/* All inputs; the worst verdict wins, and its first error becomes the command's. *verified: was every input read to
 * its end without a failed check? */
static cs_result verify_inputs(cs_output *out, const cs_trust *trust, cs_expectation *expectation, char **paths,
                               size_t count, bool *verified) {
    json_t *inputs = json_array();
    cs_result worst = CS_OK;
    *verified = true;
    for (size_t i = 0; i < count; i++) {
        checking input = {.out = out, .expectation = expectation, .first = CS_ERROR_INIT};
        cs_findings_begin(&input.findings, out, "verify", paths[i]);
        cs_result result = verify_input(paths[i], trust, &input, inputs);
        *verified = *verified && input.verified;
        if (cs_worse(result, worst) != worst) {
            worst = result;
            out->err = input.first;
            out->has_entry = input.first_entry != 0;
            out->entry = input.first_entry;
            cs_error_in_file(&out->err, paths[i]);
        }
        cs_findings_end(&input.findings);
    }
    cs_member(out, "inputs", inputs);
    return worst;
}

static cs_result verify_all(cs_output *out, const cs_trust *trust, cs_expectation *expectation, char **paths,
                            size_t count) {
    bool verified = false;
    cs_error err = CS_ERROR_INIT;
    cs_result result = verify_inputs(out, trust, expectation, paths, count, &verified);
    cs_result settled = cs_expectation_settle(expectation, verified, out, &err);
    if (cs_worse(settled, result) == result) return result;
    out->err = err;
    out->has_entry = false;
    return settled;
}

static cs_result verify_command(cs_output *out, const cs_trust_options *trusted, cs_expectation *expectation,
                                char **paths, size_t count) {
    cs_trust trust = {.count = 0};
    cs_result result = cs_trust_collect(trusted, &trust, &out->err);
    if (result == CS_OK) result = cs_expectation_open(expectation, paths, count, &out->err);
    if (result == CS_OK) result = verify_all(out, &trust, expectation, paths, count);
    cs_expectation_close(expectation);
    return result;
}

int cs_cmd_verify(int argc, char **argv) {
    cs_trust_options trusted = {.keys = {.count = 0}};
    cs_expectation expectation = {.path = NULL};
    const cs_option options[] = {
        cs_trust_key_option(&trusted),
        cs_trust_file_option(&trusted),
        {"expect", 0, CS_OPTION_TEXT, &expectation.path, "FILE",
         "the digests of all requests that must be there, and no others", 0, 0, NULL},
        {"expect-count", 0, CS_OPTION_NUMBER, &expectation.count, "N", "how many distinct records must be there", 1,
         INT64_MAX, NULL},
        {"expect-head", 0, CS_OPTION_TEXT, &expectation.head, "HEX",
         "a head noted before, which must still be in the input", 0, 0, NULL},
    };
    const cs_usage usage = {
        .command = "verify",
        .arguments = "-p PUB... [--trust FILE...] [OPTIONS] INPUT...",
        .about =
            "Verify ledgers and bundles: signatures, records, digests, session chains, coverage and order. Goes on\n"
            "after a bad entry and reports each; of several inputs the worst verdict counts. --expect and\n"
            "--expect-count are about all inputs together, where the same record counts once.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .min_arguments = 1,
        .max_arguments = 100000,
        .exits = "  0  everything passed, and there was something to check\n"
                 "  1  a check failed: it was checked and it is wrong\n"
                 "  2  the command line is wrong\n"
                 "  5  an input, a key, or what is expected could not be read\n"
                 "  6  there was nothing to check\n",
        .example =
            "  countersign verify -p harness.pub ledger.db\n"
            "  countersign digest --protocol 3 *.json | countersign verify -p harness.pub --expect - ledger.db\n",
    };
    cs_output out;
    cs_output_begin(&out, usage.command, argc, argv);
    int first = 0;
    cs_result result = CS_UNCHECKED;
    if (cs_options_parse(&usage, argc, argv, &out, &first, &result) == CS_PARSE_GO)
        result = verify_command(&out, &trusted, &expectation, argv + first, (size_t)(argc - first));
    return cs_output_end(&out, result);
}
