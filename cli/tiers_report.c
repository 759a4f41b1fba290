#include "cli/tiers_report.h"

#include <inttypes.h>

#include "records/text.h"

const char *const cs_depth_words[] = {"statements", "probe", "host", NULL};

/* Not when no probe came to be sent, since the daemon could not be described. */
static bool was_watched(const cs_tiers_report *report) {
    return report->seen.outside[CS_PROBE_SCRIPT].watched || report->seen.outside[CS_PROBE_PROGRAM].watched;
}

static cs_host_place place_of(const cs_tiers_report *report) {
    cs_host_place script = report->seen.outside[CS_PROBE_SCRIPT].place;
    cs_host_place program = report->seen.outside[CS_PROBE_PROGRAM].place;
    return script > program ? script : program;
}

static const char *place_word(const cs_tiers_report *report) {
    if (!was_watched(report)) return "unseen";
    switch (place_of(report)) {
    case CS_HOST_HERE:
        return "here";
    case CS_HOST_LISTENER:
        return "listener";
    case CS_HOST_ELSEWHERE:
        break;
    }
    return "elsewhere";
}

/* ---- text -------------------------------------------------------------------------------------------- */

static const char *place_text(const cs_tiers_report *report) {
    if (!was_watched(report)) return "not looked at: no probe ran";
    switch (place_of(report)) {
    case CS_HOST_HERE:
        return "the daemon is a process of this machine";
    case CS_HOST_LISTENER:
        return "a process of this machine listens at the daemon's address, but started no other program for the "
               "runs; it may pass them on";
    case CS_HOST_ELSEWHERE:
        break;
    }
    return "not available: no process of this machine can be seen to listen at the daemon's address";
}

static void say_rules(const cs_output *out, const cs_tiers_report *report, bool all) {
    for (size_t i = 0; i < cs_tier_rule_count; i++) {
        const cs_tier_judgement *judgement = &report->judgements[i];
        if (!judgement->asked || (!all && judgement->verdict != CS_TIER_CONTRADICTED)) continue;
        cs_say(out, "  %-22s %-13s %s\n", judgement->rule->name, cs_tier_verdict_word(judgement->verdict),
               judgement->observed);
        if (judgement->verdict == CS_TIER_CONTRADICTED)
            cs_say(out, "  %-22s %-13s what could fool this rule: %s\n", "", "", judgement->rule->fooled);
    }
}

static void say_runs(const cs_output *out, const cs_tiers_report *report) {
    for (size_t form = 0; form < CS_PROBE_FORMS; form++) {
        const char *label = form == CS_PROBE_SCRIPT ? "script:" : "program:";
        if (!report->ran[form])
            cs_say(out, "%-12s not run%s%s\n", label, report->seen.inside[form].why[0] != '\0' ? ": " : "",
                   report->seen.inside[form].why);
        else if (report->runs[form].entry != 0)
            cs_say(out, "%-12s entry %" PRId64 "%s\n", label, report->runs[form].entry,
                   report->runs[form].result == CS_OK ? ", signed" : ", an unsigned finding");
        if (report->ran[form] && report->runs[form].side_file[0] != '\0') {
            char shown[200];
            cs_escape_short(cs_view_of(report->runs[form].side_file), shown, sizeof shown);
            cs_say(out, "%-12s kept in %s\n", label, shown);
        }
    }
}

static void say_finding(const cs_output *out, const cs_tiers_report *report) {
    char shown[200];
    cs_escape_short(cs_view_of(report->side_file), shown, sizeof shown);
    if (report->finding != 0) cs_say(out, "finding:     entry %" PRId64 ", unsigned\n", report->finding);
    if (report->side_file[0] != '\0') cs_say(out, "finding:     %s\n", shown);
}

void cs_say_contradictions(const cs_output *out, const cs_tiers_report *report) {
    say_rules(out, report, false);
    say_finding(out, report);
}

#define NOT_LOOKED                                                                                                     \
    "Not looked at from this machine (--host-view): from inside, a container on the same kind of kernel can't be "     \
    "told "                                                                                                            \
    "from a virtual machine."

static bool needs_host_view(const cs_tiers_report *report, cs_tier_depth depth) {
    return depth != CS_DEPTH_HOST && (report->claim == CS_TIER_KERNEL || report->claim == CS_TIER_VM);
}

void cs_say_no_host_view(const cs_output *out, const cs_tiers_report *report, cs_tier_depth depth) {
    if (needs_host_view(report, depth)) cs_say(out, "  %s\n", NOT_LOOKED);
    if (depth != CS_DEPTH_HOST) return;
    if (place_of(report) != CS_HOST_HERE) cs_say(out, "  host view %s\n", place_text(report));
    if (report->seen.host.why[0] != '\0') cs_say(out, "  host view incomplete: %s\n", report->seen.host.why);
}

