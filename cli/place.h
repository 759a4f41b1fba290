/* Where a command writes, held against what it reads and against what else it writes: before anything is done. */
#ifndef CS_CLI_PLACE_H
#define CS_CLI_PLACE_H

#include "records/error.h"

/* A path of the command line, and what named it ("--junit", "an INPUT"). */
typedef struct cs_named_path {
    const char *option;
    const char *path; /* NULL: not given */
} cs_named_path;

/* Each output takes the place of what is there. CS_CODE_USAGE when one is no regular file, or is the same file as
 * another output, as one of `others`, or as a file that SQLite keeps beside one of them: by device and inode, so also
 * through links, and where there is no file yet, by its folder and its name. */
CS_MUST_CHECK cs_result cs_places_check(const cs_named_path *outputs, size_t output_count, const cs_named_path *others,
                                        size_t other_count, cs_error *err);

/* CS_CODE_USAGE when an output is a file of a git repository itself: below any folder .git, the file .git of a linked
 * work tree, or below `git_folder` (NULL: of none). */
CS_MUST_CHECK cs_result cs_places_outside_git(const cs_named_path *outputs, size_t output_count, const char *git_folder,
                                              cs_error *err);

#endif
