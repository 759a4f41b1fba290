#include "harness/export_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MODE_OF_OTHERS 022
#define BETWEEN_TRIES_MS 20
#define COMPARE_CHUNK ((size_t)64 * 1024)

/* ---- what is there --------------------------------------------------------------------------------- */

static cs_result open_folder(const char *path, cs_export_file *file, cs_error *err) {
    const char *slash = strrchr(path, '/');
    file->name = slash == NULL ? path : slash + 1;
    if (file->name[0] == '\0') return cs_fail(err, CS_CODE_IO, "the path of the bundle names no file");
    char folder[PATH_MAX];
    int len = slash == NULL ? snprintf(folder, sizeof folder, ".")
                            : snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    if (len < 0 || (size_t)len >= sizeof folder) return cs_fail(err, CS_CODE_IO, "the path of the bundle is too long");
    file->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file->folder >= 0) return CS_OK;
    return cs_fail(err, CS_CODE_IO, "can't open the folder of the bundle: %s", strerror(errno));
}

/* Not blocking, so that a named pipe is refused instead of waited for. */
static cs_result open_old(cs_export_file *file, cs_error *err) {
    file->old = openat(file->folder, file->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file->old >= 0 || errno == ENOENT) return CS_OK;
    if (errno == ELOOP)
        return cs_fail(err, CS_CODE_EXPORT_PERMISSIONS,
                       "the bundle's file is a symbolic link, which others may lead elsewhere; name the file itself");
    if (errno == EISDIR || errno == ENXIO)
        return cs_fail(err, CS_CODE_EXPORT_PERMISSIONS, "there is no regular file in the bundle's place: %s",
                       strerror(errno));
    return cs_fail(err, CS_CODE_IO, "the bundle's file can't be opened to extend it: %s", strerror(errno));
}

static void close_old(cs_export_file *file) {
    if (file->old >= 0) (void)close(file->old); /* which ends the lock, too */
    file->old = -1;
}

