/* A check that passed, as baselines are taken of, for tests that change one thing. */
#ifndef CS_TESTS_HARNESS_BASELINE_CASE_H
#define CS_TESTS_HARNESS_BASELINE_CASE_H

#include "harness/baseline_internal.h"
#include "tests/harness/tiers_case.h"
#include "tests/support/sample.h"

#define BASELINE_URL "http://127.0.0.1:8746"

typedef struct baseline_case {
    sample said; /* what the daemon states */
    cs_tiers_report tiers;
    cs_host_daemon daemon;
    char folder[128];
    char path[160]; /* of a file in it, which is not there at first */
} baseline_case;

void baseline_begin(baseline_case *c);
void baseline_end(baseline_case *c);

/* The baseline of what it is now, at depth host. Asserts. */
void baseline_take(const baseline_case *c, cs_baseline *out);

/* A small one, of pairs of key and value up to NULL, all of one state but for the policy. */
void baseline_small(const char *policy, const char *const pairs[], cs_baseline *out);
#define PAIRS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Add it to the file at c->path. Asserts. */
void baseline_save(const baseline_case *c, const cs_baseline *now);

/* The value of a key; NULL: there is none. */
const char *baseline_value(const cs_baseline *baseline, const char *key);

#endif
