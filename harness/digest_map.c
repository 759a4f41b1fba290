#include "harness/digest_map.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE ((size_t)1024) /* a power of two */

typedef struct slot {
    uint8_t digest[CS_SHA256_BYTES];
    uint64_t number; /* 0: empty */
} slot;

struct cs_digest_map {
    uint8_t key[crypto_shorthash_KEYBYTES];
    slot *slots;
    size_t size; /* a power of two */
    size_t used;
};

static bool to_bytes(cs_view hex, uint8_t out[CS_SHA256_BYTES]) {
    return cs_is_hex(hex, CS_SHA256_HEX) &&
           sodium_hex2bin(out, CS_SHA256_BYTES, (const char *)hex.ptr, hex.len, NULL, NULL, NULL) == 0;
}

/* The slot that holds the digest, or the empty one where it belongs. There always is an empty one. */
static slot *find(const cs_digest_map *map, slot *slots, size_t size, const uint8_t digest[CS_SHA256_BYTES]) {
    uint8_t hash[crypto_shorthash_BYTES];
    (void)crypto_shorthash(hash, digest, CS_SHA256_BYTES, map->key);
    uint64_t at = 0;
    memcpy(&at, hash, sizeof at);
    for (;; at++) {
        slot *here = &slots[at & (size - 1)];
        if (here->number == 0 || memcmp(here->digest, digest, CS_SHA256_BYTES) == 0) return here;
    }
}

static bool grow(cs_digest_map *map) {
    slot *slots = calloc(map->size * 2, sizeof *slots);
    if (slots == NULL) return false;
    for (size_t i = 0; i < map->size; i++) {
        if (map->slots[i].number != 0) *find(map, slots, map->size * 2, map->slots[i].digest) = map->slots[i];
    }
    free(map->slots);
    map->slots = slots;
    map->size *= 2;
    return true;
}

cs_result cs_digest_map_new(cs_digest_map **out, cs_error *err) {
    *out = NULL;
    if (sodium_init() < 0) return cs_fail(err, CS_CODE_INTERNAL, "libsodium can't be initialised");
    cs_digest_map *map = calloc(1, sizeof *map);
    slot *slots = calloc(FIRST_SIZE, sizeof *slots);
    if (map == NULL || slots == NULL) {
        free(map);
        free(slots);
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to remember digests");
    }
    *map = (cs_digest_map){.slots = slots, .size = FIRST_SIZE};
    randombytes_buf(map->key, sizeof map->key);
    *out = map;
    return CS_OK;
}

void cs_digest_map_free(cs_digest_map *map) {
    if (map == NULL) return;
    free(map->slots);
    free(map);
}

cs_result cs_digest_map_put(cs_digest_map *map, cs_view hex, uint64_t number, cs_error *err) {
    uint8_t digest[CS_SHA256_BYTES];
    if (number == 0 || !to_bytes(hex, digest)) return cs_fail(err, CS_CODE_INTERNAL, "a digest is not hexadecimal");
    if (map->used >= map->size / 2 && !grow(map))
        return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to remember %zu digests", map->used + 1);
    slot *to = find(map, map->slots, map->size, digest);
    if (to->number != 0) return CS_OK;
    memcpy(to->digest, digest, sizeof to->digest);
    to->number = number;
    map->used++;
    return CS_OK;
}

uint64_t cs_digest_map_count(const cs_digest_map *map) {
    return map->used;
}

uint64_t cs_digest_map_get(const cs_digest_map *map, cs_view hex) {
    uint8_t digest[CS_SHA256_BYTES];
    return to_bytes(hex, digest) ? find(map, map->slots, map->size, digest)->number : 0;
}
