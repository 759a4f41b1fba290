/* harness/export.h: every refusal, each beside what passes; and that nothing changes then. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/exchange_case.h"

static exchange x;

static void set_up(void) {
    exchange_begin(&x);
}

static void tear_down(void) {
    exchange_end(&x);
}

TestSuite(export_refused, .init = set_up, .fini = tear_down);

/* A ledger of one run, exported, and one more run: the next export has something to add. */
static forge_bytes one_exported(void) {
    exchange_own_run(&x, "one");
    EXPORT_OK(&x, WITH_KEY);
    exchange_own_run(&x, "two");
    return exchange_read(x.out);
}

static void expect_untouched(forge_bytes before) {
    cr_expect(exchange_same(exchange_read(x.out), before), "the file changed");
    cr_expect_eq(folder_count(x.folder), 2, "something was left beside it");
}

/* ---- the ledger ---------------------------------------------------------------------------------- */

Test(export_refused, a_ledger_with_nothing_signed) {
    exchange_finding(&x);
    EXPORT_CODE(&x, 0, CS_CODE_NOTHING_TO_CHECK);
    EXPORT_CODE(&x, WITH_TRUST, CS_CODE_NOTHING_TO_CHECK);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_NOTHING_TO_CHECK);
    cr_expect_eq(folder_count(x.folder), 1);
    exchange_own_run(&x, "one");
    EXPORT_OK(&x, WITH_KEY);
    cr_expect_eq(x.ex.left_out.findings, 1);
}

Test(export_refused, a_ledger_with_a_close_alone) {
    exchange_close(&x);
    EXPORT_CODE(&x, WITH_KEY | WITH_TRUST, CS_CODE_NOTHING_TO_CHECK);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_NOTHING_TO_CHECK);
    cr_expect_eq(folder_count(x.folder), 1);
    exchange_own_run(&x, "one");
    EXPORT_OK(&x, WITH_KEY);
    cr_expect_eq(folder_count(x.folder), 2);
}

/* The lines as they came need no key, and say as little without a run. */
Test(export_refused, an_imported_close_alone) {
    exchange_imported_close(&x);
    EXPORT_CODE(&x, 0, CS_CODE_NOTHING_TO_CHECK);
    EXPORT_CODE(&x, WITH_TRUST, CS_CODE_NOTHING_TO_CHECK);
    cr_expect_eq(folder_count(x.folder), 1);
    cr_assert_eq(unlink(x.ledger), 0);
    forge_bundle theirs = exchange_bundle(&x.theirs, true);
    exchange_import_good(&x, &theirs, 5, 0);
    EXPORT_OK(&x, 0);
}

Test(export_refused, inputs_that_are_no_ledger) {
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_IO); /* none at all */
    EXPECT_WHERE(x.err, x.ledger);
    forge_bundle bundle = exchange_bundle(&x.theirs, true);
    forge_bytes file = forge_file(&bundle);
    file_write(x.ledger, file.ptr, file.len);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_INPUT_UNKNOWN);
    EXPECT_WHERE(x.err, x.ledger);
    cr_expect_eq(folder_count(x.folder), 1);
}

Test(export_refused, a_signer_who_is_not_trusted) {
    exchange_own_run(&x, "ours");
    forge_bundle theirs = exchange_bundle(&x.theirs, true);
    exchange_import_good(&x, &theirs, 5, 0);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_ENVELOPE_KEY_UNKNOWN); /* our own key alone */
    cr_expect_eq(access(x.out, F_OK), -1);
    EXPORT_OK(&x, WITH_KEY | WITH_TRUST);
}

