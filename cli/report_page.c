/* `countersign report`: a page for a reviewer. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/options.h"
#include "cli/place.h"
#include "cli/progress.h"
#include "cli/show_entry.h"
#include "cli/trust.h"
#include "cli/whole_file.h"
#include "records/text.h"
#include "report/page.h"
#include "report/verdict.h"
#include "verify/verify.h"

#define FILE_MODE 0644

/* The command while it reads. */
typedef struct reporting {
    cs_output *out;
    const char *output; /* the page's path */
    const char *gate;   /* of a gate's document; NULL: none */
    cs_trust keys;
    const cs_trust *trust; /* those keys; NULL: none was named */
    cs_page *page;
    json_t *inputs;
    cs_progress progress;
    uint64_t entries;  /* of the input that is read */
    uint64_t verdicts; /* of them statements of verdicts, which have no say in what comes of it */
} reporting;

/* ---- entries -------------------------------------------------------------------------------------------- */

static const char *label_of(const cs_trust *trust, const char *keyid) {
    for (size_t i = 0; i < trust->count; i++)
        if (strcmp(trust->keys[i].key.id, keyid) == 0) return trust->keys[i].label;
    return NULL;
}

/* `standing` of one that can be decoded; not so much is believed of any other. */
static cs_result add_entry(reporting *report, const cs_entry *entry, cs_standing standing, cs_error *err,
                           cs_error *trouble) {
    cs_shown shown;
    cs_show_decode(entry, NULL, &shown);
    bool good = shown.result == CS_OK;
    cs_page_entry made = {.entry = entry,
                          .standing = good ? standing : CS_STANDING_UNREADABLE,
                          .statement = shown.stated ? &shown.statement : NULL,
                          .request = shown.request,
                          .response = shown.response,
                          .keyid = shown.enveloped ? shown.envelope.keyid : NULL,
                          .err = good ? NULL : &shown.err};
    if (report->trust != NULL && shown.enveloped) made.key_label = label_of(report->trust, shown.envelope.keyid);
    cs_result result = cs_page_entry_add(report->page, &made, err);
    if (result == CS_OK && !good && trouble != NULL) {
        *trouble = shown.err;
        cs_error_where(trouble, "entry %" PRIu64, entry->number);
        result = shown.result;
    }
    cs_shown_free(&shown);
    return result;
}

static cs_result on_entry(void *user, const cs_verified_entry *entry, cs_error *err) {
    return add_entry(user, entry->entry, CS_STANDING_VERIFIED, err, NULL);
}

static cs_result on_unsigned(void *user, const cs_entry *entry, cs_error *err) {
    return add_entry(user, entry, CS_STANDING_UNSIGNED, err, NULL);
}

/* Checked by itself: whether its key is among those that are trusted for the runs says nothing of the runs. */
static void add_verdict(reporting *report, const cs_entry *entry) {
    cs_shown shown;
    cs_show_decode(entry, report->trust, &shown);
    cs_page_stated stated = {.entry = entry,
                             .read = shown.judged ? &shown.verdict : NULL,
                             .keyid = shown.enveloped ? shown.envelope.keyid : NULL,
                             .checked = shown.checked,
                             .timeless = shown.timeless,
                             .err = shown.result == CS_OK ? NULL : &shown.err};
    if (report->trust != NULL && shown.enveloped) stated.key_label = label_of(report->trust, shown.envelope.keyid);
    cs_page_stated_add(report->page, &stated);
    cs_shown_free(&shown);
}

static cs_result on_verdict(void *user, const cs_entry *entry, cs_error *err) {
    (void)err;
    add_verdict(user, entry);
    return CS_OK;
}

static void on_finding(void *user, const cs_finding *finding) {
    cs_page_fault(((reporting *)user)->page, finding);
}

static void on_progress(void *user, uint64_t done, uint64_t total) {
    cs_progress_show(&((reporting *)user)->progress, done, total);
}

/* ---- one input ------------------------------------------------------------------------------------------ */

