/* Write a ledger's signed entries as a linked bundle: docs/FORMAT.md, "Bundle" and "Export".
 *
 * Everything is verified while it is read, and the file appears, or changes, only when the whole ledger passed: it is
 * written beside its place, synced and renamed. Findings and the statements of verdicts have no place in a bundle; they
 * are counted, and of the latter no signature is checked.
 */
#ifndef CS_HARNESS_EXPORT_H
#define CS_HARNESS_EXPORT_H

#include <signal.h>

#include "harness/key.h"
#include "verify/verify.h"

typedef struct cs_export_options {
    const char *ledger;    /* path */
    const char *out;       /* path */
    const cs_trust *trust; /* the keys of the entries; the key's own public half is trusted too. NULL or empty, and no
                              key: no signature is checked, only structure and digests */
    const cs_key *key;     /* signs our own links; NULL: only a ledger that is one imported bundle can be written */
    int lock_wait_ms;      /* for another process that extends the same file */
    const volatile sig_atomic_t *stop; /* ends the export once it is not 0, set by a signal handler; NULL: nothing does */
    /* What is found in the ledger, or in the file that is there; the path stands in `where`. May be NULL. */
    void (*on_finding)(void *user, const cs_finding *finding);
    void (*on_progress)(void *user, uint64_t done, uint64_t total); /* may be NULL */
    void *user;
} cs_export_options;

/* Entries of a ledger that no bundle holds. */
typedef struct cs_export_left_out {
    uint64_t findings; /* unsigned */
    uint64_t verdicts; /* statements of verdicts */
} cs_export_left_out;

typedef struct cs_export_summary {
    bool original;     /* the lines and links of the one bundle that the ledger was imported from, byte for byte */
    bool resumed;      /* the file was there, and was extended; when it is not and nothing was added, it is as it was */
    uint64_t lines;    /* of the file, with its checkpoints */
    uint64_t added;    /* entries that are new in it */
    uint64_t present;  /* entries of the ledger that it had already */
    uint64_t beyond;   /* entries of the file that the ledger lacks: of other ledgers, or this one has lost them */
    cs_export_left_out left_out;
    uint64_t failed_entry; /* line or row of the failed check that ended it; 0: none */
    cs_digest head;        /* SHA-256 of the last line */
} cs_export_summary;

/* A ledger that consists of exactly one imported linked bundle, and what is left out, is written as it came, byte for byte,
 * when `out` is not there or is a beginning of it. Everything else gets links of our own (CS_CODE_EXPORT_KEY without a
 * key), the envelopes as they are. A file that is there must be a linked bundle that passes under the trusted keys, with
 * every link under our own key (CS_CODE_EXPORT_FOREIGN): it keeps its lines, entries it holds already are not
 * written again, and without new ones it stays as it is. It is locked exclusively meanwhile (flock; CS_CODE_EXPORT_LOCKED),
 * and must be a regular file that only its owner can write (CS_CODE_EXPORT_PERMISSIONS); its mode stays, a new one has
 * 0600. CS_CODE_NOTHING_TO_CHECK: the ledger has nothing signed. CS_CODE_INPUT_UNKNOWN: the input is no ledger.
 * CS_CODE_LINE_TOO_LONG: an entry that makes no line of a bundle. CS_CODE_INTERRUPTED: `stop` ended it. The codes of
 * cs_verify_source, CS_CODE_IO. Whatever the failure, `out` is as it was and nothing is left beside it (but for a folder
 * that can't be synced, which the message says); only a process that is killed leaves a file
 * `.countersign-export-*.tmp` there, which may be removed. */
CS_MUST_CHECK cs_result cs_export(const cs_export_options *options, cs_export_summary *summary, cs_error *err);

#endif
