/* How `countersign log` prints its lines: text, and JSON. */
#ifndef CS_CLI_LOG_PRINT_H
#define CS_CLI_LOG_PRINT_H

#include "cli/log_list.h"
#include "cli/output.h"

/* `inputs` are the paths that the lines' `input` counts. */
void cs_log_say(const cs_output *out, const cs_log_list *list, char *const *inputs, size_t input_count);
/* An array. NULL without memory. */
json_t *cs_json_of_log(const cs_log_list *list, char *const *inputs);

#endif
