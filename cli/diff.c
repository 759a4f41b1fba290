#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/diff_detail.h"
#include "cli/trust.h"
#include "records/text.h"
#include "replay/trajectory.h"

#define MAX_DIFFERENCES 1000u

/* The command while it compares. */
typedef struct comparing {
    cs_output *out;
    const cs_trust *trust; /* NULL: decode only */
    cs_side a;
    cs_side b;
    cs_sameness same;
    bool wanted[CS_DIFF_PARTS];
    uint64_t counts[CS_DIFF_PARTS];
    uint64_t total;                            /* of the parts that are wanted */
    char firsts[CS_DIFF_PARTS][CS_FIELD_PATH]; /* the first field of each part that differs */
    json_t *list;
    size_t told;
    size_t lines_left;
    bool lost; /* no memory for a difference */
} comparing;

/* ---- the walk, twice: counted first, since the summary stands before the list ------------------- */

static void count_difference(void *user, cs_diff_part part, const cs_field_pair *pair) {
    comparing *c = user;
    if (c->counts[part]++ == 0) snprintf(c->firsts[part], sizeof c->firsts[part], "%s", pair->path);
    c->total++;
}

static void tell_difference(void *user, cs_diff_part part, const cs_field_pair *pair) {
    comparing *c = user;
    if (c->lost || c->told == MAX_DIFFERENCES) return;
    c->told++;
    cs_diff_detail detail;
    c->lost = !cs_diff_detail_make(pair, &c->lines_left, &detail);
    if (!c->lost && c->out->json)
        c->lost = json_array_append_new(c->list, cs_json_of_diff_detail(part, &detail)) != 0;
    else if (!c->lost)
        cs_diff_detail_say(c->out, part, &detail);
    cs_diff_detail_free(&detail);
}

/* ---- the two sides ---------------------------------------------------------------------------- */

static void say_side(const comparing *c, const char *name, const cs_side *side) {
    char path[160];
    char provider[64] = "no provider";
    char tier[32] = "no tier";
    const cs_run_record *record = cs_shown_record(&side->shown);
    cs_escape_short(cs_view_of(side->path), path, sizeof path);
    if (record != NULL) cs_escape_short(cs_bytes_view(&record->provider), provider, sizeof provider);
    if (record != NULL) cs_escape_short(cs_bytes_view(&record->isolation), tier, sizeof tier);
    cs_say(c->out, "%s: %s entry %" PRIu64 ", %s, %s, %s; verification: %s\n", name, path, side->number,
           cs_shown_kind(&side->shown), provider, tier, cs_shown_verification(&side->shown));
}

static void say_sameness(const comparing *c) {
    if (c->same == CS_SAME_ENTRY) cs_say(c->out, "a and b are the same entry: it is compared with itself\n");
    if (c->same == CS_SAME_RECORD) cs_say(c->out, "a and b are the same record twice: one run, kept in two entries\n");
}

static json_t *json_of_sameness(const comparing *c) {
    if (c->same == CS_SAME_NOT) return json_null();
    return json_string(c->same == CS_SAME_ENTRY ? "entry" : "record");
}

static json_t *json_of_side(const cs_side *side) {
    const cs_run_record *record = cs_shown_record(&side->shown);
    json_t *object = json_pack("{s:o, s:I, s:s, s:s}", "input", cs_json_of_text(cs_view_of(side->path)), "entry",
                               (json_int_t)side->number, "kind", cs_shown_kind(&side->shown), "verification",
                               cs_shown_verification(&side->shown));
    bool good = object != NULL;
    if (good && record != NULL)
        good = json_object_set_new(object, "provider", cs_json_of_text(cs_bytes_view(&record->provider))) == 0 &&
               json_object_set_new(object, "tier", cs_json_of_text(cs_bytes_view(&record->isolation))) == 0;
    if (good && side->shown.result != CS_OK)
        good = json_object_set_new(object, "error", cs_json_of_error(&side->shown.err)) == 0;
    if (good) return object;
    json_decref(object);
    return NULL;
}

/* ---- what came of it -------------------------------------------------------------------------- */

