#include "cli/place.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/new_file.h"

#define MAX_LINKS 40u /* as many as Linux follows */

/* ---- one place --------------------------------------------------------------------------------------------- */

typedef struct place {
    bool known;
    mode_t mode; /* 0: there is no file yet; then the device and inode are those of its folder */
    dev_t device;
    ino_t inode;
    char name[NAME_MAX + 1]; /* of a file that is not there yet */
} place;

/* Write where the link at `path` leads to into `path`. False: it is no link, or too long. */
static bool follow(char path[PATH_MAX]) {
    char target[PATH_MAX];
    ssize_t len = readlink(path, target, sizeof target - 1);
    if (len <= 0) return false;
    target[len] = '\0';
    char *slash = strrchr(path, '/');
    size_t folder = target[0] == '/' || slash == NULL ? 0 : (size_t)(slash - path) + 1;
    if (folder + (size_t)len >= PATH_MAX) return false;
    memcpy(path + folder, target, (size_t)len + 1);
    return true;
}

/* A link to what is not there yet is where a database would be made. */
static place place_of_new(const char *path) {
    place found = {.known = false};
    char real[PATH_MAX];
    if (strlen(path) >= sizeof real) return found;
    memcpy(real, path, strlen(path) + 1);
    for (size_t i = 0; i < MAX_LINKS && follow(real); i++) {
    }
    const char *name = NULL;
    int folder = cs_folder_of(real, O_PATH, &name);
    if (folder < 0) return found;
    struct stat info;
    if (fstat(folder, &info) == 0 && name[0] != '\0' && strlen(name) < sizeof found.name) {
        found = (place){.known = true, .device = info.st_dev, .inode = info.st_ino};
        memcpy(found.name, name, strlen(name) + 1);
    }
    (void)close(folder);
    return found;
}

static place place_of(const char *path) {
    struct stat info;
    if (path == NULL || path[0] == '\0') return (place){.known = false};
    if (stat(path, &info) != 0) return place_of_new(path);
    return (place){.known = true, .mode = info.st_mode, .device = info.st_dev, .inode = info.st_ino};
}

static bool is_same(const place *a, const place *b) {
    return a->known && b->known && (a->mode == 0) == (b->mode == 0) && a->device == b->device && a->inode == b->inode &&
           strcmp(a->name, b->name) == 0;
}

/* ---- no two of them ------------------------------------------------------------------------------------------ */

static cs_result refuse(const cs_named_path *output, const char *other, cs_error *err) {
    cs_result result =
        cs_fail(err, CS_CODE_USAGE, "%s and %s name the same file, which would be replaced", output->option, other);
    cs_error_where(err, "%s", output->path);
    return result;
}

static cs_result check_against(const cs_named_path *outputs, const place *places, size_t count,
                               const cs_named_path *other, const char *path, cs_error *err) {
    const place there = place_of(path);
    for (size_t i = 0; i < count; i++)
        if (outputs[i].path != NULL && is_same(&places[i], &there)) return refuse(&outputs[i], other->option, err);
    return CS_OK;
}

static cs_result check_beside(const cs_named_path *outputs, const place *places, size_t count,
                              const cs_named_path *other, const char *from, cs_error *err) {
    static const char *const beside[] = {"", "-wal", "-shm", "-journal"};
    cs_result result = CS_OK;
    for (size_t i = 0; result == CS_OK && i < sizeof beside / sizeof beside[0]; i++) {
        char path[PATH_MAX];
        int len = snprintf(path, sizeof path, "%s%s", from, beside[i]);
        if (len < 0 || (size_t)len >= sizeof path) continue;
        result = check_against(outputs, places, count, other, path, err);
    }
    return result;
}

/* What is committed to a ledger may stand in the file beside it alone: beside the file itself, where a link names it.
 */
