/* The protected paths: what a submodule, or a symbolic link, could bring. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gate/judge_internal.h"
#include "tests/gate/gate_case.h"
#include "tests/gate/repository.h"

#define ONE "1111111111111111111111111111111111111111"
#define TWO "2222222222222222222222222222222222222222"

/* ---- submodules ------------------------------------------------------------------------------------------------- */

/* Commit what the index has, and read it as the revision. */
static void commit_index(gate_case *c) {
    char id[48];
    repository_git(c->folder, "commit", "-q", "--allow-empty", "-m", "next");
    repository_ask(c->folder, id, "rev-parse", "HEAD");
    cs_tree_free(&c->rev);
    cr_assert_eq(cs_tree_read(c->repo, id, &c->rev, &c->err), CS_OK, "%s", c->err.message);
}

static void put_submodule(gate_case *c, const char *path, const char *id) {
    char entry[128];
    (void)snprintf(entry, sizeof entry, "160000,%s,%s", id, path);
    repository_git(c->folder, "update-index", "--add", "--cacheinfo", entry);
    commit_index(c);
}

static void drop_submodule(gate_case *c, const char *path) {
    repository_git(c->folder, "rm", "-q", "--cached", path);
    commit_index(c);
}

/* The revision becomes the base, too, but for what is done next. */
static void take_as_base(gate_case *c) {
    char id[CS_TREE_OID_HEX + 1];
    memcpy(id, c->rev.commit, sizeof id);
    cs_tree_free(&c->base);
    cr_assert_eq(cs_tree_read(c->repo, id, &c->base, &c->err), CS_OK, "%s", c->err.message);
}

/* Only what is protected is looked at here. */
static cs_gate_state judge_protect(gate_case *c, cs_gate_finding *out) {
    *out = (cs_gate_finding){.rule = CS_GATE_PROTECT};
    cs_gate_judge_protect(&c->policy, &c->rev, &c->base, out);
    return out->state;
}

static void expect_refused(gate_case *c, const char *fault) {
    cs_gate_finding finding;
    cr_expect_eq(judge_protect(c, &finding), CS_GATE_REFUSED, "%s: %s", fault, finding.observed);
    cr_expect_eq(finding.code, CS_CODE_GATE_PROTECTED, "%s", cs_code_name(finding.code));
    cr_expect_not_null(strstr(finding.observed, fault), "no '%s' in: %s", fault, finding.observed);
    cr_expect_str_eq(finding.path, "vendor/lib");
}

static void expect_passed(gate_case *c, const char *what) {
    cs_gate_finding finding;
    cr_expect_eq(judge_protect(c, &finding), CS_GATE_PASSED, "%s: %s", what, finding.observed);
}

static void protect(gate_case *c, const char *pattern) {
    c->protect[1] = cs_view_of(pattern);
    c->policy.protect.count = 2;
}

/* A pattern that has its match elsewhere, and would have one in the submodule as well. */
Test(gate_protect, a_submodule_that_may_bring_a_protected_file) {
    gate_case c;
    gate_begin(&c);
    protect(&c, "**/README.md");
    expect_passed(&c, "no submodule");
    put_submodule(&c, "vendor/lib", ONE);
    expect_refused(&c, "the submodule vendor/lib was added: files that **/README.md protects may be in it");
    take_as_base(&c);
    commit_index(&c);
    expect_passed(&c, "the same submodule");
    put_submodule(&c, "vendor/lib", TWO);
    expect_refused(&c, "the submodule vendor/lib was changed");
    drop_submodule(&c, "vendor/lib");
    expect_refused(&c, "the submodule vendor/lib was removed");
    gate_end(&c);
}

Test(gate_protect, a_submodule_is_in_place_of_a_file) {
    gate_case c;
    gate_begin(&c);
    protect(&c, "**/README.md");
    repository_write(c.folder, "vendor/lib", "a\n", 2);
    gate_commit_again(&c);
    take_as_base(&c);
    repository_git(c.folder, "rm", "-q", "-f", "vendor/lib");
    put_submodule(&c, "vendor/lib", ONE);
    expect_refused(&c, "the submodule vendor/lib was changed");
    /* The other way round. */
    take_as_base(&c);
    repository_git(c.folder, "rm", "-q", "--cached", "vendor/lib");
    repository_write(c.folder, "vendor/lib", "a\n", 2);
    gate_commit_again(&c);
    expect_refused(&c, "the submodule vendor/lib was changed");
    gate_end(&c);
}

