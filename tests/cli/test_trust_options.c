/* --trust: the keys that a file names, and when each may sign. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/cli/cli_case.h"

/* A run that began at 2026-09-21T14:13:20.000Z and ended 7 ms later, under `key`. */
typedef struct scene {
    cli_case c;
    forge_key key, other;
} scene;

static char *pem_of(const forge_key *key) {
    unsigned char der[44] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
    memcpy(der + 12, key->public_key, 32);
    return forge_text("-----BEGIN PUBLIC KEY-----\\n%s\\n-----END PUBLIC KEY-----\\n", forge_base64(der, sizeof der));
}

/* A trust file with one key; `more` are its further members. */
static void write_trust(scene *s, const char *name, const forge_key *key, const char *more) {
    cli_write_text(&s->c, name, forge_text("{\"version\":1,\"keys\":[{\"key\":\"%s\"%s}]}\n", pem_of(key), more));
}

static void begin(scene *s) {
    cli_begin(&s->c);
    s->key = forge_key_from(1);
    s->other = forge_key_from(2);
    cli_write_public_key(&s->c, "key.pub", &s->key);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    cr_assert_eq(run.started, 1790000000000);
    cr_assert_eq(run.ended, 1790000000007);
    forge_add(&bundle, forge_run_line(&s->key, &run));
    cli_write_bundle(&s->c, "run.jsonl", &bundle);
    /* A run, a session of one call, its close, a checkpoint. */
    forge_session(&bundle, &s->key, FORGE_SESSION, 1, NULL);
    forge_link_lines(&bundle, &s->key, 0);
    cli_write_bundle(&s->c, "linked.jsonl", &bundle);
    write_trust(s, "trust", &s->key, "");
    write_trust(s, "others", &s->other, "");
}

Test(trust_options, a_trust_file_is_as_good_as_a_key) {
    scene s;
    begin(&s);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "trust", "run.jsonl")), 0);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "others", "run.jsonl")), 1);
    EXPECT_TEXT(&s.c, "code", "envelope-key-unknown");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "others", "--trust", "trust", "run.jsonl")), 0);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "others", "-p", "key.pub", "run.jsonl")), 0);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "trust", "-p", "key.pub", "run.jsonl")), 0);
    EXPECT_EXIT(&s.c, cli_run_program(&s.c, "countersign-verify", ARGS("--trust", "trust", "run.jsonl")), 0);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "run.jsonl")), 2);
    EXPECT_HAS(cli_text(&s.c, "message"), "--trust");
    cli_end(&s.c);
}

/* Verify and show, one entry by itself, must agree. */
static void expect_window(scene *s, const char *window, const char *code) {
    int exit = strcmp(code, "ok") == 0 ? 0 : 1;
    write_trust(s, "window", &s->key, window);
    EXPECT_EXIT(&s->c, cli_json(&s->c, ARGS("verify", "--trust", "window", "run.jsonl")), exit);
    EXPECT_TEXT(&s->c, "code", code);
    EXPECT_EXIT(&s->c, cli_json(&s->c, ARGS("show", "--trust", "window", "run.jsonl", "1")), exit);
    EXPECT_TEXT(&s->c, "code", code);
}

Test(trust_options, a_record_outside_of_its_keys_window_fails) {
    scene s;
    begin(&s);
    expect_window(&s, ",\"not_before\":\"2026-09-21T14:13:20Z\"", "ok");
    expect_window(&s, ",\"not_before\":\"2026-09-21T14:13:20.001Z\"", "envelope-key-window");
    expect_window(&s, ",\"not_after\":\"2026-09-21T14:13:20.007Z\"", "ok");
    expect_window(&s, ",\"not_after\":\"2026-09-21T14:13:20.006Z\"", "envelope-key-window");
    expect_window(&s, ",\"not_before\":\"2026-01-01T00:00:00Z\",\"not_after\":\"2026-12-31T23:59:59.999Z\"", "ok");
    expect_window(&s, ",\"not_before\":\"2027-01-01T00:00:00Z\",\"not_after\":\"2027-12-31T23:59:59.999Z\"",
                  "envelope-key-window");
    cli_end(&s.c);
}

Test(trust_options, the_failure_names_the_key_by_its_label) {
    scene s;
    begin(&s);
    write_trust(&s, "window", &s.key, ",\"label\":\"ci 2027\",\"not_before\":\"2027-01-01T00:00:00Z\"");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "window", "run.jsonl")), 1);
    EXPECT_HAS(cli_text(&s.c, "message"), "ci 2027");
    EXPECT_TEXT(&s.c, "expected", "from 2027-01-01T00:00:00.000Z to any time");
    EXPECT_HAS(cli_text(&s.c, "where"), "run.jsonl: line 1: envelope");
    cli_end(&s.c);
}

