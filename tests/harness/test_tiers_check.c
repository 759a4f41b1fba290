/* The check against a scripted daemon: what happens when the way to a probe is barred. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "harness/guards.h"
#include "harness/tiers.h"
#include "tests/harness/tiers_case.h"
#include "tests/support/expect.h"
#include "tests/support/live_client.h"

typedef struct scene {
    live script;
    peer *daemon;
    cs_client *client;
    cs_tiers_report report;
} scene;

static cs_result check(scene *s, cs_tier_depth depth) {
    s->client = live_client(&s->script, &s->daemon);
    cs_tiers_options options = {.run = {.client = s->client, .skew_ms = CS_DEFAULT_SKEW_MS}, .depth = depth};
    return cs_tiers_check(&options, &s->report);
}

static void finish(scene *s) {
    cs_tiers_free(&s->report);
    cs_client_free(s->client);
    peer_free(s->daemon);
    live_free(&s->script);
}

Test(tiers_check, without_a_description_nothing_is_run) {
    scene s = {.client = NULL};
    live_step(&s.script, live_refusal());
    cr_expect_eq(check(&s, CS_DEPTH_HOST), CS_NOT_RUN);
    cr_expect_eq(s.report.err.code, CS_CODE_DESCRIBE_FAILED, "%s", s.report.err.message);
    cr_expect_not(s.report.ran[CS_PROBE_SCRIPT]);
    cr_expect_eq(s.report.claim, CS_TIER_UNKNOWN);
    peer_stop(s.daemon);
    cr_expect_eq(peer_connections(s.daemon), 1);
    finish(&s);
}

/* The daemon is asked for what it claims, and refuses. */
Test(tiers_check, a_refused_probe_did_not_run) {
    scene s = {.client = NULL};
    sample good;
    sample_init(&good);
    live_describe(&s.script, good.before);
    live_describe(&s.script, good.before);
    live_step(&s.script, live_refusal());
    cr_expect_eq(check(&s, CS_DEPTH_PROBE), CS_NOT_RUN);
    cr_expect_eq(s.report.err.code, CS_CODE_REFUSED_CAPACITY, "%s", s.report.err.message);
    cr_expect(s.report.ran[CS_PROBE_SCRIPT]);
    cr_expect_not(s.report.ran[CS_PROBE_PROGRAM]);
    cr_expect_eq(s.report.claim, cs_tier_parse(cs_bytes_view(&good.before->isolation)));
    cr_expect(cs_view_equal(cs_bytes_view(&s.report.runs[CS_PROBE_SCRIPT].request->minimum_isolation),
                            cs_bytes_view(&good.before->isolation)));
    sample_free(&good);
    finish(&s);
}

/* Another run's answer fails its own checks; what it states is laid side by side all the same. */
Test(tiers_check, a_run_that_fails_its_checks_ends_it) {
    scene s = {.client = NULL};
    sample good;
    sample_init(&good);
    cr_assert(cs_bytes_set(&good.after->isolation, cs_view_of("process")));
    live_describe(&s.script, good.before);
    live_run(&s.script, &good);
    cr_expect_eq(check(&s, CS_DEPTH_PROBE), CS_FAILED);
    cr_expect_eq(s.report.err.code, CS_CODE_REQUEST_DIGEST, "%s", s.report.err.message);
    const cs_tier_judgement *judgement = &s.report.judgements[tiers_rule("tier-statements")];
    cr_expect(judgement->asked);
    cr_expect_eq(judgement->verdict, CS_TIER_CONTRADICTED, "%s", judgement->observed);
    cr_expect_eq(s.report.judgements[tiers_rule("provider-statements")].verdict, CS_TIER_CONSISTENT);
    sample_free(&good);
    finish(&s);
}

Test(tiers_check, a_key_needs_a_ledger) {
    cs_tiers_report report;
    cs_tiers_options options = {.run = {.ledger = (cs_ledger *)&report}};
    cr_expect_eq(cs_tiers_check(&options, &report), CS_USAGE);
    cr_expect_eq(report.err.code, CS_CODE_USAGE);
    cs_tiers_free(&report);
}

/* ---- guards ---------------------------------------------------------------------------------------------- */

/* Where none can be tried at all, nothing was checked; that nothing is required changes it. */
Test(tiers_check, a_guard_required_of_a_daemon_without_projects_is_unchecked) {
    for (unsigned required = 0; required <= CS_GUARD_BIT(CS_GUARD_FILES); required++) {
        scene s = {.client = NULL};
        static cs_guards_report guards;
        sample good;
        sample_init(&good);
        good.before->supports_project = false;
        live_describe(&s.script, good.before);
        s.client = live_client(&s.script, &s.daemon);
        const cs_guards_options options = {.run = {.client = s.client, .skew_ms = CS_DEFAULT_SKEW_MS},
                                           .required = required};
        cr_expect_eq(cs_guards_check(&options, &guards), required != 0 ? CS_UNCHECKED : CS_OK);
        cr_expect_eq(guards.err.code, required != 0 ? CS_CODE_TIER_PROBE : CS_CODE_OK, "%s", guards.err.message);
        cr_expect_eq(guards.broken, required);
        cr_expect_eq(guards.findings[CS_GUARD_FILES].verdict, CS_GUARD_UNKNOWN);
        cs_guards_free(&guards);
        sample_free(&good);
        finish(&s);
    }
}
