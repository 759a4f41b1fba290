/* The file of baselines: read once, and replaced only by a whole new one, beside which the old one stays until the new
 * one is on the disk. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/baseline_internal.h"
#include "verify/file.h"

#define NEW_MODE 0644

/* ---- read ----------------------------------------------------------------------------------------------- */

static cs_result read_open(cs_baseline_file *file, cs_error *err) {
    struct stat info;
    if (fstat(file->fd, &info) != 0) return cs_fail(err, CS_CODE_IO, "the file can't be examined: %s", strerror(errno));
    if (!S_ISREG(info.st_mode)) return cs_fail(err, CS_CODE_IO, "this is no regular file");
    switch (cs_file_read_open(file->fd, &file->bytes)) {
    case CS_FILE_READ:
        return cs_baseline_parse(cs_buf_view(&file->bytes), &file->list, err);
    case CS_FILE_FAILED:
        return cs_fail(err, CS_CODE_IO, "the file of baselines can't be read: %s", strerror(errno));
    case CS_FILE_TOO_LONG:
        return cs_fail(err, CS_CODE_BASELINE_FORM, "this is no file of baselines: it is longer than %u bytes",
                       CS_BASELINE_MAX_BYTES);
    case CS_FILE_NO_MEMORY:
        break;
    }
    return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to read a file of baselines");
}

/* The folder of a path, open, and the last part of the path. -1: errno says why. */
static int open_folder(const char *path, const char **name) {
    const char *slash = strrchr(path, '/');
    *name = slash == NULL ? path : slash + 1;
    char folder[PATH_MAX];
    int len = slash == NULL ? snprintf(folder, sizeof folder, ".")
                            : snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    if (len < 0 || (size_t)len >= sizeof folder || (*name)[0] == '\0') {
        errno = (*name)[0] == '\0' ? EISDIR : ENAMETOOLONG;
        return -1;
    }
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* A path that leads nowhere is found out before anything is run. */
static cs_result check_folder(const char *path, cs_error *err) {
    const char *name = NULL;
    int folder = open_folder(path, &name);
    if (folder < 0) return cs_fail(err, CS_CODE_IO, "there can be no file of this path: %s", strerror(errno));
    close(folder);
    return CS_OK;
}

static cs_result open_and_read(cs_baseline_file *file, bool create, cs_error *err) {
    /* Not blocking, so that a named pipe is refused instead of waited for. */
    file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file->fd >= 0) return read_open(file, err);
    if (errno == ENOENT && create) return check_folder(file->path, err);
    return cs_fail(err, CS_CODE_IO, "the file of baselines can't be opened: %s", strerror(errno));
}

cs_result cs_baseline_open(const char *path, bool create, cs_baseline_file **out, cs_error *err) {
    *out = NULL;
    cs_baseline_file *file = calloc(1, sizeof *file);
    char *copy = strdup(path);
    if (file == NULL || copy == NULL) {
        free(file);
        free(copy);
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a file of baselines");
    }
    *file = (cs_baseline_file){.path = copy, .fd = -1, .bytes = CS_BUF_INIT(CS_BASELINE_MAX_BYTES)};
    cs_result result = open_and_read(file, create, err);
    if (result == CS_OK) {
        *out = file;
        return CS_OK;
    }
    cs_error_where(err, "%s", path);
    cs_baseline_close(file);
    return result;
}

void cs_baseline_close(cs_baseline_file *file) {
    if (file == NULL) return;
    if (file->fd >= 0) close(file->fd);
    cs_buf_free(&file->bytes);
    cs_baseline_list_free(&file->list);
    free(file->path);
    free(file);
}

/* ---- write ------------------------------------------------------------------------------------------------ */

static cs_result fail_write(cs_error *err) {
    return cs_fail(err, CS_CODE_IO, "the new file of baselines can't be written: %s", strerror(errno));
}

