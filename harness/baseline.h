/* Baselines of a daemon: what it stated and what was observed, to be compared with later (docs/FORMAT.md, "Baseline").
 *
 * A baseline holds for one state of the daemon: the same provider, policy, environment, daemon start and host boot. A
 * comparison across states is none, and says so. All keys count: a key that is gone, or new, is a difference as much as
 * another value. A key's value is replaced, or a key removed, only where a person names it.
 *
 * One file holds baselines of any number of states.
 */
#ifndef CS_HARNESS_BASELINE_H
#define CS_HARNESS_BASELINE_H

#include "harness/guards.h"
#include "harness/tiers.h"

#define CS_BASELINE_MAX_BYTES 1048576u /* of a file */
#define CS_BASELINE_MAX_STATES 256u
#define CS_BASELINE_MAX_KEYS 512u
#define CS_BASELINE_KEY 96u    /* bytes of a key with its NUL: [a-z0-9._-] */
#define CS_BASELINE_VALUE 512u /* bytes of a value with its NUL; UTF-8, to be escaped before it is shown */

/* Members of a state; the value "unknown" where it can't be found out (a daemon elsewhere, protocol 3). */
typedef enum cs_baseline_state {
    CS_STATE_DAEMON,       /* its URL */
    CS_STATE_PROVIDER,
    CS_STATE_POLICY,
    CS_STATE_ENVIRONMENT,
    CS_STATE_DAEMON_START, /* where it is seen to be here, its process and that one's start as this machine's
                              kernel tells them; and the record's
                              instance, where all runs of the check state the same: many daemons have one for each
                              run, which says nothing of their start */
    CS_STATE_HOST_BOOT,    /* this machine's boot_id where the daemon is here */
    CS_STATE_DEPTH,        /* the depth of the check, and whether guards were tried */
    CS_STATE_MEMBERS
} cs_baseline_state;

const char *cs_baseline_state_word(cs_baseline_state member); /* "daemon", "provider", ... "daemon-start" */

typedef struct cs_baseline_entry {
    char key[CS_BASELINE_KEY];
    char value[CS_BASELINE_VALUE];
} cs_baseline_entry;

/* One baseline. End with cs_baseline_free. */
typedef struct cs_baseline {
    char state[CS_STATE_MEMBERS][CS_BASELINE_VALUE];
    cs_baseline_entry *entries; /* sorted by key, no key twice */
    size_t count;
} cs_baseline;

/* Take the baseline of a finished check, just ended: the daemon's process is looked for now. `guards` may be NULL: not
 * tried. Only what stays the same while nothing changes: statements, verdicts, facts of the kernel and limits; no times,
 * ids or digests of one run. CS_CODE_INTERNAL for a check that did not pass: it gives no baseline. CS_CODE_BASELINE_FORM
 * when the daemon states more than a baseline may hold; CS_CODE_BASELINE_STATE when its process is younger than the
 * check. */
CS_MUST_CHECK cs_result cs_baseline_take(const char *url, cs_tier_depth depth, const cs_tiers_report *tiers,
                                         const cs_guards_report *guards, cs_baseline *out, cs_error *err);
void cs_baseline_free(cs_baseline *baseline);

typedef enum cs_baseline_change {
    CS_CHANGE_VALUE,
    CS_CHANGE_MISSING,
    CS_CHANGE_NEW,
    CS_CHANGE_UNKNOWN /* what the baseline tells of could not be found out now: no change, and no comparison either */
} cs_baseline_change;

typedef struct cs_baseline_difference {
    cs_baseline_change change;
    const char *key;  /* borrows from one of the baselines */
    const char *then; /* NULL: a new key */
    const char *now;  /* NULL: a missing key, or one that could not be found out */
} cs_baseline_difference;

typedef struct cs_baseline_file cs_baseline_file;

/* Read a file; a path that is not there gives an empty one when `create`. CS_CODE_BASELINE_FORM for anything but the
 * exact form; CS_CODE_IO. Symbolic links are followed.
 * It is only ever written as a whole new file, in the place of the one that was read while that one still stands there
 * unchanged (CS_CODE_IO otherwise), or of none; when that fails, the file is as it was. */
CS_MUST_CHECK cs_result cs_baseline_open(const char *path, bool create, cs_baseline_file **out, cs_error *err);
void cs_baseline_close(cs_baseline_file *file);

/* Add the baseline of a state that the file does not hold yet, and write it (atomically, durably). CS_CODE_USAGE when it
 * holds one: keys of it are replaced by name. CS_CODE_BASELINE_UNKNOWN, and nothing is written, when more than statements
 * was asked for and nothing more was observed. */
CS_MUST_CHECK cs_result cs_baseline_add(cs_baseline_file *file, const cs_baseline *now, cs_error *err);

/* Compare with the baseline of the same state. *differences receives an array for free() of *count. CS_OK only when there
 * are none; CS_CODE_BASELINE_STATE (unchecked) when the file holds none of this state, with the members in which the
 * nearest one differs; CS_CODE_BASELINE_DIFFERS (failed); CS_CODE_BASELINE_UNKNOWN (unchecked) when nothing differs but
 * what could not be found out, or when nothing was observed at all. */
CS_MUST_CHECK cs_result cs_baseline_compare(const cs_baseline_file *file, const cs_baseline *now,
                                            cs_baseline_difference **differences, size_t *count, cs_error *err);

/* The keys of `now` that could not be found out, and so compare nothing, in their order: where they were compared, those
 * that could not be found out either time, since all others are among the differences (NULL, 0: nothing was compared).
 * *keys borrow from `now`. Gives their number. */
size_t cs_baseline_unknown_keys(const cs_baseline *now, const cs_baseline_difference *differences, size_t count,
                                const char *keys[CS_BASELINE_MAX_KEYS]);

/* Set each of the named keys to what is now (a key that is gone now is removed, one that is new is added), and write the
 * file. CS_CODE_USAGE for a key that does not differ: nothing is written then. */
CS_MUST_CHECK cs_result cs_baseline_replace(cs_baseline_file *file, const cs_baseline *now, const char *const *keys,
                                            size_t count, cs_error *err);

#endif
