/* Raw HTTP to a test daemon through libcurl, so that tests may break any rule, and answers as JSON read by
 * jansson. */
#ifndef TESTS_LOCALDAEMON_WIRE_CALL_H
#define TESTS_LOCALDAEMON_WIRE_CALL_H

#include "tests/support/daemon.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define DESCRIBE "/plimsoll.v1.SandboxService/Describe"
#define RUN "/plimsoll.v1.SandboxService/Run"
#define JSON "application/json"
#define BINARY "application/proto"
#define REQUEST_ID "0123456789abcdef0123456789abcdef"

/* NotDispatched details: the message's two bytes in base64. */
#define MARK_REQUEST "CAE"
#define MARK_PERMISSION "CAI"
#define MARK_PROTOCOL "CAM"
#define MARK_UNSUPPORTED "CAQ"
#define MARK_ISOLATION "CAU"
#define MARK_CAPACITY "CAY"
#define MARK_ENVIRONMENT "CAc"

typedef struct wire_how {
    const char *method; /* NULL: POST */
    const char *headers[6];
    bool chunked; /* no Content-Length */
} wire_how;

typedef struct wire_end {
    long status; /* 0: no answer */
    char *body;  /* NUL-terminated */
    size_t len;
    char *headers; /* all of them, as received */
    json_t *json;  /* NULL when the body is no JSON object */
} wire_end;

/* `how` NULL: the test client's token, JSON, a request id. */
void wire_call(const test_daemon *daemon, const char *path, const wire_how *how, const void *body, size_t len,
               wire_end *end);
void wire_free(wire_end *end);

/* POST one JSON text with the usual headers. */
void wire_json(const test_daemon *daemon, const char *path, const char *body, wire_end *end);
/* The same with printf's forms; expects status 200 and a JSON answer. Gives the answer (json_decref). */
json_t *wire_run(const test_daemon *daemon, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The value of a header, or NULL; borrows a static copy. */
const char *wire_header(const wire_end *end, const char *name);

/* The text at "a/b/0/c" of a JSON value ("" when there is none); a number as its decimals, true as "true". */
const char *json_at(const json_t *value, const char *path);
/* The same, decoded from base64. Borrows a static buffer. */
const char *json_bytes_at(const json_t *value, const char *path);

/* Pin an error: status, code, and the mark in the body (NULL: none) and in the header (NULL: none). */
void expect_error(const wire_end *end, long status, const char *code, const char *body_mark, const char *header_mark);

#endif
