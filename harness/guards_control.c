/* The control: the attempts made here, where no guard is up. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/guards_internal.h"

#define MOST_ARGUMENTS 16u
#define SPARE_MB 1024 /* that must be left to this machine */

typedef struct run {
    char folder[64];
    char line[1024]; /* the arguments, cut up */
    char *argv[MOST_ARGUMENTS];
    pid_t pid;
    int out;
} run;

/* ---- its folder ------------------------------------------------------------------------------------------- */

static const char *folder_pattern(void) {
    return access("/var/tmp", W_OK | X_OK) == 0 ? "/var/tmp/countersign-guards-XXXXXX"
                                                : "/tmp/countersign-guards-XXXXXX";
}

static bool make_folder(run *r) {
    snprintf(r->folder, sizeof r->folder, "%s", folder_pattern());
    if (mkdtemp(r->folder) != NULL) return true;
    r->folder[0] = '\0';
    return false;
}

/* It holds files only, and none when all went well. */
static void remove_folder(const run *r) {
    DIR *folder = r->folder[0] != '\0' ? opendir(r->folder) : NULL;
    if (folder == NULL) return;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        if (entry->d_name[0] != '.') (void)unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    (void)rmdir(r->folder);
}

/* ---- its process ------------------------------------------------------------------------------------------- */

static bool cut_arguments(const char *arguments, run *r) {
    static char name[] = "walls";
    size_t count = 0;
    int len = snprintf(r->line, sizeof r->line, "%s", arguments);
    if (len < 0 || (size_t)len >= sizeof r->line) return false;
    r->argv[count++] = name;
    char *rest = NULL;
    for (char *word = strtok_r(r->line, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        if (count + 1 >= MOST_ARGUMENTS) return false;
        r->argv[count++] = word;
    }
    return true;
}

/* Nothing but system calls: this program has threads. */
static _Noreturn void become(int program, const run *r, int out) {
    char *envp[] = {NULL};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (setpgid(0, 0) == 0 && chdir(r->folder) == 0 && null >= 0 && dup2(null, 0) == 0 && dup2(out, 1) == 1 &&
        dup2(null, 2) == 2)
        fexecve(program, r->argv, envp);
    _exit(127);
}

static bool start(int program, run *r) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    r->pid = fork();
    if (r->pid == 0) become(program, r, ends[1]);
    if (r->pid > 0) (void)setpgid(r->pid, r->pid);
    close(ends[1]);
    r->out = ends[0];
    return r->pid > 0;
}

static int64_t now_ms(void) {
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Its output to the end. False when it takes too long or prints too much. */
static bool read_output(const run *r, int limit_ms, cs_buf *output) {
    int64_t end = now_ms() + limit_ms;
    char block[4096];
    for (;;) {
        int64_t left = end - now_ms();
        struct pollfd wait = {.fd = r->out, .events = POLLIN};
        int ready = left > 0 ? poll(&wait, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready != 1) return false;
        ssize_t got = read(r->out, block, sizeof block);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got == 0;
        if (output->len + (size_t)got > CS_PROBE_MAX_ANSWER || !cs_buf_append(output, block, (size_t)got)) return false;
    }
}

/* End all of its processes. True when it ended by itself, and well. */
static bool end(run *r, bool wait) {
    int status = 0;
    if (r->out >= 0) close(r->out);
    if (r->pid <= 0) return false;
    if (!wait) (void)kill(-r->pid, SIGKILL);
    while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR) {
    }
    /* Children of its own may be left when it was killed. */
    (void)kill(-r->pid, SIGKILL);
    return wait && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

cs_result cs_guard_control(int program, const char *arguments, int limit_ms, cs_buf *output, cs_error *err) {
    run r = {.out = -1};
    if (program < 0 || !cut_arguments(arguments, &r) || !make_folder(&r))
        return cs_fail(err, CS_CODE_TIER_PROBE, "the attempts can't be made on this machine: %s",
                       program < 0 ? "no program of them" : "no folder for them");
    bool good = start(program, &r) && read_output(&r, limit_ms, output);
    good = end(&r, good);
    remove_folder(&r);
    if (good) return CS_OK;
    return cs_fail(err, CS_CODE_TIER_PROBE, "the attempts did not come to their end on this machine");
}

/* ---- its room ---------------------------------------------------------------------------------------------- */

bool cs_guard_has_memory(int64_t mb) {
    static const char word[] = "MemAvailable:";
    char line[256];
    long long kb = 0;
    FILE *file = fopen("/proc/meminfo", "re");
    if (file == NULL) return false;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, word, sizeof word - 1) == 0) kb = strtoll(line + sizeof word - 1, NULL, 10);
    (void)fclose(file);
    return kb / 1024 >= mb + SPARE_MB;
}

bool cs_guard_has_disk(int64_t mb) {
    char folder[64];
    struct statvfs room;
    snprintf(folder, sizeof folder, "%s", folder_pattern());
    *strrchr(folder, '/') = '\0';
    return statvfs(folder, &room) == 0 && (int64_t)(room.f_bavail * room.f_frsize / 1048576) >= mb + SPARE_MB;
}
