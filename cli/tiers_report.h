/* A tier cross-check for people and as JSON. Everything a daemon says is escaped. */
#ifndef CS_CLI_TIERS_REPORT_H
#define CS_CLI_TIERS_REPORT_H

#include "cli/output.h"
#include "harness/guards.h"
#include "harness/tiers.h"

extern const char *const cs_depth_words[]; /* "statements", "probe", "host", NULL: for the option --cross-check */

/* Print the table, rule by rule, and what stands beside it. */
void cs_say_tiers(const cs_output *out, const cs_tiers_report *report, cs_tier_depth depth);
/* Behind it and the guards' table: what all of it comes to. `guards` may be NULL: not tried. */
void cs_say_tiers_end(const cs_output *out, const cs_tiers_report *report, cs_tier_depth depth,
                      const cs_guards_report *guards);

/* Of it only the rules that contradict and where that is kept, and that the host can't be seen where it was to be. */
void cs_say_contradictions(const cs_output *out, const cs_tiers_report *report);
void cs_say_no_host_view(const cs_output *out, const cs_tiers_report *report, cs_tier_depth depth);

/* The same as a JSON object. NULL without memory. */
json_t *cs_json_of_tiers(const cs_tiers_report *report, cs_tier_depth depth);

/* Try every rule on daemons that tell the truth and on daemons that lie, as far as `localdaemon` (a path) has
 * providers that work on this machine; print which rule spoke when. CS_OK when no honest claim was contradicted and
 * every false one was; CS_CODE_TIER_SELF_TEST (failed) otherwise; CS_CODE_NOTHING_TO_CHECK when no provider works. */
CS_MUST_CHECK cs_result cs_tiers_self_test(cs_output *out, const char *localdaemon);

#endif
