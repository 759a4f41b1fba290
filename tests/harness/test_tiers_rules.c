/* The rules as pure functions: an honest daemon's observations, and the same with one thing changed. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/harness/tiers_twins.h"

Test(tiers, an_honest_daemon_is_consistent_with_every_rule) {
    for (cs_tier tier = CS_TIER_PROCESS; tier <= CS_TIER_VM; tier++) {
        cs_tier_observations seen;
        cs_tier_judgement judgements[CS_TIER_MAX_RULES];
        tiers_honest(tier, &seen);
        cr_assert_eq(cs_tier_judge(&seen, tier, CS_DEPTH_HOST, judgements), 0);
        size_t asked = 0;
        for (size_t i = 0; i < cs_tier_rule_count; i++) {
            bool can = (cs_tier_rules[i].refutes & CS_TIER_BIT(tier)) != 0;
            cr_expect_eq(judgements[i].asked, can, "%s", cs_tier_rules[i].name);
            if (!can) continue;
            asked++;
            cr_expect_eq(judgements[i].verdict, CS_TIER_CONSISTENT, "%s, %s: %s", cs_tier_word(tier),
                         cs_tier_rules[i].name, judgements[i].observed);
            cr_expect_neq(judgements[i].observed[0], '\0', "%s", cs_tier_rules[i].name);
        }
        cr_expect_gt(asked, 12);
    }
}

Test(tiers, one_change_and_the_rule_speaks) {
    for (size_t i = 0; i < tiers_twin_count; i++) {
        const tiers_twin *t = &tiers_twins[i];
        cs_tier_observations seen;
        cs_tier_judgement judgements[CS_TIER_MAX_RULES];
        tiers_honest(t->claim, &seen);
        t->change(&seen);
        (void)cs_tier_judge(&seen, t->claim, CS_DEPTH_HOST, judgements);
        const cs_tier_judgement *judgement = &judgements[tiers_rule(t->rule)];
        cr_expect(judgement->asked, "twin %zu, %s", i, t->rule);
        cr_expect_eq(judgement->verdict, t->verdict, "twin %zu, %s: %s: %s", i, t->rule,
                     cs_tier_verdict_word(judgement->verdict), judgement->observed);
    }
}

Test(tiers, every_rule_has_a_twin_that_contradicts) {
    for (size_t rule = 0; rule < cs_tier_rule_count; rule++) {
        bool found = false;
        for (size_t i = 0; i < tiers_twin_count; i++)
            found = found || (tiers_twins[i].verdict == CS_TIER_CONTRADICTED &&
                              strcmp(tiers_twins[i].rule, cs_tier_rules[rule].name) == 0);
        cr_expect(found, "%s", cs_tier_rules[rule].name);
    }
}

static const char *observed_of(const cs_tier_observations *seen, cs_tier claim, const char *rule) {
    static cs_tier_judgement judgements[CS_TIER_MAX_RULES];
    (void)cs_tier_judge(seen, claim, CS_DEPTH_HOST, judgements);
    return judgements[tiers_rule(rule)].observed;
}

/* The program is left out where the daemon runs no projects: the machine was watched all the same. */
Test(tiers, what_was_not_done_is_said) {
    static const struct {
        const char *rule;
        cs_tier claim;
    } rules[] = {{"program-on-host", CS_TIER_VM},
                 {"process-count", CS_TIER_VM},
                 {"host-file", CS_TIER_CONTAINER},
                 {"host-loopback", CS_TIER_CONTAINER}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        cs_tier_observations seen;
        tiers_honest(rules[i].claim, &seen);
        tiers_unwatched(&seen);
        cr_expect_str_eq(observed_of(&seen, rules[i].claim, rules[i].rule), "this machine was not watched", "%s",
                         rules[i].rule);
        if (rules[i].claim == CS_TIER_CONTAINER) continue;
        tiers_honest(rules[i].claim, &seen);
        seen.outside[CS_PROBE_PROGRAM] = (cs_host_sighting){0};
        seen.inside[CS_PROBE_PROGRAM] = (cs_inside){0};
        cr_expect_str_eq(observed_of(&seen, CS_TIER_VM, rules[i].rule), "the probe's program was not run");
        (void)snprintf(seen.inside[CS_PROBE_PROGRAM].why, sizeof seen.inside[0].why, "no projects");
        cr_expect_str_eq(observed_of(&seen, CS_TIER_VM, rules[i].rule), "the probe's program was not run: no projects");
        seen.outside[CS_PROBE_PROGRAM].watched = true;
        seen.inside[CS_PROBE_PROGRAM].ran = true;
        cr_expect_str_eq(observed_of(&seen, CS_TIER_VM, rules[i].rule),
                         "the probe's program gave no answer that can be read: no projects");
    }
}

/* What was sent, and gave nothing, was run. */
Test(tiers, a_program_that_gave_nothing_is_told_from_one_that_was_not_run) {
    static const char *const rules[] = {"newer-system-calls", "landlock-answers", "gvisor-missing-calls"};
    static const cs_tier claims[] = {CS_TIER_VM, CS_TIER_KERNEL, CS_TIER_VM};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        cs_tier_observations seen;
        tiers_honest(claims[i], &seen);
        seen.inside[CS_PROBE_PROGRAM] = (cs_inside){.why = "no projects"};
        cr_expect_str_eq(observed_of(&seen, claims[i], rules[i]), "the probe's program was not run: no projects");
        seen.inside[CS_PROBE_PROGRAM] = (cs_inside){.ran = true, .why = "garbage"};
        cr_expect_str_eq(observed_of(&seen, claims[i], rules[i]),
                         "the probe's program gave no answer that can be read: garbage");
    }
}

