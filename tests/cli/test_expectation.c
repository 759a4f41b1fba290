/* `countersign verify` with --expect, --expect-count and --expect-head. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/cli/cli_case.h"

/* Three runs of different requests under one key, in one bundle and in parts of it. */
typedef struct scene {
    cli_case c;
    forge_key key;
    forge_run runs[3];
} scene;

static void write_runs(scene *s, const char *name, const char *numbers) {
    forge_bundle bundle = {.count = 0};
    for (const char *at = numbers; *at != '\0'; at++)
        forge_add(&bundle, forge_run_line(&s->key, &s->runs[*at - '0']));
    cli_write_bundle(&s->c, name, &bundle);
}

/* A file of the requests of these runs. */
static void write_expected(scene *s, const char *name, const char *numbers) {
    char *text = forge_text("# what was sent\n");
    for (const char *at = numbers; *at != '\0'; at++)
        text = forge_text("%s%s\n", text, s->runs[*at - '0'].request_sha256);
    cli_write_text(&s->c, name, text);
}

static void begin(scene *s) {
    cli_begin(&s->c);
    s->key = forge_key_from(1);
    cli_write_public_key(&s->c, "key.pub", &s->key);
    for (int i = 0; i < 3; i++) {
        s->runs[i] = forge_single();
        s->runs[i].code = forge_text("run %d", i);
        forge_seal(&s->runs[i]);
    }
    write_runs(s, "all.jsonl", "012");
    cli_write_text(&s->c, "empty.jsonl", "");
    write_expected(s, "all", "012");
}

static int verify(scene *s, const char *option, const char *value, const char *input) {
    return cli_json(&s->c, ARGS("verify", "-p", "key.pub", option, value, input));
}

Test(expectation, all_that_was_sent_is_there) {
    scene s;
    begin(&s);
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "all", "all.jsonl"), 0);
    EXPECT_TEXT(&s.c, "expectation.completeness", "every expected request has its record, and nothing else is there");
    cr_expect(json_is_true(cli_member(&s.c, "expectation.checked")));
    cr_expect_eq(cli_number(&s.c, "expectation.requests"), 3);
    cr_expect_eq(cli_number(&s.c, "expectation.records"), 3);
    cr_expect_eq(cli_number(&s.c, "expectation.missing"), 0);
    cr_expect_eq(cli_number(&s.c, "expectation.surplus"), 0);
    cr_expect(json_is_null(cli_member(&s.c, "expectation.count")));
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("verify", "-p", "key.pub", "--expect", "all", "all.jsonl")), 0);
    EXPECT_HAS(s.c.end.out, "expected: 3 requests; found: 3 distinct records\n");
    EXPECT_HAS(s.c.end.out, "complete? every expected request has its record, and nothing else is there\n");
    EXPECT_HAS_NOT(s.c.end.out, "nothing shows that this is all");
    /* Without it, nothing is said. */
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "-p", "key.pub", "all.jsonl")), 0);
    cr_expect(json_is_null(cli_member(&s.c, "expectation")));
    cli_end(&s.c);
}

Test(expectation, a_missing_record_is_named) {
    scene s;
    begin(&s);
    write_runs(&s, "two.jsonl", "02");
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "all", "two.jsonl"), 1);
    EXPECT_TEXT(&s.c, "code", "expect-missing");
    EXPECT_TEXT(&s.c, "inputs.0.verdict", "passed");
    cr_expect_eq(cli_number(&s.c, "expectation.missing"), 1);
    EXPECT_TEXT(&s.c, "expectation.missing_requests.0", s.runs[1].request_sha256);
    cr_expect_null(cli_member(&s.c, "expectation.missing_requests.1"));
    cr_expect_eq(cli_number(&s.c, "expectation.missing_left_out"), 0);
    cr_expect_null(cli_member(&s.c, "entry"));
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("verify", "-p", "key.pub", "--expect", "all", "two.jsonl")), 1);
    EXPECT_HAS(s.c.end.out, forge_text("  missing: %s\n", s.runs[1].request_sha256));
    EXPECT_HAS(s.c.end.out, "complete? no");
    EXPECT_HAS(s.c.end.err, "[expect-missing]");
    /* Expected of all that is there, it passes. */
    write_expected(&s, "two", "02");
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "two", "two.jsonl"), 0);
    cli_end(&s.c);
}

