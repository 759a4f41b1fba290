/* The files of `countersign gate`, what GitHub reads of a step, and where the policy and the repository come from. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cli/gate_forged.h"
#include "tests/gate/repository.h"

#define FILES "--junit", "j.xml", "--sarif", "s.json", "--codequality", "q.json"

static char *read_text(const gate_forged *f, const char *name) {
    size_t len = 0;
    char *text = file_read(forge_text("%s/%s", f->c.folder, name), &len);
    cr_assert_not_null(text, "%s", name);
    return text;
}

static void expect_file(const gate_forged *f, const char *name, const char *part) {
    char *text = read_text(f, name);
    EXPECT_HAS(text, part);
    free(text);
}

/* ---- files --------------------------------------------------------------------------------------------------------
 */

Test(gate_reports, files_of_every_outcome) {
    gate_forged f;
    gate_forged_begin(&f);
    gate_forged_write(&f);
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, FILES, "runs.jsonl")), 0);
    expect_file(&f, "j.xml", "failures=\"0\" errors=\"0\"");
    expect_file(&f, "s.json", "\"results\": []");
    expect_file(&f, "q.json", "[]\n");
    f.runs[0].exit_codes[0] = f.runs[1].exit_codes[0] = 1;
    gate_forged_write(&f);
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, FILES, "runs.jsonl")), 1);
    EXPECT_HAS(f.c.end.out, "gate: refused: ");
    EXPECT_HAS(f.c.end.err, "[gate-work-failed]");
    expect_file(&f, "j.xml", "type=\"gate-work-failed\"");
    expect_file(&f, "s.json", "\"ruleId\": \"work\"");
    expect_file(&f, "q.json", "\"check_name\": \"work\"");
    gate_forged_end(&f);
}

/* What ends before there is a verdict must not leave the good report of an earlier run. */
Test(gate_reports, an_earlier_file_does_not_stay) {
    gate_forged f;
    gate_forged_begin(&f);
    gate_forged_write(&f);
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, FILES, "runs.jsonl")), 0);
    cli_write_text(&f.c, "bad.json", "{\"version\":2}");
    EXPECT_EXIT(&f.c, cli_run(&f.c, ARGS("gate", "--policy", "bad.json", FILES, "runs.jsonl")), 5);
    expect_file(&f, "j.xml", "type=\"undecided\"");
    expect_file(&f, "s.json", "\"ruleId\": \"verdict\"");
    expect_file(&f, "q.json", "\"check_name\": \"verdict\"");
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, FILES, "missing.jsonl")), 5);
    expect_file(&f, "j.xml", "name=\"sources\"");
    expect_file(&f, "q.json", "\"check_name\": \"sources\"");
    gate_forged_end(&f);
}

static bool has_temporary(const gate_forged *f) {
    bool found = false;
    DIR *folder = opendir(f->c.folder);
    cr_assert_not_null(folder);
    for (const struct dirent *file = readdir(folder); file != NULL; file = readdir(folder))
        if (strstr(file->d_name, ".tmp") != NULL) found = true;
    closedir(folder);
    return found;
}

/* A pass whose report can't be written is none, on standard output and in the other files as well, which are written
 * all the same; a refusal stays one. */
Test(gate_reports, a_file_that_cannot_be_written) {
    gate_forged f;
    gate_forged_begin(&f);
    gate_forged_write(&f);
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "--sarif", "s.json", "runs.jsonl")), 0);
    EXPECT_HAS(f.c.end.out, "\ngate: passed: ");
    expect_file(&f, "s.json", "\"results\": []");
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "--junit", "no/such/j.xml", "--sarif", "s.json", "runs.jsonl")), 5);
    EXPECT_HAS(f.c.end.out, "\ngate: undecided: ");
    EXPECT_HAS_NOT(f.c.end.out, "gate: passed");
    EXPECT_HAS(f.c.end.err, "the JUnit report: the file can't be written");
    expect_file(&f, "s.json", "\"ruleId\": \"verdict\"");
    cr_expect_not(has_temporary(&f));
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "--codequality", "no/such/folder.json", "runs.jsonl")), 5);
    EXPECT_TEXT(&f.c, "code", "io");
    EXPECT_TEXT(&f.c, "where", "no/such/folder.json");
    EXPECT_TEXT(&f.c, "verdict", "unchecked");
    f.runs[0].exit_codes[0] = f.runs[1].exit_codes[0] = 1;
    gate_forged_write(&f);
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "--junit", "no/such/j.xml", "runs.jsonl")), 1);
    EXPECT_TEXT(&f.c, "code", "gate-work-failed");
    EXPECT_HAS(cli_text(&f.c, "message"), "the JUnit report: the file can't be written");
    gate_forged_end(&f);
}

