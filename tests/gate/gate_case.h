/* A gate that everything fulfils: a repository, a policy made by hand, and signed project runs; and the parts of it that
 * a test changes. The runs' digests are the test side's own (canon.h), their signatures libsodium's. */
#ifndef CS_TESTS_GATE_GATE_CASE_H
#define CS_TESTS_GATE_GATE_CASE_H

#include "gate/gate.h"
#include "tests/support/forge.h"

#define GATE_NOW 1790000600000
#define GATE_ENDED 1790000000000
#define GATE_DAEMON "http://127.0.0.1:8746"
#define GATE_FILES 8u
#define GATE_STEPS 3u

/* One project run as plain values. */
typedef struct gate_run {
    const char *provider;
    const char *isolation;
    const char *policy;
    const char *environment; /* NULL: none is stated */
    const char *software;
    const char *floor;
    const char *grant;
    uint32_t protocol;
    int64_t ended_ms;
    const char *paths[GATE_FILES];
    const char *contents[GATE_FILES];
    size_t files;
    const char *steps[GATE_STEPS]; /* of the request */
    size_t step_count;
    const char *commands[GATE_STEPS]; /* of the results; NULL: as the step */
    int exit_codes[GATE_STEPS];
    bool timed_out[GATE_STEPS];
    size_t results;
    bool cut_stdout;
    bool cut_artifacts;
    int outcome;
    const char *junit; /* content of the artifact; NULL: it did not come back */
    bool junit_twice;
    const char *output;
} gate_run;

typedef struct gate_line {
    forge_bytes request;
    forge_bytes response;
    char *line;
} gate_line;

/* Signed by this key. */
gate_line gate_sign(const forge_key *key, const gate_run *run);

#define GATE_RUNS 8u
#define GATE_SOURCES 3u

typedef struct gate_case {
    char folder[128]; /* the repository */
    cs_repo *repo;
    cs_tree base; /* src/main.js is another */
    cs_tree rev;
    forge_key key;
    gate_run runs[GATE_RUNS]; /* alpha, beta, and alpha with the base's files */
    const forge_key *signer;
    size_t run_count;

    cs_policy policy;
    cs_policy_requirement requirement;
    cs_policy_bind bind;
    cs_view patterns[4];
    cs_view protect[4];

    forge_bundle bundles[GATE_SOURCES]; /* what stands in each source beside the runs, which are in the first */
    char paths[GATE_SOURCES][64];
    size_t sources;
    bool bundled; /* they are bundles also when the requirement asks for a cross-check; else ledgers then */
    const char *more[2]; /* further sources */
    size_t more_count;
    const char *all[GATE_SOURCES + 2];
    cs_gate_options options;
    cs_gate_verdict verdict;
    cs_error err;
} gate_case;

#define GATE_JUNIT_3                                                                                                   \
    "<testsuite tests=\"3\"><testcase name=\"a\"/><testcase name=\"b\"/><testcase name=\"c\"/></testsuite>"

void gate_begin(gate_case *c);
void gate_end(gate_case *c);
/* Commit the work tree of the repository, and read it as the revision. */
void gate_commit_again(gate_case *c);
/* The files of all runs of the revision. */
void gate_add_file(gate_case *c, const char *path, const char *content);
/* The lines, as a ledger's own runs of this daemon. */
void gate_write_ledger(const char *path, const char *daemon, const forge_bundle *lines);
/* Sign what there is, and judge. */
cs_result gate_judge(gate_case *c);

/* The verdict refuses by this rule and code, once, and by no other. */
void gate_expect_only(const gate_case *c, const char *name, cs_gate_rule rule, cs_code code);
/* Judge, which must be so. */
void gate_expect_passes(gate_case *c, const char *name);

const cs_gate_finding *gate_finding(const gate_case *c, cs_gate_rule rule);

#endif
