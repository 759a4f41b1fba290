/* Bundles that one key really signed, the same in every process: seeds of the corpus, and what the
 * targets know to be genuine. */
#ifndef TESTS_FUZZ_GENUINE_H
#define TESTS_FUZZ_GENUINE_H

#include "tests/support/forge.h"
#include "verify/trust.h"

#define GENUINE_BUNDLES 6u

/* A single run; several; a session; a linked session; a linked bundle with an unanswered call; runs with
 * what no digest covers. */
const forge_bundle *genuine_bundle(unsigned which);
const forge_key *genuine_key(void);

/* The lines of all of them, one after the other. */
size_t genuine_line_count(void);
const char *genuine_line(size_t index);

/* Is it the digest of a record that the key signed? */
bool genuine_record(cs_view sha256);

/* Trust in that key, or in another one that signed nothing. */
const cs_trust *genuine_trust(void);
const cs_trust *genuine_stranger(void);

#endif
