/* A self-signed certificate for 127.0.0.1, made anew for each test. */
#ifndef CS_TESTS_SUPPORT_TLS_H
#define CS_TESTS_SUPPORT_TLS_H

#include <openssl/ssl.h>

#include "records/base.h"

/* Gives the TLS side of a server (SSL_CTX_free) and writes its certificate as PEM to `path`. NULL on
 * failure. */
SSL_CTX *tls_self_signed(const char *path);

#endif
