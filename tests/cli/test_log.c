/* `countersign log`: what happened, a line an entry; each filter with a twin that it keeps out. */
#include <stdio.h>

#include "tests/cli/bundles.h"
#include "tests/cli/stored.h"
#include "tests/gate/repository.h"

#define HOSTILE "1;\n\x1b[2J\x07\xe2\x80\xae entry 9: signed"

/* Three runs on two providers and tiers, a session with its close; and the same with one that is not what was signed.
 */
static void write_bundles(cli_case *c) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    cli_write_public_key(c, "key.pub", &key);
    forge_run run = forge_single();
    run.code = HOSTILE;
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    run = forge_single();
    run.provider = run.sandbox = "gvisor";
    run.isolation = "kernel";
    run.started += 1000;
    run.ended += 1000;
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    run.isolation = "process";
    run.started -= 500;
    run.ended -= 500;
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    forge_session(&bundle, &key, FORGE_SESSION, 1, NULL);
    cli_write_bundle(c, "good.jsonl", &bundle);
    run.output = "not what was signed";
    forge_add(&bundle, forge_run_line(&key, &run));
    cli_write_bundle(c, "bad.jsonl", &bundle);
}

static void begin(cli_case *c) {
    cli_begin(c);
    write_bundles(c);
}

/* The numbers of the lines, in their order: "1 3 2". */
static const char *numbers(const cli_case *c) {
    char *all = forge_text("%s", "");
    size_t i = 0;
    const json_t *line = NULL;
    json_array_foreach(cli_member(c, "lines"), i, line) {
        all = forge_text("%s%s%lld", all, i > 0 ? " " : "",
                         (long long)json_integer_value(json_object_get(line, "number")));
    }
    return all;
}

#define EXPECT_LINES(c, want, ...)                                                                                     \
    do {                                                                                                               \
        EXPECT_EXIT((c), cli_json((c), ARGS("log", __VA_ARGS__)), 0);                                                  \
        cr_expect_str_eq(numbers(c), (want), "%s, not %s: %s", numbers(c), (want), (c)->end.out);                      \
    } while (0)
#define EXPECT_NONE(c, ...)                                                                                            \
    do {                                                                                                               \
        EXPECT_EXIT((c), cli_json((c), ARGS("log", __VA_ARGS__)), 6);                                                  \
        EXPECT_TEXT((c), "code", "nothing-to-check");                                                                  \
    } while (0)

Test(log, without_a_key_it_says_that_nothing_is_verified) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("log", "good.jsonl")), 0);
    EXPECT_HAS(c.end.out, "nothing here is verified");
    EXPECT_HAS(c.end.out, " not-checked ");
    EXPECT_HAS_NOT(c.end.out, " passed ");
    EXPECT_LINES(&c, "1 4 5 3 2", "good.jsonl");
    EXPECT_TEXT(&c, "note", "signature not checked here");
    EXPECT_TEXT(&c, "lines.0.verification", "not-checked");
    cli_end(&c);
}

Test(log, with_a_key_each_line_is_verified) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("log", "-p", "key.pub", "good.jsonl")), 0);
    EXPECT_HAS_NOT(c.end.out, "nothing here is verified");
    EXPECT_HAS(c.end.out, " passed ");
    EXPECT_LINES(&c, "1 4 5 3 2", "-p", "key.pub", "good.jsonl");
    cr_expect_null(cli_member(&c, "note"));
    for (int i = 0; i < 5; i++)
        EXPECT_TEXT(&c, forge_text("lines.%d.verification", i), "passed");
    EXPECT_TEXT(&c, "lines.0.verdict", "signed");
    EXPECT_TEXT(&c, "lines.1.kind", "session-call");
    EXPECT_TEXT(&c, "lines.2.verdict", "close");
    EXPECT_TEXT(&c, "lines.0.summary", "javascript, 27 bytes: 1;\\x0a\\x1b[2J\\x07\\u{202e} entry 9: signed");
    cli_end(&c);
}

