/* What a command prints, and how it ends.
 *
 * For people: results on stdout, errors on stderr. With --json: exactly one JSON document on stdout,
 * whatever the exit, also for a wrong command line. Text that came from a daemon or a file is escaped
 * before it is printed. A success that could not be written to stdout is not a success.
 */
#ifndef CS_CLI_OUTPUT_H
#define CS_CLI_OUTPUT_H

#include <jansson.h>

#include "cli/version.h"
#include "records/message.h"

typedef struct cs_output {
    const char *command; /* "run"; borrowed */
    char title[48];      /* "countersign run" or "countersign-verify" */
    bool json;
    json_t *document; /* owned; members of the command's own */
    bool lost;        /* a member could not be added for want of memory */
    cs_error err;     /* of the verdict; code ok when all is well */
    bool has_entry;
    uint64_t entry; /* the entry that the verdict is about */
} cs_output;

/* Begin. `json` is taken from argv, before options are parsed, so that a wrong command line is
 * answered in JSON too. Also ignores SIGPIPE, so that a closed pipe is seen as a write error. */
void cs_output_begin(cs_output *out, const char *command, int argc, char **argv);

/* End: print the document or the error, write out stdout, and free. Returns the exit code, which is
 * `result`, or 5 when a success could not be written. */
CS_MUST_CHECK int cs_output_end(cs_output *out, cs_result result);

/* A line or a part of one on stdout, in text mode only. */
void cs_say(const cs_output *out, const char *fmt, ...) CS_PRINTF(2, 3);
/* Bytes that are not ours: escaped, `indent` before every line. More than max_lines lines, or a line of
 * more than max_width bytes, are cut and say so (0: no bound). */
void cs_say_bytes(const cs_output *out, const char *indent, cs_view bytes, size_t max_lines, size_t max_width);

/* Members of the document; nothing happens in text mode. `value` is taken. */
void cs_member(cs_output *out, const char *name, json_t *value);
void cs_members(cs_output *out, json_t *object); /* every member of an object, which is taken */
void cs_member_text(cs_output *out, const char *name, const char *value); /* escaped where it is not UTF-8 */
void cs_member_number(cs_output *out, const char *name, uint64_t value);

/* JSON of bytes: a string, escaped where it is not UTF-8; base64. NULL without memory. */
json_t *cs_json_of_text(cs_view text);
json_t *cs_json_of_base64(cs_view bytes);
/* The members code, message, where, expected, found of an error, as far as they are set. */
json_t *cs_json_of_error(const cs_error *err);
/* proto3 JSON of a message, as a JSON value. NULL when it can't be made. */
json_t *cs_json_of_message(const ProtobufCMessage *message);

/* Say in which file an error is, unless it says so already. */
void cs_error_in_file(cs_error *err, const char *path);

/* Which of two verdicts counts when several things were checked: failed, may have run, unchecked,
 * not run, nothing, passed, in this order. */
cs_result cs_worse(cs_result a, cs_result b);

#endif
