/* `countersign import` and `countersign export`: command lines, texts, documents, and how they end. */
#include "tests/cli/cli_case.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fixtures.h"

/* theirs.jsonl: a linked bundle of a session and a run under `theirs`; grown.jsonl: the same and one run more. */
typedef struct exchange_files {
    forge_key theirs;
    forge_bundle bundle;
    forge_bundle grown;
} exchange_files;

static void add_run(forge_bundle *bundle, const forge_key *key, const char *code) {
    size_t from = bundle->count;
    forge_run run = forge_single();
    run.code = code;
    forge_seal(&run);
    forge_add(bundle, forge_run_line(key, &run));
    forge_link_lines(bundle, key, from);
}

static exchange_files begin(cli_case *c) {
    exchange_files files = {.theirs = forge_key_from(1)};
    cli_begin(c);
    cli_keys(c);
    forge_session(&files.bundle, &files.theirs, FORGE_SESSION, 2, NULL);
    forge_link_lines(&files.bundle, &files.theirs, 0);
    files.grown = files.bundle;
    add_run(&files.grown, &files.theirs, "later");
    cli_write_public_key(c, "theirs.pub", &files.theirs);
    cli_write_bundle(c, "theirs.jsonl", &files.bundle);
    cli_write_bundle(c, "grown.jsonl", &files.grown);
    return files;
}

static char *path_in(const cli_case *c, const char *name) {
    return forge_text("%s/%s", c->folder, name);
}

static bool exists(const cli_case *c, const char *name) {
    return access(path_in(c, name), F_OK) == 0;
}

/* Do two files hold the same bytes? */
static bool same_files(const char *a, const char *b) {
    size_t a_len = 0;
    size_t b_len = 0;
    char *a_bytes = file_read(a, &a_len);
    char *b_bytes = file_read(b, &b_len);
    bool same = a_bytes != NULL && b_bytes != NULL && a_len == b_len && memcmp(a_bytes, b_bytes, a_len) == 0;
    free(a_bytes);
    free(b_bytes);
    return same;
}

/* ---- there and back ------------------------------------------------------------------------- */

Test(exchange, the_published_bundle_there_and_back) {
    char bundle[1024];
    char key[1024];
    fixture_path("published-session/linked.jsonl", bundle, sizeof bundle);
    fixture_path("published-session/linked.pub", key, sizeof key);
    char *from = realpath(bundle, NULL);
    char *pub = realpath(key, NULL);
    cli_case c;
    cli_begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("import", "-p", pub, "-l", "l.db", from)), 0);
    EXPECT_HAS(c.end.out, "7 lines added, 0 were there already; 5 runs, 1 session closed, links kept");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("export", "-o", "out.jsonl", "l.db")), 0);
    cr_expect(same_files(path_in(&c, "out.jsonl"), from), "not byte for byte");
    EXPECT_HAS(c.end.out, "out.jsonl: 7 lines: 6 entries added, 0 were there already\n");
    EXPECT_HAS(c.end.out, "links: those of the imported bundle, byte for byte");
    EXPECT_HAS(c.end.out, "signatures: not checked: name the signer's key with -p");
    EXPECT_HAS(c.end.out, "head: 0a8ace549d5364c69fc8e129ae55a1a6440829257ecb7bc211fb55b74f237346");
    EXPECT_HAS(c.end.out, "--expect-head");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("export", "-o", "out.jsonl", "l.db")), 0);
    EXPECT_HAS(c.end.out, "0 entries added, 6 were there already; nothing is new, and the file is as it was");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-p", pub, "-o", "second.jsonl", "l.db")), 0);
    cr_expect(same_files(path_in(&c, "second.jsonl"), from), "not byte for byte");
    EXPECT_TEXT(&c, "links", "original");
    EXPECT_TEXT(&c, "signatures", "verified");
    EXPECT_TEXT(&c, "head", "0a8ace549d5364c69fc8e129ae55a1a6440829257ecb7bc211fb55b74f237346");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", pub, "l.db")), 0);
    free(from);
    free(pub);
    cli_end(&c);
}

