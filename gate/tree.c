#include "gate/tree_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define MAX_TREE_OBJECT (64u << 20) /* bytes of one folder's listing */

/* ---- repository ------------------------------------------------------------------------------------ */

static cs_result unreadable(cs_error *err, const char *what) {
    const git_error *last = git_error_last();
    return cs_fail(err, CS_CODE_GIT_UNREADABLE, "%s: %s", what,
                   last != NULL ? last->message : "libgit2 does not say why");
}

/* The options are those of the process. What the library would do by itself is stated too, where all depends on it. */
static bool set_options(bool any_owner) {
    static const git_config_level_t levels[] = {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM,
                                                GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL};
    /* These two say where else objects or settings may be, not how an object is read. Partial clones and sparse
     * check-outs have them. */
    const char *extensions[] = {"partialclone", "worktreeconfig"};
    bool good = true;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        good = good && git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, (int)levels[i], "") == 0;
    good = good && git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, any_owner ? 0 : 1) == 0;
    good = good && git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1) == 0;
    return good && git_libgit2_opts(GIT_OPT_SET_EXTENSIONS, extensions, sizeof extensions / sizeof *extensions) == 0;
}

/* The repository that is found from the folder above this one's own. */
static int discover_above(const char *path, git_buf *out, cs_error *err) {
    CS_AUTO_BUF folder = CS_BUF_INIT(SIZE_MAX / 2);
    if (!cs_buf_text(&folder, path) || !cs_buf_text(&folder, "..") || !cs_buf_byte(&folder, '\0')) {
        (void)cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the path of a repository");
        return GIT_ERROR;
    }
    int code = git_repository_discover(out, (const char *)folder.ptr, 1, NULL);
    if (code != 0 && code != GIT_ENOTFOUND)
        (void)unreadable(err, "it can't be told whether the git repository lies in another");
    return code;
}

/* A commit can bring files that look like a repository without a work tree, with branches of their own, but nothing
 * that is called .git. So none is taken that lies in another one's work tree. One that is found from the folder above
 * itself has its .git there; one that lies in another's own folder, as that of a submodule, is as good as that one. */
static cs_result check_place(const cs_repo *repo, cs_error *err) {
    git_buf inner = GIT_BUF_INIT;
    const char *path = git_repository_path(repo->git);
    for (;;) {
        git_buf above = GIT_BUF_INIT;
        int code = discover_above(path, &above, err);
        bool found = code == 0;
        bool same = found && strcmp(path, above.ptr) == 0;
        bool within = found && !same && strncmp(path, above.ptr, strlen(above.ptr)) == 0;
        git_buf_dispose(&inner);
        inner = above;
        path = inner.ptr;
        if (within) continue;
        git_buf_dispose(&inner);
        if (same || code == GIT_ENOTFOUND) return CS_OK;
        if (!found) return CS_UNCHECKED;
        return cs_fail(err, CS_CODE_GIT_UNREADABLE,
                       "the git repository lies in the work tree of another, whose commit may have brought it: name "
                       "the top folder of that one");
    }
}

static cs_result open_git(const char *folder, bool any_owner, cs_repo *repo, cs_error *err) {
    if (!set_options(any_owner)) return unreadable(err, "libgit2 does not take its settings");
    git_error_clear();
    int code = git_repository_open_ext(&repo->git, folder, 0, NULL);
    const git_error *last = git_error_last();
    /* Without a configuration of the user, libgit2 only says that it finds no exception there. */
    if (code == GIT_EOWNER || (code != 0 && last != NULL && strstr(last->message, "safe.directory") != NULL))
        return cs_fail(err, CS_CODE_GIT_UNREADABLE,
                       "the git repository belongs to another user: be its owner to read it, or say that any owner "
                       "will do (gate --repo-owner any)");
    if (code != 0) return unreadable(err, "the git repository can't be opened");
    if (git_repository_odb(&repo->objects, repo->git) != 0)
        return unreadable(err, "the objects of the git repository can't be read");
    return check_place(repo, err);
}

