/* Signed durable appends beside bare write + fsync on the same folder. */
#include "bench/bench.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define APPENDS 400u

/* The limit: a file that grows by as much as one entry takes, made durable each time. */
static double bare_fsync(const cs_bench *bench, size_t bytes) {
    char path[320];
    snprintf(path, sizeof path, "%s/fsync", bench->folder);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    static const uint8_t zeros[16384];
    if (fd < 0 || bytes > sizeof zeros) {
        bench_fail("fsync file", NULL);
    }
    const double start = bench_seconds();
    for (unsigned i = 0; i < APPENDS; i++) {
        if (write(fd, zeros, bytes) != (ssize_t)bytes || fsync(fd) != 0) {
            bench_fail("fsync", NULL);
        }
    }
    const double seconds = bench_seconds() - start;
    close(fd);
    unlink(path);
    return seconds;
}

void bench_append(cs_bench *bench) {
    char path[320];
    snprintf(path, sizeof path, "%s/append.db", bench->folder);
    cs_error err = CS_ERROR_INIT;
    cs_ledger *ledger = NULL;
    if (cs_ledger_open(path, CS_LOCK_WAIT_MS, &ledger, &err) != CS_OK) {
        bench_fail("ledger", &err);
    }
    double ours = 0;
    size_t bytes = 0;
    for (unsigned i = 0; i < APPENDS; i++) {
        cs_bench_run run;
        bench_make_run(bench, i, 4096, &run);
        const cs_ledger_row row = bench_row(&run);
        bytes = row.request.len + row.response.len + row.envelope.len;
        int64_t id = 0;
        const double start = bench_seconds();
        if (cs_ledger_append(ledger, &row, &id, &err) != CS_OK) {
            bench_fail("append", &err);
        }
        ours += bench_seconds() - start;
        bench_run_free(&run);
    }
    cs_ledger_close(ledger);
    unlink(path);
    const double limit = bare_fsync(bench, bytes);
    printf("durable appends, 4 KiB artifact:  %8.0f /s     write+fsync     %8.0f /s     ratio %.2f\n", APPENDS / ours,
           APPENDS / limit, limit / ours);
}
