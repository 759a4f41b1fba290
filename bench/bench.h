/* Measurements, each beside the limit that the hardware or the library under it sets in the same run.
 *
 * These programs print; they are not tests and assert nothing about speed.
 */
#ifndef CS_BENCH_BENCH_H
#define CS_BENCH_BENCH_H

#include "harness/ledger.h"
#include "harness/sign.h"
#include "verify/trust.h"

/* What all measurements share. */
typedef struct cs_bench {
    char folder[256]; /* a private temporary folder, removed at the end */
    const char *build; /* folder of the built programs */
    const char *provider; /* the only one that `daemon` measures; NULL: all */
    cs_key *key;
    cs_trust trust;
    cs_sha256 *hash;
} cs_bench;

/* One signed run with the bytes that a ledger row or bundle line holds. */
typedef struct cs_bench_run {
    cs_buf request;
    cs_buf response;
    cs_buf envelope;
    cs_digest record_sha256;
} cs_bench_run;

double bench_seconds(void); /* monotonic clock */
double bench_cpu_seconds(void); /* processor time of this thread: what "per core" means */
void bench_fail(const char *what, const cs_error *err) __attribute__((noreturn));

/* A project run whose artifact has `artifact` bytes; `serial` makes its record its own. Signed. */
void bench_make_run(cs_bench *bench, unsigned serial, size_t artifact, cs_bench_run *out);
void bench_run_free(cs_bench_run *run);
cs_ledger_row bench_row(const cs_bench_run *run); /* borrows */

void bench_hash(cs_bench *bench);
void bench_verify(cs_bench *bench);
void bench_gate(cs_bench *bench);
void bench_append(cs_bench *bench);
void bench_daemon(cs_bench *bench);

#endif
