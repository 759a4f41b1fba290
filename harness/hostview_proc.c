#include "harness/hostview_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "records/text.h"

#define TABLE_BYTES ((size_t)4 * 1024 * 1024) /* of /proc/net/tcp */
#define TREE_PASSES 64u

/* ---- texts --------------------------------------------------------------------------------------- */

/* Take the next line off `text`. */
static bool next_line(cs_view *text, cs_view *line) {
    if (text->len == 0) return false;
    const uint8_t *end = memchr(text->ptr, '\n', text->len);
    size_t len = end != NULL ? (size_t)(end - text->ptr) : text->len;
    *line = cs_view_bytes(text->ptr, len);
    size_t used = end != NULL ? len + 1 : len;
    *text = cs_view_bytes(text->ptr + used, text->len - used);
    return true;
}

/* Take the next word, between blanks, off `line`. */
static bool next_word(cs_view *line, cs_view *word) {
    size_t at = 0;
    while (at < line->len && (line->ptr[at] == ' ' || line->ptr[at] == '\t'))
        at++;
    size_t begin = at;
    while (at < line->len && line->ptr[at] != ' ' && line->ptr[at] != '\t')
        at++;
    *word = cs_view_bytes(line->ptr + begin, at - begin);
    *line = cs_view_bytes(line->ptr + at, line->len - at);
    return word->len > 0;
}

static unsigned digit_of(unsigned char c) {
    if (c >= '0' && c <= '9') return c - (unsigned)'0';
    if (c >= 'a' && c <= 'f') return c - (unsigned)'a' + 10;
    if (c >= 'A' && c <= 'F') return c - (unsigned)'A' + 10;
    return 99;
}

static bool number_of(cs_view word, unsigned base, uint64_t *out) {
    uint64_t value = 0;
    for (size_t i = 0; i < word.len; i++) {
        unsigned digit = digit_of(word.ptr[i]);
        if (digit >= base || value > (UINT64_MAX - digit) / base) return false;
        value = value * base + digit;
    }
    *out = value;
    return word.len > 0;
}

bool cs_proc_parse_stat(cs_view text, cs_proc_entry *out) {
    const uint8_t *close = memrchr(text.ptr, ')', text.len);
    if (close == NULL) return false;
    cs_view rest = cs_view_bytes(close + 1, text.len - (size_t)(close + 1 - text.ptr));
    cs_view word;
    uint64_t value = 0;
    for (unsigned field = 3; field <= 22; field++) {
        if (!next_word(&rest, &word)) return false;
        if (field == 4) {
            if (!number_of(word, 10, &value) || value > INT32_MAX) return false;
            out->parent = (int)value;
        }
        if (field == 22 && !number_of(word, 10, &out->started)) return false;
    }
    return true;
}

static int64_t bounded(cs_view word, unsigned base) {
    uint64_t value = 0;
    return number_of(word, base, &value) && value <= INT64_MAX ? (int64_t)value : CS_PROBE_UNKNOWN;
}

static void status_line(cs_view line, cs_host_process *out) {
    cs_view name, word;
    if (!next_word(&line, &name)) return;
    if (cs_view_is(name, "NSpid:")) {
        out->ns_depth = 0;
        while (next_word(&line, &word))
            out->ns_depth++;
        return;
    }
    if (!next_word(&line, &word)) return;
    if (cs_view_is(name, "Seccomp:")) out->seccomp = bounded(word, 10);
    if (cs_view_is(name, "Seccomp_filters:")) out->seccomp_filters = bounded(word, 10);
    if (cs_view_is(name, "NoNewPrivs:")) out->no_new_privs = bounded(word, 10);
    if (cs_view_is(name, "CapEff:")) {
        int64_t set = bounded(word, 16);
        out->capable = set == CS_PROBE_UNKNOWN ? CS_PROBE_UNKNOWN : set != 0;
    }
    /* Real, effective, saved, of the file system. */
    if (cs_view_is(name, "Uid:") && next_word(&line, &word)) out->uid = bounded(word, 10);
}

void cs_proc_parse_status(cs_view text, cs_host_process *out) {
    out->ns_depth = out->uid = out->seccomp = out->seccomp_filters = CS_PROBE_UNKNOWN;
    out->no_new_privs = out->capable = CS_PROBE_UNKNOWN;
    cs_view line;
    while (next_line(&text, &line))
        status_line(line, out);
}

int64_t cs_proc_parse_resident(cs_view text) {
    cs_view line, word;
    while (next_line(&text, &line))
        if (next_word(&line, &word) && cs_view_is(word, "VmRSS:") && next_word(&line, &word)) return bounded(word, 10);
    return CS_PROBE_UNKNOWN;
}

