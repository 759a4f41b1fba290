/* Whole bundles that pass, and what the walk counts and hands on. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "tests/verify/outcome.h"

/* ---- the published sessions ----------------------------------------------------------------------- */

Test(verify_published, the_linked_session_passes_and_is_complete) {
    cs_trust trust = fixture_trust("linked.pub");
    forge_bytes file = fixture_bytes("linked.jsonl");
    outcome out = verify_bytes(file.ptr, file.len, &trust);
    check_outcome(out, CS_OK, "");
    cr_expect_str_eq(out.runs, "1 2 3 4 5");
    cr_expect_eq(out.summary.kind, CS_SOURCE_BUNDLE);
    cr_expect(out.summary.linked);
    cr_expect_eq(out.summary.entries, 7);
    cr_expect_eq(out.summary.runs, 5);
    cr_expect_eq(out.summary.sessions, 1);
    cr_expect_eq(out.summary.failures, 0);
    cr_expect_eq(out.summary.uncovered.trace_ids, 0, "the links cover them");
    cr_expect_eq(out.summary.uncovered.durations, 0, "the links cover them");
    cr_expect_eq(out.progress, file.len);
}

Test(verify_published, the_unlinked_session_passes_and_says_that_it_is_not_linked) {
    cs_trust trust = fixture_trust("unlinked.pub");
    forge_bytes file = fixture_bytes("unlinked.jsonl");
    outcome out = verify_bytes(file.ptr, file.len, &trust);
    check_outcome(out, CS_OK, "");
    cr_expect_str_eq(out.runs, "1 2 3 4 5");
    cr_expect_not(out.summary.linked);
    cr_expect_eq(out.summary.entries, 6);
    cr_expect_eq(out.summary.runs, 5);
    cr_expect_eq(out.summary.sessions, 1);
    cr_expect_gt(out.summary.uncovered.durations, 0);
    cr_expect_eq(out.summary.uncovered.trace_ids, 0);
}

Test(verify_published, another_key_is_not_trusted) {
    cs_trust trust = fixture_trust("unlinked.pub");
    forge_bytes file = fixture_bytes("linked.jsonl");
    outcome out = verify_bytes(file.ptr, file.len, &trust);
    cr_expect_eq(out.result, CS_FAILED);
    cr_expect_eq(out.err.code, CS_CODE_ENVELOPE_KEY_UNKNOWN);
    cr_expect_str_eq(out.err.where, "line 1: envelope");
    cr_expect_eq(out.summary.runs, 0);
    cr_expect_eq(out.summary.failures, 13, "six envelopes and seven links");
    cr_expect_not(out.summary.linked);
}

Test(verify_published, both_keys_at_once_are_fine) {
    cs_trust trust = fixture_trust("unlinked.pub");
    cs_trust other = fixture_trust("linked.pub");
    trust.keys[trust.count++] = other.keys[0];
    forge_bytes file = fixture_bytes("linked.jsonl");
    outcome out = verify_bytes(file.ptr, file.len, &trust);
    check_outcome(out, CS_OK, "");
}

/* ---- what is counted ------------------------------------------------------------------------------ */

Test(verify_counts, a_single_run) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    forge_add(&bundle, forge_run_line(&key, &run));
    outcome out = verify_bundle(&bundle, &key);
    check_outcome(out, CS_OK, "");
    cr_expect_str_eq(out.runs, "1");
    cr_expect_eq(out.summary.runs, 1);
    cr_expect_eq(out.summary.sessions, 0);
    cr_expect_eq(out.err.code, CS_CODE_OK);
}

Test(verify_counts, uncovered_bytes_are_counted_without_links_only) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    run.trace_id = "trace-1";
    run.duration_ms = 12;
    run.advice = 3;
    forge_add(&bundle, forge_run_line(&key, &run));
    outcome out = verify_bundle(&bundle, &key);
    check_outcome(out, CS_OK, "");
    cr_expect_eq(out.summary.uncovered.trace_ids, 1);
    cr_expect_eq(out.summary.uncovered.durations, 1);
    cr_expect_eq(out.summary.uncovered.advice, 3);
    forge_link_lines(&bundle, &key, 0);
    out = verify_bundle(&bundle, &key);
    check_outcome(out, CS_OK, "");
    cr_expect(out.summary.linked);
    cr_expect_eq(out.summary.uncovered.trace_ids, 0);
    cr_expect_eq(out.summary.uncovered.durations, 0);
    cr_expect_eq(out.summary.uncovered.advice, 0);
}

Test(verify_counts, the_same_record_twice_counts_once) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    forge_add(&bundle, forge_run_line(&key, &run));
    run.started++;
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    outcome out = verify_bundle(&bundle, &key);
    check_outcome(out, CS_OK, "");
    cr_expect_eq(out.summary.runs, 2);

    forge_add(&bundle, bundle.lines[0]);
    out = verify_bundle(&bundle, &key);
    check_outcome(out, CS_OK, "3 ~record-duplicate");
    cr_expect_str_eq(out.runs, "1 2 3d");
    cr_expect_eq(out.summary.runs, 2);
    cr_expect_eq(out.summary.duplicates, 1);
    cr_expect_eq(out.summary.warnings, 1);
}

