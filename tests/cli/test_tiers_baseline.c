/* `countersign tiers` with --save, --against and --replace, and a real daemon. */
#include "tests/cli/documents.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "tests/support/daemon.h"
#include "tests/support/folder.h"

typedef struct scene {
    cli_case c;
    documents d;
    test_daemon daemon;
    char path[200];
    const char *depth; /* statements, unless a test needs more to be seen */
} scene;

#define DEPTH(s) "--cross-check", (s)->depth, "--no-guards"

static const char *const environment[] = {"PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN, "COUNTERSIGN_KEY", NULL};

static void begin(scene *s, const char *const more[]) {
    memset(s, 0, sizeof *s);
    s->depth = "statements";
    documents_need();
    daemon_start(&s->daemon, "process", more);
    documents_begin(&s->d);
    cli_begin(&s->c);
    s->c.how.env = environment;
    (void)snprintf(s->path, sizeof s->path, "%s/base.json", s->c.folder);
}

static void finish(scene *s) {
    cr_expect_eq(daemon_stop(&s->daemon), 0);
    cli_end(&s->c);
    documents_end(&s->d);
}

static char *contents(const scene *s) {
    size_t len = 0;
    char *text = file_read(s->path, &len);
    cr_assert_not_null(text);
    return text;
}

/* Put `to` in the place of `from` in the file, where it stands once. */
static void change(const scene *s, const char *from, const char *to) {
    char *text = contents(s);
    char *at = strstr(text, from);
    cr_assert_not_null(at, "no %s in %s", from, text);
    cr_assert_null(strstr(at + 1, from));
    *at = '\0';
    const char *changed = forge_text("%s%s%s", text, to, at + strlen(from));
    file_write(s->path, changed, strlen(changed));
    free(text);
}

static void expect_difference(const scene *s, const char *key, const char *kind, const char *then, const char *now) {
    cr_expect_eq(json_array_size(cli_member(&s->c, "baseline.differences")), 1, "%s", s->c.end.out);
    EXPECT_TEXT(&s->c, "baseline.result", "differs");
    EXPECT_TEXT(&s->c, "baseline.differences.0.key", key);
    EXPECT_TEXT(&s->c, "baseline.differences.0.change", kind);
    if (then != NULL) EXPECT_TEXT(&s->c, "baseline.differences.0.then", then);
    if (now != NULL) EXPECT_TEXT(&s->c, "baseline.differences.0.now", now);
    cr_expect_eq(json_is_null(cli_member(&s->c, "baseline.differences.0.then")), then == NULL);
    cr_expect_eq(json_is_null(cli_member(&s->c, "baseline.differences.0.now")), now == NULL);
}

#define TAKE(s, name, exit, code, ...)                                                                                 \
    documents_take(&(s)->d, &(s)->c, name, exit, code, ARGS("tiers", "-d", (s)->daemon.url, DEPTH(s), __VA_ARGS__))
#define AGAINST "--against", "base.json"

static void save(scene *s, const char *name) {
    TAKE(s, name, 0, "ok", "--save", "base.json");
    EXPECT_TEXT(&s->c, "baseline.result", "saved");
    EXPECT_TEXT(&s->c, "baseline.file", "base.json");
    EXPECT_TEXT(&s->c, "baseline.state.provider", "process");
    EXPECT_TEXT(&s->c, "baseline.state.daemon", s->daemon.url);
    EXPECT_HAS(cli_text(&s->c, "baseline.state.depth"), s->depth);
}

static const documents_twin twins[] = {
    {"saved", "saved-with-a-difference", "baseline", "differences",
     "[{\"key\":\"a\",\"change\":\"new\",\"then\":null,\"now\":\"1\"}]", "$.baseline.differences [maxItems]"},
    {"saved", "saved-and-different", "baseline", "result", "\"other-state\"", "$.baseline.result [enum]"},
    {"saved", "saved-without-a-state", "baseline", "state", "null", "$.baseline.state [type]"},
    {"saved", "saved-with-more-unknown-keys", "baseline", "unknown", "0", "$.baseline.unknown_keys [maxItems]"},
    {"saved", "saved-with-unknown-keys-unnamed", "baseline", "unknown_keys", "[]",
     "$.baseline.unknown_keys [minItems]"},
    {"saved", "saved-without-keys", "baseline", "keys", "0", "$.baseline.keys [minimum]"},
    {"saved", "saved-and-silent-of-the-unknown", "baseline", "unknown", NULL, "$.baseline [required]"},
    {"same", "same-and-named-twice", "baseline", "unknown_keys", "[\"a\",\"b\",\"a\"]",
     "$.baseline.unknown_keys [uniqueItems]"},
    {"saved", "state-without-a-boot", "baseline.state", "host-boot", NULL, "$.baseline.state [anyOf]"},
    {"value", "differs-in-nothing", "baseline", "differences", "[]", "$.baseline.differences [minItems]"},
    {"value", "value-of-nothing", "baseline.differences.0", "then", "null", "$.baseline.differences[0].then [type]"},
    {"value", "key-of-other-letters", "baseline.differences.0", "key", "\"A\"",
     "$.baseline.differences[0].key [pattern]"},
    {"value", "differs-and-is-silent", "", "baseline", NULL, "$ [required]"},
    {"missing", "missing-and-there", "baseline.differences.0", "now", "\"1\"", "$.baseline.differences[0].now [type]"},
    {"new", "new-and-known", "baseline.differences.0", "then", "\"1\"", "$.baseline.differences[0].then [type]"},
};

Test(tiers_baseline, a_saved_baseline_finds_each_difference) {
    scene s;
    begin(&s, NULL);
    save(&s, "saved");
    TAKE(&s, "same", 0, "ok", AGAINST);
    EXPECT_TEXT(&s.c, "baseline.result", "same");
    cr_expect_eq(cli_number(&s.c, "baseline.unknown"), 3);
    cr_expect_eq(json_array_size(cli_member(&s.c, "baseline.unknown_keys")), 3);
    EXPECT_TEXT(&s.c, "baseline.unknown_keys.1", "probe.program.read");
    EXPECT_HAS(cli_text(&s.c, "message"), "; 3 could not be found out either time, and compared nothing");
    TAKE(&s, "again", 2, "usage", "--save", "base.json");
    EXPECT_TEXT(&s.c, "baseline.result", "none");
    change(&s, "\"statement.resources.pids\":\"256\"", "\"statement.resources.pids\":\"257\"");
    TAKE(&s, "value", 1, "baseline-differs", AGAINST);
    expect_difference(&s, "statement.resources.pids", "value", "257", "256");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url, DEPTH(&s), AGAINST)), 1);
    EXPECT_HAS(s.c.end.out, "value      statement.resources.pids: then '257', now '256'");
    EXPECT_HAS(s.c.end.err, "[baseline-differs]");
    change(&s, "\"statement.resources.pids\":\"257\",\n", "");
    TAKE(&s, "new", 1, "baseline-differs", AGAINST);
    expect_difference(&s, "statement.resources.pids", "new", NULL, "256");
    change(&s, "\"statement.resources.stated\"",
           "\"statement.resources.pids\":\"256\",\n\"statement.resources.planted\":\"a\\u003cb\",\n"
           "\"statement.resources.stated\"");
    TAKE(&s, "missing", 1, "baseline-differs", AGAINST);
    expect_difference(&s, "statement.resources.planted", "missing", "a<b", NULL);
    documents_expect_valid(&s.d, NULL);
    documents_expect_refused(&s.d, twins, sizeof twins / sizeof twins[0], 0);
    finish(&s);
}

