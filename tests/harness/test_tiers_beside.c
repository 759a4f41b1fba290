/* A claim cross-checked beside a run that was made before: what else the daemon stated, and what the probes come to. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "harness/tiers.h"
#include "tests/harness/tiers_case.h"
#include "tests/support/canon.h"
#include "tests/support/expect.h"
#include "tests/support/folder.h"
#include "tests/support/live_client.h"
#include "tests/support/rows.h"
#include "verify/source.h"

/* A run that was made, signed and kept, and the daemon that it was made on. */
typedef struct scene {
    char folder[128];
    char ledger_path[256];
    cs_key *key;
    cs_ledger *ledger;
    sample good;
    sample other; /* what the daemon stated before */
    live script;
    peer *daemon;
    cs_client *client;
    cs_tiers_options options;
    cs_run_report run;
    cs_said earlier;
    cs_tiers_report report;
} scene;

/* The script begins with the run. */
static void begin(scene *c) {
    memset(c, 0, sizeof *c);
    cs_error err = CS_ERROR_INIT;
    cs_public_key public_key;
    folder_make(c->folder);
    c->key = live_key(c->folder, &public_key);
    (void)snprintf(c->ledger_path, sizeof c->ledger_path, "%s/ledger.db", c->folder);
    EXPECT_OK(cs_ledger_open(c->ledger_path, 5000, &c->ledger, &err), err);
    sample_init(&c->good);
    sample_init(&c->other);
    live_run(&c->script, &c->good);
}

static void start(scene *c) {
    c->client = live_client(&c->script, &c->daemon);
    c->options = (cs_tiers_options){.run = {.client = c->client,
                                            .key = c->key,
                                            .ledger = c->ledger,
                                            .ledger_path = c->ledger_path,
                                            .skew_ms = CS_DEFAULT_SKEW_MS},
                                    .of = &c->run};
}

/* An entry that is in the ledger before the run: the sample `other`. */
static void remember(scene *c, const char *daemon) {
    cs_error err = CS_ERROR_INIT;
    int64_t id = 0;
    sample_seal(&c->other, SEAL_ALL);
    cs_ledger_row row = rows_run();
    row.daemon = cs_view_of(daemon);
    row.response = cs_view_bytes(c->other.bytes, c->other.len);
    EXPECT_OK(cs_ledger_append(c->ledger, &row, &id, &err), err);
}

static cs_result check(scene *c, cs_tier_depth depth) {
    EXPECT_OK(cs_run_once(&c->options.run, live_request(&c->good), &c->run), c->run.err);
    c->options.depth = depth;
    cs_result result = cs_tiers_check(&c->options, &c->report);
    cr_assert_eq(result, c->report.result);
    peer_stop(c->daemon);
    return result;
}

static void finish(scene *c) {
    cs_tiers_free(&c->report);
    cs_run_report_free(&c->run);
    cs_client_free(c->client);
    peer_free(c->daemon);
    live_free(&c->script);
    sample_free(&c->good);
    sample_free(&c->other);
    cs_ledger_close(c->ledger);
    cs_key_free(c->key);
    folder_remove(c->folder);
}

static cs_tier_verdict verdict(const scene *c, const char *rule) {
    return c->report.judgements[tiers_rule(rule)].verdict;
}

#define EXPECT_VERDICT(c, rule, want)                                                                                  \
    cr_expect_eq(verdict((c), (rule)), (want), "%s: %s: %s", (rule), cs_tier_verdict_word(verdict((c), (rule))),       \
                 (c)->report.judgements[tiers_rule(rule)].observed)

/* How many findings the ledger holds, and that the last one has the run's bytes. */
static void expect_findings(const scene *c, size_t want, const char *code, bool of_the_run) {
    cs_error err = CS_ERROR_INIT;
    cs_source *source = NULL;
    size_t count = 0;
    EXPECT_OK(cs_source_open(c->ledger_path, &source, &err), err);
    for (bool more = true; more;) {
        cs_entry entry;
        EXPECT_OK(cs_source_next(source, &entry, &more, &err), err);
        if (!more || !entry.finding || ++count != want) continue;
        cr_expect(cs_view_is(entry.row->code, code), "%.*s", (int)entry.row->code.len, entry.row->code.ptr);
        cr_expect_eq(cs_view_equal(entry.row->request, cs_buf_view(&c->run.request_bytes)), of_the_run);
        if (of_the_run) cr_expect(cs_view_equal(entry.row->response, cs_view_bytes(c->good.bytes, c->good.len)));
    }
    cs_source_close(source);
    cr_expect_eq(count, want);
}

