/* The page for a reviewer: what ran, behind which wall, what the evidence says and what it does not.
 * It is for people; no other program should read it.
 *
 * One HTML file that asks for nothing: no script, no image, no font, no address but places in itself, and a policy
 * (Content-Security-Policy) that forbids them all the same. Pure: data in, text out; the caller verifies what it puts
 * in. Memory and size are bounded; what is left out is counted and said.
 */
#ifndef CS_REPORT_PAGE_H
#define CS_REPORT_PAGE_H

#include "report/cartpole.h"
#include "report/matrix.h"
#include "report/stated.h"
#include "verify/verify.h"

#define CS_PAGE_MAX ((size_t)32 * 1024 * 1024)         /* bytes of the whole page */
#define CS_PAGE_MAX_ENTRIES ((size_t)18 * 1024 * 1024) /* of all signed entries */
#define CS_PAGE_MAX_PART ((size_t)2 * 1024 * 1024)     /* of each other part */
#define CS_PAGE_FAULTS 1000u                           /* failures and warnings that are shown */
#define CS_PAGE_INPUTS 1000u

/* What came of one input. */
typedef struct cs_page_outcome {
    cs_result result;                 /* of the verification, or of reading it */
    const cs_error *err;              /* unless it is CS_OK */
    const cs_verify_summary *summary; /* when verified and opened; else NULL */
    cs_source_kind kind;
    bool opened;
    uint64_t entries;  /* read */
    uint64_t verdicts; /* of them statements of verdicts, which have no say in the result */
} cs_page_outcome;

typedef struct cs_page_counts {
    uint64_t entries;  /* signed ones, or what should be */
    uint64_t shown;    /* of them */
    uint64_t answered; /* of them: runs with a result */
    uint64_t failed;   /* of those: their work failed */
    uint64_t findings; /* unsigned */
    uint64_t findings_shown;
    uint64_t contradictions; /* of them: tier-contradicted */
    uint64_t verdicts;       /* statements of verdicts, which are no evidence of a run */
    uint64_t verdicts_shown; /* of them */
    uint64_t faults;
    uint64_t faults_shown;
    cs_matrix_found matrix;
    uint64_t trajectories;
    bool gate;
} cs_page_counts;

typedef struct cs_page cs_page;

/* Gives a page, or NULL without memory. `trust`: the keys with which its inputs are verified, borrowed to its end;
 * NULL: they are only read. */
cs_page *cs_page_new(const cs_trust *trust);
void cs_page_free(cs_page *page);

/* One input after the other: begin, its entries and faults as they come, end. `name` is shown escaped. */
void cs_page_input_begin(cs_page *page, cs_view name);
CS_MUST_CHECK cs_result cs_page_entry_add(cs_page *page, const cs_page_entry *entry, cs_error *err);
void cs_page_stated_add(cs_page *page, const cs_page_stated *stated);
void cs_page_fault(cs_page *page, const cs_finding *fault);
void cs_page_input_end(cs_page *page, const cs_page_outcome *outcome);

/* The verdict of a gate as `countersign gate --json` printed it; see report/verdict.h. */
CS_MUST_CHECK cs_result cs_page_gate(cs_page *page, cs_view json, cs_error *err);

/* Append the whole page. `result` and `err`: the verdict of all inputs; `now_ms`: when this is; `version`: of the
 * program. CS_CODE_NO_MEMORY. */
CS_MUST_CHECK cs_result cs_page_write(cs_page *page, cs_result result, const cs_error *verdict, int64_t now_ms,
                                      const char *version, cs_buf *out, cs_error *err);
const cs_page_counts *cs_page_told(const cs_page *page);

#endif
