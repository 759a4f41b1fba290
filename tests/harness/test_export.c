/* harness/export.h: what the bundle holds, original or with links of our own, new or extended. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
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

TestSuite(export, .init = set_up, .fini = tear_down);

/* ---- as it came ---------------------------------------------------------------------------------- */

/* A published bundle, and its key among the trusted ones. */
static forge_bytes published(const char *name, const char *key_name) {
    forge_bytes file = {.ptr = NULL};
    size_t len = 0;
    char *pem = fixture_read(key_name, &len);
    cs_public_key key;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_public_key_parse(cs_view_bytes(pem, len), &key, &err), CS_OK, "%s", err.message);
    cr_assert_eq(cs_trust_add(&x.trust, &key, &err), CS_OK);
    free(pem);
    char *text = fixture_read(name, &file.len);
    file.ptr = forge_text("%s", text);
    free(text);
    return file;
}

Test(export, the_published_linked_bundle_byte_for_byte) {
    forge_bytes file = published("published-session/linked.jsonl", "published-session/linked.pub");
    cr_assert_eq(exchange_import(&x, file), CS_OK, "%s", x.err.message);
    EXPORT_OK(&x, 0);
    cr_expect(exchange_same(exchange_read(x.out), file));
    cr_expect(x.ex.original && !x.ex.resumed);
    cr_expect_eq(x.ex.lines, 7);
    cr_expect_eq(x.ex.added, 6);
    cr_expect_eq(x.ex.present, 0);
    cr_expect_eq(x.ex.left_out.findings, 0);
    /* tail -n 1 linked.jsonl | tr -d '\n' | sha256sum */
    cr_expect_str_eq(x.ex.head.hex, "0a8ace549d5364c69fc8e129ae55a1a6440829257ecb7bc211fb55b74f237346");
    cr_assert_eq(unlink(x.out), 0);
    EXPORT_OK(&x, WITH_TRUST);
    cr_expect(exchange_same(exchange_read(x.out), file));
    cr_assert_eq(unlink(x.out), 0);
    EXPORT_OK(&x, WITH_TRUST | WITH_KEY);
    cr_expect(exchange_same(exchange_read(x.out), file));
    /* A finding is no entry of a bundle. */
    exchange_finding(&x);
    for (unsigned with = 0; with < 4; with += 2) {
        cr_assert_eq(unlink(x.out), 0);
        EXPORT_OK(&x, with);
        cr_expect(exchange_same(exchange_read(x.out), file));
        cr_expect_eq(x.ex.left_out.findings, 1);
        cr_expect_eq(x.ex.left_out.verdicts, 0);
    }
    /* Nor is a verdict, whoever signed it. */
    exchange_verdict(&x);
    for (unsigned with = 0; with < 4; with += 2) {
        cr_assert_eq(unlink(x.out), 0);
        EXPORT_OK(&x, with);
        cr_expect(exchange_same(exchange_read(x.out), file));
        cr_expect_eq(x.ex.left_out.findings, 1);
        cr_expect_eq(x.ex.left_out.verdicts, 1);
    }
}

Test(export, the_published_unlinked_bundle_with_our_links) {
    forge_bytes file = published("published-session/unlinked.jsonl", "published-session/unlinked.pub");
    cr_assert_eq(exchange_import(&x, file), CS_OK, "%s", x.err.message);
    EXPORT_CODE(&x, 0, CS_CODE_EXPORT_KEY);
    EXPORT_CODE(&x, WITH_TRUST, CS_CODE_EXPORT_KEY);
    cr_expect_not_null(strstr(x.err.message, "entry 1 has no link"), "%s", x.err.message);
    cr_expect_not_null(strstr(x.err.message, "-k"), "%s", x.err.message);
    EXPECT_WHERE(x.err, x.ledger);
    cr_expect_eq(access(x.out, F_OK), -1);
    EXPORT_OK(&x, WITH_TRUST | WITH_KEY);
    cr_expect(!x.ex.original);
    forge_bundle before = exchange_lines(file);
    forge_bundle after = exchange_lines(exchange_read(x.out));
    cr_assert_eq(after.count, before.count + 1);
    for (size_t i = 0; i < before.count; i++)
        cr_expect_str_eq(exchange_unlinked(after.lines[i]), before.lines[i]);
    cr_expect_eq(strncmp(after.lines[before.count], "{\"link\":", 8), 0);
    cs_verify_summary verified = exchange_verify(x.out, &x.trust);
    cr_expect(verified.linked);
    cr_expect_eq(verified.runs, 5);
    cr_expect_eq(verified.sessions, 1);
    cr_expect_str_eq(verified.head.hex, x.ex.head.hex);
    /* Under neither key alone. */
    cs_trust ours = {.count = 0};
    exchange_trust(&ours, &x.ours);
    cs_source *source = NULL;
    cs_verify_options options = {.trust = &ours};
    cr_assert_eq(cs_source_open(x.out, &source, &x.err), CS_OK);
    EXPECT_CODE(cs_verify_source(source, &options, &verified, &x.err), x.err, CS_FAILED, CS_CODE_ENVELOPE_KEY_UNKNOWN);
    cs_source_close(source);
}

