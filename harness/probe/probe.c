/* The probe's program form: what the script can't ask, with system calls of its own and no library, so that it runs
 * wherever the processor is the same and stays small enough to be sent and stored with every check.
 *
 *   probe NONCE HOLD_MS CANARY PORT     look for HOLD_MS milliseconds, print (CANARY "-": none; PORT 0: none)
 *   probe show TOKEN HOLD_MS            wait, so that the token stands among the arguments of a process
 *
 * It prints one line of JSON and a second line with a digest over the nonce and the first line. It changes nothing.
 * What it can't find out is null.
 */
#include "harness/probe/bare.h"

#include <linux/sysinfo.h>
#include <linux/utsname.h>

/* Newer than many headers; the numbers are the same on every processor. */
#define CALL_MSEAL 462
#define CALL_FILE_GETATTR 468
#define CALL_LANDLOCK_CREATE_RULESET 444
#define CALL_NONE 9999 /* the control */

#define SAMPLES 128u

/* ---- looking ------------------------------------------------------------------------------------- */

/* The first number of the line `word` in /proc/self/status, in hexadecimal. */
static int64_t status_field(const char *status, size_t len, const char *word) {
    size_t word_len = length(word);
    for (size_t at = 0; at + word_len < len; at++) {
        if (at > 0 && status[at - 1] != '\n') continue;
        size_t same = 0;
        while (same < word_len && status[at + same] == word[same])
            same++;
        if (same != word_len) continue;
        uint64_t value = 0;
        for (at += word_len; at < len && status[at] != '\n'; at++) {
            char c = status[at];
            if (c >= '0' && c <= '9') value = value << 4 | (uint64_t)(c - '0');
            if (c >= 'a' && c <= 'f') value = value << 4 | (uint64_t)(c - 'a' + 10);
        }
        return (int64_t)(value & INT64_MAX);
    }
    return UNKNOWN;
}

/* "pid:[4026531836]" */
static int64_t namespace_inode(const char *path) {
    char link[64];
    long len = CALL5(__NR_readlinkat, AT_FDCWD, path, link, sizeof link, 0);
    int64_t value = 0;
    for (long i = 0; i < len; i++)
        if (link[i] >= '0' && link[i] <= '9') value = value * 10 + (link[i] - '0');
    return len > 0 && value > 0 ? value : UNKNOWN;
}

/* Does the kernel's log speak of gVisor? -1: it can't be read. */
static int log_says_gvisor(void) {
    static char log[65536];
    static const char word[] = "gVisor";
    long len = CALL5(__NR_syslog, 3, log, sizeof log, 0, 0);
    if (len <= 0) return -1;
    for (long at = 0; at + 6 <= len; at++) {
        unsigned same = 0;
        while (same < 6 && log[at + same] == word[same])
            same++;
        if (same == 6) return 1;
    }
    return 0;
}

/* What the hypervisor calls itself; empty when there is none. */
static void hypervisor(char out[13]) {
    memset(out, 0, 13);
#if defined(__x86_64__)
    uint32_t a = 1, b = 0, c = 0, d = 0;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    if ((c >> 31 & 1) == 0) return;
    a = 0x40000000;
    c = 0;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    memcpy(out, &b, 4);
    memcpy(out + 4, &c, 4);
    memcpy(out + 8, &d, 4);
#endif
}