void cs_say_tiers(const cs_output *out, const cs_tiers_report *report, cs_tier_depth depth) {
    cs_say(out, "claim:       %s\n", report->claim > CS_TIER_NONE ? cs_tier_word(report->claim) : "(no known tier)");
    say_runs(out, report);
    if (depth == CS_DEPTH_HOST) {
        cs_say(out, "host view:   %s\n", place_text(report));
        if (report->seen.host.why[0] != '\0') cs_say(out, "             %s\n", report->seen.host.why);
    }
    if (report->emulated)
        cs_say(out, "beside it:   the processor is emulated by software: no hardware virtualisation\n");
    cs_say(out, "\n");
    say_rules(out, report, true);
    if (report->finding != 0 || report->side_file[0] != '\0') cs_say(out, "\n");
    say_finding(out, report);
}

/* No rule contradicts, and that is not all there is to say. */
static void say_guards_fail(const cs_output *out, const cs_guards_report *guards) {
    bool broken = guards->err.code == CS_CODE_TIER_GUARD || guards->err.code == CS_CODE_TIER_CONTRADICTED;
    if (!broken) {
        cs_say(out, "\nNo rule contradicts the claim; the guards above could not be tried to the end.\n");
        return;
    }
    const char *between = ":";
    cs_say(out, "\nNo rule contradicts the claim; what fails is said of the guards above");
    for (size_t i = 0; i < CS_GUARDS; i++) {
        if (!cs_guard_is_broken(&guards->findings[i])) continue;
        cs_say(out, "%s %s", between, cs_guard_word((cs_guard_id)i));
        between = ",";
    }
    cs_say(out, ".\n");
}

void cs_say_tiers_end(const cs_output *out, const cs_tiers_report *report, cs_tier_depth depth,
                      const cs_guards_report *guards) {
    bool stands = report->result == CS_OK;
    if (stands && guards != NULL && guards->result != CS_OK)
        say_guards_fail(out, guards);
    else if (stands)
        cs_say(out, "\nNo rule contradicts the claim. That is no proof of it.\n");
    if (needs_host_view(report, depth)) cs_say(out, "%s%s\n", stands ? "" : "\n", NOT_LOOKED);
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static json_t *json_of_rules(const cs_tiers_report *report) {
    json_t *rules = json_array();
    for (size_t i = 0; rules != NULL && i < cs_tier_rule_count; i++) {
        const cs_tier_judgement *judgement = &report->judgements[i];
        if (!judgement->asked) continue;
        json_t *rule =
            json_pack("{s:s, s:s, s:s, s:s, s:s}", "rule", judgement->rule->name, "layer",
                      cs_depth_words[judgement->rule->depth], "verdict", cs_tier_verdict_word(judgement->verdict),
                      "observation", judgement->observed, "fooled_by", judgement->rule->fooled);
        if (rule != NULL && json_array_append_new(rules, rule) == 0) continue;
        json_decref(rules);
        return NULL;
    }
    return rules;
}

/* Where something is kept, if it is. */
static bool set_kept(json_t *object, const char *name, int64_t entry, const char *side_file) {
    if (entry != 0 && json_object_set_new(object, name, json_integer(entry)) != 0) return false;
    return side_file[0] == '\0' ||
           json_object_set_new(object, "side_file", cs_json_of_text(cs_view_of(side_file))) == 0;
}

static json_t *json_of_probe(const cs_tiers_report *report, size_t form) {
    const cs_inside *inside = &report->seen.inside[form];
    const cs_run_report *run = &report->runs[form];
    json_t *probe = json_pack("{s:s, s:b, s:b}", "form", cs_probe_form_word((cs_probe_form)form), "ran",
                              report->ran[form], "read", inside->read);
    if (probe == NULL) return NULL;
    bool good = inside->why[0] == '\0' || json_object_set_new(probe, "why", json_string(inside->why)) == 0;
    if (good && report->ran[form]) good = set_kept(probe, "entry", run->entry, run->side_file);
    if (good) return probe;
    json_decref(probe);
    return NULL;
}

static json_t *json_of_host(const cs_tiers_report *report, cs_tier_depth depth) {
    if (depth != CS_DEPTH_HOST) return json_null();
    const char *why = report->seen.host.why;
    return json_pack("{s:s, s:b, s:s*}", "daemon", place_word(report), "complete", report->seen.host.all, "why",
                     why[0] != '\0' ? why : NULL);
}

json_t *cs_json_of_tiers(const cs_tiers_report *report, cs_tier_depth depth) {
    json_t *probes =
        json_pack("[o, o]", json_of_probe(report, CS_PROBE_SCRIPT), json_of_probe(report, CS_PROBE_PROGRAM));
    json_t *object = json_pack(
        "{s:s, s:s, s:I, s:b, s:o, s:o, s:o}", "claim", report->claim > CS_TIER_NONE ? cs_tier_word(report->claim) : "",
        "cross_check", cs_depth_words[depth], "contradictions", (json_int_t)report->contradictions, "emulated",
        report->emulated, "probes", probes, "host_view", json_of_host(report, depth), "rules", json_of_rules(report));
    if (object != NULL && set_kept(object, "finding", report->finding, report->side_file)) return object;
    json_decref(object);
    return NULL;
}
