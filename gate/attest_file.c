/* The file of attestations: a new one, whole or not at all, and never in the place of another. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "gate/attest.h"

#define MODE 0644

typedef struct place {
    int folder;
    const char *name;
    char temporary[64];
} place;

static cs_result fail_write(cs_error *err) {
    return cs_fail(err, CS_CODE_IO, "the attestation can't be written: %s", strerror(errno));
}

static cs_result open_folder(const char *path, place *at, cs_error *err) {
    const char *slash = strrchr(path, '/');
    at->name = slash == NULL ? path : slash + 1;
    char folder[PATH_MAX];
    int len = slash == NULL ? snprintf(folder, sizeof folder, ".")
                            : snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    if (at->name[0] == '\0' || len < 0 || (size_t)len >= sizeof folder)
        return cs_fail(err, CS_CODE_IO, "the path of the attestation names no file, or is too long");
    at->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return at->folder >= 0 ? CS_OK : fail_write(err);
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

/* A name that never takes the place of a file. Where there is no such renaming, a second name can do it. */
static cs_result put_in_place(const place *at, cs_error *err) {
    int done = renameat2(at->folder, at->temporary, at->folder, at->name, RENAME_NOREPLACE);
    if (done != 0 && errno != EEXIST) {
        done = linkat(at->folder, at->temporary, at->folder, at->name, 0);
        if (done == 0) (void)unlinkat(at->folder, at->temporary, 0);
    }
    if (done == 0) return CS_OK;
    if (errno != EEXIST) return fail_write(err);
    return cs_fail(err, CS_CODE_IO, "there is a file already where the attestation is to be; none is replaced");
}

static cs_result write_beside(place *at, cs_view bytes, cs_error *err) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) return fail_write(err);
    (void)snprintf(at->temporary, sizeof at->temporary, ".countersign-attest-%016llx.tmp", (unsigned long long)random);
    int fd = openat(at->folder, at->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE);
    if (fd < 0) return fail_write(err);
    cs_result result = write_all(fd, bytes, err);
    if (result == CS_OK && fsync(fd) != 0) result = fail_write(err);
    if (close(fd) != 0 && result == CS_OK) result = fail_write(err);
    if (result == CS_OK) result = put_in_place(at, err);
    if (result != CS_OK) (void)unlinkat(at->folder, at->temporary, 0);
    return result;
}

cs_result cs_gate_attest_publish(const char *path, cs_view bytes, cs_error *err) {
    place at = {.folder = -1};
    cs_result result = open_folder(path, &at, err);
    if (result == CS_OK) result = write_beside(&at, bytes, err);
    /* Some file systems can't sync a folder and say so with EINVAL; that is no failure. */
    if (result == CS_OK && fsync(at.folder) != 0 && errno != EINVAL) {
        result = fail_write(err);
        (void)unlinkat(at.folder, at.name, 0);
    }
    if (at.folder >= 0) (void)close(at.folder);
    if (result != CS_OK) cs_error_where(err, "%s", path);
    return result;
}
