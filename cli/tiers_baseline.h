/* The baseline of a daemon that a check was made of: --save, --against and --replace of `countersign tiers`. */
#ifndef CS_CLI_TIERS_BASELINE_H
#define CS_CLI_TIERS_BASELINE_H

#include "cli/options.h"
#include "harness/baseline.h"

typedef struct cs_tiers_baseline {
    const char *save;    /* path; NULL: not given */
    const char *against; /* path; NULL: not given */
    cs_text_list replace;
    cs_baseline_file *file; /* while it is open */
} cs_tiers_baseline;

#define CS_TIERS_BASELINE_OPTIONS 3

/* Put the options into a table, behind `count` others; the new count. */
size_t cs_tiers_baseline_options_add(cs_option *options, size_t count, cs_tiers_baseline *baseline);

bool cs_tiers_baseline_asked(const cs_tiers_baseline *baseline);

/* Do the options go together? CS_CODE_USAGE. */
CS_MUST_CHECK cs_result cs_tiers_baseline_line(const cs_tiers_baseline *baseline, cs_error *err);

/* Read the file before anything is run. */
CS_MUST_CHECK cs_result cs_tiers_baseline_open(cs_tiers_baseline *baseline, cs_error *err);
void cs_tiers_baseline_close(cs_tiers_baseline *baseline);

/* Behind a check that ended with `checked` and out->err: save, replace and compare, as the options say, and tell of it.
 * A check that did not pass keeps its result, and its error then says that nothing was saved or compared. Nothing at all
 * when no baseline was asked for. */
CS_MUST_CHECK cs_result cs_tiers_baseline_end(cs_tiers_baseline *baseline, cs_output *out, cs_result checked,
                                              const char *url, cs_tier_depth depth, const cs_tiers_report *tiers,
                                              const cs_guards_report *guards);

#endif
