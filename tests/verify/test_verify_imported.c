/* The lines of imported bundles in a ledger: each case differs in one thing from a ledger that passes. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/verify/imported_case.h"

/* All lines of a bundle in a ledger of their own. */
static outcome verify_lines(const linked_case *lines) {
    imported_case ledger = imported_begin();
    imported_lines(&ledger, &lines->bundle, 0, lines->bundle.count);
    outcome out = imported_verify(&ledger, &lines->key);
    imported_end(&ledger);
    return out;
}

/* Another bundle by the same signer. */
static linked_case other_runs(void) {
    linked_case out = {.key = forge_key_from(1)};
    for (uint64_t i = 0; i < LINKED_RUNS; i++) {
        forge_run run = forge_single();
        run.started -= 100 + i;
        forge_seal(&run);
        forge_add(&out.plain, forge_run_line(&out.key, &run));
    }
    out.bundle = out.plain;
    forge_link_lines(&out.bundle, &out.key, 0);
    return out;
}

Test(verify_imported, a_linked_bundle) {
    linked_case lines = linked_runs();
    outcome out = verify_lines(&lines);
    check_outcome(out, CS_OK, "");
    cr_expect_str_eq(out.entries, "1 run#1; 2 run#2; 3 run#3; 4 run#4; 5 run#5; 6 checkpoint#6");
    cr_expect_str_eq(out.runs, "1 2 3 4 5");
    cr_expect_eq(out.summary.entries, LINKED_RUNS + 1);
    cr_expect_eq(out.summary.runs, LINKED_RUNS);
    cr_expect_not(out.summary.linked);
    /* The same line made by hand, so that the cases below differ in what they say only. */
    linked_again(&lines, 2,
                 linked_line(&lines, 2, 3, linked_digest(lines.bundle.lines[1]), linked_digest(lines.plain.lines[2])));
    check_outcome(verify_lines(&lines), CS_OK, "");
}

Test(verify_imported, a_session_with_a_call_that_got_no_answer) {
    forge_key key = forge_key_from(1);
    linked_case lines = {.key = key};
    forge_run run = forge_single();
    run.session = FORGE_SESSION;
    run.sequence = 1;
    run.version = 3;
    run.unanswered = "internal";
    forge_seal(&run);
    forge_add(&lines.bundle, forge_run_line(&key, &run));
    forge_add(&lines.bundle,
              forge_line(NULL, NULL, forge_envelope(&key, forge_close(FORGE_SESSION, 1, run.record_sha256))));
    forge_link_lines(&lines.bundle, &key, 0);
    outcome out = verify_lines(&lines);
    check_outcome(out, CS_OK, "");
    cr_expect_str_eq(out.entries, "1 unanswered#1; 2 close#2; 3 checkpoint#3");
    cr_expect_eq(out.summary.sessions, 1);
}

/* A link's entry digest covers the whole line, so nothing of it is uncovered. */
Test(verify_imported, what_is_covered) {
    forge_key key = forge_key_from(1);
    forge_run run = forge_single();
    run.trace_id = "some";
    linked_case lines = {.key = key};
    forge_add(&lines.bundle, forge_run_line(&key, &run));
    cr_expect_eq(verify_lines(&lines).summary.uncovered.trace_ids, 1);
    forge_link_lines(&lines.bundle, &key, 0);
    cr_expect_eq(verify_lines(&lines).summary.uncovered.trace_ids, 0);
}

/* What passes as a bundle passes in a ledger. */
Test(verify_imported, a_bundle_that_begins_with_a_checkpoint) {
    linked_case lines = {.key = forge_key_from(1)};
    forge_add(&lines.bundle, linked_checkpoint(&lines, 1, "", 0));
    forge_run run = forge_single();
    forge_add(&lines.bundle, forge_run_line(&lines.key, &run));
    forge_link_lines(&lines.bundle, &lines.key, 1);
    check_outcome(verify_bundle(&lines.bundle, &lines.key), CS_OK, "");
    check_outcome(verify_lines(&lines), CS_OK, "");
    lines.bundle.lines[0] = linked_checkpoint(&lines, 2, "", 1);
    check_outcome(verify_bundle(&lines.bundle, &lines.key), CS_FAILED, "1 statement-subject");
    check_outcome(verify_lines(&lines), CS_FAILED, "1 statement-subject");
}