Test(expectation, the_list_of_missing_ones_is_bounded) {
    scene s;
    begin(&s);
    char *text = forge_text("%s\n", s.runs[0].request_sha256);
    for (unsigned i = 0; i < 101; i++)
        text = forge_text("%s%s\n", text, forge_sha256(&i, sizeof i));
    cli_write_text(&s.c, "many", text);
    write_runs(&s, "one.jsonl", "0");
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "many", "one.jsonl"), 1);
    cr_expect_eq(cli_number(&s.c, "expectation.missing"), 101);
    cr_expect_eq(json_array_size(cli_member(&s.c, "expectation.missing_requests")), 100);
    cr_expect_eq(cli_number(&s.c, "expectation.missing_left_out"), 1);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("verify", "-p", "key.pub", "--expect", "many", "one.jsonl")), 1);
    EXPECT_HAS(s.c.end.out, "  missing: and 1 more\n");
    cli_end(&s.c);
}

Test(expectation, a_surplus_record_is_reported_where_it_stands) {
    scene s;
    begin(&s);
    write_expected(&s, "two", "02");
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "two", "all.jsonl"), 1);
    EXPECT_TEXT(&s.c, "code", "expect-surplus");
    EXPECT_TEXT(&s.c, "found", s.runs[1].request_sha256);
    EXPECT_TEXT(&s.c, "where", "all.jsonl: line 2");
    cr_expect_eq(cli_number(&s.c, "entry"), 2);
    EXPECT_TEXT(&s.c, "inputs.0.verdict", "failed");
    EXPECT_TEXT(&s.c, "inputs.0.findings.0.code", "expect-surplus");
    cr_expect_eq(cli_number(&s.c, "inputs.0.findings.0.entry"), 2);
    cr_expect_null(cli_member(&s.c, "inputs.0.findings.1"));
    cr_expect_eq(cli_number(&s.c, "inputs.0.failures"), 1);
    cr_expect_eq(cli_number(&s.c, "expectation.surplus"), 1);
    cr_expect_eq(cli_number(&s.c, "expectation.missing"), 0);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("verify", "-p", "key.pub", "--expect", "two", "all.jsonl")), 1);
    EXPECT_HAS(s.c.end.out, "all.jsonl: line 2: expect-surplus: ");
    EXPECT_HAS(s.c.end.out, "complete? no: there is more than was expected");
    cli_end(&s.c);
}

/* Two records of one request: as often as it is expected. The times make them different records. */
Test(expectation, a_request_counts_as_often_as_it_stands_there) {
    scene s;
    begin(&s);
    s.runs[1] = s.runs[0];
    s.runs[1].ended++;
    forge_seal(&s.runs[1]);
    cr_assert_str_eq(s.runs[0].request_sha256, s.runs[1].request_sha256);
    write_runs(&s, "twice.jsonl", "01");
    write_expected(&s, "twice", "00");
    write_expected(&s, "once", "0");
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "twice", "twice.jsonl"), 0);
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "once", "twice.jsonl"), 1);
    EXPECT_TEXT(&s.c, "code", "expect-surplus");
    cr_expect_eq(cli_number(&s.c, "entry"), 2);
    write_runs(&s, "one.jsonl", "0");
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "once", "one.jsonl"), 0);
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "twice", "one.jsonl"), 1);
    EXPECT_TEXT(&s.c, "code", "expect-missing");
    cli_end(&s.c);
}

Test(expectation, a_duplicate_counts_once_within_an_input_and_over_several) {
    scene s;
    begin(&s);
    write_runs(&s, "again.jsonl", "0012");
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "all", "again.jsonl"), 0);
    EXPECT_EXIT(&s.c, verify(&s, "--expect-count", "3", "again.jsonl"), 0);
    write_runs(&s, "left.jsonl", "01");
    write_runs(&s, "right.jsonl", "12");
    const char *const line[] = {"verify",         "-p", "key.pub",    "--expect",    "all",
                                "--expect-count", "3",  "left.jsonl", "right.jsonl", NULL};
    EXPECT_EXIT(&s.c, cli_json(&s.c, line), 0);
    cr_expect_eq(cli_number(&s.c, "expectation.records"), 3);
    cr_expect_eq(cli_number(&s.c, "inputs.0.runs"), 2);
    cr_expect_eq(cli_number(&s.c, "inputs.1.runs"), 2);
    cli_end(&s.c);
}

Test(expectation, an_unanswered_call_counts) {
    scene s;
    begin(&s);
    forge_run call = forge_single();
    call.session = FORGE_SESSION;
    call.sequence = 1;
    call.version = 3;
    call.unanswered = "deadline_exceeded";
    forge_seal(&call);
    forge_bundle bundle = {.count = 0};
    forge_add(&bundle, forge_run_line(&s.key, &call));
    char *close = forge_close(FORGE_SESSION, 1, call.record_sha256);
    forge_add(&bundle, forge_line(NULL, NULL, forge_envelope(&s.key, close)));
    cli_write_bundle(&s.c, "session.jsonl", &bundle);
    s.runs[0] = call;
    write_expected(&s, "call", "0");
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "call", "session.jsonl"), 0);
    cr_expect_eq(cli_number(&s.c, "inputs.0.unanswered"), 1);
    EXPECT_EXIT(&s.c, verify(&s, "--expect-count", "1", "session.jsonl"), 0);
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "all", "session.jsonl"), 1);
    cli_end(&s.c);
}

