/* A page made of samples, and what a parser says of it. */
#ifndef CS_TESTS_REPORT_PAGE_CASE_H
#define CS_TESTS_REPORT_PAGE_CASE_H

#include <criterion/criterion.h>
#include <string.h>

#include "report/page.h"
#include "tests/support/sample.h"

typedef struct page_case {
    cs_page *page;
    uint64_t number;   /* of the newest entry */
    uint64_t verdicts; /* statements of verdicts beside them */
    char *html;        /* of page_case_write; NUL-terminated */
    size_t len;
    char said[512]; /* by parse.py */
} page_case;

void page_case_begin(page_case *c, bool verified); /* with one input, begun */
/* Add a run, verified or a finding of this code. */
void page_case_add(page_case *c, const cs_run_request *request, const cs_run_response *response);
void page_case_add_finding(page_case *c, const char *code, const cs_run_request *request,
                           const cs_run_response *response);
/* End the input well, and write the page. */
void page_case_write(page_case *c);
/* The same, and the page must be what a page may be. */
void page_case_expect_good(page_case *c);
void page_case_end(page_case *c);

/* Whether parse.py takes a page: its exit. What it says goes into `said`. */
int page_case_parse(const void *html, size_t len, char *said, size_t size);

/* A project with a step and artifacts, in place of the sample's payload; the digests are sealed again. */
void page_case_make_project(sample *s, const char *step, const char *output);
void page_case_add_file(sample *s, const char *path, const char *content);
void page_case_add_artifact(sample *s, const char *path, const void *bytes, size_t len);

#define EXPECT_HAS(text, part) cr_expect_not_null(strstr((text), (part)), "no '%s'", (part))
#define EXPECT_HAS_NOT(text, part) cr_expect_null(strstr((text), (part)), "'%s' is there", (part))

#endif
