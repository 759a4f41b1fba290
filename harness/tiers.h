/* The tier cross-check: can a daemon's claim be refuted (docs/FORMAT.md, "Tier cross-check")?
 *
 * A tier is a statement. No rule here proves one: evidence is consistent with the claim, contradicts it, or is silent.
 * One contradiction refutes the claim. Evidence of a stronger wall than claimed contradicts it too: a daemon that
 * misstates itself in one direction is not to be believed in the other.
 *
 * Three layers: what the daemon says against what else it says; what a probe (probe.h) sees inside; what this
 * machine's kernel says of the same run (hostview.h).
 */
#ifndef CS_HARNESS_TIERS_H
#define CS_HARNESS_TIERS_H

#include "harness/hostview.h"
#include "harness/run.h"
#include "records/tier.h"

typedef enum cs_tier_depth { CS_DEPTH_STATEMENTS, CS_DEPTH_PROBE, CS_DEPTH_HOST } cs_tier_depth;

/* ---- what was observed --------------------------------------------------------------------------- */

/* The places where a daemon states itself around one run. */
typedef enum cs_said_where {
    CS_SAID_BEFORE,
    CS_SAID_RESPONSE,
    CS_SAID_RECORD,
    CS_SAID_AFTER,
    CS_SAID_PLACES
} cs_said_where;

/* Around which run: those of the probes (by cs_probe_form), and what they are laid beside. */
typedef enum cs_said_run {
    CS_SAID_OF = CS_PROBE_FORMS, /* the run whose claim is in question */
    CS_SAID_EARLIER,             /* an earlier run of the same work */
    CS_SAID_RUNS
} cs_said_run;

/* One statement; the text borrows from a report, ptr NULL: not stated there. */
typedef struct cs_said {
    cs_view tier[CS_SAID_PLACES];
    cs_view provider[CS_SAID_PLACES];
    cs_view policy[CS_SAID_PLACES]; /* a response has none */
    cs_view floor;                  /* of the request */
} cs_said;

/* Other records of the ledger from the same daemon, with the same provider, policy and environment, and findings that
 * refute a claim of it. */
typedef struct cs_ledger_said {
    bool read;
    uint64_t newest;          /* the last entry that was read */
    uint64_t same;            /* state the same tier */
    uint64_t other;           /* state another one */
    uint64_t other_entry;     /* the first of those */
    cs_tier other_tier;
    uint64_t refuted;         /* findings that refute the same claim */
    uint64_t refuted_entry;   /* the latest of those */
    uint64_t unread;          /* findings that refute a claim of it, and not to be read which */
    uint64_t unread_entry;    /* the first of those */
} cs_ledger_said;

/* What one form of the probe gave. */
typedef struct cs_inside {
    bool ran;        /* a run of it was sent */
    bool read;       /* `facts` hold */
    bool wrong;      /* it answered, and not with the digest of its nonce */
    char why[200];   /* when not read */
    cs_probe_facts facts;
} cs_inside;

typedef struct cs_tier_observations {
    cs_said said[CS_SAID_RUNS];
    cs_ledger_said ledger;
    cs_inside inside[CS_PROBE_FORMS];
    cs_host_facts host;
    cs_host_sighting outside[CS_PROBE_FORMS];
} cs_tier_observations;

/* ---- the rules ----------------------------------------------------------------------------------- */

typedef enum cs_tier_verdict { CS_TIER_SILENT, CS_TIER_CONSISTENT, CS_TIER_CONTRADICTED } cs_tier_verdict;

const char *cs_tier_verdict_word(cs_tier_verdict verdict); /* "silent", "consistent", "contradicted" */

#define CS_TIER_BIT(tier) (1u << (unsigned)(tier))
#define CS_TIER_WEAK (CS_TIER_BIT(CS_TIER_PROCESS) | CS_TIER_BIT(CS_TIER_CONTAINER))
#define CS_TIER_STRONG (CS_TIER_BIT(CS_TIER_KERNEL) | CS_TIER_BIT(CS_TIER_VM))
#define CS_TIER_ANY (CS_TIER_WEAK | CS_TIER_STRONG)
#define CS_TIER_OBSERVED 320u /* bytes of an observation's text with its NUL */