Test(expectation, the_number_of_records) {
    scene s;
    begin(&s);
    EXPECT_EXIT(&s.c, verify(&s, "--expect-count", "3", "all.jsonl"), 0);
    EXPECT_HAS(cli_text(&s.c, "expectation.completeness"), "exactly as many records as expected");
    cr_expect(json_is_null(cli_member(&s.c, "expectation.requests")));
    EXPECT_EXIT(&s.c, verify(&s, "--expect-count", "2", "all.jsonl"), 1);
    EXPECT_TEXT(&s.c, "code", "expect-count");
    EXPECT_TEXT(&s.c, "expected", "2");
    EXPECT_TEXT(&s.c, "found", "3");
    EXPECT_EXIT(&s.c, verify(&s, "--expect-count", "4", "all.jsonl"), 1);
    EXPECT_TEXT(&s.c, "code", "expect-count");
    EXPECT_EXIT(&s.c, verify(&s, "--expect-count", "0", "all.jsonl"), 2);
    EXPECT_EXIT(&s.c, verify(&s, "--expect-count", "-1", "all.jsonl"), 2);
    EXPECT_EXIT(&s.c, verify(&s, "--expect-count", "3x", "all.jsonl"), 2);
    cli_end(&s.c);
}

/* Nothing to verify is 6 by itself; when something was expected of it, it is missing. */
Test(expectation, an_empty_input) {
    scene s;
    begin(&s);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "-p", "key.pub", "empty.jsonl")), 6);
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "all", "empty.jsonl"), 1);
    EXPECT_TEXT(&s.c, "code", "expect-missing");
    EXPECT_EXIT(&s.c, verify(&s, "--expect-count", "1", "empty.jsonl"), 1);
    EXPECT_TEXT(&s.c, "code", "expect-count");
    const char *const line[] = {"verify", "-p", "key.pub", "--expect", "all", "empty.jsonl", "all.jsonl", NULL};
    EXPECT_EXIT(&s.c, cli_json(&s.c, line), 6);
    EXPECT_TEXT(&s.c, "code", "nothing-to-check");
    cr_expect_eq(cli_number(&s.c, "expectation.missing"), 0);
    cli_end(&s.c);
}

Test(expectation, a_failed_verification_is_the_first_reason) {
    scene s;
    begin(&s);
    s.runs[2].output = "not what was signed";
    write_runs(&s, "bad.jsonl", "012");
    write_expected(&s, "first", "0");
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "first", "bad.jsonl"), 1);
    EXPECT_TEXT(&s.c, "code", "result-digest");
    cr_expect_eq(cli_number(&s.c, "entry"), 3);
    EXPECT_TEXT(&s.c, "inputs.0.findings.0.code", "expect-surplus");
    EXPECT_TEXT(&s.c, "inputs.0.findings.1.code", "result-digest");
    cr_expect_eq(cli_number(&s.c, "inputs.0.failures"), 2);
    cr_expect(json_is_false(cli_member(&s.c, "expectation.checked")));
    cr_expect(json_is_null(cli_member(&s.c, "expectation.missing")));
    EXPECT_HAS(cli_text(&s.c, "expectation.completeness"), "not determined");
    /* What can't be read is no verdict on what is missing. */
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "all", "no-such-file"), 5);
    EXPECT_TEXT(&s.c, "code", "io");
    cr_expect(json_is_false(cli_member(&s.c, "expectation.checked")));
    cli_end(&s.c);
}

Test(expectation, the_file_of_digests_must_be_good) {
    scene s;
    begin(&s);
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "all", "all.jsonl"), 0);
    cli_write_text(&s.c, "none", "# nothing\n");
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "none", "all.jsonl"), 5);
    EXPECT_TEXT(&s.c, "code", "expect-malformed");
    cli_write_text(&s.c, "odd", "# one\nabc\n");
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "odd", "all.jsonl"), 5);
    EXPECT_TEXT(&s.c, "code", "expect-malformed");
    EXPECT_TEXT(&s.c, "where", "odd: line 2");
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "no-such-file", "all.jsonl"), 5);
    EXPECT_TEXT(&s.c, "code", "io");
    EXPECT_EXIT(&s.c, verify(&s, "--expect", "-", "-"), 2);
    EXPECT_HAS(cli_text(&s.c, "message"), "standard input can't be both");
    cli_end(&s.c);
}

