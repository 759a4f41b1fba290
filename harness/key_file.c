/* Key files: written exclusively, and read only when nobody else could have read or changed them. */
#include "harness/key_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/new_file.h"

#define PRIVATE_MODE 0600
#define PUBLIC_MODE 0644
#define MODE_OF_OTHERS 077
#define MAX_PEM_BYTES 512u /* of what is written here: about 120 */

/* ---- reading -------------------------------------------------------------------------------------- */

static cs_result check_file(int fd, const char *path, cs_error *err) {
    struct stat info;
    if (fstat(fd, &info) != 0)
        return cs_fail(err, CS_CODE_KEY_UNREADABLE, "the key file could not be examined: %s", strerror(errno));
    if (!S_ISREG(info.st_mode)) return cs_fail(err, CS_CODE_KEY_UNREADABLE, "the key file is not a regular file");
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return cs_fail(err, CS_CODE_KEY_PERMISSIONS,
                       "the key file belongs to user %u, who can change it; expected it to belong to user %u or root",
                       (unsigned)info.st_uid, (unsigned)geteuid());
    if ((info.st_mode & MODE_OF_OTHERS) != 0)
        return cs_fail(err, CS_CODE_KEY_PERMISSIONS,
                       "the key file has mode %04o, so others can reach it; if nobody has read it, run: chmod 600 %s",
                       (unsigned)(info.st_mode & 07777), path);
    if (info.st_size > (off_t)CS_MAX_KEY_FILE)
        return cs_fail(err, CS_CODE_KEY_MALFORMED, "a key file has at most %u bytes; this one has %lld",
                       CS_MAX_KEY_FILE, (long long)info.st_size);
    return CS_OK;
}

/* Read all of it. The buffer has room for one byte more than a key file may have, so that a file which
 * grew since it was examined is noticed. */
static cs_result read_all(int fd, cs_buf *pem, cs_error *err) {
    while (pem->len < pem->cap) {
        ssize_t got = read(fd, pem->ptr + pem->len, pem->cap - pem->len);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cs_fail(err, CS_CODE_KEY_UNREADABLE, "the key file could not be read: %s", strerror(errno));
        if (got == 0) return CS_OK;
        pem->len += (size_t)got;
    }
    return cs_fail(err, CS_CODE_KEY_MALFORMED, "a key file has at most %u bytes; this one has more", CS_MAX_KEY_FILE);
}

static cs_result load(const char *path, cs_key **out, cs_error *err) {
    /* Non-blocking, so that a named pipe is refused instead of waited for. */
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ELOOP)
        return cs_fail(err, CS_CODE_KEY_UNREADABLE, "the key file is a symbolic link; name the file itself");
    if (fd < 0) return cs_fail(err, CS_CODE_KEY_UNREADABLE, "the key file could not be opened: %s", strerror(errno));

    CS_AUTO_SECRET pem = {0};
    cs_result result = check_file(fd, path, err);
    if (result == CS_OK && !cs_key_secret_new(CS_MAX_KEY_FILE + 1, &pem))
        result = cs_fail(err, CS_CODE_NO_MEMORY, "no locked memory for a private key");
    if (result == CS_OK) result = read_all(fd, &pem, err);
    close(fd);
    if (result != CS_OK) return result;
    return cs_key_parse(cs_buf_view(&pem), out, err);
}

cs_result cs_key_load(const char *path, cs_key **out, cs_error *err) {
    *out = NULL;
    cs_result result = load(path, out, err);
    if (result != CS_OK) cs_error_where(err, "%s", path);
    return result;
}

/* ---- writing -------------------------------------------------------------------------------------- */

/* One file being made in an open folder; fd is -1 while it does not exist. */
typedef struct new_file {
    char name[NAME_MAX + 1];
    int fd;
} new_file;

