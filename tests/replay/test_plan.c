/* What is planned from a verified source, and that nothing is planned from another. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "replay/replay.h"
#include "tests/support/forge.h"

typedef struct planning {
    forge_key key;
    forge_bundle bundle;
    cs_trust trust;
    cs_replay_plan plan;
    cs_error err;
} planning;

static void begin(planning *p) {
    memset(p, 0, sizeof *p);
    p->key = forge_key_from(7);
    cs_public_key public_key;
    memset(&public_key, 0, sizeof public_key);
    memcpy(public_key.bytes, p->key.public_key, sizeof public_key.bytes);
    cr_assert(cs_public_key_identify(&public_key));
    cr_assert_eq(cs_trust_add(&p->trust, &public_key, &p->err), CS_OK);
}

static cs_result plan(planning *p, uint64_t entry) {
    char path[64];
    forge_bytes file = forge_file(&p->bundle);
    forge_write(file.ptr, file.len, path);
    p->err = CS_ERROR_INIT;
    cs_result result = cs_replay_plan_make(path, &p->trust, entry, &p->plan, &p->err);
    cr_expect_eq(unlink(path), 0);
    return result;
}

static forge_run another(const char *code, const char *output) {
    forge_run run = forge_single();
    run.code = code;
    run.output = output;
    forge_seal(&run);
    return run;
}

static void add_single(planning *p, const forge_run *run) {
    forge_add(&p->bundle, forge_run_line(&p->key, run));
}

/* Two single runs, the first once more, and a session of two calls. */
static void add_some(planning *p) {
    forge_run one = another("1", "one\n");
    forge_run two = another("2", "two\n");
    add_single(p, &one);
    add_single(p, &two);
    add_single(p, &one);
    forge_session(&p->bundle, &p->key, FORGE_SESSION, 2, NULL);
}

Test(plan, holds_every_single_run_once_and_every_session) {
    planning p;
    begin(&p);
    add_some(&p);
    cr_assert_eq(plan(&p, 0), CS_OK, "%s", p.err.message);
    cr_assert_eq(p.plan.count, 4);
    static const uint64_t entries[] = {1, 2, 4, 5};
    static const uint64_t groups[] = {1, 2, 4, 4};
    for (size_t i = 0; i < 4; i++) {
        cr_expect_eq(p.plan.items[i].entry, entries[i]);
        cr_expect_eq(p.plan.items[i].group, groups[i]);
        cr_expect_str_eq(p.plan.items[i].session.hex, i < 2 ? "" : FORGE_SESSION);
    }
    cr_expect_eq(p.plan.skipped_duplicates, 1);
    cr_expect_eq(p.plan.sessions, 1);
    forge_run two = another("2", "two\n");
    cr_expect_str_eq(p.plan.items[1].request_sha256.hex, two.request_sha256);
    cr_expect_str_eq(p.plan.items[1].result_sha256.hex, two.result_sha256);
    cr_expect_str_eq(p.plan.items[1].provider, two.provider);
    cr_expect_str_eq(p.plan.items[1].tier, two.isolation);
    cr_expect(cs_view_is(cs_bytes_view(&p.plan.items[1].request->javascript->code), "2"));
    cr_expect(cs_view_is(cs_bytes_view(&p.plan.items[1].response->javascript->stdout), "two\n"));
    cs_replay_plan_free(&p.plan);
    cr_expect_eq(p.plan.count, 0);
}

Test(plan, holds_the_one_that_is_named) {
    planning p;
    begin(&p);
    add_some(&p);
    cr_assert_eq(plan(&p, 2), CS_OK, "%s", p.err.message);
    cr_assert_eq(p.plan.count, 1);
    cr_expect_eq(p.plan.items[0].entry, 2);
    cs_replay_plan_free(&p.plan);
    /* A duplicate that is named is meant. */
    cr_assert_eq(plan(&p, 3), CS_OK, "%s", p.err.message);
    cr_assert_eq(p.plan.count, 1);
    cr_expect_eq(p.plan.items[0].entry, 3);
    cs_replay_plan_free(&p.plan);
}

