/* The file of baselines: read once, and replaced only by a whole new one, beside which the old one stays until the new
 * one is on the disk. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/baseline_internal.h"
#include "harness/new_file.h"
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

/* As cs_folder_of, of a path that names a file. */
static int open_folder(const char *path, const char **name) {
    int folder = cs_folder_of(path, O_RDONLY, name);
    if ((*name)[0] != '\0') return folder;
    if (folder >= 0) close(folder);
    errno = EISDIR;
    return -1;
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

static mode_t mode_of(const cs_baseline_file *file) {
    struct stat info;
    return file->fd >= 0 && fstat(file->fd, &info) == 0 ? info.st_mode & 0777 : NEW_MODE;
}

/* On failure the caller ends it. */
static cs_result write_beside(const cs_baseline_file *file, int folder, const char *name, cs_view text,
                              cs_new_file *made, cs_error *err) {
    /* The umask may have taken bits away. */
    if (!cs_new_file_make(folder, "baseline", 0600, made) || !cs_write_all(made->fd, text) ||
        fchmod(made->fd, mode_of(file)) != 0 || fsync(made->fd) != 0)
        return fail_write(err);
    if (cs_new_file_place(made, name, file->fd >= 0)) return CS_OK;
    return cs_fail(err, CS_CODE_IO, "the new file of baselines can't be put in its place: %s", strerror(errno));
}

/* The new file stays open: it is what was read, for the next addition. */
static void go_on_with(cs_baseline_file *file, cs_new_file *made, cs_buf *text) {
    if (file->fd >= 0) close(file->fd);
    cs_buf_free(&file->bytes);
    file->fd = made->fd;
    file->bytes = *text;
    made->fd = -1;
    *text = CS_BUF_INIT(CS_BASELINE_MAX_BYTES);
}

static cs_result publish(cs_baseline_file *file, const char *path, cs_buf *text, cs_error *err) {
    const char *name = NULL;
    int folder = open_folder(path, &name);
    if (folder < 0) return fail_write(err);
    cs_new_file made = CS_NEW_FILE_INIT;
    cs_result result = file->fd >= 0 ? check_unchanged(file, folder, name, err) : CS_OK;
    if (result == CS_OK) result = write_beside(file, folder, name, cs_buf_view(text), &made, err);
    if (result == CS_OK) {
        go_on_with(file, &made, text);
        if (!cs_folder_sync(folder))
            result = cs_fail(err, CS_CODE_IO,
                             "the file of baselines is in its place, but its folder could not be written to disk: %s",
                             strerror(errno));
    }
    (void)cs_new_file_end(&made);
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
