#include "harness/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

bool cs_write_all(int fd, cs_view bytes) {
    while (bytes.len > 0) {
        ssize_t put = write(fd, bytes.ptr, bytes.len);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes = cs_view_bytes(bytes.ptr + put, bytes.len - (size_t)put);
    }
    return true;
}

/* ---- folders --------------------------------------------------------------------------------------- */

int cs_folder_of(const char *path, int access, const char **name) {
    const char *slash = strrchr(path, '/');
    *name = slash == NULL ? path : slash + 1;
    char folder[PATH_MAX];
    size_t len = (size_t)(*name - path);
    if (len >= sizeof folder) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(folder, path, len);
    folder[len] = '\0';
    return open(len == 0 ? "." : folder, access | O_DIRECTORY | O_CLOEXEC);
}

bool cs_folder_sync(int folder) {
    return fsync(folder) == 0 || errno == EINVAL;
}

/* ---- the file -------------------------------------------------------------------------------------- */

bool cs_new_file_make(int folder, const char *what, mode_t mode, cs_new_file *file) {
    *file = (cs_new_file){.folder = folder, .fd = -1};
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) return false;
    char name[sizeof file->temporary];
    int len = snprintf(name, sizeof name, ".countersign-%s-%016llx.tmp", what, (unsigned long long)random);
    if (len < 0 || (size_t)len >= sizeof name) {
        errno = ENAMETOOLONG;
        return false;
    }
    file->fd = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file->fd < 0) return false;
    memcpy(file->temporary, name, sizeof name);
    return true;
}

/* Where there is no renaming that takes no file's place, a second name can do it. */
static bool place_new(const cs_new_file *file, const char *name) {
    if (renameat2(file->folder, file->temporary, file->folder, name, RENAME_NOREPLACE) == 0) return true;
    if (errno == EEXIST || linkat(file->folder, file->temporary, file->folder, name, 0) != 0) return false;
    (void)unlinkat(file->folder, file->temporary, 0);
    return true;
}

bool cs_new_file_place(cs_new_file *file, const char *name, bool replace) {
    bool placed = replace ? renameat(file->folder, file->temporary, file->folder, name) == 0 : place_new(file, name);
    if (placed) file->temporary[0] = '\0';
    return placed;
}

bool cs_new_file_end(cs_new_file *file) {
    bool closed = file->fd < 0 || close(file->fd) == 0;
    int why = errno;
    file->fd = -1;
    if (file->temporary[0] != '\0') (void)unlinkat(file->folder, file->temporary, 0);
    file->temporary[0] = '\0';
    errno = why;
    return closed;
}
