/* Statements that agree with one another and are wrong, that change during the run, and times. */
#include <criterion/criterion.h>
#include <time.h>

#include "tests/hostile/hostile.h"
#include "tests/support/canon.h"
#include "tests/support/changes.h"

/* ---- the tier -------------------------------------------------------------------------------------- */

static void say_everywhere(sample *s, const char *tier) {
    canon_set(&s->record->isolation, tier);
    canon_set(&s->response->isolation, tier);
    canon_set(&s->before->isolation, tier);
    canon_set(&s->after->isolation, tier);
}

static void tier_process(sample *s) {
    say_everywhere(s, "process");
}

static void tier_container(sample *s) {
    say_everywhere(s, "container");
}

static void tier_vm(sample *s) {
    say_everywhere(s, "vm");
}

static void tier_unknown(sample *s) {
    say_everywhere(s, "hypervisor");
}

static void tier_capital(sample *s) {
    say_everywhere(s, "Kernel");
}

static void tier_empty(sample *s) {
    say_everywhere(s, "");
}

static void tier_list(sample *s) {
    say_everywhere(s, "kernel,vm");
}

static const play tiers[] = {
    {"at the floor", CHANGE(tier_container, RECORD_AND_BYTES), PASSES},
    {"above the floor", CHANGE(tier_vm, RECORD_AND_BYTES), PASSES},
    {"below the floor", CHANGE(tier_process, RECORD_AND_BYTES), FAILS(TIER_BELOW_FLOOR)},
    {"unknown", CHANGE(tier_unknown, RECORD_AND_BYTES), FAILS(TIER_UNKNOWN)},
    {"capital", CHANGE(tier_capital, RECORD_AND_BYTES), FAILS(TIER_UNKNOWN)},
    {"none", CHANGE(tier_empty, RECORD_AND_BYTES), FAILS(TIER_UNKNOWN)},
    {"two", CHANGE(tier_list, RECORD_AND_BYTES), FAILS(TIER_UNKNOWN)},
};

Test(hostile_statements, tiers) {
    hostile(&(group){.at = AT_RUN, PLAYS(tiers)});
}

static void no_floor(sample *s) {
    canon_set(&s->request->minimum_isolation, "");
}

static const play without_floor[] = {
    {"process", CHANGE(tier_process, RECORD_AND_BYTES), PASSES},
    {"unknown", CHANGE(tier_unknown, RECORD_AND_BYTES), FAILS(TIER_UNKNOWN)},
    {"none", CHANGE(tier_empty, RECORD_AND_BYTES), FAILS(TIER_UNKNOWN)},
};

Test(hostile_statements, tiers_without_a_floor) {
    hostile(&(group){.at = AT_RUN, .prepare = no_floor, PLAYS(without_floor)});
}

static const play software[] = {
    {"other", CHANGE(change_other_software, RECORD_AND_BYTES), FAILS(SOFTWARE_NOT_ALLOWED)},
    {"none", CHANGE(change_no_software, RECORD_AND_BYTES), FAILS(SOFTWARE_NOT_ALLOWED)},
};

Test(hostile_statements, software) {
    hostile(&(group){.at = AT_RUN, PLAYS(software)});
}

/* ---- Describe -------------------------------------------------------------------------------------- */

static const play before[] = {
    {"provider", CHANGE(change_before_provider, 0), FAILS(PROVIDER_DRIFT)},
    {"tier", CHANGE(change_before_tier, 0), FAILS(TIER_DRIFT)},
    {"policy", CHANGE(change_before_policy, 0), FAILS(POLICY_DRIFT)},
    {"protocol", CHANGE(change_before_protocol, 0), FAILS(PROTOCOL_DRIFT)},
};

static void after_protocol_0(sample *s) {
    s->after->protocol = 0;
}

static const play after[] = {
    {"provider", CHANGE(change_after_provider, 0), FAILS(PROVIDER_DRIFT)},
    {"tier", CHANGE(change_after_tier, 0), FAILS(TIER_DRIFT)},
    {"policy", CHANGE(change_after_policy, 0), FAILS(POLICY_DRIFT)},
    {"protocol", CHANGE(change_after_protocol, 0), FAILS(PROTOCOL_DRIFT)},
    {"no protocol", CHANGE(after_protocol_0, 0), FAILS(PROTOCOL_DRIFT)},
};

Test(hostile_statements, describe_differs) {
    hostile(&(group){.at = AT_BEFORE, PLAYS(before)});
    hostile(&(group){.at = AT_AFTER, PLAYS(after)});
}

/* Both statements of the daemon are the same, and are not what its record says. */
static void both_provider(sample *s) {
    change_before_provider(s);
    change_after_provider(s);
}

static void both_tier(sample *s) {
    canon_set(&s->before->isolation, "vm");
    canon_set(&s->after->isolation, "vm");
}

