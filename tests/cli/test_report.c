/* `countersign report`: the page is what was verified, is written whole, and takes the place of no input. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cli/bundles.h"
#include "tests/cli/stored.h"

#define HOSTILE "</pre><script>document.title='owned'</script>\x1b[2J\xe2\x80\xae"

/* good.jsonl: two runs and a session; bad.jsonl: with what was not signed; l.db: with a finding. */
static void begin(cli_case *c) {
    cli_begin(c);
    forge_run run = forge_single();
    run.output = HOSTILE;
    (void)bundles_write(c, run, 1);
    cli_write_text(c, "odd.jsonl", "{\"what\":1}\n");
}

static char *page(const cli_case *c, const char *name) {
    size_t len = 0;
    char *text = file_read(forge_text("%s/%s", c->folder, name), &len);
    cr_assert_not_null(text, "%s is not there", name);
    return text;
}

static void expect_page(const cli_case *c, const char *has, const char *has_not) {
    char *text = page(c, "r.html");
    EXPECT_HAS(text, has);
    if (has_not != NULL) EXPECT_HAS_NOT(text, has_not);
    EXPECT_HAS_NOT(text, "<script");
    EXPECT_HAS_NOT(text, "\x1b");
    exec_end end;
    exec_run(NULL,
             (const char *const[]){"python3", "-B", "tests/report/parse.py", forge_text("%s/r.html", c->folder), NULL},
             &end);
    cr_expect_eq(end.status, 0, "%s%s", end.out, end.err);
    exec_free(&end);
    free(text);
}

Test(report, what_is_verified_is_said_to_be) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "-p", "key.pub", "good.jsonl")), 0);
    EXPECT_TEXT(&c, "page", "r.html");
    cr_expect(json_is_true(cli_member(&c, "verified")));
    cr_expect_eq(cli_number(&c, "entries"), 3);
    cr_expect_eq(cli_number(&c, "entries_shown"), 3);
    expect_page(&c, "<strong>Verified</strong>", "not checked</span>");
    expect_page(&c, "&lt;/pre&gt;&lt;script&gt;", NULL);
    struct stat there;
    cr_assert_eq(stat(forge_text("%s/r.html", c.folder), &there), 0);
    cr_expect_eq(there.st_mode & 07777, 0644);
    cr_expect_eq((size_t)there.st_size, (size_t)cli_number(&c, "bytes"));
    cli_end(&c);
}

Test(report, without_a_key_nothing_is) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "good.jsonl")), 0);
    cr_expect(json_is_false(cli_member(&c, "verified")));
    expect_page(&c, "<strong>Nothing was verified</strong>", "verified</span>");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "odd.jsonl")), 1);
    EXPECT_TEXT(&c, "code", "line-framing");
    expect_page(&c, "<b>line-framing</b>", "<strong>Nothing was verified</strong>");
    cli_end(&c);
}

/* The page is there all the same, and says so; the entry that failed is named and not shown. */
Test(report, a_failure_is_in_the_page) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "-p", "key.pub", "bad.jsonl")), 1);
    EXPECT_TEXT(&c, "code", "result-digest");
    EXPECT_TEXT(&c, "inputs.0.code", "result-digest");
    cr_expect_eq(cli_number(&c, "entries_shown"), 3);
    cr_expect_eq(cli_number(&c, "findings"), 1);
    expect_page(&c, "<strong>Failed</strong>", "<strong>Verified</strong>");
    expect_page(&c, "<b>result-digest</b>", "not what was signed");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "-p", "other.pub", "good.jsonl")), 1);
    EXPECT_TEXT(&c, "code", "envelope-key-unknown");
    cr_expect_eq(cli_number(&c, "entries_shown"), 0);
    expect_page(&c, "<b>envelope-key-unknown</b>", "<details class=\"entry\"");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "-p", "key.pub", "good.jsonl", "bad.jsonl")), 1);
    EXPECT_TEXT(&c, "inputs.0.verdict", "passed");
    EXPECT_TEXT(&c, "inputs.1.verdict", "failed");
    cli_end(&c);
}

Test(report, what_is_not_there) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "-p", "key.pub", "empty.jsonl")), 6);
    expect_page(&c, "No verdict: nothing", "<strong>Verified</strong>");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "empty.jsonl")), 6);
    EXPECT_TEXT(&c, "code", "nothing-to-check");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "-p", "key.pub", "missing.jsonl")), 5);
    EXPECT_TEXT(&c, "code", "io");
    expect_page(&c, "No verdict: unchecked", "<strong>Verified</strong>");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "none.html", "-p", "missing.pub", "good.jsonl")), 5);
    cr_expect_null(cli_member(&c, "page"));
    cr_expect_neq(access(forge_text("%s/none.html", c.folder), F_OK), 0);
    cli_end(&c);
}

