#include "cli/output.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/protojson.h"
#include "records/text.h"

/* Bound of one message as JSON text: every byte of the largest answer escaped six times over. */
#define MAX_JSON_TEXT ((size_t)256 * 1024 * 1024)

void cs_output_begin(cs_output *out, const char *command, int argc, char **argv) {
    *out = (cs_output){.command = command, .err = CS_ERROR_INIT};
    bool own_program = strcmp(argv[0], command) != 0;
    snprintf(out->title, sizeof out->title, "%s%s", own_program ? "" : "countersign ", argv[0]);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0) out->json = true;
    if (out->json) {
        out->document = json_object();
        out->lost = out->document == NULL;
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
}

/* ---- text ----------------------------------------------------------------------------------- */

void cs_say(const cs_output *out, const char *fmt, ...) {
    if (out->json) return;
    va_list args;
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
}

static void say_line(const char *indent, cs_view line, size_t max_width) {
    bool cut = max_width != 0 && line.len > max_width;
    if (cut) line.len = max_width;
    CS_AUTO_BUF text = CS_BUF_INIT(MAX_JSON_TEXT);
    bool escaped = cs_escape_append(&text, line, true);
    printf("%s", indent);
    if (escaped)
        fwrite(text.ptr, 1, text.len, stdout);
    else
        printf("(a line of %zu bytes that there is no memory to show)", line.len);
    printf("%s\n", cut ? "..." : "");
}

void cs_say_bytes(const cs_output *out, const char *indent, cs_view bytes, size_t max_lines, size_t max_width) {
    if (out->json) return;
    size_t lines = 0;
    while (bytes.len > 0) {
        if (max_lines != 0 && lines == max_lines) {
            printf("%s... (%zu %s more)\n", indent, bytes.len, cs_plural(bytes.len, "byte", "bytes"));
            return;
        }
        const uint8_t *newline = memchr(bytes.ptr, '\n', bytes.len);
        size_t len = newline != NULL ? (size_t)(newline - bytes.ptr) : bytes.len;
        say_line(indent, cs_view_bytes(bytes.ptr, len), max_width);
        size_t used = newline != NULL ? len + 1 : len;
        bytes = cs_view_bytes(bytes.ptr + used, bytes.len - used);
        lines++;
    }
}

/* ---- JSON ----------------------------------------------------------------------------------- */

void cs_member(cs_output *out, const char *name, json_t *value) {
    if (!out->json) {
        json_decref(value);
        return;
    }
    if (value == NULL || json_object_set_new(out->document, name, value) != 0) out->lost = true;
}

void cs_members(cs_output *out, json_t *object) {
    if (out->json && (object == NULL || json_object_update(out->document, object) != 0)) out->lost = true;
    json_decref(object);
}

void cs_member_text(cs_output *out, const char *name, const char *value) {
    if (out->json) cs_member(out, name, cs_json_of_text(cs_view_of(value)));
}

void cs_member_number(cs_output *out, const char *name, uint64_t value) {
    if (out->json) cs_member(out, name, json_integer((json_int_t)value));
}

json_t *cs_json_of_text(cs_view text) {
    const char *start = text.len > 0 ? (const char *)text.ptr : "";
    /* Without memory it fails as well, and must not come out escaped then. */
    if (cs_utf8_valid(text)) return json_stringn(start, text.len);
    CS_AUTO_BUF escaped = CS_BUF_INIT(MAX_JSON_TEXT);
    if (!cs_escape_append(&escaped, text, true)) return NULL;
    return json_stringn((const char *)escaped.ptr, escaped.len);
}

json_t *cs_json_of_base64(cs_view bytes) {
    CS_AUTO_BUF text = CS_BUF_INIT(MAX_JSON_TEXT);
    if (!cs_base64_append(&text, bytes)) return NULL;
    return cs_json_of_text(cs_buf_view(&text));
}

json_t *cs_json_of_message(const ProtobufCMessage *message) {
    CS_AUTO_BUF text = CS_BUF_INIT(MAX_JSON_TEXT);
    if (cs_protojson_write(message, &text, NULL) != CS_OK) return NULL;
    return json_loadb((const char *)text.ptr, text.len, JSON_ALLOW_NUL, NULL);
}

static bool set_text(json_t *object, const char *name, const char *value) {
    return value[0] == '\0' || json_object_set_new(object, name, json_string(value)) == 0;
}

