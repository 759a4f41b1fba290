/* The links between the lines of a bundle: each case differs in one thing from a bundle that passes. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/verify/linked_case.h"
#include "tests/verify/outcome.h"

static outcome verify_lines(const linked_case *lines) {
    return verify_bundle(&lines->bundle, &lines->key);
}

Test(verify_lines, a_linked_bundle) {
    linked_case lines = linked_runs();
    outcome out = verify_lines(&lines);
    check_outcome(out, CS_OK, "");
    cr_expect(out.summary.linked);
    cr_expect_eq(out.summary.entries, LINKED_RUNS + 1);
    /* The same line made by hand, so that the cases below differ in what they say only. */
    linked_again(&lines, 2,
                 linked_line(&lines, 2, 3, linked_digest(lines.bundle.lines[1]), linked_digest(lines.plain.lines[2])));
    check_outcome(verify_lines(&lines), CS_OK, "");
}

/* ---- a link that says something wrong ------------------------------------------------------------- */

Test(verify_lines, a_wrong_index) {
    linked_case lines = linked_runs();
    linked_again(&lines, 2,
                 linked_line(&lines, 2, 4, linked_digest(lines.bundle.lines[1]), linked_digest(lines.plain.lines[2])));
    outcome out = verify_lines(&lines);
    check_outcome(out, CS_FAILED, "3 link-index");
    cr_expect_not(out.summary.linked);
}

Test(verify_lines, a_wrong_previous_line) {
    linked_case lines = linked_runs();
    linked_again(&lines, 2,
                 linked_line(&lines, 2, 3, linked_digest(lines.bundle.lines[0]), linked_digest(lines.plain.lines[2])));
    check_outcome(verify_lines(&lines), CS_FAILED, "3 link-previous");
}

Test(verify_lines, a_first_line_that_names_one_before_it) {
    linked_case lines = linked_runs();
    linked_again(&lines, 0, linked_line(&lines, 0, 1, linked_digest("x"), linked_digest(lines.plain.lines[0])));
    check_outcome(verify_lines(&lines), CS_FAILED, "1 link-previous");
}

Test(verify_lines, a_wrong_entry) {
    linked_case lines = linked_runs();
    linked_again(&lines, 2,
                 linked_line(&lines, 2, 3, linked_digest(lines.bundle.lines[1]), linked_digest(lines.plain.lines[3])));
    check_outcome(verify_lines(&lines), CS_FAILED, "3 link-entry");
}

/* Bytes that no record covers are covered by the link. */
Test(verify_lines, an_entry_exchanged_for_its_twin_with_another_trace_id) {
    linked_case lines = linked_runs();
    forge_run run = forge_single();
    run.trace_id = "other";
    char *twin = forge_run_line(&lines.key, &run);
    char *link = forge_link(1, "", linked_digest(lines.plain.lines[0]), 0);
    lines.bundle.lines[0] = forge_with_link(twin, forge_envelope(&lines.key, link));
    check_outcome(verify_lines(&lines), CS_FAILED, "1 link-entry");
}

Test(verify_lines, a_link_signed_by_a_stranger) {
    linked_case lines = linked_runs();
    forge_key stranger = forge_key_from(9);
    char *link = forge_link(3, linked_digest(lines.bundle.lines[1]), linked_digest(lines.plain.lines[2]), 0);
    linked_again(&lines, 2, forge_with_link(lines.plain.lines[2], forge_envelope(&stranger, link)));
    outcome out = verify_lines(&lines);
    check_outcome(out, CS_FAILED, "3 envelope-key-unknown");
    cr_expect_str_eq(out.err.where, "line 3: link");
}

Test(verify_lines, a_record_in_the_place_of_a_link) {
    linked_case lines = linked_runs();
    forge_run run = forge_single();
    linked_again(&lines, 2, forge_with_link(lines.plain.lines[2], forge_envelope(&lines.key, forge_statement(&run))));
    check_outcome(verify_lines(&lines), CS_FAILED, "3 statement-type");
}

/* ---- lines that are missing, moved, copied -------------------------------------------------------- */

Test(verify_lines, a_line_taken_out_is_one_fault) {
    for (size_t at = 0; at < LINKED_RUNS; at++) {
        linked_case lines = linked_runs();
        forge_remove(&lines.bundle, at);
        outcome out = verify_lines(&lines);
        check_outcome(out, CS_FAILED, forge_text("%zu link-index", at + 1));
        cr_expect_not(out.summary.linked);
    }
}

