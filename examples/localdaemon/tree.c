#include "examples/localdaemon/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Remove one entry. A folder that isn't empty is moved up to `top` under a new name, where its turn
 * comes: no folder is ever deeper than one level when it is opened. */
static bool remove_entry(int folder, const char *name, int top, unsigned *moved) {
    if (unlinkat(folder, name, 0) == 0) return true;
    if (errno != EISDIR && errno != EPERM && errno != EACCES) return false;
    struct stat st;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode)) return false;
    if (unlinkat(folder, name, AT_REMOVEDIR) == 0) return true;
    /* A run may have taken its own rights away; a daemon that isn't root needs them. */
    if (fchmodat(folder, name, 0700, 0) != 0) return false;
    if (folder == top) return true;
    char fresh[32];
    do {
        snprintf(fresh, sizeof(fresh), ".moved-%u", (*moved)++);
    } while (faccessat(top, fresh, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
    return renameat(folder, name, top, fresh) == 0;
}

/* Remove the entries of a folder; takes `fd`. */
static bool empty_folder(int fd, int top, unsigned *moved) {
    DIR *dir = fdopendir(fd);
    if (dir == NULL) {
        close(fd);
        return false;
    }
    bool good = true;
    for (struct dirent *entry = readdir(dir); entry != NULL && good; entry = readdir(dir)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        good = remove_entry(fd, entry->d_name, top, moved);
    }
    closedir(dir);
    return good;
}

/* Go through the folders that stand directly below `top` once. *left says whether any entry was seen. */
static bool empty_top(int top, bool *left, unsigned *moved) {
    *left = false;
    int copy = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    if (dir == NULL) {
        if (copy >= 0) close(copy);
        return false;
    }
    bool good = true;
    for (struct dirent *entry = readdir(dir); entry != NULL && good; entry = readdir(dir)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        *left = true;
        good = remove_entry(top, entry->d_name, top, moved);
        if (!good) break;
        int inner = openat(top, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        good = inner >= 0 ? empty_folder(inner, top, moved) : errno == ENOENT;
    }
    closedir(dir);
    return good;
}

cs_result ld_tree_remove(const char *path, cs_error *err) {
    int top = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (top < 0) {
        if (errno == ENOENT) return CS_OK;
        return cs_fail(err, CS_CODE_IO, "%s can't be opened to remove it: %s", path, strerror(errno));
    }
    unsigned moved = 0;
    bool left = true;
    bool good = true;
    while (good && left)
        good = empty_top(top, &left, &moved);
    int error = errno;
    close(top);
    if (good && rmdir(path) == 0) return CS_OK;
    return cs_fail(err, CS_CODE_IO, "%s can't be removed: %s", path, strerror(good ? errno : error));
}
