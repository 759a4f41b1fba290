/* `countersign gate --ledger`, and what every other command makes of the verdicts in a ledger. */
#include <stdio.h>
#include <unistd.h>

#include "tests/cli/gate_forged.h"
#include "tests/cli/stored.h"
#include "tests/gate/repository.h"
#include "tests/support/program.h"

static char *path_of(const gate_forged *f, const char *name) {
    return forge_text("%s/%s", f->c.folder, name);
}

static bool is_there(const gate_forged *f, const char *name) {
    return access(path_of(f, name), F_OK) == 0;
}

/* The key pair k is the gate's, "forged" is that of the runs, which stand in runs.db too, in other bytes than any
 * bundle's. */
static void begin(gate_forged *f) {
    gate_forged_begin(f);
    cli_keys(&f->c);
    gate_forged_write(f);
    EXPECT_EXIT(&f->c, cli_run(&f->c, ARGS("import", "-l", "runs.db", "-p", "forged.pub", "runs.jsonl")), 0);
}

#define KEEP(f, ...) GATE_FORGED((f), "-k", "k.key", "-l", "runs.db", __VA_ARGS__, "runs.db")

static int64_t number(const gate_forged *f, const char *name) {
    return (int64_t)json_integer_value(cli_member(&f->c, name));
}

static int64_t of_input(const gate_forged *f, const char *name) {
    return (int64_t)json_integer_value(json_object_get(json_array_get(cli_member(&f->c, "inputs"), 0), name));
}

/* The usual case: the ledger that is judged keeps what was concluded of it. */
Test(gate_ledger_command, again_and_again_in_the_ledger_that_is_judged) {
    gate_forged f;
    begin(&f);
    for (int64_t i = 0; i < 2; i++) {
        EXPECT_EXIT(&f.c, cli_json(&f.c, KEEP(&f, "--skew", "5")), 0);
        const json_t *kept = cli_member(&f.c, "kept");
        cr_expect_str_eq(json_string_value(json_object_get(kept, "ledger")), "runs.db");
        cr_expect_eq(json_integer_value(json_object_get(kept, "entry")), 3 + 2 * i);
        cr_expect_eq(json_integer_value(json_object_get(kept, "entries")), 2);
        cr_expect_eq(number(&f, "verdicts_passed_over"), 2 * i);
        cr_expect_eq(number(&f, "records"), 2);
    }
    EXPECT_EXIT(&f.c, cli_run(&f.c, KEEP(&f, "--attest", "a.jsonl")), 0);
    EXPECT_HAS(f.c.end.out, "passed over: 4 statements of earlier verdicts: not evidence, not checked\n");
    EXPECT_HAS(f.c.end.out, forge_text("kept: runs.db: entries 7 to 8: what was concluded of commit %s", f.rev));
    EXPECT_HAS(f.c.end.out, "attested: a.jsonl: ");
    gate_forged_end(&f);
}

Test(gate_ledger_command, verify_needs_both_keys) {
    gate_forged f;
    begin(&f);
    EXPECT_EXIT(&f.c, cli_run(&f.c, KEEP(&f, "--skew", "5")), 0);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("verify", "-p", "forged.pub", "-p", "k.pub", "runs.db")), 0);
    cr_expect_eq(of_input(&f, "verdicts"), 2);
    cr_expect_eq(of_input(&f, "runs"), 2);
    EXPECT_EXIT(&f.c, cli_run(&f.c, ARGS("verify", "-p", "forged.pub", "-p", "k.pub", "runs.db")), 0);
    EXPECT_HAS(f.c.end.out, ", 2 statements of verdicts, which count as no run");
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("verify", "-p", "forged.pub", "runs.db")), 1);
    EXPECT_TEXT(&f.c, "code", "envelope-key-unknown");
    EXPECT_HAS(f.c.end.out, "it signed a gate's verdict that is kept here; if you trust that gate, give its public key "
                            "too (-p)");
    /* The other way round it is a run's key that is unknown. */
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("verify", "-p", "k.pub", "runs.db")), 1);
    EXPECT_TEXT(&f.c, "inputs.0.findings.0.code", "envelope-key-unknown");
    cr_expect_null(strstr(cli_text(&f.c, "inputs.0.findings.0.message"), "gate's verdict"));
    EXPECT_EXIT(&f.c,
                cli_json(&f.c, ARGS("verify", "-p", "forged.pub", "-p", "k.pub", "--expect-count", "2", "runs.db")), 0);
    EXPECT_EXIT(&f.c,
                cli_json(&f.c, ARGS("verify", "-p", "forged.pub", "-p", "k.pub", "--expect-count", "4", "runs.db")), 1);
    gate_forged_end(&f);
}

