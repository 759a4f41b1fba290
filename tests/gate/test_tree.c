/* Commits of real repositories: what is listed, what a file holds. */
#include "gate/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/gate/repository.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"

static char folder[128];
static char commit[41];
static cs_repo *repo;
static cs_tree tree;
static cs_error err;

static void make(void) {
    repository_make(folder);
}

static void end(void) {
    cs_tree_free(&tree);
    cs_repo_close(repo);
    if (folder[0] != '\0') folder_remove(folder);
}

TestSuite(tree, .init = make, .fini = end);

static void write_text(const char *path, const char *text) {
    repository_write(folder, path, text, strlen(text));
}

static void open_repo(const char *at) {
    cs_repo_close(repo);
    EXPECT_OK(cs_repo_open(at, &repo, &err), err);
}

/* Commit the work tree, and read it. */
static void commit_and_read(void) {
    repository_commit(folder, commit);
    open_repo(folder);
    EXPECT_OK(cs_tree_read(repo, commit, &tree, &err), err);
}

static const cs_tree_file *find(const char *path) {
    return cs_tree_find(&tree, cs_view_of(path));
}

static void expect_file(size_t at, const char *path, cs_tree_kind kind, const char *oid) {
    cr_assert(at < tree.count, "%s", path);
    cr_expect_str_eq(tree.files[at].path, path);
    cr_expect_eq(tree.files[at].kind, kind, "%s: kind %d", path, (int)tree.files[at].kind);
    cr_expect_str_eq(tree.files[at].oid, oid, "%s", path);
    cr_expect_eq(cs_tree_find(&tree, cs_view_of(path)), &tree.files[at], "%s", path);
}

static void expect_content(const char *path, cs_view wanted) {
    CS_AUTO_BUF content = CS_BUF_INIT(1u << 20);
    const cs_tree_file *file = find(path);
    cr_assert_not_null(file, "%s", path);
    EXPECT_OK(cs_tree_content(&tree, file, wanted.len, &content, &err), err);
    cr_expect(cs_view_equal(cs_buf_view(&content), wanted), "%s", path);
    cr_expect(cs_tree_holds(&tree, file, wanted), "%s", path);
}

/* ---- files -------------------------------------------------------------------------------------------- */

/* The ids of blobs are facts: SHA-1 over "blob <len>\0" and the bytes. */
#define ID_EMPTY "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
#define ID_HELLO "ce013625030ba8dba906f756967f9e9ca394464a" /* "hello\n" */
#define ID_LINK "d8b329f3df485f7a4f27c3cf2896bbc75c528585"  /* "../a.txt" */
#define ID_SUB "1234567890123456789012345678901234567890"

Test(tree, files_of_every_kind_sorted_by_bytes) {
    char link_path[256];
    char tool_path[256];
    write_text("b/link-goes-here", "");
    write_text("a.txt", "hello\n");
    write_text("a/z", "hello\n");
    write_text("tool", "hello\n");
    write_text("b/.hidden", "");
    (void)snprintf(link_path, sizeof link_path, "%s/b/link", folder);
    (void)snprintf(tool_path, sizeof tool_path, "%s/tool", folder);
    cr_assert_eq(symlink("../a.txt", link_path), 0);
    cr_assert_eq(chmod(tool_path, 0755), 0);
    repository_git(folder, "add", "-A", ".");
    repository_git(folder, "update-index", "--add", "--cacheinfo", "160000," ID_SUB ",sub");
    repository_git(folder, "commit", "-q", "-m", "x");
    open_repo(folder);
    EXPECT_OK(cs_tree_read(repo, "HEAD", &tree, &err), err);
    cr_assert_eq(tree.count, 7);
    expect_file(0, "a.txt", CS_TREE_FILE, ID_HELLO); /* git puts the folder a behind it, too: . is before / */
    expect_file(1, "a/z", CS_TREE_FILE, ID_HELLO);
    expect_file(2, "b/.hidden", CS_TREE_FILE, ID_EMPTY);
    expect_file(3, "b/link", CS_TREE_SYMLINK, ID_LINK);
    expect_file(4, "b/link-goes-here", CS_TREE_FILE, ID_EMPTY);
    expect_file(5, "sub", CS_TREE_SUBMODULE, ID_SUB);
    expect_file(6, "tool", CS_TREE_EXECUTABLE, ID_HELLO);
    char id[41];
    repository_ask(folder, id, "rev-parse", "HEAD");
    cr_expect_str_eq(tree.commit, id);
    expect_content("tool", cs_view_of("hello\n"));
    expect_content("b/link", cs_view_of("../a.txt"));
    expect_content("b/.hidden", cs_view_of(""));
}

