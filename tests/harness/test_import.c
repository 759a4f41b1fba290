/* harness/import.h: a bundle goes in whole, byte for byte, or not at all. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/exchange_case.h"
#include "tests/support/fixtures.h"

static exchange x;

static void set_up(void) {
    exchange_begin(&x);
}

static void tear_down(void) {
    exchange_end(&x);
}

TestSuite(import, .init = set_up, .fini = tear_down);

/* ---- what is good -------------------------------------------------------------------------------- */

Test(import, a_linked_bundle_with_its_links) {
    forge_bundle bundle = exchange_bundle(&x.theirs, true);
    exchange_import_good(&x, &bundle, 5, 0);
    cr_expect_eq(x.in.verified.runs, 3);
    cr_expect_eq(x.in.verified.sessions, 1);
    cr_expect(x.in.verified.linked);
    cr_expect_str_eq(exchange_kinds(&x), "run run close run checkpoint");
    cs_verify_summary verified = exchange_verify(x.ledger, &x.trust);
    cr_expect_eq(verified.runs, 3);
    cr_expect_eq(verified.sessions, 1);
}

static bool view_is(cs_view view, const void *bytes, size_t len) {
    return view.ptr != NULL && view.len == len && memcmp(view.ptr, bytes, len) == 0;
}

Test(import, every_column_of_a_row) {
    forge_run run = forge_single();
    forge_bytes request = forge_request(&run);
    forge_bytes response = forge_response(&run);
    char *envelope = forge_envelope(&x.theirs, forge_statement(&run));
    forge_bundle bundle = {.count = 0};
    forge_add(&bundle, forge_run_line(&x.theirs, &run));
    char *link =
        forge_envelope(&x.theirs, forge_link(1, "", forge_sha256(bundle.lines[0], strlen(bundle.lines[0])), 0));
    forge_link_lines(&bundle, &x.theirs, 0);
    exchange_import_good(&x, &bundle, 2, 0);

    cs_source *source = NULL;
    cs_entry entry;
    bool more = false;
    cr_assert_eq(cs_source_open(x.ledger, &source, NULL), CS_OK);
    cr_assert_eq(cs_source_next(source, &entry, &more, NULL), CS_OK);
    const cs_ledger_row *row = entry.row;
    cr_expect(cs_view_is(row->kind, "run") && row->daemon.len == 0 && row->code.len == 0 && row->detail.len == 0);
    cr_expect(view_is(row->request, request.ptr, request.len));
    cr_expect(view_is(row->response, response.ptr, response.len));
    cr_expect(view_is(row->envelope, envelope, strlen(envelope)));
    cr_expect(view_is(row->link, link, strlen(link)));
    cr_expect(cs_view_is(row->record_sha256, run.record_sha256));
    cr_expect(row->describe_before.ptr == NULL && row->describe_after.ptr == NULL);
    cr_expect_gt(row->added_unix_ms, 1700000000000);
    cr_assert_eq(cs_source_next(source, &entry, &more, NULL), CS_OK);
    row = entry.row;
    cr_expect(cs_view_is(row->kind, "checkpoint") && row->record_sha256.len == 0 && row->link.len > 0);
    cr_expect(row->request.ptr == NULL && row->response.ptr == NULL && row->envelope.ptr == NULL);
    cs_source_close(source);
}

Test(import, an_unlinked_bundle_and_a_call_without_an_answer) {
    forge_run run = forge_single();
    run.version = 3;
    run.unanswered = "unavailable";
    run.session = FORGE_SESSION;
    run.sequence = 1;
    forge_seal(&run);
    forge_bundle bundle = {.count = 0};
    forge_add(&bundle, forge_run_line(&x.theirs, &run));
    forge_add(&bundle,
              forge_line(NULL, NULL, forge_envelope(&x.theirs, forge_close(FORGE_SESSION, 1, run.record_sha256))));
    exchange_import_good(&x, &bundle, 2, 0);
    cr_expect_not(x.in.verified.linked);
    cr_expect_str_eq(exchange_kinds(&x), "unanswered close");
    cr_expect_eq(exchange_verify(x.ledger, &x.trust).unanswered, 1);
    exchange_import_good(&x, &bundle, 0, 2);
}