/* A refusal is kept too; and verdicts alone are nothing to check, nor evidence of anything. */
Test(gate_ledger_command, a_refusal_in_a_ledger_of_its_own) {
    gate_forged f;
    begin(&f);
    f.runs[0].grant = f.runs[1].grant = "network";
    gate_forged_write(&f);
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "-k", "k.key", "-l", "new.db", "runs.jsonl")), 1);
    EXPECT_TEXT(&f.c, "code", "gate-grant");
    cr_expect_not_null(cli_member(&f.c, "kept"));
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("verify", "-p", "k.pub", "new.db")), 6);
    cr_expect_eq(of_input(&f, "verdicts"), 2);
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "new.db")), 6);
    EXPECT_TEXT(&f.c, "code", "gate-nothing");
    cr_expect_eq(number(&f, "verdicts_passed_over"), 2);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("log", "-p", "k.pub", "--verdict", "gate-refused", "new.db")), 0);
    cr_expect_eq(number(&f, "matched"), 2);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("log", "-p", "k.pub", "--verdict", "gate-passed", "new.db")), 6);
    gate_forged_end(&f);
}

/* Found out before anything is judged, and nothing is left behind. */
Test(gate_ledger_command, what_keeps_it_from_being_kept) {
    gate_forged f;
    begin(&f);
    static const struct {
        const char *ledger, *code;
        int exit;
    } rows[] = {{"policy.json", "ledger-foreign", 5}, {"none/new.db", "ledger-missing", 5}, {"new.db", "ok", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "-k", "k.key", "-l", rows[i].ledger, "runs.db")),
                    rows[i].exit);
        EXPECT_TEXT(&f.c, "code", rows[i].code);
        cr_expect_eq(cli_member(&f.c, "sections") != NULL, rows[i].exit == 0);
        cr_expect_eq(cli_member(&f.c, "kept") != NULL, rows[i].exit == 0);
        cr_expect_eq(is_there(&f, "new.db"), rows[i].exit == 0);
    }
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "-l", "other.db", "runs.db")), 5);
    EXPECT_TEXT(&f.c, "code", "key-unreadable");
    /* No verdict was made: an input that is not there stays so, although it is the ledger to keep it in. */
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "-k", "k.key", "-l", "other.db", "runs.db", "other.db")), 5);
    EXPECT_TEXT(&f.c, "code", "io");
    cr_expect_not(is_there(&f, "other.db"));
    gate_forged_end(&f);
}

/* ---- the other commands ---------------------------------------------------------------------------------------- */

