/* How much there can be of something: processes, processors, memory, files. Part of walls.c, its only source. */
#ifndef CS_HARNESS_PROBE_AMOUNTS_H
#define CS_HARNESS_PROBE_AMOUNTS_H

#include "harness/probe/bare.h"

#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/resource.h>

#define SIGNAL_FILE_SIZE 25
#define MOST_CHILDREN 4096
#define MOST_SPINNING 256
#define CHILD_MS 30000
#define SPIN_US 1000000
#define MIB (1024 * 1024)
#define SMALL_FILE_MB 32   /* of those that fill a disk: below any limit of a file's size */
#define SMALL_CHILD_MB 256 /* of those that fill the memory: below most limits of one process */
#define FILL_US 60000000

/* ---- children --------------------------------------------------------------------------------------- */

static inline void die_with_parent(void) {
    (void)CALL5(__NR_prctl, PR_SET_PDEATHSIG, SIGNAL_KILL, 0, 0, 0);
}

/* How many children there can be at once, up to `most`. */
static inline int64_t have_children(int64_t most) {
    static long children[MOST_CHILDREN];
    if (most <= 0 || most > MOST_CHILDREN) return UNKNOWN;
    int64_t count = 0;
    while (count < most) {
        long child = split();
        if (child == 0) {
            die_with_parent();
            nap_ms(CHILD_MS);
            leave(0);
        }
        if (child < 0) break;
        children[count++] = child;
    }
    for (int64_t i = 0; i < count; i++)
        (void)CALL5(__NR_kill, children[i], SIGNAL_KILL, 0, 0, 0);
    for (int64_t i = 0; i < count; i++)
        (void)CALL5(__NR_wait4, children[i], 0, 0, 0, 0);
    return count;
}

static _Noreturn void spin(void) {
    die_with_parent();
    int64_t end = clock_us(1) + SPIN_US;
    while (clock_us(1) < end) {
    }
    leave(0);
}

