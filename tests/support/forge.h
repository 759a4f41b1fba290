/* Signed bundles for tests, made without any code under test: protobuf by hand, digests with OpenSSL,
 * signatures with libsodium, JSON by printf. So a test can change one thing and sign the rest well.
 *
 * What the functions return lives as long as the test process; nothing is to be freed.
 */
#ifndef TESTS_SUPPORT_FORGE_H
#define TESTS_SUPPORT_FORGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct forge_key {
    uint8_t public_key[32];
    uint8_t secret_key[64];
    char id[65]; /* SHA-256 of the SubjectPublicKeyInfo */
} forge_key;

forge_key forge_key_from(uint8_t seed);

/* Bytes, NUL-terminated behind their end. */
typedef struct forge_bytes {
    char *ptr;
    size_t len;
} forge_bytes;

/* One JavaScript run, with everything that goes into its messages and its record. Digests are filled
 * by forge_seal; what a test sets afterwards stays as it is. */
typedef struct forge_run {
    uint32_t protocol;
    const char *floor;
    const char *trace_id;
    const char *code;
    const char *request_tail; /* bytes appended to the binary request, in hexadecimal */
    const char *sandbox;      /* of the response */
    const char *output;
    int64_t duration_ms;
    unsigned advice;           /* how many findings of advice */
    const char *response_tail; /* in hexadecimal */
    bool no_record;

    uint32_t version; /* the record from here on */
    const char *provider;
    const char *isolation;
    const char *policy;
    uint64_t started;
    uint64_t ended;
    const char *session;
    uint64_t sequence;
    const char *previous;
    const char *unanswered;
    const char *instance; /* also of the response */
    char request_sha256[65];
    char result_sha256[65];
    char record_sha256[65];
} forge_run;

forge_run forge_single(void); /* a run that passes, sealed */
void forge_seal(forge_run *run);

forge_bytes forge_request(const forge_run *run);
forge_bytes forge_response(const forge_run *run);
char *forge_statement(const forge_run *run);
char *forge_close(const char *session, uint64_t calls, const char *last);
/* `entry` NULL: a checkpoint that counts `lines`. */
char *forge_link(uint64_t index, const char *previous, const char *entry, uint64_t lines);
char *forge_envelope(const forge_key *key, const char *statement);
/* A line without newline; NULL parts are left out. */
char *forge_line(const forge_bytes *request, const forge_bytes *response, const char *envelope);
/* The line of a run: its request, its response unless unanswered, its envelope. */
char *forge_run_line(const forge_key *key, const forge_run *run);

char *forge_sha256(const void *bytes, size_t len); /* hexadecimal */
char *forge_base64(const void *bytes, size_t len);
char *forge_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A file in the making: lines without newlines. */
#define FORGE_MAX_LINES 64
typedef struct forge_bundle {
    char *lines[FORGE_MAX_LINES];
    size_t count;
} forge_bundle;

void forge_add(forge_bundle *bundle, char *line);
void forge_insert(forge_bundle *bundle, size_t at, char *line);
void forge_remove(forge_bundle *bundle, size_t at);

/* Append a session: `calls` runs and a close, all good. `runs` (may be NULL) receives the runs. */
#define FORGE_SESSION "5e55105e55105e55105e55105e55105e55105e55105e55105e55105e55105e55"
void forge_session(forge_bundle *bundle, const forge_key *key, const char *session, size_t calls, forge_run *runs);

/* Give every line from `from` (0-based) on its link, and append a checkpoint. */
void forge_link_lines(forge_bundle *bundle, const forge_key *key, size_t from);
/* `line` with this link. */
char *forge_with_link(const char *line, const char *link_envelope);

/* All lines with their newlines. */
forge_bytes forge_file(const forge_bundle *bundle);
/* A new file with these bytes, in memory where there is /dev/shm. The caller unlinks `path`. */
void forge_write(const void *bytes, size_t len, char path[64]);

#endif
