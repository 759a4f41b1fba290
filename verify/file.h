/* Small files that someone names beside the inputs: keys, trust files, expectations. */
#ifndef CS_VERIFY_FILE_H
#define CS_VERIFY_FILE_H

#include "records/base.h"

typedef enum cs_file_state {
    CS_FILE_READ,
    CS_FILE_FAILED, /* errno says why */
    CS_FILE_TOO_LONG,
    CS_FILE_NO_MEMORY
} cs_file_state;

/* Append all of a file to `out`, whose maximum is that of the file. */
CS_MUST_CHECK cs_file_state cs_file_read(const char *path, cs_buf *out);
/* The same from an open descriptor, which stays open. */
CS_MUST_CHECK cs_file_state cs_file_read_open(int fd, cs_buf *out);

#endif