Test(import, twice_adds_nothing) {
    forge_bundle linked = exchange_bundle(&x.theirs, true);
    exchange_import_good(&x, &linked, 5, 0);
    exchange_import_good(&x, &linked, 0, 5);
    cr_expect_str_eq(exchange_kinds(&x), "run run close run checkpoint");
}

Test(import, a_bundle_that_grew_adds_the_rest) {
    forge_bundle bundle = exchange_bundle(&x.theirs, true);
    exchange_import_good(&x, &bundle, 5, 0);
    exchange_grow(&bundle, &x.theirs, "later", true);
    exchange_import_good(&x, &bundle, 2, 5);
    cr_expect_str_eq(exchange_kinds(&x), "run run close run checkpoint run checkpoint");
    cr_expect_eq(exchange_verify(x.ledger, &x.trust).runs, 4);
}

Test(import, behind_what_is_there) {
    exchange_own_run(&x, "ours");
    exchange_finding(&x);
    forge_bundle bundle = exchange_bundle(&x.theirs, true);
    exchange_import_good(&x, &bundle, 5, 0);
    cr_expect_str_eq(exchange_kinds(&x), "run finding run run close run checkpoint");
    cr_expect_eq(exchange_verify(x.ledger, &x.trust).runs, 4);
}

/* The verifier warns, and the bundle stays as it is. */
Test(import, a_bundle_that_holds_a_record_twice) {
    forge_bundle bundle = {.count = 0};
    exchange_grow(&bundle, &x.theirs, "the same", false);
    exchange_grow(&bundle, &x.theirs, "the same", false);
    forge_link_lines(&bundle, &x.theirs, 0);
    exchange_import_good(&x, &bundle, 3, 0);
    cr_expect_str_eq(x.findings, "2 ~record-duplicate");
    cr_expect_str_eq(exchange_kinds(&x), "run run checkpoint");
    exchange_import_good(&x, &bundle, 0, 3);
}

