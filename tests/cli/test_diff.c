/* `countersign diff`: every field that differs, where it does, and nothing else; safe to look at. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/cli/bundles.h"
#include "tests/cli/stored.h"
#include "tests/support/expect.h"

static forge_key the_key(void) {
    return forge_key_from(1);
}

/* A bundle of these runs, one a line. */
static void write_runs(cli_case *c, const char *name, const forge_run *runs, size_t count) {
    forge_key key = the_key();
    forge_bundle bundle = {.count = 0};
    for (size_t i = 0; i < count; i++)
        forge_add(&bundle, forge_run_line(&key, &runs[i]));
    cli_write_bundle(c, name, &bundle);
}

/* pair.jsonl: two runs that differ in their output alone, and in what follows from it. */
static void begin(cli_case *c, const char *output_a, const char *output_b) {
    cli_begin(c);
    forge_key key = the_key();
    forge_key other = forge_key_from(2);
    cli_write_public_key(c, "key.pub", &key);
    cli_write_public_key(c, "other.pub", &other);
    forge_run runs[2] = {forge_single(), forge_single()};
    runs[0].output = output_a;
    runs[1].output = output_b;
    forge_seal(&runs[0]);
    forge_seal(&runs[1]);
    write_runs(c, "pair.jsonl", runs, 2);
}

#define COMPARE ARGS("diff", "pair.jsonl:1", "pair.jsonl:2")

/* "result: stdout", ...: where the differences are, in their order. */
static const char *places(const cli_case *c) {
    char *all = forge_text("%s", "");
    size_t i = 0;
    const json_t *each = NULL;
    json_array_foreach(cli_member(c, "differences"), i, each) {
        all = forge_text("%s%s%s: %s", all, i > 0 ? ", " : "", json_string_value(json_object_get(each, "part")),
                         json_string_value(json_object_get(each, "field")));
    }
    return all;
}
#define EXPECT_PLACES(c, want) cr_expect_str_eq(places(c), (want), "%s, not %s", places(c), (want))

static const char *lines_of(const cli_case *c, const char *path) {
    char *all = forge_text("%s", "");
    size_t i = 0;
    const json_t *each = NULL;
    json_array_foreach(cli_member(c, path), i, each) all = forge_text("%s%s\n", all, json_string_value(each));
    return all;
}

/* ---- same and other ---------------------------------------------------------------------------- */

Test(diff, an_entry_and_its_like_are_the_same) {
    cli_case c;
    begin(&c, "42\n", "42\n");
    EXPECT_EXIT(&c, cli_run(&c, COMPARE), 0);
    EXPECT_HAS(c.end.out, "signature not checked here");
    EXPECT_HAS(c.end.out, "result: the same\n");
    EXPECT_EXIT(&c, cli_json(&c, COMPARE), 0);
    EXPECT_PLACES(&c, "");
    EXPECT_TEXT(&c, "note", "signature not checked here");
    EXPECT_TEXT(&c, "a.verification", "not-checked");
    cr_expect(json_is_null(cli_member(&c, "first")));
    cr_expect_eq(cli_number(&c, "parts.result"), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "-p", "key.pub", "pair.jsonl:1", "pair.jsonl:2")), 0);
    cr_expect_null(cli_member(&c, "note"));
    EXPECT_TEXT(&c, "a.verification", "passed");
    EXPECT_TEXT(&c, "b.verification", "passed");
    cli_end(&c);
}

Test(diff, one_other_byte_is_found_with_all_that_follows_from_it) {
    cli_case c;
    begin(&c, "one\ntwo\nthree\n", "one\ntwx\nthree\n");
    EXPECT_EXIT(&c, cli_json(&c, COMPARE), 1);
    EXPECT_TEXT(&c, "code", "entries-differ");
    EXPECT_TEXT(&c, "where", "result: stdout");
    EXPECT_TEXT(&c, "first.part", "result");
    EXPECT_TEXT(&c, "first.field", "stdout");
    EXPECT_PLACES(&c, "result: stdout, record: result_sha256, record: record_sha256");
    cr_expect_eq(cli_number(&c, "differences.0.offset"), 6);
    cr_expect_eq(cli_number(&c, "differences.0.length_a"), 14);
    EXPECT_TEXT(&c, "differences.0.a", "one\\x0atwo\\x0athree\\x0a");
    cr_expect_str_eq(lines_of(&c, "differences.0.lines"), "@@ -1,3 +1,3 @@\n one\n-two\n+twx\n three\n");
    cr_expect_eq(cli_number(&c, "parts.request"), 0);
    cr_expect_eq(cli_number(&c, "parts.record"), 2);
    EXPECT_EXIT(&c, cli_run(&c, COMPARE), 1);
    EXPECT_HAS(c.end.out, "\nresult: stdout, from byte 6 on (of 14 and 14)\n");
    EXPECT_HAS(c.end.out, "      | -two\n      | +twx\n");
    EXPECT_HAS(c.end.err, "[entries-differ]");
    cli_end(&c);
}

