/* Where the reports of a gate go: files, and what GitHub reads of a step. */
#ifndef CS_CLI_GATE_FILES_H
#define CS_CLI_GATE_FILES_H

#include "cli/options.h"
#include "gate/out.h"

typedef struct cs_gate_files {
    const char *junit; /* paths; NULL: none */
    const char *sarif;
    const char *code_quality;
} cs_gate_files;

/* Is this a step of a GitHub workflow ($GITHUB_ACTIONS is "true")? Its log is then read for commands. */
bool cs_gate_on_github(void);

/* Take away what an earlier gate has put in these places, so that whoever stops this one finds no verdict there that is
 * not its own. What can't be taken away the writing will find. */
void cs_gate_files_remove(const cs_gate_files *files);

/* Put every file that is asked for in its place, whole or not at all, each although another failed. The first that
 * failed is the error. */
CS_MUST_CHECK cs_result cs_gate_files_write(const cs_gate_files *files, const cs_gate_report *report, cs_error *err);

/* On GitHub, add to the step's summary. Elsewhere nothing. CS_CODE_IO. */
CS_MUST_CHECK cs_result cs_gate_files_summarize(const cs_gate_report *report, cs_error *err);

/* On GitHub, print annotations, unless standard output is a document. Elsewhere nothing. */
CS_MUST_CHECK cs_result cs_gate_files_annotate(const cs_gate_report *report, const cs_output *out, cs_error *err);

#endif