static cs_result create(int folder, const char *base, const char *suffix, mode_t mode, new_file *file, cs_error *err) {
    int len = snprintf(file->name, sizeof file->name, "%s%s", base, suffix);
    if (len < 0 || (size_t)len >= sizeof file->name)
        return cs_fail(err, CS_CODE_IO, "the name of the key file is too long; choose a shorter one");
    file->fd = openat(folder, file->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (file->fd < 0 && errno == EEXIST)
        return cs_fail(err, CS_CODE_KEY_EXISTS, "%s exists already and is never overwritten; choose another name",
                       file->name);
    if (file->fd < 0) return cs_fail(err, CS_CODE_IO, "%s could not be made: %s", file->name, strerror(errno));
    /* The umask may have taken bits away. */
    if (fchmod(file->fd, mode) != 0)
        return cs_fail(err, CS_CODE_IO, "the mode of %s could not be set: %s", file->name, strerror(errno));
    return CS_OK;
}

static cs_result fill(new_file *file, const cs_buf *text, cs_error *err) {
    if (!cs_write_all(file->fd, cs_buf_view(text)))
        return cs_fail(err, CS_CODE_IO, "%s could not be written: %s", file->name, strerror(errno));
    if (fsync(file->fd) != 0)
        return cs_fail(err, CS_CODE_IO, "%s could not be written to disk: %s", file->name, strerror(errno));
    return CS_OK;
}

static void finish(int folder, new_file *file, bool keep) {
    if (file->fd < 0) return;
    close(file->fd);
    if (!keep) (void)unlinkat(folder, file->name, 0);
}

static cs_result write_pair(int folder, const char *base, const cs_buf *private_pem, const cs_buf *public_pem,
                            cs_error *err) {
    new_file key_file = {.fd = -1};
    new_file pub_file = {.fd = -1};
    cs_result result = create(folder, base, ".key", PRIVATE_MODE, &key_file, err);
    if (result == CS_OK) result = create(folder, base, ".pub", PUBLIC_MODE, &pub_file, err);
    if (result == CS_OK) result = fill(&key_file, private_pem, err);
    if (result == CS_OK) result = fill(&pub_file, public_pem, err);
    if (result == CS_OK && !cs_folder_sync(folder))
        result = cs_fail(err, CS_CODE_IO, "the folder could not be written to disk: %s", strerror(errno));
    finish(folder, &pub_file, result == CS_OK);
    finish(folder, &key_file, result == CS_OK);
    return result;
}

static cs_result generate(int folder, const char *base, cs_public_key *out, cs_error *err) {
    CS_AUTO_SECRET private_pem = {0};
    CS_AUTO_BUF public_pem = CS_BUF_INIT(MAX_PEM_BYTES);
    cs_key *key = NULL;
    cs_result result = cs_key_random(&key, err);
    if (result != CS_OK) return result;
    if (!cs_key_secret_new(MAX_PEM_BYTES, &private_pem) || !cs_key_private_pem(key, &private_pem) ||
        !cs_key_public_pem(cs_key_public(key), &public_pem))
        result = cs_fail(err, CS_CODE_INTERNAL, "the new key could not be written as PEM text");
    if (result == CS_OK) result = write_pair(folder, base, &private_pem, &public_pem, err);
    if (result == CS_OK) *out = *cs_key_public(key);
    cs_key_free(key);
    return result;
}

cs_result cs_key_generate(const char *prefix, cs_public_key *out, cs_error *err) {
    memset(out, 0, sizeof *out);
    const char *base = NULL;
    /* Both files are made, synced and, on failure, removed in this very folder, whatever becomes of its path. */
    int folder = cs_folder_of(prefix, O_RDONLY, &base);
    if (folder < 0) {
        cs_result failed =
            cs_fail(err, CS_CODE_IO, "the folder for the key files could not be opened: %s", strerror(errno));
        cs_error_where(err, "%s", prefix);
        return failed;
    }
    cs_result result = CS_UNCHECKED;
    if (base[0] == '\0')
        result = cs_fail(err, CS_CODE_IO, "the name of the key files is empty; give a folder and a name");
    else
        result = generate(folder, base, out, err);
    close(folder);
    if (result != CS_OK) cs_error_where(err, "%s", prefix);
    return result;
}
