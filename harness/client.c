#include "harness/client_internal.h"

#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "records/protojson.h"
#include "records/text.h"

/* ---- configuration -------------------------------------------------------------------------------- */

/* A token stands in a header line, so it may not end the line or begin another. */
static cs_result check_token(const char *token, cs_error *err) {
    if (strlen(token) > CS_MAX_TOKEN_BYTES)
        return cs_fail(err, CS_CODE_REQUEST_INVALID, "the token in %s is longer than %u bytes", CS_TOKEN_VARIABLE,
                       CS_MAX_TOKEN_BYTES);
    for (const char *at = token; *at != '\0'; at++)
        if (*at <= ' ' || *at > '~')
            return cs_fail(err, CS_CODE_REQUEST_INVALID,
                           "the token in %s has a space, a line end or another character that is not visible ASCII; "
                           "look for a stray newline",
                           CS_TOKEN_VARIABLE);
    return CS_OK;
}

static long milliseconds(int64_t asked, int64_t usual) {
    int64_t value = asked > 0 ? asked : usual;
    return value > LONG_MAX ? LONG_MAX : (long)value;
}

/* An empty token is none: that is how an unset secret arrives in many CI systems. */
static cs_result configure(const cs_client_config *config, cs_client *client, cs_error *err) {
    const bool has_token = config->token != NULL && config->token[0] != '\0';
    cs_result result = cs_client_url_check(config, client, err);
    if (result == CS_OK && has_token) result = check_token(config->token, err);
    if (result != CS_OK) return result;

    client->codec = config->codec;
    client->timeout_ms = milliseconds(config->timeout_ms, CS_CLIENT_TIMEOUT_MS);
    client->connect_timeout_ms = milliseconds(config->connect_timeout_ms, CS_CLIENT_CONNECT_MS);
    client->max_answer = config->max_answer > 0 ? config->max_answer : CS_MAX_ANSWER_BYTES;
    client->stop = config->stop;
    if (has_token) client->token = strdup(config->token);
    if (config->ca_file != NULL) client->ca_file = strdup(config->ca_file);
    if ((has_token && client->token == NULL) || (config->ca_file != NULL && client->ca_file == NULL))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a client");
    return CS_OK;
}

cs_result cs_client_new(const cs_client_config *config, cs_client **out, cs_error *err) {
    *out = NULL;
    if (sodium_init() < 0 || !cs_client_http_ready())
        return cs_fail(err, CS_CODE_INTERNAL, "libsodium or libcurl could not be set up");
    cs_client *client = calloc(1, sizeof *client);
    if (client == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for a client");
    cs_result result = configure(config, client, err);
    if (result != CS_OK) {
        cs_client_free(client);
        return result;
    }
    *out = client;
    return CS_OK;
}

void cs_client_free(cs_client *client) {
    if (client == NULL) return;
    if (client->token != NULL) sodium_memzero(client->token, strlen(client->token));
    free(client->token);
    free(client->url);
    free(client->resolve);
    free(client->ca_file);
    free(client);
}

const char *cs_client_url(const cs_client *client) {
    return client->url;
}

/* ---- calls ---------------------------------------------------------------------------------------- */

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void cs_client_begin(const cs_client *client, cs_outcome *outcome) {
    *outcome = (cs_outcome){.state = CS_CALL_UNANSWERED, .err = CS_ERROR_INIT};
    outcome->bytes = CS_BUF_INIT(CS_MAX_ANSWER_BYTES > client->max_answer ? CS_MAX_ANSWER_BYTES : client->max_answer);
    outcome->raw = CS_BUF_INIT(client->max_answer);
    outcome->sent_unix_ms = now_ms();
    uint8_t random[CS_REQUEST_ID_DIGITS / 2];
    randombytes_buf(random, sizeof random);
    cs_hex(random, sizeof random, outcome->request_id);
}

void cs_outcome_free(cs_outcome *outcome) {
    cs_outcome_forget_session(outcome);
    cs_message_free(outcome->message);
    outcome->message = NULL;
    cs_message_free(outcome->unanswered);
    outcome->unanswered = NULL;
    cs_buf_free(&outcome->bytes);
    cs_buf_free(&outcome->raw);
}

cs_result cs_client_unsent(cs_outcome *outcome, cs_reason reason) {
    outcome->state = CS_CALL_UNSENT;
    outcome->reason = reason;
    outcome->elsewhere = cs_reason_elsewhere(reason);
    outcome->received_unix_ms = now_ms();
    return cs_code_class(outcome->err.code);
}

cs_result cs_client_call(const cs_client *client, const char *path, cs_view body,
                         const ProtobufCMessageDescriptor *answer_type, cs_outcome *outcome) {
    if (body.len > CS_MAX_REQUEST_BYTES) {
        (void)cs_fail(&outcome->err, CS_CODE_REQUEST_INVALID,
                      "the encoded request has %zu bytes; a daemon takes at most %u", body.len, CS_MAX_REQUEST_BYTES);
        return cs_client_unsent(outcome, PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_REQUEST);
    }
    const cs_exchange_request request = {
        .path = path,
        .content_type = client->codec == CS_CODEC_JSON ? CS_TYPE_JSON : CS_TYPE_BINARY,
        .request_id = outcome->request_id,
        .body = body,
    };
    cs_exchange exchange;
    if (cs_client_exchange(client, &request, &exchange, &outcome->raw, &outcome->err) != CS_OK)
        return cs_client_unsent(outcome, PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_UNSPECIFIED);
    outcome->received_unix_ms = now_ms();
    cs_result result = cs_client_judge(client, &exchange, answer_type, outcome);
    if (result != CS_OK) cs_error_where(&outcome->err, "%s%s", client->url, path);
    return result;
}

cs_result cs_client_describe(cs_client *client, cs_outcome *outcome) {
    cs_client_begin(client, outcome);
    /* The empty message has no bytes; in JSON it is an empty object. */
    return cs_client_call(client, CS_PATH_DESCRIBE, cs_view_of(client->codec == CS_CODEC_JSON ? "{}" : ""),
                          &plimsoll__v1__describe_response__descriptor, outcome);
}

static cs_result send_run(const cs_client *client, cs_view body, cs_outcome *outcome) {
    return cs_client_call(client, CS_PATH_RUN, body, &plimsoll__v1__run_response__descriptor, outcome);
}

cs_result cs_client_run(cs_client *client, const cs_run_request *request, cs_view request_bytes, cs_outcome *outcome) {
    cs_client_begin(client, outcome);
    if (client->codec == CS_CODEC_BINARY || request_bytes.len > CS_MAX_REQUEST_BYTES)
        return send_run(client, request_bytes, outcome);

    /* JSON escapes a byte with six characters at most, and a number or name is no longer than that for
     * each of its bytes; the bound only has to be higher than what may be sent. */
    CS_AUTO_BUF json = CS_BUF_INIT((size_t)8 * CS_MAX_REQUEST_BYTES);
    if (cs_protojson_write(&request->base, &json, &outcome->err) != CS_OK) {
        (void)cs_error_recode(&outcome->err, CS_CODE_REQUEST_INVALID);
        return cs_client_unsent(outcome, PLIMSOLL__V1__NOT_DISPATCHED_REASON__NOT_DISPATCHED_REASON_REQUEST);
    }
    return send_run(client, cs_buf_view(&json), outcome);
}
