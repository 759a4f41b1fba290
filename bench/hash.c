/* Result digest of a large artifact beside OpenSSL's bare SHA-256 over the same bytes. */
#include "bench/bench.h"

#include "records/digest.h"

#include <openssl/evp.h>
#include <stdio.h>

#define ROUNDS 8

static double bare_sha256(const uint8_t *bytes, size_t len) {
    uint8_t out[EVP_MAX_MD_SIZE];
    unsigned out_len = 0;
    const double start = bench_cpu_seconds();
    for (int i = 0; i < ROUNDS; i++) {
        if (EVP_Digest(bytes, len, out, &out_len, EVP_sha256(), NULL) != 1) {
            bench_fail("EVP_Digest", NULL);
        }
    }
    return bench_cpu_seconds() - start;
}

void bench_hash(cs_bench *bench) {
    cs_bench_run run;
    const size_t artifact = (size_t)24 * 1024 * 1024;
    bench_make_run(bench, 1, artifact, &run);
    ProtobufCMessage *message = NULL;
    cs_error err = CS_ERROR_INIT;
    if (cs_message_decode(&plimsoll__v1__run_response__descriptor, cs_buf_view(&run.response), &message, &err) != CS_OK) {
        bench_fail("decode", &err);
    }
    const cs_run_response *response = (const cs_run_response *)(const void *)message;
    const ProtobufCBinaryData *content = &response->project->artifacts[0]->content;

    const double limit = bare_sha256(content->data, content->len);
    cs_digest digest;
    const double start = bench_cpu_seconds();
    for (int i = 0; i < ROUNDS; i++) {
        if (cs_digest_result_with(bench->hash, response, &digest, &err) != CS_OK) {
            bench_fail("digest", &err);
        }
    }
    const double ours = bench_cpu_seconds() - start;
    const double mb = (double)artifact * ROUNDS / 1e6;
    printf("result digest, 24 MiB artifact:   %8.0f MB/s   OpenSSL SHA-256 %8.0f MB/s   ratio %.2f\n", mb / ours,
           mb / limit, limit / ours);
    cs_message_free(message);
    bench_run_free(&run);
}
