#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/text.h"
#include "replay/trial.h"

const char *cs_replay_verdict_word(cs_replay_verdict verdict) {
    switch (verdict) {
    case CS_REPLAY_REPRODUCED:
        return "reproduced";
    case CS_REPLAY_DIFFERENT:
        return "different";
    case CS_REPLAY_NONDETERMINISTIC:
        return "nondeterministic";
    case CS_REPLAY_NO_RESULT:
        break;
    }
    return "no-result";
}

/* ---- one cell ------------------------------------------------------------------------------- */

/* Run the item once. False when it gave no result: then this daemon gets it no second time, since
 * what may have run is never sent again by itself. */
static bool run_once(const cs_replay_options *options, cs_trial *trial) {
    cs_error err = CS_ERROR_INIT;
    cs_run_request *request = NULL;
    cs_result result = cs_trial_request(trial, &request, &err);
    if (result != CS_OK) {
        cs_trial_fail(trial, result, &err);
        return false;
    }
    cs_run_options how = cs_trial_options(options, trial->witness->client);
    cs_run_report report;
    double begin = cs_trial_seconds();
    result = cs_run_once(&how, request, &report);
    trial->cell->seconds += cs_trial_seconds() - begin;
    bool good = cs_trial_note(trial, &report, &report.before) && result == CS_OK;
    cs_run_report_free(&report);
    return good;
}

static void run_cell(const cs_replay_options *options, const cs_replay_item *item, cs_replay_cell *cell,
                     cs_witness *witness) {
    cs_trial trial;
    cs_trial_begin(&trial, item, cell, witness);
    for (unsigned i = 0; i < options->runs; i++)
        if (!run_once(options, &trial)) break;
    cs_trial_end(&trial);
}

/* ---- rows and the whole --------------------------------------------------------------------- */

static cs_replay_verdict judge_row(const cs_replay_row *row, size_t cells) {
    bool seen[CS_REPLAY_NO_RESULT + 1] = {false};
    for (size_t i = 0; i < cells; i++)
        seen[row->cells[i].verdict] = true;
    if (seen[CS_REPLAY_NONDETERMINISTIC]) return CS_REPLAY_NONDETERMINISTIC;
    if (seen[CS_REPLAY_DIFFERENT]) return CS_REPLAY_DIFFERENT;
    return seen[CS_REPLAY_NO_RESULT] ? CS_REPLAY_NO_RESULT : CS_REPLAY_REPRODUCED;
}

static cs_result check_options(const cs_replay_plan *plan, const cs_replay_options *options, cs_error *err) {
    if (plan->count == 0) return cs_fail(err, CS_CODE_NOTHING_TO_CHECK, "the plan holds no run to replay");
    if (options->client_count < 1 || options->client_count > CS_MAX_DAEMONS)
        return cs_fail(err, CS_CODE_USAGE, "%zu daemons were named; a replay takes 1 to %u", options->client_count,
                       CS_MAX_DAEMONS);
    if (options->runs < CS_MIN_RUNS || options->runs > CS_MAX_RUNS)
        return cs_fail(
            err, CS_CODE_USAGE,
            "%u runs were asked for; a replay takes %u to %u of each, since one alone can't tell work that is "
            "not deterministic from a provider that differs",
            options->runs, CS_MIN_RUNS, CS_MAX_RUNS);
    return CS_OK;
}

/* The worst of what kept runs from giving a result: wrong, then unknown, then unchecked, then refused. */
static cs_result worse(cs_result a, cs_result b) {
    static const cs_result order[] = {CS_FAILED, CS_MAYBE_RAN, CS_UNCHECKED, CS_NOT_RUN};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (a == order[i] || b == order[i]) return order[i];
    return CS_UNCHECKED;
}

