/* How a verdict is made, in three steps that are apart so that a proof can take each again with something changed:
 * facts are taken from what was verified, the conditions of one record are pure functions over facts, and the
 * conclusion is a pure function over what was tallied of all records. Only for gate/judge*.c, gate/prove*.c and tests.
 */
#ifndef CS_GATE_JUDGE_INTERNAL_H
#define CS_GATE_JUDGE_INTERNAL_H

#include "gate/gate.h"

/* ---- the setting: what records are held against -------------------------------------------------------- */

/* What the rules look at of one record. Borrows. */
typedef struct cs_gate_facts {
    const cs_run_request *request;
    const cs_run_response *response;
    const cs_run_record *record;
} cs_gate_facts;

/* The files of a commit that the complete binds of one requirement match: places in its tree, in order. */
typedef struct cs_gate_scope {
    size_t *files;
    size_t count;
} cs_gate_scope;

/* One of the two commits, as the conditions need it. */
typedef struct cs_gate_commit {
    const cs_tree *tree;   /* NULL: none */
    cs_gate_scope *scopes; /* one of each requirement */
    uint32_t *marks;       /* one of each file: the round in which it was last seen; behind them the newest round */
    size_t *changed;       /* of the revision: places of the files that the base has not, or not so; in order */
    size_t changed_count;
} cs_gate_commit;

typedef struct cs_gate_setting cs_gate_setting;

/* What one record measured. */
typedef struct cs_gate_measured {
    bool tests; /* test cases were read */
    uint64_t executed;
} cs_gate_measured;

/* One question to one record: everything a condition may look at. */
typedef struct cs_gate_question {
    const cs_gate_setting *setting;
    const cs_policy_requirement *requirement;
    const cs_gate_scope *scope;
    const cs_gate_commit *commit;
    const cs_gate_facts *facts;
    const cs_gate_finding *findings; /* of the conditions before this one */
    cs_gate_measured *measured;
} cs_gate_question;

/* Fills state, code and observed of *out, which comes in as not asked. Fails with class CS_UNCHECKED only. */
typedef cs_result (*cs_gate_condition)(const cs_gate_question *question, cs_gate_finding *out, cs_error *err);

/* The conditions of one record, in their order; their rules are CS_GATE_PROVIDER and those after it. */
#define CS_GATE_CONDITIONS ((size_t)CS_GATE_TESTS - CS_GATE_PROVIDER + 1)
extern const cs_gate_condition cs_gate_conditions[CS_GATE_CONDITIONS];

struct cs_gate_setting {
    const cs_policy *policy;
    const cs_gate_condition *conditions; /* CS_GATE_CONDITIONS of them; a test plants a weak one here */
    cs_gate_commit rev;
    cs_gate_commit base;
    int64_t now_ms;
    int64_t skew_ms;
};

/* The policy and the commits. CS_CODE_USAGE when one is missing that the policy needs. End with the free function, also
 * on failure. */
CS_MUST_CHECK cs_result cs_gate_setting_make(const cs_gate_options *options, cs_gate_setting *out, cs_error *err);
void cs_gate_setting_free(cs_gate_setting *setting);

/* ---- one record ----------------------------------------------------------------------------------------- */

/* Is it one that the requirement is about? */
bool cs_gate_selects(const cs_policy_requirement *requirement, const cs_gate_facts *facts);

#define CS_GATE_BIT(rule) (1u << (unsigned)(rule))

/* Hold a record against every condition of requirement `index`, with its files bound to `commit`. Fills the findings of
 * the conditions' rules, and *unfulfilled with the bits of those that are refused or undecided. CS_UNCHECKED only. */
CS_MUST_CHECK cs_result cs_gate_hold(const cs_gate_setting *setting, size_t index, const cs_gate_commit *commit,
                                     const cs_gate_facts *facts, cs_gate_finding findings[CS_GATE_RULES],
                                     uint32_t *unfulfilled, cs_gate_measured *measured, cs_error *err);

