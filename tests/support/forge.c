#include "tests/support/forge.h"

#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- memory: kept until the process ends, and reachable until then -------------------------------- */

typedef struct kept {
    struct kept *next;
    void *ptr;
} kept;

static kept *all_kept;

static void *keep(void *ptr) {
    kept *node = malloc(sizeof *node);
    if (ptr == NULL || node == NULL) abort();
    *node = (kept){.next = all_kept, .ptr = ptr};
    all_kept = node;
    return ptr;
}

typedef struct writer {
    FILE *file;
    forge_bytes bytes;
} writer;

static void writer_begin(writer *w) {
    *w = (writer){.file = NULL};
    w->file = open_memstream(&w->bytes.ptr, &w->bytes.len);
    if (w->file == NULL) abort();
}

static forge_bytes writer_end(writer *w) {
    if (fclose(w->file) != 0) abort();
    keep(w->bytes.ptr);
    return w->bytes;
}

char *forge_text(const char *fmt, ...) {
    char *text = NULL;
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0) abort();
    va_end(args);
    return keep(text);
}

/* ---- keys, digests, base64 ------------------------------------------------------------------------ */

static char *hex_of(const uint8_t *bytes, size_t len) {
    char *text = keep(malloc(2 * len + 1));
    return sodium_bin2hex(text, 2 * len + 1, bytes, len);
}

char *forge_sha256(const void *bytes, size_t len) {
    uint8_t digest[32];
    if (EVP_Digest(bytes, len, digest, NULL, EVP_sha256(), NULL) != 1) abort();
    return hex_of(digest, sizeof digest);
}

char *forge_base64(const void *bytes, size_t len) {
    char *text = keep(malloc(4 * ((len + 2) / 3) + 1));
    EVP_EncodeBlock((unsigned char *)text, bytes, (int)len);
    return text;
}

forge_key forge_key_from(uint8_t seed) {
    if (sodium_init() < 0) abort();
    uint8_t seeds[32];
    memset(seeds, seed, sizeof seeds);
    forge_key key;
    crypto_sign_seed_keypair(key.public_key, key.secret_key, seeds);
    static const uint8_t prefix[] = "\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21";
    uint8_t spki[44];
    memcpy(spki, prefix, 12); /* with the NUL, which is the prefix's last byte */
    memcpy(spki + 12, key.public_key, 32);
    memcpy(key.id, forge_sha256(spki, sizeof spki), 65);
    return key;
}

/* ---- the canonical encoding ----------------------------------------------------------------------- */

static void put_length(writer *w, size_t len) {
    uint64_t big = htobe64(len);
    fwrite(&big, sizeof big, 1, w->file);
}

static void put_piece(writer *w, const char *text) {
    put_length(w, strlen(text));
    fputs(text, w->file);
}

static void put_field(writer *w, const char *name, const char *value) {
    put_piece(w, name);
    put_piece(w, value);
}

static void put_count(writer *w, const char *name, uint64_t value) {
    put_field(w, name, forge_text("%" PRIu64, value));
}

static void end_digest(writer *w, char out[65]) {
    forge_bytes bytes = writer_end(w);
    memcpy(out, forge_sha256(bytes.ptr, bytes.len), 65);
}

static void seal_request(forge_run *run) {
    writer w;
    writer_begin(&w);
    put_piece(&w, run->protocol < 2 ? "plimsoll.run-request.v1" : "plimsoll.run-request.v2");
    put_count(&w, "protocol", run->protocol);
    put_field(&w, "minimum_isolation", run->floor);
    put_field(&w, "timeout_ms", "0");
    if (run->protocol >= 2) {
        put_field(&w, "software_mode", "");
        put_field(&w, "software_identities", "0");
    }
    put_field(&w, "kind", "javascript");
    put_field(&w, "code", run->code);
    put_field(&w, "grant_profile", "");
    end_digest(&w, run->request_sha256);
}

