/* The verdict of a gate as two signed statements about the commit (docs/FORMAT.md, "Attested verdicts").
 *
 * A refusal is attested as well as a pass. A verdict that could not be made is not: nothing is written then. They go
 * into a new file, into a ledger, or both.
 */
#ifndef CS_GATE_ATTEST_H
#define CS_GATE_ATTEST_H

#include "gate/gate.h"
#include "harness/sign.h"

typedef struct cs_gate_attestation {
    const cs_key *key;
    const char *path;       /* of a file that does not exist yet; NULL: into none */
    const char *ledger;     /* of a ledger, made where there is none; NULL: into none */
    const char *repository; /* its address (cs_verdict_repository); NULL or empty: not named */
} cs_gate_attestation;

/* What a ledger was given of a verdict. */
typedef struct cs_gate_kept_verdict {
    int64_t first; /* id of the first of its entries */
    size_t count;  /* 0: nothing was appended */
} cs_gate_kept_verdict;

/* What became of a verdict. */
typedef struct cs_gate_attested {
    bool made;    /* there was a verdict to attest */
    bool written; /* the file is there */
    cs_gate_kept_verdict kept;
} cs_gate_attested;

/* To be asked before anything is judged: there is a commit to be the subject, the address may be stated
 * (both CS_CODE_USAGE), every requirement binds its runs to it (CS_CODE_GATE_UNBOUND), nothing stands at the path (CS_CODE_IO), and a ledger that is there can be written
 * (CS_CODE_LEDGER_*); one of an older version is brought to the newest. */
CS_MUST_CHECK cs_result cs_gate_attest_ready(const cs_gate_options *options, const cs_gate_attestation *how,
                                             cs_error *err);

/* Append the two envelopes of a verdict to the ledger, in one transaction, and write them, each on a line, in one new
 * file: each whole, or not at all, and each although the other failed; then the error is the ledger's, which the other's
 * follows. With the options that it was judged by, and no source open any more. CS_OK and not out->made: there was no
 * verdict. CS_CODE_IO, CS_CODE_LEDGER_*; CS_CODE_USAGE and CS_CODE_GATE_UNBOUND as above. */
CS_MUST_CHECK cs_result cs_gate_attest(const cs_gate_options *options, const cs_gate_verdict *verdict,
                                       const cs_gate_attestation *how, cs_gate_attested *out, cs_error *err);

/* The same, appended to a buffer; neither the path nor the ledger is used. */
CS_MUST_CHECK cs_result cs_gate_attest_lines(const cs_gate_options *options, const cs_gate_verdict *verdict,
                                             const cs_gate_attestation *how, bool *made, cs_buf *out, cs_error *err);

/* Can this ledger be written, or be made? CS_CODE_LEDGER_*. One that is not there is not made. */
CS_MUST_CHECK cs_result cs_gate_attest_ledger_ready(const char *path, cs_error *err);
/* One entry of each line, in one transaction: on the disk when this returns CS_OK, and else not there. CS_CODE_LEDGER_*. */
CS_MUST_CHECK cs_result cs_gate_attest_append(const char *path, cs_view lines, cs_gate_kept_verdict *kept,
                                              cs_error *err);

/* One new file with these bytes: on the disk when this returns CS_OK, and else not there. CS_CODE_IO. */
CS_MUST_CHECK cs_result cs_gate_attest_publish(const char *path, cs_view bytes, cs_error *err);

#endif
