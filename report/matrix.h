/* The same work on several providers: which results are the same. Pure, and bounded.
 *
 * Work is the same when its request digest is, taken without protocol number and floor, which say where it may run and
 * not what runs. Calls of a session depend on the calls before them and are left out, and counted.
 */
#ifndef CS_REPORT_MATRIX_H
#define CS_REPORT_MATRIX_H

#include "report/entry.h"

#define CS_MATRIX_RUNS 20000u   /* held */
#define CS_MATRIX_ROWS 500u     /* shown */
#define CS_MATRIX_PROVIDERS 12u /* columns */

typedef struct cs_matrix {
    struct cs_matrix_run *runs; /* owned */
    size_t count;
    size_t room;
    uint64_t left_out;                    /* for the bounds */
    uint64_t calls;                       /* of sessions */
    struct cs_matrix_provider *providers; /* owned */
    size_t provider_count;
    bool cut;        /* the page has no place for an entry whose anchor is larger: */
    uint64_t places; /* than this, so nothing leads there */
} cs_matrix;

void cs_matrix_free(cs_matrix *matrix);

/* Take in a run that gave a result, of entry `number` in input `input` (from 1), whose element is `anchor`; one of the
 * same record is there already when the inputs overlap, and counts once. CS_CODE_NO_MEMORY. */
CS_MUST_CHECK cs_result cs_matrix_see(cs_matrix *matrix, const cs_page_entry *entry, size_t input, uint64_t anchor,
                                      cs_error *err);

/* What was found in the end. */
typedef struct cs_matrix_found {
    uint64_t works;     /* distinct */
    uint64_t compared;  /* of them: run more than once */
    uint64_t same;      /* of those: one result everywhere */
    uint64_t different; /* not so */
} cs_matrix_found;

/* The table; `several`: name the input beside each entry. Sorts what it holds. */
void cs_matrix_markup(cs_markup *out, cs_matrix *matrix, bool several, cs_matrix_found *found);

#endif
