#include "harness/baseline_internal.h"

#include <stdlib.h>
#include <string.h>

#include "records/text.h"

#define SHOWN 60u /* bytes of a state's member in an error */

const char *cs_baseline_state_word(cs_baseline_state member) {
    static const char *const words[CS_STATE_MEMBERS] = {"daemon",       "provider",  "policy", "environment",
                                                        "daemon-start", "host-boot", "depth"};
    return (unsigned)member < CS_STATE_MEMBERS ? words[member] : "";
}

void cs_baseline_free(cs_baseline *baseline) {
    free(baseline->entries);
    memset(baseline, 0, sizeof *baseline);
}

void cs_baseline_list_free(cs_baseline_list *list) {
    for (size_t i = 0; i < list->count; i++)
        cs_baseline_free(&list->items[i]);
    free(list->items);
    *list = (cs_baseline_list){0};
}

int cs_baseline_state_order(const cs_baseline *a, const cs_baseline *b) {
    for (size_t i = 0; i < CS_STATE_MEMBERS; i++) {
        int order = strcmp(a->state[i], b->state[i]);
        if (order != 0) return order < 0 ? -1 : 1;
    }
    return 0;
}

bool cs_baseline_key_good(const char *key) {
    size_t len = strlen(key);
    return len > 0 && len < CS_BASELINE_KEY && strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789._-") == len;
}

/* ---- which one ---------------------------------------------------------------------------------------- */

static cs_baseline *of_state(const cs_baseline_list *list, const cs_baseline *now) {
    for (size_t i = 0; i < list->count; i++)
        if (cs_baseline_state_order(&list->items[i], now) == 0) return &list->items[i];
    return NULL;
}

static size_t members_apart(const cs_baseline *a, const cs_baseline *b) {
    size_t apart = 0;
    for (size_t i = 0; i < CS_STATE_MEMBERS; i++)
        apart += strcmp(a->state[i], b->state[i]) != 0;
    return apart;
}

static const cs_baseline *nearest(const cs_baseline_list *list, const cs_baseline *now) {
    const cs_baseline *best = NULL;
    for (size_t i = 0; i < list->count; i++)
        if (best == NULL || members_apart(&list->items[i], now) < members_apart(best, now)) best = &list->items[i];
    return best;
}

static cs_result other_state(const cs_baseline_list *list, const cs_baseline *now, cs_error *err) {
    const cs_baseline *other = nearest(list, now);
    if (other == NULL)
        return cs_fail(err, CS_CODE_BASELINE_STATE, "the file holds no baseline yet; nothing was compared");
    cs_result result = cs_fail(err, CS_CODE_BASELINE_STATE,
                               "no baseline of this state, so nothing was compared; the nearest was taken when");
    const char *between = " ";
    for (size_t i = 0; i < CS_STATE_MEMBERS; i++) {
        if (strcmp(other->state[i], now->state[i]) == 0) continue;
        char then[SHOWN], here[SHOWN];
        cs_escape_short(cs_view_of(other->state[i]), then, sizeof then);
        cs_escape_short(cs_view_of(now->state[i]), here, sizeof here);
        cs_error_also(err, "%s%s was '%s' (now '%s')", between, cs_baseline_state_word((cs_baseline_state)i), then,
                      here);
        between = ", ";
    }
    return result;
}

/* ---- compare ------------------------------------------------------------------------------------------- */

/* A value that stands where nothing could be found out this time, and was found out then. */
static bool only_looks_the_same(const cs_baseline *then, const cs_baseline *now, const cs_baseline_entry *entry) {
    return cs_baseline_is_unknown(now, entry->key, entry->value) &&
           !cs_baseline_is_unknown(then, entry->key, entry->value);
}

/* The next difference of two sorted lists, behind the places *a and *b. */
static bool next_difference(const cs_baseline *then, const cs_baseline *now, size_t *a, size_t *b,
                            cs_baseline_difference *out) {
    while (*a < then->count || *b < now->count) {
        const cs_baseline_entry *old = *a < then->count ? &then->entries[*a] : NULL;
        const cs_baseline_entry *new = *b < now->count ? &now->entries[*b] : NULL;
        int order = old == NULL ? 1 : new == NULL ? -1 : strcmp(old->key, new->key);
        *a += order <= 0;
        *b += order >= 0;
        if (order < 0)
            *out = (cs_baseline_difference){.change = CS_CHANGE_MISSING, .key = old->key, .then = old->value};
        else if (order > 0)
            *out = (cs_baseline_difference){.change = CS_CHANGE_NEW, .key = new->key, .now = new->value};
        else if (strcmp(old->value, new->value) != 0 || only_looks_the_same(then, now, new))
            *out = (cs_baseline_difference){
                .change = CS_CHANGE_VALUE, .key = old->key, .then = old->value, .now = new->value};
        else
            continue;
        if (old != NULL && cs_baseline_is_unknown(now, old->key, out->now)) out->change = CS_CHANGE_UNKNOWN;
        return true;
    }
    return false;
}

