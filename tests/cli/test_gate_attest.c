/* `countersign gate --attest`, and what `verify` says of the file. */
#include <stdio.h>
#include <unistd.h>

#include "tests/cli/gate_forged.h"
#include "tests/gate/repository.h"
#include "tests/support/program.h"

static char *path_of(const gate_forged *f, const char *name) {
    return forge_text("%s/%s", f->c.folder, name);
}

static bool is_there(const gate_forged *f, const char *name) {
    return access(path_of(f, name), F_OK) == 0;
}

static char *content_of(const gate_forged *f, const char *name) {
    size_t len = 0;
    char *bytes = file_read(path_of(f, name), &len);
    cr_assert_not_null(bytes, "%s", name);
    return bytes;
}

/* The payloads of the two lines. */
static char *payloads_of(const gate_forged *f, const char *name) {
    char *all = forge_text("%s", "");
    char *bytes = content_of(f, name);
    size_t lines = 0;
    for (char *line = strtok(bytes, "\n"); line != NULL; line = strtok(NULL, "\n"), lines++) {
        cs_envelope envelope;
        cs_error err = CS_ERROR_INIT;
        cr_assert_eq(cs_envelope_decode(cs_view_of(line), &envelope, &err), CS_OK, "%s", err.message);
        all = forge_text("%s%.*s\n", all, (int)envelope.payload.len, (const char *)envelope.payload.ptr);
        cs_envelope_free(&envelope);
    }
    free(bytes);
    cr_expect_eq(lines, 2);
    return all;
}

static void begin(gate_forged *f) {
    gate_forged_begin(f);
    cli_keys(&f->c);
    gate_forged_write(f);
}

#define ATTEST(f, ...) GATE_FORGED((f), "--attest", __VA_ARGS__, "runs.jsonl")

Test(gate_attest_command, a_pass_and_a_refusal) {
    gate_forged f;
    begin(&f);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ATTEST(&f, "a.jsonl", "-k", "k.key", "--attest-repo", "https://x.example.org/y")),
                0);
    EXPECT_TEXT(&f.c, "attestation", "a.jsonl");
    char *passed = payloads_of(&f, "a.jsonl");
    EXPECT_HAS(passed,
               forge_text("{\"name\":\"git+https://x.example.org/y\",\"digest\":{\"gitCommit\":\"%s\"}}", f.rev));
    EXPECT_HAS(passed, "\"result\":\"PASSED\"");
    EXPECT_HAS(passed, "\"verificationResult\":\"PASSED\",\"verifiedLevels\":[\"COUNTERSIGN_GATE_PASSED\"]}}");
    char *policy = content_of(&f, "policy.json");
    EXPECT_HAS(passed, forge_text("\"digest\":{\"sha256\":\"%s\"}", forge_sha256(policy, strlen(policy))));
    free(policy);
    f.runs[0].grant = f.runs[1].grant = "network";
    gate_forged_write(&f);
    EXPECT_EXIT(&f.c, cli_run(&f.c, ATTEST(&f, "b.jsonl", "-k", "k.key")), 1);
    EXPECT_HAS(f.c.end.out, forge_text("attested: b.jsonl: what was concluded of commit %s, signed by key ", f.rev));
    char *failed = payloads_of(&f, "b.jsonl");
    EXPECT_HAS(failed, "\"result\":\"FAILED\"");
    EXPECT_HAS(failed, "/grants\"]}}\n");
    EXPECT_HAS(failed, "\"verificationResult\":\"FAILED\",\"verifiedLevels\":[\"FAILED\"]}}");
    gate_forged_end(&f);
}

Test(gate_attest_command, the_key_from_the_environment) {
    gate_forged f;
    begin(&f);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ATTEST(&f, "a.jsonl", "--skew", "5")), 5);
    EXPECT_TEXT(&f.c, "code", "key-unreadable");
    cr_expect_not(is_there(&f, "a.jsonl"));
    char *pem = content_of(&f, "k.key");
    const char *const with_key[] = {forge_text("COUNTERSIGN_KEY=%s", pem), "GITHUB_ACTIONS", NULL};
    free(pem);
    f.c.how.env = with_key;
    EXPECT_EXIT(&f.c, cli_json(&f.c, ATTEST(&f, "a.jsonl", "--skew", "5")), 0);
    cr_expect(is_there(&f, "a.jsonl"));
    gate_forged_end(&f);
}

