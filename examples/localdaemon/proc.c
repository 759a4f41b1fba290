#include "examples/localdaemon/proc.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct entry { /* as getdents64 writes it */
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

/* The stat line of a process into `line`; its length, 0 when it is gone. */
static size_t read_line(int proc, const char *pid, char *line, size_t size) {
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
    ssize_t got = read(fd, line, size - 1);
    close(fd);
    if (got <= 0) return 0;
    line[got] = '\0';
    return (size_t)got;
}

/* Field `number` of the line, counted from the process's state as 3; proc(5). The text at its begin, or "". */
static const char *field(const char *from_state, int number) {
    for (int at = 3; at < number; at++) {
        while (*from_state != ' ' && *from_state != '\0')
            from_state++;
        if (*from_state == ' ') from_state++;
    }
    return from_state;
}

static uint64_t decimal(const char *text) {
    uint64_t value = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    return value;
}

bool ld_process_read(int proc, const char *name, ld_process *out) {
    char line[1024];
    size_t len = read_line(proc, name, line, sizeof(line));
    /* "pid (name) state ppid": the name may hold anything, so from its last parenthesis on. */
    size_t at = len;
    while (at > 0 && line[at - 1] != ')')
        at--;
    if (at == 0 || line[at] != ' ' || line[at + 1] == '\0') return false;
    const char *state = line + at + 1;
    *out = (ld_process){.parent = (pid_t)decimal(field(state, 4)),
                        .state = *state,
                        .threads = decimal(field(state, 20)),
                        .started = decimal(field(state, 22))};
    return true;
}

/* A leader that has ended while its threads live on looks the same, but for their number. */
bool ld_process_gone(const ld_process *process) {
    return (process->state == 'Z' || process->state == 'X') && process->threads <= 1;
}

static pid_t number_of(const char *name) {
    pid_t pid = 0;
    for (; *name >= '0' && *name <= '9'; name++)
        pid = pid * 10 + (*name - '0');
    return *name == '\0' ? pid : 0;
}

bool ld_process_each(int proc, void (*visit)(pid_t pid, const char *name, void *of), void *of) {
    _Alignas(struct entry) char names[4096];
    if (lseek(proc, 0, SEEK_SET) != 0) return false;
    for (;;) {
        long got = syscall(SYS_getdents64, proc, names, sizeof(names));
        if (got <= 0) return got == 0;
        for (long at = 0; at < got;) {
            const struct entry *entry = (const struct entry *)(const void *)(names + at);
            pid_t pid = number_of(entry->name);
            if (pid > 0) visit(pid, entry->name, of);
            at += entry->length;
        }
    }
}
