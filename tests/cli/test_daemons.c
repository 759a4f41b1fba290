/* The whole way with real daemons: run, verify, show, replay on one and on two providers. */
#include "tests/cli/cli_case.h"

#include <stdio.h>

#include "tests/support/daemon.h"

/* Two daemons: where the code first runs, and another provider. */
typedef struct scene {
    cli_case c;
    test_daemon process;
    test_daemon container;
    bool both;
} scene;

static const char *const environment[] = {"PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN, "COUNTERSIGN_KEY", NULL};

static void begin(scene *s, bool both) {
    memset(s, 0, sizeof *s);
    daemon_start(&s->process, "process", NULL);
    if (both) daemon_start(&s->container, "container", NULL);
    s->both = both;
    cli_begin(&s->c);
    s->c.how.env = environment;
    cli_keys(&s->c);
}

static void finish(scene *s) {
    cr_expect_eq(daemon_stop(&s->process), 0);
    if (s->both) cr_expect_eq(daemon_stop(&s->container), 0);
    cli_end(&s->c);
}

static int run(scene *s, const char *request) {
    cli_write_text(&s->c, "request.json", request);
    return cli_json(&s->c, ARGS("run", "-d", s->process.url, "-k", "k.key", "-l", "ledger.db", "request.json"));
}

static int replay(scene *s) {
    if (!s->both) return cli_json(&s->c, ARGS("replay", "-p", "k.pub", "-d", s->process.url, "ledger.db"));
    return cli_json(&s->c, ARGS("replay", "-p", "k.pub", "-d", s->process.url, "-d", s->container.url, "ledger.db"));
}

static void expect_cells(const scene *s, const char *first, const char *second) {
    EXPECT_TEXT(&s->c, "rows.0.daemons.0.verdict", first);
    EXPECT_TEXT(&s->c, "rows.0.daemons.1.verdict", second);
}

#define PROJECT(step, artifact)                                                                                        \
    "{\"project\":{\"files\":[{\"path\":\"a.txt\",\"content\":\"hello\\n\"}],\"steps\":[\"" step "\"]," artifact "}}"

Test(daemons, run_verify_show) {
    scene s;
    begin(&s, false);
    EXPECT_EXIT(&s.c, run(&s, "{\"javascript\":{\"code\":\"console.log(6*7)\"}}"), 0);
    EXPECT_TEXT(&s.c, "outputs.0.text", "42\n");
    EXPECT_TEXT(&s.c, "record.isolation", "process");
    cr_expect_eq(json_array_size(cli_member(&s.c, "warnings")), 0);
    EXPECT_EXIT(&s.c, run(&s, PROJECT("cat a.txt > out.bin", "\"artifacts\":[\"out.bin\"]")), 0);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("verify", "-p", "k.pub", "ledger.db")), 0);
    cr_expect_eq(cli_number(&s.c, "inputs.0.runs"), 2);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("show", "-p", "k.pub", "ledger.db", "2")), 0);
    EXPECT_TEXT(&s.c, "shown.verification", "passed");
    EXPECT_TEXT(&s.c, "shown.outputs.2.field", "artifacts[0].content");
    EXPECT_TEXT(&s.c, "shown.outputs.2.text", "hello\n");
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("show", "ledger.db", "2")), 0);
    EXPECT_HAS(s.c.end.out, "cat a.txt > out.bin");
    finish(&s);
}

Test(daemons, json_and_binary_give_one_record) {
    scene s;
    begin(&s, false);
    EXPECT_EXIT(&s.c, run(&s, "{\"javascript\":{\"code\":\"console.log(6*7)\"}}"), 0);
    char result[65];
    (void)snprintf(result, sizeof result, "%s", cli_text(&s.c, "result_sha256"));
    EXPECT_EXIT(&s.c,
                cli_json(&s.c, ARGS("run", "-d", s.process.url, "-k", "k.key", "-l", "ledger.db", "--codec", "json",
                                    "request.json")),
                0);
    EXPECT_TEXT(&s.c, "result_sha256", result);
    finish(&s);
}

