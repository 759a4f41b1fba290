/* proto3 JSON both ways for any message, driven by protobuf-c's descriptors.
 *
 * Source: the proto3 JSON mapping of the Protocol Buffers documentation. Text is a JSON string, true
 * byte fields are base64, 64-bit integers are strings, enums are names (numbers when unknown),
 * doubles the shortest decimal that reads back the same, NaN, Infinity and -Infinity strings, -0 kept.
 */
#ifndef CS_RECORDS_PROTOJSON_H
#define CS_RECORDS_PROTOJSON_H

#include "records/message.h"

/* Limits of input: depth of nesting 100. The caller bounds the length. */
#define CS_PROTOJSON_DEPTH 100u

/* Append the compact JSON form; fields that hold their default are left out (proto3's rule), a
 * present message or the set member of a oneof is written even when empty. */
CS_MUST_CHECK cs_result cs_protojson_write(const ProtobufCMessage *message, cs_buf *out, cs_error *err);

/* Read one JSON document, all of it. Accepts lowerCamel and original names, 64-bit integers as
 * strings or exact numbers, enums by name or number, base64 standard or URL-safe, null for "not set".
 * Refuses, with the member's path in err->where: unknown members (CS_CODE_JSON_UNKNOWN_MEMBER),
 * a member given twice, also under its two names, or two members of one oneof
 * (CS_CODE_JSON_REPEATED_MEMBER), a wrong type (CS_CODE_JSON_TYPE), a number out of range or not
 * integral (CS_CODE_JSON_RANGE), anything else (CS_CODE_JSON_MALFORMED, with line and column).
 * Gives *out; NULL on failure. */
CS_MUST_CHECK cs_result cs_protojson_read(const ProtobufCMessageDescriptor *type, cs_view json,
                                          ProtobufCMessage **out, cs_error *err);

#endif