cs_result cs_gate_hold_work(const cs_gate_question *question, cs_gate_finding *out, cs_error *err);
cs_result cs_gate_hold_time_out(const cs_gate_question *question, cs_gate_finding *out, cs_error *err);
cs_result cs_gate_hold_truncation(const cs_gate_question *question, cs_gate_finding *out, cs_error *err);
cs_result cs_gate_hold_bind(const cs_gate_question *question, cs_gate_finding *out, cs_error *err);
cs_result cs_gate_hold_complete(const cs_gate_question *question, cs_gate_finding *out, cs_error *err);
cs_result cs_gate_hold_tests(const cs_gate_question *question, cs_gate_finding *out, cs_error *err);

/* Is it a call of a session that comes after another, which may have left anything there? */
bool cs_gate_follows_a_call(const cs_run_record *record);
bool cs_gate_lost_artifacts(const cs_run_response *response); /* artifacts were cut or left out */
bool cs_gate_list_has(const cs_policy_list *list, cs_view text);
bool cs_gate_list_matches(const cs_policy_list *patterns, cs_view path);
bool cs_gate_bind_is_complete(const cs_policy_requirement *requirement);
bool cs_gate_is_bound(const cs_policy_requirement *requirement, cs_view path);

/* The files that a request brings: of a project or a cell; none of any other. */
typedef struct cs_gate_files {
    Plimsoll__V1__ProjectFile *const *items;
    size_t count;
} cs_gate_files;
cs_gate_files cs_gate_files_of(const cs_run_request *request);

/* Two lists of files in the same order, walked together. */
typedef struct cs_gate_pair {
    const cs_tree_file *old; /* NULL: not in the base */
    const cs_tree_file *new; /* NULL: not in the revision */
} cs_gate_pair;

/* The next one; both places begin as 0. */
bool cs_gate_next_pair(const cs_tree *base, const cs_tree *rev, size_t *b, size_t *r, cs_gate_pair *out);
/* Which files of the revision the base has not, or not so. Without a base, or with the very same commit: none. */
CS_MUST_CHECK cs_result cs_gate_find_changed(const cs_tree *base, cs_gate_commit *rev, cs_error *err);

/* The commit's files that the run has, with the commit's bytes: their marks hold the number of this round. */
typedef struct cs_gate_marked {
    uint32_t round;
    size_t files;
    size_t changed; /* of these */
} cs_gate_marked;
cs_gate_marked cs_gate_mark_files(const cs_gate_question *question);
/* Add to what a rule that passed says: what the patch changes and the run had not, or what of the commit. */
void cs_gate_add_uncovered(const cs_gate_question *question, const cs_gate_marked *marked, cs_gate_finding *out);

/* ---- all records ----------------------------------------------------------------------------------------- */

/* What is kept of a record that counts. Texts are places in the list of names. */
typedef struct cs_gate_kept {
    uint8_t record[CS_SHA256_BYTES];
    uint8_t work[CS_SHA256_BYTES];   /* when it is to be reproduced: the request without protocol number and floor */
    uint8_t result[CS_SHA256_BYTES]; /* likewise */
    uint8_t envelope[CS_SHA256_BYTES];
    uint32_t provider;
    uint32_t policy;
    uint32_t environment;
    uint32_t daemon; /* its address in the one form; 0: the record is of a bundle, or was imported from one */
    uint32_t source;
    uint64_t entry;
    uint64_t executed;
} cs_gate_kept;

#define CS_GATE_ENVIRONMENTS 5u

/* A daemon whose tier was contradicted. */
typedef struct cs_gate_contradiction {
    uint32_t daemon; /* its address in the one form; 0: not known */
    bool stated;     /* provider and policy are known; else it may be any */
    uint32_t provider;
    uint32_t policy;
    uint32_t environments[CS_GATE_ENVIRONMENTS]; /* those that it states; all 0: not known */
    uint32_t source;
    uint64_t entry;
} cs_gate_contradiction;

