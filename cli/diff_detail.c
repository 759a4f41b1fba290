#include "cli/diff_detail.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gate/lines.h"
#include "records/text.h"

#define HEX_WIDTH 16u
#define HEX_LINES 3u

/* ---- lines ------------------------------------------------------------------------------------ */

typedef struct lines {
    json_t *list;
    size_t left; /* may still be told */
    bool cut;
    bool lost; /* no memory */
} lines;

static char mark_of(cs_line_kind kind) {
    if (kind == CS_LINE_ONLY_A) return '-';
    return kind == CS_LINE_ONLY_B ? '+' : ' ';
}

static bool append_line(cs_buf *text, const cs_line *line) {
    if (line->kind == CS_LINE_HUNK)
        return cs_buf_printf(text, "@@ -%d,%d +%d,%d @@", line->start_a, line->count_a, line->start_b, line->count_b);
    if (line->kind == CS_LINE_UNFINISHED) return cs_buf_text(text, "\\ no newline at the end");
    cs_view shown = cs_utf8_cut(line->text, CS_DIFF_LINE_BYTES);
    return cs_buf_byte(text, (uint8_t)mark_of(line->kind)) && cs_escape_append(text, shown, false) &&
           (shown.len == line->text.len || cs_buf_text(text, "..."));
}

static bool on_line(void *user, const cs_line *line) {
    lines *told = user;
    CS_AUTO_BUF text = CS_BUF_INIT((size_t)16 * CS_DIFF_LINE_BYTES);
    if (told->left == 0) {
        told->cut = true;
        return false;
    }
    told->left--;
    told->lost =
        !append_line(&text, line) || json_array_append_new(told->list, cs_json_of_text(cs_buf_view(&text))) != 0;
    return !told->lost;
}

/* False without memory. */
static bool compare_lines(const cs_field_pair *pair, size_t *lines_left, cs_diff_detail *out) {
    size_t granted = *lines_left < CS_DIFF_FIELD_LINES ? *lines_left : CS_DIFF_FIELD_LINES;
    lines told = {.list = json_array(), .left = granted};
    out->lines = told.list;
    if (told.list == NULL) return false;
    cs_lines_state state = granted > 0 ? cs_lines_compare(pair->a, pair->b, on_line, &told) : CS_LINES_TOO_LARGE;
    *lines_left -= granted - told.left;
    out->lines_cut = told.cut || state == CS_LINES_TOO_LARGE;
    return !told.lost && state != CS_LINES_FAILED;
}

/* ---- hexadecimal ------------------------------------------------------------------------------ */

static bool append_hex(json_t *list, cs_view bytes, size_t at) {
    char text[16 + HEX_WIDTH * 4 + 8];
    size_t len = bytes.len - at < HEX_WIDTH ? bytes.len - at : HEX_WIDTH;
    int used = snprintf(text, sizeof text, "%08zx ", at);
    for (size_t i = 0; i < HEX_WIDTH; i++)
        used += i < len ? snprintf(text + used, sizeof text - (size_t)used, " %02x", bytes.ptr[at + i])
                        : snprintf(text + used, sizeof text - (size_t)used, "   ");
    text[used++] = ' ';
    text[used++] = ' ';
    for (size_t i = 0; i < len; i++) {
        char shown = (char)bytes.ptr[at + i];
        if (shown < 0x20 || shown > 0x7e) shown = '.'; /* also what is negative where char is signed */
        text[used++] = shown;
    }
    text[used] = '\0';
    return json_array_append_new(list, json_string(text)) == 0;
}

/* The lines around the first byte that differs; none where there are no bytes. NULL without memory. */
static json_t *make_hex(cs_view bytes, uint64_t offset) {
    json_t *list = json_array();
    size_t line = (size_t)offset / HEX_WIDTH;
    size_t begin = line > 0 ? line - 1 : 0;
    for (size_t i = begin; list != NULL && i < begin + HEX_LINES && i * HEX_WIDTH < bytes.len; i++) {
        if (append_hex(list, bytes, i * HEX_WIDTH)) continue;
        json_decref(list);
        return NULL;
    }
    return list;
}

/* ---- one difference --------------------------------------------------------------------------- */

static bool has_lines(cs_view text) {
    return text.len > 0 && memchr(text.ptr, '\n', text.len) != NULL;
}

/* A value that is short, also when it is escaped, is shown whole; of a longer one, what stands around the first byte
 * that differs: two that were cut at their ends could look the same. */
static void show_value(cs_view value, const char *excerpt, char out[CS_DIFF_VALUE]) {
    char escaped[2 * CS_DIFF_VALUE + 1] = ""; /* four characters at most stand for a byte */
    if (value.len <= CS_DIFF_VALUE / 2) cs_escape_short(value, escaped, sizeof escaped);
    if (value.len <= CS_DIFF_VALUE / 2 && strlen(escaped) < CS_DIFF_VALUE)
        memcpy(out, escaped, strlen(escaped) + 1);
    else
        snprintf(out, CS_DIFF_VALUE, "... %s ...", excerpt);
}

