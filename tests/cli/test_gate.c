/* `countersign gate` from end to end: a patch whose tests really ran passes, and each way to get around that is refused
 * by the rule that is meant for it. */
#include <stdio.h>
#include <unistd.h>

#include "tests/cli/gate_forged.h"
#include "tests/cli/gate_scene.h"
#include "tests/gate/repository.h"

/* ---- the good patch --------------------------------------------------------------------------------------------- */

static void expect_proofs(gate_scene *s) {
    size_t i = 0;
    size_t k = 0;
    size_t p = 0;
    const json_t *section = NULL;
    const json_t *rule = NULL;
    const json_t *proof = NULL;
    json_array_foreach(cli_member(&s->c, "sections"), i, section) {
        json_array_foreach(json_object_get(section, "rules"), k, rule) {
            size_t shown = 0;
            const char *word = json_string_value(json_object_get(rule, "rule"));
            cr_expect_str_eq(json_string_value(json_object_get(rule, "state")), "passed", "%s", word);
            json_array_foreach(cli_member(&s->c, "proofs"), p,
                               proof) if (strcmp(json_string_value(json_object_get(proof, "rule")), word) == 0) shown++;
            cr_expect_gt(shown, 0, "%s", word);
        }
    }
    json_array_foreach(cli_member(&s->c, "proofs"), p, proof)
        cr_expect(json_is_true(json_object_get(proof, "refuses")), "%s", s->c.end.out);
}

Test(gate_command, a_good_patch_passes_and_every_rule_is_proved) {
    gate_scene s;
    gate_scene_begin(&s);
    gate_scene_runs(&s, s.rev, "l.db");
    EXPECT_EXIT(&s.c, gate_scene_judge(&s, "policy.json", s.rev, "l.db"), 0);
    cr_expect_eq(cli_number(&s.c, "records"), 3);
    cr_expect_eq(cli_number(&s.c, "sections.0.counted"), 2);
    EXPECT_TEXT(&s.c, "rev", s.rev);
    EXPECT_TEXT(&s.c, "base", s.base);
    cr_expect(json_is_null(cli_member(&s.c, "policy.commit")));
    cr_expect_eq(json_array_size(cli_member(&s.c, "warnings")), 0);
    cr_expect_eq(json_array_size(cli_member(&s.c, "proofs")), 0);
    EXPECT_EXIT(&s.c,
                cli_json(&s.c, ARGS("gate", "--policy", ".gate/policy.json", "--policy-from", "main", "--repo", s.repo,
                                    "--rev", s.rev, "--base", "main", "--prove", "l.db")),
                0);
    EXPECT_TEXT(&s.c, "policy.commit", s.base);
    expect_proofs(&s);
    EXPECT_EXIT(&s.c,
                cli_run(&s.c, ARGS("gate", "--policy", "policy.json", "--repo", s.repo, "--rev", s.rev, "--base",
                                   s.base, "--explain", "l.db")),
                0);
    EXPECT_HAS(s.c.end.out, "requirement tests: 2 of 3 records count\n");
    EXPECT_HAS(s.c.end.out, "  bind            passed       5 of 5 files of the run are those of the commit ");
    EXPECT_HAS(s.c.end.out, "  bind            gate-bind: one byte of src/answer.sh in the run is another\n");
    EXPECT_HAS(s.c.end.out, "gate: passed: 1 requirement, 3 distinct records; of 17 rules 0 refused and 0 undecided\n");
    gate_scene_end(&s);
}

/* ---- the base ---------------------------------------------------------------------------------------------------- */

static int judge_with_base(gate_forged *f, const char *repo, const char *base) {
    return cli_json(
        &f->c, ARGS("gate", "--policy", "policy.json", "--repo", repo, "--rev", "main", "--base", base, "runs.jsonl"));
}

static void expect_warning(gate_forged *f, const char *repo, const char *base, const char *wanted) {
    EXPECT_EXIT(&f->c, judge_with_base(f, repo, base), 0);
    cr_assert_eq(json_array_size(cli_member(&f->c, "warnings")), wanted != NULL ? 1 : 0, "%s: %s", base, f->c.end.out);
    if (wanted != NULL) EXPECT_HAS(cli_text(&f->c, "warnings.0"), wanted);
}

/* The commit before, and one more of it; one that came after; one without a common ancestor; one that a clone lacks. */
Test(gate_command, a_base_that_is_no_ancestor_gives_a_warning) {
    static const char no_ancestor[] = "the base is no ancestor of the commit that is judged";
    gate_forged f;
    char clone[256];
    char from[256];
    gate_forged_begin(&f);
    gate_forged_write(&f);
    repository_git(f.repo, "tag", "first");
    repository_git(f.repo, "commit", "-q", "--allow-empty", "-m", "second");
    expect_warning(&f, f.repo, "first", NULL);
    repository_git(f.repo, "commit", "-q", "--allow-empty", "-m", "third");
    expect_warning(&f, f.repo, "first", NULL);
    repository_git(f.repo, "checkout", "-q", "-b", "later");
    repository_git(f.repo, "commit", "-q", "--allow-empty", "-m", "fourth");
    expect_warning(&f, f.repo, "later", no_ancestor);
    repository_git(f.repo, "checkout", "-q", "--orphan", "orphan");
    repository_git(f.repo, "commit", "-q", "--allow-empty", "-m", "alone");
    expect_warning(&f, f.repo, "orphan", no_ancestor);
    (void)snprintf(clone, sizeof clone, "%s/clone", f.repo);
    (void)snprintf(from, sizeof from, "file://%s", f.repo);
    repository_git(f.repo, "clone", "-q", "--depth", "1", "--branch", "main", from, "clone");
    repository_git(clone, "fetch", "-q", "--depth", "1", "origin", "tag", "first");
    expect_warning(&f, clone, "first", "the clone is shallow, and does not tell that the base is an ancestor");
    repository_git(clone, "fetch", "-q", "--unshallow", "origin");
    expect_warning(&f, clone, "first", NULL);
    gate_forged_end(&f);
}

/* In text and JSON: what the patch adds outside of the policy's patterns was in no run. */
Test(gate_command, what_the_patch_changes_and_no_run_had_is_told) {
    gate_forged f;
    gate_forged_begin(&f);
    gate_forged_write(&f);
    repository_git(f.repo, "tag", "first");
    repository_write(f.repo, "lib/evil.js", "evil\n", 5);
    repository_write(f.repo, "package.json", "{}\n", 3);
    repository_commit(f.repo, f.rev);
    EXPECT_EXIT(&f.c, judge_with_base(&f, f.repo, "first"), 0);
    EXPECT_HAS(f.c.end.out, "; 2 files that the patch changes were not in the run: lib/evil.js, package.json\"");
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "--base", "first", "runs.jsonl")), 0);
    EXPECT_HAS(f.c.end.out, "; 2 files that the patch changes were not in the run: lib/evil.js, package.json\n");
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "runs.jsonl")), 0);
    EXPECT_HAS(f.c.end.out, "; 2 of the 3 files of the commit were not in the run\n");
    repository_git(f.repo, "tag", "second");
    repository_git(f.repo, "commit", "-q", "--allow-empty", "-m", "third");
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "--base", "second", "runs.jsonl")), 0);
    EXPECT_HAS_NOT(f.c.end.out, "not in the run");
    gate_forged_end(&f);
}
