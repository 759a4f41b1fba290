/* cs_side_file_write: where an entry goes that the ledger can't take. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/ledger.h"
#include "tests/support/folder.h"
#include "tests/support/rows.h"
#include "verify/source.h"

static char folder[128]; /* of the ledger */
static char here[128];   /* the current folder */
static char temporary[128];
static char ledger[256];

static void set_up(void) {
    folder_make(folder);
    folder_make(here);
    folder_make(temporary);
    cr_assert_eq(chdir(here), 0);
    setenv("TMPDIR", temporary, 1);
    (void)snprintf(ledger, sizeof ledger, "%s/ledger.db", folder);
}

static void tear_down(void) {
    unsetenv("TMPDIR");
    cr_assert_eq(chdir("/"), 0);
    if (access(folder, F_OK) == 0) folder_remove(folder);
    folder_remove(here);
    folder_remove(temporary);
}

TestSuite(side_file, .init = set_up, .fini = tear_down);

static void write_good(const char *ledger_path, const cs_ledger_row *row, char path[512]) {
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_side_file_write(ledger_path, row, path, 512, &err), CS_OK, "%s", err.message);
}

/* PREFIX, eight hexadecimal digits, SUFFIX. */
static void expect_name(const char *path, const char *prefix, const char *suffix) {
    size_t len = strlen(prefix);
    cr_assert_eq(strlen(path), len + 8 + strlen(suffix), "%s", path);
    cr_expect_eq(strncmp(path, prefix, len), 0, "%s", path);
    cr_expect(cs_is_hex((cs_view){(const uint8_t *)path + len, 8}, 8), "%s", path);
    cr_expect_str_eq(path + len + 8, suffix);
}

static void expect_content(const char *path, const char *content) {
    struct stat info;
    size_t len = 0;
    cr_assert_eq(lstat(path, &info), 0, "%s", path);
    cr_expect(S_ISREG(info.st_mode) && (info.st_mode & 07777) == 0600);
    char *found = file_read(path, &len);
    cr_expect_eq(len, strlen(content));
    cr_expect_str_eq(found, content);
    free(found);
}

Test(side_file, a_run_is_a_bundle_line) {
    char path[512];
    char prefix[512];
    cs_ledger_row row = rows_run();
    write_good(ledger, &row, path);
    (void)snprintf(prefix, sizeof prefix, "%s.unsaved-1700000000123-", ledger);
    expect_name(path, prefix, ".jsonl");
    expect_content(path, "{\"request\":\"dGhlIHJlcXVlc3Q=\",\"response\":\"dGhlIHJlc3BvbnNl\","
                         "\"envelope\":{\"payloadType\":\"x\"}}\n");

    cs_source *source = NULL;
    cs_entry entry;
    bool more = false;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_source_open(path, &source, &err), CS_OK);
    cr_expect_eq(cs_source_what(source), CS_SOURCE_BUNDLE);
    cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_OK, "%s: %s", err.where, err.message);
    cr_expect(more && entry.response.len == 12 && memcmp(entry.response.ptr, "the response", 12) == 0);
    cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_expect_not(more);
    cs_source_close(source);
}

Test(side_file, the_signed_entries_of_a_session_are_bundle_lines) {
    char path[512];
    cs_ledger_row row = rows_run();
    row.kind = cs_view_of(CS_KIND_UNANSWERED);
    row.response = (cs_view){0};
    write_good(ledger, &row, path);
    expect_content(path, "{\"request\":\"dGhlIHJlcXVlc3Q=\",\"envelope\":{\"payloadType\":\"x\"}}\n");
    row.kind = cs_view_of(CS_KIND_CLOSE);
    row.request = (cs_view){0};
    row.record_sha256 = cs_view_of("");
    write_good(ledger, &row, path);
    expect_content(path, "{\"envelope\":{\"payloadType\":\"x\"}}\n");
}

Test(side_file, a_finding_is_an_object_with_everything) {
    char path[512];
    char prefix[512];
    cs_ledger_row row = rows_finding();
    row.detail = (cs_view){(const uint8_t *)"a \"b\"\n", 6};
    write_good(ledger, &row, path);
    (void)snprintf(prefix, sizeof prefix, "%s.unsaved-1700000000456-", ledger);
    expect_name(path, prefix, ".finding.json");
    expect_content(path, "{\"kind\":\"finding\",\"code\":\"result-digest\",\"detail\":\"a \\\"b\\\"\\n\","
                         "\"daemon\":\"http://127.0.0.1:8746\",\"added_unix_ms\":1700000000456,"
                         "\"request\":\"dGhlIHJlcXVlc3Q=\",\"response\":\"dGhlIHJlc3BvbnNl\","
                         "\"describe_before\":\"YmVmb3Jl\"}\n");
}

