/* Every document that a command prints with --json is valid by the schema of its command in docs/schema. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/cli/scenes.h"
#include "tests/support/daemon.h"

static void play_all(documents *d) {
    scene_lines(d);
    scene_keys(d);
    scene_digest(d);
    scene_verify(d);
    scene_expected(d);
    scene_show(d);
    scene_ledger(d);
    scene_policy(d);
    scene_gate(d);
    scene_log(d);
    scene_diff(d);
    scene_report(d);
    scene_run(d);
    scene_session(d);
    scene_replay(d);
    scene_tiers(d);
}

Test(json_schema, every_document_is_valid_and_every_exit_is_among_them) {
    documents d;
    documents_begin(&d);
    play_all(&d);
    documents_expect_valid(&d, NULL);
    cr_expect_gt(d.count, 100);
    for (size_t i = 0; i < 7; i++)
        cr_expect(d.exits[i], "no document of exit %zu", i);
    documents_end(&d);
}

/* What only a real daemon gives: steps and artifacts, and cells of a session. */
Test(json_schema, documents_of_real_work_are_valid) {
    static const char *const environment[] = {"PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN, "COUNTERSIGN_KEY", NULL};
    documents d;
    cli_case c;
    test_daemon daemon;
    documents_need();
    daemon_start(&daemon, "process", NULL);
    documents_begin(&d);
    cli_begin(&c);
    c.how.env = environment;
    cli_keys(&c);
    cli_write_text(&c, "request.json",
                   "{\"project\":{\"files\":[{\"path\":\"a.txt\",\"content\":\"hello\"}],\"steps\":[\"printf "
                   "'\\\\377\\\\000' > b.bin\", \"cat a.txt\"],\"artifacts\":[\"b.bin\"]}}");
    cli_write_text(&c, "calls.jsonl",
                   "{\"cell\":{\"language\":\"javascript\",\"code\":\"x = 6\"}}\n"
                   "{\"cell\":{\"language\":\"javascript\",\"code\":\"console.log(x * 7)\"}}\n");
    documents_take(&d, &c, "run", 0, "ok", ARGS("run", "-d", daemon.url, "-k", "k.key", "-l", "l.db", "request.json"));
    EXPECT_TEXT(&c, "outputs.4.field", "artifacts[0].content");
    EXPECT_TEXT(&c, "outputs.4.base64", "/wA=");
    documents_take(&d, &c, "session", 0, "ok",
                   ARGS("session", "-d", daemon.url, "-k", "k.key", "-l", "l.db", "calls.jsonl"));
    documents_take(&d, &c, "show", 0, "ok", ARGS("show", "l.db", "1"));
    documents_take(&d, &c, "verify", 0, "ok", ARGS("verify", "-p", "k.pub", "l.db"));
    documents_take(&d, &c, "replay", 0, "ok", ARGS("replay", "-p", "k.pub", "-d", daemon.url, "l.db"));
    cr_expect_eq(daemon_stop(&daemon), 0);
    documents_expect_valid(&d, NULL);
    cli_end(&c);
    documents_end(&d);
}

/* ---- a schema for every command ---------------------------------------------------------------- */

static json_t *read_schema(const char *name) {
    json_error_t error;
    json_t *schema =
        json_load_file(forge_text("%s/%s.schema.json", documents_schemas(), name), JSON_REJECT_DUPLICATES, &error);
    cr_assert_not_null(schema, "%s: %s", name, error.text);
    return schema;
}

static void expect_schema_of(const char *file, const char *command) {
    json_t *schema = read_schema(file);
    const json_t *named = json_object_get(json_object_get(json_object_get(schema, "properties"), "command"), "const");
    cr_expect_str_eq(json_string_value(named), command);
    cr_expect_str_eq(json_string_value(json_object_get(schema, "$id")),
                     forge_text("urn:countersign:schema:%s:1", file));
    json_decref(schema);
}

static size_t count_schemas(void) {
    size_t count = 0;
    DIR *folder = opendir(documents_schemas());
    cr_assert_not_null(folder);
    for (const struct dirent *file = readdir(folder); file != NULL; file = readdir(folder))
        if (file->d_name[0] != '.') count++;
    closedir(folder);
    return count;
}

Test(json_schema, every_command_has_a_schema_and_every_schema_a_command) {
    cli_case c;
    cli_begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("--help")), 0);
    size_t i = 0;
    json_t *each = NULL;
    json_array_foreach(cli_member(&c, "commands"), i, each) {
        const char *command = json_string_value(json_object_get(each, "command"));
        expect_schema_of(command, command);
    }
    cr_expect_gt(i, 5);
    expect_schema_of("countersign", "");
    cr_expect_eq(count_schemas(), i + 3, "besides these there are common and policy-file, and nothing else");
    cli_end(&c);
}

