/* The wire's messages (proto/plimsoll/v1/sandbox.proto) in memory, decoded and encoded exactly.
 *
 * The structs are protobuf-c's. Text fields are ProtobufCBinaryData: length and bytes, no NUL at the
 * end. Limits: memory for decoding is bounded by the input (CS_DECODE_FACTOR times its length plus
 * CS_DECODE_BASE), so that a small hostile message cannot become a large one.
 */
#ifndef CS_RECORDS_MESSAGE_H
#define CS_RECORDS_MESSAGE_H

#include "plimsoll/v1/sandbox.pb-c.h"
#include "records/arena.h"
#include "records/error.h"

typedef Plimsoll__V1__DescribeRequest cs_describe_request;
typedef Plimsoll__V1__DescribeResponse cs_describe_response;
typedef Plimsoll__V1__RunRequest cs_run_request;
typedef Plimsoll__V1__RunResponse cs_run_response;
typedef Plimsoll__V1__RunRecord cs_run_record;
typedef Plimsoll__V1__SoftwareRule cs_software_rule;
typedef Plimsoll__V1__ProjectFile cs_project_file;
typedef Plimsoll__V1__OpenSessionRequest cs_open_session_request;
typedef Plimsoll__V1__OpenSessionResponse cs_open_session_response;
typedef Plimsoll__V1__SessionRunRequest cs_session_run_request;
typedef Plimsoll__V1__SessionRunResponse cs_session_run_response;
typedef Plimsoll__V1__CloseSessionRequest cs_close_session_request;
typedef Plimsoll__V1__CloseSessionResponse cs_close_session_response;

#define CS_DECODE_FACTOR 24u
#define CS_DECODE_BASE 16777216u /* 16 MiB: a module answer with 100,000 empty rows takes 7 MiB of memory */

/* Decode `bytes`, consuming all of them. Refuses what is not a message of the type
 * (CS_CODE_MESSAGE_MALFORMED, with the byte in the text), text that is not UTF-8 (CS_CODE_MESSAGE_TEXT, with
 * the field's path) and input whose parts would need more memory than the bound (CS_CODE_MESSAGE_MALFORMED).
 * Unknown fields and non-canonical encodings decode, as the wire says: the last value of a single field
 * counts, repeated single sub-messages are merged, another member of a oneof takes the place of the one
 * before, doubles come packed or not. cs_message_coverage finds them.
 * Gives *out (cs_message_free); NULL on failure. Keeps no pointer into `bytes`. */
CS_MUST_CHECK cs_result cs_message_decode(const ProtobufCMessageDescriptor *type, cs_view bytes,
                                          ProtobufCMessage **out, cs_error *err);

/* The same without a copy: the message lies in `arena`, and its text and byte fields are places in `bytes`.
 * *out is valid until the arena is reset or the bytes go, and is never freed; NULL on failure. What a
 * failed decoding took of the arena stays taken until it is reset. */
CS_MUST_CHECK cs_result cs_message_view(const ProtobufCMessageDescriptor *type, cs_view bytes, cs_arena *arena,
                                        const ProtobufCMessage **out, cs_error *err);

void cs_message_free(void *message); /* a message that was given; NULL is fine */

/* Append the canonical binary form: fields by number, defaults left out, doubles packed. Unknown fields
 * are not written. Unlike protobuf-c's own packer it keeps -0 in a single double field, which is no
 * default, and it notices when memory runs out. CS_CODE_MESSAGE_MALFORMED when `out` may not grow so
 * far; `out` is then unchanged. */
CS_MUST_CHECK cs_result cs_message_encode(const ProtobufCMessage *message, cs_buf *out, cs_error *err);

/* A deep copy of what cs_message_encode writes; fails as encoding and decoding do. Gives *out. */
CS_MUST_CHECK cs_result cs_message_copy(const ProtobufCMessage *message, ProtobufCMessage **out, cs_error *err);

/* Are `bytes` what a canonical encoder would have written for `message`, which was decoded from
 * them, with no unknown field at any depth? CS_CODE_MESSAGE_UNKNOWN_FIELD (where: the message's path)
 * or CS_CODE_MESSAGE_NONCANONICAL (where: the first byte that differs). Encodes piecewise against
 * `bytes`; no second copy is made. */
CS_MUST_CHECK cs_result cs_message_coverage(const ProtobufCMessage *message, cs_view bytes, cs_error *err);

/* The first half of that: no unknown field at any depth (CS_CODE_MESSAGE_UNKNOWN_FIELD). */
CS_MUST_CHECK cs_result cs_message_known(const ProtobufCMessage *message, cs_error *err);

/* The elements of a field that are there: how many a repeated field has; 1 for a single field that
 * does not hold its default (-0 is none), for a message that is set and for the set member of a
 * oneof; else 0. */
size_t cs_field_count(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);
/* Element `index` of those: a pointer to the number or ProtobufCBinaryData, or the sub-message itself. */
const void *cs_field_at(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field, size_t index);

/* Is a `bytes` field text? All are but stdout, stderr and Artifact.content. */
bool cs_field_is_text(const ProtobufCMessageDescriptor *type, const ProtobufCFieldDescriptor *field);

/* Set a text or bytes field to a copy; frees what was there. False without memory. */
CS_MUST_CHECK bool cs_bytes_set(ProtobufCBinaryData *field, cs_view value);
cs_view cs_bytes_view(const ProtobufCBinaryData *field); /* borrows */

/* The kind word of a request's payload or of a response's result, as in the digests: "javascript",
 * "project", "module", "cell", or "" when there is none. Static memory. */
const char *cs_request_kind(const cs_run_request *request);
const char *cs_response_kind(const cs_run_response *response);

#endif
