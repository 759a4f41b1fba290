/* `countersign show`: what is in an entry, safe to look at, and never taken for verified. */
#include "tests/cli/bundles.h"

#define HOSTILE "line one\n\x1b[2J\x1b]0;owned\x07 \xe2\x80\xae evil\nentry 9: run, verified\n"

static void begin(cli_case *c) {
    cli_begin(c);
    forge_run run = forge_single();
    run.code = "console.log('\x1b[31m')";
    run.output = HOSTILE;
    (void)bundles_write(c, run, 1);
}

Test(show, lists_without_verifying_and_says_so) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("show", "good.jsonl")), 0);
    EXPECT_HAS(c.end.out, "signature not checked here");
    EXPECT_HAS(c.end.out, "session-call");
    EXPECT_HAS(c.end.out, "close");
    EXPECT_HAS(c.end.out, "not-checked");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "good.jsonl")), 0);
    EXPECT_TEXT(&c, "note", "signature not checked here");
    EXPECT_TEXT(&c, "kind", "bundle");
    EXPECT_TEXT(&c, "entries.0.kind", "run");
    EXPECT_TEXT(&c, "entries.0.verification", "not-checked");
    EXPECT_TEXT(&c, "entries.1.kind", "session-call");
    EXPECT_TEXT(&c, "entries.2.kind", "close");
    cr_expect_null(cli_member(&c, "entries.3"));
    cli_end(&c);
}

Test(show, with_a_key_it_verifies) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "-p", "key.pub", "good.jsonl")), 0);
    cr_expect_null(cli_member(&c, "note"));
    for (int i = 0; i < 3; i++)
        EXPECT_TEXT(&c, forge_text("entries.%d.verification", i), "passed");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("show", "-p", "key.pub", "good.jsonl", "1")), 0);
    EXPECT_HAS(c.end.out, "verified with key");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "-p", "other.pub", "good.jsonl", "1")), 1);
    EXPECT_TEXT(&c, "code", "envelope-key-unknown");
    EXPECT_TEXT(&c, "shown.verification", "failed");
    cli_end(&c);
}

/* The bad entry is shown all the same; only with a key is it found to be bad. */
Test(show, a_bad_entry_fails_with_a_key_only) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "bad.jsonl", "4")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "-p", "key.pub", "bad.jsonl", "4")), 1);
    EXPECT_TEXT(&c, "code", "result-digest");
    cr_expect_eq(cli_number(&c, "entry"), 4);
    EXPECT_TEXT(&c, "shown.outputs.0.text", "not what was signed");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "-p", "key.pub", "bad.jsonl", "1")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "-p", "key.pub", "bad.jsonl")), 1);
    EXPECT_TEXT(&c, "entries.3.verification", "failed");
    EXPECT_TEXT(&c, "entries.2.verification", "passed");
    cli_end(&c);
}

Test(show, hostile_output_steers_nothing) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("show", "good.jsonl", "1")), 0);
    EXPECT_HAS_NOT(c.end.out, "\x1b");
    EXPECT_HAS_NOT(c.end.out, "\x07");
    EXPECT_HAS_NOT(c.end.out, "\xe2\x80\xae");
    EXPECT_HAS(c.end.out, "| line one\n");
    EXPECT_HAS(c.end.out, "\\x1b[2J");
    EXPECT_HAS(c.end.out, "| entry 9: run, verified\n");
    EXPECT_HAS_NOT(c.end.out, "\nentry 9");
    EXPECT_HAS(c.end.out, "\\x1b[31m");
    cli_end(&c);
}

Test(show, json_holds_the_messages_and_the_very_bytes) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "good.jsonl", "1")), 0);
    EXPECT_TEXT(&c, "shown.request.javascript.code", "console.log('\x1b[31m')");
    EXPECT_TEXT(&c, "shown.outputs.0.field", "stdout");
    EXPECT_TEXT(&c, "shown.outputs.0.text", HOSTILE);
    EXPECT_TEXT(&c, "shown.outputs.0.base64", forge_base64(HOSTILE, strlen(HOSTILE)));
    EXPECT_TEXT(&c, "shown.response.javascript.stdout", forge_base64(HOSTILE, strlen(HOSTILE)));
    forge_run run = forge_single();
    run.code = "console.log('\x1b[31m')";
    run.output = HOSTILE;
    forge_seal(&run);
    forge_bytes response = forge_response(&run);
    EXPECT_TEXT(&c, "shown.response_base64", forge_base64(response.ptr, response.len));
    EXPECT_TEXT(&c, "shown.record.recordSha256", run.record_sha256);
    cli_end(&c);
}

Test(show, what_is_not_there) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "good.jsonl", "4")), 6);
    EXPECT_TEXT(&c, "code", "entry-unknown");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "empty.jsonl")), 6);
    EXPECT_TEXT(&c, "code", "nothing-to-check");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "missing.jsonl")), 5);
    EXPECT_TEXT(&c, "code", "io");
    cli_end(&c);
}

Test(show, a_line_that_is_no_entry_is_told_and_stepped_over) {
    cli_case c;
    begin(&c);
    cli_write_text(&c, "odd.jsonl", "{\"what\":1}\n");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "odd.jsonl")), 1);
    EXPECT_TEXT(&c, "code", "line-framing");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "odd.jsonl", "1")), 1);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "odd.jsonl")), 1);
    cr_expect_eq(json_array_size(cli_member(&c, "entries")), 1);
    cr_expect_eq(cli_number(&c, "entries.0.number"), 1);
    EXPECT_TEXT(&c, "entries.0.kind", "unreadable");
    EXPECT_TEXT(&c, "entries.0.verification", "not-checked");
    EXPECT_TEXT(&c, "entries.0.error.code", "line-framing");
    cli_end(&c);
}