static cs_result without_result(const cs_replay_report *report, size_t rows, cs_error *err) {
    cs_result worst = CS_OK;
    const cs_replay_cell *reason = NULL;
    for (size_t i = 0; i < report->row_count; i++) {
        for (size_t j = 0; j < report->cell_count; j++) {
            const cs_replay_cell *cell = &report->rows[i].cells[j];
            if (cell->verdict != CS_REPLAY_NO_RESULT || worse(cell->failure, worst) == worst) continue;
            worst = cell->failure;
            reason = cell;
        }
    }
    if (reason == NULL) return cs_fail(err, CS_CODE_INTERNAL, "a replay without a result has no cell that says so");
    (void)cs_fail(err, CS_CODE_REPLAY_INCOMPLETE, "%zu of %zu %s could not be replayed everywhere, for instance on ",
                  rows, report->row_count, cs_plural(report->row_count, "run", "runs"));
    /* Both texts are escaped already; cs_fail would do it a second time. */
    cs_view url = cs_utf8_cut(cs_view_of(reason->url), 100);
    cs_view message = cs_utf8_cut(cs_view_of(reason->err.message), 250);
    cs_error_also(err, "%.*s: %.*s [%s]", (int)url.len, (const char *)url.ptr, (int)message.len,
                  (const char *)message.ptr, cs_code_name(reason->err.code));
    return worst;
}

static cs_result judge_report(const cs_replay_report *report, cs_error *err) {
    size_t rows[CS_REPLAY_NO_RESULT + 1] = {0};
    for (size_t i = 0; i < report->row_count; i++)
        rows[report->rows[i].verdict]++;
    if (rows[CS_REPLAY_DIFFERENT] > 0)
        return cs_fail(err, CS_CODE_REPLAY_DIFFERS,
                       "%zu of %zu %s gave another result, the same each time on one daemon: the environment or the "
                       "provider makes the difference",
                       rows[CS_REPLAY_DIFFERENT], report->row_count, cs_plural(report->row_count, "run", "runs"));
    if (rows[CS_REPLAY_NONDETERMINISTIC] > 0)
        return cs_fail(err, CS_CODE_REPLAY_UNSTABLE,
                       "%zu of %zu %s gave two different results on one and the same daemon: the work is not "
                       "deterministic, and that says nothing about providers",
                       rows[CS_REPLAY_NONDETERMINISTIC], report->row_count,
                       cs_plural(report->row_count, "run", "runs"));
    if (rows[CS_REPLAY_NO_RESULT] > 0) return without_result(report, rows[CS_REPLAY_NO_RESULT], err);
    return CS_OK;
}

/* The cross-check to tell of: one that failed, else one that could not be made. NULL when all are well. */
static const cs_replay_check *worst_claim(const cs_replay_report *report) {
    const cs_replay_check *worst = NULL;
    for (size_t j = 0; report->checks != NULL && j < report->cell_count; j++) {
        const cs_replay_check *check = &report->checks[j];
        if (check->result == CS_FAILED) return check;
        if (check->result != CS_OK && worst == NULL) worst = check;
    }
    return worst;
}

/* What the cross-checks of the daemons make of the verdict on the results. Where none of a daemon's runs passed, that
 * verdict says so already. */
static cs_result judge_claims(const cs_replay_report *report, cs_result result, cs_error *err) {
    const cs_replay_check *check = worst_claim(report);
    if (check == NULL || (result != CS_OK && check->result != CS_FAILED)) return result;
    /* All of these are escaped already; cs_fail would do it a second time. */
    cs_view url = cs_utf8_cut(cs_view_of(check->url), 100);
    cs_view message = cs_utf8_cut(cs_view_of(check->err.message), 300);
    if (result == CS_FAILED) {
        cs_error_also(err, "; besides, the cross-check of %.*s failed [%s]", (int)url.len, (const char *)url.ptr,
                      cs_code_name(check->err.code));
        return result;
    }
    (void)cs_fail(err, check->err.code, "%s", "");
    cs_error_also(err, "%.*s: %.*s", (int)url.len, (const char *)url.ptr, (int)message.len, (const char *)message.ptr);
    cs_error_also(err, result == CS_OK ? "; every run gave the stored result" : "; besides, runs are without a result");
    return check->result;
}