/* The file that was read still stands there, as it was read. Its lock is held until it is closed. */
static cs_result check_unchanged(const cs_baseline_file *file, int folder, const char *name, cs_error *err) {
    struct stat opened, named;
    if (flock(file->fd, LOCK_EX | LOCK_NB) != 0)
        return cs_fail(err, CS_CODE_IO, "another process writes the file of baselines; nothing was written");
    bool same = fstat(file->fd, &opened) == 0 && fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                opened.st_dev == named.st_dev && opened.st_ino == named.st_ino &&
                opened.st_size == (off_t)file->bytes.len;
    char *again = malloc(file->bytes.len + 1);
    same = same && again != NULL && pread(file->fd, again, file->bytes.len + 1, 0) == (ssize_t)file->bytes.len &&
           memcmp(again, file->bytes.ptr, file->bytes.len) == 0;
    free(again);
    if (same) return CS_OK;
    return cs_fail(err, CS_CODE_IO, "the file of baselines was changed meanwhile; nothing was written");
}

static cs_result write_all(int fd, cs_view bytes, cs_error *err) {
    while (bytes.len > 0) {
        ssize_t put = write(fd, bytes.ptr, bytes.len);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return fail_write(err);
        bytes = cs_view_bytes(bytes.ptr + put, bytes.len - (size_t)put);
    }
    return CS_OK;
}

/* A new name never takes the place of a file. Where there is no such renaming, a second name can do it. */
static int put_in_place(int folder, const char *temporary, const char *name, bool replace) {
    if (replace) return renameat(folder, temporary, folder, name);
    int done = renameat2(folder, temporary, folder, name, RENAME_NOREPLACE);
    if (done == 0 || errno == EEXIST) return done;
    done = linkat(folder, temporary, folder, name, 0);
    if (done == 0) (void)unlinkat(folder, temporary, 0);
    return done;
}

static mode_t mode_of(const cs_baseline_file *file) {
    struct stat info;
    return file->fd >= 0 && fstat(file->fd, &info) == 0 ? info.st_mode & 0777 : NEW_MODE;
}

static cs_result write_beside(cs_baseline_file *file, int folder, const char *name, cs_view text, int *fd,
                              cs_error *err) {
    uint64_t random = 0;
    char temporary[64];
    if (getrandom(&random, sizeof random, 0) != sizeof random) return fail_write(err);
    (void)snprintf(temporary, sizeof temporary, ".countersign-baseline-%016llx.tmp", (unsigned long long)random);
    *fd = openat(folder, temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*fd < 0) return fail_write(err);
    cs_result result = write_all(*fd, text, err);
    /* The umask may have taken bits away. */
    if (result == CS_OK && (fchmod(*fd, mode_of(file)) != 0 || fsync(*fd) != 0)) result = fail_write(err);
    if (result == CS_OK && put_in_place(folder, temporary, name, file->fd >= 0) != 0)
        result = cs_fail(err, CS_CODE_IO, "the new file of baselines can't be put in its place: %s", strerror(errno));
    if (result != CS_OK) (void)unlinkat(folder, temporary, 0);
    return result;
}

static cs_result publish(cs_baseline_file *file, const char *path, cs_buf *text, cs_error *err) {
    const char *name = NULL;
    int fd = -1;
    int folder = open_folder(path, &name);
    if (folder < 0) return fail_write(err);
    cs_result result = file->fd >= 0 ? check_unchanged(file, folder, name, err) : CS_OK;
    if (result == CS_OK) result = write_beside(file, folder, name, cs_buf_view(text), &fd, err);
    if (result == CS_OK) {
        if (file->fd >= 0) close(file->fd);
        cs_buf_free(&file->bytes);
        file->fd = fd;
        file->bytes = *text;
        *text = CS_BUF_INIT(CS_BASELINE_MAX_BYTES);
        /* Some file systems can't sync a folder and say so with EINVAL; that is no failure. */
        if (fsync(folder) != 0 && errno != EINVAL)
            result = cs_fail(err, CS_CODE_IO,
                             "the file of baselines is in its place, but its folder could not be written to disk: %s",
                             strerror(errno));
    } else if (fd >= 0) {
        close(fd);
    }
    close(folder);
    return result;
}

cs_result cs_baseline_publish(cs_baseline_file *file, cs_buf *text, cs_error *err) {
    /* Where a link leads the file stands, and beside it the new one is made; the link stays. */
    char *real = file->fd >= 0 ? realpath(file->path, NULL) : strdup(file->path);
    if (real == NULL) return fail_write(err);
    cs_result result = publish(file, real, text, err);
    free(real);
    return result;
}