Test(daemons, a_floor_that_is_not_met_or_a_wrong_token_is_refused) {
    static const char *const wrong[] = {"PLIMSOLL_CALLER_TOKEN=wrong", NULL};
    scene s;
    begin(&s, false);
    EXPECT_EXIT(&s.c, run(&s, "{\"minimumIsolation\":\"vm\",\"javascript\":{\"code\":\"1\"}}"), 3);
    EXPECT_TEXT(&s.c, "code", "refused-isolation");
    cr_expect(json_is_true(cli_member(&s.c, "elsewhere")));
    s.c.how.env = wrong;
    EXPECT_EXIT(&s.c, run(&s, "{\"javascript\":{\"code\":\"1\"}}"), 3);
    EXPECT_TEXT(&s.c, "code", "describe-failed");
    EXPECT_HAS(cli_text(&s.c, "message"), "refused-permission");
    EXPECT_HAS_NOT(cli_text(&s.c, "message"), "may have run");
    EXPECT_TEXT(&s.c, "reason", "permission");
    cr_expect(json_is_false(cli_member(&s.c, "elsewhere")));
    finish(&s);
}

Test(daemons, deterministic_work_is_reproduced_on_two_providers) {
    scene s;
    begin(&s, true);
    EXPECT_EXIT(&s.c, run(&s, PROJECT("sha256sum a.txt", "\"artifacts\":[\"a.txt\"]")), 0);
    EXPECT_EXIT(&s.c, replay(&s), 0);
    EXPECT_TEXT(&s.c, "rows.0.verdict", "reproduced");
    expect_cells(&s, "reproduced", "reproduced");
    EXPECT_TEXT(&s.c, "rows.0.daemons.0.tier", "process");
    EXPECT_TEXT(&s.c, "rows.0.daemons.1.tier", "container");
    finish(&s);
}

/* Random work differs on two providers as well, but that is not why. */
Test(daemons, random_work_is_nondeterministic_and_not_different) {
    scene s;
    begin(&s, true);
    EXPECT_EXIT(&s.c, run(&s, "{\"javascript\":{\"code\":\"console.log('number', Math.random())\"}}"), 0);
    EXPECT_EXIT(&s.c, replay(&s), 1);
    EXPECT_TEXT(&s.c, "code", "replay-unstable");
    EXPECT_TEXT(&s.c, "rows.0.verdict", "nondeterministic");
    expect_cells(&s, "nondeterministic", "nondeterministic");
    EXPECT_TEXT(&s.c, "rows.0.daemons.0.difference.field", "stdout");
    /* "number 0." is the same in both, and a digit may be by chance. */
    cr_expect_geq(cli_number(&s.c, "rows.0.daemons.0.difference.offset"), 7);
    finish(&s);
}

/* The tier's own walls show in what the work can see: the same each time, another on the other provider. */
Test(daemons, work_that_looks_at_its_provider_is_different_with_the_exact_place) {
    scene s;
    begin(&s, true);
    EXPECT_EXIT(&s.c,
                run(&s, "{\"javascript\":{\"code\":\"console.log('pid namespace of one: '"
                        " + (process.ppid <= 3 ? 'yes' : 'no'))\"}}"),
                0);
    EXPECT_EXIT(&s.c, replay(&s), 1);
    EXPECT_TEXT(&s.c, "code", "replay-differs");
    expect_cells(&s, "reproduced", "different");
    EXPECT_TEXT(&s.c, "rows.0.daemons.1.difference.field", "stdout");
    cr_expect_eq(cli_number(&s.c, "rows.0.daemons.1.difference.offset"), 22);
    EXPECT_HAS(cli_text(&s.c, "rows.0.daemons.1.difference.a"), "no");
    EXPECT_HAS(cli_text(&s.c, "rows.0.daemons.1.difference.b"), "yes");
    finish(&s);
}

/* The stored request names protocol 2; this daemon serves 3. */
Test(daemons, another_protocol_is_told_and_no_difference) {
    static const char *const more[] = {"--protocol", "2", NULL};
    scene s;
    begin(&s, false);
    test_daemon old;
    daemon_start(&old, "process", more);
    cli_write_text(&s.c, "request.json", "{\"javascript\":{\"code\":\"console.log(1)\"}}");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("run", "-d", old.url, "-k", "k.key", "-l", "ledger.db", "request.json")), 0);
    cr_expect_eq(daemon_stop(&old), 0);
    EXPECT_EXIT(&s.c, replay(&s), 0);
    cr_expect(json_is_true(cli_member(&s.c, "rows.0.daemons.0.protocol_changed")));
    cr_expect_eq(cli_number(&s.c, "rows.0.daemons.0.protocol_sent"), 3);
    finish(&s);
}