/* ---- the validator can fail -------------------------------------------------------------------- */

#define LOWER "\"a000000000000000000000000000000000000000000000000000000000000000\""
#define UPPER "\"A000000000000000000000000000000000000000000000000000000000000000\""
#define AN_ERROR "{\"code\":\"io\",\"message\":\"it is broken\"}"

static const documents_twin twins[] = {
    {"verify-good", "unknown-member", "", "surprise", "1", "$ [unevaluatedProperties]"},
    {"verify-good", "unknown-member-of-input", "inputs.0", "surprise", "1", "$.inputs[0] [additionalProperties]"},
    {"verify-good", "verdict-of-another-exit", "", "verdict", "\"failed\"", "$ [oneOf]"},
    {"verify-good", "exit-of-another-verdict", "", "exit", "1", "$ [oneOf]"},
    {"verify-good", "code-of-another-exit", "", "code", "\"result-digest\"", "$ [oneOf]"},
    {"verify-bad", "failure-without-code", "", "code", "\"ok\"", "$ [oneOf]"},
    {"verify-good", "exit-unknown", "", "exit", "7", "$.exit [enum]"},
    {"verify-good", "verdict-unknown", "", "verdict", "\"fine\"", "$.verdict [enum]"},
    {"verify-good", "code-missing", "", "code", NULL, "$ [required]"},
    {"verify-good", "message-missing", "", "message", NULL, "$ [required]"},
    {"verify-good", "passed-with-found", "", "found", "\"x\"", "$ [oneOf]"},
    {"verify-good", "passed-with-failures", "inputs.0", "failures", "1", "$.inputs[0].failures [const]"},
    {"verify-good", "passed-with-a-failed-input", "inputs.0", "verdict", "\"failed\"", "$.inputs[0].verdict [const]"},
    {"verify-good", "passed-without-a-run", "inputs.0", "runs", "0", "$.inputs[0].runs [minimum]"},
    {"verify-good", "count-as-text", "inputs.0", "runs", "\"3\"", "$.inputs[0].runs [type]"},
    {"verify-good", "count-below-zero", "inputs.0", "runs", "-1", "$.inputs[0].runs [minimum]"},
    {"verify-bad", "code-not-kebab", "", "code", "\"Result_Digest\"", "$.code [pattern]"},
    {"verify-bad", "finding-without-code", "inputs.0.findings.0", "code", NULL, "$.inputs[0].findings[0] [required]"},
    {"verify-good", "input-without-a-message", "inputs.0", "message", "\"\"", "$.inputs[0].message [minLength]"},
    {"verify-good", "input-that-passed-somewhere", "inputs.0", "where", "\"x\"", "$.inputs[0].where [false]"},
    {"verify-missing", "unopened-with-runs", "inputs.0", "runs", "1", "$.inputs[0] [enum]"},
    {"verify-usage", "usage-with-a-verdict", "", "code", "\"io\"", "$ [oneOf]"},
    {"verify-help", "help-with-inputs", "", "inputs", "[]", "$.help [false]"},
    {"keygen-made", "upper-case-digit", "", "keyid", UPPER, "$.keyid [pattern]"},
    {"keygen-made", "digit-missing", "", "keyid", "\"000000000000000000000000000000000000000000000000000000000000000\"",
     "$.keyid [pattern]"},
    {"keygen-made", "file-missing", "", "public_key", NULL, "$ [required]"},
    {"codes", "one-code-not-kebab", "codes.3", "code", "\"Io\"", "$.codes[3].code [pattern]"},
    {"codes", "one-class-not-fitting", "codes.3", "exit", "1", "$.codes[3] [oneOf]"},
    {"run-good", "signed-without-envelope", "", "envelope", NULL, "$ [required]"},
    {"run-good", "signed-without-check", "", "verified", "false", "$.verified [const]"},
    {"run-good", "checked-without-record", "", "record", NULL, "$ [required]"},
    {"run-good", "entry-zero", "", "entry", "0", "$.entry [minimum]"},
    {"run-good", "entry-missing", "", "entry", NULL, "$ [required]"},
    {"run-good", "two-signatures", "envelope", "signatures", "[]", "$.envelope.signatures [minItems]"},
    {"run-good", "odd-base64", "outputs.0", "base64", "\"Mgo\"", "$.outputs[0].base64 [pattern]"},
    {"run-refused", "reason-missing", "", "reason", NULL, "$ [required]"},
    {"run-refused", "not-sent-but-refused", "", "sent", "false", "$.sent [const]"},
    {"show-run", "kind-unknown", "shown", "kind", "\"trust\"", "$.shown.kind [enum]"},
    {"show-run", "shown-unknown-member", "shown", "surprise", "1", "$.shown [unevaluatedProperties]"},
    {"show-run", "another-command", "", "command", "\"frobnicate\"", "$.command [schema]"},
    {"show-checkpoint", "checkpoint-without-lines", "shown.link", "lines", NULL, "$.shown.link [required]"},
    {"show-list-bad", "failed-without-error", "entries.4", "error", NULL, "$.entries[4] [required]"},
    {"show-call", "passed-with-an-error", "shown", "error", AN_ERROR, "$.shown.error [false]"},
    {"show-window", "timeless-with-an-error", "shown", "error", AN_ERROR, "$.shown.error [false]"},
    {"show-call", "timeless-call", "shown", "verification", "\"signature-only\"", "$.shown.kind [enum]"},
    {"show-finding", "finding-that-passed", "shown", "verification", "\"passed\"", "$.shown.verification [const]"},
    {"digest-two", "upper-case-request", "digests.0", "sha256", UPPER, "$.digests[0].sha256 [pattern]"},
    {"digest-calls", "call-zero", "digests.0", "call", "0", "$.digests[0].call [minimum]"},
    {"expect-count", "expectation-missing", "", "expectation", NULL, "$ [required]"},
    {"expect-count", "nothing-was-expected", "expectation", "count", "null", "$.expectation [anyOf]"},
    {"expect-count", "passed-unchecked", "expectation", "checked", "false", "$.expectation.checked [const]"},
    {"verify-bad", "head-of-a-failure", "inputs.0", "head", LOWER, "$.inputs[0].head [type]"},
    {"export-own", "head-missing", "", "head", NULL, "$ [required]"},
    {"export-own", "signatures-in-a-sentence", "", "signatures", "\"not checked\"", "$.signatures [enum]"},
    {"export-own", "entry-of-no-failure", "", "entry", "1", "$.entry [false]"},
    {"export-no-key", "head-of-nothing", "", "head", LOWER, "$.head [false]"},
    {"import-bad", "added-of-a-failure", "inputs.0", "added", "1", "$.inputs[0].added [const]"},
    {"import-no-key", "ledger-before-the-key", "", "ledger", "\"l.db\"", "$.code [pattern]"},
    {"import-whole", "passed-and-not-tried", "", "not_tried", "1", "$.not_tried [const]"},
    {"session-good", "call-unknown-member", "calls.0", "surprise", "1", "$.calls[0] [unevaluatedProperties]"},
    {"session-good", "call-passed-with-error", "calls.0", "error", AN_ERROR, "$.calls[0].error [false]"},
    {"session-good", "call-entry-zero", "calls.0", "entry", "0", "$.calls[0].entry [minimum]"},
    {"session-good", "call-passed-nowhere-kept", "calls.0", "entry", NULL, "$.calls[0] [required]"},
    {"session-good", "opened-with-a-reason", "", "reason", "\"capacity\"", "$.reason [false]"},
    {"session-refused", "unopened-without-state", "", "state", NULL, "$ [required]"},
    {"session-refused", "unopened-without-reason", "", "reason", NULL, "$ [required]"},
    {"session-odd-id", "failed-with-a-reason", "", "reason", "\"capacity\"", "$.reason [false]"},
    {"session-call-failed", "call-failed-without-error", "calls.0", "error", NULL, "$.calls[0] [required]"},
    {"session-good", "close-passed-unsigned", "close", "signed", "false", "$.close.signed [const]"},
    {"session-good", "close-with-a-record", "close", "record", "{}", "$.close.record [false]"},
    {"session-refused", "unopened-with-calls", "", "calls", "[]", "$.calls [false]"},
    {"replay-reproduced", "passed-with-another-row", "rows.0", "verdict", "\"different\"", "$.rows[0].verdict [const]"},
    {"replay-different", "no-difference", "rows.0.daemons.0", "difference", "null",
     "$.rows[0].daemons[0].difference [type]"},
    {"replay-nobody", "no-result-for-no-reason", "rows.0.daemons.0", "failure", NULL,
     "$.rows[0].daemons[0] [required]"},
    {"replay-reproduced", "failure-of-a-result", "rows.0.daemons.0", "failure", AN_ERROR,
     "$.rows[0].daemons[0].failure [false]"},
    {"replay-different", "differs-nowhere", "", "entry", NULL, "$ [required]"},
    {"replay-reproduced", "entry-of-no-difference", "", "entry", "1", "$.entry [false]"},
    {"policy-good", "policy-without-rules", "", "lines", NULL, "$ [required]"},
    {"policy-good", "policy-of-no-rule", "", "lines", "[]", "$.lines [minItems]"},
    {"policy-good", "rule-of-nothing", "", "lines", "[\"all is well\"]", "$.lines[0] [pattern]"},
    {"policy-good", "policy-digest-short", "", "policy", "\"ab\"", "$.policy [pattern]"},
    {"policy-good", "requirement-twice", "", "requirements", "[\"a\",\"a\"]", "$.requirements [uniqueItems]"},
    {"policy-good", "base-without-revision", "", "needs_rev", "false", "$.needs_rev [const]"},
    {"gate-good", "gate-with-a-refusal", "sections.0.rules.0", "state", "\"refused\"",
     "$.sections[0].rules[0].code [type]"},
    {"gate-good", "gate-undecided", "sections.0.rules.0", "state", "\"undecided\"",
     "$.sections[0].rules[0].state [const]"},
    {"gate-good", "gate-unverified", "", "sources_verified", "false", "$.sources_verified [const]"},
    {"gate-good", "gate-of-no-record", "", "records", "0", "$.records [minimum]"},
    {"gate-good", "gate-other-rule", "sections.0.rules.0", "rule", "\"luck\"", "$.sections[0].rules[0].rule [enum]"},
    {"gate-good", "gate-short-commit", "", "rev", "\"ab\"", "$.rev [pattern]"},
    {"gate-good", "gate-of-no-folder", "repository", "git_directory", "\"\"", "$.repository.git_directory [minLength]"},
    {"gate-good", "gate-of-no-repository", "", "repository", NULL, "$ [required]"},
    {"gate-proved", "gate-proof-of-luck", "proofs.0", "rule", "\"luck\"", "$.proofs[0].rule [anyOf]"},
    {"gate-proved", "gate-weak-proof", "proofs.0", "refuses", "false", "$.proofs[0].refuses [enum]"},
    {"gate-refused", "gate-refused-by-nothing", "sections.0.rules.0", "code", "\"gate-bind\"",
     "$.sections[0].rules[0].code [type]"},
    {"policy-malformed", "rules-of-a-failure", "", "lines", "[\"policy: file: x\"]", "$ [anyOf]"},
    {"log-checked", "signed-and-failed", "lines.0", "verification", "\"failed\"", "$.lines[0].verification [not]"},
    {"log-checked", "signed-without-a-digest", "lines.0", "record_sha256", NULL, "$.lines[0] [required]"},
    {"log-checked", "log-verdict-unknown", "lines.0", "verdict", "\"good\"", "$.lines[0].verdict [enum]"},
    {"log-checked", "passed-with-a-bad-one", "", "bad", "1", "$.bad [const]"},
    {"log-checked", "line-unknown-member", "lines.0", "surprise", "1", "$.lines[0] [additionalProperties]"},
    {"log-bad", "invalid-without-error", "lines.0", "error", NULL, "$.lines[0] [required]"},
    {"log-ledger", "finding-without-its-code", "lines.2", "finding_code", NULL, "$.lines[2] [required]"},
    {"log-ledger", "finding-that-passed-in-a-log", "lines.2", "verification", "\"passed\"",
     "$.lines[2].verification [const]"},
    {"log-verdicts", "verdict-without-its-statement", "lines.0", "statement", NULL, "$.lines[0] [required]"},
    {"log-verdicts", "statement-unknown", "lines.0", "statement", "\"verdict\"", "$.lines[0].statement [enum]"},
    {"log-checked", "statement-of-a-run", "lines.0", "statement", "\"summary\"", "$.lines[0].statement [false]"},
    {"report-verdicts", "verdicts-shown-missing", "", "verdicts_shown", NULL, "$ [required]"},
    {"log-all", "matched-missing", "", "matched", NULL, "$ [required]"},
    {"diff-same", "same-with-a-first", "", "first", "{\"part\":\"record\",\"field\":\"x\"}", "$.first [type]"},
    {"diff-same", "same-unknown", "", "same", "\"run\"", "$.same [enum]"},
    {"diff-same", "same-missing", "", "same", NULL, "$ [required]"},
    {"diff-lines", "differ-in-nothing", "", "differences", "[]", "$.differences [minItems]"},
    {"diff-lines", "part-unknown", "differences.0", "part", "\"envelope\"", "$.differences[0].part [enum]"},
    {"diff-lines", "part-not-counted", "parts", "result", NULL, "$.parts [required]"},
    {"diff-lines", "side-missing", "", "b", NULL, "$ [required]"},
    {"diff-lines", "lines-of-another-form", "differences.1", "lines", "[\"x\"]", "$.differences[1].lines[0] [pattern]"},
    {"diff-bytes", "bytes-of-one-side", "differences.1", "hex_b", NULL, "$.differences[1] [dependentRequired]"},
    {"diff-bad", "side-failed-without-error", "a", "error", NULL, "$.a [required]"},
    {"report-good", "report-without-a-size", "", "bytes", NULL, "$ [required]"},
    {"report-good", "report-too-large", "", "bytes", "33554433", "$.bytes [maximum]"},
    {"report-good", "report-passed-with-a-failed-input", "inputs.0", "verdict", "\"failed\"",
     "$.inputs[0].verdict [const]"},
    {"report-good", "report-works-of-another-form", "works", "same", NULL, "$.works [required]"},
    {"report-bad", "report-failed-without-a-code", "inputs.0", "code", NULL, "$.inputs[0] [required]"},
    {"report-no-gate", "report-of-no-page", "", "page", "\"x\"", "$ [required]"},
    {"no-memory", "passed-with-nothing", "", "message", "\"the rest is not here\"", "$ [anyOf]"},
};

