/* The examples of examples/ci, run as far as they go without the services: the hook by a real `git push`, the steps of
 * the workflows by sh. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cli/gate_scene.h"
#include "tests/gate/repository.h"

static char *path_of(const char *file) {
    char path[1024];
    exec_built(forge_text("../%s", file), path);
    if (access(path, R_OK) == 0) return forge_text("%s", path);
    char *here = realpath(file, NULL);
    cr_assert_not_null(here, "%s", file);
    char *text = forge_text("%s", here);
    free(here);
    return text;
}

/* Run anything in the scene's repository. */
static int run_there(gate_scene *s, const char *const argv[]) {
    exec_how how = s->c.how;
    how.folder = s->repo;
    exec_free(&s->c.end);
    exec_run(&how, argv, &s->c.end);
    return s->c.end.status;
}

/* ---- the hook ------------------------------------------------------------------------------------------------------
 */

static char bare[160];

static int push(gate_scene *s, const char *what) {
    return run_there(s, ARGS("git", "push", "-q", "--force", bare, what));
}

static void expect_refused(gate_scene *s, const char *what, const char *why) {
    int status = push(s, what);
    cr_expect_eq(status, 1, "%s: %d: %s", what, status, s->c.end.err);
    EXPECT_HAS(s->c.end.err, why);
    EXPECT_HAS(s->c.end.err, "pre-receive hook declined");
}

static const char *branch(void) {
    static char id[64];
    repository_ask(bare, id, "rev-parse", "refs/heads/main");
    return id;
}

static void make_bare(gate_scene *s) {
    char program[1024];
    exec_built("countersign", program);
    (void)snprintf(bare, sizeof bare, "%s/bare.git", s->c.folder);
    repository_git(s->repo, "clone", "-q", "--bare", s->repo, bare);
    repository_git(bare, "config", "countersign.program", program);
    repository_git(bare, "config", "countersign.records", forge_text("%s/l.db", s->c.folder));
    size_t len = 0;
    char *hook = file_read(path_of("examples/ci/pre-receive"), &len);
    cr_assert_not_null(hook);
    const char *path = forge_text("%s/hooks/pre-receive", bare);
    (void)mkdir(forge_text("%s/hooks", bare), 0755);
    file_write(path, hook, len);
    cr_assert_eq(chmod(path, 0755), 0);
    free(hook);
}

Test(gate_ci, a_push_is_judged_by_the_hook) {
    gate_scene s;
    char weak[41];
    gate_scene_begin(&s);
    make_bare(&s);
    expect_refused(&s, forge_text("%s:refs/heads/main", s.rev), "is not let through (exit 5)"); /* there is no ledger */
    gate_scene_run(&s, gate_scene_request(&s, s.base), &s.process, "k.key", "l.db");
    expect_refused(&s, forge_text("%s:refs/heads/main", s.rev), "[gate-bind]");
    cr_expect_str_eq(branch(), s.base);
    /* No other branch is guarded. */
    cr_expect_eq(push(&s, forge_text("%s:refs/heads/draft", s.rev)), 0, "%s", s.c.end.err);
    gate_scene_run(&s, gate_scene_request(&s, s.rev), &s.process, "k.key", "l.db");
    gate_scene_run(&s, gate_scene_request(&s, s.rev), &s.container, "k.key", "l.db");
    cr_expect_eq(push(&s, forge_text("%s:refs/heads/main", s.rev)), 0, "%s", s.c.end.err);
    EXPECT_HAS(s.c.end.err, "gate: passed");
    cr_expect_str_eq(branch(), s.rev);
    GATE_COMMIT(&s, s.rev, weak, {".gate/policy.json", "{}\n"});
    expect_refused(&s, forge_text("%s:refs/heads/main", weak), "[gate-protected]");
    expect_refused(&s, forge_text("%s:refs/heads/main", s.base), "a guarded branch only goes forward");
    expect_refused(&s, ":refs/heads/main", "a guarded branch is not removed");
    cr_expect_str_eq(branch(), s.rev);
    repository_git(bare, "config", "countersign.branch", "refs/heads/release");
    expect_refused(&s, forge_text("%s:refs/heads/release", s.rev), "'refs/heads/release' is no branch");
    gate_scene_end(&s);
}

