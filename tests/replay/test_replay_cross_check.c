/* What daemons claim in the runs of a replay: scripted daemons that stay what they are, and that do not. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/replay/replay_scene.h"
#include "tests/support/canon.h"
#include "tests/support/live_session.h"

/* Where a run states the tier. */
static void set_tier(sample *s, const char *tier) {
    canon_set(&s->before->isolation, tier);
    canon_set(&s->response->isolation, tier);
    canon_set(&s->record->isolation, tier);
    canon_set(&s->after->isolation, tier);
}

static void set_policy(sample *s, const char *policy) {
    canon_set(&s->before->policy, policy);
    canon_set(&s->record->policy, policy);
    canon_set(&s->after->policy, policy);
}

static void set_environment(sample *s, const char *environment) {
    canon_set(&s->response->environment, environment);
    canon_set(&s->record->environment, environment);
}

/* Script a run that prints `output`, of its own time, with one thing set to another value (NULL: none). */
static void script_run(replay_scene *c, size_t daemon, const char *output, void (*set)(sample *, const char *),
                       const char *value) {
    sample s;
    sample_init(&s);
    canon_set(&s.response->javascript->stdout, output);
    if (set != NULL) set(&s, value);
    s.record->started_unix_ms -= ++c->scripted;
    sample_seal(&s, SEAL_ALL);
    live_run(&c->scripts[daemon], &s);
    sample_free(&s);
}

static void script_good(replay_scene *c, size_t daemon) {
    for (size_t i = 0; i < 2; i++)
        script_run(c, daemon, "2\n", NULL, NULL);
}

/* As far as `depth`; -1: no cross-check. */
static void replay(replay_scene *c, int depth) {
    const cs_replay_options options = {
        .runs = 2, .cross_check = depth >= 0, .depth = depth >= 0 ? (cs_tier_depth)depth : CS_DEPTH_STATEMENTS};
    replay_scene_run(c, &options);
}

static void expect_check(const replay_scene *c, size_t daemon, cs_result result, cs_code code) {
    cr_assert_not_null(c->report.checks);
    const cs_replay_check *check = &c->report.checks[daemon];
    cr_expect_eq(check->result, result, "%zu: %s: %s", daemon, cs_result_word(check->result), check->err.message);
    cr_expect_eq(check->err.code, code, "%zu: %s: %s", daemon, cs_code_name(check->err.code), check->err.message);
    cr_expect_str_eq(check->url, cs_client_url(c->clients[daemon]));
}

/* ---- statements ------------------------------------------------------------------------------------------- */

Test(replay_cross_check, a_daemon_that_stays_what_it_is) {
    replay_scene c;
    replay_scene_begin(&c);
    script_good(&c, 0);
    replay(&c, CS_DEPTH_STATEMENTS);
    replay_scene_expect_end(&c, CS_OK, CS_CODE_OK, CS_REPLAY_REPRODUCED);
    expect_check(&c, 0, CS_OK, CS_CODE_OK);
    cr_expect(c.report.checks[0].made);
    cr_expect_eq(c.report.checks[0].tiers.claim, CS_TIER_KERNEL);
    cr_expect_eq(c.report.checks[0].tiers.contradictions, 0);
    cr_expect_eq(peer_connections(c.peers[0]), 6, "statements call for no run of their own");
    replay_scene_end(&c);
}

Test(replay_cross_check, off_checks_nothing) {
    replay_scene c;
    replay_scene_begin(&c);
    script_run(&c, 0, "2\n", NULL, NULL);
    script_run(&c, 0, "2\n", set_tier, "vm");
    replay(&c, -1);
    replay_scene_expect_end(&c, CS_OK, CS_CODE_OK, CS_REPLAY_REPRODUCED);
    cr_expect_null(c.report.checks);
    replay_scene_end(&c);
}