Test(verify_lines, a_line_twice) {
    linked_case lines = linked_runs();
    forge_insert(&lines.bundle, 2, lines.bundle.lines[1]);
    check_outcome(verify_lines(&lines), CS_FAILED, "3 link-index");
}

Test(verify_lines, lines_that_changed_places) {
    linked_case lines = linked_runs();
    char *second = lines.bundle.lines[1];
    lines.bundle.lines[1] = lines.bundle.lines[2];
    lines.bundle.lines[2] = second;
    check_outcome(verify_lines(&lines), CS_FAILED, "2 link-index; 3 link-index");
}

/* A line of another bundle by the same signer, at the same place. */
Test(verify_lines, a_line_of_another_bundle) {
    linked_case lines = linked_runs();
    linked_case other = {.key = lines.key};
    for (uint64_t i = 0; i < LINKED_RUNS; i++) {
        forge_run run = forge_single();
        run.started -= 100 + i;
        forge_seal(&run);
        forge_add(&other.bundle, forge_run_line(&other.key, &run));
    }
    forge_link_lines(&other.bundle, &other.key, 0);
    lines.bundle.lines[2] = other.bundle.lines[2];
    check_outcome(verify_lines(&lines), CS_FAILED, "3 link-previous");
    lines.bundle.lines[2] = linked_runs().bundle.lines[2];
    check_outcome(verify_lines(&lines), CS_OK, "");
    /* The first line names none before it, so the fault shows at the second. */
    lines.bundle.lines[0] = other.bundle.lines[0];
    check_outcome(verify_lines(&lines), CS_FAILED, "2 link-previous");
}

/* ---- the end -------------------------------------------------------------------------------------- */

Test(verify_lines, a_missing_checkpoint) {
    linked_case lines = linked_runs();
    forge_remove(&lines.bundle, LINKED_RUNS);
    outcome out = verify_lines(&lines);
    check_outcome(out, CS_FAILED, "5 checkpoint-missing");
    cr_expect_not(out.summary.linked);
    forge_remove(&lines.bundle, LINKED_RUNS - 1);
    check_outcome(verify_lines(&lines), CS_FAILED, "4 checkpoint-missing");
}

Test(verify_lines, a_checkpoint_that_counts_otherwise) {
    linked_case lines = linked_runs();
    const char *previous = linked_digest(lines.bundle.lines[LINKED_RUNS - 1]);
    lines.bundle.lines[LINKED_RUNS] = linked_checkpoint(&lines, LINKED_RUNS + 1, previous, LINKED_RUNS - 1);
    check_outcome(verify_lines(&lines), CS_FAILED, "6 checkpoint-lines");
    lines.bundle.lines[LINKED_RUNS] = linked_checkpoint(&lines, LINKED_RUNS + 1, previous, LINKED_RUNS);
    check_outcome(verify_lines(&lines), CS_OK, "");
    lines.bundle.lines[LINKED_RUNS] =
        linked_checkpoint(&lines, LINKED_RUNS + 1, linked_digest(lines.bundle.lines[0]), LINKED_RUNS);
    check_outcome(verify_lines(&lines), CS_FAILED, "6 link-previous");
}

/* A bad checkpoint is reported as what it is, not as a missing one besides. */
Test(verify_lines, a_checkpoint_signed_by_a_stranger) {
    linked_case lines = linked_runs();
    forge_key key = lines.key;
    lines.key = forge_key_from(9);
    char *line =
        linked_checkpoint(&lines, LINKED_RUNS + 1, linked_digest(lines.bundle.lines[LINKED_RUNS - 1]), LINKED_RUNS);
    lines.key = key;
    lines.bundle.lines[LINKED_RUNS] = line;
    check_outcome(verify_lines(&lines), CS_FAILED, "6 envelope-key-unknown");
}

