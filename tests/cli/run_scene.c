#include "tests/cli/run_scene.h"

#include <stdio.h>
#include <string.h>

void run_scene_begin(run_scene *s) {
    memset(s, 0, sizeof *s);
    cli_begin(&s->c);
    cli_keys(&s->c);
    cli_write_text(&s->c, "request.json", RUN_SCENE_REQUEST);
}

void run_scene_serve(run_scene *s) {
    s->daemon = peer_start(s->script.steps, s->script.count, NULL);
    cr_assert_not_null(s->daemon);
    (void)snprintf(s->url, sizeof s->url, "%s", peer_url(s->daemon));
}

void run_scene_end(run_scene *s) {
    if (s->daemon != NULL) peer_free(s->daemon);
    live_free(&s->script);
    cli_end(&s->c);
}

void run_scene_serve_runs(run_scene *s, size_t runs, void (*change)(sample *)) {
    sample good;
    sample_init(&good);
    if (change != NULL) change(&good);
    for (size_t i = 0; i < runs; i++) {
        if (s->again) sample_again(&good);
        live_run(&s->script, &good);
    }
    sample_free(&good);
    run_scene_serve(s);
}

int run_scene_run(run_scene *s) {
    return cli_json(&s->c, ARGS("run", "-d", s->url, "-k", "k.key", "-l", "ledger.db", "request.json"));
}

void run_scene_expect(run_scene *s, int exit, json_int_t runs, json_int_t findings) {
    EXPECT_EXIT(&s->c, cli_json(&s->c, ARGS("verify", "-p", "k.pub", "ledger.db")), exit);
    cr_expect_eq(cli_number(&s->c, "inputs.0.runs"), runs, "%s", s->c.end.out);
    cr_expect_eq(cli_number(&s->c, "inputs.0.unsigned_findings"), findings, "%s", s->c.end.out);
}