/* One change each: the pattern could not match below it; and no pattern could. */
Test(gate_protect, a_submodule_that_is_no_protected_matter) {
    gate_case c;
    gate_begin(&c);
    put_submodule(&c, "vendor/lib", ONE);
    expect_passed(&c, ".gate/**");
    protect(&c, "README.*");
    expect_passed(&c, "README.*");
    protect(&c, "*/main.js");
    cs_gate_finding finding;
    cr_expect_eq(judge_protect(&c, &finding), CS_GATE_REFUSED);
    cr_expect_str_eq(finding.observed, "src/main.js was changed");
    protect(&c, "vendor/*/x");
    expect_refused(&c, "the submodule vendor/lib was added: files that vendor/*/x protects may be in it");
    gate_end(&c);
}

/* A submodule whose own path matches was refused all along. */
Test(gate_protect, a_submodule_of_a_protected_path) {
    gate_case c;
    gate_begin(&c);
    protect(&c, "vendor/**");
    put_submodule(&c, "vendor/lib", ONE);
    expect_refused(&c, "vendor/lib was added");
    take_as_base(&c);
    commit_index(&c);
    expect_passed(&c, "the same submodule");
    gate_end(&c);
}

/* The whole verdict. */
Test(gate_protect, a_verdict_with_such_a_submodule) {
    gate_case c;
    gate_begin(&c);
    protect(&c, "**/README.md");
    gate_expect_passes(&c, "no submodule");
    put_submodule(&c, "vendor/lib", ONE);
    cr_assert_neq(gate_judge(&c), CS_OK);
    gate_expect_only(&c, "a submodule", CS_GATE_PROTECT, CS_CODE_GATE_PROTECTED);
    gate_end(&c);
}

/* ---- symbolic links --------------------------------------------------------------------------------------------- */

static void put_link(gate_case *c, const char *target) {
    char path[256];
    (void)snprintf(path, sizeof path, "%s/vendor/lib", c->folder);
    repository_write(c->folder, "vendor/keep", "k\n", 2);
    (void)unlink(path);
    cr_assert_eq(symlink(target, path), 0);
    gate_commit_again(c);
}

static void drop(gate_case *c, const char *path) {
    repository_git(c->folder, "rm", "-r", "-q", "-f", path);
    commit_index(c);
}

/* What the link leads to is at the protected path, too, and no file of the commit has that path. */
Test(gate_protect, a_link_to_a_folder_with_a_protected_file) {
    gate_case c;
    gate_begin(&c);
    repository_write(c.folder, "vendor/a/ci.sh", "a\n", 2);
    repository_write(c.folder, "docs/x/ci.sh", "x\n", 2);
    gate_commit_again(&c);
    take_as_base(&c);
    protect(&c, "vendor/*/ci.sh");
    repository_write(c.folder, "other", "o\n", 2);
    gate_commit_again(&c);
    expect_passed(&c, "no link");
    put_link(&c, "../docs/x");
    expect_refused(&c, "the symbolic link vendor/lib was added: files that vendor/*/ci.sh protects may be in it");
    take_as_base(&c);
    commit_index(&c);
    expect_passed(&c, "the same link");
    put_link(&c, "../src");
    expect_refused(&c, "the symbolic link vendor/lib was changed: files that vendor/*/ci.sh protects may be in it");
    put_link(&c, "../README.md");
    expect_refused(&c, "the symbolic link vendor/lib was changed: files that vendor/*/ci.sh protects may be in it");
    drop(&c, "vendor/lib");
    expect_refused(&c, "the symbolic link vendor/lib was removed: files that vendor/*/ci.sh protects may be in it");
    gate_end(&c);
}

