#include "harness/key_internal.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Only byte arrays, so that any address is aligned: sodium_malloc ends at a page, not at a word. */
struct cs_key {
    cs_public_key public_half;
    uint8_t secret[crypto_sign_SECRETKEYBYTES]; /* the seed, then the public key */
};

_Static_assert(crypto_sign_SEEDBYTES == CS_KEY_SEED_BYTES, "an Ed25519 seed is 32 bytes");
_Static_assert(crypto_sign_PUBLICKEYBYTES == CS_PUBLIC_KEY_BYTES, "an Ed25519 public key is 32 bytes");
_Static_assert(crypto_sign_BYTES == CS_SIGNATURE_BYTES, "an Ed25519 signature is 64 bytes");

/* ---- locked memory -------------------------------------------------------------------------------- */

bool cs_key_secret_new(size_t size, cs_buf *out) {
    *out = (cs_buf){0};
    if (sodium_init() < 0) return false;
    uint8_t *ptr = sodium_malloc(size);
    if (ptr == NULL) return false;
    /* Capacity and maximum are the same, so no append ever moves the bytes elsewhere. */
    *out = (cs_buf){.ptr = ptr, .len = 0, .cap = size, .max = size};
    return true;
}

void cs_key_secret_free(cs_buf *secret) {
    sodium_free(secret->ptr);
    *secret = (cs_buf){0};
}

/* ---- the key -------------------------------------------------------------------------------------- */

cs_result cs_key_from_seed(const uint8_t seed[CS_KEY_SEED_BYTES], cs_key **out, cs_error *err) {
    *out = NULL;
    if (sodium_init() < 0) return cs_fail(err, CS_CODE_INTERNAL, "libsodium could not be set up");
    cs_key *key = sodium_malloc(sizeof *key);
    if (key == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no locked memory for a private key");
    memset(key, 0, sizeof *key);

    bool made = crypto_sign_seed_keypair(key->public_half.bytes, key->secret, seed) == 0 &&
                cs_public_key_identify(&key->public_half) && sodium_mprotect_readonly(key) == 0;
    if (!made) {
        cs_key_free(key);
        return cs_fail(err, CS_CODE_INTERNAL, "the key pair could not be derived from the private key");
    }
    *out = key;
    return CS_OK;
}

cs_result cs_key_random(cs_key **out, cs_error *err) {
    *out = NULL;
    CS_AUTO_SECRET seed = {0};
    if (!cs_key_secret_new(CS_KEY_SEED_BYTES, &seed))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no locked memory for a private key");
    randombytes_buf(seed.ptr, CS_KEY_SEED_BYTES);
    return cs_key_from_seed(seed.ptr, out, err);
}

void cs_key_free(cs_key *key) {
    sodium_free(key);
}

const cs_public_key *cs_key_public(const cs_key *key) {
    return &key->public_half;
}

const uint8_t *cs_key_seed(const cs_key *key) {
    return key->secret;
}

cs_result cs_key_sign(const cs_key *key, cs_view message, uint8_t out[CS_SIGNATURE_BYTES], cs_error *err) {
    memset(out, 0, CS_SIGNATURE_BYTES);
    if (crypto_sign_detached(out, NULL, message.ptr, message.len, key->secret) != 0)
        return cs_fail(err, CS_CODE_INTERNAL, "libsodium did not sign");
    return CS_OK;
}

/* ---- the environment and the process -------------------------------------------------------------- */

/* Overwrite every value of the variable where it stands: removing it only drops a pointer, and the
 * text could still be read in /proc/PID/environ. */
static void wipe_variable(void) {
    const size_t name = strlen(CS_KEY_VARIABLE);
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        if (strncmp(*entry, CS_KEY_VARIABLE, name) != 0 || (*entry)[name] != '=') continue;
        explicit_bzero(*entry + name + 1, strlen(*entry + name + 1));
    }
}

cs_result cs_key_from_environment(cs_key **out, cs_error *err) {
    *out = NULL;
    const char *value = getenv(CS_KEY_VARIABLE);
    if (value == NULL || value[0] == '\0')
        return cs_fail(err, CS_CODE_KEY_UNREADABLE,
                       "the environment variable %s is not set; put the PEM text of a private key there (not a path)",
                       CS_KEY_VARIABLE);

    CS_AUTO_SECRET pem = {0};
    size_t len = strlen(value);
    bool short_enough = len <= CS_MAX_KEY_FILE;
    bool kept = short_enough && cs_key_secret_new(len, &pem) && cs_buf_append(&pem, value, len);
    wipe_variable();
    if (unsetenv(CS_KEY_VARIABLE) != 0)
        return cs_fail(err, CS_CODE_INTERNAL, "%s could not be removed from the environment", CS_KEY_VARIABLE);

    cs_result result = CS_OK;
    if (!short_enough)
        result = cs_fail(err, CS_CODE_KEY_MALFORMED, "a private key has at most %u bytes of PEM text; this has %zu",
                         CS_MAX_KEY_FILE, len);
    else if (!kept)
        result = cs_fail(err, CS_CODE_NO_MEMORY, "no locked memory for a private key");
    else
        result = cs_key_parse(cs_buf_view(&pem), out, err);
    if (result != CS_OK) cs_error_where(err, "environment variable %s", CS_KEY_VARIABLE);
    return result;
}

void cs_key_harden_process(void) {
    /* Both can only fail where the system forbids them; a key is no worse off then than before. */
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
