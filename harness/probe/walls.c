/* The attempts to get past a sandbox's guards (docs/FORMAT.md, "Guards"). Sent through a daemon like the probe's
 * program, and run on this machine without any guard as the control.
 *
 *   walls try NONCE CANARY PORT ABSTRACT PID PROCESSES DISK_MB CPUS LEAVE
 *   walls look NONCE NONCE_OF_TRY     look for what `try` left, tell, and take it away
 *   walls fill NONCE MB               have so much memory at once
 *   walls wait TOKEN MS               a process to be seen by its argument
 *
 * CANARY "-", and 0 for the others: not to be tried. What was not tried or could not be is null. Besides leaving what
 * it is told to leave it changes nothing that stays. Every child ends with the process that made it, and by itself.
 */
#include "harness/probe/amounts.h"

#include <linux/keyctl.h>
#include <linux/un.h>

#define DOMAIN "countersign.guard-trial.v1"
#define FAMILY_UNIX 1
#define LEFT_MS 30000
#define TOKEN_DIGITS 32

/* ---- reaching out ----------------------------------------------------------------------------------------- */

static int64_t open_for(const char *path, long flags) {
    long fd = CALL5(__NR_openat, AT_FDCWD, path, flags, 0, 0);
    if (fd >= 0) (void)CALL5(__NR_close, fd, 0, 0, 0, 0);
    return errno_of(fd);
}

static int64_t read_canary(const char *path) {
    if (path[0] == '-') return UNKNOWN;
    char content[256];
    int64_t error = open_for(path, O_RDONLY);
    if (error != 0) return error;
    return read_file(path, content, sizeof content) > 0 ? 0 : EIO;
}

static long name_abstract(const char *token, struct sockaddr_un *out) {
    static const char prefix[] = "countersign-guard-";
    memset(out, 0, sizeof *out);
    out->sun_family = FAMILY_UNIX;
    memcpy(out->sun_path + 1, prefix, sizeof prefix - 1);
    memcpy(out->sun_path + sizeof prefix, token, TOKEN_DIGITS);
    return (long)(sizeof out->sun_family + sizeof prefix + TOKEN_DIGITS);
}

static int64_t reach_abstract(const char *token) {
    struct sockaddr_un to;
    long size = name_abstract(token, &to);
    long fd = CALL5(__NR_socket, FAMILY_UNIX, 1, 0, 0, 0);
    if (fd < 0) return -fd;
    long done = CALL5(__NR_connect, fd, &to, size, 0, 0);
    (void)CALL5(__NR_close, fd, 0, 0, 0, 0);
    return errno_of(done);
}

/* ---- processes, by what stands among their arguments ------------------------------------------------------- */

static int holds(const char *bytes, size_t len, const char *token) {
    for (size_t at = 0; at + TOKEN_DIGITS <= len; at++) {
        unsigned same = 0;
        while (same < TOKEN_DIGITS && bytes[at + same] == token[same])
            same++;
        if (same == TOKEN_DIGITS) return 1;
    }
    return 0;
}

/* 0: there is no such process; 1: one with the token; 2: another one. `number` is its decimal digits. */
static int64_t see_process(const char *number, const char *token) {
    static char arguments[4096];
    char path[48] = "/proc/";
    size_t len = 6;
    for (size_t i = 0; i < 12 && number[i] != '\0'; i++)
        path[len++] = number[i];
    memcpy(path + len, "/cmdline", 9);
    if (open_for(path, O_RDONLY) != 0) return 0;
    return holds(arguments, read_file(path, arguments, sizeof arguments), token) ? 1 : 2;
}

struct entry {
    uint64_t inode;
    int64_t next;
    unsigned short size;
    unsigned char type;
    char name[];
};

/* The process with the token; 0: none. -1: processes can't be listed. */
static int64_t find_process(const char *token) {
    static char list[32768] __attribute__((aligned(8)));
    long folder = CALL5(__NR_openat, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY, 0, 0);
    if (folder < 0) return -1;
    int64_t found = 0;
    for (;;) {
        long got = CALL5(__NR_getdents64, folder, list, sizeof list, 0, 0);
        if (got <= 0) break;
        for (long at = 0; at < got && found == 0;) {
            const struct entry *entry = (const void *)(list + at);
            at += entry->size;
            if (entry->name[0] >= '1' && entry->name[0] <= '9' && see_process(entry->name, token) == 1)
                found = parse(entry->name);
        }
    }
    (void)CALL5(__NR_close, folder, 0, 0, 0, 0);
    return found;
}

