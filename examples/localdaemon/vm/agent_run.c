/* One command: start, forward its streams, end whatever it has started, tell. */
#include "examples/localdaemon/vm/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 1000
#define PAUSE_NS 2000000L
#define MAX_STRINGS 128u

/* ---- the request ----------------------------------------------------------------------------------- */

typedef struct command {
    uint64_t limits[LD_VM_LIMITS];
    char *strings[MAX_STRINGS + 2]; /* arguments, NULL, environment, NULL */
    char **argv;
    char **envp;
} command;

/* The payload ends with a NUL of its last string. The daemon is trusted here, but not to be free of bugs. */
static bool parse(const agent_frame *request, command *out) {
    const size_t head = LD_VM_LIMITS * 8 + 2;
    memset(out, 0, sizeof(*out));
    if (request->len <= head || request->payload[request->len - 1] != '\0') return false;
    for (size_t i = 0; i < LD_VM_LIMITS; i++)
        out->limits[i] = agent_number(request->payload + i * 8, 8);
    size_t arguments = (size_t)agent_number(request->payload + head - 2, 2);
    size_t count = 0;
    size_t slot = 0;
    for (size_t at = head; at < request->len; count++) {
        if (count >= MAX_STRINGS) return false;
        if (count == arguments) slot++;
        char *text = (char *)request->payload + at;
        out->strings[slot++] = text;
        at += strlen(text) + 1;
    }
    out->argv = out->strings;
    out->envp = out->strings + arguments + 1;
    return arguments >= 1 && arguments <= count;
}

/* ---- the child ------------------------------------------------------------------------------------- */

static void reset_signals(void) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number <= 64; number++)
        if (number != SIGKILL && number != SIGSTOP) sigaction(number, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool set_limit(__rlimit_resource_t which, uint64_t value) {
    struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
    return value == 0 || setrlimit(which, &limit) == 0;
}

/* The same limits as the other providers set, in the same order as in the request. */
static bool set_limits(const uint64_t limits[LD_VM_LIMITS]) {
    static const __rlimit_resource_t which[LD_VM_LIMITS] = {RLIMIT_DATA, RLIMIT_NPROC, RLIMIT_FSIZE, RLIMIT_NOFILE,
                                                            RLIMIT_CPU};
    for (size_t i = 0; i < LD_VM_LIMITS; i++)
        if (!set_limit(which[i], limits[i])) return false;
    struct rlimit none = {0};
    return setrlimit(RLIMIT_CORE, &none) == 0 && setrlimit(RLIMIT_MSGQUEUE, &none) == 0 &&
           set_limit(RLIMIT_MEMLOCK, 65536);
}

static bool offer_to_oom_killer(void) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, "1000", 4) == 4;
    if (fd >= 0) close(fd);
    return good;
}

