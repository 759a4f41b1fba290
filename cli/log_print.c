#include "cli/log_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "records/text.h"
#include "records/time.h"

#define ENTRY_WIDTH 80 /* of an input's path with the number behind it */

/* ---- text ------------------------------------------------------------------------------------- */

/* The number; of several inputs as `diff` takes it. */
static void format_entry(const cs_log_line *line, char *const *inputs, size_t input_count, char out[ENTRY_WIDTH]) {
    char path[ENTRY_WIDTH - 24];
    cs_escape_short(cs_view_of(inputs[line->input]), path, sizeof path);
    if (input_count > 1)
        snprintf(out, ENTRY_WIDTH, "%s:%" PRIu64, path, line->number);
    else
        snprintf(out, ENTRY_WIDTH, "%" PRIu64, line->number);
}

static const char *or_dash(const char *text) {
    return text[0] != '\0' ? text : "-";
}

static void say_line(const cs_output *out, const cs_log_line *line, const char *entry, int width) {
    char time[40] = "-";
    if (line->has_time) cs_time_format(line->time_ms, time, sizeof time);
    cs_say(out, "%-*s %-24s %-15s %-16s %-10s %-12s %-12.12s %-12.12s %-15s %s", width, entry, time, line->kind,
           or_dash(line->provider), or_dash(line->tier), cs_log_verdict_word(line->verdict),
           or_dash(line->request_sha256), or_dash(line->result_sha256), line->verification, or_dash(line->summary));
    if (line->finding_code[0] != '\0') cs_say(out, " (%s)", line->finding_code);
    if (line->err != NULL) cs_say(out, " [%s]", cs_code_name(line->err->code));
    cs_say(out, "\n");
}

void cs_log_say(const cs_output *out, const cs_log_list *list, char *const *inputs, size_t input_count) {
    char entry[ENTRY_WIDTH];
    int width = 6;
    for (size_t i = 0; i < list->count; i++) {
        format_entry(&list->lines[i], inputs, input_count, entry);
        int len = (int)cs_view_of(entry).len;
        if (len > width) width = len;
    }
    if (list->left_out > 0)
        cs_say(out, "(%" PRIu64 " older %s left out)\n", list->left_out,
               cs_plural(list->left_out, "one matches and is", "ones match and are"));
    cs_say(out, "%-*s %-24s %-15s %-16s %-10s %-12s %-12s %-12s %-15s %s\n", width, "entry", "ended or added", "kind",
           "provider", "tier", "verdict", "request", "result", "verification", "what");
    bool judged = false;
    for (size_t i = 0; i < list->count; i++) {
        format_entry(&list->lines[i], inputs, input_count, entry);
        say_line(out, &list->lines[i], entry, width);
        judged = judged || list->lines[i].statement != NULL;
    }
    if (judged)
        cs_say(out, "a gate's verdict is two entries, its test-result and its summary, and still one verdict\n");
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static bool put(json_t *object, const char *name, json_t *value) {
    return json_object_set_new(object, name, value) == 0;
}

static bool put_text(json_t *object, const char *name, const char *text) {
    return text[0] == '\0' || put(object, name, cs_json_of_text(cs_view_of(text)));
}

static bool fill(json_t *object, const cs_log_line *line, const char *input) {
    const char *time = line->ended ? "ended_unix_ms" : "added_unix_ms";
    return put(object, "input", cs_json_of_text(cs_view_of(input))) &&
           put(object, "number", json_integer((json_int_t)line->number)) &&
           put(object, "kind", json_string(line->kind)) &&
           put(object, "verdict", json_string(cs_log_verdict_word(line->verdict))) &&
           (line->statement == NULL || put(object, "statement", json_string(line->statement))) &&
           put(object, "verification", json_string(line->verification)) &&
           (!line->has_time || put(object, time, json_integer((json_int_t)line->time_ms))) &&
           put_text(object, "provider", line->provider) && put_text(object, "tier", line->tier) &&
           put_text(object, "summary", line->summary) && put_text(object, "request_sha256", line->request_sha256) &&
           put_text(object, "result_sha256", line->result_sha256) &&
           put_text(object, "record_sha256", line->record_sha256) &&
           put_text(object, "finding_code", line->finding_code) &&
           (line->err == NULL || put(object, "error", cs_json_of_error(line->err)));
}

json_t *cs_json_of_log(const cs_log_list *list, char *const *inputs) {
    json_t *lines = json_array();
    for (size_t i = 0; lines != NULL && i < list->count; i++) {
        json_t *object = json_object();
        bool good = object != NULL && fill(object, &list->lines[i], inputs[list->lines[i].input]);
        if (!good) {
            json_decref(object);
            json_decref(lines);
            return NULL;
        }
        if (json_array_append_new(lines, object) != 0) {
            json_decref(lines);
            return NULL;
        }
    }
    return lines;
}