Test(verify_lines, a_checkpoints_link_on_an_entry_and_an_entrys_link_alone) {
    linked_case lines = linked_runs();
    char *link = forge_link(3, linked_digest(lines.bundle.lines[1]), NULL, 2);
    linked_again(&lines, 2, forge_with_link(lines.plain.lines[2], forge_envelope(&lines.key, link)));
    outcome out = verify_lines(&lines);
    check_outcome(out, CS_FAILED, "3 link-entry");
    cr_expect_not_null(strstr(out.err.message, "checkpoint"), "%s", out.err.message);

    lines = linked_runs();
    link = forge_link(3, linked_digest(lines.bundle.lines[1]), linked_digest(lines.plain.lines[2]), 0);
    linked_again(&lines, 2, forge_text("{\"link\":%s}", forge_envelope(&lines.key, link)));
    out = verify_lines(&lines);
    check_outcome(out, CS_FAILED, "3 link-entry");
    cr_expect_not_null(strstr(out.err.message, "alone"), "%s", out.err.message);
    cr_expect_eq(out.summary.runs, LINKED_RUNS - 1);
}

/* Appending to a bundle goes on behind its checkpoint and makes a new one. */
Test(verify_lines, a_bundle_that_was_appended_to) {
    linked_case lines = linked_runs();
    size_t from = lines.bundle.count;
    forge_run run = forge_single();
    run.started += 1000;
    run.ended += 1000;
    forge_seal(&run);
    forge_add(&lines.bundle, forge_run_line(&lines.key, &run));
    forge_link_lines(&lines.bundle, &lines.key, from);
    outcome out = verify_lines(&lines);
    check_outcome(out, CS_OK, "");
    cr_expect(out.summary.linked);
    cr_expect_eq(out.summary.runs, LINKED_RUNS + 1);
    cr_expect_eq(out.summary.entries, LINKED_RUNS + 3);
    forge_remove(&lines.bundle, lines.bundle.count - 1);
    check_outcome(verify_lines(&lines), CS_FAILED, "7 checkpoint-missing");
}

Test(verify_lines, a_file_cut_within_a_line) {
    linked_case lines = linked_runs();
    cs_trust trust = {.count = 0};
    trust_key(&trust, &lines.key);
    forge_bytes file = forge_file(&lines.bundle);
    outcome out = verify_bytes(file.ptr, file.len - 1, &trust);
    check_outcome(out, CS_FAILED, "6 line-unfinished");
    cr_expect_str_eq(out.err.where, "line 6");
    cr_expect_not(out.summary.linked);
    out = verify_bytes(file.ptr, file.len, &trust);
    check_outcome(out, CS_OK, "");
}

/* ---- some with links, some without ---------------------------------------------------------------- */

Test(verify_lines, lines_without_a_link_among_others) {
    for (size_t at = 1; at < LINKED_RUNS; at++) {
        linked_case lines = linked_runs();
        lines.bundle.lines[at] = lines.plain.lines[at];
        outcome out = verify_lines(&lines);
        check_outcome(out, CS_FAILED, forge_text("%zu bundle-mixed", at + 1));
        cr_expect_not(out.summary.linked);
    }
}

Test(verify_lines, a_first_line_without_a_link) {
    linked_case lines = linked_runs();
    lines.bundle.lines[0] = lines.plain.lines[0];
    check_outcome(verify_lines(&lines), CS_FAILED, "2 bundle-mixed");
}

Test(verify_lines, a_bundle_without_links_that_was_appended_to_with_links) {
    linked_case lines = linked_runs();
    lines.bundle = lines.plain;
    check_outcome(verify_lines(&lines), CS_OK, "");
    forge_link_lines(&lines.bundle, &lines.key, 3);
    check_outcome(verify_lines(&lines), CS_FAILED, "4 bundle-mixed");
}

/* ---- one fault is said once ----------------------------------------------------------------------- */

Test(verify_lines, a_bad_entry_does_not_make_its_own_link_or_the_next_line_bad) {
    for (size_t at = 0; at < LINKED_RUNS; at++) {
        linked_case lines = linked_runs();
        char *id = strstr(lines.bundle.lines[at], lines.key.id);
        cr_assert_not_null(id);
        memcpy(id, forge_key_from(9).id, 64);
        outcome out = verify_lines(&lines);
        check_outcome(out, CS_FAILED, forge_text("%zu envelope-key-unknown", at + 1));
        cr_expect_not(out.summary.linked);
    }
}

Test(verify_lines, a_line_that_can_not_be_read) {
    linked_case lines = linked_runs();
    lines.bundle.lines[2] = forge_text("%s", "{\"link\":1}");
    check_outcome(verify_lines(&lines), CS_FAILED, "3 line-framing");
    lines = linked_runs();
    lines.bundle.lines[LINKED_RUNS] = forge_text("%s", "{\"link\":1}");
    check_outcome(verify_lines(&lines), CS_FAILED, "6 line-framing");
}