static cs_result make_checks(size_t count, cs_replay_report *report, cs_error *err) {
    report->checks = calloc(count, sizeof *report->checks);
    if (report->checks == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the replay's report");
    for (size_t j = 0; j < count; j++)
        report->checks[j] = (cs_replay_check){.result = CS_UNCHECKED, .err = CS_ERROR_INIT};
    return CS_OK;
}

static cs_result make_rows(const cs_replay_plan *plan, size_t cells, cs_replay_report *report, cs_error *err) {
    report->rows = calloc(plan->count, sizeof *report->rows);
    if (report->rows == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the replay's report");
    report->row_count = plan->count;
    report->cell_count = cells;
    for (size_t i = 0; i < plan->count; i++) {
        report->rows[i] = (cs_replay_row){.item = &plan->items[i], .verdict = CS_REPLAY_NO_RESULT};
        report->rows[i].cells = calloc(cells, sizeof *report->rows[i].cells);
        if (report->rows[i].cells == NULL)
            return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the replay's report");
    }
    return CS_OK;
}

/* How many items from `first` on run together. */
static size_t group_of(const cs_replay_plan *plan, size_t first) {
    const cs_replay_item *items = plan->items;
    size_t count = 1;
    while (items[first].session.hex[0] != '\0' && first + count < plan->count &&
           strcmp(items[first].session.hex, items[first + count].session.hex) == 0)
        count++;
    return count;
}

static void run_group(const cs_replay_plan *plan, const cs_replay_options *options, cs_replay_report *report,
                      size_t first, size_t count, cs_replay_cell **cells, cs_witness *witnesses) {
    for (size_t j = 0; j < options->client_count; j++) {
        for (size_t i = 0; i < count; i++)
            cells[i] = &report->rows[first + i].cells[j];
        if (plan->items[first].session.hex[0] == '\0')
            run_cell(options, &plan->items[first], cells[0], &witnesses[j]);
        else
            cs_replay_session(options, &plan->items[first], count, &witnesses[j], cells);
        if (options->on_progress != NULL)
            options->on_progress(options->user, first * options->client_count + count * (j + 1),
                                 plan->count * options->client_count);
    }
}

static void run_groups(const cs_replay_plan *plan, const cs_replay_options *options, cs_replay_report *report,
                       cs_replay_cell **cells, cs_witness *witnesses) {
    for (size_t j = 0; j < options->client_count; j++)
        cs_witness_begin(&witnesses[j], options, options->clients[j],
                         report->checks != NULL ? &report->checks[j] : NULL);
    for (size_t first = 0; first < plan->count;) {
        size_t count = group_of(plan, first);
        run_group(plan, options, report, first, count, cells, witnesses);
        for (size_t i = first; i < first + count; i++)
            report->rows[i].verdict = judge_row(&report->rows[i], report->cell_count);
        first += count;
    }
    for (size_t j = 0; j < options->client_count; j++)
        cs_witness_end(&witnesses[j]);
}

static cs_result run_all(const cs_replay_plan *plan, const cs_replay_options *options, cs_replay_report *report,
                         cs_error *err) {
    cs_replay_cell **cells = calloc(plan->count, sizeof(cs_replay_cell *));
    cs_witness *witnesses = calloc(options->client_count, sizeof *witnesses);
    cs_result result = CS_OK;
    if (cells == NULL || witnesses == NULL)
        result = cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the replay's report");
    else
        run_groups(plan, options, report, cells, witnesses);
    free(witnesses);
    free(cells);
    return result;
}

cs_result cs_replay_run(const cs_replay_plan *plan, const cs_replay_options *options, cs_replay_report *report,
                        cs_error *err) {
    *report = (cs_replay_report){.rows = NULL};
    cs_result result = check_options(plan, options, err);
    if (result == CS_OK) result = make_rows(plan, options->client_count, report, err);
    if (result == CS_OK && options->cross_check) result = make_checks(options->client_count, report, err);
    if (result != CS_OK) {
        cs_replay_report_free(report);
        return result;
    }
    result = run_all(plan, options, report, err);
    if (result != CS_OK) return result;
    return judge_claims(report, judge_report(report, err), err);
}

void cs_replay_report_free(cs_replay_report *report) {
    for (size_t i = 0; i < report->row_count; i++)
        free(report->rows[i].cells);
    for (size_t j = 0; report->checks != NULL && j < report->cell_count; j++)
        if (report->checks[j].made) cs_tiers_free(&report->checks[j].tiers);
    free(report->checks);
    free(report->rows);
    *report = (cs_replay_report){.rows = NULL};
}
