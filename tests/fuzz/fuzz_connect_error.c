/* The body of a Connect error: what is read can be written, and is then read again as the same. */
#include <stdlib.h>
#include <string.h>

#include "records/text.h"
#include "records/wire.h"
#include "tests/fuzz/fuzz.h"

/* Write it, read it, compare. Writing takes C text, so a message with a NUL can't be written. */
static void there_and_back(const cs_connect_error *error) {
    cs_buf body = CS_BUF_INIT(CS_MAX_ERROR_BODY);
    char *message = strndup(error->message.len > 0 ? (const char *)error->message.ptr : "", error->message.len);
    if (message == NULL) abort();
    cs_reason reason = error->marked ? error->reason : 0;
    cs_connect_error again;
    MUST(cs_connect_error_write(error->code, message, reason, &body));
    MUST(cs_connect_error_read(cs_buf_view(&body), &again, NULL) == CS_OK);
    MUST(again.code == error->code && again.marked == (reason != 0) && again.reason == reason);
    MUST(cs_view_is(cs_buf_view(&again.message), message));
    cs_connect_error_free(&again);
    free(message);
    cs_buf_free(&body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cs_connect_error error;
    cs_error err = CS_ERROR_INIT;
    if (cs_connect_error_read(cs_view_bytes(data, size), &error, &err) != CS_OK) {
        MUST(err.code == CS_CODE_JSON_MALFORMED);
        MUST(error.message.ptr == NULL && !error.marked);
        return 0;
    }
    MUST(error.code >= CS_CONNECT_CANCELED && error.code <= CS_CONNECT_UNAUTHENTICATED);
    MUST(error.message.len <= CS_MAX_ERROR_MESSAGE && cs_utf8_valid(cs_buf_view(&error.message)));
    MUST(error.marked || error.reason == 0);
    there_and_back(&error);
    cs_connect_error_free(&error);
    return 0;
}
