/* The whole way with a real daemon: a session with state, its ledger, and its replay. */
#include "tests/cli/cli_case.h"

#include "tests/support/daemon.h"

static const char *const environment[] = {"PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN, "COUNTERSIGN_KEY", NULL};

#define CELL(code) "{\"cell\":{\"language\":\"javascript\",\"code\":\"" code "\"}}\n"

Test(daemon_sessions, cells_share_their_state_and_are_replayed_whole) {
    cli_case c;
    test_daemon daemon;
    daemon_start(&daemon, "process", NULL);
    cli_begin(&c);
    c.how.env = environment;
    cli_keys(&c);
    cli_write_text(&c, "calls.jsonl",
                   CELL("x = 6; console.log(x)")
                       CELL("console.log(x * 7)") "{\"javascript\":{\"code\":\"console.log('by "
                                                  "itself')\"}}\n");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("session", "-d", daemon.url, "-k", "k.key", "-l", "ledger.db", "calls.jsonl")),
                0);
    EXPECT_TEXT(&c, "calls.1.outputs.0.text", "42\n");
    EXPECT_TEXT(&c, "calls.2.outputs.0.text", "by itself\n");
    EXPECT_TEXT(&c, "tier", "process");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "k.pub", "ledger.db")), 0);
    cr_expect_eq(cli_number(&c, "inputs.0.runs"), 3);
    cr_expect_eq(cli_number(&c, "inputs.0.sessions"), 1);
    EXPECT_EXIT(
        &c, cli_json(&c, ARGS("replay", "-p", "k.pub", "-d", daemon.url, "-k", "k.key", "-l", "new.db", "ledger.db")),
        0);
    EXPECT_TEXT(&c, "rows.1.verdict", "reproduced");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "k.pub", "new.db")), 0);
    cr_expect_eq(cli_number(&c, "inputs.0.runs"), 6);
    cr_expect_eq(cli_number(&c, "inputs.0.sessions"), 2);
    cr_expect_eq(daemon_stop(&daemon), 0);
    cli_end(&c);
}

Test(daemon_sessions, a_floor_that_is_not_met_is_refused) {
    cli_case c;
    test_daemon daemon;
    daemon_start(&daemon, "process", NULL);
    cli_begin(&c);
    c.how.env = environment;
    cli_keys(&c);
    cli_write_text(&c, "calls.jsonl", CELL("1"));
    EXPECT_EXIT(&c,
                cli_json(&c, ARGS("session", "-d", daemon.url, "-k", "k.key", "-l", "ledger.db", "--floor", "vm",
                                  "calls.jsonl")),
                3);
    EXPECT_TEXT(&c, "code", "refused-isolation");
    cr_expect(json_is_false(cli_member(&c, "opened")));
    cr_expect_eq(daemon_stop(&daemon), 0);
    cli_end(&c);
}
