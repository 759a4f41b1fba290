/* Statements of verdicts in a ledger: each checked like any other entry, and none ever taken for a run. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/verdicts.h"
#include "tests/verify/outcome.h"
#include "tests/verify/raw_ledger.h"

#define ADDED INT64_C(1789997600500)

typedef struct verdict_case {
    forge_key key;  /* of the harness */
    forge_key gate; /* of the gate */
    cs_trust trust;
    char folder[32];
    char path[64];
    sqlite3 *db;
} verdict_case;

static void verdict_begin(verdict_case *c) {
    *c = (verdict_case){.key = forge_key_from(1), .gate = forge_key_from(2), .folder = "/tmp/verdict-XXXXXX"};
    cr_assert_not_null(mkdtemp(c->folder));
    strcpy(c->path, forge_text("%s/ledger.db", c->folder));
    c->db = raw_create(c->path);
    trust_key(&c->trust, &c->key);
    trust_key(&c->trust, &c->gate);
}

static void verdict_end(verdict_case *c) {
    raw_close(c->db);
    unlink(c->path);
    cr_expect_eq(rmdir(c->folder), 0, "something is left beside the ledger");
}

static outcome verdict_verify(verdict_case *c) {
    raw_close(c->db);
    outcome out = verify_path(c->path, &c->trust);
    c->db = raw_open(c->path);
    return out;
}

static void add_this(verdict_case *c, const forge_run *run) {
    forge_bytes request = forge_request(run);
    forge_bytes response = forge_response(run);
    raw_append(c->db, (cs_ledger_row){.added_unix_ms = ADDED,
                                      .kind = cs_view_of(CS_KIND_RUN),
                                      .daemon = cs_view_of("http://127.0.0.1:8746"),
                                      .code = cs_view_of(""),
                                      .detail = cs_view_of(""),
                                      .request = cs_view_bytes(request.ptr, request.len),
                                      .response = cs_view_bytes(response.ptr, response.len),
                                      .envelope = cs_view_of(forge_envelope(&c->key, forge_statement(run))),
                                      .record_sha256 = cs_view_of(run->record_sha256)});
}

static void add_run(verdict_case *c) {
    forge_run run = forge_single();
    add_this(c, &run);
}

static cs_ledger_row verdict_row(cs_view envelope) {
    return (cs_ledger_row){.added_unix_ms = ADDED,
                           .kind = cs_view_of(CS_KIND_VERDICT),
                           .daemon = cs_view_of(""),
                           .code = cs_view_of(""),
                           .detail = cs_view_of(""),
                           .envelope = envelope,
                           .record_sha256 = cs_view_of("")};
}

static void add_verdict(verdict_case *c, const forge_key *key, const char *payload) {
    raw_append(c->db, verdict_row(cs_view_of(forge_envelope(key, payload))));
}

static void add_both(verdict_case *c, const forge_key *key) {
    verdict_text result = verdict_test_result();
    verdict_text summary = verdict_summary();
    add_verdict(c, key, verdict_payload(&result));
    add_verdict(c, key, verdict_payload(&summary));
}

Test(verify_verdict, behind_a_run) {
    verdict_case c;
    verdict_begin(&c);
    add_run(&c);
    add_both(&c, &c.gate);
    outcome out = verdict_verify(&c);
    check_outcome(out, CS_OK, "");
    cr_expect_str_eq(out.runs, "1");
    cr_expect_str_eq(out.entries, "1 run");
    cr_expect_eq(out.summary.entries, 3);
    cr_expect_eq(out.summary.runs, 1);
    cr_expect_eq(out.summary.verdicts, 2);
    cr_expect_eq(out.summary.sessions, 0);
    cr_expect_eq(out.summary.findings, 0);
    verdict_end(&c);
}

/* However well they are signed. */
Test(verify_verdict, alone_they_are_nothing_to_check) {
    verdict_case c;
    verdict_begin(&c);
    add_both(&c, &c.gate);
    outcome out = verdict_verify(&c);
    cr_expect_eq(out.result, CS_NOTHING);
    cr_expect_eq(out.err.code, CS_CODE_NOTHING_TO_CHECK);
    cr_expect_not_null(strstr(out.err.message, "statements of verdicts"));
    cr_expect_eq(out.summary.verdicts, 2);
    cr_expect_eq(out.summary.runs, 0);
    add_run(&c); /* the twin */
    out = verdict_verify(&c);
    check_outcome(out, CS_OK, "");
    verdict_end(&c);
}

Test(verify_verdict, a_key_that_is_not_trusted) {
    verdict_case c;
    verdict_begin(&c);
    add_run(&c);
    add_both(&c, &c.gate);
    c.trust = (cs_trust){.count = 0};
    trust_key(&c.trust, &c.key);
    outcome out = verdict_verify(&c);
    check_outcome(out, CS_FAILED, "2 envelope-key-unknown; 3 envelope-key-unknown");
    cr_expect_str_eq(out.err.where, "entry 2: envelope");
    cr_expect_eq(out.summary.verdicts, 0);
    cr_expect_eq(out.summary.runs, 1);
    verdict_end(&c);
}