Test(exchange, the_document_of_an_import) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "theirs.jsonl", "grown.jsonl")), 0);
    EXPECT_TEXT(&c, "ledger", "l.db");
    cr_expect_eq(json_array_size(cli_member(&c, "inputs")), 2);
    EXPECT_TEXT(&c, "inputs.0.input", "theirs.jsonl");
    EXPECT_TEXT(&c, "inputs.0.verdict", "passed");
    EXPECT_TEXT(&c, "inputs.0.code", "ok");
    cr_expect_eq(cli_number(&c, "inputs.0.added"), 4);
    cr_expect_eq(cli_number(&c, "inputs.0.present"), 0);
    cr_expect_eq(cli_number(&c, "inputs.0.entries"), 4);
    cr_expect_eq(cli_number(&c, "inputs.0.runs"), 2);
    cr_expect_eq(cli_number(&c, "inputs.0.sessions"), 1);
    cr_expect_eq(cli_number(&c, "inputs.0.unanswered"), 0);
    cr_expect_eq(cli_number(&c, "inputs.0.failures"), 0);
    cr_expect(json_is_true(cli_member(&c, "inputs.0.linked")));
    cr_expect_eq(strlen(cli_text(&c, "inputs.0.head")), 64);
    cr_expect_eq(cli_number(&c, "inputs.1.added"), 2);
    cr_expect_eq(cli_number(&c, "inputs.1.present"), 4);
    cr_expect_eq(cli_number(&c, "not_tried"), 0);
    cli_end(&c);
}

Test(exchange, the_document_of_an_export) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "theirs.jsonl")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-o", "out.jsonl", "l.db")), 0);
    EXPECT_TEXT(&c, "ledger", "l.db");
    EXPECT_TEXT(&c, "bundle", "out.jsonl");
    EXPECT_TEXT(&c, "signatures", "not-checked");
    cr_expect(json_is_false(cli_member(&c, "resumed")));
    cr_expect_eq(cli_number(&c, "lines"), 4);
    cr_expect_eq(cli_number(&c, "added"), 3);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "grown.jsonl")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-o", "out.jsonl", "l.db")), 0);
    cr_expect(json_is_true(cli_member(&c, "resumed")));
    cr_expect_eq(cli_number(&c, "lines"), 6);
    cr_expect_eq(cli_number(&c, "added"), 1);
    cr_expect_eq(cli_number(&c, "present"), 3);
    cr_expect_eq(cli_number(&c, "unsigned_findings"), 0);
    cr_expect(same_files(path_in(&c, "out.jsonl"), path_in(&c, "grown.jsonl")));
    EXPECT_EXIT(&c,
                cli_json(&c, ARGS("verify", "-p", "theirs.pub", "--expect-head", forge_text("%s", cli_text(&c, "head")),
                                  "out.jsonl")),
                0);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("verify", "-p", "theirs.pub", "l.db")), 0);
    EXPECT_HAS(c.end.out, "the chain has no key");
    EXPECT_HAS(c.end.out, "whoever can write the ledger can take out rows and chain the rest anew");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("verify", "-p", "theirs.pub", "out.jsonl")), 0);
    EXPECT_HAS_NOT(c.end.out, "chain");
    cli_end(&c);
}

Test(exchange, from_standard_input) {
    cli_case c;
    exchange_files files = begin(&c);
    c.how.input = forge_file(&files.bundle).ptr;
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "-")), 0);
    cr_expect_eq(cli_number(&c, "inputs.0.added"), 4);
    c.how.input = NULL;
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "-")), 6);
    cli_end(&c);
}

/* ---- keys ----------------------------------------------------------------------------------- */

