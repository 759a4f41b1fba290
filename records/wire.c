#include "records/wire.h"

#include <jansson.h>
#include <string.h>

#include "records/compactjson.h"
#include "records/text.h"

#define NOT_DISPATCHED_TYPE "plimsoll.v1.NotDispatched"
#define SESSION_ENDED_TYPE "plimsoll.v1.SessionEnded"
#define UNANSWERED_TYPE "plimsoll.v1.UnansweredCall"
#define MAX_DETAIL_BYTES 4096u
#define MAX_RECORD_DETAIL_BYTES 65536u

/* ---- codes ---------------------------------------------------------------------------------------- */

typedef struct connect_row {
    const char *word;
    int http_status;
} connect_row;

static const connect_row connect_rows[] = {
    [CS_CONNECT_NONE] = {"", 500},
    [CS_CONNECT_CANCELED] = {"canceled", 499},
    [CS_CONNECT_UNKNOWN] = {"unknown", 500},
    [CS_CONNECT_INVALID_ARGUMENT] = {"invalid_argument", 400},
    [CS_CONNECT_DEADLINE_EXCEEDED] = {"deadline_exceeded", 504},
    [CS_CONNECT_NOT_FOUND] = {"not_found", 404},
    [CS_CONNECT_ALREADY_EXISTS] = {"already_exists", 409},
    [CS_CONNECT_PERMISSION_DENIED] = {"permission_denied", 403},
    [CS_CONNECT_RESOURCE_EXHAUSTED] = {"resource_exhausted", 429},
    [CS_CONNECT_FAILED_PRECONDITION] = {"failed_precondition", 400},
    [CS_CONNECT_ABORTED] = {"aborted", 409},
    [CS_CONNECT_OUT_OF_RANGE] = {"out_of_range", 400},
    [CS_CONNECT_UNIMPLEMENTED] = {"unimplemented", 501},
    [CS_CONNECT_INTERNAL] = {"internal", 500},
    [CS_CONNECT_UNAVAILABLE] = {"unavailable", 503},
    [CS_CONNECT_DATA_LOSS] = {"data_loss", 500},
    [CS_CONNECT_UNAUTHENTICATED] = {"unauthenticated", 401},
};

#define CONNECT_ROWS (sizeof connect_rows / sizeof connect_rows[0])

static const connect_row *connect_row_of(cs_connect_code code) {
    size_t index = (size_t)code;
    return &connect_rows[index < CONNECT_ROWS ? index : CS_CONNECT_NONE];
}

const char *cs_connect_word(cs_connect_code code) {
    return connect_row_of(code)->word;
}

cs_connect_code cs_connect_parse(cs_view word) {
    for (size_t i = CS_CONNECT_NONE + 1; i < CONNECT_ROWS; i++) {
        if (cs_view_is(word, connect_rows[i].word)) return (cs_connect_code)i;
    }
    return CS_CONNECT_NONE;
}

int cs_connect_http_status(cs_connect_code code) {
    return connect_row_of(code)->http_status;
}

cs_connect_code cs_connect_from_http(int status) {
    switch (status) {
    case 400:
        return CS_CONNECT_INTERNAL;
    case 401:
        return CS_CONNECT_UNAUTHENTICATED;
    case 403:
        return CS_CONNECT_PERMISSION_DENIED;
    case 404:
        return CS_CONNECT_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
        return CS_CONNECT_UNAVAILABLE;
    default:
        return CS_CONNECT_UNKNOWN;
    }
}

/* ---- reasons -------------------------------------------------------------------------------------- */

#define REASON(name) PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_##name

typedef struct reason_row {
    const char *word;
    bool elsewhere; /* another daemon could take the same request */
} reason_row;

static const reason_row reason_rows[] = {
    [REASON(UNSPECIFIED)] = {"unspecified", false}, [REASON(REQUEST)] = {"request", false},
    [REASON(PERMISSION)] = {"permission", false},   [REASON(PROTOCOL)] = {"protocol", false},
    [REASON(UNSUPPORTED)] = {"unsupported", true},  [REASON(ISOLATION)] = {"isolation", true},
    [REASON(CAPACITY)] = {"capacity", true},        [REASON(ENVIRONMENT)] = {"environment", true},
};

#define REASON_ROWS (sizeof reason_rows / sizeof reason_rows[0])

