/* The whole way with daemons of protocol 4: run, session, verify, show and replay, on both providers and from one
 * protocol to another. */
#include "tests/cli/cli_case.h"

#include <stdio.h>

#include "tests/support/daemon.h"

static const char *const environment[] = {"PLIMSOLL_CALLER_TOKEN=" DAEMON_TOKEN, "COUNTERSIGN_KEY", NULL};
static const char *const protocol_4[] = {"--protocol", "4", NULL};

#define SCRIPT "{\"javascript\":{\"code\":\"console.log(6*7)\"}}"

static void begin(cli_case *c) {
    cli_begin(c);
    c->how.env = environment;
    cli_keys(c);
    cli_write_text(c, "request.json", SCRIPT);
    cli_write_text(c, "calls.jsonl",
                   SCRIPT "\n{\"project\":{\"steps\":[\"echo one > kept\"]}}\n"
                          "{\"project\":{\"steps\":[\"cat kept\"]}}\n");
}

static void check_provider(const char *provider) {
    cli_case c;
    test_daemon daemon;
    daemon_start(&daemon, provider, protocol_4);
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("run", "-d", daemon.url, "-k", "k.key", "-l", "ledger.db", "request.json")), 0);
    cr_expect_eq(cli_number(&c, "record.version"), 4);
    char instance[80];
    (void)snprintf(instance, sizeof instance, "%s", cli_text(&c, "record.instance"));
    EXPECT_HAS(instance, "localdaemon-sandbox:");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("session", "-d", daemon.url, "-k", "k.key", "-l", "ledger.db", "calls.jsonl")),
                0);
    EXPECT_TEXT(&c, "calls.2.outputs.0.text", "one\n");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "k.pub", "ledger.db")), 0);
    cr_expect_eq(cli_number(&c, "inputs.0.runs"), 4);
    cr_expect_eq(cli_number(&c, "inputs.0.sessions"), 1);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("show", "-p", "k.pub", "ledger.db", "1")), 0);
    EXPECT_TEXT(&c, "shown.record.instance", instance);
    EXPECT_EXIT(&c, cli_run(&c, ARGS("show", "ledger.db", "1")), 0);
    EXPECT_HAS(c.end.out, instance);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("replay", "-p", "k.pub", "-d", daemon.url, "ledger.db")), 0);
    EXPECT_TEXT(&c, "rows.0.verdict", "reproduced");
    EXPECT_TEXT(&c, "rows.3.verdict", "reproduced");
    cr_expect_eq(daemon_stop(&daemon), 0);
    cli_end(&c);
}

Test(daemon_protocol, protocol_4_on_process) {
    check_provider("process");
}

Test(daemon_protocol, protocol_4_on_container) {
    check_provider("container");
}

/* A daemon serves one number: what another protocol ran goes out with it, and its result is the same. */
Test(daemon_protocol, replay_from_one_protocol_to_another) {
    cli_case c;
    test_daemon new, old;
    daemon_start(&new, "process", protocol_4);
    daemon_start(&old, "process", NULL);
    begin(&c);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("run", "-d", new.url, "-k", "k.key", "-l", "ledger.db", "request.json")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("run", "-d", old.url, "-k", "k.key", "-l", "ledger.db", "request.json")), 0);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("verify", "-p", "k.pub", "ledger.db")), 0);
    cr_expect_eq(cli_number(&c, "inputs.0.runs"), 2);
    EXPECT_EXIT(&c, cli_json(&c, ARGS("replay", "-p", "k.pub", "-d", new.url, "-d", old.url, "ledger.db")), 0);
    cr_expect(json_is_false(cli_member(&c, "rows.0.daemons.0.protocol_changed")));
    cr_expect(json_is_true(cli_member(&c, "rows.0.daemons.1.protocol_changed")));
    cr_expect_eq(cli_number(&c, "rows.0.daemons.1.protocol_sent"), 3);
    cr_expect_eq(cli_number(&c, "rows.1.daemons.0.protocol_sent"), 4);
    cr_expect_eq(daemon_stop(&new), 0);
    cr_expect_eq(daemon_stop(&old), 0);
    cli_end(&c);
}

/* The number that a request states itself is kept, and a daemon of another one refuses it. */
Test(daemon_protocol, a_stated_number_is_the_daemons_to_refuse) {
    cli_case c;
    test_daemon daemon;
    daemon_start(&daemon, "process", protocol_4);
    begin(&c);
    cli_write_text(&c, "request.json", "{\"protocol\":3,\"javascript\":{\"code\":\"1\"}}");
    EXPECT_EXIT(&c, cli_json(&c, ARGS("run", "-d", daemon.url, "-k", "k.key", "-l", "ledger.db", "request.json")), 3);
    EXPECT_TEXT(&c, "code", "refused-protocol");
    cr_expect_eq(daemon_stop(&daemon), 0);
    cli_end(&c);
}