Test(tree, a_submodule_has_no_content) {
    CS_AUTO_BUF content = CS_BUF_INIT(1024);
    write_text("a", "hello\n");
    repository_git(folder, "update-index", "--add", "--cacheinfo", "160000," ID_HELLO ",sub");
    repository_git(folder, "add", "a");
    repository_git(folder, "commit", "-q", "-m", "x");
    open_repo(folder);
    EXPECT_OK(cs_tree_read(repo, "HEAD", &tree, &err), err);
    EXPECT_CODE(cs_tree_content(&tree, find("sub"), 1024, &content, &err), err, CS_UNCHECKED, CS_CODE_GIT_UNREADABLE);
    EXPECT_WHERE(err, "sub");
    cr_expect_eq(content.len, 0);
    /* Even when the id that it names happens to be that of a file. */
    cr_expect_not(cs_tree_holds(&tree, find("sub"), cs_view_of("hello\n")));
    cr_expect(cs_tree_holds(&tree, find("a"), cs_view_of("hello\n")));
}

Test(tree, a_file_holds_its_bytes_and_no_others) {
    static const char binary[] = "\0\1\2\r\n\0\xFF\xFEzzz";
    cs_view bytes = cs_view_bytes(binary, sizeof binary);
    repository_write(folder, "binary", binary, sizeof binary);
    commit_and_read();
    expect_content("binary", bytes);
    for (size_t i = 0; i < sizeof binary; i++) {
        char other[sizeof binary];
        memcpy(other, binary, sizeof binary);
        other[i] ^= 1;
        cr_expect_not(cs_tree_holds(&tree, find("binary"), cs_view_bytes(other, sizeof other)), "byte %zu", i);
        cr_expect_not(cs_tree_holds(&tree, find("binary"), cs_view_bytes(binary, i)), "%zu bytes", i);
    }
}

Test(tree, a_file_may_have_as_many_bytes_as_are_allowed) {
    CS_AUTO_BUF content = CS_BUF_INIT(1024);
    write_text("a", "hello\n");
    commit_and_read();
    EXPECT_OK(cs_tree_content(&tree, find("a"), 6, &content, &err), err);
    EXPECT_CODE(cs_tree_content(&tree, find("a"), 5, &content, &err), err, CS_UNCHECKED, CS_CODE_GIT_UNREADABLE);
    EXPECT_WHERE(err, "a");
    cr_expect_eq(content.len, 6); /* of the first call */
}

Test(tree, line_ends_and_filters_change_nothing) {
    char marker[256];
    char filter[320];
    (void)snprintf(marker, sizeof marker, "%s/ran", folder);
    (void)snprintf(filter, sizeof filter, "touch %s; cat", marker);
    write_text("a.txt", "one\ntwo\n");
    write_text(".gitattributes", "*.txt text eol=crlf filter=x ident export-subst\n");
    repository_commit(folder, commit);
    repository_git(folder, "config", "filter.x.smudge", filter);
    repository_git(folder, "config", "core.fsmonitor", filter);
    open_repo(folder);
    EXPECT_OK(cs_tree_read(repo, commit, &tree, &err), err);
    expect_content("a.txt", cs_view_of("one\ntwo\n"));
    cr_expect_eq(access(marker, F_OK), -1);
}

