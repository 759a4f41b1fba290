/* A daemon's side of a session, as a script for the peer (peer.h): an opening, calls whose records form a chain,
 * and a close. Everything is right until a test changes it before it is put into the script. */
#ifndef CS_TESTS_SUPPORT_LIVE_SESSION_H
#define CS_TESTS_SUPPORT_LIVE_SESSION_H

#include "records/wire.h"
#include "tests/support/live.h"

#define LIVE_ID "0123456789abcdef0123456789abcdef"
/* printf 0123456789abcdef0123456789abcdef | sha256sum */
#define LIVE_FINGERPRINT "3eb1bd439947eb762998e566ccc2e099c791118b2f40579cc4f7da2b5061b7f9"

/* OpenSession's answer: borrows what a test puts in. */
cs_open_session_response live_opened(void);
void live_open(live *script, const cs_open_session_response *response);

/* The sample becomes call `sequence` after the record `previous` ("" for the first), sealed but for what a test
 * changes afterwards and seals itself. `code` tells one call from another. */
void live_call(sample *s, uint64_t sequence, const char *previous, const char *code);
/* The answer of SessionRun around the sample's response. `ended`: 0 or why the session ended with it. */
void live_call_answer(live *script, const sample *s, int ended);
/* An error without a mark that carries the sample's record as one of a call without an answer (NULL: none); the
 * record is sealed as version 3. `ended`: as above. */
void live_unanswered(live *script, sample *s, int ended);
/* The same in two steps, so that a test can change the record in between. */
void live_unanswered_make(sample *s);
void live_unanswered_step(live *script, const sample *s, int ended);

void live_close(live *script, const char *session, uint64_t calls, const char *last);

/* The hexadecimal text of a digest field; kept until the process ends. */
const char *live_hex(const ProtobufCBinaryData *field);

#endif
