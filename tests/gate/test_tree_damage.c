/* Repositories that are damaged or made to harm: nothing of them is taken for something else, and no walk goes on for
 * ever. */
#include <git2.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gate/tree.h"
#include "tests/gate/repository.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"

/* Of the leak sanitizer, when it is linked. */
extern void __lsan_disable(void) __attribute__((weak));

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

TestSuite(tree_damage, .init = make, .fini = end);

/* Open it anew, so that nothing is remembered, and read a revision. */
static cs_result read_again(const char *rev) {
    cs_tree_free(&tree);
    cs_repo_close(repo);
    err = CS_ERROR_INIT;
    cs_result result = cs_repo_open(folder, &repo, &err);
    return result == CS_OK ? cs_tree_read(repo, rev, &tree, &err) : result;
}

static cs_result content_of(const char *path, cs_buf *content) {
    const cs_tree_file *file = cs_tree_find(&tree, cs_view_of(path));
    cr_assert_not_null(file, "%s", path);
    return cs_tree_content(&tree, file, 1024, content, &err);
}

#define EXPECT_UNREADABLE(call) EXPECT_CODE(call, err, CS_UNCHECKED, CS_CODE_GIT_UNREADABLE)

/* A commit with a/b, and the ids of its objects. */
static char a_id[41];
static char b_id[41];

static void two_objects(void) {
    repository_write(folder, "a/b", "hello\n", 6);
    repository_commit(folder, commit);
    repository_ask(folder, a_id, "rev-parse", "HEAD:a");
    repository_ask(folder, b_id, "rev-parse", "HEAD:a/b");
}

static void remove_object(const char *id) {
    char path[256];
    repository_loose(folder, id, path);
    cr_assert_eq(unlink(path), 0, "%s", path);
}

/* Put the file of one object in the place of another's: well formed, but not what the id says. */
static void exchange_object(const char *id, const char *by) {
    char path[256];
    char other[256];
    repository_loose(folder, id, path);
    repository_loose(folder, by, other);
    cr_assert(unlink(path) == 0 && link(other, path) == 0, "%s", path);
}

/* ---- missing and damaged objects ------------------------------------------------------------------------ */

Test(tree_damage, a_missing_file_is_missed_when_it_is_read) {
    CS_AUTO_BUF content = CS_BUF_INIT(1024);
    two_objects();
    EXPECT_OK(read_again(commit), err);
    EXPECT_OK(content_of("a/b", &content), err);
    remove_object(b_id);
    cs_buf_clear(&content);
    EXPECT_OK(read_again(commit), err);
    EXPECT_UNREADABLE(content_of("a/b", &content));
    EXPECT_WHERE(err, "a/b");
    cr_expect_eq(content.len, 0);
    /* The id alone says what it holds. */
    cr_expect(cs_tree_holds(&tree, cs_tree_find(&tree, cs_view_of("a/b")), cs_view_of("hello\n")));
}

Test(tree_damage, a_missing_folder_is_missed) {
    two_objects();
    EXPECT_OK(read_again(commit), err);
    remove_object(a_id);
    EXPECT_UNREADABLE(read_again(commit));
    EXPECT_WHERE(err, "a/");
    cr_expect(tree.count == 0 && tree.files == NULL);
}

Test(tree_damage, a_missing_commit_is_not_a_missing_revision) {
    two_objects();
    EXPECT_OK(read_again("main"), err);
    remove_object(commit);
    EXPECT_UNREADABLE(read_again("main"));
    cr_expect_str_eq(err.message, "the object that \"main\" names is missing in the repository, or can't be read");
    EXPECT_CODE(read_again(commit), err, CS_UNCHECKED, CS_CODE_GIT_REVISION);
}

Test(tree_damage, a_tag_of_a_commit_that_is_missing_is_one_of_a_missing_object) {
    two_objects();
    repository_git(folder, "tag", "-a", "-m", "x", "v1");
    EXPECT_OK(read_again("v1"), err);
    remove_object(commit);
    EXPECT_UNREADABLE(read_again("v1"));
    cr_expect(strstr(err.message, "\"v1\"") != NULL, "%s", err.message);
}

