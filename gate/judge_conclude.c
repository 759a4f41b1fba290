/* What comes of one requirement, and of the policy as a whole. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gate/judge_internal.h"
#include "records/text.h"

static void set_place(const cs_gate_options *options, const cs_gate_place *place, cs_gate_finding *out) {
    if (!place->set || place->source >= options->source_count) return;
    cs_escape_short(cs_view_of(options->sources[place->source]), out->source, sizeof out->source);
    out->entry = place->entry;
}

/* ---- the rules about all records together ------------------------------------------------------------------ */

/* Which conditions the nearest of the others does not fulfil. */
static void add_nearest(const cs_gate_tally *tally, cs_gate_finding *out) {
    if (!tally->near.set) return;
    cs_gate_also(out, "; the nearest of the others, entry %" PRIu64 ", does not fulfil:", tally->near.entry);
    for (unsigned rule = 0; rule < CS_GATE_RULES; rule++)
        if ((tally->near_unfulfilled & CS_GATE_BIT(rule)) != 0)
            cs_gate_also(out, " %s", cs_gate_rule_word((cs_gate_rule)rule));
}

void cs_gate_judge_count(const cs_policy_requirement *requirement, const cs_gate_tally *tally, cs_gate_finding *out) {
    /* A policy that was made by hand may say none; a verdict is never empty all the same. */
    uint64_t wanted = requirement->min_records > 0 ? requirement->min_records : 1;
    if (tally->count >= wanted) {
        cs_gate_pass(out, "%zu of %" PRIu64 " %s", tally->count, tally->selected,
                     cs_plural(tally->selected, "record counts", "records count"));
    } else if (tally->count == 0 && tally->near.set) {
        cs_gate_leave(out, "no record fulfils every condition");
        return;
    } else {
        cs_gate_refuse(out, CS_CODE_GATE_COUNT, "only %zu of %" PRIu64 " %s", tally->count, tally->selected,
                       cs_plural(tally->selected, "record counts", "records count"));
        add_nearest(tally, out);
    }
    if (tally->duplicates > 0)
        cs_gate_also(out, "; the same record stands there %" PRIu64 " %s more, and counts once", tally->duplicates,
                     cs_plural(tally->duplicates, "time", "times"));
}

static uint64_t fewest_executed(const cs_gate_tally *tally) {
    uint64_t fewest = UINT64_MAX;
    for (size_t i = 0; i < tally->count; i++)
        if (tally->kept[i].executed < fewest) fewest = tally->kept[i].executed;
    return fewest;
}

void cs_gate_judge_of_base(const cs_policy_requirement *requirement, const cs_gate_tally *tally, cs_gate_finding *out) {
    if (!requirement->tests.present || !requirement->tests.not_fewer_than_base) return;
    if (requirement->bind_count == 0) {
        cs_gate_leave(out, "the requirement binds runs to no commit, so that none can be told to be of the base");
    } else if (tally->count == 0) {
        cs_gate_leave(out, "no record counts");
    } else if (!tally->base.set) {
        cs_gate_refuse(out, CS_CODE_GATE_TESTS_FEWER, "no run of the base is there to compare with");
        if (!cs_gate_bind_is_complete(requirement))
            cs_gate_also(out, " (one that fits the revision as well counts only where a bind is complete)");
    } else {
        uint64_t executed = fewest_executed(tally);
        if (executed >= tally->base_executed)
            cs_gate_pass(out, "%" PRIu64 " %s executed, and %" PRIu64 " at the base (entry %" PRIu64 ")", executed,
                         cs_plural(executed, "test was", "tests were"), tally->base_executed, tally->base.entry);
        else
            cs_gate_refuse(out, CS_CODE_GATE_TESTS_FEWER,
                           "%" PRIu64 " %s executed, and %" PRIu64 " at the base (entry %" PRIu64 ")", executed,
                           cs_plural(executed, "test was", "tests were"), tally->base_executed, tally->base.entry);
    }
}

bool cs_gate_is_same_commit(const cs_tree *rev, const cs_tree *base) {
    return rev != NULL && base != NULL && strcmp(rev->commit, base->commit) == 0;
}

static void judge_of_base(const cs_gate_setting *setting, const cs_policy_requirement *requirement,
                          const cs_gate_tally *tally, cs_gate_finding *out) {
    if (requirement->tests.present && requirement->tests.not_fewer_than_base &&
        cs_gate_is_same_commit(setting->rev.tree, setting->base.tree))
        cs_gate_refuse(out, CS_CODE_GATE_TESTS_FEWER, CS_GATE_NOTHING_COMPARED);
    else
        cs_gate_judge_of_base(requirement, tally, out);
}

static void judge_cross_check(const cs_gate_options *options, const cs_gate_tally *tally,
                              const cs_gate_evidence *evidence, cs_gate_finding *out) {
    cs_gate_place place;
    cs_gate_judge_cross_check(tally, evidence, &place, out);
    set_place(options, &place, out);
}

/* ---- one requirement ------------------------------------------------------------------------------------------ */

static void begin(const cs_policy_requirement *requirement, cs_gate_section *out) {
    *out = (cs_gate_section){.requirement = requirement};
    for (unsigned rule = 0; rule < CS_GATE_RULES; rule++)
        out->findings[rule].rule = (cs_gate_rule)rule;
}

static void judge_selected(const cs_gate_tally *tally, cs_gate_finding *out) {
    if (tally->selected == 0)
        cs_gate_refuse(out, CS_CODE_GATE_NOTHING, "no record is one of those");
    else
        cs_gate_pass(out, "%" PRIu64 " distinct %s", tally->selected, cs_plural(tally->selected, "record", "records"));
}

