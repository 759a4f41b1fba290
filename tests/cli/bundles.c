#include "tests/cli/bundles.h"

forge_bundle bundles_write(cli_case *c, forge_run run, size_t calls) {
    forge_key key = forge_key_from(1);
    forge_key other = forge_key_from(2);
    cli_write_public_key(c, "key.pub", &key);
    cli_write_public_key(c, "other.pub", &other);
    forge_bundle good = {.count = 0};
    forge_seal(&run);
    forge_add(&good, forge_run_line(&key, &run));
    forge_session(&good, &key, FORGE_SESSION, calls, NULL);
    cli_write_bundle(c, "good.jsonl", &good);
    forge_bundle bad = good;
    run.output = "not what was signed";
    forge_add(&bad, forge_run_line(&key, &run));
    cli_write_bundle(c, "bad.jsonl", &bad);
    cli_write_text(c, "empty.jsonl", "");
    return good;
}

gate_run bundles_project(void) {
    return (gate_run){.provider = "alpha",
                      .isolation = "container",
                      .policy = "policy:1",
                      .software = "",
                      .floor = "process",
                      .grant = "",
                      .protocol = 3,
                      .ended_ms = GATE_ENDED,
                      .outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED,
                      .junit = "<testsuite/>",
                      .output = "done\n"};
}

void bundles_add_file(gate_run *run, const char *path, const char *content) {
    cr_assert_lt(run->files, GATE_FILES);
    run->paths[run->files] = path;
    run->contents[run->files++] = content;
}

void bundles_add_step(gate_run *run, const char *step) {
    cr_assert_lt(run->step_count, GATE_STEPS);
    run->steps[run->step_count++] = step;
    run->results = run->step_count;
}