Test(tiers_baseline, single_keys_are_replaced_by_name) {
    scene s;
    begin(&s, NULL);
    save(&s, "saved");
    char *first = contents(&s);
    change(&s, "\"statement.resources.pids\":\"256\"", "\"statement.resources.pids\":\"1\"");
    change(&s, "\"statement.supports-module\":\"no\"", "\"statement.supports-module\":\"yes\"");
    char *tampered = contents(&s);
    TAKE(&s, "not-differing", 2, "usage", AGAINST, "--replace", "statement.resources.pids", "--replace",
         "statement.tier");
    EXPECT_HAS(cli_text(&s.c, "message"), "'statement.tier' does not differ");
    char *after = contents(&s);
    cr_expect_str_eq(after, tampered);
    free(after);
    TAKE(&s, "one", 1, "baseline-differs", AGAINST, "--replace", "statement.resources.pids");
    expect_difference(&s, "statement.supports-module", "value", "yes", "no");
    EXPECT_TEXT(&s.c, "baseline.replaced.0", "statement.resources.pids");
    TAKE(&s, "other", 0, "ok", AGAINST, "--replace", "statement.supports-module");
    EXPECT_TEXT(&s.c, "baseline.result", "same");
    after = contents(&s);
    cr_expect_str_eq(after, first);
    free(after);
    documents_expect_valid(&s.d, NULL);
    free(first);
    free(tampered);
    finish(&s);
}