/* ---- GitHub ---------------------------------------------------------------------------------------------------------
 */

static const char *const on_github[] = {"PLIMSOLL_CALLER_TOKEN", "COUNTERSIGN_KEY", "GITHUB_ACTIONS=true",
                                        "GITHUB_STEP_SUMMARY=summary.md", NULL};

Test(gate_reports, a_step_of_a_workflow) {
    gate_forged f;
    gate_forged_begin(&f);
    gate_forged_write(&f);
    cli_write_text(&f.c, "summary.md", "of another step\n");
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "runs.jsonl")), 0);
    EXPECT_HAS_NOT(f.c.end.out, "::error");
    f.c.how.env = on_github;
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "runs.jsonl")), 0);
    EXPECT_HAS_NOT(f.c.end.out, "::error");
    expect_file(&f, "summary.md", "of another step\n## countersign gate: passed\n");
    f.runs[0].contents[0] = f.runs[1].contents[0] = "answer=43\n";
    gate_forged_write(&f);
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "runs.jsonl")), 1);
    EXPECT_HAS(f.c.end.out,
               "::error file=src/main.sh,title=countersign gate%3A tests%3A bind::tests: bind: src/main.sh");
    expect_file(&f, "summary.md", "## countersign gate: passed\n");
    expect_file(&f, "summary.md", "## countersign gate: refused\n");
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "runs.jsonl")), 1);
    cli_write_text(&f.c, "hostile.json", "{\"##[add-mask]x\":1}");
    EXPECT_EXIT(&f.c, cli_run(&f.c, ARGS("gate", "--policy", "hostile.json", "runs.jsonl")), 5);
    EXPECT_HAS_NOT(f.c.end.err, "##[");
    EXPECT_HAS_NOT(f.c.end.out, "##[");
    gate_forged_end(&f);
}

/* The summary is of the same verdict as all else: one that can't be written leaves no pass. */
Test(gate_reports, a_step_whose_summary_cannot_be_written) {
    static const char *const without[] = {"PLIMSOLL_CALLER_TOKEN", "COUNTERSIGN_KEY", "GITHUB_ACTIONS=true",
                                          "GITHUB_STEP_SUMMARY=no/such/summary.md", NULL};
    gate_forged f;
    gate_forged_begin(&f);
    gate_forged_write(&f);
    f.c.how.env = without;
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "--sarif", "s.json", "runs.jsonl")), 5);
    EXPECT_HAS(f.c.end.out, "\ngate: undecided: ");
    expect_file(&f, "s.json", "\"ruleId\": \"verdict\"");
    f.c.how.env = on_github;
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "--junit", "no/such/j.xml", "runs.jsonl")), 5);
    expect_file(&f, "summary.md", "## countersign gate: undecided\n");
    gate_forged_end(&f);
}

/* ---- what was judged, and by what
 * ------------------------------------------------------------------------------------- */

/* A repository that is found above the folder that was named is named itself. */
Test(gate_reports, the_top_says_what_was_judged) {
    gate_forged f;
    char policy[65];
    gate_forged_begin(&f);
    gate_forged_write(&f);
    char *real = realpath(f.repo, NULL);
    cr_assert_not_null(real);
    const char *below = forge_text("%s/src", f.repo);
    const char *const *arguments =
        ARGS("gate", "--policy", "policy.json", "--repo", below, "--rev", "main", "runs.jsonl");
    EXPECT_EXIT(&f.c, cli_json(&f.c, arguments), 0);
    EXPECT_TEXT(&f.c, "repository.work_tree", forge_text("%s/", real));
    EXPECT_TEXT(&f.c, "repository.git_directory", forge_text("%s/.git/", real));
    (void)snprintf(policy, sizeof policy, "%s", cli_text(&f.c, "policy.sha256"));
    EXPECT_EXIT(&f.c, cli_run(&f.c, arguments), 0);
    const char *top = forge_text("repository: %s, git directory %s/.git\n"
                                 "revision: %s, named as \"main\"\n"
                                 "base: none was named\n"
                                 "policy: SHA-256 %s, a file outside of the repository: policy.json\n"
                                 "requirement tests: ",
                                 real, real, f.rev, policy);
    cr_expect_eq(strncmp(f.c.end.out, top, strlen(top)), 0, "not '%s' but: %s", top, f.c.end.out);
    f.c.how.env = on_github;
    EXPECT_EXIT(&f.c, cli_run(&f.c, arguments), 0);
    expect_file(&f, "summary.md", forge_text("\n- revision: `%s, named as \"main\"`\n", f.rev));
    free(real);
    gate_forged_end(&f);
}

