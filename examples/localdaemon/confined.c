/* The child's way behind the walls (keeper.h, ld_confined). System calls only. */
#include "examples/localdaemon/keeper.h"
#include "examples/localdaemon/landlock.h"
#include "examples/localdaemon/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The daemon ignores and blocks signals; a program must find all of them as usual. */
static void reset_signals(void) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number <= 64; number++)
        if (number != SIGKILL && number != SIGSTOP) sigaction(number, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool set_streams(const ld_plan *plan) {
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return null >= 0 && dup2(null, 0) == 0 && dup2(plan->output, 1) == 1 && dup2(plan->errors, 2) == 2;
}

static bool set_limit(__rlimit_resource_t which, rlim_t value) {
    struct rlimit limit = {.rlim_cur = value, .rlim_max = value};
    struct rlimit now;
    /* A lower limit that is already in force stays. */
    if (getrlimit(which, &now) != 0) return false;
    if (now.rlim_max < value) limit.rlim_cur = limit.rlim_max = now.rlim_max;
    return setrlimit(which, &limit) == 0;
}

static bool set_limits(const ld_plan *plan) {
    const ld_limits *limits = &plan->limits;
    if ((plan->guards & LD_GUARD_PROCESSES) != 0 && !set_limit(RLIMIT_NPROC, limits->processes)) return false;
    if ((plan->guards & LD_GUARD_MEMORY) != 0 && !set_limit(RLIMIT_DATA, limits->data_bytes)) return false;
    if ((plan->guards & LD_GUARD_FILE_SIZE) != 0 && !set_limit(RLIMIT_FSIZE, limits->file_bytes)) return false;
    return set_limit(RLIMIT_CORE, 0) && set_limit(RLIMIT_NOFILE, limits->open_files) &&
           set_limit(RLIMIT_CPU, limits->cpu_seconds) && set_limit(RLIMIT_MEMLOCK, 65536) &&
           set_limit(RLIMIT_MSGQUEUE, 0) && set_limit(RLIMIT_NICE, 0) && set_limit(RLIMIT_RTPRIO, 0);
}

/* When the machine runs out of memory, the run goes first. Nothing depends on it. */
static void offer_to_oom_killer(void) {
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0) return;
    if (write(fd, "1000", 4) != 4) errno = 0;
    close(fd);
}

static bool set_user(const ld_plan *plan) {
    if ((plan->guards & LD_GUARD_USER) == 0) return true;
    if (plan->namespaced) return ld_userns_enter(plan->uid, plan->file_user);
    /* Raw calls: glibc's would look for the daemon's other threads. */
    return syscall(SYS_setgroups, plan->group != 0 ? 1 : 0, &plan->group) == 0 && syscall(SYS_setresgid, plan->uid, plan->uid, plan->uid) == 0 &&
           syscall(SYS_setresuid, plan->uid, plan->uid, plan->uid) == 0;
}

static bool enter_landlock(const ld_plan *plan) {
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    return plan->ruleset < 0 || ld_landlock_enter(plan->ruleset) == 0;
}

static bool load_filter(const ld_plan *plan) {
    if (plan->filter == NULL) return true;
    struct sock_fprog program = {.len = plan->filter->count, .filter = plan->filter->code};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}

/* The descriptors that bubblewrap reads from must survive its start; their numbers stand in its
 * arguments. */
static void pass_descriptors(const ld_plan *plan, int failed) {
    int keep[LD_PASSED + 1] = {failed, plan->passed[0], plan->passed[1], plan->passed[2]};
    ld_close_others(keep, sizeof(keep) / sizeof(keep[0]));
    for (size_t i = 0; i < LD_PASSED; i++)
        if (plan->passed[i] >= 0) fcntl(plan->passed[i], F_SETFD, 0);
}

static _Noreturn void give_up(int failed, ld_stage stage) {
    int32_t message[2] = {(int32_t)stage, errno};
    ssize_t written = write(failed, message, sizeof(message));
    _exit(written == (ssize_t)sizeof(message) ? 126 : 125);
}

_Noreturn void ld_confined(const ld_plan *plan, int failed) {
    pid_t keeper = getppid();
    reset_signals();
    umask(022);
    setsid();
    if (!set_streams(plan)) give_up(failed, LD_STAGE_STREAMS);
    offer_to_oom_killer();
    if (!set_limits(plan)) give_up(failed, LD_STAGE_LIMITS);
    if (!set_user(plan)) give_up(failed, LD_STAGE_USER);
    /* After the change of user, which would clear it. The keeper may have died before. */
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0 || getppid() != keeper) _exit(125);
    if (chdir(plan->folder) != 0) give_up(failed, LD_STAGE_FOLDER);
    if (!enter_landlock(plan)) give_up(failed, LD_STAGE_LANDLOCK);
    pass_descriptors(plan, failed);
    if (!load_filter(plan)) give_up(failed, LD_STAGE_FILTER);
    if (plan->inside != NULL) {
        close(failed);
        _exit(plan->inside(plan->probe, plan->argument));
    }
    execve(plan->program, plan->argv, plan->envp);
    give_up(failed, LD_STAGE_EXECUTE);
}
