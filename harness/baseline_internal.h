/* What the files of the baselines share. Nothing outside harness/baseline*.c, and its tests, includes this.
 *
 * baseline.c       compare, and what changes in a file's list
 * baseline_known.c what could not be found out
 * baseline_take.c  out of a finished check
 * baseline_form.c  the text of a file
 * baseline_file.c  the file itself: read, and replaced by a whole new one
 */
#ifndef CS_HARNESS_BASELINE_INTERNAL_H
#define CS_HARNESS_BASELINE_INTERNAL_H

#include "harness/baseline.h"

#define CS_BASELINE_UNKNOWN "unknown"

/* Baselines in the order of their states, no state twice. */
typedef struct cs_baseline_list {
    cs_baseline *items;
    size_t count;
} cs_baseline_list;

void cs_baseline_list_free(cs_baseline_list *list);

/* -1, 0 or 1: the order of two states, member by member. */
int cs_baseline_state_order(const cs_baseline *a, const cs_baseline *b);

/* A key that a file may hold: [a-z0-9._-], at most CS_BASELINE_KEY - 1 of them. */
bool cs_baseline_key_good(const char *key);

/* Does `value` say that the key's could not be found out? What the daemon itself states never does, and neither do the
 * texts in which a guest says what its kernel is. NULL: the baseline has no such key. */
bool cs_baseline_is_unknown(const cs_baseline *baseline, const char *key, const char *value);

/* Was anything observed beyond statements, where more was asked for? */
bool cs_baseline_observed(const cs_baseline *now);

/* The same as cs_baseline_take, told who listens at its address (NULL: not known). */
CS_MUST_CHECK cs_result cs_baseline_take_of(const char *url, cs_tier_depth depth, const cs_tiers_report *tiers,
                                            const cs_guards_report *guards, const cs_host_daemon *daemon,
                                            cs_baseline *out, cs_error *err);

/* The text of a file (docs/FORMAT.md, "Baseline"). There is one text for one list: what parses is written again byte
 * for byte. CS_CODE_BASELINE_FORM, CS_CODE_NO_MEMORY. */
CS_MUST_CHECK cs_result cs_baseline_parse(cs_view text, cs_baseline_list *out, cs_error *err);
/* False when it would be longer than a file may be. */
CS_MUST_CHECK bool cs_baseline_write(const cs_baseline_list *list, cs_buf *out);

struct cs_baseline_file {
    char *path;
    int fd;       /* what was read; -1: there was no file */
    cs_buf bytes; /* as read */
    cs_baseline_list list;
};

/* Put a file with this text in the place of what was read, if that is still there. On failure nothing changed. */
CS_MUST_CHECK cs_result cs_baseline_publish(cs_baseline_file *file, cs_buf *text, cs_error *err);

#endif