/* Add what an error says to an object. */
static bool set_error(json_t *object, const cs_error *err) {
    return set_text(object, "code", cs_code_name(err->code)) &&
           json_object_set_new(object, "message", json_string(err->message)) == 0 &&
           set_text(object, "where", err->where) && set_text(object, "expected", err->expected) &&
           set_text(object, "found", err->found);
}

json_t *cs_json_of_error(const cs_error *err) {
    json_t *object = json_object();
    if (object != NULL && set_error(object, err)) return object;
    json_decref(object);
    return NULL;
}

/* ---- the end -------------------------------------------------------------------------------- */

void cs_error_in_file(cs_error *err, const char *path) {
    char shown[sizeof err->where];
    cs_escape_short(cs_view_of(path), shown, sizeof shown);
    if (strncmp(err->where, shown, strlen(shown)) != 0) cs_error_where(err, "%s", path);
}

cs_result cs_worse(cs_result a, cs_result b) {
    static const cs_result order[] = {CS_USAGE, CS_FAILED, CS_MAYBE_RAN, CS_UNCHECKED, CS_NOT_RUN, CS_NOTHING};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
        if (a == order[i] || b == order[i]) return order[i];
    return CS_OK;
}

static const char *next_step(cs_result result, cs_code code) {
    /* That two entries differ may be just what was to be found. */
    if (code == CS_CODE_ENTRIES_DIFFER)
        return "look at each place that differs: `countersign show` has the whole entries";
    switch (result) {
    case CS_FAILED:
        return "do not rely on what failed; `countersign codes` explains the code";
    case CS_NOT_RUN:
        return "nothing ran: remove the cause and send it again";
    case CS_MAYBE_RAN:
        return "it may have run: find out at the daemon before you send it again; nothing is retried by itself";
    case CS_UNCHECKED:
        return "this is no verdict on the record: remove the cause and check again";
    case CS_NOTHING:
        return "an empty check proves nothing: look whether this is the input you meant";
    case CS_OK:
    case CS_USAGE:
        break;
    }
    return NULL;
}

static void print_error(const cs_output *out, cs_result result) {
    int program = (int)strcspn(out->title, " ");
    fprintf(stderr, "%.*s: %s [%s]\n", program, out->title, out->err.message, cs_code_name(out->err.code));
    if (out->err.where[0] != '\0') fprintf(stderr, "  where: %s\n", out->err.where);
    if (out->err.expected[0] != '\0') fprintf(stderr, "  expected: %s\n", out->err.expected);
    if (out->err.found[0] != '\0') fprintf(stderr, "  found: %s\n", out->err.found);
    if (result == CS_USAGE)
        fprintf(stderr, "  next: see `%s --help`\n", out->title);
    else
        fprintf(stderr, "  next: %s\n", next_step(result, out->err.code));
}

/* The verdict's members first, then the command's own. Without memory, the smallest true document. */
static void print_document(cs_output *out, cs_result result) {
    json_t *all = json_object();
    bool good = all != NULL && !out->lost && json_object_set_new(all, "command", json_string(out->command)) == 0 &&
                set_text(all, "verdict", cs_result_word(result)) &&
                json_object_set_new(all, "exit", json_integer(result)) == 0 && set_error(all, &out->err) &&
                (!out->has_entry || json_object_set_new(all, "entry", json_integer((json_int_t)out->entry)) == 0) &&
                json_object_update(all, out->document) == 0;
    char *text = good ? json_dumps(all, JSON_COMPACT) : NULL;
    if (text != NULL)
        printf("%s\n", text);
    else
        printf(
            "{\"command\":\"%s\",\"verdict\":\"%s\",\"exit\":%d,\"code\":\"%s\",\"message\":\"there was no memory for "
            "the rest of this document\"}\n",
            out->command, cs_result_word(result), (int)result, cs_code_name(out->err.code));
    free(text);
    json_decref(all);
}

int cs_output_end(cs_output *out, cs_result result) {
    if (result == CS_OK) {
        out->err.code = CS_CODE_OK;
        if (out->err.message[0] == '\0')
            snprintf(out->err.message, sizeof out->err.message, "%s", cs_code_meaning(CS_CODE_OK));
    }
    if (out->json)
        print_document(out, result);
    else if (result != CS_OK)
        print_error(out, result);
    json_decref(out->document);
    out->document = NULL;

    errno = 0;
    bool written = fflush(stdout) == 0 && ferror(stdout) == 0;
    if (written) return (int)result;
    fprintf(stderr, "countersign: the output could not be written: %s [io]\n", strerror(errno));
    return result == CS_OK ? (int)CS_UNCHECKED : (int)result;
}
