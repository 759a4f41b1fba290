/* The windows of trusted keys: what was signed outside of them, each beside its twin at the bound. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/verify/imported_case.h"

/* Times of forge_single. */
#define STARTED INT64_C(1790000000000)
#define ENDED INT64_C(1790000000007)

static cs_trust trust_within(const forge_key *key, int64_t from, int64_t to) {
    cs_trust trust = {.count = 0};
    trust_key(&trust, key);
    trust.keys[0].not_before_ms = from;
    trust.keys[0].not_after_ms = to;
    return trust;
}

/* Another key, trusted at any time. */
static void trust_always(cs_trust *trust, const forge_key *key) {
    trust_key(trust, key);
}

static outcome verify_under(const forge_bundle *bundle, const cs_trust *trust) {
    forge_bytes file = forge_file(bundle);
    return verify_bytes(file.ptr, file.len, trust);
}

/* ---- records ------------------------------------------------------------------------------------- */

static outcome verify_run(int64_t from, int64_t to) {
    forge_key key = forge_key_from(1);
    forge_run run = forge_single();
    forge_bundle bundle = {.count = 0};
    forge_add(&bundle, forge_run_line(&key, &run));
    cs_trust trust = trust_within(&key, from, to);
    return verify_under(&bundle, &trust);
}

Test(verify_window, both_ends_of_a_run_are_in_it) {
    check_outcome(verify_run(STARTED, ENDED), CS_OK, "");
    check_outcome(verify_run(INT64_MIN, ENDED), CS_OK, "");
    check_outcome(verify_run(STARTED, INT64_MAX), CS_OK, "");
    outcome out = verify_run(STARTED + 1, ENDED);
    check_outcome(out, CS_FAILED, "1 envelope-key-window");
    cr_expect_str_eq(out.err.where, "line 1: envelope");
    cr_expect_eq(out.err.code, CS_CODE_ENVELOPE_KEY_WINDOW);
    cr_expect_str_eq(out.runs, "");
    cr_expect_str_eq(out.entries, "");
    check_outcome(verify_run(STARTED, ENDED - 1), CS_FAILED, "1 envelope-key-window");
    check_outcome(verify_run(ENDED + 1, INT64_MAX), CS_FAILED, "1 envelope-key-window");
    check_outcome(verify_run(INT64_MIN, STARTED - 1), CS_FAILED, "1 envelope-key-window");
}

/* A call without an answer and its close, by two keys. */
static outcome verify_unanswered(int64_t from, int64_t to) {
    forge_key key = forge_key_from(1);
    forge_key closer = forge_key_from(2);
    forge_run run = forge_single();
    forge_bundle bundle = {.count = 0};
    run.session = FORGE_SESSION;
    run.sequence = 1;
    run.version = 3;
    run.unanswered = "internal";
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    forge_add(&bundle,
              forge_line(NULL, NULL, forge_envelope(&closer, forge_close(FORGE_SESSION, 1, run.record_sha256))));
    cs_trust trust = trust_within(&key, from, to);
    trust_always(&trust, &closer);
    return verify_under(&bundle, &trust);
}

Test(verify_window, both_ends_of_an_unanswered_call_are_in_it) {
    check_outcome(verify_unanswered(STARTED, ENDED), CS_OK, "");
    check_outcome(verify_unanswered(STARTED + 1, ENDED), CS_FAILED, "1 envelope-key-window");
    check_outcome(verify_unanswered(STARTED, ENDED - 1), CS_FAILED, "1 envelope-key-window");
}

/* ---- a close --------------------------------------------------------------------------------------- */

/* Two calls, the first of which ended last; signed by two keys, one of which has a window. */
static outcome verify_session(bool window_of_close, int64_t from, int64_t to) {
    forge_key key = forge_key_from(1);
    forge_key closer = forge_key_from(2);
    forge_bundle bundle = {.count = 0};
    forge_run first = forge_single();
    first.session = FORGE_SESSION;
    first.sequence = 1;
    first.ended = (uint64_t)ENDED + 10;
    forge_seal(&first);
    forge_run second = first;
    second.sequence = 2;
    second.previous = first.record_sha256;
    second.ended = (uint64_t)ENDED;
    forge_seal(&second);
    forge_add(&bundle, forge_run_line(&key, &first));
    forge_add(&bundle, forge_run_line(&key, &second));
    forge_add(&bundle,
              forge_line(NULL, NULL, forge_envelope(&closer, forge_close(FORGE_SESSION, 2, second.record_sha256))));
    cs_trust trust = trust_within(window_of_close ? &closer : &key, from, to);
    trust_always(&trust, window_of_close ? &key : &closer);
    return verify_under(&bundle, &trust);
}

Test(verify_window, a_close_was_signed_after_the_newest_record_of_its_session) {
    outcome out = verify_session(true, INT64_MIN, ENDED + 10);
    check_outcome(out, CS_OK, "");
    cr_expect_eq(out.summary.sessions, 1);
    out = verify_session(true, INT64_MIN, ENDED + 9);
    check_outcome(out, CS_FAILED, "3 envelope-key-window");
    cr_expect_str_eq(out.err.where, "line 3: envelope");
    cr_expect_str_eq(out.entries, "1 run; 2 run");
    cr_expect_eq(out.summary.sessions, 0);
    /* How long after it was signed is not known, so a window that begins later takes it. */
    check_outcome(verify_session(true, ENDED + 1000000, INT64_MAX), CS_OK, "");
}

