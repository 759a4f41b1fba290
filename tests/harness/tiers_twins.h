/* The rules' twins: a table of single changes. */
#ifndef CS_TESTS_HARNESS_TIERS_TWINS_H
#define CS_TESTS_HARNESS_TIERS_TWINS_H

#include <stdio.h>

#include "tests/harness/tiers_case.h"

static inline cs_probe_facts *tiers_script(cs_tier_observations *seen) {
    return &seen->inside[CS_PROBE_SCRIPT].facts;
}

static inline cs_probe_facts *tiers_program(cs_tier_observations *seen) {
    return &seen->inside[CS_PROBE_PROGRAM].facts;
}

static inline void tiers_set(char *text, const char *value) {
    (void)snprintf(text, CS_PROBE_TEXT + 1, "%s", value);
}

typedef struct tiers_twin {
    const char *rule;
    cs_tier claim;
    void (*change)(cs_tier_observations *seen);
    cs_tier_verdict verdict;
} tiers_twin;

extern const tiers_twin tiers_twins[];
extern const size_t tiers_twin_count;

/* Some of the changes. */
void tiers_mseal_answers(cs_tier_observations *s);
void tiers_token_shows(cs_tier_observations *s);
void tiers_unwatched(cs_tier_observations *s);

#endif
