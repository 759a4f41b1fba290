/* Files into a run's work folder before it starts, and out of it after all of its processes have ended.
 * No symbolic link is followed, and nothing outside the folder is reached. */
#ifndef LD_WORK_H
#define LD_WORK_H

#include "records/error.h"
#include <sys/types.h>

typedef enum ld_work {
    LD_WORK_DONE,
    LD_WORK_UNFIT, /* the request's fault: a path that can't be a file, a file that isn't there */
    LD_WORK_LARGE, /* more than `room` */
    LD_WORK_FAILED /* the machine's */
} ld_work;

/* Write one new file, with the folders on its way, as `owner` (-1: as the caller). On LD_WORK_UNFIT and
 * LD_WORK_FAILED, errno says why. The path is valid (cs_path_valid). */
CS_MUST_CHECK ld_work ld_work_write(int folder, cs_view path, cs_view content, uid_t owner);

/* The same, where an earlier call of a session may have left a file, a link, or a special file of that name: it is
 * removed first. A folder of that name stays, and is LD_WORK_UNFIT. */
CS_MUST_CHECK ld_work ld_work_replace(int folder, cs_view path, cs_view content, uid_t owner);

/* Append a regular file that belongs to `owner` and holds at most `room` bytes. */
CS_MUST_CHECK ld_work ld_work_read(int folder, cs_view path, uid_t owner, size_t room, cs_buf *out);

#endif
