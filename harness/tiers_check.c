/* The check itself: runs the probes, watches, judges, and keeps what contradicts. */
#include <stdio.h>
#include <string.h>

#include "harness/keep.h"
#include "harness/tiers_rules.h"
#include "records/text.h"

#define SCRIPT_HOLD_MS 1500u
#define PROGRAM_HOLD_MS 3000u
#define STATEMENTS_HOLD_MS 0u

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
        result = cs_run_once(&options->run, request, run);
        report->err = run->err;
        cs_tiers_said(run, &report->seen.said[form]);
    }
    cs_host_watch_end(watch, &report->seen.outside[form]);
    if (result == CS_OK && options->depth != CS_DEPTH_STATEMENTS)
        result = read_answer(&order, run, &report->seen.inside[form], &report->err);
    return result;
}

/* What the daemon says of itself before anything is run. */
static cs_result ask(const cs_tiers_options *options, cs_describe_response **out, cs_error *err) {
    cs_outcome outcome;
    ProtobufCMessage *copy = NULL;
    cs_result result = cs_client_describe(options->run.client, &outcome);
    if (result == CS_OK) {
        result = cs_message_copy(outcome.message, &copy, err);
    } else {
        *err = outcome.err;
        cs_error_also(err, " (Describe: %s; nothing ran)", cs_code_name(outcome.err.code));
        result = cs_error_recode(err, CS_CODE_DESCRIBE_FAILED);
    }
    cs_outcome_free(&outcome);
    if (result == CS_OK && copy == NULL) result = cs_fail(err, CS_CODE_INTERNAL, "a description got lost");
    *out = (cs_describe_response *)copy;
    return result;
}

static void leave_program_out(cs_tiers_report *report, const char *why) {
    cs_inside *inside = &report->seen.inside[CS_PROBE_PROGRAM];
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
        leave_program_out(report, "only statements were to be compared");
    else if (!self->supports_project)
        leave_program_out(report, "the daemon runs no projects");
    else if (cs_probe_program().len == 0)
        leave_program_out(report, "this build has none for this processor");
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

/* Keep the contradiction with the bytes of the latest run beside it. */
static void keep_contradiction(const cs_tiers_options *options, cs_tiers_report *report) {
    const cs_run_report *run = &report->runs[report->ran[CS_PROBE_PROGRAM] ? CS_PROBE_PROGRAM : CS_PROBE_SCRIPT];
    cs_ledger_row row = cs_keep_row(&options->run);
    row.request = cs_buf_view(&run->request_bytes);
    row.describe_before = cs_buf_view(&run->before.bytes);
    row.describe_after = cs_buf_view(&run->after.bytes);
    if (run->outcome.bytes.len > 0) row.response = cs_buf_view(&run->outcome.bytes);
    cs_run_report keeper = {.err = report->err};
    cs_keep_finding(&options->run, row, &keeper);
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

static cs_result judge(const cs_tiers_options *options, cs_tiers_report *report) {
    report->emulated = is_emulated(&report->seen.inside[CS_PROBE_PROGRAM]);
    report->contradictions = cs_tier_judge(&report->seen, report->claim, options->depth, report->judgements);
    if (report->contradictions > 0) return contradicted(report);
    if (options->depth != CS_DEPTH_STATEMENTS && !any_read(report))
        return cs_fail(&report->err, CS_CODE_TIER_PROBE, "no probe could be read: %s",
                       report->seen.inside[CS_PROBE_SCRIPT].why);
    return CS_OK;
}

/* ---- all of it ------------------------------------------------------------------------------------------- */

static cs_result look_into_ledger(const cs_tiers_options *options, cs_tiers_report *report) {
    if (options->run.ledger_path == NULL) return CS_OK;
    const cs_run_report *run = &report->runs[CS_PROBE_SCRIPT];
    if (run->checked.record == NULL) return CS_OK;
    return cs_tiers_read_ledger(options->run.ledger_path, cs_client_url(options->run.client), run->checked.record,
                                (uint64_t)run->entry, &report->seen.ledger, &report->err);
}

static cs_result check_steps(const cs_tiers_options *options, cs_tiers_report *report) {
    cs_result result = cs_keep_check(&options->run, &report->err);
    if (result != CS_OK) return result;
    cs_describe_response *self = NULL;
    result = ask(options, &self, &report->err);
    if (result != CS_OK) return result;
    report->claim = cs_tier_parse(cs_bytes_view(&self->isolation));
    if (options->depth == CS_DEPTH_HOST) cs_host_look(&report->seen.host);
    result = run_probes(options, self, report);
    cs_message_free(self);
    if (result == CS_OK) result = look_into_ledger(options, report);
    if (result != CS_OK) {
        /* A run that failed its checks is a finding already; the table is filled in for the reader. */
        report->contradictions = cs_tier_judge(&report->seen, report->claim, options->depth, report->judgements);
        return result;
    }
    result = judge(options, report);
    if (report->contradictions > 0) keep_contradiction(options, report);
    return result;
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

void cs_tiers_free(cs_tiers_report *report) {
    for (size_t form = 0; form < CS_PROBE_FORMS; form++)
        if (report->ran[form]) cs_run_report_free(&report->runs[form]);
    memset(report, 0, sizeof *report);
    report->result = CS_UNCHECKED;
    report->err = CS_ERROR_INIT;
}