/* How many thousandths of a processor `count` children consume that do nothing but that. */
static inline int64_t busy_once(int64_t count) {
    static long children[MOST_SPINNING];
    if (count <= 0 || count > MOST_SPINNING) return UNKNOWN;
    int64_t begun = clock_us(1);
    int64_t consumed = 0;
    int64_t made = 0;
    for (; made < count; made++) {
        children[made] = split();
        if (children[made] == 0) spin();
        if (children[made] < 0) break;
    }
    for (int64_t i = 0; i < made; i++) {
        struct rusage used;
        memset(&used, 0, sizeof used);
        (void)CALL5(__NR_wait4, children[i], 0, 0, &used, 0);
        consumed +=
            (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 + used.ru_utime.tv_usec + used.ru_stime.tv_usec;
    }
    int64_t wall = clock_us(1) - begun;
    return made == count && wall > 0 ? consumed * 1000 / wall : UNKNOWN;
}

/* The most of several times: others work on this machine, too. */
static inline int64_t busy(int64_t count) {
    int64_t most = UNKNOWN;
    for (unsigned i = 0; i < 3; i++) {
        int64_t now = busy_once(count);
        if (now > most) most = now;
    }
    return most;
}

/* ---- memory and files ----------------------------------------------------------------------------------- */

/* The largest number for which `fits` holds: doubled from `low` up to `high`, then between the last two, more and more
 * closely. 0 when `low` does not fit. */
static inline int64_t largest(int64_t low, int64_t high, int (*fits)(int64_t, long), long with) {
    if (!fits(low, with)) return 0;
    int64_t good = low;
    while (good < high && fits(good * 2, with))
        good *= 2;
    if (good >= high) return good;
    int64_t bad = good * 2;
    for (unsigned i = 0; i < 8 && bad - good > 1; i++) {
        int64_t middle = good + (bad - good) / 2;
        if (fits(middle, with))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

static inline long map(int64_t bytes, long flags) {
    return CALL5(__NR_mmap, 0, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1);
}

static inline int is_mapped(int64_t mb, long with) {
    (void)with;
    long at = map(mb * MIB, MAP_PRIVATE | MAP_NORESERVE);
    if (at < 0 && at > -4096) return 0;
    (void)CALL5(__NR_munmap, at, mb * MIB, 0, 0, 0);
    return 1;
}

/* A limit on a file's size is told by a signal, too. */
static inline void ignore_file_size_signal(void) {
    struct {
        long handler, flags, restorer, mask;
    } action = {.handler = 1};
    (void)CALL5(__NR_rt_sigaction, SIGNAL_FILE_SIZE, &action, 0, 8, 0);
}

static inline long make_file(const char *path) {
    return CALL5(__NR_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600, 0);
}

static inline void remove_file(const char *path) {
    (void)CALL5(__NR_unlinkat, AT_FDCWD, path, 0, 0, 0);
}

/* One byte at the end; the rest takes no room. */
static inline int is_as_large(int64_t mb, long file) {
    static const char byte = 1;
    long wrote = CALL5(__NR_pwrite64, file, &byte, 1, mb * MIB - 1, 0);
    return wrote == 1 && CALL5(__NR_ftruncate, file, 0, 0, 0, 0) == 0;
}

static inline int64_t file_size(void) {
    static const char path[] = "countersign-size";
    long file = make_file(path);
    if (file < 0) return UNKNOWN;
    int64_t mb = largest(1, (int64_t)1 << 20, is_as_large, file);
    (void)CALL5(__NR_close, file, 0, 0, 0, 0);
    remove_file(path);
    return mb;
}

static inline const char *disk_name(int64_t number) {
    static char path[] = "countersign-disk-000";
    for (unsigned i = 0; i < 3; i++) {
        path[sizeof path - 2 - i] = (char)('0' + number % 10);
        number /= 10;
    }
    return path;
}

/* Blocks that nothing can store in less room. */
static inline const char *fresh_block(void) {
    static uint64_t block[65536 / 8];
    static uint64_t state = 88172645463325252u;
    for (unsigned i = 0; i < 65536 / 8; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        block[i] = state;
    }
    return (const char *)block;
}

/* How much can be written, up to `most`; all of it is there at once. */
static inline int64_t write_disk(int64_t most) {
    if (most <= 0) return UNKNOWN;
    int64_t bytes = 0;
    int64_t files = 0;
    int full = 0;
    while (bytes < most * MIB && files < 1000 && !full) {
        long file = make_file(disk_name(files++));
        if (file < 0) break;
        for (unsigned i = 0; i < SMALL_FILE_MB * 16 && bytes < most * MIB && !full; i++) {
            full = CALL5(__NR_write, file, fresh_block(), 65536, 0, 0) != 65536;
            if (!full) bytes += 65536;
        }
        /* What the disk has no room for may show only now. */
        if (CALL5(__NR_fsync, file, 0, 0, 0, 0) != 0) full = 1;
        (void)CALL5(__NR_close, file, 0, 0, 0, 0);
    }
    for (int64_t i = 0; i < files; i++)
        remove_file(disk_name(i));
    return bytes / MIB;
}

/* ---- having memory ----------------------------------------------------------------------------------------- */

/* Touch every page of so much memory, tell how far it came, and keep it. */
static _Noreturn void hold_memory(int64_t mb, volatile int64_t *reached) {
    die_with_parent();
    /* When the memory ends, this process is to go and no other. */
    long fd = CALL5(__NR_openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY, 0, 0);
    if (fd >= 0) {
        (void)CALL5(__NR_write, fd, "1000", 4, 0, 0);
        (void)CALL5(__NR_close, fd, 0, 0, 0, 0);
    }
    long at = map(mb * MIB, MAP_PRIVATE);
    if (at < 0 && at > -4096) leave(1);
    for (int64_t i = 0; i < mb; i++) {
        /* Pages that are all different can't be stored as one. */
        int64_t now = clock_us(1);
        for (int64_t page = 0; page < MIB; page += 4096)
            *(volatile int64_t *)(at + i * MIB + page) = now + page;
        *reached = i + 1;
    }
    nap_ms(FILL_US / 1000);
    leave(0);
}

typedef struct holder {
    long child; /* 0: it has ended */
    int64_t reached;
} holder;

static inline int has_ended(holder *of) {
    if (of->child <= 0 || CALL5(__NR_wait4, of->child, 0, 1, 0, 0) != of->child) return 0;
    of->child = 0;
    return 1;
}

/* Have one more child hold memory; how much it has, also when it was ended for it. */
static inline void add_holder(holder *of, int64_t mb, volatile int64_t *reached, int64_t until) {
    *reached = 0;
    of->child = split();
    if (of->child == 0) hold_memory(mb, reached);
    while (of->child > 0 && *reached < mb && clock_us(1) < until && !has_ended(of))
        nap_ms(5);
    of->reached = *reached;
}

/* Was one of them ended, so that another could have its memory? Then they never held all of it at once. */
static inline int64_t lost(holder *holders, unsigned count) {
    int64_t mb = 0;
    for (unsigned i = 0; i < count; i++)
        if (has_ended(&holders[i])) mb += holders[i].reached;
    return mb;
}

/* How much memory several children have at once, up to `most`. */
static inline int64_t have_memory(int64_t most) {
    static holder holders[64];
    long shared = map(4096, MAP_SHARED);
    if (most <= 0 || (shared < 0 && shared > -4096)) return UNKNOWN;
    int64_t until = clock_us(1) + FILL_US;
    int64_t total = 0;
    unsigned count = 0;
    for (int full = 0; !full && total < most && count < 64; count++) {
        int64_t want = most - total < SMALL_CHILD_MB ? most - total : SMALL_CHILD_MB;
        add_holder(&holders[count], want, (volatile int64_t *)shared, until);
        int64_t gone = lost(holders, count);
        total += holders[count].reached - gone;
        full = gone > 0 || holders[count].reached < want;
    }
    for (unsigned i = 0; i < count; i++)
        end_child(holders[i].child);
    /* Too slow is not too much. */
    return total < most && clock_us(1) >= until ? UNKNOWN : total;
}

#endif
