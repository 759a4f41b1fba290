#include "tests/cli/scenes.h"

#include <stdlib.h>

#include "tests/cli/bundles.h"
#include "tests/support/policy_case.h"

#define HOSTILE "line\n\x1b[2J\x07 \xe2\x80\xae\xff\xfe end"

/* ---- command lines ---------------------------------------------------------------------------- */

static void lines_of(documents *d, cli_case *c, const char *command) {
    documents_take(d, c, forge_text("%s-help", command), 0, "ok", ARGS(command, "--help"));
    documents_take(d, c, forge_text("%s-version", command), 0, "ok", ARGS(command, "--version"));
    documents_take(d, c, forge_text("%s-wrong-option", command), 2, "usage", ARGS(command, "--frobnicate"));
    documents_take(d, c, forge_text("%s-hostile-option", command), 2, "usage", ARGS(command, "--\xff\x1b[2J"));
}

void scene_lines(documents *d) {
    cli_case c;
    cli_begin(&c);
    documents_take(d, &c, "top-nothing", 2, "usage", (const char *const[]){NULL});
    documents_take(d, &c, "top-version", 0, "ok", ARGS("--version"));
    documents_take(d, &c, "top-unknown", 2, "usage", ARGS("\xff\x1b[2Jfrobnicate"));
    documents_take(d, &c, "top-help", 0, "ok", ARGS("--help"));
    json_t *commands = json_deep_copy(cli_member(&c, "commands"));
    cr_assert_gt(json_array_size(commands), 5);
    size_t i = 0;
    json_t *each = NULL;
    json_array_foreach(commands, i, each) {
        lines_of(d, &c, json_string_value(json_object_get(each, "command")));
    }
    json_decref(commands);
    cli_end(&c);
}

void scene_keys(documents *d) {
    cli_case c;
    cli_begin(&c);
    documents_take(d, &c, "keygen-made", 0, "ok", ARGS("keygen", "-o", "k"));
    documents_take(d, &c, "keygen-exists", 5, "key-exists", ARGS("keygen", "-o", "k"));
    documents_take(d, &c, "keygen-odd-name", 0, "ok", ARGS("keygen", "-o", "\xff\x1b[2J"));
    documents_take(d, &c, "codes", 0, "ok", ARGS("codes"));
    documents_take(d, &c, "completion-bash", 0, "ok", ARGS("completion", "bash"));
    documents_take(d, &c, "completion-zsh", 0, "ok", ARGS("completion", "zsh"));
    documents_take(d, &c, "completion-other", 2, "usage", ARGS("completion", "fish"));
    cli_end(&c);
}

/* ---- digest ----------------------------------------------------------------------------------- */

void scene_digest(documents *d) {
    cli_case c;
    cli_begin(&c);
    cli_write_text(&c, "one\xff.json", "{\"protocol\":3,\"javascript\":{\"code\":\"1\"}}");
    cli_write_text(&c, "two.json", "{\"javascript\":{\"code\":\"2\"}}");
    cli_write_text(&c, "calls.jsonl", "{\"javascript\":{\"code\":\"1\"}}\n{\"javascript\":{\"code\":\"2\"}}\n");
    cli_write_text(&c, "invalid.json", "{\"protocol\":3,\"javascript\":{\"code\":\"\"}}");
    cli_write_text(&c, "empty.jsonl", "");
    documents_take(d, &c, "digest-two", 0, "ok", ARGS("digest", "--protocol", "3", "one\xff.json", "two.json"));
    documents_take(d, &c, "digest-calls", 0, "ok",
                   ARGS("digest", "--protocol", "3", "--calls", "--floor", "container", "calls.jsonl"));
    documents_take(d, &c, "digest-no-protocol", 2, "usage", ARGS("digest", "two.json"));
    documents_take(d, &c, "digest-invalid", 3, "request-invalid", ARGS("digest", "one\xff.json", "invalid.json"));
    documents_take(d, &c, "digest-missing", 5, "io", ARGS("digest", "missing.json"));
    documents_take(d, &c, "digest-nothing", 6, "nothing-to-check", ARGS("digest", "--calls", "empty.jsonl"));
    cli_end(&c);
}

/* ---- policies ---------------------------------------------------------------------------------- */

