#include "tests/harness/session_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/canon.h"
#include "tests/support/folder.h"
#include "tests/support/live_client.h"
#include "verify/verify.h"

#define MUST(call, err) cr_assert_eq((call), CS_OK, "%s", (err).message)

void session_case_init(session_case *c) {
    *c = (session_case){.key = NULL};
    cs_error err = CS_ERROR_INIT;
    folder_make(c->folder);
    c->key = live_key(c->folder, &c->public_key);
    (void)snprintf(c->ledger_path, sizeof c->ledger_path, "%s/ledger.db", c->folder);
    MUST(cs_ledger_open(c->ledger_path, 200, &c->ledger, &err), err);
    for (size_t i = 0; i < SESSION_CASE_CALLS; i++)
        sample_init(&c->calls[i]);
}

/* A good next call, not yet in the script. */
sample *session_case_next(session_case *c) {
    static const char *const codes[] = {"one()", "two()", "three()", "four()"};
    size_t i = c->count++;
    const char *previous = i == 0 ? "" : live_hex(&c->calls[i - 1].record->record_sha256);
    live_call(&c->calls[i], i + 1, previous, codes[i]);
    return &c->calls[i];
}

void session_case_add(session_case *c) {
    live_call_answer(&c->script, session_case_next(c), 0);
}

const char *session_case_last(const session_case *c) {
    return c->count == 0 ? "" : live_hex(&c->calls[c->count - 1].record->record_sha256);
}

void session_case_begin(session_case *c) {
    live_describe(&c->script, c->calls[0].before);
    cs_open_session_response opened = live_opened();
    live_open(&c->script, &opened);
}

void session_case_end(session_case *c, uint64_t calls, const char *last) {
    live_close(&c->script, LIVE_FINGERPRINT, calls, last);
    live_describe(&c->script, c->calls[0].after);
}

void session_case_open(session_case *c, const char *floor) {
    c->client = live_client(&c->script, &c->daemon);
    cs_run_options options = {.client = c->client,
                              .key = c->key,
                              .ledger = c->ledger,
                              .ledger_path = c->ledger_path,
                              .skew_ms = CS_DEFAULT_SKEW_MS};
    cs_open_session_request *terms = malloc(sizeof *terms);
    cr_assert_not_null(terms);
    plimsoll__v1__open_session_request__init(terms);
    canon_set(&terms->minimum_isolation, floor);
    cr_assert_eq(cs_session_open(&options, terms, &c->session), c->session.opening.result);
}

void session_case_call(session_case *c, size_t i) {
    cr_assert_eq(cs_session_call(&c->session, live_request(&c->calls[i]), &c->reports[i]), c->reports[i].result);
}

/* Open, make all calls that were prepared, close. */
void session_case_run(session_case *c) {
    session_case_open(c, "process");
    for (size_t i = 0; i < c->count; i++)
        session_case_call(c, i);
    cr_assert_eq(cs_session_finish(&c->session, &c->close), c->close.result);
    peer_stop(c->daemon);
}

/* No file that was written holds the id, and no error tells it. */
static void expect_secret(const session_case *c) {
    size_t len = 0;
    char *bytes = file_read(c->ledger_path, &len);
    cr_expect(len == 0 || memmem(bytes, len, LIVE_ID, strlen(LIVE_ID)) == NULL);
    free(bytes);
    cr_expect_null(c->session.id);
    const cs_error *errors[] = {&c->session.opening.err, &c->reports[0].err, &c->reports[1].err, &c->close.err};
    for (size_t i = 0; i < 4; i++)
        cr_expect(strstr(errors[i]->message, LIVE_ID) == NULL && strstr(errors[i]->found, LIVE_ID) == NULL);
}

void session_case_free(session_case *c) {
    cs_ledger_close(c->ledger);
    expect_secret(c);
    for (size_t i = 0; i < SESSION_CASE_CALLS; i++) {
        cs_run_report_free(&c->reports[i]);
        sample_free(&c->calls[i]);
    }
    cs_run_report_free(&c->close);
    cs_session_free(&c->session);
    cs_client_free(c->client);
    peer_free(c->daemon);
    live_free(&c->script);
    cs_key_free(c->key);
    folder_remove(c->folder);
}

/* The kinds and codes of the ledger's entries, in order: "run unanswered finding:chain-close close". */
void session_case_entries(session_case *c, const char *want) {
    char found[512] = "";
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    MUST(cs_source_open(c->ledger_path, &source, &err), err);
    for (bool more = true; more;) {
        cs_entry entry;
        MUST(cs_source_next(source, &entry, &more, &err), err);
        if (!more) break;
        size_t len = strlen(found);
        (void)snprintf(found + len, sizeof found - len, "%s%.*s%s%.*s", len > 0 ? " " : "", (int)entry.row->kind.len,
                       (const char *)entry.row->kind.ptr, entry.row->code.len > 0 ? ":" : "", (int)entry.row->code.len,
                       entry.row->code.len > 0 ? (const char *)entry.row->code.ptr : "");
    }
    cs_source_close(source);
    cr_expect_str_eq(found, want);
}

void session_case_verified(session_case *c, cs_result result, cs_code code, uint64_t runs, uint64_t sessions) {
    cs_trust trust = {.count = 0};
    cs_error err = CS_ERROR_INIT;
    MUST(cs_trust_add(&trust, &c->public_key, &err), err);
    cs_source *source = NULL;
    MUST(cs_source_open(c->ledger_path, &source, &err), err);
    cs_verify_options options = {.trust = &trust};
    cs_verify_summary summary;
    cr_expect_eq(cs_verify_source(source, &options, &summary, &err), result, "%s", err.message);
    cr_expect_eq(err.code, code, "%s", err.message);
    cr_expect_eq(summary.runs, runs);
    cr_expect_eq(summary.sessions, sessions);
    cs_source_close(source);
}
