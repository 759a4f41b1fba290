/* A scripted HTTP server on 127.0.0.1, as friendly or as hostile as its script.
 *
 * One thread serves one connection after another; each takes the next step of the script. A connection
 * past the end of the script is accepted, counted and closed. What was received is kept, and may be
 * looked at after peer_stop.
 */
#ifndef CS_TESTS_SUPPORT_PEER_H
#define CS_TESTS_SUPPORT_PEER_H

#include <openssl/ssl.h>

#include "records/base.h"

typedef enum peer_end {
    PEER_CLOSE, /* end the stream properly, and wait for the other side to end its own */
    PEER_RESET, /* drop the connection with a TCP reset */
    PEER_STALL, /* send nothing more, and hold the connection until the other side or peer_stop ends it */
    PEER_FLOOD, /* send the body again and again until the other side or peer_stop ends it */
    PEER_DRIP,  /* send the body a byte at a time, with pauses; then as PEER_CLOSE */
    PEER_CUT,   /* end the TCP stream properly, but not the TLS in it */
    PEER_DIE    /* listen no more from before the answer on; then as PEER_CLOSE */
} peer_end;

/* What to do with one connection. All pointers are borrowed until peer_stop. */
typedef struct peer_step {
    bool unread;   /* do not read the request before answering */
    size_t enough; /* read so many bytes of the request and no more; 0: all of it */
    SSL_CTX *tls;  /* for this connection, instead of the peer's; NULL: the peer's */
    bool plain;    /* for this connection no TLS, whatever the peer has */
    /* Sent as it is, but for {id} (the request's id), {ID} (in capitals), {old} (the id of the connection
     * before) and {length} (of the body). NULL: nothing is sent. */
    const char *head;
    cs_view body; /* sent behind the head, untouched */
    peer_end end;
} peer_step;

/* One connection's request, as far as it was read. */
typedef struct peer_request {
    char *head; /* request line and headers, NUL-terminated; "" when none was read */
    cs_buf body;
    bool whole; /* head and as much body as its Content-Length says */
} peer_request;

typedef struct peer peer;

/* Start serving. `tls` (NULL: plain) is borrowed. NULL when it could not be started. */
peer *peer_start(const peer_step *steps, size_t count, SSL_CTX *tls);
const char *peer_url(const peer *p); /* "http://127.0.0.1:PORT", or https; borrows */

/* Wait until so many requests were received whole. False after a minute. */
bool peer_await(peer *p, size_t requests);

/* Take the connections that wait, end them all, and end the thread. May be called twice. */
void peer_stop(peer *p);
void peer_free(peer *p); /* stops first */

/* After peer_stop. */
size_t peer_connections(const peer *p);
const peer_request *peer_seen(const peer *p, size_t index); /* NULL past the last; borrows */

/* How often a header stands in the request's head; `value` (size bytes) receives the first one's. */
size_t peer_header(const peer_request *request, const char *name, char *value, size_t size);

#endif