static void write_policy(cli_case *c, const char *file, const char *change) {
    char *text = NULL;
    for (size_t i = 0; change != NULL && i < policy_change_count; i++)
        if (strcmp(policy_changes[i].name, change) == 0) text = policy_case_text(&policy_changes[i]);
    if (change == NULL) text = policy_case_text(NULL);
    cr_assert_not_null(text, "%s", change);
    cli_write_text(c, file, text);
    free(text);
}

void scene_policy(documents *d) {
    cli_case c;
    cli_begin(&c);
    write_policy(&c, "good.json", NULL);
    write_policy(&c, "hostile\xff.json", "step-odd");
    write_policy(&c, "no-revision.json", "requirements-32");
    write_policy(&c, "malformed.json", "member-odd");
    write_policy(&c, "contradicts.json", "reproduced-runs-fewer");
    write_policy(&c, "key.json", "key-weak");
    write_policy(&c, "empty.json", "requirements-none");
    documents_take(d, &c, "policy-good", 0, "ok", ARGS("policy", "check", "good.json"));
    documents_take(d, &c, "policy-hostile", 0, "ok", ARGS("policy", "check", "hostile\xff.json"));
    documents_take(d, &c, "policy-no-revision", 0, "ok", ARGS("policy", "check", "no-revision.json"));
    documents_take(d, &c, "policy-malformed", 5, "policy-malformed", ARGS("policy", "check", "malformed.json"));
    documents_take(d, &c, "policy-contradicts", 5, "policy-contradicts", ARGS("policy", "check", "contradicts.json"));
    documents_take(d, &c, "policy-key", 5, "key-weak", ARGS("policy", "check", "key.json"));
    documents_take(d, &c, "policy-empty", 6, "policy-empty", ARGS("policy", "check", "empty.json"));
    documents_take(d, &c, "policy-missing", 5, "io", ARGS("policy", "check", "missing\xff.json"));
    documents_take(d, &c, "policy-usage", 2, "usage", ARGS("policy", "frobnicate\xff", "good.json"));
    cli_end(&c);
}

/* ---- bundles ---------------------------------------------------------------------------------- */

/* good.jsonl: a run and a session; bad.jsonl: the same, and a run that is not what was signed; linked.jsonl: with
 * links; unanswered.jsonl: a session whose only call got no answer. */
static void write_bundles(cli_case *c) {
    forge_key key = forge_key_from(1);
    forge_run run = forge_single();
    run.code = "console.log('\x1b[31m')";
    run.output = HOSTILE;
    run.duration_ms = 37;
    forge_bundle linked = bundles_write(c, run, 2);
    forge_link_lines(&linked, &key, 0);
    cli_write_bundle(c, "linked.jsonl", &linked);

    forge_run lost = forge_single();
    lost.version = 3;
    lost.session = FORGE_SESSION;
    lost.sequence = 1;
    lost.unanswered = "internal";
    forge_seal(&lost);
    forge_bundle calls = {.count = 0};
    forge_add(&calls, forge_run_line(&key, &lost));
    forge_bytes request = forge_request(&lost);
    forge_add(&calls, forge_line(&request, NULL, "{}"));
    forge_add(&calls, forge_envelope(&key, forge_close(FORGE_SESSION, 1, lost.record_sha256)));
    calls.lines[2] = forge_line(NULL, NULL, calls.lines[2]);
    cli_write_bundle(c, "unanswered.jsonl", &calls);
    cli_write_text(c, "odd.jsonl", "{\"what\":1}\n");
    cli_write_text(c, "strange.txt", "what is this\n");
}

