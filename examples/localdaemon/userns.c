#include "examples/localdaemon/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct text {
    char bytes[128];
    size_t len;
} text;

static void add_text(text *to, const char *from) {
    while (*from != '\0' && to->len + 1 < sizeof(to->bytes))
        to->bytes[to->len++] = *from++;
    to->bytes[to->len] = '\0';
}

static void add_number(text *to, unsigned number) {
    char digits[11];
    size_t at = sizeof(digits) - 1;
    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    add_text(to, digits + at);
}

static bool write_map(pid_t pid, const char *name, const text *map) {
    text path = {.len = 0};
    add_text(&path, "/proc/");
    add_number(&path, (unsigned)pid);
    add_text(&path, name);
    int fd = open(path.bytes, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool good = write(fd, map->bytes, map->len) == (ssize_t)map->len;
    close(fd);
    return good;
}

/* The helper, outside the new namespace: only there can users be given into it. */
static _Noreturn void give_users(pid_t pid, int word, uid_t root, uid_t other) {
    char byte;
    text map = {.len = 0};
    add_text(&map, "0 ");
    add_number(&map, root);
    add_text(&map, " 1\n");
    add_number(&map, LD_INSIDE_USER);
    add_text(&map, " ");
    add_number(&map, other);
    add_text(&map, " 1\n");
    bool good = read(word, &byte, 1) == 1 && write_map(pid, "/uid_map", &map) && write_map(pid, "/gid_map", &map);
    _exit(good ? 0 : 1);
}

static bool become_root(void) {
    return syscall(SYS_setgroups, 0, NULL) == 0 && syscall(SYS_setresgid, 0, 0, 0) == 0 &&
           syscall(SYS_setresuid, 0, 0, 0) == 0;
}

bool ld_userns_enter(uid_t root, uid_t other) {
    int word[2];
    pid_t self = getpid();
    if (pipe2(word, O_CLOEXEC) != 0) return false;
    pid_t helper = _Fork();
    if (helper == 0) {
        close(word[1]); /* so that the caller's death is the end of the pipe */
        give_users(self, word[0], root, other);
    }
    close(word[0]);
    bool good = helper > 0 && unshare(CLONE_NEWUSER) == 0 && write(word[1], "m", 1) == 1;
    int error = errno;
    close(word[1]);
    int status = 0;
    while (helper > 0 && waitpid(helper, &status, 0) < 0 && errno == EINTR)
        continue;
    errno = error;
    if (!good) return false;
    errno = EPERM;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 && become_root();
}
