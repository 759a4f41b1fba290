/* Isolation tiers and their order. A tier is a statement, never a proof. */
#ifndef CS_RECORDS_TIER_H
#define CS_RECORDS_TIER_H

#include "records/base.h"

typedef enum cs_tier {
    CS_TIER_UNKNOWN = -1, /* a word that is none of these */
    CS_TIER_NONE = 0,     /* the empty word: no floor */
    CS_TIER_PROCESS = 1,
    CS_TIER_CONTAINER = 2,
    CS_TIER_KERNEL = 3,
    CS_TIER_VM = 4
} cs_tier;

/* Exact words only: "", "process", "container", "kernel", "vm". */
cs_tier cs_tier_parse(cs_view word);
const char *cs_tier_word(cs_tier tier); /* "" for none, "unknown" for unknown */

#endif