/* A name that is none would guard nothing, whatever is pushed; with a good one the draft is taken. */
Test(gate_ci, a_guarded_name_that_is_none_refuses_every_push) {
    static const char *const names[] = {"main",       "refs/heads/main ",     "",
                                        "heads/main", "refs/heads/release/*", "refs/tags/v1"};
    gate_scene s;
    gate_scene_begin(&s);
    make_bare(&s);
    const char *draft = forge_text("%s:refs/heads/draft", s.rev);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        repository_git(bare, "config", "--replace-all", "countersign.branch", names[i]);
        expect_refused(&s, draft,
                       forge_text("every push is refused: countersign.branch '%s' is no full name", names[i]));
        repository_git(bare, "config", "--add", "countersign.branch", "refs/heads/main");
        expect_refused(&s, draft,
                       forge_text("every push is refused: countersign.branch '%s' is no full name", names[i]));
        repository_git(bare, "config", "--unset-all", "countersign.branch");
    }
    repository_git(bare, "config", "countersign.branch", "refs/heads/main");
    cr_expect_eq(push(&s, draft), 0, "%s", s.c.end.err);
    gate_scene_end(&s);
}

/* A misspelt one would too. */
Test(gate_ci, a_guarded_branch_that_is_not_there_refuses_every_push) {
    gate_scene s;
    gate_scene_begin(&s);
    make_bare(&s);
    const char *draft = forge_text("%s:refs/heads/draft", s.rev);
    repository_git(bare, "config", "countersign.branch", "refs/heads/mian");
    expect_refused(&s, draft, "every push is refused: countersign.branch 'refs/heads/mian' is no branch of this repo");
    repository_git(bare, "config", "--add", "countersign.branch", "refs/heads/main");
    expect_refused(&s, draft, "every push is refused: countersign.branch 'refs/heads/mian' is no branch of this repo");
    repository_git(bare, "branch", "mian", "main");
    cr_expect_eq(push(&s, draft), 0, "%s", s.c.end.err);
    gate_scene_end(&s);
}

/* A push to another name of a guarded branch is one to that branch, whichever of them is configured. */
Test(gate_ci, a_symbolic_ref_is_what_it_leads_to) {
    gate_scene s;
    gate_scene_begin(&s);
    make_bare(&s);
    const char *alias = forge_text("%s:refs/heads/trunk", s.rev);
    repository_git(bare, "symbolic-ref", "refs/heads/trunk", "refs/heads/alias");
    repository_git(bare, "symbolic-ref", "refs/heads/alias", "refs/heads/main");
    expect_refused(&s, alias, "refs/heads/trunk: ");
    repository_git(bare, "config", "countersign.branch", "refs/heads/trunk");
    expect_refused(&s, forge_text("%s:refs/heads/main", s.rev), "refs/heads/main: ");
    cr_expect_str_eq(branch(), s.base);
    repository_git(bare, "branch", "other", "main");
    repository_git(bare, "config", "countersign.branch", "refs/heads/other");
    cr_expect_eq(push(&s, alias), 0, "%s", s.c.end.err);
    cr_expect_str_eq(branch(), s.rev);
    gate_scene_end(&s);
}

/* ---- workflows
 * -------------------------------------------------------------------------------------------------------- */

#define MAX_WORDS 24

/* A step of one of the files; skips without yaml. */
static int step(gate_scene *s, const char *file, const char *place, const char *const given[]) {
    const char *argv[MAX_WORDS + 5] = {"/usr/bin/python3", path_of("tests/cli/ci_step.py"), path_of(file), place};
    for (size_t i = 0; given[i] != NULL; i++) {
        cr_assert_lt(i, MAX_WORDS);
        argv[4 + i] = given[i];
    }
    int status = run_there(s, argv);
    if (status != 77) return status;
    cr_assert(getenv("CI") == NULL && getenv("COUNTERSIGN_REQUIRE_ALL") == NULL, "%s", s->c.end.err);
    gate_scene_end(s);
    cr_skip_test("python3 has no yaml");
    return status;
}

static char *key_text(const gate_scene *s) {
    size_t len = 0;
    char *key = file_read(forge_text("%s/k.key", s->c.folder), &len);
    cr_assert_not_null(key);
    char *text = forge_text("secrets.COUNTERSIGN_KEY=%s", key);
    free(key);
    return text;
}

/* Outside of the check-out. */
static const char *temporary(const gate_scene *s, const char *name) {
    return forge_text("%s/temporary/%s", s->c.folder, name);
}

