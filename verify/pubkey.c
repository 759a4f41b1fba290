#include "verify/pubkey.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <sodium.h>
#include <string.h>
#include <unistd.h>

#include "records/sha256.h"

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

/* Read all of a small file, at most `size` bytes. -1 with errno set on failure. */
static ssize_t read_small(const char *path, uint8_t *out, size_t size) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return -1;
    size_t len = 0;
    ssize_t got = 1;
    while (got > 0 && len < size) {
        got = read(fd, out + len, size - len);
        if (got > 0) len += (size_t)got;
        if (got < 0 && errno == EINTR) got = 1;
    }
    int saved = errno;
    close(fd);
    errno = saved;
    return got < 0 ? -1 : (ssize_t)len;
}

cs_result cs_public_key_load(const char *path, cs_public_key *out, cs_error *err) {
    uint8_t text[CS_MAX_KEY_FILE + 1];
    *out = (cs_public_key){.id = ""};
    cs_result result = CS_UNCHECKED;
    ssize_t len = read_small(path, text, sizeof text);
    if (len < 0) {
        result = cs_fail(err, CS_CODE_KEY_UNREADABLE, "the public key can't be read: %s", strerror(errno));
    } else if (len > (ssize_t)CS_MAX_KEY_FILE) {
        result = malformed(err, "the file is too long for a public key");
    } else {
        result = cs_public_key_parse(cs_view_bytes(text, (size_t)len), out, err);
    }
    if (result != CS_OK) cs_error_where(err, "%s", path);
    return result;
}

static const cs_public_key *find_key(const cs_trust *trust, const char *id) {
    for (size_t i = 0; i < trust->count; i++) {
        if (strcmp(trust->keys[i].id, id) == 0) return &trust->keys[i];
    }
    return NULL;
}

cs_result cs_trust_add(cs_trust *trust, const cs_public_key *key, cs_error *err) {
    if (find_key(trust, key->id) != NULL) return CS_OK;
    if (trust->count >= CS_MAX_TRUSTED_KEYS) {
        return cs_fail(err, CS_CODE_USAGE, "more than %u keys are named as trusted", CS_MAX_TRUSTED_KEYS);
    }
    trust->keys[trust->count++] = *key;
    return CS_OK;
}

cs_result cs_envelope_verify(const cs_envelope *envelope, const cs_trust *trust, cs_buf *scratch, cs_error *err) {
    if (sodium_init() < 0) return cs_fail(err, CS_CODE_INTERNAL, "libsodium can't be initialised");
    const cs_public_key *key = find_key(trust, envelope->keyid);
    if (key == NULL) {
        return cs_fail(err, CS_CODE_ENVELOPE_KEY_UNKNOWN,
                       "signed under key %s, which is not among the %zu trusted; name the signer's public key if "
                       "you know it from elsewhere",
                       envelope->keyid, trust->count);
    }
    cs_buf_clear(scratch);
    if (!cs_dsse_pae(CS_PAYLOAD_TYPE, cs_buf_view(&envelope->payload), scratch)) {
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory for the signed bytes");
    }
    /* libsodium refuses scalars that are not reduced and an R of small order by itself. */
    if (crypto_sign_verify_detached(envelope->signature, scratch->ptr, scratch->len, key->bytes) != 0) {
        return cs_fail(err, CS_CODE_ENVELOPE_SIGNATURE,
                       "the signature is not that of key %s over these bytes; they were changed after signing, or "
                       "never signed",
                       key->id);
    }
    return CS_OK;
}
