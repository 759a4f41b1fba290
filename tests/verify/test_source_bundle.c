/* verify/source.h on bundles: framing, exactly. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/fixtures.h"
#include "tests/support/folder.h"
#include "tests/support/forge.h"
#include "verify/source.h"

#define ENVELOPE "{\"payloadType\":\"t\",\"payload\":\"cA==\",\"signatures\":[{\"keyid\":\"k\",\"sig\":\"cw==\"}]}"
#define RUN "{\"request\":\"cmVx\",\"response\":\"cmVzcA==\",\"envelope\":" ENVELOPE "}"
#define CLOSE "{\"envelope\":" ENVELOPE "}"

static char folder[128];
static char path[256];

static void set_up(void) {
    folder_make(folder);
    (void)snprintf(path, sizeof path, "%s/bundle.jsonl", folder);
}

static void tear_down(void) {
    folder_remove(folder);
}

TestSuite(source_bundle, .init = set_up, .fini = tear_down);

static cs_source *open_good(const char *name) {
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_source_open(name, &source, &err), CS_OK, "%s: %s", err.where, err.message);
    return source;
}

static cs_source *open_text(const char *text) {
    file_write(path, text, strlen(text));
    return open_good(path);
}

static void expect_open_error(const char *name, cs_result result, cs_code code) {
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_source_open(name, &source, &err), result, "%s", name);
    cr_expect_eq(err.code, code, "%s: %s", name, cs_code_name(err.code));
    cr_expect_null(source);
}

static void expect_entry(cs_source *source, cs_entry *entry, uint64_t number) {
    bool more = false;
    cs_error err = CS_ERROR_INIT;
    cr_assert_eq(cs_source_next(source, entry, &more, &err), CS_OK, "%s: %s", err.where, err.message);
    cr_assert(more);
    cr_expect_eq(entry->number, number);
}

static void expect_bad(cs_source *source, uint64_t number, cs_code code, const char *where) {
    cs_entry entry;
    bool more = false;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_FAILED, "%s", where);
    cr_expect(more);
    cr_expect_eq(entry.number, number);
    cr_expect_eq(err.code, code, "%s: %s", where, cs_code_name(err.code));
    cr_expect_str_eq(err.where, where);
    cr_expect_null(entry.request.ptr);
    cr_expect_null(entry.envelope.ptr);
}

static void expect_end(cs_source *source) {
    cs_entry entry;
    bool more = true;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_OK);
    cr_expect_not(more);
}

static bool is(cs_view view, const char *text) {
    return view.ptr != NULL && view.len == strlen(text) && memcmp(view.ptr, text, view.len) == 0;
}

/* ---- lines that are good ------------------------------------------------------------------------- */

Test(source_bundle, members_of_every_kind_of_line) {
    cs_source *source = open_text(RUN "\n"
                                      "{\"request\":\"cmVx\",\"envelope\":" ENVELOPE
                                      ",\"link\":{\"a\":\"}{\\\"\"}}\n" CLOSE "\n{\"link\":{}}\n"
                                      "{\"request\":\"\",\"response\":\"\",\"envelope\":{}}\n");
    cs_entry entry;
    cr_expect_eq(cs_source_what(source), CS_SOURCE_BUNDLE);
    expect_entry(source, &entry, 1);
    cr_expect(is(entry.request, "req") && is(entry.response, "resp") && is(entry.envelope, ENVELOPE));
    cr_expect(is(entry.line, RUN) && entry.link.ptr == NULL && entry.link_offset == 0);
    cr_expect(!entry.finding && entry.row == NULL);
    expect_entry(source, &entry, 2);
    cr_expect(is(entry.request, "req") && entry.response.ptr == NULL && is(entry.envelope, ENVELOPE));
    cr_expect(is(entry.link, "{\"a\":\"}{\\\"\"}"));
    cr_expect(memcmp(entry.line.ptr + entry.link_offset, ",\"link\":{", 9) == 0);
    cr_expect_eq(entry.link_offset, strlen("{\"request\":\"cmVx\",\"envelope\":" ENVELOPE));
    expect_entry(source, &entry, 3);
    cr_expect(entry.request.ptr == NULL && entry.response.ptr == NULL && is(entry.envelope, ENVELOPE));
    expect_entry(source, &entry, 4);
    cr_expect(is(entry.link, "{}") && entry.envelope.ptr == NULL && entry.link_offset == 0);
    expect_entry(source, &entry, 5);
    cr_expect(is(entry.request, "") && is(entry.response, "") && is(entry.envelope, "{}"), "empty is not absent");
    expect_end(source);
    expect_end(source);
    cs_source_close(source);
}

