/* A file that is written whole or not at all. */
#ifndef CS_CLI_WHOLE_FILE_H
#define CS_CLI_WHOLE_FILE_H

#include <sys/types.h>

#include "records/error.h"

/* Write beside `path`, and take its place: readers see the file that was there, or the whole new one. CS_CODE_IO. */
CS_MUST_CHECK cs_result cs_whole_file_write(const char *path, mode_t mode, cs_view bytes, cs_error *err);

/* Append all of a file, of at most so many bytes as `out` may still grow. CS_CODE_IO, CS_CODE_NO_MEMORY. */
CS_MUST_CHECK cs_result cs_whole_file_read(const char *path, cs_buf *out, cs_error *err);

#endif
