#include "cli/cross_check.h"

#include <inttypes.h>
#include <stdio.h>

#include "records/text.h"

cs_option cs_cross_check_option(int *choice) {
    static const char *const words[] = {"off", "statements", "probe", "host", NULL};
    return (cs_option){"cross-check",
                       0,
                       CS_OPTION_CHOICE,
                       choice,
                       "off|statements|probe|host",
                       "how far to cross-check the tier that is claimed (statements)",
                       0,
                       0,
                       words};
}

bool cs_cross_check_depth(int choice, cs_tier_depth *depth) {
    if (choice == 0) return false;
    *depth = (cs_tier_depth)(choice - 1);
    return true;
}

/* ---- text ----------------------------------------------------------------------------------------- */

static size_t count_rules(const cs_tiers_report *report, bool silent_only) {
    size_t count = 0;
    for (size_t i = 0; i < cs_tier_rule_count; i++) {
        const cs_tier_judgement *judgement = &report->judgements[i];
        if (judgement->asked && (!silent_only || judgement->verdict == CS_TIER_SILENT)) count++;
    }
    return count;
}

void cs_say_cross_check(const cs_output *out, const char *label, const cs_tiers_report *report, cs_tier_depth depth) {
    size_t asked = count_rules(report, false);
    cs_say(out, "%s%s: %zu %s asked, ", label, cs_depth_words[depth], asked, cs_plural(asked, "rule", "rules"));
    if (report->contradictions == 0)
        cs_say(out, "none contradicts");
    else
        cs_say(out, "%zu %s the claim '%s'", report->contradictions,
               cs_plural(report->contradictions, "contradicts", "contradict"), cs_tier_word(report->claim));
    cs_say(out, ", %zu silent%s\n", count_rules(report, true), report->result == CS_UNCHECKED ? "; NOT complete" : "");
    cs_say_no_host_view(out, report, depth);
    if (report->contradictions > 0) cs_say_contradictions(out, report);
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

json_t *cs_json_of_cross_check(cs_result result, const cs_error *err, const cs_tiers_report *tiers,
                               cs_tier_depth depth) {
    json_t *object = tiers != NULL ? cs_json_of_tiers(tiers, depth) : json_object();
    bool good = object != NULL && json_object_set_new(object, "verdict", json_string(cs_result_word(result))) == 0;
    if (good && result != CS_OK) good = json_object_set_new(object, "error", cs_json_of_error(err)) == 0;
    if (good) return object;
    json_decref(object);
    return NULL;
}

/* ---- of a run ------------------------------------------------------------------------------------- */

/* The run stays what it is. Where it is comes first, since what was found against it can be long. */
static cs_error beside_run(const cs_run_report *run, const cs_tiers_report *report) {
    cs_error err = report->err;
    err.message[0] = '\0';
    cs_error_also(&err, "the run passed its checks and is signed, as entry %" PRId64, run->entry);
    if (report->finding != 0) cs_error_also(&err, "; entry %" PRId64 " says against it", report->finding);
    cs_error_also(&err, ": %s", report->err.message);
    return err;
}

cs_result cs_cross_check_run(cs_output *out, int choice, const cs_run_options *how, const cs_run_report *run) {
    cs_tiers_options options = {.run = *how, .of = run};
    if (!cs_cross_check_depth(choice, &options.depth)) return CS_OK;
    cs_tiers_report report;
    cs_result result = cs_tiers_check(&options, &report);
    cs_say_cross_check(out, "cross-check: ", &report, options.depth);
    if (result != CS_OK) out->err = beside_run(run, &report);
    if (out->json) cs_member(out, "cross_check", cs_json_of_cross_check(result, &report.err, &report, options.depth));
    cs_tiers_free(&report);
    return result;
}
