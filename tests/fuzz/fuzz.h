/* What the fuzz targets share.
 *
 * Each target is one small file tests/fuzz/fuzz_<name>.c with LLVMFuzzerTestOneInput in it; the rules in
 * fuzz.mk build and run all of them. A target states what must hold for any input; what does not hold
 * aborts, which is how libFuzzer learns of it.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "records/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* End with the place and the condition that did not hold. */
_Noreturn void fuzz_abort(const char *file, int line, const char *what);
#define MUST(condition) ((condition) ? (void)0 : fuzz_abort(__FILE__, __LINE__, #condition))

/* The type of message that a byte stands for: every one of the wire, and no byte stands for none. */
const ProtobufCMessageDescriptor *fuzz_type(uint8_t byte);
/* The byte that stands for a type. */
uint8_t fuzz_byte_of(const ProtobufCMessageDescriptor *type);

/* A refusal: the result is the class of a code that is not CS_CODE_OK, and its texts are safe to print. */
void fuzz_refusal(cs_result result, const cs_error *err);
/* The texts alone; a warning has them too, and its class is CS_OK. */
void fuzz_error_texts(const cs_error *err);

/* Printable UTF-8 in one line: no control, no line separator. `newlines` allows \n and \t. */
bool fuzz_printable(cs_view text, bool newlines);

/* The canonical binary form; end with cs_buf_free. */
cs_buf fuzz_encode(const void *message);
/* The digest of a request, a result or a record; empty for other types and for unknown versions. */
void fuzz_digest(const ProtobufCMessage *message, char hex[65]);
/* The same by the tests' own encoding. */
void fuzz_digest_apart(const ProtobufCMessage *message, char hex[65]);

/* Write the input to this process's file and give its path; the file is gone when the process ends. Its
 * time stamp is an old one, so that the reader of ledgers need not wait for the clock's next tick. */
const char *fuzz_file(const uint8_t *data, size_t size);
/* Give it that time stamp again, when someone has written it meanwhile. */
void fuzz_file_old(void);

#endif