/* Who listens may be no more than the way to it. */
Test(tiers_baseline, the_start_of_a_daemon_that_is_not_seen_here_is_not_known) {
    scene s;
    begin(&s, NULL);
    save(&s, "saved");
    EXPECT_TEXT(&s.c, "baseline.state.daemon-start", "unknown");
    EXPECT_TEXT(&s.c, "baseline.state.host-boot", "unknown");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url, DEPTH(&s), AGAINST)), 0);
    EXPECT_HAS(s.c.end.out, "the daemon's start is not known");
    s.depth = "host";
    TAKE(&s, "seen", 0, "ok", "--save", "seen.json");
    EXPECT_HAS(cli_text(&s.c, "baseline.state.daemon-start"), "process ");
    EXPECT_HAS(cli_text(&s.c, "baseline.state.host-boot"), "-");
    documents_expect_valid(&s.d, NULL);
    finish(&s);
}

static const documents_twin unknown_twins[] = {
    {"unknown", "unknown-and-good", "baseline", "result", "\"same\"", "$.baseline.differences [maxItems]"},
    {"unknown", "unknown-of-a-value", "baseline.differences.0", "change", "\"value\"",
     "$.baseline.differences[0].change [const]"},
    {"unknown", "unknown-of-nothing", "baseline", "differences", "[]", "$.baseline.differences [minItems]"},
    {"both", "differs-in-what-is-unknown", "baseline.differences.1", "change", "\"unknown\"",
     "$.baseline.differences [contains]"},
};

/* Nothing of the probe is read for statements: here the baseline says that it was. */
Test(tiers_baseline, what_could_not_be_found_out_is_no_change) {
    scene s;
    begin(&s, NULL);
    save(&s, "saved");
    change(&s, "\"probe.script.read\":\"no\"", "\"probe.script.read\":\"yes\"");
    TAKE(&s, "unknown", 5, "baseline-unknown", AGAINST);
    EXPECT_TEXT(&s.c, "baseline.result", "unknown");
    EXPECT_TEXT(&s.c, "baseline.differences.0.key", "probe.script.read");
    EXPECT_TEXT(&s.c, "baseline.differences.0.change", "unknown");
    cr_expect_eq(cli_number(&s.c, "baseline.unknown"), 2); /* the script's is told of above */
    EXPECT_TEXT(&s.c, "baseline.unknown_keys.0", "probe.emulated");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url, DEPTH(&s), AGAINST)), 5);
    EXPECT_HAS(s.c.end.out, "unknown: besides, 2 of ");
    change(&s, "\"statement.resources.pids\":\"256\"", "\"statement.resources.pids\":\"257\"");
    TAKE(&s, "both", 1, "baseline-differs", AGAINST);
    cr_expect_eq(json_array_size(cli_member(&s.c, "baseline.differences")), 2, "%s", s.c.end.out);
    EXPECT_TEXT(&s.c, "baseline.result", "differs");
    EXPECT_HAS(cli_text(&s.c, "message"), "statement.resources.pids; 1 could not be found out");
    documents_expect_valid(&s.d, NULL);
    documents_expect_refused(&s.d, unknown_twins, sizeof unknown_twins / sizeof unknown_twins[0], 0);
    finish(&s);
}