Test(gate_ledger_command, show_and_log) {
    gate_forged f;
    begin(&f);
    EXPECT_EXIT(&f.c, cli_run(&f.c, KEEP(&f, "--attest-repo", "https://x.example.org/y")), 0);
    EXPECT_EXIT(&f.c, cli_run(&f.c, ARGS("show", "-p", "k.pub", "runs.db", "3")), 0);
    EXPECT_HAS(f.c.end.out, "entry 3: verdict\n");
    EXPECT_HAS(f.c.end.out, "test-result of a gate's verdict, which is no evidence of a run: PASSED\n");
    EXPECT_HAS(f.c.end.out, forge_text("it states that the gate passed commit %s,\n", f.rev));
    EXPECT_HAS(f.c.end.out, "judged by the policy whose file has the SHA-256 ");
    EXPECT_HAS(f.c.end.out, "this is the test-result, and the summary says when");
    EXPECT_HAS(f.c.end.out, f.rev);
    EXPECT_HAS(f.c.end.out, "https://x.example.org/y\n");
    EXPECT_HAS(f.c.end.out, "tests/bind\n");
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("show", "-p", "k.pub", "runs.db", "4")), 0);
    const json_t *shown = cli_member(&f.c, "shown");
    const json_t *verdict = json_object_get(shown, "gate_verdict");
    cr_expect_str_eq(json_string_value(json_object_get(shown, "verification")), "passed");
    cr_expect_str_eq(json_string_value(json_object_get(verdict, "statement")), "summary");
    cr_expect_str_eq(json_string_value(json_object_get(verdict, "commit")), f.rev);
    cr_expect_eq(json_array_size(json_object_get(verdict, "inputs")), 2);
    EXPECT_EXIT(&f.c, cli_run(&f.c, ARGS("show", "runs.db")), 0);
    EXPECT_HAS(f.c.end.out, forge_text("(test-result: PASSED of commit %s)", f.rev));
    EXPECT_HAS(f.c.end.out, forge_text("(summary: PASSED of commit %s)", f.rev));
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("show", "-p", "forged.pub", "runs.db", "3")), 1);
    EXPECT_TEXT(&f.c, "code", "envelope-key-unknown");
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("log", "--verdict", "gate-passed", "runs.db")), 0);
    cr_expect_eq(number(&f, "matched"), 2);
    const json_t *line = json_array_get(cli_member(&f.c, "lines"), 0);
    EXPECT_HAS(json_string_value(json_object_get(line, "summary")), f.rev);
    EXPECT_TEXT(&f.c, "lines.0.statement", "test-result");
    EXPECT_TEXT(&f.c, "lines.1.statement", "summary");
    EXPECT_EXIT(&f.c, cli_run(&f.c, ARGS("log", "runs.db")), 0);
    EXPECT_HAS(f.c.end.out, forge_text(" test-result of commit %s: rules: ", f.rev));
    EXPECT_HAS(f.c.end.out, forge_text(" summary of commit %s: rests on 2 envelopes\n", f.rev));
    EXPECT_HAS(f.c.end.out,
               "a gate's verdict is two entries, its test-result and its summary, and still one verdict\n");
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("log", "--verdict", "signed", "runs.db")), 0);
    cr_expect_null(cli_member(&f.c, "lines.0.statement"));
    EXPECT_EXIT(&f.c, cli_run(&f.c, ARGS("log", "--verdict", "signed", "runs.db")), 0);
    EXPECT_HAS_NOT(f.c.end.out, "a gate's verdict is two entries");
    EXPECT_EXIT(
        &f.c, cli_json(&f.c, ARGS("log", "--verdict", "gate-passed", "--repo", f.repo, "--commit", "main", "runs.db")),
        0);
    cr_expect_eq(number(&f, "matched"), 2);
    repository_write(f.repo, "src/main.sh", "answer=43\n", 10);
    char other[41];
    repository_commit(f.repo, other);
    EXPECT_EXIT(&f.c,
                cli_json(&f.c, ARGS("log", "--verdict", "gate-passed", "--repo", f.repo, "--commit", other, "runs.db")),
                6);
    gate_forged_end(&f);
}