static void answer_provider(sample *s) {
    change_record_provider(s);
    canon_set(&s->response->sandbox, "docker");
}

static void answer_tier(sample *s) {
    change_record_isolation(s);
    canon_set(&s->response->isolation, "vm");
}

static void all_provider(sample *s) {
    both_provider(s);
    answer_provider(s);
}

static const play apart[] = {
    {"described provider", CHANGE(both_provider, 0), FAILS(PROVIDER_DRIFT)},
    {"described tier", CHANGE(both_tier, 0), FAILS(TIER_DRIFT)},
    {"answered provider", CHANGE(answer_provider, RECORD_AND_BYTES), FAILS(PROVIDER_DRIFT)},
    {"answered tier", CHANGE(answer_tier, RECORD_AND_BYTES), FAILS(TIER_DRIFT)},
    {"the same provider everywhere", CHANGE(all_provider, RECORD_AND_BYTES), PASSES},
};

Test(hostile_statements, describe_and_record_differ) {
    hostile(&(group){.at = AT_RUN, PLAYS(apart)});
}

/* A protocol that is not spoken here: nothing is sent to run. */
static void before_protocol_0(sample *s) {
    s->before->protocol = 0;
}

static void before_protocol_5(sample *s) {
    s->before->protocol = 5;
}

static void before_protocol_wraps(sample *s) {
    s->before->protocol = UINT32_MAX;
}

static const play protocols[] = {
    {"none", CHANGE(before_protocol_0, 0), FAILS(DESCRIBE_FAILED)},
    {"the next one", CHANGE(before_protocol_5, 0), FAILS(DESCRIBE_FAILED)},
    {"the last one", CHANGE(before_protocol_wraps, 0), FAILS(DESCRIBE_FAILED)},
};

Test(hostile_statements, protocols_not_spoken_here) {
    hostile(&(group){.at = AT_BEFORE, PLAYS(protocols)});
}

/* ---- a daemon that lowers the protocol -------------------------------------------------------------- */

/* The request leaves the number to the daemon, which says 1: there the request's digest does not cover the
 * software rule. The record must still name the rule, which its version can't. */
static void take_any_protocol(stage *st) {
    st->auto_protocol = true;
}

static void lower_with_rule(sample *s) {
    change_make_version_1(s);
    change_rule_in_protocol_1(s);
}

static void lower_with_rule_id(sample *s) {
    lower_with_rule(s);
    change_rule_id_in_version_1(s);
}

static const play lowered[] = {
    {"no rule in the request", CHANGE(change_make_version_1, SEAL_ALL), PASSES},
    {"a rule in the request", CHANGE(lower_with_rule, SEAL_ALL), FAILS(RULE_MISMATCH)},
    {"and in the record, where it is not covered", CHANGE(lower_with_rule_id, SEAL_ALL), FAILS(RECORD_SOFTWARE_FIELDS)},
};

Test(hostile_statements, a_lower_protocol_does_not_lose_the_rule) {
    hostile(&(group){.at = AT_RUN, .dress = take_any_protocol, PLAYS(lowered)});
}

/* ---- times ----------------------------------------------------------------------------------------- */

static int64_t now_ms(void) {
    struct timespec now;
    cr_assert_eq(clock_gettime(CLOCK_REALTIME, &now), 0);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void just_now(sample *s) {
    s->record->started_unix_ms = now_ms();
    s->record->ended_unix_ms = s->record->started_unix_ms;
}

static void backwards(sample *s) {
    s->record->ended_unix_ms = s->record->started_unix_ms - 1;
}

static void at_both_ends_of_time(sample *s) {
    s->record->started_unix_ms = INT64_MIN;
    s->record->ended_unix_ms = INT64_MAX;
}

static void from_the_end_of_time(sample *s) {
    s->record->started_unix_ms = INT64_MAX;
    s->record->ended_unix_ms = INT64_MIN;
}

static void an_hour_ago(sample *s) {
    s->record->started_unix_ms -= 3600000;
}

static void in_an_hour(sample *s) {
    s->record->ended_unix_ms += 3600000;
}

/* Times only warn. The same old record for the same request is nothing but old. */
static const play times[] = {
    {"backwards", CHANGE(backwards, RECORD_AND_BYTES), PASSES, .calm = true, .reversed = true},
    {"started an hour ago", CHANGE(an_hour_ago, RECORD_AND_BYTES), PASSES},
    {"ends in an hour", CHANGE(in_an_hour, RECORD_AND_BYTES), PASSES},
    {"from one end of time to the other", CHANGE(at_both_ends_of_time, RECORD_AND_BYTES), PASSES},
    {"and back", CHANGE(from_the_end_of_time, RECORD_AND_BYTES), PASSES, .reversed = true},
};

Test(hostile_statements, times_warn) {
    hostile(&(group){.at = AT_RUN, .prepare = just_now, .calm = true, PLAYS(times)});
}