static void show_values(cs_diff_detail *out) {
    const cs_field_pair *pair = out->pair;
    if (pair->bytes) cs_compare_bytes(pair->a, pair->b, &out->bytes);
    if (pair->bytes && pair->has_a) show_value(pair->a, out->bytes.excerpt_a, out->a);
    if (pair->bytes && pair->has_b) show_value(pair->b, out->bytes.excerpt_b, out->b);
    if (!pair->bytes) snprintf(out->a, sizeof out->a, "%s", pair->value_a);
    if (!pair->bytes) snprintf(out->b, sizeof out->b, "%s", pair->value_b);
}

bool cs_diff_detail_make(const cs_field_pair *pair, size_t *lines_left, cs_diff_detail *out) {
    *out = (cs_diff_detail){.pair = pair};
    show_values(out);
    if (!pair->bytes) return true;
    if (cs_utf8_valid(pair->a) && cs_utf8_valid(pair->b))
        return (!has_lines(pair->a) && !has_lines(pair->b)) || compare_lines(pair, lines_left, out);
    out->hex_a = make_hex(pair->a, out->bytes.offset);
    out->hex_b = make_hex(pair->b, out->bytes.offset);
    return out->hex_a != NULL && out->hex_b != NULL;
}

void cs_diff_detail_free(cs_diff_detail *detail) {
    json_decref(detail->lines);
    json_decref(detail->hex_a);
    json_decref(detail->hex_b);
    *detail = (cs_diff_detail){.pair = NULL};
}

/* Without the colon: what is there could have these very words. */
static void say_value(const cs_output *out, const char *name, bool there, const char *value) {
    if (!there)
        cs_say(out, "    %s  (not there)\n", name);
    else if (value[0] == '\0')
        cs_say(out, "    %s  (empty)\n", name);
    else
        cs_say(out, "    %s: %s\n", name, value);
}

static void say_all(const cs_output *out, const char *indent, const json_t *list) {
    for (size_t i = 0; i < json_array_size(list); i++)
        cs_say(out, "%s%s\n", indent, json_string_value(json_array_get(list, i)));
}

void cs_diff_detail_say(const cs_output *out, cs_diff_part part, const cs_diff_detail *detail) {
    const cs_field_pair *pair = detail->pair;
    cs_say(out, "%s: %s", cs_diff_part_word(part), pair->path);
    if (detail->bytes.has_offset && pair->has_a && pair->has_b)
        cs_say(out, ", from byte %" PRIu64 " on (of %" PRIu64 " and %" PRIu64 ")", detail->bytes.offset,
               detail->bytes.length_a, detail->bytes.length_b);
    cs_say(out, "\n");
    say_value(out, "a", pair->has_a, detail->a);
    say_value(out, "b", pair->has_b, detail->b);
    say_all(out, "      | ", detail->lines);
    if (detail->lines_cut) cs_say(out, "      | (more lines than are shown)\n");
    say_all(out, "      a ", detail->hex_a);
    say_all(out, "      b ", detail->hex_b);
}

static bool put(json_t *object, const char *name, json_t *value) {
    return json_object_set_new(object, name, value) == 0;
}

static json_t *text_or_null(bool there, const char *text) {
    return there ? cs_json_of_text(cs_view_of(text)) : json_null();
}

static bool put_offset(json_t *object, const cs_difference *bytes) {
    return put(object, "offset", json_integer((json_int_t)bytes->offset)) &&
           put(object, "length_a", json_integer((json_int_t)bytes->length_a)) &&
           put(object, "length_b", json_integer((json_int_t)bytes->length_b));
}

json_t *cs_json_of_diff_detail(cs_diff_part part, const cs_diff_detail *detail) {
    json_t *object = json_object();
    bool good = object != NULL && put(object, "part", json_string(cs_diff_part_word(part))) &&
                put(object, "field", cs_json_of_text(cs_view_of(detail->pair->path))) &&
                put(object, "a", text_or_null(detail->pair->has_a, detail->a)) &&
                put(object, "b", text_or_null(detail->pair->has_b, detail->b)) &&
                (!detail->bytes.has_offset || put_offset(object, &detail->bytes)) &&
                (detail->lines == NULL || (json_object_set(object, "lines", detail->lines) == 0 &&
                                           put(object, "lines_cut", json_boolean(detail->lines_cut)))) &&
                (detail->hex_a == NULL || json_object_set(object, "hex_a", detail->hex_a) == 0) &&
                (detail->hex_b == NULL || json_object_set(object, "hex_b", detail->hex_b) == 0);
    if (good) return object;
    json_decref(object);
    return NULL;
}