/* ---- several ------------------------------------------------------------------------------------- */

Test(verify_imported, two_bundles_in_pieces_between_one_another) {
    linked_case a = linked_runs();
    linked_case b = other_runs();
    imported_case ledger = imported_begin();
    imported_lines(&ledger, &a.bundle, 0, 2);
    imported_own_run(&ledger, &a.key);
    imported_lines(&ledger, &b.bundle, 0, 6);
    imported_own_run(&ledger, &a.key);
    imported_lines(&ledger, &a.bundle, 2, 6);
    outcome out = imported_verify(&ledger, &a.key);
    check_outcome(out, CS_OK, "");
    cr_expect_eq(out.summary.runs, 2 * LINKED_RUNS + 2);
    cr_expect_eq(strncmp(out.entries, "1 run#1; 2 run#2; 3 run; 4 run#1;", 33), 0, "%s", out.entries);

    /* The first goes on behind its checkpoint, and then needs a new one. */
    size_t from = a.bundle.count;
    forge_run run = forge_single();
    run.started += 500;
    run.ended += 500;
    forge_seal(&run);
    forge_add(&a.bundle, forge_run_line(&a.key, &run));
    forge_link_lines(&a.bundle, &a.key, from);
    imported_lines(&ledger, &a.bundle, from, from + 1);
    check_outcome(imported_verify(&ledger, &a.key), CS_FAILED, "15 checkpoint-missing");
    imported_lines(&ledger, &a.bundle, from + 1, from + 2);
    check_outcome(imported_verify(&ledger, &a.key), CS_OK, "");
    imported_end(&ledger);
}

Test(verify_imported, each_bundle_needs_its_own_end) {
    linked_case a = linked_runs();
    linked_case b = other_runs();
    imported_case ledger = imported_begin();
    imported_lines(&ledger, &a.bundle, 0, 5);
    imported_lines(&ledger, &b.bundle, 0, 6);
    check_outcome(imported_verify(&ledger, &a.key), CS_FAILED, "5 checkpoint-missing");
    imported_lines(&ledger, &a.bundle, 5, 6);
    check_outcome(imported_verify(&ledger, &a.key), CS_OK, "");
    imported_end(&ledger);

    ledger = imported_begin();
    imported_lines(&ledger, &a.bundle, 0, 4);
    imported_lines(&ledger, &b.bundle, 0, 5);
    check_outcome(imported_verify(&ledger, &a.key), CS_FAILED, "4 checkpoint-missing; 9 checkpoint-missing");
    imported_end(&ledger);
}

/* ---- a link that says something wrong ------------------------------------------------------------- */

Test(verify_imported, a_wrong_index) {
    linked_case lines = linked_runs();
    linked_again(&lines, 2,
                 linked_line(&lines, 2, 4, linked_digest(lines.bundle.lines[1]), linked_digest(lines.plain.lines[2])));
    outcome out = verify_lines(&lines);
    check_outcome(out, CS_FAILED, "3 link-index");
    cr_expect_str_eq(out.err.where, "entry 3: link");
    cr_expect_str_eq(out.runs, "1 2 4 5");
}

Test(verify_imported, a_line_before_it_that_has_a_follower) {
    linked_case lines = linked_runs();
    linked_again(&lines, 2,
                 linked_line(&lines, 2, 2, linked_digest(lines.bundle.lines[0]), linked_digest(lines.plain.lines[2])));
    check_outcome(verify_lines(&lines), CS_FAILED, "3 link-previous");
}

Test(verify_imported, a_line_before_it_that_is_not_there) {
    linked_case lines = linked_runs();
    linked_again(&lines, 2, linked_line(&lines, 2, 3, linked_digest("x"), linked_digest(lines.plain.lines[2])));
    check_outcome(verify_lines(&lines), CS_FAILED, "3 link-previous");
}

Test(verify_imported, a_first_line_that_names_one_before_it) {
    linked_case lines = linked_runs();
    linked_again(&lines, 0, linked_line(&lines, 0, 1, linked_digest("x"), linked_digest(lines.plain.lines[0])));
    check_outcome(verify_lines(&lines), CS_FAILED, "1 link-previous");
}