/* A record that is outside explains that its call is missing. */
Test(verify_window, a_call_outside_is_one_fault) {
    check_outcome(verify_session(false, INT64_MIN, ENDED + 10), CS_OK, "");
    check_outcome(verify_session(false, INT64_MIN, ENDED + 9), CS_FAILED, "1 envelope-key-window");
}

Test(verify_window, nothing_is_known_of_a_close_without_calls) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_add(&bundle, forge_line(NULL, NULL, forge_envelope(&key, forge_close(FORGE_SESSION, 0, ""))));
    cs_trust trust = trust_within(&key, INT64_MIN, 0);
    check_outcome(verify_under(&bundle, &trust), CS_NOTHING, "");
}

/* ---- links ----------------------------------------------------------------------------------------- */

/* Five runs, of which the last ended 4 ms behind the first, linked by another key. */
static linked_case linked_by(const forge_key *linker) {
    linked_case lines = linked_runs();
    lines.bundle = lines.plain;
    forge_link_lines(&lines.bundle, linker, 0);
    return lines;
}

Test(verify_window, a_link_was_signed_after_the_newest_record_up_to_its_line) {
    forge_key linker = forge_key_from(2);
    linked_case lines = linked_by(&linker);
    cs_trust trust = trust_within(&linker, INT64_MIN, ENDED + 4);
    trust_always(&trust, &lines.key);
    outcome out = verify_under(&lines.bundle, &trust);
    check_outcome(out, CS_OK, "");
    cr_expect(out.summary.linked);
    trust.keys[0].not_after_ms = ENDED + 3;
    out = verify_under(&lines.bundle, &trust);
    check_outcome(out, CS_FAILED, "5 envelope-key-window; 6 envelope-key-window");
    cr_expect_str_eq(out.err.where, "line 5: link");
    cr_expect_str_eq(out.entries, "1 run#1; 2 run#2; 3 run#3; 4 run#4");
    cr_expect_not(out.summary.linked);
    trust.keys[0].not_after_ms = INT64_MAX;
    trust.keys[0].not_before_ms = ENDED + 1000000;
    check_outcome(verify_under(&lines.bundle, &trust), CS_OK, "");
}

/* The newest one, not the last one. */
Test(verify_window, a_later_line_with_an_older_record) {
    forge_key linker = forge_key_from(2);
    linked_case lines = {.key = forge_key_from(1)};
    forge_run newer = forge_single();
    newer.ended += 10;
    forge_seal(&newer);
    forge_run older = forge_single();
    char *first = forge_run_line(&lines.key, &newer);
    char *link = forge_envelope(&lines.key, forge_link(1, "", linked_digest(first), 0));
    forge_add(&lines.bundle, forge_with_link(first, link));
    forge_add(&lines.bundle, forge_run_line(&lines.key, &older));
    forge_link_lines(&lines.bundle, &linker, 1);
    cs_trust trust = trust_within(&linker, INT64_MIN, ENDED + 10);
    trust_always(&trust, &lines.key);
    check_outcome(verify_under(&lines.bundle, &trust), CS_OK, "");
    trust.keys[0].not_after_ms--;
    check_outcome(verify_under(&lines.bundle, &trust), CS_FAILED, "2 envelope-key-window; 3 envelope-key-window");
}

Test(verify_window, nothing_is_known_of_a_link_before_any_record) {
    forge_key linker = forge_key_from(2);
    linked_case lines = {.key = forge_key_from(1)};
    forge_add(&lines.bundle, forge_line(NULL, NULL, forge_envelope(&lines.key, forge_close(FORGE_SESSION, 0, ""))));
    forge_link_lines(&lines.bundle, &linker, 0);
    cs_trust trust = trust_within(&linker, INT64_MIN, 0);
    trust_always(&trust, &lines.key);
    check_outcome(verify_under(&lines.bundle, &trust), CS_NOTHING, "");
}

/* ---- in a ledger ----------------------------------------------------------------------------------- */

Test(verify_window, records_of_a_ledger) {
    forge_key key = forge_key_from(1);
    forge_run run = forge_single();
    imported_case ledger = imported_begin();
    imported_add(&ledger, forge_run_line(&key, &run));
    cs_trust trust = trust_within(&key, STARTED, ENDED);
    check_outcome(imported_verify_under(&ledger, &trust), CS_OK, "");
    trust.keys[0].not_before_ms++;
    outcome out = imported_verify_under(&ledger, &trust);
    check_outcome(out, CS_FAILED, "1 envelope-key-window");
    cr_expect_str_eq(out.err.where, "entry 1: envelope");
    imported_end(&ledger);
}

/* Records of others in the ledger say nothing about a link: only those of its own bundle are covered by it. */
Test(verify_window, links_of_a_ledger) {
    forge_key linker = forge_key_from(2);
    linked_case lines = linked_by(&linker);
    imported_case ledger = imported_begin();
    imported_lines(&ledger, &lines.bundle, 0, 2);
    imported_own_run(&ledger, &lines.key);
    imported_lines(&ledger, &lines.bundle, 2, 6);
    cs_trust trust = trust_within(&linker, INT64_MIN, ENDED + 4);
    trust_always(&trust, &lines.key);
    check_outcome(imported_verify_under(&ledger, &trust), CS_OK, "");
    trust.keys[0].not_after_ms = ENDED + 3;
    outcome out = imported_verify_under(&ledger, &trust);
    check_outcome(out, CS_FAILED, "6 envelope-key-window");
    cr_expect_str_eq(out.err.where, "entry 6: link");
    imported_end(&ledger);
}