/* Gives an array; NULL without memory. */
static cs_baseline_difference *differences_of(const cs_baseline *then, const cs_baseline *now, size_t *count) {
    cs_baseline_difference *all = calloc(then->count + now->count + 1, sizeof *all);
    size_t a = 0, b = 0;
    *count = 0;
    while (all != NULL && next_difference(then, now, &a, &b, &all[*count]))
        (*count)++;
    return all;
}

static cs_result fail_memory(cs_error *err) {
    return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a baseline");
}

/* With at least one difference. */
static cs_result judge(const cs_baseline_difference *all, size_t count, size_t keys, cs_error *err) {
    const cs_baseline_difference *first = NULL;
    size_t unknown = 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i].change == CS_CHANGE_UNKNOWN)
            unknown++;
        else if (first == NULL)
            first = &all[i];
    }
    if (first == NULL)
        return cs_fail(err, CS_CODE_BASELINE_UNKNOWN,
                       "%zu of %zu keys of the baseline could not be found out this time: %s%s; check again", count,
                       keys, all[0].key, count > 1 ? " and others" : "");
    size_t real = count - unknown;
    cs_result result = cs_fail(err, CS_CODE_BASELINE_DIFFERS, "%zu of %zu keys %s as in the baseline: %s%s", real, keys,
                               real == 1 ? "is not" : "are not", first->key, real > 1 ? " and others" : "");
    if (unknown > 0) cs_error_also(err, "; %zu could not be found out", unknown);
    return result;
}

cs_result cs_baseline_compare(const cs_baseline_file *file, const cs_baseline *now,
                              cs_baseline_difference **differences, size_t *count, cs_error *err) {
    *differences = NULL;
    *count = 0;
    const cs_baseline *then = of_state(&file->list, now);
    if (then == NULL) {
        cs_result result = other_state(&file->list, now, err);
        cs_error_where(err, "%s", file->path);
        return result;
    }
    cs_baseline_difference *all = differences_of(then, now, count);
    if (all == NULL) return fail_memory(err);
    if (*count == 0) {
        free(all);
        if (cs_baseline_observed(now)) return CS_OK;
        return cs_fail(err, CS_CODE_BASELINE_UNKNOWN,
                       "nothing could be observed of the daemon beyond what it states, then or now, so nothing else is "
                       "compared");
    }
    *differences = all;
    cs_result result = judge(all, *count, then->count > now->count ? then->count : now->count, err);
    cs_error_where(err, "%s", file->path);
    return result;
}

/* ---- change ---------------------------------------------------------------------------------------------- */

static bool copy_of(const cs_baseline *from, size_t room, cs_baseline *out) {
    memcpy(out->state, from->state, sizeof out->state);
    out->entries = calloc(room > 0 ? room : 1, sizeof *out->entries);
    out->count = 0;
    if (out->entries == NULL) return false;
    if (from->count > 0) memcpy(out->entries, from->entries, from->count * sizeof *out->entries);
    out->count = from->count;
    return true;
}

/* Write what the file is to be, and only then believe that it is. Takes the list. */
static cs_result become(cs_baseline_file *file, cs_baseline_list *list, cs_error *err) {
    cs_buf text = CS_BUF_INIT(CS_BASELINE_MAX_BYTES);
    cs_result result = CS_UNCHECKED;
    if (cs_baseline_write(list, &text))
        result = cs_baseline_publish(file, &text, err);
    else
        result = cs_fail(err, CS_CODE_USAGE, "the file would be longer than %u bytes; begin another one",
                         CS_BASELINE_MAX_BYTES);
    cs_buf_free(&text);
    if (result == CS_OK) {
        cs_baseline_list old = file->list;
        file->list = *list;
        *list = old;
    }
    cs_baseline_list_free(list);
    if (result != CS_OK) cs_error_where(err, "%s", file->path);
    return result;
}

/* A copy of the file's list with `now` put in its place. */
static bool list_with(const cs_baseline_list *from, const cs_baseline *now, cs_baseline_list *out) {
    out->items = calloc(from->count + 1, sizeof *out->items);
    if (out->items == NULL) return false;
    bool placed = false;
    for (size_t i = 0; i < from->count || !placed; out->count++) {
        bool here = !placed && (i == from->count || cs_baseline_state_order(now, &from->items[i]) < 0);
        const cs_baseline *next = here ? now : &from->items[i];
        if (!copy_of(next, next->count, &out->items[out->count])) return false;
        placed = placed || here;
        i += !here;
    }
    return true;
}