static void expect_none(planning *p, uint64_t entry, cs_result result, cs_code code) {
    cr_expect_eq(plan(p, entry), result);
    cr_expect_eq(p->err.code, code, "%s: %s", cs_code_name(p->err.code), p->err.message);
    cr_expect_eq(p->plan.count, 0);
    cr_expect_null(p->plan.items);
}

Test(plan, a_session_call_or_a_close_is_no_single_run) {
    planning p;
    begin(&p);
    add_some(&p);
    expect_none(&p, 4, CS_NOTHING, CS_CODE_REPLAY_NOT_SINGLE);
    expect_none(&p, 6, CS_NOTHING, CS_CODE_REPLAY_NOT_SINGLE);
}

Test(plan, an_entry_that_is_not_there) {
    planning p;
    begin(&p);
    add_some(&p);
    expect_none(&p, 7, CS_NOTHING, CS_CODE_ENTRY_UNKNOWN);
}

#define OTHER_SESSION "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Two sessions line by line between one another; the second one's first call got no answer. */
Test(plan, the_calls_of_a_session_stand_together) {
    planning p;
    begin(&p);
    forge_bundle other = {.count = 0};
    forge_session(&p.bundle, &p.key, FORGE_SESSION, 2, NULL);
    forge_run lost = forge_single();
    lost.session = OTHER_SESSION;
    lost.sequence = 1;
    lost.version = 3;
    lost.unanswered = "internal";
    forge_seal(&lost);
    forge_add(&other, forge_run_line(&p.key, &lost));
    forge_add(&other,
              forge_line(NULL, NULL, forge_envelope(&p.key, forge_close(OTHER_SESSION, 1, lost.record_sha256))));
    forge_insert(&p.bundle, 1, other.lines[0]);
    forge_insert(&p.bundle, 3, other.lines[1]);
    cr_assert_eq(plan(&p, 0), CS_OK, "%s", p.err.message);
    cr_assert_eq(p.plan.count, 3);
    cr_expect_eq(p.plan.sessions, 2);
    static const uint64_t entries[] = {1, 3, 2};
    static const uint64_t groups[] = {1, 1, 2};
    for (size_t i = 0; i < 3; i++) {
        cr_expect_eq(p.plan.items[i].entry, entries[i]);
        cr_expect_eq(p.plan.items[i].group, groups[i]);
        cr_expect_eq(p.plan.items[i].response == NULL, i == 2);
    }
    cs_replay_plan_free(&p.plan);
}

Test(plan, a_session_without_calls_is_nothing_to_replay) {
    planning p;
    begin(&p);
    forge_session(&p.bundle, &p.key, FORGE_SESSION, 0, NULL);
    expect_none(&p, 0, CS_NOTHING, CS_CODE_NOTHING_TO_CHECK);
}

/* holds_every_single_run_once_and_every_session is the twin: one byte of one result is another, in an entry that would
 * not even be replayed. */
Test(plan, one_bad_entry_anywhere_and_nothing_is_planned) {
    planning p;
    begin(&p);
    add_some(&p);
    forge_run bad = another("3", "three\n");
    bad.output = "tree\n";
    add_single(&p, &bad);
    expect_none(&p, 1, CS_FAILED, CS_CODE_RESULT_DIGEST);
    cr_expect_not_null(strstr(p.err.where, "7"), "%s", p.err.where);
}

Test(plan, an_untrusted_key_and_nothing_is_planned) {
    planning p;
    begin(&p);
    add_some(&p);
    p.key = forge_key_from(8);
    forge_run other = another("4", "four\n");
    add_single(&p, &other);
    expect_none(&p, 1, CS_FAILED, CS_CODE_ENVELOPE_KEY_UNKNOWN);
}

Test(plan, an_unreadable_source_is_unchecked) {
    planning p;
    begin(&p);
    cr_expect_eq(cs_replay_plan_make("/nonexistent/bundle", &p.trust, 0, &p.plan, &p.err), CS_UNCHECKED);
    cr_expect_eq(p.err.code, CS_CODE_IO, "%s", cs_code_name(p.err.code));
    cr_expect_null(p.plan.items);
}
