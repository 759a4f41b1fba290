/* What reading and writing proto3 JSON both know of a field. For protojson_read.c and
 * protojson_write.c only. */
#ifndef CS_RECORDS_PROTOJSON_FIELD_H
#define CS_RECORDS_PROTOJSON_FIELD_H

#include "records/message.h"

#define CS_PROTOJSON_NAME 64u

/* A field in its message: whether `bytes` are text depends on both. */
typedef struct cs_protojson_field {
    const ProtobufCMessageDescriptor *message;
    const ProtobufCFieldDescriptor *field;
} cs_protojson_field;

/* What one value takes in memory; 0 for types that no message of ours has. */
size_t cs_protojson_size(const ProtobufCFieldDescriptor *field);

/* A field has two names: its own, and the lowerCamel one made from it. The index of the field that
 * has this name in either form; n_fields when there is none. */
unsigned cs_protojson_find(const ProtobufCMessageDescriptor *type, cs_view name);

/* The lowerCamel name. False when it does not fit. */
CS_MUST_CHECK bool cs_protojson_camel(const char *name, char out[CS_PROTOJSON_NAME]);

#endif