/* ---- heads ------------------------------------------------------------------------------------------ */

/* A linked bundle, and the digest of its last line. */
static char *write_linked(scene *s, const char *name, const char *numbers) {
    forge_bundle bundle = {.count = 0};
    for (const char *at = numbers; *at != '\0'; at++)
        forge_add(&bundle, forge_run_line(&s->key, &s->runs[*at - '0']));
    forge_link_lines(&bundle, &s->key, 0);
    cli_write_bundle(&s->c, name, &bundle);
    const char *last = bundle.lines[bundle.count - 1];
    return forge_sha256(last, strlen(last));
}

Test(expectation, the_head_is_told_and_can_be_expected_later) {
    scene s;
    begin(&s);
    char *head = write_linked(&s, "linked.jsonl", "012");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "-p", "key.pub", "linked.jsonl")), 0);
    EXPECT_TEXT(&s.c, "inputs.0.head", head);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("verify", "-p", "key.pub", "linked.jsonl")), 0);
    EXPECT_HAS(s.c.end.out, forge_text("  head: %s ", head));
    EXPECT_EXIT(&s.c, verify(&s, "--expect-head", head, "linked.jsonl"), 0);
    EXPECT_HAS(cli_text(&s.c, "inputs.0.completeness"), "the expected head is among them");
    /* The same lines but the last run, with a checkpoint of their own: nothing in them is wrong. */
    (void)write_linked(&s, "cut.jsonl", "01");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "-p", "key.pub", "cut.jsonl")), 0);
    EXPECT_EXIT(&s.c, verify(&s, "--expect-head", head, "cut.jsonl"), 1);
    EXPECT_TEXT(&s.c, "code", "head-missing");
    cr_expect(json_is_null(cli_member(&s.c, "inputs.0.head")));
    /* A bundle without links has no head. */
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "-p", "key.pub", "all.jsonl")), 0);
    cr_expect(json_is_null(cli_member(&s.c, "inputs.0.head")));
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("verify", "-p", "key.pub", "all.jsonl")), 0);
    EXPECT_HAS_NOT(s.c.end.out, "head:");
    /* One of its lines says nothing of the others, so it can't be expected as a head. */
    char *line = forge_run_line(&s.key, &s.runs[1]);
    EXPECT_EXIT(&s.c, verify(&s, "--expect-head", forge_sha256(line, strlen(line)), "all.jsonl"), 1);
    EXPECT_TEXT(&s.c, "code", "head-missing");
    EXPECT_HAS(cli_text(&s.c, "message"), "not linked");
    EXPECT_EXIT(&s.c, verify(&s, "--expect-head", head, "empty.jsonl"), 1);
    EXPECT_TEXT(&s.c, "code", "head-missing");
    cli_end(&s.c);
}

Test(expectation, a_head_is_64_digits_of_one_input) {
    scene s;
    begin(&s);
    char *head = write_linked(&s, "linked.jsonl", "012");
    EXPECT_EXIT(&s.c, verify(&s, "--expect-head", head, "linked.jsonl"), 0);
    EXPECT_EXIT(&s.c, verify(&s, "--expect-head", forge_text("%.63s", head), "linked.jsonl"), 2);
    EXPECT_EXIT(&s.c, verify(&s, "--expect-head", forge_text("%sa", head), "linked.jsonl"), 2);
    EXPECT_EXIT(&s.c, verify(&s, "--expect-head", forge_text("%.63sA", head), "linked.jsonl"), 2);
    const char *const line[] = {"verify", "-p", "key.pub", "--expect-head", head, "linked.jsonl", "linked.jsonl", NULL};
    EXPECT_EXIT(&s.c, cli_json(&s.c, line), 2);
    EXPECT_HAS(cli_text(&s.c, "message"), "about one input");
    cli_end(&s.c);
}

Test(expectation, the_small_program_has_it_all) {
    scene s;
    begin(&s);
    char *head = write_linked(&s, "linked.jsonl", "012");
    write_runs(&s, "two.jsonl", "02");
    const char *const good[] = {"-p", "key.pub",       "--expect", "all",          "--expect-count",
                                "3",  "--expect-head", head,       "linked.jsonl", NULL};
    EXPECT_EXIT(&s.c, cli_run_program(&s.c, "countersign-verify", good), 0);
    EXPECT_EXIT(&s.c,
                cli_run_program(&s.c, "countersign-verify", ARGS("-p", "key.pub", "--expect", "all", "two.jsonl")), 1);
    EXPECT_HAS(s.c.end.err, "[expect-missing]");
    cli_end(&s.c);
}
