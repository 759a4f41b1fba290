#include "tests/support/tls.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>

static bool add_extension(X509 *cert, int nid, const char *value) {
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);
    bool added = extension != NULL && X509_add_ext(cert, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return added;
}

static bool name_it(X509 *cert) {
    X509_NAME *name = X509_get_subject_name(cert);
    static const unsigned char text[] = "countersign test";
    return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0) == 1 &&
           X509_set_issuer_name(cert, name) == 1;
}

/* Valid from yesterday to tomorrow, for the address that the tests listen on. */
static bool fill(X509 *cert, EVP_PKEY *key) {
    const long day = 24L * 60 * 60;
    return X509_set_version(cert, X509_VERSION_3) == 1 && ASN1_INTEGER_set(X509_get_serialNumber(cert), 1) == 1 &&
           X509_gmtime_adj(X509_getm_notBefore(cert), -day) != NULL &&
           X509_gmtime_adj(X509_getm_notAfter(cert), day) != NULL && X509_set_pubkey(cert, key) == 1 && name_it(cert) &&
           add_extension(cert, NID_subject_alt_name, "IP:127.0.0.1") &&
           add_extension(cert, NID_basic_constraints, "critical,CA:TRUE") && X509_sign(cert, key, EVP_sha256()) > 0;
}

static bool write_pem(const char *path, X509 *cert) {
    FILE *file = fopen(path, "we");
    bool written = file != NULL && PEM_write_X509(file, cert) == 1;
    if (file != NULL && fclose(file) != 0) written = false;
    return written;
}

SSL_CTX *tls_self_signed(const char *path) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
    bool made = key != NULL && cert != NULL && tls != NULL && fill(cert, key) && write_pem(path, cert) &&
                SSL_CTX_use_certificate(tls, cert) == 1 && SSL_CTX_use_PrivateKey(tls, key) == 1;
    X509_free(cert);
    EVP_PKEY_free(key);
    if (made) return tls;
    SSL_CTX_free(tls);
    return NULL;
}