/* Where the target branch is. */
static void make_origin(gate_scene *s) {
    const char *origin = forge_text("%s/origin.git", s->c.folder);
    repository_git(s->repo, "clone", "-q", "--bare", s->repo, origin);
    repository_git(s->repo, "remote", "add", "origin", origin);
    cr_assert_eq(mkdir(forge_text("%s/temporary", s->c.folder), 0700), 0);
}

/* A commit on the base that asks for more tests than there are. */
static void tighten(gate_scene *s, char tip[41]) {
    json_t *policy = gate_scene_policy(s);
    json_t *tests = json_object_get(gate_scene_requirement(policy), "tests");
    cr_assert_eq(json_object_set_new(tests, "min_executed", json_integer(99)), 0);
    char *text = json_dumps(policy, JSON_INDENT(1));
    json_decref(policy);
    cr_assert_not_null(text);
    GATE_COMMIT(s, s->base, tip, {".gate/policy.json", text});
    free(text);
    repository_git(s->repo, "checkout", "-q", s->base);
}

/* The target moves on, after the patch was begun. */
static void move_target(const gate_scene *s, const char *tip) {
    repository_git(s->repo, "push", "-q", "origin", forge_text("%s:refs/heads/main", tip));
}

/* To another user, as in a container: git itself would not open it. */
static void give_away(const gate_scene *s) {
    if (geteuid() != 0) return;
    cr_assert_eq(chown(s->repo, 12345, 12345), 0);
    cr_assert_eq(chown(forge_text("%s/.git", s->repo), 12345, 12345), 0);
}

static void take_back(const gate_scene *s) {
    if (geteuid() != 0) return;
    cr_assert_eq(chown(s->repo, 0, 0), 0);
    cr_assert_eq(chown(forge_text("%s/.git", s->repo), 0, 0), 0);
}

