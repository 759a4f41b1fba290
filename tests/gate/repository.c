#include "tests/gate/repository.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/folder.h"
#include "tests/support/program.h"

#define MAX_ARGUMENTS 16

static void settings(void) {
    static const char *const pairs[][2] = {
        {"GIT_CONFIG_NOSYSTEM", "1"},
        {"GIT_CONFIG_GLOBAL", "/dev/null"},
        {"GIT_AUTHOR_NAME", "t"},
        {"GIT_AUTHOR_EMAIL", "t@example.org"},
        {"GIT_COMMITTER_NAME", "t"},
        {"GIT_COMMITTER_EMAIL", "t@example.org"},
        {"GIT_AUTHOR_DATE", "1700000000 +0000"},
        {"GIT_COMMITTER_DATE", "1700000000 +0000"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        cr_assert_eq(setenv(pairs[i][0], pairs[i][1], 1), 0);
    cr_assert(unsetenv("GIT_DIR") == 0 && unsetenv("GIT_WORK_TREE") == 0 && unsetenv("GIT_INDEX_FILE") == 0);
}

void repository_git_into(const char *folder, char *out, size_t size, const char *const arguments[]) {
    const char *argv[MAX_ARGUMENTS] = {"git", "-C", folder};
    size_t count = 3;
    for (; arguments[count - 3] != NULL; count++) {
        cr_assert(count < MAX_ARGUMENTS - 1);
        argv[count] = arguments[count - 3];
    }
    cr_assert_eq(program_run(argv, out, size), 0, "git %s", arguments[0]);
    if (out != NULL) out[strcspn(out, "\n")] = '\0';
}

void repository_make(char folder[128]) {
    settings();
    folder_make(folder);
    repository_git(folder, "init", "-q", "-b", "main", ".");
}

void repository_write(const char *folder, const char *path, const void *bytes, size_t len) {
    char whole[512];
    int size = snprintf(whole, sizeof whole, "%s/%s", folder, path);
    cr_assert(size > 0 && size < (int)sizeof whole);
    for (char *slash = strchr(whole + strlen(folder) + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(whole, 0755);
        *slash = '/';
    }
    file_write(whole, bytes, len);
}

void repository_commit(const char *folder, char id[41]) {
    char out[41];
    repository_git(folder, "add", "-A", ".");
    repository_git(folder, "commit", "-q", "--allow-empty", "-m", "x");
    repository_ask(folder, out, "rev-parse", "HEAD");
    memcpy(id, out, sizeof out);
}

void repository_object(const char *folder, const char *type, cs_view bytes, char id[41]) {
    char path[256];
    char out[41];
    (void)snprintf(path, sizeof path, "%s/.git/object-of-a-test", folder);
    file_write(path, bytes.ptr, bytes.len);
    repository_ask(folder, out, "hash-object", "-t", type, "-w", "--literally", ".git/object-of-a-test");
    memcpy(id, out, sizeof out);
}

void repository_entry(cs_buf *tree, const char *mode, const char *name, const char *id) {
    cr_assert(cs_buf_printf(tree, "%s ", mode) && cs_buf_append(tree, name, strlen(name) + 1));
    for (size_t i = 0; i < 40; i += 2) {
        char digits[3] = {id[i], id[i + 1], '\0'};
        cr_assert(cs_buf_byte(tree, (uint8_t)strtoul(digits, NULL, 16)));
    }
}

void repository_commit_tree(const char *folder, const char *tree, char id[41]) {
    char out[41];
    repository_ask(folder, out, "commit-tree", "-m", "x", tree);
    memcpy(id, out, sizeof out);
}

void repository_loose(const char *folder, const char *id, char path[256]) {
    (void)snprintf(path, 256, "%s/.git/objects/%.2s/%s", folder, id, id + 2);
}