bool cs_proc_maps_all(cs_view text) {
    static const char *const want[] = {"0", "0", "4294967295"};
    cs_view line, word;
    if (!next_line(&text, &line)) return false;
    for (size_t i = 0; i < 3; i++)
        if (!next_word(&line, &word) || !cs_view_is(word, want[i])) return false;
    return !next_word(&line, &word) && text.len == 0;
}

/* "  0: 0100007F:222A 00000000:0000 0A 00000000:00000000 00:00000000 00000000  0  0 12345 ..." */
static uint64_t listener_of(cs_view line, uint16_t port) {
    cs_view words[10];
    for (size_t i = 0; i < 10; i++)
        if (!next_word(&line, &words[i])) return 0;
    const uint8_t *colon = memrchr(words[1].ptr, ':', words[1].len);
    if (colon == NULL || !cs_view_is(words[3], "0A")) return 0;
    uint64_t value = 0;
    cs_view digits = cs_view_bytes(colon + 1, words[1].len - (size_t)(colon + 1 - words[1].ptr));
    if (!number_of(digits, 16, &value) || value != port) return 0;
    return number_of(words[9], 10, &value) ? value : 0;
}

uint64_t cs_proc_parse_listener(cs_view text, uint16_t port) {
    cs_view line;
    uint64_t inode = 0;
    while (inode == 0 && next_line(&text, &line))
        inode = listener_of(line, port);
    return inode;
}

/* ---- one process --------------------------------------------------------------------------------- */

static size_t read_path(const char *path, char *out, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    size_t len = 0;
    while (len < size) {
        ssize_t got = read(fd, out + len, size - len);
        if (got <= 0) break;
        len += (size_t)got;
    }
    close(fd);
    return len;
}

size_t cs_proc_read(int pid, const char *name, char *out, size_t size) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    return read_path(path, out, size);
}

/* What a link below /proc/PID points to; empty when it can't be read. pid 0: this program. */
static void read_link(int pid, const char *name, char *out, size_t size) {
    char path[64];
    if (pid == 0)
        snprintf(path, sizeof path, "/proc/self/%s", name);
    else
        snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    ssize_t len = readlink(path, out, size - 1);
    out[len > 0 ? len : 0] = '\0';
}

/* pid 0 of `other`: this program. */
static int64_t same_namespace(int pid, int other, const char *name) {
    char its[64], ours[64];
    read_link(pid, name, its, sizeof its);
    read_link(other, name, ours, sizeof ours);
    if (its[0] == '\0' || ours[0] == '\0') return CS_PROBE_UNKNOWN;
    return strcmp(its, ours) == 0;
}

void cs_proc_describe(int pid, cs_host_process *out) {
    memset(out, 0, sizeof *out);
    char status[8192];
    size_t len = cs_proc_read(pid, "status", status, sizeof status);
    cs_proc_parse_status(cs_view_bytes(status, len), out);
    out->pid = pid;
    out->same_pid_ns = same_namespace(pid, 0, "ns/pid");
    out->same_mnt_ns = same_namespace(pid, 0, "ns/mnt");
    out->same_net_ns = same_namespace(pid, 0, "ns/net");
    out->same_ipc_ns = same_namespace(pid, 0, "ns/ipc");
    read_link(pid, "exe", out->exe, sizeof out->exe);
}

static bool climbs_to(int pid, int daemon) {
    for (unsigned step = 0; step < TREE_PASSES && pid > 1; step++) {
        char text[2048];
        cs_proc_entry entry = {0};
        size_t len = cs_proc_read(pid, "stat", text, sizeof text);
        if (!cs_proc_parse_stat(cs_view_bytes(text, len), &entry)) return false;
        if (entry.parent == daemon) return true;
        pid = entry.parent;
    }
    return false;
}

int64_t cs_proc_apart(int pid, int daemon) {
    static const char *const names[] = {"ns/pid", "ns/mnt", "ns/net", "ns/ipc"};
    if (daemon <= 0 || !climbs_to(pid, daemon)) return CS_PROBE_UNKNOWN;
    int64_t apart = 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        int64_t same = same_namespace(pid, daemon, names[i]);
        if (same == CS_PROBE_UNKNOWN) return CS_PROBE_UNKNOWN;
        if (same == 1) apart = 0;
    }
    return apart;
}

/* Walk over what a process has open; true when `wanted` is among it. */
static bool has_open(int pid, const char *wanted) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *folder = opendir(path);
    if (folder == NULL) return false;
    bool found = false;
    for (struct dirent *entry = readdir(folder); entry != NULL && !found; entry = readdir(folder)) {
        char target[64];
        ssize_t len = readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
        target[len > 0 ? len : 0] = '\0';
        found = strcmp(target, wanted) == 0;
    }
    closedir(folder);
    return found;
}

