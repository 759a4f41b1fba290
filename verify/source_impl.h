/* The two readers behind verify/source.h. Only verify/source*.c include this. */
#ifndef CS_VERIFY_SOURCE_IMPL_H
#define CS_VERIFY_SOURCE_IMPL_H

#include "verify/source.h"

typedef struct cs_bundle_reader cs_bundle_reader;
typedef struct cs_ledger_reader cs_ledger_reader;

/* Read a bundle from a descriptor, closed with the reader when `owned`, also when this fails.
 * `total` is the size of the file, 0 when it is not known. Looks at the first byte: CS_CODE_INPUT_UNKNOWN,
 * CS_CODE_NOTHING_TO_CHECK, CS_CODE_IO. Gives *out. */
CS_MUST_CHECK cs_result cs_bundle_reader_open(int fd, bool owned, uint64_t total, cs_bundle_reader **out,
                                              cs_error *err);
CS_MUST_CHECK cs_result cs_bundle_reader_next(cs_bundle_reader *reader, cs_entry *out, bool *more, cs_error *err);
void cs_bundle_reader_progress(const cs_bundle_reader *reader, uint64_t *done, uint64_t *total);
void cs_bundle_reader_close(cs_bundle_reader *reader);

/* Read a regular file as a ledger. CS_OK with *out NULL when it is no SQLite database. Gives *out. */
CS_MUST_CHECK cs_result cs_ledger_reader_open(const char *path, cs_ledger_reader **out, cs_error *err);
CS_MUST_CHECK cs_result cs_ledger_reader_next(cs_ledger_reader *reader, cs_entry *out, bool *more, cs_error *err);
void cs_ledger_reader_progress(const cs_ledger_reader *reader, uint64_t *done, uint64_t *total);
void cs_ledger_reader_close(cs_ledger_reader *reader);

/* Split one line (without its newline) into its members. `request` and `response` hold what is decoded.
 * out->number stays. CS_CODE_LINE_FRAMING with the byte offset in where; then only out->line is set. */
CS_MUST_CHECK cs_result cs_bundle_line_split(cs_view line, cs_buf *request, cs_buf *response, cs_entry *out,
                                             cs_error *err);

#endif
