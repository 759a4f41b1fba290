#include "examples/localdaemon/work.h"

#include "records/request.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Is this errno a consequence of the path that was asked for, and not of the machine's state? */
static bool path_is_unfit(int error) {
    return error == ENOTDIR || error == EISDIR || error == EEXIST || error == ENAMETOOLONG || error == EILSEQ ||
           error == ENOENT || error == ELOOP || error == EXDEV || error == EACCES;
}

static ld_work unfit_or_failed(void) {
    return path_is_unfit(errno) ? LD_WORK_UNFIT : LD_WORK_FAILED;
}

/* Make (when missing) and open one folder on the way; takes `parent` unless it is `top`. -1 on failure. */
static int enter_folder(int parent, int top, const char *name, uid_t owner) {
    bool made = mkdirat(parent, name, 0755) == 0;
    int fd = -1;
    if (made || errno == EEXIST) fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && made && owner != (uid_t)-1 && fchown(fd, owner, owner) != 0) {
        close(fd);
        fd = -1;
    }
    int error = errno;
    if (parent != top) close(parent);
    errno = error;
    return fd;
}

static bool write_all(int fd, cs_view content) {
    while (content.len > 0) {
        ssize_t put = write(fd, content.ptr, content.len);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        content.ptr += put;
        content.len -= (size_t)put;
    }
    return true;
}

static ld_work write_file(int folder, cs_view path, cs_view content, uid_t owner, bool replace) {
    char text[CS_MAX_PATH_BYTES + 1];
    errno = ENAMETOOLONG;
    if (path.len > CS_MAX_PATH_BYTES) return LD_WORK_UNFIT;
    memcpy(text, path.ptr, path.len);
    text[path.len] = '\0';
    int at = folder;
    char *name = text;
    for (char *slash = strchr(name, '/'); slash != NULL; slash = strchr(name, '/')) {
        *slash = '\0';
        at = enter_folder(at, folder, name, owner);
        if (at < 0) return unfit_or_failed();
        name = slash + 1;
    }
    bool free_name = !replace || unlinkat(at, name, 0) == 0 || errno == ENOENT;
    int fd = free_name ? openat(at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644) : -1;
    ld_work result = fd < 0 ? unfit_or_failed() : LD_WORK_FAILED;
    if (fd >= 0 && write_all(fd, content) && (owner == (uid_t)-1 || fchown(fd, owner, owner) == 0))
        result = LD_WORK_DONE;
    int error = errno;
    if (fd >= 0 && close(fd) != 0) result = LD_WORK_FAILED;
    if (at != folder) close(at);
    errno = error;
    return result;
}

ld_work ld_work_write(int folder, cs_view path, cs_view content, uid_t owner) {
    return write_file(folder, path, content, owner, false);
}

ld_work ld_work_replace(int folder, cs_view path, cs_view content, uid_t owner) {
    return write_file(folder, path, content, owner, true);
}

static int open_beneath(int folder, cs_view path) {
    char text[CS_MAX_PATH_BYTES + 1];
    if (path.len > CS_MAX_PATH_BYTES) return -1;
    memcpy(text, path.ptr, path.len);
    text[path.len] = '\0';
    /* Not blocking: a FIFO would wait for a writer for ever. */
    struct open_how how = {.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV};
    return (int)syscall(SYS_openat2, folder, text, &how, sizeof(how));
}

ld_work ld_work_read(int folder, cs_view path, uid_t owner, size_t room, cs_buf *out) {
    int fd = open_beneath(folder, path);
    if (fd < 0) return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? LD_WORK_FAILED : LD_WORK_UNFIT;
    ld_work result = LD_WORK_UNFIT;
    struct stat st;
    /* Another owner: a hard link to a file that isn't the run's. */
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_uid != owner) goto out;
    result = LD_WORK_LARGE;
    if ((uint64_t)st.st_size > room) goto out;
    size_t size = (size_t)st.st_size;
    result = LD_WORK_FAILED;
    if (!cs_buf_reserve(out, size)) goto out;
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(fd, out->ptr + out->len + done, size - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) goto out;
        done += (size_t)got;
    }
    out->len += size;
    result = LD_WORK_DONE;
out:
    close(fd);
    return result;
}