static cs_result open_repo(const char *folder, bool any_owner, cs_repo **out, cs_error *err) {
    *out = NULL;
    cs_repo *repo = calloc(1, sizeof *repo);
    if (repo == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a repository");
    if (git_libgit2_init() < 0) {
        free(repo);
        return cs_fail(err, CS_CODE_GIT_UNREADABLE, "libgit2 can't be used");
    }
    cs_result result = open_git(folder, any_owner, repo, err);
    if (result != CS_OK) {
        cs_error_where(err, "%s", folder);
        cs_repo_close(repo);
        return result;
    }
    *out = repo;
    return CS_OK;
}

cs_result cs_repo_open(const char *folder, cs_repo **out, cs_error *err) {
    return open_repo(folder, false, out, err);
}

cs_result cs_repo_open_any(const char *folder, cs_repo **out, cs_error *err) {
    return open_repo(folder, true, out, err);
}

const char *cs_repo_folder(const cs_repo *repo) {
    return git_repository_workdir(repo->git);
}

const char *cs_repo_git_folder(const cs_repo *repo) {
    return git_repository_path(repo->git);
}

void cs_repo_close(cs_repo *repo) {
    if (repo == NULL) return;
    git_odb_free(repo->objects);
    git_repository_free(repo->git);
    free(repo);
    git_libgit2_shutdown();
}

/* ---- revision -------------------------------------------------------------------------------------- */

/* Where git looks for a short name. It takes the first; here it is refused when another one names something else, since
 * whoever may push a tag `origin/main` must not choose what that branch is. */
static const struct {
    const char *before;
    const char *behind;
} places[] = {
    {"refs/", ""}, {"refs/tags/", ""}, {"refs/heads/", ""}, {"refs/remotes/", ""}, {"refs/remotes/", "/HEAD"}};

/* The object that the reference leads to, as a tag, if it is one. */
static bool find_target(cs_repo *repo, const char *reference, git_oid *out) {
    return git_reference_name_to_id(out, repo->git, reference) == 0;
}

/* A short id that is a branch's name, too. */
static bool names_another_object(cs_repo *repo, const char *name, const git_oid *target) {
    git_oid prefix;
    git_oid found;
    size_t len = strlen(name);
    if (len < GIT_OID_MINPREFIXLEN || len >= GIT_OID_HEXSZ || git_oid_fromstrn(&prefix, name, len) != 0) return false;
    int code = git_odb_exists_prefix(&found, repo->objects, &prefix, len);
    return code == GIT_EAMBIGUOUS || (code == 0 && git_oid_equal(&found, target) == 0);
}

/* Does the name, without what may stand behind it (~1), mean one thing only? */
static int check_name(cs_repo *repo, const char *name) {
    char reference[CS_TREE_MAX_REVISION + 32];
    git_oid target;
    git_oid first;
    bool any = false;
    if (strlen(name) == GIT_OID_HEXSZ && git_oid_fromstr(&target, name) == 0)
        return git_odb_exists(repo->objects, &target) == 1 ? 0 : GIT_ENOTFOUND;
    if (find_target(repo, name, &target)) return 0; /* HEAD, or a whole name as refs/heads/main */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        (void)snprintf(reference, sizeof reference, "%s%s%s", places[i].before, name, places[i].behind);
        if (!find_target(repo, reference, &target)) continue;
        if (any && git_oid_equal(&target, &first) == 0) return GIT_EAMBIGUOUS;
        first = target;
        any = true;
    }
    return any && names_another_object(repo, name, &first) ? GIT_EAMBIGUOUS : 0;
}

/* The length of the name in a revision; what stands behind it is git's (~1, ^{commit}, @{1}). */
static size_t name_length(const char *rev) {
    size_t len = strcspn(rev, "~^:");
    const char *at = strstr(rev, "@{");
    return at != NULL && (size_t)(at - rev) < len ? (size_t)(at - rev) : len;
}

/* In git's own order: a whole id is that object, whatever else has the name; then come branches and tags. *named: there
 * is such a branch or tag, so that at most its object is missing. */
static int find_object(cs_repo *repo, const char *rev, git_object **out, bool *named) {
    char name[CS_TREE_MAX_REVISION + 1];
    git_oid id;
    git_reference *reference = NULL;
    if (rev[0] == ':') return GIT_EINVALIDSPEC; /* a search in messages, which anyone may have written, or no commit */
    if (strlen(rev) == GIT_OID_HEXSZ && git_oid_fromstr(&id, rev) == 0)
        return git_object_lookup(out, repo->git, &id, GIT_OBJECT_ANY);
    (void)snprintf(name, sizeof name, "%.*s", (int)name_length(rev), rev);
    int code = name[0] != '\0' ? check_name(repo, name) : 0;
    if (code != 0) return code;
    *named = git_reference_dwim(&reference, repo->git, rev) == 0;
    if (!*named) return git_revparse_single(out, repo->git, rev);
    code = git_object_lookup(out, repo->git, git_reference_target(reference), GIT_OBJECT_ANY);
    git_reference_free(reference);
    return code;
}