Test(verify_imported, a_later_line_that_names_none_before_it) {
    linked_case lines = linked_runs();
    linked_again(&lines, 2, linked_line(&lines, 2, 3, "", linked_digest(lines.plain.lines[2])));
    check_outcome(verify_lines(&lines), CS_FAILED, "3 link-previous");
}

Test(verify_imported, a_wrong_entry) {
    linked_case lines = linked_runs();
    linked_again(&lines, 2,
                 linked_line(&lines, 2, 3, linked_digest(lines.bundle.lines[1]), linked_digest(lines.plain.lines[3])));
    check_outcome(verify_lines(&lines), CS_FAILED, "3 link-entry");
}

/* Bytes that no record covers are covered by the link. */
Test(verify_imported, an_entry_exchanged_for_its_twin_with_another_trace_id) {
    linked_case lines = linked_runs();
    forge_run run = forge_single();
    run.trace_id = "other";
    char *link = forge_link(1, "", linked_digest(lines.plain.lines[0]), 0);
    lines.bundle.lines[0] = forge_with_link(forge_run_line(&lines.key, &run), forge_envelope(&lines.key, link));
    check_outcome(verify_lines(&lines), CS_FAILED, "1 link-entry");
}

static linked_case with_link(const char *envelope) {
    linked_case lines = linked_runs();
    linked_again(&lines, 2, forge_with_link(lines.plain.lines[2], envelope));
    return lines;
}

Test(verify_imported, a_link_that_is_not_signed_well) {
    linked_case lines = linked_runs();
    forge_key stranger = forge_key_from(9);
    forge_run run = forge_single();
    const char *good = forge_link(3, linked_digest(lines.bundle.lines[1]), linked_digest(lines.plain.lines[2]), 0);
    lines = with_link(forge_envelope(&lines.key, good));
    check_outcome(verify_lines(&lines), CS_OK, "");
    lines = with_link(forge_envelope(&stranger, good));
    outcome out = verify_lines(&lines);
    check_outcome(out, CS_FAILED, "3 envelope-key-unknown");
    cr_expect_str_eq(out.err.where, "entry 3: link");

    char *changed = forge_envelope(&lines.key, good);
    char *signature = strstr(changed, "\"sig\":\"") + 7;
    signature[0] = signature[0] == 'A' ? 'B' : 'A';
    lines = with_link(changed);
    check_outcome(verify_lines(&lines), CS_FAILED, "3 envelope-signature");
    lines = with_link("{}");
    check_outcome(verify_lines(&lines), CS_FAILED, "3 envelope-malformed");
    lines = with_link(forge_envelope(&lines.key, forge_statement(&run)));
    check_outcome(verify_lines(&lines), CS_FAILED, "3 statement-type");
    lines = with_link(forge_envelope(&lines.key, forge_text("%s ", good)));
    out = verify_lines(&lines);
    cr_expect_eq(out.result, CS_FAILED);
    cr_expect_eq(strncmp(out.findings, "3 statement-", 12), 0, "%s", out.findings);
}

Test(verify_imported, a_checkpoints_link_on_an_entry_and_an_entrys_link_alone) {
    linked_case lines = linked_runs();
    const char *before = linked_digest(lines.bundle.lines[1]);
    lines = with_link(forge_envelope(&lines.key, forge_link(3, before, NULL, 2)));
    outcome out = verify_lines(&lines);
    check_outcome(out, CS_FAILED, "3 link-entry");
    cr_expect_not_null(strstr(out.err.message, "checkpoint"), "%s", out.err.message);

    lines = linked_runs();
    char *link = forge_link(3, before, linked_digest(lines.plain.lines[2]), 0);
    linked_again(&lines, 2, forge_text("{\"link\":%s}", forge_envelope(&lines.key, link)));
    out = verify_lines(&lines);
    check_outcome(out, CS_FAILED, "3 link-entry");
    cr_expect_not_null(strstr(out.err.message, "alone"), "%s", out.err.message);
    cr_expect_eq(out.summary.runs, LINKED_RUNS - 1);
}

