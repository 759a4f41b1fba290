#include "records/wire.h"

#include <string.h>

#include "records/compactjson.h"
#include "records/text.h"

#define NOT_DISPATCHED_TYPE "plimsoll.v1.NotDispatched"
#define MAX_DETAIL_BYTES 4096u

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
