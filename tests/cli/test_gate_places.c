/* No output of a gate takes the place of what is read, of what must stay, or of another output. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cli/gate_forged.h"
#include "tests/gate/repository.h"

#define WRITTEN "new.xml"

static char *content(const gate_forged *f, const char *name, size_t *len) {
    char *bytes = file_read(name[0] == '/' ? name : forge_text("%s/%s", f->c.folder, name), len);
    cr_assert_not_null(bytes, "%s", name);
    return bytes;
}

/* What is kept is as it was, byte for byte. */
static void expect_usage(gate_forged *f, const char *kept, const char *says, const char *const arguments[]) {
    size_t before_len = 0;
    size_t after_len = 0;
    char *before = kept != NULL ? content(f, kept, &before_len) : NULL;
    EXPECT_EXIT(&f->c, cli_json(&f->c, arguments), 2);
    EXPECT_TEXT(&f->c, "code", "usage");
    EXPECT_HAS(cli_text(&f->c, "message"), says);
    cr_expect_null(cli_member(&f->c, "sections"), "nothing is judged");
    char *after = kept != NULL ? content(f, kept, &after_len) : NULL;
    cr_expect(before_len == after_len && (before == NULL || memcmp(before, after, before_len) == 0), "%s", kept);
    free(before);
    free(after);
}

static void begin(gate_forged *f) {
    gate_forged_begin(f);
    cli_keys(&f->c);
    gate_forged_write(f);
}

static bool is_there(const gate_forged *f, const char *name) {
    struct stat info;
    return lstat(forge_text("%s/%s", f->c.folder, name), &info) == 0;
}

#define SAME(a, b) a " and " b " name the same file, which would be replaced"

Test(gate_places, an_input) {
    gate_forged f;
    begin(&f);
    static const char *const options[] = {"--junit", "--sarif", "--codequality", "--attest"};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        expect_usage(&f, "runs.jsonl", forge_text("%s and an INPUT name the same file", options[i]),
                     GATE_FORGED(&f, options[i], "runs.jsonl", "runs.jsonl"));
    expect_usage(&f, "runs.jsonl", SAME("--junit", "an INPUT"),
                 GATE_FORGED(&f, "--junit", forge_text("%s/./runs.jsonl", f.c.folder), "other.jsonl", "runs.jsonl"));
    cr_assert_eq(symlink("runs.jsonl", forge_text("%s/soft", f.c.folder)), 0);
    cr_assert_eq(link(forge_text("%s/runs.jsonl", f.c.folder), forge_text("%s/hard", f.c.folder)), 0);
    expect_usage(&f, "runs.jsonl", SAME("--junit", "an INPUT"), GATE_FORGED(&f, "--junit", "soft", "runs.jsonl"));
    expect_usage(&f, "runs.jsonl", SAME("--junit", "an INPUT"), GATE_FORGED(&f, "--junit", "runs.jsonl", "soft"));
    expect_usage(&f, "runs.jsonl", SAME("--junit", "an INPUT"), GATE_FORGED(&f, "--junit", "hard", "runs.jsonl"));
    /* What SQLite keeps beside a ledger, whether or not it is there now. */
    expect_usage(&f, NULL, SAME("--junit", "an INPUT"), GATE_FORGED(&f, "--junit", "runs.jsonl-wal", "soft"));
    expect_usage(&f, NULL, SAME("--junit", "an INPUT"), GATE_FORGED(&f, "--junit", "l.db-wal", "l.db"));
    cr_expect_not(is_there(&f, "l.db-wal"));
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "--junit", WRITTEN, "runs.jsonl")), 0);
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "--junit", WRITTEN, "runs.jsonl")), 0); /* over its own */
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "--junit", "l.db-wal", "runs.jsonl")), 0);
    gate_forged_end(&f);
}

Test(gate_places, the_key_the_ledger_and_the_policy) {
    gate_forged f;
    begin(&f);
    expect_usage(&f, "k.key", SAME("--junit", "--key"),
                 GATE_FORGED(&f, "--attest", "a.jsonl", "-k", "k.key", "--junit", "k.key", "runs.jsonl"));
    expect_usage(&f, NULL, SAME("--junit", "--ledger"),
                 GATE_FORGED(&f, "-l", "v.db", "-k", "k.key", "--junit", "v.db", "runs.jsonl"));
    expect_usage(&f, NULL, SAME("--attest", "--ledger"),
                 GATE_FORGED(&f, "-l", "v.db", "-k", "k.key", "--attest", "v.db", "runs.jsonl"));
    cr_assert_eq(symlink("v.db", forge_text("%s/later", f.c.folder)), 0);
    expect_usage(&f, NULL, SAME("--junit", "--ledger"),
                 GATE_FORGED(&f, "-l", "later", "-k", "k.key", "--junit", "v.db", "runs.jsonl"));
    cr_expect_not(is_there(&f, "v.db"));
    expect_usage(&f, "policy.json", SAME("--sarif", "--policy"),
                 GATE_FORGED(&f, "--sarif", "policy.json", "runs.jsonl"));
    EXPECT_EXIT(&f.c,
                cli_run(&f.c, GATE_FORGED(&f, "-l", "v.db", "-k", "k.key", "--junit", WRITTEN, "--sarif", "s.json",
                                          "--attest", "a.jsonl", "runs.jsonl")),
                0);
    expect_usage(&f, "v.db", SAME("--junit", "--ledger"),
                 GATE_FORGED(&f, "-l", "v.db", "-k", "k.key", "--junit", "v.db", "runs.jsonl"));
    gate_forged_end(&f);
}

