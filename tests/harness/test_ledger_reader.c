/* A reader and the end of the last writer: that one puts everything into the file and removes the -wal beside it, after
 * which the file looks as if nobody had it open. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/ledger_case.h"
#include "tests/support/rows.h"

#define LATER 5
#define ROW_BYTES ((size_t)20000) /* several pages */

TestSuite(ledger_reader, .init = ledger_set_up, .fini = ledger_tear_down);

/* All is in the file when it returns. In a child, too, where nothing may be asserted. */
static bool append(int count) {
    cs_error err = CS_ERROR_INIT;
    cs_ledger *ledger = NULL;
    uint8_t *filler = calloc(1, ROW_BYTES);
    bool good = filler != NULL && cs_ledger_open(ledger_path, 20000, &ledger, &err) == CS_OK;
    for (int i = 0; good && i < count; i++) {
        cs_ledger_row row = rows_run();
        int64_t id = 0;
        row.response = cs_view_bytes(filler, ROW_BYTES);
        good = cs_ledger_append(ledger, &row, &id, &err) == CS_OK;
    }
    cs_ledger_close(ledger);
    free(filler);
    return good;
}

/* Begins to write when the reader has had a first look, and waits for the file to come to rest. */
static pid_t start_writer(void) {
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child != 0) return child;
    (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    _exit(append(LATER) ? 0 : 1);
}

Test(ledger_reader, a_writer_that_ends_behind_its_first_look) {
    cr_assert(append(1));
    for (uint64_t round = 0; round < 3; round++) {
        int status = -1;
        uint64_t before = 1 + round * LATER;
        pid_t writer = start_writer();
        cr_assert_eq(utimensat(AT_FDCWD, ledger_path, NULL, 0), 0); /* so that it is waited for */
        uint64_t rows = ledger_count();
        cr_expect(rows >= before && rows <= before + LATER, "%llu", (unsigned long long)rows);
        cr_assert_eq(waitpid(writer, &status, 0), writer);
        cr_expect_eq(status, 0);
    }
    cr_expect_eq(ledger_count(), 1 + 3 * LATER);
}
