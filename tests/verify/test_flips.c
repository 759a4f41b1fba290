/* Every byte of the published sessions, changed one at a time. In the linked one no change passes. In the
 * unlinked one exactly those pass that this file finds by itself to be covered by no digest: the test
 * walks the messages on its own and knows nothing of the code under test.
 *
 * That is some 35,000 whole verifications, so they are shared out among the processors.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/verify/outcome.h"

/* Under AddressSanitizer, where everything is several times slower, every 7th byte. */
#ifdef __SANITIZE_ADDRESS__
#define STRIDE 7
#else
#define STRIDE 1
#endif
/* The lowest bit is flipped in every byte. Another bit, which gives other kinds of wrong characters, in
 * every 32nd, which keeps the test within seconds. */
#define SPARSE 32

/* ---- one file on disk, of which one byte is changed ----------------------------------------------- */

typedef struct flipper {
    forge_bytes file;
    cs_trust trust;
    char path[64]; /* each worker has a file of its own */
    int fd;
    char *fault; /* the first one found by any worker; shared by all */
} flipper;

#define FAULT_BYTES 4096

static flipper flipper_begin(forge_bytes file, const char *key) {
    flipper out = {.file = file};
    /* The text of the file is in a buffer that reading the key would use again. */
    out.file.ptr = forge_text("%.*s", (int)file.len, file.ptr);
    out.trust = fixture_trust(key);
    outcome whole = verify_bytes(out.file.ptr, out.file.len, &out.trust);
    cr_assert_eq(whole.result, CS_OK, "the file does not pass as it is");
    out.fault = mmap(NULL, FAULT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq((void *)out.fault, MAP_FAILED);
    return out;
}

static void flipper_end(flipper *flip) {
    munmap(flip->fault, FAULT_BYTES);
}

/* Called by workers, where Criterion's own assertions do not work. */
static void __attribute__((format(printf, 3, 4))) expect(const flipper *flip, bool good, const char *fmt, ...) {
    if (good || flip->fault[0] != '\0') return;
    va_list args;
    va_start(args, fmt);
    vsnprintf(flip->fault, FAULT_BYTES, fmt, args);
    va_end(args);
}

static void put_byte(const flipper *flip, size_t at, uint8_t byte) {
    expect(flip, pwrite(flip->fd, &byte, 1, (off_t)at) == 1, "can't write to %s", flip->path);
}

static uint8_t byte_at(const flipper *flip, size_t at) {
    return (uint8_t)flip->file.ptr[at];
}

static uint64_t line_of(const flipper *flip, size_t at) {
    uint64_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += flip->file.ptr[i] == '\n';
    return line;
}

typedef struct seen {
    uint64_t line; /* that the change is in */
    bool named;    /* some finding names it */
    bool others;   /* some finding names another one */
} seen;

static void keep_seen(void *user, const cs_finding *finding) {
    seen *what = user;
    if (finding->warning) return;
    if (finding->entry == what->line) what->named = true;
    if (finding->entry != what->line) what->others = true;
}

static cs_result verify_changed(const flipper *flip, size_t at, uint8_t mask, seen *what) {
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cs_verify_options options = {.trust = &flip->trust, .on_finding = keep_seen, .user = what};
    cs_verify_summary summary;
    *what = (seen){.line = line_of(flip, at)};
    put_byte(flip, at, byte_at(flip, at) ^ mask);
    cs_result result = cs_source_open(flip->path, &source, &err);
    if (result == CS_OK) {
        result = cs_verify_source(source, &options, &summary, &err);
    } else {
        /* What is no bundle at all is not read line by line. */
        what->named = at == 0 && err.code == CS_CODE_INPUT_UNKNOWN;
    }
    cs_source_close(source);
    put_byte(flip, at, byte_at(flip, at));
    return result;
}

static void check_flip(const flipper *flip, size_t at, uint8_t mask, bool passes) {
    seen what;
    cs_result result = verify_changed(flip, at, mask, &what);
    unsigned long long line = what.line;
    if (passes) {
        expect(flip, result == CS_OK, "byte %zu ^ %02x is refused", at, mask);
        return;
    }
    expect(flip, result == CS_FAILED || result == CS_UNCHECKED, "byte %zu ^ %02x passes (%d)", at, mask, result);
    expect(flip, what.named, "byte %zu ^ %02x: no finding names line %llu", at, mask, line);
    /* A newline that is gone makes two lines one, and moves all that follow; else the fault is one line's. */
    bool newline = flip->file.ptr[at] == '\n';
    expect(flip, newline || !what.others, "byte %zu ^ %02x: a line other than %llu is named too", at, mask, line);
}

/* One worker's share of all places. Where `passing` holds, the change must pass; else it must not, and
 * only every `stride`th place is tried. */
static void work(flipper *flip, size_t worker, size_t workers, uint8_t mask, size_t stride, const bool *passing) {
    forge_write(flip->file.ptr, flip->file.len, flip->path);
    flip->fd = open(flip->path, O_WRONLY | O_CLOEXEC);
    expect(flip, flip->fd >= 0, "can't open %s", flip->path);
    size_t turn = 0;
    for (size_t at = 0; at < flip->file.len && flip->fault[0] == '\0'; at++) {
        bool passes = passing != NULL && passing[at];
        if (!passes && at % stride != 0) continue;
        if (turn++ % workers == worker) check_flip(flip, at, mask, passes);
    }
    close(flip->fd);
    unlink(flip->path);
}

static void flip_all(flipper *flip, uint8_t mask, size_t stride, const bool *passing) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    size_t workers = processors < 1 ? 1 : processors > 16 ? 16 : (size_t)processors;
    pid_t pids[16];
    for (size_t i = 0; i < workers; i++) {
        pids[i] = fork();
        cr_assert_geq(pids[i], 0);
        if (pids[i] > 0) continue;
        work(flip, i, workers, mask, stride, passing);
        _exit(0);
    }
    for (size_t i = 0; i < workers; i++) {
        int status = -1;
        cr_expect_eq(waitpid(pids[i], &status, 0), pids[i]);
        cr_expect_eq(status, 0, "a worker ended with status %d", status);
    }
    cr_expect_eq(flip->fault[0], '\0', "%s", flip->fault);
}

