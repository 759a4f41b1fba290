/* The page in a real browser: it asks for nothing, breaks no policy, runs nothing, draws its charts, and fits a phone.
 * Chromium without a screen; what it did is told by tests/report/browser.mjs. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/cli/cli_case.h"
#include "tests/support/daemon.h"
#include "tests/support/program.h"

#define HOSTILE                                                                                                        \
    "</code></pre></details></main><script>document.title='owned'</script><img src='http://probe.invalid/x.png' "      \
    "onerror=\"document.title='owned'\"><iframe src=\"javascript:1\"></iframe>\xe2\x80\xae\x1b[31m"

static const char *const environment[] = {"PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN, "COUNTERSIGN_KEY", NULL};

/* What browser.mjs saw, as the case's document. */
static void look(cli_case *c, const char *page, const char *probe) {
    exec_end end;
    exec_run(NULL,
             (const char *const[]){"node", "tests/report/browser.mjs", "chromium", forge_text("%s/%s", c->folder, page),
                                   probe, NULL},
             &end);
    cr_assert_eq(end.status, 0, "%d %s%s", end.status, end.out, end.err);
    json_decref(c->document);
    c->document = json_loads(end.out, JSON_REJECT_DUPLICATES, NULL);
    cr_assert_not_null(c->document, "%s", end.out);
    exec_free(&end);
}

static void expect_quiet(const cli_case *c) {
    EXPECT_TEXT(c, "title", "countersign: report");
    cr_expect_eq(json_array_size(cli_member(c, "requests")), 0);
    cr_expect_eq(json_array_size(cli_member(c, "messages")), 0, "%s", cli_text(c, "messages.0"));
    cr_expect_eq(cli_number(c, "scripts"), 0);
    cr_expect_eq(cli_number(c, "images"), 0);
    EXPECT_TEXT(c, "styled", "solid"); /* the style sheet is in force */
    cr_expect_leq(cli_number(c, "widthAt360"), 360);
}

static void begin(cli_case *c) {
    (void)program_run((const char *const[]){"chromium", "--version", NULL}, NULL, 0);
    cli_begin(c);
}

static void write_hostile(cli_case *c) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_run run = forge_single();
    char longer[3000];
    memset(longer, 'w', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    cli_write_public_key(c, "key.pub", &key);
    run.output = HOSTILE;
    run.code = longer;
    run.policy = "' onerror='document.title=1";
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    run.policy = longer;
    forge_seal(&run);
    forge_add(&bundle, forge_run_line(&key, &run));
    cli_write_bundle(c, "runs.jsonl", &bundle);
}

Test(report_browser, a_hostile_page_asks_for_nothing_and_runs_nothing) {
    cli_case c;
    begin(&c);
    write_hostile(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "-p", "key.pub", "runs.jsonl")), 0);
    look(&c, "r.html", NULL);
    expect_quiet(&c);
    cr_expect_eq(cli_number(&c, "entries"), 2);
    cr_expect_eq(cli_number(&c, "charts"), 0);
    cli_end(&c);
}

/* A script, an image and a style that someone put into the page: the browser is stopped by the page's policy, and this
 * test sees what it sees. */
Test(report_browser, what_is_planted_is_stopped_and_seen) {
    cli_case c;
    begin(&c);
    write_hostile(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "-p", "key.pub", "runs.jsonl")), 0);
    look(&c, "r.html", "--probe");
    EXPECT_TEXT(&c, "title", "countersign: report");
    cr_expect_eq(cli_number(&c, "scripts"), 0);
    cr_expect_eq(cli_number(&c, "images"), 2);
    cr_expect_gt(json_array_size(cli_member(&c, "messages")), 3);
    cli_end(&c);
}

static int run(cli_case *c, const test_daemon *daemon, const char *request) {
    char path[1024];
    exec_built(forge_text("cartpole/%s.json", request), path);
    return cli_json(c, ARGS("run", "-d", daemon->url, "-k", "k.key", "-l", "l.db", path));
}

Test(report_browser, both_controllers_are_drawn) {
    test_daemon daemon;
    cli_case c;
    daemon_start(&daemon, "process", NULL);
    begin(&c);
    c.how.env = environment;
    cli_keys(&c);
    EXPECT_EXIT(&c, run(&c, &daemon, "accepted"), 0);
    EXPECT_EXIT(&c, run(&c, &daemon, "draft"), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("report", "-o", "r.html", "-p", "k.pub", "l.db")), 0);
    cr_expect_eq(cli_number(&c, "trajectories"), 2);
    char *text = file_read(forge_text("%s/r.html", c.folder), &(size_t){0});
    cr_assert_not_null(text);
    EXPECT_HAS(text, "the pole stays up");
    EXPECT_HAS(text, "the pole falls at 5.96 s");
    free(text);
    look(&c, "r.html", NULL);
    expect_quiet(&c);
    cr_expect_eq(cli_number(&c, "charts"), 2);
    cr_expect_eq(cli_number(&c, "lines"), 4);
    cr_expect_eq(daemon_stop(&daemon), 0);
    cli_end(&c);
}
