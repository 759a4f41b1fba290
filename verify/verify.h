/* Verify a stored bundle or ledger: everything of docs/FORMAT.md, "Stored bundle or ledger".
 *
 * No network, no private key. Goes on after a bad entry and reports each. The memory it needs does
 * not grow with the number of entries: what must be remembered of all (record digests, open session
 * chains) lies in a temporary SQLite database with a bounded cache.
 */
#ifndef CS_VERIFY_VERIFY_H
#define CS_VERIFY_VERIFY_H

#include "records/check.h"
#include "verify/source.h"
#include "verify/trust.h"

/* One thing found. Borrowed for the duration of the callback. */
typedef struct cs_finding {
    uint64_t entry;      /* number in the source; 0: the source as a whole */
    bool warning;        /* does not change the verdict */
    const cs_error *err; /* code, message, where ("line 3: envelope", "entry 3"), expected, found */
} cs_finding;

/* One run that passed everything about itself. Borrowed for the duration of the callback. A chain
 * that turns out bad later is reported as a finding of its own. */
typedef struct cs_verified_run {
    uint64_t entry;
    bool in_session;
    bool unanswered;               /* may have run, gave no result: never a result to compare with */
    bool duplicate;                /* the same record was seen before; it counts once */
    const cs_run_request *request; /* decoded from the very bytes that were verified */
    const cs_run_response *response; /* NULL when unanswered */
    const cs_run_record *record;
    const cs_checked_run *checked;
    const char *keyid;
    cs_view envelope; /* as it stands in the source */
} cs_verified_run;

/* One signed entry, or checkpoint, about which nothing was reported up to here: the very bytes that were verified.
 * Borrowed for the duration of the callback. Only the verdict of the whole source says whether it may be used, so
 * whoever stores something of it must be able to undo that. */
typedef struct cs_verified_entry {
    const cs_entry *entry;
    const char *kind;    /* CS_KIND_RUN, _UNANSWERED, _CLOSE or _CHECKPOINT */
    cs_digest record;    /* of a run or unanswered call; else empty */
    cs_digest session;   /* fingerprint, of a session call or a close; else empty */
    uint64_t link_index; /* of the link, when it has one: its index, and the digest of the line before it */
    cs_digest link_previous;
} cs_verified_entry;

typedef struct cs_verify_options {
    const cs_trust *trust;
    /* Every failure and warning, and what ended the walk early (class CS_UNCHECKED). May be NULL. */
    void (*on_finding)(void *user, const cs_finding *finding);
    /* A result other than CS_OK ends the walk and is returned. May be NULL. */
    cs_result (*on_run)(void *user, const cs_verified_run *run, cs_error *err);
    /* As on_run, and before it. May be NULL. */
    cs_result (*on_entry)(void *user, const cs_verified_entry *entry, cs_error *err);
    /* An unsigned finding of a ledger, whose row is whole: borrowed, and no more than what someone wrote there. Else as
     * on_run. May be NULL. */
    cs_result (*on_unsigned)(void *user, const cs_entry *entry, cs_error *err);
    /* A head known from elsewhere, 64 lowercase hex digits: the source must hold the line or row of this digest
     * (CS_CODE_HEAD_MISSING), so that nothing up to it was cut off or replaced. A bundle whose lines are not linked holds
     * no head: the digest of one line would say nothing about the others. NULL: none. */
    const char *expect_head;
    /* Pass over the statements of verdicts in a ledger, which are no evidence of a run: only their place and digest in
     * the chain of rows are checked, and they are counted. Their keys are as a rule not those of the runs. */
    bool pass_over_verdicts;
    /* One that is passed over, of which nothing else was checked. Else as on_unsigned. May be NULL. */
    cs_result (*on_verdict)(void *user, const cs_entry *entry, cs_error *err);
    void (*on_progress)(void *user, uint64_t done, uint64_t total); /* bytes; may be NULL */
    void *user;
} cs_verify_options;

/* Bytes that no digest covers, counted over the entries that passed; reported, not a failure. A line
 * with a link has none, since the link's entry digest covers the whole line. */
typedef struct cs_uncovered {
    uint64_t trace_ids;
    uint64_t durations;
    uint64_t advice;
} cs_uncovered;

typedef struct cs_verify_summary {
    cs_source_kind kind;
    uint64_t entries;    /* lines or rows read */
    uint64_t runs;       /* distinct records that passed, session calls among them */
    uint64_t sessions;   /* chains closed well */
    uint64_t unanswered; /* distinct, among runs */
    uint64_t duplicates;
    uint64_t findings; /* unsigned findings in the ledger: reported, never counted as runs */
    uint64_t verdicts; /* statements of verdicts in the ledger that passed, or were passed over; never counted as runs */
    uint64_t failures; /* checks that failed */
    uint64_t failed_entry; /* line or row of the failure that the verdict is about; 0: of none */
    uint64_t warnings;
    /* Of the last line of a linked bundle, the SHA-256 of the line as stored, without its newline; of the last row of
     * a ledger its row_sha256; else empty. To be noted elsewhere and given as expect_head later. */
    cs_digest head;
    bool linked;       /* a bundle whose lines are linked and that ends in a checkpoint: complete up to there */
    cs_uncovered uncovered;
} cs_verify_summary;

/* Verify one source. CS_OK: everything passed and there was something. CS_FAILED: a failure was
 * reported. CS_NOTHING: no record of a run, whatever else is signed. CS_UNCHECKED: it could not be read to the end (this
 * outranks CS_FAILED only when nothing failed before). *summary is always filled. *err is the first
 * failure, with the entry in where. */
CS_MUST_CHECK cs_result cs_verify_source(cs_source *source, const cs_verify_options *options,
                                         cs_verify_summary *summary, cs_error *err);

#endif
