/* A verdict in the forms that people and CI systems read (docs/FORMAT.md, "Reports of a gate").
 *
 * Each is a pure function of the verdict. Nothing in a verdict is trusted, although it was made to be shown: every text
 * is escaped once more for the form it is put into. A verdict that is not a pass never gives a report without a
 * failure, whatever it holds. False, or NULL: no memory, or more than the buffer may hold.
 */
#ifndef CS_GATE_OUT_H
#define CS_GATE_OUT_H

#include <jansson.h>

#include "gate/gate.h"

#define CS_GATE_OUT_MAX_BYTES ((size_t)16 << 20)
#define CS_GATE_OUT_MAX_ANNOTATIONS 10u /* as many as GitHub shows of one step */

/* A revision as it was asked for, and the id of the commit that it led to. NULL or empty: none, or it was not read. */
typedef struct cs_gate_revision {
    const char *asked;
    const char *commit;
} cs_gate_revision;

/* What was judged, and by what. A repository above the folder that was named is found without a word, so that it is
 * named here. NULL or empty: none. */
typedef struct cs_gate_subject {
    const char *work_tree;  /* absolute; of a bare repository empty */
    const char *git_folder; /* absolute */
    cs_gate_revision rev;
    cs_gate_revision base;
    const char *policy_file; /* as it was named */
    cs_gate_revision policy_from;
    bool in_work_tree; /* the policy was read from the work tree */
    const char *policy_sha256;
} cs_gate_subject;

typedef struct cs_gate_report {
    const cs_gate_verdict *verdict;
    cs_gate_subject about;
    const char *version;     /* of countersign */
    const char *policy_path; /* of the policy in the repository; empty: it is not in it, or not known */
    const cs_gate_proof *proofs; /* may be NULL */
    size_t proof_count;
    bool proved; /* the proofs were made, not only told */
} cs_gate_report;

CS_MUST_CHECK bool cs_gate_out_text(const cs_gate_report *report, cs_buf *out);
/* The members "sections", "records", "refusals" and "proofs" of the command's document. Gives an object. */
json_t *cs_gate_out_json(const cs_gate_report *report);
/* The member "repository". */
json_t *cs_gate_out_repository(const cs_gate_report *report);
/* A test suite for each requirement, a test case for each rule. What is undecided is an error. */
CS_MUST_CHECK bool cs_gate_out_junit(const cs_gate_report *report, cs_buf *out);
CS_MUST_CHECK bool cs_gate_out_sarif(const cs_gate_report *report, cs_buf *out);        /* 2.1.0 */
CS_MUST_CHECK bool cs_gate_out_code_quality(const cs_gate_report *report, cs_buf *out); /* GitLab's */
CS_MUST_CHECK bool cs_gate_out_markdown(const cs_gate_report *report, cs_buf *out);     /* of a GitHub step */
/* Workflow commands of GitHub, one line each. */
CS_MUST_CHECK bool cs_gate_out_annotations(const cs_gate_report *report, cs_buf *out);

/* GitHub takes what stands behind "##[" anywhere in a line for a command: it becomes "##(" in place. */
void cs_gate_out_defuse(char *text, size_t len);

#endif
