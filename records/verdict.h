/* Statements about the verdict of a gate, in the words of two published predicates: in-toto test-result v0.1 and SLSA
 * verification summary v1 (docs/FORMAT.md, "Attested verdicts"). Their subject is a commit.
 *
 * They are no records: they say what was concluded, and nothing that ran.
 */
#ifndef CS_RECORDS_VERDICT_H
#define CS_RECORDS_VERDICT_H

#include "records/error.h"

#define CS_PREDICATE_TEST_RESULT "https://in-toto.io/attestation/test-result/v0.1"
#define CS_PREDICATE_SUMMARY "https://slsa.dev/verification_summary/v1"
#define CS_VERDICT_VERIFIER "urn:countersign:gate"
#define CS_VERDICT_POLICY "urn:countersign:gate-policy:v1"
#define CS_VERDICT_LEVEL "COUNTERSIGN_GATE_PASSED" /* ours; no SLSA level is ever claimed, since none was verified */
#define CS_VERDICT_MAX_INPUTS 512u
#define CS_VERDICT_MAX_REPOSITORY 512u
#define CS_COMMIT_HEX 40u

typedef enum cs_verdict_kind { CS_VERDICT_TEST_RESULT, CS_VERDICT_SUMMARY } cs_verdict_kind;

/* Names of rules: "protect", or with a requirement's name "tests/bind". Borrows. */
typedef struct cs_verdict_names {
    const char *const *items;
    size_t count;
} cs_verdict_names;

/* What is stated. Borrows. */
typedef struct cs_stated_verdict {
    const char *commit;     /* 40 lowercase hexadecimal digits */
    const char *repository; /* see cs_verdict_repository; empty: not named */
    const char *policy_sha256;
    int64_t made_unix_ms;
    bool passed;
    cs_verdict_names passed_rules;
    cs_verdict_names failed_rules;
    cs_verdict_names warned_rules; /* that could not be judged */
    const char *const *inputs;     /* SHA-256 of each envelope that the verdict rests on, as hexadecimal */
    size_t input_count;            /* 0: they are left out */
} cs_stated_verdict;

/* A repository's address as it may be stated: scheme "://", then what a URI may hold, at most CS_VERDICT_MAX_REPOSITORY
 * bytes. Refused is one with a user other than "git", which in an address from a CI job is often a secret token. */
bool cs_verdict_repository(cs_view address);

/* What is wrong with what a statement of this kind holds of a verdict, in words; NULL: nothing. The test result has no
 * time and no inputs, the summary no rules. */
const char *cs_verdict_fault(cs_verdict_kind kind, const cs_stated_verdict *verdict);

/* CS_CODE_INTERNAL unless all of it is of its form, and `passed` is what the rules say: all passed, and there are some;
 * or one failed. */
CS_MUST_CHECK cs_result cs_verdict_check(const cs_stated_verdict *verdict, cs_error *err);

/* Append the payload of a verdict that was checked. False when the buffer is full; it is then unchanged. */
CS_MUST_CHECK bool cs_statement_verdict(cs_verdict_kind kind, const cs_stated_verdict *verdict, cs_buf *out);

/* What a payload says. */
typedef struct cs_read_verdict {
    cs_verdict_kind kind;
    cs_stated_verdict verdict; /* what its kind holds of it, the rest empty or 0; borrows from what follows */
    char *texts;               /* owned */
    const char **items;        /* owned */
} cs_read_verdict;

/* Read the payload of one of the two: exact types (CS_CODE_STATEMENT_TYPE), a subject that is a commit and, of a
 * summary, fits its resource (CS_CODE_STATEMENT_SUBJECT), every member in its place and nothing else, with a result that
 * is what the rules say (CS_CODE_STATEMENT_MALFORMED), and rebuilt from its own fields byte for byte
 * (CS_CODE_STATEMENT_NOT_REBUILT). End with cs_read_verdict_free; on failure nothing is left to free. */
CS_MUST_CHECK cs_result cs_verdict_read(cs_view payload, cs_read_verdict *out, cs_error *err);
void cs_read_verdict_free(cs_read_verdict *read);

/* Does this payload say of itself that it is one of the two? For telling a reader what a file is, and for nothing else:
 * whether it is well-formed or true is not looked at. */
bool cs_verdict_is_stated(cs_view payload, cs_verdict_kind *kind);

#endif