typedef struct passed_over {
    uint64_t seen;
    uint64_t stop_at; /* 0: never */
} passed_over;

static cs_result on_verdict(void *user, const cs_entry *entry, cs_error *err) {
    passed_over *to = user;
    cr_expect(entry->verdict);
    to->seen++;
    if (entry->number == to->stop_at) return cs_fail(err, CS_CODE_NO_MEMORY, "no more of them");
    return CS_OK;
}

/* The same ledger for someone to whom only the runs are evidence. */
static outcome pass_over_to(verdict_case *c, passed_over *to) {
    outcome out = {.result = CS_UNCHECKED, .err = CS_ERROR_INIT};
    cs_source *source = NULL;
    raw_close(c->db);
    cr_assert_eq(cs_source_open(c->path, &source, &out.err), CS_OK, "%s", out.err.message);
    const cs_verify_options options = {
        .trust = &c->trust, .pass_over_verdicts = true, .on_verdict = to != NULL ? on_verdict : NULL, .user = to};
    out.result = cs_verify_source(source, &options, &out.summary, &out.err);
    cs_source_close(source);
    c->db = raw_open(c->path);
    return out;
}

static outcome pass_over(verdict_case *c) {
    return pass_over_to(c, NULL);
}

/* Whoever passes over them can see them; and what goes wrong there is no fault of the ledger, and ends the walk. */
Test(verify_verdict, what_is_passed_over_is_shown) {
    verdict_case c;
    verdict_begin(&c);
    add_run(&c);
    add_both(&c, &c.gate);
    raw_append(c.db, verdict_row(cs_view_of("{}")));
    c.trust = (cs_trust){.count = 0};
    trust_key(&c.trust, &c.key);
    passed_over to = {.seen = 0};
    outcome out = pass_over_to(&c, &to);
    check_outcome(out, CS_OK, "");
    cr_expect_eq(to.seen, 3);
    cr_expect_eq(out.summary.verdicts, 3);
    to = (passed_over){.stop_at = 3};
    out = pass_over_to(&c, &to);
    cr_expect_eq(out.result, CS_UNCHECKED);
    cr_expect_eq(out.err.code, CS_CODE_NO_MEMORY);
    cr_expect_eq(to.seen, 2);
    cr_expect_eq(out.summary.failures, 0);
    verdict_end(&c);
}

Test(verify_verdict, passed_over) {
    verdict_case c;
    verdict_begin(&c);
    add_run(&c);
    add_both(&c, &c.gate);
    raw_append(c.db, verdict_row(cs_view_of("{}")));
    c.trust = (cs_trust){.count = 0};
    trust_key(&c.trust, &c.key);
    outcome out = pass_over(&c);
    check_outcome(out, CS_OK, "");
    cr_expect_eq(out.summary.runs, 1);
    cr_expect_eq(out.summary.verdicts, 3);
    /* Their place in the chain of rows is checked all the same. */
    raw_sql(c.db, "DROP TRIGGER entry_update; DROP TRIGGER entry_delete; DROP TRIGGER entry_insert;"
                  "UPDATE entry SET envelope = CAST('{ }' AS BLOB) WHERE id = 4");
    for (int i = 1; i < 4; i++)
        raw_sql(c.db, cs_ledger_schema[i]);
    out = pass_over(&c);
    cr_expect_eq(out.result, CS_FAILED);
    cr_expect_eq(out.err.code, CS_CODE_LEDGER_ROW);
    cr_expect_eq(out.summary.failed_entry, 4);
    verdict_end(&c);
}

/* A row that is passed over explains nothing that is missing in a session. */
Test(verify_verdict, passed_over_it_is_no_hole) {
    verdict_case c;
    verdict_begin(&c);
    forge_bundle bundle = {.count = 0};
    forge_run runs[2];
    forge_session(&bundle, &c.key, FORGE_SESSION, 2, runs);
    raw_append(c.db, verdict_row(cs_view_of("{}"))); /* in the place of the first call */
    add_this(&c, &runs[1]);
    outcome out = pass_over(&c);
    cr_expect_eq(out.result, CS_FAILED);
    cr_expect_eq(out.err.code, CS_CODE_CHAIN_SEQUENCE);
    cr_expect_eq(out.summary.failed_entry, 2);
    verdict_end(&c);
}

/* ---- what it holds --------------------------------------------------------------------------------------- */

static void expect_payload(const char *payload, const char *findings) {
    verdict_case c;
    verdict_begin(&c);
    add_run(&c);
    add_verdict(&c, &c.gate, payload);
    outcome out = verdict_verify(&c);
    check_outcome(out, findings[0] == '\0' ? CS_OK : CS_FAILED, findings);
    cr_expect_eq(out.summary.verdicts, findings[0] == '\0');
    cr_expect_eq(out.summary.runs, 1);
    verdict_end(&c);
}

