#include "cli/trust.h"

cs_result cs_trust_load(const cs_text_list *files, cs_trust *trust, cs_error *err) {
    trust->count = 0;
    if (files->count == 0)
        return cs_fail(err, CS_CODE_USAGE,
                       "name the public key that you trust with -p; a key inside the input is never trusted");
    for (size_t i = 0; i < files->count; i++) {
        cs_public_key key;
        cs_result result = cs_public_key_load(files->items[i], &key, err);
        if (result == CS_OK) result = cs_trust_add(trust, &key, err);
        if (result != CS_OK) return result;
    }
    return CS_OK;
}