Test(exchange, links_of_our_own_need_a_key) {
    cli_case c;
    exchange_files files = begin(&c);
    forge_bundle plain = {.count = 0};
    forge_session(&plain, &files.theirs, FORGE_SESSION, 2, NULL);
    cli_write_bundle(&c, "plain.jsonl", &plain);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "plain.jsonl")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-p", "theirs.pub", "-o", "out.jsonl", "l.db")), 5);
    EXPECT_TEXT(&c, "code", "export-key");
    EXPECT_HAS(cli_text(&c, "message"), "entry 1 has no link of an imported bundle");
    cr_expect_not(exists(&c, "out.jsonl"));
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-p", "theirs.pub", "-k", "k.key", "-o", "out.jsonl", "l.db")), 0);
    EXPECT_TEXT(&c, "links", "own");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("verify", "-p", "theirs.pub", "-p", "k.pub", "out.jsonl")), 0);
    EXPECT_HAS(c.end.out, "its lines are linked, and nothing is missing before its checkpoint");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("verify", "-p", "theirs.pub", "out.jsonl")), 1);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("export", "-p", "theirs.pub", "-k", "k.key", "-o", "out.jsonl", "l.db")), 0);
    EXPECT_HAS(c.end.out, "links: signed with our own key");
    cli_end(&c);
}

Test(exchange, the_key_of_the_environment) {
    cli_case c;
    exchange_files files = begin(&c);
    forge_bundle plain = {.count = 0};
    forge_session(&plain, &files.theirs, FORGE_SESSION, 1, NULL);
    cli_write_bundle(&c, "plain.jsonl", &plain);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "plain.jsonl")), 0);
    size_t len = 0;
    char *pem = file_read(path_in(&c, "k.key"), &len);
    const char *const with_key[] = {"PLIMSOLL_CALLER_TOKEN", "TMPDIR=/tmp", forge_text("COUNTERSIGN_KEY=%s", pem),
                                    NULL};
    const char *const with_bad[] = {"PLIMSOLL_CALLER_TOKEN", "TMPDIR=/tmp", "COUNTERSIGN_KEY=no key", NULL};
    free(pem);
    c.how.env = with_key;
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-p", "theirs.pub", "-o", "out.jsonl", "l.db")), 0);
    EXPECT_TEXT(&c, "links", "own");
    EXPECT_EXIT(&c, cli_run(&c, ARGS("verify", "-p", "theirs.pub", "-p", "k.pub", "out.jsonl")), 0);
    c.how.env = with_bad;
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-p", "theirs.pub", "-o", "out.jsonl", "l.db")), 5);
    EXPECT_TEXT(&c, "code", "key-malformed");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-p", "theirs.pub", "-k", "k.key", "-o", "out.jsonl", "l.db")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-p", "theirs.pub", "-k", "missing.key", "-o", "out.jsonl", "l.db")),
                5);
    EXPECT_TEXT(&c, "code", "key-unreadable");
    cli_end(&c);
}

Test(exchange, whom_to_trust) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-l", "l.db", "theirs.jsonl")), 2);
    cr_expect_not(exists(&c, "l.db"));
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "k.pub", "-l", "l.db", "theirs.jsonl")), 1);
    EXPECT_TEXT(&c, "code", "envelope-key-unknown");
    size_t len = 0;
    char *pem = file_read(path_in(&c, "theirs.pub"), &len);
    json_t *trust = json_pack("{s:i, s:[{s:s}]}", "version", 1, "keys", "key", pem);
    char *text = json_dumps(trust, 0);
    cli_write_text(&c, "trust.json", text);
    free(text);
    json_decref(trust);
    free(pem);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "--trust", "trust.json", "-l", "l.db", "theirs.jsonl")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "--trust", "trust.json", "-o", "out.jsonl", "l.db")), 0);
    EXPECT_TEXT(&c, "signatures", "verified");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-p", "k.pub", "-o", "other.jsonl", "l.db")), 1);
    EXPECT_TEXT(&c, "code", "envelope-key-unknown");
    EXPECT_HAS(cli_text(&c, "where"), "l.db: entry 1");
    cr_expect_eq(cli_number(&c, "entry"), 1);
    cr_expect_not(exists(&c, "other.jsonl"));
    cli_end(&c);
}

/* ---- command lines -------------------------------------------------------------------------- */