Test(verify_verdict, signed_well_and_not_of_the_form) {
    verdict_text text = verdict_test_result();
    expect_payload(verdict_payload(&text), "");
    text.tail = verdict_rules("\"sources\"", "", "\"protect\"");
    expect_payload(verdict_payload(&text), "2 statement-malformed");
    text = verdict_summary();
    expect_payload(verdict_payload(&text), "");
    text.commit = "\"main\"";
    expect_payload(verdict_payload(&text), "2 statement-subject");
    forge_run run = forge_single();
    expect_payload(forge_statement(&run), "2 statement-malformed");
    expect_payload(forge_close(FORGE_SESSION, 0, ""), "2 statement-malformed");
}

/* What is signed as a verdict is none of the other kinds. */
Test(verify_verdict, in_the_place_of_another) {
    verdict_case c;
    verdict_begin(&c);
    verdict_text text = verdict_test_result();
    add_run(&c);
    cs_ledger_row row = verdict_row(cs_view_of(forge_envelope(&c.key, verdict_payload(&text))));
    row.kind = cs_view_of(CS_KIND_CLOSE);
    raw_append(c.db, row);
    outcome out = verdict_verify(&c);
    cr_expect_eq(out.result, CS_FAILED);
    check_outcome(out, CS_FAILED, "2 statement-malformed");
    cr_expect_eq(out.summary.verdicts, 0);
    verdict_end(&c);
}

/* ---- every byte -------------------------------------------------------------------------------------------- */

/* The entries that failed, in their order. */
typedef struct failing {
    uint64_t next;
    uint64_t count;
} failing;

static void on_finding(void *user, const cs_finding *finding) {
    failing *f = user;
    cr_expect_eq(finding->entry, f->next, "entry %llu", (unsigned long long)f->next);
    f->next = finding->entry + 1;
    f->count++;
}

/* A run, the statement as it is, and it once more for each of its bytes, of which that one is another. */
static void flip_all(const char *payload) {
    verdict_case c;
    verdict_begin(&c);
    char *envelope = forge_envelope(&c.gate, payload);
    size_t len = strlen(envelope);
    raw_sql(c.db, "BEGIN");
    add_run(&c);
    raw_append(c.db, verdict_row(cs_view_bytes(envelope, len)));
    for (size_t at = 0; at < len; at++) {
        envelope[at] ^= 1;
        raw_append(c.db, verdict_row(cs_view_bytes(envelope, len)));
        envelope[at] ^= 1;
    }
    raw_sql(c.db, "COMMIT");
    raw_close(c.db);
    failing f = {.next = 3};
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_verify_summary summary;
    cr_assert_eq(cs_source_open(c.path, &source, &err), CS_OK, "%s", err.message);
    const cs_verify_options options = {.trust = &c.trust, .on_finding = on_finding, .user = &f};
    cr_expect_eq(cs_verify_source(source, &options, &summary, &err), CS_FAILED);
    cs_source_close(source);
    cr_expect_gt(len, 500);
    cr_expect_eq(f.count, len);
    cr_expect_eq(summary.failures, len);
    cr_expect_eq(summary.failed_entry, 3);
    cr_expect_eq(summary.verdicts, 1);
    cr_expect_eq(summary.runs, 1);
    c.db = raw_open(c.path);
    verdict_end(&c);
}

Test(verify_verdict, every_byte_of_a_test_result) {
    verdict_text text = verdict_test_result();
    flip_all(verdict_payload(&text));
}

Test(verify_verdict, every_byte_of_a_summary) {
    verdict_text text = verdict_summary();
    flip_all(verdict_payload(&text));
}

/* ---- the window of its key --------------------------------------------------------------------------------- */

static void expect_window(bool summary, int64_t from, int64_t to, bool good) {
    verdict_case c;
    verdict_begin(&c);
    c.trust.keys[1].not_before_ms = from;
    c.trust.keys[1].not_after_ms = to;
    add_run(&c);
    verdict_text text = summary ? verdict_summary() : verdict_test_result();
    add_verdict(&c, &c.gate, verdict_payload(&text));
    outcome out = verdict_verify(&c);
    check_outcome(out, good ? CS_OK : CS_FAILED, good ? "" : "2 envelope-key-window");
    verdict_end(&c);
}

Test(verify_verdict, the_time_of_a_summary) {
    expect_window(true, VERDICT_TIME_MS, VERDICT_TIME_MS, true);
    expect_window(true, VERDICT_TIME_MS + 1, INT64_MAX, false);
    expect_window(true, INT64_MIN, VERDICT_TIME_MS - 1, false);
}

/* It has none: it was signed before it was added, and that is all. */
Test(verify_verdict, no_time_of_a_test_result) {
    expect_window(false, ADDED, ADDED, true);
    expect_window(false, INT64_MIN, VERDICT_TIME_MS - 1, true);
    expect_window(false, ADDED + 1, INT64_MAX, false);
}