Test(tree_damage, an_object_that_is_not_what_its_id_says_is_refused) {
    CS_AUTO_BUF content = CS_BUF_INIT(1024);
    char other[41];
    char path[256];
    two_objects();
    repository_object(folder, "blob", cs_view_of("other\n"), other);
    EXPECT_OK(read_again(commit), err);
    EXPECT_OK(content_of("a/b", &content), err);
    exchange_object(b_id, other);
    EXPECT_OK(read_again(commit), err);
    EXPECT_UNREADABLE(content_of("a/b", &content));
    cr_expect_eq(content.len, 6); /* of the first time */
    /* A folder, and a commit. */
    exchange_object(a_id, other);
    EXPECT_UNREADABLE(read_again(commit));
    repository_loose(folder, a_id, path);
    file_write(path, "no zlib", 7);
    EXPECT_UNREADABLE(read_again(commit));
    exchange_object(commit, other);
    EXPECT_UNREADABLE(read_again(commit));
}

Test(tree_damage, another_folder_in_the_place_of_one_is_refused) {
    char other[41];
    two_objects();
    CS_AUTO_BUF bytes = CS_BUF_INIT(1024);
    repository_entry(&bytes, "100644", "evil", b_id);
    repository_object(folder, "tree", cs_buf_view(&bytes), other);
    EXPECT_OK(read_again(commit), err);
    exchange_object(a_id, other);
    EXPECT_UNREADABLE(read_again(commit));
}

/* What can be read of a pack with any one bit changed is what was put in. */
Test(tree_damage, no_flipped_bit_of_a_pack_goes_by_unnoticed) {
    char pattern[256];
    glob_t found;
    size_t len = 0;
    unsigned refused = 0;
    two_objects();
    repository_git(folder, "repack", "-adq");
    repository_git(folder, "prune-packed", "-q");
    (void)snprintf(pattern, sizeof pattern, "%s/.git/objects/pack/*.pack", folder);
    cr_assert(glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc == 1);
    const char *path = found.gl_pathv[0];
    char *pack = file_read(path, &len);
    cr_assert(pack != NULL && len > 100, "%s", path);
    cr_assert_eq(unlink(path), 0);
    for (size_t i = 0; i < len; i++) {
        CS_AUTO_BUF content = CS_BUF_INIT(1024);
        pack[i] ^= (char)(1 << i % 8);
        file_write(path, pack, len);
        pack[i] ^= (char)(1 << i % 8);
        cs_result result = read_again(commit);
        if (result == CS_OK) {
            cr_assert_eq(tree.count, 1);
            cr_assert_str_eq(tree.files[0].path, "a/b");
            cr_assert_str_eq(tree.files[0].oid, b_id);
            result = content_of("a/b", &content);
        }
        if (result == CS_OK)
            cr_assert(cs_view_is(cs_buf_view(&content), "hello\n"), "byte %zu", i);
        else
            refused++;
    }
    cr_expect(refused > len / 2, "%u of %zu", refused, len);
    file_write(path, pack, len);
    EXPECT_OK(read_again(commit), err);
    free(pack);
    globfree(&found);
}

/* ---- folders that git would not write ---------------------------------------------------------------------- */

/* Read a commit of these entries: mode and name, then the same again; all are the same file, or an empty folder. */
static cs_result read_entries(const char *const entries[][2], size_t count) {
    CS_AUTO_BUF bytes = CS_BUF_INIT(65536);
    char blob[41];
    char empty[41];
    char root[41];
    repository_object(folder, "blob", cs_view_of("x"), blob);
    repository_object(folder, "tree", cs_view_of(""), empty);
    for (size_t i = 0; i < count; i++)
        repository_entry(&bytes, entries[i][0], entries[i][1], entries[i][0][0] == '4' ? empty : blob);
    repository_object(folder, "tree", cs_buf_view(&bytes), root);
    repository_commit_tree(folder, root, commit);
    return read_again(commit);
}

#define ENTRIES(...)                                                                                                   \
    read_entries((const char *const[][2]){__VA_ARGS__},                                                                \
                 sizeof((const char *const[][2]){__VA_ARGS__}) / sizeof(const char *[2]))

