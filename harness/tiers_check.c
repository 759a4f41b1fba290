/* The check itself: runs the probes, watches, judges, and keeps what contradicts. */
#include <stdio.h>
#include <string.h>

#include "harness/keep.h"
#include "harness/tiers_rules.h"
#include "records/text.h"

#define SCRIPT_HOLD_MS 1500u
#define PROGRAM_HOLD_MS 3000u
#define STATEMENTS_HOLD_MS 0u
#define STATEMENTS_ONLY "only statements were to be compared"

static void say_unread(cs_inside *inside, const cs_error *err) {
    cs_view text = cs_utf8_cut(cs_view_of(err->message), sizeof inside->why - 1);
    memcpy(inside->why, text.ptr, text.len);
    inside->why[text.len] = '\0';
}

/* ---- one probe --------------------------------------------------------------------------------------- */

static uint32_t hold_of(const cs_tiers_options *options, cs_probe_form form) {
    if (options->depth == CS_DEPTH_STATEMENTS) return STATEMENTS_HOLD_MS;
    return form == CS_PROBE_SCRIPT ? SCRIPT_HOLD_MS : PROGRAM_HOLD_MS;
}

/* Read what the probe printed. Only what fails on our side is an error here: an answer that can't be read is an
 * observation. */
static cs_result read_answer(const cs_probe_order *order, const cs_run_report *run, cs_inside *inside, cs_error *err) {
    cs_view output;
    cs_error trouble = CS_ERROR_INIT;
    cs_result result = cs_probe_output(order->form, run->response, &output, &trouble);
    if (result == CS_OK) result = cs_probe_read(order, output, &inside->facts, &trouble);
    inside->read = result == CS_OK;
    inside->wrong = trouble.code == CS_CODE_TIER_NONCE;
    if (result == CS_OK) return CS_OK;
    say_unread(inside, &trouble);
    if (trouble.code == CS_CODE_TIER_PROBE || trouble.code == CS_CODE_TIER_NONCE) return CS_OK;
    return cs_fail(err, trouble.code, "%s", trouble.message);
}

/* Does the claim belong to runs that were made before? */
static bool is_beside(const cs_tiers_options *options) {
    return options->of != NULL || options->earlier != NULL;
}

/* Beside other runs the ledger is that of the work: a probe in it would be one more run than was asked for, and one
 * that can't be replayed. What went wrong is kept all the same. */
static cs_result send_probe(const cs_tiers_options *options, cs_run_request *request, cs_run_report *run) {
    if (!is_beside(options)) return cs_run_once(&options->run, request, run);
    cs_run_options unkept = options->run;
    unkept.key = NULL;
    unkept.ledger = NULL;
    cs_result result = cs_run_once(&unkept, request, run);
    bool answered = run->outcome.state == CS_CALL_ANSWERED || run->outcome.state == CS_CALL_UNANSWERED;
    if (result != CS_OK && answered) cs_keep_beside(&options->run, run, NULL, run);
    return result;
}

/* The floor of a probe's run is what the daemon claims: it must take such a run. */
static cs_result run_probe(const cs_tiers_options *options, cs_probe_form form, cs_view floor,
                           cs_tiers_report *report) {
    cs_probe_order order;
    cs_host_watch *watch = NULL;
    cs_run_request *request = NULL;
    cs_run_report *run = &report->runs[form];
    cs_result result = cs_probe_order_new(form, hold_of(options, form), &order, &report->err);
    if (result == CS_OK && options->depth == CS_DEPTH_HOST)
        result = cs_host_watch_begin(cs_client_url(options->run.client), &order, &watch, &report->err);
    if (result == CS_OK) result = cs_probe_request(&order, floor, &request, &report->err);
    if (result == CS_OK) {
        report->ran[form] = true;
        result = send_probe(options, request, run);
        report->seen.inside[form].ran = result != CS_NOT_RUN;
        report->err = run->err;
        cs_tiers_said(run, &report->seen.said[form]);
    }
    cs_host_watch_end(watch, &report->seen.outside[form]);
    if (result == CS_OK && options->depth != CS_DEPTH_STATEMENTS)
        result = read_answer(&order, run, &report->seen.inside[form], &report->err);
    return result;
}

static void say_left_out(cs_tiers_report *report, cs_probe_form form, const char *why) {
    cs_inside *inside = &report->seen.inside[form];
    snprintf(inside->why, sizeof inside->why, "%s", why);
}

/* The script runs anywhere; the program needs a daemon that runs projects, and is left out where a run says nothing
 * beyond the statements. */
