#include "examples/localdaemon/probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_CHILDREN 64

/* Not strtoull, which may take a lock. */
static uint64_t number(const char *text) {
    uint64_t value = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        value = value * 10 + (uint64_t)(*text - '0');
    return value;
}

static int outcome(long result) {
    return result < 0 ? errno : 0;
}

static int probe_read(const char *path) {
    char byte;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? errno : outcome(read(fd, &byte, 1));
}

static int connect_to(uint32_t address, const char *port) {
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)number(port)), .sin_addr = {.s_addr = htonl(address)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd < 0 ? errno : outcome(connect(fd, (const struct sockaddr *)&to, sizeof(to)));
}

static int probe_tcp(const char *port) {
    return connect_to(INADDR_LOOPBACK, port);
}

static int probe_gateway(const char *port) {
    return connect_to(0x0a000202, port); /* 10.0.2.2 */
}

static int probe_socket(const char *unused) {
    (void)unused;
    return outcome(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
}

static int probe_abstract(const char *name) {
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t len = strlen(name);
    if (len >= sizeof(to.sun_path)) return ENAMETOOLONG;
    memcpy(to.sun_path + 1, name, len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
    return fd < 0 ? errno : outcome(connect(fd, (const struct sockaddr *)&to, size));
}

static int probe_signal(const char *pid) {
    return outcome(kill((pid_t)number(pid), 0));
}

static int probe_keyctl(const char *unused) {
    (void)unused;
    /* KEYCTL_GET_KEYRING_ID of the process keyring, made when missing. */
    return outcome(syscall(SYS_keyctl, 0, -2, 1));
}

static int probe_bpf(const char *unused) {
    (void)unused;
    union bpf_attr what = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};
    return outcome(syscall(SYS_bpf, BPF_MAP_CREATE, &what, sizeof(what)));
}

static int probe_unshare(const char *unused) {
    (void)unused;
    if (syscall(SYS_unshare, 1) == 0) return 0;
    return errno == EPERM ? EPERM : 0;
}

static int probe_shm(const char *id) {
    return outcome(syscall(SYS_shmat, (int)number(id), NULL, 0));
}

static int probe_fork(const char *count) {
    pid_t children[MAX_CHILDREN];
    int made = 0;
    int denied = 0;
    int wanted = (int)number(count);
    while (made < wanted && made < MAX_CHILDREN && denied == 0) {
        pid_t pid = _Fork();
        if (pid == 0) {
            pause();
            _exit(0);
        }
        if (pid < 0)
            denied = errno;
        else
            children[made++] = pid;
    }
    for (int i = 0; i < made; i++)
        kill(children[i], SIGKILL);
    for (int i = 0; i < made; i++)
        waitpid(children[i], NULL, 0);
    return denied;
}

static int probe_memory(const char *bytes) {
    const void *memory =
        mmap(NULL, number(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? errno : 0;
}

/* The memory of gVisor is a file, and a file that may not grow is told by this signal. */
static void ignore_file_size(void) {
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigaction(SIGXFSZ, &action, NULL);
}

/* In a child, which ends by a signal where there is no memory to be had. */
static int probe_touch(const char *bytes) {
    ignore_file_size();
    pid_t pid = _Fork();
    if (pid == 0) {
        uint64_t size = number(bytes);
        volatile char *memory =
            mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) _exit(ENOMEM);
        for (uint64_t at = 0; at < size; at += 2u << 20)
            memory[at] = 1;
        _exit(0);
    }
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) != pid) return errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : ENOMEM;
}

static int probe_write(const char *bytes) {
    ignore_file_size();
    int fd = open("probe.out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    return fd < 0 ? errno : outcome(pwrite(fd, "x", 1, (off_t)number(bytes)));
}

int ld_probe(const char *name, const char *argument) {
    static const struct {
        const char *name;
        int (*attempt)(const char *argument);
    } probes[] = {{"read", probe_read},     {"tcp", probe_tcp},           {"gateway", probe_gateway},
                  {"socket", probe_socket}, {"abstract", probe_abstract}, {"signal", probe_signal},
                  {"keyctl", probe_keyctl}, {"bpf", probe_bpf},           {"unshare", probe_unshare},
                  {"shm", probe_shm},       {"fork", probe_fork},         {"memory", probe_memory},
                  {"touch", probe_touch},   {"write", probe_write}};
    for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
        if (strcmp(probes[i].name, name) == 0) return probes[i].attempt(argument);
    return 255;
}
