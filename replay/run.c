#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "records/text.h"
#include "replay/replay.h"

/* One item on one daemon, while it runs. */
typedef struct trial {
    const cs_replay_options *options;
    const cs_replay_item *item;
    cs_client *client;
    cs_replay_cell *cell;
    cs_run_response *first; /* of the first run that gave a result; owned */
    bool unstable;          /* two runs differ */
} trial;

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

static double monotonic_seconds(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool same_digest(const cs_digest *a, const cs_digest *b) {
    return strcmp(a->hex, b->hex) == 0;
}

/* ---- one cell ------------------------------------------------------------------------------- */

/* Compare a checked run with the stored result, and with the daemon's own first run. */
static void note_result(trial *t, cs_run_report *report) {
    cs_replay_cell *cell = t->cell;
    const cs_run_response *response = (const cs_run_response *)report->outcome.message;
    bool matches = same_digest(&report->checked.result_sha256, &t->item->result_sha256);
    cell->runs++;
    if (matches) cell->matched++;

    if (t->first == NULL) {
        cell->result_sha256 = report->checked.result_sha256;
        if (!matches) cs_compare_results(t->item->response, response, &cell->difference);
        /* The message goes on living here, to be compared with those that follow. */
        t->first = (cs_run_response *)report->outcome.message;
        report->outcome.message = NULL;
        report->checked.record = NULL;
    } else if (!t->unstable && !same_digest(&report->checked.result_sha256, &cell->result_sha256)) {
        t->unstable = true;
        cs_compare_results(t->first, response, &cell->difference);
    }
}

static void note_daemon(cs_replay_cell *cell, const cs_outcome *describe) {
    const cs_describe_response *described = (const cs_describe_response *)describe->message;
    if (described == NULL) return;
    cs_escape_short(cs_bytes_view(&described->sandbox), cell->provider, sizeof cell->provider);
    cs_escape_short(cs_bytes_view(&described->isolation), cell->tier, sizeof cell->tier);
}

/* Run the item once. False when it gave no result: then this daemon gets it no second time, since
 * what may have run is never sent again by itself. */
static bool run_once(trial *t) {
    cs_replay_cell *cell = t->cell;
    ProtobufCMessage *copy = NULL;
    cell->failure = cs_message_copy(&t->item->request->base, &copy, &cell->err);
    if (cell->failure != CS_OK) return false;
    cs_run_request *request = (cs_run_request *)copy;
    request->protocol = 0; /* a daemon serves one number only; cs_run_once fills in its own */

    cs_run_options options = {
        .client = t->client,
        .key = t->options->key,
        .ledger = t->options->ledger,
        .ledger_path = t->options->ledger_path,
        .skew_ms = t->options->skew_ms,
    };
    cs_run_report report;
    double begin = monotonic_seconds();
    cell->failure = cs_run_once(&options, request, &report);
    cell->seconds += monotonic_seconds() - begin;

    note_daemon(cell, &report.before);
    cell->protocol_sent = report.request->protocol;
    cell->protocol_changed = cell->protocol_sent != 0 && cell->protocol_sent != t->item->request->protocol;
    if (cell->failure == CS_OK)
        note_result(t, &report);
    else
        cell->err = report.err;
    cs_run_report_free(&report);
    return cell->failure == CS_OK;
}

/* Two results of one daemon that differ prove that the work is not deterministic, whatever became of
 * the runs after them; otherwise a run without a result leaves it open. */
static cs_replay_verdict judge_cell(const trial *t) {
    if (t->unstable) return CS_REPLAY_NONDETERMINISTIC;
    if (t->cell->failure != CS_OK) return CS_REPLAY_NO_RESULT;
    return t->cell->matched == t->cell->runs ? CS_REPLAY_REPRODUCED : CS_REPLAY_DIFFERENT;
}

static void run_cell(const cs_replay_options *options, const cs_replay_item *item, cs_client *client,
                     cs_replay_cell *cell) {
    *cell = (cs_replay_cell){.verdict = CS_REPLAY_NO_RESULT, .failure = CS_UNCHECKED, .err = CS_ERROR_INIT};
    cs_escape_short(cs_view_of(cs_client_url(client)), cell->url, sizeof cell->url);
    trial t = {.options = options, .item = item, .client = client, .cell = cell};
    for (unsigned i = 0; i < options->runs; i++)
        if (!run_once(&t)) break;
    cell->verdict = judge_cell(&t);
    if (cell->failure == CS_OK) cell->err = (cs_error){.code = CS_CODE_OK};
    cs_message_free(t.first);
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
    (void)cs_fail(err, CS_CODE_REPLAY_INCOMPLETE, "%zu of %zu runs could not be replayed everywhere, for instance on ",
                  rows, report->row_count);
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
                       "%zu of %zu runs gave another result, the same each time on one daemon: the environment or the "
                       "provider makes the difference",
                       rows[CS_REPLAY_DIFFERENT], report->row_count);
    if (rows[CS_REPLAY_NONDETERMINISTIC] > 0)
        return cs_fail(err, CS_CODE_REPLAY_UNSTABLE,
                       "%zu of %zu runs gave two different results on one and the same daemon: the work is not "
                       "deterministic, and that says nothing about providers",
                       rows[CS_REPLAY_NONDETERMINISTIC], report->row_count);
    if (rows[CS_REPLAY_NO_RESULT] > 0) return without_result(report, rows[CS_REPLAY_NO_RESULT], err);
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

cs_result cs_replay_run(const cs_replay_plan *plan, const cs_replay_options *options, cs_replay_report *report,
                        cs_error *err) {
    *report = (cs_replay_report){.rows = NULL};
    cs_result result = check_options(plan, options, err);
    if (result == CS_OK) result = make_rows(plan, options->client_count, report, err);
    if (result != CS_OK) {
        cs_replay_report_free(report);
        return result;
    }
    size_t total = plan->count * options->client_count;
    for (size_t i = 0; i < plan->count; i++) {
        cs_replay_row *row = &report->rows[i];
        for (size_t j = 0; j < options->client_count; j++) {
            run_cell(options, row->item, options->clients[j], &row->cells[j]);
            if (options->on_progress != NULL)
                options->on_progress(options->user, i * options->client_count + j + 1, total);
        }
        row->verdict = judge_row(row, report->cell_count);
    }
    return judge_report(report, err);
}

void cs_replay_report_free(cs_replay_report *report) {
    for (size_t i = 0; i < report->row_count; i++)
        free(report->rows[i].cells);
    free(report->rows);
    *report = (cs_replay_report){.rows = NULL};
}