/* ---- filters ---------------------------------------------------------------------------------- */

Test(log, provider_and_tier) {
    cli_case c;
    begin(&c);
    EXPECT_LINES(&c, "3 2", "--provider", "gvisor", "good.jsonl");
    EXPECT_LINES(&c, "1 4", "--provider", "bubblewrap", "good.jsonl");
    EXPECT_LINES(&c, "1 4 3 2", "--provider", "bubblewrap", "--provider", "gvisor", "good.jsonl");
    EXPECT_NONE(&c, "--provider", "gvisor2", "good.jsonl");
    EXPECT_LINES(&c, "2", "--tier", "kernel", "good.jsonl");
    EXPECT_LINES(&c, "3", "--tier", "process", "good.jsonl");
    EXPECT_NONE(&c, "--tier", "vm", "good.jsonl");
    EXPECT_LINES(&c, "1 4 2", "--min-tier", "container", "good.jsonl");
    EXPECT_LINES(&c, "2", "--min-tier", "kernel", "good.jsonl");
    EXPECT_NONE(&c, "--min-tier", "vm", "good.jsonl");
    EXPECT_LINES(&c, "2", "--provider", "gvisor", "--min-tier", "container", "good.jsonl");
    cli_end(&c);
}

/* forge_single ends at 1790000000007, which is 2026-09-21T14:13:20.007Z; entry 3 half a second later, entry 2 one. */
Test(log, times_are_bounds_that_belong_to_it) {
    cli_case c;
    begin(&c);
    EXPECT_LINES(&c, "2", "--since", "2026-09-21T14:13:21.007Z", "good.jsonl");
    EXPECT_NONE(&c, "--since", "2026-09-21T14:13:21.008Z", "good.jsonl");
    EXPECT_LINES(&c, "1 4", "--until", "2026-09-21T14:13:20.007Z", "good.jsonl");
    EXPECT_NONE(&c, "--until", "2026-09-21T14:13:20.006Z", "good.jsonl");
    EXPECT_LINES(&c, "3", "--since", "2026-09-21T14:13:20.008Z", "--until", "2026-09-21T14:13:21.006Z", "good.jsonl");
    /* A day is its first moment, at both ends. */
    EXPECT_NONE(&c, "--since", "2026-09-22", "good.jsonl");
    EXPECT_LINES(&c, "1 4 3 2", "--since", "2026-09-21", "good.jsonl");
    EXPECT_LINES(&c, "1 4 3 2", "--until", "2026-09-22", "good.jsonl");
    EXPECT_NONE(&c, "--until", "2026-09-21", "good.jsonl");
    EXPECT_LINES(&c, "1 4 3 2", "--since", "2026-09-21", "--until", "2026-09-22", "good.jsonl");
    cli_end(&c);
}

Test(log, verdicts) {
    cli_case c;
    begin(&c);
    EXPECT_LINES(&c, "1 4 3 2", "--verdict", "signed", "good.jsonl");
    EXPECT_LINES(&c, "5", "--verdict", "close", "good.jsonl");
    EXPECT_LINES(&c, "1 4 5 3 2", "--verdict", "close", "--verdict", "signed", "good.jsonl");
    EXPECT_NONE(&c, "--verdict", "failed-work", "good.jsonl");
    EXPECT_NONE(&c, "--verdict", "invalid", "-p", "key.pub", "good.jsonl");
    cli_end(&c);
}

Test(log, limit_keeps_the_newest) {
    cli_case c;
    begin(&c);
    EXPECT_LINES(&c, "3 2", "--limit", "2", "good.jsonl");
    cr_expect_eq(cli_number(&c, "lines_left_out"), 3);
    cr_expect_eq(cli_number(&c, "matched"), 5);
    EXPECT_LINES(&c, "1 4 5 3 2", "--limit", "5", "good.jsonl");
    cr_expect_eq(cli_number(&c, "lines_left_out"), 0);
    cli_end(&c);
}

