/* Commits of a git repository, read through libgit2 (docs/FORMAT.md, "Gate policy").
 *
 * Nothing in a repository is run: no hook, no filter, no attribute, no configuration of the user or the system, no
 * network; replacements of objects (refs/replace) are not followed. What is compared are the bytes of blobs, as git
 * stores them. Every object that is read is held against its id.
 */
#ifndef CS_GATE_TREE_H
#define CS_GATE_TREE_H

#include "records/base.h"
#include "records/error.h"

#define CS_TREE_MAX_FILES 200000u
#define CS_TREE_MAX_FOLDERS 200000u
#define CS_TREE_MAX_DEPTH 128u /* folders above a file */
#define CS_TREE_MAX_PATH 4096u
#define CS_TREE_MAX_PATHS (64u << 20) /* bytes of all paths */
#define CS_TREE_MAX_COMMITS 500000u /* between two of which one may come of the other */
#define CS_TREE_MAX_REVISION 512u
#define CS_TREE_OID_HEX 64u /* SHA-1 repositories use 40 of them */

typedef enum cs_tree_kind { CS_TREE_FILE, CS_TREE_EXECUTABLE, CS_TREE_SYMLINK, CS_TREE_SUBMODULE } cs_tree_kind;

/* One file of a commit. Borrows from its tree. */
typedef struct cs_tree_file {
    const char *path; /* bytes, no NUL; may hold anything else, newlines too: escape before it is shown */
    cs_tree_kind kind;
    char oid[CS_TREE_OID_HEX + 1];
} cs_tree_file;

typedef struct cs_repo cs_repo;

/* Open the repository at or above `folder`. CS_CODE_GIT_UNREADABLE (unchecked) with what libgit2 says. A repository that
 * belongs to another user is refused, as git itself does. */
CS_MUST_CHECK cs_result cs_repo_open(const char *folder, cs_repo **out, cs_error *err);
/* The same, whoever owns it: for a caller who was told that any owner will do, as in a container of a CI system. */
CS_MUST_CHECK cs_result cs_repo_open_any(const char *folder, cs_repo **out, cs_error *err);
void cs_repo_close(cs_repo *repo);
/* The folder of its work tree, with a final slash; NULL: it has none (bare). Borrows. */
const char *cs_repo_folder(const cs_repo *repo);

/* The folder of the repository itself (.git, or a bare one), with a final slash. Borrows. */
const char *cs_repo_git_folder(const cs_repo *repo);

/* All files of one commit, sorted by path (bytes). End with cs_tree_free before the repository is closed. */
typedef struct cs_tree {
    cs_repo *repo;
    char commit[CS_TREE_OID_HEX + 1];
    cs_tree_file *files;
    size_t count;
    char *paths; /* what the files borrow from */
} cs_tree;

/* Resolve `rev` (a branch, tag, id, HEAD~2 ...) to a commit, and list it. CS_CODE_GIT_REVISION (unchecked): there is no
 * such revision, or it is no commit; CS_CODE_GIT_UNREADABLE: an object is missing or damaged, a bound is passed, or a
 * folder holds what git would not check out (a name twice, with a slash, ".", ".." or ".git"). */
CS_MUST_CHECK cs_result cs_tree_read(cs_repo *repo, const char *rev, cs_tree *out, cs_error *err);
void cs_tree_free(cs_tree *tree);

typedef enum cs_tree_descent {
    CS_TREE_DESCENDS,
    CS_TREE_DESCENDS_NOT,
    CS_TREE_DESCENT_SHALLOW, /* not by what a shallow clone has */
    CS_TREE_DESCENT_UNKNOWN  /* a commit can't be read, or there are too many */
} cs_tree_descent;

/* Whether `base` is an ancestor of `rev`, or the same commit. Both are of one repository. */
cs_tree_descent cs_tree_descends(const cs_tree *rev, const cs_tree *base);

/* NULL: the commit has no such file. */
const cs_tree_file *cs_tree_find(const cs_tree *tree, cs_view path);

/* The bytes of a file or symlink (its target). A submodule has none: CS_CODE_GIT_UNREADABLE. At most `max` bytes, else the same.
 * Appends to *out. */
CS_MUST_CHECK cs_result cs_tree_content(const cs_tree *tree, const cs_tree_file *file, size_t max, cs_buf *out,
                                        cs_error *err);

/* Whether `content` is what that file holds: by its git object id, so without reading the blob. False for a submodule. */
CS_MUST_CHECK bool cs_tree_holds(const cs_tree *tree, const cs_tree_file *file, cs_view content);

#endif
