/* One line of a bundle, split into its members: docs/FORMAT.md, "Bundle". */
#include <string.h>

#include "records/text.h"
#include "verify/source_impl.h"

typedef struct cursor {
    cs_view line;
    size_t at;
} cursor;

static cs_view rest_of(const cursor *in) {
    return cs_view_bytes(in->line.ptr + in->at, in->line.len - in->at);
}

static bool take(cursor *in, const char *text) {
    size_t len = strlen(text);
    if (in->line.len - in->at < len || memcmp(in->line.ptr + in->at, text, len) != 0) return false;
    in->at += len;
    return true;
}

static cs_result fail_here(const cursor *in, const char *what, const char *expected, cs_error *err) {
    cs_view found = rest_of(in);
    if (found.len > 40) found.len = 40;
    cs_result result = cs_fail_differs(err, CS_CODE_LINE_FRAMING, what, cs_view_of(expected), found);
    cs_error_where(err, "byte %zu", in->at);
    return result;
}

static cs_result expect(cursor *in, const char *text, cs_error *err) {
    if (take(in, text)) return CS_OK;
    return fail_here(in, "the line is not of the exact form of a bundle line", text, err);
}

/* The base64 text up to the closing quote, which is taken too. */
static cs_result take_message(cursor *in, const char *name, cs_buf *to, cs_view *out, cs_error *err) {
    cs_view rest = rest_of(in);
    const uint8_t *quote = rest.len > 0 ? memchr(rest.ptr, '"', rest.len) : NULL;
    if (quote == NULL) return fail_here(in, "a string of the line has no end", "\"", err);
    cs_view text = cs_view_bytes(rest.ptr, (size_t)(quote - rest.ptr));
    cs_buf_clear(to);
    /* Room first: a message of no bytes is present too, and says so by a pointer that is not NULL. */
    if (!cs_buf_reserve(to, text.len / 4 * 3 + 1)) {
        return cs_fail(err, CS_CODE_NO_MEMORY, "not enough memory for a %s of %zu base64 digits", name, text.len);
    }
    if (!cs_base64_decode(text, to)) {
        return fail_here(in, "a message of the line is not canonical base64", "standard alphabet, padded", err);
    }
    *out = cs_buf_view(to);
    in->at += text.len + 1;
    return CS_OK;
}

/* The length of the JSON string that begins at `text`, with both quotes; 0 when it has no end or holds a
 * raw control character. */
static size_t string_length(cs_view text) {
    for (size_t i = 1; i < text.len; i++) {
        const uint8_t c = text.ptr[i];
        if (c > '"' && c != '\\') continue; /* nearly every byte */
        if (c == '"') return i + 1;
        if (c < 0x20) return 0;
        if (c == '\\') i++;
    }
    return 0;
}

/* A JSON object from its brace to the brace that closes it. Only its extent is found here: the decoder of
 * envelopes consumes exactly these bytes, and refuses whatever is wrong within. */
static cs_result take_object(cursor *in, cs_view *out, cs_error *err) {
    cs_view rest = rest_of(in);
    size_t depth = 1;
    size_t end = rest.len > 0 && rest.ptr[0] == '{' ? rest.len : 0;
    for (size_t i = 1; i < end; i++) {
        uint8_t c = rest.ptr[i];
        if (c < 0x20) break;
        if (c == '"') {
            size_t len = string_length(cs_view_bytes(rest.ptr + i, rest.len - i));
            if (len == 0) break;
            i += len - 1;
        } else if (c == '{') {
            depth++;
        } else if (c == '}' && --depth == 0) {
            *out = cs_view_bytes(rest.ptr, i + 1);
            in->at += i + 1;
            return CS_OK;
        }
    }
    return fail_here(in, "an envelope of the line is no JSON object with an end and without control characters",
                     "{\"payloadType\":...}", err);
}

/* The link, when one stands here. */
static cs_result take_link(cursor *in, cs_entry *out, cs_error *err) {
    size_t begin = in->at;
    if (!take(in, ",\"link\":")) return CS_OK;
    out->link_offset = begin;
    return take_object(in, &out->link, err);
}

static cs_result take_exchange(cursor *in, cs_buf *request, cs_buf *response, cs_entry *out, cs_error *err) {
    if (take(in, "\"request\":\"")) {
        cs_result result = take_message(in, "request", request, &out->request, err);
        if (result == CS_OK && take(in, ",\"response\":\"")) {
            result = take_message(in, "response", response, &out->response, err);
        }
        if (result == CS_OK) result = expect(in, ",", err);
        if (result != CS_OK) return result;
    }
    cs_result result = expect(in, "\"envelope\":", err);
    if (result == CS_OK) result = take_object(in, &out->envelope, err);
    return result == CS_OK ? take_link(in, out, err) : result;
}

static cs_result split(cursor *in, cs_buf *request, cs_buf *response, cs_entry *out, cs_error *err) {
    cs_result result = expect(in, "{", err);
    if (result != CS_OK) return result;
    result = take(in, "\"link\":") ? take_object(in, &out->link, err) : take_exchange(in, request, response, out, err);
    if (result == CS_OK) result = expect(in, "}", err);
    if (result != CS_OK || in->at == in->line.len) return result;
    return fail_here(in, "something follows the object of the line", "the end of the line", err);
}

cs_result cs_bundle_line_split(cs_view line, cs_buf *request, cs_buf *response, cs_entry *out, cs_error *err) {
    cursor in = {.line = line};
    cs_entry entry = {.number = out->number, .line = line};
    cs_result result = split(&in, request, response, &entry, err);
    /* Of a line that is not of the form only the line itself is given: the next link names its digest. */
    *out = result == CS_OK ? entry : (cs_entry){.number = out->number, .line = line};
    return result;
}
