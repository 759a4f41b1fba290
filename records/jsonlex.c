#include "records/jsonlex.h"

#include <string.h>

#include "records/text.h"

cs_lex cs_lex_of(cs_view text) {
    return (cs_lex){.start = text.ptr, .pos = text.ptr, .end = text.len ? text.ptr + text.len : text.ptr};
}

static bool problem(cs_lex *lex, const char *what) {
    lex->problem = what;
    return false;
}

static size_t left(const cs_lex *lex) {
    return (size_t)(lex->end - lex->pos);
}

uint8_t cs_lex_peek(cs_lex *lex) {
    while (lex->pos < lex->end) {
        uint8_t byte = *lex->pos;
        if (byte != ' ' && byte != '\t' && byte != '\n' && byte != '\r') return byte;
        lex->pos++;
    }
    return 0;
}

bool cs_lex_try(cs_lex *lex, char mark) {
    if (cs_lex_peek(lex) != (uint8_t)mark || lex->pos == lex->end) return false;
    lex->pos++;
    return true;
}

static const char *missing_mark(char mark) {
    switch (mark) {
    case '{':
        return "'{' was expected";
    case '}':
        return "',' or '}' was expected";
    case '[':
        return "'[' was expected";
    case ']':
        return "',' or ']' was expected";
    case ':':
        return "':' was expected";
    default:
        return "',' was expected";
    }
}

bool cs_lex_mark(cs_lex *lex, char mark) {
    return cs_lex_try(lex, mark) || problem(lex, missing_mark(mark));
}

bool cs_lex_word(cs_lex *lex, const char *word) {
    size_t len = strlen(word);
    (void)cs_lex_peek(lex);
    if (left(lex) < len || memcmp(lex->pos, word, len) != 0) return false;
    lex->pos += len;
    return true;
}

bool cs_lex_end(cs_lex *lex) {
    (void)cs_lex_peek(lex);
    return lex->pos == lex->end || problem(lex, "the end of the text was expected");
}

/* ---- strings -------------------------------------------------------------------------------------- */

/* Four hexadecimal digits behind \u. */
static bool read_unit(cs_lex *lex, uint32_t *unit) {
    if (left(lex) < 4) return problem(lex, "a \\u escape has four digits");
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t c = lex->pos[i];
        uint32_t digit;
        if (c >= '0' && c <= '9')
            digit = c - (uint32_t)'0';
        else if (c >= 'a' && c <= 'f')
            digit = c - (uint32_t)'a' + 10;
        else if (c >= 'A' && c <= 'F')
            digit = c - (uint32_t)'A' + 10;
        else
            return problem(lex, "a \\u escape has four hexadecimal digits");
        *unit = *unit << 4 | digit;
    }
    lex->pos += 4;
    return true;
}

/* The code point of a \u escape, of which \u is consumed: one unit, or a pair of surrogates. */
static bool read_point(cs_lex *lex, uint32_t *point) {
    if (!read_unit(lex, point)) return false;
    if (*point < 0xd800 || *point > 0xdfff) return true;
    uint32_t low;
    if (*point > 0xdbff || left(lex) < 2 || lex->pos[0] != '\\' || lex->pos[1] != 'u')
        return problem(lex, "half of a surrogate pair is no character");
    lex->pos += 2;
    if (!read_unit(lex, &low)) return false;
    if (low < 0xdc00 || low > 0xdfff) return problem(lex, "half of a surrogate pair is no character");
    *point = 0x10000 + ((*point - 0xd800) << 10 | (low - 0xdc00));
    return true;
}

static size_t encode_point(uint32_t point, uint8_t out[4]) {
    if (point < 0x80) {
        out[0] = (uint8_t)point;
        return 1;
    }
    size_t len = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        out[i] = (uint8_t)(0x80u | (point & 0x3fu));
        point >>= 6;
    }
    out[0] = (uint8_t)((0xf00u >> len & 0xffu) | point);
    return len;
}

