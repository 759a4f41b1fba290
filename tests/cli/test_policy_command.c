/* `countersign policy check`: the rules of a policy in words, and every way in which a policy is none. */
#include <stdlib.h>

#include "tests/cli/cli_case.h"
#include "tests/support/policy_case.h"

/* Write the good policy with a change (NULL: none) as policy.json. */
static void write_policy(cli_case *c, const char *name) {
    for (size_t i = 0; name != NULL && i < policy_change_count; i++) {
        if (strcmp(policy_changes[i].name, name) != 0) continue;
        char *text = policy_case_text(&policy_changes[i]);
        cli_write_text(c, "policy.json", text);
        free(text);
        return;
    }
    cr_assert_null(name, "%s", name);
    char *text = policy_case_text(NULL);
    cli_write_text(c, "policy.json", text);
    free(text);
}

Test(policy_command, a_good_policy_is_told_in_words) {
    cli_case c;
    cli_begin(&c);
    write_policy(&c, NULL);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("policy", "check", "policy.json")), 0);
    EXPECT_HAS(c.end.out, "policy: needs: a revision, and a base to compare it with\n");
    EXPECT_HAS(c.end.out, "\nrequirement tests: floor: the tier container or a stronger one\n");
    EXPECT_HAS(c.end.out, "\nrequirement lately: grants: none may be used\n");
    cr_expect_str_eq(c.end.err, "");
    cli_end(&c);
}

Test(policy_command, the_document_has_the_same_lines) {
    cli_case c;
    cli_begin(&c);
    write_policy(&c, NULL);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("policy", "check", "policy.json")), 0);
    char *told = strdup(c.end.out);
    char *text = policy_case_text(NULL);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("policy", "check", "policy.json")), 0);
    EXPECT_TEXT(&c, "code", "ok");
    EXPECT_TEXT(&c, "policy", forge_sha256(text, strlen(text)));
    EXPECT_TEXT(&c, "requirements.0", "tests");
    EXPECT_TEXT(&c, "requirements.5", "allowed");
    cr_expect(json_is_true(cli_member(&c, "needs_rev")));
    cr_expect(json_is_true(cli_member(&c, "needs_base")));
    const json_t *lines = cli_member(&c, "lines");
    char *at = told;
    for (size_t i = 0; i < json_array_size(lines); i++) {
        char *end = strchr(at, '\n');
        cr_assert_not_null(end, "line %zu", i);
        *end = '\0';
        cr_expect_str_eq(json_string_value(json_array_get(lines, i)), at);
        at = end + 1;
    }
    cr_expect_gt(json_array_size(lines), 100);
    cr_expect_str_eq(at, "", "a line is missing in the document");
    free(text);
    free(told);
    cli_end(&c);
}

/* The good policy with one change: exit, code, place, and not a word of rules. */
static void expect_refused(const char *change, int exit, const char *code, const char *where) {
    cli_case c;
    cli_begin(&c);
    write_policy(&c, change);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("policy", "check", "policy.json")), exit);
    cr_expect_str_eq(c.end.out, "");
    EXPECT_HAS(c.end.err, forge_text("[%s]", code));
    EXPECT_HAS(c.end.err, forge_text("  where: policy.json: %s\n", where));
    EXPECT_EXIT(&c, cli_json(&c, ARGS("policy", "check", "policy.json")), exit);
    EXPECT_TEXT(&c, "code", code);
    EXPECT_TEXT(&c, "where", forge_text("policy.json: %s", where));
    cr_expect_null(cli_member(&c, "lines"));
    cr_expect_null(cli_member(&c, "policy"));
    cli_end(&c);
}

Test(policy_command, what_is_wrong_has_its_exit_and_place) {
    expect_refused("max-failed-below", 5, "policy-malformed", "requirements[0].tests.max_failed");
    expect_refused("member-odd", 5, "policy-malformed", "\\x1b[2J");
    expect_refused("providers-not-allowed", 5, "policy-contradicts",
                   "requirements[0].records.providers, requirements[0].allowed_providers");
    expect_refused("key-window-backwards", 5, "trust-malformed", "keys[0] (ci)");
    expect_refused("key-twice-otherwise", 5, "trust-contradicts", "keys[1]");
    expect_refused("requirements-none", 6, "policy-empty", "requirements");
    expect_refused("nothing-but-a-name", 6, "policy-empty", "requirements[4]");
}

Test(policy_command, a_file_that_is_not_there) {
    cli_case c;
    cli_begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("policy", "check", "missing.json")), 5);
    EXPECT_TEXT(&c, "code", "io");
    EXPECT_TEXT(&c, "where", "missing.json");
    cli_end(&c);
}

Test(policy_command, wrong_lines) {
    cli_case c;
    cli_begin(&c);
    write_policy(&c, NULL);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("policy", "check", "policy.json")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("policy", "checks", "policy.json")), 2);
    EXPECT_TEXT(&c, "code", "usage");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("policy", "policy.json", "check")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("policy", "policy.json")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("policy", "check")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("policy")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("policy", "check", "policy.json", "policy.json")), 2);
    cli_end(&c);
}

/* A policy whose rules can't be told is not a policy that was checked. */
Test(policy_command, words_that_can_not_be_written_are_no_success) {
    cli_case c;
    cli_begin(&c);
    write_policy(&c, NULL);
    c.how.output_path = "/dev/full";
    EXPECT_EXIT(&c, cli_run(&c, ARGS("policy", "check", "policy.json")), 5);
    EXPECT_HAS(c.end.err, "[io]");
    cli_end(&c);
}