static cs_result no_revision(cs_repo *repo, const char *rev, bool named, int code, cs_error *err) {
    if (code == GIT_EAMBIGUOUS)
        return cs_fail(err, CS_CODE_GIT_REVISION,
                       "\"%s\" may be several revisions: name one by its whole id, or by its whole name as "
                       "refs/remotes/origin/main",
                       rev);
    if (code == GIT_EPEEL)
        return cs_fail(err, CS_CODE_GIT_REVISION, "\"%s\" is no commit: name a branch, a tag or the id of one", rev);
    if (code != GIT_ENOTFOUND && code != GIT_EINVALIDSPEC && code != GIT_EUNBORNBRANCH)
        return unreadable(err, "the revision can't be read");
    if (named)
        return cs_fail(err, CS_CODE_GIT_UNREADABLE,
                       "the object that \"%s\" names is missing in the repository, or can't be read", rev);
    if (git_repository_is_shallow(repo->git) == 1)
        return cs_fail(err, CS_CODE_GIT_REVISION,
                       "there is no revision \"%s\"; the clone is shallow: fetch the commits before it, too", rev);
    return cs_fail(err, CS_CODE_GIT_REVISION, "there is no revision \"%s\" in the repository", rev);
}

static cs_result find_commit(cs_repo *repo, const char *rev, git_object **out, cs_error *err) {
    git_object *found = NULL;
    bool named = false;
    if (rev[0] == '\0' || strlen(rev) > CS_TREE_MAX_REVISION)
        return cs_fail(err, CS_CODE_GIT_REVISION, "the name of a revision has 1 to %u bytes", CS_TREE_MAX_REVISION);
    git_error_clear();
    int code = find_object(repo, rev, &found, &named);
    if (code == 0) {
        code = git_object_peel(out, found, GIT_OBJECT_COMMIT);
        git_object_free(found);
        named = true;
        if (code == GIT_EINVALIDSPEC) code = GIT_EPEEL; /* nothing of its type could lead to a commit */
    }
    return code == 0 ? CS_OK : no_revision(repo, rev, named, code, err);
}

/* ---- list ------------------------------------------------------------------------------------------ */

typedef struct listing {
    cs_repo *repo;
    cs_tree *out;
    cs_buf paths; /* of all files in the order of out->files, each with its NUL */
    size_t room;  /* in out->files */
    size_t folders;
    cs_buf path; /* of the folder that is being read, with its final slash; empty: the root */
    cs_error *err;
} listing;

static cs_result no_memory(cs_error *err) {
    return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the files of a commit");
}

static cs_result bound(const listing *list, const char *what, unsigned limit) {
    return cs_fail(list->err, CS_CODE_GIT_UNREADABLE, "the commit has %s (at most %u)", what, limit);
}

static bool more_room(listing *list) {
    if (list->out->count < list->room) return true;
    size_t room = list->room == 0 ? 256 : list->room * 2;
    cs_tree_file *files = reallocarray(list->out->files, room, sizeof *files);
    if (files == NULL) return false;
    list->out->files = files;
    list->room = room;
    return true;
}

static cs_result add_file(listing *list, const char *name, cs_tree_kind kind, const git_oid *id) {
    if (list->out->count == CS_TREE_MAX_FILES) return bound(list, "too many files", CS_TREE_MAX_FILES);
    if (list->path.len + strlen(name) > CS_TREE_MAX_PATH) return bound(list, "too long a path", CS_TREE_MAX_PATH);
    size_t size = list->path.len + strlen(name) + 1;
    if (size > list->paths.max - list->paths.len) return bound(list, "too many bytes of paths", CS_TREE_MAX_PATHS);
    if (!more_room(list) || !cs_buf_append(&list->paths, list->path.ptr, list->path.len) ||
        !cs_buf_append(&list->paths, name, strlen(name) + 1))
        return no_memory(list->err);
    cs_tree_file *file = &list->out->files[list->out->count++];
    *file = (cs_tree_file){.kind = kind};
    git_oid_tostr(file->oid, sizeof file->oid, id);
    return CS_OK;
}

static bool name_is_good(const char *name) {
    return name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
           strcasecmp(name, ".git") != 0;
}

static cs_result add_folder(listing *list, const git_oid *id, unsigned depth);

static cs_result enter(listing *list, const char *name, const git_oid *id, unsigned depth) {
    size_t before = list->path.len;
    if (before + strlen(name) >= CS_TREE_MAX_PATH) return bound(list, "too long a path", CS_TREE_MAX_PATH);
    if (depth == CS_TREE_MAX_DEPTH) return bound(list, "too many folders in one another", CS_TREE_MAX_DEPTH);
    if (!cs_buf_text(&list->path, name) || !cs_buf_byte(&list->path, '/')) return no_memory(list->err);
    cs_result result = add_folder(list, id, depth + 1);
    list->path.len = before;
    return result;
}