/* ---- what is left ------------------------------------------------------------------------------------------ */

#define LEFT_PATHS 5
static const char *const left_words[LEFT_PATHS] = {"left_work", "left_tmp", "left_var_tmp", "left_dev_shm",
                                                   "left_tmpdir"};
static const char *const left_folders[LEFT_PATHS] = {".", "/tmp", "/var/tmp", "/dev/shm", NULL};

/* NULL: there is no such folder, or its name is too long. The environment names the last one. */
static const char *left_path(unsigned which, char **environment, const char *token) {
    static const char name[] = "/countersign-left-";
    static const char variable[] = "TMPDIR=";
    static char path[512];
    const char *folder = left_folders[which];
    for (; folder == NULL && *environment != NULL; environment++) {
        size_t same = 0;
        while (same < sizeof variable - 1 && (*environment)[same] == variable[same])
            same++;
        if (same == sizeof variable - 1) folder = *environment + same;
    }
    size_t len = folder != NULL ? length(folder) : 0;
    if (len == 0 || len > 400) return NULL;
    memcpy(path, folder, len);
    memcpy(path + len, name, sizeof name - 1);
    memcpy(path + len + sizeof name - 1, token, TOKEN_DIGITS + 1);
    return path;
}

static long segment_key(const char *token) {
    long key = 0;
    for (unsigned i = 0; i < 7; i++)
        key = key << 4 | (token[i] <= '9' ? token[i] - '0' : token[i] - 'a' + 10);
    return key + 1;
}

/* A process that nobody waits for, with the token among its arguments (they stand in its own memory) and an abstract
 * socket called after it. */
static void leave_process(char *argument, const char *token) {
    long child = split();
    if (child != 0) {
        (void)CALL5(__NR_wait4, child, 0, 0, 0, 0);
        return;
    }
    (void)CALL5(__NR_setsid, 0, 0, 0, 0, 0);
    if (split() != 0) leave(0);
    for (long fd = 0; fd < 64; fd++)
        (void)CALL5(__NR_close, fd, 0, 0, 0, 0);
    struct sockaddr_un name;
    long size = name_abstract(token, &name);
    long socket = CALL5(__NR_socket, FAMILY_UNIX, 1, 0, 0, 0);
    if (CALL5(__NR_bind, socket, &name, size, 0, 0) == 0) (void)CALL5(__NR_listen, socket, 4, 0, 0, 0);
    memcpy(argument, token, TOKEN_DIGITS);
    nap_ms(LEFT_MS);
    leave(0);
}

static void leave_all(char **arguments, char **environment, const char *token) {
    for (unsigned i = 0; i < LEFT_PATHS; i++) {
        const char *path = left_path(i, environment, token);
        long file = path != NULL ? make_file(path) : -1;
        if (file >= 0) (void)CALL5(__NR_close, file, 0, 0, 0, 0);
    }
    (void)CALL5(__NR_shmget, segment_key(token), 4096, 03600, 0, 0); /* IPC_CREAT, IPC_EXCL, 0600 */
    leave_process(arguments[2], token);
    for (unsigned i = 0; i < 25 && find_process(token) <= 0; i++)
        nap_ms(20);
}

/* `take`: take away what is found. */
static void put_left(text *line, char **environment, const char *token, int tried, int take) {
    for (unsigned i = 0; i < LEFT_PATHS; i++) {
        const char *path = tried ? left_path(i, environment, token) : NULL;
        member(line, left_words[i], path == NULL ? UNKNOWN : CALL5(__NR_faccessat, AT_FDCWD, path, 0, 0, 0) == 0);
        if (path != NULL && take) remove_file(path);
    }
    long segment = tried ? CALL5(__NR_shmget, segment_key(token), 0, 0, 0, 0) : -1;
    member(line, "left_segment", tried ? segment >= 0 : UNKNOWN);
    if (segment >= 0 && take) (void)CALL5(__NR_shmctl, segment, 0, 0, 0, 0);
    member(line, "left_socket", tried ? reach_abstract(token) == 0 : UNKNOWN);
    int64_t process = tried ? find_process(token) : -1;
    member(line, "left_process", process < 0 ? UNKNOWN : process > 0);
    if (process > 0 && take) (void)CALL5(__NR_kill, process, SIGNAL_KILL, 0, 0, 0);
}