Test(export, a_bundle_that_grew_is_the_grown_file) {
    forge_bundle bundle = exchange_bundle(&x.theirs, true);
    exchange_import_good(&x, &bundle, 5, 0);
    EXPORT_OK(&x, 0);
    cr_expect(exchange_same(exchange_read(x.out), forge_file(&bundle)));
    exchange_grow(&bundle, &x.theirs, "later", true);
    exchange_import_good(&x, &bundle, 2, 5);
    EXPORT_OK(&x, 0); /* the file that is there is a beginning */
    cr_expect(exchange_same(exchange_read(x.out), forge_file(&bundle)));
    cr_expect(x.ex.resumed && x.ex.original);
    cr_expect_eq(x.ex.lines, 7);
    cr_expect_eq(x.ex.present, 4);
    cr_expect_eq(x.ex.added, 1);
    cr_assert_eq(unlink(x.out), 0);
    EXPORT_OK(&x, WITH_TRUST);
    cr_expect(exchange_same(exchange_read(x.out), forge_file(&bundle)));
    /* Cut off anywhere, also within a line, it is still a beginning; an empty file is one, too. */
    forge_bytes whole = forge_file(&bundle);
    for (size_t len = 0; len < whole.len; len += 997) {
        file_write(x.out, whole.ptr, len);
        EXPORT_OK(&x, 0);
        cr_expect(exchange_same(exchange_read(x.out), whole), "%zu bytes", len);
    }
}

Test(export, a_repeated_record_stays_repeated) {
    forge_bundle bundle = {.count = 0};
    exchange_grow(&bundle, &x.theirs, "the same", false);
    exchange_grow(&bundle, &x.theirs, "the same", false);
    forge_link_lines(&bundle, &x.theirs, 0);
    exchange_import_good(&x, &bundle, 3, 0);
    EXPORT_OK(&x, 0);
    cr_expect(exchange_same(exchange_read(x.out), forge_file(&bundle)));
    cr_assert_eq(unlink(x.out), 0);
    EXPORT_OK(&x, WITH_TRUST);
    cr_expect(exchange_same(exchange_read(x.out), forge_file(&bundle)));
    cr_expect_str_eq(x.findings, "2 ~record-duplicate");
}

/* Somebody may begin with a checkpoint over nothing. */
Test(export, a_bundle_that_begins_with_a_checkpoint) {
    forge_bundle bundle = {.count = 0};
    forge_link_lines(&bundle, &x.theirs, 0);
    IMPORT_CODE(&x, forge_file(&bundle), CS_CODE_NOTHING_TO_CHECK);
    exchange_grow(&bundle, &x.theirs, "later", true);
    exchange_import_good(&x, &bundle, 3, 0);
    exchange_import_good(&x, &bundle, 0, 3);
    for (unsigned with = 0; with < 4; with += 2) {
        EXPORT_OK(&x, with);
        cr_expect(exchange_same(exchange_read(x.out), forge_file(&bundle)));
        cr_assert_eq(unlink(x.out), 0);
    }
}

/* ---- what is not one bundle ---------------------------------------------------------------------- */

