/* The first difference between two results, in the order of the canonical encoding. Pure. */
#ifndef CS_REPLAY_COMPARE_H
#define CS_REPLAY_COMPARE_H

#include "records/message.h"

#define CS_EXCERPT 96u

/* Where two results first differ. Plain values; texts are escaped. */
typedef struct cs_difference {
    bool differs;
    char field[192];  /* "kind", "steps[1].stdout", "artifacts[0].content (out.bin)", "runs[7].outputs[2]" */
    bool has_offset;  /* a byte field: */
    uint64_t offset;  /* first differing byte, 0-based */
    uint64_t length_a; /* lengths in bytes of the two values */
    uint64_t length_b;
    char excerpt_a[CS_EXCERPT]; /* around the offset, or the value itself */
    char excerpt_b[CS_EXCERPT];
} cs_difference;

/* Compare what the result digest covers, and only that. `differs` is true exactly when the digests differ. */
void cs_compare_results(const cs_run_response *a, const cs_run_response *b, cs_difference *out);

/* The same of two byte fields: offset, lengths and excerpts; `field` stays empty. */
void cs_compare_bytes(cs_view a, cs_view b, cs_difference *out);

#endif