/* Without any record, what is known to be asked is known to be undecided. */
static void leave_conditions(const cs_policy_requirement *r, cs_gate_section *out) {
    const bool asked[CS_GATE_CONDITIONS] = {
        [0] = r->allowed_providers.count > 0,
        [CS_GATE_FLOOR - CS_GATE_PROVIDER] = r->floor > CS_TIER_NONE,
        [CS_GATE_SOFTWARE - CS_GATE_PROVIDER] = r->software.count > 0,
        [CS_GATE_SANDBOX_POLICY - CS_GATE_PROVIDER] = r->sandbox_policies.count > 0,
        [CS_GATE_GRANTS - CS_GATE_PROVIDER] = true,
        [CS_GATE_AGE - CS_GATE_PROVIDER] = r->max_age_s > 0,
        [CS_GATE_WORK - CS_GATE_PROVIDER] = true,
        [CS_GATE_TIME_OUT - CS_GATE_PROVIDER] = true,
        [CS_GATE_TRUNCATION - CS_GATE_PROVIDER] = true,
        [CS_GATE_BIND - CS_GATE_PROVIDER] = r->bind_count > 0,
        [CS_GATE_COMPLETE - CS_GATE_PROVIDER] = cs_gate_bind_is_complete(r),
        [CS_GATE_TESTS - CS_GATE_PROVIDER] = r->tests.present,
    };
    for (size_t i = 0; i < CS_GATE_CONDITIONS; i++)
        if (asked[i]) cs_gate_leave(&out->findings[CS_GATE_PROVIDER + i], "there is no record to judge it by");
}

static void take_failure(const cs_gate_options *options, const cs_gate_failure *failure, cs_gate_finding *out) {
    if (!failure->place.set || out->state == CS_GATE_REFUSED) return;
    cs_gate_rule rule = out->rule;
    *out = failure->finding;
    out->rule = rule;
    cs_gate_also(out, "; that run has the commit's files, and another that passed does not make it good");
    set_place(options, &failure->place, out);
}

/* From the first record that counts, or else from the nearest. */
static void take_conditions(const cs_gate_options *options, const cs_gate_tally *tally, cs_gate_section *out) {
    bool counts = tally->count > 0 && tally->witness.set;
    const cs_gate_place *place = counts ? &tally->witness : &tally->near;
    const cs_gate_finding *from = counts ? tally->witness_findings : tally->near_findings;
    if (!place->set) {
        leave_conditions(out->requirement, out);
        return;
    }
    for (unsigned rule = CS_GATE_PROVIDER; rule <= CS_GATE_TESTS; rule++) {
        out->findings[rule] = from[rule];
        out->findings[rule].rule = (cs_gate_rule)rule;
        if (from[rule].state != CS_GATE_NOT_ASKED) set_place(options, place, &out->findings[rule]);
    }
    for (size_t i = 0; i < CS_GATE_FAILURES; i++)
        take_failure(options, &tally->failures[i], &out->findings[cs_gate_failure_rules[i]]);
}

/* Wishes are put into words last, since findings are copied whole. */
static void finish(cs_gate_section *out) {
    for (unsigned rule = 0; rule < CS_GATE_RULES; rule++) {
        cs_gate_finding *finding = &out->findings[rule];
        if (finding->state == CS_GATE_REFUSED) out->refusals++;
        if (finding->state != CS_GATE_NOT_ASKED && out->requirement != NULL) cs_gate_want(out->requirement, finding);
    }
}

void cs_gate_conclude(const cs_gate_options *options, const cs_gate_setting *setting, size_t index,
                      const cs_gate_tally *tally, const cs_gate_evidence *evidence, cs_gate_section *out) {
    const cs_policy_requirement *requirement = &setting->policy->requirements[index];
    begin(requirement, out);
    out->selected = tally->selected;
    out->counted = tally->count;
    judge_selected(tally, &out->findings[CS_GATE_SELECTED]);
    take_conditions(options, tally, out);
    judge_of_base(setting, requirement, tally, &out->findings[CS_GATE_TESTS_OF_BASE]);
    if (tally->selected == 0)
        cs_gate_leave(&out->findings[CS_GATE_COUNT], "there is no record to count");
    else
        cs_gate_judge_count(requirement, tally, &out->findings[CS_GATE_COUNT]);
    if (!cs_gate_judge_results(requirement, tally, &out->findings[CS_GATE_REPRODUCED],
                               &out->findings[CS_GATE_SAME_RESULT])) {
        cs_gate_refuse(&out->findings[CS_GATE_REPRODUCED], CS_CODE_NO_MEMORY, "no memory to compare the results");
        cs_gate_leave(&out->findings[CS_GATE_SAME_RESULT], "no memory to compare the results");
    }
    if (requirement->cross_check) judge_cross_check(options, tally, evidence, &out->findings[CS_GATE_CROSS_CHECK]);
    finish(out);
}

void cs_gate_conclude_policy(const cs_gate_setting *setting, cs_gate_section *out) {
    begin(NULL, out);
    cs_gate_finding *protect = &out->findings[CS_GATE_PROTECT];
    cs_gate_judge_protect(setting->policy, setting->rev.tree, setting->base.tree, protect);
    if (protect->state != CS_GATE_NOT_ASKED)
        (void)snprintf(protect->wanted, sizeof protect->wanted,
                       "the same protected files in the revision as in the base");
    finish(out);
}