/* Each run is good by itself, and each gave the stored result. */
Test(replay_cross_check, a_daemon_that_states_another_tier_in_its_second_run_is_refuted) {
    replay_scene c;
    replay_scene_begin(&c);
    c.count = 2;
    script_good(&c, 0);
    script_run(&c, 1, "2\n", NULL, NULL);
    script_run(&c, 1, "2\n", set_tier, "vm");
    replay(&c, CS_DEPTH_STATEMENTS);
    replay_scene_expect_end(&c, CS_FAILED, CS_CODE_TIER_CONTRADICTED, CS_REPLAY_REPRODUCED);
    expect_check(&c, 0, CS_OK, CS_CODE_OK);
    expect_check(&c, 1, CS_FAILED, CS_CODE_TIER_CONTRADICTED);
    cr_expect_not_null(strstr(c.err.message, cs_client_url(c.clients[1])), "%s", c.err.message);
    cr_expect_not_null(strstr(c.err.message, "every run gave the stored result"), "%s", c.err.message);
    replay_scene_end(&c);
}

Test(replay_cross_check, another_policy_in_between_is_another_daemon) {
    replay_scene c;
    replay_scene_begin(&c);
    script_run(&c, 0, "2\n", NULL, NULL);
    script_run(&c, 0, "2\n", set_policy, "policy:other");
    replay(&c, CS_DEPTH_STATEMENTS);
    replay_scene_expect_end(&c, CS_FAILED, CS_CODE_TIER_CONTRADICTED, CS_REPLAY_REPRODUCED);
    replay_scene_end(&c);
}

/* Work of one kind may have another environment than work of another kind. */
Test(replay_cross_check, another_environment_is_no_contradiction) {
    replay_scene c;
    replay_scene_begin(&c);
    script_run(&c, 0, "2\n", NULL, NULL);
    script_run(&c, 0, "2\n", set_environment, "environment:other");
    replay(&c, CS_DEPTH_STATEMENTS);
    replay_scene_expect_end(&c, CS_OK, CS_CODE_OK, CS_REPLAY_REPRODUCED);
    expect_check(&c, 0, CS_OK, CS_CODE_OK);
    replay_scene_end(&c);
}

Test(replay_cross_check, a_result_that_differs_comes_first_and_the_contradiction_is_told_too) {
    for (size_t i = 0; i < 2; i++) {
        replay_scene c;
        replay_scene_begin(&c);
        script_run(&c, 0, "3\n", NULL, NULL);
        script_run(&c, 0, "3\n", i == 0 ? set_tier : NULL, "vm");
        replay(&c, CS_DEPTH_STATEMENTS);
        replay_scene_expect_end(&c, CS_FAILED, CS_CODE_REPLAY_DIFFERS, CS_REPLAY_DIFFERENT);
        cr_expect_eq(strstr(c.err.message, "[tier-contradicted]") != NULL, i == 0, "%s", c.err.message);
        replay_scene_end(&c);
    }
}

/* ---- without a result ------------------------------------------------------------------------------------- */

static void script_refusal(replay_scene *c, size_t daemon) {
    live_describe(&c->scripts[daemon], c->stored.before);
    live_step(&c->scripts[daemon], live_refusal());
}

Test(replay_cross_check, without_a_run_there_is_no_claim) {
    replay_scene c;
    replay_scene_begin(&c);
    script_refusal(&c, 0);
    replay(&c, CS_DEPTH_PROBE);
    replay_scene_expect_end(&c, CS_NOT_RUN, CS_CODE_REPLAY_INCOMPLETE, CS_REPLAY_NO_RESULT);
    expect_check(&c, 0, CS_UNCHECKED, CS_CODE_TIER_PROBE);
    cr_expect_not(c.report.checks[0].made);
    cr_expect_eq(peer_connections(c.peers[0]), 2, "no probe is sent then");
    replay_scene_end(&c);
}

Test(replay_cross_check, a_contradiction_outranks_runs_without_a_result) {
    replay_scene c;
    replay_scene_begin(&c);
    c.count = 2;
    script_refusal(&c, 0);
    script_run(&c, 1, "2\n", NULL, NULL);
    script_run(&c, 1, "2\n", set_tier, "vm");
    replay(&c, CS_DEPTH_STATEMENTS);
    replay_scene_expect_end(&c, CS_FAILED, CS_CODE_TIER_CONTRADICTED, CS_REPLAY_NO_RESULT);
    cr_expect_not_null(strstr(c.err.message, "without a result"), "%s", c.err.message);
    replay_scene_end(&c);
}