Test(tree, paths_are_any_bytes) {
    write_text("a\nb", "1");
    write_text("\xFF\xFE/\xC3(", "2");
    write_text("caf\xC3\xA9", "3");
    commit_and_read();
    cr_assert_eq(tree.count, 3);
    cr_expect_str_eq(tree.files[0].path, "a\nb");
    cr_expect_str_eq(tree.files[1].path, "caf\xC3\xA9");
    cr_expect_str_eq(tree.files[2].path, "\xFF\xFE/\xC3(");
    expect_content("a\nb", cs_view_of("1"));
    expect_content("\xFF\xFE/\xC3(", cs_view_of("2"));
    cr_expect_null(find("cafe\xCC\x81")); /* the other form of the same letter */
    cr_expect_null(find("CAF\xC3\xA9"));
}

Test(tree, only_whole_paths_are_found) {
    write_text("a/b/c", "");
    write_text("a/b.c", "");
    commit_and_read();
    cr_expect_not_null(find("a/b/c"));
    static const char *const not_there[] = {"",       "a",     "a/",     "a/b",     "a/b/", "a/b/c/",
                                            "a/b/cc", "a/b/d", "/a/b/c", "./a/b/c", "z"};
    for (size_t i = 0; i < sizeof not_there / sizeof *not_there; i++)
        cr_expect_null(find(not_there[i]), "%s", not_there[i]);
    cr_expect_null(cs_tree_find(&tree, cs_view_bytes("a/b/c\0d", 7)));
    cr_expect_null(cs_tree_find(&tree, cs_view_bytes("a/b/c\0", 6)));
}

Test(tree, a_commit_may_be_empty) {
    commit_and_read();
    cr_expect_eq(tree.count, 0);
    cr_expect_null(find("a"));
    cr_expect_str_eq(tree.commit, commit);
}

/* ---- revisions ---------------------------------------------------------------------------------------- */

#define EXPECT_NO_REVISION(rev)                                                                                        \
    do {                                                                                                               \
        EXPECT_CODE(cs_tree_read(repo, (rev), &tree, &err), err, CS_UNCHECKED, CS_CODE_GIT_REVISION);                  \
        cr_expect(tree.count == 0 && tree.files == NULL);                                                              \
    } while (0)

static void expect_revision(const char *rev, const char *id) {
    cs_tree_free(&tree);
    EXPECT_OK(cs_tree_read(repo, rev, &tree, &err), err);
    cr_expect_str_eq(tree.commit, id, "%s", rev);
}

Test(tree, a_revision_is_whatever_names_a_commit) {
    char first[41];
    char tagged[41];
    write_text("a", "1");
    repository_commit(folder, first);
    write_text("a", "2");
    repository_commit(folder, commit);
    repository_git(folder, "tag", "-a", "-m", "x", "v1", first);
    repository_git(folder, "tag", "-a", "-m", "x", "of-a-tag", "v1");
    repository_git(folder, "tag", "light", first);
    repository_ask(folder, tagged, "rev-parse", "v1");
    open_repo(folder);
    expect_revision("HEAD", commit);
    expect_revision("main", commit);
    expect_revision("refs/heads/main", commit);
    expect_revision(commit, commit);
    expect_revision("HEAD~1", first);
    expect_revision("HEAD^", first);
    expect_revision("light", first);
    expect_revision("v1", first);
    expect_revision("of-a-tag", first);
    expect_revision(tagged, first);
    expect_content("a", cs_view_of("1"));
    char beginning[9] = "";
    memcpy(beginning, commit, 8);
    expect_revision(beginning, commit);
}

/* Someone who may push branches must not choose what an id means. */
Test(tree, a_whole_id_is_no_branch_of_that_name) {
    char first[41];
    char name[64];
    write_text("a", "1");
    repository_commit(folder, first);
    write_text("a", "2");
    repository_commit(folder, commit);
    (void)snprintf(name, sizeof name, "refs/heads/%s", first);
    repository_git(folder, "update-ref", name, commit);
    open_repo(folder);
    expect_revision(name, commit);
    expect_revision(first, first);
    expect_content("a", cs_view_of("1"));
}