void scene_verify(documents *d) {
    cli_case c;
    cli_begin(&c);
    write_bundles(&c);
    documents_take(d, &c, "verify-good", 0, "ok", ARGS("verify", "-p", "key.pub", "good.jsonl"));
    documents_take(d, &c, "verify-linked", 0, "ok", ARGS("verify", "-p", "key.pub", "linked.jsonl"));
    documents_take(d, &c, "verify-bad", 1, "result-digest", ARGS("verify", "-p", "key.pub", "bad.jsonl"));
    documents_take(d, &c, "verify-other-key", 1, "envelope-key-unknown",
                   ARGS("verify", "-p", "other.pub", "good.jsonl"));
    documents_take(d, &c, "verify-odd", 1, "line-framing", ARGS("verify", "-p", "key.pub", "odd.jsonl"));
    documents_take(d, &c, "verify-unanswered", 1, "envelope-malformed",
                   ARGS("verify", "-p", "key.pub", "unanswered.jsonl"));
    documents_take(d, &c, "verify-missing", 5, "io", ARGS("verify", "-p", "key.pub", "missing\xff.jsonl"));
    documents_take(d, &c, "verify-strange", 5, "input-unknown", ARGS("verify", "-p", "key.pub", "strange.txt"));
    documents_take(d, &c, "verify-empty", 6, "nothing-to-check", ARGS("verify", "-p", "key.pub", "empty.jsonl"));
    forge_key key = forge_key_from(1);
    forge_bundle close = {.count = 0};
    forge_session(&close, &key, FORGE_SESSION, 0, NULL);
    cli_write_bundle(&c, "close.jsonl", &close);
    documents_take(d, &c, "verify-close-alone", 6, "nothing-to-check", ARGS("verify", "-p", "key.pub", "close.jsonl"));
    documents_take(d, &c, "verify-several", 1, "result-digest",
                   ARGS("verify", "-p", "key.pub", "good.jsonl", "bad.jsonl", "missing", "empty.jsonl"));
    documents_take(d, &c, "verify-no-key", 5, "key-unreadable", ARGS("verify", "-p", "missing.pub", "good.jsonl"));
    documents_take(d, &c, "verify-odd-key", 5, "key-malformed", ARGS("verify", "-p", "strange.txt", "good.jsonl"));
    documents_take(d, &c, "verify-usage", 2, "usage", ARGS("verify", "good.jsonl"));
    EXPECT_EXIT(&c, cli_run_program(&c, "countersign-verify", ARGS("--json", "-p", "key.pub", "bad.jsonl")), 1);
    documents_put(d, "verify-small-program", c.end.out, c.end.out_len);
    EXPECT_EXIT(&c, cli_run_program(&c, "countersign-verify", ARGS("--json", "bad.jsonl")), 2);
    documents_put(d, "verify-small-program-usage", c.end.out, c.end.out_len);
    cli_end(&c);
}

#define NOWHERE "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* Take the digest of that member, as a line of --expect or as --expect-head. */
static const char *digest_at(const cli_case *c, const char *path) {
    cr_assert_eq(strlen(cli_text(c, path)), 64, "%s", c->end.out);
    return forge_text("%s", cli_text(c, path));
}

void scene_expected(documents *d) {
    cli_case c;
    cli_begin(&c);
    write_bundles(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "key.pub", "linked.jsonl")), 0);
    const char *head = digest_at(&c, "inputs.0.head");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "good.jsonl", "1")), 0);
    cli_write_text(&c, "one", forge_text("%s\n", digest_at(&c, "shown.record.requestSha256")));
    cli_write_text(&c, "none", NOWHERE "\n");
    cli_write_text(&c, "odd", "what is this\n");
    documents_take(d, &c, "expect-head", 0, "ok",
                   ARGS("verify", "-p", "key.pub", "--expect-head", head, "linked.jsonl"));
    documents_take(d, &c, "expect-head-missing", 1, "head-missing",
                   ARGS("verify", "-p", "key.pub", "--expect-head", NOWHERE, "linked.jsonl"));
    documents_take(d, &c, "expect-head-empty", 1, "head-missing",
                   ARGS("verify", "-p", "key.pub", "--expect-head", head, "empty.jsonl"));
    documents_take(d, &c, "expect-count", 0, "ok",
                   ARGS("verify", "-p", "key.pub", "--expect-count", "3", "good.jsonl", "good.jsonl"));
    documents_take(d, &c, "expect-count-more", 1, "expect-count",
                   ARGS("verify", "-p", "key.pub", "--expect-count", "4", "good.jsonl"));
    documents_take(d, &c, "expect-surplus", 1, "expect-surplus",
                   ARGS("verify", "-p", "key.pub", "--expect", "one", "good.jsonl"));
    documents_take(d, &c, "expect-missing", 1, "expect-missing",
                   ARGS("verify", "-p", "key.pub", "--expect", "none", "empty.jsonl"));
    documents_take(d, &c, "expect-unknown", 1, "result-digest",
                   ARGS("verify", "-p", "key.pub", "--expect", "one", "bad.jsonl"));
    documents_take(d, &c, "expect-odd", 5, "expect-malformed",
                   ARGS("verify", "-p", "key.pub", "--expect", "odd", "good.jsonl"));
    cli_end(&c);
}