Test(import, from_standard_input) {
    forge_bundle bundle = exchange_bundle(&x.theirs, true);
    forge_bytes file = forge_file(&bundle);
    file_write(x.bundle, file.ptr, file.len);
    int fd = open(x.bundle, O_RDONLY | O_CLOEXEC);
    cr_assert_geq(fd, 0);
    cr_assert_eq(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    cs_ledger *ledger = NULL;
    cr_assert_eq(cs_ledger_open(x.ledger, 1000, &ledger, NULL), CS_OK);
    cs_import_options options = {.bundle = "-", .trust = &x.trust, .ledger = ledger};
    EXPECT_OK(cs_import(&options, &x.in, &x.err), x.err);
    cs_ledger_close(ledger);
    close(fd);
    cr_expect_eq(x.in.added, 5);
    cr_expect_str_eq(exchange_kinds(&x), "run run close run checkpoint");
}

/* ---- duplicates ---------------------------------------------------------------------------------- */

/* Each with its twin: the very same line is present, another line of the same record is refused. */
Test(import, a_record_that_is_there_in_other_bytes) {
    exchange_own_run(&x, "ours");
    forge_bundle same = {.count = 0};
    exchange_grow(&same, &x.ours, "ours", false);
    exchange_import_good(&x, &same, 0, 1);
    forge_bundle other = {.count = 0};
    exchange_grow(&other, &x.theirs, "something new", false);
    exchange_grow(&other, &x.theirs, "ours", false); /* the record, signed by somebody else */
    IMPORT_CODE(&x, forge_file(&other), CS_CODE_IMPORT_DUPLICATE);
    EXPECT_WHERE(x.err, "line 2");
    cr_expect_not_null(strstr(x.err.message, "entry 1"), "%s", x.err.message);
    cr_expect_not_null(strstr(x.err.message, "ledger of its own"), "%s", x.err.message);
    cr_expect_eq(x.in.added, 0);
    cr_expect_str_eq(exchange_kinds(&x), "run");
}

Test(import, the_same_lines_with_and_without_links) {
    forge_bundle plain = exchange_bundle(&x.theirs, false);
    forge_bundle linked = exchange_bundle(&x.theirs, true);
    exchange_import_good(&x, &plain, 4, 0);
    IMPORT_CODE(&x, forge_file(&linked), CS_CODE_IMPORT_DUPLICATE);
    EXPECT_WHERE(x.err, "line 1");
    exchange_import_good(&x, &plain, 0, 4);
    cr_expect_str_eq(exchange_kinds(&x), "run run close run");
}

Test(import, a_close_that_is_there_in_other_bytes) {
    /* A session without calls has a close only, which names no record; the run is the same in both. */
    char *close = forge_close(FORGE_SESSION, 0, "");
    forge_bundle one = {.count = 0};
    exchange_grow(&one, &x.theirs, "both", false);
    forge_add(&one, forge_line(NULL, NULL, forge_envelope(&x.theirs, close)));
    forge_bundle two = {.count = 0};
    exchange_grow(&two, &x.theirs, "both", false);
    forge_add(&two, forge_line(NULL, NULL, forge_envelope(&x.ours, close)));
    exchange_import_good(&x, &one, 2, 0);
    exchange_import_good(&x, &one, 0, 2);
    IMPORT_CODE(&x, forge_file(&two), CS_CODE_IMPORT_DUPLICATE);
    cr_expect_not_null(strstr(x.err.message, "close"), "%s", x.err.message);
    cr_expect_str_eq(exchange_kinds(&x), "run close");
}

/* A bundle that went on in two ways: the second can't stand in the same ledger, which would not verify any more. */
Test(import, a_bundle_that_went_on_in_two_ways) {
    forge_bundle one = exchange_bundle(&x.theirs, true);
    forge_bundle two = one;
    exchange_grow(&one, &x.theirs, "one way", true);
    exchange_grow(&two, &x.theirs, "the other way", true);
    exchange_import_good(&x, &one, 7, 0);
    IMPORT_CODE(&x, forge_file(&two), CS_CODE_LINK_PREVIOUS);
    EXPECT_WHERE(x.err, "line 6");
    cr_expect_not_null(strstr(x.err.message, "entry 6"), "%s", x.err.message);
    exchange_import_good(&x, &one, 0, 7);
    cr_expect_eq(exchange_verify(x.ledger, &x.trust).runs, 4);
}

/* ---- not at all ---------------------------------------------------------------------------------- */

/* One byte of each line changed, in the middle: whatever that breaks, nothing goes in. */
Test(import, one_byte_changed) {
    exchange_own_run(&x, "ours");
    forge_bytes before = {.ptr = file_read(x.ledger, &before.len)};
    forge_bundle good = exchange_bundle(&x.theirs, true);
    for (size_t i = 0; i < good.count; i++) {
        forge_bundle bad = good;
        bad.lines[i] = forge_text("%s", good.lines[i]);
        char *byte = strstr(bad.lines[i], "\"sig\":\"");
        cr_assert_not_null(byte);
        byte[7] = byte[7] == 'A' ? 'B' : 'A';
        IMPORT_CODE(&x, forge_file(&bad), CS_CODE_ENVELOPE_SIGNATURE);
        cr_expect_eq(x.in.added, 0);
        cr_expect_eq(x.in.verified.failed_entry, i + 1);
        cr_expect_gt(strlen(x.findings), 0);
    }
    forge_bytes after = {.ptr = file_read(x.ledger, &after.len)};
    cr_expect(exchange_same(before, after), "the file of the ledger changed");
    free(before.ptr);
    free(after.ptr);
    exchange_import_good(&x, &good, 5, 0);
}

/* What fails at the end takes back what was added before; all of it is reported, also behind a duplicate. */
Test(import, what_only_the_end_tells) {
    forge_bundle bundle = exchange_bundle(&x.theirs, true);
    forge_bundle cut = bundle;
    forge_remove(&cut, 4);
    IMPORT_CODE(&x, forge_file(&cut), CS_CODE_CHECKPOINT_MISSING);
    cr_expect_str_eq(exchange_kinds(&x), "");
    forge_bundle unclosed = exchange_bundle(&x.theirs, false);
    forge_remove(&unclosed, 2);
    IMPORT_CODE(&x, forge_file(&unclosed), CS_CODE_CHAIN_UNCLOSED);
    cr_expect_str_eq(exchange_kinds(&x), "");
    exchange_import_good(&x, &bundle, 5, 0);
}

Test(import, nothing_is_added_behind_a_failure) {
    forge_bundle bundle = exchange_bundle(&x.theirs, false);
    exchange_own_run(&x, "the single run");
    /* The last line is a duplicate of what is there; the failure before it is what counts. */
    char *byte = strstr(bundle.lines[0], "\"sig\":\"");
    byte[7] = byte[7] == 'A' ? 'B' : 'A';
    IMPORT_CODE(&x, forge_file(&bundle), CS_CODE_ENVELOPE_SIGNATURE);
    cr_expect_str_eq(exchange_kinds(&x), "run");
}

Test(import, a_signer_who_is_not_trusted) {
    forge_key stranger = forge_key_from(9);
    forge_bundle bundle = exchange_bundle(&stranger, true);
    IMPORT_CODE(&x, forge_file(&bundle), CS_CODE_ENVELOPE_KEY_UNKNOWN);
    cr_expect_str_eq(exchange_kinds(&x), "");
    exchange_trust(&x.trust, &stranger);
    exchange_import_good(&x, &bundle, 5, 0);
}

Test(import, a_close_alone) {
    for (int linked = 0; linked < 2; linked++) {
        forge_bundle bundle = {.count = 0};
        forge_session(&bundle, &x.theirs, FORGE_SESSION, 0, NULL);
        if (linked != 0) forge_link_lines(&bundle, &x.theirs, 0);
        IMPORT_CODE(&x, forge_file(&bundle), CS_CODE_NOTHING_TO_CHECK);
        cr_expect_eq(x.in.added, 0);
        cr_expect_str_eq(exchange_kinds(&x), "");
    }
    forge_bundle bundle = {.count = 0};
    forge_session(&bundle, &x.theirs, FORGE_SESSION, 1, NULL);
    exchange_import_good(&x, &bundle, 2, 0);
    cr_expect_str_eq(exchange_kinds(&x), "run close");
}

Test(import, inputs_that_are_no_bundle) {
    IMPORT_CODE(&x, ((forge_bytes){.ptr = forge_text("%s", ""), .len = 0}), CS_CODE_NOTHING_TO_CHECK);
    IMPORT_CODE(&x, ((forge_bytes){.ptr = forge_text("%s", "hello\n"), .len = 6}), CS_CODE_INPUT_UNKNOWN);
    exchange_own_run(&x, "ours");
    cs_ledger *ledger = NULL;
    cr_assert_eq(cs_ledger_open(x.ledger, 1000, &ledger, NULL), CS_OK);
    cs_import_options options = {.bundle = x.ledger, .trust = &x.trust, .ledger = ledger};
    EXPECT_CODE(cs_import(&options, &x.in, &x.err), x.err, CS_UNCHECKED, CS_CODE_IMPORT_LEDGER);
    options.bundle = "/nowhere/in.jsonl";
    EXPECT_CODE(cs_import(&options, &x.in, &x.err), x.err, CS_UNCHECKED, CS_CODE_IO);
    EXPECT_WHERE(x.err, "/nowhere/in.jsonl");
    cs_ledger_close(ledger);
    cr_expect_str_eq(exchange_kinds(&x), "run");
}

/* A close in the ledger that can't be read might be that of a session in the bundle. */
Test(import, into_a_ledger_with_an_entry_that_can_not_be_read) {
    cs_ledger *ledger = NULL;
    int64_t id = 0;
    forge_bundle bundle = exchange_bundle(&x.theirs, true);
    cr_assert_eq(cs_ledger_open(x.ledger, 1000, &ledger, NULL), CS_OK);
    cs_ledger_row row = {.kind = cs_view_of("close"),
                         .daemon = cs_view_of(""),
                         .code = cs_view_of(""),
                         .detail = cs_view_of(""),
                         .record_sha256 = cs_view_of(""),
                         .envelope = cs_view_of("{}")};
    cr_assert_eq(cs_ledger_append(ledger, &row, &id, NULL), CS_OK);
    cs_ledger_close(ledger);
    IMPORT_CODE(&x, forge_file(&bundle), CS_CODE_ENVELOPE_MALFORMED);
    cr_expect_not_null(strstr(x.err.where, "ledger's entry 1"), "%s", x.err.where);
    cr_expect_str_eq(exchange_kinds(&x), "close");
}

/* ---- with others at the same time ---------------------------------------------------------------- */

static void child_import(const char *path, const forge_key *key, const char *code) {
    forge_bundle bundle = {.count = 0};
    for (int i = 0; i < 20; i++)
        exchange_grow(&bundle, key, forge_text("%s %d", code, i), false);
    forge_link_lines(&bundle, key, 0);
    forge_bytes file = forge_file(&bundle);
    file_write(path, file.ptr, file.len);
    cs_ledger *ledger = NULL;
    bool good = cs_ledger_open(x.ledger, 30000, &ledger, NULL) == CS_OK;
    cs_import_options options = {.bundle = path, .trust = &x.trust, .ledger = ledger};
    good = good && cs_import(&options, &x.in, NULL) == CS_OK && x.in.added == 21;
    cs_ledger_close(ledger);
    _exit(good ? 0 : 1);
}

Test(import, while_others_import_and_append) {
    exchange_own_run(&x, "the first");
    pid_t children[2];
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        if (children[i] == 0) child_import(forge_text("%s/%d.jsonl", x.folder, i), &x.theirs, i == 0 ? "one" : "two");
    }
    for (int i = 0; i < 10; i++)
        exchange_own_run(&x, forge_text("ours %d", i));
    for (int i = 0; i < 2; i++) {
        int status = 1;
        cr_assert_eq(waitpid(children[i], &status, 0), children[i]);
        cr_expect_eq(status, 0, "an import failed");
    }
    cs_verify_summary verified = exchange_verify(x.ledger, &x.trust);
    cr_expect_eq(verified.runs, 51);
    cr_expect_eq(verified.entries, 53);
    EXPORT_CODE(&x, WITH_TRUST, CS_CODE_EXPORT_KEY);
    EXPORT_OK(&x, WITH_TRUST | WITH_KEY);
    cr_expect_eq(x.ex.added, 51);
}

