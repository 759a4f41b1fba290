#include "verify/pubkey.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sodium.h>
#include <string.h>

#include "records/sha256.h"
#include "verify/file.h"

#define PEM_NAME "PUBLIC KEY"
#define PEM_BEGIN "-----BEGIN " PEM_NAME "-----"

/* SubjectPublicKeyInfo of an Ed25519 key (RFC 8410): this prefix, then the 32 bytes of the point.
 * There is one DER form of it, so the key is compared with it, not parsed. */
static const uint8_t spki_prefix[] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};

#define SPKI_BYTES (sizeof spki_prefix + CS_PUBLIC_KEY_BYTES)

bool cs_public_key_identify(cs_public_key *key) {
    uint8_t der[SPKI_BYTES];
    memcpy(der, spki_prefix, sizeof spki_prefix);
    memcpy(der + sizeof spki_prefix, key->bytes, CS_PUBLIC_KEY_BYTES);
    cs_digest digest;
    bool good = cs_sha256_once(cs_view_bytes(der, sizeof der), &digest);
    memcpy(key->id, digest.hex, sizeof key->id);
    return good;
}

static bool is_space(uint8_t byte) {
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static cs_view trim(cs_view text) {
    while (text.len > 0 && is_space(text.ptr[0]))
        text = cs_view_bytes(text.ptr + 1, text.len - 1);
    while (text.len > 0 && is_space(text.ptr[text.len - 1]))
        text.len--;
    return text;
}

static bool begins_with(cs_view text, const char *start) {
    size_t len = strlen(start);
    return text.len >= len && memcmp(text.ptr, start, len) == 0;
}

static cs_result malformed(cs_error *err, const char *found) {
    return cs_fail(err, CS_CODE_KEY_MALFORMED,
                   "%s; expected one Ed25519 key as PEM \"%s\" and nothing else; "
                   "make one with `countersign keygen` or `openssl pkey -pubout`",
                   found, PEM_NAME);
}

/* The 44 bytes inside the one PEM block that `text` is. */
static cs_result read_block(cs_view text, uint8_t der[SPKI_BYTES], cs_error *err) {
    char *name = NULL;
    char *header = NULL;
    unsigned char *data = NULL;
    long len = 0;
    cs_result result = CS_UNCHECKED;
    BIO *bio = BIO_new_mem_buf(text.ptr, (int)text.len);
    if (bio == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to read a public key");

    if (PEM_read_bio_ex(bio, &name, &header, &data, &len, PEM_FLAG_ONLY_B64) != 1) {
        result = malformed(err, "the PEM block can't be read");
    } else if (strcmp(name, PEM_NAME) != 0 || BIO_pending(bio) != 0) {
        result = malformed(err, "there is more than one PEM block, or text behind it");
    } else if (header[0] != '\0') {
        result = malformed(err, "the PEM block has header lines");
    } else if (len != (long)SPKI_BYTES || memcmp(data, spki_prefix, sizeof spki_prefix) != 0) {
        result = malformed(err, "this is a public key of another kind");
    } else {
        memcpy(der, data, SPKI_BYTES);
        result = CS_OK;
    }
    ERR_clear_error();
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
    BIO_free(bio);
    return result;
}

cs_result cs_public_key_parse(cs_view pem, cs_public_key *out, cs_error *err) {
    *out = (cs_public_key){.id = ""};
    cs_view text = trim(pem);
    if (text.len > CS_MAX_KEY_FILE) return malformed(err, "the text is too long for a public key");
    if (begins_with(text, "-----BEGIN PRIVATE KEY-----")) return malformed(err, "this is a private key");
    if (!begins_with(text, PEM_BEGIN)) return malformed(err, "the text does not begin with " PEM_BEGIN);

    uint8_t der[SPKI_BYTES];
    cs_result result = read_block(text, der, err);
    if (result != CS_OK) return result;

    if (sodium_init() < 0) return cs_fail(err, CS_CODE_INTERNAL, "libsodium can't be initialised");
    cs_public_key key = {.id = ""};
    memcpy(key.bytes, der + sizeof spki_prefix, CS_PUBLIC_KEY_BYTES);
    if (crypto_core_ed25519_is_valid_point(key.bytes) != 1) {
        return cs_fail(err, CS_CODE_KEY_WEAK,
                       "the key is no point of the large prime-order group in canonical form, so its "
                       "signatures prove nothing; do not use it");
    }
    if (!cs_public_key_identify(&key)) return cs_fail(err, CS_CODE_INTERNAL, "SHA-256 failed");
    *out = key;
    return CS_OK;
}

cs_result cs_public_key_load(const char *path, cs_public_key *out, cs_error *err) {
    CS_AUTO_BUF text = CS_BUF_INIT(CS_MAX_KEY_FILE);
    *out = (cs_public_key){.id = ""};
    cs_result result = CS_UNCHECKED;
    switch (cs_file_read(path, &text)) {
    case CS_FILE_READ:
        result = cs_public_key_parse(cs_buf_view(&text), out, err);
        break;
    case CS_FILE_FAILED:
        result = cs_fail(err, CS_CODE_KEY_UNREADABLE, "the public key can't be read: %s", strerror(errno));
        break;
    case CS_FILE_TOO_LONG:
        result = malformed(err, "the file is too long for a public key");
        break;
    case CS_FILE_NO_MEMORY:
        result = cs_fail(err, CS_CODE_NO_MEMORY, "no memory to read a public key");
        break;
    }
    if (result != CS_OK) cs_error_where(err, "%s", path);
    return result;
}