/* To those that take a ledger for its runs, the gate's key is nothing. */
Test(gate_ledger_command, those_that_pass_over_it) {
    gate_forged f;
    begin(&f);
    EXPECT_EXIT(&f.c, cli_run(&f.c, KEEP(&f, "--skew", "5")), 0);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("report", "-p", "forged.pub", "-o", "page.html", "runs.db")), 0);
    cr_expect_eq(number(&f, "verdicts"), 2);
    cr_expect_eq(number(&f, "entries"), 2);
    size_t len = 0;
    char *page = file_read(path_of(&f, "page.html"), &len);
    cr_assert_not_null(page);
    EXPECT_HAS(page, "2 statements of verdicts, no evidence of a run");
    EXPECT_HAS(page, "not checked: its key is not trusted here</span> test-result: the gate <b>passed</b> commit ");
    EXPECT_HAS(page, forge_text("<dt>Commit</dt><dd><bdi dir=\"ltr\" class=\"d\">%s</bdi></dd>", f.rev));
    EXPECT_HAS(page, "not part of that");
    free(page);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("report", "-p", "forged.pub", "-p", "k.pub", "-o", "page.html", "runs.db")),
                0);
    cr_expect_eq(number(&f, "verdicts_shown"), 2);
    page = file_read(path_of(&f, "page.html"), &len);
    cr_assert_not_null(page);
    EXPECT_HAS(page, "<span class=\"tag good\">verified</span> summary: the gate <b>passed</b> commit ");
    EXPECT_HAS_NOT(page, "its key is not trusted here");
    free(page);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("report", "-o", "bare.html", "runs.db")), 0);
    cr_expect_eq(number(&f, "verdicts"), 2);
    cr_expect_eq(number(&f, "verdicts_shown"), 2);
    page = file_read(path_of(&f, "bare.html"), &len);
    cr_assert_not_null(page);
    EXPECT_HAS(page, "<span class=\"tag open\">not checked</span> test-result: the gate <b>passed</b> commit ");
    free(page);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("export", "-k", "k.key", "-p", "forged.pub", "-o", "out.jsonl", "runs.db")),
                0);
    cr_expect_eq(number(&f, "verdicts"), 2);
    cr_expect_eq(number(&f, "added"), 2);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("verify", "-p", "forged.pub", "-p", "k.pub", "out.jsonl")), 0);
    cr_expect_eq(of_input(&f, "entries"), 3);
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("diff", "runs.db:3", "runs.db:1")), 6);
    EXPECT_TEXT(&f.c, "code", "nothing-to-check");
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("import", "-l", "runs.db", "-p", "forged.pub", "runs.jsonl")), 0);
    cr_expect_eq(number(&f, "added"), 0);
    gate_forged_end(&f);
}

/* One byte of a row is another, and no gate takes the ledger any more, although it passes over what the row says. */
Test(gate_ledger_command, a_verdict_that_was_changed) {
    gate_forged f;
    begin(&f);
    EXPECT_EXIT(&f.c, cli_run(&f.c, KEEP(&f, "--skew", "5")), 0);
    stored_copy(&f.c, "runs.db", "bad.db");
    stored_sql(&f.c, "bad.db",
               "UPDATE entry SET envelope = CAST(replace(CAST(envelope AS TEXT), 'sig', 'gis') AS BLOB)"
               " WHERE id = 3");
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "bad.db")), 1);
    EXPECT_TEXT(&f.c, "code", "ledger-row");
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "runs.db")), 0);
    /* Whoever can write the ledger can chain it anew. Then it is for `verify` to tell. */
    stored rows;
    stored_read(&f.c, "bad.db", &rows);
    stored_write_ledger(&f.c, &rows, "anew.db");
    EXPECT_EXIT(&f.c, cli_json(&f.c, ARGS("verify", "-p", "forged.pub", "-p", "k.pub", "anew.db")), 1);
    EXPECT_TEXT(&f.c, "code", "envelope-malformed");
    cr_expect_eq(number(&f, "entry"), 3);
    EXPECT_EXIT(&f.c, cli_json(&f.c, GATE_FORGED(&f, "anew.db")), 0);
    gate_forged_end(&f);
}
