/* One run from the request to the ledger, against a scripted daemon. */
#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run.h"
#include "tests/support/canon.h"
#include "tests/support/folder.h"
#include "tests/support/live_client.h"
#include "verify/verify.h"

/* Key, ledger and daemon of one test. */
typedef struct scene {
    char folder[128];
    char ledger_path[512];
    cs_public_key public_key;
    cs_key *key;
    cs_ledger *ledger;
    sample s;
    live script;
    peer *daemon;
    cs_client *client;
    cs_run_report report;
} scene;

#define MUST(call, err) cr_assert_eq((call), CS_OK, "%s", (err).message)

static void scene_init(scene *c) {
    *c = (scene){.key = NULL};
    cs_error err = CS_ERROR_INIT;
    folder_make(c->folder);
    c->key = live_key(c->folder, &c->public_key);
    (void)snprintf(c->ledger_path, sizeof c->ledger_path, "%s/ledger.db", c->folder);
    MUST(cs_ledger_open(c->ledger_path, 200, &c->ledger, &err), err);
    sample_init(&c->s);
}

/* Run the sample's request against the script. */
static void scene_run_request(scene *c, cs_run_request *request) {
    c->client = live_client(&c->script, &c->daemon);
    cs_run_options options = {.client = c->client,
                              .key = c->key,
                              .ledger = c->ledger,
                              .ledger_path = c->ledger_path,
                              .skew_ms = CS_DEFAULT_SKEW_MS};
    cs_result result = cs_run_once(&options, request, &c->report);
    cr_assert_eq(result, c->report.result);
}

static void scene_run(scene *c) {
    scene_run_request(c, live_request(&c->s));
    peer_stop(c->daemon);
}

static void scene_end(scene *c) {
    cs_run_report_free(&c->report);
    cs_client_free(c->client);
    peer_free(c->daemon);
    live_free(&c->script);
    sample_free(&c->s);
    cs_ledger_close(c->ledger);
    cs_key_free(c->key);
    folder_remove(c->folder);
}

static void expect_end(const scene *c, cs_result result, cs_code code) {
    cr_expect_eq(c->report.result, result, "%s", cs_result_word(c->report.result));
    cr_expect_eq(c->report.err.code, code, "%s: %s", cs_code_name(c->report.err.code), c->report.err.message);
}

/* The ledger verifies, with exactly so many runs and findings. */
static void expect_ledger(const scene *c, uint64_t runs, uint64_t findings) {
    cs_trust trust = {.count = 0};
    cs_error err = CS_ERROR_INIT;
    MUST(cs_trust_add(&trust, &c->public_key, &err), err);
    cs_source *source = NULL;
    MUST(cs_source_open(c->ledger_path, &source, &err), err);
    cs_verify_options options = {.trust = &trust};
    cs_verify_summary summary;
    cs_result result = cs_verify_source(source, &options, &summary, &err);
    cs_source_close(source);
    cr_expect_eq(result, runs > 0 ? CS_OK : CS_NOTHING, "%s: %s", cs_result_word(result), err.message);
    cr_expect_eq(summary.runs, runs);
    cr_expect_eq(summary.findings, findings);
    cr_expect_eq(summary.entries, runs + findings);
    cr_expect_eq(summary.failures, 0);
}

/* What the one finding holds. */
static void expect_finding(const scene *c, const char *code, cs_view response) {
    cs_error err = CS_ERROR_INIT;
    cs_source *source = NULL;
    cs_entry entry;
    bool more = false;
    MUST(cs_source_open(c->ledger_path, &source, &err), err);
    MUST(cs_source_next(source, &entry, &more, &err), err);
    cr_assert(more && entry.finding);
    cr_expect(cs_view_is(entry.row->code, code), "%.*s", (int)entry.row->code.len, (const char *)entry.row->code.ptr);
    cr_expect(cs_view_equal(entry.row->response, response), "%zu bytes", entry.row->response.len);
    cr_expect(cs_view_equal(entry.row->request, cs_buf_view(&c->report.request_bytes)));
    cr_expect_gt(entry.row->detail.len, 0);
    cr_expect_null(entry.row->envelope.ptr);
    cs_source_close(source);
}

