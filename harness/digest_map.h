/* Digests and a number to each, in memory: what a ledger or bundle holds already. 80 to 160 bytes an entry.
 *
 * Where a digest is looked for depends on a key that is drawn anew each time, so nobody can choose entries that all
 * fall on the same place.
 */
#ifndef CS_HARNESS_DIGEST_MAP_H
#define CS_HARNESS_DIGEST_MAP_H

#include "records/sha256.h"

typedef struct cs_digest_map cs_digest_map;

/* Gives an empty map. CS_CODE_NO_MEMORY, CS_CODE_INTERNAL (libsodium can't be initialised). */
CS_MUST_CHECK cs_result cs_digest_map_new(cs_digest_map **out, cs_error *err);
void cs_digest_map_free(cs_digest_map *map); /* NULL is fine */

/* Put a digest (64 lowercase hexadecimal digits, else CS_CODE_INTERNAL) with its number, which is not 0. One that is
 * there keeps its first number. */
CS_MUST_CHECK cs_result cs_digest_map_put(cs_digest_map *map, cs_view hex, uint64_t number, cs_error *err);

/* How many digests it holds. */
uint64_t cs_digest_map_count(const cs_digest_map *map);

/* The number of a digest; 0 when it is not there. */
uint64_t cs_digest_map_get(const cs_digest_map *map, cs_view hex);

#endif
