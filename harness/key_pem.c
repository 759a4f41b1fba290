/* The text forms of a key: PEM (RFC 7468) around PKCS#8 (RFC 5958, RFC 8410) and SubjectPublicKeyInfo.
 *
 * OpenSSL reads and writes the DER. The base64 of the private half is done here, in locked memory:
 * OpenSSL's PEM functions leave the key's text in memory that they free without wiping it.
 */
#include "harness/key_internal.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

#include "records/text.h"

#define PRIVATE_BEGIN "-----BEGIN PRIVATE KEY-----"
#define PRIVATE_END "-----END PRIVATE KEY-----"
/* RFC 8410: the PKCS#8 field of the key is itself an OCTET STRING of 32 bytes. */
#define OCTET_STRING_TAG 0x04u
#define INNER_BYTES (2u + CS_KEY_SEED_BYTES)

/* ---- reading -------------------------------------------------------------------------------------- */

static bool is_space(uint8_t c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static cs_view trim(cs_view text) {
    while (text.len > 0 && is_space(text.ptr[0])) {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* Take the base64 digits out of the one block. False when the text is anything else than one block and
 * white space around it. A second block would leave dashes among the digits. */
static bool take_digits(cs_view pem, cs_buf *digits) {
    const size_t begin = strlen(PRIVATE_BEGIN);
    const size_t end = strlen(PRIVATE_END);
    cs_view text = trim(pem);
    if (text.len < begin + end) return false;
    if (memcmp(text.ptr, PRIVATE_BEGIN, begin) != 0) return false;
    if (memcmp(text.ptr + text.len - end, PRIVATE_END, end) != 0) return false;
    for (const uint8_t *at = text.ptr + begin; at < text.ptr + text.len - end; at++)
        if (!is_space(*at) && !cs_buf_byte(digits, *at)) return false;
    return true;
}

static bool is_ed25519(const X509_ALGOR *algorithm) {
    const ASN1_OBJECT *name = NULL;
    int parameter_type = V_ASN1_NULL;
    X509_ALGOR_get0(&name, &parameter_type, NULL, algorithm);
    return OBJ_obj2nid(name) == NID_ED25519 && parameter_type == V_ASN1_UNDEF;
}

static cs_result key_of_info(const PKCS8_PRIV_KEY_INFO *info, cs_key **out, cs_error *err) {
    const uint8_t *inner = NULL;
    int inner_len = 0;
    const X509_ALGOR *algorithm = NULL;
    if (PKCS8_pkey_get0(NULL, &inner, &inner_len, &algorithm, info) != 1 || !is_ed25519(algorithm))
        return cs_fail(err, CS_CODE_KEY_MALFORMED,
                       "the private key is not an Ed25519 key; make one with `countersign keygen`");
    if (inner_len != (int)INNER_BYTES || inner[0] != OCTET_STRING_TAG || inner[1] != CS_KEY_SEED_BYTES)
        return cs_fail(err, CS_CODE_KEY_MALFORMED, "an Ed25519 private key has 32 bytes; this one does not");
    return cs_key_from_seed(inner + 2, out, err);
}

static cs_result parse_der(cs_view der, cs_key **out, cs_error *err) {
    const uint8_t *at = der.ptr;
    /* Freeing the structure wipes the key in it. */
    PKCS8_PRIV_KEY_INFO *info = der.len > 0 ? d2i_PKCS8_PRIV_KEY_INFO(NULL, &at, (long)der.len) : NULL;
    cs_result result = CS_UNCHECKED;
    if (info == NULL || at != der.ptr + der.len)
        result = cs_fail(err, CS_CODE_KEY_MALFORMED, "the block PRIVATE KEY does not hold one PKCS#8 private key");
    else
        result = key_of_info(info, out, err);
    PKCS8_PRIV_KEY_INFO_free(info);
    ERR_clear_error();
    return result;
}

cs_result cs_key_parse(cs_view pem, cs_key **out, cs_error *err) {
    *out = NULL;
    if (pem.len > CS_MAX_KEY_FILE)
        return cs_fail(err, CS_CODE_KEY_MALFORMED, "a private key has at most %u bytes of PEM text; this has more",
                       CS_MAX_KEY_FILE);
    CS_AUTO_SECRET digits = {0};
    CS_AUTO_SECRET der = {0};
    if (!cs_key_secret_new(CS_MAX_KEY_FILE, &digits) || !cs_key_secret_new(CS_MAX_KEY_FILE, &der))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no locked memory for a private key");
    if (!take_digits(pem, &digits))
        return cs_fail(err, CS_CODE_KEY_MALFORMED,
                       "expected one PEM block PRIVATE KEY (PKCS#8, not encrypted) and nothing else but white space");
    if (!cs_base64_decode(cs_buf_view(&digits), &der))
        return cs_fail(err, CS_CODE_KEY_MALFORMED, "the block PRIVATE KEY is not base64; it may be cut short");
    return parse_der(cs_buf_view(&der), out, err);
}

/* ---- writing -------------------------------------------------------------------------------------- */

/* A PKCS#8 structure around the seed; NULL on failure. Freeing it wipes the seed in it. */
static PKCS8_PRIV_KEY_INFO *info_of_key(const cs_key *key) {
    PKCS8_PRIV_KEY_INFO *info = PKCS8_PRIV_KEY_INFO_new();
    uint8_t *inner = OPENSSL_malloc(INNER_BYTES);
    if (info == NULL || inner == NULL) goto fail;
    inner[0] = OCTET_STRING_TAG;
    inner[1] = CS_KEY_SEED_BYTES;
    memcpy(inner + 2, cs_key_seed(key), CS_KEY_SEED_BYTES);
    if (PKCS8_pkey_set0(info, OBJ_nid2obj(NID_ED25519), 0, V_ASN1_UNDEF, NULL, inner, (int)INNER_BYTES) != 1) goto fail;
    return info;

fail:
    OPENSSL_clear_free(inner, INNER_BYTES);
    PKCS8_PRIV_KEY_INFO_free(info);
    return NULL;
}

static bool private_der(const cs_key *key, cs_buf *der) {
    PKCS8_PRIV_KEY_INFO *info = info_of_key(key);
    int len = info == NULL ? -1 : i2d_PKCS8_PRIV_KEY_INFO(info, NULL);
    bool written = false;
    if (len > 0 && cs_buf_reserve(der, (size_t)len)) {
        uint8_t *at = der->ptr + der->len;
        written = i2d_PKCS8_PRIV_KEY_INFO(info, &at) == len;
        if (written) der->len += (size_t)len;
    }
    PKCS8_PRIV_KEY_INFO_free(info);
    ERR_clear_error();
    return written;
}

bool cs_key_private_pem(const cs_key *key, cs_buf *out) {
    /* 48 bytes of DER are 64 digits, which is exactly the one line that PEM allows. */
    CS_AUTO_SECRET der = {0};
    return cs_key_secret_new(64, &der) && private_der(key, &der) && cs_buf_text(out, PRIVATE_BEGIN "\n") &&
           cs_base64_append(out, cs_buf_view(&der)) && cs_buf_text(out, "\n" PRIVATE_END "\n");
}

bool cs_key_public_pem(const cs_public_key *key, cs_buf *out) {
    EVP_PKEY *public_key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key->bytes, CS_PUBLIC_KEY_BYTES);
    BIO *text = BIO_new(BIO_s_mem());
    bool written = false;
    if (public_key != NULL && text != NULL && PEM_write_bio_PUBKEY(text, public_key) == 1) {
        const char *start = NULL;
        long len = BIO_get_mem_data(text, &start);
        written = len > 0 && cs_buf_append(out, start, (size_t)len);
    }
    BIO_free(text);
    EVP_PKEY_free(public_key);
    ERR_clear_error();
    return written;
}
