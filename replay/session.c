/* A stored session in fresh ones, call by call. */
#include "harness/session.h"

#include <stdlib.h>

#include "replay/trial.h"

/* The calls of one session on one daemon. */
typedef struct group {
    const cs_replay_options *options;
    cs_client *client;
    cs_trial *trials;
    size_t count;
} group;

/* What went wrong with the session itself went wrong with every call that seemed well. */
static void fail_all(group *g, cs_result result, const cs_error *err) {
    for (size_t i = 0; i < g->count; i++)
        if (g->trials[i].cell->failure == CS_OK) cs_trial_fail(&g->trials[i], result, err);
}

static cs_result make_terms(const group *g, cs_open_session_request **out, cs_error *err) {
    cs_open_session_request *terms = malloc(sizeof *terms);
    *out = terms;
    if (terms == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for a session");
    plimsoll__v1__open_session_request__init(terms);
    cs_result result = CS_OK;
    for (size_t i = 0; result == CS_OK && i < g->count; i++)
        result = cs_session_speak(terms, g->trials[i].item->request, err);
    return result;
}

/* Make one call. False when it gave no answer that passed its checks. */
static bool make_call(const group *g, cs_session *session, size_t index) {
    cs_trial *trial = &g->trials[index];
    cs_run_request *request = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_trial_request(trial, &request, &err);
    if (result != CS_OK) {
        cs_trial_fail(trial, result, &err);
        return false;
    }
    cs_run_report report;
    double begin = cs_trial_seconds();
    result = cs_session_call(session, request, &report);
    trial->cell->seconds += cs_trial_seconds() - begin;
    bool good = cs_trial_note(trial, &report, &session->opening.before) && result == CS_OK;
    cs_run_report_free(&report);
    return good;
}

static bool run_opened(group *g, cs_session *session) {
    bool good = true;
    for (size_t i = 0; i < g->count; i++)
        good = make_call(g, session, i) && good;
    cs_run_report report;
    cs_result closed = cs_session_finish(session, &report);
    if (closed != CS_OK) fail_all(g, closed, &report.err);
    cs_run_report_free(&report);
    return good && closed == CS_OK;
}

/* All calls in one fresh session. False when one gave no result: then this daemon gets them no second time. */
static bool run_once(group *g) {
    cs_open_session_request *terms = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_result result = make_terms(g, &terms, &err);
    if (result != CS_OK) {
        cs_message_free(terms);
        for (size_t i = 0; i < g->count; i++)
            cs_trial_fail(&g->trials[i], result, &err);
        return false;
    }
    cs_run_options how = cs_trial_options(g->options, g->client);
    cs_session session;
    result = cs_session_open(&how, terms, &session);
    bool good = result == CS_OK && run_opened(g, &session);
    for (size_t i = 0; result != CS_OK && i < g->count; i++)
        cs_trial_fail(&g->trials[i], result, &session.opening.err);
    cs_session_free(&session);
    return good;
}

void cs_replay_session(const cs_replay_options *options, const cs_replay_item *items, size_t count, cs_witness *witness,
                       cs_replay_cell **cells) {
    cs_trial *trials = calloc(count, sizeof *trials);
    cs_trial without_memory; /* so that every cell is filled in any case */
    for (size_t i = 0; i < count; i++)
        cs_trial_begin(trials != NULL ? &trials[i] : &without_memory, &items[i], cells[i], witness);
    if (trials == NULL) return;
    group g = {.options = options, .client = witness->client, .trials = trials, .count = count};
    for (unsigned i = 0; i < options->runs; i++)
        if (!run_once(&g)) break;
    for (size_t i = 0; i < count; i++)
        cs_trial_end(&trials[i]);
    free(trials);
}