/* Change rows behind the writer's back, without its triggers, which are put back. */
static void damage(const char *sql) {
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(x.ledger, &db), SQLITE_OK);
    char *all =
        forge_text("DROP TRIGGER entry_update; DROP TRIGGER entry_delete; DROP TRIGGER entry_insert; %s; %s; %s; %s",
                   sql, cs_ledger_schema[1], cs_ledger_schema[2], cs_ledger_schema[3]);
    cr_assert_eq(sqlite3_exec(db, all, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert_gt(sqlite3_total_changes(db), 0);
    cr_assert_eq(sqlite3_close(db), SQLITE_OK);
}

Test(export_refused, a_ledger_with_a_damaged_row) {
    forge_bundle theirs = exchange_bundle(&x.theirs, true);
    exchange_import_good(&x, &theirs, 5, 0);
    damage("UPDATE entry SET added_unix_ms = 1 WHERE id = 2");
    static const unsigned with[] = {0, WITH_TRUST, WITH_TRUST | WITH_KEY};
    for (size_t i = 0; i < 3; i++) {
        EXPORT_CODE(&x, with[i], CS_CODE_LEDGER_ROW);
        cr_expect_not_null(strstr(x.err.where, "entry 2"), "%s", x.err.where);
        cr_expect_not_null(strstr(x.err.where, "ledger.db"), "%s", x.err.where);
        cr_expect_eq(access(x.out, F_OK), -1);
    }
    cr_expect_str_eq(x.findings, "2 ledger-row");
}

/* The response of a run goes into its row's digest by its length only: without a key, the link answers for it. */
Test(export_refused, a_ledger_with_a_changed_message) {
    forge_bundle theirs = exchange_bundle(&x.theirs, true);
    exchange_import_good(&x, &theirs, 5, 0);
    damage("UPDATE entry SET response = CAST(replace(CAST(response AS TEXT), '42', '43') AS BLOB) WHERE id = 4");
    EXPORT_CODE(&x, 0, CS_CODE_LINK_ENTRY);
    cr_expect_not_null(strstr(x.err.where, "entry 4: link"), "%s", x.err.where);
    EXPORT_CODE(&x, WITH_TRUST, CS_CODE_RESULT_DIGEST);
    EXPORT_CODE(&x, WITH_TRUST | WITH_KEY, CS_CODE_RESULT_DIGEST);
    cr_expect_eq(access(x.out, F_OK), -1);
}

Test(export_refused, an_unclosed_session) {
    cs_ledger *ledger = NULL;
    forge_bundle bundle = exchange_bundle(&x.theirs, false);
    exchange_import_good(&x, &bundle, 4, 0);
    EXPORT_OK(&x, WITH_TRUST | WITH_KEY);
    forge_run run = forge_single();
    run.session = "1111111111111111111111111111111111111111111111111111111111111111";
    run.sequence = 1;
    forge_seal(&run);
    forge_bytes request = forge_request(&run);
    forge_bytes response = forge_response(&run);
    cs_ledger_row row = {.kind = cs_view_of("run"),
                         .daemon = cs_view_of(""),
                         .code = cs_view_of(""),
                         .detail = cs_view_of(""),
                         .request = cs_view_bytes(request.ptr, request.len),
                         .response = cs_view_bytes(response.ptr, response.len),
                         .envelope = cs_view_of(forge_envelope(&x.theirs, forge_statement(&run))),
                         .record_sha256 = cs_view_of(run.record_sha256)};
    int64_t id = 0;
    cr_assert_eq(cs_ledger_open(x.ledger, 1000, &ledger, NULL), CS_OK);
    cr_assert_eq(cs_ledger_append(ledger, &row, &id, NULL), CS_OK);
    cs_ledger_close(ledger);
    forge_bytes before = exchange_read(x.out);
    EXPORT_CODE(&x, WITH_TRUST | WITH_KEY, CS_CODE_CHAIN_UNCLOSED);
    cr_expect(exchange_same(exchange_read(x.out), before));
}

/* A message in a row may have 48 MiB. As base64 that is all that a line may have, and the rest of the line comes on
 * top. */
Test(export_refused, an_entry_that_makes_no_line) {
    exchange_own_run(&x, "one");
    EXPORT_OK(&x, WITH_KEY);
    size_t len = CS_MAX_LEDGER_MESSAGE - 1024;
    char *output = malloc(len + 1);
    cr_assert_not_null(output);
    memset(output, 'x', len);
    output[len] = '\0';
    forge_run run = forge_single();
    run.output = output;
    forge_seal(&run);
    exchange_append_run(&x, &run);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_LINE_TOO_LONG);
    cr_expect_not_null(strstr(x.err.message, "entry 2"), "%s", x.err.message);
    EXPECT_WHERE(x.err, x.ledger);
    cr_expect_eq(exchange_verify(x.out, &x.trust).runs, 1);
    cr_expect_eq(folder_count(x.folder), 2);
    free(output);
}

