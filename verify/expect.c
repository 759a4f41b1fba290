#include "verify/expect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verify/file.h"

/* One digest, with how often it is expected and how often it was seen, at most as often. */
typedef struct expected {
    cs_digest digest;
    uint32_t wanted;
    uint32_t seen;
} expected;

struct cs_expect {
    expected *items; /* in the order of their digests, each once */
    size_t count;
    uint64_t total;
    uint64_t found;
    uint64_t surplus;
};

/* ---- reading ------------------------------------------------------------------------------------ */

static cs_result malformed(cs_error *err, size_t line, const char *what, cs_view found) {
    cs_result result = cs_fail_differs(
        err, CS_CODE_EXPECT_MALFORMED, what,
        cs_view_of("64 lowercase hexadecimal digits and a newline, or a line that begins with #"), found);
    if (line > 0) cs_error_where(err, "line %zu", line);
    return result;
}

static cs_result read_lines(cs_view text, cs_expect *expect, cs_error *err) {
    for (size_t line = 1; text.len > 0; line++) {
        const uint8_t *end = memchr(text.ptr, '\n', text.len);
        if (end == NULL) return malformed(err, line, "the last line has no newline; is the file cut short?", text);
        size_t len = (size_t)(end - text.ptr);
        cs_view digest = cs_view_bytes(text.ptr, len);
        text = cs_view_bytes(end + 1, text.len - len - 1);
        if (len == 0 || digest.ptr[0] == '#') continue;
        if (!cs_is_hex(digest, CS_SHA256_HEX)) return malformed(err, line, "a line is no request digest", digest);
        expected *item = &expect->items[expect->count++];
        *item = (expected){.wanted = 1};
        memcpy(item->digest.hex, digest.ptr, CS_SHA256_HEX);
    }
    if (expect->count > 0) return CS_OK;
    return malformed(err, 0, "there is no request digest in the file; nothing expected is nothing to check", text);
}

static int compare(const void *a, const void *b) {
    const expected *first = a;
    const expected *second = b;
    return memcmp(first->digest.hex, second->digest.hex, CS_SHA256_HEX);
}

/* Sort, and make one of those that are the same. */
static void gather(cs_expect *expect) {
    qsort(expect->items, expect->count, sizeof *expect->items, compare);
    expect->total = expect->count;
    size_t kept = 0;
    for (size_t i = 1; i < expect->count; i++) {
        if (compare(&expect->items[kept], &expect->items[i]) == 0)
            expect->items[kept].wanted++;
        else
            expect->items[++kept] = expect->items[i];
    }
    expect->count = kept + 1;
}

static cs_expect *new_expect(size_t room) {
    cs_expect *expect = calloc(1, sizeof *expect);
    if (expect == NULL) return NULL;
    expect->items = calloc(room, sizeof *expect->items);
    if (expect->items != NULL) return expect;
    free(expect);
    return NULL;
}

cs_result cs_expect_parse(cs_view text, cs_expect **out, cs_error *err) {
    *out = NULL;
    if (text.len > CS_MAX_EXPECTED_FILE)
        return cs_fail(err, CS_CODE_EXPECT_MALFORMED, "more than %zu bytes of expected digests", CS_MAX_EXPECTED_FILE);
    cs_expect *expect = new_expect(text.len / (CS_SHA256_HEX + 1) + 1);
    if (expect == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for what is expected");
    cs_result result = read_lines(text, expect, err);
    if (result != CS_OK) {
        cs_expect_free(expect);
        return result;
    }
    gather(expect);
    *out = expect;
    return CS_OK;
}

cs_result cs_expect_load(const char *path, cs_expect **out, cs_error *err) {
    CS_AUTO_BUF text = CS_BUF_INIT(CS_MAX_EXPECTED_FILE);
    *out = NULL;
    bool standard = strcmp(path, "-") == 0;
    cs_result result = CS_UNCHECKED;
    switch (standard ? cs_file_read_open(STDIN_FILENO, &text) : cs_file_read(path, &text)) {
    case CS_FILE_READ:
        result = cs_expect_parse(cs_buf_view(&text), out, err);
        break;
    case CS_FILE_FAILED:
        result = cs_fail(err, CS_CODE_IO, "what is expected can't be read: %s", strerror(errno));
        break;
    case CS_FILE_TOO_LONG:
        result =
            cs_fail(err, CS_CODE_EXPECT_MALFORMED, "more than %zu bytes of expected digests", CS_MAX_EXPECTED_FILE);
        break;
    case CS_FILE_NO_MEMORY:
        result = cs_fail(err, CS_CODE_NO_MEMORY, "no memory for what is expected");
        break;
    }
    if (result != CS_OK) cs_error_where(err, "%s", standard ? "standard input" : path);
    return result;
}

void cs_expect_free(cs_expect *expect) {
    if (expect == NULL) return;
    free(expect->items);
    free(expect);
}

/* ---- comparing ---------------------------------------------------------------------------------- */

bool cs_expect_see(cs_expect *expect, cs_view request_sha256) {
    expected wanted = {.wanted = 1};
    expected *item = NULL;
    if (cs_is_hex(request_sha256, CS_SHA256_HEX)) {
        memcpy(wanted.digest.hex, request_sha256.ptr, CS_SHA256_HEX);
        item = bsearch(&wanted, expect->items, expect->count, sizeof *expect->items, compare);
    }
    if (item == NULL || item->seen == item->wanted) {
        expect->surplus++;
        return false;
    }
    item->seen++;
    expect->found++;
    return true;
}

uint64_t cs_expect_total(const cs_expect *expect) {
    return expect->total;
}

uint64_t cs_expect_missing(const cs_expect *expect) {
    return expect->total - expect->found;
}

uint64_t cs_expect_surplus(const cs_expect *expect) {
    return expect->surplus;
}

const char *cs_expect_missing_at(const cs_expect *expect, uint64_t i) {
    for (size_t at = 0; at < expect->count; at++) {
        uint64_t missing = expect->items[at].wanted - expect->items[at].seen;
        if (i < missing) return expect->items[at].digest.hex;
        i -= missing;
    }
    return NULL;
}