typedef struct cs_gate_place {
    bool set;
    uint32_t source;
    uint64_t entry;
} cs_gate_place;

/* The first record that is bound to the revision and failed by one of the rules for which another record does not make
 * it good. */
typedef struct cs_gate_failure {
    cs_gate_place place;
    cs_gate_finding finding;
} cs_gate_failure;

#define CS_GATE_FAILURES 3u
extern const cs_gate_rule cs_gate_failure_rules[CS_GATE_FAILURES];

/* What came together for one requirement. */
typedef struct cs_gate_tally {
    uint64_t selected;   /* distinct; known when all sources were read */
    uint64_t duplicates; /* how often a record that counts was there again */
    cs_gate_kept *kept;
    size_t count;
    size_t room;
    /* The first record that counts, with copies of its messages where there was room for them. */
    cs_gate_place witness;
    cs_gate_finding witness_findings[CS_GATE_RULES];
    cs_run_request *request;
    cs_run_response *response;
    /* Of those that do not count, the nearest. */
    cs_gate_place near;
    uint32_t near_unfulfilled;
    int64_t near_ended_ms;
    cs_gate_finding near_findings[CS_GATE_RULES];
    cs_gate_failure failures[CS_GATE_FAILURES];
    /* The run of the base with the most tests. */
    cs_gate_place base;
    uint64_t base_executed;
} cs_gate_tally;

/* One distinct record, for counting what was read and what was selected. */
typedef struct cs_gate_seen {
    uint8_t record[CS_SHA256_BYTES];
    uint32_t selected; /* bits of requirements */
} cs_gate_seen;

/* A session that is still open in the source that is being read: what its calls so far amount to. */
typedef struct cs_gate_chain {
    cs_digest session;
    uint8_t work[CS_SHA256_BYTES];
} cs_gate_chain;

typedef struct cs_gate_evidence {
    char **names;
    size_t name_count;
    cs_gate_tally *tallies; /* one of each requirement */
    size_t tally_count;
    cs_gate_contradiction *contradictions;
    size_t contradiction_count;
    cs_gate_seen *seen;
    size_t seen_count;
    size_t seen_room;
    cs_gate_chain *chains;
    size_t chain_count;
    size_t chain_room;
    size_t copied; /* bytes of messages that are copied */
    bool too_large; /* a witness was too large to be copied */
    uint64_t verdicts; /* statements of verdicts in the sources, passed over; also of one that failed */
} cs_gate_evidence;

void cs_gate_evidence_free(cs_gate_evidence *evidence);

/* Read one source into the evidence; when it fails, nothing of it stays. The error says where. */
CS_MUST_CHECK cs_result cs_gate_read_source(const cs_gate_options *options, const cs_gate_setting *setting,
                                            cs_gate_evidence *evidence, size_t source, uint64_t bytes_before,
                                            uint64_t bytes_total, cs_error *err);
/* What one verified run adds. */
CS_MUST_CHECK cs_result cs_gate_tally_run(const cs_gate_setting *setting, cs_gate_evidence *evidence, uint32_t source,
                                          cs_view daemon, const cs_verified_run *run, cs_error *err);
/* What a finding of a ledger adds: whether a tier was contradicted. */
CS_MUST_CHECK cs_result cs_gate_tally_finding(cs_gate_evidence *evidence, uint32_t source, const cs_entry *entry,
                                              cs_error *err);
/* The place of a text in the list of names, from 1; 0 for an empty one. */
CS_MUST_CHECK cs_result cs_gate_name(cs_gate_evidence *evidence, cs_view text, uint32_t *out, cs_error *err);
/* The same of an address, in the one form of all that mean the same. */
CS_MUST_CHECK cs_result cs_gate_name_address(cs_gate_evidence *evidence, cs_view url, uint32_t *out, cs_error *err);
/* That form: scheme and host in small letters, this machine's own names and addresses as one, the port always there, no
 * slash at the end. False: no memory. */
