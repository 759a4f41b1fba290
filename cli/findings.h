/* What a verification finds, said as it comes: a line of text each, or an object each in the document; 10,000 at
 * most. */
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
    uint64_t printed;
    uint64_t left_out; /* of the text or the list, which have a bound */
} cs_findings;

/* Begin, with the progress line. `path` NULL: the findings name their file themselves. */
void cs_findings_begin(cs_findings *findings, const cs_output *out, const char *what, const char *path);
/* End; text says how many were left out. */
void cs_findings_end(cs_findings *findings);

/* Callbacks of a verification whose `user` is a cs_findings. */
void cs_findings_on_finding(void *user, const cs_finding *finding);
void cs_findings_on_progress(void *user, uint64_t done, uint64_t total);

#endif