/* ---- which bytes no digest covers: walking the messages ------------------------------------------- */

typedef enum span_kind { SPAN_NONE, SPAN_VARINT, SPAN_TRACE_ID } span_kind;

/* For each byte of a message: is it of a value that no digest covers? */
typedef struct cover {
    const uint8_t *bytes;
    span_kind kind[4096];
    bool last[4096]; /* the last byte of a varint */
} cover;

typedef enum message { REQUEST, RESPONSE, PROJECT_RESULT, STEP_RESULT, OTHER } message;

static uint64_t take_varint(const cover *cov, size_t *at) {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        uint8_t byte = cov->bytes[(*at)++];
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return value;
    }
}

static message message_in(message outer, uint64_t field) {
    if (outer == RESPONSE && field == 11) return PROJECT_RESULT;
    if (outer == PROJECT_RESULT && field == 1) return STEP_RESULT;
    return OTHER;
}

static void mark(cover *cov, size_t begin, size_t end, span_kind kind) {
    for (size_t i = begin; i < end; i++)
        cov->kind[i] = kind;
    cov->last[end - 1] = true;
}

static void walk_message(cover *cov, size_t begin, size_t end, message which) {
    for (size_t at = begin; at < end;) {
        uint64_t tag = take_varint(cov, &at);
        uint64_t field = tag >> 3;
        size_t value = at;
        if ((tag & 7) == 0) {
            (void)take_varint(cov, &at);
            bool duration = (which == RESPONSE && field == 3) || (which == STEP_RESULT && field == 6);
            if (duration) mark(cov, value, at, SPAN_VARINT);
            continue;
        }
        cr_assert_eq(tag & 7, 2, "the published sessions hold varints and strings only");
        size_t len = take_varint(cov, &at);
        if (which == REQUEST && field == 3) mark(cov, at, at + len, SPAN_TRACE_ID);
        message inner = message_in(which, field);
        if (inner != OTHER) walk_message(cov, at, at + len, inner);
        at += len;
    }
}

/* May this byte of a message have that value instead, without anyone noticing? */
static bool unnoticed(const cover *cov, size_t at, uint8_t byte) {
    uint8_t old = cov->bytes[at];
    switch (cov->kind[at]) {
    case SPAN_VARINT:
        /* As long as before, and not ending in a zero that would make it one byte shorter, or nothing. */
        return (old & 0x80) == (byte & 0x80) && (!cov->last[at] || (byte & 0x7f) != 0);
    case SPAN_TRACE_ID:
        return byte != 0 && strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-", byte) != NULL;
    default:
        return false;
    }
}

/* ---- the messages in base64 in the file ----------------------------------------------------------- */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

typedef struct encoded {
    size_t begin; /* of the base64 text in the file */
    size_t end;
    uint8_t bytes[4096];
    cover cov;
} encoded;

/* The message of this name in the line that begins at `from`; false when the line has none. */
static bool find_encoded(const flipper *flip, size_t from, const char *name, message which, encoded *out) {
    const char *line = flip->file.ptr + from;
    const char *newline = strchr(line, '\n');
    const char *start = strstr(line, name);
    if (start == NULL || start > newline) return false;
    *out = (encoded){.begin = from + (size_t)(start - line) + strlen(name)};
    out->end = from + (size_t)(strchr(start + strlen(name), '"') - line);
    size_t len = out->end - out->begin;
    cr_assert_leq(len, sizeof out->bytes);
    int decoded = EVP_DecodeBlock(out->bytes, (const uint8_t *)flip->file.ptr + out->begin, (int)len);
    cr_assert_eq(decoded, (int)(len / 4 * 3));
    size_t size = (size_t)decoded;
    for (size_t i = out->end; flip->file.ptr[i - 1] == '='; i--)
        size--;
    out->cov.bytes = out->bytes;
    walk_message(&out->cov, 0, size, which);
    return true;
}