static cs_result run_probes(const cs_tiers_options *options, const cs_describe_response *self,
                            cs_tiers_report *report) {
    cs_view floor = cs_bytes_view(&self->isolation);
    if (cs_tier_parse(floor) <= CS_TIER_NONE) floor = (cs_view){0};
    cs_result result = run_probe(options, CS_PROBE_SCRIPT, floor, report);
    if (result != CS_OK) return result;
    if (options->depth == CS_DEPTH_STATEMENTS)
        say_left_out(report, CS_PROBE_PROGRAM, STATEMENTS_ONLY);
    else if (!self->supports_project)
        say_left_out(report, CS_PROBE_PROGRAM, "the daemon runs no projects");
    else if (cs_probe_program().len == 0)
        say_left_out(report, CS_PROBE_PROGRAM, "this build has none for this processor");
    else
        result = run_probe(options, CS_PROBE_PROGRAM, floor, report);
    return result;
}

/* ---- the verdict --------------------------------------------------------------------------------------- */

static const cs_tier_judgement *first_contradiction(const cs_tiers_report *report) {
    for (size_t i = 0; i < cs_tier_rule_count; i++)
        if (report->judgements[i].verdict == CS_TIER_CONTRADICTED) return &report->judgements[i];
    return NULL;
}

static cs_result contradicted(cs_tiers_report *report) {
    const cs_tier_judgement *first = first_contradiction(report);
    cs_fail(&report->err, CS_CODE_TIER_CONTRADICTED, "the daemon claims '%s', and %zu %s against it: %s: %s",
            cs_tier_word(report->claim), report->contradictions,
            report->contradictions == 1 ? "rule speaks" : "rules speak", first->rule->name, first->observed);
    for (const cs_tier_judgement *j = first + 1; j < report->judgements + cs_tier_rule_count; j++)
        if (j->verdict == CS_TIER_CONTRADICTED) cs_error_also(&report->err, "; %s", j->rule->name);
    return CS_FAILED;
}

/* Does nothing contradict the claim but a finding that the ledger holds already? One more for each check would be
 * noise; but before the entries that are looked at have left it behind, it is kept anew. */
static bool is_kept(const cs_tiers_report *report) {
    const cs_ledger_said *ledger = &report->seen.ledger;
    return report->contradictions == 1 && ledger->refuted > 0 && ledger->other == 0 &&
           strcmp(first_contradiction(report)->rule->name, "ledger-statements") == 0 &&
           ledger->newest - ledger->refuted_entry < CS_TIERS_LEDGER_ENTRIES / 2;
}

/* Keep the contradiction with the bytes of the run in question, or else of the probe's latest. */
static void keep_contradiction(const cs_tiers_options *options, cs_tiers_report *report) {
    if (is_kept(report)) {
        report->finding = (int64_t)report->seen.ledger.refuted_entry;
        return;
    }
    const cs_run_report *run = &report->runs[report->ran[CS_PROBE_PROGRAM] ? CS_PROBE_PROGRAM : CS_PROBE_SCRIPT];
    if (options->of != NULL) run = options->of;
    cs_run_report keeper = {.err = report->err};
    cs_keep_beside(&options->run, run, options->described, &keeper);
    report->err = keeper.err;
    report->finding = keeper.entry;
    memcpy(report->side_file, keeper.side_file, sizeof report->side_file);
}

static bool any_read(const cs_tiers_report *report) {
    return report->seen.inside[CS_PROBE_SCRIPT].read || report->seen.inside[CS_PROBE_PROGRAM].read;
}

/* QEMU's own processor calls itself so where no hardware helps it. */
static bool is_emulated(const cs_inside *program) {
    return program->read && strcmp(program->facts.hypervisor, "TCGTCGTCGTCG") == 0;
}

static cs_result need_probe(const cs_tiers_options *options, cs_tiers_report *report) {
    if (options->depth != CS_DEPTH_STATEMENTS && !any_read(report))
        return cs_fail(&report->err, CS_CODE_TIER_PROBE, "no probe could be read: %s",
                       report->seen.inside[CS_PROBE_SCRIPT].why);
    return CS_OK;
}

/* ---- all of it ------------------------------------------------------------------------------------------- */

static cs_result look_into_ledger(const cs_tiers_options *options, cs_tiers_report *report, cs_error *err) {
    if (options->run.ledger_path == NULL) return CS_OK;
    const cs_run_report *run = options->of != NULL ? options->of : &report->runs[CS_PROBE_SCRIPT];
    if (run->checked.record == NULL) return CS_OK;
    return cs_tiers_read_ledger(options->run.ledger_path, cs_client_url(options->run.client), run->checked.record,
                                (uint64_t)run->entry, &report->seen.ledger, err);
}

