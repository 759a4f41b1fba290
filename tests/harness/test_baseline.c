/* Comparing with a baseline, and changing one. */
#include "tests/harness/baseline_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/expect.h"
#include "tests/support/folder.h"

typedef struct scene {
    baseline_case c;
    cs_baseline_file *file;
    cs_baseline_difference *differences;
    size_t count;
    cs_error err;
} scene;

/* With a baseline of the keys a, b, c in the file. */
static void begin(scene *s) {
    cs_baseline then;
    memset(s, 0, sizeof *s);
    baseline_begin(&s->c);
    baseline_small("p", PAIRS("a", "1", "b", "2", "c", "3"), &then);
    baseline_save(&s->c, &then);
    cs_baseline_free(&then);
    EXPECT_OK(cs_baseline_open(s->c.path, false, &s->file, &s->err), s->err);
}

static void finish(scene *s) {
    free(s->differences);
    cs_baseline_close(s->file);
    baseline_end(&s->c);
}

static cs_result compare(scene *s, const cs_baseline *now) {
    free(s->differences);
    return cs_baseline_compare(s->file, now, &s->differences, &s->count, &s->err);
}

static cs_result compare_small(scene *s, const char *policy, const char *const pairs[]) {
    cs_baseline now;
    baseline_small(policy, pairs, &now);
    cs_result result = compare(s, &now);
    /* Differences borrow, so those that are looked at come from a baseline that stays. */
    free(s->differences);
    s->differences = NULL;
    cs_baseline_free(&now);
    return result;
}

/* The one difference. */
static void expect_one(scene *s, const char *const pairs[], cs_baseline_change change, const char *key,
                       const char *then, const char *value) {
    cs_baseline now;
    baseline_small("p", pairs, &now);
    EXPECT_CODE(compare(s, &now), s->err, CS_FAILED, CS_CODE_BASELINE_DIFFERS);
    cr_assert_eq(s->count, 1);
    const cs_baseline_difference *d = &s->differences[0];
    cr_expect_eq(d->change, change);
    cr_expect_str_eq(d->key, key);
    cr_expect_eq(d->then == NULL, then == NULL);
    cr_expect_eq(d->now == NULL, value == NULL);
    if (then != NULL && d->then != NULL) cr_expect_str_eq(d->then, then);
    if (value != NULL && d->now != NULL) cr_expect_str_eq(d->now, value);
    cr_expect_not_null(strstr(s->err.message, key), "%s", s->err.message);
    cs_baseline_free(&now);
}

Test(baseline, the_same_is_the_same_and_each_single_difference_is_one) {
    scene s;
    begin(&s);
    EXPECT_OK(compare_small(&s, "p", PAIRS("a", "1", "b", "2", "c", "3")), s.err);
    cr_expect_eq(s.count, 0);
    expect_one(&s, PAIRS("a", "1", "b", "x", "c", "3"), CS_CHANGE_VALUE, "b", "2", "x");
    expect_one(&s, PAIRS("b", "2", "c", "3"), CS_CHANGE_MISSING, "a", "1", NULL);
    expect_one(&s, PAIRS("a", "1", "c", "3"), CS_CHANGE_MISSING, "b", "2", NULL);
    expect_one(&s, PAIRS("a", "1", "b", "2"), CS_CHANGE_MISSING, "c", "3", NULL);
    expect_one(&s, PAIRS("0", "", "a", "1", "b", "2", "c", "3"), CS_CHANGE_NEW, "0", NULL, "");
    expect_one(&s, PAIRS("a", "1", "b", "2", "bb", "9", "c", "3"), CS_CHANGE_NEW, "bb", NULL, "9");
    expect_one(&s, PAIRS("a", "1", "b", "2", "c", "3", "d", "4"), CS_CHANGE_NEW, "d", NULL, "4");
    EXPECT_CODE(compare_small(&s, "p", PAIRS("a", "0", "d", "4")), s.err, CS_FAILED, CS_CODE_BASELINE_DIFFERS);
    cr_expect_eq(s.count, 4);
    finish(&s);
}

