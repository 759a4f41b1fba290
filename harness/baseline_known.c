/* Which keys of a baseline could not be found out, and whether anything was observed at all. */
#include <string.h>

#include "harness/baseline_internal.h"

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with) {
    size_t len = strlen(with), all = strlen(text);
    return all >= len && strcmp(text + all - len, with) == 0;
}

static const char *value_of(const cs_baseline *baseline, const char *key) {
    for (size_t i = 0; i < baseline->count; i++)
        if (strcmp(baseline->entries[i].key, key) == 0) return baseline->entries[i].value;
    return "";
}

/* Of a probe that could not be read nothing else is known. */
static bool is_of_unread(const cs_baseline *baseline, const char *key) {
    static const struct {
        const char *keys, *read;
    } of[] = {{"probe.script.", "probe.script.read"},
              {"probe.program.", "probe.program.read"},
              {"probe.emulated", "probe.program.read"}};
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        if (begins(key, of[i].keys) && strcmp(value_of(baseline, of[i].read), "no") == 0) return true;
    return false;
}

bool cs_baseline_is_unknown(const cs_baseline *baseline, const char *key, const char *value) {
    if (is_of_unread(baseline, key)) return true;
    if (value == NULL) return false;
    if (begins(key, "rule.")) return strcmp(value, "silent") == 0;
    if (begins(key, "guard.") && !ends(key, ".configured")) return strcmp(value, CS_BASELINE_UNKNOWN) == 0;
    if (!begins(key, "probe.") && !begins(key, "host.")) return false;
    return strcmp(value, CS_BASELINE_UNKNOWN) == 0 && !ends(key, ".release") && !ends(key, ".version") &&
           !ends(key, ".hypervisor");
}

/* Also the name of a kernel that said none. To be without one again is no comparison, but to lose it is a change: so
 * this is no part of the question above. */
static bool is_blank(const cs_baseline *baseline, const cs_baseline_entry *entry) {
    if (cs_baseline_is_unknown(baseline, entry->key, entry->value)) return true;
    return begins(entry->key, "probe.") && entry->value[0] == '\0' &&
           (ends(entry->key, ".release") || ends(entry->key, ".version"));
}

static bool is_among(const char *key, const cs_baseline_difference *differences, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(differences[i].key, key) == 0) return true;
    return false;
}

size_t cs_baseline_unknown_keys(const cs_baseline *now, const cs_baseline_difference *differences, size_t count,
                                const char *keys[CS_BASELINE_MAX_KEYS]) {
    size_t found = 0;
    for (size_t i = 0; i < now->count && found < CS_BASELINE_MAX_KEYS; i++)
        if (is_blank(now, &now->entries[i]) && !is_among(now->entries[i].key, differences, count))
            keys[found++] = now->entries[i].key;
    return found;
}

/* ---- anything at all ------------------------------------------------------------------------------------ */

/* Does a rule of this verdict tell of more than statements? That an answer was made from this run's nonce says who
 * answered, and nothing of what was seen. */
static bool rule_observed(const char *name, const char *verdict) {
    if (strcmp(verdict, "not-asked") == 0 || strcmp(name, "probe-nonce") == 0) return false;
    for (size_t i = 0; i < cs_tier_rule_count; i++)
        if (strcmp(cs_tier_rules[i].name, name) == 0) return cs_tier_rules[i].depth > CS_DEPTH_STATEMENTS;
    return false;
}

/* A value that is there whether or not anything was seen is none: a "no" of the host's view, a canary that was not
 * read, a hypervisor without a name. */
static bool is_observed(const cs_baseline *now, const cs_baseline_entry *entry) {
    const char *key = entry->key, *value = entry->value;
    if (is_blank(now, entry)) return false;
    if (begins(key, "rule.")) return rule_observed(key + strlen("rule."), value);
    if (begins(key, "guard.")) return !ends(key, ".configured");
    if (strcmp(key, "host.place") == 0) return strcmp(value, "here") == 0;
    if (begins(key, "host."))
        return strcmp(value, "no") != 0 && !ends(key, ".watched") && strcmp(key, "host.complete") != 0;
    if (!begins(key, "probe.") || ends(key, ".read") || value[0] == '\0') return false;
    return strcmp(value, "not read") != 0 && strcmp(key, "probe.emulated") != 0;
}

bool cs_baseline_observed(const cs_baseline *now) {
    const char *depth = now->state[CS_STATE_DEPTH];
    if (!begins(depth, "probe") && !begins(depth, "host")) return true; /* no more was asked for */
    for (size_t i = 0; i < now->count; i++)
        if (is_observed(now, &now->entries[i])) return true;
    return false;
}