/* ---- the file that is there ---------------------------------------------------------------------- */

Test(export_refused, a_file_that_others_may_write) {
    forge_bytes before = one_exported();
    static const mode_t modes[] = {0620, 0602, 0666};
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(chmod(x.out, modes[i]), 0);
        EXPORT_CODE(&x, WITH_KEY, CS_CODE_EXPORT_PERMISSIONS);
        EXPECT_WHERE(x.err, x.out);
        expect_untouched(before);
    }
    cr_assert_eq(chmod(x.out, 0644), 0);
    EXPORT_OK(&x, WITH_KEY);
}

Test(export_refused, a_file_of_somebody_else) {
    if (geteuid() != 0) cr_skip_test("only root can give a file away");
    forge_bytes before = one_exported();
    cr_assert_eq(chown(x.out, 12345, 0), 0);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_EXPORT_PERMISSIONS);
    expect_untouched(before);
    cr_assert_eq(chown(x.out, 0, 0), 0);
    EXPORT_OK(&x, WITH_KEY);
}

Test(export_refused, a_symbolic_link) {
    forge_bytes before = one_exported();
    char moved[192];
    (void)snprintf(moved, sizeof moved, "%s/moved.jsonl", x.folder);
    cr_assert_eq(rename(x.out, moved), 0);
    cr_assert_eq(symlink(moved, x.out), 0);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_EXPORT_PERMISSIONS);
    cr_assert_eq(unlink(x.out), 0);
    cr_assert_eq(symlink("nowhere", x.out), 0);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_EXPORT_PERMISSIONS);
    cr_assert_eq(unlink(x.out), 0);
    cr_assert_eq(rename(moved, x.out), 0);
    expect_untouched(before);
    EXPORT_OK(&x, WITH_KEY);
}

Test(export_refused, places_that_hold_no_file) {
    exchange_own_run(&x, "one");
    cr_assert_eq(mkdir(x.out, 0700), 0);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_EXPORT_PERMISSIONS);
    cr_assert_eq(rmdir(x.out), 0);
    cr_assert_eq(mkfifo(x.out, 0600), 0);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_EXPORT_PERMISSIONS);
    cr_assert_eq(unlink(x.out), 0);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%.100s", x.out);
    cr_assert_eq(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_EXPORT_PERMISSIONS);
    cr_assert_eq(close(fd) + unlink(x.out), 0);
    (void)snprintf(x.out, sizeof x.out, "%.120s/no-such-folder/out.jsonl", x.folder);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_IO);
    EXPECT_WHERE(x.err, x.out);
    (void)snprintf(x.out, sizeof x.out, "%.120s/", x.folder);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_IO);
    (void)snprintf(x.out, sizeof x.out, "%.120s/out.jsonl", x.folder);
    EXPORT_OK(&x, WITH_KEY);
}

