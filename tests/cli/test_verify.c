/* `countersign verify` and countersign-verify. */
#include "tests/cli/cli_case.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/fixtures.h"

/* good.jsonl: two runs under `key`; bad.jsonl: the same with one output changed; other.pub: another key. */
static void write_inputs(cli_case *c) {
    forge_key key = forge_key_from(1);
    forge_key other = forge_key_from(2);
    cli_write_public_key(c, "key.pub", &key);
    cli_write_public_key(c, "other.pub", &other);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    run.duration_ms = 37;
    forge_add(&bundle, forge_run_line(&key, &run));
    run.code = "another";
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    cli_write_bundle(c, "good.jsonl", &bundle);
    run.output = "\x1b[31mnot what was signed";
    forge_remove(&bundle, 1);
    forge_add(&bundle, forge_run_line(&key, &run));
    cli_write_bundle(c, "bad.jsonl", &bundle);
    cli_write_text(c, "empty.jsonl", "");
    cli_write_text(c, "strange.txt", "what is this\n");
}

static void begin(cli_case *c) {
    cli_begin(c);
    write_inputs(c);
}

Test(verify, passes_and_says_what_it_saw) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("verify", "-p", "key.pub", "good.jsonl")), 0);
    EXPECT_HAS(c.end.out, "good.jsonl: passed: bundle of 2 entries, 2 runs verified");
    EXPECT_HAS(c.end.out, "nothing shows that this is all: its lines are not linked");
    EXPECT_HAS(c.end.out, "covered by no digest");
    cr_expect_str_eq(c.end.err, "");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "good.jsonl")), 0);
    EXPECT_TEXT(&c, "inputs.0.message", "every check passed");
    cr_expect_eq(cli_number(&c, "inputs.0.runs"), 2);
    cr_expect_eq(cli_number(&c, "inputs.0.failures"), 0);
    cr_expect(json_is_false(cli_member(&c, "inputs.0.linked")));
    cr_expect_gt(cli_number(&c, "inputs.0.uncovered.durations"), 0);
    cli_end(&c);
}

Test(verify, one_changed_output_is_exit_1_with_entry_and_code) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("verify", "-p", "key.pub", "bad.jsonl")), 1);
    EXPECT_HAS(c.end.out, "bad.jsonl: line 2");
    EXPECT_HAS(c.end.out, ": result-digest: ");
    EXPECT_HAS(c.end.out, "bad.jsonl: failed: bundle of 2 entries, 1 run verified");
    EXPECT_HAS(c.end.err, "[result-digest]");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "bad.jsonl")), 1);
    EXPECT_TEXT(&c, "code", "result-digest");
    cr_expect_eq(cli_number(&c, "entry"), 2);
    cr_expect_eq(cli_number(&c, "inputs.0.runs"), 1);
    EXPECT_TEXT(&c, "inputs.0.findings.0.code", "result-digest");
    cr_expect_eq(cli_number(&c, "inputs.0.findings.0.entry"), 2);
    cr_expect(json_is_false(cli_member(&c, "inputs.0.findings.0.warning")));
    cr_expect_eq(strlen(cli_text(&c, "expected")), 64);
    cr_expect_eq(strlen(cli_text(&c, "found")), 64);
    cli_end(&c);
}

Test(verify, needs_a_key_that_is_trusted) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "other.pub", "good.jsonl")), 1);
    EXPECT_TEXT(&c, "code", "envelope-key-unknown");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "other.pub", "-p", "key.pub", "good.jsonl")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "missing.pub", "good.jsonl")), 5);
    EXPECT_TEXT(&c, "code", "key-unreadable");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "strange.txt", "good.jsonl")), 5);
    EXPECT_TEXT(&c, "code", "key-malformed");
    cli_end(&c);
}

Test(verify, wrong_unreadable_and_empty_are_three_things) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "missing.jsonl")), 5);
    EXPECT_TEXT(&c, "code", "io");
    EXPECT_HAS(cli_text(&c, "where"), "missing.jsonl");
    EXPECT_TEXT(&c, "inputs.0.where", "missing.jsonl");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "strange.txt")), 5);
    EXPECT_TEXT(&c, "code", "input-unknown");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "empty.jsonl")), 6);
    EXPECT_TEXT(&c, "code", "nothing-to-check");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("verify", "-p", "key.pub", "empty.jsonl")), 6);
    EXPECT_HAS(c.end.err, "next: ");
    cli_end(&c);
}

/* failed, then unchecked, then nothing, then passed; in whatever order they are named. */
Test(verify, the_worst_of_several_inputs_counts) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "good.jsonl", "good.jsonl")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "good.jsonl", "empty.jsonl")), 6);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "empty.jsonl", "missing", "good.jsonl")), 5);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "bad.jsonl", "missing", "empty.jsonl")), 1);
    EXPECT_TEXT(&c, "inputs.0.verdict", "failed");
    EXPECT_TEXT(&c, "inputs.1.verdict", "unchecked");
    EXPECT_TEXT(&c, "inputs.2.verdict", "nothing");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "missing", "bad.jsonl")), 1);
    EXPECT_HAS(cli_text(&c, "where"), "bad.jsonl");
    cli_end(&c);
}

