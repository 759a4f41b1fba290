/* The page in the making. Shared by the files of report/ only.
 *
 * page.c        takes in inputs, entries and faults
 * page_write.c  puts everything together
 * verdict.c     the verdict of a gate, as a file says it
 * stated.c      a signed statement of one, as a ledger keeps it
 */
#ifndef CS_REPORT_PAGE_PARTS_H
#define CS_REPORT_PAGE_PARTS_H

#include "report/page.h"

/* Inputs, findings, faults, the gate's document, kept verdicts and the comparison: when all are full, and so are the
 * entries, there is room for the rest: texts of our own, the style and the charts. */
#define CS_PAGE_PARTS 6u
#define CS_PAGE_REST ((size_t)1 * 1024 * 1024)
#define CS_PAGE_MAX_WARNINGS ((size_t)CS_PAGE_INPUTS * 512) /* one above the entries of each input */
_Static_assert(CS_PAGE_MAX_ENTRIES + CS_PAGE_MAX_WARNINGS + CS_PAGE_PARTS * CS_PAGE_MAX_PART + CS_PAGE_REST <=
                   CS_PAGE_MAX,
               "a page of which every part is full is still a page");

struct cs_page {
    const cs_trust *trust; /* NULL: nothing is verified */
    cs_markup inputs;      /* rows of a table */
    cs_markup entries;
    cs_markup findings;
    cs_markup faults;
    cs_markup gate;
    cs_markup stated; /* verdicts of gates that ledgers keep */
    cs_markup one;    /* what is being made, until it is known to fit */
    uint64_t inputs_left_out;
    bool entries_full;
    bool findings_full;
    bool stated_full;
    size_t input; /* the number of the input, from 1 */
    cs_view name; /* of it; borrowed until its end */
    bool named_entries;
    bool named_finding;
    bool named_stated;
    bool named_fault;
    size_t entries_at;     /* where its entries begin in `entries` */
    uint64_t shown_before; /* of the inputs before this one */
    uint64_t anchor;
    cs_page_counts counts;
    cs_matrix matrix;
    cs_cartpole cartpole;
};

/* Move what `one` holds to the end of `to`. False when it does not fit, and then it is dropped. */
bool cs_page_place(cs_page *page, cs_markup *to);

#endif
