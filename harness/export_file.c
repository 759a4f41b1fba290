#include "harness/export_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MODE_OF_OTHERS 022
#define BETWEEN_TRIES_MS 20
#define COMPARE_CHUNK ((size_t)64 * 1024)

/* ---- what is there --------------------------------------------------------------------------------- */

static cs_result open_folder(const char *path, cs_export_file *file, cs_error *err) {
    file->folder = cs_folder_of(path, O_RDONLY, &file->name);
    if (file->name[0] == '\0') return cs_fail(err, CS_CODE_IO, "the path of the bundle names no file");
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
    return cs_new_file_make(file->folder, "export", 0600, &file->made) ? CS_OK : fail_write(err);
}

cs_result cs_export_file_append(cs_export_file *file, cs_view bytes, cs_error *err) {
    return cs_write_all(file->made.fd, bytes) ? CS_OK : fail_write(err);
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

cs_result cs_export_file_publish(cs_export_file *file, bool *taken, cs_error *err) {
    const bool replace = file->old >= 0;
    *taken = replace && !still_there(file);
    if (*taken) return CS_OK;
    /* The umask may have taken bits away. */
    if (fchmod(file->made.fd, file->mode) != 0 || fsync(file->made.fd) != 0) return fail_write(err);
    const bool placed = cs_new_file_place(&file->made, file->name, replace);
    *taken = !placed && !replace && errno == EEXIST;
    if (*taken) return CS_OK;
    if (!placed) return cs_fail(err, CS_CODE_IO, "the new bundle can't be put in its place: %s", strerror(errno));
    cs_export_file_discard(file);
    if (cs_folder_sync(file->folder)) return CS_OK;
    return cs_fail(err, CS_CODE_IO, "the bundle is in its place, but its folder could not be written to disk: %s",
                   strerror(errno));
}

void cs_export_file_discard(cs_export_file *file) {
    (void)cs_new_file_end(&file->made);
}

void cs_export_file_close(cs_export_file *file) {
    cs_export_file_discard(file);
    close_old(file);
    if (file->folder >= 0) (void)close(file->folder);
    file->folder = -1;
}