/* One rule: a pure function over what was observed. It is only asked about claims that it can refute. */
typedef struct cs_tier_rule {
    const char *name; /* stable, kebab-case */
    cs_tier_depth depth;
    unsigned refutes;   /* CS_TIER_BIT of the claims */
    const char *fooled; /* what could make it wrong, in either direction */
    /* `observed` (CS_TIER_OBSERVED bytes) receives what was seen, safe to print. */
    cs_tier_verdict (*judge)(const cs_tier_observations *seen, cs_tier claim, char *observed);
} cs_tier_rule;

#define CS_TIER_MAX_RULES 32u
extern const cs_tier_rule cs_tier_rules[]; /* cs_tier_rule_count of them, at most CS_TIER_MAX_RULES */
extern const size_t cs_tier_rule_count;

typedef struct cs_tier_judgement {
    const cs_tier_rule *rule;
    bool asked; /* the rule can refute this claim, and the depth includes it */
    cs_tier_verdict verdict;
    char observed[CS_TIER_OBSERVED];
} cs_tier_judgement;

/* Ask every rule; `out` receives cs_tier_rule_count judgements in the order of the table. Returns how many contradict
 * the claim. */
size_t cs_tier_judge(const cs_tier_observations *seen, cs_tier claim, cs_tier_depth depth, cs_tier_judgement *out);

/* ---- the check ----------------------------------------------------------------------------------- */

typedef struct cs_tiers_options {
    /* The probes are ordinary runs: checked, and signed and kept where a key and a ledger are; but beside other runs
     * (below) only what fails its checks is kept, since that ledger is of other work. */
    cs_run_options run;
    cs_tier_depth depth;
    /* The run whose claim is in question, which passed its checks; NULL: a probe's own run stands in. With it nothing
     * more is run for statements. Borrowed, as long as the report. */
    const cs_run_report *of;
    /* Of a session's call: what was described before the session, since around the call nothing is; else NULL. */
    const cs_outcome *described;
    /* What the daemon stated around an earlier run of the same work, all of which must go together; NULL: none.
     * Borrowed, as long as the report. */
    const cs_said *earlier;
} cs_tiers_options;

/* What came of it. End with cs_tiers_free. */
typedef struct cs_tiers_report {
    cs_result result;
    cs_error err;
    cs_tier claim; /* of the run in question, else of Describe; CS_TIER_UNKNOWN: no tier of the five words */
    cs_tier_observations seen; /* borrows from the runs */
    cs_tier_judgement judgements[CS_TIER_MAX_RULES];
    size_t contradictions;
    bool ran[CS_PROBE_FORMS];
    cs_run_report runs[CS_PROBE_FORMS]; /* when ran */
    int64_t finding;      /* ledger id of the contradiction, with the bytes of the run in question, or of the earlier
                             finding when nothing else contradicts; 0: none */
    char side_file[512];  /* path when the ledger could not take it; empty otherwise */
    bool emulated;        /* the processor is one that software emulates, as far as the probe sees: reported beside the
                             tier, no contradiction */
} cs_tiers_report;

/* Run the probes, watch, and judge. *report is always filled; returns report->result: CS_OK when no rule contradicts
 * the claim, CS_CODE_TIER_CONTRADICTED (failed) when one does, with a finding in the ledger; the result of a run that
 * did not pass its checks; CS_CODE_TIER_PROBE (unchecked) when a probe was asked for and none could be read.
 *
 * Beside other runs (`of`, `earlier`) a contradiction outranks what became of the probes, and a check that could not be
 * made is unchecked, whatever kept it from being made: those other runs did run. */
CS_MUST_CHECK cs_result cs_tiers_check(const cs_tiers_options *options, cs_tiers_report *report);
void cs_tiers_free(cs_tiers_report *report);

/* Where the daemon is, as far as any of the watches saw. */
cs_host_place cs_tiers_place(const cs_tiers_report *report);

/* Take down what the daemon stated around one run. Borrows from it. */
void cs_tiers_said(const cs_run_report *run, cs_said *out);

#endif