Test(verify_counts, reversed_times_are_a_warning) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    run.ended = run.started - 1;
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    outcome out = verify_bundle(&bundle, &key);
    check_outcome(out, CS_OK, "1 ~times-reversed");
    cr_expect_str_eq(out.runs, "1");
}

Test(verify_counts, a_checkpoint_alone_is_nothing_to_check) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_link_lines(&bundle, &key, 0);
    outcome out = verify_bundle(&bundle, &key);
    check_outcome(out, CS_NOTHING, "");
    cr_expect_eq(out.err.code, CS_CODE_NOTHING_TO_CHECK);
    cr_expect_str_eq(out.err.message, "the input holds no record of a run, only checkpoints");
}

/* A session without a call closes well, and shows nothing that ran. */
Test(verify_counts, a_close_alone_is_nothing_to_check) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_session(&bundle, &key, FORGE_SESSION, 0, NULL);
    outcome out = verify_bundle(&bundle, &key);
    check_outcome(out, CS_NOTHING, "");
    cr_expect_eq(out.err.code, CS_CODE_NOTHING_TO_CHECK);
    cr_expect_str_eq(out.err.message, "the input holds no record of a run, only closes of sessions");
    cr_expect_eq(out.summary.sessions, 1);
    cr_expect_eq(out.summary.runs, 0);
    forge_link_lines(&bundle, &key, 0);
    out = verify_bundle(&bundle, &key);
    check_outcome(out, CS_NOTHING, "");
    cr_expect_str_eq(out.err.message, "the input holds no record of a run, only closes of sessions and checkpoints");
    bundle.count = 0;
    forge_session(&bundle, &key, FORGE_SESSION, 1, NULL);
    out = verify_bundle(&bundle, &key);
    check_outcome(out, CS_OK, "");
    cr_expect_eq(out.summary.sessions, 1);
    cr_expect_eq(out.summary.runs, 1);
}

Test(verify_counts, the_walk_goes_on_after_a_bad_line_and_the_first_failure_is_returned) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    for (int i = 0; i < 3; i++) {
        run.started++;
        forge_seal(&run);
        forge_add(&bundle, forge_run_line(&key, &run));
    }
    strcpy(run.result_sha256, run.request_sha256);
    forge_insert(&bundle, 1, forge_run_line(&key, &run));
    forge_insert(&bundle, 2, forge_text("%s", "{\"envelope\":1}"));
    outcome out = verify_bundle(&bundle, &key);
    check_outcome(out, CS_FAILED, "2 result-digest; 3 line-framing");
    cr_expect_str_eq(out.runs, "1 4 5");
    cr_expect_eq(out.err.code, CS_CODE_RESULT_DIGEST);
    cr_expect_str_eq(out.err.where, "line 2: response");
    cr_expect_eq(out.summary.entries, 5);
    cr_expect_eq(out.summary.runs, 3);
    cr_expect_eq(out.summary.failures, 2);
}

/* ---- callbacks ------------------------------------------------------------------------------------ */

static cs_result stop_at_second(void *user, const cs_verified_run *run, cs_error *err) {
    ++*(int *)user;
    return run->entry < 3 ? CS_OK : cs_fail(err, CS_CODE_INTERRUPTED, "enough");
}

/* Its result is returned, also when something failed before. */
Test(verify_callbacks, another_result_ends_the_walk) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_add(&bundle, forge_text("%s", "{}"));
    forge_session(&bundle, &key, FORGE_SESSION, 4, NULL);
    forge_bytes file = forge_file(&bundle);
    char path[64];
    forge_write(file.ptr, file.len, path);
    cs_trust trust = {.count = 0};
    trust_key(&trust, &key);
    cs_error err = CS_ERROR_INIT;
    cs_source *source = NULL;
    cr_assert_eq(cs_source_open(path, &source, &err), CS_OK);
    int calls = 0;
    cs_verify_options options = {.trust = &trust, .on_run = stop_at_second, .user = &calls};
    cs_verify_summary summary;
    cr_expect_eq(cs_verify_source(source, &options, &summary, &err), CS_UNCHECKED);
    cr_expect_eq(err.code, CS_CODE_INTERRUPTED);
    cr_expect_eq(calls, 2);
    cr_expect_eq(summary.entries, 3);
    cr_expect_eq(summary.failures, 1);
    cs_source_close(source);
    unlink(path);
}

Test(verify_callbacks, none_is_needed) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_session(&bundle, &key, FORGE_SESSION, 2, NULL);
    forge_remove(&bundle, 2);
    forge_bytes file = forge_file(&bundle);
    char path[64];
    forge_write(file.ptr, file.len, path);
    cs_trust trust = {.count = 0};
    trust_key(&trust, &key);
    cs_source *source = NULL;
    cs_verify_options options = {.trust = &trust};
    cs_verify_summary summary;
    cr_assert_eq(cs_source_open(path, &source, NULL), CS_OK);
    cr_expect_eq(cs_verify_source(source, &options, &summary, NULL), CS_FAILED);
    cr_expect_eq(summary.runs, 2);
    cr_expect_eq(summary.failures, 1);
    cs_source_close(source);
    unlink(path);
}
