/* The guards of a sandbox behind the rules of `countersign tiers`: --require and --no-guards, the attempts, the table. */
#ifndef CS_CLI_TIERS_GUARDS_H
#define CS_CLI_TIERS_GUARDS_H

#include "cli/options.h"
#include "harness/guards.h"

typedef struct cs_tiers_guards {
    cs_text_list require; /* each one word, or several separated by commas */
    bool leave_out;
    unsigned required; /* CS_GUARD_BIT */
    /* To be set before they are tried: what the rules' check knows (cs_guards_options). */
    cs_host_place place;
    cs_host_daemon daemon;
    bool tried; /* the report is filled in */
    cs_guards_report report;
} cs_tiers_guards;

#define CS_TIERS_GUARDS_OPTIONS 2

/* Put the options into a table, behind `count` others; the new count. */
size_t cs_tiers_guards_options_add(cs_option *options, size_t count, cs_tiers_guards *guards);

bool cs_tiers_guards_asked(const cs_tiers_guards *guards);

/* Do the options go together with this depth, and is every word a guard? CS_CODE_USAGE. */
CS_MUST_CHECK cs_result cs_tiers_guards_line(cs_tiers_guards *guards, cs_tier_depth depth, cs_error *err);

/* Behind a check of the rules that ended with `checked` and out->err: try the guards where the depth and the options say
 * so and the runs before went well, print and add to the document what came of it. Returns the worse result, with its
 * error in out->err. */
CS_MUST_CHECK cs_result cs_tiers_guards_try(cs_tiers_guards *guards, cs_output *out, cs_result checked,
                                            cs_tier_depth depth, const cs_run_options *run);
/* The report; NULL: not tried. Borrows. */
const cs_guards_report *cs_tiers_guards_report(const cs_tiers_guards *guards);
void cs_tiers_guards_free(cs_tiers_guards *guards);

#endif