Test(tiers, a_control_that_was_not_tried_is_no_control_that_failed) {
    cs_tier_observations seen;
    tiers_honest(CS_TIER_VM, &seen);
    seen.inside[CS_PROBE_PROGRAM].facts.no_call = 0;
    cr_expect_str_eq(observed_of(&seen, CS_TIER_VM, "gvisor-missing-calls"),
                     "the control failed: a call that no kernel has answered with error 0, not ENOSYS");
    seen.inside[CS_PROBE_PROGRAM].facts.no_call = CS_PROBE_UNKNOWN;
    cr_expect_str_eq(observed_of(&seen, CS_TIER_VM, "gvisor-missing-calls"),
                     "the control was not tried: a call that no kernel has");
}

/* ---- the table --------------------------------------------------------------------------------------------- */

Test(tiers, depth_and_claim_decide_who_is_asked) {
    cs_tier_observations seen;
    cs_tier_judgement judgements[CS_TIER_MAX_RULES];
    tiers_honest(CS_TIER_VM, &seen);
    tiers_mseal_answers(&seen);
    tiers_token_shows(&seen);
    cr_expect_eq(cs_tier_judge(&seen, CS_TIER_VM, CS_DEPTH_STATEMENTS, judgements), 0);
    cr_expect_not(judgements[tiers_rule("newer-system-calls")].asked);
    cr_expect_eq(cs_tier_judge(&seen, CS_TIER_VM, CS_DEPTH_PROBE, judgements), 1);
    cr_expect(judgements[tiers_rule("newer-system-calls")].asked);
    cr_expect_not(judgements[tiers_rule("token-on-host")].asked);
    cr_expect_eq(cs_tier_judge(&seen, CS_TIER_VM, CS_DEPTH_HOST, judgements), 2);
    cr_expect_eq(cs_tier_judge(&seen, CS_TIER_UNKNOWN, CS_DEPTH_HOST, judgements), 0);
    cr_expect_eq(cs_tier_judge(&seen, CS_TIER_NONE, CS_DEPTH_HOST, judgements), 0);
    for (size_t i = 0; i < cs_tier_rule_count; i++)
        cr_expect_not(judgements[i].asked);
}

/* What a daemon says stands in observations escaped, and in their bounds. */
Test(tiers, what_a_daemon_says_is_escaped) {
    cs_tier_observations seen;
    cs_tier_judgement judgements[CS_TIER_MAX_RULES];
    tiers_honest(CS_TIER_VM, &seen);
    char longest[CS_PROBE_TEXT + 1];
    memset(longest, '\x1b', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    seen.said[0].tier[CS_SAID_AFTER] = cs_view_of(longest);
    tiers_set(tiers_program(&seen)->release, longest);
    memcpy(tiers_program(&seen)->release, "6.1", 3);
    tiers_mseal_answers(&seen);
    (void)cs_tier_judge(&seen, CS_TIER_VM, CS_DEPTH_HOST, judgements);
    cr_expect_eq(judgements[tiers_rule("tier-statements")].verdict, CS_TIER_CONTRADICTED);
    cr_expect_eq(judgements[tiers_rule("newer-system-calls")].verdict, CS_TIER_CONTRADICTED);
    for (size_t i = 0; i < cs_tier_rule_count; i++)
        cr_expect_null(strchr(judgements[i].observed, '\x1b'), "%s", cs_tier_rules[i].name);
    cr_expect_not_null(strstr(judgements[tiers_rule("newer-system-calls")].observed, "\\x1b"), "%s",
                       judgements[tiers_rule("newer-system-calls")].observed);
}

/* Samples of a stranger, at the ends of their range. */
Test(tiers, wild_samples_are_counted_in_bounds) {
    cs_tier_observations seen;
    cs_tier_judgement judgements[CS_TIER_MAX_RULES];
    tiers_honest(CS_TIER_VM, &seen);
    for (size_t i = 0; i < CS_PROBE_SAMPLES; i++)
        tiers_program(&seen)->processes[i] = i % 2 == 0 ? UINT32_MAX : 0;
    tiers_program(&seen)->process_samples = CS_PROBE_SAMPLES;
    (void)cs_tier_judge(&seen, CS_TIER_VM, CS_DEPTH_HOST, judgements);
    cr_expect_eq(judgements[tiers_rule("process-count")].verdict, CS_TIER_CONSISTENT);
}

Test(tiers, rules_have_names_and_say_what_could_fool_them) {
    for (size_t i = 0; i < cs_tier_rule_count; i++) {
        const cs_tier_rule *rule = &cs_tier_rules[i];
        cr_expect_eq(strspn(rule->name, "abcdefghijklmnopqrstuvwxyz-"), strlen(rule->name), "%s", rule->name);
        cr_expect_gt(strlen(rule->fooled), 10, "%s", rule->name);
        cr_expect_neq(rule->refutes & CS_TIER_ANY, 0, "%s", rule->name);
        for (size_t k = 0; k < i; k++)
            cr_expect_str_neq(rule->name, cs_tier_rules[k].name);
    }
}
