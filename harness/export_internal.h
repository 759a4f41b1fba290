/* What the files of the export share. Nothing outside harness/export*.c includes this.
 *
 * export.c           the order of things: lock, read, write, publish
 * export_original.c  the lines and links of an imported bundle, as they came
 * export_own.c       links of our own, behind what the file holds already
 * export_walk.c      reading a ledger without any key
 * export_file.c      the file
 */
#ifndef CS_HARNESS_EXPORT_INTERNAL_H
#define CS_HARNESS_EXPORT_INTERNAL_H

#include "harness/digest_map.h"
#include "harness/export.h"
#include "harness/export_file.h"

/* One attempt at one export. */
typedef struct cs_export_job {
    const cs_export_options *options;
    cs_export_summary *summary;
    cs_trust trust; /* the caller's, and our own key; empty: nothing can be verified */
    cs_export_file file;
    cs_sha256 *hash;
    cs_buf line;    /* the line being made */
    uint64_t bytes; /* of the lines written so far */
    cs_digest last; /* digest of the last line written; empty before the first */
    cs_digest_map *held;  /* entry digests of the file that is extended; NULL: none is */
    cs_digest_map *found; /* those of them that the ledger has */
    bool unfit;          /* the lines as they came can't be written after all; with links of our own they may */
    bool complete;       /* the last line written is a checkpoint */
    bool holds_run;      /* a line with a record was written */
} cs_export_job;

typedef cs_result cs_export_on_entry(void *user, const cs_verified_entry *entry, cs_error *err);

/* CS_CODE_INTERRUPTED once the export shall stop. */
CS_MUST_CHECK cs_result cs_export_check_stop(const cs_export_job *job, cs_error *err);

/* Write job->line, to which a newline is added, and count it. */
CS_MUST_CHECK cs_result cs_export_put_line(cs_export_job *job, cs_error *err);
/* Put the line of an entry into job->line, with this link (ptr NULL: without), and no newline. CS_CODE_LINE_TOO_LONG. */
CS_MUST_CHECK cs_result cs_export_make_line(cs_export_job *job, const cs_entry *entry, cs_view link,
                                            size_t *link_offset, cs_error *err);

/* Verify `source`, which stands at `path`; `on_entry` is called with the job, and never after a failure. */
CS_MUST_CHECK cs_result cs_export_verify(cs_export_job *job, cs_source *source, const char *path,
                                         cs_export_on_entry *on_entry, cs_verify_summary *summary, cs_error *err);

/* What the verifier counted of it. */
cs_export_left_out cs_export_left_out_of(const cs_verify_summary *verified);

/* Walk a ledger without keys: rows and their digests, and of every link its form and that it fits its line. The same
 * codes as the verifier's, with the ledger's path in where; what the callback answers is left as it is. */
CS_MUST_CHECK cs_result cs_export_walk(cs_export_job *job, cs_source *source, cs_export_on_entry *on_entry, void *user,
                                       cs_export_left_out *left_out, cs_error *err);

/* Are the ledger's signed rows one imported bundle? *original, or *why with the code CS_CODE_EXPORT_KEY. A ledger with a
 * fault, or nothing signed, is taken for one: whoever reads it next says what is wrong. */
CS_MUST_CHECK cs_result cs_export_survey(cs_export_job *job, bool *original, cs_error *why, cs_error *err);

/* Write all lines into the new file, as they came, or with links of our own. job->summary is filled.
 * *changed: there is something new to publish. */
CS_MUST_CHECK cs_result cs_export_original(cs_export_job *job, bool *changed, cs_error *err);
CS_MUST_CHECK cs_result cs_export_own(cs_export_job *job, bool *changed, cs_error *err);

#endif
