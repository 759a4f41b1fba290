/* The gate: does a commit have the runs that a policy asks for? (docs/FORMAT.md, "Gate")
 *
 * Sources (ledgers, bundles) are verified as `countersign verify` does, with the policy's keys, and every distinct run is
 * held against every requirement while it streams by: memory does not grow with the number of records beyond a few dozen
 * bytes each. A source that does not verify fails the gate by its own code.
 *
 * A verdict is never empty: each rule of the policy is reported on, and a requirement without a record is a failure.
 *
 * How one requirement is judged:
 *   selected    records of its kind, step and providers, with an answer. None: CS_CODE_GATE_NOTHING. A step that is named
 *               must be the only one of its project: one before it could change the files, one after it the artifacts.
 *               A call of a session before it could do either.
 *   conditions  each selected record is held against every condition: provider, floor, software, sandbox policy, grants,
 *               age, work (steps passed), time-out, truncation, bind, complete, tests. One that fulfils all of them counts.
 *   count       the distinct records that count are at least min_records. If none does, the conditions that the nearest
 *               selected record does not fulfil are the failed rules: one with the revision's files before any other, then
 *               the fewest unfulfilled, then the newest. `count` itself fails when there are some, but too few.
 *   failures    a selected record that is bound to the revision and that failed (its work, its time limit, its tests)
 *               is not hidden by another that passed: rule `work`, `time-out` or `tests` fails.
 *   base        a record counts as the base's run when it fulfils all conditions with the base's files, but for its age
 *               and its numbers of tests; of several, the one with the most tests is what is compared with.
 *   reproduced  among those that count, some work (the same request without its protocol number and floor; of a session
 *               call together with all calls before it) has one result digest on at least so many providers in so many
 *               runs; and no two records of the same work have different results.
 *   cross-check no source holds a finding tier-contradicted of the daemon that ran a record that counts: of an address
 *               that means the same, or with the same provider, policy and environment, since addresses have aliases;
 *               what is not stated may be the same. And each such record stands in a ledger as a run of its own: a
 *               bundle, or what was imported from one, holds no findings (CS_CODE_GATE_CROSS_CHECK). A pass does not
 *               say that, or how deep, anyone looked.
 *
 * One cause is refused by one rule, the most specific; what it leaves nothing to judge by is undecided:
 *   time-out before truncation before work: a run that met its limit has failed and missing steps and artifacts
 *   work before tests that are missing; in `tests` malformed or missing, then failed, then skipped, then few
 *   complete before a pattern without a file in the run, when the commit has one
 *   count before reproduced, and different results before reproduced
 * A summary in the JUnit file that disagrees with its cases is named, and refuses nothing: the cases are what counts.
 */
#ifndef CS_GATE_GATE_H
#define CS_GATE_GATE_H

#include "gate/policy.h"
#include "gate/tree.h"
#include "verify/verify.h"

typedef enum cs_gate_rule {
    CS_GATE_SELECTED,
    CS_GATE_PROVIDER,
    CS_GATE_FLOOR,
    CS_GATE_SOFTWARE,
    CS_GATE_SANDBOX_POLICY,
    CS_GATE_GRANTS,
    CS_GATE_AGE,
    CS_GATE_WORK,
    CS_GATE_TIME_OUT,
    CS_GATE_TRUNCATION,
    CS_GATE_BIND,
    CS_GATE_COMPLETE,
    CS_GATE_TESTS,
    CS_GATE_TESTS_OF_BASE,
    CS_GATE_COUNT,
    CS_GATE_REPRODUCED,
    CS_GATE_SAME_RESULT,
    CS_GATE_CROSS_CHECK,
    CS_GATE_PROTECT, /* of the policy as a whole */
    CS_GATE_RULES
} cs_gate_rule;

const char *cs_gate_rule_word(cs_gate_rule rule); /* "selected", "provider", ... "tests-of-base", ... "protect" */

typedef enum cs_gate_state {
    CS_GATE_NOT_ASKED, /* the policy does not have this rule */
    CS_GATE_PASSED,
    CS_GATE_REFUSED,
    CS_GATE_UNDECIDED /* an earlier rule left nothing to judge it by: never a pass */
} cs_gate_state;

#define CS_GATE_TEXT 320u
#define CS_GATE_FOUND 640u /* names of files that are bound to nothing, and of those that were in no run */