Test(side_file, two_never_share_a_name) {
    char first[512];
    char second[512];
    cs_ledger_row row = rows_run();
    write_good(ledger, &row, first);
    write_good(ledger, &row, second);
    cr_expect_str_neq(first, second);
    cr_expect_eq(folder_count(folder), 2);
}

Test(side_file, a_ledger_named_without_a_folder) {
    char path[512];
    cs_ledger_row row = rows_run();
    write_good("ledger.db", &row, path);
    expect_name(path, "./ledger.db.unsaved-1700000000123-", ".jsonl");
    cr_expect_eq(folder_count(here), 1);
}

/* ---- the next place ------------------------------------------------------------------------------ */

Test(side_file, without_its_folder_the_current_one) {
    char path[512];
    cs_ledger_row row = rows_run();
    folder_remove(folder);
    write_good(ledger, &row, path);
    expect_name(path, "./ledger.db.unsaved-1700000000123-", ".jsonl");
    cr_expect_eq(folder_count(here), 1);
}

/* Write without root's rights; the exit status is the class of the result. */
static int write_as_nobody(void) {
    pid_t child = fork();
    if (child == 0) {
        become_nobody();
        char path[512];
        cs_ledger_row row = rows_run();
        cs_error err = {.code = CS_CODE_OK};
        cs_result result = cs_side_file_write(ledger, &row, path, sizeof path, &err);
        bool sound = result == CS_OK ? path[0] != '\0' : path[0] == '\0' && err.code == CS_CODE_IO;
        _exit(sound ? (int)result : 100);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Which of the three places may be written, also by others than their owner. */
static void open_places(bool ledgers, bool current, bool temporaries) {
    cr_assert_eq(chmod(folder, ledgers ? 0777 : 0555), 0);
    cr_assert_eq(chmod(here, current ? 0777 : 0555), 0);
    cr_assert_eq(chmod(temporary, temporaries ? 0777 : 0555), 0);
}

static void expect_counts(size_t ledgers, size_t current, size_t temporaries) {
    cr_expect_eq(folder_count(folder), ledgers);
    cr_expect_eq(folder_count(here), current);
    cr_expect_eq(folder_count(temporary), temporaries);
}

Test(side_file, the_first_place_that_may_be_written) {
    open_places(false, false, false);
    cr_expect_eq(write_as_nobody(), CS_UNCHECKED);
    expect_counts(0, 0, 0);
    open_places(false, false, true);
    cr_expect_eq(write_as_nobody(), CS_OK);
    expect_counts(0, 0, 1);
    open_places(false, true, true);
    cr_expect_eq(write_as_nobody(), CS_OK);
    expect_counts(0, 1, 1);
    open_places(true, true, true);
    cr_expect_eq(write_as_nobody(), CS_OK);
    expect_counts(1, 1, 1);
}

/* A file that can't be written to its end is taken away again, in every place. */
Test(side_file, a_partial_file_is_not_left) {
    static uint8_t bytes[100000];
    char path[512];
    cs_ledger_row row = rows_run();
    row.response = (cs_view){bytes, sizeof bytes};
    struct rlimit before;
    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    struct rlimit small = {.rlim_cur = 50000, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    cs_error err = CS_ERROR_INIT;
    cs_result result = cs_side_file_write(ledger, &row, path, sizeof path, &err);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
    cr_expect_eq(result, CS_UNCHECKED);
    cr_expect_eq(err.code, CS_CODE_IO);
    cr_expect_str_eq(path, "");
    expect_counts(0, 0, 0);
    write_good(ledger, &row, path); /* the twin: room again */
    cr_expect_eq(folder_count(folder), 1);
}

/* A place whose path does not fit into what the caller has is passed over. */
Test(side_file, a_path_that_does_not_fit) {
    char path[64];
    char tiny[8];
    cs_ledger_row row = rows_run();
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_side_file_write(ledger, &row, path, sizeof path, &err), CS_OK);
    expect_name(path, "./ledger.db.unsaved-1700000000123-", ".jsonl");
    cr_expect_eq(cs_side_file_write(ledger, &row, tiny, sizeof tiny, &err), CS_UNCHECKED);
    cr_expect_eq(err.code, CS_CODE_IO);
    cr_expect_str_eq(tiny, "");
}

Test(side_file, a_run_that_is_none) {
    char path[512];
    cs_ledger_row row = rows_run();
    cs_error err = CS_ERROR_INIT;
    row.envelope = (cs_view){0};
    cr_expect_eq(cs_side_file_write(ledger, &row, path, sizeof path, &err), CS_UNCHECKED);
    cr_expect_eq(err.code, CS_CODE_INTERNAL);
    cr_expect_eq(folder_count(folder), 0);
}