/* ---- statements ------------------------------------------------------------------------------------------- */

Test(tiers_beside, statements_need_nothing_more_than_the_run) {
    scene c;
    begin(&c);
    start(&c);
    cr_expect_eq(check(&c, CS_DEPTH_STATEMENTS), CS_OK, "%s", c.report.err.message);
    cr_expect_eq(peer_connections(c.daemon), 3);
    cr_expect_eq(c.report.claim, CS_TIER_KERNEL);
    cr_expect_eq(c.report.contradictions, 0);
    cr_expect_not(c.report.ran[CS_PROBE_SCRIPT]);
    cr_expect_not(c.report.ran[CS_PROBE_PROGRAM]);
    EXPECT_VERDICT(&c, "tier-statements", CS_TIER_CONSISTENT);
    EXPECT_VERDICT(&c, "provider-statements", CS_TIER_CONSISTENT);
    EXPECT_VERDICT(&c, "policy-statements", CS_TIER_CONSISTENT);
    EXPECT_VERDICT(&c, "floor-statements", CS_TIER_CONSISTENT);
    EXPECT_VERDICT(&c, "ledger-statements", CS_TIER_SILENT);
    cr_expect_not(c.report.judgements[tiers_rule("probe-nonce")].asked);
    expect_findings(&c, 0, NULL, false);
    finish(&c);
}

Test(tiers_beside, another_record_with_another_tier_contradicts_and_the_run_is_the_finding) {
    scene c;
    begin(&c);
    start(&c);
    canon_set(&c.other.record->isolation, "container");
    remember(&c, peer_url(c.daemon));
    cr_expect_eq(check(&c, CS_DEPTH_STATEMENTS), CS_FAILED);
    cr_expect_eq(c.report.err.code, CS_CODE_TIER_CONTRADICTED, "%s", c.report.err.message);
    EXPECT_VERDICT(&c, "ledger-statements", CS_TIER_CONTRADICTED);
    cr_expect_eq(c.report.contradictions, 1);
    cr_expect_eq(c.run.entry, 2);
    cr_expect_eq(c.run.result, CS_OK);
    cr_expect_eq(c.report.finding, 3);
    expect_findings(&c, 1, "tier-contradicted", true);
    finish(&c);
}

/* An entry that is in the ledger before the run: a finding about the sample `other`. */
static void remember_finding(scene *c, const char *daemon, bool readable) {
    cs_error err = CS_ERROR_INIT;
    int64_t id = 0;
    sample_seal(&c->other, SEAL_ALL);
    cs_ledger_row row = rows_finding();
    row.daemon = cs_view_of(daemon);
    row.code = cs_view_of("tier-contradicted");
    if (readable) row.response = cs_view_bytes(c->other.bytes, c->other.len);
    EXPECT_OK(cs_ledger_append(c->ledger, &row, &id, &err), err);
}

/* Beside a record that states the same, with which alone the rule is consistent. */
Test(tiers_beside, a_claim_that_was_refuted_before_is_refuted) {
    static const cs_tier_verdict want[] = {CS_TIER_CONTRADICTED, CS_TIER_CONSISTENT, CS_TIER_CONSISTENT,
                                           CS_TIER_SILENT};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        scene c;
        begin(&c);
        start(&c);
        remember(&c, peer_url(c.daemon));
        if (i == 1) canon_set(&c.other.record->isolation, "vm");
        remember_finding(&c, i == 2 ? "http://127.0.0.1:1" : peer_url(c.daemon), i != 3);
        cr_expect_eq(check(&c, CS_DEPTH_STATEMENTS), i == 0 ? CS_FAILED : CS_OK, "%zu: %s", i, c.report.err.message);
        EXPECT_VERDICT(&c, "ledger-statements", want[i]);
        const char *observed = c.report.judgements[tiers_rule("ledger-statements")].observed;
        cr_expect_eq(strstr(observed, "entry 2 of this ledger is a finding that refutes the same claim") != NULL,
                     i == 0, "%s", observed);
        cr_expect_eq(strstr(observed, "entry 2 of this ledger is a finding that refutes a claim") != NULL, i == 3, "%s",
                     observed);
        cr_expect_eq(c.report.contradictions, i == 0 ? 1 : 0);
        if (i == 0) cr_expect_eq(c.report.err.code, CS_CODE_TIER_CONTRADICTED);
        expect_findings(&c, 1, "tier-contradicted", false); /* it is not kept once more */
        cr_expect_eq(c.report.finding, i == 0 ? 2 : 0);
        finish(&c);
    }
}

