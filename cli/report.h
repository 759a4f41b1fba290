/* What came of one call, for people and as JSON. Everything a daemon says is escaped. */
#ifndef CS_CLI_REPORT_H
#define CS_CLI_REPORT_H

#include "cli/connect.h"

/* "refused", "unanswered", "answered" or "unsent". */
const char *cs_state_word(cs_call_state state);

/* A text of the daemon behind a label, escaped and short; "(none)" for an empty one. */
void cs_say_text(const cs_output *out, const char *label, const ProtobufCBinaryData *bytes);

/* Print a call's report in full. */
void cs_say_report(const cs_output *out, const cs_keeping *keeping, const cs_run_report *report);

/* The same as a JSON object. NULL without memory. */
json_t *cs_json_of_report(const cs_keeping *keeping, const cs_run_report *report);
/* Its state alone, and why nothing ran. NULL without memory. */
json_t *cs_json_of_state(const cs_run_report *report);

#endif