/* One key, then and now: what is the comparison? CS_CODE_OK for the same. */
static cs_code compare_one(const char *key, const char *then, const char *value) {
    baseline_case c;
    cs_baseline old, now;
    cs_baseline_file *file = NULL;
    cs_baseline_difference *differences = NULL;
    size_t count = 0;
    cs_error err = CS_ERROR_INIT;
    baseline_begin(&c);
    baseline_small("p", then != NULL ? PAIRS(key, then) : PAIRS(NULL), &old);
    baseline_small("p", value != NULL ? PAIRS(key, value) : PAIRS(NULL), &now);
    baseline_save(&c, &old);
    EXPECT_OK(cs_baseline_open(c.path, false, &file, &err), err);
    cs_result result = cs_baseline_compare(file, &now, &differences, &count, &err);
    cr_expect_eq(result, result == CS_OK ? CS_OK : cs_code_class(err.code));
    if (err.code == CS_CODE_BASELINE_UNKNOWN) cr_expect(count == 1 && differences[0].change == CS_CHANGE_UNKNOWN);
    if (err.code == CS_CODE_BASELINE_DIFFERS) cr_expect(count == 1 && differences[0].change != CS_CHANGE_UNKNOWN);
    free(differences);
    cs_baseline_close(file);
    cs_baseline_free(&old);
    cs_baseline_free(&now);
    baseline_end(&c);
    return result == CS_OK ? CS_CODE_OK : err.code;
}

