/* Replays against scripted daemons: what each verdict needs, and what it is not mistaken for. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/replay/replay_scene.h"
#include "tests/support/canon.h"

/* Script a run on a daemon that prints `output`, as the one that started so many milliseconds before the stored. */
static void script_run_of(replay_scene *c, size_t daemon, const char *output, unsigned before) {
    sample s;
    sample_init(&s);
    canon_set(&s.response->javascript->stdout, output);
    sample_seal(&s, SEAL_ALL);
    for (unsigned i = 0; i < before; i++)
        sample_again(&s);
    live_run(&c->scripts[daemon], &s);
    sample_free(&s);
}

/* Each is a run of its own. */
static void script_run(replay_scene *c, size_t daemon, const char *output) {
    script_run_of(c, daemon, output, ++c->scripted);
}

static void on_progress(void *user, size_t done, size_t total) {
    replay_scene *c = user;
    c->progress_calls++;
    cr_expect_eq(done, c->progress_calls);
    cr_expect_eq(total, c->count);
}

static void replay(replay_scene *c, unsigned runs) {
    const cs_replay_options options = {.runs = runs, .on_progress = on_progress, .user = c};
    replay_scene_run(c, &options);
}

static const cs_replay_cell *cell(const replay_scene *c, size_t daemon) {
    cr_assert_eq(c->report.row_count, 1);
    cr_assert_eq(c->report.cell_count, c->count);
    return &c->report.rows[0].cells[daemon];
}

Test(replay, reproduced_on_two_daemons) {
    replay_scene c;
    replay_scene_begin(&c);
    c.count = 2;
    for (size_t i = 0; i < 4; i++)
        script_run(&c, i / 2, "2\n");
    replay(&c, 2);
    replay_scene_expect_end(&c, CS_OK, CS_CODE_OK, CS_REPLAY_REPRODUCED);
    for (size_t i = 0; i < 2; i++) {
        cr_expect_eq(cell(&c, i)->verdict, CS_REPLAY_REPRODUCED);
        cr_expect_eq(cell(&c, i)->runs, 2);
        cr_expect_eq(cell(&c, i)->matched, 2);
        cr_expect_str_eq(cell(&c, i)->result_sha256.hex, c.item.result_sha256.hex);
        cr_expect_str_eq(cell(&c, i)->provider, "gvisor");
        cr_expect_str_eq(cell(&c, i)->tier, "kernel");
        cr_expect_str_eq(cell(&c, i)->url, cs_client_url(c.clients[i]));
        cr_expect_not(cell(&c, i)->difference.differs);
        cr_expect_not(cell(&c, i)->protocol_changed);
        cr_expect_eq(peer_connections(c.peers[i]), 6);
    }
    cr_expect_eq(c.progress_calls, 2);
    replay_scene_end(&c);
}

Test(replay, stable_but_different_points_at_the_daemon) {
    replay_scene c;
    replay_scene_begin(&c);
    c.count = 2;
    script_run(&c, 0, "2\n");
    script_run(&c, 0, "2\n");
    script_run(&c, 1, "22\n");
    script_run(&c, 1, "22\n");
    replay(&c, 2);
    replay_scene_expect_end(&c, CS_FAILED, CS_CODE_REPLAY_DIFFERS, CS_REPLAY_DIFFERENT);
    cr_expect_eq(cell(&c, 0)->verdict, CS_REPLAY_REPRODUCED);
    cr_expect_eq(cell(&c, 1)->verdict, CS_REPLAY_DIFFERENT);
    cr_expect_eq(cell(&c, 1)->matched, 0);
    const cs_difference *d = &cell(&c, 1)->difference;
    cr_expect_str_eq(d->field, "stdout");
    cr_expect_eq(d->offset, 1);
    cr_expect_eq(d->length_a, 2);
    cr_expect_eq(d->length_b, 3);
    cr_expect_str_eq(d->excerpt_a, "2\\x0a");
    cr_expect_str_eq(d->excerpt_b, "22\\x0a");
    replay_scene_end(&c);
}

/* One run that matches and one that does not: that is no difference between providers. */
Test(replay, two_results_of_one_daemon_are_not_blamed_on_providers) {
    replay_scene c;
    replay_scene_begin(&c);
    script_run(&c, 0, "2\n");
    script_run(&c, 0, "3\n");
    replay(&c, 2);
    replay_scene_expect_end(&c, CS_FAILED, CS_CODE_REPLAY_UNSTABLE, CS_REPLAY_NONDETERMINISTIC);
    cr_expect_eq(cell(&c, 0)->runs, 2);
    cr_expect_eq(cell(&c, 0)->matched, 1);
    cr_expect_str_eq(cell(&c, 0)->difference.excerpt_a, "2\\x0a");
    cr_expect_str_eq(cell(&c, 0)->difference.excerpt_b, "3\\x0a");
    replay_scene_end(&c);
}

