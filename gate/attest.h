/* The verdict of a gate as two signed statements about the commit (docs/FORMAT.md, "Attested verdicts").
 *
 * A refusal is attested as well as a pass. A verdict that could not be made is not: nothing is written then.
 */
#ifndef CS_GATE_ATTEST_H
#define CS_GATE_ATTEST_H

#include "gate/gate.h"
#include "harness/sign.h"

typedef struct cs_gate_attestation {
    const cs_key *key;
    const char *path;       /* of a file that does not exist yet */
    const char *repository; /* its address (cs_verdict_repository); NULL or empty: not named */
} cs_gate_attestation;

/* To be asked before anything is judged: there is a commit to be the subject, the address may be stated
 * (both CS_CODE_USAGE), and nothing stands at the path (CS_CODE_IO). */
CS_MUST_CHECK cs_result cs_gate_attest_ready(const cs_gate_options *options, const cs_gate_attestation *how,
                                             cs_error *err);

/* Write the two envelopes of a verdict, each on a line, in one new file: whole, or not at all. With the options that it
 * was judged by. CS_OK and not *written: no verdict was made. CS_CODE_IO; CS_CODE_USAGE as above. */
CS_MUST_CHECK cs_result cs_gate_attest(const cs_gate_options *options, const cs_gate_verdict *verdict,
                                       const cs_gate_attestation *how, bool *written, cs_error *err);

/* The same, appended to a buffer; how->path is not used. */
CS_MUST_CHECK cs_result cs_gate_attest_lines(const cs_gate_options *options, const cs_gate_verdict *verdict,
                                             const cs_gate_attestation *how, bool *made, cs_buf *out, cs_error *err);

/* One new file with these bytes: on the disk when this returns CS_OK, and else not there. CS_CODE_IO. */
CS_MUST_CHECK cs_result cs_gate_attest_publish(const char *path, cs_view bytes, cs_error *err);

#endif
