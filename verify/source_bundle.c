/* A bundle, read line by line from a file, a pipe or standard input with one buffer. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "records/dsse.h"
#include "records/verdict.h"
#include "verify/source_impl.h"

/* Small enough that what was read is still in the processor's cache when it is searched. */
#define READ_CHUNK ((size_t)128 * 1024)

struct cs_bundle_reader {
    int fd;
    bool owned;
    bool ended;    /* nothing more comes from fd */
    cs_buf buffer; /* what was read and not yet given out begins at `start` */
    size_t start;
    size_t searched; /* no newline stands between start and here */
    uint64_t line;   /* number of the last line given out */
    uint64_t done;
    uint64_t total;
    cs_buf request;
    cs_buf response;
};

/* Read once more behind what is there. Sets `ended` at the end of the input. */
static cs_result fill(cs_bundle_reader *reader, cs_error *err) {
    cs_buf *buffer = &reader->buffer;
    if (reader->start > 0) {
        buffer->len -= reader->start;
        reader->searched -= reader->start;
        memmove(buffer->ptr, buffer->ptr + reader->start, buffer->len);
        reader->start = 0;
    }
    if (!cs_buf_reserve(buffer, READ_CHUNK)) return cs_fail(err, CS_CODE_NO_MEMORY, "not enough memory for a line");
    ssize_t got = 0;
    do {
        got = read(reader->fd, buffer->ptr + buffer->len, READ_CHUNK);
    } while (got < 0 && errno == EINTR);
    if (got < 0) return cs_fail(err, CS_CODE_IO, "can't read the bundle: %s", strerror(errno));
    buffer->len += (size_t)got;
    reader->done += (uint64_t)got;
    reader->ended = got == 0;
    return CS_OK;
}

/* Find the newline that ends the line at `start`, reading on as long as the line may be of legal length.
 * *len is the length before the newline; *found false: the input ended, or the line is too long. */
static cs_result find_newline(cs_bundle_reader *reader, size_t *len, bool *found, cs_error *err) {
    for (;;) {
        const uint8_t *from = reader->buffer.ptr + reader->searched;
        size_t left = reader->buffer.len - reader->searched;
        const uint8_t *newline = left > 0 ? memchr(from, '\n', left) : NULL;
        *found = newline != NULL;
        *len = (*found ? (size_t)(newline - reader->buffer.ptr) : reader->buffer.len) - reader->start;
        reader->searched = reader->start + *len;
        if (*found || *len > CS_MAX_LINE_BYTES || reader->ended) return CS_OK;
        cs_result result = fill(reader, err);
        if (result != CS_OK) return result;
    }
}

/* Drop everything up to and with the next newline, in the memory that is there. */
static cs_result skip_line(cs_bundle_reader *reader, cs_error *err) {
    size_t len = 0;
    bool found = false;
    for (;;) {
        cs_result result = find_newline(reader, &len, &found, err);
        if (result != CS_OK) return result;
        reader->start += len + (found ? 1 : 0);
        reader->searched = reader->start;
        if (found || reader->ended) return CS_OK;
    }
}

cs_result cs_bundle_reader_next(cs_bundle_reader *reader, cs_entry *out, bool *more, cs_error *err) {
    *out = (cs_entry){0};
    *more = false;
    size_t len = 0;
    bool found = false;
    cs_result result = find_newline(reader, &len, &found, err);
    if (result != CS_OK) return result;
    if (!found && len == 0) return CS_OK;

    out->number = ++reader->line;
    if (len > CS_MAX_LINE_BYTES) {
        result = skip_line(reader, err);
        if (result != CS_OK) return result;
        *more = true;
        return cs_fail(err, CS_CODE_LINE_TOO_LONG, "the line has more than %zu bytes", CS_MAX_LINE_BYTES);
    }
    cs_view line = cs_view_bytes(reader->buffer.ptr + reader->start, len);
    reader->start += len + (found ? 1 : 0);
    reader->searched = reader->start;
    *more = true;
    if (!found) {
        out->line = line;
        return cs_fail(err, CS_CODE_LINE_UNFINISHED,
                       "the last line has no newline at its end: the file was cut off, or is still being written");
    }
    return cs_bundle_line_split(line, &reader->request, &reader->response, out, err);
}

/* A file that begins with an envelope of its own is no bundle. When that states a verdict, it is said what it is:
 * whoever takes it for a record would take a conclusion for something that ran. Anything else is for the line's own
 * check. */