/* What several inputs hold is one list; each line says where it is from, in the form that diff takes. */
Test(log, several_inputs_are_one_list) {
    cli_case c;
    begin(&c);
    EXPECT_LINES(&c, "1 4 5 1 4 5 3 3 2 2", "good.jsonl", "good.jsonl");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("log", "good.jsonl", "good.jsonl")), 0);
    EXPECT_HAS(c.end.out, "\ngood.jsonl:3 ");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "good.jsonl", "missing.jsonl")), 5);
    EXPECT_TEXT(&c, "code", "io");
    EXPECT_TEXT(&c, "where", "missing.jsonl");
    cr_expect_str_eq(numbers(&c), "1 4 5 3 2");
    cli_end(&c);
}

/* ---- what can't be believed -------------------------------------------------------------------- */

/* A changed entry is listed also when it says that it does not match: someone may have made it say so. */
Test(log, an_entry_that_fails_is_never_filtered_away) {
    cli_case c;
    begin(&c);
    EXPECT_LINES(&c, "1 4", "--provider", "bubblewrap", "bad.jsonl");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "-p", "key.pub", "--provider", "bubblewrap", "bad.jsonl")), 1);
    EXPECT_TEXT(&c, "code", "result-digest");
    cr_expect_eq(cli_number(&c, "entry"), 6);
    cr_expect_str_eq(numbers(&c), "1 4 6", "%s", c.end.out);
    EXPECT_TEXT(&c, "lines.2.verdict", "invalid");
    EXPECT_TEXT(&c, "lines.2.verification", "failed");
    EXPECT_TEXT(&c, "lines.2.error.code", "result-digest");
    cr_expect_eq(cli_number(&c, "bad"), 1);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "-p", "key.pub", "--provider", "bubblewrap", "good.jsonl")), 0);
    cr_expect_eq(cli_number(&c, "bad"), 0);
    cli_end(&c);
}

/* Nor does it push others out of a bounded list, whatever time it states. */
Test(log, an_entry_that_fails_has_no_say_in_the_order) {
    cli_case c;
    begin(&c);
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    forge_add(&bundle, forge_run_line(&key, &run));
    run.ended = 9999999999999;
    forge_seal(&run);
    run.output = "not what was signed";
    forge_insert(&bundle, 0, forge_run_line(&key, &run));
    cli_write_bundle(&c, "odd.jsonl", &bundle);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "odd.jsonl")), 0);
    cr_expect_str_eq(numbers(&c), "2 1", "%s", c.end.out);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "-p", "key.pub", "odd.jsonl")), 1);
    cr_expect_str_eq(numbers(&c), "1 2", "%s", c.end.out);
    cli_end(&c);
}

Test(log, a_line_that_is_no_entry_is_listed_and_stepped_over) {
    cli_case c;
    begin(&c);
    forge_key key = forge_key_from(1);
    forge_run run = forge_single();
    cli_write_text(&c, "odd.jsonl", forge_text("{\"what\":1}\n%s\n", forge_run_line(&key, &run)));
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--provider", "bubblewrap", "odd.jsonl")), 1);
    EXPECT_TEXT(&c, "code", "line-framing");
    EXPECT_TEXT(&c, "where", "odd.jsonl: entry 1: line 1: byte 1");
    cr_expect_str_eq(numbers(&c), "1 2");
    EXPECT_TEXT(&c, "lines.0.verdict", "unreadable");
    EXPECT_TEXT(&c, "lines.1.verdict", "signed");
    cli_end(&c);
}

Test(log, hostile_text_steers_nothing) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("log", "good.jsonl")), 0);
    EXPECT_HAS_NOT(c.end.out, "\x1b");
    EXPECT_HAS_NOT(c.end.out, "\x07");
    EXPECT_HAS_NOT(c.end.out, "\xe2\x80\xae");
    EXPECT_HAS_NOT(c.end.out, "\nentry 9");
    EXPECT_HAS(c.end.out, "1;\\x0a\\x1b[2J\\x07\\u{202e} entry 9: signed\n");
    cli_end(&c);
}