/* At the same address, so that its start alone is another. */
static void restart(scene *s) {
    char address[64];
    (void)snprintf(address, sizeof address, "%s", s->daemon.url + strlen("http://"));
    const char *const more[] = {"--listen", address, NULL};
    cr_expect_eq(daemon_stop(&s->daemon), 0);
    daemon_start(&s->daemon, "process", more);
}

Test(tiers_baseline, after_another_start_nothing_is_compared) {
    scene s;
    begin(&s, NULL);
    s.depth = "host"; /* where it is seen that it is the daemon that listens */
    save(&s, "saved");
    char *before = contents(&s);
    restart(&s);
    TAKE(&s, "other", 5, "baseline-state", AGAINST);
    EXPECT_TEXT(&s.c, "baseline.result", "other-state");
    EXPECT_HAS(cli_text(&s.c, "message"), "the nearest was taken when daemon-start was 'process ");
    EXPECT_HAS_NOT(cli_text(&s.c, "message"), "policy");
    TAKE(&s, "replaced", 5, "baseline-state", AGAINST, "--replace", "statement.tier");
    char *after = contents(&s);
    cr_expect_str_eq(after, before);
    free(after);
    save(&s, "saved-again");
    TAKE(&s, "same", 0, "ok", AGAINST);
    documents_expect_valid(&s.d, NULL);
    free(before);
    finish(&s);
}

/* With one that tells the truth it would have been saved. */
Test(tiers_baseline, a_refuted_daemon_gives_none) {
    static const char *const lie[] = {"--claim", "container", "--i-am-lying-for-a-test", NULL};
    scene s;
    struct stat info;
    begin(&s, lie);
    documents_take(&s.d, &s.c, "refuted", 1, "tier-contradicted",
                   ARGS("tiers", "-d", s.daemon.url, "--save", "base.json"));
    EXPECT_TEXT(&s.c, "baseline.result", "none");
    cr_expect(json_is_null(cli_member(&s.c, "baseline.state")));
    EXPECT_HAS(cli_text(&s.c, "message"), "gives no baseline: nothing was saved");
    cr_expect_neq(stat(s.path, &info), 0);
    documents_expect_valid(&s.d, NULL);
    finish(&s);
}

/* Of a guard, too, that is promised and not in force. */
Test(tiers_baseline, a_broken_guard_gives_none) {
    static const char *const fault[] = {"--without", "processes", "--i-am-lying-for-a-test", NULL};
    scene s;
    struct stat info;
    begin(&s, fault);
    documents_take(&s.d, &s.c, "broken", 1, "tier-guard", ARGS("tiers", "-d", s.daemon.url, "--save", "base.json"));
    EXPECT_TEXT(&s.c, "baseline.result", "none");
    EXPECT_HAS(cli_text(&s.c, "message"), "gives no baseline: nothing was saved");
    cr_expect_neq(stat(s.path, &info), 0);
    documents_expect_valid(&s.d, NULL);
    finish(&s);
}

Test(tiers_baseline, a_file_that_is_none_ends_before_anything_is_run) {
    scene s;
    begin(&s, NULL);
    save(&s, "saved");
    char *good = contents(&s);
    change(&s, "countersign.tier-baseline.v1", "countersign.tier-baseline.v9");
    TAKE(&s, "version", 5, "baseline-form", AGAINST);
    cr_expect_null(cli_member(&s.c, "rules"));
    TAKE(&s, "to-save", 5, "baseline-form", "--save", "base.json");
    TAKE(&s, "none", 5, "io", "--against", "no-such-file");
    file_write(s.path, good, strlen(good));
    TAKE(&s, "same", 0, "ok", AGAINST);
    documents_expect_valid(&s.d, NULL);
    free(good);
    finish(&s);
}