static void count_published(const char *name, uint64_t lines, uint64_t requests, uint64_t links) {
    char file[512];
    fixture_path(name, file, sizeof file);
    cs_source *source = open_good(file);
    cs_entry entry;
    cs_error err = CS_ERROR_INIT;
    uint64_t seen[3] = {0};
    bool more = true;
    for (;;) {
        cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK, "%s: %s", err.where, err.message);
        if (!more) break;
        seen[0]++;
        seen[1] += entry.request.ptr != NULL && entry.response.ptr != NULL;
        seen[2] += entry.link.ptr != NULL;
        cr_expect_eq(entry.number, seen[0]);
    }
    cr_expect_eq(seen[0], lines);
    cr_expect_eq(seen[1], requests);
    cr_expect_eq(seen[2], links);
    uint64_t done = 0;
    uint64_t total = 0;
    cs_source_progress(source, &done, &total);
    cr_expect(done == total && total > 0);
    cs_source_close(source);
}

Test(source_bundle, published_bundles) {
    count_published("published-session/unlinked.jsonl", 6, 5, 0);
    count_published("published-session/linked.jsonl", 7, 5, 7);
}

/* ---- lines that are not of the form -------------------------------------------------------------- */

typedef struct framing {
    const char *line;
    size_t byte; /* where the fault begins */
} framing;

static const framing framings[] = {
    {"", 0},
    {" " CLOSE, 0},
    {CLOSE " ", sizeof CLOSE - 1},
    {CLOSE "\r", sizeof CLOSE - 1},
    {CLOSE CLOSE, sizeof CLOSE - 1},
    {"{}", 1},
    {"[]", 0},
    {"{ \"envelope\":{}}", 1},
    {"{\"envelope\": {}}", 12},
    {"{\"Envelope\":{}}", 1},
    {"{\"envelope\":{},\"note\":1}", 14},
    {"{\"envelope\":{},\"envelope\":{}}", 14},
    {"{\"envelope\":{},\"link\":{},\"link\":{}}", 24},
    {"{\"envelope\":{}", 14},
    {"{\"envelope\":{", 12},
    {"{\"envelope\":[]}", 12},
    {"{\"envelope\":null}", 12},
    {"{\"envelope\":}", 12},
    {"{\"envelope\":{\"a\":\"b}", 12},
    {"{\"envelope\":{\"a\":\"b\\\"}}", 12},
    {"{\"envelope\":{\t}}", 12},
    {"{\"envelope\":{\"a\":\"\x01\"}}", 12},
    {"{\"link\":{},\"envelope\":{}}", 10},
    {"{\"request\":\"cmVx\"}", 17},
    {"{\"request\":\"cmVx\",\"response\":\"cmVx\"}", 35},
    {"{\"response\":\"cmVx\",\"envelope\":{}}", 1},
    {"{\"response\":\"cmVx\",\"request\":\"cmVx\",\"envelope\":{}}", 1},
    {"{\"request\":\"cmVx\",\"request\":\"cmVx\",\"envelope\":{}}", 18},
    {"{\"request\":\"cmVx\",\"link\":{}}", 18},
    {"{\"request\":cmVx,\"envelope\":{}}", 1},
    {"{\"request\":\"cmVx", 12},
    {"{\"request\":\"cmVxcQ\",\"envelope\":{}}", 12},
    {"{\"request\":\"cmVxcQ=\",\"envelope\":{}}", 12},
    {"{\"request\":\"cmVxcR==\",\"envelope\":{}}", 12},
    {"{\"request\":\"cm_x\",\"envelope\":{}}", 12},
    {"{\"request\":\"cm x\",\"envelope\":{}}", 12},
    {"{\"request\":\"cmVx\\n\",\"envelope\":{}}", 12},
    {"{\"request\":\"cmVx\",\"response\":\"cmV\",\"envelope\":{}}", 30},
};

