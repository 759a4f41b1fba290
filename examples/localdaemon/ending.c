#include "examples/localdaemon/ending.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 1000
#define PAUSE_NS 5000000L

/* Become able to signal the run's processes, and no target of theirs. Raw calls: glibc's would look for other
 * threads. */
static bool wear(uid_t uid, uid_t killer) {
    return syscall(SYS_setresgid, killer, killer, killer) == 0 && syscall(SYS_setresuid, killer, uid, killer) == 0;
}

static bool exited_well(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool ld_end_user(uid_t uid, uid_t killer) {
    pid_t pid = _Fork();
    if (pid < 0) return false;
    if (pid == 0) {
        if (!wear(uid, killer)) _exit(1);
        _exit(kill(-1, SIGKILL) == 0 || errno == ESRCH ? 0 : 1);
    }
    return exited_well(pid);
}

typedef struct killing {
    int proc;
    pid_t self;
} killing;

static void kill_child(pid_t pid, const char *name, void *of) {
    const killing *to = of;
    ld_process process;
    if (ld_process_read(to->proc, name, &process) && process.parent == to->self) kill(pid, SIGKILL);
}

static void kill_children(void) {
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0) return;
    killing to = {.proc = proc, .self = getpid()};
    /* What a look has missed is for the next round. */
    (void)ld_process_each(proc, kill_child, &to);
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

static void pause_between(int round) {
    nanosleep(&(struct timespec){.tv_nsec = round < 20 ? PAUSE_NS / 20 : PAUSE_NS}, NULL);
}

bool ld_end_children(uid_t uid, uid_t killer) {
    for (int round = 0; round < ROUNDS; round++) {
        if (!reap()) return true;
        /* A kill that fails is made again in the next round. */
        if (uid == killer || !ld_end_user(uid, killer)) kill_children();
        pause_between(round);
    }
    return false;
}

bool ld_reap_children(void) {
    for (int round = 0; round < ROUNDS; round++) {
        if (!reap()) return true;
        pause_between(round);
    }
    return false;
}

/* One look at all processes, as a user that may signal those of the run and no other. */
typedef struct looking {
    int proc;
    pid_t self;
    const ld_spared *spared;
    bool found; /* one that is not spared, or is not yet stopped */
} looking;

static bool is_spared(const ld_spared *spared, pid_t pid, uint64_t started) {
    for (size_t i = 0; i < spared->count; i++)
        if (spared->list[i].pid == pid && spared->list[i].started == started) return true;
    return false;
}

static void kill_unless_spared(pid_t pid, const char *name, void *of) {
    looking *to = of;
    ld_process process;
    if (pid == to->self || kill(pid, 0) != 0) return;
    if (!ld_process_read(to->proc, name, &process)) {
        to->found = true; /* gone just now, or not to be seen: looked for again */
        return;
    }
    if (ld_process_gone(&process)) return;
    bool spared = is_spared(to->spared, pid, process.started);
    if (spared && process.state == 'T') return;
    if (!spared) kill(pid, SIGKILL);
    to->found = true;
}

/* All are stopped first, in one go that no fork escapes, so that they hold still while they are looked at. One that a
 * kernel call in flight has woken is stopped again by the next round; hence two clean ones in succession. */
static bool freeze_and_kill(const ld_spared *spared) {
    looking to = {.self = getpid(), .spared = spared};
    to.proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (to.proc < 0) return false;
    int clean = 0;
    for (int round = 0; round < ROUNDS && clean < 2; round++) {
        to.found = false;
        kill(-1, SIGSTOP);
        if (!ld_process_each(to.proc, kill_unless_spared, &to)) to.found = true;
        clean = to.found ? 0 : clean + 1;
        if (to.found) pause_between(round);
    }
    close(to.proc);
    return clean == 2;
}

bool ld_end_others(uid_t uid, uid_t killer, const ld_spared *spared) {
    /* Never as the daemon's own user, all of whose processes this would stop. */
    if (uid == killer) return false;
    pid_t pid = _Fork();
    if (pid < 0) return false;
    if (pid == 0) _exit(wear(uid, killer) && freeze_and_kill(spared) ? 0 : 1);
    return exited_well(pid);
}