/* Nothing can be below a file of the commit; of any other target it is not sure. */
Test(gate_protect, where_a_link_leads_to) {
    static const char *const files[] = {"keep", "../README.md", "../src/main.js", "deep/file"};
    static const char *const others[] = {"../src",
                                         "../src/",
                                         "..",
                                         ".",
                                         "nothing",
                                         "../../README.md",
                                         "/README.md",
                                         "./keep",
                                         "deep/../keep",
                                         "../vendor/lib/keep",
                                         "link",
                                         "../README.md/",
                                         "../README.md/x",
                                         "../src//main.js",
                                         "../.",
                                         "keep "};
    gate_case c;
    gate_begin(&c);
    protect(&c, "**/README.md");
    repository_write(c.folder, "vendor/deep/file", "f\n", 2);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        put_link(&c, files[i]);
        expect_passed(&c, files[i]);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        put_link(&c, others[i]);
        expect_refused(&c, "the symbolic link vendor/lib was added: files that **/README.md protects may be in it");
    }
    protect(&c, "src/*.js");
    c.protect[1] = cs_view_of("README.*");
    expect_passed(&c, "no pattern could match below it");
    protect(&c, "vendor/l*");
    expect_refused(&c, "vendor/lib was added");
    gate_end(&c);
}

/* The link is the same, and what it leads to is no file any more. */
Test(gate_protect, a_link_whose_target_becomes_a_folder) {
    gate_case c;
    gate_begin(&c);
    protect(&c, "**/README.md");
    repository_write(c.folder, "docs/x", "x\n", 2);
    put_link(&c, "../docs/x");
    take_as_base(&c);
    repository_write(c.folder, "docs/x", "y\n", 2);
    gate_commit_again(&c);
    expect_passed(&c, "another file");
    drop(&c, "docs/x");
    repository_write(c.folder, "docs/x/ci.sh", "y\n", 2);
    gate_commit_again(&c);
    expect_refused(&c, "the symbolic link vendor/lib leads to something else: files that **/README.md protects may");
    gate_end(&c);
}

/* A link in the root of the repository, and an executable. */
Test(gate_protect, a_link_without_a_folder_above) {
    gate_case c;
    char path[256];
    cs_gate_finding finding;
    gate_begin(&c);
    protect(&c, "*/main.js");
    take_as_base(&c);
    (void)snprintf(path, sizeof path, "%s/tool", c.folder);
    cr_assert_eq(symlink("src/lib.js", path), 0);
    (void)snprintf(path, sizeof path, "%s/src/lib.js", c.folder);
    cr_assert_eq(chmod(path, 0755), 0);
    gate_commit_again(&c);
    expect_passed(&c, "an executable");
    (void)snprintf(path, sizeof path, "%s/tool", c.folder);
    cr_assert(unlink(path) == 0 && symlink("src", path) == 0);
    gate_commit_again(&c);
    cr_expect_eq(judge_protect(&c, &finding), CS_GATE_REFUSED, "%s", finding.observed);
    cr_expect_eq(finding.code, CS_CODE_GATE_PROTECTED);
    cr_expect_str_eq(finding.observed, "the symbolic link tool was added: files that */main.js protects may be in it");
    cr_expect_str_eq(finding.path, "tool");
    gate_end(&c);
}

/* ---- a base that is the revision -------------------------------------------------------------------------------- */

/* The same tree under another commit has nothing that differs, and was compared; the same commit was not. */
Test(gate_protect, a_commit_is_not_compared_with_itself) {
    gate_case c;
    gate_begin(&c);
    take_as_base(&c);
    cs_gate_finding finding;
    cr_expect_eq(judge_protect(&c, &finding), CS_GATE_REFUSED);
    cr_expect_eq(finding.code, CS_CODE_GATE_PROTECTED);
    cr_expect_not_null(strstr(finding.observed, "nothing was compared"), "%s", finding.observed);
    cr_expect_str_eq(finding.path, "");
    commit_index(&c);
    expect_passed(&c, "another commit");
    gate_end(&c);
}

Test(gate_protect, a_verdict_about_one_commit) {
    gate_case c;
    gate_begin(&c);
    c.requirement.tests.not_fewer_than_base = false;
    take_as_base(&c);
    cr_assert_neq(gate_judge(&c), CS_OK);
    gate_expect_only(&c, "protect", CS_GATE_PROTECT, CS_CODE_GATE_PROTECTED);
    c.policy.protect.count = 0;
    gate_expect_passes(&c, "nothing compares");
    c.requirement.tests.not_fewer_than_base = true;
    cr_assert_neq(gate_judge(&c), CS_OK);
    gate_expect_only(&c, "tests of the base", CS_GATE_TESTS_OF_BASE, CS_CODE_GATE_TESTS_FEWER);
    commit_index(&c);
    gate_expect_passes(&c, "another commit");
    gate_end(&c);
}
