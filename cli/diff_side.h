/* One of the two entries that `countersign diff` compares, taken out of its input. */
#ifndef CS_CLI_DIFF_SIDE_H
#define CS_CLI_DIFF_SIDE_H

#include "cli/show_entry.h"

typedef struct cs_side {
    char *path;      /* of the input; owned */
    uint64_t number; /* of the entry */
    cs_buf request;  /* the entry's parts, of which `entry` and `shown` borrow */
    cs_buf response;
    cs_buf envelope;
    cs_buf code; /* of a finding */
    cs_ledger_row row;
    cs_entry entry;
    cs_shown shown;
} cs_side;

/* Whether it names standard input, with an ENTRY or without. */
bool cs_side_is_standard(const char *text);

/* Read what INPUT:ENTRY names, or INPUT alone when it holds one run. A colon with digits behind it at the end of the text
 * is always taken for the first form. `trust` may be NULL. CS_CODE_USAGE: the text is none of the two, or the input holds
 * several runs. CS_CODE_NOTHING_TO_CHECK: it holds none, or the entry has neither a request nor a response.
 * CS_CODE_ENTRY_UNKNOWN; the codes of cs_source_open and cs_source_next. To be freed also when it fails.
 * What is wrong with the entry itself stands in `shown`. */
CS_MUST_CHECK cs_result cs_side_read(const char *text, const cs_trust *trust, cs_side *out, cs_error *err);
void cs_side_free(cs_side *side);

/* What two sides have to do with each other before anything is compared. */
typedef enum cs_sameness {
    CS_SAME_NOT,
    CS_SAME_RECORD, /* two entries, in each of which the same record is signed: one run, kept twice */
    CS_SAME_ENTRY   /* one and the same entry of one file */
} cs_sameness;

/* Of sides that were read. It says what the entries state; whether that is true is what `shown` says. */
cs_sameness cs_side_sameness(const cs_side *a, const cs_side *b);

#endif