Test(gate_places, another_output) {
    gate_forged f;
    begin(&f);
    expect_usage(&f, NULL, SAME("--junit", "--sarif"),
                 GATE_FORGED(&f, "--junit", "f", "--sarif", forge_text("%s/f", f.c.folder), "runs.jsonl"));
    expect_usage(&f, NULL, SAME("--sarif", "--codequality"),
                 GATE_FORGED(&f, "--codequality", "f", "--sarif", "f", "runs.jsonl"));
    expect_usage(&f, NULL, SAME("--junit", "--attest"),
                 GATE_FORGED(&f, "--attest", "f", "-k", "k.key", "--junit", "f", "runs.jsonl"));
    cr_expect_not(is_there(&f, "f"));
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "--junit", "f", "--sarif", "g", "runs.jsonl")), 0);
    expect_usage(&f, "f", SAME("--junit", "--sarif"), GATE_FORGED(&f, "--junit", "f", "--sarif", "f", "runs.jsonl"));
    /* A name twice, in two folders, is two files. */
    cr_assert_eq(mkdir(forge_text("%s/folder", f.c.folder), 0700), 0);
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "--junit", "h", "--sarif", "folder/h", "runs.jsonl")), 0);
    expect_usage(&f, NULL, "--junit names something that is no file",
                 GATE_FORGED(&f, "--junit", "folder", "runs.jsonl"));
    expect_usage(&f, NULL, "--junit names something that is no file",
                 GATE_FORGED(&f, "--junit", "/dev/null", "runs.jsonl"));
    gate_forged_end(&f);
}

#define OF_GIT "names a file of the git repository itself"

/* Also when what comes before the verdict fails, since the files would be written then, too. */
Test(gate_places, a_file_of_the_repository_itself) {
    gate_forged f;
    begin(&f);
    const char *head = forge_text("%s/.git/HEAD", f.repo);
    expect_usage(&f, head, "--junit " OF_GIT, GATE_FORGED(&f, "--junit", head, "runs.jsonl"));
    expect_usage(&f, NULL, "--sarif " OF_GIT,
                 GATE_FORGED(&f, "--sarif", forge_text("%s/.git/refs/heads/x", f.repo), "runs.jsonl"));
    expect_usage(
        &f, head, "--junit " OF_GIT,
        ARGS("gate", "--policy", "policy.json", "--repo", f.repo, "--rev", "no-such", "--junit", head, "runs.jsonl"));
    expect_usage(&f, head, "--junit " OF_GIT, ARGS("gate", "--policy", "policy.json", "--junit", head, "runs.jsonl"));
    cr_assert_eq(symlink(forge_text("%s/.git", f.repo), forge_text("%s/inside", f.c.folder)), 0);
    expect_usage(&f, head, "--junit " OF_GIT, GATE_FORGED(&f, "--junit", "inside/HEAD", "runs.jsonl"));
    EXPECT_EXIT(&f.c, cli_run(&f.c, GATE_FORGED(&f, "--junit", forge_text("%s/j.xml", f.repo), "runs.jsonl")), 0);
    gate_forged_end(&f);
}

/* One without a work tree has any name; and a linked work tree has a file .git. */
Test(gate_places, a_bare_repository_and_a_linked_work_tree) {
    gate_forged f;
    begin(&f);
    const char *bare = forge_text("%s/bare", f.c.folder);
    const char *tree = forge_text("%s/tree", f.c.folder);
    repository_git(f.repo, "clone", "-q", "--bare", f.repo, bare);
    repository_git(bare, "worktree", "add", "-q", "--detach", tree, "main");
#define AT(repo, file)                                                                                                 \
    ARGS("gate", "--policy", "policy.json", "--repo", repo, "--rev", "main", "--junit", file, "runs.jsonl")
    const char *head = forge_text("%s/HEAD", bare);
    expect_usage(&f, head, "--junit " OF_GIT, AT(bare, head));
    expect_usage(&f, head, "--junit " OF_GIT, AT(tree, head));
    const char *file = forge_text("%s/.git", tree);
    expect_usage(&f, file, "--junit " OF_GIT, AT(tree, file));
    EXPECT_EXIT(&f.c, cli_run(&f.c, AT(bare, WRITTEN)), 0);
    EXPECT_EXIT(&f.c, cli_run(&f.c, AT(tree, forge_text("%s/j.xml", tree))), 0);
    gate_forged_end(&f);
}

/* The policy of the base is what is judged by; the file in the work tree isn't read, and stays. */
Test(gate_places, the_policy_of_the_work_tree) {
    gate_forged f;
    begin(&f);
    size_t len = 0;
    char *policy = content(&f, "policy.json", &len);
    repository_write(f.repo, "gate/policy.json", policy, len);
    free(policy);
    repository_commit(f.repo, f.rev);
    const char *inside = forge_text("%s/gate/policy.json", f.repo);
#define FROM(file)                                                                                                     \
    ARGS("gate", "--policy", "gate/policy.json", "--policy-from", "main", "--repo", f.repo, "--rev", "main",           \
         "--junit", file, "runs.jsonl")
    expect_usage(&f, inside, SAME("--junit", "--policy"), FROM(inside));
    EXPECT_EXIT(&f.c, cli_run(&f.c, FROM(forge_text("%s/gate/j.xml", f.repo))), 0);
    gate_forged_end(&f);
}