void scene_ledger(documents *d) {
    cli_case c;
    cli_begin(&c);
    cli_keys(&c);
    write_bundles(&c);
    documents_take(d, &c, "import-whole", 0, "ok", ARGS("import", "-p", "key.pub", "-l", "l.db", "linked.jsonl"));
    documents_take(d, &c, "import-again", 0, "ok", ARGS("import", "-p", "key.pub", "-l", "l.db", "linked.jsonl"));
    documents_take(d, &c, "import-duplicate", 1, "import-duplicate",
                   ARGS("import", "-p", "key.pub", "-l", "l.db", "linked.jsonl", "good.jsonl", "linked.jsonl"));
    documents_take(d, &c, "import-bad", 1, "result-digest", ARGS("import", "-p", "key.pub", "-l", "n.db", "bad.jsonl"));
    documents_take(d, &c, "import-ledger", 5, "import-ledger", ARGS("import", "-p", "key.pub", "-l", "n.db", "l.db"));
    documents_take(d, &c, "import-missing", 5, "io", ARGS("import", "-p", "key.pub", "-l", "n.db", "missing\xff"));
    documents_take(d, &c, "import-empty", 6, "nothing-to-check",
                   ARGS("import", "-p", "key.pub", "-l", "n.db", "empty.jsonl"));
    documents_take(d, &c, "import-no-key", 5, "key-unreadable",
                   ARGS("import", "-p", "missing.pub", "-l", "n.db", "good.jsonl"));
    documents_take(d, &c, "import-no-ledger", 5, "ledger-missing",
                   ARGS("import", "-p", "key.pub", "-l", "no/l.db", "good.jsonl"));
    documents_take(d, &c, "import-untrusted", 2, "usage", ARGS("import", "-l", "n.db", "good.jsonl"));

    documents_take(d, &c, "export-original", 0, "ok", ARGS("export", "-o", "a.jsonl", "-p", "key.pub", "l.db"));
    documents_take(d, &c, "export-unverified", 0, "ok", ARGS("export", "-o", "b\xff.jsonl", "l.db"));
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "key.pub", "-l", "own.db", "good.jsonl")), 0);
    documents_take(d, &c, "export-own", 0, "ok",
                   ARGS("export", "-o", "c.jsonl", "-k", "k.key", "-p", "key.pub", "own.db"));
    documents_take(d, &c, "export-same", 0, "ok",
                   ARGS("export", "-o", "c.jsonl", "-k", "k.key", "-p", "key.pub", "own.db"));
    documents_take(d, &c, "export-no-key", 5, "export-key", ARGS("export", "-o", "d.jsonl", "-p", "key.pub", "own.db"));
    documents_take(d, &c, "export-other-key", 1, "envelope-key-unknown",
                   ARGS("export", "-o", "d.jsonl", "-p", "other.pub", "l.db"));
    documents_take(d, &c, "export-foreign", 5, "export-foreign",
                   ARGS("export", "-o", "good.jsonl", "-k", "k.key", "-p", "key.pub", "own.db"));
    documents_take(d, &c, "export-missing", 5, "io", ARGS("export", "-o", "d.jsonl", "-p", "key.pub", "missing"));
    documents_take(d, &c, "export-unreadable-key", 5, "key-unreadable",
                   ARGS("export", "-o", "d.jsonl", "-k", "missing", "own.db"));
    documents_take(d, &c, "export-usage", 2, "usage", ARGS("export", "l.db"));

    documents_take(d, &c, "verify-imported", 0, "ok", ARGS("verify", "-p", "key.pub", "l.db"));
    documents_take(d, &c, "show-imported", 0, "ok", ARGS("show", "-p", "key.pub", "l.db"));
    documents_take(d, &c, "show-imported-checkpoint", 0, "ok", ARGS("show", "-p", "key.pub", "l.db", "5"));
    cli_end(&c);
}

