/* A gate over two runs that the tests signed themselves: all of it passes, and a test changes one thing. */
#ifndef CS_TESTS_CLI_GATE_FORGED_H
#define CS_TESTS_CLI_GATE_FORGED_H

#include "tests/cli/cli_case.h"
#include "tests/gate/gate_case.h"

typedef struct gate_forged {
    cli_case c;     /* forged.pub, policy.json, runs.jsonl */
    char repo[128]; /* one commit, branch main: src/main.sh */
    char rev[41];
    forge_key key;
    gate_run runs[2];
    bool unbound; /* the next policy has no bind */
} gate_forged;

void gate_forged_begin(gate_forged *f);
void gate_forged_end(gate_forged *f);
gate_run gate_forged_run(const char *provider, int64_t ended_ms);
/* The policy, with further members of its requirement or behind its requirements (JSON that begins with a comma). */
void gate_forged_policy(gate_forged *f, const char *name, const char *of_requirement, const char *of_policy);
/* Sign the runs as they are now, into runs.jsonl. */
void gate_forged_write(gate_forged *f);
/* Write them, and judge with --json. */
int gate_forged_judge(gate_forged *f);
#define GATE_FORGED(f, ...) ARGS("gate", "--policy", "policy.json", "--repo", (f)->repo, "--rev", "main", __VA_ARGS__)

#endif
