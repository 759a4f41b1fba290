/* What the files behind records/message.h share. Not for others. */
#ifndef CS_RECORDS_MESSAGE_IMPL_H
#define CS_RECORDS_MESSAGE_IMPL_H

#include "records/message.h"

/* Where a walk through a message stands: the way up, kept on the stack, written out only when something
 * is wrong. */
typedef struct cs_place {
    const struct cs_place *up; /* NULL at the top */
    const ProtobufCFieldDescriptor *field;
    size_t index; /* in a repeated field */
} cs_place;

/* cs_fail with the path of `at` ("project.files[1].path") as its where; NULL is the whole message. */
cs_result cs_place_fail(const cs_place *at, cs_error *err, cs_code code, const char *text);

/* Bytes that one element of a field takes: a number, a ProtobufCBinaryData, or a pointer to a message. */
size_t cs_field_element_size(const ProtobufCFieldDescriptor *field);

#endif
