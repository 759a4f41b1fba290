/* Which records were seen, over several inputs: so that one that stands in two of them counts once. Memory does not
 * grow with their number (a temporary database, as within one input).
 */
#ifndef CS_VERIFY_SEEN_H
#define CS_VERIFY_SEEN_H

#include "records/sha256.h"

typedef struct cs_seen cs_seen;

/* Gives an empty set. All fail only with CS_UNCHECKED. */
CS_MUST_CHECK cs_result cs_seen_open(cs_seen **out, cs_error *err);
void cs_seen_close(cs_seen *seen);

/* Remember a record digest; *before tells whether it was there already. */
CS_MUST_CHECK cs_result cs_seen_add(cs_seen *seen, const cs_digest *record, bool *before, cs_error *err);

#endif