cs_result cs_baseline_add(cs_baseline_file *file, const cs_baseline *now, cs_error *err) {
    cs_result result = CS_UNCHECKED;
    if (!cs_baseline_observed(now))
        return cs_fail(err, CS_CODE_BASELINE_UNKNOWN,
                       "nothing could be observed of the daemon beyond what it states, so a baseline would compare "
                       "nothing else; nothing was saved");
    if (of_state(&file->list, now) != NULL)
        result = cs_fail(err, CS_CODE_USAGE,
                         "the file holds a baseline of this very state; compare with --against, and replace what is "
                         "meant to differ by its name with --replace");
    else if (file->list.count >= CS_BASELINE_MAX_STATES)
        result = cs_fail(err, CS_CODE_USAGE, "the file holds baselines of %u states, as many as it may; begin another",
                         CS_BASELINE_MAX_STATES);
    if (result == CS_USAGE) {
        cs_error_where(err, "%s", file->path);
        return result;
    }
    cs_baseline_list list = {0};
    if (list_with(&file->list, now, &list)) return become(file, &list, err);
    cs_baseline_list_free(&list);
    return fail_memory(err);
}

static bool named(const char *key, const char *const *keys, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(keys[i], key) == 0) return true;
    return false;
}

/* Each key differs, and is named once. */
static cs_result check_keys(const cs_baseline_difference *all, size_t differences, const char *const *keys,
                            size_t count, cs_error *err) {
    if (count == 0) return cs_fail(err, CS_CODE_USAGE, "name the keys to replace");
    for (size_t i = 0; i < count; i++) {
        bool differs = false;
        for (size_t at = 0; at < differences && !differs; at++)
            differs = strcmp(all[at].key, keys[i]) == 0;
        char shown[CS_BASELINE_KEY];
        cs_escape_short(cs_view_of(keys[i]), shown, sizeof shown);
        if (!differs)
            return cs_fail(err, CS_CODE_USAGE, "'%s' does not differ from the baseline; nothing was replaced", shown);
        if (named(keys[i], keys, i))
            return cs_fail(err, CS_CODE_USAGE, "'%s' is named twice; nothing was replaced", shown);
    }
    return CS_OK;
}

/* Walks old and new side by side: of a named key the new one is taken, of any other the old one. */
static void merge(const cs_baseline *then, const cs_baseline *now, const char *const *keys, size_t count,
                  cs_baseline *out) {
    size_t a = 0, b = 0;
    out->count = 0;
    while (a < then->count || b < now->count) {
        const cs_baseline_entry *old = a < then->count ? &then->entries[a] : NULL;
        const cs_baseline_entry *new = b < now->count ? &now->entries[b] : NULL;
        int order = old == NULL ? 1 : new == NULL ? -1 : strcmp(old->key, new->key);
        const cs_baseline_entry *from = named(order <= 0 ? old->key : new->key, keys, count) ? (order >= 0 ? new : NULL)
                                        : order <= 0 ? old
                                                     : NULL;
        if (from != NULL) out->entries[out->count++] = *from;
        a += order <= 0;
        b += order >= 0;
    }
}

static cs_result replace_in(cs_baseline_file *file, const cs_baseline *then, const cs_baseline *now,
                            const char *const *keys, size_t count, cs_error *err) {
    cs_baseline_list list = {.items = calloc(file->list.count, sizeof *list.items)};
    bool good = list.items != NULL;
    for (size_t i = 0; good && i < file->list.count; i++) {
        const cs_baseline *from = &file->list.items[i];
        good = copy_of(from, from->count + (from == then ? now->count : 0), &list.items[i]);
        list.count++;
        if (good && from == then) merge(then, now, keys, count, &list.items[i]);
        if (good && list.items[i].count > CS_BASELINE_MAX_KEYS) {
            cs_baseline_list_free(&list);
            return cs_fail(err, CS_CODE_USAGE, "the baseline would have more than %u keys", CS_BASELINE_MAX_KEYS);
        }
    }
    if (good) return become(file, &list, err);
    cs_baseline_list_free(&list);
    return fail_memory(err);
}

cs_result cs_baseline_replace(cs_baseline_file *file, const cs_baseline *now, const char *const *keys, size_t count,
                              cs_error *err) {
    const cs_baseline *then = of_state(&file->list, now);
    if (then == NULL) {
        cs_result result = other_state(&file->list, now, err);
        cs_error_where(err, "%s", file->path);
        return result;
    }
    size_t differences = 0;
    cs_baseline_difference *all = differences_of(then, now, &differences);
    if (all == NULL) return fail_memory(err);
    cs_result result = check_keys(all, differences, keys, count, err);
    free(all);
    if (result != CS_OK) {
        cs_error_where(err, "%s", file->path);
        return result;
    }
    return replace_in(file, then, now, keys, count, err);
}