Test(verify_imported, a_checkpoint_that_counts_otherwise) {
    linked_case lines = linked_runs();
    const char *previous = linked_digest(lines.bundle.lines[LINKED_RUNS - 1]);
    lines.bundle.lines[LINKED_RUNS] = linked_checkpoint(&lines, LINKED_RUNS + 1, previous, LINKED_RUNS - 1);
    check_outcome(verify_lines(&lines), CS_FAILED, "6 checkpoint-lines");
    lines.bundle.lines[LINKED_RUNS] = linked_checkpoint(&lines, LINKED_RUNS + 1, previous, LINKED_RUNS);
    check_outcome(verify_lines(&lines), CS_OK, "");
}

/* ---- lines that are missing, copied, moved -------------------------------------------------------- */

Test(verify_imported, a_line_that_is_missing_is_one_fault) {
    for (size_t at = 0; at < LINKED_RUNS; at++) {
        linked_case lines = linked_runs();
        forge_remove(&lines.bundle, at);
        check_outcome(verify_lines(&lines), CS_FAILED, forge_text("%zu link-previous", at + 1));
    }
}

Test(verify_imported, lines_that_are_missing_at_the_end) {
    linked_case lines = linked_runs();
    forge_remove(&lines.bundle, LINKED_RUNS);
    outcome out = verify_lines(&lines);
    check_outcome(out, CS_FAILED, "5 checkpoint-missing");
    cr_expect_str_eq(out.err.where, "entry 5");
    forge_remove(&lines.bundle, LINKED_RUNS - 1);
    check_outcome(verify_lines(&lines), CS_FAILED, "4 checkpoint-missing");
}

/* The single run also counts once; the copy of its line is what fails. */
Test(verify_imported, a_line_twice) {
    linked_case lines = linked_runs();
    for (size_t at = 0; at < LINKED_RUNS; at++) {
        lines = linked_runs();
        forge_insert(&lines.bundle, LINKED_RUNS + 1, lines.bundle.lines[at]);
        outcome out = verify_lines(&lines);
        check_outcome(out, CS_FAILED, "7 link-previous");
        cr_expect_str_eq(out.runs, "1 2 3 4 5");
    }
}

Test(verify_imported, a_link_that_was_taken_off) {
    linked_case lines = linked_runs();
    lines.bundle.lines[2] = lines.plain.lines[2];
    check_outcome(verify_lines(&lines), CS_FAILED, "4 link-previous");
    lines = linked_runs();
    lines.bundle.lines[LINKED_RUNS - 1] = lines.plain.lines[LINKED_RUNS - 1];
    check_outcome(verify_lines(&lines), CS_FAILED, "6 link-previous");
}

Test(verify_imported, a_line_before_the_one_that_it_follows) {
    linked_case lines = linked_runs();
    char *last = lines.bundle.lines[LINKED_RUNS];
    forge_remove(&lines.bundle, LINKED_RUNS);
    forge_insert(&lines.bundle, 0, last);
    check_outcome(verify_lines(&lines), CS_FAILED, "1 link-previous; 6 checkpoint-missing");
}

/* ---- one fault is said once ----------------------------------------------------------------------- */

Test(verify_imported, a_row_that_was_changed_does_not_make_its_neighbours_bad) {
    for (int id = 1; id <= LINKED_RUNS + 1; id++) {
        linked_case lines = linked_runs();
        imported_case ledger = imported_begin();
        imported_lines(&ledger, &lines.bundle, 0, lines.bundle.count);
        imported_change(&ledger, forge_text("UPDATE entry SET daemon = 'other' WHERE id = %d", id));
        check_outcome(imported_verify(&ledger, &lines.key), CS_FAILED, forge_text("%d ledger-row", id));
        imported_end(&ledger);
    }
}

/* The row's digest has the messages of a run by their lengths only. */
Test(verify_imported, a_message_that_was_changed) {
    for (int id = 1; id <= LINKED_RUNS; id++) {
        linked_case lines = linked_runs();
        imported_case ledger = imported_begin();
        imported_lines(&ledger, &lines.bundle, 0, lines.bundle.count);
        imported_change(&ledger,
                        forge_text("UPDATE entry SET request = CAST(replace(CAST(request AS TEXT), '6*7', '6*8')"
                                   " AS BLOB) WHERE id = %d",
                                   id));
        check_outcome(imported_verify(&ledger, &lines.key), CS_FAILED, forge_text("%d request-digest", id));
        imported_end(&ledger);
    }
}

