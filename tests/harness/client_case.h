/* One Run call through a client against a scripted peer, and what came of it. */
#ifndef CS_TESTS_HARNESS_CLIENT_CASE_H
#define CS_TESTS_HARNESS_CLIENT_CASE_H

#include "harness/client.h"
#include "tests/support/peer.h"

typedef struct client_case {
    /* set by the test */
    const peer_step *steps;
    size_t count;
    SSL_CTX *tls;
    const char *url_suffix; /* put behind the peer's URL; NULL: nothing */
    const char *url;        /* instead of the peer's; NULL: the peer's */
    cs_client_config config;
    /* set by client_case_run */
    peer *peer;
    cs_client *client;
    cs_result result;
    cs_outcome outcome;
} client_case;

/* The request that is sent: protocol 3 and nothing else. */
#define CASE_REQUEST "\x08\x03"
/* A RunResponse whose sandbox is "s", and the same in JSON. */
#define CASE_BODY "\x0a\x01s"
#define CASE_JSON "{\"sandbox\":\"s\"}"

#define CASE_HEAD                                                                                                      \
    "HTTP/1.1 200 OK\r\nContent-Type: application/proto\r\nPlimsoll-Request-Id: {id}\r\n"                              \
    "Content-Length: {length}\r\n\r\n"
#define CASE_BYTES(text)                                                                                               \
    { .ptr = (const uint8_t *)(text), .len = sizeof(text) - 1 }

/* Start the peer, make the call, stop the peer. Time-outs that the test left 0 become ones that a test
 * never waits for. */
void client_case_run(client_case *c);
void client_case_end(client_case *c);

/* The same for one step and the default configuration. */
void client_case_step(client_case *c, const peer_step *step);

#endif