Test(export, two_bundles_need_a_key) {
    forge_bundle one = exchange_bundle(&x.theirs, true);
    forge_bundle two = {.count = 0};
    exchange_grow(&two, &x.theirs, "another", true);
    exchange_import_good(&x, &one, 5, 0);
    EXPORT_OK(&x, 0);
    exchange_import_good(&x, &two, 2, 0);
    EXPORT_CODE(&x, 0, CS_CODE_EXPORT_KEY);
    cr_expect_not_null(strstr(x.err.message, "entry 6 was line 1"), "%s", x.err.message);
    EXPORT_CODE(&x, WITH_TRUST, CS_CODE_EXPORT_KEY);
    cr_assert_eq(unlink(x.out), 0);
    EXPORT_OK(&x, WITH_TRUST | WITH_KEY);
    cr_expect(!x.ex.original);
    cr_expect_eq(x.ex.added, 5);
    cr_expect_eq(x.ex.lines, 6); /* without the two checkpoints, which belong to other links */
    cr_expect_eq(exchange_verify(x.out, &x.trust).runs, 4);
}

/* The second part of a bundle, whose links go on from lines that are elsewhere. */
Test(export, a_part_from_another_bundle) {
    forge_bundle one = exchange_bundle(&x.theirs, true);
    forge_bundle two = {.count = 0};
    for (int i = 0; i < 4; i++)
        exchange_grow(&two, &x.theirs, forge_text("other %d", i), false);
    forge_link_lines(&two, &x.theirs, 0);
    exchange_grow(&two, &x.theirs, "the last", true);
    exchange_import_good(&x, &one, 5, 0);
    /* Line 6 and 7 of the other bundle behind the five lines of the first, as no import would put them. */
    cs_ledger *ledger = NULL;
    cr_assert_eq(cs_ledger_open(x.ledger, 1000, &ledger, NULL), CS_OK);
    for (size_t i = 5; i < 7; i++) {
        char *link = strstr(two.lines[i], "\"link\":") + 7;
        forge_run run = forge_single();
        run.code = "the last";
        forge_seal(&run);
        forge_bytes request = forge_request(&run);
        forge_bytes response = forge_response(&run);
        cs_ledger_row row = {.kind = cs_view_of(i == 5 ? "run" : "checkpoint"),
                             .daemon = cs_view_of(""),
                             .code = cs_view_of(""),
                             .detail = cs_view_of(""),
                             .record_sha256 = cs_view_of(i == 5 ? run.record_sha256 : ""),
                             .link = cs_view_bytes(link, strlen(link) - 1)};
        if (i == 5) {
            row.request = cs_view_bytes(request.ptr, request.len);
            row.response = cs_view_bytes(response.ptr, response.len);
            row.envelope = cs_view_of(forge_envelope(&x.theirs, forge_statement(&run)));
        }
        int64_t id = 0;
        EXPECT_OK(cs_ledger_append(ledger, &row, &id, &x.err), x.err);
    }
    cs_ledger_close(ledger);
    EXPORT_CODE(&x, 0, CS_CODE_EXPORT_KEY);
    cr_expect_not_null(strstr(x.err.message, "entry 6 comes from another imported bundle"), "%s", x.err.message);
    EXPORT_CODE(&x, WITH_TRUST | WITH_KEY, CS_CODE_LINK_PREVIOUS); /* the verifier misses the line before */
    cr_expect_eq(access(x.out, F_OK), -1);
}