/* Whoever may push a tag must not choose what a branch is. */
Test(tree, a_name_of_two_different_things_is_no_revision) {
    char first[41];
    char name[64];
    write_text("a", "1");
    repository_commit(folder, first);
    write_text("a", "2");
    repository_commit(folder, commit);
    repository_git(folder, "update-ref", "refs/remotes/origin/main", first);
    open_repo(folder);
    expect_revision("origin/main", first);
    expect_revision("origin/main~0", first);
    repository_git(folder, "tag", "origin/main", first);
    expect_revision("origin/main", first);
    repository_git(folder, "tag", "-f", "origin/main", commit);
    cs_tree_free(&tree);
    EXPECT_NO_REVISION("origin/main");
    cr_expect(strstr(err.message, "may be several revisions") != NULL, "%s", err.message);
    EXPECT_NO_REVISION("origin/main~0");
    EXPECT_NO_REVISION("origin/main^{commit}");
    expect_revision("refs/remotes/origin/main", first);
    expect_revision("refs/remotes/origin/main~0", first);
    repository_git(folder, "tag", "HEAD", first);
    expect_revision("HEAD", commit);
    /* A short id. */
    char beginning[9] = "";
    memcpy(beginning, first, 8);
    expect_revision(beginning, first);
    repository_git(folder, "tag", beginning, first);
    expect_revision(beginning, first);
    repository_git(folder, "tag", "-f", beginning, commit);
    cs_tree_free(&tree);
    EXPECT_NO_REVISION(beginning);
    cr_expect(strstr(err.message, "may be several revisions") != NULL, "%s", err.message);
    /* An id that is not there, with something behind it. */
    repository_git(folder, "update-ref", "refs/heads/0123456789012345678901234567890123456789", commit);
    EXPECT_NO_REVISION("0123456789012345678901234567890123456789~0");
    (void)snprintf(name, sizeof name, "%s~0", first);
    expect_revision(name, first);
    cs_tree_free(&tree);
    EXPECT_NO_REVISION(":/x");
}

Test(tree, what_names_no_commit_is_no_revision) {
    char tree_id[41];
    char blob_id[41];
    write_text("a", "1");
    commit_and_read();
    cs_tree_free(&tree);
    repository_ask(folder, tree_id, "rev-parse", "HEAD^{tree}");
    repository_ask(folder, blob_id, "rev-parse", "HEAD:a");
    repository_git(folder, "tag", "-a", "-m", "x", "tree-tag", tree_id);
    expect_revision(commit, commit);
    cs_tree_free(&tree);
    EXPECT_NO_REVISION(tree_id);
    cr_expect(strstr(err.message, "is no commit") != NULL, "%s", err.message);
    EXPECT_NO_REVISION(blob_id);
    EXPECT_NO_REVISION("tree-tag");
    EXPECT_NO_REVISION("HEAD^{tree}");
    EXPECT_NO_REVISION("HEAD:a");
    EXPECT_NO_REVISION("HEAD~1");
    EXPECT_NO_REVISION("master");
    cr_expect_str_eq(err.message, "there is no revision \"master\" in the repository");
    EXPECT_NO_REVISION("0123456789012345678901234567890123456789");
    EXPECT_NO_REVISION("");
    EXPECT_NO_REVISION("..");
    EXPECT_NO_REVISION("HEAD..HEAD");
    EXPECT_NO_REVISION("a\x1b[31m");
    cr_expect_str_eq(err.message, "there is no revision \"a\\x1b[31m\" in the repository");
    char name[514];
    memset(name, 'a', sizeof name);
    name[512] = '\0';
    EXPECT_NO_REVISION(name);
    cr_expect(strstr(err.message, "there is no revision") != NULL, "%s", err.message);
    name[512] = 'a';
    name[513] = '\0';
    EXPECT_NO_REVISION(name);
    cr_expect_str_eq(err.message, "the name of a revision has 1 to 512 bytes");
}