/* Entries about another daemon, up to this id. */
static void fill_up_to(scene *c, int64_t last) {
    cs_error err = CS_ERROR_INIT;
    int64_t id = 0;
    EXPECT_OK(cs_ledger_begin(c->ledger, &err), err);
    while (id < last) {
        cs_ledger_row row = rows_finding();
        EXPECT_OK(cs_ledger_append(c->ledger, &row, &id, &err), err);
    }
    EXPECT_OK(cs_ledger_commit(c->ledger, &err), err);
}

/* Half of the entries that are looked at: then the finding is kept anew, before it is out of sight. */
Test(tiers_beside, a_finding_that_is_old_is_kept_anew) {
    for (int64_t i = 0; i < 2; i++) {
        scene c;
        begin(&c);
        start(&c);
        remember_finding(&c, peer_url(c.daemon), true);
        fill_up_to(&c, 500 + i);
        cr_expect_eq(check(&c, CS_DEPTH_STATEMENTS), CS_FAILED, "%s", c.report.err.message);
        cr_expect_eq(c.run.entry, 501 + i);
        cr_expect_eq(c.report.finding, i == 0 ? 1 : 503);
        finish(&c);
    }
}

/* Then another record contradicts as well, and that is none of what the ledger holds as a finding. */
Test(tiers_beside, what_contradicts_besides_is_kept) {
    static const char *const tiers[] = {"kernel", "container"};
    for (size_t i = 0; i < 2; i++) {
        scene c;
        begin(&c);
        start(&c);
        remember_finding(&c, peer_url(c.daemon), true);
        canon_set(&c.other.record->isolation, tiers[i]);
        remember(&c, peer_url(c.daemon));
        cr_expect_eq(check(&c, CS_DEPTH_STATEMENTS), CS_FAILED, "%s", c.report.err.message);
        cr_expect_eq(c.report.contradictions, 1);
        cr_expect_eq(c.report.finding, i == 0 ? 1 : 4);
        finish(&c);
    }
}

/* Around a session's call nothing is described; what was described before its session says whose call it was. */
Test(tiers_beside, the_finding_has_what_was_described_before_the_session) {
    static uint8_t text[] = "described before the session";
    for (size_t i = 0; i < 2; i++) {
        scene c;
        cs_error err = CS_ERROR_INIT;
        cs_source *source = NULL;
        cs_entry entry;
        bool more = true;
        cs_outcome described = {.bytes = {.ptr = text, .len = sizeof text}};
        begin(&c);
        start(&c);
        canon_set(&c.other.record->isolation, "container");
        remember(&c, peer_url(c.daemon));
        if (i == 1) c.options.described = &described;
        cr_expect_eq(check(&c, CS_DEPTH_STATEMENTS), CS_FAILED, "%s", c.report.err.message);
        cs_view want = i == 1 ? cs_view_bytes(text, sizeof text) : cs_buf_view(&c.run.before.bytes);
        cr_assert_gt(want.len, 0);
        EXPECT_OK(cs_source_open(c.ledger_path, &source, &err), err);
        while (more) {
            EXPECT_OK(cs_source_next(source, &entry, &more, &err), err);
            if (more && entry.finding) cr_expect(cs_view_equal(entry.row->describe_before, want), "%zu", i);
        }
        cs_source_close(source);
        expect_findings(&c, 1, "tier-contradicted", true);
        finish(&c);
    }
}

static void same_tier(scene *c) {
    canon_set(&c->other.record->isolation, "kernel");
}

static void other_policy(scene *c) {
    canon_set(&c->other.record->policy, "another policy");
}

static void other_environment(scene *c) {
    canon_set(&c->other.record->environment, "another environment");
}

static void other_provider(scene *c) {
    canon_set(&c->other.record->provider, "another provider");
}

