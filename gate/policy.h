/* The policy of a gate: what must have run, where, lately, and with which result (docs/FORMAT.md, "Gate policy";
 * docs/schema/policy-file.schema.json).
 *
 * JSON, version 1. Unknown members, duplicate names and anything out of its bounds are refused, so that a rule with a
 * misspelt name is an error and not a rule that is missing. Rules that contradict each other are refused with both.
 */
#ifndef CS_GATE_POLICY_H
#define CS_GATE_POLICY_H

#include "records/sha256.h"
#include "records/success.h"
#include "records/tier.h"
#include "verify/trust.h"

#define CS_POLICY_MAX_BYTES ((size_t)1024 * 1024)
#define CS_POLICY_MAX_REQUIREMENTS 32u
#define CS_POLICY_MAX_LIST 256u
#define CS_POLICY_MAX_NAME 64u /* of a requirement: [A-Za-z0-9._-] */
#define CS_POLICY_MAX_TEXT 1024u /* bytes of a provider, software identity or sandbox policy */
#define CS_POLICY_MAX_NUMBER 1000000u
#define CS_POLICY_MAX_AGE 315360000u /* seconds: ten years */

/* Texts of a list; all owned by the policy. */
typedef struct cs_policy_list {
    cs_view *items;
    size_t count;
} cs_policy_list;

typedef enum cs_policy_kind { CS_POLICY_ANY, CS_POLICY_JAVASCRIPT, CS_POLICY_PROJECT, CS_POLICY_MODULE, CS_POLICY_CELL } cs_policy_kind;

/* bind: every file of the run whose path matches `paths` equals the blob of that path in the commit. */
typedef struct cs_policy_bind {
    cs_policy_list paths; /* patterns (glob.h) */
    bool complete;        /* and every file of the commit that matches was in the run */
} cs_policy_bind;

typedef struct cs_policy_tests {
    bool present;
    cs_view artifact; /* path of the run's artifact with the JUnit XML */
    uint64_t min_executed;  /* at least 1 */
    uint64_t max_skipped;   /* 0 unless stated */
    uint64_t max_failed;    /* 0 unless stated */
    bool not_fewer_than_base; /* not fewer executed than in the run that is bound to the base commit */
} cs_policy_tests;

typedef struct cs_policy_requirement {
    char name[CS_POLICY_MAX_NAME + 1];
    /* which records count */
    cs_policy_kind kind;
    cs_view step;             /* of a project with one step, of exactly this text; ptr NULL: any */
    cs_policy_list providers; /* records of these alone are looked at; empty: of all */
    /* what they must fulfil */
    cs_tier floor;                    /* CS_TIER_UNKNOWN: none stated */
    cs_policy_list allowed_providers; /* empty: any */
    cs_policy_list software;          /* software identities; empty: any */
    cs_policy_list sandbox_policies;  /* the daemon's, as records state them; empty: any */
    cs_policy_list grant_profiles;    /* that may be used; empty: none may */
    uint64_t max_age_s;               /* 0: no bound */
    uint64_t min_records;             /* at least 1 */
    cs_policy_bind *binds;
    size_t bind_count;
    cs_policy_tests tests;
    uint64_t reproduced_providers, reproduced_runs; /* 0: not asked */
    bool cross_check; /* no contradiction */
} cs_policy_requirement;

typedef struct cs_policy {
    cs_trust trust; /* at least one key */
    cs_policy_requirement *requirements;
    size_t requirement_count; /* at least one */
    cs_policy_list protect;   /* patterns of paths that must be unchanged between base and rev */
    cs_digest digest;         /* SHA-256 of the file's bytes */
    bool needs_rev;  /* bind, or what needs a base */
    bool needs_base; /* protect or not_fewer_than_base */
    void *memory; /* what all of it borrows from */
} cs_policy;

/* CS_CODE_POLICY_MALFORMED (unchecked): with the place ("requirements[0].tests.min_executed"), what was found and what was expected;
 * CS_CODE_POLICY_CONTRADICTS (unchecked): two rules that can't both be fulfilled, with both places; CS_CODE_POLICY_EMPTY
 * (nothing): no requirement, or one that any signed run that passed would fulfil. A key that is not of its form, or there
 * twice with different windows, has the code of a trust file (trust.h) and its place; CS_CODE_IO. On failure *out is
 * empty. */
CS_MUST_CHECK cs_result cs_policy_parse(cs_view json, cs_policy *out, cs_error *err);
CS_MUST_CHECK cs_result cs_policy_load(const char *path, cs_policy *out, cs_error *err);
void cs_policy_free(cs_policy *policy);

/* Every rule in words, one line each ("requirement tests: floor: ..."; "policy: protect: ..."), as it will be applied,
 * the defaults that nobody wrote too; safe to print. Appends to *out. */
CS_MUST_CHECK cs_result cs_policy_explain(const cs_policy *policy, cs_buf *out, cs_error *err);

#endif