static void seal_result(forge_run *run) {
    writer w;
    writer_begin(&w);
    put_piece(&w, "plimsoll.run-result.v1");
    put_field(&w, "kind", "javascript");
    put_field(&w, "exit_code", "0");
    put_field(&w, "timed_out", "false");
    put_field(&w, "stdout", run->output);
    put_field(&w, "stderr", "");
    put_field(&w, "stdout_truncated", "false");
    put_field(&w, "stderr_truncated", "false");
    end_digest(&w, run->result_sha256);
    if (run->unanswered[0] != '\0') run->result_sha256[0] = '\0';
}

static void seal_record(forge_run *run) {
    writer w;
    writer_begin(&w);
    put_piece(&w, forge_text("plimsoll.run-record.v%" PRIu32, run->version));
    put_field(&w, "request_sha256", run->request_sha256);
    put_field(&w, "result_sha256", run->result_sha256);
    if (run->version >= 3) put_field(&w, "unanswered", run->unanswered);
    put_field(&w, "provider", run->provider);
    put_field(&w, "isolation", run->isolation);
    put_field(&w, "environment", "");
    put_field(&w, "policy", run->policy);
    if (run->version >= 2) {
        put_field(&w, "software_identity", "");
        put_field(&w, "software_rule_id", "");
    }
    if (run->version >= 4) put_field(&w, "instance", run->instance);
    put_count(&w, "started_unix_ms", run->started);
    put_count(&w, "ended_unix_ms", run->ended);
    put_field(&w, "session", run->session);
    put_count(&w, "sequence", run->sequence);
    put_field(&w, "previous_sha256", run->previous);
    end_digest(&w, run->record_sha256);
}

void forge_seal(forge_run *run) {
    seal_request(run);
    seal_result(run);
    seal_record(run);
}

forge_run forge_single(void) {
    forge_run run = {.protocol = 3,
                     .floor = "process",
                     .trace_id = "",
                     .code = "console.log(6*7)",
                     .request_tail = "",
                     .sandbox = "bubblewrap",
                     .output = "42\n",
                     .response_tail = "",
                     .version = 2,
                     .provider = "bubblewrap",
                     .isolation = "container",
                     .policy = "policy:1",
                     .started = 1790000000000,
                     .ended = 1790000000007,
                     .session = "",
                     .previous = "",
                     .unanswered = "",
                     .instance = ""};
    forge_seal(&run);
    return run;
}

/* ---- protobuf ------------------------------------------------------------------------------------- */

static void put_varint(writer *w, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        fputc((int)(value & 0x7f) | 0x80, w->file);
    fputc((int)value, w->file);
}

static void put_number(writer *w, uint32_t field, uint64_t value) {
    if (value == 0) return;
    put_varint(w, (uint64_t)field << 3);
    put_varint(w, value);
}

static void put_message(writer *w, uint32_t field, forge_bytes bytes) {
    put_varint(w, (uint64_t)field << 3 | 2);
    put_varint(w, bytes.len);
    fwrite(bytes.ptr, 1, bytes.len, w->file);
}

static void put_string(writer *w, uint32_t field, const char *text) {
    if (text[0] == '\0') return;
    put_message(w, field, (forge_bytes){.ptr = forge_text("%s", text), .len = strlen(text)});
}

static void put_tail(writer *w, const char *hex) {
    for (; hex[0] != '\0'; hex += 2) {
        char digits[3] = {hex[0], hex[1], '\0'};
        fputc((int)strtoul(digits, NULL, 16), w->file);
    }
}

forge_bytes forge_request(const forge_run *run) {
    writer payload;
    writer_begin(&payload);
    put_string(&payload, 1, run->code);
    writer w;
    writer_begin(&w);
    put_number(&w, 1, run->protocol);
    put_string(&w, 2, run->floor);
    put_string(&w, 3, run->trace_id);
    put_message(&w, 10, writer_end(&payload));
    put_tail(&w, run->request_tail);
    return writer_end(&w);
}

