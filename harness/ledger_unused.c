/* A ledger that this process made, and that nothing was written into, goes again.
 *
 * Another process may have come to the same file meanwhile, and would lose what it writes into a file that has no name
 * any more. So whoever opens a ledger holds its folder, shared, from before the file is looked for until SQLite's own
 * lock on the file is held, which a connection with a write-ahead log keeps until it is closed. Whoever removes one
 * holds the folder alone, and then SQLite's lock alone: nobody has the file open, and nobody is about to. A folder that
 * can't be read, or that a stranger keeps locked, can't be held: then an opening goes without, and a removal is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "harness/ledger_internal.h"

#define HOLD_TRIES 100
#define HOLD_RETRY_MS 10

/* Where SQLite locks a file ("File Locking And Concurrency": the pending, the reserved and the shared bytes). */
#define SQLITE_LOCK_FIRST 0x40000000
#define SQLITE_LOCK_BYTES 512

static int hold(const char *path, int how) {
    char folder[PATH_MAX];
    if (!cs_ledger_folder(path, folder, sizeof folder)) return -1;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int tries = 0; fd >= 0 && tries < HOLD_TRIES; tries++) {
        if (flock(fd, how | LOCK_NB) == 0) return fd;
        if (errno != EWOULDBLOCK && errno != EINTR) break;
        (void)nanosleep(&(struct timespec){.tv_nsec = HOLD_RETRY_MS * 1000000L}, NULL);
    }
    if (fd >= 0) (void)close(fd);
    return -1;
}

int cs_ledger_hold_folder(const char *path) {
    return hold(path, LOCK_SH);
}

static bool is_what_was_made(int fd, const cs_ledger_made *made) {
    struct stat info;
    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_dev == made->device && info.st_ino == made->inode;
}

/* A lock of this very descriptor, so that it also stands against a connection of this process. */
static bool lock_alone(int fd) {
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = SQLITE_LOCK_FIRST, .l_len = SQLITE_LOCK_BYTES};
    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

static bool beside(const char *path, const char *suffix, char out[PATH_MAX]) {
    int len = snprintf(out, PATH_MAX, "%s%s", path, suffix);
    return len > 0 && len < PATH_MAX;
}

static bool is_zero(const cs_ledger_file *file, const char *sql) {
    int64_t count = -1;
    return cs_ledger_file_number(file, sql, &count, NULL) == CS_OK && count == 0;
}

/* What can't be read may hold something. */
static bool holds_nothing(const char *path, int fd) {
    char log[PATH_MAX];
    struct stat info;
    if (!beside(path, "-wal", log)) return false;
    if (lstat(log, &info) == 0 ? info.st_size != 0 : errno != ENOENT) return false;
    if (fstat(fd, &info) != 0) return false;
    if (info.st_size == 0) return true;
    cs_ledger_file file;
    if (cs_ledger_file_open(path, CS_LEDGER_IMMUTABLE, 0, &file, NULL) != CS_OK) return false;
    bool nothing = is_zero(&file, "SELECT count(*) FROM sqlite_schema") || is_zero(&file, "SELECT count(*) FROM entry");
    cs_ledger_file_close(&file);
    return nothing;
}

/* The file itself goes last: once its name is free, what stands beside it may be another's. */
static void remove_all(const char *path, int folder) {
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        char name[PATH_MAX];
        if (!beside(path, suffixes[i], name)) return;
        if (unlink(name) != 0 && errno != ENOENT) return;
    }
    if (unlink(path) == 0) (void)fsync(folder);
}

void cs_ledger_remove_unused(const char *path, const cs_ledger_made *made) {
    if (!made->here) return;
    int folder = hold(path, LOCK_EX);
    if (folder < 0) return;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && is_what_was_made(fd, made) && lock_alone(fd) && holds_nothing(path, fd)) remove_all(path, folder);
    if (fd >= 0) (void)close(fd);
    (void)close(folder);
}
