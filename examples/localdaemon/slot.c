#include "examples/localdaemon/slot.h"

#include "examples/localdaemon/ending.h"
#include "examples/localdaemon/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

cs_result ld_slots_open(ld_slots *slots, cs_error *err) {
    memset(slots, 0, sizeof(*slots));
    slots->lock_fd = -1;
    slots->root = geteuid() == 0;
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

static bool claim_number(ld_slots *slots, bool from_top, unsigned *out) {
    bool found = false;
    pthread_mutex_lock(&slots->mutex);
    for (unsigned i = 0; i < LD_SLOTS && !found; i++) {
        unsigned number = from_top ? LD_SLOTS - 1 - i : i;
        if (slots->used[number] || !lock_byte(slots->lock_fd, number, F_WRLCK)) continue;
        slots->used[number] = true;
        *out = number;
        found = true;
    }
    pthread_mutex_unlock(&slots->mutex);
    return found;
}

static void release_number(ld_slots *slots, unsigned number) {
    pthread_mutex_lock(&slots->mutex);
    lock_byte(slots->lock_fd, number, F_UNLCK);
    slots->used[number] = false;
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

cs_result ld_slot_take(ld_slots *slots, bool from_top, ld_slot *out, cs_error *err) {
    *out = (ld_slot){.folder_fd = -1, .work_fd = -1};
    if (!claim_number(slots, from_top, &out->number))
        return cs_fail(err, CS_CODE_IO, "all %u slots are taken", LD_SLOTS);
    out->uid = slots->root ? LD_FIRST_UID + 2 * out->number : geteuid();
    out->killer = slots->root ? out->uid + 1 : out->uid;
    char folder[LD_PATH_MAX];
    snprintf(folder, sizeof(folder), "%.100s/%u", slots->base, out->number);
    snprintf(out->work, sizeof(out->work), "%.115s/work", folder);
    snprintf(out->tmp, sizeof(out->tmp), "%.115s/tmp", folder);
    /* What a daemon that was killed has left behind. */
    cs_result result = CS_OK;
    if (slots->root && !ld_end_user(out->uid, out->killer))
        result = cs_fail(err, CS_CODE_IO, "processes of user %u can't be ended", (unsigned)out->uid);
    if (result == CS_OK) result = ld_tree_remove(folder, err);
    if (result == CS_OK) result = make_folders(slots, folder, out, err);
    if (result != CS_OK) {
        ld_slot_abandon(out);
        release_number(slots, out->number);
    }
    return result;
}

cs_result ld_slot_return(ld_slots *slots, ld_slot *slot, cs_error *err) {
    char folder[LD_PATH_MAX];
    snprintf(folder, sizeof(folder), "%.100s/%u", slots->base, slot->number);
    ld_slot_abandon(slot);
    cs_result result = ld_tree_remove(folder, err);
    if (result == CS_OK) release_number(slots, slot->number);
    return result;
}

void ld_slot_abandon(ld_slot *slot) {
    if (slot->work_fd >= 0) close(slot->work_fd);
    if (slot->folder_fd >= 0) close(slot->folder_fd);
    slot->work_fd = -1;
    slot->folder_fd = -1;
}
