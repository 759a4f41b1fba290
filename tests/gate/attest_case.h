/* A verdict that is to be attested, with a key to do it. */
#ifndef TESTS_GATE_ATTEST_CASE_H
#define TESTS_GATE_ATTEST_CASE_H

#include "gate/attest.h"
#include "tests/gate/gate_case.h"

#define POLICY_SHA256 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

typedef struct attest_case {
    gate_case gate;
    char folder[128];
    char path[160]; /* of the attestation */
    cs_key *key;
    cs_gate_attestation how;
    cs_buf lines;
    bool made;
    cs_gate_attested done;
    cs_error err;
} attest_case;

void attest_begin(attest_case *a);
void attest_end(attest_case *a);
/* Into a->lines; into a->how.path and the ledger. */
cs_result attest_lines(attest_case *a);
cs_result attest_file(attest_case *a);

#endif
