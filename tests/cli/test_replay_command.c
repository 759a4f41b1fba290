/* `countersign replay` of a ledger with one signed run, against scripted daemons. */
#include "tests/cli/run_scene.h"

#include "tests/support/canon.h"

static void another_output(sample *s) {
    canon_set(&s->response->javascript->stdout, "3\n");
    sample_seal(s, SEAL_ALL);
}

/* A ledger with one signed run, and then another daemon. */
static void begin_replay(run_scene *s, void (*change)(sample *)) {
    run_scene_begin(s);
    run_scene_serve_runs(s, 1, NULL);
    EXPECT_EXIT(&s->c, run_scene_run(s), 0);
    peer_free(s->daemon);
    live_free(&s->script);
    s->again = true;
    run_scene_serve_runs(s, 2, change);
}

Test(replay_command, reproduced_is_exit_0) {
    run_scene s;
    begin_replay(&s, NULL);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "ledger.db")), 0);
    EXPECT_TEXT(&s.c, "rows.0.verdict", "reproduced");
    cr_expect_null(cli_member(&s.c, "entry"));
    cr_expect_null(cli_member(&s.c, "where"));
    cr_expect_null(cli_member(&s.c, "rows.0.daemons.0.failure"));
    EXPECT_TEXT(&s.c, "rows.0.daemons.0.daemon", s.url);
    cr_expect_eq(cli_number(&s.c, "rows.0.daemons.0.matched"), 2);
    cr_expect(json_is_null(cli_member(&s.c, "rows.0.daemons.0.difference")));
    run_scene_expect(&s, 0, 1, 0);
    run_scene_end(&s);
}

Test(replay_command, different_is_exit_1_with_the_first_difference) {
    run_scene s;
    begin_replay(&s, another_output);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "ledger.db")), 1);
    EXPECT_HAS(s.c.end.out, "different");
    EXPECT_HAS(s.c.end.out, "first difference: stdout, at byte 0 (of 2 and 2)");
    EXPECT_HAS(s.c.end.err, "[replay-differs]");
    run_scene_end(&s);
    begin_replay(&s, another_output);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "ledger.db")), 1);
    EXPECT_TEXT(&s.c, "code", "replay-differs");
    EXPECT_TEXT(&s.c, "where", "ledger.db: entry 1");
    cr_expect_eq(cli_number(&s.c, "entry"), 1);
    EXPECT_TEXT(&s.c, "rows.0.daemons.0.difference.field", "stdout");
    cr_expect_eq(cli_number(&s.c, "rows.0.daemons.0.difference.offset"), 0);
    run_scene_end(&s);
}

Test(replay_command, kept_when_asked_for) {
    run_scene s;
    begin_replay(&s, another_output);
    EXPECT_EXIT(
        &s.c, cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "-k", "k.key", "-l", "ledger.db", "ledger.db")),
        1);
    run_scene_expect(&s, 0, 3, 0); /* the stored one and two new ones */
    run_scene_end(&s);
}

Test(replay_command, nothing_is_replayed_from_what_does_not_verify) {
    run_scene s;
    begin_replay(&s, NULL);
    EXPECT_EXIT(&s.c, cli_run(&s.c, ARGS("keygen", "-o", "other")), 0);
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "-p", "other.pub", "-d", s.url, "ledger.db")), 1);
    EXPECT_TEXT(&s.c, "code", "envelope-key-unknown");
    EXPECT_HAS(cli_text(&s.c, "where"), "ledger.db");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "--entry", "9", "ledger.db")), 6);
    EXPECT_TEXT(&s.c, "code", "entry-unknown");
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "missing")), 5);
    peer_stop(s.daemon);
    cr_expect_eq(peer_connections(s.daemon), 0);
    run_scene_end(&s);
}

Test(replay_command, a_daemon_that_is_not_there_is_exit_3) {
    run_scene s;
    begin_replay(&s, NULL);
    peer_free(s.daemon);
    s.daemon = NULL;
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "ledger.db")), 3);
    EXPECT_TEXT(&s.c, "code", "replay-incomplete");
    EXPECT_TEXT(&s.c, "rows.0.verdict", "no-result");
    EXPECT_TEXT(&s.c, "rows.0.daemons.0.failure.code", "describe-failed");
    run_scene_end(&s);
}

/* Each daemon may have a token of its own, so that none is shown to another. */
Test(replay_command, tokens_by_number) {
    run_scene s;
    begin_replay(&s, NULL);
    const char *const env[] = {"PLIMSOLL_CALLER_TOKEN=for-all", "PLIMSOLL_CALLER_TOKEN_1=for-one", NULL};
    s.c.how.env = env;
    EXPECT_EXIT(&s.c, cli_json(&s.c, ARGS("replay", "-p", "k.pub", "-d", s.url, "ledger.db")), 0);
    peer_stop(s.daemon);
    char value[64];
    cr_expect_eq(peer_header(peer_seen(s.daemon, 0), "Authorization", value, sizeof value), 1);
    cr_expect_str_eq(value, "Bearer for-one");
    run_scene_end(&s);
}
