/* A slot is the place of one run: its user, its folders. Slots are numbered over all daemons of the
 * machine, by locks that end with the processes that hold them (a byte of one file, and as root the name of an
 * abstract socket), so that two daemons never share a user. The lowest free number is taken: the paths that a program
 * sees are then the same from run to run, as long as runs do not overlap.
 */
#ifndef LD_SLOT_H
#define LD_SLOT_H

#include "examples/localdaemon/sandbox.h"
#include <pthread.h>

#define LD_SLOTS 128u
/* Two users for each slot: the run's, and the one that may kill it. The first range is one that neither people,
 * Debian nor systemd give out; the second is for a user namespace that has no numbers that high. */
#define LD_FIRST_UID 2000000000u
#define LD_FIRST_UID_SMALL 50000u

/* The name that records give to one taking of a slot: its folders and its user, from when they are fresh until
 * nothing of them is left. */
#define LD_INSTANCE_KIND "localdaemon-sandbox:"
#define LD_INSTANCE_DIGITS 32u /* random, hexadecimal */

typedef struct ld_slots {
    pthread_mutex_t mutex;
    bool root;
    uid_t first_uid; /* of the range; root only */
    int lock_fd; /* every keeper inherits it: a slot is held until the last of them has ended */
    char base[LD_PATH_MAX];
    bool used[LD_SLOTS];
} ld_slots;

typedef struct ld_slot {
    unsigned number;
    uid_t uid;    /* the daemon's own when it is not root */
    uid_t killer; /* the same */
    char work[LD_PATH_MAX];
    char tmp[LD_PATH_MAX];
    int folder_fd; /* holds work and tmp; not open to the run's user */
    int work_fd;
    int user_fd; /* holds the user's name; every keeper of the run inherits it; -1 when not root */
    char instance[sizeof(LD_INSTANCE_KIND) + LD_INSTANCE_DIGITS];
} ld_slot;

/* Make or check the base directory: /tmp/localdaemon for root, /tmp/localdaemon-<uid> otherwise. It must
 * belong to this user and be writable for nobody else. End with ld_slots_close. */
CS_MUST_CHECK cs_result ld_slots_open(ld_slots *slots, cs_error *err);
void ld_slots_close(ld_slots *slots);

/* Take a free slot with fresh, empty folders, a user without processes and an instance of its own. `from_top` takes the
 * highest number: the container provider shows fixed paths and leaves the low numbers alone. */
CS_MUST_CHECK cs_result ld_slot_take(ld_slots *slots, bool from_top, ld_slot *out, cs_error *err);

/* Give the run's user its rights on its two folders back, which an earlier call of a session may have taken away. */
CS_MUST_CHECK cs_result ld_slot_unlock(const ld_slot *slot, cs_error *err);

/* Remove the folders and give the slot back. When that fails the slot stays taken: what could not be
 * cleaned is never used again. */
CS_MUST_CHECK cs_result ld_slot_return(ld_slots *slots, ld_slot *slot, cs_error *err);

/* Keep the slot taken for good: a process of its user may still run. */
void ld_slot_abandon(ld_slot *slot);

#endif