Test(tree, an_empty_repository_has_no_revision) {
    open_repo(folder);
    EXPECT_NO_REVISION("HEAD");
    EXPECT_NO_REVISION("main");
}

Test(tree, a_shallow_clone_has_its_commit_and_none_before_it) {
    char url[256];
    char first[41];
    char shallow[300];
    write_text("a", "1");
    repository_commit(folder, first);
    write_text("a", "2");
    repository_commit(folder, commit);
    (void)snprintf(url, sizeof url, "file://%s", folder);
    (void)snprintf(shallow, sizeof shallow, "%s/shallow", folder);
    repository_git(folder, "clone", "-q", "--depth", "1", url, "shallow");
    open_repo(folder);
    expect_revision("HEAD~1", first);
    cs_tree_free(&tree);
    open_repo(shallow);
    expect_revision("HEAD", commit);
    expect_content("a", cs_view_of("2"));
    cs_tree_free(&tree);
    EXPECT_NO_REVISION("HEAD~1");
    cr_expect(strstr(err.message, "shallow") != NULL, "%s", err.message);
    EXPECT_NO_REVISION(first);
    cr_expect(strstr(err.message, "shallow") != NULL, "%s", err.message);
}

Test(tree, replacements_of_objects_are_not_followed) {
    char blob[41];
    char other[41];
    write_text("a", "genuine");
    repository_commit(folder, commit);
    repository_ask(folder, blob, "rev-parse", "HEAD:a");
    repository_object(folder, "blob", cs_view_of("replaced"), other);
    repository_git(folder, "replace", blob, other);
    char shown[64];
    repository_ask(folder, shown, "show", "HEAD:a");
    cr_assert_str_eq(shown, "replaced"); /* git itself does */
    open_repo(folder);
    expect_revision("HEAD", commit);
    expect_content("a", cs_view_of("genuine"));
    cr_expect_not(cs_tree_holds(&tree, find("a"), cs_view_of("replaced")));
}

/* ---- where the repository is ------------------------------------------------------------------------------ */

static void expect_place(const char *below, cs_code code) {
    char path[300];
    cs_repo *found = NULL;
    (void)snprintf(path, sizeof path, "%s/%s", folder, below);
    cs_result result = cs_repo_open(path, &found, &err);
    cr_expect_eq(result, code == CS_CODE_OK ? CS_OK : CS_UNCHECKED, "%s: %s", below, err.message);
    if (result != CS_OK) cr_expect_eq(err.code, code, "%s", below);
    cs_repo_close(found);
}

/* A commit can hold the files of a bare repository, but none below a `.git`. */
Test(tree, a_repository_that_a_commit_may_have_brought_is_refused) {
    write_text("a", "1");
    repository_commit(folder, commit);
    repository_git(folder, "clone", "-q", ".", "clone");
    expect_place("clone", CS_CODE_OK);
    repository_git(folder, "worktree", "add", "-q", "--detach", "linked");
    expect_place("linked", CS_CODE_OK);
    expect_place(".git", CS_CODE_OK);
    repository_git(folder, "clone", "-q", "--bare", ".", "inner");
    expect_place("inner", CS_CODE_GIT_UNREADABLE);
    cr_expect(strstr(err.message, "in the work tree of another") != NULL, "%s", err.message);
    /* One in another that was brought, too. */
    repository_git(folder, "clone", "-q", "--bare", ".", "inner/within");
    expect_place("inner/within", CS_CODE_GIT_UNREADABLE);
    /* The same with a work tree of its choice, and from below. */
    repository_git(folder, "-C", "inner", "config", "core.bare", "false");
    repository_git(folder, "-C", "inner", "config", "core.worktree", folder);
    expect_place("inner", CS_CODE_GIT_UNREADABLE);
    expect_place("inner/refs", CS_CODE_GIT_UNREADABLE);
}

/* ---- ancestors ----------------------------------------------------------------------------------------------------
 */