/* ---- what was there before ------------------------------------------------------------------ */

static size_t duplicates(const cs_run_report *report) {
    size_t count = 0;
    for (size_t i = 0; i < report->checked.warning_count; i++)
        count += report->checked.warnings[i] == CS_CODE_RECORD_DUPLICATE;
    return count;
}

/* The daemon answers a second run with the first one's record, or with a new one that has the same result. */
Test(run, a_record_that_is_in_the_ledger_already) {
    for (int again = 0; again < 2; again++) {
        scene c;
        scene_init(&c);
        live_run(&c.script, &c.s);
        if (!again) sample_again(&c.s);
        live_run(&c.script, &c.s);
        scene_run_request(&c, live_request(&c.s));
        cr_expect_eq(c.report.repeats, 0);
        cr_expect_eq(duplicates(&c.report), 0);
        cs_run_report_free(&c.report);
        cs_run_options options = {.client = c.client,
                                  .key = c.key,
                                  .ledger = c.ledger,
                                  .ledger_path = c.ledger_path,
                                  .skew_ms = CS_DEFAULT_SKEW_MS};
        cr_expect_eq(cs_run_once(&options, live_request(&c.s), &c.report), CS_OK, "%s", c.report.err.message);
        peer_stop(c.daemon);
        cr_expect_eq(c.report.entry, 2);
        cr_expect_eq(c.report.repeats, again ? 1 : 0);
        cr_expect_eq(duplicates(&c.report), again ? 1 : 0);
        scene_end(&c);
    }
}

/* ---- what goes well ------------------------------------------------------------------------- */

Test(run, signs_and_keeps_what_passed) {
    scene c;
    scene_init(&c);
    live_run(&c.script, &c.s);
    scene_run(&c);
    expect_end(&c, CS_OK, CS_CODE_OK);
    cr_expect(c.report.ran);
    cr_expect_eq(c.report.entry, 1);
    cr_expect_gt(c.report.envelope.len, 0);
    cr_expect_eq(peer_connections(c.daemon), 3);
    cr_expect_str_eq(c.report.side_file, "");
    /* The sample is from 2023, and our clock is not. */
    cr_assert_eq(c.report.checked.warning_count, 1);
    cr_expect_eq(c.report.checked.warnings[0], CS_CODE_CLOCK_SKEW);
    expect_ledger(&c, 1, 0);
    scene_end(&c);
}

Test(run, keeps_both_statements_of_the_daemon) {
    scene c;
    scene_init(&c);
    live_run(&c.script, &c.s);
    scene_run(&c);
    cs_error err = CS_ERROR_INIT;
    cs_source *source = NULL;
    cs_entry entry;
    bool more = false;
    MUST(cs_source_open(c.ledger_path, &source, &err), err);
    MUST(cs_source_next(source, &entry, &more, &err), err);
    cr_expect(cs_view_equal(entry.row->describe_before, c.script.steps[0].body));
    cr_expect(cs_view_equal(entry.row->describe_after, c.script.steps[2].body));
    cr_expect(cs_view_equal(entry.row->response, c.script.steps[1].body));
    cr_expect(cs_view_is(entry.row->daemon, cs_client_url(c.client)));
    cr_expect_gt(entry.row->added_unix_ms, SAMPLE_ENDED);
    cs_source_close(source);
    scene_end(&c);
}

/* The sample's record was made for protocol 3. */
Test(run, takes_the_protocol_that_the_daemon_describes) {
    scene c;
    scene_init(&c);
    live_run(&c.script, &c.s);
    cs_run_request *request = live_request(&c.s);
    request->protocol = 0;
    scene_run_request(&c, request);
    expect_end(&c, CS_OK, CS_CODE_OK);
    cr_expect_eq(c.report.request->protocol, 3);
    scene_end(&c);
}