/* Each differs from the record that contradicts in one thing. */
Test(tiers_beside, a_record_of_something_else_does_not) {
    void (*const changes[])(scene *) = {same_tier, other_policy, other_environment, other_provider, NULL};
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        scene c;
        begin(&c);
        start(&c);
        canon_set(&c.other.record->isolation, "container");
        if (changes[i] != NULL) changes[i](&c);
        remember(&c, changes[i] != NULL ? peer_url(c.daemon) : "http://127.0.0.1:1");
        cr_expect_eq(check(&c, CS_DEPTH_STATEMENTS), CS_OK, "%zu: %s", i, c.report.err.message);
        EXPECT_VERDICT(&c, "ledger-statements", i == 0 ? CS_TIER_CONSISTENT : CS_TIER_SILENT);
        finish(&c);
    }
}

static void say(cs_said *said, const char *tier) {
    *said = (cs_said){.tier = {[CS_SAID_RECORD] = cs_view_of(tier)}};
}

Test(tiers_beside, an_earlier_run_with_another_tier_contradicts) {
    for (size_t i = 0; i < 2; i++) {
        scene c;
        begin(&c);
        start(&c);
        say(&c.earlier, i == 0 ? "kernel" : "vm");
        c.options.earlier = &c.earlier;
        cr_expect_eq(check(&c, CS_DEPTH_STATEMENTS), i == 0 ? CS_OK : CS_FAILED, "%s", c.report.err.message);
        EXPECT_VERDICT(&c, "tier-statements", i == 0 ? CS_TIER_CONSISTENT : CS_TIER_CONTRADICTED);
        cr_expect_eq(c.report.claim, CS_TIER_KERNEL);
        finish(&c);
    }
}

/* The run is signed: what can't be read beside it leaves its claim unchecked, and does not make it wrong. */
Test(tiers_beside, a_ledger_that_can_not_be_read_is_unchecked) {
    scene c;
    begin(&c);
    start(&c);
    char gone[300];
    (void)snprintf(gone, sizeof gone, "%s/gone.db", c.folder);
    c.options.run.ledger_path = gone;
    cr_expect_eq(check(&c, CS_DEPTH_STATEMENTS), CS_UNCHECKED);
    cr_expect_eq(c.report.err.code, CS_CODE_IO, "%s", c.report.err.message);
    finish(&c);
}

/* ---- with the probes -------------------------------------------------------------------------------------- */

/* Neither class may say of the run that nothing ran, or that it may have: it did. */
Test(tiers_beside, a_probe_that_can_not_be_made_is_unchecked) {
    const peer_step lost = {.head = NULL, .end = PEER_RESET};
    for (size_t i = 0; i < 3; i++) {
        scene c;
        begin(&c);
        if (i == 0) live_step(&c.script, live_refusal());
        for (size_t k = 0; k < 2 && i > 0; k++)
            live_describe(&c.script, c.good.before);
        if (i > 0) live_step(&c.script, i == 1 ? live_refusal() : lost);
        start(&c);
        cr_expect_eq(check(&c, CS_DEPTH_PROBE), CS_UNCHECKED, "%zu", i);
        cr_expect_eq(c.report.err.code, CS_CODE_TIER_PROBE, "%zu: %s", i, c.report.err.message);
        cr_expect_not_null(strstr(c.report.err.message, i == 0   ? "[describe-failed]"
                                                        : i == 1 ? "[refused-capacity]"
                                                                 : "[unanswered-connection]"),
                           "%s", c.report.err.message);
        EXPECT_VERDICT(&c, "tier-statements", CS_TIER_CONSISTENT);
        expect_findings(&c, i == 2 ? 1 : 0, "unanswered-connection", false);
        finish(&c);
    }
}

/* An answer that is no answer to the probe is wrong, and stays so. */
Test(tiers_beside, a_probe_that_fails_its_checks_fails) {
    scene c;
    begin(&c);
    live_describe(&c.script, c.good.before);
    live_run(&c.script, &c.good);
    start(&c);
    cr_expect_eq(check(&c, CS_DEPTH_PROBE), CS_FAILED);
    cr_expect_eq(c.report.err.code, CS_CODE_REQUEST_DIGEST, "%s", c.report.err.message);
    cr_expect_eq(c.report.contradictions, 0);
    cr_expect_eq(c.report.runs[CS_PROBE_SCRIPT].entry, 2);
    cr_expect_eq(c.report.finding, 0);
    expect_findings(&c, 1, "request-digest", false);
    finish(&c);
}

