/* The limits a request must meet: the client checks before sending, the daemon again. */
#ifndef CS_RECORDS_REQUEST_H
#define CS_RECORDS_REQUEST_H

#include "records/message.h"

#define CS_MAX_CODE_BYTES 262144u
#define CS_MAX_FILES 200u
#define CS_MAX_FILES_BYTES 4194304u /* 4 MiB: contents of all files together */
#define CS_MAX_PATH_BYTES 1024u
#define CS_MAX_STEPS 20u
#define CS_MAX_STEP_BYTES 16384u
#define CS_MAX_ARTIFACTS 100u
#define CS_MAX_MODULE_ROWS 100000u
#define CS_MAX_MODULE_WIDTH 64u
#define CS_MAX_MODEL_BYTES 64u
#define CS_MAX_STEP_RATIO 1000000.0
#define CS_MAX_IDENTITIES 32u
#define CS_MAX_IDENTITY_BYTES 256u
#define CS_MAX_TRACE_BYTES 64u
#define CS_MAX_GRANT_BYTES 256u /* a grant profile's name: visible ASCII, may be empty */

/* Every limit of docs/FORMAT.md, "Request limits", but the protocol number (a daemon's matter) and
 * the size of the encoded whole. Text must be UTF-8; a NUL is refused wherever text becomes a command,
 * a program or a path, and allowed in the contents of a file. `stored` also allows the cell payload,
 * which occurs in session calls only, as they are stored.
 * CS_CODE_REQUEST_INVALID with the field's path in where ("project.files[3].path"), what was found and
 * the limit. */
CS_MUST_CHECK cs_result cs_request_validate(const cs_run_request *request, bool stored, cs_error *err);

/* Is a software rule well formed? CS_CODE_RULE_MALFORMED with the field in where. NULL and an empty
 * rule are: they allow any software. */
CS_MUST_CHECK cs_result cs_software_rule_validate(const cs_software_rule *rule, cs_error *err);

/* A relative path inside the work directory (also used by the daemon for artifacts): UTF-8 of 1 to
 * CS_MAX_PATH_BYTES bytes, no empty, "." or ".." segment, no backslash, no control character. */
bool cs_path_valid(cs_view path);

#endif
