/* What a finding says. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gate/judge_internal.h"
#include "records/text.h"

static const char *const words[CS_GATE_RULES] = {
    [CS_GATE_SELECTED] = "selected",
    [CS_GATE_PROVIDER] = "provider",
    [CS_GATE_FLOOR] = "floor",
    [CS_GATE_SOFTWARE] = "software",
    [CS_GATE_SANDBOX_POLICY] = "sandbox-policy",
    [CS_GATE_GRANTS] = "grants",
    [CS_GATE_AGE] = "age",
    [CS_GATE_WORK] = "work",
    [CS_GATE_TIME_OUT] = "time-out",
    [CS_GATE_TRUNCATION] = "truncation",
    [CS_GATE_BIND] = "bind",
    [CS_GATE_COMPLETE] = "complete",
    [CS_GATE_TESTS] = "tests",
    [CS_GATE_TESTS_OF_BASE] = "tests-of-base",
    [CS_GATE_COUNT] = "count",
    [CS_GATE_REPRODUCED] = "reproduced",
    [CS_GATE_SAME_RESULT] = "same-result",
    [CS_GATE_CROSS_CHECK] = "cross-check",
    [CS_GATE_PROTECT] = "protect",
};

const char *cs_gate_rule_word(cs_gate_rule rule) {
    return (unsigned)rule < CS_GATE_RULES ? words[rule] : "unknown";
}

cs_gate_shown cs_gate_show(cs_view bytes) {
    cs_gate_shown shown = {.text = ""};
    cs_escape_short(bytes, shown.text, sizeof shown.text);
    return shown;
}

/* A name that has to be escaped would be the name of another file. */
void cs_gate_about(cs_gate_finding *out, cs_view path) {
    char shown[sizeof out->path];
    cs_escape_short(path, shown, sizeof shown);
    out->path[0] = '\0';
    if (path.len < sizeof shown && cs_view_is(path, shown)) memcpy(out->path, shown, sizeof shown);
}

/* A text that does not fit ends within no character. */
static void write_text(char *out, size_t size, const char *fmt, va_list args) CS_PRINTF(3, 0);

static void write_text(char *out, size_t size, const char *fmt, va_list args) {
    if (vsnprintf(out, size, fmt, args) < 0) out[0] = '\0';
    out[cs_utf8_cut(cs_view_of(out), size - 1).len] = '\0';
}

void cs_gate_pass(cs_gate_finding *out, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    write_text(out->observed, sizeof out->observed, fmt, args);
    va_end(args);
    out->code = CS_CODE_OK;
    out->state = CS_GATE_PASSED;
}

void cs_gate_refuse(cs_gate_finding *out, cs_code code, const char *fmt, ...) {
    out->state = CS_GATE_REFUSED;
    out->code = code;
    va_list args;
    va_start(args, fmt);
    write_text(out->observed, sizeof out->observed, fmt, args);
    va_end(args);
}

void cs_gate_leave(cs_gate_finding *out, const char *fmt, ...) {
    out->state = CS_GATE_UNDECIDED;
    out->code = CS_CODE_OK;
    va_list args;
    va_start(args, fmt);
    write_text(out->observed, sizeof out->observed, fmt, args);
    va_end(args);
}

void cs_gate_also(cs_gate_finding *out, const char *fmt, ...) {
    size_t len = strlen(out->observed);
    va_list args;
    va_start(args, fmt);
    write_text(out->observed + len, sizeof out->observed - len, fmt, args);
    va_end(args);
}

/* ---- what is wanted ------------------------------------------------------------------------------------ */

/* Begin with `word`, then the texts of the list. */
static void want_list(cs_gate_finding *out, const char *word, const cs_policy_list *list) {
    size_t len = (size_t)snprintf(out->wanted, sizeof out->wanted, "%s", word);
    for (size_t i = 0; i < list->count && len + 64 < sizeof out->wanted; i++) {
        cs_gate_shown item = cs_gate_show(list->items[i]);
        int more = snprintf(out->wanted + len, sizeof out->wanted - len, "%s%.56s", i == 0 ? " " : ", ", item.text);
        if (more > 0) len += (size_t)more;
        if (len >= sizeof out->wanted) len = sizeof out->wanted - 1;
    }
    out->wanted[cs_utf8_cut(cs_view_of(out->wanted), sizeof out->wanted - 1).len] = '\0';
}

static void want_number(cs_gate_finding *out, const char *before, uint64_t number, const char *after) {
    (void)snprintf(out->wanted, sizeof out->wanted, "%s %" PRIu64 " %s", before, number, after);
}

