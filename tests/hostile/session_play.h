/* Hostile sessions: what their tests share. The session itself is that of tests/harness/session_case.h. */
#ifndef CS_TESTS_HOSTILE_SESSION_PLAY_H
#define CS_TESTS_HOSTILE_SESSION_PLAY_H

#include "tests/harness/session_case.h"

#define SOME_DIGEST "5947d7c33d783f94b3b4c1a96ebc8991ed28f1b069b71e03376cba8caa98a720"
#define COUNT(table) (sizeof(table) / sizeof *(table))

/* Heads of answers. */
#define HEAD_OK "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\n"
#define HEAD_500 "HTTP/1.1 500 Oops\r\nContent-Type: application/json\r\n"
#define HEAD_502 "HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\n"
#define HEAD_307 "HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:1/\r\n"
#define HEAD_ID "Plimsoll-Request-Id: {id}\r\n"
#define HEAD_END "Content-Length: {length}\r\n\r\n"
/* NotDispatched{reason: 1}, a request that no daemon takes. */
#define MARK "{\"type\":\"plimsoll.v1.NotDispatched\",\"value\":\"CAE\"}"
#define ERROR_WITH(message, details) "{\"code\":\"internal\",\"message\":\"" message "\",\"details\":[" details "]}"

/* Key, ledger and folder, in memory where that can be. */
void session_play_init(session_case *c);
/* Open, make every call that was prepared, close; then the ledger is only read. */
void session_play_run(session_case *c);

#endif
