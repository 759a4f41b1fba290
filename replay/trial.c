#include "replay/trial.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "records/text.h"

double cs_trial_seconds(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool same_digest(const cs_digest *a, const cs_digest *b) {
    return strcmp(a->hex, b->hex) == 0;
}

cs_run_options cs_trial_options(const cs_replay_options *options, cs_client *client) {
    return (cs_run_options){
        .client = client,
        .key = options->key,
        .ledger = options->ledger,
        .ledger_path = options->ledger_path,
        .skew_ms = options->skew_ms,
    };
}

cs_result cs_trial_request(const cs_trial *trial, cs_run_request **out, cs_error *err) {
    ProtobufCMessage *copy = NULL;
    cs_result result = cs_message_copy(&trial->item->request->base, &copy, err);
    *out = (cs_run_request *)copy;
    if (result == CS_OK) (*out)->protocol = 0;
    return result;
}

void cs_trial_begin(cs_trial *trial, const cs_replay_item *item, cs_replay_cell *cell, cs_witness *witness) {
    *cell = (cs_replay_cell){.verdict = CS_REPLAY_NO_RESULT, .failure = CS_UNCHECKED, .err = CS_ERROR_INIT};
    cs_escape_short(cs_view_of(cs_client_url(witness->client)), cell->url, sizeof cell->url);
    *trial = (cs_trial){.item = item, .cell = cell, .witness = witness};
}

/* The message goes on living here, to be compared with those that follow. In a session it is a part of the
 * answer. */
static cs_run_response *take_response(cs_run_report *report) {
    ProtobufCMessage *message = report->outcome.message;
    cs_run_response *response = (cs_run_response *)message;
    if (message->descriptor == &plimsoll__v1__session_run_response__descriptor) {
        response = ((cs_session_run_response *)message)->run;
        ((cs_session_run_response *)message)->run = NULL;
    } else {
        report->outcome.message = NULL;
    }
    report->response = NULL;
    report->checked.record = NULL;
    return response;
}

/* Compare a checked run with the stored result, and with the daemon's own first run. */
static void note_result(cs_trial *t, cs_run_report *report) {
    cs_replay_cell *cell = t->cell;
    const cs_run_response *response = report->response;
    bool matches = same_digest(&report->checked.result_sha256, &t->item->result_sha256);
    cell->runs++;
    if (matches) cell->matched++;

    if (t->first == NULL) {
        cell->result_sha256 = report->checked.result_sha256;
        if (!matches) cs_compare_results(t->item->response, response, &cell->difference);
        t->first = take_response(report);
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

void cs_trial_fail(cs_trial *trial, cs_result result, const cs_error *err) {
    trial->cell->failure = result;
    trial->cell->err = *err;
}

/* A record that was there before is no new run, whatever it states: the daemon answered with an old one. */
static cs_result check_fresh(cs_trial *t, const cs_run_report *report, cs_error *err) {
    const cs_digest *record = &report->checked.record_sha256;
    const cs_run_response *stored = t->item->response;
    bool seen = stored != NULL && stored->record != NULL &&
                cs_view_equal(cs_bytes_view(&stored->record->record_sha256), cs_digest_view(record));
    const char *whose = "the stored run";
    for (size_t i = 0; !seen && i < t->record_count; i++) {
        seen = same_digest(record, &t->records[i]);
        whose = "an earlier run of this replay";
    }
    if (seen) {
        (void)cs_fail(err, CS_CODE_RECORD_DUPLICATE,
                      "the daemon answered with the record of %s, so nothing shows that it ran again", whose);
        return CS_UNCHECKED; /* the code alone is a warning */
    }
    cs_digest *more = realloc(t->records, (t->record_count + 1) * sizeof *more);
    if (more == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the records of a replay");
    more[t->record_count++] = *record;
    t->records = more;
    return CS_OK;
}

bool cs_trial_note(cs_trial *trial, cs_run_report *report, const cs_outcome *describe) {
    cs_replay_cell *cell = trial->cell;
    cs_witness_hear(trial->witness, report, describe);
    note_daemon(cell, describe);
    cell->protocol_sent = report->request->protocol;
    cell->protocol_changed = cell->protocol_sent != 0 && cell->protocol_sent != trial->item->request->protocol;
    if (report->result != CS_OK) {
        cs_trial_fail(trial, report->result, &report->err);
        return false;
    }
    cs_error repeated = CS_ERROR_INIT;
    cs_result fresh = check_fresh(trial, report, &repeated);
    if (fresh != CS_OK) {
        cs_trial_fail(trial, fresh, &repeated);
        return false;
    }
    cell->failure = CS_OK;
    if (trial->item->response != NULL) {
        note_result(trial, report);
        return true;
    }
    cell->failure = cs_fail(&cell->err, CS_CODE_REPLAY_UNANSWERED,
                            "the stored call got no answer: this one did, and there is nothing to compare it with");
    return true;
}

/* Two results of one daemon that differ prove that the work is not deterministic, whatever became of
 * the runs after them; otherwise a run without a result leaves it open. */
static cs_replay_verdict judge_cell(const cs_trial *t) {
    if (t->unstable) return CS_REPLAY_NONDETERMINISTIC;
    if (t->cell->failure != CS_OK) return CS_REPLAY_NO_RESULT;
    return t->cell->matched == t->cell->runs ? CS_REPLAY_REPRODUCED : CS_REPLAY_DIFFERENT;
}

void cs_trial_end(cs_trial *trial) {
    trial->cell->verdict = judge_cell(trial);
    if (trial->cell->failure == CS_OK) trial->cell->err = (cs_error){.code = CS_CODE_OK};
    cs_message_free(trial->first);
    trial->first = NULL;
    free(trial->records);
    trial->records = NULL;
}
