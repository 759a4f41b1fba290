/* What an exchange means (docs/FORMAT.md, "What became of a call"). Pure: no curl, no clock. */
#include "harness/client_internal.h"

#include <string.h>
#include <strings.h>

#include "records/protojson.h"
#include "records/text.h"

#define REASON_NONE PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_UNSPECIFIED
#define REASON_ENVIRONMENT PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_ENVIRONMENT
/* Of the peer's message; the rest of a sentence has to fit beside it. */
#define MAX_QUOTED_BYTES 200u

/* ---- no whole answer ------------------------------------------------------------------------------ */

static cs_result judge_transport(const cs_client *client, const cs_exchange *exchange, cs_outcome *outcome) {
    const cs_code code = exchange->transport;
    if (cs_code_class(code) == CS_NOT_RUN) {
        outcome->state = CS_CALL_UNSENT;
        outcome->reason = REASON_ENVIRONMENT;
        outcome->elsewhere = cs_reason_elsewhere(outcome->reason);
        return cs_fail(&outcome->err, code, "nothing was sent: %s", exchange->why);
    }
    outcome->state = CS_CALL_UNANSWERED;
    if (code == CS_CODE_UNANSWERED_TIMEOUT)
        return cs_fail(&outcome->err, code, "the request left, and no answer came within %ld ms", client->timeout_ms);
    if (code == CS_CODE_UNANSWERED_TOO_LARGE)
        return cs_fail(&outcome->err, code,
                       "the answer is larger than the %zu bytes of body or %u bytes of headers accepted",
                       client->max_answer, CS_MAX_HEADER_BYTES);
    return cs_fail(&outcome->err, code, "the request left, and no whole answer came (%s)", exchange->why);
}

/* ---- headers -------------------------------------------------------------------------------------- */

/* Exactly one header, with exactly the value that this request sent. */
static bool is_bound(const cs_exchange *exchange, const cs_outcome *outcome) {
    return exchange->request_id.count == 1 && strcmp(exchange->request_id.value, outcome->request_id) == 0;
}

static const char *why_unbound(const cs_exchange *exchange) {
    if (exchange->request_id.count == 0) return "no " CS_HEADER_REQUEST_ID;
    return exchange->request_id.count == 1 ? "another " CS_HEADER_REQUEST_ID : "more than one " CS_HEADER_REQUEST_ID;
}

/* The only parameter that says nothing new about JSON. */
static bool is_utf8_parameter(const char *text) {
    text += strspn(text, " \t");
    if (strncasecmp(text, "charset=", 8) != 0) return false;
    text += 8;
    const bool quoted = *text == '"';
    if (quoted) text++;
    if (strncasecmp(text, "utf-8", 5) != 0) return false;
    text += 5;
    if (quoted && *text++ != '"') return false;
    return text[strspn(text, " \t")] == '\0';
}

static bool is_type(const cs_exchange *exchange, cs_codec codec) {
    if (exchange->content_type.count != 1) return false;
    const char *value = exchange->content_type.value;
    const char *want = codec == CS_CODEC_JSON ? CS_TYPE_JSON : CS_TYPE_BINARY;
    size_t len = strlen(want);
    if (strncasecmp(value, want, len) != 0) return false;
    const char *rest = value + len + strspn(value + len, " \t");
    if (*rest == '\0') return true;
    return codec == CS_CODEC_JSON && *rest == ';' && is_utf8_parameter(rest + 1);
}

static bool is_encoded(const cs_exchange *exchange) {
    const cs_header *encoding = &exchange->content_encoding;
    return encoding->count > 1 || (encoding->count == 1 && strcasecmp(encoding->value, "identity") != 0);
}

/* ---- a success ------------------------------------------------------------------------------------ */

static cs_result malformed(cs_outcome *outcome, const char *name, const cs_header *header, const char *expected) {
    const char *often = header->count == 0 ? "no header" : header->count == 1 ? "the header" : "more than one header";
    return cs_fail(&outcome->err, CS_CODE_UNANSWERED_MALFORMED, "the answer has %s %s \"%s\", expected %s", often, name,
                   header->value, expected);
}