Test(replay, the_difference_of_unstable_work_is_between_its_own_runs) {
    replay_scene c;
    replay_scene_begin(&c);
    script_run(&c, 0, "7\n");
    script_run(&c, 0, "8\n");
    replay(&c, 2);
    replay_scene_expect_end(&c, CS_FAILED, CS_CODE_REPLAY_UNSTABLE, CS_REPLAY_NONDETERMINISTIC);
    cr_expect_eq(cell(&c, 0)->matched, 0);
    cr_expect_str_eq(cell(&c, 0)->difference.excerpt_a, "7\\x0a");
    cr_expect_str_eq(cell(&c, 0)->difference.excerpt_b, "8\\x0a");
    replay_scene_end(&c);
}

Test(replay, unstable_on_one_daemon_outranks_different_on_another) {
    replay_scene c;
    replay_scene_begin(&c);
    c.count = 2;
    script_run(&c, 0, "7\n");
    script_run(&c, 0, "7\n");
    script_run(&c, 1, "8\n");
    script_run(&c, 1, "9\n");
    replay(&c, 2);
    replay_scene_expect_end(&c, CS_FAILED, CS_CODE_REPLAY_UNSTABLE, CS_REPLAY_NONDETERMINISTIC);
    cr_expect_eq(cell(&c, 0)->verdict, CS_REPLAY_DIFFERENT);
    replay_scene_end(&c);
}

Test(replay, a_third_run_can_show_it_too) {
    replay_scene c;
    replay_scene_begin(&c);
    script_run(&c, 0, "2\n");
    script_run(&c, 0, "2\n");
    script_run(&c, 0, "3\n");
    replay(&c, 3);
    replay_scene_expect_end(&c, CS_FAILED, CS_CODE_REPLAY_UNSTABLE, CS_REPLAY_NONDETERMINISTIC);
    cr_expect_eq(cell(&c, 0)->runs, 3);
    cr_expect_eq(cell(&c, 0)->matched, 2);
    replay_scene_end(&c);
}

/* ---- without a result ----------------------------------------------------------------------- */

Test(replay, a_refusal_is_no_result_and_no_difference) {
    replay_scene c;
    replay_scene_begin(&c);
    c.count = 2;
    live_describe(&c.scripts[0], c.stored.before);
    live_step(&c.scripts[0], live_refusal());
    script_run(&c, 1, "2\n");
    script_run(&c, 1, "2\n");
    replay(&c, 2);
    replay_scene_expect_end(&c, CS_NOT_RUN, CS_CODE_REPLAY_INCOMPLETE, CS_REPLAY_NO_RESULT);
    cr_expect_eq(cell(&c, 0)->verdict, CS_REPLAY_NO_RESULT);
    cr_expect_eq(cell(&c, 0)->failure, CS_NOT_RUN);
    cr_expect_eq(cell(&c, 0)->err.code, CS_CODE_REFUSED_CAPACITY);
    cr_expect_eq(cell(&c, 1)->verdict, CS_REPLAY_REPRODUCED);
    replay_scene_end(&c);
}

Test(replay, what_may_have_run_is_not_sent_again) {
    replay_scene c;
    replay_scene_begin(&c);
    live_describe(&c.scripts[0], c.stored.before);
    live_step(&c.scripts[0], (peer_step){.head = NULL, .end = PEER_RESET});
    script_run(&c, 0, "2\n");
    replay(&c, 2);
    replay_scene_expect_end(&c, CS_MAYBE_RAN, CS_CODE_REPLAY_INCOMPLETE, CS_REPLAY_NO_RESULT);
    cr_expect_eq(cell(&c, 0)->err.code, CS_CODE_UNANSWERED_CONNECTION);
    cr_expect_eq(peer_connections(c.peers[0]), 2);
    replay_scene_end(&c);
}