Test(export, runs_of_our_own_among_imported_ones) {
    forge_bundle theirs = exchange_bundle(&x.theirs, true);
    exchange_own_run(&x, "ours");
    exchange_finding(&x);
    exchange_import_good(&x, &theirs, 5, 0);
    EXPORT_CODE(&x, WITH_TRUST, CS_CODE_EXPORT_KEY);
    EXPORT_OK(&x, WITH_TRUST | WITH_KEY);
    cr_expect_eq(x.ex.left_out.findings, 1);
    cr_expect_eq(x.ex.added, 5);
    forge_bundle out = exchange_lines(exchange_read(x.out));
    cr_assert_eq(out.count, 6);
    /* Ledger order; their entries as they came, our run with its own envelope, and links that are all ours. */
    forge_run run = forge_single();
    run.code = "ours";
    forge_seal(&run);
    cr_expect_str_eq(exchange_unlinked(out.lines[0]), forge_run_line(&x.ours, &run));
    forge_bundle plain = {.count = 0};
    for (size_t i = 0; i < 4; i++) {
        cr_expect_str_eq(exchange_unlinked(out.lines[i + 1]), exchange_unlinked(theirs.lines[i]));
        forge_add(&plain, exchange_unlinked(out.lines[i + 1]));
    }
    forge_insert(&plain, 0, exchange_unlinked(out.lines[0]));
    forge_link_lines(&plain, &x.ours, 0);
    cr_expect(exchange_same(exchange_read(x.out), forge_file(&plain)));
    cr_expect_eq(exchange_verify(x.out, &x.trust).runs, 4);
}

/* ---- extended ------------------------------------------------------------------------------------ */

static struct stat stat_of(const char *path) {
    struct stat info;
    cr_assert_eq(stat(path, &info), 0);
    return info;
}

Test(export, an_export_goes_on_where_the_last_one_ended) {
    exchange_own_run(&x, "one");
    EXPORT_OK(&x, WITH_KEY);
    cr_expect_eq(x.ex.lines, 2);
    cr_expect_eq(stat_of(x.out).st_mode & 07777, 0600);
    cr_assert_eq(chmod(x.out, 0644), 0);
    forge_bytes first = exchange_read(x.out);
    exchange_own_run(&x, "two");
    exchange_own_run(&x, "three");
    EXPORT_OK(&x, WITH_KEY);
    cr_expect(x.ex.resumed);
    cr_expect_eq(x.ex.present, 1);
    cr_expect_eq(x.ex.added, 2);
    cr_expect_eq(x.ex.lines, 5);
    forge_bytes second = exchange_read(x.out);
    cr_assert_gt(second.len, first.len);
    cr_expect_eq(memcmp(second.ptr, first.ptr, first.len), 0);
    cr_expect_eq(exchange_lines(second).count, 5);
    cs_verify_summary verified = exchange_verify(x.out, &x.trust);
    cr_expect(verified.linked);
    cr_expect_eq(verified.runs, 3);
    cr_expect_str_eq(verified.head.hex, x.ex.head.hex);
    struct stat before = stat_of(x.out);
    cr_expect_eq(before.st_mode & 07777, 0644, "the mode of the file that was there");
    cr_expect_eq(folder_count(x.folder), 2, "the ledger and the bundle");

    cs_digest head = x.ex.head;
    EXPORT_OK(&x, WITH_KEY);
    cr_expect(!x.ex.resumed);
    cr_expect_eq(x.ex.added, 0);
    cr_expect_eq(x.ex.present, 3);
    cr_expect_eq(x.ex.beyond, 0);
    cr_expect_eq(x.ex.lines, 5);
    cr_expect_str_eq(x.ex.head.hex, head.hex);
    struct stat after = stat_of(x.out);
    cr_expect(after.st_ino == before.st_ino && after.st_mtim.tv_sec == before.st_mtim.tv_sec &&
              after.st_mtim.tv_nsec == before.st_mtim.tv_nsec);
    cr_expect_eq(folder_count(x.folder), 2);
}

/* A second ledger may go into the same file. */
Test(export, another_ledger_into_the_same_file) {
    exchange_own_run(&x, "one");
    EXPORT_OK(&x, WITH_KEY);
    cr_assert_eq(unlink(x.ledger), 0);
    exchange_own_run(&x, "two");
    EXPORT_OK(&x, WITH_KEY);
    cr_expect_eq(x.ex.added, 1);
    cr_expect_eq(x.ex.present, 0);
    cr_expect_eq(x.ex.beyond, 1);
    cr_expect_eq(exchange_verify(x.out, &x.trust).runs, 2);
}