/* ---- the runs ----------------------------------------------------------------------------------------------- */

static void begin_line(text *line, const char *mode) {
    put(line, "{\"guards\":\"" DOMAIN "\",\"mode\":\"");
    put(line, mode);
    put(line, "\"");
}

static void end_line(text *line, const char *nonce) {
    put(line, "}");
    print(DOMAIN, nonce, line);
}

/* Arguments that no kernel accepts, or that ask for nothing. */
static void put_calls(text *line) {
    member(line, "keyctl", errno_of(CALL5(__NR_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_THREAD_KEYRING, 0, 0, 0)));
    member(line, "bpf", errno_of(CALL5(__NR_bpf, -1, 0, 0, 0, 0)));
    member(line, "unshare", errno_of(CALL5(__NR_unshare, 0, 0, 0, 0, 0)));
    member(line, "core_pattern", open_for("/proc/sys/kernel/core_pattern", O_WRONLY));
}

static void put_reach(text *line, char **arguments, const char *token) {
    member(line, "file", read_canary(arguments[3]));
    member(line, "tcp", reach_port((uint16_t)parse(arguments[4]), token));
    member(line, "abstract", arguments[5][0] == '1' ? reach_abstract(token) : UNKNOWN);
    int64_t pid = parse(arguments[6]);
    member(line, "pid_seen", pid > 0 ? see_process(arguments[6], token) : UNKNOWN);
    member(line, "pid_signal", pid > 0 ? errno_of(CALL5(__NR_kill, pid, 0, 0, 0, 0)) : UNKNOWN);
}

/* Of the derived digits the first half is for what is left here, the second for what the harness has laid out. */
static void try_all(char **arguments, char **environment) {
    static text line;
    char left[65];
    char laid[65];
    derive("countersign.guard-token.v1", arguments[2], left);
    memcpy(laid, left + TOKEN_DIGITS, TOKEN_DIGITS + 1);
    left[TOKEN_DIGITS] = '\0';
    ignore_file_size_signal();
    begin_line(&line, "try");
    put_reach(&line, arguments, laid);
    put_calls(&line);
    member(&line, "mapped_mb", largest(64, 65536, is_mapped, 0));
    member(&line, "file_mb", file_size());
    member(&line, "disk_mb", write_disk(parse(arguments[8])));
    member(&line, "cpu_milli", busy(parse(arguments[9])));
    member(&line, "processes", have_children(parse(arguments[7])));
    int leave = arguments[10][0] == '1';
    char nonce[65];
    memcpy(nonce, arguments[2], 64);
    nonce[64] = '\0';
    if (leave) leave_all(arguments, environment, left);
    put_left(&line, environment, left, leave, 0);
    end_line(&line, nonce);
}

static void look(char **arguments, char **environment) {
    static text line;
    char left[65];
    derive("countersign.guard-token.v1", arguments[3], left);
    left[TOKEN_DIGITS] = '\0';
    begin_line(&line, "look");
    put_left(&line, environment, left, 1, 1);
    end_line(&line, arguments[2]);
}

/* It may be ended for what it does, so it says first that it began. */
static void fill(char **arguments) {
    static text begun;
    static text line;
    begin_line(&begun, "begun");
    end_line(&begun, arguments[2]);
    begin_line(&line, "fill");
    member(&line, "filled_mb", have_memory(parse(arguments[3])));
    end_line(&line, arguments[2]);
}

_Noreturn void begin(long *stack) {
    long count = stack[0];
    char **arguments = (char **)(stack + 1);
    char **environment = arguments + count + 1;
    char mode = count > 2 ? arguments[1][0] : '\0';
    int nonce = count > 2 && length(arguments[2]) == 64;
    if (mode == 't' && count == 11 && nonce)
        try_all(arguments, environment);
    else if (mode == 'l' && count == 4 && nonce)
        look(arguments, environment);
    else if (mode == 'f' && count == 4 && nonce)
        fill(arguments);
    else if (mode == 'w' && count == 4)
        nap_ms(parse(arguments[3]));
    else
        leave(2);
    leave(0);
}
