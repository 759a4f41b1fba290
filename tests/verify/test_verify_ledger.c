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