Test(tree_damage, names_that_git_does_not_allow_are_refused) {
    static const char *const bad[] = {".", "..", ".git", ".GIT", ".Git", "a/b", "/a", "a/", "../a"};
    static const char *const good[] = {"...", "..a", ".gitignore", "git", ".gi", "a\\b"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        EXPECT_OK(ENTRIES({"100644", good[i]}), err);
        cr_expect(tree.count == 1 && strcmp(tree.files[0].path, good[i]) == 0);
        EXPECT_OK(ENTRIES({"40000", good[i]}), err);
        cr_expect_eq(tree.count, 0);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        EXPECT_UNREADABLE(ENTRIES({"100644", bad[i]}));
        cr_expect(strstr(err.message, "git does not allow") != NULL, "%s: %s", bad[i], err.message);
        EXPECT_UNREADABLE(ENTRIES({"40000", bad[i]}));
        EXPECT_UNREADABLE(ENTRIES({"120000", bad[i]}));
        EXPECT_UNREADABLE(ENTRIES({"160000", bad[i]}));
    }
}

Test(tree_damage, an_entry_without_a_name_is_refused) {
    EXPECT_UNREADABLE(ENTRIES({"100644", ""}));
}

Test(tree_damage, modes_are_those_that_git_knows) {
    EXPECT_OK(ENTRIES({"100644", "a"}, {"100664", "b"}, {"100755", "c"}, {"120000", "d"}, {"160000", "e"}), err);
    cr_assert_eq(tree.count, 5);
    static const cs_tree_kind kinds[] = {CS_TREE_FILE, CS_TREE_FILE, CS_TREE_EXECUTABLE, CS_TREE_SYMLINK,
                                         CS_TREE_SUBMODULE};
    for (size_t i = 0; i < 5; i++)
        cr_expect_eq(tree.files[i].kind, kinds[i], "%s", tree.files[i].path);
    EXPECT_UNREADABLE(ENTRIES({"644", "a"}));
    EXPECT_UNREADABLE(ENTRIES({"60644", "a"}));
    EXPECT_UNREADABLE(ENTRIES({"140644", "a"}));
}

Test(tree_damage, a_path_stands_once) {
    EXPECT_OK(ENTRIES({"100644", "a"}, {"100644", "b"}), err);
    EXPECT_UNREADABLE(ENTRIES({"100644", "a"}, {"100644", "a"}));
    cr_expect_str_eq(err.message, "the commit has \"a\" twice");
    EXPECT_UNREADABLE(ENTRIES({"100644", "a"}, {"100644", "b"}, {"120000", "a"}));
}

/* A file beside a folder of its name, with others between them in the order of bytes. */
Test(tree_damage, a_file_is_no_folder_too) {
    CS_AUTO_BUF bytes = CS_BUF_INIT(1024);
    char blob[41];
    char inner[41];
    char root[41];
    const char *const names[] = {"b", "a"};
    repository_object(folder, "blob", cs_view_of("x"), blob);
    repository_entry(&bytes, "100644", "c", blob);
    repository_object(folder, "tree", cs_buf_view(&bytes), inner);
    for (size_t i = 0; i < 2; i++) {
        cs_buf_clear(&bytes);
        repository_entry(&bytes, "100644", "a", blob);
        repository_entry(&bytes, "100644", "a-b", blob);
        repository_entry(&bytes, "40000", names[i], inner);
        repository_object(folder, "tree", cs_buf_view(&bytes), root);
        repository_commit_tree(folder, root, commit);
        if (i == 0)
            EXPECT_OK(read_again(commit), err);
        else
            EXPECT_UNREADABLE(read_again(commit));
    }
    cr_expect_str_eq(err.message, "the commit has \"a\" twice");
}

/* ---- bounds ------------------------------------------------------------------------------------------------ */

/* A folder of `copies` entries that are all the object `id`; its id again. */
static void wrap(const char *mode, unsigned copies, const char *name, char id[41]) {
    CS_AUTO_BUF bytes = CS_BUF_INIT(64u << 20);
    for (unsigned i = 0; i < copies; i++) {
        char whole[5000];
        (void)snprintf(whole, sizeof whole, "%s%u", name, 100000 + i);
        repository_entry(&bytes, mode, copies == 1 ? name : whole, id);
    }
    repository_object(folder, "tree", cs_buf_view(&bytes), id);
}

static cs_result read_tree_of(const char *id) {
    repository_commit_tree(folder, id, commit);
    return read_again(commit);
}

Test(tree_damage, folders_are_at_most_128_in_one_another) {
    char id[41];
    repository_object(folder, "blob", cs_view_of("x"), id);
    wrap("100644", 1, "f", id);
    for (int i = 0; i < 128; i++)
        wrap("40000", 1, "d", id);
    EXPECT_OK(read_tree_of(id), err);
    cr_expect(tree.count == 1 && strlen(tree.files[0].path) == 257);
    wrap("40000", 1, "d", id);
    EXPECT_UNREADABLE(read_tree_of(id));
    cr_expect_str_eq(err.message, "the commit has too many folders in one another (at most 128)");
}

