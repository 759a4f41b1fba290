/* Certificates and the TLS side of servers, made anew for each test.
 *
 * The contexts are to be freed with SSL_CTX_free. All functions give NULL on failure. */
#ifndef CS_TESTS_SUPPORT_TLS_H
#define CS_TESTS_SUPPORT_TLS_H

#include <openssl/ssl.h>

#include "records/base.h"

/* A self-signed certificate for 127.0.0.1, written as PEM to `path`. */
SSL_CTX *tls_self_signed(const char *path);

/* Someone who issues certificates. */
typedef struct tls_authority tls_authority;

/* Writes its own certificate as PEM to `path` (NULL: to no file). */
tls_authority *tls_authority_new(const char *path);
void tls_authority_free(tls_authority *authority);

/* What stands in a certificate. */
typedef struct tls_leaf {
    const char *names;   /* as OpenSSL writes subject alternative names: "IP:127.0.0.1", "DNS:localhost" */
    const char *purpose; /* extended key usage; NULL: none is stated */
    int from_day;        /* valid from so many days after today (negative: before) */
    int to_day;
} tls_leaf;

/* A server with a certificate of this authority. */
SSL_CTX *tls_issue(const tls_authority *authority, const tls_leaf *leaf);

/* The same, but issued by the holder of another certificate of this authority, who may issue some or may
 * not; the server shows the whole chain. */
SSL_CTX *tls_issue_below(const tls_authority *authority, bool may_issue, const tls_leaf *leaf);

#endif
