/* Heads known from elsewhere, and the entries that are handed on. */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "tests/verify/imported_case.h"

#define NOWHERE "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static outcome verify_to(const forge_bundle *bundle, const forge_key *key, const char *head) {
    char path[64];
    cs_trust trust = {.count = 0};
    trust_key(&trust, key);
    forge_bytes file = forge_file(bundle);
    forge_write(file.ptr, file.len, path);
    outcome out = verify_path_to(path, &trust, head);
    unlink(path);
    return out;
}

static outcome ledger_to(imported_case *ledger, const forge_key *key, const char *head) {
    cs_trust trust = {.count = 0};
    trust_key(&trust, key);
    raw_close(ledger->db);
    outcome out = verify_path_to(ledger->path, &trust, head);
    ledger->db = raw_open(ledger->path);
    return out;
}

/* ---- bundles ------------------------------------------------------------------------------------- */

Test(verify_head, of_a_linked_bundle) {
    linked_case lines = linked_runs();
    outcome out = verify_to(&lines.bundle, &lines.key, NULL);
    check_outcome(out, CS_OK, "");
    cr_expect_str_eq(out.summary.head.hex, linked_digest(lines.bundle.lines[LINKED_RUNS]));
    for (size_t i = 0; i < lines.bundle.count; i++) {
        const char *head = linked_digest(lines.bundle.lines[i]);
        check_outcome(verify_to(&lines.bundle, &lines.key, head), CS_OK, "");
    }
    out = verify_to(&lines.bundle, &lines.key, NOWHERE);
    check_outcome(out, CS_FAILED, "0 head-missing");
    cr_expect_eq(out.err.code, CS_CODE_HEAD_MISSING);
    cr_expect_str_eq(out.err.where, "");
    cr_expect_not_null(strstr(out.err.message, "it is the head of a ledger"), "%s", out.err.message);
    cr_expect_eq(out.summary.failures, 1);
    cr_expect_eq(out.summary.runs, LINKED_RUNS);
}

/* A bundle that was cut back to an earlier checkpoint is complete by itself; only its head tells. */
Test(verify_head, what_a_bundle_alone_does_not_show) {
    linked_case lines = linked_runs();
    char *early = linked_digest(lines.bundle.lines[LINKED_RUNS]);
    size_t from = lines.bundle.count;
    forge_bundle shorter = lines.bundle;
    forge_run run = forge_single();
    run.trace_id = "more";
    forge_add(&lines.bundle, forge_run_line(&lines.key, &run));
    forge_link_lines(&lines.bundle, &lines.key, from);
    char *late = linked_digest(lines.bundle.lines[lines.bundle.count - 1]);
    check_outcome(verify_to(&lines.bundle, &lines.key, early), CS_OK, "7 ~record-duplicate");
    check_outcome(verify_to(&lines.bundle, &lines.key, late), CS_OK, "7 ~record-duplicate");
    check_outcome(verify_to(&shorter, &lines.key, early), CS_OK, "");
    check_outcome(verify_to(&shorter, &lines.key, late), CS_FAILED, "0 head-missing");
}

Test(verify_head, of_a_bundle_without_links) {
    linked_case lines = linked_runs();
    outcome out = verify_to(&lines.plain, &lines.key, NULL);
    check_outcome(out, CS_OK, "");
    cr_expect_str_eq(out.summary.head.hex, "");
    for (size_t i = 0; i < lines.plain.count; i++) {
        out = verify_to(&lines.plain, &lines.key, linked_digest(lines.plain.lines[i]));
        check_outcome(out, CS_FAILED, "0 head-missing");
        cr_expect_eq(out.err.code, CS_CODE_HEAD_MISSING);
        cr_expect_not_null(strstr(out.err.message, "not linked, so that no line shows anything of the others"), "%s",
                           out.err.message);
        cr_expect_str_eq(out.summary.head.hex, "");
    }
    check_outcome(verify_to(&lines.plain, &lines.key, NOWHERE), CS_FAILED, "0 head-missing");
    check_outcome(verify_to(&lines.bundle, &lines.key, linked_digest(lines.bundle.lines[0])), CS_OK, "");
}

/* Only the very text: a digest in capitals is another one. */
Test(verify_head, digits_in_capitals) {
    linked_case lines = linked_runs();
    char *head = linked_digest(lines.bundle.lines[0]);
    check_outcome(verify_to(&lines.bundle, &lines.key, head), CS_OK, "");
    for (char *c = head; *c != '\0'; c++)
        if (*c >= 'a') *c = (char)(*c - 'a' + 'A');
    check_outcome(verify_to(&lines.bundle, &lines.key, head), CS_FAILED, "0 head-missing");
}

