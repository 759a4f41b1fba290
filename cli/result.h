/* What a run gave, for people and as JSON. Everything a daemon says is escaped. */
#ifndef CS_CLI_RESULT_H
#define CS_CLI_RESULT_H

#include "cli/output.h"

/* Print a result: exit codes, and output with at most max_lines lines of max_width bytes each (0: all). */
void cs_say_result(const cs_output *out, const cs_run_response *response, size_t max_lines, size_t max_width);

/* Every output of a result as an array of {"field", "bytes", "base64", "text"?}; text only where the
 * bytes are UTF-8. NULL without memory. */
json_t *cs_json_of_outputs(const cs_run_response *response);

#endif