static cs_result verify_opened(reporting *report, cs_source *source, cs_verify_summary *summary, cs_error *err) {
    const cs_verify_options options = {.trust = report->trust,
                                       .on_finding = on_finding,
                                       .on_entry = on_entry,
                                       .on_unsigned = on_unsigned,
                                       .pass_over_verdicts = true,
                                       .on_verdict = on_verdict,
                                       .on_progress = on_progress,
                                       .user = report};
    cs_result result = cs_verify_source(source, &options, summary, err);
    cs_progress_clear(&report->progress);
    report->entries = summary->entries;
    report->verdicts = summary->verdicts;
    return result;
}

static void note_fault(reporting *report, uint64_t number, cs_result now, const cs_error *found, cs_result *worst,
                       cs_error *err) {
    cs_page_fault(report->page, &(cs_finding){.entry = number, .err = found});
    if (cs_worse(now, *worst) == *worst) return;
    *worst = now;
    *err = *found;
}

/* Without a key: what can be read is shown. */
static cs_result read_opened(reporting *report, cs_source *source, cs_error *err) {
    cs_result worst = CS_OK;
    for (;;) {
        cs_entry entry = {.number = 0};
        bool more = false;
        cs_error own = CS_ERROR_INIT;
        cs_result result = cs_source_next(source, &entry, &more, &own);
        if (result == CS_OK && !more) break;
        report->entries++;
        if (result == CS_OK && entry.verdict) {
            report->verdicts++;
            add_verdict(report, &entry);
            continue;
        }
        bool stepped = result == CS_OK;
        cs_error trouble = CS_ERROR_INIT;
        if (stepped)
            result =
                add_entry(report, &entry, entry.finding ? CS_STANDING_UNSIGNED : CS_STANDING_UNCHECKED, &own, &trouble);
        if (result == CS_OK) continue;
        bool undecoded = stepped && trouble.code != CS_CODE_INTERNAL;
        note_fault(report, entry.number, result, undecoded ? &trouble : &own, &worst, err);
        if (!undecoded && (!more || result != CS_FAILED)) return worst;
    }
    if (report->entries == 0) return cs_fail(err, CS_CODE_NOTHING_TO_CHECK, "there is no entry");
    return worst;
}

static void add_input(reporting *report, const char *path, const cs_page_outcome *outcome) {
    if (!report->out->json) return;
    bool good = outcome->result == CS_OK;
    json_t *object = good ? json_object() : cs_json_of_error(outcome->err);
    bool made = object != NULL && json_object_set_new(object, "input", cs_json_of_text(cs_view_of(path))) == 0 &&
                json_object_set_new(object, "verdict", json_string(cs_result_word(outcome->result))) == 0 &&
                json_object_set_new(object, "entries", json_integer((json_int_t)outcome->entries)) == 0;
    if (!made || json_array_append(report->inputs, object) != 0) report->out->lost = true;
    json_decref(object);
}

static cs_result report_input(reporting *report, const char *path, cs_error *err) {
    cs_source *source = NULL;
    cs_verify_summary summary;
    cs_page_input_begin(report->page, cs_view_of(path));
    report->entries = 0;
    report->verdicts = 0;
    cs_result result = cs_source_open(path, &source, err);
    cs_page_outcome outcome = {.opened = result == CS_OK, .err = err};
    if (result == CS_OK) {
        outcome.kind = cs_source_what(source);
        if (report->trust != NULL) outcome.summary = &summary;
        result =
            report->trust != NULL ? verify_opened(report, source, &summary, err) : read_opened(report, source, err);
    }
    cs_source_close(source);
    outcome.result = result;
    outcome.entries = report->entries;
    outcome.verdicts = report->verdicts;
    cs_page_input_end(report->page, &outcome);
    add_input(report, path, &outcome);
    if (result != CS_OK) cs_error_in_file(err, path);
    return result;
}

/* ---- the page ------------------------------------------------------------------------------------------- */

