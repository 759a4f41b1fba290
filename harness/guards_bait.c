/* What the attempts are to reach for on this machine, beside the file and the port of the host view. */
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/guards_internal.h"
#include "harness/hostview_internal.h"
#include "harness/probe_bytes.h"
#include "records/sha256.h"

#define SHOWN_MS "600000"

/* The token of what is laid out: the second half of the digits that the nonce gives. */
static bool laid_token(const char *nonce, char out[CS_PROBE_TOKEN_DIGITS + 1]) {
    char text[128];
    cs_digest digest;
    int len = snprintf(text, sizeof text, "countersign.guard-token.v1\n%s", nonce);
    if (!cs_sha256_once(cs_view_bytes(text, (size_t)len), &digest)) return false;
    memcpy(out, digest.hex + CS_PROBE_TOKEN_DIGITS, CS_PROBE_TOKEN_DIGITS + 1);
    return true;
}

static int lay_program(void) {
    cs_view bytes = cs_probe_walls_bytes();
    int fd = bytes.len > 0 ? memfd_create("walls", MFD_CLOEXEC) : -1;
    if (fd < 0) return -1;
    if (write(fd, bytes.ptr, bytes.len) == (ssize_t)bytes.len) return fd;
    close(fd);
    return -1;
}

static int lay_abstract(const char *token) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int len = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "countersign-guard-%s", token);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&name, size) == 0 && listen(fd, 16) == 0) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* Nothing but system calls: this program has threads. */
static _Noreturn void show(int program, const char *token) {
    char word[] = "walls", mode[] = "wait", ms[] = SHOWN_MS;
    char shown[CS_PROBE_TOKEN_DIGITS + 1];
    memcpy(shown, token, sizeof shown);
    char *argv[] = {word, mode, shown, ms, NULL};
    char *envp[] = {NULL};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    fexecve(program, argv, envp);
    _exit(127);
}

/* It is there when the token stands among its arguments. */
static pid_t lay_process(int program, const char *token) {
    char arguments[256];
    pid_t pid = fork();
    if (pid == 0) show(program, token);
    for (unsigned i = 0; pid > 0 && i < 100; i++) {
        size_t len = cs_proc_read(pid, "cmdline", arguments, sizeof arguments);
        if (memmem(arguments, len, token, CS_PROBE_TOKEN_DIGITS) != NULL) break;
        cs_host_nap_ms(5);
    }
    return pid > 0 ? pid : 0;
}

void cs_guard_bait_lay(const char *nonce, bool reachable, cs_guard_bait *out) {
    char token[CS_PROBE_TOKEN_DIGITS + 1];
    *out = (cs_guard_bait){.program = lay_program(), .abstract = -1};
    if (!reachable || !laid_token(nonce, token)) return;
    out->abstract = lay_abstract(token);
    if (out->program >= 0) out->pid = lay_process(out->program, token);
}

void cs_guard_bait_take(cs_guard_bait *bait) {
    if (bait->pid > 0) {
        (void)kill(bait->pid, SIGKILL);
        (void)waitpid(bait->pid, NULL, 0);
    }
    if (bait->abstract >= 0) close(bait->abstract);
    if (bait->program >= 0) close(bait->program);
    *bait = (cs_guard_bait){.program = -1, .abstract = -1};
}