static void rewrite_as_finding(cli_case *c, const char *code) {
    stored rows;
    EXPECT_EXIT(c, cli_json(c, ARGS("import", "-p", "key.pub", "-l", "good.db", "good.jsonl")), 0);
    stored_read(c, "good.db", &rows);
    rows.rows[0].kind = cs_view_of(CS_KIND_FINDING);
    rows.rows[0].code = cs_view_of(code);
    rows.rows[0].detail = cs_view_of("<b>the boot id is this machine's</b>");
    rows.rows[0].envelope = cs_view_bytes(NULL, 0);
    rows.rows[0].record_sha256 = cs_view_of("");
    stored_write_ledger(c, &rows, "l.db");
}

Test(report, an_unsigned_finding_stands_apart) {
    cli_case c;
    begin(&c);
    rewrite_as_finding(&c, "tier-contradicted");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "-p", "key.pub", "l.db")), 0);
    cr_expect_eq(cli_number(&c, "unsigned_findings"), 1);
    cr_expect_eq(cli_number(&c, "contradictions"), 1);
    cr_expect_eq(cli_number(&c, "entries"), 2);
    expect_page(&c, "tier was refuted", NULL);
    expect_page(&c, "&lt;b&gt;the boot id", NULL);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "l.db")), 0);
    cr_expect_eq(cli_number(&c, "contradictions"), 1);
    cli_end(&c);
    begin(&c);
    rewrite_as_finding(&c, "provider-drift");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "-p", "key.pub", "l.db")), 0);
    cr_expect_eq(cli_number(&c, "contradictions"), 0);
    expect_page(&c, "provider-drift", "tier was refuted");
    cli_end(&c);
}

#define GATE                                                                                                           \
    "{\"command\":\"gate\",\"verdict\":\"failed\",\"exit\":1,\"code\":\"gate-bind\",\"message\":\"m\",\"sections\":["  \
    "{\"requirement\":null,\"selected\":0,\"counted\":0,\"rules\":[{\"rule\":\"protect\",\"state\":\"refused\","       \
    "\"code\":\"gate-protected\",\"found\":\"<i>x</i>\"}]}]}"

Test(report, a_gates_verdict_is_beside_it) {
    cli_case c;
    begin(&c);
    cli_write_text(&c, "gate.json", GATE);
    EXPECT_EXIT(
        &c, cli_json(&c, ARGS("report", "-o", "r.html", "-p", "key.pub", "--gate-json", "gate.json", "good.jsonl")), 0);
    cr_expect(json_is_true(cli_member(&c, "gate")));
    expect_page(&c, "gate-protected", NULL);
    cli_write_text(&c, "gate.json", "{}");
    EXPECT_EXIT(
        &c, cli_json(&c, ARGS("report", "-o", "n.html", "-p", "key.pub", "--gate-json", "gate.json", "good.jsonl")), 5);
    EXPECT_TEXT(&c, "code", "input-unknown");
    EXPECT_TEXT(&c, "where", "gate.json");
    cr_expect_neq(access(forge_text("%s/n.html", c.folder), F_OK), 0);
    cli_end(&c);
}

Test(report, it_takes_the_place_of_a_page_and_of_no_input) {
    cli_case c;
    begin(&c);
    cli_write_text(&c, "r.html", "an older page");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "good.jsonl")), 0);
    expect_page(&c, "Nothing was verified", "an older page");
    char *before = page(&c, "good.jsonl");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "good.jsonl", "bad.jsonl", "./good.jsonl")), 2);
    cr_assert_eq(symlink("good.jsonl", forge_text("%s/link", c.folder)), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "good.jsonl", "link")), 2);
    cli_write_text(&c, "gate.json", GATE);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "gate.json", "--gate-json", "gate.json", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "key.pub", "-p", "other.pub", "-p", "key.pub", "good.jsonl")), 2);
    EXPECT_TEXT(&c, "message", "-o and -p name the same file, which would be replaced");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "other.pub", "--trust", "other.pub", "good.jsonl")), 2);
    EXPECT_TEXT(&c, "message", "-o and --trust name the same file, which would be replaced");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", ".", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "good.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "no/such/folder/r.html", "good.jsonl")), 5);
    EXPECT_TEXT(&c, "code", "io");
    char *after = page(&c, "good.jsonl");
    cr_expect_str_eq(before, after);
    cr_expect_eq(folder_count(c.folder), 9, "%zu: no file is left beside", folder_count(c.folder));
    free(before);
    free(after);
    cli_end(&c);
}
