/* One item on one daemon while it runs. Shared by the files of replay/ only.
 *
 * run.c      the plan, row by row, and the verdict of the whole
 * trial.c    what a run says about its item
 * session.c  the calls of a session, which run together
 * witness.c  what a daemon claims in its runs, cross-checked
 */
#ifndef CS_REPLAY_TRIAL_H
#define CS_REPLAY_TRIAL_H

#include "replay/witness.h"

typedef struct cs_trial {
    const cs_replay_item *item;
    cs_replay_cell *cell;
    cs_witness *witness;
    cs_run_response *first; /* of the first run that gave a result; owned */
    bool unstable;          /* two runs differ */
    cs_digest *records;     /* of the runs that gave a result; owned */
    size_t record_count;
} cs_trial;

double cs_trial_seconds(void); /* of a clock that only goes on */

/* Begin with a cell that has no result. */
void cs_trial_begin(cs_trial *trial, const cs_replay_item *item, cs_replay_cell *cell, cs_witness *witness);
/* The options of a new run. */
cs_run_options cs_trial_options(const cs_replay_options *options, cs_client *client);
/* A copy of the item's request for a new run, without a protocol number: a daemon serves one only. */
CS_MUST_CHECK cs_result cs_trial_request(const cs_trial *trial, cs_run_request **out, cs_error *err);

/* What a run gave: a result to compare, or the reason why there is none. May take the response out of the report.
 * False when it gave no result. */
bool cs_trial_note(cs_trial *trial, cs_run_report *report, const cs_outcome *describe);
/* No result, for a reason outside of the runs. */
void cs_trial_fail(cs_trial *trial, cs_result result, const cs_error *err);
/* Set the cell's verdict and free what the trial holds. */
void cs_trial_end(cs_trial *trial);

/* Run `count` items, which are the calls of one session, in fresh sessions on one daemon; cells[i] is item i's. */
void cs_replay_session(const cs_replay_options *options, const cs_replay_item *items, size_t count,
                       cs_witness *witness, cs_replay_cell **cells);

#endif