static const reason_row *reason_row_of(cs_reason reason) {
    /* A peer may send any number, also a negative one. */
    size_t index = (size_t)reason;
    return &reason_rows[index < REASON_ROWS ? index : REASON(UNSPECIFIED)];
}

const char *cs_reason_word(cs_reason reason) {
    return reason_row_of(reason)->word;
}

cs_reason cs_reason_parse(cs_view word) {
    for (size_t i = REASON(UNSPECIFIED) + 1; i < REASON_ROWS; i++) {
        if (cs_view_is(word, reason_rows[i].word)) return (cs_reason)i;
    }
    return REASON(UNSPECIFIED);
}

bool cs_reason_elsewhere(cs_reason reason) {
    return reason_row_of(reason)->elsewhere;
}

/* ---- ends of a session ---------------------------------------------------------------------------- */

#define END(name) PLIMSOLL__V1__SESSION_END__SESSION_END_##name

static const char *const end_words[] = {
    [END(UNSPECIFIED)] = "unspecified",
    [END(CLOSED)] = "closed",
    [END(EXPIRED)] = "expired",
    [END(DISK_EXCEEDED)] = "disk-exceeded",
    [END(MAIN_PROCESS_ENDED)] = "main-process-ended",
    [END(BOUNDARY_FAILED)] = "boundary-failed",
    [END(SANDBOX_CHANGED)] = "sandbox-changed",
    [END(SHUTDOWN)] = "shutdown",
    [END(REPLACED)] = "replaced",
    [END(NOT_FOUND)] = "not-found",
    [END(UNCLAIMED)] = "unclaimed",
};

const char *cs_session_end_word(cs_session_end end) {
    size_t index = (size_t)end;
    return end_words[index < sizeof end_words / sizeof *end_words ? index : END(UNSPECIFIED)];
}

/* ---- writing an error ----------------------------------------------------------------------------- */

static bool write_detail(cs_reason reason, cs_buf *out) {
    Plimsoll__V1__NotDispatched detail = PLIMSOLL__V1__NOT_DISPATCHED__INIT;
    detail.reason = reason;
    CS_AUTO_BUF binary = CS_BUF_INIT(MAX_DETAIL_BYTES);
    CS_AUTO_BUF text = CS_BUF_INIT(2 * (size_t)MAX_DETAIL_BYTES);
    if (cs_message_encode(&detail.base, &binary, NULL) != CS_OK) return false;
    if (!cs_base64_append(&text, cs_buf_view(&binary))) return false;
    /* The Connect protocol writes the value of a detail without padding. */
    while (text.len > 0 && text.ptr[text.len - 1] == '=')
        text.len--;
    return cs_json_name(out, "details") && cs_buf_text(out, "[{") &&
           cs_json_text(out, "type", cs_view_of(NOT_DISPATCHED_TYPE)) &&
           cs_json_text(out, "value", cs_buf_view(&text)) && cs_buf_text(out, "}]");
}

static bool write_message(cs_view message, cs_buf *out) {
    if (cs_utf8_valid(message)) return cs_json_text(out, "message", message);
    CS_AUTO_BUF shown = CS_BUF_INIT(out->max);
    return cs_escape_append(&shown, message, false) && cs_json_text(out, "message", cs_buf_view(&shown));
}

bool cs_connect_error_write(cs_connect_code code, const char *message, cs_reason reason, cs_buf *out) {
    size_t before = out->len;
    bool good = cs_buf_byte(out, '{') && cs_json_text(out, "code", cs_view_of(cs_connect_word(code))) &&
                write_message(cs_view_of(message), out) &&
                (reason == REASON(UNSPECIFIED) || write_detail(reason, out)) && cs_buf_byte(out, '}');
    if (!good) out->len = before;
    return good;
}

/* ---- reading an error ----------------------------------------------------------------------------- */

static cs_view string_member(const json_t *object, const char *name) {
    const json_t *value = json_object_get(object, name);
    return json_is_string(value) ? cs_view_bytes(json_string_value(value), json_string_length(value))
                                 : cs_view_bytes(NULL, 0);
}

/* The name of a type without what stands before its last '/'. */
static cs_view bare_type(cs_view type) {
    const uint8_t *slash = type.len == 0 ? NULL : memrchr(type.ptr, '/', type.len);
    if (slash == NULL) return type;
    size_t skipped = (size_t)(slash + 1 - type.ptr);
    return cs_view_bytes(slash + 1, type.len - skipped);
}

