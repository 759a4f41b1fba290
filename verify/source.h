/* Reading what is to be verified, one entry at a time: a bundle file or a ledger.
 *
 * Which of the two is told by content: a ledger begins with SQLite's 16 magic bytes, a bundle with
 * '{'. Memory is that of one entry. Everything read is hostile.
 */
#ifndef CS_VERIFY_SOURCE_H
#define CS_VERIFY_SOURCE_H

#include "records/error.h"
#include "verify/schema.h"

#define CS_MAX_LINE_BYTES ((size_t)64 * 1024 * 1024)

typedef enum cs_source_kind { CS_SOURCE_BUNDLE, CS_SOURCE_LEDGER } cs_source_kind;

/* One entry. All views are borrowed until the next call of cs_source_next. */
typedef struct cs_entry {
    uint64_t number; /* 1-based line of a bundle, id of a ledger row */
    bool finding;    /* ledger only: unsigned, never counts as a run */
    bool verdict;    /* ledger only: a statement of a gate's verdict, never counts as a run */
    cs_view request; /* decoded from base64; ptr NULL when absent */
    cs_view response;
    cs_view envelope; /* JSON text; ptr NULL when absent */
    cs_view link;     /* JSON text of the link envelope; ptr NULL when absent (in a ledger: of its own runs) */
    cs_view line;     /* bundle: the whole line without its newline */
    size_t link_offset; /* bundle: where in `line` the `,"link":` begins (0 when the link is alone) */
    const cs_ledger_row *row; /* ledger only */
} cs_entry;

typedef struct cs_source cs_source;

/* Open for reading only; "-" is a bundle on standard input. Gives *out. CS_CODE_IO,
 * CS_CODE_INPUT_UNKNOWN (neither of the two), CS_CODE_NOTHING_TO_CHECK (an empty file), CS_CODE_INPUT_VERDICT,
 * CS_CODE_LEDGER_*. A ledger is read in one transaction, so all entries are of one moment; when another
 * process writes it meanwhile, later entries may follow. Nothing is created or changed, with one
 * exception: of a ledger that has a -wal file beside it, or is being written, SQLite shares the -wal and
 * -shm files with the writers. */
CS_MUST_CHECK cs_result cs_source_open(const char *path, cs_source **out, cs_error *err);
/* A bundle from a descriptor that is open for reading and stays the caller's, from where it stands. Gives *out.
 * CS_CODE_IO, CS_CODE_INPUT_UNKNOWN, CS_CODE_INPUT_VERDICT, CS_CODE_NOTHING_TO_CHECK. */
CS_MUST_CHECK cs_result cs_source_open_bundle(int fd, cs_source **out, cs_error *err);
void cs_source_close(cs_source *source);
cs_source_kind cs_source_what(const cs_source *source);

/* The next entry. CS_OK with *more true, or at the end with *more false. A bad entry that can be
 * stepped over (CS_FAILED: framing, row digest) sets *more and `out->number`, of a bundle also
 * `out->line` (unless it is too long), and nothing else; the source is ready for the next one. A source
 * that can't go on answers CS_UNCHECKED, or CS_FAILED with *more false. */
CS_MUST_CHECK cs_result cs_source_next(cs_source *source, cs_entry *out, bool *more, cs_error *err);

/* Bytes read so far and in all, for progress. */
void cs_source_progress(const cs_source *source, uint64_t *done, uint64_t *total);

#endif