static void put_kernel(text *line) {
    struct new_utsname names;
    memset(&names, 0, sizeof names);
    (void)CALL5(__NR_uname, &names, 0, 0, 0, 0);
    name(line, "release");
    put_string(line, names.release, sizeof names.release);
    name(line, "version");
    put_string(line, names.version, sizeof names.version);
    char boot[64];
    size_t len = read_file("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    name(line, "boot_id");
    put_string(line, boot, len);
    int64_t real = clock_us(0);
    int64_t monotonic = clock_us(1);
    member(line, "clock_us", real == UNKNOWN || monotonic == UNKNOWN ? UNKNOWN : real - monotonic);
}

static void put_process(text *line) {
    static char status[8192];
    size_t len = read_file("/proc/self/status", status, sizeof status);
    member(line, "pid_ns", namespace_inode("/proc/self/ns/pid"));
    member(line, "ipc_ns", namespace_inode("/proc/self/ns/ipc"));
    member(line, "seccomp", status_field(status, len, "Seccomp:"));
    member(line, "no_new_privs", status_field(status, len, "NoNewPrivs:"));
    int64_t capable = status_field(status, len, "CapEff:");
    member(line, "capable", capable == UNKNOWN ? UNKNOWN : capable != 0);
    int log = log_says_gvisor();
    name(line, "kernel_log_gvisor");
    put(line, log < 0 ? "null" : log == 0 ? "false" : "true");
}

static void put_reach(text *line, const char *canary, uint16_t port, const char *token) {
    member(line, "loopback", reach_port(port, token));
    char content[256];
    size_t len = canary[0] == '-' ? 0 : read_file(canary, content, sizeof content);
    char digest[64];
    hash of;
    hash_begin(&of);
    hash_add(&of, content, len);
    hash_end(&of, digest);
    name(line, "canary");
    put_string(line, digest, len > 0 ? sizeof digest : 0);
}

/* Calls with arguments that no kernel accepts: only whether the kernel knows them is asked. */
static void put_calls(text *line) {
    member(line, "no_call", errno_of(CALL5(CALL_NONE, -1, -1, -1, -1, -1)));
    member(line, "mseal", errno_of(CALL5(CALL_MSEAL, 1, 1, -1, 0, 0)));
    member(line, "file_getattr", errno_of(CALL5(CALL_FILE_GETATTR, -1, 0, 0, 0, -1)));
    member(line, "vmsplice", errno_of(CALL5(__NR_vmsplice, -1, 0, 0, -1, 0)));
    member(line, "remap_file_pages", errno_of(CALL5(__NR_remap_file_pages, 1, 1, -1, 0, -1)));
    member(line, "landlock_abi", CALL5(CALL_LANDLOCK_CREATE_RULESET, 0, 0, 1, 0, 0));
    char vendor[13];
    hypervisor(vendor);
    name(line, "hypervisor");
    put_string(line, vendor, 12);
}

/* How many threads the kernel has, again and again. */
static void put_processes(text *line, int64_t hold_ms) {
    name(line, "processes");
    put(line, "[");
    int64_t pause = hold_ms / SAMPLES + 1;
    int64_t end = clock_us(1) + hold_ms * 1000;
    for (unsigned i = 0; i < SAMPLES; i++) {
        struct sysinfo info;
        memset(&info, 0, sizeof info);
        if (CALL5(__NR_sysinfo, &info, 0, 0, 0, 0) != 0) break;
        if (i > 0) put(line, ",");
        put_number(line, info.procs);
        nap_ms(pause);
        if (clock_us(1) >= end) break;
    }
    put(line, "]");
}

/* ---- the run ------------------------------------------------------------------------------------- */

/* A child of the same program with the token among its arguments; its process id. */
static long show(const char *self, const char *token, const char *hold) {
    const char *arguments[] = {self, "show", token, hold, NULL};
    const char *environment[] = {NULL};
    long child = split();
    if (child != 0) return child;
    (void)CALL5(__NR_execve, self, arguments, environment, 0, 0);
    leave(127);
}

static void look(char **arguments) {
    static text line;
    char token[65];
    derive("countersign.tier-token.v1", arguments[1], token);
    token[32] = '\0';
    int64_t hold = parse(arguments[2]);
    long child = show(arguments[0], token, arguments[2]);
    put(&line, "{\"probe\":\"countersign.tier-probe.v1\",\"form\":\"program\"");
    put_kernel(&line);
    put_process(&line);
    put_reach(&line, arguments[3], (uint16_t)parse(arguments[4]), token);
    put_calls(&line);
    put_processes(&line, hold);
    put(&line, "}");
    end_child(child);
    print("countersign.tier-probe.v1", arguments[1], &line);
}

_Noreturn void begin(long *stack) {
    char **arguments = (char **)(stack + 1);
    if (stack[0] == 4 && arguments[1][0] == 's') {
        nap_ms(parse(arguments[3]) + 2000);
        leave(0);
    }
    if (stack[0] != 5) leave(2);
    look(arguments);
    leave(0);
}