/* ---- where the policy comes from
 * --------------------------------------------------------------------------------------- */

Test(gate_reports, a_policy_of_the_work_tree_is_warned_of) {
    gate_forged f;
    gate_forged_begin(&f);
    gate_forged_write(&f);
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "runs.jsonl")), 0);
    cr_expect_str_eq(f.c.end.err, "");
    char *policy = read_text(&f, "policy.json");
    repository_write(f.repo, "gate/policy.json", policy, strlen(policy));
    free(policy);
    const char *inside = forge_text("%s/gate/policy.json", f.repo);
    EXPECT_EXIT(&f.c, cli_run(&f.c, ARGS("gate", "--policy", inside, "--repo", f.repo, "--rev", "main", "runs.jsonl")),
                0);
    EXPECT_HAS(f.c.end.err, "countersign gate: warning: the policy was read from the work tree");
    /* Also when a link from elsewhere leads into it. */
    cr_assert_eq(symlink(inside, forge_text("%s/link.json", f.c.folder)), 0);
    EXPECT_EXIT(&f.c,
                cli_json(&f.c, ARGS("gate", "--policy", "link.json", "--repo", f.repo, "--rev", "main", "runs.jsonl")),
                0);
    cr_expect_eq(json_array_size(cli_member(&f.c, "warnings")), 1);
    /* And when a link of the work tree leads out of it. */
    const char *outside = forge_text("%s/policy.json", f.c.folder);
    EXPECT_EXIT(&f.c,
                cli_json(&f.c, ARGS("gate", "--policy", outside, "--repo", f.repo, "--rev", "main", "runs.jsonl")), 0);
    cr_expect_eq(json_array_size(cli_member(&f.c, "warnings")), 0);
    cr_assert_eq(symlink(outside, forge_text("%s/gate/out.json", f.repo)), 0);
    EXPECT_EXIT(&f.c,
                cli_json(&f.c, ARGS("gate", "--policy", forge_text("%s/gate/out.json", f.repo), "--repo", f.repo,
                                    "--rev", "main", "runs.jsonl")),
                0);
    cr_expect_eq(json_array_size(cli_member(&f.c, "warnings")), 1);
    EXPECT_EXIT(&f.c,
                cli_json(&f.c, ARGS("gate", "--policy", "gate/policy.json", "--policy-from", "main", "--repo", f.repo,
                                    "--rev", "main", "runs.jsonl")),
                5);
    EXPECT_TEXT(&f.c, "code", "io");
    EXPECT_HAS(cli_text(&f.c, "message"), "has no file gate/policy.json");
    gate_forged_end(&f);
}

static int judge_from_base(gate_forged *f, const char *policy) {
    return cli_json(
        &f->c, ARGS("gate", "--policy", policy, "--repo", f->repo, "--rev", "main", "--base", f->rev, "runs.jsonl"));
}

/* A policy that compares with the base refuses it; any other warns. Then the base is another commit. */
Test(gate_reports, a_base_that_is_the_revision) {
    gate_forged f;
    gate_forged_begin(&f);
    gate_forged_write(&f);
    gate_forged_policy(&f, "protect.json", "", ",\"protect\":[\"src/m*.sh\"]");
    EXPECT_EXIT(&f.c, judge_from_base(&f, "protect.json"), 1);
    EXPECT_TEXT(&f.c, "code", "gate-protected");
    EXPECT_HAS(cli_text(&f.c, "message"), "nothing was compared: the base is the very commit that is judged");
    cr_expect_eq(cli_number(&f.c, "refusals"), 1);
    cr_expect_eq(json_array_size(cli_member(&f.c, "warnings")), 0);
    EXPECT_EXIT(&f.c, judge_from_base(&f, "policy.json"), 0);
    cr_assert_eq(json_array_size(cli_member(&f.c, "warnings")), 1);
    EXPECT_HAS(cli_text(&f.c, "warnings.0"), "the base is the very commit that is judged");
    repository_git(f.repo, "commit", "-q", "--allow-empty", "-m", "next");
    EXPECT_EXIT(&f.c, judge_from_base(&f, "protect.json"), 0);
    cr_expect_eq(json_array_size(cli_member(&f.c, "warnings")), 0);
    EXPECT_EXIT(&f.c, judge_from_base(&f, "policy.json"), 0);
    cr_expect_eq(json_array_size(cli_member(&f.c, "warnings")), 0);
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "runs.jsonl")), 0);
    cr_expect_eq(json_array_size(cli_member(&f.c, "warnings")), 0, "none is named");
    gate_forged_end(&f);
}