/* ---- commits ----------------------------------------------------------------------------------- */

static gate_run run_of_commit(void) {
    gate_run run = bundles_project();
    bundles_add_file(&run, "a.txt", "one\n");
    bundles_add_file(&run, "b/c.txt", "two\n");
    bundles_add_step(&run, "make");
    bundles_add_step(&run, "make test");
    return run;
}

/* 1: the commit's files; 2: one of them; 3: one byte is another; 4: one file is not in the commit; 5: a symbolic link
 * of the commit; 6: no file; 7: the commit's files, but a step failed. */
static void write_runs(cli_case *c) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    gate_run runs[7];
    for (size_t i = 0; i < 7; i++) {
        runs[i] = run_of_commit();
        runs[i].ended_ms += (int64_t)i;
    }
    runs[1].files = 1;
    runs[2].contents[1] = "Two\n";
    runs[3].paths[1] = "b/d.txt";
    runs[4].paths[1] = "link";
    runs[4].contents[1] = "a.txt";
    runs[5].files = 0;
    runs[6].exit_codes[1] = 2;
    for (size_t i = 0; i < 7; i++)
        forge_add(&bundle, gate_sign(&key, &runs[i]).line);
    cli_write_bundle(c, "runs.jsonl", &bundle);
    cli_write_public_key(c, "key.pub", &key);
}

Test(log, commit_lists_the_runs_of_its_files) {
    cli_case c;
    char folder[128];
    char first[41];
    char second[41];
    repository_make(folder);
    cli_begin(&c);
    write_runs(&c);
    repository_write(folder, "a.txt", "one\n", 4);
    repository_write(folder, "b/c.txt", "Two\n", 4);
    exec_run(NULL, ARGS("ln", "-s", "a.txt", forge_text("%s/link", folder)), &c.end);
    cr_assert_eq(c.end.status, 0, "%s", c.end.err);
    repository_commit(folder, first);
    repository_write(folder, "b/c.txt", "two\n", 4);
    repository_commit(folder, second);
    EXPECT_LINES(&c, "1 2 3 4 5 6 7", "-p", "key.pub", "runs.jsonl");
    EXPECT_TEXT(&c, "lines.0.summary", "project, 2 files: make (and 1 more)");
    EXPECT_LINES(&c, "1 2 7", "-p", "key.pub", "--repo", folder, "--commit", second, "runs.jsonl");
    EXPECT_LINES(&c, "1 2 7", "--repo", folder, "--commit", "main", "runs.jsonl");
    EXPECT_LINES(&c, "2 3", "--repo", folder, "--commit", "main~1", "runs.jsonl");
    EXPECT_LINES(&c, "7", "--repo", folder, "--commit", "main", "--verdict", "failed-work", "runs.jsonl");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--repo", folder, "--commit", "no-such", "runs.jsonl")), 5);
    EXPECT_TEXT(&c, "code", "git-revision");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--repo", "missing", "--commit", "main", "runs.jsonl")), 5);
    EXPECT_TEXT(&c, "code", "git-unreadable");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--repo", folder, "runs.jsonl")), 2);
    folder_remove(folder);
    cli_end(&c);
}

/* ---- ledgers, and what is not there ------------------------------------------------------------- */

Test(log, of_a_ledger_entries_without_a_time_of_their_own_have_that_of_the_ledger) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "key.pub", "-l", "l.db", "good.jsonl")), 0);
    EXPECT_LINES(&c, "1 4 3 2 5", "-p", "key.pub", "l.db");
    cr_expect_eq(cli_number(&c, "lines.0.ended_unix_ms"), 1790000000007);
    cr_expect_gt(cli_number(&c, "lines.4.added_unix_ms"), 1790000000007);
    cr_expect_null(cli_member(&c, "lines.4.ended_unix_ms"));
    EXPECT_LINES(&c, "5", "--since", "2026-09-22T00:00:00Z", "l.db");
    cli_end(&c);
}