/* The message in a detail of this type; NULL when it is of another, or does not decode. */
static ProtobufCMessage *decode_detail(const json_t *detail, const char *name, const ProtobufCMessageDescriptor *type,
                                       size_t max) {
    if (!cs_view_is(bare_type(string_member(detail, "type")), name)) return NULL;
    if (!json_is_string(json_object_get(detail, "value"))) return NULL;
    CS_AUTO_BUF binary = CS_BUF_INIT(max);
    if (!cs_base64_decode_lax(string_member(detail, "value"), &binary)) return NULL;

    ProtobufCMessage *message = NULL;
    return cs_message_decode(type, cs_buf_view(&binary), &message, NULL) == CS_OK ? message : NULL;
}

/* Is this a NotDispatched detail that decodes? Then it is the mark. */
static void read_mark(const json_t *detail, cs_connect_error *out) {
    ProtobufCMessage *message =
        decode_detail(detail, NOT_DISPATCHED_TYPE, &plimsoll__v1__not_dispatched__descriptor, MAX_DETAIL_BYTES);
    if (message == NULL) return;
    out->marked = true;
    out->reason = ((const Plimsoll__V1__NotDispatched *)message)->reason;
    cs_message_free(message);
}

static void read_end(const json_t *detail, cs_connect_error *out) {
    ProtobufCMessage *message =
        decode_detail(detail, SESSION_ENDED_TYPE, &plimsoll__v1__session_ended__descriptor, MAX_RECORD_DETAIL_BYTES);
    if (message == NULL) return;
    const Plimsoll__V1__SessionEnded *ended = (const Plimsoll__V1__SessionEnded *)message;
    cs_view text = cs_utf8_cut(cs_bytes_view(&ended->detail), CS_MAX_ERROR_MESSAGE);
    out->ended = cs_buf_append(&out->end_detail, text.ptr, text.len);
    out->end = ended->reason;
    cs_message_free(message);
}

static void read_unanswered(const json_t *detail, cs_connect_error *out) {
    ProtobufCMessage *message =
        decode_detail(detail, UNANSWERED_TYPE, &plimsoll__v1__unanswered_call__descriptor, MAX_RECORD_DETAIL_BYTES);
    if (message == NULL) return;
    Plimsoll__V1__UnansweredCall *call = (Plimsoll__V1__UnansweredCall *)message;
    out->unanswered = call->record;
    call->record = NULL;
    cs_message_free(message);
}

/* The first detail of each type that decodes counts. */
static void read_details(const json_t *details, cs_connect_error *out) {
    size_t count = json_array_size(details);
    for (size_t i = 0; i < count; i++) {
        const json_t *detail = json_array_get(details, i);
        if (!out->marked) read_mark(detail, out);
        if (!out->ended) read_end(detail, out);
        if (out->unanswered == NULL) read_unanswered(detail, out);
    }
}

static bool read_error(const json_t *body, cs_connect_error *out) {
    const json_t *message = json_object_get(body, "message");
    out->code = cs_connect_parse(string_member(body, "code"));
    if (out->code == CS_CONNECT_NONE || (message != NULL && !json_is_string(message))) return false;
    cs_view text = cs_utf8_cut(string_member(body, "message"), CS_MAX_ERROR_MESSAGE);
    if (!cs_buf_append(&out->message, text.ptr, text.len)) return false;
    read_details(json_object_get(body, "details"), out);
    return true;
}

bool cs_connect_error_read(cs_view body, cs_connect_error *out) {
    *out = (cs_connect_error){.message = CS_BUF_INIT(CS_MAX_ERROR_MESSAGE),
                              .end_detail = CS_BUF_INIT(CS_MAX_ERROR_MESSAGE)};
    if (body.len == 0 || body.len > CS_MAX_ERROR_BODY) return false;
    json_t *json = json_loadb((const char *)body.ptr, body.len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    bool good = json_is_object(json) && read_error(json, out);
    json_decref(json);
    if (!good) cs_connect_error_free(out);
    return good;
}

void cs_connect_error_free(cs_connect_error *error) {
    cs_buf_free(&error->message);
    cs_buf_free(&error->end_detail);
    cs_message_free(error->unanswered);
    *error = (cs_connect_error){.message = CS_BUF_INIT(CS_MAX_ERROR_MESSAGE),
                                .end_detail = CS_BUF_INIT(CS_MAX_ERROR_MESSAGE)};
}
