#include "examples/localdaemon/slot.h"

#include "examples/localdaemon/tree.h"
#include "records/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Are all users of the range there, seen from this user namespace? */
static bool users_exist(uid_t first) {
    FILE *map = fopen("/proc/self/uid_map", "re");
    if (map == NULL) return false;
    unsigned long inside = 0;
    unsigned long outside = 0;
    unsigned long count = 0;
    bool exist = false;
    while (!exist && fscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3) // NOLINT(cert-err34-c): the kernel's
        exist = first >= inside && first + 2 * LD_SLOTS <= inside + count;
    fclose(map);
    return exist;
}

static cs_result find_users(ld_slots *slots, cs_error *err) {
    slots->first_uid = users_exist(LD_FIRST_UID) ? LD_FIRST_UID : LD_FIRST_UID_SMALL;
    if (!slots->root || users_exist(slots->first_uid)) return CS_OK;
    return cs_fail(err, CS_CODE_IO,
                   "this user namespace has neither the users from %u nor those from %u on (or no /proc is mounted); "
                   "start the daemon as another user than root, or outside",
                   LD_FIRST_UID, LD_FIRST_UID_SMALL);
}

cs_result ld_slots_open(ld_slots *slots, cs_error *err) {
    memset(slots, 0, sizeof(*slots));
    slots->lock_fd = -1;
    slots->root = geteuid() == 0;
    cs_result users = find_users(slots, err);
    if (users != CS_OK) return users;
    if (slots->root)
        snprintf(slots->base, sizeof(slots->base), "/tmp/localdaemon");
    else
        snprintf(slots->base, sizeof(slots->base), "/tmp/localdaemon-%u", (unsigned)geteuid());
    /* A run's user passes through, and reads nothing here. */
    if (mkdir(slots->base, slots->root ? 0711 : 0700) != 0 && errno != EEXIST)
        return cs_fail(err, CS_CODE_IO, "%s can't be made: %s", slots->base, strerror(errno));
    struct stat st;
    if (lstat(slots->base, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) != 0)
        return cs_fail(err, CS_CODE_IO,
                       "%s is not a directory of this user that nobody else may write to; remove it and start again",
                       slots->base);
    /* Made under another umask. */
    if (slots->root && chmod(slots->base, 0711) != 0)
        return cs_fail(err, CS_CODE_IO, "%s can't be opened to runs: %s", slots->base, strerror(errno));
    char path[LD_PATH_MAX + 8];
    snprintf(path, sizeof(path), "%s/lock", slots->base);
    slots->lock_fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (slots->lock_fd < 0) return cs_fail(err, CS_CODE_IO, "%s can't be opened: %s", path, strerror(errno));
    if (pthread_mutex_init(&slots->mutex, NULL) != 0) {
        close(slots->lock_fd);
        slots->lock_fd = -1;
        return cs_fail(err, CS_CODE_INTERNAL, "no mutex");
    }
    return CS_OK;
}

void ld_slots_close(ld_slots *slots) {
    if (slots->lock_fd < 0) return;
    close(slots->lock_fd);
    slots->lock_fd = -1;
    pthread_mutex_destroy(&slots->mutex);
}

static bool lock_byte(int fd, unsigned number, short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)number, .l_len = 1};
    return fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

/* The lock file is shared by whoever shares /tmp; users are shared by whoever shares process ids, also from
 * another root directory. An abstract socket's name is taken for all of these in the same network namespace. -1
 * when another has it. */
static int claim_user(uid_t uid) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int len = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "localdaemon-user-%u", (unsigned)uid);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)len);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&name, size) == 0) return fd;
    close(fd);
    return -1;
}

#define USER_OF_NOBODY ((uid_t)-3)

/* Has this user a process, as its real user? When it can't be told: yes. */
static bool has_process(uid_t uid) {
    errno = 0;
    return getpriority(PRIO_USER, uid) != -1 || errno != ESRCH;
}

