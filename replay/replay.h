/* Run stored work again on other providers and compare (docs/FORMAT.md, "Replay").
 *
 * Each daemon runs each request at least twice: two different results of one daemon mean that the
 * work is not deterministic and say nothing about providers; results stable on each daemon but
 * different across them point at the environment.
 */
#ifndef CS_REPLAY_REPLAY_H
#define CS_REPLAY_REPLAY_H

#include "harness/tiers.h"
#include "replay/compare.h"
#include "verify/verify.h"

#define CS_MIN_RUNS 2u
#define CS_MAX_RUNS 100u
#define CS_MAX_DAEMONS 16u
#define CS_MAX_REPLAY_ENTRIES 10000u
#define CS_MAX_REPLAY_BYTES ((size_t)512 * 1024 * 1024) /* encoded messages of one plan together */

/* A stored run that passed verification, or one call of a stored session. Owned by its plan. */
typedef struct cs_replay_item {
    uint64_t entry;
    uint64_t group;    /* entry of the session's first call; a single run's own */
    cs_digest session; /* fingerprint of the stored session; empty for a single run */
    cs_run_request *request;
    cs_run_response *response; /* NULL: a session call that got no answer, which is sent but never reproduced */
    cs_digest request_sha256;
    cs_digest result_sha256;
    char provider[128]; /* escaped, for the table */
    char tier[16];
} cs_replay_item;

typedef struct cs_replay_plan {
    cs_replay_item *items; /* the calls of one session together, in their order */
    size_t count;
    uint64_t sessions; /* among the items */
    uint64_t skipped_duplicates;
} cs_replay_plan;

/* Verify the source and collect the single run `entry` (0: all of them, and all sessions) from the very bytes that
 * were verified. Any failure of verification is returned and nothing is planned. An entry that is
 * not there: CS_CODE_ENTRY_UNKNOWN; a session call or finding: CS_CODE_REPLAY_NOT_SINGLE; none at all:
 * CS_CODE_NOTHING_TO_CHECK. */
CS_MUST_CHECK cs_result cs_replay_plan_make(const char *path, const cs_trust *trust, uint64_t entry,
                                            cs_replay_plan *out, cs_error *err);
void cs_replay_plan_free(cs_replay_plan *plan);

typedef enum cs_replay_verdict {
    CS_REPLAY_REPRODUCED, /* every run on this daemon gave the stored result */
    CS_REPLAY_DIFFERENT,  /* stable on this daemon, but not the stored result */
    CS_REPLAY_NONDETERMINISTIC, /* two runs on this daemon differ */
    CS_REPLAY_NO_RESULT   /* a run was refused, unsent, unanswered, failed its checks, or has a record seen before */
} cs_replay_verdict;

const char *cs_replay_verdict_word(cs_replay_verdict verdict); /* "reproduced", ... */

/* One daemon's runs of one item. Owned by the report. */
typedef struct cs_replay_cell {
    cs_replay_verdict verdict;
    char url[256];
    char provider[128];
    char tier[16];
    unsigned runs; /* that gave a checked result */
    unsigned matched;
    cs_digest result_sha256; /* of the first run that has one */
    uint32_t protocol_sent;
    bool protocol_changed;   /* the stored request had another number: its request digest differs by design */
    cs_difference difference; /* stored against the first that differs, or, when nondeterministic, between two runs */
    cs_result failure;       /* class of the run that gave no result */
    cs_error err;            /* why, when CS_REPLAY_NO_RESULT */
    double seconds;          /* of all runs */
} cs_replay_cell;

typedef struct cs_replay_row {
    const cs_replay_item *item;
    cs_replay_cell *cells; /* one per daemon, in the order given */
    /* Over all daemons: reproduced when all are; nondeterministic when one is; else different; no
     * result when one has none and none of the others is worse. */
    cs_replay_verdict verdict;
} cs_replay_row;

/* The cross-check of what one daemon claimed in its runs. Owned by the report. */
typedef struct cs_replay_check {
    char url[256];
    cs_result result; /* CS_UNCHECKED when none of its runs passed */
    cs_error err;
    bool made;             /* the rules were asked: */
    cs_tier_depth depth;   /* how far was looked; statements only, when these refute the claim already */
    cs_tiers_report tiers;
} cs_replay_check;

typedef struct cs_replay_report {
    cs_replay_row *rows;
    size_t row_count;
    size_t cell_count; /* daemons */
    cs_replay_check *checks; /* one per daemon, in the order given; NULL when nothing was cross-checked */
} cs_replay_report;

typedef struct cs_replay_options {
    cs_client **clients; /* borrowed */
    size_t client_count;
    unsigned runs; /* of each item on each daemon, CS_MIN_RUNS..CS_MAX_RUNS */
    const cs_key *key; /* NULL: the new runs are checked and compared, but not signed or kept */
    cs_ledger *ledger;
    const char *ledger_path;
    int64_t skew_ms;
    bool cross_check;    /* what each daemon claims, */
    cs_tier_depth depth; /* this far: statements of every run; the probes once per daemon, after its runs */
    void (*on_progress)(void *user, size_t done, size_t total); /* may be NULL */
    void *user;
} cs_replay_options;

/* Run the plan. The calls of a session go into a fresh session, opened without a floor or rule of its own, since each
 * stored call has what it was sent with. A session whose close fails gives no result; after a session in which a call
 * gave none, that daemon gets no second one. CS_OK: everything reproduced. CS_FAILED: CS_CODE_REPLAY_DIFFERS or
 * CS_CODE_REPLAY_UNSTABLE. Otherwise the class of what kept a run from giving a result
 * (CS_NOT_RUN, CS_MAYBE_RAN, CS_UNCHECKED), CS_CODE_REPLAY_INCOMPLETE in the text. *report is always filled.
 *
 * A cross-check that fails (CS_CODE_TIER_CONTRADICTED, or the code of a probe's run) outranks all but a failure of the
 * results, which then tells of it; one that could not be made is CS_UNCHECKED where all is reproduced. */
CS_MUST_CHECK cs_result cs_replay_run(const cs_replay_plan *plan, const cs_replay_options *options,
                                      cs_replay_report *report, cs_error *err);
void cs_replay_report_free(cs_replay_report *report);

#endif