/* Thirty objects, and a thousand million folders. */
Test(tree_damage, folders_that_multiply_come_to_an_end) {
    char id[41];
    repository_object(folder, "tree", cs_view_of(""), id);
    for (int i = 0; i < 30; i++)
        wrap("40000", 2, "d", id);
    EXPECT_UNREADABLE(read_tree_of(id));
    cr_expect_str_eq(err.message, "the commit has too many folders (at most 200000)");
}

Test(tree_damage, a_commit_has_at_most_200000_files) {
    char id[41];
    char full[41];
    repository_object(folder, "blob", cs_view_of("x"), id);
    wrap("100644", 1000, "f", id);
    memcpy(full, id, sizeof full);
    wrap("40000", 200, "d", full);
    EXPECT_OK(read_tree_of(full), err);
    cr_expect_eq(tree.count, 200000);
    cr_expect_str_eq(tree.files[199999].path, "d100199/f100999");
    wrap("40000", 201, "d", id);
    EXPECT_UNREADABLE(read_tree_of(id));
    cr_expect_str_eq(err.message, "the commit has too many files (at most 200000)");
}

Test(tree_damage, a_path_has_at_most_4096_bytes) {
    char name[4098];
    char blob[41];
    char id[41];
    memset(name, 'n', sizeof name);
    repository_object(folder, "blob", cs_view_of("x"), blob);
    name[4096] = '\0';
    memcpy(id, blob, sizeof id);
    wrap("100644", 1, name, id);
    EXPECT_OK(read_tree_of(id), err);
    cr_expect(tree.count == 1 && strlen(tree.files[0].path) == 4096);
    wrap("40000", 1, "d", id);
    EXPECT_UNREADABLE(read_tree_of(id));
    cr_expect_str_eq(err.message, "the commit has too long a path (at most 4096)");
    memcpy(id, blob, sizeof id);
    name[4096] = 'n';
    name[4097] = '\0';
    wrap("100644", 1, name, id);
    EXPECT_UNREADABLE(read_tree_of(id));
    cr_expect_str_eq(err.message, "the commit has too long a path (at most 4096)");
    name[4096] = '\0';
    repository_object(folder, "tree", cs_view_of(""), id);
    wrap("40000", 1, name, id);
    EXPECT_UNREADABLE(read_tree_of(id));
    cr_expect_str_eq(err.message, "the commit has too long a path (at most 4096)");
}

Test(tree_damage, all_paths_together_have_at_most_64_mebibytes) {
    char name[3501];
    char full[41];
    char id[41];
    memset(name, 'n', sizeof name);
    name[3500] = '\0';
    repository_object(folder, "blob", cs_view_of("x"), id);
    wrap("100644", 1000, name, id);
    memcpy(full, id, sizeof full);
    wrap("40000", 19, "d", full);
    EXPECT_OK(read_tree_of(full), err);
    cr_expect_eq(tree.count, 19000);
    wrap("40000", 20, "d", id);
    EXPECT_UNREADABLE(read_tree_of(id));
    cr_expect_str_eq(err.message, "the commit has too many bytes of paths (at most 67108864)");
}

/* ---- the repository ---------------------------------------------------------------------------------------- */

static cs_code open_at(const char *path) {
    cs_repo_close(repo);
    err = CS_ERROR_INIT;
    cs_result result = cs_repo_open(path, &repo, &err);
    if (result == CS_OK) return CS_CODE_OK;
    cr_expect(result == CS_UNCHECKED && repo == NULL, "%s", err.message);
    return err.code;
}

Test(tree_damage, a_repository_is_found_above_and_nowhere_else) {
    char path[300];
    repository_write(folder, "a/b/c", "", 0);
    (void)snprintf(path, sizeof path, "%s/a/b", folder);
    cr_expect_eq(open_at(path), CS_CODE_OK, "%s", err.message);
    (void)snprintf(path, sizeof path, "%s/.git", folder);
    cr_expect_eq(open_at(path), CS_CODE_OK, "%s", err.message);
    (void)snprintf(path, sizeof path, "%s/not-there", folder);
    cr_expect_eq(open_at(path), CS_CODE_GIT_UNREADABLE);
    cr_expect_str_eq(err.where, path);
    char apart[128];
    folder_make(apart);
    cr_expect_eq(open_at(apart), CS_CODE_GIT_UNREADABLE);
    cr_assert_eq(setenv("GIT_DIR", path, 1), 0);
    cr_expect_eq(open_at(apart), CS_CODE_GIT_UNREADABLE);
    folder_remove(apart);
}

