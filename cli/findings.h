/* What a verification finds, said as it comes: a line of text each, or an object each in the document. */
#ifndef CS_CLI_FINDINGS_H
#define CS_CLI_FINDINGS_H

#include "cli/output.h"
#include "cli/progress.h"
#include "verify/verify.h"

typedef struct cs_findings {
    const cs_output *out;
    cs_progress progress; /* taken away before a line is printed */
    char name[256];       /* the input's path, escaped, before each line */
    json_t *list;         /* owned */
    uint64_t left_out;    /* of the list, which has a bound */
} cs_findings;

/* Begin, with the progress line. `path` NULL: the findings name their file themselves. */
void cs_findings_begin(cs_findings *findings, const cs_output *out, const char *what, const char *path);
void cs_findings_end(cs_findings *findings);

/* Callbacks of a verification whose `user` is a cs_findings. */
void cs_findings_on_finding(void *user, const cs_finding *finding);
void cs_findings_on_progress(void *user, uint64_t done, uint64_t total);

#endif