Test(export_refused, a_file_that_is_no_bundle_of_ours) {
    exchange_own_run(&x, "one");
    forge_bundle theirs = exchange_bundle(&x.theirs, true);
    forge_bundle unlinked = exchange_bundle(&x.ours, false);
    forge_bundle checkpoint = {.count = 0};
    forge_add(&checkpoint,
              forge_text("{\"link\":%s}", forge_envelope(&x.ours, forge_link(1, "", forge_sha256("", 0), 0))));
    forge_bundle attested = {.count = 0};
    forge_add(&attested,
              forge_envelope(&x.ours, forge_text("{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{"
                                                 "\"digest\":{}}],\"predicateType\":\"https://slsa.dev/"
                                                 "verification_summary/v1\",\"predicate\":{}}")));
    const forge_bytes files[] = {
        forge_file(&theirs),   /* linked by somebody who is trusted, and not us */
        forge_file(&unlinked), /* not linked */
        {.ptr = forge_text("%s", "hello\n"), .len = 6},
        {.ptr = file_read(x.ledger, &(size_t){0}), .len = 4096}, /* the beginning of a ledger */
        forge_file(&attested),
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        file_write(x.out, files[i].ptr, files[i].len);
        cr_assert_eq(chmod(x.out, 0600), 0);
        EXPORT_CODE(&x, WITH_KEY | WITH_TRUST, CS_CODE_EXPORT_FOREIGN);
        EXPECT_WHERE(x.err, x.out);
        size_t len = 0;
        char *now = file_read(x.out, &len);
        cr_expect(len == files[i].len && memcmp(now, files[i].ptr, len) == 0, "%zu", i);
        free(now);
        cr_expect_eq(folder_count(x.folder), 2);
    }
    free(files[3].ptr);
    cr_assert_eq(unlink(x.out), 0);
    EXPORT_OK(&x, WITH_KEY | WITH_TRUST);
}

Test(export_refused, the_ledger_itself) {
    exchange_own_run(&x, "one");
    size_t len = 0;
    char *before = file_read(x.ledger, &len);
    memcpy(x.out, x.ledger, sizeof x.out);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_EXPORT_FOREIGN);
    size_t now_len = 0;
    char *now = file_read(x.ledger, &now_len);
    cr_expect(now_len == len && memcmp(before, now, len) == 0);
    free(before);
    free(now);
}

Test(export_refused, a_damaged_file) {
    forge_bytes good = one_exported();
    static const struct {
        size_t from_end; /* which byte */
        char becomes;    /* 0: the file ends before it */
        cs_code code;
    } cases[] = {{1, 0, CS_CODE_LINE_UNFINISHED}, {1, ' ', CS_CODE_LINE_UNFINISHED}, {3, 'x', CS_CODE_LINE_FRAMING}};
    for (size_t i = 0; i < 3; i++) {
        forge_bytes bad = {.ptr = forge_text("%s", good.ptr), .len = good.len};
        if (cases[i].becomes == 0) bad.len -= cases[i].from_end;
        bad.ptr[good.len - cases[i].from_end] = cases[i].becomes;
        file_write(x.out, bad.ptr, bad.len);
        cs_result result = exchange_export(&x, WITH_KEY);
        cr_expect_eq(result, CS_FAILED, "%zu: %s", i, x.err.message);
        cr_expect_eq(x.err.code, cases[i].code, "%zu: %s", i, cs_code_name(x.err.code));
        cr_expect_not_null(strstr(x.err.where, "out.jsonl: line 2"), "%s", x.err.where);
        expect_untouched(bad);
    }
    /* A whole line less: the checkpoint. */
    forge_bundle lines = exchange_lines(good);
    forge_remove(&lines, 1);
    forge_bytes cut = forge_file(&lines);
    file_write(x.out, cut.ptr, cut.len);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_CHECKPOINT_MISSING);
    expect_untouched(cut);
    file_write(x.out, good.ptr, good.len);
    EXPORT_OK(&x, WITH_KEY);
}

/* ---- the key ------------------------------------------------------------------------------------- */

/* A trust file may give our own key a window; what is signed now must be in it. */
Test(export_refused, a_key_outside_of_its_window) {
    exchange_own_run(&x, "one"); /* of September 2026 */
    cs_trusted_key *ours = &x.trust.keys[1];
    ours->not_after_ms = 1000;
    EXPORT_CODE(&x, WITH_KEY | WITH_TRUST, CS_CODE_ENVELOPE_KEY_WINDOW);
    cr_expect_eq(folder_count(x.folder), 1);
    ours->not_after_ms = INT64_MAX;
    EXPORT_OK(&x, WITH_KEY | WITH_TRUST);
}

/* ---- others -------------------------------------------------------------------------------------- */

