/* What a gate judges by: the policy, and the commits of a repository. */
#ifndef CS_CLI_GATE_INPUT_H
#define CS_CLI_GATE_INPUT_H

#include "cli/options.h"
#include "gate/policy.h"
#include "gate/tree.h"

typedef struct cs_gate_input_options {
    const char *policy;      /* a file; with policy_from its path in the repository */
    const char *policy_from; /* a revision; NULL: none */
    const char *repo;        /* NULL: the working folder, if a repository is needed */
    const char *rev;
    const char *base;
    int owner; /* 0: the repository must belong to this user; 1: to any */
} cs_gate_input_options;

#define CS_GATE_WARNINGS 4u

typedef struct cs_gate_input {
    cs_policy policy;
    cs_repo *repo; /* NULL: none */
    cs_tree rev;   /* repo NULL: none was named */
    cs_tree base;
    char policy_commit[CS_TREE_OID_HEX + 1]; /* of which the policy is; empty: of none */
    char policy_path[1024];                  /* of the policy in the repository; empty: it is outside of it */
    const char *warnings[CS_GATE_WARNINGS];  /* sentences about the policy, its place and the base */
    size_t warning_count;
} cs_gate_input;

/* Only the repository is opened. End with cs_gate_input_close, also on failure. */
CS_MUST_CHECK cs_result cs_gate_input_begin(const cs_gate_input_options *options, cs_gate_input *out, cs_error *err);
/* The policy and the commits. A revision that the policy needs and that was not named is CS_CODE_USAGE, with the rule
 * that needs it. */
CS_MUST_CHECK cs_result cs_gate_input_read(const cs_gate_input_options *options, cs_gate_input *out, cs_error *err);
void cs_gate_input_close(cs_gate_input *input);

#endif
