/* Ledgers: what the verifier makes of their rows. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/verify/outcome.h"
#include "tests/verify/raw_ledger.h"

typedef struct ledger_case {
    forge_key key;
    char folder[32];
    char path[64];
    sqlite3 *db;
} ledger_case;

static ledger_case ledger_begin(void) {
    ledger_case out = {.key = forge_key_from(1), .folder = "/tmp/ledger-XXXXXX"};
    cr_assert_not_null(mkdtemp(out.folder));
    strcpy(out.path, forge_text("%s/ledger.db", out.folder));
    out.db = raw_create(out.path);
    return out;
}

static outcome ledger_verify(ledger_case *ledger) {
    raw_close(ledger->db);
    cs_trust trust = {.count = 0};
    trust_key(&trust, &ledger->key);
    outcome out = verify_path(ledger->path, &trust);
    ledger->db = raw_open(ledger->path);
    return out;
}

static void ledger_end(ledger_case *ledger) {
    raw_close(ledger->db);
    unlink(ledger->path);
    cr_expect_eq(rmdir(ledger->folder), 0, "something is left beside the ledger");
}

static cs_ledger_row run_row(const ledger_case *ledger, const forge_run *run, const char *record_sha256) {
    forge_bytes request = forge_request(run);
    forge_bytes response = forge_response(run);
    return (cs_ledger_row){.added_unix_ms = 1790000000100,
                           .kind = cs_view_of(CS_KIND_RUN),
                           .daemon = cs_view_of("http://127.0.0.1:8746"),
                           .code = cs_view_of(""),
                           .detail = cs_view_of(""),
                           .request = cs_view_bytes(request.ptr, request.len),
                           .response = cs_view_bytes(response.ptr, response.len),
                           .envelope = cs_view_of(forge_envelope(&ledger->key, forge_statement(run))),
                           .record_sha256 = cs_view_of(record_sha256)};
}

static void add_run(ledger_case *ledger, const forge_run *run) {
    raw_append(ledger->db, run_row(ledger, run, run->record_sha256));
}

static void add_finding(ledger_case *ledger) {
    forge_run run = forge_single();
    forge_bytes request = forge_request(&run);
    raw_append(ledger->db, (cs_ledger_row){.added_unix_ms = 1790000000200,
                                           .kind = cs_view_of(CS_KIND_FINDING),
                                           .daemon = cs_view_of("http://127.0.0.1:8746"),
                                           .code = cs_view_of("unanswered-timeout"),
                                           .detail = cs_view_of("no answer"),
                                           .request = cs_view_bytes(request.ptr, request.len),
                                           .record_sha256 = cs_view_of("")});
}

Test(verify_ledger, runs_and_findings) {
    ledger_case ledger = ledger_begin();
    forge_run run = forge_single();
    add_run(&ledger, &run);
    add_finding(&ledger);
    run.trace_id = "second";
    run.started++;
    forge_seal(&run);
    add_run(&ledger, &run);
    outcome out = ledger_verify(&ledger);
    check_outcome(out, CS_OK, "");
    cr_expect_str_eq(out.runs, "1 3");
    cr_expect_eq(out.summary.kind, CS_SOURCE_LEDGER);
    cr_expect_eq(out.summary.entries, 3);
    cr_expect_eq(out.summary.runs, 2);
    cr_expect_eq(out.summary.findings, 1);
    cr_expect_eq(out.summary.uncovered.trace_ids, 1);
    cr_expect_not(out.summary.linked);
    ledger_end(&ledger);
}

Test(verify_ledger, findings_alone_are_nothing_to_check) {
    ledger_case ledger = ledger_begin();
    add_finding(&ledger);
    outcome out = ledger_verify(&ledger);
    check_outcome(out, CS_NOTHING, "");
    cr_expect_eq(out.err.code, CS_CODE_NOTHING_TO_CHECK);
    cr_expect_eq(out.summary.findings, 1);
    cr_expect_eq(out.summary.runs, 0);
    ledger_end(&ledger);
}

Test(verify_ledger, the_column_by_which_a_run_is_found) {
    ledger_case ledger = ledger_begin();
    forge_run run = forge_single();
    add_run(&ledger, &run);
    forge_run other = run;
    other.started++;
    forge_seal(&other);
    raw_append(ledger.db, run_row(&ledger, &other, run.record_sha256));
    outcome out = ledger_verify(&ledger);
    check_outcome(out, CS_FAILED, "2 ledger-columns");
    cr_expect_str_eq(out.err.where, "entry 2");
    cr_expect_str_eq(out.runs, "1");
    ledger_end(&ledger);
}

Test(verify_ledger, the_record_checks_are_those_of_a_bundle) {
    ledger_case ledger = ledger_begin();
    forge_run run = forge_single();
    add_run(&ledger, &run);
    forge_run bad = run;
    bad.started++;
    forge_seal(&bad);
    bad.output = "43\n";
    add_run(&ledger, &bad);
    add_run(&ledger, &run);
    outcome out = ledger_verify(&ledger);
    check_outcome(out, CS_FAILED, "2 result-digest; 3 ~record-duplicate");
    cr_expect_str_eq(out.err.where, "entry 2: response");
    cr_expect_str_eq(out.runs, "1 3d");
    ledger_end(&ledger);
}

/* A row that the reader refuses is one fault of its own, and the walk goes on. */
Test(verify_ledger, a_row_that_was_changed) {
    ledger_case ledger = ledger_begin();
    forge_run run = forge_single();
    for (int i = 0; i < 3; i++) {
        run.started++;
        forge_seal(&run);
        add_run(&ledger, &run);
    }
    /* All triggers in their order, so that the schema is the same again. */
    raw_sql(ledger.db, "DROP TRIGGER entry_update; DROP TRIGGER entry_delete; DROP TRIGGER entry_insert");
    raw_sql(ledger.db, "UPDATE entry SET daemon = 'http://127.0.0.1:1' WHERE id = 2");
    for (size_t i = 1; cs_ledger_schema[i] != NULL; i++)
        raw_sql(ledger.db, cs_ledger_schema[i]);
    outcome out = ledger_verify(&ledger);
    check_outcome(out, CS_FAILED, "2 ledger-row");
    cr_expect_str_eq(out.err.where, "entry 2");
    cr_expect_str_eq(out.runs, "1 3");
    cr_expect_eq(out.summary.entries, 3);
    ledger_end(&ledger);
}