Test(export_refused, a_file_that_another_process_holds) {
    forge_bytes before = one_exported();
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        int fd = open(x.out, O_RDWR | O_CLOEXEC);
        if (fd < 0 || flock(fd, LOCK_EX) != 0) _exit(1);
        (void)close(ends[1]);
        (void)pause();
        _exit(0);
    }
    (void)close(ends[1]);
    char byte;
    cr_assert_eq(read(ends[0], &byte, 1), 0);
    EXPORT_CODE(&x, WITH_KEY, CS_CODE_EXPORT_LOCKED);
    cr_expect_not_null(strstr(x.err.message, "--lock-wait"), "%s", x.err.message);
    EXPORT_CODE(&x, 0, CS_CODE_EXPORT_LOCKED);
    expect_untouched(before);
    cr_assert_eq(kill(child, SIGKILL), 0);
    cr_assert_eq(waitpid(child, NULL, 0), child);
    EXPORT_OK(&x, WITH_KEY);
    (void)close(ends[0]);
}

/* ---- interruption and a full disk ---------------------------------------------------------------- */

static volatile sig_atomic_t stop_now;

static void stop_at_progress(void *user, uint64_t done, uint64_t total) {
    (void)user;
    (void)done;
    (void)total;
    stop_now = 1;
}

Test(export_refused, an_export_that_is_interrupted) {
    forge_bundle theirs = exchange_bundle(&x.theirs, true);
    exchange_import_good(&x, &theirs, 5, 0);
    cs_export_options options = {.ledger = x.ledger, .out = x.out, .trust = &x.trust, .stop = &stop_now};
    stop_now = 1;
    EXPECT_CODE(cs_export(&options, &x.ex, &x.err), x.err, CS_UNCHECKED, CS_CODE_INTERRUPTED);
    cr_expect_eq(folder_count(x.folder), 2, "the ledger and what was imported");
    /* Only when everything is written: the last moment. */
    stop_now = 0;
    options.on_progress = stop_at_progress;
    EXPECT_CODE(cs_export(&options, &x.ex, &x.err), x.err, CS_UNCHECKED, CS_CODE_INTERRUPTED);
    cr_expect_eq(folder_count(x.folder), 2);
    /* Without a key the ledger is walked twice; the first time is enough. */
    stop_now = 0;
    options.trust = NULL;
    EXPECT_CODE(cs_export(&options, &x.ex, &x.err), x.err, CS_UNCHECKED, CS_CODE_INTERRUPTED);
    cr_expect_eq(folder_count(x.folder), 2);
    stop_now = 0;
    options.on_progress = NULL;
    EXPECT_OK(cs_export(&options, &x.ex, &x.err), x.err);
    cr_expect_eq(folder_count(x.folder), 3);
}

Test(export_refused, a_disk_without_room) {
    for (int i = 0; i < 20; i++)
        exchange_own_run(&x, forge_text("run %d", i));
    (void)signal(SIGXFSZ, SIG_IGN);
    struct rlimit before;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {.rlim_cur = 10000, .rlim_max = before.rlim_max};
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    cs_result result = exchange_export(&x, WITH_KEY);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    cr_expect_eq(result, CS_UNCHECKED);
    cr_expect_eq(x.err.code, CS_CODE_IO);
    EXPECT_WHERE(x.err, x.out);
    cr_expect_eq(folder_count(x.folder), 1);
    EXPORT_OK(&x, WITH_KEY);
    cr_expect_eq(x.ex.added, 20);
}

Test(export_refused, a_folder_that_takes_no_file) {
    exchange_own_run(&x, "one");
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        /* Read the ledger's copy of a folder that nobody may write. */
        if (chmod(x.ledger, 0644) != 0 || chmod(x.folder, 0555) != 0) _exit(1);
        become_nobody();
        cs_result result = exchange_export(&x, WITH_KEY);
        _exit(result == CS_UNCHECKED && x.err.code == CS_CODE_IO ? 0 : 2);
    }
    int status = 1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
    cr_assert_eq(chmod(x.folder, 0755), 0);
    EXPORT_OK(&x, WITH_KEY);
}
