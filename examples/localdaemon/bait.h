/* What the smoke test's attempts reach for: files, listeners, a shared memory segment, a process. */
#ifndef LD_BAIT_H
#define LD_BAIT_H

#include "examples/localdaemon/slot.h"

typedef struct ld_bait {
    char canary[LD_PATH_MAX + 32]; /* a file that everybody may read */
    char secret[LD_PATH_MAX + 32]; /* a file of the daemon's user only */
    char port[16];                 /* of a listener on 127.0.0.1 */
    char abstract[64];             /* name of an abstract UNIX socket that listens */
    char segment[16];              /* id of a System V shared memory segment; "" when there can't be one */
    char victim[16];               /* a process of the run's user, outside the sandbox */
    int tcp_fd;
    int abstract_fd;
    int segment_id;
    pid_t victim_pid;
} ld_bait;

/* Lay everything out but the victim. End with ld_bait_remove, also after a failure. */
CS_MUST_CHECK cs_result ld_bait_lay(ld_bait *bait, const ld_slots *slots, cs_error *err);
void ld_bait_remove(ld_bait *bait);

/* Start a victim as `uid`; the run that is tried on it may end it. */
CS_MUST_CHECK cs_result ld_bait_victim(ld_bait *bait, bool other_user, uid_t uid, cs_error *err);
void ld_bait_end_victim(ld_bait *bait);

#endif
