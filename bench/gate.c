/* The gate beside verifying alone: the same ledger, in the same run. Peak memory is that of a process of its own. */
#include "bench/bench.h"

#include "gate/gate.h"
#include "verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 5

static void write_ledger(cs_bench *bench, const char *path, unsigned count) {
    cs_error err = CS_ERROR_INIT;
    cs_ledger *ledger = NULL;
    if (cs_ledger_open(path, CS_LOCK_WAIT_MS, &ledger, &err) != CS_OK || cs_ledger_begin(ledger, &err) != CS_OK) {
        bench_fail("ledger", &err);
    }
    for (unsigned i = 0; i < count; i++) {
        cs_bench_run run;
        bench_make_run(bench, i, 4096, &run);
        const cs_ledger_row row = bench_row(&run);
        int64_t id = 0;
        if (cs_ledger_append(ledger, &row, &id, &err) != CS_OK) {
            bench_fail("append", &err);
        }
        bench_run_free(&run);
    }
    if (cs_ledger_commit(ledger, &err) != CS_OK) {
        bench_fail("commit", &err);
    }
    cs_ledger_close(ledger);
}

static double verify_seconds(const cs_bench *bench, const char *path) {
    cs_error err = CS_ERROR_INIT;
    cs_source *source = NULL;
    cs_verify_summary summary;
    const cs_verify_options options = {.trust = &bench->trust};
    const double start = bench_cpu_seconds();
    if (cs_source_open(path, &source, &err) != CS_OK || cs_verify_source(source, &options, &summary, &err) != CS_OK) {
        bench_fail("verify", &err);
    }
    cs_source_close(source);
    return bench_cpu_seconds() - start;
}

/* Everything that is asked of a record without a repository; every record is selected and counts. */
static double gate_seconds(const cs_bench *bench, const char *path, unsigned count) {
    cs_policy_requirement requirement = {.name = "all",
                                         .kind = CS_POLICY_PROJECT,
                                         .floor = CS_TIER_CONTAINER,
                                         .max_age_s = 3600,
                                         .min_records = count,
                                         .cross_check = true,
                                         .reproduced_providers = 1,
                                         .reproduced_runs = 1};
    const cs_policy policy = {.trust = bench->trust, .requirements = &requirement, .requirement_count = 1};
    const cs_gate_options options = {.policy = &policy,
                                     .sources = &path,
                                     .source_count = 1,
                                     .now_ms = 1790000000000 + 60000,
                                     .skew_ms = 5000};
    cs_gate_verdict verdict;
    const double start = bench_cpu_seconds();
    if (cs_gate_judge(&options, &verdict) != CS_OK || verdict.sections[0].counted != count) {
        bench_fail("gate", &verdict.err);
    }
    const double seconds = bench_cpu_seconds() - start;
    cs_gate_verdict_free(&verdict);
    return seconds;
}

/* In KiB. A child begins with what its parent holds, so the difference between two counts is what tells. */
static long peak_of(const cs_bench *bench, const char *path, unsigned count) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        (void)gate_seconds(bench, path, count);
        _exit(0);
    }
    int status = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        bench_fail("child", NULL);
    }
    return usage.ru_maxrss;
}

static void measure(cs_bench *bench, unsigned count) {
    char path[320];
    snprintf(path, sizeof path, "%s/gate.db", bench->folder);
    write_ledger(bench, path, count);
    double verify = 0;
    double gate = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        const double one = verify_seconds(bench, path);
        const double other = gate_seconds(bench, path, count);
        if (i == 0 || one < verify) verify = one;
        if (i == 0 || other < gate) gate = other;
    }
    printf("gate ledger, %5u of 4 KiB: %8.1f us each   verify alone %6.1f us each   ratio %.2f   peak %ld KiB\n", count,
           gate / count * 1e6, verify / count * 1e6, gate / verify, peak_of(bench, path, count));
    unlink(path);
}

void bench_gate(cs_bench *bench) {
    measure(bench, 1000);
    measure(bench, 10000);
}