Test(tree_damage, a_bare_repository_will_do) {
    char apart[128];
    char path[300];
    two_objects();
    folder_make(apart);
    (void)snprintf(path, sizeof path, "%s/bare.git", apart);
    repository_git(folder, "clone", "-q", "--bare", ".", path);
    cr_assert_eq(open_at(path), CS_CODE_OK, "%s", err.message);
    EXPECT_OK(cs_tree_read(repo, "main", &tree, &err), err);
    cr_expect_eq(tree.count, 1);
    folder_remove(apart);
}

Test(tree_damage, settings_of_partial_clones_and_sparse_checkouts_are_no_hindrance_and_others_are) {
    /* In a repository of version 1 libgit2 1.5 forgets memory for each setting that is no extension. */
    if (__lsan_disable != NULL) __lsan_disable();
    two_objects();
    repository_git(folder, "config", "core.repositoryformatversion", "1");
    EXPECT_OK(read_again(commit), err);
    repository_git(folder, "config", "extensions.worktreeConfig", "true");
    EXPECT_OK(read_again(commit), err);
    repository_git(folder, "config", "extensions.partialClone", "origin");
    EXPECT_OK(read_again(commit), err);
    repository_git(folder, "config", "extensions.unheardOf", "true");
    EXPECT_UNREADABLE(read_again(commit));
}

/* What HOME would do, had nobody used libgit2 in this process before. */
static void configuration_at(const char *path) {
    static const git_config_level_t levels[] = {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM,
                                                GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL};
    cr_assert(git_libgit2_init() > 0);
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        cr_assert_eq(git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, (int)levels[i], path), 0);
}

/* A file that would be no configuration at all is not even looked at. */
Test(tree_damage, no_configuration_of_the_user_is_read) {
    char path[300];
    two_objects();
    repository_write(folder, "home/.gitconfig", "[not a configuration", 20);
    repository_write(folder, "home/gitconfig", "[not a configuration", 20);
    repository_write(folder, "home/config", "[not a configuration", 20);
    (void)snprintf(path, sizeof path, "%s/home", folder);
    configuration_at(path);
    EXPECT_OK(read_again(commit), err);
    repository_write(folder, ".git/config", "[not a configuration", 20); /* its own is */
    EXPECT_UNREADABLE(read_again(commit));
}

Test(tree_damage, a_repository_of_another_user_is_refused) {
    char home[300];
    char path[300];
    if (geteuid() != 0) {
        cr_assert(getenv("CI") == NULL && getenv("COUNTERSIGN_REQUIRE_ALL") == NULL, "this needs root");
        cr_skip_test("only root can give a folder to another user");
    }
    two_objects();
    char safe[400];
    (void)snprintf(safe, sizeof safe, "[safe]\n\tdirectory = %s\n", folder);
    repository_write(folder, "home/.gitconfig", safe, strlen(safe));
    (void)snprintf(home, sizeof home, "%s/home", folder);
    (void)snprintf(path, sizeof path, "%s/.git", folder);
    configuration_at(home);
    cr_assert_eq(unsetenv("SUDO_UID"), 0);
    EXPECT_OK(read_again(commit), err);
    cr_assert(chown(folder, 12345, 12345) == 0 && chown(path, 12345, 12345) == 0);
    EXPECT_UNREADABLE(read_again(commit));
    cr_expect(strstr(err.message, "belongs to another user") != NULL, "%s", err.message);
    cr_expect(strstr(err.message, "--repo-owner any") != NULL, "%s", err.message);
    cs_repo *any = NULL;
    EXPECT_OK(cs_repo_open_any(folder, &any, &err), err);
    cs_repo_close(any);
    EXPECT_UNREADABLE(read_again(commit)); /* said once, it is not said for good */
    cr_assert(chown(folder, 0, 0) == 0 && chown(path, 0, 0) == 0);
    EXPECT_OK(read_again(commit), err);
}
