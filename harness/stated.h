/* What the daemon that a finding is about stated: the claim that a finding `tier-contradicted` refutes. Shared by the
 * cross-check (harness/tiers_ledger.c) and the gate (gate/judge_contradicted.c). */
#ifndef CS_HARNESS_STATED_H
#define CS_HARNESS_STATED_H

#include "records/arena.h"
#include "verify/schema.h"

#define CS_STATED_ENVIRONMENTS 5u

/* All views borrow from the row; an empty one is not stated. */
typedef struct cs_stated {
    bool any; /* something could be read; else the others hold nothing */
    cs_view tier;
    cs_view provider;
    cs_view policy;
    cs_view environments[CS_STATED_ENVIRONMENTS]; /* the record's, and those of the description */
} cs_stated;

/* Tier, provider and policy as the row's record states them, or else the description before it. A script's environment
 * need not be a project's, so that all that the description has are taken. Fails only with CS_CODE_NO_MEMORY: what
 * can't be read is not stated. What it takes of the arena stays taken until that is reset. */
CS_MUST_CHECK cs_result cs_stated_read(const cs_ledger_row *row, cs_arena *arena, cs_stated *out, cs_error *err);

#endif
