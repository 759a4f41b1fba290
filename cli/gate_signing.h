/* `gate --attest` and `gate --ledger`: the key, and when the verdict is attested. */
#ifndef CS_CLI_GATE_SIGNING_H
#define CS_CLI_GATE_SIGNING_H

#include "cli/output.h"
#include "gate/attest.h"

typedef struct cs_gate_signing {
    const char *path;   /* NULL: no file is written */
    const char *ledger; /* NULL: no ledger is added to. Both NULL: nothing is attested */
    const char *key_file;
    const char *repository;
    cs_key *key; /* owned once begun */
} cs_gate_signing;

/* Before anything is judged: the key is read, and what would keep the verdict from being attested is an error now. Does
 * nothing when nothing is to be attested. End with cs_gate_signing_end, also on failure. */
CS_MUST_CHECK cs_result cs_gate_signing_begin(cs_gate_signing *signing, const cs_gate_options *options, cs_error *err);

/* Attest a verdict, and say so. `result` is what becomes of the command, and is returned: another than the verdict's (a
 * rule that was not proved) is not attested. When it can't be written, that is an error in out->err, beside any other.
 */
CS_MUST_CHECK cs_result cs_gate_signing_attest(const cs_gate_signing *signing, const cs_gate_options *options,
                                               const cs_gate_verdict *verdict, cs_result result, cs_output *out);

void cs_gate_signing_end(cs_gate_signing *signing);

#endif