static int64_t now_ms(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The page takes the place of what is there, and nothing that the command reads must be what is there. */
static cs_result check_output(const reporting *report, const cs_trust_options *trusted, char **inputs, size_t count,
                              cs_error *err) {
    if (report->output == NULL || report->output[0] == '\0')
        return cs_fail(err, CS_CODE_USAGE, "name the page's file with -o");
    cs_named_path *others = calloc(count + trusted->keys.count + trusted->files.count + 1, sizeof *others);
    if (others == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to look where the page goes");
    size_t named = 0;
    others[named++] = (cs_named_path){"--gate-json", report->gate};
    for (size_t i = 0; i < trusted->keys.count; i++)
        others[named++] = (cs_named_path){"-p", trusted->keys.items[i]};
    for (size_t i = 0; i < trusted->files.count; i++)
        others[named++] = (cs_named_path){"--trust", trusted->files.items[i]};
    for (size_t i = 0; i < count; i++)
        others[named++] = (cs_named_path){"an INPUT", strcmp(inputs[i], "-") == 0 ? "/dev/stdin" : inputs[i]};
    const cs_named_path page = {"-o", report->output};
    cs_result result = cs_places_check(&page, 1, others, named, err);
    free(others);
    return result;
}

static cs_result read_gate(reporting *report, cs_error *err) {
    if (report->gate == NULL) return CS_OK;
    CS_AUTO_BUF json = CS_BUF_INIT(CS_VERDICT_MAX_BYTES);
    cs_result result = cs_whole_file_read(report->gate, &json, err);
    if (result == CS_OK) result = cs_page_gate(report->page, cs_buf_view(&json), err);
    if (result != CS_OK) cs_error_in_file(err, report->gate);
    return result;
}

static void add_members(const reporting *report, size_t bytes) {
    const cs_page_counts *counts = cs_page_told(report->page);
    cs_output *out = report->out;
    cs_member_text(out, "page", report->output);
    cs_member_number(out, "bytes", bytes);
    cs_member(out, "verified", json_boolean(report->trust != NULL));
    cs_member_number(out, "entries", counts->entries);
    cs_member_number(out, "entries_shown", counts->shown);
    cs_member_number(out, "runs_with_result", counts->answered);
    cs_member_number(out, "runs_failed", counts->failed);
    cs_member_number(out, "unsigned_findings", counts->findings);
    cs_member_number(out, "unsigned_findings_shown", counts->findings_shown);
    cs_member_number(out, "verdicts", counts->verdicts);
    cs_member_number(out, "verdicts_shown", counts->verdicts_shown);
    cs_member_number(out, "contradictions", counts->contradictions);
    cs_member_number(out, "findings", counts->faults);
    cs_member_number(out, "findings_shown", counts->faults_shown);
    cs_member(out, "works",
              json_pack("{s:I, s:I, s:I, s:I}", "distinct", (json_int_t)counts->matrix.works, "compared",
                        (json_int_t)counts->matrix.compared, "same", (json_int_t)counts->matrix.same, "different",
                        (json_int_t)counts->matrix.different));
    cs_member_number(out, "trajectories", counts->trajectories);
    cs_member(out, "gate", json_boolean(counts->gate));
    cs_member(out, "inputs", json_incref(report->inputs));
    cs_say(out, "page: %zu bytes; shown are %" PRIu64 " of %" PRIu64 " %s, %" PRIu64 " of %" PRIu64 " unsigned %s\n",
           bytes, counts->shown, counts->entries, cs_plural(counts->entries, "entry", "entries"),
           counts->findings_shown, counts->findings, cs_plural(counts->findings, "finding", "findings"));
}

/* Also of what failed: that is when somebody wants to look. */
static cs_result write_page(reporting *report, cs_result result) {
    CS_AUTO_BUF html = CS_BUF_INIT(CS_PAGE_MAX);
    cs_error err = CS_ERROR_INIT;
    cs_result written = cs_page_write(report->page, result, &report->out->err, now_ms(), CS_VERSION, &html, &err);
    if (written == CS_OK) written = cs_whole_file_write(report->output, FILE_MODE, cs_buf_view(&html), &err);
    if (written == CS_OK) {
        add_members(report, html.len);
        return result;
    }
    if (cs_worse(result, written) == result)
        cs_error_also(&report->out->err, "; and there is no page: %s", err.message);
    else
        report->out->err = err;
    return cs_worse(result, written);
}

static cs_result report_all(reporting *report, char **inputs, size_t count) {
    cs_result worst = CS_OK;
    cs_progress_begin(&report->progress, "report");
    for (size_t i = 0; i < count; i++) {
        cs_error err = CS_ERROR_INIT;
        cs_result result = report_input(report, inputs[i], &err);
        if (cs_worse(result, worst) == worst) continue;
        worst = result;
        report->out->err = err;
    }
    return write_page(report, worst);
}

static cs_result report_command(reporting *report, const cs_trust_options *trusted, char **inputs, size_t count) {
    cs_output *out = report->out;
    cs_result result = check_output(report, trusted, inputs, count, &out->err);
    if (result == CS_OK && cs_trust_named(trusted)) {
        result = cs_trust_collect(trusted, &report->keys, &out->err);
        report->trust = &report->keys;
    }
    if (result != CS_OK) return result;
    report->page = cs_page_new(report->trust);
    report->inputs = json_array();
    if (report->page == NULL || report->inputs == NULL)
        result = cs_fail(&out->err, CS_CODE_NO_MEMORY, "there is no memory for the page");
    if (result == CS_OK) result = read_gate(report, &out->err);
    if (result == CS_OK) result = report_all(report, inputs, count);
    if (result == CS_OK)
        (void)snprintf(out->err.message, sizeof out->err.message, "%s",
                       report->trust != NULL ? "the page is written, and what it shows as verified is"
                                             : "the page is written; nothing was verified, as it says");
    json_decref(report->inputs);
    cs_page_free(report->page);
    return result;
}

int cs_cmd_report(int argc, char **argv) {
    cs_trust_options trusted = {.keys = {.count = 0}};
    cs_output out;
    reporting report = {.out = &out};
    const cs_option options[] = {
        {"output", 'o', CS_OPTION_TEXT, &report.output, "FILE", "where the page goes; it replaces what is there", 0, 0,
         NULL},
        cs_trust_key_option(&trusted),
        cs_trust_file_option(&trusted),
        {"gate-json", 0, CS_OPTION_TEXT, &report.gate, "FILE", "also show this verdict, which `gate --json` printed", 0,
         0, NULL},
    };
    const cs_usage usage = {
        .command = "report",
        .arguments = "-o FILE [-p PUB...] [--trust FILE...] [--gate-json FILE] INPUT...",
        .about =
            "Write one page of HTML for a reviewer: what ran, behind which wall, what the evidence says, and what it\n"
            "does not show. The page needs nothing else, loads nothing and runs no script. It is written also when "
            "the\n"
            "verification fails, and says so. Without a trusted key nothing is verified.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .min_arguments = 1,
        .max_arguments = CS_PAGE_INPUTS,
        .exits = "  0  the page is written, and everything passed (with a trusted key) or could be read (without)\n"
                 "  1  the page is written, and says that a check failed\n"
                 "  2  the command line is wrong\n"
                 "  5  an input or a key could not be read, or the page could not be written\n"
                 "  6  there was nothing to check, which the page says\n",
        .example = "  countersign report -o runs.html -p harness.pub runs.db\n",
    };
    cs_output_begin(&out, usage.command, argc, argv);
    int first = 0;
    cs_result result = CS_UNCHECKED;
    if (cs_options_parse(&usage, argc, argv, &out, &first, &result) == CS_PARSE_GO)
        result = report_command(&report, &trusted, argv + first, (size_t)(argc - first));
    return cs_output_end(&out, result);
}