Test(run, without_key_and_ledger_it_only_checks) {
    scene c;
    scene_init(&c);
    cs_key *key = c.key;
    cs_ledger *ledger = c.ledger;
    c.key = NULL;
    c.ledger = NULL;
    live_run(&c.script, &c.s);
    scene_run(&c);
    c.key = key;
    c.ledger = ledger;
    expect_end(&c, CS_OK, CS_CODE_OK);
    cr_expect_eq(c.report.envelope.len, 0);
    cr_expect_eq(c.report.entry, 0);
    expect_ledger(&c, 0, 0);
    scene_end(&c);
}

Test(run, a_key_without_a_ledger_is_refused) {
    scene c;
    scene_init(&c);
    cs_ledger *ledger = c.ledger;
    c.ledger = NULL;
    live_run(&c.script, &c.s);
    scene_run(&c);
    c.ledger = ledger;
    expect_end(&c, CS_USAGE, CS_CODE_USAGE);
    cr_expect_eq(peer_connections(c.daemon), 0);
    scene_end(&c);
}

/* ---- nothing ran ---------------------------------------------------------------------------- */

static void expect_nothing_ran(scene *c, cs_code code, size_t connections) {
    expect_end(c, CS_NOT_RUN, code);
    cr_expect_eq(peer_connections(c->daemon), connections);
    expect_ledger(c, 0, 0);
    scene_end(c);
}

Test(run, an_invalid_request_is_never_sent) {
    scene c;
    scene_init(&c);
    live_run(&c.script, &c.s);
    cs_run_request *request = live_request(&c.s);
    canon_set(&request->javascript->code, "");
    scene_run_request(&c, request);
    cr_expect_not(c.report.ran);
    expect_nothing_ran(&c, CS_CODE_REQUEST_INVALID, 0);
}

static cs_run_request *module_request(size_t rows) {
    static double values[64];
    Plimsoll__V1__ModuleRow row = PLIMSOLL__V1__MODULE_ROW__INIT;
    row.n_values = 64;
    row.values = values;
    for (size_t i = 0; i < 64; i++)
        values[i] = 1.5;
    Plimsoll__V1__ModuleRow **list = malloc(rows * sizeof(*list));
    cr_assert_not_null(list);
    for (size_t i = 0; i < rows; i++)
        list[i] = &row;
    Plimsoll__V1__ModuleRun module = PLIMSOLL__V1__MODULE_RUN__INIT;
    canon_set(&module.model, "m");
    module.n_rows = rows;
    module.rows = list;
    module.end_time = 1;
    module.step = 1;
    cs_run_request request = PLIMSOLL__V1__RUN_REQUEST__INIT;
    request.payload_case = PLIMSOLL__V1__RUN_REQUEST__PAYLOAD_MODULE;
    request.module = &module;
    ProtobufCMessage *copy = NULL;
    cs_error err = CS_ERROR_INIT;
    MUST(cs_message_copy(&request.base, &copy, &err), err);
    free(list);
    free(module.model.data);
    return (cs_run_request *)copy;
}

/* 16,000 rows of 515 bytes are 8.2 MB, 17,000 are more than 8 MiB. The smaller one is sent: what answers
 * it (a javascript result) is wrong, and that shows that it was. */
Test(run, a_request_over_8_mib_is_never_sent) {
    scene c;
    scene_init(&c);
    live_run(&c.script, &c.s);
    scene_run_request(&c, module_request(17000));
    cr_expect_not(c.report.ran);
    expect_nothing_ran(&c, CS_CODE_REQUEST_INVALID, 1);

    scene_init(&c);
    live_run(&c.script, &c.s);
    scene_run_request(&c, module_request(16000));
    cr_expect(c.report.ran);
    expect_end(&c, CS_FAILED, CS_CODE_REQUEST_DIGEST);
    scene_end(&c);
}

Test(run, a_failed_describe_means_that_nothing_ran) {
    scene c;
    scene_init(&c);
    live_step(&c.script, (peer_step){.head = NULL, .end = PEER_RESET});
    scene_run(&c);
    cr_expect_not(c.report.ran);
    cr_expect(c.report.outcome.elsewhere);
    expect_nothing_ran(&c, CS_CODE_DESCRIBE_FAILED, 1);
}