/* Would this change of a base64 digit change only what no digest covers? */
static bool passes(const encoded *enc, size_t at, char from, char to) {
    const char *old_digit = strchr(alphabet, from);
    const char *new_digit = strchr(alphabet, to);
    if (from == '=' || to == '\0' || new_digit == NULL) return false;
    size_t digit = at - enc->begin;
    unsigned changed = (unsigned)((old_digit - alphabet) ^ (new_digit - alphabet)) << (3 - digit % 4) * 6;
    size_t group = digit / 4 * 3;
    for (size_t i = 0; i < 3; i++) {
        uint8_t bits = (uint8_t)(changed >> (2 - i) * 8);
        if (bits != 0 && !unnoticed(&enc->cov, group + i, enc->bytes[group + i] ^ bits)) return false;
    }
    return true;
}

/* All positions of the file that may be changed unnoticed by this mask. */
static size_t find_passing(const flipper *flip, uint8_t mask, bool *passing) {
    size_t count = 0;
    for (size_t from = 0; from < flip->file.len; from += strcspn(flip->file.ptr + from, "\n") + 1) {
        encoded enc;
        for (int which = REQUEST; which <= RESPONSE; which++) {
            const char *name = which == REQUEST ? "{\"request\":\"" : ",\"response\":\"";
            if (!find_encoded(flip, from, name, (message)which, &enc)) continue;
            for (size_t at = enc.begin; at < enc.end; at++) {
                char old = flip->file.ptr[at];
                passing[at] = passes(&enc, at, old, (char)(old ^ (char)mask));
                if (passing[at]) count++;
            }
        }
    }
    return count;
}

/* ---- the tests ------------------------------------------------------------------------------------ */

static void expect_none_passes(uint8_t mask, size_t stride) {
    flipper flip = flipper_begin(fixture_bytes("linked.jsonl"), "linked.pub");
    flip_all(&flip, mask, stride, NULL);
    flipper_end(&flip);
}

static void expect_these_pass(flipper *flip, uint8_t mask, size_t stride) {
    static bool passing[65536];
    memset(passing, 0, sizeof passing);
    cr_assert_gt(find_passing(flip, mask, passing), 0, "nothing is uncovered, so the test tests nothing");
    flip_all(flip, mask, stride, passing);
}

Test(flips, no_byte_of_the_linked_session_can_be_changed) {
    expect_none_passes(0x01, STRIDE);
}

Test(flips, nor_another_bit_of_it) {
    expect_none_passes(0x20, STRIDE * SPARSE);
    expect_none_passes(0x80, STRIDE * SPARSE);
}

Test(flips, only_durations_of_the_unlinked_session_can_be_changed) {
    flipper flip = flipper_begin(fixture_bytes("unlinked.jsonl"), "unlinked.pub");
    expect_these_pass(&flip, 0x01, STRIDE);
    flipper_end(&flip);
}

Test(flips, nor_another_bit_of_anything_else) {
    flipper flip = flipper_begin(fixture_bytes("unlinked.jsonl"), "unlinked.pub");
    expect_these_pass(&flip, 0x20, STRIDE * SPARSE);
    expect_these_pass(&flip, 0x02, STRIDE * SPARSE);
    flipper_end(&flip);
}

/* The linked session carries trace ids. Without its links and its checkpoint they can be changed too. */
Test(flips, trace_ids_can_be_changed_where_no_link_covers_them) {
    forge_bytes file = fixture_bytes("linked.jsonl");
    forge_bundle bundle = {.count = 0};
    for (char *line = strtok(file.ptr, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *link = strstr(line, ",\"link\":");
        if (link != NULL) forge_add(&bundle, forge_text("%.*s}", (int)(link - line), line));
    }
    cr_assert_eq(bundle.count, 6);
    flipper flip = flipper_begin(forge_file(&bundle), "linked.pub");
    static bool passing[65536];
    size_t durations = find_passing(&flip, 0x01, passing);
    size_t in_requests = 0;
    for (size_t at = 0; at < flip.file.len; at++) {
        size_t line = at;
        while (line > 0 && flip.file.ptr[line - 1] != '\n')
            line--;
        const char *response = strstr(flip.file.ptr + line, ",\"response\":");
        if (passing[at] && flip.file.ptr + at < response) in_requests++;
    }
    cr_expect_gt(in_requests, 0, "no trace id is found");
    cr_expect_gt(durations, in_requests, "no duration is found");
    expect_these_pass(&flip, 0x01, STRIDE * SPARSE);
    expect_these_pass(&flip, 0x02, STRIDE * SPARSE);
    flipper_end(&flip);
}