Test(tiers_baseline, wrong_lines_are_refused) {
    cli_case c;
    cli_begin(&c);
    const char *const *const wrong[] = {
        ARGS("tiers", "-d", "http://127.0.0.1:1", "--save", "a", "--against", "a"),
        ARGS("tiers", "-d", "http://127.0.0.1:1", "--replace", "statement.tier"),
        ARGS("tiers", "-d", "http://127.0.0.1:1", "--save", "a", "--replace", "statement.tier"),
        ARGS("tiers", "--self-test", "--save", "a"),
        ARGS("tiers", "--self-test", "--against", "a"),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        EXPECT_EXIT(&c, cli_json(&c, wrong[i]), 2);
        EXPECT_TEXT(&c, "code", "usage");
    }
    EXPECT_EXIT(&c, cli_json(&c, ARGS("tiers", "-d", "http://127.0.0.1:1", "--save", "a")), 3);
    cli_end(&c);
}

/* ---- what could not be found out ------------------------------------------------------------------------------ */

/* In the place of node: someone who has every question of the script answered with null, but for one when he says so.
 */
static void lay_forger(const char *folder, const char *but) {
    static const char forger[] =
        "#!/usr/bin/env node\n"
        "const rest = process.argv.slice(2), { spawnSync } = require('child_process');\n"
        "if (rest[0][0] === '-') process.exit(spawnSync(process.execPath, rest, { stdio: 'inherit' }).status);\n"
        "const forged = 'for (const k in seen) if (!/^(probe|form%s)$/.test(k)) seen[k] = null; const line';\n"
        "const code = require('fs').readFileSync(rest[0], 'utf8').replace('const line', forged);\n"
        "new Function('require', code)(require);\n";
    const char *text = forge_text(forger, but);
    const char *path = forge_text("%s/forger", folder);
    file_write(path, text, strlen(text));
    cr_assert_eq(chmod(path, 0755), 0);
    path = forge_text("%s/base64", folder);
    file_write(path, "#!/bin/sh\nexit 1\n", 17); /* so that there is no program */
    cr_assert_eq(chmod(path, 0755), 0);
}

static const documents_twin nothing_twins[] = {
    {"nothing", "nothing-and-saved", "baseline", "result", "\"saved\"", "$.baseline.result [enum]"},
    {"nothing", "nothing-without-keys", "baseline", "unknown_keys", NULL, "$.baseline [required]"},
};

/* The answers are bound to their runs, no rule contradicts them, and they say nothing. */
Test(tiers_baseline, what_was_not_found_out_is_told_and_nothing_but_that_is_not_saved) {
    scene s;
    char folder[128];
    struct stat info;
    folder_make(folder);
    cr_assert_eq(chmod(folder, 0755), 0);
    lay_forger(folder, "");
    const char *const more[] = {"--node", forge_text("%s/forger", folder), "--without",
                                "files",  "--i-am-lying-for-a-test",       NULL};
    begin(&s, more);
    s.depth = "probe";
    TAKE(&s, "nothing", 5, "baseline-unknown", "--save", "base.json");
    EXPECT_TEXT(&s.c, "baseline.result", "none");
    EXPECT_TEXT(&s.c, "baseline.state.depth", "probe");
    EXPECT_HAS(cli_text(&s.c, "message"), "nothing could be observed of the daemon beyond what it states");
    cr_expect_gt(cli_number(&s.c, "baseline.unknown"), 10);
    cr_expect_neq(stat(s.path, &info), 0);
    lay_forger(folder, "|release");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url, DEPTH(&s), "--save", "base.json")), 0);
    EXPECT_HAS(s.c.end.out, " could not be found out and will compare nothing\n");
    EXPECT_HAS(s.c.end.out, "\n  not known  probe.emulated\n");
    EXPECT_HAS(s.c.end.out, " more: --json names all\n");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("tiers", "-d", s.daemon.url, DEPTH(&s), AGAINST)), 0);
    EXPECT_HAS(s.c.end.out, " could not be found out either time, and compared nothing\n");
    documents_expect_valid(&s.d, NULL);
    documents_expect_refused(&s.d, nothing_twins, sizeof nothing_twins / sizeof nothing_twins[0], 0);
    finish(&s);
    folder_remove(folder);
}