/* A ledger that was begun anew, or cut, holds less than the file does: the file keeps all, and it is told. */
Test(export, a_ledger_that_lacks_what_the_file_holds) {
    exchange_own_run(&x, "one");
    EXPORT_OK(&x, WITH_KEY);
    size_t len = 0;
    char *ledger = file_read(x.ledger, &len);
    exchange_own_run(&x, "two");
    EXPORT_OK(&x, WITH_KEY);
    cr_expect_eq(x.ex.beyond, 0);
    forge_bytes whole = exchange_read(x.out);
    cr_assert_eq(unlink(x.ledger), 0);
    file_write(x.ledger, ledger, len);
    free(ledger);
    EXPORT_OK(&x, WITH_KEY);
    cr_expect_eq(x.ex.present, 1);
    cr_expect_eq(x.ex.added, 0);
    cr_expect_eq(x.ex.beyond, 1);
    forge_bytes after = exchange_read(x.out);
    cr_expect(after.len == whole.len && memcmp(after.ptr, whole.ptr, whole.len) == 0);
}

/* The ledger passes, the file passes, and together they don't: one session with two closes. */
Test(export, a_ledger_that_contradicts_the_file) {
    forge_bundle theirs = exchange_bundle(&x.theirs, false);
    exchange_import_good(&x, &theirs, 4, 0);
    EXPORT_OK(&x, WITH_KEY | WITH_TRUST);
    forge_bytes before = exchange_read(x.out);
    cr_assert_eq(unlink(x.ledger), 0);
    forge_bundle again = exchange_bundle(&x.ours, false); /* the same session, signed by us */
    exchange_import_good(&x, &again, 4, 0);
    cr_assert_eq(exchange_export(&x, WITH_KEY | WITH_TRUST), CS_FAILED);
    cr_expect_not_null(strstr(x.err.where, "out.jsonl, extended: line 6"), "%s", x.err.where);
    cr_expect_not_null(strstr(x.err.message, "do not go with those of the file"), "%s", x.err.message);
    cr_expect(exchange_same(exchange_read(x.out), before));
    cr_expect_eq(folder_count(x.folder), 3);
    cr_assert_eq(unlink(x.out), 0);
    EXPORT_OK(&x, WITH_KEY | WITH_TRUST);
}

/* With a key, a file that is no beginning of the imported bundle may still be one of ours. */
Test(export, an_imported_bundle_into_a_file_of_our_own) {
    exchange_own_run(&x, "ours");
    EXPORT_OK(&x, WITH_KEY);
    cr_assert_eq(unlink(x.ledger), 0);
    forge_bundle theirs = exchange_bundle(&x.theirs, true);
    exchange_import_good(&x, &theirs, 5, 0);
    EXPORT_CODE(&x, WITH_TRUST, CS_CODE_EXPORT_FOREIGN);
    cr_expect_not_null(strstr(x.err.message, "line 1 differs"), "%s", x.err.message);
    EXPECT_WHERE(x.err, x.out);
    EXPORT_OK(&x, WITH_TRUST | WITH_KEY);
    cr_expect(x.ex.resumed && !x.ex.original);
    cr_expect_eq(x.ex.added, 4);
    cr_expect_eq(exchange_verify(x.out, &x.trust).runs, 4);
}

Test(export, a_file_that_holds_more_than_the_imported_bundle) {
    forge_bundle bundle = exchange_bundle(&x.theirs, true);
    exchange_import_good(&x, &bundle, 5, 0);
    exchange_grow(&bundle, &x.theirs, "later", true);
    forge_bytes longer = forge_file(&bundle);
    file_write(x.out, longer.ptr, longer.len);
    cr_assert_eq(chmod(x.out, 0600), 0);
    EXPORT_CODE(&x, 0, CS_CODE_EXPORT_FOREIGN);
    EXPORT_CODE(&x, WITH_TRUST, CS_CODE_EXPORT_FOREIGN);
    EXPORT_CODE(&x, WITH_TRUST | WITH_KEY, CS_CODE_EXPORT_FOREIGN); /* its links are not ours */
    cr_expect(exchange_same(exchange_read(x.out), longer));
    exchange_import_good(&x, &bundle, 2, 5);
    EXPORT_OK(&x, 0);
    cr_expect(!x.ex.resumed);
    cr_expect_eq(x.ex.present, 5);
}