Test(diff, only_compares_what_was_asked_for) {
    cli_case c;
    begin(&c, "a\n", "b\n");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "--only", "request", "pair.jsonl:1", "pair.jsonl:2")), 0);
    cr_expect(json_is_null(cli_member(&c, "parts.result")));
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "--only", "response", "pair.jsonl:1", "pair.jsonl:2")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "--only", "result", "pair.jsonl:1", "pair.jsonl:2")), 1);
    EXPECT_PLACES(&c, "result: stdout");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "--only", "request", "--only", "record", "pair.jsonl:1", "pair.jsonl:2")),
                1);
    EXPECT_PLACES(&c, "record: result_sha256, record: record_sha256");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "--only", "all", "pair.jsonl:1", "pair.jsonl:2")), 2);
    cli_end(&c);
}

/* ---- each part has its fields ------------------------------------------------------------------- */

typedef struct change {
    void (*make)(forge_run *run);
    const char *places;
} change;

static void other_code(forge_run *run) {
    run->code = "console.log(6*8)";
    forge_seal(run);
}
static void other_trace(forge_run *run) {
    run->trace_id = "t";
}
static void other_duration(forge_run *run) {
    run->duration_ms = 5;
}
static void some_advice(forge_run *run) {
    run->advice = 1;
}
static void other_time(forge_run *run) {
    run->ended++;
    forge_seal(run);
}
static void other_policy(forge_run *run) {
    run->policy = "policy:2";
    forge_seal(run);
}
static void other_sandbox(forge_run *run) {
    run->sandbox = "docker";
}
/* Field 100, a varint, which the schema does not know: in no field, but in the bytes. */
static void unknown_in_request(forge_run *run) {
    run->request_tail = "a00601";
}
static void unknown_in_response(forge_run *run) {
    run->response_tail = "a00601";
}
static void no_record(forge_run *run) {
    run->no_record = true;
}

static const change changes[] = {
    {other_code, "request: javascript.code, record: request_sha256, record: record_sha256"},
    {other_trace, "request: trace_id"},
    {other_duration, "response: duration_ms"},
    {some_advice, "response: advice[0].pattern"},
    {other_time, "record: ended_unix_ms, record: record_sha256"},
    {other_policy, "record: policy, record: record_sha256"},
    {other_sandbox, "response: sandbox"},
    {unknown_in_request, "request: (encoding)"},
    {unknown_in_response, "response: (encoding)"},
};

Test(diff, each_change_is_told_at_its_place) {
    cli_case c;
    begin(&c, "42\n", "42\n");
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        forge_run runs[2] = {forge_single(), forge_single()};
        changes[i].make(&runs[1]);
        write_runs(&c, "pair.jsonl", runs, 2);
        EXPECT_EXIT(&c, cli_json(&c, COMPARE), 1);
        EXPECT_TEXT(&c, "code", "entries-differ");
        EXPECT_PLACES(&c, changes[i].places);
    }
    cli_end(&c);
}

/* A response that lost its record, beside an envelope that still has it: nothing of it may pass for the same. */
Test(diff, a_response_without_its_record_is_another) {
    cli_case c;
    begin(&c, "42\n", "42\n");
    forge_run runs[2] = {forge_single(), forge_single()};
    no_record(&runs[1]);
    write_runs(&c, "pair.jsonl", runs, 2);
    EXPECT_EXIT(&c, cli_json(&c, COMPARE), 1);
    EXPECT_HAS(places(&c), "response: record.version, ");
    EXPECT_HAS_NOT(places(&c), "record: version");
    cr_expect(json_is_null(cli_member(&c, "differences.0.b")));
    EXPECT_TEXT(&c, "differences.0.a", "2");
    cli_end(&c);
}

