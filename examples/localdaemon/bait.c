#include "examples/localdaemon/bait.h"

#include "examples/localdaemon/keeper.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_bait(const char *path, mode_t mode) {
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0) return false;
    /* Whatever the daemon's umask is. */
    bool good = write(fd, "bait\n", 5) == 5 && fchmod(fd, mode) == 0;
    return close(fd) == 0 && good;
}

static bool listen_tcp(ld_bait *bait) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(at);
    bait->tcp_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bait->tcp_fd < 0 || bind(bait->tcp_fd, (const struct sockaddr *)&at, size) != 0 ||
        listen(bait->tcp_fd, 16) != 0 || getsockname(bait->tcp_fd, (struct sockaddr *)&at, &size) != 0)
        return false;
    snprintf(bait->port, sizeof(bait->port), "%u", ntohs(at.sin_port));
    return true;
}

static bool listen_abstract(ld_bait *bait) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int len = snprintf(bait->abstract, sizeof(bait->abstract), "localdaemon-bait-%d", (int)getpid());
    memcpy(at.sun_path + 1, bait->abstract, (size_t)len);
    bait->abstract_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
    return bait->abstract_fd >= 0 && bind(bait->abstract_fd, (const struct sockaddr *)&at, size) == 0 &&
           listen(bait->abstract_fd, 16) == 0;
}

cs_result ld_bait_lay(ld_bait *bait, const ld_slots *slots, cs_error *err) {
    memset(bait, 0, sizeof(*bait));
    bait->tcp_fd = -1;
    bait->abstract_fd = -1;
    snprintf(bait->canary, sizeof(bait->canary), "%s/canary-%d", slots->base, (int)getpid());
    snprintf(bait->secret, sizeof(bait->secret), "%s/secret-%d", slots->base, (int)getpid());
    bait->segment_id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0666);
    if (bait->segment_id >= 0) snprintf(bait->segment, sizeof(bait->segment), "%d", bait->segment_id);
    if (write_bait(bait->canary, 0644) && write_bait(bait->secret, 0600) && listen_tcp(bait) && listen_abstract(bait) &&
        bait->segment_id >= 0)
        return CS_OK;
    return cs_fail(err, CS_CODE_IO, "the smoke test can't be set up: %s", strerror(errno));
}

void ld_bait_remove(ld_bait *bait) {
    ld_bait_end_victim(bait);
    if (bait->canary[0] != '\0') unlink(bait->canary);
    if (bait->secret[0] != '\0') unlink(bait->secret);
    if (bait->tcp_fd >= 0) close(bait->tcp_fd);
    if (bait->abstract_fd >= 0) close(bait->abstract_fd);
    if (bait->segment_id >= 0) shmctl(bait->segment_id, IPC_RMID, NULL);
}

cs_result ld_bait_victim(ld_bait *bait, bool other_user, uid_t uid, cs_error *err) {
    ld_bait_end_victim(bait);
    int ready[2];
    if (pipe2(ready, O_CLOEXEC) != 0) return cs_fail(err, CS_CODE_IO, "no pipe: %s", strerror(errno));
    pid_t pid = _Fork();
    if (pid == 0) {
        /* Among them the line to a machine's keeper, which would wait for its end. */
        int keep[] = {ready[1]};
        ld_close_others(keep, 1);
        if (other_user && (syscall(SYS_setgroups, 0, NULL) != 0 || syscall(SYS_setresgid, uid, uid, uid) != 0 ||
                           syscall(SYS_setresuid, uid, uid, uid) != 0))
            _exit(1);
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (write(ready[1], "r", 1) != 1) _exit(1);
        for (;;)
            pause();
    }
    close(ready[1]);
    char byte;
    bool good = pid > 0 && read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    if (pid > 0) bait->victim_pid = pid;
    if (!good) return cs_fail(err, CS_CODE_IO, "no process to try signals on: %s", strerror(errno));
    snprintf(bait->victim, sizeof(bait->victim), "%d", (int)pid);
    return CS_OK;
}

void ld_bait_end_victim(ld_bait *bait) {
    if (bait->victim_pid <= 0) return;
    kill(bait->victim_pid, SIGKILL);
    waitpid(bait->victim_pid, NULL, 0);
    bait->victim_pid = 0;
}
