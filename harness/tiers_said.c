/* What a daemon says against what else it says. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "harness/tiers_rules.h"
#include "records/text.h"

/* ---- taking it down -------------------------------------------------------------------------------- */

static void take_description(const cs_outcome *outcome, cs_said_where where, cs_said *out) {
    const cs_describe_response *described = (const cs_describe_response *)outcome->message;
    if (described == NULL) return;
    out->tier[where] = cs_bytes_view(&described->isolation);
    out->provider[where] = cs_bytes_view(&described->sandbox);
    out->policy[where] = cs_bytes_view(&described->policy);
}

void cs_tiers_said(const cs_run_report *run, cs_said *out) {
    *out = (cs_said){0};
    take_description(&run->before, CS_SAID_BEFORE, out);
    take_description(&run->after, CS_SAID_AFTER, out);
    if (run->request != NULL) out->floor = cs_bytes_view(&run->request->minimum_isolation);
    if (run->response == NULL) return;
    out->tier[CS_SAID_RESPONSE] = cs_bytes_view(&run->response->isolation);
    out->provider[CS_SAID_RESPONSE] = cs_bytes_view(&run->response->sandbox);
    const cs_run_record *record = run->response->record;
    if (record == NULL) return;
    out->tier[CS_SAID_RECORD] = cs_bytes_view(&record->isolation);
    out->provider[CS_SAID_RECORD] = cs_bytes_view(&record->provider);
    out->policy[CS_SAID_RECORD] = cs_bytes_view(&record->policy);
}

/* ---- one run against itself ------------------------------------------------------------------------ */

static const char *const place_names[] = {"Describe before", "the response", "the record", "Describe after"};
static const char *const run_names[CS_SAID_RUNS] = {"the script's run", "the program's run", "this run",
                                                    "an earlier run"};

static bool is_said(cs_view text) {
    return text.ptr != NULL || text.len > 0;
}

/* One place around one run. */
typedef struct spot {
    size_t run;
    size_t place;
    cs_view text;
} spot;

static cs_tier_verdict differ(const spot *a, const spot *b, const char *what, char *observed) {
    char one[64], two[64];
    cs_escape_short(a->text, one, sizeof one);
    cs_escape_short(b->text, two, sizeof two);
    return cs_rule_say(observed, CS_TIER_CONTRADICTED, "%s: %s of %s says '%s', %s of %s says '%s'", what,
                       place_names[a->place], run_names[a->run], one, place_names[b->place], run_names[b->run], two);
}

/* Is there something that every place says, and every place the same? Places that can't say it have no part. */
static cs_tier_verdict compare(const cs_said said[CS_SAID_RUNS], size_t offset, const char *what, char *observed) {
    static const size_t order[CS_SAID_RUNS] = {CS_SAID_EARLIER, CS_SAID_OF, CS_PROBE_SCRIPT, CS_PROBE_PROGRAM};
    spot first = {.run = CS_SAID_RUNS};
    for (size_t at = 0; at < CS_SAID_RUNS; at++) {
        const cs_view *texts = (const cs_view *)(const void *)((const char *)&said[order[at]] + offset);
        for (size_t i = 0; i < CS_SAID_PLACES; i++) {
            if (!is_said(texts[i])) continue;
            const spot now = {.run = order[at], .place = i, .text = texts[i]};
            if (first.run == CS_SAID_RUNS) first = now;
            if (!cs_view_equal(first.text, now.text)) return differ(&first, &now, what, observed);
        }
    }
    if (first.run == CS_SAID_RUNS) return cs_rule_say(observed, CS_TIER_SILENT, "%s is stated nowhere", what);
    char text[100];
    cs_escape_short(first.text, text, sizeof text);
    return cs_rule_say(observed, CS_TIER_CONSISTENT, "%s is '%s' wherever it is stated", what, text);
}

cs_tier_verdict cs_rule_tier_statements(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    return compare(seen->said, offsetof(cs_said, tier), "the tier", observed);
}

cs_tier_verdict cs_rule_provider_statements(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    return compare(seen->said, offsetof(cs_said, provider), "the provider", observed);
}

cs_tier_verdict cs_rule_policy_statements(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    return compare(seen->said, offsetof(cs_said, policy), "the policy", observed);
}

cs_tier_verdict cs_rule_floor_statements(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    (void)claim;
    cs_tier highest = CS_TIER_NONE;
    for (size_t run = 0; run < CS_SAID_RUNS; run++) {
        const cs_said *said = &seen->said[run];
        if (!is_said(said->tier[CS_SAID_RECORD])) continue;
        if (cs_tier_parse(said->floor) > highest) highest = cs_tier_parse(said->floor);
        if (cs_tier_parse(said->tier[CS_SAID_RECORD]) < cs_tier_parse(said->floor)) {
            char floor[24], tier[24];
            cs_escape_short(said->floor, floor, sizeof floor);
            cs_escape_short(said->tier[CS_SAID_RECORD], tier, sizeof tier);
            return cs_rule_say(observed, CS_TIER_CONTRADICTED, "a run with the floor '%s' was recorded as '%s'", floor,
                               tier);
        }
    }
    if (highest == CS_TIER_NONE) return cs_rule_say(observed, CS_TIER_SILENT, "no run had a floor");
    return cs_rule_say(observed, CS_TIER_CONSISTENT, "runs with the floor '%s' were taken", cs_tier_word(highest));
}

/* ---- against the ledger ------------------------------------------------------------------------------ */

cs_tier_verdict cs_rule_ledger_statements(const cs_tier_observations *seen, cs_tier claim, char *observed) {
    const cs_ledger_said *ledger = &seen->ledger;
    if (!ledger->read) return cs_rule_say(observed, CS_TIER_SILENT, "no ledger was given");
    if (ledger->refuted > 0)
        return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                           "entry %" PRIu64
                           " of this ledger is a finding that refutes the same claim of this daemon, with "
                           "this provider, policy and environment",
                           ledger->refuted_entry);
    if (ledger->other > 0)
        return cs_rule_say(observed, CS_TIER_CONTRADICTED,
                           "%" PRIu64 " records of this daemon with this policy and environment state another tier; "
                           "entry %" PRIu64 " states '%s'",
                           ledger->other, ledger->other_entry, cs_tier_word(ledger->other_tier));
    if (ledger->unread > 0)
        return cs_rule_say(observed, CS_TIER_SILENT,
                           "entry %" PRIu64
                           " of this ledger is a finding that refutes a claim of this daemon, and it can't "
                           "be read from it which",
                           ledger->unread_entry);
    if (ledger->same == 0)
        return cs_rule_say(observed, CS_TIER_SILENT,
                           "the ledger has no other record of this daemon with this policy and environment");
    return cs_rule_say(observed, CS_TIER_CONSISTENT,
                       "%" PRIu64 " records of this daemon with this policy and environment state '%s'", ledger->same,
                       cs_tier_word(claim));
}
