#include "examples/localdaemon/software.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK 262144u

/* Feed what is left of a file. False with errno on failure. */
static bool feed(cs_sha256 *hash, int fd, uint8_t *chunk) {
    for (;;) {
        ssize_t got = read(fd, chunk, CHUNK);
        if (got == 0) return true;
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return false;
        cs_sha256_update(hash, chunk, (size_t)got);
    }
}

cs_result ld_software_digest(const char *path, cs_digest *out, cs_error *err) {
    cs_result result = CS_UNCHECKED;
    cs_sha256 *hash = cs_sha256_new();
    uint8_t *chunk = malloc(CHUNK);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (hash == NULL || chunk == NULL)
        result = cs_fail(err, CS_CODE_NO_MEMORY, "no memory to read %s", path);
    else if (fd < 0 || !feed(hash, fd, chunk))
        result = cs_fail(err, CS_CODE_IO, "%s can't be read: %s", path, strerror(errno));
    else if (!cs_sha256_final_hex(hash, out))
        result = cs_fail(err, CS_CODE_INTERNAL, "no digest of %s", path);
    else
        result = CS_OK;
    if (fd >= 0) close(fd);
    free(chunk);
    cs_sha256_free(hash);
    return result;
}

static _Noreturn void say_version(const char *program, int out) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, 0) != 0 || dup2(out, 1) != 1 || dup2(null, 2) != 2) _exit(126);
    execl(program, program, "--version", (char *)NULL);
    _exit(127);
}

/* All that fits; the rest is read and dropped, so that the program comes to its end. */
static size_t read_all(int fd, char *out, size_t size) {
    char rest[512] = "";
    size_t len = 0;
    ssize_t got = 1;
    while (got > 0 || (got < 0 && errno == EINTR)) {
        bool room = len + 1 < size;
        got = read(fd, room ? out + len : rest, room ? size - len - 1 : sizeof(rest));
        if (got > 0 && room) len += (size_t)got;
    }
    out[len] = '\0';
    return len;
}

cs_result ld_software_version(const char *program, char *out, size_t size, cs_error *err) {
    int pipe_of[2];
    if (pipe2(pipe_of, O_CLOEXEC) != 0) return cs_fail(err, CS_CODE_IO, "no pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) say_version(program, pipe_of[1]);
    close(pipe_of[1]);
    size_t len = pid > 0 ? read_all(pipe_of[0], out, size) : 0;
    close(pipe_of[0]);
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    out[strcspn(out, "\n")] = '\0';
    bool good = pid > 0 && len > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    for (size_t i = 0; good && out[i] != '\0'; i++)
        good = out[i] >= 0x20 && out[i] < 0x7f;
    return good && out[0] != '\0' ? CS_OK : cs_fail(err, CS_CODE_IO, "%s --version says nothing usable", program);
}
