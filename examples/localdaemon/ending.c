#include "examples/localdaemon/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 1000
#define PAUSE_NS 5000000L

bool ld_end_user(uid_t uid, uid_t killer) {
    pid_t pid = _Fork();
    if (pid < 0) return false;
    if (pid == 0) {
        /* The raw call: glibc's would look for other threads. */
        if (syscall(SYS_setresgid, killer, killer, killer) != 0 || syscall(SYS_setresuid, killer, uid, killer) != 0)
            _exit(1);
        _exit(kill(-1, SIGKILL) == 0 || errno == ESRCH ? 0 : 1);
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

struct entry { /* as getdents64 writes it */
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

/* The parent of a process, from its stat line; 0 when it is gone. */
static pid_t parent_of(int proc, const char *pid) {
    char path[32];
    size_t len = 0;
    while (len < sizeof(path) - 6 && pid[len] != '\0') {
        path[len] = pid[len];
        len++;
    }
    static const char tail[] = "/stat";
    for (size_t i = 0; i < sizeof(tail); i++)
        path[len + i] = tail[i];
    int fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    char line[512];
    ssize_t got = read(fd, line, sizeof(line) - 1);
    close(fd);
    if (got <= 0) return 0;
    line[got] = '\0';
    /* "pid (name) state ppid": the name may hold anything, so from its last parenthesis on. */
    ssize_t at = got - 1;
    while (at > 0 && line[at] != ')')
        at--;
    if (at == 0 || at + 4 >= got) return 0;
    pid_t parent = 0;
    for (ssize_t i = at + 4; line[i] >= '0' && line[i] <= '9'; i++)
        parent = parent * 10 + (line[i] - '0');
    return parent;
}

static pid_t number_of(const char *name) {
    pid_t pid = 0;
    for (; *name >= '0' && *name <= '9'; name++)
        pid = pid * 10 + (*name - '0');
    return *name == '\0' ? pid : 0;
}

static void kill_children(void) {
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0) return;
    pid_t self = getpid();
    _Alignas(struct entry) char names[4096];
    for (;;) {
        long got = syscall(SYS_getdents64, proc, names, sizeof(names));
        if (got <= 0) break;
        for (long at = 0; at < got;) {
            const struct entry *entry = (const struct entry *)(const void *)(names + at);
            pid_t pid = number_of(entry->name);
            if (pid > 0 && parent_of(proc, entry->name) == self) kill(pid, SIGKILL);
            at += entry->length;
        }
    }
    close(proc);
}

/* Reap whoever has ended. False when there is no child any more. */
static bool reap(void) {
    pid_t reaped;
    do {
        reaped = waitpid(-1, NULL, WNOHANG);
    } while (reaped > 0 || (reaped < 0 && errno == EINTR));
    return reaped == 0 || errno != ECHILD;
}

bool ld_end_children(uid_t uid, uid_t killer) {
    for (int round = 0; round < ROUNDS; round++) {
        if (!reap()) return true;
        /* A kill that fails is made again in the next round. */
        if (uid == killer || !ld_end_user(uid, killer)) kill_children();
        nanosleep(&(struct timespec){.tv_nsec = round < 20 ? PAUSE_NS / 20 : PAUSE_NS}, NULL);
    }
    return false;
}