static cs_result add_entry(listing *list, const git_tree_entry *entry, unsigned depth) {
    const char *name = git_tree_entry_name(entry);
    const git_oid *id = git_tree_entry_id(entry);
    unsigned mode = (unsigned)git_tree_entry_filemode_raw(entry);
    if (!name_is_good(name))
        return cs_fail(list->err, CS_CODE_GIT_UNREADABLE, "the commit has an entry \"%s\", which git does not allow",
                       name);
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return enter(list, name, id, depth);
    case S_IFREG:
        return add_file(list, name, (mode & S_IXUSR) != 0 ? CS_TREE_EXECUTABLE : CS_TREE_FILE, id);
    case S_IFLNK:
        return add_file(list, name, CS_TREE_SYMLINK, id);
    case S_IFDIR | S_IFLNK: /* git's mode of a submodule */
        return add_file(list, name, CS_TREE_SUBMODULE, id);
    default:
        return cs_fail(list->err, CS_CODE_GIT_UNREADABLE, "the commit has \"%s\" with mode %o, which is not known",
                       name, mode);
    }
}

/* The size is asked for first: an object that unpacks to far more than it takes up must not be loaded. */
static cs_result load_folder(listing *list, const git_oid *id, git_tree **out) {
    size_t size = 0;
    git_object_t type = GIT_OBJECT_INVALID;
    git_error_clear();
    if (git_odb_read_header(&size, &type, list->repo->objects, id) != 0)
        return unreadable(list->err, "a folder of the commit can't be read");
    if (type != GIT_OBJECT_TREE)
        return cs_fail(list->err, CS_CODE_GIT_UNREADABLE, "what stands for a folder of the commit is none");
    if (size > MAX_TREE_OBJECT) return bound(list, "a folder with too many bytes", MAX_TREE_OBJECT);
    if (git_tree_lookup(out, list->repo->git, id) != 0)
        return unreadable(list->err, "a folder of the commit can't be read");
    return CS_OK;
}

/* Folders are counted, not only files: a few objects can name one another so often that no walk would end. */
static cs_result add_folder(listing *list, const git_oid *id, unsigned depth) {
    git_tree *tree = NULL;
    if (list->folders++ == CS_TREE_MAX_FOLDERS) return bound(list, "too many folders", CS_TREE_MAX_FOLDERS);
    cs_result result = load_folder(list, id, &tree);
    if (result != CS_OK) {
        cs_error_where(list->err, "%.*s", (int)list->path.len, list->path.len > 0 ? (const char *)list->path.ptr : "");
        return result;
    }
    size_t count = git_tree_entrycount(tree);
    for (size_t i = 0; i < count && result == CS_OK; i++)
        result = add_entry(list, git_tree_entry_byindex(tree, i), depth);
    git_tree_free(tree);
    return result;
}

static int by_path(const void *a, const void *b) {
    return strcmp(((const cs_tree_file *)a)->path, ((const cs_tree_file *)b)->path);
}