/* Both are said, when all three are one commit. */
Test(gate_reports, a_policy_of_the_base_that_is_the_revision) {
    gate_forged f;
    gate_forged_begin(&f);
    char *policy = read_text(&f, "policy.json");
    repository_write(f.repo, "gate/policy.json", policy, strlen(policy));
    free(policy);
    repository_commit(f.repo, f.rev);
    gate_forged_write(&f);
    EXPECT_EXIT(&f.c,
                cli_json(&f.c, ARGS("gate", "--policy", "gate/policy.json", "--policy-from", "main", "--repo", f.repo,
                                    "--rev", "main", "--base", "main", "runs.jsonl")),
                0);
    cr_assert_eq(json_array_size(cli_member(&f.c, "warnings")), 2);
    EXPECT_HAS(cli_text(&f.c, "warnings.0"), "the base is the very commit that is judged");
    EXPECT_HAS(cli_text(&f.c, "warnings.1"), "the policy was read from the very commit that is judged");
    gate_forged_end(&f);
}

static void expect_usage(gate_forged *f, const char *part, const char *const arguments[]) {
    EXPECT_EXIT(&f->c, cli_json(&f->c, arguments), 2);
    EXPECT_HAS(cli_text(&f->c, "message"), part);
}

Test(gate_reports, what_is_missing_is_named_by_its_rule) {
    gate_forged f;
    gate_forged_begin(&f);
    gate_forged_write(&f);
    gate_forged_policy(&f, "protect.json", "", ",\"protect\":[\"src/m*.sh\"]");
    expect_usage(&f, "--policy", ARGS("gate", "runs.jsonl"));
    expect_usage(&f, "an argument is missing", ARGS("gate", "--policy", "policy.json"));
    expect_usage(&f, "the policy's rule bind of tests needs --rev",
                 ARGS("gate", "--policy", "policy.json", "--repo", f.repo, "runs.jsonl"));
    expect_usage(&f, "the policy's rule protect needs --rev",
                 ARGS("gate", "--policy", "protect.json", "--repo", f.repo, "runs.jsonl"));
    expect_usage(&f, "the policy's rule protect needs --base",
                 ARGS("gate", "--policy", "protect.json", "--repo", f.repo, "--rev", "main", "runs.jsonl"));
    expect_usage(&f, "a path in the repository",
                 ARGS("gate", "--policy", "./policy.json", "--policy-from", "main", "--repo", f.repo, "runs.jsonl"));
    expect_usage(&f, "--repo-owner takes self|any", ARGS("gate", "--repo-owner", "root", "runs.jsonl"));
    gate_forged_end(&f);
}

/* ---- another owner
 * ------------------------------------------------------------------------------------------------------ */

Test(gate_reports, a_repository_of_another_user) {
    if (geteuid() != 0) {
        cr_assert(getenv("CI") == NULL && getenv("COUNTERSIGN_REQUIRE_ALL") == NULL, "this needs root");
        cr_skip_test("only root can give a folder to another user");
    }
    gate_forged f;
    gate_forged_begin(&f);
    gate_forged_write(&f);
    cr_assert_eq(unsetenv("SUDO_UID"), 0);
    cr_assert_eq(chown(f.repo, 12345, 12345), 0);
    cr_assert_eq(chown(forge_text("%s/.git", f.repo), 12345, 12345), 0);
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "runs.jsonl")), 5);
    EXPECT_TEXT(&f.c, "code", "git-unreadable");
    EXPECT_HAS(cli_text(&f.c, "message"), "--repo-owner any");
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "--repo-owner", "self", "runs.jsonl")), 5);
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "--repo-owner", "any", "runs.jsonl")), 0);
    gate_forged_end(&f);
}
