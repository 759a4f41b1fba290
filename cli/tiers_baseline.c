#include "cli/tiers_baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/text.h"

#define SHOWN_VALUE 200
#define SHOWN_KEYS 6 /* of those that could not be found out; the document has all */

size_t cs_tiers_baseline_options_add(cs_option *options, size_t count, cs_tiers_baseline *baseline) {
    options[count++] = (cs_option){"save",
                                   0,
                                   CS_OPTION_TEXT,
                                   &baseline->save,
                                   "FILE",
                                   "add what was stated and observed to this file, as the baseline of this state",
                                   0,
                                   0,
                                   NULL};
    options[count++] = (cs_option){"against",
                                   0,
                                   CS_OPTION_TEXT,
                                   &baseline->against,
                                   "FILE",
                                   "compare with the baseline of this state in this file",
                                   0,
                                   0,
                                   NULL};
    options[count++] = (cs_option){"replace",
                                   0,
                                   CS_OPTION_LIST,
                                   &baseline->replace,
                                   "NAME",
                                   "with --against: first set this key of the baseline to what is now (repeatable)",
                                   0,
                                   0,
                                   NULL};
    return count;
}

bool cs_tiers_baseline_asked(const cs_tiers_baseline *baseline) {
    return baseline->save != NULL || baseline->against != NULL || baseline->replace.count > 0;
}

cs_result cs_tiers_baseline_line(const cs_tiers_baseline *baseline, cs_error *err) {
    if (baseline->save != NULL && baseline->against != NULL)
        return cs_fail(err, CS_CODE_USAGE, "--save makes a baseline, --against compares with one: give one of them");
    if (baseline->replace.count > 0 && baseline->against == NULL)
        return cs_fail(err, CS_CODE_USAGE, "--replace goes with --against FILE");
    return CS_OK;
}

static const char *path_of(const cs_tiers_baseline *baseline) {
    return baseline->save != NULL ? baseline->save : baseline->against;
}

cs_result cs_tiers_baseline_open(cs_tiers_baseline *baseline, cs_error *err) {
    if (path_of(baseline) == NULL) return CS_OK;
    return cs_baseline_open(path_of(baseline), baseline->save != NULL, &baseline->file, err);
}

void cs_tiers_baseline_close(cs_tiers_baseline *baseline) {
    cs_baseline_close(baseline->file);
    baseline->file = NULL;
}

/* ---- what came of it ----------------------------------------------------------------------------------- */

/* Of one check. */
typedef struct comparison {
    const char *result; /* a word of the documents */
    bool taken;         /* `now` holds */
    cs_baseline now;
    cs_baseline_difference *differences;
    size_t count;
    bool replaced;
    const char *unknown[CS_BASELINE_MAX_KEYS]; /* keys that compare nothing; they borrow from `now` */
    size_t unknown_count;
} comparison;

static const char *change_word(cs_baseline_change change) {
    static const char *const words[] = {"value", "missing", "new", "unknown"};
    return words[change];
}

static const char *shown(const char *value, char *out, size_t size) {
    if (value == NULL) return "(no such key)";
    cs_escape_short(cs_view_of(value), out + 1, size - 2);
    out[0] = '\'';
    size_t len = strlen(out);
    out[len] = '\'';
    out[len + 1] = '\0';
    return out;
}

static bool is(const comparison *c, const char *result) {
    return strcmp(c->result, result) == 0;
}

/* How many keys the result is about; what could not be found out is no part of it. */
static void extent(const comparison *c, char *text, size_t size) {
    size_t keys = c->now.count, unknown = c->unknown_count;
    text[0] = '\0';
    if (unknown == 0 && is(c, "saved"))
        (void)snprintf(text, size, ": %zu keys", keys);
    else if (unknown == 0 && is(c, "same"))
        (void)snprintf(text, size, ": all %zu keys", keys);
    else if (is(c, "saved"))
        (void)snprintf(text, size, ": %zu keys, of which %zu could not be found out and will compare nothing", keys,
                       unknown);
    else if (is(c, "same"))
        (void)snprintf(text, size, ": %zu of %zu keys; %zu could not be found out either time, and compared nothing",
                       keys - unknown, keys, unknown);
    else if (unknown > 0 && (is(c, "differs") || is(c, "unknown")))
        (void)snprintf(text, size,
                       ": besides, %zu of %zu keys could not be found out either time, and compared nothing", unknown,
                       keys);
}

static void say_unknown(const cs_output *out, const comparison *c) {
    if (is(c, "none") || is(c, "other-state")) return; /* there they are not what it is about */
    for (size_t i = 0; i < c->unknown_count && i < SHOWN_KEYS; i++)
        cs_say(out, "  not known  %s\n", c->unknown[i]);
    if (c->unknown_count > SHOWN_KEYS)
        cs_say(out, "             and %zu more: --json names all\n", c->unknown_count - SHOWN_KEYS);
}

