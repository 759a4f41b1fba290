#include "verify/seen.h"

#include <sodium.h>
#include <stdlib.h>

#include "verify/internal.h"

struct cs_seen {
    cs_memory *memory;
};

cs_result cs_seen_open(cs_seen **out, cs_error *err) {
    *out = NULL;
    cs_seen *seen = calloc(1, sizeof *seen);
    if (seen == NULL) return cs_fail(err, CS_CODE_NO_MEMORY, "no memory to verify");
    cs_result result = cs_memory_open(&seen->memory, err);
    if (result != CS_OK) {
        free(seen);
        return result;
    }
    *out = seen;
    return CS_OK;
}

void cs_seen_close(cs_seen *seen) {
    if (seen == NULL) return;
    cs_memory_close(seen->memory);
    free(seen);
}

cs_result cs_seen_add(cs_seen *seen, const cs_digest *record, bool *before, cs_error *err) {
    uint8_t digest[CS_SHA256_BYTES];
    *before = false;
    if (sodium_hex2bin(digest, sizeof digest, record->hex, CS_SHA256_HEX, NULL, NULL, NULL) != 0)
        return cs_fail(err, CS_CODE_INTERNAL, "a record digest is not hexadecimal");
    return cs_memory_see(seen->memory, digest, before, err);
}
