/* What is left of a private key in the memory of a process that held it: nothing. A child works with
 * the key, and its memory is searched from outside. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/key.h"
#include "tests/support/folder.h"

#define DIGITS 64u /* base64 of the PKCS#8 form */
#define PREFIX 16u /* bytes of it before the seed */
#define SEED 32u
#define MAX_AREA (64ul << 20) /* larger ones are a sanitizer's own */

typedef struct worker {
    pid_t pid;
    int to;
    int from;
    char folder[128];
    char prefix[160];
    char key[170];
} worker;

/* Do one step for each byte that comes, and answer with its result. */
static void work(const worker *w, int in, int out) {
    cs_key *key = NULL;
    cs_public_key made;
    uint8_t signature[64];
    char step = 0;
    while (read(in, &step, 1) == 1) {
        cs_result result = CS_UNCHECKED;
        if (step == 'g') result = cs_key_generate(w->prefix, &made, NULL);
        if (step == 'l') result = cs_key_load(w->key, &key, NULL);
        if (step == 's') result = cs_key_sign(key, cs_view_of("message"), signature, NULL);
        if (step == 'f') {
            cs_key_free(key);
            result = CS_OK;
        }
        char answer = result == CS_OK ? 'y' : 'n';
        if (write(out, &answer, 1) != 1) break;
    }
    _exit(0);
}

static void worker_start(worker *w) {
    folder_make(w->folder);
    (void)snprintf(w->prefix, sizeof w->prefix, "%s/ci", w->folder);
    (void)snprintf(w->key, sizeof w->key, "%s.key", w->prefix);
    int there[2];
    int back[2];
    cr_assert(pipe2(there, O_CLOEXEC) == 0 && pipe2(back, O_CLOEXEC) == 0);
    w->pid = fork();
    cr_assert(w->pid >= 0);
    if (w->pid == 0) {
        close(there[1]);
        work(w, there[0], back[1]);
    }
    close(there[0]);
    close(back[1]);
    w->to = there[1];
    w->from = back[0];
}

static void worker_do(const worker *w, char step) {
    char answer = 0;
    cr_assert_eq(write(w->to, &step, 1), 1);
    cr_assert_eq(read(w->from, &answer, 1), 1);
    cr_assert_eq(answer, 'y', "step %c", step);
}

static void worker_end(const worker *w) {
    close(w->to);
    close(w->from);
    cr_expect_eq(waitpid(w->pid, NULL, 0), w->pid);
    folder_remove(w->folder);
}

static size_t count_in(const uint8_t *area, size_t len, const void *wanted, size_t size) {
    size_t found = 0;
    for (const uint8_t *at = area; (at = memmem(at, len - (size_t)(at - area), wanted, size)) != NULL; at++)
        found++;
    return found;
}

/* How often the bytes stand in the writable memory of the worker. */
static size_t count_in_worker(const worker *w, const void *wanted, size_t size) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/maps", (int)w->pid);
    FILE *maps = fopen(path, "re");
    (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)w->pid);
    int mem = open(path, O_RDONLY | O_CLOEXEC);
    cr_assert(maps != NULL && mem >= 0);
    size_t found = 0;
    size_t areas = 0;
    char line[512];
    while (fgets(line, sizeof line, maps) != NULL) {
        char *rest = NULL;
        unsigned long start = strtoul(line, &rest, 16);
        unsigned long end = strtoul(rest + 1, &rest, 16);
        if (rest[1] != 'r' || end - start > MAX_AREA) continue;
        uint8_t *area = malloc(end - start);
        cr_assert_not_null(area);
        ssize_t got = pread(mem, area, end - start, (off_t)start);
        if (got > 0) found += count_in(area, (size_t)got, wanted, size);
        areas += got > 0;
        free(area);
    }
    cr_assert(areas > 0);
    close(mem);
    (void)fclose(maps);
    return found;
}

/* The key as it stands in the file: base64, and the seed in it. Read without the code under test. */
static void read_secret(const worker *w, char digits[DIGITS + 1], uint8_t seed[SEED]) {
    size_t len = 0;
    char *pem = file_read(w->key, &len);
    cr_assert_not_null(pem);
    const char *line = strchr(pem, '\n');
    cr_assert(line != NULL && strcspn(line + 1, "\n") == DIGITS);
    memcpy(digits, line + 1, DIGITS);
    digits[DIGITS] = '\0';
    uint8_t der[PREFIX + SEED];
    cr_assert_eq(EVP_DecodeBlock(der, (const unsigned char *)digits, DIGITS), (int)sizeof der);
    memcpy(seed, der + PREFIX, SEED);
    free(pem);
}

Test(key_memory, nothing_is_left) {
    worker w;
    char digits[DIGITS + 1];
    uint8_t seed[SEED];
    worker_start(&w);
    worker_do(&w, 'g');
    read_secret(&w, digits, seed);
    cr_expect_eq(count_in_worker(&w, seed, SEED), 0, "after making");
    cr_expect_eq(count_in_worker(&w, digits, DIGITS), 0, "after making");

    worker_do(&w, 'l');
    /* Held in one place: this also shows that the search finds what is there. */
    cr_expect_eq(count_in_worker(&w, seed, SEED), 1, "while it is held");
    cr_expect_eq(count_in_worker(&w, digits, DIGITS), 0, "while it is held");
    worker_do(&w, 's');
    cr_expect_eq(count_in_worker(&w, seed, SEED), 1, "after signing");
    worker_do(&w, 'f');
    cr_expect_eq(count_in_worker(&w, seed, SEED), 0, "after freeing");
    cr_expect_eq(count_in_worker(&w, digits, DIGITS), 0, "after freeing");
    worker_end(&w);
}