/* A line counts by the bytes that stand there, whatever is wrong with them. */
Test(verify_head, a_bad_line) {
    linked_case lines = linked_runs();
    char *head = linked_digest(lines.bundle.lines[2]);
    char *id = strstr(lines.bundle.lines[2], lines.key.id);
    memcpy(id, forge_key_from(9).id, 64);
    check_outcome(verify_to(&lines.bundle, &lines.key, head), CS_FAILED, "3 envelope-key-unknown; 0 head-missing");
    head = linked_digest(lines.bundle.lines[2]);
    check_outcome(verify_to(&lines.bundle, &lines.key, head), CS_FAILED, "3 envelope-key-unknown");
    lines.bundle.lines[2] = forge_text("%s", "{\"link\":1}");
    head = linked_digest(lines.bundle.lines[2]);
    check_outcome(verify_to(&lines.bundle, &lines.key, head), CS_FAILED, "3 line-framing");
    check_outcome(verify_to(&lines.bundle, &lines.key, NOWHERE), CS_FAILED, "3 line-framing; 0 head-missing");
}

/* ---- ledgers ------------------------------------------------------------------------------------- */

/* Three rows: a run, a finding, a run. `digests` receives their row digests. */
static imported_case three_rows(const forge_key *key, char digests[3][65]) {
    imported_case ledger = imported_begin();
    imported_own_run(&ledger, key);
    forge_run run = forge_single();
    cs_ledger_row row = imported_row(forge_run_line(key, &run));
    row.kind = cs_view_of(CS_KIND_FINDING);
    row.code = cs_view_of("result-digest");
    row.envelope = (cs_view){0};
    row.record_sha256 = cs_view_of("");
    raw_append(ledger.db, row);
    imported_own_run(&ledger, key);
    sqlite3_stmt *rows = NULL;
    cr_assert_eq(sqlite3_prepare_v2(ledger.db, "SELECT row_sha256 FROM entry ORDER BY id", -1, &rows, NULL), SQLITE_OK);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(sqlite3_step(rows), SQLITE_ROW);
        strcpy(digests[i], (const char *)sqlite3_column_text(rows, 0));
    }
    sqlite3_finalize(rows);
    return ledger;
}

Test(verify_head, of_a_ledger) {
    forge_key key = forge_key_from(1);
    char digests[3][65];
    imported_case ledger = three_rows(&key, digests);
    for (int i = 0; i < 3; i++) {
        outcome out = ledger_to(&ledger, &key, digests[i]);
        check_outcome(out, CS_OK, "");
        cr_expect_str_eq(out.summary.head.hex, digests[2]);
    }
    outcome out = ledger_to(&ledger, &key, NOWHERE);
    check_outcome(out, CS_FAILED, "0 head-missing");
    cr_expect_str_eq(out.err.where, "");
    cr_expect_not_null(strstr(out.err.message, "it is the head of a bundle: a ledger's is the row_sha256 of a row"),
                       "%s", out.err.message);
    imported_change(&ledger, "DELETE FROM entry WHERE id = 3");
    out = ledger_to(&ledger, &key, NULL);
    check_outcome(out, CS_OK, "");
    cr_expect_str_eq(out.summary.head.hex, digests[1]);
    check_outcome(ledger_to(&ledger, &key, digests[2]), CS_FAILED, "0 head-missing");
    imported_end(&ledger);
}

/* What a row states as its digest is one only when it is. */
Test(verify_head, a_bad_row) {
    forge_key key = forge_key_from(1);
    char digests[3][65];
    imported_case ledger = three_rows(&key, digests);
    imported_change(&ledger, "UPDATE entry SET daemon = 'other' WHERE id = 3");
    outcome out = ledger_to(&ledger, &key, digests[2]);
    check_outcome(out, CS_FAILED, "3 ledger-row; 0 head-missing");
    cr_expect_str_eq(out.summary.head.hex, "");
    check_outcome(ledger_to(&ledger, &key, digests[1]), CS_FAILED, "3 ledger-row");
    imported_end(&ledger);
}

/* A row whose record is wrong is still the row of that digest. */
Test(verify_head, a_row_with_a_bad_record) {
    forge_key key = forge_key_from(1);
    char digests[3][65];
    imported_case ledger = three_rows(&key, digests);
    forge_key stranger = forge_key_from(9);
    check_outcome(ledger_to(&ledger, &stranger, digests[2]), CS_FAILED,
                  "1 envelope-key-unknown; 3 envelope-key-unknown");
    imported_end(&ledger);
}

Test(verify_head, of_findings_alone) {
    forge_key key = forge_key_from(1);
    imported_case ledger = imported_begin();
    raw_append(ledger.db, (cs_ledger_row){.added_unix_ms = 1,
                                          .kind = cs_view_of(CS_KIND_FINDING),
                                          .daemon = cs_view_of(""),
                                          .code = cs_view_of("x"),
                                          .detail = cs_view_of(""),
                                          .record_sha256 = cs_view_of("")});
    check_outcome(ledger_to(&ledger, &key, NULL), CS_NOTHING, "");
    check_outcome(ledger_to(&ledger, &key, NOWHERE), CS_FAILED, "0 head-missing");
    imported_end(&ledger);
}

/* ---- the entries that are handed on ---------------------------------------------------------------- */