/* ---- sessions -------------------------------------------------------------------------------------- */

#define OTHER_SESSION "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* The next call of a session, of which `last` is the newest so far (NULL: none). */
static forge_run next_call(const char *session, const forge_run *last) {
    forge_run run = forge_single();
    run.session = session;
    run.sequence = last == NULL ? 1 : last->sequence + 1;
    run.previous = last == NULL ? "" : forge_text("%s", last->record_sha256);
    forge_seal(&run);
    return run;
}

static void add_unanswered(ledger_case *ledger, forge_run *run) {
    run->version = 3;
    run->unanswered = "internal";
    forge_seal(run);
    cs_ledger_row row = run_row(ledger, run, run->record_sha256);
    row.kind = cs_view_of(CS_KIND_UNANSWERED);
    row.response = (cs_view){0};
    raw_append(ledger->db, row);
}

static void add_close(ledger_case *ledger, const char *session, uint64_t calls, const char *last) {
    raw_append(ledger->db,
               (cs_ledger_row){.added_unix_ms = 1790000000300,
                               .kind = cs_view_of(CS_KIND_CLOSE),
                               .code = cs_view_of(""),
                               .detail = cs_view_of(""),
                               .daemon = cs_view_of("http://127.0.0.1:8746"),
                               .envelope = cs_view_of(forge_envelope(&ledger->key, forge_close(session, calls, last))),
                               .record_sha256 = cs_view_of("")});
}

/* Two sessions, single runs and a finding between one another. */
static void add_two_sessions(ledger_case *ledger, forge_run a[2], forge_run b[2]) {
    forge_run single = forge_single();
    a[0] = next_call(FORGE_SESSION, NULL);
    add_run(ledger, &a[0]); /* 1 */
    b[0] = next_call(OTHER_SESSION, NULL);
    add_run(ledger, &b[0]);   /* 2 */
    add_run(ledger, &single); /* 3 */
    a[1] = next_call(FORGE_SESSION, &a[0]);
    add_unanswered(ledger, &a[1]); /* 4 */
    add_finding(ledger);           /* 5 */
    b[1] = next_call(OTHER_SESSION, &b[0]);
    add_run(ledger, &b[1]); /* 6 */
}

