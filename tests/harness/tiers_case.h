/* Observations of honest daemons, for tests that change one thing. */
#ifndef CS_TESTS_HARNESS_TIERS_CASE_H
#define CS_TESTS_HARNESS_TIERS_CASE_H

#include "harness/tiers.h"

#define TIERS_CANARY "11b2cc7ed3c6f1ef3a5e37d6ba3ecf9c0a1f1b0a7d7dbe2d7e9cd6f0b2a3c4d5"

/* Both probes read, this machine watched as root, the daemon on it: every rule that is asked is consistent. */
void tiers_honest(cs_tier tier, cs_tier_observations *out);

/* Where a rule of this name stands in a report; aborts when there is none. */
size_t tiers_rule(const char *name);

#endif