/* Of two revisions of the repository at `at`. */
static cs_tree_descent descends(const char *at, const char *rev, const char *base) {
    cs_tree other = {.repo = NULL};
    cs_tree_free(&tree);
    open_repo(at);
    EXPECT_OK(cs_tree_read(repo, rev, &tree, &err), err);
    EXPECT_OK(cs_tree_read(repo, base, &other, &err), err);
    cs_tree_descent descent = cs_tree_descends(&tree, &other);
    cs_tree_free(&other);
    return descent;
}

/* main: one, two, three; side: one, other; orphan: alone; merge: three and other. */
static void make_history(void) {
    static const char *const names[] = {"one", "two", "three"};
    for (size_t i = 0; i < 3; i++) {
        write_text("a", names[i]);
        repository_commit(folder, commit);
        repository_git(folder, "tag", names[i]);
    }
    repository_git(folder, "checkout", "-q", "-b", "side", "one");
    write_text("b", "other");
    repository_commit(folder, commit);
    repository_git(folder, "checkout", "-q", "-b", "merge", "three");
    repository_git(folder, "merge", "-q", "--no-edit", "side");
    repository_git(folder, "checkout", "-q", "--orphan", "orphan");
    repository_commit(folder, commit);
}

Test(tree, what_came_of_what) {
    make_history();
    cr_expect_eq(descends(folder, "three", "one"), CS_TREE_DESCENDS);
    cr_expect_eq(descends(folder, "three", "two"), CS_TREE_DESCENDS);
    cr_expect_eq(descends(folder, "three", "three"), CS_TREE_DESCENDS);
    cr_expect_eq(descends(folder, "merge", "side"), CS_TREE_DESCENDS);
    cr_expect_eq(descends(folder, "merge", "two"), CS_TREE_DESCENDS);
    cr_expect_eq(descends(folder, "one", "three"), CS_TREE_DESCENDS_NOT);
    cr_expect_eq(descends(folder, "three", "side"), CS_TREE_DESCENDS_NOT);
    cr_expect_eq(descends(folder, "three", "orphan"), CS_TREE_DESCENDS_NOT);
    cr_expect_eq(descends(folder, "orphan", "three"), CS_TREE_DESCENDS_NOT);
}

/* What a shallow clone does not have may be the way to the base; what it has, it tells. */
Test(tree, a_shallow_clone_does_not_tell_what_came_of_what) {
    char clone[256];
    char from[256];
    make_history();
    (void)snprintf(clone, sizeof clone, "%s/clone", folder);
    (void)snprintf(from, sizeof from, "file://%s", folder);
    repository_git(folder, "clone", "-q", "--depth", "1", "--branch", "main", from, "clone");
    repository_git(clone, "fetch", "-q", "--depth", "1", "origin", "tag", "one");
    cr_expect_eq(descends(clone, "HEAD", "one"), CS_TREE_DESCENT_SHALLOW);
    cr_expect_eq(descends(clone, "one", "HEAD"), CS_TREE_DESCENT_SHALLOW);
    repository_git(clone, "fetch", "-q", "--depth", "2", "origin", "main");
    cr_expect_eq(descends(clone, "HEAD", "HEAD~1"), CS_TREE_DESCENDS);
    repository_git(clone, "fetch", "-q", "--unshallow", "origin");
    cr_expect_eq(descends(clone, "HEAD", "one"), CS_TREE_DESCENDS);
    cr_expect_eq(descends(clone, "one", "HEAD"), CS_TREE_DESCENDS_NOT);
}

Test(tree, a_commit_between_that_is_missing) {
    char path[256];
    char id[41];
    make_history();
    repository_ask(folder, id, "rev-parse", "two");
    cr_expect_eq(descends(folder, "three", "one"), CS_TREE_DESCENDS);
    repository_loose(folder, id, path);
    cr_assert_eq(unlink(path), 0);
    cr_expect_eq(descends(folder, "three", "one"), CS_TREE_DESCENT_UNKNOWN);
}
