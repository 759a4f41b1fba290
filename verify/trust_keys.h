/* The keys of a trust file, where they stand in a JSON document of another kind (gate/policy.h). */
#ifndef CS_VERIFY_TRUST_KEYS_H
#define CS_VERIFY_TRUST_KEYS_H

#include <jansson.h>

#include "verify/trust.h"

/* Add every key of the array `keys`, in the form and with the codes of cs_trust_parse; where names the key
 * ("keys[0] (ci)"). NULL, another type or an empty array is CS_CODE_TRUST_MALFORMED. Borrows. */
CS_MUST_CHECK cs_result cs_trust_read_keys(json_t *keys, cs_trust *trust, cs_error *err);

#endif