static void expect_records(gate_scene *s) {
    char *tools = path_of("examples/ci");
    make_origin(s);
    /* What the patch puts into the check-out is neither written to nor taken. */
    cr_assert_eq(symlink("../victim", forge_text("%s/request.json", s->repo)), 0);
    cr_assert_eq(symlink("../victim", forge_text("%s/ledger.db", s->repo)), 0);
    cr_assert_eq(symlink("../victim", forge_text("%s/records.jsonl", s->repo)), 0);
    int status = step(s, "examples/ci/workflow.yml", "jobs.records.steps.1",
                      ARGS(forge_text("github.event.pull_request.head.sha=%s", s->rev),
                           "github.event.pull_request.base.ref=main", forge_text("vars.COUNTERSIGN_TOOLS=%s", tools),
                           forge_text("vars.COUNTERSIGN_DAEMONS=%s %s", s->process.url, s->container.url), key_text(s),
                           "secrets.PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN));
    cr_assert_eq(status, 0, "%s%s", s->c.end.out, s->c.end.err);
    cr_assert_eq(access(temporary(s, "records/records.jsonl"), R_OK), 0);
    cr_assert_neq(access(temporary(s, "records/ledger.db-wal"), F_OK), 0, "the ledger is one file");
    cr_expect_neq(access(forge_text("%s/victim", s->c.folder), F_OK), 0);
    static const char *const planted[] = {"request.json", "ledger.db", "records.jsonl"};
    for (size_t i = 0; i < sizeof planted / sizeof planted[0]; i++)
        cr_assert_eq(unlink(forge_text("%s/%s", s->repo, planted[i])), 0);
}

/* ---- the request ---------------------------------------------------------------------------------------------- */

/* The program with these words; what it says is one line, with this in it, and nothing is printed. */
static void expect_no_request(gate_scene *s, const char *const words[], const char *says) {
    const char *argv[MAX_WORDS + 3] = {"/usr/bin/python3", path_of("examples/ci/request.py")};
    for (size_t i = 0; words[i] != NULL; i++) {
        cr_assert_lt(i, MAX_WORDS);
        argv[2 + i] = words[i];
    }
    int status = run_there(s, argv);
    cr_expect_eq(status, 2, "%d: %s", status, s->c.end.err);
    EXPECT_HAS(s->c.end.err, says);
    const char *end = strchr(s->c.end.err, '\n');
    cr_expect(strncmp(s->c.end.err, "request.py: ", 12) == 0 && end != NULL && end[1] == '\0', "%s", s->c.end.err);
    cr_expect_str_eq(s->c.end.out, "");
}

Test(gate_ci, what_is_no_request_is_told_in_one_line) {
    gate_scene s;
    char other[41];
    char id[64];
    gate_scene_begin(&s);
    const char *good[] = {"/usr/bin/python3", path_of("examples/ci/request.py"), s.rev, "true", "a.xml", "src", NULL};
    cr_expect_eq(run_there(&s, good), 0, "%s", s.c.end.err);
    EXPECT_HAS(s.c.end.out, "{\"project\": {\"files\": [{\"path\": \"src/answer.sh\", ");
    cr_expect_str_eq(s.c.end.err, "");
    expect_no_request(&s, ARGS(s.rev, "true", "a.xml"), "usage: request.py REV STEP ARTIFACT PATH...");
    expect_no_request(&s, ARGS("no-such\x1b", "true", "a.xml", "src"),
                      "there is no commit 'no-such\\x1b' here: fatal: ");
    expect_no_request(&s, ARGS("--all", "true", "a.xml", "src"), "there is no commit '--all' here: ");
    expect_no_request(&s, ARGS(s.rev, "true", "a.xml", "src", "no-such"), "has no file at or below 'no-such'");
    expect_no_request(&s, ARGS(s.rev, "tr\xff", "a.xml", "src"), "is no UTF-8 text");
    GATE_COMMIT(&s, s.rev, other, {"src/answer.sh", "answer=\xff\n"});
    expect_no_request(&s, ARGS(other, "true", "a.xml", "src"), "b'src/answer.sh' is no UTF-8 text");
    /* An object that is not there. */
    repository_ask(s.repo, id, "rev-parse", forge_text("%s:src/answer.sh", other));
    cr_assert_eq(unlink(forge_text("%s/.git/objects/%.2s/%s", s.repo, id, id + 2)), 0);
    expect_no_request(&s, ARGS(other, "true", "a.xml", "src"), "b'src/answer.sh' can't be read: ");
    const char *nothing[] = {"PATH=/nonexistent", NULL};
    s.c.how.env = nothing;
    expect_no_request(&s, ARGS(s.rev, "true", "a.xml", "src"), "git can't be run: ");
    const char *elsewhere[] = {"GIT_DIR=/nonexistent", NULL};
    s.c.how.env = elsewhere;
    expect_no_request(&s, ARGS(s.rev, "true", "a.xml", "src"), "not a git repository");
    gate_scene_end(&s);
}

/* The program in the PATH, as on a runner. */
static const char *const *with_path(const gate_scene *s, const char *program) {
    static const char *environment[8];
    char *folder = forge_text("%s", program);
    *strrchr(folder, '/') = '\0';
    environment[0] = forge_text("PATH=%s:%s", folder, getenv("PATH"));
    environment[1] = "GITHUB_ACTIONS";
    environment[2] = "GITHUB_STEP_SUMMARY";
    environment[3] = "COUNTERSIGN_KEY";
    environment[4] = "PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN;
    environment[5] = forge_text("RUNNER_TEMP=%s/temporary", s->c.folder);
    environment[6] = NULL;
    return environment;
}

static const char *text_of(const char *path) {
    size_t len = 0;
    char *text = file_read(path, &len);
    cr_assert_not_null(text, "%s", path);
    char *kept = forge_text("%s", text);
    free(text);
    return kept;
}

static int judge_on_github(gate_scene *s, const char *rev, const char *records) {
    return step(s, "examples/ci/action.yml", "runs.steps.0",
                ARGS(forge_text("inputs.rev=%s", rev), "inputs.target=main", forge_text("inputs.repo=%s", s->repo),
                     forge_text("inputs.records=%s", records), forge_text("inputs.reports=%s", temporary(s, "gate"))));
}

Test(gate_ci, the_steps_of_the_workflows) {
    gate_scene s;
    char program[1024];
    exec_built("countersign", program);
    gate_scene_begin(&s);
    s.c.how.env = with_path(&s, program);
    expect_records(&s);
    const char *ledger = temporary(&s, "records/ledger.db");
    int status = judge_on_github(&s, s.rev, ledger);
    cr_expect_eq(status, 0, "%s%s", s.c.end.out, s.c.end.err);
    EXPECT_HAS(text_of(temporary(&s, "gate/gate.sarif")), "\"results\": []");
    EXPECT_HAS(text_of(temporary(&s, "gate/gate-junit.xml")), "failures=\"0\" errors=\"0\"");
    /* Several records, one path a line, are each one; here the second is none. */
    status = judge_on_github(&s, s.rev, forge_text("%s\nno such; touch planted\n", ledger));
    cr_expect_eq(status, 5, "%s%s", s.c.end.out, s.c.end.err);
    EXPECT_HAS(s.c.end.err, "no such; touch planted");
    cr_expect_neq(access(forge_text("%s/planted", s.repo), F_OK), 0);
    /* A commit that nobody ran. */
    char other[41];
    GATE_COMMIT(&s, s.rev, other, {"src/answer.sh", "answer=43\n"});
    status = judge_on_github(&s, other, ledger);
    cr_expect_eq(status, 1, "%s%s", s.c.end.out, s.c.end.err);
    EXPECT_HAS(text_of(temporary(&s, "gate/gate.sarif")), "\"ruleId\": \"bind\"");
    /* The policy that counts is that of the target as it is now, not as it was where the patch began. */
    tighten(&s, other);
    move_target(&s, other);
    status = judge_on_github(&s, s.rev, ledger);
    cr_expect_eq(status, 1, "%s%s", s.c.end.out, s.c.end.err);
    EXPECT_HAS(s.c.end.err, "[gate-tests-few]");
    gate_scene_end(&s);
}

static int judge_on_gitlab(gate_scene *s, const char *rev, const char *project) {
    return step(s, "examples/ci/gitlab-ci.yml", "countersign-gate",
                ARGS(forge_text("CI_COMMIT_SHA=%s", rev), forge_text("CI_PROJECT_DIR=%s", s->repo),
                     "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main", "CI_MERGE_REQUEST_PROJECT_ID=7",
                     forge_text("CI_PROJECT_ID=%s", project)));
}

static void hand_over(gate_scene *s) {
    cr_assert_eq(mkdir(forge_text("%s/countersign-records", s->repo), 0700), 0);
    cr_assert_eq(rename(temporary(s, "records/ledger.db"), forge_text("%s/countersign-records/ledger.db", s->repo)), 0);
    /* A place for the reports of the patch's choice. */
    cr_assert_eq(symlink(temporary(s, "records"), forge_text("%s/gate-reports", s->repo)), 0);
}

Test(gate_ci, the_job_of_gitlab) {
    gate_scene s;
    char program[1024];
    char other[41];
    char tight[41];
    exec_built("countersign", program);
    gate_scene_begin(&s);
    s.c.how.env = with_path(&s, program);
    expect_records(&s);
    GATE_COMMIT(&s, s.rev, other, {"countersign-records", "a file, or a link to a ledger\n"});
    tighten(&s, tight);
    hand_over(&s);
    const char *report = forge_text("%s/gate-reports/gate-codequality.json", s.repo);
    give_away(&s);
    int status = judge_on_gitlab(&s, s.rev, "7");
    take_back(&s);
    cr_expect_eq(status, 0, "%s%s", s.c.end.out, s.c.end.err);
    cr_expect_str_eq(text_of(report), "[]\n");
    cr_expect_neq(access(temporary(&s, "records/gate-codequality.json"), F_OK), 0, "the link was followed");
    status = judge_on_gitlab(&s, s.rev, "8");
    cr_expect_eq(status, 1, "%s%s", s.c.end.out, s.c.end.err);
    EXPECT_HAS(s.c.end.err, "the gate runs in the project that the merge request is for");
    status = judge_on_gitlab(&s, other, "7");
    cr_expect_eq(status, 1, "%s%s", s.c.end.out, s.c.end.err);
    EXPECT_HAS(s.c.end.err, "the commit has a file or folder countersign-records");
    status = judge_on_gitlab(&s, s.base, "7");
    cr_expect_eq(status, 1, "the base has its two runs, too, and is compared with itself: %s%s", s.c.end.out,
                 s.c.end.err);
    EXPECT_HAS(s.c.end.err, "nothing was compared: the base is the very commit that is judged");
    cr_expect_neq(judge_on_gitlab(&s, "no-such-commit", "7"), 0, "%s%s", s.c.end.out, s.c.end.err);
    move_target(&s, tight);
    status = judge_on_gitlab(&s, s.rev, "7");
    cr_expect_eq(status, 1, "%s%s", s.c.end.out, s.c.end.err);
    EXPECT_HAS(s.c.end.err, "[gate-tests-few]");
    EXPECT_HAS(text_of(report), "\"check_name\": \"tests\"");
    gate_scene_end(&s);
}
