/* countersign-bench: runs the measurements, one line each: figure, limit, ratio. */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double clock_seconds(clockid_t which) {
    struct timespec now;
    clock_gettime(which, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double bench_seconds(void) {
    return clock_seconds(CLOCK_MONOTONIC);
}

double bench_cpu_seconds(void) {
    return clock_seconds(CLOCK_THREAD_CPUTIME_ID);
}

void bench_fail(const char *what, const cs_error *err) {
    fprintf(stderr, "bench: %s: %s\n", what, err == NULL ? "failed" : err->message);
    exit(1);
}

static void set_up(cs_bench *bench) {
    const char *base = getenv("TMPDIR");
    snprintf(bench->folder, sizeof bench->folder, "%s/countersign-bench-XXXXXX", base != NULL ? base : "/tmp");
    if (mkdtemp(bench->folder) == NULL) {
        bench_fail("temporary folder", NULL);
    }
    char prefix[300];
    char path[320];
    snprintf(prefix, sizeof prefix, "%s/bench", bench->folder);
    snprintf(path, sizeof path, "%s.key", prefix);
    cs_error err = CS_ERROR_INIT;
    cs_public_key public_key;
    if (cs_key_generate(prefix, &public_key, &err) != CS_OK || cs_key_load(path, &bench->key, &err) != CS_OK ||
        cs_trust_add(&bench->trust, &public_key, &err) != CS_OK) {
        bench_fail("key", &err);
    }
    bench->hash = cs_sha256_new();
    if (bench->hash == NULL) {
        bench_fail("hash", NULL);
    }
}

static void tear_down(cs_bench *bench) {
    cs_sha256_free(bench->hash);
    cs_key_free(bench->key);
    static const char *const names[] = {"bench.key", "bench.pub"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[320];
        snprintf(path, sizeof path, "%s/%s", bench->folder, names[i]);
        unlink(path);
    }
    rmdir(bench->folder);
}

/* countersign-bench [BUILD [NAME [PROVIDER]]]: one of them, or all; of the daemon's one provider, or all. */
int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*measure)(cs_bench *bench);
    } all[] = {{"hash", bench_hash},
               {"verify", bench_verify},
               {"gate", bench_gate},
               {"append", bench_append},
               {"daemon", bench_daemon}};
    cs_bench bench = {.build = argc > 1 ? argv[1] : "build", .provider = argc > 3 ? argv[3] : NULL};
    set_up(&bench);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (argc <= 2 || strcmp(argv[2], all[i].name) == 0) {
            all[i].measure(&bench);
        }
    }
    tear_down(&bench);
    return 0;
}