static cs_result look_for_verdict(cs_bundle_reader *reader, cs_error *err) {
    static const char bare[] = "{\"payloadType\":";
    size_t len = 0;
    bool found = false;
    while (reader->buffer.len < strlen(bare) && !reader->ended) {
        cs_result result = fill(reader, err);
        if (result != CS_OK) return result;
    }
    if (reader->buffer.len < strlen(bare) || memcmp(reader->buffer.ptr, bare, strlen(bare)) != 0) return CS_OK;
    cs_result result = find_newline(reader, &len, &found, err);
    if (result != CS_OK) return result;
    cs_envelope envelope;
    cs_verdict_kind kind;
    cs_error why = CS_ERROR_INIT;
    result = cs_envelope_decode(cs_view_bytes(reader->buffer.ptr, len), &envelope, &why);
    if (result == CS_UNCHECKED && err != NULL) *err = why;
    if (result != CS_OK) return result == CS_UNCHECKED ? result : CS_OK;
    bool stated = cs_verdict_is_stated(cs_buf_view(&envelope.payload), &kind);
    cs_envelope_free(&envelope);
    if (!stated) return CS_OK;
    return cs_fail(
        err, CS_CODE_INPUT_VERDICT,
        "this is an attestation of a verdict (%s), not a record of a run: nothing of it was checked; its "
        "signature is for a verifier of DSSE envelopes, and the runs are in the ledger or bundle that was judged",
        kind == CS_VERDICT_SUMMARY ? "a verification summary" : "a test result");
}

/* A file that is one was taken for a ledger before. */
static bool is_database(cs_view bytes) {
    static const char magic[] = {'S', 'Q', 'L', 'i', 't', 'e', ' ', 'f', 'o', 'r', 'm', 'a', 't', ' ', '3'};
    return bytes.len >= sizeof magic && memcmp(bytes.ptr, magic, sizeof magic) == 0;
}

static cs_result look_at_beginning(cs_bundle_reader *reader, cs_error *err) {
    cs_result result = fill(reader, err);
    if (result != CS_OK) return result;
    if (reader->buffer.len == 0) return cs_fail(err, CS_CODE_NOTHING_TO_CHECK, "the input is empty");
    if (reader->buffer.ptr[0] == '{') return look_for_verdict(reader, err);
    if (is_database(cs_buf_view(&reader->buffer)))
        return cs_fail(err, CS_CODE_INPUT_UNKNOWN,
                       "this is a database, which can be read from a file only, not from a pipe or standard input");
    return cs_fail_differs(err, CS_CODE_INPUT_UNKNOWN, "the input is neither a bundle nor a ledger",
                           cs_view_of("'{', or the first bytes of an SQLite database"),
                           cs_view_bytes(reader->buffer.ptr, reader->buffer.len < 16 ? reader->buffer.len : 16));
}

cs_result cs_bundle_reader_open(int fd, bool owned, uint64_t total, cs_bundle_reader **out, cs_error *err) {
    *out = NULL;
    cs_bundle_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        if (owned) (void)close(fd);
        return cs_fail(err, CS_CODE_NO_MEMORY, "not enough memory to read a bundle");
    }
    *reader = (cs_bundle_reader){.fd = fd,
                                 .owned = owned,
                                 .total = total,
                                 .buffer = CS_BUF_INIT(CS_MAX_LINE_BYTES + 2 * READ_CHUNK),
                                 .request = CS_BUF_INIT(CS_MAX_LINE_BYTES),
                                 .response = CS_BUF_INIT(CS_MAX_LINE_BYTES)};
    cs_result result = look_at_beginning(reader, err);
    if (result != CS_OK) {
        cs_bundle_reader_close(reader);
        return result;
    }
    *out = reader;
    return CS_OK;
}

void cs_bundle_reader_progress(const cs_bundle_reader *reader, uint64_t *done, uint64_t *total) {
    *done = reader->done - (reader->buffer.len - reader->start);
    *total = reader->total;
}

void cs_bundle_reader_close(cs_bundle_reader *reader) {
    if (reader == NULL) return;
    if (reader->owned) (void)close(reader->fd);
    cs_buf_free(&reader->buffer);
    cs_buf_free(&reader->request);
    cs_buf_free(&reader->response);
    free(reader);
}
