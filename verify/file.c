#include "verify/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

cs_file_state cs_file_read_open(int fd, cs_buf *out) {
    for (;;) {
        uint8_t part[16384];
        ssize_t got = read(fd, part, sizeof part);
        if (got == 0) return CS_FILE_READ;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return CS_FILE_FAILED;
        if ((size_t)got > out->max - out->len) return CS_FILE_TOO_LONG;
        if (!cs_buf_append(out, part, (size_t)got)) return CS_FILE_NO_MEMORY;
    }
}

cs_file_state cs_file_read(const char *path, cs_buf *out) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return CS_FILE_FAILED;
    cs_file_state state = cs_file_read_open(fd, out);
    int saved = errno;
    (void)close(fd);
    errno = saved;
    return state;
}
