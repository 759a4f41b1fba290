/* The rules' functions, by what they look at. Shared by harness/tiers*.c only.
 *
 * tiers.c          the table
 * tiers_said.c     statements against statements
 * tiers_ledger.c   the ledger's statements
 * tiers_inside.c   what the probe sees
 * tiers_outside.c  what the host's kernel says
 * tiers_check.c    the check itself: runs, watches, judges
 */
#ifndef CS_HARNESS_TIERS_RULES_H
#define CS_HARNESS_TIERS_RULES_H

#include "harness/tiers.h"

#define RULE(name) cs_tier_verdict cs_rule_##name(const cs_tier_observations *seen, cs_tier claim, char *observed)

RULE(tier_statements);
RULE(provider_statements);
RULE(policy_statements);
RULE(floor_statements);
RULE(ledger_statements);

RULE(probe_nonce);
RULE(newer_system_calls);
RULE(landlock_answers);
RULE(gvisor_log);
RULE(gvisor_missing_calls);
RULE(first_namespaces);
RULE(unconfined_inside);

RULE(token_on_host);
RULE(token_not_on_host);
RULE(program_on_host);
RULE(process_count);
RULE(boot_id);
RULE(clock_offset);
RULE(kernel_identity);
RULE(no_monitor);
RULE(monitor_below);
RULE(host_namespaces);
RULE(host_apart);
RULE(host_root);
RULE(host_unconfined);
RULE(host_file);
RULE(host_loopback);

#undef RULE

/* Write an observation, cut to its bound. Returns the verdict, so that a rule can end with it. */
cs_tier_verdict cs_rule_say(char *observed, cs_tier_verdict verdict, const char *fmt, ...) CS_PRINTF(3, 4);
/* Silent: why nothing is known from the probe's program. */
cs_tier_verdict cs_rule_program_unread(const cs_tier_observations *seen, char *observed);

#define CS_TIERS_LEDGER_ENTRIES 1000 /* the newest are looked at: each run looks, and a ledger grows for ever */

/* Fill in what those of the ledger's newest entries that stand before `end` (0: all) hold of the same daemon beside
 * `record`: other records, and findings that refute its claim. CS_OK also when there is nothing. */
CS_MUST_CHECK cs_result cs_tiers_read_ledger(const char *path, const char *daemon, const cs_run_record *record,
                                             uint64_t end, cs_ledger_said *out, cs_error *err);

#endif