/* The place of the first file whose path is not before `path`. */
static size_t lower_bound(const cs_tree *tree, cs_view path) {
    size_t low = 0;
    size_t high = tree->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *at = tree->files[middle].path;
        size_t len = strlen(at);
        int order = memcmp(at, path.ptr, len < path.len ? len : path.len);
        if (order < 0 || (order == 0 && len < path.len))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One path is one file, and no file is a folder as well: whoever checks such a commit out gets one of the two. */
static cs_result check_unique(const listing *list) {
    const cs_tree *tree = list->out;
    CS_AUTO_BUF below = CS_BUF_INIT(CS_TREE_MAX_PATH + 2);
    for (size_t i = 0; i < tree->count; i++) {
        const char *path = tree->files[i].path;
        cs_buf_clear(&below);
        if (!cs_buf_text(&below, path) || !cs_buf_byte(&below, '/')) return no_memory(list->err);
        size_t next = lower_bound(tree, cs_buf_view(&below));
        bool twice = i + 1 < tree->count && strcmp(tree->files[i + 1].path, path) == 0;
        if (twice || (next < tree->count && strncmp(tree->files[next].path, (const char *)below.ptr, below.len) == 0))
            return cs_fail(list->err, CS_CODE_GIT_UNREADABLE, "the commit has \"%s\" twice", path);
    }
    return CS_OK;
}

static cs_result list_files(listing *list, const git_commit *commit) {
    git_oid_tostr(list->out->commit, sizeof list->out->commit, git_commit_id(commit));
    cs_result result = add_folder(list, git_commit_tree_id(commit), 0);
    if (result != CS_OK) return result;
    /* Only now, since they moved while they grew. */
    const char *path = (const char *)list->paths.ptr;
    for (size_t i = 0; path != NULL && i < list->out->count; i++, path += strlen(path) + 1)
        list->out->files[i].path = path;
    if (list->out->count > 0) qsort(list->out->files, list->out->count, sizeof *list->out->files, by_path);
    return check_unique(list);
}

cs_result cs_tree_read(cs_repo *repo, const char *rev, cs_tree *out, cs_error *err) {
    listing list = {.repo = repo, .out = out, .err = err, .paths = CS_BUF_INIT(CS_TREE_MAX_PATHS)};
    git_object *commit = NULL;
    list.path = CS_BUF_INIT(CS_TREE_MAX_PATH);
    *out = (cs_tree){.repo = repo};
    cs_result result = find_commit(repo, rev, &commit, err);
    if (result == CS_OK) result = list_files(&list, (const git_commit *)commit);
    git_object_free(commit);
    cs_buf_free(&list.path);
    out->paths = (char *)list.paths.ptr;
    if (result != CS_OK) cs_tree_free(out);
    return result;
}

void cs_tree_free(cs_tree *tree) {
    free(tree->files);
    free(tree->paths);
    *tree = (cs_tree){.repo = NULL};
}

const cs_tree_file *cs_tree_find(const cs_tree *tree, cs_view path) {
    if (path.len == 0) return NULL;
    size_t at = lower_bound(tree, path);
    return at < tree->count && cs_view_is(path, tree->files[at].path) ? &tree->files[at] : NULL;
}

/* ---- content --------------------------------------------------------------------------------------- */

static cs_result take_content(const cs_tree *tree, const git_oid *id, size_t max, cs_buf *out, cs_error *err) {
    size_t size = 0;
    git_object_t type = GIT_OBJECT_INVALID;
    git_odb_object *object = NULL;
    git_error_clear();
    if (git_odb_read_header(&size, &type, tree->repo->objects, id) != 0)
        return unreadable(err, "a file of the commit can't be read");
    if (type != GIT_OBJECT_BLOB)
        return cs_fail(err, CS_CODE_GIT_UNREADABLE, "what stands for a file of the commit is none");
    if (size > max)
        return cs_fail(err, CS_CODE_GIT_UNREADABLE, "a file of the commit has %zu bytes (at most %zu)", size, max);
    if (git_odb_read(&object, tree->repo->objects, id) != 0)
        return unreadable(err, "a file of the commit can't be read");
    /* The size that is now known is that of the content whose id was verified. */
    size = git_odb_object_size(object);
    bool whole = size <= max && git_odb_object_type(object) == GIT_OBJECT_BLOB;
    bool taken = whole && cs_buf_append(out, git_odb_object_data(object), size);
    git_odb_object_free(object);
    if (!whole) return cs_fail(err, CS_CODE_GIT_UNREADABLE, "a file of the commit is not what its header says");
    return taken ? CS_OK : cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a file of a commit");
}

cs_result cs_tree_content(const cs_tree *tree, const cs_tree_file *file, size_t max, cs_buf *out, cs_error *err) {
    git_oid id;
    cs_result result = CS_UNCHECKED;
    if (file->kind == CS_TREE_SUBMODULE)
        result = cs_fail(err, CS_CODE_GIT_UNREADABLE, "a submodule has no content in this repository");
    else if (git_oid_fromstr(&id, file->oid) != 0)
        result = unreadable(err, "the id of a file is none");
    else
        result = take_content(tree, &id, max, out, err);
    if (result != CS_OK) cs_error_where(err, "%s", file->path);
    return result;
}

bool cs_tree_holds(const cs_tree *tree, const cs_tree_file *file, cs_view content) {
    git_oid is;
    git_oid wanted;
    (void)tree; /* the id depends on the content alone; an open repository keeps libgit2 ready */
    if (file->kind == CS_TREE_SUBMODULE || git_oid_fromstr(&wanted, file->oid) != 0) return false;
    /* Also false for content that was made to collide: libgit2's SHA-1 detects it. */
    if (git_odb_hash(&is, content.ptr, content.len, GIT_OBJECT_BLOB) != 0) return false;
    return git_oid_equal(&is, &wanted) == 1;
}