Test(diff, another_key_and_another_envelope_are_told) {
    cli_case c;
    begin(&c, "42\n", "42\n");
    forge_key key = the_key();
    forge_key other = forge_key_from(2);
    forge_run run = forge_single();
    forge_bundle bundle = {.count = 0};
    forge_add(&bundle, forge_run_line(&key, &run));
    forge_add(&bundle, forge_run_line(&other, &run));
    key.secret_key[0] ^= 1; /* a signature of no one under the same key id */
    forge_add(&bundle, forge_run_line(&key, &run));
    cli_write_bundle(&c, "pair.jsonl", &bundle);
    EXPECT_EXIT(&c, cli_json(&c, COMPARE), 1);
    EXPECT_PLACES(&c, "record: (key id)");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "pair.jsonl:1", "pair.jsonl:3")), 1);
    EXPECT_PLACES(&c, "record: (envelope)");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "-p", "key.pub", "pair.jsonl:1", "pair.jsonl:3")), 1);
    EXPECT_TEXT(&c, "code", "envelope-signature");
    EXPECT_TEXT(&c, "b.verification", "failed");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "-p", "other.pub", "pair.jsonl:2", "pair.jsonl:2")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "-p", "other.pub", "pair.jsonl:1", "pair.jsonl:1")), 1);
    EXPECT_TEXT(&c, "code", "envelope-key-unknown");
    cli_end(&c);
}

/* ---- files -------------------------------------------------------------------------------------- */

static gate_run project(void) {
    gate_run run = bundles_project();
    bundles_add_file(&run, "a.c", "a\n");
    bundles_add_file(&run, "b.c", "b\n");
    bundles_add_file(&run, "c.c", "c\n");
    bundles_add_step(&run, "make");
    return run;
}

static void compare_projects(cli_case *c, const gate_run *other) {
    forge_key key = the_key();
    forge_bundle bundle = {.count = 0};
    gate_run run = project();
    forge_add(&bundle, gate_sign(&key, &run).line);
    forge_add(&bundle, gate_sign(&key, other).line);
    cli_write_bundle(c, "pair.jsonl", &bundle);
    EXPECT_EXIT(c,
                cli_json(c, ARGS("diff", "-p", "key.pub", "--only", "request", "--only", "result", "pair.jsonl:1",
                                 "pair.jsonl:2")),
                1);
}

Test(diff, files_are_matched_by_their_paths) {
    cli_case c;
    begin(&c, "", "");
    gate_run other = project();
    other.contents[1] = "B\n";
    compare_projects(&c, &other);
    EXPECT_PLACES(&c, "request: project.files[1].content (b.c)");
    other = project();
    other.paths[0] = "b.c"; /* the first is gone */
    other.paths[1] = "c.c";
    other.contents[0] = "b\n";
    other.contents[1] = "c\n";
    other.files = 2;
    compare_projects(&c, &other);
    EXPECT_PLACES(&c, "request: project.files[0].path (a.c), request: project.files[0].content (a.c)");
    cr_expect(json_is_null(cli_member(&c, "differences.0.b")));
    other = project();
    other.paths[0] = "b.c";
    other.paths[1] = "a.c";
    other.contents[0] = "b\n";
    other.contents[1] = "a\n";
    compare_projects(&c, &other);
    EXPECT_PLACES(&c, "request: project.files");
    other = project();
    other.exit_codes[0] = 3;
    other.junit = "<testsuite>\n</testsuite>";
    compare_projects(&c, &other);
    EXPECT_PLACES(&c, "result: steps[0].exit_code, result: artifacts[0].content (junit.xml)");
    cli_end(&c);
}

/* ---- hostile text -------------------------------------------------------------------------------- */

Test(diff, hostile_text_steers_nothing) {
    cli_case c;
    begin(&c,
          "\x1b[2J\x1b]0;owned\x07\n\xe2\x80\xae"
          "evil\nb: fine\n",
          "\x1b[31m\nresult: the same\nb: fine\n");
    EXPECT_EXIT(&c, cli_run(&c, COMPARE), 1);
    EXPECT_HAS_NOT(c.end.out, "\x1b");
    EXPECT_HAS_NOT(c.end.out, "\x07");
    EXPECT_HAS_NOT(c.end.out, "\xe2\x80\xae");
    EXPECT_HAS_NOT(c.end.out, "\nb: fine");
    EXPECT_HAS_NOT(c.end.out, "\nresult: the same");
    EXPECT_HAS(c.end.out, "| -\\x1b[2J\\x1b]0;owned\\x07\n");
    EXPECT_HAS(c.end.out, "| -\\u{202e}evil\n");
    EXPECT_HAS(c.end.out, "| +result: the same\n");
    EXPECT_HAS(c.end.out, "|  b: fine\n");
    cli_end(&c);
}

