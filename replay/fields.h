/* Every field in which two messages differ, in the order of the fields' numbers. Pure.
 *
 * Unlike replay/compare.h, which looks for the first difference that a result digest sees, this walks any message by its
 * descriptor, so that no field of the schema can be overlooked. Files and artifacts are matched by their paths when their
 * lists differ; other lists by their order.
 */
#ifndef CS_REPLAY_FIELDS_H
#define CS_REPLAY_FIELDS_H

#include "records/message.h"

#define CS_FIELD_PATH 512u
#define CS_FIELD_VALUE 96u

/* One field. Borrowed until the callback returns. */
typedef struct cs_field_pair {
    const char *path; /* "project.files[3].content (src/main.js)"; escaped, and shortened when very long */
    bool covered;     /* of a RunResponse: the result digest covers it, and `path` begins below the result's kind */
    bool has_a;       /* false: what holds the field, or the element of a list, is there in b only */
    bool has_b;
    bool bytes; /* a text or byte field: */
    cs_view a;
    cs_view b;
    char value_a[CS_FIELD_VALUE]; /* else: a number, a word, or "(empty)" for a message with nothing set */
    char value_b[CS_FIELD_VALUE];
} cs_field_pair;

/* Compare two messages of one type; one of them may be NULL, and then each field that is set in the other is told.
 * Doubles are compared by their bits. Of a RunResponse the record is left out unless `with_record`. CS_CODE_NO_MEMORY. */
CS_MUST_CHECK cs_result cs_compare_fields(const ProtobufCMessage *a, const ProtobufCMessage *b, bool with_record,
                                          void (*on_pair)(void *user, const cs_field_pair *pair), void *user,
                                          cs_error *err);

#endif