Test(run, a_refused_describe_means_that_nothing_ran) {
    scene c;
    scene_init(&c);
    live_step(&c.script, live_refusal());
    scene_run(&c);
    expect_nothing_ran(&c, CS_CODE_DESCRIBE_FAILED, 1);
}

static void described_protocol(uint32_t protocol) {
    scene c;
    scene_init(&c);
    c.s.before->protocol = protocol;
    live_run(&c.script, &c.s);
    scene_run(&c);
    expect_nothing_ran(&c, CS_CODE_DESCRIBE_FAILED, 1);
}

Test(run, a_protocol_that_is_not_spoken_here_means_that_nothing_ran) {
    described_protocol(0);
    described_protocol(5);
}

Test(run, a_refused_run_leaves_nothing) {
    scene c;
    scene_init(&c);
    live_describe(&c.script, c.s.before);
    live_step(&c.script, live_refusal());
    scene_run(&c);
    cr_expect_eq(c.report.outcome.state, CS_CALL_REFUSED);
    cr_expect(c.report.outcome.elsewhere);
    expect_nothing_ran(&c, CS_CODE_REFUSED_CAPACITY, 2);
}

/* ---- it may have run ------------------------------------------------------------------------ */

Test(run, an_unanswered_call_is_kept_as_a_finding_and_not_repeated) {
    scene c;
    scene_init(&c);
    live_describe(&c.script, c.s.before);
    live_step(&c.script, (peer_step){.head = NULL, .end = PEER_RESET});
    scene_run(&c);
    expect_end(&c, CS_MAYBE_RAN, CS_CODE_UNANSWERED_CONNECTION);
    cr_expect(c.report.ran);
    cr_expect_eq(peer_connections(c.daemon), 2);
    cr_expect_eq(c.report.entry, 1);
    expect_ledger(&c, 0, 1);
    expect_finding(&c, "unanswered-connection", cs_view_of(""));
    scene_end(&c);
}

Test(run, an_answer_that_is_not_bound_is_kept_with_its_bytes) {
    scene c;
    scene_init(&c);
    live_describe(&c.script, c.s.before);
    live_answer(&c.script, &c.s);
    c.script.steps[1].head = "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nContent-Length: {length}\r\n\r\n";
    scene_run(&c);
    expect_end(&c, CS_MAYBE_RAN, CS_CODE_UNANSWERED_UNBOUND);
    expect_ledger(&c, 0, 1);
    expect_finding(&c, "unanswered-unbound", c.script.steps[1].body);
    scene_end(&c);
}

/* ---- it ran, and what came back is wrong ----------------------------------------------------- */

static void wrong_result_digest(scene *c) {
    canon_set(&c->s.record->result_sha256, "0000000000000000000000000000000000000000000000000000000000000000");
    sample_seal(&c->s, SEAL_RECORD | SEAL_BYTES);
}

static void another_provider_after(scene *c) {
    canon_set(&c->s.after->sandbox, "bwrap");
}

static void another_tier_after(scene *c) {
    canon_set(&c->s.after->isolation, "vm");
}

static void below_the_floor(scene *c) {
    canon_set(&c->s.record->isolation, "process");
    canon_set(&c->s.response->isolation, "process");
    canon_set(&c->s.before->isolation, "process");
    canon_set(&c->s.after->isolation, "process");
    sample_seal(&c->s, SEAL_RECORD | SEAL_BYTES);
}

static void another_policy_before(scene *c) {
    canon_set(&c->s.before->policy, "policy:sha256:2");
}

static void hostile(void (*change)(scene *), cs_code code, const char *name) {
    scene c;
    scene_init(&c);
    change(&c);
    live_run(&c.script, &c.s);
    scene_run(&c);
    expect_end(&c, CS_FAILED, code);
    cr_expect_eq(c.report.entry, 1);
    cr_expect_eq(c.report.envelope.len, 0);
    cr_expect_null(c.report.checked.record);
    expect_ledger(&c, 0, 1);
    expect_finding(&c, name, c.script.steps[1].body);
    scene_end(&c);
}