/* The same of the two users from `uid` on, by the owners of /proc's folders. */
static bool are_seen(uid_t uid) {
    DIR *proc = opendir("/proc");
    if (proc == NULL) return true;
    bool seen = false;
    for (struct dirent *entry = readdir(proc); entry != NULL && !seen; entry = readdir(proc)) {
        struct stat st;
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
        seen = fstatat(dirfd(proc), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
               (st.st_uid == uid || st.st_uid == uid + 1);
    }
    closedir(proc);
    return seen;
}

/* Does any process belong to one of the two users from `uid` on? A system call tells, and not a look at every process;
 * but a kernel that is an imitation may say yes of every user (gVisor's does), also of one that has never been. */
static bool users_are_active(uid_t uid) {
    if (!has_process(uid) && !has_process(uid + 1)) return false;
    return !has_process(USER_OF_NOBODY) || are_seen(uid);
}

static uid_t user_of(const ld_slots *slots, unsigned number) {
    return slots->first_uid + 2 * number;
}

/* Try to take one number. A user with processes is left alone: they are another's, or what a killed daemon has
 * left, and in both cases this run must not share its user with them. */
static bool claim(ld_slots *slots, unsigned number, ld_slot *out) {
    if (slots->used[number] || !lock_byte(slots->lock_fd, number, F_WRLCK)) return false;
    const uid_t user = user_of(slots, number);
    out->number = number;
    out->user_fd = slots->root ? claim_user(user) : -1;
    if (!slots->root || (out->user_fd >= 0 && !users_are_active(user))) {
        slots->used[number] = true;
        return true;
    }
    if (out->user_fd >= 0) close(out->user_fd);
    lock_byte(slots->lock_fd, number, F_UNLCK);
    return false;
}

static bool claim_number(ld_slots *slots, bool from_top, ld_slot *out) {
    bool found = false;
    pthread_mutex_lock(&slots->mutex);
    for (unsigned i = 0; i < LD_SLOTS && !found; i++)
        found = claim(slots, from_top ? LD_SLOTS - 1 - i : i, out);
    pthread_mutex_unlock(&slots->mutex);
    return found;
}

static void release_number(ld_slots *slots, ld_slot *slot) {
    pthread_mutex_lock(&slots->mutex);
    if (slot->user_fd >= 0) close(slot->user_fd);
    slot->user_fd = -1;
    lock_byte(slots->lock_fd, slot->number, F_UNLCK);
    slots->used[slot->number] = false;
    pthread_mutex_unlock(&slots->mutex);
}

static cs_result make_folders(const ld_slots *slots, const char *folder, ld_slot *slot, cs_error *err) {
    if (mkdir(folder, slots->root ? 0711 : 0700) != 0 || mkdir(slot->work, 0700) != 0 || mkdir(slot->tmp, 0700) != 0)
        return cs_fail(err, CS_CODE_IO, "the folders below %s can't be made: %s", folder, strerror(errno));
    slot->folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (slot->folder_fd >= 0)
        slot->work_fd = openat(slot->folder_fd, "work", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (slot->work_fd < 0) return cs_fail(err, CS_CODE_IO, "%s can't be opened: %s", slot->work, strerror(errno));
    if (slots->root && (fchown(slot->work_fd, slot->uid, slot->uid) != 0 ||
                        fchownat(slot->folder_fd, "tmp", slot->uid, slot->uid, AT_SYMLINK_NOFOLLOW) != 0))
        return cs_fail(err, CS_CODE_IO, "%s can't be given to user %u: %s", folder, (unsigned)slot->uid,
                       strerror(errno));
    return CS_OK;
}

static cs_result name_instance(ld_slot *slot, cs_error *err) {
    uint8_t random[LD_INSTANCE_DIGITS / 2];
    char digits[LD_INSTANCE_DIGITS + 1];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
        return cs_fail(err, CS_CODE_IO, "no random numbers: %s", strerror(errno));
    cs_hex(random, sizeof(random), digits);
    snprintf(slot->instance, sizeof(slot->instance), LD_INSTANCE_KIND "%s", digits);
    return CS_OK;
}

cs_result ld_slot_take(ld_slots *slots, bool from_top, ld_slot *out, cs_error *err) {
    *out = (ld_slot){.folder_fd = -1, .work_fd = -1, .user_fd = -1};
    if (!claim_number(slots, from_top, out)) return cs_fail(err, CS_CODE_IO, "all %u slots are taken", LD_SLOTS);
    out->uid = slots->root ? user_of(slots, out->number) : geteuid();
    out->killer = slots->root ? out->uid + 1 : out->uid;
    char folder[LD_PATH_MAX];
    snprintf(folder, sizeof(folder), "%.100s/%u", slots->base, out->number);
    snprintf(out->work, sizeof(out->work), "%.115s/work", folder);
    snprintf(out->tmp, sizeof(out->tmp), "%.115s/tmp", folder);
    /* A daemon that was killed may have left one. */
    cs_result result = ld_tree_remove(folder, err);
    if (result == CS_OK) result = make_folders(slots, folder, out, err);
    if (result == CS_OK) result = name_instance(out, err);
    if (result != CS_OK) {
        ld_slot_abandon(out);
        release_number(slots, out);
    }
    return result;
}

cs_result ld_slot_unlock(const ld_slot *slot, cs_error *err) {
    if (fchmod(slot->work_fd, 0700) == 0 && fchmodat(slot->folder_fd, "tmp", 0700, 0) == 0) return CS_OK;
    return cs_fail(err, CS_CODE_IO, "the folders of slot %u can't be opened again: %s", slot->number, strerror(errno));
}

/* Most runs leave nothing behind, and then nothing has to be looked for. */
static bool remove_empty(const ld_slot *slot, const char *folder) {
    return rmdir(slot->work) == 0 && rmdir(slot->tmp) == 0 && rmdir(folder) == 0;
}

cs_result ld_slot_return(ld_slots *slots, ld_slot *slot, cs_error *err) {
    char folder[LD_PATH_MAX];
    snprintf(folder, sizeof(folder), "%.100s/%u", slots->base, slot->number);
    ld_slot_abandon(slot);
    cs_result result = remove_empty(slot, folder) ? CS_OK : ld_tree_remove(folder, err);
    if (result == CS_OK) release_number(slots, slot);
    return result;
}

void ld_slot_abandon(ld_slot *slot) {
    if (slot->work_fd >= 0) close(slot->work_fd);
    if (slot->folder_fd >= 0) close(slot->folder_fd);
    slot->work_fd = -1;
    slot->folder_fd = -1;
}
