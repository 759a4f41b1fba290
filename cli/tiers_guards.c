#include "cli/tiers_guards.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/progress.h"
#include "records/text.h"

/* ---- options ------------------------------------------------------------------------------------------- */

size_t cs_tiers_guards_options_add(cs_option *options, size_t count, cs_tiers_guards *guards) {
    static const char *words[CS_GUARDS + 1]; /* NULL at the end */
    for (size_t i = 0; i < CS_GUARDS; i++)
        words[i] = cs_guard_word((cs_guard_id)i);
    options[count++] = (cs_option){"require",
                                   0,
                                   CS_OPTION_LIST,
                                   &guards->require,
                                   "GUARD[,GUARD...]",
                                   "fail unless these guards are shown to be in force",
                                   0,
                                   0,
                                   words};
    options[count++] = (cs_option){
        "no-guards", 0, CS_OPTION_FLAG, &guards->leave_out, NULL, "try the rules only, and no guard", 0, 0, NULL};
    return count;
}

bool cs_tiers_guards_asked(const cs_tiers_guards *guards) {
    return guards->require.count > 0 || guards->leave_out;
}

static cs_result unknown_word(cs_view word, cs_error *err) {
    char shown[80];
    char list[320] = "";
    size_t len = 0;
    cs_escape_short(word, shown, sizeof shown);
    for (size_t i = 0; i < CS_GUARDS; i++)
        len +=
            (size_t)snprintf(list + len, sizeof list - len, "%s%s", i > 0 ? ", " : "", cs_guard_word((cs_guard_id)i));
    return cs_fail(err, CS_CODE_USAGE, "--require: '%s' is no guard; the guards are %s", shown, list);
}

static cs_result take_words(const char *text, unsigned *required, cs_error *err) {
    for (;;) {
        size_t len = strcspn(text, ",");
        cs_view word = cs_view_bytes(text, len);
        cs_guard_id guard = CS_GUARDS;
        if (!cs_guard_find(word, &guard)) return unknown_word(word, err);
        *required |= CS_GUARD_BIT(guard);
        if (text[len] == '\0') return CS_OK;
        text += len + 1;
    }
}

cs_result cs_tiers_guards_line(cs_tiers_guards *guards, cs_tier_depth depth, cs_error *err) {
    for (size_t i = 0; i < guards->require.count; i++) {
        cs_result result = take_words(guards->require.items[i], &guards->required, err);
        if (result != CS_OK) return result;
    }
    if (guards->required != 0 && guards->leave_out)
        return cs_fail(err, CS_CODE_USAGE, "--require and --no-guards contradict each other");
    if (guards->required != 0 && depth == CS_DEPTH_STATEMENTS)
        return cs_fail(err, CS_CODE_USAGE,
                       "--require needs runs that try the guards: --cross-check probe or host, not statements");
    return CS_OK;
}

/* ---- text ------------------------------------------------------------------------------------------------ */

static void say_entry(const cs_output *out, const cs_guards_report *report) {
    char shown[200];
    cs_escape_short(cs_view_of(report->side_file), shown, sizeof shown);
    if (report->finding != 0) cs_say(out, "\nfinding:     entry %" PRId64 ", unsigned\n", report->finding);
    if (report->side_file[0] != '\0') cs_say(out, "\nfinding:     %s\n", shown);
}

/* A guard that was required, or is promised, and is not what it was to be, is marked. */
static const char *mark(const cs_guard_finding *finding) {
    return cs_guard_is_broken(finding) ? "!" : " ";
}

static void say_guards(const cs_output *out, const cs_guards_report *report) {
    cs_say(out, "\n  %-14s %-13s %-26s %-44s %s\n", "guard", "verdict", "configured", "observed", "control");
    for (size_t i = 0; i < CS_GUARDS; i++) {
        const cs_guard_finding *finding = &report->findings[i];
        cs_say(out, "%s %-14s %-13s %-26s %-44s %s\n", mark(finding), cs_guard_word((cs_guard_id)i),
               cs_guard_verdict_word(finding->verdict), finding->configured, finding->observed, finding->control);
    }
    say_entry(out, report);
}

/* ---- JSON ------------------------------------------------------------------------------------------------- */

