/* All differences of two entries, part by part. */
#ifndef CS_CLI_DIFF_WALK_H
#define CS_CLI_DIFF_WALK_H

#include "cli/diff_side.h"
#include "replay/fields.h"

typedef enum cs_diff_part {
    CS_DIFF_REQUEST,
    CS_DIFF_RESULT,   /* of the response what the result digest covers */
    CS_DIFF_RESPONSE, /* the rest of it: what the daemon says of itself, durations, advice */
    CS_DIFF_RECORD,   /* with its key, and, of a finding, its code */
    CS_DIFF_PARTS
} cs_diff_part;

const char *cs_diff_part_word(cs_diff_part part);

typedef void (*cs_on_difference)(void *user, cs_diff_part part, const cs_field_pair *pair);

/* Whether there is such a part on at least one side. */
bool cs_diff_has_part(const cs_side *a, const cs_side *b, cs_diff_part part);

/* Tell every difference of the parts that are wanted. What no field shows (an unknown field, another encoding, bytes that
 * are no message) is told as the bytes of the whole message, so that nothing told of all parts means that request, response
 * and envelope are the same bytes. CS_CODE_NO_MEMORY, CS_CODE_INTERNAL. */
CS_MUST_CHECK cs_result cs_diff_walk(const cs_side *a, const cs_side *b, const bool wanted[CS_DIFF_PARTS],
                                     cs_on_difference on_difference, void *user, cs_error *err);

#endif
