/* Changes of what was tallied of all records. */
#include <inttypes.h>
#include <string.h>

#include "gate/prove_internal.h"

static cs_gate_changed change_selected(cs_gate_trial *t) {
    cs_gate_kept *kept = t->tally->kept;
    memset(t->tally, 0, sizeof *t->tally);
    t->tally->kept = kept;
    return cs_gate_change_says(t, "no record is one of those that the requirement is about");
}

/* Another run of the same files failed, and this one does not make it good. */
static bool fail_another(cs_gate_trial *t, cs_gate_rule rule, cs_code code, const char *what) {
    if (t->requirement->bind_count == 0) return false;
    for (size_t i = 0; i < CS_GATE_FAILURES; i++) {
        if (cs_gate_failure_rules[i] != rule) continue;
        t->tally->failures[i].place = t->tally->witness;
        cs_gate_refuse(&t->tally->failures[i].finding, code, "%s", what);
        return true;
    }
    return false;
}

static cs_gate_changed change_failed(cs_gate_trial *t) {
    if (!fail_another(t, CS_GATE_WORK, CS_CODE_GATE_WORK_FAILED, "a step failed")) return CS_GATE_NO_CHANGE;
    return cs_gate_change_says(t, "the work of another run of the same files failed");
}

static cs_gate_changed change_timed_out(cs_gate_trial *t) {
    if (!fail_another(t, CS_GATE_TIME_OUT, CS_CODE_GATE_TIMED_OUT, "it met its limit")) return CS_GATE_NO_CHANGE;
    return cs_gate_change_says(t, "another run of the same files met its time limit");
}

static cs_gate_changed change_tests_failed(cs_gate_trial *t) {
    if (!fail_another(t, CS_GATE_TESTS, CS_CODE_GATE_TESTS_FAILED, "a test failed")) return CS_GATE_NO_CHANGE;
    return cs_gate_change_says(t, "a test of another run of the same files failed");
}

static cs_gate_changed change_base(cs_gate_trial *t) {
    t->tally->base.set = false;
    return cs_gate_change_says(t, "there is no run of the base");
}

static cs_gate_changed change_base_tests(cs_gate_trial *t) {
    if (t->tally->base_executed == 0) return CS_GATE_NO_CHANGE;
    t->tally->kept[0].executed = t->tally->base_executed - 1;
    return cs_gate_change_says(t, "one test fewer was executed than at the base: %" PRIu64,
                               t->tally->base_executed - 1);
}

static cs_gate_changed change_count(cs_gate_trial *t) {
    uint64_t wanted = t->requirement->min_records > 0 ? t->requirement->min_records : 1;
    t->tally->count = (size_t)wanted - 1;
    t->tally->near.set = false;
    return cs_gate_change_says(t, "one record fewer counts than is asked for: %" PRIu64, wanted - 1);
}

static cs_gate_changed change_providers(cs_gate_trial *t) {
    if (t->requirement->reproduced_providers < 2) return CS_GATE_NO_CHANGE;
    for (size_t i = 1; i < t->tally->count; i++)
        t->tally->kept[i].provider = t->tally->kept[0].provider;
    return cs_gate_change_says(t, "every run was on one provider");
}

/* Those that are too many become works of their own. */
static cs_gate_changed change_runs(cs_gate_trial *t) {
    uint64_t runs = t->requirement->reproduced_runs;
    if (runs < 2) return CS_GATE_NO_CHANGE;
    for (size_t i = (size_t)runs - 1; i < t->tally->count; i++) {
        memset(t->tally->kept[i].work, 0xff, sizeof t->tally->kept[i].work);
        memcpy(t->tally->kept[i].work, &i, sizeof i);
    }
    return cs_gate_change_says(t, "one run fewer is of the same work than is asked for: %" PRIu64, runs - 1);
}

/* One record more, of the same work. */
static cs_gate_changed change_result(cs_gate_trial *t) {
    cs_gate_kept *more = &t->tally->kept[t->tally->count++];
    *more = t->tally->kept[0];
    more->record[0] ^= 1;
    more->result[0] ^= 1;
    return cs_gate_change_says(t, "another run of the same work has another result");
}

/* Nothing else of it is that of the record. */
static cs_gate_changed change_cross_check(cs_gate_trial *t) {
    const cs_gate_kept *kept = &t->tally->kept[0];
    t->evidence->contradictions[t->evidence->contradiction_count++] =
        (cs_gate_contradiction){.daemon = kept->daemon, .stated = true, .source = kept->source, .entry = kept->entry};
    return cs_gate_change_says(t, "a finding contradicts the tier of a daemon that is relied on");
}

/* Nothing of it but the address is another's. */
static cs_gate_changed change_alias(cs_gate_trial *t) {
    const cs_gate_kept *kept = &t->tally->kept[0];
    t->evidence->contradictions[t->evidence->contradiction_count++] =
        (cs_gate_contradiction){.daemon = UINT32_MAX,
                                .stated = true,
                                .provider = kept->provider,
                                .policy = kept->policy,
                                .environments = {kept->environment},
                                .source = kept->source,
                                .entry = kept->entry};
    return cs_gate_change_says(t, "a finding contradicts the tier of such a daemon at another address");
}

static cs_gate_changed change_bundle(cs_gate_trial *t) {
    t->tally->kept[0].daemon = 0;
    return cs_gate_change_says(t, "a record that is relied on comes from a bundle, which holds no findings");
}

const cs_gate_change cs_gate_tally_changes[] = {
    {CS_GATE_SELECTED, CS_CODE_GATE_NOTHING, change_selected},
    {CS_GATE_WORK, CS_CODE_GATE_WORK_FAILED, change_failed},
    {CS_GATE_TIME_OUT, CS_CODE_GATE_TIMED_OUT, change_timed_out},
    {CS_GATE_TESTS, CS_CODE_GATE_TESTS_FAILED, change_tests_failed},
    {CS_GATE_TESTS_OF_BASE, CS_CODE_GATE_TESTS_FEWER, change_base},
    {CS_GATE_TESTS_OF_BASE, CS_CODE_GATE_TESTS_FEWER, change_base_tests},
    {CS_GATE_COUNT, CS_CODE_GATE_COUNT, change_count},
    {CS_GATE_REPRODUCED, CS_CODE_GATE_NOT_REPRODUCED, change_providers},
    {CS_GATE_REPRODUCED, CS_CODE_GATE_NOT_REPRODUCED, change_runs},
    {CS_GATE_SAME_RESULT, CS_CODE_GATE_RESULT_DIFFERS, change_result},
    {CS_GATE_CROSS_CHECK, CS_CODE_GATE_CONTRADICTED, change_cross_check},
    {CS_GATE_CROSS_CHECK, CS_CODE_GATE_CONTRADICTED, change_alias},
    {CS_GATE_CROSS_CHECK, CS_CODE_GATE_CROSS_CHECK, change_bundle},
};
const size_t cs_gate_tally_change_count = sizeof cs_gate_tally_changes / sizeof cs_gate_tally_changes[0];
