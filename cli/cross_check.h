/* The tier cross-check as a part of `run` and `replay`: its option, and what it says there. */
#ifndef CS_CLI_CROSS_CHECK_H
#define CS_CLI_CROSS_CHECK_H

#include "cli/options.h"
#include "cli/tiers_report.h"

/* How far to look, as the option says it: 0 is off, anything else one more than its cs_tier_depth. */
#define CS_CROSS_CHECK_DEFAULT ((int)CS_DEPTH_STATEMENTS + 1)

cs_option cs_cross_check_option(int *choice);
bool cs_cross_check_depth(int choice, cs_tier_depth *depth); /* false: off */

/* One line when no rule contradicts, else the rules that do, in full. Behind `label`, which names the daemon where there
 * may be several. */
void cs_say_cross_check(const cs_output *out, const char *label, const cs_tiers_report *report, cs_tier_depth depth);

/* As `tiers` tells it, with the verdict and, when it did not pass, the error. `tiers` NULL: the rules were not asked.
 * NULL without memory. */
json_t *cs_json_of_cross_check(cs_result result, const cs_error *err, const cs_tiers_report *tiers,
                               cs_tier_depth depth);

/* Cross-check a run that passed its checks, and tell of it. On anything but CS_OK out->err says what came of it, and
 * where the run itself is. */
CS_MUST_CHECK cs_result cs_cross_check_run(cs_output *out, int choice, const cs_run_options *how,
                                           const cs_run_report *run);

#endif
