/* Shared by harness/ledger*.c only. */
#ifndef CS_HARNESS_LEDGER_INTERNAL_H
#define CS_HARNESS_LEDGER_INTERNAL_H

#include <sys/types.h>

#include "harness/ledger.h"
#include "verify/ledger_file.h"

/* Which file this process brought into being. */
typedef struct cs_ledger_made {
    bool here; /* false: none; it was there, or another process was faster */
    dev_t device;
    ino_t inode;
} cs_ledger_made;

/* Bring the file at `path` into being where there is none, empty, 0600. Refuses what can't be a ledger:
 * a folder, a link, a missing folder. */
CS_MUST_CHECK cs_result cs_ledger_make_file(const char *path, cs_ledger_made *made, cs_error *err);

/* Keep the file from being removed by whoever made it, as long as the descriptor is open; to be called before the file
 * is looked for. -1 where the folder can't be read, or is held by a stranger: then it goes without. */
CS_MUST_CHECK int cs_ledger_hold_folder(const char *path);

/* Remove the closed file, and what SQLite left beside it, when it is the very one that was made, nobody has it open,
 * and it holds no entry. */
void cs_ledger_remove_unused(const char *path, const cs_ledger_made *made);

/* Make an empty or older file a ledger of the newest version, once, however many processes try at the
 * same time. */
CS_MUST_CHECK cs_result cs_ledger_migrate(const cs_ledger_file *file, cs_error *err);

/* Write-ahead log, and every commit on the disk before it returns. */
CS_MUST_CHECK cs_result cs_ledger_make_durable(const cs_ledger_file *file, cs_error *err);

/* cs_ledger_find_close and cs_ledger_find_record. */
CS_MUST_CHECK cs_result cs_ledger_file_find_close(const cs_ledger_file *file, cs_view session, int64_t *id,
                                                  cs_error *err);
CS_MUST_CHECK cs_result cs_ledger_file_find_record(const cs_ledger_file *file, cs_view record_sha256, int64_t *id,
                                                   cs_error *err);

/* The folder that a path names a file in; false when its name is longer than `size` takes. */
CS_MUST_CHECK bool cs_ledger_folder(const char *path, char *out, size_t size);
/* A new name is on the disk only when its folder is. Does what it can. */
void cs_ledger_sync_folder(const char *folder);

#endif
