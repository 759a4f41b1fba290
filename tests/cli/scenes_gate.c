#include <stdlib.h>

#include "tests/cli/gate_forged.h"
#include "tests/cli/scenes.h"
#include "tests/gate/repository.h"

#define JUDGE(f, policy, rev, ...) ARGS("gate", "--policy", policy, "--repo", (f)->repo, "--rev", rev, __VA_ARGS__)

static void with_protect(documents *d, gate_forged *f) {
    char again[41];
    gate_forged_policy(f, "protect.json", "", ",\"protect\":[\"src/m*.sh\"]");
    repository_commit(f->repo, again);
    documents_take(d, &f->c, "gate-two-sections", 0, "ok",
                   JUDGE(f, "protect.json", "main", "--base", f->rev, "--explain", "runs.jsonl"));
    documents_take(d, &f->c, "gate-without-base", 2, "usage", JUDGE(f, "protect.json", "main", "runs.jsonl"));
}

static void with_ledger(documents *d, gate_forged *f) {
    documents_take(d, &f->c, "gate-kept", 0, "ok", GATE_FORGED(f, "-l", "kept.db", "-k", "k.key", "runs.jsonl"));
    documents_take(d, &f->c, "gate-kept-nowhere", 5, "ledger-missing",
                   GATE_FORGED(f, "-l", "none/kept.db", "-k", "k.key", "runs.jsonl"));
    documents_take(d, &f->c, "gate-passed-over", 0, "ok", GATE_FORGED(f, "kept.db", "runs.jsonl"));
    documents_take(d, &f->c, "verify-verdicts", 6, "nothing-to-check", ARGS("verify", "-p", "k.pub", "kept.db"));
    documents_take(d, &f->c, "show-verdicts", 0, "ok", ARGS("show", "-p", "k.pub", "kept.db"));
    documents_take(d, &f->c, "show-test-result", 0, "ok", ARGS("show", "kept.db", "1"));
    documents_take(d, &f->c, "show-summary", 0, "ok", ARGS("show", "-p", "k.pub", "kept.db", "2"));
    documents_take(d, &f->c, "log-verdicts", 0, "ok", ARGS("log", "-p", "k.pub", "kept.db"));
    documents_take(d, &f->c, "report-verdicts", 6, "nothing-to-check",
                   ARGS("report", "-p", "k.pub", "-o", "page.html", "kept.db"));
}

void scene_gate(documents *d) {
    gate_forged f;
    gate_forged_begin(&f);
    gate_forged_write(&f);
    cli_write_text(&f.c, "empty.jsonl", "");
    documents_take(d, &f.c, "gate-good", 0, "ok", GATE_FORGED(&f, "runs.jsonl"));
    documents_take(d, &f.c, "gate-proved", 0, "ok", GATE_FORGED(&f, "--prove", "runs.jsonl"));
    cli_keys(&f.c);
    documents_take(d, &f.c, "gate-attested", 0, "ok",
                   GATE_FORGED(&f, "--attest", "a.jsonl", "-k", "k.key", "runs.jsonl"));
    documents_take(d, &f.c, "gate-attested-before", 5, "io",
                   GATE_FORGED(&f, "--attest", "a.jsonl", "-k", "k.key", "runs.jsonl"));
    documents_take(d, &f.c, "verify-attestation", 6, "input-verdict", ARGS("verify", "-p", "k.pub", "a.jsonl"));
    with_ledger(d, &f);
    with_protect(d, &f);
    documents_take(d, &f.c, "gate-twice", 0, "ok", GATE_FORGED(&f, "runs.jsonl", "runs.jsonl"));
    documents_take(d, &f.c, "gate-without-rev", 2, "usage", ARGS("gate", "--policy", "policy.json", "runs.jsonl"));
    documents_take(d, &f.c, "gate-without-policy", 2, "usage", ARGS("gate", "runs.jsonl"));
    documents_take(d, &f.c, "gate-policy-missing", 5, "io", JUDGE(&f, "no\xff.json", "main", "runs.jsonl"));
    documents_take(d, &f.c, "gate-revision", 5, "git-revision", JUDGE(&f, "policy.json", "no\xff", "runs.jsonl"));
    documents_take(d, &f.c, "gate-input-missing", 5, "io", GATE_FORGED(&f, "missing\xff.jsonl"));
    documents_take(d, &f.c, "gate-input-empty", 6, "gate-nothing", GATE_FORGED(&f, "empty.jsonl"));
    gate_forged_policy(&f, "other.json", ",\"allowed_providers\":[\"\xe2\x80\xaeother\"]", "");
    documents_take(d, &f.c, "gate-refused", 1, "gate-provider", JUDGE(&f, "other.json", "main", "runs.jsonl"));
    f.runs[0].steps[0] = f.runs[1].steps[0] = "true";
    gate_forged_write(&f);
    documents_take(d, &f.c, "gate-nothing", 6, "gate-nothing", GATE_FORGED(&f, "runs.jsonl"));
    f.key = forge_key_from(10);
    gate_forged_write(&f);
    documents_take(d, &f.c, "gate-unknown-key", 1, "envelope-key-unknown", GATE_FORGED(&f, "runs.jsonl"));
    gate_forged_end(&f);
}