/* What the probes see. Of a run in question the statements are there already. */
static cs_result look_inside(const cs_tiers_options *options, cs_tiers_report *report) {
    if (options->of != NULL && options->depth == CS_DEPTH_STATEMENTS) {
        say_left_out(report, CS_PROBE_SCRIPT, STATEMENTS_ONLY);
        say_left_out(report, CS_PROBE_PROGRAM, STATEMENTS_ONLY);
        return CS_OK;
    }
    cs_describe_response *self = NULL;
    cs_result result = cs_keep_ask(&options->run, &self, &report->err);
    if (result != CS_OK) return result;
    if (options->of == NULL) report->claim = cs_tier_parse(cs_bytes_view(&self->isolation));
    if (options->depth == CS_DEPTH_HOST) cs_host_look(&report->seen.host);
    result = run_probes(options, self, report);
    cs_message_free(self);
    return result;
}

/* Take down what is there before anything is run. */
static void begin(const cs_tiers_options *options, cs_tiers_report *report) {
    if (options->earlier != NULL) report->seen.said[CS_SAID_EARLIER] = *options->earlier;
    if (options->of == NULL) return;
    cs_tiers_said(options->of, &report->seen.said[CS_SAID_OF]);
    report->claim = cs_tier_parse(report->seen.said[CS_SAID_OF].tier[CS_SAID_RECORD]);
}

/* The check could not be made beside runs that did run: their exit can't say that nothing ran, or may have. A probe's
 * run that is wrong stays wrong. */
static cs_result unmade(cs_result result, cs_error *err) {
    cs_error_also(err, " [%s]; the claim could not be cross-checked", cs_code_name(err->code));
    if (result == CS_FAILED) return result;
    (void)cs_error_recode(err, CS_CODE_TIER_PROBE);
    return CS_UNCHECKED;
}

static cs_result lost(cs_error *err) {
    cs_error_also(err, " [%s]; a probe ran before, and the check did not come to its end", cs_code_name(err->code));
    (void)cs_error_recode(err, CS_CODE_TIER_PROBE);
    return CS_UNCHECKED;
}

/* What can be observed at this depth. Beside other runs, also what is left to see when a probe failed. */
static cs_result observe(const cs_tiers_options *options, cs_tiers_report *report) {
    const bool beside = is_beside(options);
    begin(options, report);
    cs_result result = look_inside(options, report);
    if (result != CS_OK && beside) result = unmade(result, &report->err);
    /* The program comes second: a probe did run, and "nothing ran" would be wrong. */
    if (result == CS_NOT_RUN && report->ran[CS_PROBE_PROGRAM]) result = lost(&report->err);
    if (result != CS_OK && !beside) return result;
    cs_error trouble = CS_ERROR_INIT;
    cs_result looked = look_into_ledger(options, report, &trouble);
    if (result != CS_OK || looked == CS_OK) return result;
    report->err = trouble;
    return beside ? CS_UNCHECKED : looked; /* the runs themselves are good, also when the ledger is damaged */
}

static cs_result check_steps(const cs_tiers_options *options, cs_tiers_report *report) {
    cs_result result = cs_keep_check(&options->run, &report->err);
    if (result != CS_OK) return result;
    result = observe(options, report);
    /* Also when it failed: the table is filled in for the reader. */
    report->contradictions = cs_tier_judge(&report->seen, report->claim, options->depth, report->judgements);
    report->emulated = is_emulated(&report->seen.inside[CS_PROBE_PROGRAM]);
    if (result != CS_OK && !is_beside(options)) return result; /* such a run is a finding already */
    if (report->contradictions > 0) {
        result = contradicted(report);
        keep_contradiction(options, report);
        return result;
    }
    return result == CS_OK ? need_probe(options, report) : result;
}

cs_result cs_tiers_check(const cs_tiers_options *options, cs_tiers_report *report) {
    memset(report, 0, sizeof *report);
    report->result = CS_UNCHECKED;
    report->err = CS_ERROR_INIT;
    report->claim = CS_TIER_UNKNOWN;
    (void)cs_tier_judge(&report->seen, CS_TIER_UNKNOWN, options->depth, report->judgements);
    report->result = check_steps(options, report);
    if (report->result == CS_OK) report->err = (cs_error){.code = CS_CODE_OK};
    return report->result;
}

cs_host_place cs_tiers_place(const cs_tiers_report *report) {
    cs_host_place place = CS_HOST_ELSEWHERE;
    for (size_t form = 0; form < CS_PROBE_FORMS; form++)
        if (report->seen.outside[form].place > place) place = report->seen.outside[form].place;
    return place;
}

void cs_tiers_free(cs_tiers_report *report) {
    for (size_t form = 0; form < CS_PROBE_FORMS; form++)
        if (report->ran[form]) cs_run_report_free(&report->runs[form]);
    memset(report, 0, sizeof *report);
    report->result = CS_UNCHECKED;
    report->err = CS_ERROR_INIT;
}
