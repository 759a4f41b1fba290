/* Verify something and keep everything that was said about it. */
#ifndef TESTS_VERIFY_OUTCOME_H
#define TESTS_VERIFY_OUTCOME_H

#include "tests/support/forge.h"
#include "verify/verify.h"

typedef struct outcome {
    cs_result result;
    cs_error err;
    cs_verify_summary summary;
    char findings[4096]; /* "3 chain-sequence; 5 ~record-duplicate": entry, ~ for a warning, code */
    char runs[4096];     /* "1 2u 4d": entries handed on; u unanswered, d duplicate */
    char entries[4096];  /* "1 run; 2 close#2": entry, kind, index of its link */
    uint64_t progress;   /* as last reported */
} outcome;

/* Exactly these findings, and this class. For files that include criterion. */
#define check_outcome(out, want_result, want_findings)                                                                 \
    do {                                                                                                               \
        outcome got_ = (out);                                                                                          \
        cr_expect_str_eq(got_.findings, (want_findings));                                                              \
        cr_expect_eq(got_.result, (want_result), "%s: %s", got_.err.where, got_.err.message);                          \
    } while (0)

void trust_key(cs_trust *trust, const forge_key *key);

outcome verify_path(const char *path, const cs_trust *trust);
/* With a head that must be there; NULL: none. */
outcome verify_path_to(const char *path, const cs_trust *trust, const char *head);
outcome verify_bytes(const void *bytes, size_t len, const cs_trust *trust);
/* Under the keys of the bundle's one signer. */
outcome verify_bundle(const forge_bundle *bundle, const forge_key *key);

/* The named file of the published sessions, whole. Skips the test when the fixtures are not there, and
 * fails it in CI. */
forge_bytes fixture_bytes(const char *name);
cs_trust fixture_trust(const char *name);

#endif