/* Signed, closed well, and no run: nothing was checked that anyone could rely on. */
Test(verify, a_close_alone_is_nothing_to_check) {
    cli_case c;
    begin(&c);
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_session(&bundle, &key, FORGE_SESSION, 0, NULL);
    cli_write_bundle(&c, "close.jsonl", &bundle);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "close.jsonl")), 6);
    EXPECT_TEXT(&c, "code", "nothing-to-check");
    EXPECT_TEXT(&c, "message", "the input holds no record of a run, only closes of sessions");
    EXPECT_TEXT(&c, "inputs.0.verdict", "nothing");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "good.jsonl", "close.jsonl")), 6);
    EXPECT_TEXT(&c, "inputs.0.verdict", "passed");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "close.jsonl", "bad.jsonl")), 1);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "good.jsonl", "good.jsonl")), 0);
    cli_end(&c);
}

/* As many lines that are no entries. */
static void write_odd_lines(cli_case *c, const char *name, size_t count) {
    char *text = malloc(count * 3);
    cr_assert_not_null(text);
    for (size_t i = 0; i < count; i++)
        memcpy(text + i * 3, "{}\n", 3);
    cli_write(c, name, text, count * 3);
    free(text);
}

static size_t count_of(const char *text, const char *part) {
    size_t count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

Test(verify, text_tells_ten_thousand_findings_and_how_many_more) {
    cli_case c;
    begin(&c);
    write_odd_lines(&c, "most.jsonl", 10000);
    write_odd_lines(&c, "more.jsonl", 10002);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("verify", "-p", "key.pub", "most.jsonl")), 1);
    cr_expect_eq(count_of(c.end.out, ": line-framing: "), 10000);
    cr_expect_null(strstr(c.end.out, "left out"));
    EXPECT_EXIT(&c, cli_run(&c, ARGS("verify", "-p", "key.pub", "more.jsonl")), 1);
    cr_expect_eq(count_of(c.end.out, ": line-framing: "), 10000);
    cr_expect_not_null(strstr(c.end.out, "more.jsonl: 10000 findings are printed, and 2 more are left out\n"));
    cr_expect_not_null(strstr(c.end.out, "10002 failures"));
    cli_end(&c);
}

Test(verify, the_small_program_says_the_same) {
    cli_case c;
    begin(&c);
    const char *const inputs[] = {"good.jsonl", "bad.jsonl", "missing", "empty.jsonl"};
    const int exits[] = {0, 1, 5, 6};
    for (size_t i = 0; i < 4; i++) {
        EXPECT_EXIT(&c, cli_run(&c, ARGS("verify", "--json", "-p", "key.pub", inputs[i])), exits[i]);
        char *first = strdup(c.end.out);
        EXPECT_EXIT(&c, cli_run_program(&c, "countersign-verify", ARGS("--json", "-p", "key.pub", inputs[i])),
                    exits[i]);
        cr_expect_str_eq(c.end.out, first);
        free(first);
    }
    EXPECT_EXIT(&c, cli_run_program(&c, "countersign-verify", ARGS("good.jsonl")), 2);
    EXPECT_HAS(c.end.err, "countersign-verify --help");
    cli_end(&c);
}

Test(verify, what_another_implementation_published) {
    char bundle[1024];
    char key[1024];
    fixture_path("published-session/linked.jsonl", bundle, sizeof bundle);
    fixture_path("published-session/linked.pub", key, sizeof key);
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", key, bundle)), 0);
    cr_expect_eq(cli_number(&c, "inputs.0.runs"), 5);
    cr_expect_eq(cli_number(&c, "inputs.0.sessions"), 1);
    cr_expect(json_is_true(cli_member(&c, "inputs.0.linked")));
    EXPECT_HAS(cli_text(&c, "inputs.0.completeness"), "nothing is missing before its checkpoint");
    cli_end(&c);
}

/* ---- what the reviewer's program is made of -------------------------------------------------- */

/* Does `nm` list one of these symbols? */
static bool links(const char *program, const char *symbol) {
    char path[1024];
    exec_built(program, path);
    exec_end end;
    exec_run(NULL, (const char *const[]){"nm", path, NULL}, &end);
    cr_assert_eq(end.status, 0, "nm: %s", end.err);
    char want[128];
    bool found = false;
    /* The symbol ends its line, alone or before a version. */
    (void)snprintf(want, sizeof want, " %s", symbol);
    for (const char *at = strstr(end.out, want); at != NULL && !found; at = strstr(at + 1, want)) {
        char next = at[strlen(want)];
        found = next == '\n' || next == '@';
    }
    exec_free(&end);
    return found;
}

static bool loads(const char *program, const char *library) {
    char path[1024];
    exec_built(program, path);
    exec_end end;
    exec_run(NULL, (const char *const[]){"ldd", path, NULL}, &end);
    cr_assert_eq(end.status, 0, "ldd: %s", end.err);
    bool found = strstr(end.out, library) != NULL;
    exec_free(&end);
    return found;
}

/* countersign is the twin: the same question must find everything there, or the question is wrong. */
Test(verify, the_small_program_can_neither_sign_nor_speak) {
    static const char *const symbols[] = {
        "crypto_sign_detached", "crypto_sign_seed_keypair", "curl_easy_perform", "cs_key_sign",
        "cs_client_run",        "cs_ledger_append",         "cs_run_once"};
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        cr_expect(links("countersign", symbols[i]), "%s", symbols[i]);
        cr_expect_not(links("countersign-verify", symbols[i]), "%s", symbols[i]);
    }
    cr_expect_not(links("countersign-verify", "crypto_sign_keypair"));
    cr_expect(links("countersign-verify", "crypto_sign_verify_detached"));
    cr_expect(loads("countersign", "libcurl"));
    cr_expect_not(loads("countersign-verify", "libcurl"));
    cr_expect(loads("countersign-verify", "libsodium"));
}