static int64_t resident_kib(int pid) {
    char status[8192];
    return cs_proc_parse_resident(cs_view_bytes(status, cs_proc_read(pid, "status", status, sizeof status)));
}

bool cs_proc_is_monitor(int pid, bool descriptors, char *exe, size_t size) {
    static const char *const names[] = {"qemu-system-", "qemu-kvm",   "firecracker", "cloud-hypervisor",
                                        "crosvm",       "lkvm",       "kvmtool",     "stratovirt",
                                        "VBoxHeadless", "vmware-vmx", "libkrun"};
    read_link(pid, "exe", exe, size);
    const char *slash = strrchr(exe, '/');
    const char *name = slash != NULL ? slash + 1 : exe;
    bool named = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        named = named || strncmp(name, names[i], strlen(names[i])) == 0;
    if ((named || descriptors) && has_open(pid, "anon_inode:kvm-vm")) return true;
    /* Anything can be given a name. */
    return named && resident_kib(pid) >= CS_MONITOR_KIB;
}

bool cs_proc_programs_differ(int pid, int other) {
    struct stat its, others;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    if (stat(path, &its) != 0) return false;
    snprintf(path, sizeof path, "/proc/%d/exe", other);
    return stat(path, &others) == 0 && (its.st_dev != others.st_dev || its.st_ino != others.st_ino);
}

bool cs_proc_runs(int pid, cs_view program) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/exe", pid);
    struct stat st;
    if (program.len == 0 || stat(path, &st) != 0 || st.st_size != (off_t)program.len) return false;
    char *bytes = malloc(program.len);
    bool same = bytes != NULL && read_path(path, bytes, program.len) == program.len &&
                memcmp(bytes, program.ptr, program.len) == 0;
    free(bytes);
    return same;
}

/* ---- all of them --------------------------------------------------------------------------------- */

bool cs_proc_pids(cs_proc_list *out) {
    out->count = 0;
    DIR *folder = opendir("/proc");
    if (folder == NULL) return false;
    for (struct dirent *entry = readdir(folder); entry != NULL && out->count < CS_PROC_MAX; entry = readdir(folder)) {
        uint64_t pid = 0;
        if (!number_of(cs_view_of(entry->d_name), 10, &pid) || pid == 0 || pid > INT32_MAX) continue;
        out->entries[out->count++] = (cs_proc_entry){.pid = (int)pid};
    }
    closedir(folder);
    return true;
}

static bool is_below(const cs_proc_list *list, int pid, int daemon) {
    if (pid == daemon) return true;
    for (size_t i = 0; i < list->count; i++)
        if (list->entries[i].pid == pid) return list->entries[i].below;
    return false;
}

void cs_proc_tree(cs_proc_list *list, int daemon) {
    for (size_t i = 0; i < list->count; i++) {
        char text[2048];
        size_t len = cs_proc_read(list->entries[i].pid, "stat", text, sizeof text);
        if (!cs_proc_parse_stat(cs_view_bytes(text, len), &list->entries[i])) list->entries[i].parent = 0;
    }
    bool more = daemon > 0;
    for (size_t pass = 0; more && pass < TREE_PASSES; pass++) {
        more = false;
        for (size_t i = 0; i < list->count; i++) {
            cs_proc_entry *entry = &list->entries[i];
            if (entry->below || entry->parent == 0 || !is_below(list, entry->parent, daemon)) continue;
            entry->below = true;
            more = true;
        }
    }
}

static uint64_t listening_inode(uint16_t port) {
    static const char *const tables[] = {"/proc/net/tcp", "/proc/net/tcp6"};
    char *text = malloc(TABLE_BYTES);
    uint64_t inode = 0;
    for (size_t i = 0; text != NULL && inode == 0 && i < 2; i++)
        inode = cs_proc_parse_listener(cs_view_bytes(text, read_path(tables[i], text, TABLE_BYTES)), port);
    free(text);
    return inode;
}

int cs_proc_listener(uint16_t port) {
    uint64_t inode = listening_inode(port);
    cs_proc_list *list = inode != 0 ? calloc(1, sizeof *list) : NULL;
    if (list == NULL || !cs_proc_pids(list)) {
        free(list);
        return 0;
    }
    cs_proc_tree(list, 0);
    char wanted[48];
    snprintf(wanted, sizeof wanted, "socket:[%" PRIu64 "]", inode);
    int oldest = 0;
    uint64_t started = UINT64_MAX;
    for (size_t i = 0; i < list->count; i++) {
        const cs_proc_entry *entry = &list->entries[i];
        if (entry->started >= started || !has_open(entry->pid, wanted)) continue;
        oldest = entry->pid;
        started = entry->started;
    }
    free(list);
    return oldest;
}