static void show_one(documents *d, cli_case *c, const char *name, const char *kind, const char *input,
                     const char *number) {
    documents_take(d, c, name, 0, "ok", ARGS("show", "-p", "key.pub", input, number));
    EXPECT_TEXT(c, "shown.kind", kind);
    EXPECT_TEXT(c, "shown.verification", "passed");
}

static void show_entries(documents *d, cli_case *c) {
    show_one(d, c, "show-run", "run", "good.jsonl", "1");
    cr_expect_null(cli_member(c, "shown.outputs.0.text"), "the output is not UTF-8");
    show_one(d, c, "show-call", "session-call", "good.jsonl", "2");
    show_one(d, c, "show-close", "close", "good.jsonl", "4");
    show_one(d, c, "show-checkpoint", "checkpoint", "linked.jsonl", "5");
    cr_expect_eq(cli_number(c, "shown.link.lines"), 4);
    show_one(d, c, "show-unanswered", "unanswered-call", "unanswered.jsonl", "1");
    documents_take(d, c, "show-unchecked", 0, "ok", ARGS("show", "good.jsonl", "1"));
    documents_take(d, c, "show-unreadable", 1, "envelope-malformed", ARGS("show", "unanswered.jsonl", "2"));
    EXPECT_TEXT(c, "shown.kind", "unreadable");
    EXPECT_TEXT(c, "shown.envelope_text", "{}");
    documents_take(d, c, "show-bad", 1, "result-digest", ARGS("show", "-p", "key.pub", "bad.jsonl", "5"));
    documents_take(d, c, "show-other-key", 1, "envelope-key-unknown",
                   ARGS("show", "-p", "other.pub", "good.jsonl", "1"));
    documents_take(d, c, "show-odd-entry", 1, "line-framing", ARGS("show", "odd.jsonl", "1"));
    documents_take(d, c, "show-not-there", 6, "entry-unknown", ARGS("show", "good.jsonl", "9"));
    documents_take(d, c, "show-usage", 2, "usage", ARGS("show", "good.jsonl", "none"));
}

/* A close under a key that is trusted from 2026 on. */
static void show_within_a_window(documents *d, cli_case *c) {
    unsigned char der[44] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
    forge_key key = forge_key_from(1);
    memcpy(der + 12, key.public_key, 32);
    cli_write_text(c, "window",
                   forge_text("{\"version\":1,\"keys\":[{\"key\":\"-----BEGIN PUBLIC KEY-----\\n%s\\n-----END PUBLIC "
                              "KEY-----\\n\",\"not_before\":\"2026-01-01T00:00:00Z\"}]}\n",
                              forge_base64(der, sizeof der)));
    documents_take(d, c, "show-window", 0, "ok", ARGS("show", "--trust", "window", "good.jsonl", "4"));
    EXPECT_TEXT(c, "shown.verification", "signature-only");
}

void scene_show(documents *d) {
    cli_case c;
    cli_begin(&c);
    write_bundles(&c);
    show_entries(d, &c);
    show_within_a_window(d, &c);
    documents_take(d, &c, "show-list", 0, "ok", ARGS("show", "good.jsonl"));
    documents_take(d, &c, "show-linked", 0, "ok", ARGS("show", "linked.jsonl"));
    documents_take(d, &c, "show-list-checked", 0, "ok", ARGS("show", "-p", "key.pub", "good.jsonl"));
    documents_take(d, &c, "show-list-bad", 1, "result-digest", ARGS("show", "-p", "key.pub", "bad.jsonl"));
    documents_take(d, &c, "show-odd-list", 1, "line-framing", ARGS("show", "odd.jsonl"));
    documents_take(d, &c, "show-empty", 6, "nothing-to-check", ARGS("show", "empty.jsonl"));
    documents_take(d, &c, "show-missing", 5, "io", ARGS("show", "missing.jsonl"));
    documents_take(d, &c, "show-strange", 5, "input-unknown", ARGS("show", "strange.txt"));
    documents_take(d, &c, "show-no-key", 5, "key-unreadable", ARGS("show", "-p", "missing.pub", "good.jsonl"));
    cli_end(&c);
}