/* A right-to-left mark alone can't be seen; it is told by its number. */
Test(diff, a_mark_that_can_not_be_seen_is_shown) {
    cli_case c;
    begin(&c, "abc",
          "ab\xe2\x80\x8f"
          "c");
    EXPECT_EXIT(&c, cli_json(&c, COMPARE), 1);
    EXPECT_TEXT(&c, "differences.0.a", "abc");
    EXPECT_TEXT(&c, "differences.0.b", "ab\\u{200f}c");
    cr_expect_null(cli_member(&c, "differences.0.lines"), "it is one line");
    cli_end(&c);
}

Test(diff, bytes_that_are_no_text_are_hexadecimal) {
    cli_case c;
    begin(&c,
          "0123456789abcdef0123456789abcdef\xff\x01"
          "0123456789abcdef\n",
          "0123456789abcdef0123456789abcdef\xff\x02\n");
    EXPECT_EXIT(&c, cli_json(&c, COMPARE), 1);
    cr_expect_eq(cli_number(&c, "differences.0.offset"), 33);
    cr_expect_null(cli_member(&c, "differences.0.lines"));
    cr_expect_str_eq(lines_of(&c, "differences.0.hex_a"),
                     "00000010  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef\n"
                     "00000020  ff 01 30 31 32 33 34 35 36 37 38 39 61 62 63 64  ..0123456789abcd\n"
                     "00000030  65 66 0a                                         ef.\n");
    cr_expect_str_eq(lines_of(&c, "differences.0.hex_b"),
                     "00000010  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef\n"
                     "00000020  ff 02 0a                                         ...\n");
    cli_end(&c);
}

static char *repeat(const char *text, size_t count) {
    size_t len = strlen(text);
    char *all = forge_text("%*s", (int)(len * count), "");
    for (size_t i = 0; i < count; i++)
        memcpy(all + i * len, text, len);
    return all;
}

/* Ten million bytes on one line, of which the last differs; and 200,000 lines, which are too many to be matched. */
Test(diff, what_is_very_long_is_cut) {
    cli_case c;
    char *line = repeat("x", (size_t)10 * 1024 * 1024);
    begin(&c, forge_text("%sy\nend\n", line), forge_text("%sz\nend\n", line));
    EXPECT_EXIT(&c, cli_run(&c, COMPARE), 1);
    cr_expect_lt(c.end.out_len, 4000);
    EXPECT_HAS(c.end.out, "from byte 10485760 on");
    EXPECT_HAS(c.end.out, "y\\x0aend\\x0a ...\n");
    EXPECT_HAS(c.end.out, "xxx...\n      | +xxx");
    cli_end(&c);
    begin(&c, repeat("a\n", 200000), repeat("b\n", 200000));
    EXPECT_EXIT(&c, cli_json(&c, COMPARE), 1);
    cr_expect_eq(json_array_size(cli_member(&c, "differences.0.lines")), 0);
    cr_expect(json_is_true(cli_member(&c, "differences.0.lines_cut")));
    cli_end(&c);
    begin(&c, repeat("a\n", 1000), repeat("b\n", 1000));
    EXPECT_EXIT(&c, cli_json(&c, COMPARE), 1);
    cr_expect_eq(json_array_size(cli_member(&c, "differences.0.lines")), 200);
    cr_expect(json_is_true(cli_member(&c, "differences.0.lines_cut")));
    cli_end(&c);
    begin(&c, repeat("a\n", 99), repeat("b\n", 99));
    EXPECT_EXIT(&c, cli_json(&c, COMPARE), 1);
    cr_expect_eq(json_array_size(cli_member(&c, "differences.0.lines")), 199);
    cr_expect(json_is_false(cli_member(&c, "differences.0.lines_cut")));
    cli_end(&c);
}