/* The bad line stands between two good ones, which are read all the same. */
Test(source_bundle, each_fault_of_framing_at_its_line_and_byte) {
    for (size_t i = 0; i < sizeof framings / sizeof *framings; i++) {
        char text[1024];
        char where[64];
        (void)snprintf(text, sizeof text, "%s\n%s\n%s\n", CLOSE, framings[i].line, RUN);
        (void)snprintf(where, sizeof where, "line 2: byte %zu", framings[i].byte);
        cs_source *source = open_text(text);
        cs_entry entry;
        expect_entry(source, &entry, 1);
        expect_bad(source, 2, CS_CODE_LINE_FRAMING, where);
        expect_entry(source, &entry, 3);
        cr_expect(is(entry.request, "req"), "after '%s'", framings[i].line);
        expect_end(source);
        cs_source_close(source);
    }
}

Test(source_bundle, a_nul_byte_is_a_fault_of_framing) {
    static const char text[] = "{\"envelope\":{}}\n{\"envelope\":{\0}}\n{\"envelope\":{}\0\n";
    file_write(path, text, sizeof text - 1);
    cs_source *source = open_good(path);
    cs_entry entry;
    expect_entry(source, &entry, 1);
    expect_bad(source, 2, CS_CODE_LINE_FRAMING, "line 2: byte 12");
    expect_bad(source, 3, CS_CODE_LINE_FRAMING, "line 3: byte 14");
    expect_end(source);
    cs_source_close(source);
}

Test(source_bundle, a_bad_line_still_gives_its_bytes) {
    cs_source *source = open_text("{\"envelope\":{},\"x\":1}\n");
    cs_entry entry;
    bool more = false;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_FAILED);
    cr_expect(is(entry.line, "{\"envelope\":{},\"x\":1}"));
    cr_expect_null(entry.envelope.ptr);
    cs_source_close(source);
}

Test(source_bundle, the_last_line_needs_its_newline) {
    cs_source *source = open_text(CLOSE "\n" CLOSE "\n");
    cs_entry entry;
    expect_entry(source, &entry, 1);
    expect_entry(source, &entry, 2);
    expect_end(source);
    cs_source_close(source);
    source = open_text(CLOSE "\n" CLOSE);
    expect_entry(source, &entry, 1);
    expect_bad(source, 2, CS_CODE_LINE_UNFINISHED, "line 2");
    expect_end(source);
    cs_source_close(source);
}

/* ---- long lines ---------------------------------------------------------------------------------- */

/* A file of two lines, the first of exactly `len` bytes. */
static void write_long(size_t len) {
    static const char before[] = "{\"request\":\"";
    static const char after[] = "\",\"envelope\":{}}";
    size_t digits = (len - (sizeof before - 1) - (sizeof after - 1)) / 4 * 4;
    size_t spaces = len - digits - (sizeof before - 1) - (sizeof after - 1);
    char *text = malloc(len);
    cr_assert_not_null(text);
    memcpy(text, before, sizeof before - 1);
    memset(text + sizeof before - 1, 'A', digits);
    memcpy(text + sizeof before - 1 + digits, after, sizeof after - 1);
    /* Spaces inside the envelope's braces: its decoder's concern, not that of framing. */
    memset(text + len - 2 - spaces, ' ', spaces);
    memcpy(text + len - 2, "}}", 2);
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(text, len, 1, file), 1);
    cr_assert_gt(fputs("\n" CLOSE "\n", file), 0);
    cr_assert_eq(fclose(file), 0);
    free(text);
}

Test(source_bundle, a_line_of_the_largest_size_passes_and_one_byte_more_does_not) {
    cs_entry entry;
    write_long(CS_MAX_LINE_BYTES);
    cs_source *source = open_good(path);
    expect_entry(source, &entry, 1);
    cr_expect_eq(entry.line.len, CS_MAX_LINE_BYTES);
    expect_entry(source, &entry, 2);
    expect_end(source);
    cs_source_close(source);

    write_long(CS_MAX_LINE_BYTES + 1);
    source = open_good(path);
    expect_bad(source, 1, CS_CODE_LINE_TOO_LONG, "line 1");
    expect_entry(source, &entry, 2);
    expect_end(source);
    cs_source_close(source);
}