Test(verify_ledger, sessions_and_runs_between_one_another) {
    ledger_case ledger = ledger_begin();
    forge_run a[2];
    forge_run b[2];
    add_two_sessions(&ledger, a, b);
    add_close(&ledger, FORGE_SESSION, 2, a[1].record_sha256);
    add_close(&ledger, OTHER_SESSION, 2, b[1].record_sha256);
    outcome out = ledger_verify(&ledger);
    check_outcome(out, CS_OK, "");
    cr_expect_str_eq(out.runs, "1 2 3 4u 6");
    cr_expect_eq(out.summary.sessions, 2);
    cr_expect_eq(out.summary.unanswered, 1);
    cr_expect_eq(out.summary.runs, 5);
    cr_expect_eq(out.summary.findings, 1);
    ledger_end(&ledger);
}

Test(verify_ledger, a_session_without_its_close) {
    ledger_case ledger = ledger_begin();
    forge_run a[2];
    forge_run b[2];
    add_two_sessions(&ledger, a, b);
    add_close(&ledger, OTHER_SESSION, 2, b[1].record_sha256);
    check_outcome(ledger_verify(&ledger), CS_FAILED, "4 chain-unclosed");
    ledger_end(&ledger);
}

Test(verify_ledger, a_close_that_is_not_its_sessions) {
    ledger_case ledger = ledger_begin();
    forge_run a[2];
    forge_run b[2];
    add_two_sessions(&ledger, a, b);
    add_close(&ledger, FORGE_SESSION, 1, a[0].record_sha256);
    add_close(&ledger, OTHER_SESSION, 2, a[1].record_sha256);
    check_outcome(ledger_verify(&ledger), CS_FAILED, "7 chain-close; 8 chain-close");
    ledger_end(&ledger);
}

Test(verify_ledger, a_session_that_goes_on_after_its_close) {
    ledger_case ledger = ledger_begin();
    forge_run first = next_call(FORGE_SESSION, NULL);
    add_run(&ledger, &first);
    add_close(&ledger, FORGE_SESSION, 1, first.record_sha256);
    check_outcome(ledger_verify(&ledger), CS_OK, "");
    forge_run second = next_call(FORGE_SESSION, &first);
    add_run(&ledger, &second);
    check_outcome(ledger_verify(&ledger), CS_FAILED, "3 chain-reopened");
    ledger_end(&ledger);
}

Test(verify_ledger, a_session_with_a_gap_or_another_record_before) {
    ledger_case ledger = ledger_begin();
    forge_run first = next_call(FORGE_SESSION, NULL);
    forge_run second = next_call(FORGE_SESSION, &first);
    forge_run third = next_call(FORGE_SESSION, &second);
    add_run(&ledger, &first);
    add_run(&ledger, &third);
    forge_run other = next_call(OTHER_SESSION, NULL);
    forge_run wrong = next_call(OTHER_SESSION, &other);
    wrong.previous = first.record_sha256;
    forge_seal(&wrong);
    add_run(&ledger, &other);
    add_run(&ledger, &wrong);
    add_close(&ledger, FORGE_SESSION, 3, third.record_sha256);
    add_close(&ledger, OTHER_SESSION, 2, wrong.record_sha256);
    outcome out = ledger_verify(&ledger);
    check_outcome(out, CS_FAILED, "2 chain-sequence; 4 chain-previous");
    cr_expect_eq(out.summary.sessions, 0);
    ledger_end(&ledger);
}

/* The column is as much a matter of an unanswered call as of a run. */
Test(verify_ledger, the_column_of_an_unanswered_call) {
    ledger_case ledger = ledger_begin();
    forge_run first = next_call(FORGE_SESSION, NULL);
    first.version = 3;
    first.unanswered = "internal";
    forge_seal(&first);
    cs_ledger_row row = run_row(&ledger, &first, forge_single().record_sha256);
    row.kind = cs_view_of(CS_KIND_UNANSWERED);
    row.response = (cs_view){0};
    raw_append(ledger.db, row);
    add_close(&ledger, FORGE_SESSION, 1, first.record_sha256);
    check_outcome(ledger_verify(&ledger), CS_FAILED, "1 ledger-columns");
    ledger_end(&ledger);
}