/* What is left of the time to wait is counted down in *left_ms. */
static cs_result lock_old(const cs_export_file *file, int *left_ms, const volatile sig_atomic_t *stop, cs_error *err) {
    while (flock(file->old, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return cs_fail(err, CS_CODE_IO, "the bundle's file can't be locked: %s", strerror(errno));
        if (stop != NULL && *stop != 0)
            return cs_fail(err, CS_CODE_INTERRUPTED,
                           "a signal ended the wait for another process that writes the bundle");
        if (*left_ms <= 0)
            return cs_fail(err, CS_CODE_EXPORT_LOCKED,
                           "another process is writing the bundle; try again, or wait longer (--lock-wait)");
        (void)nanosleep(&(struct timespec){.tv_nsec = BETWEEN_TRIES_MS * 1000000L}, NULL);
        *left_ms -= BETWEEN_TRIES_MS;
    }
    return CS_OK;
}

/* While we waited, the one who had the lock may have put a new file in the place of the one that we opened. */
static bool still_there(const cs_export_file *file) {
    struct stat open_one;
    struct stat named;
    return fstat(file->old, &open_one) == 0 && fstatat(file->folder, file->name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
           open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

static cs_result check_old(cs_export_file *file, cs_error *err) {
    struct stat info;
    if (fstat(file->old, &info) != 0)
        return cs_fail(err, CS_CODE_IO, "the bundle's file can't be examined: %s", strerror(errno));
    if (!S_ISREG(info.st_mode))
        return cs_fail(err, CS_CODE_EXPORT_PERMISSIONS, "there is no regular file in the bundle's place");
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return cs_fail(
            err, CS_CODE_EXPORT_PERMISSIONS,
            "the bundle's file belongs to user %u, who can change it; expected it to belong to user %u or root",
            (unsigned)info.st_uid, (unsigned)geteuid());
    if ((info.st_mode & MODE_OF_OTHERS) != 0)
        return cs_fail(err, CS_CODE_EXPORT_PERMISSIONS,
                       "the bundle's file has mode %04o, so others can change it; verify it, then run: chmod go-w %s",
                       (unsigned)(info.st_mode & 07777), file->name);
    file->old_size = (uint64_t)info.st_size;
    file->mode = info.st_mode & 0777;
    return CS_OK;
}

static cs_result open_locked(cs_export_file *file, int left_ms, const volatile sig_atomic_t *stop, cs_error *err) {
    for (;;) {
        cs_result result = open_old(file, err);
        if (result != CS_OK || file->old < 0) return result;
        result = check_old(file, err);
        if (result == CS_OK) result = lock_old(file, &left_ms, stop, err);
        if (result != CS_OK) return result;
        /* Again: until the lock was ours, it may have grown or been given to others. */
        if (still_there(file)) return check_old(file, err);
        close_old(file);
    }
}

cs_result cs_export_file_open(const char *path, int lock_wait_ms, const volatile sig_atomic_t *stop,
                              cs_export_file *file, cs_error *err) {
    cs_result result = open_folder(path, file, err);
    if (result == CS_OK) result = open_locked(file, lock_wait_ms, stop, err);
    if (result != CS_OK) cs_error_where(err, "%s", path);
    return result;
}

/* ---- the new file ---------------------------------------------------------------------------------- */

static cs_result fail_write(cs_error *err) {
    return cs_fail(err, CS_CODE_IO, "the new bundle can't be written: %s", strerror(errno));
}

cs_result cs_export_file_create(cs_export_file *file, cs_error *err) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) return fail_write(err);
    (void)snprintf(file->temporary, sizeof file->temporary, ".countersign-export-%016llx.tmp",
                   (unsigned long long)random);
    file->fd = openat(file->folder, file->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file->fd < 0) return fail_write(err);
    return CS_OK;
}

cs_result cs_export_file_append(cs_export_file *file, cs_view bytes, cs_error *err) {
    while (bytes.len > 0) {
        ssize_t put = write(file->fd, bytes.ptr, bytes.len);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return fail_write(err);
        bytes = cs_view_bytes(bytes.ptr + put, bytes.len - (size_t)put);
    }
    return CS_OK;
}

cs_result cs_export_file_compare(const cs_export_file *file, uint64_t at, cs_view bytes, bool *same, cs_error *err) {
    uint8_t chunk[COMPARE_CHUNK];
    *same = true;
    while (bytes.len > 0 && at < file->old_size) {
        size_t want = bytes.len < sizeof chunk ? bytes.len : sizeof chunk;
        if (want > file->old_size - at) want = (size_t)(file->old_size - at);
        ssize_t got = pread(file->old, chunk, want, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return cs_fail(err, CS_CODE_IO, "the bundle that is there can't be read");
        *same = memcmp(chunk, bytes.ptr, (size_t)got) == 0;
        if (!*same) return CS_OK;
        at += (uint64_t)got;
        bytes = cs_view_bytes(bytes.ptr + got, bytes.len - (size_t)got);
    }
    return CS_OK;
}

/* ---- in its place ---------------------------------------------------------------------------------- */

/* A new name that never takes the place of a file. Where there is no such renaming, a second name can do it. */
static int name_new(const cs_export_file *file) {
    int done = renameat2(file->folder, file->temporary, file->folder, file->name, RENAME_NOREPLACE);
    if (done == 0 || errno == EEXIST) return done;
    done = linkat(file->folder, file->temporary, file->folder, file->name, 0);
    if (done == 0) (void)unlinkat(file->folder, file->temporary, 0);
    return done;
}

cs_result cs_export_file_publish(cs_export_file *file, bool *taken, cs_error *err) {
    *taken = file->old >= 0 && !still_there(file);
    if (*taken) return CS_OK;
    /* The umask may have taken bits away. */
    if (fchmod(file->fd, file->mode) != 0 || fsync(file->fd) != 0) return fail_write(err);
    int done = file->old < 0 ? name_new(file) : renameat(file->folder, file->temporary, file->folder, file->name);
    *taken = done != 0 && file->old < 0 && errno == EEXIST;
    if (*taken) return CS_OK;
    if (done != 0) return cs_fail(err, CS_CODE_IO, "the new bundle can't be put in its place: %s", strerror(errno));
    (void)close(file->fd);
    file->fd = -1;
    /* Some file systems can't sync a folder and say so with EINVAL; that is no failure. */
    if (fsync(file->folder) == 0 || errno == EINVAL) return CS_OK;
    return cs_fail(err, CS_CODE_IO, "the bundle is in its place, but its folder could not be written to disk: %s",
                   strerror(errno));
}

void cs_export_file_discard(cs_export_file *file) {
    if (file->fd < 0) return;
    (void)close(file->fd);
    (void)unlinkat(file->folder, file->temporary, 0);
    file->fd = -1;
}

void cs_export_file_close(cs_export_file *file) {
    cs_export_file_discard(file);
    close_old(file);
    if (file->folder >= 0) (void)close(file->folder);
    file->folder = -1;
}
