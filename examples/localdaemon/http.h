/* HTTP/1.1 on a loopback address: headers, limits, who calls, which call; then rpc.h. */
#ifndef LD_HTTP_H
#define LD_HTTP_H

#include "examples/localdaemon/daemon.h"

typedef struct ld_http ld_http;

/* A bound, listening socket for "ADDRESS:PORT" (127.0.0.0/8, [::1] or localhost; port 0: any) and its URL.
 * CS_USAGE when the address is not a loopback one, CS_UNCHECKED when it can't be bound. */
CS_MUST_CHECK cs_result ld_http_bind(const char *listen_on, int *socket_out, char *url, size_t url_size, cs_error *err);

/* Begin to serve in threads of its own; takes the socket. Gives *out; end with ld_http_stop. */
CS_MUST_CHECK cs_result ld_http_start(ld_daemon *daemon, int listening, ld_http **out, cs_error *err);

/* Take no new connection, wait for the calls under way, free. */
void ld_http_stop(ld_http *http);

#endif