/* What is not known now is no change; what was not known then, and any other key or value, is one. */
Test(baseline, what_could_not_be_found_out_is_no_difference) {
    static const struct {
        const char *key, *then, *now;
        cs_code code;
    } all[] = {
        {"guard.files.verdict", "in force", "unknown", CS_CODE_BASELINE_UNKNOWN},
        {"guard.files.verdict", "in force", "not in force", CS_CODE_BASELINE_DIFFERS},
        {"guard.files.verdict", "unknown", "in force", CS_CODE_BASELINE_DIFFERS},
        {"guard.files.verdict", NULL, "unknown", CS_CODE_BASELINE_DIFFERS},
        {"guard.files.verdict", "in force", NULL, CS_CODE_BASELINE_DIFFERS},
        {"guard.files.verdict", "unknown", "unknown", CS_CODE_OK},
        {"guard.processes.measured", "254", "unknown", CS_CODE_BASELINE_UNKNOWN},
        {"guard.processes.configured", "254", "unknown", CS_CODE_BASELINE_DIFFERS},
        {"rule.host-file", "consistent", "silent", CS_CODE_BASELINE_UNKNOWN},
        {"rule.host-file", "consistent", "not-asked", CS_CODE_BASELINE_DIFFERS},
        {"rule.host-file", "silent", "consistent", CS_CODE_BASELINE_DIFFERS},
        {"probe.script.seccomp", "2", "unknown", CS_CODE_BASELINE_UNKNOWN},
        {"probe.script.seccomp", "2", "0", CS_CODE_BASELINE_DIFFERS},
        {"probe.script.release", "6.1", "unknown", CS_CODE_BASELINE_DIFFERS},
        {"probe.program.read", "yes", "no", CS_CODE_BASELINE_UNKNOWN},
        {"probe.program.read", "no", "yes", CS_CODE_BASELINE_DIFFERS},
        {"host.script.apart", "1", "unknown", CS_CODE_BASELINE_UNKNOWN},
        {"host.place", "here", "listener", CS_CODE_BASELINE_DIFFERS},
        {"statement.policy", "p", "unknown", CS_CODE_BASELINE_DIFFERS},
        {"record.script.policy", "p", "unknown", CS_CODE_BASELINE_DIFFERS},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        cr_expect_eq(compare_one(all[i].key, all[i].then, all[i].now), all[i].code, "%zu: %s", i, all[i].key);
}

/* All keys of a probe that was not read are gone with it; those of one that was read may not be. */
Test(baseline, a_probe_that_was_not_read_has_no_differences) {
    baseline_case c;
    cs_baseline then, now;
    cs_baseline_file *file = NULL;
    cs_baseline_difference *differences = NULL;
    size_t count = 0;
    cs_error err = CS_ERROR_INIT;
    baseline_begin(&c);
    baseline_small("p", PAIRS("probe.script.read", "yes", "probe.script.seccomp", "2"), &then);
    baseline_save(&c, &then);
    EXPECT_OK(cs_baseline_open(c.path, false, &file, &err), err);
    baseline_small("p", PAIRS("probe.script.read", "no"), &now);
    EXPECT_CODE(cs_baseline_compare(file, &now, &differences, &count, &err), err, CS_UNCHECKED,
                CS_CODE_BASELINE_UNKNOWN);
    cr_expect_eq(count, 2);
    free(differences);
    (void)snprintf(now.entries[0].value, CS_BASELINE_VALUE, "yes");
    EXPECT_CODE(cs_baseline_compare(file, &now, &differences, &count, &err), err, CS_FAILED, CS_CODE_BASELINE_DIFFERS);
    cr_expect_eq(count, 1);
    free(differences);
    cs_baseline_close(file);
    cs_baseline_free(&then);
    cs_baseline_free(&now);
    baseline_end(&c);
}

Test(baseline, another_state_is_not_compared_and_its_member_is_named) {
    scene s;
    begin(&s);
    for (size_t i = 0; i < CS_STATE_MEMBERS; i++) {
        cs_baseline now;
        baseline_small("p", PAIRS("a", "1", "b", "2", "c", "3"), &now);
        EXPECT_OK(compare(&s, &now), s.err);
        (void)snprintf(now.state[i], CS_BASELINE_VALUE, "other\n");
        EXPECT_CODE(compare(&s, &now), s.err, CS_UNCHECKED, CS_CODE_BASELINE_STATE);
        cr_expect_eq(s.count, 0);
        cr_expect_null(s.differences);
        char want[120];
        (void)snprintf(want, sizeof want, "when %s was '%s' (now 'other\\x0a')",
                       cs_baseline_state_word((cs_baseline_state)i), i == CS_STATE_POLICY ? "p" : "x");
        cr_expect_not_null(strstr(s.err.message, want), "%s: %s", want, s.err.message);
        cs_baseline_free(&now);
    }
    finish(&s);
}

/* With several, the nearest is named, and the one of the very state is compared. */
Test(baseline, several_states_lie_side_by_side) {
    scene s;
    cs_baseline now;
    begin(&s);
    baseline_small("a", PAIRS("a", "5"), &now);
    (void)snprintf(now.state[CS_STATE_DEPTH], CS_BASELINE_VALUE, "statements");
    EXPECT_OK(cs_baseline_add(s.file, &now, &s.err), s.err);
    (void)snprintf(now.state[CS_STATE_POLICY], CS_BASELINE_VALUE, "z");
    EXPECT_CODE(compare(&s, &now), s.err, CS_UNCHECKED, CS_CODE_BASELINE_STATE);
    cr_expect_not_null(strstr(s.err.message, "policy was 'a' (now 'z')"), "%s", s.err.message);
    cr_expect_null(strstr(s.err.message, "depth"), "%s", s.err.message);
    EXPECT_OK(cs_baseline_add(s.file, &now, &s.err), s.err);
    EXPECT_OK(compare(&s, &now), s.err);
    cs_baseline_close(s.file);
    EXPECT_OK(cs_baseline_open(s.c.path, false, &s.file, &s.err), s.err);
    EXPECT_OK(compare(&s, &now), s.err);
    EXPECT_OK(compare_small(&s, "p", PAIRS("a", "1", "b", "2", "c", "3")), s.err);
    cr_expect_eq(s.file->list.count, 3);
    cs_baseline_free(&now);
    finish(&s);
}

/* ---- the file stays as it is -------------------------------------------------------------------------------- */

static void expect_bytes(const scene *s, const char *want) {
    size_t len = 0;
    char *bytes = file_read(s->c.path, &len);
    cr_assert_not_null(bytes);
    cr_expect_str_eq(bytes, want);
    cr_expect_eq(folder_count(s->c.folder), 1);
    free(bytes);
}

#define STATE(policy)                                                                                                  \
    "{\"state\":{\n\"daemon\":\"x\",\n\"provider\":\"x\",\n\"policy\":\"" policy "\",\n\"environment\":\"x\",\n"       \
    "\"daemon-start\":\"x\",\n\"host-boot\":\"x\",\n\"depth\":\"x\"},\n\"keys\":{\n"
#define HEAD "{\"format\":\"countersign.tier-baseline.v1\",\"baselines\":[\n"
#define BEFORE HEAD STATE("p") "\"a\":\"1\",\n\"b\":\"2\",\n\"c\":\"3\"}}]}\n"

Test(baseline, a_state_is_added_once) {
    scene s;
    cs_baseline now;
    begin(&s);
    expect_bytes(&s, BEFORE);
    baseline_small("p", PAIRS("a", "changed"), &now);
    EXPECT_CODE(cs_baseline_add(s.file, &now, &s.err), s.err, CS_USAGE, CS_CODE_USAGE);
    expect_bytes(&s, BEFORE);
    (void)snprintf(now.state[CS_STATE_POLICY], CS_BASELINE_VALUE, "o");
    EXPECT_OK(cs_baseline_add(s.file, &now, &s.err), s.err);
    expect_bytes(&s,
                 HEAD STATE("o") "\"a\":\"changed\"}},\n" STATE("p") "\"a\":\"1\",\n\"b\":\"2\",\n\"c\":\"3\"}}]}\n");
    cs_baseline_free(&now);
    finish(&s);
}

static cs_result replace(scene *s, const char *policy, const char *const pairs[], const char *const keys[]) {
    cs_baseline now;
    size_t count = 0;
    while (keys[count] != NULL)
        count++;
    baseline_small(policy, pairs, &now);
    cs_result result = cs_baseline_replace(s->file, &now, keys, count, &s->err);
    cs_baseline_free(&now);
    return result;
}

Test(baseline, exactly_the_named_keys_are_replaced) {
    scene s;
    static const char *const now[] = {"a", "x", "b", "y", "d", "4", "e", "5", NULL};
    begin(&s);
    EXPECT_OK(replace(&s, "p", now, PAIRS("a")), s.err);
    expect_bytes(&s, HEAD STATE("p") "\"a\":\"x\",\n\"b\":\"2\",\n\"c\":\"3\"}}]}\n");
    EXPECT_CODE(compare_small(&s, "p", now), s.err, CS_FAILED, CS_CODE_BASELINE_DIFFERS);
    cr_expect_eq(s.count, 4);
    EXPECT_OK(replace(&s, "p", now, PAIRS("e", "c")), s.err);
    expect_bytes(&s, HEAD STATE("p") "\"a\":\"x\",\n\"b\":\"2\",\n\"e\":\"5\"}}]}\n");
    EXPECT_OK(replace(&s, "p", now, PAIRS("b", "d")), s.err);
    expect_bytes(&s, HEAD STATE("p") "\"a\":\"x\",\n\"b\":\"y\",\n\"d\":\"4\",\n\"e\":\"5\"}}]}\n");
    EXPECT_OK(compare_small(&s, "p", now), s.err);
    finish(&s);
}

Test(baseline, what_does_not_differ_is_not_replaced) {
    scene s;
    static const char *const now[] = {"a", "x", "b", "2", "c", "3", NULL};
    begin(&s);
    EXPECT_CODE(replace(&s, "p", now, PAIRS("b")), s.err, CS_USAGE, CS_CODE_USAGE);
    EXPECT_CODE(replace(&s, "p", now, PAIRS("a", "b")), s.err, CS_USAGE, CS_CODE_USAGE);
    cr_expect_not_null(strstr(s.err.message, "'b' does not differ"), "%s", s.err.message);
    EXPECT_CODE(replace(&s, "p", now, PAIRS("a", "a")), s.err, CS_USAGE, CS_CODE_USAGE);
    EXPECT_CODE(replace(&s, "p", now, PAIRS("nobody\n")), s.err, CS_USAGE, CS_CODE_USAGE);
    EXPECT_CODE(replace(&s, "p", now, PAIRS(NULL)), s.err, CS_USAGE, CS_CODE_USAGE);
    EXPECT_CODE(replace(&s, "q", now, PAIRS("a")), s.err, CS_UNCHECKED, CS_CODE_BASELINE_STATE);
    expect_bytes(&s, BEFORE);
    EXPECT_CODE(compare_small(&s, "p", now), s.err, CS_FAILED, CS_CODE_BASELINE_DIFFERS);
    EXPECT_OK(replace(&s, "p", now, PAIRS("a")), s.err);
    finish(&s);
}

/* A file has bounds; what does not fit in one is refused, and the file stays. */
Test(baseline, a_file_takes_no_more_states_than_it_may) {
    scene s;
    cs_baseline now;
    begin(&s);
    for (size_t i = 1; i < CS_BASELINE_MAX_STATES; i++) {
        char policy[24];
        (void)snprintf(policy, sizeof policy, "q%zu", i);
        baseline_small(policy, PAIRS("a", "1"), &now);
        EXPECT_OK(cs_baseline_add(s.file, &now, &s.err), s.err);
        cs_baseline_free(&now);
    }
    baseline_small("one more", PAIRS("a", "1"), &now);
    EXPECT_CODE(cs_baseline_add(s.file, &now, &s.err), s.err, CS_USAGE, CS_CODE_USAGE);
    cs_baseline_close(s.file);
    EXPECT_OK(cs_baseline_open(s.c.path, false, &s.file, &s.err), s.err);
    cr_expect_eq(s.file->list.count, CS_BASELINE_MAX_STATES);
    cs_baseline_free(&now);
    finish(&s);
}

Test(baseline, a_file_gets_no_longer_than_it_may) {
    scene s;
    cs_baseline now;
    begin(&s);
    baseline_small("q", PAIRS("a", "1"), &now);
    free(now.entries);
    now.entries = calloc(CS_BASELINE_MAX_KEYS, sizeof *now.entries);
    now.count = CS_BASELINE_MAX_KEYS;
    cr_assert_not_null(now.entries);
    for (size_t i = 0; i < now.count; i++) {
        (void)snprintf(now.entries[i].key, CS_BASELINE_KEY, "k%03zu", i);
        memset(now.entries[i].value, 'v', CS_BASELINE_VALUE - 1);
    }
    cs_result result = CS_OK;
    size_t states = 1;
    for (; result == CS_OK; states++) {
        (void)snprintf(now.state[CS_STATE_POLICY], CS_BASELINE_VALUE, "q%zu", states);
        result = cs_baseline_add(s.file, &now, &s.err);
    }
    cr_expect_eq(result, CS_USAGE);
    cr_expect_not_null(strstr(s.err.message, "longer than 1048576 bytes"), "%s", s.err.message);
    cr_expect_eq(states, 5); /* each takes a quarter of a mebibyte and a little more; the fourth found no room */
    cr_expect_eq(s.file->list.count, 4);
    size_t len = 0;
    char *bytes = file_read(s.c.path, &len);
    cr_expect_leq(len, CS_BASELINE_MAX_BYTES);
    free(bytes);
    cs_baseline_free(&now);
    finish(&s);
}