Test(replay, a_run_that_fails_its_checks_is_no_result) {
    replay_scene c;
    replay_scene_begin(&c);
    sample lying;
    sample_init(&lying);
    canon_set(&lying.after->sandbox, "bwrap");
    live_run(&c.scripts[0], &lying);
    sample_free(&lying);
    replay(&c, 2);
    replay_scene_expect_end(&c, CS_FAILED, CS_CODE_REPLAY_INCOMPLETE, CS_REPLAY_NO_RESULT);
    cr_expect_eq(cell(&c, 0)->err.code, CS_CODE_PROVIDER_DRIFT);
    replay_scene_end(&c);
}

/* A daemon that answers with an old record did not show that it ran anything. */
Test(replay, a_record_seen_before_is_no_new_run) {
    static const struct {
        unsigned first, second, third; /* 0: the stored run itself */
        cs_code code;
        unsigned runs;
    } twins[] = {
        {1, 2, 3, CS_CODE_OK, 3},
        {0, 1, 2, CS_CODE_RECORD_DUPLICATE, 0},
        {1, 0, 2, CS_CODE_RECORD_DUPLICATE, 1},
        {1, 1, 2, CS_CODE_RECORD_DUPLICATE, 1},
        {1, 2, 1, CS_CODE_RECORD_DUPLICATE, 2},
    };
    for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
        bool good = twins[i].code == CS_CODE_OK;
        replay_scene c;
        replay_scene_begin(&c);
        script_run_of(&c, 0, "2\n", twins[i].first);
        script_run_of(&c, 0, "2\n", twins[i].second);
        script_run_of(&c, 0, "2\n", twins[i].third);
        replay(&c, 3);
        replay_scene_expect_end(&c, good ? CS_OK : CS_UNCHECKED, CS_CODE_REPLAY_INCOMPLETE,
                                good ? CS_REPLAY_REPRODUCED : CS_REPLAY_NO_RESULT);
        cr_expect_eq(cell(&c, 0)->err.code, twins[i].code, "%zu: %s", i, cell(&c, 0)->err.message);
        cr_expect_eq(cell(&c, 0)->runs, twins[i].runs, "%zu", i);
        replay_scene_end(&c);
    }
}

Test(replay, a_difference_on_one_daemon_outranks_no_result_on_another) {
    replay_scene c;
    replay_scene_begin(&c);
    c.count = 2;
    script_run(&c, 0, "22\n");
    script_run(&c, 0, "22\n");
    live_step(&c.scripts[1], live_refusal());
    replay(&c, 2);
    replay_scene_expect_end(&c, CS_FAILED, CS_CODE_REPLAY_DIFFERS, CS_REPLAY_DIFFERENT);
    replay_scene_end(&c);
}

/* ---- the protocol --------------------------------------------------------------------------- */

/* Stored under protocol 2; the daemon serves 3, and the scripted record is of protocol 3. */
Test(replay, sends_the_protocol_of_the_daemon_and_says_so) {
    replay_scene c;
    replay_scene_begin(&c);
    script_run(&c, 0, "2\n");
    script_run(&c, 0, "2\n");
    c.stored.request->protocol = 2;
    replay(&c, 2);
    replay_scene_expect_end(&c, CS_OK, CS_CODE_OK, CS_REPLAY_REPRODUCED);
    cr_expect(cell(&c, 0)->protocol_changed);
    cr_expect_eq(cell(&c, 0)->protocol_sent, 3);
    cr_expect_eq(c.stored.request->protocol, 2, "the plan's own copy stays as it was");
    replay_scene_end(&c);
}

/* ---- the options ---------------------------------------------------------------------------- */

static void expect_refused_options(replay_scene *c, unsigned runs, size_t clients, cs_result result, cs_code code) {
    cs_replay_options options = {.clients = c->clients, .client_count = clients, .runs = runs};
    cr_expect_eq(cs_replay_run(&c->plan, &options, &c->report, &c->err), result);
    cr_expect_eq(c->err.code, code, "%s", cs_code_name(c->err.code));
    cr_expect_null(c->report.rows);
}

Test(replay, one_run_proves_nothing_and_is_refused) {
    replay_scene c;
    replay_scene_begin(&c);
    c.count = 0;
    expect_refused_options(&c, 1, 1, CS_USAGE, CS_CODE_USAGE);
    expect_refused_options(&c, 101, 1, CS_USAGE, CS_CODE_USAGE);
    expect_refused_options(&c, 2, 0, CS_USAGE, CS_CODE_USAGE);
    expect_refused_options(&c, 2, 17, CS_USAGE, CS_CODE_USAGE);
    c.plan.count = 0;
    expect_refused_options(&c, 2, 1, CS_NOTHING, CS_CODE_NOTHING_TO_CHECK);
    replay_scene_end(&c);
}
