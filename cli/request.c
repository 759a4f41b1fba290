#include "cli/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "records/protojson.h"
#include "verify/file.h"

/* A request of 8 MiB with every byte escaped as \u00xx stays below this; so does what one session is sent. */
#define MAX_REQUEST_JSON ((size_t)64 * 1024 * 1024)

static cs_result read_file(const char *path, cs_buf *bytes, cs_error *err) {
    bool standard = strcmp(path, "-") == 0;
    switch (standard ? cs_file_read_open(STDIN_FILENO, bytes) : cs_file_read(path, bytes)) {
    case CS_FILE_READ:
        return CS_OK;
    case CS_FILE_FAILED:
        return cs_fail(err, CS_CODE_IO, "the request can't be read: %s", strerror(errno));
    case CS_FILE_TOO_LONG:
        return cs_fail(err, CS_CODE_REQUEST_JSON, "the request's JSON is longer than %zu bytes", bytes->max);
    case CS_FILE_NO_MEMORY:
        break;
    }
    return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the request's JSON");
}

static cs_result parse(cs_view json, cs_run_request **out, cs_error *err) {
    ProtobufCMessage *message = NULL;
    cs_result result = cs_protojson_read(&plimsoll__v1__run_request__descriptor, json, &message, err);
    *out = (cs_run_request *)message;
    return result == CS_OK ? CS_OK : cs_error_recode(err, CS_CODE_REQUEST_JSON);
}

static void name_source(const char *path, cs_error *err) {
    cs_error_where(err, "%s", strcmp(path, "-") == 0 ? "standard input" : path);
}

cs_result cs_request_read(const char *path, cs_run_request **out, cs_error *err) {
    CS_AUTO_BUF bytes = CS_BUF_INIT(MAX_REQUEST_JSON);
    *out = NULL;
    cs_result result = read_file(path, &bytes, err);
    if (result == CS_OK) result = parse(cs_buf_view(&bytes), out, err);
    if (result != CS_OK) name_source(path, err);
    return result;
}

static bool is_blank(cs_view line) {
    for (size_t i = 0; i < line.len; i++)
        if (strchr(" \t\r", line.ptr[i]) == NULL || line.ptr[i] == 0) return false;
    return true;
}

static cs_result add_line(cs_calls *calls, cs_view line, size_t number, cs_error *err) {
    if (is_blank(line)) return CS_OK;
    cs_result result = CS_OK;
    if (calls->count == CS_MAX_CALLS)
        result = cs_fail(err, CS_CODE_REQUEST_JSON, "there are more than %u calls", CS_MAX_CALLS);
    else
        result = parse(line, &calls->items[calls->count], err);
    if (result == CS_OK) calls->count++;
    if (result != CS_OK) cs_error_where(err, "line %zu", number);
    return result;
}

static cs_result split(cs_calls *calls, cs_view text, cs_error *err) {
    calls->items = calloc(CS_MAX_CALLS, sizeof(cs_run_request *));
    if (calls->items == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "there is no memory for the calls");
    cs_result result = CS_OK;
    for (size_t number = 1; result == CS_OK && text.len > 0; number++) {
        const uint8_t *end = memchr(text.ptr, '\n', text.len);
        size_t len = end != NULL ? (size_t)(end - text.ptr) : text.len;
        result = add_line(calls, cs_view_bytes(text.ptr, len), number, err);
        size_t used = end != NULL ? len + 1 : len;
        text = cs_view_bytes(text.ptr + used, text.len - used);
    }
    if (result == CS_OK && calls->count == 0)
        result = cs_fail(err, CS_CODE_NOTHING_TO_CHECK, "there is no call in the input; nothing was sent");
    return result;
}

cs_result cs_calls_read(const char *path, cs_calls *out, cs_error *err) {
    CS_AUTO_BUF bytes = CS_BUF_INIT(MAX_REQUEST_JSON);
    *out = (cs_calls){.items = NULL};
    cs_result result = read_file(path, &bytes, err);
    if (result == CS_OK) result = split(out, cs_buf_view(&bytes), err);
    if (result != CS_OK) name_source(path, err);
    return result;
}

void cs_calls_free(cs_calls *calls) {
    for (size_t i = 0; i < calls->count; i++)
        cs_message_free(calls->items[i]);
    free(calls->items);
    *calls = (cs_calls){.items = NULL};
}