/* The bytes are the linked ones, so the line stands where it should. */
Test(verify_imported, a_record_that_is_wrong_by_itself) {
    linked_case lines = linked_runs();
    forge_run run = forge_single();
    run.output = "43\n";
    linked_case wrong = {.key = lines.key};
    wrong.bundle = lines.plain;
    wrong.bundle.lines[2] = forge_run_line(&lines.key, &run);
    forge_link_lines(&wrong.bundle, &wrong.key, 0);
    check_outcome(verify_lines(&wrong), CS_FAILED, "3 result-digest");
    forge_remove(&wrong.bundle, LINKED_RUNS);
    check_outcome(verify_lines(&wrong), CS_FAILED, "3 result-digest; 5 checkpoint-missing");
}

/* A bad row explains one line before another one, and one behind another one. */
Test(verify_imported, what_a_bad_row_does_not_explain) {
    linked_case a = linked_runs();
    linked_case b = other_runs();
    imported_case ledger = imported_begin();
    imported_lines(&ledger, &a.bundle, 0, 5);
    imported_lines(&ledger, &b.bundle, 0, 5);
    imported_own_run(&ledger, &a.key);
    check_outcome(imported_verify(&ledger, &a.key), CS_FAILED, "5 checkpoint-missing; 10 checkpoint-missing");
    imported_change(&ledger, "UPDATE entry SET daemon = 'other' WHERE id = 11");
    check_outcome(imported_verify(&ledger, &a.key), CS_FAILED, "11 ledger-row; 10 checkpoint-missing");
    imported_end(&ledger);

    ledger = imported_begin(); /* one that stands before can't be what is missing behind */
    imported_own_run(&ledger, &a.key);
    imported_lines(&ledger, &a.bundle, 0, 5);
    imported_change(&ledger, "UPDATE entry SET daemon = 'other' WHERE id = 1");
    check_outcome(imported_verify(&ledger, &a.key), CS_FAILED, "1 ledger-row; 6 checkpoint-missing");
    imported_end(&ledger);

    ledger = imported_begin(); /* nor can a bad run of its own, which has no link */
    imported_lines(&ledger, &a.bundle, 0, 5);
    forge_run run = forge_single();
    run.output = "43\n";
    imported_add(&ledger, forge_run_line(&a.key, &run));
    check_outcome(imported_verify(&ledger, &a.key), CS_FAILED, "6 result-digest; 5 checkpoint-missing");
    imported_end(&ledger);
}

/* ---- sizes ---------------------------------------------------------------------------------------- */

#define LARGE ((size_t)36 * 1024 * 1024) /* 48 MiB in base64 */

/* A row whose line has the most bytes that base64 allows below those of a line, or one byte of the request more. */
static outcome verify_large(const uint8_t *large, bool more) {
    linked_case lines = linked_runs();
    cs_ledger_row row = imported_row(lines.bundle.lines[0]);
    size_t frame = strlen("{\"request\":\"\",\"response\":\"\",\"envelope\":,\"link\":}");
    size_t left = CS_MAX_LINE_BYTES - frame - row.envelope.len - row.link.len - LARGE / 3 * 4;
    row.response = cs_view_bytes(large, LARGE);
    row.request = cs_view_bytes(large, left / 4 * 3 + (more ? 1 : 0));
    imported_case ledger = imported_begin();
    raw_append(ledger.db, row);
    outcome out = imported_verify(&ledger, &lines.key);
    imported_end(&ledger);
    return out;
}

Test(verify_imported, what_is_larger_than_a_line) {
    uint8_t *large = calloc(1, LARGE);
    cr_assert_not_null(large);
    check_outcome(verify_large(large, false), CS_FAILED, "1 message-malformed");
    check_outcome(verify_large(large, true), CS_FAILED, "1 message-malformed; 1 link-entry");
    free(large);
}
