/* The canonical encoding once more, written apart from records/ and straight on OpenSSL: expected digests
 * of the tests come from here or from literals, never from the code under test. */
#ifndef CS_TESTS_SUPPORT_CANON_H
#define CS_TESTS_SUPPORT_CANON_H

#include "records/message.h"

/* Lowercase hexadecimal and a NUL into hex. */
void canon_sha256(const void *bytes, size_t len, char hex[65]);
void canon_request(const cs_run_request *request, char hex[65]);
void canon_result(const cs_run_response *response, char hex[65]);
void canon_record(const cs_run_record *record, char hex[65]);

/* Put a copy of a C text into a field; what was there is freed. */
void canon_set(ProtobufCBinaryData *field, const char *text);

#endif
