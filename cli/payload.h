/* What was sent, for people. Everything in it is escaped: the file it comes from may be anyone's. */
#ifndef CS_CLI_PAYLOAD_H
#define CS_CLI_PAYLOAD_H

#include "cli/output.h"

void cs_say_request(const cs_output *out, const cs_run_request *request);

/* `label` and one text field, escaped, in one line; nothing when the field is empty. */
void cs_say_field(const cs_output *out, const char *label, const ProtobufCBinaryData *text);

#endif
