/* One entry as a line of `countersign log`: small plain values, so that many can be held and sorted. */
#ifndef CS_CLI_LOG_LINE_H
#define CS_CLI_LOG_LINE_H

#include "cli/show_entry.h"

/* What became of an entry, in a word. */
typedef enum cs_log_verdict {
    CS_LOG_SIGNED,      /* a signed record, and the code that ran succeeded */
    CS_LOG_FAILED_WORK, /* a signed record, and it did not */
    CS_LOG_UNANSWERED,  /* a signed record of a call without an answer */
    CS_LOG_FINDING,     /* unsigned: a failed check, or no answer */
    CS_LOG_CLOSE,
    CS_LOG_CHECKPOINT,
    CS_LOG_LINK,
    CS_LOG_GATE_PASSED,  /* a signed statement that a gate passed a commit */
    CS_LOG_GATE_REFUSED, /* and that it refused it */
    CS_LOG_INVALID,      /* failed its verification, which was asked for */
    CS_LOG_UNREADABLE,   /* can't be decoded */
    CS_LOG_UNCHECKED,    /* could not be verified */
    CS_LOG_VERDICTS
} cs_log_verdict;

const char *cs_log_verdict_word(cs_log_verdict verdict); /* "signed", "failed-work", ... */

#define CS_LOG_TEXT 128u

/* Texts are escaped, and shortened when long. Words are static. */
typedef struct cs_log_line {
    size_t input;    /* which of the inputs */
    uint64_t number; /* of the entry in it */
    uint64_t order;  /* of all entries, as they were read */
    bool has_time;
    bool ended; /* the time is when the run ended, as its record says; else when the entry was added to its ledger */
    int64_t time_ms;
    int64_t sort_ms; /* the time, or that of the entry before when it has none of its own */
    cs_log_verdict verdict;
    const char *kind;
    const char *verification;
    const char *statement;      /* of a verdict, which of its two statements this is; else NULL */
    char provider[CS_LOG_TEXT]; /* of a finding: what the response claims */
    char tier[32];
    char summary[CS_LOG_TEXT];
    char request_sha256[65]; /* these three: of a signed record; else empty */
    char result_sha256[65];
    char record_sha256[65];
    char finding_code[64];
    cs_error *err; /* what was wrong; owned; NULL when nothing was */
} cs_log_line;

/* Of a decoded entry. False without memory for what is wrong with it, which must not be lost. `input`, `order` and
 * `sort_ms` are left to the caller, who frees `err`. */
CS_MUST_CHECK bool cs_log_line_make(const cs_shown *shown, cs_log_line *out);
/* Of one that its source could not read. */
CS_MUST_CHECK bool cs_log_line_unreadable(uint64_t number, bool trusted, const cs_error *err, cs_log_line *out);

/* It can't be believed, whatever it says of itself. */
bool cs_log_line_is_bad(const cs_log_line *line);

#endif