static cs_result check_other(const cs_named_path *outputs, const place *places, size_t count,
                             const cs_named_path *other, cs_error *err) {
    if (other->path == NULL || other->path[0] == '\0') return CS_OK;
    cs_result result = check_beside(outputs, places, count, other, other->path, err);
    char *real = realpath(other->path, NULL);
    if (result == CS_OK && real != NULL) result = check_beside(outputs, places, count, other, real, err);
    free(real);
    return result;
}

static cs_result check_output(const cs_named_path *outputs, const place *places, size_t at, cs_error *err) {
    if (places[at].known && places[at].mode != 0 && !S_ISREG(places[at].mode)) {
        cs_result result = cs_fail(err, CS_CODE_USAGE, "%s names something that is no file", outputs[at].option);
        cs_error_where(err, "%s", outputs[at].path);
        return result;
    }
    for (size_t i = 0; i < at; i++)
        if (is_same(&places[i], &places[at])) return refuse(&outputs[i], outputs[at].option, err);
    return CS_OK;
}

cs_result cs_places_check(const cs_named_path *outputs, size_t output_count, const cs_named_path *others,
                          size_t other_count, cs_error *err) {
    place *places = calloc(output_count + 1, sizeof *places);
    if (places == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to look where the output goes");
    cs_result result = CS_OK;
    for (size_t i = 0; i < output_count; i++)
        places[i] = place_of(outputs[i].path);
    for (size_t i = 0; result == CS_OK && i < output_count; i++)
        result = check_output(outputs, places, i, err);
    for (size_t i = 0; result == CS_OK && i < other_count; i++)
        result = check_other(outputs, places, output_count, &others[i], err);
    free(places);
    return result;
}

/* ---- not in a repository --------------------------------------------------------------------------------------- */

static bool is_there(const char *path, const struct stat *wanted) {
    struct stat info;
    return stat(path, &info) == 0 && info.st_dev == wanted->st_dev && info.st_ino == wanted->st_ino;
}

/* The repository's own folder; of a linked work tree the one that all of its work trees share. */
static bool find_git(const char *git_folder, struct stat *out) {
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s/commondir", git_folder);
    if (len < 0 || (size_t)len >= sizeof path) return false;
    if (access(path, F_OK) == 0)
        (void)snprintf(path, sizeof path, "%s/../..", git_folder);
    else
        (void)snprintf(path, sizeof path, "%s", git_folder);
    return stat(path, out) == 0;
}

/* `real` is a real path, which this cuts. */
static bool is_within(char *real, const struct stat *git) {
    for (char *slash = strrchr(real, '/'); slash != NULL; slash = strrchr(real, '/')) {
        if (strcmp(slash, "/.git") == 0 || (git != NULL && is_there(real, git))) return true;
        *slash = '\0';
    }
    return false;
}

/* The file is put into the folder that its path names, whatever has its name there. */
static bool is_of_git(const char *path, const struct stat *git) {
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (strcmp(name, ".git") == 0) return true;
    int len = slash != NULL ? snprintf(folder, sizeof folder, "%.*s/.", (int)(slash - path), path)
                            : snprintf(folder, sizeof folder, ".");
    if (len < 0 || (size_t)len >= sizeof folder) return false;
    char *real = realpath(folder, NULL);
    char *target = realpath(path, NULL);
    bool inside = (real != NULL && is_within(real, git)) || (target != NULL && is_within(target, git));
    free(real);
    free(target);
    return inside;
}

cs_result cs_places_outside_git(const cs_named_path *outputs, size_t output_count, const char *git_folder,
                                cs_error *err) {
    struct stat git;
    bool known = git_folder != NULL && find_git(git_folder, &git);
    for (size_t i = 0; i < output_count; i++) {
        if (outputs[i].path == NULL || !is_of_git(outputs[i].path, known ? &git : NULL)) continue;
        cs_result result = cs_fail(err, CS_CODE_USAGE, "%s names a file of the git repository itself, which git keeps",
                                   outputs[i].option);
        cs_error_where(err, "%s", outputs[i].path);
        return result;
    }
    return CS_OK;
}
