#include "records/sha256.h"

#include <openssl/evp.h>
#include <stdlib.h>

struct cs_sha256 {
    EVP_MD *algorithm; /* fetched once; EVP_sha256() would be looked up again at every beginning */
    EVP_MD_CTX *context;
    bool failed; /* since the last beginning */
};

cs_view cs_digest_view(const cs_digest *digest) {
    return cs_view_bytes(digest->hex, CS_SHA256_HEX);
}

/* A hash that can't begin says so at its end, through `failed`. */
static void begin(cs_sha256 *hash) {
    hash->failed = EVP_DigestInit_ex2(hash->context, hash->algorithm, NULL) != 1;
}

cs_sha256 *cs_sha256_new(void) {
    cs_sha256 *hash = calloc(1, sizeof *hash);
    if (hash == NULL) return NULL;
    hash->algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    hash->context = EVP_MD_CTX_new();
    if (hash->algorithm != NULL && hash->context != NULL) {
        begin(hash);
        if (!hash->failed) return hash;
    }
    cs_sha256_free(hash);
    return NULL;
}

void cs_sha256_free(cs_sha256 *hash) {
    if (hash == NULL) return;
    EVP_MD_CTX_free(hash->context);
    EVP_MD_free(hash->algorithm);
    free(hash);
}

void cs_sha256_update(cs_sha256 *hash, const void *ptr, size_t len) {
    /* A context that could not be begun must not be touched: OpenSSL would follow a NULL pointer. */
    if (len == 0 || hash->failed) return;
    if (EVP_DigestUpdate(hash->context, ptr, len) != 1) hash->failed = true;
}

bool cs_sha256_final(cs_sha256 *hash, uint8_t out[CS_SHA256_BYTES]) {
    unsigned len = 0;
    bool good = !hash->failed && EVP_DigestFinal_ex(hash->context, out, &len) == 1 && len == CS_SHA256_BYTES;
    begin(hash);
    return good;
}

bool cs_sha256_final_hex(cs_sha256 *hash, cs_digest *out) {
    uint8_t bytes[CS_SHA256_BYTES];
    *out = (cs_digest){.hex = ""};
    if (!cs_sha256_final(hash, bytes)) return false;
    cs_hex(bytes, sizeof bytes, out->hex);
    return true;
}

bool cs_sha256_once(cs_view bytes, cs_digest *out) {
    uint8_t digest[CS_SHA256_BYTES];
    unsigned len = 0;
    *out = (cs_digest){.hex = ""};
    const void *ptr = bytes.len > 0 ? (const void *)bytes.ptr : "";
    if (EVP_Digest(ptr, bytes.len, digest, &len, EVP_sha256(), NULL) != 1 || len != sizeof digest) return false;
    cs_hex(digest, sizeof digest, out->hex);
    return true;
}