typedef struct handed {
    uint64_t stop_at; /* answer that nothing more is wanted */
    char order[256];
    cs_digest record, session, previous; /* of the last one */
    cs_view request, link;
} handed;

static cs_result take_entry(void *user, const cs_verified_entry *entry, cs_error *err) {
    handed *out = user;
    strcat(out->order, forge_text("e%llu ", (unsigned long long)entry->entry->number));
    out->record = entry->record;
    out->session = entry->session;
    out->previous = entry->link_previous;
    out->request = entry->entry->request;
    out->link = entry->entry->link;
    if (entry->entry->number == out->stop_at) return cs_fail(err, CS_CODE_LEDGER_FULL, "no more");
    return CS_OK;
}

static cs_result take_run(void *user, const cs_verified_run *run, cs_error *err) {
    (void)err;
    handed *out = user;
    strcat(out->order, forge_text("r%llu ", (unsigned long long)run->entry));
    return CS_OK;
}

static handed hand(const forge_bundle *bundle, uint64_t stop_at, cs_result want) {
    handed out = {.stop_at = stop_at};
    char path[64];
    cs_trust trust = {.count = 0};
    cs_source *source = NULL;
    cs_verify_summary summary;
    cs_error err = CS_ERROR_INIT;
    forge_key key = forge_key_from(1);
    trust_key(&trust, &key);
    forge_bytes file = forge_file(bundle);
    forge_write(file.ptr, file.len, path);
    cr_assert_eq(cs_source_open(path, &source, &err), CS_OK);
    cs_verify_options options = {.trust = &trust, .on_entry = take_entry, .on_run = take_run, .user = &out};
    cr_expect_eq(cs_verify_source(source, &options, &summary, &err), want, "%s", err.message);
    if (want == CS_UNCHECKED) cr_expect_eq(err.code, CS_CODE_LEDGER_FULL);
    cs_source_close(source);
    unlink(path);
    return out;
}

Test(verify_head, entries_are_handed_on_before_their_runs) {
    forge_key key = forge_key_from(1);
    forge_bundle bundle = {.count = 0};
    forge_run runs[2];
    forge_session(&bundle, &key, FORGE_SESSION, 2, runs);
    handed out = hand(&bundle, 0, CS_OK);
    cr_expect_str_eq(out.order, "e1 r1 e2 r2 e3 ");
    cr_expect_str_eq(out.session.hex, FORGE_SESSION); /* of the close */
    cr_expect_str_eq(out.record.hex, "");
    cr_expect_str_eq(out.previous.hex, "");
    cr_expect_null(out.link.ptr);
    out = hand(&bundle, 2, CS_UNCHECKED);
    cr_expect_str_eq(out.order, "e1 r1 e2 ");
    cr_expect_str_eq(out.session.hex, FORGE_SESSION);
    cr_expect_str_eq(out.record.hex, runs[1].record_sha256);
    cr_expect_not_null(out.request.ptr);
}

Test(verify_head, a_checkpoint_is_handed_on) {
    linked_case lines = linked_runs();
    handed out = hand(&lines.bundle, 0, CS_OK);
    cr_expect_str_eq(out.order, "e1 r1 e2 r2 e3 r3 e4 r4 e5 r5 e6 ");
    cr_expect_str_eq(out.previous.hex, linked_digest(lines.bundle.lines[LINKED_RUNS - 1]));
    cr_expect_str_eq(out.record.hex, "");
    cr_expect_str_eq(out.session.hex, "");
    cr_expect_not_null(out.link.ptr);
}

/* Not one about which something was reported: of its content, its link or its session. */
Test(verify_head, bad_entries_are_not_handed_on) {
    linked_case lines = linked_runs();
    char *id = strstr(lines.bundle.lines[2], lines.key.id);
    memcpy(id, forge_key_from(9).id, 64);
    cr_expect_str_eq(hand(&lines.bundle, 0, CS_FAILED).order, "e1 r1 e2 r2 e4 r4 e5 r5 e6 ");
    lines = linked_runs();
    linked_again(&lines, 2, linked_line(&lines, 2, 3, linked_digest("x"), linked_digest(lines.plain.lines[2])));
    cr_expect_str_eq(hand(&lines.bundle, 0, CS_FAILED).order, "e1 r1 e2 r2 e4 r4 e5 r5 e6 ");
    lines = linked_runs();
    lines.bundle.lines[LINKED_RUNS] =
        linked_checkpoint(&lines, LINKED_RUNS + 1, linked_digest(lines.bundle.lines[LINKED_RUNS - 1]), LINKED_RUNS - 1);
    cr_expect_str_eq(hand(&lines.bundle, 0, CS_FAILED).order, "e1 r1 e2 r2 e3 r3 e4 r4 e5 r5 ");
    forge_bundle bundle = {.count = 0};
    forge_session(&bundle, &lines.key, FORGE_SESSION, 3, NULL);
    forge_remove(&bundle, 1);
    cr_expect_str_eq(hand(&bundle, 0, CS_FAILED).order, "e1 r1 e3 ");
}
