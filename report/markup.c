#include "report/markup.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "records/text.h"
#include "records/time.h"

#define MAX_CHARACTER 4u /* bytes of UTF-8 */

void cs_markup_begin(cs_markup *out, size_t max_bytes) {
    *out = (cs_markup){.buf = CS_BUF_INIT(max_bytes)};
}

void cs_markup_free(cs_markup *out) {
    cs_buf_free(&out->buf);
}

static void put(cs_markup *out, const void *bytes, size_t len) {
    if (!out->full && !cs_buf_append(&out->buf, bytes, len)) out->full = true;
}

void cs_markup_raw(cs_markup *out, const char *markup) {
    put(out, markup, strlen(markup));
}

void cs_markup_printf(cs_markup *out, const char *fmt, ...) {
    char text[512];
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof text)
        out->full = true;
    else
        put(out, text, (size_t)len);
}

void cs_markup_add(cs_markup *out, const cs_markup *more) {
    if (more->full) out->full = true;
    put(out, more->buf.ptr, more->buf.len);
}

void cs_markup_insert(cs_markup *out, size_t at, const cs_markup *more) {
    size_t before = out->buf.len;
    cs_markup_add(out, more);
    if (out->full || more->buf.len == 0) return;
    memmove(out->buf.ptr + at + more->buf.len, out->buf.ptr + at, before - at);
    memcpy(out->buf.ptr + at, more->buf.ptr, more->buf.len);
}

/* ---- data ----------------------------------------------------------------------------------------------- */

/* What stands for a character that markup would take for its own; NULL for any other. */
static const char *entity_of(uint8_t c) {
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static bool is_plain(uint8_t c) {
    return c >= 0x20 && c < 0x7F && c != '\\' && entity_of(c) == NULL;
}

/* Length of the character at the front, or 1 of a byte that belongs to none. */
static size_t step_at(cs_view bytes) {
    uint8_t lead = bytes.ptr[0];
    size_t len = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : MAX_CHARACTER;
    if (len > bytes.len || !cs_utf8_valid(cs_view_bytes(bytes.ptr, len))) return 1;
    return len;
}

/* XML has no place for these two, although they are UTF-8. */
static const char *no_character(cs_view one) {
    if (one.len != 3 || memcmp(one.ptr, "\xef\xbf", 2) != 0) return NULL;
    return one.ptr[2] == 0xbe ? "\\u{fffe}" : one.ptr[2] == 0xbf ? "\\u{ffff}" : NULL;
}

/* What stands for one character when it can't be shown; empty when it can. */
static cs_view escape_of(cs_view one, bool lines, cs_buf *scratch, bool *full) {
    const char *missing = no_character(one);
    if (missing != NULL) return cs_view_of(missing);
    if (one.ptr[0] == '\\' || entity_of(one.ptr[0]) != NULL) return cs_view_bytes(NULL, 0);
    cs_buf_clear(scratch);
    if (!cs_escape_append(scratch, one, lines)) *full = true;
    cs_view escaped = cs_buf_view(scratch);
    return cs_view_equal(escaped, one) ? cs_view_bytes(NULL, 0) : escaped;
}

static void put_shown(cs_markup *out, cs_view one) {
    const char *entity = entity_of(one.ptr[0]);
    if (entity != NULL)
        cs_markup_raw(out, entity);
    else
        put(out, one.ptr, one.len);
}

void cs_markup_data(cs_markup *out, cs_view bytes, bool lines) {
    CS_AUTO_BUF scratch = CS_BUF_INIT(64);
    bool boxed = false;
    size_t at = 0;
    while (at < bytes.len && !out->full) {
        size_t run = 0;
        while (at + run < bytes.len && is_plain(bytes.ptr[at + run]))
            run++;
        cs_view one = cs_view_bytes(bytes.ptr + at, run);
        cs_view escape = cs_view_bytes(NULL, 0);
        if (run == 0) {
            one.len = step_at(cs_view_bytes(bytes.ptr + at, bytes.len - at));
            escape = escape_of(one, lines, &scratch, &out->full);
        }
        bool box = escape.len > 0;
        if (box != boxed) cs_markup_raw(out, box ? "<span class=\"e\">" : "</span>");
        boxed = box;
        if (box)
            put(out, escape.ptr, escape.len);
        else if (run > 0)
            put(out, one.ptr, one.len);
        else
            put_shown(out, one);
        at += one.len;
    }
    if (boxed) cs_markup_raw(out, "</span>");
}

void cs_markup_text(cs_markup *out, const char *text) {
    cs_markup_data(out, cs_view_of(text), false);
}

void cs_markup_short(cs_markup *out, cs_view bytes, size_t max) {
    if (bytes.len == 0) {
        cs_markup_raw(out, "<span class=\"none\">(empty)</span>");
        return;
    }
    cs_view shown = cs_utf8_cut(bytes, max);
    cs_markup_raw(out, "<bdi dir=\"ltr\" class=\"d\">");
    cs_markup_data(out, shown, false);
    cs_markup_raw(out, "</bdi>");
    if (shown.len < bytes.len)
        cs_markup_printf(out, " <span class=\"cut\">(cut: %zu of %zu %s)</span>", shown.len, bytes.len,
                         cs_plural(bytes.len, "byte", "bytes"));
}

void cs_markup_fact(cs_markup *out, const char *label, cs_view text, size_t max) {
    cs_markup_printf(out, "<div><dt>%s</dt><dd>", label);
    cs_markup_short(out, text, max);
    cs_markup_raw(out, "</dd></div>");
}

size_t cs_markup_keep(uint8_t *to, size_t size, cs_view text) {
    static const char dots[] = {'.', '.', '.'};
    bool whole = text.len <= size;
    cs_view kept = whole ? text : cs_utf8_cut(text, size - sizeof dots);
    if (kept.len > 0) memcpy(to, kept.ptr, kept.len);
    if (whole) return kept.len;
    memcpy(to + kept.len, dots, sizeof dots);
    return kept.len + sizeof dots;
}

void cs_markup_time(cs_markup *out, int64_t unix_ms) {
    char text[40];
    cs_time_format(unix_ms, text, sizeof text);
    cs_markup_printf(out, "<span class=\"t\">%s</span>", text);
}