Test(trust_options, a_key_alone_contradicts_its_window) {
    scene s;
    begin(&s);
    write_trust(&s, "window", &s.key, ",\"not_before\":\"2026-01-01T00:00:00Z\"");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "window", "run.jsonl")), 0);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "window", "-p", "key.pub", "run.jsonl")), 5);
    EXPECT_TEXT(&s.c, "code", "trust-contradicts");
    EXPECT_TEXT(&s.c, "where", "key.pub");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "window", "--trust", "trust", "run.jsonl")), 5);
    EXPECT_TEXT(&s.c, "code", "trust-contradicts");
    EXPECT_TEXT(&s.c, "where", "trust: keys[0]");
    cli_end(&s.c);
}

Test(trust_options, a_bad_file_stops_everything) {
    scene s;
    begin(&s);
    cli_write_text(&s.c, "bad", "{\"version\":1,\"keys\":[]}");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "trust", "--trust", "bad", "run.jsonl")), 5);
    EXPECT_TEXT(&s.c, "code", "trust-malformed");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "trust", "--trust", "missing", "run.jsonl")), 5);
    EXPECT_TEXT(&s.c, "code", "key-unreadable");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "key.pub", "run.jsonl")), 5);
    EXPECT_TEXT(&s.c, "code", "trust-malformed");
    /* The point of order 1, under which anyone can sign. */
    forge_key weak = {.public_key = {1}};
    write_trust(&s, "weak", &weak, "");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "trust", "--trust", "weak", "run.jsonl")), 5);
    EXPECT_TEXT(&s.c, "code", "key-weak");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "trust", "run.jsonl")), 0);
    cli_end(&s.c);
}

Test(trust_options, show_and_replay_take_it_too) {
    scene s;
    begin(&s);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("show", "--trust", "trust", "run.jsonl")), 0);
    EXPECT_TEXT(&s.c, "entries.0.verification", "passed");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("show", "--trust", "others", "run.jsonl")), 1);
    EXPECT_TEXT(&s.c, "code", "envelope-key-unknown");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "--trust", "others", "-d", "http://127.0.0.1:1", "run.jsonl")), 1);
    EXPECT_TEXT(&s.c, "code", "envelope-key-unknown");
    cli_end(&s.c);
}

/* A close and a checkpoint have no time of their own: one alone can't be judged by the window of its key. */
Test(trust_options, show_leaves_the_window_of_what_has_no_time_to_verify) {
    static const char *const numbers[] = {"3", "4"};
    scene s;
    begin(&s);
    write_trust(&s, "window", &s.key, ",\"not_before\":\"2026-01-01T00:00:00Z\"");
    for (size_t i = 0; i < 2; i++) {
        EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("show", "--trust", "window", "linked.jsonl", numbers[i])), 0);
        EXPECT_TEXT(&s.c, "shown.verification", "signature-only");
        EXPECT_HAS(cli_text(&s.c, "message"), "that is the matter of `verify`");
        EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("show", "--trust", "window", "linked.jsonl", numbers[i])), 0);
        EXPECT_HAS(s.c.end.out, "whether it was signed in the window of the key");
        EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("show", "--trust", "trust", "linked.jsonl", numbers[i])), 0);
        EXPECT_TEXT(&s.c, "shown.verification", "passed");
        EXPECT_HAS_NOT(cli_text(&s.c, "message"), "window");
        EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("show", "--trust", "others", "linked.jsonl", numbers[i])), 1);
        EXPECT_TEXT(&s.c, "shown.verification", "failed");
    }
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("show", "--trust", "window", "linked.jsonl")), 0);
    EXPECT_TEXT(&s.c, "entries.0.verification", "passed");
    EXPECT_TEXT(&s.c, "entries.1.verification", "passed");
    EXPECT_TEXT(&s.c, "entries.2.verification", "signature-only");
    EXPECT_HAS(cli_text(&s.c, "message"), "that is the matter of `verify`");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("show", "--trust", "window", "linked.jsonl")), 0);
    EXPECT_HAS(s.c.end.out, "order and completeness are the matter of `verify`");
    EXPECT_HAS_NOT(s.c.end.out, "signature not checked here");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("show", "linked.jsonl")), 0);
    EXPECT_HAS_NOT(s.c.end.out, "order and completeness");
    cli_end(&s.c);
}

Test(trust_options, an_empty_file_is_said_to_be_empty) {
    scene s;
    begin(&s);
    cli_write_text(&s.c, "empty", "");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "--trust", "empty", "run.jsonl")), 5);
    EXPECT_TEXT(&s.c, "code", "trust-malformed");
    EXPECT_HAS(cli_text(&s.c, "message"), "is empty");
    cli_end(&s.c);
}
