/* What each daemon states of itself in the runs of a replay, and whether its claim stands. Shared by the files of
 * replay/ only.
 */
#ifndef CS_REPLAY_WITNESS_H
#define CS_REPLAY_WITNESS_H

#include "replay/replay.h"

/* More ways to state itself than a daemon that stays what it is needs. */
#define CS_WITNESS_MAX 64u

/* One way in which a daemon stated itself around a run. All texts borrow from `text`. */
typedef struct cs_testimony {
    char *text; /* owned */
    cs_said said;
    cs_view environment;
} cs_testimony;

/* One daemon. Zero when nothing is cross-checked. */
typedef struct cs_witness {
    const cs_replay_options *options; /* NULL: nothing is cross-checked */
    cs_client *client;
    cs_replay_check *check;
    cs_testimony heard[CS_WITNESS_MAX]; /* no two the same */
    size_t count;
} cs_witness;

/* Begin with a check that was not made (its result CS_UNCHECKED already); `check` may be NULL: nothing is cross-checked. */
void cs_witness_begin(cs_witness *witness, const cs_replay_options *options, cs_client *client,
                      cs_replay_check *check);
/* A run that passed its checks. One that states what an earlier one did adds nothing; another is judged beside the
 * first, and beside the ledger's other records. `described`: what the daemon described before it, or its session. */
void cs_witness_hear(cs_witness *witness, const cs_run_report *run, const cs_outcome *described);
/* All runs were made: now the probes, as far as they are asked for, unless the claim is refuted already. */
void cs_witness_end(cs_witness *witness);

#endif
