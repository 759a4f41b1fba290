/* What is told of one difference: values or excerpts, and of longer texts the lines, of bytes hexadecimal. All of it is
 * escaped and bounded, whatever the entries hold. */
#ifndef CS_CLI_DIFF_DETAIL_H
#define CS_CLI_DIFF_DETAIL_H

#include "cli/diff_walk.h"
#include "cli/output.h"
#include "replay/compare.h"

#define CS_DIFF_FIELD_LINES 200u  /* of the unified diff of one field */
#define CS_DIFF_TOTAL_LINES 2000u /* of all fields */
#define CS_DIFF_LINE_BYTES 200u   /* of a line, before it is escaped */
#define CS_DIFF_VALUE 200u        /* of a value, when it is escaped */

typedef struct cs_diff_detail {
    const cs_field_pair *pair; /* borrowed */
    cs_difference bytes;       /* of a text or byte field: offset and lengths */
    char a[CS_DIFF_VALUE];     /* the value, or an excerpt of it from around the offset */
    char b[CS_DIFF_VALUE];
    json_t *lines;             /* an array of texts, "@@ -1 +1 @@", "-a", "+b", " c"; NULL: no line diff */
    bool lines_cut;            /* there are more */
    json_t *hex_a;             /* arrays of texts; NULL: both are text */
    json_t *hex_b;
} cs_diff_detail;

/* `lines_left` of CS_DIFF_TOTAL_LINES is counted down. False without memory; to be freed in any case. */
CS_MUST_CHECK bool cs_diff_detail_make(const cs_field_pair *pair, size_t *lines_left, cs_diff_detail *out);
void cs_diff_detail_free(cs_diff_detail *detail);

void cs_diff_detail_say(const cs_output *out, cs_diff_part part, const cs_diff_detail *detail);
/* NULL without memory. */
json_t *cs_json_of_diff_detail(cs_diff_part part, const cs_diff_detail *detail);

#endif