/* Far longer than the limit: stepped over in the memory that one line may have. */
Test(source_bundle, a_line_without_end_costs_no_memory) {
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_gt(fputs("{\"request\":\"", file), 0);
    cr_assert_eq(fseek(file, 400L << 20, SEEK_SET), 0);
    cr_assert_gt(fputs("\n" CLOSE "\n", file), 0);
    cr_assert_eq(fclose(file), 0);
    cs_source *source = open_good(path);
    cs_entry entry;
    expect_bad(source, 1, CS_CODE_LINE_TOO_LONG, "line 1");
    expect_entry(source, &entry, 2);
    expect_end(source);
    cs_source_close(source);
}

/* Lines of many lengths, so that ends of reads fall everywhere. Line i decodes to i*7919 % 700000 zero bytes. */
Test(source_bundle, lines_of_many_lengths) {
    enum { LINES = 60 };
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    for (size_t i = 1; i <= LINES; i++) {
        size_t groups = i * 7919 * 37 % 700000 / 3;
        cr_assert_gt(fputs("{\"request\":\"", file), 0);
        for (size_t j = 0; j < groups; j++)
            fwrite("AAAA", 4, 1, file);
        cr_assert_gt(fputs("\",\"envelope\":{}}\n", file), 0);
    }
    cr_assert_eq(fclose(file), 0);
    cs_source *source = open_good(path);
    cs_entry entry;
    for (size_t i = 1; i <= LINES; i++) {
        expect_entry(source, &entry, i);
        cr_expect_eq(entry.request.len, i * 7919 * 37 % 700000 / 3 * 3);
    }
    expect_end(source);
    cs_source_close(source);
}

/* ---- what can be opened -------------------------------------------------------------------------- */

Test(source_bundle, what_is_neither) {
    char name[256];
    file_write(path, "hello\n", 6);
    expect_open_error(path, CS_UNCHECKED, CS_CODE_INPUT_UNKNOWN);
    file_write(path, "\n{\"envelope\":{}}\n", 17);
    expect_open_error(path, CS_UNCHECKED, CS_CODE_INPUT_UNKNOWN);
    file_write(path, "SQLite format 2", 16);
    expect_open_error(path, CS_UNCHECKED, CS_CODE_INPUT_UNKNOWN);
    file_write(path, "", 0);
    expect_open_error(path, CS_NOTHING, CS_CODE_NOTHING_TO_CHECK);
    expect_open_error(folder, CS_UNCHECKED, CS_CODE_IO);
    expect_open_error(":memory:", CS_UNCHECKED, CS_CODE_IO);
    (void)snprintf(name, sizeof name, "%s/none", folder);
    expect_open_error(name, CS_UNCHECKED, CS_CODE_IO);
}

Test(source_bundle, a_file_that_may_not_be_read) {
    file_write(path, CLOSE "\n", sizeof CLOSE);
    cs_source_close(open_good(path)); /* the twin: it can be read as long as it may be */
    cr_assert_eq(chmod(path, 0200), 0);
    pid_t child = fork();
    if (child == 0) {
        become_nobody();
        cs_source *source = NULL;
        cs_error err = CS_ERROR_INIT;
        cs_result result = cs_source_open(path, &source, &err);
        _exit(result == CS_UNCHECKED && err.code == CS_CODE_IO && strstr(err.message, "denied") != NULL ? 0 : 1);
    }
    int status = -1;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
}

/* A child writes the text in two pieces to `fd`. */
static pid_t write_slowly(int fd, const char *text) {
    pid_t child = fork();
    if (child != 0) return child;
    size_t half = strlen(text) / 2;
    bool good = write(fd, text, half) == (ssize_t)half;
    usleep(20000);
    good = good && write(fd, text + half, strlen(text) - half) == (ssize_t)(strlen(text) - half);
    _exit(good ? 0 : 1);
}

/* `keep` is the end of a pipe that this process has to close before the reader can see the end. */
static void expect_two_lines(const char *name, int keep, pid_t writer) {
    cs_source *source = open_good(name);
    close(keep);
    cs_entry entry;
    expect_entry(source, &entry, 1);
    expect_entry(source, &entry, 2);
    cr_expect(is(entry.response, "resp"));
    expect_end(source);
    cs_source_close(source);
    int status = -1;
    cr_assert_eq(waitpid(writer, &status, 0), writer);
    cr_expect_eq(status, 0);
}