static void want_tests(const cs_policy_tests *tests, cs_gate_finding *out) {
    cs_gate_shown path = cs_gate_show(tests->artifact);
    (void)snprintf(out->wanted, sizeof out->wanted,
                   "test cases in the artifact %s: at least %" PRIu64 " executed, at most %" PRIu64
                   " skipped, at most %" PRIu64 " failed",
                   path.text, tests->min_executed, tests->max_skipped, tests->max_failed);
}

/* The patterns of the first bind, or of the first that has to be complete; of how many others there are, the number. */
static void want_bound(const cs_policy_requirement *requirement, const char *word, bool complete,
                       cs_gate_finding *out) {
    const cs_policy_bind *first = NULL;
    size_t others = 0;
    for (size_t i = 0; i < requirement->bind_count; i++) {
        if (complete && !requirement->binds[i].complete) continue;
        if (first == NULL)
            first = &requirement->binds[i];
        else
            others++;
    }
    cs_policy_list none = {.count = 0};
    want_list(out, word, first != NULL ? &first->paths : &none);
    size_t len = strlen(out->wanted);
    if (others > 0) (void)snprintf(out->wanted + len, sizeof out->wanted - len, ", and %zu more", others);
}

static void want_text(cs_gate_finding *out, const char *text) {
    (void)snprintf(out->wanted, sizeof out->wanted, "%s", text);
}

static void want_selected(const cs_policy_requirement *requirement, cs_gate_finding *out) {
    static const char *const kinds[] = {"any kind", "a script", "a project", "a module", "a cell"};
    cs_gate_shown step = cs_gate_show(requirement->step);
    bool any = requirement->step.ptr == NULL;
    (void)snprintf(out->wanted, sizeof out->wanted, "a run of %s%s%s", kinds[requirement->kind],
                   any ? "" : " with the one step ", any ? "" : step.text);
}

static void want_reproduced(const cs_policy_requirement *requirement, cs_gate_finding *out) {
    (void)snprintf(out->wanted, sizeof out->wanted,
                   "one work with the same result on at least %" PRIu64 " %s in at least %" PRIu64 " %s",
                   requirement->reproduced_providers,
                   cs_plural(requirement->reproduced_providers, "provider", "providers"), requirement->reproduced_runs,
                   cs_plural(requirement->reproduced_runs, "run", "runs"));
}

/* What is the same in every policy. */
static const char *const always_wanted[CS_GATE_RULES] = {
    [CS_GATE_WORK] = "every step ran, in order, and ended with exit code 0",
    [CS_GATE_TIME_OUT] = "no part of the run met its time limit",
    [CS_GATE_TRUNCATION] = "no output and no artifact was cut",
    [CS_GATE_TESTS_OF_BASE] = "as many executed tests as in a run of the base",
    [CS_GATE_SAME_RESULT] = "no work with different results",
    [CS_GATE_CROSS_CHECK] =
        "records of ledgers, which hold findings, and none of these that contradicts the tier of a daemon",
};

void cs_gate_want(const cs_policy_requirement *requirement, cs_gate_finding *out) {
    switch (out->rule) {
    case CS_GATE_SELECTED:
        want_selected(requirement, out);
        break;
    case CS_GATE_PROVIDER:
        want_list(out, "one of the providers", &requirement->allowed_providers);
        break;
    case CS_GATE_FLOOR:
        (void)snprintf(out->wanted, sizeof out->wanted, "at least %s", cs_tier_word(requirement->floor));
        break;
    case CS_GATE_SOFTWARE:
        want_list(out, "one of the software identities", &requirement->software);
        break;
    case CS_GATE_SANDBOX_POLICY:
        want_list(out, "one of the sandbox policies", &requirement->sandbox_policies);
        break;
    case CS_GATE_GRANTS:
        want_list(out, requirement->grant_profiles.count == 0 ? "no grant profile" : "no grant profile but",
                  &requirement->grant_profiles);
        break;
    case CS_GATE_AGE:
        want_number(out, "a run that ended at most", requirement->max_age_s,
                    cs_plural(requirement->max_age_s, "second ago", "seconds ago"));
        break;
    case CS_GATE_BIND:
        want_bound(requirement, "the commit's bytes in every file of the run that matches", false, out);
        break;
    case CS_GATE_COMPLETE:
        want_bound(requirement, "every file of the commit in the run that matches", true, out);
        break;
    case CS_GATE_TESTS:
        want_tests(&requirement->tests, out);
        break;
    case CS_GATE_COUNT:
        want_number(out, "at least", requirement->min_records,
                    cs_plural(requirement->min_records, "distinct record", "distinct records"));
        break;
    case CS_GATE_REPRODUCED:
        want_reproduced(requirement, out);
        break;
    default:
        if (always_wanted[out->rule] != NULL) want_text(out, always_wanted[out->rule]);
        break;
    }
}