static forge_bytes record_bytes(const forge_run *run) {
    writer w;
    writer_begin(&w);
    put_number(&w, 1, run->version);
    put_string(&w, 2, run->request_sha256);
    put_string(&w, 3, run->result_sha256);
    put_string(&w, 4, run->provider);
    put_string(&w, 5, run->isolation);
    put_string(&w, 7, run->policy);
    put_number(&w, 8, run->started);
    put_number(&w, 9, run->ended);
    put_string(&w, 10, run->session);
    put_number(&w, 11, run->sequence);
    put_string(&w, 12, run->previous);
    put_string(&w, 13, run->record_sha256);
    put_string(&w, 16, run->unanswered);
    put_string(&w, 17, run->instance);
    return writer_end(&w);
}

static forge_bytes result_bytes(const forge_run *run) {
    writer w;
    writer_begin(&w);
    put_string(&w, 1, run->output);
    for (unsigned i = 0; i < run->advice; i++) {
        writer advice;
        writer_begin(&advice);
        put_string(&advice, 1, "n-plus-one");
        put_message(&w, 10, writer_end(&advice));
    }
    return writer_end(&w);
}

forge_bytes forge_response(const forge_run *run) {
    writer w;
    writer_begin(&w);
    put_string(&w, 1, run->sandbox);
    put_string(&w, 2, run->isolation);
    put_number(&w, 3, (uint64_t)run->duration_ms);
    if (!run->no_record) put_message(&w, 4, record_bytes(run));
    put_string(&w, 7, run->instance);
    put_message(&w, 10, result_bytes(run));
    put_tail(&w, run->response_tail);
    return writer_end(&w);
}

/* ---- statements, envelopes, lines ----------------------------------------------------------------- */

#define BASE "https://plimsollmark.github.io/plimsoll/"

static char *statement(const char *name, const char *digest, const char *type, const char *predicate) {
    return forge_text("{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":\"%s\",\"digest\":{"
                      "\"sha256\":\"%s\"}}],\"predicateType\":\"" BASE "%s\",\"predicate\":{%s}}",
                      name, digest, type, predicate);
}

char *forge_statement(const forge_run *run) {
    char *unanswered =
        run->unanswered[0] != '\0' ? forge_text("\"unanswered\":\"%s\",", run->unanswered) : forge_text("%s", "");
    char *instance =
        run->instance[0] != '\0' ? forge_text("\"instance\":\"%s\",", run->instance) : forge_text("%s", "");
    char *predicate = forge_text("\"version\":%" PRIu32 ",\"request_sha256\":\"%s\",\"result_sha256\":\"%s\","
                                 "\"provider\":\"%s\",\"isolation\":\"%s\",\"environment\":\"\",\"policy\":\"%s\","
                                 "\"started_unix_ms\":%" PRIu64 ",\"ended_unix_ms\":%" PRIu64 ",\"session\":\"%s\","
                                 "\"sequence\":%" PRIu64 ",\"previous_sha256\":\"%s\",%s%s\"record_sha256\":\"%s\"",
                                 run->version, run->request_sha256, run->result_sha256, run->provider, run->isolation,
                                 run->policy, run->started, run->ended, run->session, run->sequence, run->previous,
                                 unanswered, instance, run->record_sha256);
    return statement("run-record", run->record_sha256, "run-record/v1", predicate);
}

char *forge_close(const char *session, uint64_t calls, const char *last) {
    return statement(
        "session", session, "session-close/v1",
        forge_text("\"session\":\"%s\",\"calls\":%" PRIu64 ",\"last_record_sha256\":\"%s\"", session, calls, last));
}

char *forge_link(uint64_t index, const char *previous, const char *entry, uint64_t lines) {
    char *start = forge_text("\"index\":%" PRIu64 ",\"previous_sha256\":\"%s\"", index, previous);
    char *predicate = entry != NULL ? forge_text("%s,\"entry_sha256\":\"%s\"", start, entry)
                      : lines != 0  ? forge_text("%s,\"checkpoint\":true,\"lines\":%" PRIu64, start, lines)
                                    : forge_text("%s,\"checkpoint\":true", start);
    return statement("bundle-line", entry != NULL ? entry : previous, "bundle-link/v1", predicate);
}