/* What a probe's run states counts also when it does not come to an end. */
Test(tiers_beside, a_probe_s_run_that_states_another_tier_contradicts) {
    for (size_t i = 0; i < 2; i++) {
        scene c;
        begin(&c);
        cr_assert(cs_bytes_set(&c.good.after->isolation, cs_view_of(i == 0 ? "kernel" : "container")));
        live_describe(&c.script, c.good.before);
        live_describe(&c.script, c.good.after);
        live_step(&c.script, live_refusal());
        start(&c);
        cr_expect_eq(check(&c, CS_DEPTH_PROBE), i == 0 ? CS_UNCHECKED : CS_FAILED, "%s", c.report.err.message);
        cr_expect_eq(c.report.err.code, i == 0 ? CS_CODE_TIER_PROBE : CS_CODE_TIER_CONTRADICTED, "%s",
                     c.report.err.message);
        EXPECT_VERDICT(&c, "tier-statements", i == 0 ? CS_TIER_CONSISTENT : CS_TIER_CONTRADICTED);
        cr_expect_eq(c.report.claim, CS_TIER_KERNEL);
        expect_findings(&c, i, "tier-contradicted", true);
        finish(&c);
    }
}

/* ---- the rules -------------------------------------------------------------------------------------------- */

typedef struct change {
    const char *rule;
    size_t run; /* whose statement is changed */
    size_t of;  /* offset in cs_said */
} change;

/* A view of one kind of statement, in the record. */
static cs_view *text_at(cs_tier_observations *seen, const change *t) {
    cs_view *texts = (cs_view *)(void *)((char *)&seen->said[t->run] + t->of);
    return &texts[CS_SAID_RECORD];
}

Test(tiers_beside, each_run_that_says_otherwise_is_heard) {
    static const char *const rules[] = {"tier-statements", "provider-statements", "policy-statements"};
    static const size_t offsets[] = {offsetof(cs_said, tier), offsetof(cs_said, provider), offsetof(cs_said, policy)};
    for (size_t i = 0; i < 3 * CS_SAID_RUNS; i++) {
        const change t = {.rule = rules[i % 3], .run = i / 3, .of = offsets[i % 3]};
        cs_tier_observations seen;
        cs_tier_judgement judgements[CS_TIER_MAX_RULES];
        tiers_honest(CS_TIER_VM, &seen);
        seen.said[CS_SAID_OF] = seen.said[CS_SAID_EARLIER] = seen.said[CS_PROBE_SCRIPT];
        cr_expect_eq(cs_tier_judge(&seen, CS_TIER_VM, CS_DEPTH_STATEMENTS, judgements), 0);
        *text_at(&seen, &t) = cs_view_of("container");
        cr_expect_geq(cs_tier_judge(&seen, CS_TIER_VM, CS_DEPTH_STATEMENTS, judgements), 1);
        const cs_tier_judgement *judgement = &judgements[tiers_rule(t.rule)];
        cr_expect_eq(judgement->verdict, CS_TIER_CONTRADICTED, "%s of run %zu: %s", t.rule, t.run, judgement->observed);
    }
}

Test(tiers_beside, a_floor_says_something_only_where_there_is_one) {
    static const struct {
        const char *floor;
        cs_tier_verdict want;
    } cases[] = {{"", CS_TIER_SILENT}, {"kernel", CS_TIER_CONSISTENT}, {"vm", CS_TIER_CONTRADICTED}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cs_tier_observations seen = {
            .said[CS_SAID_OF] = {.tier[CS_SAID_RECORD] = cs_view_of("kernel"), .floor = cs_view_of(cases[i].floor)}};
        cs_tier_judgement judgements[CS_TIER_MAX_RULES];
        (void)cs_tier_judge(&seen, CS_TIER_KERNEL, CS_DEPTH_STATEMENTS, judgements);
        const cs_tier_judgement *judgement = &judgements[tiers_rule("floor-statements")];
        cr_expect_eq(judgement->verdict, cases[i].want, "'%s': %s", cases[i].floor, judgement->observed);
    }
}
