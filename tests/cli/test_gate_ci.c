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
    expect_refused(&s, forge_text("%s:refs/heads/release", s.rev), "is made on the server");
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

static void expect_records(gate_scene *s) {
    char *tools = path_of("examples/ci");
    int status = step(s, "examples/ci/workflow.yml", "jobs.records.steps.1",
                      ARGS(forge_text("github.event.pull_request.head.sha=%s", s->rev),
                           forge_text("github.event.pull_request.base.sha=%s", s->base),
                           forge_text("vars.COUNTERSIGN_TOOLS=%s", tools),
                           forge_text("vars.COUNTERSIGN_DAEMONS=%s %s", s->process.url, s->container.url), key_text(s),
                           "secrets.PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN));
    cr_assert_eq(status, 0, "%s%s", s->c.end.out, s->c.end.err);
    cr_assert_eq(access(forge_text("%s/records.jsonl", s->repo), R_OK), 0);
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
static const char *const *with_path(const char *program) {
    static const char *environment[8];
    char *folder = forge_text("%s", program);
    *strrchr(folder, '/') = '\0';
    environment[0] = forge_text("PATH=%s:%s", folder, getenv("PATH"));
    environment[1] = "GITHUB_ACTIONS";
    environment[2] = "GITHUB_STEP_SUMMARY";
    environment[3] = "COUNTERSIGN_KEY";
    environment[4] = "PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN;
    environment[5] = NULL;
    return environment;
}

static const char *file_there(const gate_scene *s, const char *name) {
    size_t len = 0;
    char *text = file_read(forge_text("%s/%s", s->repo, name), &len);
    cr_assert_not_null(text, "%s", name);
    char *kept = forge_text("%s", text);
    free(text);
    return kept;
}

Test(gate_ci, the_steps_of_the_workflows) {
    gate_scene s;
    char program[1024];
    exec_built("countersign", program);
    gate_scene_begin(&s);
    s.c.how.env = with_path(program);
    expect_records(&s);
    const char *rev = forge_text("inputs.rev=%s", s.rev);
    const char *base = forge_text("inputs.base=%s", s.base);
    int status = step(&s, "examples/ci/action.yml", "runs.steps.0", ARGS(rev, base, "inputs.records=records.jsonl"));
    cr_expect_eq(status, 0, "%s%s", s.c.end.out, s.c.end.err);
    EXPECT_HAS(file_there(&s, "gate.sarif"), "\"results\": []");
    EXPECT_HAS(file_there(&s, "gate-junit.xml"), "failures=\"0\" errors=\"0\"");
    /* Several records, one path a line, are each one; here the second is none. */
    status = step(&s, "examples/ci/action.yml", "runs.steps.0",
                  ARGS(rev, base, "inputs.records=records.jsonl\nno such; touch planted\n"));
    cr_expect_eq(status, 5, "%s%s", s.c.end.out, s.c.end.err);
    EXPECT_HAS(s.c.end.err, "no such; touch planted");
    cr_expect_neq(access(forge_text("%s/planted", s.repo), F_OK), 0);
    /* A commit that nobody ran. */
    char other[41];
    GATE_COMMIT(&s, s.rev, other, {"src/answer.sh", "answer=43\n"});
    status = step(&s, "examples/ci/action.yml", "runs.steps.0",
                  ARGS(forge_text("inputs.rev=%s", other), base, "inputs.records=records.jsonl"));
    cr_expect_eq(status, 1, "%s%s", s.c.end.out, s.c.end.err);
    EXPECT_HAS(file_there(&s, "gate.sarif"), "\"ruleId\": \"bind\"");
    gate_scene_end(&s);
}

Test(gate_ci, the_job_of_gitlab) {
    gate_scene s;
    char program[1024];
    exec_built("countersign", program);
    gate_scene_begin(&s);
    s.c.how.env = with_path(program);
    expect_records(&s);
    const char *base = forge_text("CI_MERGE_REQUEST_DIFF_BASE_SHA=%s", s.base);
    int status =
        step(&s, "examples/ci/gitlab-ci.yml", "countersign-gate", ARGS(forge_text("CI_COMMIT_SHA=%s", s.rev), base));
    cr_expect_eq(status, 0, "%s%s", s.c.end.out, s.c.end.err);
    cr_expect_str_eq(file_there(&s, "gate-codequality.json"), "[]\n");
    status =
        step(&s, "examples/ci/gitlab-ci.yml", "countersign-gate", ARGS(forge_text("CI_COMMIT_SHA=%s", s.base), base));
    cr_expect_eq(status, 1, "the base has its two runs, too, and is compared with itself: %s%s", s.c.end.out,
                 s.c.end.err);
    EXPECT_HAS(s.c.end.err, "nothing was compared: the base is the very commit that is judged");
    status = step(&s, "examples/ci/gitlab-ci.yml", "countersign-gate", ARGS("CI_COMMIT_SHA=no-such-commit", base));
    cr_expect_eq(status, 5, "%s%s", s.c.end.out, s.c.end.err);
    EXPECT_HAS(file_there(&s, "gate-codequality.json"), "\"check_name\": \"verdict\"");
    gate_scene_end(&s);
}