/* A finding's time is the ledger's: the one that its response claims could be any. */
Test(log, a_finding_has_its_code_and_no_time_of_its_own) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "key.pub", "-l", "l.db", "good.jsonl")), 0);
    stored rows;
    stored_read(&c, "l.db", &rows);
    rows.rows[1].kind = cs_view_of(CS_KIND_FINDING);
    rows.rows[1].code = cs_view_of("tier-\x1b[2Jdrift");
    rows.rows[1].envelope = cs_view_bytes(NULL, 0);
    rows.rows[1].record_sha256 = cs_view_of("");
    stored_write_ledger(&c, &rows, "l.db");
    EXPECT_LINES(&c, "2", "-p", "key.pub", "--verdict", "finding", "l.db");
    EXPECT_TEXT(&c, "lines.0.verification", "unsigned");
    EXPECT_TEXT(&c, "lines.0.finding_code", "tier-\\x1b[2Jdrift");
    EXPECT_TEXT(&c, "lines.0.provider", "gvisor");
    cr_expect_null(cli_member(&c, "lines.0.record_sha256"));
    cr_expect_null(cli_member(&c, "lines.0.ended_unix_ms"));
    cr_expect_eq(cli_number(&c, "lines.0.added_unix_ms"), rows.rows[1].added_unix_ms);
    EXPECT_LINES(&c, "2", "--tier", "kernel", "l.db");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("log", "--tier", "kernel", "l.db")), 0);
    EXPECT_HAS(c.end.out, " (tier-\\x1b[2Jdrift)\n");
    cli_end(&c);
}

Test(log, wrong_lines) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--verdict", "good", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--tier", "strong", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--tier", "vm", "--min-tier", "vm", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--since", "yesterday", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--since", "2026-02-30", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--since", "2026-09-2", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--since", "2026-09-21T", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--until", "2026/09/21", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--until", "", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--until", "2026-09-21T14:13:20+00:00", "good.jsonl")), 2);
    EXPECT_EXIT(
        &c,
        cli_json(&c, ARGS("log", "--since", "2026-09-22T00:00:00Z", "--until", "2026-09-21T00:00:00Z", "good.jsonl")),
        2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--limit", "0", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--limit", "10001", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "--limit", "10000", "good.jsonl")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "-", "good.jsonl", "-")), 2);
    EXPECT_TEXT(&c, "message", "standard input can be read once only");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "./-", "good.jsonl", "-")), 5); /* the first is a file that is not there */
    EXPECT_TEXT(&c, "where", "./-");
    c.how.input = "SQLite format 3";
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "-")), 5);
    EXPECT_TEXT(&c, "code", "input-unknown");
    EXPECT_HAS(cli_text(&c, "message"), "from a file only");
    c.how.input = "SQLite format 2";
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "-")), 5);
    EXPECT_HAS(cli_text(&c, "message"), "neither a bundle nor a ledger");
    cli_end(&c);
}

Test(log, what_is_not_there) {
    cli_case c;
    begin(&c);
    cli_write_text(&c, "empty.jsonl", "");
    cli_write_text(&c, "strange.txt", "what is this");
    EXPECT_NONE(&c, "empty.jsonl");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "missing.jsonl")), 5);
    EXPECT_TEXT(&c, "code", "io");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "strange.txt")), 5);
    EXPECT_TEXT(&c, "code", "input-unknown");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("log", "-p", "missing.pub", "good.jsonl")), 5);
    EXPECT_TEXT(&c, "code", "key-unreadable");
    c.how.output_path = "/dev/full";
    EXPECT_EXIT(&c, cli_run(&c, ARGS("log", "good.jsonl")), 5);
    cli_end(&c);
}
