/* Git repositories for tests, in temporary folders, made by git itself. */
#ifndef CS_TESTS_GATE_REPOSITORY_H
#define CS_TESTS_GATE_REPOSITORY_H

#include <stddef.h>

#include "records/base.h"

/* A new folder with an empty repository, whose branch is `main`. Nothing of this machine's configuration counts. Remove
 * the folder with folder_remove. Without git the test is skipped, or fails (tests/support/program.h). */
void repository_make(char folder[128]);

/* Run git in the folder; it must succeed. The arguments end with NULL. */
#define repository_git(folder, ...) repository_git_into((folder), NULL, 0, (const char *const[]){__VA_ARGS__, NULL})
/* The same, with the first line that it prints. */
#define repository_ask(folder, out, ...)                                                                               \
    repository_git_into((folder), (out), sizeof(out), (const char *const[]){__VA_ARGS__, NULL})
void repository_git_into(const char *folder, char *out, size_t size, const char *const arguments[]);

/* Write a file of the work tree; folders above it are made. */
void repository_write(const char *folder, const char *path, const void *bytes, size_t len);
/* Commit all of the work tree, with one fixed time; its id. */
void repository_commit(const char *folder, char id[41]);

/* Write an object of this type ("tree", "blob") just as its bytes are, well formed or not; its id. */
void repository_object(const char *folder, const char *type, cs_view bytes, char id[41]);
/* Append an entry of a tree object: "100644", a name, and an id in hexadecimal. */
void repository_entry(cs_buf *tree, const char *mode, const char *name, const char *id);
/* A commit of that tree; its id. */
void repository_commit_tree(const char *folder, const char *tree, char id[41]);

/* The file of a loose object. */
void repository_loose(const char *folder, const char *id, char path[256]);

#endif