char *forge_envelope(const forge_key *key, const char *text) {
    size_t len = strlen(text);
    char *pae = forge_text("DSSEv1 28 application/vnd.in-toto+json %zu %s", len, text);
    uint8_t signature[64];
    crypto_sign_detached(signature, NULL, (const uint8_t *)pae, strlen(pae), key->secret_key);
    return forge_text("{\"payloadType\":\"application/vnd.in-toto+json\",\"payload\":\"%s\",\"signatures\":[{\"keyid\":"
                      "\"%s\",\"sig\":\"%s\"}]}",
                      forge_base64(text, len), key->id, forge_base64(signature, sizeof signature));
}

char *forge_line(const forge_bytes *request, const forge_bytes *response, const char *envelope) {
    writer w;
    writer_begin(&w);
    fputc('{', w.file);
    if (request != NULL) fprintf(w.file, "\"request\":\"%s\",", forge_base64(request->ptr, request->len));
    if (response != NULL) fprintf(w.file, "\"response\":\"%s\",", forge_base64(response->ptr, response->len));
    fprintf(w.file, "\"envelope\":%s}", envelope);
    return writer_end(&w).ptr;
}

char *forge_run_line(const forge_key *key, const forge_run *run) {
    forge_bytes request = forge_request(run);
    forge_bytes response = forge_response(run);
    bool answered = run->unanswered[0] == '\0';
    return forge_line(&request, answered ? &response : NULL, forge_envelope(key, forge_statement(run)));
}

/* ---- bundles -------------------------------------------------------------------------------------- */

void forge_insert(forge_bundle *bundle, size_t at, char *line) {
    if (bundle->count == FORGE_MAX_LINES || at > bundle->count) abort();
    memmove(bundle->lines + at + 1, bundle->lines + at, (bundle->count - at) * sizeof *bundle->lines);
    bundle->lines[at] = line;
    bundle->count++;
}

void forge_add(forge_bundle *bundle, char *line) {
    forge_insert(bundle, bundle->count, line);
}

void forge_remove(forge_bundle *bundle, size_t at) {
    if (at >= bundle->count) abort();
    bundle->count--;
    memmove(bundle->lines + at, bundle->lines + at + 1, (bundle->count - at) * sizeof *bundle->lines);
}

void forge_session(forge_bundle *bundle, const forge_key *key, const char *session, size_t calls, forge_run *runs) {
    const char *previous = "";
    for (size_t i = 0; i < calls; i++) {
        forge_run run = forge_single();
        run.session = session;
        run.sequence = i + 1;
        run.previous = previous;
        forge_seal(&run);
        previous = forge_text("%s", run.record_sha256);
        if (runs != NULL) runs[i] = run;
        forge_add(bundle, forge_run_line(key, &run));
    }
    forge_add(bundle, forge_line(NULL, NULL, forge_envelope(key, forge_close(session, calls, previous))));
}

char *forge_with_link(const char *line, const char *link_envelope) {
    return forge_text("%.*s,\"link\":%s}", (int)strlen(line) - 1, line, link_envelope);
}

void forge_link_lines(forge_bundle *bundle, const forge_key *key, size_t from) {
    const char *previous = "";
    if (from > 0) previous = forge_sha256(bundle->lines[from - 1], strlen(bundle->lines[from - 1]));
    for (size_t i = from; i < bundle->count; i++) {
        char *line = bundle->lines[i];
        char *link = forge_link(i + 1, previous, forge_sha256(line, strlen(line)), 0);
        bundle->lines[i] = forge_with_link(line, forge_envelope(key, link));
        previous = forge_sha256(bundle->lines[i], strlen(bundle->lines[i]));
    }
    char *link = forge_link(bundle->count + 1, previous, NULL, bundle->count);
    forge_add(bundle, forge_text("{\"link\":%s}", forge_envelope(key, link)));
}

forge_bytes forge_file(const forge_bundle *bundle) {
    writer w;
    writer_begin(&w);
    for (size_t i = 0; i < bundle->count; i++)
        fprintf(w.file, "%s\n", bundle->lines[i]);
    return writer_end(&w);
}

void forge_write(const void *bytes, size_t len, char path[64]) {
    snprintf(path, 64, "%s/forge-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || close(fd) != 0) abort();
}
