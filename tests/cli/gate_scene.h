/* A repository with an agent's patch, whose tests really run on two daemons, and the gate over their ledger. */
#ifndef CS_TESTS_CLI_GATE_SCENE_H
#define CS_TESTS_CLI_GATE_SCENE_H

#include "tests/cli/cli_case.h"
#include "tests/support/daemon.h"

#define GATE_STEP "sh test/run.sh"

typedef struct gate_scene {
    cli_case c;     /* k.key, k.pub, policy.json (outside of the repository), ledgers */
    char repo[128]; /* branch main: the base, with .gate/policy.json, the same as policy.json */
    char base[41];
    char rev[41]; /* the patch: another answer, and one test more */
    test_daemon process;
    test_daemon container;
} gate_scene;

void gate_scene_begin(gate_scene *s);
void gate_scene_end(gate_scene *s);

/* The policy of the scene. A requirement's members: "floor", "tests" ... */
json_t *gate_scene_policy(const gate_scene *s);
json_t *gate_scene_requirement(json_t *policy);
/* Write it as this file of the folder; takes it. */
void gate_scene_put(gate_scene *s, const char *name, json_t *policy);

/* Put the work tree to a commit, change files of it (content NULL: remove), and commit; the new id. */
typedef struct gate_edit {
    const char *path;
    const char *content;
} gate_edit;
void gate_scene_commit(gate_scene *s, const char *from, const gate_edit *edits, size_t count, char id[41]);
#define GATE_COMMIT(s, from, id, ...)                                                                                  \
    gate_scene_commit((s), (from), (const gate_edit[]){__VA_ARGS__},                                                   \
                      sizeof((const gate_edit[]){__VA_ARGS__}) / sizeof(gate_edit), (id))

/* A request with all files of src and test of a commit. */
json_t *gate_scene_request(const gate_scene *s, const char *rev);
/* The content of one of its files. */
void gate_scene_edit(json_t *request, const char *path, const char *content);
/* Run it with this key into the ledger; takes it. What the code does is not asked for. */
void gate_scene_run(gate_scene *s, json_t *request, const test_daemon *daemon, const char *key, const char *ledger);
/* The commit on both daemons, and the base on one. */
void gate_scene_runs(gate_scene *s, const char *rev, const char *ledger);

/* `countersign gate` over the ledger. Its exit status; the document is kept. */
int gate_scene_judge(gate_scene *s, const char *policy, const char *rev, const char *ledger);
/* It is refused by exactly this rule, with this code. */
void gate_scene_expect(gate_scene *s, const char *name, const char *policy, const char *rev, const char *ledger,
                       const char *rule, const char *code);
/* Of the last document: the state of a rule of the requirement, or of the policy. */
const char *gate_scene_state(const gate_scene *s, const char *rule);

#endif