Test(source_bundle, standard_input) {
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t writer = write_slowly(ends[1], CLOSE "\n" RUN "\n");
    cr_assert_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    expect_two_lines("-", ends[1], writer);
}

Test(source_bundle, standard_input_that_is_empty) {
    int null = open("/dev/null", O_RDONLY);
    cr_assert_eq(dup2(null, STDIN_FILENO), STDIN_FILENO);
    close(null);
    expect_open_error("-", CS_NOTHING, CS_CODE_NOTHING_TO_CHECK);
}

Test(source_bundle, a_named_pipe) {
    cr_assert_eq(mkfifo(path, 0600), 0);
    int keep = open(path, O_RDWR);
    cr_assert_geq(keep, 0);
    expect_two_lines(path, keep, write_slowly(keep, CLOSE "\n" RUN "\n"));
}

/* ---- attestations ---------------------------------------------------------------------------------- */

/* A bare envelope; of a key that nobody knows, since only what it says it is matters. */
static char *bare_envelope(const char *predicate) {
    forge_key key = forge_key_from(3);
    return forge_envelope(&key, forge_text("{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"name\":"
                                           "\"git+\",\"digest\":{\"gitCommit\":\"a\"}}],\"predicateType\":\"%s\","
                                           "\"predicate\":{}}",
                                           predicate));
}

static void expect_malformed_at(const char *text, uint64_t line) {
    cs_source *source = open_text(text);
    cs_entry entry = {.number = 0};
    bool more = false;
    cs_error err = CS_ERROR_INIT;
    for (uint64_t i = 1; i < line; i++)
        cr_assert_eq(cs_source_next(source, &entry, &more, &err), CS_OK, "%s", err.message);
    cr_expect_eq(cs_source_next(source, &entry, &more, &err), CS_FAILED);
    cr_expect_eq(err.code, CS_CODE_LINE_FRAMING, "%s", cs_code_name(err.code));
    cr_expect_eq(entry.number, line);
    cs_source_close(source);
}

Test(source_bundle, an_attestation_is_said_to_be_one) {
    static const char *const verdicts[] = {"https://in-toto.io/attestation/test-result/v0.1",
                                           "https://slsa.dev/verification_summary/v1"};
    for (size_t i = 0; i < 2; i++) {
        char *envelope = bare_envelope(verdicts[i]);
        const char *const texts[] = {forge_text("%s\n", envelope), envelope, forge_text("%s\n" RUN "\n", envelope)};
        for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
            file_write(path, texts[k], strlen(texts[k]));
            expect_open_error(path, CS_NOTHING, CS_CODE_INPUT_VERDICT);
        }
        /* Within a bundle it is a line like any other, of the wrong form. */
        expect_malformed_at(forge_text(RUN "\n%s\n", envelope), 2);
        /* One byte of the envelope's form is another. */
        envelope[strlen(envelope) - 1] = ' ';
        expect_malformed_at(forge_text("%s\n", envelope), 1);
    }
    expect_malformed_at(forge_text("%s\n", bare_envelope("https://slsa.dev/verification_summary/v0.2")), 1);
    expect_malformed_at(forge_text("%s\n", bare_envelope("https://plimsollmark.github.io/plimsoll/run-record/v1")), 1);
    expect_malformed_at("{\"payloadType\":\n", 1);
}

/* From a pipe that gives a few bytes at a time. */
Test(source_bundle, an_attestation_from_a_pipe) {
    char *envelope = bare_envelope("https://slsa.dev/verification_summary/v1");
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        close(ends[0]);
        for (const char *at = envelope; *at != '\0'; at++)
            if (write(ends[1], at, 1) != 1) _exit(1);
        _exit(0);
    }
    close(ends[1]);
    cs_source *source = NULL;
    cs_error err = CS_ERROR_INIT;
    cr_expect_eq(cs_source_open_bundle(ends[0], &source, &err), CS_NOTHING);
    cr_expect_eq(err.code, CS_CODE_INPUT_VERDICT);
    cr_expect_null(source);
    close(ends[0]);
    int status = 0;
    cr_assert_eq(waitpid(child, &status, 0), child);
}