static bool set_user(void) {
    return setgroups(0, NULL) == 0 && setresgid(AGENT_USER, AGENT_USER, AGENT_USER) == 0 &&
           setresuid(AGENT_USER, AGENT_USER, AGENT_USER) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

static _Noreturn void be_command(const command *what, int out, int err, int failed) {
    reset_signals();
    umask(022);
    setsid();
    int null = open(AGENT_SYSTEM "/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0 && dup2(null, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2 && offer_to_oom_killer() &&
        chroot(AGENT_SYSTEM) == 0 && set_limits(what->limits) && set_user() && chdir(LD_VM_WORK) == 0)
        execve(what->argv[0], what->argv, what->envp);
    int32_t error = errno;
    _exit(write(failed, &error, sizeof(error)) == (ssize_t)sizeof(error) ? 126 : 125);
}

/* ---- its streams ----------------------------------------------------------------------------------- */

typedef struct stream {
    int fd; /* -1: at its end */
    uint8_t type;
    size_t forwarded;
} stream;

/* One read. Past the bound the rest is dropped, so that the program never waits. */
static void forward(int port, stream *from) {
    uint8_t block[LD_VM_MAX_ANSWER];
    ssize_t got = read(from->fd, block, sizeof(block));
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {
        close(from->fd);
        from->fd = -1;
        return;
    }
    size_t room = LD_VM_FORWARDED - from->forwarded;
    size_t len = (size_t)got < room ? (size_t)got : room;
    if (len > 0) agent_send(port, from->type, block, len);
    from->forwarded += len;
}

/* What is still in the pipes. Whoever could write is dead, or can't be killed: it does not wait. */
static void forward_rest(int port, stream *from) {
    for (struct pollfd watched = {.fd = from->fd, .events = POLLIN}; from->fd >= 0 && poll(&watched, 1, 0) > 0;)
        forward(port, from);
    if (from->fd >= 0) close(from->fd);
    from->fd = -1;
}

/* ---- its end --------------------------------------------------------------------------------------- */

/* Kill and reap everything but this process: the guest has no other that isn't the run's. */
static bool end_all(void) {
    for (int round = 0; round < ROUNDS; round++) {
        kill(-1, SIGKILL);
        pid_t reaped;
        do {
            reaped = waitpid(-1, NULL, WNOHANG);
        } while (reaped > 0 || (reaped < 0 && errno == EINTR));
        if (reaped < 0 && errno == ECHILD) return true;
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    }
    return false;
}

/* Reap whoever has ended. True with the status when the command is among them. */
static bool reap(pid_t pid, int *status) {
    int each = 0;
    bool found = false;
    for (pid_t reaped = waitpid(-1, &each, WNOHANG); reaped > 0; reaped = waitpid(-1, &each, WNOHANG))
        if (reaped == pid) {
            *status = each;
            found = true;
        }
    return found;
}

/* Forward until the command ends or is to be killed. */
static ld_vm_fate attend(int port, pid_t pid, int signals, stream streams[2], int *status) {
    for (;;) {
        struct pollfd watched[4] = {{.fd = signals, .events = POLLIN},
                                    {.fd = port, .events = POLLIN},
                                    {.fd = streams[0].fd, .events = POLLIN},
                                    {.fd = streams[1].fd, .events = POLLIN}};
        if (poll(watched, 4, -1) < 0 && errno != EINTR) agent_die("poll");
        for (size_t i = 0; i < 2; i++)
            if (watched[2 + i].revents != 0) forward(port, &streams[i]);
        struct signalfd_siginfo info;
        if (watched[0].revents != 0 && read(signals, &info, sizeof(info)) > 0 && reap(pid, status))
            return WIFSIGNALED(*status) ? LD_VM_SIGNALED : LD_VM_EXITED;
        if (watched[1].revents == 0) continue;
        agent_frame frame;
        agent_receive(port, &frame);
        free(frame.payload);
        if (frame.type != LD_VM_KILL) agent_die("a frame comes too early");
        return LD_VM_KILLED;
    }
}

static void tell(int port, ld_vm_fate end, uint32_t value, bool clean) {
    uint8_t payload[6] = {(uint8_t)end};
    agent_put_number(payload + 1, 4, value);
    payload[5] = clean ? 1 : 0;
    agent_send(port, LD_VM_ENDED, payload, sizeof(payload));
}

/* What the child says of its start: 0, or an errno. */
static int started(int failed) {
    int32_t error = 0;
    ssize_t got;
    do {
        got = read(failed, &error, sizeof(error));
    } while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof(error) ? error : 0;
}

static void run(int port, const command *what, int signals) {
    int out[2];
    int err[2];
    int failed[2];
    if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 || pipe2(failed, O_CLOEXEC) != 0)
        agent_die("no pipes");
    pid_t pid = fork();
    if (pid == 0) be_command(what, out[1], err[1], failed[1]);
    int error = pid < 0 ? errno : 0;
    close(out[1]);
    close(err[1]);
    close(failed[1]);
    if (pid > 0) error = started(failed[0]);
    close(failed[0]);
    stream streams[2] = {{.fd = out[0], .type = LD_VM_OUT}, {.fd = err[0], .type = LD_VM_ERR}};
    int status = 0;
    ld_vm_fate end = error != 0 ? LD_VM_UNSTARTED : attend(port, pid, signals, streams, &status);
    bool clean = end_all();
    for (size_t i = 0; i < 2; i++)
        forward_rest(port, &streams[i]);
    uint32_t value = (uint32_t)error;
    if (end == LD_VM_EXITED) value = (uint32_t)WEXITSTATUS(status);
    if (end == LD_VM_SIGNALED) value = (uint32_t)WTERMSIG(status);
    tell(port, end, value, clean);
}

void agent_run(int port, const agent_frame *request) {
    command what;
    if (!parse(request, &what)) agent_die("a command is malformed");
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    int signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0) agent_die("signalfd");
    run(port, &what, signals);
    close(signals);
}