/* Both are short, and would be cut before what differs when they are escaped. */
Test(diff, values_that_escaping_makes_long_do_not_look_alike) {
    cli_case c;
    begin(&c, forge_text("%sA", repeat("\x1b", 60)), forge_text("%sB", repeat("\x1b", 60)));
    EXPECT_EXIT(&c, cli_json(&c, COMPARE), 1);
    EXPECT_HAS(cli_text(&c, "differences.0.a"), "\\x1bA ...");
    EXPECT_HAS(cli_text(&c, "differences.0.b"), "\\x1bB ...");
    cli_end(&c);
    begin(&c, forge_text("%sA", repeat("\x1b", 49)), forge_text("%sB", repeat("e", 100)));
    EXPECT_EXIT(&c, cli_json(&c, COMPARE), 1);
    EXPECT_TEXT(&c, "differences.0.a", forge_text("%sA", repeat("\\x1b", 49)));
    cli_end(&c);
}

/* ---- which entries ------------------------------------------------------------------------------- */

Test(diff, an_input_alone_must_hold_one_run) {
    cli_case c;
    begin(&c, "a\n", "b\n");
    forge_key key = the_key();
    forge_bundle bundle = {.count = 0};
    forge_session(&bundle, &key, FORGE_SESSION, 1, NULL);
    cli_write_bundle(&c, "one.jsonl", &bundle);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "one.jsonl", "one.jsonl:1")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "./one.jsonl", "pair.jsonl")), 2);
    EXPECT_TEXT(&c, "code", "usage");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "one.jsonl", "one.jsonl:2")), 6);
    EXPECT_TEXT(&c, "code", "nothing-to-check");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "one.jsonl", "one.jsonl:3")), 6);
    EXPECT_TEXT(&c, "code", "entry-unknown");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "one.jsonl:0", "one.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "one.jsonl:9223372036854775808", "one.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "one.jsonl:9223372036854775807", "one.jsonl")), 6);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "one.jsonl:99999999999999999999", "one.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", ":1", "one.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "one.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "-", "-")), 2);
    EXPECT_TEXT(&c, "message", "standard input can be read once only");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "--", "-:1", "-:2")), 2);
    EXPECT_TEXT(&c, "message", "standard input can be read once only");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "--", "-", "-:2")), 2);
    EXPECT_TEXT(&c, "message", "standard input can be read once only");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "--", "-:x", "-:2")), 5); /* a file's name */
    EXPECT_TEXT(&c, "code", "io");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "missing", "one.jsonl")), 5);
    EXPECT_TEXT(&c, "code", "io");
    bundle.count = 0;
    forge_session(&bundle, &key, FORGE_SESSION, 0, NULL);
    cli_write_bundle(&c, "none.jsonl", &bundle);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "one.jsonl", "none.jsonl")), 6);
    cli_end(&c);
}

/* What was imported is the same entry in the ledger; as a finding it is another, whatever its bytes. */
Test(diff, ledgers_and_findings) {
    cli_case c;
    begin(&c, "a\n", "b\n");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "key.pub", "-l", "l.db", "pair.jsonl")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "-p", "key.pub", "l.db:2", "pair.jsonl:2")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "-p", "key.pub", "l.db:1", "pair.jsonl:2")), 1);
    stored rows;
    stored_read(&c, "l.db", &rows);
    rows.rows[1].kind = cs_view_of(CS_KIND_FINDING);
    rows.rows[1].code = cs_view_of("provider-drift");
    rows.rows[1].envelope = cs_view_bytes(NULL, 0);
    rows.rows[1].record_sha256 = cs_view_of("");
    stored_write_ledger(&c, &rows, "l.db");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "l.db:2", "pair.jsonl:2")), 1);
    EXPECT_PLACES(&c, "record: (kind of entry), record: (code of the finding), record: (key id)");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "l.db:2", "l.db:2")), 0);
    EXPECT_TEXT(&c, "a.verification", "unsigned");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "l.db", "pair.jsonl:1")), 0); /* a finding is no run */
    /* A finding keeps what came instead of an answer. */
    rows.rows[1].response = cs_view_of("<html>no\n");
    stored_write_ledger(&c, &rows, "l.db");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("diff", "--only", "response", "l.db:2", "pair.jsonl:2")), 1);
    EXPECT_PLACES(&c, "response: (bytes that are no message)");
    EXPECT_TEXT(&c, "differences.0.a", "<html>no\\x0a");
    cli_end(&c);
}
