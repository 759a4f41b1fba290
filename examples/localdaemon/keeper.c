#include "examples/localdaemon/keeper.h"

#include "examples/localdaemon/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const char *ld_stage_word(int32_t stage) {
    static const char *const words[] = {"started", "fork",     "streams", "limits", "user",
                                        "folder",  "Landlock", "seccomp", "execute"};
    return stage >= 0 && (size_t)stage < sizeof(words) / sizeof(words[0]) ? words[stage] : "unknown";
}

static void close_between(int first, int last) {
    if (first <= last) syscall(SYS_close_range, (unsigned)first, (unsigned)last, 0);
}

void ld_close_others(int *keep, size_t count) {
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && keep[j - 1] > keep[j]; j--) {
            int swap = keep[j];
            keep[j] = keep[j - 1];
            keep[j - 1] = swap;
        }
    int next = 3;
    for (size_t i = 0; i < count; i++) {
        if (keep[i] < next) continue;
        close_between(next, keep[i] - 1);
        next = keep[i] + 1;
    }
    syscall(SYS_close_range, (unsigned)next, ~0u, 0);
}

/* The keeper must outlive whatever a terminal or the daemon's stop sends to the group. */
static void ignore_signals(void) {
    static const int ignored[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2, SIGALRM};
    struct sigaction action = {.sa_handler = SIG_IGN};
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        sigaction(ignored[i], &action, NULL);
}

typedef struct beginning {
    const ld_plan *plan;
    int failed;
} beginning;

static int be_command(void *of) {
    const beginning *self = of;
    ld_confined(self->plan, self->failed);
}

/* AddressSanitizer knows one stack for each thread, and takes another for damage. */
#if defined(__SANITIZE_ADDRESS__)
#define HAS_SECOND_STACK false
#else
#define HAS_SECOND_STACK true
#endif

/* A fork copies the daemon's page tables, twice for each run. A program's way to its execve is system calls only, so it
 * borrows the keeper's memory for it, with a stack of its own, while the keeper waits. Not a probe, which goes on
 * without an execve, and not who enters a user namespace: the kernel refuses that to memory that is shared. */
static pid_t fork_command(const ld_plan *plan, int failed) {
    static _Alignas(16) uint8_t stack[65536]; /* it grows down */
    beginning self = {.plan = plan, .failed = failed};
    if (HAS_SECOND_STACK && plan->inside == NULL && !plan->namespaced)
        return clone(be_command, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD, &self);
    pid_t pid = _Fork();
    if (pid == 0) be_command(&self);
    return pid;
}

/* Start the command. 0 and an errno in the report on failure. */
static pid_t start(const ld_plan *plan, ld_report *report) {
    int failed[2];
    report->stage = LD_STAGE_FORK;
    if (pipe2(failed, O_CLOEXEC) != 0) {
        report->error = errno;
        return 0;
    }
    pid_t pid = fork_command(plan, failed[1]);
    if (pid < 0) {
        report->error = errno;
        return 0;
    }
    close(failed[1]);
    close(plan->output);
    close(plan->errors);
    int32_t message[2];
    ssize_t got;
    do {
        got = read(failed[0], message, sizeof(message));
    } while (got < 0 && errno == EINTR);
    close(failed[0]);
    report->stage = got == (ssize_t)sizeof(message) ? message[0] : LD_STAGE_STARTED;
    report->error = got == (ssize_t)sizeof(message) ? message[1] : 0;
    return pid;
}

/* Wait for the command's end or the daemon's word. */
static void watch(const ld_plan *plan, pid_t pid, ld_report *report) {
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd watched[2] = {{.fd = fd, .events = POLLIN}, {.fd = plan->control, .events = POLLIN}};
    while (fd >= 0 && poll(watched, 2, -1) < 0 && errno == EINTR)
        continue;
    if (fd >= 0 && (watched[0].revents & POLLIN) != 0) {
        int status = 0;
        report->ended = waitpid(pid, &status, 0) == pid;
        report->status = status;
    }
    /* Not yet a process of the run's user when the word came early: by its id, too. */
    if (!report->ended) kill(pid, SIGKILL);
    if (fd >= 0) close(fd);
}

/* Where both kinds of keeper begin. The command's process, or 0 and an errno in the report. */
static pid_t begin(const ld_plan *plan, ld_report *report) {
    int keep[] = {plan->output,    plan->errors,    plan->report,    plan->control, plan->ruleset,
                  plan->passed[0], plan->passed[1], plan->passed[2], plan->lock,    plan->user};
    ld_close_others(keep, sizeof(keep) / sizeof(keep[0]));
    ignore_signals();
    setsid();
    if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0) return start(plan, report);
    report->stage = LD_STAGE_FORK;
    report->error = errno;
    return 0;
}

static uid_t killer_of(const ld_plan *plan) {
    return (plan->guards & LD_GUARD_USER) != 0 ? plan->killer : plan->uid;
}

static bool send_report(const ld_plan *plan, const ld_report *report) {
    return write(plan->report, report, sizeof(*report)) == (ssize_t)sizeof(*report);
}

_Noreturn void ld_keeper(const ld_plan *plan) {
    ld_report report = {0};
    pid_t pid = begin(plan, &report);
    if (pid > 0) watch(plan, pid, &report);
    if (plan->spared != NULL && plan->spared->count > 0)
        report.clean = ld_end_others(plan->uid, plan->killer, plan->spared) && ld_reap_children();
    else
        report.clean = ld_end_children(plan->uid, killer_of(plan));
    /* A daemon that is gone doesn't read this, and nobody else has to. */
    _exit(send_report(plan, &report) ? 0 : 1);
}

/* Reap whoever has ended. True when the command is among them; its status is then in the report. */
static bool reap_all(pid_t command, ld_report *report) {
    int status = 0;
    bool found = false;
    for (pid_t pid = waitpid(-1, &status, WNOHANG); pid > 0; pid = waitpid(-1, &status, WNOHANG)) {
        if (pid != command) continue;
        found = true;
        report->ended = true;
        report->status = status;
    }
    return found;
}

/* Reap and report until the word comes. True for the word to leave quietly. */
static bool attend(const ld_plan *plan, pid_t command, int signals, ld_report *report) {
    bool reported = command == 0 && send_report(plan, report);
    for (;;) {
        if (!reported && reap_all(command, report)) reported = send_report(plan, report);
        if (reported) reap_all(0, report);
        struct pollfd watched[2] = {{.fd = signals, .events = POLLIN}, {.fd = plan->control, .events = POLLIN}};
        if (poll(watched, 2, -1) < 0 && errno != EINTR) return false;
        struct signalfd_siginfo info;
        if ((watched[0].revents & POLLIN) != 0 && read(signals, &info, sizeof(info)) < 0 && errno != EAGAIN)
            return false;
        if (watched[1].revents != 0) {
            char word;
            return read(plan->control, &word, 1) == 1;
        }
    }
}

_Noreturn void ld_resident_keeper(const ld_plan *plan) {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, NULL);
    ld_report report = {0};
    pid_t pid = begin(plan, &report);
    int signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    bool quiet = signals >= 0 && attend(plan, pid, signals, &report);
    if (quiet) _exit(ld_reap_children() ? 0 : 1);
    report.clean = ld_end_children(plan->uid, killer_of(plan));
    _exit(send_report(plan, &report) ? 0 : 1);
}
