#include "tests/cli/gate_forged.h"

#include <stdlib.h>
#include <time.h>

#include "tests/gate/repository.h"

#define STEP "sh test/run.sh"
#define MAIN "answer=42\n"
#define JUNIT GATE_JUNIT_3

gate_run gate_forged_run(const char *provider, int64_t ended_ms) {
    return (gate_run){.provider = provider,
                      .isolation = provider,
                      .policy = "policy:1",
                      .software = "",
                      .floor = "",
                      .grant = "",
                      .protocol = 3,
                      .ended_ms = ended_ms,
                      .paths = {"src/main.sh"},
                      .contents = {MAIN},
                      .files = 1,
                      .steps = {STEP},
                      .step_count = 1,
                      .results = 1,
                      .outcome = PLIMSOLL__V1__PROJECT_OUTCOME__PROJECT_OUTCOME_COMPLETED,
                      .junit = JUNIT,
                      .output = ""};
}

void gate_forged_policy(gate_forged *f, const char *name, const char *of_requirement, const char *of_policy) {
    size_t len = 0;
    cli_write_public_key(&f->c, "forged.pub", &f->key);
    char *key = file_read(forge_text("%s/forged.pub", f->c.folder), &len);
    cr_assert_not_null(key);
    json_t *text = json_string(key);
    char *quoted = json_dumps(text, JSON_ENCODE_ANY);
    cli_write_text(
        &f->c, name,
        forge_text("{\"version\":1,\"keys\":[{\"key\":%s}],\"requirements\":[{\"name\":\"tests\",\"records\":"
                   "{\"step\":\"" STEP "\"},\"min_records\":2,\"max_age_seconds\":3600,%s"
                   "\"tests\":{\"artifact\":\"junit.xml\"}%s}]%s}",
                   quoted, f->unbound ? "" : "\"bind\":[{\"paths\":[\"src/**\"],\"complete\":true}],", of_requirement,
                   of_policy));
    json_decref(text);
    free(quoted);
    free(key);
}

void gate_forged_begin(gate_forged *f) {
    int64_t now_ms = (int64_t)time(NULL) * 1000;
    memset(f, 0, sizeof *f);
    cli_begin(&f->c);
    f->key = forge_key_from(9);
    repository_make(f->repo);
    repository_write(f->repo, "src/main.sh", MAIN, strlen(MAIN));
    repository_commit(f->repo, f->rev);
    gate_forged_policy(f, "policy.json", "", "");
    f->runs[0] = gate_forged_run("process", now_ms - 5000);
    f->runs[1] = gate_forged_run("container", now_ms - 4000);
}

void gate_forged_write(gate_forged *f) {
    forge_bundle bundle = {.count = 0};
    for (size_t i = 0; i < 2; i++)
        forge_add(&bundle, gate_sign(&f->key, &f->runs[i]).line);
    cli_write_bundle(&f->c, "runs.jsonl", &bundle);
}

int gate_forged_judge(gate_forged *f) {
    gate_forged_write(f);
    return cli_json(&f->c, GATE_FORGED(f, "runs.jsonl"));
}

void gate_forged_end(gate_forged *f) {
    folder_remove(f->repo);
    cli_end(&f->c);
}