/* signs_and_keeps_what_passed is the twin of each. */
Test(run, what_fails_a_check_is_one_finding_and_no_run) {
    hostile(wrong_result_digest, CS_CODE_RESULT_DIGEST, "result-digest");
    hostile(another_provider_after, CS_CODE_PROVIDER_DRIFT, "provider-drift");
    hostile(another_tier_after, CS_CODE_TIER_DRIFT, "tier-drift");
    hostile(below_the_floor, CS_CODE_TIER_BELOW_FLOOR, "tier-below-floor");
    hostile(another_policy_before, CS_CODE_POLICY_DRIFT, "policy-drift");
}

Test(run, a_failed_second_describe_leaves_the_answer_unchecked) {
    scene c;
    scene_init(&c);
    live_run(&c.script, &c.s);
    c.script.steps[2] = (peer_step){.head = NULL, .end = PEER_RESET};
    scene_run(&c);
    expect_end(&c, CS_UNCHECKED, CS_CODE_DESCRIBE_AFTER_FAILED);
    cr_expect_eq(c.report.envelope.len, 0);
    expect_ledger(&c, 0, 1);
    expect_finding(&c, "describe-after-failed", c.script.steps[1].body);
    scene_end(&c);
}

/* What is wrong by itself is wrong, whether or not the daemon describes itself once more. */
Test(run, a_wrong_answer_stays_wrong_when_the_second_describe_fails) {
    scene c;
    scene_init(&c);
    wrong_result_digest(&c);
    live_run(&c.script, &c.s);
    c.script.steps[2] = (peer_step){.head = NULL, .end = PEER_RESET};
    scene_run(&c);
    expect_end(&c, CS_FAILED, CS_CODE_RESULT_DIGEST);
    expect_ledger(&c, 0, 1);
    scene_end(&c);
}

/* ---- the ledger does not take it ------------------------------------------------------------- */

/* Another process holds the ledger from before the run until after it. */
static sqlite3 *hold_ledger(const scene *c) {
    sqlite3 *other = NULL;
    cr_assert_eq(sqlite3_open(c->ledger_path, &other), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    return other;
}

Test(run, a_signed_run_that_the_ledger_does_not_take_is_kept_aside) {
    scene c;
    scene_init(&c);
    sqlite3 *other = hold_ledger(&c);
    live_run(&c.script, &c.s);
    scene_run(&c);
    sqlite3_close(other);
    expect_end(&c, CS_UNCHECKED, CS_CODE_LEDGER_LOCKED);
    cr_expect_eq(c.report.entry, 0);
    cr_assert_neq(c.report.side_file[0], '\0');
    cr_expect_not_null(strstr(c.report.err.message, c.report.side_file), "%s", c.report.err.message);
    expect_ledger(&c, 0, 0);
    (void)snprintf(c.ledger_path, sizeof c.ledger_path, "%s", c.report.side_file);
    expect_ledger(&c, 1, 0); /* the side file verifies by itself */
    scene_end(&c);
}

Test(run, a_finding_that_the_ledger_does_not_take_keeps_its_verdict) {
    scene c;
    scene_init(&c);
    sqlite3 *other = hold_ledger(&c);
    wrong_result_digest(&c);
    live_run(&c.script, &c.s);
    scene_run(&c);
    sqlite3_close(other);
    expect_end(&c, CS_FAILED, CS_CODE_RESULT_DIGEST);
    cr_assert_neq(c.report.side_file[0], '\0');
    cr_expect_not_null(strstr(c.report.err.message, "ledger-locked"), "%s", c.report.err.message);
    size_t len = 0;
    char *text = file_read(c.report.side_file, &len);
    cr_assert_not_null(text);
    cr_expect_not_null(strstr(text, "\"code\":\"result-digest\""));
    free(text);
    scene_end(&c);
}
