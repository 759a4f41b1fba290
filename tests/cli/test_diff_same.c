/* `countersign diff` of one entry with itself, and of one record that is kept twice. */
#include "tests/cli/cli_case.h"
#include "tests/cli/stored.h"

static void write_pair(cli_case *c, const forge_run *a, const forge_run *b) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_add(&bundle, forge_run_line(&key, a));
    forge_add(&bundle, forge_run_line(&key, b));
    cli_write_bundle(c, "pair.jsonl", &bundle);
}

/* pair.jsonl: the same run twice. */
static void begin(cli_case *c) {
    cli_begin(c);
    forge_key key = forge_key_from(1);
    forge_key other = forge_key_from(2);
    cli_write_public_key(c, "key.pub", &key);
    cli_write_public_key(c, "other.pub", &other);
    forge_run run = forge_single();
    write_pair(c, &run, &run);
}

/* An entry compared with itself says nothing of two runs, nor does one record that is kept twice. */
Test(diff_same, it_is_told) {
    static const char entry[] = "a and b are the same entry: it is compared with itself\n";
    static const char record[] = "a and b are the same record twice: one run, kept in two entries\n";
    cli_case c;
    begin(&c);
    exec_run(NULL, ARGS("ln", "-s", "pair.jsonl", forge_text("%s/other.jsonl", c.folder)), &c.end);
    exec_free(&c.end);
    exec_run(NULL, ARGS("cp", forge_text("%s/pair.jsonl", c.folder), forge_text("%s/copy.jsonl", c.folder)), &c.end);
    const struct {
        const char *a, *b, *same;
    } rows[] = {{"pair.jsonl:1", "pair.jsonl:1", "entry"},   {"pair.jsonl:1", "./pair.jsonl:1", "entry"},
                {"pair.jsonl:1", "other.jsonl:1", "entry"},  {"pair.jsonl:1", "copy.jsonl:1", "record"},
                {"pair.jsonl:1", "other.jsonl:2", "record"}, {"pair.jsonl:1", "pair.jsonl:2", "record"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool itself = strcmp(rows[i].same, "entry") == 0;
        EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "-p", "key.pub", rows[i].a, rows[i].b)), 0);
        EXPECT_TEXT(&c, "same", rows[i].same);
        EXPECT_HAS(cli_text(&c, "message"), itself ? "a and b are the same entry" : "the same record twice");
        EXPECT_EXIT(&c, cli_run(&c, ARGS("diff", rows[i].a, rows[i].b)), 0);
        EXPECT_HAS(c.end.out, itself ? entry : record);
        EXPECT_HAS_NOT(c.end.out, itself ? record : entry);
    }
    forge_run runs[2] = {forge_single(), forge_single()};
    runs[1].ended++;
    forge_seal(&runs[1]);
    write_pair(&c, &runs[0], &runs[1]);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "--only", "result", "pair.jsonl:1", "pair.jsonl:2")), 0);
    cr_expect(json_is_null(cli_member(&c, "same")));
    EXPECT_EXIT(&c, cli_run(&c, ARGS("diff", "--only", "result", "pair.jsonl:1", "pair.jsonl:2")), 0);
    EXPECT_HAS_NOT(c.end.out, "a and b are");
    cli_end(&c);
}

/* Whatever it claims, a finding is no signed record; and what differs is told, although the record is the same. */
Test(diff_same, a_record_with_another_key_differs) {
    cli_case c;
    begin(&c);
    forge_key key = forge_key_from(1);
    forge_key other = forge_key_from(2);
    forge_run run = forge_single();
    forge_bundle bundle = {.count = 0};
    forge_add(&bundle, forge_run_line(&key, &run));
    forge_add(&bundle, forge_run_line(&other, &run));
    cli_write_bundle(&c, "pair.jsonl", &bundle);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "pair.jsonl:1", "pair.jsonl:2")), 1);
    EXPECT_TEXT(&c, "same", "record");
    EXPECT_TEXT(&c, "code", "entries-differ");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "key.pub", "-p", "other.pub", "-l", "l.db", "pair.jsonl")), 0);
    stored rows;
    stored_read(&c, "l.db", &rows);
    rows.rows[0].kind = cs_view_of(CS_KIND_FINDING);
    rows.rows[0].code = cs_view_of("provider-drift");
    rows.rows[0].envelope = cs_view_bytes(NULL, 0);
    rows.rows[0].record_sha256 = cs_view_of("");
    stored_write_ledger(&c, &rows, "l.db");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "l.db:1", "pair.jsonl:1")), 1);
    cr_expect(json_is_null(cli_member(&c, "same")));
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "l.db:1", "l.db:1")), 0);
    EXPECT_TEXT(&c, "same", "entry");
    cli_end(&c);
}
