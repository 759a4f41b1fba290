/* The three calls of a session. */
#include "harness/client_internal.h"

#include <sodium.h>
#include <string.h>

#include "records/protojson.h"
#include "records/text.h"

/* JSON of a request is longer than its binary form; the bound only has to be higher than what may be sent. */
#define ENCODE_MAX ((size_t)8 * CS_MAX_REQUEST_BYTES)
#define MIN_BLOT 8u

/* A body that holds a session id is wiped. */
static void wipe(cs_buf *buf) {
    if (buf->ptr != NULL) sodium_memzero(buf->ptr, buf->cap);
    cs_buf_free(buf);
}

/* The whole body is made in memory that never moves, so that no copy of the id is left where it grew. */
static cs_result encode(const cs_client *client, const ProtobufCMessage *message, cs_buf *body, cs_error *err) {
    size_t binary = protobuf_c_message_get_packed_size(message);
    if (binary > CS_MAX_REQUEST_BYTES)
        return cs_fail(err, CS_CODE_REQUEST_INVALID, "the encoded request has %zu bytes; a daemon takes at most %u",
                       binary, CS_MAX_REQUEST_BYTES);
    /* A byte takes at most six characters of JSON; names and marks come beside. */
    size_t room = client->codec == CS_CODEC_BINARY ? binary + 1 : 8 * binary + 4096;
    if (!cs_buf_reserve(body, room)) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a request");
    cs_result result = client->codec == CS_CODEC_BINARY ? cs_message_encode(message, body, err)
                                                        : cs_protojson_write(message, body, err);
    return result == CS_OK ? CS_OK : cs_error_recode(err, CS_CODE_REQUEST_INVALID);
}

/* ---- blotting out --------------------------------------------------------------------------------- */

/* A daemon may repeat the id in any text. Whoever reads an error or a finding must not learn it. */
static void blot(uint8_t *bytes, size_t len, cs_view secret) {
    uint8_t *at = bytes;
    if (secret.len == 0 || len == 0) return;
    while ((at = memmem(at, len - (size_t)(at - bytes), secret.ptr, secret.len)) != NULL) {
        memset(at, '*', secret.len);
        at += secret.len;
    }
}

/* A text may have been cut within the id: its beginning goes too, as long as it could be told from chance. */
static void blot_text(char *text, cs_view secret) {
    for (; secret.len >= MIN_BLOT; secret.len--)
        blot((uint8_t *)text, strlen(text), secret);
}

void cs_error_blot(cs_error *err, cs_view session_id) {
    blot_text(err->message, session_id);
    blot_text(err->where, session_id);
    blot_text(err->expected, session_id);
    blot_text(err->found, session_id);
}

static void blot_outcome(cs_outcome *outcome, cs_view secret) {
    cs_error_blot(&outcome->err, secret);
    blot_text(outcome->end_detail, secret);
    /* What was answered is checked byte by byte and stays as it came. */
    if (outcome->state != CS_CALL_ANSWERED) blot(outcome->raw.ptr, outcome->raw.len, secret);
}

void cs_outcome_forget_session(cs_outcome *outcome) {
    if (outcome->message == NULL || outcome->message->descriptor != &plimsoll__v1__open_session_response__descriptor)
        return;
    cs_open_session_response *opened = (cs_open_session_response *)outcome->message;
    if (opened->session_id.len > 0) sodium_memzero(opened->session_id.data, opened->session_id.len);
    opened->session_id.len = 0;
    if (outcome->bytes.ptr != NULL) sodium_memzero(outcome->bytes.ptr, outcome->bytes.cap);
    if (outcome->raw.ptr != NULL) sodium_memzero(outcome->raw.ptr, outcome->raw.cap);
}

/* ---- calls ---------------------------------------------------------------------------------------- */

static cs_result send_message(const cs_client *client, const char *path, const ProtobufCMessage *message,
                              const ProtobufCMessageDescriptor *answer_type, cs_outcome *outcome) {
    cs_client_begin(client, outcome);
    cs_buf body = CS_BUF_INIT(ENCODE_MAX + 4096);
    cs_result result = encode(client, message, &body, &outcome->err);
    if (result == CS_OK)
        result = cs_client_call(client, path, cs_buf_view(&body), answer_type, outcome);
    else
        result = cs_client_unsent(outcome, PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_REQUEST);
    wipe(&body);
    return result;
}

cs_result cs_client_open_session(cs_client *client, const cs_open_session_request *request, cs_outcome *outcome) {
    cs_result result = send_message(client, CS_PATH_OPEN_SESSION, &request->base,
                                    &plimsoll__v1__open_session_response__descriptor, outcome);
    /* An answer that is not believed can hold an id that is good. */
    if (outcome->state != CS_CALL_ANSWERED && outcome->raw.ptr != NULL) {
        sodium_memzero(outcome->raw.ptr, outcome->raw.cap);
        cs_buf_clear(&outcome->raw);
    }
    return result;
}

cs_result cs_client_session_run(cs_client *client, const cs_session_run_request *request, cs_outcome *outcome) {
    cs_result result = send_message(client, CS_PATH_SESSION_RUN, &request->base,
                                    &plimsoll__v1__session_run_response__descriptor, outcome);
    if (result == CS_OK) {
        const cs_session_run_response *answer = (const cs_session_run_response *)outcome->message;
        outcome->ended = answer->ended != PLIMSOLL__V1__SESSION_END__SESSION_END_UNSPECIFIED;
        outcome->end = answer->ended;
        cs_escape_short(cs_bytes_view(&answer->end_detail), outcome->end_detail, sizeof outcome->end_detail);
    }
    blot_outcome(outcome, cs_bytes_view(&request->session_id));
    return result;
}

/* The same client, borrowed, for a call that comes after the end of everything else. */
static cs_client for_the_end(const cs_client *client) {
    cs_client copy = *client;
    copy.stop = NULL;
    if (copy.timeout_ms > CS_CLIENT_CLOSE_MS) copy.timeout_ms = CS_CLIENT_CLOSE_MS;
    return copy;
}

cs_result cs_client_describe_last(cs_client *client, cs_outcome *outcome) {
    cs_client last = for_the_end(client);
    return cs_client_describe(&last, outcome);
}

cs_result cs_client_close_session(cs_client *client, const cs_close_session_request *request, cs_outcome *outcome) {
    cs_client last = for_the_end(client);
    cs_result result = send_message(&last, CS_PATH_CLOSE_SESSION, &request->base,
                                    &plimsoll__v1__close_session_response__descriptor, outcome);
    if (result == CS_OK) {
        const cs_close_session_response *answer = (const cs_close_session_response *)outcome->message;
        outcome->ended = answer->ended != PLIMSOLL__V1__SESSION_END__SESSION_END_UNSPECIFIED;
        outcome->end = answer->ended;
    }
    blot_outcome(outcome, cs_bytes_view(&request->session_id));
    return result;
}