/* All of it is found out before anything is judged. */
Test(gate_attest_command, what_keeps_it_from_being_written) {
    gate_forged f;
    begin(&f);
    static const struct {
        const char *path, *repository;
        int exit;
        const char *code;
    } rows[] = {{"-", "https://x.example.org/y", 2, "usage"},
                {"a.jsonl", "x.example.org/y", 2, "usage"},
                {"a.jsonl", "https://token@x.example.org/y", 2, "usage"},
                {"forged.pub", "https://x.example.org/y", 5, "io"},
                {"policy.json", "https://x.example.org/y", 2, "usage"},
                {"a.jsonl", "https://x.example.org/y", 0, "ok"}};
    char *before = content_of(&f, "policy.json");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        EXPECT_EXIT(&f.c, cli_json(&f.c, ATTEST(&f, rows[i].path, "-k", "k.key", "--attest-repo", rows[i].repository)),
                    rows[i].exit);
        EXPECT_TEXT(&f.c, "code", rows[i].code);
        cr_expect_eq(cli_member(&f.c, "sections") != NULL, rows[i].exit == 0);
        EXPECT_HAS_NOT(f.c.end.out, "token");
        cr_expect_eq(is_there(&f, "a.jsonl"), rows[i].exit == 0);
    }
    char *after = content_of(&f, "policy.json");
    cr_expect_str_eq(after, before);
    free(before);
    free(after);
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "-k", "k.key", "runs.jsonl")), 2);
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "--attest-repo", "https://x.example.org/y", "runs.jsonl")), 2);
    gate_forged_end(&f);
}

/* A commit that nobody ran, with and without a bind: what passes without one is warned of, and never signed. */
Test(gate_attest_command, a_policy_that_binds_nothing) {
    gate_forged f;
    begin(&f);
    repository_write(f.repo, "src/main.sh", "answer=43\n", 10);
    repository_commit(f.repo, f.rev);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ATTEST(&f, "bound.jsonl", "-k", "k.key")), 1);
    EXPECT_TEXT(&f.c, "code", "gate-bind");
    cr_expect_eq(json_array_size(cli_member(&f.c, "warnings")), 0);
    cr_expect(is_there(&f, "bound.jsonl"));
    f.unbound = true;
    gate_forged_policy(&f, "policy.json", "", "");
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "runs.jsonl")), 0);
    cr_assert_eq(json_array_size(cli_member(&f.c, "warnings")), 1);
    EXPECT_HAS(cli_text(&f.c, "warnings.0"), "a requirement of the policy has no 'bind': its runs need not be of the "
                                             "commit that is judged, and one that nobody ran passes");
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("gate", "--policy", "policy.json", "--repo", f.repo, "runs.jsonl")), 0);
    cr_expect_eq(json_array_size(cli_member(&f.c, "warnings")), 0);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ATTEST(&f, "a.jsonl", "-k", "k.key")), 1);
    EXPECT_TEXT(&f.c, "code", "gate-unbound");
    cr_expect_null(cli_member(&f.c, "sections"));
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "-l", "l.db", "-k", "k.key", "runs.jsonl")), 1);
    EXPECT_TEXT(&f.c, "code", "gate-unbound");
    cr_expect_null(cli_member(&f.c, "sections"));
    cr_expect_not(is_there(&f, "a.jsonl") || is_there(&f, "l.db"));
    gate_forged_end(&f);
}

/* The runs come through standard input: that they verify with the policy's keys alone can't be shown again. */
Test(gate_attest_command, what_is_read_once_is_not_proved) {
    gate_forged f;
    begin(&f);
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "--prove", "runs.jsonl")), 0);
    EXPECT_HAS(f.c.end.out, "envelope-key-unknown: refused: runs.jsonl is verified once more, with none of the ");
    char *bytes = content_of(&f, "runs.jsonl");
    f.c.how.input = bytes;
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "--prove", "-")), 0);
    EXPECT_HAS(f.c.end.out, "envelope-key-unknown: not shown: - was read once and can't be verified again\n");
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "--prove", "-")), 0);
    f.c.how.input = NULL;
    free(bytes);
    gate_forged_end(&f);
}

Test(gate_attest_command, no_verdict_no_file) {
    gate_forged f;
    begin(&f);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ATTEST(&f, "a.jsonl", "-k", "k.key", "missing.jsonl")), 5);
    cr_expect_not(is_there(&f, "a.jsonl"));
    cr_expect_null(cli_member(&f.c, "attestation"));
    gate_forged_end(&f);
}

Test(gate_attest_command, verify_says_what_it_is) {
    gate_forged f;
    begin(&f);
    EXPECT_EXIT(&f.c, cli_run(&f.c, ATTEST(&f, "a.jsonl", "-k", "k.key")), 0);
    EXPECT_EXIT(&f.c, cli_run(&f.c, ARGS("verify", "-p", "k.pub", "a.jsonl")), 6);
    EXPECT_HAS(f.c.end.out,
               "a.jsonl: nothing: input-verdict: this is an attestation of a verdict (a test result), not a "
               "record of a run: nothing of it was checked");
    EXPECT_HAS_NOT(f.c.end.out, "runs verified");
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("verify", "-p", "k.pub", "--expect-count", "1", "a.jsonl")), 1);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("verify", "-p", "forged.pub", "runs.jsonl", "a.jsonl")), 6);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("verify", "-p", "forged.pub", "runs.jsonl")), 0);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("import", "-l", "l.db", "-p", "k.pub", "a.jsonl")), 6);
    EXPECT_TEXT(&f.c, "code", "input-verdict");
    gate_forged_end(&f);
}
