/* The file that an export writes: locked while it is extended, and replaced only by a whole new one.
 * Shared by harness/export*.c only.
 */
#ifndef CS_HARNESS_EXPORT_FILE_H
#define CS_HARNESS_EXPORT_FILE_H

#include <signal.h>
#include <sys/types.h>

#include "harness/new_file.h"
#include "records/error.h"

typedef struct cs_export_file {
    const char *name; /* the last part of the path; borrowed */
    int folder;       /* the open folder that it stands in; -1: not open */
    int old;          /* the file that is there, open and locked; -1: none */
    uint64_t old_size;
    mode_t mode; /* of the new file */
    cs_new_file made;
} cs_export_file;

#define CS_EXPORT_FILE_INIT ((cs_export_file){.folder = -1, .old = -1, .mode = 0600, .made = CS_NEW_FILE_INIT})

/* Open the folder, and what stands at `path`, and lock that (docs/FORMAT.md, "Export"). Waits up to lock_wait_ms for
 * others who extend it, and goes on with what they left there. CS_CODE_EXPORT_LOCKED, CS_CODE_EXPORT_PERMISSIONS,
 * CS_CODE_INTERRUPTED, CS_CODE_IO. `file` starts as CS_EXPORT_FILE_INIT; end with cs_export_file_close, also when
 * this failed. */
CS_MUST_CHECK cs_result cs_export_file_open(const char *path, int lock_wait_ms, const volatile sig_atomic_t *stop,
                                            cs_export_file *file, cs_error *err);

/* Make the new file, empty, beside its place. */
CS_MUST_CHECK cs_result cs_export_file_create(cs_export_file *file, cs_error *err);
CS_MUST_CHECK cs_result cs_export_file_append(cs_export_file *file, cs_view bytes, cs_error *err);

/* Does the old file hold these bytes at `at`, as far as it goes? CS_CODE_IO. */
CS_MUST_CHECK cs_result cs_export_file_compare(const cs_export_file *file, uint64_t at, cs_view bytes, bool *same,
                                               cs_error *err);

/* Sync the new file and put it in its place. *taken: another file was put there meanwhile, and nothing was done. */
CS_MUST_CHECK cs_result cs_export_file_publish(cs_export_file *file, bool *taken, cs_error *err);

/* Remove the new file unless it was published. */
void cs_export_file_discard(cs_export_file *file);
/* The same, and let go of the lock. */
void cs_export_file_close(cs_export_file *file);

#endif
