#include "tests/support/tls.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>

#define DAY (24L * 60 * 60)
#define AUTHORITY_NAME "countersign test authority"
#define BETWEEN_NAME "countersign test between"
#define LEAF_NAME "countersign test"

struct tls_authority {
    X509 *cert;
    EVP_PKEY *key;
};

/* ---- certificates --------------------------------------------------------------------------------- */

static bool add_extension(X509 *cert, int nid, const char *value) {
    if (value == NULL) return true;
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    bool added = extension != NULL && X509_add_ext(cert, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

static bool set_name(X509_NAME *name, const char *text) {
    return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)text, -1, -1, 0) == 1;
}

/* A certificate for `key` with everything but issuer and signature. */
static X509 *new_cert(EVP_PKEY *key, const char *name, bool authority, const tls_leaf *leaf) {
    static long serial;
    X509 *cert = X509_new();
    if (cert != NULL && X509_set_version(cert, X509_VERSION_3) == 1 &&
        ASN1_INTEGER_set(X509_get_serialNumber(cert), ++serial) == 1 &&
        X509_gmtime_adj(X509_getm_notBefore(cert), leaf->from_day * DAY) != NULL &&
        X509_gmtime_adj(X509_getm_notAfter(cert), leaf->to_day * DAY) != NULL && X509_set_pubkey(cert, key) == 1 &&
        set_name(X509_get_subject_name(cert), name) && add_extension(cert, NID_subject_alt_name, leaf->names) &&
        add_extension(cert, NID_ext_key_usage, leaf->purpose) &&
        add_extension(cert, NID_basic_constraints, authority ? "critical,CA:TRUE" : "critical,CA:FALSE"))
        return cert;
    X509_free(cert);
    return NULL;
}

static bool sign_cert(X509 *cert, X509 *issuer, EVP_PKEY *issuer_key) {
    return X509_set_issuer_name(cert, X509_get_subject_name(issuer)) == 1 &&
           X509_sign(cert, issuer_key, EVP_sha256()) > 0;
}

static bool write_pem(const char *path, X509 *cert) {
    if (path == NULL) return true;
    FILE *file = fopen(path, "we");
    bool written = file != NULL && PEM_write_X509(file, cert) == 1;
    if (file != NULL && fclose(file) != 0) written = false;
    return written;
}

static SSL_CTX *server_with(X509 *cert, EVP_PKEY *key) {
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    if (tls != NULL && SSL_CTX_use_certificate(tls, cert) == 1 && SSL_CTX_use_PrivateKey(tls, key) == 1) return tls;
    SSL_CTX_free(tls);
    return NULL;
}

/* ---- without an authority ------------------------------------------------------------------------- */

SSL_CTX *tls_self_signed(const char *path) {
    static const tls_leaf leaf = {.names = "IP:127.0.0.1", .from_day = -1, .to_day = 1};
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = key == NULL ? NULL : new_cert(key, LEAF_NAME, true, &leaf);
    SSL_CTX *tls = NULL;
    if (cert != NULL && sign_cert(cert, cert, key) && write_pem(path, cert)) tls = server_with(cert, key);
    X509_free(cert);
    EVP_PKEY_free(key);
    return tls;
}

/* ---- with one ------------------------------------------------------------------------------------- */

tls_authority *tls_authority_new(const char *path) {
    static const tls_leaf leaf = {.from_day = -9, .to_day = 9};
    tls_authority *authority = calloc(1, sizeof *authority);
    if (authority == NULL) return NULL;
    authority->key = EVP_EC_gen("P-256");
    if (authority->key != NULL) authority->cert = new_cert(authority->key, AUTHORITY_NAME, true, &leaf);
    if (authority->cert != NULL && sign_cert(authority->cert, authority->cert, authority->key) &&
        write_pem(path, authority->cert))
        return authority;
    tls_authority_free(authority);
    return NULL;
}

void tls_authority_free(tls_authority *authority) {
    if (authority == NULL) return;
    X509_free(authority->cert);
    EVP_PKEY_free(authority->key);
    free(authority);
}

/* A key and a certificate for it; gives both, or neither. */
static bool issue(const tls_authority *authority, const char *name, bool may_issue, const tls_leaf *leaf, X509 **cert,
                  EVP_PKEY **key) {
    *key = EVP_EC_gen("P-256");
    *cert = *key == NULL ? NULL : new_cert(*key, name, may_issue, leaf);
    if (*cert != NULL && sign_cert(*cert, authority->cert, authority->key)) return true;
    X509_free(*cert);
    EVP_PKEY_free(*key);
    return false;
}

SSL_CTX *tls_issue(const tls_authority *authority, const tls_leaf *leaf) {
    X509 *cert;
    EVP_PKEY *key;
    if (!issue(authority, LEAF_NAME, false, leaf, &cert, &key)) return NULL;
    SSL_CTX *tls = server_with(cert, key);
    X509_free(cert);
    EVP_PKEY_free(key);
    return tls;
}

SSL_CTX *tls_issue_below(const tls_authority *authority, bool may_issue, const tls_leaf *leaf) {
    tls_authority between;
    if (!issue(authority, BETWEEN_NAME, may_issue, leaf, &between.cert, &between.key)) return NULL;
    SSL_CTX *tls = tls_issue(&between, leaf);
    if (tls != NULL && SSL_CTX_add1_chain_cert(tls, between.cert) != 1) {
        SSL_CTX_free(tls);
        tls = NULL;
    }
    X509_free(between.cert);
    EVP_PKEY_free(between.key);
    return tls;
}
