/* What is told of two messages: everything in which they differ, and nothing else. The first byte is the type, bit 0 of
 * the second whether a response's record counts, the next two how long the first message is; then both. */
#include <string.h>

#include "gate/lines.h"
#include "replay/compare.h"
#include "replay/fields.h"
#include "tests/fuzz/fuzz.h"

typedef struct told {
    size_t count;
    size_t covered;
} told;

/* What is told of two texts, put together again. */
typedef struct texts {
    size_t a, b; /* bytes of the lines that are told */
    bool differs;
} texts;

static bool on_line(void *user, const cs_line *line) {
    texts *seen = user;
    seen->differs = seen->differs || (line->kind != CS_LINE_HUNK && line->kind != CS_LINE_SAME);
    if (line->kind == CS_LINE_HUNK || line->kind == CS_LINE_UNFINISHED) return true;
    if (line->kind != CS_LINE_ONLY_B) seen->a += line->text.len;
    if (line->kind != CS_LINE_ONLY_A) seen->b += line->text.len;
    return true;
}

static void check_bytes(const cs_field_pair *pair) {
    cs_difference found;
    cs_compare_bytes(pair->a, pair->b, &found);
    MUST(found.differs == !cs_view_equal(pair->a, pair->b));
    MUST(fuzz_printable(cs_view_of(found.excerpt_a), false) && fuzz_printable(cs_view_of(found.excerpt_b), false));
    texts seen = {.a = 0};
    cs_lines_state state = cs_lines_compare(pair->a, pair->b, on_line, &seen);
    MUST(state == CS_LINES_TOLD || state == CS_LINES_TOO_LARGE);
    MUST(state == CS_LINES_TOO_LARGE || seen.differs == found.differs);
    MUST(seen.a <= pair->a.len && seen.b <= pair->b.len);
}

static void on_pair(void *user, const cs_field_pair *pair) {
    told *t = user;
    t->count++;
    t->covered += pair->covered;
    MUST(pair->has_a || pair->has_b);
    MUST(pair->path[0] != '\0' && fuzz_printable(cs_view_of(pair->path), false));
    if (pair->bytes) {
        MUST(pair->has_a != pair->has_b || !cs_view_equal(pair->a, pair->b));
        check_bytes(pair);
        return;
    }
    MUST(fuzz_printable(cs_view_of(pair->value_a), false) && fuzz_printable(cs_view_of(pair->value_b), false));
    MUST(pair->has_a != pair->has_b || strcmp(pair->value_a, pair->value_b) != 0);
}

static told compare(const ProtobufCMessage *a, const ProtobufCMessage *b, bool with_record) {
    told t = {.count = 0};
    cs_error err = CS_ERROR_INIT;
    MUST(cs_compare_fields(a, b, with_record, on_pair, &t, &err) == CS_OK);
    return t;
}

/* The result digests differ exactly when a field that they cover does, and when the first difference is one. */
static void check_results(const ProtobufCMessage *a, const ProtobufCMessage *b, const told *t) {
    char digest_a[65];
    char digest_b[65];
    cs_difference first;
    fuzz_digest(a, digest_a);
    fuzz_digest(b, digest_b);
    cs_compare_results((const cs_run_response *)a, (const cs_run_response *)b, &first);
    MUST(first.differs == (t->covered > 0));
    MUST((strcmp(digest_a, digest_b) != 0) == (t->covered > 0));
}

static void check_pair(const ProtobufCMessage *a, const ProtobufCMessage *b, cs_view bytes_a, cs_view bytes_b,
                       bool with_record) {
    bool response = a->descriptor == &plimsoll__v1__run_response__descriptor;
    told t = compare(a, b, with_record);
    told back = compare(b, a, with_record);
    MUST((t.count > 0) == (back.count > 0) && (t.covered > 0) == (back.covered > 0));
    bool whole = cs_message_coverage(a, bytes_a, NULL) == CS_OK && cs_message_coverage(b, bytes_b, NULL) == CS_OK;
    if (whole && (!response || with_record)) MUST((t.count == 0) == cs_view_equal(bytes_a, bytes_b));
    if (response) check_results(a, b, &t);
    told same = compare(a, a, true);
    MUST(same.count == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4) return 0;
    const ProtobufCMessageDescriptor *type = fuzz_type(data[0]);
    size_t split = (size_t)data[2] | (size_t)data[3] << 8;
    if (split > size - 4) return 0;
    cs_view bytes_a = cs_view_bytes(data + 4, split);
    cs_view bytes_b = cs_view_bytes(data + 4 + split, size - 4 - split);
    cs_error err = CS_ERROR_INIT;
    ProtobufCMessage *a = NULL;
    ProtobufCMessage *b = NULL;
    if (cs_message_decode(type, bytes_a, &a, &err) == CS_OK && cs_message_decode(type, bytes_b, &b, &err) == CS_OK)
        check_pair(a, b, bytes_a, bytes_b, (data[1] & 1) != 0);
    cs_message_free(a);
    cs_message_free(b);
    return 0;
}
