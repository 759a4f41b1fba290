/* harness/export.h: several processes that write one file lose nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/harness/exchange_case.h"

#define ROUNDS ((size_t)6)
#define WRITERS ((size_t)3)

static exchange x;

static void set_up(void) {
    exchange_begin(&x);
}

static void tear_down(void) {
    exchange_end(&x);
}

TestSuite(export_race, .init = set_up, .fini = tear_down);

/* Each has a ledger of its own that grows, and exports it into the common file again and again. */
static void write_rounds(size_t number) {
    (void)snprintf(x.ledger, sizeof x.ledger, "%.120s/ledger-%zu.db", x.folder, number);
    for (size_t i = 0; i < ROUNDS; i++) {
        exchange_own_run(&x, forge_text("writer %zu, run %zu", number, i));
        cs_export_options options = {.ledger = x.ledger, .out = x.out, .key = x.key, .lock_wait_ms = 60000};
        if (cs_export(&options, &x.ex, &x.err) != CS_OK || x.ex.added != 1 || x.ex.present != i) {
            (void)fprintf(stderr, "writer %zu: %s: %s\n", number, x.err.where, x.err.message);
            _exit(1);
        }
    }
    _exit(0);
}

Test(export_race, everything_is_there_in_the_end) {
    pid_t children[WRITERS];
    for (size_t i = 0; i < WRITERS; i++) {
        children[i] = fork();
        cr_assert_geq(children[i], 0);
        if (children[i] == 0) write_rounds(i);
    }
    for (size_t i = 0; i < WRITERS; i++) {
        int status = 1;
        cr_assert_eq(waitpid(children[i], &status, 0), children[i]);
        cr_expect_eq(status, 0);
    }
    cs_verify_summary verified = exchange_verify(x.out, &x.trust);
    cr_expect_eq(verified.runs, WRITERS * ROUNDS);
    cr_expect_eq(verified.duplicates, 0);
    cr_expect_eq(verified.entries, 2 * WRITERS * ROUNDS, "a checkpoint for each export");
    cr_expect(verified.linked);
    cr_expect_eq(folder_count(x.folder), WRITERS + 1, "nothing is left beside it");
}

/* The same ledger by several at once: one of them writes, and the others find everything there. */
Test(export_race, one_ledger_by_several) {
    for (int i = 0; i < 10; i++)
        exchange_own_run(&x, forge_text("run %d", i));
    pid_t children[WRITERS];
    for (size_t i = 0; i < WRITERS; i++) {
        children[i] = fork();
        cr_assert_geq(children[i], 0);
        if (children[i] != 0) continue;
        cs_export_options options = {.ledger = x.ledger, .out = x.out, .key = x.key, .lock_wait_ms = 60000};
        bool good = cs_export(&options, &x.ex, &x.err) == CS_OK && x.ex.added + x.ex.present == 10;
        _exit(good ? 0 : 1);
    }
    for (size_t i = 0; i < WRITERS; i++) {
        int status = 1;
        cr_assert_eq(waitpid(children[i], &status, 0), children[i]);
        cr_expect_eq(status, 0);
    }
    cs_verify_summary verified = exchange_verify(x.out, &x.trust);
    cr_expect_eq(verified.runs, 10);
    cr_expect_eq(verified.entries, 11);
    cr_expect_eq(folder_count(x.folder), 2);
}
