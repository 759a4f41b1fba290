/* The keeper: one small process between the daemon and each command of a run.
 *
 * It starts the command behind its walls, waits for its end or for the daemon's word (or the daemon's
 * death), then ends everything that the command has started, reports, and exits. It is forked from a
 * program with threads and never executes another, so it only makes system calls; whatever needs
 * memory is prepared in the plan before.
 */
#ifndef LD_KEEPER_H
#define LD_KEEPER_H

#include "examples/localdaemon/filter.h"
#include "examples/localdaemon/proc.h"
#include "examples/localdaemon/slot.h"

#define LD_PASSED 3u /* descriptors that the program itself inherits */

/* Everything is borrowed and stays the daemon's to close. -1: no descriptor. */
typedef struct ld_plan {
    const char *program;
    char *const *argv;
    char *const *envp;
    const char *folder; /* current directory */
    /* Smoke test: call this behind the walls instead of executing; its return is the exit code. */
    int (*inside)(const char *name, const char *argument);
    const char *probe;
    const char *argument;

    uint32_t guards;
    ld_limits limits;
    uid_t uid;
    uid_t killer;
    bool namespaced; /* root only: the command is root of a user namespace with `uid` and `file_user` (userns.h) */
    uid_t file_user;
    gid_t group;             /* one more group of the run's user; 0: none */
    int ruleset;             /* Landlock */
    const ld_filter *filter; /* NULL: none, or loaded by bubblewrap */
    int passed[LD_PASSED];

    int output;  /* write end */
    int errors;  /* write end */
    int report;  /* write end, for one ld_report */
    int control; /* read end: a byte, or its end, ends the run */
    int lock;    /* the slots' lock file */
    int user;    /* the slot's user_fd */

    const ld_spared *spared; /* processes of the run's user that stay; NULL: none */
} ld_plan;

#define LD_PLAN_INIT                                                                                                   \
    ((ld_plan){.ruleset = -1,                                                                                          \
               .passed = {-1, -1, -1},                                                                                 \
               .output = -1,                                                                                           \
               .errors = -1,                                                                                           \
               .report = -1,                                                                                           \
               .control = -1,                                                                                          \
               .lock = -1,                                                                                             \
               .user = -1})

typedef enum ld_stage {
    LD_STAGE_STARTED = 0,
    LD_STAGE_FORK,
    LD_STAGE_STREAMS,
    LD_STAGE_LIMITS,
    LD_STAGE_USER,
    LD_STAGE_FOLDER,
    LD_STAGE_LANDLOCK,
    LD_STAGE_FILTER,
    LD_STAGE_EXECUTE
} ld_stage;

typedef struct ld_report {
    int32_t stage;  /* how far the start came: LD_STAGE_STARTED, or what failed with `error` */
    int32_t error;  /* errno */
    int32_t status; /* of waitpid, when `ended` */
    bool ended;     /* the command came to its end by itself */
    bool clean;     /* no process of the run is left */
} ld_report;

const char *ld_stage_word(int32_t stage);

/* Be the keeper. Call in a fresh fork only. */
_Noreturn void ld_keeper(const ld_plan *plan);

/* Be the keeper of a command that outlives the call that started it (an interpreter of a session): reap what is left
 * to it, and report once, when the command could not be started or has ended. Then wait for the word all the same: a
 * byte of `control` is the word to leave, everything else of the user being dealt with; its end (the daemon's, too) is
 * the word to end all processes of the user, after which a second report says whether that was possible. */
_Noreturn void ld_resident_keeper(const ld_plan *plan);

/* Be the command: streams, limits, user, walls, then execute. Writes {stage, errno} to `failed` and exits
 * when one of them can't be put up. Called by the keeper, whose memory it may share until it executes: it changes
 * nothing in it but errno. */
_Noreturn void ld_confined(const ld_plan *plan, int failed);

/* Close every descriptor from 3 on but the `count` listed (-1 entries are fine; the list is sorted). */
void ld_close_others(int *keep, size_t count);

#endif
