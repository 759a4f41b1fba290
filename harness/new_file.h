/* A file that is made beside its place and put there whole: whoever opens that path finds what was there before, or all
 * of the new file, and a process that is killed leaves at most a file `.countersign-*.tmp` behind.
 *
 *   cs_folder_of, cs_new_file_make, cs_write_all, fsync, cs_new_file_place, cs_folder_sync; and cs_new_file_end, always
 *
 * Nothing here says what the errors mean for whoever writes: a function that answers false or -1 leaves its reason in
 * errno. What is written needs the mode that it is to have (fchmod: the umask may have taken bits away) and to be on
 * the disk (fsync) before it is placed; both are left to the caller, who may want neither or have words of their own
 * for a failure.
 */
#ifndef CS_HARNESS_NEW_FILE_H
#define CS_HARNESS_NEW_FILE_H

#include <sys/types.h>

#include "records/base.h"

/* Write all of it to a descriptor, however many writes it takes. */
CS_MUST_CHECK bool cs_write_all(int fd, cs_view bytes);

/* The folder that a path names a file in, open, and in *name the last part of the path (borrows it; "" behind a slash).
 * O_RDONLY: the folder can be synced, and has to be readable. O_PATH: just to make files in. -1: errno;
 * ENAMETOOLONG from PATH_MAX bytes on. */
CS_MUST_CHECK int cs_folder_of(const char *path, int access, const char **name);

/* A new name is on the disk only when its folder is. Some file systems can't sync a folder and say so with EINVAL; that
 * is no failure. */
CS_MUST_CHECK bool cs_folder_sync(int folder);

typedef struct cs_new_file {
    int folder;         /* in which it is made; borrowed, and open until cs_new_file_end */
    int fd;             /* open for reading and writing; -1: none */
    char temporary[64]; /* its name there; "" when it has none, or its place */
} cs_new_file;

#define CS_NEW_FILE_INIT ((cs_new_file){.folder = -1, .fd = -1})

/* Make an empty one, `.countersign-WHAT-<16 hex>.tmp`, of this mode less the umask. `what` has at most 29 bytes. */
CS_MUST_CHECK bool cs_new_file_make(int folder, const char *what, mode_t mode, cs_new_file *file);

/* Give it its name in the same folder: `replace` in the place of what has the name, and otherwise never, not even of a
 * link that leads nowhere (EEXIST). On failure it stays where it was. */
CS_MUST_CHECK bool cs_new_file_place(cs_new_file *file, const char *name, bool replace);

/* Close it, and remove it unless it has its place. False: the closing failed. Does nothing a second time. */
bool cs_new_file_end(cs_new_file *file);

#endif