static void say_parts(const comparing *c) {
    for (int part = 0; part < CS_DIFF_PARTS; part++) {
        const char *word = cs_diff_part_word((cs_diff_part)part);
        if (!c->wanted[part])
            cs_say(c->out, "%s: not asked for\n", word);
        else if (!cs_diff_has_part(&c->a, &c->b, (cs_diff_part)part))
            cs_say(c->out, "%s: neither has one\n", word);
        else if (c->counts[part] == 0)
            cs_say(c->out, "%s: the same\n", word);
        else
            cs_say(c->out, "%s: %" PRIu64 " %s\n", word, c->counts[part],
                   cs_plural(c->counts[part], "difference", "differences"));
    }
}

/* The number of differences of each part that was compared; null for the others. */
static json_t *json_of_parts(const comparing *c) {
    json_t *object = json_object();
    for (int part = 0; object != NULL && part < CS_DIFF_PARTS; part++) {
        bool compared = c->wanted[part] && cs_diff_has_part(&c->a, &c->b, (cs_diff_part)part);
        json_t *count = compared ? json_integer((json_int_t)c->counts[part]) : json_null();
        if (json_object_set_new(object, cs_diff_part_word((cs_diff_part)part), count) == 0) continue;
        json_decref(object);
        return NULL;
    }
    return object;
}

/* Two values that are written alike, as numbers that are none may be, with their bits. */
typedef struct value_pair {
    char a[64];
    char b[64];
} value_pair;

static void format_value(double value, bool bits, char out[64]) {
    uint64_t of = 0;
    memcpy(&of, &value, sizeof of);
    if (bits)
        snprintf(out, 64, "%.17g (bits %016" PRIx64 ")", value, of);
    else
        snprintf(out, 64, "%.17g", value);
}

static value_pair format_values(const cs_trajectory *t) {
    value_pair out = {.a = ""};
    format_value(t->a, false, out.a);
    format_value(t->b, false, out.b);
    if (strcmp(out.a, out.b) != 0) return out;
    format_value(t->a, true, out.a);
    format_value(t->b, true, out.b);
    return out;
}

static json_t *json_of_trajectory(const cs_trajectory *t) {
    if (!t->differs)
        return json_pack("{s:b, s:I, s:I}", "differs", 0, "ticks_a", (json_int_t)t->ticks_a, "ticks_b",
                         (json_int_t)t->ticks_b);
    value_pair shown = format_values(t);
    json_t *object = json_pack("{s:b, s:I, s:I, s:I}", "differs", 1, "ticks_a", (json_int_t)t->ticks_a, "ticks_b",
                               (json_int_t)t->ticks_b, "tick", (json_int_t)t->tick);
    if (object == NULL || t->variable == NULL) return object;
    json_t *values = json_pack("{s:s, s:s, s:s}", "variable", t->variable, "a", shown.a, "b", shown.b);
    bool good = values != NULL && json_object_update(object, values) == 0;
    json_decref(values);
    if (good) return object;
    json_decref(object);
    return NULL;
}

static void say_values(const comparing *c, const cs_trajectory *t, double seconds) {
    value_pair shown = format_values(t);
    cs_say(c->out, "cart-pole: differs first in tick %" PRIu64 " (%.2f s): %s\n    a: %s\n    b: %s\n", t->tick,
           seconds, t->variable, shown.a, shown.b);
}

static void tell_trajectory(const comparing *c) {
    cs_trajectory t;
    const cs_run_response *a = c->a.shown.response;
    const cs_run_response *b = c->b.shown.response;
    if (!c->wanted[CS_DIFF_RESULT] || a == NULL || b == NULL || !cs_compare_trajectories(a, b, &t)) return;
    if (c->out->json) cs_member(c->out, "trajectory", json_of_trajectory(&t));
    double seconds = (double)t.tick / CS_TRAJECTORY_TICKS_PER_SECOND;
    if (!t.differs)
        cs_say(c->out, "cart-pole: the same trajectory, %" PRIu64 " %s\n", t.ticks_a,
               cs_plural(t.ticks_a, "tick", "ticks"));
    else if (t.variable == NULL)
        cs_say(c->out,
               "cart-pole: the same up to tick %" PRIu64 " (%.2f s), where one ends; %" PRIu64 " and %" PRIu64
               " ticks\n",
               t.tick, seconds, t.ticks_a, t.ticks_b);
    else
        say_values(c, &t, seconds);
}