/* ---- probes ----------------------------------------------------------------------------------------------- */

Test(replay_cross_check, a_daemon_that_can_not_be_probed_is_unchecked) {
    for (size_t i = 0; i < 2; i++) {
        replay_scene c;
        replay_scene_begin(&c);
        script_good(&c, 0);
        live_describe(&c.scripts[0], c.stored.before);
        script_refusal(&c, 0);
        replay(&c, i == 0 ? CS_DEPTH_PROBE : CS_DEPTH_STATEMENTS);
        replay_scene_expect_end(&c, i == 0 ? CS_UNCHECKED : CS_OK, CS_CODE_TIER_PROBE, CS_REPLAY_REPRODUCED);
        expect_check(&c, 0, i == 0 ? CS_UNCHECKED : CS_OK, i == 0 ? CS_CODE_TIER_PROBE : CS_CODE_OK);
        cr_expect_eq(peer_connections(c.peers[0]), i == 0 ? 9 : 6);
        replay_scene_end(&c);
    }
}

/* It told its runs one thing, and tells another when it is to be probed. */
Test(replay_cross_check, what_it_says_to_the_probe_is_laid_beside_the_runs) {
    replay_scene c;
    replay_scene_begin(&c);
    script_good(&c, 0);
    set_tier(&c.stored, "container");
    live_describe(&c.scripts[0], c.stored.before);
    script_refusal(&c, 0);
    replay(&c, CS_DEPTH_PROBE);
    replay_scene_expect_end(&c, CS_FAILED, CS_CODE_TIER_CONTRADICTED, CS_REPLAY_REPRODUCED);
    cr_expect_eq(c.report.checks[0].depth, CS_DEPTH_PROBE);
    replay_scene_end(&c);
}

Test(replay_cross_check, statements_that_refute_it_are_enough) {
    replay_scene c;
    replay_scene_begin(&c);
    script_run(&c, 0, "2\n", NULL, NULL);
    script_run(&c, 0, "2\n", set_tier, "vm");
    replay(&c, CS_DEPTH_PROBE);
    replay_scene_expect_end(&c, CS_FAILED, CS_CODE_TIER_CONTRADICTED, CS_REPLAY_REPRODUCED);
    cr_expect_eq(c.report.checks[0].depth, CS_DEPTH_STATEMENTS);
    cr_expect_eq(peer_connections(c.peers[0]), 6);
    replay_scene_end(&c);
}

/* ---- sessions --------------------------------------------------------------------------------------------- */

/* A fresh session of one call, in which the daemon states this tier throughout. */
static void script_session(replay_scene *c, const char *tier) {
    sample s;
    sample_init(&s);
    set_tier(&s, tier);
    s.record->started_unix_ms -= ++c->scripted;
    live_call(&s, 1, "", "one()");
    live_describe(&c->scripts[0], s.before);
    cs_open_session_response opened = live_opened();
    canon_set(&s.response->isolation, tier);
    opened.isolation = s.response->isolation;
    live_open(&c->scripts[0], &opened);
    live_call_answer(&c->scripts[0], &s, 0);
    live_close(&c->scripts[0], LIVE_FINGERPRINT, 1, live_hex(&s.record->record_sha256));
    live_describe(&c->scripts[0], s.after);
    sample_free(&s);
}

Test(replay_cross_check, calls_of_sessions_are_heard_too) {
    for (size_t i = 0; i < 2; i++) {
        replay_scene c;
        replay_scene_begin(&c);
        live_call(&c.stored, 1, "", "one()");
        replay_scene_set_item(&c);
        memset(c.item.session.hex, '5', 64);
        c.plan.sessions = 1;
        script_session(&c, "kernel");
        script_session(&c, i == 0 ? "kernel" : "vm");
        replay(&c, CS_DEPTH_STATEMENTS);
        replay_scene_expect_end(&c, i == 0 ? CS_OK : CS_FAILED, CS_CODE_TIER_CONTRADICTED, CS_REPLAY_REPRODUCED);
        expect_check(&c, 0, i == 0 ? CS_OK : CS_FAILED, i == 0 ? CS_CODE_OK : CS_CODE_TIER_CONTRADICTED);
        replay_scene_end(&c);
    }
}