/* One escape, of which the backslash is consumed. */
static bool read_escape(cs_lex *lex, cs_buf *scratch) {
    static const char letters[] = "\"\\/bfnrt";
    static const char meaning[] = "\"\\/\b\f\n\r\t";
    uint8_t bytes[4];
    size_t len = 1;
    if (lex->pos == lex->end) return problem(lex, "the string has no end");
    uint8_t letter = *lex->pos;
    const char *known = letter ? strchr(letters, letter) : NULL;
    if (known) {
        bytes[0] = (uint8_t)meaning[known - letters];
        lex->pos++;
    } else {
        uint32_t point;
        if (letter != 'u') return problem(lex, "there is no such escape");
        lex->pos++;
        if (!read_point(lex, &point)) return false;
        len = encode_point(point, bytes);
    }
    if (cs_buf_append(scratch, bytes, len)) return true;
    lex->no_memory = true;
    return problem(lex, "there is no memory for the string");
}

/* Up to the next quote or backslash, which stays. */
static bool skip_plain(cs_lex *lex) {
    while (lex->pos < lex->end && *lex->pos != '"' && *lex->pos != '\\') {
        if (*lex->pos < 0x20) return problem(lex, "a control character must be escaped");
        lex->pos++;
    }
    return lex->pos < lex->end || problem(lex, "the string has no end");
}

/* From the first backslash on, with what stood before it. */
static bool read_escaped(cs_lex *lex, const uint8_t *from, cs_buf *scratch) {
    cs_buf_clear(scratch);
    for (;;) {
        if (!cs_buf_append(scratch, from, (size_t)(lex->pos - from))) {
            lex->no_memory = true;
            return problem(lex, "there is no memory for the string");
        }
        if (*lex->pos == '"') return true;
        lex->pos++;
        if (!read_escape(lex, scratch)) return false;
        from = lex->pos;
        if (!skip_plain(lex)) return false;
    }
}

bool cs_lex_string(cs_lex *lex, cs_buf *scratch, cs_view *out) {
    *out = (cs_view){0};
    if (!cs_lex_try(lex, '"')) return problem(lex, "a string was expected");
    const uint8_t *from = lex->pos;
    if (!skip_plain(lex)) return false;
    bool plain = *lex->pos == '"';
    if (!plain && !read_escaped(lex, from, scratch)) return false;
    /* Escapes are ASCII and give whole characters, so the text as it stands is UTF-8 if and only if
     * the decoded one is. */
    cs_view raw = cs_view_bytes(from, (size_t)(lex->pos - from));
    if (!cs_utf8_valid(raw)) return problem(lex, "the string that ends here is not UTF-8");
    *out = plain ? raw : cs_buf_view(scratch);
    lex->pos++;
    return true;
}

/* ---- numbers -------------------------------------------------------------------------------------- */

static size_t skip_digits(cs_lex *lex) {
    const uint8_t *from = lex->pos;
    while (lex->pos < lex->end && *lex->pos >= '0' && *lex->pos <= '9')
        lex->pos++;
    return (size_t)(lex->pos - from);
}

static bool take(cs_lex *lex, char either, char other) {
    if (lex->pos == lex->end || (*lex->pos != (uint8_t)either && *lex->pos != (uint8_t)other)) return false;
    lex->pos++;
    return true;
}

bool cs_lex_number(cs_lex *lex, cs_view *out) {
    *out = (cs_view){0};
    (void)cs_lex_peek(lex);
    const uint8_t *from = lex->pos;
    (void)take(lex, '-', '-');
    const uint8_t *first = lex->pos;
    size_t digits = skip_digits(lex);
    if (digits == 0) return problem(lex, "a digit was expected");
    if (digits > 1 && *first == '0') return problem(lex, "a number has no leading zero");
    if (take(lex, '.', '.') && skip_digits(lex) == 0) return problem(lex, "a digit was expected behind the point");
    if (take(lex, 'e', 'E')) {
        (void)take(lex, '+', '-');
        if (skip_digits(lex) == 0) return problem(lex, "a digit was expected in the exponent");
    }
    *out = cs_view_bytes(from, (size_t)(lex->pos - from));
    return true;
}

cs_result cs_lex_fail(const cs_lex *lex, cs_error *err) {
    if (lex->no_memory) return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory to read the JSON text");
    size_t line = 1;
    size_t column = 1;
    for (const uint8_t *p = lex->start; p < lex->pos; p++) {
        line += *p == '\n';
        column = *p == '\n' ? 1 : column + 1;
    }
    cs_result result = cs_fail(err, CS_CODE_JSON_MALFORMED, "the JSON text is not well formed: %s",
                               lex->problem ? lex->problem : "something else was expected");
    cs_error_where(err, "line %zu, column %zu", line, column);
    return result;
}