/* Part by part: a response's fields come in the order of their numbers, of which some are the result's. */
static cs_result tell_part(comparing *c, cs_diff_part part) {
    bool wanted[CS_DIFF_PARTS] = {false};
    if (c->counts[part] == 0) return CS_OK;
    wanted[part] = true;
    return cs_diff_walk(&c->a, &c->b, wanted, tell_difference, c, &c->out->err);
}

static json_t *json_of_first(const comparing *c) {
    for (int part = 0; part < CS_DIFF_PARTS; part++)
        if (c->counts[part] > 0)
            return json_pack("{s:s, s:o}", "part", cs_diff_part_word((cs_diff_part)part), "field",
                             cs_json_of_text(cs_view_of(c->firsts[part])));
    return json_null();
}

static cs_result tell(comparing *c) {
    cs_output *out = c->out;
    c->lines_left = CS_DIFF_TOTAL_LINES;
    c->list = out->json ? json_array() : NULL;
    if (c->trust == NULL) cs_say(out, "signature not checked here: name the public key that you trust with -p\n");
    say_side(c, "a", &c->a);
    say_side(c, "b", &c->b);
    say_sameness(c);
    say_parts(c);
    tell_trajectory(c);
    cs_result result = CS_OK;
    for (int part = 0; result == CS_OK && part < CS_DIFF_PARTS; part++)
        result = tell_part(c, (cs_diff_part)part);
    uint64_t left_out = c->total - c->told;
    if (left_out > 0)
        cs_say(out, "(%" PRIu64 " more %s left out)\n", left_out,
               cs_plural(left_out, "difference is", "differences are"));
    if (out->json) {
        if (c->trust == NULL) cs_member_text(out, "note", "signature not checked here");
        cs_member(out, "a", json_of_side(&c->a));
        cs_member(out, "b", json_of_side(&c->b));
        cs_member(out, "same", json_of_sameness(c));
        cs_member(out, "parts", json_of_parts(c));
        cs_member(out, "first", json_of_first(c));
        cs_member(out, "differences", c->list);
        cs_member_number(out, "differences_left_out", left_out);
    }
    if (result == CS_OK && c->lost)
        result = cs_fail(&out->err, CS_CODE_NO_MEMORY, "there is no memory to tell what differs");
    return result;
}

static bool is_nothing(const comparing *c) {
    for (int part = 0; part < CS_DIFF_PARTS; part++)
        if (c->wanted[part] && cs_diff_has_part(&c->a, &c->b, (cs_diff_part)part)) return false;
    return true;
}

/* An entry that can't be decoded, or fails its verification, decides before what differs. */
static cs_result judge_side(comparing *c, const cs_side *side) {
    if (side->shown.result == CS_OK) return CS_OK;
    c->out->err = side->shown.err;
    cs_error_where(&c->out->err, "entry %" PRIu64, side->number);
    cs_error_in_file(&c->out->err, side->path);
    return side->shown.result;
}

static cs_result differ(comparing *c) {
    int part = 0;
    while (c->counts[part] == 0)
        part++;
    cs_result result = cs_fail(&c->out->err, CS_CODE_ENTRIES_DIFFER, "the two entries differ in %" PRIu64 " %s",
                               c->total, cs_plural(c->total, "place", "places"));
    cs_error_where(&c->out->err, "%s: %s", cs_diff_part_word((cs_diff_part)part), c->firsts[part]);
    return result;
}

static cs_result conclude(comparing *c) {
    cs_error *err = &c->out->err;
    cs_result result = judge_side(c, &c->a);
    if (result == CS_OK) result = judge_side(c, &c->b);
    if (result != CS_OK) return result;
    if (c->total > 0) return differ(c);
    static const char *const words[] = {
        [CS_SAME_NOT] = "the two entries are the same in all that was compared",
        [CS_SAME_RECORD] = "a and b are the same record twice, and the same in all that was compared",
        [CS_SAME_ENTRY] = "a and b are the same entry, so that nothing can differ",
    };
    snprintf(err->message, sizeof err->message, "%s%s", words[c->same],
             c->trust == NULL ? "; signature not checked here" : "");
    return CS_OK;
}