/* What came of one rule of one requirement. Texts are safe to print. */
typedef struct cs_gate_finding {
    cs_gate_rule rule;
    cs_gate_state state;
    cs_code code;                 /* when refused */
    char observed[CS_GATE_FOUND]; /* what was found */
    char wanted[CS_GATE_TEXT];    /* what the policy asks for */
    char source[256];             /* where the record of it is; empty: no single one */
    uint64_t entry;
    char path[256]; /* the one file of the repository that it is about; empty: none, or its name is not printable */
} cs_gate_finding;

/* Of one requirement; the last of a verdict (requirement NULL) holds the rules of the policy as a whole. */
typedef struct cs_gate_section {
    const cs_policy_requirement *requirement;
    cs_gate_finding findings[CS_GATE_RULES]; /* by rule */
    uint64_t selected, counted;
    uint64_t refusals;
} cs_gate_section;

typedef struct cs_gate_verdict {
    cs_result result; /* CS_OK only when every rule passed and every source verified */
    cs_error err;     /* the first refusal, or why a source could not be read */
    cs_result sources; /* CS_OK: each was read to its end, and verified; else what err is about */
    cs_gate_section *sections;
    size_t count; /* requirements + 1 */
    uint64_t records; /* distinct, of all sources that verified */
    uint64_t refusals;
    uint64_t verdicts; /* statements of earlier verdicts in the sources: no evidence, passed over, not checked */
    struct cs_gate_evidence *evidence; /* what cs_gate_prove judges again; its own matter */
} cs_gate_verdict;

typedef struct cs_gate_options {
    const cs_policy *policy;
    const cs_tree *rev;  /* NULL: none was named; a policy that needs it is CS_CODE_USAGE */
    const cs_tree *base;
    const char *const *sources;
    size_t source_count; /* none: CS_CODE_NOTHING_TO_CHECK */
    int64_t now_ms;      /* for ages */
    int64_t skew_ms;     /* how far a record may lie in the future */
    /* Failures and warnings of the sources' verification. May be NULL. */
    void (*on_finding)(void *user, const char *source, const cs_finding *finding);
    void (*on_progress)(void *user, uint64_t done, uint64_t total); /* bytes, of all sources; may be NULL */
    void *user;
} cs_gate_options;

/* *verdict is always filled; returns verdict->result. CS_FAILED: refused (err: the first refusal). CS_NOTHING: a
 * requirement selected no record and nothing else was refused. CS_UNCHECKED: a source, the repository or memory. */
CS_MUST_CHECK cs_result cs_gate_judge(const cs_gate_options *options, cs_gate_verdict *verdict);
void cs_gate_verdict_free(cs_gate_verdict *verdict);

#define CS_GATE_OF_SOURCES SIZE_MAX

/* For each passed rule: the smallest change of the input that refuses it, made in memory on copies of the records that
 * counted, and judged again by the same functions. */
typedef struct cs_gate_proof {
    size_t section; /* CS_GATE_OF_SOURCES: of the inputs' verification; `rule` then says nothing */
    cs_gate_rule rule;
    bool refuses;              /* after the change the rule is refused, by `code` */
    bool unmade;               /* the change can't be made, and `change` says why: nothing is proved */
    cs_code code;
    char change[CS_GATE_TEXT]; /* in words: "one byte of src/main.js in the run is another" */
} cs_gate_proof;

/* The word of its rule; "sources" of none. */
const char *cs_gate_proof_word(const cs_gate_proof *proof);

/* Explain (prove false: `refuses` stays false and says nothing) or prove every passed rule of a verdict, with the same
 * options; some by several changes. A requirement without a record that counts has none to show it on, and is left out.
 * Each input that holds the first record that counts for a requirement is verified once more with no key when it is a
 * file; of any other it is told that it can't be.
 * *proofs is for free(), also when it fails. CS_FAILED (CS_CODE_INTERNAL) when a change did not refuse its rule, or none
 * is known for it; CS_CODE_NO_MEMORY also when the records that count are too large to be copied (64 MiB together). */
CS_MUST_CHECK cs_result cs_gate_prove(const cs_gate_options *options, const cs_gate_verdict *verdict, bool prove,
                                      cs_gate_proof **proofs, size_t *count, cs_error *err);

#endif