static cs_result decode(const cs_client *client, const ProtobufCMessageDescriptor *type, cs_outcome *outcome) {
    cs_view raw = cs_buf_view(&outcome->raw);
    if (client->codec == CS_CODEC_JSON) {
        cs_result result = cs_protojson_read(type, raw, &outcome->message, &outcome->err);
        if (result != CS_OK) return result;
        return cs_message_encode(outcome->message, &outcome->bytes, &outcome->err);
    }
    cs_result result = cs_message_decode(type, raw, &outcome->message, &outcome->err);
    if (result != CS_OK) return result;
    if (!cs_buf_append(&outcome->bytes, raw.ptr, raw.len))
        return cs_fail(&outcome->err, CS_CODE_NO_MEMORY, "no memory to keep the answer");
    return CS_OK;
}

static cs_result judge_success(const cs_client *client, const cs_exchange *exchange,
                               const ProtobufCMessageDescriptor *type, cs_outcome *outcome) {
    if (!outcome->bound)
        return cs_fail(&outcome->err, CS_CODE_UNANSWERED_UNBOUND,
                       "the answer (HTTP %d) carries %s, so it is not believed to be this request's", exchange->status,
                       why_unbound(exchange));
    if (is_encoded(exchange)) return malformed(outcome, "Content-Encoding", &exchange->content_encoding, "none");
    if (!is_type(exchange, client->codec))
        return malformed(outcome, "Content-Type", &exchange->content_type,
                         client->codec == CS_CODEC_JSON ? CS_TYPE_JSON : CS_TYPE_BINARY);
    if (decode(client, type, outcome) != CS_OK) {
        /* Also when it was memory that failed: what is certain is that it may have run. */
        cs_message_free(outcome->message);
        outcome->message = NULL;
        cs_buf_clear(&outcome->bytes);
        outcome->err.code = CS_CODE_UNANSWERED_MALFORMED;
        return cs_code_class(outcome->err.code);
    }
    outcome->state = CS_CALL_ANSWERED;
    outcome->err = (cs_error){.code = CS_CODE_OK};
    return CS_OK;
}

/* ---- an error ------------------------------------------------------------------------------------- */

static cs_code refused_code(cs_reason reason) {
    switch (reason) {
    case PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_REQUEST:
        return CS_CODE_REFUSED_REQUEST;
    case PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_PERMISSION:
        return CS_CODE_REFUSED_PERMISSION;
    case PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_PROTOCOL:
        return CS_CODE_REFUSED_PROTOCOL;
    case PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_UNSUPPORTED:
        return CS_CODE_REFUSED_UNSUPPORTED;
    case PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_ISOLATION:
        return CS_CODE_REFUSED_ISOLATION;
    case PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_CAPACITY:
        return CS_CODE_REFUSED_CAPACITY;
    case PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_ENVIRONMENT:
        return CS_CODE_REFUSED_ENVIRONMENT;
    default:
        return CS_CODE_REFUSED_UNSPECIFIED;
    }
}

/* A detail outranks the header. A header with a word that is not known here is no mark: the peer may
 * mean anything by it, and taking it for "nothing ran" is the one mistake that runs code twice. */
static bool is_marked(const cs_exchange *exchange, const cs_connect_error *error, cs_reason *reason) {
    *reason = REASON_NONE;
    if (error->marked) {
        *reason = error->reason;
        return true;
    }
    if (exchange->not_dispatched.count == 1) *reason = cs_reason_parse(cs_view_of(exchange->not_dispatched.value));
    return *reason != REASON_NONE;
}

