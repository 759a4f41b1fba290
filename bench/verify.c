/* Verifying a ledger and a bundle beside the limit that signature and hash set together.
 *
 * The limit is one libsodium Ed25519 verification of the same signed bytes an entry, and OpenSSL's
 * SHA-256 once over the bytes that the digests cover; both are measured here, right before.
 */
#include "bench/bench.h"

#include "records/dsse.h"
#include "verify/verify.h"

#include <openssl/evp.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 7

typedef struct measured {
    double seconds; /* processor time */
    uint64_t runs;
} measured;

static measured verify_file(const cs_bench *bench, const char *path) {
    cs_error err = CS_ERROR_INIT;
    cs_source *source = NULL;
    cs_verify_summary summary;
    const cs_verify_options options = {.trust = &bench->trust};
    const double start = bench_cpu_seconds();
    if (cs_source_open(path, &source, &err) != CS_OK ||
        cs_verify_source(source, &options, &summary, &err) != CS_OK) {
        bench_fail("verify", &err);
    }
    cs_source_close(source);
    return (measured){.seconds = bench_cpu_seconds() - start, .runs = summary.runs};
}

/* Processor time of `count` times: verify this envelope's signature, hash this many bytes. */
static double limit_seconds(const cs_bench *bench, const cs_bench_run *run, unsigned count) {
    cs_envelope envelope;
    cs_error err = CS_ERROR_INIT;
    if (cs_envelope_decode(cs_buf_view(&run->envelope), &envelope, &err) != CS_OK) {
        bench_fail("envelope", &err);
    }
    cs_buf pae = CS_BUF_INIT(CS_MAX_ENVELOPE_BYTES);
    if (!cs_dsse_pae(CS_PAYLOAD_TYPE, cs_buf_view(&envelope.payload), &pae)) {
        bench_fail("pae", NULL);
    }
    const uint8_t *key = bench->trust.keys[0].key.bytes;
    /* One context for all, as a careful user of OpenSSL has it: the limit is not to look lower than it is. */
    EVP_MD *sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (sha256 == NULL || context == NULL) {
        bench_fail("limit", NULL);
    }
    uint8_t out[EVP_MAX_MD_SIZE];
    const double start = bench_cpu_seconds();
    for (unsigned i = 0; i < count; i++) {
        if (crypto_sign_verify_detached(envelope.signature, pae.ptr, pae.len, key) != 0 ||
            EVP_DigestInit_ex2(context, sha256, NULL) != 1 ||
            EVP_DigestUpdate(context, run->request.ptr, run->request.len) != 1 ||
            EVP_DigestUpdate(context, run->response.ptr, run->response.len) != 1 ||
            EVP_DigestFinal_ex(context, out, NULL) != 1) {
            bench_fail("limit", NULL);
        }
    }
    const double seconds = bench_cpu_seconds() - start;
    EVP_MD_CTX_free(context);
    EVP_MD_free(sha256);
    cs_buf_free(&pae);
    cs_envelope_free(&envelope);
    return seconds;
}

static void write_bundle_line(FILE *out, const cs_bench_run *run) {
    cs_buf line = CS_BUF_INIT(CS_MAX_LINE_BYTES);
    const bool good = cs_buf_text(&line, "{\"request\":\"") && cs_base64_append(&line, cs_buf_view(&run->request)) &&
                      cs_buf_text(&line, "\",\"response\":\"") &&
                      cs_base64_append(&line, cs_buf_view(&run->response)) && cs_buf_text(&line, "\",\"envelope\":") &&
                      cs_buf_append(&line, run->envelope.ptr, run->envelope.len) && cs_buf_text(&line, "}\n");
    if (!good || fwrite(line.ptr, 1, line.len, out) != line.len) {
        bench_fail("bundle", NULL);
    }
    cs_buf_free(&line);
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double values[ROUNDS]) {
    qsort(values, ROUNDS, sizeof values[0], by_value);
    return values[ROUNDS / 2];
}

/* Limit, ledger and bundle in turn, several times, so that what else the machine does meets all three. */
static void report(const cs_bench *bench, const char *what, const cs_bench_run *run, unsigned count,
                   const char *const paths[2]) {
    double seconds[3][ROUNDS];
    for (size_t r = 0; r < ROUNDS; r++) {
        seconds[2][r] = limit_seconds(bench, run, count);
        for (size_t i = 0; i < 2; i++) {
            const measured ours = verify_file(bench, paths[i]);
            if (ours.runs != count) {
                bench_fail("not every run was verified", NULL);
            }
            seconds[i][r] = ours.seconds;
        }
    }
    static const char *const names[] = {"ledger", "bundle"};
    const double mb = (double)(run->request.len + run->response.len) * count / 1e6;
    const double limit = median(seconds[2]);
    for (size_t i = 0; i < 2; i++) {
        const double ours = median(seconds[i]);
        printf("verify %s, %-14s %8.0f /s %6.0f MB/s   signature + hash %6.0f /s %6.0f MB/s   ratio %.2f\n", names[i],
               what, count / ours, mb / ours, count / limit, mb / limit, limit / ours);
    }
}

static void measure(cs_bench *bench, const char *what, unsigned count, size_t artifact) {
    char ledger_path[320];
    char bundle_path[320];
    snprintf(ledger_path, sizeof ledger_path, "%s/verify.db", bench->folder);
    snprintf(bundle_path, sizeof bundle_path, "%s/verify.jsonl", bench->folder);
    cs_error err = CS_ERROR_INIT;
    cs_ledger *ledger = NULL;
    FILE *bundle = fopen(bundle_path, "wx");
    if (bundle == NULL || cs_ledger_open(ledger_path, CS_LOCK_WAIT_MS, &ledger, &err) != CS_OK) {
        bench_fail("files", &err);
    }
    cs_bench_run run = {0};
    for (unsigned i = 0; i < count; i++) {
        bench_run_free(&run);
        bench_make_run(bench, i, artifact, &run);
        const cs_ledger_row row = bench_row(&run);
        int64_t id = 0;
        if (cs_ledger_append(ledger, &row, &id, &err) != CS_OK) {
            bench_fail("append", &err);
        }
        write_bundle_line(bundle, &run);
    }
    cs_ledger_close(ledger);
    fclose(bundle);

    const char *const paths[] = {ledger_path, bundle_path};
    report(bench, what, &run, count, paths);
    bench_run_free(&run);
    unlink(ledger_path);
    unlink(bundle_path);
}

void bench_verify(cs_bench *bench) {
    measure(bench, "4 KiB each:", 4000, 4096);
    measure(bench, "16 MiB each:", 16, (size_t)16 * 1024 * 1024);
}