static json_t *json_of_finding(cs_guard_id guard, const cs_guard_finding *finding) {
    json_t *measured =
        finding->measured == CS_PROBE_UNKNOWN ? json_null() : json_integer((json_int_t)finding->measured);
    return json_pack("{s:s, s:s, s:b, s:b, s:o, s:s, s:s, s:s}", "guard", cs_guard_word(guard), "verdict",
                     cs_guard_verdict_word(finding->verdict), "promised", finding->promised, "required",
                     finding->required, "measured", measured, "configured", finding->configured, "observed",
                     finding->observed, "control", finding->control);
}

static json_t *json_of_guards(const cs_guards_report *report) {
    json_t *table = json_array();
    for (size_t i = 0; table != NULL && i < CS_GUARDS; i++) {
        if (json_array_append_new(table, json_of_finding((cs_guard_id)i, &report->findings[i])) == 0) continue;
        json_decref(table);
        table = NULL;
    }
    json_t *object = json_pack("{s:I, s:o}", "broken", (json_int_t)report->broken, "table", table);
    bool good = object != NULL;
    if (good && report->finding != 0)
        good = json_object_set_new(object, "finding", json_integer((json_int_t)report->finding)) == 0;
    if (good && report->side_file[0] != '\0')
        good = json_object_set_new(object, "side_file", cs_json_of_text(cs_view_of(report->side_file))) == 0;
    if (good) return object;
    json_decref(object);
    return NULL;
}

/* ---- the attempts ------------------------------------------------------------------------------------------- */

static void on_progress(void *user, size_t done, size_t total) {
    cs_progress_show(user, done, total);
}

/* The broken promise, or the run that did not pass. */
static void tell_entry(cs_output *out, const cs_guards_report *report) {
    int64_t entry = report->finding;
    for (size_t i = 0; i < CS_GUARD_RUNS && entry == 0; i++)
        if (report->ran[i] && report->runs[i].result != CS_OK) entry = report->runs[i].entry;
    out->has_entry = entry != 0;
    out->entry = (uint64_t)entry;
}

static void try_guards(cs_tiers_guards *guards, const cs_run_options *run) {
    cs_progress progress;
    cs_progress_begin(&progress, "guards");
    const cs_guards_options options = {.run = *run,
                                       .required = guards->required,
                                       .place = guards->place,
                                       .daemon = guards->daemon,
                                       .on_progress = on_progress,
                                       .user = &progress};
    guards->tried = true;
    (void)!cs_guards_check(&options, &guards->report);
    cs_progress_clear(&progress);
}

/* The rules' probes ran before: that nothing did would be wrong. */
static cs_result result_of(const cs_guards_report *report, cs_error *err) {
    *err = report->err;
    if (report->result != CS_NOT_RUN) return report->result;
    cs_error_also(err, " [%s]; the rules' probes ran before, and the guards could not be tried to the end",
                  cs_code_name(err->code));
    (void)cs_error_recode(err, CS_CODE_TIER_PROBE);
    return CS_UNCHECKED;
}

/* A contradiction of the rules does not keep the guards from being tried; a run that was lost does. */
cs_result cs_tiers_guards_try(cs_tiers_guards *guards, cs_output *out, cs_result checked, cs_tier_depth depth,
                              const cs_run_options *run) {
    bool possible = checked == CS_OK || out->err.code == CS_CODE_TIER_CONTRADICTED;
    if (possible && depth != CS_DEPTH_STATEMENTS && !guards->leave_out) try_guards(guards, run);
    if (out->json) cs_member(out, "guards", guards->tried ? json_of_guards(&guards->report) : json_null());
    if (!guards->tried) return checked;
    say_guards(out, &guards->report);
    cs_error err;
    cs_result worse = cs_worse(checked, result_of(&guards->report, &err));
    if (worse == checked) return checked;
    out->err = err;
    tell_entry(out, &guards->report);
    return worse;
}

const cs_guards_report *cs_tiers_guards_report(const cs_tiers_guards *guards) {
    return guards->tried ? &guards->report : NULL;
}

void cs_tiers_guards_free(cs_tiers_guards *guards) {
    if (guards->tried) cs_guards_free(&guards->report);
    guards->tried = false;
}