static cs_result say_error(const cs_exchange *exchange, const cs_connect_error *error, cs_outcome *outcome) {
    const cs_view text = cs_utf8_cut(cs_buf_view(&error->message), MAX_QUOTED_BYTES);
    const int quoted = (int)text.len;
    const char *message = text.len > 0 ? (const char *)text.ptr : "";
    const char *word = cs_connect_word(outcome->connect);
    if (outcome->state == CS_CALL_REFUSED)
        return cs_fail(&outcome->err, refused_code(outcome->reason),
                       "refused before anything ran (%s; %s): HTTP %d, %s: %.*s", cs_reason_word(outcome->reason),
                       outcome->elsewhere ? "another daemon could take it" : "no other daemon would take it",
                       exchange->status, word, quoted, message);
    if (!outcome->bound)
        return cs_fail(&outcome->err, CS_CODE_UNANSWERED_ERROR,
                       "an error that carries %s, so that no mark in it counts: HTTP %d, %s: %.*s",
                       why_unbound(exchange), exchange->status, word, quoted, message);
    return cs_fail(&outcome->err, CS_CODE_UNANSWERED_ERROR,
                   "an error that does not say that nothing ran: HTTP %d, %s: %.*s", exchange->status, word, quoted,
                   message);
}

/* What an error says of a session. Without its binding it could be anyone's error; with a mark nothing ran,
 * so there is no call whose record it could carry. */
static void take_details(cs_connect_error *error, cs_outcome *outcome) {
    if (!outcome->bound) return;
    outcome->ended = error->ended;
    outcome->end = error->end;
    cs_escape_short(cs_buf_view(&error->end_detail), outcome->end_detail, sizeof outcome->end_detail);
    if (outcome->state == CS_CALL_REFUSED) return;
    outcome->unanswered = error->unanswered;
    error->unanswered = NULL;
}

static cs_result judge_error(const cs_exchange *exchange, cs_outcome *outcome) {
    cs_connect_error error = {0};
    cs_error why = CS_ERROR_INIT;
    bool is_connect = cs_connect_error_read(cs_buf_view(&outcome->raw), &error, &why) == CS_OK;
    if (why.code == CS_CODE_NO_MEMORY)
        return cs_fail(&outcome->err, CS_CODE_UNANSWERED_ERROR, "HTTP %d, and no memory to read what the error says",
                       exchange->status);
    outcome->connect = is_connect ? error.code : CS_CONNECT_NONE;
    if (outcome->connect == CS_CONNECT_NONE) outcome->connect = cs_connect_from_http(exchange->status);

    cs_reason reason = REASON_NONE;
    if (is_marked(exchange, &error, &reason) && outcome->bound) {
        outcome->state = CS_CALL_REFUSED;
        outcome->reason = reason;
        outcome->elsewhere = cs_reason_elsewhere(reason);
    }
    if (is_connect) take_details(&error, outcome);
    cs_result result = say_error(exchange, &error, outcome);
    if (is_connect) cs_connect_error_free(&error);
    return result;
}

/* ---- all of it ------------------------------------------------------------------------------------ */

static cs_result judge(const cs_client *client, const cs_exchange *exchange, const ProtobufCMessageDescriptor *type,
                       cs_outcome *outcome) {
    if (exchange->transport != CS_CODE_OK) return judge_transport(client, exchange, outcome);
    outcome->bound = is_bound(exchange, outcome);
    if (client->https && !exchange->delimited)
        return cs_fail(&outcome->err, CS_CODE_UNANSWERED_MALFORMED,
                       "the answer (HTTP %d) has neither a Content-Length nor chunks, so that its end could be cut off "
                       "unnoticed; over https one of them is needed",
                       exchange->status);
    if (exchange->status == 200) return judge_success(client, exchange, type, outcome);
    return judge_error(exchange, outcome);
}

cs_result cs_client_judge(const cs_client *client, const cs_exchange *exchange, const ProtobufCMessageDescriptor *type,
                          cs_outcome *outcome) {
    outcome->state = CS_CALL_UNANSWERED;
    outcome->http = exchange->http;
    outcome->http_status = exchange->status;
    cs_result result = judge(client, exchange, type, outcome);
    /* Only these two calls run code, whatever became of the others. */
    const bool runs =
        type == &plimsoll__v1__run_response__descriptor || type == &plimsoll__v1__session_run_response__descriptor;
    if (outcome->state == CS_CALL_UNANSWERED && runs)
        cs_error_also(&outcome->err, "; it may have run: look at the daemon before sending it again");
    return result;
}
