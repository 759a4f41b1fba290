/* `countersign gate` from end to end: a patch whose tests really ran passes, and each way to get around that is refused
 * by the rule that is meant for it. */
#include <unistd.h>

#include "tests/cli/gate_scene.h"

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