static cs_result compare(comparing *c, const char *a, const char *b) {
    cs_error *err = &c->out->err;
    if (cs_side_is_standard(a) && cs_side_is_standard(b))
        return cs_fail(err, CS_CODE_USAGE, "standard input can be read once only");
    cs_result result = cs_side_read(a, c->trust, &c->a, err);
    if (result == CS_OK) result = cs_side_read(b, c->trust, &c->b, err);
    if (result == CS_OK && is_nothing(c))
        result = cs_fail(err, CS_CODE_NOTHING_TO_CHECK, "neither entry has what --only asks for");
    if (result == CS_OK) c->same = cs_side_sameness(&c->a, &c->b);
    if (result == CS_OK) result = cs_diff_walk(&c->a, &c->b, c->wanted, count_difference, c, err);
    if (result == CS_OK) result = tell(c);
    return result == CS_OK ? conclude(c) : result;
}

/* ---- the command ------------------------------------------------------------------------------ */

static cs_result read_parts(const cs_text_list *words, bool wanted[CS_DIFF_PARTS], cs_error *err) {
    for (int part = 0; part < CS_DIFF_PARTS; part++)
        wanted[part] = words->count == 0;
    for (size_t i = 0; i < words->count; i++) {
        bool known = false;
        for (int part = 0; part < CS_DIFF_PARTS; part++) {
            if (strcmp(words->items[i], cs_diff_part_word((cs_diff_part)part)) != 0) continue;
            wanted[part] = true;
            known = true;
        }
        if (!known)
            return cs_fail(err, CS_CODE_USAGE, "--only takes request, result, response or record, not '%.40s'",
                           words->items[i]);
    }
    return CS_OK;
}

static cs_result diff(cs_output *out, const cs_trust_options *trusted, const cs_text_list *only, char **names) {
    cs_trust trust = {.count = 0};
    comparing c = {.out = out};
    cs_result result = read_parts(only, c.wanted, &out->err);
    if (result == CS_OK && cs_trust_named(trusted)) {
        result = cs_trust_collect(trusted, &trust, &out->err);
        c.trust = &trust;
    }
    if (result == CS_OK) result = compare(&c, names[0], names[1]);
    cs_side_free(&c.a);
    cs_side_free(&c.b);
    return result;
}

int cs_cmd_diff(int argc, char **argv) {
    cs_trust_options trusted = {.keys = {.count = 0}};
    cs_text_list only = {.count = 0};
    const char *parts[CS_DIFF_PARTS + 1] = {NULL};
    for (size_t i = 0; i < CS_DIFF_PARTS; i++)
        parts[i] = cs_diff_part_word((cs_diff_part)i);
    const cs_option options[] = {
        cs_trust_key_option(&trusted),
        cs_trust_file_option(&trusted),
        {"only", 0, CS_OPTION_LIST, &only, "PART",
         "compare request, result, response or record only; may be given again", 0, 0, parts},
    };
    const cs_usage usage = {
        .command = "diff",
        .arguments = "[-p PUB...] [--trust FILE...] [--only PART...] A B",
        .about = "Compare two entries, field by field: the request, the result (what the result digest covers), the "
                 "rest of\n"
                 "the response, and the record. A and B are INPUT:ENTRY, or INPUT alone when it holds one run.\n"
                 "Without a trusted key nothing is verified, and the output says so.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .min_arguments = 2,
        .max_arguments = 2,
        .exits = "  0  the same in all that was compared\n"
                 "  1  they differ, or one can't be decoded or failed verification\n"
                 "  2  the command line is wrong, or an input without ENTRY holds several runs\n"
                 "  5  an input or a key could not be read\n"
                 "  6  there is no such entry, or nothing to compare\n",
        .example = "  countersign diff ledger.db:3 ledger.db:5\n"
                   "  countersign diff -p harness.pub --only result ledger.db:3 theirs.jsonl\n",
    };
    cs_output out;
    cs_output_begin(&out, usage.command, argc, argv);
    int first = 0;
    cs_result result = CS_UNCHECKED;
    if (cs_options_parse(&usage, argc, argv, &out, &first, &result) == CS_PARSE_GO)
        result = diff(&out, &trusted, &only, argv + first);
    return cs_output_end(&out, result);
}
