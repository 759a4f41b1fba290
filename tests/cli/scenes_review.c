/* What a reviewer's commands print, for the schemas. */
#include "tests/cli/scenes.h"
#include "tests/cli/stored.h"

#define HOSTILE "line\n\x1b[2J\x07 \xe2\x80\xae\xff\xfe end"

/* runs.jsonl: 1 and 2 differ in texts, 3 has no text; session.jsonl: a call and a close; bad.jsonl: what was not
 * signed; odd.jsonl: no entry; empty.jsonl: nothing; l.db: the runs, of which the first is a finding. */
static void write_inputs(cli_case *c) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    cli_write_public_key(c, "key.pub", &key);
    forge_add(&bundle, forge_run_line(&key, &run));
    run.output = "42\nand more\n";
    run.trace_id = "t";
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    run.output = HOSTILE;
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    cli_write_bundle(c, "runs\xff.jsonl", &bundle);
    cli_write_bundle(c, "runs.jsonl", &bundle);
    run.output = "not what was signed";
    forge_add(&bundle, forge_run_line(&key, &run));
    cli_write_bundle(c, "bad.jsonl", &bundle);
    bundle.count = 0;
    forge_session(&bundle, &key, FORGE_SESSION, 1, NULL);
    cli_write_bundle(c, "session.jsonl", &bundle);
    cli_write_text(c, "odd.jsonl", "{\"what\":1}\n");
    cli_write_text(c, "empty.jsonl", "");
    EXPECT_EXIT(c, cli_json(c, ARGS("import", "-p", "key.pub", "-l", "good.db", "runs.jsonl")), 0);
    stored rows;
    stored_read(c, "good.db", &rows);
    rows.rows[0].kind = cs_view_of(CS_KIND_FINDING);
    rows.rows[0].code = cs_view_of("provider-drift");
    rows.rows[0].detail = cs_view_of("it described itself as another");
    rows.rows[0].envelope = cs_view_bytes(NULL, 0);
    rows.rows[0].record_sha256 = cs_view_of("");
    stored_write_ledger(c, &rows, "l.db");
}

void scene_log(documents *d) {
    cli_case c;
    cli_begin(&c);
    write_inputs(&c);
    documents_take(d, &c, "log-all", 0, "ok", ARGS("log", "runs\xff.jsonl", "session.jsonl"));
    documents_take(d, &c, "log-checked", 0, "ok", ARGS("log", "-p", "key.pub", "session.jsonl"));
    documents_take(d, &c, "log-ledger", 0, "ok", ARGS("log", "-p", "key.pub", "l.db"));
    EXPECT_TEXT(&c, "lines.2.verdict", "finding");
    documents_take(d, &c, "log-limited", 0, "ok", ARGS("log", "--limit", "1", "runs.jsonl"));
    documents_take(d, &c, "log-bad", 1, "result-digest",
                   ARGS("log", "-p", "key.pub", "--verdict", "close", "bad.jsonl", "missing\xff"));
    documents_take(d, &c, "log-odd", 1, "line-framing", ARGS("log", "odd.jsonl"));
    documents_take(d, &c, "log-missing", 5, "io", ARGS("log", "missing", "runs.jsonl"));
    documents_take(d, &c, "log-nothing", 6, "nothing-to-check", ARGS("log", "--tier", "vm", "runs.jsonl"));
    documents_take(d, &c, "log-empty", 6, "nothing-to-check", ARGS("log", "empty.jsonl"));
    documents_take(d, &c, "log-no-repository", 5, "git-unreadable",
                   ARGS("log", "--repo", "missing", "--commit", "HEAD", "runs.jsonl"));
    documents_take(d, &c, "log-usage", 2, "usage", ARGS("log", "--since", "\xff", "runs.jsonl"));
    cli_end(&c);
}

void scene_diff(documents *d) {
    cli_case c;
    cli_begin(&c);
    write_inputs(&c);
    documents_take(d, &c, "diff-same", 0, "ok", ARGS("diff", "runs.jsonl:1", "runs\xff.jsonl:1"));
    documents_take(d, &c, "diff-lines", 1, "entries-differ",
                   ARGS("diff", "-p", "key.pub", "runs.jsonl:1", "good.db:2"));
    documents_take(d, &c, "diff-bytes", 1, "entries-differ", ARGS("diff", "runs.jsonl:1", "runs.jsonl:3"));
    documents_take(d, &c, "diff-request", 0, "ok", ARGS("diff", "--only", "request", "runs.jsonl:2", "runs.jsonl:3"));
    documents_take(d, &c, "diff-finding", 1, "entries-differ", ARGS("diff", "l.db:1", "runs.jsonl:1"));
    EXPECT_TEXT(&c, "a.kind", "finding");
    documents_take(d, &c, "diff-bad", 1, "result-digest", ARGS("diff", "-p", "key.pub", "bad.jsonl:4", "runs.jsonl:1"));
    documents_take(d, &c, "diff-several", 2, "usage", ARGS("diff", "runs.jsonl", "session.jsonl"));
    documents_take(d, &c, "diff-close", 6, "nothing-to-check", ARGS("diff", "session.jsonl", "session.jsonl:2"));
    documents_take(d, &c, "diff-not-there", 6, "entry-unknown", ARGS("diff", "session.jsonl", "session.jsonl:3"));
    documents_take(d, &c, "diff-odd", 1, "line-framing", ARGS("diff", "session.jsonl", "odd.jsonl"));
    documents_take(d, &c, "diff-missing", 5, "io", ARGS("diff", "missing\xff", "session.jsonl"));
    cli_end(&c);
}

void scene_report(documents *d) {
    cli_case c;
    cli_begin(&c);
    write_inputs(&c);
    documents_take(d, &c, "report-good", 0, "ok", ARGS("report", "-o", "r.html", "-p", "key.pub", "runs.jsonl", "l.db"));
    documents_take(d, &c, "report-unchecked", 0, "ok", ARGS("report", "-o", "r\xff.html", "runs\xff.jsonl"));
    documents_take(d, &c, "report-bad", 1, "result-digest",
                   ARGS("report", "-o", "r.html", "-p", "key.pub", "bad.jsonl", "missing\xff"));
    documents_take(d, &c, "report-odd", 1, "line-framing", ARGS("report", "-o", "r.html", "odd.jsonl"));
    documents_take(d, &c, "report-missing", 5, "io", ARGS("report", "-o", "r.html", "missing"));
    documents_take(d, &c, "report-empty", 6, "nothing-to-check", ARGS("report", "-o", "r.html", "empty.jsonl"));
    documents_take(d, &c, "report-no-gate", 5, "input-unknown",
                   ARGS("report", "-o", "r.html", "--gate-json", "odd.jsonl", "runs.jsonl"));
    documents_take(d, &c, "report-no-key", 5, "key-unreadable", ARGS("report", "-o", "r.html", "-p", "no.pub", "runs.jsonl"));
    documents_take(d, &c, "report-usage", 2, "usage", ARGS("report", "runs.jsonl"));
    cli_end(&c);
}