Test(exchange, what_must_be_named) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "theirs.pub", "theirs.jsonl")), 2);
    EXPECT_HAS(cli_text(&c, "message"), "-l FILE");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "l.db")), 2);
    EXPECT_HAS(cli_text(&c, "message"), "-o FILE");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-o", "out.jsonl")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-o", "out.jsonl", "one.db", "two.db")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "--lock-wait", "-1", "-o", "out.jsonl", "l.db")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-o", "-", "l.db")), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-o", "out.jsonl", "missing.db")), 5);
    EXPECT_TEXT(&c, "code", "io");
    cr_expect_not(exists(&c, "out.jsonl"));
    cli_end(&c);
}

/* ---- what fails ----------------------------------------------------------------------------- */

Test(exchange, the_first_bundle_that_fails_is_the_last_that_is_tried) {
    cli_case c;
    exchange_files files = begin(&c);
    forge_bundle bad = {.count = 0};
    add_run(&bad, &files.theirs, "one");
    char *byte = strstr(bad.lines[0], "\"sig\":\"") + 7;
    *byte = *byte == 'A' ? 'B' : 'A';
    cli_write_bundle(&c, "bad.jsonl", &bad);
    EXPECT_EXIT(
        &c, cli_run(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "theirs.jsonl", "bad.jsonl", "grown.jsonl")),
        1);
    EXPECT_HAS(c.end.out, "theirs.jsonl: passed: 4 lines added");
    EXPECT_HAS(c.end.out, "bad.jsonl: line 1: envelope: envelope-signature: ");
    EXPECT_HAS(c.end.out, "bad.jsonl: failed: nothing of it was added\n");
    EXPECT_HAS(c.end.out, "grown.jsonl: not tried, since the one before failed\n");
    EXPECT_HAS(c.end.err, "[envelope-signature]");
    EXPECT_HAS(c.end.err, "where: bad.jsonl: line 1");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "bad.jsonl", "grown.jsonl")), 1);
    cr_expect_eq(json_array_size(cli_member(&c, "inputs")), 1);
    EXPECT_TEXT(&c, "inputs.0.verdict", "failed");
    EXPECT_TEXT(&c, "inputs.0.code", "envelope-signature");
    EXPECT_TEXT(&c, "inputs.0.findings.0.code", "envelope-signature");
    cr_expect_eq(cli_number(&c, "inputs.0.findings.0.entry"), 1);
    cr_expect_eq(cli_number(&c, "inputs.0.added"), 0);
    cr_expect_eq(cli_number(&c, "entry"), 1);
    cr_expect_eq(cli_number(&c, "not_tried"), 1);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "l.db")), 5);
    EXPECT_TEXT(&c, "code", "import-ledger");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "theirs.pub", "l.db")), 0);
    cr_expect_eq(cli_number(&c, "inputs.0.entries"), 4);
    cli_end(&c);
}

Test(exchange, a_duplicate_says_which_entry_and_what_to_do) {
    cli_case c;
    exchange_files files = begin(&c);
    forge_bundle plain = {.count = 0};
    forge_session(&plain, &files.theirs, FORGE_SESSION, 2, NULL);
    cli_write_bundle(&c, "plain.jsonl", &plain);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "theirs.jsonl")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "plain.jsonl")), 1);
    EXPECT_TEXT(&c, "code", "import-duplicate");
    EXPECT_TEXT(&c, "where", "plain.jsonl: line 1");
    EXPECT_HAS(cli_text(&c, "message"), "entry 1");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "theirs.pub", "-l", "own.db", "plain.jsonl")), 0);
    cli_end(&c);
}