/* The process dies in the middle of an import: the pipe gives it only half of the bundle. */
Test(import, killed_in_the_middle) {
    exchange_own_run(&x, "ours");
    forge_bundle bundle = exchange_bundle(&x.theirs, true);
    forge_bytes file = forge_file(&bundle);
    int ends[2];
    int done[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(pipe(done), 0);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        (void)dup2(ends[0], STDIN_FILENO);
        (void)close(ends[1]);
        cs_ledger *ledger = NULL;
        if (cs_ledger_open(x.ledger, 1000, &ledger, NULL) != CS_OK) _exit(1);
        (void)close(done[1]);
        cs_import_options options = {.bundle = "-", .trust = &x.trust, .ledger = ledger};
        _exit(cs_import(&options, &x.in, NULL) == CS_OK ? 0 : 1);
    }
    (void)close(done[1]);
    char byte;
    cr_expect_eq(read(done[0], &byte, 1), 0); /* the ledger is open */
    cr_assert_eq(write(ends[1], file.ptr, file.len - 100), (ssize_t)file.len - 100);
    /* Once it waits for the rest, it holds the ledger. */
    cs_ledger *other = NULL;
    cr_assert_eq(cs_ledger_open(x.ledger, 0, &other, NULL), CS_OK);
    bool held = false;
    for (int i = 0; i < 2000 && !held; i++) {
        held = cs_ledger_begin(other, NULL) != CS_OK;
        cs_ledger_undo(other);
        (void)usleep(5000);
    }
    cs_ledger_close(other);
    cr_expect(held);
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    cr_expect_str_eq(exchange_kinds(&x), "run");
    exchange_import_good(&x, &bundle, 5, 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    (void)close(done[0]);
}
