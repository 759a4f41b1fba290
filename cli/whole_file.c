#include "cli/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_PATH 65536u
#define CHUNK 65536u

static bool write_all(int fd, cs_view bytes) {
    while (bytes.len > 0) {
        ssize_t put = write(fd, bytes.ptr, bytes.len);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes = cs_view_bytes(bytes.ptr + put, bytes.len - (size_t)put);
    }
    return true;
}

static bool name_beside(const char *path, cs_buf *out) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) return false;
    return cs_buf_printf(out, "%s.%016llx.tmp", path, (unsigned long long)random) && cs_buf_byte(out, '\0');
}

/* The umask may have taken bits away from the mode. */
static bool put_in_place(const char *temporary, const char *path, mode_t mode, cs_view bytes) {
    int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0) return false;
    bool good = write_all(fd, bytes) && fchmod(fd, mode) == 0 && fsync(fd) == 0;
    int why = errno;
    if (close(fd) != 0 && good) {
        why = errno;
        good = false;
    }
    if (good && rename(temporary, path) == 0) return true;
    if (good) why = errno;
    (void)unlink(temporary);
    errno = why;
    return false;
}

cs_result cs_whole_file_write(const char *path, mode_t mode, cs_view bytes, cs_error *err) {
    CS_AUTO_BUF temporary = CS_BUF_INIT(MAX_PATH);
    errno = ENAMETOOLONG;
    if (name_beside(path, &temporary) && put_in_place((const char *)temporary.ptr, path, mode, bytes)) return CS_OK;
    cs_result result = cs_fail(err, CS_CODE_IO, "the file can't be written: %s", strerror(errno));
    cs_error_where(err, "%s", path);
    return result;
}

static cs_result read_all(int fd, cs_buf *out, cs_error *err) {
    uint8_t chunk[CHUNK];
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cs_fail(err, CS_CODE_IO, "the file can't be read: %s", strerror(errno));
        if (got == 0) return CS_OK;
        if (!cs_buf_append(out, chunk, (size_t)got))
            return cs_fail(err, CS_CODE_IO, "the file is larger than %zu bytes", out->max);
    }
}

cs_result cs_whole_file_read(const char *path, cs_buf *out, cs_error *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    cs_result result =
        fd >= 0 ? read_all(fd, out, err) : cs_fail(err, CS_CODE_IO, "the file can't be read: %s", strerror(errno));
    if (fd >= 0) (void)close(fd);
    if (result != CS_OK) cs_error_where(err, "%s", path);
    return result;
}
