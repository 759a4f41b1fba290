/* A signal while something is under way: it ends the wait, and what was begun is ended, kept and told. */
#include "tests/cli/cli_case.h"

#include <signal.h>
#include <stdio.h>

#include "tests/support/live.h"

#define REQUEST "{\"javascript\":{\"code\":\"console.log(1 + 1)\"}}"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
#define SIGNALS (sizeof signals / sizeof signals[0])

typedef struct scene {
    cli_case c;
    live script;
    peer *daemon;
    exec_beside beside;
} scene;

/* Whoever runs the tests may have some ignored: nohup, or a shell in which they run in the background. */
static bool hears_all(void) {
    for (size_t i = 0; i < SIGNALS; i++)
        if (signal(signals[i], SIG_DFL) == SIG_ERR) return false;
    return true;
}

static bool ignores_hangup(void) {
    return signal(SIGHUP, SIG_IGN) != SIG_ERR;
}

/* Start a command against a daemon that takes `requests` whole, the last of them a run, which it does not answer; and
 * wait until it has that one. */
static void begin(scene *s, bool (*before)(void), size_t requests, const char *const arguments[]) {
    char program[1024];
    const char *argv[16] = {program, arguments[0], "--json", "-d"};
    memset(s, 0, sizeof *s);
    cli_begin(&s->c);
    cli_keys(&s->c);
    cli_write_text(&s->c, "request.json", REQUEST);
    sample good;
    sample_init(&good);
    for (size_t i = 1; i < requests; i++)
        live_describe(&s->script, good.before);
    live_step(&s->script, (peer_step){.head = NULL, .end = PEER_STALL});
    sample_free(&good);
    s->daemon = peer_start(s->script.steps, s->script.count, NULL);
    cr_assert_not_null(s->daemon);
    exec_built("countersign", program);
    argv[4] = peer_url(s->daemon);
    for (size_t i = 1; arguments[i] != NULL; i++) {
        cr_assert_lt(i + 4, sizeof argv / sizeof argv[0] - 1);
        argv[i + 4] = arguments[i];
    }
    s->c.how.before = before;
    exec_begin(&s->c.how, argv, &s->beside);
    s->c.how.before = NULL;
    cr_expect(peer_await(s->daemon, requests), "there was no run");
}

/* It may have run: that is what is said, and kept as a finding. */
static void end(scene *s, const char *code, size_t requests) {
    exec_end said;
    exec_wait(&s->beside, &said);
    cr_expect_eq(said.status, 4, "%d: %s%s", said.status, said.out, said.err);
    EXPECT_HAS(said.out, code);
    exec_free(&said);
    peer_stop(s->daemon);
    cr_expect_eq(peer_connections(s->daemon), requests);
    EXPECT_EXIT(&s->c, cli_json(&s->c, ARGS("verify", "-p", "k.pub", "ledger.db")), 6);
    cr_expect_eq(cli_number(&s->c, "inputs.0.runs"), 0, "%s", s->c.end.out);
    cr_expect_eq(cli_number(&s->c, "inputs.0.unsigned_findings"), 1, "%s", s->c.end.out);
    peer_free(s->daemon);
    live_free(&s->script);
    cli_end(&s->c);
}

static void each_signal_ends(size_t requests, const char *const arguments[]) {
    for (size_t i = 0; i < SIGNALS; i++) {
        scene s;
        begin(&s, hears_all, requests, arguments);
        cr_assert_eq(kill(s.beside.pid, signals[i]), 0);
        end(&s, "\"code\":\"unanswered-interrupted\"", requests);
    }
}

/* As under nohup: the daemon's own end is what ends the wait then. */
static void ignored_hangup_does_not(size_t requests, const char *const arguments[]) {
    scene s;
    begin(&s, ignores_hangup, requests, arguments);
    cr_assert_eq(kill(s.beside.pid, SIGHUP), 0);
    peer_stop(s.daemon);
    end(&s, "\"code\":\"unanswered-connection\"", requests);
}

#define RUN ARGS("run", "-k", "k.key", "-l", "ledger.db", "request.json")
#define RUN_REQUESTS 2 /* it asks what the daemon is, and runs */

Test(interrupted, a_run_ends_with_4_and_a_finding) {
    each_signal_ends(RUN_REQUESTS, RUN);
}

Test(interrupted, a_run_goes_on_where_a_hangup_is_ignored) {
    ignored_hangup_does_not(RUN_REQUESTS, RUN);
}

#define TIERS ARGS("tiers", "-k", "k.key", "-l", "ledger.db", "--cross-check", "statements")
#define TIERS_REQUESTS 3 /* it asks what the daemon is, and runs as above */

Test(interrupted, a_check_of_tiers_ends_with_4_and_a_finding) {
    each_signal_ends(TIERS_REQUESTS, TIERS);
}

Test(interrupted, a_check_of_tiers_goes_on_where_a_hangup_is_ignored) {
    ignored_hangup_does_not(TIERS_REQUESTS, TIERS);
}