static void say(const cs_output *out, const cs_tiers_baseline *baseline, const comparison *c) {
    char file[SHOWN_VALUE], then[SHOWN_VALUE], now[SHOWN_VALUE], keys[SHOWN_VALUE];
    cs_escape_short(cs_view_of(path_of(baseline)), file, sizeof file);
    extent(c, keys, sizeof keys);
    cs_say(out, "\nbaseline:    %s: %s%s\n", file, c->result, keys);
    if (c->taken && strcmp(c->now.state[CS_STATE_DAEMON_START], "unknown") == 0)
        cs_say(out, "             the daemon's start is not known: after another start the state would be the same\n");
    if (c->replaced)
        for (size_t i = 0; i < baseline->replace.count; i++)
            cs_say(out, "  replaced   %s\n", baseline->replace.items[i]);
    for (size_t i = 0; i < c->count; i++) {
        const cs_baseline_difference *d = &c->differences[i];
        cs_say(out, "  %-10s %s: then %s, now %s\n", change_word(d->change), d->key, shown(d->then, then, sizeof then),
               shown(d->now, now, sizeof now));
    }
    say_unknown(out, c);
}

static json_t *text_or_null(const char *text) {
    return text != NULL ? json_string(text) : json_null();
}

static json_t *json_of_state(const comparison *c) {
    json_t *state = c->taken ? json_object() : json_null();
    for (size_t i = 0; c->taken && state != NULL && i < CS_STATE_MEMBERS; i++) {
        const char *word = cs_baseline_state_word((cs_baseline_state)i);
        if (json_object_set_new(state, word, json_string(c->now.state[i])) == 0) continue;
        json_decref(state);
        return NULL;
    }
    return state;
}

static json_t *json_of_differences(const comparison *c) {
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < c->count; i++) {
        const cs_baseline_difference *d = &c->differences[i];
        json_t *one = json_pack("{s:s, s:s, s:o, s:o}", "key", d->key, "change", change_word(d->change), "then",
                                text_or_null(d->then), "now", text_or_null(d->now));
        if (one != NULL && json_array_append_new(list, one) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *json_of_replaced(const cs_tiers_baseline *baseline, const comparison *c) {
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && c->replaced && i < baseline->replace.count; i++) {
        if (json_array_append_new(list, json_string(baseline->replace.items[i])) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *json_of_unknown(const comparison *c) {
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < c->unknown_count; i++) {
        if (json_array_append_new(list, json_string(c->unknown[i])) == 0) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

static void tell(cs_output *out, const cs_tiers_baseline *baseline, const comparison *c) {
    say(out, baseline, c);
    if (!out->json) return;
    cs_member(out, "baseline",
              json_pack("{s:o, s:o, s:s, s:I, s:I, s:o, s:o, s:o}", "file",
                        cs_json_of_text(cs_view_of(path_of(baseline))), "state", json_of_state(c), "result", c->result,
                        "keys", (json_int_t)c->now.count, "unknown", (json_int_t)c->unknown_count, "unknown_keys",
                        json_of_unknown(c), "replaced", json_of_replaced(baseline, c), "differences",
                        json_of_differences(c)));
}

/* ---- save, replace, compare ------------------------------------------------------------------------------ */

static const char *word_of(const cs_tiers_baseline *baseline, cs_result result, const cs_error *err) {
    if (result == CS_OK) return baseline->save != NULL ? "saved" : "same";
    if (err->code == CS_CODE_BASELINE_DIFFERS) return "differs";
    if (err->code == CS_CODE_BASELINE_UNKNOWN) return baseline->save != NULL ? "none" : "unknown";
    return err->code == CS_CODE_BASELINE_STATE ? "other-state" : "none";
}

static cs_result save_or_compare(cs_tiers_baseline *baseline, comparison *c, cs_error *err) {
    if (baseline->save != NULL) return cs_baseline_add(baseline->file, &c->now, err);
    if (baseline->replace.count > 0) {
        cs_result result =
            cs_baseline_replace(baseline->file, &c->now, baseline->replace.items, baseline->replace.count, err);
        if (result != CS_OK) return result;
        c->replaced = true;
    }
    return cs_baseline_compare(baseline->file, &c->now, &c->differences, &c->count, err);
}

/* The sentence of a good end. */
static void pass(const cs_tiers_baseline *baseline, const comparison *c, cs_error *err) {
    char keys[SHOWN_VALUE];
    extent(c, keys, sizeof keys);
    snprintf(err->message, sizeof err->message, "no rule contradicts the claim, which is no proof of it; %s%s",
             baseline->save != NULL ? "the baseline is saved"
             : c->replaced          ? "with what was replaced, what is known is as in the baseline"
                                    : "what is known is as in the baseline",
             keys);
}

cs_result cs_tiers_baseline_end(cs_tiers_baseline *baseline, cs_output *out, cs_result checked, const char *url,
                                cs_tier_depth depth, const cs_tiers_report *tiers, const cs_guards_report *guards) {
    if (path_of(baseline) == NULL) return checked;
    comparison c = {.result = "none"};
    cs_result result = checked;
    if (checked != CS_OK) {
        cs_error_also(&out->err, "; a daemon that did not pass gives no baseline: nothing was %s",
                      baseline->save != NULL        ? "saved"
                      : baseline->replace.count > 0 ? "replaced"
                                                    : "compared");
    } else {
        result = cs_baseline_take(url, depth, tiers, guards, &c.now, &out->err);
        c.taken = result == CS_OK;
        if (c.taken) result = save_or_compare(baseline, &c, &out->err);
        if (c.taken) c.result = word_of(baseline, result, &out->err);
        c.unknown_count = cs_baseline_unknown_keys(&c.now, c.differences, c.count, c.unknown);
        if (result == CS_OK) pass(baseline, &c, &out->err);
    }
    tell(out, baseline, &c);
    free(c.differences);
    cs_baseline_free(&c.now);
    return result;
}
