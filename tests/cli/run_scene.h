/* A scripted daemon, a key, a request, and what `countersign run` leaves in ledger.db. */
#ifndef CS_TESTS_CLI_RUN_SCENE_H
#define CS_TESTS_CLI_RUN_SCENE_H

#include "tests/cli/cli_case.h"
#include "tests/support/live.h"

/* The sample's request as proto3 JSON. */
#define RUN_SCENE_REQUEST                                                                                              \
    "{\"minimumIsolation\":\"container\",\"traceId\":\"trace-1\",\"timeoutMs\":5000,\"softwareRule\":{\"mode\":"       \
    "\"exact\",\"identities\":[\"" SAMPLE_IDENTITY "\"]},\"javascript\":{\"code\":\"console.log(1 + 1)\"}}"

typedef struct run_scene {
    cli_case c;
    live script;
    peer *daemon;
    char url[128];
    bool again; /* each scripted run is one of its own, and not the sample's */
} run_scene;

/* A folder with k.key, k.pub and request.json, the sample's request as proto3 JSON. */
void run_scene_begin(run_scene *s);

/* Start the daemon of `script`; it stands at `url` then. */
void run_scene_serve(run_scene *s);

/* The same for so many runs, of a daemon that tells the truth, changed by `change` (may be NULL). */
void run_scene_serve_runs(run_scene *s, size_t runs, void (*change)(sample *));

/* `countersign run` of the request into ledger.db; its exit status. */
int run_scene_run(run_scene *s);

/* The ledger verifies with this exit status, and holds so many of each. */
void run_scene_expect(run_scene *s, int exit, json_int_t runs, json_int_t findings);

void run_scene_end(run_scene *s);

#endif