#define NO_MEMORY                                                                                                      \
    "{\"command\":\"show\",\"verdict\":\"passed\",\"exit\":0,\"code\":\"ok\",\"message\":\"there was no memory for "   \
    "the rest of this document\"}\n"

/* The good documents are valid, and each with one change is not. */
Test(json_schema, each_change_of_a_good_document_is_refused) {
    documents d;
    documents_begin(&d);
    play_all(&d);
    documents_put(&d, "no-memory", NO_MEMORY, strlen(NO_MEMORY));
    documents_expect_valid(&d, NULL);
    documents_put(&d, "no-json", "{", 1);
    documents_put(&d, "two-of-one-name", "{\"command\":\"\",\"command\":\"\"}", 27);
    documents_expect_refused(&d, twins, sizeof twins / sizeof twins[0], 2);
    documents_expect_line(&d, "no-json.json: $ [json]");
    documents_expect_line(&d, "two-of-one-name.json: $ [json]");
    documents_end(&d);
}

/* One change of one schema, in a copy of the folder. */
static void expect_bad_schema(documents *d, const char *file, const char *member, const char *value, const char *line) {
    char folder[128];
    folder_make(folder);
    exec_end end;
    exec_run(NULL, (const char *const[]){"cp", "-r", documents_schemas(), forge_text("%s/s", folder), NULL}, &end);
    cr_assert_eq(end.status, 0, "%s", end.err);
    exec_free(&end);
    const char *copy = forge_text("%s/s", folder);
    documents_expect_valid(d, copy); /* the copy itself is good */
    json_t *schema = read_schema(file);
    cr_assert_eq(json_object_set_new(schema, member, json_loads(value, JSON_DECODE_ANY, NULL)), 0);
    cr_assert_eq(json_dump_file(schema, forge_text("%s/%s.schema.json", copy, file), 0), 0);
    json_decref(schema);
    cr_expect_eq(documents_validate(d, copy), 1);
    EXPECT_HAS(d->end.out, line);
    folder_remove(folder);
}

Test(json_schema, a_schema_that_is_none_is_refused) {
    documents d;
    documents_begin(&d);
    scene_keys(&d);
    expect_bad_schema(&d, "codes", "type", "\"strng\"", "codes.schema.json: $.type [schema]");
    expect_bad_schema(&d, "codes", "$id", "\"urn:countersign:schema:keygen:1\"", "codes.schema.json: $.$id [schema]");
    documents_end(&d);
}

Test(json_schema, no_document_at_all_is_refused) {
    documents d;
    documents_begin(&d);
    cr_expect_eq(documents_validate(&d, NULL), 1);
    EXPECT_HAS(d.end.out, "0 documents");
    documents_put(&d, "no-memory", NO_MEMORY, strlen(NO_MEMORY));
    documents_expect_valid(&d, NULL);
    documents_end(&d);
}