CS_MUST_CHECK bool cs_gate_address(cs_view url, cs_buf *out);
void cs_gate_chain_close(cs_gate_evidence *evidence, const cs_digest *session);

/* When everything was read: the same record counts once. */
void cs_gate_settle(cs_gate_evidence *evidence, uint64_t *records);

/* The work of a record and its result, as they are compared. */
CS_MUST_CHECK cs_result cs_gate_work_of(cs_gate_evidence *evidence, const cs_verified_run *run,
                                        uint8_t out[CS_SHA256_BYTES], cs_error *err);

/* ---- the conclusion ---------------------------------------------------------------------------------------- */

/* What comes of one requirement. Pure. */
void cs_gate_conclude(const cs_gate_options *options, const cs_gate_setting *setting, size_t index,
                      const cs_gate_tally *tally, const cs_gate_evidence *evidence, cs_gate_section *out);
void cs_gate_judge_count(const cs_policy_requirement *requirement, const cs_gate_tally *tally, cs_gate_finding *out);
void cs_gate_judge_of_base(const cs_policy_requirement *requirement, const cs_gate_tally *tally, cs_gate_finding *out);
/* Both rules about results, since one excuses the other. */
CS_MUST_CHECK bool cs_gate_judge_results(const cs_policy_requirement *requirement, const cs_gate_tally *tally,
                                         cs_gate_finding *reproduced, cs_gate_finding *same);
/* *place: of the record that is refused. */
void cs_gate_judge_cross_check(const cs_gate_tally *tally, const cs_gate_evidence *evidence, cs_gate_place *place,
                               cs_gate_finding *out);
/* A commit that is compared with itself passes whatever it holds, so that what compares with the base is refused. */
#define CS_GATE_NOTHING_COMPARED                                                                                       \
    "nothing was compared: the base is the very commit that is judged; name the commit before the patch as the base"
bool cs_gate_is_same_commit(const cs_tree *rev, const cs_tree *base);
/* What comes of the policy as a whole. */
void cs_gate_judge_protect(const cs_policy *policy, const cs_tree *rev, const cs_tree *base, cs_gate_finding *out);
void cs_gate_conclude_policy(const cs_gate_setting *setting, cs_gate_section *out);

/* What the policy asks of this rule, in words. */
void cs_gate_want(const cs_policy_requirement *requirement, cs_gate_finding *out);

/* ---- findings ----------------------------------------------------------------------------------------------- */

/* Set state, code and `observed`. What the arguments hold must be safe to print. */
void cs_gate_pass(cs_gate_finding *out, const char *fmt, ...) CS_PRINTF(2, 3);
void cs_gate_refuse(cs_gate_finding *out, cs_code code, const char *fmt, ...) CS_PRINTF(3, 4);
void cs_gate_leave(cs_gate_finding *out, const char *fmt, ...) CS_PRINTF(2, 3);
/* Add to `observed`. */
void cs_gate_also(cs_gate_finding *out, const char *fmt, ...) CS_PRINTF(2, 3);

/* A short text made safe to print, for the arguments of those. */
typedef struct cs_gate_shown {
    char text[96];
} cs_gate_shown;
cs_gate_shown cs_gate_show(cs_view bytes);

/* Say which file of the repository the finding is about. */
void cs_gate_about(cs_gate_finding *out, cs_view path);

/* ---- the proof ------------------------------------------------------------------------------------------------ */

/* As cs_gate_prove, with this setting. */
CS_MUST_CHECK cs_result cs_gate_prove_with(const cs_gate_options *options, const cs_gate_setting *setting,
                                           const cs_gate_verdict *verdict, bool prove, cs_gate_proof **proofs,
                                           size_t *count, cs_error *err);

#endif