Test(exchange, warnings_are_said_once) {
    cli_case c;
    exchange_files files = begin(&c);
    forge_bundle twice = {.count = 0};
    forge_run run = forge_single();
    forge_add(&twice, forge_run_line(&files.theirs, &run));
    forge_add(&twice, forge_run_line(&files.theirs, &run));
    forge_link_lines(&twice, &files.theirs, 0);
    cli_write_bundle(&c, "twice.jsonl", &twice);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "twice.jsonl")), 0);
    EXPECT_TEXT(&c, "inputs.0.findings.0.code", "record-duplicate");
    cr_expect_eq(cli_number(&c, "inputs.0.duplicates"), 1);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("export", "-p", "theirs.pub", "-k", "k.key", "-o", "out.jsonl", "l.db")), 0);
    cr_expect_eq(json_array_size(cli_member(&c, "findings")), 1);
    EXPECT_TEXT(&c, "findings.0.code", "record-duplicate");
    EXPECT_TEXT(&c, "findings.0.where", "l.db: entry 2");
    cr_expect(json_is_true(cli_member(&c, "findings.0.warning")));
    cr_expect(same_files(path_in(&c, "out.jsonl"), path_in(&c, "twice.jsonl")));
    cr_assert_eq(unlink(path_in(&c, "out.jsonl")), 0);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("export", "-p", "theirs.pub", "-o", "out.jsonl", "l.db")), 0);
    EXPECT_HAS(c.end.out, "l.db: entry 2: warning: record-duplicate: ");
    cli_end(&c);
}

/* ---- interruption and a full disk ------------------------------------------------------------ */

/* Does the program catch SIGTERM by now? */
static bool catches(pid_t pid) {
    char path[64];
    char line[256];
    unsigned long long caught = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    while (fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "SigCgt:", 7) == 0) caught = strtoull(line + 7, NULL, 16);
    fclose(file);
    return (caught & (1ULL << (SIGTERM - 1))) != 0;
}

/* It waits for a file that this test holds when the signal comes. */
Test(exchange, a_signal_ends_an_export_and_leaves_nothing) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "theirs.jsonl")), 0);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("export", "-o", "out.jsonl", "l.db")), 0);
    size_t names = folder_count(c.folder);
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < 3; i++) {
        int held = open(path_in(&c, "out.jsonl"), O_RDWR | O_CLOEXEC);
        cr_assert(held >= 0 && flock(held, LOCK_EX) == 0);
        char program[1024];
        exec_built("countersign", program);
        int said[2];
        cr_assert_eq(pipe2(said, O_CLOEXEC), 0);
        pid_t child = fork();
        cr_assert_geq(child, 0);
        if (child == 0) {
            (void)signal(signals[i], SIG_DFL); /* whoever runs the tests may have it ignored: nohup */
            if (chdir(c.folder) != 0 || dup2(said[1], 2) != 2) _exit(99);
            execl(program, "countersign", "export", "--lock-wait", "60", "-o", "out.jsonl", "l.db", (char *)NULL);
            _exit(99);
        }
        while (!catches(child) && waitpid(child, NULL, WNOHANG) == 0)
            (void)usleep(2000);
        cr_assert_eq(kill(child, signals[i]), 0);
        int status = 0;
        cr_assert_eq(waitpid(child, &status, 0), child);
        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 5, "signal %d: status %d", signals[i], status);
        char words[1024] = "";
        cr_expect_gt(read(said[0], words, sizeof words - 1), 0);
        cr_expect_not_null(strstr(words, "a signal ended the wait"), "signal %d: %s", signals[i], words);
        cr_expect_eq(folder_count(c.folder), names);
        (void)close(said[0]);
        (void)close(said[1]);
        (void)close(held);
    }
    EXPECT_EXIT(&c, cli_run(&c, ARGS("export", "-o", "out.jsonl", "l.db")), 0);
    cli_end(&c);
}

Test(exchange, a_disk_without_room_leaves_nothing) {
    cli_case c;
    begin(&c);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("import", "-p", "theirs.pub", "-l", "l.db", "theirs.jsonl")), 0);
    size_t names = folder_count(c.folder);
    char program[1024];
    exec_built("countersign", program);
    char *command = forge_text("ulimit -f 4; exec '%s' export --json -o out.jsonl l.db", program);
    exec_free(&c.end);
    exec_run(&c.how, (const char *const[]){"sh", "-c", command, NULL}, &c.end);
    cr_expect_eq(c.end.status, 5, "%s", c.end.err);
    EXPECT_HAS(c.end.out, "\"code\":\"io\"");
    cr_expect_eq(folder_count(c.folder), names);
    cli_end(&c);
}
